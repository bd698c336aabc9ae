//! Losses over residuals `ln(estimate / measured)`.

use cardfit::estimate::spread::SpreadGroup;
use std::collections::BTreeMap;

/// Huber's loss (1964): a square near 0, a line beyond `delta`, so that a row that is far off
/// pulls no harder than one at the edge.
pub fn huber(residual: f64, delta: f64) -> f64 {
    let size = residual.abs();
    if size <= delta {
        0.5 * size * size
    } else {
        delta * (size - 0.5 * delta)
    }
}

/// Weight of each row when sources share the vote: a source of `n` rows weighs `n^power` in all.
/// `power` 1 counts rows, 0 gives each source the same vote, 0.5 lies between. The weights add
/// up to 1.
pub fn source_weights<S: AsRef<str>>(sources: &[S], power: f64) -> Vec<f64> {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for source in sources {
        *counts.entry(source.as_ref()).or_default() += 1.0;
    }
    let total: f64 = counts.values().map(|n| n.powf(power)).sum();
    sources
        .iter()
        .map(|source| {
            let n = counts.get(source.as_ref()).copied().unwrap_or(1.0);
            n.powf(power - 1.0) / total
        })
        .collect()
}

/// Mean Huber loss of residuals under weights that add up to 1.
pub fn weighted_huber(residuals: &[f64], weights: &[f64], delta: f64) -> f64 {
    residuals
        .iter()
        .zip(weights)
        .map(|(residual, weight)| weight * huber(*residual, delta))
        .sum()
}

/// The `q` quantile of values in any order, between neighbours in proportion; 0 of nothing.
pub fn quantile_of(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    cardfit::measured::report::quantile(&sorted, q)
}

/// Votes of sources and votes of rows may disagree: both ends are moved together until no fewer and
/// no more of the group's own rows (measured over estimated) lie inside than a range is meant to hold.
pub fn settled(mut group: SpreadGroup, ratios: &[f64]) -> SpreadGroup {
    const HELD: std::ops::RangeInclusive<f64> = 0.79..=0.89;
    const STEP: f64 = 0.03;
    for _ in 0..60 {
        let range = group.around(1.0, 1.0);
        let inside = ratios
            .iter()
            .filter(|ratio| (range.low..=range.high).contains(*ratio))
            .count();
        let share = inside as f64 / ratios.len().max(1) as f64;
        let by = if share < *HELD.start() {
            1.0 + STEP
        } else if share > *HELD.end() && (group.low < 0.97 || group.high > 1.03) {
            1.0 - STEP
        } else {
            break;
        };
        group.low = group.low.powf(by).min(0.98);
        group.high = group.high.powf(by).max(1.02);
    }
    let rounded = |end: f64| (end * 1e4).round() / 1e4;
    group.low = rounded(group.low);
    group.high = rounded(group.high);
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huber_is_a_square_then_a_line_without_a_step() {
        assert!((huber(0.1, 0.2) - 0.005).abs() < 1e-12);
        assert!((huber(-0.1, 0.2) - 0.005).abs() < 1e-12);
        assert!((huber(0.2, 0.2) - 0.02).abs() < 1e-12);
        // Slope delta beyond it.
        assert!((huber(1.2, 0.2) - huber(0.2, 0.2) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn sources_share_the_vote_by_the_power() {
        let sources = ["a", "a", "a", "a", "b"];
        let share_of_b = |power: f64| source_weights(&sources, power)[4];
        assert!((share_of_b(1.0) - 0.2).abs() < 1e-12);
        assert!((share_of_b(0.5) - 1.0 / 3.0).abs() < 1e-12);
        assert!((share_of_b(0.0) - 0.5).abs() < 1e-12);
        for power in [0.0, 0.5, 1.0] {
            let sum: f64 = source_weights(&sources, power).iter().sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert!(source_weights::<&str>(&[], 0.5).is_empty());
    }

    #[test]
    fn a_wild_row_moves_the_minimum_little() {
        let residuals = [-0.01, 0.0, 0.01, 3.0];
        let weights = [0.25; 4];
        let at = |shift: f64| {
            let moved: Vec<f64> = residuals.iter().map(|r| r - shift).collect();
            weighted_huber(&moved, &weights, 0.1)
        };
        // The mean is 0.75; the robust centre stays near 0.
        assert!(at(0.05) < at(0.75));
    }

    #[test]
    fn quantiles_need_no_order() {
        assert!((quantile_of(&[3.0, 1.0, 2.0], 0.5) - 2.0).abs() < 1e-12);
    }
}
