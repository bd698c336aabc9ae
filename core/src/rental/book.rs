//! The price book as a person changes it: rows edited, added, hidden. What is shipped stays as it is beneath.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::catalog::{PriceBook, PriceOffer};

/// Source of rows that a person typed.
pub const OWN_ENTRY: &str = "your own entry";
/// Rows that are kept at most: a browser's store is small.
const MOST_ROWS: usize = 20_000;

/// What was changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BookEdits {
    /// Keys of shipped rows that are not used.
    hidden: BTreeSet<String>,
    /// Rows that take part beside the shipped ones.
    own: Vec<PriceOffer>,
    /// The shipped rows are left out altogether.
    only_own: bool,
}

/// What tells one shipped row from the others.
pub fn row_key(offer: &PriceOffer) -> String {
    let share = offer.share();
    format!(
        "{}|{}|{:?}|{}|{}|{}|{share}|{}",
        offer.card,
        offer.provider,
        offer.billing,
        offer.cards_together,
        offer.as_of,
        offer.price_per_card,
        offer.source,
    )
}

impl BookEdits {
    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The person's own rows.
    pub fn own(&self) -> &[PriceOffer] {
        &self.own
    }

    /// Shipped rows that are not used.
    pub fn hidden(&self) -> usize {
        self.hidden.len()
    }

    /// Whether the shipped rows are left out.
    pub fn only_own(&self) -> bool {
        self.only_own
    }

    /// Leaves the shipped rows out, or takes them in again.
    pub fn use_only_own(&mut self, only: bool) {
        self.only_own = only;
    }

    /// The book with the changes.
    pub fn apply(&self, shipped: &PriceBook) -> PriceBook {
        let kept = shipped
            .offers
            .iter()
            .filter(|offer| !self.only_own && !self.hidden.contains(&row_key(offer)));
        PriceBook {
            offers: kept.chain(&self.own).cloned().collect(),
        }
    }

    /// Gives a row another price, of `today` (`YYYY-MM-DD`). A shipped row is hidden and a copy of it takes its
    /// place. A price that is no positive number changes nothing.
    pub fn set_price(&mut self, offer: &PriceOffer, price: f64, today: &str) {
        if !(price.is_finite() && price > 0.0) {
            return;
        }
        let edited = PriceOffer {
            price_per_card: price,
            as_of: today.to_owned(),
            source: OWN_ENTRY.into(),
            low_confidence: false,
            notes: None,
            ..offer.clone()
        };
        match self.own.iter_mut().find(|own| *own == offer) {
            Some(own) => *own = edited,
            None => {
                self.hidden.insert(row_key(offer));
                self.own.push(edited);
            }
        }
    }

    /// Adds rows, and tells how many were taken.
    pub fn add(&mut self, offers: impl IntoIterator<Item = PriceOffer>) -> usize {
        let before = self.own.len();
        for offer in offers {
            if self.own.len() < MOST_ROWS && !self.own.contains(&offer) {
                self.own.push(offer);
            }
        }
        self.own.len() - before
    }

    /// Takes a row out.
    pub fn remove(&mut self, offer: &PriceOffer) {
        match self.own.iter().position(|own| own == offer) {
            Some(at) => {
                self.own.remove(at);
            }
            None => {
                self.hidden.insert(row_key(offer));
            }
        }
    }

    /// As JSON, for a browser's store.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads [`Self::to_json`]; what cannot be read is no change.
    pub fn from_json(json: &str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> &'static PriceBook {
        PriceBook::embedded()
    }

    #[test]
    fn an_edited_row_takes_the_place_of_the_shipped_one() {
        let row = &shipped().offers[0];
        let mut edits = BookEdits::default();
        edits.set_price(row, 1.5, "2026-11-30");
        let book = edits.apply(shipped());
        assert_eq!(book.offers.len(), shipped().offers.len());
        assert!(!book.offers.contains(row));
        let edited = book.offers.last().cloned();
        assert_eq!(
            edited.as_ref().map(|o| o.as_of.as_str()),
            Some("2026-11-30")
        );
        assert_eq!(edited.as_ref().map(|o| o.source.as_str()), Some(OWN_ENTRY));
        // Edited again, it is still one row; taken out, it is none, and the shipped one does not come back.
        let edited = edited.unwrap_or_else(|| row.clone());
        edits.set_price(&edited, 1.7, "2026-12-01");
        assert_eq!(edits.own().len(), 1);
        let again = edits.own()[0].clone();
        edits.remove(&again);
        assert_eq!(
            edits.apply(shipped()).offers.len(),
            shipped().offers.len() - 1
        );
        edits.set_price(row, f64::NAN, "2026-12-01");
        assert_eq!(edits.own().len(), 0);
    }

    #[test]
    fn rows_are_added_once_and_survive_the_store() {
        let rows = shipped().offers[..3].to_vec();
        let mut edits = BookEdits::default();
        assert_eq!(edits.add(rows.clone()), 3);
        assert_eq!(edits.add(rows), 0);
        edits.use_only_own(true);
        assert_eq!(edits.apply(shipped()).offers.len(), 3);
        assert_eq!(BookEdits::from_json(&edits.to_json()), edits);
        assert!(BookEdits::from_json("rubbish").is_empty());
    }

    #[test]
    fn keys_tell_shipped_rows_apart_but_for_exact_repeats() {
        let keys: BTreeSet<_> = shipped().offers.iter().map(row_key).collect();
        assert!(
            keys.len() * 100 >= shipped().offers.len() * 97,
            "{}",
            keys.len()
        );
    }
}
