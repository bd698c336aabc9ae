//! Rental prices: dated, sourced, always the user's to change.

use serde::{Deserialize, Serialize};

use super::CatalogError;
use super::data_file::DataFile;
use crate::packed::{Aside, PackedFile, packed_file};

pub(crate) static FILE: PackedFile =
    packed_file!("prices", read_table, include_str!("../../data/prices.csv"));

static BOOK: DataFile<PriceOffer, PriceBook> = DataFile::new(&FILE);

#[cfg(not(packed))]
fn read_table(csv_text: &str) -> Result<Vec<PriceOffer>, String> {
    let book = PriceBook::parse(csv_text).map_err(|why| why.to_string())?;
    Ok(book.offers)
}

/// Reads the next few prices. `false`: all have been read.
pub(super) fn read_some() -> bool {
    BOOK.read_some()
}

/// Whom to name where rows are shown, and under which licence they are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    /// Name to show.
    pub name: &'static str,
    /// Address to link.
    pub url: &'static str,
    /// Licence by name.
    pub licence: &'static str,
}

/// Every price known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceBook {
    /// Offers, in the data file's order.
    pub offers: Vec<PriceOffer>,
}

impl From<Vec<PriceOffer>> for PriceBook {
    fn from(offers: Vec<PriceOffer>) -> Self {
        Self { offers }
    }
}

impl PriceBook {
    /// The prices that ship with the product, read once.
    ///
    /// The file is parsed by the tests; were it ever unreadable, the book is empty and every
    /// offer says that it has no price.
    pub fn embedded() -> &'static Self {
        BOOK.read()
    }

    /// Reads prices in the form of `core/data/prices.csv`.
    ///
    /// # Errors
    /// When a column is missing or a cell is not of its column's form; the message names the line.
    pub fn parse(csv_text: &str) -> Result<Self, CatalogError> {
        let offers = csv::Reader::from_reader(csv_text.as_bytes())
            .deserialize()
            .collect::<Result<Vec<PriceOffer>, _>>()
            .map_err(|e| CatalogError::Prices(e.to_string()))?;
        Ok(Self { offers })
    }

    /// Collections whose licence asks to be named wherever their rows are shown.
    pub fn credits() -> &'static [Credit] {
        &[
            Credit {
                name: "gpurentalprices.com",
                url: "https://gpurentalprices.com",
                licence: "CC BY 4.0",
            },
            Credit {
                name: "tardellirs/gpu-pricing",
                url: "https://github.com/tardellirs/gpu-pricing",
                licence: "MIT",
            },
        ]
    }
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
    /// Day of the quote, as exactly as its source dates it: `YYYY-MM-DD`, `YYYY-MM` or `YYYY`.
    pub as_of: String,
    /// Where it was read, with the credit that its licence asks for.
    pub source: Aside,
    /// The provider states this very card; `false`: it names the chip but not the form (SXM or
    /// PCIe) or the bin, and `card` is then the slower one, so that what is promised holds.
    pub variant_stated: bool,
    /// Not to be ranked by default: the row looks wrong, contradicts others, may be stale, or is
    /// not open to everyone; `notes` says which.
    pub low_confidence: bool,
    /// Cautions of the source.
    #[serde(default)]
    pub notes: Option<Aside>,
    /// Whether the renter has the card alone; missing: alone.
    #[serde(default)]
    pub tenancy: Option<Tenancy>,
    /// Share of the card that the price is for; missing: all of it.
    #[serde(default)]
    pub share: Option<f64>,
}

impl PriceOffer {
    /// Share of the card that the price is for.
    pub fn share(&self) -> f64 {
        self.share.unwrap_or(1.0)
    }

    /// Whether the renter has the card alone.
    pub fn tenancy(&self) -> Tenancy {
        self.tenancy.unwrap_or(Tenancy::Exclusive)
    }
}

/// Who else is on the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tenancy {
    /// Nobody.
    Exclusive,
    /// Others, kept apart by the card (MIG, vGPU): their memory and their share are their own.
    Slice,
    /// Others, not kept apart: they take speed and memory from each other.
    Shared,
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
    /// By the week of 7 days.
    Weekly,
    /// By the month of 30 days.
    Monthly,
    /// By the year of 365 days, paid at once.
    Yearly,
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
