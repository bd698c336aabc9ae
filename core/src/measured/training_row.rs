//! What the estimator says of a measured training row.

use super::{Judged, TrainingRow};
use crate::catalog::Catalog;
use crate::estimate::training::TrainingConstants;

/// Estimates what `row` measured, in its own metric and unit.
pub fn judge_training(
    _row: &TrainingRow,
    _catalog: &Catalog,
    _constants: &TrainingConstants,
) -> Judged {
    Judged::unused("not estimated yet")
}
