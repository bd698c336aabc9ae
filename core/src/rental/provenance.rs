//! Where a price was read and what its source warns of, in the reader's language.
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
