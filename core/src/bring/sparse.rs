//! Attention that reads part of what was kept: indexers, and caches that are compressed.

use super::attention::{Blocks, RANK, push};
use super::config::Dims;
use super::error::{BringError, BringErrorKind as Kind};
use super::source::{Source, whole};
use crate::catalog::{AttentionKind, Sparse};
use crate::scenario::limits::{self, Limit};

/// The indexer of sparse attention.
pub(super) struct Indexer {
    pub sparse: Sparse,
    pub params: u64,
    /// Blocks that have sparse attention; empty: all.
    pub sparse_blocks: Vec<bool>,
    /// Blocks with an indexer of their own; empty: all.
    pub whole_blocks: Vec<bool>,
}

impl Indexer {
    pub fn read(source: &Source<'_>, dims: &Dims) -> Result<Option<Self>, BringError> {
        let hidden = dims.h();
        if let Some(top) = source.whole(&["index_topk"], &limits::WINDOW)? {
            let heads = source.whole_or(&["index_n_heads"], &limits::HEADS, 64)?;
            let dim = source.whole_or(&["index_head_dim"], &limits::HEAD_DIM, 128)?;
            let rank = source.whole(&["q_lora_rank"], &RANK)?;
            let rank = rank.map_or(hidden, |read| u64::from(read.value));
            let (h, d) = (u64::from(heads), u64::from(dim));
            let words = source.layer_list(&["indexer_types"], dims.layers)?;
            return Ok(Some(Self {
                sparse: Sparse {
                    top: top.value,
                    index_heads: heads,
                    index_dim: dim,
                },
                params: rank * h * d + hidden * d + hidden * h + 2 * d,
                sparse_blocks: Vec::new(),
                whole_blocks: words.map_or_else(Vec::new, |list| {
                    list.value
                        .iter()
                        .map(|word| word.as_str() != Some("shared"))
                        .collect()
                }),
            }));
        }
        let on = source.flag_or(&["sparse_attention_config.use_sparse_attention"], false)?;
        if !on {
            return Ok(None);
        }
        let blocks = source.whole_or(
            &["sparse_attention_config.sparse_topk_blocks"],
            &limits::WINDOW,
            16,
        )?;
        let size = source.whole_or(
            &["sparse_attention_config.sparse_block_size"],
            &limits::WINDOW,
            128,
        )?;
        let heads = source.whole_or(
            &["sparse_attention_config.sparse_num_index_heads"],
            &limits::HEADS,
            4,
        )?;
        let dim = source.whole_or(
            &["sparse_attention_config.sparse_index_dim"],
            &limits::HEAD_DIM,
            128,
        )?;
        let (h, d) = (u64::from(heads), u64::from(dim));
        let list = source.layer_list(
            &["sparse_attention_config.sparse_attention_freq"],
            dims.layers,
        )?;
        Ok(Some(Self {
            sparse: Sparse {
                top: blocks.saturating_mul(size).clamp(1, 1 << 24),
                index_heads: heads,
                index_dim: dim,
            },
            params: hidden * (h * d + d) + 2 * d,
            sparse_blocks: list.map_or_else(Vec::new, |list| {
                list.value.iter().map(|n| n.as_u64() != Some(0)).collect()
            }),
            whole_blocks: Vec::new(),
        }))
    }

    pub fn covers(&self, at: usize) -> bool {
        self.sparse_blocks.get(at).copied().unwrap_or(true)
    }

    pub fn is_whole(&self, at: usize) -> bool {
        self.whole_blocks.get(at).copied().unwrap_or(true)
    }
}

/// Tokens of a compressed entry of each block where the blocks are named instead (Transformers from its fifth version
/// on): the names' ratios stand beside them, else the usual ones.
fn by_words(source: &Source<'_>, layers: u32) -> Result<Vec<u32>, BringError> {
    let missing = || BringError::of(Kind::Missing, "compress_ratios", "");
    let list = source
        .layer_list(&["layer_types"], layers)?
        .ok_or_else(missing)?;
    let heavy = source.whole_or(
        &["compress_rates.heavily_compressed_attention"],
        &limits::WINDOW,
        128,
    )?;
    let light = source.whole_or(
        &["compress_rates.compressed_sparse_attention"],
        &limits::WINDOW,
        4,
    )?;
    let words = list.value.iter().enumerate();
    words
        .map(|(at, value)| match value.as_str() {
            Some("heavily_compressed_attention") => Ok(heavy),
            Some("compressed_sparse_attention") => Ok(light),
            Some("sliding_attention") => Ok(0),
            _ => {
                let path = format!("{}[{at}]", list.path);
                Err(BringError::of(Kind::UnknownWord, &path, &value.to_string())
                    .expected("heavily_compressed_attention, compressed_sparse_attention, sliding_attention"))
            }
        })
        .collect()
}

