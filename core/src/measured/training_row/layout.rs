//! How a row's job was run: method, formats, software, layout over cards.

use super::software::{flash_attention, habits, stack};
use super::words::Words;
use crate::catalog::{Card, Market, Model, Node};
use crate::dtype::WeightFormat;
use crate::estimate::training::{Habits, Stack, TrainingConstants, TrainingJob, memory_with};
use crate::measured::TrainingRow;
use crate::plan::{Offload, Recompute, Sharding, TrainingPlan};
use crate::scenario::{Optimizer, TrainingMethod, TrainingPrecision};

/// How a row's job was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Method.
    pub method: TrainingMethod,
    /// Format of frozen weights.
    pub base_weights: WeightFormat,
    /// Tokens of a sequence.
    pub seq_len: u32,
    /// Compute format.
    pub precision: TrainingPrecision,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Rank of adapters.
    pub lora_rank: u32,
    /// Fused attention.
    pub flash_attention: bool,
    /// The software and its habits.
    pub habits: Habits,
    /// Layout.
    pub plan: TrainingPlan,
    /// Cards of a node.
    pub cards_per_node: u32,
    /// Network of a node, one way, GB/s.
    pub network_gb_s: f64,
}

/// Reads the setup of `row`.
pub fn setup(
    row: &TrainingRow,
    words: &Words,
    model: &Model,
    card: &Card,
) -> Result<Setup, &'static str> {
    let method = match row.task.as_str() {
        "full_ft" => TrainingMethod::FullFinetune,
        "lora" => TrainingMethod::Lora,
        "qlora" => TrainingMethod::Qlora,
        _ => TrainingMethod::Pretrain,
    };
    let cards = cards(row);
    let cards_per_node = row
        .gpus_per_node
        .filter(|n| *n > 0)
        .unwrap_or(card.link.cards_per_node)
        .max(1);
    let stack = stack(row, words, method);
    let splits = Splits::of(row, words, stack, cards);
    let sharding = sharding(row, words, stack, method, cards, &splits);
    let mut plan = plan(row, words, model, cards, cards_per_node, &splits, sharding);
    let habits = habits(row, words, stack, model);
    let mut setup = Setup {
        method,
        base_weights: base_weights(row, words, method),
        seq_len: seq_len(row, stack, method),
        precision: precision(row, words, stack, method, card, sharding),
        optimizer: optimizer(row, words),
        lora_rank: lora_rank(words, stack),
        flash_attention: flash_attention(row, words),
        habits,
        plan,
        cards_per_node,
        network_gb_s: network(words, card, cards_per_node),
    };
    if layout_is_open(row) && stack == Stack::Megatron {
        plan = least_split(&setup, model, card, row.n_gpus.unwrap_or(1));
        setup.plan = plan;
    }
    setup.plan.recompute = recompute(row, words, &setup, model, card);
    Ok(setup)
}

/// Cards in all; a fine-tuning run of one card or a pretraining run of usual size where unsaid.
fn cards(row: &TrainingRow) -> u32 {
    const USUAL_PRETRAINING_CARDS: u32 = 256;
    row.n_gpus.filter(|n| *n > 0).unwrap_or_else(|| {
        if row.task == "pretrain" && matches!(row.metric.as_str(), "gpu_hours_total" | "wall_days")
        {
            USUAL_PRETRAINING_CARDS
        } else {
            row.gpus_per_node.filter(|n| *n > 0).unwrap_or(1)
        }
    })
}

/// Ways that one copy of the model is split.
#[derive(Debug, Clone, Copy)]
struct Splits {
    tensor: u32,
    pipeline: u32,
    context: u32,
    expert: u32,
}

impl Splits {
    fn of(row: &TrainingRow, words: &Words, stack: Stack, cards: u32) -> Self {
        let at_most = |n: u32| n.clamp(1, cards.max(1));
        let tensor = at_most(row.tp.unwrap_or(1));
        let pipeline = at_most(row.pp.unwrap_or(1)).min((cards / tensor).max(1));
        let context = row
            .context_parallel
            .or_else(|| words.number_after("cp"))
            .unwrap_or(1)
            .clamp(1, (cards / (tensor * pipeline)).max(1));
        // Transformers' own blocks keep every expert on every card.
        let usual = u32::from(stack == Stack::Transformers);
        let expert = words.number_after("ep").unwrap_or(usual);
        Self {
            tensor,
            pipeline,
            context,
            expert,
        }
    }
}

