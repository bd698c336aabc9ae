//! `cardfit-fuzz TARGET RUNS [SEED]`: runs a reader of pasted text on that many mutated inputs.
//!
//! A panic ends the program; the message names the run, and the same seed and run make the same input again.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::check::{check_listing, effect, read_machine, report, tell};
use cardfit::scenario::parse;
use cardfit::text::Lang;
use cardfit_fuzz::{Dice, mutated};

const LISTINGS: &str = include_str!("../../core/tests/check/listings.txt");
const PRINTOUTS: &str = include_str!("../../core/tests/check/printouts.txt");
const WORDS: &str = include_str!("../../core/data/check/words.json");

/// What is run.
#[derive(Clone, Copy)]
enum Target {
    Listing,
    Printout,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout();
    let usage = "cardfit-fuzz listing|printout RUNS [SEED [FIRST_RUN]]";
    let target = match args.first().map(String::as_str) {
        Some("listing") => Target::Listing,
        Some("printout") => Target::Printout,
        _ => {
            let _ = writeln!(out, "{usage}");
            return ExitCode::from(2);
        }
    };
    let number = |at: usize, or: u64| match args.get(at) {
        Some(text) => text.parse().ok(),
        None => Some(or),
    };
    let (Some(runs), Some(seed), Some(first)) = (number(1, 10_000), number(2, 1), number(3, 0))
    else {
        let _ = writeln!(out, "{usage}");
        return ExitCode::from(2);
    };
    std::panic::set_hook(Box::new(|info| {
        let _ = writeln!(
            std::io::stderr(),
            "run {}: {info}",
            RUN.load(std::sync::atomic::Ordering::Relaxed)
        );
    }));
    let corpus = corpus(target);
    let words = words();
    let begun = Instant::now();
    let mut findings = 0u64;
    let mut bytes = 0u64;
    for run in first..first.saturating_add(runs) {
        RUN.store(run, std::sync::atomic::Ordering::Relaxed);
        let mut dice = Dice::new(seed, run);
        let input = mutated(&mut dice, &corpus, &words);
        bytes += input.len() as u64;
        findings += read(target, &input, run);
        if run % 1_000_000 == 999_999 {
            let _ = writeln!(out, "{} runs, {} s", run + 1, begun.elapsed().as_secs());
        }
    }
    let _ = writeln!(
        out,
        "{runs} runs of seed {seed} without a panic: {bytes} bytes, {findings} findings, {} s",
        begun.elapsed().as_secs()
    );
    ExitCode::SUCCESS
}

static RUN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

fn corpus(target: Target) -> Vec<String> {
    let (own, other) = match target {
        Target::Listing => (LISTINGS, PRINTOUTS),
        Target::Printout => (PRINTOUTS, LISTINGS),
    };
    let parts = |text: &str| -> Vec<String> {
        text.split("##### ")
            .skip(1)
            .filter_map(|part| part.split_once('\n'))
            .map(|(_, text)| text.to_owned())
            .collect()
    };
    // Mostly its own kind; now and then the other's.
    let mut all = parts(own);
    let some: Vec<String> = parts(other).into_iter().step_by(8).collect();
    all.extend(some);
    all
}

fn words() -> Vec<&'static str> {
    WORDS
        .split(['|', '"', ':', ',', '{', '}', '\n'])
        .filter(|word| !word.is_empty())
        .chain([
            "A100", "RTX 4090", "H100", "910B3", "MiB", "GB/s", "TFLOPS", "元/时", "¥", "8x",
        ])
        .collect()
}

fn read(target: Target, input: &str, run: u64) -> u64 {
    let catalog = Catalog::embedded();
    let prices = PriceBook::embedded();
    // Words and estimates cost more than reading: a share of the runs goes on to them.
    let tells = run.is_multiple_of(16);
    let said = |findings: &[cardfit::check::Finding]| {
        if tells {
            for finding in findings {
                let _told = tell(Lang::ZhCn, finding, catalog);
            }
        }
        findings.len() as u64
    };
    match target {
        Target::Listing => {
            let report = check_listing(input, catalog, prices);
            let all: Vec<_> = report.findings().cloned().collect();
            said(&all)
        }
        Target::Printout => {
            let machine = read_machine(input, catalog);
            if run.is_multiple_of(4096) {
                let scenario = parse("m=llama-3.1-8b&do=qlora", catalog).scenario;
                let _effect = effect(&scenario, &machine, catalog, prices);
            }
            said(&report(machine, catalog).findings)
        }
    }
}
