//! A card that is not in the catalog, described by its figures, in a link.
//!
//! `own` lists such cards, joined by commas:
//! `NAME:MEMORY_GIB:BANDWIDTH_GB_S:TFLOPS_16_BIT`, and after it, each of them optional,
//! `:TFLOPS_8_BIT:LINK_GB_S:CARDS_A_MACHINE:LIKE`. `LIKE` names the card of the catalog that it
//! behaves like: efficiencies that were measured on that architecture then hold for it too.

use serde::{Deserialize, Serialize};

use super::limits::{Limit, Unit};
use super::number;
use super::problem::{Outcome, Problem, ProblemKind};
use super::reader::{Reader, within};
use crate::catalog::{Card, CardLink, Catalog, Confidence, Market, PeakTflops, Vendor};

/// Most cards of one's own.
pub const MOST_OWN_CARDS: usize = 8;

/// A card described by its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnCard {
    /// Name, which is its id too.
    pub name: String,
    /// Memory, GiB.
    pub memory_gib: f64,
    /// Memory bandwidth, GB/s.
    pub bandwidth_gb_s: f64,
    /// Dense rate of 16-bit products, TFLOPS.
    pub tflops_16_bit: f64,
    /// Dense rate of 8-bit products; `None`: it has no units for them.
    pub tflops_8_bit: Option<f64>,
    /// Link between cards, sum of both directions, GB/s; `None`: PCIe 4.0.
    pub link_gb_s: Option<f64>,
    /// Cards in one machine; `None`: one.
    pub cards_per_node: Option<u32>,
    /// Id of the catalog's card that it behaves like.
    pub like: Option<String>,
}

const fn limit(min: f64, max: f64, whole: bool) -> Limit {
    Limit {
        name: "own",
        min,
        max,
        default: None,
        whole,
        unit: Unit::One,
    }
}
/// Ranges of the figures, in the order in which they are written.
pub const MEMORY_GIB: Limit = limit(0.5, 4096.0, false);
/// Memory bandwidth, GB/s.
pub const BANDWIDTH_GB_S: Limit = limit(1.0, 1e6, false);
/// Dense products, TFLOPS.
pub const TFLOPS: Limit = limit(0.01, 1e6, false);
/// Link, GB/s.
pub const LINK_GB_S: Limit = limit(0.1, 1e5, false);
/// Cards of a machine.
pub const CARDS_PER_NODE: Limit = limit(1.0, 1024.0, true);

/// Both directions of a PCIe 4.0 slot with 16 lanes, GB/s: the link where none is given.
const USUAL_LINK_GB_S: f64 = 64.0;

impl OwnCard {
    /// The card as the estimator sees it. What no figure says is taken from the card that it is
    /// like, and left out where there is none.
    pub fn card(&self, catalog: &Catalog) -> Card {
        let like = self.like.as_deref().and_then(|id| catalog.card(id));
        let link = self.link_gb_s.unwrap_or(USUAL_LINK_GB_S);
        // Faster than a PCIe 5.0 slot: a link of the card's own.
        let kind = if link > 130.0 { "own link" } else { "PCIe" };
        Card {
            id: self.name.clone(),
            name: self.name.clone(),
            name_zh: None,
            aliases: Vec::new(),
            vendor: like.map_or(Vendor::Nvidia, |c| c.vendor),
            market: like.map_or(Market::Datacenter, |c| c.market),
            architecture: like.map_or_else(|| "own".to_owned(), |c| c.architecture.clone()),
            release_year: like.map_or(2025, |c| c.release_year),
            form: like.map_or_else(|| "PCIe".to_owned(), |c| c.form.clone()),
            memory_gib: self.memory_gib,
            driver_memory_mib: None,
            runtime_memory_mib: None,
            memory_source: None,
            memory_type: like.map_or_else(|| "own".to_owned(), |c| c.memory_type.clone()),
            bandwidth_gb_s: self.bandwidth_gb_s,
            power_w: None,
            peak_tflops: PeakTflops {
                fp32: like.and_then(|c| {
                    let half = c.peak_tflops.bf16.or(c.peak_tflops.fp16)?;
                    Some(c.peak_tflops.fp32? / half * self.tflops_16_bit)
                }),
                fp16: Some(self.tflops_16_bit),
                bf16: Some(self.tflops_16_bit),
                fp8: self.tflops_8_bit,
                int8: self.tflops_8_bit,
                ..PeakTflops::default()
            },
            compute_capability: like.and_then(|c| c.compute_capability.clone()),
            link: CardLink {
                kind: kind.to_owned(),
                bidirectional_gb_s: Some(link),
                host_bidirectional_gb_s: Some(USUAL_LINK_GB_S),
                cards_per_node: self.cards_per_node.unwrap_or(1),
                pair_bridge_gb_s: None,
            },
            measured_matmul: Vec::new(),
            confidence: Confidence::OneSource,
            sources: Vec::new(),
            notes: None,
        }
    }

