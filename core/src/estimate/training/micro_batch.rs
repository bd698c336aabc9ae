//! Time of one micro-batch on one card: products, attention, memory traffic, tensor-parallel
//! collectives, launches.

use super::activations::{saved, tokens};
use super::communication::Ways;
use super::constants::SpeedConstants;
use super::counts::Counts;
use super::flops::attention_flops;
use super::job::{
    AdapterTargets, AttentionKernel, Dispatch, Kernels, Selective, Stack, TrainingJob,
};
use super::optimizer::raises_to_fp32;
use super::rates::Rates;
use crate::dtype::WeightFormat;
use crate::plan::{Recompute, Sharding, TrainingPlan};
use crate::scenario::{TrainingMethod, TrainingPrecision};

/// Elements of a result that one wave of tiles computes: 128 units of 128 x 256, as on A100 and
/// H100 (108 and 132 units).
const WAVE: f64 = 128.0 * 128.0 * 256.0;
/// Rows of a tile.
const TILE_ROWS: f64 = 128.0;

/// Times of one micro-batch on one card, seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct MicroBatch {
    /// Matrix units at work.
    pub compute: f64,
    /// Waiting for card memory.
    pub memory: f64,
    /// Waiting for cards of one copy.
    pub tensor: f64,
    /// The host's launches.
    pub launch: f64,
    /// Waiting for the host between one gathered unit and the next.
    pub waits: f64,
    synchronous: bool,
}

impl MicroBatch {
    /// Work of the card, launches apart.
    pub fn busy(&self) -> f64 {
        self.compute + self.memory + self.tensor
    }

    /// The host runs ahead of the card until it cannot; near the crossing both are felt.
    pub fn whole(&self) -> f64 {
        self.ahead() + self.waits
    }

