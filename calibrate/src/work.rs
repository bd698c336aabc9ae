//! Fits the estimators of images and clips, and of networks and speech.
//!
//! ```text
//! rows -> cases -> residuals ln(estimate / measured) -> damped least squares (Levenberg 1944,
//! Marquardt 1963) over ln(constants), Huber weights, sources balanced, each constant pulled
//! towards where it starts
//! ```

use std::collections::{BTreeMap, BTreeSet};

use cardfit::catalog::Catalog;
use cardfit::estimate::diffusion::{DiffusionCoefficients, DiffusionConstants};
use cardfit::estimate::spread::{ENOUGH, GroupScope, Spread, SpreadGroup};
use cardfit::estimate::vision::{VisionCoefficients, VisionConstants};
use cardfit::estimate::work::{Constants, Slot, architecture_key};
use cardfit::measured::{InferenceRow, TrainingRow, WorkCase, is_work};

use crate::Fitted;
use crate::loss::{quantile_of, source_weights};
use crate::sources::leave_one_source_out;

/// Residuals beyond this pull no harder than one at it.
const HUBER_DELTA: f64 = 0.15;
/// Between one vote a row and one vote a source.
const SOURCE_POWER: f64 = 0.5;
/// Pull of a constant towards its start, in rows at one natural logarithm.
const PRIOR: f64 = 1.5e-3;
/// Share of the residuals below the lower and above the upper end.
const TAIL: f64 = 0.085;
/// Rows with which an architecture has a group of its own.
const ENOUGH_OF_AN_ARCHITECTURE: usize = 8;

/// The rows that these estimators can be asked about.
pub fn cases<'a>(
    training: &'a [TrainingRow],
    inference: &'a [InferenceRow],
    catalog: &'a Catalog,
) -> Vec<WorkCase<'a>> {
    let good = |problems: &[String], suspect: &str, value: Option<f64>| {
        problems.is_empty()
            && !suspect.eq_ignore_ascii_case("yes")
            && value.is_some_and(|v| v > 0.0)
    };
    let trained = training
        .iter()
        .filter(|r| is_work(&r.task) && good(&r.problems, &r.suspect, r.value))
        .filter_map(|r| WorkCase::of_training(r, catalog).ok());
    let ran = inference
        .iter()
        .filter(|r| is_work(&r.task) && good(&r.problems, &r.suspect, r.value))
        .filter_map(|r| WorkCase::of_inference(r, catalog).ok());
    trained.chain(ran).collect()
}

