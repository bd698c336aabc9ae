//! Time of one optimizer step: roofline (Williams et al. 2009), collectives, bubbles, launches.

use super::activations::{saved_bytes, tokens};
use super::communication::{Exchanged, Ways, data_parallel};
use super::constants::{SpeedConstants, TrainingConstants};
use super::counts::Counts;
use super::flops::{Convention, CountedAttention, attention_flops, counted_flops};
use super::job::{AttentionKernel, Stack, TrainingJob};
use super::optimizer::{Stage, lasting};
use crate::catalog::{Card, Node};
use crate::dtype::ComputeDtype;
use crate::estimate::{TimeParts, TrainingSpeed};
use crate::plan::{Offload, Recompute, Sharding, TrainingPlan};
use crate::range::Range;
use crate::scenario::{Optimizer, TrainingMethod, TrainingPrecision};

/// A peak that keeps times finite where the catalog gives none for any format, FLOP/s.
const UNKNOWN_PEAK: f64 = 1e12;

/// Rates of one card for one job, FLOP/s and bytes/s.
#[derive(Debug, Clone, Copy)]
struct Rates {
    /// Products of blocks with their weights.
    products: f64,
    /// Products with the output head.
    head: f64,
    /// Fused attention.
    attention: f64,
    /// Element-wise kernels.
    memory: f64,
    /// Dense peak that utilisation is told against.
    peak: f64,
}

/// Dense 16-bit peak, the vector units' FP32 where there is no other.
fn half_peak(card: &Card, dtype: ComputeDtype) -> f64 {
    let p = &card.peak_tflops;
    p.flops_per_s(dtype)
        .or_else(|| p.flops_per_s(ComputeDtype::Fp16))
        .or_else(|| p.flops_per_s(ComputeDtype::Bf16))
        .or_else(|| p.flops_per_s(ComputeDtype::Fp32))
        .unwrap_or(UNKNOWN_PEAK)
}

impl Rates {
    fn of(job: &TrainingJob<'_>, stack: Stack, card: &Card, constants: &SpeedConstants) -> Self {
        let share = constants.half_efficiency(card);
        let stacked = constants.stack(stack);
        let kernel = match job.habits.attention_kernel {
            AttentionKernel::Flash => 1.0,
            AttentionKernel::FirstFlash => constants.first_flash_attention,
            AttentionKernel::Padded => constants.padded_attention,
        };
        let fused_share = constants.attention_share(card) * stacked.attention;
        let attention_share = fused_share * kernel;
        let memory = card.bandwidth_gb_s.max(1.0) * 1e9 * constants.bandwidth_efficiency;
        let half_dtype = match job.precision {
            TrainingPrecision::Fp16 => ComputeDtype::Fp16,
            _ => ComputeDtype::Bf16,
        };
        let half = half_peak(card, half_dtype);
        let attention = half * share * attention_share;
        match job.precision {
            TrainingPrecision::Fp32 => {
                let dtype = if job.habits.tf32 {
                    ComputeDtype::Tf32
                } else {
                    ComputeDtype::Fp32
                };
                let peak = card.peak_tflops.flops_per_s(dtype).unwrap_or(half);
                let rate = peak * (share * constants.fp32_over_half).min(1.0);
                Self {
                    products: rate,
                    head: rate,
                    // Vector units do not care for the kernel.
                    attention: rate * fused_share.min(1.0),
                    memory,
                    peak,
                }
            }
            TrainingPrecision::Fp8 => {
                let fp8 = card.peak_tflops.flops_per_s(ComputeDtype::Fp8);
                let products = fp8.map_or(half * share, |peak| {
                    (peak * share * stacked.fp8_over_half).max(half * share)
                });
                Self {
                    products,
                    head: half * share,
                    attention,
                    memory,
                    peak: fp8.unwrap_or(half),
                }
            }
            TrainingPrecision::Fp16 | TrainingPrecision::Bf16 | TrainingPrecision::PureBf16 => {
                Self {
                    products: half * share,
                    head: half * share,
                    attention,
                    memory,
                    peak: half,
                }
            }
        }
    }
}

/// Times of one micro-batch on one card, seconds.
#[derive(Debug, Clone, Copy, Default)]
struct MicroBatch {
    compute: f64,
    memory: f64,
    tensor: f64,
    launch: f64,
    synchronous: bool,
}

