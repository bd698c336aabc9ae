//! The data files as the page carries them: without names of fields, figures as decimal digits and an exponent.
//!
//! People edit JSON and CSV under `core/data/`. Reading those takes code for every type, a fifth of the page's program when
//! it did so itself; so `cargo xtask build` reads and checks them beforehand (`core/examples/pack.rs`) and the page carries
//! the result. Every program reads its data from the packed form, so that the tests see what the page sees.
//!
//! The form is no format for exchange: it is written and read by the same sources, field by field in the order of the lists
//! in this folder. A field that a list lacks does not compile.

mod aside;
mod catalog;
mod constants;
mod file;

use std::collections::BTreeMap;

pub use aside::{Aside, load_asides};
pub use file::PackedFile;
#[cfg(not(packed))]
pub(crate) use file::json;
pub(crate) use file::packed_file;

#[cfg(not(packed))]
use crate::estimate::{diffusion, serving, training, vision};
#[cfg(not(packed))]
use crate::{catalog as entries, plan, rental, scenario, text};

/// Every packed file but that of the [`Aside`]s.
#[cfg(not(packed))]
fn files() -> [&'static PackedFile; 21] {
    [
        &entries::CARDS_FILE,
        &entries::MODELS_FILE,
        &entries::DIFFUSION_FILE,
        &entries::NETWORKS_FILE,
        &entries::WORKLOADS_FILE,
        &entries::price::FILE,
        &training::constants::FILE,
        &serving::constants::FILE,
        &diffusion::constants::FILE,
        &vision::constants::FILE,
        &rental::exchange::FILE,
        &rental::rules::PROVIDERS,
        &rental::rules::INTERRUPTIONS,
        &rental::provenance::FILE,
        &plan::node::FILE,
        &scenario::preset::FILE,
        &scenario::edition::FILE,
        &text::FIRST_EN,
        &text::FIRST_ZH_CN,
        &text::MORE_EN,
        &text::MORE_ZH_CN,
    ]
}

/// Name and content of every file of the packed data, for a build that hands them over.
///
/// # Errors
/// When a file that people edit is not of its form; the message names the packed file.
#[cfg(not(packed))]
pub fn all_packed() -> Result<Vec<(&'static str, Vec<u8>)>, String> {
    let mut all = Vec::new();
    for file in files() {
        let bytes = file.bytes();
        all.push((
            file.name(),
            bytes
                .map_err(|why| format!("{}: {why}", file.name()))?
                .to_owned(),
        ));
    }
    all.push(("asides", aside::file()?));
    Ok(all)
}

/// Something that stands in a packed file.
pub trait Packed: Sized {
    /// Appends it.
    fn pack(&self, to: &mut Vec<u8>);
    /// Takes it from the front of what is left.
    fn unpack(from: &mut Reader) -> Self;
}

/// What is left of a packed file. Behind its end it reads as zeros: nothing is checked here, for what is read was written by
/// this very program or before it was built.
#[derive(Debug, Clone)]
pub struct Reader {
    left: &'static [u8],
}

impl Reader {
    /// From the start.
    pub fn new(bytes: &'static [u8]) -> Self {
        Self { left: bytes }
    }

    fn byte(&mut self) -> u8 {
        let Some((first, left)) = self.left.split_first() else {
            return 0;
        };
        self.left = left;
        *first
    }

    fn bytes(&mut self, count: usize) -> &'static [u8] {
        let Some((bytes, left)) = self.left.split_at_checked(count) else {
            return &[];
        };
        self.left = left;
        bytes
    }

    fn count(&mut self) -> usize {
        u64::unpack(self) as usize
    }

    fn text(&mut self) -> &'static str {
        let count = self.count();
        std::str::from_utf8(self.bytes(count)).unwrap_or_default()
    }
}

/// The packed form of one thing.
pub fn bytes_of(of: &impl Packed) -> Vec<u8> {
    let mut bytes = Vec::new();
    of.pack(&mut bytes);
    bytes
}

/// Seven bits a byte, lowest first; the eighth says that more follow.
impl Packed for u64 {
    fn pack(&self, to: &mut Vec<u8>) {
        let mut left = *self;
        while left > 127 {
            to.push(left as u8 | 128);
            left >>= 7;
        }
        to.push(left as u8);
    }

    fn unpack(from: &mut Reader) -> Self {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = from.byte();
            number |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 || shift > 63 {
                return number;
            }
        }
    }
}

