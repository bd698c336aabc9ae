//! What a paste is: a printout, a listing, or nothing that is known.

use serde::Serialize;

use super::bench::judge_measured;
use super::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};
use super::listing::{ListingReport, check_listing};
use super::machine::{Machine, card_of, findings, read_machine};
use crate::catalog::{Card, Catalog, PriceBook};

/// A paste that was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "report")]
pub enum Checked {
    /// A machine's printouts.
    Machine(MachineReport),
    /// A listing.
    Listing(ListingReport),
    /// Nothing was recognised.
    Nothing,
}

/// A machine with what was found of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineReport {
    /// What was read.
    pub machine: Machine,
    /// What that means.
    pub findings: Vec<Finding>,
}

/// Judges a machine that was read or entered by hand.
pub fn report(machine: Machine, catalog: &Catalog) -> MachineReport {
    let card = machine.devices.iter().find_map(|d| card_of(d, catalog));
    let mut found = findings(&machine, catalog);
    found.extend(judge_measured(&machine.measured, card));
    MachineReport {
        machine,
        findings: found,
    }
}

/// Holds a machine against the card that was sold: what is another card is said first.
pub fn hold_against_sold(report: &mut MachineReport, sold: &Card, catalog: &Catalog) {
    let mut others: Vec<u32> = Vec::new();
    let mut found: Option<&Card> = None;
    for (index, device) in report.machine.devices.iter().enumerate() {
        let Some(identity) = &device.identity else {
            continue;
        };
        if !identity.cards.contains(&sold.id) && !identity.cards.is_empty() {
            others.extend(u32::try_from(index));
            found = found.or_else(|| card_of(device, catalog));
        }
    }
    let Some(found) = found else {
        return;
    };
    let finding = Finding {
        cards: vec![found.id.clone()],
        devices: others,
        ..Finding::new(Subject::Card, Verdict::Wrong)
            .reads(Reading::word(&found.name))
            .because(
                Remark::plain("sold_as")
                    .with("sold", Reading::word(&sold.name))
                    .with("memory", Reading::figure(sold.memory_gib, Unit::Gb))
                    .with("found", Reading::figure(found.memory_gib, Unit::Gb)),
            )
            .ask("which_card")
    };
    report.findings.insert(0, finding);
}

/// Reads `text` as a printout where it is one, else as a listing.
pub fn check(text: &str, catalog: &Catalog, prices: &PriceBook) -> Checked {
    let machine = read_machine(text, catalog);
    let known = machine
        .devices
        .iter()
        .any(|d| d.identity.is_some() || d.memory_mib.is_some() || d.power_limit_w.is_some());
    if known || !machine.links.is_empty() || !machine.measured.is_empty() {
        return Checked::Machine(report(machine, catalog));
    }
    let listing = check_listing(text, catalog, prices);
    if listing.is_empty() {
        Checked::Nothing
    } else {
        Checked::Listing(listing)
    }
}
