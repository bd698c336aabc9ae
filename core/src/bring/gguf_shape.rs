//! The shape that a GGUF header describes: widths from its metadata, blocks and parameters from its
//! tensors.

use std::collections::HashMap;

use super::config::yes_no;
use super::error::{BringError, BringErrorKind as Kind};
use super::gguf::{Header, Tensor, Value};
use super::gguf_attention::attention;
use super::gguf_experts::{experts, fused_gate};
use super::gguf_meta::{Meta, blocks, from_none};
use super::source::within;
use super::{Brought, Note, Origin};
use crate::catalog::{AttentionGroup, AttentionKind, Transformer};
use crate::dtype::WeightFormat;
use crate::scenario::limits;
use crate::scenario::shape;

/// Reads a shape.
pub(super) fn read(header: &Header) -> Result<Brought, BringError> {
    let arch = match header.pairs.get("general.architecture") {
        Some(Value::Text(arch)) => arch.clone(),
        Some(_) => {
            return Err(
                BringError::of(Kind::WrongType, "general.architecture", "").expected("text")
            );
        }
        None => return Err(BringError::of(Kind::Missing, "general.architecture", "")),
    };
    let mut meta = Meta {
        header,
        arch,
        fields: Vec::new(),
    };
    let predicted = meta.number("nextn_predict_layers", &from_none(limits::LAYERS))?;
    let counted = meta.required("block_count", &limits::LAYERS)?;
    let layers = counted.saturating_sub(predicted.unwrap_or(0)).max(1);
    let hidden = meta.required("embedding_length", &limits::HIDDEN)?;
    let by_name: HashMap<&str, &Tensor> = header
        .tensors
        .iter()
        .map(|t| (t.name.as_str(), t))
        .collect();
    let blocks = blocks(header, layers);

    meta.note("layers", layers, Origin::Read, &meta.key("block_count"));
    meta.note(
        "hidden",
        hidden,
        Origin::Read,
        &meta.key("embedding_length"),
    );
    let attention = attention(&meta, &blocks, layers, hidden)?;
    let plain = match attention.as_slice() {
        [
            AttentionGroup {
                kind:
                    AttentionKind::Heads {
                        heads,
                        kv_heads,
                        head_dim,
                        window,
                    },
                sparse: None,
                ..
            },
        ] if *kv_heads > 0 => Some((*heads, *kv_heads, *head_dim, *window)),
        _ => None,
    };
    match plain {
        Some((heads, kv_heads, head_dim, window)) => {
            meta.note(
                "heads",
                heads,
                Origin::Read,
                &meta.key("attention.head_count"),
            );
            meta.note(
                "kvheads",
                kv_heads,
                Origin::Read,
                &meta.key("attention.head_count_kv"),
            );
            meta.note(
                "hd",
                head_dim,
                Origin::Read,
                &meta.key("attention.key_length"),
            );
            if let Some(window) = window {
                meta.note(
                    "window",
                    window,
                    Origin::Read,
                    &meta.key("attention.sliding_window"),
                );
            }
        }
        None => {
            let groups = shape::write_groups(&attention);
            meta.note(
                "attn",
                groups,
                Origin::Worked,
                &meta.key("attention.head_count_kv"),
            );
        }
    }

    let experts = experts(&mut meta, &blocks, hidden)?;
    let expert_layers = experts.as_ref().map_or(0, |e| e.layers);
    let ffn = match meta.each("feed_forward_length", layers, &limits::FFN)? {
        _ if expert_layers == layers => 0,
        Some(each) => {
            let sum: u64 = each.iter().map(|n| u64::from(*n)).sum();
            (sum as f64 / f64::from(layers)).round() as u32
        }
        None => {
            return Err(BringError::of(
                Kind::Missing,
                &meta.key("feed_forward_length"),
                "",
            ));
        }
    };
    meta.note("ffn", ffn, Origin::Read, &meta.key("feed_forward_length"));
    let gated = header.tensors.is_empty()
        || header
            .tensors
            .iter()
            .any(|t| t.name.contains(".ffn_gate.") || t.name.contains(".ffn_gate_exps."))
        || fused_gate(header, ffn);
    let origin = if header.tensors.is_empty() {
        Origin::Assumed
    } else {
        Origin::Worked
    };
    meta.note("gated", yes_no(gated), origin, "blk.*.ffn_gate.weight");

    let (vocab, origin, key) = vocab(&meta, &by_name)?;
    meta.note("vocab", vocab, origin, &key);
    let tie = !by_name.contains_key("output.weight");
    meta.note("tie", yes_no(tie), Origin::Worked, "output.weight");

    let mut shape = Transformer {
        layers,
        hidden,
        ffn,
        ffn_gated: gated,
        vocab,
        tie_embeddings: tie,
        attention,
        experts,
        extra_params: 0,
        aside_params: 0,
    };
    if !shape::is_within_limits(&shape) {
        return Err(BringError::of(
            Kind::ModelTooLarge,
            &meta.key("embedding_length"),
            &hidden.to_string(),
        )
        .expected(format!("{:.0}T", limits::TOTAL_PARAMS / 1e12)));
    }
    let (all, aside, bytes, unknown) = totals(header, layers);
    shape.aside_params = aside.min(limits::TOTAL_PARAMS as u64);
    if all > shape.params() {
        shape.extra_params = (all - shape.params()).min(limits::TOTAL_PARAMS as u64);
        meta.note("extra", shape.extra_params, Origin::Worked, "tensors");
    }
    if shape.aside_params > 0 {
        meta.note("aside", shape.aside_params, Origin::Worked, "tensors");
    }
    let mut notes = Vec::new();
    if let Some(layers) = predicted.filter(|n| *n > 0) {
        notes.push(Note::MultiTokenPrediction(u64::from(layers)));
    }
    notes.extend(unknown.map(Note::UnknownFormat));
    let name = match header.pairs.get("general.name") {
        Some(Value::Text(name)) => name.chars().take(80).collect(),
        _ => meta.arch.clone(),
    };
    Ok(Brought {
        name,
        weights: format(header),
        max_context: meta
            .number("context_length", &limits::WINDOW)
            .ok()
            .flatten(),
        weight_bytes: bytes,
        shape,
        fields: meta.fields,
        notes,
    })
}

