//! Serving, explained.

use super::{
    Constant, Explanation, Formula, Term, Unit, figure, memory_sum, product, quotient, term,
};
use crate::catalog::{Card, Model};
use crate::estimate::serving::ServingConstants;
use crate::estimate::{MemoryPart, ServingSpeed};
use crate::offers::Offer;
use crate::offers::job::usual_engine;
use crate::plan::ServingPlan;
use crate::scenario::Serving;

pub(super) fn explain(
    serving: &Serving,
    model: &Model,
    card: &Card,
    plan: &ServingPlan,
    speed: &ServingSpeed,
    offer: &Offer,
) -> Explanation {
    Explanation {
        memory: memory(serving, model, plan, offer),
        speed: pace(serving, plan, speed),
        money: Vec::new(),
        constants: constants(serving, card),
        provenance: ServingConstants::embedded().provenance.clone(),
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

fn memory(serving: &Serving, model: &Model, plan: &ServingPlan, offer: &Offer) -> Vec<Term> {
    let mut terms = Vec::new();
    let params = model.params_total as f64;
    if let Some(bytes) = part(offer, MemoryPart::Weights) {
        terms.push(term(
            "weights",
            product([
                figure("params_total", params, Unit::Parameters),
                figure("bytes_each", bytes / params, Unit::Bytes),
            ]),
            Unit::Bytes,
            None,
        ));
    }
    if let Some(bytes) = part(offer, MemoryPart::KvCache) {
        let tokens = f64::from(serving.prompt_tokens) + f64::from(serving.written_tokens());
        let requests = f64::from(plan.batch.max(1));
        terms.push(term(
            "kv",
            product([
                figure("requests", requests, Unit::One),
                figure("tokens_of_request", tokens, Unit::Tokens),
                figure("kv_bytes", bytes / requests / tokens.max(1.0), Unit::Bytes),
            ]),
            Unit::Bytes,
            Some("Kwon et al. 2023"),
        ));
    }
    terms.push(memory_sum(offer));
    terms
}

fn pace(serving: &Serving, plan: &ServingPlan, speed: &ServingSpeed) -> Vec<Term> {
    let p = speed.decode_parts;
    // Where guessed tokens are taken the parts are those of a step over the tokens that it gives.
    let step_name = if serving.habits.guesses > 0 {
        "step_for_token"
    } else {
        "decode_step"
    };
    let step = term(
        step_name,
        Formula::Sum(
            [
                ("time_memory", p.memory_s),
                ("time_compute", p.compute_s),
                ("time_communication", p.communication_s),
                ("time_overhead", p.overhead_s),
            ]
            .into_iter()
            .filter(|(_, seconds)| *seconds > 0.0)
            .map(|(name, seconds)| figure(name, seconds, Unit::Seconds))
            .collect(),
        ),
        Unit::Seconds,
        Some("Pope et al. 2022"),
    );
    let others = (speed.tpot_s.mid - step.value()).max(0.0);
    let tpot = Term {
        range: Some(speed.tpot_s),
        ..term(
            "tpot",
            Formula::Sum(vec![
                figure(step_name, step.value(), Unit::Seconds),
                figure("others_prompts", others, Unit::Seconds),
            ]),
            Unit::Seconds,
            None,
        )
    };
    let user = Term {
        range: Some(speed.tokens_per_s_user),
        ..term(
            "tokens_per_s_user",
            quotient(
                figure("one", 1.0, Unit::One),
                figure("tpot", tpot.value(), Unit::Seconds),
            ),
            Unit::TokensPerSecond,
            None,
        )
    };
    let prompt = f64::from(serving.prompt_tokens.max(1));
    let prefill = speed.prefill_tokens_per_s.mid;
    let read = term(
        "prompt_read",
        quotient(
            figure("prompt_tokens", prompt, Unit::Tokens),
            figure("prefill_rate", prefill, Unit::TokensPerSecond),
        ),
        Unit::Seconds,
        Some("Williams et al. 2009"),
    );
    let output = f64::from(serving.written_tokens().max(1));
    let total = Term {
        range: Some(speed.tokens_per_s_total),
        ..term(
            "tokens_per_s_total",
            product([
                figure("requests_per_s", speed.requests_per_s.mid, Unit::One),
                figure("output_tokens", output, Unit::Tokens),
            ]),
            Unit::TokensPerSecond,
            None,
        )
    };
    let load = term(
        "in_flight",
        product([
            figure("replicas", f64::from(plan.replicas), Unit::One),
            figure("batch", f64::from(plan.batch), Unit::One),
        ]),
        Unit::One,
        None,
    );
    vec![load, read, step, tpot, user, total]
}

fn constants(serving: &Serving, card: &Card) -> Vec<Constant> {
    let all = ServingConstants::embedded();
    let kind = serving
        .engine
        .unwrap_or_else(|| usual_engine(card, serving.weights));
    let (architecture, engine) = (all.architectures.of(card), all.engines.of(kind));
    let of_card = |key, value| Constant {
        key,
        of: card.architecture.clone(),
        value,
        unit: Unit::Share,
        rows: None,
    };
    let of_engine = |key, value, unit| Constant {
        key,
        of: format!("{kind:?}"),
        value,
        unit,
        rows: None,
    };
    vec![
        of_card("weights_bandwidth", architecture.bandwidth),
        of_card("products_share", architecture.compute),
        of_engine("engine_bandwidth", engine.bandwidth, Unit::Share),
        of_engine("engine_compute", engine.compute, Unit::Share),
        of_engine("step_host", engine.step_s, Unit::Seconds),
        of_engine("layer_time", engine.layer_s, Unit::Seconds),
        of_engine("request_time", engine.request_s, Unit::Seconds),
        Constant {
            key: "context",
            of: String::new(),
            value: all.memory.context_bytes,
            unit: Unit::Bytes,
            rows: None,
        },
    ]
}
