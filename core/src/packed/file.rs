//! One packed data file: its bytes where the build brought them, else made of the file that people edit.

use super::{Packed, Reader};

/// A data file in its packed form.
#[derive(Debug)]
pub struct PackedFile {
    name: &'static str,
    #[cfg(packed)]
    bytes: &'static [u8],
    #[cfg(not(packed))]
    pack: fn() -> Result<Vec<u8>, String>,
    #[cfg(not(packed))]
    bytes: std::sync::OnceLock<Result<Vec<u8>, String>>,
}

impl PackedFile {
    /// Bytes that were packed before this program was built.
    #[cfg(packed)]
    pub const fn new(name: &'static str, bytes: &'static [u8]) -> Self {
        Self { name, bytes }
    }

    /// Bytes that are made when they are first wanted.
    #[cfg(not(packed))]
    pub const fn new(name: &'static str, pack: fn() -> Result<Vec<u8>, String>) -> Self {
        Self {
            name,
            pack,
            bytes: std::sync::OnceLock::new(),
        }
    }

    /// Name of the packed file.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its bytes.
    ///
    /// # Errors
    /// When the file that people edit is not of its form; the message says where.
    #[cfg(packed)]
    pub fn bytes(&'static self) -> Result<&'static [u8], &'static str> {
        Ok(self.bytes)
    }

    /// Its bytes.
    ///
    /// # Errors
    /// When the file that people edit is not of its form; the message says where.
    #[cfg(not(packed))]
    pub fn bytes(&'static self) -> Result<&'static [u8], &'static str> {
        match self.bytes.get_or_init(self.pack) {
            Ok(bytes) => Ok(bytes),
            Err(why) => Err(why),
        }
    }

    /// What it holds, where that is texts in pairs.
    pub(crate) fn texts(&'static self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let mut from = Reader::new(self.bytes().unwrap_or_default());
        let count = from.count();
        (0..count).map(move |_| (from.text(), from.text()))
    }

    /// What it holds. The tests read every file; were one ever unreadable, it holds what its kind starts from.
    pub fn read<T: Packed + Default>(&'static self) -> T {
        let bytes = self.bytes();
        bytes.map_or_else(|_| T::default(), |bytes| T::unpack(&mut Reader::new(bytes)))
    }
}

/// A [`PackedFile`] of that name, made by a function of the text that people edit.
#[cfg(packed)]
macro_rules! packed_file {
    ($name:literal, $parse:expr, $text:expr) => {
        $crate::packed::PackedFile::new(
            $name,
            include_bytes!(concat!(env!("CARDFIT_PACKED"), "/", $name)),
        )
    };
}

/// A [`PackedFile`] of that name, made by a function of the text that people edit.
#[cfg(not(packed))]
macro_rules! packed_file {
    ($name:literal, $parse:expr, $text:expr) => {
        $crate::packed::PackedFile::new($name, || {
            let parse = $parse;
            parse($text).map(|content| $crate::packed::bytes_of(&content))
        })
    };
}
pub(crate) use packed_file;

/// Reads JSON as it is edited.
#[cfg(not(packed))]
pub(crate) fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|why| why.to_string())
}
