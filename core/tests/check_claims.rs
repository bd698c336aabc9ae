//! Every numeric claim of three articles about rented cards, judged as its sources judge it.
#![allow(
    clippy::expect_used,
    reason = "a broken file of the tests ends the test"
)]

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::check::{Finding, Subject, Verdict, check_listing};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    article: String,
    numeric: String,
    text: String,
    verdict: String,
    source: String,
    #[allow(dead_code, reason = "for the reader of the file")]
    explanation: String,
}

fn rows() -> Vec<Row> {
    csv::Reader::from_reader(include_str!("check/claims.csv").as_bytes())
        .deserialize()
        .collect::<Result<_, _>>()
        .expect("claims.csv")
}

/// The heaviest of a text's verdicts: a claim of two figures is wrong where one is.
fn heaviest(findings: &[Finding]) -> Option<&Finding> {
    let weight = |finding: &Finding| match finding.verdict {
        Verdict::Wrong => 6,
        Verdict::OnlyOtherVariant | Verdict::OnlyWithSparsity => 5,
        Verdict::OnlyOtherRate => 4,
        Verdict::PriceOutside => 3,
        Verdict::CannotTell | Verdict::PriceSeen => 2,
        Verdict::Right => 1,
        Verdict::Notice => 0,
    };
    findings.iter().max_by_key(|f| weight(f))
}

/// Whether a verdict of ours says what the file's says.
///
/// The file has four words. "Ambiguous" is what holds only for another variant, another way of computing or an unnamed
/// baseline; a price that is at most twice what has been seen is one that prices of one year cannot refute.
fn says(finding: &Finding, verdict: &str) -> bool {
    let far = finding.remarks.iter().any(|r| {
        r.key == "prices_contradict"
            || r.values.iter().any(|(name, value)| {
                *name == "times"
                    && matches!(value, cardfit::check::Reading::Figure { low, .. } if *low >= 2.0)
            })
    });
    match verdict {
        "correct" => finding.verdict == Verdict::Right,
        "wrong" => match finding.verdict {
            Verdict::Wrong
            | Verdict::OnlyOtherVariant
            | Verdict::OnlyWithSparsity
            | Verdict::OnlyOtherRate => true,
            Verdict::PriceOutside | Verdict::PriceSeen => far,
            _ => false,
        },
        "ambiguous" => matches!(
            finding.verdict,
            Verdict::CannotTell | Verdict::OnlyOtherVariant | Verdict::OnlyOtherRate
        ),
        "price_cannot_verify" => match finding.verdict {
            Verdict::CannotTell | Verdict::PriceSeen => true,
            Verdict::PriceOutside => !far,
            _ => false,
        },
        _ => false,
    }
}

#[test]
fn every_numeric_claim_is_judged_as_its_sources_judge_it() {
    let mut checked = 0;
    let mut failures = Vec::new();
    for row in rows() {
        assert!(!row.source.is_empty());
        let report = check_listing(&row.text, Catalog::embedded(), PriceBook::embedded());
        let findings: Vec<Finding> = report
            .findings()
            .filter(|f| f.verdict != Verdict::Notice && f.subject != Subject::Host)
            .filter(|f| !(f.subject == Subject::Card && f.verdict == Verdict::Right))
            .cloned()
            .collect();
        let found = heaviest(&findings);
        let as_there = found.is_some_and(|f| says(f, &row.verdict));
        if row.numeric == "yes" {
            checked += 1;
            if !as_there {
                failures.push(format!(
                    "{} [{}] {} -> {:?}",
                    row.article,
                    row.verdict,
                    row.text,
                    found.map(|f| (f.subject, f.verdict, &f.read, &f.remarks))
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {checked}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(checked >= 100, "{checked}");
}
