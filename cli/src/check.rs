//! `cardfit check`: a listing or a printout in, findings out.

use std::io::{Read, Write, stdin};

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::check::{Checked, Effect, Finding, LARGEST_PASTE_BYTES, check, effect, tell};
use cardfit::scenario::read_text;
use cardfit::text::{Lang, text};
use serde::Serialize;

use crate::{Arg, Args, Failure};

/// What `cardfit check --help` says.
pub const HELP: &str = "\
cardfit check: hold a listing or a machine's printout against the datasheet

USAGE
  cardfit check [OPTIONS] FILE
  nvidia-smi -q | cardfit check -

FILE is the text of a listing, or what nvidia-smi (also -q, -L, topo -m, --query-gpu), rocm-smi,
amd-smi, npu-smi info, mx-smi or lspci -vv printed. - reads standard input. Serial numbers, UUIDs,
bus addresses and process names are never shown.

OPTIONS
  --scenario LINK  say what a machine's real figures mean for this scenario
  --lang TAG       language: en, zh-CN
  --json           findings as one line of JSON

EXIT STATUS
  0 read, 1 nothing was recognised, 2 called wrongly
";

#[derive(Default)]
struct Options {
    lang: Lang,
    json: bool,
    scenario: Option<String>,
    file: Option<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    checked: &'a Checked,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'a Effect>,
}

/// Runs the command, writing what was found to `out`.
///
/// # Errors
/// When it was called wrongly, the file cannot be read, nothing was recognised, or the answer cannot be written.
pub fn run(args: &[String], out: &mut dyn Write) -> Result<(), Failure> {
    let options = options(args)?;
    let Some(file) = &options.file else {
        return Err(Failure::Usage(format!("a file is missing\n\n{HELP}")));
    };
    let pasted = read(file)?;
    let catalog = Catalog::embedded();
    let checked = check(&pasted, catalog, PriceBook::embedded());
    let effect = match (&checked, &options.scenario) {
        (Checked::Machine(report), Some(link)) => {
            let parsed = read_text(link, catalog)
                .map_err(|problem| Failure::Usage(problem.message(options.lang)))?;
            effect(
                &parsed.scenario,
                &report.machine,
                catalog,
                PriceBook::embedded(),
            )
        }
        _ => None,
    };
    if options.json {
        let answer = Answer {
            checked: &checked,
            effect: effect.as_ref(),
        };
        let json = serde_json::to_string(&answer).map_err(|e| Failure::Run(e.to_string()))?;
        writeln!(out, "{json}")?;
    } else {
        write(&checked, effect.as_ref(), options.lang, out)?;
    }
    match checked {
        Checked::Nothing => Err(Failure::Run(text(options.lang, "check.nothing", &[]))),
        _ => Ok(()),
    }
}

fn read(file: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    // No more than a check looks at, and a sign more.
    let limit = LARGEST_PASTE_BYTES as u64 + 4;
    let read = if file == "-" {
        stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|f| f.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::Usage(format!("{file}: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn options(args: &[String]) -> Result<Options, Failure> {
    let mut options = Options::default();
    let mut args = Args::new(args, "check");
    while let Some(arg) = args.take() {
        match arg {
            Arg::Option(name @ "--lang", given) => {
                let value = args.value(name, given)?;
                options.lang = Lang::from_tag(value).ok_or_else(|| {
                    let tags: Vec<&str> = Lang::ALL.iter().map(|lang| lang.tag()).collect();
                    Failure::Usage(format!("--lang takes {}, not '{value}'", tags.join(" or ")))
                })?;
            }
            Arg::Option(name @ "--scenario", given) => {
                options.scenario = Some(args.value(name, given)?.to_owned());
            }
            Arg::Option("--json", None) => options.json = true,
            Arg::Option(name, _) => return Err(args.unknown(name)),
            Arg::Value(file) if options.file.is_none() => options.file = Some(file.to_owned()),
            Arg::Value(more) => {
                return Err(Failure::Usage(format!("one file at a time, not '{more}'")));
            }
        }
    }
    Ok(options)
}

fn write(
    checked: &Checked,
    effect: Option<&Effect>,
    lang: Lang,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let catalog = Catalog::embedded();
    match checked {
        Checked::Nothing => {}
        Checked::Machine(report) => {
            for finding in &report.findings {
                line(finding, lang, out)?;
            }
        }
        Checked::Listing(report) => {
            for item in &report.items {
                let names: Vec<&str> = item
                    .cards
                    .iter()
                    .filter_map(|id| catalog.card(id))
                    .map(|card| card.name.as_str())
                    .collect();
                let name = item.name.clone().unwrap_or_else(|| names.join(" | "));
                writeln!(out, "# {name}")?;
                for finding in &item.findings {
                    line(finding, lang, out)?;
                }
            }
            for finding in &report.others {
                line(finding, lang, out)?;
            }
        }
    }
    if let Some(effect) = effect {
        writeln!(
            out,
            "\n{}",
            cardfit::check::tell_effect(lang, effect).join("\n")
        )?;
    }
    Ok(())
}

fn line(finding: &Finding, lang: Lang, out: &mut dyn Write) -> Result<(), Failure> {
    let told = tell(lang, finding, Catalog::embedded());
    let mut parts = vec![told.subject];
    if !told.read.is_empty() {
        parts.push(told.read);
    }
    write!(out, "[{}] {}", told.verdict, parts.join(": "))?;
    if !told.datasheet.is_empty() {
        write!(out, " ({})", told.datasheet)?;
    }
    writeln!(out)?;
    for why in told.why {
        writeln!(out, "    {why}")?;
    }
    if let Some(ask) = told.ask {
        writeln!(out, "    -> {ask}")?;
    }
    Ok(())
}
