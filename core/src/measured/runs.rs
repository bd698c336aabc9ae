//! Published training runs as worked examples: what a run took by its authors' account, the link
//! that opens it as a scenario, and what the estimate says.

use std::fmt::Write as _;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, PriceBook};
use crate::estimate::training::{Convention, CountedAttention, Habits, TrainingJob, counted_flops};
use crate::offers::rank;
use crate::range::Range;
use crate::scenario::{Job, ModelChoice, parse};

/// A published run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRun {
    /// Short id.
    pub id: String,
    /// Name of the model, as people write it.
    pub name: String,
    /// Who trained it.
    pub by: String,
    /// Query of the link that opens the scenario.
    pub query: String,
    /// Card id; `None` where none is published.
    pub card: Option<String>,
    /// Cards in all; `None` where none is published.
    pub cards: Option<u32>,
    /// Tokens trained on.
    pub tokens: f64,
    /// What was published.
    pub metric: RunMetric,
    /// Its value.
    pub value: f64,
    /// Where it was published.
    pub source: String,
    /// Written down from a known document without opening it again.
    pub recalled: bool,
    /// What a reader must know, in English.
    pub note: String,
}

/// What is published of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunMetric {
    /// Cards times hours.
    CardHours,
    /// Days from start to end.
    Days,
    /// FLOPs, attention not counted.
    Flops,
}

/// Every published run, in the order of the file.
pub fn runs() -> &'static [PublishedRun] {
    static RUNS: OnceLock<Vec<PublishedRun>> = OnceLock::new();
    RUNS.get_or_init(|| {
        serde_json::from_str(include_str!("../../data/runs.json")).unwrap_or_default()
    })
}

impl PublishedRun {
    /// The estimate in the metric of the run, from the offer of its card in its count; `None` where
    /// the scenario cannot be answered.
    pub fn estimate(&self, catalog: &Catalog, prices: &PriceBook) -> Option<Range> {
        let scenario = parse(&self.query, catalog).scenario;
        if self.metric == RunMetric::Flops {
            let Job::Train(training) = &scenario.job else {
                return None;
            };
            let ModelChoice::Catalog(id) = &scenario.model else {
                return None;
            };
            let model = catalog.model(id)?;
            let job = TrainingJob {
                model,
                method: training.method,
                base_weights: crate::dtype::WeightFormat::Bf16,
                seq_len: training.seq_len,
                precision: training.precision,
                optimizer: training.optimizer,
                lora_rank: training.lora_rank,
                flash_attention: training.flash_attention,
                habits: Habits::default(),
            };
            let without_attention = Convention {
                attention: CountedAttention::None,
                recompute: false,
                head: true,
            };
            return Some(Range::exact(
                counted_flops(&job, without_attention) * self.tokens,
            ));
        }
        let ranking = rank(&scenario, catalog, prices);
        let offer = ranking.offers.iter().find(|offer| {
            self.card.as_ref().is_none_or(|card| *card == offer.card)
                && self.cards.is_none_or(|cards| cards == offer.count)
                && offer.hours.is_some()
        })?;
        let hours = offer.hours?;
        Some(match self.metric {
            RunMetric::CardHours => hours.scale(f64::from(offer.count)),
            _ => hours.scale(1.0 / 24.0),
        })
    }
}

/// The runs as a section of the accuracy page, in Markdown.
pub fn section(catalog: &Catalog, prices: &PriceBook) -> String {
    let mut out = String::from(
        "## Published training runs\n\n\
         Totals that the authors published, beside the estimate of the scenario that the run's link opens. A total \
         counts restarts, evaluation and failures, which an estimate does not, and where the number of cards is not \
         published it is assumed, so most of these estimates are expected to lie below.\n\n\
         | run | cards | tokens | published | estimate | estimate / published |\n\
         | --- | --- | ---: | ---: | ---: | ---: |\n",
    );
    for run in runs() {
        let cards = match (&run.card, run.cards) {
            (Some(card), Some(cards)) => format!("{cards} x {card}"),
            _ => "-".to_owned(),
        };
        let unit = match run.metric {
            RunMetric::CardHours => "card-hours",
            RunMetric::Days => "days",
            RunMetric::Flops => "FLOPs",
        };
        let (estimate, ratio) = match run.estimate(catalog, prices) {
            Some(range) => (
                figure(range.mid, run.metric),
                format!("{:.2}", range.mid / run.value),
            ),
            None => ("-".to_owned(), "-".to_owned()),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| [{}]({}) | {cards} | {:.3}T | {} {unit} | {estimate} | {ratio} |",
            run.name,
            source_link(&run.source),
            run.tokens / 1e12,
            figure(run.value, run.metric),
        );
    }
    out.push('\n');
    out
}

/// The address in a source, or all of it.
fn source_link(source: &str) -> &str {
    source
        .split([' ', ','])
        .find(|word| word.starts_with("https://"))
        .unwrap_or(source)
}

fn figure(value: f64, metric: RunMetric) -> String {
    match metric {
        RunMetric::CardHours => format!("{value:.0}"),
        RunMetric::Days => format!("{value:.1}"),
        RunMetric::Flops => format!("{value:.3e}"),
    }
}
