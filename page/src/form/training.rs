//! Inputs of training jobs.

use cardfit::dtype::WeightFormat;
use cardfit::plan::{Offload, Recompute, Sharding};
use cardfit::scenario::Choice;
use cardfit::scenario::{Optimizer, TrainingAmount, TrainingMethod, TrainingPrecision};
use leptos::prelude::*;

use super::field::{CheckField, ChoiceField, NumberField, Segments, entries};
use super::{CardCounts, training_of};
use crate::state::{App, Pace};
use crate::words::t;

/// How much is trained on.
#[component]
pub fn TrainingInputs() -> impl IntoView {
    let app = App::get();
    let adapters = trains_adapters(app);
    let unit = Memo::new(move |_| {
        app.scenario
            .with(|s| match training_of(s).map(|t| t.amount) {
                Some(TrainingAmount::Samples { .. }) => "samples",
                _ => "tokens",
            })
    });
    // Changing the unit keeps the amount of work: samples times length times passes are its tokens.
    let count_in = move |wanted: &'static str| {
        let amount = app
            .scenario
            .with_untracked(|s| training_of(s).map(|t| (t.amount, f64::from(t.seq_len))));
        match (wanted, amount) {
            ("tokens", Some((TrainingAmount::Samples { count, epochs }, seq))) => {
                let tokens = format!("{}", (count * epochs * seq).round());
                app.set(
                    &[("tokens", &tokens), ("samples", ""), ("epochs", "")],
                    Pace::Choice,
                );
            }
            ("samples", Some((TrainingAmount::Tokens(tokens), seq))) => {
                let samples = format!("{}", (tokens / seq).round().max(1.0));
                app.set(
                    &[("samples", &samples), ("epochs", "1"), ("tokens", "")],
                    Pace::Choice,
                );
            }
            _ => {}
        }
    };
    view! {
        <Segments
            name="amount"
            legend="page.form.amount"
            value=unit
            entries=vec![
                ("samples", "page.form.amount.samples"),
                ("tokens", "page.form.amount.tokens"),
            ]
            choose=count_in
        />
        {move || {
            if unit.get() == "samples" {
                view! {
                    <NumberField
                        param="samples"
                        instead_of=&["tokens"]
                        value={|s| match training_of(s)?.amount {
                            TrainingAmount::Samples { count, .. } => Some(count),
                            TrainingAmount::Tokens(_) => None,
                        }}
                    />
                    <NumberField
                        param="epochs"
                        instead_of=&["tokens"]
                        value={|s| match training_of(s)?.amount {
                            TrainingAmount::Samples { epochs, .. } => Some(epochs),
                            TrainingAmount::Tokens(_) => None,
                        }}
                    />
                }
                    .into_any()
            } else {
                view! {
                    <NumberField
                        param="tokens"
                        instead_of=&["samples", "epochs"]
                        value={|s| match training_of(s)?.amount {
                            TrainingAmount::Tokens(tokens) => Some(tokens),
                            TrainingAmount::Samples { .. } => None,
                        }}
                    />
                }
                    .into_any()
            }
        }}
        <NumberField param="seq" value={|s| Some(f64::from(training_of(s)?.seq_len))} />
        {move || {
            if adapters.get() {
                view! { <NumberField param="rank" value={|s| Some(f64::from(training_of(s)?.lora_rank))} /> }
                    .into_any()
            } else {
                view! { <Precision /> }.into_any()
            }
        }}
    }
}

/// Whether adapters are trained, which have a rank.
fn trains_adapters(app: App) -> Memo<bool> {
    Memo::new(move |_| {
        app.scenario.with(|s| {
            training_of(s)
                .is_some_and(|t| matches!(t.method, TrainingMethod::Lora | TrainingMethod::Qlora))
        })
    })
}

#[component]
fn Precision() -> impl IntoView {
    view! {
        <ChoiceField
            param="prec"
            value={|s| Some(training_of(s)?.precision.name())}
            entries={entries::<TrainingPrecision>()}
        />
    }
}

/// Everything else about training.
#[component]
pub fn TrainingDetails() -> impl IntoView {
    let app = App::get();
    let adapters = trains_adapters(app);
    // Only there is the format of the frozen weights a choice of its own.
    let quantised = Memo::new(move |_| {
        app.scenario
            .with(|s| training_of(s).is_some_and(|t| t.method == TrainingMethod::Qlora))
    });
    const OPEN: &str = "page.form.chosen_for_you";
    view! {
        <section class="group">
            <h2 class="group-title">{t("page.form.training")}</h2>
            <div class="pairs">
                <Show when=move || adapters.get()>
                    <Precision />
                </Show>
                <Show when=move || quantised.get()>
                    <ChoiceField
                        param="w"
                        value={|s| Some(training_of(s)?.base_weights.name())}
                        entries={entries::<WeightFormat>()}
                    />
                </Show>
                <ChoiceField
                    param="opt"
                    value={|s| Some(training_of(s)?.optimizer.name())}
                    entries={entries::<Optimizer>()}
                />
                <NumberField
                    param="batch"
                    empty=OPEN
                    value={|s| training_of(s)?.global_batch.map(f64::from)}
                />
                <NumberField
                    param="micro"
                    empty=OPEN
                    value={|s| training_of(s)?.micro_batch.map(f64::from)}
                />
                <ChoiceField
                    param="recompute"
                    open=OPEN
                    value={|s| Some(training_of(s)?.recompute?.name())}
                    entries={entries::<Recompute>()}
                />
            </div>
            <CheckField
                param="flash"
                value={|s| training_of(s).is_some_and(|t| t.flash_attention)}
            />
        </section>
        <section class="group">
            <h2 class="group-title">{t("page.form.layout")}</h2>
            <div class="pairs">
                <CardCounts />
                <ChoiceField
                    param="shard"
                    open=OPEN
                    value={|s| Some(training_of(s)?.sharding?.name())}
                    entries={entries::<Sharding>()}
                />
                <ChoiceField
                    param="offload"
                    open=OPEN
                    value={|s| Some(training_of(s)?.offload?.name())}
                    entries={entries::<Offload>()}
                />
                <NumberField
                    param="tp"
                    empty=OPEN
                    value={|s| training_of(s)?.tensor_parallel.map(f64::from)}
                />
                <NumberField
                    param="pp"
                    empty=OPEN
                    value={|s| training_of(s)?.pipeline_parallel.map(f64::from)}
                />
                <NumberField
                    param="ep"
                    empty=OPEN
                    value={|s| training_of(s)?.expert_parallel.map(f64::from)}
                />
            </div>
        </section>
    }
}
