//! The shape that a GGUF header describes: widths from its metadata, blocks and parameters from its
//! tensors.

use std::collections::{BTreeMap, HashMap};

use super::config::yes_no;
use super::error::{BringError, BringErrorKind as Kind};
use super::gguf::{Header, Tensor, Value};
use super::source::within;
use super::{Brought, Field, Note, Origin};
use crate::catalog::{AttentionGroup, AttentionKind, ExpertLayers, Transformer};
use crate::dtype::WeightFormat;
use crate::scenario::limits::{self, Limit};
use crate::scenario::shape;

/// A count that may be none.
const fn from_none(limit: Limit) -> Limit {
    Limit { min: 0.0, ..limit }
}

/// Ranks of latent attention.
const RANK: Limit = Limit {
    min: 1.0,
    ..limits::HIDDEN
};

/// Metadata of one architecture, and the record of what was read.
struct Meta<'a> {
    header: &'a Header,
    arch: String,
    fields: Vec<Field>,
}

impl Meta<'_> {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.arch)
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.header.pairs.get(&self.key(name))
    }

    /// A number; the largest of a list.
    fn number(&self, name: &str, limit: &Limit) -> Result<Option<u32>, BringError> {
        let number = match self.value(name) {
            None => return Ok(None),
            Some(Value::Number(n)) => *n,
            Some(Value::Numbers(list)) => list.iter().copied().fold(0.0, f64::max),
            Some(_) => {
                return Err(BringError::of(Kind::WrongType, &self.key(name), "").expected("number"));
            }
        };
        within(&self.key(name), number, limit).map(Some)
    }

    /// A number for each of `layers`.
    fn each(&self, name: &str, layers: u32, limit: &Limit) -> Result<Option<Vec<u32>>, BringError> {
        let key = self.key(name);
        match self.value(name) {
            None => Ok(None),
            Some(Value::Numbers(list)) if list.len() >= layers as usize => list
                .iter()
                .take(layers as usize)
                .map(|n| within(&key, *n, limit))
                .collect::<Result<_, _>>()
                .map(Some),
            Some(Value::Numbers(list)) => {
                Err(
                    BringError::of(Kind::ListLength, &key, &list.len().to_string())
                        .expected(layers.to_string()),
                )
            }
            Some(_) => Ok(self.number(name, limit)?.map(|n| vec![n; layers as usize])),
        }
    }

    fn required(&self, name: &str, limit: &Limit) -> Result<u32, BringError> {
        self.number(name, limit)?
            .ok_or_else(|| BringError::of(Kind::Missing, &self.key(name), ""))
    }

    fn note(&mut self, param: &'static str, value: impl ToString, origin: Origin, key: &str) {
        self.fields.push(Field {
            param,
            value: value.to_string(),
            origin,
            key: key.to_owned(),
        });
    }
}

/// What the tensors of one block are.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    has_keys: bool,
    is_latent: bool,
    has_state: bool,
    has_experts: bool,
    /// Elements of tensors that mix tokens.
    mixer: u64,
}

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

/// What the tensors say of each block.
fn blocks(header: &Header, layers: u32) -> BTreeMap<u32, Block> {
    let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
    for tensor in &header.tensors {
        let Some((number, part)) = tensor
            .name
            .strip_prefix("blk.")
            .and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        let Ok(number) = number.parse::<u32>() else {
            continue;
        };
        if number >= layers {
            continue;
        }
        let block = blocks.entry(number).or_default();
        let state = part.starts_with("ssm_") || part.starts_with("shortconv");
        block.has_state |= state;
        block.has_keys |= part.starts_with("attn_k.") || part.starts_with("attn_qkv.");
        block.is_latent |= part.starts_with("attn_kv_a");
        block.has_experts |= part.contains("_exps.");
        if state || part.starts_with("attn_") && !part.contains("norm") {
            block.mixer = block.mixer.saturating_add(tensor.elements());
        }
    }
    blocks
}

