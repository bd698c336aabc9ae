//! Language-model architectures and what can be counted from them.

use serde::{Deserialize, Serialize};

use crate::packed::Aside;

/// A language model of the catalog, or one that a user brings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Stable id used in links, e.g. `llama-3.1-8b`.
    pub id: String,
    /// Name as its maker writes it.
    pub name: String,
    /// Family, for grouping in a picker.
    pub family: String,
    /// Other names people type.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Published count of all parameters that are loaded to generate text: vision towers are in
    /// it where the published count has them, multi-token-prediction layers are not.
    pub params_total: u64,
    /// Parameters used for one token, output head included and input embedding left out;
    /// equal to all for dense models.
    pub params_active: u64,
    /// Shape of the network.
    #[serde(flatten)]
    pub transformer: Transformer,
    /// Longest context the maker states, tokens.
    pub max_context: u32,
    /// Format the weights are published in: `bf16`, `fp8`, `mxfp4`.
    pub native_format: crate::dtype::WeightFormat,
    /// Licence by name.
    #[serde(default)]
    pub licence: Option<String>,
    /// Where the configuration was read: the maker's repository (`hf.co/org/name`), a paper, or
    /// public code that carries the same figures.
    pub source: Aside,
    /// What a reader must know, in English.
    #[serde(default)]
    pub notes: Option<Aside>,
}

/// Shape of a decoder: everything that memory and FLOPs are counted from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transformer {
    /// Blocks.
    pub layers: u32,
    /// Width of the residual stream.
    pub hidden: u32,
    /// Width of the feed-forward network of dense blocks; 0 where every block holds experts.
    pub ffn: u32,
    /// Three matrices (SwiGLU, GeGLU) rather than two.
    pub ffn_gated: bool,
    /// Rows of the embedding.
    pub vocab: u32,
    /// The output head shares the embedding's weights.
    pub tie_embeddings: bool,
    /// Attention of the blocks, grouped; the groups' layers add up to `layers`.
    pub attention: Vec<AttentionGroup>,
    /// Expert layers, for mixture-of-experts models.
    #[serde(default)]
    pub experts: Option<ExpertLayers>,
    /// Parameters in blocks that no other field counts and every token passes: output gates,
    /// biases, indexers, more than two norms.
    #[serde(default)]
    pub extra_params: u64,
    /// Parameters beside blocks and tables that a token of text does not pass: vision and audio
    /// towers, learned positions, tables of embeddings a block.
    #[serde(default)]
    pub aside_params: u64,
}

/// Blocks that share one kind of attention.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttentionGroup {
    /// How many blocks.
    pub layers: u32,
    /// What they do.
    #[serde(flatten)]
    pub kind: AttentionKind,
    /// An indexer that chooses what is looked at; `None`: all of the context (or the window).
    #[serde(default)]
    pub sparse: Option<Sparse>,
}

impl AttentionGroup {
    /// Blocks whose heads of `head_dim` look at all of the context; `kv_heads` of them keep keys and values.
    pub fn full(layers: u32, heads: u32, kv_heads: u32, head_dim: u32) -> Self {
        Self {
            layers,
            kind: AttentionKind::Heads {
                heads,
                kv_heads,
                head_dim,
                window: None,
            },
            sparse: None,
        }
    }
}

/// Sparse attention: an indexer scores every cached entry, and queries look at the best (DeepSeek
/// sparse attention, block-sparse attention of MiniMax-M3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sparse {
    /// Entries that one query looks at.
    pub top: u32,
    /// Heads of the indexer.
    pub index_heads: u32,
    /// Width of the one index key that is cached for an entry.
    pub index_dim: u32,
}

/// One kind of attention. Multi-head, grouped-query and multi-query attention are one kind
/// that differ in `kv_heads`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AttentionKind {
    /// MHA, GQA, MQA, with an optional window.
    Heads {
        /// Query heads.
        heads: u32,
        /// Key and value heads; 0: the block uses the cache of an earlier one (Gemma 3n).
        kv_heads: u32,
        /// Width of one head.
        head_dim: u32,
        /// Sliding or chunked window in tokens; `None`: the whole context.
        #[serde(default)]
        window: Option<u32>,
    },
    /// Multi-head latent attention (DeepSeek-V2, 2024).
    Latent {
        /// Query heads.
        heads: u32,
        /// Rank of the query projection; `None`: not factored.
        #[serde(default)]
        q_rank: Option<u32>,
        /// Rank of the cached latent.
        kv_rank: u32,
        /// Width of a head's part without position.
        qk_nope_dim: u32,
        /// Width of the shared rotary key.
        qk_rope_dim: u32,
        /// Width of a value head.
        v_dim: u32,
    },
    /// Attention over compressed entries, each one key for all heads that is its value too, beside
    /// a window of uncompressed ones (DeepSeek-V4).
    Compressed {
        /// Query heads.
        heads: u32,
        /// Width of an entry.
        entry_dim: u32,
        /// Tokens that one entry stands for; 0: no entries, the window alone.
        ratio: u32,
        /// Latest tokens that are kept uncompressed.
        window: u32,
        /// Parameters of one such block's projections.
        params: u64,
    },
    /// Linear attention or a state-space block: a state of fixed size, nothing per token.
    Linear {
        /// Heads.
        heads: u32,
        /// Elements of the state of one sequence in one block.
        state_elements: u64,
        /// Parameters of one such block's mixer.
        params: u64,
    },
}

/// Expert layers of a mixture-of-experts model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpertLayers {
    /// Routed experts of a block.
    pub experts: u32,
    /// Routed experts used for one token.
    pub per_token: u32,
    /// Width of one routed expert.
    pub ffn: u32,
    /// Width of all shared experts of a block together; 0: none.
    #[serde(default)]
    pub shared_ffn: u32,
    /// Blocks that hold experts; the others are dense with `Transformer::ffn`.
    pub layers: u32,
    /// Width of the stream that routed experts read and write where it is not the residual's
    /// (latent experts, with one projection down and one up a block); 0: the residual's.
    #[serde(default)]
    pub latent: u32,
}
