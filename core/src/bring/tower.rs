//! Towers that read images or sound, and encoders beside a decoder: their parameters, counted from
//! their own configuration.

use serde_json::{Map, Value};

use super::error::BringError;
use super::kind::is_gated_activation;
use super::source::Source;
use crate::scenario::limits::{self, Limit};

/// Widths and counts of a tower.
const WIDTH: Limit = Limit {
    min: 1.0,
    ..limits::HIDDEN
};
const FFN: Limit = Limit {
    min: 1.0,
    ..limits::FFN
};
/// Sides of patches, frames and channels.
const SIDE: Limit = Limit {
    max: 1024.0,
    ..WIDTH
};
/// Patches merged side by side.
const MERGE: Limit = Limit { max: 16.0, ..WIDTH };

/// Parameters of all towers of a configuration whose text has `text_hidden` wide blocks.
pub(super) fn params(root: &Map<String, Value>, text_hidden: u64) -> Result<u64, BringError> {
    let inner = match root.get("thinker_config") {
        Some(Value::Object(inner)) => inner,
        _ => root,
    };
    let mut all: u64 = 0;
    for name in [
        "vision_config",
        "audio_config",
        "vision_encoder",
        "audio_encoder",
    ] {
        if let Some(Value::Object(tower)) = inner.get(name)
            && !tower.is_empty()
        {
            all = all.saturating_add(one(name, inner, tower, text_hidden)?);
        }
    }
    Ok(all)
}

/// One tower: blocks of attention and feed-forward, the patches' embedding, positions, and the
/// projection into the text's width.
pub(super) fn one(
    name: &str,
    root: &Map<String, Value>,
    tower: &Map<String, Value>,
    text_hidden: u64,
) -> Result<u64, BringError> {
    let mut source = Source::new(root);
    source.prefer(name);
    let own = |names: &[&str]| names.iter().any(|n| tower.contains_key(*n));
    let whole = |names: &[&str], limit: &Limit, default: u32| -> Result<u64, BringError> {
        // Only the tower's own fields: the text's have the same names.
        let mine: Vec<&str> = names.iter().copied().filter(|n| own(&[n])).collect();
        Ok(u64::from(source.whole_or(&mine, limit, default)?))
    };
    let layers = whole(
        &[
            "depth",
            "num_hidden_layers",
            "vt_num_hidden_layers",
            "num_layers",
            "encoder_layers",
            "layers",
            "conf_num_hidden_layers",
        ],
        &limits::LAYERS,
        24,
    )?;
    let hidden = whole(
        &[
            "vt_hidden_size",
            "embed_dim",
            "hidden_size",
            "width",
            "d_model",
        ],
        &WIDTH,
        1024,
    )?;
    // Qwen2-VL's tower is `embed_dim` wide and its `hidden_size` is the text's.
    let ffn = match tower.get("mlp_ratio").and_then(Value::as_f64) {
        Some(ratio) if !own(&["intermediate_size"]) => {
            (hidden as f64 * ratio.clamp(0.0, 64.0)) as u64
        }
        _ => whole(
            &[
                "vt_intermediate_size",
                "intermediate_size",
                "encoder_ffn_dim",
                "mlp_dim",
            ],
            &FFN,
            (4 * hidden).min(1 << 20) as u32,
        )?,
    };
    let heads = whole(
        &[
            "num_heads",
            "num_attention_heads",
            "vt_num_attention_heads",
            "encoder_attention_heads",
        ],
        &WIDTH,
        16,
    )?;
    let attention = match tower.get("head_dim") {
        Some(dim) if dim.is_number() => heads * whole(&["head_dim"], &WIDTH, 64)?,
        _ => whole(&["qkv_hidden_size"], &WIDTH, hidden.min(1 << 17) as u32)?,
    };
    let kind = tower
        .get("model_type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let activation = tower
        .get("hidden_act")
        .and_then(Value::as_str)
        .unwrap_or("gelu");
    let gated = is_gated_activation(activation) || kind == "gemma4_vision" || kind == "pixtral";
    let matrices = if gated { 3 } else { 2 };
    let mut params = layers * (4 * hidden * attention + matrices * hidden * ffn + 8 * hidden + ffn);

    // A side, or two of them (InternVL).
    let listed = |name: &str| {
        let first = tower.get(name)?.as_array()?.first()?.as_u64()?;
        Some(first.clamp(1, SIDE.max as u64))
    };
    let patch = match listed("patch_size") {
        Some(side) => side,
        None => whole(
            &["patch_size"],
            &SIDE,
            if name.starts_with("audio") { 1 } else { 14 },
        )?,
    };
    let frames = whole(&["temporal_patch_size"], &SIDE, 1)?;
    let channels = whole(&["in_channels", "in_chans", "num_channels"], &SIDE, 3)?;
    params += patch * patch * frames * channels * hidden;
    let positions = match (
        tower.get("num_position_embeddings"),
        tower.get("position_embedding_size"),
        listed("image_size").or_else(|| tower.get("image_size")?.as_u64()),
    ) {
        (Some(_), _, _) => whole(&["num_position_embeddings"], &FFN, 0)?,
        // Rows and columns each have a table.
        (_, Some(_), _) => 2 * whole(&["position_embedding_size"], &FFN, 0)?,
        (_, _, Some(side)) if !matches!(kind, "pixtral" | "llama4_vision_model") => {
            (side / patch.max(1)).min(1 << 10).pow(2)
        }
        _ => 0,
    };
    params += positions * hidden;

    // The projection: patches merged side by side, then one or two matrices.
    let merge = match source.find(&["spatial_merge_size", "merge_kernel_size"]) {
        Some(read) if read.value.is_array() => 2,
        Some(_) => {
            u64::from(source.whole_or(&["spatial_merge_size", "merge_kernel_size"], &MERGE, 2)?)
        }
        None => 1,
    };
    let out = whole(
        &["out_hidden_size", "text_hidden_size"],
        &WIDTH,
        text_hidden.min(1 << 17) as u32,
    )?;
    let merged = hidden * merge * merge;
    let projections = match kind {
        "siglip_vision_model" | "gemma4_vision" | "gemma3n_vision" => hidden * out,
        "clip_vision_model" => hidden * out + out * out,
        "pixtral" => merged * hidden + hidden * out + out * out,
        "llama4_vision_model" => {
            let wide = whole(&["projector_input_dim"], &WIDTH, 4096)?;
            let last = whole(&["projector_output_dim", "vision_output_dim"], &WIDTH, 4096)?;
            wide * (hidden * 4) + wide * last + last * out
        }
        _ if name.starts_with("audio") => hidden * out,
        _ => {
            let stacks = 1 + source
                .list(&["deepstack_visual_indexes"])
                .map_or(0, |list| list.value.len().min(64) as u64);
            stacks * (merged * merged + merged * out + merged + out)
        }
    };
    Ok(params + projections)
}
