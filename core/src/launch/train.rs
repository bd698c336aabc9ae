//! Launch lines and configurations of training software.

use serde_json::{Value, json};

use super::{Command, LaunchFile};
use crate::catalog::{AttentionKind, Catalog, Transformer};
use crate::offers::Offer;
use crate::plan::{Offload, Recompute, Sharding, TrainingPlan};
use crate::scenario::{
    ModelChoice, Optimizer, Training, TrainingAmount, TrainingMethod, TrainingPrecision,
};

/// The plan for the software that can lay it out: Megatron where a model is split by tensor, pipeline, context or
/// expert parallel; else torchrun with FSDP, DeepSpeed and LLaMA-Factory.
pub(super) fn files(
    training: &Training,
    plan: &TrainingPlan,
    offer: &Offer,
    model: &str,
    choice: &ModelChoice,
) -> Vec<LaunchFile> {
    let split = plan.tensor_parallel > 1
        || plan.pipeline_parallel > 1
        || plan.context_parallel > 1
        || plan.expert_parallel > 1;
    if split {
        return shape(choice)
            .map(|shape| megatron(training, plan, offer, &shape))
            .into_iter()
            .collect();
    }
    let mut files = vec![
        llama_factory(training, plan, offer, model),
        deepspeed(training, plan, offer),
        torchrun(plan, offer),
    ];
    if plan.cards > 1 {
        files.push(accelerate(training, plan, offer));
    }
    files
}

fn shape(choice: &ModelChoice) -> Option<Transformer> {
    match choice {
        ModelChoice::Catalog(id) => Some(Catalog::embedded().model(id)?.transformer.clone()),
        ModelChoice::Custom(shape) => Some(shape.as_ref().clone()),
    }
}

/// Cards in one node of an offer.
fn per_node(plan: &TrainingPlan, offer: &Offer) -> u32 {
    plan.cards.div_ceil(offer.nodes.max(1)).max(1)
}

fn launcher(plan: &TrainingPlan, offer: &Offer) -> String {
    let nodes = offer.nodes.max(1);
    let command = Command::new("torchrun")
        .flag_if(nodes == 1, "--standalone --nnodes", 1)
        .flag_if(nodes > 1, "--nnodes", nodes)
        .flag("--nproc-per-node", per_node(plan, offer))
        .flag_if(nodes > 1, "--node-rank", "NODE_RANK")
        .flag_if(
            nodes > 1,
            "--rdzv-backend c10d --rdzv-endpoint",
            "MASTER_ADDRESS:29500",
        );
    command.text()
}

fn torchrun(plan: &TrainingPlan, offer: &Offer) -> LaunchFile {
    let text = format!(
        "# Every node runs this; a step takes {} sequences on each card {} times.\n{} \\\n  train.py\n",
        plan.micro_batch,
        plan.grad_accum,
        launcher(plan, offer)
    );
    LaunchFile {
        tool: "torchrun",
        name: "train.sh",
        text,
    }
}

fn is_bf16(precision: TrainingPrecision) -> bool {
    !matches!(precision, TrainingPrecision::Fp16 | TrainingPrecision::Fp32)
}

