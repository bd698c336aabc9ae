//! How long the steps from a link to ranked offers take: `cargo bench -p cardfit-fuzz --bench product`.

#![allow(missing_docs, reason = "the macro writes a function")]

use std::hint::black_box;

use cardfit::catalog::{Catalog, Node, PriceBook};
use cardfit::dtype::WeightFormat;
use cardfit::estimate::{serving, training};
use cardfit::offers::rank;
use cardfit::plan::{Offload, Recompute, ServingPlan, Sharding, TrainingPlan};
use cardfit::scenario::{
    Engine, Habits, Optimizer, Preset, TrainingMethod, TrainingPrecision, parse, to_query,
};
use criterion::{Criterion, criterion_group, criterion_main};

fn estimator(criterion: &mut Criterion) {
    let catalog = Catalog::embedded();
    let (Some(card), Some(model)) = (
        catalog.card("h100-sxm-80gb"),
        catalog.model("llama-3.1-70b"),
    ) else {
        return;
    };
    let node = Node {
        card,
        cards_per_node: 8,
        network_gb_s: 400.0,
    };
    let job = training::TrainingJob {
        model,
        method: TrainingMethod::Pretrain,
        base_weights: WeightFormat::Bf16,
        seq_len: 8192,
        precision: TrainingPrecision::Bf16,
        optimizer: Optimizer::Adamw,
        lora_rank: 16,
        flash_attention: true,
        habits: training::Habits::default(),
    };
    let plan = TrainingPlan {
        cards: 256,
        data_parallel: 8,
        tensor_parallel: 8,
        pipeline_parallel: 4,
        expert_parallel: 1,
        context_parallel: 1,
        sharding: Sharding::Zero1,
        micro_batch: 1,
        grad_accum: 32,
        recompute: Recompute::Selective,
        offload: Offload::None,
    };
    criterion.bench_function("estimator: memory of a training layout", |b| {
        b.iter(|| training::memory(black_box(&job), &plan, &node));
    });
    criterion.bench_function("estimator: speed of a training layout", |b| {
        b.iter(|| training::speed(black_box(&job), &plan, &node));
    });
    let job = serving::ServingJob {
        model,
        weights: WeightFormat::Fp8,
        kv: cardfit::dtype::KvFormat::Bits16,
        engine: Engine::Vllm,
        prompt_tokens: 1000,
        output_tokens: 300,
        habits: Habits::default(),
    };
    let plan = ServingPlan {
        cards: 8,
        replicas: 1,
        tensor_parallel: 8,
        pipeline_parallel: 1,
        batch: 64,
    };
    criterion.bench_function("estimator: memory of a service", |b| {
        b.iter(|| serving::memory(black_box(&job), &plan, &node));
    });
    criterion.bench_function("estimator: speed of a service", |b| {
        b.iter(|| serving::speed(black_box(&job), &plan, &node));
    });
}

/// The planner alone: one card and one count.
fn planner(criterion: &mut Criterion) {
    let catalog = Catalog::embedded();
    for (name, link) in [
        (
            "planner: 70B pretraining on 512 cards",
            "m=llama-3.1-70b&do=pretrain&tokens=2T&cards=h100-sxm-80gb&n=512",
        ),
        (
            "planner: 70B service on 8 cards",
            "m=llama-3.1-70b&do=serve&users=100&cards=h100-sxm-80gb&n=8",
        ),
        (
            "planner: clips on 8 cards",
            "m=wan-2.1-14b&do=video&cards=h100-sxm-80gb&n=8",
        ),
    ] {
        let scenario = parse(link, catalog).scenario;
        criterion.bench_function(name, |b| {
            b.iter(|| rank(black_box(&scenario), catalog, PriceBook::embedded()));
        });
    }
}

/// Every card and every count of every preset.
fn ranking(criterion: &mut Criterion) {
    let catalog = Catalog::embedded();
    for preset in Preset::all() {
        let scenario = parse(&preset.query, catalog).scenario;
        criterion.bench_function(&format!("ranking: {}", preset.id), |b| {
            b.iter(|| rank(black_box(&scenario), catalog, PriceBook::embedded()));
        });
    }
}

fn links(criterion: &mut Criterion) {
    let catalog = Catalog::embedded();
    let link = "m=custom&layers=48&hidden=5120&heads=40&kvheads=8&ffn=27648&do=serve&w=fp8&users=100&ttft=1&cards=l40s,h100-sxm-80gb&price=rtx-4090:1.98&budget=50000";
    let scenario = parse(link, catalog).scenario;
    criterion.bench_function("link: read", |b| b.iter(|| parse(black_box(link), catalog)));
    criterion.bench_function("link: write", |b| b.iter(|| to_query(black_box(&scenario))));
}

fn loading(criterion: &mut Criterion) {
    criterion.bench_function("load: prices", |b| {
        let csv = include_str!("../../core/data/prices.csv");
        b.iter(|| PriceBook::parse(black_box(csv)));
    });
    criterion.bench_function("load: models", |b| {
        let json = include_str!("../../core/data/models.json");
        b.iter(|| serde_json::from_str::<Vec<cardfit::catalog::Model>>(black_box(json)));
    });
    criterion.bench_function("load: cards", |b| {
        let json = include_str!("../../core/data/cards.json");
        b.iter(|| serde_json::from_str::<Vec<cardfit::catalog::Card>>(black_box(json)));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = estimator, planner, ranking, links, loading
}
criterion_main!(benches);
