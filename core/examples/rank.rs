//! Prints rankings of a few typical scenarios and how long each takes, for a look by eye:
//! `cargo run --release --example rank [NAME] [ROWS]`.

use std::time::Instant;

use cardfit::catalog::{Catalog, Currency, PriceBook};
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::offers::{Fit, Offer, Run, rank};
use cardfit::scenario::{
    Job, Load, ModelChoice, Money, Optimizer, RankBy, Scenario, Serving, Shelf, Training,
    TrainingAmount, TrainingMethod, TrainingPrecision,
};

fn training(model: &str, method: TrainingMethod, amount: TrainingAmount, seq_len: u32) -> Scenario {
    Scenario {
        model: ModelChoice::Catalog(model.to_owned()),
        job: Job::Train(Training {
            method,
            amount,
            seq_len,
            global_batch: None,
            precision: TrainingPrecision::Bf16,
            optimizer: Optimizer::Adamw,
            lora_rank: 16,
            flash_attention: true,
            micro_batch: None,
            recompute: None,
            sharding: None,
            tensor_parallel: None,
            pipeline_parallel: None,
            expert_parallel: None,
            offload: None,
        }),
        shelf: Shelf::default(),
        money: money(),
        rank: RankBy::Cheapest,
    }
}

fn serving(model: &str, weights: WeightFormat, load: Load, prompt: u32, output: u32) -> Scenario {
    Scenario {
        model: ModelChoice::Catalog(model.to_owned()),
        job: Job::Serve(Serving {
            weights,
            kv: KvFormat::Bits16,
            prompt_tokens: prompt,
            output_tokens: output,
            load,
            ttft_target_s: Some(1.0),
            tpot_target_s: Some(0.1),
            engine: None,
            tensor_parallel: None,
            hours_per_day: 24.0,
            requests_total: None,
        }),
        shelf: Shelf::default(),
        money: money(),
        rank: RankBy::Cheapest,
    }
}

fn money() -> Money {
    Money {
        currency: Currency::Usd,
        cny_per_usd: 6.7,
        billing: Vec::new(),
        own_prices: Vec::new(),
        budget: None,
        deadline_hours: None,
    }
}

fn scenarios() -> Vec<(&'static str, Scenario)> {
    let samples = |count| TrainingAmount::Samples { count, epochs: 3.0 };
    let tokens = TrainingAmount::Tokens;
    let lora = TrainingMethod::Lora;
    let mut cny = training("qwen2.5-7b", lora, samples(10_000.0), 1024);
    cny.money.currency = Currency::Cny;
    let mut hurried = training(
        "llama-3.1-70b",
        TrainingMethod::Pretrain,
        tokens(1e12),
        8192,
    );
    hurried.money.deadline_hours = Some(24.0 * 60.0);
    let mut unpriced = training(
        "llama-3.1-405b",
        TrainingMethod::Pretrain,
        tokens(15e12),
        8192,
    );
    unpriced.shelf.unpriced = true;
    vec![
        (
            "lora-7b",
            training("llama-2-7b", lora, samples(10_000.0), 1024),
        ),
        ("lora-7b-cny", cny),
        (
            "qlora-70b",
            training(
                "llama-3.1-70b",
                TrainingMethod::Qlora,
                samples(10_000.0),
                2048,
            ),
        ),
        (
            "full-8b",
            training(
                "llama-3.1-8b",
                TrainingMethod::FullFinetune,
                samples(50_000.0),
                2048,
            ),
        ),
        (
            "full-32b",
            training(
                "qwen3-32b",
                TrainingMethod::FullFinetune,
                samples(50_000.0),
                4096,
            ),
        ),
        (
            "pretrain-1b",
            training(
                "llama-3.2-1b",
                TrainingMethod::Pretrain,
                tokens(100e9),
                4096,
            ),
        ),
        (
            "pretrain-7b",
            training("llama-2-7b", TrainingMethod::Pretrain, tokens(1e12), 4096),
        ),
        ("pretrain-70b", hurried),
        (
            "pretrain-405b",
            training(
                "llama-3.1-405b",
                TrainingMethod::Pretrain,
                tokens(15e12),
                8192,
            ),
        ),
        ("pretrain-405b-all", unpriced),
        (
            "pretrain-dsv3",
            training(
                "deepseek-v3-671b",
                TrainingMethod::Pretrain,
                tokens(15e12),
                4096,
            ),
        ),
        (
            "serve-8b-1",
            serving(
                "llama-3.1-8b",
                WeightFormat::Bf16,
                Load::Concurrency(1),
                1000,
                500,
            ),
        ),
        (
            "serve-32b-100",
            serving(
                "qwen3-32b",
                WeightFormat::Bf16,
                Load::Concurrency(100),
                1000,
                500,
            ),
        ),
        (
            "serve-70b-rate",
            serving(
                "llama-3.1-70b",
                WeightFormat::Fp8,
                Load::RequestsPerSecond(10.0),
                2000,
                300,
            ),
        ),
        (
            "serve-70b-bf16",
            serving(
                "llama-3.1-70b",
                WeightFormat::Bf16,
                Load::Concurrency(1),
                2000,
                300,
            ),
        ),
        (
            "serve-dsv3",
            serving(
                "deepseek-v3-671b",
                WeightFormat::Fp8,
                Load::Concurrency(256),
                2000,
                500,
            ),
        ),
        (
            "serve-30b-a3b",
            serving(
                "qwen3-30b-a3b",
                WeightFormat::Awq4,
                Load::Concurrency(16),
                1000,
                500,
            ),
        ),
        (
            "serve-14b-gguf",
            serving(
                "qwen3-14b",
                WeightFormat::Q4KM,
                Load::Concurrency(1),
                1000,
                500,
            ),
        ),
    ]
}

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
    for (name, scenario) in scenarios() {
        if !name.contains(&wanted) {
            continue;
        }
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
