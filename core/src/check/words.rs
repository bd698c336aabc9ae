//! Findings in words, the same for the page and the command line.

use super::effect::{Change, Effect, Outcome};
use super::finding::{Finding, Reading, Subject, Unit, Verdict};
use super::listing::dtype_name;
use crate::catalog::Catalog;
use crate::offers::Fit;
use crate::range::Range;
use crate::text::{Lang, text};

/// A finding in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What it is about.
    pub subject: String,
    /// What was read; empty: nothing that can be shown.
    pub read: String,
    /// The datasheet's value, or what the card needs; empty: none.
    pub datasheet: String,
    /// The verdict.
    pub verdict: String,
    /// Why, sentence by sentence.
    pub why: Vec<String>,
    /// What to ask the provider.
    pub ask: Option<String>,
}

/// `finding` in words.
pub fn tell(lang: Lang, finding: &Finding, catalog: &Catalog) -> Told {
    let t = |key: &str| text(lang, key, &[]);
    let name = |id: &str| {
        catalog
            .card(id)
            .map_or_else(|| id.to_owned(), |c| c.name.clone())
    };
    let mut values: Vec<(String, Vec<String>)> = Vec::new();
    for (card, value) in &finding.datasheet {
        let value = reading(lang, value);
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, cards)) => cards.push(name(card)),
            None => values.push((value, vec![name(card)])),
        }
    }
    let datasheet = match values.as_slice() {
        [] => String::new(),
        [(only, _)] => only.clone(),
        several => several
            .iter()
            .map(|(value, cards)| {
                text(
                    lang,
                    "check.value_of",
                    &[
                        ("value", value),
                        ("card", &cards.join(t("check.and").as_str())),
                    ],
                )
            })
            .collect::<Vec<_>>()
            .join(&t("check.semicolon")),
    };
    let datasheet = if datasheet.is_empty() {
        datasheet
    } else {
        let key = match finding.subject {
            Subject::Driver | Subject::Cuda => "check.needs_value",
            _ => "check.datasheet_value",
        };
        text(lang, key, &[("value", &datasheet)])
    };
    let mut why: Vec<String> = finding
        .remarks
        .iter()
        .map(|remark| {
            let values: Vec<(&str, String)> = remark
                .values
                .iter()
                .map(|(name, value)| (*name, reading(lang, value)))
                .collect();
            let values: Vec<(&str, &str)> = values.iter().map(|(n, v)| (*n, v.as_str())).collect();
            text(lang, &format!("check.remark.{}", remark.key), &values)
        })
        .collect();
    let among_several = finding.verdict == Verdict::OnlyOtherVariant || finding.cards.len() != 1;
    if !finding.holds_for.is_empty() && among_several {
        let cards: Vec<String> = finding
            .holds_for
            .iter()
            .take(6)
            .map(|id| name(id))
            .collect();
        let key = match finding.verdict {
            Verdict::OnlyOtherVariant => "check.holds_for_other",
            _ => "check.holds_for",
        };
        why.push(text(
            lang,
            key,
            &[("cards", &cards.join(t("check.and").as_str()))],
        ));
    }
    Told {
        subject: subject(lang, finding.subject),
        read: finding
            .read
            .iter()
            .map(|r| reading(lang, r))
            .collect::<Vec<_>>()
            .join(&t("check.and")),
        datasheet,
        verdict: t(verdict_key(finding.verdict)),
        why,
        ask: finding.ask.map(|key| t(&format!("check.ask.{key}"))),
    }
}

fn verdict_key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Right => "check.verdict.right",
        Verdict::Wrong => "check.verdict.wrong",
        Verdict::OnlyWithSparsity => "check.verdict.only_with_sparsity",
        Verdict::OnlyOtherRate => "check.verdict.only_other_rate",
        Verdict::OnlyOtherVariant => "check.verdict.only_other_variant",
        Verdict::PriceSeen => "check.verdict.price_seen",
        Verdict::PriceOutside => "check.verdict.price_outside",
        Verdict::CannotTell => "check.verdict.cannot_tell",
        Verdict::Notice => "check.verdict.notice",
    }
}

