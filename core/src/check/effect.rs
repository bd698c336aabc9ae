//! What a machine's real figures mean for the scenario at hand: the estimate is made again with them.

use serde::Serialize;

use super::machine::{Device, Link, Machine, Throttle, card_of, own_pcie, speed_under_limit};
use crate::catalog::{Card, Catalog, PriceBook};
use crate::offers::{Fit, Offer, Run, rank};
use crate::range::Range;
use crate::scenario::Scenario;

/// What differs from the datasheet's card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Less memory, or memory that others hold.
    Memory,
    /// A slice of the card.
    Slice,
    /// A lowered power limit.
    PowerLimit,
    /// Clocks held down.
    Throttle,
    /// A narrower or older PCIe link.
    Pcie,
    /// No direct links between cards.
    Links,
}

impl Change {
    const ALL: [Self; 6] = [
        Self::Memory,
        Self::Slice,
        Self::PowerLimit,
        Self::Throttle,
        Self::Pcie,
        Self::Links,
    ];
}

/// What the scenario comes to on one kind of card.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Whether it fits.
    pub fit: Fit,
    /// Hours of the job; `None` for a service or where it does not fit.
    pub hours: Option<Range>,
    /// Output tokens a second over all cards, of a service.
    pub tokens_per_s: Option<Range>,
    /// Cost of the job, or of a month, in the scenario's currency.
    pub cost: Option<Range>,
}

/// The scenario on the card as sold and as found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// Card id.
    pub card: String,
    /// How many.
    pub count: u32,
    /// On the datasheet's card.
    pub sold: Outcome,
    /// With one difference at a time.
    pub changes: Vec<(Change, Outcome)>,
    /// With all of them.
    pub found: Outcome,
}

/// Makes the estimate again with what `machine` shows. `None` where its card is not known or the scenario has no
/// answer for it.
pub fn effect(
    scenario: &Scenario,
    machine: &Machine,
    catalog: &Catalog,
    prices: &PriceBook,
) -> Option<Effect> {
    let card = machine.devices.iter().find_map(|d| card_of(d, catalog))?;
    let count = u32::try_from(machine.devices.len()).ok()?.max(1);
    let answer = |card: &Card| outcome(scenario, card, count, catalog, prices);
    let sold = answer(card)?;
    let mut changes = Vec::new();
    let mut all = card.clone();
    for change in Change::ALL {
        let mut one = card.clone();
        if apply(change, &mut one, machine) {
            apply(change, &mut all, machine);
            if let Some(outcome) = answer(&one) {
                changes.push((change, outcome));
            }
        }
    }
    let found = answer(&all)?;
    Some(Effect {
        card: card.id.clone(),
        count,
        sold,
        changes,
        found,
    })
}

fn outcome(
    scenario: &Scenario,
    card: &Card,
    count: u32,
    catalog: &Catalog,
    prices: &PriceBook,
) -> Option<Outcome> {
    let mut asked = scenario.clone();
    asked.shelf.cards = vec![card.id.clone()];
    asked.shelf.unpriced = true;
    asked.shelf.count = Some(count);
    let shop = Catalog {
        cards: vec![card.clone()].into(),
        ..catalog.clone()
    };
    let ranking = rank(&asked, &shop, prices);
    let offer: &Offer = ranking.offers.iter().find(|o| o.count == count)?;
    Some(Outcome {
        fit: offer.fit.clone(),
        hours: offer.hours,
        tokens_per_s: match &offer.run {
            Some(Run::Serve { speed, .. }) => Some(speed.tokens_per_s_total),
            _ => None,
        },
        cost: offer.cost_of_job.or(offer.cost_per_month),
    })
}

/// Makes `card` what the machine shows in one respect; whether that changes anything.
fn apply(change: Change, card: &mut Card, machine: &Machine) -> bool {
    match change {
        Change::Memory => memory(card, &machine.devices),
        Change::Slice => slice(card, &machine.devices),
        Change::PowerLimit => power(card, &machine.devices),
        Change::Throttle => throttle(card, &machine.devices),
        Change::Pcie => pcie(card, &machine.devices),
        Change::Links => links(card, machine),
    }
}

/// Sets what programs can have of `card`, keeping what drivers keep.
fn set_memory(card: &mut Card, total_mib: f64) {
    let whole = card
        .driver_memory_mib
        .map_or(card.memory_gib * 1024.0, f64::from);
    let usable = card.usable_memory_bytes() as f64 / 1_048_576.0;
    let kept = (whole - usable).max(0.0);
    card.driver_memory_mib = Some(total_mib.max(0.0) as u32);
    card.runtime_memory_mib = Some((total_mib - kept).max(0.0) as u32);
}

fn memory(card: &mut Card, devices: &[Device]) -> bool {
    let whole = card
        .driver_memory_mib
        .map_or(card.memory_gib * 1024.0, f64::from);
    let least = devices
        .iter()
        .filter(|d| d.slices.is_empty())
        .filter_map(|d| {
            let total = d.memory_mib.unwrap_or(whole).min(whole);
            // What an idle driver shows as used is in the estimate's own context.
            let held = d.used_mib.filter(|used| *used > 0.02 * total + 800.0);
            (d.memory_mib.is_some() || held.is_some()).then(|| total - held.unwrap_or(0.0))
        })
        .reduce(f64::min);
    let Some(least) = least.filter(|mib| *mib < 0.985 * whole) else {
        return false;
    };
    set_memory(card, least);
    true
}

