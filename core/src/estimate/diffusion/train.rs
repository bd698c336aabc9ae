//! Training image and video models: LoRA, DreamBooth, fine-tuning.

use super::constants::DiffusionConstants;
use super::flops::{self, Canvas};
use super::generate::{GenerationRun, blocks_and_width, time};
use super::{CONTEXT_BYTES, TRAINING_MEMORY, TRAINING_SPEED};
use crate::catalog::{Backbone, Card, DiffusionModel, Node};
use crate::dtype::{ComputeDtype, WeightFormat};
use crate::estimate::work::{Work, WorkPlan, WorkSpeed, WorkUnit, memory_of, peak};
use crate::estimate::{MemoryEstimate, MemoryPart, TimeParts};
use crate::scenario::{DiffusionMethod, Optimizer, Runtime, TrainingPrecision};

/// One way to train an image or video model, on any card.
#[derive(Debug, Clone, Copy)]
pub struct TuningRun<'a> {
    /// The model.
    pub model: &'a DiffusionModel,
    /// Method.
    pub method: DiffusionMethod,
    /// Size of what is trained on.
    pub canvas: Canvas,
    /// Format of frozen weights.
    pub weights: WeightFormat,
    /// Compute format.
    pub precision: TrainingPrecision,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Rank of the adapters.
    pub lora_rank: u32,
    /// Latents and prompts were encoded before.
    pub cached: bool,
    /// Samples of one step over all cards.
    pub global_batch: u32,
}

/// Bytes of optimizer states for one parameter: two FP32 moments, or less.
pub(crate) fn state_bytes(optimizer: Optimizer) -> f64 {
    match optimizer {
        Optimizer::Adamw => 8.0,
        Optimizer::Adamw8bit | Optimizer::PagedAdamw8bit => 2.0,
        Optimizer::Adafactor => 0.1,
        Optimizer::Sgd => 0.0,
        Optimizer::SgdMomentum | Optimizer::Muon | Optimizer::Lion => 4.0,
    }
}

/// Parameters of adapters on the four attention projections of every block, as Diffusers' own
/// scripts place them.
fn adapter_params(model: &DiffusionModel, rank: u32) -> f64 {
    let rank = f64::from(rank);
    match &model.denoiser.layers {
        Backbone::Transformer { groups, .. } => groups
            .iter()
            .map(|g| f64::from(g.blocks) * 4.0 * 2.0 * f64::from(g.width) * rank)
            .sum(),
        Backbone::Unet {
            channels,
            blocks,
            transformers,
            middle_transformers,
            context,
        } => {
            let per_level = f64::from(2 * blocks + 1);
            let levels = channels.iter().zip(transformers);
            let one = |width: f64| (8.0 + 6.0) * width + 2.0 * f64::from(*context);
            let last = channels.last().copied().map_or(0.0, f64::from);
            let all: f64 = levels
                .map(|(c, t)| per_level * f64::from(*t) * one(f64::from(*c)))
                .sum();
            rank * (all + f64::from(*middle_transformers) * one(last))
        }
    }
}

/// Operations of a pass forward and back, over one forward: gradients of activations, and of
/// weights where they are trained.
fn passes(run: &TuningRun<'_>) -> f64 {
    match run.method {
        DiffusionMethod::Lora => 2.0,
        DiffusionMethod::Dreambooth => 3.0,
    }
}

/// A pass forward and back for one sample.
fn step_work(run: &TuningRun<'_>, plan: &WorkPlan, constants: &DiffusionConstants) -> Work {
    /// Scores have no weights: their gradients take five products where forward takes two, the
    /// scores being computed again (Dao et al. 2022).
    const ATTENTION: f64 = 1.0 + 2.5;
    /// Kernels that expand weights before a product, over those of a layer.
    const EXPANDING: f64 = 1.2;
    let c = &constants.coefficients;
    let forward = flops::denoise(run.model, &run.canvas);
    let again = f64::from(u8::from(plan.recompute));
    let passes = passes(run) + again;
    let adapters = match run.method {
        DiffusionMethod::Lora => c.adapter_launch,
        DiffusionMethod::Dreambooth => 1.0,
    };
    let expanding = match run.weights.bits_per_weight() < 15.0 {
        true => EXPANDING,
        false => 1.0,
    };
    let traffic = match run.model.denoiser.layers {
        Backbone::Unet { .. } => c.training_traffic,
        Backbone::Transformer { .. } => c.training_token_traffic,
    };
    Work {
        products: forward.products * passes,
        convolutions: forward.convolutions * passes,
        attention: forward.attention * (ATTENTION + again),
        written: forward.written * passes * traffic,
        kernels: forward.kernels * passes * c.training_launch * adapters * expanding,
    }
}

