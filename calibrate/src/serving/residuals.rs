//! Ranges from residuals of leave-one-source-out.

use std::collections::{BTreeMap, BTreeSet};

use cardfit::estimate::serving::{Quantity, ServingConstants, kind_name};
use cardfit::estimate::spread::{ENOUGH, GroupScope, Spread, SpreadGroup};
use cardfit::scenario::{Choice, Engine};

use super::Measured;
use crate::Fitted;
use crate::loss::{quantile_of, settled, source_weights};

/// Share of the residuals below the lower and above the upper end.
const TAIL: f64 = 0.09;
/// Rows of one source count together as their number to this power: what a source that no fit has seen will be
/// off by is a matter of sources more than of rows.
const BALANCE: f64 = 0.7;
/// Rows with which an architecture has a group of its own.
const ENOUGH_OF_AN_ARCHITECTURE: usize = 8;

/// Residuals of all runs, each against the fit that has not seen its source, by card,
/// architecture and kind of job.
pub fn spread(runs: &[Measured], fitted: &Fitted<ServingConstants>) -> Spread {
    let mut groups: BTreeMap<(u8, String, String), Vec<Residual<'_>>> = BTreeMap::new();
    let mut pooled: BTreeMap<u8, Vec<Residual<'_>>> = BTreeMap::new();
    for measured in runs {
        let constants = fitted.without.get(&measured.source).unwrap_or(&fitted.all);
        let residual = Residual {
            source: &measured.source,
            size: measured.residual(constants),
        };
        let kind = measured.run.kind().to_owned();
        let mut add = |scope: u8, name: &str| {
            groups
                .entry((scope, name.to_owned(), kind.clone()))
                .or_default()
                .push(residual);
        };
        add(2, "");
        if let Some(card) = measured.run.card() {
            add(0, &card.id);
            add(1, &card.architecture);
        }
        pooled
            .entry(measured.run.quantity() as u8)
            .or_default()
            .push(residual);
    }
    let mut spread: Vec<SpreadGroup> = Vec::new();
    for ((scope, name, kind), residuals) in &groups {
        let (scope, enough) = match scope {
            0 => (GroupScope::Card, ENOUGH as usize),
            1 => (GroupScope::Architecture, ENOUGH_OF_AN_ARCHITECTURE),
            _ => (GroupScope::JobKind, ENOUGH_OF_AN_ARCHITECTURE),
        };
        if residuals.len() >= enough {
            spread.push(group(scope, name, kind, residuals, residuals.len() as u32));
        }
    }
    settle_as_judged(&mut spread, runs, fitted);
    // Engines without measurements of a quantity have the spread of all engines, as many rows of
    // their own as none.
    for quantity in [
        Quantity::Weights,
        Quantity::Memory,
        Quantity::Decode,
        Quantity::Whole,
        Quantity::Prefill,
        Quantity::Batch,
        Quantity::Pace,
    ] {
        for engine in Engine::ALL {
            let kind = kind_name(quantity, *engine);
            let known = spread
                .iter()
                .any(|g| g.scope == GroupScope::JobKind && g.kind == kind);
            if !known && let Some(residuals) = pooled.get(&(quantity as u8)) {
                let own = groups
                    .get(&(2, String::new(), kind.to_owned()))
                    .map_or(0, Vec::len);
                spread.push(group(GroupScope::JobKind, "", kind, residuals, own as u32));
            }
        }
    }
    Spread::new(spread)
}

