//! Which card a name is: `core/data/check/families.json` against whatever people and drivers write.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::catalog::{Card, Catalog};

/// Names that mean one card or the variants of one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Cards that are easily taken for one another share it.
    pub kin: String,
    /// Names in lower case; a blank stands for any or no separator.
    pub keys: Vec<String>,
    /// Ids of the catalog, the usual one first; empty: a card that the catalog lacks.
    pub cards: Vec<String>,
    /// What to call a card that the catalog lacks.
    #[serde(default)]
    pub name: Option<String>,
}

/// Every family, in the data file's order.
pub fn families() -> &'static [Family] {
    &table().families
}

struct Table {
    families: Vec<Family>,
    /// What each family leaves open, once it was asked for.
    identities: Vec<OnceLock<Identity>>,
    /// By the first two bytes, which no key has a blank in: key and family, longest key first.
    keys: Vec<Vec<(Vec<u8>, usize)>>,
}

/// Buckets of [`Table::keys`].
const BUCKETS: usize = 2048;

fn bucket_of(bytes: &[u8]) -> Option<usize> {
    let [a, b, ..] = bytes else {
        return None;
    };
    Some((usize::from(*a) * 257 + usize::from(*b) * 31) % BUCKETS)
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        // A test reads the file; were it ever unreadable, no name is known.
        let families: Vec<Family> =
            serde_json::from_str(include_str!("../../data/check/families.json"))
                .unwrap_or_default();
        let mut keys: Vec<Vec<(Vec<u8>, usize)>> = vec![Vec::new(); BUCKETS];
        for (index, family) in families.iter().enumerate() {
            for key in &family.keys {
                if let Some(bucket) = bucket_of(key.as_bytes()).and_then(|b| keys.get_mut(b)) {
                    bucket.push((key.clone().into_bytes(), index));
                }
            }
        }
        for bucket in &mut keys {
            bucket.sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
        }
        let identities = families.iter().map(|_| OnceLock::new()).collect();
        Table {
            families,
            identities,
            keys,
        }
    })
}

/// Every name in lower case, as the data file spells it.
pub fn keys() -> impl Iterator<Item = &'static [u8]> {
    let families = families().iter();
    families.flat_map(|family| family.keys.iter().map(String::as_bytes))
}

/// A card's name found in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention {
    /// Index into [`families`].
    pub family: usize,
    /// Where the name begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The name that begins at byte `at` of cleaned text.
pub fn mention_at(text: &[u8], at: usize) -> Option<Mention> {
    let bucket = table().keys.get(bucket_of(text.get(at..)?)?)?;
    if bucket.is_empty() || !may_begin(text, at) {
        return None;
    }
    bucket.iter().find_map(|(key, family)| {
        let end = match_key(text, at, key)?;
        may_end(text, at, end).then_some(Mention {
            family: *family,
            start: at,
            end,
        })
    })
}

/// The first name in cleaned text.
pub fn first_mention(text: &str) -> Option<Mention> {
    (0..text.len()).find_map(|at| mention_at(text.as_bytes(), at))
}

/// Longest run of separators between two parts of a name.
const LONGEST_GAP: usize = 2;

fn match_key(text: &[u8], at: usize, key: &[u8]) -> Option<usize> {
    let mut i = at;
    for &wanted in key {
        if wanted == b' ' {
            let mut gap = 0;
            while gap < LONGEST_GAP && matches!(text.get(i), Some(b' ' | b'-' | b'_')) {
                i += 1;
                gap += 1;
            }
        } else if text.get(i) == Some(&wanted) {
            i += 1;
        } else {
            return None;
        }
    }
    Some(i)
}

fn may_begin(text: &[u8], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|i| text.get(i)).copied();
    let Some(previous) = before(1) else {
        return true;
    };
    if text.get(at).is_some_and(u8::is_ascii_digit) {
        // "8x4090" names a card, "1.4090" and ":3090" do not.
        if previous == b'x' || previous == b'*' {
            return before(2).is_none_or(|b| b.is_ascii_digit() || b == b' ');
        }
        // A drive's or a card's number: "geforce4090", "rtx4090" have keys of their own.
        if matches!(previous, b'.' | b':' | b'#' | b'=' | b'$') || previous == 0xa5 {
            return false;
        }
        return !previous.is_ascii_alphanumeric();
    }
    if previous == b'x' {
        return before(2).is_none_or(|b| b.is_ascii_digit());
    }
    !previous.is_ascii_alphanumeric()
}

