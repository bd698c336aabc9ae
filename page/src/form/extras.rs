//! What is paid beside the cards: all zero until somebody sets it or picks a preset.

use cardfit::catalog::Billing;
use cardfit::rental::{Exchange, InterruptionRates, ProviderRule};
use cardfit::scenario::{Scenario, SpotTerms, number};
use cardfit::text::text;
use leptos::prelude::*;

use super::field::NumberField;
use crate::format;
use crate::lazy::{LazyDetails, lazy_view};
use crate::state::{App, Pace};
use crate::words::t;

/// Parameters of what is beside the cards, for taking all of them back.
const PARAMS: [&str; 16] = [
    "starts",
    "setup",
    "fetch",
    "upload",
    "line",
    "eval",
    "failed",
    "idle",
    "disk",
    "diskfree",
    "diskprice",
    "stoppedprice",
    "stopped",
    "egress",
    "egressprice",
    "tax",
];

/// Allowances that people commonly make: assumed, and shown as such.
const USUAL: [(&str, &str); 5] = [
    ("setup", "0.5"),
    ("fetch", "500"),
    ("eval", "5"),
    ("failed", "10"),
    ("idle", "10"),
];

/// Storage that a preset starts with, GB, where none is set.
const PRESET_DISK_GB: &str = "100";

fn any_set(scenario: &Scenario) -> bool {
    scenario.money.extras != cardfit::scenario::Extras::default()
}

lazy_view! {
    part = form;
    fn extras() {
        view! { <Extras /> }.into_any()
    }
}

/// The opt-in part of the form.
#[component]
pub fn ExtrasDetails() -> impl IntoView {
    let app = App::get();
    let set = Memo::new(move |_| app.scenario.with(any_set));
    let summary = move || {
        let counted = move || {
            let key = if set.get() {
                "extras.counted"
            } else {
                "extras.none"
            };
            text(app.lang.get(), key, &[])
        };
        view! {
            {t("extras.title")}
            <span class="summary-value">{counted}</span>
        }
    };
    view! { <LazyDetails testid="extras" summary part=extras /> }
}

/// What is beside the cards, input by input.
#[component]
fn Extras() -> impl IntoView {
    let app = App::get();
    let serves = Memo::new(move |_| {
        app.scenario
            .with(|s| crate::answer::AnswerKind::of(s) == crate::answer::AnswerKind::Monthly)
    });
    view! {
        <div class="stack">
            <p class="note">{t("extras.note")}</p>
            <Presets />
            <section class="group">
                <h2 class="group-title">{t("extras.time")}</h2>
                <div class="pairs">
                    <NumberField param="starts" value={|s| Some(s.money.extras.starts)} />
                    <NumberField param="setup" value={|s| Some(s.money.extras.setup_hours)} />
                    <NumberField param="fetch" value={|s| Some(s.money.extras.fetch_mbit_s)} />
                    <Show when=move || !serves.get()>
                        <NumberField param="upload" value={|s| Some(s.money.extras.upload_gb)} />
                        <NumberField param="line" value={|s| Some(s.money.extras.line_mbit_s)} />
                        <NumberField
                            param="eval"
                            value={|s| Some(s.money.extras.evaluation_percent)}
                        />
                        <NumberField
                            param="failed"
                            value={|s| Some(s.money.extras.failed_percent)}
                        />
                        <NumberField param="idle" value={|s| Some(s.money.extras.idle_percent)} />
                    </Show>
                </div>
            </section>
            <section class="group">
                <h2 class="group-title">{t("extras.storage")}</h2>
                <div class="pairs">
                    <NumberField param="disk" value={|s| Some(s.money.extras.disk_gb)} />
                    <NumberField param="diskfree" value={|s| Some(s.money.extras.disk_free_gb)} />
                    <NumberField param="diskprice" value={|s| Some(s.money.extras.disk_price)} />
                    <NumberField
                        param="stoppedprice"
                        value={|s| s.money.extras.stopped_price}
                        empty="extras.as_running"
                    />
                    <Show when=move || !serves.get()>
                        <NumberField
                            param="stopped"
                            value={|s| Some(s.money.extras.stopped_days)}
                        />
                    </Show>
                    <NumberField param="egress" value={|s| Some(s.money.extras.egress_gb)} />
                    <NumberField
                        param="egressprice"
                        value={|s| Some(s.money.extras.egress_price)}
                    />
                    <NumberField param="tax" value={|s| Some(s.money.extras.tax_percent)} />
                </div>
            </section>
            <SpotDetails />
        </div>
    }
}