fn subject(lang: Lang, subject: Subject) -> String {
    let key = match subject {
        Subject::Card => "card",
        Subject::Count => "count",
        Subject::Memory => "memory",
        Subject::MemoryType => "memory_type",
        Subject::Bandwidth => "bandwidth",
        Subject::Rate(dtype) => {
            return text(lang, "check.subject.rate", &[("format", dtype_name(dtype))]);
        }
        Subject::RateOfUnnamedFormat => "unnamed_rate",
        Subject::RateUnit => "rate_unit",
        Subject::Cores => "cores",
        Subject::TensorCores => "tensor_cores",
        Subject::Form => "form",
        Subject::Power => "power",
        Subject::Link => "link",
        Subject::LinkRate => "link_rate",
        Subject::Architecture => "architecture",
        Subject::Process => "process",
        Subject::Transistors => "transistors",
        Subject::Ecc => "ecc",
        Subject::RentalPrice => "rental_price",
        Subject::PurchasePrice => "purchase_price",
        Subject::Sharing => "sharing",
        Subject::Host => "host",
        Subject::ModelMemory => "model_memory",
        Subject::ModelSize => "model_size",
        Subject::Gain => "gain",
        Subject::Duration => "duration",
        Subject::Availability => "availability",
        Subject::StorageClass => "storage_class",
        Subject::Concurrency => "concurrency",
        Subject::NeededRate => "needed_rate",
        Subject::Comparison => "comparison",
        Subject::FirstOfItsKind => "first_of_its_kind",
        Subject::PowerLimit => "power_limit",
        Subject::PcieWidth => "pcie_width",
        Subject::PcieGeneration => "pcie_generation",
        Subject::Slice => "slice",
        Subject::VirtualCard => "virtual_card",
        Subject::OtherProcesses => "other_processes",
        Subject::Throttle => "throttle",
        Subject::Clock => "clock",
        Subject::Driver => "driver",
        Subject::Cuda => "cuda",
        Subject::Health => "health",
        Subject::MatrixProduct => "matrix_product",
        Subject::DeviceCopy => "device_copy",
        Subject::DiskRead => "disk_read",
        Subject::AllReduce => "all_reduce",
    };
    text(lang, &format!("check.subject.{key}"), &[])
}

/// A reading in words.
pub fn reading(lang: Lang, reading: &Reading) -> String {
    match reading {
        Reading::Word(word) => word.clone(),
        Reading::Text(key) => text(lang, key, &[]),
        // Less than a GiB is clearer in MiB.
        Reading::Figure {
            low,
            high,
            unit: Unit::Gib,
        } if *high < 1.0 => text(
            lang,
            "check.unit.mib",
            &[("value", &number((low.max(*high) * 1024.0).round()))],
        ),
        Reading::Figure {
            low,
            high,
            unit: Unit::Percent,
        } if *high >= 10.0 => {
            let whole = |v: f64| {
                if (v - v.round()).abs() < 0.05 || v < 90.0 {
                    v.round()
                } else {
                    v
                }
            };
            let value = if low.to_bits() == high.to_bits() {
                number(whole(*low))
            } else {
                format!("{}–{}", number(whole(*low)), number(whole(*high)))
            };
            text(lang, "check.unit.percent", &[("value", &value)])
        }
        Reading::Figure { low, high, unit } => {
            let value = if low.to_bits() == high.to_bits() {
                number(*low)
            } else {
                format!("{}–{}", number(*low), number(*high))
            };
            let key = match unit {
                Unit::Gb => "gb",
                Unit::Gib => "gib",
                Unit::Mib => "mib",
                Unit::GbPerS => "gb_per_s",
                Unit::Tflops => "tflops",
                Unit::Tops => "tops",
                Unit::Watt => "watt",
                Unit::One | Unit::Version => return value,
                Unit::Generation => "generation",
                Unit::Nm => "nm",
                Unit::Billion => {
                    // 亿 where English counts in thousand millions.
                    let tens = |v: f64| number(v * 10.0);
                    let chinese = if low.to_bits() == high.to_bits() {
                        tens(*low)
                    } else {
                        format!("{}–{}", tens(*low), tens(*high))
                    };
                    let value = if lang == Lang::ZhCn { chinese } else { value };
                    return text(lang, "check.unit.billion", &[("value", &value)]);
                }
                Unit::CnyPerHour => "cny_per_hour",
                Unit::Cny => "cny",
                Unit::Percent => "percent",
                Unit::Hour => "hour",
                Unit::Mhz => "mhz",
                Unit::Celsius => "celsius",
            };
            text(lang, &format!("check.unit.{key}"), &[("value", &value)])
        }
    }
}

