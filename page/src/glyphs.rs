//! Small drawings: whether it fits by shape, a range as a line with a dot.

use cardfit::range::Range;
use leptos::prelude::*;

/// A full disc fits, a half one is tight, an empty ring is too small: told apart without colour.
#[component]
pub fn FitGlyph(
    /// `fits`, `tight` or `too_small`.
    fit: &'static str,
) -> impl IntoView {
    let inside = match fit {
        "fits" => "M8 2a6 6 0 1 1 0 12a6 6 0 1 1 0-12z",
        "tight" => "M8 2a6 6 0 0 0 0 12z",
        _ => "",
    };
    view! {
        <svg class=format!("fit-glyph {fit}") viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r="6" />
            <path d=inside />
        </svg>
    }
}

/// A range on a logarithmic scale that all rows share.
#[component]
pub fn Whisker(
    /// The range, and the ends of the scale.
    shown: Signal<Option<(Range, (f64, f64))>>,
) -> impl IntoView {
    let drawn = move |draw: fn(&dyn Fn(f64) -> f64, Range) -> String| {
        let (range, span) = shown.get()?;
        Some(draw(&|value| position(value, span) * 92.0 + 4.0, range))
    };
    let reach = move || {
        drawn(|place, range| format!("M{:.1} 5H{:.1}", place(range.low), place(range.high)))
    };
    let middle = move || drawn(|place, range| format!("M{:.1} 1V9", place(range.mid)));
    view! {
        <svg class="whisker" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <path class="whisker-rail" d="M0 5H100" />
            <path class="whisker-range" d=reach />
            <path class="whisker-mid" d=middle />
        </svg>
    }
}

/// Where a value lies on a logarithmic scale, 0 to 1.
fn position(value: f64, (from, to): (f64, f64)) -> f64 {
    let span = (to / from).ln();
    if !(value > 0.0 && span.is_finite() && span > 0.0) {
        return 0.5;
    }
    ((value / from).ln() / span).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decade_is_as_wide_anywhere() {
        assert!((position(10.0, (1.0, 100.0)) - 0.5).abs() < 1e-9);
        assert!(position(1.0, (1.0, 100.0)).abs() < 1e-9);
        assert!((position(1e9, (1.0, 100.0)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_scale_of_one_point_or_none_is_drawn_in_the_middle() {
        for (value, span) in [(5.0, (5.0, 5.0)), (0.0, (1.0, 2.0)), (1.0, (0.0, 0.0))] {
            assert!((position(value, span) - 0.5).abs() < 1e-9);
        }
    }
}