fn vocab(
    meta: &Meta<'_>,
    by_name: &HashMap<&str, &Tensor>,
) -> Result<(u32, Origin, String), BringError> {
    if let Some(rows) = by_name.get("token_embd.weight").and_then(|t| t.dims.get(1)) {
        let vocab = within("token_embd.weight", *rows as f64, &limits::VOCAB)?;
        return Ok((vocab, Origin::Read, "token_embd.weight".to_owned()));
    }
    if let Some(vocab) = meta.number("vocab_size", &limits::VOCAB)? {
        return Ok((vocab, Origin::Read, meta.key("vocab_size")));
    }
    let key = "tokenizer.ggml.tokens";
    if let Some(Value::TextList(length)) = meta.header.pairs.get(key) {
        let vocab = within(key, *length as f64, &limits::VOCAB)?;
        return Ok((vocab, Origin::Read, key.to_owned()));
    }
    Ok((32_000, Origin::Assumed, meta.key("vocab_size")))
}

/// Weights of all tensors of the blocks that are used, those beside blocks and tables, their bytes,
/// and a tensor type that is not known.
fn totals(header: &Header, layers: u32) -> (u64, u64, Option<u64>, Option<String>) {
    let (mut all, mut aside, mut bytes, mut unknown) = (0_u64, 0_u64, 0_u64, None);
    for tensor in &header.tensors {
        let block = tensor
            .name
            .strip_prefix("blk.")
            .and_then(|rest| rest.split_once('.'))
            .and_then(|(number, _)| number.parse::<u32>().ok());
        match tensor.bytes() {
            Some(more) => bytes = bytes.saturating_add(more),
            None => unknown = Some(format!("type {}", tensor.kind)),
        }
        if block.is_some_and(|number| number >= layers) {
            continue;
        }
        all = all.saturating_add(tensor.elements());
        if tensor.name.starts_with("per_layer_token_embd")
            || tensor.name.starts_with("position_embd")
            || tensor.name.starts_with("v.")
            || tensor.name.starts_with("mm.")
        {
            aside = aside.saturating_add(tensor.elements());
        }
    }
    (
        all,
        aside,
        (!header.tensors.is_empty()).then_some(bytes),
        unknown,
    )
}

/// The file's own name for its mixture of types, else the type that most weights have.
fn format(header: &Header) -> Option<WeightFormat> {
    use WeightFormat as W;
    if let Some(Value::Number(number)) = header.pairs.get("general.file_type") {
        let named = match *number as u32 {
            0 => Some(W::Fp32),
            1 => Some(W::Fp16),
            2 => Some(W::Q4_0),
            3 => Some(W::Q4_1),
            7 => Some(W::Q8_0),
            8 => Some(W::Q5_0),
            9 => Some(W::Q5_1),
            10 | 21 => Some(W::Q2K),
            11 => Some(W::Q3KS),
            12 => Some(W::Q3KM),
            13 => Some(W::Q3KL),
            14 => Some(W::Q4KS),
            15 => Some(W::Q4KM),
            16 => Some(W::Q5KS),
            17 => Some(W::Q5KM),
            18 => Some(W::Q6K),
            19 => Some(W::Iq2Xxs),
            20 => Some(W::Iq2Xs),
            22 => Some(W::Iq3Xs),
            23 => Some(W::Iq3Xxs),
            24 => Some(W::Iq1S),
            25 => Some(W::Iq4Nl),
            26 => Some(W::Iq3S),
            27 => Some(W::Iq3M),
            28 => Some(W::Iq2S),
            29 => Some(W::Iq2M),
            30 => Some(W::Iq4Xs),
            31 => Some(W::Iq1M),
            32 => Some(W::Bf16),
            38 => Some(W::Mxfp4),
            39 => Some(W::Nvfp4),
            _ => None,
        };
        if named.is_some() {
            return named;
        }
    }
    let mut by_type: HashMap<u32, u64> = HashMap::new();
    for tensor in &header.tensors {
        let sum = by_type.entry(tensor.kind).or_default();
        *sum = sum.saturating_add(tensor.elements());
    }
    match by_type.into_iter().max_by_key(|(_, weights)| *weights)?.0 {
        0 => Some(W::Fp32),
        1 => Some(W::Fp16),
        30 => Some(W::Bf16),
        2 => Some(W::Q4_0),
        3 => Some(W::Q4_1),
        6 => Some(W::Q5_0),
        7 => Some(W::Q5_1),
        8 => Some(W::Q8_0),
        10 => Some(W::Q2K),
        11 => Some(W::Q3KM),
        12 => Some(W::Q4KM),
        13 => Some(W::Q5KM),
        14 => Some(W::Q6K),
        16 => Some(W::Iq2Xxs),
        17 => Some(W::Iq2Xs),
        18 => Some(W::Iq3Xxs),
        19 => Some(W::Iq1S),
        20 => Some(W::Iq4Nl),
        21 => Some(W::Iq3S),
        22 => Some(W::Iq2M),
        23 => Some(W::Iq4Xs),
        29 => Some(W::Iq1M),
        39 => Some(W::Mxfp4),
        40 => Some(W::Nvfp4),
        _ => None,
    }
}
