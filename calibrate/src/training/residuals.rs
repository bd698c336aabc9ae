//! Ranges from the residuals of rows whose source the fit did not see.

use std::collections::BTreeMap;

use cardfit::estimate::spread::{GroupScope, Spread, SpreadGroup};
use cardfit::estimate::training::{TrainingConstants, kind_and_stack_name};
use cardfit::measured::TrainingCase;

use super::residual;
use crate::Fitted;
use crate::loss::quantile_of;

/// Share of rows below the low end, and above the high end.
const OUTSIDE: f64 = 0.08;
/// Rows that make a group.
const FEWEST: usize = 8;

/// What a row's residual belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Memory,
    Speed,
    WholeRun,
}

/// Sets every set of constants' ranges from residuals by leave-one-source-out.
pub fn set_ranges(fitted: &mut Fitted<TrainingConstants>, cases: &[TrainingCase<'_>]) {
    let of = |part: Part| spread(fitted, cases, part);
    let (memory, speed, runs) = (of(Part::Memory), of(Part::Speed), of(Part::WholeRun));
    let all = std::iter::once(&mut fitted.all).chain(fitted.without.values_mut());
    for constants in all {
        constants.memory_spread.clone_from(&memory);
        constants.speed_spread.clone_from(&speed);
        constants.run_spread.clone_from(&runs);
    }
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

fn spread(fitted: &Fitted<TrainingConstants>, cases: &[TrainingCase<'_>], part: Part) -> Spread {
    let mut groups: BTreeMap<(u8, String, String), Vec<f64>> = BTreeMap::new();
    for case in cases.iter().filter(|c| part_of(c) == part) {
        let constants = fitted
            .without
            .get(case.row().source_name())
            .unwrap_or(&fitted.all);
        let Some(off) = residual(case, constants) else {
            continue;
        };
        let kind = case.row().task.clone();
        let card = case.card();
        let known = !case.row().card.is_empty();
        let mut add = |scope: u8, name: &str, kind: &str| {
            groups
                .entry((scope, name.to_owned(), kind.to_owned()))
                .or_default()
                .push(off);
        };
        if known {
            add(0, &card.id, &kind);
            add(1, &card.architecture, &kind);
            add(1, &card.architecture, "");
            let setup = case.setup();
            if let Some(stack) = setup.habits.stack {
                let both = kind_and_stack_name(setup.method, stack);
                add(1, &card.architecture, both);
            }
        }
        add(2, "", &kind);
        add(2, "", "");
    }
    let groups = groups
        .into_iter()
        .filter(|(_, residuals)| residuals.len() >= FEWEST)
        .map(|((scope, name, kind), residuals)| group(scope, name, kind, &residuals))
        .collect();
    Spread { groups }
}

fn group(scope: u8, name: String, kind: String, residuals: &[f64]) -> SpreadGroup {
    // A residual is ln(estimate / measured); ends are measured over estimate.
    let end = |q: f64| (-quantile_of(residuals, 1.0 - q)).exp();
    let errors: Vec<f64> = residuals.iter().map(|r| (r.exp() - 1.0).abs()).collect();
    SpreadGroup {
        scope: match scope {
            0 => GroupScope::Card,
            1 => GroupScope::Architecture,
            _ => GroupScope::JobKind,
        },
        name,
        kind,
        measurements: u32::try_from(residuals.len()).unwrap_or(u32::MAX),
        low: super::round(end(OUTSIDE).min(0.98)),
        high: super::round(end(1.0 - OUTSIDE).max(1.02)),
        typical_error: super::round(quantile_of(&errors, 0.5)),
    }
}
