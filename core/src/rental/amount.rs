//! Money in decimals, for what is shown as a bill.

use std::iter::Sum;
use std::ops::{Add, Sub};

use serde::{Serialize, Serializer};

/// An amount of money, exact to a billionth. What goes beyond it is lost, what is no number is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount {
    billionths: i128,
}

const BILLION: i128 = 1_000_000_000;
const CENT: i128 = 10_000_000;
/// Far above any bill (1e19), and low enough that its products stay whole.
const MOST: f64 = 1e28;

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self { billionths: 0 };

    /// The decimal that a figure stands for, to a billionth.
    pub fn of(value: f64) -> Self {
        Self {
            billionths: billionths(value),
        }
    }

    /// `quantity` at `price` each, both to a billionth, rounded to the cent, halves up.
    pub fn of_product(quantity: f64, price: f64) -> Self {
        // Both are bounded by MOST, and one of them by far less: a product of more is no bill.
        let product = billionths(quantity)
            .checked_mul(billionths(price))
            .unwrap_or(i128::MAX / 2);
        let cents = (product + BILLION * CENT / 2).div_euclid(BILLION * CENT);
        Self {
            billionths: cents.saturating_mul(CENT),
        }
    }

    /// The same to the cent, halves up.
    #[must_use]
    pub fn to_cent(self) -> Self {
        Self {
            billionths: self
                .billionths
                .saturating_add(CENT / 2)
                .div_euclid(CENT)
                .saturating_mul(CENT),
        }
    }

    /// Whole cents, the rest cut off.
    pub fn cents(self) -> i128 {
        self.billionths.div_euclid(CENT)
    }

    /// Whether it is nothing.
    pub fn is_zero(self) -> bool {
        self.billionths == 0
    }

    /// As a figure to compute with.
    pub fn value(self) -> f64 {
        self.billionths as f64 / BILLION as f64
    }

    /// With two decimals: `1234.50`.
    pub fn decimal(self) -> String {
        let cents = self.to_cent().cents();
        let sign = if cents < 0 { "-" } else { "" };
        let cents = cents.unsigned_abs();
        format!("{sign}{}.{:02}", cents / 100, cents % 100)
    }
}

fn billionths(value: f64) -> i128 {
    if value.is_nan() {
        return 0;
    }
    (value * BILLION as f64).round().clamp(-MOST, MOST) as i128
}

impl Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            billionths: self.billionths.saturating_add(other.billionths),
        }
    }
}

impl Sub for Amount {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            billionths: self.billionths.saturating_sub(other.billionths),
        }
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.decimal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_what_people_write() {
        // 1.005 in binary is a little less than it says, and 0.1 + 0.2 a little more.
        assert_eq!(Amount::of(1.005).to_cent().decimal(), "1.01");
        assert_eq!((Amount::of(0.1) + Amount::of(0.2)).decimal(), "0.30");
        assert_eq!(Amount::of_product(3.0, 0.335).decimal(), "1.01");
        assert_eq!(Amount::of_product(22.0, 3.2).decimal(), "70.40");
        assert_eq!(Amount::of(f64::NAN), Amount::ZERO);
        assert_eq!(Amount::of(-0.5).decimal(), "-0.50");
    }

    #[test]
    fn no_amount_is_too_large() {
        let most = Amount::of_product(f64::INFINITY, f64::INFINITY);
        assert!(most > Amount::of(1e15) && most + most >= most);
    }

    proptest! {
        #[test]
        fn more_of_it_or_a_higher_price_never_costs_less(
            quantity in 0.0..1e7_f64, price in 0.0..1e6_f64, more in 1.0..2.0_f64,
        ) {
            let cost = Amount::of_product(quantity, price);
            prop_assert!(Amount::of_product(quantity * more, price) >= cost);
            prop_assert!(Amount::of_product(quantity, price * more) >= cost);
            prop_assert!((cost.value() - quantity * price).abs() <= 0.006 + price * 1e-6 + quantity * 1e-6);
        }
    }
}
