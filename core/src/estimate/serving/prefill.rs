//! Reading prompts.

use super::setting::Setting;

/// Parts of a prompt that llama.cpp's stages work on at the same time: its batch of 2048 tokens
/// in pieces of 512.
const PARTS_UNDER_WAY: f64 = 4.0;

/// Seconds to read `requests` prompts of `prompt` tokens, all stages.
///
/// What the prefix cache has of them is not computed again. Products with weights at their share of the peak, attention over the causal half of the
/// prompt, weights read once a pass, and the host's time a pass.
///
/// A pass is launched kernel by kernel, so that the host sets the pace of short ones.
pub(super) fn prefill_s(setting: &Setting<'_>, requests: f64, prompt: f64) -> f64 {
    passes_s(setting, requests, prompt, true)
}

/// The same beside decoding steps, whose launches serve both: what the card alone adds.
pub(super) fn prefill_beside_s(setting: &Setting<'_>, requests: f64, prompt: f64) -> f64 {
    passes_s(setting, requests, prompt, false)
}

fn passes_s(setting: &Setting<'_>, requests: f64, prompt: f64, by_themselves: bool) -> f64 {
    let cached = setting.job.habits.cached_share();
    let tokens = requests * prompt * (1.0 - cached);
    if tokens <= 0.0 {
        return 0.0;
    }
    let pass = if setting.facts.whole_prompts {
        tokens
    } else {
        tokens.min(f64::from(setting.facts.pass_tokens))
    };
    let passes = (tokens / pass).ceil();
    let per_pass = tokens / passes;
    let headed = if setting.details.full_prompt_logits {
        per_pass
    } else {
        (requests / passes).max(1.0)
    };
    // Tokens behind a cached beginning look back on all of it: on average on (1 + cached) / 2 of the
    // prompt, as those of a whole prompt that much longer do.
    let seen = prompt * (1.0 + cached);
    let attention_s = setting.shape.causal_score_flops_per_token(seen) * per_pass
        / (setting.attention * setting.ways());
    let products_s = setting.products_s(per_pass, headed) + attention_s;
    let memory_s = setting.weights_read(per_pass) / setting.bandwidth;
    let host_s = setting.step_host_s() + setting.launches_s();
    let card_s = setting.roofline_s(memory_s, products_s) + setting.unfused_s(per_pass, seen / 2.0);
    let busy_s = setting.with_host_s(card_s, host_s);
    let one_s = if by_themselves {
        setting.launched_s(busy_s)
    } else {
        busy_s
    };
    let serial_s = passes * one_s;
    let stages = f64::from(setting.stages);
    let under_way = if setting.facts.stages_overlap {
        passes.min(PARTS_UNDER_WAY.max(stages))
    } else {
        1.0
    };
    // `under_way` parts pass `stages` stages in `under_way + stages - 1` turns of one stage.
    let share = (under_way + stages - 1.0) / (under_way * stages);
    serial_s * share.min(1.0) + passes * setting.communication_s(per_pass)
}
