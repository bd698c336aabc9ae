//! The largest job within a budget and a deadline.

use serde::Serialize;

use super::{dense, last_true};
use crate::catalog::{Catalog, PriceBook};
use crate::dtype::WeightFormat;
use crate::estimate::serving::weight_bytes;
use crate::offers::{Fit, Offer, Run, job, rank};
use crate::order;
use crate::rental::CardPrices;
use crate::scenario::{
    Job, ModelChoice, Scenario, Shelf, TrainingAmount, TrainingMethod, usual_training,
};

/// The largest job of one card within a budget and a deadline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobReach {
    /// Tokens trained on, or answers written.
    pub amount: f64,
    /// The offer that does it: its cost and hours keep the limits by their middle values.
    pub offer: Offer,
}

/// Hours within which a job must end where no deadline is given: a month of 30 days.
pub const USUAL_DEADLINE_HOURS: f64 = 720.0;

/// The largest job of the scenario's kind and model that each card does within the scenario's
/// budget (the money's currency) and deadline (a month where none is given), the largest first: most
/// tokens trained on, or most answers. Empty without a budget, or where nothing fits.
pub fn largest_jobs(scenario: &Scenario, catalog: &Catalog, prices: &PriceBook) -> Vec<JobReach> {
    let Some(budget) = scenario.money.budget else {
        return Vec::new();
    };
    let deadline = scenario
        .money
        .deadline_hours
        .unwrap_or(USUAL_DEADLINE_HOURS);
    let Some(model) = job::model(&scenario.model, catalog) else {
        return Vec::new();
    };
    let mut asked = scenario.clone();
    asked.money.deadline_hours = Some(deadline);
    let own = scenario.shelf.own.iter().map(|own| own.name.clone());
    let named = &scenario.shelf.cards;
    let ids: Vec<String> = if named.is_empty() {
        let priced = catalog.cards.iter().filter(|card| {
            CardPrices::new(&card.id, &scenario.money, prices).any()
                && weight_bytes(&model, WeightFormat::Nf4, None).total() as f64
                    <= card.usable_memory_bytes() as f64 * f64::from(LARGEST_COUNT)
        });
        priced.map(|card| card.id.clone()).chain(own).collect()
    } else {
        named.iter().cloned().chain(own).collect()
    };
    let mut found: Vec<JobReach> = ids
        .iter()
        .filter_map(|id| of_card(&asked, catalog, prices, id, budget, deadline))
        .collect();
    order::sort_by(&mut found, |a, b| b.amount.total_cmp(&a.amount));
    found
}

/// Cards that are looked at for a budget.
const LARGEST_COUNT: u32 = 256;

/// The largest job of one card in any count.
fn of_card(
    scenario: &Scenario,
    catalog: &Catalog,
    prices: &PriceBook,
    id: &str,
    budget: f64,
    deadline: f64,
) -> Option<JobReach> {
    let counts = match scenario.shelf.count {
        Some(count) => vec![count],
        None => {
            let most = scenario.shelf.max_count.unwrap_or(LARGEST_COUNT);
            (0..=8)
                .map(|power| 1_u32 << power)
                .filter(|n| *n <= most)
                .collect()
        }
    };
    let mut best: Option<JobReach> = None;
    for count in counts {
        let ask = |amount: f64| offer_of(scenario, catalog, prices, id, count, amount);
        let Some(reach) = of_count(&ask, budget, deadline) else {
            continue;
        };
        let spent = reach.offer.cost_of_job.map_or(0.0, |cost| cost.mid);
        let better = best.as_ref().is_none_or(|b| reach.amount > b.amount);
        // Once the money ends before the time, more cards buy no more.
        let limited = spent > 0.9 * budget;
        if better {
            best = Some(reach);
        } else if limited {
            break;
        }
    }
    best
}

