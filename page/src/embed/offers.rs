//! The offers of the widget, with the way to rent them.

use std::sync::Arc;

use cardfit::embed::config::{Layout, OrderTarget, Part};
use cardfit::feed::Supply;
use cardfit::offers::{Fit, Offer, PriceUsed, Run};
use cardfit::rental::name_in;
use cardfit::text::{Lang, text};
use leptos::prelude::*;
use serde_json::json;

use super::widget::Embed;
use crate::answer::{AnswerKind, cost};
use crate::glyphs::FitGlyph;
use crate::state::App;
use crate::words::t;
use crate::{format, words};

/// Offers shown before the rest is asked for.
fn first_rows(layout: Layout) -> usize {
    match layout {
        Layout::Full => 8,
        Layout::Compact => 3,
    }
}

/// One row a card at its best number, best first.
#[component]
pub fn Offers() -> impl IntoView {
    let app = App::get();
    let embed = Embed::get();
    let all = RwSignal::new(false);
    let others = embed.config.with_value(|c| c.shows(Part::Others));
    let rows = Memo::new(move |_| {
        let limit = if all.get() {
            usize::MAX
        } else {
            first_rows(embed.layout)
        };
        app.answer.with(|answer| {
            let shown = answer
                .rows
                .iter()
                .map(|row| Arc::clone(&row.best))
                .filter(|offer| others || !matches!(offer.fit, Fit::TooSmall { .. }));
            let (shown, rest): (Vec<_>, Vec<_>) =
                shown.enumerate().partition(|(place, _)| *place < limit);
            let shown: Vec<Arc<Offer>> = shown.into_iter().map(|(_, offer)| offer).collect();
            (shown, rest.len())
        })
    });
    view! {
        <section class="rentals" aria-labelledby="rentals-title">
            <h2 id="rentals-title" class="unseen">{t("embed.offers")}</h2>
            <ul data-testid="rentals">
                {move || {
                    let kind = app.answer.with(|a| a.kind);
                    let lang = app.lang.get();
                    embed.track_stock();
                    rows.get()
                        .0
                        .into_iter()
                        .map(|offer| view! { <Rental offer kind lang /> })
                        .collect_view()
                }}
            </ul>
            <Show when=move || { rows.with(|(_, more)| *more > 0) }>
                <button
                    type="button"
                    class="quiet"
                    data-testid="rentals-all"
                    on:click=move |_| all.set(true)
                >
                    {move || {
                        let more = rows.with(|(_, more)| more.to_string());
                        text(app.lang.get(), "embed.more", &[("n", &more)])
                    }}
                </button>
            </Show>
        </section>
    }
}

#[component]
fn Rental(offer: Arc<Offer>, kind: AnswerKind, lang: Lang) -> impl IntoView {
    let app = App::get();
    let embed = Embed::get();
    let currency = app.scenario.with_untracked(|s| s.money.currency);
    let speed = speed(lang, &offer);
    let money = cost(&offer, kind).map(|range| {
        let unit = match kind {
            AnswerKind::Once => String::new(),
            AnswerKind::Monthly => text(lang, "embed.per_month", &[]),
        };
        (
            format!("{}{unit}", format::money(lang, currency, range.mid)),
            format::money_ends(lang, range),
        )
    });
    let limits = match offer.misses.as_slice() {
        [] => words::each(&offer.may_miss, |miss| words::may_miss(lang, miss)),
        misses => words::each(misses, |miss| words::miss(lang, miss)),
    }
    .join(&text(lang, "page.comma", &[]));
    let kept = offer.misses.is_empty();
    // The foot says once whose prices a shop's are, and of which day.
    let is_shops = embed.find(&offer).is_some();
    let price = offer
        .price
        .as_ref()
        .map(|price| price_line(lang, price, is_shops));
    let place = embed.place(lang, &offer);
    view! {
        <li
            class="rental"
            data-testid="rental"
            data-card=offer.card.clone()
            data-count=offer.count.to_string()
            data-fit=words::fit_name(&offer.fit)
            data-cost-mid=cost(&offer, kind).map(|range| range.mid.to_string())
        >
            <div class="rental-what">
                <b>{words::cards(lang, &offer)}</b>
                <span class="rental-fit">
                    <FitGlyph fit=words::fit_name(&offer.fit) />
                    {words::fit(lang, &offer.fit)}
                </span>
                {(!limits.is_empty())
                    .then(|| view! { <small class="miss" class:may=kept>{limits}</small> })}
            </div>
            <div class="rental-figure">
                {speed.map(|(mid, ends)| view! { <b>{mid}</b><small>{ends}</small> })}
            </div>
            <div class="rental-figure">
                {money.map(|(mid, ends)| view! { <b>{mid}</b><small>{ends}</small> })}
            </div>
            <div class="rental-price">
                {price.map(|price| view! { <small data-testid="rental-price">{price}</small> })}
                {place.map(|place| view! { <small data-testid="rental-stock">{place}</small> })}
            </div>
            <RentButton offer=Arc::clone(&offer) lang />
        </li>
    }
}

