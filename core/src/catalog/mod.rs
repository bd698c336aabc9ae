//! The catalog: cards, models and prices, read from the data files under `core/data/`.
//!
//! Types only describe; every figure and its source lives in a data file.

mod card;
mod count;
mod model;
mod price;

pub use card::{Card, CardLink, Confidence, Market, MeasuredMatmul, Node, PeakTflops, Vendor};
pub use count::mean_causal_context;
pub use model::{AttentionGroup, AttentionKind, ExpertLayers, Model, Transformer};
pub use price::{Billing, Currency, PriceBook, PriceOffer};

/// All that ships with the product.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// Cards, in the data file's order.
    pub cards: Vec<Card>,
    /// Language models, in the data file's order.
    pub models: Vec<Model>,
}
