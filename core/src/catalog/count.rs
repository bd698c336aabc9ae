//! What can be counted from a network's shape: parameters, KV-cache elements, FLOPs.
//!
//! A multiply-add counts as two FLOPs throughout.

use super::{AttentionGroup, AttentionKind, Model, Transformer};

/// Sequence positions that are looked at by one query, on average over a causal sequence of
/// `len` tokens, with an optional window.
pub fn mean_causal_context(len: f64, window: Option<u32>) -> f64 {
    match window.map(f64::from) {
        // Positions before the window fills see half of it on average, the rest all of it.
        Some(w) if w < len => (w * w / 2.0 + (len - w) * w) / len,
        _ => len / 2.0,
    }
}

impl AttentionKind {
    /// Parameters of the projections of one block.
    pub fn params(&self, hidden: u64) -> u64 {
        match *self {
            Self::Heads {
                heads,
                kv_heads,
                head_dim,
                ..
            } => {
                let (q, kv, d) = (u64::from(heads), u64::from(kv_heads), u64::from(head_dim));
                hidden * d * (2 * q + 2 * kv)
            }
            Self::Latent {
                heads,
                q_rank,
                kv_rank,
                qk_nope_dim,
                qk_rope_dim,
                v_dim,
            } => {
                let h = u64::from(heads);
                let (nope, rope, v) = (
                    u64::from(qk_nope_dim),
                    u64::from(qk_rope_dim),
                    u64::from(v_dim),
                );
                let q = match q_rank.map(u64::from) {
                    Some(rank) => hidden * rank + rank * h * (nope + rope),
                    None => hidden * h * (nope + rope),
                };
                let rank = u64::from(kv_rank);
                q + hidden * (rank + rope) + rank * h * (nope + v) + h * v * hidden
            }
            Self::Compressed { params, .. } | Self::Linear { params, .. } => params,
        }
    }

    /// Elements that one token adds to the cache of one block, before the window is full.
    pub fn kv_elements_per_token(&self) -> u64 {
        match *self {
            Self::Heads {
                kv_heads, head_dim, ..
            } => 2 * u64::from(kv_heads) * u64::from(head_dim),
            Self::Latent {
                kv_rank,
                qk_rope_dim,
                ..
            } => u64::from(kv_rank) + u64::from(qk_rope_dim),
            // In the long run: whole entries, one for `ratio` tokens.
            Self::Compressed {
                entry_dim, ratio, ..
            } => match ratio {
                0 => u64::from(entry_dim),
                ratio => u64::from(entry_dim).div_ceil(u64::from(ratio)),
            },
            Self::Linear { .. } => 0,
        }
    }

    /// Elements of one block's cache for a sequence of `tokens`.
    pub fn kv_elements(&self, tokens: u64) -> u64 {
        match *self {
            Self::Heads {
                window: Some(w), ..
            } => self.kv_elements_per_token() * tokens.min(u64::from(w)),
            Self::Linear { state_elements, .. } => state_elements,
            Self::Compressed {
                entry_dim,
                ratio,
                window,
                ..
            } => u64::from(entry_dim) * (tokens.min(u64::from(window)) + entries(tokens, ratio)),
            _ => self.kv_elements_per_token() * tokens,
        }
    }

    /// FLOPs of scores and weighted values in one block for one query over `context` positions.
    pub fn score_flops(&self, context: f64) -> f64 {
        match *self {
            Self::Heads {
                heads, head_dim, ..
            } => 4.0 * context * f64::from(heads) * f64::from(head_dim),
            Self::Latent {
                heads,
                qk_nope_dim,
                qk_rope_dim,
                v_dim,
                ..
            } => 2.0 * context * f64::from(heads) * f64::from(qk_nope_dim + qk_rope_dim + v_dim),
            Self::Compressed {
                heads,
                entry_dim,
                ratio,
                window,
                ..
            } => {
                let compressed = if ratio == 0 {
                    0.0
                } else {
                    context / f64::from(ratio)
                };
                4.0 * (context.min(f64::from(window)) + compressed)
                    * f64::from(heads)
                    * f64::from(entry_dim)
            }
            // Update and read of the state, once a token whatever the context.
            Self::Linear { state_elements, .. } => 6.0 * state_elements as f64,
        }
    }

    /// The window, where this attention has one.
    pub fn window(&self) -> Option<u32> {
        match *self {
            Self::Heads { window, .. } => window,
            _ => None,
        }
    }

    /// Query heads.
    pub fn heads(&self) -> u32 {
        match *self {
            Self::Heads { heads, .. }
            | Self::Latent { heads, .. }
            | Self::Compressed { heads, .. }
            | Self::Linear { heads, .. } => heads,
        }
    }
}

