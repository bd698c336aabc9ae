//! The model of a row: the catalog's where its name is known, else the shape that the row gives,
//! else the catalog's dense model of the nearest size.

use crate::catalog::{AttentionGroup, Catalog, ExpertLayers, Model, Transformer};
use crate::dtype::WeightFormat;
use crate::measured::InferenceRow;
use crate::scenario::shape::is_within_limits;

/// Farthest that a catalog model's parameters may be from what the row says, as a share.
const SAME_SIZE: f64 = 0.06;
/// Farthest that a dense model of another name may be.
const LIKE_SIZE: f64 = 0.25;

/// The model, or why there is none.
pub(super) fn model_of(row: &InferenceRow, catalog: &Catalog) -> Result<Model, String> {
    let params = row.params_b.map(|b| b * 1e9).filter(|p| *p > 0.0);
    if let Some(known) = by_name(&row.model, catalog) {
        let near = params.is_none_or(|p| (known.params_total as f64 / p - 1.0).abs() < SAME_SIZE);
        let same_depth = row
            .layers
            .is_none_or(|layers| layers == known.transformer.layers);
        if near && same_depth {
            return Ok(known.clone());
        }
    }
    if let Some(shape) = shape_of(row).filter(is_within_limits) {
        return Ok(made(row, shape, params));
    }
    let Some(params) = params.or_else(|| size_in_name(&row.model)) else {
        return Err("model not in the catalog, and neither its shape nor its size stated".into());
    };
    if !row.moe_experts.is_empty() {
        return Err("mixture of experts not in the catalog, shape not stated".into());
    }
    nearest_dense(catalog, params)
        .cloned()
        .ok_or_else(|| "model not in the catalog, shape not stated".into())
}

/// The catalog's model of that name, words that do not change the shape left out.
fn by_name<'a>(name: &str, catalog: &'a Catalog) -> Option<&'a Model> {
    if let Some(found) = catalog.model(name) {
        return Some(found);
    }
    let lower = name.to_lowercase();
    // Organisations stand before a slash.
    let lower = lower.rsplit('/').next().unwrap_or(&lower);
    let words: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || c == '-' || c == '_' || c == '(' || c == ')')
        .filter(|word| !word.is_empty())
        .collect();
    let tuned = |word: &&str| {
        !matches!(
            *word,
            "chat"
                | "instruct"
                | "it"
                | "hf"
                | "base"
                | "meta"
                | "gptq"
                | "awq"
                | "gguf"
                | "int4"
                | "int8"
                | "fp8"
                | "2507"
                | "v1"
        )
    };
    let kept: Vec<&str> = words.iter().copied().filter(tuned).collect();
    let joined = kept.join(" ");
    let renamed = joined
        .replace("llama 1 ", "llama ")
        .replace("r1 distill", "deepseek r1 distill")
        .replace("deepseek deepseek", "deepseek");
    catalog
        .model(&joined)
        .or_else(|| catalog.model(&renamed))
        .or_else(|| catalog.model(&format!("{joined} v0.1")))
        // The first generation of Qwen has the shape of the next.
        .or_else(|| {
            joined
                .strip_prefix("qwen ")
                .and_then(|size| catalog.model(&format!("qwen1.5 {size}")))
        })
}

/// A size such as `7B` or `1.5b` in a name, in parameters.
fn size_in_name(name: &str) -> Option<f64> {
    name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
        .filter_map(|word| word.strip_suffix(['b', 'B']))
        .find_map(|digits| digits.parse::<f64>().ok())
        .filter(|billions| (0.05..5000.0).contains(billions))
        .map(|billions| billions * 1e9)
}

fn nearest_dense(catalog: &Catalog, params: f64) -> Option<&Model> {
    let far = |m: &Model| (m.params_total as f64 / params).ln().abs();
    catalog
        .models
        .iter()
        .filter(|m| m.transformer.experts.is_none() && far(m) < LIKE_SIZE)
        .min_by(|a, b| far(a).total_cmp(&far(b)))
}

