//! What each engine does by design: what it reserves, how it batches, what it keeps.

use crate::catalog::Card;
use crate::scenario::Engine;

/// Facts of an engine that no measurement is needed for: its documented defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EngineFacts {
    /// Share of the card that it takes on start, weights included; `None`: it takes what it needs.
    pub reserved_share: Option<f64>,
    /// Most sequences that it runs at once.
    pub max_sequences: u32,
    /// Tokens of one block of the KV cache; 1: no blocks.
    pub block_tokens: u64,
    /// Most prompt tokens that go through the model in one pass.
    pub pass_tokens: u32,
    /// Prompts of a pass may wait for each other in one long pass, not cut into `pass_tokens`
    /// pieces (a static batch).
    pub whole_prompts: bool,
    /// Stages work on different parts of a prompt or batch at the same time.
    pub stages_overlap: bool,
    /// It captures its decoding steps as graphs, which take memory.
    pub graphs: bool,
    /// Answers go on while prompts are read, a piece a step; otherwise they stand still until all
    /// waiting prompts are read.
    pub mixes_prompts: bool,
    /// A request is let in only when its whole answer will fit, so that none is ever put back
    /// (TensorRT-LLM's default scheduler); otherwise when what it has so far does.
    pub admits_whole: bool,
    /// `reserved_share` is of what the weights leave free, not of the card.
    pub reserves_of_free: bool,
}

impl EngineFacts {
    /// Facts of `engine` on `card`.
    pub fn of(engine: Engine, card: &Card) -> Self {
        let mut facts = Self::anywhere(engine);
        // vLLM's server admits more on cards of 70 GiB and more that are newer than A100, and
        // cuts prompts into larger pieces there.
        if engine == Engine::Vllm {
            let large = card.memory_gib >= 70.0 && card.architecture != "Ampere";
            (facts.max_sequences, facts.pass_tokens) =
                if large { (1024, 8192) } else { (256, 2048) };
        }
        facts
    }

    const fn anywhere(engine: Engine) -> Self {
        let paged = Self {
            reserved_share: Some(0.9),
            max_sequences: 256,
            block_tokens: 16,
            pass_tokens: 8192,
            whole_prompts: false,
            stages_overlap: true,
            graphs: true,
            mixes_prompts: true,
            admits_whole: false,
            reserves_of_free: false,
        };
        let local = Self {
            reserved_share: None,
            max_sequences: 1 << 16,
            block_tokens: 1,
            pass_tokens: 512,
            whole_prompts: false,
            stages_overlap: true,
            graphs: false,
            mixes_prompts: true,
            admits_whole: false,
            reserves_of_free: false,
        };
        match engine {
            Engine::Vllm | Engine::VllmAscend => paged,
            Engine::DeepspeedMii => Self {
                reserved_share: Some(0.9),
                graphs: false,
                ..paged
            },
            Engine::Sglang => Self {
                reserved_share: Some(0.88),
                max_sequences: 4096,
                block_tokens: 1,
                mixes_prompts: false,
                ..paged
            },
            Engine::TensorrtLlm => Self {
                max_sequences: 2048,
                block_tokens: 32,
                admits_whole: true,
                reserves_of_free: true,
                ..paged
            },
            Engine::Mindie => Self {
                max_sequences: 200,
                block_tokens: 128,
                ..paged
            },
            Engine::LlamaCpp => local,
            Engine::Exllama | Engine::Exllamav2 | Engine::MlcLlm => Self {
                pass_tokens: 2048,
                stages_overlap: false,
                ..local
            },
            Engine::Transformers | Engine::Fastertransformer => Self {
                pass_tokens: u32::MAX,
                whole_prompts: true,
                stages_overlap: false,
                ..local
            },
        }
    }
}

/// How one run differs from what its engine does by default: facts of a measured row that a
/// scenario has no field for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunDetails {
    /// Bits of one quantised weight where they are not the format's own (EXL2, group size 32).
    pub bits_per_weight: Option<f64>,
    /// The head is run on every prompt token and kept in FP32 beside the 16-bit result (versions
    /// of Transformers before 4.45).
    pub full_prompt_logits: bool,
    /// Requests are handed over in one process, not through a server that takes each in and
    /// streams its tokens.
    pub offline: bool,
    /// Share of the card that the engine is told to take, where that is not its default.
    pub reserved_share: Option<f64>,
    /// Kernels are launched one by one, not as a graph (llama.cpp before June 2024).
    pub no_graphs: bool,
    /// Quantised weights are expanded to 16 bit for prompts (llama.cpp before June 2024).
    pub expands: bool,
    /// Attention scores are written to memory and read back (llama.cpp before fused attention became its
    /// default in September 2025).
    pub writes_scores: bool,
    /// vLLM on AMD cards before its 0.7: attention reads a cached key for each query head, all-reduces
    /// are the library's, and kernels are launched one by one.
    pub early_rocm: bool,
    /// Attention is not split over the cards of a group: each card keeps its whole weights and the whole
    /// caches of its own part of the requests; experts are split, and tokens are sent to them.
    pub attention_dp: bool,
    /// Ollama before October 2025: it read a cached key for several of the query heads that share it and
    /// launched kernels one by one.
    pub early_ollama: bool,
    /// All requests are there at the start, and no more follow; otherwise new ones enter as others leave.
    pub at_once: bool,
    /// How the lengths of answers differ, which makes the end of a batch long.
    pub answers: AnswerLengths,
}

