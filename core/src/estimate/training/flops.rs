//! FLOPs of training, by the conventions in use.

use super::job::TrainingJob;
use crate::catalog::mean_causal_context;

/// How a source counts FLOPs of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convention {
    /// Attention over the whole sequence, half of it (causal), or not at all.
    pub attention: CountedAttention,
    /// The forward pass that recomputation repeats is counted too.
    pub recompute: bool,
    /// The output head is counted.
    pub head: bool,
}

/// How attention's scores are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedAttention {
    /// Not at all.
    None,
    /// Every query over half the sequence.
    Causal,
    /// Every query over the whole sequence (Chowdhery et al. 2022: `12 L h s` a token).
    Full,
}

/// Forward FLOPs of scores and weighted values of one token, in all blocks, for what a kernel
/// computes: half the square where attention looks back only, windows minded.
pub fn attention_flops(job: &TrainingJob<'_>, causal: bool) -> f64 {
    let length = f64::from(job.attended_len());
    job.model
        .transformer
        .attention
        .iter()
        .map(|group| {
            let context = if causal {
                mean_causal_context(length, group.kind.window())
            } else {
                length
            };
            f64::from(group.layers) * group.score_flops(context)
        })
        .sum()
}

/// FLOPs of one trained token as `convention` counts them; adapters' own are left out
/// (below 2 %).
pub fn counted_flops(job: &TrainingJob<'_>, convention: Convention) -> f64 {
    let shape = &job.model.transformer;
    let linear = 2.0 * shape.active_params() as f64;
    let head = 2.0 * shape.embedding_params() as f64;
    let attention = match convention.attention {
        CountedAttention::None => 0.0,
        CountedAttention::Causal => attention_flops(job, true),
        CountedAttention::Full => attention_flops(job, false),
    };
    // Frozen weights need no gradient of their own.
    let passes = if job.is_adapter() { 2.0 } else { 3.0 };
    // The output head is outside the blocks that are computed again.
    let repeated = if convention.recompute {
        linear - head + attention
    } else {
        0.0
    };
    let left_out = if convention.head { 0.0 } else { head };
    passes * (linear - left_out + attention) + repeated
}
