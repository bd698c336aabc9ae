//! The other way round: what a card can do, and the largest job within a budget and a deadline.
//!
//! Nothing here estimates: every answer is found by asking the same plans, memory and speed that a
//! scenario's offers rest on, so that what is promised here fits when it is asked for there.

mod budget;
mod media;

pub use budget::{
    JobReach, TOKENS_PER_PARAM, USUAL_DEADLINE_HOURS, largest_jobs, largest_pretraining,
};
pub use media::{ImageReach, StreamReach, USUAL_FRAMES_PER_S, images, streams};

use serde::Serialize;

use super::{job, serving, training};
use crate::catalog::{AttentionGroup, Card, Catalog, Model, Transformer};
use crate::dtype::WeightFormat;
use crate::estimate::serving::weight_bytes;
use crate::plan::search::Fitness;
use crate::plan::{Offload, RentedNode, rented_node};
use crate::range::Range;
use crate::scenario::{
    Job, Load, ModelChoice, Scenario, Serving, Training, TrainingMethod, usual_serving,
    usual_shape, usual_training,
};

/// What is done with a model, for the largest that a card holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "method", content = "value")]
pub enum Method {
    /// Training.
    Train(TrainingMethod),
    /// Answering one request with weights in a format.
    Serve(WeightFormat),
}

impl Method {
    /// Every method that is shown, from the largest need of memory to the least.
    pub const ALL: [Self; 7] = [
        Self::Train(TrainingMethod::Pretrain),
        Self::Train(TrainingMethod::FullFinetune),
        Self::Train(TrainingMethod::Lora),
        Self::Train(TrainingMethod::Qlora),
        Self::Serve(WeightFormat::Bf16),
        Self::Serve(WeightFormat::Fp8),
        Self::Serve(WeightFormat::Q4KM),
    ];

    /// The job of that method with what is usual for everything else, all of it on the cards.
    fn job(self) -> Job {
        match self {
            Self::Train(method) => Job::Train(Training {
                offload: Some(Offload::None),
                ..usual_training(method)
            }),
            Self::Serve(weights) => Job::Serve(Serving {
                weights,
                load: Load::Concurrency(1),
                ..usual_serving(&ModelChoice::Catalog(String::new()))
            }),
        }
    }

    /// Format of the weights that must be held at least.
    fn weights(self) -> WeightFormat {
        match self {
            Self::Train(TrainingMethod::Qlora) => WeightFormat::Nf4,
            Self::Train(_) => WeightFormat::Bf16,
            Self::Serve(weights) => weights,
        }
    }
}

/// The largest model by one method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodReach {
    /// The method.
    pub method: Method,
    /// Parameters of the largest usual dense model that fits; `None`: not even a small one.
    pub largest_params: Option<u64>,
    /// The largest model of the catalog that fits; id.
    pub largest_model: Option<String>,
    /// Its tokens a second: trained on, or written for one user.
    pub tokens_per_s: Option<Range>,
}

/// How far a model can be taken in serving.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServingReach {
    /// Tokens of prompt and answer together of the longest single request that fits.
    pub largest_context: u32,
    /// The model itself ends there, not the memory.
    pub ends_with_model: bool,
    /// Requests at once at the scenario's lengths.
    pub concurrency: u32,
    /// Tokens a second of one user alone.
    pub tokens_per_s_alone: Option<Range>,
    /// Tokens a second of all users at that concurrency.
    pub tokens_per_s_full: Option<Range>,
}

/// How far a model can be taken in training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainingReach {
    /// Tokens of the longest sequence that fits.
    pub largest_sequence: u32,
    /// The model itself ends there, not the memory.
    pub ends_with_model: bool,
    /// Sequences of a micro-batch at the scenario's length.
    pub micro_batch: u32,
    /// Tokens a second at the scenario's length.
    pub tokens_per_s: Option<Range>,
}

/// What a number of one card can do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Capability {
    /// Card id.
    pub card: String,
    /// Cards.
    pub count: u32,
    /// Bytes that software can allocate on one card.
    pub usable_memory_bytes: u64,
    /// Largest models.
    pub methods: Vec<MethodReach>,
    /// The scenario's model in serving; `None` where it does not fit.
    pub serving: Option<ServingReach>,
    /// The scenario's model and method in training; `None` where it does not fit.
    pub training: Option<TrainingReach>,
}

/// The card of that name: one of the scenario's own, else of the catalog.
pub fn card_of(scenario: &Scenario, catalog: &Catalog, name: &str) -> Option<Card> {
    let own = scenario.shelf.own.iter().find(|own| own.name == name);
    own.map(|own| own.card(catalog))
        .or_else(|| catalog.card(name).cloned())
}

/// What `count` cards of `card` can do with the scenario's model, and with any.
pub fn capability(scenario: &Scenario, catalog: &Catalog, card: &Card, count: u32) -> Capability {
    let count = count.max(1);
    let rented = rented_node(card);
    let model = job::model(&scenario.model, catalog);
    let methods = Method::ALL
        .into_iter()
        .map(|method| method_reach(method, catalog, &rented, count))
        .collect();
    let (serving, training) = match model.as_deref() {
        Some(model) => (
            serving_reach(scenario, model, &rented, count),
            training_reach(scenario, model, &rented, count),
        ),
        None => (None, None),
    };
    Capability {
        card: card.id.clone(),
        count,
        usable_memory_bytes: card.usable_memory_bytes(),
        methods,
        serving,
        training,
    }
}

