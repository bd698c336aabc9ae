//! What is said of a machine as a whole: how many cards, what joins them, its driver, what failed.

use super::judge::card_of;
use super::reading::{Failure, Link, Machine, Tool};
use super::requirement::{newest_cuda, requirement};
use crate::catalog::{Card, Catalog};
use crate::check::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};

pub(super) fn of_machine(machine: &Machine, catalog: &Catalog) -> Vec<Finding> {
    let mut out: Vec<Finding> = machine.failures.iter().map(failure).collect();
    let count = machine.devices.len();
    if count > 0 {
        out.push(
            Finding::new(Subject::Count, Verdict::Right)
                .reads(Reading::figure(count as f64, Unit::One))
                .because(Remark::plain("devices_seen")),
        );
    }
    if machine.cut_off || machine.attached.is_some_and(|n| n as usize > count) {
        out.push(Finding::new(Subject::Count, Verdict::Notice).because(Remark::plain("cut_off")));
    }
    let mut kinds: Vec<&[String]> = machine
        .devices
        .iter()
        .filter_map(|d| d.identity.as_ref())
        .map(|i| i.cards.as_slice())
        .collect();
    kinds.sort();
    kinds.dedup();
    if kinds.len() > 1 {
        out.push(
            Finding::new(Subject::Card, Verdict::Notice)
                .because(Remark::plain("mixed_cards"))
                .ask("which_variant"),
        );
    }
    let card = machine.devices.iter().find_map(|d| card_of(d, catalog));
    out.extend(links(machine, card));
    let nvidia = machine.devices.iter().any(|d| d.nvidia)
        && machine.tools.iter().any(|t| {
            matches!(
                t,
                Tool::NvidiaSmi | Tool::NvidiaSmiQuery | Tool::NvidiaSmiCsv
            )
        });
    if let (Some(card), true) = (card, nvidia) {
        out.extend(driver(machine, card));
    }
    out
}

pub(super) fn failure(failure: &Failure) -> Finding {
    let (subject, key, ask) = match failure {
        Failure::NoTool => (Subject::Driver, "no_tool", "driver"),
        Failure::NoDriver => (Subject::Driver, "no_driver", "driver"),
        Failure::VersionMismatch => (Subject::Driver, "version_mismatch", "restart"),
        Failure::NoDevices => (Subject::Count, "no_devices", "missing_card"),
        Failure::LostCard => (Subject::Health, "lost_card", "replace_card"),
        Failure::MemoryErrors => (Subject::Ecc, "xid_memory", "replace_card"),
        Failure::LinkErrors => (Subject::Link, "xid_link", "replace_card"),
        Failure::Firmware => (Subject::Health, "xid_firmware", "replace_card"),
        Failure::ProgramFault => {
            return Finding::new(Subject::Health, Verdict::Notice)
                .because(Remark::plain("xid_program"));
        }
    };
    Finding::new(subject, Verdict::Wrong)
        .because(Remark::plain(key))
        .ask(ask)
}

pub(super) fn links(machine: &Machine, card: Option<&Card>) -> Option<Finding> {
    if machine.links.is_empty() {
        return None;
    }
    let direct = machine
        .links
        .iter()
        .filter(|l| matches!(l, Link::Direct(_)))
        .count();
    let worst = machine.links.iter().max()?;
    let pairs = machine.links.len();
    let key = match worst {
        Link::Direct(_) => "links_direct",
        _ if direct > 0 => "links_partly",
        Link::System => "links_system",
        Link::Node | Link::Host => "links_host",
        Link::Switch | Link::Switches => "links_switch",
    };
    let mut finding = Finding::new(Subject::Link, Verdict::Notice).because(Remark::plain(key));
    let Some(card) = card else {
        return Some(finding);
    };
    finding.cards = vec![card.id.clone()];
    finding = finding.against(
        &card.id,
        Reading::word(crate::check::listing::link_words(card)),
    );
    let joined = !card.link.is_bus();
    finding.verdict = match (joined, direct) {
        (true, n) if n == pairs => Verdict::Right,
        (true, 0) => Verdict::Wrong,
        (true, _) => Verdict::Notice,
        (false, 0) if *worst < Link::System => Verdict::Right,
        (false, _) => Verdict::Notice,
    };
    if finding.verdict == Verdict::Wrong {
        finding = finding.ask("links");
    }
    Some(finding)
}

pub(super) fn driver(machine: &Machine, card: &Card) -> Vec<Finding> {
    let mut out = Vec::new();
    let Some(need) = requirement(card) else {
        return out;
    };
    if let Some(driver) = machine.driver {
        let finding = Finding::new(Subject::Driver, Verdict::Right)
            .about(std::slice::from_ref(&card.id))
            .reads(Reading::word(driver.to_string()))
            .against(&card.id, Reading::word(need.framework_driver.to_string()));
        out.push(if driver < need.first_driver {
            Finding {
                verdict: Verdict::Wrong,
                ..finding
                    .because(Remark::plain("driver_before_card"))
                    .ask("driver")
            }
        } else if driver < need.framework_driver {
            Finding {
                verdict: Verdict::Notice,
                ..finding
                    .because(Remark::plain("driver_before_frameworks"))
                    .ask("driver")
            }
        } else {
            finding
        });
    }
    let cuda = machine
        .cuda
        .or_else(|| machine.driver.and_then(newest_cuda));
    if let Some(cuda) = cuda {
        let finding = Finding::new(Subject::Cuda, Verdict::Right)
            .about(std::slice::from_ref(&card.id))
            .reads(Reading::word(cuda.to_string()))
            .against(&card.id, Reading::word(need.first_cuda.to_string()));
        out.push(if cuda < need.first_cuda {
            Finding {
                verdict: Verdict::Wrong,
                ..finding
                    .because(Remark::plain("cuda_before_card"))
                    .ask("driver")
            }
        } else if need.last_cuda.is_some_and(|last| cuda.0 > last) {
            Finding {
                verdict: Verdict::Notice,
                ..finding.because(Remark::plain("cuda_dropped_card"))
            }
        } else {
            finding
        });
    }
    out
}