/// Time of an optimizer step on every card, by parts.
fn step_time(
    run: &TuningRun<'_>,
    plan: &WorkPlan,
    node: &Node<'_>,
    constants: &DiffusionConstants,
) -> TimeParts {
    let card = node.card;
    let c = &constants.coefficients;
    let weights = match run.precision {
        TrainingPrecision::Fp32 => WeightFormat::Fp32,
        TrainingPrecision::Fp16 => WeightFormat::Fp16,
        _ => run.weights,
    };
    let as_run = GenerationRun {
        model: run.model,
        canvas: run.canvas,
        steps: 1,
        guidance: false,
        weights,
        text_weights: weights,
        narrow: run.precision == TrainingPrecision::Fp8,
        runtime: Runtime::Eager,
        fused_attention: true,
        tf32: false,
        reserved: false,
        sliced: true,
        denoising_alone: true,
    };
    let batch = f64::from(plan.batch.max(1));
    let work = step_work(run, plan, constants).times(batch);
    let mut parts = time(&as_run, &work, card, constants);
    if !run.cached {
        // Encoding costs about half of what decoding does.
        let frames = run.model.latent_frames(run.canvas.frames);
        let encode = flops::decode(&run.model.autoencoder, &run.canvas, frames).times(0.5 * batch);
        let prompts = flops::read_prompt(run.model).times(batch);
        let around = time(&as_run, &encode.and(prompts), card, constants);
        parts.compute_s += around.compute_s;
        parts.memory_s += around.memory_s;
        parts.overhead_s += around.overhead_s;
    }
    parts.compute_s /= c.training;
    let micro = steps_of_batch(run, plan);
    let trained = trained_params(run);
    // Reading weights, gradients and states and writing them back.
    let update = trained * (2.0 * (4.0 + state_bytes(run.optimizer)) + 4.0);
    let ranks = match plan.sharded {
        true => f64::from(plan.copies.max(1)),
        false => 1.0,
    };
    let update_s = update / ranks / (card.bandwidth_gb_s * 1e9 * 0.7);
    TimeParts {
        compute_s: parts.compute_s * micro,
        memory_s: parts.memory_s * micro + update_s,
        communication_s: reduce_s(trained, plan, node),
        bubble_s: 0.0,
        overhead_s: parts.overhead_s * micro,
    }
}

/// Micro-batches of one step on each copy.
fn steps_of_batch(run: &TuningRun<'_>, plan: &WorkPlan) -> f64 {
    let each = plan.batch.max(1).saturating_mul(plan.copies.max(1));
    f64::from(run.global_batch.max(1).div_ceil(each))
}

fn trained_params(run: &TuningRun<'_>) -> f64 {
    match run.method {
        DiffusionMethod::Lora => adapter_params(run.model, run.lora_rank),
        DiffusionMethod::Dreambooth => run.model.denoiser.params as f64,
    }
}

/// Seconds that gradients of `params` parameters, in 16 bit, are summed over all copies, by
/// rings; half of it hides behind the backward pass.
pub(crate) fn reduce_s(params: f64, plan: &WorkPlan, node: &Node<'_>) -> f64 {
    const REACHED: f64 = 0.6;
    const EXPOSED: f64 = 0.5;
    const WHERE_UNKNOWN: f64 = 32.0;
    let n = f64::from(plan.copies.max(1));
    if n <= 1.0 {
        return 0.0;
    }
    let inside = node.card.link.bidirectional_gb_s.unwrap_or(WHERE_UNKNOWN) / 2.0;
    let slowest = if plan.cards > node.cards_per_node {
        inside.min(node.network_gb_s)
    } else {
        inside
    };
    let bytes = params * 2.0 * 2.0 * (n - 1.0) / n;
    bytes / (slowest * 1e9 * REACHED) * EXPOSED
}

