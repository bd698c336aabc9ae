//! `config.json` of Hugging Face Transformers, in its many dialects.

use serde_json::{Map, Value};

use super::attention;
use super::error::{BringError, BringErrorKind as Wrong};
use super::feed_forward::{gated_origin, networks, read_ffn, read_gated};
use super::heads::read_heads;
use super::kind::Kind;
use super::outside::{aside, biases, block_inputs, head_bias, norms};
use super::source::{Read, Source};
use super::{Brought, Note, Origin, experts, formats, pair};
use crate::catalog::Transformer;
use crate::scenario::limits::{self, Limit};
use crate::scenario::shape;

/// Names under which multimodal models keep their text model.
const TEXT_MODELS: [&str; 8] = [
    "text_config",
    "language_config",
    "llm_config",
    "text_model_config",
    "thinker_config.text_config",
    "language_model",
    "decoder",
    "text_model",
];

const LAYERS: &[&str] = &[
    "num_hidden_layers",
    "n_layer",
    "n_layers",
    "num_layers",
    "num_transformer_layers",
];
const HIDDEN: &[&str] = &["hidden_size", "n_embd", "d_model", "model_dim", "dim"];
pub(super) const HEADS: &[&str] = &[
    "num_attention_heads",
    "n_head",
    "n_heads",
    "num_heads",
    "num_query_heads",
    "encoder_attention_heads",
];
pub(super) const KV_HEADS: &[&str] = &[
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "n_kv_heads",
    "num_attention_groups",
    "attn_config.kv_n_heads",
    "num_query_groups",
];
pub(super) const FFN: &[&str] = &[
    "intermediate_size",
    "ffn_hidden_size",
    "n_inner",
    "ffn_dim",
    "d_ff",
    "inner_size",
    "hidden_dim",
    "encoder_ffn_dim",
];

/// What the other parts of a configuration are read with.
#[derive(Debug, Clone)]
pub(super) struct Dims {
    /// `model_type` of the text model.
    pub kind_name: String,
    /// What its kind is known for.
    pub kind: Kind,
    /// Entries of a list by layers.
    pub layers: u32,
    pub hidden: u32,
    pub heads: u32,
    pub kv_heads: u32,
    pub head_dim: u32,
    pub ffn: Option<u32>,
    pub heads_by_layer: Option<Vec<u32>>,
    pub kv_heads_by_layer: Option<Vec<u32>>,
}

impl Dims {
    /// Width of the residual stream.
    pub fn h(&self) -> u64 {
        u64::from(self.hidden)
    }

    /// Width of a dense network, or the usual one.
    pub fn ffn_or_usual(&self) -> u32 {
        self.ffn
            .unwrap_or_else(|| crate::scenario::usual_feed_forward(self.hidden, true))
    }
}

