//! Offers for a service, or for answers in bulk.

use super::counts::{Counts, MOST_CARDS};
use super::job::{SLOWEST_TPOT_S, usual_engine};
use super::relief::{self, Changes, Gap};
use super::{Assumption, Fit, Miss, Offer, Remedy, Run, money};
use crate::catalog::{Card, Model};
use crate::dtype::{KvFormat, WeightFormat};
use crate::estimate::serving::ServingJob;
use crate::estimate::{MemoryPart, ServingSpeed};
use crate::plan::search::{Fitness, PlannedServing, ServingSearch};
use crate::plan::{RentedNode, rented_node};
use crate::range::Range;
use crate::rental::CardPrices;
use crate::scenario::{Load, Scenario, Serving};

const SECONDS_PER_HOUR: f64 = 3600.0;
const DAYS_PER_MONTH: f64 = 30.0;
/// Machines are added to a bulk job until it is done within this time, hours, where no deadline
/// is given.
const PATIENT_HOURS: f64 = 24.0;

/// One card in every sensible count.
pub(super) fn offers(
    scenario: &Scenario,
    serving: &Serving,
    model: &Model,
    card: &Card,
    prices: &CardPrices<'_>,
    offers: &mut Vec<Offer>,
) {
    let rented = rented_node(card);
    let search = search(serving, model, &rented);
    let counts = Counts {
        cards_per_node: rented.node.cards_per_node,
        most: MOST_CARDS,
        fine: true,
    };
    let first = offers.len();
    let mut smaller = None;
    for count in counts.of(&scenario.shelf) {
        let near = smaller
            .as_ref()
            .filter(|_| count > rented.node.cards_per_node);
        let planned = search
            .best(count, near)
            .or_else(|| near.and_then(|_| search.best(count, None)));
        let Some(planned) = planned else { continue };
        if planned.fitness == Fitness::Fits {
            smaller = Some(planned.plan);
        }
        let offer = offer(scenario, serving, count, planned, prices, &rented);
        let settled = count >= rented.node.cards_per_node && is_settled(&offer, scenario);
        let hopeless = count > rented.node.cards_per_node
            && gains_nothing(&offer, offers.get(first..).and_then(<[_]>::last));
        offers.push(offer);
        if settled || hopeless {
            break;
        }
    }
    if let Some(of_card) = offers.get_mut(first..) {
        let node = rented.node.cards_per_node;
        relief::attach(of_card, node, |offer| {
            changes(offer, serving, model, &rented)
        });
    }
}

pub(super) fn search<'a>(
    serving: &Serving,
    model: &'a Model,
    rented: &RentedNode<'a>,
) -> ServingSearch<'a> {
    let job = ServingJob {
        model,
        weights: serving.weights,
        kv: serving.kv,
        engine: serving
            .engine
            .unwrap_or_else(|| usual_engine(rented.node.card, serving.weights)),
        prompt_tokens: serving.prompt_tokens.max(1),
        output_tokens: serving.written_tokens().max(1),
        habits: serving.habits,
    };
    ServingSearch::new(job, serving, rented)
}

/// What is taken for granted for all offers.
pub(super) fn assumptions(serving: &Serving) -> Vec<Assumption> {
    let mut assumptions = vec![Assumption::MeanLengths];
    if serving.requests_total.is_none() && serving.tpot_target_s.is_none() {
        assumptions.push(Assumption::SlowestTpot(SLOWEST_TPOT_S));
    }
    if serving.habits.prefix_hit_percent > 0.0 {
        assumptions.push(Assumption::WholePromptsKept);
    }
    if serving.habits.guesses > 0 {
        assumptions.push(Assumption::TokensPerStep(serving.habits.tokens_per_step()));
    }
    assumptions
}

/// What a card that lacks a format's units does in its place.
fn of_card(weights: WeightFormat, card: &Card) -> Option<Assumption> {
    match weights {
        WeightFormat::Bf16 if card.peak_tflops.bf16.is_none() => Some(Assumption::RunsInFp16),
        WeightFormat::Fp8 if card.peak_tflops.fp8.is_none() => Some(Assumption::ExpandedToHalf),
        _ => None,
    }
}

