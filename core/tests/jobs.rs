//! Images and clips, vision networks and encoders, speech, scientific computing: every model that
//! is named answers, and the answers keep to what must be true of them.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use cardfit::catalog::{Catalog, FloatPrecision, PriceBook, Subject};
use cardfit::dtype::WeightFormat;
use cardfit::estimate::MemoryPart;
use cardfit::estimate::work::WorkUnit;
use cardfit::offers::{Assumption, Fit, Offer, Run, rank};
use cardfit::scenario::{
    Job, JobKind, ModelChoice, PipelineOffload, ProblemKind, Scenario, from_json, parse, to_query,
};
use proptest::prelude::*;

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

/// The scenario of a link that is understood without a remark.
fn clean(link: &str) -> Scenario {
    let parsed = parse(link, catalog());
    assert_eq!(parsed.problems, [], "{link}");
    assert_eq!(parsed.unknown, [], "{link}");
    parsed.scenario
}

fn offers(link: &str) -> Vec<Offer> {
    rank(&clean(link), catalog(), PriceBook::embedded()).offers
}

/// The only offer of a link that names one card and one count.
fn one(link: &str) -> Offer {
    let offers = offers(link);
    assert_eq!(offers.len(), 1, "{link}");
    offers.into_iter().next().unwrap()
}

fn hours(offer: &Offer) -> f64 {
    offer.hours.unwrap().mid
}

fn part(offer: &Offer, part: MemoryPart) -> f64 {
    let parts = offer.memory.parts.iter();
    parts
        .filter(|(p, _)| *p == part)
        .map(|(_, bytes)| *bytes as f64)
        .sum()
}

/// Something fits, takes a time, costs something, and is counted in `unit`.
fn answers(link: &str, unit: WorkUnit) {
    let offers = offers(link);
    let best = offers
        .iter()
        .find(|o| o.fit == Fit::Fits && o.misses.is_empty() && o.cost_of_job.is_some());
    let best = best.unwrap_or_else(|| panic!("nothing fits: {link}"));
    assert!(hours(best).is_finite() && hours(best) > 0.0, "{link}");
    let Some(Run::Work { speed, plan }) = &best.run else {
        panic!("{link}: {:?}", best.run);
    };
    assert_eq!(speed.unit, unit, "{link}");
    assert_eq!(plan.cards, best.count, "{link}");
    assert!(
        speed.of_peak > 0.0 && speed.of_peak < 1.0,
        "{link}: {}",
        speed.of_peak
    );
    let counted = unit != WorkUnit::PetaOperations;
    assert_eq!(best.cost_per_thousand.is_some(), counted, "{link}");
}

#[test]
fn every_image_model_that_is_named_answers() {
    for name in [
        "SD 1.5",
        "SD 2.1",
        "SDXL",
        "SD 3",
        "SD 3.5",
        "SD3.5 medium",
        "FLUX.1 dev",
        "FLUX.1 schnell",
        "Qwen-Image",
    ] {
        answers(&format!("m={name}&do=image"), WorkUnit::Image);
        answers(&format!("m={name}&do=diffusion-lora"), WorkUnit::Sample);
        // Twenty billion parameters are split over cards, each with a sample of its own.
        answers(&format!("m={name}&do=dreambooth&batch=8"), WorkUnit::Sample);
    }
}

#[test]
fn every_video_model_that_is_named_answers() {
    for name in [
        "CogVideoX 2B",
        "CogVideoX 5B",
        "Wan 2.1 1.3B",
        "Wan 2.1 14B",
        "Wan 2.2",
        "Wan 2.2 5B",
        "HunyuanVideo",
        "LTX-Video",
    ] {
        answers(&format!("m={name}&do=video"), WorkUnit::Clip);
        answers(&format!("m={name}&do=diffusion-lora"), WorkUnit::Sample);
    }
}