/// Configuration of Hugging Face Accelerate: FSDP 2 where states are split, else plain data parallelism.
fn accelerate(training: &Training, plan: &TrainingPlan, offer: &Offer) -> LaunchFile {
    let precision = match training.precision {
        TrainingPrecision::Fp32 => "no",
        TrainingPrecision::Fp16 => "fp16",
        TrainingPrecision::Fp8 => "fp8",
        TrainingPrecision::Bf16 | TrainingPrecision::PureBf16 => "bf16",
    };
    let nodes = offer.nodes.max(1);
    let splits = plan.sharding != Sharding::None || plan.offload == Offload::All;
    let mut text = format!(
        "compute_environment: LOCAL_MACHINE\n\
         distributed_type: {}\n\
         mixed_precision: '{precision}'\n\
         num_machines: {nodes}\n\
         num_processes: {}\n\
         machine_rank: 0\n",
        if splits { "FSDP" } else { "MULTI_GPU" },
        plan.cards,
    );
    if nodes > 1 {
        text += "main_process_ip: MASTER_ADDRESS\nmain_process_port: 29500\n";
    }
    if splits {
        // What is kept whole after the forward pass holds gradients and states split, as ZeRO-2 does; there is no stage
        // for states alone.
        let reshard = matches!(plan.sharding, Sharding::Zero3 | Sharding::Hybrid);
        text += &format!(
            "fsdp_config:\n  \
               fsdp_version: 2\n  \
               fsdp_reshard_after_forward: {reshard}\n  \
               fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n  \
               fsdp_offload_params: {}\n  \
               fsdp_activation_checkpointing: {}\n  \
               fsdp_cpu_ram_efficient_loading: true\n  \
               fsdp_state_dict_type: SHARDED_STATE_DICT\n",
            plan.offload == Offload::All,
            plan.recompute != Recompute::None,
        );
    }
    if plan.sharding == Sharding::Hybrid {
        let shard = per_node(plan, offer);
        text += &format!(
            "parallelism_config:\n  \
               parallelism_config_dp_replicate_size: {}\n  \
               parallelism_config_dp_shard_size: {shard}\n",
            plan.cards / shard.max(1),
        );
    }
    LaunchFile {
        tool: if splits {
            "FSDP (Accelerate)"
        } else {
            "Accelerate"
        },
        name: "accelerate.yaml",
        text,
    }
}

/// Configuration of DeepSpeed.
fn deepspeed(training: &Training, plan: &TrainingPlan, offer: &Offer) -> LaunchFile {
    let stage = match plan.sharding {
        Sharding::None => 0,
        Sharding::Zero1 => 1,
        Sharding::Zero2 => 2,
        Sharding::Zero3 | Sharding::Hybrid => 3,
    };
    let host = json!({ "device": "cpu", "pin_memory": true });
    let mut zero = json!({
        "stage": stage,
        "overlap_comm": true,
        "contiguous_gradients": true,
    });
    if let Value::Object(zero) = &mut zero {
        if plan.offload != Offload::None {
            zero.insert("offload_optimizer".to_owned(), host.clone());
        }
        if plan.offload == Offload::All {
            zero.insert("offload_param".to_owned(), host);
        }
        // DeepSpeed's nearest to a shard in each node: weights are gathered within it, states stay split over all.
        if plan.sharding == Sharding::Hybrid {
            zero.insert(
                "zero_hpz_partition_size".to_owned(),
                json!(per_node(plan, offer)),
            );
        }
        if stage == 3 {
            zero.insert(
                "stage3_gather_16bit_weights_on_model_save".to_owned(),
                json!(true),
            );
        }
    }
    let sequences =
        u64::from(plan.micro_batch) * u64::from(plan.grad_accum) * u64::from(plan.data_parallel);
    let config = json!({
        "train_batch_size": sequences,
        "train_micro_batch_size_per_gpu": plan.micro_batch,
        "gradient_accumulation_steps": plan.grad_accum,
        "gradient_clipping": 1.0,
        "bf16": { "enabled": is_bf16(training.precision) },
        "fp16": { "enabled": training.precision == TrainingPrecision::Fp16 },
        "zero_optimization": zero,
    });
    LaunchFile {
        tool: "DeepSpeed",
        name: "ds_config.json",
        text: format!("{config:#}\n"),
    }
}

/// The line that starts a run of LLaMA-Factory, as a remark in its file.
fn started(plan: &TrainingPlan, offer: &Offer) -> String {
    let start = "llamafactory-cli train llama-factory.yaml";
    let nodes = offer.nodes.max(1);
    if nodes > 1 {
        return format!(
            "# FORCE_TORCHRUN=1 NNODES={nodes} NODE_RANK=NODE_RANK MASTER_ADDR=MASTER_ADDRESS MASTER_PORT=29500 {start}"
        );
    }
    // DeepSpeed needs torchrun on a single card too.
    if plan.cards > 1 || plan.offload != Offload::None || plan.sharding != Sharding::None {
        format!("# FORCE_TORCHRUN=1 {start}")
    } else {
        format!("# {start}")
    }
}

