//! A machine's readings beside the datasheet.

use super::reading::{Device, Machine, Throttle};
use super::slot::pcie;
use super::whole::of_machine;
use crate::catalog::{Card, Catalog, Market, Vendor};
use crate::check::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};
use crate::check::names::Identity;

/// Most devices that one finding lists.
const DEVICE_GROUP_LIMIT: usize = 64;
/// A limit below this share of the default is lowered.
const LOWERED: f64 = 0.97;
/// Degrees at which a card is called hot.
const HOT_C: f64 = 85.0;

/// Memory that an idle card shows as used, MiB: contexts of the driver, page tables, firmware.
fn idle_mib(device: &Device, card: Option<&Card>) -> f64 {
    match card.map(|c| c.vendor) {
        // 2.8 to 3.4 GB of 910B on every printout of an idle one.
        Some(Vendor::Huawei) => 4300.0,
        Some(Vendor::Metax) => 1024.0,
        _ if device.nvidia => 750.0,
        Some(_) => 800.0,
        None => 4300.0,
    }
}

/// Whether `mib` is the whole memory of `card`, as drivers of different years report it.
pub fn is_whole(card: &Card, mib: f64) -> bool {
    let close = |expected: f64| (mib - expected).abs() <= 0.02 * expected;
    let label = card.memory_gib * 1024.0;
    let reported = card.driver_memory_mib.map(f64::from);
    // GDDR6 gives a sixteenth to error correction while that is on; other cards lose some to firmware.
    reported.is_some_and(close) || close(label) || (0.93 * label..=label).contains(&mib)
}

/// Whether `mib` is the memory of one of the two chips of `card` that its tool lists as devices.
pub fn is_die(card: &Card, mib: f64) -> bool {
    // An MLU370-X8 keeps up to a seventh of each chip's memory for error correction and itself.
    let own = match card.id.as_str() {
        "ascend-910c" => 0.02,
        "cambricon-mlu370-x8" => 0.2,
        _ => return false,
    };
    (mib - card.memory_gib * 512.0).abs() < own * mib
}

/// The GeForce cards whose memory and power limit these are, for names that old drivers cut to "GeForce ...".
pub fn geforce_by_figures(device: &Device, catalog: &Catalog) -> Option<Identity> {
    let mib = device.memory_mib?;
    let limit = device.power_limit_w?;
    let fits: Vec<&Card> = catalog
        .cards
        .iter()
        .filter(|card| {
            card.vendor == Vendor::Nvidia
                && card.market == Market::Consumer
                && is_whole(card, mib)
                && card.power_w.is_some_and(|w| (w - limit).abs() < 0.02 * w)
        })
        .collect();
    let exact = |card: &&Card| {
        card.driver_memory_mib
            .is_some_and(|own| (f64::from(own) - mib).abs() < 0.5)
    };
    let first = fits.iter().copied().find(exact).or(fits.first().copied())?;
    let ids = fits.iter().map(|card| card.id.clone());
    Some(Identity {
        cards: if exact(&first) {
            vec![first.id.clone()]
        } else {
            ids.clone().collect()
        },
        kin: ids.collect(),
        name: None,
    })
}

/// The card that a device is, where one is left.
pub fn card_of<'a>(device: &Device, catalog: &'a Catalog) -> Option<&'a Card> {
    let identity = device.identity.as_ref()?;
    catalog.card(identity.cards.first()?)
}

/// Judges everything that was read.
pub fn findings(machine: &Machine, catalog: &Catalog) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (index, device) in machine.devices.iter().enumerate() {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        for finding in of_device(device, machine.lists_processes, catalog) {
            let same = found.iter_mut().find(|known| known.says_the_same(&finding));
            match same {
                Some(known) if known.devices.len() < DEVICE_GROUP_LIMIT => {
                    known.devices.push(index)
                }
                Some(_) => {}
                None => found.push(finding.on(&[index])),
            }
        }
    }
    found.extend(of_machine(machine, catalog));
    found
}

