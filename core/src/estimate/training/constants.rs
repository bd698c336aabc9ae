//! Fitted constants of the training estimator, read from `core/data/calibration/training.json`,
//! which `cargo xtask calibrate` writes.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::job::{Stack, TrainingJob};
use crate::catalog::Card;
use crate::dtype::ComputeDtype;
use crate::estimate::Basis;
use crate::estimate::spread::Spread;
use crate::packed::{PackedFile, packed_file};
use crate::range::Range;
use crate::scenario::TrainingMethod;

pub(crate) static FILE: PackedFile = packed_file!(
    "training",
    crate::packed::json::<TrainingConstants>,
    include_str!("../../../data/calibration/training.json")
);

/// Constants of the training estimator.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TrainingConstants {
    /// How the constants were found.
    #[serde(default)]
    pub provenance: String,
    /// Constants of memory.
    pub memory: MemoryConstants,
    /// Constants of speed.
    pub speed: SpeedConstants,
    /// Residuals of memory.
    #[serde(default)]
    pub memory_spread: Spread,
    /// Residuals of speed (measured speed over estimated speed).
    #[serde(default)]
    pub speed_spread: Spread,
    /// Residuals of whole runs (measured card-hours over estimated ones).
    #[serde(default)]
    pub run_spread: Spread,
}

/// What is fitted in memory; everything else there is arithmetic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryConstants {
    /// CUDA (or other driver) context with the libraries' workspaces, bytes.
    pub context_bytes: f64,
    /// Buffers of the collectives' library once there is more than one card, bytes.
    pub collective_bytes: f64,
    /// By software.
    pub stacks: StackMemories,
}

/// [`StackMemory`] of every stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each field is a stack's own name")]
pub struct StackMemories {
    pub megatron: StackMemory,
    pub deepspeed: StackMemory,
    pub fsdp: StackMemory,
    pub transformers: StackMemory,
    pub litgpt: StackMemory,
}

/// What one software keeps beyond the table of activations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StackMemory {
    /// Kept activations over Korthikanti et al.'s table, all weights trained.
    pub activations: f64,
    /// The same with adapters on frozen weights.
    pub adapter_activations: f64,
    /// What a quantised base adds to that, as a factor.
    pub quantised_activations: f64,
    /// Working set of one block under full recomputation, in blocks' kept activations.
    pub working_blocks: f64,
    /// Bytes for one logit: the logits, their FP32 copies, their gradient.
    pub logit_bytes: f64,
    /// Temporaries of an update that goes over all parameters at once, bytes a parameter with
    /// FP32 states.
    pub update_bytes: f64,
    /// What the allocator holds beyond need, over activations, logits and buffers.
    pub fragmentation: f64,
}

impl MemoryConstants {
    /// Those of one stack.
    pub fn stack(&self, stack: Stack) -> &StackMemory {
        match stack {
            Stack::Megatron => &self.stacks.megatron,
            Stack::Deepspeed => &self.stacks.deepspeed,
            Stack::Fsdp => &self.stacks.fsdp,
            Stack::Transformers => &self.stacks.transformers,
            Stack::Litgpt => &self.stacks.litgpt,
        }
    }
}