/// Reads a configuration.
pub(super) fn read(root: &Map<String, Value>) -> Result<Brought, BringError> {
    language(root)?;
    if let Some(both) = pair::read(root)? {
        return Ok(both);
    }
    let mut source = Source::new(root);
    let nested = TEXT_MODELS.iter().any(|name| source.prefer(name));
    let kind_name = source.word(&["model_type"]).unwrap_or_default().to_owned();
    let kind = Kind::of(&kind_name);
    let mut notes = Vec::new();
    if !kind.known {
        notes.push(Note::UnknownKind(kind_name.clone()));
    }
    let class = kind.class.filter(|_| nested || kind_name.is_empty());

    // Layers: a number, or as many as a list has.
    let read = source.whole(LAYERS, &limits::LAYERS)?.or_else(|| {
        let list = source.list(&["layers_block_type", "layer_types", "block_configs"])?;
        Some(Read {
            path: list.path,
            value: u32::try_from(list.value.len()).ok()?.clamp(1, 1000),
        })
    });
    let read = match (read, source.word(&["hybrid_override_pattern"]), class) {
        (Some(read), _, _) => read,
        (None, Some(word), _) => Read {
            path: "hybrid_override_pattern".to_owned(),
            value: (word.len().clamp(1, 1000)) as u32,
        },
        (None, None, Some(class)) => Read {
            path: String::new(),
            value: class.layers,
        },
        (None, None, None) => match source.whole(&["decoder_layers"], &limits::LAYERS)? {
            Some(read) => read,
            None => return Err(BringError::of(Wrong::Missing, "num_hidden_layers", "")),
        },
    };
    let layers = read;
    let hidden = source.whole(HIDDEN, &limits::HIDDEN)?;
    let hidden = match (hidden, class) {
        (Some(read), _) => read,
        (None, Some(class)) => Read {
            path: String::new(),
            value: class.hidden,
        },
        (None, None) => return Err(BringError::of(Wrong::Missing, "hidden_size", "")),
    };
    let mut dims = Dims {
        kind_name,
        kind,
        layers: layers.value,
        hidden: hidden.value,
        heads: 1,
        kv_heads: 1,
        head_dim: 1,
        ffn: None,
        heads_by_layer: None,
        kv_heads_by_layer: None,
    };
    let heads = read_heads(
        &source,
        &mut dims,
        class.map(|c| (c.heads, c.kv_heads, c.head_dim)),
    )?;
    let width = read_ffn(&source, &dims, class.map(|c| c.ffn))?;
    dims.ffn = width.as_ref().map(|read| read.value);

    let blocks = attention::read(&source, &dims)?;
    let mixing: u32 = blocks.groups.iter().map(|g| g.layers).sum();
    let origin = |path: &str| {
        if path.is_empty() {
            Origin::Worked
        } else {
            Origin::Read
        }
    };
    if mixing == layers.value {
        source.note("layers", mixing, origin(&layers.path), &layers.path);
    } else {
        source.note("layers", mixing, Origin::Worked, &blocks.pattern);
    }
    source.note("hidden", hidden.value, origin(&hidden.path), &hidden.path);
    if blocks.plain {
        for (param, value, read) in &heads {
            source.note(param, value, read.0, &read.1);
        }
    } else {
        let groups = shape::write_groups(&blocks.groups);
        source.note("attn", groups, Origin::Worked, &blocks.pattern);
    }

    let networks = networks(&source, &dims, width, mixing)?;
    let mixture = experts::read(&mut source, &dims, networks.expert_layers.min(mixing))?;
    let (experts, expert_extra) = match mixture {
        Some((experts, extra)) => (Some(experts), extra),
        None => (None, 0),
    };
    let ffn = networks.ffn;
    source.note("ffn", ffn, networks.origin, &networks.key);
    let gated = read_gated(&source, &dims);
    source.note(
        "gated",
        yes_no(gated.value),
        gated_origin(&gated, &dims),
        &gated.path,
    );
    let vocab = source.whole(
        &[
            "vocab_size",
            "padded_vocab_size",
            "n_vocab",
            "text_vocab_size",
        ],
        &limits::VOCAB,
    )?;
    let usual_vocab = match class {
        Some(class) => (class.vocab, Origin::Worked, "vocab_size"),
        None => (
            limits::VOCAB.default.unwrap_or(32_000.0) as u32,
            Origin::Assumed,
            "vocab_size",
        ),
    };
    let vocab = source.take("vocab", vocab, usual_vocab);
    let tie = source.flag(&["tie_word_embeddings", "tie_embeddings", "share_embeddings"])?;
    let tie_origin = if dims.kind.known {
        Origin::Worked
    } else {
        Origin::Assumed
    };
    let tie_embeddings = tie.as_ref().map_or(dims.kind.tied, |read| read.value);
    match tie {
        Some(read) => source.note("tie", yes_no(read.value), Origin::Read, &read.path),
        None => source.note(
            "tie",
            yes_no(tie_embeddings),
            tie_origin,
            "tie_word_embeddings",
        ),
    }

    let aside = aside(root, &source, &dims, &mut notes)?;
    let biases =
        biases(&dims, ffn, mixing) + norms(&dims, mixing) + i64::from(vocab) * head_bias(&dims);
    let inputs = block_inputs(&source, &dims)?;
    let extra = (blocks.extra_params + expert_extra + biases + inputs).max(0) as u64;
    if blocks.side_by_side {
        notes.push(Note::Folded("mamba".to_owned()));
    }
    let predicted = source.whole_or(
        &[
            "num_nextn_predict_layers",
            "mtp_num_hidden_layers",
            "num_mtp_modules",
            "mtp_num_layers",
        ],
        &Limit {
            min: 0.0,
            ..limits::LAYERS
        },
        0,
    )?;
    if predicted > 0 {
        notes.push(Note::MultiTokenPrediction(u64::from(predicted)));
    }
    if Kind::is_encoder(&dims.kind_name) {
        notes.push(Note::Encoder);
    }
    if extra > 0 {
        source.note("extra", extra, Origin::Worked, &dims.kind_name);
    }
    if aside > 0 {
        source.note("aside", aside, Origin::Worked, "vision_config");
    }
    let (weights, note) = formats::of_config(&source);
    notes.extend(note);
    let max_context = source.whole(
        &[
            "max_position_embeddings",
            "n_positions",
            "n_ctx",
            "max_seq_len",
            "seq_length",
            "max_sequence_length",
            "model_max_length",
        ],
        &limits::WINDOW,
    );
    let shape = Transformer {
        layers: mixing,
        hidden: dims.hidden,
        ffn,
        ffn_gated: gated.value,
        vocab,
        tie_embeddings,
        attention: blocks.groups,
        experts,
        extra_params: extra,
        aside_params: aside,
    };
    if !shape::is_within_limits(&shape) {
        return Err(BringError::of(
            Wrong::ModelTooLarge,
            "hidden_size",
            &dims.hidden.to_string(),
        )
        .expected(format!("{:.0}T", limits::TOTAL_PARAMS / 1e12)));
    }
    Ok(Brought {
        name: name_of(root, &dims.kind_name),
        shape,
        weights,
        max_context: max_context.ok().flatten().map(|read| read.value),
        weight_bytes: None,
        fields: source.fields,
        notes,
    })
}

/// Refuses what writes no text: parts of image pipelines, networks that see or hear.
fn language(root: &Map<String, Value>) -> Result<(), BringError> {
    let word = |name: &str| root.get(name).and_then(Value::as_str);
    if let Some(class) = word("_class_name") {
        return Err(BringError::of(Wrong::NotLanguage, "_class_name", class));
    }
    match word("model_type") {
        Some(kind) if Kind::is_other(kind) => {
            Err(BringError::of(Wrong::NotLanguage, "model_type", kind))
        }
        _ => Ok(()),
    }
}

/// What the file calls the model, or its kind.
pub(super) fn name_of(root: &Map<String, Value>, kind: &str) -> String {
    root.get("_name_or_path")
        .and_then(Value::as_str)
        .filter(|name| !name.is_empty() && name.len() < 100)
        .unwrap_or(kind)
        .to_owned()
}

pub(super) const fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}
