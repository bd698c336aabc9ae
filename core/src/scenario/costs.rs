//! What surrounds the price of a card: storage, set-up, interruptions, buying instead.
//!
//! Every figure is one link parameter. It is zero, or open, until somebody says it.

use serde::{Deserialize, Serialize};

use super::Money;
use super::limits;
use super::number;
use super::reader::Reader;
use super::write::Pairs;
use crate::catalog::Currency;
use crate::rental::Exchange;

/// Money, or anything else: money follows when another currency is chosen.
const MONEY: bool = true;
const PLAIN: bool = false;

/// States a group of figures, one line each: documentation, `field: LIMIT, default or open, whether it is money`.
macro_rules! figures {
    ($(#[$meta:meta])* $group:ident { $($(#[$doc:meta])* $field:ident: $limit:ident, $kind:ident, $money:ident;)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        pub struct $group {
            $($(#[$doc])* pub $field: figures!(@type $kind),)+
        }

        impl Default for $group {
            fn default() -> Self {
                Self { $($field: figures!(@default $kind, $limit),)+ }
            }
        }

        impl $group {
            pub(super) fn read(reader: &mut Reader<'_>) -> Self {
                Self { $($field: figures!(@read $kind, $limit, reader),)+ }
            }

            pub(super) fn write(&self, pairs: &mut Pairs) {
                let plain = Self::default();
                $(figures!(@write $kind, $limit, pairs, self.$field, plain.$field);)+
            }

            /// The same with every amount of money times `factor`, within its limit.
            fn times(mut self, factor: f64) -> Self {
                $(figures!(@times $kind, $limit, $money, self.$field, factor);)+
                self
            }
        }
    };
    (@type set) => { f64 };
    (@type open) => { Option<f64> };
    (@default set, $limit:ident) => { limits::$limit.default.unwrap_or(0.0) };
    (@default open, $limit:ident) => { None };
    (@read set, $limit:ident, $reader:ident) => {
        $reader.number_or(&limits::$limit, limits::$limit.default.unwrap_or(0.0))
    };
    (@read open, $limit:ident, $reader:ident) => { $reader.number_or_open(&limits::$limit) };
    (@write set, $limit:ident, $pairs:ident, $value:expr, $plain:expr) => {
        if $value.to_bits() != $plain.to_bits() {
            $pairs.push((limits::$limit.name, number::write($value)));
        }
    };
    (@write open, $limit:ident, $pairs:ident, $value:expr, $plain:expr) => {
        if let Some(value) = $value {
            $pairs.push((limits::$limit.name, number::write(value)));
        }
    };
    (@times set, $limit:ident, $money:ident, $value:expr, $factor:ident) => {
        if $money && $value > 0.0 {
            $value = four_digits($value * $factor).clamp(limits::$limit.min, limits::$limit.max);
        }
    };
    (@times open, $limit:ident, $money:ident, $value:expr, $factor:ident) => {
        if $money {
            $value = $value.map(|v| four_digits(v * $factor).clamp(limits::$limit.min, limits::$limit.max));
        }
    };
}

figures! {
    /// What is paid beside the hours that the work itself takes.
    Extras {
        /// Starts of the machines: once for a job, times a day for a service.
        starts: STARTS, set, PLAIN;
        /// Hours of setting up after each start.
        setup_hours: SETUP, set, PLAIN;
        /// Line over which the model's weights are fetched after each start, Mbit/s; 0: not counted.
        fetch_mbit_s: FETCH, set, PLAIN;
        /// Data to upload once while the cards are paid for, GB.
        upload_gb: UPLOAD, set, PLAIN;
        /// Line over which it is uploaded, Mbit/s.
        line_mbit_s: LINE, set, PLAIN;
        /// Evaluation, per cent of the work.
        evaluation_percent: EVALUATION, set, PLAIN;
        /// Runs that fail and are repeated, per cent of the work.
        failed_percent: FAILED, set, PLAIN;
        /// Time in which the cards are paid for and nothing runs, per cent of the rest.
        idle_percent: IDLE, set, PLAIN;
        /// Storage, GB.
        disk_gb: DISK, set, PLAIN;
        /// GB of it that are free of charge.
        disk_free_gb: DISK_FREE, set, PLAIN;
        /// Storage while the machine runs, for a GB a month.
        disk_price: DISK_PRICE, set, MONEY;
        /// Storage while it is stopped, for a GB a month; open: as while it runs.
        stopped_price: STOPPED_PRICE, open, MONEY;
        /// Days that the storage is kept beside the run, the machine stopped.
        stopped_days: STOPPED, set, PLAIN;
        /// Data taken out, GB a job or a month.
        egress_gb: EGRESS, set, PLAIN;
        /// Its price for a GB.
        egress_price: EGRESS_PRICE, set, MONEY;
        /// Tax or surcharge for an invoice, per cent of all.
        tax_percent: TAX, set, PLAIN;
    }
}

figures! {
    /// What is known of machines that may be taken away.
    SpotTerms {
        /// Interruptions of one machine in an hour; open: by provider and card where known, else one in 20 hours.
        interruptions_per_hour: INTERRUPTIONS, open, PLAIN;
        /// Time to write a checkpoint, seconds.
        checkpoint_s: CHECKPOINT, set, PLAIN;
        /// Hours between checkpoints; open: the best (Daly 2006).
        interval_hours: INTERVAL, open, PLAIN;
        /// Hours from an interruption until the work goes on: waiting, start, set-up.
        restart_hours: RESTART, set, PLAIN;
    }
}

figures! {
    /// Buying the cards instead of renting them.
    Purchase {
        /// Price of a card; open: buying is not looked at.
        card_price: BUY, open, MONEY;
        /// Share of the server that a card takes.
        server_price: BUY_SERVER, set, MONEY;
        /// Power of the rest of the machine for a card, W.
        host_watts: HOST_WATTS, set, PLAIN;
        /// Price of a kWh.
        kwh_price: KWH, set, MONEY;
        /// Power drawn in all for each W of the machine (PUE).
        cooling_factor: PUE, set, PLAIN;
        /// Room, rack and line for a card and month.
        hosting_price: HOSTING, set, MONEY;
        /// People, a month for all cards.
        staff_price: STAFF, set, MONEY;
        /// What the cards and servers are sold for in the end, per cent of their price.
        resale_percent: RESALE, set, PLAIN;
        /// Months until they are sold.
        months: BUY_MONTHS, set, PLAIN;
        /// Hours a month that they work; open: as much as the scenario asks for.
        hours_per_month: BUY_HOURS, open, PLAIN;
    }
}

impl Money {
    /// The same amounts in another currency, to four digits.
    #[must_use]
    pub fn in_currency(mut self, currency: Currency) -> Self {
        if self.currency == currency {
            return self;
        }
        let factor = Exchange::of(&self).convert(1.0, self.currency, currency);
        let convert = |amount: f64, limit: &limits::Limit| {
            four_digits(amount * factor).clamp(limit.min, limit.max)
        };
        self.budget = self.budget.map(|b| convert(b, &limits::BUDGET));
        for (_, price) in &mut self.own_prices {
            *price = convert(*price, &limits::OWN_PRICE);
        }
        self.extras = self.extras.times(factor);
        self.spot = self.spot.times(factor);
        self.purchase = self.purchase.times(factor);
        self.currency = currency;
        self
    }
}

/// A converted amount as somebody would write it.
fn four_digits(amount: f64) -> f64 {
    if !(amount.is_finite() && amount > 0.0) {
        return amount;
    }
    let step = 10f64.powf(amount.log10().floor() - 3.0);
    let rounded = (amount / step).round() * step;
    // A power of ten below one is not exact; the shortest digits are.
    format!("{rounded:.6}").parse().unwrap_or(amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::defaults;

    #[test]
    fn nothing_is_charged_until_it_is_said() {
        let extras = Extras::default();
        let zero = [
            extras.setup_hours,
            extras.fetch_mbit_s,
            extras.upload_gb,
            extras.evaluation_percent,
            extras.failed_percent,
            extras.idle_percent,
            extras.disk_gb,
            extras.stopped_days,
            extras.egress_gb,
            extras.tax_percent,
        ];
        assert!(zero.iter().all(|figure| figure.abs() < 1e-300));
        assert_eq!(Purchase::default().card_price, None);
    }

    #[test]
    fn another_currency_takes_every_amount_along_and_nothing_else() {
        let mut money = defaults::money();
        money.budget = Some(700.0);
        money.cny_per_usd = 7.0;
        money.extras.disk_price = 0.7;
        money.extras.disk_gb = 70.0;
        money.purchase.card_price = Some(14_000.0);
        let dollars = money.clone().in_currency(Currency::Usd);
        assert_eq!(dollars.budget, Some(100.0));
        assert!((dollars.extras.disk_price - 0.1).abs() < 1e-12);
        assert!((dollars.extras.disk_gb - 70.0).abs() < 1e-12);
        assert_eq!(dollars.purchase.card_price, Some(2000.0));
        assert_eq!(dollars.in_currency(Currency::Cny), money);
    }
}
