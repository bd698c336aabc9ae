//! One decoding step.

use super::setting::Setting;
use super::speculation::Guesser;
use crate::estimate::TimeParts;

/// Time of one decoding step for each token that it gives a sequence, and where it goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// Seconds.
    pub seconds: f64,
    /// Where they go.
    pub parts: TimeParts,
}

/// One step of `sequences` that have `context` tokens each.
///
/// Weights are read once a step, of experts those that any token uses; each sequence's cache is
/// read once (Pope et al. 2022). With stages, as many groups of sequences as stages are under
/// way, and a step of one group passes all stages. Guessed tokens are checked beside each
/// sequence's next one, over the same cache.
pub(super) fn step(setting: &Setting<'_>, sequences: f64, context: f64) -> Step {
    let stages = f64::from(setting.stages);
    let group = if setting.facts.stages_overlap {
        (sequences / stages).max(1.0)
    } else {
        sequences
    };
    let habits = &setting.job.habits;
    let rows = group * f64::from(habits.guesses + 1);
    let reading_s = (setting.weights_read(rows) / setting.bandwidth).max(setting.expanding_s(rows));
    let memory_s = reading_s + setting.cache_read_s(group, context);
    let products_s = setting.products_s(rows, rows);
    let card_s = setting.roofline_s(memory_s, products_s);
    let host_s =
        setting.step_host_s() + sequences * setting.engine.sequence_s + setting.launches_s();
    let communication_s = setting.communication_s(rows);
    let whole_s = setting.with_host_s(card_s, host_s);
    let guesses_s = Guesser::of(setting).map_or(0.0, |guesser| guesser.seconds(setting));
    // A step gives more than one token where guesses are taken: what follows is for one token.
    let each = 1.0 / habits.tokens_per_step();
    Step {
        seconds: (whole_s + communication_s + guesses_s) * each,
        parts: TimeParts {
            compute_s: (card_s - memory_s.min(card_s)) * each,
            memory_s: memory_s.min(card_s) * each,
            communication_s: communication_s * each,
            bubble_s: 0.0,
            overhead_s: (whole_s - card_s + guesses_s) * each,
        },
    }
}
