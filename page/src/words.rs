//! What the domain's values are called, in the page's language.

use cardfit::catalog::{Billing, Card, Catalog, Vendor};
use cardfit::estimate::{Basis, BasisScope, MemoryPart, TimeParts};
use cardfit::offers::{Assumption, Fit, Miss, Offer, Remedy, Run};
use cardfit::plan::{Offload, Recompute, ServingPlan, Sharding, TrainingPlan};
use cardfit::scenario::Choice;
use cardfit::scenario::{Job, Load, Scenario};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::format;
use crate::state::App;

/// The text of a key in the page's language, followed when the language changes.
pub fn t(key: &'static str) -> impl Fn() -> String + Copy + Send + Sync + 'static {
    let lang = App::get().lang;
    move || text(lang.get(), key, &[])
}

/// A value of a short list by its name.
pub fn choice(lang: Lang, value: impl Choice) -> String {
    text(lang, value.label_key(), &[])
}

/// A card's name as people say it, without the maker.
pub fn card_name(lang: Lang, id: &str) -> String {
    Catalog::embedded()
        .card(id)
        .map_or_else(|| id.to_owned(), |card| name_of(lang, card))
}

fn name_of(lang: Lang, card: &Card) -> String {
    match (lang, &card.name_zh) {
        (Lang::ZhCn, Some(name)) => name.clone(),
        _ => card.name.trim_start_matches("GeForce ").to_owned(),
    }
}

/// `2 × RTX 4090`.
pub fn cards(lang: Lang, offer: &Offer) -> String {
    let name = card_name(lang, &offer.card);
    let count = format::count(lang, u64::from(offer.count));
    format!("{count} × {name}")
}

/// A maker's name.
pub fn vendor(lang: Lang, vendor: Vendor) -> String {
    let key = match vendor {
        Vendor::Nvidia => "page.vendor.nvidia",
        Vendor::Amd => "page.vendor.amd",
        Vendor::Intel => "page.vendor.intel",
        Vendor::Google => "page.vendor.google",
        Vendor::Aws => "page.vendor.aws",
        Vendor::Huawei => "page.vendor.huawei",
        Vendor::Biren => "page.vendor.biren",
        Vendor::Cambricon => "page.vendor.cambricon",
        Vendor::MooreThreads => "page.vendor.moore_threads",
        Vendor::Hygon => "page.vendor.hygon",
        Vendor::Metax => "page.vendor.metax",
        Vendor::Kunlunxin => "page.vendor.kunlunxin",
        Vendor::Iluvatar => "page.vendor.iluvatar",
        Vendor::Enflame => "page.vendor.enflame",
        Vendor::Thead => "page.vendor.thead",
    };
    text(lang, key, &[])
}

/// Name of a fit in attributes and class names.
pub fn fit_name(fit: &Fit) -> &'static str {
    match fit {
        Fit::Fits => "fits",
        Fit::Tight { .. } => "tight",
        Fit::TooSmall { .. } => "too_small",
    }
}

/// Whether it fits, in a word or two.
pub fn fit(lang: Lang, fit: &Fit) -> String {
    match fit {
        Fit::Fits => text(lang, "offer.fit.fits", &[]),
        Fit::Tight { .. } => text(lang, "offer.fit.tight", &[]),
        Fit::TooSmall { missing_bytes, .. } => text(
            lang,
            "offer.fit.too_small",
            &[("missing", &format::gib(*missing_bytes as f64))],
        ),
    }
}

/// What would make an offer fit, where something would.
pub fn remedy_of(fit: &Fit) -> Option<Remedy> {
    match fit {
        Fit::Fits => None,
        Fit::Tight { relief } => *relief,
        Fit::TooSmall { remedy, .. } => *remedy,
    }
}

/// A remedy as what a button does.
pub fn remedy(lang: Lang, remedy: Remedy) -> String {
    let number = |n: u32| format::count(lang, u64::from(n));
    let (key, value) = match remedy {
        Remedy::Cards(n) => ("offer.remedy.cards", number(n)),
        Remedy::Weights(format) => ("offer.remedy.weights", choice(lang, format)),
        Remedy::Kv(format) => ("offer.remedy.kv", choice(lang, format)),
        Remedy::Recompute(policy) => ("offer.remedy.recompute", choice(lang, policy)),
        Remedy::Sharding(stage) => ("offer.remedy.sharding", choice(lang, stage)),
        Remedy::Offload(what) => ("offer.remedy.offload", choice(lang, what)),
        Remedy::Method(method) => ("offer.remedy.method", choice(lang, method)),
        Remedy::Tokens(n) => ("offer.remedy.tokens", number(n)),
        Remedy::Concurrency(n) => ("offer.remedy.concurrency", number(n)),
        Remedy::Optimizer(optimizer) => ("offer.remedy.optimizer", choice(lang, optimizer)),
        Remedy::MicroBatch(n) => ("offer.remedy.micro_batch", number(n)),
        Remedy::Tiling => ("offer.remedy.tiling", String::new()),
        Remedy::Batch(n) => ("offer.remedy.batch", number(n)),
        Remedy::PipelineOffload(what) => ("offer.remedy.pipeline_offload", choice(lang, what)),
        Remedy::Cached => ("offer.remedy.cached", String::new()),
        Remedy::Diffusion(method) => ("offer.remedy.diffusion", choice(lang, method)),
        Remedy::FlashAttention => ("offer.remedy.flash_attention", String::new()),
    };
    text(lang, key, &[("value", &value)])
}

