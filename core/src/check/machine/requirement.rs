//! Driver and CUDA versions against what a card needs, by `core/data/check/drivers.json`.

use std::sync::OnceLock;

use serde::Deserialize;

use super::reading::Version;
use crate::catalog::Card;

#[derive(Debug, Default, Deserialize)]
struct Table {
    /// Toolkit and the first driver for it, oldest first.
    toolkits: Vec<(String, String)>,
    /// Major toolkit version and the first driver that runs programs built with it.
    majors: Vec<(String, String)>,
    /// Compute capability and the first toolkit that knows it.
    first_toolkit: Vec<(String, String)>,
    /// Compute capability and the last major toolkit version that builds for it.
    last_toolkit: Vec<(String, String)>,
    /// Major toolkit version that frameworks on offer are built with.
    frameworks_need: String,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        serde_json::from_str(include_str!("../../../data/check/drivers.json")).unwrap_or_default()
    })
}

/// What a card needs of driver and CUDA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement {
    /// First toolkit that knows the card.
    pub first_cuda: Version,
    /// First driver for it.
    pub first_driver: Version,
    /// First driver that runs what frameworks on offer are built with, on this card.
    pub framework_driver: Version,
    /// Last major toolkit version that builds for the card, where one has dropped it.
    pub last_cuda: Option<u32>,
}

/// What `card` needs; `None` for a card without a compute capability in the table.
pub fn requirement(card: &Card) -> Option<Requirement> {
    let capability = card.compute_capability.as_deref()?;
    let find = |list: &'static [(String, String)], key: &str| {
        list.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    };
    let table = table();
    let toolkit = find(&table.first_toolkit, capability)?;
    let first_driver = Version::read(find(&table.toolkits, toolkit)?)?;
    let framework = Version::read(find(&table.majors, &table.frameworks_need)?)?;
    Some(Requirement {
        first_cuda: Version::read(toolkit)?,
        first_driver,
        framework_driver: framework.max(first_driver),
        last_cuda: find(&table.last_toolkit, capability).and_then(|v| v.parse().ok()),
    })
}

/// The newest toolkit that `driver` supports.
pub fn newest_cuda(driver: Version) -> Option<Version> {
    table()
        .toolkits
        .iter()
        .filter(|(_, first)| Version::read(first).is_some_and(|first| first <= driver))
        .filter_map(|(toolkit, _)| Version::read(toolkit))
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Catalog, Vendor};

    #[test]
    fn every_card_of_nvidia_has_its_requirement() {
        for card in Catalog::embedded().cards.iter() {
            if card.vendor == Vendor::Nvidia {
                assert!(requirement(card).is_some(), "{}", card.id);
            }
        }
    }

    #[test]
    fn a_blackwell_card_needs_driver_570() {
        let card = Catalog::embedded().card("rtx-5090").unwrap();
        let need = requirement(card).unwrap();
        assert_eq!(need.first_cuda, Version(12, 8, 0));
        assert_eq!(need.framework_driver, Version(570, 26, 0));
        let a100 = requirement(Catalog::embedded().card("a100-sxm4-80gb").unwrap()).unwrap();
        assert_eq!(a100.first_driver, Version(450, 36, 6));
        assert_eq!(a100.framework_driver, Version(525, 60, 13));
        assert_eq!(newest_cuda(Version(535, 104, 5)), Some(Version(12, 2, 0)));
    }
}
