//! The search for layouts against trying everything.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cardfit::catalog::Catalog;
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::estimate::{serving, training};
use cardfit::plan::search::{Fitness, FixedLayout, ServingSearch, TrainingSearch};
use cardfit::plan::{
    Offload, Recompute, RentedNode, ServingPlan, Sharding, TrainingPlan, rented_node,
};
use cardfit::scenario::{Engine, Load, Optimizer, Serving, TrainingMethod, TrainingPrecision};

/// How much faster than the layout found another may be: what splitting a model has to gain
/// before it is worth other software, and a little for what the search leaves out.
const SLACK: f64 = 1.2;

fn node(card: &str) -> RentedNode<'static> {
    rented_node(Catalog::embedded().card(card).unwrap())
}

fn training_job(model: &str, method: TrainingMethod) -> training::TrainingJob<'static> {
    training::TrainingJob {
        model: Catalog::embedded().model(model).unwrap(),
        method,
        base_weights: WeightFormat::Bf16,
        seq_len: 4096,
        precision: TrainingPrecision::Bf16,
        optimizer: Optimizer::Adamw,
        lora_rank: 16,
        flash_attention: true,
        habits: training::Habits::default(),
    }
}

/// Tokens a second of the fastest layout without offload that fits, over powers of two.
fn fastest_of_all(
    job: &training::TrainingJob<'_>,
    node: &RentedNode<'_>,
    cards: u32,
    batch: u32,
) -> f64 {
    let powers = |most: u32| (0..=14).map(|p| 1_u32 << p).filter(move |n| *n <= most);
    let usable = node.node.card.usable_memory_bytes();
    let mut fastest = 0.0_f64;
    for tensor in powers(cards.min(node.node.cards_per_node)) {
        for pipeline in powers(cards / tensor) {
            let data = cards / tensor / pipeline;
            for sharding in [
                Sharding::None,
                Sharding::Zero1,
                Sharding::Zero2,
                Sharding::Zero3,
            ] {
                for recompute in [Recompute::None, Recompute::Full] {
                    for micro_batch in powers(batch / data) {
                        let plan = TrainingPlan {
                            cards,
                            data_parallel: data,
                            tensor_parallel: tensor,
                            pipeline_parallel: pipeline,
                            expert_parallel: 1,
                            context_parallel: 1,
                            sharding,
                            micro_batch,
                            grad_accum: batch / data / micro_batch,
                            recompute,
                            offload: Offload::None,
                        };
                        let memory = training::memory(job, &plan, &node.node);
                        if Fitness::of(&memory, usable) == Fitness::Fits {
                            let speed = training::speed(job, &plan, &node.node);
                            fastest = fastest.max(speed.tokens_per_s.mid);
                        }
                    }
                }
            }
        }
    }
    fastest
}

#[test]
fn no_training_layout_is_much_faster_than_the_one_found() {
    for (model, card, cards) in [
        ("llama-3.2-1b", "rtx-a6000", 4),
        ("llama-3.1-8b", "a100-sxm4-80gb", 8),
        ("llama-2-13b", "h100-sxm-80gb", 16),
        ("llama-3.1-70b", "h100-sxm-80gb", 64),
        ("llama-3.1-70b", "mi300x", 32),
    ] {
        let job = training_job(model, TrainingMethod::Pretrain);
        let node = node(card);
        let search = TrainingSearch::new(job, FixedLayout::default(), 256, &node);
        let found = search.best(cards, None).unwrap();
        assert_eq!(found.fitness, Fitness::Fits, "{model} on {cards} x {card}");
        let found = found.speed.unwrap().tokens_per_s.mid;
        let fastest = fastest_of_all(&job, &node, cards, 256);
        assert!(fastest > 0.0);
        assert!(
            found * SLACK >= fastest,
            "{model} on {cards} x {card}: {found} of {fastest}"
        );
    }
}

