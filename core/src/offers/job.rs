//! What a scenario leaves open about the job itself, and the values that take its place.

use std::borrow::Cow;

use crate::catalog::{Card, Catalog, Model, Transformer, Vendor};
use crate::dtype::WeightFormat;
use crate::estimate::training::{Habits, TrainingJob};
use crate::packed::Aside;
use crate::scenario::{
    Engine, Job, ModelChoice, Scenario, Training, TrainingAmount, TrainingMethod, TrainingPrecision,
};

/// Hours beyond which a job without a deadline comes after all others: three months.
pub(super) const LONGEST_HOURS: f64 = 2160.0;
/// Time per token beyond which a service without a target comes after all others, seconds: five
/// tokens a second, about as fast as people read.
pub(super) const SLOWEST_TPOT_S: f64 = 0.2;

/// The model that a scenario names or describes.
pub(crate) fn model<'a>(choice: &ModelChoice, catalog: &'a Catalog) -> Option<Cow<'a, Model>> {
    let model = match choice {
        ModelChoice::Catalog(id) => Cow::Borrowed(catalog.model(id)?),
        ModelChoice::Custom(shape) => Cow::Owned(custom(shape)),
    };
    (model.params_total > 0 && model.transformer.layers > 0).then_some(model)
}

pub(super) fn custom(shape: &Transformer) -> Model {
    Model {
        id: "custom".to_owned(),
        name: "custom".to_owned(),
        family: "custom".to_owned(),
        aliases: Vec::new(),
        params_total: shape.params(),
        params_active: shape.active_params(),
        transformer: shape.clone(),
        max_context: u32::MAX,
        native_format: WeightFormat::Bf16,
        licence: None,
        source: Aside::default(),
        notes: None,
    }
}

/// The training job without its layout.
pub(crate) fn training_job<'a>(training: &Training, model: &'a Model) -> TrainingJob<'a> {
    let base_weights = match (training.method, training.precision) {
        (TrainingMethod::Qlora, _) => training.base_weights,
        (_, TrainingPrecision::Fp32) => WeightFormat::Fp32,
        (_, TrainingPrecision::Fp16) => WeightFormat::Fp16,
        _ => WeightFormat::Bf16,
    };
    TrainingJob {
        model,
        method: training.method,
        base_weights,
        seq_len: training.seq_len.max(1),
        precision: training.precision,
        optimizer: training.optimizer,
        lora_rank: training.lora_rank,
        flash_attention: training.flash_attention,
        habits: Habits::default(),
    }
}

/// Bytes of the model as it is fetched.
pub(super) fn model_bytes(scenario: &Scenario, model: &Model) -> f64 {
    let format = match &scenario.job {
        Job::Train(training) => training_job(training, model).base_weights,
        Job::Serve(serving) => serving.weights,
        // Other jobs say it of themselves.
        _ => return 0.0,
    };
    format.bytes_of(model.params_total) as f64
}

/// Tokens trained on in all.
pub(crate) fn training_tokens(training: &Training) -> f64 {
    let tokens = match training.amount {
        TrainingAmount::Tokens(tokens) => tokens,
        TrainingAmount::Samples { count, epochs } => count * epochs * f64::from(training.seq_len),
    };
    if tokens.is_finite() {
        tokens.max(0.0)
    } else {
        0.0
    }
}

/// Sequences of one optimizer step where the scenario leaves it open.
///
/// Fine-tunes: enough for some hundred steps, 16 to 128. Pretraining: tokens a step grow with
/// the model about as published runs chose them (0.5 M at 1 B parameters, 4 M at 70 B, 16 M at
/// 405 B), a power of two of sequences, and at least a thousand steps.
pub(super) fn default_global_batch(training: &Training, model: &Model) -> u32 {
    const FINE_TUNE_STEPS: f64 = 400.0;
    const PRETRAIN_STEPS: f64 = 1000.0;
    const TOKENS_AT_1B: f64 = 0.5e6;
    const GROWTH: f64 = 0.55;
    let seq_len = f64::from(training.seq_len.max(1));
    let tokens = training_tokens(training);
    let power_of_two = |sequences: f64| sequences.max(1.0).log2().round().exp2();
    let sequences = match training.method {
        TrainingMethod::Pretrain => {
            let billions = (model.params_total as f64 / 1e9).max(0.1);
            let wanted = TOKENS_AT_1B * billions.powf(GROWTH);
            power_of_two(wanted.min(tokens / PRETRAIN_STEPS).max(seq_len) / seq_len)
        }
        _ => power_of_two(tokens / seq_len / FINE_TUNE_STEPS).clamp(16.0, 128.0),
    };
    sequences.min(65_536.0) as u32
}

