//! Deterministic mutation runs: from a seed and a number, always the same input, so that a finding can be had again.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`targets`] | the readers that are run, their corpora, and what must hold of what they read |
//! | [`json`] | changes of JSON that keep it JSON |
//! | [`pastes`] | pastes of a megabyte, to be timed |
//! | [`bytes`] | changes of binary headers, and headers to change |

pub mod bytes;
pub mod json;
pub mod pastes;
pub mod targets;

/// A small generator (SplitMix64, Steele et al. 2014): fast, seeded, the same everywhere.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice for one run of one seed.
    pub fn new(seed: u64, run: u64) -> Self {
        Self(seed ^ run.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 where that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        if limit == 0 {
            0
        } else {
            (self.bits() % limit as u64) as usize
        }
    }

    /// One of `list`.
    pub fn one_of<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }
}

/// Longest input that a run makes: long enough for a table of cards, short enough for ten million runs.
const LONGEST: usize = 2048;

/// An input made of pieces of `corpus`, changed in a few places, always text.
pub fn mutated(dice: &mut Dice, corpus: &[String], words: &[&str]) -> String {
    let text = piece(dice, corpus);
    changed(dice, text, corpus, words)
}

/// The same, of a whole part of `corpus`: for what is only read from its beginning.
pub fn mutated_whole(dice: &mut Dice, corpus: &[String], words: &[&str]) -> String {
    let text = dice
        .one_of(corpus)
        .map(|text| text.chars().take(LONGEST).collect());
    changed(dice, text.unwrap_or_default(), corpus, words)
}

fn changed(dice: &mut Dice, mut text: Vec<char>, corpus: &[String], words: &[&str]) -> String {
    for _ in 0..=dice.below(6) {
        match dice.below(10) {
            // A span of another part.
            0 => {
                let other = piece(dice, corpus);
                let at = dice.below(text.len() + 1);
                text.splice(at..at, other);
            }
            1 => remove(dice, &mut text),
            2 => repeat(dice, &mut text),
            3 => {
                let at = dice.below(text.len());
                if let Some(sign) = text.get_mut(at) {
                    *sign = char::from_u32(dice.below(0x1_1000) as u32).unwrap_or('?');
                }
            }
            4 => {
                if let Some(word) = dice.one_of(words) {
                    let at = dice.below(text.len() + 1);
                    text.splice(at..at, word.chars());
                }
            }
            5 => number(dice, &mut text),
            6 => {
                let at = dice.below(text.len() + 1);
                text.truncate(at);
            }
            7 => swap_lines(dice, &mut text),
            8 => {
                const SIGNS: [char; 12] = [
                    '|', '\n', '/', '-', ',', '.', ':', ' ', '\u{1b}', '[', '%', '万',
                ];
                if let Some(sign) = dice.one_of(&SIGNS) {
                    let at = dice.below(text.len() + 1);
                    text.insert(at, *sign);
                }
            }
            _ => {
                let at = dice.below(text.len());
                if let Some(sign) = text.get_mut(at) {
                    *sign = sign.to_ascii_uppercase();
                }
            }
        }
        text.truncate(LONGEST);
    }
    text.into_iter().collect()
}

/// A span of one part of the corpus.
fn piece(dice: &mut Dice, corpus: &[String]) -> Vec<char> {
    let Some(text) = dice.one_of(corpus).cloned() else {
        return Vec::new();
    };
    let length = 1 + dice.below(LONGEST / 2);
    let mut start = dice.below(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    text.get(start..)
        .unwrap_or_default()
        .chars()
        .take(length)
        .collect()
}

fn span(dice: &mut Dice, text: &[char]) -> std::ops::Range<usize> {
    let start = dice.below(text.len());
    let end = (start + dice.below(64)).min(text.len());
    start..end
}

fn remove(dice: &mut Dice, text: &mut Vec<char>) {
    let span = span(dice, text);
    text.drain(span);
}

fn repeat(dice: &mut Dice, text: &mut Vec<char>) {
    let span = span(dice, text);
    let copy: Vec<char> = text.get(span.clone()).unwrap_or_default().to_vec();
    text.splice(span.end..span.end, copy);
}

fn number(dice: &mut Dice, text: &mut Vec<char>) {
    const NUMBERS: [&str; 10] = [
        "0",
        "1e309",
        "-1",
        "99999999999999999999",
        "0.0000001",
        "4294967296",
        "1,000,000",
        "65536",
        "3.",
        "00007",
    ];
    if let Some(number) = dice.one_of(&NUMBERS) {
        let at = text
            .iter()
            .skip(dice.below(text.len()))
            .position(char::is_ascii_digit)
            .unwrap_or(0);
        let at = at.min(text.len());
        text.splice(at..at, number.chars());
    }
}

fn swap_lines(dice: &mut Dice, text: &mut Vec<char>) {
    let joined: String = text.iter().collect();
    let mut lines: Vec<&str> = joined.split('\n').collect();
    let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
    lines.swap(a, b);
    *text = lines.join("\n").chars().collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_run_makes_the_same_input() {
        let corpus = vec!["nvidia-smi | 81920MiB".to_owned(), "月租 1.8 万".to_owned()];
        let make = |run| mutated(&mut Dice::new(7, run), &corpus, &["A100"]);
        for run in 0..500 {
            assert_eq!(make(run), make(run));
        }
        assert!((0..500).any(|run| make(run) != make(run + 1)));
    }
}
