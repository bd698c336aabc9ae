//! An operator's own shelf: what one rental site sells, at its own prices, read from a JSON feed.
//!
//! ```text
//! JSON text -> read (entry by entry, with reasons) -> Feed -> Shop: a catalog, a price book, order links
//! ```
//!
//! A feed comes from a stranger's server. It is data and never more: text is shown as text, links are
//! http(s) or nothing, and an entry that cannot be used is left out with a reason, while the others stay.
//! `core/data/feed.schema.json` describes the form; `docs/embed.md` explains it to operators.

mod fields;
mod issue;
mod order_link;
mod read;
mod shop;
mod terms;

pub use issue::{Effect, FeedIssue, IssueKind};
pub use order_link::{OrderChoice, OrderLink, is_web_link};
pub use read::read;
pub use shop::{Shop, ShopOffer, Supply, mode_name};
pub use terms::Terms;

use crate::catalog::{Billing, Currency};

/// The form of feeds that is read: the value of `schema`.
pub const FEED_SCHEMA: &str = "cardfit-feed/1";
/// The JSON Schema of a feed, as it is served beside the page.
pub const FEED_JSON_SCHEMA: &str = include_str!("../../data/feed.schema.json");
/// Largest feed that is read, bytes.
pub const FEED_BYTES: usize = 1_000_000;
/// Most offers that are read; the rest are left out.
pub const FEED_OFFERS: usize = 2000;
/// Longest name that is kept, characters.
pub const NAME_CHARS: usize = 80;
/// Largest price of a card for one billing unit, in the feed's currency.
pub const PRICE_MOST: f64 = 10_000_000.0;
/// Age after which a feed without `valid_until` counts as old, days.
pub const FEED_DAYS: i64 = 7;

/// What an operator sells, as far as it could be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Feed {
    /// The operator's name.
    pub provider: String,
    /// The operator's site, http(s).
    pub provider_url: Option<String>,
    /// Moment of the prices as the feed writes it (RFC 3339, or a day); its first ten characters are a day.
    pub generated_at: String,
    /// Moment after which the prices no longer hold, where the feed says so.
    pub valid_until: Option<String>,
    /// Currency of all prices.
    pub currency: Currency,
    /// What is charged beside the cards.
    pub terms: Terms,
    /// Offers, in the feed's order.
    pub offers: Vec<FeedOffer>,
}

/// One thing that can be ordered: a card in some place, in some numbers, at some prices.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedOffer {
    /// The operator's own id; unique in the feed.
    pub id: String,
    /// Card id of the catalog.
    pub card: String,
    /// Who rents it out, where that is not the feed's provider: a site may sell for several.
    pub provider: Option<String>,
    /// The operator's name for it, where it gives one.
    pub name: Option<LocalText>,
    /// Region code or name.
    pub region: Option<LocalText>,
    /// Numbers of cards that one machine is sold with, ascending; empty: any.
    pub counts: Vec<u32>,
    /// Machines that may be joined for one job; 1: jobs stay inside a machine.
    pub max_nodes: u32,
    /// Only whole machines are sold.
    pub node_only: bool,
    /// Stock.
    pub stock: Stock,
    /// Prices, at least one.
    pub prices: Vec<FeedPrice>,
    /// Where it is ordered.
    pub order: Option<OrderLink>,
}

/// A price of one card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeedPrice {
    /// Billing.
    pub billing: Billing,
    /// Price of one card for one billing unit of [`crate::rental::unit_hours`], in the feed's currency.
    pub price_per_card: f64,
}

/// What is left to rent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stock {
    /// State as the operator gives it.
    pub state: StockState,
    /// Cards that are free now, where stated.
    pub free_cards: Option<u32>,
    /// Most cards of one order, where stated.
    pub most_cards: Option<u32>,
}

/// State of a stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StockState {
    /// Can be rented now; also where the feed is silent.
    #[default]
    InStock,
    /// Few are left.
    Low,
    /// None is left.
    Out,
}

/// A text in one or both languages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalText {
    /// English, or the only text given.
    pub en: String,
    /// Simplified Chinese, or the only text given.
    pub zh_cn: String,
}

impl LocalText {
    /// The text in that language.
    pub fn in_lang(&self, lang: crate::text::Lang) -> &str {
        match lang {
            crate::text::Lang::En => &self.en,
            crate::text::Lang::ZhCn => &self.zh_cn,
        }
    }
}

impl FeedOffer {
    /// Cards of one machine, where the feed says so.
    pub fn node_cards(&self) -> Option<u32> {
        self.counts.last().copied()
    }

    /// Whether that many cards can be ordered.
    pub fn sells(&self, count: u32) -> bool {
        if self.stock.most_cards.is_some_and(|most| count > most) {
            return false;
        }
        match self.node_cards() {
            None => true,
            Some(node) if count > node => {
                count.is_multiple_of(node) && count.div_ceil(node) <= self.max_nodes
            }
            Some(_) => self.counts.contains(&count),
        }
    }
}
