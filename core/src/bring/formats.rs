//! Number formats: what weights are stored in.

use serde_json::Value;

use super::Note;
use super::source::Source;
use crate::dtype::WeightFormat;

/// Format of the weights that a configuration states, and what is to be said about it.
pub(super) fn of_config(source: &Source<'_>) -> (Option<WeightFormat>, Option<Note>) {
    let plain = source
        .word(&["dtype", "torch_dtype", "params_dtype"])
        .and_then(plain);
    let Some(quantization) = source.find(&["quantization_config", "quantization", "quant_config"])
    else {
        return (plain, None);
    };
    // DeepSeek-V4: experts in FP4 beside FP8.
    if source.word(&["expert_dtype"]) == Some("fp4") {
        return (
            Some(WeightFormat::Mxfp4),
            Some(Note::MixedFormats("FP4 + FP8".to_owned())),
        );
    }
    match quantized(quantization.value) {
        Some(format) => {
            let algorithm = quantization.value.get("quant_algo").and_then(Value::as_str);
            let mixed = algorithm == Some("MIXED_PRECISION");
            (
                Some(format),
                mixed.then(|| Note::MixedFormats("NVFP4, FP8".to_owned())),
            )
        }
        None => {
            let method = quantization
                .value
                .get("quant_method")
                .or_else(|| quantization.value.get("quant_algo"))
                .and_then(Value::as_str)
                .unwrap_or("?");
            (plain, Some(Note::UnknownFormat(method.to_owned())))
        }
    }
}

/// A dtype's name, of PyTorch or of safetensors.
pub(super) fn plain(name: &str) -> Option<WeightFormat> {
    match name.rsplit('.').next()?.to_ascii_lowercase().as_str() {
        "bfloat16" | "bf16" => Some(WeightFormat::Bf16),
        "float16" | "fp16" | "half" | "f16" => Some(WeightFormat::Fp16),
        "float32" | "fp32" | "float" | "f32" => Some(WeightFormat::Fp32),
        "float8_e4m3fn" | "f8_e4m3" | "fp8" | "f8_e5m2" => Some(WeightFormat::Fp8),
        "int8" | "i8" | "u8" => Some(WeightFormat::Int8),
        _ => None,
    }
}

fn quantized(config: &Value) -> Option<WeightFormat> {
    let bits = config.get("bits").and_then(Value::as_u64);
    let yes = |name: &str| config.get(name).and_then(Value::as_bool) == Some(true);
    let method = config
        .get("quant_method")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_ascii_lowercase();
    match method.as_str() {
        "fp8" | "fbgemm_fp8" => Some(WeightFormat::Fp8),
        "awq" => Some(WeightFormat::Awq4),
        "gptq" | "auto-round" | "autoround" | "gptqmodel" => match bits {
            Some(8) => Some(WeightFormat::Gptq8),
            Some(4) | None => Some(WeightFormat::Gptq4),
            _ => None,
        },
        "mxfp4" => Some(WeightFormat::Mxfp4),
        "mxfp8" => Some(WeightFormat::Fp8),
        "bitsandbytes" if yes("load_in_4bit") || yes("_load_in_4bit") => Some(WeightFormat::Nf4),
        "bitsandbytes" if yes("load_in_8bit") || yes("_load_in_8bit") => Some(WeightFormat::Int8),
        "compressed-tensors" => of_groups(config),
        // modelopt, and mlx without a method of its own.
        _ => by_algorithm(config)
            .or_else(|| of_groups(config))
            .or_else(|| {
                // MLX: `{"group_size": 64, "bits": 4}`, one FP16 scale and bias a group.
                match (method.is_empty(), config.get("group_size"), bits) {
                    (true, Some(_), Some(4)) => Some(WeightFormat::Q4_1),
                    (true, Some(_), Some(8)) => Some(WeightFormat::Q8_0),
                    _ => None,
                }
            }),
    }
}

fn by_algorithm(config: &Value) -> Option<WeightFormat> {
    let algorithm = config
        .get("quant_algo")
        .or_else(|| config.pointer("/quantization/quant_algo"))?
        .as_str()?
        .to_ascii_uppercase();
    match algorithm.as_str() {
        "FP8" | "FP8_PB_WO" | "FP8_PER_CHANNEL_PER_TOKEN" | "MXFP8" => Some(WeightFormat::Fp8),
        "NVFP4" | "W4A16_NVFP4" | "NVFP4_AWQ" => Some(WeightFormat::Nvfp4),
        "MIXED_PRECISION" => of_layers(config),
        "W4A16_AWQ" | "W4A8_AWQ" => Some(WeightFormat::Awq4),
        "MXFP4" | "W4A8_MXFP4_FP8" => Some(WeightFormat::Mxfp4),
        "INT8" | "W8A8_SQ_PER_CHANNEL" => Some(WeightFormat::Int8),
        _ => None,
    }
}

/// Layers each with an algorithm of their own: the one that most have.
fn of_layers(config: &Value) -> Option<WeightFormat> {
    let layers = config.get("quantized_layers")?.as_object()?;
    let fours = layers
        .values()
        .filter(|layer| {
            layer
                .get("quant_algo")
                .and_then(Value::as_str)
                .is_some_and(|algorithm| algorithm.contains("FP4"))
        })
        .count();
    Some(if 2 * fours >= layers.len() {
        WeightFormat::Nvfp4
    } else {
        WeightFormat::Fp8
    })
}

/// Groups of compressed-tensors: the weights of the first.
fn of_groups(config: &Value) -> Option<WeightFormat> {
    let group = config.get("config_groups")?.as_object()?.values().next()?;
    let weights = group.get("weights")?;
    let bits = weights.get("num_bits")?.as_u64()?;
    let float = weights.get("type").and_then(Value::as_str) == Some("float");
    let size = weights.get("group_size").and_then(Value::as_u64);
    let acts = group.get("input_activations").is_some_and(|a| !a.is_null());
    let named = config
        .get("format")
        .or_else(|| group.get("format"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    match (float, bits) {
        (true, 8) => Some(WeightFormat::Fp8),
        (true, 4) if named.contains("mxfp4") || size == Some(32) => Some(WeightFormat::Mxfp4),
        (true, 4) => Some(WeightFormat::Nvfp4),
        (false, 8) if acts => Some(WeightFormat::Int8),
        (false, 8) => Some(WeightFormat::Gptq8),
        (false, 4) => Some(WeightFormat::Gptq4),
        _ => None,
    }
}
