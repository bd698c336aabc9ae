//! Whether an offer fits, and what would make it fit.

use super::{Assumption, Fit, Offer, Remedy};
use crate::estimate::{MemoryEstimate, MemoryPart};
use crate::plan::RentedNode;
use crate::plan::search::Fitness;

/// Sequences are not cut below this many tokens.
pub(super) const SHORTEST_TOKENS: u32 = 512;

/// Changes that make an offer fit without more cards, each checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Changes {
    /// Smaller changes than taking more cards.
    pub light: Vec<Remedy>,
    /// Larger ones.
    pub heavy: Vec<Remedy>,
}

/// The fit without its remedy.
pub(super) fn fit(fitness: Fitness, memory: &MemoryEstimate, usable_bytes: u64) -> Fit {
    match fitness {
        Fitness::Fits => Fit::Fits,
        Fitness::Tight => Fit::Tight { relief: None },
        Fitness::TooSmall => Fit::TooSmall {
            missing_bytes: (memory.needed_bytes.high - usable_bytes as f64)
                .max(0.0)
                .ceil() as u64,
            remedy: None,
        },
    }
}

/// Bytes that are missing, and whether freeing all of some parts of memory could make up for
/// them: a change is estimated anew only where it could.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap<'a> {
    missing_bytes: f64,
    parts: &'a [(MemoryPart, u64)],
}

impl<'a> Gap<'a> {
    /// The gap of an offer.
    pub fn of(offer: &'a Offer) -> Self {
        let needed = offer.memory.needed_bytes;
        let over = (needed.high - offer.usable_memory_bytes as f64).max(0.0);
        Self {
            missing_bytes: over * needed.mid / needed.high.max(1.0),
            parts: &offer.memory.parts,
        }
    }

    /// Whether `share` of these parts together is as much as is missing.
    pub fn could_be_filled(&self, share: f64, parts: &[MemoryPart]) -> bool {
        let freed = self.parts.iter().filter(|(part, _)| parts.contains(part));
        freed.map(|(_, bytes)| *bytes as f64).sum::<f64>() * share >= self.missing_bytes
    }
}

/// The network that an offer over several machines rests on, and whether it was read anywhere.
pub(super) fn network(nodes: u32, rented: &RentedNode<'_>) -> Vec<Assumption> {
    if nodes <= 1 {
        return Vec::new();
    }
    let network = Assumption::NetworkGbitPerS(rented.network_gbit_s);
    let assumed = rented.assumed.then_some(Assumption::MachineAssumed);
    [Some(network), assumed].into_iter().flatten().collect()
}

/// Gives every offer of one card that does not fit its remedies. Changes at the same count are
/// looked for inside one machine, and beyond it only where no number of cards suffices.
pub(super) fn attach(
    offers: &mut [Offer],
    cards_per_node: u32,
    changes: impl Fn(&Offer) -> Changes,
) {
    let fitting = offers
        .iter()
        .filter(|o| o.fit == Fit::Fits)
        .map(|o| o.count)
        .collect::<Vec<_>>();
    for offer in offers {
        if offer.fit == Fit::Fits {
            continue;
        }
        let more = fitting.iter().find(|count| **count > offer.count).copied();
        let looked_for = offer.count <= cards_per_node || more.is_none();
        let changes = if looked_for {
            changes(offer)
        } else {
            Changes::default()
        };
        offer.remedies = changes.light;
        offer.remedies.extend(more.map(Remedy::Cards));
        offer.remedies.extend(changes.heavy);
        let smallest = offer.remedies.first().copied();
        match &mut offer.fit {
            Fit::Fits => {}
            Fit::Tight { relief } => *relief = smallest,
            Fit::TooSmall { remedy, .. } => *remedy = smallest,
        }
    }
}
