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

/// What a scenario, a link's query or JSON, states itself: whether it has that parameter, or a value at that place of the
/// JSON. Where it is silent, an operator's feed decides ([`crate::feed::Feed::enter`]).
pub fn said_by(scenario: &str) -> impl Fn(&str, &str) -> bool + use<> {
    let json = scenario
        .trim_start()
        .starts_with('{')
        .then(|| serde_json::from_str::<serde_json::Value>(scenario).unwrap_or_default());
    let names: Vec<String> = match json {
        Some(_) => Vec::new(),
        None => crate::scenario::decode(scenario)
            .0
            .into_iter()
            .map(|(name, _)| name.to_ascii_lowercase())
            .collect(),
    };
    move |param, pointer| match &json {
        Some(json) => json.pointer(pointer).is_some_and(|value| !value.is_null()),
        None => names.iter().any(|name| name == param),
    }
}
