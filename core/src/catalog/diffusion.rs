//! Image and video models: text encoders, a denoiser that is run many times, an autoencoder.

use serde::{Deserialize, Serialize};

use crate::packed::Aside;

/// One image or video model. Every figure is that of the published configuration that `source`
/// names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiffusionModel {
    /// Stable id used in links.
    pub id: String,
    /// Name as published.
    pub name: String,
    /// Other names people type.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What it makes.
    pub medium: Medium,
    /// The network that is run once a step (twice under classifier-free guidance).
    pub denoiser: Denoiser,
    /// What reads the prompt, once.
    pub text_encoders: Vec<TextEncoder>,
    /// What turns latents into pixels, once, at the end.
    pub autoencoder: Autoencoder,
    /// How its makers run it.
    pub usual: UsualRun,
    /// Licence, by its usual short name.
    #[serde(default)]
    pub licence: Option<String>,
    /// Where the configuration was read.
    pub source: Aside,
    /// What a reader must know.
    #[serde(default)]
    pub notes: Option<Aside>,
}

/// What a model makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Medium {
    /// Still images.
    Image,
    /// Clips.
    Video,
}

/// The network that predicts the noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Denoiser {
    /// Parameters of one such network.
    pub params: u64,
    /// Networks of that size of which one works in each step (Wan 2.2 has one for early and one
    /// for late steps).
    #[serde(default = "one")]
    pub experts: u32,
    /// Tokens of the prompt that it attends to.
    pub text_tokens: u32,
    /// Its layers.
    pub layers: Backbone,
}

fn one() -> u32 {
    1
}

/// Most denoisers have heads of 128.
fn usual_head() -> u32 {
    128
}

/// The layers of a denoiser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Backbone {
    /// Convolutions and attention at falling and rising resolution (Rombach et al. 2022).
    Unet {
        /// Channels of each level, finest first.
        channels: Vec<u32>,
        /// Residual blocks of a level on the way down; one more on the way up.
        blocks: u32,
        /// Transformer blocks behind each residual block of a level; 0: no attention there.
        transformers: Vec<u32>,
        /// The same in the middle.
        middle_transformers: u32,
        /// Width of the prompt's tokens.
        context: u32,
    },
    /// Blocks of one width over patches of the latent (Peebles and Xie 2023).
    Transformer {
        /// Side of a patch, in latent positions.
        patch: u32,
        /// Length of a patch, in latent frames.
        #[serde(default = "one")]
        patch_frames: u32,
        /// Blocks, grouped by kind.
        groups: Vec<DenoiserBlocks>,
    },
}

/// Blocks of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DenoiserBlocks {
    /// How many.
    pub blocks: u32,
    /// Width of the stream.
    pub width: u32,
    /// Width of the feed-forward network.
    pub ffn: u32,
    /// Width of an attention head.
    #[serde(default = "usual_head")]
    pub head: u32,
    /// How prompt and picture meet.
    pub kind: BlockKind,
}

/// How prompt and picture meet in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockKind {
    /// One attention over both, each with weights of its own (Esser et al. 2024).
    Joint,
    /// One attention over both with the same weights, feed-forward network after it.
    Shared,
    /// The same, feed-forward network beside it and joined by one output projection.
    Parallel,
    /// Attention over the picture, then from the picture to the prompt.
    Cross,
    /// As `Joint`, with a second attention over the picture alone (Stable Diffusion 3.5 medium).
    JointDual,
}

/// A network that reads the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextEncoder {
    /// Name.
    pub name: String,
    /// Parameters that are loaded.
    pub params: u64,
    /// Tokens that a prompt is padded to.
    pub tokens: u32,
}

/// The network between latents and pixels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Autoencoder {
    /// Parameters of both halves.
    pub params: u64,
    /// Pixels of a side for one latent position.
    pub spatial: u32,
    /// Frames for one latent frame (the first frame has one of its own).
    #[serde(default = "one")]
    pub temporal: u32,
    /// Channels of the latent.
    pub latent_channels: u32,
    /// Channels of the decoder's levels, coarsest first.
    pub widths: Vec<u32>,
    /// Residual blocks of a level.
    pub blocks: u32,
    /// Kernels of three frames rather than of one.
    #[serde(default)]
    pub three_frames: bool,
    /// Frames that are decoded together: software goes through a clip in such pieces.
    #[serde(default = "one")]
    pub frames_together: u32,
    /// Pixels of a side that the decoder's last level makes at once out of one position (a patch
    /// that is unfolded at the end).
    #[serde(default = "one")]
    pub unfold: u32,
    /// Decoded in tiles whether asked or not, as its own software does.
    #[serde(default)]
    pub tiled: bool,
    /// Decoded in FP32 whatever the pipeline's format, because its activations overflow FP16.
    #[serde(default)]
    pub in_fp32: bool,
}

/// How a model is run where nothing else is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsualRun {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames; 1 for an image.
    #[serde(default = "one")]
    pub frames: u32,
    /// Denoising steps.
    pub steps: u32,
    /// Classifier-free guidance: every step runs with and without the prompt (Ho and Salimans
    /// 2022). Distilled models do without.
    pub guidance: bool,
    /// Its software makes the two passes of a step one after the other, so that only one is in
    /// memory.
    #[serde(default)]
    pub guidance_in_turn: bool,
    /// Frames a second of a clip.
    #[serde(default)]
    pub frames_per_s: Option<f64>,
}

impl DiffusionModel {
    /// Parameters of all text encoders.
    pub fn text_params(&self) -> u64 {
        self.text_encoders.iter().map(|e| e.params).sum()
    }

    /// Parameters of everything that is loaded.
    pub fn params_total(&self) -> u64 {
        self.denoiser.params * u64::from(self.denoiser.experts)
            + self.text_params()
            + self.autoencoder.params
    }

    /// Latent frames of a clip of `frames`: the first has one of its own.
    pub fn latent_frames(&self, frames: u32) -> u32 {
        frames
            .saturating_sub(1)
            .div_ceil(self.autoencoder.temporal.max(1))
            + 1
    }
}
