//! Time against cost: every offer that runs is a dot, the best cannot be beaten on both.

mod dots;

use cardfit::scenario::{Job, number};
use cardfit::text::text;
use leptos::prelude::*;

use crate::chart::table::Cells;
use crate::chart::{Along, DataTable, Drawing, Handle, Loose, Move, Plot};
use crate::format;
use crate::offers_table::reveal;
use crate::state::{App, Pace};
use crate::words::{self, t};
use dots::{Frame, Left, Told, dots, draw, frame, key, lines, of_key, paced};

/// The chart, its limits and its table.
#[component]
pub fn TimeCost() -> impl IntoView {
    let app = App::get();
    let dots = Memo::new(move |_| app.answer.with(|answer| dots(answer)));
    let pace = Memo::new(move |_| app.answer.with(|answer| paced(answer)));
    let told = move || Told {
        lang: app.lang.get(),
        currency: app.scenario.with(|s| s.money.currency),
        kind: app.answer.with(|a| a.kind),
        pace: pace.get(),
    };
    // It stands still while a limit in it is dragged: an axis that gave way would run from the hand.
    let frame = Memo::new(move |before: Option<&Frame>| {
        if let (true, Some(before)) = (app.dragging.get(), before) {
            return *before;
        }
        dots.with(|dots| frame(dots, (budget(app), pace_limit(app)), pace.get()))
    });
    let label = Signal::derive(move || {
        let n = dots.with(|dots| dots.len());
        text(
            app.lang.get(),
            "chart.time_cost.label",
            &[("n", &format::count(app.lang.get(), n as u64))],
        )
    });
    let cells = move || {
        let told = told();
        let heads = [
            text(told.lang, "page.table.cards", &[]),
            told.cost_title(),
            told.pace_title(),
            text(told.lang, "chart.time_cost.front", &[]),
        ];
        let yes = text(told.lang, "chart.yes", &[]);
        let rows = dots.with(|dots| {
            dots.iter()
                .filter(|dot| dot.best || dot.front)
                .map(|dot| {
                    let mut row = vec![words::cards(told.lang, &dot.offer)];
                    row.extend(lines(dot, &told).into_iter().take(2));
                    row.push(if dot.front {
                        yes.clone()
                    } else {
                        String::new()
                    });
                    row
                })
                .collect()
        });
        Cells {
            heads: heads.to_vec(),
            rows,
        }
    };
    let key_of = move |card: Option<String>| {
        let card = card?;
        app.answer.with(|a| a.row(&card).map(|row| key(&row.best)))
    };
    let chosen = Signal::derive(move || key_of(app.pointed.get()));
    let marked = Signal::derive(move || {
        let card = app.selected.get()?;
        let count = app.looked_at.with(|counts| counts.get(&card).copied());
        match count {
            Some(count) => Some(format!("{card}:{count}")),
            None => key_of(Some(card)),
        }
    });
    let point = move |key: Option<String>| {
        let card = key.and_then(|key| of_key(&key)).map(|(card, _)| card);
        if app.pointed_in_chart.get_untracked() != card {
            app.pointed_in_chart.set(card);
        }
    };
    view! {
        <section class="panel time-cost" class:hidden=move || dots.with(Vec::is_empty)>
            <h2>{t("chart.time_cost.title")}</h2>
            <p class="lead">{t("chart.time_cost.lead")}</p>
            <Plot
                name="time-cost"
                label
                height=|width| (width * 0.56).clamp(280.0, 460.0)
                draw=move |width, height| {
                    dots.with(|dots| draw(dots, frame.get(), &told(), (width, height)))
                }
                about=move |wanted: String| {
                    let dot = dots.with(|dots| dots.iter().find(|d| key(&d.offer) == wanted).cloned())?;
                    let told = told();
                    Some((words::cards(told.lang, &dot.offer), lines(&dot, &told)))
                }
                chosen
                marked
                choose=move |key: String| {
                    if let Some((card, count)) = of_key(&key) {
                        reveal(app, &card, count);
                    }
                }
                point
                over=limits_over
            />
            <DataTable caption=label cells />
        </section>
    }
}

