//! Fits the training estimator's constants.
//!
//! Memory and speed share no constant, so each is fitted on its own rows. The middle of every
//! estimate comes from the fit on all rows; ranges come from the residuals of rows whose source
//! the fit did not see.

mod least_squares;
mod parameters;
mod residuals;

use cardfit::catalog::Catalog;
use cardfit::estimate::training::TrainingConstants;
use cardfit::measured::{Judged, TrainingCase, TrainingRow};

use crate::Fitted;
use crate::loss::source_weights;
use crate::sources::leave_one_source_out;
use least_squares::{Family, Free, Rows};
use parameters::{Slot, memory_slots, speed_slots};

/// Between one vote a row and one vote a source.
const SOURCE_POWER: f64 = 0.5;
/// How firmly rows pull from the priors; leave-one-source-out chose among a few.
#[derive(Debug, Clone, Copy)]
struct Deviations {
    /// Of a row within its source, in the logarithm.
    noise: f64,
    /// Between sources whose settings read the same.
    between: f64,
}
const MEMORY: Deviations = Deviations {
    noise: 0.1,
    between: 0.05,
};
const SPEED: Deviations = Deviations {
    noise: 0.16,
    between: 0.04,
};
/// Deviation of a parameter between software or architectures that are relatives.
const BETWEEN_RELATIVES: f64 = 0.08;

/// Fits on `rows`, once on all and once without each source.
pub fn fit(rows: &[TrainingRow], catalog: &Catalog) -> Fitted<TrainingConstants> {
    let cases = cases(rows, catalog);
    let mut fitted = leave_one_source_out(
        &cases,
        |case| case.row().source_name(),
        |cases, all: Option<&TrainingConstants>| fit_constants(cases, all),
    );
    let held_out = residuals::set_ranges(&mut fitted, &cases);
    let provenance = format!(
        "Robust least squares on ln(estimate / measured), an offset for each source, {} rows of {} sources; ranges from \
         residuals by leave-one-source-out; drawn without a row's own source they hold {:.0} of 100 \
         memory rows and {:.0} of 100 speed rows",
        cases.len(),
        fitted.without.len(),
        100.0 * held_out.memory,
        100.0 * held_out.speed
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
    fit_part(
        &mut constants,
        &memory_slots(),
        &memory,
        MEMORY,
        from.is_some(),
    );
    fit_part(
        &mut constants,
        &speed_slots(),
        &speed,
        SPEED,
        from.is_some(),
    );
    parameters::count_rows(&mut constants, &speed);
    constants
}

fn fit_part(
    constants: &mut TrainingConstants,
    slots: &[Slot],
    cases: &[&TrainingCase<'_>],
    deviations: Deviations,
    is_fold: bool,
) {
    let names: Vec<&str> = cases.iter().map(|c| c.row().source_name()).collect();
    let mut numbered: Vec<&str> = names.clone();
    numbered.sort_unstable();
    numbered.dedup();
    let count = cases.len() as f64;
    let rows = Rows {
        weights: source_weights(&names, SOURCE_POWER)
            .iter()
            .map(|w| w * count)
            .collect(),
        sources: names
            .iter()
            .map(|name| numbered.binary_search(name).unwrap_or(0))
            .collect(),
        noise: deviations.noise,
        between: deviations.between,
    };
    let defaults = TrainingConstants::default();
    let free: Vec<Free> = slots
        .iter()
        .map(|s| Free {
            start: (s.get)(constants),
            prior: (s.get)(&defaults),
            width: s.width,
            low: s.low,
            high: s.high,
        })
        .collect();
    let families: Vec<Family> = parameters::families(slots)
        .into_iter()
        .map(|members| Family {
            members,
            width: BETWEEN_RELATIVES,
        })
        .collect();
    let mut trial = constants.clone();
    let residuals = |values: &[f64]| -> Vec<f64> {
        for (slot, value) in slots.iter().zip(values) {
            (slot.set)(&mut trial, *value);
        }
        cases
            .iter()
            .map(|case| residual(case, &trial).unwrap_or(0.0))
            .collect()
    };
    let rounds = if is_fold { 15 } else { 40 };
    let found = least_squares::fit(&free, &families, &rows, rounds, residuals);
    for (slot, value) in slots.iter().zip(&found) {
        (slot.set)(constants, round(*value));
    }
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
