//! `docs/links.md` says what the reader does: its table is made from the limits and names in
//! use. `CARDFIT_WRITE_DOCS=1 cargo test -p cardfit --test links_doc` writes it anew.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::Path;

use cardfit::catalog::{Billing, Catalog, Currency, FloatPrecision};
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::plan::{Offload, Recompute, Sharding};
use cardfit::scenario::limits::Unit;
use cardfit::scenario::{
    Choice, Engine, Grain, JobKind, Optimizer, PARAMS, Param, PipelineOffload, PriceMarket, RankBy,
    Runtime, Scope, SpeechEngine, TrainingPrecision, number, parse, to_query,
};
use cardfit::text::{Lang, text};

fn names<T: Choice>() -> Vec<&'static str> {
    T::ALL.iter().map(|value| value.name()).collect()
}

/// Names that a parameter takes, where it takes names.
fn choices(param: &Param) -> Vec<&'static str> {
    match param.name {
        "do" => names::<JobKind>(),
        "prec" => names::<TrainingPrecision>(),
        "opt" => names::<Optimizer>(),
        "recompute" => names::<Recompute>(),
        "shard" => names::<Sharding>(),
        "offload" => names::<Offload>(),
        "w" => names::<WeightFormat>(),
        "kv" => names::<KvFormat>(),
        "engine" => names::<Engine>(),
        "runtime" => names::<Runtime>(),
        "bill" => names::<Billing>(),
        "cur" => names::<Currency>(),
        "market" => names::<PriceMarket>(),
        "grain" => names::<Grain>(),
        "sort" => names::<RankBy>(),
        "gated" | "tie" | "flash" | "unpriced" | "cfg" | "tiling" | "cached" => vec!["yes", "no"],
        _ => Vec::new(),
    }
}

/// What holds where a link is silent, where no limit states it.
fn silent(param: &Param) -> &'static str {
    match param.name {
        "v" => "1",
        "m" => "qwen2.5-7b",
        "do" => "lora",
        "kvheads" => "as `heads`",
        "hd" => "`hidden / heads`",
        "window" => "whole context",
        "attn" => "all alike",
        "ffn" => {
            "gated: 8/3 `hidden`, up to a multiple of 256; else 4 `hidden`; 0 where every block holds experts"
        }
        "gated" | "flash" => "yes",
        "tie" | "unpriced" | "offline" => "no",
        "draft" => "a head of the model itself",
        "experts" => "dense",
        "eff" => "as a dense `ffn`",
        "elayers" => "as `layers`",
        "tokens" => "pretrain: 100B; else by samples",
        "samples" => "10000; pretrain: by tokens",
        "epochs" => "3; pretrain: 1",
        "seq" => "1024; pretrain: 4096",
        "prec" => "bf16",
        "opt" => "adamw",
        "w" => "as published below 16 bit, else bf16",
        "kv" => "16bit",
        "rps" => "by `users`",
        "ttft" | "tpot" | "budget" | "deadline" => "no limit",
        "requests" => "a service that runs on",
        "amount" => "images 1000, clips 40, others 1M, audio 1000",
        "width" | "height" | "frames" | "steps" | "cfg" | "size" => "the model's own",
        "ops" | "intensity" | "ws" => "of its kind",
        "runtime" => "eager",
        "cached" => "yes",
        "cards" => "all with a price",
        "own" => "none",
        "n" => "every sensible count",
        "max" => "as many as needed",
        "cur" => "cny",
        "bill" => "all but spot and reserved terms",
        "market" => "cn",
        "grain" | "minimum" => "by the provider's rule",
        "stoppedprice" => "as `diskprice`",
        "interrupt" => "by provider and card, else 0.05",
        "every" => "the best (Daly 2006)",
        "buy" => "buying is not looked at",
        "buyhours" => "as the scenario asks",
        "price" => "none",
        "sort" => "cheapest",
        "view" => "the chooser",
        "was" => "not a shared link",
        "book" => "the page's price book",
        "lang" => "the browser's",
        "theme" => "the browser's",
        _ => "chosen",
    }
}

fn range(param: &Param) -> String {
    let listed = choices(param);
    // The same parameter says another thing of other jobs.
    let elsewhere = match param.name {
        "offload" => names::<PipelineOffload>(),
        "engine" => names::<SpeechEngine>(),
        "prec" => names::<FloatPrecision>(),
        _ => Vec::new(),
    };
    let listed: Vec<&str> = listed
        .iter()
        .copied()
        .chain(elsewhere.into_iter().filter(|name| !listed.contains(name)))
        .collect();
    if !listed.is_empty() {
        return listed
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(" ");
    }
    match (param.name, param.limit()) {
        ("price", Some(limit)) => format!(
            "`card:price,…`, {} to {}",
            number::write(limit.min),
            number::write(limit.max)
        ),
        (_, Some(limit)) => format!(
            "{} to {}",
            number::write(limit.min),
            number::write(limit.max)
        ),
        ("m", _) => "a model's name, or `custom`".to_owned(),
        ("cards", _) => "cards' names".to_owned(),
        ("own", _) => "`name:GiB:GB/s:TFLOPS,…`, see below".to_owned(),
        ("attn", _) => "groups, see below".to_owned(),
        ("lang", _) => Lang::ALL.map(|lang| format!("`{}`", lang.tag())).join(" "),
        ("view", _) => "a view's name".to_owned(),
        ("theme", _) => "`light` `dark`".to_owned(),
        _ => "1".to_owned(),
    }
}

