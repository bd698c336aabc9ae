//! The files of entries that ship with the product, each read once: at one go, or a few entries at a time for a page that has
//! other things to do in between.

use std::sync::{Mutex, OnceLock};

use crate::packed::{Packed, PackedFile, Reader};

/// Entries that are read at a time: some milliseconds of a slow phone.
const ENTRIES_AT_A_TIME: u64 = 100;

/// A file of entries and what is made of them.
pub(super) struct DataFile<T, W = Vec<T>> {
    file: &'static PackedFile,
    whole: OnceLock<W>,
    begun: Mutex<Option<Begun<T>>>,
}

/// A file in the middle of being read.
struct Begun<T> {
    entries: Vec<T>,
    /// Entries that are left.
    left: u64,
    reader: Reader,
}

impl<T: Packed, W: From<Vec<T>>> DataFile<T, W> {
    /// A list that is packed.
    pub const fn new(file: &'static PackedFile) -> Self {
        Self {
            file,
            whole: OnceLock::new(),
            begun: Mutex::new(None),
        }
    }

    /// All of it.
    pub fn read(&self) -> &W {
        self.whole.get_or_init(|| self.file.read::<Vec<T>>().into())
    }

    /// Reads the next entries. `false`: all of them have been read.
    pub fn read_some(&self) -> bool {
        if self.whole.get().is_some() {
            return false;
        }
        let Ok(mut begun) = self.begun.lock() else {
            return false;
        };
        let begun = begun.get_or_insert_with(|| {
            let mut reader = Reader::new(self.file.bytes().unwrap_or_default());
            Begun {
                entries: Vec::new(),
                left: u64::unpack(&mut reader),
                reader,
            }
        });
        if begun.left == 0 {
            let entries = std::mem::take(&mut begun.entries);
            let _known = self.whole.set(entries.into());
            return false;
        }
        let count = begun.left.min(ENTRIES_AT_A_TIME);
        let reader = &mut begun.reader;
        begun.entries.extend((0..count).map(|_| T::unpack(reader)));
        begun.left -= count;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{CARDS_FILE, Card, MODELS_FILE, Model, PriceOffer, price};

    /// Both ways to read, and how many goes the second took.
    fn both<T: Packed + PartialEq>(file: &'static PackedFile) -> (bool, usize) {
        let (whole, pieces) = (DataFile::<T>::new(file), DataFile::<T>::new(file));
        let goes = std::iter::repeat_with(|| pieces.read_some())
            .take_while(|more| *more)
            .count();
        let same = pieces.whole.get().is_some_and(|read| read == whole.read());
        (same && !whole.read().is_empty(), goes)
    }

    #[test]
    fn a_file_is_the_same_read_in_pieces() {
        for (same, goes) in [
            both::<Card>(&CARDS_FILE),
            both::<Model>(&MODELS_FILE),
            both::<PriceOffer>(&price::FILE),
        ] {
            assert!(same && goes > 1, "{same} in {goes}");
        }
    }
}
