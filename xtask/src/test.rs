//! Everything that has to pass before a change goes in.

use crate::browser::{self, Browser};
use crate::run::{Failure, Result, cargo, fail, run, run_reading, say, step};
use crate::{npm, page, tools};
use std::process::Command;

/// The package of the browser tests; the other tests run without a browser.
const BROWSER_TESTS: &str = "browser-tests";

/// One part of the whole test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Formatting.
    Fmt,
    /// Clippy with warnings denied, natively and for WebAssembly.
    Clippy,
    /// Every test that needs no browser.
    Native,
    /// The built page in a headless browser.
    Browser,
    /// The main ways through the built page in Firefox; skipped, with a message, where it cannot be had.
    Firefox,
}

impl Part {
    /// All parts, the quickest to fail first.
    pub const ALL: [Part; 5] = [
        Part::Fmt,
        Part::Clippy,
        Part::Native,
        Part::Browser,
        Part::Firefox,
    ];

    /// The part of that name.
    pub fn named(name: &str) -> Option<Part> {
        Part::ALL.into_iter().find(|part| part.name() == name)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Part::Fmt => "fmt",
            Part::Clippy => "clippy",
            Part::Native => "native",
            Part::Browser => "browser",
            Part::Firefox => "firefox",
        }
    }
}

/// Runs `parts` in order and stops at the first that fails.
pub fn run_parts(parts: &[Part]) -> Result<()> {
    let mut counts = Counts::default();
    for part in parts {
        match part {
            Part::Fmt => step("fmt", || {
                run(cargo().args(["fmt", "--all", "--", "--check"]))
            })?,
            Part::Clippy => clippy()?,
            Part::Native => counts.add(step("native tests", native)?),
            Part::Browser => counts.add(browser_tests()?),
            Part::Firefox => counts.add(firefox_tests()?),
        }
    }
    say("everything that was asked for passed");
    if counts != Counts::default() {
        println!("{counts}");
    }
    Ok(())
}

fn clippy() -> Result<()> {
    step("clippy", || {
        run(cargo()
            .args(["clippy", "--locked", "--workspace", "--all-targets"])
            .args(["--", "-D", "warnings"]))
    })?;
    step("clippy of the page for WebAssembly", || {
        tools::wasm_target()?;
        run(cargo()
            .args(["clippy", "--locked", "--package", "cardfit-page"])
            .args(["--target", "wasm32-unknown-unknown"])
            .args(["--", "-D", "warnings"]))
    })
}

fn native() -> Result<Counts> {
    count(cargo().args([
        "test",
        "--locked",
        "--workspace",
        "--exclude",
        BROWSER_TESTS,
    ]))
}

fn browser_tests() -> Result<Counts> {
    let pair = step("browser", browser::prepare)?;
    step("axe-core", tools::axe)?;
    step("page", page::build)?;
    step("npm package in Node", || npm::smoke(&page::dist()))?;
    step("browser tests", || {
        count(with(
            &pair,
            cargo().args(["test", "--locked", "--package", BROWSER_TESTS]),
        ))
    })
}

fn firefox_tests() -> Result<Counts> {
    let folder = crate::run::target_dir().join("tools");
    let Some(pair) = step("Firefox", || browser::prepare_firefox(&folder))? else {
        return Ok(Counts::default());
    };
    if !page::dist().join("index.html").exists() {
        step("draft of the page", page::build_draft)?;
    }
    step("Firefox tests", || {
        count(
            cargo()
                .args([
                    "test",
                    "--locked",
                    "--package",
                    BROWSER_TESTS,
                    "--test",
                    "firefox",
                ])
                .env(browser::FIREFOX, &pair.browser)
                .env(browser::GECKODRIVER, &pair.driver),
        )
    })
}

/// Writes screenshots of the built page to target/shots.
pub fn shots() -> Result<()> {
    let pair = step("browser", browser::prepare)?;
    step("page", page::build)?;
    step("screenshots", || {
        run(with(
            &pair,
            cargo().args([
                "run",
                "--quiet",
                "--locked",
                "--package",
                BROWSER_TESTS,
                "--bin",
                "shots",
            ]),
        ))
    })
}

fn with<'a>(pair: &Browser, command: &'a mut Command) -> &'a mut Command {
    command
        .env(browser::BROWSER, &pair.browser)
        .env(browser::DRIVER, &pair.driver)
}

/// How many tests ended how.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }

    /// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; …`; nothing from any other line.
    fn read(line: &str) -> Counts {
        let mut counts = Counts::default();
        let Some(result) = line.strip_prefix("test result: ") else {
            return counts;
        };
        for part in result.split([';', '.']) {
            match part.trim().split_once(' ') {
                Some((number, "passed")) => counts.passed = number.parse().unwrap_or(0),
                Some((number, "failed")) => counts.failed = number.parse().unwrap_or(0),
                Some((number, "ignored")) => counts.ignored = number.parse().unwrap_or(0),
                _ => {}
            }
        }
        counts
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        match self.ignored {
            0 => Ok(()),
            ignored => write!(f, ", {ignored} skipped"),
        }
    }
}

/// Runs a `cargo test` and counts its tests. That none ran is a failure.
fn count(test: &mut Command) -> Result<Counts> {
    let mut counts = Counts::default();
    let result = run_reading(test, |line| counts.add(Counts::read(line)));
    match result {
        Ok(()) if counts.passed == 0 => fail("not one test ran"),
        Ok(()) => Ok(counts),
        Err(failure) if counts.failed > 0 => Err(Failure(format!("{counts}: {failure}"))),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_of_cargo_test_are_added_up() {
        let mut counts = Counts::default();
        for line in [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 12 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
        ] {
            counts.add(Counts::read(line));
        }
        assert_eq!(counts.to_string(), "15 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn every_part_is_found_by_its_name() {
        for part in Part::ALL {
            assert_eq!(Part::named(part.name()), Some(part));
        }
        assert_eq!(Part::named("all"), None);
    }
}
