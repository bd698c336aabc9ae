//! A model that a user brings: what a configuration, an index of weights or a GGUF header says of
//! its shape, field by field, and what it leaves open.
//!
//! | module | what it reads |
//! | --- | --- |
//! | `source` | typed fields of JSON, by any of their names |
//! | `config` | `config.json` of Hugging Face Transformers, as a whole |
//! | `heads`, `feed_forward`, `layers`, `outside` | its heads, dense networks, what each block mixes with, the rest |
//! | `attention`, `sparse`, `mixers` | the blocks' attention; indexers; linear attention and state-space blocks |
//! | `experts` | mixtures of experts |
//! | `tower` | vision and audio towers |
//! | `pair` | an encoder and a decoder |
//! | `formats` | number formats and quantisation |
//! | `index`, `header` | `model.safetensors.index.json`, a safetensors header |
//! | `gguf` | the bytes of a GGUF file's header |
//! | `gguf_shape`, `gguf_meta`, `gguf_attention`, `gguf_experts` | the shape that it describes |
//!
//! Nothing here panics on any input: what cannot be read is a [`BringError`] that names the field.

mod attention;
mod config;
mod error;
mod experts;
mod feed_forward;
mod formats;
mod gguf;
mod gguf_attention;
mod gguf_experts;
mod gguf_meta;
mod gguf_shape;
mod header;
mod heads;
mod index;
mod kind;
mod layers;
mod mixers;
mod outside;
mod pair;
mod source;
mod sparse;
mod tower;

pub use error::{BringError, BringErrorKind};
pub use gguf::{GGUF_FIRST_BYTES, is_gguf};

use serde::Serialize;

use crate::catalog::Transformer;
use crate::dtype::WeightFormat;
use crate::scenario::{ProblemKind, limits, shape};
use crate::text::{Lang, text};

/// Longest text that is read, bytes: a configuration has kilobytes, the index of the largest
/// model some megabytes.
pub const LONGEST_TEXT: usize = 48 << 20;

/// A model as it was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Brought {
    /// What the file calls the model or its kind (`qwen3_moe`, `llama`); empty: nothing.
    pub name: String,
    /// The shape, complete: what was not read has the value that its [`Field`] states.
    pub shape: Transformer,
    /// Format of the weights; `None`: not stated.
    pub weights: Option<WeightFormat>,
    /// Longest context stated, tokens.
    pub max_context: Option<u32>,
    /// Bytes of the weights, where the file states them.
    pub weight_bytes: Option<u64>,
    /// What was read, worked out and assumed, in the order of the form.
    pub fields: Vec<Field>,
    /// What a reader must know.
    pub notes: Vec<Note>,
}

/// One input of a shape and where its value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Link parameter.
    pub param: &'static str,
    /// Value, as it would stand in a link.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Path of the field in the file, or of the field that is missing.
    pub key: String,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It stands in the file.
    Read,
    /// It follows from what stands there, or from the kind of model.
    Worked,
    /// It is missing; a usual value was taken.
    Assumed,
}

impl Origin {
    /// Key of its text.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read => "bring.read",
            Self::Worked => "bring.worked",
            Self::Assumed => "bring.assumed",
        }
    }
}

/// Something that a reader of the shape must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "note", content = "value")]
pub enum Note {
    /// Layers for predicting several tokens, left out of the count.
    MultiTokenPrediction(u64),
    /// Parameters of vision or audio towers, counted and not used for text.
    Tower(u64),
    /// An encoder: no answer is generated, no cache is kept.
    Encoder,
    /// An encoder and a decoder; the encoder's parameters are counted aside.
    EncoderDecoder(u64),
    /// A kind of model that is not known; it was read as a decoder with the usual names.
    UnknownKind(String),
    /// A quantisation that is not known; 16 bit was taken.
    UnknownFormat(String),
    /// Tensors in several formats; the commonest is named.
    MixedFormats(String),
    /// Parallel or repeated blocks that the shape holds only in their parameters.
    Folded(String),
}

impl Note {
    /// The note in words.
    pub fn message(&self, lang: Lang) -> String {
        let billions = |params: u64| match lang {
            Lang::En => format!("{:.2} B", params as f64 / 1e9),
            Lang::ZhCn => format!("{:.1} 亿", params as f64 / 1e8),
        };
        let (key, value) = match self {
            Self::MultiTokenPrediction(layers) => ("bring.note.mtp", layers.to_string()),
            Self::Tower(params) => ("bring.note.tower", billions(*params)),
            Self::Encoder => ("bring.note.encoder", String::new()),
            Self::EncoderDecoder(params) => ("bring.note.encoder_decoder", billions(*params)),
            Self::UnknownKind(name) => ("bring.note.unknown_kind", name.clone()),
            Self::UnknownFormat(name) => ("bring.note.unknown_format", name.clone()),
            Self::MixedFormats(name) => ("bring.note.mixed_formats", name.clone()),
            Self::Folded(name) => ("bring.note.folded", name.clone()),
        };
        text(lang, key, &[("value", &value)])
    }
}

/// Reads a text that a user pasted or dropped: a `config.json`, an index of safetensors, or the
/// JSON of a safetensors header; which of them is told by their fields.
///
/// # Errors
/// What is wrong with the first field that cannot be used.
pub fn read_text(given: &str) -> Result<Brought, BringError> {
    let root = source::parse(given)?;
    let brought = if index::is_index(&root) {
        index::read(&root)
    } else if header::is_header(&root) {
        header::read_header(&root)
    } else {
        config::read(&root)
    };
    carried(brought?)
}

/// Reads the header at the start of a GGUF file and the shape that it describes.
///
/// # Errors
/// [`BringErrorKind::Truncated`] where the header goes on after `first`; else what is wrong with the field.
pub fn read_gguf(first: &[u8]) -> Result<Brought, BringError> {
    carried(gguf::read_gguf(first)?)
}

/// A shape that a link carries whole. One that a link would correct is refused, or another model than the brought one
/// would be answered for.
fn carried(brought: Brought) -> Result<Brought, BringError> {
    let Some(problem) = shape::corrected(&brought.shape) else {
        return Ok(brought);
    };
    let kind = match problem.kind {
        ProblemKind::ModelTooLarge => BringErrorKind::ModelTooLarge,
        ProblemKind::TooSmall | ProblemKind::NoFeedForward => BringErrorKind::TooSmall,
        ProblemKind::TooLarge => BringErrorKind::TooLarge,
        _ => BringErrorKind::Conflict,
    };
    let expected = match problem.kind {
        ProblemKind::NoFeedForward => "1".to_owned(),
        ProblemKind::ModelTooLarge => format!("{:.0}T", limits::TOTAL_PARAMS / 1e12),
        _ => problem.bound,
    };
    let field = brought
        .fields
        .iter()
        .find(|field| field.param == problem.param);
    let key = field.map_or(problem.param.as_str(), |field| &field.key);
    Err(BringError::of(kind, key, &problem.given).expected(expected))
}

/// Reads the first bytes of a file: GGUF and safetensors by their own marks, else text.
///
/// # Errors
/// As [`read_text`] and [`read_gguf`]; [`BringErrorKind::Truncated`] where more of the file would
/// help.
pub fn read_bytes(first: &[u8]) -> Result<Brought, BringError> {
    if is_gguf(first) {
        return read_gguf(first);
    }
    if let Some(header) = header::header_of(first)? {
        return read_text(header);
    }
    let text =
        std::str::from_utf8(first).map_err(|_| BringError::of(BringErrorKind::NotText, "", ""))?;
    read_text(text)
}
