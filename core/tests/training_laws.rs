//! Laws that hold for every training job and layout.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use cardfit::catalog::{Card, Catalog, Model, Node};
use cardfit::dtype::WeightFormat;
use cardfit::estimate::training::{Habits, Stack, TrainingConstants, TrainingJob, memory, speed};
use cardfit::plan::{Offload, Recompute, Sharding, TrainingPlan};
use cardfit::scenario::{Optimizer, TrainingMethod, TrainingPrecision};
use proptest::prelude::*;

#[derive(Debug, Clone)]
struct Case {
    card: usize,
    model: usize,
    method: TrainingMethod,
    precision: TrainingPrecision,
    optimizer: Optimizer,
    stack: Stack,
    seq_len: u32,
    plan: TrainingPlan,
    flash: bool,
}

fn any_case() -> impl Strategy<Value = Case> {
    let catalog = Catalog::embedded();
    let layout = (
        0u32..5,
        0u32..4,
        0u32..4,
        prop::sample::select(vec![
            Sharding::None,
            Sharding::Zero1,
            Sharding::Zero2,
            Sharding::Zero3,
            Sharding::Hybrid,
        ]),
        1u32..33,
        1u32..65,
        prop::sample::select(vec![Recompute::None, Recompute::Selective, Recompute::Full]),
        prop::sample::select(vec![Offload::None, Offload::Optimizer, Offload::All]),
    );
    (
        0..catalog.cards.len(),
        0..catalog.models.len(),
        prop::sample::select(vec![
            TrainingMethod::Pretrain,
            TrainingMethod::FullFinetune,
            TrainingMethod::Lora,
            TrainingMethod::Qlora,
        ]),
        prop::sample::select(vec![
            TrainingPrecision::Fp32,
            TrainingPrecision::Fp16,
            TrainingPrecision::Bf16,
            TrainingPrecision::PureBf16,
            TrainingPrecision::Fp8,
        ]),
        prop::sample::select(vec![
            Optimizer::Adamw,
            Optimizer::Adamw8bit,
            Optimizer::PagedAdamw8bit,
            Optimizer::Adafactor,
            Optimizer::Sgd,
            Optimizer::SgdMomentum,
            Optimizer::Muon,
            Optimizer::Lion,
        ]),
        prop::sample::select(Stack::ALL.to_vec()),
        prop::sample::select(vec![1u32, 128, 2048, 8192, 131_072, 1_000_000]),
        layout,
        any::<bool>(),
    )
        .prop_map(
            |(card, model, method, precision, optimizer, stack, seq_len, layout, flash)| {
                let (data, tensor, pipeline, sharding, micro_batch, grad_accum, recompute, offload) =
                    layout;
                let (data, tensor, pipeline) = (4u32.pow(data), 2u32.pow(tensor), 2u32.pow(pipeline));
                Case {
                    card,
                    model,
                    method,
                    precision,
                    optimizer,
                    stack,
                    seq_len,
                    flash,
                    plan: TrainingPlan {
                        cards: data * tensor * pipeline,
                        data_parallel: data,
                        tensor_parallel: tensor,
                        pipeline_parallel: pipeline,
                        expert_parallel: 1,
                        context_parallel: 1,
                        sharding,
                        micro_batch,
                        grad_accum,
                        recompute,
                        offload,
                    },
                }
            },
        )
}

impl Case {
    fn card(&self) -> Card {
        Catalog::embedded().cards[self.card].clone()
    }

    fn model(&self) -> Model {
        Catalog::embedded().models[self.model].clone()
    }

    fn job<'a>(&self, model: &'a Model) -> TrainingJob<'a> {
        TrainingJob {
            model,
            method: self.method,
            base_weights: match self.method {
                TrainingMethod::Qlora => WeightFormat::Nf4,
                _ => WeightFormat::Bf16,
            },
            seq_len: self.seq_len,
            precision: self.precision,
            optimizer: self.optimizer,
            lora_rank: 16,
            flash_attention: self.flash,
            habits: Habits {
                stack: Some(self.stack),
                ..Habits::default()
            },
        }
    }
}

