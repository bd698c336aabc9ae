//! Activations kept for the backward pass, the working set of one block, and logits.
//!
//! Korthikanti et al. 2022, table 2, generalised to gated networks, grouped key and value heads,
//! experts and adapters: a block of theirs keeps `34 s b h` bytes and `5 a s^2 b` for scores.

use super::constants::MemoryConstants;
use super::counts::Counts;
use super::job::{AdapterTargets, Stack, TrainingJob};
use super::optimizer::{Stage, raises_to_fp32};
use crate::plan::{Recompute, TrainingPlan};
use crate::scenario::{TrainingMethod, TrainingPrecision};

/// Bytes of one card's activations at the peak.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Activations {
    /// Kept from the forward pass, with the block being worked on.
    pub blocks: f64,
    /// Logits and what the loss keeps of them.
    pub logits: f64,
}

/// Tokens of one micro-batch on one card.
pub fn tokens(job: &TrainingJob<'_>, plan: &TrainingPlan) -> f64 {
    f64::from(plan.micro_batch.max(1)) * f64::from(job.seq_len)
        / f64::from(plan.context_parallel.max(1))
}

/// Bytes of one saved number.
fn element_bytes(job: &TrainingJob<'_>, stack: Stack) -> f64 {
    if job.precision == TrainingPrecision::Fp32 || raises_to_fp32(job, stack) {
        4.0
    } else {
        2.0
    }
}

/// Bytes that all blocks keep of one micro-batch, by Korthikanti et al.'s table without dropout
/// masks, before the software's own surplus. `scores` says whether score matrices are kept.
pub fn saved_bytes(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    scores: bool,
) -> f64 {
    let stack = job.stack(plan);
    let split = f64::from(plan.tensor_parallel.max(1));
    // A quantised layer keeps its input even where it is frozen.
    let narrow = job.method == TrainingMethod::Lora
        && job.habits.adapter_targets == AdapterTargets::QueryValue;
    let elements = if narrow {
        counts.saved_elements_frozen()
    } else {
        counts.saved_elements()
    };
    let per_token = elements as f64 * element_bytes(job, stack);
    let score_bytes = if scores && !job.flash_attention {
        // Softmax output, dropout mask, dropped-out softmax: 2 + 1 + 2 bytes a score.
        5.0 * f64::from(job.seq_len) * counts.head_layers as f64
    } else {
        // Log-sum-exp of each query row.
        4.0 * counts.head_layers as f64
    };
    tokens(job, plan) * (per_token + score_bytes) / split
}

/// Activations of one card of `stage` at the peak of a step.
pub fn activations(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    stage: Stage,
    constants: &MemoryConstants,
) -> Activations {
    let stack = job.stack(plan);
    let stacked = constants.stack(stack);
    let tensor = f64::from(plan.tensor_parallel.max(1));
    let pipeline = f64::from(plan.pipeline_parallel.max(1));
    let layers = counts.layers.max(1) as f64;
    let stage_layers = (layers / pipeline).ceil();
    let tokens = tokens(job, plan);
    let surplus = match job.method {
        TrainingMethod::Qlora => stacked.adapter_activations * stacked.quantised_activations,
        TrainingMethod::Lora => stacked.adapter_activations,
        TrainingMethod::Pretrain | TrainingMethod::FullFinetune => stacked.activations,
    };
    let in_flight = in_flight(job, plan, stage);
    let of_stage = stage_layers / layers;
    let one_block = saved_bytes(job, counts, plan, true) * surplus / layers;
    let (kept, working) = match plan.recompute {
        Recompute::None => (
            saved_bytes(job, counts, plan, true) * surplus * of_stage,
            one_block,
        ),
        Recompute::Selective => (
            saved_bytes(job, counts, plan, false) * surplus * of_stage,
            one_block,
        ),
        Recompute::Full => {
            let input = tokens * counts.hidden as f64 * element_bytes(job, stack) / tensor;
            (input * stage_layers, one_block * stacked.working_blocks)
        }
    };
    let has_head = plan.pipeline_parallel <= 1 || stage == Stage::Last;
    let logits = if has_head {
        logits_bytes(job, counts, plan, constants)
    } else {
        0.0
    };
    // The loss and the first block's backward pass do not overlap.
    Activations {
        blocks: kept * in_flight + (working - logits).max(0.0),
        logits,
    }
}

/// Micro-batches whose activations the stage holds at once: as many as stages follow (1F1B,
/// Narayanan et al. 2021), a little more when interleaved.
fn in_flight(job: &TrainingJob<'_>, plan: &TrainingPlan, stage: Stage) -> f64 {
    let stages = f64::from(plan.pipeline_parallel.max(1));
    if stages <= 1.0 || stage == Stage::Last {
        return 1.0;
    }
    let chunks = f64::from(job.habits.pipeline_chunks.max(1));
    let interleaved = if chunks > 1.0 {
        1.0 + (stages - 1.0) / (stages * chunks)
    } else {
        1.0
    };
    (stages * interleaved).min(f64::from(plan.grad_accum.max(1)).max(1.0))
}

/// Logits of one micro-batch with their gradient and what the loss keeps.
fn logits_bytes(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    constants: &MemoryConstants,
) -> f64 {
    let stack = job.stack(plan);
    let tokens = tokens(job, plan);
    let split = f64::from(plan.tensor_parallel.max(1));
    if job.habits.fused_loss {
        // Chunks of logits; what remains is the gradient of the last hidden state.
        return 4.0 * tokens * counts.hidden as f64 / split;
    }
    let widened = if job.method == TrainingMethod::Qlora && raises_to_fp32(job, stack) {
        2.0
    } else {
        1.0
    };
    constants.stack(stack).logit_bytes * widened * tokens * counts.vocab as f64 / split
}
