//! What the product says of a link.

use cardfit::catalog::{Catalog, Model, PriceBook, Transformer};
use cardfit::dtype::WeightFormat;
use cardfit::estimate::MemoryPart;
use cardfit::estimate::serving::weight_bytes;
use cardfit::offers::{Fit, Offer, Run, rank};
use cardfit::range::Range;
use cardfit::scenario::{ModelChoice, parse};

pub const GIB: f64 = 1_073_741_824.0;
pub const MIB: f64 = 1_048_576.0;
pub const GB: f64 = 1e9;

pub fn model(id: &str) -> &'static Model {
    Catalog::embedded()
        .model(id)
        .unwrap_or_else(|| panic!("no model {id}"))
}

/// The model of a link: of the catalog or described by hand.
pub fn shape(link: &str) -> Transformer {
    let parsed = parse(link, Catalog::embedded());
    assert!(parsed.problems.is_empty(), "{link}: {:?}", parsed.problems);
    match parsed.scenario.model {
        ModelChoice::Catalog(id) => model(&id).transformer.clone(),
        ModelChoice::Custom(shape) => *shape,
    }
}

/// Bytes of the cache of one sequence in 16 bits.
pub fn kv(link: &str, tokens: u64) -> f64 {
    shape(link).kv_elements(tokens) as f64 * 2.0
}

/// Bytes that `tokens` tokens add to what is kept of none.
pub fn kv_growth(link: &str, tokens: u64) -> f64 {
    kv(link, tokens) - kv(link, 0)
}

/// The only offer of a link that names one card and a count.
pub fn offer(link: &str) -> Offer {
    let parsed = parse(&format!("{link}&unpriced=yes"), Catalog::embedded());
    let own: Vec<String> = parsed
        .scenario
        .shelf
        .own
        .iter()
        .map(|card| card.name.clone())
        .collect();
    let ranking = rank(&parsed.scenario, Catalog::embedded(), PriceBook::embedded());
    let mut offers = ranking.offers.into_iter();
    let offer = match own.first() {
        Some(name) => offers.find(|offer| offer.card == *name),
        None => offers.next(),
    };
    offer.unwrap_or_else(|| panic!("no offer: {link}: {:?}", parsed.problems))
}

pub fn fits(link: &str) -> bool {
    offer(link).fit == Fit::Fits
}

/// Bytes needed on the fullest card.
pub fn needed(link: &str) -> f64 {
    offer(link).memory.needed_bytes.mid
}

pub fn part(link: &str, part: MemoryPart) -> f64 {
    let parts = offer(link).memory.parts;
    let bytes = parts.iter().find(|(p, _)| *p == part).map(|(_, b)| *b);
    bytes.unwrap_or(0) as f64
}

/// Weights, gradients, master weights and states.
pub fn states(link: &str) -> f64 {
    [
        MemoryPart::Weights,
        MemoryPart::Gradients,
        MemoryPart::MasterWeights,
        MemoryPart::OptimizerStates,
    ]
    .into_iter()
    .map(|p| part(link, p))
    .sum()
}

/// Tokens a second of one user.
pub fn pace(link: &str) -> Range {
    match offer(link).run {
        Some(Run::Serve { speed, .. }) => speed.tokens_per_s_user,
        other => panic!("{link}: {other:?}"),
    }
}

/// Requests that fit at once.
pub fn fitting(link: &str) -> u32 {
    match offer(link).run {
        Some(Run::Serve {
            fitting_concurrency,
            ..
        }) => fitting_concurrency,
        other => panic!("{link}: {other:?}"),
    }
}

pub fn weights(id: &str, format: WeightFormat) -> f64 {
    weight_bytes(model(id), format, None).total() as f64
}

pub fn near(what: &str, is: f64, should: f64, share: f64) {
    let off = (is / should - 1.0).abs();
    assert!(
        off <= share,
        "{what}: {is:.4e}, should be {should:.4e} ({:.1} %)",
        100.0 * off
    );
}
