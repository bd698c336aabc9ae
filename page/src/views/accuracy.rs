//! Estimates against published measurements: a log-log scatter by quantity and card, and a place for one's own.

mod examples;
mod own;
mod points;

use std::sync::Arc;

use cardfit::measured::accuracy::quantity_names;
use cardfit::notes::phrase_in;
use cardfit::text::{Lang, text};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::chart::table::Cells;
use crate::chart::{Area, DataTable, Drawing, Mark, Plot, Scale, Svg, Tick, axes};
use crate::format;
use crate::state::App;
use crate::words::{self, t};
use examples::Examples;
use own::OwnMeasurement;
use points::{Point, Points, Stats};

/// Rows of the table: enough to look through, few enough to be shown at once.
const MOST_ROWS: usize = 400;

/// How far the fetching of points is.
#[derive(Debug, Clone)]
enum Fetched {
    Waiting,
    Failed,
    Here(Arc<Points>),
}

/// The view.
#[component]
pub fn Accuracy() -> impl IntoView {
    let app = App::get();
    let fetched = RwSignal::new(Fetched::Waiting);
    spawn_local(async move {
        let points = points::fetch().await;
        let now = points.map_or(Fetched::Failed, |points| Fetched::Here(Arc::new(points)));
        // The view may have been left.
        let _gone = fetched.try_set(now);
    });
    view! {
        <main class="wide-page" id="answer">
            <h2 class="view-title">{t("accuracy.title")}</h2>
            <p class="lead">{t("accuracy.lead")}</p>
            {move || match fetched.get() {
                Fetched::Waiting => {
                    view! { <p class="note" role="status">{t("accuracy.loading")}</p> }.into_any()
                }
                Fetched::Failed => {
                    view! { <p class="notice" role="alert">{t("accuracy.failed")}</p> }.into_any()
                }
                Fetched::Here(points) => view! { <Scatter points /> }.into_any(),
            }}
            <section class="panel" id="own">
                <h3 class="part-title">{move || text(app.lang.get(), "accuracy.own", &[])}</h3>
                <OwnMeasurement />
            </section>
            <section class="panel" id="runs">
                <h3 class="part-title">{t("runs.title")}</h3>
                <Examples />
            </section>
        </main>
    }
}

#[component]
fn Scatter(points: Arc<Points>) -> impl IntoView {
    let app = App::get();
    let quantity = Memo::new(move |_| {
        app.at("by")
            .and_then(|name| name.parse::<usize>().ok())
            .unwrap_or(0)
    });
    let card = Memo::new(move |_| app.at("show").unwrap_or_default());
    let points = StoredValue::new(points);
    let shown =
        Memo::new(move |_| points.with_value(|points| points.of(quantity.get(), &card.get())));
    let cards = Memo::new(move |_| points.with_value(|points| points.cards_of(quantity.get())));
    let label = Signal::derive(move || {
        let lang = app.lang.get();
        let name = quantity_names(lang).get(quantity.get()).copied();
        format!(
            "{}: {}",
            text(lang, "accuracy.title", &[]),
            name.unwrap_or_default()
        )
    });
    let cells = move || {
        let lang = app.lang.get();
        let head = |key: &str| text(lang, key, &[]);
        Cells {
            heads: vec![
                head("accuracy.source"),
                head("field.m"),
                head("accuracy.card"),
                head("accuracy.measured"),
                head("accuracy.estimate"),
                head("accuracy.unit"),
                head("accuracy.off"),
            ],
            rows: shown.with(|shown| {
                shown
                    .iter()
                    .take(MOST_ROWS)
                    .map(|point| {
                        vec![
                            phrase_in(lang, &point.source).to_owned(),
                            point.model.clone(),
                            words::card_name(lang, &point.card),
                            format::number(lang, point.measured, 4),
                            format::number(lang, point.estimate, 4),
                            unit(lang, &point.metric),
                            format::percent(point.off()),
                        ]
                    })
                    .collect()
            }),
        }
    };
    view! {
        <div class="filters">
            <div class="field">
                <label for="accuracy-by">{t("accuracy.quantity")}</label>
                <div class="input select">
                    <select
                        id="accuracy-by"
                        data-testid="accuracy-by"
                        on:change=move |event| {
                            app.set_at("show", "");
                            app.set_at("by", &event_target_value(&event));
                        }
                    >
                        {(0..quantity_names(Lang::En).len())
                            .map(|place| {
                                view! {
                                    <option
                                        value=place.to_string()
                                        prop:selected=move || quantity.get() == place
                                    >
                                        {move || {
                                            quantity_names(app.lang.get()).get(place).copied()
                                        }}
                                    </option>
                                }
                            })
                            .collect_view()}
                    </select>
                </div>
            </div>
            <div class="field">
                <label for="accuracy-card">{t("accuracy.card")}</label>
                <div class="input select">
                    <select
                        id="accuracy-card"
                        data-testid="accuracy-card"
                        on:change=move |event| app.set_at("show", &event_target_value(&event))
                    >
                        <option value="" prop:selected=move || card.with(String::is_empty)>
                            {t("accuracy.card_all")}
                        </option>
                        {move || {
                            let lang = app.lang.get();
                            cards
                                .get()
                                .into_iter()
                                .map(|(id, count)| {
                                    let name = words::card_name(lang, &id);
                                    let own = id.clone();
                                    view! {
                                        <option
                                            value=id.clone()
                                            prop:selected=move || card.with(|card| *card == own)
                                        >
                                            {format!("{name} ({count})")}
                                        </option>
                                    }
                                })
                                .collect_view()
                        }}
                    </select>
                </div>
            </div>
        </div>
        <p class="subject-line" data-testid="accuracy-stats">
            {move || {
                let lang = app.lang.get();
                match shown.with(|shown| Stats::of(shown)) {
                    Some(stats) => text(
                        lang,
                        "accuracy.stats",
                        &[
                            ("n", &format::count(lang, stats.count as u64)),
                            ("median", &format::percent(stats.median)),
                            ("p80", &format::percent(stats.p80)),
                            ("inside", &format::percent(stats.inside)),
                        ],
                    ),
                    None => text(lang, "accuracy.nothing", &[]),
                }
            }}
        </p>
        <div class="scatter">
            <Plot
                name="accuracy"
                label
                height=|width| width.clamp(280.0, 620.0)
                draw=move |width, height| {
                    shown.with(|shown| draw(app.lang.get(), shown, (width, height)))
                }
            />
        </div>
        <DataTable caption=label cells />
    }
}

