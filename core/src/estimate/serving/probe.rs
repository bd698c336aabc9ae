//! Single quantities of one run, as measured rows state them.

use super::batching::{Load, load, piece_s};
use super::decode::step;
use super::engine::{AnswerLengths, RunDetails};
use super::memory::{CardBytes, admitted, card_bytes};
use super::prefill::prefill_s;
use super::setting::Setting;
use super::{ServingConstants, ServingJob};
use crate::catalog::Node;
use crate::plan::ServingPlan;
use crate::scenario::Engine;

/// What was measured, for the residuals that a range rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Weights alone.
    Weights,
    /// Memory of a card.
    Memory,
    /// Decoding for one user.
    Decode,
    /// Prompt and answer of one user together, as tokens of both over the time of both.
    Whole,
    /// Reading prompts.
    Prefill,
    /// Many requests at once: all their tokens together.
    Batch,
    /// Many requests at once: time between the tokens of one of them.
    Pace,
}

/// Name of a kind of job in the residuals: the quantity and the engine.
pub const fn kind_name(quantity: Quantity, engine: Engine) -> &'static str {
    macro_rules! names {
        ($($engine:ident => $name:literal),* $(,)?) => {
            match (quantity, engine) {
                $(
                    (Quantity::Weights, Engine::$engine) => concat!("weights ", $name),
                    (Quantity::Memory, Engine::$engine) => concat!("memory ", $name),
                    (Quantity::Decode, Engine::$engine) => concat!("decode ", $name),
                    (Quantity::Whole, Engine::$engine) => concat!("whole ", $name),
                    (Quantity::Prefill, Engine::$engine) => concat!("prefill ", $name),
                    (Quantity::Batch, Engine::$engine) => concat!("batch ", $name),
                    (Quantity::Pace, Engine::$engine) => concat!("pace ", $name),
                )*
            }
        };
    }
    names! {
        Vllm => "vllm",
        Sglang => "sglang",
        TensorrtLlm => "tensorrt_llm",
        LlamaCpp => "llama_cpp",
        Transformers => "transformers",
        Exllama => "exllama",
        Exllamav2 => "exllamav2",
        MlcLlm => "mlc_llm",
        DeepspeedMii => "deepspeed_mii",
        Fastertransformer => "fastertransformer",
        Mindie => "mindie",
        VllmAscend => "vllm_ascend",
    }
}

/// The same for early ROCm builds of vLLM, whose residuals say nothing of later ones.
pub const fn early_kind_name(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Weights => "weights early rocm",
        Quantity::Memory => "memory early rocm",
        Quantity::Decode => "decode early rocm",
        Quantity::Whole => "whole early rocm",
        Quantity::Prefill => "prefill early rocm",
        Quantity::Batch => "batch early rocm",
        Quantity::Pace => "pace early rocm",
    }
}

/// Mean over requests of the part of their steps that is among the first `slowed` (as a share of the mean
/// answer), over that share itself: short answers are written wholly in those steps. For lengths spread as
/// the times between calls are, `E[min(b, o) / o] = 1 - e^-x + x E1(x)` with `x = b / E[o]`, and
/// `E1(x)` is near `e^-x ln(1 + e^-g / x)`, `g` Euler's constant.
fn shared_by_varied_answers(slowed: f64) -> f64 {
    /// `e^-g`.
    const EULER: f64 = 0.561_459;
    let x = slowed.max(1e-6);
    (1.0 - (-x).exp()) / x + (-x).exp() * (EULER / x).ln_1p()
}

/// The same for Ollama before October 2025.
pub const fn early_ollama_kind_name(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Weights => "weights early ollama",
        Quantity::Memory => "memory early ollama",
        Quantity::Decode => "decode early ollama",
        Quantity::Whole => "whole early ollama",
        Quantity::Prefill => "prefill early ollama",
        Quantity::Batch => "batch early ollama",
        Quantity::Pace => "pace early ollama",
    }
}

/// One run, asked for single quantities. Middles only: ranges are put around what a row states.
pub struct Probe<'a> {
    setting: Setting<'a>,
    batch: f64,
}

impl<'a> Probe<'a> {
    /// A run of `job` laid out as `plan`.
    pub fn new(
        job: &'a ServingJob<'a>,
        plan: &ServingPlan,
        node: &'a Node<'a>,
        constants: &'a ServingConstants,
        details: RunDetails,
    ) -> Self {
        Self {
            setting: Setting::new(job, plan, node, constants, details),
            batch: f64::from(plan.batch.max(1)),
        }
    }

    fn load(&self) -> Load {
        load(&self.setting, self.batch)
    }

    /// Bytes of all weights.
    pub fn weights_bytes(&self) -> f64 {
        self.setting.weights.total() as f64
    }

