//! Mixtures of experts: how many, how wide, in which blocks.

use serde_json::Value;

use super::Origin;
use super::config::Dims;
use super::error::{BringError, BringErrorKind as Kind};
use super::source::{Read, Source};
use crate::catalog::ExpertLayers;
use crate::scenario::limits::{self, Limit};

/// Counts that may be none.
const COUNT: Limit = Limit {
    min: 0.0,
    ..limits::EXPERTS
};
const LAYERS: Limit = Limit {
    min: 0.0,
    ..limits::LAYERS
};

/// Names of the number of routed experts of a block.
const EXPERTS: &[&str] = &[
    "n_routed_experts",
    "num_local_experts",
    "num_experts",
    "moe_num_experts",
    "num_moe_experts",
    "num_routed_experts",
    "n_experts",
    "ffn_config.moe_num_experts",
];

/// Which blocks hold experts.
pub(super) fn blocks(source: &Source<'_>, dims: &Dims) -> Result<Option<Vec<bool>>, BringError> {
    let experts = source.whole(EXPERTS, &COUNT)?.map_or(0, |read| read.value);
    if experts < 2 {
        return Ok(None);
    }
    let layers = dims.layers;
    let by = |holds: &dyn Fn(u32) -> bool| Some((0..layers).map(holds).collect::<Vec<_>>());
    if let Some(list) = source.layer_list(
        &["moe_layer_freq", "mlp_layer_types", "moe_layers_pattern"],
        layers,
    )? {
        return Ok(Some(
            list.value
                .iter()
                .map(|value| match value {
                    Value::String(word) => word != "dense",
                    other => other.as_u64().unwrap_or(1) != 0,
                })
                .collect(),
        ));
    }
    // Blocks named one by one.
    let named = source.list(&["moe_layers"]).map(|list| {
        list.value
            .iter()
            .filter_map(Value::as_u64)
            .collect::<Vec<_>>()
    });
    let named = named.or_else(|| {
        let words = source.word(&["moe_layers_enum"])?;
        Some(
            words
                .split(',')
                .filter_map(|n| n.trim().parse().ok())
                .collect(),
        )
    });
    if let Some(named) = named.filter(|list| !list.is_empty()) {
        return Ok(by(&|at| named.contains(&u64::from(at))));
    }
    let dense_first = source.whole_or(
        &[
            "first_k_dense_replace",
            "num_dense_layers",
            "moe_layer_start_index",
            "first_k_dense",
        ],
        &LAYERS,
        0,
    )?;
    let dense_only: Vec<u64> = source
        .list(&["mlp_only_layers"])
        .map_or_else(Vec::new, |list| {
            list.value.iter().filter_map(Value::as_u64).collect()
        });
    let step = source.whole_or(
        &[
            "decoder_sparse_step",
            "interleave_moe_layer_step",
            "moe_layer_interval",
            "moe_layer_freq",
            "moe_every_n_layers",
            "expert_layer_period",
        ],
        &limits::LAYERS,
        1,
    )?;
    let offset = match source.whole(&["expert_layer_offset"], &LAYERS)? {
        Some(read) => read.value % step,
        None if source.has(&["moe_layer_freq", "moe_layer_interval"]) => 0,
        None => step - 1,
    };
    Ok(by(&|at| {
        at >= dense_first && at % step == offset && !dense_only.contains(&u64::from(at))
    }))
}

