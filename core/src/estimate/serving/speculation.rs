//! Guessed tokens: a small model, or a head of the model itself, guesses some tokens ahead, and the model
//! checks all of them in one step (Leviathan et al. 2023).

use super::setting::Setting;

/// Share of the model's blocks that a guess passes, and bytes of weights that are kept for it.
///
/// A head of the model itself (multi-token prediction, EAGLE) is one block. A separate model is as deep
/// for its size as the model is: depth grows as the cube root of parameters where width grows with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guesser {
    /// Bytes of weights on all cards of a copy.
    pub weights_bytes: f64,
    /// Depth over the model's.
    pub depth: f64,
    /// KV cache over the model's.
    pub cache: f64,
}

/// Bytes of one weight of a separate model: 16 bit.
const DRAFT_WEIGHT_BYTES: f64 = 2.0;

impl Guesser {
    /// What guesses for `setting`; `None` where nothing is guessed.
    pub fn of(setting: &Setting<'_>) -> Option<Self> {
        let habits = &setting.job.habits;
        if habits.guesses == 0 {
            return None;
        }
        let block = 1.0 / setting.layers().max(1.0);
        Some(match habits.draft_params {
            None => Self {
                weights_bytes: setting.weights.blocks() as f64 * block,
                depth: block,
                cache: block,
            },
            Some(params) => {
                let size = (params / setting.job.model.params_total.max(1) as f64).min(1.0);
                Self {
                    weights_bytes: params * DRAFT_WEIGHT_BYTES,
                    depth: size.cbrt(),
                    cache: size.cbrt() * size.cbrt(),
                }
            }
        })
    }

    /// Seconds of the guesses before one step: each reads the guesser's weights (a head's, and the
    /// output head) and launches its kernels.
    pub fn seconds(&self, setting: &Setting<'_>) -> f64 {
        let habits = &setting.job.habits;
        let head = match habits.draft_params {
            None => setting.weights.head_read as f64,
            Some(_) => 0.0,
        };
        let reading_s = (self.weights_bytes + head) / (setting.bandwidth * setting.ways());
        let launches_s = setting.launches_s() * self.depth;
        f64::from(habits.guesses) * (reading_s + launches_s)
    }
}
