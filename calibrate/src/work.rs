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
use crate::loss::{quantile_of, settled, source_weights};
use crate::sources::leave_one_source_out;

/// Residuals beyond this pull no harder than one at it.
const HUBER_DELTA: f64 = 0.15;
/// How a fit weighs its rows and where it starts.
#[derive(Clone, Copy)]
struct Balance {
    /// Between one vote a row and one vote a source.
    source_power: f64,
    /// Pull of a constant towards its start, in rows at one natural logarithm.
    prior: f64,
}

/// Few sources with many rows each, which differ in their software more than within themselves.
const IMAGES: Balance = Balance {
    source_power: 1.0,
    prior: 8e-3,
};
/// Many sources of few rows beside a large one.
const NETWORKS: Balance = Balance {
    source_power: 0.5,
    prior: 1.5e-3,
};
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
    let residual =
        |case: &WorkCase<'_>, constants: &DiffusionConstants| case.residual(constants, &other);
    // What both have is fitted on making images and clips, of which there are many rows of many
    // sources; then what is training's own, and the cards that only training speaks of.
    let solve_in_turn = |cases: &[&&WorkCase<'_>], start: Option<&DiffusionConstants>| {
        let (trained, made): (Vec<&&WorkCase<'_>>, Vec<&&WorkCase<'_>>) =
            cases.iter().partition(|c| c.trains());
        let own = |slot: &Slot<DiffusionCoefficients>| OF_TRAINING.contains(&slot.name);
        let slots = DiffusionCoefficients::SLOTS.iter();
        let shared: Vec<_> = slots.clone().filter(|slot| !own(slot)).collect();
        let seen = architectures(&made);
        let start = start.map(|c| forget_unseen(c, cases));
        let first = solve(
            &made,
            start.as_ref(),
            places(&seen, &shared),
            IMAGES,
            &residual,
        );
        let slots: Vec<_> = slots.filter(|slot| own(slot)).collect();
        let only: BTreeSet<&str> = &architectures(&trained) - &seen;
        solve(
            &trained,
            Some(&first),
            places(&only, &slots),
            IMAGES,
            &residual,
        )
    };
    fit(&own, &solve_in_turn, &residual)
}

/// Constants that only training has.
const OF_TRAINING: [&str; 7] = [
    "kept",
    "fullest",
    "training",
    "training_launch",
    "adapter_launch",
    "training_traffic",
    "training_token_traffic",
];

fn architectures(cases: &[&&WorkCase<'_>]) -> BTreeSet<&'static str> {
    let cards = cases.iter().filter_map(|c| c.card());
    cards.map(architecture_key).collect()
}

/// Constants to start from, without the shares of architectures that none of the cases speaks of:
/// they may have been learnt from the rows that are left out.
fn forget_unseen<C: Default + Clone>(
    constants: &Constants<C>,
    cases: &[&&WorkCase<'_>],
) -> Constants<C> {
    let seen = architectures(cases);
    let mut constants = constants.clone();
    let plain = Constants::<C>::default().compute.0;
    for (name, share) in &mut constants.compute.0 {
        if !seen.contains(name.as_str()) {
            *share = plain.get(name).copied().unwrap_or(*share);
        }
    }
    constants
}

fn places<C: 'static>(architectures: &BTreeSet<&str>, slots: &[&'static Slot<C>]) -> Vec<Place<C>> {
    let shares = architectures
        .iter()
        .map(|name| Place::Share((*name).to_owned()));
    shares
        .chain(slots.iter().map(|slot| Place::Slot(slot)))
        .collect()
}

/// Constants of networks and speech.
pub fn fit_vision(cases: &[WorkCase<'_>]) -> Fitted<VisionConstants> {
    let own: Vec<&WorkCase<'_>> = cases.iter().filter(|c| !c.is_diffusion()).collect();
    let other = DiffusionConstants::default();
    let residual =
        |case: &WorkCase<'_>, constants: &VisionConstants| case.residual(&other, constants);
    let slots: Vec<_> = VisionCoefficients::SLOTS.iter().collect();
    let solve_at_once = |cases: &[&&WorkCase<'_>], start: Option<&VisionConstants>| {
        let places = places(&architectures(cases), &slots);
        let start = start.map(|c| forget_unseen(c, cases));
        solve(cases, start.as_ref(), places, NETWORKS, &residual)
    };
    fit(&own, &solve_at_once, &residual)
}

type Residual<'r, C> = &'r (dyn Fn(&WorkCase<'_>, &Constants<C>) -> Option<f64> + Sync);
type Solve<'r, C> = &'r (dyn Fn(&[&&WorkCase<'_>], Option<&Constants<C>>) -> Constants<C> + Sync);

fn fit<C: Default + Clone + Send + Sync + 'static>(
    cases: &[&WorkCase<'_>],
    solve: Solve<'_, C>,
    residual: Residual<'_, C>,
) -> Fitted<Constants<C>> {
    let mut fitted = leave_one_source_out(
        cases,
        |case| case.source,
        |cases, start: Option<&Constants<C>>| solve(cases, start),
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
    places: Vec<Place<C>>,
    balance: Balance,
    residual: Residual<'_, C>,
) -> Constants<C> {
    const ROUNDS: usize = 25;
    const STEP: f64 = 1e-3;
    let plain = Constants::<C>::default();
    let mut constants = start.cloned().unwrap_or_default();
    constants.spread = Spread::default();
    let sources: Vec<&str> = cases.iter().map(|c| c.source).collect();
    let weights = source_weights(&sources, balance.source_power);
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
        data + 0.5 * balance.prior * prior
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
            matrix[i][i] += balance.prior;
            let data: f64 = a
                .iter()
                .zip(&at)
                .zip(&robust)
                .map(|((x, r), w)| x * r * w)
                .sum();
            right[i] = -(data + balance.prior * pull);
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
        let ratios: Vec<f64> = off.iter().map(|r| r.exp()).collect();
        (off.len() >= enough).then(|| {
            let group = SpreadGroup {
                scope,
                name,
                kind: kind.to_owned(),
                measurements: off.len() as u32,
                sources: 0,
                low: rounded(quantile_of(&off, TAIL).exp().min(1.0)),
                high: rounded(quantile_of(&off, 1.0 - TAIL).exp().max(1.0)),
                typical_error: rounded(quantile_of(&errors, 0.5)),
            };
            settled(group, &ratios)
        })
    });
    Spread::new(groups.collect())
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
