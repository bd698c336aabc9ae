//! Every compared row as a point, for a chart of estimates against measurements: small enough to be fetched.

use serde_json::json;

use super::accuracy::quantity_of;
use super::{Judged, MeasuredFile, Verdict};

/// What a point is about, from its row.
struct About<'a> {
    source: &'a str,
    card: &'a str,
    model: &'a str,
}

fn about(file: &MeasuredFile) -> Vec<About<'_>> {
    match file {
        MeasuredFile::Training(rows) => rows
            .iter()
            .map(|row| About {
                source: &row.source,
                card: &row.card,
                model: &row.model,
            })
            .collect(),
        MeasuredFile::Inference(rows) => rows
            .iter()
            .map(|row| About {
                source: &row.source,
                card: &row.card,
                model: &row.model,
            })
            .collect(),
    }
}

/// Names that rows share, each told once.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn place(&mut self, name: &str) -> usize {
        match self.0.iter().position(|known| known == name) {
            Some(place) => place,
            None => {
                self.0.push(name.to_owned());
                self.0.len() - 1
            }
        }
    }
}

/// Four significant digits: a point is a pixel.
fn short(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10f64.powf(value.log10().floor() - 3.0);
    let rounded = (value / step).round() * step;
    format!("{rounded:.9}").parse().unwrap_or(rounded)
}

/// The points of files with their verdicts, as JSON: `sources`, `cards`, `models` and `metrics` are names, a row of
/// `points` is `[quantity, card, source, model, measured, estimate, low, high, metric]` with places among them.
/// `quantity` is the place in [`accuracy::quantity_of`](super::accuracy::quantity_of); the metric says the unit.
pub fn json(judged: &[(&MeasuredFile, &[Verdict])]) -> String {
    let (mut sources, mut cards) = (Names::default(), Names::default());
    let (mut models, mut metrics) = (Names::default(), Names::default());
    let mut points = Vec::new();
    for (file, verdicts) in judged {
        for (about, verdict) in about(file).into_iter().zip(*verdicts) {
            let (Judged::Used { estimate, .. }, Some(measured)) =
                (&verdict.judged, verdict.measured)
            else {
                continue;
            };
            let Some(quantity) = quantity_of(&verdict.metric, &verdict.kind) else {
                continue;
            };
            points.push(json!([
                quantity,
                cards.place(about.card),
                sources.place(about.source),
                models.place(about.model),
                short(measured),
                short(estimate.mid),
                short(estimate.low),
                short(estimate.high),
                metrics.place(&verdict.metric)
            ]));
        }
    }
    let lines: Vec<String> = points.iter().map(ToString::to_string).collect();
    format!(
        "{{\"sources\":{},\n\"cards\":{},\n\"models\":{},\n\"metrics\":{},\n\"points\":[\n{}\n]}}\n",
        json!(sources.0),
        json!(cards.0),
        json!(models.0),
        json!(metrics.0),
        lines.join(",\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_once() {
        let mut names = Names::default();
        assert_eq!(
            (names.place("a"), names.place("b"), names.place("a")),
            (0, 1, 0)
        );
        assert_eq!(names.0, ["a", "b"]);
    }

    #[test]
    fn figures_keep_four_digits() {
        assert!((short(123_456.0) - 123_500.0).abs() < 1e-6);
        assert!((short(0.012_345_67) - 0.012_35).abs() < 1e-12);
    }
}
