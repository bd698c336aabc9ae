//! The frame of a chart: its inner area, gridlines, and the names of values along them.

use super::scale::Scale;
use super::svg::{Anchor, Svg, text_width};

/// Inner area of a chart, pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Left edge.
    pub left: f64,
    /// Right edge.
    pub right: f64,
    /// Top edge.
    pub top: f64,
    /// Bottom edge.
    pub bottom: f64,
}

impl Area {
    /// The area of a chart of this size, room for its axes left out. `y_room` is what the names on the left take.
    pub fn of(width: f64, height: f64, y_room: f64) -> Self {
        Self {
            left: y_room,
            right: (width - 14.0).max(y_room + 10.0),
            top: 30.0,
            bottom: (height - 44.0).max(40.0),
        }
    }

    /// Width.
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// How many names fit along the bottom where one takes `each` pixels.
    pub fn x_names(&self, each: f64) -> usize {
        ((self.width() / each) as usize).clamp(2, 12)
    }

    /// How many names fit along the left.
    pub fn y_names(&self) -> usize {
        (((self.bottom - self.top) / 44.0) as usize).clamp(2, 8)
    }
}

/// A value on an axis and how it is written.
pub type Tick = (f64, String);

/// Width that the names of a left axis take.
pub fn y_room(ticks: &[Tick]) -> f64 {
    ticks
        .iter()
        .map(|(_, name)| text_width(name))
        .fold(24.0, f64::max)
        + 12.0
}

/// Gridlines across, their values on the left, the axis' title above them.
pub fn y_axis(svg: &mut Svg, area: &Area, scale: &Scale, ticks: &[Tick], title: &str) {
    for (value, name) in ticks {
        let y = scale.place(*value);
        svg.line("grid", (area.left, y), (area.right, y));
        svg.text("tick", (area.left - 8.0, y + 4.0), Anchor::End, name);
    }
    svg.text("title", (0.0, 14.0), Anchor::Start, title);
}

/// Gridlines up, their values below, the axis' title at the lower right. Names that would touch are left out.
pub fn x_axis(svg: &mut Svg, area: &Area, scale: &Scale, ticks: &[Tick], title: &str) {
    svg.line("axis", (area.left, area.bottom), (area.right, area.bottom));
    let mut free_from = f64::NEG_INFINITY;
    for (value, name) in ticks {
        let x = scale.place(*value);
        svg.line("grid", (x, area.top), (x, area.bottom));
        let half = text_width(name) / 2.0;
        let middle = x.clamp(half, (area.right + 14.0 - half).max(half));
        if middle - half < free_from {
            continue;
        }
        free_from = middle + half + 10.0;
        svg.text("tick", (middle, area.bottom + 16.0), Anchor::Middle, name);
    }
    svg.text(
        "title",
        (area.right, area.bottom + 36.0),
        Anchor::End,
        title,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_touch_are_left_out() {
        let area = Area::of(200.0, 200.0, 40.0);
        let scale = Scale::linear((0.0, 10.0), area.left, area.right);
        let ticks: Vec<Tick> = (0..=10)
            .map(|n| (f64::from(n), format!("{n},000")))
            .collect();
        let mut svg = Svg::default();
        x_axis(&mut svg, &area, &scale, &ticks, "cost");
        let names = svg.into_markup().matches("class=\"tick\"").count();
        assert!((2..6).contains(&names), "{names}");
    }
}
