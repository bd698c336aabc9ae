//! The shape of a model described by hand, in a link.
//!
//! Most models are said with `layers`, `hidden`, `heads` and a few more. Where blocks differ,
//! `attn` lists groups, `LAYERS:KIND:...`, joined by commas:
//!
//! - `LAYERS:heads:QUERY:KV:DIM` or `LAYERS:heads:QUERY:KV:DIM:WINDOW`, `KV` 0 where a block uses
//!   the cache of an earlier one
//! - `LAYERS:mla:HEADS:QRANK:KVRANK:NOPE:ROPE:V`, `QRANK` 0 where it is not factored
//! - `LAYERS:csa:HEADS:DIM:RATIO:WINDOW:PARAMS`, compressed entries, `RATIO` 0 for the window alone
//! - `LAYERS:linear:HEADS:STATE:PARAMS`
//!
//! A group may end in `~TOP:HEADS:DIM`: an indexer of so many heads and width chooses the `TOP`
//! entries that a query looks at.

use super::defaults;
use super::limits::{self, Limit};
use super::params::Param;
use super::problem::{Outcome, Problem, ProblemKind};
use super::reader::{Given, Reader, within};
use crate::catalog::{AttentionGroup, AttentionKind, Catalog, ExpertLayers, Sparse, Transformer};

/// Query heads where none are given.
const HEADS_DEFAULT: u32 = 32;

/// Reads the shape.
pub(super) fn read(reader: &mut Reader<'_>) -> Transformer {
    let plain = defaults::transformer();
    let hidden = reader.whole_or(&limits::HIDDEN, plain.hidden);
    let attention = match reader.take("attn") {
        Some(given) => {
            let groups = read_groups(&given);
            if groups.is_none() {
                reader.problem(Problem::new(
                    "attn",
                    ProblemKind::NotAttention,
                    &given,
                    Outcome::Ignored,
                ));
            }
            groups
        }
        None => None,
    };
    let (layers, attention) = match attention {
        Some(groups) => {
            for name in ["heads", "kvheads", "hd", "window"] {
                reader.refuse(name, ProblemKind::Conflict, "attn");
            }
            let sum: u32 = groups.iter().map(|g| g.layers).sum();
            let layers = reader.whole_or(&limits::LAYERS, sum);
            if layers != sum {
                reader.problem(
                    Problem::new(
                        "layers",
                        ProblemKind::LayersDiffer,
                        &layers.to_string(),
                        Outcome::Used(sum.to_string()),
                    )
                    .bound(sum.to_string()),
                );
            }
            (sum, groups)
        }
        None => {
            let layers = reader.whole_or(&limits::LAYERS, plain.layers);
            let kind = read_heads(reader, hidden);
            let sparse = None;
            (
                layers,
                vec![AttentionGroup {
                    layers,
                    kind,
                    sparse,
                }],
            )
        }
    };
    let ffn_gated = reader.flag_or("gated", plain.ffn_gated);
    let usual_ffn = defaults::feed_forward(hidden, ffn_gated);
    let experts = read_experts(reader, layers, usual_ffn);
    let all_hold_experts = experts.as_ref().is_some_and(|e| e.layers == layers);
    let ffn_default = if all_hold_experts { 0 } else { usual_ffn };
    let mut ffn = reader.whole_or(&limits::FFN, ffn_default);
    // Beside expert blocks there may be blocks of attention alone, and state-space blocks need no
    // network of their own.
    let has_states = attention
        .iter()
        .any(|group| matches!(group.kind, AttentionKind::Linear { .. }));
    if ffn == 0 && experts.is_none() && !has_states {
        reader.problem(Problem::new(
            "ffn",
            ProblemKind::NoFeedForward,
            "0",
            Outcome::Used(usual_ffn.to_string()),
        ));
        ffn = usual_ffn;
    }
    let shape = Transformer {
        layers,
        hidden,
        ffn,
        ffn_gated,
        vocab: reader.whole_or(&limits::VOCAB, plain.vocab),
        tie_embeddings: reader.flag_or("tie", plain.tie_embeddings),
        attention,
        experts,
        extra_params: reader.number_or(&limits::EXTRA_PARAMS, 0.0) as u64,
        aside_params: reader.number_or(&limits::ASIDE_PARAMS, 0.0) as u64,
    };
    if params(&shape) > limits::TOTAL_PARAMS {
        reader.problem(
            Problem::new(
                "m",
                ProblemKind::ModelTooLarge,
                &format!("{:.0}T", params(&shape) / 1e12),
                Outcome::Used("Llama 7B".to_owned()),
            )
            .bound_number(limits::TOTAL_PARAMS),
        );
        return plain;
    }
    shape
}

