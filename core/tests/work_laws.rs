//! Laws that hold for images, clips, networks, encoders, speech and science, whatever the layout.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cardfit::catalog::{Card, Catalog, FloatPrecision, Network, Node};
use cardfit::dtype::WeightFormat;
use cardfit::estimate::work::{WorkEstimate, WorkPlan, architecture_key};
use cardfit::plan::rented_node;
use cardfit::plan::search::{CopiesAlone, WorkTask};
use cardfit::scenario::{
    Computation, DiffusionMethod, DiffusionTraining, Generation, NetworkInference, NetworkTraining,
    Optimizer, PipelineOffload, Runtime, SpeechEngine, TrainingPrecision, Transcription,
};
use proptest::prelude::*;
use proptest::sample::select;

/// A little slack for sums in another order, and for parts rounded to whole bytes.
const SLACK: f64 = 1.0 + 1e-9;
/// Formats from narrow to wide.
const WIDER: [WeightFormat; 4] = [
    WeightFormat::Nf4,
    WeightFormat::Fp8,
    WeightFormat::Bf16,
    WeightFormat::Fp32,
];

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

fn side() -> impl Strategy<Value = u32> {
    (1_u32..65).prop_map(|n| n * 32)
}

fn runtime() -> impl Strategy<Value = Runtime> {
    select(vec![Runtime::Eager, Runtime::Compiled, Runtime::Tensorrt])
}

fn precision() -> impl Strategy<Value = TrainingPrecision> {
    select(vec![
        TrainingPrecision::Fp32,
        TrainingPrecision::Fp16,
        TrainingPrecision::Bf16,
        TrainingPrecision::PureBf16,
        TrainingPrecision::Fp8,
    ])
}

fn optimizer() -> impl Strategy<Value = Optimizer> {
    select(vec![
        Optimizer::Adamw,
        Optimizer::Adamw8bit,
        Optimizer::Adafactor,
        Optimizer::SgdMomentum,
        Optimizer::Lion,
    ])
}

fn generation() -> impl Strategy<Value = WorkTask<'static>> {
    let weights = select(WIDER.to_vec());
    (
        (
            select(catalog().diffusion.iter().collect::<Vec<_>>()),
            side(),
            side(),
        ),
        (1_u32..130, 1_u32..200, any::<bool>(), weights, runtime()),
    )
        .prop_map(
            |((model, width, height), (frames, steps, guidance, weights, runtime))| {
                WorkTask::Generate(
                    model,
                    Generation {
                        amount: 1000.0,
                        width,
                        height,
                        frames,
                        steps,
                        guidance,
                        batch: None,
                        weights,
                        offload: None,
                        tiling: None,
                        runtime,
                    },
                )
            },
        )
}

fn tuning() -> impl Strategy<Value = WorkTask<'static>> {
    (
        (
            select(catalog().diffusion.iter().collect::<Vec<_>>()),
            side(),
            side(),
            1_u32..130,
        ),
        (
            any::<bool>(),
            select(WIDER.to_vec()),
            precision(),
            optimizer(),
        ),
        (1_u32..257, any::<bool>(), 1_u32..65),
    )
        .prop_map(
            |((model, width, height, frames), (lora, weights, precision, optimizer), rest)| {
                WorkTask::TuneDiffusion(
                    model,
                    DiffusionTraining {
                        method: if lora {
                            DiffusionMethod::Lora
                        } else {
                            DiffusionMethod::Dreambooth
                        },
                        steps: 1000,
                        batch: rest.2,
                        width,
                        height,
                        frames,
                        weights,
                        precision,
                        optimizer,
                        lora_rank: rest.0,
                        recompute: None,
                        cached: rest.1,
                    },
                )
            },
        )
}

fn networks(speech: bool) -> Vec<&'static Network> {
    let all = catalog().networks.iter();
    all.filter(|n| n.id.starts_with("whisper") == speech)
        .collect()
}

fn network_training() -> impl Strategy<Value = WorkTask<'static>> {
    (
        select(networks(false)),
        8_u32..2000,
        precision(),
        optimizer(),
        runtime(),
        1_u32..512,
    )
        .prop_map(|(network, size, precision, optimizer, runtime, cores)| {
            WorkTask::TrainNetwork(
                network,
                NetworkTraining {
                    samples: 1e6,
                    epochs: 3.0,
                    size: Some(size),
                    batch: None,
                    precision,
                    optimizer,
                    lora_rank: None,
                    runtime,
                    cores,
                },
            )
        })
}

