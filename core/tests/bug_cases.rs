//! What other calculators got wrong in public, answered rightly here. Each case names the report
//! that it comes from.

#![allow(clippy::expect_used, clippy::panic, reason = "tests may end")]

use cardfit::bring::read_text;
use cardfit::catalog::{Catalog, Model, PriceBook};
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::estimate::MemoryPart;
use cardfit::estimate::serving::{element_bytes, kv_card_elements, weight_bytes};
use cardfit::offers::{Fit, Offer, Run, rank};
use cardfit::scenario::{ModelChoice, parse};

const GIB: f64 = 1_073_741_824.0;
const GB: f64 = 1e9;

fn model(id: &str) -> &'static Model {
    Catalog::embedded()
        .model(id)
        .unwrap_or_else(|| panic!("no model {id}"))
}

/// The model of a link: of the catalog or described by hand.
fn shape(link: &str) -> cardfit::catalog::Transformer {
    let parsed = parse(link, Catalog::embedded());
    assert!(parsed.problems.is_empty(), "{link}: {:?}", parsed.problems);
    match parsed.scenario.model {
        ModelChoice::Catalog(id) => model(&id).transformer.clone(),
        ModelChoice::Custom(shape) => *shape,
    }
}

/// Bytes of the cache of one sequence in 16 bits.
fn kv(link: &str, tokens: u64) -> f64 {
    shape(link).kv_elements(tokens) as f64 * 2.0
}

/// Bytes that one more token adds at the end of a long context.
fn kv_growth(link: &str, tokens: u64) -> f64 {
    kv(link, tokens) - kv(link, 0)
}

/// The only offer of a link that names one card and a count.
fn offer(link: &str) -> Offer {
    let parsed = parse(&format!("{link}&unpriced=yes"), Catalog::embedded());
    assert!(parsed.problems.is_empty(), "{link}: {:?}", parsed.problems);
    let ranking = rank(&parsed.scenario, Catalog::embedded(), PriceBook::embedded());
    let offer = ranking.offers.into_iter().next();
    offer.unwrap_or_else(|| panic!("no offer: {link}"))
}

fn fits(link: &str) -> bool {
    offer(link).fit == Fit::Fits
}

fn too_small(link: &str) -> bool {
    matches!(offer(link).fit, Fit::TooSmall { .. })
}

/// Bytes needed on the fullest card.
fn needed(link: &str) -> f64 {
    offer(link).memory.needed_bytes.mid
}

fn part(link: &str, part: MemoryPart) -> f64 {
    let parts = offer(link).memory.parts;
    let bytes = parts.iter().find(|(p, _)| *p == part).map(|(_, b)| *b);
    bytes.unwrap_or(0) as f64
}

/// Weights, gradients, master weights and states.
fn states(link: &str) -> f64 {
    [
        MemoryPart::Weights,
        MemoryPart::Gradients,
        MemoryPart::MasterWeights,
        MemoryPart::OptimizerStates,
    ]
    .into_iter()
    .map(|p| part(link, p))
    .sum()
}

/// Tokens a second of one user.
fn pace(link: &str) -> f64 {
    match offer(link).run {
        Some(Run::Serve { speed, .. }) => speed.tokens_per_s_user.mid,
        other => panic!("{link}: {other:?}"),
    }
}

fn weights(id: &str, format: WeightFormat) -> f64 {
    weight_bytes(model(id), format, None).total() as f64
}

fn near(what: &str, is: f64, should: f64, share: f64) {
    let off = (is / should - 1.0).abs();
    assert!(
        off <= share,
        "{what}: {is:.4e}, should be {should:.4e} ({:.1} %)",
        100.0 * off
    );
}

const LLAMA_3_8B: &str = "m=llama-3-8b";
const LLAMA_3_70B: &str = "m=llama-3-70b";

