//! The words of `core/data/check/words.json`, the models of `models.json` and the counts, found by their first bytes.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::tokens::{Figure, Token};
use super::units::Unit;
use crate::check::names::keys;

/// Words that mean something in a listing. Their spellings are in `core/data/check/words.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each variant is a key of the data file")]
pub enum Word {
    Fp64,
    Fp32,
    Tf32,
    Fp16,
    Bf16,
    Fp8,
    Int8,
    Fp4,
    Mixed,
    Rate,
    Sparse,
    Acc16,
    Vector,
    Memory,
    Measured,
    HostMemory,
    Disk,
    Host,
    Bandwidth,
    Link,
    OtherLink,
    No,
    Pcie,
    Sxm,
    Sxm2,
    Sxm3,
    Sxm4,
    Sxm5,
    Sxm6,
    Oam,
    Nvl,
    Hgx,
    Power,
    Cores,
    Tensor,
    Architecture,
    Ampere,
    Hopper,
    Ada,
    Blackwell,
    Volta,
    Turing,
    Cdna2,
    Cdna3,
    Pascal,
    Hbm2,
    Hbm2e,
    Hbm3,
    Hbm3e,
    Hbm,
    Gddr5,
    Gddr5x,
    Gddr6,
    Gddr6x,
    Gddr7,
    Ecc,
    Process,
    Transistors,
    Cny,
    Usd,
    Eur,
    Hour,
    Day,
    Week,
    Month,
    Year,
    Spot,
    Price,
    Purchase,
    Whole,
    Percard,
    Exclusive,
    Shared,
    First,
    Availability,
    Concurrency,
    Needs,
    Enough,
    Near,
    Gain,
    Trial,
    Train,
    Infer,
    Consumer,
    StorageClass,
    StorageClassNone,
    Trillion,
    HundredBillion,
    TenBillion,
    Parameters,
    Or,
    FullFinetune,
    Lora,
    Qlora,
    Parallel,
}

/// Spellings with their tokens, longest first.
type Bucket = Vec<(Vec<u8>, Token)>;

/// Counts of cards whose number is a word.
const COUNTS: [(&str, f64); 8] = [
    ("双卡", 2.0),
    ("两卡", 2.0),
    ("四卡", 4.0),
    ("六卡", 6.0),
    ("八卡", 8.0),
    ("八张", 8.0),
    ("十卡", 10.0),
    ("十六卡", 16.0),
];

pub(super) struct Vocabulary {
    /// Spellings of three bytes and more, by their first three.
    long: Vec<Bucket>,
    /// Shorter ones, by their first byte.
    short: Vec<Bucket>,
    /// First two bytes of every card's name and spelling, a bit each.
    begins: Vec<u64>,
}

impl Vocabulary {
    /// Whether a card's name or a word may begin with these bytes.
    pub(super) fn may_begin(&self, first: u8, second: u8) -> bool {
        let (word, bit) = place_of(first, second);
        self.begins
            .get(word)
            .is_some_and(|bits| bits >> bit & 1 == 1)
    }
}

/// Where two bytes stand in [`Vocabulary::begins`].
pub(super) fn place_of(first: u8, second: u8) -> (usize, u32) {
    let pair = u32::from(first) << 8 | u32::from(second);
    ((pair >> 6) as usize, pair & 63)
}

/// Buckets of [`Vocabulary::long`]; Chinese words of one first character share one.
const BUCKETS: usize = 4096;

pub(super) fn bucket_of(bytes: &[u8]) -> Option<usize> {
    let [a, b, c, ..] = bytes else {
        return None;
    };
    let mixed = usize::from(*a) * 131 + usize::from(*b) * 17 + usize::from(*c) * 1021;
    Some(mixed % BUCKETS)
}

#[derive(Deserialize)]
struct Models {
    models: Vec<(String, f64)>,
}

pub(super) fn vocabulary() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(|| {
        let spelled: HashMap<Word, String> =
            serde_json::from_str(include_str!("../../../data/check/words.json"))
                .unwrap_or_default();
        let models =
            serde_json::from_str::<Models>(include_str!("../../../data/check/models.json"))
                .map(|m| m.models)
                .unwrap_or_default();
        let mut long: Vec<Bucket> = vec![Vec::new(); BUCKETS];
        let mut short: Vec<Bucket> = vec![Vec::new(); 256];
        let all = spelled
            .iter()
            .flat_map(|(word, spellings)| spellings.split('|').map(|s| (s, Token::Word(*word))))
            .chain(models.iter().map(|(n, p)| (n.as_str(), Token::Model(*p))))
            .chain(COUNTS.into_iter().map(|(spelling, n)| {
                let figure = Figure {
                    low: n,
                    high: n,
                    place: 1.0,
                    unit: Some(Unit::Cards),
                };
                (spelling, Token::Figure(figure))
            }));
        for (spelling, token) in all {
            let bytes = spelling.as_bytes();
            let bucket = match bucket_of(bytes) {
                Some(index) => long.get_mut(index),
                None => bytes.first().and_then(|b| short.get_mut(usize::from(*b))),
            };
            if let Some(bucket) = bucket {
                bucket.push((bytes.to_vec(), token));
            }
        }
        for bucket in long.iter_mut().chain(&mut short) {
            bucket.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
        }
        let mut begins = vec![0; 1 << 10];
        let mut note = |first: u8, second: u8| {
            let (word, bit) = place_of(first, second);
            if let Some(bits) = begins.get_mut(word) {
                *bits |= 1 << bit;
            }
        };
        let mut note_start = |bytes: &[u8]| match bytes {
            [first, second, ..] => note(*first, *second),
            [first] => (0..=u8::MAX).for_each(|second| note(*first, second)),
            [] => {}
        };
        for (spelling, _) in long.iter().chain(&short).flatten() {
            note_start(spelling);
        }
        keys().for_each(note_start);
        Vocabulary {
            long,
            short,
            begins,
        }
    })
}

/// The word that begins at byte `at`, and where it ends.
pub(super) fn word_at(bytes: &[u8], at: usize, vocabulary: &Vocabulary) -> Option<(Token, usize)> {
    let first = *bytes.get(at)?;
    let letter = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let before = at.checked_sub(1).and_then(|i| bytes.get(i));
    // "312tflops" and "1x" are read with their number.
    if first.is_ascii_alphanumeric() && letter(before) {
        return None;
    }
    let rest = bytes.get(at..)?;
    let long = bucket_of(rest).and_then(|index| vocabulary.long.get(index));
    let short = vocabulary.short.get(usize::from(first));
    long.into_iter()
        .chain(short)
        .flatten()
        .find_map(|(spelling, token)| {
            let ends = spelling.len();
            let whole = !letter(spelling.last()) || !letter(rest.get(ends));
            (whole && rest.starts_with(spelling)).then_some((*token, at + ends))
        })
}
