//! Layouts of a training job.

mod splits;

use self::splits::{Scope, Split, Whole};
use super::{Fitness, WORTH_THE_TROUBLE, is_near, powers_of_two};
use crate::catalog::Node;
use crate::estimate::training::{TrainingConstants, TrainingJob, card_bytes, memory, speed};
use crate::estimate::{MemoryEstimate, MemoryPart, TrainingSpeed};
use crate::plan::{Offload, Recompute, RentedNode, Sharding, TrainingPlan};
use crate::scenario::{Training, TrainingMethod};

/// Tokens of one micro-batch beyond which matrix products gain nothing.
const MOST_MICRO_BATCH_TOKENS: u32 = 65_536;
/// Tokens of one micro-batch from which recomputing more, for a larger one, does not pay.
const HEALTHY_TOKENS: u32 = 4096;
/// A model is split by tensor or pipeline only where that is faster by this factor: it takes
/// other software.
const WORTH_SPLITTING: f64 = 1.15;
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

/// What a search has found so far.
#[derive(Debug, Default)]
struct Found {
    best: Option<(TrainingPlan, TrainingSpeed)>,
    /// The layout that needs the least memory, bytes at the upper end.
    least: Option<(TrainingPlan, f64)>,
}

impl Found {
    fn note_least(&mut self, plan: TrainingPlan, high_bytes: f64) {
        if self.least.is_none_or(|(_, known)| high_bytes < known) {
            self.least = Some((plan, high_bytes));
        }
    }

