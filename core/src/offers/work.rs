//! Offers for images and clips, networks, speech and scientific computing.

use super::counts::{Counts, MOST_CARDS};
use super::job::LONGEST_HOURS;
use super::relief::{self, Changes};
use super::{Assumption, Fit, Miss, Offer, Remedy, Run, money};
use crate::catalog::{Card, Catalog, FloatPrecision, Subject};
use crate::dtype::WeightFormat;
use crate::estimate::science::fp64_slowdown;
use crate::plan::search::{CopiesAlone, Fitness, PlannedWork, WorkTask};
use crate::plan::{Recompute, RentedNode, rented_node};
use crate::range::Range;
use crate::rental::CardPrices;
use crate::scenario::{
    DiffusionMethod, Job, ModelChoice, Optimizer, PipelineOffload, RankBy, Scenario,
};

/// Cards are added until the job is done within this time, hours, where no deadline is given.
const PATIENT_HOURS: f64 = 24.0;
/// The same where the fastest is asked for.
const IMPATIENT_HOURS: f64 = 2.0;

/// The job of a scenario with what it is about; `None` for language models and where the catalog
/// does not have it.
pub(crate) fn task<'a>(scenario: &Scenario, catalog: &'a Catalog) -> Option<WorkTask<'a>> {
    let ModelChoice::Catalog(id) = &scenario.model else {
        return None;
    };
    Some(match (&scenario.job, catalog.subject(id)?) {
        (Job::Generate(job), Subject::Diffusion(m)) => WorkTask::Generate(m, job.clone()),
        (Job::TuneDiffusion(job), Subject::Diffusion(m)) => WorkTask::TuneDiffusion(m, job.clone()),
        (Job::TrainNetwork(job), Subject::Network(n)) => WorkTask::TrainNetwork(n, job.clone()),
        (Job::RunNetwork(job), Subject::Network(n)) => WorkTask::RunNetwork(n, job.clone()),
        (Job::Transcribe(job), Subject::Network(n)) => WorkTask::Transcribe(n, job.clone()),
        (Job::Compute(job), Subject::Workload(w)) => WorkTask::Compute(w, job.clone()),
        _ => return None,
    })
}

/// One card in every sensible count.
pub(super) fn offers(
    scenario: &Scenario,
    task: &WorkTask<'_>,
    card: &Card,
    prices: &CardPrices<'_>,
    offers: &mut Vec<Offer>,
) {
    if !task.can_run_on(card) {
        return;
    }
    let rented = rented_node(card);
    let counts = Counts {
        cards_per_node: rented.node.cards_per_node,
        most: rented.largest_cards.min(MOST_CARDS).min(task.most_cards()),
        fine: false,
    };
    let first = offers.len();
    let mut known = CopiesAlone::default();
    for count in counts.of(&scenario.shelf) {
        let Some(planned) = task.best_of_known(count, &rented, &mut known) else {
            continue;
        };
        let offer = offer(scenario, task, count, planned, prices, &rented);
        let before = offers.get(first..).and_then(<[_]>::last);
        let settled = is_settled(&offer, before, scenario, rented.node.cards_per_node);
        offers.push(offer);
        if settled {
            break;
        }
    }
    if let Some(of_card) = offers.get_mut(first..) {
        relief::attach(of_card, rented.node.cards_per_node, |offer| {
            changes(task, offer.count, &rented)
        });
    }
}

/// Whether more cards would only cost more.
fn is_settled(
    offer: &Offer,
    before: Option<&Offer>,
    scenario: &Scenario,
    cards_per_node: u32,
) -> bool {
    let enough = scenario
        .money
        .deadline_hours
        .unwrap_or(match scenario.rank {
            RankBy::Fastest => IMPATIENT_HOURS,
            RankBy::Cheapest | RankBy::BestValue => PATIENT_HOURS,
        });
    let mid = |range: Option<Range>| range.map(|r| r.mid);
    let in_time = mid(offer.hours).is_some_and(|hours| hours <= enough)
        && !offer.may_miss.contains(&Miss::Deadline);
    let no_faster = matches!(
        (before.and_then(|b| mid(b.hours)), mid(offer.hours)),
        (Some(was), Some(is)) if is > 0.95 * was
    );
    offer.fit == Fit::Fits && (no_faster || in_time && offer.count >= cards_per_node)
}

