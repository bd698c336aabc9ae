//! Time against cost: every offer that runs is a dot, the best cannot be beaten on both.

use std::sync::Arc;

use cardfit::catalog::Currency;
use cardfit::offers::{Fit, Offer, Run};
use cardfit::range::Range;
use cardfit::scenario::{Job, number};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::answer::{Answer, AnswerKind, cost};
use crate::chart::svg::text_width;
use crate::chart::table::Cells;
use crate::chart::{
    Along, Anchor, Area, DataTable, Drawing, Handle, Loose, Mark, Move, Plot, Scale, Svg, Tick,
    axes,
};
use crate::offers_table::reveal;
use crate::state::{App, Pace};
use crate::words::{self, t};
use crate::{format, verdict_text};

/// What the left axis shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Seconds of a job: less is better.
    Time,
    /// Tokens a second of one user: more is better.
    Speed,
}

/// One offer on the chart.
#[derive(Debug, Clone)]
pub struct Dot {
    /// The offer.
    pub offer: Arc<Offer>,
    /// Cost of the job or of a month, in the scenario's currency.
    pub cost: Range,
    /// Seconds, or tokens a second.
    pub pace: Range,
    /// The best count of its card.
    pub best: bool,
    /// No offer that fits is both cheaper and faster.
    pub front: bool,
}

/// The same dot is the very same offer: its figures need no comparing.
impl PartialEq for Dot {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.offer, &other.offer)
            && (self.best, self.front) == (other.best, other.front)
    }
}

/// What the left axis shows for a scenario's answer.
fn paced(answer: &Answer) -> Left {
    let any_hours = answer
        .rows
        .iter()
        .any(|row| row.counts.iter().any(|offer| offer.hours.is_some()));
    if any_hours || answer.kind == AnswerKind::Once {
        Left::Time
    } else {
        Left::Speed
    }
}

fn pace_of(offer: &Offer, pace: Left) -> Option<Range> {
    match (pace, &offer.run) {
        (Left::Time, _) => offer.hours.map(|hours| hours.scale(3600.0)),
        (Left::Speed, Some(Run::Serve { speed, .. })) => Some(speed.tokens_per_s_user),
        _ => None,
    }
}

/// Every offer that has a cost and a time, cheapest first.
pub fn dots(answer: &Answer) -> Vec<Dot> {
    let pace = paced(answer);
    let positive = |range: &Range| range.low > 0.0 && range.high.is_finite();
    let mut dots: Vec<Dot> = answer
        .rows
        .iter()
        .flat_map(|row| {
            row.counts.iter().filter_map(move |offer| {
                Some(Dot {
                    cost: cost(offer, answer.kind).filter(positive)?,
                    pace: pace_of(offer, pace).filter(positive)?,
                    best: Arc::ptr_eq(offer, &row.best) || offer.count == row.best.count,
                    front: false,
                    offer: Arc::clone(offer),
                })
            })
        })
        .collect();
    dots.sort_by(|a, b| a.cost.mid.total_cmp(&b.cost.mid));
    mark_front(&mut dots, pace);
    dots
}

/// Marks the offers that no other beats on both. `dots` are sorted by cost.
fn mark_front(dots: &mut [Dot], pace: Left) {
    let mut best: Option<f64> = None;
    for dot in dots {
        if dot.offer.fit != Fit::Fits {
            continue;
        }
        let value = dot.pace.mid;
        let better = best.is_none_or(|best| match pace {
            Left::Time => value < best * 0.999,
            Left::Speed => value > best * 1.001,
        });
        if better {
            best = Some(value);
            dot.front = true;
        }
    }
}

/// Key of an offer's mark.
fn key(offer: &Offer) -> String {
    format!("{}:{}", offer.card, offer.count)
}

fn of_key(key: &str) -> Option<(String, u32)> {
    let (card, count) = key.rsplit_once(':')?;
    Some((card.to_owned(), count.parse().ok()?))
}

/// What costs more than this many times the least is beyond the edge of the chart: nobody takes it, and it would push
/// all the others into a corner.
const MOST_OVER_BEST: f64 = 40.0;

/// Ends of an axis: all middles and a little room, no further than `most` times the smallest, and a limit at any rate.
fn ends(ranges: impl Iterator<Item = Range>, limit: Option<f64>, most: Option<f64>) -> (f64, f64) {
    const ROOM: f64 = 1.5;
    let (low, high) = ranges
        .map(|range| range.mid)
        .fold((f64::INFINITY, 0.0), |(low, high), mid: f64| {
            (low.min(mid), f64::max(high, mid))
        });
    let high = most.map_or(high, |most| high.min(low * most));
    let limit = |end: f64, take: fn(f64, f64) -> f64| limit.map_or(end, |limit| take(end, limit));
    (limit(low / ROOM, f64::min), limit(high * ROOM, f64::max))
}

/// What the chart is told beside the dots.
struct Told {
    lang: Lang,
    currency: Currency,
    kind: AnswerKind,
    pace: Left,
}

