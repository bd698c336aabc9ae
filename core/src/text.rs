//! Texts for people: a folder a language under `core/locales/`, a JSON file an area, flat keys, `{name}` for what is
//! filled in.
//!
//! The page and the command line read the same texts. A language is a folder and a line in [`Lang::ALL`] and in
//! [`Lang::texts`]; an area is a file in each folder and a name in `texts!`.

use std::collections::HashMap;
use std::sync::OnceLock;

/// A language of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Simplified Chinese.
    ZhCn,
}

type Texts = HashMap<String, String>;

/// The files of one language.
macro_rules! texts {
    ($lang:literal) => {
        texts!($lang: "chart", "check", "common", "embed", "feed", "jobs", "method", "models", "rental", "serving", "share", "views")
    };
    ($lang:literal: $($area:literal),+) => {
        &[$(include_str!(concat!("../locales/", $lang, "/", $area, ".json"))),+]
    };
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

    fn texts(self) -> &'static Texts {
        static EN: OnceLock<Texts> = OnceLock::new();
        static ZH_CN: OnceLock<Texts> = OnceLock::new();
        let (cell, files): (_, &[&str]) = match self {
            Self::En => (&EN, texts!("en")),
            Self::ZhCn => (&ZH_CN, texts!("zh-CN")),
        };
        // A test reads every file; a broken one shows keys rather than nothing.
        cell.get_or_init(|| {
            files
                .iter()
                .flat_map(|json| serde_json::from_str::<Texts>(json).unwrap_or_default())
                .collect()
        })
    }
}

/// The text of `key`, its `{name}` places filled from `values`. An unknown key shows itself.
pub fn text(lang: Lang, key: &str, values: &[(&str, &str)]) -> String {
    let template = lang.texts().get(key).map_or(key, String::as_str);
    values
        .iter()
        .fold(template.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        })
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
    fn languages_have_the_same_keys_and_places() {
        let en: BTreeSet<_> = Lang::En.texts().keys().collect();
        assert!(en.len() > 1);
        for lang in Lang::ALL {
            let keys: BTreeSet<_> = lang.texts().keys().collect();
            assert_eq!(keys, en, "{}", lang.tag());
            for (key, template) in lang.texts() {
                assert_eq!(
                    places(template),
                    places(&Lang::En.texts()[key]),
                    "{key} in {}",
                    lang.tag()
                );
            }
        }
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
