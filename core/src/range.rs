//! A value with the low and high that hold about 80 of 100 measured results.

use serde::{Deserialize, Serialize};

/// Low, middle and high of one quantity, in the unit that the holding field names.
/// Invariant: `0 <= low <= mid <= high`, all finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Lower end.
    pub low: f64,
    /// Best single estimate.
    pub mid: f64,
    /// Upper end.
    pub high: f64,
}

impl Range {
    /// A value that is known exactly.
    pub fn exact(value: f64) -> Self {
        Self {
            low: value,
            mid: value,
            high: value,
        }
    }

    /// `mid` with factors for its ends, `low_factor <= 1 <= high_factor`.
    pub fn spread(mid: f64, low_factor: f64, high_factor: f64) -> Self {
        Self {
            low: mid * low_factor,
            mid,
            high: mid * high_factor,
        }
    }

    /// Both ends and the middle times a factor that is not negative.
    pub fn scale(self, factor: f64) -> Self {
        Self {
            low: self.low * factor,
            mid: self.mid * factor,
            high: self.high * factor,
        }
    }

    /// `amount / self`: a high speed makes a short time, so the ends change places.
    pub fn divide_into(self, amount: f64) -> Self {
        Self {
            low: amount / self.high,
            mid: amount / self.mid,
            high: amount / self.low,
        }
    }

    /// Whether `value` lies within the ends.
    pub fn holds(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}