/// What a link would correct of a shape: `None` where it is read as it is written.
pub(crate) fn corrected(shape: &Transformer) -> Option<Problem> {
    let mut pairs = Vec::new();
    write(shape, &mut pairs);
    let given = pairs.into_iter().filter_map(|(name, value)| {
        let param = Param::of(name)?;
        Some(Given { param, value })
    });
    let mut reader = Reader::new(Catalog::embedded(), given.collect(), Vec::new());
    let again = read(&mut reader);
    let corrected = reader.problems.into_iter().find(|p| !p.is_warning());
    let differs = || Problem::new("m", ProblemKind::Conflict, "", Outcome::Ignored);
    corrected.or_else(|| (again != *shape).then(differs))
}

/// Whether a shape has no more parameters than a scenario may have, so that counts of bytes and
/// FLOPs stay whole.
pub(crate) fn is_within_limits(shape: &Transformer) -> bool {
    params(shape) <= limits::TOTAL_PARAMS
}

/// Parameters, roughly and without overflow whatever the shape.
fn params(shape: &Transformer) -> f64 {
    let hidden = f64::from(shape.hidden);
    let attention: f64 = shape
        .attention
        .iter()
        .map(|g| {
            let one = match g.kind {
                AttentionKind::Heads {
                    heads,
                    kv_heads,
                    head_dim,
                    ..
                } => 2.0 * hidden * f64::from(head_dim) * (f64::from(heads) + f64::from(kv_heads)),
                AttentionKind::Latent {
                    heads,
                    q_rank,
                    kv_rank,
                    qk_nope_dim,
                    qk_rope_dim,
                    v_dim,
                } => {
                    let width = f64::from(heads)
                        * (f64::from(qk_nope_dim) + f64::from(qk_rope_dim) + f64::from(v_dim));
                    (hidden + f64::from(q_rank.unwrap_or(0)) + f64::from(kv_rank)) * width
                }
                AttentionKind::Compressed { params, .. } | AttentionKind::Linear { params, .. } => {
                    params as f64
                }
            };
            one * f64::from(g.layers)
        })
        .sum();
    // Widths of latent experts are no larger than the residual stream's in any model; both bound it.
    let widest = hidden.max(shape.experts.as_ref().map_or(0.0, |e| f64::from(e.latent)));
    let experts = shape.experts.as_ref().map_or(0.0, |e| {
        f64::from(e.layers)
            * (f64::from(e.experts) * f64::from(e.ffn) + f64::from(e.shared_ffn))
            * widest
            / hidden
    });
    attention
        + shape.extra_params as f64
        + shape.aside_params as f64
        + 3.0 * hidden * (f64::from(shape.layers) * f64::from(shape.ffn) + experts)
        + 2.0 * hidden * f64::from(shape.vocab)
}

fn read_heads(reader: &mut Reader<'_>, hidden: u32) -> AttentionKind {
    let heads = reader.whole_or(&limits::HEADS, HEADS_DEFAULT);
    let mut kv_heads = reader.whole_or(&limits::KV_HEADS, heads);
    if !heads.is_multiple_of(kv_heads) {
        reader.problem(
            Problem::new(
                "kvheads",
                ProblemKind::KvHeadsDoNotDivide,
                &kv_heads.to_string(),
                Outcome::Used(heads.to_string()),
            )
            .bound(heads.to_string()),
        );
        kv_heads = heads;
    }
    AttentionKind::Heads {
        heads,
        kv_heads,
        head_dim: reader.whole_or(&limits::HEAD_DIM, usual_head_dim(hidden, heads)),
        window: reader.whole_or_open(&limits::WINDOW),
    }
}

/// Width of a head where none is given.
fn usual_head_dim(hidden: u32, heads: u32) -> u32 {
    (hidden / heads.max(1)).clamp(1, limits::HEAD_DIM.max as u32)
}

