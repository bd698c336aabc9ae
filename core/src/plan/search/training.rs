//! Layouts of a training job.

use super::{Fitness, WORTH_THE_TROUBLE, powers_of_two, splits_layers};
use crate::catalog::Node;
use crate::estimate::training::{TrainingJob, memory, speed};
use crate::estimate::{MemoryEstimate, MemoryPart, TrainingSpeed};
use crate::plan::{Offload, Recompute, RentedNode, Sharding, TrainingPlan};
use crate::scenario::{Training, TrainingMethod};

/// Tokens of one micro-batch beyond which matrix products gain nothing.
const MOST_MICRO_BATCH_TOKENS: u32 = 65_536;
/// Sequences of one step may differ from the wanted number by this factor, so that odd numbers
/// of cards can share them.
const BATCH_TOLERANCE: f64 = 1.25;
/// Pipeline depths tried for one tensor-parallel width, from the shallowest that may fit.
const DEPTHS_TRIED: usize = 3;
/// Largest expert-parallel width tried.
const MOST_EXPERT_PARALLEL: u32 = 64;
/// Sequences from this length on may be split over cards.
const LONG_SEQUENCE: u32 = 16_384;
/// A layout is left out unseen when its states alone, by simple division, pass the card's memory
/// by this factor: the division knows nothing of uneven stages, which only add.
const FLOOR_SLACK: f64 = 0.95;

/// What the user fixed; open fields are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the fields of `Training` of the same names")]
pub struct FixedLayout {
    pub micro_batch: Option<u32>,
    pub recompute: Option<Recompute>,
    pub sharding: Option<Sharding>,
    pub tensor_parallel: Option<u32>,
    pub pipeline_parallel: Option<u32>,
    pub expert_parallel: Option<u32>,
    pub offload: Option<Offload>,
}

impl From<&Training> for FixedLayout {
    fn from(training: &Training) -> Self {
        Self {
            micro_batch: training.micro_batch,
            recompute: training.recompute,
            sharding: training.sharding,
            tensor_parallel: training.tensor_parallel,
            pipeline_parallel: training.pipeline_parallel,
            expert_parallel: training.expert_parallel,
            offload: training.offload,
        }
    }
}

/// A layout with what it needs and gives.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTraining {
    /// Layout.
    pub plan: TrainingPlan,
    /// Memory of the fullest card.
    pub memory: MemoryEstimate,
    /// Whether it fits.
    pub fitness: Fitness,
    /// Speed; `None` where it does not fit.
    pub speed: Option<TrainingSpeed>,
}

/// The search for one job on one kind of card, for every count.
#[derive(Debug, Clone)]
pub struct TrainingSearch<'a> {
    job: TrainingJob<'a>,
    fixed: FixedLayout,
    global_batch: u32,
    node: Node<'a>,
    usable_bytes: u64,
    host_bytes_per_card: f64,
    whole: Whole,
}

/// Bytes of the whole model's states, unsplit.
#[derive(Debug, Clone, Copy)]
struct Whole {
    weights: f64,
    gradients: f64,
    states: f64,
    /// Share of the weights that lies in routed experts.
    expert_share: f64,
}

/// The split of a job over cards, before micro-batch and recomputation are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Split {
    data: u32,
    tensor: u32,
    pipeline: u32,
    expert: u32,
    context: u32,
    sharding: Sharding,
}

/// What a search has found so far.
#[derive(Debug, Default)]
struct Found {
    best: Option<(TrainingPlan, MemoryEstimate, TrainingSpeed)>,
    least: Option<(TrainingPlan, MemoryEstimate)>,
}

impl Found {
    fn note_least(&mut self, plan: TrainingPlan, memory: MemoryEstimate) {
        let less =
            |(_, known): &(_, MemoryEstimate)| memory.needed_bytes.high < known.needed_bytes.high;
        if self.least.as_ref().is_none_or(less) {
            self.least = Some((plan, memory));
        }
    }

    fn note(&mut self, plan: TrainingPlan, memory: &MemoryEstimate, speed: TrainingSpeed) -> bool {
        let faster = |(_, _, known): &(_, _, TrainingSpeed)| {
            speed.tokens_per_s.mid > known.tokens_per_s.mid * WORTH_THE_TROUBLE
        };
        let take = self.best.as_ref().is_none_or(faster);
        if take {
            self.best = Some((plan, memory.clone(), speed));
        }
        take
    }
}

