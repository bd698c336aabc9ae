//! Layouts of a service.

use std::cell::RefCell;

use super::{Fitness, WORTH_THE_TROUBLE, is_near, powers_of_two, splits_layers};
use crate::catalog::Node;
use crate::estimate::serving::{Pace, ServingJob, largest_batch, memory, pace, speed};
use crate::estimate::{MemoryEstimate, MemoryPart, ServingSpeed};
use crate::order;
use crate::plan::{RentedNode, ServingPlan};
use crate::scenario::{Load, Serving};

/// Requests in flight on one copy beyond which no engine is run.
const MOST_BATCH: u32 = 16_384;
/// Depths tried for one tensor-parallel width, from the shallowest that may fit.
const DEPTHS_TRIED: usize = 2;
/// See the constant of the same name for training.
const FLOOR_SLACK: f64 = 0.95;

/// A layout with what it needs and gives.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedServing {
    /// Layout, with the requests in flight that the load asks for.
    pub plan: ServingPlan,
    /// Memory of the fullest card at that load.
    pub memory: MemoryEstimate,
    /// Whether it fits.
    pub fitness: Fitness,
    /// Speed at that load; `None` where it does not fit.
    pub speed: Option<ServingSpeed>,
    /// Whether requests are answered as fast as they come.
    pub carries_load: bool,
    /// Requests in flight over all cards that fit; 0 where the weights alone do not.
    pub fitting_concurrency: u32,
    /// The same with the targets met; equal where there are none.
    pub largest_concurrency: u32,
}

/// The search for one service on one kind of card, for every count.
#[derive(Debug, Clone)]
pub struct ServingSearch<'a> {
    job: ServingJob<'a>,
    load: Load,
    /// Answers are wanted in bulk: fewer at once only take longer.
    in_bulk: bool,
    /// Answers are made in one process, as many at once as fit, whatever the load says.
    offline: bool,
    ttft_target_s: f64,
    tpot_target_s: f64,
    fixed_tensor: Option<u32>,
    node: Node<'a>,
    /// Most cards that one copy may be spread over.
    most_cards_of_copy: u32,
    usable_bytes: u64,
    weight_bytes: f64,
    /// Copies do not depend on one another, so what is known of one holds for every count.
    known: RefCell<Known>,
}

/// What is known of one copy by its tensor-parallel ways and its stages.
#[derive(Debug, Clone, Default)]
struct Known {
    fitting: Notes<(u32, u32), u32>,
    meeting: Notes<(u32, u32), u32>,
    /// By the requests in flight too.
    pace: Notes<(u32, u32, u32), Pace>,
}

/// Some tens of values by their keys, in order: for so few, quicker than hashing.
#[derive(Debug, Clone)]
struct Notes<K, V>(Vec<(K, V)>);

impl<K, V> Default for Notes<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord + Copy, V: Copy> Notes<K, V> {
    fn get(&self, key: K) -> Option<V> {
        let place = self.0.binary_search_by_key(&key, |noted| noted.0).ok()?;
        self.0.get(place).map(|noted| noted.1)
    }

    fn insert(&mut self, key: K, value: V) {
        if let Err(place) = self.0.binary_search_by_key(&key, |noted| noted.0) {
            self.0.insert(place, (key, value));
        }
    }
}

#[derive(Debug)]
struct Candidate {
    plan: ServingPlan,
    carries_load: bool,
    /// Over all copies.
    requests_per_s: f64,
    /// How far the targets are missed, 0: met.
    violation: f64,
    /// Seconds until the last token.
    latency_s: f64,
}

#[derive(Debug, Default)]
struct Found {
    best: Option<Candidate>,
    least: Option<(ServingPlan, MemoryEstimate)>,
}

impl<'a> ServingSearch<'a> {
    /// A search over layouts under the load and the targets of `serving`.
    pub fn new(job: ServingJob<'a>, serving: &Serving, rented: &RentedNode<'a>) -> Self {
        let mut search = Self {
            job,
            load: serving.load,
            in_bulk: serving.requests_total.is_some() || serving.habits.offline,
            offline: serving.habits.offline,
            ttft_target_s: serving.ttft_target_s.unwrap_or(f64::INFINITY),
            tpot_target_s: serving.tpot_target_s.unwrap_or(f64::INFINITY),
            fixed_tensor: serving.tensor_parallel,
            node: rented.node,
            most_cards_of_copy: rented.largest_cards,
            usable_bytes: rented.node.card.usable_memory_bytes(),
            weight_bytes: 0.0,
            known: RefCell::default(),
        };
        let one = search.plan(1, 1, 1, 1);
        search.weight_bytes = search
            .memory(&one)
            .parts
            .iter()
            .filter(|(part, _)| *part == MemoryPart::Weights)
            .map(|(_, bytes)| *bytes as f64)
            .sum();
        search
    }

