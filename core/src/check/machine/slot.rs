//! The PCIe link of a device beside the card's own.

use super::reading::Device;
use crate::catalog::Card;
use crate::check::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};

/// Generation and lanes of the card's own PCIe connection.
pub fn own_pcie(card: &Card) -> Option<(u32, u32)> {
    let words = card.link.kind.strip_prefix("PCIe ");
    if let Some((generation, lanes)) = words.and_then(|w| w.split_once(".0 x")) {
        return Some((generation.parse().ok()?, lanes.parse().ok()?));
    }
    let rate = card.link.host_bidirectional_gb_s?;
    let generation = [(32.0, 3), (64.0, 4), (128.0, 5)]
        .into_iter()
        .find(|(r, _)| (rate - r).abs() < 1.0)
        .map(|(_, g)| g)?;
    Some((generation, 16))
}

pub(super) fn pcie(device: &Device, card: Option<&Card>) -> Vec<Finding> {
    let link = &device.pcie;
    let own = card.and_then(own_pcie);
    let mut out = Vec::new();
    let figure = |n: u32, unit| Reading::figure(f64::from(n), unit);
    let with_own = |finding: Finding, value: Option<u32>, unit| match (card, value) {
        (Some(card), Some(value)) => finding.against(&card.id, figure(value, unit)),
        _ => finding,
    };
    let lanes = own.map(|(_, lanes)| lanes).or(link.width_max);
    if let (Some(width), Some(most)) = (link.width, lanes) {
        let finding = with_own(
            Finding::new(Subject::PcieWidth, Verdict::Right).reads(figure(width, Unit::One)),
            Some(most),
            Unit::One,
        );
        out.push(if width < most {
            Finding {
                verdict: Verdict::Wrong,
                ..finding
                    .because(Remark::plain("fewer_lanes"))
                    .ask("pcie_slot")
            }
        } else {
            finding
        });
    }
    let most = own
        .map(|(generation, _)| generation)
        .or(link.generation_device_max);
    let slot = link
        .generation_host_max
        .or(link.generation_max)
        .filter(|_| link.generation_max.is_some() || link.generation_host_max.is_some());
    let Some(now) = link.generation.or(slot) else {
        return out;
    };
    let finding = with_own(
        Finding::new(Subject::PcieGeneration, Verdict::Right).reads(figure(now, Unit::Generation)),
        most,
        Unit::Generation,
    );
    let limited = match (slot, most) {
        (Some(slot), Some(most)) => slot < most,
        _ => false,
    };
    let lower = most.or(slot).is_some_and(|most| now < most);
    let busy = device.performance_state.is_some_and(|p| p <= 2)
        && device.utilization.is_none_or(|u| u > 0.0)
        || device.utilization.is_some_and(|u| u > 20.0);
    out.push(if limited {
        Finding {
            verdict: Verdict::Wrong,
            ..finding
                .because(Remark::plain("older_slot"))
                .ask("pcie_slot")
        }
    } else if lower && busy {
        Finding {
            verdict: Verdict::Wrong,
            ..finding
                .because(Remark::plain("older_generation"))
                .ask("pcie_slot")
        }
    } else if lower {
        Finding {
            verdict: Verdict::CannotTell,
            ..finding.because(Remark::plain("rests"))
        }
    } else {
        finding
    });
    out
}