impl<'a> TrainingSearch<'a> {
    /// A search over layouts with about `global_batch` sequences a step.
    pub fn new(
        job: TrainingJob<'a>,
        fixed: FixedLayout,
        global_batch: u32,
        rented: &RentedNode<'a>,
    ) -> Self {
        let mut search = Self {
            job,
            fixed,
            global_batch: global_batch.max(1),
            node: rented.node,
            usable_bytes: rented.node.card.usable_memory_bytes(),
            host_bytes_per_card: rented.host_bytes_per_card,
            whole: Whole {
                weights: 0.0,
                gradients: 0.0,
                states: 0.0,
                expert_share: 0.0,
            },
        };
        search.whole = search.measure_whole();
        search
    }

    /// The fastest layout over `cards` cards that fits; where none fits, the one that needs the
    /// least memory. `None` where no layout uses that many cards as the fixed fields ask.
    ///
    /// `smaller` is the answer for about half as many cards: the search then stays near it.
    pub fn best(&self, cards: u32, smaller: Option<&TrainingPlan>) -> Option<PlannedTraining> {
        if cards == 0 {
            return None;
        }
        let mut found = Found::default();
        let plain = self.fixed.offload.unwrap_or(Offload::None);
        self.try_splits(cards, 1, plain, smaller, &mut found);
        if found.best.is_none() && self.job.seq_len >= LONG_SEQUENCE {
            for context in powers_of_two(cards.min(self.node.cards_per_node)).skip(1) {
                self.try_splits(cards, context, plain, None, &mut found);
                if found.best.is_some() {
                    break;
                }
            }
        }
        if found.best.is_none() && self.may_offload(cards) {
            for offload in [Offload::Optimizer, Offload::All] {
                self.try_splits(cards, 1, offload, None, &mut found);
                if found.best.is_some() {
                    break;
                }
            }
        }
        if let Some((plan, memory, speed)) = found.best {
            return Some(PlannedTraining {
                plan,
                memory,
                fitness: Fitness::Fits,
                speed: Some(speed),
            });
        }
        if found.least.is_none() {
            self.note_frugal_splits(cards, plain, &mut found);
        }
        let (plan, memory) = found.least?;
        let fitness = Fitness::of(&memory, self.usable_bytes);
        let runs = fitness != Fitness::TooSmall;
        Some(PlannedTraining {
            plan,
            memory,
            fitness,
            speed: runs.then(|| speed(&self.job, &plan, &self.node)),
        })
    }

    /// Bytes that software can allocate on one card.
    pub fn usable_bytes(&self) -> u64 {
        self.usable_bytes
    }

    /// States are moved to the host only for whole-weight training inside one machine.
    fn may_offload(&self, cards: u32) -> bool {
        let whole_weights = matches!(
            self.job.method,
            TrainingMethod::Pretrain | TrainingMethod::FullFinetune
        );
        self.fixed.offload.is_none() && whole_weights && cards <= self.node.cards_per_node
    }

    fn measure_whole(&self) -> Whole {
        let one = TrainingPlan {
            cards: 1,
            data_parallel: 1,
            tensor_parallel: 1,
            pipeline_parallel: 1,
            expert_parallel: 1,
            context_parallel: 1,
            sharding: Sharding::None,
            micro_batch: 1,
            grad_accum: 1,
            recompute: Recompute::Full,
            offload: Offload::None,
        };
        let memory = memory(&self.job, &one, &self.node);
        let part = |wanted: MemoryPart| {
            let of_part = memory.parts.iter().filter(|(part, _)| *part == wanted);
            of_part.map(|(_, bytes)| *bytes as f64).sum::<f64>()
        };
        let model = self.job.model;
        Whole {
            weights: part(MemoryPart::Weights),
            gradients: part(MemoryPart::Gradients),
            states: part(MemoryPart::MasterWeights) + part(MemoryPart::OptimizerStates),
            expert_share: model.transformer.routed_expert_params() as f64
                / (model.params_total as f64).max(1.0),
        }
    }

