//! The order of offers.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::{Fit, Keeping, Offer, Run};
use crate::order;
use crate::scenario::{RankBy, Scenario};

/// Sorts `offers` and marks the first of each card.
///
/// What fits comes first; then what is tight; then what is too small, least missing first. Within
/// what fits, offers that keep every limit even at the worse end of their ranges come before those
/// that keep it by their middle values alone, and these before those that miss one ([`Keeping`]).
/// Offers without a price come last in their group.
pub fn sort(offers: &mut Vec<Offer>, scenario: &Scenario) {
    order::sort_by(offers, |a, b| compare(a, b, scenario.rank));
    let mut seen = HashSet::new();
    for offer in offers {
        offer.best_of_card = seen.insert(offer.card.clone());
    }
}

/// Which of two offers comes first.
pub fn compare(a: &Offer, b: &Offer, rank: RankBy) -> Ordering {
    let by_group = group(a).cmp(&group(b));
    let by_missing = missing_bytes(a).cmp(&missing_bytes(b));
    by_group
        .then(by_missing)
        .then_with(|| a.keeping().cmp(&b.keeping()))
        .then_with(|| by_wish(a, b, rank))
        .then_with(|| a.count.cmp(&b.count))
        .then_with(|| a.card.cmp(&b.card))
}

/// The best offer by `rank` among those that fit, keep every limit and have a figure to go by:
/// one that keeps them at worst too, if there is any.
pub fn best<'a>(offers: impl IntoIterator<Item = &'a Offer>, rank: RankBy) -> Option<&'a Offer> {
    let figure = |offer: &Offer| match rank {
        RankBy::Cheapest => cost(offer),
        RankBy::Fastest => slowness(offer),
        RankBy::BestValue => value(offer),
    };
    offers
        .into_iter()
        .filter(|o| o.fit == Fit::Fits && o.keeping() != Keeping::Not && figure(o).is_finite())
        .min_by(|a, b| compare(a, b, rank))
}

/// The best of those that keep the limits by their middle values alone, where it comes before `first`
/// by the wish: what one may take who does not mind the worse end of its ranges.
pub fn bolder<'a>(
    offers: impl IntoIterator<Item = &'a Offer>,
    first: &Offer,
    rank: RankBy,
) -> Option<&'a Offer> {
    if first.fit != Fit::Fits || first.keeping() != Keeping::AtWorst {
        return None;
    }
    offers
        .into_iter()
        .filter(|o| o.fit == Fit::Fits && o.keeping() == Keeping::Likely)
        .filter(|o| by_wish(o, first, rank) == Ordering::Less)
        .min_by(|a, b| compare(a, b, rank))
}

fn by_wish(a: &Offer, b: &Offer, rank: RankBy) -> Ordering {
    let key = |offer: &Offer| match rank {
        RankBy::Cheapest => (cost(offer), slowness(offer)),
        RankBy::Fastest => (slowness(offer), cost(offer)),
        RankBy::BestValue => (value(offer), slowness(offer)),
    };
    let (a, b) = (key(a), key(b));
    a.0.total_cmp(&b.0).then_with(|| a.1.total_cmp(&b.1))
}

fn group(offer: &Offer) -> u8 {
    match offer.fit {
        Fit::Fits => 0,
        Fit::Tight { .. } => 1,
        Fit::TooSmall { .. } => 2,
    }
}

fn missing_bytes(offer: &Offer) -> u64 {
    match offer.fit {
        Fit::TooSmall { missing_bytes, .. } => missing_bytes,
        _ => 0,
    }
}

/// Cost of the job, of a month for a service; infinite where unknown.
fn cost(offer: &Offer) -> f64 {
    let cost = offer.cost_of_job.or(offer.cost_per_month);
    cost.map_or(f64::INFINITY, |c| c.mid)
}

/// Hours of the job; for a service, seconds for an output token over all cards.
pub(super) fn slowness(offer: &Offer) -> f64 {
    match (&offer.hours, &offer.run) {
        (Some(hours), _) => hours.mid,
        (None, Some(Run::Serve { speed, .. })) => 1.0 / speed.tokens_per_s_total.mid,
        _ => f64::INFINITY,
    }
}

/// Cost times time; for a service, cost per token.
fn value(offer: &Offer) -> f64 {
    match (&offer.hours, &offer.cost_per_million_output_tokens) {
        (Some(hours), _) => cost(offer) * hours.mid,
        (None, Some(cost)) => cost.mid,
        _ => f64::INFINITY,
    }
}