/// Attention of the blocks, grouped.
fn attention(
    meta: &Meta<'_>,
    blocks: &BTreeMap<u32, Block>,
    layers: u32,
    hidden: u32,
) -> Result<Vec<AttentionGroup>, BringError> {
    let heads = meta.each("attention.head_count", layers, &from_none(limits::HEADS))?;
    let heads = heads.unwrap_or_else(|| vec![(hidden / 128).max(1); layers as usize]);
    let most_heads = heads.iter().copied().max().unwrap_or(1).max(1);
    let kv_heads = meta
        .each(
            "attention.head_count_kv",
            layers,
            &from_none(limits::KV_HEADS),
        )?
        .unwrap_or_else(|| heads.clone());
    let usual = (hidden / most_heads).clamp(1, limits::HEAD_DIM.max as u32);
    let key = meta
        .number("attention.key_length", &limits::HEAD_DIM)?
        .unwrap_or(usual);
    let value = meta
        .number("attention.value_length", &limits::HEAD_DIM)?
        .unwrap_or(key);
    let key_windowed = meta
        .number("attention.key_length_swa", &limits::HEAD_DIM)?
        .unwrap_or(key);
    let value_windowed = meta
        .number("attention.value_length_swa", &limits::HEAD_DIM)?
        .unwrap_or(key_windowed);
    let window = meta
        .number("attention.sliding_window", &from_none(limits::WINDOW))?
        .filter(|w| *w > 0);
    let windowed = windowed(meta, layers, window.is_some());
    let shared = meta
        .number("attention.shared_kv_layers", &from_none(limits::LAYERS))?
        .unwrap_or(0);
    let every = meta.number("full_attention_interval", &limits::LAYERS)?;
    let latent = meta.number("attention.kv_lora_rank", &RANK)?;
    let mut groups: Vec<AttentionGroup> = Vec::new();
    for at in 0..layers {
        let block = blocks.get(&at).copied().unwrap_or_default();
        let of = |list: &[u32]| list.get(at as usize).copied().unwrap_or(0);
        let (heads, kv) = (of(&heads).max(1).min(most_heads), of(&kv_heads));
        let is_state = if blocks.is_empty() {
            kv == 0 && every.is_none() || every.is_some_and(|n| (at + 1) % n != 0)
        } else {
            block.has_state && (!block.has_keys || every.is_some_and(|n| (at + 1) % n != 0))
        };
        let kind = if is_state {
            AttentionKind::Linear {
                heads: most_heads,
                state_elements: state(meta)?,
                params: block.mixer.min(limits::LINEAR_ELEMENTS as u64),
            }
        } else if let Some(kv_rank) = latent.filter(|_| block.is_latent || blocks.is_empty()) {
            let rope = meta
                .number("rope.dimension_count", &limits::HEAD_DIM)?
                .unwrap_or(64);
            let key = meta
                .number("attention.key_length_mla", &limits::HEAD_DIM)?
                .unwrap_or(key);
            AttentionKind::Latent {
                heads,
                q_rank: meta.number("attention.q_lora_rank", &RANK)?,
                kv_rank,
                qk_nope_dim: key.saturating_sub(rope).max(1),
                qk_rope_dim: rope,
                v_dim: meta
                    .number("attention.value_length_mla", &limits::HEAD_DIM)?
                    .unwrap_or(value),
            }
        } else {
            let narrow = windowed.get(at as usize).copied().unwrap_or(false);
            let (key, value) = if narrow {
                (key_windowed, value_windowed)
            } else {
                (key, value)
            };
            let kv = if at >= layers.saturating_sub(shared) {
                0
            } else {
                kv
            };
            if kv > 0 && !heads.is_multiple_of(kv) {
                return Err(BringError::of(
                    Kind::Conflict,
                    &meta.key("attention.head_count_kv"),
                    &kv.to_string(),
                )
                .expected(format!("attention.head_count = {heads}")));
            }
            AttentionKind::Heads {
                heads,
                kv_heads: kv,
                head_dim: (key + value).div_ceil(2),
                window: if narrow { window } else { None },
            }
        };
        match groups.iter_mut().find(|group| group.kind == kind) {
            Some(group) => group.layers += 1,
            None => groups.push(AttentionGroup {
                layers: 1,
                kind,
                sparse: None,
            }),
        }
    }
    Ok(groups)
}