#[test]
fn every_network_that_is_named_answers_in_training_and_inference() {
    for name in [
        "ResNet-18",
        "ResNet-34",
        "ResNet-50",
        "ResNet-101",
        "ResNet-152",
        "EfficientNet-B0",
        "EfficientNet-B7",
        "ViT-B/16",
        "ViT-L/16",
        "Swin-T",
        "Swin-B",
        "CLIP ViT-L/14",
        "YOLOv8n",
        "YOLOv8s",
        "YOLOv8m",
        "YOLOv8l",
        "YOLOv8x",
        "Mask R-CNN",
        "U-Net",
    ] {
        answers(&format!("m={name}&do=vision-infer"), WorkUnit::Image);
        answers(
            &format!("m={name}&do=vision-train&samples=100000&epochs=3"),
            WorkUnit::Image,
        );
    }
    for name in ["BERT base", "BERT large", "BGE-M3", "all-MiniLM-L6-v2"] {
        answers(&format!("m={name}&do=vision-infer"), WorkUnit::Sequence);
        answers(&format!("m={name}&do=vision-train"), WorkUnit::Sequence);
    }
    for size in [
        "tiny",
        "base",
        "small",
        "medium",
        "large-v2",
        "large-v3",
        "large-v3-turbo",
    ] {
        answers(
            &format!("m=whisper {size}&do=transcribe"),
            WorkUnit::AudioHour,
        );
        answers(
            &format!("m=whisper {size}&do=vision-train"),
            WorkUnit::Sample,
        );
    }
}

#[test]
fn every_kind_of_science_answers_and_game_cards_show_their_double_precision() {
    for id in [
        "dense-linear-algebra",
        "stencil",
        "molecular-dynamics",
        "quantum-chemistry",
        "fft",
        "sparse-linear-algebra",
    ] {
        answers(
            &format!("m={id}&do=science&ops=1e17"),
            WorkUnit::PetaOperations,
        );
    }
    // 1.29 of 82.6 TFLOPS: 1/64.
    let game = one("m=dense-linear-algebra&do=science&cards=rtx-4090&n=1");
    let slower = game.assumptions.iter().find_map(|a| match a {
        Assumption::Fp64Slowdown(n) => Some(*n),
        _ => None,
    });
    assert!((slower.unwrap() - 64.0).abs() < 0.5);
    // 10^18 operations at three quarters of 66.9 TFLOPS of the matrix units: 5.5 hours.
    let server = one("m=dense-linear-algebra&do=science&cards=h100-sxm-80gb&n=1");
    assert!((hours(&server) - 1e18 / (0.75 * 66.9e12) / 3600.0).abs() < 1e-6);
    assert!(hours(&game) > 40.0 * hours(&server));
    // Memory-bound work follows the bandwidth instead: 2 x 10^17 bytes at three quarters of it.
    let stencil = one("m=stencil&do=science&cards=h100-sxm-80gb&n=1");
    let bound = 1e17 / 0.5 / (0.75 * 3350e9) / 3600.0;
    assert!((hours(&stencil) / bound - 1.0).abs() < 1e-6);
    // In single precision the game card is a card like others.
    let single = one("m=dense-linear-algebra&do=science&prec=fp32&cards=rtx-4090&n=1");
    assert!(hours(&single) < hours(&game) / 30.0);
}

#[test]
fn a_working_set_beyond_one_card_is_split() {
    let small = one("m=stencil&do=science&ws=200&cards=h100-sxm-80gb&n=2");
    assert!(matches!(small.fit, Fit::TooSmall { .. }));
    let large = one("m=stencil&do=science&ws=200&cards=h100-sxm-80gb&n=4");
    assert_eq!(large.fit, Fit::Fits);
}

