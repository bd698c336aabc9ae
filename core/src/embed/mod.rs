//! The widget's contract with the page that embeds it: parameters, messages, and the answer as it is handed out.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`config`] | what the embedding page asked for in the frame's address |
//! | [`message`] | envelopes both ways, and what of them is taken |
//! | [`snippet`] | code to copy for the embedding page |
//! | [`answer`] | offers in the stable form that messages, events and the ES module hand out |
//!
//! Nothing here knows of a browser; `docs/embed.md` explains the contract to operators.

pub mod answer;
pub mod config;
pub mod message;
pub mod snippet;

/// Version of messages and of the handed-out answer. It grows when a field changes its meaning or goes.
pub const CONTRACT_VERSION: u32 = 1;

/// Whether a scenario, a link's query or JSON, says its currency itself; where it does not, an operator's feed decides.
pub fn says_currency(scenario: &str) -> bool {
    if scenario.trim_start().starts_with('{') {
        let value = serde_json::from_str::<serde_json::Value>(scenario).unwrap_or_default();
        return value
            .pointer("/money/currency")
            .is_some_and(|c| !c.is_null());
    }
    let pairs = crate::scenario::decode(scenario).0;
    pairs
        .iter()
        .any(|(name, _)| matches!(name.to_ascii_lowercase().as_str(), "cur" | "currency"))
}
