//! Prints rankings of a few typical scenarios and how long each takes, for a look by eye:
//! `cargo run --release --example rank [NAME] [ROWS]`.

use std::time::Instant;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::{Fit, Offer, Run, rank};
use cardfit::scenario::{Preset, parse};

/// Links beside the presets, by name.
const MORE: &[(&str, &str)] = &[
    ("lora-7b-usd", "m=llama-2-7b&do=lora&cur=usd"),
    ("full-8b", "m=llama-3.1-8b&do=full&samples=50k&seq=2048"),
    (
        "full-32b",
        "m=qwen3-32b&do=full&samples=50k&seq=4096&cur=usd",
    ),
    (
        "pretrain-dsv3",
        "m=deepseek-v3-671b&do=pretrain&tokens=15T&cur=usd",
    ),
    (
        "pretrain-405b-all",
        "m=llama-3.1-405b&do=pretrain&tokens=15T&seq=8192&deadline=2160&unpriced=1",
    ),
    (
        "serve-70b-rate",
        "m=llama-3.1-70b&do=serve&w=fp8&rps=10&in=2000&out=300&ttft=1&tpot=0.1",
    ),
    ("serve-70b-bf16", "m=llama-3.1-70b&do=serve&users=1"),
    (
        "serve-8b-targets",
        "m=llama-3.1-8b&do=serve&users=100&ttft=0.5&tpot=0.03",
    ),
    ("serve-14b-gguf", "m=qwen3-14b&do=serve&w=q4_k_m&users=1"),
];

fn line(offer: &Offer) -> String {
    let gb = |bytes: f64| bytes / 1e9;
    let layout = match &offer.run {
        Some(Run::Train { plan: p, speed }) => format!(
            "dp{} tp{} pp{} ep{} cp{} {:?} mb{} ga{} {:?} {:?} {:.0} tok/s mfu {:.2}",
            p.data_parallel,
            p.tensor_parallel,
            p.pipeline_parallel,
            p.expert_parallel,
            p.context_parallel,
            p.sharding,
            p.micro_batch,
            p.grad_accum,
            p.recompute,
            p.offload,
            speed.tokens_per_s.mid,
            speed.mfu,
        ),
        Some(Run::Serve {
            plan: p,
            speed,
            largest_concurrency,
            fitting_concurrency,
        }) => format!(
            "x{} tp{} pp{} b{} ttft {:.2} tpot {:.3} {:.0} tok/s  most {largest_concurrency}/{fitting_concurrency}",
            p.replicas,
            p.tensor_parallel,
            p.pipeline_parallel,
            p.batch,
            speed.ttft_s.mid,
            speed.tpot_s.mid,
            speed.tokens_per_s_total.mid,
        ),
        None => String::new(),
    };
    let fit = match &offer.fit {
        Fit::Fits => "fits".to_owned(),
        Fit::Tight { .. } => format!("tight {:?}", offer.remedies),
        Fit::TooSmall { missing_bytes, .. } => {
            format!("-{:.1}GB {:?}", gb(*missing_bytes as f64), offer.remedies)
        }
    };
    let mid = |r: Option<cardfit::range::Range>| r.map_or(f64::NAN, |r| r.mid);
    let price = offer.price.as_ref().map_or(String::new(), |p| {
        format!(
            "{:.3}/h x{} {:?} {} {} ({})",
            p.converted_per_card_hour,
            p.charged_cards,
            p.billing,
            p.provider.as_deref().unwrap_or("own"),
            p.as_of.as_deref().unwrap_or(""),
            p.providers,
        )
    });
    format!(
        "{}{:>22} x{:<5} {:>6.1}/{:.1}GB {:>9.1}h job {:>11.2} month {:>11.0} Mtok {:>7.3} {fit} {:?}{:?} | {layout} | {price}",
        if offer.best_of_card { '*' } else { ' ' },
        offer.card,
        offer.count,
        gb(offer.memory.needed_bytes.high),
        gb(offer.usable_memory_bytes as f64),
        mid(offer.hours),
        mid(offer.cost_of_job),
        mid(offer.cost_per_month),
        mid(offer.cost_per_million_output_tokens),
        offer.misses,
        offer.may_miss,
    )
}

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let rows = std::env::args()
        .nth(2)
        .and_then(|n| n.parse().ok())
        .unwrap_or(12);
    let all = std::env::args().nth(3).is_some();
    let (catalog, prices) = (Catalog::embedded(), PriceBook::embedded());
    let presets = Preset::all()
        .iter()
        .map(|p| (p.id.as_str(), p.query.as_str()));
    for (name, query) in presets.chain(MORE.iter().copied()) {
        if !name.contains(&wanted) {
            continue;
        }
        let parsed = parse(query, catalog);
        for problem in &parsed.problems {
            println!("{problem:?}");
        }
        let scenario = parsed.scenario;
        let ranking = rank(&scenario, catalog, prices);
        let mut times = (0..5)
            .map(|_| {
                let start = Instant::now();
                let again = rank(&scenario, catalog, prices);
                (start.elapsed(), again.offers.len()).0
            })
            .collect::<Vec<_>>();
        times.sort();
        println!(
            "== {name}: {} offers, {:.1} ms, {:?}",
            ranking.offers.len(),
            times[0].as_secs_f64() * 1e3,
            ranking.assumptions,
        );
        let shown = ranking.offers.iter().filter(|o| all || o.best_of_card);
        for offer in shown.take(rows) {
            println!("{}", line(offer));
        }
    }
}
