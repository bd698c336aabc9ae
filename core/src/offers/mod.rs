//! Ranked offers: what fits, how long it takes, what it costs, and why the rest does not.

mod advice;
pub mod capability;
mod counts;
pub mod errand;
pub(crate) mod job;
mod limits;
mod money;
mod order;
mod relief;
mod rescale;
mod serving;
mod survey;
pub mod tiers;
mod training;
pub(crate) mod work;

pub use advice::{checks, rent_or_buy};
pub use limits::{Compromise, Limited, within_limits};
pub use order::{best, bolder, compare, sort};
pub use rescale::with_measured_speed;
pub use survey::Survey;

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Serialize;

use crate::catalog::{Billing, Card, Catalog, Currency, PriceBook, PriceOffer};
use crate::estimate::work::{WorkPlan, WorkSpeed};
use crate::estimate::{MemoryEstimate, ServingSpeed, TrainingSpeed};
use crate::packed::Aside;
use crate::plan::{ServingPlan, TrainingPlan};
use crate::range::Range;
use crate::rental::{Billed, CardPrices, HOURS_PER_MONTH, ModeCost};
use crate::scenario::Scenario;

/// The answer to a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// Offers that fit, then the tight ones, then those that do not fit, least missing first.
    /// Those that fit stand by how well they keep the limits ([`Keeping`]), then best first by the
    /// scenario's order.
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
    /// Time of the whole job from start to end, hours: set-up, interruptions and what else the
    /// scenario counts included; `None` for a service or where it does not fit.
    pub hours: Option<Range>,
    /// Price used; `None`: nobody's price for this card is known.
    pub price: Option<PriceUsed>,
    /// Cost of an hour of all cards, in the scenario's currency.
    pub cost_per_hour: Option<Range>,
    /// Cost of the job, in the scenario's currency.
    pub cost_of_job: Option<Range>,
    /// Cost of a month (of 30 days) of use, in the scenario's currency; a training job's cards
    /// are taken as used round the clock.
    pub cost_per_month: Option<Range>,
    /// Cost of a million output tokens at the load, in the scenario's currency; services only.
    pub cost_per_million_output_tokens: Option<Range>,
    /// Cost of a million tokens, prompts and answers counted alike, at the load; for a training
    /// job, of a million tokens trained on.
    pub cost_per_million_tokens: Option<Range>,
    /// What is paid for the job, or for a month of a service, line by line.
    pub bill: Option<Billed>,
    /// Cost of a thousand units of work (images, clips, samples, sequences, hours of audio), in the
    /// scenario's currency; such jobs only.
    pub cost_per_thousand: Option<Range>,
    /// Which limits the offer misses by its middle values.
    pub misses: Vec<Miss>,
    /// Which limits it keeps by its middle values but may miss by the ends of their ranges.
    pub may_miss: Vec<Miss>,
    /// Every change, each checked by a new estimate, that would make it fit, the smallest first;
    /// empty where it fits or nothing helps.
    pub remedies: Vec<Remedy>,
    /// What was assumed for this offer beside what was assumed for all.
    pub assumptions: Vec<Assumption>,
    /// The first of its card's offers in the ranking.
    pub best_of_card: bool,
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
        /// Requests in flight over all cards that fit and meet the latency targets.
        largest_concurrency: u32,
        /// Requests in flight over all cards that fit.
        fitting_concurrency: u32,
    },
    /// Images, clips, samples, speech or operations.
    Work {
        /// Layout.
        plan: WorkPlan,
        /// Speed.
        speed: WorkSpeed,
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
    /// Sequences of this many tokens; for a service, prompts.
    Tokens(u32),
    /// This many requests at once.
    Concurrency(u32),
    /// Use this optimizer.
    Optimizer(crate::scenario::Optimizer),
    /// This many sequences in a micro-batch.
    MicroBatch(u32),
    /// Fused attention.
    FlashAttention,
    /// Let the autoencoder work tile by tile.
    Tiling,
    /// This many samples at once.
    Batch(u32),
    /// Keep this of a pipeline in host memory.
    PipelineOffload(crate::scenario::PipelineOffload),
    /// Encode latents and prompts before training.
    Cached,
    /// Train an image or video model so.
    Diffusion(crate::scenario::DiffusionMethod),
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
    /// No deadline is given, but it takes longer than anybody waits
    /// ([`Assumption::LongestHours`]).
    TooLong,
}

/// How well an offer keeps the scenario's limits, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keeping {
    /// All of them, even at the worse ends of its ranges.
    AtWorst,
    /// All of them by its middle values; one may be missed by the end of a range.
    Likely,
    /// It misses one by its middle value.
    Not,
}

