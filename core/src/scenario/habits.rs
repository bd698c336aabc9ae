//! How requests of a service are made and answered beyond their lengths: reasoning, shared
//! beginnings of prompts, guessed tokens, answers in bulk.

use serde::{Deserialize, Serialize};

use super::limits;
use super::reader::Reader;
use super::write::{Pairs, open_real, real, whole};

/// Habits of requests and of the service that answers them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Habits {
    /// Tokens of reasoning before each answer, mean; they are written and kept like an answer's.
    pub thinking_tokens: u32,
    /// Share of a prompt's tokens that the prefix cache has from before, per cent.
    pub prefix_hit_percent: f64,
    /// Tokens guessed ahead of each step (speculative decoding, multi-token prediction); 0: none.
    pub guesses: u32,
    /// Odds that a guess is taken when the one before it was, per cent.
    pub accept_percent: f64,
    /// Parameters of the model that guesses; `None`: a head of the model itself, one block deep.
    pub draft_params: Option<f64>,
    /// Answers are made in bulk, in one process, as many at once as the engine holds.
    pub offline: bool,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            thinking_tokens: 0,
            prefix_hit_percent: 0.0,
            guesses: 0,
            accept_percent: 70.0,
            draft_params: None,
            offline: false,
        }
    }
}

impl Habits {
    /// Share of a prompt that is not computed again, 0 to below 1.
    pub fn cached_share(&self) -> f64 {
        (self.prefix_hit_percent / 100.0).clamp(0.0, 0.999)
    }

    /// Tokens that one step gives on average: of `k` guesses that are taken with odds `a` each as
    /// long as none before was refused, and the token that the model itself adds,
    /// `(1 - a^(k+1)) / (1 - a)` (Leviathan et al. 2023, equation 1).
    pub fn tokens_per_step(&self) -> f64 {
        let a = (self.accept_percent / 100.0).clamp(0.0, 1.0);
        let mut tokens = 1.0;
        let mut odds = 1.0;
        for _ in 0..self.guesses {
            odds *= a;
            tokens += odds;
        }
        tokens
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let plain = Self::default();
        Self {
            thinking_tokens: reader.whole_or(&limits::THINKING_TOKENS, plain.thinking_tokens),
            prefix_hit_percent: reader.number_or(&limits::PREFIX_HIT, plain.prefix_hit_percent),
            guesses: reader.whole_or(&limits::GUESSES, plain.guesses),
            accept_percent: reader.number_or(&limits::ACCEPTANCE, plain.accept_percent),
            draft_params: reader.number_or_open(&limits::DRAFT_PARAMS),
            offline: reader.flag_or("offline", plain.offline),
        }
    }

    pub(super) fn write(&self, pairs: &mut Pairs) {
        let plain = Self::default();
        whole(pairs, "think", self.thinking_tokens, plain.thinking_tokens);
        real(
            pairs,
            "hit",
            self.prefix_hit_percent,
            plain.prefix_hit_percent,
        );
        whole(pairs, "guess", self.guesses, plain.guesses);
        real(pairs, "accept", self.accept_percent, plain.accept_percent);
        open_real(pairs, "draft", self.draft_params);
        if self.offline {
            pairs.push(("offline", "yes".to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_step(guesses: u32, accept_percent: f64) -> f64 {
        Habits {
            guesses,
            accept_percent,
            ..Habits::default()
        }
        .tokens_per_step()
    }

    #[test]
    fn a_step_gives_the_tokens_of_leviathan() {
        // (1 - 0.8^5) / (1 - 0.8) = 0.67232 / 0.2.
        assert!((per_step(4, 80.0) - 3.3616).abs() < 1e-12);
        // 1 + 0.5 + 0.25 + 0.125.
        assert!((per_step(3, 50.0) - 1.875).abs() < 1e-12);
        // A head that guesses one token, taken 85 times of 100.
        assert!((per_step(1, 85.0) - 1.85).abs() < 1e-12);
        // No guess is taken; every guess is.
        assert!((per_step(5, 0.0) - 1.0).abs() < 1e-12);
        assert!((per_step(5, 100.0) - 6.0).abs() < 1e-12);
        assert!((per_step(0, 70.0) - 1.0).abs() < 1e-12);
    }
}
