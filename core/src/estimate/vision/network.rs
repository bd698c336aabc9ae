//! Vision networks and encoders.

use super::constants::{VisionCoefficients, VisionConstants};
use super::cost::{self, Style};
use super::{INFERENCE, MEMORY, TRAINING};
use crate::catalog::{Card, LayerStyle, Network, NetworkTask, Node};
use crate::dtype::{ComputeDtype, WeightFormat};
use crate::estimate::diffusion::{CONTEXT_BYTES, state_bytes};
use crate::estimate::work::{
    InputPipeline, Work, WorkPlan, WorkSpeed, WorkUnit, memory_of, overlapped, peak,
};
use crate::estimate::{MemoryEstimate, MemoryPart, TimeParts};
use crate::range::Range;
use crate::scenario::{Optimizer, Runtime};

/// One way to train or run a network, on any card.
#[derive(Debug, Clone, Copy)]
pub struct NetworkRun<'a> {
    /// The network.
    pub network: &'a Network,
    /// Side of an image, tokens of a sequence.
    pub size: u32,
    /// Format of weights and products.
    pub weights: WeightFormat,
    /// How it is run.
    pub runtime: Runtime,
    /// With gradients.
    pub trains: bool,
    /// Rank of adapters that are trained instead of the weights.
    pub lora_rank: Option<u32>,
    /// Attention never writes its scores.
    pub fused_attention: bool,
    /// A recipe tuned by the cards' maker: channels last, fused optimizers, chosen kernels.
    pub tuned: bool,
}

fn compute_dtype(run: &NetworkRun<'_>, card: &Card) -> ComputeDtype {
    match run.weights {
        WeightFormat::Fp32 => ComputeDtype::Tf32,
        format => format.compute_dtype(card),
    }
}

/// Time of `batch` samples on one card, by parts, nothing else waiting.
pub fn network_time(
    run: &NetworkRun<'_>,
    batch: f64,
    card: &Card,
    constants: &VisionConstants,
) -> TimeParts {
    let c = &constants.coefficients;
    let one = cost::forward(run.network, run.size);
    let work = one.times(batch);
    let dtype = compute_dtype(run, card);
    let kind = match dtype {
        ComputeDtype::Tf32 => c.single,
        ComputeDtype::Int8 | ComputeDtype::Fp8 | ComputeDtype::Fp4 => c.narrow,
        _ => 1.0,
    };
    let reached = peak(card, dtype) * constants.compute.of(card) * kind;
    let style = cost::style(run.network);
    let (share, traffic) = match style {
        Style::Tokens => (1.0, c.token_traffic),
        Style::Published(LayerStyle::Convolution) => (c.convolution, c.traffic),
        Style::Published(LayerStyle::Depthwise) => (c.depthwise, c.depthwise_traffic),
        Style::Published(LayerStyle::Windows) => (c.windows, c.window_traffic),
        Style::Published(LayerStyle::Boxes) => (c.boxes, c.traffic),
    };
    let eager = run.runtime == Runtime::Eager;
    let engine = match (run.runtime, run.tuned) {
        (Runtime::Tensorrt, _) => c.engine,
        (_, true) if style != Style::Tokens && run.weights != WeightFormat::Fp32 => c.recipe,
        _ => 1.0,
    };
    let (computed, moved, kernels) = match (run.trains, run.lora_rank) {
        (true, None) => (c.training_compute, c.training_traffic, 3.0),
        // No gradients of frozen weights; adapters start kernels of their own.
        (true, Some(_)) => (
            c.training_compute * 2.0 / 3.0,
            c.training_traffic * adapted(run.network),
            4.0,
        ),
        (false, _) => (1.0, 1.0, 1.0),
    };
    let compute_s = ((work.products + work.convolutions) / share + work.attention / c.attention)
        / reached
        * computed
        / engine;
    let bytes = match (run.weights, run.runtime) {
        (WeightFormat::Fp32, _) => 4.0,
        (WeightFormat::Int8 | WeightFormat::Fp8, Runtime::Tensorrt) => 1.0,
        _ => 2.0,
    };
    let traffic = match run.runtime {
        Runtime::Tensorrt => c.engine_traffic,
        _ => traffic,
    };
    let fused = match run.runtime {
        Runtime::Compiled => c.fused,
        _ if run.tuned && run.weights != WeightFormat::Fp32 => c.fused,
        _ => 1.0,
    };
    let weights = run.network.params as f64 * run.weights.bits_per_weight() / 8.0;
    let memory_s = (work.written * bytes * traffic * moved * fused + weights * kernels)
        / (card.bandwidth_gb_s * 1e9);
    let launch = c.launch_s * if eager { 1.0 } else { c.compiled_launch };
    let filling = match run.runtime {
        Runtime::Tensorrt => c.fill_s * cost::layers(run.network),
        _ => 0.0,
    };
    let busy = compute_s + memory_s + filling;
    TimeParts {
        compute_s,
        memory_s,
        communication_s: 0.0,
        bubble_s: 0.0,
        overhead_s: overlapped(busy, work_kernels(&one, kernels) * launch) - busy + filling,
    }
}

