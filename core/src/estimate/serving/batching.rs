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
//! which holds for a static batch too. Requests beyond what the engine admits wait. Where requests enter as others leave,
//! few enter together, so that an engine that reads prompts in passes of their own has a pass for
//! nearly each of them.

use super::decode::{Step, step};
use super::memory::admitted;
use super::prefill::{prefill_beside_s, prefill_s};
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

/// Requests in flight over those that run beyond which most enter as others leave, not in a first rush.
const FLOWING: f64 = 2.0;

/// Requests that are taken in together where they enter as others leave: of `leaving` a step on average, those of a
/// step in which any leaves.
fn arriving_together(leaving: f64) -> f64 {
    leaving / -(-leaving).exp_m1()
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
    let full =
        (f64::from(setting.facts.pass_tokens) / setting.fresh_tokens(prompt)).clamp(1.0, running);
    let step = step(setting, running, prompt + output / 2.0);
    let arriving = arriving_together(running / output).clamp(1.0, full);
    let reading_s = if setting.facts.whole_prompts {
        prefill_s(setting, running, prompt) / running
    } else if setting.details.at_once && concurrency < FLOWING * running {
        prefill_s(setting, full, prompt) / full
    } else if setting.facts.mixes_prompts {
        // A step with a piece of a prompt is launched like a pass over prompts, which shows where the card is
        // done sooner.
        let launches_s = (setting.prompt_launches_s() - step.seconds).max(0.0) / arriving;
        (prefill_beside_s(setting, full, prompt) / full).max(launches_s)
    } else {
        prefill_s(setting, arriving, prompt) / arriving
    };
    // A server takes requests in beside the card's work: the slower of the two sets the pace.
    let prefill_each_s = if setting.details.offline {
        reading_s + setting.engine.sequence_s
    } else {
        reading_s.hypot(setting.engine.request_s)
    };
    let cycle_s = running * prefill_each_s + output * step.seconds;
    // Only the steps after a request's own prefill are its own; the others' prefills come
    // between them.
    let others_s = (running - 1.0) * prefill_each_s;
    let steps = (output - 1.0).max(1.0);
    let (first_s, between_s) = if setting.facts.whole_prompts {
        (running * prefill_each_s, 0.0)
    } else {
        // Where requests enter as others leave, a new one waits for those alone that entered with it.
        let behind = if setting.details.at_once {
            WAIT_SHARE
        } else {
            WAIT_SHARE * (running * prefill_each_s / cycle_s).min(1.0)
        };
        (
            prefill_s(setting, 1.0, prompt) + WAIT_SHARE * others_s,
            (1.0 - behind) * others_s,
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

#[cfg(test)]
mod tests {
    use super::arriving_together;

    #[test]
    fn where_few_leave_each_new_request_comes_alone() {
        // One in a hundred steps: 0.01 / (1 - e^-0.01) = 1.005.
        assert!((arriving_together(0.01) - 1.005).abs() < 1e-4);
        // Two a step: 2 / (1 - e^-2) = 2.313.
        assert!((arriving_together(2.0) - 2.313).abs() < 1e-3);
        assert!((arriving_together(50.0) - 50.0).abs() < 1e-9);
    }
}