/// Whole compressed entries of `tokens`; none where nothing is compressed.
fn entries(tokens: u64, ratio: u32) -> u64 {
    tokens.checked_div(u64::from(ratio)).unwrap_or(0)
}

impl AttentionGroup {
    /// Cached entries of a sequence of `tokens` in one block: tokens, or fewer where they are
    /// compressed.
    fn cached_entries(&self, tokens: u64) -> u64 {
        match self.kind {
            AttentionKind::Compressed { ratio, .. } => entries(tokens, ratio),
            AttentionKind::Linear { .. } => 0,
            _ => tokens,
        }
    }

    /// Elements of one block's cache for a sequence of `tokens`, index keys included.
    pub fn kv_elements(&self, tokens: u64) -> u64 {
        let index = self.sparse.map_or(0, |sparse| {
            u64::from(sparse.index_dim) * self.cached_entries(tokens)
        });
        self.kind.kv_elements(tokens) + index
    }

    /// Elements that one token adds to one block's cache in the long run, before a window is full.
    pub fn kv_elements_per_token(&self) -> u64 {
        let index = self.sparse.map_or(0, |sparse| match self.kind {
            AttentionKind::Compressed { ratio, .. } => {
                u64::from(sparse.index_dim).div_ceil(u64::from(ratio.max(1)))
            }
            _ => u64::from(sparse.index_dim),
        });
        self.kind.kv_elements_per_token() + index
    }

    /// FLOPs of scores and weighted values in one block for one query over `context` positions,
    /// the indexer's included.
    pub fn score_flops(&self, context: f64) -> f64 {
        let Some(sparse) = self.sparse else {
            return self.kind.score_flops(context);
        };
        let (entries, tokens_an_entry) = match self.kind {
            AttentionKind::Compressed { ratio, .. } => {
                let ratio = f64::from(ratio.max(1));
                (context / ratio, ratio)
            }
            _ => (context, 1.0),
        };
        let index = 2.0 * entries * f64::from(sparse.index_heads) * f64::from(sparse.index_dim);
        let looked_at = context.min(f64::from(sparse.top) * tokens_an_entry);
        self.kind.score_flops(looked_at) + index
    }
}

impl Transformer {
    /// Parameters of the attention of all blocks: projections, and what else every token passes.
    pub fn attention_params(&self) -> u64 {
        let hidden = u64::from(self.hidden);
        let projections: u64 = self
            .attention
            .iter()
            .map(|g| u64::from(g.layers) * g.kind.params(hidden))
            .sum();
        projections + self.extra_params
    }

    /// Matrices of one feed-forward network: three where gated, else two.
    fn ffn_matrices(&self) -> u64 {
        if self.ffn_gated { 3 } else { 2 }
    }

    /// Parameters of the feed-forward networks that are the same for every token: dense
    /// blocks, shared experts, routers.
    pub fn shared_ffn_params(&self) -> u64 {
        let hidden = u64::from(self.hidden);
        let matrices = self.ffn_matrices();
        let expert_layers = self.experts.as_ref().map_or(0, |e| e.layers);
        let dense = u64::from(self.layers.saturating_sub(expert_layers))
            * matrices
            * hidden
            * u64::from(self.ffn);
        let shared = self.experts.as_ref().map_or(0, |e| {
            u64::from(e.layers)
                * (matrices * hidden * u64::from(e.shared_ffn)
                    + hidden * u64::from(e.experts)
                    + 2 * hidden * u64::from(e.latent))
        });
        dense + shared
    }

    /// Parameters of all routed experts; 0 for dense models.
    pub fn routed_expert_params(&self) -> u64 {
        self.experts.as_ref().map_or(0, |e| {
            (u64::from(e.layers) * u64::from(e.experts)).saturating_mul(self.one_expert_params())
        })
    }

    /// Parameters of one routed expert of one block; 0 for dense models.
    pub fn one_expert_params(&self) -> u64 {
        self.experts.as_ref().map_or(0, |e| {
            self.ffn_matrices() * self.expert_width() * u64::from(e.ffn)
        })
    }

    /// Width of the stream that routed experts read and write.
    pub fn expert_width(&self) -> u64 {
        let latent = self.experts.as_ref().map_or(0, |e| e.latent);
        u64::from(if latent == 0 { self.hidden } else { latent })
    }

    /// Parameters of the embedding table.
    pub fn embedding_params(&self) -> u64 {
        u64::from(self.vocab) * u64::from(self.hidden)
    }

    /// Parameters of all blocks, norms and biases left out (below 0.1 %).
    pub fn block_params(&self) -> u64 {
        (self.attention_params() + self.shared_ffn_params())
            .saturating_add(self.routed_expert_params())
    }

