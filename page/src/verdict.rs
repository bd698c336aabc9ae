//! The answer in one sentence, and the three picks below it.

use std::sync::Arc;
use std::time::Duration;

use cardfit::offers::{Fit, Offer};
use cardfit::scenario::Choice;
use cardfit::scenario::RankBy;
use cardfit::text::text;
use leptos::prelude::*;

use crate::answer::cost;
use crate::form::order_name;
use crate::offer_detail::RemedyButtons;
use crate::seen;
use crate::state::{App, Pace};
use crate::verdict_text::{self, Verdict, verdict};
use crate::words::t;
use crate::{format, words};

/// The present verdict.
fn present(app: App) -> Memo<Verdict> {
    Memo::new(move |_| {
        let lang = app.lang.get();
        app.answer
            .with(|answer| app.scenario.with(|s| verdict(lang, answer, s)))
    })
}

/// The verdict, large.
#[component]
pub fn VerdictPanel() -> impl IntoView {
    let app = App::get();
    let present = present(app);
    let stale = Memo::new(move |_| app.bad_inputs.with(|bad| !bad.is_empty()));
    let first = Memo::new(move |_| app.answer.with(|answer| answer.first().cloned()));
    let fits = Memo::new(move |_| app.answer.with(|answer| answer.tally.fits > 0));
    let narrowed = Memo::new(move |_| {
        app.scenario
            .with(|s| s.shelf.count.is_some() || !s.shelf.cards.is_empty())
    });
    let fit = move || first.with(|offer| offer.as_ref().map(|offer| words::fit_name(&offer.fit)));
    view! {
        <section class="verdict" id="answer" aria-labelledby="verdict-title">
            <h2 id="verdict-title" class="unseen">{t("page.verdict.title")}</h2>
            <p class="stale" class:hidden=move || !stale.get() data-testid="stale">
                {t("page.verdict.stale")}
            </p>
            <p class="sentence" data-testid="verdict" data-fit=fit>
                <strong class="subject" data-testid="verdict-subject">
                    {move || present.with(|v| v.subject.clone())}
                </strong>
                // A figure stays on one line with its range where it can.
                <span class="figures">
                    {move || {
                        let comma = text(app.lang.get(), "page.comma", &[]);
                        let figures = present.with(|v| v.figures.clone());
                        let last = figures.len().saturating_sub(1);
                        figures
                            .into_iter()
                            .enumerate()
                            .map(|(place, figure)| {
                                let comma = if place < last { comma.as_str() } else { "" };
                                view! { <span>{format!("{figure}{comma}")}</span> }
                            })
                            .collect_view()
                    }}
                </span>
                <span class="caution">
                    {move || {
                        let comma = text(app.lang.get(), "page.comma", &[]);
                        present.with(|v| v.caution.join(&comma))
                    }}
                </span>
            </p>
            {move || {
                first
                    .get()
                    .filter(|offer| offer.fit != Fit::Fits)
                    .map(|offer| view! { <RemedyButtons offer most=2 /> })
            }}
            <Bolder />
            {move || (!fits.get() && narrowed.get()).then(|| view! { <Widen /> })}
            <p class="basis" data-testid="verdict-basis">
                {move || {
                    let lang = app.lang.get();
                    first.get().map(|offer| verdict_text::basis(lang, &offer))
                }}
            </p>
            <Tally />
            <Announcer present />
        </section>
    }
}

/// What would be chosen by middle values alone, where that is another offer than the one that keeps its limits at worst.
#[component]
fn Bolder() -> impl IntoView {
    let app = App::get();
    let offer = Memo::new(move |_| {
        let rank = app.scenario.with(|s| s.rank);
        app.answer.with(|answer| answer.bolder(rank).cloned())
    });
    let said = move |offer: &Offer| {
        let lang = app.lang.get();
        app.answer.with(|answer| {
            app.scenario
                .with(|s| verdict_text::bolder(lang, answer, offer, s))
        })
    };
    move || {
        offer.get().map(|offer| {
            let (card, count) = (offer.card.clone(), offer.count);
            view! {
                <p class="bolder">
                    <button
                        type="button"
                        class="link"
                        data-testid="bolder"
                        data-card=card.clone()
                        on:click=move |_| crate::offers_table::reveal(app, &card, count)
                    >
                        {move || said(&offer)}
                    </button>
                </p>
            }
        })
    }
}

/// The way out where none of the cards that were asked for does.
#[component]
fn Widen() -> impl IntoView {
    let app = App::get();
    view! {
        <p class="remedies">
            <button
                type="button"
                class="remedy"
                data-testid="widen-shelf"
                on:click=move |_| app.set(&[("cards", ""), ("n", "")], Pace::Choice)
            >
                {t("page.verdict.widen")}
            </button>
        </p>
    }
}

