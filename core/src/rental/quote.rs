//! Which quote a cost rests on.
//!
//! A person gets neither the lowest price ever seen nor the highest. The quote taken is the
//! middle one over providers, each with its newest price, from the scenario's market where that
//! has any. The lowest and the highest are kept beside it.

use serde::Serialize;

use super::bill::{Billed, End, JobTerms, Tariff, Use, unit_hours};
use super::exchange::Exchange;
use super::rules::{HourlyRule, InterruptionRates};
use super::spot::Interruptions;
use crate::catalog::{Billing, Currency, PriceBook, PriceOffer, Tenancy};
use crate::order;
use crate::range::Range;
use crate::scenario::{Money, PriceMarket};

/// Prices more than this many days older than the card's newest are left out where enough newer
/// ones exist: of the offers quoted in both July and August 2026 by one collection, 18 % changed
/// within 33 days, so half a year old is another market.
const STALE_DAYS: i32 = 180;
/// Providers with fresh prices that make stale ones unnecessary.
const ENOUGH_PROVIDERS: usize = 3;
/// Shares of a card that are taken for the same.
const SAME_SHARE: f64 = 0.05;

/// The quote that a cost is counted with.
#[derive(Debug, Clone, PartialEq)]
pub struct Quote<'a> {
    /// The price row; `None`: the user's own price.
    pub offer: Option<&'a PriceOffer>,
    /// Billing.
    pub billing: Billing,
    /// Price of a card-hour in `currency`, a package's price over its hours.
    pub price_per_card_hour: f64,
    /// Currency of the quote.
    pub currency: Currency,
    /// Price of a card-hour in the scenario's currency.
    pub converted_per_card_hour: f64,
    /// Cards that are paid for: whole nodes where only those are sold.
    pub charged_cards: u32,
    /// Lowest and highest price of a card-hour over all providers in this billing, in the
    /// scenario's currency.
    pub seen: (f64, f64),
    /// Providers that the middle was taken over; 0 for the user's own price.
    pub providers: u32,
    tariff: Tariff,
}

impl Quote<'_> {
    /// Cost of one hour of all charged cards, in the scenario's currency.
    pub fn cost_per_hour(&self) -> f64 {
        self.converted_per_card_hour * f64::from(self.charged_cards)
    }

    /// Cost of `need` with all that goes with it, in the scenario's currency.
    pub fn cost(&self, need: Use) -> f64 {
        self.tariff.cost(need, End::Mid)
    }

    /// Cost of a job at each end of its hours of work; infinite ends stay so.
    pub fn cost_of_job(&self, work: Range) -> Range {
        let cost = |hours, end| self.tariff.cost(Use::Job { hours }, end);
        let mid = cost(work.mid, End::Mid);
        Range {
            low: cost(work.low, End::Low).min(mid),
            mid,
            high: cost(work.high, End::High).max(mid),
        }
    }

    /// Hours from the start to the end of a job, by its hours of work.
    pub fn elapsed(&self, work: Range) -> Range {
        self.tariff.elapsed(work)
    }

    /// Hours that are paid for.
    pub fn billed_hours(&self, need: Use) -> f64 {
        self.tariff.billed_hours(need)
    }

    /// Cards in reserve for those that are taken away; only services keep any.
    pub fn spare_cards(&self, need: Use) -> u32 {
        self.tariff.spare_cards(need)
    }

    /// How the job is interrupted, where it can be.
    pub fn interruptions(&self) -> Option<Interruptions> {
        self.tariff.interruptions()
    }

    /// Interruptions of one machine in an hour.
    pub fn interruptions_per_machine_hour(&self) -> f64 {
        self.tariff.interruptions_per_hour
    }

    /// The bill of a job, by its hours of work.
    pub fn bill_of_job(&self, work: Range) -> Billed {
        let need = [work.low, work.mid, work.high].map(|hours| Use::Job { hours });
        Billed::new(self.tariff, need)
    }

    /// The bill of a month.
    pub fn bill_of_month(&self, hours_per_day: f64) -> Billed {
        Billed::new(self.tariff, [Use::Month { hours_per_day }; 3])
    }
}

