//! How it grows: the best offer's cost and time over one input, and where another card becomes the best.

mod steps;

use std::sync::Arc;
use std::time::Duration;

use cardfit::catalog::{Currency, PriceBook};
use cardfit::offers::{Offer, Run};
use cardfit::scenario::{Choice, Scenario, number};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use steps::{Axis, Step, axes_of, step, values};

use crate::answer::{AnswerKind, cost};
use crate::chart::svg::text_width;
use crate::chart::table::Cells;
use crate::chart::{Anchor, Area, DataTable, Drawing, Mark, Plot, Scale, Svg, Tick, axes};
use crate::form::field::{Entry, Segments};
use crate::format;
use crate::state::App;
use crate::words::{self, t};

/// Which figure of the best offer is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Cost,
    Pace,
}

impl Figure {
    fn of(self, offer: &Offer, kind: AnswerKind) -> Option<f64> {
        match self {
            Self::Cost => cost(offer, kind).map(|c| c.mid),
            Self::Pace => offer.hours.map(|h| h.mid * 3600.0).or(match &offer.run {
                Some(Run::Serve { speed, .. }) => Some(speed.tokens_per_s_user.mid),
                _ => None,
            }),
        }
        .filter(|value| *value > 0.0 && value.is_finite())
    }

    fn say(self, lang: Lang, currency: Currency, kind: AnswerKind, value: f64) -> String {
        match (self, kind) {
            (Self::Cost, _) => format::money(lang, currency, value),
            (Self::Pace, AnswerKind::Once) => format::seconds(lang, value),
            (Self::Pace, AnswerKind::Monthly) => text(
                lang,
                "offer.rate.user",
                &[("rate", &format::rate(lang, value))],
            ),
        }
    }

    fn title_key(self, kind: AnswerKind) -> &'static str {
        match (self, kind) {
            (Self::Cost, AnswerKind::Once) => "chart.time_cost.cost",
            (Self::Cost, AnswerKind::Monthly) => "chart.time_cost.cost_month",
            (Self::Pace, AnswerKind::Once) => "chart.time_cost.time",
            (Self::Pace, AnswerKind::Monthly) => "chart.time_cost.speed",
        }
    }
}

/// The panel. Nothing is computed before it is opened, and then one value a turn, so that the page stays awake.
#[component]
pub fn Growth() -> impl IntoView {
    let app = App::get();
    let open = RwSignal::new(false);
    // A new job has other inputs to follow.
    let job = Memo::new(move |_| app.scenario.with(|s| s.job.kind().label_key()));
    view! {
        <details
            class="panel growth"
            data-testid="growth"
            on:toggle=move |_| open.update(|open| *open = !*open)
        >
            <summary>
                <h2>{t("growth.title")}</h2>
            </summary>
            <p class="lead">{t("growth.lead")}</p>
            {move || open.get().then(|| view! { <Followed job=job.get() /> })}
        </details>
    }
}

