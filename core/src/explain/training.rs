//! Training, explained.

use super::{
    Constant, Explanation, Formula, Term, Unit, figure, memory_sum, product, quotient, term,
};
use crate::catalog::{Card, Model};
use crate::dtype::ComputeDtype;
use crate::estimate::training::{
    Convention, CountedAttention, TrainingConstants, TrainingJob, counted_flops,
};
use crate::estimate::{MemoryPart, TrainingSpeed};
use crate::offers::Offer;
use crate::offers::job::{training_job, training_tokens};
use crate::plan::TrainingPlan;
use crate::scenario::{Training, TrainingMethod, TrainingPrecision};

pub(super) fn explain(
    training: &Training,
    model: &Model,
    card: &Card,
    plan: &TrainingPlan,
    speed: &TrainingSpeed,
    offer: &Offer,
) -> Explanation {
    let job = training_job(training, model);
    Explanation {
        memory: memory(&job, training, plan, offer),
        speed: pace(&job, training, card, plan, speed, offer),
        money: Vec::new(),
        constants: constants(&job, card, plan),
        provenance: TrainingConstants::embedded().provenance.clone(),
    }
}

fn part(offer: &Offer, wanted: MemoryPart) -> Option<f64> {
    offer
        .memory
        .parts
        .iter()
        .find(|(part, _)| *part == wanted)
        .map(|(_, bytes)| *bytes as f64)
}

/// Parts that grow with parameters as parameters on the fullest card times bytes of each; activations as tokens of a
/// micro-batch times bytes of each.
fn memory(
    job: &TrainingJob<'_>,
    training: &Training,
    plan: &TrainingPlan,
    offer: &Offer,
) -> Vec<Term> {
    let mut terms = Vec::new();
    let params = job.model.params_total as f64;
    let of_params = |part_of: MemoryPart, key, reference| {
        let bytes = part(offer, part_of)?;
        Some(term(
            key,
            product([
                figure("params_total", params, Unit::Parameters),
                figure("bytes_each", bytes / params, Unit::Bytes),
            ]),
            Unit::Bytes,
            reference,
        ))
    };
    let zero = Some("Rajbhandari et al. 2020");
    let weights_from = if training.method == TrainingMethod::Qlora {
        Some("Dettmers et al. 2023")
    } else {
        zero
    };
    terms.extend(of_params(MemoryPart::Weights, "weights", weights_from));
    terms.extend(of_params(MemoryPart::MasterWeights, "master", zero));
    terms.extend(of_params(MemoryPart::Gradients, "gradients", zero));
    terms.extend(of_params(MemoryPart::OptimizerStates, "optimizer", zero));
    terms.extend(of_params(MemoryPart::Adapters, "adapters", None));
    let tokens = f64::from(plan.micro_batch) * f64::from(training.seq_len);
    let of_tokens = |part_of: MemoryPart, key, reference| {
        let bytes = part(offer, part_of)?;
        Some(term(
            key,
            product([
                figure("micro_batch", f64::from(plan.micro_batch), Unit::One),
                figure("seq_len", f64::from(training.seq_len), Unit::Tokens),
                figure("bytes_a_token", bytes / tokens, Unit::Bytes),
            ]),
            Unit::Bytes,
            reference,
        ))
    };
    terms.extend(of_tokens(
        MemoryPart::Activations,
        "activations",
        Some("Korthikanti et al. 2022"),
    ));
    terms.extend(of_tokens(MemoryPart::Logits, "logits", None));
    terms.push(memory_sum(offer));
    terms
}