/// A limit that an offer misses.
pub fn miss(lang: Lang, miss: Miss) -> String {
    let key = match miss {
        Miss::Budget => "offer.miss.budget",
        Miss::Deadline => "offer.miss.deadline",
        Miss::Ttft => "offer.miss.ttft",
        Miss::Tpot => "offer.miss.tpot",
        Miss::Load => "offer.miss.load",
        Miss::TooLong => "offer.miss.too_long",
    };
    text(lang, key, &[])
}

/// A limit that an offer keeps by its middle values and may miss by its ends.
pub fn may_miss(lang: Lang, limit: Miss) -> String {
    text(lang, "offer.may_miss", &[("limit", &miss(lang, limit))])
}

/// Each of `limits` in words.
pub fn each(limits: &[Miss], said: impl Fn(Miss) -> String) -> Vec<String> {
    limits.iter().copied().map(said).collect()
}

/// Something taken for granted.
pub fn assumption(lang: Lang, assumption: Assumption) -> String {
    let number = |n: f64| format::number(lang, n, 4);
    let (key, value) = match assumption {
        Assumption::GlobalBatch(n) => ("offer.assumption.global_batch", number(f64::from(n))),
        Assumption::NetworkGbitPerS(n) => ("offer.assumption.network", number(n)),
        Assumption::HoursPerMonth(n) => ("offer.assumption.hours_per_month", number(n)),
        Assumption::CnyPerUsd(n) => ("offer.assumption.cny_per_usd", number(n)),
        Assumption::UsdPerEur(n) => ("offer.assumption.usd_per_eur", number(n)),
        Assumption::LongestHours(n) => (
            "offer.assumption.longest",
            format::seconds(lang, n * 3600.0),
        ),
        Assumption::SlowestTpot(n) => ("offer.assumption.slowest_tpot", format::seconds(lang, n)),
        Assumption::Fp64Slowdown(n) => ("offer.assumption.fp64", format::number(lang, n, 2)),
        Assumption::PackedSequences => ("offer.assumption.packed", String::new()),
        Assumption::MeanLengths => ("offer.assumption.mean_lengths", String::new()),
        Assumption::ClusterOfSingles(n) => {
            ("offer.assumption.cluster_of_singles", number(f64::from(n)))
        }
        Assumption::MachineAssumed => ("offer.assumption.machine_assumed", String::new()),
        Assumption::SliceOfCard(share) => ("offer.assumption.slice", format::percent(share)),
        Assumption::InterruptionsPerHour(n) => ("offer.assumption.interruptions", number(n)),
        Assumption::CheckpointEvery(hours) => (
            "offer.assumption.checkpoint_every",
            format::seconds(lang, hours * 3600.0),
        ),
        Assumption::SpotNotWorthIt(n) => ("offer.assumption.spot_not_worth", number(n)),
        Assumption::WholePromptsKept => ("offer.assumption.whole_prompts_kept", String::new()),
        Assumption::TokensPerStep(n) => (
            "offer.assumption.tokens_per_step",
            format::number(lang, n, 2),
        ),
        Assumption::RunsInFp16 => ("offer.assumption.runs_in_fp16", String::new()),
        Assumption::ExpandedToHalf => ("offer.assumption.expanded_to_half", String::new()),
        Assumption::PipelineChunks(n) => ("offer.assumption.pipeline_chunks", number(f64::from(n))),
    };
    text(lang, key, &[("value", &value)])
}

/// A part of memory.
pub fn part(lang: Lang, part: MemoryPart) -> String {
    text(lang, part.label_key(), &[])
}

/// Where a step's time goes: words and seconds, what takes nothing left out.
pub fn time_parts(lang: Lang, parts: &TimeParts) -> Vec<(&'static str, String, f64)> {
    [
        ("compute", "offer.time.compute", parts.compute_s),
        ("memory", "offer.time.memory", parts.memory_s),
        (
            "communication",
            "offer.time.communication",
            parts.communication_s,
        ),
        ("bubble", "offer.time.bubble", parts.bubble_s),
        ("overhead", "offer.time.overhead", parts.overhead_s),
    ]
    .into_iter()
    .filter(|(_, _, seconds)| *seconds > 0.0)
    .map(|(name, key, seconds)| (name, text(lang, key, &[]), seconds))
    .collect()
}

