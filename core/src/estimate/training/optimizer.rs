//! What lasts through a step: weights, master weights, gradients, optimizer states, adapters.
//!
//! Exact to the byte under the layout's splits (Rajbhandari et al. 2020 for the sharding stages).

use super::counts::Counts;
use super::job::{Stack, TrainingJob};
use crate::catalog::Node;
use crate::dtype::WeightFormat;
use crate::plan::{Offload, Sharding, TrainingPlan};
use crate::scenario::{Optimizer, TrainingMethod, TrainingPrecision};

/// Bytes of one card that last through a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lasting {
    /// Weights, as stored.
    pub weights: u64,
    /// FP32 copy of trained weights.
    pub master: u64,
    /// Gradients.
    pub gradients: u64,
    /// Optimizer states.
    pub states: u64,
    /// Adapters with their gradients, states and master copy.
    pub adapters: u64,
    /// Trained parameters that this card updates.
    pub updated_params: u64,
}

/// Bytes for one trained parameter.
#[derive(Debug, Clone, Copy)]
struct Recipe {
    /// The copy that the products read.
    weight: u64,
    /// FP32 master.
    master: u64,
    /// Gradient.
    gradient: u64,
    /// FP32 copy of the gradients, split like the states.
    gradient_copy: u64,
    /// One number of an optimizer state.
    state: u64,
}

/// Which stage of a pipeline a card belongs to. Without a pipeline a card is both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Holds the embedding; no pipeline: everything.
    First,
    /// Holds the output head.
    Last,
}

/// Parameters of one card before sharding over data-parallel ranks.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// Matrices of blocks that every token passes.
    pub shared: u64,
    /// Routed experts.
    pub experts: u64,
    /// Norms and biases.
    pub vectors: u64,
    /// Embedding and output head.
    pub tables: u64,
}

/// Ceiling of `n * part / whole`.
pub fn share(n: u64, part: u64, whole: u64) -> u64 {
    n.saturating_mul(part).div_ceil(whole.max(1))
}

impl Held {
    /// Of one stage of `plan`. Blocks are dealt to stages evenly, the fullest gets one more.
    pub fn of(counts: &Counts, plan: &TrainingPlan, stage: Stage) -> Self {
        let tensor = u64::from(plan.tensor_parallel.max(1));
        let pipeline = u64::from(plan.pipeline_parallel.max(1));
        let expert = u64::from(plan.expert_parallel.max(1));
        let layers = counts.layers.max(1);
        let stage_layers = layers.div_ceil(pipeline);
        let tables = match (pipeline, stage) {
            (1, _) => counts.tables,
            // A tied table is held by both ends.
            (_, Stage::First | Stage::Last) => 1,
        };
        Self {
            shared: share(counts.shared_params, stage_layers, layers).div_ceil(tensor),
            experts: share(counts.expert_params, stage_layers, layers).div_ceil(expert * tensor),
            vectors: share(counts.vector_params, stage_layers, layers),
            tables: tables * counts.table_params.div_ceil(tensor),
        }
    }

    /// All but the experts.
    pub fn dense(&self) -> u64 {
        self.shared + self.vectors + self.tables
    }

    /// All.
    pub fn all(&self) -> u64 {
        self.dense() + self.experts
    }
}

/// Ranks that states of dense parameters and of experts are split over.
pub fn shard_ranks(plan: &TrainingPlan, node: &Node<'_>) -> (u64, u64) {
    let ranks = u64::from(plan.data_parallel.max(1)) * u64::from(plan.context_parallel.max(1));
    let in_node = (u64::from(node.cards_per_node) / u64::from(plan.tensor_parallel.max(1))).max(1);
    let ranks = if plan.sharding == Sharding::Hybrid {
        ranks.min(in_node)
    } else {
        ranks
    };
    (
        ranks,
        (ranks / u64::from(plan.expert_parallel.max(1))).max(1),
    )
}

/// Whether weights themselves are sharded.
pub fn shards_weights(plan: &TrainingPlan) -> bool {
    matches!(plan.sharding, Sharding::Zero3 | Sharding::Hybrid)
}

