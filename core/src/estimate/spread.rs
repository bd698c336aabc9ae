//! Ranges from residuals: the nearest group of measurements with enough of them.

use serde::{Deserialize, Serialize};

use super::{Basis, BasisScope};
use crate::catalog::{Card, Vendor};
use crate::packed::packed;
use crate::range::Range;

/// What the measurements of a group share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupScope {
    /// The card (by id).
    Card,
    /// The card's architecture (by name).
    Architecture,
    /// The kind of job alone.
    JobKind,
}

/// Residuals of one group, measured over estimated, by leave-one-source-out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpreadGroup {
    /// What they share beside the kind of job.
    pub scope: GroupScope,
    /// Card id or architecture; empty for a kind of job alone.
    pub name: String,
    /// Kind of job; empty: every kind.
    pub kind: String,
    /// Measurements.
    pub measurements: u32,
    /// Sources that they come from; 0: not told apart.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sources: u32,
    /// Factor from the middle to the lower end.
    pub low: f64,
    /// Factor from the middle to the upper end.
    pub high: f64,
    /// Median of |estimate / measured - 1|.
    pub typical_error: f64,
}

/// Groups of measurements, of which the nearest gives the range.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<SpreadGroup>", into = "Vec<SpreadGroup>")]
pub struct Spread {
    /// By length and name: a ranking looks tens of thousands of times, and lengths tell most apart.
    kinds: Vec<KindGroups>,
}

/// All groups of one kind of job.
#[derive(Debug, Clone, PartialEq, Default)]
struct KindGroups {
    kind: String,
    groups: Vec<SpreadGroup>,
}

packed!(struct Spread { kinds });
packed!(struct KindGroups { kind, groups });

impl From<Vec<SpreadGroup>> for Spread {
    fn from(groups: Vec<SpreadGroup>) -> Self {
        Self::new(groups)
    }
}

impl From<Spread> for Vec<SpreadGroup> {
    fn from(spread: Spread) -> Self {
        let kinds = spread.kinds.into_iter();
        kinds.flat_map(|of_kind| of_kind.groups).collect()
    }
}

/// Where a kind of job stands, or would.
fn place_of(kinds: &[KindGroups], kind: &str) -> Result<usize, usize> {
    kinds.binary_search_by(|of_kind| {
        (of_kind.kind.len(), of_kind.kind.as_str()).cmp(&(kind.len(), kind))
    })
}

/// Measurements that make a group worth using.
pub const ENOUGH: u32 = 20;

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl SpreadGroup {
    /// The range around `mid`, its ends' distance raised to `widen` in log space.
    pub fn around(&self, mid: f64, widen: f64) -> Range {
        /// Share by which the range of a single source's group is wider, in log space.
        const FEW_SOURCES: f64 = 0.15;
        /// Farthest that an end may stand from the middle, as a factor.
        const FARTHEST: f64 = 4.0;
        /// Typical error beyond which an end is the group's own matter.
        const MOST_TYPICAL_ERROR: f64 = 0.3;
        // A lopsided group is lopsided by its sources' habits: neither end comes nearer than the
        // group's typical error. And no measurement of ours is off by more than this for a
        // reason that another run would share.
        // Few sources tell little of how far apart sources are.
        let widen = if self.sources == 0 {
            widen
        } else {
            widen * (1.0 + FEW_SOURCES / f64::from(self.sources))
        };
        let typical = 1.0 + self.typical_error.min(MOST_TYPICAL_ERROR);
        Range::spread(
            mid,
            self.low.min(1.0 / typical).powf(widen).max(1.0 / FARTHEST),
            self.high.max(typical).powf(widen).min(FARTHEST),
        )
    }
}

impl Spread {
    /// Groups, whatever their order.
    pub fn new(groups: Vec<SpreadGroup>) -> Self {
        let mut kinds: Vec<KindGroups> = Vec::new();
        for group in groups {
            let place = place_of(&kinds, &group.kind);
            match place {
                Ok(found) => kinds[found].groups.push(group),
                Err(place) => kinds.insert(
                    place,
                    KindGroups {
                        kind: group.kind.clone(),
                        groups: vec![group],
                    },
                ),
            }
        }
        Self { kinds }
    }

    /// All groups.
    pub fn groups(&self) -> impl Iterator<Item = &SpreadGroup> {
        self.kinds.iter().flat_map(|of_kind| &of_kind.groups)
    }

    /// The groups of one kind of job; of an empty name: those of every kind.
    fn of_kind(&self, kind: &str) -> &[SpreadGroup] {
        let found = place_of(&self.kinds, kind).ok();
        let found = found.and_then(|place| self.kinds.get(place));
        found.map_or(&[], |of_kind| &of_kind.groups)
    }

    /// The range from the one group of `kind` on the card's architecture, where it has enough
    /// measurements.
    pub fn range_of_group(&self, mid: f64, card: &Card, kind: &str) -> Option<(Range, Basis)> {
        let group = self.of_kind(kind).iter().find(|g| {
            g.scope == GroupScope::Architecture
                && g.measurements >= ENOUGH
                && g.name == card.architecture
        })?;
        Some((
            group.around(mid, 1.0),
            Basis {
                measurements: group.measurements,
                scope: BasisScope::Architecture(group.name.clone()),
                typical_error: group.typical_error,
            },
        ))
    }

