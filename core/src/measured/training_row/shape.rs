//! Which network a row trained: the catalog's by name, the row's own columns, or one of its size.

use std::borrow::Cow;

use crate::catalog::{AttentionGroup, Catalog, ExpertLayers, Model, Transformer};
use crate::dtype::WeightFormat;
use crate::measured::TrainingRow;
use crate::packed::Aside;
use crate::scenario::shape::is_within_limits;

/// The model of `row`.
pub fn model<'a>(row: &TrainingRow, catalog: &'a Catalog) -> Result<Cow<'a, Model>, &'static str> {
    let named = by_name(&row.model, catalog);
    if let (Some(layers), Some(hidden)) = (row.layers, row.hidden) {
        if let Some(model) = named.or_else(|| by_shape(row, catalog)) {
            let t = &model.transformer;
            if t.layers == layers && t.hidden == hidden {
                return Ok(Cow::Borrowed(model));
            }
        }
        if let Some(model) =
            from_columns(row, layers, hidden).filter(|m| is_within_limits(&m.transformer))
        {
            return Ok(Cow::Owned(model));
        }
    }
    if let Some(model) = named {
        return Ok(Cow::Borrowed(model));
    }
    let params = row
        .params_b
        .filter(|p| *p > 0.0)
        .ok_or("the source gives neither a known model nor its size")?;
    Ok(Cow::Owned(of_size(row, params * 1e9)))
}

/// A name as it is compared.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// By name, alias, or the start of exactly one name.
fn by_name<'a>(name: &str, catalog: &'a Catalog) -> Option<&'a Model> {
    let base = name.split('(').next().unwrap_or(name).trim();
    if let Some(model) = catalog.model(base) {
        return Some(model);
    }
    let wanted = plain(base);
    if wanted.len() < 5 {
        return None;
    }
    let mut matches = catalog
        .models
        .iter()
        .filter(|m| plain(&m.name) == wanted || plain(&m.id) == wanted);
    if let Some(model) = matches.next() {
        return Some(model);
    }
    let mut starts = catalog.models.iter().filter(|m| {
        [plain(&m.name), plain(&m.id)]
            .iter()
            .any(|n| n.strip_prefix(&wanted).is_some_and(|rest| !rest.is_empty()))
            // A size in the wanted name must end there: `llama1` is no start of `llama13b`.
            && !wanted.ends_with(|c: char| c.is_ascii_digit() && wanted.len() < 6)
    });
    let first = starts.next()?;
    starts.next().is_none().then_some(first)
}

/// The only model of the catalog with the row's blocks, widths and vocabulary.
fn by_shape<'a>(row: &TrainingRow, catalog: &'a Catalog) -> Option<&'a Model> {
    let (layers, hidden, vocab) = (row.layers?, row.hidden?, row.vocab?);
    catalog.models.iter().find(|m| {
        let t = &m.transformer;
        let ffn_agrees = row
            .ffn
            .is_none_or(|f| f == t.ffn || t.experts.as_ref().is_some_and(|e| e.ffn == f));
        let heads_agree = row.heads.is_none_or(|h| h == t.heads());
        t.layers == layers && t.hidden == hidden && t.vocab == vocab && ffn_agrees && heads_agree
    })
}

fn shape_model(row: &TrainingRow, transformer: Transformer, params: u64) -> Model {
    Model {
        id: String::new(),
        name: row.model.clone(),
        family: String::new(),
        aliases: Vec::new(),
        params_total: params,
        params_active: transformer.active_params(),
        transformer,
        max_context: u32::MAX,
        native_format: WeightFormat::Bf16,
        licence: None,
        source: Aside::default(),
        notes: None,
    }
}

/// Head width that models without a stated one have.
const USUAL_HEAD_DIM: u32 = 128;

