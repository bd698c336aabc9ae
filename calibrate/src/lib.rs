//! Fits the estimator's constants on the measured results.
//!
//! ```text
//! measured rows -> residuals of ln(estimate / measured) -> robust loss, one vote a source
//!               -> simplex search over log-parameters -> constants, and one set a left-out source
//! ```
//!
//! Everything is deterministic: the same rows give the same files, byte for byte.

pub mod loss;
pub mod minimise;
pub mod serving;
pub mod sources;
pub mod training;
pub mod work;
pub mod write;

use std::collections::BTreeMap;

/// Constants fitted on all rows, and on all rows but those of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted<C> {
    /// Fitted on all rows.
    pub all: C,
    /// By the source that was left out.
    pub without: BTreeMap<String, C>,
}
