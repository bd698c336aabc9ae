//! Vision networks, encoders and speech recognisers: what is trained and run over images,
//! sequences or audio.

use serde::{Deserialize, Serialize};

use crate::packed::Aside;

/// One network with a fixed input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Stable id used in links.
    pub id: String,
    /// Name as published.
    pub name: String,
    /// Other names people type.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What it is used for.
    pub task: NetworkTask,
    /// Parameters.
    pub params: u64,
    /// What one sample of the usual size costs.
    pub cost: NetworkCost,
    /// How a dataset of it usually looks.
    pub usual: UsualData,
    /// Where the figures were read.
    pub source: Aside,
    /// What a reader must know.
    #[serde(default)]
    pub notes: Option<Aside>,
}

/// What a network is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkTask {
    /// One label an image.
    Classify,
    /// Boxes in an image.
    Detect,
    /// A label a pixel.
    Segment,
    /// Images and texts in one space.
    ImageText,
    /// A vector a sequence of tokens.
    Text,
    /// Words from speech.
    Speech,
}

/// What one sample costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NetworkCost {
    /// Published totals at one size; everything grows with the pixels.
    Published {
        /// Side of the image that the figures hold for.
        side: u32,
        /// Multiply-adds of one image.
        macs: f64,
        /// Elements that its convolutions and products write.
        activations: f64,
        /// Layers, for the time that launching them takes.
        layers: u32,
        /// What most of its layers are.
        style: LayerStyle,
    },
    /// Transformer blocks over patches of an image.
    Patches {
        /// Side of the image it is usually given.
        side: u32,
        /// Side of a patch.
        patch: u32,
        /// Blocks.
        layers: u32,
        /// Width.
        width: u32,
        /// Width of the feed-forward network.
        ffn: u32,
        /// Attention heads.
        heads: u32,
        /// The text half of an image-text model.
        #[serde(default)]
        text: Option<TextHalf>,
    },
    /// Transformer blocks over tokens.
    Tokens {
        /// Tokens of a sequence, usually.
        tokens: u32,
        /// Longest sequence.
        longest: u32,
        /// Blocks.
        layers: u32,
        /// Width.
        width: u32,
        /// Width of the feed-forward network.
        ffn: u32,
        /// Attention heads.
        heads: u32,
        /// Three matrices rather than two.
        #[serde(default)]
        gated: bool,
        /// Columns of all queries, and of all keys, where they are not as wide as the stream (embedding models
        /// made of language models).
        #[serde(default)]
        heads_width: Option<(u32, u32)>,
        /// Parameters of the embedding, which are read and not multiplied.
        embedding: u64,
    },
    /// An encoder over windows of audio and a decoder that writes words (Radford et al. 2022).
    Speech {
        /// Seconds of a window.
        window_s: f64,
        /// Positions of a window in the encoder.
        positions: u32,
        /// Blocks of the encoder.
        encoder_layers: u32,
        /// Blocks of the decoder.
        decoder_layers: u32,
        /// Width.
        width: u32,
        /// Attention heads.
        heads: u32,
        /// Rows of the output.
        vocab: u32,
    },
}

/// What most layers of a network are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerStyle {
    /// Dense convolutions.
    Convolution,
    /// Depthwise convolutions, which read as much as they compute.
    Depthwise,
    /// Attention in windows.
    Windows,
    /// Convolutions, then many small steps over boxes.
    Boxes,
}

/// The text half of an image-text model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextHalf {
    /// Tokens.
    pub tokens: u32,
    /// Blocks.
    pub layers: u32,
    /// Width.
    pub width: u32,
    /// Attention heads.
    pub heads: u32,
}

/// How a data set of a network usually looks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsualData {
    /// Samples (images, sequences, windows of audio).
    pub samples: f64,
    /// Passes over them.
    pub epochs: f64,
    /// Samples of one card in one step.
    pub batch: u32,
    /// Bytes of one sample on disk.
    pub bytes: f64,
}

impl Network {
    /// Side of an image, or tokens of a sequence, that the network is usually given.
    pub fn usual_size(&self) -> u32 {
        match self.cost {
            NetworkCost::Published { side, .. } | NetworkCost::Patches { side, .. } => side,
            NetworkCost::Tokens { tokens, .. } => tokens,
            NetworkCost::Speech { positions, .. } => positions,
        }
    }

    /// Whether samples are images.
    pub fn sees(&self) -> bool {
        !matches!(self.task, NetworkTask::Text | NetworkTask::Speech)
    }
}
