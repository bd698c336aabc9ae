//! The page of documentation that says how far off the estimates are, in Markdown.

use std::fmt::Write;

use super::report::{Errors, Group, GroupKey, Report, grouped};
use super::{Verdict, source_of};
use crate::catalog::{Catalog, PriceBook};
use crate::text::Lang;

/// One quantity that people ask for, over the metrics that measure it.
struct Quantity {
    name: &'static str,
    name_zh: &'static str,
    metrics: &'static [&'static str],
    kinds: &'static [&'static str],
}

const TRAINING_KINDS: [&str; 4] = ["pretrain", "full_ft", "lora", "qlora"];
const SERVING_KINDS: [&str; 1] = ["llm"];

const IMAGE_KINDS: [&str; 3] = ["diffusion_image", "diffusion_video", "diffusion"];
const NETWORK_KINDS: [&str; 2] = ["vision", "embedding"];

const QUANTITIES: [Quantity; 10] = [
    Quantity {
        name: "Training: peak memory",
        name_zh: "训练：显存峰值",
        metrics: &["peak_mem_gb"],
        kinds: &TRAINING_KINDS,
    },
    Quantity {
        name: "Training: speed",
        name_zh: "训练：速度",
        metrics: &[
            "tokens_per_s_per_gpu",
            "tflops_per_gpu",
            "mfu_pct",
            "hfu_pct",
            "samples_per_s",
        ],
        kinds: &TRAINING_KINDS,
    },
    Quantity {
        name: "Serving: memory",
        name_zh: "推理：显存",
        metrics: &["peak_mem_gb", "weights_mem_gb"],
        kinds: &SERVING_KINDS,
    },
    Quantity {
        name: "Serving: speed of one user",
        name_zh: "推理：单用户速度",
        metrics: &["decode_tokens_per_s_single", "total_tokens_per_s_single"],
        kinds: &SERVING_KINDS,
    },
    Quantity {
        name: "Serving: prefill and first token",
        name_zh: "推理：预填充和首字",
        metrics: &["prefill_tokens_per_s", "ttft_ms"],
        kinds: &SERVING_KINDS,
    },
    Quantity {
        name: "Serving: throughput of many users",
        name_zh: "推理：多用户总吞吐",
        metrics: &[
            "throughput_output_tokens_per_s_total",
            "requests_per_s",
            "request_latency_ms",
            "samples_per_s",
        ],
        kinds: &SERVING_KINDS,
    },
    Quantity {
        name: "Serving: time per token on saturated servers",
        name_zh: "推理：满载时每字用时",
        metrics: &["tpot_ms"],
        kinds: &SERVING_KINDS,
    },
    Quantity {
        name: "Images and clips: peak memory",
        name_zh: "图片与视频：显存峰值",
        metrics: &["peak_mem_gb", "weights_mem_gb"],
        kinds: &IMAGE_KINDS,
    },
    Quantity {
        name: "Images and clips: speed",
        name_zh: "图片与视频：速度",
        metrics: &[
            "images_per_s",
            "seconds_per_image",
            "seconds_per_video",
            "steps_per_s",
        ],
        kinds: &IMAGE_KINDS,
    },
    Quantity {
        name: "Vision networks and encoders: speed",
        name_zh: "视觉网络与编码器：速度",
        metrics: &["images_per_s", "samples_per_s", "seconds_per_image"],
        kinds: &NETWORK_KINDS,
    },
];

/// Place of the quantity that a metric of a kind of job measures, in the order of the summary.
pub fn quantity_of(metric: &str, kind: &str) -> Option<usize> {
    QUANTITIES
        .iter()
        .position(|q| q.metrics.contains(&metric) && q.kinds.contains(&kind))
}

/// Names of the quantities, in that order.
pub fn quantity_names(lang: Lang) -> Vec<&'static str> {
    QUANTITIES
        .iter()
        .map(|q| match lang {
            Lang::En => q.name,
            Lang::ZhCn => q.name_zh,
        })
        .collect()
}

/// Rows in a group from which its range is held to account.
const ENOUGH_ROWS: usize = 20;