#[test]
fn guidance_and_steps_cost_what_they_should() {
    let seconds = |more: &str| {
        hours(&one(&format!(
            "m=sdxl&do=image&batch=1&cards=a100-sxm4-80gb&n=1{more}"
        )))
    };
    let plain = seconds("");
    let unguided = seconds("&cfg=no") / plain;
    // One pass a step rather than two; what does not grow with the samples stays.
    assert!((0.5..0.7).contains(&unguided), "{unguided}");
    let ratio = seconds("&steps=60") / plain;
    assert!(
        (1.8..2.0).contains(&ratio),
        "prompts and decoding are once: {ratio}"
    );
    assert!(
        seconds("&width=2048&height=2048") > 4.0 * plain,
        "attention grows faster than pixels"
    );
}

#[test]
fn offload_trades_memory_for_time() {
    let run = |what: &str| {
        one(&format!(
            "m=flux.1-dev&do=image&batch=1&tiling=no&offload={what}&cards=a100-sxm4-80gb&n=1"
        ))
    };
    let (none, model, sequential) = (run("none"), run("model"), run("sequential"));
    let needed = |o: &Offer| o.memory.needed_bytes.mid;
    assert!(needed(&none) > needed(&model) && needed(&model) > needed(&sequential));
    assert!(hours(&none) < hours(&model) && hours(&model) < hours(&sequential));
    // All of it in 16 bit: (11.90 + 4.76 + 0.12 + 0.08) billion parameters.
    let held = part(&none, MemoryPart::Weights)
        + part(&none, MemoryPart::TextEncoders)
        + part(&none, MemoryPart::Autoencoder);
    assert!((held / 33.74e9 - 1.0).abs() < 0.01, "{held:e}");
}

