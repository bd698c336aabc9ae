//! Serving: memory and speed of one layout.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `weights`, `kv` | bytes of weights and of the KV cache, exactly |
//! | `memory` | what a card needs, what it admits |
//! | `engine` | what each engine does by design |
//! | `setting` | a layout with its rooflines |
//! | `host` | what the host adds to a pass |
//! | `decode`, `prefill` | one step, one prompt |
//! | `speculation` | guessed tokens |
//! | `batching` | many requests at once |
//! | `constants`, `fitted` | what is fitted to measurements |
//!
//! Formulas and their sources: `docs/estimator-serving.md`.

mod batching;
pub(crate) mod constants;
mod decode;
mod engine;
mod fitted;
mod host;
mod kv;
mod memory;
mod prefill;
mod probe;
mod setting;
mod speculation;
mod weights;

pub use constants::{
    ArchitectureConstants, Architectures, EngineConstants, Engines, KernelConstants, LinkConstants,
    MemoryConstants, ServingConstants,
};
pub use engine::{AnswerLengths, EngineFacts, RunDetails};
pub use kv::{card_bytes as kv_card_bytes, card_elements as kv_card_elements, element_bytes};
pub use memory::CardBytes;
pub use probe::{Probe, Quantity, early_kind_name, early_ollama_kind_name, kind_name};
pub use weights::{WeightBytes, card_weight_bytes, weight_bytes};

use super::{Basis, MemoryEstimate, MemoryPart, ServingSpeed};
use crate::catalog::{Model, Node};
use crate::dtype::{KvFormat, WeightFormat};
use crate::plan::ServingPlan;
use crate::range::Range;
use crate::scenario::{Engine, Habits};
use setting::Setting;

/// What is served and how: everything about a serving job that is not its layout.
#[derive(Debug, Clone, Copy)]
pub struct ServingJob<'a> {
    /// The model.
    pub model: &'a Model,
    /// Format of the weights.
    pub weights: WeightFormat,
    /// Format of the KV cache.
    pub kv: KvFormat,
    /// Engine.
    pub engine: Engine,
    /// Tokens of a prompt, mean.
    pub prompt_tokens: u32,
    /// Tokens that are written for one request, reasoning included, mean.
    pub output_tokens: u32,
    /// How requests are made and answered.
    pub habits: Habits,
}

/// Memory of the fullest card of `plan` with `plan.batch` requests at their full length, bytes.
pub fn memory(job: &ServingJob<'_>, plan: &ServingPlan, node: &Node<'_>) -> MemoryEstimate {
    memory_with(job, plan, node, ServingConstants::embedded())
}

/// [`memory`] with other constants.
pub fn memory_with(
    job: &ServingJob<'_>,
    plan: &ServingPlan,
    node: &Node<'_>,
    constants: &ServingConstants,
) -> MemoryEstimate {
    let setting = Setting::new(job, plan, node, constants, RunDetails::default());
    let bytes = memory::card_bytes(&setting, f64::from(plan.batch));
    let parts = [
        (MemoryPart::Weights, bytes.weights),
        (MemoryPart::KvCache, bytes.kv_cache),
        (MemoryPart::Activations, bytes.activations),
        (MemoryPart::Logits, bytes.logits),
        (MemoryPart::Communication, bytes.communication),
        (MemoryPart::Framework, bytes.workspace + bytes.context),
    ];
    let parts: Vec<(MemoryPart, u64)> = parts
        .into_iter()
        .map(|(part, bytes)| (part, bytes.round() as u64))
        .filter(|(_, bytes)| *bytes > 0)
        .collect();
    let mid = parts.iter().map(|(_, bytes)| *bytes as f64).sum();
    let (unit, basis) =
        constants
            .spread
            .memory_range(1.0, node.card, kind_name(Quantity::Memory, job.engine));
    let needed_bytes = needed_range(mid, &bytes, unit, &basis);
    let usable = node.card.usable_memory_bytes() as f64;
    MemoryEstimate {
        parts,
        needed_bytes,
        reserved_bytes: setting
            .facts
            .reserved_share
            .map(|share| (usable * share) as u64),
        basis,
    }
}

/// What is needed around `mid`, the sum of `bytes`: by the residuals `unit` of the engine's
/// measurements, or where it has none by what is arithmetic (weights and cache, good to a few
/// parts in a hundred) and what is not.
fn needed_range(mid: f64, bytes: &CardBytes, unit: Range, basis: &Basis) -> Range {
    /// Share by which weights and cache may be off: padding, formats' own choices.
    const ARITHMETIC: f64 = 0.02;
    /// Share by which working sets and pools may be off.
    const REST: f64 = 0.5;
    if basis.measurements > 0 {
        return unit.scale(mid);
    }
    let arithmetic = bytes.weights + bytes.kv_cache;
    let off = ARITHMETIC * arithmetic + REST * (mid - arithmetic).max(0.0);
    Range {
        low: (mid - off).max(0.0),
        mid,
        high: mid + off,
    }
}

/// Speed of `plan` with `plan.batch` requests in flight on every copy.
pub fn speed(job: &ServingJob<'_>, plan: &ServingPlan, node: &Node<'_>) -> ServingSpeed {
    speed_with(job, plan, node, ServingConstants::embedded())
}

