//! What is trained, with which software, in which number formats.

use serde::{Deserialize, Serialize};

use crate::catalog::Model;
use crate::dtype::WeightFormat;
use crate::plan::TrainingPlan;
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
    /// Rank of the adapters.
    pub lora_rank: u32,
    /// Fused attention.
    pub flash_attention: bool,
    /// What the training software does by its own habit.
    pub habits: Habits,
}

/// Training software, told apart by what it keeps in memory and how it launches work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stack {
    /// Megatron-LM and what is built on it (NeMo, ModelLink): fused kernels, FP32 gradients.
    Megatron,
    /// Megatron's kernels with the sharded optimizer of DeepSpeed's kind (BLOOM, MT-NLG,
    /// InternEvo): an FP32 copy of the gradients is kept.
    Deepspeed,
    /// PyTorch FSDP with compiled or fused kernels (llm-foundry, torchtitan, Automodel).
    Fsdp,
    /// Hugging Face Transformers with PEFT and DeepSpeed: eager kernels.
    Transformers,
    /// LitGPT: eager kernels, loss in chunks.
    Litgpt,
}

impl Stack {
    /// Every stack, in the order of the constants' tables.
    pub const ALL: [Self; 4] = [Self::Megatron, Self::Fsdp, Self::Transformers, Self::Litgpt];

    /// The software that such a job is usually run with: Transformers for fine-tuning on one
    /// node, Megatron once a model is split by tensor or pipeline, FSDP otherwise.
    pub fn usual(method: TrainingMethod, plan: &TrainingPlan) -> Self {
        let split = plan.tensor_parallel > 1 || plan.pipeline_parallel > 1;
        match method {
            TrainingMethod::Lora | TrainingMethod::Qlora => Self::Transformers,
            TrainingMethod::FullFinetune if !split => Self::Transformers,
            _ if split || plan.context_parallel > 1 => Self::Megatron,
            _ => Self::Fsdp,
        }
    }
}

/// Which matrices get adapters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdapterTargets {
    /// Every linear layer of a block.
    #[default]
    AllLinear,
    /// Query and value projections alone (Hu et al. 2021).
    QueryValue,
    /// Attention's four projections.
    Attention,
}

/// Kernel of fused attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttentionKernel {
    /// FlashAttention-2 (Dao 2023) or the software's own kernel of that rank.
    #[default]
    Flash,
    /// Transformer Engine's, which Megatron takes anyway.
    Engine,
    /// The first FlashAttention (Dao et al. 2022), about half as fast.
    FirstFlash,
    /// FlashAttention in Triton, between the two.
    Triton,
    /// PyTorch's memory-efficient kernel under a padding mask: the whole square, at a lower rate.
    Padded,
    /// Transformer Engine's before cuDNN 9 (May 2024), no faster than FlashAttention-2.
    EarlyEngine,
}

/// What an eager loss keeps of 16-bit logits, bytes a logit in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossCopies {
    /// Raised to FP32 by the model, log-softmax and its gradient in FP32 (2 + 4 + 4 + 4 + 2), as
    /// Transformers does it for most models.
    #[default]
    Upcast,
    /// Raised by autocast inside the loss alone (2 + 4 + 4 + 2).
    Autocast,
    /// 16 bit throughout, where nothing raises them (2 + 2 + 2 + 2).
    Half,
}

impl LossCopies {
    /// Bytes over those of the default.
    pub fn share(self) -> f64 {
        match self {
            Self::Upcast => 1.0,
            Self::Autocast => 12.0 / 16.0,
            Self::Half => 8.0 / 16.0,
        }
    }
}

/// What selective recomputation leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selective {
    /// Attention's scores alone (Korthikanti et al. 2022); nothing where attention is fused.
    #[default]
    Scores,
    /// All but attention and every other product of a block, as torchtitan does it by operator.
    EveryOtherProduct,
    /// Every other block whole.
    EveryOtherBlock,
}

/// How routed tokens are sorted by expert, sent and brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dispatch {
    /// Sorted by one kernel after another, a copy for each expert sent by an all-to-all: what most
    /// software does.
    #[default]
    Sorted,
    /// Sorted, sent once to each card and brought back by one kernel (DeepEP, HybridEP).
    Direct,
}

