//! Before paying: what a listing claims, claim by claim, beside the datasheet.

mod claims;
mod clause;
mod figures;
mod judge;
mod price;
mod rates;
mod sayings;
mod table;
mod tokens;
mod units;
mod unnamed;
mod vocabulary;
mod worded;

pub use rates::dtype_name;
pub use worded::link_words;

use serde::Serialize;

use super::clean::clean;
use super::finding::{Finding, Remark, Subject, Verdict};
use super::names::Identity;
use crate::catalog::{Card, Catalog, PriceBook};

/// What a listing says.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ListingReport {
    /// Card by card, in the text's order.
    pub items: Vec<ListedCard>,
    /// What is claimed of no card.
    pub others: Vec<Finding>,
    /// There is more than was read, or more to say than was said.
    pub cut_off: bool,
}

/// One card of a listing.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ListedCard {
    /// Ids that the listing leaves open; empty: a card that the catalog lacks, or none was named.
    pub cards: Vec<String>,
    /// What to call a card that the catalog lacks.
    pub name: Option<String>,
    /// Cards that it is easily taken for.
    pub confused_with: Vec<String>,
    /// How many are offered together, where said.
    pub count: Option<u32>,
    /// Claims judged.
    pub findings: Vec<Finding>,
}

impl ListingReport {
    /// Whether nothing was recognised.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
            && self.items.iter().all(|item| {
                let told = item.findings.iter().any(|f| f.subject == Subject::Card);
                item.cards.is_empty() && item.name.is_none() && !told
            })
    }

    /// Every finding.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.items
            .iter()
            .flat_map(|item| &item.findings)
            .chain(&self.others)
    }
}

/// Whether more is said of a card than its name.
fn says_more(item: &ListedCard) -> bool {
    item.findings.iter().any(|f| f.subject != Subject::Card) || item.cards.len() == 1
}

/// A market's own measurement stays below the datasheet on a sound card: it proves nothing wrong.
fn take_as_measured(finding: &mut Finding) {
    let of_rate = matches!(
        finding.subject,
        Subject::Bandwidth | Subject::LinkRate | Subject::RateOfUnnamedFormat
    );
    if of_rate && finding.verdict == Verdict::Wrong {
        finding.verdict = Verdict::CannotTell;
        finding.remarks = vec![Remark::plain("market_measures")];
        finding.ask = None;
    }
}

/// Adds what is said of a card to what was said of it before.
fn join(listed: ListedCard, items: &mut Vec<ListedCard>) {
    let same = |known: &&mut ListedCard| {
        known.cards == listed.cards && known.name == listed.name && known.count == listed.count
    };
    match items.iter_mut().find(same) {
        Some(known) => {
            for finding in listed.findings {
                if !known.findings.contains(&finding) {
                    known.findings.push(finding);
                }
            }
        }
        None => items.push(listed),
    }
}

/// Most findings of one paste, and most of them about no card.
const MOST_FINDINGS: usize = 2000;
const MOST_SAYINGS: usize = 200;

/// Reads a listing, in Chinese or English, as prose, table, list or JSON.
pub fn check_listing(text: &str, catalog: &Catalog, prices: &PriceBook) -> ListingReport {
    check_cleaned(&clean(text), catalog, prices)
}

/// [`check_listing`] of text that is cleaned already.
pub(crate) fn check_cleaned(text: &str, catalog: &Catalog, prices: &PriceBook) -> ListingReport {
    let reading = claims::read(text);
    let mut report = ListingReport {
        cut_off: reading.cut_off,
        ..ListingReport::default()
    };
    let market = price::Market::of(prices);
    let mut judged = 0;
    // What each name of the text was found to mean, for what its sentences say.
    let mut meant: Vec<Vec<&Card>> = Vec::new();
    for item in reading.items.iter().take(claims::MOST_ITEMS) {
        let mut identity = Identity::default();
        for one in item.families.iter().filter_map(|f| Identity::of_family(*f)) {
            for id in one.cards {
                if !identity.cards.contains(&id) {
                    identity.cards.push(id);
                }
            }
            for id in one.kin {
                if !identity.kin.contains(&id) {
                    identity.kin.push(id);
                }
            }
            identity.name = identity.name.or(one.name);
        }
        if item.families.is_empty() && item.claims.is_empty() {
            meant.push(Vec::new());
            continue;
        }
        let mut listed = judge::judge(item, identity, reading.currency, catalog, &market);
        meant.push(
            listed
                .cards
                .iter()
                .filter_map(|id| catalog.card(id))
                .collect(),
        );
        if reading.measured {
            listed.findings.iter_mut().for_each(take_as_measured);
        }
        judged += listed.findings.len();
        if judged > MOST_FINDINGS {
            listed.findings.truncate(0);
            report.cut_off = true;
        }
        join(listed, &mut report.items);
    }
    // A card that is only mentioned, beside others that are offered.
    if report.items.iter().any(says_more) {
        report.items.retain(says_more);
    }
    report.others = sayings::judge(&reading, &meant, MOST_SAYINGS);
    report
}
