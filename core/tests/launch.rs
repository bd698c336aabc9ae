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
    let offer = ranking.offers.into_iter().next();
    let offer = offer.unwrap_or_else(|| panic!("no offer for {link}"));
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
    let wanted = "--speculative-config '{\"method\": \"draft_model\", \"model\": \"DRAFT_MODEL\", \"num_speculative_tokens\": 3}'";
    assert!(vllm.contains(wanted), "{vllm}");
    assert!(file(&files, "SGLang").contains("--speculative-num-draft-tokens 4"));
    let llama_cpp = file(&files, "llama.cpp");
    assert!(llama_cpp.contains("--spec-draft-n-max 3"), "{llama_cpp}");
    assert!(
        llama_cpp.contains("--spec-type draft-simple"),
        "{llama_cpp}"
    );
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
    let fsdp = file(&files, "FSDP (Accelerate)");
    assert!(fsdp.contains("fsdp_version: 2"), "{fsdp}");
    assert!(fsdp.contains("fsdp_reshard_after_forward: true"), "{fsdp}");
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

/// Every job that has a launcher, laid out in every way that changes a flag.
const EVERY_FLAG: [&str; 20] = [
    "m=qwen2.5-72b&do=serve&w=bf16&in=1000&out=500&users=16&cards=h100-sxm-80gb&n=4&kv=8bit",
    "m=qwen3-32b&do=serve&w=fp8&users=16&cards=h100-sxm-80gb&n=1&guess=3&draft=6e8",
    "m=deepseek-v3-671b&do=serve&w=fp8&users=16&cards=h200-sxm-141gb&n=8&guess=1",
    "m=qwen3-8b&do=serve&w=nf4&users=16&cards=rtx-4090&n=2&kv=4bit",
    "m=qwen3-8b&do=serve&w=q4_k_m&users=4&cards=rtx-4090&n=2&kv=8bit&guess=2",
    "m=llama-3.1-405b&do=serve&w=bf16&users=8&cards=a100-sxm4-80gb&n=16",
    "m=llama-3.1-405b&do=serve&w=q8_0&users=2&cards=a100-sxm4-80gb&n=16&engine=llama.cpp",
    "m=qwen2.5-7b&do=lora&cards=rtx-4090&n=1",
    "m=qwen2.5-7b&do=qlora&cards=rtx-4090&n=2&shard=none",
    "m=qwen2.5-7b&do=full&cards=a100-sxm4-80gb&n=8&shard=zero2",
    "m=qwen2.5-7b&do=full&cards=a100-sxm4-80gb&n=8&shard=zero3&prec=bf16-pure",
    "m=qwen2.5-7b&do=full&cards=a100-sxm4-80gb&n=16&shard=hybrid",
    "m=qwen2.5-7b&do=full&cards=rtx-4090&n=8&offload=all&shard=zero3",
    "m=qwen2.5-7b&do=full&cards=a100-sxm4-80gb&n=8&opt=muon&prec=fp16",
    "m=llama-2-7b&do=pretrain&tokens=1T&cards=h100-sxm-80gb&n=8&shard=zero1",
    "m=llama-3.1-70b&do=pretrain&tokens=1T&seq=8192&cards=h100-sxm-80gb&n=64&tp=8&pp=4",
    "m=llama-3.1-70b&do=pretrain&tokens=1T&seq=8192&cards=h100-sxm-80gb&n=64&tp=8&pp=4&prec=fp8&recompute=full",
    "m=llama-3.1-8b&do=pretrain&tokens=1T&seq=131072&cards=h100-sxm-80gb&n=64&tp=8&cp=8&recompute=selective",
    "m=deepseek-v3-671b&do=pretrain&tokens=1T&cards=h100-sxm-80gb&n=512&pp=8&ep=8",
    "m=qwen3-30b-a3b&do=pretrain&tokens=1T&cards=h100-sxm-80gb&n=32&ep=8&prec=fp16",
];