    fn ahead(&self) -> f64 {
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

/// Passes over blocks: forward, backward by the inputs, backward by the weights, repeated forward.
struct Passes {
    products: f64,
    /// Repeated passes that leave each block's last product out.
    repeated_without_last: f64,
    attention: f64,
    elementwise: f64,
    head: f64,
    launches: f64,
}

impl Passes {
    fn of(job: &TrainingJob<'_>, counts: &Counts, plan: &TrainingPlan) -> Self {
        // Products and all else that is computed again, in forward passes.
        let (repeated_products, repeated) = match (plan.recompute, job.habits.selective) {
            (Recompute::Full, _) => (1.0, 1.0),
            (Recompute::Selective, Selective::EveryOtherProduct) => {
                (every_other_product(counts), 1.0)
            }
            (Recompute::Selective, Selective::EveryOtherBlock) => (0.5, 0.5),
            _ => (0.0, 0.0),
        };
        let repeated_scores = match (plan.recompute, job.habits.selective) {
            (Recompute::Full, _) => 1.0,
            (Recompute::Selective, Selective::EveryOtherBlock) => 0.5,
            (Recompute::Selective, Selective::Scores) if !job.flash_attention => 1.0,
            _ => 0.0,
        };
        // Fused attention computes scores again in its backward pass: 5 products to 2.
        let attention_backward = if job.flash_attention { 2.5 } else { 2.0 };
        let linear = if job.is_adapter() { 2.0 } else { 3.0 };
        Self {
            products: linear + repeated_products,
            repeated_without_last: if job.stops_recomputation_early(plan)
                && plan.recompute == Recompute::Full
            {
                repeated_products
            } else {
                0.0
            },
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

/// Share of a block's products that keep no output where every other one does: keys, attention's
/// output projection and one of a gated network's two inner products, or else the last one.
fn every_other_product(counts: &Counts) -> f64 {
    let inner = if counts.ffn_gate_elements > 0 {
        counts.ffn_gate_elements
    } else {
        counts.ffn_output_elements
    };
    let again = counts.hidden * (counts.attention_elements / 2 + inner);
    let all = counts.shared_params + counts.used_expert_params;
    (again as f64 / all.max(1) as f64).min(1.0)
}

/// How blocks are dealt to pipeline stages.
struct Stages {
    /// Blocks in all over those of the fullest stage.
    of_blocks: f64,
    /// What the last stage has less, over the fullest one's blocks.
    last_spare: f64,
}

impl Stages {
    fn of(counts: &Counts, plan: &TrainingPlan) -> Self {
        let layers = counts.layers.max(1);
        let stages = u64::from(plan.pipeline_parallel.max(1)).min(layers);
        let fullest = layers.div_ceil(stages);
        let last = layers.saturating_sub(fullest * (stages - 1));
        Self {
            of_blocks: layers as f64 / fullest as f64,
            last_spare: 1.0 - last as f64 / fullest as f64,
        }
    }
}

/// One micro-batch of `plan`.
pub fn micro_batch(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    rates: &Rates,
    ways: &Ways,
    c: &SpeedConstants,
) -> MicroBatch {
    let stack = job.stack(plan);
    let stacked = c.stack(stack);
    let passes = Passes::of(job, counts, plan);
    let tokens = tokens(job, plan);
    let tensor = f64::from(plan.tensor_parallel.max(1));
    // The fullest stage sets the pace: blocks are dealt evenly, the last stage gets what is left
    // and the head.
    let stage = Stages::of(counts, plan);
    let stages = stage.of_blocks;
    let split = tensor * stages;

    let passed_experts = if job.passes_every_expert(plan) {
        counts.expert_params
    } else {
        counts.used_expert_params
    };
    let used_experts = passed_experts as f64 / split;
    let shared = counts.shared_params as f64 / split;
    let table = counts.table_params as f64 / tensor;
    let experts_here = counts.expert_params as f64 / split / f64::from(plan.expert_parallel.max(1));
    // Tiles of matrix units are 64 wide at least; a split width that is no multiple wastes them.
    let tiled = u64::from(job.model.transformer.hidden)
        .is_multiple_of(64 * u64::from(plan.tensor_parallel.max(1)));
    let tiling = if tiled { 1.0 } else { c.misaligned_products };
    let unrepeated = |last: u64| passes.repeated_without_last * last as f64 / split;
    let dense_flops =
        2.0 * tokens * (passes.products * shared - unrepeated(counts.shared_last_params));
    // Each expert's rows are rounded up to a tile: half a tile is lost.
    let padded = c.expert_padding * TILE_ROWS / 2.0 * passes.products * experts_here;
    let expert_flops = 2.0
        * (tokens * (passes.products * used_experts - unrepeated(counts.expert_last_params))
            + padded);
    // The last wave of tiles leaves units idle; a kernel loses that share of a wave.
    let lengths = (counts.whole_lengths as f64 + counts.split_lengths as f64 / tensor) / stages;
    let by_weights = if job.is_adapter() { 0.0 } else { 1.0 };
    let lost_flops = 2.0
        * c.lost_wave
        * WAVE
        * (lengths * (passes.products - by_weights) / 2.0
            + by_weights * 4.0 * tokens * counts.layers as f64 / stages);
    // So does each expert's, unless one kernel computes all experts of a block.
    let lost_by_experts = lost_by_experts(job, counts, plan, tokens, stages, &passes, c);
    let products = ((dense_flops + lost_flops) / rates.products
        + (expert_flops + lost_by_experts) / rates.experts)
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
    let activation_bytes = 2.0 * counts.product_elements as f64 / split;
    let product_traffic = passes.products
        * c.product_traffic
        * (weight_bytes * (shared + experts_here) + activation_bytes * tokens);
    let fused = match job.habits.kernels {
        Kernels::Usual => 1.0,
        Kernels::Compiled => c.compiled_passes,
        Kernels::Eager => c.eager_passes,
    };
    let elementwise = passes.elementwise
        * stacked.elementwise_passes
        * fused
        * saved(job, counts, plan, true).with_surplus(1.0)
        / stages;
    let loss = if job.habits.fused_loss {
        0.0
    } else {
        c.logit_traffic_bytes * tokens * counts.vocab as f64
            / tensor
            / f64::from(plan.pipeline_parallel.max(1))
    };
    let adapters = if job.is_adapter() {
        let linear = counts.adapter_stream_elements(job.habits.adapter_targets) as f64;
        /// Counted over casts, dropout, both products and the sum: 19 bytes an input and 28 an
        /// output in FP32, 7 and 12 in 16 bit.
        const IN_FP32: f64 = 2.5;
        /// Inputs in FP32 alone: norms that are raised hand them on, autocast casts them for the products.
        const INPUTS_IN_FP32: f64 = (19.0 + 12.0) / (7.0 + 12.0);
        let wide = if job.habits.fp32_adapters {
            IN_FP32
        } else if raises_to_fp32(job, stack) {
            INPUTS_IN_FP32
        } else {
            1.0
        };
        passes.elementwise * stacked.adapter_traffic_bytes * wide * tokens * linear / split
    } else {
        0.0
    };
    let expansion = if expands_by_operations(job) {
        c.expand_bytes
    } else {
        c.nf4_expand_bytes
    };
    let expanded = if job.method == TrainingMethod::Qlora {
        // PyTorch keeps what its own operations expanded for the backward pass; libraries' kernels expand it again.
        let kept = matches!(job.base_weights, WeightFormat::Gptq4 | WeightFormat::Awq4);
        let times = if kept && expands_by_operations(job) {
            passes.products - 1.0
        } else {
            passes.products
        };
        times * expansion * (shared + experts_here)
    } else {
        0.0
    };

    // Gradients of weights are added to those of the step so far.
    let accumulated = if job.is_adapter() {
        0.0
    } else {
        accumulation_bytes(stack) * (shared + experts_here)
    };
    // Each operand of an FP8 product is read in 16 bit and written in 8, straight and transposed.
    let casts = if job.precision == TrainingPrecision::Fp8 {
        passes.products / 3.0 * c.fp8_cast_bytes * counts.product_elements as f64 * tokens / split
    } else {
        0.0
    };

    let layers = counts.layers as f64 / stages;
    let reductions = 2.0 * layers * (2.0 + passes.elementwise - 3.0);
    let stream = 2.0 * tokens * counts.hidden as f64;
    let shown = if job.habits.tensor_overlap {
        1.0 - c.tensor_hidden
    } else {
        1.0
    };
    let mut collective = reductions * ways.tensor(stream, tensor) * shown;
    if plan.tensor_parallel > 1 {
        collective += reductions * c.collective_latency_s;
    }
    let routing = Routing::of(job, plan, stages);
    if plan.expert_parallel > 1 {
        // There and back, forward and backward by the inputs.
        let sent = ways.exchange(
            2.0 * tokens * routing.width / routing.split,
            routing.per_token,
            f64::from(plan.expert_parallel) * routing.split,
            job.habits.dispatch == Dispatch::Direct,
        );
        collective +=
            (passes.elementwise - 1.0) * 2.0 * routing.layers * sent * (1.0 - c.exchange_hidden);
    }
    if plan.context_parallel > 1 {
        // Keys and values pass around the ring behind attention itself.
        let ring = f64::from(plan.context_parallel);
        let keys = 2.0 * tokens * counts.key_value_elements as f64 / split;
        collective += passes.elementwise * ways.ring(keys, ring) * (1.0 - c.data_hidden);
    }

    if plan.pipeline_parallel > 1 {
        // A stage hands the stream on, and its gradient back; Megatron sends each tensor-parallel
        // rank its part alone (Narayanan et al. 2021).
        let parts = if stack == Stack::Megatron {
            tensor
        } else {
            1.0
        };
        collective += 2.0
            * f64::from(job.habits.pipeline_chunks.max(1))
            * ways.neighbour(stream / parts, f64::from(plan.pipeline_parallel) * tensor)
            * (1.0 - c.pipeline_hidden);
    }

    // DeepSpeed's hooks fetch and release parameters and gather gradients, module by module.
    let hooked = stack == Stack::Transformers
        && (plan.sharding != Sharding::None
            || job.method == TrainingMethod::FullFinetune
                && job.precision == TrainingPrecision::Bf16);
    let hooks = if hooked { c.hooked_launches } else { 1.0 };
    let launch = if job.is_adapter() {
        let expansions = if expands_by_operations(job) {
            EXPANSION_LAUNCH_S * linear_layers(job) * (passes.launches - 2.0) / passes.launches
        } else {
            0.0
        };
        stacked.adapter_launch_s + expansions
    } else {
        stacked.launch_s
    };
    /// What a graph's replay costs of the launches recorded in it.
    const REPLAYED: f64 = 0.15;
    let replayed = if job.habits.recorded_launches {
        REPLAYED
    } else {
        1.0
    };
    let biased = if counts.biased_experts {
        c.biased_expert_bytes
    } else {
        0.0
    };
    let moved = match job.habits.dispatch {
        Dispatch::Sorted => c.routed_bytes + biased,
        Dispatch::Direct => (c.routed_bytes + biased) * c.fused_dispatch,
    };
    let routed =
        passes.elementwise * moved * tokens * routing.per_token * routing.width * routing.layers
            / routing.split;
    let scanned =
        passes.elementwise * c.scan_bytes * tokens * counts.scanned_elements as f64 / split;
    MicroBatch {
        compute: products + attention + (head - stage.last_spare * (products + attention)).max(0.0),
        memory: (product_traffic
            + elementwise
            + loss
            + adapters
            + expanded
            + casts
            + accumulated
            + routed
            + scanned)
            / rates.memory,
        tensor: collective,
        launch: (launch * hooks * layers + c.expert_launch_s * routing.layers)
            * replayed
            * passes.launches,
        waits: if job.habits.wraps_adapters {
            c.wrapped_adapter_s * adapters_of_block(job) * layers * passes.launches
        } else {
            0.0
        },
        synchronous: job.habits.synchronous_launches,
    }
}

/// Host time of the dozen operations that expand one GPTQ matrix, seconds.
const EXPANSION_LAUNCH_S: f64 = 120e-6;

/// Whether quantised weights are expanded by PyTorch's operations, one after another.
fn expands_by_operations(job: &TrainingJob<'_>) -> bool {
    job.method == TrainingMethod::Qlora
        && job.base_weights != WeightFormat::Nf4
        && !job.habits.expands_at_once
}

/// Linear layers of a block outside its experts: four projections and two or three inner products.
fn linear_layers(job: &TrainingJob<'_>) -> f64 {
    if job.model.transformer.ffn_gated {
        7.0
    } else {
        6.0
    }
}

/// Linear layers of a block that have an adapter.
fn adapters_of_block(job: &TrainingJob<'_>) -> f64 {
    match job.habits.adapter_targets {
        AdapterTargets::AllLinear => linear_layers(job),
        AdapterTargets::QueryValue => 2.0,
        AdapterTargets::Attention => 4.0,
    }
}

/// Work that experts' products leave undone in their last waves of tiles, FLOPs.
fn lost_by_experts(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    tokens: f64,
    stages: f64,
    passes: &Passes,
    c: &SpeedConstants,
) -> f64 {
    let shape = &job.model.transformer;
    let Some(e) = &shape.experts else {
        return 0.0;
    };
    let here = (f64::from(e.experts) / f64::from(plan.expert_parallel.max(1))).max(1.0);
    // Each expert has kernels of its own, or all share one.
    let kernels = match job.habits.dispatch {
        Dispatch::Sorted => here,
        Dispatch::Direct => 1.0,
    };
    let width = f64::from(if e.latent == 0 {
        shape.hidden
    } else {
        e.latent
    });
    let matrices = if shape.ffn_gated { 3.0 } else { 2.0 };
    let by_weights = if job.is_adapter() { 0.0 } else { 1.0 };
    let rows = tokens * f64::from(e.per_token) / here;
    let tensor = f64::from(plan.tensor_parallel.max(1));
    let lengths =
        matrices / 2.0 * (width + f64::from(e.ffn) / tensor) * (passes.products - by_weights)
            + by_weights * matrices * rows;
    let layers = f64::from(e.layers) / counts.layers.max(1) as f64 * counts.layers as f64 / stages;
    2.0 * c.lost_wave * WAVE * kernels * lengths * layers
}

/// Bytes read and written for a parameter when a micro-batch's gradient is added to the step's.
fn accumulation_bytes(stack: Stack) -> f64 {
    match stack {
        // Added into an FP32 buffer by the product itself.
        Stack::Megatron => 8.0,
        // A 16-bit gradient, then an FP32 sum.
        Stack::Deepspeed => 12.0,
        // 16-bit gradients, or sharded FP32 sums.
        Stack::Fsdp | Stack::Transformers | Stack::Litgpt => 6.0,
    }
}

/// What is routed on one card.
struct Routing {
    /// Blocks with experts.
    layers: f64,
    /// Experts that one token is sent to.
    per_token: f64,
    /// Width of what is sent.
    width: f64,
    /// Cards that share one sequence's tokens.
    split: f64,
}

impl Routing {
    fn of(job: &TrainingJob<'_>, plan: &TrainingPlan, stages: f64) -> Self {
        let split = if job.habits.sequence_parallel {
            f64::from(plan.tensor_parallel.max(1))
        } else {
            1.0
        };
        let shape = &job.model.transformer;
        shape.experts.as_ref().map_or(
            Self {
                layers: 0.0,
                per_token: 0.0,
                width: 0.0,
                split,
            },
            |e| Self {
                layers: f64::from(e.layers) / stages,
                per_token: f64::from(if job.passes_every_expert(plan) {
                    e.experts
                } else {
                    e.per_token
                }),
                width: f64::from(if e.latent == 0 {
                    shape.hidden
                } else {
                    e.latent
                }),
                split,
            },
        )
    }
}

/// Bytes of one weight as a product reads it.
fn weight_read_bytes(job: &TrainingJob<'_>) -> f64 {
    match job.precision {
        TrainingPrecision::Fp32 => 4.0,
        TrainingPrecision::Fp8 => 1.0,
        _ => 2.0,
    }
}