    fn write(&self) -> String {
        let open = |value: Option<f64>| value.map(number::write).unwrap_or_default();
        let mut parts = vec![
            self.name.clone(),
            number::write(self.memory_gib),
            number::write(self.bandwidth_gb_s),
            number::write(self.tflops_16_bit),
            open(self.tflops_8_bit),
            open(self.link_gb_s),
            open(self.cards_per_node.map(f64::from)),
            self.like.clone().unwrap_or_default(),
        ];
        while parts.last().is_some_and(String::is_empty) {
            parts.pop();
        }
        parts.join(":")
    }

    fn read(given: &str, catalog: &Catalog) -> Result<Self, ProblemKind> {
        let parts: Vec<&str> = given.split(':').map(str::trim).collect();
        let part = |at: usize| parts.get(at).copied().filter(|p| !p.is_empty());
        let number = |at: usize, limit: &Limit| match part(at) {
            Some(given) => within(given, limit).map(Some).map_err(|(kind, _)| kind),
            None => Ok(None),
        };
        let needed = |at, limit| number(at, limit)?.ok_or(ProblemKind::NotACard);
        if parts.len() > 8 {
            return Err(ProblemKind::NotACard);
        }
        let like = match part(7) {
            None => None,
            Some(name) => Some(
                catalog
                    .card(name)
                    .ok_or(ProblemKind::UnknownCard)?
                    .id
                    .clone(),
            ),
        };
        Ok(Self {
            name: name(part(0).ok_or(ProblemKind::NotACard)?).ok_or(ProblemKind::NotACard)?,
            memory_gib: needed(1, &MEMORY_GIB)?,
            bandwidth_gb_s: needed(2, &BANDWIDTH_GB_S)?,
            tflops_16_bit: needed(3, &TFLOPS)?,
            tflops_8_bit: number(4, &TFLOPS)?,
            link_gb_s: number(5, &LINK_GB_S)?,
            cards_per_node: number(6, &CARDS_PER_NODE)?.map(|n| n as u32),
            like,
        })
    }
}

/// A name without the marks that part a link's values; `None` where nothing is left.
pub fn name(given: &str) -> Option<String> {
    let kept: String = given
        .chars()
        .map(|c| {
            if matches!(c, ',' | '，' | ':') || c.is_control() {
                ' '
            } else {
                c
            }
        })
        .take(40)
        .collect();
    let kept = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    (!kept.is_empty()).then_some(kept)
}

/// Reads the cards; a bad one is noted and left out, and so is one that the catalog knows.
pub(super) fn read(reader: &mut Reader<'_>) -> Vec<OwnCard> {
    let mut cards: Vec<OwnCard> = Vec::new();
    for entry in reader.take("own").unwrap_or_default().split([',', '，']) {
        let entry = entry.trim();
        if entry.is_empty() {
            continue;
        }
        let ignored = |kind| Problem::new("own", kind, entry, Outcome::Ignored);
        match OwnCard::read(entry, reader.catalog) {
            Err(kind) => reader.problem(ignored(kind).bound("My card:48:864:181")),
            Ok(card) => {
                let known = reader.catalog.card(&card.name).is_some()
                    || cards.iter().any(|c| c.name == card.name);
                if known {
                    reader.problem(ignored(ProblemKind::Repeated));
                } else if cards.len() >= MOST_OWN_CARDS {
                    reader
                        .problem(ignored(ProblemKind::TooLarge).bound(MOST_OWN_CARDS.to_string()));
                } else {
                    cards.push(card);
                }
            }
        }
    }
    cards
}

/// The cards as the value of `own`.
pub(super) fn write(cards: &[OwnCard]) -> String {
    let each: Vec<_> = cards.iter().map(OwnCard::write).collect();
    each.join(",")
}

/// Names of the parts in a JSON scenario, in the order of a link.
pub(super) const FIELDS: [&str; 8] = [
    "name",
    "memory_gib",
    "bandwidth_gb_s",
    "tflops_16_bit",
    "tflops_8_bit",
    "link_gb_s",
    "cards_per_node",
    "like",
];