    /// The range from the one group of `kind` on cards of any architecture, where it has enough
    /// measurements: what software allocates is no matter of the card, as long as it is the same
    /// software.
    pub fn range_of_software(&self, mid: f64, card: &Card, kind: &str) -> Option<(Range, Basis)> {
        if card.vendor != Vendor::Nvidia {
            return None;
        }
        let group = self
            .of_kind(kind)
            .iter()
            .find(|g| g.scope == GroupScope::JobKind && g.measurements >= ENOUGH)?;
        Some((
            group.around(mid, 1.0),
            Basis {
                measurements: group.measurements,
                scope: BasisScope::JobKind,
                typical_error: group.typical_error,
            },
        ))
    }

    /// The range around `mid` for a job of `kind` on `card`: from the card's own measurements,
    /// else from its architecture's, else from the kind's (wider), else from all (wider still).
    pub fn range(&self, mid: f64, card: &Card, kind: &str) -> (Range, Basis) {
        self.nearest(mid, card, kind, true)
    }

    /// The same for memory, which is counted and not a matter of the card's units: a kind's
    /// measurements on other cards of the same maker's software count in full.
    pub fn memory_range(&self, mid: f64, card: &Card, kind: &str) -> (Range, Basis) {
        self.nearest(mid, card, kind, false)
    }

    fn nearest(
        &self,
        mid: f64,
        card: &Card,
        kind: &str,
        depends_on_architecture: bool,
    ) -> (Range, Basis) {
        /// Share by which a group that lacks the architecture is widened in log space.
        const OTHER_ARCHITECTURE: f64 = 1.5;
        /// The same for one that lacks the kind of job too.
        const OTHER_KIND: f64 = 1.75;
        let mut best: Option<(u8, &SpreadGroup)> = None;
        let of_every_kind = if kind.is_empty() {
            &[]
        } else {
            self.of_kind("")
        };
        for group in self.of_kind(kind).iter().chain(of_every_kind) {
            let same_kind = group.kind == kind;
            let rank = match group.scope {
                GroupScope::Card if group.measurements < ENOUGH || group.name != card.id => {
                    continue;
                }
                GroupScope::Architecture
                    if !depends_on_architecture || group.name != card.architecture =>
                {
                    continue;
                }
                GroupScope::Card => 6,
                GroupScope::Architecture => 4,
                GroupScope::JobKind => 2,
            } + u8::from(same_kind)
                * if group.scope == GroupScope::JobKind {
                    1
                } else {
                    3
                };
            if best.is_none_or(|(other, _)| rank > other) {
                best = Some((rank, group));
            }
        }
        let Some((_, group)) = best else {
            return (
                Range::spread(mid, 0.6, 1.6),
                Basis {
                    measurements: 0,
                    scope: BasisScope::JobKind,
                    typical_error: 0.25,
                },
            );
        };
        let same_software = !depends_on_architecture && card.vendor == Vendor::Nvidia;
        let widen = match (group.scope, group.kind.is_empty()) {
            (GroupScope::JobKind, false) if same_software => 1.0,
            (GroupScope::JobKind, false) => OTHER_ARCHITECTURE,
            (GroupScope::JobKind, true) => OTHER_KIND,
            _ => 1.0,
        };
        let range = group.around(mid, widen);
        let scope = match group.scope {
            GroupScope::Card => BasisScope::Card(group.name.clone()),
            GroupScope::Architecture => BasisScope::Architecture(group.name.clone()),
            GroupScope::JobKind => BasisScope::JobKind,
        };
        (
            range,
            Basis {
                measurements: group.measurements,
                scope,
                typical_error: group.typical_error,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn group(scope: GroupScope, name: &str, measurements: u32, low: f64, high: f64) -> SpreadGroup {
        SpreadGroup {
            scope,
            name: name.to_owned(),
            kind: "lora".to_owned(),
            measurements,
            sources: 0,
            low,
            high,
            typical_error: 0.1,
        }
    }

    fn ends(spread: &Spread, card: &str, memory: bool) -> (f64, f64) {
        let card = Catalog::embedded().card(card).unwrap();
        let (range, _) = if memory {
            spread.memory_range(1.0, card, "lora")
        } else {
            spread.range(1.0, card, "lora")
        };
        (range.low, range.high)
    }

    fn near(a: (f64, f64), b: (f64, f64)) -> bool {
        (a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9
    }

    #[test]
    fn speed_of_an_unmeasured_architecture_is_less_sure_than_memory() {
        let spread = Spread::new(vec![group(GroupScope::JobKind, "", 100, 0.8, 1.21)]);
        assert!(near(ends(&spread, "rtx-4090", true), (0.8, 1.21)));
        assert!(near(
            ends(&spread, "rtx-4090", false),
            (0.8_f64.powf(1.5), 1.331)
        ));
        // Another maker's software allocates in its own way.
        assert!(near(
            ends(&spread, "mi300x", true),
            (0.8_f64.powf(1.5), 1.331)
        ));
    }

    #[test]
    fn a_card_with_few_measurements_borrows_those_of_its_architecture() {
        let spread = Spread::new(vec![
            group(GroupScope::Card, "rtx-4090", ENOUGH - 1, 0.7, 1.3),
            group(GroupScope::Architecture, "Ada Lovelace", 30, 0.6, 1.6),
        ]);
        assert!(near(ends(&spread, "rtx-4090", false), (0.6, 1.6)));
    }

    #[test]
    fn ends_keep_their_distance_and_their_bounds() {
        let lopsided = Spread::new(vec![group(GroupScope::Card, "rtx-4090", 30, 0.5, 1.0)]);
        assert!(near(ends(&lopsided, "rtx-4090", false), (0.5, 1.1)));
        let wild = Spread::new(vec![group(GroupScope::Card, "rtx-4090", 30, 0.05, 12.0)]);
        assert!(near(ends(&wild, "rtx-4090", false), (0.25, 4.0)));
    }
}
