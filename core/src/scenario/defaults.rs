//! What holds where a link is silent. Frozen for link version 1: a changed default would change
//! what old links say, so a better one needs a new link version.

use super::{
    Extras, Habits, Job, Load, ModelChoice, Money, Optimizer, PriceMarket, Purchase, RankBy,
    Scenario, Serving, Shelf, SpotTerms, Training, TrainingAmount, TrainingMethod,
    TrainingPrecision,
};
use crate::catalog::{AttentionGroup, Currency, Transformer};
use crate::dtype::{KvFormat, WeightFormat};

/// The model of a link that names none.
pub const MODEL: &str = "qwen2.5-7b";
/// Tokens that pretraining runs over.
pub const PRETRAIN_TOKENS: f64 = 1e11;
/// Yuan for one dollar: the rate of `core/data/exchange.json` when link version 1 was fixed,
/// rounded.
pub const CNY_PER_USD: f64 = 6.7;
/// Dollars for one euro, of the same day, rounded.
pub const USD_PER_EUR: f64 = 1.125;
/// Samples that a model is tuned on.
pub const TUNING_SAMPLES: f64 = 10_000.0;
/// Passes over samples in tuning; one in pretraining.
pub const TUNING_EPOCHS: f64 = 3.0;
/// Tokens of a sequence in pretraining.
pub const PRETRAIN_SEQ: u32 = 4096;
/// Requests in flight of a service.
pub const USERS: u32 = 10;
/// Tokens of a sequence in tuning.
pub const TUNING_SEQ: u32 = 1024;

/// Models whose makers publish them below 16 bit: served in that format unless a link says
/// otherwise. A model that joins the catalog may join this list with it; a line never changes.
const PUBLISHED_BELOW_16_BIT: &[(&str, WeightFormat)] = &[
    ("deepseek-v3-671b", WeightFormat::Fp8),
    ("deepseek-r1-671b", WeightFormat::Fp8),
    ("deepseek-v3.2-671b", WeightFormat::Fp8),
    ("glm-5.3", WeightFormat::Fp8),
    ("glm-5.3-flash", WeightFormat::Fp8),
    ("kimi-k2-1t-a32b", WeightFormat::Fp8),
    ("minimax-m2-230b-a10b", WeightFormat::Fp8),
    ("deepseek-v4-flash", WeightFormat::Mxfp4),
    ("deepseek-v4-pro", WeightFormat::Mxfp4),
    ("kimi-k2.5-1t-a32b", WeightFormat::Gptq4),
    ("kimi-k3", WeightFormat::Mxfp4),
    ("mimo-v2-flash", WeightFormat::Fp8),
    ("gpt-oss-20b", WeightFormat::Mxfp4),
    ("gpt-oss-120b", WeightFormat::Mxfp4),
];

/// Format that a model is served in: as published where that is below 16 bit, else BF16.
pub fn weights(model: &ModelChoice) -> WeightFormat {
    match model {
        ModelChoice::Catalog(id) => PUBLISHED_BELOW_16_BIT
            .iter()
            .find(|(known, _)| known == id)
            .map_or(WeightFormat::Bf16, |(_, format)| *format),
        ModelChoice::Custom(_) => WeightFormat::Bf16,
    }
}

/// Passes over samples.
pub fn epochs(method: TrainingMethod) -> f64 {
    match method {
        TrainingMethod::Pretrain => 1.0,
        _ => TUNING_EPOCHS,
    }
}

/// Data of a training job.
pub fn amount(method: TrainingMethod) -> TrainingAmount {
    match method {
        TrainingMethod::Pretrain => TrainingAmount::Tokens(PRETRAIN_TOKENS),
        _ => TrainingAmount::Samples {
            count: TUNING_SAMPLES,
            epochs: TUNING_EPOCHS,
        },
    }
}

/// A training job of which only the method is known.
pub fn training(method: TrainingMethod) -> Training {
    Training {
        method,
        amount: amount(method),
        seq_len: match method {
            TrainingMethod::Pretrain => PRETRAIN_SEQ,
            _ => TUNING_SEQ,
        },
        global_batch: None,
        precision: TrainingPrecision::Bf16,
        optimizer: Optimizer::Adamw,
        lora_rank: 16,
        base_weights: WeightFormat::Nf4,
        flash_attention: true,
        micro_batch: None,
        recompute: None,
        sharding: None,
        tensor_parallel: None,
        pipeline_parallel: None,
        expert_parallel: None,
        offload: None,
    }
}

