//! Which quote a cost rests on.
//!
//! A person gets neither the lowest price ever seen nor the highest. The quote taken is the
//! middle one over providers, each with its newest price, from the market of the scenario's
//! currency where that has any. The lowest and the highest are kept beside it.

use crate::catalog::{Billing, Currency, PriceBook, PriceOffer};
use crate::scenario::Money;

use super::bill::{Use, billed_hours, unit_hours};
use super::exchange::Exchange;

/// Prices more than this many days older than the card's newest are left out where enough newer
/// ones exist: of the offers quoted in both July and August 2026 by one collection, 18 % changed
/// within 33 days, so half a year old is another market.
const STALE_DAYS: i32 = 180;
/// Providers with fresh prices that make stale ones unnecessary.
const ENOUGH_PROVIDERS: usize = 3;

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
}

impl Quote<'_> {
    /// Cost of one hour of all charged cards, in the scenario's currency.
    pub fn cost_per_hour(&self) -> f64 {
        self.converted_per_card_hour * f64::from(self.charged_cards)
    }

    /// Cost of `need`, in the scenario's currency.
    pub fn cost(&self, need: Use) -> f64 {
        self.cost_per_hour() * billed_hours(self.billing, need)
    }
}

/// A provider's newest price in one billing and one node size.
#[derive(Debug, Clone, Copy)]
struct Row<'a> {
    offer: &'a PriceOffer,
    converted_per_card_hour: f64,
}

/// All usable prices of one card, read once for every count.
#[derive(Debug, Clone)]
pub struct CardPrices<'a> {
    own: Option<f64>,
    currency: Currency,
    /// By billing in the order of preference at equal cost.
    modes: Vec<(Billing, Vec<Row<'a>>)>,
}

/// Modes looked at where the scenario names none. Spot may be taken away, and a reserved term
/// binds for a year or more: both are taken only when asked for.
pub const USUAL_MODES: [Billing; 3] = [Billing::OnDemand, Billing::Daily, Billing::Monthly];

impl<'a> CardPrices<'a> {
    /// Prices of `card` under the scenario's money.
    pub fn new(card: &str, money: &Money, book: &'a PriceBook) -> Self {
        let exchange = Exchange::with_cny_per_usd(money.cny_per_usd);
        let allowed = if money.billing.is_empty() {
            &USUAL_MODES[..]
        } else {
            &money.billing
        };
        let mut rows = book
            .offers
            .iter()
            .filter(|o| o.card == card && !o.low_confidence && usable(o))
            .filter(|o| allowed.contains(&o.billing))
            .map(|offer| Row {
                offer,
                converted_per_card_hour: exchange.convert(
                    offer.price_per_card / unit_hours(offer.billing),
                    offer.currency,
                    money.currency,
                ),
            })
            .collect::<Vec<_>>();
        rows.sort_by(|a, b| same_seller(a, b).then_with(|| newest_then_cheapest(a, b)));
        rows.dedup_by(|later, kept| same_seller(later, kept).is_eq());
        let mut billings = allowed.to_vec();
        billings.sort_unstable();
        billings.dedup();
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
            own,
            currency: money.currency,
            modes,
        }
    }

    /// Whether anybody's price is known.
    pub fn any(&self) -> bool {
        self.own.is_some() || !self.modes.is_empty()
    }

    /// The cheapest mode for `need` on `count` cards, or `None` where no price is known.
    pub fn cheapest(&self, count: u32, need: Use) -> Option<Quote<'a>> {
        if let Some(price) = self.own {
            return Some(self.own_quote(price, count));
        }
        let quotes = self
            .modes
            .iter()
            .filter_map(|(billing, rows)| self.middle(*billing, rows, count))
            .collect::<Vec<_>>();
        // A package of another market is no alternative to the hour at home.
        let at_home = quotes.iter().any(|q| q.currency == self.currency);
        quotes
            .into_iter()
            .filter(|q| !at_home || q.currency == self.currency)
            .min_by(|a, b| a.cost(need).total_cmp(&b.cost(need)))
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
            currency: self.currency,
            converted_per_card_hour: price,
            charged_cards: count,
            seen: seen.unwrap_or((price, price)),
            providers: 0,
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
        let at_home = |r: &&&Row<'_>| r.offer.currency == self.currency;
        let mut market = sellers.iter().filter(at_home).copied().collect::<Vec<_>>();
        if market.is_empty() {
            market = sellers;
        }
        // One vote a provider: the node size that costs least for this count.
        let cost = |r: &Row<'_>| r.converted_per_card_hour * f64::from(charged(r, count));
        market.sort_by(|a, b| {
            let provider = a.offer.provider.cmp(&b.offer.provider);
            provider.then_with(|| cost(a).total_cmp(&cost(b)))
        });
        market.dedup_by(|a, b| a.offer.provider == b.offer.provider);
        market.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        let row = market.get(market.len().saturating_sub(1) / 2)?;
        Some(Quote {
            offer: Some(row.offer),
            billing,
            price_per_card_hour: row.offer.price_per_card / unit_hours(billing),
            currency: row.offer.currency,
            converted_per_card_hour: row.converted_per_card_hour,
            charged_cards: charged(row, count),
            seen: extremes(rows)?,
            providers: u32::try_from(market.len()).unwrap_or(u32::MAX),
        })
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
    day(b).cmp(&day(a)).then_with(|| {
        a.converted_per_card_hour
            .total_cmp(&b.converted_per_card_hour)
    })
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
    providers.sort_unstable();
    providers.dedup();
    if providers.len() < ENOUGH_PROVIDERS {
        return rows;
    }
    rows.iter().filter(is_fresh).copied().collect()
}

fn extremes(rows: &[Row<'_>]) -> Option<(f64, f64)> {
    let prices = || rows.iter().map(|r| r.converted_per_card_hour);
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
