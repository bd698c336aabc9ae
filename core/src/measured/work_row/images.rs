//! Rows about images and clips.

use super::{Counted, Quantity, WorkRun, memory_unit};
use crate::catalog::{Catalog, DiffusionModel, Subject};
use crate::dtype::WeightFormat;
use crate::estimate::diffusion::{Canvas, GenerationRun, TuningRun};
use crate::estimate::work::WorkPlan;
use crate::measured::{InferenceRow, TrainingRow};
use crate::scenario::{DiffusionMethod, Optimizer, PipelineOffload, Runtime, TrainingPrecision};

/// Images of one batch of an MLPerf submission whose batch is not stated.
const OFFLINE_BATCH: u32 = 8;

type Read<'a> = Result<(WorkRun<'a>, WorkPlan, Quantity), &'static str>;

/// The model of a name, notes in brackets left out.
fn model<'a>(name: &str, catalog: &'a Catalog) -> Result<&'a DiffusionModel, &'static str> {
    let known = |name: &str| match catalog.subject(name) {
        Some(Subject::Diffusion(model)) => Some(model),
        _ => None,
    };
    let short = name.split(" (").next().unwrap_or(name).trim();
    let base = short.trim_end_matches(" UNet").trim_end_matches(" base");
    known(name)
        .or_else(|| known(short))
        .or_else(|| known(base))
        .or_else(|| {
            base.starts_with("Stable Diffusion 2")
                .then(|| known("sd-2.1"))?
        })
        .or_else(|| {
            base.starts_with("Stable Diffusion v1")
                .then(|| known("sd-1.5"))?
        })
        .ok_or("the catalog does not have the model")
}

/// `1280x720x81f`.
fn canvas(text: &str, model: &DiffusionModel) -> Canvas {
    let usual = &model.usual;
    let mut numbers = text
        .split(['x', ' '])
        .map(|part| part.trim_end_matches('f').parse::<u32>().ok());
    let width = numbers.next().flatten().unwrap_or(usual.width);
    let height = numbers.next().flatten().unwrap_or(usual.height);
    Canvas {
        width: f64::from(width),
        height: f64::from(height),
        frames: numbers.next().flatten().unwrap_or(usual.frames),
    }
}

/// Format of weights, and whether activations are brought to it.
fn format(text: &str, words: &str) -> Result<(WeightFormat, bool), &'static str> {
    use WeightFormat as W;
    let text = text.to_ascii_lowercase();
    // Scales of activations are found at run time or were calibrated before an engine was built.
    let dynamic = ["dq", "fp8 dq"]
        .iter()
        .any(|w| text.contains(w) || words.contains(w))
        || words.contains("tensorrt");
    if words.contains("fp8 dq") {
        return Ok((W::Fp8, true));
    }
    Ok(match text.as_str() {
        "bf16" => (W::Bf16, false),
        "fp16" | "" => (W::Fp16, false),
        "fp32" => (W::Fp32, false),
        "nf4" => (W::Nf4, false),
        "autoquant" | "sparsify" => return Err("format that the software chooses layer by layer"),
        mixed if mixed.contains("mix") => (W::Int8, true),
        eight if eight.starts_with("fp8") => (W::Fp8, dynamic),
        eight if eight.starts_with("int8") => (W::Int8, dynamic),
        six if six.starts_with("fp6") => (W::Q6K, false),
        five if five.starts_with("fp5") => (W::Q5KM, false),
        four if four.starts_with("fp4") => (W::Mxfp4, false),
        four if four.starts_with("int4") => (W::Gptq4, dynamic),
        _ => return Err("format of the weights not estimated"),
    })
}

