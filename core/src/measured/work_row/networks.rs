//! Rows about vision networks, encoders and speech.

use super::{Counted, Quantity, WorkRun, memory_unit};
use crate::catalog::{Catalog, Network, Subject};
use crate::dtype::WeightFormat;
use crate::estimate::vision::{NetworkRun, SpeechRun};
use crate::estimate::work::WorkPlan;
use crate::measured::{InferenceRow, TrainingRow};
use crate::scenario::{Runtime, SpeechEngine};

type Read<'a> = Result<(WorkRun<'a>, WorkPlan, Quantity), &'static str>;

/// Share of the longest length that SQuAD's questions with their paragraphs have on average; tuned
/// engines leave padding out.
const VARIABLE_LENGTH: f64 = 0.47;

fn network<'a>(name: &str, catalog: &'a Catalog) -> Result<&'a Network, &'static str> {
    match catalog.subject(name) {
        Some(Subject::Network(network)) => Ok(network),
        _ => Err("the catalog does not have the model"),
    }
}

/// Side of an image, or tokens.
fn size(text: &str, network: &Network) -> u32 {
    let first = text.split('x').next().unwrap_or_default();
    first
        .trim()
        .parse()
        .unwrap_or_else(|_| network.usual_size())
}

pub(super) fn inference<'a>(row: &'a InferenceRow, words: &str, catalog: &'a Catalog) -> Read<'a> {
    let network = network(&row.model, catalog)?;
    let engine = row.engine.to_ascii_lowercase();
    let runtime = if engine.contains("tensorrt") {
        Runtime::Tensorrt
    } else if engine.contains("compile") || engine.contains("dynamo") {
        Runtime::Compiled
    } else {
        Runtime::Eager
    };
    let precision = row.weight_precision.to_ascii_lowercase();
    let weights = if precision.contains("int8") {
        WeightFormat::Int8
    } else if precision.contains("fp8") {
        WeightFormat::Fp8
    } else if precision.contains("fp32") || precision.contains("tf32") {
        WeightFormat::Fp32
    } else {
        WeightFormat::Fp16
    };
    let length = match row.prompt_len {
        Some(longest) if words.contains("variable length") => {
            (f64::from(longest) * VARIABLE_LENGTH) as u32
        }
        Some(tokens) => tokens,
        None => size(&row.resolution, network),
    };
    let cards = row.n_gpus.unwrap_or(1).max(1);
    let run = NetworkRun {
        network,
        size: length,
        weights,
        runtime,
        trains: false,
        lora_rank: None,
        fused_attention: true,
        tuned: words.contains("channels last"),
    };
    // Offline runs batch as they like.
    let plan = WorkPlan::copies(cards, row.batch_or_concurrency.unwrap_or(128));
    let quantity = match row.metric.as_str() {
        "images_per_s" | "samples_per_s" => Quantity::Rate(1.0),
        "seconds_per_image" => Quantity::Time(1.0),
        _ => return Err("metric not estimated"),
    };
    Ok((WorkRun::Network(run), plan, quantity))
}

pub(super) fn training<'a>(row: &'a TrainingRow, words: &str, catalog: &'a Catalog) -> Read<'a> {
    let network = network(row.model.trim_end_matches(" v1.5"), catalog)?;
    let precision = row.precision.to_ascii_lowercase();
    let weights = if precision.starts_with("tf32") || precision.starts_with("fp32") {
        WeightFormat::Fp32
    } else {
        WeightFormat::Fp16
    };
    // NVIDIA's own results are channels last; Lambda's fork of the same code is older and is not.
    let tuned = row.source.contains("DeepLearningExamples") || words.contains("channels last");
    let side = words
        .split_whitespace()
        .find_map(|word| word.strip_suffix("px")?.parse().ok());
    let run = NetworkRun {
        network,
        size: side.or(row.seq_len).unwrap_or_else(|| network.usual_size()),
        weights,
        runtime: Runtime::Eager,
        trains: true,
        lora_rank: None,
        fused_attention: !words.contains("attention not fused"),
        tuned,
    };
    let cards = row.n_gpus.unwrap_or(1).max(1);
    let batch = row.micro_batch_per_gpu.unwrap_or(network.usual.batch);
    let quantity = match row.metric.as_str() {
        "samples_per_s" if words.contains("hugging face trainer") => {
            return Err("the trainer's own time at four sequences a step");
        }
        "images_per_s" | "samples_per_s" => Quantity::Rate(1.0),
        "peak_mem_gb" => Quantity::Memory(
            memory_unit(&row.unit, false),
            Counted {
                context: words.contains("read from the driver"),
                loaded_bytes: 0.0,
            },
        ),
        _ => return Err("metric not estimated"),
    };
    Ok((
        WorkRun::Network(run),
        WorkPlan::copies(cards, batch),
        quantity,
    ))
}

/// Rows about speech give seconds for so many seconds of audio, or memory.
pub(super) fn speech<'a>(row: &'a InferenceRow, catalog: &'a Catalog) -> Read<'a> {
    const SECONDS_PER_HOUR: f64 = 3600.0;
    let network = network(&row.model, catalog)?;
    let engine = row.engine.to_ascii_lowercase();
    let precision = row.weight_precision.to_ascii_lowercase();
    let run = SpeechRun {
        network,
        weights: if precision.contains("int8") {
            WeightFormat::Int8
        } else {
            WeightFormat::Fp16
        },
        beam: row.steps.unwrap_or(5),
        engine: if engine.contains("faster") {
            SpeechEngine::FasterWhisper
        } else {
            SpeechEngine::OpenaiWhisper
        },
    };
    let plan = WorkPlan::copies(1, row.batch_or_concurrency.unwrap_or(1));
    let quantity = match row.metric.as_str() {
        "seconds_for_audio" => {
            let seconds = row.output_len.map_or(0.0, f64::from);
            Quantity::Time(seconds / SECONDS_PER_HOUR)
        }
        "peak_mem_gb" => Quantity::Memory(
            memory_unit(&row.unit, false),
            Counted {
                context: true,
                loaded_bytes: 0.0,
            },
        ),
        _ => return Err("metric not estimated"),
    };
    Ok((WorkRun::Speech(run), plan, quantity))
}
