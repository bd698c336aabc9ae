//! Fits the serving estimator's constants.
//!
//! ```text
//! rows -> runs -> residuals ln(measured / estimate) -> damped least squares over ln(constants),
//! Huber loss, sources balanced, each constant pulled towards its default
//! ```
//!
//! A constant that the rows do not speak of stays at its default, so that leaving a source out
//! never leaves a constant free.

mod residuals;
mod solve;

use cardfit::catalog::Catalog;
use cardfit::estimate::serving::ServingConstants;
use cardfit::measured::{InferenceRow, ServingRun, serving_run, source_of};

use crate::Fitted;
use crate::sources::leave_one_source_out;

/// A measured run.
pub struct Measured {
    /// Short name of its source.
    pub source: String,
    /// The run.
    pub run: ServingRun,
    /// Measured value, in the row's unit.
    pub value: f64,
    /// Metric and engine, with which its group on the accuracy page is named beside the card's family.
    pub judged_as: (String, String),
}

impl Measured {
    /// Logarithm of measured over estimated speed (or memory).
    pub fn residual(&self, constants: &ServingConstants) -> f64 {
        self.run
            .residual(self.value, self.run.mid(constants))
            .max(1e-9)
            .ln()
    }
}

/// The rows that the estimator can be asked about, as runs.
pub fn measured_runs(rows: &[InferenceRow], catalog: &Catalog) -> Vec<Measured> {
    rows.iter()
        .filter(|row| row.problems.is_empty() && !row.suspect.eq_ignore_ascii_case("yes"))
        .filter_map(|row| {
            let value = row.value.filter(|v| *v > 0.0)?;
            let run = serving_run(row, catalog).ok()?;
            Some(Measured {
                source: source_of(&row.id).to_owned(),
                run,
                value,
                judged_as: (
                    row.metric.clone(),
                    row.engine
                        .split_whitespace()
                        .next()
                        .unwrap_or_default()
                        .to_owned(),
                ),
            })
        })
        .collect()
}

/// Fits on `rows`, once on all and once without each source. Ranges come from each source's
/// residuals against the fit that has not seen it.
pub fn fit(rows: &[InferenceRow], catalog: &Catalog) -> Fitted<ServingConstants> {
    let runs = measured_runs(rows, catalog);
    let mut fitted = leave_one_source_out(
        &runs,
        |run: &Measured| run.source.as_str(),
        |runs, start: Option<&ServingConstants>| solve::fit(runs, start),
    );
    let spread = residuals::spread(&runs, &fitted);
    let provenance = format!(
        "Fitted on {} measured results of {} sources by `cargo xtask calibrate`; ranges from \
         residuals of each source against a fit without it.",
        runs.len(),
        fitted.without.len()
    );
    fitted.all.spread = spread;
    fitted.all.provenance = provenance;
    fitted
}
