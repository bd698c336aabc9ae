//! Linear attention and state-space blocks: a state of fixed size, and the parameters of the mixer.
//!
//! Widths and matrices follow the classes of Transformers and vLLM that run these models.

use super::error::BringError;
use super::source::Source;
use crate::catalog::AttentionKind;
use crate::scenario::limits::{self, Limit};

/// Widths and counts of a mixer.
const WIDTH: Limit = Limit {
    min: 1.0,
    ..limits::HIDDEN
};

/// Gated delta net (Qwen3-Next, Qwen3.5): keys and values of their own heads, a gate as wide as
/// the values, decay and strength a value head, a short convolution over all three.
pub(super) fn gated_delta(source: &Source<'_>, hidden: u64) -> Result<AttentionKind, BringError> {
    let keys = source.whole_or(&["linear_num_key_heads"], &WIDTH, 16)?;
    let values = source.whole_or(&["linear_num_value_heads"], &WIDTH, 32)?;
    let key_dim = source.whole_or(&["linear_key_head_dim"], &WIDTH, 128)?;
    let value_dim = source.whole_or(&["linear_value_head_dim"], &WIDTH, 128)?;
    let kernel = u64::from(source.whole_or(&["linear_conv_kernel_dim"], &WIDTH, 4)?);
    let heads = u64::from(values);
    let key = u64::from(keys) * u64::from(key_dim);
    let value = heads * u64::from(value_dim);
    let mixed = 2 * key + value;
    let params = hidden * (mixed + value + 2 * heads)
        + mixed * kernel
        + 2 * heads
        + u64::from(value_dim)
        + value * hidden;
    Ok(AttentionKind::Linear {
        heads: values,
        state_elements: heads * u64::from(key_dim) * u64::from(value_dim)
            + mixed * kernel.saturating_sub(1),
        params,
    })
}

/// Kimi delta attention: queries, keys and values of equal heads, each with a short convolution,
/// decay and output gate of low rank.
pub(super) fn kimi_delta(source: &Source<'_>, hidden: u64) -> Result<AttentionKind, BringError> {
    let names = |long: &'static str, short: &'static str| [long, short];
    let count = names("linear_attn_config.num_heads", "linear_num_heads");
    let count = source.whole_or(&count, &WIDTH, 32)?;
    let dim = names("linear_attn_config.head_dim", "linear_head_dim");
    let dim = u64::from(source.whole_or(&dim, &WIDTH, 128)?);
    let kernel = names(
        "linear_attn_config.short_conv_kernel_size",
        "linear_conv_kernel_dim",
    );
    let kernel = source.whole_or(&kernel, &WIDTH, 4)?;
    let full_gate = source.flag_or(&["linear_attn_config.use_full_rank_gate"], false)?;
    let (heads, kernel) = (u64::from(count), u64::from(kernel));
    let width = heads * dim;
    let low_rank = hidden * dim + dim * width;
    let gate = if full_gate { hidden * width } else { low_rank };
    let params = 4 * hidden * width
        + 3 * width * kernel
        + low_rank
        + gate
        + hidden * heads
        + heads
        + width
        + dim;
    Ok(AttentionKind::Linear {
        heads: count,
        state_elements: heads * dim * dim + 3 * width * kernel.saturating_sub(1),
        params,
    })
}

/// Lightning attention (MiniMax-Text-01): queries, keys, values and an output gate of full width.
pub(super) fn lightning(hidden: u64, heads: u32, head_dim: u32) -> AttentionKind {
    let width = u64::from(heads) * u64::from(head_dim);
    AttentionKind::Linear {
        heads,
        state_elements: width * u64::from(head_dim),
        params: 5 * hidden * width + width,
    }
}

/// Time mixing of RWKV (Peng et al. 2023, 2024 and 2025): receptance, key, value and output; in the fifth and sixth
/// version a gate as wide; the sixth finds its decay and its mixing with the token before by matrices of low rank. Up
/// to the sixth the gate of the channel mixing, which is as wide as the stream, is counted here too. Of the fourth
/// version five numbers a channel are kept, of later ones a square a head and two tokens.
pub(super) fn time_mix(
    source: &Source<'_>,
    kind: &str,
    hidden: u64,
) -> Result<AttentionKind, BringError> {
    let width = source.whole(&["attention_hidden_size"], &WIDTH)?;
    let width = width.map_or(hidden, |read| u64::from(read.value));
    let head = u64::from(source.whole_or(&["head_size", "head_dim"], &WIDTH, 64)?);
    let heads = u32::try_from(width.div_ceil(head)).unwrap_or(u32::MAX);
    let square = width * head + 2 * hidden;
    let channel_gate = hidden * hidden;
    // Twice as wide from 4096 on.
    let wide: u32 = if hidden >= 4096 { 2 } else { 1 };
    let (params, state_elements) = match kind {
        "rwkv" => (4 * hidden * width + channel_gate, 3 * width + 2 * hidden),
        "rwkv5" => (5 * hidden * width + channel_gate, square),
        "rwkv7" => (seventh(source, hidden, width)?, square),
        _ => {
            let mixing = u64::from(source.whole_or(&["proj_low_rank_dim"], &WIDTH, 32 * wide)?);
            let decay = u64::from(source.whole_or(&["gate_low_rank_dim"], &WIDTH, 64 * wide)?);
            let low_rank = 2 * 5 * mixing * hidden + decay * (hidden + width);
            (5 * hidden * width + low_rank + channel_gate, square)
        }
    };
    Ok(AttentionKind::Linear {
        heads,
        state_elements,
        params,
    })
}

