//! Fitted constants of the serving estimator, read from `core/data/calibration/serving.json`, which
//! `cargo xtask calibrate` writes.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// Constants of the serving estimator.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ServingConstants {}

impl ServingConstants {
    /// The constants that ship with the product, read once.
    pub fn embedded() -> &'static Self {
        static CONSTANTS: OnceLock<ServingConstants> = OnceLock::new();
        CONSTANTS.get_or_init(|| {
            serde_json::from_str(include_str!("../../../data/calibration/serving.json"))
                .unwrap_or_default()
        })
    }
}
