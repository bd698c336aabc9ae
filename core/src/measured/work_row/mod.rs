//! What the estimators of images, clips, networks and speech say of a measured row.
//!
//! What a row states is taken, what it leaves open gets the default of its software, and nothing
//! is searched. Rules read the row's own words, never its id.

mod images;
mod networks;

use super::{InferenceRow, Judged, TrainingRow};
use crate::catalog::{Card, Catalog, NetworkTask, Node};
use crate::dtype::ComputeDtype;
use crate::estimate::diffusion::{
    self, CONTEXT_BYTES, DiffusionConstants, GenerationRun, TuningRun, generation_memory,
    generation_speed, tuning_memory, tuning_speed,
};
use crate::estimate::vision::{
    NetworkRun, SpeechRun, VisionConstants, inference_speed, speech_memory, speech_speed,
    training_memory, training_speed,
};
use crate::estimate::work::{self, WorkPlan, WorkSpeed};
use crate::estimate::{MemoryEstimate, vision};
use crate::plan::rented_node;
use crate::plan::search::Fitness;
use crate::range::Range;
use crate::scenario::Optimizer;

/// What was run.
#[derive(Debug, Clone)]
pub enum WorkRun<'a> {
    /// Images or clips.
    Generate(GenerationRun<'a>),
    /// Training an image or video model.
    Tune(TuningRun<'a>),
    /// Training or running a network.
    Network(NetworkRun<'a>),
    /// Speech.
    Speech(SpeechRun<'a>),
}

/// What a memory figure counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    /// Driver context and libraries too.
    pub context: bool,
    /// Weights in 16 bit were loaded before they were quantised: their bytes, a floor.
    pub loaded_bytes: f64,
}

/// What the figure is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// Units a second over all cards, times this, is the row's figure.
    Rate(f64),
    /// This over units a second of one card's or group's work.
    Time(f64),
    /// Batches (steps) a second.
    Batches,
    /// Operations of the model a second and card, 10^12, nothing counted for what is computed again.
    Tflops,
    /// Peak memory of a card, in bytes for one of the row's unit.
    Memory(f64, Counted),
    /// Weights alone.
    Weights(f64),
}

/// A row in the estimators' terms, to be estimated under any constants.
#[derive(Debug, Clone)]
pub struct WorkCase<'a> {
    /// Short name of the source.
    pub source: &'a str,
    /// Measured value.
    pub value: Option<f64>,
    run: WorkRun<'a>,
    plan: WorkPlan,
    card: &'a Card,
    card_known: bool,
    quantity: Quantity,
}

/// Whether a row of this task is read here.
pub fn is_work(task: &str) -> bool {
    matches!(
        task,
        "diffusion_image" | "diffusion_video" | "vision" | "embedding" | "diffusion" | "speech"
    )
}