fn network_inference() -> impl Strategy<Value = WorkTask<'static>> {
    (
        select(networks(false)),
        8_u32..2000,
        select(WIDER.to_vec()),
        runtime(),
        1_u32..512,
    )
        .prop_map(|(network, size, weights, runtime, cores)| {
            WorkTask::RunNetwork(
                network,
                NetworkInference {
                    amount: 1e6,
                    size: Some(size),
                    batch: None,
                    weights,
                    fused_attention: true,
                    runtime,
                    cores,
                },
            )
        })
}

fn transcription() -> impl Strategy<Value = WorkTask<'static>> {
    let engines = select(vec![
        SpeechEngine::FasterWhisper,
        SpeechEngine::OpenaiWhisper,
    ]);
    (
        select(networks(true)),
        1_u32..21,
        select(WIDER[1..].to_vec()),
        engines,
    )
        .prop_map(|(network, beam, weights, engine)| {
            WorkTask::Transcribe(
                network,
                Transcription {
                    amount: 100.0,
                    batch: None,
                    beam,
                    weights,
                    engine,
                },
            )
        })
}

fn computation() -> impl Strategy<Value = WorkTask<'static>> {
    (
        select(catalog().workloads.iter().collect::<Vec<_>>()),
        1e9_f64..1e22,
        1e-3_f64..1e4,
        1e-3_f64..1e6,
        select(vec![FloatPrecision::Fp64, FloatPrecision::Fp32]),
    )
        .prop_map(
            |(workload, operations, flops_per_byte, working_set_gb, precision)| {
                WorkTask::Compute(
                    workload,
                    Computation {
                        operations,
                        flops_per_byte,
                        working_set_gb,
                        precision,
                    },
                )
            },
        )
}

fn task() -> impl Strategy<Value = WorkTask<'static>> {
    prop_oneof![
        generation(),
        tuning(),
        network_training(),
        network_inference(),
        transcription(),
        computation(),
    ]
}

/// Layouts as the search makes them: what only one kind of job knows is set for that kind alone.
fn plan() -> impl Strategy<Value = Plan> {
    let offload = select(vec![
        PipelineOffload::None,
        PipelineOffload::Model,
        PipelineOffload::Sequential,
    ]);
    (0_u32..5, 0_u32..4, 1_u32..129, offload, any::<[bool; 3]>())
}
type Plan = (u32, u32, u32, PipelineOffload, [bool; 3]);

fn layout(
    task: &WorkTask<'_>,
    (copies, share, batch, offload, [tiling, recompute, sharded]): Plan,
) -> WorkPlan {
    let copies = 2_u32.pow(copies);
    let share = 2_u32.pow(share);
    match task {
        WorkTask::Generate(..) => {
            let cards_per_copy = if offload == PipelineOffload::None {
                share
            } else {
                1
            };
            WorkPlan {
                cards: copies * cards_per_copy,
                copies,
                cards_per_copy,
                offload,
                tiling,
                sharded: cards_per_copy > 1,
                ..WorkPlan::copies(copies, batch)
            }
        }
        WorkTask::TuneDiffusion(_, job) => WorkPlan {
            recompute,
            sharded: sharded && copies > 1 && job.method == DiffusionMethod::Dreambooth,
            ..WorkPlan::copies(copies, batch)
        },
        WorkTask::Compute(..) => WorkPlan {
            copies: 1,
            cards_per_copy: copies,
            ..WorkPlan::copies(copies, 1)
        },
        _ => WorkPlan::copies(copies, batch),
    }
}

fn cards() -> impl Strategy<Value = &'static Card> {
    select(catalog().cards.iter().collect::<Vec<_>>())
}

fn node(card: &Card) -> Node<'_> {
    Node {
        card,
        cards_per_node: 8,
        network_gb_s: 100.0,
    }
}

/// The estimate, where the card can do such work.
fn estimate(task: &WorkTask<'_>, plan: &WorkPlan, node: &Node<'_>) -> Option<WorkEstimate> {
    task.can_run_on(node.card)
        .then(|| task.estimate(plan, node))
        .flatten()
}

fn needed(task: &WorkTask<'_>, plan: &WorkPlan, card: &Card) -> Option<f64> {
    estimate(task, plan, &node(card)).map(|e| e.memory.needed_bytes.mid)
}

fn units_per_s(task: &WorkTask<'_>, plan: &WorkPlan, node: &Node<'_>) -> Option<f64> {
    estimate(task, plan, node).map(|e| e.speed.units_per_s.mid)
}