#[test]
fn caches_of_grouped_queries_are_exact() {
    for (address, is, should) in [
        (
            "https://github.com/jranaraki/vllm-fit/issues/2",
            kv("m=llama-2-7b", 1),
            524_288.0,
        ),
        (
            "https://github.com/vllm-project/vllm/pull/29736",
            kv(LLAMA_3_8B, 1),
            131_072.0,
        ),
        (
            "https://github.com/Osmantic/ODS/issues/3324",
            kv(LLAMA_3_70B, 32_768),
            10.0 * GIB,
        ),
        (
            "https://github.com/xusenlinzy/api-for-open-llm/issues/259",
            kv("m=qwen1.5-14b", 32_768),
            25.0 * GIB,
        ),
        (
            "https://canirunllm-site.pages.dev/methodology/",
            kv(LLAMA_3_8B, 8192),
            GIB,
        ),
        (
            "https://canirunllm-site.pages.dev/methodology/",
            kv(LLAMA_3_8B, 131_072),
            16.0 * GIB,
        ),
        (
            "https://github.com/alexziskind1/llm-inference-calculator/blob/5051894/src/calculations.ts",
            kv(LLAMA_3_8B, 8192),
            GIB,
        ),
        (
            "https://github.com/alexziskind1/llm-inference-calculator/blob/5051894/src/calculations.ts",
            kv(LLAMA_3_70B, 32_768),
            10.0 * GIB,
        ),
        (
            "https://github.com/erans/selfhostllm/blob/2d51392/selfhost-llm.js",
            kv(LLAMA_3_8B, 8192),
            GIB,
        ),
        (
            "https://github.com/erans/selfhostllm/blob/2d51392/selfhost-llm.js",
            kv("m=llama-3.1-70b", 8192),
            2.5 * GIB,
        ),
        (
            "https://github.com/RahulSChand/gpu_poor/blob/ad2fc0e/src/App.js",
            kv(LLAMA_3_8B, 8192),
            1024.0 * 1_048_576.0,
        ),
        (
            "https://github.com/furiousteabag/vram-calculator/blob/ea7ab04/app/_lib/index.ts",
            32.0 * kv(LLAMA_3_8B, 8192),
            32.0 * GIB,
        ),
        (
            "https://github.com/Andyyyy64/whichllm/blob/a897551/src/whichllm/engine/vram.py",
            kv(LLAMA_3_8B, 8192),
            GIB,
        ),
        (
            "https://github.com/Andyyyy64/whichllm/blob/a897551/src/whichllm/engine/vram.py",
            kv("m=qwen1.5-14b", 32_768),
            25.0 * GIB,
        ),
        (
            "https://github.com/isEmmanuelOlowe/llm-cost-estimator/blob/11d46bb/src/estimator/estimator.ts",
            kv(LLAMA_3_8B, 8192),
            GIB,
        ),
        (
            "https://github.com/SciSharp/LLamaSharp/issues/835",
            kv(LLAMA_3_8B, 8192),
            GIB,
        ),
        (
            "https://github.com/aweussom/NoLlama/issues/21",
            kv("m=qwen3-30b-a3b", 1),
            98_304.0,
        ),
        (
            "https://github.com/huggingface/accelerate/issues/2910",
            kv("m=qwen2-72b", 1),
            327_680.0,
        ),
        // Below its window every block of gpt-oss keeps every token.
        (
            "https://github.com/alvarobartt/hf-mem/issues/60",
            kv("m=gpt-oss-120b", 1),
            73_728.0,
        ),
    ] {
        near(address, is, should, 0.0);
    }
}

#[test]
fn caches_of_windows_latents_and_hybrids_are_what_is_kept() {
    for (address, is, should, share) in [
        (
            "https://github.com/unslothai/unsloth/pull/4757",
            kv("m=gemma-3-27b", 131_072),
            10.41 * GIB,
            0.002,
        ),
        // The width of a head is stated, not hidden / heads.
        (
            "https://github.com/unslothai/unsloth/pull/4757",
            kv("m=qwen3-0.6b", 40_960),
            4.375 * GIB,
            0.0,
        ),
        (
            "https://github.com/unslothai/unsloth/pull/4757",
            kv("m=kimi-k2.5-1t-a32b", 262_144),
            17.16 * GIB,
            0.002,
        ),
        (
            "https://github.com/unslothai/unsloth/pull/4757",
            kv_growth("m=qwen3.5-27b", 262_144),
            16.0 * GIB,
            0.0,
        ),
        (
            "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1862",
            kv_growth("m=qwen3.6-27b", 262_144),
            16_384.0 * 1_048_576.0,
            0.0,
        ),
        // Windowed blocks hold their window, not nothing and not all: 50 of them, 10 full ones.
        (
            "https://github.com/alvarobartt/hf-mem/issues/60",
            kv("m=gemma-4-31b", 100_000),
            2.0 * 2.0 * (50.0 * 16.0 * 256.0 * 1024.0 + 10.0 * 4.0 * 512.0 * 100_000.0),
            0.0,
        ),
        // 43 blocks, one key head 512 wide, 8-bit cache, as the thread describes the model.
        (
            "https://github.com/spark-arena/sparkrun/issues/248",
            kv(
                "m=custom&layers=43&hidden=4096&heads=64&kvheads=1&hd=512",
                200_000,
            ) / 2.0,
            8.2 * GIB,
            0.05,
        ),
    ] {
        near(address, is, should, share);
    }
    // A hybrid's list of key heads, zero where a block convolves.
    let lfm2 = "m=custom&hidden=2048&attn=10:linear:32:6144:16783360,6:heads:32:8:64&ffn=8192&vocab=65536&tie=yes";
    assert!(
        kv(lfm2, 4096) > 0.0,
        "https://github.com/tobocop2/lilbee/pull/721"
    );
    // 131,072 tokens of a 12B with windows, in 8 bit, on a 24 GB card.
    let gemma = "m=custom&hidden=3840&attn=40:heads:16:8:256:1024,8:heads:16:1:512&ffn=15360&vocab=262144&tie=yes\
                 &do=serve&w=q4_k_m&kv=8bit&in=131000&out=72&users=1&cards=rtx-3090&n=1";
    assert!(
        fits(gemma),
        "https://github.com/tmac1973/llama-toolchest/pull/58"
    );
}