impl<'a> WorkCase<'a> {
    /// Reads an inference row.
    ///
    /// # Errors
    /// Why it cannot be estimated, the same words for every row with this fault.
    pub fn of_inference(row: &'a InferenceRow, catalog: &'a Catalog) -> Result<Self, &'static str> {
        let words = format!("{} {}", row.engine, row.notes).to_ascii_lowercase();
        let memory = row.metric.ends_with("mem_gb");
        let (card, card_known) = card(&row.card, &row.gpu, memory, catalog)?;
        let (run, plan, quantity) = match row.task.as_str() {
            "diffusion_image" | "diffusion_video" => images::generation(row, &words, catalog)?,
            "speech" => networks::speech(row, catalog)?,
            _ => networks::inference(row, &words, catalog)?,
        };
        Ok(Self {
            source: row.source_name(),
            value: row.value,
            run,
            plan,
            card,
            card_known,
            quantity,
        })
    }

    /// Reads a training row.
    ///
    /// # Errors
    /// Why it cannot be estimated.
    pub fn of_training(row: &'a TrainingRow, catalog: &'a Catalog) -> Result<Self, &'static str> {
        let words = format!("{} {}", row.model, row.notes).to_ascii_lowercase();
        let memory = row.metric == "peak_mem_gb";
        let (card, card_known) = card(&row.card, &row.gpu, memory, catalog)?;
        let (run, plan, quantity) = match row.task.as_str() {
            "diffusion" => images::tuning(row, &words, catalog)?,
            _ => networks::training(row, &words, catalog)?,
        };
        Ok(Self {
            source: row.source_name(),
            value: row.value,
            run,
            plan,
            card,
            card_known,
            quantity,
        })
    }

    /// Whether it is about images and clips.
    pub fn is_diffusion(&self) -> bool {
        matches!(self.run, WorkRun::Generate(_) | WorkRun::Tune(_))
    }

    /// Whether weights are trained.
    pub fn trains(&self) -> bool {
        match &self.run {
            WorkRun::Tune(_) => true,
            WorkRun::Network(run) => run.trains,
            WorkRun::Generate(_) | WorkRun::Speech(_) => false,
        }
    }

    /// Whether it measures memory.
    pub fn is_memory(&self) -> bool {
        matches!(self.quantity, Quantity::Memory(..) | Quantity::Weights(_))
    }

    /// The card, where the row names one.
    pub fn card(&self) -> Option<&'a Card> {
        self.card_known.then_some(self.card)
    }

    /// Name under which its residual is kept.
    pub fn kind(&self) -> &'static str {
        match (&self.run, self.is_memory()) {
            (WorkRun::Generate(run), false) => diffusion::speed_kind(run.model),
            (WorkRun::Generate(run), true) => diffusion::memory_kind(run.model),
            (WorkRun::Tune(_), false) => diffusion::TRAINING_SPEED,
            (WorkRun::Tune(_), true) => diffusion::TRAINING_MEMORY,
            (WorkRun::Network(_) | WorkRun::Speech(_), true) => vision::MEMORY,
            (WorkRun::Network(run), false) if run.trains => vision::TRAINING,
            (WorkRun::Network(_), false) => vision::INFERENCE,
            (WorkRun::Speech(_), false) => vision::SPEECH,
        }
    }

    fn memory(&self, images: &DiffusionConstants, vision: &VisionConstants) -> MemoryEstimate {
        match &self.run {
            WorkRun::Generate(run) => generation_memory(run, &self.plan, self.card, images),
            WorkRun::Tune(run) => tuning_memory(run, &self.plan, self.card, images),
            WorkRun::Network(run) => {
                let optimizer = match run.network.task {
                    NetworkTask::Text => Optimizer::Adamw,
                    _ => Optimizer::SgdMomentum,
                };
                training_memory(run, &self.plan, optimizer, self.card, vision)
            }
            WorkRun::Speech(run) => speech_memory(run, &self.plan, self.card, vision),
        }
    }

    fn speed(&self, images: &DiffusionConstants, vision: &VisionConstants) -> WorkSpeed {
        /// Enough for any input: what is measured ran on data made ready or made up.
        const CORES: f64 = 1e6;
        let rented = rented_node(self.card);
        let node = Node {
            cards_per_node: self.card.link.cards_per_node.max(1),
            ..rented.node
        };
        match &self.run {
            WorkRun::Generate(run) => generation_speed(run, &self.plan, &node, images),
            WorkRun::Tune(run) => tuning_speed(run, &self.plan, &node, images),
            WorkRun::Network(run) if run.trains => {
                training_speed(run, &self.plan, &node, CORES, vision)
            }
            WorkRun::Network(run) => inference_speed(run, &self.plan, self.card, CORES, vision),
            WorkRun::Speech(run) => speech_speed(run, &self.plan, self.card, vision),
        }
    }

    /// Estimate in the row's own unit.
    pub fn estimate(&self, images: &DiffusionConstants, vision: &VisionConstants) -> Range {
        match self.quantity {
            Quantity::Rate(factor) => self.speed(images, vision).units_per_s.scale(factor),
            Quantity::Time(amount) => self.speed(images, vision).units_per_s.divide_into(amount),
            Quantity::Batches => self.speed(images, vision).batch_s.divide_into(1.0),
            Quantity::Tflops => {
                let speed = self.speed(images, vision);
                let peak = work::peak(self.card, ComputeDtype::Bf16);
                let reached = speed.of_peak * peak / 1e12;
                let middle = speed.units_per_s.mid.max(f64::MIN_POSITIVE);
                speed.units_per_s.scale(reached / middle)
            }
            Quantity::Memory(unit, counted) => {
                let needed = self.memory(images, vision).needed_bytes;
                let less = if counted.context { 0.0 } else { CONTEXT_BYTES };
                // The ends keep their distance from the middle.
                let shown = (needed.mid - less).max(counted.loaded_bytes).max(1.0);
                needed.scale(shown / needed.mid / unit)
            }
            Quantity::Weights(unit) => {
                use crate::estimate::MemoryPart as P;
                let parts = self.memory(images, vision).parts;
                let weights = parts.iter().filter(|(part, _)| {
                    matches!(part, P::Weights | P::TextEncoders | P::Autoencoder)
                });
                let bytes: f64 = weights.map(|(_, bytes)| *bytes as f64).sum();
                Range::spread(bytes / unit, 0.95, 1.08)
            }
        }
    }

    /// `ln(estimate / measured)`, speeds and times alike as speeds.
    pub fn residual(&self, images: &DiffusionConstants, vision: &VisionConstants) -> Option<f64> {
        let measured = self.value?;
        let ratio = (self.estimate(images, vision).mid / measured).ln();
        let as_speed = match self.quantity {
            Quantity::Time(_) => -ratio,
            _ => ratio,
        };
        as_speed.is_finite().then_some(as_speed)
    }

    /// What the estimators say of it.
    pub fn judge(&self, images: &DiffusionConstants, vision: &VisionConstants) -> Judged {
        let fits = match self.quantity {
            Quantity::Memory(..) if self.card_known => {
                let usable = self.card.usable_memory_bytes();
                Some(Fitness::of(&self.memory(images, vision), usable) == Fitness::Fits)
            }
            _ => None,
        };
        Judged::Used {
            estimate: self.estimate(images, vision),
            fits,
        }
    }
}

