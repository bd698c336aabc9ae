//! `cardfit validate`, run as a user runs it.
#![allow(
    clippy::unwrap_used,
    reason = "a test stops where its own set-up fails"
)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use cardfit::catalog::Catalog;
use cardfit::measured::{Folds, INFERENCE_CSV, MeasuredFile, TRAINING_CSV, accuracy, judge};
use cardfit::text::Lang;

const TRAINING: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../core/data/measured/training.csv"
);
const INFERENCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../core/data/measured/inference.csv"
);

fn cardfit(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cardfit"))
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn rows_of(file: &str, out: &str) -> Vec<Vec<String>> {
    let out = scratch(out);
    let run = cardfit(&["validate", file, "--rows", out.to_str().unwrap()]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let mut reader = csv::Reader::from_path(&out).unwrap();
    assert_eq!(
        reader.headers().unwrap(),
        &csv::StringRecord::from(vec![
            "id", "metric", "measured", "estimate", "low", "high", "used", "reason"
        ])
    );
    reader
        .records()
        .map(|r| r.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

#[test]
fn every_row_of_the_input_is_answered_in_its_order() {
    for (file, out) in [(TRAINING, "t.csv"), (INFERENCE, "i.csv")] {
        let ids: Vec<String> = csv::Reader::from_path(file)
            .unwrap()
            .records()
            .map(|r| r.unwrap()[0].to_owned())
            .collect();
        let rows = rows_of(file, out);
        assert_eq!(rows.iter().map(|r| r[0].clone()).collect::<Vec<_>>(), ids);
        for row in rows {
            let number = |cell: &str| cell.parse::<f64>().ok().filter(|v| v.is_finite());
            match row[6].as_str() {
                "yes" => {
                    let (mid, low, high) = (number(&row[3]), number(&row[4]), number(&row[5]));
                    assert!(low > Some(0.0) && low <= mid && mid <= high, "{row:?}");
                    assert!(
                        number(&row[2]).is_some() || row[7].contains("out of memory"),
                        "{row:?}"
                    );
                }
                "no" => assert!(row[3].is_empty() && !row[7].is_empty(), "{row:?}"),
                _ => unreachable!("{row:?}"),
            }
        }
    }
}

#[test]
fn the_report_counts_all_rows() {
    let run = cardfit(&["validate", TRAINING, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(report["kind"], "training");
    let report = &report["report"];
    let rows = csv::Reader::from_path(TRAINING).unwrap().records().count() as u64;
    assert_eq!(report["rows"], rows);
    for groups in ["groups", "totals"] {
        let counted: u64 = report[groups]
            .as_array()
            .unwrap()
            .iter()
            .map(|g| g["used"].as_u64().unwrap() + g["unused"].as_u64().unwrap())
            .sum();
        assert_eq!(counted, rows);
    }
}

#[test]
fn what_is_no_measured_file_is_refused_with_a_reason() {
    let bad = |name: &str, content: &[u8]| {
        let path = scratch(name);
        fs::write(&path, content).unwrap();
        let run = cardfit(&["validate", path.to_str().unwrap()]);
        assert_eq!(run.status.code(), Some(2), "{name}");
        assert!(run.stdout.is_empty(), "{name}");
        text(&run.stderr)
    };
    assert!(bad("empty.csv", b"").contains("empty"));
    assert!(bad("columns.csv", b"a,b\n1,2\n").contains("id, model, metric, value"));
    assert!(bad("kind.csv", b"id,model,metric,value\nx-1,M,m,1\n").contains("engine"));
    assert!(bad("binary.csv", &[0xff, 0x00, 0x9f, 0x0a, 0x41]).contains("header"));
    assert!(bad("twice.csv", b"id,model,metric,value,id\n").contains("twice"));
    let run = cardfit(&["validate", "no/such/file.csv"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("no/such/file.csv"));
    for args in [
        &["validate"][..],
        &["validate", "a.csv", "b.csv"],
        &["validate", "--nope", TRAINING],
        &["validate", TRAINING, "--rows"],
        &["frobnicate"],
        &[],
    ] {
        let run = cardfit(args);
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        assert!(!run.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn rows_that_cannot_be_used_are_no_failure_but_are_told() {
    let path = scratch("unusable.csv");
    let content = "\u{feff}id,model,metric,value,engine\r\n\
                   a-1,M,decode_tokens_per_s_single,abc,vllm\r\n\
                   a-2,M,decode_tokens_per_s_single,,vllm\r\n";
    fs::write(&path, content).unwrap();
    let run = cardfit(&["validate", path.to_str().unwrap()]);
    assert!(run.status.success());
    let out = text(&run.stdout);
    assert!(out.contains("none of its 2 rows could be used"), "{out}");
    assert!(out.contains("value 'abc' is not a number"), "{out}");
    let rows = rows_of(path.to_str().unwrap(), "unusable-rows.csv");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0][6], "no");
}

#[test]
fn a_place_that_cannot_be_written_is_a_failure() {
    let run = cardfit(&["validate", TRAINING, "--rows", "/no/such/folder/rows.csv"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains("/no/such/folder/rows.csv"));
}

#[test]
fn the_accuracy_page_is_what_the_command_prints_now() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/accuracy.md");
    let run = cardfit(&["validate", "--markdown"]);
    assert!(run.status.success());
    assert!(
        text(&run.stdout) == fs::read_to_string(page).unwrap(),
        "docs/accuracy.md is out of date; run `cargo xtask calibrate report`"
    );
}

#[test]
fn the_pages_points_are_what_the_command_prints_now() {
    let points = concat!(env!("CARGO_MANIFEST_DIR"), "/../page/public/accuracy.json");
    let run = cardfit(&["validate", "--points"]);
    assert!(run.status.success());
    assert!(
        text(&run.stdout) == fs::read_to_string(points).unwrap(),
        "page/public/accuracy.json is out of date; run `cargo xtask calibrate report`"
    );
}

#[test]
fn the_readmes_show_the_figures_of_now() {
    let judged = |csv: &str| {
        let file = MeasuredFile::parse(csv).unwrap();
        judge(&file, Catalog::embedded(), Folds::embedded())
    };
    let (training, inference) = (judged(TRAINING_CSV), judged(INFERENCE_CSV));
    for (page, lang) in [("README.md", Lang::En), ("README.zh-CN.md", Lang::ZhCn)] {
        let path = format!("{}/../{page}", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).unwrap();
        let (_, rest) = text.split_once("<!-- accuracy: begin -->").unwrap();
        let (shown, _) = rest.split_once("<!-- accuracy: end -->").unwrap();
        assert_eq!(
            shown.trim(),
            accuracy::summary(&training, &inference, lang).trim(),
            "{page} is out of date; run `cargo xtask calibrate report`"
        );
    }
}

#[test]
fn help_names_commands_and_options() {
    let help = text(&cardfit(&["--help"]).stdout);
    assert!(help.contains("estimate") && help.contains("validate"));
    for args in [&["validate", "--help"][..], &["help", "validate"]] {
        let help = text(&cardfit(args).stdout);
        for option in ["--rows", "--loso", "--json", "--markdown"] {
            assert!(help.contains(option), "{option}");
        }
    }
}
