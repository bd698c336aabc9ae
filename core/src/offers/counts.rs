//! Which numbers of cards are worth an offer.

use crate::scenario::Shelf;

/// Largest number of cards that is looked at unasked.
pub(super) const MOST_CARDS: u32 = 16_384;

/// Cards of one machine that are counted one by one.
const SINGLY: u32 = 8;

/// Counts of one card, ascending: one by one inside a machine, then whole machines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    /// Cards in one machine.
    pub cards_per_node: u32,
    /// Largest count.
    pub most: u32,
    /// Also one and a half times each power of two of machines.
    pub fine: bool,
}

impl Counts {
    /// All counts that `shelf` allows.
    pub fn of(self, shelf: &Shelf) -> Vec<u32> {
        if let Some(count) = shelf.count {
            return (count > 0).then_some(count).into_iter().collect();
        }
        let node = self.cards_per_node.max(1);
        let most = self.most.min(shelf.max_count.unwrap_or(MOST_CARDS));
        let inside = (1..=node.min(SINGLY)).chain((node > SINGLY).then_some(node));
        let machines = (1..=14_u32).map(|power| 1_u32 << power);
        let whole = machines.flat_map(|n| {
            let half_more = (self.fine && n > 1).then_some(n + n / 2);
            [Some(n), half_more].into_iter().flatten()
        });
        inside
            .chain(whole.map(|n| n.saturating_mul(node)))
            .take_while(|count| *count <= most)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(cards_per_node: u32, most: u32, fine: bool) -> Vec<u32> {
        Counts {
            cards_per_node,
            most,
            fine,
        }
        .of(&Shelf::default())
    }

    #[test]
    fn one_machine_singly_then_whole_machines() {
        assert_eq!(counts(8, 64, false), [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64]);
        assert_eq!(counts(4, 24, true), [1, 2, 3, 4, 8, 12, 16, 24],);
        assert_eq!(counts(1, 8, false), [1, 2, 4, 8]);
        assert_eq!(counts(16, 32, false), [1, 2, 3, 4, 5, 6, 7, 8, 16, 32]);
        assert_eq!(counts(8, MOST_CARDS, false).last(), Some(&16_384));
    }

    #[test]
    fn the_user_fixes_or_caps_it() {
        let all = Counts {
            cards_per_node: 8,
            most: MOST_CARDS,
            fine: false,
        };
        let fixed = Shelf {
            count: Some(24),
            ..Shelf::default()
        };
        assert_eq!(all.of(&fixed), [24]);
        let capped = Shelf {
            max_count: Some(5),
            ..Shelf::default()
        };
        assert_eq!(all.of(&capped), [1, 2, 3, 4, 5]);
        let none = Shelf {
            count: Some(0),
            ..Shelf::default()
        };
        assert!(all.of(&none).is_empty());
    }
}
