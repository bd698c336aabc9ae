//! Parameters that are neither in matrices of blocks nor in tables of tokens: towers, positions, biases, norms.

use serde_json::{Map, Value};

use super::config::Dims;
use super::error::BringError;
use super::kind::Positions;
use super::source::Source;
use super::{Note, tower};
use crate::scenario::limits::{self, Limit};

/// Parameters beside blocks and tables.
pub(super) fn aside(
    root: &Map<String, Value>,
    source: &Source<'_>,
    dims: &Dims,
    notes: &mut Vec<Note>,
) -> Result<u64, BringError> {
    let towers = tower::params(root, dims.h())?;
    if towers > 0 {
        notes.push(Note::Tower(towers));
    }
    let positions = match dims.kind.positions {
        Positions::None => 0,
        Positions::Learned(more) => {
            let rows = source.whole_or(
                &["n_positions", "max_position_embeddings"],
                &limits::WINDOW,
                1024,
            )?;
            let types = source.whole_or(
                &["type_vocab_size"],
                &Limit {
                    min: 0.0,
                    ..limits::WINDOW
                },
                0,
            )?;
            (u64::from(rows) + u64::from(more) + u64::from(types)) * dims.h()
        }
    };
    // Tables of embeddings for each block (Gemma 3n and 4).
    let per_block = u64::from(source.whole_or(
        &["hidden_size_per_layer_input"],
        &Limit {
            min: 0.0,
            ..limits::HIDDEN
        },
        0,
    )?);
    let rows = u64::from(source.whole_or(&["vocab_size_per_layer_input"], &limits::VOCAB, 1)?);
    let tables = rows * per_block * u64::from(dims.layers);
    Ok(towers + positions + tables)
}

/// Biases of feed-forward networks, norms and attention's output.
pub(super) fn biases(dims: &Dims, ffn: u32, layers: u32) -> i64 {
    if !dims.kind.all_biases {
        return 0;
    }
    let hidden = i64::from(dims.hidden);
    // Up and down, and the two norms.
    i64::from(layers) * (i64::from(ffn) + hidden + 2 * hidden) + hidden
}

/// Projections of the embeddings that each block has of its own, and the low-rank branch beside
/// attention (Gemma 3n and 4).
pub(super) fn block_inputs(source: &Source<'_>, dims: &Dims) -> Result<i64, BringError> {
    let width = |name: &str| -> Result<i64, BringError> {
        let limit = Limit {
            min: 0.0,
            ..limits::HIDDEN
        };
        Ok(i64::from(source.whole_or(&[name], &limit, 0)?))
    };
    let (hidden, layers) = (i64::from(dims.hidden), i64::from(dims.layers));
    let inputs = 3 * hidden * width("hidden_size_per_layer_input")? * layers;
    Ok(inputs + 2 * hidden * width("laurel_rank")? * layers)
}

/// Norms beyond two a block.
pub(super) fn norms(dims: &Dims, layers: u32) -> i64 {
    i64::from(dims.kind.more_norms) * i64::from(layers) * i64::from(dims.hidden)
}

/// Phi's output head has a bias.
pub(super) fn head_bias(dims: &Dims) -> i64 {
    i64::from(matches!(dims.kind_name.as_str(), "phi" | "gptj" | "phimoe"))
}
