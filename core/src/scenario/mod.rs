//! What a user asks for. A scenario is complete: every open field has a value or is `None`,
//! which means "choose for me".

mod choice;
mod costs;
mod defaults;
pub(crate) mod edition;
mod fragment;
mod habits;
mod json;
pub mod limits;
mod nearest;
pub mod number;
mod own_card;
mod params;
pub(crate) mod preset;
mod problem;
mod query;
mod read;
mod reader;
pub(crate) mod shape;
mod subject;
mod work;
mod write;

pub use choice::{Choice, JobKind, SubjectKind};
pub use costs::{Extras, Purchase, SpotTerms};
pub(crate) use defaults::{
    feed_forward as usual_feed_forward, serving as usual_serving, training as usual_training,
    transformer as usual_shape,
};
pub use edition::edition;
pub use fragment::{TooLarge, with_fragment};
pub use habits::Habits;
pub use json::{from_json, read as read_text};
pub use nearest::card as nearest_card;
pub use own_card::{MOST_OWN_CARDS, OwnCard, name as own_card_name};
pub use params::{PARAMS, Param, Scope};
pub use preset::Preset;
pub use problem::{Outcome, Problem, ProblemKind, shown};
pub use query::{Parsed, decode, encode_pairs, parse, to_query};
pub(crate) use subject::{
    generation as usual_generation, network_inference as usual_network_inference,
    transcription as usual_transcription,
};
pub use work::{
    Computation, DiffusionMethod, DiffusionTraining, Generation, NetworkInference, NetworkTraining,
    PipelineOffload, Runtime, SpeechEngine, Transcription,
};

use serde::{Deserialize, Serialize};

use crate::catalog::{Billing, Currency, Transformer};
use crate::dtype::{KvFormat, WeightFormat};
use crate::plan::{Offload, Recompute, Sharding};

/// One question: a job, a model, the cards to look at, the money, the order of the answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The model to run.
    pub model: ModelChoice,
    /// What is done with it.
    pub job: Job,
    /// Which cards are looked at.
    pub shelf: Shelf,
    /// Prices, currency, limits.
    pub money: Money,
    /// Order of the answers.
    pub rank: RankBy,
}

/// A model of the catalog or one described by hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelChoice {
    /// Id of the catalog.
    Catalog(String),
    /// Shape given by the user.
    Custom(Box<Transformer>),
}

/// What is done with the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Pretraining or fine-tuning.
    Train(Training),
    /// Answering requests.
    Serve(Serving),
    /// Making images or clips.
    Generate(Generation),
    /// Training an image or video model.
    TuneDiffusion(DiffusionTraining),
    /// Training a vision network or an encoder.
    TrainNetwork(NetworkTraining),
    /// Running a vision network or an encoder over data.
    RunNetwork(NetworkInference),
    /// Turning speech into text.
    Transcribe(Transcription),
    /// Scientific computing.
    Compute(Computation),
}

impl Job {
    /// The kind of job, as one word in a link.
    pub fn kind(&self) -> JobKind {
        match self {
            Self::Train(job) => JobKind::Train(job.method),
            Self::Serve(_) => JobKind::Serve,
            Self::Generate(job) if job.frames > 1 => JobKind::Video,
            Self::Generate(_) => JobKind::Image,
            Self::TuneDiffusion(job) => JobKind::TuneDiffusion(job.method),
            Self::TrainNetwork(_) => JobKind::TrainNetwork,
            Self::RunNetwork(_) => JobKind::RunNetwork,
            Self::Transcribe(_) => JobKind::Transcribe,
            Self::Compute(_) => JobKind::Compute,
        }
    }
}

/// How weights are trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainingMethod {
    /// All weights from random.
    Pretrain,
    /// All weights from a checkpoint.
    FullFinetune,
    /// Low-rank adapters on 16-bit weights (Hu et al. 2021).
    Lora,
    /// Low-rank adapters on 4-bit weights (Dettmers et al. 2023).
    Qlora,
}

/// How much is trained on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainingAmount {
    /// Tokens in all.
    Tokens(f64),
    /// Samples of `seq_len` tokens each, passed over `epochs` times.
    Samples {
        /// Samples of the data set.
        count: f64,
        /// Passes over it.
        epochs: f64,
    },
}

/// Compute format of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainingPrecision {
    /// FP32 throughout (TF32 matrix units where the card has them).
    Fp32,
    /// FP16 compute, FP32 master weights, loss scaling.
    Fp16,
    /// BF16 compute, FP32 master weights.
    Bf16,
    /// BF16 weights, gradients and states without a master copy.
    PureBf16,
    /// FP8 matrix products, BF16 elsewhere, FP32 master weights.
    Fp8,
}

/// Optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each variant is the optimizer's own name")]
pub enum Optimizer {
    Adamw,
    /// Both moments in 8 bit (Dettmers et al. 2022).
    Adamw8bit,
    /// AdamW whose states may be paged to host memory.
    PagedAdamw8bit,
    Adafactor,
    Sgd,
    SgdMomentum,
    Muon,
    Lion,
}