/// Configuration of LLaMA-Factory.
fn llama_factory(
    training: &Training,
    plan: &TrainingPlan,
    offer: &Offer,
    model: &str,
) -> LaunchFile {
    let mut lines = vec![started(plan, offer)];
    let deepspeed = plan.sharding != Sharding::None || plan.offload != Offload::None;
    // It refuses weights, gradients and states all in BF16 under the full shard.
    let pure = training.precision == TrainingPrecision::PureBf16;
    let refused = pure && matches!(plan.sharding, Sharding::Zero3 | Sharding::Hybrid);
    if refused {
        lines.push(
            "# Pure BF16 is refused under ZeRO-3; mixed precision takes more memory than the plan."
                .to_owned(),
        );
    }
    lines.push(format!("model_name_or_path: {model}"));
    let mut line = |name: &str, value: String| lines.push(format!("{name}: {value}"));
    let pretrains = training.method == TrainingMethod::Pretrain;
    line("stage", if pretrains { "pt" } else { "sft" }.to_owned());
    line("do_train", "true".to_owned());
    let adapters = matches!(
        training.method,
        TrainingMethod::Lora | TrainingMethod::Qlora
    );
    line(
        "finetuning_type",
        if adapters { "lora" } else { "full" }.to_owned(),
    );
    if adapters {
        line("lora_rank", training.lora_rank.to_string());
        line("lora_target", "all".to_owned());
    }
    if training.method == TrainingMethod::Qlora {
        line("quantization_bit", "4".to_owned());
        line("quantization_method", "bnb".to_owned());
        line("double_quantization", "true".to_owned());
    }
    if pretrains {
        line("train_from_scratch", "true".to_owned());
    }
    line("dataset", "DATASET".to_owned());
    line("template", "TEMPLATE".to_owned());
    line("cutoff_len", training.seq_len.to_string());
    line("packing", "true".to_owned());
    match training.amount {
        TrainingAmount::Samples { epochs, .. } => line("num_train_epochs", epochs.to_string()),
        TrainingAmount::Tokens(tokens) => {
            let step = f64::from(plan.micro_batch)
                * f64::from(plan.grad_accum)
                * f64::from(plan.data_parallel)
                * f64::from(training.seq_len);
            line("max_steps", format!("{:.0}", (tokens / step).ceil()));
        }
    }
    line("per_device_train_batch_size", plan.micro_batch.to_string());
    line("gradient_accumulation_steps", plan.grad_accum.to_string());
    line("learning_rate", "LEARNING_RATE".to_owned());
    match training.precision {
        TrainingPrecision::Fp16 => line("fp16", "true".to_owned()),
        TrainingPrecision::PureBf16 if !refused => line("pure_bf16", "true".to_owned()),
        TrainingPrecision::Fp32 => {}
        _ => line("bf16", "true".to_owned()),
    }
    match optimizer(training.optimizer) {
        Some(name) => line("optim", name.to_owned()),
        None => line("use_muon", "true".to_owned()),
    }
    let attention = if training.flash_attention {
        "fa2"
    } else {
        "disabled"
    };
    line("flash_attn", attention.to_owned());
    line(
        "disable_gradient_checkpointing",
        (plan.recompute == Recompute::None).to_string(),
    );
    if deepspeed {
        line("deepspeed", "ds_config.json".to_owned());
    }
    line("output_dir", "OUTPUT".to_owned());
    LaunchFile {
        tool: "LLaMA-Factory",
        name: "llama-factory.yaml",
        text: lines.join("\n") + "\n",
    }
}

