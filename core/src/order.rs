//! One sort for lists of every kind.
//!
//! The standard library's is made anew for each kind of entry, some kilobytes each in a program that a browser loads; here
//! only moving the entries is.

use std::cmp::Ordering;

/// Entries up to which each is simply brought to its place.
const FEW: usize = 16;

/// Sorts by `compare`; what compares equal keeps its order.
pub fn sort_by<T>(entries: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    if entries.len() <= FEW {
        for end in 1..entries.len() {
            let Some((entry, before)) = entries.get(..=end).and_then(|sorted| sorted.split_last())
            else {
                return;
            };
            let place = before
                .iter()
                .rposition(|other| compare(other, entry).is_le())
                .map_or(0, |place| place + 1);
            if let Some(moved) = entries.get_mut(place..=end) {
                moved.rotate_right(1);
            }
        }
        return;
    }
    let places = sorted_places(entries.len(), &|a, b| {
        entries
            .get(a)
            .zip(entries.get(b))
            .map_or(Ordering::Equal, |(a, b)| compare(a, b))
    });
    let mut left: Vec<Option<T>> = entries.drain(..).map(Some).collect();
    entries.extend(
        places
            .into_iter()
            .filter_map(|place| left.get_mut(place)?.take()),
    );
}

/// Sorts by a key; what has the same key keeps its order.
pub fn sort_by_key<T, K: Ord>(entries: &mut Vec<T>, key: impl Fn(&T) -> K) {
    sort_by(entries, |a, b| key(a).cmp(&key(b)));
}

/// Places from 0 to `count`, sorted by what stands at them.
fn sorted_places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|a, b| compare(*a, *b));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_short_and_long_are_sorted_as_the_standard_library_does() {
        for count in [0, 1, 2, 3, FEW, FEW + 1, 500] {
            // Few keys, so that the order among equals shows.
            let entries: Vec<(usize, String)> =
                (0..count).map(|n| (n * 7919 % 11, n.to_string())).collect();
            let (mut sorted, mut expected) = (entries.clone(), entries);
            sort_by_key(&mut sorted, |(key, _)| *key);
            expected.sort_by_key(|(key, _)| *key);
            assert_eq!(sorted, expected, "{count}");
        }
    }
}
