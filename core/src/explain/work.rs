//! Images, clips, networks, speech and science, explained.

use super::{Explanation, Formula, Term, Unit, figure, memory_sum, product, quotient, term};
use crate::catalog::Subject;
use crate::estimate::diffusion::DiffusionConstants;
use crate::estimate::vision::VisionConstants;
use crate::estimate::work::{WorkPlan, WorkSpeed, WorkUnit};
use crate::offers::Offer;
use crate::plan::search::WorkTask;

pub(super) fn explain(
    task: &WorkTask<'_>,
    subject: Subject<'_>,
    plan: &WorkPlan,
    speed: &WorkSpeed,
    offer: &Offer,
) -> Explanation {
    let provenance = match task {
        WorkTask::Generate(..) | WorkTask::TuneDiffusion(..) => {
            DiffusionConstants::embedded().provenance.clone()
        }
        WorkTask::TrainNetwork(..) | WorkTask::RunNetwork(..) | WorkTask::Transcribe(..) => {
            VisionConstants::embedded().provenance.clone()
        }
        // Nothing was fitted: what kernels reach stands in the catalog with its source.
        WorkTask::Compute(..) => String::new(),
    };
    Explanation {
        memory: memory(subject, offer),
        speed: pace(task, plan, speed, offer),
        money: Vec::new(),
        constants: Vec::new(),
        provenance,
    }
}

/// Weights as parameters times bytes of each, where the subject has some, and the sum of the parts.
fn memory(subject: Subject<'_>, offer: &Offer) -> Vec<Term> {
    let params = match subject {
        Subject::Diffusion(model) => model.params_total() as f64,
        Subject::Network(network) => network.params as f64,
        Subject::Language(_) | Subject::Workload(_) => 0.0,
    };
    let is_weights = |part: crate::estimate::MemoryPart| {
        use crate::estimate::MemoryPart::{Autoencoder, TextEncoders, Weights};
        matches!(part, Weights | TextEncoders | Autoencoder)
    };
    let bytes: f64 = offer
        .memory
        .parts
        .iter()
        .filter(|(part, _)| is_weights(*part))
        .map(|(_, bytes)| *bytes as f64)
        .sum();
    let weights = (params > 0.0 && bytes > 0.0).then(|| {
        term(
            "weights",
            product([
                figure("params_total", params, Unit::Parameters),
                figure("bytes_each", bytes / params, Unit::Bytes),
            ]),
            Unit::Bytes,
            None,
        )
    });
    weights.into_iter().chain([memory_sum(offer)]).collect()
}

/// Time of a batch, units a second, hours.
fn pace(task: &WorkTask<'_>, plan: &WorkPlan, speed: &WorkSpeed, offer: &Offer) -> Vec<Term> {
    let p = speed.parts;
    let mut parts: Vec<Formula> = [
        ("time_compute", p.compute_s),
        ("time_memory", p.memory_s),
        ("time_communication", p.communication_s),
        ("time_bubble", p.bubble_s),
        ("time_overhead", p.overhead_s),
    ]
    .into_iter()
    .filter(|(_, seconds)| *seconds > 0.0)
    .map(|(name, seconds)| figure(name, seconds, Unit::Seconds))
    .collect();
    let counted: f64 = parts.iter().map(Formula::value).sum();
    let other = speed.batch_s.mid - counted;
    if other.abs() > 1e-9 * speed.batch_s.mid {
        parts.push(figure("time_other", other, Unit::Seconds));
    }
    let batch = Term {
        range: Some(speed.batch_s),
        ..term(
            "batch_time",
            Formula::Sum(parts),
            Unit::Seconds,
            Some("Williams et al. 2009"),
        )
    };
    // What a copy gets out of one batch. It is the batch's size where nothing else sets the pace.
    let copies = f64::from(plan.copies.max(1));
    let each = speed.units_per_s.mid * speed.batch_s.mid / copies;
    let rate = Term {
        range: Some(speed.units_per_s),
        ..term(
            rate_key(speed.unit),
            quotient(
                product([
                    figure("copies", copies, Unit::One),
                    figure("units_of_batch", each, Unit::One),
                ]),
                figure("batch_time", speed.batch_s.mid, Unit::Seconds),
            ),
            Unit::One,
            None,
        )
    };
    let running = quotient(
        figure("units", task.amount(), Unit::One),
        product([
            figure(rate_key(speed.unit), rate.value(), Unit::One),
            figure("seconds_per_hour", 3600.0, Unit::One),
        ]),
    );
    let other = offer.hours.map_or(0.0, |hours| hours.mid) - running.value();
    let hours = Term {
        range: offer.hours,
        ..term(
            "hours",
            if other > 1e-6 * running.value() {
                Formula::Sum(vec![running, figure("other_hours", other, Unit::Hours)])
            } else {
                running
            },
            Unit::Hours,
            None,
        )
    };
    vec![batch, rate, hours]
}

/// Key of the name of a rate.
fn rate_key(unit: WorkUnit) -> &'static str {
    match unit {
        WorkUnit::Image => "images_per_s",
        WorkUnit::Clip => "clips_per_s",
        WorkUnit::Sample => "samples_per_s",
        WorkUnit::Sequence => "sequences_per_s",
        WorkUnit::AudioHour => "audio_per_s",
        WorkUnit::PetaOperations => "operations_per_s",
    }
}
