//! What jobs that are counted in images, clips, samples, hours of audio or operations have in
//! common: their plan, their speed, and the roofline (Williams et al. 2009) under both.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Basis, MemoryEstimate, MemoryPart, TimeParts};
use crate::catalog::{Card, Market};
use crate::dtype::ComputeDtype;
use crate::range::Range;
use crate::scenario::PipelineOffload;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkUnit {
    /// Images made or looked at.
    Image,
    /// Clips made.
    Clip,
    /// Images or clips trained on.
    Sample,
    /// Sequences of tokens.
    Sequence,
    /// Hours of audio.
    AudioHour,
    /// 10^15 floating-point operations.
    PetaOperations,
}

/// How such a job is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkPlan {
    /// Cards in all: `copies * cards_per_copy`.
    pub cards: u32,
    /// Independent copies (data-parallel ranks in training).
    pub copies: u32,
    /// Cards that share one sample.
    pub cards_per_copy: u32,
    /// Samples of one copy at once.
    pub batch: u32,
    /// What waits in host memory.
    pub offload: PipelineOffload,
    /// The autoencoder works tile by tile.
    pub tiling: bool,
    /// Activations are computed again in the backward pass.
    pub recompute: bool,
    /// Weights, gradients and states are split over all cards.
    pub sharded: bool,
}

impl WorkPlan {
    /// Copies of one card each, everything in the card's memory.
    pub fn copies(cards: u32, batch: u32) -> Self {
        Self {
            cards,
            copies: cards,
            cards_per_copy: 1,
            batch,
            offload: PipelineOffload::None,
            tiling: false,
            recompute: false,
            sharded: false,
        }
    }
}

/// Speed of such a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkSpeed {
    /// What is counted.
    pub unit: WorkUnit,
    /// Units a second over all cards.
    pub units_per_s: Range,
    /// Time of one batch of one copy (of one optimizer step, in training), seconds.
    pub batch_s: Range,
    /// Where the middle of it goes.
    pub parts: TimeParts,
    /// Operations over the dense peak of the format, 0 to 1.
    pub of_peak: f64,
    /// What reading and preparing the data asks for, where there are data.
    pub input: Option<InputPipeline>,
    /// What the range rests on.
    pub basis: Basis,
}

/// What feeding the cards asks of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct InputPipeline {
    /// Samples a second that the cards alone would take.
    pub wanted_per_s: f64,
    /// Samples a second that the processor cores named can prepare.
    pub prepared_per_s: f64,
    /// Bytes a second read from storage, 10^6, at the speed reached.
    pub disk_mb_per_s: f64,
    /// Preparing is slower than the cards, and sets the speed.
    pub limits: bool,
}

/// Memory and speed of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkEstimate {
    /// Memory of the fullest card.
    pub memory: MemoryEstimate,
    /// Speed, as if it fitted.
    pub speed: WorkSpeed,
}

/// Operations and bytes of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Work {
    /// Floating-point operations of matrix products.
    pub products: f64,
    /// Of convolutions.
    pub convolutions: f64,
    /// Of attention scores and their use.
    pub attention: f64,
    /// Elements that layers write.
    pub written: f64,
    /// Kernels started, about.
    pub kernels: f64,
}

impl Work {
    /// All operations.
    pub fn flops(&self) -> f64 {
        self.products + self.convolutions + self.attention
    }

    /// Everything but the kernels, which a larger batch does not multiply.
    #[must_use]
    pub fn times(self, n: f64) -> Self {
        Self {
            products: self.products * n,
            convolutions: self.convolutions * n,
            attention: self.attention * n,
            written: self.written * n,
            kernels: self.kernels,
        }
    }

    /// Both, one after the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            products: self.products + other.products,
            convolutions: self.convolutions + other.convolutions,
            attention: self.attention + other.attention,
            written: self.written + other.written,
            kernels: self.kernels + other.kernels,
        }
    }
}

/// Shares of its peaks that a card reaches, by architecture (`Ampere`, `Ampere graphics`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shares(pub BTreeMap<String, f64>);

impl Default for Shares {
    fn default() -> Self {
        // Where a fit starts; an architecture that no result speaks of keeps its start.
        let known = [
            ("Pascal", 0.6),
            ("Volta", 0.5),
            ("Turing", 0.4),
            ("Ampere", 0.6),
            ("Ampere graphics", 0.85),
            ("Ampere professional", 0.5),
            ("Ada Lovelace", 0.85),
            ("Ada professional", 0.55),
            ("Hopper", 0.5),
            ("Hopper reduced", 0.6),
            ("Blackwell", 0.5),
            ("Blackwell graphics", 0.85),
            ("Blackwell professional", 0.55),
            ("CDNA3", 0.35),
            ("other", 0.35),
        ];
        Self(known.map(|(name, share)| (name.to_owned(), share)).into())
    }
}

impl Shares {
    /// The share of a card.
    pub fn of(&self, card: &Card) -> f64 {
        let key = architecture_key(card);
        let mut found = [key, "other"].into_iter().filter_map(|k| self.0.get(k));
        found.next().copied().unwrap_or(0.35)
    }
}