/// What a machine's real figures mean for a scenario, sentence by sentence: as sold, each difference, as found.
pub fn tell_effect(lang: Lang, effect: &Effect) -> Vec<String> {
    let line = |key: &str, outcome: &Outcome| {
        text(lang, key, &[("outcome", &tell_outcome(lang, outcome))])
    };
    let mut lines = vec![line("check.effect.sold", &effect.sold)];
    for (change, outcome) in &effect.changes {
        lines.push(line(change_key(*change), outcome));
    }
    if effect.changes.len() != 1 {
        let key = if effect.changes.is_empty() {
            "check.effect.same"
        } else {
            "check.effect.found"
        };
        lines.push(line(key, &effect.found));
    }
    lines
}

/// Key of the sentence about one difference.
pub fn change_key(change: Change) -> &'static str {
    match change {
        Change::Memory => "check.effect.memory",
        Change::Slice => "check.effect.slice",
        Change::PowerLimit => "check.effect.power_limit",
        Change::Throttle => "check.effect.throttle",
        Change::Pcie => "check.effect.pcie",
        Change::Links => "check.effect.links",
    }
}

/// One outcome in words: hours or tokens a second, or what is missing.
pub fn tell_outcome(lang: Lang, outcome: &Outcome) -> String {
    const GIB: f64 = 1_073_741_824.0;
    let range = |r: &Range| format!("{} ({}–{})", number(r.mid), number(r.low), number(r.high));
    if let Fit::TooSmall { missing_bytes, .. } = &outcome.fit {
        let missing = number(*missing_bytes as f64 / GIB);
        return text(lang, "check.effect.too_small", &[("missing", &missing)]);
    }
    let pace = match (&outcome.hours, &outcome.tokens_per_s) {
        (Some(hours), _) => text(lang, "check.effect.hours", &[("hours", &range(hours))]),
        (None, Some(tokens)) => text(lang, "check.effect.tokens", &[("tokens", &range(tokens))]),
        (None, None) => text(lang, "check.effect.no_speed", &[]),
    };
    if matches!(outcome.fit, Fit::Tight { .. }) {
        return text(lang, "check.effect.tight", &[("pace", &pace)]);
    }
    pace
}

/// Three significant digits below a thousand, whole numbers with groups above.
fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "–".to_owned();
    }
    let decimals = if (value - value.round()).abs() < 1e-9 || size >= 1000.0 {
        0
    } else if size >= 100.0 {
        1
    } else if size >= 0.1 {
        2
    } else {
        4
    };
    let plain = format!("{value:.decimals$}");
    let plain = if plain.contains('.') {
        plain.trim_end_matches('0').trim_end_matches('.')
    } else {
        &plain
    };
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        let left = whole.len() - index;
        if index > 0 && left % 3 == 0 && whole.len() > 4 && digit.is_ascii_digit() {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_no_more_exact_than_read() {
        assert_eq!(number(312.0), "312");
        assert_eq!(number(39.986_328), "39.99");
        assert_eq!(number(18_000.0), "18,000");
        assert_eq!(number(2039.0), "2039");
        assert_eq!(number(989.4), "989.4");
        assert_eq!(number(0.05), "0.05");
    }

    #[test]
    fn units_have_their_language() {
        let billions = Reading::figure(153.0, Unit::Billion);
        assert!(reading(Lang::ZhCn, &billions).contains("1530"));
        assert!(reading(Lang::En, &billions).contains("153 "));
    }
}
