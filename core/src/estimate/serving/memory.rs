//! Memory of one card.

use super::kv;
use super::setting::Setting;
use super::speculation::Guesser;
use super::weights;
use crate::catalog::AttentionKind;
use crate::scenario::Engine;

/// Bytes of the fullest card by part.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CardBytes {
    /// Weights.
    pub weights: f64,
    /// KV cache of all requests at their full length.
    pub kv_cache: f64,
    /// Working set of a pass, and what a growing cache leaves behind.
    pub activations: f64,
    /// Output logits.
    pub logits: f64,
    /// Buffers of collectives.
    pub communication: f64,
    /// Workspaces and graphs.
    pub workspace: f64,
    /// Driver context, which counters of a framework do not see.
    pub context: f64,
}

impl CardBytes {
    /// All of them.
    pub fn total(&self) -> f64 {
        self.seen_by_framework() + self.context
    }

    /// What a framework's own counters see.
    pub fn seen_by_framework(&self) -> f64 {
        self.weights
            + self.kv_cache
            + self.activations
            + self.logits
            + self.communication
            + self.workspace
    }
}

/// Bytes of one request's cache at full length on the fullest card.
pub(super) fn sequence_bytes(setting: &Setting<'_>, tokens: u64) -> f64 {
    kv::card_bytes(
        setting.shape,
        tokens,
        setting.element_bytes,
        setting.attention_tensor(),
        setting.stages,
        setting.facts.block_tokens,
    )
}

/// Bytes that windowed blocks hold beside their windows while one prompt is read: vLLM keeps the window and a whole
/// pass of tokens until the pass is done.
fn windows_behind_bytes(setting: &Setting<'_>, batch: f64) -> f64 {
    if batch < 1.0 || !matches!(setting.job.engine, Engine::Vllm | Engine::VllmAscend) {
        return 0.0;
    }
    let prompt = setting.job.prompt_tokens;
    let pass = setting.facts.pass_tokens;
    let elements: f64 = setting
        .shape
        .attention
        .iter()
        .map(|group| match group.kind {
            AttentionKind::Heads {
                kv_heads,
                head_dim,
                window: Some(window),
                ..
            } => {
                let behind = prompt.min(window.saturating_add(pass)) - prompt.min(window);
                let heads = kv_heads.div_ceil(setting.attention_tensor());
                2.0 * f64::from(group.layers)
                    * f64::from(behind)
                    * f64::from(heads)
                    * f64::from(head_dim)
            }
            _ => 0.0,
        })
        .sum();
    elements * setting.element_bytes / f64::from(setting.stages)
}

/// Bytes that each token of a pass writes at once in one block: residual, normed input, the
/// projections, and the feed-forward network's two or three vectors, in 16 bit.
fn pass_bytes_per_token(setting: &Setting<'_>) -> f64 {
    let shape = setting.shape;
    let wide = shape
        .experts
        .as_ref()
        .map_or(0.0, |e| {
            f64::from(e.ffn) * f64::from(e.per_token) + f64::from(e.shared_ffn)
        })
        .max(f64::from(shape.ffn));
    2.0 * (6.0 * f64::from(shape.hidden) + 3.0 * wide / setting.ways())
        * setting.constants.memory.activation_factor
}

/// Bytes of the fullest card with `batch` requests of the job's full length.
pub(super) fn card_bytes(setting: &Setting<'_>, batch: f64) -> CardBytes {
    let m = &setting.constants.memory;
    let job = setting.job;
    let prompt = u64::from(job.prompt_tokens);
    let full = prompt + u64::from(job.output_tokens);
    let guesser = Guesser::of(setting);
    let guesser_cache = guesser.map_or(0.0, |guesser| guesser.cache);
    let own = batch * setting.own_share();
    let kv_cache = (own * sequence_bytes(setting, full) + windows_behind_bytes(setting, batch))
        * (1.0 + guesser_cache);
    let vocab = f64::from(setting.shape.vocab);
    let per_token = pass_bytes_per_token(setting);
    let several = setting.tensor * setting.stages > 1;
    // llama.cpp looks tokens up in the host's memory: of two tables only the head is on the card.
    let mut held = setting.weights;
    if job.engine == Engine::LlamaCpp && held.head > 0 {
        held.embedding = 0;
    }
    let mut bytes = CardBytes {
        weights: if setting.details.attention_dp {
            weights::unsplit_card_weight_bytes(&held, setting.tensor) as f64
        } else {
            weights::card_weight_bytes(job.model, &held, setting.tensor, setting.stages) as f64
        },
        kv_cache,
        communication: if setting.tensor > 1 && several {
            m.collective_bytes
        } else {
            0.0
        },
        workspace: m.workspace_bytes,
        context: m.context_bytes,
        ..CardBytes::default()
    };
    if let Some(guesser) = guesser {
        bytes.weights += guesser.weights_bytes / setting.ways();
    }
    if setting.facts.graphs {
        bytes.workspace += m.graph_bytes;
    }
    if setting.facts.whole_prompts {
        // While the prompt is read the cache holds the prompt only, so that the working set and
        // the logits come on top of less than the full cache.
        let tokens = batch * prompt as f64;
        let headed = if setting.details.full_prompt_logits {
            tokens
        } else {
            batch
        };
        // FP32 logits beside the 16-bit ones that they are made from.
        let logits = headed * vocab * 6.0;
        let reading = batch * sequence_bytes(setting, prompt) + tokens * per_token + logits;
        let writing = kv_cache * (1.0 + m.cache_growth) + batch * (per_token + vocab * 6.0);
        let working = (reading.max(writing) - kv_cache).max(0.0);
        bytes.logits = logits.min(working);
        bytes.activations = working - bytes.logits;
    } else {
        let pass = f64::from(setting.facts.pass_tokens);
        bytes.activations = pass * per_token;
        bytes.logits = match job.engine {
            // It keeps FP32 logits of every token of a piece of a prompt.
            Engine::LlamaCpp => pass * vocab * 4.0,
            Engine::Exllama | Engine::Exllamav2 | Engine::MlcLlm => batch * vocab * 4.0,
            // FP32 logits and probabilities of a full batch, tried out on start.
            _ => f64::from(setting.facts.max_sequences.min(256)) * vocab * 8.0,
        };
    }
    bytes
}

