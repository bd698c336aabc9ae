//! A scenario as the query of a link, and back. `docs/links.md` describes the grammar.

use super::fragment;
use super::limits;
use super::params::{PARAMS, Param, Scope};
use super::problem::{Outcome, Problem, ProblemKind};
use super::reader::{Given, Reader};
use super::{Scenario, read, write};
use crate::catalog::Catalog;
use crate::order;

/// What was read, and what there is to say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// Complete: what was not said has its default.
    pub scenario: Scenario,
    /// What could not be used as it was, and what was done instead.
    pub problems: Vec<Problem>,
    /// Parameters that nothing is known about, kept for whoever does.
    pub unknown: Vec<(String, String)>,
}

impl Parsed {
    /// The canonical query, unknown parameters kept behind it.
    pub fn to_query(&self) -> String {
        let known = write::pairs(&self.scenario);
        let known = known.iter().map(|(name, value)| (*name, value.as_str()));
        let unknown = self.unknown.iter().map(|(n, v)| (n.as_str(), v.as_str()));
        encode_pairs(known.chain(unknown))
    }
}

/// Reads the query of a link, or a whole link. Nothing in it can fail: what cannot be used is
/// replaced by its default and named.
pub fn parse(query: &str, catalog: &Catalog) -> Parsed {
    let (mut pairs, mut problems) = decode(query);
    match fragment::of_link(query) {
        Some(own) if own.len() > limits::FRAGMENT_BYTES => problems.push(
            Problem::new("", ProblemKind::BroughtTooLarge, own, Outcome::Ignored)
                .bound(limits::FRAGMENT_BYTES.to_string()),
        ),
        Some(own) => pairs.extend(pairs_of(own, &mut problems)),
        None => {}
    }
    let mut given = Vec::new();
    let mut unknown = Vec::new();
    for (name, value) in pairs {
        match Param::of(&name) {
            Some(param) => given.push(Given { param, value }),
            None => unknown.push((name, value)),
        }
    }
    // Nothing to say about what the page reads for itself.
    given.retain(|g| g.param.scope != Scope::Page);
    let (scenario, found) = complete(catalog, given, std::mem::take(&mut problems));
    Parsed {
        scenario,
        problems: found,
        unknown,
    }
}

/// A complete scenario from given values, with everything there is to say about them.
pub(super) fn complete(
    catalog: &Catalog,
    given: Vec<Given>,
    problems: Vec<Problem>,
) -> (Scenario, Vec<Problem>) {
    let mut reader = Reader::new(catalog, given, problems);
    let mut scenario = read::scenario(&mut reader);
    read::settle(&mut scenario, &mut reader);
    let mut problems = reader.finish();
    // In the order of the form, whatever the order in which they were found.
    order::sort_by_key(&mut problems, |p| {
        PARAMS.iter().position(|q| q.name == p.param)
    });
    (scenario, problems)
}

/// The canonical query of a scenario: defaults left out, always in the same order, no leading
/// question mark.
pub fn to_query(scenario: &Scenario) -> String {
    let pairs = write::pairs(scenario);
    encode_pairs(pairs.iter().map(|(name, value)| (*name, value.as_str())))
}

/// Names and values of a query or of a whole link, percent-decoded, in its order, and what is
/// wrong with its form.
pub fn decode(query: &str) -> (Vec<(String, String)>, Vec<Problem>) {
    let mut problems = Vec::new();
    let query = query.trim();
    let query = match query.split_once('?') {
        Some((before, after)) if before.is_empty() || before.contains("://") => after,
        _ => query,
    };
    let mut query = query.split_once('#').map_or(query, |(before, _)| before);
    if query.len() > limits::LINK_BYTES {
        problems.push(
            Problem::new("", ProblemKind::LinkTooLong, query, Outcome::Ignored)
                .bound(limits::LINK_BYTES.to_string()),
        );
        let mut end = limits::LINK_BYTES;
        while !query.is_char_boundary(end) {
            end -= 1;
        }
        let head = query.get(..end).unwrap_or_default();
        // A value that was cut in two says something else: it goes too.
        query = head.rsplit_once('&').map_or("", |(whole, _)| whole);
    }
    let pairs = pairs_of(query, &mut problems);
    (pairs, problems)
}

fn pairs_of(query: &str, problems: &mut Vec<Problem>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let (name, name_is_clean) = percent_decode(name);
        let (value, value_is_clean) = percent_decode(value);
        if !(name_is_clean && value_is_clean) {
            problems.push(Problem::new(
                &name,
                ProblemKind::BadEncoding,
                &value,
                Outcome::Kept,
            ));
        }
        if !name.is_empty() {
            pairs.push((name, value));
        }
    }
    pairs
}

/// The decoded text, and whether it was encoded as it should be.
fn percent_decode(text: &str) -> (String, bool) {
    let mut bytes = Vec::with_capacity(text.len());
    let mut clean = true;
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let mut ahead = rest.clone();
                let digits = (ahead.next().and_then(hex), ahead.next().and_then(hex));
                if let (Some(high), Some(low)) = digits {
                    bytes.push(high * 16 + low);
                    rest = ahead;
                } else {
                    clean = false;
                    bytes.push(b'%');
                }
            }
            other => bytes.push(other),
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text, clean),
        Err(broken) => (
            String::from_utf8_lossy(broken.as_bytes()).into_owned(),
            false,
        ),
    }
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// Names and values as a query, percent-encoded.
pub fn encode_pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    pairs
        .map(|(name, value)| format!("{}={}", percent_encode(name), percent_encode(value)))
        .collect::<Vec<_>>()
        .join("&")
}

/// Everything but what may stand in a query as it is and is easily read there.
fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:,/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