/// Activations that training adapters holds, over training all weights: what an adapter beside a
/// convolution writes is as large as what the convolution writes, and both are kept (twice as much
/// was measured: huggingface/peft issue 2196); beside a matrix product it is `rank` numbers a token.
fn adapted(network: &Network) -> f64 {
    match cost::style(network) {
        Style::Published(LayerStyle::Windows) | Style::Tokens => 1.0,
        Style::Published(_) => 2.0,
    }
}

fn work_kernels(one: &Work, passes: f64) -> f64 {
    one.kernels * passes
}

/// What feeding `wanted_per_s` samples a second asks of a machine with `cores` processor cores.
///
/// A core reads and decodes about 13 MB of JPEG a second with the usual augmentation (120 images
/// of ImageNet), tokenises about 3,000 short texts, or prepares 40 windows of speech.
pub fn feed(network: &Network, wanted_per_s: f64, cores: f64) -> InputPipeline {
    const JPEG_BYTES: f64 = 13.2e6;
    const TEXT_BYTES: f64 = 6e6;
    const SPEECH_BYTES: f64 = 40.0 * 480_000.0;
    let bytes = network.usual.bytes.max(1.0);
    let a_core = match network.task {
        NetworkTask::Text => TEXT_BYTES / bytes,
        NetworkTask::Speech => SPEECH_BYTES / bytes,
        _ => JPEG_BYTES / bytes,
    };
    let prepared_per_s = a_core * cores.max(1.0);
    InputPipeline {
        wanted_per_s,
        prepared_per_s,
        disk_mb_per_s: wanted_per_s.min(prepared_per_s) * bytes / 1e6,
        limits: prepared_per_s < wanted_per_s,
    }
}

/// What is counted of a network's samples.
fn unit(network: &Network) -> WorkUnit {
    match network.task {
        NetworkTask::Text => WorkUnit::Sequence,
        NetworkTask::Speech => WorkUnit::Sample,
        _ => WorkUnit::Image,
    }
}

/// A speed held down by what feeds it.
fn held(range: Range, most: f64) -> Range {
    Range {
        low: range.low.min(most),
        mid: range.mid.min(most),
        high: range.high.min(most),
    }
}

fn speed(
    run: &NetworkRun<'_>,
    plan: &WorkPlan,
    parts: TimeParts,
    card: &Card,
    cores: f64,
    constants: &VisionConstants,
) -> WorkSpeed {
    let kind = if run.trains { TRAINING } else { INFERENCE };
    let batch_s = parts.total();
    let (range, basis) = constants.spread.range(1.0 / batch_s, card, kind);
    let samples = f64::from(plan.batch.max(1)) * f64::from(plan.copies.max(1));
    let by_cards = range.scale(samples);
    let input = feed(
        run.network,
        by_cards.mid,
        cores * f64::from(plan.cards.max(1)),
    );
    let passes = if run.trains { 3.0 } else { 1.0 };
    let operations =
        cost::forward(run.network, run.size).flops() * f64::from(plan.batch.max(1)) * passes;
    WorkSpeed {
        unit: unit(run.network),
        units_per_s: held(by_cards, input.prepared_per_s),
        batch_s: range.divide_into(1.0),
        parts,
        of_peak: operations / (peak(card, compute_dtype(run, card)) * batch_s),
        input: Some(input),
        basis,
    }
}

/// Seconds of an update: FP32 weights and a moment or two are read and written, gradients read.
fn update_s(run: &NetworkRun<'_>, card: &Card) -> f64 {
    /// Weights and one moment, both ways, and a gradient.
    const BYTES: f64 = 2.0 * (4.0 + 4.0) + 4.0;
    const REACHED: f64 = 0.7;
    let trained = match run.lora_rank {
        Some(rank) => cost::adapter_params(run.network, rank),
        None => run.network.params as f64,
    };
    trained * BYTES / (card.bandwidth_gb_s * 1e9 * REACHED)
}

/// Samples a second that all cards are trained on.
pub fn training_speed(
    run: &NetworkRun<'_>,
    plan: &WorkPlan,
    node: &Node<'_>,
    cores: f64,
    constants: &VisionConstants,
) -> WorkSpeed {
    let mut parts = network_time(run, f64::from(plan.batch.max(1)), node.card, constants);
    parts.memory_s += update_s(run, node.card);
    if plan.copies > 1 {
        let reduce = crate::estimate::diffusion::reduce_s(run.network.params as f64, plan, node);
        let together = constants.coefficients.together;
        parts.communication_s += reduce + parts.total() * (1.0 / together - 1.0);
    }
    speed(run, plan, parts, node.card, cores, constants)
}

