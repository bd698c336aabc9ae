//! Damped least squares (Levenberg 1944, Marquardt 1963) over the logarithms of the constants.

use std::collections::BTreeMap;

use cardfit::estimate::serving::{Quantity, ServingConstants};

use super::Measured;

/// Beyond this a residual (of a logarithm) pulls no harder.
const HUBER: f64 = 0.12;
/// Rows of one source and quantity count together as their number to this power.
const BALANCE: f64 = 0.7;
/// Most steps of a fit.
const ROUNDS: usize = 60;
/// Small gains in a row that end a fit.
const STALLED: usize = 4;
/// Step of the numeric derivative.
const NUDGE: f64 = 0.02;

/// How far a constant may be from its default before the default pulls, as a logarithm: little for what
/// kernels were measured to reach, more for what software adds.
fn looseness(name: &str) -> f64 {
    let part = name.rsplit('.').next().unwrap_or(name);
    if name.starts_with("architectures.") {
        return match part {
            "bandwidth" => 0.08,
            "compute" => 0.2,
            "unshared_cache" => 1.0,
            _ => 0.25,
        };
    }
    if name.starts_with("engines.") {
        return match part {
            "bandwidth" => 0.08,
            "compute" => 0.2,
            "cache_traffic" => 0.25,
            "hidden" => 0.7,
            _ => 0.5,
        };
    }
    match part {
        "hop_s" | "direct_s" | "bus_s" | "network_s" => 0.6,
        "expert_spread" | "half_rate_gain" => 0.1,
        _ => 0.4,
    }
}

fn names(constants: &ServingConstants) -> Vec<String> {
    let mut names = Vec::new();
    constants
        .clone()
        .visit(&mut |name, _| names.push(name.to_owned()));
    names
}

fn values(constants: &ServingConstants) -> Vec<f64> {
    let mut values = Vec::new();
    constants
        .clone()
        .visit(&mut |_, value| values.push(value.max(1e-12).ln()));
    values
}

fn set(constants: &mut ServingConstants, logs: &[f64]) {
    let mut next = logs.iter();
    constants.visit(&mut |_, value| {
        if let Some(log) = next.next() {
            *value = log.exp();
        }
    });
}

/// The part of a name that tells which rows a constant can move: an architecture, an engine.
fn group_of(name: &str) -> Option<String> {
    let mut parts = name.split('.');
    let (kind, which) = (parts.next()?, parts.next()?);
    matches!(kind, "architectures" | "engines").then(|| format!("{kind}.{which}"))
}

/// For each constant the rows that it can move.
fn movable(runs: &[&Measured], names: &[String], at: &ServingConstants) -> Vec<Vec<usize>> {
    let start = values(at);
    let base: Vec<f64> = runs.iter().map(|m| m.residual(at)).collect();
    let mut by_group: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for group in names.iter().filter_map(|name| group_of(name)) {
        if by_group.contains_key(&group) {
            continue;
        }
        let moved: Vec<f64> = names
            .iter()
            .zip(&start)
            .map(|(name, log)| {
                if group_of(name).as_deref() == Some(&group) {
                    log - 0.4
                } else {
                    *log
                }
            })
            .collect();
        let mut constants = at.clone();
        set(&mut constants, &moved);
        let rows = runs
            .iter()
            .enumerate()
            .filter(|(i, m)| (m.residual(&constants) - base[*i]).abs() > 1e-12)
            .map(|(i, _)| i)
            .collect();
        by_group.insert(group, rows);
    }
    let all: Vec<usize> = (0..runs.len()).collect();
    let memory: Vec<usize> = (0..runs.len())
        .filter(|i| runs[*i].run.quantity() == Quantity::Memory)
        .collect();
    names
        .iter()
        .map(|name| match group_of(name) {
            Some(group) => by_group.get(&group).cloned().unwrap_or_default(),
            // What a memory constant does to speed, by way of how many requests fit, is too
            // coarse to fit it by.
            None if name.starts_with("memory.") => memory.clone(),
            None => all.clone(),
        })
        .collect()
}

