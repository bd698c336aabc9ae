//! Making images and clips.

use super::constants::DiffusionConstants;
use super::flops::{self, Canvas};
use super::{CONTEXT_BYTES, memory_kind, speed_kind};
use crate::catalog::{Backbone, Card, DiffusionModel, Node};
use crate::dtype::{ComputeDtype, WeightFormat};
use crate::estimate::work::{
    Work, WorkPlan, WorkSpeed, WorkUnit, architecture_key, host_bus, memory_of, overlapped, peak,
};
use crate::estimate::{MemoryEstimate, MemoryPart, TimeParts};
use crate::scenario::{PipelineOffload, Runtime};

/// One way to make images or clips, on any card.
#[derive(Debug, Clone, Copy)]
pub struct GenerationRun<'a> {
    /// The model.
    pub model: &'a DiffusionModel,
    /// Size of what is made.
    pub canvas: Canvas,
    /// Denoising steps.
    pub steps: u32,
    /// Every step runs with and without the prompt.
    pub guidance: bool,
    /// Format of the denoiser's weights.
    pub weights: WeightFormat,
    /// Format of the text encoders' weights.
    pub text_weights: WeightFormat,
    /// Activations are brought to the weights' format, so that products run in it.
    pub narrow: bool,
    /// How networks are run.
    pub runtime: Runtime,
    /// Attention never writes its scores.
    pub fused_attention: bool,
    /// Products of FP32 may use TF32, which PyTorch leaves to convolutions unasked.
    pub tf32: bool,
    /// Memory is counted as PyTorch's allocator keeps it, not as it is in use.
    pub reserved: bool,
    /// Images of a batch are decoded one by one.
    pub sliced: bool,
    /// Only denoising is timed, without prompts and decoding.
    pub denoising_alone: bool,
}

/// Samples of one pass: twice the batch under guidance.
fn samples(run: &GenerationRun<'_>, batch: u32) -> f64 {
    f64::from(batch.max(1)) * if run.guidance { 2.0 } else { 1.0 }
}

/// Bytes of `params` parameters.
fn bytes(params: u64, format: WeightFormat) -> f64 {
    format.bytes_of(params) as f64
}

/// Bytes of one number of an activation.
fn activation_bytes(format: WeightFormat) -> f64 {
    match format {
        WeightFormat::Fp32 => 4.0,
        _ => 2.0,
    }
}

/// Format that activations have while weights are `format`.
fn wide(format: WeightFormat, card: &Card) -> ComputeDtype {
    match format {
        WeightFormat::Fp32 => ComputeDtype::Tf32,
        WeightFormat::Fp16 => ComputeDtype::Fp16,
        _ if card.peak_tflops.bf16.is_some() => ComputeDtype::Bf16,
        _ => ComputeDtype::Fp16,
    }
}

/// Numbers of an attention head: the first Stable Diffusion has eight heads at every level, of which the finest level
/// does nearly all; later U-Nets have heads of 64.
fn head_width(model: &DiffusionModel) -> f64 {
    /// Width of the text encoder of the first Stable Diffusion.
    const FIRST_CONTEXT: u32 = 768;
    match &model.denoiser.layers {
        Backbone::Unet {
            channels, context, ..
        } if *context == FIRST_CONTEXT => channels.first().map_or(40.0, |c| f64::from(*c) / 8.0),
        Backbone::Unet { .. } => 64.0,
        Backbone::Transformer { groups, .. } => groups.first().map_or(128.0, |g| f64::from(g.head)),
    }
}