    /// The layout over `cards` cards that fits, carries the load, meets the targets, and answers
    /// soonest, in this order of importance; where none fits, the one that needs the least
    /// memory. `None` where no layout uses that many cards.
    ///
    /// `smaller` is the answer for about half as many cards: the search then stays near it.
    pub fn best(&self, cards: u32, smaller: Option<&ServingPlan>) -> Option<PlannedServing> {
        let mut found = Found::default();
        for (tensor, pipeline) in self.splits(cards, smaller) {
            self.try_split(cards, tensor, pipeline, &mut found);
        }
        match found {
            Found {
                best: Some(best), ..
            } => Some(self.finish(best)),
            Found {
                least: Some((plan, memory)),
                ..
            } => Some(self.unfit(plan, memory)),
            _ => {
                let plan = self.most_split(cards)?;
                let memory = self.memory(&plan);
                Some(self.unfit(plan, memory))
            }
        }
    }

    /// Whether [`Self::best`] over `cards` cards would fit, without looking for the fastest.
    pub fn fits(&self, cards: u32) -> bool {
        self.splits(cards, None)
            .into_iter()
            .any(|(tensor, pipeline)| {
                let replicas = cards / (tensor * pipeline);
                let fitting = self.largest_batch(&self.plan(replicas, tensor, pipeline, 1));
                let asked = match self.load {
                    Load::Concurrency(all) if !self.in_bulk => {
                        all.max(1).div_ceil(replicas).min(MOST_BATCH)
                    }
                    _ => 1,
                };
                fitting >= asked
            })
    }

    /// Ways over tensor and pipeline that are worth trying, near those of a smaller count where they are given.
    fn splits(&self, cards: u32, smaller: Option<&ServingPlan>) -> Vec<(u32, u32)> {
        let near = |ways: u32, of: fn(&ServingPlan) -> u32| {
            smaller.is_none_or(|smaller| is_near(ways, of(smaller)))
        };
        let mut splits = Vec::new();
        for tensor in self.tensor_widths(cards) {
            if !near(tensor, |s| s.tensor_parallel) {
                continue;
            }
            let depths = self.pipeline_depths(cards, tensor).into_iter();
            let worth_trying = depths
                .filter(|pipeline| near(*pipeline, |s| s.pipeline_parallel))
                .filter(|pipeline| {
                    let ways = f64::from(tensor * pipeline);
                    self.weight_bytes / ways * FLOOR_SLACK <= self.usable_bytes as f64
                });
            splits.extend(worth_trying.take(DEPTHS_TRIED).map(|depth| (tensor, depth)));
        }
        splits
    }

    fn finish(&self, best: Candidate) -> PlannedServing {
        let plan = best.plan;
        let fitting = self.largest_batch(&plan);
        let meeting = self.largest_meeting_targets(&plan, fitting);
        PlannedServing {
            plan,
            memory: self.memory(&plan),
            fitness: Fitness::Fits,
            speed: Some(speed(&self.job, &plan, &self.node)),
            carries_load: best.carries_load,
            fitting_concurrency: fitting.saturating_mul(plan.replicas),
            largest_concurrency: meeting.saturating_mul(plan.replicas),
        }
    }

    fn unfit(&self, plan: ServingPlan, memory: MemoryEstimate) -> PlannedServing {
        let fitness = Fitness::of(&memory, self.usable_bytes);
        let runs = fitness != Fitness::TooSmall;
        let fitting = self.largest_batch(&plan).saturating_mul(plan.replicas);
        PlannedServing {
            plan,
            memory,
            fitness,
            speed: runs.then(|| speed(&self.job, &plan, &self.node)),
            carries_load: runs,
            fitting_concurrency: fitting,
            largest_concurrency: fitting,
        }
    }