    /// Bytes that no layout of this split goes below.
    fn floor_bytes(&self, split: &Split) -> f64 {
        let ranks = match split.sharding {
            Sharding::Hybrid => (self.node.cards_per_node / split.tensor).clamp(1, split.data),
            _ => split.data * split.context,
        };
        let ranks = f64::from(ranks);
        let by = |from: Sharding| {
            if split.sharding >= from { ranks } else { 1.0 }
        };
        let Whole {
            weights,
            gradients,
            states,
            expert_share,
        } = self.whole;
        // Experts are spread over their ranks whatever the sharding; sharding then has less left.
        let own = |bytes: f64, shards: f64| {
            let experts = shards.max(f64::from(split.expert));
            bytes * ((1.0 - expert_share) / shards + expert_share / experts)
        };
        let all = own(weights, by(Sharding::Zero3))
            + own(gradients, by(Sharding::Zero2))
            + own(states, by(Sharding::Zero1));
        all / f64::from(split.tensor * split.pipeline)
    }

    fn try_splits(
        &self,
        cards: u32,
        context: u32,
        offload: Offload,
        smaller: Option<&TrainingPlan>,
        found: &mut Found,
    ) {
        for tensor in self.tensor_widths(cards, context) {
            if smaller.is_some_and(|s| !near(tensor, s.tensor_parallel)) {
                continue;
            }
            let mut depths = 0;
            for pipeline in self.pipeline_depths(cards, context * tensor) {
                let far = |s: &TrainingPlan| pipeline > 1 && !near(pipeline, s.pipeline_parallel);
                if smaller.is_some_and(far) {
                    continue;
                }
                let data = cards / (context * tensor * pipeline);
                if self.largest_even_micro_batch(data).is_none() {
                    continue;
                }
                let mut possible = false;
                for expert in self.expert_widths(data) {
                    possible |= self.try_shardings(
                        Split {
                            data,
                            tensor,
                            pipeline,
                            expert,
                            context,
                            sharding: Sharding::None,
                        },
                        offload,
                        found,
                    );
                }
                depths += usize::from(possible);
                if depths == DEPTHS_TRIED {
                    break;
                }
            }
            let simple = |(plan, _, _): &(TrainingPlan, MemoryEstimate, _)| {
                plan.tensor_parallel == 1
                    && plan.pipeline_parallel == 1
                    && plan.recompute == Recompute::None
                    && plan.sharding <= Sharding::Zero2
                    && cards <= self.node.cards_per_node
            };
            // Plain data parallelism inside one machine with nothing recomputed: nothing beats it.
            if found.best.as_ref().is_some_and(simple) {
                return;
            }
        }
    }

    /// Tries every sharding of one split; whether any may fit by its states.
    fn try_shardings(&self, split: Split, offload: Offload, found: &mut Found) -> bool {
        let mut possible = false;
        for sharding in self.shardings(&split) {
            let split = Split { sharding, ..split };
            let hopeless = offload == Offload::None
                && self.floor_bytes(&split) * FLOOR_SLACK > self.usable_bytes as f64;
            if hopeless {
                continue;
            }
            possible = true;
            // Stronger sharding saves memory that a layout without recomputation at its largest
            // micro-batch does not need.
            if self.try_split(&split, offload, found) {
                break;
            }
        }
        possible
    }

    /// Chooses recomputation and micro-batch of one split; whether it ran at its largest
    /// micro-batch with nothing recomputed.
    fn try_split(&self, split: &Split, offload: Offload, found: &mut Found) -> bool {
        let Some(most) = self.largest_even_micro_batch(split.data) else {
            return false;
        };
        for (nth, recompute) in self.recomputes().iter().enumerate() {
            let layout = |micro_batch| self.plan(split, micro_batch, *recompute, offload);
            let Some((micro_batch, memory)) = self.largest_fitting(&layout, most, found) else {
                continue;
            };
            let plan = layout(micro_batch);
            if offload != Offload::None && !self.fits_host(&plan, &memory) {
                continue;
            }
            found.note(plan, &memory, speed(&self.job, &plan, &self.node));
            if split.pipeline > 1 && self.fixed.micro_batch.is_none() {
                // Smaller micro-batches fill the pipeline better.
                for smaller in [1, 2, 4].into_iter().filter(|m| *m < micro_batch) {
                    let plan = layout(smaller);
                    let memory = self.memory(&plan);
                    if Fitness::of(&memory, self.usable_bytes) == Fitness::Fits {
                        found.note(plan, &memory, speed(&self.job, &plan, &self.node));
                    }
                }
            }
            if micro_batch == most {
                // More recomputation could only make room for a larger micro-batch.
                return nth == 0;
            }
        }
        false
    }

