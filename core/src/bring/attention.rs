//! Attention of every block: which blocks see all of the context, a window, or a state; heads and
//! widths, shared or block by block.

use serde_json::Value;

use super::config::Dims;
use super::error::{BringError, BringErrorKind as Kind};
use super::mixers;
use super::source::Source;
use super::sparse::{Indexer, compressed};
use crate::catalog::{AttentionGroup, AttentionKind, Sparse};
use crate::scenario::limits::{self, Limit};

/// Ranks and widths of latent attention.
pub(super) const RANK: Limit = Limit {
    min: 1.0,
    ..limits::HIDDEN
};
/// A head's part that may be left out.
const PART: Limit = Limit {
    min: 0.0,
    ..limits::HEAD_DIM
};

/// What one block mixes tokens with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mixer {
    /// Attention over the whole context.
    Full,
    /// Attention over a window.
    Window,
    /// Linear attention.
    Linear,
    /// A short convolution.
    Convolution,
    /// A state-space block.
    Mamba,
    /// Attention and a state-space block side by side.
    Both,
    /// Nothing: the block is a feed-forward network alone.
    None,
}

/// The blocks' attention and what comes with it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Blocks {
    /// Attention, grouped.
    pub groups: Vec<AttentionGroup>,
    /// Parameters beyond the groups' projections; fewer where keys are values too.
    pub extra_params: i64,
    /// All blocks have the plain attention of one field each, with this window.
    pub plain: bool,
    /// The field that says which block is which; empty: none.
    pub pattern: String,
    /// Attention and state-space blocks side by side.
    pub side_by_side: bool,
}

/// Reads the attention of all blocks.
pub(super) fn read(source: &Source<'_>, dims: &Dims) -> Result<Blocks, BringError> {
    if dims.kind_name.starts_with("deepseek_v4") || source.has(&["compress_ratios"]) {
        return compressed(source, dims, dims.layers);
    }
    let (mixers, pattern) = super::layers::mixers(source, dims)?;
    let layers = mixers.len() as u32;
    let heads = Heads::read(source, dims, &mixers)?;
    let sparse = Indexer::read(source, dims)?;
    let window = window_of(source, dims)?;
    let shared = source
        .whole_or(&["num_kv_shared_layers"], &PART, 0)?
        .min(layers);
    let lightning = source.has(&["attn_type_list"]);
    let mut groups: Vec<AttentionGroup> = Vec::new();
    let mut extra: i64 = 0;
    let mut side_by_side = false;
    for (at, mixer) in mixers.iter().enumerate() {
        let mut one = heads.at(at, *mixer == Mixer::Window);
        if at as u32 >= layers - shared {
            one.kv_heads = 0;
        }
        let mut own_sparse = None;
        let kind = match mixer {
            Mixer::Full | Mixer::Window | Mixer::Both => {
                let attention = latent(source, dims, &one)?.unwrap_or(AttentionKind::Heads {
                    heads: one.heads,
                    kv_heads: one.kv_heads,
                    head_dim: one.cached_dim(),
                    window: if *mixer == Mixer::Window {
                        window
                    } else {
                        None
                    },
                });
                extra += one.extra(dims, &attention);
                if let Some(indexer) = &sparse
                    && indexer.covers(at)
                {
                    own_sparse = Some(indexer.sparse);
                    if indexer.is_whole(at) {
                        extra += indexer.params as i64;
                    }
                }
                if *mixer == Mixer::Both {
                    side_by_side = true;
                    let mamba =
                        bounded(mixers::mamba(source, &dims.kind_name, dims.h(), one.heads)?)?;
                    extra += mamba.params(dims.h()) as i64;
                }
                attention
            }
            Mixer::Linear
                if source.has(&["linear_attn_config"]) || source.has(&["linear_num_heads"]) =>
            {
                bounded(mixers::kimi_delta(source, dims.h())?)?
            }
            Mixer::Linear if lightning => {
                bounded(mixers::lightning(dims.h(), one.heads, one.head_dim))?
            }
            Mixer::Linear if dims.kind_name.starts_with("rwkv") => {
                bounded(mixers::time_mix(source, &dims.kind_name, dims.h())?)?
            }
            Mixer::Linear => bounded(mixers::gated_delta(source, dims.h())?)?,
            Mixer::Convolution => bounded(mixers::short_convolution(source, dims.h(), one.heads)?)?,
            Mixer::Mamba => bounded(mixers::mamba(source, &dims.kind_name, dims.h(), one.heads)?)?,
            Mixer::None => AttentionKind::Linear {
                heads: one.heads,
                state_elements: 0,
                params: 0,
            },
        };
        push(&mut groups, kind, own_sparse);
    }
    let plain = matches!(
        groups.as_slice(),
        [AttentionGroup {
            kind: AttentionKind::Heads { .. },
            sparse: None,
            ..
        }]
    );
    Ok(Blocks {
        groups,
        extra_params: extra,
        plain,
        pattern,
        side_by_side,
    })
}