/// Time of the job, or the speed of a service.
fn speed(lang: Lang, offer: &Offer) -> Option<(String, String)> {
    if let Some(hours) = offer.hours {
        let span = hours.scale(3600.0);
        return Some((
            format::seconds(lang, span.mid),
            format::seconds_ends(lang, span),
        ));
    }
    match &offer.run {
        Some(Run::Serve { speed, .. }) => {
            let rate = format::rate(lang, speed.tokens_per_s_user.mid);
            let first = format::seconds(lang, speed.ttft_s.mid);
            Some((
                text(lang, "offer.rate.user", &[("rate", &rate)]),
                text(lang, "offer.rate.first", &[("time", &first)]),
            ))
        }
        _ => None,
    }
}

/// Price of a card-hour, how it is billed, whose it is and of which day: never hidden, and of a shop said at the foot.
fn price_line(lang: Lang, price: &PriceUsed, is_shops: bool) -> String {
    let per_hour = text(
        lang,
        "embed.per_card_hour",
        &[(
            "price",
            &format::money(lang, price.currency, price.price_per_card_hour),
        )],
    );
    let day = price.as_of.as_ref().map(|day| format::date(lang, day));
    let origin = |text: Option<String>| text.filter(|_| !is_shops);
    [
        Some(per_hour),
        Some(words::billing(lang, price.billing)),
        origin(
            price
                .provider
                .as_deref()
                .map(|p| name_in(lang, p).to_owned()),
        ),
        origin(day),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" · ")
}

/// The way to the operator's order page.
#[component]
pub fn RentButton(offer: Arc<Offer>, lang: Lang) -> impl IntoView {
    let app = App::get();
    let embed = Embed::get();
    let found = embed.find(&offer);
    let Some((id, supply)) = found.filter(|_| !matches!(offer.fit, Fit::TooSmall { .. })) else {
        return ().into_any();
    };
    if matches!(supply, Supply::Out | Supply::Short { .. }) {
        return view! { <span class="rent gone">{text(lang, "embed.stock.out", &[])}</span> }
            .into_any();
    }
    let url = embed.order_url(app, &offer, lang);
    let target = embed.config.with_value(|c| c.order);
    let label = text(lang, "embed.rent", &[]);
    let spoken = text(
        lang,
        "embed.rent.spoken",
        &[("cards", &words::cards(lang, &offer))],
    );
    let tell = {
        let url = url.clone();
        move || {
            let query = app.scenario.with_untracked(cardfit::scenario::to_query);
            let (reference, currency) = (
                embed.config.with_value(|c| c.reference.clone()),
                app.scenario.with_untracked(|s| s.money.currency),
            );
            embed.bridge.send(
                "order",
                &json!({
                    "offer_id": id,
                    "card": offer.card,
                    "count": offer.count,
                    "billing": offer.price.as_ref().map(|p| p.billing),
                    "hours": offer.hours,
                    "cost_of_job": offer.cost_of_job,
                    "cost_per_month": offer.cost_per_month,
                    "currency": currency,
                    "scenario": query,
                    "url": url,
                    "ref": reference,
                }),
            );
        }
    };
    match (target, url) {
        (OrderTarget::Link, Some(url)) => view! {
            <a
                class="rent"
                data-testid="rent"
                href=url
                target="_blank"
                rel="noopener"
                aria-label=spoken
                on:click=move |_| tell()
            >
                {label}
            </a>
        }
        .into_any(),
        (OrderTarget::Event, _) => view! {
            <button type="button" class="rent" data-testid="rent" aria-label=spoken on:click=move |_| tell()>
                {label}
            </button>
        }
        .into_any(),
        (OrderTarget::Link, None) => ().into_any(),
    }
}