/// Unit of a metric of the measured files.
fn unit(lang: Lang, metric: &str) -> String {
    text(lang, &format!("accuracy.unit.{metric}"), &[])
}

/// Name of an axis with the unit of what it shows; where sources differ, their units.
fn axis_name(lang: Lang, key: &str, points: &[Point]) -> String {
    let name = text(lang, key, &[]);
    let units = points::units(points, |metric| unit(lang, metric));
    match units.as_slice() {
        [] => name,
        // A list of many would not fit beside a chart on a phone; a point's own line has its unit.
        [_, _, _, ..] => text(lang, "accuracy.axis.mixed", &[("name", &name)]),
        units => text(
            lang,
            "accuracy.axis",
            &[("name", &name), ("unit", &units.join(" / "))],
        ),
    }
}

/// Measured along the bottom, estimated along the left, both logarithmic on one scale.
fn draw(lang: Lang, points: &[Point], (width, height): (f64, f64)) -> Drawing {
    let (low, high) = points
        .iter()
        .flat_map(|p| [p.measured, p.estimate])
        .fold((f64::INFINITY, 0.0), |(low, high), value: f64| {
            (low.min(value), f64::max(high, value))
        });
    let ends = if high > 0.0 {
        (low / 1.2, high * 1.2)
    } else {
        (1.0, 10.0)
    };
    let named = |values: Vec<f64>| -> Vec<Tick> {
        values
            .into_iter()
            .map(|value| (value, format::number(lang, value, 2)))
            .collect()
    };
    let first = Area::of(width, height, 40.0);
    let y_ticks = named(Scale::log(ends, first.bottom, first.top).ticks(first.y_names()));
    let area = Area::of(width, height, axes::y_room(&y_ticks));
    let y = Scale::log(ends, area.bottom, area.top);
    let x = Scale::log(ends, area.left, area.right);
    let x_ticks = named(x.ticks(area.x_names(60.0)));
    let mut svg = Svg::default();
    axes::y_axis(
        &mut svg,
        &area,
        &y,
        &y_ticks,
        &axis_name(lang, "accuracy.estimate", points),
    );
    axes::x_axis(
        &mut svg,
        &area,
        &x,
        &x_ticks,
        &axis_name(lang, "accuracy.measured", points),
    );
    let line = |svg: &mut Svg, class: &str, factor: f64| {
        let (from, to) = x.domain();
        let start = from.max(from / factor);
        let end = to.min(to / factor);
        let at = |value: f64| (x.place(value), y.place(value * factor));
        svg.line(class, at(start), at(end));
    };
    line(&mut svg, "change", 1.25);
    line(&mut svg, "change", 0.8);
    line(&mut svg, "axis", 1.0);
    let at = |p: &Point| (x.place(p.measured), y.place(p.estimate));
    svg.dots("points out", points.iter().filter(|p| !p.inside()).map(at));
    svg.dots("points", points.iter().filter(|p| p.inside()).map(at));
    let mut marks: Vec<Mark> = points
        .iter()
        .map(|p| Mark {
            at: at(p),
            key: String::new(),
            title: format!("{} · {}", p.model, words::card_name(lang, &p.card)),
            lines: vec![
                text(
                    lang,
                    "accuracy.point",
                    &[
                        ("measured", &format::number(lang, p.measured, 4)),
                        ("estimate", &format::number(lang, p.estimate, 4)),
                        ("low", &format::number(lang, p.low, 3)),
                        ("high", &format::number(lang, p.high, 3)),
                        ("unit", &unit(lang, &p.metric)),
                    ],
                ),
                phrase_in(lang, &p.source).to_owned(),
            ],
        })
        .collect();
    marks.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
    Drawing {
        markup: svg.into_markup(),
        marks,
        area,
        x,
        y,
    }
}
