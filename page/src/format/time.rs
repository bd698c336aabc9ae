//! Spans of time and days.

use cardfit::range::Range;
use cardfit::text::{Lang, text};

use super::{NO_FIGURE, bracketed, estimated, joined, significant};

/// A unit of time: seconds of it and the key of its word.
struct TimeUnit {
    seconds: f64,
    word: &'static str,
}

const MILLISECOND: TimeUnit = TimeUnit {
    seconds: 0.001,
    word: "page.time.ms",
};
const SECOND: TimeUnit = TimeUnit {
    seconds: 1.0,
    word: "page.time.s",
};
const MINUTE: TimeUnit = TimeUnit {
    seconds: 60.0,
    word: "page.time.min",
};
const HOUR: TimeUnit = TimeUnit {
    seconds: 3600.0,
    word: "page.time.h",
};
const DAY: TimeUnit = TimeUnit {
    seconds: 86_400.0,
    word: "page.time.d",
};
const YEAR: TimeUnit = TimeUnit {
    seconds: 365.0 * 86_400.0,
    word: "page.time.y",
};

fn time_unit(seconds: f64) -> &'static TimeUnit {
    match seconds {
        s if s < 0.9995 => &MILLISECOND,
        s if s < 99.5 => &SECOND,
        s if s < 99.5 * 60.0 => &MINUTE,
        s if s < 48.0 * 3600.0 => &HOUR,
        s if s < 2.0 * 365.0 * 86_400.0 => &DAY,
        _ => &YEAR,
    }
}

fn in_unit(seconds: f64, unit: &TimeUnit) -> String {
    let value = seconds / unit.seconds;
    if value >= 999.5 {
        estimated(value, 3)
    } else if value >= 9.95 {
        format!("{value:.0}")
    } else {
        estimated(value, 2)
    }
}

/// A span of time: `850 ms`, `35 min`, `3.1 h`, `2 d 4 h`, `120 d`.
pub fn seconds(lang: Lang, value: f64) -> String {
    if !value.is_finite() {
        return NO_FIGURE.to_owned();
    }
    let unit = time_unit(value);
    // From two days to two weeks people count days and hours.
    if (2.0 * DAY.seconds..14.0 * DAY.seconds).contains(&value) {
        let hours = (value / HOUR.seconds).round();
        let (days, rest) = ((hours / 24.0).floor(), hours % 24.0);
        let days = text(lang, DAY.word, &[("n", &format!("{days:.0}"))]);
        if rest < 0.5 {
            return days;
        }
        let rest = text(lang, HOUR.word, &[("n", &format!("{rest:.0}"))]);
        return format!("{days} {rest}");
    }
    text(lang, unit.word, &[("n", &in_unit(value, unit))])
}

/// A given span, as on an axis, in the largest unit that it fills: `30 min`, `1 h`, `3 h`, `100 d`, `1 y`.
pub fn seconds_given(lang: Lang, value: f64) -> String {
    if !value.is_finite() {
        return NO_FIGURE.to_owned();
    }
    let units = [&YEAR, &DAY, &HOUR, &MINUTE, &SECOND];
    let filled = units.into_iter().find(|u| value >= 0.9995 * u.seconds);
    let unit = filled.unwrap_or(&MILLISECOND);
    let figure = significant(value / unit.seconds, 3);
    text(lang, unit.word, &[("n", &figure)])
}

/// The ends of a span in the unit of its middle: `2.6–3.9`; empty where they are one.
pub fn seconds_ends(lang: Lang, value: Range) -> String {
    let unit = time_unit(value.mid);
    if !(value.low.is_finite() && value.high.is_finite()) {
        return String::new();
    }
    if (2.0 * DAY.seconds..14.0 * DAY.seconds).contains(&value.mid) {
        // The middle is in two units, so each end says its own.
        return joined(seconds(lang, value.low), seconds(lang, value.high));
    }
    joined(in_unit(value.low, unit), in_unit(value.high, unit))
}

/// A span with its ends: `3.1 h (2.6–3.9)`.
pub fn seconds_range(lang: Lang, value: Range) -> String {
    let ends = seconds_ends(lang, value);
    format!("{}{}", seconds(lang, value.mid), bracketed(&ends))
}

/// A day given as `YYYY-MM-DD` or a month as `YYYY-MM`, in the language's own form; anything else as it stands.
pub fn date(lang: Lang, iso: &str) -> String {
    let parts: Vec<&str> = iso.split('-').collect();
    let named = |month: &str| {
        let month = month
            .parse()
            .ok()
            .filter(|month| (1..=12u8).contains(month))?;
        Some(text(lang, &format!("page.month.{month}"), &[]))
    };
    let said = match parts.as_slice() {
        [year, month, day] => named(month)
            .zip(day.parse::<u8>().ok())
            .map(|(month, day)| {
                let day = day.to_string();
                text(
                    lang,
                    "page.date",
                    &[("year", year), ("month", &month), ("day", &day)],
                )
            }),
        [year, month] => named(month).map(|month| {
            text(
                lang,
                "page.date.month",
                &[("year", year), ("month", &month)],
            )
        }),
        _ => None,
    };
    said.unwrap_or_else(|| iso.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_whole_in_the_unit_that_they_fill() {
        let given = |s: f64| seconds_given(Lang::En, s);
        assert_eq!(given(3600.0), "1 h");
        assert_eq!(given(3.0 * 3600.0), "3 h");
        assert_eq!(given(1800.0), "30 min");
        assert_eq!(given(86_400.0), "1 d");
        assert_eq!(given(365.0 * 86_400.0), "1 y");
        assert_eq!(given(0.03), "30 ms");
    }

    #[test]
    fn spans_are_in_the_unit_people_use() {
        let hours = |h: f64| seconds(Lang::En, h * 3600.0);
        assert_eq!(hours(3.12), "3.1 h");
        assert_eq!(hours(52.2), "2 d 4 h");
        assert_eq!(hours(48.0), "2 d");
        assert_eq!(hours(0.5), "30 min");
        assert_eq!(hours(24.0 * 120.0), "120 d");
        assert_eq!(hours(24.0 * 365.0 * 3.0), "3.0 y");
        assert_eq!(seconds(Lang::En, 0.85), "850 ms");
        assert_eq!(seconds(Lang::ZhCn, 3.1 * 3600.0), "3.1 小时");
    }

    #[test]
    fn a_month_is_said_without_a_day() {
        assert_eq!(date(Lang::ZhCn, "2026-11"), "2026年11月");
        assert_eq!(date(Lang::En, "2026-11"), "Nov 2026");
        assert_eq!(date(Lang::En, "2026"), "2026");
    }

    #[test]
    fn ends_have_three_digits_at_most() {
        let ms = Range {
            low: 0.494,
            mid: 0.907,
            high: 1.374,
        };
        assert_eq!(seconds_ends(Lang::En, ms), "494–1,370");
    }
}
