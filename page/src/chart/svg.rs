//! SVG as text. Charts are written as markup by pure functions, so that the same drawing is shown, saved and tested,
//! and so that redrawing one is a single change to the page.

use std::fmt::Write;

/// Markup being written. Numbers keep a tenth of a pixel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Svg(String);

/// Where a text's given point lies in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// At its start.
    Start,
    /// In its middle.
    Middle,
    /// At its end.
    End,
}

impl Svg {
    /// The markup.
    pub fn into_markup(self) -> String {
        self.0
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.path(class, &format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"));
    }

    /// A path of these commands.
    pub fn path(&mut self, class: &str, commands: &str) {
        let _ = write!(self.0, r#"<path class="{class}" d="{commands}"/>"#);
    }

    /// Points joined by straight lines.
    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        self.path(class, &joined(points));
    }

    /// Points as dots of the path's stroke width: hundreds of them are one element.
    pub fn dots(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let commands: String = points
            .into_iter()
            .map(|(x, y)| format!("M{x:.1} {y:.1}h0"))
            .collect();
        if !commands.is_empty() {
            self.path(class, &commands);
        }
    }

    /// A disc.
    pub fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let _ = write!(
            self.0,
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#
        );
    }

    /// A rectangle; a negative size draws nothing.
    pub fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        let _ = write!(
            self.0,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"/>"#
        );
    }

    /// A line of text.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.0,
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{}</text>"#,
            escape(text)
        );
    }
}

/// Path commands through points.
pub fn joined(points: &[(f64, f64)]) -> String {
    let mut commands = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        let _ = write!(commands, "{command}{x:.1} {y:.1}");
    }
    commands
}

/// Text that is safe between tags and in attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// About how wide a text is in the page's font at 12 px: Chinese characters are as wide as high.
pub fn text_width(text: &str) -> f64 {
    text.chars()
        .map(|c| if (c as u32) < 0x2E80 { 6.8 } else { 12.0 })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut svg = Svg::default();
        svg.text("a", (1.0, 2.0), Anchor::End, "<b> & \"c\"");
        assert_eq!(
            svg.into_markup(),
            r#"<text class="a" x="1.0" y="2.0" text-anchor="end">&lt;b&gt; &amp; &quot;c&quot;</text>"#
        );
    }

    #[test]
    fn many_dots_are_one_element() {
        let mut svg = Svg::default();
        svg.dots("d", [(1.0, 2.0), (3.0, 4.0)]);
        assert_eq!(
            svg.into_markup(),
            r#"<path class="d" d="M1.0 2.0h0M3.0 4.0h0"/>"#
        );
    }
}
