//! Turning speech into text: an encoder over windows of 30 s, then a decoder that writes one
//! token a step and reads all its weights for it.

use super::constants::VisionConstants;
use super::{MEMORY, SPEECH};
use crate::catalog::{Card, Network, NetworkCost};
use crate::dtype::{ComputeDtype, WeightFormat};
use crate::estimate::diffusion::CONTEXT_BYTES;
use crate::estimate::work::{Shares, WorkPlan, WorkSpeed, WorkUnit, memory_of, overlapped, peak};
use crate::estimate::{MemoryEstimate, MemoryPart, TimeParts};
use crate::scenario::SpeechEngine;

/// One way to transcribe, on any card.
#[derive(Debug, Clone, Copy)]
pub struct SpeechRun<'a> {
    /// The recogniser.
    pub network: &'a Network,
    /// Format of the weights.
    pub weights: WeightFormat,
    /// Hypotheses that are followed.
    pub beam: u32,
    /// Software.
    pub engine: SpeechEngine,
}

/// Dimensions of a recogniser.
struct Shape {
    window_s: f64,
    positions: f64,
    encoder: f64,
    decoder: f64,
    width: f64,
    vocab: f64,
}

impl Shape {
    fn of(network: &Network) -> Option<Self> {
        match &network.cost {
            NetworkCost::Speech {
                window_s,
                positions,
                encoder_layers,
                decoder_layers,
                width,
                vocab,
                ..
            } => Some(Self {
                window_s: *window_s,
                positions: f64::from(*positions),
                encoder: f64::from(*encoder_layers),
                decoder: f64::from(*decoder_layers),
                width: f64::from(*width),
                vocab: f64::from(*vocab),
            }),
            _ => None,
        }
    }

    /// Operations of the encoder over one window.
    fn encoder_flops(&self) -> f64 {
        let square = self.width * self.width;
        2.0 * self.encoder * self.positions * (12.0 * square + 2.0 * self.positions * self.width)
            + 2.0 * self.decoder * 2.0 * self.positions * square
    }

    /// Weights that a decoding step reads: two attentions and a feed-forward network a layer, the
    /// output.
    fn decoder_params(&self) -> f64 {
        self.decoder * 14.0 * self.width * self.width + self.vocab * self.width
    }

    /// Numbers of one window's keys and values that a step reads.
    fn heard(&self) -> f64 {
        2.0 * self.decoder * self.positions * self.width
    }
}

/// Time of `plan.batch` windows on one card, by parts.
pub fn speech_time(
    run: &SpeechRun<'_>,
    plan: &WorkPlan,
    card: &Card,
    constants: &VisionConstants,
) -> TimeParts {
    let Some(shape) = Shape::of(run.network) else {
        return TimeParts {
            compute_s: 1.0,
            memory_s: 0.0,
            communication_s: 0.0,
            bubble_s: 0.0,
            overhead_s: 0.0,
        };
    };
    let c = &constants.coefficients;
    let windows = f64::from(plan.batch.max(1));
    let rows = windows * f64::from(run.beam.max(1));
    let dtype = match run.weights {
        WeightFormat::Fp32 => ComputeDtype::Tf32,
        format => format.compute_dtype(card),
    };
    let narrow = matches!(dtype, ComputeDtype::Int8 | ComputeDtype::Fp8);
    // Products are a small part of the time, which cannot tell what share of its peak a card reaches.
    let share = Shares::default().of(card);
    let reached = peak(card, dtype) * share * if narrow { c.narrow } else { 1.0 };
    let steps = c.words * shape.window_s;
    let encode = shape.encoder_flops() * windows / reached;
    let decode = 2.0 * shape.decoder_params() * rows * steps / reached;
    let bytes = if run.weights == WeightFormat::Fp32 {
        4.0
    } else {
        2.0
    };
    let weights = shape.decoder_params() * run.weights.bits_per_weight() / 8.0;
    let read = weights + shape.heard() * bytes * rows;
    let memory_s = read * steps / (card.bandwidth_gb_s * 1e9 * c.speech_bandwidth);
    let own = match run.engine {
        SpeechEngine::FasterWhisper => 1.0,
        SpeechEngine::OpenaiWhisper => c.openai_layer,
    };
    let host = c.speech_layer_s * own * shape.decoder * steps;
    let busy = decode + memory_s;
    TimeParts {
        compute_s: encode + decode,
        memory_s,
        communication_s: 0.0,
        bubble_s: 0.0,
        overhead_s: overlapped(busy, host) - busy,
    }
}

/// Hours of audio a second over all cards.
pub fn speech_speed(
    run: &SpeechRun<'_>,
    plan: &WorkPlan,
    card: &Card,
    constants: &VisionConstants,
) -> WorkSpeed {
    const SECONDS_PER_HOUR: f64 = 3600.0;
    let parts = speech_time(run, plan, card, constants);
    let batch_s = parts.total();
    let (range, basis) = constants.spread.range(1.0 / batch_s, card, SPEECH);
    let window_s = Shape::of(run.network).map_or(30.0, |s| s.window_s);
    let hours =
        f64::from(plan.batch.max(1)) * f64::from(plan.copies.max(1)) * window_s / SECONDS_PER_HOUR;
    let operations =
        Shape::of(run.network).map_or(0.0, |s| s.encoder_flops()) * f64::from(plan.batch.max(1));
    WorkSpeed {
        unit: WorkUnit::AudioHour,
        units_per_s: range.scale(hours),
        batch_s: range.divide_into(1.0),
        parts,
        of_peak: operations / (peak(card, ComputeDtype::Fp16) * batch_s),
        input: None,
        basis,
    }
}

/// Memory of one card.
pub fn speech_memory(
    run: &SpeechRun<'_>,
    plan: &WorkPlan,
    card: &Card,
    constants: &VisionConstants,
) -> MemoryEstimate {
    let bytes = if run.weights == WeightFormat::Fp32 {
        4.0
    } else {
        2.0
    };
    let windows = f64::from(plan.batch.max(1));
    // Hypotheses of a beam look at one copy of what was heard. What the encoder's widest moment takes is given back
    // before the decoder's keys and values come, window by window.
    let (heard, active) = Shape::of(run.network).map_or((0.0, 0.0), |s| {
        (
            s.heard() * bytes * windows,
            s.positions * s.width * bytes * 20.0,
        )
    });
    let workspace = constants.coefficients.speech_workspace;
    // OpenAI's package kept weights in FP32 beside and attention's scores until its version of
    // September 2024, and took twice as much then.
    let parts = [
        (
            MemoryPart::Weights,
            run.weights.bytes_of(run.network.params) as f64,
        ),
        (MemoryPart::KvCache, heard),
        (MemoryPart::Activations, active),
        (MemoryPart::Framework, CONTEXT_BYTES + workspace),
    ];
    memory_of(parts, &constants.spread, card, MEMORY)
}
