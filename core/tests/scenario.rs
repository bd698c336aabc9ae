//! Links: what they say, what happens to bad ones, and that old ones mean the same for ever.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cardfit::catalog::Catalog;
use cardfit::scenario::{
    Choice, Job, JobKind, Load, ModelChoice, Preset, ProblemKind, Scenario, TrainingAmount,
    TrainingMethod, parse, to_query,
};
use cardfit::text::Lang;

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

/// Parses a link that has no problem.
fn clean(query: &str) -> Scenario {
    let parsed = parse(query, catalog());
    assert_eq!(parsed.problems, [], "{query}");
    assert_eq!(parsed.unknown, [], "{query}");
    parsed.scenario
}

/// Problems of a link, by parameter.
fn problems(query: &str) -> Vec<(String, ProblemKind)> {
    let parsed = parse(query, catalog());
    // Whatever was wrong, what is left is a scenario that a clean link says.
    assert_eq!(
        clean_but_for_warnings(&to_query(&parsed.scenario)),
        parsed.scenario
    );
    for lang in Lang::ALL {
        for problem in &parsed.problems {
            let message = problem.message(lang);
            assert!(
                !message.contains("problem.") && !message.contains('{'),
                "{message}"
            );
        }
    }
    parsed
        .problems
        .into_iter()
        .map(|p| (p.param, p.kind))
        .collect()
}

fn clean_but_for_warnings(query: &str) -> Scenario {
    let parsed = parse(query, catalog());
    assert!(
        parsed.problems.iter().all(|p| p.is_warning()),
        "{query}: {:?}",
        parsed.problems
    );
    parsed.scenario
}

#[test]
fn a_readable_link_is_understood() {
    let scenario =
        clean("m=llama-3.1-8b&do=lora&samples=1万&seq=2048&budget=¥3,000&deadline=2d&n=1");
    assert_eq!(scenario.model, ModelChoice::Catalog("llama-3.1-8b".into()));
    let Job::Train(job) = &scenario.job else {
        panic!("a training job");
    };
    assert_eq!(job.method, TrainingMethod::Lora);
    assert_eq!(
        job.amount,
        TrainingAmount::Samples {
            count: 10_000.0,
            epochs: 3.0
        }
    );
    assert_eq!(job.seq_len, 2048);
    assert_eq!(scenario.money.budget, Some(3000.0));
    assert_eq!(scenario.money.deadline_hours, Some(48.0));
    assert_eq!(scenario.shelf.count, Some(1));
}

#[test]
fn a_service_may_be_asked_for_by_rate() {
    let scenario = clean("?do=serve&m=qwen3-32b&rps=2.5&ttft=500ms&w=awq");
    let Job::Serve(job) = &scenario.job else {
        panic!("a service");
    };
    assert_eq!(job.load, Load::RequestsPerSecond(2.5));
    assert_eq!(job.ttft_target_s, Some(0.5));
    assert_eq!(
        to_query(&scenario),
        "m=qwen3-32b&do=serve&w=awq4&rps=2.5&ttft=0.5"
    );
}

#[test]
fn an_empty_link_is_the_default_scenario() {
    assert_eq!(clean(""), Scenario::default());
    assert_eq!(to_query(&Scenario::default()), "m=qwen2.5-7b&do=lora");
}

#[test]
fn a_model_published_in_8_bit_is_served_in_8_bit() {
    let scenario = clean("m=deepseek-r1-671b&do=serve");
    assert!(matches!(&scenario.job, Job::Serve(job) if job.weights.name() == "fp8"));
    assert_eq!(
        to_query(&clean("m=deepseek-r1-671b&do=serve&w=bf16")),
        "m=deepseek-r1-671b&do=serve&w=bf16"
    );
}

