//! Offers in the form in which they leave the product: messages of the widget, events of the element, the ES module.
//!
//! Units stand in the names; money is in `currency`. Fields may be added; none changes its meaning within
//! [`CONTRACT_VERSION`](super::CONTRACT_VERSION). `embed/cardfit.d.ts` states the same shape for TypeScript.

use serde::Serialize;

use super::CONTRACT_VERSION;
use crate::catalog::{Billing, Catalog, Currency};
use crate::feed::{Shop, Supply};
use crate::offers::{Assumption, Fit, Miss, Offer, Ranking, Remedy, Run};
use crate::range::Range;
use crate::scenario::{Scenario, to_query};
use crate::text::Lang;

const GIB: f64 = 1_073_741_824.0;

/// The answer to a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// [`CONTRACT_VERSION`].
    pub version: u32,
    /// The scenario as the query of a link.
    pub scenario: String,
    /// Currency of every cost.
    pub currency: Currency,
    /// Cards whose best number fits, is tight, is too small.
    pub cards: Tally,
    /// Offers, best first; by default one a card.
    pub offers: Vec<AnswerOffer>,
    /// What was taken for granted, for all offers.
    pub assumptions: Vec<Assumption>,
}

/// How many cards fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Fit.
    pub fits: usize,
    /// Fit only by the lower end of their memory range.
    pub tight: usize,
    /// Do not fit in any number looked at.
    pub too_small: usize,
}

/// One card in one number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerOffer {
    /// Card id of the catalog.
    pub card: String,
    /// The card's name in the language asked for.
    pub card_name: String,
    /// Number of cards.
    pub count: u32,
    /// Whether it fits: `fits`, `tight` or `too_small`.
    pub fit: &'static str,
    /// GiB missing on the fullest card, where it is too small.
    pub missing_gib: Option<f64>,
    /// Memory needed on the fullest card, GiB.
    pub memory_gib: Range,
    /// Memory of one card that software can use, GiB.
    pub usable_memory_gib: f64,
    /// Time of the whole job, hours; none for a service.
    pub hours: Option<Range>,
    /// Output tokens a second for one user; services only.
    pub tokens_per_s_user: Option<Range>,
    /// Output tokens a second over all cards; services only.
    pub tokens_per_s_total: Option<Range>,
    /// Time to first token, seconds; services only.
    pub ttft_s: Option<Range>,
    /// Cost of the job; none for a service.
    pub cost_of_job: Option<Range>,
    /// Cost of a month of 30 days.
    pub cost_per_month: Option<Range>,
    /// Cost of an hour of all cards.
    pub cost_per_hour: Option<Range>,
    /// The price that the cost rests on.
    pub price: Option<AnswerPrice>,
    /// Limits of the scenario that it misses by its middle values.
    pub misses: Vec<Miss>,
    /// Limits that it keeps by its middle values and may miss at the worse ends of its ranges; offers
    /// without any come first.
    pub may_miss: Vec<Miss>,
    /// The smallest change that would make it fit, where it does not.
    pub remedy: Option<Remedy>,
    /// The operator's offer behind it, where a feed is in use.
    pub shop: Option<AnswerShop>,
}

/// The price behind a cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerPrice {
    /// Who rents it out; none: the visitor's own price.
    pub provider: Option<String>,
    /// Billing.
    pub billing: Billing,
    /// Price of a card-hour in the answer's currency.
    pub per_card_hour: f64,
    /// Cards that are paid for.
    pub charged_cards: u32,
    /// Day of the price.
    pub as_of: Option<String>,
}

/// What the operator's feed says of an offer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerShop {
    /// The operator's id.
    pub offer_id: String,
    /// Region, in the language asked for.
    pub region: Option<String>,
    /// `in_stock`, `low`, `short` or `out`.
    pub stock: &'static str,
    /// Where it is ordered.
    pub order_url: Option<String>,
}