fn read_experts(reader: &mut Reader<'_>, layers: u32, usual_ffn: u32) -> Option<ExpertLayers> {
    let experts = reader.whole_or_open(&limits::EXPERTS)?;
    let mut per_token = reader.whole_or(&limits::EXPERTS_PER_TOKEN, usual_per_token(experts));
    if per_token > experts {
        reader.problem(
            Problem::new(
                "top",
                ProblemKind::TopAboveExperts,
                &per_token.to_string(),
                Outcome::Used(usual_per_token(experts).to_string()),
            )
            .bound(experts.to_string()),
        );
        per_token = usual_per_token(experts);
    }
    let mut expert_layers = reader.whole_or(&limits::EXPERT_LAYERS, layers);
    if expert_layers > layers {
        reader.problem(
            Problem::new(
                "elayers",
                ProblemKind::ExpertLayersAboveLayers,
                &expert_layers.to_string(),
                Outcome::Used(layers.to_string()),
            )
            .bound(layers.to_string()),
        );
        expert_layers = layers;
    }
    Some(ExpertLayers {
        experts,
        per_token,
        ffn: reader.whole_or(&limits::EXPERT_FFN, usual_ffn),
        shared_ffn: reader.whole_or(&limits::SHARED_FFN, 0),
        layers: expert_layers,
        latent: reader.whole_or(&limits::EXPERT_LATENT, 0),
    })
}

/// Experts for a token where none is given.
fn usual_per_token(experts: u32) -> u32 {
    experts.min(2)
}

/// Writes the shape's parameters that differ from what a silent link says.
pub(super) fn write(shape: &Transformer, pairs: &mut Vec<(&'static str, String)>) {
    let plain = defaults::transformer();
    let mut put = |name: &'static str, value: String, default: String| {
        if value != default {
            pairs.push((name, value));
        }
    };
    let number = |n: u32| n.to_string();
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let simple = match shape.attention.as_slice() {
        [
            AttentionGroup {
                layers,
                kind:
                    AttentionKind::Heads {
                        heads,
                        kv_heads,
                        head_dim,
                        window,
                    },
                sparse: None,
            },
        ] if *layers == shape.layers => {
            Some((*heads, *kv_heads, *head_dim, *window)).filter(|(_, kv_heads, ..)| *kv_heads > 0)
        }
        _ => None,
    };
    if simple.is_some() {
        put("layers", number(shape.layers), number(plain.layers));
    }
    put("hidden", number(shape.hidden), number(plain.hidden));
    match simple {
        Some((heads, kv_heads, head_dim, window)) => {
            let usual_dim = usual_head_dim(shape.hidden, heads);
            put("heads", number(heads), number(HEADS_DEFAULT));
            put("kvheads", number(kv_heads), number(heads));
            put("hd", number(head_dim), number(usual_dim));
            put("window", number(window.unwrap_or(0)), number(0));
        }
        None => put("attn", write_groups(&shape.attention), String::new()),
    }
    let usual_ffn = defaults::feed_forward(shape.hidden, shape.ffn_gated);
    let all_hold_experts = shape
        .experts
        .as_ref()
        .is_some_and(|e| e.layers == shape.layers);
    let ffn_default = if all_hold_experts { 0 } else { usual_ffn };
    put("ffn", number(shape.ffn), number(ffn_default));
    put("gated", yes_no(shape.ffn_gated), yes_no(plain.ffn_gated));
    put("vocab", number(shape.vocab), number(plain.vocab));
    put(
        "tie",
        yes_no(shape.tie_embeddings),
        yes_no(plain.tie_embeddings),
    );
    if let Some(e) = &shape.experts {
        put("experts", number(e.experts), String::new());
        put(
            "top",
            number(e.per_token),
            number(usual_per_token(e.experts)),
        );
        put("eff", number(e.ffn), number(usual_ffn));
        put("sff", number(e.shared_ffn), number(0));
        put("elayers", number(e.layers), number(shape.layers));
        put("elat", number(e.latent), number(0));
    }
    put("extra", shape.extra_params.to_string(), number(0));
    put("aside", shape.aside_params.to_string(), number(0));
}

/// Attention groups in the form of `attn`.
pub(crate) fn write_groups(groups: &[AttentionGroup]) -> String {
    let one = |group: &AttentionGroup| {
        let layers = group.layers;
        let kind = match group.kind {
            AttentionKind::Heads {
                heads,
                kv_heads,
                head_dim,
                window: None,
            } => format!("{layers}:heads:{heads}:{kv_heads}:{head_dim}"),
            AttentionKind::Heads {
                heads,
                kv_heads,
                head_dim,
                window: Some(window),
            } => format!("{layers}:heads:{heads}:{kv_heads}:{head_dim}:{window}"),
            AttentionKind::Latent {
                heads,
                q_rank,
                kv_rank,
                qk_nope_dim,
                qk_rope_dim,
                v_dim,
            } => format!(
                "{layers}:mla:{heads}:{}:{kv_rank}:{qk_nope_dim}:{qk_rope_dim}:{v_dim}",
                q_rank.unwrap_or(0)
            ),
            AttentionKind::Compressed {
                heads,
                entry_dim,
                ratio,
                window,
                params,
            } => format!("{layers}:csa:{heads}:{entry_dim}:{ratio}:{window}:{params}"),
            AttentionKind::Linear {
                heads,
                state_elements,
                params,
            } => format!("{layers}:linear:{heads}:{state_elements}:{params}"),
        };
        match group.sparse {
            Some(sparse) => format!(
                "{kind}~{}:{}:{}",
                sparse.top, sparse.index_heads, sparse.index_dim
            ),
            None => kind,
        }
    };
    groups.iter().map(one).collect::<Vec<_>>().join(",")
}

