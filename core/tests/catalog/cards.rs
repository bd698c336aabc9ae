//! Cards: invariants of every entry, and figures checked by hand.

use std::collections::BTreeSet;

use cardfit::catalog::{Card, Catalog, Confidence, Market, Vendor};
use cardfit::dtype::ComputeDtype;

fn cards() -> &'static [Card] {
    &Catalog::embedded().cards
}

fn card(id: &str) -> &'static Card {
    cards()
        .iter()
        .find(|c| c.id == id)
        .unwrap_or_else(|| panic!("no card {id}"))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.0025 * b.abs()
}

#[test]
fn ids_are_unique_and_fit_a_link() {
    let ids: BTreeSet<_> = cards().iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids.len(), cards().len());
    for id in ids {
        let fits = id
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        assert!(fits, "{id}");
    }
}

#[test]
fn every_figure_is_positive_and_finite() {
    for c in cards() {
        let p = &c.peak_tflops;
        let figures = [
            Some(c.memory_gib),
            Some(c.bandwidth_gb_s),
            c.power_w,
            p.fp64,
            p.fp64_tensor,
            p.fp32,
            p.fp16_vector,
            p.tf32,
            p.fp16,
            p.fp16_acc16,
            p.bf16,
            p.fp8,
            p.int8,
            p.fp4,
            c.link.bidirectional_gb_s,
            c.link.host_bidirectional_gb_s,
            c.link.pair_bridge_gb_s,
        ];
        for figure in figures.into_iter().flatten() {
            assert!(figure > 0.0 && figure.is_finite(), "{}: {figure}", c.id);
        }
        assert!((1..=72).contains(&c.link.cards_per_node), "{}", c.id);
        assert!((2014..=2026).contains(&c.release_year), "{}", c.id);
        assert!(
            [p.fp16, p.bf16, p.fp32, p.fp8].iter().any(Option::is_some),
            "{}: no rate to compute with",
            c.id
        );
    }
}

#[test]
fn every_entry_says_where_it_was_read() {
    for c in cards() {
        assert!(!c.sources.is_empty(), "{}", c.id);
        for source in &c.sources {
            assert!(
                source.starts_with("https://") || source.starts_with("http://"),
                "{}: {source}",
                c.id
            );
        }
        let printed = c.driver_memory_mib.is_some() || c.runtime_memory_mib.is_some();
        assert_eq!(printed, c.memory_source.is_some(), "{}", c.id);
        if c.confidence == Confidence::Verified {
            let makers_own = [
                "docs.cloud.google.com",
                "awsdocs-neuron",
                "rocm.docs.amd.com",
            ]
            .iter()
            .any(|host| c.sources.iter().any(|s| s.contains(host)));
            assert!(c.sources.len() >= 2 || makers_own, "{}", c.id);
        }
    }
}

/// Sparse figures are twice the dense ones: a table read in the wrong column breaks one of
/// these steps.
#[test]
fn matrix_units_are_at_least_as_fast_as_vector_units_and_narrow_formats_as_wide_ones() {
    for c in cards() {
        let p = &c.peak_tflops;
        let steps = [
            ("fp64_tensor", p.fp64_tensor, "fp64", p.fp64),
            ("tf32", p.tf32, "fp32", p.fp32),
            ("fp16", p.fp16, "fp16_vector", p.fp16_vector),
            ("fp16", p.fp16, "fp32", p.fp32),
            ("bf16", p.bf16, "fp32", p.fp32),
            ("fp16_acc16", p.fp16_acc16, "fp16", p.fp16),
            ("fp8", p.fp8, "bf16", p.bf16),
            ("fp4", p.fp4, "fp8", p.fp8),
        ];
        for (fast_name, fast, slow_name, slow) in steps {
            if let (Some(fast), Some(slow)) = (fast, slow) {
                assert!(
                    fast >= slow * 0.997,
                    "{}: {fast_name} {fast} < {slow_name} {slow}",
                    c.id
                );
            }
        }
        if let (Some(fp8), Some(bf16)) = (p.fp8, p.bf16) {
            assert!(fp8 <= 2.03 * bf16, "{}: fp8 {fp8}, bf16 {bf16}", c.id);
        }
    }
}

