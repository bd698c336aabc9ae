//! Time of collectives, seconds.

use super::constants::SpeedConstants;
use crate::catalog::{Card, Market, Node};
use crate::plan::{Sharding, TrainingPlan};

/// One-way bandwidths that collectives reach, bytes a second.
#[derive(Debug, Clone, Copy)]
pub struct Ways {
    /// Of one card inside its node.
    pub link: f64,
    /// Of a whole node.
    pub network: f64,
    /// Cards of a node.
    pub cards_per_node: f64,
}

/// GB/s to bytes a second.
const GIGA: f64 = 1e9;

/// One-way bandwidth between cards of a node; a slow bus where the catalog has no figure.
fn one_way(card: &Card) -> f64 {
    /// PCIe 3.0 x16, one way, GB/s.
    const UNKNOWN_LINK_GB_S: f64 = 16.0;
    /// Share of the bus that collectives of game cards reach. Their drivers refuse peer-to-peer
    /// copies, so every byte goes through host memory and crosses the bus twice, and all cards
    /// share the host's memory. A prior: no measured row of ours sees it alone.
    const STAGED_SHARE: f64 = 0.35;
    let staged = card.market == Market::Consumer && card.link.is_bus();
    card.link
        .bidirectional_gb_s
        .or(card.link.host_bidirectional_gb_s)
        .map_or(UNKNOWN_LINK_GB_S, |both| both / 2.0)
        * if staged { STAGED_SHARE } else { 1.0 }
        * GIGA
}

/// Cards that share one fast link. Racks of 18 four-card trays (NVL72) are one domain of NVLink 5.
pub fn link_domain(node: &Node<'_>) -> u32 {
    const RACK: u32 = 72;
    let link = &node.card.link;
    if link.cards_per_node == 4 && link.kind == "NVLink 5" && node.cards_per_node == 4 {
        RACK
    } else {
        node.cards_per_node.max(1)
    }
}

impl Ways {
    /// Of `node`.
    pub fn of(node: &Node<'_>, constants: &SpeedConstants) -> Self {
        Self {
            link: one_way(node.card) * constants.link_efficiency,
            network: node.network_gb_s.max(0.1)
                * GIGA
                * constants.network_efficiency
                * f64::from(link_domain(node))
                / f64::from(node.cards_per_node.max(1)),
            cards_per_node: f64::from(link_domain(node)),
        }
    }

    /// Time for each of `ranks` neighbouring cards to receive `bytes` from the others.
    fn within(&self, bytes: f64, ranks: f64) -> f64 {
        if ranks <= 1.0 {
            0.0
        } else if ranks <= self.cards_per_node {
            bytes / self.link
        } else {
            // Every card of a node pulls its own bytes through the node's network.
            (bytes / self.link).max(bytes * self.cards_per_node / self.network)
        }
    }

    /// Tensor-parallel collectives: `bytes` of activations reduced and gathered once.
    pub fn tensor(&self, bytes: f64, ways: f64) -> f64 {
        2.0 * self.within(bytes * (ways - 1.0) / ways.max(1.0), ways)
    }

    /// Ring over `ways` cards in which each takes `bytes` of every other.
    pub fn ring(&self, bytes: f64, ways: f64) -> f64 {
        self.within(bytes * (ways - 1.0), ways)
    }

    /// Exchange of tokens, `bytes` for one copy of all that a card sends, of which each goes to
    /// `experts` of the experts that `ways` cards share. A node is sent a token once, however many
    /// of its experts want it, and deals it out over its own links meanwhile; `once` says that a
    /// card is sent it once too.
    pub fn exchange(&self, bytes: f64, experts: f64, ways: f64, once: bool) -> f64 {
        if ways <= 1.0 {
            return 0.0;
        }
        let each = if once {
            distinct(experts, ways)
        } else {
            experts
        };
        let in_node = ways.min(self.cards_per_node);
        let link = bytes * each * (1.0 - 1.0 / in_node) / self.link;
        let nodes = ways / in_node;
        let network = bytes * distinct(experts, nodes) * (1.0 - 1.0 / nodes) * self.cards_per_node
            / self.network;
        link.max(network)
    }

    /// Hand `bytes` of each card to the next stage, where a copy of the model fills `cards`.
    pub fn neighbour(&self, bytes: f64, cards: f64) -> f64 {
        if cards <= self.cards_per_node {
            bytes / self.link
        } else {
            bytes * self.cards_per_node / self.network
        }
    }

    /// Gather (or scatter and reduce) of `bytes` over `ranks` data-parallel ranks, of which a
    /// node holds `in_node`; the node's other cards do the same with other bytes.
    pub fn data(&self, bytes: f64, ranks: f64, in_node: f64) -> f64 {
        if ranks <= 1.0 {
            return 0.0;
        }
        let inside = if in_node > 1.0 {
            bytes * (1.0 - 1.0 / ranks) / self.link
        } else {
            0.0
        };
        if ranks <= in_node {
            return inside;
        }
        let nodes = ranks / in_node.max(1.0);
        // Rings cross the network once a node, whatever the cards in it.
        let groups = (self.cards_per_node / in_node.max(1.0)).max(1.0);
        let outside = bytes * groups * (1.0 - 1.0 / nodes) / self.network;
        inside.max(outside)
    }
}