/// Whether a job with a model fits on `count` cards, and how fast it is.
fn fits(job: &Job, model: &Model, rented: &RentedNode<'_>, count: u32) -> Option<Option<Range>> {
    match job {
        Job::Train(training) => {
            let planned = training::search(training, model, rented).best(count, None)?;
            (planned.fitness == Fitness::Fits).then(|| planned.speed.map(|s| s.tokens_per_s))
        }
        Job::Serve(serving) => {
            let planned = serving::search(serving, model, rented).best(count, None)?;
            (planned.fitness == Fitness::Fits).then(|| planned.speed.map(|s| s.tokens_per_s_user))
        }
        // Other kinds of job have subjects of their own, not language models.
        _ => None,
    }
}

fn method_reach(
    method: Method,
    catalog: &Catalog,
    rented: &RentedNode<'_>,
    count: u32,
) -> MethodReach {
    let job = method.job();
    let room = rented.node.card.usable_memory_bytes() as f64 * f64::from(count);
    let holds = |model: &Model| {
        let weights = weight_bytes(model, method.weights(), None).total() as f64;
        weights < room && fits(&job, model, rented, count).is_some()
    };
    let largest_params = last_true(LARGEST_STEP, |step| holds(&dense_model(step)))
        .map(|step| dense_model(step).params_total);
    let mut models: Vec<&Model> = catalog.models.iter().collect();
    models.sort_by_key(|model| std::cmp::Reverse(model.params_total));
    let largest = models.into_iter().find(|model| holds(model));
    MethodReach {
        method,
        largest_params,
        tokens_per_s: largest.and_then(|model| fits(&job, model, rented, count).flatten()),
        largest_model: largest.map(|model| model.id.clone()),
    }
}

/// Steps of [`dense`]: 128 is a model of 420 B parameters.
const LARGEST_STEP: u32 = 200;

/// A usual dense network: `step` blocks as wide as `step` heads of 128, as Llama's models from 1B
/// (16) over 7B (32) to 70B (72) nearly are. Heads are a multiple of eight, so that cards can split
/// them.
fn dense(step: u32) -> Transformer {
    let step = step.max(1);
    let hidden = 128 * step;
    Transformer {
        layers: step,
        hidden,
        ffn: crate::scenario::usual_feed_forward(hidden, true),
        attention: vec![AttentionGroup::full(step, step.next_multiple_of(8), 8, 128)],
        ..usual_shape()
    }
}

fn dense_model(step: u32) -> Model {
    job::custom(&dense(step))
}

/// The largest of `1..=most` for which `holds`, which holds up to some number and not beyond.
fn last_true(most: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    if !holds(1) {
        return None;
    }
    let (mut low, mut high) = (1, most.max(1));
    if holds(high) {
        return Some(high);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// The scenario's service, or a usual one of its model.
fn service_of(scenario: &Scenario) -> Serving {
    match &scenario.job {
        Job::Serve(serving) => serving.clone(),
        _ => usual_serving(&scenario.model),
    }
}

/// The scenario's training, or usual LoRA.
fn training_of(scenario: &Scenario) -> Training {
    match &scenario.job {
        Job::Train(training) => training.clone(),
        _ => usual_training(TrainingMethod::Lora),
    }
}

/// Longest sequence that is looked at.
const LONGEST: u32 = 1 << 24;

fn serving_reach(
    scenario: &Scenario,
    model: &Model,
    rented: &RentedNode<'_>,
    count: u32,
) -> Option<ServingReach> {
    let mut alone = service_of(scenario);
    alone.load = Load::Concurrency(1);
    alone.ttft_target_s = None;
    alone.tpot_target_s = None;
    let planned = serving::search(&alone, model, rented).best(count, None)?;
    if planned.fitness != Fitness::Fits {
        return None;
    }
    let concurrency = planned.fitting_concurrency.max(1);
    let most = model
        .max_context
        .min(LONGEST)
        .saturating_sub(alone.output_tokens)
        .max(1);
    let prompt = last_true(most, |prompt| {
        let mut longer = alone.clone();
        longer.prompt_tokens = prompt;
        fits(&Job::Serve(longer), model, rented, count).is_some()
    });
    let prompt = prompt.unwrap_or(alone.prompt_tokens);
    let mut full = alone.clone();
    full.load = Load::Concurrency(concurrency);
    let all = serving::search(&full, model, rented).best(count, None);
    Some(ServingReach {
        largest_context: prompt.saturating_add(alone.output_tokens),
        ends_with_model: prompt == most && model.max_context <= LONGEST,
        concurrency,
        tokens_per_s_alone: planned.speed.as_ref().map(|s| s.tokens_per_s_user),
        tokens_per_s_full: all.and_then(|p| p.speed).map(|s| s.tokens_per_s_total),
    })
}

fn training_reach(
    scenario: &Scenario,
    model: &Model,
    rented: &RentedNode<'_>,
    count: u32,
) -> Option<TrainingReach> {
    let base = Training {
        offload: Some(Offload::None),
        ..training_of(scenario)
    };
    let of = |seq_len: u32, micro: u32| {
        let job = Training {
            seq_len,
            micro_batch: Some(micro),
            global_batch: Some(micro.saturating_mul(count)),
            ..base.clone()
        };
        training::search(&job, model, rented).best(count, None)
    };
    let fits = |seq_len: u32, micro: u32| {
        of(seq_len, micro).is_some_and(|planned| planned.fitness == Fitness::Fits)
    };
    let most = model.max_context.min(LONGEST);
    let largest_sequence = last_true(most, |tokens| fits(tokens, 1))?;
    let micro_batch = last_true(4096, |micro| fits(base.seq_len, micro)).unwrap_or(0);
    let planned = training::search(&base, model, rented).best(count, None)?;
    Some(TrainingReach {
        largest_sequence,
        ends_with_model: largest_sequence == most && model.max_context <= LONGEST,
        micro_batch,
        tokens_per_s: planned.speed.map(|speed| speed.tokens_per_s),
    })
}