/// Samples a second that all cards look at.
pub fn inference_speed(
    run: &NetworkRun<'_>,
    plan: &WorkPlan,
    card: &Card,
    cores: f64,
    constants: &VisionConstants,
) -> WorkSpeed {
    let parts = network_time(run, f64::from(plan.batch.max(1)), card, constants);
    speed(run, plan, parts, card, cores, constants)
}

/// Activations that training a network keeps, over what its layers write.
fn kept(network: &Network, c: &VisionCoefficients) -> f64 {
    match (cost::style(network), network.task) {
        (Style::Tokens, _) => c.kept_tokens,
        (Style::Published(LayerStyle::Windows), _) => c.kept_windows,
        (Style::Published(LayerStyle::Boxes), _) => c.kept_boxes,
        (_, NetworkTask::Detect) => c.kept_detector,
        (_, NetworkTask::Segment) => c.kept_pixels,
        (Style::Published(LayerStyle::Convolution | LayerStyle::Depthwise), _) => c.kept,
    }
}

/// Memory of one card in training: FP32 weights with gradients and states, their 16-bit copies
/// under mixed precision, and what the backward pass needs of each layer.
pub fn training_memory(
    run: &NetworkRun<'_>,
    plan: &WorkPlan,
    optimizer: Optimizer,
    card: &Card,
    constants: &VisionConstants,
) -> MemoryEstimate {
    let c = &constants.coefficients;
    let params = run.network.params as f64;
    let half = run.weights != WeightFormat::Fp32;
    let bytes = if half { 2.0 } else { 4.0 };
    let written = cost::forward(run.network, run.size).written;
    let kept = kept(run.network, c) * run.lora_rank.map_or(1.0, |_| adapted(run.network));
    // Scores, their softmax and its dropout, of every layer, where attention is not fused.
    let scores = match run.fused_attention {
        true => 0.0,
        false => cost::scores(run.network, run.size) * cost::layers(run.network) * 3.0 * bytes,
    };
    let active = (written * bytes * kept + scores) * f64::from(plan.batch.max(1));
    let (trained, adapters) = match run.lora_rank {
        None => (params, 0.0),
        Some(rank) => (0.0, cost::adapter_params(run.network, rank)),
    };
    let parts = vec![
        (MemoryPart::Weights, params * 4.0),
        (
            MemoryPart::MasterWeights,
            if half { params * 2.0 } else { 0.0 },
        ),
        (MemoryPart::Gradients, trained * 4.0),
        (
            MemoryPart::OptimizerStates,
            trained * state_bytes(optimizer),
        ),
        (
            MemoryPart::Adapters,
            adapters * (8.0 + state_bytes(optimizer)),
        ),
        (MemoryPart::Activations, active),
        (MemoryPart::Framework, CONTEXT_BYTES),
        (MemoryPart::Fragmentation, active * 0.08),
    ];
    memory_of(parts, &constants.spread, card, MEMORY)
}

/// Memory of one card that runs a network: weights, the fullest layers, and one block's scores
/// where attention is not fused.
pub fn inference_memory(
    run: &NetworkRun<'_>,
    plan: &WorkPlan,
    card: &Card,
    constants: &VisionConstants,
) -> MemoryEstimate {
    // Layers near an image are larger than the mean; the blocks of a transformer are alike. A layer
    // and the next are both there.
    let fullest: f64 = match cost::style(run.network) {
        Style::Tokens => 2.0,
        Style::Published(_) => 8.0,
    };
    // Scores in FP32, as llama.cpp's buffer holds them, or twice in 16 bit.
    const SCORE_BYTES: f64 = 4.0;
    let scores = match run.fused_attention {
        true => 0.0,
        false => cost::scores(run.network, run.size) * SCORE_BYTES,
    };
    let work = cost::forward(run.network, run.size);
    let bytes = if run.weights == WeightFormat::Fp32 {
        4.0
    } else {
        2.0
    };
    let a_layer = work.written / cost::layers(run.network).max(1.0);
    let active = a_layer * fullest.min(cost::layers(run.network)) * bytes + scores;
    let parts = vec![
        (
            MemoryPart::Weights,
            run.weights.bytes_of(run.network.params) as f64,
        ),
        (
            MemoryPart::Activations,
            active * f64::from(plan.batch.max(1)),
        ),
        (MemoryPart::Framework, CONTEXT_BYTES),
    ];
    memory_of(parts, &constants.spread, card, MEMORY)
}