fn plan(
    row: &TrainingRow,
    words: &Words,
    model: &Model,
    cards: u32,
    cards_per_node: u32,
    splits: &Splits,
    sharding: Sharding,
) -> TrainingPlan {
    /// A usual batch of short sequences where the source names none.
    const SHORT_SEQUENCES: u32 = 32;
    /// Tokens of a micro-batch that fill a card.
    const BUSY_TOKENS: u32 = 8192;
    /// LitGPT's own default.
    const LITGPT_MICRO_BATCH: u32 = 4;
    let copies = (cards / (splits.tensor * splits.pipeline * splits.context)).max(1);
    let positive = |n: Option<u32>| n.filter(|n| *n > 0);
    let per_copy = if words.any(&["batch size per dp"]) {
        positive(row.global_batch_seqs)
    } else {
        positive(row.global_batch_seqs).map(|g| g.div_ceil(copies))
    };
    let micro = positive(row.micro_batch_per_gpu).unwrap_or_else(|| {
        match (per_copy, positive(row.grad_accum)) {
            (Some(per_copy), Some(accum)) => (per_copy / accum).max(1),
            // Pipelines run one sequence a micro-batch; elsewhere a batch is not cut unasked.
            (Some(per_copy), None) if splits.pipeline == 1 && splits.tensor == 1 => {
                per_copy.min(64)
            }
            (None, None) if row.seq_len.is_some_and(|s| s <= 512) && row.tp.is_none() => {
                SHORT_SEQUENCES
            }
            _ if words.any(&["litgpt"]) && row.task == "pretrain" => LITGPT_MICRO_BATCH,
            // Sharded data parallelism leaves room for as many tokens as keep the card busy.
            (None, None) if row.task == "pretrain" && row.tp.is_none() && row.pp.is_none() => {
                (BUSY_TOKENS / row.seq_len.unwrap_or(BUSY_TOKENS).max(1)).max(1)
            }
            _ => 1,
        }
    });
    // Enough micro-batches to keep a pipeline's bubble near a tenth.
    let usual_accum = if row.task == "pretrain" {
        8 * splits.pipeline
    } else {
        1
    };
    // A pipeline cuts what a rank is given once more, so the global batch says more.
    let accum = match (
        positive(row.grad_accum),
        per_copy.map(|p| p.div_ceil(micro)),
    ) {
        (Some(stated), Some(needed)) if splits.pipeline > 1 => stated.max(needed),
        (Some(stated), _) => stated,
        (None, needed) => needed.unwrap_or(usual_accum),
    }
    .max(1);
    let expert_parallel = match model.transformer.experts.as_ref() {
        Some(_) if splits.expert > 0 => splits.expert.min(copies * splits.context),
        Some(e) => e.experts.min(cards_per_node).min(copies).max(1),
        None => 1,
    };
    TrainingPlan {
        cards: copies * splits.context * splits.tensor * splits.pipeline,
        data_parallel: copies,
        tensor_parallel: splits.tensor,
        pipeline_parallel: splits.pipeline,
        expert_parallel,
        context_parallel: splits.context,
        sharding,
        micro_batch: micro,
        grad_accum: accum,
        recompute: Recompute::Full,
        offload: match row.cpu_offload.as_str() {
            "optimizer" => Offload::Optimizer,
            "all" => Offload::All,
            _ => Offload::None,
        },
    }
}

fn sharding(
    row: &TrainingRow,
    words: &Words,
    stack: Stack,
    method: TrainingMethod,
    cards: u32,
    splits: &Splits,
) -> Sharding {
    match row.sharding.as_str() {
        "zero1" => Sharding::Zero1,
        "zero2" => Sharding::Zero2,
        "zero3" => Sharding::Zero3,
        "hsdp" => Sharding::Hybrid,
        "none" | "ddp" => Sharding::None,
        _ if words.any(&["zero3", "full_shard"]) => Sharding::Zero3,
        _ if cards / (splits.tensor * splits.pipeline) <= 1 => Sharding::None,
        _ if matches!(method, TrainingMethod::Lora | TrainingMethod::Qlora) => Sharding::None,
        _ => match stack {
            Stack::Megatron | Stack::Deepspeed => Sharding::Zero1,
            Stack::Fsdp => Sharding::Zero3,
            Stack::Transformers | Stack::Litgpt => Sharding::None,
        },
    }
}

