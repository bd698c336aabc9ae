//! `cardfit validate`: how far estimates are from measured results.

use std::fs;
use std::io::{Read, Write};

use cardfit::catalog::Catalog;
use cardfit::measured::accuracy::{self, percent};
use cardfit::measured::report::{Group, Report};
use cardfit::measured::{
    ConstantsFor, Folds, Judged, MeasuredFile, Shipped, Verdict, judge, points,
};

use crate::table::{Side, table};
use crate::{Arg, Args, Failure};

/// What `cardfit validate --help` says.
pub const HELP: &str = "\
cardfit validate: compare estimates with measured results

USAGE
  cardfit validate [OPTIONS] FILE.csv
  cardfit validate --markdown | --points

FILE.csv holds one measured result a row, in the form of core/data/measured/*.csv (its README
says the columns); - reads standard input. What a row states of its run is taken, what it leaves
open gets the default of its engine; nothing is searched.

OPTIONS
  --rows OUT.csv   write one line for every row of the file:
                   id,metric,measured,estimate,low,high,used,reason
  --loso           judge rows of the shipped sources with constants that were fitted without
                   their source (leave one source out); other rows as always
  --json           print the report as JSON
  --markdown       print docs/accuracy.md: the shipped rows, by leave-one-source-out
  --points         print page/public/accuracy.json: each of those rows as a point

The error of a row is |estimate / measured - 1|. 'in range' is the share of rows whose measured
value lies between low and high. 'lean' is the median of estimate / measured.
EXIT STATUS
  0 done (also where no row could be used), 1 a file could not be written, 2 no such file or not
  a file of measured results
";

#[derive(Default)]
struct Options {
    file: Option<String>,
    rows: Option<String>,
    loso: bool,
    json: bool,
    markdown: bool,
    points: bool,
}

/// Runs the command, writing the report to `out`.
///
/// # Errors
/// When it was called wrongly, the file is not readable as measured results, or something cannot
/// be written.
pub fn run(args: &[String], out: &mut dyn Write) -> Result<(), Failure> {
    let options = options(args)?;
    if options.markdown || options.points {
        return shipped(options.points, out);
    }
    let Some(path) = &options.file else {
        return Err(Failure::Usage(
            "a file is missing: cardfit validate FILE.csv".to_owned(),
        ));
    };
    let text = read(path)?;
    let file =
        MeasuredFile::parse(&text).map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
    let constants: &dyn ConstantsFor = if options.loso {
        Folds::embedded()
    } else {
        &Shipped
    };
    let verdicts = judge(&file, Catalog::embedded(), constants);
    if let Some(rows) = &options.rows {
        write_rows(rows, &verdicts)?;
    }
    let report = Report::of(&verdicts);
    if options.json {
        let json = serde_json::json!({
            "file": path,
            "kind": match file {
                MeasuredFile::Training(_) => "training",
                MeasuredFile::Inference(_) => "inference",
            },
            "leave_one_source_out": options.loso,
            "report": report,
        });
        writeln!(out, "{json}")?;
    } else {
        write!(out, "{}", text_report(path, &report, options.loso))?;
    }
    Ok(())
}

fn options(args: &[String]) -> Result<Options, Failure> {
    let mut options = Options::default();
    let mut args = Args::new(args, "validate");
    while let Some(arg) = args.take() {
        match arg {
            Arg::Option(name @ "--rows", given) => {
                options.rows = Some(args.value(name, given)?.to_owned());
            }
            Arg::Option("--loso", None) => options.loso = true,
            Arg::Option("--json", None) => options.json = true,
            Arg::Option("--markdown", None) => options.markdown = true,
            Arg::Option("--points", None) => options.points = true,
            Arg::Option(name, _) => return Err(args.unknown(name)),
            Arg::Value(file) if options.file.is_none() => options.file = Some(file.to_owned()),
            Arg::Value(more) => {
                return Err(Failure::Usage(format!(
                    "one file at a time: '{more}' is one too many"
                )));
            }
        }
    }
    if (options.markdown || options.points) && options.file.is_some() {
        return Err(Failure::Usage(
            "--markdown and --points are about the shipped rows and take no file".to_owned(),
        ));
    }
    Ok(options)
}

fn read(path: &str) -> Result<String, Failure> {
    let bytes = if path == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .map(|_| bytes)
            .map_err(|error| Failure::Usage(format!("standard input: {error}")))?
    } else {
        fs::read(path).map_err(|error| Failure::Usage(format!("{path}: {error}")))?
    };
    // A stray byte of another encoding, in a note say, costs that letter and no more.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write_rows(path: &str, verdicts: &[Verdict]) -> Result<(), Failure> {
    let wrap = |error: &dyn std::fmt::Display| Failure::Run(format!("{path}: {error}"));
    let mut writer = csv::Writer::from_path(path).map_err(|e| wrap(&e))?;
    writer
        .write_record([
            "id", "metric", "measured", "estimate", "low", "high", "used", "reason",
        ])
        .map_err(|e| wrap(&e))?;
    for verdict in verdicts {
        let measured = verdict.measured.map_or(String::new(), |v| v.to_string());
        let (estimate, low, high, used, reason) = match &verdict.judged {
            Judged::Used { estimate, fits } => (
                significant(estimate.mid),
                significant(estimate.low),
                significant(estimate.high),
                "yes",
                match (verdict.ran_out_of_memory, fits) {
                    (true, Some(true)) => "ran out of memory, shown as fitting",
                    (true, Some(false)) => "ran out of memory, not shown as fitting",
                    (true, None) => "ran out of memory",
                    _ => "",
                },
            ),
            Judged::Unused { reason } => (
                String::new(),
                String::new(),
                String::new(),
                "no",
                reason.as_str(),
            ),
        };
        writer
            .write_record([
                &verdict.id,
                &verdict.metric,
                &measured,
                &estimate,
                &low,
                &high,
                used,
                reason,
            ])
            .map_err(|e| wrap(&e))?;
    }
    writer.flush().map_err(|e| wrap(&e))
}

/// A positive number with six significant digits and no exponent.
fn significant(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let decimals = (5.0 - value.log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Prints what the product ships about its own rows.
fn shipped(as_points: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let parsed =
        |csv: &str| MeasuredFile::parse(csv).map_err(|error| Failure::Run(error.to_string()));
    let files = [
        parsed(cardfit::measured::TRAINING_CSV)?,
        parsed(cardfit::measured::INFERENCE_CSV)?,
    ];
    let [training_file, inference_file] = &files;
    let of = |file| judge(file, Catalog::embedded(), Folds::embedded());
    let (training, inference) = (of(training_file), of(inference_file));
    if as_points {
        let judged = [
            (training_file, training.as_slice()),
            (inference_file, inference.as_slice()),
        ];
        write!(out, "{}", points::json(&judged))?;
    } else {
        write!(out, "{}", accuracy::markdown(&training, &inference))?;
    }
    Ok(())
}

fn text_report(path: &str, report: &Report, loso: bool) -> String {
    let mut out = String::new();
    let memory = report.totals.iter().any(|g| g.memory.is_some());
    out.push_str("By metric, kind of job, card family and engine\n\n");
    out.push_str(&groups(&report.groups, memory, true));
    out.push_str("\nIn all, by metric and kind of job\n\n");
    out.push_str(&groups(&report.totals, memory, false));
    if !report.reasons.is_empty() {
        out.push_str("\nRows that could not be used, and why\n\n");
        let rows: Vec<Vec<String>> = report
            .reasons
            .iter()
            .map(|(reason, count)| vec![count.to_string(), reason.clone()])
            .collect();
        out.push_str(&table(&[("rows", Side::Right), ("why", Side::Left)], &rows));
    }
    out.push('\n');
    out.push_str(&one_line(path, report, loso));
    out
}

fn groups(groups: &[Group], memory: bool, fine: bool) -> String {
    let mut heads = vec![("metric", Side::Left), ("kind", Side::Left)];
    if fine {
        heads.extend([("card family", Side::Left), ("engine", Side::Left)]);
    }
    heads.extend(
        [
            "used", "unused", "median", "80 %", "95 %", "lean", "in range",
        ]
        .map(|h| (h, Side::Right)),
    );
    if memory {
        heads.extend(
            ["out of memory", "false fits", "above high", "refused"].map(|h| (h, Side::Right)),
        );
    }
    if fine {
        heads.push(("why unused", Side::Left));
    }
    let rows: Vec<Vec<String>> = groups
        .iter()
        .map(|g| {
            let mut row = vec![g.key.metric.clone(), g.key.kind.clone()];
            if fine {
                row.extend([g.key.family.clone(), g.key.engine.clone()]);
            }
            row.extend([g.used.to_string(), g.unused.to_string()]);
            row.extend(match g.errors {
                Some(e) => [
                    percent(e.median),
                    percent(e.p80),
                    percent(e.p95),
                    format!("{:.2}", e.bias),
                    percent(e.inside),
                ],
                None => ["-"; 5].map(str::to_owned),
            });
            if memory {
                row.extend(match g.memory {
                    Some(m) => {
                        [m.ran_out, m.false_fits, m.above_high, m.refused].map(|n| n.to_string())
                    }
                    None => ["-"; 4].map(str::to_owned),
                });
            }
            if fine {
                let reasons: Vec<String> = g
                    .reasons
                    .iter()
                    .map(|(reason, count)| format!("{count} {reason}"))
                    .collect();
                row.push(reasons.join("; "));
            }
            row
        })
        .collect();
    table(&heads, &rows)
}

fn one_line(path: &str, report: &Report, loso: bool) -> String {
    let how = if loso { ", leaving one source out" } else { "" };
    if report.rows == 0 {
        return format!("{path}: no rows\n");
    }
    if report.used == 0 {
        return format!(
            "{path}: none of its {} rows could be used; the reasons stand above\n",
            report.rows
        );
    }
    let compared: usize = report
        .totals
        .iter()
        .filter_map(|g| g.errors)
        .map(|e| e.rows)
        .sum();
    let inside: f64 = report
        .totals
        .iter()
        .filter_map(|g| g.errors)
        .map(|e| e.inside * e.rows as f64)
        .sum();
    let false_fits = match report.totals.iter().filter_map(|g| g.memory).count() {
        0 => String::new(),
        _ => format!(", false fits {}", report.false_fits()),
    };
    let share = if compared == 0 {
        "nothing to compare".to_owned()
    } else {
        format!(
            "{} of {compared} compared rows in range",
            percent(inside / compared as f64)
        )
    };
    format!(
        "{path}: {} of {} rows used{how}, {share}{false_fits}\n",
        report.used, report.rows
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits() {
        assert_eq!(significant(12.5), "12.5");
        assert_eq!(significant(1234567.0), "1234567");
        assert_eq!(significant(0.001_234_567_8), "0.00123457");
        assert_eq!(significant(79.999_999_9), "80");
    }
}
