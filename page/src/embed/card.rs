//! "What can this card do?", for a card's own page.

use cardfit::catalog::Catalog;
use cardfit::embed::config::Part;
use cardfit::offers::capability::{Capability, Method, MethodReach, capability, card_of};
use cardfit::offers::errand::{Errand, errand, well_known};
use cardfit::offers::{Fit, Run};
use cardfit::scenario::{Job, ModelChoice};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use super::offers::RentButton;
use super::widget::Embed;
use crate::form::field::Segments;
use crate::model_picker::{ModelPicker, chosen_name};
use crate::state::{App, job_kind};
use crate::words::t;
use crate::{format, words, work_words};

/// Numbers of cards that can be looked at.
const COUNTS: [(&str, u32); 4] = [("1", 1), ("2", 2), ("4", 4), ("8", 8)];

/// The widget of one card.
#[component]
pub fn CardWidget() -> impl IntoView {
    let app = App::get();
    let embed = Embed::get();
    let count = RwSignal::new("1");
    let card = Memo::new(move |_| embed.card(app));
    let number = Memo::new(move |_| {
        let mut counts = COUNTS.iter();
        let found = counts.find(|(name, _)| *name == count.get());
        found.map_or(1, |(_, n)| *n)
    });
    let can = Memo::new(move |_| {
        app.scenario.with(|scenario| {
            let catalog = Catalog::embedded();
            let card = card_of(scenario, catalog, &card.get()?)?;
            Some(capability(scenario, catalog, &card, number.get()))
        })
    });
    let errands = Memo::new(move |_| {
        let card = card.get()?;
        let catalog = Catalog::embedded();
        Some(app.scenario.with(|scenario| {
            let own = work_of(scenario).then(|| errand(scenario, catalog, &card, number.get()));
            (own, well_known(scenario, catalog, &card, number.get()))
        }))
    });
    let name = move || card.get().map(|id| words::card_name(app.lang.get(), &id));
    view! {
        <Show when=move || embed.config.with_value(|c| c.shows(Part::Header))>
            <h1 class="widget-title" data-testid="card-title">
                {move || {
                    let lang = app.lang.get();
                    name()
                        .map_or_else(
                            || text(lang, "embed.card.none", &[]),
                            |name| text(lang, "embed.card.of", &[("card", &name)]),
                        )
                }}
            </h1>
        </Show>
        <Show when=move || embed.config.with_value(|c| c.shows(Part::Form))>
            <form
                class="scenario card-form"
                aria-label=t("page.form.label")
                on:submit=move |event| event.prevent_default()
            >
                <Segments
                    name="card-count"
                    legend="field.n"
                    value=count
                    entries=vec![
                        ("1", "embed.card.n1"),
                        ("2", "embed.card.n2"),
                        ("4", "embed.card.n4"),
                        ("8", "embed.card.n8"),
                    ]
                    choose=move |name| count.set(name)
                />
                <ModelPicker />
            </form>
        </Show>
        {move || {
            let lang = app.lang.get();
            let (own, known) = errands.get()?;
            let can = can.get()?;
            Some(
                view! {
                    {match own {
                        Some(own) => view! { <OwnErrand lang own /> }.into_any(),
                        None => view! { <OwnModel lang can=can.clone() /> }.into_any(),
                    }}
                    <Reach lang can />
                    <Errands lang known />
                },
            )
        }}
        {move || {
            let card = card.get()?;
            let lang = app.lang.get();
            embed.track_stock();
            let row = app.answer.with(|answer| answer.row(&card).cloned())?;
            let offer = row
                .counts
                .iter()
                .find(|offer| offer.count == number.get())
                .cloned()
                .unwrap_or_else(|| row.best.clone());
            Some(view! { <p class="card-rent"><RentButton offer lang /></p> })
        }}
    }
}

/// Whether the scenario's job is no language model's.
fn work_of(scenario: &cardfit::scenario::Scenario) -> bool {
    !matches!(scenario.job, Job::Train(_) | Job::Serve(_))
}

/// The scenario's language model on the cards.
#[component]
fn OwnModel(lang: Lang, can: Capability) -> impl IntoView {
    let app = App::get();
    let model = app.scenario.with_untracked(|s| match &s.model {
        ModelChoice::Catalog(id) => Catalog::embedded().model(id).map(|m| m.name.clone()),
        ModelChoice::Custom(_) => Some(text(lang, "embed.card.custom", &[])),
    });
    let mut lines: Vec<String> = Vec::new();
    if let Some(serving) = &can.serving {
        let speed = serving.tokens_per_s_alone.map(|speed| {
            text(
                lang,
                "offer.rate.user",
                &[("rate", &format::rate(lang, speed.mid))],
            )
        });
        let context = format::count(lang, u64::from(serving.largest_context));
        let users = format::count(lang, u64::from(serving.concurrency));
        lines.push(text(
            lang,
            "embed.card.serves",
            &[
                ("users", &users),
                ("context", &context),
                ("speed", &speed.unwrap_or_default()),
            ],
        ));
    }
    if let Some(training) = &can.training {
        lines.push(text(
            lang,
            "embed.card.trains",
            &[
                (
                    "tokens",
                    &format::count(lang, u64::from(training.largest_sequence)),
                ),
                (
                    "speed",
                    &training
                        .tokens_per_s
                        .map_or_else(String::new, |s| format::rate(lang, s.mid)),
                ),
            ],
        ));
    }
    if lines.is_empty() {
        lines.push(text(lang, "embed.card.does_not_fit", &[]));
    }
    view! {
        {model
            .map(|model| {
                view! {
                    <section class="card-model" data-testid="card-model">
                        <h2>{model}</h2>
                        <ul class="plain">
                            {lines.into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}
                        </ul>
                    </section>
                }
            })}
    }
}

