//! Renting and buying as lines over one axis.

use crate::chart::svg::text_width;
use crate::chart::{Anchor, Area, Drawing, Mark, Scale, Svg, Tick, axes};

/// A line of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Class that draws it.
    pub class: &'static str,
    /// Its name.
    pub name: String,
    /// Points, by rising x; every line has the same x.
    pub points: Vec<(f64, f64)>,
}

/// What a chart of lines says.
pub struct Words<'a> {
    /// An x in words.
    pub x: &'a dyn Fn(f64) -> String,
    /// A y in words.
    pub y: &'a dyn Fn(f64) -> String,
    /// Name of the axis along the bottom.
    pub x_title: String,
    /// Name of the axis along the left.
    pub y_title: String,
}

/// Draws lines from zero on, the place where they cross marked. The first line's name stands at its end, the second's
/// at its start, for renting begins below buying.
pub fn draw(
    lines: &[Line],
    crossing: Option<(f64, f64)>,
    words: &Words<'_>,
    (width, height): (f64, f64),
) -> Drawing {
    let most = |of: fn(&(f64, f64)) -> f64| {
        let points = lines.iter().flat_map(|line| &line.points);
        points.map(of).filter(|v| v.is_finite()).fold(0.0, f64::max)
    };
    let (most_x, most_y) = (most(|p| p.0), most(|p| p.1) * 1.1);
    let first = Area::of(width, height, 40.0);
    let y = Scale::linear((0.0, most_y), first.bottom, first.top);
    let y_ticks: Vec<Tick> = y
        .ticks(first.y_names())
        .into_iter()
        .map(|value| (value, (words.y)(value)))
        .collect();
    let area = Area::of(width, height, axes::y_room(&y_ticks));
    let x = Scale::linear((0.0, most_x), area.left, area.right);
    let x_ticks: Vec<Tick> = x
        .ticks(area.x_names(64.0))
        .into_iter()
        .map(|value| (value, (words.x)(value)))
        .collect();
    let mut svg = Svg::default();
    axes::y_axis(&mut svg, &area, &y, &y_ticks, &words.y_title);
    axes::x_axis(&mut svg, &area, &x, &x_ticks, &words.x_title);
    for (index, line) in lines.iter().enumerate() {
        let placed: Vec<(f64, f64)> = line
            .points
            .iter()
            .map(|(at, value)| (x.place(*at), y.place(*value)))
            .collect();
        svg.polyline(line.class, &placed);
        let (at, anchor) = if index == 0 {
            (placed.last().copied(), Anchor::End)
        } else {
            (placed.first().copied(), Anchor::Start)
        };
        if let Some((at, above)) = at {
            let least = area.left + 6.0;
            let at = if index == 0 {
                at.max(least + text_width(&line.name)) - 4.0
            } else {
                least
            };
            svg.text(
                "name",
                (at, (above - 8.0).max(area.top + 10.0)),
                anchor,
                &line.name,
            );
        }
    }
    let crossing = crossing.filter(|(at, value)| *at <= most_x && *value <= most_y);
    if let Some((at, value)) = crossing {
        let (at, value) = (x.place(at), y.place(value));
        svg.line("change", (at, value), (at, area.bottom));
        svg.circle("dot front", (at, value), 5.0);
    }
    Drawing {
        markup: svg.into_markup(),
        marks: marks(lines, words, &x, &y),
        area,
        x,
        y,
    }
}

/// Every fourth x with what each line comes to there.
fn marks(lines: &[Line], words: &Words<'_>, x: &Scale, y: &Scale) -> Vec<Mark> {
    const EVERY: usize = 4;
    let Some(first) = lines.first() else {
        return Vec::new();
    };
    let all = first.points.iter().enumerate();
    all.filter(|(index, _)| index % EVERY == 0)
        .map(|(index, (at, value))| Mark {
            at: (x.place(*at), y.place(*value)),
            key: index.to_string(),
            title: format!("{}: {}", words.x_title, (words.x)(*at)),
            lines: lines
                .iter()
                .filter_map(|line| {
                    let (_, value) = line.points.get(index)?;
                    Some(format!("{}: {}", line.name, (words.y)(*value)))
                })
                .collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<Line> {
        let line = |class, name: &str, slope: f64, from: f64| Line {
            class,
            name: name.to_owned(),
            points: (0..=8)
                .map(|n| (f64::from(n), from + slope * f64::from(n)))
                .collect(),
        };
        vec![
            line("line-1", "Rent", 10.0, 0.0),
            line("line-2 dashed", "Buy", 0.0, 40.0),
        ]
    }

    fn drawn(crossing: Option<(f64, f64)>) -> Drawing {
        let say = |value: f64| format!("{value:.0}");
        let words = Words {
            x: &say,
            y: &say,
            x_title: "Months".to_owned(),
            y_title: "Spent".to_owned(),
        };
        draw(&lines(), crossing, &words, (400.0, 240.0))
    }

    #[test]
    fn both_lines_are_named_and_their_crossing_is_marked() {
        let drawing = drawn(Some((4.0, 40.0)));
        for part in ["line-1", "line-2", ">Rent<", ">Buy<", "dot front"] {
            assert!(drawing.markup.contains(part), "{part}");
        }
        assert!(!drawn(Some((99.0, 40.0))).markup.contains("dot front"));
    }

    #[test]
    fn what_can_be_pointed_at_says_both() {
        let marks = drawn(None).marks;
        assert_eq!(marks.len(), 3);
        assert_eq!(marks[1].title, "Months: 4");
        assert_eq!(marks[1].lines, ["Rent: 40", "Buy: 40"]);
    }

    #[test]
    fn nothing_to_draw_is_still_a_drawing() {
        let say = |value: f64| format!("{value}");
        let words = Words {
            x: &say,
            y: &say,
            x_title: String::new(),
            y_title: String::new(),
        };
        assert!(draw(&[], None, &words, (300.0, 200.0)).marks.is_empty());
    }
}