    /// All parameters, two norms a block counted, biases only where they are in `extra_params`.
    pub fn params(&self) -> u64 {
        let norms = (2 * u64::from(self.layers) + 1) * u64::from(self.hidden);
        let tables = if self.tie_embeddings { 1 } else { 2 };
        self.block_params()
            .saturating_add(norms + tables * self.embedding_params())
            .saturating_add(self.aside_params)
    }

    /// Parameters that multiply for one token: blocks with the routed experts used, and the
    /// output head; the input embedding is a look-up.
    pub fn active_params(&self) -> u64 {
        let routed = self.experts.as_ref().map_or(0, |e| {
            (u64::from(e.layers) * u64::from(e.per_token)).saturating_mul(self.one_expert_params())
        });
        (self.attention_params() + self.shared_ffn_params() + self.embedding_params())
            .saturating_add(routed)
    }

    /// Forward FLOPs of scores and weighted values per token of a causal sequence of `len`
    /// tokens, each token seeing only what stands before it.
    pub fn causal_score_flops_per_token(&self, len: f64) -> f64 {
        self.attention
            .iter()
            .map(|g| f64::from(g.layers) * g.score_flops(mean_causal_context(len, g.kind.window())))
            .sum()
    }

    /// Elements of the KV cache of one sequence of `tokens`, all blocks, states included.
    pub fn kv_elements(&self, tokens: u64) -> u64 {
        self.attention
            .iter()
            .map(|g| u64::from(g.layers) * g.kv_elements(tokens))
            .sum()
    }

    /// Largest number of query heads of any block.
    pub fn heads(&self) -> u32 {
        self.attention
            .iter()
            .map(|g| g.kind.heads())
            .max()
            .unwrap_or(0)
    }

    /// Whether tensor parallelism of `ways` splits every block evenly: query heads must divide
    /// (key and value heads are copied where there are fewer than `ways`).
    pub fn splits_into(&self, ways: u32) -> bool {
        ways > 0 && self.attention.iter().all(|g| g.kind.heads() % ways == 0)
    }
}

impl Model {
    /// Parameters that are in no block and no table: those that the shape names, and what the
    /// published count has beyond the shape (biases, position embeddings).
    pub fn other_params(&self) -> u64 {
        let aside = self.transformer.aside_params;
        aside + self.params_total.saturating_sub(self.transformer.params())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AttentionGroup, ExpertLayers};

    fn llama_3_8b() -> Transformer {
        Transformer {
            layers: 32,
            hidden: 4096,
            ffn: 14336,
            ffn_gated: true,
            vocab: 128_256,
            tie_embeddings: false,
            attention: vec![AttentionGroup::full(32, 32, 8, 128)],
            experts: None,
            extra_params: 0,
            aside_params: 0,
        }
    }

    #[test]
    fn llama_3_8b_has_its_published_parameters() {
        assert_eq!(llama_3_8b().params(), 8_030_261_248);
    }

    #[test]
    fn mixtral_8x7b_has_its_published_parameters() {
        let mixtral = Transformer {
            ffn: 0,
            vocab: 32_000,
            experts: Some(ExpertLayers {
                experts: 8,
                per_token: 2,
                ffn: 14336,
                shared_ffn: 0,
                layers: 32,
                latent: 0,
            }),
            ..llama_3_8b()
        };
        assert_eq!(mixtral.params(), 46_702_792_704);
        // 12.9 B active with both tables; the input table is not multiplied.
        assert_eq!(
            mixtral.active_params(),
            12_879_925_248 - 32_000 * 4096 - 65 * 4096
        );
    }

    #[test]
    fn kv_cache_of_llama_3_8b_is_128_kib_a_token_in_16_bit() {
        assert_eq!(llama_3_8b().kv_elements(1) * 2, 131_072);
    }

    #[test]
    fn a_latent_cache_holds_the_latent_and_one_rotary_key() {
        // DeepSeek-V3: 61 blocks x (512 + 64) elements.
        let latent = AttentionKind::Latent {
            heads: 128,
            q_rank: Some(1536),
            kv_rank: 512,
            qk_nope_dim: 128,
            qk_rope_dim: 64,
            v_dim: 128,
        };
        assert_eq!(latent.kv_elements(1000), 576_000);
        assert_eq!(latent.params(7168), 187_105_280);
    }

    #[test]
    fn a_window_caps_the_cache_and_the_context() {
        let windowed = AttentionKind::Heads {
            heads: 8,
            kv_heads: 4,
            head_dim: 256,
            window: Some(1024),
        };
        assert_eq!(windowed.kv_elements(500), 500 * 2048);
        assert_eq!(windowed.kv_elements(9000), 1024 * 2048);
        // Of 4096 positions the first 1024 see 512 on average, the others 1024.
        assert!(
            (mean_causal_context(4096.0, Some(1024)) - (0.25 * 512.0 + 0.75 * 1024.0)).abs() < 1e-9
        );
    }
}
