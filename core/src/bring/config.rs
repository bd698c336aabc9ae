//! `config.json` of Hugging Face Transformers, in its many dialects.

use serde_json::{Map, Value};

use super::attention::{self, Mixer};
use super::error::{BringError, BringErrorKind as Wrong};
use super::kind::{Kind, Positions, is_gated_activation};
use super::source::{Read, Source};
use super::{Brought, Note, Origin, experts, formats, pair, tower};
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
const HEADS: &[&str] = &[
    "num_attention_heads",
    "n_head",
    "n_heads",
    "num_heads",
    "num_query_heads",
    "encoder_attention_heads",
];
const KV_HEADS: &[&str] = &[
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "n_kv_heads",
    "num_attention_groups",
    "attn_config.kv_n_heads",
    "num_query_groups",
];
const FFN: &[&str] = &[
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

type HeadField = (&'static str, String, (Origin, String));

/// Query heads, key and value heads, their width; into `dims`, and as fields of the form.
fn read_heads(
    source: &Source<'_>,
    dims: &mut Dims,
    class: Option<(u32, u32, u32)>,
) -> Result<Vec<HeadField>, BringError> {
    let mut fields = Vec::new();
    let each = source.each_layer(HEADS, dims.layers, &limits::HEADS)?;
    let usual = (dims.hidden / 128).max(1);
    match each {
        Some(read) => {
            dims.heads = read.value.iter().copied().max().unwrap_or(usual);
            fields.push(("heads", dims.heads.to_string(), (Origin::Read, read.path)));
            if read.value.iter().any(|n| *n != dims.heads) {
                dims.heads_by_layer = Some(read.value);
            }
        }
        None => {
            // State-space models have none.
            let (heads, origin) = match class {
                Some((heads, ..)) => (heads, Origin::Worked),
                None => (usual, Origin::Assumed),
            };
            dims.heads = heads;
            fields.push((
                "heads",
                heads.to_string(),
                (origin, "num_attention_heads".to_owned()),
            ));
        }
    }
    let mut kv = source.each_layer(
        KV_HEADS,
        dims.layers,
        &Limit {
            min: 0.0,
            ..limits::KV_HEADS
        },
    )?;
    let one = |path: &str, value: u32| {
        Some(Read {
            path: path.to_owned(),
            value: vec![value],
        })
    };
    let multi = source.flag_or(&["multi_query", "multi_query_attention"], false)?;
    if multi && dims.kind_name == "chatglm" {
        let groups = source.whole_or(&["multi_query_group_num"], &limits::KV_HEADS, 2)?;
        kv = one("multi_query_group_num", groups);
    } else if multi && !source.flag_or(&["new_decoder_architecture"], false)? {
        kv = one("multi_query", 1);
    }
    if let Some(blocks) = source.layer_list(&["block_configs"], dims.layers)? {
        // Query heads that share a key, block by block (DeciLM).
        let group = |value: &Value| {
            value
                .pointer("/attention/n_heads_in_group")
                .and_then(Value::as_u64)
        };
        let each = blocks.value.iter().map(|b| {
            group(b).map_or(dims.heads, |n| {
                dims.heads / (n.clamp(1, u64::from(dims.heads)) as u32)
            })
        });
        kv = Some(Read {
            path: format!("{}.attention.n_heads_in_group", blocks.path),
            value: each.collect(),
        });
    }
    match kv {
        Some(read) => {
            dims.kv_heads = read.value.iter().copied().max().unwrap_or(1).max(1);
            if read.value.iter().any(|n| *n != dims.kv_heads) {
                dims.kv_heads_by_layer = Some(read.value);
            }
            if dims.heads_by_layer.is_none() && !dims.heads.is_multiple_of(dims.kv_heads) {
                return Err(BringError::of(
                    Wrong::Conflict,
                    &read.path,
                    &dims.kv_heads.to_string(),
                )
                .expected(format!("num_attention_heads = {}", dims.heads)));
            }
            fields.push((
                "kvheads",
                dims.kv_heads.to_string(),
                (Origin::Read, read.path),
            ));
        }
        None => {
            let (kv_heads, origin) = match class {
                Some((_, kv_heads, _)) if dims.heads.is_multiple_of(kv_heads) => {
                    (kv_heads, Origin::Worked)
                }
                _ => (
                    dims.heads,
                    if dims.kind.known {
                        Origin::Worked
                    } else {
                        Origin::Assumed
                    },
                ),
            };
            dims.kv_heads = kv_heads;
            fields.push((
                "kvheads",
                kv_heads.to_string(),
                (origin, "num_key_value_heads".to_owned()),
            ));
        }
    }
    let dim = source.whole(
        &[
            "head_dim",
            "attention_head_dim",
            "kv_channels",
            "d_kv",
            "head_size",
            "attn_head_size",
        ],
        &limits::HEAD_DIM,
    )?;
    match dim {
        Some(read) => {
            dims.head_dim = read.value;
            fields.push(("hd", read.value.to_string(), (Origin::Read, read.path)));
        }
        None => {
            let worked = match class {
                Some((_, _, dim)) if dim > 0 => dim,
                _ => (dims.hidden / dims.heads.max(1)).clamp(1, limits::HEAD_DIM.max as u32),
            };
            dims.head_dim = worked;
            fields.push((
                "hd",
                worked.to_string(),
                (Origin::Worked, "head_dim".to_owned()),
            ));
        }
    }
    Ok(fields)
}

/// Width of a dense network; the mean where every layer has its own.
fn read_ffn(
    source: &Source<'_>,
    dims: &Dims,
    class: Option<u32>,
) -> Result<Option<Read<u32>>, BringError> {
    // Dense layers beside experts have a name of their own in some dialects.
    let dense = source.whole(
        &["intermediate_size_mlp", "dense_intermediate_size"],
        &limits::FFN,
    )?;
    if dense.is_some() {
        return Ok(dense);
    }
    if let Some(blocks) = source.layer_list(&["block_configs"], dims.layers)? {
        let multiple = |value: &Value| value.pointer("/ffn/ffn_mult").and_then(Value::as_f64);
        let direct = |value: &Value| {
            value
                .pointer("/ffn/intermediate_size")
                .and_then(Value::as_f64)
        };
        let sum: f64 = blocks
            .value
            .iter()
            .map(|block| match (direct(block), multiple(block)) {
                (Some(width), _) => width,
                (None, Some(mult)) => {
                    let width = (2.0 * mult * f64::from(dims.hidden) / 3.0).floor();
                    (width / 256.0).ceil() * 256.0
                }
                _ => 0.0,
            })
            .sum();
        let mean = (sum / f64::from(dims.layers)).round();
        let value = super::source::within(&blocks.path, mean, &limits::FFN)?;
        return Ok(Some(Read {
            path: blocks.path,
            value,
        }));
    }
    if let Some(each) = source.layer_list(&["ffn_multipliers"], dims.layers)? {
        let divisor = f64::from(source.whole_or(&["ffn_dim_divisor"], &limits::HIDDEN, 256)?);
        let sum: f64 = each
            .value
            .iter()
            .filter_map(Value::as_f64)
            .map(|m| (m * f64::from(dims.hidden) / divisor).round() * divisor)
            .sum();
        let value = super::source::within(
            &each.path,
            (sum / f64::from(dims.layers)).round(),
            &limits::FFN,
        )?;
        return Ok(Some(Read {
            path: each.path,
            value,
        }));
    }
    if let Some(each) = source.each_layer(FFN, dims.layers, &limits::FFN)? {
        let sum: u64 = each.value.iter().map(|n| u64::from(*n)).sum();
        let mean = (sum as f64 / f64::from(dims.layers)).round() as u32;
        let halved = match dims.kind_name.as_str() {
            // Qwen's first generation states the two gated halves together.
            "qwen" => mean / 2,
            // LFM2 states the width before the gate's correction.
            "lfm2" if source.flag_or(&["block_auto_adjust_ff_dim"], false)? => {
                let factor = source
                    .number(&["block_ffn_dim_multiplier"])?
                    .map_or(1.0, |r| r.value);
                let multiple = source.whole_or(&["block_multiple_of"], &limits::HIDDEN, 256)?;
                let width = (f64::from(2 * mean / 3) * factor) as u32;
                width.next_multiple_of(multiple.max(1))
            }
            _ => mean,
        };
        return Ok(Some(Read {
            path: each.path,
            value: halved,
        }));
    }
    if let Some(ratio) = source.number(&["expansion_ratio", "ffn_factor", "mlp_ratio"])? {
        let width = (ratio.value * f64::from(dims.hidden)).round();
        let value = super::source::within(&ratio.path, width, &limits::FFN)?;
        return Ok(Some(Read {
            path: ratio.path,
            value,
        }));
    }
    Ok(class.map(|value| Read {
        path: String::new(),
        value,
    }))
}

/// Dense networks and expert blocks of a model.
struct Networks {
    /// Width of dense networks, the mean over blocks without experts; 0: none.
    ffn: u32,
    origin: Origin,
    key: String,
    /// Blocks with experts.
    expert_layers: u32,
}

fn networks(
    source: &Source<'_>,
    dims: &Dims,
    width: Option<Read<u32>>,
    mixing: u32,
) -> Result<Networks, BringError> {
    let holds = experts::blocks(source, dims)?;
    // Blocks of a hybrid are either a mixer or a network.
    let singles = source
        .word(&["hybrid_override_pattern"])
        .map(|word| {
            let count = |c: char| word.chars().filter(|x| *x == c).count() as u32;
            (count('-'), count('E'))
        })
        .or_else(|| {
            let list = source.list(&["layers_block_type"])?;
            let count = |word: &str| {
                list.value
                    .iter()
                    .filter(|v| v.as_str() == Some(word))
                    .count() as u32
            };
            let (dense, moe) = (count("mlp"), count("moe"));
            (dense + moe > 0).then_some((dense, moe))
        });
    let (dense_blocks, expert_layers) = match (singles, &holds) {
        (Some((dense, moe)), _) => (dense, moe),
        (None, Some(holds)) => {
            let moe = holds.iter().filter(|h| **h).count() as u32;
            (mixing.saturating_sub(moe), moe)
        }
        (None, None) => (mixing, 0),
    };
    let without = mixing.saturating_sub(expert_layers);
    // State-space models without a network of their own.
    let no_network = matches!(dims.kind_name.as_str(), "mamba" | "mamba2" | "falcon_mamba");
    if without == 0 || dense_blocks == 0 || no_network {
        return Ok(Networks {
            ffn: 0,
            origin: Origin::Worked,
            key: width.map_or_else(String::new, |read| read.path),
            expert_layers,
        });
    }
    let (mut ffn, origin, key) = match width {
        Some(read) if read.path.is_empty() => {
            (read.value, Origin::Worked, "intermediate_size".to_owned())
        }
        Some(read) => (read.value, Origin::Read, read.path),
        None => {
            let gated = read_gated(source, dims).value;
            let usual = crate::scenario::usual_feed_forward(dims.hidden, gated);
            let known = matches!(dims.kind.gated, Some(false));
            let origin = if known {
                Origin::Worked
            } else {
                Origin::Assumed
            };
            (usual, origin, "intermediate_size".to_owned())
        }
    };
    if dense_blocks != without {
        let sum = u64::from(ffn) * u64::from(dense_blocks);
        ffn = (sum as f64 / f64::from(without)).round() as u32;
    }
    // Gemma 3n and 4: networks of blocks without keys of their own are twice as wide.
    if source.flag_or(&["use_double_wide_mlp"], false)? {
        let shared = source.whole_or(
            &["num_kv_shared_layers"],
            &Limit {
                min: 0.0,
                ..limits::LAYERS
            },
            0,
        )?;
        let sum = u64::from(ffn) * u64::from(without + shared.min(without));
        ffn = (sum as f64 / f64::from(without)).round() as u32;
    }
    Ok(Networks {
        ffn,
        origin,
        key,
        expert_layers,
    })
}

fn read_gated(source: &Source<'_>, dims: &Dims) -> Read<bool> {
    if let Some(gated) = dims.kind.gated {
        return Read {
            path: "model_type".to_owned(),
            value: gated,
        };
    }
    let names = [
        "hidden_act",
        "hidden_activation",
        "activation_function",
        "feed_forward_proj",
        "mlp_hidden_act",
        "activation",
    ];
    match source
        .find(&names)
        .and_then(|read| Some((read.path, read.value.as_str()?)))
    {
        Some((path, word)) => Read {
            path,
            value: is_gated_activation(word),
        },
        None => Read {
            path: "hidden_act".to_owned(),
            value: true,
        },
    }
}

fn gated_origin(gated: &Read<bool>, dims: &Dims) -> Origin {
    match (dims.kind.gated, gated.path.as_str()) {
        (None, "hidden_act") => Origin::Assumed,
        _ => Origin::Worked,
    }
}

/// What every block mixes tokens with, and the field that says so.
pub(super) fn mixers(source: &Source<'_>, dims: &Dims) -> Result<(Vec<Mixer>, String), BringError> {
    let layers = dims.layers;
    let by = |holds: &dyn Fn(u32) -> Mixer| (0..layers).map(holds).collect::<Vec<_>>();
    if let Some(word) = source.word(&["hybrid_override_pattern"]) {
        let path = "hybrid_override_pattern";
        let mut mixers = Vec::new();
        for c in word.chars() {
            match c {
                'M' => mixers.push(Mixer::Mamba),
                '*' => mixers.push(Mixer::Full),
                '-' | 'E' => {}
                other => {
                    return Err(BringError::of(Wrong::UnknownWord, path, &other.to_string())
                        .expected("M * - E"));
                }
            }
        }
        if mixers.is_empty() || mixers.len() > limits::LAYERS.max as usize {
            return Err(BringError::of(
                Wrong::ListLength,
                path,
                &mixers.len().to_string(),
            ));
        }
        return Ok((mixers, path.to_owned()));
    }
    if let Some(list) = source.layer_list(
        &["layers_block_type", "layer_types", "hybrid_layer_pattern"],
        layers,
    )? {
        let words = list.value.iter().enumerate();
        let mixers: Vec<Mixer> = words
            .map(|(at, value)| attention::word(&format!("{}[{at}]", list.path), value))
            .collect::<Result<_, _>>()?;
        let mixers: Vec<_> = mixers.into_iter().filter(|m| *m != Mixer::None).collect();
        if mixers.is_empty() {
            return Err(BringError::of(Wrong::Conflict, &list.path, "0"));
        }
        return Ok((mixers, list.path));
    }
    if let Some(blocks) = source.layer_list(&["block_configs"], layers)? {
        let is_none = |value: &Value| {
            let attention = value.get("attention");
            let yes = |name: &str| {
                attention.and_then(|a| a.get(name)).and_then(Value::as_bool) == Some(true)
            };
            yes("no_op") || yes("replace_with_linear")
        };
        let mixers = blocks
            .value
            .iter()
            .map(|b| if is_none(b) { Mixer::None } else { Mixer::Full });
        return Ok((mixers.collect(), blocks.path.clone()));
    }
    if let Some(list) = source.layer_list(&["attn_type_list"], layers)? {
        let mixers = list.value.iter().map(|v| {
            if v.as_u64() == Some(1) {
                Mixer::Full
            } else {
                Mixer::Linear
            }
        });
        return Ok((mixers.collect(), list.path.clone()));
    }
    if let Some(full) = source.list(&["linear_attn_config.full_attn_layers"]) {
        let numbers: Vec<u64> = full.value.iter().filter_map(Value::as_u64).collect();
        let mixers = by(&|at| {
            if numbers.contains(&(u64::from(at) + 1)) {
                Mixer::Full
            } else {
                Mixer::Linear
            }
        });
        return Ok((mixers, full.path));
    }
    if source.has(&["linear_num_value_heads"]) {
        let every = source.whole_or(&["full_attention_interval"], &limits::LAYERS, 4)?;
        let mixers = by(&|at| {
            if (at + 1) % every == 0 {
                Mixer::Full
            } else {
                Mixer::Linear
            }
        });
        return Ok((mixers, "full_attention_interval".to_owned()));
    }
    if let Some(period) = source.whole(&["attn_layer_period"], &limits::LAYERS)? {
        let offset = source.whole_or(
            &["attn_layer_offset"],
            &Limit {
                min: 0.0,
                ..limits::LAYERS
            },
            0,
        )?;
        let mixers = by(&|at| {
            if at % period.value == offset % period.value {
                Mixer::Full
            } else {
                Mixer::Mamba
            }
        });
        return Ok((mixers, period.path));
    }
    if let Some(list) = source.list(&["full_attn_idxs", "attn_layer_indices"]) {
        let numbers: Vec<u64> = list.value.iter().filter_map(Value::as_u64).collect();
        let other = if list.path.ends_with("idxs") {
            Mixer::Convolution
        } else {
            Mixer::Mamba
        };
        let mixers = by(&|at| {
            if numbers.contains(&u64::from(at)) {
                Mixer::Full
            } else {
                other
            }
        });
        return Ok((mixers, list.path));
    }
    match dims.kind_name.as_str() {
        "mamba" | "mamba2" | "falcon_mamba" => {
            return Ok((by(&|_| Mixer::Mamba), "model_type".to_owned()));
        }
        "falcon_h1" => return Ok((by(&|_| Mixer::Both), "model_type".to_owned())),
        _ => {}
    }
    windows(source, dims)
}

/// Which blocks have a window, by the habits of each kind of model.
fn windows(source: &Source<'_>, dims: &Dims) -> Result<(Vec<Mixer>, String), BringError> {
    let layers = dims.layers;
    let by = |windowed: &dyn Fn(u32) -> bool| {
        (0..layers)
            .map(|at| {
                if windowed(at) {
                    Mixer::Window
                } else {
                    Mixer::Full
                }
            })
            .collect::<Vec<_>>()
    };
    let every = |names: &[&str], usual: u32| -> Result<(u32, String), BringError> {
        // Some write a pattern in letters, `LLLG`.
        if let Some(word) = source.word(names) {
            return Ok((
                (word.len().clamp(1, 1000)) as u32,
                names.first().copied().unwrap_or_default().to_owned(),
            ));
        }
        Ok(match source.whole(names, &limits::LAYERS)? {
            Some(read) => (read.value, read.path),
            None => (usual, "model_type".to_owned()),
        })
    };
    let pattern = &["sliding_window_pattern", "_sliding_window_pattern"];
    let has_window = source
        .find(&["sliding_window"])
        .and_then(|read| read.value.as_f64())
        .is_none_or(|n| n > 0.0);
    Ok(match dims.kind_name.trim_end_matches("_text") {
        "gemma2" | "gpt_oss" => (by(&|at| at % 2 == 0), "model_type".to_owned()),
        "gemma3" => {
            let (n, path) = every(pattern, 6)?;
            (by(&|at| (at + 1) % n != 0), path)
        }
        "gemma3n" => (by(&|at| (at + 1) % 5 != 0), "model_type".to_owned()),
        "gemma4" => (
            by(&|at| (at + 1) % 6 != 0 && at + 1 != layers),
            "model_type".to_owned(),
        ),
        "cohere2" | "exaone4" | "olmo3" if has_window && source.has(&["sliding_window"]) => {
            let (n, path) = every(pattern, 4)?;
            (by(&|at| (at + 1) % n != 0), path)
        }
        "llama4" => match source.layer_list(&["no_rope_layers"], layers)? {
            Some(list) => {
                let mixers = list.value.iter().map(|v| {
                    if v.as_u64() == Some(0) {
                        Mixer::Full
                    } else {
                        Mixer::Window
                    }
                });
                (mixers.collect(), list.path.clone())
            }
            None => {
                let (n, path) = every(&["no_rope_layer_interval"], 4)?;
                (by(&|at| (at + 1) % n != 0), path)
            }
        },
        "gpt_neo" => (by(&|at| at % 2 == 1), "attention_types".to_owned()),
        "mistral" | "mixtral" | "phi3" | "starcoder2" | "phimoe" | "minimax_m2" if has_window => {
            let windowed = source.find(&["sliding_window"]).is_some();
            (by(&|_| windowed), "sliding_window".to_owned())
        }
        _ if source.flag_or(&["use_sliding_window"], false)? && source.has(&["sliding_window"]) => {
            let from = source.whole_or(
                &["max_window_layers"],
                &Limit {
                    min: 0.0,
                    ..limits::LAYERS
                },
                0,
            )?;
            (by(&|at| at >= from), "use_sliding_window".to_owned())
        }
        _ => (by(&|_| false), String::new()),
    })
}

/// Parameters beside blocks and tables.
fn aside(
    root: &Map<String, Value>,
    source: &Source<'_>,
    dims: &Dims,
    notes: &mut Vec<Note>,
) -> Result<u64, BringError> {
    let towers = tower::params(root, dims.h())?;
    if towers > 0 {
        notes.push(Note::Tower(towers));
    }
    let positions = match dims.kind.positions {
        Positions::None => 0,
        Positions::Learned(more) => {
            let rows = source.whole_or(
                &["n_positions", "max_position_embeddings"],
                &limits::WINDOW,
                1024,
            )?;
            let types = source.whole_or(
                &["type_vocab_size"],
                &Limit {
                    min: 0.0,
                    ..limits::WINDOW
                },
                0,
            )?;
            (u64::from(rows) + u64::from(more) + u64::from(types)) * dims.h()
        }
    };
    // Tables of embeddings for each block (Gemma 3n and 4).
    let per_block = u64::from(source.whole_or(
        &["hidden_size_per_layer_input"],
        &Limit {
            min: 0.0,
            ..limits::HIDDEN
        },
        0,
    )?);
    let rows = u64::from(source.whole_or(&["vocab_size_per_layer_input"], &limits::VOCAB, 1)?);
    let tables = rows * per_block * u64::from(dims.layers);
    Ok(towers + positions + tables)
}

/// Biases of feed-forward networks, norms and attention's output.
fn biases(dims: &Dims, ffn: u32, layers: u32) -> i64 {
    if !dims.kind.all_biases {
        return 0;
    }
    let hidden = i64::from(dims.hidden);
    // Up and down, and the two norms.
    i64::from(layers) * (i64::from(ffn) + hidden + 2 * hidden) + hidden
}

/// Projections of the embeddings that each block has of its own, and the low-rank branch beside
/// attention (Gemma 3n and 4).
fn block_inputs(source: &Source<'_>, dims: &Dims) -> Result<i64, BringError> {
    let width = |name: &str| -> Result<i64, BringError> {
        let limit = Limit {
            min: 0.0,
            ..limits::HIDDEN
        };
        Ok(i64::from(source.whole_or(&[name], &limit, 0)?))
    };
    let (hidden, layers) = (i64::from(dims.hidden), i64::from(dims.layers));
    let inputs = 3 * hidden * width("hidden_size_per_layer_input")? * layers;
    Ok(inputs + 2 * hidden * width("laurel_rank")? * layers)
}

/// Norms beyond two a block.
fn norms(dims: &Dims, layers: u32) -> i64 {
    i64::from(dims.kind.more_norms) * i64::from(layers) * i64::from(dims.hidden)
}

/// Phi's output head has a bias.
fn head_bias(dims: &Dims) -> i64 {
    i64::from(matches!(dims.kind_name.as_str(), "phi" | "gptj" | "phimoe"))
}
