//! An encoder and a decoder (T5, BART, Whisper and their like).
//!
//! The shape is the decoder's, with what it has for looking at the encoder's output counted in its
//! blocks; the encoder stands aside. A service then reads as what happens: the prompt goes through
//! the encoder (as many products as the decoder's blocks, about), each block keeps keys and values of
//! the prompt and of the answer, and a written token reads the decoder's weights alone.

use serde_json::{Map, Value};

use super::config::yes_no;
use super::error::{BringError, BringErrorKind as Wrong};
use super::kind::Kind;
use super::source::{Read, Source};
use super::{Brought, Note, Origin, config, formats, tower};
use crate::catalog::{AttentionGroup, ExpertLayers, Transformer};
use crate::scenario::limits::{self, Limit};
use crate::scenario::shape;

/// A count that may be nothing.
const COUNT: Limit = Limit {
    min: 0.0,
    ..limits::LAYERS
};
/// Entries of tables and parts of heads.
const TABLE: Limit = Limit {
    min: 0.0,
    ..limits::WINDOW
};

/// Families that share their names of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    /// T5: no biases, positions by distance.
    T5,
    /// BART: biases everywhere, absolute positions.
    Bart,
}

/// What sets a kind apart within its family.
struct Habit {
    family: Family,
    /// Norms beside those of the blocks, each with a bias.
    norms: u64,
    /// Rows of positions that are parameters: more than the longest sequence by so many; `None`: none.
    positions: Option<u64>,
    /// Distances are learned in every block and not in the first alone.
    own_distances: bool,
    /// The output head shares the table where nothing is said.
    tied: bool,
}

fn habit(kind: &str) -> Option<Habit> {
    let t5 = Habit {
        family: Family::T5,
        norms: 0,
        positions: None,
        own_distances: false,
        tied: true,
    };
    let bart = Habit {
        family: Family::Bart,
        norms: 2,
        positions: None,
        ..t5
    };
    Some(match kind {
        "t5" | "longt5" | "switch_transformers" | "pop2piano" => t5,
        "mt5" => Habit { tied: false, ..t5 },
        "umt5" => Habit {
            tied: false,
            own_distances: true,
            ..t5
        },
        "bart" => Habit {
            positions: Some(2),
            ..bart
        },
        "mbart" | "plbart" => Habit {
            norms: 4,
            positions: Some(2),
            ..bart
        },
        "blenderbot" | "blenderbot-small" | "pegasus" | "whisper" => Habit {
            positions: Some(0),
            ..bart
        },
        "marian" => Habit {
            norms: 0,
            positions: Some(0),
            ..bart
        },
        "m2m_100" | "nllb-moe" | "speech_to_text" => bart,
        _ => return None,
    })
}

/// One of the two stacks.
struct Stack {
    layers: u64,
    heads: u64,
    ffn: u64,
    /// Blocks whose network is a choice of experts.
    sparse: u64,
}

/// Reads the pair, where the configuration is of one; `None`: of something else.
pub(super) fn read(root: &Map<String, Value>) -> Result<Option<Brought>, BringError> {
    let kind = root.get("model_type").and_then(Value::as_str);
    let kind = kind.unwrap_or_default().to_owned();
    if let Some(habit) = habit(&kind) {
        return flat(root, &kind, &habit).map(Some);
    }
    match (root.get("encoder"), root.get("decoder")) {
        (Some(Value::Object(encoder)), Some(Value::Object(decoder))) => {
            nested(root, &kind, encoder, decoder).map(Some)
        }
        _ => Ok(None),
    }
}

