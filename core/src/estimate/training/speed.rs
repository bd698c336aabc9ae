//! Time of one optimizer step: roofline (Williams et al. 2009), collectives, bubbles, launches.

use super::communication::{Exchanged, Ways, data_parallel};
use super::constants::{SpeedConstants, TrainingConstants};
use super::counts::Counts;
use super::flops::{Convention, CountedAttention, counted_flops};
use super::job::{Stack, TrainingJob};
use super::micro_batch::micro_batch;
use super::optimizer::{Stage, lasting};
use super::rates::Rates;
use crate::catalog::Node;
use crate::estimate::{TimeParts, TrainingSpeed, tally};
use crate::plan::{Offload, Sharding, TrainingPlan};
use crate::range::Range;
use crate::scenario::{Optimizer, TrainingMethod, TrainingPrecision};

/// Speed of `plan`, with `constants` in the place of the shipped ones.
pub fn speed_with(
    job: &TrainingJob<'_>,
    plan: &TrainingPlan,
    node: &Node<'_>,
    constants: &TrainingConstants,
) -> TrainingSpeed {
    tally::one();
    let c = &constants.speed;
    let counts = Counts::of(&job.model.transformer, job.model.params_total);
    let stack = job.stack(plan);
    let rates = Rates::of(job, stack, node.card, c);
    let ways = Ways::of(node, c);
    let micro = micro_batch(job, &counts, plan, &rates, &ways, c);
    let held = Held::of(job, &counts, plan);

    let exchanged = data_parallel(plan, node, &ways, &held.dense, 1).plus(data_parallel(
        plan,
        node,
        &ways,
        &held.experts,
        plan.expert_parallel,
    ));
    let busy = micro.whole();
    let hidden = c.hidden_behind_work(stack);
    let per_micro = exposed(exchanged.micro_batch_s, busy, hidden);
    let accum = f64::from(plan.grad_accum.max(1));
    // Gradients of a step are reduced behind the last micro-batch's backward pass, as far as its
    // own collectives leave room.
    let left = (busy - exchanged.micro_batch_s).max(0.0);
    // Megatron gathers updated weights behind the next forward pass, in the room that is left
    // there too; others before it.
    let after = if stack == Stack::Megatron {
        exposed(exchanged.after_s, 0.3 * left, hidden)
    } else {
        exchanged.after_s
    };
    let per_step = exposed(exchanged.step_s, 0.6 * left, hidden) + after;
    let stages = f64::from(plan.pipeline_parallel.max(1));
    let chunks = f64::from(job.habits.pipeline_chunks.max(1));
    let bubble = (stages - 1.0) / chunks * (busy + per_micro);
    let update = update(job, &counts, plan, node, stack, c);
    let step_overhead = c.stack(stack).step_s;

    let launch_excess = busy - micro.busy();
    let parts = TimeParts {
        compute_s: accum * micro.compute,
        memory_s: accum * micro.memory + update,
        communication_s: accum * (micro.tensor + per_micro) + per_step,
        bubble_s: bubble,
        overhead_s: accum * launch_excess + step_overhead,
    };
    let step = parts.compute_s
        + parts.memory_s
        + parts.communication_s
        + parts.bubble_s
        + parts.overhead_s;
    let step_tokens = f64::from(plan.data_parallel.max(1))
        * f64::from(plan.micro_batch.max(1))
        * accum
        * f64::from(job.seq_len);
    let rate = step_tokens / step;
    let (tokens_per_s, basis) = constants.speed_range(rate, job, stack, node.card);
    let model_flops = counted_flops(
        job,
        Convention {
            attention: CountedAttention::Full,
            recompute: false,
            head: true,
        },
    );
    TrainingSpeed {
        step_s: Range {
            low: step_tokens / tokens_per_s.high,
            mid: step,
            high: step_tokens / tokens_per_s.low,
        },
        parts,
        tokens_per_s,
        mfu: rate * model_flops / (rates.peak * f64::from(plan.cards.max(1))),
        basis,
    }
}

/// What of `comm` is felt beside `work` that it can hide behind.
fn exposed(comm: f64, work: f64, hidden: f64) -> f64 {
    (comm - work).max((1.0 - hidden) * comm).max(0.0)
}