#[test]
fn an_eight_bit_cache_has_blocks_and_tensor_parallelism_splits_it() {
    // https://github.com/withcatai/node-llama-cpp/pull/608: 34 bytes for 32 elements.
    near("q8_0", element_bytes(KvFormat::Bits8, true), 1.0625, 0.0);
    // https://github.com/vllm-project/vllm/issues/2136: two ways of 40 heads.
    let split = kv_card_elements(&shape("m=llama-2-13b"), 1.0, 2, true) * 2.0;
    near("CodeLlama 13B", split, 409_600.0, 0.0);
}

#[test]
fn parameters_are_counted_exactly() {
    let total = |id: &str| model(id).transformer.params() as f64;
    near(
        "https://github.com/jranaraki/vllm-fit/issues/27",
        total("mixtral-8x7b"),
        46_702_792_704.0,
        0.0,
    );
    let read = |config: &str| read_text(config).expect("a configuration").shape.params();
    // https://github.com/Abdullah-Taha9/ui-training/issues/29, norms of queries and keys and all.
    assert_eq!(
        read(
            "{\"model_type\":\"qwen3\",\"num_hidden_layers\":36,\"hidden_size\":2560,\
              \"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128,\
              \"intermediate_size\":9728,\"vocab_size\":151936,\"tie_word_embeddings\":true}"
        ),
        4_022_468_096
    );
    assert_eq!(
        read(
            "{\"model_type\":\"qwen2\",\"num_hidden_layers\":80,\"hidden_size\":8192,\
              \"num_attention_heads\":64,\"num_key_value_heads\":8,\"intermediate_size\":29568,\
              \"vocab_size\":152064,\"tie_word_embeddings\":false}"
        ),
        72_706_203_648
    );
    // https://github.com/AlexsJones/llmfit/issues/271: packed 4-bit tensors are two weights a byte.
    near("122B", total("qwen3.5-122b-a10b"), 122e9, 0.01);
    // https://github.com/EleutherAI/cookbook/pull/35: three matrices of 8/3 are two of 4.
    let ffn = |link: &str| shape(link).shared_ffn_params();
    assert_eq!(
        ffn("m=custom&hidden=3072&ffn=8192&gated=yes"),
        ffn("m=custom&hidden=3072&ffn=12288&gated=no")
    );
    // https://github.com/huggingface/trl/pull/6709: a look-up is no product.
    assert_eq!(
        shape("m=custom&tie=yes").active_params(),
        shape("m=custom&tie=no").active_params()
    );
    // https://github.com/alvarobartt/hf-mem/pull/26: what is left out of a nested text model has its
    // class's value.
    let llava = read_text(
        "{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"llama\",\"hidden_size\":5120,\
         \"intermediate_size\":13824,\"num_attention_heads\":40,\"num_hidden_layers\":40,\
         \"num_key_value_heads\":40,\"vocab_size\":32064},\"vision_config\":{\"model_type\":\
         \"clip_vision_model\",\"hidden_size\":1024,\"intermediate_size\":4096,\
         \"num_attention_heads\":16,\"num_hidden_layers\":24,\"patch_size\":14,\"image_size\":336}}",
    );
    near(
        "llava-1.5-13b",
        llava.expect("nested").shape.params() as f64,
        13.35e9,
        0.01,
    );
    // bert-base-cased in FP32:
    // https://huggingface.co/spaces/hf-accelerate/model-memory-usage/commit/a6ae7ff44670f18ae684765d61d8e25128934cee
    let bert = read(
        "{\"model_type\":\"bert\",\"num_hidden_layers\":12,\"hidden_size\":768,\
                     \"num_attention_heads\":12,\"intermediate_size\":3072,\"vocab_size\":28996,\
                     \"max_position_embeddings\":512,\"type_vocab_size\":2}",
    );
    near(
        "bert-base-cased",
        bert as f64 * 4.0 / 1_048_576.0,
        413.18,
        0.01,
    );
}

