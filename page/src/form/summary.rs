//! The scenario in two lines, for screens on which the form would push the answer out of sight.

use cardfit::catalog::Catalog;
use cardfit::scenario::{Job, ModelChoice, Scenario, TrainingAmount};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use super::job::short_name;
use crate::model_picker::name_of;
use crate::state::{App, job_kind};
use crate::{format, words};

/// What is done with what: `LoRA · Qwen2.5 7B`.
fn what(lang: Lang, scenario: &Scenario) -> String {
    let model = match &scenario.model {
        ModelChoice::Catalog(id) => Catalog::embedded()
            .subject(id)
            .map_or_else(|| id.clone(), |subject| name_of(lang, subject)),
        ModelChoice::Custom(_) => text(lang, "saved.custom", &[]),
    };
    format!(
        "{model} · {}",
        text(lang, short_name(job_kind(scenario)), &[])
    )
}

/// How much of it, and within which limits.
fn how_much(lang: Lang, scenario: &Scenario) -> Vec<String> {
    let whole = |n: u32| format::count(lang, u64::from(n));
    let number = |n: f64| format::number(lang, n, 4);
    let said = |key: &str, args: &[(&str, &str)]| text(lang, key, args);
    let size = |width: u32, height: u32| format!("{width} × {height}");
    let mut lines = match &scenario.job {
        Job::Train(job) => {
            let amount = match job.amount {
                TrainingAmount::Tokens(n) => said("form.said.tokens", &[("n", &number(n))]),
                TrainingAmount::Samples { count, epochs } => said(
                    "form.said.samples",
                    &[("n", &number(count)), ("epochs", &number(epochs))],
                ),
            };
            vec![
                amount,
                said("form.said.length", &[("n", &whole(job.seq_len))]),
            ]
        }
        Job::Serve(job) => vec![
            words::load(lang, scenario),
            said(
                "form.said.turn",
                &[
                    ("in", &whole(job.prompt_tokens)),
                    ("out", &whole(job.output_tokens)),
                ],
            ),
        ],
        Job::Generate(job) => {
            let key = if job.frames > 1 {
                "form.said.clips"
            } else {
                "form.said.images"
            };
            vec![
                said(key, &[("n", &number(job.amount))]),
                size(job.width, job.height),
                said("form.said.steps", &[("n", &whole(job.steps))]),
            ]
        }
        Job::TuneDiffusion(job) => vec![
            said("form.said.steps", &[("n", &whole(job.steps))]),
            size(job.width, job.height),
        ],
        Job::TrainNetwork(job) => vec![said(
            "form.said.samples",
            &[("n", &number(job.samples)), ("epochs", &number(job.epochs))],
        )],
        Job::RunNetwork(job) => vec![said("form.said.looked", &[("n", &number(job.amount))])],
        Job::Transcribe(job) => vec![said("form.said.audio", &[("n", &number(job.amount))])],
        Job::Compute(job) => vec![
            said("form.said.operations", &[("n", &number(job.operations))]),
            words::choice(lang, job.precision),
        ],
    };
    let money = &scenario.money;
    if let Some(budget) = money.budget {
        let budget = format::money(lang, money.currency, budget);
        lines.push(said("form.said.budget", &[("n", &budget)]));
    }
    if let Some(hours) = money.deadline_hours {
        let hours = format::seconds(lang, hours * 3600.0);
        lines.push(said("form.said.deadline", &[("n", &hours)]));
    }
    lines
}

/// The two lines, and the button that unfolds the form or folds it again. Wide screens hide it.
#[component]
pub fn FormSummary(
    /// Whether only this is shown of the form.
    folded: RwSignal<bool>,
) -> impl IntoView {
    let app = App::get();
    let button = move || {
        let key = if folded.get() {
            "form.unfold"
        } else {
            "form.fold"
        };
        text(app.lang.get(), key, &[])
    };
    view! {
        <div class="form-summary" data-testid="form-summary">
            <p>
                <strong>{move || app.scenario.with(|s| what(app.lang.get(), s))}</strong>
                <span>
                    {move || {
                        let lang = app.lang.get();
                        app.scenario.with(|s| how_much(lang, s)).join(&text(lang, "page.comma", &[]))
                    }}
                </span>
            </p>
            <button
                type="button"
                class="quiet"
                data-testid="form-fold"
                aria-expanded=move || (!folded.get()).to_string()
                on:click=move |_| folded.update(|folded| *folded = !*folded)
            >
                {button}
            </button>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardfit::scenario::{Preset, parse};

    #[test]
    fn every_kind_of_job_is_said_in_both_languages() {
        for preset in Preset::all() {
            let scenario = parse(&preset.query, Catalog::embedded()).scenario;
            for lang in Lang::ALL {
                let said = format!(
                    "{} {}",
                    what(lang, &scenario),
                    how_much(lang, &scenario).join(" ")
                );
                assert!(!said.contains("form.said"), "{}: {said}", preset.id);
                assert!(!said.contains('{'), "{}: {said}", preset.id);
            }
        }
    }

    #[test]
    fn limits_are_part_of_what_is_said() {
        let scenario = parse(
            "m=qwen2.5-7b&do=lora&budget=100&deadline=24",
            Catalog::embedded(),
        )
        .scenario;
        let said = how_much(Lang::En, &scenario).join(" ");
        assert!(said.contains("¥100") && said.contains("24 h"), "{said}");
    }
}