/// Whether more machines would only cost more: it keeps every limit that they could help with, at
/// worst too.
fn is_settled(offer: &Offer, scenario: &Scenario) -> bool {
    let enough = scenario.money.deadline_hours.unwrap_or(PATIENT_HOURS);
    let in_time = offer.hours.is_none_or(|hours| hours.mid <= enough);
    let over_limit = |miss: &Miss| *miss != Miss::Budget;
    let mut missed = offer.misses.iter().chain(&offer.may_miss);
    offer.fit == Fit::Fits && in_time && !missed.any(over_limit)
}

/// Whether an offer that misses its latency targets is no nearer to them than the one before:
/// copies of the same layout do not answer sooner.
fn gains_nothing(offer: &Offer, before: Option<&Offer>) -> bool {
    let latency = |offer: &Offer| match &offer.run {
        Some(Run::Serve { speed, .. }) => Some(speed.ttft_s.mid + speed.tpot_s.mid),
        _ => None,
    };
    let carries = !offer.misses.contains(&Miss::Load);
    let before = before.and_then(latency);
    carries && matches!((before, latency(offer)), (Some(was), Some(is)) if is > 0.98 * was)
}

fn offer(
    scenario: &Scenario,
    serving: &Serving,
    count: u32,
    planned: PlannedServing,
    prices: &CardPrices<'_>,
    rented: &RentedNode<'_>,
) -> Offer {
    let card = rented.node.card;
    let usable_memory_bytes = card.usable_memory_bytes();
    let hours_per_day = if serving.hours_per_day.is_finite() {
        serving.hours_per_day.clamp(0.0, 24.0)
    } else {
        24.0
    };
    let speed = planned.speed.as_ref();
    let hours = serving
        .requests_total
        .zip(speed)
        .and_then(|(requests, speed)| {
            money::over(requests.max(0.0) / SECONDS_PER_HOUR, speed.requests_per_s)
        });
    let paid = match serving.requests_total {
        None => money::for_month(prices, count, hours_per_day),
        Some(_) => money::for_job(prices, count, hours, hours_per_day),
    };
    let cost_of_job = paid.of_job;
    let cost_per_month = paid.per_month.map(|month| month.mid);
    let output_tokens = f64::from(serving.written_tokens().max(1));
    let per_million_output = speed.and_then(|speed| {
        if let (Some(cost), Some(requests)) = (cost_of_job, serving.requests_total) {
            return money::finite(cost.scale(1e6 / (requests * output_tokens)));
        }
        let tokens_per_s = served_tokens_per_s(serving, speed);
        let seconds = hours_per_day * DAYS_PER_MONTH * SECONDS_PER_HOUR;
        money::over(cost_per_month? * 1e6 / seconds, tokens_per_s)
    });
    let output_share = output_tokens / (output_tokens + f64::from(serving.prompt_tokens));
    let nodes = count.div_ceil(rented.node.cards_per_node);
    let machines_of_copy = (planned.plan.tensor_parallel * planned.plan.pipeline_parallel)
        .div_ceil(rented.node.cards_per_node);
    let mut offer = Offer {
        card: card.id.clone(),
        count,
        nodes,
        fit: relief::fit(planned.fitness, &planned.memory, usable_memory_bytes),
        memory: planned.memory,
        usable_memory_bytes,
        run: None,
        hours: paid.hours,
        price: paid.price,
        cost_per_hour: paid.per_hour,
        cost_of_job,
        cost_per_month: paid.per_month,
        cost_per_million_output_tokens: per_million_output,
        cost_per_million_tokens: per_million_output.map(|c| c.scale(output_share)),
        bill: paid.bill,
        cost_per_thousand: None,
        misses: Vec::new(),
        may_miss: Vec::new(),
        remedies: Vec::new(),
        assumptions: relief::network(machines_of_copy, rented),
        best_of_card: false,
    };
    offer.assumptions.extend(of_card(serving.weights, card));
    offer.assumptions.extend(paid.assumptions);
    if let Some(speed) = planned.speed {
        if !planned.carries_load {
            offer.misses.push(Miss::Load);
        }
        mark_limits(&mut offer, scenario, serving, &speed);
        offer.run = Some(Run::Serve {
            plan: planned.plan,
            speed,
            largest_concurrency: planned.largest_concurrency,
            fitting_concurrency: planned.fitting_concurrency,
        });
    }
    offer
}

