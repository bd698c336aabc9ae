//! Downhill simplex (Nelder and Mead 1965) over the logarithms of positive parameters, with the
//! dimension-dependent coefficients of Gao and Han (2012) and restarts from the best point.

/// One positive parameter and where it may lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Name, for messages.
    pub name: &'static str,
    /// Where the search starts.
    pub start: f64,
    /// Lower bound, above 0.
    pub low: f64,
    /// Upper bound; equal to `low` for a parameter that is held.
    pub high: f64,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Evaluations of the loss in all.
    pub max_evaluations: usize,
    /// Size of the first simplex, in natural logarithms (0.1 is about 10 %).
    pub step: f64,
    /// A simplex smaller than this in every logarithm has converged.
    pub tolerance: f64,
    /// Restarts from the best point; they stop early once one gains nothing.
    pub restarts: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_evaluations: 20_000,
            step: 0.15,
            tolerance: 1e-4,
            restarts: 4,
        }
    }
}

/// Where the search ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// Values of the parameters, in their order.
    pub values: Vec<f64>,
    /// Loss there.
    pub loss: f64,
    /// Evaluations used.
    pub evaluations: usize,
    /// Whether the simplex shrank below the tolerance.
    pub converged: bool,
}

#[derive(Clone)]
struct Vertex {
    at: Vec<f64>,
    loss: f64,
}

/// The search's view of the loss: free parameters by their logarithm, kept in bounds.
struct Problem<'a, F> {
    parameters: &'a [Parameter],
    free: Vec<usize>,
    loss: F,
    evaluations: usize,
}

impl<F: FnMut(&[f64]) -> f64> Problem<'_, F> {
    fn values(&self, at: &[f64]) -> Vec<f64> {
        let mut values: Vec<f64> = self.parameters.iter().map(|p| p.low).collect();
        for (&index, log) in self.free.iter().zip(at) {
            values[index] = log
                .exp()
                .clamp(self.parameters[index].low, self.parameters[index].high);
        }
        values
    }

    fn vertex(&mut self, mut at: Vec<f64>) -> Vertex {
        for (&index, log) in self.free.iter().zip(&mut at) {
            let parameter = &self.parameters[index];
            *log = log.clamp(parameter.low.ln(), parameter.high.ln());
        }
        let values = self.values(&at);
        self.evaluations += 1;
        let loss = (self.loss)(&values);
        // A loss that is no number is worse than any.
        let loss = if loss.is_nan() { f64::INFINITY } else { loss };
        Vertex { at, loss }
    }

    fn simplex(&mut self, centre: &[f64], step: f64) -> Vec<Vertex> {
        let mut simplex = vec![self.vertex(centre.to_vec())];
        for (axis, &index) in self.free.clone().iter().enumerate() {
            let mut at = centre.to_vec();
            // Away from the upper bound where the start is too close to it.
            let up = at[axis] + step <= self.parameters[index].high.ln();
            at[axis] += if up { step } else { -step };
            simplex.push(self.vertex(at));
        }
        simplex
    }
}

/// Looks for the parameters with the least `loss`. Deterministic. A loss of NaN counts as
/// infinite.
pub fn minimise(
    parameters: &[Parameter],
    options: &Options,
    loss: impl FnMut(&[f64]) -> f64,
) -> Minimum {
    let free: Vec<usize> = (0..parameters.len())
        .filter(|&i| parameters[i].high > parameters[i].low)
        .collect();
    let mut centre: Vec<f64> = free
        .iter()
        .map(|&i| {
            let p = &parameters[i];
            p.start.clamp(p.low, p.high).ln()
        })
        .collect();
    let mut problem = Problem {
        parameters,
        free,
        loss,
        evaluations: 0,
    };
    let mut best = problem.vertex(centre.clone());
    let mut converged = problem.free.is_empty();
    if !problem.free.is_empty() {
        for round in 0..=options.restarts {
            // A smaller, turned simplex each time, so that a collapsed one opens again.
            let sign = if round % 2 == 0 { 1.0 } else { -1.0 };
            let step = sign * options.step / (1.0 + round as f64);
            let simplex = problem.simplex(&centre, step);
            let (found, shrunk) = descend(&mut problem, simplex, options);
            converged = shrunk;
            let gain = best.loss - found.loss;
            if found.loss < best.loss {
                best = found;
                centre.clone_from(&best.at);
            }
            let enough = gain <= 1e-6 * best.loss.abs().max(1e-12);
            if (round > 0 && enough) || problem.evaluations >= options.max_evaluations {
                break;
            }
        }
    }
    Minimum {
        values: problem.values(&best.at),
        loss: best.loss,
        evaluations: problem.evaluations,
        converged,
    }
}

