//! The name that was probably meant.

use crate::catalog::Catalog;

/// Id of the model whose name is nearest, where one is near.
pub(super) fn model(catalog: &Catalog, name: &str) -> Option<String> {
    let others = catalog.diffusion.iter().map(|m| m.id.as_str());
    let others = others.chain(catalog.networks.iter().map(|m| m.id.as_str()));
    let others = others.chain(catalog.workloads.iter().map(|m| m.id.as_str()));
    let models = catalog.models.iter().map(|m| m.id.as_str());
    nearest(name, models.chain(others))
}

/// Id of the card whose name is nearest, where one is near.
pub fn card(catalog: &Catalog, name: &str) -> Option<String> {
    nearest(name, catalog.cards.iter().map(|c| c.id.as_str()))
}

fn nearest<'a>(name: &str, ids: impl Iterator<Item = &'a str>) -> Option<String> {
    /// Nobody mistypes a name this long; also bounds the work.
    const LONGEST: usize = 60;
    let wanted: Vec<char> = name
        .chars()
        .take(LONGEST)
        .flat_map(char::to_lowercase)
        .collect();
    let (distance, id) = ids
        .map(|id| (distance(&wanted, id), id))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + wanted.len() / 4).then(|| id.to_owned())
}

/// Insertions, deletions and changes between two words (Levenshtein 1966), one row at a time.
fn distance(a: &[char], b: &str) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, in_b) in b.chars().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(i + 1);
        for ((in_a, window), left_of) in a.iter().zip(row.windows(2)).zip(0..) {
            let &[diagonal, above] = window else { continue };
            let left: usize = next.get(left_of).copied().unwrap_or(above);
            let change = diagonal + usize::from(*in_a != in_b);
            next.push(change.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        let catalog = Catalog::embedded();
        assert_eq!(
            model(catalog, "lama-3.1-8b").as_deref(),
            Some("llama-3.1-8b")
        );
        assert_eq!(card(catalog, "rtx-40900").as_deref(), Some("rtx-4090"));
        assert_eq!(model(catalog, "my own model"), None);
        assert_eq!(model(catalog, ""), None);
    }

    #[test]
    fn distances_are_counted() {
        let count = |a: &str, b| distance(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!(count("kitten", "sitting"), 3);
        assert_eq!(count("", "abc"), 3);
        assert_eq!(count("abc", ""), 3);
        assert_eq!(count("same", "same"), 0);
    }
}