/// Seconds of work on one card, and how they divide.
pub(super) fn time(
    run: &GenerationRun<'_>,
    work: &Work,
    card: &Card,
    constants: &DiffusionConstants,
) -> TimeParts {
    let c = &constants.coefficients;
    let share = constants.compute.of(card);
    let wide = wide(run.weights, card);
    let plain = peak(card, wide)
        * share
        * if wide == ComputeDtype::Tf32 {
            c.single
        } else {
            1.0
        };
    // PyTorch lets convolutions use TF32 unasked, matrix products not.
    let products = match wide {
        ComputeDtype::Tf32 if !run.tf32 || card.peak_tflops.tf32.is_none() => {
            peak(card, ComputeDtype::Fp32) * c.plain_single
        }
        _ => plain,
    };
    let convolutions = match wide {
        ComputeDtype::Tf32 if card.peak_tflops.tf32.is_none() => products,
        _ => plain * c.convolution,
    };
    let own = match (run.narrow, run.weights.compute_dtype(card)) {
        (true, dtype @ (ComputeDtype::Fp8 | ComputeDtype::Int8 | ComputeDtype::Fp4)) => {
            peak(card, dtype) * share * c.narrow
        }
        _ => products,
    };
    let eager = run.runtime == Runtime::Eager;
    // A compiler makes widening narrow weights part of the product that reads them; bitsandbytes' NF4 is a kernel of
    // its own for it.
    let fused_widening = !eager && run.weights != WeightFormat::Nf4;
    let expanded = !run.narrow && run.weights.bits_per_weight() < 15.0 && !fused_widening;
    let compiled = match (eager, card.memory_type.starts_with("HBM")) {
        (false, true) => c.compiled_products,
        _ => 1.0,
    };
    let engine = match run.runtime {
        Runtime::Tensorrt => c.engine,
        _ => 1.0,
    } * compiled;
    let attention = 1.0
        / match architecture_key(card) {
            "Hopper" if run.fused_attention => c.hopper_attention,
            _ => 1.0,
        };
    // Kernels of fused attention keep less of the units busy with narrow heads (Dao 2023, Shah et al. 2024).
    let narrow_heads = match run.model.denoiser.layers {
        Backbone::Transformer { .. } if head_width(run.model) < 128.0 => c.narrow_heads,
        _ => 1.0,
    };
    let attention = attention / narrow_heads;
    // Fused attention is one kernel: its rate is a share of the card's peak, whatever products and what lies between
    // them reach, and a compiler leaves it as it is.
    let attended = match run.fused_attention && wide != ComputeDtype::Tf32 {
        true => peak(card, wide) / compiled,
        false => products,
    };
    let compute_s = (work.products / own * if expanded { c.expanded } else { 1.0 }
        + work.convolutions / convolutions
        + work.attention / (attended * c.attention) * attention)
        / engine;
    let times = match run.model.denoiser.layers {
        Backbone::Unet { .. } => c.traffic,
        Backbone::Transformer { .. } => c.token_traffic,
    };
    // One score takes four operations for each number of a head.
    let scores = match run.fused_attention {
        true => 0.0,
        false => work.attention / (4.0 * head_width(run.model)) * c.score_traffic,
    };
    let moved = (work.written * times + scores) * activation_bytes(run.weights);
    let fused = if eager { 1.0 } else { c.fused };
    let memory_s = moved * fused / (card.bandwidth_gb_s * 1e9);
    let launch = c.launch_s * if eager { 1.0 } else { c.compiled_launch };
    // Of about 30 kernels of a block, attention that writes its scores adds six or seven to each of
    // its two: products, scaling, softmax, casts and copies one by one.
    const SCORES_WRITTEN: f64 = 1.4;
    let kernels = match run.fused_attention {
        true => work.kernels,
        false => work.kernels * SCORES_WRITTEN,
    };
    let busy = compute_s + memory_s;
    TimeParts {
        compute_s,
        memory_s,
        communication_s: 0.0,
        bubble_s: 0.0,
        overhead_s: overlapped(busy, kernels * launch) - busy,
    }
}

