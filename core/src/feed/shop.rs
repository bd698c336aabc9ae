//! A feed as something to answer a scenario with: the operator's cards and prices, nothing else.

use std::borrow::Cow;
use std::collections::HashMap;

use super::order_link::OrderChoice;
use super::{Feed, FeedOffer, StockState};
use crate::catalog::{Billing, Card, Catalog, PriceBook, PriceOffer};
use crate::offers::{self, Fit, Offer, Ranking, Remedy};
use crate::scenario::{Choice, Scenario, decode, to_query};
use crate::text::Lang;

/// Differently sold kinds of one card that are looked at, so that no feed can slow the page down.
pub(super) const KINDS_OF_A_CARD: usize = 8;

/// An operator's shelf.
#[derive(Debug, Clone)]
pub struct Shop {
    feed: Feed,
    /// Cards and prices that can be looked at together: within a layer each card is sold in one way.
    layers: Vec<Layer>,
    /// Place in the feed of an offer's id.
    places: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
struct Layer {
    catalog: Catalog,
    prices: PriceBook,
    /// Place in the feed of one offer of each card, all of which are sold alike.
    kinds: HashMap<String, usize>,
}

impl Layer {
    fn empty(catalog: &Catalog) -> Self {
        Self {
            catalog: Catalog {
                cards: Cow::default(),
                ..catalog.clone()
            },
            prices: PriceBook::default(),
            kinds: HashMap::new(),
        }
    }
}

/// What an offer of the ranking is in the feed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShopOffer<'a> {
    /// The feed's offer.
    pub offer: &'a FeedOffer,
    /// Whether that many cards are there.
    pub supply: Supply,
}

/// Whether the number of cards wanted is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supply {
    /// It is.
    InStock,
    /// It is, and few more are.
    Low,
    /// Only this many cards are free.
    Short {
        /// Cards that are free.
        free_cards: u32,
    },
    /// None is left.
    Out,
}

impl Shop {
    /// The shelf of a feed, over the models of `catalog`.
    pub fn new(feed: Feed, catalog: &Catalog) -> Self {
        let mut layers: Vec<Layer> = Vec::new();
        for (place, offer) in feed.offers.iter().enumerate() {
            let same_kind = |layer: &Layer| {
                let known = layer.kinds.get(&offer.card);
                known
                    .and_then(|at| feed.offers.get(*at))
                    .is_none_or(|known| sold_alike(known, offer))
            };
            let at = layers.iter().position(same_kind).unwrap_or(layers.len());
            if at == KINDS_OF_A_CARD {
                continue;
            }
            if at == layers.len() {
                layers.push(Layer::empty(catalog));
            }
            let Some(layer) = layers.get_mut(at) else {
                continue;
            };
            if !layer.kinds.contains_key(&offer.card) {
                let Some(card) = catalog.card(&offer.card) else {
                    continue;
                };
                layer.catalog.cards.to_mut().push(as_sold(card, offer));
                layer.kinds.insert(offer.card.clone(), place);
            }
            layer.prices.offers.extend(rows(&feed, offer));
        }
        let places = feed
            .offers
            .iter()
            .enumerate()
            .map(|(place, offer)| (offer.id.clone(), place))
            .collect();
        Self {
            feed,
            layers,
            places,
        }
    }

    /// The feed itself.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Ids of the cards that are sold, in the feed's order.
    pub fn cards(&self) -> Vec<&str> {
        let mut cards: Vec<&str> = Vec::new();
        for offer in &self.feed.offers {
            if !cards.contains(&offer.card.as_str()) {
                cards.push(&offer.card);
            }
        }
        cards
    }

    /// Answers a scenario from this shelf alone: numbers that are not sold are left out, what is
    /// not in stock comes last.
    pub fn rank(&self, scenario: &Scenario) -> Ranking {
        let mut offers: Vec<Offer> = Vec::new();
        let mut assumptions = Vec::new();
        for layer in &self.layers {
            let ranking = offers::rank(scenario, &layer.catalog, &layer.prices);
            for assumption in ranking.assumptions {
                if !assumptions.contains(&assumption) {
                    assumptions.push(assumption);
                }
            }
            for mut offer in ranking.offers {
                let kind = layer
                    .kinds
                    .get(&offer.card)
                    .and_then(|at| self.feed.offers.get(*at));
                let Some(kind) = kind.filter(|kind| kind.sells(offer.count)) else {
                    continue;
                };
                keep_sold_remedies(&mut offer, kind);
                offers.push(offer);
            }
        }
        offers::sort(&mut offers, scenario);
        // Sorting is stable: within the same card and number the better offer stands first.
        let is_there = |offer: &Offer| {
            self.find(offer)
                .is_none_or(|found| matches!(found.supply, Supply::InStock | Supply::Low))
        };
        let (there, gone): (Vec<Offer>, Vec<Offer>) = offers.into_iter().partition(is_there);
        let mut seen = std::collections::HashSet::new();
        let mut offers = Vec::with_capacity(there.len() + gone.len());
        for offer in there.into_iter().chain(gone) {
            if seen.insert((offer.card.clone(), offer.count)) {
                offers.push(offer);
            }
        }
        let mut first = std::collections::HashSet::new();
        for offer in &mut offers {
            offer.best_of_card = first.insert(offer.card.clone());
        }
        Ranking {
            offers,
            assumptions,
        }
    }

