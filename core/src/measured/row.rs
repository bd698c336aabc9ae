//! One measured result as a file holds it.

use serde::Serialize;

/// A measured training result. `None` and the empty text mean that the source does not say.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TrainingRow {
    /// Source's short name, a dash, a number.
    pub id: String,
    /// Where the value was read.
    pub source: String,
    /// Model as the source names it.
    pub model: String,
    /// `pretrain`, `full_ft`, `lora`, `qlora`, `vision` or `diffusion`.
    pub task: String,
    /// All parameters, billions.
    pub params_b: Option<f64>,
    /// Blocks.
    pub layers: Option<u32>,
    /// Width of the residual stream.
    pub hidden: Option<u32>,
    /// Query heads.
    pub heads: Option<u32>,
    /// Key and value heads.
    pub kv_heads: Option<u32>,
    /// Width of the feed-forward network.
    pub ffn: Option<u32>,
    /// Rows of the embedding.
    pub vocab: Option<u32>,
    /// Experts, as text (`128 top8`).
    pub moe_experts: String,
    /// Parameters used for a token, billions.
    pub moe_active_params_b: Option<f64>,
    /// Tokens of a sequence.
    pub seq_len: Option<u32>,
    /// Card in the source's words.
    pub gpu: String,
    /// Card id of the catalog, or empty.
    pub card: String,
    /// Cards in all.
    pub n_gpus: Option<u32>,
    /// Cards of a node.
    pub gpus_per_node: Option<u32>,
    /// Compute format, with the base weights' for QLoRA.
    pub precision: String,
    /// Optimizer.
    pub optimizer: String,
    /// Recomputation: `none`, `selective`, `full`, `unknown`.
    pub act_ckpt: String,
    /// Sharding in the source's words.
    pub zero_stage_or_fsdp: String,
    /// Sharding: `none`, `ddp`, `zero1`, `zero2`, `zero3`, `hsdp`.
    pub sharding: String,
    /// Ways that a sequence is split.
    pub context_parallel: Option<u32>,
    /// What is kept in host memory: `optimizer`, `all`.
    pub cpu_offload: String,
    /// Tensor-parallel ways.
    pub tp: Option<u32>,
    /// Pipeline stages.
    pub pp: Option<u32>,
    /// Sequences (or images) of a micro-batch.
    pub micro_batch_per_gpu: Option<u32>,
    /// Micro-batches of a step.
    pub grad_accum: Option<u32>,
    /// Sequences of a step over all cards.
    pub global_batch_seqs: Option<u32>,
    /// What was measured.
    pub metric: String,
    /// Measured value in `unit`; `None`: not stated, or the run had no memory left.
    pub value: Option<f64>,
    /// Unit of the value.
    pub unit: String,
    /// Amount of data, as text.
    pub total_tokens_b_or_samples: String,
    /// `yes`: implausible, or an outlier by the source's own words.
    pub suspect: String,
    /// What the source says, and cautions.
    pub notes: String,
    /// Cells that could not be read, each with its reason.
    #[serde(skip)]
    pub problems: Vec<String>,
}

/// A measured inference result. `None` and the empty text mean that the source does not say.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct InferenceRow {
    /// Source's short name, a dash, a number.
    pub id: String,
    /// Where the value was read.
    pub source: String,
    /// Model as the source names it.
    pub model: String,
    /// `llm`, `diffusion_image`, `diffusion_video`, `vision` or `embedding`.
    pub task: String,
    /// All parameters, billions.
    pub params_b: Option<f64>,
    /// Blocks.
    pub layers: Option<u32>,
    /// Width of the residual stream.
    pub hidden: Option<u32>,
    /// Query heads.
    pub heads: Option<u32>,
    /// Key and value heads, as text where it says more (`1 (MLA latent 512+64)`).
    pub kv_heads: String,
    /// Width of one head.
    pub head_dim: Option<u32>,
    /// Width of the feed-forward network.
    pub ffn: Option<u32>,
    /// Rows of the embedding.
    pub vocab: Option<u32>,
    /// Experts, as text (`128 top8`).
    pub moe_experts: String,
    /// Parameters used for a token, billions.
    pub moe_active_params_b: Option<f64>,
    /// Card in the source's words.
    pub gpu: String,
    /// Card id of the catalog, or empty.
    pub card: String,
    /// Cards in all.
    pub n_gpus: Option<u32>,
    /// Tensor-parallel ways.
    pub tp: Option<u32>,
    /// Engine.
    pub engine: String,
    /// Format of the weights, in the engine's words.
    pub weight_precision: String,
    /// Format of the KV cache.
    pub kv_precision: String,
    /// Tokens of a prompt.
    pub prompt_len: Option<u32>,
    /// Tokens of an answer.
    pub output_len: Option<u32>,
    /// Requests at once.
    pub batch_or_concurrency: Option<u32>,
    /// Image size, and frames for video.
    pub resolution: String,
    /// Denoising steps.
    pub steps: Option<u32>,
    /// What was measured.
    pub metric: String,
    /// Measured value in `unit`; `None`: not stated, or the run had no memory left.
    pub value: Option<f64>,
    /// Unit of the value.
    pub unit: String,
    /// `yes`: implausible, or an outlier by the source's own words.
    pub suspect: String,
    /// What the source says, and cautions.
    pub notes: String,
    /// Cells that could not be read, each with its reason.
    #[serde(skip)]
    pub problems: Vec<String>,
}

/// The short name of a row's source: its id up to the last dash.
pub fn source_of(id: &str) -> &str {
    id.rsplit_once('-').map_or(id, |(source, _)| source)
}

/// The notes of a row without a value say that the run had no memory left.
fn says_out_of_memory(value: Option<f64>, notes: &str) -> bool {
    let notes = notes.to_ascii_lowercase();
    value.is_none()
        && (notes
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| word == "oom")
            || notes.contains("out of memory"))
}

impl TrainingRow {
    /// Short name of the source.
    pub fn source_name(&self) -> &str {
        source_of(&self.id)
    }

    /// The run had no memory left: there is no value, and the notes say so.
    pub fn ran_out_of_memory(&self) -> bool {
        says_out_of_memory(self.value, &self.notes)
    }
}

impl InferenceRow {
    /// Short name of the source.
    pub fn source_name(&self) -> &str {
        source_of(&self.id)
    }

    /// The run had no memory left: there is no value, and the notes say so.
    pub fn ran_out_of_memory(&self) -> bool {
        says_out_of_memory(self.value, &self.notes)
    }

    /// The number that `kv_heads` starts with.
    pub fn kv_head_count(&self) -> Option<u32> {
        let digits = self.kv_heads.trim();
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        digits
            .get(..end)?
            .parse()
            .ok()
            .filter(|n| (1..=8192).contains(n))
    }
}
