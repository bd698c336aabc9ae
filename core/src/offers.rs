//! Ranked offers: what fits, how long it takes, what it costs, and why the rest does not.

use serde::Serialize;

use crate::catalog::{Billing, Catalog, Currency, PriceBook};
use crate::estimate::{MemoryEstimate, ServingSpeed, TrainingSpeed};
use crate::plan::{ServingPlan, TrainingPlan};
use crate::range::Range;
use crate::scenario::Scenario;

/// The answer to a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// Offers that fit, best first by the scenario's order, then the tight ones, then those
    /// that do not fit, least missing first.
    pub offers: Vec<Offer>,
    /// What was assumed, for all offers.
    pub assumptions: Vec<Assumption>,
}

/// One card in one count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Offer {
    /// Card id.
    pub card: String,
    /// Cards in all.
    pub count: u32,
    /// Nodes they stand in.
    pub nodes: u32,
    /// Whether it fits.
    pub fit: Fit,
    /// Memory of the fullest card.
    pub memory: MemoryEstimate,
    /// Bytes that software can allocate on one card.
    pub usable_memory_bytes: u64,
    /// Layout and speed; `None` where it does not fit.
    pub run: Option<Run>,
    /// Time of the whole job, hours; `None` for a service or where it does not fit.
    pub hours: Option<Range>,
    /// Price used; `None`: nobody's price for this card is known.
    pub price: Option<PriceUsed>,
    /// Cost of an hour of all cards, in the scenario's currency.
    pub cost_per_hour: Option<Range>,
    /// Cost of the job, in the scenario's currency.
    pub cost_of_job: Option<Range>,
    /// Cost of a month (of 30 days) of use, in the scenario's currency.
    pub cost_per_month: Option<Range>,
    /// Which limits the offer misses.
    pub misses: Vec<Miss>,
}

/// Layout and speed of an offer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Run {
    /// A training job.
    Train {
        /// Layout.
        plan: TrainingPlan,
        /// Speed.
        speed: TrainingSpeed,
    },
    /// A service.
    Serve {
        /// Layout.
        plan: ServingPlan,
        /// Speed at the load asked for.
        speed: ServingSpeed,
        /// Requests in flight that fit over all cards.
        largest_concurrency: u32,
    },
}

/// Whether memory suffices.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "fit")]
pub enum Fit {
    /// The upper end of memory fits.
    Fits,
    /// Only the lower end fits.
    Tight {
        /// What would make it safe.
        relief: Option<Remedy>,
    },
    /// Not even the lower end fits.
    TooSmall {
        /// Bytes missing on the fullest card, at the upper end.
        missing_bytes: u64,
        /// The smallest change that would make it fit.
        remedy: Option<Remedy>,
    },
}

/// A change that would make an offer fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "remedy", content = "value")]
pub enum Remedy {
    /// Take this many cards.
    Cards(u32),
    /// Store weights in this format.
    Weights(crate::dtype::WeightFormat),
    /// Store the KV cache in this format.
    Kv(crate::dtype::KvFormat),
    /// Recompute activations.
    Recompute(crate::plan::Recompute),
    /// Shard over cards.
    Sharding(crate::plan::Sharding),
    /// Keep states in host memory.
    Offload(crate::plan::Offload),
    /// Use this method.
    Method(crate::scenario::TrainingMethod),
    /// Sequences or contexts of this many tokens.
    Tokens(u32),
    /// This many requests at once.
    Concurrency(u32),
}

/// A limit of the scenario that an offer misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Miss {
    /// Costs more than the budget.
    Budget,
    /// Takes longer than the deadline.
    Deadline,
    /// First token comes too late.
    Ttft,
    /// Tokens come too slowly.
    Tpot,
    /// Requests come faster than they can be answered.
    Load,
}

/// The price that an offer's cost rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PriceUsed {
    /// Provider, or `None` where the user gave the price.
    pub provider: Option<String>,
    /// Billing.
    pub billing: Billing,
    /// Price of a card-hour in `currency`, as quoted (a monthly price over 720 hours).
    pub price_per_card_hour: f64,
    /// Currency of the quote.
    pub currency: Currency,
    /// Day of the quote.
    pub as_of: Option<String>,
    /// Where it was read.
    pub source: Option<String>,
    /// Lowest and highest price known for this card and billing, in the scenario's currency.
    pub seen: Option<(f64, f64)>,
}

/// Something taken for granted because the scenario does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "assumption", content = "value")]
pub enum Assumption {
    /// Sequences of one optimizer step.
    GlobalBatch(u32),
    /// Network between nodes, Gb/s a node.
    NetworkGbitPerS(f64),
    /// Hours of a month.
    HoursPerMonth(f64),
    /// Yuan for a dollar.
    CnyPerUsd(f64),
    /// Sequences are packed to their full length.
    PackedSequences,
    /// All requests have the mean length.
    MeanLengths,
}

/// Answers `scenario`: one offer for every card of its shelf and every sensible count.
pub fn rank(_scenario: &Scenario, _catalog: &Catalog, _prices: &PriceBook) -> Ranking {
    Ranking {
        offers: Vec::new(),
        assumptions: Vec::new(),
    }
}