#[test]
fn what_is_not_asked_is_offloaded_only_where_it_must_be() {
    let fits = |card: &str| {
        let offer = one(&format!("m=flux.1-dev&do=image&cards={card}&n=1"));
        assert_eq!(offer.fit, Fit::Fits, "{card}");
        match offer.run {
            Some(Run::Work { plan, .. }) => plan.offload,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(fits("h100-sxm-80gb"), PipelineOffload::None);
    assert_ne!(fits("rtx-4090"), PipelineOffload::None);
}

#[test]
fn quantised_weights_take_a_quarter_and_dreambooth_takes_more_than_lora() {
    let weights = |w: &str| {
        part(
            &one(&format!(
                "m=flux.1-dev&do=image&w={w}&offload=none&cards=a100-sxm4-80gb&n=1"
            )),
            MemoryPart::Weights,
        )
    };
    let ratio = weights("nf4") / weights("bf16");
    assert!((0.25..0.27).contains(&ratio), "{ratio}");
    let needed = |job: &str| {
        let link = format!("m=sdxl&do={job}&cards=a100-sxm4-80gb&n=1");
        one(&link).memory.needed_bytes.mid
    };
    assert!(needed("dreambooth") > 2.0 * needed("diffusion-lora"));
}

#[test]
fn processor_cores_can_be_the_limit_and_it_is_said() {
    let with = |cores: u32| {
        let link = format!("m=resnet-18&do=vision-train&cores={cores}&cards=h100-sxm-80gb&n=1");
        let offer = one(&link);
        match offer.run.clone() {
            Some(Run::Work { speed, .. }) => (speed, hours(&offer)),
            other => panic!("{other:?}"),
        }
    };
    let (few, slow) = with(2);
    let (many, fast) = with(256);
    let held = few.input.unwrap();
    assert!(held.limits && !many.input.unwrap().limits);
    // Two cores, 120 images of ImageNet a second each.
    assert!((few.units_per_s.mid - 240.0).abs() < 1.0);
    // 240 images of 110 kB.
    assert!((held.disk_mb_per_s - 26.4).abs() < 0.2);
    assert!(slow > 5.0 * fast);
}

#[test]
fn one_word_is_taken_as_meant_for_the_model() {
    for (link, kind) in [
        ("m=sdxl&do=lora", "diffusion-lora"),
        ("m=sdxl&do=full", "dreambooth"),
        ("m=flux&do=serve", "image"),
        ("m=hunyuanvideo&do=image", "video"),
        ("m=resnet-50&do=pretrain", "vision-train"),
        ("m=bge-m3&do=serve", "vision-infer"),
        ("m=whisper&do=serve", "transcribe"),
        ("m=sdxl", "image"),
        ("m=yolov8n", "vision-infer"),
        ("m=stencil", "science"),
        ("do=video", "video"),
    ] {
        use cardfit::scenario::Choice;
        assert_eq!(clean(link).job.kind().name(), kind, "{link}");
    }
}

#[test]
fn a_model_that_a_job_is_not_about_is_replaced_and_named() {
    for link in [
        "m=qwen2.5-7b&do=image",
        "m=sdxl&do=science",
        "m=custom&do=transcribe",
    ] {
        let parsed = parse(link, catalog());
        let problem = parsed.problems.iter().find(|p| p.param == "m");
        assert_eq!(problem.unwrap().kind, ProblemKind::NotForThisJob, "{link}");
        assert!(!matches!(
            parsed.scenario.job,
            Job::Train(_) | Job::Serve(_)
        ));
        let ranking = rank(&parsed.scenario, catalog(), PriceBook::embedded());
        assert!(!ranking.offers.is_empty(), "{link}");
    }
    // A frozen default keeps its meaning: nothing named, nothing changed.
    assert!(matches!(clean("").job.kind(), JobKind::Train(_)));
}

#[test]
fn json_says_the_same_as_a_link() {
    for link in [
        "m=sdxl&do=image&steps=20&cfg=no&offload=model&tiling=yes&w=fp8&runtime=compiled&batch=2",
        "m=wan-2.1-14b&do=video&frames=49",
        "m=flux.1-dev&do=diffusion-lora&recompute=full&cached=no&w=nf4",
        "m=sdxl&do=dreambooth&opt=adafactor",
        "m=resnet-50&do=vision-train&size=288&batch=64&cores=16",
        "m=bge-m3&do=vision-infer&amount=5M&w=int8",
        "m=whisper-large-v3&do=transcribe&beam=1&engine=openai-whisper",
        "m=fft&do=science&ops=1e18&prec=fp32&ws=4",
    ] {
        let scenario = clean(link);
        assert_eq!(clean(&to_query(&scenario)), scenario, "{link}");
        let json = serde_json::to_string(&scenario).unwrap();
        let back = from_json(&json, catalog()).unwrap();
        assert_eq!(back.problems, [], "{json}");
        assert_eq!(back.scenario, scenario, "{json}");
    }
}

#[test]
fn every_thing_of_the_catalog_says_where_it_was_read_and_has_a_name_of_its_own() {
    let catalog = catalog();
    let mut seen = std::collections::BTreeSet::new();
    let sources = catalog
        .diffusion
        .iter()
        .map(|m| (&m.id, &m.source))
        .chain(catalog.networks.iter().map(|n| (&n.id, &n.source)))
        .chain(catalog.workloads.iter().map(|w| (&w.id, &w.source)));
    for (id, source) in sources {
        assert!(seen.insert(id), "{id}");
        assert!(source.len() > 10, "{id}");
        assert!(
            catalog.model(id).is_none(),
            "{id} is a language model's too"
        );
        assert_eq!(catalog.subject(id).map(Subject::id), Some(id.as_str()));
    }
    assert!(catalog.diffusion.len() >= 16 && catalog.networks.len() >= 40);
}

#[test]
fn denoisers_have_the_parameters_that_their_blocks_explain() {
    use cardfit::estimate::diffusion::{Canvas, flops};
    // Products of one token are at most twice the parameters: none is used twice for a token.
    for model in catalog().diffusion.iter() {
        let canvas = Canvas {
            width: f64::from(model.usual.width),
            height: f64::from(model.usual.height),
            frames: model.usual.frames,
        };
        let tokens = flops::picture_tokens(model, &canvas) + f64::from(model.denoiser.text_tokens);
        let products = flops::denoise(model, &canvas).products / 2.0 / tokens;
        let share = products / model.denoiser.params as f64;
        assert!((0.02..1.02).contains(&share), "{}: {share}", model.id);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn images_keep_their_link_and_their_order(
        model in prop::sample::select(vec!["sd-1.5", "sdxl", "flux.1-dev", "sd-3.5-large"]),
        side in 4_u32..33,
        steps in 1_u32..80,
        guidance in any::<bool>(),
        weights in prop::sample::select(vec![WeightFormat::Bf16, WeightFormat::Fp8, WeightFormat::Nf4]),
        batch in prop::option::of(1_u32..9),
    ) {
        let mut scenario = clean(&format!("m={model}&do=image&cards=a100-sxm4-80gb&n=1"));
        prop_assert_eq!(&scenario.model, &ModelChoice::Catalog(model.to_owned()));
        if let Job::Generate(job) = &mut scenario.job {
            (job.width, job.height) = (side * 64, side * 64);
            job.steps = steps;
            job.guidance = guidance;
            job.weights = weights;
            job.batch = batch;
        }
        prop_assert_eq!(&clean(&to_query(&scenario)), &scenario);
        let ranking = rank(&scenario, catalog(), PriceBook::embedded());
        for offer in &ranking.offers {
            let memory = offer.memory.needed_bytes;
            prop_assert!(memory.low <= memory.mid && memory.mid <= memory.high);
            let sum: f64 = offer.memory.parts.iter().map(|(_, b)| *b as f64).sum();
            prop_assert!((sum / memory.mid - 1.0).abs() < 1e-3, "{} of {}", sum, memory.mid);
        }
    }

    #[test]
    fn more_operations_never_take_less_time(
        ops in 1e12_f64..1e20,
        more in 1.0_f64..10.0,
        intensity in 0.05_f64..300.0,
        precision in prop::sample::select(vec![FloatPrecision::Fp64, FloatPrecision::Fp32]),
    ) {
        let at = |operations: f64| {
            let mut scenario = clean("m=fft&do=science&cards=a100-sxm4-80gb&n=1");
            if let Job::Compute(job) = &mut scenario.job {
                job.operations = operations;
                job.flops_per_byte = intensity;
                job.precision = precision;
            }
            let ranking = rank(&scenario, catalog(), PriceBook::embedded());
            ranking.offers.first().and_then(|o| o.hours).map(|h| h.mid)
        };
        let (few, many) = (at(ops).unwrap(), at(ops * more).unwrap());
        prop_assert!(many >= few * 0.999_999);
    }
}

/// GPT-2 to GPT-3, LLaMA 7B to 70B, GPT-NeoX, the models of today: each serves and each is trained
/// with adapters on as few cards as hold it.
#[test]
fn every_language_model_answers_in_serving_and_training() {
    for model in catalog().models.iter() {
        let id = &model.id;
        for (job, count) in [("serve&users=1&in=512&out=64", 8), ("qlora&seq=512", 16)] {
            let link = format!("m={id}&do={job}&cards=b300-288gb&n={count}&unpriced=yes");
            let offer = one(&link);
            assert_eq!(offer.fit, Fit::Fits, "{link}: {:?}", offer.memory);
            let needed = offer.memory.needed_bytes;
            assert!(
                needed.low > 0.0 && needed.low <= needed.mid && needed.mid <= needed.high,
                "{link}"
            );
            let pace = match offer.run.unwrap() {
                Run::Serve { speed, .. } => speed.tokens_per_s_user,
                Run::Train { speed, .. } => speed.tokens_per_s,
                Run::Work { .. } => panic!("{link}"),
            };
            assert!(
                pace.low > 0.0 && pace.low <= pace.mid && pace.high.is_finite(),
                "{link}: {pace:?}"
            );
        }
    }
}