fn node(card: &Card) -> Node<'_> {
    Node {
        card,
        cards_per_node: 8,
        network_gb_s: 100.0,
    }
}

/// A little slack for sums in another order.
const SLACK: f64 = 1.0 + 1e-9;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_figure_is_finite_and_ranges_are_in_order(case in any_case()) {
        let (card, model) = (case.card(), case.model());
        let (job, node) = (case.job(&model), node(&card));
        let m = memory(&job, &case.plan, &node);
        prop_assert!(m.needed_bytes.high.is_finite());
        prop_assert!(0.0 < m.needed_bytes.low);
        prop_assert!(m.needed_bytes.low <= m.needed_bytes.mid);
        prop_assert!(m.needed_bytes.mid <= m.needed_bytes.high);
        let s = speed(&job, &case.plan, &node);
        for range in [s.step_s, s.tokens_per_s] {
            prop_assert!(range.high.is_finite() && range.low > 0.0);
            prop_assert!(range.low <= range.mid && range.mid <= range.high);
        }
        prop_assert!(s.mfu.is_finite() && s.mfu > 0.0);
        let parts = s.parts;
        for part in [parts.compute_s, parts.memory_s, parts.communication_s, parts.bubble_s, parts.overhead_s] {
            prop_assert!(part.is_finite() && part >= 0.0);
        }
        let sum = parts.compute_s + parts.memory_s + parts.communication_s + parts.bubble_s + parts.overhead_s;
        prop_assert!((sum / s.step_s.mid - 1.0).abs() < 1e-9);
    }

    #[test]
    fn parts_add_up_to_the_middle(case in any_case()) {
        let (card, model) = (case.card(), case.model());
        let m = memory(&case.job(&model), &case.plan, &node(&card));
        let sum: f64 = m.parts.iter().map(|(_, bytes)| *bytes as f64).sum();
        prop_assert!((sum / m.needed_bytes.mid - 1.0).abs() < 1e-9);
    }

    #[test]
    fn more_tokens_never_need_less_memory(case in any_case()) {
        let (card, model) = (case.card(), case.model());
        let (job, node) = (case.job(&model), node(&card));
        let before = memory(&job, &case.plan, &node).needed_bytes.mid;
        let longer = TrainingJob { seq_len: job.seq_len + 1000, ..job };
        prop_assert!(memory(&longer, &case.plan, &node).needed_bytes.mid * SLACK >= before);
        let mut wider = case.plan;
        wider.micro_batch += 1;
        prop_assert!(memory(&job, &wider, &node).needed_bytes.mid * SLACK >= before);
    }

    #[test]
    fn more_blocks_never_need_less_memory(case in any_case()) {
        let (card, model) = (case.card(), case.model());
        // With blocks of several kinds one more of the smallest makes the mean block smaller.
        let shape = &model.transformer;
        prop_assume!(shape.attention.len() == 1);
        prop_assume!(shape.experts.as_ref().is_none_or(|e| e.layers == shape.layers));
        let node = node(&card);
        let mut plan = case.plan;
        plan.pipeline_parallel = 1;
        let before = memory(&case.job(&model), &plan, &node).needed_bytes.mid;
        let mut deeper = model.clone();
        deeper.transformer.layers += 1;
        if let Some(group) = deeper.transformer.attention.first_mut() {
            group.layers += 1;
        }
        if let Some(experts) = &mut deeper.transformer.experts {
            experts.layers += 1;
        }
        deeper.params_total += deeper.transformer.params() - model.transformer.params();
        let after = memory(&case.job(&deeper), &plan, &node).needed_bytes.mid;
        prop_assert!(after * SLACK >= before, "{before} then {after}");
    }

    #[test]
    fn wider_formats_never_need_less_memory(case in any_case()) {
        let (card, model) = (case.card(), case.model());
        let node = node(&card);
        let needed = |precision| {
            let job = TrainingJob {
                precision,
                method: TrainingMethod::FullFinetune,
                ..case.job(&model)
            };
            memory(&job, &case.plan, &node).needed_bytes.mid
        };
        let pure = needed(TrainingPrecision::PureBf16);
        let mixed = needed(TrainingPrecision::Bf16);
        prop_assert!(mixed * SLACK >= pure);
        if case.plan.sharding == Sharding::None {
            prop_assert!(needed(TrainingPrecision::Fp8) * SLACK >= mixed);
        }
    }

    #[test]
    fn a_better_card_is_never_slower(case in any_case(), factor in 1.0f64..3.0) {
        let (card, model) = (case.card(), case.model());
        let job = case.job(&model);
        let before = speed(&job, &case.plan, &node(&card)).tokens_per_s.mid;
        let mut faster = card.clone();
        faster.bandwidth_gb_s *= factor;
        prop_assert!(speed(&job, &case.plan, &node(&faster)).tokens_per_s.mid * SLACK >= before);
        let mut faster = card.clone();
        faster.link.bidirectional_gb_s = faster.link.bidirectional_gb_s.map(|b| b * factor);
        prop_assert!(speed(&job, &case.plan, &node(&faster)).tokens_per_s.mid * SLACK >= before);
        let mut faster = card.clone();
        let peak = &mut faster.peak_tflops;
        for rate in [&mut peak.fp32, &mut peak.tf32, &mut peak.fp16, &mut peak.bf16, &mut peak.fp8] {
            *rate = rate.map(|r| r * factor);
        }
        let after = speed(&job, &case.plan, &node(&faster)).tokens_per_s.mid;
        prop_assert!(after * SLACK >= before, "{before} then {after}");
        let mut wide = node(&card);
        wide.network_gb_s *= factor;
        prop_assert!(speed(&job, &case.plan, &wide).tokens_per_s.mid * SLACK >= before);
    }
}

