//! Constants fitted without one source each, for figures of leave-one-source-out.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::ConstantsFor;
use crate::estimate::diffusion::DiffusionConstants;
use crate::estimate::serving::ServingConstants;
use crate::estimate::training::TrainingConstants;
use crate::estimate::vision::VisionConstants;

/// One set of constants a source, fitted on all rows but that source's, and one set fitted on
/// all rows for sources that no fit has seen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Folds {
    /// Training constants by the source that their fit did not see.
    pub training: BTreeMap<String, TrainingConstants>,
    /// Serving constants by the source that their fit did not see.
    pub serving: BTreeMap<String, ServingConstants>,
    /// Constants of images and clips by the source that their fit did not see.
    pub diffusion: BTreeMap<String, DiffusionConstants>,
    /// Constants of networks and speech by the source that their fit did not see.
    pub vision: BTreeMap<String, VisionConstants>,
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
            diffusion: diffusion_folds(),
            vision: vision_folds(),
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

/// The same of images and clips.
fn diffusion_folds() -> BTreeMap<String, DiffusionConstants> {
    let mut folds: BTreeMap<String, DiffusionConstants> =
        serde_json::from_str(include_str!("../../data/calibration/diffusion_folds.json"))
            .unwrap_or_default();
    for constants in folds.values_mut() {
        constants.spread = DiffusionConstants::embedded().spread.clone();
    }
    folds
}

/// The same of networks and speech.
fn vision_folds() -> BTreeMap<String, VisionConstants> {
    let mut folds: BTreeMap<String, VisionConstants> =
        serde_json::from_str(include_str!("../../data/calibration/vision_folds.json"))
            .unwrap_or_default();
    for constants in folds.values_mut() {
        constants.spread = VisionConstants::embedded().spread.clone();
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

    fn diffusion(&self, source: &str) -> &DiffusionConstants {
        let fold = self.diffusion.get(source);
        fold.unwrap_or_else(|| DiffusionConstants::embedded())
    }

    fn vision(&self, source: &str) -> &VisionConstants {
        let fold = self.vision.get(source);
        fold.unwrap_or_else(|| VisionConstants::embedded())
    }
}