impl Told {
    fn pace_tick(&self, value: f64) -> String {
        match self.pace {
            Left::Time => format::seconds_given(self.lang, value),
            Left::Speed => format::number(self.lang, value, 2),
        }
    }

    fn money_tick(&self, value: f64) -> String {
        let figure = format::number(self.lang, value, 2);
        format!("{}{figure}", format::symbol(self.currency))
    }

    fn pace_title(&self) -> String {
        let key = match self.pace {
            Left::Time => "chart.time_cost.time",
            Left::Speed => "chart.time_cost.speed",
        };
        text(self.lang, key, &[])
    }

    fn cost_title(&self) -> String {
        let key = match self.kind {
            AnswerKind::Once => "chart.time_cost.cost",
            AnswerKind::Monthly => "chart.time_cost.cost_month",
        };
        text(self.lang, key, &[])
    }
}

/// Ends of both axes: of the cost and of the left one.
type Frame = ((f64, f64), (f64, f64));

/// The frame around what there is to show, with the limits in it.
fn frame(dots: &[Dot], limits: (Option<f64>, Option<f64>), pace: Left) -> Frame {
    let shown = || dots.iter().filter(|dot| dot.best || dot.front);
    let most = (pace == Left::Time).then_some(20.0 * MOST_OVER_BEST);
    (
        ends(shown().map(|d| d.cost), limits.0, Some(MOST_OVER_BEST)),
        ends(shown().map(|d| d.pace), limits.1, most),
    )
}

/// Draws the chart. Offers at other than their card's best count are small; the front is a line.
fn draw(dots: &[Dot], (costs, paces): Frame, told: &Told, (width, height): (f64, f64)) -> Drawing {
    let shown = || dots.iter().filter(|dot| dot.best || dot.front);
    let blank = Area::of(width, height, 40.0);
    let y = Scale::log(paces, blank.bottom, blank.top);
    let values = match told.pace {
        Left::Time => y.time_ticks(blank.y_names()),
        Left::Speed => y.ticks(blank.y_names()),
    };
    let y_ticks: Vec<Tick> = values
        .into_iter()
        .map(|value| (value, told.pace_tick(value)))
        .collect();
    let area = Area::of(width, height, axes::y_room(&y_ticks));
    let x = Scale::log(costs, area.left, area.right);
    let x_ticks: Vec<Tick> = x
        .ticks(area.x_names(64.0))
        .into_iter()
        .map(|value| (value, told.money_tick(value)))
        .collect();
    let mut svg = Svg::default();
    axes::y_axis(&mut svg, &area, &y, &y_ticks, &told.pace_title());
    axes::x_axis(&mut svg, &area, &x, &x_ticks, &told.cost_title());
    let inside = |dot: &&Dot| {
        let ((c0, c1), (p0, p1)) = (x.domain(), y.domain());
        (c0..=c1).contains(&dot.cost.mid) && (p0..=p1).contains(&dot.pace.mid)
    };
    let at = |dot: &Dot| (x.place(dot.cost.mid), y.place(dot.pace.mid));
    svg.dots(
        "other",
        dots.iter()
            .filter(|d| !(d.best || d.front))
            .filter(inside)
            .map(at),
    );
    for dot in shown().filter(|dot| dot.best).filter(inside) {
        let (cx, cy) = at(dot);
        let class = if dot.front { "range front" } else { "range" };
        svg.path(
            class,
            &format!(
                "M{:.1} {cy:.1}H{:.1}M{cx:.1} {:.1}V{:.1}",
                x.place(dot.cost.low),
                x.place(dot.cost.high),
                y.place(dot.pace.low),
                y.place(dot.pace.high)
            ),
        );
    }
    let front: Vec<(f64, f64)> = dots
        .iter()
        .filter(|d| d.front)
        .filter(inside)
        .map(at)
        .collect();
    svg.path("front-line", &steps(&front));
    for dot in shown().filter(inside) {
        let class = match (&dot.offer.fit, dot.front) {
            (Fit::Fits, true) => "dot front",
            (Fit::Fits, false) if dot.offer.misses.is_empty() => "dot",
            (Fit::Fits, false) => "dot misses",
            _ => "dot tight",
        };
        svg.circle(class, at(dot), if dot.front { 5.0 } else { 4.0 });
    }
    names(&mut svg, &area, dots, &at, told);
    let marks = dots
        .iter()
        .filter(inside)
        .map(|dot| Mark {
            at: at(dot),
            key: key(&dot.offer),
            // Said when it is pointed at: hundreds of dots are drawn once a frame.
            title: String::new(),
            lines: Vec::new(),
        })
        .collect();
    Drawing {
        markup: svg.into_markup(),
        marks,
        area,
        x,
        y,
    }
}

/// Stairs through points: what can be had for at most a cost.
fn steps(points: &[(f64, f64)]) -> String {
    let mut commands = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        commands += &if index == 0 {
            format!("M{x:.1} {y:.1}")
        } else {
            format!("H{x:.1}V{y:.1}")
        };
    }
    commands
}

