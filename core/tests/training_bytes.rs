//! What lasts through a training step, to the byte, against values derived by hand.
//!
//! Llama 2 7B by its configuration: 32 blocks of width 4096, feed-forward 11008 (gated), 32
//! heads, 32000 tokens, untied tables.
//!
//! ```text
//! attention     32 x 4 x 4096 x 4096           = 2 147 483 648
//! feed-forward  32 x 3 x 4096 x 11008          = 4 328 521 728
//! blocks                                         6 476 005 376
//! tables         2 x 32000 x 4096              =   262 144 000
//! norms         65 x 4096                      =       266 240
//! all                                            6 738 415 616
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use cardfit::catalog::{Catalog, Model, Node};
use cardfit::dtype::WeightFormat;
use cardfit::estimate::training::{
    AdapterTargets, Habits, Lasting, Stack, TrainingConstants, TrainingJob, card_bytes,
};
use cardfit::plan::{Offload, Recompute, Sharding, TrainingPlan};
use cardfit::scenario::{Optimizer, TrainingMethod, TrainingPrecision};

const BLOCKS: u64 = 6_476_005_376;
const TABLES: u64 = 262_144_000;
const NORMS: u64 = 266_240;
const ALL: u64 = BLOCKS + TABLES + NORMS;

fn model() -> &'static Model {
    Catalog::embedded().model("llama-2-7b").expect("model")
}

fn job(method: TrainingMethod, stack: Stack, precision: TrainingPrecision) -> TrainingJob<'static> {
    TrainingJob {
        model: model(),
        method,
        base_weights: match method {
            TrainingMethod::Qlora => WeightFormat::Nf4,
            _ => WeightFormat::Bf16,
        },
        seq_len: 2048,
        precision,
        optimizer: Optimizer::Adamw,
        lora_rank: 8,
        flash_attention: true,
        habits: Habits {
            stack: Some(stack),
            ..Habits::default()
        },
    }
}

fn plan(data: u32, tensor: u32, pipeline: u32, sharding: Sharding) -> TrainingPlan {
    TrainingPlan {
        cards: data * tensor * pipeline,
        data_parallel: data,
        tensor_parallel: tensor,
        pipeline_parallel: pipeline,
        expert_parallel: 1,
        context_parallel: 1,
        sharding,
        micro_batch: 1,
        grad_accum: 8,
        recompute: Recompute::Full,
        offload: Offload::None,
    }
}

fn lasting(job: &TrainingJob<'_>, plan: &TrainingPlan) -> Lasting {
    let card = Catalog::embedded().card("a100-sxm4-80gb").expect("card");
    let node = Node {
        card,
        cards_per_node: 8,
        network_gb_s: 200.0,
    };
    card_bytes(job, plan, &node, TrainingConstants::unfitted()).lasting
}

fn pretrain() -> TrainingJob<'static> {
    job(
        TrainingMethod::Pretrain,
        Stack::Megatron,
        TrainingPrecision::Bf16,
    )
}

#[test]
fn the_catalog_counts_what_the_derivation_counts() {
    assert_eq!(model().params_total, ALL);
    assert_eq!(model().transformer.params(), ALL);
}

#[test]
fn one_card_holds_18_bytes_a_parameter_with_fp32_gradients() {
    let l = lasting(&pretrain(), &plan(1, 1, 1, Sharding::None));
    assert_eq!(l.weights, 13_476_831_232);
    assert_eq!(l.gradients, 26_953_662_464);
    assert_eq!(l.master, 26_953_662_464);
    assert_eq!(l.states, 53_907_324_928);
    assert_eq!(l.weights + l.gradients + l.master + l.states, 18 * ALL);
}