#[test]
fn files_are_as_large_as_their_formats_make_them() {
    // The file of that thread holds the head a second time.
    let mut twice = model("qwen1.5-0.5b").clone();
    twice.transformer.tie_embeddings = false;
    twice.params_total = twice.transformer.params();
    let untied = weight_bytes(&twice, WeightFormat::Q4KM, None).total() as f64;
    for (address, is, should, share) in [
        // https://github.com/vllm-project/vllm/issues/188: 13.49 GiB do not go into 10.73.
        (
            "Mistral 7B",
            weights("mistral-7b-v0.1", WeightFormat::Fp16),
            13.49 * GIB,
            0.001,
        ),
        // Four bits with a scale for 32: https://github.com/jundot/omlx/issues/3489
        (
            "Qwen3 32B",
            weights("qwen3-32b", WeightFormat::Q4_0),
            18.4 * GB,
            0.05,
        ),
        // https://github.com/huggingface/blog/pull/3531
        (
            "Qwen3.5 4B Q4_K_M",
            weights("qwen3.5-4b", WeightFormat::Q4KM),
            2.74 * GB,
            0.05,
        ),
        (
            "Qwen3.5 4B Q5_K_M",
            weights("qwen3.5-4b", WeightFormat::Q5KM),
            3140e6,
            0.05,
        ),
        (
            "Qwen3.5 4B Q6_K",
            weights("qwen3.5-4b", WeightFormat::Q6K),
            3.53 * GB,
            0.05,
        ),
        (
            "Qwen3.5 4B BF16",
            weights("qwen3.5-4b", WeightFormat::Bf16),
            8.42 * GB,
            0.01,
        ),
        // https://github.com/AlexsJones/llmfit/issues/302
        (
            "Qwen3.5 9B Q4_K_M",
            weights("qwen3.5-9b", WeightFormat::Q4KM),
            5.6805e9,
            0.05,
        ),
        // https://github.com/UbiquitousLearning/mllm/issues/271
        ("Qwen1.5 0.5B", untied, 407e6, 0.06),
        // https://github.com/paiml/aprender/issues/484: two bytes a parameter.
        (
            "7B FP16",
            weights("llama-2-7b", WeightFormat::Fp16) / 2.0,
            6.74e9,
            0.001,
        ),
        // https://github.com/InternLM/lmdeploy/issues/766: 7B means 7.7B.
        (
            "Qwen 7B",
            weights("qwen-7b", WeightFormat::Fp16),
            15.44 * GB,
            0.001,
        ),
    ] {
        near(address, is, should, share);
    }
    // https://github.com/thomas9120/LLama-GUI/issues/374: a projector is counted.
    let with = weight_bytes(model("qwen3.8-27b"), WeightFormat::Q4KM, None);
    assert!(with.other as f64 > 0.85 * GB, "{}", with.other);
}

#[test]
fn whole_mixtures_must_be_held() {
    for (address, link) in [
        (
            "https://github.com/erans/selfhostllm/blob/2d51392/README.md",
            "m=mixtral-8x7b&do=serve&w=fp16&cards=rtx-4090&n=1&users=1",
        ),
        (
            "https://github.com/deepseek-ai/DeepSeek-VL2/issues/79",
            "m=deepseek-v2-lite-16b&do=serve&w=bf16&cards=rtx-3090&n=1&users=1",
        ),
        (
            "https://github.com/AlexsJones/llmfit/issues/271",
            "m=qwen3.5-122b-a10b&do=serve&w=nvfp4&cards=rx-7900-xtx&n=1&users=1",
        ),
        (
            "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1753",
            "m=gemma-4-26b-a4b&do=serve&w=q4_k_m&cards=rtx-3070&n=1&users=1&in=262000&out=100",
        ),
        (
            "https://github.com/ggml-org/llama.cpp/issues/18111",
            "m=gemma-3-27b&do=serve&w=q4_0&cards=rtx-3060-12gb&n=1&users=1",
        ),
        (
            "https://github.com/vllm-project/vllm/issues/188",
            "m=mistral-7b-v0.1&do=serve&w=fp16&cards=rtx-2080-ti&n=1&users=1",
        ),
        (
            "https://github.com/ai-dynamo/aiconfigurator/pull/509",
            "m=llama-3.1-405b&do=serve&w=fp8&cards=h100-sxm-80gb&n=1&users=1",
        ),
        (
            "https://github.com/ai-dynamo/aiconfigurator/pull/437",
            "m=deepseek-v3-671b&do=serve&w=fp8&cards=h200-sxm-141gb&n=2&users=1&ttft=0.6&tpot=0.03",
        ),
    ] {
        let offer = offer(link);
        assert!(
            matches!(offer.fit, Fit::TooSmall { .. }),
            "{address}: {:?}",
            offer.fit
        );
        // No speed for what cannot be.
        assert!(offer.run.is_none(), "{address}");
    }
    let awq = "m=mistral-7b-v0.1&do=serve&w=awq4&cards=rtx-2080-ti&n=1&users=1";
    assert!(fits(awq), "https://github.com/vllm-project/vllm/issues/188");
}