/// GeForce cards, L40, L20 and L2 multiply 16-bit floats at half rate when they add up in FP32.
#[test]
fn game_chips_accumulate_in_fp32_at_half_rate() {
    // The China variants are capped in the fast mode only.
    let capped = ["rtx-5090-d", "rtx-5090-d-v2"];
    let mut checked = 0;
    for c in cards() {
        let p = &c.peak_tflops;
        let half_rate = (c.market == Market::Consumer && c.name.starts_with("GeForce"))
            || ["l40"].contains(&c.id.as_str());
        if let (true, Some(acc32), Some(acc16)) = (half_rate, p.fp16, p.fp16_acc16) {
            if capped.contains(&c.id.as_str()) {
                assert!(acc32 < acc16, "{}", c.id);
            } else {
                assert!((acc16 / acc32 - 2.0).abs() < 0.01, "{}", c.id);
            }
            checked += 1;
        }
    }
    assert!(checked >= 20, "{checked}");
    // The professional cards with the same chips do not.
    for id in [
        "rtx-6000-ada",
        "l40s",
        "rtx-a6000",
        "rtx-pro-6000-blackwell-ws",
    ] {
        let p = &card(id).peak_tflops;
        assert_eq!(p.fp16, p.fp16_acc16, "{id}");
    }
}

/// Bandwidth in GB/s and capacity in GiB that a memory type has been built for.
#[test]
fn memory_lies_in_the_range_of_its_type() {
    for c in cards() {
        let (bandwidth, gib) = match c.memory_type.as_str() {
            "GDDR5" => (180.0..=480.0, 4.0..=24.0),
            "GDDR5X" => (320.0..=550.0, 8.0..=24.0),
            "GDDR6" => (190.0..=960.0, 6.0..=48.0),
            "GDDR6X" => (500.0..=1010.0, 8.0..=48.0),
            "GDDR7" => (440.0..=1800.0, 8.0..=96.0),
            "HBM2" => (700.0..=1560.0, 12.0..=40.0),
            "HBM2e" => (800.0..=3700.0, 24.0..=128.0),
            "HBM3" => (2900.0..=5325.0, 64.0..=192.0),
            "HBM3e" => (4800.0..=8000.0, 96.0..=288.0),
            // The maker does not say which HBM.
            // Huawei's own kind of HBM.
            "HiZQ" => (3000.0..=4500.0, 64.0..=160.0),
            "HBM" => (600.0..=1700.0, 32.0..=80.0),
            "LPDDR4X" | "LPDDR5" => (100.0..=620.0, 8.0..=96.0),
            other => panic!("{}: unknown memory type {other}", c.id),
        };
        assert!(
            bandwidth.contains(&c.bandwidth_gb_s),
            "{}: {} GB/s of {}",
            c.id,
            c.bandwidth_gb_s,
            c.memory_type
        );
        assert!(
            gib.contains(&c.memory_gib),
            "{}: {} GiB of {}",
            c.id,
            c.memory_gib,
            c.memory_type
        );
    }
}

#[test]
fn printed_memory_is_the_label_less_what_is_kept() {
    for c in cards() {
        let label = c.memory_gib * 1024.0;
        if let Some(driver) = c.driver_memory_mib.map(f64::from) {
            assert!(driver <= label * 1.001, "{}: {driver}", c.id);
            assert!(driver >= label * 0.93, "{}: {driver}", c.id);
        }
        if let Some(runtime) = c.runtime_memory_mib.map(f64::from) {
            let driver = c.driver_memory_mib.map_or(label, f64::from);
            assert!(runtime <= driver, "{}: {runtime}", c.id);
            assert!(runtime >= label * 0.9, "{}: {runtime}", c.id);
        }
        let usable = c.usable_memory_bytes() as f64 / (1024.0 * 1024.0);
        assert!(
            usable > 0.88 * label && usable <= label,
            "{}: {usable}",
            c.id
        );
    }
}

/// One lane and direction carries about 1, 2 or 4 GB/s in generation 3, 4 and 5.
#[test]
fn pcie_links_follow_their_generation() {
    for c in cards() {
        let Some(rest) = c.link.kind.strip_prefix("PCIe ") else {
            continue;
        };
        let (generation, lanes) = rest.split_once(" x").expect("PCIe G.0 xN");
        let per_lane = match generation {
            "3.0" => 1.0,
            "4.0" => 2.0,
            "5.0" => 4.0,
            other => panic!("{}: PCIe {other}", c.id),
        };
        let lanes: f64 = lanes.parse().expect("lanes");
        // The four GPUs of an A16 board share one bus.
        let shared = if c.id == "a16-per-gpu" { 4.0 } else { 1.0 };
        let both_ways = 2.0 * per_lane * lanes / shared;
        assert_eq!(c.link.bidirectional_gb_s, Some(both_ways), "{}", c.id);
        assert_eq!(c.link.host_bidirectional_gb_s, Some(both_ways), "{}", c.id);
    }
}