    /// The feed's offer behind one of the ranking: the one whose price was used, or, at a price of
    /// the user's own, the first that sells that many.
    pub fn find(&self, offer: &Offer) -> Option<ShopOffer<'_>> {
        let used = offer.price.as_ref().and_then(|price| {
            price.provider.as_ref()?;
            self.places.get(price.source.as_deref()?)
        });
        let found = match used {
            Some(place) => self.feed.offers.get(*place),
            None => self
                .feed
                .offers
                .iter()
                .find(|o| o.card == offer.card && o.sells(offer.count)),
        }?;
        Some(ShopOffer {
            offer: found,
            supply: supply(found, offer.count),
        })
    }

    /// The address where an offer of the ranking is ordered.
    pub fn order_url(
        &self,
        offer: &Offer,
        scenario: &Scenario,
        lang: Lang,
        reference: &str,
    ) -> Option<String> {
        let found = self.find(offer)?;
        let template = found.offer.order.as_ref()?;
        let link = to_query(scenario);
        let said = |name: &str| {
            let (pairs, _) = decode(&link);
            pairs
                .into_iter()
                .find(|(known, _)| known == name)
                .map_or_else(String::new, |(_, value)| value)
        };
        Some(
            template.fill(&OrderChoice {
                offer: found.offer.id.clone(),
                gpu: offer.card.clone(),
                count: offer.count,
                mode: offer
                    .price
                    .as_ref()
                    .map_or("hourly", |price| mode_name(price.billing))
                    .to_owned(),
                hours: offer.hours.map(|hours| hours.mid),
                model: said("m"),
                job: said("do"),
                scenario: link.clone(),
                lang: lang.tag().to_owned(),
                reference: reference.to_owned(),
            }),
        )
    }
}

/// Name of a billing as the feed's `mode` writes it.
pub fn mode_name(billing: Billing) -> &'static str {
    match billing {
        Billing::OnDemand => "hourly",
        Billing::Reserved1y | Billing::Reserved3y => "reserved",
        other => other.name(),
    }
}

fn supply(offer: &FeedOffer, count: u32) -> Supply {
    match (offer.stock.state, offer.stock.free_cards) {
        (StockState::Out, _) | (_, Some(0)) => Supply::Out,
        (_, Some(free_cards)) if free_cards < count => Supply::Short { free_cards },
        (StockState::Low, _) => Supply::Low,
        (StockState::InStock, _) => Supply::InStock,
    }
}

/// Whether two offers of a card can share an answer: the same machines, and both there or both not.
fn sold_alike(a: &FeedOffer, b: &FeedOffer) -> bool {
    let gone = |o: &FeedOffer| o.stock.state == StockState::Out || o.stock.free_cards == Some(0);
    a.counts == b.counts
        && a.max_nodes == b.max_nodes
        && a.node_only == b.node_only
        && a.stock.most_cards == b.stock.most_cards
        && gone(a) == gone(b)
}

/// The card in the operator's machines.
fn as_sold(card: &Card, offer: &FeedOffer) -> Card {
    let mut card = card.clone();
    if let Some(node) = offer.node_cards() {
        card.link.cards_per_node = node;
    }
    card
}

fn rows<'a>(feed: &'a Feed, offer: &'a FeedOffer) -> impl Iterator<Item = PriceOffer> + 'a {
    let together = match (offer.node_only, offer.node_cards()) {
        (true, Some(node)) => node,
        _ => 1,
    };
    offer.prices.iter().map(move |price| PriceOffer {
        card: offer.card.clone(),
        provider: offer
            .provider
            .clone()
            .unwrap_or_else(|| feed.provider.clone()),
        region: offer.region.as_ref().map(|region| region.en.clone()),
        billing: price.billing,
        currency: feed.currency,
        price_per_card: price.price_per_card,
        cards_together: together,
        as_of: feed.generated_at.chars().take(10).collect(),
        source: offer.id.as_str().into(),
        variant_stated: true,
        low_confidence: false,
        notes: None,
        tenancy: None,
        share: None,
    })
}

/// Takes out of an offer the advice to take a number of cards that nobody can order.
fn keep_sold_remedies(offer: &mut Offer, kind: &FeedOffer) {
    let sold = |remedy: &Remedy| !matches!(remedy, Remedy::Cards(n) if !kind.sells(*n));
    offer.remedies.retain(sold);
    let first = offer.remedies.first().copied();
    match &mut offer.fit {
        Fit::Fits => {}
        Fit::Tight { relief: remedy } | Fit::TooSmall { remedy, .. } => {
            *remedy = remedy.filter(sold).or(first);
        }
    }
}
