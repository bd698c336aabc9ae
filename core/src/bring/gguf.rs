//! The header of a GGUF file: its metadata and what it says of every tensor.
//!
//! The layout is that of the GGUF specification (versions 2 and 3, little-endian): magic, version,
//! counts, key-value pairs, then name, dimensions, type and offset of each tensor.

use std::collections::HashMap;

use super::Brought;
use super::error::{BringError, BringErrorKind as Kind};
use super::gguf_shape;

/// Bytes of a file that are read at first: the vocabulary makes most of a header.
pub const GGUF_FIRST_BYTES: usize = 16 << 20;

/// Most pairs, tensors, dimensions and bytes of a name that a header may have: a damaged count
/// must not run for minutes.
const MOST_PAIRS: u64 = 65_536;
const MOST_TENSORS: u64 = 1 << 20;
const MOST_DIMENSIONS: u32 = 8;
const LONGEST_NAME: u64 = 4096;
const LONGEST_TEXT: u64 = 64 << 20;

/// Whether a file starts as GGUF does.
pub fn is_gguf(first: &[u8]) -> bool {
    first.starts_with(b"GGUF")
}

/// A value of the metadata; of lists of text only their length is kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Bool(bool),
    Text(String),
    Numbers(Vec<f64>),
    TextList(u64),
}

/// A tensor without its data.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor {
    pub name: String,
    pub dims: Vec<u64>,
    pub kind: u32,
}

impl Tensor {
    /// Weights in it.
    pub fn elements(&self) -> u64 {
        self.dims
            .iter()
            .fold(1, |all, dim| all.saturating_mul(*dim))
    }

    /// Bytes of its data; `None`: a type that is not known.
    pub fn bytes(&self) -> Option<u64> {
        let (weights, bytes) = block(self.kind)?;
        let blocks = u128::from(self.elements()).div_ceil(u128::from(weights));
        u64::try_from(blocks * u128::from(bytes)).ok()
    }
}

/// Weights and bytes of a block of a tensor type, by the number that ggml gives it.
pub(super) const fn block(kind: u32) -> Option<(u64, u64)> {
    Some(match kind {
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        9 => (32, 36),
        10 => (256, 84),
        11 | 21 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        16 | 35 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        22 => (256, 82),
        23 => (256, 136),
        24 => (1, 1),
        27 | 28 => (1, 8),
        29 => (256, 56),
        34 => (256, 54),
        39 => (32, 17),
        40 => (64, 36),
        _ => return None,
    })
}

/// A header.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Header {
    pub pairs: HashMap<String, Value>,
    pub tensors: Vec<Tensor>,
}

/// Reads the header at the start of a file and the shape that it describes.
///
/// # Errors
/// [`BringErrorKind::Truncated`](super::BringErrorKind::Truncated) where the header goes on after
/// `first`; else what is wrong with the field.
pub(super) fn read_gguf(first: &[u8]) -> Result<Brought, BringError> {
    gguf_shape::read(&header(first)?)
}

/// Bytes that are still to be read, and the place for an error.
struct Bytes<'a> {
    rest: &'a [u8],
    place: String,
}

