//! "What can this card do?", for a card's own page.

use cardfit::catalog::Catalog;
use cardfit::embed::config::Part;
use cardfit::offers::capability::{Capability, Method, MethodReach, capability, card_of};
use cardfit::scenario::ModelChoice;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use super::offers::RentButton;
use super::widget::Embed;
use crate::form::field::Segments;
use crate::model_picker::ModelPicker;
use crate::state::App;
use crate::words::t;
use crate::{format, words};

/// Numbers of cards that can be looked at.
const COUNTS: [(&str, u32); 4] = [("1", 1), ("2", 2), ("4", 4), ("8", 8)];

/// The widget of one card.
#[component]
pub fn CardWidget() -> impl IntoView {
    let app = App::get();
    let embed = Embed::get();
    let count = RwSignal::new("1");
    let card = Memo::new(move |_| embed.card(app));
    let can = Memo::new(move |_| {
        let number = COUNTS
            .iter()
            .find(|(name, _)| *name == count.get())
            .map_or(1, |(_, n)| *n);
        app.scenario.with(|scenario| {
            let catalog = Catalog::embedded();
            let card = card_of(scenario, catalog, &card.get()?)?;
            Some(capability(scenario, catalog, &card, number))
        })
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
            can.get().map(|can| view! { <Reach lang can=can.clone() /> })
        }}
        {move || {
            let card = card.get()?;
            let row = app.answer.with(|answer| answer.row(&card).cloned())?;
            let number = COUNTS.iter().find(|(name, _)| *name == count.get()).map_or(1, |(_, n)| *n);
            let offer = row
                .counts
                .iter()
                .find(|offer| offer.count == number)
                .cloned()
                .unwrap_or_else(|| row.best.clone());
            Some(view! { <p class="card-rent"><RentButton offer /></p> })
        }}
    }
}

/// What the cards can do, in two short tables.
#[component]
fn Reach(lang: Lang, can: Capability) -> impl IntoView {
    let app = App::get();
    // Only language models are asked about here.
    let model = app.scenario.with(|s| match &s.model {
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
        .map_or_else(none, |n| format::parameters(n as f64));
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