impl Recipe {
    fn of(job: &TrainingJob<'_>, stack: Stack, sharding: Sharding) -> Self {
        let (weight, master, gradient, gradient_copy, state) = match job.precision {
            TrainingPrecision::Fp32 => (4, 0, 4, 0, 4),
            TrainingPrecision::PureBf16 => (2, 0, 2, 0, 2),
            TrainingPrecision::Fp16 | TrainingPrecision::Bf16 | TrainingPrecision::Fp8 => {
                let sharded = sharding != Sharding::None;
                // DeepSpeed keeps 16-bit gradients; Megatron and FSDP reduce into FP32, and so
                // does autocast over FP32 weights.
                let (gradient, gradient_copy) = match stack {
                    Stack::Deepspeed => (2, 4),
                    Stack::Transformers if sharded => (2, 0),
                    _ => (4, 0),
                };
                // FSDP shards the FP32 master itself and gathers 16-bit copies on the way.
                let gathered_only =
                    stack == Stack::Fsdp && matches!(sharding, Sharding::Zero3 | Sharding::Hybrid);
                (
                    if gathered_only { 0 } else { 2 },
                    4,
                    gradient,
                    gradient_copy,
                    4,
                )
            }
        };
        Self {
            weight,
            master,
            gradient,
            gradient_copy,
            state,
        }
    }
}

/// Bytes of optimizer states for `params`, of which `matrices` lie in blocks' matrices and
/// `factored` is the sum of rows and columns of those.
fn state_bytes(optimizer: Optimizer, params: u64, matrices: u64, factored: u64, each: u64) -> u64 {
    match optimizer {
        Optimizer::Adamw => 2 * each * params,
        // One byte a moment and an FP32 scale for each block of 256 (Dettmers et al. 2022).
        Optimizer::Adamw8bit => 2 * (params + 4 * params.div_ceil(256)),
        // Paged to host memory when the card needs the room.
        Optimizer::PagedAdamw8bit | Optimizer::Sgd => 0,
        // Second moment by rows and columns of matrices, whole elsewhere; no first moment
        // (Shazeer and Stern 2018).
        Optimizer::Adafactor => 4 * (factored + params.saturating_sub(matrices)),
        Optimizer::SgdMomentum | Optimizer::Lion => each * params,
        // Momentum for matrices, AdamW for embeddings, head and vectors (Jordan et al. 2024).
        Optimizer::Muon => {
            let matrices = matrices.min(params);
            each * matrices + 2 * each * (params - matrices)
        }
    }
}

/// Bytes of `params` frozen weights in `format`, block scales counted.
pub fn frozen_bytes(format: WeightFormat, params: u64) -> u64 {
    match format {
        WeightFormat::Fp32 => 4 * params,
        WeightFormat::Bf16 | WeightFormat::Fp16 => 2 * params,
        WeightFormat::Fp8 | WeightFormat::Int8 | WeightFormat::Q8_0 => params,
        // A byte's scale for 64 weights, and an FP32 one for 256 of those (Dettmers et al. 2023).
        WeightFormat::Nf4 => {
            let blocks = params.div_ceil(64);
            params.div_ceil(2) + blocks + 4 * blocks.div_ceil(256)
        }
        WeightFormat::Mxfp4 => params.div_ceil(2) + params.div_ceil(32),
        WeightFormat::Nvfp4 => params.div_ceil(2) + params.div_ceil(16),
        // A 16-bit scale and a 4-bit zero point for 128 weights; the other 4-bit types are
        // never trained on and close to it.
        _ => params.div_ceil(2) + share(params, 20, 1024),
    }
}

/// Whether 16-bit parts of a quantised model are raised to FP32, as PEFT does when it prepares
/// a bitsandbytes model.
pub fn raises_to_fp32(job: &TrainingJob<'_>, stack: Stack) -> bool {
    job.method == TrainingMethod::Qlora
        && stack == Stack::Transformers
        && job.base_weights == WeightFormat::Nf4
        && job.precision != TrainingPrecision::PureBf16
        && !job.habits.keeps_half
}