/// Names beside the front's dots, where there is room.
fn names(svg: &mut Svg, area: &Area, dots: &[Dot], at: &impl Fn(&Dot) -> (f64, f64), told: &Told) {
    type Box4 = (f64, f64, f64, f64);
    let touch = |a: &Box4, b: &Box4| a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3;
    let mut taken: Vec<Box4> = dots
        .iter()
        .filter(|dot| dot.front)
        .map(at)
        .map(|(x, y)| (x - 5.0, y - 5.0, x + 5.0, y + 5.0))
        .collect();
    let mut named = std::collections::BTreeSet::new();
    for dot in dots.iter().filter(|dot| dot.front) {
        // Counts of one card lie close together; its first says which card it is.
        if !named.insert(&dot.offer.card) && !dot.best {
            continue;
        }
        let name = words::cards(told.lang, &dot.offer);
        let (x, y) = at(dot);
        let wide = text_width(&name);
        let places = [
            (x + 9.0, y - 6.0, Anchor::Start),
            (x + 9.0, y + 15.0, Anchor::Start),
            (x - 9.0, y + 15.0, Anchor::End),
            (x - 9.0, y - 6.0, Anchor::End),
        ];
        let free = places.into_iter().find_map(|(tx, ty, anchor)| {
            let left = if anchor == Anchor::End { tx - wide } else { tx };
            let around = (left - 2.0, ty - 11.0, left + wide + 2.0, ty + 3.0);
            let fits = around.0 >= area.left
                && around.2 <= area.right
                && around.1 >= area.top
                && around.3 <= area.bottom
                && !taken.iter().any(|other| touch(other, &around));
            fits.then_some((tx, ty, anchor, around))
        });
        if let Some((tx, ty, anchor, around)) = free {
            taken.push(around);
            svg.text("name", (tx, ty), anchor, &name);
        }
    }
}

fn lines(dot: &Dot, told: &Told) -> Vec<String> {
    let pace = match told.pace {
        Left::Time => format::seconds_range(told.lang, dot.pace),
        Left::Speed => text(
            told.lang,
            "offer.rate.user",
            &[("rate", &format::number_range(told.lang, dot.pace))],
        ),
    };
    let mut lines = vec![
        format::money_range(told.lang, told.currency, dot.cost),
        pace,
    ];
    if let Some(said) = verdict_text::rests_on(told.lang, &dot.offer) {
        lines.push(said);
    }
    lines
}

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
                about=move |key: String| {
                    let dot = dots.with(|dots| dots.iter().find(|d| self::key(&d.offer) == key).cloned())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use cardfit::catalog::{Catalog, PriceBook};
    use cardfit::offers::rank;
    use cardfit::scenario::parse;

    fn answer(link: &str) -> Answer {
        let catalog = Catalog::embedded();
        let scenario = parse(link, catalog).scenario;
        Answer::new(&rank(&scenario, catalog, PriceBook::embedded()), &scenario)
    }

    #[test]
    fn nothing_beats_the_front_on_both() {
        for link in ["m=qwen2.5-7b&do=lora", "m=qwen3-32b&do=serve&users=20"] {
            let answer = answer(link);
            let (pace, dots) = (paced(&answer), dots(&answer));
            assert!(dots.iter().filter(|d| d.front).count() >= 2, "{link}");
            for front in dots.iter().filter(|d| d.front) {
                let beaten = dots.iter().any(|other| {
                    let faster = match pace {
                        Left::Time => other.pace.mid < front.pace.mid * 0.99,
                        Left::Speed => other.pace.mid > front.pace.mid * 1.01,
                    };
                    other.offer.fit == Fit::Fits && faster && other.cost.mid < front.cost.mid * 0.99
                });
                assert!(!beaten, "{link}: {}", key(&front.offer));
            }
        }
    }

    #[test]
    fn every_mark_lies_inside_and_names_its_offer() {
        let answer = answer("m=qwen2.5-7b&do=lora");
        let dots = dots(&answer);
        let told = Told {
            lang: Lang::En,
            currency: Currency::Cny,
            kind: answer.kind,
            pace: paced(&answer),
        };
        for width in [320.0, 800.0, 1600.0] {
            let around = frame(&dots, (None, None), told.pace);
            let drawing = draw(&dots, around, &told, (width, 400.0));
            assert!(drawing.marks.len() > 50);
            for mark in &drawing.marks {
                let (x, y) = mark.at;
                assert!((drawing.area.left..=drawing.area.right).contains(&x));
                assert!((drawing.area.top..=drawing.area.bottom).contains(&y));
                let (card, count) = of_key(&mark.key).unwrap();
                assert!(
                    answer
                        .row(&card)
                        .unwrap()
                        .counts
                        .iter()
                        .any(|o| o.count == count)
                );
            }
        }
    }
}
