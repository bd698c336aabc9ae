//! The checklist of a kind of job: whatever `JobKind::ALL` lists is reachable, answered and described everywhere.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::{Fit, rank};
use cardfit::scenario::{Choice, JobKind, Preset, from_json, parse, to_query};
use cardfit::text::{Lang, text};

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

/// The link of a preset of that kind: the presets show what each kind is for.
fn preset_of(kind: JobKind) -> &'static str {
    let of_kind = |preset: &&Preset| parse(&preset.query, catalog()).scenario.job.kind() == kind;
    match Preset::all().iter().find(of_kind) {
        Some(preset) => &preset.query,
        None => panic!("no preset shows `{}`: core/data/presets.json", kind.name()),
    }
}

#[test]
fn every_kind_of_job_has_a_preset_that_is_answered() {
    for kind in JobKind::ALL {
        let link = preset_of(*kind);
        let scenario = parse(link, catalog()).scenario;
        let ranking = rank(&scenario, catalog(), PriceBook::embedded());
        let best = ranking.offers.iter().find(|o| o.fit == Fit::Fits);
        let best = best.unwrap_or_else(|| panic!("{link}: nothing fits"));
        assert!(best.cost_per_hour.is_some(), "{link}: without a price");
        assert!(
            best.hours.is_some() || best.cost_per_month.is_some(),
            "{link}"
        );
        assert!(best.bill.is_some(), "{link}: without a bill");
    }
}

#[test]
fn every_kind_of_job_survives_its_link_and_its_json() {
    for kind in JobKind::ALL {
        let scenario = parse(preset_of(*kind), catalog()).scenario;
        assert_eq!(parse(&to_query(&scenario), catalog()).scenario, scenario);
        let json = serde_json::to_string(&scenario).unwrap();
        assert_eq!(from_json(&json, catalog()).unwrap().scenario, scenario);
        // By its name alone it is the kind that it says.
        let named = parse(&format!("do={}", kind.name()), catalog());
        assert_eq!(named.scenario.job.kind(), *kind);
    }
}

#[test]
fn every_kind_of_job_has_words_in_every_language() {
    for kind in JobKind::ALL {
        for lang in Lang::ALL {
            let key = kind.label_key();
            assert_ne!(text(lang, key, &[]), key, "{}", lang.tag());
        }
    }
}

#[test]
fn every_kind_of_job_is_documented() {
    let docs = include_str!("../../docs/links.md");
    for kind in JobKind::ALL {
        let name = kind.name();
        assert!(
            docs.contains(&format!("`{name}`")),
            "docs/links.md lacks `{name}`"
        );
    }
}