fn of_device(device: &Device, lists_processes: bool, catalog: &Catalog) -> Vec<Finding> {
    let card = card_of(device, catalog);
    let ids: Vec<String> = device
        .identity
        .as_ref()
        .map(|i| i.cards.clone())
        .unwrap_or_default();
    let mut out = vec![identity(device, catalog)];
    out.extend(memory(device, card, catalog));
    out.extend(slices(device, card));
    if device.is_virtual {
        out.push(
            Finding::new(Subject::VirtualCard, Verdict::Wrong)
                .because(Remark::plain("virtual_card"))
                .ask("whole_card"),
        );
    }
    out.extend(power_limit(device, card));
    out.extend(pcie(device, card));
    out.extend(ecc(device, card));
    out.extend(others(device, card, lists_processes));
    out.extend(throttles(device));
    out.extend(direct_links(device));
    out.extend(health(device));
    for finding in &mut out {
        if finding.cards.is_empty() {
            finding.cards.clone_from(&ids);
        }
    }
    out
}

fn identity(device: &Device, catalog: &Catalog) -> Finding {
    let Some(identity) = &device.identity else {
        return Finding::new(Subject::Card, Verdict::CannotTell)
            .because(Remark::plain("card_unknown"));
    };
    let names: Vec<&Card> = identity
        .cards
        .iter()
        .filter_map(|id| catalog.card(id))
        .collect();
    match names.as_slice() {
        [] => {
            let finding = Finding::new(Subject::Card, Verdict::CannotTell)
                .because(Remark::plain("not_in_catalog"));
            match &identity.name {
                Some(name) => finding.reads(Reading::word(name)),
                None => finding,
            }
        }
        [only] => {
            let finding =
                Finding::new(Subject::Card, Verdict::Right).reads(Reading::word(&only.name));
            if only.id == "rtx-4090-48gb" {
                return Finding {
                    verdict: Verdict::Notice,
                    ..finding
                        .because(Remark::plain("rebuilt"))
                        .ask("rebuilt_support")
                };
            }
            finding
        }
        several => several
            .iter()
            .fold(Finding::new(Subject::Card, Verdict::Notice), |f, card| {
                f.reads(Reading::word(&card.name))
            })
            .because(Remark::plain("variant_open"))
            .ask("which_variant"),
    }
}

fn memory(device: &Device, card: Option<&Card>, catalog: &Catalog) -> Option<Finding> {
    let mib = device.memory_mib?;
    let finding = Finding::new(Subject::Memory, Verdict::CannotTell)
        .reads(Reading::figure(mib / 1024.0, Unit::Gib));
    let Some(card) = card else {
        return Some(finding.because(Remark::plain("no_card")));
    };
    let expected = card
        .driver_memory_mib
        .map_or(card.memory_gib, |m| f64::from(m) / 1024.0);
    let finding = finding.against(&card.id, Reading::figure(expected, Unit::Gib));
    let told = |verdict, key| {
        Some(
            Finding {
                verdict,
                ..finding.clone()
            }
            .because(Remark::plain(key)),
        )
    };
    if device.is_virtual && !is_whole(card, mib) {
        return told(Verdict::Wrong, "part_of_memory").map(|f| f.ask("whole_card"));
    }
    if is_whole(card, mib) {
        return Some(Finding {
            verdict: Verdict::Right,
            ..finding
        });
    }
    // Two chips of one Ascend 910C or two dies of one MI250 are two devices.
    if is_die(card, mib) {
        return told(Verdict::Right, "one_die_of_two");
    }
    if let Some(parts) = device.partition.map(super::Partition::parts)
        && parts > 1
        && (mib * f64::from(parts) - card.memory_gib * 1024.0).abs()
            < 0.05 * card.memory_gib * 1024.0
    {
        return told(Verdict::Wrong, "part_of_memory").map(|f| f.ask("whole_card"));
    }
    let kin = device
        .identity
        .as_ref()
        .map(|i| i.kin.as_slice())
        .unwrap_or_default();
    let other = kin
        .iter()
        .filter_map(|id| catalog.card(id))
        .find(|other| is_whole(other, mib) && other.id != card.id);
    if let Some(other) = other {
        let mut finding = finding;
        finding.verdict = Verdict::OnlyOtherVariant;
        finding.holds_for = vec![other.id.clone()];
        return Some(
            finding
                .because(Remark::plain("memory_of_another"))
                .ask("which_variant"),
        );
    }
    if mib < expected * 1024.0 {
        told(Verdict::Wrong, "part_of_memory").map(|f| f.ask("whole_card"))
    } else {
        told(Verdict::Notice, "more_memory").map(|f| f.ask("rebuilt_support"))
    }
}