/// Elements of the state of one sequence in a state-space block.
fn state(meta: &Meta<'_>) -> Result<u64, BringError> {
    let number = |name: &str| {
        Ok(meta
            .number(name, &from_none(limits::HIDDEN))?
            .map_or(0, u64::from))
    };
    if let Some(kernel) = meta.number("shortconv.l_cache", &from_none(limits::HIDDEN))? {
        return Ok(u64::from(kernel) * number("embedding_length")?);
    }
    let inner = number("ssm.inner_size")?;
    let (size, kernel, groups) = (
        number("ssm.state_size")?,
        number("ssm.conv_kernel")?,
        number("ssm.group_count")?,
    );
    Ok(inner * size + (inner + 2 * groups * size) * kernel.saturating_sub(1))
}

/// Which blocks have a window: as the file says, else by the architecture's habit.
fn windowed(meta: &Meta<'_>, layers: u32, any: bool) -> Vec<bool> {
    if !any {
        return Vec::new();
    }
    let by = |holds: &dyn Fn(u32) -> bool| (0..layers).map(holds).collect();
    match meta.value("attention.sliding_window_pattern") {
        Some(Value::Numbers(list)) if list.len() >= layers as usize => {
            list.iter().map(|n| *n != 0.0).collect()
        }
        Some(Value::Number(n)) if *n >= 1.0 => {
            let every = *n as u32;
            by(&|at| (at + 1) % every != 0)
        }
        _ => match meta.arch.as_str() {
            "gemma2" | "gpt-oss" => by(&|at| at % 2 == 0),
            "gemma3" => by(&|at| (at + 1) % 6 != 0),
            "gemma3n" => by(&|at| (at + 1) % 5 != 0),
            "cohere2" | "llama4" => by(&|at| (at + 1) % 4 != 0),
            _ => by(&|_| true),
        },
    }
}

fn experts(
    meta: &mut Meta<'_>,
    blocks: &BTreeMap<u32, Block>,
    hidden: u32,
) -> Result<Option<ExpertLayers>, BringError> {
    let Some(experts) = meta
        .number("expert_count", &from_none(limits::EXPERTS))?
        .filter(|n| *n > 1)
    else {
        return Ok(None);
    };
    let per_token = meta
        .number("expert_used_count", &limits::EXPERTS_PER_TOKEN)?
        .unwrap_or(2)
        .min(experts);
    let ffn = match meta.number("expert_feed_forward_length", &limits::EXPERT_FFN)? {
        Some(ffn) => ffn,
        None => meta.required("feed_forward_length", &limits::EXPERT_FFN)?,
    };
    let shared = match meta.number("expert_shared_feed_forward_length", &limits::SHARED_FFN)? {
        Some(width) => width,
        None => meta
            .number("expert_shared_count", &from_none(limits::EXPERTS))?
            .unwrap_or(0)
            .saturating_mul(ffn)
            .min(limits::SHARED_FFN.max as u32),
    };
    let layers = meta.required("block_count", &limits::LAYERS)?;
    let dense = meta
        .number("leading_dense_block_count", &from_none(limits::LAYERS))?
        .unwrap_or(0);
    let held = blocks.values().filter(|b| b.has_experts).count() as u32;
    let held = if blocks.is_empty() {
        layers.saturating_sub(dense)
    } else {
        held
    };
    if held == 0 {
        return Ok(None);
    }
    let latent = meta
        .number("moe_latent_size", &from_none(limits::HIDDEN))?
        .filter(|n| *n != hidden)
        .unwrap_or(0);
    meta.note("experts", experts, Origin::Read, &meta.key("expert_count"));
    meta.note(
        "top",
        per_token,
        Origin::Read,
        &meta.key("expert_used_count"),
    );
    meta.note(
        "eff",
        ffn,
        Origin::Read,
        &meta.key("expert_feed_forward_length"),
    );
    meta.note(
        "sff",
        shared,
        Origin::Read,
        &meta.key("expert_shared_feed_forward_length"),
    );
    meta.note(
        "elayers",
        held,
        Origin::Worked,
        "blk.*.ffn_gate_exps.weight",
    );
    Ok(Some(ExpertLayers {
        experts,
        per_token,
        ffn,
        shared_ffn: shared,
        layers: held,
        latent,
    }))
}

/// Gate and up projection in one matrix twice as wide (Phi-3).
fn fused_gate(header: &Header, ffn: u32) -> bool {
    header.tensors.iter().any(|t| {
        t.name.contains(".ffn_up.weight") && t.dims.get(1) == Some(&(2 * u64::from(ffn))) && ffn > 0
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