pub(super) fn generation<'a>(row: &'a InferenceRow, words: &str, catalog: &'a Catalog) -> Read<'a> {
    let engine = row.engine.to_ascii_lowercase();
    if row.model.contains("ControlNet") {
        return Err("a second network beside the denoiser");
    }
    if engine.contains("fbcache") {
        return Err("steps that are skipped when little changes");
    }
    let model = model(&row.model, catalog)?;
    let (weights, narrow) = format(&row.weight_precision, &engine)?;
    let compiled = engine.contains("compile");
    let runtime = match (engine.contains("tensorrt"), compiled) {
        (true, _) => Runtime::Tensorrt,
        (_, true) => Runtime::Compiled,
        _ if engine.contains("fp8 dq") => Runtime::Compiled,
        _ => Runtime::Eager,
    };
    if narrow && runtime == Runtime::Eager {
        return Err("activations quantised without a compiler");
    }
    let quantised = weights.bits_per_weight() < 15.0;
    // torchao was applied to the whole pipeline of CogVideoX and to FLUX's denoiser alone.
    let text_weights = match quantised && engine.contains("torchao") && !row.model.contains("FLUX")
    {
        true => weights,
        false if quantised => WeightFormat::Bf16,
        false => weights,
    };
    let offload = if engine.contains("seq") {
        PipelineOffload::Sequential
    } else if engine.contains("offload")
        || words.contains("1 gpu uses offload") && row.n_gpus == Some(1)
    {
        PipelineOffload::Model
    } else {
        PipelineOffload::None
    };
    // MLPerf's offline runs make as many at once as they like, and pictures are not saved one by one.
    let offline = row.source.contains("/Offline/");
    let usual = if offline { OFFLINE_BATCH } else { 1 };
    let batch = row.batch_or_concurrency.unwrap_or(usual).max(1);
    let cards = row.n_gpus.unwrap_or(1).max(1);
    let rate_of_all = row.metric == "images_per_s";
    let shares = if rate_of_all { 1 } else { cards };
    if engine.contains("sat") && row.metric == "peak_mem_gb" || engine.contains("multi-gpu") {
        return Err("layout of the run not stated");
    }
    let plan = WorkPlan {
        cards,
        copies: cards / shares,
        cards_per_copy: shares,
        batch,
        offload,
        tiling: engine.contains("tiling"),
        recompute: false,
        // Diffusers' context parallelism leaves whole weights on each card.
        sharded: shares > 1 && !engine.contains(" cp "),
    };
    // Diffusers 0.11 without xformers writes the scores; PyTorch 2 and later do not.
    let fused_attention = !engine.contains("0.11") || engine.contains("xformers");
    let run = GenerationRun {
        model,
        canvas: canvas(&row.resolution, model),
        steps: row.steps.unwrap_or(model.usual.steps),
        guidance: model.usual.guidance,
        weights,
        text_weights,
        narrow,
        runtime,
        fused_attention,
        // Lambda's benchmark decodes one by one from 32 images on.
        tf32: words.contains("ddim 30 steps"),
        reserved: words.contains("memory_reserved"),
        sliced: batch >= 32,
        denoising_alone: false,
    };
    // Figures that PyTorch prints after division by 2^30.
    let binary = engine.contains("torchao") || engine.contains("bnb");
    let unit = memory_unit(&row.unit, binary);
    let loaded = if engine.contains("torchao") && quantised {
        model.params_total() as f64 * 2.0
    } else {
        0.0
    };
    let by_driver = matches!(engine.as_str(), "wan" | "hunyuanvideo" | "stepvideo")
        || engine.starts_with("wan ")
        || engine.starts_with("skyreels");
    let quantity = match row.metric.as_str() {
        "images_per_s" => Quantity::Rate(1.0),
        "seconds_per_image" | "seconds_per_video" => Quantity::Time(1.0),
        "steps_per_s" => Quantity::Batches,
        "weights_mem_gb" => Quantity::Weights(unit),
        "peak_mem_gb" => Quantity::Memory(
            unit,
            Counted {
                context: by_driver,
                loaded_bytes: loaded,
            },
        ),
        _ => return Err("metric not estimated"),
    };
    // A step alone has neither prompts nor decoding.
    let run = if row.metric == "steps_per_s" {
        GenerationRun {
            steps: 1,
            denoising_alone: true,
            ..run
        }
    } else {
        run
    };
    Ok((WorkRun::Generate(run), plan, quantity))
}