fn base_weights(row: &TrainingRow, words: &Words, method: TrainingMethod) -> WeightFormat {
    if method != TrainingMethod::Qlora {
        if words.any(&["fp32 weights"]) {
            WeightFormat::Fp32
        } else {
            WeightFormat::Bf16
        }
    } else if row.precision.to_lowercase().contains("nf4") {
        WeightFormat::Nf4
    } else if words.any(&["gptq"]) {
        WeightFormat::Gptq4
    } else if words.any(&["awq"]) {
        WeightFormat::Awq4
    } else if words.any(&["int8", "8bit", "8-bit base"]) {
        WeightFormat::Int8
    } else {
        WeightFormat::Nf4
    }
}

fn precision(
    row: &TrainingRow,
    words: &Words,
    stack: Stack,
    method: TrainingMethod,
    card: &Card,
    sharding: Sharding,
) -> TrainingPrecision {
    let text = row.precision.to_lowercase();
    let adapter = matches!(method, TrainingMethod::Lora | TrainingMethod::Qlora);
    if text.contains("fp8") {
        return TrainingPrecision::Fp8;
    }
    if text == "fp32" || text == "tf32" {
        return TrainingPrecision::Fp32;
    }
    // A 4-bit base without a named type is bitsandbytes' own default, which computes in FP32.
    if method == TrainingMethod::Qlora
        && text.contains("int4")
        && !words.any(&["nf4", "gptq", "awq", "fp4"])
    {
        return TrainingPrecision::Fp32;
    }
    if text.contains("mixed (amp)") || text == "fp16" {
        return TrainingPrecision::Fp16;
    }
    let mixed = text.contains("mixed") || words.any(&["fp32 weights", "fp32 states"]);
    if (stack == Stack::Litgpt || words.any(&["pytorch/torchtune", "bf16 throughout"])) && !mixed {
        return TrainingPrecision::PureBf16;
    }
    // Transformers trains a model in the format it was loaded in; DeepSpeed keeps FP32 masters,
    // and so do Qwen's own scripts, which run full fine-tuning through it.
    let deepspeed = words.any(&["deepspeed", "qwenlm/qwen:"]) || sharding != Sharding::None;
    if stack == Stack::Transformers
        && method == TrainingMethod::FullFinetune
        && !mixed
        && !adapter
        && (!deepspeed || words.any(&["adamw in bf16", "pure bf16"]))
    {
        return TrainingPrecision::PureBf16;
    }
    // A card without BF16 is trained in FP16.
    if card.peak_tflops.bf16.is_none() && card.peak_tflops.fp16.is_some() {
        return TrainingPrecision::Fp16;
    }
    TrainingPrecision::Bf16
}

fn optimizer(row: &TrainingRow, words: &Words) -> Optimizer {
    let text = row.optimizer.to_lowercase();
    if text.contains("paged") {
        Optimizer::PagedAdamw8bit
    } else if text.contains("8bit") || text.contains("8-bit") {
        Optimizer::Adamw8bit
    } else if text.contains("adafactor") {
        Optimizer::Adafactor
    } else if text.contains("lion") {
        Optimizer::Lion
    } else if words.noted(&["bf16 adam moments"]) {
        // Two moments in 16 bit take what Lion's one in FP32 takes.
        Optimizer::Lion
    } else if text.contains("muon") || words.any(&["dist_muon", "muon:"]) {
        Optimizer::Muon
    } else if text.contains("momentum") {
        Optimizer::SgdMomentum
    } else if text.contains("sgd") {
        Optimizer::Sgd
    } else {
        Optimizer::Adamw
    }
}

/// Rank of adapters: as noted, else the software's default.
fn lora_rank(words: &Words, stack: Stack) -> u32 {
    const PEFT_DEFAULT: u32 = 8;
    const LITGPT_CONFIGS: u32 = 32;
    words
        .number_after("lora r")
        .or_else(|| words.number_after("r="))
        .or_else(|| words.number_after("rank"))
        .filter(|r| (1..=4096).contains(r))
        .unwrap_or(if stack == Stack::Litgpt && !words.noted(&["peft kind"]) {
            LITGPT_CONFIGS
        } else {
            PEFT_DEFAULT
        })
}

fn seq_len(row: &TrainingRow, stack: Stack, method: TrainingMethod) -> u32 {
    row.seq_len
        .filter(|s| *s > 0)
        .unwrap_or(match (stack, method) {
            (_, TrainingMethod::Lora | TrainingMethod::Qlora) => 2048,
            (Stack::Megatron, _) => 4096,
            _ => 2048,
        })
}