/// Name of an optimizer in Transformers, which LLaMA-Factory hands on; Muon is a switch of LLaMA-Factory's own.
fn optimizer(optimizer: Optimizer) -> Option<&'static str> {
    match optimizer {
        Optimizer::Adamw => Some("adamw_torch"),
        Optimizer::Adamw8bit => Some("adamw_bnb_8bit"),
        Optimizer::PagedAdamw8bit => Some("paged_adamw_8bit"),
        Optimizer::Adafactor => Some("adafactor"),
        Optimizer::Sgd | Optimizer::SgdMomentum => Some("sgd"),
        Optimizer::Lion => Some("lion_32bit"),
        Optimizer::Muon => None,
    }
}

/// Arguments of Megatron-LM.
fn megatron(
    training: &Training,
    plan: &TrainingPlan,
    offer: &Offer,
    shape: &Transformer,
) -> LaunchFile {
    let sequences =
        u64::from(plan.micro_batch) * u64::from(plan.grad_accum) * u64::from(plan.data_parallel);
    let heads = shape.attention.first().map(|group| &group.kind);
    let (query, groups) = match heads {
        Some(AttentionKind::Heads {
            heads, kv_heads, ..
        }) => (*heads, *kv_heads),
        Some(kind) => (kind.heads(), kind.heads()),
        None => (1, 1),
    };
    let mut command = Command(vec![format!(
        "{} \\\n  pretrain_gpt.py",
        launcher(plan, offer)
    )])
    .flag("--tensor-model-parallel-size", plan.tensor_parallel)
    .switch_if(plan.tensor_parallel > 1, "--sequence-parallel")
    .flag("--pipeline-model-parallel-size", plan.pipeline_parallel)
    .flag_if(
        plan.context_parallel > 1,
        "--context-parallel-size",
        plan.context_parallel,
    )
    .flag_if(
        plan.expert_parallel > 1,
        "--expert-model-parallel-size",
        plan.expert_parallel,
    )
    .switch_if(
        plan.sharding != Sharding::None,
        "--use-distributed-optimizer",
    )
    .flag("--micro-batch-size", plan.micro_batch)
    .flag("--global-batch-size", sequences)
    .flag("--seq-length", training.seq_len)
    .flag("--max-position-embeddings", training.seq_len)
    .flag("--num-layers", shape.layers)
    .flag("--hidden-size", shape.hidden)
    .flag("--num-attention-heads", query)
    .flag_if(
        groups != query,
        "--group-query-attention --num-query-groups",
        groups,
    )
    .flag_if(shape.ffn > 0, "--ffn-hidden-size", shape.ffn)
    .switch_if(shape.ffn_gated, "--swiglu")
    .switch_if(
        !shape.tie_embeddings,
        "--untie-embeddings-and-output-weights",
    );
    if let Some(experts) = &shape.experts {
        command = command
            .flag("--num-experts", experts.experts)
            .flag("--moe-router-topk", experts.per_token)
            .flag("--moe-ffn-hidden-size", experts.ffn);
    }
    command = match plan.recompute {
        Recompute::None => command,
        Recompute::Selective => command.flag("--recompute-granularity", "selective"),
        Recompute::Full => command
            .flag("--recompute-granularity", "full")
            .flag("--recompute-method", "uniform")
            .flag("--recompute-num-layers", 1),
    };
    command = match training.precision {
        TrainingPrecision::Fp32 => command,
        TrainingPrecision::Fp16 => command.switch_if(true, "--fp16"),
        TrainingPrecision::Fp8 => command
            .switch_if(true, "--bf16")
            .flag("--fp8-format", "hybrid"),
        TrainingPrecision::Bf16 | TrainingPrecision::PureBf16 => command.switch_if(true, "--bf16"),
    };
    if let TrainingAmount::Tokens(tokens) = training.amount {
        let step = sequences as f64 * f64::from(training.seq_len);
        command = command.flag("--train-iters", format!("{:.0}", (tokens / step).ceil()));
    }
    LaunchFile {
        tool: "Megatron-LM",
        name: "pretrain.sh",
        text: command.text() + "\n",
    }
}