/// What an estimate rests on.
pub fn basis(lang: Lang, basis: &Basis) -> String {
    let count = format::count(lang, u64::from(basis.measurements));
    let error = format::percent(basis.typical_error);
    let (key, name) = match &basis.scope {
        BasisScope::Card(id) => ("offer.basis.card", card_name(lang, id)),
        BasisScope::Architecture(name) => ("offer.basis.architecture", name.clone()),
        BasisScope::JobKind => ("offer.basis.job_kind", String::new()),
    };
    if basis.measurements == 0 {
        return text(lang, "offer.basis.none", &[]);
    }
    text(
        lang,
        key,
        &[("count", &count), ("error", &error), ("name", &name)],
    )
}

/// How a price is billed.
pub fn billing(lang: Lang, billing: Billing) -> String {
    choice(lang, billing)
}

/// How a job is laid out over cards, in short phrases.
pub fn plan(lang: Lang, offer: &Offer) -> Vec<String> {
    let mut phrases = match &offer.run {
        Some(Run::Train { plan, .. }) => training_plan(lang, plan),
        Some(Run::Serve { plan, .. }) => serving_plan(lang, plan),
        Some(Run::Work { plan, .. }) => crate::work_words::plan(lang, plan),
        None => Vec::new(),
    };
    if offer.nodes > 1 {
        phrases.push(counted(lang, "offer.plan.nodes", offer.nodes));
    }
    phrases
}

fn counted(lang: Lang, key: &str, n: u32) -> String {
    text(lang, key, &[("n", &format::count(lang, u64::from(n)))])
}

fn training_plan(lang: Lang, plan: &TrainingPlan) -> Vec<String> {
    let mut phrases = Vec::new();
    if plan.cards == 1 {
        phrases.push(text(lang, "offer.plan.one_card", &[]));
    }
    for (key, ways) in [
        ("offer.plan.data_parallel", plan.data_parallel),
        ("offer.plan.tensor_parallel", plan.tensor_parallel),
        ("offer.plan.pipeline_parallel", plan.pipeline_parallel),
        ("offer.plan.expert_parallel", plan.expert_parallel),
        ("offer.plan.context_parallel", plan.context_parallel),
    ] {
        if ways > 1 {
            phrases.push(counted(lang, key, ways));
        }
    }
    if plan.sharding != Sharding::None {
        phrases.push(choice(lang, plan.sharding));
    }
    phrases.push(text(
        lang,
        "offer.plan.micro_batch",
        &[
            ("micro", &format::count(lang, u64::from(plan.micro_batch))),
            ("steps", &format::count(lang, u64::from(plan.grad_accum))),
        ],
    ));
    phrases.push(match plan.recompute {
        Recompute::None => text(lang, "offer.plan.no_recompute", &[]),
        policy => text(
            lang,
            "offer.plan.recompute",
            &[("policy", &choice(lang, policy))],
        ),
    });
    if plan.offload != Offload::None {
        phrases.push(text(
            lang,
            "offer.plan.offload",
            &[("what", &choice(lang, plan.offload))],
        ));
    }
    phrases
}

fn serving_plan(lang: Lang, plan: &ServingPlan) -> Vec<String> {
    let mut phrases = vec![counted(lang, "offer.plan.replicas", plan.replicas)];
    for (key, ways) in [
        ("offer.plan.tensor_parallel", plan.tensor_parallel),
        ("offer.plan.pipeline_parallel", plan.pipeline_parallel),
    ] {
        if ways > 1 {
            phrases.push(counted(lang, key, ways));
        }
    }
    phrases.push(counted(lang, "offer.plan.batch", plan.batch));
    phrases
}

/// The load of a service, in words.
pub fn load(lang: Lang, scenario: &Scenario) -> String {
    match &scenario.job {
        Job::Serve(serving) => match serving.load {
            Load::Concurrency(1) => text(lang, "page.load.user", &[]),
            Load::Concurrency(n) => counted(lang, "page.load.users", n),
            Load::RequestsPerSecond(n) => text(
                lang,
                "page.load.rate",
                &[("n", &format::number(lang, n, 3))],
            ),
        },
        _ => String::new(),
    }
}

/// Tokens a second of a service over all its cards.
pub fn total_speed(lang: Lang, offer: &Offer) -> Option<String> {
    match &offer.run {
        Some(Run::Serve { speed, .. }) => {
            let rate = format::rate(lang, speed.tokens_per_s_total.mid);
            Some(text(lang, "offer.rate.tokens", &[("rate", &rate)]))
        }
        _ => None,
    }
}