#[test]
fn two_cards_hold_more_than_one_and_less_than_twice() {
    // https://github.com/AlexsJones/llmfit/pull/70
    let of = |n: u32| format!("m=qwen2.5-32b&do=serve&w=int8&users=1&cards=rtx-3090&n={n}");
    assert!(too_small(&of(1)) && fits(&of(2)));
    // https://github.com/vllm-project/vllm/issues/1792
    let of = |n: u32| {
        format!(
            "m=codellama-34b&do=serve&w=awq4&users=1&in=2000&out=100&tp={n}&cards=rtx-4090&n={n}"
        )
    };
    assert!(needed(&of(2)) > 0.52 * needed(&of(1)));
    // https://github.com/erans/selfhostllm/blob/2d51392/selfhost-llm.js: tens of requests.
    let offer =
        offer("m=llama-3.1-70b&do=serve&w=fp16&in=8000&out=192&cards=a100-sxm4-80gb&n=4&users=1");
    match offer.run {
        Some(Run::Serve {
            fitting_concurrency,
            ..
        }) => {
            assert!(
                (20..80).contains(&fitting_concurrency),
                "{fitting_concurrency}"
            );
        }
        other => panic!("{other:?}"),
    }
    // Heads must divide: https://github.com/vllm-project/vllm/issues/414, /596, /4232, /1705
    for (id, ways) in [
        ("llama-30b", 3),
        ("qwen1.5-32b", 6),
        ("gpt2-xl", 2),
        ("opt-13b", 3),
    ] {
        assert!(!model(id).transformer.splits_into(ways), "{id} {ways}");
    }
    assert!(model("llama-30b").transformer.splits_into(4));
}

#[test]
fn need_and_reservation_are_two_figures() {
    // https://github.com/vllm-project/vllm/issues/15204: the same 16 GB for 3B and 7B.
    let of = |id: &str| {
        offer(&format!(
            "m={id}&do=serve&w=awq4&users=1&cards=rtx-3090&n=1"
        ))
        .memory
    };
    let (small, large) = (of("qwen2.5-3b"), of("qwen2.5-7b"));
    assert_eq!(small.reserved_bytes, large.reserved_bytes);
    assert!(small.needed_bytes.mid < 0.75 * large.needed_bytes.mid);
    // https://github.com/vllm-project/vllm/issues/1949: need follows the length that is served.
    let of = |tokens: u32| {
        needed(&format!(
            "m=qwen2.5-7b&do=serve&users=4&in={tokens}&cards=rtx-3090&n=1"
        ))
    };
    assert!(of(32_000) > of(8000) + GB);
    // https://github.com/xorbitsai/inference/issues/1115: hardly room for one request of a 20B in 48 GB.
    let tight = offer("m=internlm-20b&do=serve&w=bf16&in=4000&out=96&users=4&cards=a40&n=1");
    assert_ne!(tight.fit, Fit::Fits);
    // https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1631
    let hybrid =
        needed("m=qwen3.5-9b&do=serve&w=q4_k_m&in=109000&out=1000&users=1&cards=rtx-4090&n=1");
    assert!((8.0 * GB..13.0 * GB).contains(&hybrid), "{hybrid:e}");
    // https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1862
    let long =
        needed("m=qwen3.6-27b&do=serve&w=q8_0&in=262000&out=144&users=1&cards=a100-sxm4-80gb&n=1");
    near("Qwen3.6 27B Q8", long, 47.0 * GB, 0.08);
    // https://github.com/unslothai/unsloth/pull/11043: buffers beside weights and cache stay small.
    let link = "m=gemma-4-31b&do=serve&w=q4_k_m&in=60000&out=100&users=1&cards=a100-sxm4-80gb&n=1";
    let buffers = part(link, MemoryPart::Activations) + part(link, MemoryPart::Logits);
    assert!(buffers < 1.5 * GIB, "{buffers:e}");
}