/// Memory of the fullest card.
pub fn tuning_memory(
    run: &TuningRun<'_>,
    plan: &WorkPlan,
    card: &Card,
    constants: &DiffusionConstants,
) -> MemoryEstimate {
    let c = &constants.coefficients;
    let model = run.model;
    let ranks = if plan.sharded {
        f64::from(plan.copies.max(1))
    } else {
        1.0
    };
    let half = if run.precision == TrainingPrecision::Fp32 {
        4.0
    } else {
        2.0
    };
    let params = model.denoiser.params as f64;
    let trained = trained_params(run);
    let (weights, master, gradients, states, adapters) = match run.method {
        DiffusionMethod::Lora => (
            run.weights.bytes_of(model.denoiser.params) as f64,
            0.0,
            0.0,
            0.0,
            trained * (4.0 + 4.0 + state_bytes(run.optimizer)),
        ),
        DiffusionMethod::Dreambooth => {
            let master = match run.precision {
                TrainingPrecision::PureBf16 | TrainingPrecision::Fp32 => 0.0,
                _ => params * 4.0,
            };
            (
                params * half,
                master,
                params * half,
                params * state_bytes(run.optimizer),
                0.0,
            )
        }
    };
    let text = if run.cached {
        0.0
    } else {
        model.text_params() as f64 * 2.0
    };
    let vae = if run.cached {
        0.0
    } else {
        model.autoencoder.params as f64 * 2.0
    };
    let forward = flops::denoise(model, &run.canvas);
    let batch = f64::from(plan.batch.max(1));
    let (blocks, width) = blocks_and_width(model);
    let written = forward.written * half * c.kept * batch;
    let active = if plan.recompute {
        let tokens = flops::picture_tokens(model, &run.canvas);
        let inputs = tokens * width * half * blocks * batch;
        // The fullest block of a U-Net is one of its finest, about four times the mean.
        let fullest = match model.denoiser.layers {
            Backbone::Unet { .. } => 4.0,
            Backbone::Transformer { .. } => c.fullest,
        };
        inputs + fullest * written / blocks.max(1.0)
    } else {
        written
    };
    let fragmentation = (active + gradients / ranks) * (c.reserved - 1.0);
    let parts = [
        (MemoryPart::Weights, weights / ranks),
        (MemoryPart::MasterWeights, master / ranks),
        (MemoryPart::Gradients, gradients / ranks),
        (MemoryPart::OptimizerStates, states / ranks),
        (MemoryPart::Adapters, adapters),
        (MemoryPart::TextEncoders, text),
        (MemoryPart::Autoencoder, vae),
        (MemoryPart::Activations, active),
        (MemoryPart::Framework, CONTEXT_BYTES),
        (MemoryPart::Fragmentation, fragmentation),
    ];
    memory_of(parts, &constants.spread, card, TRAINING_MEMORY)
}

/// Samples a second over all cards.
pub fn tuning_speed(
    run: &TuningRun<'_>,
    plan: &WorkPlan,
    node: &Node<'_>,
    constants: &DiffusionConstants,
) -> WorkSpeed {
    let parts = step_time(run, plan, node, constants);
    let step_s = parts.total();
    let (range, basis) = constants
        .spread
        .range(1.0 / step_s, node.card, TRAINING_SPEED);
    let samples = f64::from(run.global_batch.max(1));
    let operations = flops::denoise(run.model, &run.canvas).flops() * passes(run) * samples;
    let whole = peak(node.card, ComputeDtype::Bf16) * step_s * f64::from(plan.cards.max(1));
    WorkSpeed {
        unit: WorkUnit::Sample,
        units_per_s: range.scale(samples),
        batch_s: range.divide_into(1.0),
        parts,
        of_peak: operations / whole,
        input: None,
        basis,
    }
}