fn offer(
    scenario: &Scenario,
    task: &WorkTask<'_>,
    count: u32,
    planned: PlannedWork,
    prices: &CardPrices<'_>,
    rented: &RentedNode<'_>,
) -> Offer {
    const SECONDS_PER_HOUR: f64 = 3600.0;
    let card = rented.node.card;
    let usable_memory_bytes = card.usable_memory_bytes();
    let fits = planned.fitness != Fitness::TooSmall;
    let speed = planned.estimate.speed;
    let amount = task.amount();
    let hours = fits
        .then(|| money::over(amount / SECONDS_PER_HOUR, speed.units_per_s))
        .flatten();
    let paid = money::for_job(prices, count, hours, 24.0);
    let cost_of_job = paid.of_job;
    let nodes = count.div_ceil(rented.node.cards_per_node);
    let counted = !matches!(task, WorkTask::Compute(..));
    let mut offer = Offer {
        card: card.id.clone(),
        count,
        nodes,
        fit: relief::fit(
            planned.fitness,
            &planned.estimate.memory,
            usable_memory_bytes,
        ),
        memory: planned.estimate.memory,
        usable_memory_bytes,
        run: fits.then_some(Run::Work {
            plan: planned.plan,
            speed,
        }),
        hours: paid.hours,
        price: paid.price,
        cost_per_hour: paid.per_hour,
        cost_of_job,
        cost_per_month: paid.per_month,
        cost_per_million_output_tokens: None,
        cost_per_million_tokens: None,
        bill: paid.bill,
        cost_per_thousand: cost_of_job
            .filter(|_| counted)
            .and_then(|c| money::finite(c.scale(1000.0 / amount))),
        misses: Vec::new(),
        may_miss: Vec::new(),
        remedies: Vec::new(),
        assumptions: relief::network(nodes, rented),
        best_of_card: false,
    };
    offer.assumptions.extend(paid.assumptions);
    if let WorkTask::Compute(_, job) = task
        && job.precision == FloatPrecision::Fp64
        && let Some(slower) = fp64_slowdown(card)
    {
        offer.assumptions.push(Assumption::Fp64Slowdown(slower));
    }
    mark_limits(&mut offer, scenario);
    offer
}

