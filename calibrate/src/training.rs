//! Fits the training estimator's constants.
//!
//! Memory and speed share no constant, so each is fitted on its own rows. The middle of every
//! estimate comes from the fit on all rows; ranges come from the residuals of rows whose source
//! the fit did not see.

mod parameters;
mod residuals;

use cardfit::catalog::Catalog;
use cardfit::estimate::training::TrainingConstants;
use cardfit::measured::{Judged, TrainingCase, TrainingRow};

use crate::Fitted;
use crate::loss::{source_weights, weighted_huber};
use crate::minimise::{Options, Parameter, minimise};
use crate::sources::leave_one_source_out;
use parameters::{Slot, memory_slots, speed_slots};

/// Residuals beyond this pull no harder than one at it (ln units; 0.12 is about 12 %).
const HUBER_DELTA: f64 = 0.12;
/// Between one vote a row and one vote a source.
const SOURCE_POWER: f64 = 0.5;
/// Pull of every parameter towards its start, so that what the rows do not tell stays put.
const PRIOR_WEIGHT: f64 = 4e-4;

/// Pull of parameters of one family towards each other: what no row tells of one software or one
/// architecture is then what its relatives show.
const FAMILY_WEIGHT: f64 = 2e-3;

/// Fits on `rows`, once on all and once without each source.
pub fn fit(rows: &[TrainingRow], catalog: &Catalog) -> Fitted<TrainingConstants> {
    let cases = cases(rows, catalog);
    let mut fitted = leave_one_source_out(
        &cases,
        |case| case.row().source_name(),
        |cases, all: Option<&TrainingConstants>| fit_constants(cases, all),
    );
    residuals::set_ranges(&mut fitted, &cases);
    let provenance = format!(
        "Nelder-Mead on Huber loss of ln(estimate / measured), {} rows of {} sources; ranges from \
         residuals by leave-one-source-out",
        cases.len(),
        fitted.without.len()
    );
    fitted.all.provenance.clone_from(&provenance);
    for (source, constants) in &mut fitted.without {
        constants.provenance = format!("{provenance}; without {source}");
    }
    fitted
}

/// Fits on all `rows` alone, without ranges: quick, for trying a form.
pub fn fit_all(rows: &[TrainingRow], catalog: &Catalog) -> TrainingConstants {
    let cases = cases(rows, catalog);
    fit_constants(&cases.iter().collect::<Vec<_>>(), None)
}

fn cases<'a>(rows: &'a [TrainingRow], catalog: &'a Catalog) -> Vec<TrainingCase<'a>> {
    rows.iter()
        .filter(|row| is_fitted_on(row))
        .filter_map(|row| TrainingCase::read(row, catalog).ok())
        .collect()
}

fn is_fitted_on(row: &TrainingRow) -> bool {
    row.problems.is_empty()
        && row.value.is_some_and(|v| v > 0.0)
        && !row.suspect.eq_ignore_ascii_case("yes")
}

/// `ln(estimate / measured)` of one case.
pub(crate) fn residual(case: &TrainingCase<'_>, constants: &TrainingConstants) -> Option<f64> {
    let measured = case.row().value?;
    match case.judge(constants) {
        Judged::Used { estimate, .. } => {
            let ratio = (estimate.mid / measured).ln();
            ratio.is_finite().then_some(ratio)
        }
        Judged::Unused { .. } => None,
    }
}

