//! Memory of the fullest card of a layout.

use super::activations::activations;
use super::constants::TrainingConstants;
use super::counts::Counts;
use super::job::{Stack, TrainingJob};
use super::optimizer::{Held, Lasting, Stage, lasting, shards_weights};
use crate::catalog::Node;
use crate::estimate::{MemoryEstimate, MemoryPart, tally};
use crate::plan::{Offload, Sharding, TrainingPlan};
use crate::scenario::{Optimizer, TrainingPrecision};

/// Bytes of one card by part, before a range is put around them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CardBytes {
    /// What lasts through a step.
    pub lasting: Lasting,
    /// Activations, the working set included.
    pub activations: u64,
    /// Logits.
    pub logits: u64,
    /// Gathered weights and buckets of collectives.
    pub communication: u64,
    /// CUDA context, libraries, collectives' own buffers.
    pub framework: u64,
    /// What the allocator holds without using it.
    pub fragmentation: u64,
}

impl CardBytes {
    /// All parts.
    pub fn total(&self) -> u64 {
        let l = &self.lasting;
        [
            l.weights,
            l.master,
            l.gradients,
            l.states,
            l.adapters,
            self.activations,
            self.logits,
            self.communication,
            self.framework,
            self.fragmentation,
        ]
        .iter()
        .fold(0, |sum, part| sum.saturating_add(*part))
    }

    /// What a range is put around: all that is modelled, and a share of what is counted, since a
    /// run may count otherwise (a copy more, a setting unsaid). Bytes.
    pub fn uncertain(&self) -> f64 {
        /// Deviation of what is counted over that of what is modelled.
        const COUNTED: f64 = 0.15;
        let l = &self.lasting;
        let counted = (l.weights + l.master + l.gradients + l.states + l.adapters) as f64;
        let modelled = (self.total() as f64 - counted).max(0.0);
        modelled.hypot(COUNTED * counted)
    }
}

/// Memory of the fullest card of `plan`, bytes, with `constants` in the place of the shipped ones.
pub fn memory_with(
    job: &TrainingJob<'_>,
    plan: &TrainingPlan,
    node: &Node<'_>,
    constants: &TrainingConstants,
) -> MemoryEstimate {
    let card = card_bytes(job, plan, node, constants);
    let l = card.lasting;
    let parts: Vec<(MemoryPart, u64)> = [
        (MemoryPart::Weights, l.weights),
        (MemoryPart::MasterWeights, l.master),
        (MemoryPart::Gradients, l.gradients),
        (MemoryPart::OptimizerStates, l.states),
        (MemoryPart::Adapters, l.adapters),
        (MemoryPart::Activations, card.activations),
        (MemoryPart::Logits, card.logits),
        (MemoryPart::Communication, card.communication),
        (MemoryPart::Framework, card.framework),
        (MemoryPart::Fragmentation, card.fragmentation),
    ]
    .into_iter()
    .filter(|(_, bytes)| *bytes > 0)
    .collect();
    let (needed_bytes, basis) = constants.memory_range(
        card.total() as f64,
        card.uncertain(),
        job,
        job.stack(plan),
        node.card,
    );
    MemoryEstimate {
        parts,
        needed_bytes,
        reserved_bytes: None,
        basis,
    }
}

/// Parts of the fullest card: the first stage, or the last where logits outweigh what is in
/// flight.
pub fn card_bytes(
    job: &TrainingJob<'_>,
    plan: &TrainingPlan,
    node: &Node<'_>,
    constants: &TrainingConstants,
) -> CardBytes {
    tally::one();
    let counts = Counts::of(&job.model.transformer, job.model.params_total);
    let first = stage_bytes(job, &counts, plan, node, Stage::First, constants);
    if plan.pipeline_parallel <= 1 {
        return first;
    }
    let last = stage_bytes(job, &counts, plan, node, Stage::Last, constants);
    if last.total() > first.total() {
        last
    } else {
        first
    }
}

fn stage_bytes(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    node: &Node<'_>,
    stage: Stage,
    constants: &TrainingConstants,
) -> CardBytes {
    let memory = &constants.memory;
    let stack = job.stack(plan);
    let mut lasting = lasting(job, counts, plan, node, stage);
    if job.habits.update_in_backward {
        lasting.gradients = lasting.gradients.div_ceil(counts.layers.max(1));
    }
    let working = activations(job, counts, plan, stage, memory);
    let communication = communication(job, counts, plan, stage, stack);
    let framework = if plan.cards > 1 {
        memory.context_bytes + memory.collective_bytes
    } else {
        memory.context_bytes
    };
    // The update's temporaries are freed before the next forward pass, so only the larger counts.
    let updating = if job.habits.eager_update {
        Stack::Transformers
    } else {
        stack
    };
    let update = update_bytes(job, plan, &lasting, memory.stack(updating).update_bytes);
    let step = working.blocks + working.logits;
    let activations = working.blocks.max(update - working.logits);
    let fragmentation = memory.stack(stack).fragmentation * (step + communication as f64);
    CardBytes {
        lasting,
        activations: bytes(activations),
        logits: bytes(working.logits),
        communication,
        framework: bytes(framework),
        fragmentation: bytes(fragmentation),
    }
}

/// A number of bytes, rounded up; what no card could hold saturates.
fn bytes(amount: f64) -> u64 {
    amount.max(0.0).ceil() as u64
}

/// Temporaries of an update that goes over all parameters at once (PyTorch's default), half of
/// it where states are in 16 bit.
fn update_bytes(job: &TrainingJob<'_>, plan: &TrainingPlan, lasting: &Lasting, each: f64) -> f64 {
    /// DeepSpeed updates sharded weights in groups of this many (its default).
    const SUB_GROUP: u64 = 1_000_000_000;
    let narrow = if job.precision == TrainingPrecision::PureBf16 {
        0.5
    } else {
        1.0
    };
    let at_once = if job.stack(plan) == Stack::Transformers && shards_weights(plan) {
        lasting.updated_params.min(SUB_GROUP)
    } else {
        lasting.updated_params
    };
    match (plan.offload, job.optimizer) {
        (Offload::None, Optimizer::Sgd | Optimizer::PagedAdamw8bit | Optimizer::Adamw8bit) => 0.0,
        (Offload::None, _) => each * narrow * at_once as f64,
        _ => 0.0,
    }
}

/// Gathered weights of sharded models, and buckets that gradients are reduced in.
fn communication(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    stage: Stage,
    stack: Stack,
) -> u64 {
    /// Elements of one bucket (DeepSpeed's usual 2e8).
    const BUCKET: u64 = 200_000_000;
    let held = Held::of(counts, plan, stage);
    let each = if job.precision == TrainingPrecision::Fp32 {
        4
    } else {
        2
    };
    let pipeline = u64::from(plan.pipeline_parallel.max(1));
    let blocks = counts.layers.max(1).div_ceil(pipeline);
    let block = (held.shared + held.experts).div_ceil(blocks) + 2 * counts.hidden;
    if shards_weights(plan) && stack != Stack::Litgpt || plan.offload == Offload::All {
        if job.habits.keeps_gathered {
            // Weights and gradients of all the stage's blocks, until the step's end.
            return 2 * each * held.all();
        }
        let gathered = 2 * block + held.tables;
        let gradients = if job.is_adapter() {
            0
        } else {
            block + held.tables
        };
        return each * (gathered + gradients);
    }
    match plan.sharding {
        Sharding::Zero1 | Sharding::Zero2 if !job.is_adapter() => each * 2 * BUCKET.min(held.all()),
        _ => 0,
    }
}
