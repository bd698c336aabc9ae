//! One card in detail: its counts, memory, plan, speed, price, what the estimate rests on, what would make it fit.

mod price;
mod speed;

use std::sync::Arc;

use cardfit::estimate::Basis;
use cardfit::offers::{Fit, Offer, Run};
use cardfit::text::text;
use leptos::prelude::*;

use crate::answer::{Row, cost};
use crate::glyphs::FitGlyph;
use crate::lazy::lazy_view;
use crate::offers_table::reveal;
use crate::state::App;
use crate::views::{View, ViewLink, link_of};
use crate::what_if::WhatIf;
use crate::words::{self, t};
use crate::{format, live, remedies, take, why};
use price::price_facts;
pub use price::price_origin;
use speed::speed_facts;

lazy_view! {
    part = answer;
    /// [`OfferDetail`], loaded when the first row is opened.
    pub fn offer_detail(row: Memo<Option<Arc<Row>>>) {
        view! { <OfferDetail row /> }.into_any()
    }
}

/// The detail of a card's row.
#[component]
pub fn OfferDetail(
    /// The card's row.
    row: Memo<Option<Arc<Row>>>,
) -> impl IntoView {
    let app = App::get();
    // The row may be taken away while its detail is still on the way: what reads it asks whether it is there.
    let offer = live::figures(move || {
        let row = row.try_get().flatten()?;
        let wanted = app.looked_at.with(|l| l.get(&row.best.card).copied());
        let chosen = row.counts.iter().find(|offer| Some(offer.count) == wanted);
        Some(Arc::clone(chosen.unwrap_or(&row.best)))
    });
    view! {
        <div class="detail" data-testid="offer-detail">
            <Show when=move || row.try_get().flatten().is_some_and(|row| row.counts.len() > 1)>
                <Counts row offer />
            </Show>
            {move || offer.try_get().flatten().map(offer_facts)}
        </div>
    }
}

/// The counts of one card; the one pressed is shown in detail.
#[component]
fn Counts(row: Memo<Option<Arc<Row>>>, offer: Memo<Option<Arc<Offer>>>) -> impl IntoView {
    let app = App::get();
    view! {
        <section>
            <h3>{t("offer.counts")}</h3>
            <ul class="counts">
                {move || {
                    let lang = app.lang.get();
                    let currency = app.scenario.with(|s| s.money.currency);
                    let kind = app.answer.with(|a| a.kind);
                    row.try_get()
                        .flatten()
                        .map(|row| {
                            row.counts
                                .iter()
                                .map(|counted| {
                                    let (card, count) = (counted.card.clone(), counted.count);
                                    let pressed = move || {
                                        let offer = offer.try_get().flatten();
                                        offer.is_some_and(|offer| offer.count == count)
                                    };
                                    let time = counted
                                        .hours
                                        .map(|h| format::seconds(lang, h.mid * 3600.0))
                                        .or_else(|| words::total_speed(lang, counted));
                                    let money = cost(counted, kind)
                                        .map(|c| format::money(lang, currency, c.mid));
                                    let raw = |figure: Option<cardfit::range::Range>| {
                                        figure.map(|range| range.mid.to_string())
                                    };
                                    view! {
                                        <li>
                                            <button
                                                type="button"
                                                class="count"
                                                data-testid="offer-count"
                                                data-card=counted.card.clone()
                                                data-count=count.to_string()
                                                data-fit=words::fit_name(&counted.fit)
                                                data-hours-mid=raw(counted.hours)
                                                data-cost-mid=raw(cost(counted, kind))
                                                aria-pressed=move || pressed().to_string()
                                                on:click=move |_| {
                                                    app.looked_at
                                                        .update(|l| {
                                                            l.insert(card.clone(), count);
                                                        });
                                                }
                                            >
                                                <FitGlyph fit=words::fit_name(&counted.fit) />
                                                <b>{format!("{count} ×")}</b>
                                                <span class="unseen">
                                                    {words::fit(lang, &counted.fit)}
                                                </span>
                                                <span>{time}</span>
                                                <span>{money}</span>
                                            </button>
                                        </li>
                                    }
                                })
                                .collect_view()
                        })
                }}
            </ul>
        </section>
    }
}

/// What there is to say about one offer. A function, like those that it calls, and not a component: what is read here
/// is followed by the closure that calls it.
fn offer_facts(offer: Arc<Offer>) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get();
    let plan = words::plan(lang, &offer);
    // What is compared with the first offer follows the first alone: all else stands while a limit is dragged.
    let (judged, unfit, resting) = (Arc::clone(&offer), Arc::clone(&offer), Arc::clone(&offer));
    view! {
        <div class="facts">
            {move || why(&judged)}
            <section class="wide">
                <h3>{text(lang, "offer.memory", &[])}</h3>
                {(offer.fit != Fit::Fits)
                    .then(|| {
                        view! {
                            {fit_problem(&offer)}
                            <RemedyButtons offer=Arc::clone(&offer) most=4 />
                            {move || larger_card(&unfit)}
                        }
                    })}
                <WhatIf offer=Arc::clone(&offer) />
            </section>
            {(!plan.is_empty())
                .then(|| {
                    view! {
                        <section>
                            <h3>{text(lang, "offer.plan", &[])}</h3>
                            <ul class="plain" data-testid="plan">
                                {plan
                                    .into_iter()
                                    .map(|phrase| view! { <li>{phrase}</li> })
                                    .collect_view()}
                            </ul>
                        </section>
                    }
                })}
            {speed_facts(&offer)}
            {move || grounds(&resting)}
            {price_facts(&offer)}
            {take::launch_files(&offer)}
        </div>
    }
}

