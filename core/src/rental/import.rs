//! Price lists of others: the catalog form of SkyPilot, the form of gpuhunt, and our own.
//!
//! A row that cannot be used is left out and named with its reason; the others are taken.

use std::collections::HashMap;

use csv::StringRecord;
use serde::Serialize;

use super::card_names::CardNames;
use crate::catalog::{Billing, Card, Catalog, Currency, PriceOffer};

/// A form that price lists come in, told by the names of its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PriceForm {
    /// That of `core/data/prices.csv`.
    Own,
    /// `vms.csv` of the SkyPilot catalog: dollars an hour for an instance, spot beside it.
    SkyPilot,
    /// gpuhunt's: dollars an hour for an instance, spot as rows of their own.
    Gpuhunt,
}

/// What a list does not say itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListFacts<'a> {
    /// Whose list it is.
    pub provider: &'a str,
    /// Currency of its prices.
    pub currency: Currency,
    /// Day of the list, `YYYY-MM-DD`.
    pub as_of: &'a str,
    /// Where it was read.
    pub source: &'a str,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Imported {
    /// The form; `None`: none that is known, and nothing was read.
    pub form: Option<PriceForm>,
    /// Usable rows; the same offer in several regions once.
    pub offers: Vec<PriceOffer>,
    /// Rows that could not be used.
    pub refused: Vec<RefusedRow>,
    /// Rows without any card.
    pub without_card: usize,
    /// Rows that say what another says, for another region.
    pub repeated: usize,
}

/// A row that could not be used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RefusedRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// Why.
    pub reason: RefusedReason,
    /// What stood there, shortened.
    pub given: String,
}

/// Why a row could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusedReason {
    /// No line of columns that is known.
    UnknownForm,
    /// More or fewer cells than columns, or a quote that does not end.
    Malformed,
    /// No card of the catalog has that name.
    UnknownCard,
    /// Cards of that name have other memory.
    MemoryDiffers,
    /// No price.
    NoPrice,
    /// The price is not a number, or not above zero.
    BadPrice,
    /// Dearer than any card was ever let for (or in cents).
    PriceTooHigh,
    /// The count of cards is not a whole number above zero.
    BadCount,
    /// No such way of billing, currency or tenancy, or a cell of the wrong kind.
    BadCell,
    /// Not `YYYY`, `YYYY-MM` or `YYYY-MM-DD`.
    BadDate,
    /// Beyond the most rows that are read.
    TooMany,
}

impl RefusedReason {
    /// Key of the text.
    pub fn key(self) -> &'static str {
        match self {
            Self::UnknownForm => "import.unknown_form",
            Self::Malformed => "import.malformed",
            Self::UnknownCard => "import.unknown_card",
            Self::MemoryDiffers => "import.memory_differs",
            Self::NoPrice => "import.no_price",
            Self::BadPrice => "import.bad_price",
            Self::PriceTooHigh => "import.price_too_high",
            Self::BadCount => "import.bad_count",
            Self::BadCell => "import.bad_cell",
            Self::BadDate => "import.bad_date",
            Self::TooMany => "import.too_many",
        }
    }
}

/// Rows read at most: all lists of the SkyPilot catalog have fewer.
const MOST_ROWS: usize = 200_000;
/// Refused rows that are named; more are of no use to anybody.
const MOST_REFUSED: usize = 200;
/// Price of a card-hour in any currency that is taken for a mistake.
const HIGHEST_PER_HOUR: f64 = 1000.0;

/// Reads a price list.
pub fn import(text: &str, facts: ListFacts<'_>, catalog: &Catalog) -> Imported {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut imported = Imported::default();
    let headers = match reader.headers() {
        Ok(headers) => headers.clone(),
        Err(_) => StringRecord::new(),
    };
    let Some(form) = form_of(&headers) else {
        let given = text.lines().next().unwrap_or_default();
        imported.refuse(1, RefusedReason::UnknownForm, given);
        return imported;
    };
    imported.form = Some(form);
    let columns = Columns::of(&headers);
    let names = CardNames::new(catalog);
    let mut known: HashMap<String, usize> = HashMap::new();
    for (index, record) in reader.records().enumerate() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                imported.refuse(line, RefusedReason::Malformed, &error.to_string());
                continue;
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        if index >= MOST_ROWS {
            imported.refuse(line, RefusedReason::TooMany, "");
            break;
        }
        let given = || record.iter().collect::<Vec<_>>().join(",");
        if record.len() != headers.len() {
            imported.refuse(line, RefusedReason::Malformed, &given());
            continue;
        }
        let row = Cells {
            columns: &columns,
            record: &record,
        };
        let read = match form {
            PriceForm::Own => own_row(&record, &headers, catalog).map(|offer| vec![offer]),
            PriceForm::SkyPilot => sky_pilot_row(&row, &facts, &names),
            PriceForm::Gpuhunt => gpuhunt_row(&row, &facts, &names),
        };
        match read {
            Ok(offers) if offers.is_empty() => imported.without_card += 1,
            Ok(offers) => {
                for offer in offers {
                    imported.take(offer, form, &mut known);
                }
            }
            Err(reason) => imported.refuse(line, reason, &given()),
        }
    }
    imported
}

