//! An explanation comes to what the estimator says: its formulas, worked out, are the offer's own figures.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::explain::{Explanation, Formula, Reference, Term, explain};
use cardfit::offers::{Fit, Offer, Run, rank};
use cardfit::scenario::parse;
use cardfit::text::{Lang, text};

const TRAINING: [&str; 4] = [
    "m=qwen2.5-7b&do=lora",
    "m=llama-3.1-8b&do=full&seq=4096",
    "m=llama-3.1-70b&do=pretrain&tokens=1T&seq=8192&cards=h100-sxm-80gb",
    "m=qwen2.5-7b&do=qlora&cards=rtx-4090,rtx-3090",
];
const SERVING: [&str; 4] = [
    "m=qwen3-32b&do=serve&users=100",
    "m=llama-3.1-8b&do=serve&users=1&w=q4_k_m",
    "m=deepseek-v3-671b&do=serve&w=fp8&users=8",
    "m=qwen3-32b&do=serve&users=8&think=2000&hit=60&guess=3",
];

const WORK: [&str; 8] = [
    "m=sdxl&do=image&amount=5000",
    "m=wan-2.1-14b&do=video&width=832&height=480",
    "m=flux.1-dev&do=diffusion-lora",
    "m=resnet-50&do=vision-train",
    "m=yolov8m&do=vision-infer",
    "m=bge-m3&do=vision-infer",
    "m=whisper-large-v3&do=transcribe",
    "m=dense-linear-algebra&do=science",
];

/// The first offers of a link that fit, each explained.
fn explained(link: &str) -> Vec<(Offer, Explanation)> {
    let catalog = Catalog::embedded();
    let scenario = parse(link, catalog).scenario;
    let ranking = rank(&scenario, catalog, PriceBook::embedded());
    let offers: Vec<_> = ranking
        .offers
        .into_iter()
        .filter(|offer| offer.fit == Fit::Fits)
        .take(12)
        .map(|offer| {
            let explanation = explain(&scenario, &offer, catalog);
            (offer, explanation)
        })
        .collect();
    assert!(!offers.is_empty(), "{link}");
    offers
}

fn value(terms: &[Term], key: &str) -> f64 {
    let found = terms.iter().find(|term| term.key == key);
    found.unwrap_or_else(|| panic!("no {key}")).value()
}

fn near(is: f64, wanted: f64, what: &str) {
    assert!(
        (is / wanted - 1.0).abs() < 1e-6,
        "{what}: {is} is not {wanted}"
    );
}

#[test]
fn training_comes_to_the_offers_figures() {
    for link in TRAINING {
        for (offer, said) in explained(link) {
            let Some(Run::Train { speed, .. }) = &offer.run else {
                panic!("{offer:?}");
            };
            near(
                value(&said.memory, "needed"),
                offer.memory.needed_bytes.mid,
                "needed",
            );
            near(value(&said.speed, "step"), speed.step_s.mid, "step");
            near(
                value(&said.speed, "tokens_per_s"),
                speed.tokens_per_s.mid,
                "tokens/s",
            );
            near(
                value(&said.speed, "hours"),
                offer.hours.unwrap().mid,
                "hours",
            );
            if offer.card == "h100-sxm-80gb" || offer.card == "rtx-4090" {
                near(value(&said.speed, "mfu"), speed.mfu, "mfu");
            }
        }
    }
}

#[test]
fn serving_comes_to_the_offers_figures() {
    for link in SERVING {
        for (offer, said) in explained(link) {
            let Some(Run::Serve { speed, .. }) = &offer.run else {
                panic!("{offer:?}");
            };
            near(
                value(&said.memory, "needed"),
                offer.memory.needed_bytes.mid,
                "needed",
            );
            near(value(&said.speed, "tpot"), speed.tpot_s.mid, "tpot");
            near(
                value(&said.speed, "tokens_per_s_user"),
                speed.tokens_per_s_user.mid,
                "user",
            );
            near(
                value(&said.speed, "tokens_per_s_total"),
                speed.tokens_per_s_total.mid,
                "total",
            );
        }
    }
}

#[test]
fn other_jobs_come_to_the_offers_figures() {
    for link in WORK {
        for (offer, said) in explained(link) {
            let Some(Run::Work { speed, .. }) = &offer.run else {
                panic!("{offer:?}");
            };
            near(
                value(&said.memory, "needed"),
                offer.memory.needed_bytes.mid,
                link,
            );
            near(value(&said.speed, "batch_time"), speed.batch_s.mid, link);
            let rate = said.speed.iter().find(|t| t.key.ends_with("_per_s"));
            near(rate.unwrap().value(), speed.units_per_s.mid, link);
            near(value(&said.speed, "hours"), offer.hours.unwrap().mid, link);
        }
    }
}

#[test]
fn money_comes_to_the_offers_cost() {
    for link in TRAINING.into_iter().chain(SERVING).chain(WORK) {
        for (offer, said) in explained(link) {
            if offer.price.is_none() {
                continue;
            }
            let (key, cost) = match offer.cost_of_job {
                Some(cost) => ("cost", cost),
                None => ("cost_per_month", offer.cost_per_month.unwrap()),
            };
            near(value(&said.money, key), cost.mid, link);
        }
    }
}

#[test]
fn every_name_has_a_text_and_every_reference_an_address() {
    fn names(formula: &Formula, out: &mut Vec<String>) {
        match formula {
            Formula::Figure { name, .. } if name.starts_with("part.") => {
                out.push((*name).to_owned())
            }
            Formula::Figure { name, .. } => out.push(format!("explain.{name}")),
            Formula::Product(all) | Formula::Sum(all) => all.iter().for_each(|f| names(f, out)),
            Formula::Quotient(top, bottom) => {
                names(top, out);
                names(bottom, out);
            }
        }
    }
    for link in TRAINING.into_iter().chain(SERVING).chain(WORK) {
        for (_, said) in explained(link) {
            let mut keys = Vec::new();
            for term in said.memory.iter().chain(&said.speed).chain(&said.money) {
                keys.push(format!("explain.{}", term.key));
                names(&term.formula, &mut keys);
                if let Some(reference) = term.reference {
                    let found = Reference::of(reference);
                    assert!(
                        found.is_some_and(|r| r.url.starts_with("https://")),
                        "{reference}"
                    );
                }
            }
            keys.extend(
                said.constants
                    .iter()
                    .map(|c| format!("explain.constant.{}", c.key)),
            );
            for key in keys {
                assert_ne!(text(Lang::En, &key, &[]), key, "no text for {key}");
            }
            assert!(link.contains("do=science") || !said.provenance.is_empty());
        }
    }
}
