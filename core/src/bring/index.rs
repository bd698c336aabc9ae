//! The index of a model in safetensors, and a safetensors header: names, and for the header shapes
//! and types, of every tensor.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::config::yes_no;
use super::error::{BringError, BringErrorKind as Kind};
use super::source::within;
use super::{Brought, Field, Note, Origin, formats};
use crate::catalog::{AttentionGroup, AttentionKind, ExpertLayers, Transformer};
use crate::dtype::WeightFormat;
use crate::scenario::limits;
use crate::scenario::{shape, usual_feed_forward, usual_shape};

/// Whether JSON is an index: it says which file holds which tensor.
pub(super) fn is_index(root: &Map<String, Value>) -> bool {
    root.get("weight_map").is_some_and(Value::is_object)
}

/// Whether JSON is a header: every entry has a type and a shape.
pub(super) fn is_header(root: &Map<String, Value>) -> bool {
    let mut tensors = root.iter().filter(|(name, _)| *name != "__metadata__");
    tensors
        .next()
        .is_some_and(|(_, value)| value.get("dtype").is_some() && value.get("shape").is_some())
}

/// The JSON at the start of a safetensors file: eight bytes that say how long it is, then it.
pub(super) fn header_of(first: &[u8]) -> Result<Option<&str>, BringError> {
    const LONGEST: u64 = 100 << 20;
    let Some((length, rest)) = first.split_first_chunk::<8>() else {
        return Ok(None);
    };
    let length = u64::from_le_bytes(*length);
    if !rest.starts_with(b"{") || !(2..=LONGEST).contains(&length) {
        return Ok(None);
    }
    let Some(header) = usize::try_from(length).ok().and_then(|n| rest.get(..n)) else {
        return Err(
            BringError::of(Kind::Truncated, "header", &rest.len().to_string())
                .expected(length.to_string()),
        );
    };
    std::str::from_utf8(header)
        .map(Some)
        .map_err(|_| BringError::of(Kind::NotText, "header", ""))
}

/// Number of the block that a tensor belongs to, and of the expert.
fn numbers(name: &str) -> (Option<u32>, Option<u32>) {
    let mut parts = name.split('.').peekable();
    let (mut block, mut expert) = (None, None);
    while let Some(part) = parts.next() {
        let number = parts.peek().and_then(|next| next.parse::<u32>().ok());
        match part {
            "layers" | "h" | "blocks" | "block" | "layer" if block.is_none() => block = number,
            "experts" => expert = number,
            _ => {}
        }
    }
    (block, expert)
}

/// Whether a tensor is of a tower or of layers for predicting several tokens.
fn is_beside(name: &str) -> bool {
    [
        "visual",
        "vision",
        "audio",
        "image_newline",
        "mtp",
        "multi_modal_projector",
        "mm_projector",
    ]
    .iter()
    .any(|word| name.contains(word))
}

