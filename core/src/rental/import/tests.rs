//! Lists of others as they come: what is taken of them, and what is refused with its reason.

use super::*;

fn facts() -> ListFacts<'static> {
    ListFacts {
        provider: "Nebius",
        currency: Currency::Usd,
        as_of: "2026-11-01",
        source: "a test",
    }
}

fn read(text: &str) -> Imported {
    import(text, facts(), Catalog::embedded())
}

/// Lines as github.com/skypilot-org/skypilot-catalog has them in catalogs/v8/nebius/vms.csv, and bad ones.
const SKY_PILOT: &str = "\
InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice
cpu-d3_4vcpu-16gb,,0,4,16,0.0992,eu-north1,,
gpu-h100-sxm_8gpu-128vcpu-1600gb,H100,8,128,1600,23.60,eu-north1,\"{'Gpus': [{'Name': 'H100', 'Manufacturer': 'NVIDIA', 'Count': 8, 'MemoryInfo': {'SizeInMiB': 81920}}], 'TotalGpuMemoryInMiB': 655360}\",10.00
gpu-l40s-a_1gpu-8vcpu-32gb,L40S,1,8,32,1.5484,eu-north1,\"{'Gpus': [{'Name': 'L40S', 'Manufacturer': 'NVIDIA', 'Count': 1, 'MemoryInfo': {'SizeInMiB': 49152}}], 'TotalGpuMemoryInMiB': 49152}\",
gpu-l40s-a_1gpu-8vcpu-32gb,L40S,1,8,32,1.5484,us-central1,,
gpu-h100-sxm_1gpu,H100,1,16,200,cheap,eu-north1,,
gpu-x900_1gpu,X900,1,16,200,2.00,eu-north1,,
gpu-h200-sxm_1gpu,H200,1,16,200,,eu-north1,,
gpu-h200-sxm_1gpu,H200,half,16,200,3.50,eu-north1,,
gpu-h200-sxm_1gpu,H200,1,16
";

#[test]
fn a_sky_pilot_list_is_taken_without_its_bad_rows() {
    let read = read(SKY_PILOT);
    assert_eq!(read.form, Some(PriceForm::SkyPilot));
    let rows: Vec<_> = read
        .offers
        .iter()
        .map(|o| (o.card.as_str(), o.billing, o.cards_together))
        .collect();
    assert_eq!(
        rows,
        [
            ("h100-sxm-80gb", Billing::OnDemand, 8),
            ("h100-sxm-80gb", Billing::Spot, 8),
            ("l40s", Billing::OnDemand, 1),
        ]
    );
    assert!((read.offers[0].price_per_card - 2.95).abs() < 1e-12);
    assert!((read.offers[1].price_per_card - 1.25).abs() < 1e-12);
    assert!(read.offers[0].variant_stated);
    assert_eq!((read.without_card, read.repeated), (1, 1));
    let refused: Vec<_> = read.refused.iter().map(|r| (r.line, r.reason)).collect();
    assert_eq!(
        refused,
        [
            (6, RefusedReason::BadPrice),
            (7, RefusedReason::UnknownCard),
            (8, RefusedReason::NoPrice),
            (9, RefusedReason::BadCount),
            (10, RefusedReason::Malformed),
        ]
    );
    assert!(read.refused[0].given.contains("cheap"));
}

#[test]
fn a_gpuhunt_list_is_taken_without_its_bad_rows() {
    let read = read(
        "\
instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,provider
gpu_1x_a100,us-east-1,1.29,30,200,1,A100,40,False,512,lambdalabs
8xh100,eu,12.8,208,1800,8,H100,80,True,,vastai
pod,eu,0.44,8,32,1,RTX4090,24,False,,runpod
pod,eu,0.99,8,32,1,RTX4090,48,False,,runpod
pod,eu,0.2,8,32,1,RTX4090,16,False,,runpod
pod,eu,-1,8,32,1,RTX4090,24,False,,runpod
pod,eu,1,8,32,1,RTX4090,24,maybe,,runpod
cpu,eu,0.1,8,32,0,,,False,,runpod
",
    );
    let rows: Vec<_> = read
        .offers
        .iter()
        .map(|o| (o.card.as_str(), o.provider.as_str(), o.billing))
        .collect();
    assert_eq!(
        rows,
        [
            ("a100-pcie-40gb", "lambdalabs", Billing::OnDemand),
            ("h100-pcie-80gb", "vastai", Billing::Spot),
            ("rtx-4090", "runpod", Billing::OnDemand),
            ("rtx-4090-48gb", "runpod", Billing::OnDemand),
        ]
    );
    // Neither says SXM or PCIe.
    assert!(!read.offers[0].variant_stated && !read.offers[1].variant_stated);
    assert!((read.offers[1].price_per_card - 1.6).abs() < 1e-12);
    let reasons: Vec<_> = read.refused.iter().map(|r| r.reason).collect();
    assert_eq!(
        reasons,
        [
            RefusedReason::MemoryDiffers,
            RefusedReason::BadPrice,
            RefusedReason::BadCell
        ]
    );
    assert_eq!(read.without_card, 1);
}

#[test]
fn what_is_written_is_read_back() {
    let shipped = &crate::catalog::PriceBook::embedded().offers;
    let read = read(&write_rows(shipped));
    assert_eq!(read.form, Some(PriceForm::Own));
    assert_eq!(read.refused, []);
    assert_eq!(&read.offers, shipped);
}

#[test]
fn our_own_form_is_checked_row_by_row() {
    let read = read(
        "\
card,provider,region,billing,currency,price_per_card,cards_together,as_of,variant_stated,low_confidence,source,notes
RTX 4090,me,,on_demand,CNY,1.9,1,2026-11-02,true,false,my contract,
rtx-4090,me,,on_demand,CNY,1.9,1,yesterday,true,false,my contract,
rtx-4090,me,,fortnightly,CNY,1.9,1,2026-11-02,true,false,my contract,
rtx-4090,me,,monthly,CNY,0,1,2026-11-02,true,false,my contract,
warp-drive,me,,monthly,CNY,100,1,2026-11-02,true,false,my contract,
rtx-4090,me,,on_demand,CNY,190000,1,2026-11-02,true,false,my contract,
",
    );
    assert_eq!(read.offers.len(), 1);
    assert_eq!(read.offers[0].card, "rtx-4090");
    let reasons: Vec<_> = read.refused.iter().map(|r| r.reason).collect();
    assert_eq!(
        reasons,
        [
            RefusedReason::BadDate,
            RefusedReason::BadCell,
            RefusedReason::BadPrice,
            RefusedReason::UnknownCard,
            RefusedReason::PriceTooHigh
        ]
    );
}

#[test]
fn what_is_no_price_list_is_refused_with_words() {
    for text in ["", "hello", "a,b,c\n1,2,3\n", "\u{feff}x\n"] {
        let read = read(text);
        assert_eq!(read.form, None);
        assert_eq!(read.refused[0].reason, RefusedReason::UnknownForm);
    }
}