impl MicroBatch {
    /// Work of the card, launches apart.
    fn busy(&self) -> f64 {
        self.compute + self.memory + self.tensor
    }

    /// The host runs ahead of the card until it cannot; near the crossing both are felt.
    fn whole(&self) -> f64 {
        let (busy, launch) = (self.busy(), self.launch);
        if self.synchronous {
            // Nothing runs ahead, and each kernel's end is waited for as its start is.
            return busy + 2.0 * launch;
        }
        let longer = busy.max(launch);
        if longer <= 0.0 {
            return 0.0;
        }
        let ratio = busy.min(launch) / longer;
        longer * (1.0 + ratio * ratio * ratio * ratio).sqrt().sqrt()
    }
}

/// Speed of `plan`, with `constants` in the place of the shipped ones.
pub fn speed_with(
    job: &TrainingJob<'_>,
    plan: &TrainingPlan,
    node: &Node<'_>,
    constants: &TrainingConstants,
) -> TrainingSpeed {
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
    let per_micro = exposed(exchanged.micro_batch_s, busy, c.data_hidden);
    let accum = f64::from(plan.grad_accum.max(1));
    // Gradients of a step are reduced behind the last micro-batch's backward pass, as far as its
    // own collectives leave room.
    let room = 0.6 * (busy - exchanged.micro_batch_s).max(0.0);
    let per_step = exposed(exchanged.step_s, room, c.data_hidden);
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
        if job.is_adapter() {
            let adapters = counts.adapter_params_per_rank(job.habits.adapter_targets) as f64
                * f64::from(job.lora_rank)
                / split
                * each;
            let base = if job.method == TrainingMethod::Qlora {
                0.52
            } else {
                each
            };
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
            weights: params * each,
            gradients: params * each,
        };
        Self {
            dense: whole(dense),
            experts: whole(experts),
        }
    }
}

/// Passes over blocks: forward, backward by the inputs, backward by the weights, repeated forward.
struct Passes {
    products: f64,
    attention: f64,
    elementwise: f64,
    head: f64,
    launches: f64,
}

impl Passes {
    fn of(job: &TrainingJob<'_>, plan: &TrainingPlan) -> Self {
        let repeated = if plan.recompute == Recompute::Full {
            1.0
        } else {
            0.0
        };
        let repeated_scores = match plan.recompute {
            Recompute::Full => 1.0,
            Recompute::Selective if !job.flash_attention => 1.0,
            _ => 0.0,
        };
        // Fused attention computes scores again in its backward pass: 5 products to 2.
        let attention_backward = if job.flash_attention { 2.5 } else { 2.0 };
        let linear = if job.is_adapter() { 2.0 } else { 3.0 };
        Self {
            products: linear + repeated,
            attention: 1.0 + attention_backward + repeated_scores,
            elementwise: 3.0 + repeated,
            head: if job.habits.trained_embeddings {
                3.0
            } else {
                linear
            },
            launches: 3.0 + repeated,
        }
    }
}