/// An index: the bytes of all weights, how many blocks and experts there are. Widths are not in
/// it; those of a usual model of that size stand in, as assumptions.
pub(super) fn read(root: &Map<String, Value>) -> Result<Brought, BringError> {
    let total = root
        .get("metadata")
        .and_then(|metadata| metadata.get("total_size"));
    let bytes = match total {
        None => return Err(BringError::of(Kind::Missing, "metadata.total_size", "")),
        Some(value) => value.as_f64().filter(|n| n.is_finite()).ok_or_else(|| {
            BringError::of(Kind::WrongType, "metadata.total_size", &value.to_string())
                .expected("number")
        })?,
    };
    if bytes < 1.0 {
        return Err(
            BringError::of(Kind::TooSmall, "metadata.total_size", &bytes.to_string()).expected("1"),
        );
    }
    let names: Vec<&String> = root
        .get("weight_map")
        .and_then(Value::as_object)
        .map(|map| map.keys().collect())
        .unwrap_or_default();
    let mut blocks = BTreeSet::new();
    let mut experts = BTreeSet::new();
    let mut expert_blocks = BTreeSet::new();
    for name in names.iter().filter(|name| !is_beside(name)) {
        let (block, expert) = numbers(name);
        blocks.extend(block);
        experts.extend(expert);
        if expert.is_some() {
            expert_blocks.extend(block);
        }
    }
    let any = |part: &str| names.iter().any(|name| name.contains(part));
    let layers = blocks.last().map_or(0, |last| last.saturating_add(1));
    if layers == 0 {
        return Err(BringError::of(Kind::Missing, "weight_map: layers.N", ""));
    }
    let layers = within("weight_map", f64::from(layers), &limits::LAYERS)?;
    // Scales beside weights tell 8 bit, packed ones 4 bit.
    let weights = if any("qweight") || any("weight_packed") || any("_blocks") {
        WeightFormat::Gptq4
    } else if any("weight_scale") {
        WeightFormat::Fp8
    } else {
        WeightFormat::Bf16
    };
    let params = bytes * 8.0 / weights.bits_per_weight();
    let mut shape = of_size(params, layers);
    let mut fields = Vec::new();
    let mut note = |param, value: String, origin, key: &str| {
        fields.push(Field {
            param,
            value,
            origin,
            key: key.to_owned(),
        });
    };
    note("layers", layers.to_string(), Origin::Worked, "weight_map");
    note(
        "hidden",
        shape.hidden.to_string(),
        Origin::Assumed,
        "hidden_size",
    );
    let heads = shape.heads();
    note(
        "heads",
        heads.to_string(),
        Origin::Assumed,
        "num_attention_heads",
    );
    note(
        "kvheads",
        heads.to_string(),
        Origin::Assumed,
        "num_key_value_heads",
    );
    let tie = !any("lm_head") && !any("output.weight") && !any("embed_out");
    shape.tie_embeddings = tie;
    note(
        "tie",
        yes_no(tie).to_owned(),
        Origin::Worked,
        "weight_map: lm_head",
    );
    note(
        "vocab",
        shape.vocab.to_string(),
        Origin::Assumed,
        "vocab_size",
    );
    if experts.len() > 1 {
        let count = experts.len().min(4096) as u32;
        let held = (expert_blocks.len() as u32).clamp(1, layers);
        // Nearly all of a mixture is experts.
        let one =
            0.95 * params / f64::from(held) / f64::from(count) / 3.0 / f64::from(shape.hidden);
        let ffn = one.round().clamp(1.0, limits::EXPERT_FFN.max) as u32;
        shape.experts = Some(ExpertLayers {
            experts: count,
            per_token: 8.min(count),
            ffn,
            shared_ffn: 0,
            layers: held,
            latent: 0,
        });
        if held == layers {
            shape.ffn = 0;
        }
        note(
            "experts",
            count.to_string(),
            Origin::Worked,
            "weight_map: experts.N",
        );
        note(
            "elayers",
            held.to_string(),
            Origin::Worked,
            "weight_map: experts.N",
        );
        note(
            "top",
            8.min(count).to_string(),
            Origin::Assumed,
            "num_experts_per_tok",
        );
        note(
            "eff",
            ffn.to_string(),
            Origin::Assumed,
            "moe_intermediate_size",
        );
    }
    note(
        "ffn",
        shape.ffn.to_string(),
        Origin::Assumed,
        "intermediate_size",
    );
    // What the usual widths miss of the size is counted with the blocks.
    let rest = (params - shape.params() as f64).round();
    if rest > 0.0 && rest < limits::TOTAL_PARAMS {
        shape.extra_params = rest as u64;
        note(
            "extra",
            shape.extra_params.to_string(),
            Origin::Worked,
            "metadata.total_size",
        );
    }
    finish(shape, fields, Some(weights), Some(bytes as u64), Vec::new())
}

/// A usual dense network of `params` parameters in `layers` blocks.
fn of_size(params: f64, layers: u32) -> Transformer {
    // A gated block has about twelve times the square of its width.
    let width = (params / f64::from(layers) / 12.5).max(1.0).sqrt();
    let hidden = ((width / 128.0).floor().max(1.0) * 128.0).min(limits::HIDDEN.max) as u32;
    let heads = (hidden / 128).max(1);
    Transformer {
        layers,
        hidden,
        ffn: usual_feed_forward(hidden, true),
        attention: vec![AttentionGroup {
            layers,
            kind: AttentionKind::Heads {
                heads,
                kv_heads: heads,
                head_dim: hidden / heads,
                window: None,
            },
            sparse: None,
        }],
        ..usual_shape()
    }
}

/// A tensor of a header.
struct Tensor<'a> {
    name: &'a str,
    dtype: &'a str,
    dims: Vec<u64>,
}

impl Tensor<'_> {
    fn elements(&self) -> u64 {
        self.dims
            .iter()
            .fold(1, |all, dim| all.saturating_mul(*dim))
    }

    fn bytes(&self) -> u64 {
        let one = match self.dtype {
            "F64" | "I64" | "U64" => 8,
            "F32" | "I32" | "U32" => 4,
            "F16" | "BF16" | "I16" | "U16" => 2,
            _ => 1,
        };
        self.elements().saturating_mul(one)
    }
}

