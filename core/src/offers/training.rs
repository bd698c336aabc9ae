//! Offers for a training job.

use super::counts::{Counts, MOST_CARDS};
use super::job::{LONGEST_HOURS, default_global_batch, training_job, training_tokens};
use super::relief::{self, Changes, Gap};
use super::{Assumption, Fit, Miss, Offer, Remedy, Run, money};
use crate::catalog::{Card, Model};
use crate::estimate::MemoryPart;
use crate::plan::search::{Fitness, FixedLayout, PlannedTraining, TrainingSearch};
use crate::plan::{Offload, Recompute, RentedNode, Sharding, TrainingPlan, rented_node};
use crate::range::Range;
use crate::rental::CardPrices;
use crate::scenario::{Optimizer, RankBy, Scenario, Training, TrainingAmount, TrainingMethod};

/// Whole machines are added until the job is done within this time, hours, where no deadline is
/// given.
const PATIENT_HOURS: f64 = 72.0;
/// The same where the fastest is asked for.
const IMPATIENT_HOURS: f64 = 8.0;

/// One card in every sensible count.
pub(super) fn offers(
    scenario: &Scenario,
    training: &Training,
    model: &Model,
    card: &Card,
    prices: &CardPrices<'_>,
    offers: &mut Vec<Offer>,
) {
    let rented = rented_node(card);
    let search = search(training, model, &rented);
    let tokens = training_tokens(training);
    let counts = Counts {
        cards_per_node: rented.node.cards_per_node,
        most: rented.largest_cards.min(MOST_CARDS),
        fine: false,
    };
    let first = offers.len();
    let mut smaller = None;
    for count in counts.of(&scenario.shelf) {
        let whole_nodes = count > rented.node.cards_per_node;
        let near = smaller.as_ref().filter(|_| whole_nodes);
        let planned = search
            .best(count, near)
            .or_else(|| near.and_then(|_| search.best(count, None)));
        let Some(planned) = planned else { continue };
        // What recomputes for want of memory may be laid out otherwise on more cards.
        let settles = planned.fitness == Fitness::Fits && planned.plan.recompute == Recompute::None;
        smaller = settles.then_some(planned.plan);
        let chunks = search.pipeline_chunks(&planned.plan);
        let mut offer = offer(
            scenario,
            (tokens, training.seq_len),
            count,
            planned,
            prices,
            &rented,
        );
        if chunks > 1 {
            offer.assumptions.push(Assumption::PipelineChunks(chunks));
        }
        let settled = count >= rented.node.cards_per_node
            && is_settled(&offer, offers.get(first..).and_then(<[_]>::last), scenario);
        offers.push(offer);
        if settled {
            break;
        }
    }
    if let Some(of_card) = offers.get_mut(first..) {
        let node = rented.node.cards_per_node;
        relief::attach(of_card, node, |offer| {
            changes(offer, training, model, &rented)
        });
    }
}

pub(super) fn search<'a>(
    training: &Training,
    model: &'a Model,
    rented: &RentedNode<'a>,
) -> TrainingSearch<'a> {
    let batch = training
        .global_batch
        .unwrap_or_else(|| default_global_batch(training, model));
    let job = training_job(training, model);
    TrainingSearch::new(job, FixedLayout::from(training), batch, rented)
}

/// What is taken for granted for all offers.
pub(super) fn assumptions(
    scenario: &Scenario,
    training: &Training,
    model: &Model,
) -> Vec<Assumption> {
    let mut assumptions = Vec::new();
    if training.global_batch.is_none() {
        let batch = default_global_batch(training, model);
        assumptions.push(Assumption::GlobalBatch(batch));
    }
    if matches!(training.amount, TrainingAmount::Samples { .. }) {
        assumptions.push(Assumption::PackedSequences);
    }
    if scenario.money.deadline_hours.is_none() {
        assumptions.push(Assumption::LongestHours(LONGEST_HOURS));
    }
    assumptions
}

