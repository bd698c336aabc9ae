//! How a row's run is laid out over its cards.

use crate::catalog::Card;
use crate::measured::InferenceRow;
use crate::plan::ServingPlan;
use crate::scenario::Engine;

/// The layout that a row states. Cards beyond the tensor-parallel ways hold further layers where
/// the engine splits layers or one group cannot hold the weights, else further copies.
pub(super) fn layout(
    row: &InferenceRow,
    engine: Engine,
    card: &Card,
    weights_bytes: f64,
    requests: u32,
) -> ServingPlan {
    /// Share of a card that weights may take where copies are laid out.
    const WEIGHTS_SHARE: f64 = 0.85;
    let cards = row.n_gpus.or(row.tp).unwrap_or(1).max(1);
    let usable = card.usable_memory_bytes() as f64 * WEIGHTS_SHARE;
    let splits_layers = matches!(
        engine,
        Engine::LlamaCpp
            | Engine::Transformers
            | Engine::Exllama
            | Engine::Exllamav2
            | Engine::MlcLlm
            | Engine::Fastertransformer
    );
    let tensor = match row.tp {
        // It splits layers over cards, whatever a source calls that.
        Some(_) if engine == Engine::Transformers => 1,
        Some(tp) => tp.clamp(1, cards),
        None if splits_layers => 1,
        // As few ways as hold the weights, the usual choice for throughput.
        None => {
            let mut ways = 1;
            while ways < cards && weights_bytes / f64::from(ways) > usable {
                ways *= 2;
            }
            ways.min(cards)
        }
    };
    let groups = (cards / tensor).max(1);
    let fits_group = weights_bytes / f64::from(tensor) <= usable;
    let (stages, replicas) = if splits_layers {
        (groups, 1)
    } else if fits_group {
        (1, groups)
    } else {
        // As few stages as hold the weights, and copies of them.
        let holds = |stages: &u32| {
            groups.is_multiple_of(*stages) && weights_bytes / f64::from(tensor * stages) <= usable
        };
        let stages = (1..=groups).find(holds).unwrap_or(groups);
        (stages, groups / stages)
    };
    ServingPlan {
        cards: tensor * stages * replicas,
        replicas,
        tensor_parallel: tensor,
        pipeline_parallel: stages,
        batch: requests.div_ceil(replicas).max(1),
    }
}