#[test]
fn sharding_stages_split_one_part_after_the_other_over_8_ranks() {
    // 6 738 415 616 / 8 = 842 301 952 exactly.
    const EIGHTH: u64 = 842_301_952;
    let zero1 = lasting(&pretrain(), &plan(8, 1, 1, Sharding::Zero1));
    assert_eq!(zero1.weights, 2 * ALL);
    assert_eq!(zero1.gradients, 4 * ALL);
    assert_eq!(zero1.master, 4 * EIGHTH);
    assert_eq!(zero1.states, 8 * EIGHTH);
    let zero2 = lasting(&pretrain(), &plan(8, 1, 1, Sharding::Zero2));
    assert_eq!(zero2.gradients, 4 * EIGHTH);
    assert_eq!(zero2.weights, 2 * ALL);
    let zero3 = lasting(&pretrain(), &plan(8, 1, 1, Sharding::Zero3));
    assert_eq!(zero3.weights, 2 * EIGHTH);
    // FSDP shards the FP32 master itself: no second copy of the weights lasts.
    let fsdp = job(
        TrainingMethod::Pretrain,
        Stack::Fsdp,
        TrainingPrecision::Bf16,
    );
    let zero3 = lasting(&fsdp, &plan(8, 1, 1, Sharding::Zero3));
    assert_eq!(zero3.weights, 0);
    assert_eq!(zero3.master + zero3.gradients + zero3.states, 16 * EIGHTH);
}

#[test]
fn hybrid_sharding_splits_within_a_node_only() {
    let two_nodes = lasting(&pretrain(), &plan(16, 1, 1, Sharding::Hybrid));
    let one_node = lasting(&pretrain(), &plan(8, 1, 1, Sharding::Zero3));
    assert_eq!(two_nodes, one_node);
}

#[test]
fn tensor_parallel_halves_matrices_and_copies_norms() {
    let l = lasting(&pretrain(), &plan(1, 2, 1, Sharding::None));
    assert_eq!(l.weights, 2 * (BLOCKS / 2 + TABLES / 2 + NORMS));
}

#[test]
fn a_pipeline_deals_blocks_evenly_and_the_first_stage_keeps_the_embedding() {
    // 8 of 32 blocks, their norms (266 240 / 4 = 66 560), one table of 131 072 000.
    let l = lasting(&pretrain(), &plan(1, 1, 4, Sharding::None));
    assert_eq!(l.weights, 2 * (BLOCKS / 4 + 66_560 + 131_072_000));
    // 32 blocks over 5 stages: the fullest has 7. 266 240 x 7 / 32 = 58 240.
    let l = lasting(&pretrain(), &plan(1, 1, 5, Sharding::None));
    assert_eq!(l.weights, 2 * (BLOCKS / 32 * 7 + 58_240 + 131_072_000));
}

#[test]
fn optimizers_differ_in_their_states() {
    let of = |optimizer| {
        let job = TrainingJob {
            optimizer,
            ..pretrain()
        };
        lasting(&job, &plan(1, 1, 1, Sharding::None)).states
    };
    assert_eq!(of(Optimizer::Adamw), 8 * ALL);
    // A byte a moment, and an FP32 scale for each block of 256: 26 321 936 blocks.
    assert_eq!(of(Optimizer::Adamw8bit), 2 * (ALL + 4 * 26_321_936));
    assert_eq!(of(Optimizer::PagedAdamw8bit), 0);
    assert_eq!(of(Optimizer::Sgd), 0);
    assert_eq!(of(Optimizer::SgdMomentum), 4 * ALL);
    assert_eq!(of(Optimizer::Lion), 4 * ALL);
    // Momentum for matrices of blocks, two moments for tables and norms.
    assert_eq!(of(Optimizer::Muon), 4 * BLOCKS + 8 * (TABLES + NORMS));
    // Rows and columns of a block's matrices: 4 x (4096 + 4096) + 3 x (4096 + 11008) = 78 080.
    assert_eq!(of(Optimizer::Adafactor), 4 * (32 * 78_080 + TABLES + NORMS));
}

