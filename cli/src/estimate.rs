//! `cardfit estimate`: scenarios in, ranked offers out.

use std::io::{BufRead, IsTerminal, Write, stdin};

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::{Assumption, Offer, rank};
use cardfit::scenario::{Outcome, Problem, read_text};
use cardfit::text::{Lang, text};
use serde::Serialize;

use crate::{Arg, Args, Failure, complain};

/// What `cardfit estimate --help` says.
pub const HELP: &str = "\
cardfit estimate: answer scenarios with ranked offers

USAGE
  cardfit estimate [OPTIONS] [SCENARIO...]
  cardfit estimate [OPTIONS] < scenarios.txt

A scenario is the query of a link ('m=llama-3.1-8b&do=qlora'), a whole link, or a scenario as
JSON on one line. Without arguments, scenarios are read from standard input, one a line; empty
lines and lines that begin with # are passed over.

For each scenario one line of JSON is printed: line, query, warnings, offers (best first),
assumptions. A scenario with a value that cannot be used gets a message on standard error that
names its line and field, and no answer; the others are answered.

OPTIONS
  --top N      only the first N offers of each scenario
  --lang TAG   language of messages and warnings: en, zh-CN

EXIT STATUS
  0 all scenarios answered, 1 some not, 2 called wrongly
";

#[derive(Default)]
struct Options {
    top: Option<usize>,
    lang: Lang,
    scenarios: Vec<String>,
}

/// One line of the answer.
#[derive(Serialize)]
struct Answer<'a> {
    line: usize,
    query: String,
    warnings: Vec<String>,
    offers: &'a [Offer],
    assumptions: &'a [Assumption],
}

/// Runs the command, writing one line of JSON a scenario to `out`.
///
/// # Errors
/// When it was called wrongly, a scenario could not be answered, or the answer cannot be
/// written.
pub fn run(args: &[String], out: &mut dyn Write) -> Result<(), Failure> {
    let options = options(args)?;
    let mut asked = 0;
    let mut refused = 0;
    let mut answer_line = |line: usize, scenario: &str| -> Result<(), Failure> {
        let scenario = scenario.trim();
        if scenario.is_empty() || scenario.starts_with('#') {
            return Ok(());
        }
        asked += 1;
        match answer(line, scenario, &options) {
            Ok(json) => writeln!(out, "{json}")?,
            Err(messages) => {
                refused += 1;
                for message in messages {
                    complain(&format!("line {line}: {message}"));
                }
            }
        }
        Ok(())
    };
    if options.scenarios.is_empty() {
        let input = stdin();
        if input.is_terminal() {
            return Err(Failure::Usage(format!("no scenario was given\n\n{HELP}")));
        }
        let mut input = input.lock();
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            let read = input
                .read_until(b'\n', &mut bytes)
                .map_err(|error| Failure::Run(format!("standard input: {error}")))?;
            if read == 0 {
                break;
            }
            let scenario = String::from_utf8_lossy(&bytes);
            answer_line(line, scenario.trim_start_matches('\u{feff}'))?;
        }
    } else {
        for (index, scenario) in options.scenarios.iter().enumerate() {
            answer_line(index + 1, scenario)?;
        }
    }
    match (asked, refused) {
        (0, _) => Err(Failure::Usage("no scenario was given".to_owned())),
        (_, 0) => Ok(()),
        _ => Err(Failure::Said),
    }
}

fn options(args: &[String]) -> Result<Options, Failure> {
    let mut options = Options::default();
    let mut args = Args::new(args, "estimate");
    while let Some(arg) = args.take() {
        match arg {
            Arg::Option(name @ "--top", given) => {
                let value = args.value(name, given)?;
                let top = value.parse().ok().filter(|top| *top > 0);
                options.top = Some(top.ok_or_else(|| {
                    Failure::Usage(format!("--top takes a whole number above 0, not '{value}'"))
                })?);
            }
            Arg::Option(name @ "--lang", given) => {
                let value = args.value(name, given)?;
                options.lang = Lang::from_tag(value).ok_or_else(|| {
                    let tags: Vec<&str> = Lang::ALL.iter().map(|lang| lang.tag()).collect();
                    Failure::Usage(format!("--lang takes {}, not '{value}'", tags.join(" or ")))
                })?;
            }
            Arg::Option(name, _) => return Err(args.unknown(name)),
            Arg::Value(scenario) => options.scenarios.push(scenario.to_owned()),
        }
    }
    Ok(options)
}

/// The answer as JSON, or everything that is wrong with the scenario.
fn answer(line: usize, scenario: &str, options: &Options) -> Result<String, Vec<String>> {
    let catalog = Catalog::embedded();
    let said = |problem: &Problem| {
        // The input's line is said already; within one line of JSON the other is always 1.
        let problem = Problem {
            line: None,
            ..problem.clone()
        };
        problem.message(options.lang)
    };
    // Where the page goes on with another value, a script gets no answer.
    let refused = |problem: &Problem| {
        said(&Problem {
            outcome: Outcome::Refused,
            ..problem.clone()
        })
    };
    let parsed = read_text(scenario, catalog).map_err(|problem| vec![refused(&problem)])?;
    let (warnings, faults): (Vec<&Problem>, Vec<&Problem>) =
        parsed.problems.iter().partition(|p| p.is_warning());
    if !faults.is_empty() {
        return Err(faults.into_iter().map(refused).collect());
    }
    // Links gather parameters on their way (campaign tags) that change nothing.
    let unknown = parsed
        .unknown
        .iter()
        .map(|(name, _)| text(options.lang, "cli.unknown_parameter", &[("name", name)]));
    let ranking = rank(&parsed.scenario, catalog, PriceBook::embedded());
    let shown = options.top.unwrap_or(usize::MAX).min(ranking.offers.len());
    let answer = Answer {
        line,
        query: parsed.to_query(),
        warnings: warnings.into_iter().map(said).chain(unknown).collect(),
        offers: ranking.offers.get(..shown).unwrap_or_default(),
        assumptions: &ranking.assumptions,
    };
    serde_json::to_string(&answer).map_err(|error| vec![error.to_string()])
}