/// DeepSeek-V4: one compressed entry for every 4 or 128 tokens, that is key and value of all heads,
/// beside a window; an indexer where the ratio is small; output projections in groups.
pub(super) fn compressed(
    source: &Source<'_>,
    dims: &Dims,
    layers: u32,
) -> Result<Blocks, BringError> {
    /// Ratio up to which an indexer chooses entries.
    const INDEXED: u32 = 16;
    const RATIO: Limit = Limit {
        min: 0.0,
        max: 65_536.0,
        ..limits::WINDOW
    };
    let hidden = dims.h();
    let (heads, dim) = (u64::from(dims.heads), u64::from(dims.head_dim));
    let rank = u64::from(source.whole_or(&["q_lora_rank"], &RANK, 1024)?);
    let out_rank = u64::from(source.whole_or(&["o_lora_rank"], &RANK, 1024)?);
    let groups = u64::from(source.whole_or(&["o_groups"], &limits::HEADS, 8)?);
    let window = source.whole_or(&["sliding_window"], &limits::WINDOW, 128)?;
    let top = source.whole_or(&["index_topk"], &limits::WINDOW, 512)?;
    let index_heads = source.whole_or(&["index_n_heads"], &limits::HEADS, 64)?;
    let index_dim = source.whole_or(&["index_head_dim"], &limits::HEAD_DIM, 128)?;
    let streams = u64::from(source.whole_or(&["hc_mult"], &limits::HEADS, 1)?);
    let list = source.list(&["compress_ratios"]);
    let path = list
        .as_ref()
        .map_or(String::new(), |list| list.path.clone());
    let ratios = match &list {
        // Layers for predicting several tokens have entries too.
        Some(list) if list.value.len() >= layers as usize => {
            let each = list.value.iter().take(layers as usize).enumerate();
            each.map(|(at, value)| whole(&format!("{path}[{at}]"), value, &RATIO))
                .collect::<Result<Vec<_>, _>>()?
        }
        Some(list) => {
            return Err(BringError::of(
                Kind::ListLength,
                &list.path,
                &list.value.len().to_string(),
            )
            .expected(layers.to_string()));
        }
        None => by_words(source, layers)?,
    };
    let projections = hidden * rank
        + rank * heads * dim
        + hidden * dim
        + heads * dim * out_rank
        + groups * out_rank * hidden;
    // Weights that mix the parallel residual streams, before attention and feed-forward.
    let mixing = if streams > 1 {
        2 * streams * hidden * (2 * streams + streams * streams)
    } else {
        0
    };
    let mut all = Vec::new();
    for ratio in ratios {
        // Overlapping windows of entries need twice the keys and gates.
        let overlap = if ratio > 0 && ratio <= INDEXED { 2 } else { 1 };
        let entries = if ratio == 0 {
            0
        } else {
            2 * hidden * dim * overlap
        };
        let indexed = ratio > 0 && ratio <= INDEXED;
        let (ih, id) = (u64::from(index_heads), u64::from(index_dim));
        let index = if indexed {
            rank * ih * id + hidden * ih + 2 * hidden * id * overlap
        } else {
            0
        };
        let params = projections + entries + index + mixing;
        if params as f64 > limits::LINEAR_ELEMENTS {
            return Err(BringError::of(
                Kind::TooLarge,
                "o_lora_rank",
                &params.to_string(),
            ));
        }
        let kind = AttentionKind::Compressed {
            heads: dims.heads,
            entry_dim: dims.head_dim,
            ratio,
            window,
            params,
        };
        let sparse = indexed.then_some(Sparse {
            top,
            index_heads,
            index_dim,
        });
        push(&mut all, kind, sparse);
    }
    Ok(Blocks {
        groups: all,
        extra_params: 0,
        plain: false,
        pattern: path,
        side_by_side: false,
    })
}