impl<'a> Bytes<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], BringError> {
        let split = usize::try_from(count)
            .ok()
            .and_then(|count| self.rest.split_at_checked(count));
        let Some((taken, rest)) = split else {
            return Err(
                BringError::of(Kind::Truncated, &self.place, &self.rest.len().to_string())
                    .expected(count.to_string()),
            );
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BringError> {
        let taken = self.take(N as u64)?;
        taken
            .try_into()
            .map_err(|_| BringError::of(Kind::Truncated, &self.place, "0"))
    }

    fn u32(&mut self) -> Result<u32, BringError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, BringError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A number that says how much follows.
    fn count(&mut self, most: u64) -> Result<u64, BringError> {
        let count = self.u64()?;
        if count > most {
            return Err(
                BringError::of(Kind::TooLarge, &self.place, &count.to_string())
                    .expected(most.to_string()),
            );
        }
        Ok(count)
    }

    fn text(&mut self, longest: u64) -> Result<String, BringError> {
        let length = self.count(longest)?;
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// A value of type `kind` as a number; `None`: text or a list.
    fn number(&mut self, kind: u32) -> Result<Option<f64>, BringError> {
        Ok(Some(match kind {
            0 => f64::from(u8::from_le_bytes(self.array()?)),
            1 => f64::from(i8::from_le_bytes(self.array()?)),
            2 => f64::from(u16::from_le_bytes(self.array()?)),
            3 => f64::from(i16::from_le_bytes(self.array()?)),
            4 => f64::from(self.u32()?),
            5 => f64::from(i32::from_le_bytes(self.array()?)),
            6 => f64::from(f32::from_le_bytes(self.array()?)),
            7 => f64::from(u8::from_le_bytes(self.array()?)),
            10 => self.u64()? as f64,
            11 => i64::from_le_bytes(self.array()?) as f64,
            12 => f64::from_le_bytes(self.array()?),
            _ => return Ok(None),
        }))
    }

    fn value(&mut self, kind: u32) -> Result<Value, BringError> {
        const BOOL: u32 = 7;
        const TEXT: u32 = 8;
        const LIST: u32 = 9;
        match kind {
            BOOL => Ok(Value::Bool(self.number(BOOL)? != Some(0.0))),
            TEXT => Ok(Value::Text(self.text(LONGEST_TEXT)?)),
            LIST => self.list(),
            other => match self.number(other)? {
                Some(number) => Ok(Value::Number(number)),
                None => Err(
                    BringError::of(Kind::UnknownWord, &self.place, &other.to_string())
                        .expected("0..12"),
                ),
            },
        }
    }

    fn list(&mut self) -> Result<Value, BringError> {
        const TEXT: u32 = 8;
        /// Longer lists (scores of a vocabulary) are passed over.
        const KEPT: u64 = 4096;
        let kind = self.u32()?;
        let length = self.count(1 << 26)?;
        if kind == TEXT {
            for _ in 0..length {
                let bytes = self.count(LONGEST_TEXT)?;
                self.take(bytes)?;
            }
            return Ok(Value::TextList(length));
        }
        let mut numbers = Vec::new();
        for at in 0..length {
            match self.number(kind)? {
                Some(number) if at < KEPT => numbers.push(number),
                Some(_) => {}
                None => {
                    return Err(
                        BringError::of(Kind::UnknownWord, &self.place, &kind.to_string())
                            .expected("0..8"),
                    );
                }
            }
        }
        Ok(Value::Numbers(numbers))
    }
}

/// Reads a header.
pub(super) fn header(first: &[u8]) -> Result<Header, BringError> {
    let mut bytes = Bytes {
        rest: first,
        place: "magic".to_owned(),
    };
    if bytes.take(4)? != b"GGUF" {
        return Err(BringError::of(Kind::NotText, "magic", ""));
    }
    "version".clone_into(&mut bytes.place);
    let version = bytes.u32()?;
    if !(2..=3).contains(&version) {
        return Err(
            BringError::of(Kind::UnknownVersion, "version", &version.to_string()).expected("2, 3"),
        );
    }
    "tensor_count".clone_into(&mut bytes.place);
    let tensors = bytes.count(MOST_TENSORS)?;
    "metadata_kv_count".clone_into(&mut bytes.place);
    let pairs = bytes.count(MOST_PAIRS)?;
    let mut header = Header::default();
    let mut last = "metadata_kv[0]".to_owned();
    for at in 0..pairs {
        bytes.place = format!("metadata_kv[{at}], {last}");
        let key = bytes.text(LONGEST_NAME)?;
        bytes.place.clone_from(&key);
        let kind = bytes.u32()?;
        let value = bytes.value(kind)?;
        last.clone_from(&key);
        header.pairs.insert(key, value);
    }
    for at in 0..tensors {
        bytes.place = format!("tensor[{at}]");
        let name = bytes.text(LONGEST_NAME)?;
        bytes.place.clone_from(&name);
        let count = bytes.u32()?;
        if count > MOST_DIMENSIONS {
            return Err(BringError::of(Kind::TooLarge, &name, &count.to_string())
                .expected(MOST_DIMENSIONS.to_string()));
        }
        let dims = (0..count).map(|_| bytes.u64()).collect::<Result<_, _>>()?;
        let kind = bytes.u32()?;
        let _offset = bytes.u64()?;
        header.tensors.push(Tensor { name, dims, kind });
    }
    Ok(header)
}
