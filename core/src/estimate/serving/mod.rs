//! Serving: memory and speed of one layout.

mod constants;

pub use constants::ServingConstants;

use super::{Basis, BasisScope, MemoryEstimate, MemoryPart, ServingSpeed, TimeParts};
use crate::catalog::{Model, Node};
use crate::dtype::{ComputeDtype, KvFormat, WeightFormat};
use crate::plan::ServingPlan;
use crate::range::Range;
use crate::scenario::Engine;

/// What is served and how: everything about a serving job that is not its layout.
#[derive(Debug, Clone, Copy)]
pub struct ServingJob<'a> {
    /// The model.
    pub model: &'a Model,
    /// Format of the weights.
    pub weights: WeightFormat,
    /// Format of the KV cache.
    pub kv: KvFormat,
    /// Engine.
    pub engine: Engine,
    /// Tokens of a prompt, mean.
    pub prompt_tokens: u32,
    /// Tokens of an answer, mean.
    pub output_tokens: u32,
}

/// Memory of the fullest card of `plan` with `plan.batch` requests at their full length, bytes.
pub fn memory(job: &ServingJob<'_>, plan: &ServingPlan, _node: &Node<'_>) -> MemoryEstimate {
    let ways = f64::from(plan.tensor_parallel * plan.pipeline_parallel);
    let weights = (job.model.params_total as f64 * 2.0 / ways) as u64;
    let tokens = u64::from(job.prompt_tokens) + u64::from(job.output_tokens);
    let kv = (job.model.transformer.kv_elements(tokens) as f64 * 2.0 * f64::from(plan.batch) / ways)
        as u64;
    MemoryEstimate {
        parts: vec![(MemoryPart::Weights, weights), (MemoryPart::KvCache, kv)],
        needed_bytes: Range::spread((weights + kv) as f64, 0.95, 1.05),
        reserved_bytes: None,
        basis: Basis {
            measurements: 0,
            scope: BasisScope::JobKind,
            typical_error: 0.1,
        },
    }
}

/// Speed of `plan` with `plan.batch` requests in flight on every copy.
pub fn speed(job: &ServingJob<'_>, plan: &ServingPlan, node: &Node<'_>) -> ServingSpeed {
    let bytes = memory(job, plan, node).needed_bytes.mid;
    let step = bytes / (node.card.bandwidth_gb_s * 1e9 * 0.7);
    let tpot_s = Range::spread(step, 0.8, 1.25);
    let peak = node
        .card
        .peak_tflops
        .flops_per_s(ComputeDtype::Fp16)
        .unwrap_or(1e12)
        * 0.5;
    let ways = f64::from(plan.tensor_parallel * plan.pipeline_parallel);
    let prefill = Range::spread(
        peak * ways / job.model.transformer.linear_flops_per_token(),
        0.7,
        1.4,
    );
    let total = tpot_s.divide_into(f64::from(plan.batch * plan.replicas));
    ServingSpeed {
        ttft_s: prefill.divide_into(f64::from(job.prompt_tokens)),
        tpot_s,
        tokens_per_s_user: tpot_s.divide_into(1.0),
        tokens_per_s_total: total,
        prefill_tokens_per_s: prefill,
        requests_per_s: total.scale(1.0 / f64::from(job.output_tokens.max(1))),
        decode_parts: TimeParts {
            compute_s: 0.0,
            memory_s: step,
            communication_s: 0.0,
            bubble_s: 0.0,
            overhead_s: 0.0,
        },
        basis: Basis {
            measurements: 0,
            scope: BasisScope::JobKind,
            typical_error: 0.2,
        },
    }
}

/// Largest number of requests of full length that one copy of `plan` holds in `usable_bytes` a
/// card, counted at the upper end of memory; 0 where the weights alone do not fit.
pub fn largest_batch(
    job: &ServingJob<'_>,
    plan: &ServingPlan,
    node: &Node<'_>,
    usable_bytes: u64,
) -> u32 {
    let fits = |batch: u32| {
        let plan = ServingPlan { batch, ..*plan };
        memory(job, &plan, node).needed_bytes.high <= usable_bytes as f64
    };
    let (mut low, mut high) = (0, 1);
    while high < 65_536 && fits(high) {
        low = high;
        high *= 2;
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fits(middle) {
            low = middle
        } else {
            high = middle
        }
    }
    low
}