/// A configuration with one field each for both stacks.
fn flat(root: &Map<String, Value>, kind: &str, habit: &Habit) -> Result<Brought, BringError> {
    let mut source = Source::new(root);
    let family = habit.family;
    let hidden = must(&source, &["d_model", "hidden_size"], &limits::HIDDEN)?;
    let h = u64::from(hidden.value);
    let names = |of: &'static str| -> [&'static [&'static str]; 3] {
        match (family, of) {
            (Family::T5, "encoder") => [&["num_layers"], &["num_heads"], &["d_ff"]],
            (Family::T5, _) => [
                &["num_decoder_layers", "num_layers"],
                &["num_heads"],
                &["d_ff"],
            ],
            (Family::Bart, "encoder") => [
                &["encoder_layers"],
                &["encoder_attention_heads"],
                &["encoder_ffn_dim"],
            ],
            (Family::Bart, _) => [
                &["decoder_layers"],
                &["decoder_attention_heads"],
                &["decoder_ffn_dim"],
            ],
        }
    };
    let experts = source.whole_or(&["num_experts"], &limits::EXPERTS, 1)?;
    let one = |of: &'static str| -> Result<(Stack, [Read<u32>; 3]), BringError> {
        let [layers, heads, ffn] = names(of);
        let layers = must(&source, layers, &limits::LAYERS)?;
        let heads = must(&source, heads, &limits::HEADS)?;
        let ffn = must(&source, ffn, &limits::FFN)?;
        let (count, step): (&[&str], &[&str]) = match of {
            "encoder" => (&["num_sparse_encoder_layers"], &["encoder_sparse_step"]),
            _ => (&["num_sparse_decoder_layers"], &["decoder_sparse_step"]),
        };
        let sparse = match (experts, source.whole(count, &COUNT)?) {
            (1, _) => 0,
            (_, Some(read)) => read.value.min(layers.value),
            (_, None) => match source.whole(step, &COUNT)? {
                Some(step) if step.value > 0 => layers.value / step.value,
                _ => 0,
            },
        };
        let stack = Stack {
            layers: u64::from(layers.value),
            heads: u64::from(heads.value),
            ffn: u64::from(ffn.value),
            sparse: u64::from(sparse),
        };
        Ok((stack, [layers, heads, ffn]))
    };
    let (encoder, _) = one("encoder")?;
    let (decoder, [layers, heads, ffn]) = one("decoder")?;
    let usual_dim = (h / decoder.heads.max(1)).max(1) as u32;
    let head_dim = source.whole_or(&["d_kv"], &limits::HEAD_DIM, usual_dim)?;
    let activation = source.word(&["feed_forward_proj"]).unwrap_or_default();
    let gated = activation.starts_with("gated");
    let vocab = source.whole(&["vocab_size"], &limits::VOCAB)?;
    let vocab = source.take("vocab", vocab, (32_128, Origin::Assumed, "vocab_size"));
    let tie = source.flag_or(&["tie_word_embeddings"], habit.tied)?;

    let biased = family == Family::Bart;
    let matrices = if gated { 3 } else { 2 };
    // Parameters of one attention, and of biases and norms of a block with `attentions` of them.
    let attention = |stack: &Stack| 4 * h * stack.heads * u64::from(head_dim);
    let vectors = |stack: &Stack, attentions: u64| {
        let norms = (attentions + 1) * h * if biased { 2 } else { 1 };
        let keyless = u64::from(kind == "whisper");
        let biases = match biased {
            true => attentions * (4 - keyless) * h + stack.ffn + h,
            false => 0,
        };
        norms + biases
    };
    let network = |stack: &Stack| matrices * h * stack.ffn;
    let all_networks = |stack: &Stack| {
        (stack.layers - stack.sparse) * network(stack)
            + stack.sparse * (u64::from(experts) * network(stack) + h * u64::from(experts))
    };
    let distances = |stack: &Stack| -> Result<u64, BringError> {
        if family != Family::T5 {
            return Ok(0);
        }
        let rows = source.whole_or(&["relative_attention_num_buckets"], &TABLE, 32)?;
        let tables = if habit.own_distances { stack.layers } else { 1 };
        Ok(u64::from(rows) * stack.heads * tables)
    };
    let last_norm = match family {
        Family::T5 => h,
        Family::Bart => 0,
    };
    let encoder_params = encoder.layers * (attention(&encoder) + vectors(&encoder, 1))
        + all_networks(&encoder)
        + distances(&encoder)?
        + last_norm
        + front(&source, kind, h)?;
    // The shape counts two norms a block without biases, and one at the end.
    let beside = decoder.layers * (attention(&decoder) + vectors(&decoder, 2) - 2 * h)
        + distances(&decoder)?
        + last_norm;
    let extra = beside.saturating_sub(h);
    let positions = habit.positions.map_or(Ok(0), |more| {
        let both: u64 = [
            &["max_source_positions", "max_position_embeddings"],
            &["max_target_positions", "max_position_embeddings"],
        ]
        .into_iter()
        .map(|names| source.whole_or(names, &TABLE, 0))
        .collect::<Result<Vec<u32>, BringError>>()?
        .into_iter()
        .map(|rows| (u64::from(rows) + more) * h)
        .sum();
        Ok::<u64, BringError>(both)
    })?;
    let aside = encoder_params + positions + habit.norms * 2 * h;

    let mixture = (decoder.sparse > 0).then(|| ExpertLayers {
        experts,
        per_token: if kind == "nllb-moe" { 2 } else { 1 },
        ffn: decoder.ffn as u32,
        shared_ffn: 0,
        layers: decoder.sparse as u32,
        latent: 0,
    });
    let all_sparse = decoder.sparse == decoder.layers;
    let shape = Transformer {
        layers: layers.value,
        hidden: hidden.value,
        ffn: if all_sparse { 0 } else { ffn.value },
        ffn_gated: gated,
        vocab,
        tie_embeddings: tie,
        attention: vec![AttentionGroup::full(
            layers.value,
            heads.value,
            heads.value,
            head_dim,
        )],
        experts: mixture,
        extra_params: extra,
        aside_params: aside,
    };
    for (param, read) in [("layers", &layers), ("hidden", &hidden), ("heads", &heads)] {
        source.note(param, read.value, Origin::Read, &read.path);
    }
    source.note("hd", head_dim, Origin::Worked, "d_kv");
    source.note("ffn", shape.ffn, Origin::Read, &ffn.path);
    source.note("gated", yes_no(gated), Origin::Worked, "feed_forward_proj");
    source.note("tie", yes_no(tie), Origin::Worked, "tie_word_embeddings");
    finish(root, source, kind, shape, encoder_params)
}

