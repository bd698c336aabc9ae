//! `cardfit prices` as a process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::PathBuf;
use std::process::{Command, Output};

fn cardfit(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cardfit"))
        .args(args)
        .output()
        .unwrap()
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("cardfit-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

const LIST: &str = "\
InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice
gpu-l40s-a_1gpu,L40S,1,8,32,1.5484,eu-north1,,
gpu-h100-sxm_8gpu,H100,8,128,1600,23.60,eu-north1,,10.00
gpu-broken,L40S,1,8,32,free,eu-north1,,
";

#[test]
fn a_list_with_a_bad_row_is_taken_without_it_and_the_row_is_named() {
    let list = file("list.csv", LIST);
    let output = cardfit(&[
        "prices",
        list.to_str().unwrap(),
        "--provider",
        "Nebius",
        "--as-of",
        "2026-12-01",
    ]);
    assert!(output.status.success());
    let rows = String::from_utf8(output.stdout).unwrap();
    assert_eq!(rows.lines().count(), 4, "{rows}");
    assert!(rows.contains("h100-sxm-80gb,Nebius,eu-north1,spot,USD,1.25,8,2026-12-01"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("line 4") && said.contains("free"), "{said}");
    std::fs::remove_file(list).unwrap();
}

#[test]
fn rows_go_into_a_book_and_a_second_time_change_nothing() {
    let list = file("again.csv", LIST);
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/data/prices.csv");
    let book = file("book.csv", &std::fs::read_to_string(shipped).unwrap());
    let into = || {
        let output = cardfit(&[
            "prices",
            "--into",
            book.to_str().unwrap(),
            "--provider=Nebius",
            "--as-of=2026-12-01",
            list.to_str().unwrap(),
        ]);
        assert!(output.status.success());
        std::fs::read_to_string(&book).unwrap()
    };
    let once = into();
    assert!(once.contains("l40s,Nebius,eu-north1,on_demand,USD,1.5484,1,2026-12-01"));
    assert_eq!(into(), once);
    std::fs::remove_file(list).unwrap();
    std::fs::remove_file(book).unwrap();
}

#[test]
fn what_cannot_be_used_is_refused_with_words() {
    let list = file("nobody.csv", LIST);
    let path = list.to_str().unwrap();
    for (args, status, word) in [
        (vec!["prices"], 2, "missing"),
        (vec!["prices", "/no/such/file.csv"], 2, "cannot read"),
        (
            vec!["prices", path, "--as-of", "2026-12-01"],
            2,
            "--provider",
        ),
        (
            vec!["prices", path, "--provider", "A", "--as-of", "soon"],
            1,
            "2026-11-30",
        ),
        (
            vec!["prices", path, "--currency", "shells"],
            2,
            "cny, usd or eur",
        ),
        (vec!["prices", path, "--what"], 2, "--what"),
    ] {
        let output = cardfit(&args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{args:?}: {said}");
        assert!(said.contains(word), "{args:?}: {said}");
    }
    std::fs::remove_file(list).unwrap();
}