#[component]
fn Followed(job: &'static str) -> impl IntoView {
    let app = App::get();
    let _of_this_job = job;
    let place = RwSignal::new(0_usize);
    let axes_now = Memo::new(move |_| app.scenario.with(axes_of));
    let axis = Memo::new(move |_| {
        axes_now.with(|axes| axes.get(place.get()).or_else(|| axes.first()).copied())
    });
    let steps = RwSignal::new(Vec::<Step>::new());
    let round = StoredValue::new(0_u32);
    Effect::new(move |_| {
        // It begins anew when the limit is let go.
        if app.dragging.get() {
            return;
        }
        let (scenario, axis) = (app.scenario.get(), axis.get());
        let book = app.book.get();
        round.update_value(|n| *n += 1);
        steps.set(Vec::new());
        if let Some(axis) = axis {
            follow(
                (scenario, book),
                axis,
                values(&axis),
                steps,
                round,
                round.get_value(),
            );
        }
    });
    let entries: Vec<Entry> = axes_now
        .get_untracked()
        .iter()
        .map(|axis| (axis.param, axis.label))
        .collect();
    let choose = move |name: &'static str| {
        let found = axes_now.with_untracked(|axes| axes.iter().position(|a| a.param == name));
        place.set(found.unwrap_or(0));
    };
    let now = Signal::derive(move || axis.get().map_or("", |axis| axis.param));
    let cells = move || {
        let lang = app.lang.get();
        let currency = app.scenario.with(|s| s.money.currency);
        let kind = app.answer.with(|a| a.kind);
        let say = |figure: Figure, offer: &Offer| {
            figure
                .of(offer, kind)
                .map(|value| figure.say(lang, currency, kind, value))
                .unwrap_or_default()
        };
        Cells {
            heads: vec![
                text(lang, axis.get().map_or("", |axis| axis.label), &[]),
                text(lang, "growth.best", &[]),
                text(lang, Figure::Cost.title_key(kind), &[]),
                text(lang, Figure::Pace.title_key(kind), &[]),
            ],
            rows: steps.with(|steps| {
                steps
                    .iter()
                    .map(|step| {
                        let mut row = vec![format::given(lang, step.at)];
                        match &step.best {
                            Some(offer) => row.extend([
                                words::cards(lang, offer),
                                say(Figure::Cost, offer),
                                say(Figure::Pace, offer),
                            ]),
                            None => row.extend([
                                text(lang, "page.verdict.none_fits", &[]),
                                String::new(),
                                String::new(),
                            ]),
                        }
                        row
                    })
                    .collect()
            }),
        }
    };
    let label = Signal::derive(move || text(app.lang.get(), "growth.title", &[]));
    let chart = move |name: &'static str, figure: Figure| {
        view! {
            <Plot
                name
                label=Signal::derive(move || {
                    let kind = app.answer.with(|a| a.kind);
                    text(app.lang.get(), figure.title_key(kind), &[])
                })
                height=|width| (width * 0.36).clamp(220.0, 300.0)
                draw=move |width, height| {
                    let lang = app.lang.get();
                    let currency = app.scenario.with(|s| s.money.currency);
                    let kind = app.answer.with(|a| a.kind);
                    let title = text(lang, axis.get().map_or("", |axis| axis.label), &[]);
                    let told = Told { lang, currency, kind, figure, x_title: title };
                    steps.with(|steps| draw(steps, axis.get(), &told, (width, height)))
                }
            />
        }
    };
    view! {
        <Segments name="growth-axis" legend="growth.over" value=now entries choose />
        {chart("growth-cost", Figure::Cost)}
        {chart("growth-pace", Figure::Pace)}
        <DataTable caption=label cells />
    }
}

/// Works out one value and leaves the rest for later turns, until a newer round has begun.
fn follow(
    asked: (Scenario, Arc<PriceBook>),
    axis: Axis,
    mut left: Vec<f64>,
    steps: RwSignal<Vec<Step>>,
    round: StoredValue<u32>,
    own: u32,
) {
    if left.is_empty() {
        return;
    }
    set_timeout(
        move || {
            // The panel may be gone, or its scenario another one.
            if round.try_get_value() != Some(own) {
                return;
            }
            let at = left.remove(0);
            let next = step(&asked.0, &asked.1, &axis, at);
            if steps.try_update(|steps| steps.push(next)).is_some() {
                follow(asked, axis, left, steps, round, own);
            }
        },
        Duration::from_millis(4),
    );
}

struct Told {
    lang: Lang,
    currency: Currency,
    kind: AnswerKind,
    figure: Figure,
    x_title: String,
}