/// Adds a block to the group of its like.
pub(super) fn push(groups: &mut Vec<AttentionGroup>, kind: AttentionKind, sparse: Option<Sparse>) {
    match groups
        .iter_mut()
        .find(|group| group.kind == kind && group.sparse == sparse)
    {
        Some(group) => group.layers += 1,
        None => groups.push(AttentionGroup {
            layers: 1,
            kind,
            sparse,
        }),
    }
}

/// A mixer whose state and parameters are of a size that can be computed with.
fn bounded(kind: AttentionKind) -> Result<AttentionKind, BringError> {
    let AttentionKind::Linear {
        heads,
        state_elements,
        params,
    } = kind
    else {
        return Ok(kind);
    };
    let most = limits::LINEAR_ELEMENTS;
    if state_elements.max(params) as f64 > most {
        return Err(BringError::of(
            Kind::TooLarge,
            "state",
            &state_elements.max(params).to_string(),
        )
        .expected(most.to_string()));
    }
    if heads == 0 || f64::from(heads) > limits::HEADS.max {
        return Err(BringError::of(Kind::TooLarge, "heads", &heads.to_string())
            .expected(limits::HEADS.max.to_string()));
    }
    Ok(kind)
}

/// The window of windowed blocks.
fn window_of(source: &Source<'_>, dims: &Dims) -> Result<Option<u32>, BringError> {
    let names: &[&str] = if dims.kind_name.starts_with("llama4") {
        &["attention_chunk_size"]
    } else {
        &[
            "sliding_window",
            "sliding_window_size",
            "window_size",
            "attention_chunk_size",
            "local_attention",
            "attn_config.sliding_window_size",
        ]
    };
    // -1 and 0 mean none.
    let none = source
        .find(names)
        .and_then(|read| read.value.as_i64())
        .is_some_and(|n| n == -1 || n == 0);
    if none {
        return Ok(None);
    }
    Ok(source.whole(names, &limits::WINDOW)?.map(|read| read.value))
}

/// Heads of one block.
#[derive(Debug, Clone, Copy)]
struct OneBlock {
    heads: u32,
    kv_heads: u32,
    head_dim: u32,
    v_dim: u32,
    keys_are_values: bool,
    output_gate: bool,
    bias: bool,
    output_bias: bool,
    qk_norm: bool,
}

impl OneBlock {
    /// Width of a cached head; keys and values of different widths count with their mean, which
    /// leaves projections, cache and FLOPs as they are.
    fn cached_dim(&self) -> u32 {
        (self.head_dim + self.v_dim).div_ceil(2)
    }