fn micro_batch(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    rates: &Rates,
    ways: &Ways,
    c: &SpeedConstants,
) -> MicroBatch {
    let stack = job.stack(plan);
    let stacked = c.stack(stack);
    let passes = Passes::of(job, plan);
    let tokens = tokens(job, plan);
    let tensor = f64::from(plan.tensor_parallel.max(1));
    let stages = f64::from(plan.pipeline_parallel.max(1));
    let split = tensor * stages;

    let shared = counts.shared_params as f64 / split;
    let used_experts = counts.used_expert_params as f64 / split;
    let table = counts.table_params as f64 / split;
    // Tiles of matrix units are 64 wide at least; a split width that is no multiple wastes them.
    let tiled = u64::from(job.model.transformer.hidden)
        .is_multiple_of(64 * u64::from(plan.tensor_parallel.max(1)));
    let tiling = if tiled { 1.0 } else { c.misaligned_products };
    let products = passes.products
        * tokens
        * 2.0
        * (shared / rates.products
            + used_experts / (rates.products * c.experts_over_products.max(1e-3)))
        / tiling;
    let head = passes.head * tokens * 2.0 * table / rates.head;
    let attention = passes.attention
        * tokens
        * attention_flops(
            job,
            job.habits.causal && job.habits.attention_kernel != AttentionKernel::Padded,
        )
        / split
        / rates.attention;

    // Matrix products read weights once a pass and write what they read for each token.
    let weight_bytes = weight_read_bytes(job);
    let experts_here = counts.expert_params as f64 / split / f64::from(plan.expert_parallel.max(1));
    let activation_bytes = 2.0 * counts.product_elements as f64 / split;
    let product_traffic = passes.products
        * c.product_traffic
        * (weight_bytes * (shared + experts_here) + activation_bytes * tokens);
    let elementwise =
        passes.elementwise * stacked.elementwise_passes * saved_bytes(job, counts, plan, true)
            / stages;
    let loss = if job.habits.fused_loss {
        0.0
    } else {
        c.logit_traffic_bytes * tokens * counts.vocab as f64 / split
    };
    let adapters = if job.is_adapter() {
        let linear = counts.adapter_params_per_rank(job.habits.adapter_targets) as f64;
        passes.elementwise * stacked.adapter_traffic_bytes * tokens * linear / split
    } else {
        0.0
    };
    let expanded = if job.method == TrainingMethod::Qlora {
        passes.products * c.expand_bytes * (shared + experts_here)
    } else {
        0.0
    };

    let layers = counts.layers as f64 / stages;
    let reductions = 2.0 * layers * (2.0 + passes.elementwise - 3.0);
    let stream = 2.0 * tokens * counts.hidden as f64;
    let mut collective = reductions * ways.tensor(stream, tensor) * (1.0 - c.tensor_hidden);
    if plan.tensor_parallel > 1 {
        collective += reductions * c.collective_latency_s;
    }
    if plan.expert_parallel > 1 {
        let copies = counts.used_expert_params as f64 / counts.expert_params.max(1) as f64;
        let expert_layers = layers.min(counts.layers as f64);
        let routed = stream * copies_per_token(job).max(copies);
        collective += (passes.elementwise - 1.0)
            * 2.0
            * expert_layers
            * ways.exchange(routed, f64::from(plan.expert_parallel))
            * (1.0 - c.exchange_hidden);
    }
    if plan.context_parallel > 1 {
        // Keys and values pass around the ring behind attention itself.
        let ring = f64::from(plan.context_parallel);
        let keys = 2.0 * tokens * counts.attention_elements as f64 / split / 2.0;
        collective +=
            passes.elementwise * ways.exchange(keys * (ring - 1.0), ring) * (1.0 - c.data_hidden);
    }

    // DeepSpeed's hooks fetch and release parameters and gather gradients, module by module.
    let hooked = stack == Stack::Transformers
        && (plan.sharding != Sharding::None
            || job.method == TrainingMethod::FullFinetune
                && job.precision == TrainingPrecision::Bf16);
    let hooks = if hooked { c.hooked_launches } else { 1.0 };
    let launch = if job.is_adapter() {
        stacked.adapter_launch_s
    } else {
        stacked.launch_s
    };
    MicroBatch {
        compute: products + head + attention,
        memory: (product_traffic + elementwise + loss + adapters + expanded) / rates.memory,
        tensor: collective,
        launch: launch * hooks * layers * passes.launches,
        synchronous: job.habits.synchronous_launches,
    }
}

/// Experts that one token is sent to.
fn copies_per_token(job: &TrainingJob<'_>) -> f64 {
    job.model
        .transformer
        .experts
        .as_ref()
        .map_or(0.0, |e| f64::from(e.per_token))
}

/// Bytes of one weight as a product reads it.
fn weight_read_bytes(job: &TrainingJob<'_>) -> f64 {
    match job.precision {
        TrainingPrecision::Fp32 => 4.0,
        TrainingPrecision::Fp8 => 1.0,
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
            params * (states + 6.0) * eager / memory
        }
        Offload::Optimizer => params / c.host_updates_per_s.max(1.0) + params * 6.0 / host,
        Offload::All => {
            let accum = f64::from(plan.grad_accum.max(1));
            let gathered = counts.shared_params.saturating_add(counts.expert_params) as f64
                / f64::from(plan.tensor_parallel.max(1) * plan.pipeline_parallel.max(1));
            let trained = if job.is_adapter() { params } else { gathered };
            params / c.host_updates_per_s.max(1.0)
                + (accum * (4.0 * gathered + 2.0 * trained)) / host
        }
    }
}
