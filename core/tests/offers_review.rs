//! Fit of clear-cut scenarios by card and count, in a form that a person can review. Kept coarse,
//! and to cases far from the edge, so that refitted constants do not change it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::{Fit, rank};
use cardfit::scenario::parse;

/// One line a card: its fit on each of `counts` cards.
fn review(query: &str, cards: &[&str], counts: &[u32]) -> String {
    let catalog = Catalog::embedded();
    let mut scenario = parse(query, catalog).scenario;
    scenario.shelf.cards = cards.iter().map(|c| (*c).to_owned()).collect();
    let offers = rank(&scenario, catalog, PriceBook::embedded()).offers;
    let fit = |card: &str, count: u32| {
        let offer = offers.iter().find(|o| o.card == card && o.count == count);
        match offer.map(|o| &o.fit) {
            Some(Fit::Fits) => "fits",
            Some(Fit::Tight { .. }) => "tight",
            Some(Fit::TooSmall { .. }) => "too small",
            None => "not listed",
        }
    };
    let line = |card: &&str| {
        let fits = counts.iter().map(|n| format!("{n}: {}", fit(card, *n)));
        format!("{card} {}\n", fits.collect::<Vec<_>>().join(", "))
    };
    cards.iter().map(line).collect()
}

#[test]
fn one_user_of_a_70b_model_in_16_bit() {
    // 141 GB of weights.
    let fits = review(
        "m=llama-3.1-70b&do=serve&users=1",
        &["rtx-4090", "a100-sxm4-80gb", "mi300x", "b200-180gb"],
        &[1, 2, 4, 8],
    );
    insta::assert_snapshot!(fits, @r"
    rtx-4090 1: too small, 2: too small, 4: too small, 8: fits
    a100-sxm4-80gb 1: too small, 2: fits, 4: fits, 8: fits
    mi300x 1: fits, 2: fits, 4: fits, 8: fits
    b200-180gb 1: fits, 2: fits, 4: fits, 8: fits
    ");
}

#[test]
fn one_user_of_an_8b_model_in_4_bit() {
    // 4.9 GB of weights.
    let fits = review(
        "m=llama-3.1-8b&do=serve&w=q4_k_m&in=512&users=1",
        &["rtx-3060-12gb", "rtx-4090", "h100-sxm-80gb"],
        &[1],
    );
    insta::assert_snapshot!(fits, @r"
    rtx-3060-12gb 1: fits
    rtx-4090 1: fits
    h100-sxm-80gb 1: fits
    ");
}

#[test]
fn deepseek_r1_in_fp8_on_one_machine() {
    // 671 GB of weights: eight cards of 80 GB have 640 GB.
    let fits = review(
        "m=deepseek-r1-671b&do=serve&out=1024&users=8",
        &["h100-sxm-80gb", "h200-sxm-141gb", "mi300x"],
        &[1, 4, 8],
    );
    insta::assert_snapshot!(fits, @r"
    h100-sxm-80gb 1: too small, 4: too small, 8: too small
    h200-sxm-141gb 1: too small, 4: too small, 8: fits
    mi300x 1: too small, 4: fits, 8: fits
    ");
}

#[test]
fn full_fine_tuning_of_an_8b_model() {
    // 16 bytes a parameter: 128 GB of states before activations.
    let fits = review(
        "m=llama-3.1-8b&do=full&offload=none",
        &["h100-sxm-80gb", "b300-288gb"],
        &[1, 8],
    );
    insta::assert_snapshot!(fits, @r"
    h100-sxm-80gb 1: too small, 8: fits
    b300-288gb 1: fits, 8: fits
    ");
}

#[test]
fn pretraining_of_a_405b_model() {
    // 16 bytes a parameter: 6.5 TB of states.
    let fits = review(
        "m=llama-3.1-405b&do=pretrain&tokens=15T&seq=8192",
        &["h100-sxm-80gb", "mi300x"],
        &[1, 8, 16, 1024],
    );
    insta::assert_snapshot!(fits, @r"
    h100-sxm-80gb 1: too small, 8: too small, 16: too small, 1024: fits
    mi300x 1: too small, 8: too small, 16: too small, 1024: fits
    ");
}