fn mark_limits(offer: &mut Offer, scenario: &Scenario) {
    let money = &scenario.money;
    let longest = money.deadline_hours.is_none().then_some(LONGEST_HOURS);
    for (value, most, miss) in [
        (offer.cost_of_job, money.budget, Miss::Budget),
        (offer.hours, money.deadline_hours, Miss::Deadline),
        (offer.hours, longest, Miss::TooLong),
    ] {
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

/// What is taken for granted for all offers.
pub(super) fn assumptions(scenario: &Scenario) -> Vec<Assumption> {
    let longest = Assumption::LongestHours(LONGEST_HOURS);
    match scenario.money.deadline_hours {
        Some(_) => Vec::new(),
        None => vec![longest],
    }
}

/// Changes that make a job fit at its own count.
fn changes(task: &WorkTask<'_>, count: u32, rented: &RentedNode<'_>) -> Changes {
    let helps = |changed: &WorkTask<'_>| {
        let planned = changed.best(count, rented);
        planned.is_some_and(|p| p.fitness == Fitness::Fits)
    };
    let mut changes = Changes::default();
    let mut try_light = |remedy: Remedy, changed: WorkTask<'_>| {
        if helps(&changed) {
            changes.light.push(remedy);
        }
    };
    let mut heavy: Vec<(Remedy, WorkTask<'_>)> = Vec::new();
    match task {
        WorkTask::Generate(model, job) => {
            let with = |change: &dyn Fn(&mut crate::scenario::Generation)| {
                let mut job = job.clone();
                change(&mut job);
                WorkTask::Generate(model, job)
            };
            if job.tiling == Some(false) {
                try_light(Remedy::Tiling, with(&|j| j.tiling = Some(true)));
            }
            if job.batch.is_some_and(|b| b > 1) {
                try_light(Remedy::Batch(1), with(&|j| j.batch = Some(1)));
            }
            for offload in [PipelineOffload::Model, PipelineOffload::Sequential] {
                if job.offload.is_some_and(|o| o < offload) {
                    try_light(
                        Remedy::PipelineOffload(offload),
                        with(&|j| j.offload = Some(offload)),
                    );
                }
            }
            for weights in lighter(job.weights) {
                heavy.push((Remedy::Weights(*weights), with(&|j| j.weights = *weights)));
            }
        }
        WorkTask::TuneDiffusion(model, job) => {
            let with = |change: &dyn Fn(&mut crate::scenario::DiffusionTraining)| {
                let mut job = job.clone();
                change(&mut job);
                WorkTask::TuneDiffusion(model, job)
            };
            if job.recompute == Some(false) {
                try_light(
                    Remedy::Recompute(Recompute::Full),
                    with(&|j| j.recompute = Some(true)),
                );
            }
            if !job.cached {
                try_light(Remedy::Cached, with(&|j| j.cached = true));
            }
            if job.optimizer == Optimizer::Adamw {
                try_light(
                    Remedy::Optimizer(Optimizer::Adamw8bit),
                    with(&|j| j.optimizer = Optimizer::Adamw8bit),
                );
            }
            if job.method == DiffusionMethod::Dreambooth {
                heavy.push((
                    Remedy::Diffusion(DiffusionMethod::Lora),
                    with(&|j| j.method = DiffusionMethod::Lora),
                ));
            } else {
                for weights in lighter(job.weights) {
                    heavy.push((Remedy::Weights(*weights), with(&|j| j.weights = *weights)));
                }
            }
        }
        WorkTask::TrainNetwork(network, job) => {
            if let Some(batch) = job.batch.filter(|b| *b > 1) {
                let smaller = std::iter::successors(Some(batch / 2), |n| (*n > 1).then_some(n / 2));
                for batch in smaller {
                    let changed = crate::scenario::NetworkTraining {
                        batch: Some(batch),
                        ..job.clone()
                    };
                    let changed = WorkTask::TrainNetwork(network, changed);
                    if helps(&changed) {
                        changes.light.push(Remedy::Batch(batch));
                        break;
                    }
                }
            }
        }
        WorkTask::RunNetwork(network, job) => {
            if job.batch.is_some_and(|b| b > 1) {
                let changed = crate::scenario::NetworkInference {
                    batch: Some(1),
                    ..job.clone()
                };
                try_light(Remedy::Batch(1), WorkTask::RunNetwork(network, changed));
            }
        }
        WorkTask::Transcribe(network, job) => {
            if job.batch.is_some_and(|b| b > 1) {
                let changed = crate::scenario::Transcription {
                    batch: Some(1),
                    ..job.clone()
                };
                try_light(Remedy::Batch(1), WorkTask::Transcribe(network, changed));
            }
            let changed = crate::scenario::Transcription {
                weights: WeightFormat::Int8,
                ..job.clone()
            };
            if job.weights != WeightFormat::Int8 {
                heavy.push((
                    Remedy::Weights(WeightFormat::Int8),
                    WorkTask::Transcribe(network, changed),
                ));
            }
        }
        WorkTask::Compute(..) => {}
    }
    let found = heavy.into_iter().find(|(_, changed)| helps(changed));
    changes.heavy.extend(found.map(|(remedy, _)| remedy));
    changes
}

/// Formats of weights that take less memory, the least lossy first.
fn lighter(weights: WeightFormat) -> &'static [WeightFormat] {
    use WeightFormat as W;
    match weights {
        W::Fp32 => &[W::Bf16, W::Fp8, W::Nf4],
        W::Bf16 | W::Fp16 => &[W::Fp8, W::Nf4],
        W::Fp8 | W::Int8 | W::Q8_0 => &[W::Nf4],
        _ => &[],
    }
}
