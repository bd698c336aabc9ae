//! Memory and speed of a planned job: physics times a measured efficiency.
//!
//! Training and serving each have a file; what both stand on is beside them.

pub mod diffusion;
pub mod science;
pub mod serving;
pub mod spread;
pub mod tally;
pub mod training;
pub mod vision;
pub mod work;

use serde::Serialize;

use crate::range::Range;

/// Parts of a card's memory, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPart {
    /// Weights, as stored.
    Weights,
    /// FP32 copy of the weights.
    MasterWeights,
    /// Gradients.
    Gradients,
    /// Optimizer states.
    OptimizerStates,
    /// Adapters with their gradients and states.
    Adapters,
    /// Activations kept for the backward pass, or the working set of a forward pass.
    Activations,
    /// Output logits and what the loss keeps of them.
    Logits,
    /// KV cache.
    KvCache,
    /// Buffers of collectives and of gathered weights.
    Communication,
    /// Networks that read prompts.
    TextEncoders,
    /// The network between latents and pixels.
    Autoencoder,
    /// What a computation must hold.
    WorkingSet,
    /// CUDA context, libraries, engine.
    Framework,
    /// What the allocator holds without using it.
    Fragmentation,
}

impl MemoryPart {
    /// Key of its name among the texts.
    pub fn label_key(self) -> &'static str {
        match self {
            Self::Weights => "part.weights",
            Self::MasterWeights => "part.master_weights",
            Self::Gradients => "part.gradients",
            Self::OptimizerStates => "part.optimizer_states",
            Self::Adapters => "part.adapters",
            Self::Activations => "part.activations",
            Self::Logits => "part.logits",
            Self::KvCache => "part.kv_cache",
            Self::Communication => "part.communication",
            Self::TextEncoders => "part.text_encoders",
            Self::Autoencoder => "part.autoencoder",
            Self::WorkingSet => "part.working_set",
            Self::Framework => "part.framework",
            Self::Fragmentation => "part.fragmentation",
        }
    }
}

/// Memory of one card, the fullest of the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryEstimate {
    /// Bytes by part; parts of 0 are left out.
    pub parts: Vec<(MemoryPart, u64)>,
    /// What is needed in all, bytes; `mid` is the parts' sum.
    pub needed_bytes: Range,
    /// What the engine takes whether it is needed or not (vLLM's share of the card), bytes.
    pub reserved_bytes: Option<u64>,
    /// What the range rests on.
    pub basis: Basis,
}

/// What an estimate rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Basis {
    /// Measurements in the nearest group.
    pub measurements: u32,
    /// What that group shares with this estimate.
    pub scope: BasisScope,
    /// Median of |estimate / measured - 1| in that group, by leave-one-source-out.
    pub typical_error: f64,
}

/// What a group of measurements shares with an estimate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "scope", content = "name")]
pub enum BasisScope {
    /// The card itself (its id).
    Card(String),
    /// The card's architecture (its name).
    Architecture(String),
    /// The kind of job alone.
    JobKind,
}

/// Where a step's time goes, seconds; overlapping parts are counted once, where they are exposed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimeParts {
    /// Matrix units at work.
    pub compute_s: f64,
    /// Waiting for card memory.
    pub memory_s: f64,
    /// Waiting for other cards.
    pub communication_s: f64,
    /// Pipeline bubble.
    pub bubble_s: f64,
    /// Kernel launches, engine, host.
    pub overhead_s: f64,
}

impl TimeParts {
    /// All of it, seconds.
    pub fn total(&self) -> f64 {
        self.compute_s + self.memory_s + self.communication_s + self.bubble_s + self.overhead_s
    }
}

/// Speed of a training job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainingSpeed {
    /// Time of one optimizer step, seconds.
    pub step_s: Range,
    /// Where the middle of it goes.
    pub parts: TimeParts,
    /// Tokens a second over all cards.
    pub tokens_per_s: Range,
    /// Model FLOPs over the dense peak, 0 to 1, recomputation not counted (Chowdhery et al. 2022).
    pub mfu: f64,
    /// What the range rests on.
    pub basis: Basis,
}

/// Speed of a service.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServingSpeed {
    /// Time to first token at this load, seconds.
    pub ttft_s: Range,
    /// Time per output token at this load, seconds.
    pub tpot_s: Range,
    /// Time to the first token of the answer, reasoning before it included, seconds.
    pub answer_s: Range,
    /// Output tokens a second for one user, `1 / tpot`.
    pub tokens_per_s_user: Range,
    /// Output tokens a second over all cards, prefill's share of the time counted.
    pub tokens_per_s_total: Range,
    /// Prompt tokens a second of one copy.
    pub prefill_tokens_per_s: Range,
    /// Requests a second over all cards.
    pub requests_per_s: Range,
    /// Where the middle of one decoding step goes.
    pub decode_parts: TimeParts,
    /// What the range rests on.
    pub basis: Basis,
}
