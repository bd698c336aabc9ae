//! How a row's source counts FLOPs and reads memory.

use super::layout::Setup;
use super::words::Words;
use crate::estimate::training::{Convention, CountedAttention};
use crate::measured::TrainingRow;
use crate::plan::Recompute;

/// What a source reads memory with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instrument {
    /// The driver, or the allocator's reservation: context and cache are seen.
    Driver,
    /// The allocator's reservation, its cache counted and the context not.
    Reserved,
    /// The allocator's counter of live bytes.
    Allocated,
}

/// What `row` reads memory with. LitGPT and torchtune print `torch.cuda.max_memory_allocated()` over 1e9.
pub fn instrument(words: &Words) -> Instrument {
    if words.any(&[
        "litgpt",
        "pytorch/torchtune",
        "max_memory_allocated",
        "memory allocated",
    ]) {
        Instrument::Allocated
    } else if words.any(&["peak reserved", "max_memory_reserved"]) {
        Instrument::Reserved
    } else {
        Instrument::Driver
    }
}

/// How the source of `row` counts FLOPs.
///
/// MFU and most tables: full attention, no recomputation (Chowdhery et al. 2022). Megatron-LM's
/// own formula (Narayanan et al. 2021) and what prints it (BLOOM's logs, InternEvo, Colossal-AI)
/// count the repeated forward pass. Automodel counts causal attention; NeMo's fine-tuning tables
/// count none, because their samples are packed and short.
pub fn convention(row: &TrainingRow, words: &Words, setup: &Setup) -> Convention {
    let full = setup.plan.recompute == Recompute::Full;
    let megatron_formula = words.any(&[
        "megatron-turing",
        "narayanan",
        "bigscience",
        "2104.04473",
        "internevo",
        "colossal",
        "incl. recompute",
        "include full activation recompute",
        "counts recompute",
        "hardware tflops",
        "megatron formula",
        "megatron-lm",
    ]);
    let recompute = match row.metric.as_str() {
        "mfu_pct" => false,
        "hfu_pct" => full,
        _ => full && (megatron_formula || words.any(&["hfu"]) && !words.any(&["mfu"])),
    };
    let attention = if words.any(&[
        "finetuning table",
        "no attention",
        "old formula",
        "old underestimating formula",
    ]) {
        CountedAttention::None
    } else if words.any(&["automodel", "causal flops", "causal attention"]) {
        CountedAttention::Causal
    } else {
        CountedAttention::Full
    };
    Convention {
        attention,
        recompute,
        // BLOOM's first logs counted 8 FLOPs a parameter of the blocks.
        head: !words.any(&["old formula", "old underestimating formula"]),
    }
}
