//! Texts for people: a folder a language under `core/locales/`, a JSON file an area, flat keys, `{name}` for what is
//! filled in.
//!
//! The page and the command line read the same texts. A language is a folder, a line in [`Lang::ALL`], its tag, its
//! loader and its two packed files, which `packed::files` lists; an area is a file in each folder and a name in `first_texts!` or `more_texts!`.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::packed::{PackedFile, packed_file};

/// A language of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Simplified Chinese.
    ZhCn,
}

type Texts = HashMap<&'static str, &'static str>;

/// The files of one language and some areas.
#[cfg(not(packed))]
macro_rules! texts {
    ($lang:literal: $($area:literal),+) => {
        [$(include_str!(concat!("../locales/", $lang, "/", $area, ".json"))),+]
    };
}

/// Areas that a first look at the page needs.
#[cfg(not(packed))]
macro_rules! first_texts {
    ($lang:literal) => {
        texts!(
            $lang: "chart", "common", "embed", "jobs", "models", "rental", "serving", "share", "views"
        )
    };
}

/// Areas of views that are loaded when they are first wanted; see [`load_more`].
#[cfg(not(packed))]
macro_rules! more_texts {
    ($lang:literal) => {
        texts!($lang: "check", "feed", "method")
    };
}

pub(crate) static FIRST_EN: PackedFile = packed_file!("first_en", pairs, first_texts!("en"));
pub(crate) static FIRST_ZH_CN: PackedFile =
    packed_file!("first_zh_cn", pairs, first_texts!("zh-CN"));
pub(crate) static MORE_EN: PackedFile = packed_file!("more_en", pairs, more_texts!("en"));
pub(crate) static MORE_ZH_CN: PackedFile = packed_file!("more_zh_cn", pairs, more_texts!("zh-CN"));

/// Keys and texts of some areas, in the files' order.
#[cfg(not(packed))]
fn pairs<const AREAS: usize>(files: [&str; AREAS]) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    for json in files {
        pairs.extend(crate::packed::json::<std::collections::BTreeMap<_, _>>(
            json,
        )?);
    }
    Ok(pairs)
}

/// A test reads every file; were one ever broken, keys are shown rather than nothing.
fn read(file: &'static PackedFile) -> Texts {
    file.texts().collect()
}

static FIRST: [OnceLock<Texts>; Lang::ALL.len()] = [const { OnceLock::new() }; Lang::ALL.len()];
static MORE: OnceLock<[Texts; Lang::ALL.len()]> = OnceLock::new();

/// Makes the English texts of a first look known. One function a language: in the page each is in a part of its own, so that
/// only the texts that somebody reads are loaded. Elsewhere [`text`] does by itself.
pub fn load_en() {
    FIRST[Lang::En as usize].get_or_init(|| read(&FIRST_EN));
}

/// As [`load_en`], of Simplified Chinese.
pub fn load_zh_cn() {
    FIRST[Lang::ZhCn as usize].get_or_init(|| read(&FIRST_ZH_CN));
}

/// Makes the texts of the views that are not needed at first known. In the page, only parts that are loaded later call it,
/// so that the texts are loaded with them; elsewhere [`text`] does by itself.
pub fn load_more() {
    MORE.get_or_init(|| {
        Lang::ALL.map(|lang| {
            read(match lang {
                Lang::En => &MORE_EN,
                Lang::ZhCn => &MORE_ZH_CN,
            })
        })
    });
}

impl Lang {
    /// Every language, in the order in which they are offered.
    pub const ALL: [Self; 2] = [Self::En, Self::ZhCn];