fn slices(device: &Device, card: Option<&Card>) -> Option<Finding> {
    if let Some(partition) = device.partition
        && partition.parts() > 1
    {
        return Some(
            Finding::new(Subject::Slice, Verdict::Wrong)
                .reads(Reading::figure(f64::from(partition.parts()), Unit::One))
                .because(Remark::plain("partitioned"))
                .ask("whole_card"),
        );
    }
    if device.mig != Some(true) {
        return None;
    }
    let mut finding = Finding::new(Subject::Slice, Verdict::Wrong).ask("whole_card");
    for slice in &device.slices {
        if let Some(mib) = slice.memory_mib {
            finding = finding.reads(Reading::figure(mib / 1024.0, Unit::Gib));
        }
    }
    if device.slices.is_empty() {
        return Some(finding.because(Remark::plain("mig_without_slice")));
    }
    let whole = card.map_or(0.0, |c| c.memory_gib * 1024.0);
    let largest = device
        .slices
        .iter()
        .filter_map(|s| s.memory_mib)
        .fold(0.0, f64::max);
    if whole > 0.0 && largest > 0.0 {
        finding = finding.because(Remark::plain("mig_slice").with(
            "share",
            Reading::figure((100.0 * largest / whole).min(100.0), Unit::Percent),
        ));
    } else {
        finding = finding.because(Remark::plain("mig_slice_plain"));
    }
    Some(finding)
}

/// Speed of computing under a lowered power limit: power goes with the cube of the clock where voltage follows it, so
/// the clock goes with the cube root. It agrees with measured curves (RTX 3090 at 280 of 350 W: 95 % measured, 93 %
/// here).
pub fn speed_under_limit(share: f64) -> f64 {
    share.clamp(0.05, 1.0).cbrt()
}

fn power_limit(device: &Device, card: Option<&Card>) -> Option<Finding> {
    let limit = device.power_limit_w?;
    let default = device.power_default_w.or_else(|| card?.power_w)?;
    let mut finding =
        Finding::new(Subject::PowerLimit, Verdict::Right).reads(Reading::figure(limit, Unit::Watt));
    if let Some(card) = card {
        finding = finding.against(&card.id, Reading::figure(default, Unit::Watt));
    }
    if limit >= LOWERED * default {
        return Some(finding);
    }
    // A module's share of a superchip's budget, or a chip of two, is not a lowered limit.
    finding.verdict = Verdict::Wrong;
    let speed = 100.0 * speed_under_limit(limit / default);
    Some(
        finding
            .because(
                Remark::plain("power_lowered").with("speed", Reading::figure(speed, Unit::Percent)),
            )
            .ask("power_limit"),
    )
}

fn ecc(device: &Device, card: Option<&Card>) -> Vec<Finding> {
    let mut out = Vec::new();
    if device.ecc_errors.is_some_and(|errors| errors > 0.0) {
        out.push(
            Finding::new(Subject::Ecc, Verdict::Wrong)
                .reads(Reading::figure(device.ecc_errors.unwrap_or(0.0), Unit::One))
                .because(Remark::plain("ecc_errors"))
                .ask("replace_card"),
        );
    }
    let inline = card.is_some_and(|c| c.memory_type.starts_with("GDDR"));
    match device.ecc {
        Some(true) => out.push(
            Finding::new(Subject::Ecc, Verdict::Right)
                .reads(Reading::Text("check.word.on"))
                .because(Remark::plain(if inline {
                    "ecc_inline"
                } else {
                    "ecc_free"
                })),
        ),
        Some(false) => out.push(
            Finding::new(Subject::Ecc, Verdict::Notice)
                .reads(Reading::Text("check.word.off"))
                .because(Remark::plain(if inline {
                    "ecc_off_inline"
                } else {
                    "ecc_off"
                })),
        ),
        None => {}
    }
    out
}

