//! Pasted text as tokens: cards, numbers with their units, the words of `core/data/check/words.json`, models, breaks.

use super::claims::MOST_ITEMS;
use super::units::{Unit, unit_at};
use super::vocabulary::{Word, vocabulary, word_at};
use crate::check::names::{Mention, mention_at};
use crate::check::number::number_at;

/// What sets parts of text apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// A line's or a sentence's end.
    Clause,
    /// A table's cell.
    Cell,
    /// A comma.
    Comma,
    /// A slash, `+`, `|` without blanks.
    Slash,
    /// A colon or an equals sign.
    Colon,
    /// An opening bracket.
    Bracket,
}

/// A number or a range with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The number, or the lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// What a step of the last digit that is not a trailing nought is worth.
    pub place: f64,
    /// Unit.
    pub unit: Option<Unit>,
}

/// A token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token {
    /// A card's name: index of its family.
    Card(usize),
    /// A model's name: parameters, 0 where nobody has published them.
    Model(f64),
    /// A number.
    Figure(Figure),
    /// A word.
    Word(Word),
    /// A break.
    Break(Break),
}

/// Most tokens that are looked at: a long listing has two thousand.
const MOST_TOKENS: usize = 50_000;
/// Most sentences and rows with a card's name: twice as many as are judged, since a table's own rows may be about the
/// cards of its head.
const MOST_NAMING: usize = 2 * MOST_ITEMS;

/// The tokens of cleaned text, up to [`MOST_TOKENS`], and whether there are more.
pub fn tokens(text: &str) -> (Vec<Token>, bool) {
    let bytes = text.as_bytes();
    let vocabulary = vocabulary();
    let mut out = Vec::new();
    let mut i = 0;
    let (mut naming, mut names) = (0, false);
    while let Some(&byte) = bytes.get(i).filter(|_| out.len() < MOST_TOKENS) {
        let second = bytes.get(i + 1).copied().unwrap_or_default();
        if vocabulary.may_begin(byte, second) {
            if let Some(Mention { family, end, .. }) = mention_at(bytes, i) {
                out.push(Token::Card(family));
                names = true;
                i = end;
                continue;
            }
            if let Some((token, end)) = word_at(bytes, i, vocabulary) {
                out.push(token);
                i = end;
                continue;
            }
        }
        if byte.is_ascii_digit() && may_begin(bytes, i) {
            i = figures_at(bytes, i, &mut out);
        } else if byte.is_ascii_alphanumeric() {
            // A word that means nothing here.
            while bytes.get(i).is_some_and(u8::is_ascii_alphanumeric) {
                i += 1;
            }
        } else if byte.is_ascii() {
            if let Some(kind) = break_at(bytes, i) {
                out.push(Token::Break(kind));
                if kind == Break::Clause && std::mem::take(&mut names) {
                    naming += 1;
                    if naming > MOST_NAMING {
                        break;
                    }
                }
            }
            i += 1;
        } else {
            i += match byte {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                // The rest of a character.
                _ => 1,
            };
        }
    }
    (out, i < bytes.len())
}

fn break_at(bytes: &[u8], at: usize) -> Option<Break> {
    Some(match bytes.get(at)? {
        b'\n' | b';' => Break::Clause,
        b'!' | b'?' => Break::Clause,
        // A sentence's end, not a decimal point.
        b'.' if matches!(bytes.get(at + 1), Some(b' ' | b'\n') | None) => Break::Clause,
        b'|' | b'\t' => Break::Cell,
        b',' => Break::Comma,
        b'/' | b'+' => Break::Slash,
        b':' | b'=' => Break::Colon,
        b'(' => Break::Bracket,
        _ => return None,
    })
}

fn may_begin(bytes: &[u8], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|i| bytes.get(i)).copied();
    match before(1) {
        None => true,
        Some(b'x' | b'*') => before(2).is_none_or(|b| b.is_ascii_digit() || b == b' '),
        Some(b'.') => false,
        Some(b) => !b.is_ascii_alphanumeric(),
    }
}