/// Of `places`, those that `draws` even draws meet.
fn distinct(draws: f64, places: f64) -> f64 {
    places * (1.0 - (1.0 - 1.0 / places.max(1.0)).powf(draws))
}

/// Data-parallel ranks of one node.
pub fn ranks_in_node(plan: &TrainingPlan, node: &Node<'_>) -> f64 {
    let tensor = plan.tensor_parallel.max(1);
    let ranks = plan.data_parallel.max(1) * plan.context_parallel.max(1);
    f64::from((link_domain(node) / tensor).clamp(1, ranks))
}

/// Bytes of one card's weights in compute format and of their gradients, before sharding.
#[derive(Debug, Clone, Copy)]
pub struct Exchanged {
    /// Weights.
    pub weights: f64,
    /// Gradients.
    pub gradients: f64,
}

/// Collectives of sharded weights and of gradients.
#[derive(Debug, Clone, Copy, Default)]
pub struct DataTime {
    /// Of each micro-batch.
    pub micro_batch_s: f64,
    /// Of each step, beside the last backward pass.
    pub step_s: f64,
    /// Of each step, after the update: weights that are gathered again.
    pub after_s: f64,
}

impl DataTime {
    /// Both, one after the other.
    pub fn plus(self, other: Self) -> Self {
        Self {
            micro_batch_s: self.micro_batch_s + other.micro_batch_s,
            step_s: self.step_s + other.step_s,
            after_s: self.after_s + other.after_s,
        }
    }
}

/// Time of data-parallel collectives of `held` bytes; `spread` is how many ranks hold different
/// parts already (expert parallelism), so that only every `spread`-th has the same.
pub fn data_parallel(
    plan: &TrainingPlan,
    node: &Node<'_>,
    ways: &Ways,
    held: &Exchanged,
    spread: u32,
) -> DataTime {
    let spread = f64::from(spread.max(1));
    let all = f64::from(plan.data_parallel.max(1) * plan.context_parallel.max(1));
    let ranks = (all / spread).max(1.0);
    let in_node = (ranks_in_node(plan, node) / spread).max(1.0);
    let once = |bytes: f64| ways.data(bytes, ranks, in_node);
    let (weights, gradients) = (held.weights, held.gradients);
    match plan.sharding {
        Sharding::None => DataTime {
            micro_batch_s: 0.0,
            step_s: 2.0 * once(gradients),
            after_s: 0.0,
        },
        Sharding::Zero1 => DataTime {
            micro_batch_s: 0.0,
            step_s: once(gradients),
            after_s: once(weights.min(gradients)),
        },
        Sharding::Zero2 => DataTime {
            micro_batch_s: once(gradients),
            step_s: 0.0,
            after_s: once(weights.min(gradients)),
        },
        // A pipeline stage keeps gathered weights through the step's many micro-batches.
        Sharding::Zero3 if plan.pipeline_parallel > 1 => DataTime {
            micro_batch_s: 0.0,
            step_s: once(weights) + once(gradients),
            after_s: 0.0,
        },
        // Gathered for the forward and again for the backward pass.
        Sharding::Zero3 => DataTime {
            micro_batch_s: 2.0 * once(weights) + once(gradients),
            step_s: 0.0,
            after_s: 0.0,
        },
        Sharding::Hybrid => {
            let inside = |bytes: f64| ways.data(bytes, in_node, in_node);
            DataTime {
                micro_batch_s: 2.0 * inside(weights) + inside(gradients),
                step_s: 2.0 * ways.data(gradients / in_node, ranks / in_node, 1.0),
                after_s: 0.0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAYS: Ways = Ways {
        link: 1e9,
        network: 8e8,
        cards_per_node: 8.0,
    };

    fn near(is: f64, should: f64) {
        assert!((is / should - 1.0).abs() < 1e-3, "{is} is not {should}");
    }

    #[test]
    fn tokens_go_to_each_expert_or_once_to_each_card() {
        // 8 experts of 8 cards: one in eight stays at home.
        near(WAYS.exchange(1e9, 8.0, 8.0, false), 7.0);
        // 8 (1 - (7/8)^8) = 5.251 of 8 cards have one of a token's experts.
        near(WAYS.exchange(1e9, 8.0, 8.0, true), 5.251 * 7.0 / 8.0);
        assert!(WAYS.exchange(1e9, 8.0, 1.0, false) <= 0.0);
    }

    #[test]
    fn a_token_crosses_the_network_once_for_a_node() {
        // Of two nodes 2 (1 - 2^-8) = 1.992 have one of its experts, half of them elsewhere; a card
        // has an eighth of the node's 0.8 GB/s.
        near(WAYS.exchange(1e9, 8.0, 16.0, false), 1.992 / 2.0 * 10.0);
    }
}