impl Packed for u32 {
    fn pack(&self, to: &mut Vec<u8>) {
        u64::from(*self).pack(to);
    }

    fn unpack(from: &mut Reader) -> Self {
        u64::unpack(from) as Self
    }
}

impl Packed for u16 {
    fn pack(&self, to: &mut Vec<u8>) {
        u64::from(*self).pack(to);
    }

    fn unpack(from: &mut Reader) -> Self {
        u64::unpack(from) as Self
    }
}

impl Packed for bool {
    fn pack(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn unpack(from: &mut Reader) -> Self {
        from.byte() != 0
    }
}

/// Largest power of ten that a `f64` holds exactly, as do all below it.
const EXACT_POWER: i32 = 22;
/// Marks a number below zero.
const NEGATIVE: u8 = 64;
/// Marks a number that is written out bit by bit.
const BITS: u8 = 128;

/// `digits * 10^exponent` of numbers with few digits: one rounding of two exact numbers, hence the number itself.
fn of_decimal(digits: u64, exponent: i32) -> f64 {
    let power = (0..exponent.unsigned_abs()).fold(1.0, |power, _| power * 10.0);
    if exponent < 0 {
        digits as f64 / power
    } else {
        digits as f64 * power
    }
}

/// The digits and the exponent of a number that [`of_decimal`] makes again.
fn decimal(number: f64) -> Option<(u64, i32)> {
    let written = format!("{:e}", number.abs());
    let (digits, exponent) = written.split_once('e')?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits: u64 = format!("{whole}{fraction}").parse().ok()?;
    let exponent = exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?;
    let small = digits < 1 << 53 && (-EXACT_POWER..=EXACT_POWER).contains(&exponent);
    (small && of_decimal(digits, exponent).to_bits() == number.abs().to_bits())
        .then_some((digits, exponent))
}

/// Sign and exponent, then the digits; or all bits.
impl Packed for f64 {
    fn pack(&self, to: &mut Vec<u8>) {
        if let Some((digits, exponent)) = decimal(*self) {
            let sign = if self.is_sign_negative() { NEGATIVE } else { 0 };
            to.push(sign | (exponent + EXACT_POWER) as u8);
            digits.pack(to);
        } else {
            to.push(BITS);
            self.to_bits().pack(to);
        }
    }

    fn unpack(from: &mut Reader) -> Self {
        let kind = from.byte();
        let digits = u64::unpack(from);
        if kind & BITS != 0 {
            return Self::from_bits(digits);
        }
        let number = of_decimal(digits, i32::from(kind & !NEGATIVE) - EXACT_POWER);
        if kind & NEGATIVE != 0 {
            -number
        } else {
            number
        }
    }
}

impl Packed for String {
    fn pack(&self, to: &mut Vec<u8>) {
        (self.len() as u64).pack(to);
        to.extend(self.as_bytes());
    }

    fn unpack(from: &mut Reader) -> Self {
        from.text().to_owned()
    }
}

impl<T: Packed> Packed for Vec<T> {
    fn pack(&self, to: &mut Vec<u8>) {
        (self.len() as u64).pack(to);
        self.iter().for_each(|entry| entry.pack(to));
    }

    fn unpack(from: &mut Reader) -> Self {
        let count = from.count();
        (0..count).map(|_| T::unpack(from)).collect()
    }
}

impl<T: Packed> Packed for Option<T> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.is_some().pack(to);
        self.iter().for_each(|value| value.pack(to));
    }

    fn unpack(from: &mut Reader) -> Self {
        bool::unpack(from).then(|| T::unpack(from))
    }
}

impl<A: Packed, B: Packed> Packed for (A, B) {
    fn pack(&self, to: &mut Vec<u8>) {
        self.0.pack(to);
        self.1.pack(to);
    }

    fn unpack(from: &mut Reader) -> Self {
        (A::unpack(from), B::unpack(from))
    }
}

impl<T: Packed> Packed for BTreeMap<String, T> {
    fn pack(&self, to: &mut Vec<u8>) {
        (self.len() as u64).pack(to);
        for (key, value) in self {
            key.pack(to);
            value.pack(to);
        }
    }

    fn unpack(from: &mut Reader) -> Self {
        let count = from.count();
        let mut map = Self::new();
        for _ in 0..count {
            map.insert(String::unpack(from), T::unpack(from));
        }
        map
    }
}