/// Whether more machines would only cost more.
fn is_settled(offer: &Offer, before: Option<&Offer>, scenario: &Scenario) -> bool {
    /// Bills are in whole cents, so a small job's may fall by that much in one currency and not in another.
    const NOTICEABLE: f64 = 0.98;
    // Within a budget the fastest is looked for too, so it is not enough to be in time.
    let enough = match (scenario.money.deadline_hours, scenario.money.budget) {
        (Some(deadline), None) => deadline,
        (Some(deadline), Some(_)) => deadline.min(IMPATIENT_HOURS),
        (None, Some(_)) => IMPATIENT_HOURS,
        (None, None) => match scenario.rank {
            RankBy::Fastest => IMPATIENT_HOURS,
            RankBy::Cheapest | RankBy::BestValue => PATIENT_HOURS,
        },
    };
    let mid = |range: Option<Range>| range.map(|r| r.mid);
    let in_time = mid(offer.hours).is_some_and(|hours| hours <= enough)
        && !offer.may_miss.contains(&Miss::Deadline);
    let was = before.and_then(|b| mid(b.cost_of_job));
    let falls =
        matches!((was, mid(offer.cost_of_job)), (Some(was), Some(is)) if is < NOTICEABLE * was);
    let hours_before = before.and_then(|b| mid(b.hours));
    let no_faster =
        matches!((hours_before, mid(offer.hours)), (Some(was), Some(is)) if is > 0.95 * was);
    offer.fit == Fit::Fits && (no_faster || in_time && !falls)
}

fn offer(
    scenario: &Scenario,
    (tokens, seq_len): (f64, u32),
    count: u32,
    planned: PlannedTraining,
    prices: &CardPrices<'_>,
    rented: &RentedNode<'_>,
) -> Offer {
    const SECONDS_PER_HOUR: f64 = 3600.0;
    let card = rented.node.card;
    let usable_memory_bytes = card.usable_memory_bytes();
    let offloads = planned.plan.offload != Offload::None;
    let run = planned.speed.map(|speed| Run::Train {
        plan: planned.plan,
        speed,
    });
    let hours = match &run {
        Some(Run::Train { plan, speed }) => {
            let step = tokens_per_step(plan, seq_len);
            money::over(
                whole_steps(tokens, step) / SECONDS_PER_HOUR,
                speed.tokens_per_s,
            )
        }
        _ => None,
    };
    let paid = money::for_job(prices, count, hours, 24.0);
    let cost_of_job = paid.of_job;
    let per_million = |cost: Range| money::finite(cost.scale(1e6 / tokens));
    let nodes = count.div_ceil(rented.node.cards_per_node);
    let mut offer = Offer {
        card: card.id.clone(),
        count,
        nodes,
        fit: relief::fit(planned.fitness, &planned.memory, usable_memory_bytes),
        memory: planned.memory,
        usable_memory_bytes,
        run,
        hours: paid.hours,
        price: paid.price,
        cost_per_hour: paid.per_hour,
        cost_of_job,
        cost_per_month: paid.per_month,
        cost_per_million_output_tokens: None,
        cost_per_million_tokens: cost_of_job.and_then(per_million),
        bill: paid.bill,
        cost_per_thousand: None,
        misses: Vec::new(),
        may_miss: Vec::new(),
        remedies: Vec::new(),
        assumptions: relief::network(nodes, rented),
        best_of_card: false,
    };
    // What is kept on the host rests on the machine's memory.
    let on_the_host = offloads && rented.assumed && nodes <= 1;
    let machine = on_the_host.then_some(Assumption::MachineAssumed);
    offer.assumptions.extend(machine);
    offer.assumptions.extend(paid.assumptions);
    mark_limits(&mut offer, scenario);
    offer
}

/// Tokens of one optimizer step of a plan.
fn tokens_per_step(plan: &TrainingPlan, seq_len: u32) -> f64 {
    let sequences =
        f64::from(plan.micro_batch) * f64::from(plan.grad_accum) * f64::from(plan.data_parallel);
    sequences * f64::from(seq_len.max(1))
}

/// Tokens up to the end of a step: nobody stops in the middle of one.
fn whole_steps(tokens: f64, per_step: f64) -> f64 {
    if per_step > 0.0 {
        // A hair above a whole step is the arithmetic's.
        (tokens / per_step * (1.0 - 1e-12)).ceil() * per_step
    } else {
        tokens
    }
}