/// Reads the form of `attn`; `None` where a part is missing, unknown or out of its limit.
fn read_groups(given: &str) -> Option<Vec<AttentionGroup>> {
    const RANK: Limit = Limit {
        name: "attn",
        ..limits::HIDDEN
    };
    // A block without keys and values of its own.
    const OWN_KV_HEADS: Limit = Limit {
        min: 0.0,
        ..limits::KV_HEADS
    };
    const RATIO: Limit = Limit {
        min: 0.0,
        ..limits::WINDOW
    };
    const ELEMENTS: Limit = Limit {
        name: "attn",
        min: 0.0,
        max: limits::LINEAR_ELEMENTS,
        ..limits::HIDDEN
    };
    let one = |text: &str| -> Option<AttentionGroup> {
        let (text, sparse) = match text.trim().split_once('~') {
            Some((text, sparse)) => (text, Some(read_sparse(sparse)?)),
            None => (text.trim(), None),
        };
        let (layers, rest) = text.split_once(':')?;
        let (kind, rest) = rest.split_once(':')?;
        let parts: Vec<&str> = rest.split(':').collect();
        let number = |at: usize, limit: &Limit| within(parts.get(at)?, limit).ok();
        let whole = |at, limit| number(at, limit).map(|n| n as u32);
        let kind = match (kind, parts.len()) {
            ("heads", 3 | 4) => {
                let (heads, kv_heads) = (whole(0, &limits::HEADS)?, whole(1, &OWN_KV_HEADS)?);
                if kv_heads > 0 && !heads.is_multiple_of(kv_heads) {
                    return None;
                }
                AttentionKind::Heads {
                    heads,
                    kv_heads,
                    head_dim: whole(2, &limits::HEAD_DIM)?,
                    window: match parts.len() {
                        4 => Some(whole(3, &limits::WINDOW)?),
                        _ => None,
                    },
                }
            }
            ("mla", 6) => AttentionKind::Latent {
                heads: whole(0, &limits::HEADS)?,
                q_rank: match parts.get(1) {
                    Some(&"0") => None,
                    _ => Some(whole(1, &RANK)?),
                },
                kv_rank: whole(2, &RANK)?,
                qk_nope_dim: whole(3, &limits::HEAD_DIM)?,
                qk_rope_dim: whole(4, &limits::ROPE_DIM)?,
                v_dim: whole(5, &limits::HEAD_DIM)?,
            },
            ("csa", 5) => AttentionKind::Compressed {
                heads: whole(0, &limits::HEADS)?,
                entry_dim: whole(1, &limits::HEAD_DIM)?,
                ratio: whole(2, &RATIO)?,
                window: whole(3, &RATIO)?,
                params: number(4, &ELEMENTS)? as u64,
            },
            ("linear", 3) => AttentionKind::Linear {
                heads: whole(0, &limits::HEADS)?,
                state_elements: number(1, &ELEMENTS)? as u64,
                params: number(2, &ELEMENTS)? as u64,
            },
            _ => return None,
        };
        Some(AttentionGroup {
            layers: within(layers, &limits::LAYERS).ok()? as u32,
            kind,
            sparse,
        })
    };
    let groups: Vec<_> = given
        .split(',')
        .take(limits::ATTENTION_GROUPS + 1)
        .map(one)
        .collect::<Option<_>>()?;
    let layers: u32 = groups.iter().map(|g| g.layers).sum();
    (groups.len() <= limits::ATTENTION_GROUPS && f64::from(layers) <= limits::LAYERS.max)
        .then_some(groups)
}

/// Reads `TOP:HEADS:DIM` of an indexer.
fn read_sparse(given: &str) -> Option<Sparse> {
    let mut parts = given.split(':');
    let mut whole = |limit: &Limit| within(parts.next()?, limit).ok().map(|n| n as u32);
    let sparse = Sparse {
        top: whole(&limits::WINDOW)?,
        index_heads: whole(&limits::HEADS)?,
        index_dim: whole(&limits::HEAD_DIM)?,
    };
    parts.next().is_none().then_some(sparse)
}
