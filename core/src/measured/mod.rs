//! Measured results: rows in the form of `core/data/measured/*.csv`, what the estimator says of
//! each, and how far off it is.
//!
//! A row says how its job was run, so nothing is searched here: what the row states is taken,
//! and what it leaves open gets the default of its engine or framework.

pub mod accuracy;
mod folds;
mod inference_row;
pub mod own;
pub mod points;
mod read;
pub mod report;
mod row;
mod runs;
mod training_row;
mod work_row;

pub use folds::Folds;
pub use inference_row::{ServingRun, judge_inference, serving_run};
pub use read::{FileError, MeasuredFile};
pub use row::{InferenceRow, TrainingRow, source_of};
pub use runs::{PublishedRun, RunMetric, runs};
pub use training_row::{TrainingCase, judge_training};
pub use work_row::{WorkCase, is_work};

use crate::catalog::Catalog;
use crate::estimate::diffusion::DiffusionConstants;
use crate::estimate::serving::ServingConstants;
use crate::estimate::training::TrainingConstants;
use crate::estimate::vision::VisionConstants;
use crate::range::Range;

/// What the estimator says of one row.
#[derive(Debug, Clone, PartialEq)]
pub enum Judged {
    /// It has an estimate.
    Used {
        /// Estimate in the row's own metric and unit.
        estimate: Range,
        /// Memory rows on a known card: whether the card would be shown as fitting, that is,
        /// whether the upper end of what is needed fits in what software can allocate. `None`
        /// for other metrics.
        fits: Option<bool>,
    },
    /// It has none.
    Unused {
        /// Why, in a few words that are the same for every row with this fault.
        reason: String,
    },
}

impl Judged {
    /// No estimate, for `reason`.
    pub fn unused(reason: impl Into<String>) -> Self {
        Self::Unused {
            reason: reason.into(),
        }
    }
}

/// The measured training results that ship with the product.
pub const TRAINING_CSV: &str = include_str!("../../data/measured/training.csv");
/// The measured inference results that ship with the product.
pub const INFERENCE_CSV: &str = include_str!("../../data/measured/inference.csv");

/// A row with what was measured, what is estimated, and the group it is counted in.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Row's id.
    pub id: String,
    /// Metric.
    pub metric: String,
    /// Kind of job: the row's task.
    pub kind: String,
    /// Architecture of the card; `unknown card` where the catalog does not have it.
    pub family: String,
    /// Engine, without version and options; `-` for training and where the source does not say.
    pub engine: String,
    /// Measured value.
    pub measured: Option<f64>,
    /// The source says that the run had no memory left.
    pub ran_out_of_memory: bool,
    /// Estimate, or why there is none.
    pub judged: Judged,
}

/// Constants of both estimators for one row: those fitted on everything, or those fitted without
/// the row's own source.
pub trait ConstantsFor {
    /// For a training row of `source`.
    fn training(&self, source: &str) -> &TrainingConstants;
    /// For an inference row of `source`.
    fn serving(&self, source: &str) -> &ServingConstants;
    /// For a row of `source` about images or clips.
    fn diffusion(&self, source: &str) -> &DiffusionConstants;
    /// For a row of `source` about networks or speech.
    fn vision(&self, source: &str) -> &VisionConstants;
}

/// The constants that ship with the product, for every row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shipped;

impl ConstantsFor for Shipped {
    fn training(&self, _source: &str) -> &TrainingConstants {
        TrainingConstants::embedded()
    }

    fn serving(&self, _source: &str) -> &ServingConstants {
        ServingConstants::embedded()
    }

    fn diffusion(&self, _source: &str) -> &DiffusionConstants {
        DiffusionConstants::embedded()
    }

    fn vision(&self, _source: &str) -> &VisionConstants {
        VisionConstants::embedded()
    }
}

