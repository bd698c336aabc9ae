//! Rows of the book, filtered, each price to be changed in place.

use std::collections::BTreeSet;

use cardfit::catalog::{Billing, PriceOffer, Tenancy};
use cardfit::rental::{OWN_ENTRY, name_in, said_in};
use cardfit::scenario::limits::Unit;
use cardfit::scenario::{Choice, number};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::state::App;
use crate::words::t;
use crate::{book, format, words};

/// Rows that are shown before more are asked for.
const FIRST_ROWS: usize = 40;

/// Filter and rows.
#[component]
pub fn Rows(stored: RwSignal<bool>) -> impl IntoView {
    let app = App::get();
    let card = RwSignal::new(String::new());
    let billing = RwSignal::new(String::new());
    let wanted = RwSignal::new(String::new());
    let shown = RwSignal::new(FIRST_ROWS);
    let cards = Memo::new(move |_| {
        app.book.with(|book| {
            let ids: BTreeSet<String> = book.offers.iter().map(|o| o.card.clone()).collect();
            ids.into_iter().collect::<Vec<_>>()
        })
    });
    let rows = Memo::new(move |_| {
        let lang = app.lang.get();
        let (card, billing, wanted) = (card.get(), billing.get(), wanted.get().to_lowercase());
        app.book.with(|book| {
            let mut rows: Vec<PriceOffer> = book
                .offers
                .iter()
                .filter(|o| card.is_empty() || o.card == card)
                .filter(|o| billing.is_empty() || o.billing.name() == billing)
                .filter(|o| {
                    let of = |text: &str| text.to_lowercase().contains(&wanted);
                    let said = |text: &str| of(text) || of(name_in(lang, text));
                    wanted.is_empty() || said(&o.provider) || o.region.as_deref().is_some_and(said)
                })
                .cloned()
                .collect();
            // One's own rows first, then by card and price.
            rows.sort_by(|a, b| {
                let own = |o: &PriceOffer| o.source != OWN_ENTRY;
                own(a)
                    .cmp(&own(b))
                    .then_with(|| a.card.cmp(&b.card))
                    .then_with(|| a.billing.cmp(&b.billing))
                    .then_with(|| a.provider.cmp(&b.provider))
                    .then_with(|| b.as_of.cmp(&a.as_of))
            });
            rows
        })
    });
    let left_out = Memo::new(move |_| rows.with(Vec::len) > shown.get());
    view! {
        <section data-testid="price-rows">
            <div class="filters">
                <div class="field">
                    <label for="prices-card">{t("prices.card")}</label>
                    <div class="input select">
                        <select
                            id="prices-card"
                            data-testid="prices-card"
                            on:change=move |event| card.set(event_target_value(&event))
                        >
                            <option value="">{t("prices.all")}</option>
                            {move || {
                                let lang = app.lang.get();
                                cards
                                    .get()
                                    .into_iter()
                                    .map(|id| {
                                        let name = words::card_name(lang, &id);
                                        view! { <option value=id>{name}</option> }
                                    })
                                    .collect_view()
                            }}
                        </select>
                    </div>
                </div>
                <div class="field">
                    <label for="prices-billing">{t("field.bill")}</label>
                    <div class="input select">
                        <select
                            id="prices-billing"
                            on:change=move |event| billing.set(event_target_value(&event))
                        >
                            <option value="">{t("prices.all")}</option>
                            {Billing::ALL
                                .iter()
                                .map(|b| {
                                    view! {
                                        <option value=b.name()>
                                            {move || words::billing(app.lang.get(), *b)}
                                        </option>
                                    }
                                })
                                .collect_view()}
                        </select>
                    </div>
                </div>
                <div class="field">
                    <label for="prices-provider">{t("prices.provider")}</label>
                    <div class="input">
                        <input
                            id="prices-provider"
                            type="search"
                            data-testid="prices-provider"
                            autocomplete="off"
                            on:input=move |event| wanted.set(event_target_value(&event))
                        />
                    </div>
                </div>
            </div>
            <p class="note" role="status">
                {move || {
                    let lang = app.lang.get();
                    let n = format::count(lang, rows.with(Vec::len) as u64);
                    text(lang, "prices.rows", &[("n", &n)])
                }}
            </p>
            <div class="scroll" tabindex="0" role="group" aria-label=t("prices.title")>
                <table class="bill price-table">
                    <thead>
                        <tr>
                            <th scope="col">{t("prices.card")}</th>
                            <th scope="col">{t("prices.provider")}</th>
                            <th scope="col">{t("prices.price")}</th>
                            <th scope="col">{t("prices.day")}</th>
                            <th scope="col">{t("prices.source")}</th>
                            <th scope="col">
                                <span class="unseen">{t("prices.remove")}</span>
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {move || {
                            let lang = app.lang.get();
                            rows.get()
                                .into_iter()
                                .take(shown.get())
                                .map(|offer| view! { <OneRow lang offer stored /> })
                                .collect_view()
                        }}
                    </tbody>
                </table>
            </div>
            <Show when=move || left_out.get()>
                <button
                    type="button"
                    class="quiet"
                    on:click=move |_| shown.update(|n| *n += 4 * FIRST_ROWS)
                >
                    {t("prices.more")}
                </button>
            </Show>
        </section>
    }
}