#[test]
fn measured_products_stay_under_the_peak() {
    for c in cards() {
        for m in &c.measured_matmul {
            assert!(m.source.starts_with("https://"), "{}", c.id);
            let peak = c.peak_tflops.flops_per_s(m.dtype).expect("a peak") / 1e12;
            assert!(
                m.tflops > 0.3 * peak && m.tflops <= peak,
                "{}: {} of {peak}",
                c.id,
                m.tflops
            );
        }
    }
    assert!(
        cards()
            .iter()
            .filter(|c| !c.measured_matmul.is_empty())
            .count()
            >= 10
    );
}

#[test]
fn one_die_is_half_of_its_module() {
    for (die, module) in [("mi250-gcd", "mi250"), ("mi250x-gcd", "mi250x")] {
        let (die, module) = (card(die), card(module));
        assert!(close(2.0 * die.memory_gib, module.memory_gib));
        assert!(close(2.0 * die.bandwidth_gb_s, module.bandwidth_gb_s));
        for dtype in [ComputeDtype::Fp64, ComputeDtype::Fp32, ComputeDtype::Bf16] {
            let half = die.peak_tflops.flops_per_s(dtype).expect("die");
            let whole = module.peak_tflops.flops_per_s(dtype).expect("module");
            assert!(close(2.0 * half, whole), "{} {dtype:?}", die.id);
        }
    }
}

/// Every card that a published measurement we compare with was made on.
#[test]
fn cards_of_published_measurements_are_there() {
    for id in [
        "a10",
        "a100-pcie-40gb",
        "a100-pcie-80gb",
        "a100-sxm4-40gb",
        "a100-sxm4-80gb",
        "a10g",
        "a2",
        "a30",
        "a40",
        "a800-sxm4-80gb",
        "ascend-910b2",
        "ascend-910b3",
        "b200-180gb",
        "gaudi2",
        "gb200-186gb",
        "gh200-144gb",
        "gh200-96gb",
        "gtx-1080-ti",
        "h100-nvl-94gb",
        "h100-pcie-80gb",
        "h100-sxm-80gb",
        "h20-96gb",
        "h200-sxm-141gb",
        "h800-sxm-80gb",
        "l20",
        "l40s",
        "mi250",
        "mi250-gcd",
        "mi250x-gcd",
        "mi300x",
        "mi325x",
        "p40",
        "quadro-rtx-8000",
        "rtx-3070",
        "rtx-3070-ti",
        "rtx-3080-10gb",
        "rtx-3080-ti",
        "rtx-3090",
        "rtx-3090-ti",
        "rtx-4000-ada",
        "rtx-4070-ti",
        "rtx-4090",
        "rtx-4090-48gb",
        "rtx-5090",
        "rtx-6000-ada",
        "rtx-a6000",
        "rtx-pro-6000-blackwell-server",
        "rtx-pro-6000-blackwell-ws",
        "t4",
        "v100-pcie-16gb",
        "v100-sxm2-16gb",
        "v100-sxm2-32gb",
    ] {
        card(id);
    }
}

#[test]
fn cards_that_people_rent_today_are_there() {
    for id in [
        "rtx-4090-d",
        "rtx-4090-48gb",
        "rtx-5090",
        "a800-sxm4-80gb",
        "a800-pcie-80gb",
        "h800-sxm-80gb",
        "h20-96gb",
        "h20-141gb",
        "l20",
        "l40s",
        "l4",
        "a10",
        "a30",
        "a40",
        "v100-pcie-16gb",
        "v100-sxm2-32gb",
        "t4",
        "rtx-pro-6000-blackwell-server",
        "h200-sxm-141gb",
        "b200-180gb",
        "b300-288gb",
        "gb200-186gb",
        "mi325x",
        "mi355x",
        "ascend-910b1",
        "ascend-910c",
    ] {
        card(id);
    }
}