/// `49x480x720`: frames, height, width.
fn clip(words: &str) -> Option<Canvas> {
    words.split([' ', ';', ',']).find_map(|word| {
        let sides: Vec<u32> = word
            .split('x')
            .map_while(|side| side.parse().ok())
            .collect();
        match *sides {
            [frames, height, width] => Some(Canvas {
                width: f64::from(width),
                height: f64::from(height),
                frames,
            }),
            _ => None,
        }
    })
}

/// `rank 128`, or what Diffusers' scripts take.
fn rank(words: &str) -> u32 {
    const USUAL: u32 = 4;
    let after = words.split("rank ").nth(1).unwrap_or_default();
    let digits = after.split(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|n| n.parse().ok()).unwrap_or(USUAL)
}

pub(super) fn tuning<'a>(row: &'a TrainingRow, words: &str, catalog: &'a Catalog) -> Read<'a> {
    let unit = memory_unit(&row.unit, false);
    let model = model(&row.model, catalog)?;
    let quantity = match row.metric.as_str() {
        "images_per_s" if row.unit.contains("per GPU") => {
            Quantity::Rate(1.0 / f64::from(row.n_gpus.unwrap_or(1).max(1)))
        }
        "images_per_s" => Quantity::Rate(1.0),
        "tflops_per_gpu" => Quantity::Tflops,
        "peak_mem_gb" if words.contains("streamed from host memory") => {
            return Err("weights streamed from host memory layer by layer");
        }
        "peak_mem_gb" => Quantity::Memory(
            unit,
            Counted {
                context: false,
                loaded_bytes: 0.0,
            },
        ),
        _ => return Err("a whole run, not its speed"),
    };
    let side = ["@256", "@512", "@768", "@1024"]
        .iter()
        .find(|s| words.contains(*s))
        .and_then(|s| s.trim_start_matches('@').parse::<f64>().ok());
    let image = |width: f64, height: f64| Canvas {
        width,
        height,
        frames: 1,
    };
    let usual = image(f64::from(model.usual.width), f64::from(model.usual.height));
    let canvas = match (side, clip(words)) {
        (Some(side), _) => image(side, side),
        (None, Some(clip)) => clip,
        (None, None) if words.contains("512x768") => image(512.0, 768.0),
        (None, None) => usual,
    };
    let cards = row.n_gpus.unwrap_or(1).max(1);
    // Stable Diffusion 2's batch of 2048 images, cut to what a card takes.
    let batch = row
        .micro_batch_per_gpu
        .unwrap_or_else(|| (2048 / cards).clamp(1, 32));
    let global = row.global_batch_seqs.unwrap_or_else(|| {
        (batch * cards).max(if row.micro_batch_per_gpu.is_none() {
            2048
        } else {
            1
        })
    });
    let lora = words.contains("lora");
    let precision = row.precision.to_ascii_lowercase();
    let weights = if precision.contains("nf4") || precision.contains("int4") {
        WeightFormat::Nf4
    } else if precision.contains("fp8") {
        WeightFormat::Fp8
    } else {
        WeightFormat::Bf16
    };
    let run = TuningRun {
        model,
        method: if lora {
            DiffusionMethod::Lora
        } else {
            DiffusionMethod::Dreambooth
        },
        canvas,
        weights,
        precision: if precision.starts_with("fp16") {
            TrainingPrecision::Fp16
        } else {
            TrainingPrecision::Bf16
        },
        optimizer: if row.optimizer.contains('8') {
            Optimizer::Adamw8bit
        } else {
            Optimizer::Adamw
        },
        lora_rank: rank(words),
        cached: words.contains("precomputed")
            || words.contains("made up")
            || lora && !words.contains("encoders loaded"),
        global_batch: global,
    };
    let plan = WorkPlan {
        recompute: row.act_ckpt == "full",
        sharded: matches!(row.sharding.as_str(), "zero2" | "zero3"),
        ..WorkPlan::copies(cards, batch)
    };
    Ok((WorkRun::Tune(run), plan, quantity))
}