/// What decides for this card, what sets it apart from the first, and the ways on from here.
fn why(offer: &Arc<Offer>) -> impl IntoView + use<> {
    let app = App::get();
    let lang = app.lang.get();
    let answer = app.answer.get();
    let first = answer.first().filter(|first| !Arc::ptr_eq(first, offer));
    let sentences: Vec<String> = [
        why::decides(lang, offer),
        first.and_then(|first| why::against(lang, offer, first, answer.kind)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let pair: Vec<&Offer> = first
        .map(|first| vec![first.as_ref(), offer.as_ref()])
        .unwrap_or_else(|| vec![offer.as_ref()]);
    let pair = link_of(pair);
    view! {
        <section class="wide why">
            <p data-testid="why-decides">{sentences.join(&text(lang, "page.space", &[]))}</p>
            <p class="ways">
                <ViewLink
                    view=View::Card
                    params=vec![("show", offer.card.clone())]
                    testid="to-card"
                >
                    {text(lang, "offer.to_card", &[])}
                </ViewLink>
                <ViewLink view=View::Compare params=vec![("vs", pair)] testid="to-compare">
                    {text(lang, "offer.to_compare", &[])}
                </ViewLink>
            </p>
        </section>
    }
}

/// Why it does not fit.
fn fit_problem(offer: &Offer) -> impl IntoView + use<> {
    let lang = App::get().lang.get();
    let usable = format::gib(offer.usable_memory_bytes as f64);
    let high = format::gib(offer.memory.needed_bytes.high);
    let message = match &offer.fit {
        Fit::TooSmall { missing_bytes, .. } => text(
            lang,
            "offer.why.too_small",
            &[
                ("missing", &format::gib(*missing_bytes as f64)),
                ("usable", &usable),
                ("high", &high),
            ],
        ),
        _ => text(
            lang,
            "offer.why.tight",
            &[("usable", &usable), ("high", &high)],
        ),
    };
    view! { <p data-testid="why">{message}</p> }
}

/// Where no single change makes an offer fit: the cheapest offer that does, as a button that shows it.
fn larger_card(offer: &Offer) -> impl IntoView + use<> {
    let app = App::get();
    let lang = app.lang.get();
    let answer = app.answer.get();
    let fitting = answer
        .first()
        .filter(|first| first.fit == Fit::Fits)
        .cloned();
    offer.remedies.is_empty().then(|| {
        let way_on = fitting.map(|first| {
            let cards = words::cards(lang, &first);
            view! {
                <button
                    type="button"
                    class="remedy"
                    data-testid="larger-card"
                    on:click=move |_| reveal(app, &first.card, first.count)
                >
                    {text(lang, "offer.remedy.other_card", &[("value", &cards)])}
                </button>
            }
        });
        view! {
            <p>{text(lang, "offer.remedy.nothing", &[])}</p>
            <p class="remedies">{way_on}</p>
        }
    })
}

/// Changes that would make an offer fit, the smallest first, as buttons that make them.
#[component]
pub fn RemedyButtons(
    /// An offer that is tight or too small.
    offer: Arc<Offer>,
    /// How many at most.
    most: usize,
) -> impl IntoView {
    let app = App::get();
    let buttons = offer
        .remedies
        .iter()
        .take(most)
        .map(|remedy| {
            let remedy = *remedy;
            view! {
                <button
                    type="button"
                    class="remedy"
                    data-testid="remedy"
                    on:click=move |_| remedies::apply(app, remedy)
                >
                    {move || words::remedy(app.lang.get(), remedy)}
                </button>
            }
        })
        .collect_view();
    view! { <p class="remedies">{buttons}</p> }
}

/// What the estimate rests on and what was assumed.
fn grounds(offer: &Offer) -> impl IntoView + use<> {
    let app = App::get();
    let lang = app.lang.get();
    let about =
        |key: &str, basis: &Basis| text(lang, key, &[("basis", &words::basis(lang, basis))]);
    let speed = match &offer.run {
        Some(Run::Train { speed, .. }) => Some(about("offer.basis.of_speed", &speed.basis)),
        Some(Run::Serve { speed, .. }) => Some(about("offer.basis.of_speed", &speed.basis)),
        Some(Run::Work { speed, .. }) => Some(about("offer.basis.of_speed", &speed.basis)),
        None => None,
    };
    let common = app.answer.with(|a| a.assumptions.clone());
    let assumptions = offer
        .assumptions
        .iter()
        .copied()
        .chain(common)
        .collect::<Vec<_>>();
    view! {
        <section>
            <h3>{text(lang, "offer.grounds", &[])}</h3>
            <ul class="plain" data-testid="grounds">
                <li>{about("offer.basis.of_memory", &offer.memory.basis)}</li>
                {speed.map(|line| view! { <li>{line}</li> })}
                {assumptions
                    .into_iter()
                    .map(|assumption| view! { <li>{words::assumption(lang, assumption)}</li> })
                    .collect_view()}
            </ul>
        </section>
    }
}