/// [`Packed`] for a struct by its fields, for an enum by its variants, with or without fields of their own.
macro_rules! packed {
    (struct $kind:ty { $($field:ident),+ $(,)? }) => {
        impl $crate::packed::Packed for $kind {
            fn pack(&self, to: &mut Vec<u8>) {
                let Self { $($field),+ } = self;
                $($crate::packed::Packed::pack($field, to);)+
            }

            fn unpack(from: &mut $crate::packed::Reader) -> Self {
                Self { $($field: $crate::packed::Packed::unpack(from)),+ }
            }
        }
    };
    (enum $kind:ty { $first:ident $(, $variant:ident)* $(,)? }) => {
        impl $crate::packed::Packed for $kind {
            fn pack(&self, to: &mut Vec<u8>) {
                // A variant that is not listed does not compile.
                match self {
                    Self::$first $(| Self::$variant)* => {}
                }
                let all = [Self::$first $(, Self::$variant)*];
                let number = all.iter().position(|variant| variant == self);
                to.push(number.unwrap_or_default() as u8);
            }

            fn unpack(from: &mut $crate::packed::Reader) -> Self {
                const ALL: &[$kind] = &[<$kind>::$first $(, <$kind>::$variant)*];
                let number = usize::from(from.byte());
                ALL.get(number).copied().unwrap_or(Self::$first)
            }
        }
    };
    (enum $kind:ty {
        0 = $first:ident { $($its:ident),+ $(,)? }
        $(, $number:literal = $variant:ident { $($field:ident),+ $(,)? })+ $(,)?
    }) => {
        impl $crate::packed::Packed for $kind {
            fn pack(&self, to: &mut Vec<u8>) {
                match self {
                    Self::$first { $($its),+ } => {
                        to.push(0);
                        $($crate::packed::Packed::pack($its, to);)+
                    }
                    $(Self::$variant { $($field),+ } => {
                        to.push($number);
                        $($crate::packed::Packed::pack($field, to);)+
                    })+
                }
            }

            fn unpack(from: &mut $crate::packed::Reader) -> Self {
                match from.byte() {
                    $($number => Self::$variant {
                        $($field: $crate::packed::Packed::unpack(from)),+
                    },)+
                    _ => Self::$first { $($its: $crate::packed::Packed::unpack(from)),+ },
                }
            }
        }
    };
}
pub(crate) use packed;

#[cfg(test)]
mod tests {
    use super::*;

    fn again<T: Packed>(of: &T) -> (T, usize) {
        let bytes: &'static [u8] = bytes_of(of).leak();
        let mut from = Reader::new(bytes);
        let read = T::unpack(&mut from);
        assert!(from.left.is_empty());
        (read, bytes.len())
    }

    #[test]
    fn figures_of_few_digits_are_short_and_all_come_back_bit_by_bit() {
        for (number, bytes) in [
            (0.0, 2),
            (16.0, 2),
            (0.35, 2),
            (-1.5, 2),
            (107.6, 3),
            (2e-6, 2),
        ] {
            let (read, taken) = again::<f64>(&number);
            assert_eq!(
                (read.to_bits(), taken),
                (number.to_bits(), bytes),
                "{number}"
            );
        }
        for number in [
            468_699_999.999_999_94,
            1.0 / 3.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            -0.0,
            1e23,
            9_007_199_254_740_993.0,
            f64::INFINITY,
            f64::NAN,
        ] {
            assert_eq!(
                again::<f64>(&number).0.to_bits(),
                number.to_bits(),
                "{number}"
            );
        }
    }

    #[test]
    fn whole_numbers_take_seven_bits_a_byte() {
        for (number, bytes) in [(0, 1), (127, 1), (128, 2), (1 << 35, 6), (u64::MAX, 10)] {
            assert_eq!(again::<u64>(&number), (number, bytes));
        }
    }

    #[test]
    fn lists_maps_and_what_may_be_missing_come_back() {
        let map = BTreeMap::from([("卡".to_owned(), 1.5), (String::new(), 0.0)]);
        assert_eq!(again(&map).0, map);
        let list = vec![Some((3_u32, true)), None];
        assert_eq!(again(&list), (list, 5));
    }

    #[test]
    fn behind_the_end_there_are_zeros() {
        let mut from = Reader::new(&[2, 200]);
        assert_eq!(Vec::<u32>::unpack(&mut from), [72, 0]);
        assert_eq!(String::unpack(&mut from), "");
    }
}