/// Whether the card is the renter's alone, where it is not.
fn tenancy(lang: Lang, offer: &PriceOffer) -> Option<String> {
    let key = match offer.tenancy() {
        Tenancy::Exclusive if offer.share() >= 1.0 => return None,
        Tenancy::Exclusive | Tenancy::Slice => "prices.slice",
        Tenancy::Shared => "prices.shared",
    };
    Some(text(
        lang,
        key,
        &[("share", &format::percent(offer.share()))],
    ))
}

#[component]
fn OneRow(lang: Lang, offer: PriceOffer, stored: RwSignal<bool>) -> impl IntoView {
    let app = App::get();
    let bad = RwSignal::new(false);
    let own = offer.source == OWN_ENTRY;
    let unit = text(
        lang,
        &format!("prices.unit.{}", offer.billing.name().replace('-', "_")),
        &[],
    );
    let code = format::currency_code(offer.currency);
    let name = words::card_name(lang, &offer.card);
    let label = text(
        lang,
        "prices.price_of",
        &[
            ("card", &name),
            ("provider", name_in(lang, &offer.provider)),
        ],
    );
    let details = [
        Some(words::billing(lang, offer.billing)),
        offer
            .region
            .as_deref()
            .map(|region| name_in(lang, region).to_owned()),
        (offer.cards_together > 1).then(|| {
            let n = offer.cards_together.to_string();
            text(lang, "prices.together", &[("n", &n)])
        }),
        tenancy(lang, &offer),
        (!offer.variant_stated).then(|| text(lang, "prices.variant_open", &[])),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" · ");
    let doubtful = offer
        .low_confidence
        .then(|| text(lang, "prices.doubtful", &[]));
    let notes = offer.notes.as_deref().map(|notes| said_in(lang, notes));
    let cautions = [doubtful, notes]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" · ");
    let row = StoredValue::new(offer.clone());
    let change = move |event| {
        let typed = event_target_value(&event);
        match number::read(&typed, Unit::Money) {
            Some(price) if price > 0.0 => {
                bad.set(false);
                let offer = row.get_value();
                if (price - offer.price_per_card).abs() > f64::EPSILON * price {
                    stored.set(book::change(app, |e| {
                        e.set_price(&offer, price, &book::today())
                    }));
                }
            }
            _ => bad.set(true),
        }
    };
    view! {
        <tr class:own=own data-testid="price-row">
            <th scope="row">{name} <small>{details}</small></th>
            <td>{name_in(lang, &offer.provider).to_owned()}</td>
            <td>
                <div class="input small" class:bad=move || bad.get()>
                    <span class="unit before">{code}</span>
                    <input
                        type="text"
                        inputmode="decimal"
                        autocomplete="off"
                        data-testid="price-input"
                        aria-label=label
                        aria-invalid=move || bad.get().to_string()
                        prop:value=number::write(offer.price_per_card)
                        on:change=change
                    />
                </div>
                <small>{unit}</small>
            </td>
            <td>
                <span class=book::age_class(&offer.as_of)>{format::date(lang, &offer.as_of)}</span>
            </td>
            <td class="source">
                {said_in(lang, &offer.source)}
                <small>{cautions}</small>
            </td>
            <td>
                <button
                    type="button"
                    class="quiet"
                    data-testid="price-remove"
                    on:click=move |_| {
                        stored.set(book::change(app, |e| e.remove(&row.get_value())));
                    }
                >
                    {text(lang, "prices.remove", &[])}
                </button>
            </td>
        </tr>
    }
}