    /// BCP 47 tag.
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::ZhCn => "zh-CN",
        }
    }

    /// The language that a BCP 47 tag asks for: any Chinese is Simplified Chinese here.
    pub fn from_tag(tag: &str) -> Option<Self> {
        match tag.split(['-', '_']).next()?.to_ascii_lowercase().as_str() {
            "zh" => Some(Self::ZhCn),
            "en" => Some(Self::En),
            _ => None,
        }
    }

    /// Makes the texts of a first look known in this language.
    pub fn load(self) {
        match self {
            Self::En => load_en(),
            Self::ZhCn => load_zh_cn(),
        }
    }

    /// Whether its texts of a first look are known.
    pub fn is_loaded(self) -> bool {
        FIRST[self as usize].get().is_some()
    }

    fn first_texts(self) -> Option<&'static Texts> {
        #[cfg(not(target_family = "wasm"))]
        self.load();
        FIRST[self as usize].get()
    }

    fn more_texts(self) -> Option<&'static Texts> {
        #[cfg(not(target_family = "wasm"))]
        load_more();
        MORE.get()?.get(self as usize)
    }
}

/// The text of `key`, its `{name}` places filled from `values`. An unknown key shows itself.
pub fn text(lang: Lang, key: &str, values: &[(&str, &str)]) -> String {
    let first = lang.first_texts().and_then(|texts| texts.get(key));
    let found = first.or_else(|| lang.more_texts()?.get(key));
    let template = found.copied().unwrap_or(key);
    let filled = values
        .iter()
        .fold(template.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        });
    match lang {
        Lang::En => filled,
        Lang::ZhCn => closed_up(filled),
    }
}

/// 8.24 万 and a unit of Chinese characters are written together: 8.24 万卡时, but 8.24 万 tokens.
fn closed_up(text: String) -> String {
    if !["万 ", "亿 "].iter().any(|ends| text.contains(ends)) {
        return text;
    }
    let mut closed = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(sign) = rest.next() {
        let before = closed.chars().next_back();
        let is_number = sign == ' ' && matches!(before, Some('万' | '亿'));
        if is_number
            && rest
                .peek()
                .is_some_and(|next| ('\u{4e00}'..='\u{9fff}').contains(next))
        {
            continue;
        }
        closed.push(sign);
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn places(template: &str) -> BTreeSet<&str> {
        template
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split_once('}'))
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn large_numbers_and_chinese_units_are_written_together() {
        let hours = |n| text(Lang::ZhCn, "runs.card_hours", &[("n", n)]);
        assert_eq!(hours("8.24 万"), "8.24 万卡时");
        assert_eq!(hours("824"), "824 卡时");
        assert_eq!(closed_up("8.24 万 tokens".to_owned()), "8.24 万 tokens");
    }

    type Area = std::collections::BTreeMap<String, String>;

    fn areas(lang: Lang) -> Vec<Area> {
        let of = |first: &[&str], more: &[&str]| {
            let files = first.iter().chain(more);
            files
                .map(|json| serde_json::from_str(json).unwrap())
                .collect()
        };
        match lang {
            Lang::En => of(&first_texts!("en"), &more_texts!("en")),
            Lang::ZhCn => of(&first_texts!("zh-CN"), &more_texts!("zh-CN")),
        }
    }

    #[test]
    fn languages_have_the_same_keys_and_places() {
        for (area, en) in areas(Lang::En).iter().enumerate() {
            assert!(!en.is_empty());
            for lang in Lang::ALL {
                let texts = &areas(lang)[area];
                let keys = |texts: &Area| texts.keys().cloned().collect::<BTreeSet<_>>();
                assert_eq!(keys(texts), keys(en), "{}", lang.tag());
                for (key, template) in texts {
                    assert_eq!(
                        places(template),
                        places(&en[key]),
                        "{key} in {}",
                        lang.tag()
                    );
                }
            }
        }
    }

    #[test]
    fn no_two_areas_have_a_text_of_the_same_name() {
        let mut seen = BTreeSet::new();
        for key in areas(Lang::En).iter().flat_map(|area| area.keys()) {
            assert!(seen.insert(key.clone()), "{key}");
        }
    }

    #[test]
    fn texts_of_later_views_are_found_too() {
        assert_ne!(text(Lang::ZhCn, "method.title", &[]), "method.title");
    }

    #[test]
    fn places_are_filled() {
        assert_eq!(text(Lang::En, "app.name", &[]), "CardFit");
        assert_eq!(
            text(Lang::En, "no {what} key", &[("what", "such")]),
            "no such key"
        );
    }
}
