//! Whose a price is, where it was read and what its source warns of, in the reader's language.
//!
//! Sources are cited as they stand; the phrases that we wrote around them, and the commonest of theirs, are translated by
//! `core/data/price_words.json`. What is not in it is shown as it is.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::packed::{PackedFile, packed_file};
use crate::text::Lang;

pub(crate) static FILE: PackedFile = packed_file!(
    "price_words",
    crate::packed::json::<BTreeMap<String, String>>,
    include_str!("../../data/price_words.json")
);

/// English to Chinese; some phrases were written in Chinese first.
fn phrases() -> &'static BTreeMap<String, String> {
    static PHRASES: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    PHRASES.get_or_init(|| FILE.read())
}

fn phrase(lang: Lang, given: &str) -> &str {
    match lang {
        Lang::ZhCn => phrases().get(given).map_or(given, String::as_str),
        Lang::En => phrases()
            .iter()
            .find(|(_, chinese)| *chinese == given)
            .map_or(given, |(english, _)| english),
    }
}

/// A remark that has a figure of its own: `0.20 of the median of this card`.
fn of_median(lang: Lang, given: &str) -> Option<String> {
    let share = given.strip_suffix(" of the median of this card")?;
    (lang == Lang::ZhCn).then(|| format!("只有该卡价格中位数的 {share} 倍"))
}

/// What a price was within a month: `30-day range 2.09-2.68`.
fn within_a_month(lang: Lang, given: &str) -> Option<String> {
    let (low, high) = given.strip_prefix("30-day range ")?.split_once('-')?;
    let figures = if low == high {
        low.to_owned()
    } else {
        format!("{low}–{high}")
    };
    Some(match lang {
        Lang::ZhCn => format!("近 30 天价格 {figures}"),
        Lang::En => format!("price of the last 30 days {figures}"),
    })
}

fn part(lang: Lang, given: &str) -> String {
    of_median(lang, given)
        .or_else(|| within_a_month(lang, given))
        .unwrap_or_else(|| phrase(lang, given).to_owned())
}

/// English names of providers and regions that the book has in Chinese: their own brand where they have one, else pinyin.
fn english_names() -> &'static BTreeMap<String, String> {
    static NAMES: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        serde_json::from_str(include_str!("../../data/provider_names.json")).unwrap_or_default()
    })
}

/// The name of a provider or a region; one that is not known stays as it is.
pub fn name_in(lang: Lang, name: &str) -> &str {
    match lang {
        Lang::ZhCn => name,
        Lang::En => english_names().get(name).map_or(name, String::as_str),
    }
}

/// A source or a note, phrase by phrase.
pub fn said_in(lang: Lang, given: &str) -> String {
    let between = match lang {
        Lang::ZhCn => "；",
        Lang::En => "; ",
    };
    match phrase(lang, given) {
        same if same == given => given
            .split("; ")
            .map(|given| part(lang, given))
            .collect::<Vec<_>>()
            .join(between),
        whole => whole.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::PriceBook;

    #[test]
    fn phrases_are_said_in_the_readers_language() {
        assert_eq!(
            said_in(Lang::ZhCn, "0.20 of the median of this card"),
            "只有该卡价格中位数的 0.20 倍"
        );
        let month = "30-day range 2.09-2.68";
        assert_eq!(said_in(Lang::ZhCn, month), "近 30 天价格 2.09–2.68");
        let still = said_in(Lang::En, "30-day range 1.14-1.14");
        assert_eq!(still, "price of the last 30 days 1.14");
        assert_eq!(
            said_in(Lang::ZhCn, "public price comparison, read second-hand"),
            "公开比价资料，二手转引"
        );
        assert_eq!(
            said_in(Lang::ZhCn, "whole node of 8; page may be stale"),
            "整机 8 卡出租；页面可能过期"
        );
        assert_eq!(
            said_in(Lang::En, "秒级, 关机免费"),
            "by the second, stopped is free"
        );
        assert_eq!(said_in(Lang::En, "ARM; unheard of"), "ARM; unheard of");
    }

    fn is_chinese(text: &str) -> bool {
        text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
    }

    #[test]
    fn who_reads_english_meets_no_chinese_name_or_note() {
        assert_eq!(name_in(Lang::En, "阿里云"), "Alibaba Cloud");
        assert_eq!(name_in(Lang::ZhCn, "阿里云"), "阿里云");
        assert_eq!(name_in(Lang::En, "A shop"), "A shop");
        for offer in &PriceBook::embedded().offers {
            let region = offer.region.as_deref().unwrap_or_default();
            for name in [offer.provider.as_str(), region] {
                assert!(!is_chinese(name_in(Lang::En, name)), "{name}");
            }
            let notes = offer.notes.as_deref().unwrap_or_default();
            assert!(!is_chinese(&said_in(Lang::En, notes)), "{notes}");
        }
        // And each name belongs to the book.
        let book = &PriceBook::embedded().offers;
        for name in english_names().keys() {
            let known = |o: &crate::catalog::PriceOffer| {
                o.provider == *name || o.region.as_ref() == Some(name)
            };
            assert!(book.iter().any(known), "{name}");
        }
    }

    #[test]
    fn percent_signs_follow_chinese_figures_closely() {
        for words in phrases().values() {
            assert!(!words.contains(" %"), "{words}");
        }
    }

    /// Sources that are no names and no addresses have a translation.
    #[test]
    fn every_source_in_words_is_translated() {
        for offer in &PriceBook::embedded().offers {
            let source = offer.source.as_str();
            let in_words = ["second-hand", "article ", "reply", "quoting"]
                .iter()
                .any(|word| source.contains(word));
            if in_words {
                assert_ne!(said_in(Lang::ZhCn, source), source, "{source}");
            }
        }
    }
}
