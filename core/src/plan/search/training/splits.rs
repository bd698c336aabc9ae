//! Which splits of a training job over cards are worth a look.

use super::super::{powers_of_two, splits_layers};
use super::{BATCH_TOLERANCE, MOST_EXPERT_PARALLEL, MOST_MICRO_BATCH_TOKENS, TrainingSearch};
use crate::plan::{Offload, Recompute, Sharding, TrainingPlan};

/// Bytes of the whole model's states, unsplit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Whole {
    pub weights: f64,
    pub gradients: f64,
    pub states: f64,
    /// Share of the weights that lies in routed experts.
    pub expert_share: f64,
}

/// The split of a job over cards, before micro-batch and recomputation are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Split {
    pub data: u32,
    pub tensor: u32,
    pub pipeline: u32,
    pub expert: u32,
    pub context: u32,
    pub sharding: Sharding,
}

/// Which splits are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'s> {
    pub cards: u32,
    pub context: u32,
    /// Models may be split by tensor and by pipeline.
    pub model_parallel: bool,
    pub offload: Offload,
    /// A layout to stay near.
    pub near: Option<&'s TrainingPlan>,
}

impl TrainingSearch<'_> {
    /// Bytes of states on a card and of states on its host that no layout of this split goes
    /// below.
    pub(super) fn floors(&self, split: &Split, offload: Offload) -> (f64, f64) {
        let ranks = match split.sharding {
            Sharding::Hybrid => (self.node.cards_per_node / split.tensor).clamp(1, split.data),
            _ => split.data * split.context,
        };
        let ranks = f64::from(ranks);
        let Whole {
            weights,
            gradients,
            states,
            expert_share,
        } = self.whole;
        // Experts are spread over their ranks whatever the sharding; sharding then has less left.
        let own = |bytes: f64, from: Sharding| {
            let shards = if split.sharding >= from { ranks } else { 1.0 };
            let experts = shards.max(f64::from(split.expert));
            bytes * ((1.0 - expert_share) / shards + expert_share / experts)
        };
        let ways = f64::from(split.tensor * split.pipeline);
        let weights = own(weights, Sharding::Zero3) / ways;
        let gradients = own(gradients, Sharding::Zero2) / ways;
        let states = own(states, Sharding::Zero1) / ways;
        match offload {
            Offload::None => (weights + gradients + states, 0.0),
            Offload::Optimizer => (weights, states),
            Offload::All => (0.0, weights + states),
        }
    }

    /// Micro-batches of one step for about the wanted global batch; `None` where the ranks cannot
    /// share it.
    pub(super) fn grad_accum(&self, data: u32, micro_batch: u32) -> Option<u32> {
        let together = f64::from(data) * f64::from(micro_batch);
        let steps = (f64::from(self.global_batch) / together).round().max(1.0);
        let ratio = steps * together / f64::from(self.global_batch);
        let near = (1.0 / BATCH_TOLERANCE..=BATCH_TOLERANCE).contains(&ratio);
        near.then_some(steps as u32)
    }

    /// The largest micro-batch worth trying on `data` ranks, or the fixed one; `None` where the
    /// ranks are more than the sequences of a step.
    pub(super) fn largest_even_micro_batch(&self, data: u32) -> Option<u32> {
        if let Some(fixed) = self.fixed.micro_batch {
            return Some(fixed.max(1));
        }
        let most = (MOST_MICRO_BATCH_TOKENS / self.job.seq_len.max(1)).max(1);
        powers_of_two(most.min(self.global_batch))
            .filter(|m| self.grad_accum(data, *m).is_some())
            .last()
    }

    pub(super) fn recomputes(&self) -> &'static [Recompute] {
        match self.fixed.recompute {
            Some(Recompute::None) => &[Recompute::None],
            Some(Recompute::Selective) => &[Recompute::Selective],
            Some(Recompute::Full) => &[Recompute::Full],
            // Fused attention keeps no scores, so there is nothing to select.
            None if self.job.flash_attention => &[Recompute::None, Recompute::Full],
            None => &[Recompute::None, Recompute::Selective, Recompute::Full],
        }
    }

    pub(super) fn tensor_widths(&self, scope: Scope<'_>) -> Vec<u32> {
        let Scope { cards, context, .. } = scope;
        let divides = |ways: &u32| {
            let cards_of_copy = ways.checked_mul(context);
            cards_of_copy.is_some_and(|c| c > 0 && cards.is_multiple_of(c))
        };
        if let Some(ways) = self.fixed.tensor_parallel {
            return Some(ways).filter(divides).into_iter().collect();
        }
        // No common software tunes adapters under tensor parallelism.
        let most = if scope.model_parallel && !self.is_adapter() {
            self.node.cards_per_node.min(cards)
        } else {
            1
        };
        powers_of_two(most)
            .filter(|w| divides(w) && self.job.model.transformer.splits_into(*w))
            .collect()
    }

    pub(super) fn pipeline_depths(&self, scope: Scope<'_>, tensor: u32) -> Vec<u32> {
        let rest = scope.cards / (scope.context * tensor).max(1);
        let layers = self.job.model.transformer.layers;
        let divides = |stages: &u32| *stages > 0 && rest.is_multiple_of(*stages);
        if let Some(stages) = self.fixed.pipeline_parallel {
            return Some(stages).filter(divides).into_iter().collect();
        }
        if !scope.model_parallel {
            return vec![1];
        }
        powers_of_two(rest.min(layers))
            .chain([3, 5, 6, 7].into_iter().filter(|s| *s == rest))
            .filter(|s| divides(s) && splits_layers(layers, *s))
            .collect()
    }

    pub(super) fn expert_widths(&self, data: u32) -> Vec<u32> {
        let Some(experts) = &self.job.model.transformer.experts else {
            return vec![1];
        };
        let divides = |ways: &u32| {
            *ways > 0 && data.is_multiple_of(*ways) && experts.experts.is_multiple_of(*ways)
        };
        if let Some(ways) = self.fixed.expert_parallel {
            return Some(ways).filter(divides).into_iter().collect();
        }
        let all = powers_of_two(MOST_EXPERT_PARALLEL.min(data))
            .filter(divides)
            .collect::<Vec<_>>();
        let in_node = |w: &&u32| **w <= self.node.cards_per_node;
        let mut widths = vec![1];
        widths.extend(all.iter().rfind(in_node));
        widths.extend(all.last());
        widths.dedup();
        widths
    }

    /// From the simplest to the one that saves most.
    pub(super) fn shardings(&self, split: &Split) -> Vec<Sharding> {
        if let Some(fixed) = self.fixed.sharding {
            return vec![fixed];
        }
        if split.data * split.context == 1 {
            return vec![Sharding::None];
        }
        let adapters = self.is_adapter();
        let many_nodes =
            split.data * split.context * split.tensor * split.pipeline > self.node.cards_per_node;
        match (split.pipeline > 1, adapters) {
            (true, true) => vec![Sharding::None],
            // Gathering weights for every micro-batch of every stage is not done in practice.
            (true, false) => vec![Sharding::Zero1],
            (false, true) => vec![Sharding::None, Sharding::Zero3],
            (false, false) if many_nodes => vec![
                Sharding::Zero1,
                Sharding::Zero2,
                Sharding::Hybrid,
                Sharding::Zero3,
            ],
            (false, false) => vec![
                Sharding::None,
                Sharding::Zero1,
                Sharding::Zero2,
                Sharding::Zero3,
            ],
        }
    }
}