#[test]
fn states_of_training_are_added_up() {
    let full = "m=llama-2-7b&do=full&cards=a100-sxm4-80gb&shard=none&offload=none";
    // 16 bytes a parameter, https://github.com/meta-llama/llama-cookbook/issues/413 and
    // https://github.com/huggingface/accelerate/blob/16cb6eb8/src/accelerate/commands/estimate.py
    near(
        "Adam",
        states(&format!("{full}&n=1")),
        107_814_649_856.0,
        0.15,
    );
    assert!(too_small(&format!("{full}&n=1")));
    // https://github.com/tatsu-lab/stanford_alpaca/issues/56: two cards did.
    let two =
        "m=llama-7b&do=full&cards=a100-sxm4-80gb&n=2&shard=zero3&offload=none&seq=512&micro=1";
    assert!(!too_small(two));
    // 7B in FP32: 112 GB of weights, gradients and two moments.
    let fp32 = "m=llama-2-7b&do=full&prec=fp32&cards=a100-sxm4-80gb&n=1&shard=none&offload=none";
    near("FP32", states(fp32), 6.738e9 * 16.0, 0.02);
    // https://github.com/meta-pytorch/torchtune/pull/389: the method decides.
    let of = |optimizer: &str| needed(&format!("{full}&n=1&opt={optimizer}&micro=1&seq=512"));
    assert!(of("adamw") > 1.4 * of("sgd") && of("adamw-8bit") < 0.8 * of("adamw"));
    // https://github.com/hiyouga/LlamaFactory/issues/747: a copy on each card.
    let copies = "m=llama-2-70b&do=lora&cards=a100-sxm4-40gb&n=8&shard=none&tp=1&pp=1";
    assert!(too_small(copies));
    // https://github.com/meta-llama/llama-cookbook/issues/118: loaded in FP32.
    let single = "m=llama-2-70b&do=lora&prec=fp32&cards=a100-sxm4-80gb&n=4&shard=zero3&seq=2048";
    assert!(!fits(single));
    // https://github.com/deepspeedai/DeepSpeed/issues/4527, /4093, /2797: states are not all.
    let offloaded = |n: u32| {
        format!(
            "m=gpt-j-6b&do=full&shard=zero3&offload=all&cards=a100-sxm4-80gb&n={n}&seq=2048&micro=4"
        )
    };
    let (two, four) = (needed(&offloaded(2)), needed(&offloaded(4)));
    assert!(two > 3.0 * GB && four > 0.7 * two, "{two:e} {four:e}");
}

#[test]
fn adapters_need_what_was_measured() {
    // https://github.com/RahulSChand/gpu_poor/issues/1: QLoRA below LoRA below full, LoRA about 16 GB.
    let of = |method: &str| {
        needed(&format!(
            "m=llama-2-7b&do={method}&seq=2048&micro=1&batch=1&recompute=full&cards=a100-sxm4-80gb&n=1&shard=none&offload=none"
        ))
    };
    let (qlora, lora, full) = (of("qlora"), of("lora"), of("full"));
    assert!(qlora < lora && lora < full);
    near("LoRA 7B", lora, 16.0 * GB, 0.25);
    // https://github.com/RahulSChand/gpu_poor/issues/3
    let baichuan = needed(
        "m=baichuan2-13b&do=lora&seq=800&micro=1&batch=1&recompute=full&prec=fp16&rank=8&cards=a40&n=1",
    );
    near("Baichuan 13B", baichuan, 28.0 * GB, 0.2);
    // https://github.com/hiyouga/LlamaFactory/issues/7409
    let qwen = needed(
        "m=qwen2-7b&do=lora&seq=1024&micro=1&batch=1&rank=8&recompute=full&cards=a100-sxm4-40gb&n=1",
    );
    near("Qwen2 7B", qwen, 17.9 * GB, 0.2);
    // https://github.com/lm-sys/FastChat/issues/1637: recomputation decides.
    let vicuna = |recompute: &str| {
        format!(
            "m=llama-2-7b&do=lora&seq=2048&micro=1&recompute={recompute}&flash=no&cards=rtx-3090&n=1"
        )
    };
    assert!(
        too_small(&vicuna("none")),
        "{:?}",
        offer(&vicuna("none")).memory
    );
    assert!(
        !too_small(&vicuna("full")),
        "{:?}",
        offer(&vicuna("full")).memory
    );
    // https://github.com/axolotl-ai-cloud/axolotl/issues/1522 and pull/1428: not a clear yes.
    let two = "m=llama-2-70b&do=qlora&seq=512&micro=1&shard=zero3&offload=none&cards=rtx-3090&n=2";
    assert!(!fits(two));
    near(
        "70B in 4 bits on two",
        part(two, MemoryPart::Weights),
        17.8 * GB,
        0.1,
    );
    // https://github.com/hiyouga/LlamaFactory/issues/5169: logits of one long sequence, on one card so
    // that no layout splits it.
    let long = "m=llama-3.1-70b&do=qlora&seq=32768&micro=1&offload=none&cards=h200-sxm-141gb&n=1";
    assert!(part(long, MemoryPart::Logits) >= 0.99 * 32_768.0 * 128_256.0 * 4.0);
}