    /// Parameters of the block's attention beyond its four projections.
    fn extra(&self, dims: &Dims, attention: &AttentionKind) -> i64 {
        match attention {
            AttentionKind::Heads { .. } => {}
            // Hy4 gates what latent attention gives.
            AttentionKind::Latent { heads, v_dim, .. } if self.output_gate => {
                return dims.h() as i64 * i64::from(*heads) * i64::from(*v_dim);
            }
            _ => return 0,
        }
        let (q, kv) = (
            i64::from(self.heads) * i64::from(self.head_dim),
            i64::from(self.kv_heads) * i64::from(self.head_dim),
        );
        let hidden = dims.h() as i64;
        let mut extra = 0;
        if self.output_gate {
            extra += hidden * q;
        }
        if self.keys_are_values {
            extra -= hidden * kv;
        }
        if self.bias {
            extra += q + 2 * kv;
        }
        if self.output_bias {
            extra += hidden;
        }
        if self.qk_norm {
            let keys = if self.kv_heads == 0 { 0 } else { 1 };
            extra += (1 + keys) * i64::from(self.head_dim);
        }
        extra
    }
}

/// Heads of all blocks.
struct Heads {
    heads: Vec<u32>,
    kv_heads: Vec<u32>,
    head_dim: Vec<u32>,
    full: OneBlock,
    windowed: Option<OneBlock>,
}

impl Heads {
    fn read(source: &Source<'_>, dims: &Dims, mixers: &[Mixer]) -> Result<Self, BringError> {
        let bias = source.flag(&[
            "attention_bias",
            "qkv_bias",
            "use_qkv_bias",
            "add_qkv_bias",
            "use_bias",
            "bias",
        ])?;
        let bias = bias.map_or(dims.kind.qkv_bias || dims.kind.all_biases, |read| {
            read.value
        });
        let full = OneBlock {
            heads: dims.heads,
            kv_heads: dims.kv_heads,
            head_dim: dims.head_dim,
            v_dim: source.whole_or(&["v_head_dim"], &limits::HEAD_DIM, dims.head_dim)?,
            keys_are_values: false,
            output_gate: source.flag_or(
                &[
                    "attn_output_gate",
                    "attention_output_gate",
                    "use_head_wise_attn_gate",
                ],
                ["qwen3_5", "qwen3_next", "hy_v4"]
                    .iter()
                    .any(|kind| dims.kind_name.starts_with(kind)),
            )? && !source.flag_or(&["use_head_wise_attn_gate"], false)?,
            bias,
            output_bias: dims.kind.all_biases
                || matches!(dims.kind_name.as_str(), "gpt_oss" | "internlm" | "phimoe") && bias,
            qk_norm: source.flag_or(
                &["use_qk_norm", "qk_layernorm", "qk_norm"],
                dims.kind.qk_norm,
            )?,
        };
        let windowed = windowed(source, dims, full)?;
        let mut full = full;
        if dims.kind_name.starts_with("gemma4") {
            let dim = source.whole_or(&["global_head_dim"], &limits::HEAD_DIM, full.head_dim)?;
            (full.head_dim, full.v_dim) = (dim, dim);
            full.kv_heads = source.whole_or(
                &["num_global_key_value_heads"],
                &limits::KV_HEADS,
                full.kv_heads,
            )?;
            full.keys_are_values = source.flag_or(&["attention_k_eq_v"], false)?;
        }
        let count = mixers.len();
        let same = |value: u32| vec![value; count];
        Ok(Self {
            heads: dims
                .heads_by_layer
                .clone()
                .unwrap_or_else(|| same(full.heads)),
            kv_heads: dims
                .kv_heads_by_layer
                .clone()
                .unwrap_or_else(|| same(full.kv_heads)),
            head_dim: same(full.head_dim),
            full,
            windowed,
        })
    }

    fn at(&self, at: usize, windowed: bool) -> OneBlock {
        match self.windowed {
            Some(own) if windowed => own,
            _ => OneBlock {
                heads: self.heads.get(at).copied().unwrap_or(self.full.heads),
                kv_heads: self.kv_heads.get(at).copied().unwrap_or(self.full.kv_heads),
                head_dim: self.head_dim.get(at).copied().unwrap_or(self.full.head_dim),
                ..self.full
            },
        }
    }
}

