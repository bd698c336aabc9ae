//! The header of a safetensors file: names, formats and shapes of its tensors.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::config::yes_no;
use super::error::{BringError, BringErrorKind as Kind};
use super::index::{finish, is_beside, numbers};
use super::source::within;
use super::{Brought, Field, Origin, formats};
use crate::catalog::{AttentionGroup, ExpertLayers, Transformer};
use crate::scenario::{limits, shape};

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

/// A tensor of a header.
pub(super) struct Tensor<'a> {
    pub name: &'a str,
    pub dtype: &'a str,
    pub dims: Vec<u64>,
}

impl Tensor<'_> {
    pub fn elements(&self) -> u64 {
        self.dims
            .iter()
            .fold(1, |all, dim| all.saturating_mul(*dim))
    }

    pub fn bytes(&self) -> u64 {
        let one = match self.dtype {
            "F64" | "I64" | "U64" => 8,
            "F32" | "I32" | "U32" => 4,
            "F16" | "BF16" | "I16" | "U16" => 2,
            _ => 1,
        };
        self.elements().saturating_mul(one)
    }
}

pub(super) fn tensors(root: &Map<String, Value>) -> Result<Vec<Tensor<'_>>, BringError> {
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
        attention: vec![AttentionGroup::full(layers, heads, kv_heads, head_dim)],
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