#[test]
fn a_brought_model_travels_in_the_link() {
    let scenario =
        clean("m=custom&layers=24&hidden=1024&heads=16&experts=64&top=8&eff=512&tie=yes&do=serve");
    let ModelChoice::Custom(shape) = &scenario.model else {
        panic!("a brought model");
    };
    assert_eq!(shape.ffn, 0, "every block holds experts");
    assert_eq!(shape.attention[0].layers, 24);
    assert_eq!(
        shape
            .experts
            .as_ref()
            .map(|e| (e.experts, e.per_token, e.ffn, e.layers)),
        Some((64, 8, 512, 24))
    );
    assert_eq!(clean(&to_query(&scenario)), scenario);
    assert_eq!(to_query(&clean("m=custom&do=serve")), "m=custom&do=serve");
}

#[test]
fn every_catalog_shape_can_be_written_as_a_brought_model() {
    for model in catalog().models.iter() {
        let scenario = Scenario {
            model: ModelChoice::Custom(Box::new(model.transformer.clone())),
            ..Scenario::default()
        };
        assert_eq!(clean(&to_query(&scenario)), scenario, "{}", model.id);
    }
}

#[test]
fn page_parameters_are_nobodys_problem_and_strangers_are_kept() {
    let parsed = parse("lang=zh-CN&theme=dark&do=lora&utm_source=群聊", catalog());
    assert_eq!(parsed.problems, []);
    assert_eq!(
        parsed.unknown,
        [("utm_source".to_owned(), "群聊".to_owned())]
    );
    assert_eq!(
        parsed.to_query(),
        "m=qwen2.5-7b&do=lora&utm_source=%E7%BE%A4%E8%81%8A"
    );
}

#[test]
fn bad_values_are_replaced_and_named() {
    use ProblemKind::*;
    for (query, param, kind) in [
        ("do=dance", "do", NotAChoice),
        ("m=gpt-9", "m", UnknownModel),
        ("n=0", "n", TooSmall),
        ("n=-4", "n", TooSmall),
        ("n=1.5", "n", NotWhole),
        ("n=NaN", "n", NotANumber),
        ("budget=inf", "budget", NotANumber),
        ("budget=1e400", "budget", TooLarge),
        ("do=pretrain&tokens=1e18", "tokens", TooLarge),
        (
            "samples=1e13&epochs=10000&seq=4096",
            "samples",
            TooManyTokens,
        ),
        ("v=2", "v", NewerVersion),
        ("seq=abc", "seq", NotANumber),
        ("seq=1024&seq=2048", "seq", Repeated),
        ("cards=rtx-4009", "cards", UnknownCard),
        ("price=rtx-4090", "price", NotAPrice),
        ("price=rtx-4090:-1", "price", TooSmall),
        ("cur=yen", "cur", NotAChoice),
        ("bill=barter", "bill", NotAChoice),
        ("users=5", "users", DoesNotApply),
        ("layers=5", "layers", DoesNotApply),
        ("tokens=5&samples=5", "samples", Conflict),
        ("do=serve&users=5&rps=1", "rps", Conflict),
        ("flash=maybe", "flash", NotAChoice),
        ("seq=%zz", "seq", BadEncoding),
        ("m=%ff%fe", "m", BadEncoding),
        ("m=custom&kvheads=5", "kvheads", KvHeadsDoNotDivide),
        ("m=custom&experts=4&top=9", "top", TopAboveExperts),
        (
            "m=custom&experts=4&elayers=90",
            "elayers",
            ExpertLayersAboveLayers,
        ),
        ("m=custom&ffn=0", "ffn", NoFeedForward),
        ("m=custom&attn=rubbish", "attn", NotAttention),
        (
            "m=custom&attn=4:heads:8:2:64&layers=9",
            "layers",
            LayersDiffer,
        ),
        ("m=custom&attn=4:heads:8:2:64&heads=9", "heads", Conflict),
        (
            "m=custom&layers=1000&hidden=131072&ffn=1M&experts=4096",
            "m",
            ModelTooLarge,
        ),
        ("m=llama-3.1-8b&tp=5", "tp", DoesNotDivideHeads),
        ("m=llama-3.1-8b&tp=8&n=4", "tp", DoesNotDivideCards),
        ("m=llama-3.1-8b&tp=2&pp=3&n=4", "pp", DoesNotDivideCards),
        ("m=llama-3.1-8b&pp=64", "pp", MoreStagesThanLayers),
        ("m=llama-3.1-8b&ep=2", "ep", NoExperts),
        ("m=mixtral-8x7b&ep=3", "ep", DoesNotDivideExperts),
        ("rank=8000", "rank", RankAboveHidden),
        ("batch=4&micro=8", "micro", MicroAboveBatch),
        ("n=8&max=4", "max", CountAboveMax),
        ("m=llama-2-7b&seq=8192", "seq", LongerThanContext),
        (
            "m=llama-2-7b&do=serve&in=4096&out=1",
            "in",
            LongerThanContext,
        ),
    ] {
        let found = problems(query);
        assert!(
            found.contains(&(param.to_owned(), kind)),
            "{query}: {found:?}"
        );
    }
}