/// Judges every row of a file, in its order.
pub fn judge(file: &MeasuredFile, catalog: &Catalog, constants: &dyn ConstantsFor) -> Vec<Verdict> {
    match file {
        MeasuredFile::Training(rows) => rows
            .iter()
            .map(|row| {
                let facts = Facts {
                    problems: &row.problems,
                    suspect: &row.suspect,
                    value: row.value,
                    metric: &row.metric,
                    ran_out_of_memory: row.ran_out_of_memory(),
                };
                let judged = facts.judge(|| match is_work(&row.task) {
                    true => judge_work(WorkCase::of_training(row, catalog), constants),
                    false => judge_training(row, catalog, constants.training(row.source_name())),
                });
                verdict(&row.id, &row.task, &row.card, "", &facts, judged, catalog)
            })
            .collect(),
        MeasuredFile::Inference(rows) => rows
            .iter()
            .map(|row| {
                let facts = Facts {
                    problems: &row.problems,
                    suspect: &row.suspect,
                    value: row.value,
                    metric: &row.metric,
                    ran_out_of_memory: row.ran_out_of_memory(),
                };
                let judged = facts.judge(|| match is_work(&row.task) {
                    true => judge_work(WorkCase::of_inference(row, catalog), constants),
                    false => judge_inference(row, catalog, constants.serving(row.source_name())),
                });
                verdict(
                    &row.id,
                    &row.task,
                    &row.card,
                    &row.engine,
                    &facts,
                    judged,
                    catalog,
                )
            })
            .collect(),
    }
}

fn judge_work(case: Result<WorkCase<'_>, &'static str>, constants: &dyn ConstantsFor) -> Judged {
    match case {
        Ok(case) => case.judge(
            constants.diffusion(case.source),
            constants.vision(case.source),
        ),
        Err(reason) => Judged::unused(reason),
    }
}

/// What both kinds of rows say about their own worth.
struct Facts<'a> {
    problems: &'a [String],
    suspect: &'a str,
    value: Option<f64>,
    metric: &'a str,
    ran_out_of_memory: bool,
}

impl Facts<'_> {
    /// The reason not to ask the estimator, or its answer with what cannot be compared taken out.
    fn judge(&self, estimate: impl FnOnce() -> Judged) -> Judged {
        if !self.problems.is_empty() {
            return Judged::unused(self.problems.join("; "));
        }
        if self.suspect.eq_ignore_ascii_case("yes") {
            return Judged::unused("marked as suspect");
        }
        if self.metric.is_empty() {
            return Judged::unused("no metric");
        }
        match self.value {
            None if !self.ran_out_of_memory => return Judged::unused("no value"),
            None if self.metric != "peak_mem_gb" => {
                return Judged::unused("no value: the run had no memory left");
            }
            Some(value) if value <= 0.0 => return Judged::unused("value is not above 0"),
            _ => {}
        }
        match estimate() {
            Judged::Used { estimate, .. }
                if ![estimate.low, estimate.mid, estimate.high]
                    .iter()
                    .all(|end| end.is_finite() && *end > 0.0) =>
            {
                Judged::unused("the estimate is not a number above 0")
            }
            judged => judged,
        }
    }
}

fn verdict(
    id: &str,
    task: &str,
    card: &str,
    engine: &str,
    facts: &Facts<'_>,
    judged: Judged,
    catalog: &Catalog,
) -> Verdict {
    let or = |text: &str, other: &str| {
        if text.is_empty() {
            other.to_owned()
        } else {
            text.to_owned()
        }
    };
    let family = if card.is_empty() {
        None
    } else {
        catalog.card(card).map(|c| c.architecture.clone())
    };
    Verdict {
        id: id.to_owned(),
        metric: or(facts.metric, "-"),
        kind: or(task, "-"),
        family: family.unwrap_or_else(|| "unknown card".to_owned()),
        // Versions and options stand behind the first word: `vllm 0.21`.
        engine: or(engine.split_whitespace().next().unwrap_or_default(), "-"),
        measured: facts.value,
        ran_out_of_memory: facts.ran_out_of_memory,
        judged,
    }
}

#[cfg(test)]
mod tests;