/// The same job in ways that need more memory, each with a name.
fn larger(task: &WorkTask<'_>) -> Vec<(&'static str, WorkTask<'static>)>
where
{
    let mut all: Vec<(&'static str, WorkTask<'static>)> = Vec::new();
    let wider = |format: WeightFormat| {
        let at = WIDER.iter().position(|f| *f == format)?;
        WIDER.get(at + 1).copied()
    };
    match task {
        WorkTask::Generate(model, job) => {
            let model = catalog()
                .diffusion
                .iter()
                .find(|m| m.id == model.id)
                .unwrap();
            let mut push = |name, job: Generation| all.push((name, WorkTask::Generate(model, job)));
            push(
                "width",
                Generation {
                    width: job.width + 64,
                    ..job.clone()
                },
            );
            push(
                "height",
                Generation {
                    height: job.height + 64,
                    ..job.clone()
                },
            );
            push(
                "frames",
                Generation {
                    frames: job.frames + 8,
                    ..job.clone()
                },
            );
            if let Some(weights) = wider(job.weights) {
                push(
                    "weights",
                    Generation {
                        weights,
                        ..job.clone()
                    },
                );
            }
        }
        WorkTask::TuneDiffusion(model, job) => {
            let model = catalog()
                .diffusion
                .iter()
                .find(|m| m.id == model.id)
                .unwrap();
            let mut push = |name, job: DiffusionTraining| {
                all.push((name, WorkTask::TuneDiffusion(model, job)))
            };
            push(
                "width",
                DiffusionTraining {
                    width: job.width + 64,
                    ..job.clone()
                },
            );
            push(
                "frames",
                DiffusionTraining {
                    frames: job.frames + 8,
                    ..job.clone()
                },
            );
            push(
                "rank",
                DiffusionTraining {
                    lora_rank: job.lora_rank + 16,
                    ..job.clone()
                },
            );
            if let (Some(weights), DiffusionMethod::Lora) = (wider(job.weights), job.method) {
                push(
                    "weights",
                    DiffusionTraining {
                        weights,
                        ..job.clone()
                    },
                );
            }
        }
        WorkTask::TrainNetwork(network, job) => {
            let network = catalog()
                .networks
                .iter()
                .find(|n| n.id == network.id)
                .unwrap();
            let size = job.size.map(|size| size + 32);
            all.push((
                "size",
                WorkTask::TrainNetwork(
                    network,
                    NetworkTraining {
                        size,
                        ..job.clone()
                    },
                ),
            ));
        }
        WorkTask::RunNetwork(network, job) => {
            let network = catalog()
                .networks
                .iter()
                .find(|n| n.id == network.id)
                .unwrap();
            let size = job.size.map(|size| size + 32);
            all.push((
                "size",
                WorkTask::RunNetwork(
                    network,
                    NetworkInference {
                        size,
                        ..job.clone()
                    },
                ),
            ));
            if let Some(weights) = wider(job.weights) {
                let job = NetworkInference {
                    weights,
                    ..job.clone()
                };
                all.push(("weights", WorkTask::RunNetwork(network, job)));
            }
        }
        WorkTask::Transcribe(network, job) => {
            let network = catalog()
                .networks
                .iter()
                .find(|n| n.id == network.id)
                .unwrap();
            let beam = Transcription {
                beam: job.beam + 1,
                ..job.clone()
            };
            all.push(("beam", WorkTask::Transcribe(network, beam)));
            if let Some(weights) = wider(job.weights) {
                let job = Transcription {
                    weights,
                    ..job.clone()
                };
                all.push(("weights", WorkTask::Transcribe(network, job)));
            }
        }
        WorkTask::Compute(workload, job) => {
            let workload = catalog()
                .workloads
                .iter()
                .find(|w| w.id == workload.id)
                .unwrap();
            let job = Computation {
                working_set_gb: job.working_set_gb * 1.5,
                ..job.clone()
            };
            all.push(("working set", WorkTask::Compute(workload, job)));
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_figure_is_finite_and_ranges_are_in_order(task in task(), plan in plan(), card in cards()) {
        let plan = layout(&task, plan);
        let Some(estimate) = estimate(&task, &plan, &node(card)) else {
            return Ok(());
        };
        let memory = &estimate.memory;
        let speed = &estimate.speed;
        for range in [memory.needed_bytes, speed.units_per_s, speed.batch_s] {
            prop_assert!(range.low > 0.0 && range.high.is_finite(), "{range:?}");
            prop_assert!(range.low <= range.mid && range.mid <= range.high, "{range:?}");
        }
        let sum: f64 = memory.parts.iter().map(|(_, bytes)| *bytes as f64).sum();
        prop_assert!((sum / memory.needed_bytes.mid - 1.0).abs() < 1e-3, "{sum} of {:?}", memory.needed_bytes);
        let parts = speed.parts;
        for part in [parts.compute_s, parts.memory_s, parts.communication_s, parts.bubble_s, parts.overhead_s] {
            prop_assert!(part.is_finite() && part >= 0.0, "{parts:?}");
        }
        prop_assert!(speed.of_peak > 0.0 && speed.of_peak.is_finite());
        prop_assert!(speed.basis.typical_error.is_finite());
        if let Some(input) = speed.input {
            prop_assert!(input.wanted_per_s.is_finite() && input.prepared_per_s > 0.0);
            prop_assert!(input.disk_mb_per_s.is_finite());
        }
    }

    #[test]
    fn what_is_known_of_one_copy_holds_beside_others(task in task(), card in cards()) {
        let rented = rented_node(card);
        let mut known = CopiesAlone::default();
        for count in [2, 8, 1, 4] {
            let Some(planned) = task.best_of_known(count, &rented, &mut known) else {
                continue;
            };
            let new = task.estimate(&planned.plan, &rented.node).unwrap();
            prop_assert_eq!(new.memory, planned.estimate.memory);
            let [new, known] = [new.speed.units_per_s, planned.estimate.speed.units_per_s];
            for (new, known) in [(new.low, known.low), (new.mid, known.mid), (new.high, known.high)] {
                prop_assert!((known / new - 1.0).abs() < 1e-12, "{known} for {new}");
            }
        }
    }

    #[test]
    fn more_never_needs_less_memory(task in task(), plan in plan(), card in cards()) {
        let plan = layout(&task, plan);
        let Some(before) = needed(&task, &plan, card) else {
            return Ok(());
        };
        for (what, more) in larger(&task) {
            let after = needed(&more, &plan, card).unwrap();
            prop_assert!(after * SLACK + 16.0 >= before, "{what}: {before} then {after}");
        }
        if !matches!(task, WorkTask::Compute(..)) {
            let wide = WorkPlan { batch: plan.batch + 1, ..plan };
            let after = needed(&task, &wide, card).unwrap();
            prop_assert!(after * SLACK + 16.0 >= before, "batch: {before} then {after}");
        }
    }

    #[test]
    fn a_better_card_is_never_slower(task in task(), plan in plan(), card in cards(), factor in 1.0_f64..3.0) {
        let plan = layout(&task, plan);
        let Some(before) = units_per_s(&task, &plan, &node(card)) else {
            return Ok(());
        };
        let mut wider = card.clone();
        wider.bandwidth_gb_s *= factor;
        let mut linked = card.clone();
        linked.link.bidirectional_gb_s = linked.link.bidirectional_gb_s.map(|b| b * factor);
        let mut faster = card.clone();
        let peak = &mut faster.peak_tflops;
        for rate in [
            &mut peak.fp64, &mut peak.fp64_tensor, &mut peak.fp32, &mut peak.tf32, &mut peak.fp16_vector,
            &mut peak.fp16, &mut peak.fp16_acc16, &mut peak.bf16, &mut peak.fp8, &mut peak.int8, &mut peak.fp4,
        ] {
            *rate = rate.map(|r| r * factor);
        }
        for (what, better) in [("bandwidth", wider), ("link", linked), ("compute", faster)] {
            // An H20 with twice the rates counts as an H200, which is fed worse: another kind of card.
            if architecture_key(&better) != architecture_key(card) {
                continue;
            }
            let after = units_per_s(&task, &plan, &node(&better)).unwrap();
            prop_assert!(after * SLACK >= before, "{what}: {before} then {after}");
        }
        let network = Node { network_gb_s: 100.0 * factor, ..node(card) };
        let after = units_per_s(&task, &plan, &network).unwrap();
        prop_assert!(after * SLACK >= before, "network: {before} then {after}");
    }

    #[test]
    fn larger_work_is_never_done_faster(task in generation(), plan in plan(), card in cards()) {
        let plan = layout(&task, plan);
        let WorkTask::Generate(model, job) = &task else {
            return Ok(());
        };
        let Some(before) = units_per_s(&task, &plan, &node(card)) else {
            return Ok(());
        };
        for more in [
            Generation { steps: job.steps + 1, ..job.clone() },
            Generation { width: job.width + 256, ..job.clone() },
            Generation { guidance: true, ..job.clone() },
        ] {
            let after = units_per_s(&WorkTask::Generate(model, more), &plan, &node(card)).unwrap();
            prop_assert!(after <= before * SLACK, "{before} then {after}");
        }
    }
}
