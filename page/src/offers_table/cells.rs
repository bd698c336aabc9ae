//! The figures of a row. Each cell is made once and its texts follow the row's offer: a row made anew would cost a frame
//! while a limit is dragged over sixty of them.

use std::sync::Arc;

use cardfit::offers::{Miss, Offer, Run};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use super::CostScale;
use crate::answer::cost;
use crate::format;
use crate::glyphs::{FitGlyph, Whisker};
use crate::state::App;
use crate::words;

/// The best offer of a row's card.
pub type Best = Memo<Option<Arc<Offer>>>;

/// Whether it fits, and how much of the card's memory it takes.
#[component]
pub fn FitCell(best: Best) -> impl IntoView {
    let app = App::get();
    let fit = Memo::new(move |_| best.get().map(|offer| offer.fit.clone()));
    let memory = move |offer: Arc<Offer>| {
        text(
            app.lang.get(),
            "offer.memory.short",
            &[
                ("needed", &format::gib_bare(offer.memory.needed_bytes.mid)),
                (
                    "usable",
                    &format::gib_bare(offer.usable_memory_bytes as f64),
                ),
            ],
        )
    };
    view! {
        {move || {
            fit.get()
                .map(|fit| {
                    view! {
                        <FitGlyph fit=words::fit_name(&fit) />
                        <span class="fit-word">{words::fit(app.lang.get(), &fit)}</span>
                    }
                })
        }}
        <small>{move || best.get().map(memory)}</small>
    }
}

/// How long the job takes, or how fast the service is.
#[component]
pub fn SpeedCell(best: Best) -> impl IntoView {
    let app = App::get();
    let said = move |said: fn(Lang, &Offer) -> String| {
        let lang = app.lang.get();
        best.get().map(|offer| said(lang, &offer))
    };
    view! {
        <b>{move || said(speed)}</b>
        <small>{move || said(about_speed)}</small>
    }
}

fn speed(lang: Lang, offer: &Offer) -> String {
    match (offer.hours, &offer.run) {
        (Some(hours), _) => format::seconds(lang, hours.mid * 3600.0),
        (None, Some(Run::Serve { speed, .. })) => {
            let rate = format::rate(lang, speed.tokens_per_s_user.mid);
            text(lang, "offer.rate.user", &[("rate", &rate)])
        }
        _ => format::NO_FIGURE.to_owned(),
    }
}

fn about_speed(lang: Lang, offer: &Offer) -> String {
    match (offer.hours, &offer.run) {
        (Some(hours), _) => format::seconds_ends(lang, hours.scale(3600.0)),
        (None, Some(Run::Serve { speed, .. })) => {
            let first = format::seconds(lang, speed.ttft_s.mid);
            text(lang, "offer.rate.first", &[("time", &first)])
        }
        _ => String::new(),
    }
}

/// The limits that a row's offer misses, and those that it may miss at worst.
pub type Limits = Memo<(Vec<Miss>, Vec<Miss>)>;

/// What it costs, and the limits that the row misses or, where it misses none, those that it may miss.
#[component]
pub fn CostCell(best: Best, scale: CostScale, limits: Limits) -> impl IntoView {
    let app = App::get();
    let range = move || best.get().and_then(|offer| cost(&offer, scale.get().0));
    let drawn = Memo::new(move |_| scale.get().1.zip(range()).is_some());
    let money = move || match (best.get(), range()) {
        (Some(_), Some(range)) => format::money(app.lang.get(), app.currency.get(), range.mid),
        (Some(offer), None) if offer.price.is_some() => format::NO_FIGURE.to_owned(),
        _ => String::new(),
    };
    let about = move || match (best.get(), range()) {
        (Some(_), Some(range)) => format::money_ends(app.lang.get(), range),
        (Some(offer), None) if offer.price.is_none() => {
            text(app.lang.get(), "page.verdict.no_price", &[])
        }
        _ => String::new(),
    };
    let missed = move || {
        let lang = app.lang.get();
        let said = limits.with(|(misses, may_miss)| match misses.as_slice() {
            [] => words::each(may_miss, |miss| words::may_miss(lang, miss)),
            misses => words::each(misses, |miss| words::miss(lang, miss)),
        });
        said.join(&text(lang, "page.comma", &[]))
    };
    let kept = move || limits.with(|(misses, _)| misses.is_empty());
    view! {
        <b>{money}</b>
        <small>{about}</small>
        <Show when=move || drawn.get()>
            <Whisker shown=Signal::derive(move || range().zip(scale.get().1)) />
        </Show>
        <Show when=move || limits.with(|(misses, may_miss)| misses.len() + may_miss.len() > 0)>
            <small class="miss" class:may=kept data-testid="offer-limits">
                {missed}
            </small>
        </Show>
    }
}
