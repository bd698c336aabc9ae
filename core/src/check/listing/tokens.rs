//! Pasted text as tokens: cards, numbers with their units, the words of `core/data/check/words.json`, models, breaks.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::claims::MOST_ITEMS;
use crate::check::names::{Mention, keys, mention_at};
use crate::check::number::number_at;

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

/// Unit written behind a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the unit's own name")]
pub enum Unit {
    Gb,
    Mib,
    Tb,
    GbPerS,
    TbPerS,
    /// A disk's or a network's rate.
    MbPerS,
    Tflops,
    Tops,
    Pflops,
    Watt,
    /// `w`: watts, or ten thousand in Chinese slang.
    W,
    Kilowatt,
    Percent,
    Nm,
    /// `b`: thousand millions of parameters.
    B,
    Billion,
    /// 亿.
    HundredMillion,
    /// 万.
    TenThousand,
    Thousand,
    /// 千亿, 万亿 and the like as a bare word are [`Word`]s.
    Days,
    /// 卡, 张, `gpus`, `x`.
    Cards,
    /// `flops/param` and the like.
    FlopsEach,
    Generation,
}

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

struct Vocabulary {
    /// Spellings of three bytes and more, by their first three.
    long: Vec<Bucket>,
    /// Shorter ones, by their first byte.
    short: Vec<Bucket>,
    /// First two bytes of every card's name and spelling, a bit each.
    begins: Vec<u64>,
}

impl Vocabulary {
    /// Whether a card's name or a word may begin with these bytes.
    fn may_begin(&self, first: u8, second: u8) -> bool {
        let (word, bit) = place_of(first, second);
        self.begins
            .get(word)
            .is_some_and(|bits| bits >> bit & 1 == 1)
    }
}

/// Where two bytes stand in [`Vocabulary::begins`].
fn place_of(first: u8, second: u8) -> (usize, u32) {
    let pair = u32::from(first) << 8 | u32::from(second);
    ((pair >> 6) as usize, pair & 63)
}

/// Buckets of [`Vocabulary::long`]; Chinese words of one first character share one.
const BUCKETS: usize = 4096;

fn bucket_of(bytes: &[u8]) -> Option<usize> {
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

fn vocabulary() -> &'static Vocabulary {
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

fn word_at(bytes: &[u8], at: usize, vocabulary: &Vocabulary) -> Option<(Token, usize)> {
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

/// Spellings of units, longer ones first where one begins with another. The flag: a letter may not follow.
const UNITS: [(&str, Unit); 64] = [
    ("flops/param", Unit::FlopsEach),
    ("flops/参数", Unit::FlopsEach),
    ("gbyte/s", Unit::GbPerS),
    ("gib/s", Unit::GbPerS),
    ("gb/s", Unit::GbPerS),
    ("gb/秒", Unit::GbPerS),
    ("g/s", Unit::GbPerS),
    ("gb_s", Unit::GbPerS),
    ("tb/s", Unit::TbPerS),
    ("tb/秒", Unit::TbPerS),
    ("tbps", Unit::TbPerS),
    ("mib/s", Unit::MbPerS),
    ("mb/s", Unit::MbPerS),
    ("gib", Unit::Gb),
    ("gb", Unit::Gb),
    ("mib", Unit::Mib),
    ("mb", Unit::Mib),
    ("tib", Unit::Tb),
    ("tb", Unit::Tb),
    ("tflop/s", Unit::Tflops),
    ("tflops", Unit::Tflops),
    ("tflop", Unit::Tflops),
    ("teraflops", Unit::Tflops),
    ("tops", Unit::Tops),
    ("petaflops", Unit::Pflops),
    ("pflop/s", Unit::Pflops),
    ("pflops", Unit::Pflops),
    ("pops", Unit::Pflops),
    ("watts", Unit::Watt),
    ("watt", Unit::Watt),
    ("瓦", Unit::Watt),
    ("kw", Unit::Kilowatt),
    ("%", Unit::Percent),
    ("percent", Unit::Percent),
    ("nm", Unit::Nm),
    ("纳米", Unit::Nm),
    ("billion", Unit::Billion),
    ("万亿", Unit::B),
    ("千亿", Unit::B),
    ("亿", Unit::HundredMillion),
    ("万", Unit::TenThousand),
    ("千", Unit::Thousand),
    ("days", Unit::Days),
    ("day", Unit::Days),
    ("天", Unit::Days),
    ("years", Unit::Days),
    ("年", Unit::Days),
    ("卡", Unit::Cards),
    ("张", Unit::Cards),
    ("块gpu", Unit::Cards),
    ("gpus", Unit::Cards),
    ("gpu", Unit::Cards),
    ("cards", Unit::Cards),
    ("xgpu", Unit::Cards),
    ("代", Unit::Generation),
    ("th gen", Unit::Generation),
    ("rd gen", Unit::Generation),
    ("b", Unit::B),
    ("g", Unit::Gb),
    ("t", Unit::Tflops),
    ("p", Unit::Pflops),
    ("w", Unit::W),
    ("k", Unit::Thousand),
    ("gbps", Unit::GbPerS),
];

/// The units that begin with a byte, in the order of [`UNITS`].
fn units_beginning_with(first: u8) -> &'static [(&'static str, Unit)] {
    static BY_BYTE: OnceLock<Vec<Vec<(&str, Unit)>>> = OnceLock::new();
    let by_byte = BY_BYTE.get_or_init(|| {
        let mut by_byte = vec![Vec::new(); 256];
        for (spelling, unit) in UNITS {
            let first = spelling.bytes().next().map(usize::from);
            if let Some(list) = first.and_then(|byte| by_byte.get_mut(byte)) {
                list.push((spelling, unit));
            }
        }
        by_byte
    });
    by_byte.get(usize::from(first)).map_or(&[], Vec::as_slice)
}

fn unit_at(bytes: &[u8], at: usize) -> (Option<Unit>, usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    let blanks = if rest.starts_with(b"-day") || rest.starts_with(b"-gpu") {
        1
    } else {
        rest.iter()
            .take(2)
            .take_while(|b| matches!(**b, b' ' | b'+'))
            .count()
    };
    let rest = rest.get(blanks..).unwrap_or_default();
    let Some(first) = rest.first() else {
        return (None, at);
    };
    for &(spelling, unit) in units_beginning_with(*first) {
        if !rest.starts_with(spelling.as_bytes()) {
            continue;
        }
        let ends_in_letter = spelling
            .as_bytes()
            .last()
            .is_some_and(u8::is_ascii_alphabetic);
        let next = rest.get(spelling.len());
        if ends_in_letter && next.is_some_and(u8::is_ascii_alphanumeric) {
            continue;
        }
        // "t/s" counts tokens, "b/s" bits; a single letter after a blank is a word.
        if spelling.len() == 1
            && spelling != "%"
            && (blanks > 1 || next == Some(&b'/') && spelling != "w" && spelling != "k")
        {
            continue;
        }
        return (Some(unit), at + blanks + spelling.len());
    }
    (None, at)
}

#[cfg(test)]
mod tests {
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