fn may_end(text: &[u8], start: usize, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default();
    let starts = |word: &str| rest.starts_with(word.as_bytes());
    let Some(&next) = rest.first() else {
        return true;
    };
    if text.get(end.wrapping_sub(1)) == Some(&b'.') {
        return true;
    }
    let counts = matches!(next, b'x' | b'*') && rest.get(1).is_some_and(u8::is_ascii_digit);
    let qualifies = [
        "sxm", "pcie", "nvl", "oam", "80g", "40g", "24g", "48g", "gpu",
    ]
    .iter()
    .any(|word| starts(word));
    if next.is_ascii_alphanumeric() && !counts && !qualifies {
        return false;
    }
    let only_digits = text
        .get(start..end)
        .is_some_and(|name| name.iter().all(u8::is_ascii_digit));
    if !only_digits {
        return true;
    }
    if next == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit) {
        return false;
    }
    // A bare "3090" may be a number of something.
    let blank = rest.iter().take_while(|b| **b == b' ').count();
    let rest = rest.get(blank..).unwrap_or_default();
    ![
        "mib", "mb", "元", "块", "w ", "mhz", "%", "tflops", "tops", "tok", "cuda", "core", "/mo",
        "/h", "个", "人", "次", "gb/s",
    ]
    .iter()
    .any(|word| rest.starts_with(word.as_bytes()))
}

/// How a board is built, as far as names tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A card in a slot.
    Pcie,
    /// NVIDIA's module; the generation where it is said.
    Sxm(Option<u8>),
    /// A pair of PCIe cards joined by a bridge.
    Nvl,
    /// An open accelerator module.
    Oam,
}

impl Form {
    /// Whether `card` is built so.
    pub fn fits(self, card: &Card) -> bool {
        let form = card.form.to_lowercase();
        let nvl = card.name.contains("NVL");
        match self {
            Self::Pcie => form.starts_with("pcie"),
            Self::Nvl => nvl,
            Self::Oam => form.starts_with("oam"),
            Self::Sxm(None) => form.starts_with("sxm"),
            Self::Sxm(Some(n)) => form == format!("sxm{n}"),
        }
    }
}

/// The cards that a name leaves open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Identity {
    /// Ids, the likeliest first; empty: a name that is known but not in the catalog, or no name.
    pub cards: Vec<String>,
    /// Ids of every card that is easily taken for it, those above included.
    pub kin: Vec<String>,
    /// What to call it where the catalog lacks it.
    pub name: Option<String>,
}

impl Identity {
    /// What a family leaves open.
    pub fn of(family: &Family) -> Self {
        Self {
            cards: family.cards.clone(),
            kin: families()
                .iter()
                .filter(|other| other.kin == family.kin)
                .flat_map(|other| other.cards.iter().cloned())
                .fold(Vec::new(), |mut kin, id| {
                    if !kin.contains(&id) {
                        kin.push(id);
                    }
                    kin
                }),
            name: family.name.clone(),
        }
    }

    /// What the family of that index leaves open.
    pub(super) fn of_family(index: usize) -> Option<Self> {
        let table = table();
        let family = table.families.get(index)?;
        let known = table.identities.get(index)?;
        Some(known.get_or_init(|| Self::of(family)).clone())
    }

    /// The identity of one card.
    pub fn of_card(id: &str) -> Self {
        families()
            .iter()
            .find(|family| family.cards.iter().any(|card| card == id))
            .map_or_else(Self::default, |family| Self {
                cards: vec![id.to_owned()],
                ..Self::of(family)
            })
    }

    /// Keeps the cards that `keep` holds for, unless none does.
    ///
    /// Says whether one did.
    pub fn narrow(&mut self, catalog: &Catalog, keep: impl Fn(&Card) -> bool) -> bool {
        let kept: Vec<String> = self
            .cards
            .iter()
            .filter(|id| catalog.card(id).is_some_and(&keep))
            .cloned()
            .collect();
        let any = !kept.is_empty();
        if any {
            self.cards = kept;
        }
        any
    }
}

/// Whether a label's size (80 for "80 GB") is this card's.
pub fn has_label(card: &Card, gib: f64) -> bool {
    (card.memory_gib - gib).abs() <= 0.02 * card.memory_gib
}

/// What a driver's name for a card says, memory and form in it included: `NVIDIA A100-SXM4-80GB`.
pub fn identify(name: &str, catalog: &Catalog) -> Option<Identity> {
    let mention = first_mention(name).or_else(|| truncated(name))?;
    let mut identity = Identity::of_family(mention.family)?;
    let (form, memory) = words_of_name(name);
    if let Some(form) = form {
        identity.narrow(catalog, |card| form.fits(card));
    }
    if let Some(gib) = memory {
        identity.narrow(catalog, |card| has_label(card, gib));
    }
    if form == Some(Form::Pcie) {
        // H100 NVL is a PCIe card, but its own name says so.
        identity.narrow(catalog, |card| !card.name.contains("NVL"));
    }
    // A datacentre name that ends in its memory type: "H100 80GB HBM3" is the module.
    if name.contains("hbm3") && !name.contains("pcie") {
        identity.narrow(catalog, |card| card.form.starts_with("SXM"));
    }
    Some(identity)
}

