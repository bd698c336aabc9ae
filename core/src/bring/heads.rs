//! Query heads, key and value heads, and their width.

use serde_json::Value;

use super::Origin;
use super::config::{Dims, HEADS, KV_HEADS};
use super::error::{BringError, BringErrorKind as Wrong};
use super::source::{Read, Source};
use crate::scenario::limits::{self, Limit};

pub(super) type HeadField = (&'static str, String, (Origin, String));

/// Query heads, key and value heads, their width; into `dims`, and as fields of the form.
pub(super) fn read_heads(
    source: &Source<'_>,
    dims: &mut Dims,
    class: Option<(u32, u32, u32)>,
) -> Result<Vec<HeadField>, BringError> {
    let mut fields = Vec::new();
    // A list beside the usual number says more (Laguna).
    let list = source.each_layer(
        &["num_attention_heads_per_layer"],
        dims.layers,
        &limits::HEADS,
    )?;
    let each = match list {
        Some(list) => Some(list),
        None => source.each_layer(HEADS, dims.layers, &limits::HEADS)?,
    };
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
        &limits::ROPE_DIM,
    )?;
    // Latent attention has widths of its own; some write 0 here (GLM-5.3 Flash).
    let latent = source.has(&["kv_lora_rank"]);
    let dim = dim.filter(|read| read.value > 0 || !latent);
    if let Some(read) = dim.as_ref().filter(|read| read.value == 0) {
        return Err(BringError::of(Wrong::TooSmall, &read.path, "0").expected("1"));
    }
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
