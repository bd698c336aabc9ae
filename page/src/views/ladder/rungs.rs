//! What the ladder ranks by, and who stands on it.

use cardfit::catalog::{Card, Catalog, Currency, Market, Vendor};
use cardfit::offers::{Fit, Offer, Run};
use cardfit::scenario::{Job, Scenario, TrainingPrecision};
use cardfit::text::{Lang, text};

use crate::answer::{Answer, AnswerKind, cost};
use crate::format;

/// What cards are ranked by; more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Work of this scenario that one card does.
    Work,
    /// Work for money.
    Value,
    /// Dense BF16 on matrix units (FP16 where a card has no BF16).
    Bf16,
    /// Dense FP8.
    Fp8,
    /// Dense FP4.
    Fp4,
    /// Dense INT8.
    Int8,
    /// FP32 on vector units.
    Fp32,
    /// FP64, matrix units first.
    Fp64,
    /// Memory bandwidth.
    Bandwidth,
    /// Memory that programs can use.
    Memory,
}

impl Metric {
    /// Every metric, in the order in which they are offered.
    pub const ALL: [Self; 10] = [
        Self::Work,
        Self::Value,
        Self::Bf16,
        Self::Fp8,
        Self::Fp4,
        Self::Int8,
        Self::Fp32,
        Self::Fp64,
        Self::Bandwidth,
        Self::Memory,
    ];

    /// Name in links.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Value => "value",
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
            Self::Fp4 => "fp4",
            Self::Int8 => "int8",
            Self::Fp32 => "fp32",
            Self::Fp64 => "fp64",
            Self::Bandwidth => "bandwidth",
            Self::Memory => "memory",
        }
    }

    /// The metric of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Key of its label.
    pub fn label_key(self) -> &'static str {
        match self {
            Self::Work => "ladder.by.work",
            Self::Value => "ladder.by.value",
            Self::Bf16 => "ladder.by.bf16",
            Self::Fp8 => "ladder.by.fp8",
            Self::Fp4 => "ladder.by.fp4",
            Self::Int8 => "ladder.by.int8",
            Self::Fp32 => "ladder.by.fp32",
            Self::Fp64 => "ladder.by.fp64",
            Self::Bandwidth => "ladder.by.bandwidth",
            Self::Memory => "ladder.by.memory",
        }
    }

    /// Key of the sentence that says what it is good for.
    pub fn lead_key(self) -> &'static str {
        match self {
            Self::Work => "ladder.lead.work",
            Self::Value => "ladder.lead.value",
            Self::Bf16 | Self::Fp8 | Self::Fp4 => "ladder.lead.matrix",
            Self::Int8 => "ladder.lead.int8",
            Self::Fp32 | Self::Fp64 => "ladder.lead.vector",
            Self::Bandwidth => "ladder.lead.bandwidth",
            Self::Memory => "ladder.lead.memory",
        }
    }

    /// The metric that decides most for a scenario: matrix units in training, bandwidth in serving.
    pub fn usual(scenario: &Scenario) -> Self {
        match &scenario.job {
            Job::Train(training) if training.precision == TrainingPrecision::Fp8 => Self::Fp8,
            Job::Train(_) => Self::Bf16,
            Job::Serve(_) => Self::Bandwidth,
            Job::Compute(_) => Self::Fp64,
            _ => Self::Work,
        }
    }

    /// The figure of a datasheet, in TFLOPS (TOPS), GB/s or GiB.
    fn of_card(self, card: &Card) -> Option<f64> {
        let peak = &card.peak_tflops;
        match self {
            Self::Work | Self::Value => None,
            Self::Bf16 => peak.bf16.or(peak.fp16),
            Self::Fp8 => peak.fp8,
            Self::Fp4 => peak.fp4,
            Self::Int8 => peak.int8,
            Self::Fp32 => peak.fp32,
            Self::Fp64 => peak.fp64_tensor.or(peak.fp64),
            Self::Bandwidth => Some(card.bandwidth_gb_s),
            Self::Memory => Some(card.usable_memory_bytes() as f64 / format::GIB),
        }
    }

    /// The figure of an offer.
    fn of_offer(self, offer: &Offer, kind: AnswerKind) -> Option<f64> {
        let cards = f64::from(offer.count);
        match self {
            Self::Work => Some(work(offer)? / cards),
            Self::Value => {
                let per_million = offer
                    .cost_per_million_output_tokens
                    .or(offer.cost_per_million_tokens);
                match per_million {
                    Some(cost) => Some(1e6 / cost.mid),
                    None => Some(1.0 / cost(offer, kind)?.mid),
                }
            }
            _ => None,
        }
    }

    /// The figure with its unit.
    pub fn say(self, lang: Lang, currency: Currency, value: f64) -> String {
        let figure = format::number(lang, value, 3);
        let key = match self {
            Self::Work => "ladder.unit.work",
            Self::Value => "ladder.unit.value",
            Self::Int8 => "ladder.unit.tops",
            Self::Bandwidth => "ladder.unit.gb_s",
            Self::Memory => return format!("{value:.1} GiB"),
            _ => "ladder.unit.tflops",
        };
        let symbol = format::symbol(currency);
        text(lang, key, &[("n", &figure), ("currency", symbol)])
    }
}