/// A training job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Method.
    pub method: TrainingMethod,
    /// Amount of data.
    pub amount: TrainingAmount,
    /// Tokens of one sequence.
    pub seq_len: u32,
    /// Sequences of one optimizer step over all cards; `None`: chosen.
    pub global_batch: Option<u32>,
    /// Compute format.
    pub precision: TrainingPrecision,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Rank of the adapters (LoRA, QLoRA).
    pub lora_rank: u32,
    /// Format of the frozen weights under QLoRA.
    #[serde(default = "four_bits")]
    pub base_weights: WeightFormat,
    /// Fused attention that never writes the score matrix.
    pub flash_attention: bool,
    /// Sequences of one micro-batch per data-parallel rank; `None`: chosen.
    pub micro_batch: Option<u32>,
    /// Recomputation; `None`: chosen.
    pub recompute: Option<Recompute>,
    /// Sharding over data-parallel ranks; `None`: chosen.
    pub sharding: Option<Sharding>,
    /// Tensor-parallel ways; `None`: chosen.
    pub tensor_parallel: Option<u32>,
    /// Pipeline stages; `None`: chosen.
    pub pipeline_parallel: Option<u32>,
    /// Expert-parallel ways; `None`: chosen.
    pub expert_parallel: Option<u32>,
    /// Host offload; `None`: chosen, and only where nothing else fits.
    pub offload: Option<Offload>,
}

/// Frozen weights under QLoRA are in NF4 unless a scenario says otherwise (Dettmers et al. 2023).
const fn four_bits() -> WeightFormat {
    WeightFormat::Nf4
}

/// Inference engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each variant is the engine's own name")]
pub enum Engine {
    Vllm,
    Sglang,
    TensorrtLlm,
    LlamaCpp,
    Transformers,
    Exllama,
    Exllamav2,
    MlcLlm,
    DeepspeedMii,
    Fastertransformer,
    Mindie,
    VllmAscend,
}

/// How many ask at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Requests in flight at any time.
    Concurrency(u32),
    /// Requests that arrive in a second, on average.
    RequestsPerSecond(f64),
}

/// A serving job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Serving {
    /// Format of the weights.
    pub weights: WeightFormat,
    /// Format of the KV cache.
    pub kv: KvFormat,
    /// Tokens of a prompt, mean.
    pub prompt_tokens: u32,
    /// Tokens of an answer, mean.
    pub output_tokens: u32,
    /// Load.
    pub load: Load,
    /// Time to first token must not pass this, seconds.
    pub ttft_target_s: Option<f64>,
    /// Time per output token must not pass this, seconds.
    pub tpot_target_s: Option<f64>,
    /// Engine; `None`: the usual one for the card and the weight format.
    pub engine: Option<Engine>,
    /// Tensor-parallel ways; `None`: chosen.
    pub tensor_parallel: Option<u32>,
    /// Hours a day that the service is up.
    pub hours_per_day: f64,
    /// Answers wanted in all, for a batch job; `None`: a service that runs on.
    pub requests_total: Option<f64>,
    /// Reasoning, shared beginnings of prompts, guessed tokens, answers in bulk.
    #[serde(default)]
    pub habits: Habits,
}

impl Serving {
    /// Tokens that are written for one request: its reasoning and its answer.
    pub const fn written_tokens(&self) -> u32 {
        self.output_tokens
            .saturating_add(self.habits.thinking_tokens)
    }
}

/// Which cards and how many of them are looked at.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Shelf {
    /// Card ids; empty: all that have a price or all of the catalog (see `unpriced`).
    pub cards: Vec<String>,
    /// Show cards without a price too.
    pub unpriced: bool,
    /// Exactly this many cards; `None`: every sensible count.
    pub count: Option<u32>,
    /// Largest count looked at; `None`: as many as the job needs.
    pub max_count: Option<u32>,
    /// Memory of each card that other programs hold (a desktop, another job), GiB.
    #[serde(default)]
    pub busy_gib: f64,
    /// Cards that are not in the catalog, described by their figures.
    #[serde(default)]
    pub own: Vec<OwnCard>,
}

/// Prices and limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Money {
    /// Currency of the answers.
    pub currency: Currency,
    /// Yuan for one dollar.
    pub cny_per_usd: f64,
    /// Dollars for one euro.
    pub usd_per_eur: f64,
    /// Whose quotes are looked at first.
    pub market: PriceMarket,
    /// Share of a card that is rented; 1: whole cards.
    pub slice: f64,
    /// Unit that time is rounded up to; `None`: by the provider's rule.
    pub grain: Option<Grain>,
    /// Least time that is charged for a start, hours; `None`: by the provider's rule.
    pub minimum_hours: Option<f64>,
    /// Ways of billing that may be used; empty: by the hour or in packages up to a year, for spot
    /// may be taken away and a reserved term binds for years.
    pub billing: Vec<Billing>,
    /// The user's own prices per card-hour, in `currency`, by card id.
    pub own_prices: Vec<(String, f64)>,
    /// Most that the job (or the month, for a service) may cost, in `currency`.
    pub budget: Option<f64>,
    /// Hours within which the job must be done.
    pub deadline_hours: Option<f64>,
    /// What is paid beside the cards.
    pub extras: Extras,
    /// Machines that may be taken away.
    pub spot: SpotTerms,
    /// Buying instead of renting.
    pub purchase: Purchase,
}

/// Whose quotes a cost rests on; it does not depend on the currency of the answer. Where the
/// market has no quote for a card, the others are taken.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum PriceMarket {
    /// Platforms that quote in yuan.
    #[default]
    China,
    /// Platforms that quote in other currencies.
    Abroad,
    /// All alike.
    Anywhere,
}

/// Unit that rented time is rounded up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each variant is the unit's own name")]
pub enum Grain {
    Second,
    Minute,
    Hour,
}

/// Order of the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankBy {
    /// Lowest cost first.
    #[default]
    Cheapest,
    /// Shortest time first (serving: most tokens a second).
    Fastest,
    /// Lowest product of cost and time (serving: cost per token, then latency).
    BestValue,
}
