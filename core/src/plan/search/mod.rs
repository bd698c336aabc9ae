//! The search for a layout: the fastest that fits, else the one that needs the least memory.
//!
//! Estimates are cheap but a ranking asks for thousands of them, so layouts that cannot fit are
//! left out by arithmetic first, and what is monotone is bisected.

mod serving;
mod training;
mod work;

pub use serving::{PlannedServing, ServingSearch};
pub use training::{FixedLayout, PlannedTraining, TrainingSearch};
pub use work::{CopiesAlone, PlannedWork, WorkTask};

use crate::estimate::MemoryEstimate;

/// How a memory estimate stands to the memory there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fitness {
    /// The upper end fits.
    Fits,
    /// Only the lower end fits.
    Tight,
    /// Not even the lower end fits.
    TooSmall,
}

impl Fitness {
    /// Fitness of `memory` on a card with `usable_bytes`.
    pub fn of(memory: &MemoryEstimate, usable_bytes: u64) -> Self {
        let usable = usable_bytes as f64;
        if memory.needed_bytes.high <= usable {
            Self::Fits
        } else if memory.needed_bytes.low <= usable {
            Self::Tight
        } else {
            Self::TooSmall
        }
    }
}

/// A more complicated layout must be faster than a simpler one by this factor to be taken.
const WORTH_THE_TROUBLE: f64 = 1.03;

/// Whether `a` is `b`, its half or its double.
fn is_near(a: u32, b: u32) -> bool {
    a == b || a.checked_mul(2) == Some(b) || b.checked_mul(2) == Some(a)
}

/// Powers of two from 1 to `most`.
fn powers_of_two(most: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(1_u32), |n| n.checked_mul(2)).take_while(move |n| *n <= most)
}

/// Whether `layers` split over `stages` leaves no stage much emptier than the others.
fn splits_layers(layers: u32, stages: u32) -> bool {
    /// The fullest stage may hold this many times the mean.
    const UNEVEN: f64 = 1.15;
    if stages == 0 || stages > layers {
        return false;
    }
    let fullest = f64::from(layers.div_ceil(stages));
    fullest * f64::from(stages) <= f64::from(layers) * UNEVEN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_split_evenly_or_nearly() {
        assert!(splits_layers(32, 8));
        assert!(splits_layers(126, 16), "Llama 3 405B over 16 stages");
        assert!(!splits_layers(32, 24));
        assert!(!splits_layers(4, 8));
        assert!(!splits_layers(4, 0));
    }

    #[test]
    fn powers_stop_at_the_end() {
        assert_eq!(powers_of_two(9).collect::<Vec<_>>(), [1, 2, 4, 8]);
        assert_eq!(powers_of_two(0).count(), 0);
        assert_eq!(powers_of_two(u32::MAX).count(), 32);
    }
}
