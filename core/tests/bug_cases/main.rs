//! What other calculators got wrong in public, answered rightly here. Each case names the report
//! that it comes from: most are rows of `cases.csv`, those that compare several answers stand in
//! the modules below.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests may end"
)]

mod answers;
mod comparisons;
mod counts;
mod shelf;

use answers::{GB, GIB, MIB, kv, kv_growth, model, needed, offer, pace, part, states, weights};
use cardfit::catalog::Catalog;
use cardfit::dtype::WeightFormat;
use cardfit::estimate::MemoryPart;
use cardfit::offers::Fit;
use cardfit::scenario::Choice;

#[derive(serde::Deserialize)]
struct Case {
    address: String,
    link: String,
    quantity: String,
    should: String,
    within: Option<f64>,
    #[serde(rename = "what the report says")]
    report: String,
}

fn cases() -> Vec<Case> {
    let mut reader = csv::Reader::from_reader(include_str!("cases.csv").as_bytes());
    reader
        .deserialize()
        .map(|row| row.expect("a case"))
        .collect()
}

/// A number with a unit of bytes, or without one.
fn amount(text: &str) -> f64 {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let unit = match unit {
        "GiB" => GIB,
        "GB" => GB,
        "MiB" => MIB,
        _ => 1.0,
    };
    number.parse::<f64>().expect("a number") * unit
}

/// What the product says of a link, in bytes, tokens a second, hours or money.
fn answer(case: &Case) -> f64 {
    let link = case.link.as_str();
    let quantity = case.quantity.trim_end_matches(" at least");
    let after = |word: &str| quantity.strip_prefix(word);
    let id = || link.trim_start_matches("m=");
    let card = || Catalog::embedded().card(link).expect("a card");
    if let Some(tokens) = after("cache of ") {
        return kv(link, amount(tokens) as u64);
    }
    if let Some(tokens) = after("growth over ") {
        return kv_growth(link, amount(tokens) as u64);
    }
    if let Some(format) = quantity.strip_suffix(" TFLOPS") {
        let peaks = &card().peak_tflops;
        let rate = match format {
            "tf32" => peaks.tf32,
            "bf16" => peaks.bf16,
            "fp16" => peaks.fp16,
            "fp8" => peaks.fp8,
            other => panic!("{other}"),
        };
        return rate.expect("a rate");
    }
    if let Some(format) = after("weights ") {
        return weights(id(), WeightFormat::from_name(format).expect("a format"));
    }
    match quantity {
        "needed" => needed(link),
        "needed by all" => needed(link) * f64::from(offer(link).count),
        "states" => states(link),
        "weights" => part(link, MemoryPart::Weights),
        "logits" => part(link, MemoryPart::Logits),
        "activations" => part(link, MemoryPart::Activations),
        "parameters" => model(id()).transformer.params() as f64,
        "tokens a second" => pace(link).mid,
        "hours" => offer(link).hours.expect("hours").mid,
        "price of an hour" => offer(link).cost_per_hour.expect("a price").mid,
        "memory" => card().memory_gib * GIB,
        "driver's memory" => f64::from(card().driver_memory_mib.expect("a printout")) * MIB,
        other => panic!("{other}"),
    }
}

fn verdict(case: &Case) -> bool {
    let offer = offer(&case.link);
    let (fits, too_small) = (
        offer.fit == Fit::Fits,
        matches!(offer.fit, Fit::TooSmall { .. }),
    );
    // No speed for what cannot be.
    assert_eq!(offer.run.is_none(), too_small, "{}", case.address);
    match case.should.as_str() {
        "fits" => fits,
        "not fits" => !fits,
        "too small" => too_small,
        "not too small" => !too_small,
        other => panic!("{other}"),
    }
}

#[test]
fn every_report_is_answered_rightly() {
    let mut wrong = Vec::new();
    for case in cases() {
        let told = format!(
            "{} ({}): {} of {}",
            case.address, case.report, case.quantity, case.link
        );
        assert!(case.address.starts_with("https://"), "{told}");
        if case.quantity == "verdict" {
            if !verdict(&case) {
                wrong.push(format!("{told}: not {}", case.should));
            }
            continue;
        }
        let (is, should) = (answer(&case), amount(&case.should));
        let right = match case.within {
            Some(within) => (is / should - 1.0).abs() <= within,
            None => is >= should,
        };
        if !right {
            let ratio = is / should;
            wrong.push(format!(
                "{told}: {is:.5e}, should be {should:.5e} ({ratio:.3})"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