/// The architecture as shares know it: graphics dies are apart from data-centre dies of the same
/// name, which have HBM.
pub fn architecture_key(card: &Card) -> &'static str {
    let graphics = card.memory_type.starts_with('G');
    // Game cards add up in FP32 at half the rate that their units and their power would allow, so
    // they come near it; professional cards of the same die have the whole rate and less power.
    let halved = card.market == Market::Consumer;
    match card.architecture.as_str() {
        "Pascal" => "Pascal",
        "Volta" => "Volta",
        "Turing" => "Turing",
        "Ampere" if graphics && halved => "Ampere graphics",
        "Ampere" if graphics => "Ampere professional",
        "Ampere" => "Ampere",
        "Ada Lovelace" if halved => "Ada Lovelace",
        "Ada Lovelace" => "Ada professional",
        // The H20 keeps the memory of an H200 and a seventh of its products: they are fed better.
        "Hopper" if card.peak_tflops.bf16.is_some_and(|p| p < 300.0) => "Hopper reduced",
        "Hopper" => "Hopper",
        "Blackwell" if graphics && halved => "Blackwell graphics",
        "Blackwell" if graphics => "Blackwell professional",
        "Blackwell" | "Blackwell Ultra" => "Blackwell",
        "CDNA3" | "CDNA4" => "CDNA3",
        _ => "other",
    }
}

/// Memory of the fullest card: the parts, their sum, and its range among the residuals of `kind`.
/// Weights and states are counted to the byte, so the range does not go below them.
pub(crate) fn memory_of(
    parts: impl IntoIterator<Item = (MemoryPart, f64)>,
    spread: &super::spread::Spread,
    card: &Card,
    kind: &str,
) -> MemoryEstimate {
    use MemoryPart as P;
    let parts: Vec<(MemoryPart, f64)> = parts.into_iter().collect();
    let sum = |counted: &dyn Fn(MemoryPart) -> bool| -> f64 {
        let some = parts.iter().filter(|(part, _)| counted(*part));
        some.map(|(_, bytes)| bytes).sum()
    };
    let exact = sum(&|part| {
        matches!(
            part,
            P::Weights
                | P::TextEncoders
                | P::Autoencoder
                | P::MasterWeights
                | P::Gradients
                | P::OptimizerStates
        )
    });
    let (range, basis) = spread.memory_range(sum(&|_| true), card, kind);
    MemoryEstimate {
        needed_bytes: Range {
            low: range.low.max(exact.min(range.mid)),
            ..range
        },
        parts: parts
            .into_iter()
            .map(|(part, bytes)| (part, bytes as u64))
            .filter(|(_, bytes)| *bytes > 0)
            .collect(),
        reserved_bytes: None,
        basis,
    }
}

/// Dense peak of `card` in FLOP/s for a format, or of the next wider one that it knows.
pub fn peak(card: &Card, dtype: ComputeDtype) -> f64 {
    use ComputeDtype as D;
    let chain: &[D] = match dtype {
        D::Fp4 => &[D::Fp4, D::Fp8, D::Bf16, D::Fp16, D::Fp32],
        D::Fp8 => &[D::Fp8, D::Bf16, D::Fp16, D::Fp32],
        D::Int8 => &[D::Int8, D::Bf16, D::Fp16, D::Fp32],
        D::Bf16 => &[D::Bf16, D::Fp16, D::Fp32],
        D::Fp16 => &[D::Fp16, D::Bf16, D::Fp32],
        D::Tf32 => &[D::Tf32, D::Fp32],
        D::Fp32 => &[D::Fp32],
        D::Fp64 => &[D::Fp64],
    };
    let peaks = &card.peak_tflops;
    let known = chain.iter().find_map(|d| peaks.flops_per_s(*d));
    known.unwrap_or(1e12).max(1e9)
}

/// Bus between host and card, one way, bytes a second: four fifths of its nominal rate are
/// reached by copies from pinned memory.
pub fn host_bus(card: &Card) -> f64 {
    const REACHED: f64 = 0.8;
    const WHERE_UNKNOWN: f64 = 32.0;
    card.link.host_bidirectional_gb_s.unwrap_or(WHERE_UNKNOWN) / 2.0 * 1e9 * REACHED
}

/// Longer of two times with a smooth corner, for neither hides behind the other entirely.
pub fn overlapped(a: f64, b: f64) -> f64 {
    const SHARPNESS: f64 = 4.0;
    let most = a.max(b);
    if most <= 0.0 {
        return 0.0;
    }
    most * ((a / most).powf(SHARPNESS) + (b / most).powf(SHARPNESS)).powf(1.0 / SHARPNESS)
}

/// One constant of an estimator that is fitted on measured results.
pub struct Slot<C> {
    /// Name of the field.
    pub name: &'static str,
    /// Where the fit starts and what it is pulled towards.
    pub start: f64,
    /// Least value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Reads it.
    pub get: fn(&C) -> f64,
    /// Sets it.
    pub set: fn(&mut C, f64),
}

/// A struct of fitted constants: `name: start, low ..= high;` with its meaning above it.
macro_rules! coefficients {
    ($(#[$outer:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $start:literal, $low:literal ..= $high:literal;)+ }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub struct $name {
            $($(#[$doc])* pub $field: f64,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $start,)+ }
            }
        }

        $crate::packed::packed!(struct $name { $($field),+ });

        impl $name {
            /// Every constant, for fits.
            pub const SLOTS: &'static [$crate::estimate::work::Slot<Self>] = &[
                $($crate::estimate::work::Slot {
                    name: stringify!($field),
                    start: $start,
                    low: $low,
                    high: $high,
                    get: |c| c.$field,
                    set: |c, value| c.$field = value,
                },)+
            ];
        }
    };
}
pub(crate) use coefficients;

/// The fitted constants of one estimator, as `core/data/calibration/` holds them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Constants<C: Default> {
    /// How they were found.
    pub provenance: String,
    /// Share of the dense peak that large products reach, by architecture.
    pub compute: Shares,
    /// Everything else.
    pub coefficients: C,
    /// Residuals, measured over estimated.
    pub spread: super::spread::Spread,
}
