//! Layouts of jobs that are counted in images, clips, samples, hours of audio or operations.

use super::{Fitness, WORTH_THE_TROUBLE, powers_of_two};
use crate::catalog::{Card, DiffusionModel, Network, Node, Workload};
use crate::dtype::WeightFormat;
use crate::estimate::diffusion::{
    Canvas, DiffusionConstants, GenerationRun, TuningRun, generation_memory, generation_speed,
    tuning_memory, tuning_speed,
};
use crate::estimate::science::{ComputationRun, computation_memory, computation_speed};
use crate::estimate::vision::{
    NetworkRun, SpeechRun, VisionConstants, inference_memory, inference_speed, speech_memory,
    speech_speed, training_memory, training_speed,
};
use crate::estimate::work::{WorkEstimate, WorkPlan, WorkSpeed};
use crate::plan::RentedNode;
use crate::scenario::{
    Computation, DiffusionMethod, DiffusionTraining, Generation, NetworkInference, NetworkTraining,
    PipelineOffload, TrainingPrecision, Transcription,
};

/// A job with what it is about.
#[derive(Debug, Clone)]
pub enum WorkTask<'a> {
    /// Making images or clips.
    Generate(&'a DiffusionModel, Generation),
    /// Training an image or video model.
    TuneDiffusion(&'a DiffusionModel, DiffusionTraining),
    /// Training a network.
    TrainNetwork(&'a Network, NetworkTraining),
    /// Running a network.
    RunNetwork(&'a Network, NetworkInference),
    /// Turning speech into text.
    Transcribe(&'a Network, Transcription),
    /// Scientific computing.
    Compute(&'a Workload, Computation),
}

/// A layout with its estimate.
#[derive(Debug, Clone)]
pub struct PlannedWork {
    /// The layout.
    pub plan: WorkPlan,
    /// Its memory and speed.
    pub estimate: WorkEstimate,
    /// Whether it fits.
    pub fitness: Fitness,
}

/// Estimates of one copy on one card, by layout: a card is asked for in one count after another, and copies that make
/// images or read speech each for themselves are as fast beside others as alone.
#[derive(Debug, Default)]
pub struct CopiesAlone(Vec<(WorkPlan, WorkEstimate)>);

impl CopiesAlone {
    fn estimate(
        &mut self,
        task: &WorkTask<'_>,
        plan: &WorkPlan,
        node: &Node<'_>,
    ) -> Option<WorkEstimate> {
        if !matches!(task, WorkTask::Generate(..) | WorkTask::Transcribe(..)) {
            return task.estimate(plan, node);
        }
        let alone = WorkPlan {
            cards: plan.cards_per_copy,
            copies: 1,
            ..*plan
        };
        let known = self.0.iter().find(|(known, _)| *known == alone);
        let one = match known {
            Some((_, estimate)) => estimate.clone(),
            None => {
                let estimate = task.estimate(&alone, node)?;
                self.0.push((alone, estimate.clone()));
                estimate
            }
        };
        let units_per_s = one.speed.units_per_s.scale(f64::from(plan.copies.max(1)));
        Some(WorkEstimate {
            speed: WorkSpeed {
                units_per_s,
                ..one.speed
            },
            ..one
        })
    }
}

impl WorkTask<'_> {
    /// Units of work in all, as the speed counts them.
    pub fn amount(&self) -> f64 {
        match self {
            Self::Generate(_, job) => job.amount,
            Self::TuneDiffusion(_, job) => f64::from(job.steps) * f64::from(job.batch),
            Self::TrainNetwork(_, job) => job.samples * job.epochs,
            Self::RunNetwork(_, job) => job.amount,
            Self::Transcribe(_, job) => job.amount,
            Self::Compute(_, job) => job.operations / 1e15,
        }
    }

    /// Bytes of weights that each start fetches.
    pub fn model_bytes(&self) -> f64 {
        match self {
            Self::Generate(model, job) => job.weights.bytes_of(model.params_total()) as f64,
            Self::TuneDiffusion(model, _) => model.params_total() as f64 * 2.0,
            Self::TrainNetwork(network, _)
            | Self::RunNetwork(network, _)
            | Self::Transcribe(network, _) => network.params as f64 * 4.0,
            Self::Compute(..) => 0.0,
        }
    }

    /// Whether all cards work in step, so that one that is taken away stops all.
    pub fn trains(&self) -> bool {
        matches!(
            self,
            Self::TuneDiffusion(..) | Self::TrainNetwork(..) | Self::Compute(..)
        )
    }

    /// Most cards that can share the work.
    pub fn most_cards(&self) -> u32 {
        match self {
            Self::Generate(_, job) => job.amount.ceil().clamp(1.0, 65_536.0) as u32,
            Self::TuneDiffusion(_, job) => job.batch.max(1),
            _ => u32::MAX,
        }
    }

    /// The best layout over `count` cards: the fastest that fits, else the least memory. `None`
    /// where the card cannot do such work at all.
    pub fn best(&self, count: u32, rented: &RentedNode<'_>) -> Option<PlannedWork> {
        self.best_of_known(count, rented, &mut CopiesAlone::default())
    }

    /// [`Self::best`], with what was estimated for other counts of the same card.
    pub fn best_of_known(
        &self,
        count: u32,
        rented: &RentedNode<'_>,
        known: &mut CopiesAlone,
    ) -> Option<PlannedWork> {
        let usable = rented.node.card.usable_memory_bytes();
        let mut best: Option<PlannedWork> = None;
        // What saves memory only costs time where the same batch fits without it.
        let mut roomy: Vec<WorkPlan> = Vec::new();
        let saves = |plan: &WorkPlan| {
            plan.offload != PipelineOffload::None || plan.tiling || plan.recompute
        };
        for plan in self.layouts(count, rented.node.cards_per_node) {
            let same = |easy: &WorkPlan| {
                (easy.batch, easy.cards_per_copy, easy.sharded)
                    == (plan.batch, plan.cards_per_copy, plan.sharded)
            };
            if saves(&plan) && roomy.iter().any(same) {
                continue;
            }
            let estimate = known.estimate(self, &plan, &rented.node)?;
            let planned = PlannedWork {
                fitness: Fitness::of(&estimate.memory, usable),
                plan,
                estimate,
            };
            if planned.fitness == Fitness::Fits && !saves(&planned.plan) {
                roomy.push(planned.plan);
            }
            let better =
                best.as_ref()
                    .is_none_or(|best| match planned.fitness.cmp(&best.fitness) {
                        std::cmp::Ordering::Less => true,
                        std::cmp::Ordering::Greater => false,
                        std::cmp::Ordering::Equal if planned.fitness == Fitness::Fits => {
                            let speed = |p: &PlannedWork| p.estimate.speed.units_per_s.mid;
                            speed(&planned) > speed(best) * WORTH_THE_TROUBLE
                        }
                        std::cmp::Ordering::Equal => {
                            let high = |p: &PlannedWork| p.estimate.memory.needed_bytes.high;
                            high(&planned) < high(best)
                        }
                    });
            if better {
                best = Some(planned);
            }
        }
        best
    }

    /// Layouts worth trying, the simplest first.
    fn layouts(&self, count: u32, cards_per_node: u32) -> Vec<WorkPlan> {
        let plain = |batch| WorkPlan::copies(count, batch);
        match self {
            Self::Generate(model, job) => generation_layouts(model, job, count, cards_per_node),
            Self::TuneDiffusion(_, job) => tuning_layouts(job, count),
            Self::TrainNetwork(network, job) => match job.batch {
                Some(batch) => vec![plain(batch)],
                None => {
                    let usual = network.usual.batch.max(1);
                    // The usual batch, else half of it, and so on: a larger one trains otherwise.
                    halves(usual).map(plain).collect()
                }
            },
            Self::RunNetwork(_, job) => match job.batch {
                Some(batch) => vec![plain(batch)],
                None => powers_of_two(512).map(plain).collect(),
            },
            Self::Transcribe(_, job) => match job.batch {
                Some(batch) => vec![plain(batch)],
                None => powers_of_two(16).map(plain).collect(),
            },
            Self::Compute(..) => vec![WorkPlan {
                copies: 1,
                cards_per_copy: count,
                ..plain(1)
            }],
        }
    }

    /// Memory and speed of a layout.
    pub fn estimate(&self, plan: &WorkPlan, node: &Node<'_>) -> Option<WorkEstimate> {
        crate::estimate::tally::one();
        let card = node.card;
        let images = DiffusionConstants::embedded();
        let vision = VisionConstants::embedded();
        Some(match self {
            Self::Generate(model, job) => {
                let run = generation_run(model, job);
                WorkEstimate {
                    memory: generation_memory(&run, plan, card, images),
                    speed: generation_speed(&run, plan, node, images),
                }
            }
            Self::TuneDiffusion(model, job) => {
                let run = tuning_run(model, job);
                WorkEstimate {
                    memory: tuning_memory(&run, plan, card, images),
                    speed: tuning_speed(&run, plan, node, images),
                }
            }
            Self::TrainNetwork(network, job) => {
                let run = NetworkRun {
                    network,
                    size: job.size.unwrap_or_else(|| network.usual_size()),
                    weights: format_of(job.precision),
                    runtime: job.runtime,
                    trains: true,
                    lora_rank: job.lora_rank,
                    fused_attention: true,
                    tuned: false,
                };
                WorkEstimate {
                    memory: training_memory(&run, plan, job.optimizer, card, vision),
                    speed: training_speed(&run, plan, node, f64::from(job.cores), vision),
                }
            }
            Self::RunNetwork(network, job) => {
                let run = NetworkRun {
                    network,
                    size: job.size.unwrap_or_else(|| network.usual_size()),
                    weights: job.weights,
                    runtime: job.runtime,
                    trains: false,
                    lora_rank: None,
                    fused_attention: job.fused_attention,
                    tuned: false,
                };
                WorkEstimate {
                    memory: inference_memory(&run, plan, card, vision),
                    speed: inference_speed(&run, plan, card, f64::from(job.cores), vision),
                }
            }
            Self::Transcribe(network, job) => {
                let run = SpeechRun {
                    network,
                    weights: job.weights,
                    beam: job.beam,
                    engine: job.engine,
                };
                WorkEstimate {
                    memory: speech_memory(&run, plan, card, vision),
                    speed: speech_speed(&run, plan, card, vision),
                }
            }
            Self::Compute(workload, job) => {
                let run = ComputationRun {
                    workload,
                    operations: job.operations,
                    flops_per_byte: job.flops_per_byte,
                    working_set_bytes: job.working_set_gb * 1e9,
                    precision: job.precision,
                };
                WorkEstimate {
                    memory: computation_memory(&run, plan),
                    speed: computation_speed(&run, plan, node)?,
                }
            }
        })
    }

    /// Whether a card has units for the format asked for; without them nothing can be said.
    pub fn can_run_on(&self, card: &Card) -> bool {
        let peaks = &card.peak_tflops;
        match self {
            Self::Compute(workload, job) => {
                crate::estimate::science::peak(card, job.precision, workload.matrix_products)
                    .is_some()
            }
            _ => peaks
                .fp16
                .or(peaks.bf16)
                .or(peaks.fp16_vector)
                .or(peaks.fp32)
                .is_some(),
        }
    }
}

/// Format in which a network is trained.
fn format_of(precision: TrainingPrecision) -> WeightFormat {
    match precision {
        TrainingPrecision::Fp32 => WeightFormat::Fp32,
        TrainingPrecision::Fp16 => WeightFormat::Fp16,
        TrainingPrecision::Fp8 => WeightFormat::Fp8,
        TrainingPrecision::Bf16 | TrainingPrecision::PureBf16 => WeightFormat::Bf16,
    }
}

fn halves(from: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(from), |n| (*n > 1).then_some(n / 2))
}

fn canvas(width: u32, height: u32, frames: u32) -> Canvas {
    Canvas {
        width: f64::from(width),
        height: f64::from(height),
        frames,
    }
}

fn generation_run<'a>(model: &'a DiffusionModel, job: &Generation) -> GenerationRun<'a> {
    // Compiled code brings activations to eight bits too; layer by layer, weights are expanded.
    let narrow = job.runtime != crate::scenario::Runtime::Eager
        && matches!(
            job.weights,
            WeightFormat::Fp8 | WeightFormat::Int8 | WeightFormat::Nvfp4
        );
    GenerationRun {
        model,
        canvas: canvas(job.width, job.height, job.frames),
        steps: job.steps,
        guidance: job.guidance,
        weights: job.weights,
        text_weights: job.weights,
        narrow,
        runtime: job.runtime,
        fused_attention: true,
        tf32: false,
        reserved: false,
        sliced: false,
        denoising_alone: false,
    }
}

fn tuning_run<'a>(model: &'a DiffusionModel, job: &DiffusionTraining) -> TuningRun<'a> {
    TuningRun {
        model,
        method: job.method,
        canvas: canvas(job.width, job.height, job.frames),
        weights: job.weights,
        precision: job.precision,
        optimizer: job.optimizer,
        lora_rank: job.lora_rank,
        cached: job.cached,
        global_batch: job.batch,
    }
}