/// The shape in a row's own columns, where it gives enough of it.
fn shape_of(row: &InferenceRow) -> Option<Transformer> {
    let (layers, hidden, heads) = (row.layers?, row.hidden?, row.heads?);
    let (vocab, ffn) = (row.vocab?, row.ffn.unwrap_or(hidden.checked_mul(4)?));
    if layers == 0 || hidden == 0 || heads == 0 {
        return None;
    }
    let head_dim = row.head_dim.filter(|d| *d > 0).unwrap_or(hidden / heads);
    let kv_heads = row.kv_head_count().unwrap_or(heads).min(heads);
    let dense = Transformer {
        layers,
        hidden,
        ffn,
        ffn_gated: true,
        vocab,
        tie_embeddings: false,
        attention: vec![AttentionGroup::full(layers, heads, kv_heads, head_dim)],
        experts: None,
        extra_params: 0,
        aside_params: 0,
    };
    let target = row.params_b.map(|b| b * 1e9);
    if !row.moe_experts.trim().is_empty() {
        return with_experts(dense, &row.moe_experts, row.ffn, target);
    }
    let Some(target) = target else {
        return Some(dense);
    };
    // Whether the network is gated and whether it shares its tables shows in the count.
    [(true, false), (true, true), (false, false), (false, true)]
        .into_iter()
        .map(|(ffn_gated, tie_embeddings)| Transformer {
            ffn_gated,
            tie_embeddings,
            ..dense.clone()
        })
        .min_by(|a, b| {
            let off = |t: &Transformer| (t.params() as f64 / target).ln().abs();
            off(a).total_cmp(&off(b))
        })
}

/// Reads words such as `60 routed top4 + shared 5632`, `256 top8 + 1 shared`, `8 top2`.
fn with_experts(
    dense: Transformer,
    words: &str,
    ffn: Option<u32>,
    target: Option<f64>,
) -> Option<Transformer> {
    let lower = words.to_ascii_lowercase();
    let numbers: Vec<u32> = lower
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect();
    let experts = *numbers.first()?;
    let per_token = numbers
        .get(1)
        .copied()
        .unwrap_or(2)
        .clamp(1, experts.max(1));
    let shared_word = lower.contains("shared");
    let shared_number = numbers.get(2).copied().unwrap_or(1);
    let every_second = lower.contains("every 2nd") || lower.contains("every second");
    let expert_layers = if every_second {
        dense.layers / 2
    } else {
        dense.layers
    };
    let build = |expert_ffn: u32| {
        let shared_ffn = match (shared_word, shared_number) {
            (false, _) => 0,
            // A small number counts experts, a large one is a width.
            (true, n) if n <= 16 => n.saturating_mul(expert_ffn),
            (true, width) => width,
        };
        Transformer {
            ffn: if every_second { dense.ffn } else { 0 },
            experts: Some(ExpertLayers {
                experts,
                per_token,
                ffn: expert_ffn,
                shared_ffn,
                layers: expert_layers,
                latent: 0,
            }),
            ..dense.clone()
        }
    };
    let Some(target) = target else {
        return ffn.map(build);
    };
    // The width of an expert is what is left of the parameters.
    let (none, one) = (build(0).params() as f64, build(1024).params() as f64);
    let width = (target - none) / ((one - none) / 1024.0);
    let width = (width > 8.0 && width < 1e6).then(|| width.round() as u32)?;
    Some(build(width))
}

fn made(row: &InferenceRow, shape: Transformer, params: Option<f64>) -> Model {
    let total = params.map_or_else(|| shape.params(), |p| p as u64);
    Model {
        id: String::new(),
        name: row.model.clone(),
        family: String::new(),
        aliases: Vec::new(),
        params_total: total,
        params_active: shape.active_params(),
        transformer: shape,
        max_context: u32::MAX,
        native_format: WeightFormat::Bf16,
        licence: None,
        source: row.source.as_str().into(),
        notes: None,
    }
}
