//! Texts beside the figures, above all where they were read: the first answer does without them, so they stand in a file of
//! their own that the page loads later.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Packed, Reader};

/// A text that the first answer does without. Read it as a `&str`; of what ships with the page it is empty until
/// [`load_asides`] was called.
#[derive(Clone)]
pub struct Aside(Place);

#[derive(Clone)]
enum Place {
    /// In memory: of what a person or a feed brought.
    Here(String),
    /// In the file of such texts, by number.
    Kept(u32),
}

impl Aside {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Place::Here(text) => text,
            Place::Kept(number) => kept::text(*number),
        }
    }
}

/// Makes the texts of what ships known. In the page, only parts that are loaded later call it, so that the texts are loaded
/// with them; elsewhere they always are.
pub fn load_asides() {
    kept::load();
}

impl Packed for Aside {
    fn pack(&self, to: &mut Vec<u8>) {
        kept::number(self.as_str()).pack(to);
    }

    fn unpack(from: &mut Reader) -> Self {
        Self(Place::Kept(u32::unpack(from)))
    }
}

/// The texts as they were packed before this program was built.
#[cfg(packed)]
mod kept {
    use std::sync::OnceLock;

    use crate::packed::Reader;

    static TEXTS: OnceLock<Vec<&'static str>> = OnceLock::new();

    pub fn load() {
        TEXTS.get_or_init(|| {
            let mut from = Reader::new(include_bytes!(concat!(env!("CARDFIT_PACKED"), "/asides")));
            let count = from.count();
            (0..count).map(|_| from.text()).collect()
        });
    }

    pub fn text(number: u32) -> &'static str {
        let texts = TEXTS.get().map(Vec::as_slice).unwrap_or_default();
        texts.get(number as usize).copied().unwrap_or_default()
    }

    /// Nothing is packed where it comes packed.
    pub fn number(_: &str) -> u32 {
        0
    }
}

/// The texts of what has been packed in this process.
#[cfg(not(packed))]
mod kept {
    use std::collections::HashMap;
    use std::sync::{LazyLock, RwLock};

    #[derive(Default)]
    struct Texts {
        all: Vec<&'static str>,
        numbers: HashMap<&'static str, u32>,
    }

    static TEXTS: LazyLock<RwLock<Texts>> = LazyLock::new(RwLock::default);

    pub fn load() {}

    pub fn text(number: u32) -> &'static str {
        let texts = TEXTS.read();
        texts.map_or("", |texts| {
            texts.all.get(number as usize).copied().unwrap_or_default()
        })
    }

    /// The text's number, which it gets when it is first packed.
    pub fn number(text: &str) -> u32 {
        let Ok(mut texts) = TEXTS.write() else {
            return 0;
        };
        if let Some(number) = texts.numbers.get(text) {
            return *number;
        }
        // As long as the program, like what it is a text of.
        let text: &'static str = text.to_owned().leak();
        let number = texts.all.len() as u32;
        texts.all.push(text);
        texts.numbers.insert(text, number);
        number
    }

    pub fn all() -> Vec<String> {
        let texts = TEXTS.read();
        texts.map_or_else(
            |_| Vec::new(),
            |texts| texts.all.iter().map(|text| (*text).to_owned()).collect(),
        )
    }
}

/// The file of such texts: those of all other files.
#[cfg(not(packed))]
pub(super) fn file() -> Result<Vec<u8>, String> {
    for file in super::files() {
        file.bytes()?;
    }
    Ok(super::bytes_of(&kept::all()))
}

impl std::ops::Deref for Aside {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<String> for Aside {
    fn from(text: String) -> Self {
        Self(Place::Here(text))
    }
}

impl From<&str> for Aside {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Default for Aside {
    fn default() -> Self {
        String::new().into()
    }
}

impl PartialEq for Aside {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Place::Kept(one), Place::Kept(other)) => one == other,
            _ => self.as_str() == other.as_str(),
        }
    }
}

impl Eq for Aside {}

impl PartialEq<str> for Aside {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Aside {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Aside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for Aside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Aside {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Aside {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
