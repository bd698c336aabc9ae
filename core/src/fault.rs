//! The text that a person may hand on when a part of the page has stopped: where it happened and what kind of scenario it
//! was, and nothing that is the person's own.

use crate::scenario::{Param, Scope, edition};

/// Parameters whose values are a person's own matter, beside everything under `money.` but the currency.
const OWN: [&str; 3] = ["own", "book", "was"];
/// Longest part of a message that is kept, characters.
const LONGEST_MESSAGE: usize = 120;

/// The report. `at` is the place in the program's own source, `link` the page's query without what stands behind the `#`.
///
/// ```text
/// CardFit 0.1.0, data 2026-11-30
/// part: growth
/// src/views/choose/growth.rs:81: index out of bounds
/// m=qwen2.5-7b&do=lora&budget=…
/// ```
pub fn report(version: &str, part: Option<&str>, at: &str, message: &str, link: &str) -> String {
    // What follows a colon is often a value, and values may be what somebody typed.
    let said = message
        .split([':', '`', '"', '\n'])
        .next()
        .unwrap_or_default();
    let said: String = said.trim().chars().take(LONGEST_MESSAGE).collect();
    let part = part.unwrap_or("page");
    format!(
        "CardFit {version}, data {}\npart: {part}\n{at}: {said}\n{}",
        edition(),
        shape_of(link)
    )
}

/// A link with the values left out that are somebody's own: prices, budgets, described cards and models.
pub fn shape_of(link: &str) -> String {
    let query = link.split('#').next().unwrap_or_default();
    query
        .trim_start_matches('?')
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .filter_map(|(name, value)| {
            let known = Param::of(name);
            let open = match known {
                Some(param) => {
                    let money = param.path.starts_with("money.") && param.name != "cur";
                    !money && param.scope != Scope::Custom && !OWN.contains(&param.name)
                }
                None => matches!(name, "view" | "lang" | "theme"),
            };
            let plain = value.len() <= 60
                && value
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || ".,-_+%".contains(c));
            match (open && plain, known) {
                (true, _) => Some(format!("{name}={value}")),
                (false, Some(param)) => Some(format!("{}=…", param.name)),
                (false, None) => None,
            }
        })
        .collect::<Vec<_>>()
        .join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_where_and_what_kind_and_nothing_of_ones_own() {
        let link = "?m=qwen2.5-7b&do=lora&budget=5000&price=rtx-4090:1.2&secret=x&view=costs&cards=rtx-4090,a100#layers=12&price=h100:3";
        let text = report(
            "0.1.0",
            Some("growth"),
            "src/a.rs:3",
            "called on an `Err` value: \"alice\"",
            link,
        );
        assert!(text.starts_with("CardFit 0.1.0, data "), "{text}");
        assert!(
            text.ends_with("part: growth\nsrc/a.rs:3: called on an\nm=qwen2.5-7b&do=lora&budget=…&price=…&view=costs&cards=rtx-4090,a100"),
            "{text}"
        );
        for own in ["5000", "1.2", "secret", "alice", "layers", "h100"] {
            assert!(!text.contains(own), "{own}: {text}");
        }
    }

    #[test]
    fn values_of_any_text_are_left_out() {
        assert_eq!(shape_of("m=my model/../&do=serve"), "m=…&do=serve");
        assert_eq!(shape_of(""), "");
        assert_eq!(shape_of("&&=&x"), "");
    }
}
