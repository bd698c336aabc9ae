//! The form: what to run, the few inputs that matter for that job, limits, order; the rest under "advanced".

mod bring;
mod cards;
pub mod costs;
mod custom_model;
mod extras;
pub mod field;
mod job;
mod money;
mod own_card;
mod serving;
mod summary;
mod training;
mod work;

use cardfit::scenario::Choice;
use cardfit::scenario::{Job, RankBy, Scenario, Training};
use leptos::prelude::*;

use crate::answer::AnswerKind;
use crate::begin::Step;
use crate::lazy::{Lazy, LazyDetails, lazy_view};
use crate::model_picker::ModelPicker;
use crate::state::{App, Pace};
use crate::words::t;
use field::{NumberField, Segments};

/// The training job of a scenario.
fn training_of(scenario: &Scenario) -> Option<&Training> {
    match &scenario.job {
        Job::Train(training) => Some(training),
        _ => None,
    }
}

/// The service of a scenario.
fn serving_of(scenario: &Scenario) -> Option<&cardfit::scenario::Serving> {
    match &scenario.job {
        Job::Serve(serving) => Some(serving),
        _ => None,
    }
}

/// Key of an order's short name.
pub fn order_name(order: RankBy) -> &'static str {
    match order {
        RankBy::Cheapest => "page.order.cheapest",
        RankBy::Fastest => "page.order.fastest",
        RankBy::BestValue => "page.order.value",
    }
}

lazy_view! {
    part = form;
    /// Inputs of the jobs that are not a language model's.
    fn work_inputs(panel: work::Panel) {
        view! { <work::WorkInputs panel /> }.into_any()
    }
}

lazy_view! {
    part = form;
    fn advanced() {
        view! { <Advanced /> }.into_any()
    }
}

/// What few change.
#[component]
fn Advanced() -> impl IntoView {
    let app = App::get();
    let serves = Memo::new(move |_| app.scenario.with(|s| serving_of(s).is_some()));
    let panel = Memo::new(move |_| app.scenario.with(work::Panel::of));
    view! {
        {move || {
            if let Some(panel) = panel.get() {
                view! { <work::WorkDetails panel /> }.into_any()
            } else if serves.get() {
                view! { <serving::ServingDetails /> }.into_any()
            } else {
                view! { <training::TrainingDetails /> }.into_any()
            }
        }}
        <money::MoneyDetails />
    }
}

/// How many cards, and what is in use on them already.
#[component]
fn CardCounts() -> impl IntoView {
    const OPEN: &str = "page.form.chosen_for_you";
    view! {
        <NumberField param="n" empty=OPEN value={|s| s.shelf.count.map(f64::from)} />
        <NumberField param="max" empty=OPEN value={|s| s.shelf.max_count.map(f64::from)} />
        <NumberField param="busy" value={|s| Some(s.shelf.busy_gib)} />
    }
}

/// What the job may cost and how long it may take.
#[component]
fn LimitInputs() -> impl IntoView {
    let app = App::get();
    // A service without an end has no deadline.
    let ends = Memo::new(move |_| app.scenario.with(AnswerKind::of) == AnswerKind::Once);
    view! {
        <NumberField param="budget" value={|s| s.money.budget} empty="page.form.no_limit" />
        <Show when=move || ends.get()>
            <NumberField
                param="deadline"
                value={|s| s.money.deadline_hours}
                empty="page.form.no_limit"
            />
        </Show>
    }
}

/// The whole form.
#[component]
pub fn ScenarioForm() -> impl IntoView {
    let app = App::get();
    let serves = Memo::new(move |_| app.scenario.with(|s| serving_of(s).is_some()));
    let panel = Memo::new(move |_| app.scenario.with(work::Panel::of));
    let order = Memo::new(move |_| app.scenario.with(|s| s.rank.name()));
    // Only small screens fold.
    let folded = app.form_folded;
    view! {
        <form
            class="scenario"
            class:folded=folded
            aria-label=t("page.form.label")
            on:submit=move |event| event.prevent_default()
        >
            <summary::FormSummary folded />
            <section class="group">
                <Step>
                    <job::AreaChoice />
                </Step>
                <Step>
                    <ModelPicker />
                </Step>
                <Step>
                    <custom_model::CustomModel />
                    <bring::BringModel />
                </Step>
                <Step>
                    <job::JobChoice />
                </Step>
            </section>
            <section class="group pairs">
                <Step>
                {move || {
                    if let Some(panel) = panel.get() {
                        view! { <Lazy part=move || work_inputs(panel) /> }.into_any()
                    } else if serves.get() {
                        view! { <serving::ServingInputs /> }.into_any()
                    } else {
                        view! { <training::TrainingInputs /> }.into_any()
                    }
                }}
                </Step>
            </section>
            <section class="group pairs">
                <Step>
                <LimitInputs />
                <Segments
                    name="sort"
                    legend="field.sort"
                    value=order
                    entries={RankBy::ALL
                        .iter()
                        .map(|order| (order.name(), order_name(*order)))
                        .collect::<Vec<_>>()}
                    choose=move |name| app.set(&[("sort", name)], Pace::Choice)
                />
                </Step>
            </section>
            <Step>
                <cards::CardFilter />
            </Step>
            <Step>
                <LazyDetails testid="advanced" summary=|| t("page.form.advanced") part=advanced />
                <extras::ExtrasDetails />
            </Step>
        </form>
    }
}

/// The form in short: model and task, the rest on demand. For narrow places.
#[component]
pub fn ShortForm() -> impl IntoView {
    let app = App::get();
    let serves = Memo::new(move |_| app.scenario.with(|s| serving_of(s).is_some()));
    let panel = Memo::new(move |_| app.scenario.with(work::Panel::of));
    view! {
        <form
            class="scenario"
            aria-label=t("page.form.label")
            on:submit=move |event| event.prevent_default()
        >
            <section class="group">
                <ModelPicker />
                <job::JobChoice />
            </section>
            <details class="more" data-testid="short-more">
                <summary>{t("embed.inputs")}</summary>
                <section class="group pairs">
                    {move || {
                        if let Some(panel) = panel.get() {
                            view! { <work::WorkInputs panel /> }.into_any()
                        } else if serves.get() {
                            view! { <serving::ServingInputs /> }.into_any()
                        } else {
                            view! { <training::TrainingInputs /> }.into_any()
                        }
                    }}
                </section>
            </details>
        </form>
    }
}