fn tensors(root: &Map<String, Value>) -> Result<Vec<Tensor<'_>>, BringError> {
    let mut tensors = Vec::new();
    for (name, value) in root.iter().filter(|(name, _)| *name != "__metadata__") {
        let wrong = |part: &str| {
            BringError::of(Kind::WrongType, &format!("{name}.{part}"), "").expected("list, text")
        };
        let dims = value
            .get("shape")
            .and_then(Value::as_array)
            .ok_or_else(|| wrong("shape"))?
            .iter()
            .map(|dim| dim.as_u64().ok_or_else(|| wrong("shape")))
            .collect::<Result<_, _>>()?;
        let dtype = value
            .get("dtype")
            .and_then(Value::as_str)
            .ok_or_else(|| wrong("dtype"))?;
        tensors.push(Tensor { name, dtype, dims });
    }
    Ok(tensors)
}

/// A header: shapes tell widths, and their products every parameter.
pub(super) fn read_header(root: &Map<String, Value>) -> Result<Brought, BringError> {
    let tensors = tensors(root)?;
    let text: Vec<&Tensor<'_>> = tensors.iter().filter(|t| !is_beside(t.name)).collect();
    let find = |parts: &[&str]| {
        text.iter()
            .find(|t| parts.iter().any(|part| t.name.ends_with(part)))
            .copied()
    };
    let missing = |name: &str| BringError::of(Kind::Missing, name, "");
    let table = find(&[
        "embed_tokens.weight",
        "wte.weight",
        "word_embeddings.weight",
        "embed_in.weight",
        "tok_embeddings.weight",
        "embedding.weight",
    ])
    .ok_or_else(|| missing("model.embed_tokens.weight"))?;
    let (rows, width) = match table.dims.as_slice() {
        [rows, width] => (*rows, *width),
        _ => return Err(missing("model.embed_tokens.weight: shape")),
    };
    let vocab = within(table.name, rows as f64, &limits::VOCAB)?;
    let hidden = within(table.name, width as f64, &limits::HIDDEN)?;
    let blocks: BTreeSet<u32> = text.iter().filter_map(|t| numbers(t.name).0).collect();
    let layers = blocks.last().map_or(0, |last| last.saturating_add(1));
    if layers == 0 {
        return Err(missing("model.layers.0"));
    }
    let layers = within("model.layers", f64::from(layers), &limits::LAYERS)?;
    let rows_of = |parts: &[&str]| find(parts).and_then(|t| t.dims.first().copied());
    let queries = rows_of(&["q_proj.weight", "wq.weight", "query.weight"]);
    let keys = rows_of(&["k_proj.weight", "wk.weight", "key.weight"]);
    let norm = find(&["q_norm.weight"]).and_then(|t| t.dims.first().copied());
    let head_dim = norm.filter(|d| *d <= 512).unwrap_or(128);
    let head_dim = within("head_dim", head_dim as f64, &limits::HEAD_DIM)?;
    let count = |rows: Option<u64>, usual: u64| {
        (rows.unwrap_or(usual) / u64::from(head_dim)).clamp(1, 4096) as u32
    };
    let heads = count(queries, u64::from(hidden));
    let kv_heads = Some(count(keys, u64::from(heads) * u64::from(head_dim)))
        .filter(|kv| heads.is_multiple_of(*kv))
        .unwrap_or(heads);
    let gate = rows_of(&["gate_proj.weight", "w1.weight"]);
    let up = rows_of(&[
        "up_proj.weight",
        "w3.weight",
        "fc1.weight",
        "c_fc.weight",
        "dense_h_to_4h.weight",
    ]);
    let expert_ffn = text
        .iter()
        .find(|t| {
            numbers(t.name).1.is_some() && (t.name.contains("gate_proj") || t.name.contains("w1."))
        })
        .and_then(|t| t.dims.first().copied());
    let dense = text
        .iter()
        .find(|t| numbers(t.name).1.is_none() && t.name.ends_with("mlp.gate_proj.weight"))
        .and_then(|t| t.dims.first().copied());
    let mut experts: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for tensor in &text {
        if let (Some(block), Some(expert)) = numbers(tensor.name) {
            experts.entry(block).or_default().insert(expert);
        }
    }
    let mixture = experts
        .values()
        .map(BTreeSet::len)
        .max()
        .unwrap_or(0)
        .min(4096) as u32;
    let ffn = if mixture > 1 { dense } else { gate.or(up) };
    let ffn = within("mlp", ffn.unwrap_or(0) as f64, &limits::FFN)?;
    let held = (experts.len() as u32).min(layers);
    let tie = find(&["lm_head.weight", "embed_out.weight", "output.weight"]).is_none();
    let mut shape = Transformer {
        layers,
        hidden,
        ffn: if mixture > 1 && held == layers {
            0
        } else {
            ffn
        },
        ffn_gated: gate.is_some() || expert_ffn.is_some(),
        vocab,
        tie_embeddings: tie,
        attention: vec![AttentionGroup {
            layers,
            kind: AttentionKind::Heads {
                heads,
                kv_heads,
                head_dim,
                window: None,
            },
            sparse: None,
        }],
        experts: None,
        extra_params: 0,
        aside_params: tensors
            .iter()
            .filter(|t| is_beside(t.name) && !t.name.contains("mtp"))
            .fold(0_u64, |all, t| all.saturating_add(t.elements()))
            .min(limits::TOTAL_PARAMS as u64),
    };
    let mut fields = Vec::new();
    let mut note = |param, value: String, origin, key: &str| {
        fields.push(Field {
            param,
            value,
            origin,
            key: key.to_owned(),
        });
    };
    let worked = |known: bool| {
        if known {
            Origin::Worked
        } else {
            Origin::Assumed
        }
    };
    note("layers", layers.to_string(), Origin::Worked, "model.layers");
    note("hidden", hidden.to_string(), Origin::Read, table.name);
    note(
        "heads",
        heads.to_string(),
        worked(queries.is_some() && norm.is_some()),
        "q_proj.weight",
    );
    note(
        "kvheads",
        kv_heads.to_string(),
        worked(keys.is_some() && norm.is_some()),
        "k_proj.weight",
    );
    note(
        "hd",
        head_dim.to_string(),
        worked(norm.is_some()),
        "head_dim",
    );
    note(
        "ffn",
        shape.ffn.to_string(),
        worked(ffn > 0),
        "mlp.gate_proj.weight",
    );
    note(
        "gated",
        yes_no(shape.ffn_gated).to_owned(),
        Origin::Worked,
        "mlp.gate_proj.weight",
    );
    note("vocab", vocab.to_string(), Origin::Read, table.name);
    note(
        "tie",
        yes_no(tie).to_owned(),
        Origin::Worked,
        "lm_head.weight",
    );
    if let (true, Some(width)) = (mixture > 1, expert_ffn) {
        let width = within("experts", width as f64, &limits::EXPERT_FFN)?;
        let used = 8.min(mixture);
        shape.experts = Some(ExpertLayers {
            experts: mixture,
            per_token: used,
            ffn: width,
            shared_ffn: 0,
            layers: held.max(1),
            latent: 0,
        });
        note(
            "experts",
            mixture.to_string(),
            Origin::Worked,
            "mlp.experts",
        );
        note(
            "eff",
            width.to_string(),
            Origin::Read,
            "mlp.experts.0.gate_proj.weight",
        );
        note("elayers", held.to_string(), Origin::Worked, "mlp.experts");
        note(
            "top",
            used.to_string(),
            Origin::Assumed,
            "num_experts_per_tok",
        );
    }
    let all = tensors
        .iter()
        .filter(|t| !t.name.contains("mtp"))
        .fold(0_u64, |all, t| all.saturating_add(t.elements()));
    if shape::is_within_limits(&shape) && all > shape.params() {
        shape.extra_params = (all - shape.params()).min(limits::TOTAL_PARAMS as u64);
        note(
            "extra",
            shape.extra_params.to_string(),
            Origin::Worked,
            "shape",
        );
    }
    let bytes = tensors
        .iter()
        .fold(0_u64, |all, t| all.saturating_add(t.bytes()));
    let mut by_type: BTreeMap<&str, u64> = BTreeMap::new();
    for tensor in &tensors {
        let sum = by_type.entry(tensor.dtype).or_default();
        *sum = sum.saturating_add(tensor.elements());
    }
    let weights = by_type
        .into_iter()
        .max_by_key(|(_, weights)| *weights)
        .and_then(|(dtype, _)| formats::plain(dtype));
    finish(shape, fields, weights, Some(bytes), Vec::new())
}

fn finish(
    shape: Transformer,
    fields: Vec<Field>,
    weights: Option<WeightFormat>,
    weight_bytes: Option<u64>,
    notes: Vec<Note>,
) -> Result<Brought, BringError> {
    if !shape::is_within_limits(&shape) {
        return Err(BringError::of(
            Kind::ModelTooLarge,
            "hidden_size",
            &shape.hidden.to_string(),
        )
        .expected(format!("{:.0}T", limits::TOTAL_PARAMS / 1e12)));
    }
    Ok(Brought {
        name: String::new(),
        shape,
        weights,
        max_context: None,
        weight_bytes,
        fields,
        notes,
    })
}
