//! What a paste is: a printout, a listing, or nothing that is known.

use serde::Serialize;

use super::bench::judge_measured;
use super::clean::clean;
use super::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};
use super::listing::{ListingReport, check_cleaned};
use super::machine::{Machine, card_of, findings, read_cleaned};
use super::names::Identity;
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
    take_as_sold(report, sold, catalog);
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

/// Judges devices whose printout has no name, as of a topology or a monitor, as the card that was sold.
fn take_as_sold(found: &mut MachineReport, sold: &Card, catalog: &Catalog) {
    let unnamed: Vec<u32> = found
        .machine
        .devices
        .iter_mut()
        .zip(0u32..)
        .filter(|(device, _)| device.identity.is_none())
        .map(|(device, index)| {
            device.identity = Some(Identity::of_card(&sold.id));
            index
        })
        .collect();
    if unnamed.is_empty() {
        return;
    }
    *found = report(std::mem::take(&mut found.machine), catalog);
    for finding in &mut found.findings {
        if finding.subject == Subject::Card {
            finding.devices.retain(|index| !unnamed.contains(index));
        }
    }
    let card_is_known = |f: &Finding| f.subject != Subject::Card || !f.devices.is_empty();
    found.findings.retain(card_is_known);
    let unknown = Finding::new(Subject::Card, Verdict::CannotTell)
        .about(std::slice::from_ref(&sold.id))
        .on(&unnamed)
        .because(Remark::plain("taken_as_sold").with("sold", Reading::word(&sold.name)));
    found.findings.insert(0, unknown);
}

/// Reads `text` as a printout where it is one, else as a listing.
pub fn check(text: &str, catalog: &Catalog, prices: &PriceBook) -> Checked {
    let text = clean(text);
    let machine = read_cleaned(&text, catalog);
    let known = machine
        .devices
        .iter()
        .any(|d| d.identity.is_some() || d.memory_mib.is_some() || d.power_limit_w.is_some());
    let tells =
        !machine.links.is_empty() || !machine.measured.is_empty() || !machine.failures.is_empty();
    if known || tells {
        return Checked::Machine(report(machine, catalog));
    }
    let listing = check_cleaned(&text, catalog, prices);
    if listing.is_empty() {
        Checked::Nothing
    } else {
        Checked::Listing(listing)
    }
}