/// Output tokens a second that are really asked for: a rate below what the cards could give
/// leaves them idle.
fn served_tokens_per_s(serving: &Serving, speed: &ServingSpeed) -> Range {
    let most = match serving.load {
        Load::RequestsPerSecond(rate) => rate * f64::from(serving.written_tokens().max(1)),
        Load::Concurrency(_) => f64::INFINITY,
    };
    let Range { low, mid, high } = speed.tokens_per_s_total;
    Range {
        low: low.min(most),
        mid: mid.min(most),
        high: high.min(most),
    }
}

fn mark_limits(offer: &mut Offer, scenario: &Scenario, serving: &Serving, speed: &ServingSpeed) {
    let in_bulk = serving.requests_total.is_some();
    let cost = if in_bulk {
        offer.cost_of_job
    } else {
        offer.cost_per_month
    };
    let slowest = (!in_bulk).then_some(SLOWEST_TPOT_S);
    let limits = [
        (cost, scenario.money.budget, Miss::Budget),
        (offer.hours, scenario.money.deadline_hours, Miss::Deadline),
        (Some(speed.ttft_s), serving.ttft_target_s, Miss::Ttft),
        (
            Some(speed.tpot_s),
            serving.tpot_target_s.or(slowest),
            Miss::Tpot,
        ),
    ];
    for (value, most, miss) in limits {
        let (Some(value), Some(most)) = (value, most) else {
            continue;
        };
        if value.mid > most {
            offer.misses.push(miss);
        } else if value.high > most {
            offer.may_miss.push(miss);
        }
    }
}

/// Changes that make `offer` fit at its own count.
fn changes(offer: &Offer, serving: &Serving, model: &Model, rented: &RentedNode<'_>) -> Changes {
    let gap = Gap::of(offer);
    let cache = [MemoryPart::KvCache, MemoryPart::Activations];
    let helps = |share: f64, frees: &[MemoryPart], change: &dyn Fn(&mut Serving)| {
        if !gap.could_be_filled(share, frees) {
            return false;
        }
        let mut changed = serving.clone();
        change(&mut changed);
        search(&changed, model, rented).fits(offer.count)
    };
    let mut changes = Changes::default();
    if serving.kv == KvFormat::Bits16 && helps(0.5, &cache, &|s| s.kv = KvFormat::Bits8) {
        changes.light.push(Remedy::Kv(KvFormat::Bits8));
    }
    if let Load::Concurrency(asked) = serving.load
        && gap.could_be_filled(1.0, &cache)
    {
        let planned = search(serving, model, rented).best(offer.count, None);
        let fewer = planned.map_or(0, |p| p.fitting_concurrency.min(asked));
        if fewer > 0 && helps(1.0, &cache, &|s| s.load = Load::Concurrency(fewer)) {
            let list = if u64::from(fewer) * 2 >= u64::from(asked) {
                &mut changes.light
            } else {
                &mut changes.heavy
            };
            list.push(Remedy::Concurrency(fewer));
        }
    }
    let smaller = lighter(serving.weights)
        .iter()
        .filter(|weights| helps(1.0, &[MemoryPart::Weights], &|s| s.weights = **weights));
    changes.heavy.extend(smaller.copied().map(Remedy::Weights));
    let shorter = [2, 4]
        .into_iter()
        .map(|part| serving.prompt_tokens / part)
        .filter(|tokens| *tokens >= relief::SHORTEST_TOKENS)
        .find(|tokens| helps(1.0, &cache, &|s| s.prompt_tokens = *tokens));
    changes.heavy.extend(shorter.map(Remedy::Tokens));
    changes
}

/// Formats that take less memory, the least lossy first.
fn lighter(weights: WeightFormat) -> &'static [WeightFormat] {
    use WeightFormat as W;
    match weights {
        W::Fp32 => &[W::Bf16, W::Fp8, W::Awq4],
        W::Bf16 | W::Fp16 => &[W::Fp8, W::Awq4],
        W::Fp8 | W::Int8 => &[W::Awq4],
        W::Q8_0 => &[W::Q6K, W::Q4KM, W::Iq3Xxs],
        W::Q6K | W::Q5_0 | W::Q5_1 | W::Q5KS | W::Q5KM => &[W::Q4KM, W::Iq3Xxs],
        W::Q4_0 | W::Q4_1 | W::Q4KS | W::Q4KM | W::Iq4Xs | W::Iq4Nl => &[W::Q3KM, W::Q2K],
        W::Q3KS | W::Q3KM | W::Q3KL | W::Iq3M => &[W::Q2K, W::Iq2Xxs],
        _ => &[],
    }
}
