//! What a scenario is answered from.

use std::sync::Arc;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::embed::answer::Source;
use cardfit::feed::Shop;
use cardfit::offers::{self, Ranking};
use cardfit::scenario::Scenario;

/// Cards and prices that an answer is made of.
#[derive(Debug, Clone, Default)]
pub enum Stock {
    /// The catalog with the reference prices.
    #[default]
    Reference,
    /// The catalog with the reference prices of some providers.
    Providers(Arc<PriceBook>),
    /// An operator's shelf.
    Shop(Arc<Shop>),
}

impl Stock {
    /// The reference prices of the providers of those names; case does not matter.
    pub fn of_providers(names: &[String]) -> Self {
        let named = |provider: &str| {
            names
                .iter()
                .any(|name| provider.to_lowercase().contains(&name.to_lowercase()))
        };
        let mut book = PriceBook::embedded().clone();
        book.offers.retain(|offer| named(&offer.provider));
        Self::Providers(Arc::new(book))
    }

    /// Answers a scenario; `book` holds the reference prices, with what the visitor changed of them.
    pub fn rank(&self, scenario: &Scenario, book: &PriceBook) -> Ranking {
        match self {
            Self::Reference => offers::rank(scenario, Catalog::embedded(), book),
            Self::Providers(named) => offers::rank(scenario, Catalog::embedded(), named),
            Self::Shop(shop) => shop.rank(scenario),
        }
    }

    /// The operator's shelf, where there is one.
    pub fn shop(&self) -> Option<&Arc<Shop>> {
        match self {
            Self::Shop(shop) => Some(shop),
            _ => None,
        }
    }

    /// The same, for an answer that is handed out.
    pub fn source(&self) -> Source<'_> {
        self.shop()
            .map_or(Source::Reference, |shop| Source::Shop(shop))
    }
}
