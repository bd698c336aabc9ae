//! What the estimator says of a measured inference row.

use super::{InferenceRow, Judged};
use crate::catalog::Catalog;
use crate::estimate::serving::ServingConstants;

/// Estimates what `row` measured, in its own metric and unit.
pub fn judge_inference(
    _row: &InferenceRow,
    _catalog: &Catalog,
    _constants: &ServingConstants,
) -> Judged {
    Judged::unused("not estimated yet")
}