/// Time of one batch of one copy, by parts: prompts, all steps, decoding.
pub fn generation_time(
    run: &GenerationRun<'_>,
    plan: &WorkPlan,
    node: &Node<'_>,
    constants: &DiffusionConstants,
) -> TimeParts {
    let card = node.card;
    let c = &constants.coefficients;
    let pass = flops::denoise(run.model, &run.canvas).times(samples(run, plan.batch));
    let cards = f64::from(plan.cards_per_copy.max(1));
    let step = time(run, &pass, card, constants);
    let shared = if cards > 1.0 { cards * c.shared } else { 1.0 };
    let steps = f64::from(run.steps.max(1));
    let decoding = flops::decode(
        &run.model.autoencoder,
        &run.canvas,
        run.model.latent_frames(run.canvas.frames),
    )
    .times(f64::from(plan.batch.max(1)));
    let decode_run = GenerationRun {
        weights: if run.model.autoencoder.in_fp32 {
            WeightFormat::Fp32
        } else {
            run.weights
        },
        // Engines are built of all networks; compilers are mostly asked for the denoiser alone.
        runtime: match run.runtime {
            Runtime::Tensorrt => Runtime::Tensorrt,
            Runtime::Eager | Runtime::Compiled => Runtime::Eager,
        },
        ..*run
    };
    let decode = time(&decode_run, &decoding, card, constants);
    let prompt = time(run, &flops::read_prompt(run.model), card, constants);
    let crossing = crossing_s(run, plan, card);
    if run.denoising_alone {
        return TimeParts {
            compute_s: step.compute_s * steps / shared,
            memory_s: step.memory_s * steps / shared,
            communication_s: exchange_s(run, plan, node, constants) * steps,
            bubble_s: 0.0,
            overhead_s: crossing + step.overhead_s * steps / shared,
        };
    }
    TimeParts {
        compute_s: step.compute_s * steps / shared + decode.compute_s + prompt.compute_s,
        memory_s: step.memory_s * steps / shared + decode.memory_s + prompt.memory_s,
        communication_s: exchange_s(run, plan, node, constants) * steps,
        bubble_s: 0.0,
        overhead_s: crossing
            + step.overhead_s * steps / shared
            + decode.overhead_s
            + prompt.overhead_s
            + c.around_s,
    }
}

/// Seconds that weights cross the bus for one batch.
fn crossing_s(run: &GenerationRun<'_>, plan: &WorkPlan, card: &Card) -> f64 {
    let denoiser = bytes(run.model.denoiser.params, run.weights);
    let others = bytes(run.model.text_params(), run.text_weights)
        + bytes(run.model.autoencoder.params, WeightFormat::Bf16);
    let experts = f64::from(run.model.denoiser.experts);
    /// Layer by layer, weights come from memory that is not pinned and nothing else is done
    /// meanwhile: less of the bus is reached. An assumption; no measured result speaks of it.
    const LAYER_BY_LAYER: f64 = 0.4;
    let crossed = match plan.offload {
        PipelineOffload::None => 0.0,
        PipelineOffload::Model => denoiser * experts + others,
        PipelineOffload::Sequential => {
            (denoiser * f64::from(run.steps.max(1)) + others) / LAYER_BY_LAYER
        }
    };
    crossed / host_bus(card)
}

/// Seconds of a step that cards which share a sample wait for each other: each block's queries,
/// keys, values and outputs change from a split by tokens to one by heads and back (Jacobs et al.
/// 2023).
fn exchange_s(
    run: &GenerationRun<'_>,
    plan: &WorkPlan,
    node: &Node<'_>,
    constants: &DiffusionConstants,
) -> f64 {
    let cards = f64::from(plan.cards_per_copy.max(1));
    if cards <= 1.0 {
        return 0.0;
    }
    let (blocks, width) = blocks_and_width(run.model);
    let tokens = flops::picture_tokens(run.model, &run.canvas) * samples(run, plan.batch);
    let sent = 4.0 * tokens * width * 2.0 * blocks / cards * (cards - 1.0) / cards;
    const REACHED: f64 = 0.6;
    const WHERE_UNKNOWN: f64 = 32.0;
    let link = node.card.link.bidirectional_gb_s.unwrap_or(WHERE_UNKNOWN) / 2.0;
    let link = if plan.cards_per_copy > node.cards_per_node {
        link.min(node.network_gb_s / f64::from(node.cards_per_node.max(1)))
    } else {
        link
    };
    let by_bus = match node.card.link.kind.contains("PCIe") {
        true => constants.coefficients.pcie_exchange,
        false => 1.0,
    };
    sent / (link * 1e9 * REACHED) * by_bus
}

