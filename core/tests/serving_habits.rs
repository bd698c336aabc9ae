//! Reasoning, shared beginnings of prompts, guessed tokens, answers in bulk, and what cards without a format's
//! units do.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cardfit::catalog::{Catalog, Node, PriceBook};
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::estimate::serving::{ServingJob, memory, speed};
use cardfit::estimate::{MemoryEstimate, MemoryPart, ServingSpeed};
use cardfit::offers::{Assumption, rank};
use cardfit::plan::ServingPlan;
use cardfit::scenario::{Engine, Habits, parse};

const PROMPT: u32 = 4096;
const OUTPUT: u32 = 512;

fn estimate(habits: Habits, batch: u32, tensor: u32) -> (ServingSpeed, MemoryEstimate) {
    let catalog = Catalog::embedded();
    let node = Node {
        card: catalog.card("h100-sxm-80gb").unwrap(),
        cards_per_node: 8,
        network_gb_s: 200.0,
    };
    let job = ServingJob {
        model: catalog.model("llama-3.1-8b").unwrap(),
        weights: WeightFormat::Bf16,
        kv: KvFormat::Bits16,
        engine: Engine::Vllm,
        prompt_tokens: PROMPT,
        output_tokens: OUTPUT + habits.thinking_tokens,
        habits,
    };
    let plan = ServingPlan {
        cards: tensor,
        replicas: 1,
        tensor_parallel: tensor,
        pipeline_parallel: 1,
        batch,
    };
    (speed(&job, &plan, &node), memory(&job, &plan, &node))
}

fn part(memory: &MemoryEstimate, part: MemoryPart) -> u64 {
    memory
        .parts
        .iter()
        .find(|(known, _)| *known == part)
        .map_or(0, |(_, bytes)| *bytes)
}

fn guessing(guesses: u32, accept_percent: f64) -> Habits {
    Habits {
        guesses,
        accept_percent,
        ..Habits::default()
    }
}

#[test]
fn guesses_pay_by_what_is_taken_of_them() {
    let plain = estimate(Habits::default(), 1, 1).0.tpot_s.mid;
    let guessed = |guesses, accept| estimate(guessing(guesses, accept), 1, 1).0.tpot_s.mid;
    // No step gives more than its tokens, and checking guesses is not free.
    let factor = plain / guessed(4, 80.0);
    assert!(factor < 3.3616 && factor > 2.0, "{factor}");
    // Where none is taken the guesses are lost.
    assert!(guessed(4, 0.0) > plain);
    // The better they are, the more they give.
    assert!(guessed(4, 90.0) < guessed(4, 60.0));
}

#[test]
fn guesses_pay_less_where_many_are_answered_at_once() {
    let gain = |batch| {
        let plain = estimate(Habits::default(), batch, 1)
            .0
            .tokens_per_s_total
            .mid;
        estimate(guessing(4, 70.0), batch, 1)
            .0
            .tokens_per_s_total
            .mid
            / plain
    };
    assert!(gain(1) > gain(64) && gain(64) > gain(256));
}

#[test]
fn a_guessing_model_takes_its_weights_and_a_head_one_block() {
    let plain = estimate(Habits::default(), 1, 2).1;
    let small = Habits {
        draft_params: Some(1e9),
        ..guessing(4, 70.0)
    };
    let more = |habits| {
        let with = estimate(habits, 1, 2).1;
        part(&with, MemoryPart::Weights) - part(&plain, MemoryPart::Weights)
    };
    // 1e9 parameters of 2 bytes over two cards.
    assert_eq!(more(small), 1_000_000_000);
    // One of 32 blocks of 218,112,000 weights (with its two norms, and its share of 4096 / 32 = 128 of the
    // last norm) of 2 bytes, over two cards.
    assert_eq!(more(guessing(1, 85.0)), 218_112_128);
}

#[test]
fn what_the_prefix_cache_has_is_not_computed_but_kept() {
    let with = |percent| {
        let habits = Habits {
            prefix_hit_percent: percent,
            ..Habits::default()
        };
        estimate(habits, 8, 1)
    };
    let (cold, cold_memory) = with(0.0);
    let (warm, warm_memory) = with(75.0);
    assert!(warm.ttft_s.mid < cold.ttft_s.mid);
    // A quarter of the products and more than a quarter of the attention.
    let factor = cold.prefill_tokens_per_s.mid / warm.prefill_tokens_per_s.mid;
    assert!(factor > 0.25 && factor < 0.5, "{factor}");
    assert!(warm.requests_per_s.mid > cold.requests_per_s.mid);
    assert_eq!(
        part(&cold_memory, MemoryPart::KvCache),
        part(&warm_memory, MemoryPart::KvCache)
    );
}

#[test]
fn reasoning_is_written_and_kept_before_the_answer() {
    let habits = Habits {
        thinking_tokens: 8192,
        ..Habits::default()
    };
    let (speed, memory) = estimate(habits, 4, 1);
    let plain = estimate(Habits::default(), 4, 1).1;
    let waits = speed.ttft_s.mid + 8192.0 * speed.tpot_s.mid;
    assert!((speed.answer_s.mid / waits - 1.0).abs() < 1e-12);
    // Two vectors of 8 heads of 128 in 16 bit, 32 blocks: 131,072 bytes a token; 4 requests.
    let more = part(&memory, MemoryPart::KvCache) - part(&plain, MemoryPart::KvCache);
    assert_eq!(more, 4 * 8192 * 131_072);
}

#[test]
fn answers_in_bulk_are_made_as_many_at_once_as_fit() {
    let answered = |query: &str| {
        let catalog = Catalog::embedded();
        let scenario = parse(query, catalog).scenario;
        let ranking = rank(&scenario, catalog, PriceBook::embedded());
        let offer = ranking.offers.first().unwrap();
        match offer.run.as_ref().unwrap() {
            cardfit::offers::Run::Serve { plan, speed, .. } => {
                (plan.batch, speed.requests_per_s.mid)
            }
            _ => panic!("a service"),
        }
    };
    let base = "m=llama-3.1-8b&do=serve&cards=h100-sxm-80gb&n=1&requests=100000";
    let (few, slow) = answered(base);
    let (many, fast) = answered(&format!("{base}&offline=yes"));
    assert_eq!(few, 10);
    assert!(
        many > 50 && fast > 2.0 * slow,
        "{many} at once, {fast} against {slow}"
    );
}

#[test]
fn what_a_card_does_in_place_of_a_format_is_said() {
    let said = |card: &str, weights: &str| {
        let catalog = Catalog::embedded();
        let query =
            format!("m=qwen2.5-7b&do=serve&users=1&cards={card}&w={weights}&n=1&unpriced=yes");
        let scenario = parse(&query, catalog).scenario;
        rank(&scenario, catalog, PriceBook::embedded())
            .offers
            .first()
            .map(|offer| offer.assumptions.clone())
            .unwrap_or_default()
    };
    for card in ["v100-sxm2-32gb", "t4"] {
        assert!(
            said(card, "bf16").contains(&Assumption::RunsInFp16),
            "{card}"
        );
    }
    assert!(said("a100-sxm4-80gb", "fp8").contains(&Assumption::ExpandedToHalf));
    let h100 = said("h100-sxm-80gb", "fp8");
    assert!(!h100.contains(&Assumption::ExpandedToHalf));
    assert!(!said("a100-sxm4-80gb", "bf16").contains(&Assumption::RunsInFp16));
}