/// What is fitted in speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpeedConstants {
    /// Largest share of the dense peak that matrix products reach, by architecture.
    pub architectures: Vec<ArchitectureEfficiency>,
    /// Share of the peak for an architecture without an entry or a relative.
    pub other_efficiency: f64,
    /// FP8 products' share of what they reach measured alone, over the same for 16-bit products.
    pub fp8_over_half: f64,
    /// Bytes read and written to bring one operand of a product to FP8.
    pub fp8_cast_bytes: f64,
    /// Share of a wave of tiles that a product leaves idle.
    pub lost_wave: f64,
    /// Rows lost in an expert's last tile, over half a tile.
    pub expert_padding: f64,
    /// TF32 products' share of their peak over 16-bit products' share of theirs.
    pub tf32_over_half: f64,
    /// Share of the FP32 peak that products on vector units reach.
    pub vector_efficiency: f64,
    /// Rate of the first FlashAttention over the second's (Dao 2023 tells of a factor of 2).
    pub first_flash_attention: f64,
    /// The same of FlashAttention in Triton: the second is 1.3 to 1.5 times as fast (Dao 2023).
    pub triton_attention: f64,
    /// Rate of fused attention with heads of 64 at most over that with heads of 128.
    #[serde(default = "one")]
    pub narrow_heads: f64,
    /// Rate of PyTorch's memory-efficient attention under a padding mask over FlashAttention's.
    pub padded_attention: f64,
    /// Rate of products whose split width is no multiple of a matrix unit's tile.
    pub misaligned_products: f64,
    /// Experts' products over dense products, the cost of routing included.
    pub experts_over_products: f64,
    /// The same on cards of other makers than NVIDIA and AMD.
    pub experts_elsewhere: f64,
    /// Host time to launch one pass over one block's experts, beside the block's own, seconds.
    pub expert_launch_s: f64,
    /// Bytes read and written for one number of a routed token's copy in one pass: counting,
    /// sorting by expert, padding, weighing and bringing back.
    pub routed_bytes: f64,
    /// Share of that which remains where one kernel does it.
    pub fused_dispatch: f64,
    /// Bytes read and written for one number of a routed token in one pass where experts have biases: their
    /// outputs are split by expert, a bias weighed by the router is added to each and all are joined again in FP32,
    /// and backwards the biases' gradients are summed.
    #[serde(default)]
    pub biased_expert_bytes: f64,
    /// Bytes read and written for one number of a linear mixer's inner widths in one pass:
    /// convolution, chunked scan, gate and norm (Dao and Gu 2024).
    pub scan_bytes: f64,
    /// Rate of Transformer Engine's attention over FlashAttention-2's from Hopper on, whose
    /// asynchronous units the latter does not use (Shah et al. 2024).
    pub engine_attention: f64,
    /// Share of the matrix products' own memory traffic that is not hidden behind them.
    pub product_traffic: f64,
    /// Share of memory bandwidth that element-wise kernels and updates reach.
    pub bandwidth_efficiency: f64,
    /// Rate of element-wise traffic over that from card memory where the card's second cache is
    /// large enough to hold much of what one kernel hands to the next: Ada's, twelve times its
    /// forerunner's.
    pub large_cache: f64,
    /// Bytes read and written for one logit by the loss.
    pub logit_traffic_bytes: f64,
    /// Bytes read and written for one weight to expand a matrix that is unpacked operation by
    /// operation (GPTQ, AWQ).
    pub expand_bytes: f64,
    /// The same for NF4, which one kernel of bitsandbytes expands: half a byte and its scales
    /// read, 2 written.
    pub nf4_expand_bytes: f64,
    /// Share of a card link's one-way bandwidth that collectives reach.
    pub link_efficiency: f64,
    /// The same for the network between nodes.
    pub network_efficiency: f64,
    /// Share of tensor-parallel collectives hidden behind products.
    pub tensor_hidden: f64,
    /// Share of experts' exchange hidden behind computation.
    pub exchange_hidden: f64,
    /// Share of what pipeline stages hand on that is hidden behind computation.
    pub pipeline_hidden: f64,
    /// Share of sharding's and gradients' collectives hidden behind computation.
    pub data_hidden: f64,
    /// The same under FSDP, which fetches the next block ahead.
    #[serde(default = "prefetched")]
    pub fsdp_hidden: f64,
    /// Time that a tensor-parallel collective takes beyond its bytes: waiting for the slowest,
    /// launching, small rings.
    pub collective_latency_s: f64,
    /// Launches of a pass under DeepSpeed's hooks over those without.
    pub hooked_launches: f64,
    /// Time of one pass that the card waits for the host at an adapter whose two matrices FSDP gathers by themselves,
    /// seconds.
    #[serde(default)]
    pub wrapped_adapter_s: f64,
    /// Parameters that one card's share of the host updates in a second.
    pub host_updates_per_s: f64,
    /// Element-wise traffic of compiled blocks over that of the software's usual kernels.
    #[serde(default = "one")]
    pub compiled_passes: f64,
    /// The same of PyTorch's operators one by one.
    #[serde(default = "one")]
    pub eager_passes: f64,
    /// By software.
    pub stacks: StackSpeeds,
    /// Run time of a whole job over the time of its steps: restarts, evaluation, checkpoints.
    pub end_to_end: f64,
}

/// Efficiency of one architecture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArchitectureEfficiency {
    /// Name as the catalog writes it.
    pub name: String,
    /// Share of the dense 16-bit peak that large matrix products reach, for cards whose own
    /// measured products the catalog lacks.
    pub achievable: f64,
    /// TFLOPS a watt of the card that this was measured on: what denser cards are throttled from.
    pub tflops_per_watt: f64,
    /// Share of the achievable rate that training's products reach.
    pub half: f64,
    /// FlashAttention-2's rate over products' rate.
    pub attention: f64,
    /// Measured rows that it rests on; 0: taken from a relative.
    pub rows: u32,
}