#[test]
fn pure_bf16_takes_8_bytes_a_parameter() {
    let job = job(
        TrainingMethod::FullFinetune,
        Stack::Transformers,
        TrainingPrecision::PureBf16,
    );
    let l = lasting(&job, &plan(1, 1, 1, Sharding::None));
    assert_eq!(l.weights + l.gradients + l.master + l.states, 8 * ALL);
}

#[test]
fn offload_leaves_neither_states_nor_masters_on_the_card() {
    let mut plan = plan(1, 1, 1, Sharding::None);
    plan.offload = Offload::Optimizer;
    let l = lasting(&pretrain(), &plan);
    assert_eq!((l.master, l.states), (0, 0));
    assert_eq!(l.weights, 2 * ALL);
    plan.offload = Offload::All;
    assert_eq!(lasting(&pretrain(), &plan).weights, 0);
}

#[test]
fn adapters_on_all_linear_layers_of_rank_8_are_19_988_480_parameters() {
    // 32 blocks x 8 x (4 x 8192 + 3 x 15104) = 19 988 480, as PEFT prints it; FP32 with gradient
    // and two moments: 16 bytes each.
    let lora = job(
        TrainingMethod::Lora,
        Stack::Transformers,
        TrainingPrecision::Bf16,
    );
    let l = lasting(&lora, &plan(1, 1, 1, Sharding::None));
    assert_eq!(l.weights, 2 * ALL);
    assert_eq!(l.adapters, 16 * 19_988_480);
    assert_eq!((l.gradients, l.master, l.states), (0, 0, 0));
}

#[test]
fn adapters_on_queries_and_values_are_4_194_304_parameters() {
    // 32 x 8 x 2 x (4096 + 4096), as LitGPT prints it; BF16 throughout: 8 bytes each.
    let mut lora = job(
        TrainingMethod::Lora,
        Stack::Litgpt,
        TrainingPrecision::PureBf16,
    );
    lora.habits.adapter_targets = AdapterTargets::QueryValue;
    let l = lasting(&lora, &plan(1, 1, 1, Sharding::None));
    assert_eq!(l.adapters, 8 * 4_194_304);
}

#[test]
fn nf4_takes_half_a_byte_and_two_levels_of_scales() {
    // Half a byte: 3 238 002 688. A byte for each of 101 187 584 blocks of 64. An FP32 for each
    // of 395 264 groups of 256 blocks: 1 581 056. PEFT raises tables and norms to FP32.
    let qlora = job(
        TrainingMethod::Qlora,
        Stack::Transformers,
        TrainingPrecision::Bf16,
    );
    let l = lasting(&qlora, &plan(1, 1, 1, Sharding::None));
    let blocks = 3_238_002_688 + 101_187_584 + 1_581_056;
    assert_eq!(l.weights, blocks + 4 * (TABLES + NORMS));
    // 4.127 bits a weight (Dettmers et al. 2023).
    assert!((8.0 * blocks as f64 / BLOCKS as f64 - 4.127).abs() < 5e-4);
}

#[test]
fn experts_are_split_over_their_own_ranks() {
    // Mixtral 8x7B: 32 blocks x 8 experts x 3 x 4096 x 14336 = 45 097 156 608 in experts,
    // 1 605 636 096 elsewhere. Expert parallelism of 8 leaves each rank one expert a block;
    // nothing of it is left to shard over 8 ranks.
    let model = Catalog::embedded().model("mixtral-8x7b").expect("model");
    let job = TrainingJob {
        model,
        ..pretrain()
    };
    let mut plan = plan(8, 1, 1, Sharding::Zero1);
    plan.expert_parallel = 8;
    let l = lasting(&job, &plan);
    let experts = 45_097_156_608 / 8;
    let dense = 46_702_792_704 - 45_097_156_608;
    assert_eq!(l.weights, 2 * (experts + dense));
    assert_eq!(l.states, 8 * (experts + u64::div_ceil(dense, 8)));
}