/// [`speed`] with other constants.
pub fn speed_with(
    job: &ServingJob<'_>,
    plan: &ServingPlan,
    node: &Node<'_>,
    constants: &ServingConstants,
) -> ServingSpeed {
    let setting = planned(job, plan, node, constants);
    let load = batching::load(&setting, f64::from(plan.batch.max(1)));
    let copies = f64::from(plan.replicas.max(1));
    let spread = |mid: f64, quantity: Quantity| {
        constants
            .spread
            .range(mid, node.card, kind_name(quantity, job.engine))
    };
    // Residuals are those of speeds, so times are their reciprocals.
    let (together, each) = if plan.batch > 1 {
        (Quantity::Batch, Quantity::Pace)
    } else {
        (Quantity::Decode, Quantity::Decode)
    };
    let per_user = spread(1.0 / load.tpot_s, each).0;
    let (requests, basis) = spread(load.requests_per_s() * copies, together);
    let prefill = spread(1.0 / load.prefill_each_s, Quantity::Prefill)
        .0
        .scale(f64::from(job.prompt_tokens.max(1)));
    let ttft_s = spread(1.0 / load.ttft_s, Quantity::Prefill)
        .0
        .divide_into(1.0);
    let tpot_s = per_user.divide_into(1.0);
    ServingSpeed {
        ttft_s,
        tpot_s,
        answer_s: answer_after(ttft_s, tpot_s, job.habits.thinking_tokens),
        tokens_per_s_user: per_user,
        tokens_per_s_total: requests.scale(f64::from(job.output_tokens.max(1))),
        prefill_tokens_per_s: prefill,
        requests_per_s: requests,
        decode_parts: load.step.parts,
        basis,
    }
}

/// Time to the first token of the answer: reasoning is written before it.
fn answer_after(ttft_s: Range, tpot_s: Range, thinking_tokens: u32) -> Range {
    let thinking = f64::from(thinking_tokens);
    Range {
        low: ttft_s.low + thinking * tpot_s.low,
        mid: ttft_s.mid + thinking * tpot_s.mid,
        high: ttft_s.high + thinking * tpot_s.high,
    }
}

/// The setting of a planned service: whoever runs it lets the engine take what the load needs.
fn planned<'a>(
    job: &'a ServingJob<'a>,
    plan: &ServingPlan,
    node: &'a Node<'a>,
    constants: &'a ServingConstants,
) -> Setting<'a> {
    let details = RunDetails {
        reserved_share: Some(memory::MOST_RESERVED_SHARE),
        offline: job.habits.offline,
        ..RunDetails::default()
    };
    Setting::new(job, plan, node, constants, details)
}

/// Middle values of [`speed`] for one copy of `plan`: what a search over layouts compares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Time to first token, seconds.
    pub ttft_s: f64,
    /// Time per output token, seconds.
    pub tpot_s: f64,
    /// Requests a second.
    pub requests_per_s: f64,
}

/// Pace of one copy of `plan` with `plan.batch` requests in flight.
pub fn pace(job: &ServingJob<'_>, plan: &ServingPlan, node: &Node<'_>) -> Pace {
    let constants = ServingConstants::embedded();
    let setting = planned(job, plan, node, constants);
    let load = batching::load(&setting, f64::from(plan.batch.max(1)));
    Pace {
        ttft_s: load.ttft_s,
        tpot_s: load.tpot_s,
        requests_per_s: load.requests_per_s(),
    }
}

/// Largest number of requests of full length that one copy of `plan` holds in `usable_bytes` a
/// card, counted at the upper end of memory; 0 where the weights alone do not fit.
pub fn largest_batch(
    job: &ServingJob<'_>,
    plan: &ServingPlan,
    node: &Node<'_>,
    usable_bytes: u64,
) -> u32 {
    largest_batch_with(job, plan, node, usable_bytes, ServingConstants::embedded())
}

/// [`largest_batch`] with other constants.
///
/// Memory is the larger of two lines in the batch (while prompts are read, and at full length),
/// so the batch at which it meets the card is found in a few steps of the secant.
pub fn largest_batch_with(
    job: &ServingJob<'_>,
    plan: &ServingPlan,
    node: &Node<'_>,
    usable_bytes: u64,
    constants: &ServingConstants,
) -> u32 {
    /// No engine runs more.
    const MOST: f64 = 65_536.0;
    let setting = Setting::new(job, plan, node, constants, RunDetails::default());
    let (unit, basis) =
        constants
            .spread
            .memory_range(1.0, node.card, kind_name(Quantity::Memory, job.engine));
    let room = usable_bytes as f64;
    let needed = |batch: f64| {
        let bytes = memory::card_bytes(&setting, batch);
        needed_range(bytes.total(), &bytes, unit, &basis).high
    };
    let empty = needed(0.0);
    if needed(1.0) > room {
        return 0;
    }
    // A convex function lies below its chords: the secant from the empty card never passes the
    // crossing from above, and each step comes nearer.
    let mut batch = MOST;
    for _ in 0..8 {
        let at = needed(batch);
        if at <= room {
            break;
        }
        batch = (batch * (room - empty) / (at - empty)).floor().max(1.0);
    }
    while batch > 1.0 && needed(batch) > room {
        batch -= 1.0;
    }
    while batch < MOST && needed(batch + 1.0) <= room {
        batch += 1.0;
    }
    batch as u32
}
