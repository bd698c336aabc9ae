//! Three tiers of tasks with the cards that articles on renting recommend for them, beside what the
//! same estimate as everywhere says.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{Fit, Offer, rank};
use crate::catalog::{Catalog, PriceBook};
use crate::scenario::parse;

/// A tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Small models, courses, experiments.
    Entry,
    /// Middling models and services.
    Advanced,
    /// Large models over many cards.
    Enterprise,
}

impl Tier {
    /// Every tier, the lowest first.
    pub const ALL: [Self; 3] = [Self::Entry, Self::Advanced, Self::Enterprise];

    /// Name in data and tests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Advanced => "advanced",
            Self::Enterprise => "enterprise",
        }
    }

    /// Key of its text.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Entry => "tiers.entry",
            Self::Advanced => "tiers.advanced",
            Self::Enterprise => "tiers.enterprise",
        }
    }
}

/// A task that an article recommends cards for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recommendation {
    /// Stable name; its text is `tiers.ID`.
    pub id: String,
    /// Tier.
    pub tier: Tier,
    /// Number of the article.
    pub article: String,
    /// Cards recommended, the first first.
    pub cards: Vec<String>,
    /// The task as the query of a link.
    pub query: String,
}

impl Recommendation {
    /// All that ship with the product.
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Recommendation>> = OnceLock::new();
        ALL.get_or_init(|| {
            serde_json::from_str(include_str!("../../data/tiers.json")).unwrap_or_default()
        })
    }
}

/// What the numbers say of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    /// The best offer of each recommended card that fits; `None`: none of it does.
    pub recommended: Vec<(String, Option<Offer>)>,
    /// The best offer of all cards.
    pub best: Option<Offer>,
}

/// Estimates a task on the recommended cards and on all.
pub fn compare(one: &Recommendation, catalog: &Catalog, prices: &PriceBook) -> Said {
    let best_of = |cards: &[String]| {
        let mut scenario = parse(&one.query, catalog).scenario;
        scenario.shelf.cards = cards.to_vec();
        scenario.shelf.unpriced = !cards.is_empty();
        let offers = rank(&scenario, catalog, prices).offers;
        offers.into_iter().find(|offer| offer.fit == Fit::Fits)
    };
    let recommended = one
        .cards
        .iter()
        .map(|card| (card.clone(), best_of(std::slice::from_ref(card))))
        .collect();
    Said {
        recommended,
        best: best_of(&[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_a_link_of_known_names_and_is_answered() {
        let (catalog, prices) = (Catalog::embedded(), PriceBook::embedded());
        assert!(Recommendation::all().len() >= 9);
        for one in Recommendation::all() {
            let parsed = parse(&one.query, catalog);
            assert!(
                parsed.problems.is_empty(),
                "{}: {:?}",
                one.id,
                parsed.problems
            );
            for card in &one.cards {
                assert!(catalog.card(card).is_some(), "{card}");
            }
            let said = compare(one, catalog, prices);
            assert!(said.best.is_some(), "{}", one.id);
            assert!(
                said.best.is_none_or(|best| best.price.is_some()),
                "{}",
                one.id
            );
            // A recommendation can be wrong: a 30B in 16 bits does not fit one L40.
            let any = said.recommended.iter().any(|(_, offer)| offer.is_some());
            assert!(any, "{}", one.id);
        }
    }
}