/// A service of which only the model is known.
pub fn serving(model: &ModelChoice) -> Serving {
    Serving {
        weights: weights(model),
        kv: KvFormat::Bits16,
        prompt_tokens: 1024,
        output_tokens: 256,
        load: Load::Concurrency(USERS),
        ttft_target_s: None,
        tpot_target_s: None,
        engine: None,
        tensor_parallel: None,
        hours_per_day: 24.0,
        requests_total: None,
        habits: Habits::default(),
    }
}

/// Money of a link that says nothing about it: yuan, at a rate that the user may change.
pub fn money() -> Money {
    Money {
        currency: Currency::Cny,
        cny_per_usd: CNY_PER_USD,
        billing: Vec::new(),
        own_prices: Vec::new(),
        budget: None,
        deadline_hours: None,
        usd_per_eur: USD_PER_EUR,
        market: PriceMarket::China,
        slice: 1.0,
        grain: None,
        minimum_hours: None,
        extras: Extras::default(),
        spot: SpotTerms::default(),
        purchase: Purchase::default(),
    }
}

/// Width of a feed-forward network whose width is not given: the Llama family's 8/3 of the
/// hidden width, up to a multiple of 256, where gated (Touvron et al. 2023), else four times.
pub fn feed_forward(hidden: u32, gated: bool) -> u32 {
    if gated {
        (hidden.saturating_mul(8) / 3).max(1).next_multiple_of(256)
    } else {
        hidden.saturating_mul(4)
    }
}

/// The shape of a model described by hand of which nothing is known: that of Llama 7B.
pub fn transformer() -> Transformer {
    let hidden = 4096;
    Transformer {
        layers: 32,
        hidden,
        ffn: feed_forward(hidden, true),
        ffn_gated: true,
        vocab: 32_000,
        tie_embeddings: false,
        attention: vec![AttentionGroup::full(32, 32, 32, 128)],
        experts: None,
        extra_params: 0,
        aside_params: 0,
    }
}

impl Default for Money {
    fn default() -> Self {
        money()
    }
}

impl Default for Scenario {
    /// The scenario of an empty link: LoRA on a 7B model, 10,000 samples.
    fn default() -> Self {
        Self {
            model: ModelChoice::Catalog(MODEL.to_owned()),
            job: Job::Train(training(TrainingMethod::Lora)),
            shelf: Shelf::default(),
            money: money(),
            rank: RankBy::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::scenario::limits;

    #[test]
    fn the_list_holds_exactly_the_catalogs_models_below_16_bit() {
        let sixteen = [WeightFormat::Bf16, WeightFormat::Fp16, WeightFormat::Fp32];
        for model in Catalog::embedded().models.iter() {
            let choice = ModelChoice::Catalog(model.id.clone());
            let published = if sixteen.contains(&model.native_format) {
                WeightFormat::Bf16
            } else {
                model.native_format
            };
            assert_eq!(weights(&choice), published, "{}", model.id);
        }
    }

    #[test]
    fn limits_state_the_same_defaults() {
        let serving = serving(&ModelChoice::Catalog(MODEL.to_owned()));
        for (limit, value) in [
            (limits::PROMPT_TOKENS, f64::from(serving.prompt_tokens)),
            (limits::OUTPUT_TOKENS, f64::from(serving.output_tokens)),
            (limits::HOURS_PER_DAY, serving.hours_per_day),
            (
                limits::LORA_RANK,
                f64::from(training(TrainingMethod::Lora).lora_rank),
            ),
            (limits::EXCHANGE_RATE, money().cny_per_usd),
            (limits::EURO_RATE, money().usd_per_eur),
            (limits::SLICE, money().slice),
            (limits::LAYERS, f64::from(transformer().layers)),
            (limits::HIDDEN, f64::from(transformer().hidden)),
            (limits::VOCAB, f64::from(transformer().vocab)),
        ] {
            assert_eq!(limit.default, Some(value), "{}", limit.name);
        }
        assert_eq!(serving.load, Load::Concurrency(USERS));
        assert_eq!(limits::CONCURRENCY.default, Some(10.0));
    }

    #[test]
    fn a_gated_network_is_as_wide_as_llamas() {
        assert_eq!(feed_forward(4096, true), 11_008);
        assert_eq!(feed_forward(5120, true), 13_824);
        assert_eq!(feed_forward(768, false), 3072);
    }
}