#[test]
fn fused_attention_keeps_no_scores() {
    let of = |seq: u32, flash: &str| {
        part(
            &format!(
                "m=llama-3.1-8b&do=full&recompute=none&seq={seq}&micro=1&batch=1&flash={flash}\
                 &cards=b300-288gb&n=1&shard=none&offload=none"
            ),
            MemoryPart::Activations,
        )
    };
    // https://github.com/furiousteabag/vram-calculator/issues/1: linear.
    near(
        "twice the length",
        of(16_384, "yes") / of(8192, "yes"),
        2.0,
        0.1,
    );
    // .../blob/ea7ab04/app/_lib/index.ts: 80 GiB of scores vanish.
    let scores = of(4096, "no") - of(4096, "yes");
    near("scores", scores, 80.0 * GIB, 0.25);
    // https://github.com/huggingface/blog/pull/1413 (the measured software keeps some more): StarCoder, sbh(30 + 4/a + 5as/h) a block.
    let starcoder = "m=custom&layers=40&hidden=6144&heads=48&kvheads=1&ffn=24576&gated=no&vocab=49152&tie=yes\
                     &do=full&recompute=none&seq=2048&micro=4&batch=4&flash=no&prec=bf16&cards=b300-288gb&n=1&shard=none&offload=none";
    near(
        "StarCoder",
        part(starcoder, MemoryPart::Activations),
        206.4 * GIB,
        0.30,
    );
    // https://github.com/EvolvingLMMs-Lab/LongVA/pull/19: large vocabularies.
    let gemma = "m=gemma-3-12b&do=full&recompute=full&seq=65536&micro=1&batch=1&cards=b300-288gb&n=8&shard=zero3&offload=none";
    let logits = part(gemma, MemoryPart::Logits);
    assert!(logits > 65_536.0 * 262_208.0 * 2.0, "{logits:e}");
}

#[test]
fn speed_follows_what_is_read() {
    // https://github.com/AlexsJones/llmfit/pull/812: files of one size, 5.3 times as fast.
    let of = |id: &str| {
        pace(&format!(
            "m={id}&do=serve&w=q4_k_m&users=1&in=512&out=512&cards=rtx-3090&n=1"
        ))
    };
    let (mixture, dense) = (of("qwen3-30b-a3b"), of("gemma-3-27b"));
    assert!((3.0..8.5).contains(&(mixture / dense)), "{mixture} {dense}");
    // https://github.com/AlexsJones/llmfit/issues/805: about 160.
    near("Qwen3 30B-A3B on RTX 3090", mixture, 160.0, 0.35);
    // https://github.com/AlexsJones/llmfit/issues/474 (77.6) and pull/544 (257), a card by its figures.
    let own = "own=RX 6900 XT:16:512:46::::rx-7900-xtx&n=1&users=1&in=128&out=128&do=serve";
    let on_it = |model: &str| {
        let parsed = parse(
            &format!("{model}&{own}&cards=rx-7900-xtx"),
            Catalog::embedded(),
        );
        assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
        let ranking = rank(&parsed.scenario, Catalog::embedded(), PriceBook::embedded());
        let offer = ranking.offers.into_iter().find(|o| o.card == "RX 6900 XT");
        match offer.and_then(|o| o.run) {
            Some(Run::Serve { speed, .. }) => speed.tokens_per_s_user,
            other => panic!("{model}: {other:?}"),
        }
    };
    let moe = on_it("m=qwen3.5-35b-a3b&w=q2_k");
    assert!((35.0..160.0).contains(&moe.mid), "{moe:?}");
    let olmoe = on_it(
        "m=custom&layers=16&hidden=2048&heads=16&kvheads=16&ffn=0&experts=64&top=8&eff=1024&vocab=50304&w=q4_k_m",
    );
    assert!((120.0..520.0).contains(&olmoe.mid), "{olmoe:?}");
    // https://github.com/AlexsJones/llmfit/issues/88: 270, not 8.8.
    let nano = pace(
        "m=nemotron-3-nano-30b-a3b&do=serve&w=q4_k_m&users=1&in=512&out=512&cards=rtx-4090&n=1",
    );
    assert!((100.0..500.0).contains(&nano), "{nano}");
    // https://github.com/adarshxs/TokenTally/blob/c7a33a9/utilities.py: four bits are read faster.
    let of = |w: &str| {
        pace(&format!(
            "m=llama-2-70b&do=serve&w={w}&users=1&cards=h200-sxm-141gb&n=2&tp=2"
        ))
    };
    assert!(
        of("awq4") > 1.8 * of("fp16"),
        "{} {}",
        of("awq4"),
        of("fp16")
    );
}