/// Form and memory label in a driver's name.
fn words_of_name(name: &str) -> (Option<Form>, Option<f64>) {
    let form = if name.contains("nvl") {
        Some(Form::Nvl)
    } else if let Some(at) = name.find("sxm") {
        let digit = name.as_bytes().get(at + 3).filter(|b| b.is_ascii_digit());
        Some(Form::Sxm(digit.map(|b| b - b'0')))
    } else if name.contains("pcie") {
        Some(Form::Pcie)
    } else if name.contains("oam") {
        Some(Form::Oam)
    } else {
        None
    };
    let bytes = name.as_bytes();
    let memory = (0..bytes.len()).find_map(|at| {
        let fresh = at == 0
            || !bytes
                .get(at - 1)
                .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'.');
        let number = fresh.then(|| super::number::number_at(bytes, at))??;
        bytes
            .get(number.end..)
            .is_some_and(|rest| rest.starts_with(b"gb") || rest.starts_with(b" gb"))
            .then_some(number.value)
    });
    (form, memory)
}

/// Old drivers cut names to fit their column: `Tesla V100-SXM2...`, `GeForce RTX 208...`.
fn truncated(name: &str) -> Option<Mention> {
    let begun = name.trim_end().strip_suffix("...")?;
    let begun: String = begun
        .split([' ', '-', '_'])
        .filter(|word| !matches!(*word, "nvidia" | "geforce" | "tesla" | "quadro" | ""))
        .collect();
    if begun.len() < 5 {
        return None;
    }
    let family = families().iter().position(|family| {
        family
            .keys
            .iter()
            .any(|key| key.replace(' ', "").starts_with(&begun))
    })?;
    Some(Mention {
        family,
        start: 0,
        end: name.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(name: &str) -> Vec<String> {
        identify(&name.to_lowercase(), Catalog::embedded())
            .map(|identity| identity.cards)
            .unwrap_or_default()
    }

    #[test]
    fn every_id_is_of_the_catalog_and_every_rentable_card_has_a_name() {
        let catalog = Catalog::embedded();
        assert!(families().len() > 100);
        for family in families() {
            assert!(family.cards.is_empty() == family.name.is_some());
            for id in &family.cards {
                assert!(catalog.cards.iter().any(|card| &card.id == id), "{id}");
            }
        }
    }

    #[test]
    fn drivers_names_are_read() {
        assert_eq!(cards("NVIDIA A100-SXM4-80GB"), ["a100-sxm4-80gb"]);
        assert_eq!(cards("NVIDIA A100 80GB PCIe"), ["a100-pcie-80gb"]);
        assert_eq!(cards("A100-PCIE-40GB"), ["a100-pcie-40gb"]);
        assert_eq!(cards("NVIDIA H100 80GB HBM3"), ["h100-sxm-80gb"]);
        assert_eq!(cards("NVIDIA H100 PCIe"), ["h100-pcie-80gb"]);
        assert_eq!(cards("NVIDIA H100 NVL"), ["h100-nvl-94gb"]);
        assert_eq!(cards("NVIDIA H800"), ["h800-sxm-80gb", "h800-pcie-80gb"]);
        assert_eq!(cards("NVIDIA H20-3e"), ["h20-141gb"]);
        assert_eq!(cards("NVIDIA GeForce RTX 4090 D"), ["rtx-4090-d"]);
        assert_eq!(
            cards("NVIDIA GeForce RTX 4090"),
            ["rtx-4090", "rtx-4090-48gb"]
        );
        assert_eq!(cards("Tesla V100-SXM2-32GB"), ["v100-sxm2-32gb"]);
        assert_eq!(cards("GeForce RTX 2080 Ti"), ["rtx-2080-ti"]);
        assert_eq!(cards("910B3"), ["ascend-910b3"]);
        assert_eq!(cards("AMD Instinct MI300X OAM"), ["mi300x"]);
        assert_eq!(
            cards("NVIDIA RTX PRO 6000 Blackwell Server Edition"),
            ["rtx-pro-6000-blackwell-server"]
        );
        assert_eq!(cards("NVIDIA RTX 6000 Ada Generation"), ["rtx-6000-ada"]);
    }

    #[test]
    fn names_that_old_drivers_cut_are_read() {
        assert_eq!(
            cards("Tesla V100-SXM2..."),
            ["v100-sxm2-16gb", "v100-sxm2-32gb"]
        );
        assert!(!cards("GeForce RTX 208...").is_empty());
        assert!(cards("NVIDIA GeForce ...").is_empty());
    }

    #[test]
    fn figures_and_words_are_no_names() {
        for text in [
            "24090 mib",
            "4090 mib",
            "3090元",
            "1.4090",
            "l2 cache 40mb",
            "ba100c",
            "a1000",
            "atlas",
        ] {
            assert_eq!(first_mention(text), None, "{text}");
        }
        for text in [
            "8x4090",
            "4090x8",
            "rtx4090d",
            "a100*8",
            "4090显卡",
            "[l40s]",
        ] {
            assert!(first_mention(text).is_some(), "{text}");
        }
    }
}
