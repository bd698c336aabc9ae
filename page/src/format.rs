//! Figures as people read them: by language, with the unit said, never more digits than are known.

mod time;

use cardfit::catalog::Currency;
use cardfit::range::Range;
use cardfit::text::{Lang, text};

pub use time::{date, seconds, seconds_ends, seconds_given, seconds_range};

/// Bytes of a GiB, the unit in which a card's memory is counted.
pub const GIB: f64 = 1_073_741_824.0;

/// Shown where there is no figure, or none that is finite.
pub const NO_FIGURE: &str = "–";

/// `value` rounded to `digits` significant digits, trailing zeros kept: they say how well it is known.
fn estimated(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    // 9.97 to two digits is 10: what rounds up to the next power of ten is one digit longer.
    let step = 10f64.powi(magnitude + 1 - digits);
    let rounded = (value / step).round() * step;
    let magnitude = rounded.abs().log10().floor() as i32;
    let decimals = (digits - 1 - magnitude).clamp(0, 9) as usize;
    let plain = format!("{rounded:.decimals$}");
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    if fraction.is_empty() {
        grouped(whole)
    } else {
        format!("{}.{fraction}", grouped(whole))
    }
}

/// As [`estimated`], without trailing zeros after the point: a figure that is given, not estimated.
fn significant(value: f64, digits: i32) -> String {
    let long = estimated(value, digits);
    if long.contains('.') {
        long.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        long
    }
}

/// Digits with commas between groups of three.
pub fn grouped(whole: &str) -> String {
    let (sign, digits) = whole
        .strip_prefix('-')
        .map_or(("", whole), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A scale of large numbers: factor and the key of its word.
type Scale = (f64, &'static str);

/// 万 and 亿 where Chinese readers expect them; million, billion and trillion in English.
fn scale_of(lang: Lang, value: f64) -> Option<Scale> {
    let scales: &[Scale] = match lang {
        Lang::ZhCn => &[
            (1e12, "page.number.1e12"),
            (1e8, "page.number.1e8"),
            (1e4, "page.number.1e4"),
        ],
        Lang::En => &[
            (1e12, "page.number.1e12"),
            (1e9, "page.number.1e9"),
            (1e6, "page.number.1e6"),
        ],
    };
    // 999,960 rounds to a million, so it is one.
    scales
        .iter()
        .copied()
        .find(|(factor, _)| value.abs() >= factor * 0.9995)
}

/// A number to `digits` significant digits in the language's own scale: `1.5 million`, `150 万`.
pub fn number(lang: Lang, value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return NO_FIGURE.to_owned();
    }
    match scale_of(lang, value) {
        Some((factor, word)) => text(lang, word, &[("n", &significant(value / factor, digits))]),
        None => significant(value, digits),
    }
}

/// An estimate to three significant digits in the language's own scale.
pub fn rate(lang: Lang, value: f64) -> String {
    if !value.is_finite() {
        return NO_FIGURE.to_owned();
    }
    match scale_of(lang, value) {
        Some((factor, word)) => text(lang, word, &[("n", &estimated(value / factor, 3))]),
        None => estimated(value, 3),
    }
}

/// A count of things, whole.
pub fn count(lang: Lang, value: u64) -> String {
    if value < 1_000_000 {
        return grouped(&value.to_string());
    }
    number(lang, value as f64, 4)
}

/// A figure that was given: whole ones as they are up to a million, `16,384`; others as [`number`] to four digits.
pub fn given(lang: Lang, value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return grouped(&format!("{value:.0}"));
    }
    number(lang, value, 4)
}

/// A rate of data, given in MB/s, in the unit that it fills: `9.4 kB/s`, `72 MB/s`, `1.5 GB/s`.
pub fn data_rate(lang: Lang, mb_per_s: f64) -> String {
    let (value, unit) = match mb_per_s {
        rate if rate < 0.9995 => (rate * 1e3, "kB/s"),
        rate if rate < 999.5 => (rate, "MB/s"),
        rate => (rate / 1e3, "GB/s"),
    };
    format!("{} {unit}", number(lang, value, 3))
}

/// A figure as it stands in an input: plain digits that can be edited, no separators.
pub fn plain(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    if value.abs() >= 1e15 {
        return format!("{value:e}");
    }
    format!("{value}")
}

/// A memory size in GiB, with its unit.
pub fn gib(bytes: f64) -> String {
    format!("{} GiB", gib_bare(bytes))
}

/// A memory size in GiB, without its unit.
pub fn gib_bare(bytes: f64) -> String {
    let gib = bytes / GIB;
    if !gib.is_finite() {
        return NO_FIGURE.to_owned();
    }
    if gib >= 100.0 {
        grouped(&format!("{gib:.0}"))
    } else if gib >= 0.05 {
        format!("{gib:.1}")
    } else {
        format!("{gib:.2}")
    }
}

/// The sign of a currency.
pub fn symbol(currency: Currency) -> &'static str {
    match currency {
        Currency::Cny => "¥",
        Currency::Usd => "$",
        Currency::Eur => "€",
    }
}

