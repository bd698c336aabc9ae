//! Published runs open as scenarios, and their estimates are what the accuracy page says.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::measured::{RunMetric, runs};
use cardfit::scenario::parse;

#[test]
fn every_link_is_read_without_a_problem_and_writes_itself_again() {
    let catalog = Catalog::embedded();
    assert!(runs().len() > 20);
    let mut ids = BTreeSet::new();
    for run in runs() {
        assert!(ids.insert(&run.id), "{} stands twice", run.id);
        let parsed = parse(&run.query, catalog);
        assert!(
            parsed.problems.is_empty(),
            "{}: {:?}",
            run.id,
            parsed.problems
        );
        assert!(parsed.unknown.is_empty(), "{}", run.id);
        let again = parse(&parsed.to_query(), catalog);
        assert_eq!(again.scenario, parsed.scenario, "{}", run.id);
        assert!(run.source.contains("https://"), "{}", run.id);
        if let Some(card) = &run.card {
            assert!(catalog.card(card).is_some(), "{}", run.id);
        }
        assert_eq!(
            run.cards.is_some(),
            run.metric != RunMetric::Flops,
            "{}",
            run.id
        );
    }
}

#[test]
fn estimates_stand_where_the_accuracy_page_says() {
    let (catalog, prices) = (Catalog::embedded(), PriceBook::embedded());
    let page = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/accuracy.md"),
    )
    .unwrap();
    for run in runs() {
        let estimate = run.estimate(catalog, prices);
        let estimate = estimate.unwrap_or_else(|| panic!("{} has no estimate", run.id));
        let ratio = estimate.mid / run.value;
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("| [{}](", run.name)))
            .unwrap_or_else(|| panic!("{} is not on the page", run.id));
        assert!(
            line.ends_with(&format!("| {ratio:.2} |")),
            "{}: {ratio:.3}",
            run.id
        );
        // Totals count restarts and failures; none is off by more than three.
        assert!((0.33..3.0).contains(&ratio), "{}: {ratio:.2}", run.id);
    }
}

#[test]
fn the_compute_of_gpt_3_is_six_flops_a_parameter_and_token() {
    let run = runs().iter().find(|run| run.id == "gpt-3-175b").unwrap();
    let estimate = run
        .estimate(Catalog::embedded(), PriceBook::embedded())
        .unwrap();
    // 6 x 174.6e9 x 300e9, by hand.
    assert!((estimate.mid / 3.143e23 - 1.0).abs() < 0.01);
}