/// Share of rows, in 100, that a range is meant to hold.
const IN_RANGE: std::ops::RangeInclusive<f64> = 75.0..=90.0;

/// Rows listed one by one.
const FURTHEST: usize = 20;

/// A share or an error as text, `12.3 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The few lines that a reader wants first: one row a quantity.
pub fn summary(training: &[Verdict], inference: &[Verdict], lang: Lang) -> String {
    let mut out = String::new();
    let heads = match lang {
        Lang::En => {
            "| quantity | rows | median error | 80 of 100 within | 95 of 100 within | in range |"
        }
        Lang::ZhCn => "| 数值 | 行数 | 误差中位数 | 八成不超过 | 九成五不超过 | 落在区间内 |",
    };
    let _ = writeln!(out, "{heads}\n| --- | ---: | ---: | ---: | ---: | ---: |");
    for quantity in &QUANTITIES {
        let name = match lang {
            Lang::En => quantity.name,
            Lang::ZhCn => quantity.name_zh,
        };
        let rows: Vec<Verdict> = training
            .iter()
            .chain(inference)
            .filter(|v| {
                quantity.metrics.contains(&v.metric.as_str())
                    && quantity.kinds.contains(&v.kind.as_str())
            })
            .cloned()
            .collect();
        let group = grouped(&rows, |_| GroupKey::default());
        match group.first().and_then(|g| g.errors) {
            Some(e) => {
                let _ = writeln!(
                    out,
                    "| {} | {} | {} | {} | {} | {} |",
                    name,
                    e.rows,
                    percent(e.median),
                    percent(e.p80),
                    percent(e.p95),
                    percent(e.inside)
                );
            }
            None => {
                let _ = writeln!(out, "| {name} | 0 | - | - | - | - |");
            }
        }
    }
    out
}

/// What sources said that the estimator had not seen, as it stood before any of their rows was
/// added.
fn checked_blind() -> String {
    let mut out = String::from(
        "\n## Checked blind\n\nEach of these sources was looked for after the fit, estimated once with the constants of that \
         day, and only then\nadded to the rows above, so these are errors on results that neither constants nor formulas had \
         seen; further pages of\na known source count too. What they showed has been put right since where a reason was found: \
         copies of logits in the loss\nof Transformers, torchtune's loss in chunks, the dispatch of experts, compiled\nblocks, collectives that FSDP hides; in serving, attention that is \
         not split over cards,\nTensorRT-LLM's way to admit requests, prompts of llama.cpp through experts, slow answers of short \
         requests on full\nservers, passes over prompts that the host launches kernel by kernel, prompts that enter one by one, \
         how SGLang divides its\npool.\n\n\
         | source | quantity | rows | median error | in range |\n| --- | --- | ---: | ---: | ---: |\n",
    );
    let text = include_str!("../../data/measured/blind.csv");
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    for row in rows.records().filter_map(Result::ok) {
        let cell = |at: usize| row.get(at).unwrap_or_default();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} % | {} % |",
            cell(0),
            cell(1),
            cell(2),
            cell(3),
            cell(4)
        );
    }
    out
}

