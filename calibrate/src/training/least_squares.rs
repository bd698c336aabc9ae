//! Robust least squares with priors: Levenberg-Marquardt (Levenberg 1944, Marquardt 1963) on
//! Huber-weighted residuals over the logarithms of positive parameters.
//!
//! Every source has an offset of its own beside the parameters, drawn to 0: how its authors
//! measured and tuned is not the estimator's to learn, and a source may be off as a whole. What one
//! source's rows say of each other then decides the form, and the level is what most agree on.

/// One fitted parameter, by its logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Free {
    /// Where the search starts.
    pub start: f64,
    /// What is believed before any row, and how firmly: a standard deviation in the logarithm.
    pub prior: f64,
    /// The deviation.
    pub width: f64,
    /// Lower bound, above 0.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Parameters that say the same of different software or hardware and are drawn to their mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// Their places.
    pub members: Vec<usize>,
    /// Deviation between relatives, in the logarithm.
    pub width: f64,
}

/// What is known of the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Vote of each row.
    pub weights: Vec<f64>,
    /// Source of each row, numbered from 0.
    pub sources: Vec<usize>,
    /// Deviation of a row within its source.
    pub noise: f64,
    /// Deviation between sources.
    pub between: f64,
}

/// Deviations beyond which a residual pulls no harder.
const HUBER: f64 = 1.5;
/// Step of the numerical derivative, in the logarithm.
const STEP: f64 = 1e-3;

/// Finds the parameters under which `residuals` (one a row, in natural logarithms) fit best.
/// Deterministic.
pub fn fit(
    free: &[Free],
    families: &[Family],
    rows: &Rows,
    rounds: usize,
    mut residuals: impl FnMut(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let sources = rows.sources.iter().max().map_or(0, |m| m + 1);
    let n = free.len();
    let problem = Problem {
        free,
        families,
        rows,
    };
    // Logarithms of the parameters, then the sources' offsets.
    let mut at: Vec<f64> = free
        .iter()
        .map(|f| f.start.clamp(f.low, f.high).ln())
        .chain(std::iter::repeat_n(0.0, sources))
        .collect();
    let values = |at: &[f64]| -> Vec<f64> { at[..n].iter().map(|x| x.exp()).collect() };
    let mut here = residuals(&values(&at));
    let mut loss = problem.loss(&at, &here);
    let mut damping = 1e-2;
    for _ in 0..rounds {
        let columns: Vec<Vec<f64>> = (0..n)
            .map(|k| {
                let mut moved = at.clone();
                // Away from a bound that is too close.
                let step = if moved[k] + STEP > free[k].high.ln() {
                    -STEP
                } else {
                    STEP
                };
                moved[k] += step;
                residuals(&values(&moved))
                    .iter()
                    .zip(&here)
                    .map(|(there, here)| (there - here) / step)
                    .collect()
            })
            .collect();
        let (matrix, gradient) = problem.normal(&at, &here, &columns);
        let mut improved = false;
        for _ in 0..8 {
            let mut trial = at.clone();
            for (x, dx) in trial.iter_mut().zip(solve(&matrix, &gradient, damping)) {
                *x -= dx.clamp(-0.7, 0.7);
            }
            for (x, f) in trial.iter_mut().zip(free) {
                *x = x.clamp(f.low.ln(), f.high.ln());
            }
            let there = residuals(&values(&trial));
            let trial_loss = problem.loss(&trial, &there);
            if trial_loss < loss {
                improved = loss - trial_loss > 1e-6 * loss;
                at = trial;
                here = there;
                loss = trial_loss;
                damping = (damping * 0.3).max(1e-7);
                break;
            }
            damping *= 5.0;
        }
        if !improved {
            break;
        }
    }
    values(&at)
}

struct Problem<'a> {
    free: &'a [Free],
    families: &'a [Family],
    rows: &'a Rows,
}

impl Problem<'_> {
    /// Offset-corrected residual of row `i`, in deviations.
    fn scaled(&self, at: &[f64], residuals: &[f64], i: usize) -> f64 {
        (residuals[i] + at[self.free.len() + self.rows.sources[i]]) / self.rows.noise
    }

    fn loss(&self, at: &[f64], residuals: &[f64]) -> f64 {
        let n = self.free.len();
        let rows: f64 = (0..residuals.len())
            .map(|i| self.rows.weights[i] * huber(self.scaled(at, residuals, i)))
            .sum();
        let priors: f64 = self
            .free
            .iter()
            .zip(at)
            .map(|(f, x)| 0.5 * ((x - f.prior.ln()) / f.width).powi(2))
            .sum();
        let offsets: f64 = at[n..].iter().map(|b| huber(b / self.rows.between)).sum();
        let families: f64 = self
            .families
            .iter()
            .map(|family| {
                let mean = mean(family, at);
                family
                    .members
                    .iter()
                    .map(|&k| 0.5 * ((at[k] - mean) / family.width).powi(2))
                    .sum::<f64>()
            })
            .sum();
        rows + priors + offsets + families
    }

    /// Normal matrix and gradient.
    fn normal(
        &self,
        at: &[f64],
        residuals: &[f64],
        columns: &[Vec<f64>],
    ) -> (Vec<Vec<f64>>, Vec<f64>) {
        let n = self.free.len();
        let size = at.len();
        let mut matrix = vec![vec![0.0; size]; size];
        let mut gradient = vec![0.0; size];
        let noise = self.rows.noise;
        for (i, vote) in self.rows.weights.iter().enumerate() {
            let r = self.scaled(at, residuals, i);
            let weight = vote * pull(r);
            let offset = n + self.rows.sources[i];
            let row: Vec<(usize, f64)> = (0..n)
                .map(|k| (k, columns[k][i]))
                .filter(|(_, d)| *d != 0.0)
                .chain([(offset, 1.0)])
                .map(|(k, d)| (k, d / noise))
                .collect();
            for &(a, da) in &row {
                gradient[a] += weight * da * r;
                for &(b, db) in &row {
                    matrix[a][b] += weight * da * db;
                }
            }
        }
        for (k, f) in self.free.iter().enumerate() {
            let precision = f.width.powi(-2);
            matrix[k][k] += precision;
            gradient[k] += precision * (at[k] - f.prior.ln());
        }
        for k in n..size {
            let precision = self.rows.between.powi(-2) * pull(at[k] / self.rows.between);
            matrix[k][k] += precision;
            gradient[k] += precision * at[k];
        }
        for family in self.families {
            let mean = mean(family, at);
            let precision = family.width.powi(-2);
            let count = family.members.len() as f64;
            for &a in &family.members {
                gradient[a] += precision * (at[a] - mean);
                matrix[a][a] += precision;
                for &b in &family.members {
                    matrix[a][b] -= precision / count;
                }
            }
        }
        (matrix, gradient)
    }
}