/// From the row's own columns. Whether the network is gated and its tables tied is what comes
/// closest to the stated size.
fn from_columns(row: &TrainingRow, layers: u32, hidden: u32) -> Option<Model> {
    let heads = row
        .heads
        .filter(|h| *h > 0)
        .unwrap_or((hidden / USUAL_HEAD_DIM).max(1));
    let kv_heads = row.kv_heads.filter(|h| *h > 0).unwrap_or(heads);
    let vocab = row.vocab.filter(|v| *v > 0)?;
    let ffn = row.ffn.filter(|f| *f > 0)?;
    let wanted = row.params_b.map(|p| p * 1e9);
    let experts = expert_count(row);
    let candidate = |gated: bool, tied: bool, per_token: u32| {
        let mut t = Transformer {
            layers,
            hidden,
            ffn,
            ffn_gated: gated,
            vocab,
            tie_embeddings: tied,
            attention: vec![AttentionGroup::full(
                layers,
                heads,
                kv_heads,
                (hidden / heads).max(1),
            )],
            experts: None,
            extra_params: 0,
            aside_params: 0,
        };
        if let Some(count) = experts {
            t.experts = Some(ExpertLayers {
                experts: count,
                per_token,
                ffn,
                shared_ffn: 0,
                layers,
                latent: 0,
            });
            t.ffn = 0;
        }
        t
    };
    let per_token = row
        .moe_experts
        .split("top")
        .nth(1)
        .and_then(|n| n.trim().parse().ok())
        .unwrap_or(2);
    let best = [(true, false), (true, true), (false, false), (false, true)]
        .into_iter()
        .map(|(gated, tied)| candidate(gated, tied, per_token))
        .min_by(|a, b| {
            let off = |t: &Transformer| wanted.map_or(0.0, |w| (t.params() as f64 / w).ln().abs());
            off(a).total_cmp(&off(b))
        })?;
    let params = match wanted {
        // The stated size says more than the shape only where they nearly agree.
        Some(w) if (best.params() as f64 / w - 1.0).abs() < 0.1 => {
            best.params().max(w.round() as u64)
        }
        _ => best.params(),
    };
    Some(shape_model(row, best, params))
}

/// The number that the experts' column starts with.
fn expert_count(row: &TrainingRow) -> Option<u32> {
    let digits: String = row
        .moe_experts
        .trim()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok().filter(|n| *n > 1)
}

/// A usual network of `params` parameters: width grows with the cube root of the size, as it does
/// from Llama 7B (4096) to GPT-3 175B (12288).
fn of_size(row: &TrainingRow, params: f64) -> Model {
    const VOCAB: u32 = 64_000;
    const WIDTH_OF_7B: f64 = 4096.0;
    const BLOCKS_OF_7B: f64 = 6.5e9;
    let active = row
        .moe_active_params_b
        .map(|a| a * 1e9)
        .filter(|a| *a > 0.0 && *a < params);
    let dense = active.unwrap_or(params);
    let width = WIDTH_OF_7B * (dense / BLOCKS_OF_7B).cbrt();
    let hidden = ((width / 128.0).round().max(1.0) as u32) * 128;
    let h = f64::from(hidden);
    let tables = 2.0 * f64::from(VOCAB) * h;
    let ffn = ((h * 8.0 / 3.0 / 128.0).round().max(1.0) as u32) * 128;
    let block = 4.0 * h * h + 3.0 * h * f64::from(ffn);
    let layers = (((dense - tables).max(block)) / block).round().max(1.0) as u32;
    let heads = hidden / 128;
    let mut transformer = Transformer {
        layers,
        hidden,
        ffn,
        ffn_gated: true,
        vocab: row.vocab.filter(|v| *v > 0).unwrap_or(VOCAB),
        tie_embeddings: false,
        attention: vec![AttentionGroup::full(layers, heads, heads, 128)],
        experts: None,
        extra_params: 0,
        aside_params: 0,
    };
    if active.is_some() {
        // The feed-forward part of a token is spread over the experts it uses.
        let experts = expert_count(row).unwrap_or(64);
        let extra = (params - dense).max(0.0) / f64::from(layers);
        let ffn_params = 3.0 * h * f64::from(ffn);
        let share = ffn_params / (ffn_params + extra);
        let used = (f64::from(experts) * share)
            .round()
            .clamp(1.0, f64::from(experts)) as u32;
        let one = (f64::from(ffn) / f64::from(used)).round().max(1.0) as u32;
        transformer.experts = Some(ExpertLayers {
            experts,
            per_token: used,
            ffn: one,
            shared_ffn: 0,
            layers,
            latent: 0,
        });
        transformer.ffn = 0;
    }
    let counted = transformer.params().max(params as u64);
    shape_model(row, transformer, counted)
}
