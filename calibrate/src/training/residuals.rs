//! Ranges from the residuals of rows whose source the fit did not see.

use std::collections::{BTreeMap, BTreeSet};

use cardfit::estimate::spread::{GroupScope, Spread, SpreadGroup};
use cardfit::estimate::training::{TrainingConstants, kind_and_stack_name};
use cardfit::measured::{Judged, TrainingCase};

use super::residual;
use crate::Fitted;
use crate::loss::{quantile_of, settled, source_weights};

/// Share of rows below the low end, and above the high end.
const OUTSIDE: f64 = 0.10;
/// Least ratio of measured over estimated that a residual tells apart.
const LEAST_RATIO: f64 = 0.05;
/// Rows that make a group.
const FEWEST: usize = 8;

/// How far off one row is.
struct Residual<'a> {
    /// What it measures.
    part: Part,
    /// `ln(estimate / measured)` of the part that the range is put around.
    off: f64,
    /// The same of all.
    error: f64,
    /// The row's source: a range is for a source that is not there, so each has its vote.
    source: &'a str,
    /// Groups it belongs to: scope, name, kind.
    groups: Vec<(u8, String, String)>,
}

/// What a row's residual belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Memory,
    Speed,
    WholeRun,
}

/// Share of rows inside ranges that were drawn without their own source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOut {
    /// Of memory rows.
    pub memory: f64,
    /// Of speed rows.
    pub speed: f64,
}