/// Reads the experts of `layers` blocks.
pub(super) fn read(
    source: &mut Source<'_>,
    dims: &Dims,
    layers: u32,
) -> Result<Option<(ExpertLayers, i64)>, BringError> {
    let Some(experts) = source.whole(EXPERTS, &COUNT)?.filter(|read| read.value > 1) else {
        return Ok(None);
    };
    if layers == 0 {
        return Ok(None);
    }
    let per_token = source.whole_or_each(
        &[
            "num_experts_per_tok",
            "num_experts_per_token",
            "experts_per_token",
            "top_k_experts",
            "moe_topk",
            "moe_top_k",
            "moe_k",
            "num_selected_experts",
            "num_experts_per_topk",
            "ffn_config.moe_top_k",
        ],
        &limits::EXPERTS_PER_TOKEN,
    )?;
    if let Some(read) = &per_token
        && read.value > experts.value
    {
        return Err(
            BringError::of(Kind::Conflict, &read.path, &read.value.to_string())
                .expected(format!("{} = {}", experts.path, experts.value)),
        );
    }
    // A name of its own, else the feed-forward network's. Hunyuan and ERNIE give one for each block,
    // or for text and images.
    let own = source.whole_or_each(
        &[
            "moe_intermediate_size",
            "expert_intermediate_size",
            "expert_ffn_hidden_size",
            "moe_ffn_hidden_size",
            "ffn_config.ffn_hidden_size",
        ],
        &limits::EXPERT_FFN,
    )?;
    let width = own.or_else(|| {
        let named = source.find(&["intermediate_size", "ffn_dim", "d_ff"])?;
        let value = super::source::whole(&named.path, named.value, &limits::EXPERT_FFN).ok()?;
        Some(Read {
            path: named.path,
            value,
        })
    });
    let (count, count_path) = (experts.value, experts.path.clone());
    source.note("experts", count, Origin::Read, &count_path);
    let per_token = source.take(
        "top",
        per_token,
        (2.min(count), Origin::Assumed, "num_experts_per_tok"),
    );
    let ffn = source.take(
        "eff",
        width,
        (
            dims.ffn_or_usual(),
            Origin::Assumed,
            "moe_intermediate_size",
        ),
    );
    let shared = shared(source, dims, ffn)?;
    let shared_ffn = source.take("sff", shared, (0, Origin::Worked, "n_shared_experts"));
    source.note("elayers", layers, Origin::Worked, "first_k_dense_replace");
    let latent = source.whole(
        &[
            "moe_latent_size",
            "routed_expert_hidden_size",
            "moe_hidden_size",
        ],
        &limits::HIDDEN,
    )?;
    let latent = match latent {
        Some(read) if read.value != dims.hidden => {
            source.note("elat", read.value, Origin::Read, &read.path);
            read.value
        }
        _ => 0,
    };
    // A gate of the shared expert, biases of routing, biases of experts.
    let gate = if shared_ffn > 0 && source.has(&["shared_expert_intermediate_size"]) {
        i64::from(dims.hidden)
    } else {
        0
    };
    let routing = if source.flag_or(
        &["use_routing_bias", "moe_use_bias", "use_expert_bias"],
        false,
    )? || source.word(&["topk_method"]) == Some("noaux_tc")
    {
        i64::from(count)
    } else {
        0
    };
    let biases = if dims.kind_name == "gpt_oss" {
        i64::from(count) * (2 * i64::from(ffn) + i64::from(dims.hidden)) + i64::from(count)
    } else {
        0
    };
    let extra = i64::from(layers) * (gate + routing + biases);
    Ok(Some((
        ExpertLayers {
            experts: count,
            per_token,
            ffn,
            shared_ffn,
            layers,
            latent,
        },
        extra,
    )))
}

/// Width of a block's shared experts together.
fn shared(
    source: &Source<'_>,
    dims: &Dims,
    expert_ffn: u32,
) -> Result<Option<Read<u32>>, BringError> {
    let own = source.whole(
        &[
            "shared_expert_intermediate_size",
            "moe_shared_expert_intermediate_size",
            "shared_intermediate_size",
            "share_expert_dim",
            "shared_expert_dim",
        ],
        &limits::SHARED_FFN,
    )?;
    if own.is_some() {
        return Ok(own);
    }
    let count = source.whole_or_each(
        &[
            "n_shared_experts",
            "num_shared_experts",
            "num_shared_expert",
            "moe_num_shared_experts",
        ],
        &COUNT,
    )?;
    if let Some(read) = count {
        return Ok(Some(read.map(|n| {
            n.saturating_mul(expert_ffn)
                .min(limits::SHARED_FFN.max as u32)
        })));
    }
    let worked = match dims.kind_name.as_str() {
        // One shared expert as wide as a routed one, always.
        "llama4" | "llama4_text" => Some(expert_ffn),
        // A dense network beside the experts.
        "gemma4" | "gemma4_text" => dims.ffn,
        _ => None,
    };
    Ok(worked.map(|value| Read {
        path: "intermediate_size".to_owned(),
        value,
    }))
}
