//! Scenarios to start from.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::packed::{PackedFile, packed, packed_file};
use crate::text::{Lang, text};

/// One scenario to start from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Stable name.
    pub id: String,
    /// The scenario, as the query of a link.
    pub query: String,
}

pub(crate) static FILE: PackedFile = packed_file!(
    "presets",
    crate::packed::json::<Vec<Preset>>,
    include_str!("../../data/presets.json")
);

packed!(struct Preset { id, query });

impl Preset {
    /// All that ship with the product, the page's first scenario first.
    ///
    /// The file is parsed by the tests; were it ever unreadable, there are none.
    pub fn all() -> &'static [Self] {
        static PRESETS: OnceLock<Vec<Preset>> = OnceLock::new();
        PRESETS.get_or_init(|| FILE.read())
    }

    /// What it is, in a few words.
    pub fn title(&self, lang: Lang) -> String {
        text(lang, &format!("preset.{}.title", self.id), &[])
    }

    /// What it asks.
    pub fn note(&self, lang: Lang) -> String {
        text(lang, &format!("preset.{}.note", self.id), &[])
    }
}