/// Network of a node, one way, GB/s: as noted, else what such cards usually come with.
fn network(words: &Words, card: &Card, cards_per_node: u32) -> f64 {
    if let Some(gbit) = words.network_gbit().filter(|g| *g > 0.0) {
        return gbit / 8.0;
    }
    let each = match (card.market, card.release_year) {
        // One 400 Gb/s port a card from 2022 on, one of 200 Gb/s before.
        (Market::Datacenter, 2022..) => 50.0,
        (Market::Datacenter, 2020..) => 25.0,
        (Market::Datacenter, _) => 12.5,
        _ => 3.0,
    };
    each * f64::from(cards_per_node)
}

/// Whether the row says nothing of how the model is split.
fn layout_is_open(row: &TrainingRow) -> bool {
    row.tp.is_none()
        && row.pp.is_none()
        && !matches!(row.sharding.as_str(), "zero2" | "zero3" | "hsdp")
}

/// The least split by tensor and pipeline that fits with full recomputation, as Megatron's
/// recipes are laid out.
fn least_split(setup: &Setup, model: &Model, card: &Card, cards: u32) -> TrainingPlan {
    let mut last = setup.plan;
    let cards = cards.max(setup.plan.cards);
    for pipeline in [1, 2, 4, 8, 16] {
        for tensor in [1, 2, 4, 8] {
            if tensor * pipeline > cards
                || tensor > setup.cards_per_node
                || pipeline > model.transformer.layers
                || (pipeline > 1 && tensor < 8.min(setup.cards_per_node))
            {
                continue;
            }
            let copies = (cards / (tensor * pipeline)).max(1);
            let plan = TrainingPlan {
                cards: copies * tensor * pipeline,
                data_parallel: copies,
                tensor_parallel: tensor,
                pipeline_parallel: pipeline,
                context_parallel: 1,
                recompute: Recompute::Full,
                ..setup.plan
            };
            last = plan;
            if fits(setup, &plan, model, card) {
                return plan;
            }
        }
    }
    last
}

/// Recomputation as stated; where unsaid, the least that fits.
fn recompute(
    row: &TrainingRow,
    words: &Words,
    setup: &Setup,
    model: &Model,
    card: &Card,
) -> Recompute {
    match row.act_ckpt.as_str() {
        "none" => return Recompute::None,
        "selective" => return Recompute::Selective,
        "full" => return Recompute::Full,
        _ => {}
    }
    // Colossal-AI's benchmark counts the repeated pass of its gradient checkpointing, and LitGPT
    // checkpoints blocks when it shards.
    // NeMo's performance recipes fit by splitting rather than by computing again.
    if words.any(&["nemo", "megatron-bridge"])
        && words.any(&["performance", "perf table", "megatron-bridge"])
        && !words.any(&["automodel"])
    {
        return Recompute::None;
    }
    let sharded_litgpt =
        setup.habits.stack == Some(Stack::Litgpt) && setup.plan.sharding != Sharding::None;
    if words.any(&["colossal", "gradient checkpointing on"]) || sharded_litgpt {
        return Recompute::Full;
    }
    if row.card.is_empty() {
        return Recompute::Full;
    }
    for recompute in [Recompute::None, Recompute::Selective] {
        let plan = TrainingPlan {
            recompute,
            ..setup.plan
        };
        if fits(setup, &plan, model, card) {
            return recompute;
        }
    }
    Recompute::Full
}

/// Whether a layout's middle estimate fits the card, by the constants before any fit, so that
/// how a row is read does not change with the fit.
fn fits(setup: &Setup, plan: &TrainingPlan, model: &Model, card: &Card) -> bool {
    /// A run that was published did fit, so near the limit it is taken to have.
    const BENEFIT_OF_DOUBT: f64 = 0.9;
    let job = TrainingJob {
        model,
        method: setup.method,
        base_weights: setup.base_weights,
        seq_len: setup.seq_len,
        precision: setup.precision,
        optimizer: setup.optimizer,
        lora_rank: setup.lora_rank,
        flash_attention: setup.flash_attention,
        habits: setup.habits,
    };
    let node = Node {
        card,
        cards_per_node: setup.cards_per_node,
        network_gb_s: setup.network_gb_s,
    };
    let needed = memory_with(&job, plan, &node, TrainingConstants::unfitted()).needed_bytes;
    needed.mid * BENEFIT_OF_DOUBT <= card.usable_memory_bytes() as f64
}