/// Which sources hold the figure of a quantity back, why, and what it is without them.
fn hard_to_foretell(verdicts: &[&Verdict]) -> String {
    let mut out = String::from(
        "\n## What cannot be foretold\n\nSettings that a source does not state move figures more than physics does. These sources are counted\nin all \
         figures above; each is judged without its own rows, and no other source tells what sets it apart.\n\n\
         | quantity | source | rows | median error | why |\n| --- | --- | ---: | ---: | --- |\n",
    );
    let errors = |rows: &mut dyn Iterator<Item = &Verdict>| {
        let rows: Vec<Verdict> = rows
            .map(|verdict| Verdict {
                metric: String::new(),
                kind: String::new(),
                ..verdict.clone()
            })
            .collect();
        grouped(&rows, |_| GroupKey::default())
            .first()
            .and_then(|g| g.errors)
    };
    let text = include_str!("../../data/measured/hard.csv");
    let named: Vec<csv::StringRecord> = csv::Reader::from_reader(text.as_bytes())
        .records()
        .filter_map(Result::ok)
        .collect();
    let cell = |row: &csv::StringRecord, at: usize| row.get(at).unwrap_or_default().to_owned();
    let is = |v: &Verdict, quantity: &str| {
        quantity_of(&v.metric, &v.kind)
            .and_then(|place| QUANTITIES.get(place))
            .is_some_and(|q| q.name == quantity)
    };
    for row in &named {
        let (quantity, source, why) = (cell(row, 0), cell(row, 1), cell(row, 2));
        let mut own = verdicts
            .iter()
            .copied()
            .filter(|v| is(v, &quantity) && source_of(&v.id) == source);
        if let Some(e) = errors(&mut own) {
            let median = percent(e.median);
            let _ = writeln!(
                out,
                "| {quantity} | {source} | {} | {median} | {why} |",
                e.rows
            );
        }
    }
    out.push_str("\nWithout them:\n\n| quantity | rows | median error | 80 of 100 within |\n| --- | ---: | ---: | ---: |\n");
    for quantity in QUANTITIES.iter().map(|q| q.name) {
        let hard = |v: &Verdict| {
            named
                .iter()
                .any(|row| cell(row, 0) == quantity && cell(row, 1) == source_of(&v.id))
        };
        if !named.iter().any(|row| cell(row, 0) == quantity) {
            continue;
        }
        let mut others = verdicts
            .iter()
            .copied()
            .filter(|v| is(v, quantity) && !hard(v));
        if let Some(e) = errors(&mut others) {
            let _ = writeln!(
                out,
                "| {quantity} | {} | {} | {} |",
                e.rows,
                percent(e.median),
                percent(e.p80)
            );
        }
    }
    out
}

/// The whole page. `training` and `inference` are the verdicts on the shipped rows, each judged
/// with constants that did not see its source.
pub fn markdown(training: &[Verdict], inference: &[Verdict]) -> String {
    let mut out = String::from(HEAD);
    out.push_str(&summary(training, inference, Lang::En));
    out.push_str(&checked_blind());
    out.push_str(&hard_to_foretell(
        &training.iter().chain(inference).collect::<Vec<_>>(),
    ));
    for (title, verdicts) in [("Training", training), ("Inference", inference)] {
        let report = Report::of(verdicts);
        let _ = writeln!(
            out,
            "\n## {title}\n\n{} rows, {} of them compared.\n\n### By metric and kind of job\n",
            report.rows, report.used
        );
        table(&mut out, "metric | kind of job", &report.totals, |k| {
            format!("`{}` | {}", k.metric, k.kind)
        });
        let faults = report.totals.iter().filter_map(|g| g.memory);
        let (mut ran_out, mut false_fits, mut above, mut refused) = (0, 0, 0, 0);
        for fault in faults {
            ran_out += fault.ran_out;
            false_fits += fault.false_fits;
            above += fault.above_high;
            refused += fault.refused;
        }
        let _ = writeln!(
            out,
            "\nMemory: of {ran_out} runs that had no memory left, {false_fits} are shown as \
             fitting. {above} measured peaks lie above the high end of their estimate, and \
             {refused} runs that did run are not shown as fitting."
        );
        let large: Vec<Group> = report
            .groups
            .iter()
            .filter(|g| g.errors.is_some_and(|e| e.rows >= ENOUGH_ROWS))
            .cloned()
            .collect();
        let _ = writeln!(
            out,
            "\n### Groups of {ENOUGH_ROWS} rows or more, by card family and engine\n"
        );
        table(
            &mut out,
            "metric | kind of job | card family | engine",
            &large,
            |k| format!("`{}` | {} | {} | {}", k.metric, k.kind, k.family, k.engine),
        );
        out.push_str(&outside(&large));
        let _ = writeln!(out, "\n### By source\n");
        let by_source = grouped(verdicts, |v| GroupKey {
            metric: v.metric.clone(),
            kind: source_of(&v.id).to_owned(),
            ..GroupKey::default()
        });
        let by_source: Vec<Group> = by_source
            .into_iter()
            .filter(|g| g.errors.is_some())
            .collect();
        table(&mut out, "metric | source", &by_source, |k| {
            format!("`{}` | {}", k.metric, k.kind)
        });
        out.push_str(&furthest(verdicts));
        let _ = writeln!(
            out,
            "\n### Rows that are not compared\n\n| rows | why |\n| ---: | --- |"
        );
        for (reason, count) in &report.reasons {
            let _ = writeln!(out, "| {count} | {} |", reason.replace('|', "/"));
        }
    }
    out.push('\n');
    out.push_str(&super::runs::section(
        Catalog::embedded(),
        PriceBook::embedded(),
    ));
    out
}

