//! The points of the scatter: `accuracy.json`, which the calibration writes, fetched when the view is opened.

use std::collections::BTreeMap;

use leptos::prelude::window;
use leptos::wasm_bindgen::JsCast;
use serde::Deserialize;
use wasm_bindgen_futures::JsFuture;

/// The quantity; places of card, source and model in their lists; measured, estimate, low, high; place of the metric.
type Entry = (usize, usize, usize, usize, f64, f64, f64, f64, usize);

/// The file as it is.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Points {
    sources: Vec<String>,
    cards: Vec<String>,
    models: Vec<String>,
    metrics: Vec<String>,
    points: Vec<Entry>,
}

/// One measurement and its estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Where it was published.
    pub source: String,
    /// Card id; empty where the source names none.
    pub card: String,
    /// Model in the source's words.
    pub model: String,
    /// Measured value.
    pub measured: f64,
    /// Estimate.
    pub estimate: f64,
    /// Lower end of its range.
    pub low: f64,
    /// Upper end of its range.
    pub high: f64,
    /// What was measured, which says the unit of all four.
    pub metric: String,
}

impl Point {
    /// Whether the measurement lies in the estimate's range.
    pub fn inside(&self) -> bool {
        (self.low..=self.high).contains(&self.measured)
    }

    /// `|estimate / measured - 1|`.
    pub fn off(&self) -> f64 {
        (self.estimate / self.measured - 1.0).abs()
    }
}

/// Fetches the points; `None` where they cannot be had.
pub async fn fetch() -> Option<Points> {
    let response = JsFuture::from(window().fetch_with_str("./accuracy.json"))
        .await
        .ok()?
        .dyn_into::<web_sys::Response>()
        .ok()?;
    if !response.ok() {
        return None;
    }
    let text = JsFuture::from(response.text().ok()?).await.ok()?;
    read(&text.as_string()?)
}

fn read(text: &str) -> Option<Points> {
    serde_json::from_str(text).ok()
}

impl Points {
    /// The points of a quantity, of one card or of all (empty).
    pub fn of(&self, quantity: usize, card: &str) -> Vec<Point> {
        let name = |names: &[String], place: usize| names.get(place).cloned().unwrap_or_default();
        self.points
            .iter()
            .filter(|point| point.0 == quantity)
            .map(
                |&(_, of_card, source, model, measured, estimate, low, high, metric)| Point {
                    source: name(&self.sources, source),
                    card: name(&self.cards, of_card),
                    model: name(&self.models, model),
                    measured,
                    estimate,
                    low,
                    high,
                    metric: name(&self.metrics, metric),
                },
            )
            .filter(|point| card.is_empty() || point.card == card)
            .filter(|point| point.measured > 0.0 && point.estimate > 0.0)
            .collect()
    }

    /// Cards with points of a quantity, those with most first.
    pub fn cards_of(&self, quantity: usize) -> Vec<(String, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for point in self.points.iter().filter(|point| point.0 == quantity) {
            if let Some(card) = self.cards.get(point.1).filter(|card| !card.is_empty()) {
                *counts.entry(card).or_default() += 1;
            }
        }
        let mut counts: Vec<(String, usize)> = counts
            .into_iter()
            .map(|(card, count)| (card.to_owned(), count))
            .collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

/// Units of some points, the commonest first, each as `named` says it.
pub fn units(points: &[Point], named: impl Fn(&str) -> String) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for point in points {
        let unit = named(&point.metric);
        match counts.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, count)) => *count += 1,
            None => counts.push((unit, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(unit, _)| unit).collect()
}

/// How far off points are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stats {
    /// Points.
    pub count: usize,
    /// Median error.
    pub median: f64,
    /// 80th percentile of errors.
    pub p80: f64,
    /// Share in range.
    pub inside: f64,
}

impl Stats {
    /// Of some points; `None` where there are none.
    pub fn of(points: &[Point]) -> Option<Self> {
        let mut errors: Vec<f64> = points.iter().map(Point::off).collect();
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = ((errors.len() as f64 - 1.0) * share).round() as usize;
            errors.get(place).copied()
        };
        let inside = points.iter().filter(|point| point.inside()).count();
        Some(Self {
            count: points.len(),
            median: at(0.5)?,
            p80: at(0.8)?,
            inside: inside as f64 / points.len() as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::accuracy::{axis_name, unit};
    use cardfit::catalog::Catalog;
    use cardfit::measured::accuracy::quantity_names;
    use cardfit::text::Lang;

    fn shipped() -> Points {
        read(include_str!("../../../public/accuracy.json")).unwrap()
    }

    #[test]
    fn the_shipped_points_are_read_and_name_cards_of_the_catalog() {
        let points = shipped();
        let mut all = 0;
        for quantity in 0..quantity_names(Lang::En).len() {
            let of = points.of(quantity, "");
            assert!(!of.is_empty(), "{quantity}");
            all += of.len();
            for (card, count) in points.cards_of(quantity) {
                assert!(Catalog::embedded().card(&card).is_some(), "{card}");
                assert_eq!(points.of(quantity, &card).len(), count, "{card}");
            }
        }
        assert!(all > 2000, "{all}");
    }

    #[test]
    fn every_point_has_a_unit_in_both_languages() {
        cardfit::text::load_more();
        let points = shipped();
        for quantity in 0..quantity_names(Lang::En).len() {
            for lang in [Lang::En, Lang::ZhCn] {
                let units = units(&points.of(quantity, ""), |metric| unit(lang, metric));
                assert!(!units.is_empty());
                // A text that is missing is shown as its key.
                let named = |u: &String| !u.is_empty() && !u.contains("accuracy.unit");
                assert!(units.iter().all(named), "{units:?}");
            }
        }
        // Time to first token is in milliseconds, what goes before it in tokens a second.
        let of_prefill = units(&points.of(4, ""), |metric| unit(Lang::En, metric));
        assert_eq!(of_prefill, ["tokens/s", "ms"]);
        let axis = |quantity| axis_name(Lang::En, "accuracy.measured", &points.of(quantity, ""));
        assert_eq!(axis(0), "measured, GB or GiB");
        // Training speed comes in four units.
        assert_eq!(axis(1), "measured, in each source's unit");
    }

    #[test]
    fn stats_are_of_the_errors() {
        let point = |measured: f64, estimate: f64| Point {
            source: String::new(),
            card: String::new(),
            model: String::new(),
            measured,
            estimate,
            low: 0.9 * estimate,
            high: 1.1 * estimate,
            metric: String::new(),
        };
        let points: Vec<Point> = [1.0, 1.05, 1.2, 1.3, 2.0]
            .into_iter()
            .map(|e| point(1.0, e))
            .collect();
        let stats = Stats::of(&points).unwrap();
        assert!((stats.median - 0.2).abs() < 1e-9 && (stats.p80 - 0.3).abs() < 1e-9);
        assert!((stats.inside - 0.4).abs() < 1e-9);
        assert_eq!(Stats::of(&[]), None);
    }
}