/// Constants of images and clips.
pub fn fit_diffusion(cases: &[WorkCase<'_>]) -> Fitted<DiffusionConstants> {
    let own: Vec<&WorkCase<'_>> = cases.iter().filter(|c| c.is_diffusion()).collect();
    let other = VisionConstants::default();
    fit(&own, DiffusionCoefficients::SLOTS, &|case, constants| {
        case.residual(constants, &other)
    })
}

/// Constants of networks and speech.
pub fn fit_vision(cases: &[WorkCase<'_>]) -> Fitted<VisionConstants> {
    let own: Vec<&WorkCase<'_>> = cases.iter().filter(|c| !c.is_diffusion()).collect();
    let other = DiffusionConstants::default();
    fit(&own, VisionCoefficients::SLOTS, &|case, constants| {
        case.residual(&other, constants)
    })
}

type Residual<'r, C> = &'r (dyn Fn(&WorkCase<'_>, &Constants<C>) -> Option<f64> + Sync);

fn fit<C: Default + Clone + Send + Sync + 'static>(
    cases: &[&WorkCase<'_>],
    slots: &'static [Slot<C>],
    residual: Residual<'_, C>,
) -> Fitted<Constants<C>> {
    let mut fitted = leave_one_source_out(
        cases,
        |case| case.source,
        |cases, start: Option<&Constants<C>>| solve(cases, start, slots, residual),
    );
    let provenance = format!(
        "Damped least squares with Huber weights on ln(estimate / measured), {} rows of {} sources; \
         ranges from residuals by leave-one-source-out",
        cases.len(),
        fitted.without.len()
    );
    fitted.all.spread = spread(cases, &fitted, residual);
    fitted.all.provenance = provenance;
    fitted
}

/// One constant in the vector that is solved for.
enum Place<C: 'static> {
    Share(String),
    Slot(&'static Slot<C>),
}

impl<C: Default> Place<C> {
    fn get(&self, constants: &Constants<C>) -> f64 {
        match self {
            Self::Share(name) => constants.compute.0.get(name).copied().unwrap_or(0.35),
            Self::Slot(slot) => (slot.get)(&constants.coefficients),
        }
    }

    fn set(&self, constants: &mut Constants<C>, value: f64) {
        match self {
            Self::Share(name) => {
                constants
                    .compute
                    .0
                    .insert(name.clone(), value.clamp(0.05, 1.2));
            }
            Self::Slot(slot) => {
                (slot.set)(
                    &mut constants.coefficients,
                    value.clamp(slot.low, slot.high),
                );
            }
        }
    }
}

fn solve<C: Default + Clone>(
    cases: &[&&WorkCase<'_>],
    start: Option<&Constants<C>>,
    slots: &'static [Slot<C>],
    residual: Residual<'_, C>,
) -> Constants<C> {
    const ROUNDS: usize = 25;
    const STEP: f64 = 1e-3;
    let plain = Constants::<C>::default();
    let mut constants = start.cloned().unwrap_or_default();
    constants.spread = Spread::default();
    let known: BTreeSet<&str> = cases
        .iter()
        .filter_map(|c| c.card().map(architecture_key))
        .collect();
    let places: Vec<Place<C>> = known
        .into_iter()
        .map(|name| Place::Share(name.to_owned()))
        .chain(slots.iter().map(Place::Slot))
        .collect();
    let sources: Vec<&str> = cases.iter().map(|c| c.source).collect();
    let weights = source_weights(&sources, SOURCE_POWER);
    let residuals = |c: &Constants<C>| -> Vec<f64> {
        cases
            .iter()
            .map(|case| residual(case, c).unwrap_or(0.0))
            .collect()
    };
    let loss = |c: &Constants<C>, rs: &[f64]| -> f64 {
        let data = crate::loss::weighted_huber(rs, &weights, HUBER_DELTA);
        let prior: f64 = places
            .iter()
            .map(|p| (p.get(c) / p.get(&plain)).ln().powi(2))
            .sum();
        data + 0.5 * PRIOR * prior
    };
    let mut at = residuals(&constants);
    let mut best = loss(&constants, &at);
    let mut damping = 1e-2;
    for _ in 0..ROUNDS {
        let n = places.len();
        let columns: Vec<Vec<f64>> = places
            .iter()
            .map(|place| {
                let mut moved = constants.clone();
                place.set(&mut moved, place.get(&constants) * STEP.exp());
                let moved = residuals(&moved);
                moved.iter().zip(&at).map(|(m, r)| (m - r) / STEP).collect()
            })
            .collect();
        // Far rows weigh less, as Huber's loss has it.
        let robust: Vec<f64> = at
            .iter()
            .zip(&weights)
            .map(|(r, w)| w * (HUBER_DELTA / r.abs().max(HUBER_DELTA)))
            .collect();
        let mut matrix = vec![vec![0.0; n]; n];
        let mut right = vec![0.0; n];
        for (i, a) in columns.iter().enumerate() {
            for (j, b) in columns.iter().enumerate().skip(i) {
                let sum: f64 = a
                    .iter()
                    .zip(b)
                    .zip(&robust)
                    .map(|((x, y), w)| x * y * w)
                    .sum();
                matrix[i][j] = sum;
                matrix[j][i] = sum;
            }
            let pull = (places[i].get(&constants) / places[i].get(&plain)).ln();
            matrix[i][i] += PRIOR;
            let data: f64 = a
                .iter()
                .zip(&at)
                .zip(&robust)
                .map(|((x, r), w)| x * r * w)
                .sum();
            right[i] = -(data + PRIOR * pull);
        }
        let mut improved = false;
        for _ in 0..8 {
            let mut damped = matrix.clone();
            for (i, row) in damped.iter_mut().enumerate() {
                row[i] += damping * (row[i] + 1e-4);
            }
            let Some(step) = linear(damped, right.clone()) else {
                damping *= 10.0;
                continue;
            };
            let mut moved = constants.clone();
            for (place, by) in places.iter().zip(&step) {
                place.set(
                    &mut moved,
                    place.get(&constants) * by.clamp(-0.7, 0.7).exp(),
                );
            }
            let then = residuals(&moved);
            let loss_then = loss(&moved, &then);
            if loss_then < best {
                improved = best - loss_then > 1e-7;
                (constants, at, best) = (moved, then, loss_then);
                damping = (damping / 3.0).max(1e-6);
                break;
            }
            damping *= 4.0;
        }
        if !improved {
            break;
        }
    }
    for place in &places {
        let value = place.get(&constants);
        // Five digits are more than the rows tell.
        let digits = 10f64.powf(4.0 - value.abs().log10().floor());
        place.set(&mut constants, (value * digits).round() / digits);
    }
    constants
}

/// Solves a small linear system by elimination with pivoting.
fn linear(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|x, y| a[*x][i].abs().total_cmp(&a[*y][i].abs()))?;
        if a[pivot][i].abs() < 1e-14 {
            return None;
        }
        a.swap(i, pivot);
        b.swap(i, pivot);
        for row in i + 1..n {
            let factor = a[row][i] / a[i][i];
            let above = a[i].clone();
            for (under, over) in a[row].iter_mut().zip(&above).skip(i) {
                *under -= factor * over;
            }
            b[row] -= factor * b[i];
        }
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    Some(b)
}

/// Residuals of every case against the fit that has not seen its source.
fn spread<C: Default>(
    cases: &[&WorkCase<'_>],
    fitted: &Fitted<Constants<C>>,
    residual: Residual<'_, C>,
) -> Spread {
    let mut groups: BTreeMap<(u8, String, &str), Vec<f64>> = BTreeMap::new();
    for case in cases {
        let constants = fitted.without.get(case.source).unwrap_or(&fitted.all);
        let Some(off) = residual(case, constants) else {
            continue;
        };
        // Measured over estimated.
        let off = -off;
        let mut add = |scope: u8, name: &str| {
            groups
                .entry((scope, name.to_owned(), case.kind()))
                .or_default()
                .push(off);
        };
        add(2, "");
        if let Some(card) = case.card() {
            add(0, &card.id);
            add(1, &card.architecture);
        }
    }
    let rounded = |x: f64| (x * 1e4).round() / 1e4;
    let groups = groups.into_iter().filter_map(|((scope, name, kind), off)| {
        let (scope, enough) = match scope {
            0 => (GroupScope::Card, ENOUGH as usize),
            1 => (GroupScope::Architecture, ENOUGH_OF_AN_ARCHITECTURE),
            _ => (GroupScope::JobKind, 2),
        };
        let errors: Vec<f64> = off.iter().map(|r| ((-r).exp() - 1.0).abs()).collect();
        (off.len() >= enough).then(|| SpreadGroup {
            scope,
            name,
            kind: kind.to_owned(),
            measurements: off.len() as u32,
            sources: 0,
            low: rounded(quantile_of(&off, TAIL).exp().min(1.0)),
            high: rounded(quantile_of(&off, 1.0 - TAIL).exp().max(1.0)),
            typical_error: rounded(quantile_of(&errors, 0.5)),
        })
    });
    Spread {
        groups: groups.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_systems_are_solved() {
        let solved = linear(vec![vec![0.0, 2.0], vec![3.0, 1.0]], vec![4.0, 5.0]).unwrap();
        assert!((solved[0] - 1.0).abs() < 1e-12 && (solved[1] - 2.0).abs() < 1e-12);
        assert_eq!(linear(vec![vec![0.0]], vec![1.0]), None);
    }
}
