//! The command line over the same library as the page.
//!
//! Answers go to standard output, messages to standard error. Exit status: 0 done, 1 some lines
//! could not be answered or a file could not be written, 2 called wrongly or given a file that is
//! no file of measured results.

mod check;
mod data;
mod estimate;
mod prices;
mod table;
mod validate;

use std::io::{self, Write};
use std::process::ExitCode;

const HELP: &str = "\
cardfit: which rentable cards fit a model and a scenario, how long it takes, what it costs

USAGE
  cardfit estimate [OPTIONS] [SCENARIO...]   answer scenarios with ranked offers, as JSON
  cardfit validate [OPTIONS] FILE.csv        compare estimates with measured results
  cardfit prices [OPTIONS] FILE.csv          read a price list of others
  cardfit check [OPTIONS] FILE               hold a listing or a printout against the datasheet
  cardfit data [OPTIONS] DIRECTORY           write the catalog, prices and measured results as JSON and CSV
  cardfit help [COMMAND]                     say more about a command
  cardfit --version

EXAMPLES
  cardfit estimate 'm=llama-3.1-8b'
  cardfit estimate --top 3 < scenarios.txt
  cardfit validate core/data/measured/inference.csv --rows rows.csv
  nvidia-smi -q | cardfit check -
";

/// How a command ended, short of success.
#[derive(Debug)]
pub enum Failure {
    /// Called wrongly, or the input is not what it has to be: exit status 2.
    Usage(String),
    /// Something went wrong on the way: exit status 1.
    Run(String),
    /// Everything was said already: exit status 1.
    Said,
    /// Whoever read the output has enough: no failure.
    ReaderGone,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ReaderGone
        } else {
            Self::Run(format!("cannot write the answer: {error}"))
        }
    }
}

fn main() -> ExitCode {
    // Arguments that are not UTF-8 show up as replacement characters in the message about them.
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    match run(&args) {
        Ok(()) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(Failure::Said) => ExitCode::FAILURE,
        Err(Failure::Run(message)) => {
            complain(&message);
            ExitCode::FAILURE
        }
        Err(Failure::Usage(message)) => {
            complain(&message);
            ExitCode::from(2)
        }
    }
}

/// One line on standard error. A closed standard error leaves nobody to tell.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "cardfit: {message}");
}

fn run(args: &[String]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let Some((command, rest)) = args.split_first() else {
        return Err(Failure::Usage(format!("a command is missing\n\n{HELP}")));
    };
    let wants_help = rest.iter().any(|arg| arg == "--help" || arg == "-h");
    match command.as_str() {
        "estimate" if wants_help => write!(out, "{}", estimate::HELP)?,
        "estimate" => estimate::run(rest, &mut out)?,
        "check" if wants_help => write!(out, "{}", check::HELP)?,
        "check" => check::run(rest, &mut out)?,
        "validate" if wants_help => write!(out, "{}", validate::HELP)?,
        "validate" => validate::run(rest, &mut out)?,
        "prices" if wants_help => write!(out, "{}", prices::HELP)?,
        "prices" => prices::run(rest, &mut out)?,
        "data" if wants_help => write!(out, "{}", data::HELP)?,
        "data" => data::run(rest, &mut out)?,
        "help" | "--help" | "-h" => match rest.first().map(String::as_str) {
            Some("data") => write!(out, "{}", data::HELP)?,
            Some("estimate") => write!(out, "{}", estimate::HELP)?,
            Some("validate") => write!(out, "{}", validate::HELP)?,
            Some("prices") => write!(out, "{}", prices::HELP)?,
            Some("check") => write!(out, "{}", check::HELP)?,
            _ => write!(out, "{HELP}")?,
        },
        "--version" | "-V" => writeln!(out, "cardfit {}", env!("CARGO_PKG_VERSION"))?,
        other => {
            return Err(Failure::Usage(format!(
                "unknown command '{other}'; `cardfit --help` names them all"
            )));
        }
    }
    out.flush()?;
    Ok(())
}

/// Arguments of one command, read in their order.
pub struct Args<'a> {
    left: std::slice::Iter<'a, String>,
    command: &'static str,
    only_values: bool,
}

/// One argument.
pub enum Arg<'a> {
    /// `--name`, with its value where it was written `--name=value`.
    Option(&'a str, Option<&'a str>),
    /// Anything else.
    Value(&'a str),
}

impl<'a> Args<'a> {
    /// The arguments of `command`.
    pub fn new(args: &'a [String], command: &'static str) -> Self {
        Self {
            left: args.iter(),
            command,
            only_values: false,
        }
    }

    /// The next argument. After `--` everything is a value; `-` alone is one.
    pub fn take(&mut self) -> Option<Arg<'a>> {
        let arg = self.left.next()?;
        if self.only_values || !arg.starts_with("--") {
            return Some(Arg::Value(arg));
        }
        if arg == "--" {
            self.only_values = true;
            return self.take();
        }
        Some(match arg.split_once('=') {
            Some((name, value)) => Arg::Option(name, Some(value)),
            None => Arg::Option(arg, None),
        })
    }

    /// The value of option `name`: what stood behind `=`, or the next argument.
    pub fn value(&mut self, name: &str, given: Option<&'a str>) -> Result<&'a str, Failure> {
        given
            .or_else(|| self.left.next().map(String::as_str))
            .filter(|value| !value.is_empty())
            .ok_or_else(|| Failure::Usage(format!("{name} needs a value")))
    }

    /// The message about an option that the command does not have.
    pub fn unknown(&self, name: &str) -> Failure {
        Failure::Usage(format!(
            "unknown option '{name}'; `cardfit {} --help` names them all",
            self.command
        ))
    }
}
