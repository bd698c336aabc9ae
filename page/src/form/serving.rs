//! Inputs of services.

use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::scenario::Choice;
use cardfit::scenario::{Engine, Load};
use leptos::prelude::*;

use super::field::{CheckField, ChoiceField, NumberField, Segments, entries};
use super::{CardCounts, serving_of};
use crate::state::{App, Pace};
use crate::words::t;

/// How many ask for how much, and how soon they want it.
#[component]
pub fn ServingInputs() -> impl IntoView {
    let app = App::get();
    let by = Memo::new(move |_| {
        app.scenario.with(|s| match serving_of(s).map(|v| v.load) {
            Some(Load::RequestsPerSecond(_)) => "rps",
            _ => "users",
        })
    });
    let count_by = move |wanted: &'static str| {
        if wanted == "rps" {
            app.set(&[("rps", "1"), ("users", "")], Pace::Choice);
        } else {
            app.set(&[("users", "10"), ("rps", "")], Pace::Choice);
        }
    };
    view! {
        <ChoiceField
            param="w"
            value={|s| Some(serving_of(s)?.weights.name())}
            entries={entries::<WeightFormat>()}
        />
        <NumberField
            param="ttft"
            empty="page.form.no_limit"
            value={|s| serving_of(s)?.ttft_target_s}
        />
        <NumberField param="in" value={|s| Some(f64::from(serving_of(s)?.prompt_tokens))} />
        <NumberField param="out" value={|s| Some(f64::from(serving_of(s)?.output_tokens))} />
        <Segments
            name="load"
            legend="page.form.load"
            value=by
            entries=vec![("users", "page.form.load.users"), ("rps", "page.form.load.rate")]
            choose=count_by
        />
        {move || {
            if by.get() == "users" {
                view! {
                    <NumberField
                        param="users"
                        instead_of=&["rps"]
                        value={|s| match serving_of(s)?.load {
                            Load::Concurrency(n) => Some(f64::from(n)),
                            Load::RequestsPerSecond(_) => None,
                        }}
                    />
                }
                    .into_any()
            } else {
                view! {
                    <NumberField
                        param="rps"
                        instead_of=&["users"]
                        value={|s| match serving_of(s)?.load {
                            Load::RequestsPerSecond(n) => Some(n),
                            Load::Concurrency(_) => None,
                        }}
                    />
                }
                    .into_any()
            }
        }}
    }
}

/// Everything else about a service.
#[component]
pub fn ServingDetails() -> impl IntoView {
    const OPEN: &str = "page.form.chosen_for_you";
    view! {
        <section class="group">
            <h2 class="group-title">{t("page.form.serving")}</h2>
            <div class="pairs">
                <ChoiceField
                    param="kv"
                    value={|s| Some(serving_of(s)?.kv.name())}
                    entries={entries::<KvFormat>()}
                />
                <ChoiceField
                    param="engine"
                    open=OPEN
                    value={|s| Some(serving_of(s)?.engine?.name())}
                    entries={entries::<Engine>()}
                />
                <NumberField
                    param="tpot"
                    empty="page.form.no_limit"
                    value={|s| serving_of(s)?.tpot_target_s}
                />
                <NumberField param="hours" value={|s| Some(serving_of(s)?.hours_per_day)} />
                <NumberField
                    param="requests"
                    empty="page.form.runs_on"
                    value={|s| serving_of(s)?.requests_total}
                />
            </div>
        </section>
        <section class="group">
            <h2 class="group-title">{t("page.form.habits")}</h2>
            <div class="pairs">
                <NumberField
                    param="think"
                    value={|s| Some(f64::from(serving_of(s)?.habits.thinking_tokens))}
                />
                <NumberField
                    param="hit"
                    value={|s| Some(serving_of(s)?.habits.prefix_hit_percent)}
                />
                <NumberField
                    param="guess"
                    value={|s| Some(f64::from(serving_of(s)?.habits.guesses))}
                />
                <NumberField
                    param="accept"
                    value={|s| Some(serving_of(s)?.habits.accept_percent)}
                />
                <NumberField
                    param="draft"
                    empty="page.form.own_head"
                    value={|s| serving_of(s)?.habits.draft_params}
                />
                <CheckField
                    param="offline"
                    value={|s| serving_of(s).is_some_and(|v| v.habits.offline)}
                />
            </div>
        </section>
        <section class="group">
            <h2 class="group-title">{t("page.form.layout")}</h2>
            <div class="pairs">
                <CardCounts />
                <NumberField
                    param="tp"
                    empty=OPEN
                    value={|s| serving_of(s)?.tensor_parallel.map(f64::from)}
                />
            </div>
        </section>
    }
}