/// Blocks, and the widest stream, of a denoiser.
pub(super) fn blocks_and_width(model: &DiffusionModel) -> (f64, f64) {
    match &model.denoiser.layers {
        Backbone::Unet { channels, .. } => (
            8.0 * channels.len() as f64,
            channels.first().copied().map_or(0.0, f64::from),
        ),
        Backbone::Transformer { groups, .. } => (
            groups.iter().map(|g| f64::from(g.blocks)).sum(),
            groups
                .iter()
                .map(|g| f64::from(g.width))
                .fold(0.0, f64::max),
        ),
    }
}

/// Bytes of the largest moment of a pass over `samples` samples, and tokens times width.
pub(super) fn pass_bytes(
    model: &DiffusionModel,
    canvas: &Canvas,
    samples: f64,
    constants: &DiffusionConstants,
) -> f64 {
    let c = &constants.coefficients;
    let (_, width) = blocks_and_width(model);
    let picture = flops::picture_tokens(model, canvas);
    match &model.denoiser.layers {
        Backbone::Unet { .. } => picture * width * samples * c.unet_peak,
        Backbone::Transformer { .. } => {
            let tokens = picture + f64::from(model.denoiser.text_tokens);
            tokens * width * samples * c.transformer_peak
        }
    }
}

/// Bytes of the largest moment of decoding.
fn decode_bytes(run: &GenerationRun<'_>, plan: &WorkPlan, constants: &DiffusionConstants) -> f64 {
    /// Side of a tile of an image, and pixels of a tile of a clip's frame, as Diffusers cuts them.
    const IMAGE_TILE: f64 = 512.0 * 512.0;
    const CLIP_TILE: f64 = 256.0 * 256.0;
    let c = &constants.coefficients;
    let vae = &run.model.autoencoder;
    let is_clip = vae.three_frames && run.canvas.frames > 1;
    let frames = f64::from(run.canvas.frames.min(vae.frames_together.max(1)));
    let pixels = run.canvas.width * run.canvas.height;
    let side = f64::from(vae.unfold.max(1));
    let tile = match (plan.tiling || vae.tiled, is_clip) {
        (false, _) => pixels,
        (true, false) => pixels.min(IMAGE_TILE),
        (true, true) => pixels.min(CLIP_TILE),
    };
    let images = if run.sliced || plan.tiling {
        1.0
    } else {
        f64::from(plan.batch.max(1))
    };
    let channels = vae.widths.last().copied().map_or(0.0, f64::from);
    let width = if vae.in_fp32 || run.weights == WeightFormat::Fp32 {
        2.0
    } else {
        1.0
    };
    let peak = if is_clip {
        c.clip_decode_peak
    } else {
        c.image_decode_peak
    };
    // The clip itself, in FP32, and its tiles put together.
    let whole = pixels * f64::from(run.canvas.frames) * 3.0 * 4.0 * f64::from(plan.batch.max(1));
    tile / (side * side) * frames * channels * images * width * peak + whole
}