#[test]
fn staying_near_a_smaller_answer_loses_little() {
    for (model, card) in [
        ("llama-3.1-8b", "h100-sxm-80gb"),
        ("llama-3.1-70b", "a100-sxm4-80gb"),
        ("llama-3.1-405b", "h100-sxm-80gb"),
    ] {
        let job = training_job(model, TrainingMethod::Pretrain);
        let search = TrainingSearch::new(job, FixedLayout::default(), 1024, &node(card));
        let mut smaller = None;
        for cards in [128, 256, 512, 1024] {
            let near = search.best(cards, smaller.as_ref()).unwrap();
            let free = search.best(cards, None).unwrap();
            assert_eq!(near.fitness, free.fitness, "{model} on {cards} x {card}");
            let speed = |found: &cardfit::plan::search::PlannedTraining| {
                found.speed.as_ref().map_or(0.0, |s| s.tokens_per_s.mid)
            };
            assert!(
                speed(&near) * SLACK >= speed(&free),
                "{model} on {cards} x {card}: {:?} {:?}",
                near.plan,
                free.plan
            );
            // As the ranking does it.
            let settles = near.fitness == Fitness::Fits && near.plan.recompute == Recompute::None;
            smaller = settles.then_some(near.plan);
        }
    }
}

fn service(load: Load) -> Serving {
    Serving {
        weights: WeightFormat::Bf16,
        kv: KvFormat::Bits16,
        prompt_tokens: 1000,
        output_tokens: 300,
        load,
        ttft_target_s: None,
        tpot_target_s: None,
        engine: None,
        tensor_parallel: None,
        hours_per_day: 24.0,
        requests_total: None,
        habits: cardfit::scenario::Habits::default(),
    }
}

fn serving_job(model: &str) -> serving::ServingJob<'static> {
    serving::ServingJob {
        model: Catalog::embedded().model(model).unwrap(),
        weights: WeightFormat::Bf16,
        kv: KvFormat::Bits16,
        engine: Engine::Vllm,
        prompt_tokens: 1000,
        output_tokens: 300,
        habits: cardfit::scenario::Habits::default(),
    }
}

#[test]
fn a_rate_is_answered_with_the_fewest_requests_in_flight() {
    let job = serving_job("llama-3.1-8b");
    let node = node("a100-sxm4-80gb");
    for rate in [0.1, 1.0, 3.0] {
        let search = ServingSearch::new(job, &service(Load::RequestsPerSecond(rate)), &node);
        let found = search.best(1, None).unwrap();
        assert!(found.carries_load);
        let answered = |batch: u32| {
            let plan = ServingPlan {
                batch,
                ..found.plan
            };
            serving::speed(&job, &plan, &node.node).requests_per_s.mid
        };
        assert!(answered(found.plan.batch) >= rate);
        if found.plan.batch > 1 {
            assert!(answered(found.plan.batch - 1) < rate);
        }
    }
}

#[test]
fn a_rate_beyond_the_cards_is_not_carried() {
    let job = serving_job("llama-3.1-8b");
    let load = service(Load::RequestsPerSecond(1e6));
    let found = ServingSearch::new(job, &load, &node("l4"))
        .best(1, None)
        .unwrap();
    assert!(!found.carries_load);
    assert_eq!(found.fitness, Fitness::Fits);
}

#[test]
fn the_largest_concurrency_fits_and_one_more_does_not() {
    let job = serving_job("llama-3.1-8b");
    let node = node("rtx-4090");
    let most = ServingSearch::new(job, &service(Load::Concurrency(1)), &node)
        .best(1, None)
        .unwrap()
        .fitting_concurrency;
    assert!(most > 1);
    for (asked, fits) in [(most, true), (most + 1, false)] {
        let search = ServingSearch::new(job, &service(Load::Concurrency(asked)), &node);
        let fitness = search.best(1, None).unwrap().fitness;
        assert_eq!(fitness == Fitness::Fits, fits, "{asked} of {most}");
    }
}