/// The card of a row; for memory any card stands in where none is named, for bytes hardly depend
/// on it.
fn card<'a>(
    id: &str,
    words: &str,
    memory: bool,
    catalog: &'a Catalog,
) -> Result<(&'a Card, bool), &'static str> {
    let words = words.to_ascii_lowercase();
    if !id.is_empty() {
        let card = catalog
            .card(id)
            .ok_or("the catalog does not have the card")?;
        return Ok((card, true));
    }
    // An A100 of unnamed memory counts as the larger one, as in the other rows.
    let unnamed = words.starts_with("a100") && !words.contains("mig");
    let stand_in = catalog
        .card("a100-sxm4-80gb")
        .ok_or("the source names no card")?;
    match (unnamed, memory && !words.contains("mig")) {
        (true, _) => Ok((stand_in, true)),
        (false, true) => Ok((stand_in, false)),
        (false, false) if words.contains("mig") => Err("a slice of a card"),
        (false, false) => Err("the source names no card"),
    }
}

/// Bytes of one of a memory figure's unit: many tools print GiB under the name GB.
fn memory_unit(unit: &str, binary_gb: bool) -> f64 {
    const GIB: f64 = 1_073_741_824.0;
    match unit {
        "GiB" => GIB,
        "MiB" => GIB / 1024.0,
        "MB" => 1e6,
        _ if binary_gb => GIB,
        _ => 1e9,
    }
}
