//! Laws that hold for every service and layout, beside those of memory and speed alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cardfit::catalog::{Card, Catalog, Model, Node};
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::estimate::serving::{ServingJob, memory, speed};
use cardfit::plan::ServingPlan;
use cardfit::scenario::{Choice, Engine, Habits};
use proptest::prelude::*;
use proptest::sample::select;

const SLACK: f64 = 1.0 + 1e-9;

#[derive(Debug, Clone)]
struct Case {
    card: &'static Card,
    model: &'static Model,
    engine: Engine,
    weights: WeightFormat,
    kv: KvFormat,
    prompt: u32,
    output: u32,
    plan: ServingPlan,
    habits: Habits,
}

fn any_case() -> impl Strategy<Value = Case> {
    let catalog = Catalog::embedded();
    let kv = vec![KvFormat::Bits16, KvFormat::Bits8, KvFormat::Bits4];
    let habits = (
        0_u32..20_000,
        0.0_f64..100.0,
        0_u32..9,
        0.0_f64..100.0,
        any::<bool>(),
    );
    (
        (
            select(catalog.cards.iter().collect::<Vec<_>>()),
            select(catalog.models.iter().collect::<Vec<_>>()),
        ),
        (select(Engine::ALL), select(WeightFormat::ALL), select(kv)),
        (0_u32..200_000, 1_u32..50_000, 1_u32..5000),
        (0_u32..5, 0_u32..4, 0_u32..3),
        habits,
    )
        .prop_map(
            |((card, model), (engine, weights, kv), (prompt, output, batch), ways, habits)| {
                let (tensor, stages, replicas) =
                    (2_u32.pow(ways.0), 2_u32.pow(ways.1), 2_u32.pow(ways.2));
                Case {
                    card,
                    model,
                    engine,
                    weights,
                    kv,
                    prompt,
                    output,
                    plan: ServingPlan {
                        cards: tensor * stages * replicas,
                        replicas,
                        tensor_parallel: tensor,
                        pipeline_parallel: stages,
                        batch,
                    },
                    habits: Habits {
                        thinking_tokens: habits.0,
                        prefix_hit_percent: habits.1,
                        guesses: habits.2,
                        accept_percent: habits.3,
                        draft_params: None,
                        offline: habits.4,
                    },
                }
            },
        )
}

impl Case {
    fn job<'a>(&self, model: &'a Model) -> ServingJob<'a> {
        ServingJob {
            model,
            weights: self.weights,
            kv: self.kv,
            engine: self.engine,
            prompt_tokens: self.prompt,
            output_tokens: self.output,
            habits: self.habits,
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_figure_of_every_layout_is_finite_and_in_order(case in any_case()) {
        let job = case.job(case.model);
        let s = speed(&job, &case.plan, &node(case.card));
        let m = memory(&job, &case.plan, &node(case.card));
        for range in [s.ttft_s, s.tpot_s, s.tokens_per_s_user, s.tokens_per_s_total, s.prefill_tokens_per_s, s.requests_per_s, m.needed_bytes] {
            prop_assert!(range.low > 0.0 && range.high.is_finite(), "{range:?}");
            prop_assert!(range.low <= range.mid && range.mid <= range.high, "{range:?}");
        }
    }

    #[test]
    fn more_blocks_never_need_less_memory(case in any_case()) {
        // With blocks of several kinds one more of the smallest makes the mean block smaller.
        let shape = &case.model.transformer;
        prop_assume!(shape.attention.len() == 1);
        prop_assume!(shape.experts.as_ref().is_none_or(|e| e.layers == shape.layers));
        let plan = ServingPlan { pipeline_parallel: 1, cards: case.plan.cards / case.plan.pipeline_parallel, ..case.plan };
        let mut deeper = case.model.clone();
        deeper.transformer.layers += 1;
        for group in &mut deeper.transformer.attention {
            group.layers += 1;
        }
        if let Some(experts) = &mut deeper.transformer.experts {
            experts.layers += 1;
        }
        deeper.params_total += deeper.transformer.params() - shape.params();
        let before = memory(&case.job(case.model), &plan, &node(case.card)).needed_bytes.mid;
        let after = memory(&case.job(&deeper), &plan, &node(case.card)).needed_bytes.mid;
        prop_assert!(after * SLACK >= before, "{before} then {after}");
    }

    #[test]
    fn more_requests_longer_texts_and_wider_formats_never_need_less(case in any_case()) {
        let job = case.job(case.model);
        let needed = |job: &ServingJob<'_>, plan: &ServingPlan| memory(job, plan, &node(case.card)).needed_bytes;
        let before = needed(&job, &case.plan);
        let more = ServingPlan { batch: case.plan.batch + 1, ..case.plan };
        let changes = [
            ("batch", needed(&job, &more)),
            ("prompt", needed(&ServingJob { prompt_tokens: job.prompt_tokens + 512, ..job }, &case.plan)),
            ("answer", needed(&ServingJob { output_tokens: job.output_tokens + 512, ..job }, &case.plan)),
            ("cache", needed(&ServingJob { kv: KvFormat::Bits16, ..job }, &case.plan)),
            ("weights", needed(&ServingJob { weights: WeightFormat::Fp32, ..job }, &case.plan)),
        ];
        for (what, after) in changes {
            prop_assert!(after.mid * SLACK + 16.0 >= before.mid, "{what}: {before:?} then {after:?}");
        }
    }

    #[test]
    fn a_better_card_is_never_slower_in_any_layout(case in any_case(), factor in 1.0_f64..3.0) {
        let job = case.job(case.model);
        let before = speed(&job, &case.plan, &node(case.card));
        let mut wider = case.card.clone();
        wider.bandwidth_gb_s *= factor;
        let mut linked = case.card.clone();
        linked.link.bidirectional_gb_s = linked.link.bidirectional_gb_s.map(|b| b * factor);
        let mut faster = case.card.clone();
        let peaks = &mut faster.peak_tflops;
        for rate in [&mut peaks.fp32, &mut peaks.fp16_vector, &mut peaks.fp16, &mut peaks.fp16_acc16, &mut peaks.bf16, &mut peaks.fp8, &mut peaks.int8, &mut peaks.fp4] {
            *rate = rate.map(|r| r * factor);
        }
        for (what, better) in [("bandwidth", wider), ("link", linked), ("compute", faster)] {
            let after = speed(&job, &case.plan, &node(&better));
            prop_assert!(after.tokens_per_s_total.mid * SLACK >= before.tokens_per_s_total.mid, "{what}: {:?} then {:?}", before.tokens_per_s_total, after.tokens_per_s_total);
            prop_assert!(after.tpot_s.mid <= before.tpot_s.mid * SLACK, "{what}: {:?} then {:?}", before.tpot_s, after.tpot_s);
            prop_assert!(after.ttft_s.mid <= before.ttft_s.mid * SLACK, "{what}: {:?} then {:?}", before.ttft_s, after.ttft_s);
        }
        let network = Node { network_gb_s: 100.0 * factor, ..node(case.card) };
        let after = speed(&job, &case.plan, &network);
        prop_assert!(after.tokens_per_s_total.mid * SLACK >= before.tokens_per_s_total.mid);
    }
}
