//! Links of every version still open, still mean what they meant, and still have an answer like the one that they had.
//!
//! `core/tests/links/answers_v1.tsv` holds, for the links of `v1.tsv`, the stamp that a shared link would carry
//! (`cardfit::share`). Answers change with prices and measurements, and are then written anew, with
//! `CARDFIT_WRITE_DOCS=1 cargo test -p cardfit --test links_answers`; the links and their meaning do not change.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::Path;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::rank;
use cardfit::scenario::{edition, parse, to_query};
use cardfit::share::{Best, Change, Stamp};

/// Every so many links of the corpus are answered: each takes a whole ranking.
const EVERY: usize = 3;

/// Links of the corpus with their canonical forms.
fn corpus() -> Vec<(&'static str, &'static str)> {
    include_str!("links/v1.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .step_by(EVERY)
        .collect()
}

fn answer(link: &str) -> Option<Best> {
    let scenario = parse(link, Catalog::embedded()).scenario;
    Best::of(&rank(&scenario, Catalog::embedded(), PriceBook::embedded()))
}

#[test]
fn old_links_open_mean_the_same_and_say_what_changed_since() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links/answers_v1.tsv");
    let answers: Vec<(&str, Option<Best>)> = corpus()
        .into_iter()
        .map(|(link, _)| (link, answer(link)))
        .collect();
    assert!(answers.len() > 10);
    if std::env::var_os("CARDFIT_WRITE_DOCS").is_some() {
        let mut text = "# link\tanswer when written (edition~card~count~hours~cost)\n".to_owned();
        for (link, best) in &answers {
            writeln!(text, "{link}\t{}", Stamp::now(best.clone()).write()).unwrap();
        }
        std::fs::write(&file, text).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    let kept: Vec<(&str, Stamp)> = kept
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (link, stamp) = line.split_once('\t').unwrap();
            (link, Stamp::read(stamp).unwrap())
        })
        .collect();
    for (link, canonical) in corpus() {
        assert_eq!(
            to_query(&parse(link, Catalog::embedded()).scenario),
            canonical,
            "{link}"
        );
    }
    // The corpus grows; what it held, it holds.
    for (link, stamp) in &kept {
        let now = answers.iter().find(|(known, _)| known == link);
        let now = now
            .unwrap_or_else(|| panic!("{link} is gone from the corpus"))
            .1
            .clone();
        match (&stamp.best, &now) {
            (Some(then), Some(now)) => {
                let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
                    (Some(a), Some(b)) => b > a / 4.0 && b < a * 4.0,
                    (a, b) => a.is_some() == b.is_some(),
                };
                assert!(
                    near(then.hours, now.hours) && near(then.cost, now.cost),
                    "{link}: {then:?} became {now:?}"
                );
            }
            (then, now) => assert_eq!(
                then.is_some(),
                now.is_some(),
                "{link}: {then:?} became {now:?}"
            ),
        }
        // Opened on another edition, the link says what changed, and only that.
        let change = stamp.compare(now.clone());
        if stamp.edition == edition() {
            assert_eq!(change, None, "{link}");
        } else if let Some(Change::Cards { then, now }) = change {
            assert_ne!((then.card, then.count), (now.card, now.count), "{link}");
        }
    }
}
