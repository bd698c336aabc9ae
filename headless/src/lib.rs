//! The estimator for pages that draw themselves, for Node and for workers.
//!
//! One function over text: JSON in, JSON out. `js/index.js` wraps it in objects, `js/index.d.ts` states their types, and
//! `cargo xtask build` puts all three into `dist/npm/`.

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::embed::answer::{Answer, Form, Source};
use cardfit::embed::said_by;
use cardfit::feed::{FeedIssue, Shop, read};
use cardfit::offers;
use cardfit::packed::load_asides;
use cardfit::scenario::{Problem, read_text};
use cardfit::text::Lang;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::wasm_bindgen;

/// What may be said beside the scenario.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// An operator's feed, as JSON text: then only what it sells is offered.
    feed: Option<String>,
    /// Day that the feed's age is counted from, `YYYY-MM-DD`.
    today: Option<String>,
    /// Language of names and messages.
    lang: Option<String>,
    /// Most offers.
    limit: Option<usize>,
    /// Every number of each card.
    all_counts: bool,
    /// What comes back in order links.
    #[serde(rename = "ref")]
    reference: String,
}

/// The answer with what there is to say about the inputs.
#[derive(Debug, Serialize)]
struct Outcome {
    #[serde(flatten)]
    answer: Answer,
    problems: Vec<Remark>,
    unknown: Vec<String>,
    feed_issues: Vec<Remark>,
}

/// A remark on an input.
#[derive(Debug, Serialize)]
struct Remark {
    /// Link parameter, or path in the feed.
    at: String,
    /// What is wrong and what was done about it.
    message: String,
}

/// Inputs from which no answer can be made.
#[derive(Debug, Serialize)]
struct Refusal {
    error: String,
    issues: Vec<Remark>,
}

/// Answers a scenario (a link's query or JSON) with `options` (JSON): the JSON of an answer, or of
/// `{"error": …, "issues": […]}`.
#[wasm_bindgen]
pub fn estimate_json(scenario: &str, options: &str) -> String {
    let outcome = estimate(scenario, options);
    let text = match &outcome {
        Ok(outcome) => serde_json::to_string(outcome),
        Err(refusal) => serde_json::to_string(refusal),
    };
    text.unwrap_or_else(|error| format!("{{\"error\":{:?},\"issues\":[]}}", error.to_string()))
}

fn estimate(scenario: &str, options: &str) -> Result<Outcome, Refusal> {
    let refusal = |error: String| Refusal {
        error,
        issues: Vec::new(),
    };
    let options: Options = serde_json::from_str(options).map_err(|e| refusal(e.to_string()))?;
    let lang = match options.lang.as_deref() {
        None => Lang::En,
        Some(tag) => {
            Lang::from_tag(tag).ok_or_else(|| refusal(format!("no texts in the language {tag}")))?
        }
    };
    lang.load();
    load_asides();
    let catalog = Catalog::embedded();
    let said = said_by(scenario);
    let parsed = read_text(scenario, catalog).map_err(|problem| refusal(problem.message(lang)))?;
    let mut scenario = parsed.scenario;
    let form = Form {
        lang,
        limit: options.limit.unwrap_or(usize::MAX),
        all_counts: options.all_counts,
        reference: &options.reference,
    };
    let (answer, issues) = match &options.feed {
        None => {
            let ranking = offers::rank(&scenario, catalog, PriceBook::embedded());
            (
                Answer::new(&ranking, &scenario, Source::Reference, form),
                Vec::new(),
            )
        }
        Some(json) => {
            let (feed, issues) =
                read(json, catalog, options.today.as_deref()).map_err(|issues| Refusal {
                    error: issues.last().map_or_else(String::new, |i| i.message(lang)),
                    issues: remarks(&issues, lang),
                })?;
            feed.enter(&mut scenario, said);
            let shop = Shop::new(feed, catalog);
            let ranking = shop.rank(&scenario);
            (
                Answer::new(&ranking, &scenario, Source::Shop(&shop), form),
                issues,
            )
        }
    };
    Ok(Outcome {
        answer,
        problems: parsed.problems.iter().map(|p| remark(p, lang)).collect(),
        unknown: parsed.unknown.into_iter().map(|(name, _)| name).collect(),
        feed_issues: remarks(&issues, lang),
    })
}

fn remark(problem: &Problem, lang: Lang) -> Remark {
    Remark {
        at: problem
            .path
            .clone()
            .unwrap_or_else(|| problem.param.clone()),
        message: problem.message(lang),
    }
}

fn remarks(issues: &[FeedIssue], lang: Lang) -> Vec<Remark> {
    issues
        .iter()
        .map(|issue| Remark {
            at: issue.path.clone(),
            message: issue.message(lang),
        })
        .collect()
}