#[test]
fn absurd_but_valid_jobs_have_figures() {
    let catalog = Catalog::embedded();
    let card = catalog.card("t4").expect("card");
    let mut model = catalog.model("llama-2-7b").expect("model").clone();
    model.transformer.layers = 1;
    if let Some(group) = model.transformer.attention.first_mut() {
        group.layers = 1;
    }
    let job = TrainingJob {
        model: &model,
        method: TrainingMethod::Pretrain,
        base_weights: WeightFormat::Bf16,
        seq_len: 1_000_000,
        precision: TrainingPrecision::Fp8,
        optimizer: Optimizer::Adamw,
        lora_rank: 1,
        flash_attention: false,
        habits: Habits::default(),
    };
    let plan = TrainingPlan {
        cards: 16_384,
        data_parallel: 16_384,
        tensor_parallel: 1,
        pipeline_parallel: 1,
        expert_parallel: 1,
        context_parallel: 1,
        sharding: Sharding::Zero3,
        micro_batch: 1,
        grad_accum: 1,
        recompute: Recompute::None,
        offload: Offload::None,
    };
    let m = memory(&job, &plan, &node(card));
    assert!(m.needed_bytes.low > card.usable_memory_bytes() as f64);
    assert!(speed(&job, &plan, &node(card)).tokens_per_s.low > 0.0);
}

#[test]
fn experts_that_every_token_passes_take_their_time() {
    let catalog = Catalog::embedded();
    let card = catalog.card("h200-sxm-141gb").expect("card");
    let scout = catalog.model("llama-4-scout").expect("model");
    let tokens_per_s = |family: &str| {
        let mut model = scout.clone();
        family.clone_into(&mut model.family);
        let job = TrainingJob {
            model: &model,
            method: TrainingMethod::Qlora,
            base_weights: WeightFormat::Nf4,
            seq_len: 4096,
            precision: TrainingPrecision::Bf16,
            optimizer: Optimizer::Adamw,
            lora_rank: 16,
            flash_attention: true,
            habits: Habits {
                stack: Some(Stack::Transformers),
                ..Habits::default()
            },
        };
        let plan = TrainingPlan {
            cards: 1,
            data_parallel: 1,
            tensor_parallel: 1,
            pipeline_parallel: 1,
            expert_parallel: 1,
            context_parallel: 1,
            sharding: Sharding::None,
            micro_batch: 4,
            grad_accum: 1,
            recompute: Recompute::Full,
            offload: Offload::None,
        };
        speed(&job, &plan, &node(card)).tokens_per_s.mid
    };
    // Transformers' Llama 4 sends each token through all 16 experts: 97 B + 10 B parameters at work for it
    // in place of 17 B, so that a long micro-batch takes several times as long.
    let ratio = tokens_per_s("routed elsewhere") / tokens_per_s("Llama 4");
    assert!((2.0..7.0).contains(&ratio), "{ratio}");
}

