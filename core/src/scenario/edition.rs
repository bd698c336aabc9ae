//! Which catalog, prices and fitted constants an answer rests on.

use std::sync::OnceLock;

use crate::packed::{PackedFile, packed_file};

/// The hash alone: the page does not carry the files as they are edited.
pub(crate) static FILE: PackedFile = packed_file!(
    "edition",
    hash,
    [
        include_str!("../../data/cards.json"),
        include_str!("../../data/models.json"),
        include_str!("../../data/prices.csv"),
        include_str!("../../data/exchange.json"),
        include_str!("../../data/calibration/training.json"),
        include_str!("../../data/calibration/serving.json"),
    ]
);

/// A short name of the data that ships with the product, made of their content: two builds with the same data have the
/// same edition.
pub fn edition() -> &'static str {
    static EDITION: OnceLock<String> = OnceLock::new();
    EDITION.get_or_init(|| base36(FILE.read::<u64>() % 36_u64.pow(7)))
}

/// FNV-1a: no secret is kept, only change is noticed.
#[cfg(not(packed))]
fn hash(texts: [&str; 6]) -> Result<u64, String> {
    let bytes = texts.iter().flat_map(|text| text.bytes());
    Ok(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }))
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        let digit = u32::try_from(number % 36).unwrap_or(0);
        digits.extend(char::from_digit(digit, 36));
        number /= 36;
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edition_is_a_short_word() {
        assert!((1..=7).contains(&edition().len()) && edition().chars().all(char::is_alphanumeric));
        assert_eq!(
            (base36(0), base36(35), base36(36)),
            ("0".into(), "z".into(), "10".into())
        );
    }
}
