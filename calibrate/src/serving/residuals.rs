//! Ranges from residuals of leave-one-source-out.

use std::collections::BTreeMap;

use cardfit::estimate::serving::{Quantity, ServingConstants, kind_name};
use cardfit::estimate::spread::{ENOUGH, GroupScope, Spread, SpreadGroup};
use cardfit::scenario::{Choice, Engine};

use super::Measured;
use crate::Fitted;
use crate::loss::quantile_of;

/// Share of the residuals below the lower and above the upper end.
const TAIL: f64 = 0.085;
/// Rows with which an architecture has a group of its own.
const ENOUGH_OF_AN_ARCHITECTURE: usize = 8;

/// Residuals of all runs, each against the fit that has not seen its source, by card,
/// architecture and kind of job.
pub fn spread(runs: &[Measured], fitted: &Fitted<ServingConstants>) -> Spread {
    let mut groups: BTreeMap<(u8, String, String), Vec<f64>> = BTreeMap::new();
    let mut pooled: BTreeMap<u8, Vec<f64>> = BTreeMap::new();
    for measured in runs {
        let constants = fitted.without.get(&measured.source).unwrap_or(&fitted.all);
        let residual = measured.residual(constants);
        let kind = measured.run.kind().to_owned();
        let mut add = |scope: u8, name: &str| {
            groups
                .entry((scope, name.to_owned(), kind.clone()))
                .or_default()
                .push(residual);
        };
        add(2, "");
        if let Some(card) = measured.run.card() {
            add(0, &card.id);
            add(1, &card.architecture);
        }
        pooled
            .entry(measured.run.quantity() as u8)
            .or_default()
            .push(residual);
    }
    let mut spread = Spread::default();
    for ((scope, name, kind), residuals) in &groups {
        let (scope, enough) = match scope {
            0 => (GroupScope::Card, ENOUGH as usize),
            1 => (GroupScope::Architecture, ENOUGH_OF_AN_ARCHITECTURE),
            _ => (GroupScope::JobKind, ENOUGH_OF_AN_ARCHITECTURE),
        };
        if residuals.len() >= enough {
            spread
                .groups
                .push(group(scope, name, kind, residuals, residuals.len() as u32));
        }
    }
    // Engines without measurements of a quantity have the spread of all engines, as many rows of
    // their own as none.
    for quantity in [
        Quantity::Weights,
        Quantity::Memory,
        Quantity::Decode,
        Quantity::Prefill,
        Quantity::Batch,
        Quantity::Pace,
    ] {
        for engine in Engine::ALL {
            let kind = kind_name(quantity, *engine);
            let known = spread
                .groups
                .iter()
                .any(|g| g.scope == GroupScope::JobKind && g.kind == kind);
            if !known && let Some(residuals) = pooled.get(&(quantity as u8)) {
                let own = groups
                    .get(&(2, String::new(), kind.to_owned()))
                    .map_or(0, Vec::len);
                spread
                    .groups
                    .push(group(GroupScope::JobKind, "", kind, residuals, own as u32));
            }
        }
    }
    spread
}

fn group(
    scope: GroupScope,
    name: &str,
    kind: &str,
    residuals: &[f64],
    measurements: u32,
) -> SpreadGroup {
    let errors: Vec<f64> = residuals.iter().map(|r| ((-r).exp() - 1.0).abs()).collect();
    let rounded = |x: f64| (x * 1e4).round() / 1e4;
    SpreadGroup {
        scope,
        name: name.to_owned(),
        kind: kind.to_owned(),
        measurements,
        sources: 0,
        low: rounded(quantile_of(residuals, TAIL).exp()),
        high: rounded(quantile_of(residuals, 1.0 - TAIL).exp()),
        typical_error: rounded(quantile_of(&errors, 0.5)),
    }
}