/// Memory of the fullest card.
pub fn generation_memory(
    run: &GenerationRun<'_>,
    plan: &WorkPlan,
    card: &Card,
    constants: &DiffusionConstants,
) -> MemoryEstimate {
    let c = &constants.coefficients;
    let model = run.model;
    let cards = f64::from(plan.cards_per_copy.max(1));
    // Cards that share a sample split its tokens; whether weights are split too is another choice.
    let ranks = if plan.sharded { cards } else { 1.0 };
    let one = bytes(model.denoiser.params, run.weights) / ranks;
    let denoiser = one * f64::from(model.denoiser.experts);
    let text = bytes(model.text_params(), run.text_weights) / ranks;
    // Cards that share weights gather a layer at a time and exchange through buffers.
    let buffers = if ranks > 1.0 { c.shared_bytes } else { 0.0 };
    let vae_format = if model.autoencoder.in_fp32 || run.weights == WeightFormat::Fp32 {
        WeightFormat::Fp32
    } else {
        WeightFormat::Bf16
    };
    let vae = bytes(model.autoencoder.params, vae_format);
    let pass_wide = activation_bytes(run.weights) / 2.0;
    // Passes that are in memory at once.
    let samples = match model.usual.guidance_in_turn {
        true => f64::from(plan.batch.max(1)),
        false => samples(run, plan.batch),
    };
    let mut pass = pass_bytes(model, &run.canvas, samples, constants) * pass_wide / cards
        * if cards > 1.0 { c.shared_peak } else { 1.0 };
    if !run.fused_attention {
        let tokens = flops::picture_tokens(model, &run.canvas);
        // Eight heads' scores, and their softmax, of one sample after another.
        pass += tokens * tokens * 8.0 * 2.0 * activation_bytes(run.weights) * samples;
    }
    let kept = if run.reserved { c.cached } else { 1.0 };
    let decode = decode_bytes(run, plan, constants) * kept;
    let (blocks, _) = blocks_and_width(model);
    // Weights that are in memory at the fullest moment, and the moment's activations.
    let (text, denoiser, vae, active) = match plan.offload {
        PipelineOffload::None => (text, denoiser, vae, pass.max(decode)),
        PipelineOffload::Model => {
            let moments = [
                (text, 0.0, 0.0, 0.0),
                (0.0, one, 0.0, pass),
                (0.0, 0.0, vae, decode),
            ];
            // What the allocator holds beyond the activations belongs to their moment.
            let size = |m: &(f64, f64, f64, f64)| m.0 + m.1 + m.2 + m.3 * c.reserved;
            moments
                .into_iter()
                .max_by(|a, b| size(a).total_cmp(&size(b)))
                .unwrap_or_default()
        }
        PipelineOffload::Sequential => {
            // One block and the one that follows; the decoder's layers are small.
            let layers = 2.0 * one / blocks.max(1.0);
            (0.0, layers, 0.0, pass.max(decode))
        }
    };
    let fragmentation = active * (c.reserved - 1.0);
    let parts = [
        (MemoryPart::Weights, denoiser),
        (MemoryPart::TextEncoders, text),
        (MemoryPart::Autoencoder, vae),
        (MemoryPart::Activations, active),
        (MemoryPart::Communication, buffers),
        (MemoryPart::Framework, CONTEXT_BYTES),
        (MemoryPart::Fragmentation, fragmentation),
    ];
    memory_of(parts, &constants.spread, card, memory_kind(run.model))
}

/// Speed of all copies together.
pub fn generation_speed(
    run: &GenerationRun<'_>,
    plan: &WorkPlan,
    node: &Node<'_>,
    constants: &DiffusionConstants,
) -> WorkSpeed {
    let parts = generation_time(run, plan, node, constants);
    let batch_s = parts.total();
    let (range, basis) = constants
        .spread
        .range(1.0 / batch_s, node.card, speed_kind(run.model));
    let each = f64::from(plan.batch.max(1)) * f64::from(plan.copies.max(1));
    let operations = flops::denoise(run.model, &run.canvas).flops()
        * samples(run, plan.batch)
        * f64::from(run.steps);
    let dtype = wide(run.weights, node.card);
    let whole = peak(node.card, dtype) * batch_s * f64::from(plan.cards_per_copy.max(1));
    WorkSpeed {
        unit: if run.canvas.frames > 1 {
            WorkUnit::Clip
        } else {
            WorkUnit::Image
        },
        units_per_s: range.scale(each),
        batch_s: range.divide_into(1.0),
        parts,
        of_peak: operations / whole,
        input: None,
        basis,
    }
}