/// FLOPs, the step, tokens a second, how much of the peak that is, hours.
fn pace(
    job: &TrainingJob<'_>,
    training: &Training,
    card: &Card,
    plan: &TrainingPlan,
    speed: &TrainingSpeed,
    offer: &Offer,
) -> Vec<Term> {
    let counted = |attention| {
        counted_flops(
            job,
            Convention {
                attention,
                recompute: false,
                head: true,
            },
        )
    };
    let passes = if job.is_adapter() { 4.0 } else { 6.0 };
    let linear = counted(CountedAttention::None);
    let attention = counted(CountedAttention::Full) - linear;
    let flops = term(
        "flops_per_token",
        Formula::Sum(vec![
            product([
                figure("passes", passes, Unit::One),
                figure("params_active", linear / passes, Unit::Parameters),
            ]),
            figure("attention_flops", attention, Unit::Flops),
        ]),
        Unit::Flops,
        Some("Chowdhery et al. 2022"),
    );
    let step_tokens = term(
        "step_tokens",
        product([
            figure("data_parallel", f64::from(plan.data_parallel), Unit::One),
            figure("micro_batch", f64::from(plan.micro_batch), Unit::One),
            figure("grad_accum", f64::from(plan.grad_accum), Unit::One),
            figure("seq_len", f64::from(training.seq_len), Unit::Tokens),
        ]),
        Unit::Tokens,
        None,
    );
    let p = speed.parts;
    let step = Term {
        range: Some(speed.step_s),
        ..term(
            "step",
            Formula::Sum(
                [
                    ("time_compute", p.compute_s),
                    ("time_memory", p.memory_s),
                    ("time_communication", p.communication_s),
                    ("time_bubble", p.bubble_s),
                    ("time_overhead", p.overhead_s),
                ]
                .into_iter()
                .filter(|(_, seconds)| *seconds > 0.0)
                .map(|(name, seconds)| figure(name, seconds, Unit::Seconds))
                .collect(),
            ),
            Unit::Seconds,
            Some("Williams et al. 2009"),
        )
    };
    let rate = Term {
        range: Some(speed.tokens_per_s),
        ..term(
            "tokens_per_s",
            quotient(
                figure("step_tokens", step_tokens.value(), Unit::Tokens),
                figure("step", step.value(), Unit::Seconds),
            ),
            Unit::TokensPerSecond,
            None,
        )
    };
    let utilisation = peak(training, card).map(|peak| {
        term(
            "mfu",
            quotient(
                product([
                    figure("tokens_per_s", rate.value(), Unit::TokensPerSecond),
                    figure("flops_per_token", flops.value(), Unit::Flops),
                ]),
                product([
                    figure("cards", f64::from(plan.cards), Unit::One),
                    figure("peak", peak, Unit::FlopsPerSecond),
                ]),
            ),
            Unit::Share,
            Some("Chowdhery et al. 2022"),
        )
    });
    let running = quotient(
        figure("tokens", training_tokens(training), Unit::Tokens),
        product([
            figure("tokens_per_s", rate.value(), Unit::TokensPerSecond),
            figure("seconds_per_hour", 3600.0, Unit::One),
        ]),
    );
    // Getting the machine ready, and what interruptions cost.
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
    [flops, step_tokens, step, rate]
        .into_iter()
        .chain(utilisation)
        .chain([hours])
        .collect()
}

/// The dense peak that utilisation is told against, where the datasheet has the format itself.
fn peak(training: &Training, card: &Card) -> Option<f64> {
    let dtype = match training.precision {
        TrainingPrecision::Fp16 => ComputeDtype::Fp16,
        TrainingPrecision::Bf16 | TrainingPrecision::PureBf16 => ComputeDtype::Bf16,
        TrainingPrecision::Fp8 => ComputeDtype::Fp8,
        TrainingPrecision::Fp32 => ComputeDtype::Tf32,
    };
    card.peak_tflops.flops_per_s(dtype)
}

fn constants(job: &TrainingJob<'_>, card: &Card, plan: &TrainingPlan) -> Vec<Constant> {
    let all = TrainingConstants::embedded();
    let stack = job.stack(plan);
    let software = format!("{stack:?}");
    let (speed, memory) = (all.speed.stack(stack), all.memory.stack(stack));
    let entry = all
        .speed
        .architectures
        .iter()
        .find(|a| a.name == card.architecture);
    let of_card = |key, value| Constant {
        key,
        of: card.architecture.clone(),
        value,
        unit: Unit::Share,
        rows: entry.map(|a| a.rows),
    };
    let of_stack = |key, value, unit| Constant {
        key,
        of: software.clone(),
        value,
        unit,
        rows: None,
    };
    let of_all = |key, value, unit| Constant {
        key,
        of: String::new(),
        value,
        unit,
        rows: None,
    };
    let launch = if job.is_adapter() {
        speed.adapter_launch_s
    } else {
        speed.launch_s
    };
    let activations = if job.is_adapter() {
        memory.adapter_activations
    } else {
        memory.activations
    };
    vec![
        of_card("half_efficiency", all.speed.half_efficiency(card)),
        of_card("attention_share", all.speed.attention_share(card)),
        of_all(
            "bandwidth_efficiency",
            all.speed.bandwidth_efficiency,
            Unit::Share,
        ),
        of_all("link_efficiency", all.speed.link_efficiency, Unit::Share),
        of_stack("elementwise_passes", speed.elementwise_passes, Unit::One),
        of_stack("launch", launch, Unit::Seconds),
        of_stack("activation_factor", activations, Unit::One),
        of_stack("logit_bytes", memory.logit_bytes, Unit::Bytes),
        of_stack("fragmentation", memory.fragmentation, Unit::Share),
        of_all("context", all.memory.context_bytes, Unit::Bytes),
    ]
}