/// What one mode of billing comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModeCost {
    /// The mode.
    pub billing: Billing,
    /// Whose quote it is; `None`: the user's own price.
    pub provider: Option<String>,
    /// Day of the quote.
    pub as_of: Option<String>,
    /// Price of a card for one unit (an hour, a day, a month), in the scenario's currency.
    pub price_per_unit: f64,
    /// Hours of the unit.
    pub unit_hours: f64,
    /// Cost of what is asked for, in the scenario's currency.
    pub cost: f64,
    /// Whether the scenario allows it.
    pub allowed: bool,
    /// Hours of use within the unit above which it costs less than the same cards by the hour; for a
    /// reserved term, hours a month. `None` for modes by the hour, or where nobody lets by the hour.
    pub beats_hourly_above: Option<f64>,
}

/// The middle quote of each mode, for one need.
#[derive(Debug, Clone)]
pub struct Quotes<'a> {
    priced: Vec<Priced<'a>>,
}

#[derive(Debug, Clone)]
struct Priced<'a> {
    quote: Quote<'a>,
    cost: f64,
    allowed: bool,
    at_home: bool,
}

impl<'a> Quotes<'a> {
    /// Those that are wanted, of one market: a package of another market is no alternative to the hour at home.
    fn of_market(&self, wanted: impl Fn(&Priced<'a>) -> bool) -> impl Iterator<Item = &Priced<'a>> {
        let home = self.priced.iter().any(|p| wanted(p) && p.at_home);
        let of_market = move |p: &&Priced<'a>| wanted(p) && (p.at_home || !home);
        self.priced.iter().filter(of_market)
    }

    /// The cheapest that is allowed.
    pub fn cheapest(&self) -> Option<Quote<'a>> {
        self.of_market(|p| p.allowed)
            .min_by(|a, b| a.cost.total_cmp(&b.cost))
            .map(|p| p.quote.clone())
    }

    /// What each comes to, those too that are not allowed.
    pub fn modes(&self) -> Vec<ModeCost> {
        let by_the_hour = self
            .of_market(|_| true)
            .find(|p| p.quote.billing == Billing::OnDemand)
            .map(|p| p.quote.cost_per_hour());
        self.of_market(|_| true)
            .map(
                |Priced {
                     quote,
                     cost,
                     allowed,
                     ..
                 }| {
                    let unit = unit_hours(quote.billing);
                    let hours = match quote.billing {
                        Billing::OnDemand | Billing::Spot => None,
                        Billing::Reserved1y | Billing::Reserved3y => Some(super::HOURS_PER_MONTH),
                        _ => Some(unit),
                    };
                    ModeCost {
                        billing: quote.billing,
                        provider: quote.offer.map(|o| o.provider.clone()),
                        as_of: quote.offer.map(|o| o.as_of.clone()),
                        price_per_unit: quote.tariff.unit_price,
                        unit_hours: unit,
                        cost: *cost,
                        allowed: *allowed,
                        beats_hourly_above: hours
                            .zip(by_the_hour)
                            .map(|(hours, hourly)| hours * quote.cost_per_hour() / hourly)
                            .filter(|hours| hours.is_finite()),
                    }
                },
            )
            .collect()
    }
}

/// A provider's newest price in one billing and one node size.
#[derive(Debug, Clone, Copy)]
struct Row<'a> {
    offer: &'a PriceOffer,
    /// Price of one billing unit of what the scenario rents (a card or a share of one).
    converted_per_unit: f64,
}

impl Row<'_> {
    fn per_hour(&self) -> f64 {
        self.converted_per_unit / unit_hours(self.offer.billing)
    }
}

