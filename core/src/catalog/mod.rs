//! The catalog: cards, models and prices, read from the data files under `core/data/`.
//!
//! Types only describe; every figure and its source lives in a data file.

mod card;
mod count;
mod model;
mod price;

use std::sync::OnceLock;

pub use card::{Card, CardLink, Confidence, Market, MeasuredMatmul, Node, PeakTflops, Vendor};
pub use count::mean_causal_context;
pub use model::{AttentionGroup, AttentionKind, ExpertLayers, Model, Sparse, Transformer};
pub use price::{Billing, Credit, Currency, PriceBook, PriceOffer, Tenancy};

/// Why a data file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The cards' file.
    #[error("cards: {0}")]
    Cards(String),
    /// The models' file.
    #[error("models: {0}")]
    Models(String),
    /// The prices' file.
    #[error("prices: {0}")]
    Prices(String),
}

/// All that ships with the product.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Cards, in the data file's order.
    pub cards: Vec<Card>,
    /// Language models, in the data file's order.
    pub models: Vec<Model>,
}

impl Catalog {
    /// The catalog that ships with the product, read once.
    ///
    /// The files are parsed by the tests; were one ever unreadable, the catalog is empty.
    pub fn embedded() -> &'static Self {
        static CATALOG: OnceLock<Catalog> = OnceLock::new();
        CATALOG.get_or_init(|| {
            Self::parse(
                include_str!("../../data/cards.json"),
                include_str!("../../data/models.json"),
            )
            .unwrap_or_default()
        })
    }

    /// Reads cards and models in the form of `core/data/cards.json` and `core/data/models.json`.
    ///
    /// # Errors
    /// When a file is not JSON or an entry is not of its type; the message names the line.
    pub fn parse(cards_json: &str, models_json: &str) -> Result<Self, CatalogError> {
        Ok(Self {
            cards: serde_json::from_str(cards_json)
                .map_err(|e| CatalogError::Cards(e.to_string()))?,
            models: serde_json::from_str(models_json)
                .map_err(|e| CatalogError::Models(e.to_string()))?,
        })
    }

    /// The card of that id, name or alias; case, spaces and dashes do not matter.
    pub fn card(&self, id: &str) -> Option<&Card> {
        let wanted = comparable(id);
        self.cards.iter().find(|c| c.id == id).or_else(|| {
            self.cards.iter().find(|c| {
                [&c.id, &c.name]
                    .into_iter()
                    .chain(&c.name_zh)
                    .chain(&c.aliases)
                    .any(|n| comparable(n) == wanted)
            })
        })
    }

    /// The model of that id, name or alias; case, spaces and dashes do not matter.
    pub fn model(&self, id: &str) -> Option<&Model> {
        let wanted = comparable(id);
        self.models.iter().find(|m| m.id == id).or_else(|| {
            self.models.iter().find(|m| {
                [&m.id, &m.name]
                    .into_iter()
                    .chain(&m.aliases)
                    .any(|n| comparable(n) == wanted)
            })
        })
    }
}

/// A name as it is compared: lower case, letters, digits and dots only, makers' words left out
/// (`NVIDIA GeForce RTX 4090` is `rtx4090`).
fn comparable(name: &str) -> String {
    const MAKERS_WORDS: [&str; 6] = ["nvidia", "geforce", "tesla", "amd", "instinct", "radeon"];
    name.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '.')
        .filter(|word| !MAKERS_WORDS.contains(word))
        .collect()
}