/// The ISO code of a currency.
pub fn currency_code(currency: Currency) -> &'static str {
    match currency {
        Currency::Cny => "CNY",
        Currency::Usd => "USD",
        Currency::Eur => "EUR",
    }
}

/// Money without its currency.
pub fn money_bare(lang: Lang, value: f64) -> String {
    if !value.is_finite() {
        return NO_FIGURE.to_owned();
    }
    if let Some((factor, word)) = scale_of(lang, value) {
        return text(lang, word, &[("n", &estimated(value / factor, 3))]);
    }
    if value >= 0.995 {
        return estimated(value, 3);
    }
    // Cents on a bill have two places, 0.10; a tenth of a cent has the places it needs.
    let short = significant(value, 2);
    if value > 0.0 && short.len() < "0.00".len() {
        format!("{value:.2}")
    } else {
        short
    }
}

/// Money in a currency: `¥12.3`, `$1,234`, `¥3.21 万`.
pub fn money(lang: Lang, currency: Currency, value: f64) -> String {
    format!("{}{}", symbol(currency), money_bare(lang, value))
}

/// Money with its ends: `¥12.3 (10.1–15.0)`.
pub fn money_range(lang: Lang, currency: Currency, value: Range) -> String {
    let ends = money_ends(lang, value);
    format!("{}{}", money(lang, currency, value.mid), bracketed(&ends))
}

/// The ends of an amount of money, without the currency: `10.1–15.0`; empty where they are one.
pub fn money_ends(lang: Lang, value: Range) -> String {
    ends_in_scale_of_middle(lang, value)
        .unwrap_or_else(|| joined(money_bare(lang, value.low), money_bare(lang, value.high)))
}

/// The ends in millions where the middle and both ends are read in millions, so that the word stands once.
fn ends_in_scale_of_middle(lang: Lang, value: Range) -> Option<String> {
    let scale = scale_of(lang, value.mid)?;
    let same = |end: f64| scale_of(lang, end) == Some(scale);
    (same(value.low) && same(value.high)).then(|| {
        let in_scale = |end: f64| estimated(end / scale.0, 3);
        joined(in_scale(value.low), in_scale(value.high))
    })
}

fn joined(low: String, high: String) -> String {
    if low == high {
        String::new()
    } else {
        format!("{low}–{high}")
    }
}

fn bracketed(ends: &str) -> String {
    if ends.is_empty() {
        String::new()
    } else {
        format!(" ({ends})")
    }
}

/// A count or rate with its ends, to three digits: `1,230 (980–1,500)`.
pub fn number_range(lang: Lang, value: Range) -> String {
    let ends = number_ends(lang, value);
    format!("{}{}", rate(lang, value.mid), bracketed(&ends))
}

/// The ends of a count or rate.
pub fn number_ends(lang: Lang, value: Range) -> String {
    ends_in_scale_of_middle(lang, value)
        .unwrap_or_else(|| joined(rate(lang, value.low), rate(lang, value.high)))
}

/// A share as a percentage, whole from 10 % on.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return NO_FIGURE.to_owned();
    }
    let value = share * 100.0;
    if value >= 9.95 || value == 0.0 {
        format!("{value:.0}%")
    } else if value.abs() < 0.05 {
        "<0.1%".to_owned()
    } else {
        format!("{value:.1}%")
    }
}

/// Parameters: in English in the unit that model names use, `8.0 B`, `671 B`; in Chinese in its own, `80.3 亿`.
pub fn parameters(lang: Lang, value: f64) -> String {
    if lang == Lang::ZhCn {
        return number(lang, value, 3);
    }
    let (scaled, unit) = if value >= 0.9995e12 {
        (value / 1e12, "T")
    } else if value >= 0.9995e9 {
        (value / 1e9, "B")
    } else {
        (value / 1e6, "M")
    };
    let decimals = usize::from(scaled < 99.95);
    format!("{scaled:.decimals$} {unit}")
}

