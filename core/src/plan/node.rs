//! The node that a card is usually rented in: its network, its host memory, how many cards are
//! joined at most.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::catalog::{Card, Market, Node, Vendor};
use crate::packed::{Aside, PackedFile, packed, packed_file};

/// One class of nodes of `core/data/nodes.json`. An empty list or a missing year matches every card.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeClass {
    /// What it is, for people.
    #[allow(dead_code, reason = "for the reader of the file")]
    class: Aside,
    #[serde(default)]
    cards: Vec<String>,
    #[serde(default)]
    vendors: Vec<Vendor>,
    #[serde(default)]
    architectures: Vec<String>,
    #[serde(default)]
    forms: Vec<String>,
    #[serde(default)]
    markets: Vec<Market>,
    #[serde(default)]
    released_since: Option<u16>,
    /// Network of one node, one direction, Gb/s.
    #[serde(default)]
    network_gbit_s: Option<f64>,
    /// The same where each card has its own adapter, Gb/s a card.
    #[serde(default)]
    network_gbit_s_per_card: Option<f64>,
    /// Host memory that a card's share of the machine has, GiB.
    host_gib_per_card: f64,
    /// Most cards that are joined for one job.
    largest_cards: u32,
    /// Where the figures were read.
    source: Aside,
    #[serde(default)]
    #[allow(dead_code, reason = "for the reader of the file")]
    note: Option<Aside>,
    /// No document was read for the figures.
    #[serde(default)]
    assumed: bool,
}

pub(crate) static FILE: PackedFile = packed_file!(
    "nodes",
    crate::packed::json::<Vec<NodeClass>>,
    include_str!("../../data/nodes.json")
);

packed!(struct NodeClass {
    class, cards, vendors, architectures, forms, markets, released_since, network_gbit_s, network_gbit_s_per_card,
    host_gib_per_card, largest_cards, source, note, assumed,
});

impl NodeClass {
    fn matches(&self, card: &Card) -> bool {
        fn open_or_holds<T: PartialEq>(list: &[T], value: &T) -> bool {
            list.is_empty() || list.contains(value)
        }
        open_or_holds(&self.cards, &card.id)
            && open_or_holds(&self.vendors, &card.vendor)
            && open_or_holds(&self.architectures, &card.architecture)
            && open_or_holds(&self.forms, &card.form)
            && open_or_holds(&self.markets, &card.market)
            && self.released_since.is_none_or(|y| card.release_year >= y)
    }
}

/// The node that a card is usually rented in.
#[derive(Debug, Clone, Copy)]
pub struct RentedNode<'a> {
    /// Card and links.
    pub node: Node<'a>,
    /// Network of one node, one direction, Gb/s.
    pub network_gbit_s: f64,
    /// Host memory of one card's share, bytes.
    pub host_bytes_per_card: f64,
    /// Most cards that are joined for one job.
    pub largest_cards: u32,
    /// Where the network was read.
    pub source: &'static str,
    /// No document was read for the figures.
    pub assumed: bool,
}

/// The node that `card` is usually rented in, by the first class of `core/data/nodes.json` that
/// matches.
pub fn rented_node(card: &Card) -> RentedNode<'_> {
    const BITS_PER_BYTE: f64 = 8.0;
    const GIB: f64 = 1_073_741_824.0;
    let cards_per_node = card.link.cards_per_node.max(1);
    let class = classes().iter().find(|c| c.matches(card));
    let network_gbit_s = class
        .and_then(|c| {
            let per_card = c.network_gbit_s_per_card;
            c.network_gbit_s
                .or(per_card.map(|g| g * f64::from(cards_per_node)))
        })
        .unwrap_or(SLOWEST_GBIT_S);
    RentedNode {
        node: Node {
            card,
            cards_per_node,
            network_gb_s: network_gbit_s / BITS_PER_BYTE,
        },
        network_gbit_s,
        host_bytes_per_card: class.map_or(0.0, |c| c.host_gib_per_card * GIB),
        largest_cards: class.map_or(cards_per_node, |c| c.largest_cards),
        source: class.map_or("", |c| c.source.as_str()),
        assumed: class.is_none_or(|c| c.assumed),
    }
}

/// Network of a card of no class: none of the catalog, as a test checks.
const SLOWEST_GBIT_S: f64 = 10.0;

fn classes() -> &'static [NodeClass] {
    static CLASSES: OnceLock<Vec<NodeClass>> = OnceLock::new();
    CLASSES.get_or_init(|| FILE.read())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn every_card_has_a_class_with_a_source() {
        for card in Catalog::embedded().cards.iter() {
            let node = rented_node(card);
            assert!(!node.source.is_empty(), "{}", card.id);
            assert!(node.network_gbit_s > SLOWEST_GBIT_S, "{}", card.id);
            assert!(
                node.largest_cards >= card.link.cards_per_node,
                "{}",
                card.id
            );
            assert!(node.host_bytes_per_card > 0.0, "{}", card.id);
        }
    }

    #[test]
    fn an_hgx_h100_node_has_eight_400_gbit_adapters() {
        let catalog = Catalog::embedded();
        let network = |id: &str| catalog.card(id).map(|c| rented_node(c).node.network_gb_s);
        assert_eq!(network("h100-sxm-80gb"), Some(400.0));
        assert_eq!(network("a100-sxm4-80gb"), Some(200.0));
        assert_eq!(network("gb200-186gb"), Some(200.0));
        assert_eq!(network("rtx-4090"), Some(3.125));
    }
}