/// What stands before an encoder's blocks: two convolutions over sound.
fn front(source: &Source<'_>, kind: &str, h: u64) -> Result<u64, BringError> {
    if kind != "whisper" {
        return Ok(0);
    }
    let bins = u64::from(source.whole_or(&["num_mel_bins"], &limits::HEAD_DIM, 80)?);
    Ok(3 * bins * h + h + 3 * h * h + h)
}

/// Two configurations in one, each read by itself; the decoder's blocks look at the encoder with one
/// more attention each.
fn nested(
    root: &Map<String, Value>,
    kind: &str,
    encoder: &Map<String, Value>,
    decoder: &Map<String, Value>,
) -> Result<Brought, BringError> {
    let written = config::read(decoder).map_err(|e| e.within("decoder"))?;
    let mut shape = written.shape;
    let hidden = u64::from(shape.hidden);
    let sees = ["patch_size", "image_size", "num_channels"]
        .iter()
        .any(|name| encoder.contains_key(*name));
    let encoder_params = if sees {
        tower::one("encoder", root, encoder, hidden)?
    } else {
        let read = config::read(encoder).map_err(|e| e.within("encoder"))?;
        // An encoder has no output head.
        let shape = Transformer {
            tie_embeddings: true,
            ..read.shape
        };
        shape.params()
    };
    let cross: u64 = shape
        .attention
        .iter()
        .map(|group| u64::from(group.layers) * (group.kind.params(hidden) + 2 * hidden))
        .sum();
    shape.extra_params = shape.extra_params.saturating_add(cross);
    shape.aside_params = shape.aside_params.saturating_add(encoder_params);
    let mut source = Source::new(root);
    source.fields = written.fields;
    source
        .fields
        .retain(|field| !matches!(field.param, "extra" | "aside"));
    let mut read = finish(root, source, kind, shape, encoder_params)?;
    let kinds = written.notes.into_iter();
    read.notes
        .extend(kinds.filter(|note| matches!(note, Note::UnknownKind(_))));
    Ok(read)
}

fn finish(
    root: &Map<String, Value>,
    mut source: Source<'_>,
    kind: &str,
    shape: Transformer,
    encoder_params: u64,
) -> Result<Brought, BringError> {
    if !shape::is_within_limits(&shape) {
        return Err(
            BringError::of(Wrong::ModelTooLarge, "d_model", &shape.hidden.to_string())
                .expected(format!("{:.0}T", limits::TOTAL_PARAMS / 1e12)),
        );
    }
    source.note("extra", shape.extra_params, Origin::Worked, "decoder");
    source.note("aside", shape.aside_params, Origin::Worked, "encoder");
    let mut notes = vec![Note::EncoderDecoder(encoder_params)];
    if !Kind::of(kind).known {
        notes.push(Note::UnknownKind(kind.to_owned()));
    }
    let (weights, note) = formats::of_config(&source);
    notes.extend(note);
    let longest = source.whole(
        &[
            "n_positions",
            "max_position_embeddings",
            "max_source_positions",
        ],
        &limits::WINDOW,
    );
    Ok(Brought {
        name: config::name_of(root, kind),
        shape,
        weights,
        max_context: longest.ok().flatten().map(|read| read.value),
        weight_bytes: None,
        fields: source.fields,
        notes,
    })
}

/// A whole number that must be there.
fn must(source: &Source<'_>, names: &[&str], limit: &Limit) -> Result<Read<u32>, BringError> {
    let first = names.first().copied().unwrap_or_default();
    source
        .whole(names, limit)?
        .ok_or_else(|| BringError::of(Wrong::Missing, first, ""))
}
