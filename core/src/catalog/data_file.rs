//! The data files that ship with the product, each read once: at one go, or a few entries at a time for a page that has
//! other things to do in between.

use std::sync::{Mutex, OnceLock};

use serde::de::DeserializeOwned;

/// Bytes of a file that are read at a time: some milliseconds of a slow phone.
const PIECE_BYTES: usize = 8192;

/// A file of entries, one a line, and what is made of them. The tests read them too; were one ever unreadable, it is
/// empty.
pub(super) struct DataFile<T, W = Vec<T>> {
    text: &'static str,
    parse: fn(&'static str, &str) -> Option<Vec<T>>,
    whole: OnceLock<W>,
    begun: Mutex<Begun<T>>,
}

/// A file in the middle of being read.
struct Begun<T> {
    entries: Vec<T>,
    /// Bytes that have been read.
    bytes: usize,
}

impl<T: DeserializeOwned, W: From<Vec<T>>> DataFile<T, W> {
    /// An array of JSON.
    pub const fn json(text: &'static str) -> Self {
        Self::new(text, |text, lines| {
            if lines.len() == text.len() {
                return serde_json::from_str(lines).ok();
            }
            let lines = lines.strip_prefix("[\n").unwrap_or(lines).trim_end();
            let lines = lines.strip_suffix("\n]").unwrap_or(lines);
            let lines = lines.strip_suffix(',').unwrap_or(lines);
            serde_json::from_str(&format!("[{lines}]")).ok()
        })
    }

    /// A table with its head.
    pub const fn csv(text: &'static str) -> Self {
        Self::new(text, |text, lines| {
            let head = text.lines().next().unwrap_or_default();
            let lines = lines.strip_prefix(head).unwrap_or(lines);
            let table = format!("{head}\n{lines}");
            let mut rows = csv::Reader::from_reader(table.as_bytes());
            rows.deserialize().collect::<Result<_, _>>().ok()
        })
    }

    const fn new(text: &'static str, parse: fn(&'static str, &str) -> Option<Vec<T>>) -> Self {
        Self {
            text,
            parse,
            whole: OnceLock::new(),
            begun: Mutex::new(Begun {
                entries: Vec::new(),
                bytes: 0,
            }),
        }
    }

    /// All of it.
    pub fn read(&self) -> &W {
        let all = || (self.parse)(self.text, self.text).unwrap_or_default();
        self.whole.get_or_init(|| all().into())
    }

    /// Reads the next entries. `false`: all of them have been read.
    pub fn read_some(&self) -> bool {
        if self.whole.get().is_some() {
            return false;
        }
        let Ok(mut begun) = self.begun.lock() else {
            return false;
        };
        let lines = piece(self.text.get(begun.bytes..).unwrap_or_default());
        let more = if lines.is_empty() {
            None
        } else {
            (self.parse)(self.text, lines)
        };
        let Some(more) = more else {
            // The end, or lines that are no entries: then what is missing is read at one go.
            if lines.is_empty() {
                let entries = std::mem::take(&mut begun.entries);
                let _known = self.whole.set(entries.into());
            }
            return false;
        };
        begun.entries.extend(more);
        begun.bytes += lines.len();
        true
    }
}

/// The first lines of `text`, about [`PIECE_BYTES`] of them.
fn piece(text: &str) -> &str {
    let bytes = text.as_bytes();
    let end = bytes
        .iter()
        .enumerate()
        .skip(PIECE_BYTES.min(bytes.len()))
        .find(|(_, byte)| **byte == b'\n')
        .map_or(bytes.len(), |(at, _)| at + 1);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Card, Model, PriceOffer};

    /// Both ways to read, and how many goes the second took.
    fn both<T: DeserializeOwned + PartialEq>(file: impl Fn() -> DataFile<T>) -> (bool, usize) {
        let (whole, pieces) = (file(), file());
        let goes = std::iter::repeat_with(|| pieces.read_some())
            .take_while(|more| *more)
            .count();
        let same = pieces.whole.get().is_some_and(|read| read == whole.read());
        (same && !whole.read().is_empty(), goes)
    }

    #[test]
    fn a_file_is_the_same_read_in_pieces() {
        let cards = both::<Card>(|| DataFile::json(include_str!("../../data/cards.json")));
        let models = both::<Model>(|| DataFile::json(include_str!("../../data/models.json")));
        let prices = both::<PriceOffer>(|| DataFile::csv(include_str!("../../data/prices.csv")));
        for (same, goes) in [cards, models, prices] {
            assert!(same && goes > 5, "{same} in {goes}");
        }
    }

    #[test]
    fn lines_that_are_no_entries_are_read_at_one_go() {
        let text: &str = format!("[{}2]", "1\n,".repeat(5000)).leak();
        let file = DataFile::<u32>::json(text);
        while file.read_some() {}
        assert_eq!((file.read().len(), file.read().last()), (5001, Some(&2)));
        let broken = DataFile::<u32>::json("[1,\n");
        assert!(!broken.read_some());
        assert!(broken.read().is_empty());
    }
}
