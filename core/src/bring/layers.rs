//! What every block mixes tokens with, and which blocks have a window.

use serde_json::Value;

use super::attention::{self, Mixer};
use super::config::Dims;
use super::error::{BringError, BringErrorKind as Wrong};
use super::source::Source;
use crate::scenario::limits::{self, Limit};

/// What every block mixes tokens with, and the field that says so.
pub(super) fn mixers(source: &Source<'_>, dims: &Dims) -> Result<(Vec<Mixer>, String), BringError> {
    let layers = dims.layers;
    let by = |holds: &dyn Fn(u32) -> Mixer| (0..layers).map(holds).collect::<Vec<_>>();
    if let Some(word) = source.word(&["hybrid_override_pattern"]) {
        let path = "hybrid_override_pattern";
        let mut mixers = Vec::new();
        for c in word.chars() {
            match c {
                'M' => mixers.push(Mixer::Mamba),
                '*' => mixers.push(Mixer::Full),
                '-' | 'E' => {}
                other => {
                    return Err(BringError::of(Wrong::UnknownWord, path, &other.to_string())
                        .expected("M * - E"));
                }
            }
        }
        if mixers.is_empty() || mixers.len() > limits::LAYERS.max as usize {
            return Err(BringError::of(
                Wrong::ListLength,
                path,
                &mixers.len().to_string(),
            ));
        }
        return Ok((mixers, path.to_owned()));
    }
    if let Some(list) = source.layer_list(
        &["layers_block_type", "layer_types", "hybrid_layer_pattern"],
        layers,
    )? {
        let words = list.value.iter().enumerate();
        let mixers: Vec<Mixer> = words
            .map(|(at, value)| attention::word(&format!("{}[{at}]", list.path), value))
            .collect::<Result<_, _>>()?;
        let mixers: Vec<_> = mixers.into_iter().filter(|m| *m != Mixer::None).collect();
        // Inkling calls attention with short convolutions before it a hybrid.
        let mixers = if dims.kind_name.starts_with("inkling") {
            let full = |mixer| match mixer {
                Mixer::Both => Mixer::Full,
                other => other,
            };
            mixers.into_iter().map(full).collect()
        } else {
            mixers
        };
        if mixers.is_empty() {
            return Err(BringError::of(Wrong::Conflict, &list.path, "0"));
        }
        return Ok((mixers, list.path));
    }
    if let Some(blocks) = source.layer_list(&["block_configs"], layers)? {
        let is_none = |value: &Value| {
            let attention = value.get("attention");
            let yes = |name: &str| {
                attention.and_then(|a| a.get(name)).and_then(Value::as_bool) == Some(true)
            };
            yes("no_op") || yes("replace_with_linear")
        };
        let mixers = blocks
            .value
            .iter()
            .map(|b| if is_none(b) { Mixer::None } else { Mixer::Full });
        return Ok((mixers.collect(), blocks.path.clone()));
    }
    if let Some(list) = source.layer_list(&["attn_type_list"], layers)? {
        let mixers = list.value.iter().map(|v| {
            if v.as_u64() == Some(1) {
                Mixer::Full
            } else {
                Mixer::Linear
            }
        });
        return Ok((mixers.collect(), list.path.clone()));
    }
    if let Some(full) = source.list(&["linear_attn_config.full_attn_layers"]) {
        let numbers: Vec<u64> = full.value.iter().filter_map(Value::as_u64).collect();
        let mixers = by(&|at| {
            if numbers.contains(&(u64::from(at) + 1)) {
                Mixer::Full
            } else {
                Mixer::Linear
            }
        });
        return Ok((mixers, full.path));
    }
    if source.has(&["linear_num_value_heads"]) {
        let every = source.whole_or(&["full_attention_interval"], &limits::LAYERS, 4)?;
        let mixers = by(&|at| {
            if (at + 1) % every == 0 {
                Mixer::Full
            } else {
                Mixer::Linear
            }
        });
        return Ok((mixers, "full_attention_interval".to_owned()));
    }
    if let Some(period) = source.whole(&["attn_layer_period"], &limits::LAYERS)? {
        let offset = source.whole_or(
            &["attn_layer_offset"],
            &Limit {
                min: 0.0,
                ..limits::LAYERS
            },
            0,
        )?;
        let mixers = by(&|at| {
            if at % period.value == offset % period.value {
                Mixer::Full
            } else {
                Mixer::Mamba
            }
        });
        return Ok((mixers, period.path));
    }
    if let Some(list) = source.list(&["full_attn_idxs", "attn_layer_indices"]) {
        let numbers: Vec<u64> = list.value.iter().filter_map(Value::as_u64).collect();
        let other = if list.path.ends_with("idxs") {
            Mixer::Convolution
        } else {
            Mixer::Mamba
        };
        let mixers = by(&|at| {
            if numbers.contains(&u64::from(at)) {
                Mixer::Full
            } else {
                other
            }
        });
        return Ok((mixers, list.path));
    }
    match dims.kind_name.as_str() {
        "mamba" | "mamba2" | "falcon_mamba" => {
            return Ok((by(&|_| Mixer::Mamba), "model_type".to_owned()));
        }
        "falcon_h1" => return Ok((by(&|_| Mixer::Both), "model_type".to_owned())),
        "rwkv" | "rwkv5" | "rwkv6" | "rwkv7" => {
            return Ok((by(&|_| Mixer::Linear), "model_type".to_owned()));
        }
        _ => {}
    }
    windows(source, dims)
}