    /// The largest power of two up to `most` whose layout fits, with its memory.
    fn largest_fitting(
        &self,
        layout: &dyn Fn(u32) -> TrainingPlan,
        most: u32,
        found: &mut Found,
    ) -> Option<(u32, MemoryEstimate)> {
        let usable = self.usable_bytes as f64;
        let at_most = self.memory(&layout(most));
        let high_at_most = at_most.needed_bytes.high;
        if high_at_most <= usable {
            return Some((most, at_most));
        }
        if most == 1 || self.fixed.micro_batch.is_some() {
            found.note_least(layout(most), at_most);
            return None;
        }
        let at_one = self.memory(&layout(1));
        let high_at_one = at_one.needed_bytes.high;
        if high_at_one > usable {
            found.note_least(layout(1), at_one);
            return None;
        }
        // Memory grows about linearly with the micro-batch: guess, then make sure.
        let per_sequence = (high_at_most - high_at_one) / f64::from(most - 1);
        let guess = 1.0 + (usable - high_at_one) / per_sequence.max(1.0);
        let mut micro_batch = powers_of_two(most / 2)
            .take_while(|m| f64::from(*m) <= guess)
            .last()
            .unwrap_or(1);
        while micro_batch > 1 {
            let memory = self.memory(&layout(micro_batch));
            if memory.needed_bytes.high <= usable {
                return Some((micro_batch, memory));
            }
            micro_batch /= 2;
        }
        Some((1, at_one))
    }

    /// Notes the layouts that save most, for counts where nothing can fit.
    fn note_frugal_splits(&self, cards: u32, offload: Offload, found: &mut Found) {
        let recompute = self.fixed.recompute.unwrap_or(Recompute::Full);
        let widths = self.tensor_widths(cards, 1);
        let ends = widths.first().into_iter().chain(widths.last());
        for tensor in ends.copied() {
            let depths = self.pipeline_depths(cards, tensor);
            let ends = depths.first().into_iter().chain(depths.last());
            for pipeline in ends.copied() {
                let data = cards / (tensor * pipeline);
                if self.largest_even_micro_batch(data).is_none() {
                    continue;
                }
                let mut split = Split {
                    data,
                    tensor,
                    pipeline,
                    expert: self.expert_widths(data).last().copied().unwrap_or(1),
                    context: 1,
                    sharding: Sharding::None,
                };
                split.sharding = self
                    .shardings(&split)
                    .last()
                    .copied()
                    .unwrap_or(Sharding::None);
                let plan = self.plan(
                    &split,
                    self.fixed.micro_batch.unwrap_or(1),
                    recompute,
                    offload,
                );
                found.note_least(plan, self.memory(&plan));
            }
        }
    }

    fn memory(&self, plan: &TrainingPlan) -> MemoryEstimate {
        memory(&self.job, plan, &self.node)
    }

    /// Whether what an offloaded layout keeps on the host fits a card's share of host memory.
    fn fits_host(&self, plan: &TrainingPlan, offloaded: &MemoryEstimate) -> bool {
        let kept = self.memory(&TrainingPlan {
            offload: Offload::None,
            ..*plan
        });
        let moved = kept.needed_bytes.mid - offloaded.needed_bytes.mid;
        moved <= self.host_bytes_per_card
    }

    fn plan(
        &self,
        split: &Split,
        micro_batch: u32,
        recompute: Recompute,
        offload: Offload,
    ) -> TrainingPlan {
        TrainingPlan {
            cards: split.data * split.context * split.tensor * split.pipeline,
            data_parallel: split.data,
            tensor_parallel: split.tensor,
            pipeline_parallel: split.pipeline,
            expert_parallel: split.expert,
            context_parallel: split.context,
            sharding: split.sharding,
            micro_batch,
            grad_accum: self.grad_accum(split.data, micro_batch).unwrap_or(1),
            recompute,
            offload,
        }
    }

    /// Micro-batches of one step for about the wanted global batch; `None` where the ranks cannot
    /// share it.
    fn grad_accum(&self, data: u32, micro_batch: u32) -> Option<u32> {
        let together = f64::from(data) * f64::from(micro_batch);
        let steps = (f64::from(self.global_batch) / together).round().max(1.0);
        let ratio = steps * together / f64::from(self.global_batch);
        let near = (1.0 / BATCH_TOLERANCE..=BATCH_TOLERANCE).contains(&ratio);
        near.then_some(steps as u32)
    }