/// The offer of one card in one count for an amount of work.
fn offer_of(
    scenario: &Scenario,
    catalog: &Catalog,
    prices: &PriceBook,
    id: &str,
    count: u32,
    amount: f64,
) -> Option<Offer> {
    let mut asked = scenario.clone();
    asked.shelf = Shelf {
        cards: vec![id.to_owned()],
        unpriced: true,
        count: Some(count),
        max_count: None,
        busy_gib: scenario.shelf.busy_gib,
        own: scenario.shelf.own.clone(),
    };
    match &mut asked.job {
        Job::Train(training) => training.amount = TrainingAmount::Tokens(amount),
        Job::Serve(serving) => serving.requests_total = Some(amount.max(1.0).round()),
        #[allow(
            unreachable_patterns,
            reason = "other kinds of job have no amount of this kind"
        )]
        _ => return None,
    }
    rank(&asked, catalog, prices)
        .offers
        .into_iter()
        .find(|offer| offer.card == id && offer.count == count && offer.fit == Fit::Fits)
}

/// The largest amount whose offer keeps both limits by its middle values.
fn of_count(ask: &dyn Fn(f64) -> Option<Offer>, budget: f64, deadline: f64) -> Option<JobReach> {
    /// Enough work that a rate can be told from it.
    const FIRST: f64 = 1e6;
    let rate = |offer: &Offer| match &offer.run {
        Some(Run::Train { speed, .. }) => Some(speed.tokens_per_s.mid),
        Some(Run::Serve { speed, .. }) => Some(speed.requests_per_s.mid),
        _ => None,
    };
    let keeps = |offer: &Offer| {
        let cost = offer.cost_of_job.map(|cost| cost.mid);
        let hours = offer.hours.map(|hours| hours.mid);
        cost.is_some_and(|cost| cost <= budget) && hours.is_some_and(|hours| hours <= deadline)
    };
    // As much as the time allows, then as much of it as the money does.
    let first = ask(FIRST)?;
    let mut amount = rate(&first)? * 3600.0 * deadline;
    let mut high = f64::INFINITY;
    let mut best: Option<JobReach> = None;
    for _ in 0..12 {
        let Some(offer) = ask(amount) else { break };
        let (cost, hours) = (offer.cost_of_job?.mid, offer.hours?.mid);
        if keeps(&offer) {
            let slack = (cost / budget).max(hours / deadline);
            best = Some(JobReach { amount, offer });
            if slack > 0.98 {
                break;
            }
            // Nearer to what is known not to fit, or by as much as is left.
            amount = if high.is_finite() {
                0.5 * (amount + high)
            } else {
                amount / slack.max(0.1)
            };
        } else {
            high = high.min(amount);
            let over = (cost / budget).max(hours / deadline);
            let floor = best.as_ref().map_or(0.0, |b| b.amount);
            amount = (amount / over * 0.999).max(0.5 * (floor + floor.min(amount)));
            if amount <= floor {
                amount = 0.5 * (floor + high);
            }
        }
        if amount < 1.0 {
            break;
        }
    }
    best
}

/// Tokens a parameter that training pays off best (Hoffmann et al. 2022, about 20).
pub const TOKENS_PER_PARAM: f64 = 20.0;

/// The largest usual dense model that can be pretrained on [`TOKENS_PER_PARAM`] tokens a parameter
/// within the scenario's budget and deadline, with the offer that does it. `None` without a budget.
pub fn largest_pretraining(
    scenario: &Scenario,
    catalog: &Catalog,
    prices: &PriceBook,
) -> Option<(u64, JobReach)> {
    /// Cards that are tried with every size: those that did most with the scenario's model.
    const TRIED: usize = 4;
    let mut asked = scenario.clone();
    asked.job = Job::Train(usual_training(TrainingMethod::Pretrain));
    asked.model = ModelChoice::Custom(Box::new(dense(12)));
    let mut cards: Vec<String> = largest_jobs(&asked, catalog, prices)
        .into_iter()
        .map(|reach| reach.offer.card)
        .collect();
    cards.truncate(TRIED);
    if cards.is_empty() {
        return None;
    }
    asked.shelf.cards = cards;
    let of = |step: u32| {
        let mut sized = asked.clone();
        sized.model = ModelChoice::Custom(Box::new(dense(step)));
        let best = largest_jobs(&sized, catalog, prices).into_iter().next()?;
        let wanted = TOKENS_PER_PARAM * dense(step).params() as f64;
        (best.amount >= wanted).then_some(best)
    };
    let step = last_true(96, |step| of(step).is_some())?;
    Some((dense(step).params(), of(step)?))
}