/// Bytes that data-parallel collectives move for one card, before sharding.
struct Held {
    dense: Exchanged,
    experts: Exchanged,
}

impl Held {
    fn of(job: &TrainingJob<'_>, counts: &Counts, plan: &TrainingPlan) -> Self {
        let split = f64::from(plan.tensor_parallel.max(1) * plan.pipeline_parallel.max(1));
        let experts = counts.expert_params as f64 / f64::from(plan.expert_parallel.max(1)) / split;
        let dense = ((counts.shared_params + counts.vector_params) as f64
            + (counts.tables * counts.table_params) as f64)
            / split;
        let each = if job.precision == TrainingPrecision::Fp32 {
            4.0
        } else {
            2.0
        };
        // Transformer Engine's weights are cast before they are gathered.
        let gathered =
            if job.precision == TrainingPrecision::Fp8 && job.stack(plan) == Stack::Megatron {
                1.0
            } else {
                each
            };
        if job.is_adapter() {
            let adapters = counts.adapter_params_per_rank(job.habits.adapter_targets) as f64
                * f64::from(job.lora_rank)
                / split
                * each;
            let base = weight_bytes(job);
            let sharded = super::optimizer::shards_weights(plan);
            return Self {
                dense: Exchanged {
                    weights: if sharded { dense * base } else { adapters },
                    gradients: adapters,
                },
                experts: Exchanged {
                    weights: if sharded { experts * base } else { 0.0 },
                    gradients: 0.0,
                },
            };
        }
        let whole = |params: f64| Exchanged {
            weights: params * gathered,
            gradients: params * each,
        };
        Self {
            dense: whole(dense),
            experts: whole(experts),
        }
    }
}

/// Bytes of one weight that is gathered or fetched.
fn weight_bytes(job: &TrainingJob<'_>) -> f64 {
    /// Half a byte and its scales.
    const QUANTISED: f64 = 0.52;
    match (job.method, job.precision) {
        (TrainingMethod::Qlora, _) => QUANTISED,
        (_, TrainingPrecision::Fp32) => 4.0,
        _ => 2.0,
    }
}

/// Time of the optimizer's update.
fn update(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    node: &Node<'_>,
    stack: Stack,
    c: &SpeedConstants,
) -> f64 {
    /// PCIe 3.0 x16, both ways, GB/s, where the catalog has no figure.
    const UNKNOWN_HOST_GB_S: f64 = 32.0;
    let params = lasting(job, counts, plan, node, Stage::First).updated_params as f64;
    // 16-bit throughout, there is no master, and all else is half as wide.
    let narrow = if job.precision == TrainingPrecision::PureBf16 {
        0.5
    } else {
        1.0
    };
    // Gradient and weight, and two moments and a master read and written.
    let states = match job.optimizer {
        Optimizer::Adamw => 24.0,
        Optimizer::Adamw8bit | Optimizer::PagedAdamw8bit => 12.0,
        Optimizer::Adafactor | Optimizer::Sgd => 8.0,
        Optimizer::SgdMomentum | Optimizer::Lion | Optimizer::Muon => 16.0,
    };
    // Kernel after kernel over all parameters, rather than one fused pass.
    let eager = if stack == Stack::Transformers && plan.sharding == Sharding::None {
        2.0
    } else {
        1.0
    };
    let host = node
        .card
        .link
        .host_bidirectional_gb_s
        .unwrap_or(UNKNOWN_HOST_GB_S)
        / 2.0
        * 1e9;
    match plan.offload {
        Offload::None => {
            let memory = node.card.bandwidth_gb_s.max(1.0) * 1e9 * c.bandwidth_efficiency;
            params * (states + 6.0) * narrow * eager / memory
        }
        Offload::Optimizer => params / c.host_updates_per_s.max(1.0) + params * 6.0 / host,
        Offload::All => {
            let accum = f64::from(plan.grad_accum.max(1));
            let gathered = counts.shared_params.saturating_add(counts.expert_params) as f64
                / f64::from(plan.tensor_parallel.max(1) * plan.pipeline_parallel.max(1));
            let trained = if job.is_adapter() { params } else { gathered };
            let weight = weight_bytes(job);
            params / c.host_updates_per_s.max(1.0)
                + (accum * (2.0 * weight * gathered + 2.0 * trained)) / host
        }
    }
}