/// Tokens of a context in the unit that people use: `8K`, `128K`, `1M`.
pub fn context(tokens: u32) -> String {
    match tokens {
        t if t >= 1_000_000 => format!("{}M", significant(f64::from(t) / 1_048_576.0, 2)),
        t if t >= 1024 => format!("{:.0}K", f64::from(t) / 1024.0),
        t => t.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: f64, mid: f64, high: f64) -> Range {
        Range { low, mid, high }
    }

    #[test]
    fn large_numbers_follow_the_language() {
        assert_eq!(number(Lang::En, 12_345.0, 3), "12,300");
        assert_eq!(number(Lang::En, 9.997, 3), "10");
        assert_eq!(number(Lang::En, 1_500_000.0, 3), "1.5 million");
        assert_eq!(number(Lang::ZhCn, 12_345.0, 3), "1.23 万");
        assert_eq!(number(Lang::ZhCn, 250_000_000.0, 3), "2.5 亿");
        assert_eq!(number(Lang::En, 999_960.0, 3), "1 million");
        assert_eq!(number(Lang::En, 1e18, 3), "1,000,000 trillion");
        assert_eq!(count(Lang::En, 10_000), "10,000");
    }

    #[test]
    fn what_was_given_is_not_rounded() {
        assert_eq!(given(Lang::En, 16_384.0), "16,384");
        assert_eq!(given(Lang::ZhCn, 65_536.0), "65,536");
        assert_eq!(given(Lang::ZhCn, 30_720_000.0), "3,072 万");
        assert_eq!(given(Lang::En, 0.084_821), "0.08482");
    }

    #[test]
    fn a_rate_of_data_is_in_the_unit_that_it_fills() {
        assert_eq!(data_rate(Lang::En, 0.009_44), "9.44 kB/s");
        assert_eq!(data_rate(Lang::En, 72.31), "72.3 MB/s");
        assert_eq!(data_rate(Lang::En, 2_540.0), "2.54 GB/s");
    }

    #[test]
    fn a_share_of_next_to_nothing_is_not_nothing() {
        assert_eq!(percent(0.0002), "<0.1%");
        assert_eq!(percent(0.0), "0%");
    }

    #[test]
    fn nothing_but_a_figure_is_shown() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for shown in [
                number(Lang::En, bad, 3),
                money(Lang::ZhCn, Currency::Cny, bad),
                seconds(Lang::En, bad),
                gib(bad),
                percent(bad),
            ] {
                assert!(shown.contains(NO_FIGURE), "{shown}");
            }
        }
    }

    #[test]
    fn ends_stand_in_the_unit_of_the_middle() {
        let hours = range(2.6, 3.1, 3.9).scale(3600.0);
        assert_eq!(seconds_range(Lang::En, hours), "3.1 h (2.6–3.9)");
        let days = range(40.0, 52.0, 70.0).scale(3600.0);
        assert_eq!(seconds_range(Lang::En, days), "2 d 4 h (40 h–2 d 22 h)");
        assert_eq!(
            money_range(Lang::En, Currency::Cny, range(10.04, 12.3, 15.0)),
            "¥12.3 (10.0–15.0)"
        );
        let millions = range(174e6, 287e6, 473e6);
        assert_eq!(
            money_range(Lang::En, Currency::Cny, millions),
            "¥287 million (174–473)"
        );
        let across = range(0.8e6, 1.5e6, 2e6);
        assert_eq!(
            money_range(Lang::En, Currency::Cny, across),
            "¥1.50 million (800,000–2.00 million)"
        );
        assert_eq!(
            money_range(Lang::En, Currency::Usd, Range::exact(2.0)),
            "$2.00"
        );
    }

    #[test]
    fn rates_show_no_more_digits_than_are_known() {
        let ends = range(17_392.0, 28_987.0, 46_379.0);
        assert_eq!(number_range(Lang::En, ends), "29,000 (17,400–46,400)");
        assert_eq!(
            number_range(Lang::En, range(13.02, 16.28, 20.3)),
            "16.3 (13.0–20.3)"
        );
    }

    #[test]
    fn money_keeps_the_digits_that_matter() {
        let yuan = |v: f64| money(Lang::ZhCn, Currency::Cny, v);
        assert_eq!(yuan(0.0123), "¥0.012");
        assert_eq!(yuan(0.1), "¥0.10");
        assert_eq!(yuan(0.06), "¥0.06");
        assert_eq!(yuan(0.0), "¥0");
        assert_eq!(yuan(1.98), "¥1.98");
        assert_eq!(yuan(1234.4), "¥1,230");
        assert_eq!(yuan(32_100.0), "¥3.21 万");
        assert_eq!(money(Lang::En, Currency::Usd, 32_100.0), "$32,100");
    }

    #[test]
    fn memory_is_in_gib() {
        assert_eq!(gib(24.0 * GIB), "24.0 GiB");
        assert_eq!(gib(0.02 * GIB), "0.02 GiB");
        assert_eq!(gib(1500.0 * GIB), "1,500 GiB");
    }

    #[test]
    fn days_are_written_as_the_language_does() {
        assert_eq!(date(Lang::En, "2026-05-09"), "9 May 2026");
        assert_eq!(date(Lang::ZhCn, "2026-05-09"), "2026年5月9日");
        assert_eq!(date(Lang::En, "spring"), "spring");
        assert_eq!(date(Lang::En, "2026-13-01"), "2026-13-01");
    }

    #[test]
    fn models_are_sized_as_their_names_are() {
        let english = |value| parameters(Lang::En, value);
        assert_eq!(english(8.03e9), "8.0 B");
        assert_eq!(english(671e9), "671 B");
        assert_eq!(english(124e6), "124 M");
        assert_eq!(parameters(Lang::ZhCn, 8.03e9), "80.3 亿");
        assert_eq!(parameters(Lang::ZhCn, 671e9), "6,710 亿");
        assert_eq!(context(131_072), "128K");
        assert_eq!(context(512), "512");
    }

    #[test]
    fn inputs_get_plain_digits() {
        assert_eq!(plain(10_000.0), "10000");
        assert_eq!(plain(0.25), "0.25");
        assert_eq!(plain(2e12), "2000000000000");
        assert_eq!(plain(1e18), "1e18");
    }
}