/// Parameters of a block of the seventh version besides its channel mixing (Peng et al. 2025, section on sizes): four
/// matrices, four pairs of low rank (decay, rate of learning, share of the first block's value, gate) and seventeen
/// numbers a channel beside the two norms that every block has. Ranks that are not stated are those that its authors'
/// training code takes for the width.
fn seventh(source: &Source<'_>, hidden: u64, width: u64) -> Result<u64, BringError> {
    let usual = |factor: f64, power: f64| {
        let rank = factor * (hidden as f64).powf(power) / 32.0;
        (rank.round().max(1.0) * 32.0) as u32
    };
    let (decay, value, gate) = (usual(1.8, 0.5), usual(1.3, 0.5), usual(0.6, 0.8));
    let ranks = [
        source.whole_or(&["decay_low_rank_dim"], &WIDTH, decay)?,
        source.whole_or(&["a_low_rank_dim"], &WIDTH, decay)?,
        source.whole_or(&["v_low_rank_dim"], &WIDTH, value)?,
        source.whole_or(&["gate_low_rank_dim"], &WIDTH, gate)?,
    ];
    let ranks: u64 = ranks.into_iter().map(u64::from).sum();
    Ok(4 * hidden * width + ranks * (hidden + width) + 17 * hidden)
}

/// A short convolution between two gates (LFM2).
pub(super) fn short_convolution(
    source: &Source<'_>,
    hidden: u64,
    heads: u32,
) -> Result<AttentionKind, BringError> {
    let width = source.whole(&["conv_dim"], &WIDTH)?;
    let width = width.map_or(hidden, |read| u64::from(read.value));
    let kernel = u64::from(source.whole_or(&["conv_L_cache"], &WIDTH, 3)?);
    Ok(AttentionKind::Linear {
        heads,
        state_elements: width * kernel,
        params: hidden * 3 * width + width * kernel + width * hidden,
    })
}

/// Mamba: the second version where it has heads, else the first.
pub(super) fn mamba(
    source: &Source<'_>,
    kind: &str,
    hidden: u64,
    query_heads: u32,
) -> Result<AttentionKind, BringError> {
    let expand = source
        .number(&["mamba_expand", "expand"])?
        .map_or(2.0, |read| read.value);
    let state = u64::from(source.whole_or(
        &["ssm_state_size", "mamba_d_state", "state_size", "d_state"],
        &WIDTH,
        if kind.contains('2') || kind == "nemotron_h" {
            128
        } else {
            16
        },
    )?);
    let kernel = u64::from(source.whole_or(
        &["conv_kernel", "mamba_d_conv", "d_conv", "mamba_conv_kernel"],
        &WIDTH,
        4,
    )?);
    let heads = source.whole(
        &["mamba_num_heads", "mamba_n_heads", "n_mamba_heads"],
        &WIDTH,
    )?;
    let second = heads.is_some() || matches!(kind, "mamba2" | "zamba2");
    let inner = match source.whole(
        &["mamba_d_ssm", "d_inner", "intermediate_size_mamba"],
        &WIDTH,
    )? {
        Some(read) => u64::from(read.value),
        None => (hidden as f64 * expand).round() as u64,
    };
    if !second {
        let rank = source
            .whole(&["mamba_dt_rank", "time_step_rank", "dt_rank"], &WIDTH)
            .ok()
            .flatten()
            .map_or(hidden.div_ceil(16), |read| u64::from(read.value));
        let params = hidden * 2 * inner
            + inner * (kernel + 1)
            + inner * (rank + 2 * state)
            + rank * inner
            + inner
            + inner * state
            + inner
            + inner * hidden;
        return Ok(AttentionKind::Linear {
            heads: query_heads.max(1),
            state_elements: inner * (state + kernel.saturating_sub(1)),
            params,
        });
    }
    let dim = source.whole(
        &[
            "mamba_head_dim",
            "mamba_d_head",
            "mamba_headdim",
            "head_dim",
        ],
        &WIDTH,
    )?;
    let dim = dim.map_or(64, |read| u64::from(read.value)).max(1);
    let count = heads
        .map_or(inner / dim, |read| u64::from(read.value))
        .max(1);
    let inner = count * dim;
    let groups =
        u64::from(source.whole_or(&["n_groups", "mamba_n_groups", "mamba_ngroups"], &WIDTH, 1)?);
    let mixed = inner + 2 * groups * state;
    let params = hidden * (inner + mixed + count)
        + mixed * (kernel + 1)
        + 3 * count
        + inner
        + inner * hidden;
    Ok(AttentionKind::Linear {
        heads: u32::try_from(count).unwrap_or(u32::MAX),
        state_elements: inner * state + mixed * kernel.saturating_sub(1),
        params,
    })
}
