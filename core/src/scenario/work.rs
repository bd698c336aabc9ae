//! Jobs other than those of language models: images and clips, vision networks and encoders,
//! speech, scientific computing.

use serde::{Deserialize, Serialize};

use super::{Optimizer, TrainingPrecision};
use crate::catalog::FloatPrecision;
use crate::dtype::WeightFormat;

/// Making images or clips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// Images or clips wanted in all.
    pub amount: f64,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames of a clip; 1 for an image.
    pub frames: u32,
    /// Denoising steps.
    pub steps: u32,
    /// Classifier-free guidance: each step runs with and without the prompt.
    pub guidance: bool,
    /// Images or clips made at once on one card; `None`: chosen.
    pub batch: Option<u32>,
    /// Format of the denoiser's and the text encoders' weights.
    pub weights: WeightFormat,
    /// What waits in host memory; `None`: chosen, and only where nothing else fits.
    pub offload: Option<PipelineOffload>,
    /// The autoencoder works tile by tile; `None`: chosen.
    pub tiling: Option<bool>,
    /// How the networks are run.
    pub runtime: Runtime,
}

/// What of a pipeline waits in host memory until it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PipelineOffload {
    /// Nothing.
    None,
    /// Each network but the one at work.
    Model,
    /// Each layer but the one at work: the weights cross the bus in every step.
    Sequential,
}

/// How a network is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runtime {
    /// Layer by layer, as PyTorch does.
    Eager,
    /// Compiled (`torch.compile`).
    Compiled,
    /// An engine built for the card (TensorRT).
    Tensorrt,
}

/// How an image or video model is trained further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffusionMethod {
    /// Low-rank adapters on the denoiser.
    Lora,
    /// All weights of the denoiser (DreamBooth, Ruiz et al. 2023, or plain fine-tuning).
    Dreambooth,
}

/// Training an image or video model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiffusionTraining {
    /// Method.
    pub method: DiffusionMethod,
    /// Optimizer steps.
    pub steps: u32,
    /// Images or clips of one step over all cards.
    pub batch: u32,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames of a clip; 1 for an image.
    pub frames: u32,
    /// Format of the frozen weights (LoRA).
    pub weights: WeightFormat,
    /// Compute format.
    pub precision: TrainingPrecision,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Rank of the adapters.
    pub lora_rank: u32,
    /// Activations are computed again in the backward pass; `None`: chosen.
    pub recompute: Option<bool>,
    /// Latents and prompts are encoded before training, so that only the denoiser is loaded.
    pub cached: bool,
}

/// Training a vision network or an encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkTraining {
    /// Samples of the data set.
    pub samples: f64,
    /// Passes over it.
    pub epochs: f64,
    /// Side of an image, or tokens of a sequence; `None`: the network's usual.
    pub size: Option<u32>,
    /// Samples of one card in one step; `None`: chosen.
    pub batch: Option<u32>,
    /// Compute format.
    pub precision: TrainingPrecision,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Rank of adapters on frozen weights; `None`: all weights are trained.
    #[serde(default)]
    pub lora_rank: Option<u32>,
    /// How the network is run.
    pub runtime: Runtime,
    /// Processor cores that decode and prepare data, for each card.
    pub cores: u32,
}

/// Running a vision network or an encoder over data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkInference {
    /// Images or sequences in all.
    pub amount: f64,
    /// Side of an image, or tokens of a sequence; `None`: the network's usual.
    pub size: Option<u32>,
    /// Samples at once on one card; `None`: chosen.
    pub batch: Option<u32>,
    /// Format of weights and products.
    pub weights: WeightFormat,
    /// Attention never writes its scores.
    #[serde(default = "fused")]
    pub fused_attention: bool,
    /// How the network is run.
    pub runtime: Runtime,
    /// Processor cores that decode and prepare data, for each card.
    pub cores: u32,
}

/// Attention is fused unless a scenario says otherwise.
const fn fused() -> bool {
    true
}

/// Software that runs Whisper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeechEngine {
    /// CTranslate2 (faster-whisper).
    FasterWhisper,
    /// OpenAI's own package.
    OpenaiWhisper,
}

/// Turning speech into text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transcription {
    /// Hours of audio in all.
    pub amount: f64,
    /// Windows of 30 s at once on one card; `None`: chosen.
    pub batch: Option<u32>,
    /// Hypotheses that are followed.
    pub beam: u32,
    /// Format of the weights.
    pub weights: WeightFormat,
    /// Software.
    pub engine: SpeechEngine,
}

/// Scientific computing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Computation {
    /// Floating-point operations in all.
    pub operations: f64,
    /// Operations for one byte that is read or written.
    pub flops_per_byte: f64,
    /// What must be held in memory, GB (10^9 bytes).
    pub working_set_gb: f64,
    /// Number format.
    pub precision: FloatPrecision,
}