fn unit(param: &Param) -> String {
    match param.limit().map(|limit| limit.unit) {
        None | Some(Unit::One) => String::new(),
        Some(Unit::Money) if param.name == "price" => "currency a card-hour".to_owned(),
        Some(Unit::Money) => "currency".to_owned(),
        Some(unit) if unit.is_money() => {
            format!("currency {}", text(Lang::En, unit.label_key(), &[]))
        }
        Some(unit) => text(Lang::En, unit.label_key(), &[]),
    }
}

fn table() -> String {
    let mut table = String::from(
        "| parameter | meaning | unit | when silent | range or values | JSON |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let mut scope = Scope::All;
    for param in PARAMS {
        if param.scope != scope {
            scope = param.scope;
            let about = match scope {
                Scope::All => "any job",
                Scope::Custom => "with `m=custom`",
                Scope::Train => "training",
                Scope::Serve => "serving",
                Scope::Work => "images, clips, networks, speech, science",
                Scope::Page => "the page's own, no part of the scenario",
            };
            let _ = writeln!(table, "| | **{about}** | | | | |");
        }
        let default = param
            .limit()
            .and_then(|limit| limit.default)
            .map_or_else(|| silent(param).to_owned(), number::write);
        let path = match param.path {
            "job.tensor_parallel" => {
                "`job.train.tensor_parallel` `job.serve.tensor_parallel`".to_owned()
            }
            "" => String::new(),
            path => format!("`{path}`"),
        };
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {default} | {} | {path} |",
            param.name,
            text(Lang::En, &param.label_key(), &[]),
            unit(param),
            range(param),
        );
    }
    table
}

#[test]
fn the_table_of_links_is_what_the_reader_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/links.md");
    let page = std::fs::read_to_string(&path).expect("docs/links.md");
    let (before, rest) = page.split_once("uses -->\n").expect("the table's start");
    let (written, after) = rest.split_once("<!-- end -->").expect("the table's end");
    if std::env::var_os("CARDFIT_WRITE_DOCS").is_some() {
        let page = format!("{before}uses -->\n{}<!-- end -->{after}", table());
        std::fs::write(&path, page).expect("docs/links.md is written");
        return;
    }
    assert_eq!(
        written,
        table(),
        "docs/links.md is behind: CARDFIT_WRITE_DOCS=1 cargo test -p cardfit --test links_doc"
    );
}

#[test]
fn every_listed_value_is_understood_and_every_stated_default_is_left_out() {
    let catalog = Catalog::embedded();
    for param in PARAMS {
        let base = match param.scope {
            Scope::Serve => "m=qwen2.5-7b&do=serve",
            Scope::Work => match param.name {
                "frames" => "m=wan-2.1-1.3b&do=video",
                "cached" => "m=sdxl&do=diffusion-lora",
                "size" | "cores" => "m=resnet-50&do=vision-train",
                "beam" => "m=whisper-large-v3&do=transcribe",
                "ops" | "intensity" | "ws" => "m=dense-linear-algebra&do=science",
                _ => "m=sdxl&do=image",
            },
            Scope::Custom => "m=custom&do=lora&experts=8",
            _ => "m=qwen2.5-7b&do=lora",
        };
        // The first of a parameter counts, so the value under test goes before the base.
        let canonical = |value: &str| {
            let parsed = parse(&format!("{}={value}&{base}", param.name), catalog);
            let others = parsed
                .problems
                .iter()
                .filter(|p| p.kind.key() != "problem.repeated")
                // Another job takes another model.
                .filter(|p| param.name != "do" || p.kind.key() != "problem.not_for_this_job");
            assert_eq!(
                others.count(),
                0,
                "{}={value}: {:?}",
                param.name,
                parsed.problems
            );
            to_query(&parsed.scenario)
        };
        for value in choices(param) {
            canonical(value);
        }
        let default = param
            .limit()
            .and_then(|limit| limit.default)
            .map(number::write);
        let stated = default.or_else(|| {
            let word = silent(param);
            (choices(param).contains(&word) && param.name != "do").then(|| word.to_owned())
        });
        if let Some(stated) = stated {
            assert_eq!(canonical(&stated), base, "{}={stated}", param.name);
        }
    }
}