/// Storage prices of providers whose list was read, usual allowances, and taking it all back.
#[component]
fn Presets() -> impl IntoView {
    let app = App::get();
    let of_provider = move |rule: &'static ProviderRule| {
        let Some(disk) = &rule.disk else { return };
        let (exchange, currency, gb) = app.scenario.with_untracked(|s| {
            let gb = s.money.extras.disk_gb;
            (Exchange::of(&s.money), s.money.currency, gb)
        });
        let here = |price: f64, from| {
            let converted = exchange.convert(price, from, currency);
            number::write((converted * 1e4).round() / 1e4)
        };
        let size = if gb > 0.0 {
            number::write(gb)
        } else {
            PRESET_DISK_GB.to_owned()
        };
        let egress = rule.egress.as_ref();
        app.set(
            &[
                ("disk", &size),
                ("diskfree", &number::write(disk.free_gb)),
                ("diskprice", &here(disk.running, disk.currency)),
                ("stoppedprice", &here(disk.stopped, disk.currency)),
                (
                    "egressprice",
                    &egress.map_or_else(String::new, |e| here(e.per_gb, e.currency)),
                ),
            ],
            Pace::Choice,
        );
    };
    view! {
        <div class="preset-row" role="group" aria-label=t("extras.presets")>
            <button
                type="button"
                class="quiet"
                data-testid="extras-usual"
                on:click=move |_| app.set(&USUAL, Pace::Choice)
            >
                {t("extras.usual")}
            </button>
            {ProviderRule::all()
                .iter()
                .filter(|rule| rule.disk.is_some())
                .map(|rule| {
                    let name = rule.names.first().cloned().unwrap_or_default();
                    let said = move || {
                        let lang = app.lang.get();
                        let day = rule
                            .disk
                            .as_ref()
                            .map(|disk| format::date(lang, &disk.as_of))
                            .unwrap_or_default();
                        text(lang, "extras.storage_of", &[("name", &name), ("date", &day)])
                    };
                    let source = move || {
                        let disk = rule.disk.as_ref()?;
                        Some(cardfit::rental::said_in(app.lang.get(), &disk.source))
                    };
                    view! {
                        <button
                            type="button"
                            class="quiet"
                            data-testid="extras-provider"
                            title=source
                            on:click=move |_| of_provider(rule)
                        >
                            {said}
                        </button>
                    }
                })
                .collect_view()}
            <button
                type="button"
                class="quiet"
                data-testid="extras-clear"
                on:click=move |_| {
                    app.set(&PARAMS.map(|param| (param, "")), Pace::Choice);
                }
            >
                {t("extras.clear")}
            </button>
        </div>
    }
}

/// Machines that may be taken away, where they may be used.
#[component]
fn SpotDetails() -> impl IntoView {
    let app = App::get();
    let spot = Memo::new(move |_| {
        app.scenario.with(|s| {
            s.money.billing.contains(&Billing::Spot) || s.money.spot != SpotTerms::default()
        })
    });
    view! {
        <Show when=move || spot.get()>
            <section class="group" data-testid="spot-terms">
                <h2 class="group-title">{t("spot.title")}</h2>
                <p class="note">{t("spot.note")}</p>
                <div class="preset-row" role="group" aria-label=t("spot.rates")>
                    {InterruptionRates::embedded()
                        .presets
                        .iter()
                        .map(|preset| {
                            let key = format!("spot.preset.{}", preset.id);
                            let rate = number::write(preset.per_hour);
                            view! {
                                <button
                                    type="button"
                                    class="quiet"
                                    on:click=move |_| {
                                        app.set(&[("interrupt", &rate)], Pace::Choice);
                                    }
                                >
                                    {move || text(app.lang.get(), &key, &[])}
                                </button>
                            }
                        })
                        .collect_view()}
                </div>
                <div class="pairs">
                    <NumberField
                        param="interrupt"
                        value={|s| s.money.spot.interruptions_per_hour}
                        empty="spot.known_or_usual"
                    />
                    <NumberField param="ckpt" value={|s| Some(s.money.spot.checkpoint_s)} />
                    <NumberField
                        param="every"
                        value={|s| s.money.spot.interval_hours}
                        empty="spot.best"
                    />
                    <NumberField param="restart" value={|s| Some(s.money.spot.restart_hours)} />
                </div>
            </section>
        </Show>
    }
}
