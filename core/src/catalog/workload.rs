//! Kinds of scientific computing, by what they ask of a card.

use serde::{Deserialize, Serialize};

use crate::packed::Aside;

/// One kind of computation: what a roofline needs to know of it (Williams et al. 2009).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Stable id used in links.
    pub id: String,
    /// Name.
    pub name: String,
    /// Name in Chinese.
    pub name_zh: String,
    /// Other names people type.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Floating-point operations for one byte that is read or written.
    pub flops_per_byte: f64,
    /// Operations of a usual job.
    pub operations: f64,
    /// Bytes that must be held.
    pub working_set_bytes: f64,
    /// Usual precision.
    pub precision: FloatPrecision,
    /// Its inner loops are matrix products, which matrix units take where they know the format.
    pub matrix_products: bool,
    /// Share of the units' peak that good codes of this kind reach where arithmetic is the limit.
    pub of_peak: f64,
    /// Share of memory bandwidth that they reach where memory is the limit.
    pub of_bandwidth: f64,
    /// Bytes exchanged with another card for one byte of the working set and one pass over it.
    pub halo: f64,
    /// Where the figures come from.
    pub source: Aside,
}

/// Floating-point format of scientific computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FloatPrecision {
    /// Double precision.
    Fp64,
    /// Single precision.
    Fp32,
}