/// Multiplies every rate, and what efficiencies are scaled by.
fn scale_speed(card: &mut Card, factor: f64) {
    let peak = &mut card.peak_tflops;
    for rate in [
        &mut peak.fp64,
        &mut peak.fp64_tensor,
        &mut peak.fp32,
        &mut peak.fp16_vector,
        &mut peak.tf32,
        &mut peak.fp16,
        &mut peak.fp16_acc16,
        &mut peak.bf16,
        &mut peak.fp8,
        &mut peak.int8,
        &mut peak.fp4,
    ] {
        *rate = rate.map(|r| r * factor);
    }
    for measured in &mut card.measured_matmul {
        measured.tflops *= factor;
    }
    card.power_w = card.power_w.map(|w| w * factor);
}

fn slice(card: &mut Card, devices: &[Device]) -> bool {
    let whole = card
        .driver_memory_mib
        .map_or(card.memory_gib * 1024.0, f64::from);
    let slices = devices.iter().flat_map(|d| &d.slices);
    let Some(slice) = slices.filter(|s| s.memory_mib.is_some()).min_by(|a, b| {
        a.memory_mib
            .partial_cmp(&b.memory_mib)
            .unwrap_or(std::cmp::Ordering::Equal)
    }) else {
        return false;
    };
    let mib = slice.memory_mib.unwrap_or(whole);
    // Memory is cut in eighths, and bandwidth with it; compute units in sevenths.
    let memory_share = (mib / whole).clamp(0.01, 1.0);
    // An A30 and Blackwell's workstation cards have quarters instead.
    let quarters = card.memory_gib < 30.0 || card.id.starts_with("rtx-pro");
    let compute_share = slice
        .compute
        .filter(|_| !quarters)
        .map_or(memory_share, |sevenths| f64::from(sevenths) / 7.0)
        .clamp(0.01, 1.0);
    scale_speed(card, compute_share);
    card.bandwidth_gb_s *= memory_share;
    set_memory(card, mib);
    true
}

fn power(card: &mut Card, devices: &[Device]) -> bool {
    let share = devices
        .iter()
        .filter_map(|d| Some(d.power_limit_w? / d.power_default_w.or(card.power_w)?))
        .reduce(f64::min);
    let Some(share) = share.filter(|s| *s > 0.0 && *s < 0.97) else {
        return false;
    };
    scale_speed(card, speed_under_limit(share));
    true
}

fn throttle(card: &mut Card, devices: &[Device]) -> bool {
    let slowest = devices
        .iter()
        .filter_map(|d| {
            let held = d.throttles.iter().any(|t| {
                matches!(
                    t,
                    Throttle::Hardware
                        | Throttle::HardwareThermal
                        | Throttle::SoftwareThermal
                        | Throttle::PowerBrake
                )
            });
            let busy = d.utilization.is_some_and(|u| u >= 50.0);
            let clock = d
                .clock_mhz
                .zip(d.clock_max_mhz)
                .filter(|(_, most)| *most > 0.0)
                .map(|(now, most)| now / most);
            match (held, busy, clock) {
                (true, true, Some(share)) => Some(share),
                // NVML: a hardware slowdown halves the clocks or more.
                (true, _, _) => Some(0.5),
                (false, true, Some(share)) if share < 0.6 => Some(share),
                _ => None,
            }
        })
        .reduce(f64::min);
    let Some(share) = slowest.filter(|s| *s < 0.97) else {
        return false;
    };
    scale_speed(card, share.max(0.02));
    true
}

/// Both directions of one PCIe lane, GB/s, by generation.
fn lane_gb_s(generation: u32) -> f64 {
    match generation {
        0 | 1 => 0.5,
        2 => 1.0,
        3 => 2.0,
        4 => 4.0,
        5 => 8.0,
        _ => 16.0,
    }
}

fn pcie(card: &mut Card, devices: &[Device]) -> bool {
    let Some((own_generation, own_lanes)) = own_pcie(card) else {
        return false;
    };
    let worst = devices
        .iter()
        .filter_map(|d| {
            let busy = d.utilization.is_some_and(|u| u > 20.0)
                || d.performance_state.is_some_and(|p| p <= 2);
            let lanes = d.pcie.width.unwrap_or(own_lanes).min(own_lanes);
            // A resting card falls back to the first generation; only a slot's limit or a busy card tells.
            let generation = d
                .pcie
                .generation_host_max
                .or(d.pcie.generation_max)
                .or(d.pcie.generation.filter(|_| busy))
                .unwrap_or(own_generation)
                .min(own_generation);
            (lanes < own_lanes || generation < own_generation).then_some((generation, lanes))
        })
        .min_by(|a, b| {
            let rate = |(g, l): &(u32, u32)| lane_gb_s(*g) * f64::from(*l);
            rate(a).total_cmp(&rate(b))
        });
    let Some((generation, lanes)) = worst.filter(|(_, lanes)| *lanes > 0) else {
        return false;
    };
    let rate = lane_gb_s(generation) * f64::from(lanes);
    card.link.host_bidirectional_gb_s = Some(rate);
    if card.link.is_bus() {
        card.link.kind = format!("PCIe {generation}.0 x{lanes}");
        card.link.bidirectional_gb_s = Some(rate);
    }
    true
}

fn links(card: &mut Card, machine: &Machine) -> bool {
    let joined = !card.link.is_bus();
    let none =
        !machine.links.is_empty() && !machine.links.iter().any(|l| matches!(l, Link::Direct(_)));
    let Some((generation, lanes)) = own_pcie(card).filter(|_| joined && none) else {
        return false;
    };
    let rate = card
        .link
        .host_bidirectional_gb_s
        .unwrap_or_else(|| lane_gb_s(generation) * f64::from(lanes));
    card.link.kind = format!("PCIe {generation}.0 x{lanes}");
    card.link.bidirectional_gb_s = Some(rate);
    true
}
