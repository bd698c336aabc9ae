//! Experts of a GGUF header, and gates that share a matrix with what they gate.

use std::collections::BTreeMap;

use super::Origin;
use super::error::BringError;
use super::gguf::Header;
use super::gguf_meta::{Block, Meta, from_none};
use crate::catalog::ExpertLayers;
use crate::scenario::limits;

pub(super) fn experts(
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
pub(super) fn fused_gate(header: &Header, ffn: u32) -> bool {
    header.tensors.iter().any(|t| {
        t.name.contains(".ffn_up.weight") && t.dims.get(1) == Some(&(2 * u64::from(ffn))) && ffn > 0
    })
}