impl Imported {
    fn refuse(&mut self, line: u64, reason: RefusedReason, given: &str) {
        const LONGEST: usize = 120;
        if self.refused.len() < MOST_REFUSED {
            let kept = given.chars().filter(|c| !c.is_control());
            self.refused.push(RefusedRow {
                line,
                reason,
                given: kept.take(LONGEST).collect(),
            });
        }
    }

    /// Of rows that differ by their region only, one is kept.
    fn take(&mut self, offer: PriceOffer, form: PriceForm, known: &mut HashMap<String, usize>) {
        if form == PriceForm::Own {
            self.offers.push(offer);
            return;
        }
        let key = format!(
            "{}|{}|{:?}|{}|{}",
            offer.card, offer.provider, offer.billing, offer.cards_together, offer.price_per_card
        );
        match known.get(&key) {
            Some(_) => self.repeated += 1,
            None => {
                known.insert(key, self.offers.len());
                self.offers.push(offer);
            }
        }
    }
}

/// Rows in our own form.
pub fn write_rows(offers: &[PriceOffer]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for offer in offers {
        // A row is plain text and numbers; writing to memory does not fail.
        let _ = writer.serialize(offer);
    }
    writer
        .into_inner()
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_default()
}

fn form_of(headers: &StringRecord) -> Option<PriceForm> {
    let has = |name: &str| headers.iter().any(|h| h == name);
    if has("AcceleratorName") && has("Price") {
        Some(PriceForm::SkyPilot)
    } else if has("gpu_name") && has("price") {
        Some(PriceForm::Gpuhunt)
    } else if has("card") && has("price_per_card") {
        Some(PriceForm::Own)
    } else {
        None
    }
}

/// Places of columns by name.
struct Columns(HashMap<String, usize>);

impl Columns {
    fn of(headers: &StringRecord) -> Self {
        let places = headers.iter().enumerate();
        Self(places.map(|(at, name)| (name.to_owned(), at)).collect())
    }
}

struct Cells<'a> {
    columns: &'a Columns,
    record: &'a StringRecord,
}

impl Cells<'_> {
    /// A cell's text; empty where there is no such column.
    fn text(&self, column: &str) -> &str {
        let at = self.columns.0.get(column);
        at.and_then(|at| self.record.get(*at)).unwrap_or_default()
    }

    /// A price, where one is given.
    fn price(&self, column: &str) -> Result<Option<f64>, RefusedReason> {
        match self.text(column) {
            "" | "nan" | "NaN" | "None" => Ok(None),
            given => given
                .parse::<f64>()
                .ok()
                .filter(|price| price.is_finite() && *price > 0.0)
                .map(Some)
                .ok_or(RefusedReason::BadPrice),
        }
    }

    /// Cards of the instance; `None`: it has none.
    fn count(&self, column: &str) -> Result<Option<u32>, RefusedReason> {
        let given = self.text(column);
        if given.is_empty() {
            return Ok(None);
        }
        let count: f64 = given.parse().map_err(|_| RefusedReason::BadCount)?;
        if count == 0.0 {
            return Ok(None);
        }
        let whole = count.fract() == 0.0 && (1.0..=1024.0).contains(&count);
        if whole {
            Ok(Some(count as u32))
        } else {
            Err(RefusedReason::BadCount)
        }
    }
}

fn sky_pilot_row(
    row: &Cells<'_>,
    facts: &ListFacts<'_>,
    names: &CardNames<'_>,
) -> Result<Vec<PriceOffer>, RefusedReason> {
    let name = row.text("AcceleratorName");
    let Some(count) = row.count("AcceleratorCount")? else {
        return Ok(Vec::new());
    };
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let memory_gib = sky_pilot_memory_gib(row.text("GpuInfo"));
    let (card, variant_stated) = names.resolve(name, memory_gib, row.text("InstanceType"))?;
    let prices = [
        (Billing::OnDemand, row.price("Price")?),
        (Billing::Spot, row.price("SpotPrice")?),
    ];
    let region = row.text("Region");
    let offers = prices
        .into_iter()
        .filter_map(|(billing, price)| price.map(|price| (billing, price)))
        .map(|(billing, price)| {
            offer(
                card,
                variant_stated,
                billing,
                price,
                count,
                region,
                facts.provider,
                facts,
            )
        })
        .collect::<Result<Vec<_>, _>>()?;
    if offers.is_empty() {
        return Err(RefusedReason::NoPrice);
    }
    Ok(offers)
}