/// All usable prices of one card, read once for every count.
#[derive(Debug, Clone)]
pub struct CardPrices<'a> {
    card: String,
    own: Option<f64>,
    money: Money,
    job: JobTerms,
    /// Every provider's rows, for what a provider asks beyond whole packages.
    rows: Vec<Row<'a>>,
    /// By billing in the order of preference at equal cost.
    modes: Vec<(Billing, Vec<Row<'a>>)>,
}

/// Modes looked at where the scenario names none. Spot may be taken away, and a reserved term
/// binds for a year or more: both are taken only when asked for.
pub const USUAL_MODES: [Billing; 5] = [
    Billing::OnDemand,
    Billing::Daily,
    Billing::Weekly,
    Billing::Monthly,
    Billing::Yearly,
];

impl<'a> CardPrices<'a> {
    /// Prices of `card` under the scenario's money.
    pub fn new(card: &str, money: &Money, book: &'a PriceBook) -> Self {
        let rows: Vec<&PriceOffer> = book.offers.iter().filter(|o| o.card == card).collect();
        Self::of_rows(card, money, &rows)
    }

    /// The same of the rows of that card, for who has sorted a book by cards.
    pub fn of_rows(card: &str, money: &Money, rows: &[&'a PriceOffer]) -> Self {
        let exchange = Exchange::of(money);
        let mut billings = USUAL_MODES.to_vec();
        billings.extend(&money.billing);
        order::sort_by_key(&mut billings, |billing| *billing);
        billings.dedup();
        let offers = rows
            .iter()
            .copied()
            .filter(|o| !o.low_confidence && usable(o))
            .filter(|o| billings.contains(&o.billing));
        let row = |offer: &'a PriceOffer, share: f64| Row {
            offer,
            converted_per_unit: exchange.convert(
                offer.price_per_card * share,
                offer.currency,
                money.currency,
            ),
        };
        let whole =
            |o: &&PriceOffer| o.share() > 1.0 - SAME_SHARE && o.tenancy() == Tenancy::Exclusive;
        let mut rows: Vec<Row<'a>> = if money.slice >= 1.0 {
            offers.filter(whole).map(|o| row(o, 1.0)).collect()
        } else {
            let of_share = |o: &&PriceOffer| (o.share() / money.slice - 1.0).abs() < SAME_SHARE;
            let quoted: Vec<_> = offers
                .clone()
                .filter(of_share)
                .map(|o| row(o, 1.0))
                .collect();
            if quoted.is_empty() {
                offers.filter(whole).map(|o| row(o, money.slice)).collect()
            } else {
                quoted
            }
        };
        order::sort_by(&mut rows, |a, b| {
            same_seller(a, b).then_with(|| newest_then_cheapest(a, b))
        });
        rows.dedup_by(|later, kept| same_seller(later, kept).is_eq());
        let modes = billings
            .into_iter()
            .map(|billing| {
                let of_mode = rows.iter().filter(|r| r.offer.billing == billing).copied();
                (billing, fresh(of_mode.collect()))
            })
            .filter(|(_, rows)| !rows.is_empty())
            .collect();
        let own = money
            .own_prices
            .iter()
            .rev()
            .find(|(id, price)| id == card && price.is_finite() && *price >= 0.0)
            .map(|(_, price)| *price);
        Self {
            card: card.to_owned(),
            own,
            money: money.clone(),
            job: JobTerms::default(),
            rows,
            modes,
        }
    }

    /// The same for a job of which more is known than its hours.
    #[must_use]
    pub fn for_job(mut self, job: JobTerms) -> Self {
        self.job = job;
        self
    }

    /// What is known of the job.
    pub fn job(&self) -> JobTerms {
        self.job
    }

    /// Whether anybody's price is known in a mode that the scenario allows.
    pub fn any(&self) -> bool {
        self.own.is_some() || self.modes.iter().any(|(billing, _)| self.allows(*billing))
    }

    fn allows(&self, billing: Billing) -> bool {
        if self.money.billing.is_empty() {
            USUAL_MODES.contains(&billing)
        } else {
            self.money.billing.contains(&billing)
        }
    }

    /// The cheapest mode for `need` on `count` cards, or `None` where no price is known.
    pub fn cheapest(&self, count: u32, need: Use) -> Option<Quote<'a>> {
        self.quotes(count, need).cheapest()
    }

    /// What every mode comes to for `need`, those too that are not allowed but usual.
    pub fn modes(&self, count: u32, need: Use) -> Vec<ModeCost> {
        self.quotes(count, need).modes()
    }

    /// The quote of each mode for `need` on `count` cards.
    pub fn quotes(&self, count: u32, need: Use) -> Quotes<'a> {
        let quotes = match self.own {
            Some(price) => vec![self.own_quote(price, count)],
            None => self
                .modes
                .iter()
                .filter_map(|(billing, rows)| self.middle(*billing, rows, count))
                .collect(),
        };
        let priced = |quote: Quote<'a>| Priced {
            cost: quote.cost(need),
            allowed: self.own.is_some() || self.allows(quote.billing),
            at_home: is_of(self.money.market, quote.currency),
            quote,
        };
        Quotes {
            priced: quotes.into_iter().map(priced).collect(),
        }
    }

    fn own_quote(&self, price: f64, count: u32) -> Quote<'a> {
        let seen = self
            .modes
            .iter()
            .find(|(billing, _)| *billing == Billing::OnDemand)
            .and_then(|(_, rows)| extremes(rows));
        Quote {
            offer: None,
            billing: Billing::OnDemand,
            price_per_card_hour: price,
            currency: self.money.currency,
            converted_per_card_hour: price,
            charged_cards: count,
            seen: seen.unwrap_or((price, price)),
            providers: 0,
            tariff: self.tariff(None, Billing::OnDemand, price, None, count, count),
        }
    }

    fn middle(&self, billing: Billing, rows: &[Row<'a>], count: u32) -> Option<Quote<'a>> {
        // Who sells only whole nodes is no choice for fewer cards while others sell them singly.
        let divides = |r: &&Row<'_>| charged(r, count) == count;
        let exact = rows.iter().filter(divides).collect::<Vec<_>>();
        let sellers = if exact.is_empty() {
            rows.iter().collect()
        } else {
            exact
        };
        let at_home = |r: &&&Row<'_>| is_of(self.money.market, r.offer.currency);
        let mut market = sellers.iter().filter(at_home).copied().collect::<Vec<_>>();
        if market.is_empty() {
            market = sellers;
        }
        // One vote a provider: the node size that costs least for this count.
        let cost = |r: &Row<'_>| r.converted_per_unit * f64::from(charged(r, count));
        order::sort_by(&mut market, |a, b| {
            let provider = a.offer.provider.cmp(&b.offer.provider);
            provider.then_with(|| cost(a).total_cmp(&cost(b)))
        });
        market.dedup_by(|a, b| a.offer.provider == b.offer.provider);
        order::sort_by(&mut market, |a, b| cost(a).total_cmp(&cost(b)));
        let row = market.get(market.len().saturating_sub(1) / 2)?;
        let by_the_hour = self
            .rows
            .iter()
            .find(|r| {
                r.offer.billing == Billing::OnDemand
                    && r.offer.provider == row.offer.provider
                    && r.offer.cards_together == row.offer.cards_together
                    && self.allows(Billing::OnDemand)
            })
            .map(|r| r.converted_per_unit);
        let charged_cards = charged(row, count);
        Some(Quote {
            offer: Some(row.offer),
            billing,
            price_per_card_hour: row.offer.price_per_card / unit_hours(billing),
            currency: row.offer.currency,
            converted_per_card_hour: row.per_hour(),
            charged_cards,
            seen: extremes(rows)?,
            providers: u32::try_from(market.len()).unwrap_or(u32::MAX),
            tariff: self.tariff(
                Some(row.offer),
                billing,
                row.converted_per_unit,
                by_the_hour,
                count,
                charged_cards,
            ),
        })
    }

    fn tariff(
        &self,
        offer: Option<&PriceOffer>,
        billing: Billing,
        unit_price: f64,
        hour_price: Option<f64>,
        count: u32,
        charged: u32,
    ) -> Tariff {
        let provider = offer.map(|o| o.provider.as_str());
        let known =
            || InterruptionRates::embedded().per_hour(provider.unwrap_or_default(), &self.card);
        Tariff {
            billing,
            unit_price,
            hour_price,
            rule: HourlyRule::of(provider, &self.money),
            count,
            charged,
            extras: self.money.extras,
            spot: self.money.spot,
            interruptions_per_hour: self.money.spot.interruptions_per_hour.unwrap_or_else(known),
            job: self.job,
        }
    }
}

/// Whether a quote in `currency` is of the market.
fn is_of(market: PriceMarket, currency: Currency) -> bool {
    match market {
        PriceMarket::China => currency == Currency::Cny,
        PriceMarket::Abroad => currency != Currency::Cny,
        PriceMarket::Anywhere => true,
    }
}

fn usable(offer: &PriceOffer) -> bool {
    offer.price_per_card.is_finite() && offer.price_per_card >= 0.0
}

/// Cards paid for when `count` are wanted.
fn charged(row: &Row<'_>, count: u32) -> u32 {
    let together = row.offer.cards_together.max(1);
    count.div_ceil(together).saturating_mul(together)
}

fn same_seller(a: &Row<'_>, b: &Row<'_>) -> std::cmp::Ordering {
    let key = |r: &Row<'_>| (r.offer.billing, r.offer.cards_together);
    a.offer
        .provider
        .cmp(&b.offer.provider)
        .then_with(|| key(a).cmp(&key(b)))
}

fn newest_then_cheapest(a: &Row<'_>, b: &Row<'_>) -> std::cmp::Ordering {
    let day = |r: &Row<'_>| day_number(&r.offer.as_of);
    day(b)
        .cmp(&day(a))
        .then_with(|| a.converted_per_unit.total_cmp(&b.converted_per_unit))
}

/// Rows without the stale ones, where enough providers have newer prices.
fn fresh(rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    let newest = rows.iter().map(|r| day_number(&r.offer.as_of)).max();
    let Some(oldest) = newest.map(|day| day - STALE_DAYS) else {
        return rows;
    };
    let is_fresh = |r: &&Row<'_>| day_number(&r.offer.as_of) >= oldest;
    let mut providers = rows
        .iter()
        .filter(is_fresh)
        .map(|r| r.offer.provider.as_str())
        .collect::<Vec<_>>();
    order::sort_by(&mut providers, Ord::cmp);
    providers.dedup();
    if providers.len() < ENOUGH_PROVIDERS {
        return rows;
    }
    rows.iter().filter(is_fresh).copied().collect()
}

fn extremes(rows: &[Row<'_>]) -> Option<(f64, f64)> {
    let prices = || rows.iter().map(Row::per_hour);
    Some((
        prices().min_by(f64::total_cmp)?,
        prices().max_by(f64::total_cmp)?,
    ))
}

/// Days since year 0, months counted as 30.44 days: enough to compare ages. A day or month that
/// the source leaves out is taken as the middle of its month or year.
fn day_number(as_of: &str) -> i32 {
    let mut parts = as_of.split('-').map(|p| p.parse::<i32>().ok());
    let mut next = || parts.next().flatten();
    let (year, month, day) = (next().unwrap_or(0), next(), next());
    let within_year = match (month, day) {
        (Some(month), day) => f64::from(month - 1) * 30.44 + f64::from(day.unwrap_or(15)),
        (None, _) => 182.0,
    };
    (f64::from(year) * 365.25 + within_year) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_in_order() {
        let days = ["2025", "2026-05-24", "2026-06", "2026-08-22", "2026-11-09"];
        assert!(days.windows(2).all(|w| day_number(w[0]) < day_number(w[1])));
        let gap = day_number("2026-11-09") - day_number("2026-05-24");
        assert!((160..180).contains(&gap), "{gap}");
    }
}