fn fit_constants(
    cases: &[&TrainingCase<'_>],
    from: Option<&TrainingConstants>,
) -> TrainingConstants {
    let mut constants = from.cloned().unwrap_or_default();
    let memory: Vec<&TrainingCase<'_>> = cases.iter().copied().filter(|c| c.is_memory()).collect();
    let speed: Vec<&TrainingCase<'_>> = cases.iter().copied().filter(|c| !c.is_memory()).collect();
    fit_part(&mut constants, &memory_slots(), &memory, from.is_some());
    fit_part(&mut constants, &speed_slots(), &speed, from.is_some());
    parameters::count_rows(&mut constants, &speed);
    constants
}

fn fit_part(
    constants: &mut TrainingConstants,
    slots: &[Slot],
    cases: &[&TrainingCase<'_>],
    is_fold: bool,
) {
    let sources: Vec<&str> = cases.iter().map(|c| c.row().source_name()).collect();
    let weights = source_weights(&sources, SOURCE_POWER);
    let defaults = TrainingConstants::default();
    let priors: Vec<f64> = slots.iter().map(|s| (s.get)(&defaults)).collect();
    let parameters: Vec<Parameter> = slots
        .iter()
        .map(|s| Parameter {
            name: s.name,
            start: (s.get)(constants),
            low: s.low,
            high: s.high,
        })
        .collect();
    let options = Options {
        max_evaluations: if is_fold { 1_000 } else { 6_000 },
        restarts: if is_fold { 0 } else { 2 },
        ..Options::default()
    };
    let families = if slots.iter().any(|s| s.name == "other_efficiency") {
        parameters::families(slots)
    } else {
        Vec::new()
    };
    let mut trial = constants.clone();
    let mut loss = |values: &[f64]| {
        for (slot, value) in slots.iter().zip(values) {
            (slot.set)(&mut trial, *value);
        }
        let residuals: Vec<f64> = cases
            .iter()
            .map(|case| residual(case, &trial).unwrap_or(0.0))
            .collect();
        let pull: f64 = values
            .iter()
            .zip(&priors)
            .map(|(value, prior)| (value / prior).ln().powi(2))
            .sum();
        weighted_huber(&residuals, &weights, HUBER_DELTA)
            + PRIOR_WEIGHT * pull
            + FAMILY_WEIGHT
                * families
                    .iter()
                    .map(|f| disagreement(f, values))
                    .sum::<f64>()
    };
    // One parameter at a time first: with some forty of them a simplex alone stops early.
    let near = compass(&parameters, if is_fold { 0.1 } else { 0.4 }, &mut loss);
    let parameters: Vec<Parameter> = parameters
        .iter()
        .zip(&near)
        .map(|(parameter, start)| Parameter {
            start: *start,
            ..*parameter
        })
        .collect();
    let found = minimise(&parameters, &options, &mut loss);
    let last = compass(
        &parameters
            .iter()
            .zip(&found.values)
            .map(|(parameter, start)| Parameter {
                start: *start,
                ..*parameter
            })
            .collect::<Vec<_>>(),
        0.05,
        &mut loss,
    );
    for (slot, value) in slots.iter().zip(&last) {
        (slot.set)(constants, round(*value));
    }
}

/// Sum of squares of the logarithms of a family's values around their mean.
fn disagreement(family: &[usize], values: &[f64]) -> f64 {
    let logs: Vec<f64> = family
        .iter()
        .filter_map(|i| values.get(*i))
        .map(|v| v.ln())
        .collect();
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    logs.iter().map(|log| (log - mean).powi(2)).sum()
}

/// Compass search: each parameter in turn is moved by `step` in its logarithm wherever that
/// helps; once nothing does, the step is halved, down to half a percent.
fn compass(
    parameters: &[Parameter],
    mut step: f64,
    loss: &mut impl FnMut(&[f64]) -> f64,
) -> Vec<f64> {
    const SMALLEST: f64 = 0.005;
    let mut at: Vec<f64> = parameters
        .iter()
        .map(|p| p.start.clamp(p.low, p.high))
        .collect();
    let mut best = loss(&at);
    while step > SMALLEST {
        let mut moved = false;
        for (i, parameter) in parameters.iter().enumerate() {
            for factor in [step.exp(), (-step).exp()] {
                let kept = at[i];
                at[i] = (kept * factor).clamp(parameter.low, parameter.high);
                let here = loss(&at);
                if here < best {
                    best = here;
                    moved = true;
                    break;
                }
                at[i] = kept;
            }
        }
        if !moved {
            step *= 0.5;
        }
    }
    at
}

/// Four significant digits: what the rows can tell, and a file that reads well.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    let factor = 10f64.powi(digits);
    (value * factor).round() / factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_four_digits() {
        assert!((round(0.123_456) - 0.1235).abs() < 1e-12);
        assert!((round(123_456.0) - 123_500.0).abs() < 1e-6);
    }
}