/// Share of what software can allocate that an engine can be told to take.
pub(super) const MOST_RESERVED_SHARE: f64 = 0.97;

/// Requests that one copy runs at once, of `wanted`: what the pool of the KV cache holds, with
/// requests on average past `GROWN` of their answers (or kept room for all of them), and no more than the
/// engine runs.
pub(super) fn admitted(setting: &Setting<'_>, wanted: f64) -> f64 {
    const GROWN: f64 = 0.7;
    let grown = if setting.facts.admits_whole {
        1.0
    } else {
        GROWN
    };
    let job = setting.job;
    let usable = setting.node.card.usable_memory_bytes() as f64;
    let share = match (setting.facts.reserved_share, setting.details.reserved_share) {
        (Some(_), Some(told)) => told,
        (Some(default), None) => default,
        (None, _) => MOST_RESERVED_SHARE,
    };
    let empty = card_bytes(setting, 0.0);
    let pool = if setting.facts.reserves_of_free {
        (usable - empty.total()) * share
    } else {
        usable * share - empty.total()
    };
    let tokens =
        u64::from(job.prompt_tokens) + (f64::from(job.output_tokens) * grown).ceil() as u64;
    let held = if job.engine == Engine::Sglang {
        held_by_sglang(setting, tokens.max(1), pool)
    } else {
        pool / sequence_bytes(setting, tokens.max(1)).max(1.0)
    };
    wanted
        .min(f64::from(setting.facts.max_sequences) / setting.own_share())
        .min((held / setting.own_share()).max(1.0))
        .max(1.0)
}

/// Requests of `tokens` that SGLang holds in `pool` bytes. It divides the pool on start: states of linear blocks have nine
/// parts of nineteen (`--mamba-full-memory-ratio` 0.9), in 32 bit, five of them for each request that runs (its own,
/// and those that its prefix cache may be copying); windowed blocks have room for four of five tokens that the others have
/// room for (`--swa-full-tokens-ratio` 0.8), however short their windows.
fn held_by_sglang(setting: &Setting<'_>, tokens: u64, pool: f64) -> f64 {
    const STATES_SHARE: f64 = 0.9 / 1.9;
    const STATES_OF_ONE: f64 = 5.0;
    const STATE_ELEMENT_BYTES: f64 = 4.0;
    const WINDOWED_SHARE: f64 = 0.8;
    let (mut states, mut whole, mut windowed) = (0.0, 0.0, 0.0);
    for group in &setting.shape.attention {
        let mut alone = setting.shape.clone();
        alone.attention = vec![group.clone()];
        let elements = |windows_kept: bool| {
            kv::card_elements(
                &alone,
                tokens as f64,
                setting.attention_tensor(),
                windows_kept,
            )
        };
        match group.kind {
            AttentionKind::Linear { .. } => states += elements(true),
            AttentionKind::Heads {
                window: Some(_), ..
            } => windowed += elements(false),
            _ => whole += elements(true),
        }
    }
    let share = 1.0 / f64::from(setting.stages);
    // A model whose blocks all have windows keeps them as they are.
    let cached = if whole > 0.0 {
        whole + WINDOWED_SHARE * windowed
    } else {
        windowed
    };
    let one = (cached * setting.element_bytes * share).max(1.0);
    if states > 0.0 {
        let room = STATES_OF_ONE * states * STATE_ELEMENT_BYTES * share;
        (pool * (1.0 - STATES_SHARE) / one).min(pool * STATES_SHARE / room)
    } else {
        pool / one
    }
}
