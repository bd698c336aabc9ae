//! `cargo xtask`: see the usage text below.

use std::process::ExitCode;
use xtask::run::{Failure, Result, cargo, fail, output, run, say, step};
use xtask::serve::Site;
use xtask::test::Part;
use xtask::{page, test};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  serve [--port 8080]     build the page and serve it on http://127.0.0.1:8080/
  build                   build the page into dist/, for any static host and any sub-path
  build --draft           build it quickly, large and slow, to look at a change
  build --draft --whole   with all that stands beside the page, for the browser tests
  test [PART...]          run every check, or only: fmt clippy native browser firefox
  shots                   build the page and write screenshots of it to target/shots/
  prices FILE.csv [ARGS]  put a price list of SkyPilot's or gpuhunt's form into core/data/prices.csv
  calibrate [ARGS...]     fit the estimator's constants again

Tools that are missing are installed under target/tools (and the test browser with apt-get, as root on Debian or Ubuntu).";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("[xtask] failed: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[&str]) -> Result<()> {
    match words {
        ["serve", options @ ..] => serve(port(options)?),
        ["build"] => step("page", page::build),
        ["build", "--draft"] => step("draft of the page", page::build_draft),
        ["build", "--draft", "--whole"] => {
            step("draft of all that is served", page::build_whole_draft)
        }
        ["test"] => test::run_parts(&Part::ALL),
        ["test", names @ ..] => test::run_parts(&parts(names)?),
        ["shots"] => test::shots(),
        ["prices", options @ ..] => prices(options),
        ["calibrate", options @ ..] => calibrate(options),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [] => fail(format!("no command was given\n\n{USAGE}")),
        _ => fail(format!("`{}` is no command\n\n{USAGE}", words.join(" "))),
    }
}

fn port(options: &[&str]) -> Result<u16> {
    let text = match options {
        [] => return Ok(8080),
        ["--port", port] => port,
        [one] if one.starts_with("--port=") => &one["--port=".len()..],
        _ => return fail("serve takes only --port NUMBER"),
    };
    text.parse().map_err(|_| {
        Failure(format!(
            "`{text}` is no port: give a number from 0 to 65535"
        ))
    })
}

fn parts(names: &[&str]) -> Result<Vec<Part>> {
    names
        .iter()
        .map(|name| {
            Part::named(name).ok_or_else(|| {
                Failure(format!(
                    "`{name}` is no part of the tests: take fmt, clippy, native, browser or firefox"
                ))
            })
        })
        .collect()
}

fn serve(port: u16) -> Result<()> {
    // The port is taken before the minutes of building, so that a port in use is told at once.
    let listener = Site::listen(port)?;
    step("page", page::build)?;
    let site = Site::open_on(listener, &page::dist(), "/")?;
    say(format_args!(
        "the page is on {} (Ctrl-C ends it)",
        site.url()?
    ));
    site.run();
    Ok(())
}

/// Refreshes the shipped price book from a list; `cardfit prices --help` names the options.
fn prices(options: &[&str]) -> Result<()> {
    const BOOK: &str = "core/data/prices.csv";
    run(cargo()
        .args(["run", "--quiet", "--package", "cardfit-cli", "--"])
        .args(["prices", "--into", BOOK])
        .args(options))
}

fn calibrate(options: &[&str]) -> Result<()> {
    const PACKAGE: &str = "cardfit-calibrate";
    let metadata = output(cargo().args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]));
    if !metadata.is_some_and(|text| text.contains(&format!("\"name\":\"{PACKAGE}\""))) {
        return fail(format!("the workspace has no package {PACKAGE} yet"));
    }
    run(cargo()
        .args(["run", "--release", "--package", PACKAGE, "--"])
        .args(options))
}
