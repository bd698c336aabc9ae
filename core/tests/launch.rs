//! What a plan is run with says what the plan says.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::launch::{LaunchFile, files};
use cardfit::offers::{Offer, Run, rank};
use cardfit::scenario::{Scenario, parse};

fn answered(link: &str) -> (Scenario, Offer) {
    let catalog = Catalog::embedded();
    let scenario = parse(link, catalog).scenario;
    let ranking = rank(&scenario, catalog, PriceBook::embedded());
    let offer = ranking.offers.into_iter().next().unwrap();
    (scenario, offer)
}

fn file<'a>(files: &'a [LaunchFile], tool: &str) -> &'a str {
    let found = files.iter().find(|file| file.tool == tool);
    &found
        .unwrap_or_else(|| panic!("no {tool} in {files:?}"))
        .text
}

#[test]
fn servers_are_told_the_plan_and_the_lengths() {
    let (scenario, offer) = answered(
        "m=qwen2.5-72b&do=serve&w=bf16&in=1000&out=500&users=16&cards=h100-sxm-80gb&n=4&kv=8bit",
    );
    let Some(Run::Serve { plan, .. }) = &offer.run else {
        panic!("{offer:?}");
    };
    let files = files(&scenario, &offer);
    let vllm = file(&files, "vLLM");
    for wanted in [
        format!("--tensor-parallel-size {}", plan.tensor_parallel),
        "--max-model-len 1500".to_owned(),
        format!("--max-num-seqs {}", plan.batch),
        "--kv-cache-dtype fp8".to_owned(),
        "--dtype bfloat16".to_owned(),
    ] {
        assert!(vllm.contains(&wanted), "{wanted}\n{vllm}");
    }
    let share: f64 = vllm
        .split("--gpu-memory-utilization ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap()
        .parse()
        .unwrap();
    assert!((0.9..=0.97).contains(&share), "{share}");
    assert!(file(&files, "SGLang").contains("--context-length 1500"));
    assert!(file(&files, "llama.cpp").contains("MODEL-BF16.gguf"));
}

#[test]
fn servers_are_told_what_guesses_and_leave_room_for_thoughts() {
    let (scenario, offer) = answered(
        "m=qwen3-32b&do=serve&w=bf16&in=1000&out=500&think=2500&guess=3&draft=6e8&cards=h100-sxm-80gb&n=4",
    );
    let files = files(&scenario, &offer);
    let vllm = file(&files, "vLLM");
    assert!(vllm.contains("--max-model-len 4000"), "{vllm}");
    let wanted =
        "--speculative-config '{\"model\": \"DRAFT_MODEL\", \"num_speculative_tokens\": 3}'";
    assert!(vllm.contains(wanted), "{vllm}");
    assert!(file(&files, "SGLang").contains("--speculative-num-draft-tokens 4"));
    assert!(file(&files, "llama.cpp").contains("--draft-max 3"));
}

#[test]
fn a_gguf_is_for_llama_cpp_alone_and_its_context_is_shared_by_all_slots() {
    let (scenario, offer) = answered(
        "m=qwen3-8b&do=serve&w=q4_k_m&in=2000&out=1000&users=4&cards=rtx-4090&n=1&kv=8bit",
    );
    let files = files(&scenario, &offer);
    assert_eq!(files.len(), 1);
    let line = file(&files, "llama.cpp");
    for wanted in [
        "MODEL-Q4_K_M.gguf",
        "--ctx-size 12000",
        "--parallel 4",
        "--cache-type-k q8_0",
    ] {
        assert!(line.contains(wanted), "{wanted}\n{line}");
    }
}

#[test]
fn deepspeeds_batches_multiply_to_the_plans() {
    let (scenario, offer) = answered(
        "m=qwen2.5-7b&do=full&seq=2048&samples=10000&cards=a100-sxm4-80gb&n=8&shard=zero3",
    );
    let Some(Run::Train { plan, .. }) = &offer.run else {
        panic!("{offer:?}");
    };
    let files = files(&scenario, &offer);
    let config: serde_json::Value = serde_json::from_str(file(&files, "DeepSpeed")).unwrap();
    let figure = |name: &str| config[name].as_u64().unwrap();
    assert_eq!(
        figure("train_batch_size"),
        figure("train_micro_batch_size_per_gpu")
            * figure("gradient_accumulation_steps")
            * u64::from(plan.data_parallel)
    );
    assert_eq!(config["zero_optimization"]["stage"], 3);
    assert!(file(&files, "torchrun").contains("--nproc-per-node 8"));
    assert!(file(&files, "FSDP (Accelerate)").contains("FULL_SHARD"));
    let factory = file(&files, "LLaMA-Factory");
    assert!(
        factory.contains("finetuning_type: full") && factory.contains("deepspeed: ds_config.json")
    );
    assert!(factory.contains(&format!(
        "per_device_train_batch_size: {}",
        plan.micro_batch
    )));
}

#[test]
fn qlora_is_said_to_llama_factory() {
    let (scenario, offer) = answered("m=qwen2.5-7b&do=qlora&rank=32&seq=1024&cards=rtx-4090&n=1");
    let files = files(&scenario, &offer);
    let factory = file(&files, "LLaMA-Factory");
    for wanted in ["quantization_bit: 4", "lora_rank: 32", "cutoff_len: 1024"] {
        assert!(factory.contains(wanted), "{wanted}\n{factory}");
    }
}

#[test]
fn a_split_model_goes_to_megatron_with_its_shape() {
    let (scenario, offer) = answered(
        "m=llama-3.1-70b&do=pretrain&tokens=1T&seq=8192&cards=h100-sxm-80gb&n=64&tp=8&pp=4",
    );
    let files = files(&scenario, &offer);
    let line = file(&files, "Megatron-LM");
    for wanted in [
        "--nnodes 8",
        "--nproc-per-node 8",
        "--tensor-model-parallel-size 8",
        "--pipeline-model-parallel-size 4",
        "--num-layers 80",
        "--num-query-groups 8",
        "--seq-length 8192",
        "--bf16",
    ] {
        assert!(line.contains(wanted), "{wanted}\n{line}");
    }
    let of = |flag: &str| -> f64 {
        let rest = line.split(&format!("{flag} ")).nth(1).unwrap();
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    let tokens = of("--global-batch-size") * 8192.0 * of("--train-iters");
    assert!((1e12..1.01e12).contains(&tokens), "{tokens}");
}