fn others(device: &Device, card: Option<&Card>, lists_processes: bool) -> Option<Finding> {
    let used = device.used_mib.or_else(|| {
        let percent = device.used_percent?;
        let mib = device.memory_mib.or(card.map(|c| c.memory_gib * 1024.0))?;
        Some(percent / 100.0 * mib)
    })?;
    let finding = Finding::new(Subject::OtherProcesses, Verdict::Right)
        .reads(Reading::figure(used / 1024.0, Unit::Gib));
    if used <= idle_mib(device, card) {
        return Some(finding.because(Remark::plain("memory_free")));
    }
    Some(if device.processes > 0 {
        Finding {
            verdict: Verdict::Notice,
            ..finding.because(Remark::plain("processes_hold").with(
                "count",
                Reading::figure(f64::from(device.processes), Unit::One),
            ))
        }
    } else if lists_processes {
        Finding {
            verdict: Verdict::Wrong,
            ..finding
                .because(Remark::plain("unseen_hold"))
                .ask("other_tenants")
        }
    } else {
        // Whose it is cannot be seen without the list.
        Finding {
            verdict: Verdict::Notice,
            ..finding
                .because(Remark::plain("unlisted_hold"))
                .ask("other_tenants")
        }
    })
}

fn throttles(device: &Device) -> Vec<Finding> {
    // A hardware slowdown is said again with its cause.
    let caused = |reason: &Throttle| {
        *reason != Throttle::Hardware
            || !device
                .throttles
                .iter()
                .any(|t| matches!(t, Throttle::HardwareThermal | Throttle::PowerBrake))
    };
    let mut out: Vec<Finding> = device
        .throttles
        .iter()
        .filter(|reason| caused(reason))
        .map(|reason| {
            let (verdict, key, ask) = match reason {
                Throttle::PowerCap => (Verdict::Notice, "throttle_power_cap", None),
                Throttle::Hardware => (Verdict::Wrong, "throttle_hardware", Some("cooling")),
                Throttle::HardwareThermal => (Verdict::Wrong, "throttle_hot", Some("cooling")),
                Throttle::SoftwareThermal => (Verdict::Wrong, "throttle_hot", Some("cooling")),
                Throttle::PowerBrake => (Verdict::Wrong, "throttle_brake", Some("power_supply")),
                Throttle::ApplicationClocks => {
                    (Verdict::Notice, "throttle_clocks", Some("clock_limit"))
                }
                Throttle::SyncBoost => (Verdict::Notice, "throttle_sync", None),
            };
            Finding {
                ask,
                ..Finding::new(Subject::Throttle, verdict).because(Remark::plain(key))
            }
        })
        .fold(Vec::new(), |mut list, finding| {
            if !list.contains(&finding) {
                list.push(finding);
            }
            list
        });
    let busy = device.utilization.is_some_and(|u| u >= 50.0);
    if let (true, Some(now), Some(most)) = (busy, device.clock_mhz, device.clock_max_mhz)
        && now < 0.6 * most
    {
        out.push(
            Finding::new(Subject::Clock, Verdict::Wrong)
                .reads(Reading::figure(now, Unit::Mhz))
                .because(Remark::plain("slow_clock").with("most", Reading::figure(most, Unit::Mhz)))
                .ask("clock_limit"),
        );
    }
    out
}

fn direct_links(device: &Device) -> Option<Finding> {
    let (up, down) = device.direct_links?;
    let finding = Finding::new(Subject::Link, Verdict::Right)
        .reads(Reading::figure(f64::from(up), Unit::One));
    Some(if up == 0 {
        Finding {
            verdict: Verdict::Wrong,
            ..finding.because(Remark::plain("nvlink_off")).ask("links")
        }
    } else if down > 0 {
        let off = Reading::figure(f64::from(down), Unit::One);
        Finding {
            verdict: Verdict::Notice,
            ..finding
                .because(Remark::plain("nvlink_partly_off").with("count", off))
                .ask("links")
        }
    } else {
        finding.because(Remark::plain("nvlink_on"))
    })
}

fn health(device: &Device) -> Vec<Finding> {
    let mut out = Vec::new();
    if device.healthy == Some(false) {
        out.push(
            Finding::new(Subject::Health, Verdict::Wrong)
                .because(Remark::plain("unhealthy"))
                .ask("replace_card"),
        );
    }
    if let Some(celsius) = device.temperature_c.filter(|t| *t >= HOT_C && *t < 150.0) {
        out.push(
            Finding::new(Subject::Health, Verdict::Notice)
                .reads(Reading::figure(celsius, Unit::Celsius))
                .because(Remark::plain("hot"))
                .ask("cooling"),
        );
    }
    out
}