#[test]
fn an_overlong_link_is_read_as_far_as_it_goes() {
    let query = format!("m=llama-3.1-8b&do=serve&x={}&users=7", "y".repeat(9000));
    let parsed = parse(&query, catalog());
    assert!(
        parsed
            .problems
            .iter()
            .any(|p| p.kind == ProblemKind::LinkTooLong)
    );
    assert_eq!(to_query(&parsed.scenario), "m=llama-3.1-8b&do=serve");
}

#[test]
fn a_message_says_what_was_wrong_and_what_was_used() {
    let said = |query, lang| parse(query, catalog()).problems[0].message(lang);
    assert_eq!(
        said("do=serve&users=1e9", Lang::En),
        "Concurrent requests (users): 1e9 is too large; the most is 1M. 10 is used instead."
    );
    assert_eq!(
        said("do=serve&users=abc", Lang::ZhCn),
        "并发请求数（users）：“abc”不是数字。已改用 10。"
    );
    assert_eq!(
        said("m=lama-3.1-8b", Lang::En),
        "Model (m): no model called “lama-3.1-8b” in the catalog. Did you mean llama-3.1-8b? qwen2.5-7b is used instead."
    );
}

#[test]
fn what_is_shown_back_is_short_and_harmless() {
    let parsed = parse(&format!("seq={}%00%0A", "9a".repeat(100)), catalog());
    let given = &parsed.problems[0].given;
    assert!(given.chars().count() <= 40 && !given.contains(char::is_control));
}

#[test]
fn presets_are_canonical_and_cover_every_kind_of_job() {
    assert!(Preset::all().len() >= 8);
    assert_eq!(clean(&Preset::all()[0].query), Scenario::default());
    for preset in Preset::all() {
        let scenario = clean(&preset.query);
        assert_eq!(to_query(&scenario), preset.query, "{}", preset.id);
        for lang in Lang::ALL {
            assert!(!preset.title(lang).starts_with("preset."), "{}", preset.id);
            assert!(!preset.note(lang).starts_with("preset."), "{}", preset.id);
        }
    }
    for kind in JobKind::ALL {
        let word = format!("do={}", kind.name());
        assert!(
            Preset::all().iter().any(|p| p.query.contains(&word)),
            "{word}"
        );
    }
}

/// Links of version 1 and their canonical form. Lines are only ever added: a link that is in
/// the world keeps its meaning.
#[test]
fn links_of_version_1_mean_what_they_meant() {
    for line in include_str!("links/v1.tsv")
        .lines()
        .filter(|l| !l.starts_with('#'))
    {
        let (link, canonical) = line.split_once('\t').expect("link, tab, canonical form");
        let parsed = parse(link, catalog());
        assert_eq!(to_query(&parsed.scenario), canonical, "{link}");
    }
}
