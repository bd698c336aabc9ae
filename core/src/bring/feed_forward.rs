//! Dense networks and expert blocks of a configuration.

use serde_json::Value;

use super::config::{Dims, FFN};
use super::error::BringError;
use super::kind::is_gated_activation;
use super::source::{Read, Source};
use super::{Origin, experts};
use crate::scenario::limits::{self, Limit};

/// Width of a dense network; the mean where every layer has its own.
pub(super) fn read_ffn(
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
    // RWKV: four times the stream, in the fifth and sixth version three and a half times, in whole 32s.
    let times = match dims.kind_name.as_str() {
        "rwkv" => Some(4.0),
        "rwkv7" => Some(source.number(&["hidden_ratio"])?.map_or(4.0, |r| r.value)),
        "rwkv5" | "rwkv6" => Some(3.5),
        _ => None,
    };
    if let Some(times) = times {
        let width = (times * f64::from(dims.hidden) / 32.0).floor() * 32.0;
        let value = super::source::within("hidden_size", width, &limits::FFN)?;
        return Ok(Some(Read {
            path: String::new(),
            value,
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
pub(super) struct Networks {
    /// Width of dense networks, the mean over blocks without experts; 0: none.
    pub ffn: u32,
    pub origin: Origin,
    pub key: String,
    /// Blocks with experts.
    pub expert_layers: u32,
}

pub(super) fn networks(
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

pub(super) fn read_gated(source: &Source<'_>, dims: &Dims) -> Read<bool> {
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

pub(super) fn gated_origin(gated: &Read<bool>, dims: &Dims) -> Origin {
    match (dims.kind.gated, gated.path.as_str()) {
        (None, "hidden_act") => Origin::Assumed,
        _ => Origin::Worked,
    }
}
