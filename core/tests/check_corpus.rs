//! Printouts and listings in the tools' and sellers' own layouts, each with the findings that are expected of it.
//!
//! `CARDFIT_WRITE_EXPECTED=1` writes what is found now beside the corpus, to be read before it is kept.
#![allow(
    clippy::expect_used,
    reason = "a broken file of the tests ends the test"
)]

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::check::{Checked, Finding, check, tell};
use cardfit::text::Lang;

const PRINTOUTS: &str = include_str!("check/printouts.txt");
const LISTINGS: &str = include_str!("check/listings.txt");

/// The parts of a corpus: name and text.
fn parts(corpus: &str) -> Vec<(&str, &str)> {
    corpus
        .split("##### ")
        .skip(1)
        .map(|part| part.split_once('\n').expect("a name and a text"))
        .collect()
}

fn checked(text: &str) -> Checked {
    check(text, Catalog::embedded(), PriceBook::embedded())
}

/// A finding as the expected files write it: `memory wrong 0,1 (part_of_memory)`.
fn line(finding: &Finding) -> String {
    let plain = |value: serde_json::Value| match value {
        serde_json::Value::String(word) => word,
        serde_json::Value::Object(map) => map
            .iter()
            .map(|(k, v)| format!("{k}.{}", v.as_str().unwrap_or_default()))
            .collect(),
        other => other.to_string(),
    };
    let word = |value: &dyn erased::Json| plain(value.json());
    let mut out = format!("{} {}", word(&finding.subject), word(&finding.verdict));
    if !finding.devices.is_empty() {
        let devices: Vec<String> = finding.devices.iter().map(u32::to_string).collect();
        out.push_str(&format!(" {}", devices.join(",")));
    }
    if !finding.holds_for.is_empty() {
        out.push_str(&format!(" -> {}", finding.holds_for.join(" ")));
    }
    let remarks: Vec<&str> = finding.remarks.iter().map(|r| r.key).collect();
    if !remarks.is_empty() {
        out.push_str(&format!(" ({})", remarks.join(" ")));
    }
    out
}

mod erased {
    /// What can be written as JSON.
    pub trait Json {
        /// As JSON.
        fn json(&self) -> serde_json::Value;
    }

    impl<T: serde::Serialize> Json for T {
        fn json(&self) -> serde_json::Value {
            serde_json::to_value(self).expect("plain data")
        }
    }
}

fn found(text: &str) -> Vec<String> {
    match checked(text) {
        Checked::Nothing => vec!["nothing".to_owned()],
        Checked::Machine(report) => std::iter::once(format!(
            "machine of {} by {}",
            report.machine.devices.len(),
            report
                .machine
                .tools
                .iter()
                .map(|tool| tool.name())
                .collect::<Vec<_>>()
                .join(", ")
        ))
        .chain(report.findings.iter().map(line))
        .collect(),
        Checked::Listing(report) => report
            .items
            .iter()
            .flat_map(|item| {
                let cards = if item.cards.is_empty() {
                    item.name.clone().unwrap_or_else(|| "-".to_owned())
                } else {
                    item.cards.join(" ")
                };
                let count = item.count.map(|c| format!(" x{c}")).unwrap_or_default();
                std::iter::once(format!("listed {cards}{count}"))
                    .chain(item.findings.iter().map(line))
            })
            .chain(report.others.iter().map(line))
            .collect(),
    }
}

fn compare(corpus: &str, expected: &str, file: &str) -> usize {
    let parts = parts(corpus);
    let now: String = parts
        .iter()
        .map(|(name, text)| format!("##### {name}\n{}\n", found(text).join("\n")))
        .collect();
    if std::env::var_os("CARDFIT_WRITE_EXPECTED").is_some() {
        let path = format!("{}/tests/check/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, &now).expect("a writable folder");
        return parts.len();
    }
    let now: Vec<(&str, &str)> = self::parts(&now).into_iter().collect();
    let expected = self::parts(expected);
    let names = |list: &[(&str, &str)]| {
        list.iter()
            .map(|(n, _)| (*n).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&now), names(&expected));
    for ((name, found), (_, expected)) in now.iter().zip(&expected) {
        assert_eq!(found, expected, "{name}");
    }
    parts.len()
}

#[test]
fn printouts_are_read_as_expected() {
    let expected = include_str!("check/printouts.expected.txt");
    assert!(compare(PRINTOUTS, expected, "printouts.expected.txt") >= 60);
}

#[test]
fn listings_are_judged_as_expected() {
    let expected = include_str!("check/listings.expected.txt");
    assert!(compare(LISTINGS, expected, "listings.expected.txt") >= 40);
}

/// What of a printout must never come back: addresses, serial numbers, UUIDs, process names, host names.
#[test]
fn nothing_that_identifies_a_machine_comes_back() {
    for (name, text) in parts(PRINTOUTS) {
        let checked = checked(text);
        let mut said = serde_json::to_string(&checked).expect("plain data");
        if let Checked::Machine(report) = &checked {
            for lang in Lang::ALL {
                for finding in &report.findings {
                    said.push_str(&format!("{:?}", tell(lang, finding, Catalog::embedded())));
                }
            }
        }
        let said = said.to_lowercase();
        let secrets = text
            .split(|c: char| c.is_whitespace() || matches!(c, '|' | '(' | ')' | '"' | ','))
            .map(str::to_lowercase)
            .filter(|word| {
                let address = word.len() >= 7 && word.contains(':') && word.ends_with(".0");
                let serial = word.len() >= 12 && word.bytes().all(|b| b.is_ascii_digit());
                let uuid = word.starts_with("gpu-") || word.starts_with("mig-");
                let path = word.contains("python") || word.contains("secret");
                let host = word.contains("root@") || word.contains("用户");
                address || serial || uuid || path || host || word.starts_with("0x1a2b")
            });
        for secret in secrets {
            // Bytes of memory are figures, not serial numbers.
            let is_memory = secret
                .parse::<u64>()
                .is_ok_and(|n| n > 30_000_000_000 && n < 300_000_000_000);
            assert!(is_memory || !said.contains(&secret), "{name}: {secret}");
        }
    }
}

#[test]
fn every_sentence_is_in_both_languages() {
    for (name, text) in parts(PRINTOUTS).into_iter().chain(parts(LISTINGS)) {
        let findings: Vec<Finding> = match checked(text) {
            Checked::Nothing => Vec::new(),
            Checked::Machine(report) => report.findings,
            Checked::Listing(report) => report.findings().cloned().collect(),
        };
        for lang in Lang::ALL {
            for finding in &findings {
                let said = format!("{:?}", tell(lang, finding, Catalog::embedded()));
                assert!(!said.contains("check."), "{name}: {said}");
                assert!(
                    !said.contains('{') || said.contains("Told {"),
                    "{name}: {said}"
                );
                assert!(!said.replace("Told {", "").contains('{'), "{name}: {said}");
            }
        }
    }
}

/// A printout pasted twice, after noise, or in another order says the same of the card.
#[test]
fn noise_around_a_printout_changes_nothing() {
    let noise = "Last login: Mon Apr  1 09:00:00 2024 from 10.0.0.7\n$ ls -la\ntotal 12\nhttps://example.org/?a=b\n你好\n";
    for (name, text) in parts(PRINTOUTS) {
        if name.starts_with("cut-") || name == "q-truncated" {
            continue;
        }
        let noisy = format!("{noise}{text}\n{noise}");
        assert_eq!(found(text), found(&noisy), "{name}");
    }
}
