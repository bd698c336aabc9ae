//! `cardfit check` as a process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot start the program has failed"
)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cardfit"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

const POWER_LIMITED: &str = "\
|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                    0 |
| N/A   34C    P0              60W / 200W |      4MiB / 81920MiB |      0%      Default |
";

#[test]
fn a_listing_is_judged_in_words() {
    let out = run(&["check", "-"], "A100 80G PCIe, 2039GB/s");
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success());
    assert!(
        said.contains("[Only for another variant] Memory bandwidth: 2039 GB/s"),
        "{said}"
    );
    assert!(said.contains("A100 SXM4 80GB"), "{said}");
}

#[test]
fn a_machine_is_judged_as_json_with_its_effect() {
    let args = [
        "check",
        "--json",
        "--scenario",
        "m=llama-3.1-8b&do=full&data=1000",
        "-",
    ];
    let out = run(&args, POWER_LIMITED);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["kind"], "machine");
    let findings = json["report"]["findings"].as_array().unwrap();
    assert!(
        findings
            .iter()
            .any(|f| f["subject"] == "power_limit" && f["verdict"] == "wrong")
    );
    let hours = |which: &str| json["effect"][which]["hours"]["mid"].as_f64();
    if let (Some(sold), Some(found)) = (hours("sold"), hours("found")) {
        assert!(found > sold, "{found} {sold}");
    }
    // The bus address was pasted and must not come back.
    assert!(!String::from_utf8(out.stdout).unwrap().contains("07:00"));
}

#[test]
fn what_is_not_recognised_says_so() {
    let out = run(&["check", "-"], "nothing of the kind");
    assert_eq!(out.status.code(), Some(1));
    assert!(
        String::from_utf8(out.stderr)
            .unwrap()
            .contains("recognised")
    );
    let chinese = run(&["check", "--lang", "zh-CN", "-"], "没有");
    assert!(
        String::from_utf8(chinese.stderr)
            .unwrap()
            .contains("没有认出")
    );
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    assert_eq!(run(&["check"], "").status.code(), Some(2));
    assert_eq!(run(&["check", "no-such-file"], "").status.code(), Some(2));
    assert_eq!(run(&["check", "--what", "-"], "").status.code(), Some(2));
    assert_eq!(run(&["check", "a", "b"], "").status.code(), Some(2));
    let help = run(&["check", "--help"], "");
    assert!(
        String::from_utf8(help.stdout)
            .unwrap()
            .contains("cardfit check")
    );
}