/// What lasts on one card of `stage`.
pub fn lasting(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    node: &Node<'_>,
    stage: Stage,
) -> Lasting {
    let stack = job.stack(plan);
    let held = Held::of(counts, plan, stage);
    let ranks = shard_ranks(plan, node);
    if job.is_adapter() {
        return lasting_adapters(job, counts, plan, stack, &held, ranks.0);
    }
    let recipe = Recipe::of(job, stack, plan.sharding);
    let split = |dense: u64, experts: u64, sharded: bool| {
        if sharded {
            dense.div_ceil(ranks.0) + experts.div_ceil(ranks.1)
        } else {
            dense + experts
        }
    };
    let (dense, experts) = (held.dense(), held.experts);
    let states_split = plan.sharding != Sharding::None;
    let gradients_split = matches!(
        plan.sharding,
        Sharding::Zero2 | Sharding::Zero3 | Sharding::Hybrid
    );
    let weights_split = shards_weights(plan);
    let updated = split(dense, experts, states_split);
    let host_states = plan.offload != Offload::None;
    // Transformer Engine keeps FP8 copies of a block's matrices, straight and transposed.
    let fp8_copies = if job.precision == TrainingPrecision::Fp8 && !weights_split {
        2 * (held.shared + held.experts)
    } else {
        0
    };
    let factored = share(
        counts.factored_elements,
        held.shared + held.experts,
        (counts.shared_params + counts.expert_params).max(1),
    );
    let matrices = split(held.shared, held.experts, states_split);
    let factored = if states_split {
        factored.div_ceil(ranks.0)
    } else {
        factored
    };
    // LitGPT's fine-tuning loads the whole model onto every card before it shards it.
    let loaded =
        if weights_split && stack == Stack::Litgpt && job.method != TrainingMethod::Pretrain {
            recipe.weight * (dense + experts)
        } else {
            0
        };
    Lasting {
        weights: if plan.offload == Offload::All {
            0
        } else {
            recipe.weight * split(dense, experts, weights_split) + fp8_copies + loaded
        },
        master: if host_states {
            0
        } else {
            recipe.master * updated
        },
        gradients: recipe.gradient * split(dense, experts, gradients_split)
            + recipe.gradient_copy * updated,
        states: if host_states {
            0
        } else {
            state_bytes(job.optimizer, updated, matrices, factored, recipe.state)
        },
        adapters: 0,
        updated_params: updated,
    }
}

/// Adapters on frozen weights: bytes on one card.
fn lasting_adapters(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    stack: Stack,
    held: &Held,
    ranks: u64,
) -> Lasting {
    let blocks = held.shared + held.experts;
    let kept = held.vectors + held.tables;
    let whole = if job.method == TrainingMethod::Qlora {
        let kept_bytes = if raises_to_fp32(job, stack) { 4 } else { 2 };
        frozen_bytes(job.base_weights, blocks) + kept_bytes * kept
    } else {
        frozen_bytes(job.base_weights, blocks + kept)
    };
    let weights = match (shards_weights(plan), plan.offload) {
        (_, Offload::All) => 0,
        // LitGPT loads the whole model onto every card before it shards it.
        (true, _) if stack == Stack::Litgpt => whole + whole.div_ceil(ranks),
        (true, _) => whole.div_ceil(ranks),
        (false, _) => whole,
    };
    let tensor = u64::from(plan.tensor_parallel.max(1));
    let all = counts.adapter_params_per_rank(job.habits.adapter_targets) * u64::from(job.lora_rank);
    let held_share = share(
        all,
        blocks,
        (counts.shared_params + counts.expert_params).max(1),
    );
    let params = held_share.max(all.div_ceil(tensor * u64::from(plan.pipeline_parallel.max(1))));
    let sharded = if plan.sharding == Sharding::None {
        1
    } else {
        ranks
    };
    // FP32 adapters unless the whole job is in 16 bit.
    let (weight, gradient, state) = match job.precision {
        TrainingPrecision::PureBf16 => (2, 2, 2),
        _ => (4, 4, 4),
    };
    let updated = params.div_ceil(sharded);
    // A full shard splits adapters as it splits the weights around them.
    let params = if shards_weights(plan) {
        updated
    } else {
        params
    };
    let states = state_bytes(job.optimizer, updated, updated, updated / 64, state);
    let tables = if job.habits.trained_embeddings {
        // Copies in the model's own 16 bits, with gradients and states.
        let n = held.tables;
        2 * n + 2 * n + state_bytes(job.optimizer, n, n, n / 64, 2)
    } else {
        0
    };
    Lasting {
        weights,
        master: 0,
        gradients: 0,
        states: 0,
        adapters: (weight + gradient) * params + states + tables,
        updated_params: updated + if tables > 0 { held.tables } else { 0 },
    }
}