/// Huber's loss (1964) of `r` deviations.
fn huber(r: f64) -> f64 {
    let size = r.abs();
    if size <= HUBER {
        0.5 * size * size
    } else {
        HUBER * (size - 0.5 * HUBER)
    }
}

/// Weight of a residual of `r` deviations in the normal equations.
fn pull(r: f64) -> f64 {
    (HUBER / r.abs().max(1e-12)).min(1.0)
}

fn mean(family: &Family, at: &[f64]) -> f64 {
    family.members.iter().map(|&k| at[k]).sum::<f64>() / family.members.len().max(1) as f64
}

/// Solves `(matrix + damping * diagonal) x = right` by Cholesky's decomposition.
fn solve(matrix: &[Vec<f64>], right: &[f64], damping: f64) -> Vec<f64> {
    let n = right.len();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let mut sum = matrix[i][j];
            if i == j {
                sum += damping * matrix[i][i] + 1e-12;
            }
            sum -= (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j {
                sum.max(1e-12).sqrt()
            } else {
                sum / l[j][j]
            };
        }
    }
    let mut y = vec![0.0; n];
    for i in 0..n {
        let done: f64 = (0..i).map(|k| l[i][k] * y[k]).sum();
        y[i] = (right[i] - done) / l[i][i];
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let done: f64 = (i + 1..n).map(|k| l[k][i] * x[k]).sum();
        x[i] = (y[i] - done) / l[i][i];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(prior: f64, width: f64) -> Free {
        Free {
            start: prior,
            prior,
            width,
            low: 1e-6,
            high: 1e6,
        }
    }

    #[test]
    fn a_power_law_is_found_again() {
        // ln y = ln a + b ln x, with b the second parameter itself.
        let xs = [1.0, 2.0, 4.0, 8.0, 16.0];
        let rows = Rows {
            weights: vec![1.0; 5],
            sources: vec![0, 0, 1, 1, 2],
            noise: 0.01,
            between: 0.01,
        };
        let found = fit(&[free(1.0, 10.0), free(0.5, 10.0)], &[], &rows, 50, |p| {
            xs.iter()
                .map(|x: &f64| p[0].ln() + p[1] * x.ln() - (3.0_f64.ln() + 2.0 * x.ln()))
                .collect()
        });
        assert!(
            (found[0] - 3.0).abs() < 1e-2 && (found[1] - 2.0).abs() < 1e-3,
            "{found:?}"
        );
    }

    #[test]
    fn many_rows_of_one_source_do_not_outvote_the_others() {
        // One source of 100 rows says e, three sources of 2 rows say 1.
        let mut sources = vec![0; 100];
        sources.extend([1, 1, 2, 2, 3, 3]);
        let targets: Vec<f64> = sources
            .iter()
            .map(|s| if *s == 0 { 1.0 } else { 0.0 })
            .collect();
        let rows = Rows {
            weights: vec![1.0; sources.len()],
            sources,
            noise: 0.1,
            between: 0.5,
        };
        let found = fit(&[free(1.5, 10.0)], &[], &rows, 50, |p| {
            targets.iter().map(|t| p[0].ln() - t).collect()
        });
        assert!(found[0].ln() < 0.35, "{found:?}");
    }

    #[test]
    fn what_no_row_tells_follows_its_relatives() {
        let rows = Rows {
            weights: vec![1.0; 4],
            sources: vec![0, 1, 2, 3],
            noise: 0.05,
            between: 0.05,
        };
        let family = Family {
            members: vec![0, 1],
            width: 0.1,
        };
        let found = fit(
            &[free(1.0, 1.0), free(1.0, 1.0)],
            &[family],
            &rows,
            50,
            |p| vec![p[0].ln() - 0.5; 4],
        );
        assert!((found[0].ln() - 0.5).abs() < 0.05);
        assert!((found[1].ln() - found[0].ln()).abs() < 0.1);
    }
}