    fn try_split(&self, cards: u32, tensor: u32, pipeline: u32, found: &mut Found) {
        let replicas = cards / (tensor * pipeline);
        let plan = self.plan(replicas, tensor, pipeline, 1);
        let fitting = self.largest_batch(&plan);
        let (batch, mut carries_load) = match self.load {
            _ if self.offline => (fitting.max(1), true),
            Load::Concurrency(all) => {
                let each = all.max(1).div_ceil(replicas);
                (each.min(MOST_BATCH), self.in_bulk || each <= MOST_BATCH)
            }
            Load::RequestsPerSecond(rate) => self.batch_for_rate(&plan, rate / f64::from(replicas)),
        };
        let mut plan = ServingPlan { batch, ..plan };
        if batch > fitting {
            // A rate, or answers in bulk, can be worked off with fewer at once; people who wait
            // at once cannot.
            let waits = self.in_bulk || matches!(self.load, Load::RequestsPerSecond(_));
            if fitting == 0 || !waits {
                plan.batch = if waits { 1 } else { batch };
                note_least(found, plan, self.memory(&plan));
                return;
            }
            plan.batch = fitting;
            carries_load = self.in_bulk;
        }
        let pace = self.pace(&plan);
        let over = |value: f64, target: f64| (value / target - 1.0).max(0.0);
        let candidate = Candidate {
            violation: over(pace.ttft_s, self.ttft_target_s)
                + over(pace.tpot_s, self.tpot_target_s),
            latency_s: pace.ttft_s + pace.tpot_s * f64::from(self.job.output_tokens),
            requests_per_s: pace.requests_per_s * f64::from(replicas),
            plan,
            carries_load,
        };
        let better = |known| self.better(&candidate, known);
        if found.best.as_ref().is_none_or(better) {
            found.best = Some(candidate);
        }
    }

    fn better(&self, new: &Candidate, known: &Candidate) -> bool {
        if new.carries_load != known.carries_load {
            return new.carries_load;
        }
        let met = |c: &Candidate| c.violation <= 0.0;
        if met(new) != met(known) {
            return met(new);
        }
        if !met(new) {
            return new.violation < known.violation;
        }
        let by_rate = matches!(self.load, Load::RequestsPerSecond(_)) && new.carries_load;
        if by_rate && !self.in_bulk {
            new.latency_s * WORTH_THE_TROUBLE < known.latency_s
        } else {
            new.requests_per_s > known.requests_per_s * WORTH_THE_TROUBLE
        }
    }

    /// Requests in flight on one copy that answer `rate` requests a second, by Little's law
    /// (in flight = rate x time in the system); as many as fit, and `false`, where too few do.
    fn batch_for_rate(&self, copy: &ServingPlan, rate: f64) -> (u32, bool) {
        let most = self.largest_batch(copy);
        if most == 0 || self.requests_per_s(copy, most) < rate {
            return (most.max(1), false);
        }
        let (mut batch, mut enough) = (1, most);
        while batch < enough {
            let answered = self.requests_per_s(copy, batch);
            if answered >= rate {
                return (batch, true);
            }
            // Time in the system grows with the batch, so fewer than this many never suffice;
            // near saturation that creeps, and halving the rest is faster.
            let in_flight = (rate / answered * f64::from(batch)).ceil();
            let at_least = if in_flight < f64::from(enough) {
                (in_flight as u32).max(batch + 1)
            } else {
                enough
            };
            let middle = batch.midpoint(enough);
            if at_least < middle && self.requests_per_s(copy, middle) >= rate {
                enough = middle;
            }
            batch = at_least.min(enough);
        }
        (enough, true)
    }

    /// Requests a second of one copy with `batch` in flight.
    fn requests_per_s(&self, copy: &ServingPlan, batch: u32) -> f64 {
        self.pace(&ServingPlan { batch, ..*copy }).requests_per_s
    }

    /// Pace of one copy.
    fn pace(&self, plan: &ServingPlan) -> Pace {
        let key = (plan.tensor_parallel, plan.pipeline_parallel, plan.batch);
        if let Some(known) = self.known.borrow().pace.get(key) {
            return known;
        }
        let pace = pace(&self.job, plan, &self.node);
        self.known.borrow_mut().pace.insert(key, pace);
        pace
    }