impl Offer {
    /// How well it keeps the scenario's limits.
    pub const fn keeping(&self) -> Keeping {
        match (self.misses.is_empty(), self.may_miss.is_empty()) {
            (false, _) => Keeping::Not,
            (true, false) => Keeping::Likely,
            (true, true) => Keeping::AtWorst,
        }
    }
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
    pub source: Option<Aside>,
    /// The same in the scenario's currency.
    pub converted_per_card_hour: f64,
    /// Cards that are paid for: more than the offer's where only whole nodes are sold.
    pub charged_cards: u32,
    /// Hours that are paid for at the middle of the time (of a month, for a service).
    pub billed_hours: f64,
    /// Lowest and highest price known for this card and billing, in the scenario's currency.
    pub seen: Option<(f64, f64)>,
    /// Providers over whose newest prices the middle one was taken; 0: the user's own price.
    pub providers: u32,
    /// Region of the quote, where stated.
    pub region: Option<String>,
    /// Cautions of the source.
    pub notes: Option<Aside>,
    /// The quote states this very card, and not only its chip.
    pub variant_stated: bool,
    /// Cards in reserve for machines that are taken away.
    pub spare_cards: u32,
    /// What every mode of billing comes to.
    pub modes: Vec<ModeCost>,
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
    /// Dollars for a euro.
    UsdPerEur(f64),
    /// Without a deadline, longer jobs come after all others.
    LongestHours(f64),
    /// Without a target, slower answers count as missing one, seconds a token.
    SlowestTpot(f64),
    /// Sequences are packed to their full length.
    PackedSequences,
    /// All requests have the mean length.
    MeanLengths,
    /// A request keeps its whole prompt in the cache, also what it shares with others.
    WholePromptsKept,
    /// Tokens that a step gives with its guesses.
    TokensPerStep(f64),
    /// The card has no BF16 units: the weights run in FP16.
    RunsInFp16,
    /// The card has no FP8 units: the weights are kept in 8 bit and expanded to 16 bit before each product.
    ExpandedToHalf,
    /// Times that double precision is slower than single precision on this card.
    Fp64Slowdown(f64),
    /// Model chunks of a pipeline stage (interleaved schedule).
    PipelineChunks(u32),
    /// No quote is for so many cards joined: the price is that of this many, times as many.
    ClusterOfSingles(u32),
    /// No document was read for the network and the host memory of this card's machines.
    MachineAssumed,
    /// Share of a card; others on it may take speed away.
    SliceOfCard(f64),
    /// Machines are taken away this often, times an hour each.
    InterruptionsPerHour(f64),
    /// A checkpoint is written every so many hours.
    CheckpointEvery(f64),
    /// Machines that may be taken away cost this many times as much as ones that stay.
    SpotNotWorthIt(f64),
}

/// Answers `scenario`: one offer for every card of its shelf and every sensible count. Empty
/// where the model is not in the catalog or has no weights.
pub fn rank(scenario: &Scenario, catalog: &Catalog, prices: &PriceBook) -> Ranking {
    let mut survey = Survey::new(scenario, catalog, prices);
    while survey.next_card() {}
    survey.ranking()
}

/// Offers in order, with everything that was assumed.
fn ranking(
    scenario: &Scenario,
    mut offers: Vec<Offer>,
    mut assumptions: Vec<Assumption>,
) -> Ranking {
    order::sort(&mut offers, scenario);
    assumptions.push(Assumption::HoursPerMonth(HOURS_PER_MONTH));
    assumptions.extend(money::conversions(scenario, &offers));
    if scenario.money.slice < 1.0 {
        assumptions.push(Assumption::SliceOfCard(scenario.money.slice));
    }
    Ranking {
        offers,
        assumptions,
    }
}

/// The cards that are looked at, with their prices: those that the user names, else those that
/// somebody rents out, else all. Where a share of a card is rented, the cards are that much smaller;
/// what other programs hold of them is not there.
fn shelf<'a>(
    scenario: &Scenario,
    catalog: &'a Catalog,
    book: &'a PriceBook,
) -> Vec<(Cow<'a, Card>, CardPrices<'a>)> {
    let (share, busy_gib) = (scenario.money.slice, scenario.shelf.busy_gib);
    let left_of = |card: Cow<'a, Card>| {
        let card = if share < 1.0 {
            Cow::Owned(card.slice(share))
        } else {
            card
        };
        if busy_gib > 0.0 {
            Cow::Owned(card.busy(busy_gib))
        } else {
            card
        }
    };
    // Sorted once: a book may have many more rows than there are cards.
    let mut rows: HashMap<&str, Vec<&'a PriceOffer>> = HashMap::new();
    for row in &book.offers {
        rows.entry(&row.card).or_default().push(row);
    }
    let prices_of = |card: &str| {
        let rows = rows.get(card).map_or(&[][..], Vec::as_slice);
        CardPrices::of_rows(card, &scenario.money, rows)
    };
    let priced = |card: &'a Card| {
        let prices = prices_of(&card.id);
        (left_of(Cow::Borrowed(card)), prices)
    };
    let named = &scenario.shelf.cards;
    // Whoever describes a card wants to see it, with a price or without.
    let own = scenario.shelf.own.iter().map(|own| {
        let prices = prices_of(&own.name);
        (left_of(Cow::Owned(own.card(catalog))), prices)
    });
    if named.is_empty() {
        let all = catalog.cards.iter().map(priced);
        return all
            .filter(|(_, prices)| scenario.shelf.unpriced || prices.any())
            .chain(own)
            .collect();
    }
    let mut cards: Vec<&Card> = Vec::new();
    for card in named.iter().filter_map(|id| catalog.card(id)) {
        if !cards.iter().any(|known| known.id == card.id) {
            cards.push(card);
        }
    }
    cards.into_iter().map(priced).chain(own).collect()
}