/// Rows of one metric, architecture and engine are judged by their card's own range where it has one, else by the
/// architecture's or, wider, by that of all cards, early builds by ranges of their own: each of these holds its own rows, but together they may hold too
/// few or too many of such a group. Then the ends of all that are used are moved together.
fn settle_as_judged(
    spread: &mut [SpreadGroup],
    runs: &[Measured],
    fitted: &Fitted<ServingConstants>,
) {
    /// Moves of one round, and rounds.
    const STEP: f64 = 0.02;
    const ROUNDS: usize = 40;
    /// Share of rows inside that is aimed at.
    const HELD: std::ops::RangeInclusive<f64> = 0.765..=0.87;
    /// How much farther the ends stand for a card whose architecture has no range of the kind (`Spread::range`).
    const OTHER_ARCHITECTURE: f64 = 1.5;
    // Range by place, whether it is the rows' own to move, and measured over estimated.
    let mut judged: BTreeMap<[&str; 3], Vec<(usize, bool, f64)>> = BTreeMap::new();
    for measured in runs {
        let Some(card) = measured.run.card() else {
            continue;
        };
        let kind = measured.run.kind();
        let place = |scope: GroupScope, name: &str| {
            let same = |g: &SpreadGroup| g.scope == scope && g.name == name && g.kind == kind;
            spread.iter().position(same)
        };
        // Memory is not a matter of the card's units: its rows have no architecture's range.
        let counted = matches!(
            measured.run.quantity(),
            Quantity::Weights | Quantity::Memory
        );
        let nearest = place(GroupScope::Card, &card.id).or_else(|| {
            (!counted)
                .then(|| place(GroupScope::Architecture, &card.architecture))
                .flatten()
        });
        let constants = fitted.without.get(&measured.source).unwrap_or(&fitted.all);
        let any = place(GroupScope::JobKind, "").filter(|_| !counted);
        if let Some(at) = nearest.or(any) {
            judged
                .entry([
                    &card.architecture,
                    &measured.judged_as.0,
                    &measured.judged_as.1,
                ])
                .or_default()
                .push((at, nearest.is_some(), measured.residual(constants).exp()));
        }
    }
    // A range is moved by those who lean on it most: a group with a few rows in it would undo what they need.
    let mut leaning: BTreeMap<usize, (usize, [&str; 3])> = BTreeMap::new();
    for (name, rows) in &judged {
        for at in rows.iter().filter(|row| row.1).map(|row| row.0) {
            let count = rows.iter().filter(|row| row.0 == at).count();
            let most = leaning.entry(at).or_insert((count, *name));
            if count > most.0 {
                *most = (count, *name);
            }
        }
    }
    for (name, rows) in judged
        .iter()
        .filter(|(_, rows)| rows.len() >= ENOUGH as usize)
    {
        for _ in 0..ROUNDS {
            let inside = |(at, own, ratio): &&(usize, bool, f64)| {
                spread.get(*at).is_some_and(|group| {
                    let widen = if *own { 1.0 } else { OTHER_ARCHITECTURE };
                    let range = group.around(1.0, widen);
                    (range.low..=range.high).contains(ratio)
                })
            };
            let share = rows.iter().filter(inside).count() as f64 / rows.len() as f64;
            let by = match share {
                few if few < *HELD.start() => 1.0 + STEP,
                many if many > *HELD.end() => 1.0 - STEP,
                _ => break,
            };
            let used: BTreeSet<usize> = rows
                .iter()
                .map(|(at, _, _)| *at)
                .filter(|at| leaning.get(at).is_some_and(|(_, most)| most == name))
                .collect();
            for at in used {
                if let Some(group) = spread.get_mut(at) {
                    group.low = group.low.powf(by).min(0.98);
                    group.high = group.high.powf(by).max(1.02);
                }
            }
        }
    }
    for group in spread {
        (group.low, group.high) = (rounded(group.low), rounded(group.high));
    }
}

fn rounded(end: f64) -> f64 {
    (end * 1e4).round() / 1e4
}

/// How far off one row is, as a logarithm, and whose it is.
#[derive(Clone, Copy)]
struct Residual<'a> {
    source: &'a str,
    size: f64,
}

/// The `q` quantile of residuals whose sources share the vote.
fn quantile(residuals: &[Residual<'_>], q: f64) -> f64 {
    let sources: Vec<&str> = residuals.iter().map(|r| r.source).collect();
    let weights = source_weights(&sources, BALANCE);
    let mut sorted: Vec<(f64, f64)> = residuals.iter().map(|r| r.size).zip(weights).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Each row stands in the middle of its own weight.
    let mut below = 0.0;
    let mut before: Option<(f64, f64)> = None;
    for (size, weight) in sorted {
        let at = below + weight / 2.0;
        if at >= q {
            return match before {
                Some((earlier, smaller)) => {
                    smaller + (size - smaller) * (q - earlier) / (at - earlier)
                }
                None => size,
            };
        }
        before = Some((at, size));
        below += weight;
    }
    before.map_or(0.0, |(_, size)| size)
}

fn group(
    scope: GroupScope,
    name: &str,
    kind: &str,
    residuals: &[Residual<'_>],
    measurements: u32,
) -> SpreadGroup {
    let errors: Vec<f64> = residuals
        .iter()
        .map(|r| ((-r.size).exp() - 1.0).abs())
        .collect();
    let ratios: Vec<f64> = residuals.iter().map(|r| r.size.exp()).collect();
    let group = SpreadGroup {
        scope,
        name: name.to_owned(),
        kind: kind.to_owned(),
        measurements,
        sources: 0,
        low: rounded(quantile(residuals, TAIL).exp()),
        high: rounded(quantile(residuals, 1.0 - TAIL).exp()),
        typical_error: rounded(quantile_of(&errors, 0.5)),
    };
    settled(group, &ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_share_the_vote_on_a_quantile() {
        // Four rows of one source together weigh as 4 to the power 0.7 (2.639) to one row of another.
        let residuals: Vec<Residual<'_>> =
            [("a", 0.0), ("a", 0.1), ("a", 0.2), ("a", 0.3), ("b", 1.0)]
                .into_iter()
                .map(|(source, size)| Residual { source, size })
                .collect();
        let all = 2.639_015_821_545_789 + 1.0;
        let row = 2.639_015_821_545_789 / 4.0;
        // Each row stands in the middle of its own weight, so the third at two and a half.
        assert!((quantile(&residuals, 2.5 * row / all) - 0.2).abs() < 1e-12);
        // Half way between the fourth and the fifth.
        let (fourth, fifth) = (3.5 * row / all, (4.0 * row + 0.5) / all);
        assert!((quantile(&residuals, (fourth + fifth) / 2.0) - 0.65).abs() < 1e-12);
        assert!((quantile(&residuals, 0.01) - 0.0).abs() < 1e-12);
        assert!((quantile(&residuals, 0.99) - 1.0).abs() < 1e-12);
    }
}
