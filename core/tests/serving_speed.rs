//! Serving speed: what must hold for any layout.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

use cardfit::catalog::{Card, Catalog, Model, Node};
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::estimate::ServingSpeed;
use cardfit::estimate::serving::{ServingJob, speed};
use cardfit::plan::ServingPlan;
use cardfit::range::Range;
use cardfit::scenario::{Choice, Engine};
use proptest::prelude::*;

fn ask(
    card: &Card,
    model: &Model,
    engine: Engine,
    weights: WeightFormat,
    batch: u32,
    tensor: u32,
    tokens: (u32, u32),
) -> ServingSpeed {
    let node = Node {
        card,
        cards_per_node: 8,
        network_gb_s: 200.0,
    };
    let job = ServingJob {
        model,
        weights,
        kv: KvFormat::Bits16,
        engine,
        prompt_tokens: tokens.0,
        output_tokens: tokens.1,
        habits: cardfit::scenario::Habits::default(),
    };
    let plan = ServingPlan {
        cards: tensor,
        replicas: 1,
        tensor_parallel: tensor,
        pipeline_parallel: 1,
        batch,
    };
    speed(&job, &plan, &node)
}

fn sound(range: Range) -> bool {
    range.low > 0.0 && range.low <= range.mid && range.mid <= range.high && range.high.is_finite()
}

fn cards() -> impl Strategy<Value = &'static Card> {
    prop::sample::select(Catalog::embedded().cards.iter().collect::<Vec<_>>())
}

fn models() -> impl Strategy<Value = &'static Model> {
    prop::sample::select(Catalog::embedded().models.iter().collect::<Vec<_>>())
}

/// A short prompt leaves the card idle while the host launches its kernels: four times the tokens take no
/// longer, and blocks of linear attention take longer than plain ones, though they compute less.
#[test]
fn the_host_sets_the_first_token_of_a_short_prompt() {
    let catalog = Catalog::embedded();
    let card = catalog.card("b200-180gb").unwrap();
    let first = |model: &str, prompt: u32| {
        let model = catalog.model(model).unwrap();
        let at = (prompt, 200);
        ask(card, model, Engine::Sglang, WeightFormat::Bf16, 1, 8, at)
            .ttft_s
            .mid
    };
    assert!(first("qwen3-next-80b-a3b", 512) < 1.1 * first("qwen3-next-80b-a3b", 128));
    assert!(first("qwen3-next-80b-a3b", 512) > 1.5 * first("gpt-oss-120b", 512));
}

proptest! {
    #[test]
    fn every_figure_is_finite_above_zero_and_in_order(
        card in cards(),
        model in models(),
        engine in prop::sample::select(Engine::ALL),
        weights in prop::sample::select(WeightFormat::ALL),
        batch in 1u32..5000,
        tensor in 1u32..9,
        prompt in 0u32..200_000,
        output in 0u32..50_000,
    ) {
        let s = ask(card, model, engine, weights, batch, tensor, (prompt, output));
        for range in [s.ttft_s, s.tpot_s, s.tokens_per_s_user, s.tokens_per_s_total, s.prefill_tokens_per_s, s.requests_per_s] {
            prop_assert!(sound(range), "{s:?}");
        }
    }

    #[test]
    fn more_bandwidth_or_compute_is_never_slower(
        card in cards(),
        model in models(),
        engine in prop::sample::select(Engine::ALL),
        batch in 1u32..300,
        more in 1.0f64..3.0,
    ) {
        let here = ask(card, model, engine, WeightFormat::Bf16, batch, 1, (500, 200));
        let mut wider = card.clone();
        wider.bandwidth_gb_s *= more;
        let mut faster = card.clone();
        let peaks = &mut faster.peak_tflops;
        for peak in [&mut peaks.fp32, &mut peaks.fp16_vector, &mut peaks.fp16, &mut peaks.fp16_acc16, &mut peaks.bf16, &mut peaks.fp8, &mut peaks.int8, &mut peaks.fp4] {
            *peak = peak.map(|p| p * more);
        }
        for better in [wider, faster] {
            let there = ask(&better, model, engine, WeightFormat::Bf16, batch, 1, (500, 200));
            prop_assert!(there.tokens_per_s_total.mid >= here.tokens_per_s_total.mid * (1.0 - 1e-9));
            prop_assert!(there.tpot_s.mid <= here.tpot_s.mid * (1.0 + 1e-9));
        }
    }
}

#[test]
fn decoding_stays_under_the_memory_roofline() {
    // Llama 3.1 8B in 16 bit reads all but its input table for a token: 14.96 GB over 3350 GB/s
    // are 224 tokens a second at most.
    let catalog = Catalog::embedded();
    let s = ask(
        catalog.card("h100-sxm-80gb").unwrap(),
        catalog.model("llama-3.1-8b").unwrap(),
        Engine::Vllm,
        WeightFormat::Bf16,
        1,
        1,
        (100, 100),
    );
    assert!(s.tokens_per_s_user.mid < 224.0);
    assert!(s.tokens_per_s_user.mid > 90.0);
}

#[test]
fn layers_split_over_cards_do_not_add_bandwidth_for_one_user() {
    let catalog = Catalog::embedded();
    let node = Node {
        card: catalog.card("rtx-4090").unwrap(),
        cards_per_node: 8,
        network_gb_s: 25.0,
    };
    let job = ServingJob {
        model: catalog.model("llama-3-8b").unwrap(),
        weights: WeightFormat::Q4KM,
        kv: KvFormat::Bits16,
        engine: Engine::LlamaCpp,
        prompt_tokens: 100,
        output_tokens: 100,
        habits: cardfit::scenario::Habits::default(),
    };
    let on = |stages: u32| {
        let plan = ServingPlan {
            cards: stages,
            replicas: 1,
            tensor_parallel: 1,
            pipeline_parallel: stages,
            batch: 1,
        };
        speed(&job, &plan, &node).tokens_per_s_user.mid
    };
    assert!(on(4) <= on(1));
    assert!(on(4) > 0.8 * on(1));
}
