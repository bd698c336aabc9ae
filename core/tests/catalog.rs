//! The shipped catalog: every file loads and holds what readers may rely on.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use cardfit::catalog::{Catalog, PriceBook};

const CARDS: &str = include_str!("../data/cards.json");
const MODELS: &str = include_str!("../data/models.json");
const PRICES: &str = include_str!("../data/prices.csv");

#[test]
fn every_file_loads() {
    let catalog = Catalog::parse(CARDS, MODELS).expect("cards and models");
    let prices = PriceBook::parse(PRICES).expect("prices");
    assert!(catalog.cards.len() > 100 && catalog.models.len() > 100);
    for offer in &prices.offers {
        assert!(
            catalog.cards.iter().any(|c| c.id == offer.card),
            "{}",
            offer.card
        );
    }
}

#[test]
fn lookups_ignore_case_spaces_and_dashes() {
    let catalog = Catalog::embedded();
    assert_eq!(
        catalog.card("RTX-4090").map(|c| c.id.as_str()),
        Some("rtx-4090")
    );
    assert_eq!(
        catalog.card("geforce rtx 4090").map(|c| c.id.as_str()),
        Some("rtx-4090")
    );
    assert_eq!(
        catalog.model("llama 3.1 8b").map(|m| m.id.as_str()),
        Some("llama-3.1-8b")
    );
    assert!(catalog.card("no such card").is_none());
}