/// Reads the number at `at` with its unit, a range or a list of such; the byte after it.
fn figures_at(bytes: &[u8], at: usize, out: &mut Vec<Token>) -> usize {
    let Some(first) = number_at(bytes, at) else {
        // A version, a date or a serial number.
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|b| !b.is_ascii_alphanumeric() && *b != b'.')
            .unwrap_or(rest.len());
        return at + length.max(1);
    };
    let (mut unit, mut end) = unit_at(bytes, first.end);
    // No card has a hundred PFLOPS: "8358P" is a processor.
    if unit == Some(Unit::Pflops) && first.value >= 100.0 {
        (unit, end) = (None, first.end);
    }
    let mut figure = Figure {
        low: first.value,
        high: first.value,
        place: place(first.value, first.place),
        unit,
    };
    if bytes.get(first.end).is_some_and(u8::is_ascii_alphabetic) && unit.is_none() {
        // "8xlarge", "24xlarge", "3rd": part of a name.
        let next = bytes.get(first.end..).unwrap_or_default();
        let counts = next.starts_with(b"x") && !next.get(1).is_some_and(u8::is_ascii_alphabetic);
        let length = next
            .iter()
            .position(|b| !b.is_ascii_alphanumeric())
            .unwrap_or(next.len());
        if !counts && !next.starts_with(b"d") {
            return first.end + length;
        }
    }
    if let Some((second, after)) = range_at(bytes, end) {
        let (second_unit, second_end) = unit_at(bytes, second.end);
        let dated = bytes.get(second.end) == Some(&b'-') && second_unit.is_none();
        if dated {
            return bytes
                .get(after..)
                .and_then(|rest| rest.iter().position(|b| !b.is_ascii_digit() && *b != b'-'))
                .map_or(bytes.len(), |n| after + n);
        }
        if second.value >= figure.low && (unit.is_none() || second_unit == unit) {
            figure.high = second.value;
            figure.place = place(second.value, second.place);
            figure.unit = second_unit;
            end = second_end;
        }
    }
    // "80/94 GB": the unit is written once.
    if figure.unit.is_none()
        && bytes.get(end) == Some(&b'/')
        && let Some(second) = number_at(bytes, end + 1)
        && let (Some(unit), _) = unit_at(bytes, second.end)
        && unit != Unit::Cards
    {
        figure.unit = Some(unit);
    }
    out.push(Token::Figure(figure));
    end
}

/// What a step of the last digit that counts is worth: 100 of 1500.
fn place(value: f64, written: f64) -> f64 {
    let mut place = written;
    if place >= 1.0 {
        while value > 0.0 && place < 1e6 && (value / (place * 10.0)).fract() == 0.0 {
            place *= 10.0;
        }
    }
    place
}

fn range_at(bytes: &[u8], at: usize) -> Option<(crate::check::number::Number, usize)> {
    let skip = |mut i: usize| {
        while bytes.get(i) == Some(&b' ') && i < at + 3 {
            i += 1;
        }
        i
    };
    let begin = skip(at);
    let rest = bytes.get(begin..)?;
    let length = ["-", "~", "至", "到", "to "]
        .iter()
        .find(|mark| rest.starts_with(mark.as_bytes()))
        .map(|mark| mark.len())?;
    let mut second = skip(begin + length);
    // "¥20-¥50"
    for sign in ["¥", "$"] {
        if bytes
            .get(second..)
            .is_some_and(|r| r.starts_with(sign.as_bytes()))
        {
            second += sign.len();
        }
    }
    Some((number_at(bytes, second)?, second))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::check::clean::clean;

    fn figures(text: &str) -> Vec<(f64, f64, Option<Unit>)> {
        tokens(&clean(text))
            .0
            .into_iter()
            .filter_map(|token| match token {
                Token::Figure(f) => Some((f.low, f.high, f.unit)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn every_word_of_the_data_file_is_known() {
        let spelled: HashMap<Word, String> =
            serde_json::from_str(include_str!("../../../data/check/words.json"))
                .unwrap_or_default();
        assert!(spelled.len() > 80, "{}", spelled.len());
    }

    #[test]
    fn figures_have_their_units() {
        assert_eq!(figures("80G 显存"), [(80.0, 80.0, Some(Unit::Gb))]);
        assert_eq!(figures("312T FP16"), [(312.0, 312.0, Some(Unit::Tflops))]);
        assert_eq!(
            figures("2,039 GB/s"),
            [(2039.0, 2039.0, Some(Unit::GbPerS))]
        );
        assert_eq!(
            figures("月租 1.8 万"),
            [(1.8, 1.8, Some(Unit::TenThousand))]
        );
        assert_eq!(figures("3-5万"), [(3.0, 5.0, Some(Unit::TenThousand))]);
        assert_eq!(
            figures("80/94GB"),
            [(80.0, 80.0, Some(Unit::Gb)), (94.0, 94.0, Some(Unit::Gb))]
        );
        assert_eq!(figures("20-50 元"), [(20.0, 50.0, None)]);
        assert_eq!(figures("7 t/s"), [(7.0, 7.0, None)]);
    }

    #[test]
    fn dates_versions_and_instance_names_are_no_figures() {
        assert_eq!(figures("2024-05-01"), []);
        assert_eq!(figures("535.104.05"), []);
        assert_eq!(figures("ecs.gn7i-c8g1.24xlarge"), []);
    }

    #[test]
    fn cards_and_counts_are_apart() {
        let (found, more) = tokens("8x a100 80g");
        assert!(!more);
        assert!(matches!(found.first(), Some(Token::Figure(f)) if (f.low - 8.0).abs() < 1e-9));
        assert!(matches!(found.get(1), Some(Token::Card(_))));
        assert!(matches!(found.get(2), Some(Token::Figure(f)) if f.unit == Some(Unit::Gb)));
    }
}
