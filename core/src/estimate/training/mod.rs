//! Training: memory and speed of one layout.

use super::{Basis, BasisScope, MemoryEstimate, MemoryPart, TimeParts, TrainingSpeed};
use crate::catalog::{Model, Node};
use crate::dtype::{ComputeDtype, WeightFormat};
use crate::plan::TrainingPlan;
use crate::range::Range;
use crate::scenario::{Optimizer, TrainingMethod, TrainingPrecision};

/// What is trained and how: everything about a training job that is not its layout.
#[derive(Debug, Clone, Copy)]
pub struct TrainingJob<'a> {
    /// The model.
    pub model: &'a Model,
    /// Method.
    pub method: TrainingMethod,
    /// Format of frozen base weights (LoRA: 16 bit, QLoRA: NF4).
    pub base_weights: WeightFormat,
    /// Tokens of one sequence.
    pub seq_len: u32,
    /// Compute format.
    pub precision: TrainingPrecision,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Rank of the adapters, on all linear layers.
    pub lora_rank: u32,
    /// Fused attention.
    pub flash_attention: bool,
}

/// Memory of the fullest card of `plan`, bytes.
pub fn memory(job: &TrainingJob<'_>, plan: &TrainingPlan, _node: &Node<'_>) -> MemoryEstimate {
    let params = job.model.params_total as f64;
    let shards = f64::from(plan.tensor_parallel * plan.pipeline_parallel * plan.data_parallel);
    let weights = (params * 2.0 / shards) as u64;
    let states = (params * 14.0 / shards) as u64;
    let total = (weights + states) as f64;
    MemoryEstimate {
        parts: vec![
            (MemoryPart::Weights, weights),
            (MemoryPart::OptimizerStates, states),
        ],
        needed_bytes: Range::spread(total, 0.9, 1.1),
        reserved_bytes: None,
        basis: Basis {
            measurements: 0,
            scope: BasisScope::JobKind,
            typical_error: 0.2,
        },
    }
}

/// Speed of `plan`.
pub fn speed(job: &TrainingJob<'_>, plan: &TrainingPlan, node: &Node<'_>) -> TrainingSpeed {
    let tokens =
        f64::from(plan.data_parallel * plan.micro_batch * plan.grad_accum) * f64::from(job.seq_len);
    let flops = 3.0 * job.model.transformer.linear_flops_per_token() * tokens;
    let peak = node
        .card
        .peak_tflops
        .flops_per_s(ComputeDtype::Bf16)
        .unwrap_or(1e12);
    let step = flops / (peak * 0.4 * f64::from(plan.cards));
    let step_s = Range::spread(step, 0.8, 1.25);
    TrainingSpeed {
        step_s,
        parts: TimeParts {
            compute_s: step,
            memory_s: 0.0,
            communication_s: 0.0,
            bubble_s: 0.0,
            overhead_s: 0.0,
        },
        tokens_per_s: step_s.divide_into(tokens),
        mfu: 0.4,
        basis: Basis {
            measurements: 0,
            scope: BasisScope::JobKind,
            typical_error: 0.2,
        },
    }
}