/// Sets every set of constants' ranges from residuals by leave-one-source-out, the same for all, and
/// says how many rows lie inside ranges that their own source had no part in.
pub fn set_ranges(fitted: &mut Fitted<TrainingConstants>, cases: &[TrainingCase<'_>]) -> HeldOut {
    let residuals: Vec<Residual<'_>> = cases
        .iter()
        .filter_map(|case| residual_of(case, fitted))
        .collect();
    for (source, constants) in &mut fitted.without {
        set(constants, &residuals, Some(source));
    }
    let held_out = HeldOut {
        memory: inside(fitted, cases, Part::Memory),
        speed: inside(fitted, cases, Part::Speed),
    };
    set(&mut fitted.all, &residuals, None);
    for constants in fitted.without.values_mut() {
        set(constants, &residuals, None);
    }
    held_out
}

/// Share of rows of `part` inside the ranges of their source's fold.
fn inside(fitted: &Fitted<TrainingConstants>, cases: &[TrainingCase<'_>], part: Part) -> f64 {
    let held: Vec<bool> = cases
        .iter()
        .filter(|case| part_of(case) == part)
        .filter_map(|case| {
            let constants = fitted.without.get(case.row().source_name())?;
            match case.judge(constants) {
                Judged::Used { estimate, .. } => Some(estimate.holds(case.row().value?)),
                Judged::Unused { .. } => None,
            }
        })
        .collect();
    held.iter().filter(|inside| **inside).count() as f64 / held.len().max(1) as f64
}

fn set(constants: &mut TrainingConstants, residuals: &[Residual<'_>], except: Option<&str>) {
    constants.memory_spread = spread(residuals, Part::Memory, except);
    constants.speed_spread = spread(residuals, Part::Speed, except);
    constants.run_spread = spread(residuals, Part::WholeRun, except);
}

fn part_of(case: &TrainingCase<'_>) -> Part {
    if case.is_memory() {
        Part::Memory
    } else if case.is_whole_run() {
        Part::WholeRun
    } else {
        Part::Speed
    }
}

fn residual_of<'a>(
    case: &TrainingCase<'a>,
    fitted: &Fitted<TrainingConstants>,
) -> Option<Residual<'a>> {
    let source = case.row().source_name();
    let constants = fitted.without.get(source).unwrap_or(&fitted.all);
    let error = residual(case, constants)?;
    // Memory's ranges stand around what is modelled, not around what is counted.
    let off = match case.memory_ratio(constants) {
        Some(ratio) => -ratio.max(LEAST_RATIO).ln(),
        None => error,
    };
    let kind = case.row().task.as_str();
    let mut groups = vec![(2, "", kind), (2, "", "")];
    let card = case.card();
    if let Some(stack) = case.setup().habits.stack
        && case.is_memory()
    {
        groups.push((2, "", kind_and_stack_name(case.setup().method, stack)));
    }
    if !case.row().card.is_empty() {
        groups.push((0, &card.id, kind));
        groups.push((1, &card.architecture, kind));
        groups.push((1, &card.architecture, ""));
        let setup = case.setup();
        if let Some(stack) = setup.habits.stack {
            let both = kind_and_stack_name(setup.method, stack);
            groups.push((1, &card.architecture, both));
        }
    }
    Some(Residual {
        part: part_of(case),
        off,
        error,
        source,
        groups: groups
            .into_iter()
            .map(|(scope, name, kind)| (scope, name.to_owned(), kind.to_owned()))
            .collect(),
    })
}

fn spread(residuals: &[Residual<'_>], part: Part, except: Option<&str>) -> Spread {
    let mut groups: BTreeMap<&(u8, String, String), Vec<&Residual<'_>>> = BTreeMap::new();
    for residual in residuals {
        if residual.part == part && Some(residual.source) != except {
            for group in &residual.groups {
                groups.entry(group).or_default().push(residual);
            }
        }
    }
    let groups = groups
        .into_iter()
        .filter(|(_, residuals)| residuals.len() >= FEWEST)
        .map(|((scope, name, kind), residuals)| {
            group(*scope, name.clone(), kind.clone(), &residuals)
        })
        .collect();
    Spread::new(groups)
}

fn group(scope: u8, name: String, kind: String, residuals: &[&Residual<'_>]) -> SpreadGroup {
    let sources: Vec<&str> = residuals.iter().map(|r| r.source).collect();
    let votes = source_weights(&sources, super::SOURCE_POWER);
    let mut offs: Vec<(f64, f64)> = residuals.iter().map(|r| r.off).zip(votes).collect();
    offs.sort_by(|a, b| a.0.total_cmp(&b.0));
    // A residual is ln(estimate / measured); ends are measured over estimate.
    let end = |q: f64| (-weighted_quantile(&offs, 1.0 - q)).exp();
    let errors: Vec<f64> = residuals
        .iter()
        .map(|r| (r.error.exp() - 1.0).abs())
        .collect();
    let ratios: Vec<f64> = residuals.iter().map(|r| (-r.off).exp()).collect();
    let group = SpreadGroup {
        scope: match scope {
            0 => GroupScope::Card,
            1 => GroupScope::Architecture,
            _ => GroupScope::JobKind,
        },
        name,
        kind,
        measurements: u32::try_from(residuals.len()).unwrap_or(u32::MAX),
        sources: u32::try_from(sources.iter().collect::<BTreeSet<_>>().len()).unwrap_or(u32::MAX),
        low: super::round(end(OUTSIDE).min(0.98)),
        high: super::round(end(1.0 - OUTSIDE).max(1.02)),
        typical_error: super::round(quantile_of(&errors, 0.5)),
    };
    settled(group, &ratios)
}

/// The value below which a share `q` of the votes lies, of values with their votes in rising order.
fn weighted_quantile(values: &[(f64, f64)], q: f64) -> f64 {
    let all: f64 = values.iter().map(|(_, vote)| vote).sum();
    let mut below = 0.0;
    for (value, vote) in values {
        below += vote;
        if below >= q * all {
            return *value;
        }
    }
    values.last().map_or(0.0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_move_a_quantile() {
        let even = [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (4.0, 1.0)];
        assert!((weighted_quantile(&even, 0.5) - 2.0).abs() < 1e-12);
        let heavy = [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (4.0, 5.0)];
        assert!((weighted_quantile(&heavy, 0.5) - 4.0).abs() < 1e-12);
        assert!(weighted_quantile(&[], 0.5).abs() < 1e-12);
    }
}