/// Memory of one card out of `{'Gpus': [{… 'MemoryInfo': {'SizeInMiB': 81920}}], …}`, GiB.
fn sky_pilot_memory_gib(info: &str) -> Option<f64> {
    let after = info.split("'SizeInMiB':").nth(1)?;
    let digits: String = after
        .trim_start()
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    digits.parse::<f64>().ok().map(|mib| mib / 1024.0)
}

fn gpuhunt_row(
    row: &Cells<'_>,
    facts: &ListFacts<'_>,
    names: &CardNames<'_>,
) -> Result<Vec<PriceOffer>, RefusedReason> {
    let name = row.text("gpu_name");
    let Some(count) = row.count("gpu_count")? else {
        return Ok(Vec::new());
    };
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let memory_gib = row.text("gpu_memory").parse::<f64>().ok();
    let (card, variant_stated) = names.resolve(name, memory_gib, row.text("instance_name"))?;
    let price = row.price("price")?.ok_or(RefusedReason::NoPrice)?;
    let billing = match row.text("spot").to_lowercase().as_str() {
        "true" | "1" => Billing::Spot,
        "false" | "0" | "" => Billing::OnDemand,
        _ => return Err(RefusedReason::BadCell),
    };
    let provider = match row.text("provider") {
        "" => facts.provider,
        named => named,
    };
    let region = row.text("location");
    offer(
        card,
        variant_stated,
        billing,
        price,
        count,
        region,
        provider,
        facts,
    )
    .map(|offer| vec![offer])
}

#[allow(clippy::too_many_arguments, reason = "the cells of one row")]
fn offer(
    card: &Card,
    variant_stated: bool,
    billing: Billing,
    price: f64,
    count: u32,
    region: &str,
    provider: &str,
    facts: &ListFacts<'_>,
) -> Result<PriceOffer, RefusedReason> {
    let price_per_card = price / f64::from(count);
    if price_per_card > HIGHEST_PER_HOUR {
        return Err(RefusedReason::PriceTooHigh);
    }
    if !is_date(facts.as_of) {
        return Err(RefusedReason::BadDate);
    }
    Ok(PriceOffer {
        card: card.id.clone(),
        provider: provider.to_owned(),
        region: (!region.is_empty()).then(|| region.to_owned()),
        billing,
        currency: facts.currency,
        price_per_card,
        cards_together: count,
        as_of: facts.as_of.to_owned(),
        source: facts.source.into(),
        variant_stated,
        low_confidence: false,
        notes: None,
        tenancy: None,
        share: None,
    })
}

fn own_row(
    record: &StringRecord,
    headers: &StringRecord,
    catalog: &Catalog,
) -> Result<PriceOffer, RefusedReason> {
    let mut offer: PriceOffer = record
        .deserialize(Some(headers))
        .map_err(|_| RefusedReason::BadCell)?;
    let card = catalog
        .card(&offer.card)
        .ok_or(RefusedReason::UnknownCard)?;
    offer.card.clone_from(&card.id);
    if !(offer.price_per_card.is_finite() && offer.price_per_card > 0.0) {
        return Err(RefusedReason::BadPrice);
    }
    if offer.price_per_card / super::unit_hours(offer.billing) > HIGHEST_PER_HOUR {
        return Err(RefusedReason::PriceTooHigh);
    }
    if offer.cards_together == 0 {
        return Err(RefusedReason::BadCount);
    }
    if offer
        .share
        .is_some_and(|share| !(share > 0.0 && share <= 1.0))
    {
        return Err(RefusedReason::BadCell);
    }
    if is_date(&offer.as_of) {
        Ok(offer)
    } else {
        Err(RefusedReason::BadDate)
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<(usize, Option<u32>)> = text
        .split('-')
        .map(|part| (part.len(), part.parse().ok()))
        .collect();
    let within = |part: Option<&(usize, Option<u32>)>, most: u32| match part {
        None => true,
        Some((2, Some(n))) => (1..=most).contains(n),
        Some(_) => false,
    };
    let year = matches!(parts.first(), Some((4, Some(_))));
    year && parts.len() <= 3 && within(parts.get(1), 12) && within(parts.get(2), 31)
}

#[cfg(test)]
mod tests;