fn generation_layouts(
    model: &DiffusionModel,
    job: &Generation,
    count: u32,
    cards_per_node: u32,
) -> Vec<WorkPlan> {
    use PipelineOffload as P;
    /// Images at once that are tried unasked.
    const MOST_AT_ONCE: u32 = 8;
    let batches: Vec<u32> = match (job.batch, model.medium) {
        (Some(batch), _) => vec![batch],
        (None, crate::catalog::Medium::Video) => vec![1],
        (None, crate::catalog::Medium::Image) => powers_of_two(MOST_AT_ONCE).collect(),
    };
    let offloads = match job.offload {
        Some(one) => vec![one],
        None => vec![P::None, P::Model, P::Sequential],
    };
    let tilings = match job.tiling {
        Some(one) => vec![one],
        None => vec![false, true],
    };
    // Cards share a sample only where one alone has to do without some weights.
    let shares = powers_of_two(cards_per_node.min(count))
        .filter(|n| count.is_multiple_of(*n))
        .collect::<Vec<_>>();
    let mut layouts = Vec::new();
    for batch in batches {
        for offload in &offloads {
            for tiling in &tilings {
                for cards_per_copy in &shares {
                    if *cards_per_copy > 1 && *offload != P::None {
                        continue;
                    }
                    layouts.push(WorkPlan {
                        cards: count,
                        copies: count / cards_per_copy,
                        cards_per_copy: *cards_per_copy,
                        batch,
                        offload: *offload,
                        tiling: *tiling,
                        recompute: false,
                        sharded: *cards_per_copy > 1,
                    });
                }
            }
        }
    }
    layouts
}

fn tuning_layouts(job: &DiffusionTraining, count: u32) -> Vec<WorkPlan> {
    let each = job.batch.max(1).div_ceil(count.max(1));
    let again = match job.recompute {
        Some(one) => vec![one],
        None => vec![false, true],
    };
    let sharded: &[bool] = match (job.method, count) {
        (_, 1) | (DiffusionMethod::Lora, _) => &[false],
        (DiffusionMethod::Dreambooth, _) => &[false, true],
    };
    let mut layouts = Vec::new();
    for batch in halves(each) {
        for recompute in &again {
            for sharded in sharded {
                layouts.push(WorkPlan {
                    recompute: *recompute,
                    sharded: *sharded,
                    ..WorkPlan::copies(count, batch)
                });
            }
        }
    }
    layouts
}
