//! Many requests at once: what prefill costs the decoding requests, and what waits.
//!
//! In a steady state with `n` requests of prompt `p` and answer `o` under way, each has its
//! prompt read once and its answer written in `o` steps. All `n` prompts are read while one
//! answer is written, so that
//!
//! ```text
//! cycle = n * prefill(p) + o * step(n),    requests a second = n / cycle
//! ```
//!
//! which holds for a static batch too. Requests beyond what the engine admits wait.

use super::decode::{Step, step};
use super::memory::admitted;
use super::prefill::prefill_s;
use super::setting::Setting;

/// A copy under load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// Requests under way.
    pub running: f64,
    /// Seconds of prefill that one request costs the copy.
    pub prefill_each_s: f64,
    /// A decoding step.
    pub step: Step,
    /// Seconds in which each running request is served once.
    pub cycle_s: f64,
    /// Seconds to the first token, on average.
    pub ttft_s: f64,
    /// Seconds a further token.
    pub tpot_s: f64,
}

impl Load {
    /// Requests a second of one copy.
    pub fn requests_per_s(&self) -> f64 {
        self.running / self.cycle_s
    }
}

/// Share of the other running requests' prefills that a new request waits for, on average.
const WAIT_SHARE: f64 = 0.35;

/// Seconds of the piece of others' prompts that at most comes between two steps: where prompts are
/// long for their answers, every step carries a full piece, and the requests that decode are those
/// whose prompts are done.
pub(super) fn piece_s(setting: &Setting<'_>, prompt: f64) -> f64 {
    if !setting.facts.mixes_prompts || setting.facts.whole_prompts {
        return f64::INFINITY;
    }
    let piece = f64::from(setting.facts.pass_tokens);
    let fresh = setting.fresh_tokens(prompt);
    let together = (piece / fresh).max(1.0);
    prefill_s(setting, together, prompt) * piece / (fresh * together)
}

/// One copy with `concurrency` requests in flight.
pub(super) fn load(setting: &Setting<'_>, concurrency: f64) -> Load {
    let job = setting.job;
    let prompt = f64::from(job.prompt_tokens.max(1));
    let output = f64::from(job.output_tokens.max(1));
    let running = admitted(setting, concurrency);
    let together = if setting.facts.whole_prompts {
        running
    } else {
        (f64::from(setting.facts.pass_tokens) / setting.fresh_tokens(prompt)).clamp(1.0, running)
    };
    // A server takes requests in beside the card's work: the slower of the two sets the pace.
    let reading_s = prefill_s(setting, together, prompt) / together;
    let prefill_each_s = if setting.details.offline {
        reading_s + setting.engine.sequence_s
    } else {
        reading_s.hypot(setting.engine.request_s)
    };
    let step = step(setting, running, prompt + output / 2.0);
    let cycle_s = running * prefill_each_s + output * step.seconds;
    // Only the steps after a request's own prefill are its own; the others' prefills come
    // between them.
    let others_s = (running - 1.0) * prefill_each_s;
    let steps = (output - 1.0).max(1.0);
    let (first_s, between_s) = if setting.facts.whole_prompts {
        (running * prefill_each_s, 0.0)
    } else {
        (
            prefill_s(setting, 1.0, prompt) + WAIT_SHARE * others_s,
            (1.0 - WAIT_SHARE) * others_s,
        )
    };
    let queue_s = (concurrency - running).max(0.0) * cycle_s / running;
    Load {
        running,
        prefill_each_s,
        step,
        cycle_s,
        ttft_s: setting.engine.request_s + first_s + step.seconds + queue_s,
        tpot_s: step.seconds + (between_s / steps).min(piece_s(setting, prompt)),
    }
}
