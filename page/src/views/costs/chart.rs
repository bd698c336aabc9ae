//! Two or more lines over one axis, as SVG; a table beside it says the same in text.

use leptos::prelude::*;

/// A line of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Class that colours it.
    pub class: &'static str,
    /// Name at its end.
    pub name: String,
    /// Points, by rising x.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 44.0;

/// A round number of steps up to `most`: 1, 2 or 5 times a power of ten.
fn ticks(most: f64, wanted: f64) -> Vec<f64> {
    if !(most.is_finite() && most > 0.0) {
        return Vec::new();
    }
    let rough = most / wanted;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|n| n * power)
        .find(|step| *step >= rough)
        .unwrap_or(power);
    let count = (most / step).floor() as u32;
    (0..=count).map(|n| f64::from(n) * step).collect()
}

/// The chart. It is decoration for those who read the table.
#[component]
pub fn LineChart(
    /// Lines.
    series: Vec<Series>,
    /// Where they cross, if they do.
    mark: Option<(f64, f64)>,
    /// Words of an x.
    x_label: Box<dyn Fn(f64) -> String>,
    /// Words of a y.
    y_label: Box<dyn Fn(f64) -> String>,
    /// Name of the x axis.
    x_name: String,
) -> impl IntoView {
    let points = || series.iter().flat_map(|s| &s.points);
    let most_x = points().map(|p| p.0).fold(0.0, f64::max);
    let most_y = points().map(|p| p.1).fold(0.0, f64::max) * 1.05;
    let usable = most_x > 0.0 && most_y > 0.0 && most_x.is_finite() && most_y.is_finite();
    if !usable {
        return ().into_any();
    }
    let x = move |value: f64| LEFT + value / most_x * (WIDTH - LEFT - RIGHT);
    let y = move |value: f64| HEIGHT - BOTTOM - value / most_y * (HEIGHT - TOP - BOTTOM);
    let grid = ticks(most_y, 4.0)
        .into_iter()
        .map(|value| {
            let at = format!("{:.1}", y(value));
            view! {
                <line class="grid" x1=LEFT.to_string() x2=(WIDTH - RIGHT).to_string() y1=at.clone() y2=at.clone() />
                <text class="tick" x=(LEFT - 8.0).to_string() y=at text-anchor="end" dy="0.32em">
                    {y_label(value)}
                </text>
            }
        })
        .collect_view();
    let below = ticks(most_x, 6.0)
        .into_iter()
        .map(|value| {
            let at = format!("{:.1}", x(value));
            view! {
                <text class="tick" x=at y=(HEIGHT - BOTTOM + 18.0).to_string() text-anchor="middle">
                    {x_label(value)}
                </text>
            }
        })
        .collect_view();
    let mark = mark
        .filter(|(at, value)| *at <= most_x && *value <= most_y)
        .map(|(at, value)| {
            let (cx, cy) = (format!("{:.1}", x(at)), format!("{:.1}", y(value)));
            view! {
                <line class="mark" x1=cx.clone() x2=cx.clone() y1=cy.clone() y2=(HEIGHT - BOTTOM).to_string() />
                <circle class="mark" cx=cx cy=cy r="4.5" />
            }
        });
    let lines = series
        .into_iter()
        .map(|series| {
            let path = series
                .points
                .iter()
                .map(|(at, value)| format!("{:.1},{:.1}", x(*at), y(*value)))
                .collect::<Vec<_>>()
                .join(" ");
            view! { <polyline class=format!("line {}", series.class) points=path /> }
        })
        .collect_view();
    view! {
        <svg class="cost-chart" viewBox=format!("0 0 {WIDTH} {HEIGHT}") aria-hidden="true">
            {grid}
            <line
                class="axis"
                x1=LEFT.to_string()
                x2=(WIDTH - RIGHT).to_string()
                y1=(HEIGHT - BOTTOM).to_string()
                y2=(HEIGHT - BOTTOM).to_string()
            />
            {below}
            <text
                class="tick"
                x=((LEFT + WIDTH - RIGHT) / 2.0).to_string()
                y=(HEIGHT - 6.0).to_string()
                text-anchor="middle"
            >
                {x_name}
            </text>
            {lines}
            {mark}
        </svg>
    }
    .into_any()
}
