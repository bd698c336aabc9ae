//! Charts: small SVG drawings of our own, each with a table that says the same.
//!
//! A chart is a pure function from data and a size to a [`Drawing`]: markup, and the marks that can be pointed at. The
//! component [`Plot`] shows it at the width that there is, lets pointer, finger and arrow keys go over its marks, and
//! saves it. Colours and line widths are classes in `style/chart.css`, so both themes and forced colours hold.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`scale`] | linear and logarithmic scales, round ticks |
//! | [`axes`] | the frame: inner area, gridlines, names of values |
//! | [`svg`] | markup being written |
//! | [`plot`] | the component |
//! | [`handle`] | a limit as a line that can be dragged |
//! | [`table`] | the same data as a table |
//! | [`save`] | a drawing as a file |

pub mod axes;
pub mod handle;
pub mod plot;
pub mod save;
pub mod scale;
pub mod svg;
pub mod table;

pub use axes::{Area, Tick};
pub use handle::{Along, Handle, Loose, Move};
pub use plot::Plot;
pub use scale::Scale;
pub use svg::{Anchor, Svg};
pub use table::DataTable;

/// Something on a chart that can be pointed at.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where it is, pixels.
    pub at: (f64, f64),
    /// What it stands for; the same as long as it stands for the same.
    pub key: String,
    /// Its name.
    pub title: String,
    /// What there is to say about it, a line each.
    pub lines: Vec<String>,
}

/// A chart drawn at a size.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Contents of the `svg` element.
    pub markup: String,
    /// What can be pointed at, in the order in which arrow keys go.
    pub marks: Vec<Mark>,
    /// Inner area.
    pub area: Area,
    /// Scale along the bottom.
    pub x: Scale,
    /// Scale along the left.
    pub y: Scale,
}

/// The mark nearest to a point, if one is within `reach` pixels.
pub fn nearest(marks: &[Mark], (x, y): (f64, f64), reach: f64) -> Option<usize> {
    marks
        .iter()
        .map(|mark| (mark.at.0 - x).hypot(mark.at.1 - y))
        .enumerate()
        .filter(|(_, distance)| *distance <= reach)
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(x: f64, y: f64) -> Mark {
        Mark {
            at: (x, y),
            key: String::new(),
            title: String::new(),
            lines: Vec::new(),
        }
    }

    #[test]
    fn the_nearest_mark_in_reach_is_found() {
        let marks = [mark(0.0, 0.0), mark(10.0, 0.0), mark(12.0, 0.0)];
        assert_eq!(nearest(&marks, (11.5, 1.0), 5.0), Some(2));
        assert_eq!(nearest(&marks, (100.0, 0.0), 5.0), None);
        assert_eq!(nearest(&[], (0.0, 0.0), 5.0), None);
    }
}
