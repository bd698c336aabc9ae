//! Words of jobs that are counted in images, clips, samples, hours of audio or operations.

use cardfit::estimate::work::{InputPipeline, WorkPlan, WorkSpeed, WorkUnit};
use cardfit::range::Range;
use cardfit::scenario::{Job, PipelineOffload, Scenario};
use cardfit::text::{Lang, text};

use crate::{format, words};

/// Last word of keys about a unit.
fn unit_key(unit: WorkUnit) -> &'static str {
    match unit {
        WorkUnit::Image => "image",
        WorkUnit::Clip => "clip",
        WorkUnit::Sample => "sample",
        WorkUnit::Sequence => "sequence",
        WorkUnit::AudioHour => "audio",
        WorkUnit::PetaOperations => "operations",
    }
}

/// Speed over all cards, in the unit and the span of time that people use for it.
pub fn rate(lang: Lang, speed: &WorkSpeed, scenario: &Scenario) -> String {
    const SECONDS_PER_HOUR: f64 = 3600.0;
    let made = matches!(scenario.job, Job::Generate(_));
    let (key, per) = match speed.unit {
        WorkUnit::Image if made => ("work.rate.image", SECONDS_PER_HOUR),
        WorkUnit::Image => ("work.rate.looked", 1.0),
        WorkUnit::Clip => ("work.rate.clip", SECONDS_PER_HOUR),
        WorkUnit::Sample => ("work.rate.sample", 1.0),
        WorkUnit::Sequence => ("work.rate.sequence", 1.0),
        WorkUnit::AudioHour => ("work.rate.audio", SECONDS_PER_HOUR),
        WorkUnit::PetaOperations => ("work.rate.operations", 1000.0),
    };
    let n = format::number_range(lang, speed.units_per_s.scale(per));
    text(lang, key, &[("n", &n)])
}

/// Time of one image or clip on its card; nothing for other units.
pub fn each(lang: Lang, plan: &WorkPlan, speed: &WorkSpeed) -> Option<String> {
    let key = match speed.unit {
        WorkUnit::Image if speed.input.is_none() => "work.each.image",
        WorkUnit::Clip => "work.each.clip",
        _ => return None,
    };
    let one = speed.batch_s.scale(1.0 / f64::from(plan.batch.max(1)));
    let time = format::seconds(lang, one.mid);
    Some(text(lang, key, &[("time", &time)]))
}

/// Names and values of everything there is to say about a speed.
pub fn facts(
    lang: Lang,
    plan: &WorkPlan,
    speed: &WorkSpeed,
    scenario: &Scenario,
) -> Vec<(String, String)> {
    let name = |key: &str| text(lang, key, &[]);
    let seconds = |range: Range| format::seconds_range(lang, range);
    let mut facts = vec![(name("offer.speed.work"), rate(lang, speed, scenario))];
    let one = speed.batch_s.scale(1.0 / f64::from(plan.batch.max(1)));
    match speed.unit {
        WorkUnit::Image if speed.input.is_none() => {
            facts.push((name("offer.speed.each_image"), seconds(one)));
        }
        WorkUnit::Clip => facts.push((name("offer.speed.each_clip"), seconds(one))),
        _ => {}
    }
    let step = match scenario.job {
        Job::TuneDiffusion(_) | Job::TrainNetwork(_) => "offer.speed.training_step",
        _ => "offer.speed.batch",
    };
    if speed.unit != WorkUnit::PetaOperations {
        facts.push((name(step), seconds(speed.batch_s)));
    }
    facts.push((name("offer.speed.of_peak"), format::percent(speed.of_peak)));
    if let Some(input) = &speed.input {
        let per_second = |n: f64| {
            let n = format::number(lang, n, 3);
            text(lang, "offer.speed.per_second", &[("n", &n)])
        };
        facts.push((
            name("offer.speed.decode_needed"),
            per_second(input.wanted_per_s),
        ));
        facts.push((
            name("offer.speed.decode_possible"),
            per_second(input.prepared_per_s),
        ));
        facts.push((
            name("offer.speed.disk"),
            format::data_rate(lang, input.disk_mb_per_s),
        ));
    }
    facts
}

/// That the processor cores hold the cards back, where they do.
pub fn held_back(lang: Lang, input: Option<&InputPipeline>) -> Option<String> {
    let input = input.filter(|i| i.limits)?;
    let number = |n: f64| format::number(lang, n, 3);
    Some(text(
        lang,
        "offer.input.limits",
        &[
            ("wanted", &number(input.wanted_per_s)),
            ("prepared", &number(input.prepared_per_s)),
        ],
    ))
}

/// Name of a thousand units.
pub fn thousand(lang: Lang, unit: WorkUnit) -> String {
    text(
        lang,
        &format!("offer.cost.thousand.{}", unit_key(unit)),
        &[],
    )
}

/// Cost of a thousand units, as a part of a sentence.
pub fn thousand_said(lang: Lang, unit: WorkUnit, cost: &str) -> String {
    let key = format!("page.verdict.thousand.{}", unit_key(unit));
    text(lang, &key, &[("cost", cost)])
}

/// How such a job is laid out, in short phrases.
pub fn plan(lang: Lang, plan: &WorkPlan) -> Vec<String> {
    let counted = |key: &str, n: u32| {
        let n = format::count(lang, u64::from(n));
        text(lang, key, &[("n", &n)])
    };
    let mut phrases = Vec::new();
    if plan.cards == 1 {
        phrases.push(text(lang, "offer.plan.one_card", &[]));
    }
    if plan.copies > 1 {
        phrases.push(counted("offer.plan.copies", plan.copies));
    }
    if plan.cards_per_copy > 1 {
        phrases.push(counted("offer.plan.share", plan.cards_per_copy));
    }
    if plan.batch > 1 {
        phrases.push(counted("offer.plan.at_once", plan.batch));
    }
    if plan.offload != PipelineOffload::None {
        phrases.push(words::choice(lang, plan.offload));
    }
    for (is, key) in [
        (plan.tiling, "offer.plan.tiling"),
        (plan.recompute, "offer.plan.again"),
        (plan.sharded, "offer.plan.split"),
    ] {
        if is {
            phrases.push(text(lang, key, &[]));
        }
    }
    phrases
}
