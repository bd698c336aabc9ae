//! Currencies. A rate is never applied without being shown with its day.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::catalog::Currency;
use crate::packed::{PackedFile, packed, packed_file};
use crate::scenario::Money;

/// The rates that ship with the product, always the user's to change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Yuan for one dollar.
    pub cny_per_usd: f64,
    /// Dollars for one euro.
    pub usd_per_eur: f64,
    /// Day of both, `YYYY-MM-DD`.
    pub as_of: String,
    /// Where they were read.
    pub source: String,
}

pub(crate) static FILE: PackedFile = packed_file!(
    "exchange",
    crate::packed::json::<Rates>,
    include_str!("../../data/exchange.json")
);

packed!(struct Rates { cny_per_usd, usd_per_eur, as_of, source });

impl Default for Rates {
    /// Amounts as they are, of no day.
    fn default() -> Self {
        Self {
            cny_per_usd: 1.0,
            usd_per_eur: 1.0,
            as_of: String::new(),
            source: String::new(),
        }
    }
}

impl Rates {
    /// Rates of `core/data/exchange.json`, read once; the tests read the file.
    pub fn embedded() -> &'static Self {
        static RATES: OnceLock<Rates> = OnceLock::new();
        RATES.get_or_init(|| FILE.read())
    }
}

/// Rates between the currencies of quotes and answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchange {
    cny_per_usd: f64,
    usd_per_eur: f64,
}

impl Exchange {
    /// The user's rate of the yuan with the shipped rate of the euro. A rate that is not a
    /// positive number is replaced by the shipped one.
    pub fn with_cny_per_usd(cny_per_usd: f64) -> Self {
        Self::new(cny_per_usd, Rates::embedded().usd_per_eur)
    }

    /// The rates of a scenario.
    pub fn of(money: &Money) -> Self {
        Self::new(money.cny_per_usd, money.usd_per_eur)
    }

    /// Two rates; one that is not a positive number is replaced by the shipped one.
    fn new(cny_per_usd: f64, usd_per_eur: f64) -> Self {
        let rates = Rates::embedded();
        let usable = |rate: f64, shipped: f64| {
            if rate.is_finite() && rate > 0.0 {
                rate
            } else {
                shipped
            }
        };
        Self {
            cny_per_usd: usable(cny_per_usd, rates.cny_per_usd),
            usd_per_eur: usable(usd_per_eur, rates.usd_per_eur),
        }
    }

    /// Yuan for one dollar.
    pub fn cny_per_usd(&self) -> f64 {
        self.cny_per_usd
    }

    /// Dollars for one euro.
    pub fn usd_per_eur(&self) -> f64 {
        self.usd_per_eur
    }

    /// `amount` of one currency in another.
    pub fn convert(&self, amount: f64, from: Currency, to: Currency) -> f64 {
        if from == to {
            return amount;
        }
        amount * self.usd_for(from) / self.usd_for(to)
    }

    /// Dollars for one unit of `currency`.
    fn usd_for(&self, currency: Currency) -> f64 {
        match currency {
            Currency::Usd => 1.0,
            Currency::Cny => 1.0 / self.cny_per_usd,
            Currency::Eur => self.usd_per_eur,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_rates_are_dated_and_plausible() {
        let rates = Rates::embedded();
        assert!(rates.as_of.len() == 10 && !rates.source.is_empty());
        assert!((5.0..9.0).contains(&rates.cny_per_usd));
        assert!((0.9..1.5).contains(&rates.usd_per_eur));
    }

    #[test]
    fn there_and_back_is_the_same_amount() {
        let exchange = Exchange::with_cny_per_usd(7.0);
        assert!((exchange.convert(3.0, Currency::Usd, Currency::Cny) - 21.0).abs() < 1e-12);
        let euros = exchange.convert(100.0, Currency::Cny, Currency::Eur);
        let back = exchange.convert(euros, Currency::Eur, Currency::Cny);
        assert!((back - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_rate_that_is_no_rate_gives_way_to_the_shipped_one() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let kept = Exchange::with_cny_per_usd(bad).cny_per_usd();
            assert!((kept - Rates::embedded().cny_per_usd).abs() < 1e-12);
        }
    }
}