/// Tokens a second over all cards; of a job without tokens, jobs a day.
fn work(offer: &Offer) -> Option<f64> {
    match offer.run.as_ref()? {
        Run::Train { speed, .. } => Some(speed.tokens_per_s.mid),
        Run::Serve { speed, .. } => Some(speed.tokens_per_s_total.mid),
        Run::Work { .. } => Some(24.0 / offer.hours?.mid),
    }
}

/// How large a card is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Up to 24 GB.
    Entry,
    /// In between.
    Enterprise,
    /// A server card with 2 TB/s and more.
    Flagship,
}

impl Tier {
    /// Every tier, smallest first.
    pub const ALL: [Self; 3] = [Self::Entry, Self::Enterprise, Self::Flagship];

    /// Name in links.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Enterprise => "enterprise",
            Self::Flagship => "flagship",
        }
    }

    /// The tier of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }

    /// Key of its label.
    pub fn label_key(self) -> &'static str {
        match self {
            Self::Entry => "ladder.tier.entry",
            Self::Enterprise => "ladder.tier.enterprise",
            Self::Flagship => "ladder.tier.flagship",
        }
    }

    /// The tier of a card.
    pub fn of_card(card: &Card) -> Self {
        const FLAGSHIP_GB_S: f64 = 2000.0;
        const ENTRY_GIB: f64 = 24.0;
        if card.market == Market::Datacenter && card.bandwidth_gb_s >= FLAGSHIP_GB_S {
            Self::Flagship
        } else if card.memory_gib <= ENTRY_GIB {
            Self::Entry
        } else {
            Self::Enterprise
        }
    }
}

/// Whose cards are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Makers {
    /// Everybody's.
    #[default]
    All,
    /// NVIDIA's.
    Nvidia,
    /// AMD's.
    Amd,
    /// Those of makers in China.
    Chinese,
    /// The rest.
    Others,
}

impl Makers {
    /// Every choice.
    pub const ALL: [Self; 5] = [
        Self::All,
        Self::Nvidia,
        Self::Amd,
        Self::Chinese,
        Self::Others,
    ];

    /// Name in links.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Nvidia => "nvidia",
            Self::Amd => "amd",
            Self::Chinese => "cn",
            Self::Others => "others",
        }
    }

    /// The choice of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|makers| makers.name() == name)
    }

    /// Key of its label.
    pub fn label_key(self) -> &'static str {
        match self {
            Self::All => "ladder.all",
            Self::Nvidia => "page.vendor.nvidia",
            Self::Amd => "page.vendor.amd",
            Self::Chinese => "ladder.vendor.cn",
            Self::Others => "ladder.vendor.others",
        }
    }

    /// Whether a maker is among them.
    pub fn has(self, vendor: Vendor) -> bool {
        let chinese = !matches!(
            vendor,
            Vendor::Nvidia | Vendor::Amd | Vendor::Intel | Vendor::Google | Vendor::Aws
        );
        match self {
            Self::All => true,
            Self::Nvidia => vendor == Vendor::Nvidia,
            Self::Amd => vendor == Vendor::Amd,
            Self::Chinese => chinese,
            Self::Others => !chinese && !matches!(vendor, Vendor::Nvidia | Vendor::Amd),
        }
    }
}

