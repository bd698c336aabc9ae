//! The index of a model in safetensors, and a safetensors header: names, and for the header shapes
//! and types, of every tensor.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::config::yes_no;
use super::error::{BringError, BringErrorKind as Kind};
use super::source::within;
use super::{Brought, Field, Note, Origin};
use crate::catalog::{AttentionGroup, ExpertLayers, Transformer};
use crate::dtype::WeightFormat;
use crate::scenario::limits;
use crate::scenario::{shape, usual_feed_forward, usual_shape};

/// Whether JSON is an index: it says which file holds which tensor.
pub(super) fn is_index(root: &Map<String, Value>) -> bool {
    root.get("weight_map").is_some_and(Value::is_object)
}

/// Number of the block that a tensor belongs to, and of the expert.
pub(super) fn numbers(name: &str) -> (Option<u32>, Option<u32>) {
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
pub(super) fn is_beside(name: &str) -> bool {
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
pub(super) fn of_size(params: f64, layers: u32) -> Transformer {
    // A gated block has about twelve times the square of its width.
    let width = (params / f64::from(layers) / 12.5).max(1.0).sqrt();
    let hidden = ((width / 128.0).floor().max(1.0) * 128.0).min(limits::HIDDEN.max) as u32;
    let heads = (hidden / 128).max(1);
    Transformer {
        layers,
        hidden,
        ffn: usual_feed_forward(hidden, true),
        attention: vec![AttentionGroup::full(layers, heads, heads, hidden / heads)],
        ..usual_shape()
    }
}

pub(super) fn finish(
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
