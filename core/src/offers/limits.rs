//! Budget and deadline: what keeps them, and where nothing does, what would have to give.

use serde::Serialize;

use super::{Fit, Miss, Offer};
use crate::scenario::{Job, Scenario};

/// How the offers stand to the scenario's budget and deadline. Services have no deadline; their budget is a month's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limited<'a> {
    /// The cheapest that is done in time and keeps every limit but the budget; if there is any, one
    /// that does so at worst too.
    pub cheapest_in_time: Option<&'a Offer>,
    /// The fastest that costs no more than the budget and keeps every limit but the deadline; if
    /// there is any, one that does so at worst too.
    pub fastest_in_budget: Option<&'a Offer>,
    /// Whether anything keeps both.
    pub both_kept: bool,
    /// Where nothing keeps both: the offer that exceeds them least, and by how much.
    pub nearest: Option<Compromise<'a>>,
}

/// An offer outside the limits, and what it asks for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compromise<'a> {
    /// The offer.
    pub offer: &'a Offer,
    /// Money beyond the budget; 0 where it is kept.
    pub over_budget: f64,
    /// Hours beyond the deadline; 0 where it is kept.
    pub late_hours: f64,
}

/// Looks through a ranking's offers; `None` where the scenario sets neither limit.
pub fn within_limits<'a>(
    offers: impl IntoIterator<Item = &'a Offer> + Clone,
    scenario: &Scenario,
) -> Option<Limited<'a>> {
    let ends = match &scenario.job {
        Job::Serve(serving) => serving.requests_total.is_some(),
        _ => true,
    };
    let budget = scenario.money.budget;
    let deadline = scenario.money.deadline_hours.filter(|_| ends);
    if budget.is_none() && deadline.is_none() {
        return None;
    }
    let cost = |offer: &Offer| {
        let paid = if ends {
            offer.cost_of_job
        } else {
            offer.cost_per_month
        };
        paid.map_or(f64::INFINITY, |c| c.mid)
    };
    let slowness = |offer: &Offer| super::order::slowness(offer);
    let excess = |offer: &Offer| {
        let over = budget.map_or(0.0, |most| (cost(offer) - most).max(0.0));
        let late = deadline.map_or(0.0, |most| {
            (offer.hours.map_or(f64::INFINITY, |h| h.mid) - most).max(0.0)
        });
        (over, late)
    };
    // Whether a limit that is asked for may be missed at worst; the one left aside does not count.
    let may_miss = |offer: &Offer, aside: Miss| offer.may_miss.iter().any(|miss| *miss != aside);
    // What fits, has a price and a time, and misses nothing but budget and deadline.
    let candidates = || {
        offers.clone().into_iter().filter(|offer| {
            let limits = [Miss::Budget, Miss::Deadline];
            offer.fit == Fit::Fits
                && offer.misses.iter().all(|miss| limits.contains(miss))
                && cost(offer).is_finite()
                && slowness(offer).is_finite()
        })
    };
    let cheapest_in_time = candidates()
        .filter(|offer| excess(offer).1 <= 0.0)
        .min_by(|a, b| {
            may_miss(a, Miss::Budget)
                .cmp(&may_miss(b, Miss::Budget))
                .then_with(|| cost(a).total_cmp(&cost(b)))
                .then_with(|| slowness(a).total_cmp(&slowness(b)))
        });
    let fastest_in_budget = candidates()
        .filter(|offer| excess(offer).0 <= 0.0)
        .min_by(|a, b| {
            may_miss(a, Miss::Deadline)
                .cmp(&may_miss(b, Miss::Deadline))
                .then_with(|| slowness(a).total_cmp(&slowness(b)))
                .then_with(|| cost(a).total_cmp(&cost(b)))
        });
    let both_kept = candidates().any(|offer| {
        let (over, late) = excess(offer);
        over <= 0.0 && late <= 0.0
    });
    let nearest = (!both_kept)
        .then(|| {
            candidates().min_by(|a, b| {
                let share = |offer: &Offer| {
                    let (over, late) = excess(offer);
                    budget.map_or(0.0, |most| over / most)
                        + deadline.map_or(0.0, |most| late / most)
                };
                share(a).total_cmp(&share(b))
            })
        })
        .flatten()
        .map(|offer| {
            let (over_budget, late_hours) = excess(offer);
            Compromise {
                offer,
                over_budget,
                late_hours,
            }
        });
    Some(Limited {
        cheapest_in_time,
        fastest_in_budget,
        both_kept,
        nearest,
    })
}
