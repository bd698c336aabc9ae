//! Images a minute, and recognition in real time.

use cardfit::catalog::{Card, Catalog, Medium, NetworkTask};
use cardfit::offers::capability::{self, ImageReach, StreamReach, USUAL_FRAMES_PER_S};
use cardfit::scenario::PipelineOffload;
use cardfit::text::text;
use leptos::prelude::*;

use crate::format;
use crate::state::App;
use crate::words::{self, t};

/// Both, of the card that is looked at.
#[component]
pub fn Media(card: Memo<String>, count: Memo<u32>) -> impl IntoView {
    let app = App::get();
    move || {
        let id = card.get();
        let found = app
            .scenario
            .with(|scenario| capability::card_of(scenario, Catalog::embedded(), &id))?;
        Some(view! {
            <Images card=found.clone() count=count.get() />
            <Streams card=found count=count.get() />
        })
    }
}

/// Rows of a table before all are asked for.
const SHOWN: usize = 10;

/// Shows the rest of a long table.
#[component]
fn ShowAll(
    /// Whether the rest is shown.
    all: RwSignal<bool>,
    /// Rows there are.
    count: usize,
) -> impl IntoView {
    let app = App::get();
    let shown = move || {
        text(
            app.lang.get(),
            "reach.show_all",
            &[("n", &count.to_string())],
        )
    };
    view! {
        <button
            type="button"
            class="quiet"
            class:hidden=move || all.get() || count <= SHOWN
            data-testid="reach-show-all"
            on:click=move |_| all.set(true)
        >
            {shown}
        </button>
    }
}

/// Every image and video model on the cards.
#[component]
fn Images(card: Card, count: u32) -> impl IntoView {
    let lang = App::get().lang.get();
    let rows = capability::images(Catalog::embedded(), &card, count);
    let (all, count) = (RwSignal::new(false), rows.len());
    let size = move |reach: &ImageReach| {
        let (width, height) = (reach.width.to_string(), reach.height.to_string());
        let (frames, steps) = (reach.frames.to_string(), reach.steps.to_string());
        let key = match reach.medium {
            Medium::Image => "reach.image_size",
            Medium::Video => "reach.clip_size",
        };
        text(
            lang,
            key,
            &[
                ("width", &width),
                ("height", &height),
                ("frames", &frames),
                ("steps", &steps),
            ],
        )
    };
    let held = move |reach: &ImageReach| {
        let weights = words::choice(lang, reach.weights);
        match (reach.per_minute, reach.offload) {
            (None, _) => text(lang, "reach.does_not_fit", &[]),
            (Some(_), PipelineOffload::None) => weights,
            (Some(_), offload) => {
                let comma = text(lang, "page.comma", &[]);
                format!("{weights}{comma}{}", words::choice(lang, offload))
            }
        }
    };
    view! {
        <section aria-labelledby="reach-images">
            <h3 class="part-title" id="reach-images">{t("reach.images")}</h3>
            <p class="note">{t("reach.images.say")}</p>
            <div class="scroll">
                <table class="reach-table stacks" role="table" data-testid="reach-images-table">
                    <thead>
                        <tr>
                            <th scope="col">{t("reach.column.image_model")}</th>
                            <th scope="col">{t("reach.column.size")}</th>
                            <th scope="col">{t("reach.column.held")}</th>
                            <th scope="col" class="number">{t("reach.column.a_minute")}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {rows
                            .iter()
                            .enumerate()
                            .map(|(place, reach)| {
                                let model = Catalog::embedded().subject(&reach.model);
                                let name = model.map_or_else(|| reach.model.clone(), |m| m.name().to_owned());
                                let speed = reach.per_minute.map(|r| format::number_range(lang, r)).unwrap_or_default();
                                view! {
                                    <tr role="row" class:hidden=move || { place >= SHOWN && !all.get() }>
                                        <th scope="row" role="rowheader">{name}</th>
                                        <td role="cell" data-label=t("reach.column.size")>{size(reach)}</td>
                                        <td role="cell" data-label=t("reach.column.held")>{held(reach)}</td>
                                        <td role="cell" class="number" data-label=t("reach.column.a_minute")>{speed}</td>
                                    </tr>
                                }
                            })
                            .collect_view()}
                    </tbody>
                </table>
            </div>
            <ShowAll all count />
        </section>
    }
}

/// Cameras and speakers that the cards keep up with.
#[component]
fn Streams(card: Card, count: u32) -> impl IntoView {
    let lang = App::get().lang.get();
    let rows = capability::streams(Catalog::embedded(), &card, count, USUAL_FRAMES_PER_S);
    let (all, count) = (RwSignal::new(false), rows.len());
    let throughput = move |reach: &StreamReach| {
        let shown = format::number_range(lang, reach.throughput);
        match reach.task {
            NetworkTask::Speech => text(lang, "reach.audio", &[("n", &shown)]),
            _ => shown,
        }
    };
    let delay = move |reach: &StreamReach| format::seconds(lang, reach.delay_s);
    let fps = format!("{USUAL_FRAMES_PER_S:.0}");
    view! {
        <section aria-labelledby="reach-streams">
            <h3 class="part-title" id="reach-streams">{t("reach.streams")}</h3>
            <p class="note">{text(lang, "reach.streams.say", &[("fps", &fps)])}</p>
            <div class="scroll">
                <table class="reach-table stacks" role="table" data-testid="reach-streams-table">
                    <thead>
                        <tr>
                            <th scope="col">{t("reach.column.network")}</th>
                            <th scope="col" class="number">{t("reach.column.streams")}</th>
                            <th scope="col" class="number">{t("reach.column.delay")}</th>
                            <th scope="col" class="number">{t("reach.column.throughput")}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {rows
                            .iter()
                            .enumerate()
                            .map(|(place, reach)| {
                                let network = Catalog::embedded().network(&reach.network);
                                let name = network.map_or_else(|| reach.network.clone(), |n| n.name.clone());
                                view! {
                                    <tr role="row" class:hidden=move || { place >= SHOWN && !all.get() }>
                                        <th scope="row" role="rowheader">{name}</th>
                                        <td role="cell" class="number" data-label=t("reach.column.streams")>
                                            {format::count(lang, u64::from(reach.streams))}
                                        </td>
                                        <td role="cell" class="number" data-label=t("reach.column.delay")>{delay(reach)}</td>
                                        <td role="cell" class="number" data-label=t("reach.column.throughput")>
                                            {throughput(reach)}
                                        </td>
                                    </tr>
                                }
                            })
                            .collect_view()}
                    </tbody>
                </table>
            </div>
            <ShowAll all count />
        </section>
    }
}