/// The cards that the first write-ups of these needs name, under the maker's figures: memory
/// in GiB, its type, GB/s, dense 16-bit matrix TFLOPS with FP32 accumulation, FP32 TFLOPS, W.
#[test]
fn figures_that_write_ups_get_wrong_are_right() {
    type Figures = (&'static str, f64, &'static str, f64, f64, f64, Option<f64>);
    let rows: [Figures; 14] = [
        ("rtx-3090", 24.0, "GDDR6X", 936.0, 71.2, 35.6, Some(350.0)),
        ("rtx-4090", 24.0, "GDDR6X", 1008.0, 165.2, 82.6, Some(450.0)),
        (
            "rtx-6000-ada",
            48.0,
            "GDDR6",
            960.0,
            364.2,
            91.1,
            Some(300.0),
        ),
        (
            "a100-sxm4-80gb",
            80.0,
            "HBM2e",
            2039.0,
            312.0,
            19.5,
            Some(400.0),
        ),
        (
            "a100-pcie-80gb",
            80.0,
            "HBM2e",
            1935.0,
            312.0,
            19.5,
            Some(300.0),
        ),
        ("l40", 48.0, "GDDR6", 864.0, 181.0, 90.5, Some(300.0)),
        (
            "h100-pcie-80gb",
            80.0,
            "HBM2e",
            2039.0,
            756.4,
            51.2,
            Some(350.0),
        ),
        (
            "h100-sxm-80gb",
            80.0,
            "HBM3",
            3350.0,
            989.4,
            66.9,
            Some(700.0),
        ),
        (
            "h100-nvl-94gb",
            94.0,
            "HBM3",
            3938.0,
            835.3,
            60.0,
            Some(400.0),
        ),
        ("mi250", 128.0, "HBM2e", 3277.0, 362.1, 45.3, Some(500.0)),
        ("mi300a", 128.0, "HBM3", 5300.0, 980.6, 122.6, None),
        ("mi300x", 192.0, "HBM3", 5300.0, 1307.4, 163.4, Some(750.0)),
        (
            "ascend-910b1",
            64.0,
            "HBM2e",
            1600.0,
            400.0,
            0.0,
            Some(400.0),
        ),
        (
            "biren-br100",
            64.0,
            "HBM2e",
            1640.0,
            1024.0,
            256.0,
            Some(550.0),
        ),
    ];
    for (id, gib, memory_type, bandwidth, fp16, fp32, power) in rows {
        let c = card(id);
        assert!(close(c.memory_gib, gib), "{id}: {} GiB", c.memory_gib);
        assert_eq!(c.memory_type, memory_type, "{id}");
        assert!(close(c.bandwidth_gb_s, bandwidth), "{id}");
        let dense = c.peak_tflops.fp16.expect("a 16-bit rate");
        assert!(close(dense, fp16), "{id}: {dense}");
        assert!(close(c.peak_tflops.fp32.unwrap_or(0.0), fp32), "{id}");
        if power.is_some() {
            assert_eq!(c.power_w, power, "{id}");
        }
    }
    // Twice the FP64 of one MI250 die; A100's matrix FP64; the cut of the China variant.
    assert_eq!(card("mi250").peak_tflops.fp64, Some(45.3));
    assert_eq!(card("a100-sxm4-80gb").peak_tflops.fp64_tensor, Some(19.5));
    assert_eq!(card("h800-sxm-80gb").peak_tflops.fp64, Some(1.0));
    // INT8 in TOPS, dense.
    assert_eq!(card("a100-sxm4-80gb").peak_tflops.int8, Some(624.0));
    assert_eq!(card("l40").peak_tflops.int8, Some(362.0));
    // NVLink, both directions.
    assert_eq!(card("h100-sxm-80gb").link.bidirectional_gb_s, Some(900.0));
    assert_eq!(card("a100-sxm4-80gb").link.bidirectional_gb_s, Some(600.0));
    assert_eq!(card("h800-sxm-80gb").link.bidirectional_gb_s, Some(400.0));
    // A 3090 has a bridge, a 4090 has none.
    assert_eq!(card("rtx-3090").link.pair_bridge_gb_s, Some(112.5));
    assert_eq!(card("rtx-4090").link.pair_bridge_gb_s, None);
}

#[test]
fn formats_that_a_generation_lacks_have_no_rate() {
    for c in cards().iter().filter(|c| c.vendor == Vendor::Nvidia) {
        let p = &c.peak_tflops;
        let before_ampere = ["Pascal", "Volta", "Turing"].contains(&c.architecture.as_str());
        let before_ada = before_ampere || c.architecture == "Ampere";
        if before_ampere {
            assert_eq!((p.bf16, p.tf32), (None, None), "{}", c.id);
        }
        if before_ada {
            assert_eq!(p.fp8, None, "{}", c.id);
        }
        if !c.architecture.starts_with("Blackwell") {
            assert_eq!(p.fp4, None, "{}", c.id);
        }
        assert!(c.compute_capability.is_some(), "{}", c.id);
    }
}
