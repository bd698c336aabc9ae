//! Constants fitted without one source each, for figures of leave-one-source-out.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::ConstantsFor;
use crate::estimate::serving::ServingConstants;
use crate::estimate::training::TrainingConstants;

/// One set of constants a source, fitted on all rows but that source's, and one set fitted on
/// all rows for sources that no fit has seen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Folds {
    /// Training constants by the source that their fit did not see.
    pub training: BTreeMap<String, TrainingConstants>,
    /// Serving constants by the source that their fit did not see.
    pub serving: BTreeMap<String, ServingConstants>,
    /// Training constants for any other source.
    pub training_all: TrainingConstants,
    /// Serving constants for any other source.
    pub serving_all: ServingConstants,
}

impl Folds {
    /// The folds that ship with the product, read once; written by `cargo xtask calibrate`.
    /// Only the command line reads them, so they add nothing to the page.
    pub fn embedded() -> &'static Self {
        static FOLDS: OnceLock<Folds> = OnceLock::new();
        FOLDS.get_or_init(|| Folds {
            training: serde_json::from_str(include_str!(
                "../../data/calibration/training_folds.json"
            ))
            .unwrap_or_default(),
            serving: serving_folds(),
            training_all: TrainingConstants::embedded().clone(),
            serving_all: ServingConstants::embedded().clone(),
        })
    }
}

/// Serving constants without each source. Ranges are one source's residuals against the fit
/// without it, so all folds share the shipped ones and the file does not repeat them.
fn serving_folds() -> BTreeMap<String, ServingConstants> {
    let mut folds: BTreeMap<String, ServingConstants> =
        serde_json::from_str(include_str!("../../data/calibration/serving_folds.json"))
            .unwrap_or_default();
    for constants in folds.values_mut() {
        constants.spread = ServingConstants::embedded().spread.clone();
    }
    folds
}

impl ConstantsFor for Folds {
    fn training(&self, source: &str) -> &TrainingConstants {
        self.training.get(source).unwrap_or(&self.training_all)
    }

    fn serving(&self, source: &str) -> &ServingConstants {
        self.serving.get(source).unwrap_or(&self.serving_all)
    }
}
