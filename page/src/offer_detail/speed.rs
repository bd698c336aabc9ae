//! How fast an offer is, and where its time goes.

use cardfit::estimate::TimeParts;
use cardfit::offers::{Offer, Run};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::state::App;
use crate::{format, words};

/// A figure with its name.
fn fact(name: String, value: String) -> impl IntoView {
    view! {
        <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
        </div>
    }
}

pub fn speed_facts(offer: &Offer) -> impl IntoView + use<> {
    let app = App::get();
    let lang = app.lang.get();
    let name = |key: &str| text(lang, key, &[]);
    let (facts, parts) = match &offer.run {
        Some(Run::Train { speed, .. }) => {
            let rate = format::number_range(lang, speed.tokens_per_s);
            let facts = vec![
                fact(
                    name("offer.speed.training"),
                    text(lang, "offer.rate.tokens", &[("rate", &rate)]),
                ),
                fact(
                    name("offer.speed.step"),
                    format::seconds_range(lang, speed.step_s),
                ),
                fact(name("offer.speed.mfu"), format::percent(speed.mfu)),
            ];
            (facts, speed.parts)
        }
        Some(Run::Serve {
            speed,
            largest_concurrency,
            fitting_concurrency,
            ..
        }) => {
            let tokens = |range| {
                let rate = format::number_range(lang, range);
                text(lang, "offer.rate.tokens", &[("rate", &rate)])
            };
            let thinks = speed.answer_s.mid > speed.ttft_s.mid;
            let answer = thinks.then(|| {
                fact(
                    name("offer.answer_after"),
                    format::seconds_range(lang, speed.answer_s),
                )
            });
            let facts = vec![
                fact(
                    name("offer.speed.ttft"),
                    format::seconds_range(lang, speed.ttft_s),
                ),
                fact(
                    name("offer.speed.tpot"),
                    format::seconds_range(lang, speed.tpot_s),
                ),
                fact(name("offer.speed.user"), tokens(speed.tokens_per_s_user)),
                fact(name("offer.speed.total"), tokens(speed.tokens_per_s_total)),
                fact(
                    name("offer.speed.requests"),
                    format::number_range(lang, speed.requests_per_s),
                ),
                fact(
                    name("offer.speed.fitting"),
                    format::count(lang, u64::from(*fitting_concurrency)),
                ),
                fact(
                    name("offer.speed.largest"),
                    format::count(lang, u64::from(*largest_concurrency)),
                ),
            ];
            (
                facts.into_iter().chain(answer).collect(),
                speed.decode_parts,
            )
        }
        Some(Run::Work { plan, speed }) => {
            let facts = app
                .scenario
                .with(|s| crate::work_words::facts(lang, plan, speed, s))
                .into_iter()
                .map(|(name, value)| fact(name, value))
                .collect::<Vec<_>>();
            (facts, speed.parts)
        }
        None => return ().into_any(),
    };
    let held_back = match &offer.run {
        Some(Run::Work { speed, .. }) => crate::work_words::held_back(lang, speed.input.as_ref()),
        _ => None,
    };
    view! {
        <section>
            <h3>{text(lang, "offer.speed", &[])}</h3>
            <dl class="figures" data-testid="speed">
                {facts}
            </dl>
            {held_back.map(|line| view! { <p class="note" data-testid="held-back">{line}</p> })}
            <TimeBar lang parts />
        </section>
    }
    .into_any()
}

/// Where the time goes: one bar, and its parts in words.
#[component]
fn TimeBar(lang: Lang, parts: TimeParts) -> impl IntoView {
    let parts = words::time_parts(lang, &parts);
    let whole: f64 = parts.iter().map(|(_, _, seconds)| seconds).sum();
    let mut from = 0.0;
    let bars = parts
        .iter()
        .map(|(name, _, seconds)| {
            let width = seconds / whole * 1000.0;
            let x = from;
            from += width;
            view! {
                <rect
                    class=format!("time-{name}")
                    x=format!("{x:.1}")
                    width=format!("{width:.1}")
                    height="20"
                />
            }
        })
        .collect_view();
    view! {
        <svg class="time-bar" viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
            {bars}
        </svg>
        <ul class="parts" aria-label=text(lang, "offer.time", &[])>
            {parts
                .into_iter()
                .map(|(name, word, seconds)| {
                    view! {
                        <li>
                            <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                                <rect class=format!("time-{name}") width="10" height="10" rx="2" />
                            </svg>
                            <span>{word}</span>
                            <b>{format::percent(seconds / whole)}</b>
                        </li>
                    }
                })
                .collect_view()}
        </ul>
    }
}