/// Where the offers come from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Cards and reference prices of the product.
    Reference,
    /// An operator's shelf.
    Shop(&'a Shop),
}

/// How an answer is handed out.
#[derive(Debug, Clone, Copy)]
pub struct Form<'a> {
    /// Language of names.
    pub lang: Lang,
    /// Most offers.
    pub limit: usize,
    /// Every number of each card, rather than the best.
    pub all_counts: bool,
    /// What comes back in order links.
    pub reference: &'a str,
}

impl Answer {
    /// A ranking in the handed-out form.
    pub fn new(ranking: &Ranking, scenario: &Scenario, source: Source<'_>, form: Form<'_>) -> Self {
        let mut cards = Tally::default();
        for offer in ranking.offers.iter().filter(|o| o.best_of_card) {
            match offer.fit {
                Fit::Fits => cards.fits += 1,
                Fit::Tight { .. } => cards.tight += 1,
                Fit::TooSmall { .. } => cards.too_small += 1,
            }
        }
        Self {
            version: CONTRACT_VERSION,
            scenario: to_query(scenario),
            currency: scenario.money.currency,
            cards,
            offers: ranking
                .offers
                .iter()
                .filter(|offer| form.all_counts || offer.best_of_card)
                .take(form.limit)
                .map(|offer| AnswerOffer::new(offer, scenario, source, form))
                .collect(),
            assumptions: ranking.assumptions.clone(),
        }
    }
}

impl AnswerOffer {
    /// One offer in the handed-out form.
    pub fn new(offer: &Offer, scenario: &Scenario, source: Source<'_>, form: Form<'_>) -> Self {
        let speed = match &offer.run {
            Some(Run::Serve { speed, .. }) => Some(speed),
            _ => None,
        };
        let (fit, missing, remedy) = match &offer.fit {
            Fit::Fits => ("fits", None, None),
            Fit::Tight { relief } => ("tight", None, *relief),
            Fit::TooSmall {
                missing_bytes,
                remedy,
            } => ("too_small", Some(*missing_bytes as f64 / GIB), *remedy),
        };
        let card = Catalog::embedded().card(&offer.card);
        let card_name = card.map_or(&offer.card, |card| match (form.lang, &card.name_zh) {
            (Lang::ZhCn, Some(name)) => name,
            _ => &card.name,
        });
        Self {
            card: offer.card.clone(),
            card_name: card_name.clone(),
            count: offer.count,
            fit,
            missing_gib: missing,
            memory_gib: offer.memory.needed_bytes.scale(1.0 / GIB),
            usable_memory_gib: offer.usable_memory_bytes as f64 / GIB,
            hours: offer.hours,
            tokens_per_s_user: speed.map(|s| s.tokens_per_s_user),
            tokens_per_s_total: speed.map(|s| s.tokens_per_s_total),
            ttft_s: speed.map(|s| s.ttft_s),
            cost_of_job: offer.cost_of_job,
            cost_per_month: offer.cost_per_month,
            cost_per_hour: offer.cost_per_hour,
            price: offer.price.as_ref().map(|price| AnswerPrice {
                provider: price.provider.clone(),
                billing: price.billing,
                per_card_hour: price.converted_per_card_hour,
                charged_cards: price.charged_cards,
                as_of: price.as_of.clone(),
            }),
            misses: offer.misses.clone(),
            may_miss: offer.may_miss.clone(),
            remedy,
            shop: match source {
                Source::Reference => None,
                Source::Shop(shop) => shop.find(offer).map(|found| AnswerShop {
                    offer_id: found.offer.id.clone(),
                    region: found
                        .offer
                        .region
                        .as_ref()
                        .map(|region| region.in_lang(form.lang).to_owned()),
                    stock: match found.supply {
                        Supply::InStock => "in_stock",
                        Supply::Low => "low",
                        Supply::Short { .. } => "short",
                        Supply::Out => "out",
                    },
                    order_url: shop.order_url(offer, scenario, form.lang, form.reference),
                }),
            },
        }
    }
}