/// The scenario's job on the cards, where it is no language model's.
#[component]
fn OwnErrand(lang: Lang, own: Errand) -> impl IntoView {
    let name = chosen_name(lang, &own.scenario.model);
    let job = words::choice(lang, job_kind(&own.scenario));
    let lines = lines_of(lang, &own);
    view! {
        <section class="card-model" data-testid="card-model">
            <h2>{name}</h2>
            <p class="note">{job}</p>
            <ul class="plain">
                {lines.into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}
            </ul>
        </section>
    }
}

/// What there is to say about a job on the cards: its speed, the time of one piece, or what is missing.
fn lines_of(lang: Lang, errand: &Errand) -> Vec<String> {
    let Some(offer) = &errand.offer else {
        return vec![text(lang, "embed.card.does_not_fit", &[])];
    };
    match &offer.run {
        Some(Run::Work { plan, speed }) if !matches!(offer.fit, Fit::TooSmall { .. }) => [
            (offer.fit != Fit::Fits).then(|| words::fit(lang, &offer.fit)),
            Some(work_words::rate(lang, speed, &errand.scenario)),
            work_words::each(lang, plan, speed),
        ]
        .into_iter()
        .flatten()
        .collect(),
        _ => vec![words::fit(lang, &offer.fit)],
    }
}

/// Images, clips, networks, speech, science: what the cards do of jobs that people know.
#[component]
fn Errands(lang: Lang, known: Vec<Errand>) -> impl IntoView {
    view! {
        <table class="reach" data-testid="card-errands">
            <caption>{text(lang, "embed.card.errands", &[])}</caption>
            <thead>
                <tr>
                    <th scope="col">{text(lang, "field.do", &[])}</th>
                    <th scope="col">{text(lang, "embed.card.model", &[])}</th>
                    <th scope="col">{text(lang, "embed.card.speed", &[])}</th>
                </tr>
            </thead>
            <tbody>
                {known
                    .into_iter()
                    .map(|errand| {
                        let lines = lines_of(lang, &errand);
                        let comma = text(lang, "page.comma", &[]);
                        view! {
                            <tr data-fits=errand.fits().to_string()>
                                <th scope="row">{words::choice(lang, job_kind(&errand.scenario))}</th>
                                <td>{chosen_name(lang, &errand.scenario.model)}</td>
                                <td>{lines.join(&comma)}</td>
                            </tr>
                        }
                    })
                    .collect_view()}
            </tbody>
        </table>
    }
}

/// The largest language models that the cards hold.
#[component]
fn Reach(lang: Lang, can: Capability) -> impl IntoView {
    view! {
        <table class="reach" data-testid="card-reach">
            <caption>{text(lang, "embed.card.largest", &[])}</caption>
            <thead>
                <tr>
                    <th scope="col">{text(lang, "field.do", &[])}</th>
                    <th scope="col">{text(lang, "embed.card.parameters", &[])}</th>
                    <th scope="col">{text(lang, "embed.card.model", &[])}</th>
                </tr>
            </thead>
            <tbody>
                {can.methods.iter().map(|reach| view! { <MethodRow lang reach=reach.clone() /> }).collect_view()}
            </tbody>
        </table>
    }
}

#[component]
fn MethodRow(lang: Lang, reach: MethodReach) -> impl IntoView {
    let method = match reach.method {
        Method::Train(method) => words::choice(lang, method),
        Method::Serve(weights) => text(
            lang,
            "embed.card.serve_in",
            &[("format", &words::choice(lang, weights))],
        ),
    };
    let none = || text(lang, "embed.card.too_small", &[]);
    let largest = reach
        .largest_params
        .map_or_else(none, |n| format::parameters(lang, n as f64));
    let model = reach.largest_model.map_or_else(String::new, |id| {
        Catalog::embedded()
            .model(&id)
            .map_or(id, |model| model.name.clone())
    });
    view! {
        <tr>
            <th scope="row">{method}</th>
            <td>{largest}</td>
            <td>{model}</td>
        </tr>
    }
}