/// How the lengths of a batch's answers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerLengths {
    /// All are of one length.
    #[default]
    Alike,
    /// Spread evenly between nothing and twice their mean.
    Even,
    /// As those of people do: spread as times between calls are.
    People,
}

impl AnswerLengths {
    /// How a run ends in which `running` requests are under way when the last has entered; `refilled`: new requests
    /// entered as others left, so that those under way are anywhere in their answers.
    ///
    /// Of evenly spread answers a share `1 - t / 2` is still written after `t` means, of those anywhere in
    /// them `(1 - t / 2)^2`; of people's `e^-t` either way, for what is left of one is as long as a new one.
    pub fn ending(self, running: f64, refilled: bool) -> Ending {
        let (lasts, tokens) = match self {
            Self::Even if refilled => (2.0 * (1.0 - 1.0 / running.sqrt()), 2.0 / 3.0),
            Self::Even => (2.0 * running / (running + 1.0), 1.0),
            Self::People => (running.ln(), 1.0),
            Self::Alike => (1.0, 1.0),
        };
        if running < FEW || lasts <= tokens {
            return Ending {
                lasts: 1.0,
                tokens: 1.0,
                lengths: Self::Alike,
                refilled,
            };
        }
        Ending {
            lasts,
            tokens,
            lengths: self,
            refilled,
        }
    }
}

/// Requests that end with one another, however their lengths differ.
const FEW: f64 = 4.0;

/// The end of a run, in mean answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ending {
    /// Steps until the last answer is written.
    pub lasts: f64,
    /// Tokens of one of the requests under way that are written in it, on average.
    pub tokens: f64,
    lengths: AnswerLengths,
    refilled: bool,
}

impl Ending {
    /// Share of the requests that are still under way after `steps`.
    fn left_after(&self, steps: f64) -> f64 {
        match self.lengths {
            AnswerLengths::Alike => 1.0,
            AnswerLengths::Even if self.refilled => (1.0 - steps / 2.0).max(0.0).powi(2),
            AnswerLengths::Even => (1.0 - steps / 2.0).max(0.0),
            AnswerLengths::People => (-steps).exp(),
        }
    }

    /// The sum over the end's steps of what `step` says of one with a share of the requests under way.
    pub fn sum(&self, mut step: impl FnMut(f64) -> f64) -> f64 {
        /// Where Gauss and Legendre's rule of six points looks, as a share of the whole, and the weight of each.
        const POINTS: [(f64, f64); 6] = [
            (0.033_765_242_898_423_99, 0.085_662_246_189_585_17),
            (0.169_395_306_766_867_74, 0.180_380_786_524_069_3),
            (0.380_690_406_958_401_55, 0.233_956_967_286_345_52),
            (0.619_309_593_041_598_5, 0.233_956_967_286_345_52),
            (0.830_604_693_233_132_3, 0.180_380_786_524_069_3),
            (0.966_234_757_101_576, 0.085_662_246_189_585_17),
        ];
        if self.lengths == AnswerLengths::Alike {
            return step(1.0) * self.lasts;
        }
        POINTS
            .iter()
            .map(|(at, weight)| step(self.left_after(at * self.lasts)) * weight * self.lasts)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::AnswerLengths;

    #[test]
    fn the_end_of_a_run_is_longer_the_more_its_answers_differ() {
        // Steps that cost alike: as many as there are until the last answer.
        let steps = |lengths: AnswerLengths, refilled| lengths.ending(100.0, refilled).sum(|_| 1.0);
        assert!((steps(AnswerLengths::Alike, true) - 1.0).abs() < 1e-12);
        // 100 answers between 0 and 2 means: the longest is at 200 / 101 means.
        assert!((steps(AnswerLengths::Even, false) - 200.0 / 101.0).abs() < 1e-12);
        // Refilled, what is left of those under way has a longest near 1.8 of 100.
        assert!((steps(AnswerLengths::Even, true) - 1.8).abs() < 1e-12);
        // The longest of 100 exponential ones is near ln 100 = 4.605 means.
        assert!((steps(AnswerLengths::People, true) - 4.605).abs() < 1e-3);
        // Few at once end with one another.
        let few = AnswerLengths::People.ending(2.0, false);
        assert!((few.sum(|_| 1.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_grows_with_the_batch_is_paid_once_for_each_token() {
        // Steps that cost as many as are under way: the tokens written in the end, whatever its length.
        for (lengths, refilled) in [
            (AnswerLengths::Alike, false),
            (AnswerLengths::Even, false),
            (AnswerLengths::Even, true),
            (AnswerLengths::People, true),
        ] {
            let ending = lengths.ending(1000.0, refilled);
            let tokens = ending.sum(|share| share);
            assert!(
                (tokens / ending.tokens - 1.0).abs() < 0.01,
                "{lengths:?} {tokens}"
            );
        }
    }
}
