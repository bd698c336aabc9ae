//! What a person brought (a model described by hand, prices of their own) stands behind the `#` of a link, which browsers
//! send to no server. It is written like the query; a `#` that is no such thing (`#top`) means nothing here.

use super::limits::FRAGMENT_BYTES;
use super::params::{Param, Scope};

/// What is a person's own beside the shape of a model: prices, cards described by their figures, a price book.
const OWN: [&str; 3] = ["price", "own", "book"];

/// Whether a parameter is a person's own matter.
fn is_own(name: &str) -> bool {
    Param::of(name).is_some_and(|p| p.scope == Scope::Custom || OWN.contains(&p.name))
}

/// A link whose fragment is larger than [`FRAGMENT_BYTES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLarge {
    /// Bytes that the fragment would have.
    pub bytes: usize,
    /// The link without what was brought.
    pub without: String,
}

/// A query as the part of a link behind its `?`, what was brought moved behind the `#`.
///
/// # Errors
/// When what was brought is larger than [`FRAGMENT_BYTES`].
pub fn with_fragment(query: &str) -> Result<String, TooLarge> {
    let (own, rest): (Vec<&str>, Vec<&str>) = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .partition(|pair| is_own(pair.split('=').next().unwrap_or_default()));
    let (rest, own) = (rest.join("&"), own.join("&"));
    if own.len() > FRAGMENT_BYTES {
        return Err(TooLarge {
            bytes: own.len(),
            without: rest,
        });
    }
    Ok(if own.is_empty() {
        rest
    } else {
        format!("{rest}#{own}")
    })
}

/// The fragment of a link, where it says what was brought.
pub(super) fn of_link(link: &str) -> Option<&str> {
    let (_, fragment) = link.split_once('#')?;
    let (first, _) = fragment.split(['&', '#']).next()?.split_once('=')?;
    Param::of(first).map(|_| fragment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::scenario::{ProblemKind, parse, to_query};

    #[test]
    fn what_was_brought_goes_behind_the_hash_and_comes_back() {
        let query = "m=custom&layers=24&hidden=2048&do=serve&price=rtx-4090:2&x=1";
        let link = with_fragment(query).unwrap();
        assert_eq!(
            link,
            "m=custom&do=serve&x=1#layers=24&hidden=2048&price=rtx-4090:2"
        );
        let catalog = Catalog::embedded();
        for link in [link.clone(), format!("https://a.example/b/?{link}")] {
            let back = parse(&link, catalog);
            assert_eq!(back.scenario, parse(query, catalog).scenario);
            assert_eq!(back.unknown, [("x".to_owned(), "1".to_owned())]);
            assert_eq!(back.problems, []);
        }
    }

    #[test]
    fn a_query_without_anything_brought_stays_as_it_is() {
        let query = to_query(&parse("m=qwen3-32b&do=serve", Catalog::embedded()).scenario);
        assert_eq!(with_fragment(&query), Ok(query));
    }

    #[test]
    fn other_fragments_mean_nothing() {
        for other in [
            "#top",
            "#",
            "#:~:text=layers=3",
            "#answer",
            "#/route?layers=3",
            "#x=1&layers=3",
        ] {
            let parsed = parse(&format!("?m=custom{other}"), Catalog::embedded());
            assert_eq!(
                parsed.scenario,
                parse("m=custom", Catalog::embedded()).scenario,
                "{other}"
            );
            assert_eq!(parsed.problems, []);
        }
    }

    #[test]
    fn past_the_stated_size_nothing_is_cut_but_all_refused() {
        let prices: Vec<String> = (0..2000).map(|n| format!("card-{n}:{n}.5")).collect();
        let query = format!("m=custom&layers=3&price={}", prices.join(","));
        let refused = with_fragment(&query).unwrap_err();
        assert!(refused.bytes > FRAGMENT_BYTES);
        assert_eq!(refused.without, "m=custom");
        let parsed = parse(
            &format!("?m=custom#layers=3&price={}", prices.join(",")),
            Catalog::embedded(),
        );
        let kinds: Vec<_> = parsed.problems.iter().map(|p| p.kind).collect();
        assert_eq!(kinds, [ProblemKind::BroughtTooLarge]);
        assert_eq!(
            parsed.scenario,
            parse("m=custom", Catalog::embedded()).scenario
        );
    }
}
