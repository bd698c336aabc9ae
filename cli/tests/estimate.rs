//! `cardfit estimate`, run as a user runs it.
#![allow(
    clippy::unwrap_used,
    reason = "a test stops where its own set-up fails"
)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn cardfit(args: &[&str], input: Option<&[u8]>) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cardfit"))
        .arg("estimate")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that does not read its input may be gone already.
    let _ = stdin.write_all(input.unwrap_or_default());
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn answers(run: &Output) -> Vec<Value> {
    String::from_utf8(run.stdout.clone())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn messages(run: &Output) -> String {
    String::from_utf8(run.stderr.clone()).unwrap()
}

#[test]
fn a_query_is_answered_with_ranked_offers() {
    let run = cardfit(&["m=llama-3.1-8b&do=qlora"], None);
    assert!(run.status.success(), "{}", messages(&run));
    let answers = answers(&run);
    assert_eq!(answers.len(), 1);
    let offers = answers[0]["offers"].as_array().unwrap();
    assert!(offers.len() > 20);
    let fits = |offer: &Value| offer["fit"]["fit"] == "fits";
    assert!(fits(&offers[0]));
    // What fits stands before what does not, and the default order is by cost.
    let first_not = offers.iter().position(|o| !fits(o)).unwrap_or(offers.len());
    assert!(offers.iter().skip(first_not).all(|o| !fits(o)));
    let cost = |offer: &Value| offer["cost_of_job"]["mid"].as_f64();
    assert!(offers[0]["hours"]["mid"].as_f64() > Some(0.0));
    assert!(cost(&offers[0]) > Some(0.0));
    assert!(cost(&offers[0]) <= cost(&offers[1]));
}

#[test]
fn a_query_a_question_mark_and_a_whole_link_are_the_same_scenario() {
    let query = "m=qwen3-8b&do=lora&cur=cny";
    let forms = [
        query.to_owned(),
        format!("?{query}"),
        format!("https://example.org/cardfit/?{query}"),
    ];
    let run = cardfit(&["--top=2", &forms[0], &forms[1], &forms[2]], None);
    let answers = answers(&run);
    assert_eq!(answers.len(), 3, "{}", messages(&run));
    assert_eq!(answers[0]["offers"].as_array().unwrap().len(), 2);
    for (index, answer) in answers.iter().enumerate() {
        assert_eq!(answer["line"], index + 1);
        assert_eq!(answer["query"], answers[0]["query"]);
        assert_eq!(answer["offers"], answers[0]["offers"]);
    }
}

#[test]
fn json_and_a_query_are_the_same_scenario() {
    let json = r#"{"model": "qwen3-8b", "job": {"train": {"method": "qlora", "seq_len": 4096}}}"#;
    let run = cardfit(&["--top=2", json, "m=qwen3-8b&do=qlora&seq=4096"], None);
    let answers = answers(&run);
    assert_eq!(answers.len(), 2, "{}", messages(&run));
    assert_eq!(answers[0]["query"], answers[1]["query"]);
    assert_eq!(answers[0]["offers"], answers[1]["offers"]);
    let run = cardfit(
        &[r#"{"model": "qwen3-8b", "job": {"train": {"seq_len": "many"}}}"#],
        None,
    );
    assert_eq!(run.status.code(), Some(1));
    assert!(
        messages(&run).contains("job.train.seq_len"),
        "{}",
        messages(&run)
    );
}

#[test]
fn the_printed_query_leads_back_to_the_same_answer() {
    let first = answers(&cardfit(
        &["--top", "3", "do=serve&m=llama-3.3-70b&users=32"],
        None,
    ));
    let query = first[0]["query"].as_str().unwrap();
    let again = answers(&cardfit(&["--top", "3", query], None));
    assert_eq!(first[0]["offers"], again[0]["offers"]);
}

#[test]
fn a_bad_line_is_named_and_the_others_are_answered() {
    let input = "m=llama-3.1-8b\n\n# a note\nm=no-such-model\r\n{\"model\": \nn=0\nm=qwen3-8b";
    let run = cardfit(&["--top", "1"], Some(input.as_bytes()));
    assert_eq!(run.status.code(), Some(1));
    let lines: Vec<u64> = answers(&run)
        .iter()
        .map(|a| a["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [1, 7]);
    let messages = messages(&run);
    let of_line = |line: usize| -> Vec<&str> {
        messages
            .lines()
            .filter(|m| m.starts_with(&format!("cardfit: line {line}: ")))
            .collect()
    };
    assert!(of_line(4)[0].contains("no-such-model"), "{messages}");
    assert!(of_line(5)[0].contains("JSON"), "{messages}");
    assert!(of_line(6)[0].contains("(n)"), "{messages}");
}

#[test]
fn an_unknown_parameter_is_named_and_changes_nothing() {
    let plain = answers(&cardfit(&["--top", "1", "m=qwen3-8b"], None));
    let run = cardfit(&["--top", "1", "m=qwen3-8b&utm_source=x"], None);
    assert!(run.status.success());
    let tagged = answers(&run);
    assert_eq!(tagged[0]["offers"], plain[0]["offers"]);
    let warning = tagged[0]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("utm_source"), "{warning}");
}

#[test]
fn absurd_values_are_refused_and_no_number_is_infinite() {
    for query in [
        "tokens=1e18&do=pretrain",
        "n=99999999999999999999",
        "users=NaN&do=serve",
        "seq=-1&do=lora",
        "m=%ff%fe",
        "budget=inf",
    ] {
        let run = cardfit(&[query], None);
        assert!(matches!(run.status.code(), Some(0 | 1)), "{query}");
        let out = String::from_utf8(run.stdout.clone()).unwrap();
        assert!(!out.contains("inf") && !out.contains("NaN"), "{query}");
        assert!(!messages(&run).contains("panicked"), "{query}");
        assert_eq!(run.status.success(), !out.is_empty(), "{query}");
    }
    let long = "m=".to_owned() + &"x".repeat(100_000);
    let run = cardfit(&[], Some(long.as_bytes()));
    assert_eq!(run.status.code(), Some(1));
    assert!(messages(&run).len() < 1000);
}

#[test]
fn messages_come_in_the_language_asked_for() {
    let run = cardfit(&["--lang", "zh-CN", "m=no-such-model"], None);
    assert!(messages(&run).contains("没有"), "{}", messages(&run));
}

#[test]
fn a_wrong_call_says_how_to_call() {
    for args in [
        &["--top", "0", "m=qwen3-8b"][..],
        &["--top", "many", "m=qwen3-8b"],
        &["--top"],
        &["--lang", "fr", "m=qwen3-8b"],
        &["--nope"],
        &[],
    ] {
        let run = cardfit(args, None);
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        assert!(!run.stderr.is_empty() && run.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn images_networks_speech_and_science_are_answered_too() {
    for (query, unit) in [
        ("m=sdxl&do=image&cards=rtx-4090&n=1", "image"),
        ("m=wan-2.1-1.3b&do=video&cards=rtx-4090&n=1", "clip"),
        ("m=resnet-50&do=vision-train&cards=rtx-4090&n=1", "image"),
        ("do=transcribe&cards=rtx-4090&n=1", "audio_hour"),
        (
            "m=stencil&do=science&cards=a100-sxm4-80gb&n=1",
            "peta_operations",
        ),
    ] {
        let run = cardfit(&[query], None);
        assert!(run.status.success(), "{}", messages(&run));
        let answers = answers(&run);
        let offer = &answers[0]["offers"][0];
        assert_eq!(offer["run"]["kind"], "work", "{query}");
        assert_eq!(offer["run"]["speed"]["unit"], unit, "{query}");
        assert!(offer["cost_of_job"]["mid"].as_f64() > Some(0.0), "{query}");
    }
    let run = cardfit(&["m=qwen2.5-7b&do=image"], None);
    assert!(!run.status.success());
    assert!(messages(&run).contains("sdxl"), "{}", messages(&run));
}