/// The engine that people usually run where the scenario names none: llama.cpp for its own
/// formats, vLLM for the others, and plain Transformers on NVIDIA cards older than vLLM's least
/// compute capability (7.0, by its installation guide).
pub(crate) fn usual_engine(card: &Card, weights: WeightFormat) -> Engine {
    const VLLM_LEAST_CAPABILITY: f64 = 7.0;
    let capability = card.compute_capability.as_deref();
    let too_old = capability
        .and_then(|c| c.parse::<f64>().ok())
        .is_some_and(|c| c < VLLM_LEAST_CAPABILITY);
    if weights.is_gguf() {
        return Engine::LlamaCpp;
    }
    match card.vendor {
        Vendor::Huawei => Engine::VllmAscend,
        Vendor::Nvidia if too_old => Engine::Transformers,
        _ => Engine::Vllm,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::usual_training;

    fn training(method: TrainingMethod, amount: TrainingAmount, seq_len: u32) -> Training {
        Training {
            amount,
            seq_len,
            ..usual_training(method)
        }
    }

    #[test]
    fn batches_are_as_published_runs_chose_them() {
        let catalog = Catalog::embedded();
        let batch = |id: &str, tokens: f64, seq_len| {
            let training = training(
                TrainingMethod::Pretrain,
                TrainingAmount::Tokens(tokens),
                seq_len,
            );
            catalog
                .model(id)
                .map(|m| default_global_batch(&training, m))
        };
        // Llama 3 405B: 16 M tokens a step; Llama 2 70B: 4 M.
        assert_eq!(batch("llama-3.1-405b", 15e12, 8192), Some(2048));
        assert_eq!(batch("llama-2-70b", 2e12, 4096), Some(1024));
        // Never fewer than a sequence.
        assert_eq!(batch("llama-2-7b", 1e6, 4096), Some(1));
    }

    #[test]
    fn fine_tunes_take_dozens_of_sequences() {
        let catalog = Catalog::embedded();
        let model = catalog.model("llama-3.1-8b").unwrap();
        let batch = |count, epochs| {
            let amount = TrainingAmount::Samples { count, epochs };
            default_global_batch(&training(TrainingMethod::Lora, amount, 1024), model)
        };
        assert_eq!(batch(10_000.0, 3.0), 64);
        assert_eq!(batch(100.0, 1.0), 16);
        assert_eq!(batch(1e7, 1.0), 128);
    }

    #[test]
    fn the_usual_engine_runs_on_the_card() {
        let catalog = Catalog::embedded();
        let engine = |id: &str, weights| usual_engine(catalog.card(id).unwrap(), weights);
        assert_eq!(engine("h100-sxm-80gb", WeightFormat::Fp8), Engine::Vllm);
        assert_eq!(engine("v100-sxm2-32gb", WeightFormat::Bf16), Engine::Vllm);
        assert_eq!(engine("p40", WeightFormat::Bf16), Engine::Transformers);
        assert_eq!(engine("p40", WeightFormat::Q4KM), Engine::LlamaCpp);
        assert_eq!(
            engine("ascend-910b3", WeightFormat::Bf16),
            Engine::VllmAscend
        );
    }

    #[test]
    fn amounts_that_are_no_amounts_are_none() {
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            let amount = TrainingAmount::Tokens(bad);
            let tokens = training_tokens(&training(TrainingMethod::Lora, amount, 8));
            assert!(tokens.abs() < 1e-12);
        }
    }
}