/// Flags of a command and keys of a YAML or JSON file.
fn names_in(file: &LaunchFile) -> Vec<String> {
    let mut names = Vec::new();
    for line in file.text.lines() {
        names.extend(
            line.split(|c: char| c.is_whitespace())
                .map(|word| word.trim_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '-')))
                .filter(|word| word.starts_with("--"))
                .map(str::to_owned),
        );
        let is_file = file.name.ends_with(".yaml") || file.name.ends_with(".json");
        if is_file
            && !line.starts_with('#')
            && let Some((key, _)) = line.split_once(':')
        {
            names.push(key.trim().trim_matches('"').to_owned());
        }
    }
    names
}

#[test]
fn every_flag_was_read_where_the_document_says() {
    let document = include_str!("../../docs/launch.md");
    let listed = |tool: &str, name: &str| {
        let software = match tool {
            "FSDP (Accelerate)" => "Accelerate",
            other => other,
        };
        // Megatron is started by torchrun.
        document
            .lines()
            .filter(|line| {
                line.starts_with(&format!("| {software} |"))
                    || (software == "Megatron-LM" && line.starts_with("| torchrun |"))
            })
            .any(|line| line.contains(&format!("`{name}`")))
    };
    let mut tools = std::collections::BTreeSet::new();
    for link in EVERY_FLAG {
        let (scenario, offer) = answered(link);
        for file in files(&scenario, &offer) {
            tools.insert(file.tool);
            for name in names_in(&file) {
                assert!(
                    listed(file.tool, &name),
                    "{} {name}\n{}",
                    file.tool,
                    file.text
                );
            }
        }
    }
    assert_eq!(tools.len(), 9, "{tools:?}");
}

#[test]
fn a_copy_larger_than_a_node_runs_over_several_and_copies_in_a_node_start_together() {
    let (scenario, offer) =
        answered("m=llama-3.1-405b&do=serve&w=bf16&users=8&cards=a100-sxm4-80gb&n=16");
    let Some(Run::Serve { plan, .. }) = &offer.run else {
        panic!("{offer:?}");
    };
    assert_eq!((offer.nodes, plan.replicas), (2, 1));
    let answer = files(&scenario, &offer);
    assert!(file(&answer, "vLLM").contains("--nnodes 2"));
    assert!(file(&answer, "SGLang").contains("--dist-init-addr MASTER_ADDRESS:50000"));

    let (scenario, offer) =
        answered("m=qwen3-8b&do=serve&w=bf16&users=400&cards=h100-sxm-80gb&n=16&tp=1&pp=1");
    let Some(Run::Serve { plan, .. }) = &offer.run else {
        panic!("{offer:?}");
    };
    assert_eq!((offer.nodes, plan.replicas), (2, 16));
    let answer = files(&scenario, &offer);
    let vllm = file(&answer, "vLLM");
    assert!(vllm.contains("--data-parallel-size 8"), "{vllm}");
    assert!(vllm.starts_with("# 2 times"), "{vllm}");
}

#[test]
fn a_shard_in_each_node_is_said_as_copies_times_shards() {
    let (scenario, offer) = answered("m=qwen2.5-7b&do=full&cards=a100-sxm4-80gb&n=16&shard=hybrid");
    let answer = files(&scenario, &offer);
    let fsdp = file(&answer, "FSDP (Accelerate)");
    for wanted in ["dp_replicate_size: 2", "dp_shard_size: 8"] {
        assert!(fsdp.contains(wanted), "{wanted}\n{fsdp}");
    }
    assert!(file(&answer, "LLaMA-Factory").starts_with("# FORCE_TORCHRUN=1 NNODES=2"));
}

#[test]
fn what_llama_factory_refuses_is_not_asked_of_it() {
    let (scenario, offer) =
        answered("m=qwen2.5-7b&do=full&cards=a100-sxm4-80gb&n=8&shard=zero3&prec=bf16-pure");
    let answer = files(&scenario, &offer);
    let factory = file(&answer, "LLaMA-Factory");
    assert!(!factory.contains("pure_bf16: true"), "{factory}");
    assert!(factory.contains("bf16: true"), "{factory}");
}
