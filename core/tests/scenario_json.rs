//! JSON scenarios: the same reader as links, another notation.

#![allow(clippy::expect_used, reason = "helpers of tests may end them")]

use cardfit::catalog::Catalog;
use cardfit::scenario::{Preset, ProblemKind, Scenario, from_json, parse, read_text, to_query};
use cardfit::text::Lang;

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

fn canonical(json: &str) -> String {
    let parsed = from_json(json, catalog()).expect("JSON");
    assert_eq!(parsed.problems, [], "{json}");
    assert_eq!(parsed.unknown, [], "{json}");
    to_query(&parsed.scenario)
}

#[test]
fn every_field_may_be_left_out() {
    assert_eq!(
        from_json("{}", catalog()).expect("JSON").scenario,
        Scenario::default()
    );
    assert_eq!(
        canonical(r#"{"model": "llama-3.1-8b", "job": {"serve": {"load": {"concurrency": 32}}}}"#),
        "m=llama-3.1-8b&do=serve&users=32"
    );
    assert_eq!(
        canonical(
            r#"{"model": {"catalog": "Llama 3.1 70B"}, "job": {"train": {"method": "full_finetune",
            "amount": {"samples": {"count": "2万"}}, "tensor_parallel": 8}},
            "shelf": {"cards": ["RTX 4090", "h100-sxm-80gb"]},
            "money": {"currency": "USD", "own_prices": [["rtx-4090", 0.4]], "billing": ["on_demand", "reserved_1y"]},
            "rank": "best_value"}"#
        ),
        "m=llama-3.1-70b&do=full&samples=20000&tp=8&cards=rtx-4090,h100-sxm-80gb&cur=usd&bill=on-demand,reserved-1y&price=rtx-4090:0.4&sort=value"
    );
}

#[test]
fn a_serialised_scenario_reads_back() {
    for preset in Preset::all() {
        let scenario = parse(&preset.query, catalog()).scenario;
        let json = serde_json::to_string_pretty(&scenario).expect("JSON");
        assert_eq!(
            from_json(&json, catalog()).expect("JSON").scenario,
            scenario,
            "{json}"
        );
    }
}

#[test]
fn a_wrong_field_is_named_with_its_path_and_line() {
    let parsed = from_json(
        "{\n \"model\": \"llama-3.1-8b\",\n \"job\": {\"serve\": {\n  \"load\": {\"concurrency\": 0},\n  \"tensor_parallel\": 5}}\n}",
        catalog(),
    )
    .expect("JSON");
    assert_eq!(
        parsed
            .problems
            .iter()
            .map(|p| p.message(Lang::En))
            .collect::<Vec<_>>(),
        [
            "Line 4: Concurrent requests (job.serve.load.concurrency): 0 is too small; the least is 1. 10 is used instead.",
            "Line 5: Tensor parallel (job.serve.tensor_parallel): 5-way tensor parallelism does not split 32 attention heads evenly. It is treated as not set.",
        ]
    );
}

#[test]
fn types_and_strangers_are_named() {
    let kinds = |json: &str| {
        let parsed = from_json(json, catalog()).expect("JSON");
        for lang in Lang::ALL {
            for problem in &parsed.problems {
                assert!(!problem.message(lang).contains("problem."));
            }
        }
        parsed
            .problems
            .into_iter()
            .map(|p| (p.path.unwrap_or_default(), p.kind))
            .collect::<Vec<_>>()
    };
    use ProblemKind::*;
    assert_eq!(kinds(r#"{"money": 5}"#), [("money".to_owned(), WrongType)]);
    assert_eq!(
        kinds(r#"{"job": {"train": {"seq_len": [1]}}}"#),
        [("job.train.seq_len".to_owned(), WrongType)]
    );
    assert_eq!(
        kinds(r#"{"job": {"train": {"seq_len": true}}}"#),
        [("job.train.seq_len".to_owned(), NotANumber)]
    );
    assert_eq!(
        kinds(r#"{"model": {"custom": {"attention": [{"layers": 3, "kind": "magic"}]}}}"#),
        [("model.custom.attention".to_owned(), NotAttention)]
    );
    assert!(!kinds(r#"{"job": {"train": {}, "serve": {}}}"#).is_empty());
    let parsed =
        from_json(r#"{"colour": "red", "shelf": {"colour": 1}}"#, catalog()).expect("JSON");
    assert_eq!(
        parsed.unknown,
        [
            ("colour".to_owned(), "red".to_owned()),
            ("shelf.colour".to_owned(), "1".to_owned())
        ]
    );
}

#[test]
fn what_is_not_json_is_refused_with_its_place() {
    let problem = from_json("{\n \"model\": }", catalog()).expect_err("broken");
    assert_eq!(problem.kind, ProblemKind::NotJson);
    let message = problem.message(Lang::En);
    assert!(message.contains("line 2 column 11"), "{message}");
    for text in ["", "[]", "5", "null", "{", "\"x\"", "{\"seq\": 1e999}"] {
        assert!(from_json(text, catalog()).is_err(), "{text}");
    }
}

#[test]
fn both_notations_are_told_apart() {
    let from = |text| to_query(&read_text(text, catalog()).expect("a scenario").scenario);
    assert_eq!(
        from("m=llama-3.1-8b&do=serve"),
        from(r#" {"model": "llama-3.1-8b", "job": "serve"}"#)
    );
    assert_eq!(
        from("https://example.org/fit/?m=llama-3.1-8b&do=serve#x"),
        "m=llama-3.1-8b&do=serve"
    );
    assert!(read_text("{", catalog()).is_err());
}