    /// The largest micro-batch worth trying on `data` ranks, or the fixed one; `None` where the
    /// ranks are more than the sequences of a step.
    fn largest_even_micro_batch(&self, data: u32) -> Option<u32> {
        if let Some(fixed) = self.fixed.micro_batch {
            return Some(fixed.max(1));
        }
        let most = (MOST_MICRO_BATCH_TOKENS / self.job.seq_len.max(1)).max(1);
        powers_of_two(most.min(self.global_batch))
            .filter(|m| self.grad_accum(data, *m).is_some())
            .last()
    }

    fn recomputes(&self) -> &'static [Recompute] {
        match self.fixed.recompute {
            Some(Recompute::None) => &[Recompute::None],
            Some(Recompute::Selective) => &[Recompute::Selective],
            Some(Recompute::Full) => &[Recompute::Full],
            // Fused attention keeps no scores, so there is nothing to select.
            None if self.job.flash_attention => &[Recompute::None, Recompute::Full],
            None => &[Recompute::None, Recompute::Selective, Recompute::Full],
        }
    }

    fn tensor_widths(&self, cards: u32, context: u32) -> Vec<u32> {
        let most = self.node.cards_per_node.min(cards);
        let divides = |ways: u32| ways > 0 && cards.is_multiple_of(ways * context);
        match self.fixed.tensor_parallel {
            Some(ways) => Some(ways).filter(|w| divides(*w)).into_iter().collect(),
            None => powers_of_two(most)
                .filter(|w| divides(*w) && self.job.model.transformer.splits_into(*w))
                .collect(),
        }
    }

    fn pipeline_depths(&self, cards: u32, inner: u32) -> Vec<u32> {
        let rest = cards / inner.max(1);
        let layers = self.job.model.transformer.layers;
        let divides = |stages: &u32| *stages > 0 && rest.is_multiple_of(*stages);
        match self.fixed.pipeline_parallel {
            Some(stages) => Some(stages).filter(divides).into_iter().collect(),
            None => powers_of_two(rest.min(layers))
                .chain([3, 5, 6, 7].into_iter().filter(|s| *s == rest))
                .filter(|s| divides(s) && splits_layers(layers, *s))
                .collect(),
        }
    }

    fn expert_widths(&self, data: u32) -> Vec<u32> {
        let Some(experts) = &self.job.model.transformer.experts else {
            return vec![1];
        };
        let divides = |ways: &u32| {
            *ways > 0 && data.is_multiple_of(*ways) && experts.experts.is_multiple_of(*ways)
        };
        if let Some(ways) = self.fixed.expert_parallel {
            return Some(ways).filter(divides).into_iter().collect();
        }
        let all = powers_of_two(MOST_EXPERT_PARALLEL.min(data))
            .filter(divides)
            .collect::<Vec<_>>();
        let in_node = |w: &&u32| **w <= self.node.cards_per_node;
        let mut widths = vec![1];
        widths.extend(all.iter().rfind(in_node));
        widths.extend(all.last());
        widths.dedup();
        widths
    }

    /// From the simplest to the one that saves most.
    fn shardings(&self, split: &Split) -> Vec<Sharding> {
        if let Some(fixed) = self.fixed.sharding {
            return vec![fixed];
        }
        if split.data * split.context == 1 {
            return vec![Sharding::None];
        }
        let adapters = matches!(
            self.job.method,
            TrainingMethod::Lora | TrainingMethod::Qlora
        );
        let many_nodes =
            split.data * split.context * split.tensor * split.pipeline > self.node.cards_per_node;
        match (split.pipeline > 1, adapters) {
            (true, true) => vec![Sharding::None],
            // Gathering weights for every micro-batch of every stage is not done in practice.
            (true, false) => vec![Sharding::Zero1],
            (false, true) => vec![Sharding::None, Sharding::Zero3],
            (false, false) if many_nodes => vec![
                Sharding::Zero1,
                Sharding::Zero2,
                Sharding::Hybrid,
                Sharding::Zero3,
            ],
            (false, false) => vec![
                Sharding::None,
                Sharding::Zero1,
                Sharding::Zero2,
                Sharding::Zero3,
            ],
        }
    }
}

/// Whether `a` is `b`, its half or its double.
fn near(a: u32, b: u32) -> bool {
    a == b || a == b * 2 || a * 2 == b
}