/// What the training software does by habit and a user seldom chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// The software; `None`: the usual one for the method and the layout.
    pub stack: Option<Stack>,
    /// Output head and loss fused, so that logits are never written whole.
    pub fused_loss: bool,
    /// Embedding and output head are trained beside the adapters.
    pub trained_embeddings: bool,
    /// Which matrices get adapters.
    pub adapter_targets: AdapterTargets,
    /// FP32 products run on TF32 matrix units where the card has them.
    pub tf32: bool,
    /// Model chunks of a pipeline stage (interleaved schedule, Narayanan et al. 2021).
    pub pipeline_chunks: u32,
    /// Kernel of fused attention.
    pub attention_kernel: AttentionKernel,
    /// Every launch waits for its kernel (`CUDA_LAUNCH_BLOCKING`, profilers).
    pub synchronous_launches: bool,
    /// Tensor-parallel collectives run beside products, as Transformer Engine does it.
    pub tensor_overlap: bool,
    /// What is not quantised under QLoRA runs in FP32 on vector units, attention and the head
    /// with it: PEFT's preparation without autocast.
    pub fp32_stream: bool,
    /// Attention looks back only (a decoder); BERT looks both ways.
    pub causal: bool,
    /// What tensor parallelism leaves whole (inputs of blocks and norms) is split along the
    /// sequence instead (Korthikanti et al. 2022); software before it kept a copy on every card.
    pub sequence_parallel: bool,
    /// How tokens reach their experts.
    pub dispatch: Dispatch,
    /// Copies of the logits that the loss is taken through.
    pub loss: LossCopies,
    /// Each gradient is used and freed inside the backward pass.
    pub update_in_backward: bool,
    /// PyTorch's own AdamW updates all parameters at once, where others fuse it.
    pub eager_update: bool,
    /// Launches are recorded in graphs and replayed.
    pub recorded_launches: bool,
    /// What selective recomputation leaves out.
    pub selective: Selective,
    /// Weights stay gathered through a step's micro-batches, which pipelines over sharded weights
    /// ask for.
    pub keeps_gathered: bool,
    /// Adapters and what flows through them are in FP32, with 16-bit weights around them: PEFT
    /// without autocast.
    pub fp32_adapters: bool,
    /// What PEFT's preparation for training on quantised weights raises to FP32 stays in 16 bit, as it does
    /// where weights are sharded, which asks for one format.
    pub keeps_half: bool,
    /// The gradient of the stream at each block's entrance is kept until the backward pass ends, and so is the
    /// input that a checkpoint saved there: PyTorch's first FSDP waits for both before it lets go of a block whose
    /// weights are frozen, where checkpoints are reentrant (Transformers' own default).
    pub keeps_stream_gradients: bool,
    /// How element-wise work is made into kernels.
    pub kernels: Kernels,
    /// Tokens of a sample, where several are packed into one sequence and each attends to itself alone.
    pub sample_len: Option<u32>,
    /// Each matrix of an adapter is a unit of FSDP, gathered and let go by itself, as PEFT's wrapping policy has it:
    /// PyTorch lets the host run two gathers ahead, so that it never gets a block ahead.
    pub wraps_adapters: bool,
    /// GPTQ's or AWQ's weights are expanded by one kernel (Triton's) instead of operation by operation.
    pub expands_at_once: bool,
}

/// How element-wise work is made into kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernels {
    /// As the software does it by habit.
    #[default]
    Usual,
    /// A compiler fuses what lies between products.
    Compiled,
    /// PyTorch's operators one by one, where the software is usually compiled or has kernels of its own.
    Eager,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            stack: None,
            fused_loss: false,
            trained_embeddings: false,
            adapter_targets: AdapterTargets::AllLinear,
            tf32: true,
            pipeline_chunks: 1,
            attention_kernel: AttentionKernel::Flash,
            synchronous_launches: false,
            tensor_overlap: true,
            fp32_stream: false,
            causal: true,
            sequence_parallel: true,
            dispatch: Dispatch::Sorted,
            loss: LossCopies::Upcast,
            update_in_backward: false,
            eager_update: false,
            recorded_launches: false,
            selective: Selective::Scores,
            keeps_gathered: false,
            fp32_adapters: false,
            keeps_half: false,
            keeps_stream_gradients: false,
            kernels: Kernels::Usual,
            sample_len: None,
            wraps_adapters: false,
            expands_at_once: false,
        }
    }
}

impl TrainingJob<'_> {
    /// Recomputation of a block ends at the last tensor that is missing, so that its last product
    /// is not run again: PyTorch's non-reentrant checkpoints, which FSDP software uses.
    pub fn stops_recomputation_early(&self, plan: &TrainingPlan) -> bool {
        matches!(self.stack(plan), Stack::Fsdp | Stack::Litgpt)
    }

    /// Every token passes every expert, weighed by zero where it is not sent: Transformers' Llama 4
    /// (`Llama4TextMoe` in its modeling_llama4.py repeats the stream once for each expert).
    pub fn passes_every_expert(&self, plan: &TrainingPlan) -> bool {
        self.stack(plan) == Stack::Transformers && self.model.family == "Llama 4"
    }

    /// Tokens among which attention looks around: a sample's, else the sequence's.
    pub fn attended_len(&self) -> u32 {
        self.habits
            .sample_len
            .map_or(self.seq_len, |sample| sample.clamp(1, self.seq_len))
    }

    /// Adapters on frozen weights.
    pub fn is_adapter(&self) -> bool {
        matches!(self.method, TrainingMethod::Lora | TrainingMethod::Qlora)
    }

    /// The software of this job.
    pub fn stack(&self, plan: &TrainingPlan) -> Stack {
        self.habits
            .stack
            .unwrap_or_else(|| Stack::usual(self.method, plan))
    }
}
