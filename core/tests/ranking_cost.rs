//! What a ranking costs, counted in estimates: the same on every machine, so that a search that has become dearer is
//! found without a clock. `docs/benchmarks.md` has the times.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::estimate::tally::estimates_of;
use cardfit::offers::rank;
use cardfit::scenario::{Preset, parse};

/// Estimates that the ranking of a link makes, and the offers that it has.
fn cost(link: &str) -> (u64, usize) {
    let scenario = parse(link, Catalog::embedded()).scenario;
    let (ranking, estimates) =
        estimates_of(|| rank(&scenario, Catalog::embedded(), PriceBook::embedded()));
    (estimates, ranking.offers.len())
}

/// The scenarios that people meet first, with the most estimates that their ranking may make: a quarter above what it made
/// when this was written. A better search may lower these; a dearer one has to say why it is worth it.
const MOST: [(&str, u64); 5] = [
    ("m=qwen2.5-7b&do=lora", 5300),
    ("m=qwen3-32b&do=serve&users=100&ttft=1", 14000),
    (
        "m=llama-3.1-70b&do=pretrain&tokens=2T&seq=8192&deadline=2160",
        14500,
    ),
    ("m=sdxl&do=image&amount=5000", 1900),
    ("m=resnet-50&do=vision-train", 4800),
];

#[test]
fn rankings_keep_to_their_number_of_estimates() {
    for (link, most) in MOST {
        let (estimates, offers) = cost(link);
        assert!(offers > 0, "{link}");
        assert!(
            estimates <= most,
            "{link}: {estimates} estimates for {offers} offers, {most} at most"
        );
        assert!(
            estimates * 2 > most,
            "{link}: {estimates} estimates; lower the bound of {most}"
        );
    }
}

#[test]
fn no_preset_costs_more_than_forty_estimates_an_offer() {
    const MOST_AN_OFFER: u64 = 40;
    for preset in Preset::all() {
        let (estimates, offers) = cost(&preset.query);
        println!("{}: {estimates} estimates, {offers} offers", preset.id);
        assert!(
            estimates <= MOST_AN_OFFER * offers.max(1) as u64,
            "{}: {estimates} estimates for {offers} offers",
            preset.id
        );
    }
}
