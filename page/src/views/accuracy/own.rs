//! A measurement of one's own: beside the estimate, as a factor for this session, as a row to send in.

use std::sync::Arc;

use cardfit::measured::own::{OwnMetric, csv};
use cardfit::offers::{Fit, Offer};
use cardfit::scenario::limits::Unit;
use cardfit::scenario::number;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::chart::save;
use crate::format;
use crate::rescaled::Rescaled;
use crate::state::{App, MeasuredSpeed};
use crate::words::{self, t};

fn metric_key(metric: OwnMetric) -> &'static str {
    match metric {
        OwnMetric::TrainingSpeed => "own.training_speed",
        OwnMetric::UserSpeed => "own.user_speed",
        OwnMetric::TotalSpeed => "own.total_speed",
        OwnMetric::FirstToken => "own.first_token",
        OwnMetric::Memory => "own.peak_memory",
    }
}

/// The form and what it says.
#[component]
pub fn OwnMeasurement() -> impl IntoView {
    let app = App::get();
    let offer_key = RwSignal::new(None::<String>);
    let metric_place = RwSignal::new(0_usize);
    let typed = RwSignal::new(String::new());
    let key = |offer: &Offer| format!("{}:{}", offer.card, offer.count);
    let offers = Memo::new(move |_| {
        app.unscaled.with(|answer| {
            answer
                .rows
                .iter()
                .flat_map(|row| row.counts.iter().cloned())
                .filter(|offer| !matches!(offer.fit, Fit::TooSmall { .. }))
                .collect::<Vec<Arc<Offer>>>()
        })
    });
    let offer = Memo::new(move |_| {
        let wanted = offer_key.get();
        offers.with(|offers| {
            let named = offers.iter().find(|offer| Some(key(offer)) == wanted);
            named.or_else(|| offers.first()).cloned()
        })
    });
    let metric = move || {
        let metrics = OwnMetric::of(offer.get().as_deref()?);
        metrics
            .get(metric_place.get())
            .or_else(|| metrics.first())
            .copied()
    };
    let value = move || {
        typed
            .with(|typed| number::read(typed, Unit::One))
            .filter(|value| *value > 0.0 && value.is_finite())
    };
    view! {
        <p class="lead">{t("own.lead")}</p>
        <form class="own" aria-label=t("accuracy.own") on:submit=|event| event.prevent_default()>
            <div class="filters">
                <div class="field">
                    <label for="own-offer">{t("own.offer")}</label>
                    <div class="input select">
                        <select
                            id="own-offer"
                            data-testid="own-offer"
                            on:change=move |event| offer_key.set(Some(event_target_value(&event)))
                        >
                            {move || {
                                let lang = app.lang.get();
                                offers
                                    .get()
                                    .into_iter()
                                    .map(|offer| {
                                        view! {
                                            <option value=key(&offer)>{words::cards(lang, &offer)}</option>
                                        }
                                    })
                                    .collect_view()
                            }}
                        </select>
                    </div>
                </div>
                <div class="field">
                    <label for="own-metric">{t("own.metric")}</label>
                    <div class="input select">
                        <select
                            id="own-metric"
                            data-testid="own-metric"
                            on:change=move |event| {
                                metric_place.set(event_target_value(&event).parse().unwrap_or(0));
                            }
                        >
                            {move || {
                                let lang = app.lang.get();
                                offer
                                    .get()
                                    .map(|offer| OwnMetric::of(&offer))
                                    .unwrap_or_default()
                                    .into_iter()
                                    .enumerate()
                                    .map(|(place, metric)| {
                                        view! {
                                            <option value=place.to_string()>
                                                {text(lang, metric_key(metric), &[])}
                                            </option>
                                        }
                                    })
                                    .collect_view()
                            }}
                        </select>
                    </div>
                </div>
                <div class="field">
                    <label for="own-value">{t("own.value")}</label>
                    <div class="input">
                        <input
                            id="own-value"
                            data-testid="own-value"
                            type="text"
                            inputmode="decimal"
                            autocomplete="off"
                            prop:value=typed
                            on:input=move |event| typed.set(event_target_value(&event))
                        />
                    </div>
                </div>
            </div>
        </form>
        <div role="status" data-testid="own-said">
            {move || {
                let (offer, metric) = (offer.get()?, metric()?);
                let estimate = metric.estimate(&offer)?;
                let lang = app.lang.get();
                let measured = value();
                let said = match measured {
                    Some(measured) => compared(lang, estimate, measured),
                    None => text(
                        lang,
                        "own.estimate",
                        &[("estimate", &format::number_range(lang, estimate))],
                    ),
                };
                Some(
                    view! {
                        <p class="subject-line">{said}</p>
                        {measured.map(|measured| view! { <Ways offer metric measured /> })}
                    },
                )
            }}
        </div>
        <Rescaled />
    }
}

fn compared(lang: Lang, estimate: cardfit::range::Range, measured: f64) -> String {
    let off = estimate.mid / measured - 1.0;
    let key = match (estimate.holds(measured), off > 0.0) {
        (true, _) => "own.inside",
        (false, true) => "own.below",
        (false, false) => "own.above",
    };
    text(
        lang,
        key,
        &[
            ("measured", &format::number(lang, measured, 4)),
            ("estimate", &format::number_range(lang, estimate)),
            ("off", &format::percent(off.abs())),
        ],
    )
}

/// What can be done with a measurement.
#[component]
fn Ways(offer: Arc<Offer>, metric: OwnMetric, measured: f64) -> impl IntoView {
    let app = App::get();
    let factor = metric.speed_factor(&offer, measured);
    let row = app
        .scenario
        .with_untracked(|scenario| csv(scenario, &offer, metric, measured));
    let card = offer.card.clone();
    view! {
        <p class="ways">
            {factor
                .map(|factor| {
                    view! {
                        <button
                            type="button"
                            class="quiet"
                            data-testid="own-rescale"
                            on:click=move |_| {
                                app.measured_speed
                                    .set(
                                        Some(MeasuredSpeed {
                                            card: card.clone(),
                                            factor,
                                        }),
                                    );
                            }
                        >
                            {t("own.rescale")}
                        </button>
                    }
                })}
        </p>
        {row
            .map(|row| {
                let saved = row.clone();
                view! {
                    <pre class="file" role="region" tabindex="0" aria-label=t("own.row")>
                        <code data-testid="own-row">{row}</code>
                    </pre>
                    <p class="ways">
                        <button
                            type="button"
                            class="link"
                            on:click=move |_| save::text("cardfit-measured.csv", "text/csv", &saved)
                        >
                            {t("own.save")}
                        </button>
                        <span class="note">{t("own.send")}</span>
                    </p>
                }
            })}
    }
}
