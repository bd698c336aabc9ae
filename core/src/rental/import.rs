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
        source: facts.source.to_owned(),
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
mod tests {
    use super::*;

    fn facts() -> ListFacts<'static> {
        ListFacts {
            provider: "Nebius",
            currency: Currency::Usd,
            as_of: "2026-11-01",
            source: "a test",
        }
    }

    fn read(text: &str) -> Imported {
        import(text, facts(), Catalog::embedded())
    }

    /// Lines as github.com/skypilot-org/skypilot-catalog has them in catalogs/v8/nebius/vms.csv, and bad ones.
    const SKY_PILOT: &str = "\
InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice
cpu-d3_4vcpu-16gb,,0,4,16,0.0992,eu-north1,,
gpu-h100-sxm_8gpu-128vcpu-1600gb,H100,8,128,1600,23.60,eu-north1,\"{'Gpus': [{'Name': 'H100', 'Manufacturer': 'NVIDIA', 'Count': 8, 'MemoryInfo': {'SizeInMiB': 81920}}], 'TotalGpuMemoryInMiB': 655360}\",10.00
gpu-l40s-a_1gpu-8vcpu-32gb,L40S,1,8,32,1.5484,eu-north1,\"{'Gpus': [{'Name': 'L40S', 'Manufacturer': 'NVIDIA', 'Count': 1, 'MemoryInfo': {'SizeInMiB': 49152}}], 'TotalGpuMemoryInMiB': 49152}\",
gpu-l40s-a_1gpu-8vcpu-32gb,L40S,1,8,32,1.5484,us-central1,,
gpu-h100-sxm_1gpu,H100,1,16,200,cheap,eu-north1,,
gpu-x900_1gpu,X900,1,16,200,2.00,eu-north1,,
gpu-h200-sxm_1gpu,H200,1,16,200,,eu-north1,,
gpu-h200-sxm_1gpu,H200,half,16,200,3.50,eu-north1,,
gpu-h200-sxm_1gpu,H200,1,16
";

    #[test]
    fn a_sky_pilot_list_is_taken_without_its_bad_rows() {
        let read = read(SKY_PILOT);
        assert_eq!(read.form, Some(PriceForm::SkyPilot));
        let rows: Vec<_> = read
            .offers
            .iter()
            .map(|o| (o.card.as_str(), o.billing, o.cards_together))
            .collect();
        assert_eq!(
            rows,
            [
                ("h100-sxm-80gb", Billing::OnDemand, 8),
                ("h100-sxm-80gb", Billing::Spot, 8),
                ("l40s", Billing::OnDemand, 1),
            ]
        );
        assert!((read.offers[0].price_per_card - 2.95).abs() < 1e-12);
        assert!((read.offers[1].price_per_card - 1.25).abs() < 1e-12);
        assert!(read.offers[0].variant_stated);
        assert_eq!((read.without_card, read.repeated), (1, 1));
        let refused: Vec<_> = read.refused.iter().map(|r| (r.line, r.reason)).collect();
        assert_eq!(
            refused,
            [
                (6, RefusedReason::BadPrice),
                (7, RefusedReason::UnknownCard),
                (8, RefusedReason::NoPrice),
                (9, RefusedReason::BadCount),
                (10, RefusedReason::Malformed),
            ]
        );
        assert!(read.refused[0].given.contains("cheap"));
    }

    #[test]
    fn a_gpuhunt_list_is_taken_without_its_bad_rows() {
        let read = read(
            "\
instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,provider
gpu_1x_a100,us-east-1,1.29,30,200,1,A100,40,False,512,lambdalabs
8xh100,eu,12.8,208,1800,8,H100,80,True,,vastai
pod,eu,0.44,8,32,1,RTX4090,24,False,,runpod
pod,eu,0.99,8,32,1,RTX4090,48,False,,runpod
pod,eu,0.2,8,32,1,RTX4090,16,False,,runpod
pod,eu,-1,8,32,1,RTX4090,24,False,,runpod
pod,eu,1,8,32,1,RTX4090,24,maybe,,runpod
cpu,eu,0.1,8,32,0,,,False,,runpod
",
        );
        let rows: Vec<_> = read
            .offers
            .iter()
            .map(|o| (o.card.as_str(), o.provider.as_str(), o.billing))
            .collect();
        assert_eq!(
            rows,
            [
                ("a100-pcie-40gb", "lambdalabs", Billing::OnDemand),
                ("h100-pcie-80gb", "vastai", Billing::Spot),
                ("rtx-4090", "runpod", Billing::OnDemand),
                ("rtx-4090-48gb", "runpod", Billing::OnDemand),
            ]
        );
        // Neither says SXM or PCIe.
        assert!(!read.offers[0].variant_stated && !read.offers[1].variant_stated);
        assert!((read.offers[1].price_per_card - 1.6).abs() < 1e-12);
        let reasons: Vec<_> = read.refused.iter().map(|r| r.reason).collect();
        assert_eq!(
            reasons,
            [
                RefusedReason::MemoryDiffers,
                RefusedReason::BadPrice,
                RefusedReason::BadCell
            ]
        );
        assert_eq!(read.without_card, 1);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let shipped = &crate::catalog::PriceBook::embedded().offers;
        let read = read(&write_rows(shipped));
        assert_eq!(read.form, Some(PriceForm::Own));
        assert_eq!(read.refused, []);
        assert_eq!(&read.offers, shipped);
    }

    #[test]
    fn our_own_form_is_checked_row_by_row() {
        let read = read(
            "\
card,provider,region,billing,currency,price_per_card,cards_together,as_of,variant_stated,low_confidence,source,notes
RTX 4090,me,,on_demand,CNY,1.9,1,2026-11-02,true,false,my contract,
rtx-4090,me,,on_demand,CNY,1.9,1,yesterday,true,false,my contract,
rtx-4090,me,,fortnightly,CNY,1.9,1,2026-11-02,true,false,my contract,
rtx-4090,me,,monthly,CNY,0,1,2026-11-02,true,false,my contract,
warp-drive,me,,monthly,CNY,100,1,2026-11-02,true,false,my contract,
rtx-4090,me,,on_demand,CNY,190000,1,2026-11-02,true,false,my contract,
",
        );
        assert_eq!(read.offers.len(), 1);
        assert_eq!(read.offers[0].card, "rtx-4090");
        let reasons: Vec<_> = read.refused.iter().map(|r| r.reason).collect();
        assert_eq!(
            reasons,
            [
                RefusedReason::BadDate,
                RefusedReason::BadCell,
                RefusedReason::BadPrice,
                RefusedReason::UnknownCard,
                RefusedReason::PriceTooHigh
            ]
        );
    }

    #[test]
    fn what_is_no_price_list_is_refused_with_words() {
        for text in ["", "hello", "a,b,c\n1,2,3\n", "\u{feff}x\n"] {
            let read = read(text);
            assert_eq!(read.form, None);
            assert_eq!(read.refused[0].reason, RefusedReason::UnknownForm);
        }
    }
}