/// Tokens a second of QLoRA on Llama 3.1 8B, two A100, with `habits` over base weights of `format`.
fn qlora(format: WeightFormat, seq_len: u32, habits: Habits) -> f64 {
    let catalog = Catalog::embedded();
    let card = catalog.card("a100-sxm4-80gb").expect("card");
    let model = catalog.model("llama-3.1-8b").expect("model");
    let job = TrainingJob {
        model,
        method: TrainingMethod::Qlora,
        base_weights: format,
        seq_len,
        precision: TrainingPrecision::Bf16,
        optimizer: Optimizer::Adamw,
        lora_rank: 16,
        flash_attention: true,
        habits: Habits {
            stack: Some(Stack::Transformers),
            ..habits
        },
    };
    let plan = TrainingPlan {
        cards: 2,
        data_parallel: 2,
        tensor_parallel: 1,
        pipeline_parallel: 1,
        expert_parallel: 1,
        context_parallel: 1,
        sharding: Sharding::Zero3,
        micro_batch: 1,
        grad_accum: 1,
        recompute: Recompute::Full,
        offload: Offload::None,
    };
    speed(&job, &plan, &node(card)).tokens_per_s.mid
}

#[test]
fn adapters_that_are_gathered_one_by_one_cost_the_same_time_whatever_the_length() {
    let lost = |seq_len: u32| {
        let tokens = 2.0 * f64::from(seq_len);
        let step = |wraps_adapters| {
            let habits = Habits {
                wraps_adapters,
                ..Habits::default()
            };
            tokens / qlora(WeightFormat::Nf4, seq_len, habits)
        };
        step(true) - step(false)
    };
    // 32 blocks x 7 adapters x 4 passes of a wait each.
    let wait = TrainingConstants::embedded().speed.wrapped_adapter_s;
    for seq_len in [2048, 8192] {
        let is = lost(seq_len) / (32.0 * 7.0 * 4.0 * wait);
        assert!((is - 1.0).abs() < 1e-6, "{seq_len}: {is}");
    }
}

#[test]
fn packed_samples_attend_to_themselves_alone() {
    let at = |seq_len, sample_len| {
        let habits = Habits {
            sample_len,
            ..Habits::default()
        };
        qlora(WeightFormat::Nf4, seq_len, habits)
    };
    assert!(at(16_384, Some(200)) > 1.1 * at(16_384, None));
    // A sample that fills the sequence is the sequence.
    assert!((at(16_384, Some(16_384)) / at(16_384, None) - 1.0).abs() < 1e-9);
}

#[test]
fn expanding_weights_operation_by_operation_weighs_on_short_sequences() {
    let at = |seq_len, expands_at_once| {
        let habits = Habits {
            expands_at_once,
            ..Habits::default()
        };
        qlora(WeightFormat::Gptq4, seq_len, habits)
    };
    let gain = |seq_len| at(seq_len, true) / at(seq_len, false);
    assert!(
        gain(512) > 1.2 && gain(16_384) < 1.1,
        "{} {}",
        gain(512),
        gain(16_384)
    );
}

#[test]
fn the_shipped_constants_are_readable_and_have_ranges() {
    let text = include_str!("../data/calibration/training.json");
    let read: TrainingConstants = serde_json::from_str(text).expect("constants");
    assert_eq!(&read, TrainingConstants::embedded());
    for spread in [&read.memory_spread, &read.speed_spread, &read.run_spread] {
        assert!(spread.groups().next().is_some());
        for group in spread.groups() {
            assert!(0.0 < group.low && group.low <= 1.0 && 1.0 <= group.high);
            assert!(group.high.is_finite() && group.typical_error >= 0.0);
        }
    }
}