/// [`StackSpeed`] of every stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each field is a stack's own name")]
pub struct StackSpeeds {
    pub megatron: StackSpeed,
    pub deepspeed: StackSpeed,
    pub fsdp: StackSpeed,
    pub transformers: StackSpeed,
    pub litgpt: StackSpeed,
}

/// How one software runs what is not a matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StackSpeed {
    /// Times that element-wise kernels of a forward pass go over what the pass keeps.
    pub elementwise_passes: f64,
    /// Host time to launch one pass over one block, seconds.
    pub launch_s: f64,
    /// The same for a block with adapters.
    pub adapter_launch_s: f64,
    /// Bytes read and written for each input and output of a linear layer with an adapter beside
    /// it: dropout, casts, the sum.
    pub adapter_traffic_bytes: f64,
    /// Rate of its matrix products over other software's.
    #[serde(default = "one")]
    pub products: f64,
    /// Rate of its attention kernels over the architecture's usual ones.
    pub attention: f64,
    /// Host time of a step that nothing hides, seconds.
    pub step_s: f64,
}

impl SpeedConstants {
    /// Those of one stack.
    pub fn stack(&self, stack: Stack) -> &StackSpeed {
        match stack {
            Stack::Megatron => &self.stacks.megatron,
            Stack::Deepspeed => &self.stacks.deepspeed,
            Stack::Fsdp => &self.stacks.fsdp,
            Stack::Transformers => &self.stacks.transformers,
            Stack::Litgpt => &self.stacks.litgpt,
        }
    }

    /// Share of data parallelism's collectives that `stack` hides behind computation.
    pub fn hidden_behind_work(&self, stack: Stack) -> f64 {
        if stack == Stack::Fsdp {
            self.fsdp_hidden
        } else {
            self.data_hidden
        }
    }

    /// Rate of usual fused attention over products' rate on `card`.
    pub fn attention_share(&self, card: &Card) -> f64 {
        self.architecture(card).map_or(0.6, |entry| entry.attention)
    }

    fn architecture(&self, card: &Card) -> Option<&ArchitectureEfficiency> {
        let of = |name: &str| self.architectures.iter().find(|a| a.name == name);
        of(&card.architecture).or_else(|| of(relative(&card.architecture)?))
    }

    /// Share of the dense 16-bit peak on `card`, its nearest relative's where it has none.
    pub fn half_efficiency(&self, card: &Card) -> f64 {
        let Some(entry) = self.architecture(card) else {
            return self.other_efficiency;
        };
        entry.half * measured_share(card, &HALF).unwrap_or_else(|| entry.achievable_on(card))
    }

    /// Share of the dense FP8 peak on `card`: from FP8 products measured alone, else as 16-bit
    /// products do.
    pub fn fp8_efficiency(&self, card: &Card) -> f64 {
        let half = self.half_efficiency(card);
        let own = match (
            measured_share(card, &[ComputeDtype::Fp8]),
            measured_share(card, &HALF),
        ) {
            (Some(fp8), Some(of_half)) => half * fp8 / of_half,
            _ => half,
        };
        own * self.fp8_over_half
    }

    /// Share of the dense 16-bit peak that large products alone reach on `card`.
    pub fn product_share(&self, card: &Card) -> f64 {
        measured_share(card, &HALF)
            .or_else(|| Some(self.architecture(card)?.achievable_on(card)))
            .unwrap_or(self.other_efficiency)
    }
}

const HALF: [ComputeDtype; 2] = [ComputeDtype::Bf16, ComputeDtype::Fp16];

fn one() -> f64 {
    1.0
}

fn prefetched() -> f64 {
    0.85
}

/// Measured products over the peak, where the catalog has them.
fn measured_share(card: &Card, dtypes: &[ComputeDtype]) -> Option<f64> {
    card.measured_matmul.iter().find_map(|m| {
        if !dtypes.contains(&m.dtype) {
            return None;
        }
        let share = m.tflops * 1e12 / card.peak_tflops.flops_per_s(m.dtype)?;
        (share > 0.0 && share <= 1.0).then_some(share)
    })
}

impl ArchitectureEfficiency {
    /// Share of the peak that large products reach on `card`. A card with fewer FLOPS a watt than
    /// the measured one is held back less by its power limit, one with more is held back more.
    fn achievable_on(&self, card: &Card) -> f64 {
        /// How far a card beyond the measured density falls behind.
        const THROTTLE: f64 = 0.7;
        let peak = card
            .peak_tflops
            .bf16
            .or(card.peak_tflops.fp16)
            .unwrap_or(0.0);
        let Some(density) = card
            .power_w
            .filter(|w| *w > 0.0)
            .map(|watts| peak / watts / self.tflops_per_watt)
            .filter(|density| *density > 0.0)
        else {
            return self.achievable;
        };
        if density < 1.0 {
            1.0 - (1.0 - self.achievable) * density
        } else {
            // A faster card of the same power is never slower than this one.
            self.achievable * density.powf(-THROTTLE)
        }
    }
}