/// Heads of windowed blocks, where they are not those of the others.
fn windowed(
    source: &Source<'_>,
    dims: &Dims,
    full: OneBlock,
) -> Result<Option<OneBlock>, BringError> {
    if source.has(&["attention_other_setting"]) {
        return Ok(Some(OneBlock {
            heads: source.whole_or(
                &["attention_other_setting.num_attention_heads"],
                &limits::HEADS,
                full.heads,
            )?,
            kv_heads: source.whole_or(
                &["attention_other_setting.num_attention_groups"],
                &limits::KV_HEADS,
                full.kv_heads,
            )?,
            ..full
        }));
    }
    if source.has(&["swa_num_key_value_heads"]) {
        let head_dim = source.whole_or(&["swa_head_dim"], &limits::HEAD_DIM, full.head_dim)?;
        return Ok(Some(OneBlock {
            heads: source.whole_or(&["swa_num_attention_heads"], &limits::HEADS, full.heads)?,
            kv_heads: source.whole_or(
                &["swa_num_key_value_heads"],
                &limits::KV_HEADS,
                full.kv_heads,
            )?,
            head_dim,
            v_dim: source.whole_or(&["swa_v_head_dim"], &limits::HEAD_DIM, head_dim)?,
            ..full
        }));
    }
    // The others' widths are read over these.
    Ok(dims.kind_name.starts_with("gemma4").then_some(full))
}

/// Latent attention, where the configuration has a rank for keys and values.
fn latent(
    source: &Source<'_>,
    dims: &Dims,
    one: &OneBlock,
) -> Result<Option<AttentionKind>, BringError> {
    let Some(kv_rank) = source.whole(&["kv_lora_rank"], &RANK)? else {
        return Ok(None);
    };
    let nope = source.whole_or(&["qk_nope_head_dim"], &limits::HEAD_DIM, 128)?;
    Ok(Some(AttentionKind::Latent {
        heads: one.heads,
        q_rank: source
            .whole(&["q_lora_rank"], &RANK)?
            .map(|read| read.value),
        kv_rank: kv_rank.value,
        qk_nope_dim: nope,
        qk_rope_dim: source.whole_or(&["qk_rope_head_dim"], &limits::ROPE_DIM, 64)?,
        v_dim: source.whole_or(&["v_head_dim"], &limits::HEAD_DIM, dims.head_dim)?,
    }))
}

/// Which blocks a list of words or numbers makes what.
pub(super) fn word(path: &str, value: &Value) -> Result<Mixer, BringError> {
    let Some(word) = value.as_str() else {
        return match value.as_u64() {
            Some(0) => Ok(Mixer::Full),
            Some(_) => Ok(Mixer::Window),
            None => Err(BringError::of(Kind::WrongType, path, &value.to_string()).expected("text")),
        };
    };
    match word.to_ascii_lowercase().as_str() {
        "full_attention"
        | "attention"
        | "full"
        | "global"
        | "global_attention"
        | "nope"
        | "deepseek_sparse_attention"
        | "sparse_attention"
        | "indexed_attention"
        | "minimax_m3_sparse" => Ok(Mixer::Full),
        "sliding_attention" | "chunked_attention" | "local" | "local_attention" | "sliding"
        | "sliding_window" | "swa" | "hybrid_sliding" => Ok(Mixer::Window),
        "linear_attention" | "linear" | "kda" | "gated_deltanet" | "delta" | "lightning" => {
            Ok(Mixer::Linear)
        }
        "conv" | "short_conv" => Ok(Mixer::Convolution),
        "mamba" | "mamba2" | "ssm" => Ok(Mixer::Mamba),
        "hybrid" => Ok(Mixer::Both),
        "moe" | "mlp" | "ffn" => Ok(Mixer::None),
        other => Err(BringError::of(Kind::UnknownWord, path, other)
            .expected("full_attention, sliding_attention, linear_attention, mamba, conv")),
    }
}