fn draw(steps: &[Step], axis: Option<Axis>, told: &Told, (width, height): (f64, f64)) -> Drawing {
    let known: Vec<(f64, f64, &Offer)> = steps
        .iter()
        .filter_map(|step| {
            let offer = step.best.as_ref()?;
            Some((step.at, told.figure.of(offer, told.kind)?, offer))
        })
        .collect();
    let all = axis.map(|axis| values(&axis)).unwrap_or_default();
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0), |(low, high), value: f64| {
            (low.min(value), f64::max(high, value))
        })
    };
    let (low, high) = ends(&mut known.iter().map(|(_, value, _)| *value));
    let first = Area::of(width, height, 40.0);
    let y = Scale::log((low / 1.3, high * 1.5), first.bottom, first.top);
    let is_time = told.figure == Figure::Pace && told.kind == AnswerKind::Once;
    let y_values = if is_time {
        y.time_ticks(first.y_names())
    } else {
        y.ticks(first.y_names())
    };
    let y_ticks: Vec<Tick> = y_values
        .into_iter()
        .map(|value| {
            let name = match (told.figure, is_time) {
                (Figure::Cost, _) => format!(
                    "{}{}",
                    format::symbol(told.currency),
                    format::number(told.lang, value, 2)
                ),
                (_, true) => format::seconds_given(told.lang, value),
                _ => format::number(told.lang, value, 2),
            };
            (value, name)
        })
        .collect();
    let area = Area::of(width, height, axes::y_room(&y_ticks));
    let x = Scale::log(
        ends(&mut all.iter().copied()),
        area.left + 8.0,
        area.right - 8.0,
    );
    let x_ticks: Vec<Tick> = all
        .iter()
        .map(|value| (*value, format::given(told.lang, *value)))
        .collect();
    let mut svg = Svg::default();
    let title = text(told.lang, told.figure.title_key(told.kind), &[]);
    if !known.is_empty() {
        axes::y_axis(&mut svg, &area, &y, &y_ticks, &title);
    }
    axes::x_axis(&mut svg, &area, &x, &x_ticks, &told.x_title);
    if let Some(axis) = axis {
        let at = x.place(axis.now);
        svg.line("axis", (at, area.top), (at, area.bottom));
    }
    let points: Vec<(f64, f64)> = known
        .iter()
        .map(|(at, value, _)| (x.place(*at), y.place(*value)))
        .collect();
    svg.polyline("line-1", &points);
    let mut before: Option<&str> = None;
    let mut free_from = f64::NEG_INFINITY;
    for ((_, _, offer), (px, py)) in known.iter().zip(&points) {
        let changed = before != Some(offer.card.as_str());
        if changed && before.is_some() {
            svg.line("change", (*px, area.top), (*px, area.bottom));
        }
        svg.circle("dot front", (*px, *py), if changed { 5.0 } else { 3.5 });
        if changed {
            let name = words::card_name(told.lang, &offer.card);
            let wide = text_width(&name);
            let start = (px + 6.0).min(area.right - wide);
            if start >= free_from {
                svg.text("name", (start, area.top + 10.0), Anchor::Start, &name);
                free_from = start + wide + 8.0;
            }
        }
        before = Some(offer.card.as_str());
    }
    let marks = known
        .iter()
        .zip(&points)
        .map(|((at, value, offer), point)| Mark {
            at: *point,
            key: number::write(*at),
            title: words::cards(told.lang, offer),
            lines: vec![
                format!("{}: {}", told.x_title, format::number(told.lang, *at, 4)),
                told.figure.say(told.lang, told.currency, told.kind, *value),
            ],
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

#[cfg(test)]
mod tests {
    use super::*;
    use cardfit::catalog::Catalog;
    use cardfit::scenario::parse;

    #[test]
    fn more_samples_never_cost_less() {
        let scenario = parse(
            "m=qwen2.5-7b&do=lora&cards=rtx-4090,a100-sxm4-80gb",
            Catalog::embedded(),
        )
        .scenario;
        let axis = axes_of(&scenario)
            .into_iter()
            .find(|axis| axis.param == "samples")
            .unwrap();
        let costs: Vec<f64> = [0.5, 1.0, 4.0]
            .into_iter()
            .filter_map(|f| step(&scenario, PriceBook::embedded(), &axis, axis.now * f).best)
            .filter_map(|offer| Figure::Cost.of(&offer, AnswerKind::Once))
            .collect();
        assert_eq!(costs.len(), 3);
        assert!(costs.windows(2).all(|w| w[0] <= w[1] * 1.0001), "{costs:?}");
    }
}
