//! Numbers as people write them: `15T`, `1.5e12`, `10k`, `3万`, `1.2亿`, `500ms`, `7d`, `¥3,000`.

use super::limits::Unit;

/// Reads a number written for `unit`; `None` where it is not one.
pub fn read(text: &str, unit: Unit) -> Option<f64> {
    let plain: String = text
        .chars()
        .map(narrow)
        .filter(|c| !matches!(c, ' ' | ',' | '_' | '，'))
        .collect();
    let mut rest = plain.as_str();
    if unit.is_money() || matches!(unit, Unit::YuanPerDollar | Unit::DollarsPerEuro) {
        rest = rest.trim_start_matches(['¥', '￥', '$', '€']);
        rest = rest.trim_end_matches(['元', '¥', '$', '€']);
    }
    let (rest, unit_factor) = strip_unit(rest, unit);
    let (digits, exponent) = strip_magnitude(rest)?;
    if !digits.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+')) {
        return None;
    }
    // The power of ten joins the digits before they become binary, so that 0.1M is exactly 1e5.
    let (mantissa, own) = match digits.split_once(['e', 'E']) {
        Some((mantissa, own)) => (mantissa, own.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let value: f64 = format!("{mantissa}e{}", own.checked_add(exponent)?)
        .parse()
        .ok()?;
    Some(value * unit_factor)
}

/// Full-width digits and signs as their plain forms.
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// Takes the unit's own suffix off, and tells by what it multiplies.
fn strip_unit(text: &str, unit: Unit) -> (&str, f64) {
    let suffixes: &[(&str, f64)] = match unit {
        Unit::Seconds => &[
            ("ms", 1e-3),
            ("毫秒", 1e-3),
            ("s", 1.0),
            ("秒", 1.0),
            ("min", 60.0),
            ("分钟", 60.0),
        ],
        Unit::Hours => &[
            ("h", 1.0),
            ("小时", 1.0),
            ("d", 24.0),
            ("天", 24.0),
            ("w", 168.0),
            ("周", 168.0),
        ],
        Unit::HoursPerDay | Unit::HoursPerMonth => &[("h", 1.0), ("小时", 1.0)],
        Unit::Percent => &[("%", 1.0)],
        Unit::Gigabytes => &[("TB", 1000.0), ("GB", 1.0), ("MB", 1e-3)],
        Unit::Days => &[("d", 1.0), ("天", 1.0), ("w", 7.0), ("周", 7.0)],
        Unit::Watts => &[("kW", 1000.0), ("W", 1.0)],
        _ => &[],
    };
    suffixes
        .iter()
        .find_map(|(suffix, factor)| text.strip_suffix(suffix).map(|rest| (rest, *factor)))
        .unwrap_or((text, 1.0))
}

/// Takes words for powers of ten off the end: `k`, `M`, `B` or `G`, `T`, and 千, 万, 亿 in any
/// order. `None` where a suffix follows an exponent.
fn strip_magnitude(text: &str) -> Option<(&str, i32)> {
    let mut rest = text;
    let mut exponent = 0;
    while let Some(last) = rest.chars().last() {
        let power = match last {
            'k' | 'K' | '千' => 3,
            '万' | 'w' | 'W' => 4,
            'm' | 'M' => 6,
            '亿' => 8,
            'b' | 'B' | 'g' | 'G' => 9,
            't' | 'T' => 12,
            _ => break,
        };
        // One Latin suffix; Chinese ones build on each other (千万, 万亿).
        if exponent > 0 && last.is_ascii() {
            return None;
        }
        exponent += power;
        if exponent > 24 {
            return None;
        }
        rest = &rest[..rest.len() - last.len_utf8()];
    }
    Some((rest, exponent))
}

/// The shortest form that [`read`] turns back into exactly `value`: plain below a million, with
/// `M`, `B` or `T` above where that is shorter, with an exponent from a thousand `T` on.
pub fn write(value: f64) -> String {
    let plain = format!("{value}");
    if value.abs() < 1e6 {
        return plain;
    }
    [("T", 12), ("B", 9), ("M", 6)]
        .into_iter()
        .filter(|(_, power)| value.abs() >= 10f64.powi(*power))
        .map(|(suffix, power)| format!("{}{suffix}", value / 10f64.powi(power)))
        .filter(|short| {
            read(short, Unit::One).is_some_and(|back| back.to_bits() == value.to_bits())
        })
        .chain((value.abs() >= 1e15).then(|| format!("{value:e}")))
        .chain([plain.clone()])
        .min_by_key(String::len)
        .unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(text: &str) -> Option<f64> {
        read(text, Unit::One)
    }

    #[test]
    fn suffixes_multiply() {
        for (text, value) in [
            ("15T", 15e12),
            ("1.5e12", 1.5e12),
            ("10k", 10_000.0),
            ("0.1M", 100_000.0),
            ("3万", 30_000.0),
            ("1.2亿", 120_000_000.0),
            ("1.5万亿", 1.5e12),
            ("2千万", 2e7),
            ("10,000", 10_000.0),
            ("１０００", 1000.0),
            ("-3", -3.0),
        ] {
            assert_eq!(one(text), Some(value), "{text}");
        }
    }

    #[test]
    fn units_have_their_own_suffixes() {
        assert_eq!(read("500ms", Unit::Seconds), Some(0.5));
        assert_eq!(read("7d", Unit::Hours), Some(168.0));
        assert_eq!(read("2 周", Unit::Hours), Some(336.0));
        assert_eq!(read("¥3,000", Unit::Money), Some(3000.0));
        assert_eq!(read("1万元", Unit::Money), Some(10_000.0));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "", "abc", "NaN", "inf", "-inf", "1.2.3", "k", "5kk", "0x10", "1e", "e5", "--1", "∞",
        ] {
            assert_eq!(one(text), None, "{text}");
        }
    }

    #[test]
    fn written_numbers_are_short() {
        assert_eq!(write(15e12), "15T");
        assert_eq!(write(1e11), "100B");
        assert_eq!(write(1.5e6), "1.5M");
        assert_eq!(write(10_000.0), "10000");
        assert_eq!(write(0.05), "0.05");
        assert_eq!(write(1_048_576.0), "1048576");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(value in prop_oneof![0.0..1e16, 1e-6..10.0, (1u64..1u64 << 53).prop_map(|n| n as f64)]) {
            prop_assert_eq!(one(&write(value)), Some(value));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            for unit in [Unit::One, Unit::Seconds, Unit::Hours, Unit::Money] {
                if let Some(value) = read(&text, unit) {
                    prop_assert!(!value.is_nan());
                }
            }
        }
    }
}
