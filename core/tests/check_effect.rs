//! What a machine's real figures mean for a scenario.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test stops where its own set-up fails"
)]

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::check::{
    Change, Checked, Device, Effect, Identity, Link, Machine, Pcie, Slice, Throttle, Verdict,
    check, effect, hold_against_sold, report,
};
use cardfit::offers::Fit;
use cardfit::scenario::parse;

fn machine(card: &str, count: usize, device: Device) -> Machine {
    Machine {
        devices: vec![
            Device {
                identity: Some(Identity::of_card(card)),
                ..device
            };
            count
        ],
        ..Machine::default()
    }
}

fn meaning(link: &str, machine: &Machine) -> Effect {
    let catalog = Catalog::embedded();
    let scenario = parse(link, catalog).scenario;
    effect(&scenario, machine, catalog, PriceBook::embedded()).expect("a known card")
}

fn changes(effect: &Effect) -> Vec<Change> {
    effect.changes.iter().map(|(change, _)| *change).collect()
}

fn hours(outcome: &cardfit::check::Outcome) -> f64 {
    outcome.hours.expect("a job that fits").mid
}

const TRAIN: &str = "m=llama-3.1-8b&do=lora";

#[test]
fn a_card_as_sold_changes_nothing() {
    let found = meaning(TRAIN, &machine("a100-sxm4-80gb", 1, Device::default()));
    assert!(found.changes.is_empty());
    assert_eq!(found.sold, found.found);
}

#[test]
fn memory_that_others_hold_can_make_a_job_not_fit() {
    let device = Device {
        memory_mib: Some(81_920.0),
        used_mib: Some(72_000.0),
        ..Device::default()
    };
    let found = meaning(TRAIN, &machine("a100-sxm4-80gb", 1, device));
    assert_eq!(changes(&found), [Change::Memory]);
    assert!(matches!(found.sold.fit, Fit::Fits));
    assert!(matches!(found.found.fit, Fit::TooSmall { .. }));
}

#[test]
fn a_lowered_limit_makes_a_job_longer_by_no_more_than_the_cube_root() {
    let device = Device {
        power_limit_w: Some(200.0),
        power_default_w: Some(400.0),
        ..Device::default()
    };
    let found = meaning(TRAIN, &machine("a100-sxm4-80gb", 1, device));
    assert_eq!(changes(&found), [Change::PowerLimit]);
    let longer = hours(&found.found) / hours(&found.sold);
    // Half of the power: 2^(1/3) = 1.26 where all time is computing.
    assert!((1.05..=1.27).contains(&longer), "{longer}");
}

#[test]
fn a_hot_card_is_slower() {
    let device = Device {
        throttles: vec![Throttle::HardwareThermal],
        ..Device::default()
    };
    let found = meaning(TRAIN, &machine("rtx-4090", 1, device));
    assert_eq!(changes(&found), [Change::Throttle]);
    assert!(hours(&found.found) > 1.2 * hours(&found.sold));
}

#[test]
fn a_slice_has_its_share_of_memory_and_speed() {
    let device = Device {
        mig: Some(true),
        slices: vec![Slice {
            memory_mib: Some(40_192.0),
            compute: Some(3),
            multiprocessors: Some(42),
        }],
        ..Device::default()
    };
    let found = meaning(TRAIN, &machine("a100-sxm4-80gb", 1, device));
    assert_eq!(changes(&found), [Change::Slice]);
    assert!(hours(&found.found) > 1.5 * hours(&found.sold));
}

#[test]
fn cards_without_nvlink_are_no_faster_than_with_it() {
    let mut no_links = machine("a100-sxm4-80gb", 8, Device::default());
    no_links.links = vec![Link::System; 28];
    let found = meaning("m=llama-3.1-70b&do=full", &no_links);
    assert_eq!(changes(&found), [Change::Links]);
    assert!(hours(&found.found) >= hours(&found.sold));
}

#[test]
fn a_narrow_link_is_taken_where_cards_talk_over_it() {
    let device = Device {
        pcie: Pcie {
            width: Some(4),
            generation_max: Some(3),
            ..Pcie::default()
        },
        ..Device::default()
    };
    let found = meaning("m=llama-3.1-8b&do=full", &machine("rtx-4090", 8, device));
    assert_eq!(changes(&found), [Change::Pcie]);
    if let (Some(sold), Some(found)) = (found.sold.hours, found.found.hours) {
        assert!(found.mid > sold.mid);
    }
}

#[test]
fn a_service_gets_slower_too() {
    let device = Device {
        power_limit_w: Some(225.0),
        ..Device::default()
    };
    let found = meaning("m=llama-3.1-8b&do=serve", &machine("rtx-4090", 1, device));
    let pace = |o: &cardfit::check::Outcome| o.tokens_per_s.map(|t| t.mid);
    assert!(pace(&found.found) <= pace(&found.sold));
}

#[test]
fn a_card_that_is_not_the_one_sold_is_said_first() {
    let text = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0)\n";
    let catalog = Catalog::embedded();
    let mut found = match check(text, catalog, PriceBook::embedded()) {
        Checked::Machine(found) => found,
        other => unreachable!("{other:?}"),
    };
    hold_against_sold(&mut found, catalog.card("a100-sxm4-80gb").unwrap(), catalog);
    assert_eq!(found.findings[0].verdict, Verdict::Wrong);
    let mut same = report(found.machine.clone(), catalog);
    let before = same.findings.len();
    hold_against_sold(&mut same, catalog.card("a100-sxm4-40gb").unwrap(), catalog);
    assert_eq!(same.findings.len(), before);
}
