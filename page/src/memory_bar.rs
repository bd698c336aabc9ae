//! Memory by part against what the card has.

use std::sync::Arc;

use cardfit::estimate::MemoryPart;
use cardfit::offers::Offer;
use cardfit::text::text;
use leptos::prelude::*;

use crate::state::App;
use crate::words::t;
use crate::{format, words};

/// Class of a part, for its colour.
fn part_class(part: MemoryPart) -> &'static str {
    match part {
        MemoryPart::Weights => "part-weights",
        MemoryPart::MasterWeights => "part-master",
        MemoryPart::Gradients => "part-gradients",
        MemoryPart::OptimizerStates => "part-optimizer",
        MemoryPart::Adapters => "part-adapters",
        MemoryPart::Activations => "part-activations",
        MemoryPart::Logits => "part-logits",
        MemoryPart::KvCache => "part-kv",
        MemoryPart::Communication => "part-communication",
        MemoryPart::TextEncoders => "part-text",
        MemoryPart::Autoencoder => "part-autoencoder",
        MemoryPart::WorkingSet => "part-working-set",
        MemoryPart::Framework => "part-framework",
        MemoryPart::Fragmentation => "part-fragmentation",
    }
}

/// Width of the drawing in its own units.
const WIDTH: f64 = 1000.0;
/// Height of the drawing in its own units.
const HEIGHT: f64 = 44.0;
/// Top and bottom of the bar.
const BAR: (f64, f64) = (8.0, 28.0);

/// A bar of the parts, the range of the sum, the card's memory as a mark; below it the figures as a list, which is
/// also what is read aloud.
#[component]
pub fn MemoryBar(
    /// The offer whose memory is shown.
    offer: Arc<Offer>,
) -> impl IntoView {
    let app = App::get();
    let usable = offer.usable_memory_bytes as f64;
    let needed = offer.memory.needed_bytes;
    let reserved = offer.memory.reserved_bytes;
    // The scale ends a little behind whichever ends later.
    let full = usable.max(needed.high).max(1.0) * 1.04;
    let x = move |bytes: f64| bytes / full * WIDTH;
    let mut from = 0.0;
    let parts: Vec<(MemoryPart, f64, f64)> = offer
        .memory
        .parts
        .iter()
        .map(|(part, bytes)| {
            let start = from;
            from += *bytes as f64;
            (*part, start, *bytes as f64)
        })
        .collect();
    let (top, bottom) = BAR;
    let bars = parts
        .iter()
        .map(|(part, start, bytes)| {
            view! {
                <rect
                    class=part_class(*part)
                    x=format!("{:.2}", x(*start))
                    y=top
                    width=format!("{:.2}", x(*bytes).max(0.5))
                    height=bottom - top
                />
            }
        })
        .collect_view();
    let whisker = (needed.high > needed.low).then(|| {
        let (low, high) = (x(needed.low), x(needed.high));
        let (y, up, down) = (bottom + 8.0, bottom + 4.0, bottom + 12.0);
        view! {
            <path class="whisker" d=format!("M{low:.1} {up}V{down}M{low:.1} {y}H{high:.1}M{high:.1} {up}V{down}") />
        }
    });
    let limit = x(usable);
    let lines = parts
        .into_iter()
        .map(|(part, _, bytes)| {
            view! {
                <li>
                    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                        <rect class=part_class(part) width="10" height="10" rx="2" />
                    </svg>
                    <span>{move || words::part(app.lang.get(), part)}</span>
                    <b>{format::gib(bytes)}</b>
                </li>
            }
        })
        .collect_view();
    view! {
        <div class="memory" data-testid="memory">
            <p>
                {move || {
                    let ends = (format::gib_bare(needed.low), format::gib_bare(needed.high));
                    text(
                        app.lang.get(),
                        "offer.memory.sum",
                        &[
                            ("needed", &format::gib(needed.mid)),
                            ("low", &ends.0),
                            ("high", &ends.1),
                            ("usable", &format::gib(usable)),
                        ],
                    )
                }}
            </p>
            <svg
                class="memory-bar"
                viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                preserveAspectRatio="none"
                aria-hidden="true"
            >
                <rect class="card-memory" x="0" y=top width=format!("{limit:.2}") height=bottom - top />
                {bars}
                {whisker}
                <path class="limit" d=format!("M{limit:.2} 2V{}", bottom + 6.0) />
            </svg>
            <ul class="parts" aria-label=t("offer.memory.parts")>
                {lines}
            </ul>
            {reserved
                .map(|bytes| {
                    view! {
                        <p class="note">
                            {move || {
                                text(
                                    app.lang.get(),
                                    "offer.memory.reserved",
                                    &[("reserved", &format::gib(bytes as f64))],
                                )
                            }}
                        </p>
                    }
                })}
        </div>
    }
}
