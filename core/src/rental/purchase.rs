//! Renting against buying: what each costs in a month and over the months of use.

use serde::Serialize;

use crate::scenario::Purchase;

const WATTS_PER_KW: f64 = 1000.0;

/// What owning the cards of an offer costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ownership {
    /// Cards and their shares of servers, paid at once.
    pub price: f64,
    /// What they are sold for in the end.
    pub resale: f64,
    /// Paid every month, used or not: room and people.
    pub fixed_per_month: f64,
    /// Electricity of an hour of work.
    pub per_hour: f64,
    /// Months until they are sold.
    pub months: f64,
}

impl Ownership {
    /// `cards` cards that draw `card_watts` each; `None` where no purchase price is given.
    pub fn of(purchase: &Purchase, cards: u32, card_watts: f64) -> Option<Self> {
        let cards = f64::from(cards);
        let price = (purchase.card_price? + purchase.server_price) * cards;
        let kw = (card_watts + purchase.host_watts) * cards / WATTS_PER_KW;
        Some(Self {
            price,
            resale: price * purchase.resale_percent / 100.0,
            fixed_per_month: purchase.hosting_price * cards + purchase.staff_price,
            per_hour: kw * purchase.cooling_factor * purchase.kwh_price,
            months: purchase.months.max(1.0),
        })
    }

    /// Cost of a month with `hours` of use, the price spread over all months.
    pub fn per_month(&self, hours: f64) -> f64 {
        (self.price - self.resale) / self.months + self.fixed_per_month + self.per_hour * hours
    }

    /// What has been paid after `months` of `hours` each, and is not got back if they are sold
    /// then: the value falls evenly from the price to the resale.
    pub fn paid_after(&self, months: f64, hours: f64) -> f64 {
        let worn = (self.price - self.resale) * (months / self.months).min(1.0);
        worn + (self.fixed_per_month + self.per_hour * hours) * months
    }

    /// What has been spent after `months`, the price at once.
    pub fn spent_after(&self, months: f64, hours: f64) -> f64 {
        self.price + (self.fixed_per_month + self.per_hour * hours) * months
    }
}

/// Owning against renting by the hour, with a month's package where one is let.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RentOrBuy {
    /// Owning.
    pub own: Ownership,
    /// Rent of an hour of all cards.
    pub rent_per_hour: f64,
    /// Rent of a month of all cards, where one is let.
    pub rent_per_month: Option<f64>,
    /// Hours a month that the cards are used.
    pub hours_per_month: f64,
}

impl RentOrBuy {
    /// Rent of a month with `hours` of use, in the cheaper mode.
    pub fn rent(&self, hours: f64) -> f64 {
        let by_the_hour = self.rent_per_hour * hours;
        self.rent_per_month
            .map_or(by_the_hour, |month| month.min(by_the_hour))
    }

    /// Hours a month above which owning costs less, `None` where it never does.
    pub fn break_even_hours(&self) -> Option<f64> {
        const MOST_HOURS: f64 = 744.0;
        let saved_per_hour = self.rent_per_hour - self.own.per_hour;
        if saved_per_hour <= 0.0 {
            return None;
        }
        let hours = self.own.per_month(0.0) / saved_per_hour;
        // Beyond the month's package more hours cost no more rent, so owning only falls behind.
        (hours <= MOST_HOURS && self.rent(hours) >= self.own.per_month(hours) * (1.0 - 1e-9))
            .then_some(hours)
    }

    /// Months after which what was saved has paid for the cards, with nothing got back for them;
    /// `None` where it never does.
    pub fn pays_back_after_months(&self) -> Option<f64> {
        let saved = self.rent(self.hours_per_month)
            - self.own.fixed_per_month
            - self.own.per_hour * self.hours_per_month;
        (saved > 0.0).then(|| self.own.price / saved)
    }

    /// Whether owning costs less over all its months.
    pub fn owning_is_cheaper(&self) -> bool {
        self.own.per_month(self.hours_per_month) < self.rent(self.hours_per_month)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} is not {b}");
    }

    /// A card of 16,000 with 4,000 of server, 450 W and 150 W around it, 0.8 a kWh, a cooling factor of 1.5,
    /// 200 a month for the room, sold for a quarter after 40 months; rented at 2 an hour.
    fn by_hand() -> RentOrBuy {
        let purchase = Purchase {
            card_price: Some(16_000.0),
            server_price: 4000.0,
            host_watts: 150.0,
            kwh_price: 0.8,
            cooling_factor: 1.5,
            hosting_price: 200.0,
            staff_price: 0.0,
            resale_percent: 25.0,
            months: 40.0,
            hours_per_month: None,
        };
        RentOrBuy {
            own: Ownership::of(&purchase, 1, 450.0).unwrap_or_else(|| unreachable!()),
            rent_per_hour: 2.0,
            rent_per_month: None,
            hours_per_month: 500.0,
        }
    }

    #[test]
    fn a_card_by_hand() {
        let case = by_hand();
        // 0.6 kW x 1.5 x 0.8 = 0.72 an hour; (20000 - 5000)/40 + 200 = 575 a month.
        near(case.own.per_hour, 0.72);
        near(case.own.per_month(0.0), 575.0);
        near(case.own.per_month(500.0), 935.0);
        // 575 / (2 - 0.72) = 449.2 hours a month.
        near(case.break_even_hours().unwrap_or(0.0), 575.0 / 1.28);
        assert!(case.owning_is_cheaper());
        // 1000 of rent less 560 to run: 20000 / 440 months.
        near(
            case.pays_back_after_months().unwrap_or(0.0),
            20_000.0 / 440.0,
        );
    }

    #[test]
    fn a_months_package_can_keep_buying_from_ever_paying() {
        let mut case = by_hand();
        case.rent_per_month = Some(600.0);
        assert_eq!(case.break_even_hours(), None);
        assert!(!case.owning_is_cheaper());
        case.rent_per_hour = 0.5;
        assert_eq!(case.break_even_hours(), None);
        assert_eq!(case.pays_back_after_months(), None);
    }

    proptest! {
        #[test]
        fn at_the_break_even_both_cost_the_same(
            card in 100.0..1e6_f64, kwh in 0.0..2.0_f64, hosting in 0.0..1000.0_f64, rent in 0.1..50.0_f64,
        ) {
            let purchase = Purchase {
                card_price: Some(card), kwh_price: kwh, hosting_price: hosting, ..Purchase::default()
            };
            let own = Ownership::of(&purchase, 1, 450.0);
            prop_assert!(own.is_some());
            let case = RentOrBuy {
                own: own.unwrap_or(by_hand().own), rent_per_hour: rent, rent_per_month: None, hours_per_month: 300.0,
            };
            if let Some(hours) = case.break_even_hours() {
                prop_assert!((case.rent(hours) - case.own.per_month(hours)).abs() < 1e-6 * case.rent(hours));
            }
        }
    }
}
