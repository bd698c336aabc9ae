//! Images and clips a minute, and how many cameras or speakers a card keeps up with.

use serde::Serialize;

use crate::catalog::{Card, Catalog, Medium, Network, NetworkTask};
use crate::dtype::WeightFormat;
use crate::estimate::work::WorkPlan;
use crate::plan::search::{Fitness, PlannedWork, WorkTask};
use crate::plan::{RentedNode, rented_node};
use crate::range::Range;
use crate::scenario::{
    ModelChoice, PipelineOffload, usual_generation, usual_network_inference, usual_transcription,
};

/// Frames a second of a usual camera.
pub const USUAL_FRAMES_PER_S: f64 = 25.0;

/// How fast one image or video model makes what it is usually asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImageReach {
    /// Model id.
    pub model: String,
    /// Images, or clips.
    pub medium: Medium,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames of a clip; 1 for an image.
    pub frames: u32,
    /// Denoising steps.
    pub steps: u32,
    /// Format of the weights with which it fits: 16 bit where it does.
    pub weights: WeightFormat,
    /// What waits in host memory.
    pub offload: PipelineOffload,
    /// Images or clips a minute over all cards; `None`: it does not fit in any way.
    pub per_minute: Option<Range>,
}

/// How many streams one network follows in real time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StreamReach {
    /// Network id.
    pub network: String,
    /// What it does.
    pub task: NetworkTask,
    /// Frames a second of each stream; 0 for speech.
    pub frames_per_s: f64,
    /// Frames a second over all streams that the cards look at, batched as the network likes; for
    /// speech, seconds of audio a second.
    pub throughput: Range,
    /// Streams of which every frame is done before the next one comes (speech: that are kept up with),
    /// by the slow end of the estimate.
    pub streams: u32,
    /// Seconds from a frame to its answer at so many streams, the middle; speech: of a window of 30 s.
    pub delay_s: f64,
}

/// Every image and video model on `count` cards, each as it is usually run.
pub fn images(catalog: &Catalog, card: &Card, count: u32) -> Vec<ImageReach> {
    let rented = rented_node(card);
    let models = catalog.diffusion.iter();
    models
        .map(|model| {
            let usual = usual_generation(&ModelChoice::Catalog(model.id.clone()));
            let fitting = ways().find_map(|(weights, offload)| {
                let mut job = usual.clone();
                (job.weights, job.offload) = (weights, Some(offload));
                let planned = WorkTask::Generate(model, job).best(count, &rented)?;
                (planned.fitness == Fitness::Fits).then_some((weights, offload, planned))
            });
            let (weights, offload) = fitting
                .as_ref()
                .map_or((usual.weights, PipelineOffload::None), |f| (f.0, f.1));
            ImageReach {
                model: model.id.clone(),
                medium: model.medium,
                width: usual.width,
                height: usual.height,
                frames: usual.frames,
                steps: usual.steps,
                weights,
                offload,
                per_minute: fitting.map(|(.., p)| p.estimate.speed.units_per_s.scale(60.0)),
            }
        })
        .collect()
}

/// Ways to hold a model, the least lossy and fastest first.
fn ways() -> impl Iterator<Item = (WeightFormat, PipelineOffload)> {
    use PipelineOffload as P;
    use WeightFormat as W;
    [
        (W::Bf16, P::None),
        (W::Fp8, P::None),
        (W::Bf16, P::Model),
        (W::Fp8, P::Model),
        (W::Nf4, P::Model),
        (W::Bf16, P::Sequential),
    ]
    .into_iter()
}

/// Every network that looks at images, and every recogniser of speech, on `count` cards: how many
/// cameras of `frames_per_s`, or how many speakers, are followed in real time.
pub fn streams(catalog: &Catalog, card: &Card, count: u32, frames_per_s: f64) -> Vec<StreamReach> {
    let rented = rented_node(card);
    let networks = catalog.networks.iter();
    networks
        .filter_map(|network| match network.task {
            NetworkTask::Speech => listeners(network, &rented, count),
            NetworkTask::Text | NetworkTask::ImageText => None,
            _ => cameras(network, &rented, count, frames_per_s),
        })
        .collect()
}

/// One frame of each camera at a time, done before the next ones come.
fn cameras(
    network: &Network,
    rented: &RentedNode<'_>,
    count: u32,
    frames_per_s: f64,
) -> Option<StreamReach> {
    /// Cameras of one card that are looked at.
    const MOST: u32 = 4096;
    let task = WorkTask::RunNetwork(network, usual_network_inference());
    let of = |batch: u32| {
        let plan = WorkPlan::copies(count, batch);
        let estimate = task.estimate(&plan, &rented.node)?;
        let usable = rented.node.card.usable_memory_bytes();
        let fits = Fitness::of(&estimate.memory, usable) == Fitness::Fits;
        fits.then_some(estimate.speed)
    };
    let interval_s = 1.0 / frames_per_s.max(1e-3);
    let in_time = |batch: u32| of(batch).is_some_and(|speed| speed.batch_s.high <= interval_s);
    let each = super::last_true(MOST, in_time).unwrap_or(0);
    let speed = of(each.max(1))?;
    // A frame of each camera can be a larger batch than the usual one, and then goes faster.
    let together = speed
        .batch_s
        .divide_into(f64::from(each) * f64::from(count));
    let usual = frames_a_second(&task.best(count, rented)?, count);
    Some(StreamReach {
        network: network.id.clone(),
        task: network.task,
        frames_per_s,
        throughput: if together.mid > usual.mid {
            together
        } else {
            usual
        },
        streams: each.saturating_mul(count),
        delay_s: speed.batch_s.mid,
    })
}

/// Frames a second of the cards alone: cameras are decoded by the card, not read from disk.
fn frames_a_second(planned: &PlannedWork, count: u32) -> Range {
    let frames = f64::from(planned.plan.batch.max(1)) * f64::from(count.max(1));
    planned.estimate.speed.batch_s.divide_into(frames)
}

/// As many speakers as seconds of audio are transcribed in a second.
fn listeners(network: &Network, rented: &RentedNode<'_>, count: u32) -> Option<StreamReach> {
    const SECONDS_PER_HOUR: f64 = 3600.0;
    let task = WorkTask::Transcribe(network, usual_transcription());
    let planned = task.best(count, rented)?;
    if planned.fitness != Fitness::Fits {
        return None;
    }
    let speed = &planned.estimate.speed;
    let throughput = speed.units_per_s.scale(SECONDS_PER_HOUR);
    Some(StreamReach {
        network: network.id.clone(),
        task: network.task,
        frames_per_s: 0.0,
        throughput,
        streams: throughput.low.max(0.0) as u32,
        delay_s: speed.batch_s.mid,
    })
}