    /// Requests in flight that fit on one copy.
    fn largest_batch(&self, plan: &ServingPlan) -> u32 {
        let key = (plan.tensor_parallel, plan.pipeline_parallel);
        if let Some(known) = self.known.borrow().fitting.get(key) {
            return known;
        }
        let fitting = largest_batch(&self.job, plan, &self.node, self.usable_bytes).min(MOST_BATCH);
        self.known.borrow_mut().fitting.insert(key, fitting);
        fitting
    }

    /// Most requests in flight on one copy, up to `fitting`, with both targets met.
    fn largest_meeting_targets(&self, plan: &ServingPlan, fitting: u32) -> u32 {
        if self.ttft_target_s.is_infinite() && self.tpot_target_s.is_infinite() {
            return fitting;
        }
        let key = (plan.tensor_parallel, plan.pipeline_parallel);
        if let Some(known) = self.known.borrow().meeting.get(key) {
            return known;
        }
        let copy = self.plan(1, plan.tensor_parallel, plan.pipeline_parallel, 1);
        let meets = |batch: u32| {
            let pace = self.pace(&ServingPlan { batch, ..copy });
            pace.ttft_s <= self.ttft_target_s && pace.tpot_s <= self.tpot_target_s
        };
        let (mut low, mut high) = (0, fitting.saturating_add(1));
        while high - low > 1 {
            let middle = low.midpoint(high);
            if meets(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.known.borrow_mut().meeting.insert(key, low);
        low
    }

    fn memory(&self, plan: &ServingPlan) -> MemoryEstimate {
        memory(&self.job, plan, &self.node)
    }

    fn plan(&self, replicas: u32, tensor: u32, pipeline: u32, batch: u32) -> ServingPlan {
        ServingPlan {
            cards: replicas * tensor * pipeline,
            replicas,
            tensor_parallel: tensor,
            pipeline_parallel: pipeline,
            batch,
        }
    }

    /// The layout with the smallest share of weights on a card.
    fn most_split(&self, cards: u32) -> Option<ServingPlan> {
        self.tensor_widths(cards)
            .into_iter()
            .filter_map(|tensor| {
                let deepest = self.pipeline_depths(cards, tensor).into_iter().max()?;
                let replicas = cards / (tensor * deepest);
                let batch = match self.load {
                    Load::Concurrency(all) if !self.in_bulk => all.max(1).div_ceil(replicas),
                    _ => 1,
                };
                Some(self.plan(replicas, tensor, deepest, batch.min(MOST_BATCH)))
            })
            .max_by_key(|p| (p.tensor_parallel * p.pipeline_parallel, p.tensor_parallel))
    }

    fn tensor_widths(&self, cards: u32) -> Vec<u32> {
        let most = self.node.cards_per_node.min(cards);
        match self.fixed_tensor {
            Some(ways) => Some(ways)
                .filter(|w| *w > 0 && cards.is_multiple_of(*w))
                .into_iter()
                .collect(),
            None => powers_of_two(most)
                .filter(|w| cards.is_multiple_of(*w))
                .filter(|w| self.job.model.transformer.splits_into(*w))
                .collect(),
        }
    }

    fn pipeline_depths(&self, cards: u32, tensor: u32) -> Vec<u32> {
        let rest = cards / tensor.max(1);
        let layers = self.job.model.transformer.layers;
        // More copies than people who wait would leave some idle.
        let most_copies = match self.load {
            Load::Concurrency(all) if !self.offline => all.max(1),
            _ => u32::MAX,
        };
        let mut depths: Vec<u32> = powers_of_two(rest.min(layers))
            .chain([3, 5, 6, 7])
            .filter(|s| rest.is_multiple_of(*s) && splits_layers(layers, *s))
            .filter(|s| rest / s <= most_copies && tensor * s <= self.most_cards_of_copy)
            .collect();
        order::sort_by(&mut depths, Ord::cmp);
        depths
    }
}

fn note_least(found: &mut Found, plan: ServingPlan, memory: MemoryEstimate) {
    let less = |(_, known): &(ServingPlan, MemoryEstimate)| {
        memory.needed_bytes.high < known.needed_bytes.high
    };
    if found.least.as_ref().is_none_or(less) {
        found.least = Some((plan, memory));
    }
}
