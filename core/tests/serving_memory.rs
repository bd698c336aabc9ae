//! Serving memory against values derived by hand, and what must hold for any layout.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

use cardfit::catalog::{Catalog, Model, Node};
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::estimate::MemoryPart;
use cardfit::estimate::serving::{
    ServingJob, card_weight_bytes, element_bytes, kv_card_bytes, largest_batch, memory,
    weight_bytes,
};
use cardfit::plan::ServingPlan;
use cardfit::scenario::Engine;
use proptest::prelude::*;

fn model(id: &str) -> &'static Model {
    Catalog::embedded().model(id).unwrap()
}

fn node(card: &str) -> Node<'static> {
    Node {
        card: Catalog::embedded().card(card).unwrap(),
        cards_per_node: 8,
        network_gb_s: 200.0,
    }
}

fn plan(tensor: u32, batch: u32) -> ServingPlan {
    ServingPlan {
        cards: tensor,
        replicas: 1,
        tensor_parallel: tensor,
        pipeline_parallel: 1,
        batch,
    }
}

fn job(model: &'static Model, weights: WeightFormat, engine: Engine) -> ServingJob<'static> {
    ServingJob {
        model,
        weights,
        kv: KvFormat::Bits16,
        engine,
        prompt_tokens: 1000,
        output_tokens: 500,
        habits: cardfit::scenario::Habits::default(),
    }
}

#[test]
fn sixteen_bit_weights_are_two_bytes_a_parameter() {
    let llama = model("llama-3.1-8b");
    let bytes = weight_bytes(llama, WeightFormat::Bf16, None);
    assert_eq!(bytes.total(), 2 * llama.params_total);
}

#[test]
fn gptq_keeps_tables_and_norms_in_16_bit() {
    // Llama 3.1 8B: blocks without norms 6,979,321,856 weights in groups of 128 of 66.5 bytes;
    // two tables of 128,256 x 4096 and 65 norms of 4096 in 16 bit.
    let bytes = weight_bytes(model("llama-3.1-8b"), WeightFormat::Gptq4, None);
    let blocks = 6_979_321_856 / 256 * 133;
    let rest = (2 * 128_256 * 4096 + 65 * 4096) * 2;
    assert_eq!(bytes.total(), blocks + rest);
}

#[test]
fn gguf_files_have_their_published_sizes_within_one_in_a_hundred() {
    // Sizes of files as published on model pages, GB (decimal).
    for (id, format, gb) in [
        ("llama-3.1-8b", WeightFormat::Q2K, 3.18),
        ("llama-3.1-8b", WeightFormat::Q3KM, 4.02),
        ("llama-3.1-8b", WeightFormat::Q4KS, 4.69),
        ("llama-3.1-8b", WeightFormat::Q4KM, 4.92),
        ("llama-3.1-8b", WeightFormat::Q5KM, 5.73),
        ("llama-3.1-8b", WeightFormat::Q6K, 6.60),
        ("llama-3.1-8b", WeightFormat::Q8_0, 8.54),
        ("llama-3.1-70b", WeightFormat::Q4KM, 42.52),
        ("llama-2-7b", WeightFormat::Q4_0, 3.83),
        ("llama-2-7b", WeightFormat::Q4KM, 4.08),
    ] {
        let estimate = weight_bytes(model(id), format, None).total() as f64 / 1e9;
        assert!(
            (estimate / gb - 1.0).abs() < 0.01,
            "{id} {format:?}: {estimate} GB, published {gb}"
        );
    }
}

#[test]
fn gpt_oss_quantises_its_experts_alone() {
    // 24 blocks x 32 experts x 3 x 2880 x 2880 weights, 17 bytes for 32.
    let experts = 24 * 32 * 3 * 2880 * 2880;
    let bytes = weight_bytes(model("gpt-oss-20b"), WeightFormat::Mxfp4, None);
    assert_eq!(bytes.routed, experts / 32 * 17);
    assert_eq!(bytes.head, 201_088 * 2880 * 2);
}

#[test]
fn tensor_parallel_copies_heads_where_there_are_fewer_than_ways() {
    // Qwen2 7B has 4 key and value heads: of 8 ways each holds a whole one, a quarter of all.
    let qwen = model("qwen2-7b");
    let bytes = weight_bytes(qwen, WeightFormat::Bf16, None);
    let on_eight = card_weight_bytes(qwen, &bytes, 8, 1);
    assert!(on_eight > bytes.total() / 8);
    let one = kv_card_bytes(&qwen.transformer, 1000, 2.0, 1, 1, 1);
    let of_eight = kv_card_bytes(&qwen.transformer, 1000, 2.0, 8, 1, 1);
    assert!((of_eight - one / 4.0).abs() < 1e-6);
}

#[test]
fn a_latent_cache_is_whole_on_every_card() {
    // DeepSeek-V3: 61 blocks x (512 + 64) elements x 2 bytes a token, whatever the ways.
    let shape = &model("deepseek-v3-671b").transformer;
    for ways in [1, 8] {
        let bytes = kv_card_bytes(shape, 1, 2.0, ways, 1, 1);
        assert!((bytes - 61.0 * 576.0 * 2.0).abs() < 1e-9);
    }
}

#[test]
fn windows_cap_the_cache_and_blocks_round_it_up() {
    // gpt-oss-20b: 12 blocks keep 128 tokens, 12 keep all; 8 heads of 64, keys and values.
    let shape = &model("gpt-oss-20b").transformer;
    let bytes = kv_card_bytes(shape, 1000, 2.0, 1, 1, 16);
    // 1000 tokens are 63 blocks of 16, 1008 tokens.
    let by_hand = 12.0 * (128.0 + 1008.0) * 2.0 * 8.0 * 64.0 * 2.0;
    assert!((bytes - by_hand).abs() < 1e-6);
}

#[test]
fn gguf_caches_carry_a_scale_for_32_elements() {
    assert!((element_bytes(KvFormat::Bits8, true) - 34.0 / 32.0).abs() < 1e-12);
    assert!((element_bytes(KvFormat::Bits4, true) - 18.0 / 32.0).abs() < 1e-12);
    assert!((element_bytes(KvFormat::Bits8, false) - 1.0).abs() < 1e-12);
}

#[test]
fn what_vllm_reserves_is_told_apart_from_what_is_needed() {
    let node = node("h100-sxm-80gb");
    let served = job(model("llama-3.1-8b"), WeightFormat::Bf16, Engine::Vllm);
    let estimate = memory(&served, &plan(1, 1), &node);
    let reserved = estimate.reserved_bytes.unwrap();
    assert_eq!(
        reserved,
        (node.card.usable_memory_bytes() as f64 * 0.9) as u64
    );
    assert!(estimate.needed_bytes.high < reserved as f64);
    let local = job(model("llama-3.1-8b"), WeightFormat::Bf16, Engine::LlamaCpp);
    assert_eq!(memory(&local, &plan(1, 1), &node).reserved_bytes, None);
}

fn engines() -> impl Strategy<Value = Engine> {
    prop::sample::select(vec![
        Engine::Vllm,
        Engine::Sglang,
        Engine::TensorrtLlm,
        Engine::LlamaCpp,
        Engine::Transformers,
        Engine::Exllamav2,
    ])
}

fn models() -> impl Strategy<Value = &'static Model> {
    prop::sample::select(Catalog::embedded().models.iter().collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn memory_never_falls_with_batch_context_or_precision(
        model in models(),
        engine in engines(),
        batch in 1u32..500,
        more in 1u32..500,
        prompt in 1u32..50_000,
        longer in 1u32..50_000,
    ) {
        let node = node("h100-sxm-80gb");
        let base = ServingJob {
            prompt_tokens: prompt,
            ..job(model, WeightFormat::Gptq4, engine)
        };
        let needed = |job: &ServingJob<'_>, batch: u32| memory(job, &plan(1, batch), &node).needed_bytes;
        let here = needed(&base, batch);
        prop_assert!(here.low <= here.mid && here.mid <= here.high && here.high.is_finite());
        prop_assert!(needed(&base, batch + more).mid >= here.mid);
        let long = ServingJob { prompt_tokens: prompt + longer, ..base };
        prop_assert!(needed(&long, batch).mid >= here.mid);
        let precise = ServingJob { weights: WeightFormat::Bf16, ..base };
        prop_assert!(needed(&precise, batch).mid >= here.mid);
    }

    #[test]
    fn the_largest_batch_fits_and_one_more_does_not(
        model in models(),
        engine in engines(),
        gib in 4u64..400,
    ) {
        let node = node("h100-sxm-80gb");
        let served = job(model, WeightFormat::Bf16, engine);
        let usable = gib << 30;
        let most = largest_batch(&served, &plan(1, 1), &node, usable);
        let high = |batch: u32| memory(&served, &plan(1, batch), &node).needed_bytes.high;
        // Parts are rounded to whole bytes where they are shown.
        let slack = 8.0;
        if most > 0 {
            prop_assert!(high(most) <= usable as f64 + slack);
        }
        if most < 65_536 {
            prop_assert!(high(most + 1) + slack > usable as f64);
        }
    }

    #[test]
    fn parts_add_up_to_the_middle(model in models(), engine in engines(), batch in 1u32..100) {
        let estimate = memory(&job(model, WeightFormat::Bf16, engine), &plan(2, batch), &node("a100-sxm4-80gb"));
        let sum: u64 = estimate.parts.iter().map(|(_, bytes)| bytes).sum();
        prop_assert!((sum as f64 - estimate.needed_bytes.mid).abs() < 1.0);
        prop_assert!(estimate.parts.iter().any(|(part, _)| *part == MemoryPart::Weights));
    }
}
