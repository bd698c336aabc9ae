//! The shipped catalog: every file loads and holds what readers may rely on.
//!
//! `docs/catalog.md` says the same in prose, for whoever adds an entry.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod catalog {
    pub mod cards;
    pub mod models;
    pub mod prices;
}

use cardfit::catalog::{Catalog, DiffusionModel, Network, PriceBook, Workload};

const CARDS: &str = include_str!("../data/cards.json");
const MODELS: &str = include_str!("../data/models.json");
const PRICES: &str = include_str!("../data/prices.csv");

#[test]
fn every_file_loads() {
    let catalog = Catalog::parse(CARDS, MODELS).expect("cards and models");
    let prices = PriceBook::parse(PRICES).expect("prices");
    assert!(catalog.cards.len() >= 125, "{} cards", catalog.cards.len());
    assert!(
        catalog.models.len() >= 140,
        "{} models",
        catalog.models.len()
    );
    assert!(prices.offers.len() >= 780, "{} prices", prices.offers.len());
    // What ships is what was parsed here.
    assert_eq!(Catalog::embedded().cards, catalog.cards);
    assert_eq!(Catalog::embedded().models, catalog.models);
    assert_eq!(PriceBook::embedded(), &prices);
}

#[test]
fn every_file_of_other_things_to_run_loads() {
    fn read<T: serde::de::DeserializeOwned>(name: &str, json: &str) -> Vec<T> {
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
    let catalog = Catalog::embedded();
    let diffusion: Vec<DiffusionModel> = read("diffusion", include_str!("../data/diffusion.json"));
    let networks: Vec<Network> = read("networks", include_str!("../data/networks.json"));
    let workloads: Vec<Workload> = read("science", include_str!("../data/science.json"));
    assert!(!diffusion.is_empty() && !networks.is_empty() && !workloads.is_empty());
    // What ships is what was parsed here.
    assert_eq!(catalog.diffusion, diffusion);
    assert_eq!(catalog.networks, networks);
    assert_eq!(catalog.workloads, workloads);
}

#[test]
fn a_broken_file_is_an_error_that_names_the_line() {
    let error = Catalog::parse("[\n{\"id\":\"x\"}\n]", "[]").expect_err("a card without figures");
    assert!(
        error.to_string().contains("missing field") && error.to_string().contains("line 2"),
        "{error}"
    );
    let unknown = CARDS.replacen("\"id\":", "\"tpyo\":1,\"id\":", 1);
    let error = Catalog::parse(&unknown, "[]").expect_err("a misspelt field");
    assert!(error.to_string().contains("tpyo"), "{error}");
    let error = PriceBook::parse("card,provider\nx,y\n").expect_err("missing columns");
    assert!(error.to_string().starts_with("prices:"), "{error}");
}

/// The files travel to every visitor inside the page.
#[test]
fn the_files_stay_small_and_hold_no_empty_fields() {
    assert!(CARDS.len() < 100_000, "cards.json: {} bytes", CARDS.len());
    let models = Catalog::embedded().models.len();
    assert!(
        MODELS.len() < 150_000 && MODELS.len() < 560 * models,
        "models.json: {} bytes, {models} models",
        MODELS.len()
    );
    assert!(PRICES.len() < 130_000, "prices.csv: {} bytes", PRICES.len());
    assert!(!CARDS.contains("null") && !MODELS.contains("null"));
}

#[test]
fn every_name_finds_its_own_entry() {
    let catalog = Catalog::embedded();
    for card in catalog.cards.iter() {
        for name in [&card.id, &card.name]
            .into_iter()
            .chain(&card.name_zh)
            .chain(&card.aliases)
        {
            let found = catalog.card(name).map(|c| c.id.as_str());
            assert_eq!(found, Some(card.id.as_str()), "{name}");
            let found = catalog.card(&name.to_uppercase()).map(|c| c.id.as_str());
            assert_eq!(found, Some(card.id.as_str()), "{name}");
        }
    }
    for model in catalog.models.iter() {
        for name in [&model.id, &model.name].into_iter().chain(&model.aliases) {
            let found = catalog.model(name).map(|m| m.id.as_str());
            assert_eq!(found, Some(model.id.as_str()), "{name}");
        }
    }
}

#[test]
fn lookups_take_what_people_and_drivers_write() {
    let catalog = Catalog::embedded();
    for (written, id) in [
        ("RTX-4090", "rtx-4090"),
        ("4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("Tesla V100-SXM2-16GB", "v100-sxm2-16gb"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie-80gb"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm-80gb"),
        ("NVIDIA H200", "h200-sxm-141gb"),
        ("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"),
        ("AMD Instinct MI300X", "mi300x"),
    ] {
        let found = catalog.card(written).map(|c| c.id.as_str());
        assert_eq!(found, Some(id), "{written}");
    }
    for (written, id) in [
        ("llama 3.1 8b", "llama-3.1-8b"),
        ("DeepSeek-R1", "deepseek-r1-671b"),
        ("通义千问2.5 7B", "qwen2.5-7b"),
        ("智谱 GLM-4 9B", "glm-4-9b"),
        ("百川2 7B", "baichuan2-7b"),
    ] {
        let found = catalog.model(written).map(|m| m.id.as_str());
        assert_eq!(found, Some(id), "{written}");
    }
    assert!(catalog.card("no such card").is_none());
    assert!(catalog.card("").is_none());
    assert!(catalog.model(" ").is_none());
}