/// One card and its figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// The card.
    pub card: &'static Card,
    /// Its figure, in the metric's unit.
    pub value: f64,
    /// Whether it fits the scenario, where it was looked at.
    pub fit: Option<Fit>,
}

/// Cards that have the figure, the largest first.
pub fn rungs(
    catalog: &'static Catalog,
    answer: &Answer,
    metric: Metric,
    tier: Option<Tier>,
    makers: Makers,
) -> Vec<Rung> {
    let mut rungs: Vec<Rung> = catalog
        .cards
        .iter()
        .filter(|card| makers.has(card.vendor))
        .filter(|card| tier.is_none_or(|tier| tier == Tier::of_card(card)))
        .filter_map(|card| {
            let best = answer.row(&card.id).map(|row| &row.best);
            let value = metric
                .of_card(card)
                .or_else(|| metric.of_offer(best?, answer.kind))
                .filter(|value| value.is_finite() && *value > 0.0)?;
            let fit = best.map(|offer| offer.fit.clone());
            Some(Rung { card, value, fit })
        })
        .collect();
    rungs.sort_by(|a, b| b.value.total_cmp(&a.value));
    rungs
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardfit::catalog::PriceBook;
    use cardfit::offers::rank;
    use cardfit::scenario::parse;

    fn answer(link: &str) -> Answer {
        let catalog = Catalog::embedded();
        let scenario = parse(link, catalog).scenario;
        let ranking = rank(&scenario, catalog, PriceBook::embedded());
        Answer::new(&ranking, &scenario)
    }

    #[test]
    fn every_card_stands_in_one_tier_and_with_one_group_of_makers() {
        for card in Catalog::embedded().cards.iter() {
            let groups = [Makers::Nvidia, Makers::Amd, Makers::Chinese, Makers::Others];
            let of = groups.into_iter().filter(|m| m.has(card.vendor)).count();
            assert_eq!(of, 1, "{}", card.id);
        }
        let tier = |id: &str| Tier::of_card(Catalog::embedded().card(id).unwrap());
        assert_eq!(tier("rtx-4090"), Tier::Entry);
        assert_eq!(tier("l40s"), Tier::Enterprise);
        assert_eq!(tier("h100-sxm-80gb"), Tier::Flagship);
    }

    #[test]
    fn the_ladder_is_sorted_and_filtered() {
        let answer = answer("m=qwen2.5-7b&do=lora&cards=rtx-4090,a100-sxm4-80gb");
        let all = rungs(
            Catalog::embedded(),
            &answer,
            Metric::Bandwidth,
            None,
            Makers::All,
        );
        assert_eq!(all.len(), Catalog::embedded().cards.len());
        assert!(all.windows(2).all(|w| w[0].value >= w[1].value));
        let work = rungs(
            Catalog::embedded(),
            &answer,
            Metric::Work,
            None,
            Makers::All,
        );
        let ids: Vec<&str> = work.iter().map(|rung| rung.card.id.as_str()).collect();
        assert_eq!(ids, ["a100-sxm4-80gb", "rtx-4090"]);
        assert!(work.iter().all(|rung| rung.fit.is_some()));
        let amd = rungs(
            Catalog::embedded(),
            &answer,
            Metric::Memory,
            Some(Tier::Flagship),
            Makers::Amd,
        );
        assert!(!amd.is_empty() && amd.iter().all(|r| r.card.vendor == Vendor::Amd));
    }
}
