//! The KV cache: bytes of a sequence on one card, exactly.

use crate::catalog::{AttentionKind, Transformer};
use crate::dtype::KvFormat;

/// Bytes of one cached element. GGUF's 8 and 4 bit types carry an FP16 scale for 32 elements.
pub fn element_bytes(format: KvFormat, gguf: bool) -> f64 {
    let scale = match format {
        KvFormat::Bits8 | KvFormat::Bits4 if gguf => 16.0 / 32.0,
        _ => 0.0,
    };
    (format.bits() + scale) / 8.0
}

/// Cached elements of one sequence of `tokens` on the fullest of `tensor` ways, all blocks.
/// Key and value heads are copied where there are fewer than ways; every way holds the whole
/// latent of MLA. Windows cap the tokens; `windows_kept` false: the engine keeps all of them.
pub fn card_elements(shape: &Transformer, tokens: f64, tensor: u32, windows_kept: bool) -> f64 {
    let ways = tensor.max(1);
    shape
        .attention
        .iter()
        .map(|group| {
            let one = match group.kind {
                AttentionKind::Heads {
                    kv_heads,
                    head_dim,
                    window,
                    ..
                } => {
                    let kept = match window {
                        Some(w) if windows_kept => tokens.min(f64::from(w)),
                        _ => tokens,
                    };
                    kept * 2.0 * f64::from(kv_heads.div_ceil(ways)) * f64::from(head_dim)
                }
                AttentionKind::Latent {
                    kv_rank,
                    qk_rope_dim,
                    ..
                } => tokens * f64::from(kv_rank + qk_rope_dim),
                // One key for all heads: every way holds it.
                AttentionKind::Compressed {
                    entry_dim,
                    ratio,
                    window,
                    ..
                } => {
                    let entries = if ratio == 0 {
                        0.0
                    } else {
                        (tokens / f64::from(ratio)).floor()
                    };
                    f64::from(entry_dim) * (tokens.min(f64::from(window)) + entries)
                }
                AttentionKind::Linear { state_elements, .. } => {
                    state_elements as f64 / f64::from(ways)
                }
            };
            let index = group.sparse.map_or(0.0, |sparse| {
                let entries = match group.kind {
                    AttentionKind::Compressed { ratio, .. } => tokens / f64::from(ratio.max(1)),
                    _ => tokens,
                };
                entries * f64::from(sparse.index_dim)
            });
            f64::from(group.layers) * (one + index)
        })
        .sum()
}

/// Bytes of one sequence of `tokens` on the fullest card: `tensor` ways, the blocks over `stages`,
/// tokens rounded up to whole blocks of `block_tokens`.
pub fn card_bytes(
    shape: &Transformer,
    tokens: u64,
    element_bytes: f64,
    tensor: u32,
    stages: u32,
    block_tokens: u64,
) -> f64 {
    let block = block_tokens.max(1);
    let rounded = tokens.div_ceil(block).saturating_mul(block);
    let layers = shape.layers.max(1);
    let share = f64::from(layers.div_ceil(stages.max(1))) / f64::from(layers);
    card_elements(shape, rounded as f64, tensor, true) * element_bytes * share
}