/// Which blocks have a window, by the habits of each kind of model.
pub(super) fn windows(
    source: &Source<'_>,
    dims: &Dims,
) -> Result<(Vec<Mixer>, String), BringError> {
    let layers = dims.layers;
    let by = |windowed: &dyn Fn(u32) -> bool| {
        (0..layers)
            .map(|at| {
                if windowed(at) {
                    Mixer::Window
                } else {
                    Mixer::Full
                }
            })
            .collect::<Vec<_>>()
    };
    let every = |names: &[&str], usual: u32| -> Result<(u32, String), BringError> {
        // Some write a pattern in letters, `LLLG`.
        if let Some(word) = source.word(names) {
            return Ok((
                (word.len().clamp(1, 1000)) as u32,
                names.first().copied().unwrap_or_default().to_owned(),
            ));
        }
        Ok(match source.whole(names, &limits::LAYERS)? {
            Some(read) => (read.value, read.path),
            None => (usual, "model_type".to_owned()),
        })
    };
    let pattern = &["sliding_window_pattern", "_sliding_window_pattern"];
    let has_window = source
        .find(&["sliding_window"])
        .and_then(|read| read.value.as_f64())
        .is_none_or(|n| n > 0.0);
    Ok(match dims.kind_name.trim_end_matches("_text") {
        "gemma2" | "gpt_oss" => (by(&|at| at % 2 == 0), "model_type".to_owned()),
        "gemma3" => {
            let (n, path) = every(pattern, 6)?;
            (by(&|at| (at + 1) % n != 0), path)
        }
        "gemma3n" => (by(&|at| (at + 1) % 5 != 0), "model_type".to_owned()),
        "gemma4" => (
            by(&|at| (at + 1) % 6 != 0 && at + 1 != layers),
            "model_type".to_owned(),
        ),
        "cohere2" | "exaone4" | "olmo3" if has_window && source.has(&["sliding_window"]) => {
            let (n, path) = every(pattern, 4)?;
            (by(&|at| (at + 1) % n != 0), path)
        }
        "llama4" => match source.layer_list(&["no_rope_layers"], layers)? {
            Some(list) => {
                let mixers = list.value.iter().map(|v| {
                    if v.as_u64() == Some(0) {
                        Mixer::Full
                    } else {
                        Mixer::Window
                    }
                });
                (mixers.collect(), list.path.clone())
            }
            None => {
                let (n, path) = every(&["no_rope_layer_interval"], 4)?;
                (by(&|at| (at + 1) % n != 0), path)
            }
        },
        "gpt_neo" => (by(&|at| at % 2 == 1), "attention_types".to_owned()),
        "mistral" | "mixtral" | "phi3" | "starcoder2" | "phimoe" | "minimax_m2" if has_window => {
            let windowed = source.find(&["sliding_window"]).is_some();
            (by(&|_| windowed), "sliding_window".to_owned())
        }
        _ if source.flag_or(&["use_sliding_window"], false)? && source.has(&["sliding_window"]) => {
            let from = source.whole_or(
                &["max_window_layers"],
                &Limit {
                    min: 0.0,
                    ..limits::LAYERS
                },
                0,
            )?;
            (by(&|at| at >= from), "use_sliding_window".to_owned())
        }
        _ => (by(&|_| false), String::new()),
    })
}