#[test]
fn cards_are_what_their_sheets_say() {
    let card = |id: &str| {
        Catalog::embedded()
            .card(id)
            .unwrap_or_else(|| panic!("no {id}"))
    };
    let half = |id: &str| card(id).peak_tflops.fp16.expect("a rate");
    for (address, is, should, share) in [
        (
            "https://github.com/modula-systems/modula/pull/1",
            half("rtx-4090"),
            165.2,
            0.01,
        ),
        (
            "https://github.com/modula-systems/modula/pull/1",
            half("rtx-3090"),
            71.0,
            0.01,
        ),
        (
            "https://github.com/redai-studio/Relax/pull/83",
            half("rtx-3070-ti"),
            43.5,
            0.01,
        ),
        (
            "https://github.com/apoorvkh/academic-pretraining/issues/3",
            half("rtx-a6000"),
            150.0,
            0.05,
        ),
        (
            "https://github.com/rasbt/LLMs-from-scratch/issues/482",
            half("h100-sxm-80gb"),
            989.0,
            0.001,
        ),
        (
            "https://github.com/rasbt/LLMs-from-scratch/issues/482",
            half("h100-pcie-80gb"),
            756.0,
            0.001,
        ),
        (
            "https://github.com/RahulSChand/gpu_poor/blob/ad2fc0e/src/gpu_config.json",
            half("a100-sxm4-80gb"),
            312.0,
            0.0,
        ),
        (
            "https://github.com/AlexsJones/llmfit/issues/239",
            card("rtx-a4000").memory_gib,
            16.0,
            0.0,
        ),
        // The label, and what the driver shows of it.
        (
            "https://github.com/dstackai/gpuhunt/issues/91",
            card("l4").memory_gib,
            24.0,
            0.0,
        ),
        (
            "https://github.com/dstackai/dstack/issues/1523",
            card("a10").memory_gib,
            24.0,
            0.0,
        ),
    ] {
        near(address, is, should, share);
    }
    for id in ["l4", "a10"] {
        let driver = card(id).driver_memory_mib.expect("a printout");
        assert!((22_000..23_600).contains(&driver), "{id} {driver}");
    }
    // A machine without a card of the catalog, or with other memory to use, is described by figures:
    // https://github.com/AlexsJones/llmfit/issues/964 (96 GB), https://github.com/Andyyyy64/whichllm/issues/152
    // (26,000 MiB), https://github.com/AlexsJones/llmfit/pull/754, https://github.com/ggml-org/llama.cpp/issues/1870.
    let parsed = parse(
        "own=Ryzen AI Max:96:256:59&do=serve&m=qwen3-30b-a3b",
        Catalog::embedded(),
    );
    let own = parsed.scenario.shelf.own.first().expect("a card");
    near("own", own.card(Catalog::embedded()).memory_gib, 96.0, 0.0);
    // Eight cards in the machine: https://github.com/skypilot-org/skypilot-catalog/pull/50
    assert_eq!(card("h100-sxm-80gb").link.cards_per_node, 8);
}

#[test]
fn prices_are_of_all_cards_dated_and_a_range() {
    // https://github.com/skypilot-org/skypilot-catalog/pull/44: eight cards cost eight times one.
    let of = |n: u32| {
        offer(&format!(
            "m=qwen2.5-0.5b&do=serve&cards=rtx-a6000&price=rtx-a6000:0.79&cur=usd&n={n}"
        ))
    };
    let cost = |n: u32| of(n).cost_per_hour.expect("a price").mid;
    near("8 x 0.79", cost(8), 6.32, 1e-9);
    // https://github.com/skypilot-org/skypilot/issues/3794, /4904: a day and a range beside the price.
    let offer = offer("m=qwen2.5-0.5b&do=serve&cards=rtx-4090&n=1");
    let price = offer.price.expect("a price");
    assert!(price.as_of.is_some() && price.source.is_some());
    let (low, high) = price.seen.expect("a range");
    assert!(low < high);
    for offer in &PriceBook::embedded().offers {
        assert!(!offer.as_of.is_empty() && !offer.source.is_empty());
    }
}
