//! A card's datasheet in words, and what listings say in its place.

use cardfit::catalog::Card;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::format;
use crate::state::App;
use crate::words::t;

/// The datasheet, line by line; what no source gives is left out.
pub fn sheet(lang: Lang, card: &Card) -> Vec<(String, String)> {
    let name = |key: &str| text(lang, key, &[]);
    let number = |value: f64| format::number(lang, value, 4);
    let tera = |value: f64, unit: &str| format!("{} {unit}", number(value));
    let mib = |value: u32| {
        format!(
            "{} MiB ({})",
            format::grouped(&value.to_string()),
            format::gib(f64::from(value) * 1_048_576.0)
        )
    };
    let peak = &card.peak_tflops;
    let mut lines = vec![
        (
            name("card.memory"),
            format!("{} GB {}", number(card.memory_gib), card.memory_type),
        ),
        (
            name("card.usable"),
            format::gib(card.usable_memory_bytes() as f64),
        ),
    ];
    if let Some(value) = card.driver_memory_mib {
        lines.push((name("card.driver"), mib(value)));
    }
    if let Some(value) = card.runtime_memory_mib {
        lines.push((name("card.runtime"), mib(value)));
    }
    lines.push((name("card.bandwidth"), tera(card.bandwidth_gb_s, "GB/s")));
    for (label, value, unit) in [
        ("BF16", peak.bf16, "TFLOPS"),
        ("FP16", peak.fp16, "TFLOPS"),
        ("TF32", peak.tf32, "TFLOPS"),
        ("FP32", peak.fp32, "TFLOPS"),
        ("FP8", peak.fp8, "TFLOPS"),
        ("INT8", peak.int8, "TOPS"),
        ("FP4", peak.fp4, "TFLOPS"),
        ("FP64", peak.fp64, "TFLOPS"),
        ("FP64 tensor", peak.fp64_tensor, "TFLOPS"),
    ] {
        if let Some(value) = value {
            lines.push((label.to_owned(), tera(value, unit)));
        }
    }
    if let Some(value) = peak.fp16_acc16 {
        lines.push((name("card.fp16_acc16"), tera(value, "TFLOPS")));
    }
    if let Some(power) = card.power_w {
        lines.push((name("card.power"), tera(power, "W")));
    }
    if let Some(capability) = &card.compute_capability {
        lines.push((name("card.capability"), capability.clone()));
    }
    let link = &card.link;
    let speed = link
        .bidirectional_gb_s
        .map(|gb_s| format!(", {}", tera(gb_s, "GB/s")))
        .unwrap_or_default();
    lines.push((name("card.link"), format!("{}{speed}", link.kind)));
    if let Some(gb_s) = link.pair_bridge_gb_s {
        lines.push((name("card.bridge"), tera(gb_s, "GB/s")));
    }
    lines.push((
        name("card.node"),
        format::count(lang, u64::from(link.cards_per_node)),
    ));
    for measured in &card.measured_matmul {
        let dtype = format!("{:?}", measured.dtype).to_uppercase();
        lines.push((
            text(lang, "card.matmul", &[("dtype", &dtype)]),
            tera(measured.tflops, "TFLOPS"),
        ));
    }
    lines
}

/// Figures of listings that are not what the card does: peaks with sparsity, peaks with FP16 accumulation, the label's
/// memory. Each follows from the datasheet.
fn often_claimed(lang: Lang, card: &Card) -> Vec<String> {
    /// Architectures whose makers also print peaks for weights of which two in four are zero, twice the dense ones.
    const WITH_SPARSITY: [&str; 5] = [
        "Ampere",
        "Ada Lovelace",
        "Hopper",
        "Blackwell",
        "Blackwell Ultra",
    ];
    let number = |value: f64| format::number(lang, value, 4);
    let peak = &card.peak_tflops;
    let mut said = Vec::new();
    if WITH_SPARSITY.contains(&card.architecture.as_str()) {
        for (name, dense, unit) in [
            ("BF16", peak.bf16, "TFLOPS"),
            ("FP8", peak.fp8, "TFLOPS"),
            ("INT8", peak.int8, "TOPS"),
        ] {
            if let Some(dense) = dense {
                said.push(text(
                    lang,
                    "card.claim.sparse",
                    &[
                        ("name", name),
                        ("claimed", &number(2.0 * dense)),
                        ("dense", &number(dense)),
                        ("unit", unit),
                    ],
                ));
            }
        }
    }
    if let (Some(half), Some(full)) = (peak.fp16_acc16, peak.fp16)
        && half > 1.01 * full
    {
        said.push(text(
            lang,
            "card.claim.accumulation",
            &[("claimed", &number(half)), ("real", &number(full))],
        ));
    }
    said.push(text(
        lang,
        "card.claim.memory",
        &[
            ("label", &number(card.memory_gib)),
            ("usable", &format::gib(card.usable_memory_bytes() as f64)),
        ],
    ));
    said
}

/// What listings often say of a card that is not what it does.
#[component]
pub fn OftenClaimed(card: &'static Card) -> impl IntoView {
    let app = App::get();
    view! {
        <h4 class="claims-title">{t("card.claims")}</h4>
        <ul class="claims" data-testid="card-claims">
            {move || {
                often_claimed(app.lang.get(), card)
                    .into_iter()
                    .map(|said| view! { <li>{said}</li> })
                    .collect_view()
            }}
        </ul>
    }
}