/// The architecture whose measurements stand in for one that has none.
fn relative(architecture: &str) -> Option<&'static str> {
    match architecture {
        "CDNA4" => Some("CDNA3"),
        "CDNA" => Some("CDNA2"),
        "Da Vinci" | "Da Vinci 2 (dual die)" => Some("Da Vinci 2"),
        "Gaudi 3" => Some("Gaudi 2"),
        _ => None,
    }
}

/// Name of a method in groups of measurements: the `task` of measured rows.
pub fn kind_name(method: TrainingMethod) -> &'static str {
    match method {
        TrainingMethod::Pretrain => "pretrain",
        TrainingMethod::FullFinetune => "full_ft",
        TrainingMethod::Lora => "lora",
        TrainingMethod::Qlora => "qlora",
    }
}

impl TrainingConstants {
    /// The constants that ship with the product, read once.
    ///
    /// The file is parsed by the tests; were it ever unreadable, the constants before the fit
    /// are used, with the range of no measurement.
    pub fn embedded() -> &'static Self {
        static CONSTANTS: OnceLock<TrainingConstants> = OnceLock::new();
        CONSTANTS.get_or_init(|| FILE.read())
    }

    /// The constants before any fit, for decisions that must not change with one.
    pub fn unfitted() -> &'static Self {
        static CONSTANTS: OnceLock<TrainingConstants> = OnceLock::new();
        CONSTANTS.get_or_init(Self::default)
    }

    /// The range of memory around `mid` bytes, of which `uncertain` vary.
    pub fn memory_range(
        &self,
        mid: f64,
        uncertain: f64,
        job: &TrainingJob<'_>,
        stack: Stack,
        card: &Card,
    ) -> (Range, Basis) {
        let uncertain = uncertain.max(1.0);
        let spread = &self.memory_spread;
        let software = kind_and_stack_name(job.method, stack);
        // From the same software, on the same architecture first, where that is enough.
        let (part, basis) = spread
            .range_of_group(uncertain, card, software)
            .or_else(|| spread.range_of_software(uncertain, card, software))
            .unwrap_or_else(|| spread.memory_range(uncertain, card, kind_name(job.method)));
        let certain = mid - part.mid;
        let range = Range {
            low: (certain + part.low).max(0.0),
            mid,
            high: certain + part.high,
        };
        (range, basis)
    }

    /// The range of tokens a second around `mid`.
    pub fn speed_range(
        &self,
        mid: f64,
        job: &TrainingJob<'_>,
        stack: Stack,
        card: &Card,
    ) -> (Range, Basis) {
        // From the same software on the same architecture where that is enough.
        self.speed_spread
            .range_of_group(mid, card, kind_and_stack_name(job.method, stack))
            .unwrap_or_else(|| self.speed_spread.range(mid, card, kind_name(job.method)))
    }
}

/// Name of a method run with one software, in groups of measurements.
pub fn kind_and_stack_name(method: TrainingMethod, stack: Stack) -> &'static str {
    use Stack::{Deepspeed, Fsdp, Litgpt, Megatron, Transformers};
    use TrainingMethod::{FullFinetune, Lora, Pretrain, Qlora};
    match (method, stack) {
        (Pretrain, Megatron) => "pretrain megatron",
        (Pretrain, Deepspeed) => "pretrain deepspeed",
        (Pretrain, Fsdp) => "pretrain fsdp",
        (Pretrain, Transformers) => "pretrain transformers",
        (Pretrain, Litgpt) => "pretrain litgpt",
        (FullFinetune, Megatron) => "full_ft megatron",
        (FullFinetune, Deepspeed) => "full_ft deepspeed",
        (FullFinetune, Fsdp) => "full_ft fsdp",
        (FullFinetune, Transformers) => "full_ft transformers",
        (FullFinetune, Litgpt) => "full_ft litgpt",
        (Lora, Megatron) => "lora megatron",
        (Lora, Deepspeed) => "lora deepspeed",
        (Lora, Fsdp) => "lora fsdp",
        (Lora, Transformers) => "lora transformers",
        (Lora, Litgpt) => "lora litgpt",
        (Qlora, Megatron) => "qlora megatron",
        (Qlora, Deepspeed) => "qlora deepspeed",
        (Qlora, Fsdp) => "qlora fsdp",
        (Qlora, Transformers) => "qlora transformers",
        (Qlora, Litgpt) => "qlora litgpt",
    }
}
