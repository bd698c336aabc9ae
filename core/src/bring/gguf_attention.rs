//! Attention of the blocks of a GGUF header.

use std::collections::BTreeMap;

use super::error::{BringError, BringErrorKind as Kind};
use super::gguf::Value;
use super::gguf_meta::{Block, Meta, RANK, from_none};
use crate::catalog::{AttentionGroup, AttentionKind};
use crate::scenario::limits;

/// Attention of the blocks, grouped.
pub(super) fn attention(
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
            // RWKV counts no heads, but says how wide one is.
            let head = meta.number("wkv.head_size", &from_none(limits::HIDDEN))?;
            AttentionKind::Linear {
                heads: head
                    .filter(|wide| *wide > 0)
                    .map_or(most_heads, |wide| (hidden / wide).max(1)),
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
pub(super) fn state(meta: &Meta<'_>) -> Result<u64, BringError> {
    let number = |name: &str| {
        Ok(meta
            .number(name, &from_none(limits::HIDDEN))?
            .map_or(0, u64::from))
    };
    if let Some(kernel) = meta.number("shortconv.l_cache", &from_none(limits::HIDDEN))? {
        return Ok(u64::from(kernel) * number("embedding_length")?);
    }
    // RWKV: a square a head, and the tokens before in both halves of a block.
    if let Some(head) = meta.number("wkv.head_size", &from_none(limits::HIDDEN))? {
        let shifted = meta.number("token_shift_count", &from_none(limits::HEADS))?;
        let kept = u64::from(head) + u64::from(shifted.unwrap_or(2));
        return Ok(kept * number("embedding_length")?);
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
pub(super) fn windowed(meta: &Meta<'_>, layers: u32, any: bool) -> Vec<bool> {
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