fn mark_limits(offer: &mut Offer, scenario: &Scenario) {
    let limits = [
        (offer.cost_of_job, scenario.money.budget, Miss::Budget),
        (offer.hours, scenario.money.deadline_hours, Miss::Deadline),
        (
            offer.hours,
            scenario
                .money
                .deadline_hours
                .is_none()
                .then_some(LONGEST_HOURS),
            Miss::TooLong,
        ),
    ];
    for (value, most, miss) in limits {
        let (Some(value), Some(most)) = (value, most) else {
            continue;
        };
        if value.mid > most {
            offer.misses.push(miss);
        } else if value.high > most && miss != Miss::TooLong {
            offer.may_miss.push(miss);
        }
    }
}

/// Parts that grow with the tokens of a micro-batch.
const BY_TOKENS: [MemoryPart; 3] = [
    MemoryPart::Activations,
    MemoryPart::Logits,
    MemoryPart::Fragmentation,
];
/// Parts that sharding splits.
const BY_RANKS: [MemoryPart; 4] = [
    MemoryPart::Weights,
    MemoryPart::Gradients,
    MemoryPart::MasterWeights,
    MemoryPart::OptimizerStates,
];
/// Parts that full training has and adapters do not.
const BY_METHOD: [MemoryPart; 4] = [
    MemoryPart::Gradients,
    MemoryPart::MasterWeights,
    MemoryPart::OptimizerStates,
    MemoryPart::Weights,
];

/// Changes that make `offer` fit at its own count.
fn changes(offer: &Offer, training: &Training, model: &Model, rented: &RentedNode<'_>) -> Changes {
    let gap = Gap::of(offer);
    let helps = |frees: &[MemoryPart], change: &dyn Fn(&mut Training)| {
        if !gap.could_be_filled(1.0, frees) {
            return false;
        }
        let mut changed = training.clone();
        change(&mut changed);
        search(&changed, model, rented).fits(offer.count)
    };
    let mut light = Vec::new();
    let mut heavy = Vec::new();
    let whole_weights = matches!(
        training.method,
        TrainingMethod::Pretrain | TrainingMethod::FullFinetune
    );
    if !training.flash_attention && helps(&BY_TOKENS, &|t| t.flash_attention = true) {
        light.push(Remedy::FlashAttention);
    }
    if training.micro_batch.is_some_and(|m| m > 1)
        && helps(&BY_TOKENS, &|t| t.micro_batch = Some(1))
    {
        light.push(Remedy::MicroBatch(1));
    }
    let full = Recompute::Full;
    if training.recompute.is_some_and(|r| r < full)
        && helps(&BY_TOKENS, &|t| t.recompute = Some(full))
    {
        light.push(Remedy::Recompute(full));
    }
    let most = Sharding::Zero3;
    if offer.count > 1
        && training.sharding.is_some_and(|s| s < most)
        && helps(&BY_RANKS, &|t| t.sharding = Some(most))
    {
        light.push(Remedy::Sharding(most));
    }
    let small = Optimizer::Adamw8bit;
    if whole_weights
        && training.optimizer == Optimizer::Adamw
        && helps(&[MemoryPart::OptimizerStates], &|t| t.optimizer = small)
    {
        light.push(Remedy::Optimizer(small));
    }
    if training.offload == Some(Offload::None) && whole_weights {
        let offloads = [Offload::Optimizer, Offload::All];
        let first = offloads
            .into_iter()
            .find(|offload| helps(&BY_RANKS, &|t| t.offload = Some(*offload)));
        heavy.extend(first.map(Remedy::Offload));
    }
    let methods: &[TrainingMethod] = match training.method {
        TrainingMethod::FullFinetune => &[TrainingMethod::Lora, TrainingMethod::Qlora],
        TrainingMethod::Lora => &[TrainingMethod::Qlora],
        TrainingMethod::Pretrain | TrainingMethod::Qlora => &[],
    };
    let first = methods
        .iter()
        .find(|method| helps(&BY_METHOD, &|t| t.method = **method));
    heavy.extend(first.copied().map(Remedy::Method));
    let first = [2, 4]
        .into_iter()
        .map(|part| training.seq_len / part)
        .filter(|tokens| *tokens >= relief::SHORTEST_TOKENS)
        .find(|tokens| helps(&BY_TOKENS, &|t| t.seq_len = *tokens));
    heavy.extend(first.map(Remedy::Tokens));
    Changes { light, heavy }
}
