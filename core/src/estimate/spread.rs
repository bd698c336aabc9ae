//! Ranges from residuals: the nearest group of measurements with enough of them.

use serde::{Deserialize, Serialize};

use super::{Basis, BasisScope};
use crate::catalog::Card;
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
    /// Factor from the middle to the lower end.
    pub low: f64,
    /// Factor from the middle to the upper end.
    pub high: f64,
    /// Median of |estimate / measured - 1|.
    pub typical_error: f64,
}

/// Groups, the nearest first where several match.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Spread {
    /// Groups in any order.
    pub groups: Vec<SpreadGroup>,
}

/// Measurements that make a group worth using.
pub const ENOUGH: u32 = 20;

impl Spread {
    /// The range around `mid` for a job of `kind` on `card`: from the card's own measurements,
    /// else from its architecture's, else from the kind's (wider), else from all (wider still).
    pub fn range(&self, mid: f64, card: &Card, kind: &str) -> (Range, Basis) {
        /// Share by which a group that lacks the architecture is widened in log space.
        const OTHER_ARCHITECTURE: f64 = 1.5;
        /// The same for one that lacks the kind of job too.
        const OTHER_KIND: f64 = 1.75;
        let mut best: Option<(u8, &SpreadGroup)> = None;
        for group in &self.groups {
            let same_kind = group.kind == kind;
            if !same_kind && !group.kind.is_empty() {
                continue;
            }
            let rank = match group.scope {
                GroupScope::Card if group.measurements < ENOUGH || group.name != card.id => {
                    continue;
                }
                GroupScope::Architecture if group.name != card.architecture => continue,
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
        let widen = match (group.scope, group.kind.is_empty()) {
            (GroupScope::JobKind, false) => OTHER_ARCHITECTURE,
            (GroupScope::JobKind, true) => OTHER_KIND,
            _ => 1.0,
        };
        let range = Range::spread(
            mid,
            group.low.min(1.0).powf(widen),
            group.high.max(1.0).powf(widen),
        );
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