/// How many cards fit, in one line.
#[component]
fn Tally() -> impl IntoView {
    let app = App::get();
    view! {
        <p class="tally" data-testid="tally">
            {move || {
                let lang = app.lang.get();
                let tally = app.answer.with(|answer| answer.tally);
                let comma = text(lang, "page.comma", &[]);
                [
                    ("page.tally.fits", tally.fits),
                    ("page.tally.tight", tally.tight),
                    ("page.tally.too_small", tally.too_small),
                ]
                    .into_iter()
                    .filter(|(_, n)| *n > 0)
                    .map(|(key, n)| text(lang, key, &[("n", &format::count(lang, n as u64))]))
                    .collect::<Vec<_>>()
                    .join(&comma)
            }}
        </p>
    }
}

/// Tells listeners of a new verdict once typing has paused, so that they are not told of every keystroke.
#[component]
fn Announcer(present: Memo<Verdict>) -> impl IntoView {
    const PAUSE: Duration = Duration::from_millis(700);
    let app = App::get();
    let said = RwSignal::new(String::new());
    Effect::new(move |earlier: Option<Option<TimeoutHandle>>| {
        if let Some(Some(timer)) = earlier {
            timer.clear();
        }
        let sentence = present.with(|v| v.sentence(app.lang.get()));
        set_timeout_with_handle(move || said.set(sentence), PAUSE).ok()
    });
    view! {
        <p class="unseen" role="status" aria-live="polite" data-testid="announcement">
            {said}
        </p>
    }
}

/// The verdict in one line at the foot of a small screen, and the way to the answer.
#[component]
pub fn StickyVerdict() -> impl IntoView {
    let app = App::get();
    let present = present(app);
    // While the verdict itself is in sight it would say the same twice.
    let away = RwSignal::new(true);
    // In the upper three quarters of the window it needs no second one.
    Effect::new(move |_| {
        if let Some(verdict) = document().get_element_by_id("answer") {
            seen::watch(&verdict, "0px 0px -25% 0px", move |seen| away.set(seen));
        }
    });
    view! {
        <a
            class="sticky-verdict"
            class:away=away
            href="#answer"
            data-testid="sticky-verdict"
        >
            <strong>{move || present.with(|v| v.subject.clone())}</strong>
            <span>
                {move || {
                    let comma = text(app.lang.get(), "page.comma", &[]);
                    present.with(|v| v.figures.join(&comma))
                }}
            </span>
        </a>
    }
}

/// Cheapest, fastest, best value.
#[component]
pub fn PicksPanel() -> impl IntoView {
    let app = App::get();
    let any = Memo::new(move |_| app.answer.with(|a| a.picks.fastest.is_some()));
    view! {
        <section class="picks" class:hidden=move || !any.get() aria-label=t("page.picks.label")>
            {(0..3_usize).map(|place| view! { <Pick place /> }).collect_view()}
        </section>
    }
}

#[component]
fn Pick(place: usize) -> impl IntoView {
    let app = App::get();
    let pick = Memo::new(move |_| {
        app.answer.with(|answer| {
            answer
                .picks
                .all()
                .get(place)
                .map(|(order, offer)| (*order, offer.cloned()))
        })
    });
    let show = move |order: RankBy, offer: Option<Arc<Offer>>| {
        let lang = app.lang.get();
        let offer = offer?;
        let kind = app.answer.with_untracked(|a| a.kind);
        let currency = app.scenario.with(|s| s.money.currency);
        let money = cost(&offer, kind).map_or_else(
            || text(lang, "page.verdict.no_price", &[]),
            |cost| format::money(lang, currency, cost.mid),
        );
        let time = offer
            .hours
            .map(|hours| format::seconds(lang, hours.mid * 3600.0))
            .or_else(|| words::total_speed(lang, &offer))
            .unwrap_or_default();
        let (leading, other) = if order == RankBy::Fastest {
            (time, money)
        } else {
            (money, time)
        };
        let (card, count) = (offer.card.clone(), offer.count);
        Some(view! {
            <button
                type="button"
                class="pick"
                data-testid=format!("pick-{}", order.name())
                data-card=offer.card.clone()
                data-count=offer.count.to_string()
                on:click=move |_| crate::offers_table::reveal(app, &card, count)
            >
                <span class="pick-order">{text(lang, order_name(order), &[])}</span>
                <span class="pick-cards">{words::cards(lang, &offer)}</span>
                <span class="pick-figures">
                    <b>{leading}</b>
                    <span>{other}</span>
                </span>
            </button>
        })
    };
    move || pick.get().and_then(|(order, offer)| show(order, offer))
}