/// Weights of the rows: each source and quantity counts as its number of rows to a power.
fn weights(runs: &[&Measured]) -> Vec<f64> {
    let key = |m: &Measured| {
        let quantity = match m.run.quantity() {
            Quantity::Weights | Quantity::Memory => 0,
            Quantity::Decode | Quantity::Whole => 1,
            Quantity::Prefill => 2,
            Quantity::Batch | Quantity::Pace => 3,
        };
        (m.source.clone(), quantity)
    };
    let mut counts: BTreeMap<(String, u8), f64> = BTreeMap::new();
    for run in runs {
        *counts.entry(key(run)).or_default() += 1.0;
    }
    runs.iter()
        .map(|run| counts.get(&key(run)).map_or(1.0, |n| n.powf(BALANCE - 1.0)))
        .collect()
}

struct Problem<'a> {
    runs: &'a [&'a Measured],
    weights: Vec<f64>,
    movable: Vec<Vec<usize>>,
    defaults: Vec<f64>,
    pulls: Vec<f64>,
}

/// How hard the defaults pull against the rows: the residual (as a logarithm) that a row of a source that
/// no fit has seen is expected to have.
const ROW_SPREAD: f64 = 0.25;

impl Problem<'_> {
    fn residuals(&self, constants: &ServingConstants) -> Vec<f64> {
        self.runs.iter().map(|m| m.residual(constants)).collect()
    }

    fn loss(&self, residuals: &[f64], logs: &[f64]) -> f64 {
        let rows: f64 = residuals
            .iter()
            .zip(&self.weights)
            .map(|(r, w)| w * crate::loss::huber(*r, HUBER))
            .sum();
        let pull: f64 = logs
            .iter()
            .zip(&self.defaults)
            .zip(&self.pulls)
            .map(|((log, default), pull)| 0.5 * pull * (log - default).powi(2))
            .sum();
        rows + pull
    }
}

/// Fits on `runs`, from `start` where there is one.
pub fn fit(runs: &[&Measured], start: Option<&ServingConstants>) -> ServingConstants {
    let defaults = ServingConstants::default();
    let names = names(&defaults);
    let mut constants = start.cloned().unwrap_or_else(|| defaults.clone());
    constants.spread = Default::default();
    let problem = Problem {
        runs,
        weights: weights(runs),
        movable: movable(runs, &names, &defaults),
        defaults: values(&defaults),
        pulls: names
            .iter()
            .map(|name| (ROW_SPREAD / looseness(name)).powi(2))
            .collect(),
    };
    let n = names.len();
    let mut logs = values(&constants);
    let mut residuals = problem.residuals(&constants);
    let mut loss = problem.loss(&residuals, &logs);
    let mut damping = 1e-2;
    let mut stalled = 0;
    let rounds = if start.is_some() { ROUNDS / 2 } else { ROUNDS };
    for _ in 0..rounds {
        let (matrix, gradient) = normal_equations(&problem, &constants, &logs, &residuals);
        let before = loss;
        let mut improved = false;
        for _ in 0..12 {
            let mut damped = matrix.clone();
            for i in 0..n {
                damped[i * n + i] *= 1.0 + damping;
                damped[i * n + i] += 1e-9;
            }
            let Some(step) = solve(damped, &gradient, n) else {
                damping *= 4.0;
                continue;
            };
            let next: Vec<f64> = logs
                .iter()
                .zip(&step)
                .map(|(log, step)| log + step.clamp(-0.5, 0.5))
                .collect();
            let mut tried = constants.clone();
            set(&mut tried, &next);
            let tried_residuals = problem.residuals(&tried);
            let tried_loss = problem.loss(&tried_residuals, &next);
            if tried_loss < loss {
                (constants, logs, residuals, loss) = (tried, next, tried_residuals, tried_loss);
                damping = (damping / 3.0).max(1e-6);
                improved = true;
                break;
            }
            damping *= 4.0;
        }
        if !improved {
            // A corner of the model (a maximum, a limit) can hide the way down from the derivatives.
            improved = sweep(
                &problem,
                &mut constants,
                &mut logs,
                &mut residuals,
                &mut loss,
            );
            damping = 1e-2;
        }
        // One small gain may be a step that was damped too much; several are the end.
        stalled = if before - loss < 1e-4 * before {
            stalled + 1
        } else {
            0
        };
        if !improved || stalled >= STALLED {
            break;
        }
    }
    // Four figures are more than the data give, and keep the file readable.
    constants.visit(&mut |_, value| *value = four_figures(*value));
    constants
}

fn four_figures(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let unit = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * unit).round() / unit
}