fn budget(app: App) -> Option<f64> {
    app.scenario.with(|s| s.money.budget)
}

/// The limit of the left axis: the deadline in seconds, or the slowest tokens a second of one user.
fn pace_limit(app: App) -> Option<f64> {
    app.scenario.with(|s| match &s.job {
        Job::Serve(serving) if serving.requests_total.is_none() => {
            serving.tpot_target_s.map(|target| 1.0 / target)
        }
        _ => s.money.deadline_hours.map(|hours| hours * 3600.0),
    })
}

/// Budget and deadline as lines.
fn limits_over(drawing: Memo<Drawing>) -> AnyView {
    let app = App::get();
    let runs_on = Memo::new(move |_| app.answer.with(|a| paced(a)) == Left::Speed);
    // "Back" undoes a drag as a whole: its first step adds to the history, the others replace it.
    let set = move |param: &'static str, value: Option<f64>, how: Move| {
        let value = value.map(number::write).unwrap_or_default();
        if how == Move::Begun {
            app.dragging.set(true);
        }
        let pace = match how {
            Move::Begun | Move::Step => Pace::Choice,
            Move::Going => Pace::Dragging,
            Move::Done if app.dragging.get_untracked() => Pace::Typing,
            Move::Done => Pace::Choice,
        };
        app.set(&[(param, &value)], pace);
        if how == Move::Done {
            app.dragging.set(false);
        }
    };
    on_cleanup(move || {
        // Nothing else is told while the view is taken away: what would listen has lost what it reads.
        if app.dragging.get_untracked() {
            app.dragging.set(false);
        }
    });
    let named = move |key: &'static str, value: Option<String>| {
        let lang = app.lang.get();
        let value = value.unwrap_or_else(|| text(lang, "page.form.no_limit", &[]));
        text(
            lang,
            "chart.limit",
            &[("name", &text(lang, key, &[])), ("value", &value)],
        )
    };
    let lang = move || app.lang.get();
    view! {
        <Handle
            drawing
            name="drag-budget"
            along=Along::X
            loose=Loose::High
            value=Signal::derive(move || budget(app))
            set={move |(value, how): (Option<f64>, Move)| set("budget", value, how)}
            label=Signal::derive(move || text(lang(), "field.budget", &[]))
            say={move |value: Option<f64>| {
                let currency = app.scenario.with(|s| s.money.currency);
                named("field.budget", value.map(|v| format::money(lang(), currency, v)))
            }}
        />
        {move || {
            if runs_on.get() {
                view! {
                    <Handle
                        drawing
                        name="drag-tpot"
                        along=Along::Y
                        loose=Loose::Low
                        value=Signal::derive(move || pace_limit(app))
                        set={move |(value, how): (Option<f64>, Move)| {
                            set("tpot", value.map(|rate| 1.0 / rate), how)
                        }}
                        label=Signal::derive(move || text(lang(), "chart.slowest", &[]))
                        say={move |value: Option<f64>| {
                            let rate = value
                                .map(|v| {
                                    let rate = format::rate(lang(), v);
                                    text(lang(), "offer.rate.user", &[("rate", &rate)])
                                });
                            named("chart.slowest", rate)
                        }}
                    />
                }
                    .into_any()
            } else {
                view! {
                    <Handle
                        drawing
                        name="drag-deadline"
                        along=Along::Y
                        loose=Loose::High
                        value=Signal::derive(move || pace_limit(app))
                        set={move |(value, how): (Option<f64>, Move)| {
                            set("deadline", value.map(|seconds| seconds / 3600.0), how)
                        }}
                        label=Signal::derive(move || text(lang(), "field.deadline", &[]))
                        say={move |value: Option<f64>| {
                            named("field.deadline", value.map(|v| format::seconds(lang(), v)))
                        }}
                    />
                }
                    .into_any()
            }
        }}
    }
    .into_any()
}
