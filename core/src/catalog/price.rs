//! Rental prices: dated, sourced, always the user's to change.

use serde::{Deserialize, Serialize};

/// Every price known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceBook {
    /// Offers, in the data file's order.
    pub offers: Vec<PriceOffer>,
}

/// One price as one provider quoted it on one day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceOffer {
    /// Card id of the catalog.
    pub card: String,
    /// Who rents it out.
    pub provider: String,
    /// Region or country, where stated.
    #[serde(default)]
    pub region: Option<String>,
    /// How it is billed.
    pub billing: Billing,
    /// Currency of the price.
    pub currency: Currency,
    /// Price of one card for one billing unit (an hour, a day, a month), in `currency`.
    pub price_per_card: f64,
    /// Cards that can only be taken together (a whole node); 1: singly.
    pub cards_together: u32,
    /// Day of the quote, `YYYY-MM-DD`.
    pub as_of: String,
    /// Where it was read, with the credit that its licence asks for.
    pub source: String,
    /// Cautions of the source.
    #[serde(default)]
    pub notes: Option<String>,
}

/// How an offer is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Billing {
    /// By the hour or finer, stop at any time.
    OnDemand,
    /// By the hour or finer, may be taken away.
    Spot,
    /// By the day of 24 hours.
    Daily,
    /// By the month of 30 days.
    Monthly,
    /// Monthly instalments of a one-year term, quoted by the hour.
    #[serde(rename = "reserved_1y")]
    Reserved1y,
    /// Monthly instalments of a three-year term, quoted by the hour.
    #[serde(rename = "reserved_3y")]
    Reserved3y,
}

/// Currency of a price or of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "each variant is the ISO code")]
pub enum Currency {
    Cny,
    Usd,
    Eur,
}