/// Moves each constant by itself, up or down by a few parts in a hundred, where that helps.
fn sweep(
    problem: &Problem<'_>,
    constants: &mut ServingConstants,
    logs: &mut [f64],
    residuals: &mut [f64],
    loss: &mut f64,
) -> bool {
    let before = *loss;
    for j in 0..logs.len() {
        for step in [0.08, -0.08, 0.02, -0.02] {
            let old = logs[j];
            logs[j] = old + step;
            set(constants, logs);
            let rows = &problem.movable[j];
            let mut change = 0.5
                * problem.pulls[j]
                * ((logs[j] - problem.defaults[j]).powi(2) - (old - problem.defaults[j]).powi(2));
            let moved: Vec<f64> = rows
                .iter()
                .map(|&i| problem.runs[i].residual(constants))
                .collect();
            for (&i, new) in rows.iter().zip(&moved) {
                change += problem.weights[i]
                    * (crate::loss::huber(*new, HUBER) - crate::loss::huber(residuals[i], HUBER));
            }
            if change < -1e-7 {
                for (&i, new) in rows.iter().zip(moved) {
                    residuals[i] = new;
                }
                *loss += change;
                break;
            }
            logs[j] = old;
        }
    }
    set(constants, logs);
    // Memory moves rows that are not told of it: count anew.
    residuals.copy_from_slice(&problem.residuals(constants));
    *loss = problem.loss(residuals, logs);
    *loss < before
}

/// Left and right side of the damped step, in which a residual past [`HUBER`] counts less.
fn normal_equations(
    problem: &Problem<'_>,
    constants: &ServingConstants,
    logs: &[f64],
    residuals: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let n = logs.len();
    let weight: Vec<f64> = residuals
        .iter()
        .zip(&problem.weights)
        .map(|(r, w)| w * (HUBER / r.abs().max(HUBER)))
        .collect();
    // Derivatives by row, only of constants that can move it.
    let mut by_row: Vec<Vec<(usize, f64)>> = vec![Vec::new(); residuals.len()];
    let mut nudged = logs.to_vec();
    for j in 0..n {
        nudged[j] = logs[j] + NUDGE;
        let mut with = constants.clone();
        set(&mut with, &nudged);
        nudged[j] = logs[j];
        for &i in &problem.movable[j] {
            let slope = (problem.runs[i].residual(&with) - residuals[i]) / NUDGE;
            if slope != 0.0 {
                by_row[i].push((j, slope));
            }
        }
    }
    let mut matrix = vec![0.0; n * n];
    let mut gradient = vec![0.0; n];
    for (i, row) in by_row.iter().enumerate() {
        for &(a, slope_a) in row {
            gradient[a] -= weight[i] * slope_a * residuals[i];
            for &(b, slope_b) in row {
                matrix[a * n + b] += weight[i] * slope_a * slope_b;
            }
        }
    }
    for j in 0..n {
        matrix[j * n + j] += problem.pulls[j];
        gradient[j] -= problem.pulls[j] * (logs[j] - problem.defaults[j]);
    }
    (matrix, gradient)
}

/// Solves a positive definite system by Cholesky's factors; `None` where it is not.
fn solve(mut a: Vec<f64>, b: &[f64], n: usize) -> Option<Vec<f64>> {
    for j in 0..n {
        let mut pivot = a[j * n + j];
        for k in 0..j {
            pivot -= a[j * n + k] * a[j * n + k];
        }
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        let pivot = pivot.sqrt();
        a[j * n + j] = pivot;
        for i in j + 1..n {
            let mut sum = a[i * n + j];
            for k in 0..j {
                sum -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = sum / pivot;
        }
    }
    let mut x = b.to_vec();
    for i in 0..n {
        for k in 0..i {
            x[i] -= a[i * n + k] * x[k];
        }
        x[i] /= a[i * n + i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= a[k * n + i] * x[k];
        }
        x[i] /= a[i * n + i];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_system_is_solved() {
        // 4x + 2y = 10, 2x + 3y = 9: x = 1.5, y = 2.
        let x = solve(vec![4.0, 2.0, 2.0, 3.0], &[10.0, 9.0], 2);
        assert!(x.is_some_and(|x| (x[0] - 1.5).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12));
        assert_eq!(solve(vec![-1.0], &[1.0], 1), None);
    }

    #[test]
    fn constants_survive_the_way_to_logarithms_and_back() {
        let mut constants = ServingConstants::default();
        let logs = values(&constants);
        set(&mut constants, &logs);
        for (a, b) in values(&constants).iter().zip(&logs) {
            assert!((a - b).abs() < 1e-12);
        }
    }
}
