//! What the estimator says of a measured inference row.
//!
//! What a row states is taken; what it leaves open gets its engine's default. Nothing is searched,
//! and nothing depends on which row or source it is: only on engine, metric and what the notes say
//! of how the figure was counted.

mod layout;
mod model;
mod run;
mod words;

pub use run::{ServingRun, serving_run};

use super::{InferenceRow, Judged};
use crate::catalog::Catalog;
use crate::estimate::serving::ServingConstants;

/// Estimates what `row` measured, in its own metric and unit.
pub fn judge_inference(
    row: &InferenceRow,
    catalog: &Catalog,
    constants: &ServingConstants,
) -> Judged {
    match serving_run(row, catalog) {
        Ok(run) => Judged::Used {
            estimate: run.estimate(constants),
            fits: run.fits(constants),
        },
        Err(reason) => Judged::unused(reason),
    }
}