    /// Bytes of the fullest card.
    pub fn card_bytes(&self) -> CardBytes {
        card_bytes(&self.setting, self.batch)
    }

    /// Seconds a token of one user, prefill left out, over an answer of the job's length.
    pub fn decode_s_per_token(&self) -> f64 {
        let job = self.setting.job;
        let context = f64::from(job.prompt_tokens) + f64::from(job.output_tokens) / 2.0;
        step(&self.setting, self.batch, context).seconds
    }

    /// Seconds from the first of `requests` to the last token, as many of them in flight as the plan says. Where
    /// answers differ in length, fewer and fewer are under way at the end: each step of it costs what one with so many
    /// does, which for models of experts hardly falls until few are left.
    pub fn run_s(&self, requests: f64) -> f64 {
        let load = self.load();
        let refilled = requests > 1.5 * load.running;
        let ending = self.setting.details.answers.ending(load.running, refilled);
        let job = self.setting.job;
        let output = f64::from(job.output_tokens.max(1));
        let context = f64::from(job.prompt_tokens) + output / 2.0;
        let before_s =
            load.cycle_s * requests / load.running - ending.tokens * output * load.step.seconds;
        before_s
            + output
                * ending.sum(|share| {
                    step(&self.setting, (share * load.running).max(1.0), context).seconds
                })
    }

    /// [`run_s`](Self::run_s) of one batch.
    pub fn batch_s(&self) -> f64 {
        self.run_s(self.batch)
    }

    /// Seconds a token between the first and the last, the mean over requests, where `requests` are sent at
    /// once and no more follow: later ones wait behind the first ones' prefills.
    pub fn tpot_at_once_s(&self, requests: f64) -> f64 {
        /// Share of the others' prefills that comes between a request's own tokens: those behind it.
        const WAITED: f64 = 0.5;
        let load = self.load();
        // With twice as many as run, most of them run in a steady state.
        let steady = (requests / load.running - 1.0).clamp(0.0, 1.0);
        let job = self.setting.job;
        let steps = (f64::from(job.output_tokens) - 1.0).max(1.0);
        let behind_s = WAITED * (load.running - 1.0) * load.prefill_each_s;
        let piece_s = piece_s(&self.setting, f64::from(job.prompt_tokens.max(1)));
        let slowed_steps = (behind_s / piece_s).max(1.0);
        let shared = if self.setting.details.answers == AnswerLengths::People {
            shared_by_varied_answers(slowed_steps / steps)
        } else {
            1.0
        };
        let alone_s = load.step.seconds + (behind_s / steps * shared).min(piece_s);
        steady * load.tpot_s + (1.0 - steady) * alone_s
    }

    /// Seconds a token under a steady load.
    pub fn tpot_s(&self) -> f64 {
        self.load().tpot_s
    }

    /// Seconds to the first token under a steady load.
    pub fn ttft_s(&self) -> f64 {
        self.load().ttft_s
    }

    /// Seconds to read the prompts of the whole batch and to give each its first token.
    pub fn batch_ttft_s(&self) -> f64 {
        let prompt = f64::from(self.setting.job.prompt_tokens.max(1));
        prefill_s(&self.setting, self.batch, prompt)
            + self.batch * self.setting.engine.sequence_s
            + self.setting.engine.request_s
    }

    /// Prompt tokens a second of one request.
    pub fn prefill_tokens_per_s(&self) -> f64 {
        let prompt = f64::from(self.setting.job.prompt_tokens.max(1));
        prompt / prefill_s(&self.setting, 1.0, prompt)
    }

    /// Requests a second of one copy where as many wait as there is room for.
    pub fn most_requests_per_s(&self) -> f64 {
        let most = admitted(&self.setting, f64::from(u32::MAX));
        load(&self.setting, most).requests_per_s()
    }
}

#[cfg(test)]
mod tests {
    use super::shared_by_varied_answers;

    #[test]
    fn steps_slowed_at_the_start_weigh_on_short_answers() {
        // x = 0.1: 1 - e^-0.1 = 0.09516, E1(0.1) = 1.8229; (0.09516 + 0.18229) / 0.1 = 2.775; the
        // approximation of E1 is within a twentieth.
        assert!((shared_by_varied_answers(0.1) / 2.775 - 1.0).abs() < 0.05);
        // x = 1: 1 - e^-1 = 0.6321, E1(1) = 0.2194.
        assert!((shared_by_varied_answers(1.0) / 0.8515 - 1.0).abs() < 0.08);
        // Where every step is slowed, each answer is: the part is all of it.
        assert!((shared_by_varied_answers(50.0) * 50.0 - 1.0).abs() < 1e-9);
    }
}