    fn note(&mut self, plan: TrainingPlan, speed: TrainingSpeed) {
        let ways = |plan: &TrainingPlan| plan.tensor_parallel * plan.pipeline_parallel;
        let faster = |(simpler, known): &(TrainingPlan, TrainingSpeed)| {
            let worth = if ways(simpler) == 1 && ways(&plan) > 1 {
                WORTH_SPLITTING
            } else {
                WORTH_THE_TROUBLE
            };
            speed.tokens_per_s.mid > known.tokens_per_s.mid * worth
        };
        if self.best.as_ref().is_none_or(faster) {
            self.best = Some((plan, speed));
        }
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
            whole: Whole::default(),
        };
        search.measure_whole();
        search
    }

    /// The fastest layout over `cards` cards that fits; where none fits, the one that needs the
    /// least memory. `None` where no layout uses that many cards as the fixed fields ask.
    ///
    /// `smaller` is the answer for about half as many cards: the search then stays near it.
    pub fn best(&self, cards: u32, smaller: Option<&TrainingPlan>) -> Option<PlannedTraining> {
        let mut found = self.look(cards, smaller);
        if let Some((plan, speed)) = found.best {
            return Some(PlannedTraining {
                plan,
                memory: self.memory(&plan),
                fitness: Fitness::Fits,
                speed: Some(speed),
            });
        }
        self.note_frugal_splits(cards, &mut found);
        let (plan, _) = found.least?;
        let memory = self.memory(&plan);
        let fitness = Fitness::of(&memory, self.usable_bytes);
        let runs = fitness != Fitness::TooSmall;
        Some(PlannedTraining {
            plan,
            memory,
            fitness,
            speed: runs.then(|| self.speed(&plan)),
        })
    }

    /// Whether any layout over `cards` cards fits.
    pub fn fits(&self, cards: u32) -> bool {
        self.look(cards, None).best.is_some()
    }

    /// Model chunks of a pipeline stage that `plan` is run with: the interleaved schedule
    /// (Narayanan et al. 2021) needs a whole number of rounds and of blocks.
    pub fn pipeline_chunks(&self, plan: &TrainingPlan) -> u32 {
        /// More chunks save little and cost a message each.
        const MOST_CHUNKS: u32 = 4;
        let stages = plan.pipeline_parallel.max(1);
        let even = plan.grad_accum.is_multiple_of(stages);
        if stages == 1 || !even || self.is_adapter() {
            return 1;
        }
        let blocks = self.job.model.transformer.layers.div_ceil(stages);
        powers_of_two(MOST_CHUNKS)
            .filter(|chunks| blocks.is_multiple_of(*chunks))
            .last()
            .unwrap_or(1)
    }

    /// From the layouts that people try first to those that they fall back on.
    fn look(&self, cards: u32, near: Option<&TrainingPlan>) -> Found {
        let mut found = Found::default();
        if cards == 0 {
            return found;
        }
        // Fine-tuning software shards data parallelism; splitting the model itself is for when
        // that does not fit.
        let data_only = self.job.method != TrainingMethod::Pretrain;
        let plain = Scope {
            cards,
            context: 1,
            model_parallel: !data_only,
            offload: self.fixed.offload.unwrap_or(Offload::None),
            near,
        };
        self.try_splits(plain, &mut found);
        if found.best.is_none() && data_only {
            let split = Scope {
                model_parallel: true,
                ..plain
            };
            self.try_splits(split, &mut found);
        }
        if found.best.is_none() && self.job.seq_len >= LONG_SEQUENCE {
            for context in powers_of_two(cards.min(self.node.cards_per_node)).skip(1) {
                let long = Scope {
                    context,
                    model_parallel: true,
                    near: None,
                    ..plain
                };
                self.try_splits(long, &mut found);
                if found.best.is_some() {
                    break;
                }
            }
        }
        if found.best.is_none() && self.may_offload(cards) {
            for offload in [Offload::Optimizer, Offload::All] {
                let offloaded = Scope {
                    model_parallel: false,
                    offload,
                    near: None,
                    ..plain
                };
                self.try_splits(offloaded, &mut found);
                if found.best.is_some() {
                    break;
                }
            }
        }
        found
    }

    pub(super) fn is_adapter(&self) -> bool {
        self.job.is_adapter()
    }

    /// States are moved to the host only for whole-weight training inside one machine.
    fn may_offload(&self, cards: u32) -> bool {
        self.fixed.offload.is_none() && !self.is_adapter() && cards <= self.node.cards_per_node
    }

    /// Reads the model's whole states and the range's width off one estimate.
    fn measure_whole(&mut self) {
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
        let memory = self.memory(&one);
        let part = |wanted: MemoryPart| {
            let of_part = memory.parts.iter().filter(|(part, _)| *part == wanted);
            of_part.map(|(_, bytes)| *bytes as f64).sum::<f64>()
        };
        let model = self.job.model;
        self.whole = Whole {
            weights: part(MemoryPart::Weights),
            gradients: part(MemoryPart::Gradients),
            states: part(MemoryPart::MasterWeights) + part(MemoryPart::OptimizerStates),
            expert_share: model.transformer.routed_expert_params() as f64
                / (model.params_total as f64).max(1.0),
        };
    }

    fn try_splits(&self, scope: Scope<'_>, found: &mut Found) {
        let Scope {
            cards,
            context,
            near,
            ..
        } = scope;
        let depths_tried = if near.is_some_and(|n| n.pipeline_parallel == 1) {
            1
        } else {
            DEPTHS_TRIED
        };
        for tensor in self.tensor_widths(scope) {
            if near.is_some_and(|n| !is_near(tensor, n.tensor_parallel)) {
                continue;
            }
            let mut depths = 0;
            for pipeline in self.pipeline_depths(scope, tensor) {
                let far =
                    |n: &TrainingPlan| pipeline > 1 && !is_near(pipeline, n.pipeline_parallel);
                if near.is_some_and(far) {
                    continue;
                }
                let data = cards / (context * tensor * pipeline);
                let Some(most) = self.largest_even_micro_batch(data) else {
                    continue;
                };
                let mut possible = false;
                for expert in self.expert_widths(data) {
                    let split = Split {
                        data,
                        tensor,
                        pipeline,
                        expert,
                        context,
                        sharding: Sharding::None,
                    };
                    possible |= self.try_shardings(split, most, scope.offload, found);
                }
                depths += usize::from(possible && pipeline > 1);
                if depths == depths_tried {
                    break;
                }
            }
            let simple = |(plan, _): &(TrainingPlan, _)| {
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
    fn try_shardings(&self, split: Split, most: u32, offload: Offload, found: &mut Found) -> bool {
        let mut possible = false;
        for sharding in self.shardings(&split) {
            let split = Split { sharding, ..split };
            let (card_bytes, host_bytes) = self.floors(&split, offload);
            let hopeless = card_bytes * FLOOR_SLACK > self.usable_bytes as f64
                || host_bytes > self.host_bytes_per_card && self.fixed.offload.is_none();
            if hopeless {
                continue;
            }
            possible = true;
            // Stronger sharding saves memory that a healthy layout does not need.
            if self.try_split(&split, most, offload, found) {
                break;
            }
        }
        possible
    }

    /// Chooses recomputation and micro-batch of one split; whether it runs well with nothing
    /// recomputed.
    fn try_split(&self, split: &Split, most: u32, offload: Offload, found: &mut Found) -> bool {
        let recomputes = self.recomputes();
        let fewest = if self.fixed.micro_batch.is_some() {
            most
        } else {
            1
        };
        let Some(thriftiest) = recomputes.last() else {
            return false;
        };
        let frugal = self.plan(split, fewest, *thriftiest, offload);
        let frugal_bytes = self.high_bytes(&frugal);
        if frugal_bytes > self.usable_bytes as f64 {
            found.note_least(frugal, frugal_bytes);
            return false;
        }
        for (nth, recompute) in recomputes.iter().enumerate() {
            let layout = |micro_batch| self.plan(split, micro_batch, *recompute, offload);
            let known = (recompute == thriftiest).then_some(frugal_bytes);
            let Some(micro_batch) = self.largest_fitting(&layout, fewest, most, known) else {
                continue;
            };
            let plan = layout(micro_batch);
            found.note(plan, self.speed(&plan));
            if split.pipeline > 1 && self.fixed.micro_batch.is_none() {
                // Smaller micro-batches fill the pipeline better.
                for smaller in [1, 2].into_iter().filter(|m| *m < micro_batch) {
                    let plan = layout(smaller);
                    if self.high_bytes(&plan) <= self.usable_bytes as f64 {
                        found.note(plan, self.speed(&plan));
                    }
                }
            }
            // More recomputation only makes room for a larger micro-batch, which a pipeline does
            // not want and a well-filled card does not need.
            let tokens = micro_batch.saturating_mul(self.job.seq_len);
            if split.pipeline > 1 || micro_batch == most || tokens >= HEALTHY_TOKENS {
                return nth == 0;
            }
        }
        false
    }

    /// The largest power of two from `fewest` to `most` whose layout fits; `known` is what
    /// `fewest` needs, bytes, where that is known already.
    fn largest_fitting(
        &self,
        layout: &dyn Fn(u32) -> TrainingPlan,
        fewest: u32,
        most: u32,
        known: Option<f64>,
    ) -> Option<u32> {
        let usable = self.usable_bytes as f64;
        let at_fewest = known.unwrap_or_else(|| self.high_bytes(&layout(fewest)));
        if at_fewest > usable {
            return None;
        }
        if most <= fewest {
            return Some(fewest);
        }
        let at_most = self.high_bytes(&layout(most));
        if at_most <= usable {
            return Some(most);
        }
        // Memory grows about linearly with the micro-batch: guess, then make sure.
        let per_sequence = (at_most - at_fewest) / f64::from(most - fewest);
        let guess = f64::from(fewest) + (usable - at_fewest) / per_sequence.max(1.0);
        let mut micro_batch = powers_of_two(most / 2)
            .take_while(|m| f64::from(*m) <= guess)
            .last()
            .unwrap_or(fewest);
        while micro_batch > fewest {
            if self.high_bytes(&layout(micro_batch)) <= usable {
                return Some(micro_batch);
            }
            micro_batch /= 2;
        }
        Some(fewest)
    }

    /// Notes layouts that save most, for counts where nothing fits.
    fn note_frugal_splits(&self, cards: u32, found: &mut Found) {
        if cards == 0 || found.least.is_some() {
            return;
        }
        let recompute = self.fixed.recompute.unwrap_or(Recompute::Full);
        let scope = Scope {
            cards,
            context: 1,
            model_parallel: true,
            offload: self.fixed.offload.unwrap_or(Offload::None),
            near: None,
        };
        for tensor in self.tensor_widths(scope).into_iter().rev() {
            let depths = self.pipeline_depths(scope, tensor);
            for pipeline in depths.first().into_iter().chain(depths.last()).copied() {
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
                let micro_batch = self.fixed.micro_batch.unwrap_or(1);
                let plan = self.plan(&split, micro_batch, recompute, scope.offload);
                found.note_least(plan, self.high_bytes(&plan));
            }
            if found.least.is_some() {
                return;
            }
        }
    }

    fn memory(&self, plan: &TrainingPlan) -> MemoryEstimate {
        memory(&self.job_as_run(plan), plan, &self.node)
    }

    fn speed(&self, plan: &TrainingPlan) -> TrainingSpeed {
        let speed = speed(&self.job_as_run(plan), plan, &self.node);
        if self.is_adapter() && plan.pipeline_parallel > 1 {
            return one_stage_at_a_time(speed, f64::from(plan.pipeline_parallel));
        }
        speed
    }

    /// Upper end of memory, bytes, without its parts.
    fn high_bytes(&self, plan: &TrainingPlan) -> f64 {
        let constants = TrainingConstants::embedded();
        let job = self.job_as_run(plan);
        let bytes = card_bytes(&job, plan, &self.node, constants);
        let (range, _) = constants.memory_range(
            bytes.total() as f64,
            bytes.uncertain(),
            &job,
            job.stack(plan),
            self.node.card,
        );
        range.high
    }

    fn job_as_run(&self, plan: &TrainingPlan) -> TrainingJob<'a> {
        let mut job = self.job;
        job.habits.pipeline_chunks = self.pipeline_chunks(plan);
        job
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
}

/// Software that tunes adapters lays a model's blocks over cards and runs them one after another
/// (Transformers' device map): one card works while the others wait.
fn one_stage_at_a_time(speed: TrainingSpeed, stages: f64) -> TrainingSpeed {
    let mut parts = speed.parts;
    parts.bubble_s += (stages - 1.0) * speed.step_s.mid;
    TrainingSpeed {
        step_s: speed.step_s.scale(stages),
        parts,
        tokens_per_s: speed.tokens_per_s.scale(1.0 / stages),
        mfu: speed.mfu / stages,
        basis: speed.basis,
    }
}