/// One descent; the best vertex, and whether the simplex became smaller than the tolerance.
fn descend<F: FnMut(&[f64]) -> f64>(
    problem: &mut Problem<'_, F>,
    mut simplex: Vec<Vertex>,
    options: &Options,
) -> (Vertex, bool) {
    let n = (simplex.len() - 1) as f64;
    let (expand, contract, shrink) = if n < 2.0 {
        (2.0, 0.5, 0.5)
    } else {
        (1.0 + 2.0 / n, 0.75 - 0.5 / n, 1.0 - 1.0 / n)
    };
    let along = |from: &[f64], to: &[f64], by: f64| -> Vec<f64> {
        from.iter().zip(to).map(|(f, t)| f + by * (t - f)).collect()
    };
    loop {
        // A stable sort: equal losses keep their order, whatever the machine.
        simplex.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        let (first, last) = (0, simplex.len() - 1);
        let size = simplex[1..]
            .iter()
            .flat_map(|v| v.at.iter().zip(&simplex[first].at))
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        if size <= options.tolerance {
            return (simplex.swap_remove(first), true);
        }
        if problem.evaluations >= options.max_evaluations {
            return (simplex.swap_remove(first), false);
        }
        let centroid: Vec<f64> = (0..simplex[first].at.len())
            .map(|axis| simplex[..last].iter().map(|v| v.at[axis]).sum::<f64>() / n)
            .collect();
        let worst = simplex[last].clone();
        let reflected = problem.vertex(along(&centroid, &worst.at, -1.0));
        let kept = if reflected.loss < simplex[first].loss {
            let expanded = problem.vertex(along(&centroid, &worst.at, -expand));
            Some(if expanded.loss < reflected.loss {
                expanded
            } else {
                reflected
            })
        } else if reflected.loss < simplex[last - 1].loss {
            Some(reflected)
        } else {
            let (towards, limit) = if reflected.loss < worst.loss {
                (-contract, reflected.loss)
            } else {
                (contract, worst.loss)
            };
            let contracted = problem.vertex(along(&centroid, &worst.at, towards));
            (contracted.loss < limit).then_some(contracted)
        };
        match kept {
            Some(vertex) => simplex[last] = vertex,
            None => {
                let best = simplex[first].at.clone();
                for vertex in &mut simplex[1..] {
                    *vertex = problem.vertex(along(&best, &vertex.at, shrink));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(start: f64) -> Parameter {
        Parameter {
            name: "p",
            start,
            low: 1e-3,
            high: 1e3,
        }
    }

    #[test]
    fn finds_the_bottom_of_a_bowl_in_logarithms() {
        let wanted = [0.5_f64, 20.0, 3.0];
        let found = minimise(&[free(1.0); 3], &Options::default(), |p| {
            p.iter()
                .zip(&wanted)
                .map(|(p, w)| (p / w).ln().powi(2))
                .sum()
        });
        assert!(found.converged);
        for (value, wanted) in found.values.iter().zip(&wanted) {
            assert!((value / wanted - 1.0).abs() < 1e-3, "{found:?}");
        }
    }

    #[test]
    fn follows_a_bent_valley() {
        // Rosenbrock's valley; its bottom is at (1, 1).
        let found = minimise(&[free(0.2), free(3.0)], &Options::default(), |p| {
            (1.0 - p[0]).powi(2) + 100.0 * (p[1] - p[0] * p[0]).powi(2)
        });
        assert!((found.values[0] - 1.0).abs() < 1e-2, "{found:?}");
        assert!((found.values[1] - 1.0).abs() < 1e-2, "{found:?}");
    }

    #[test]
    fn finds_a_minimum_in_twelve_dimensions() {
        let found = minimise(&[free(1.0); 12], &Options::default(), |p| {
            p.iter()
                .enumerate()
                .map(|(i, p)| (p / (1.0 + i as f64)).ln().abs())
                .sum()
        });
        for (i, value) in found.values.iter().enumerate() {
            assert!((value / (1.0 + i as f64) - 1.0).abs() < 0.02, "{found:?}");
        }
    }

    #[test]
    fn stays_in_bounds_and_leaves_held_parameters_alone() {
        let bounded = Parameter {
            name: "bounded",
            start: 1.0,
            low: 0.5,
            high: 2.0,
        };
        let held = Parameter {
            name: "held",
            start: 9.0,
            low: 7.0,
            high: 7.0,
        };
        let mut seen = Vec::new();
        let found = minimise(&[bounded, held], &Options::default(), |p| {
            seen.push((p[0], p[1]));
            (p[0] / 10.0).ln().powi(2)
        });
        assert!((found.values[0] - 2.0).abs() < 1e-3, "{found:?}");
        assert!(
            seen.iter()
                .all(|(b, h)| (0.5..=2.0).contains(b) && (h - 7.0).abs() < 1e-12)
        );
    }

    #[test]
    fn a_loss_that_is_no_number_is_walked_around() {
        let found = minimise(&[free(1.0)], &Options::default(), |p| {
            if p[0] > 4.0 {
                f64::NAN
            } else {
                (p[0] / 3.0).ln().powi(2)
            }
        });
        assert!((found.values[0] - 3.0).abs() < 1e-2);
    }

    #[test]
    fn nothing_to_fit_is_evaluated_once() {
        let found = minimise(&[], &Options::default(), |_| 5.0);
        assert_eq!((found.evaluations, found.converged), (1, true));
        assert!((found.loss - 5.0).abs() < 1e-12);
    }
}