/// Which of the large groups have too few or too many rows in range.
fn outside(large: &[Group]) -> String {
    let names: Vec<String> = large
        .iter()
        .filter(|g| {
            g.errors
                .is_some_and(|e| !IN_RANGE.contains(&(e.inside * 100.0)))
        })
        .map(|g| {
            format!(
                "`{}` {} {} {}",
                g.key.metric, g.key.kind, g.key.family, g.key.engine
            )
        })
        .collect();
    if names.is_empty() {
        format!(
            "\nEach of these groups has between {:.0} and {:.0} of 100 rows in range.\n",
            IN_RANGE.start(),
            IN_RANGE.end()
        )
    } else {
        format!(
            "\nToo few or too many rows in range (meant: {:.0} to {:.0} of 100): {}.\n",
            IN_RANGE.start(),
            IN_RANGE.end(),
            names.join("; ")
        )
    }
}

/// The rows with the largest factor between estimate and measurement.
fn furthest(verdicts: &[Verdict]) -> String {
    let mut rows: Vec<(&Verdict, f64)> = verdicts
        .iter()
        .filter_map(|v| v.ratio().map(|ratio| (v, ratio)))
        .collect();
    // A stable sort, so that equal factors keep the file's order.
    rows.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
    let mut out = format!(
        "\n### The {FURTHEST} rows furthest off\n\n\
         | row | metric | measured | estimate / measured |\n| --- | --- | ---: | ---: |\n"
    );
    for (verdict, ratio) in rows.iter().take(FURTHEST) {
        let _ = writeln!(
            out,
            "| {} | `{}` | {} | {ratio:.2} |",
            verdict.id,
            verdict.metric,
            verdict.measured.unwrap_or_default()
        );
    }
    out
}

const HEAD: &str = "\
# How far off the estimates are

Written by `cargo xtask calibrate`; `cargo cardfit validate` prints the same figures for any file of measured results.

Every row of [core/data/measured/](../core/data/measured/README.md) is judged with constants that were fitted without the
row's own source, so these are errors on results that the estimator has not seen. The error of a row is
|estimate / measured - 1|. *In range* is the share of rows whose measured value lies between low and high; the ends are
meant to hold about 80 of 100. The ends are drawn from these same errors, so that share says how wide the ranges are; it is
no independent test. *Lean* is the median of estimate / measured: above 1, estimates lean high. Nothing is searched here:
what a row states of its run is taken, and what it leaves open gets the default of its engine.

## In short

";

fn table(out: &mut String, heads: &str, groups: &[Group], name: impl Fn(&GroupKey) -> String) {
    let columns = heads.split('|').count();
    let _ = writeln!(
        out,
        "| {heads} | compared | not | median | 80 | 95 | lean | in range |\n|{}{}",
        " --- |".repeat(columns),
        " ---: |".repeat(7)
    );
    for group in groups {
        let figures = group.errors.map_or_else(
            || "0 | ".to_owned() + &group.unused.to_string() + " | - | - | - | - | -",
            |e| figures(&e, group.unused),
        );
        let _ = writeln!(out, "| {} | {figures} |", name(&group.key));
    }
}

fn figures(e: &Errors, unused: usize) -> String {
    format!(
        "{} | {unused} | {} | {} | {} | {:.2} | {}",
        e.rows,
        percent(e.median),
        percent(e.p80),
        percent(e.p95),
        e.bias,
        percent(e.inside)
    )
}
