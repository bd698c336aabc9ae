//! Messages between the widget and the page that embeds it.
//!
//! Every message is `{"ns": "cardfit", "v": 1, "id": …, "type": …, "payload": {…}}`. The element draws the id and puts
//! it into the frame's address, so that several widgets on a page do not hear each other. A message of another name
//! space is somebody else's and no fault; one of ours that is not understood is counted.

use serde::Serialize;
use serde_json::{Value, json};

use super::CONTRACT_VERSION;
use super::config::colour;
use crate::feed::FEED_BYTES;
use crate::scenario::limits::LINK_BYTES;
use crate::text::Lang;

/// The name space of every message.
pub const NAMESPACE: &str = "cardfit";
/// Largest message that is read, bytes of its JSON: a feed of the largest size in its envelope.
pub const MESSAGE_BYTES: usize = FEED_BYTES + 4096;
/// Types of messages that the widget takes.
pub const INCOMING: [&str; 4] = ["set-scenario", "set-feed", "set-theme", "set-language"];
/// Types of messages that the widget sends.
pub const OUTGOING: [&str; 6] = ["ready", "resize", "change", "order", "feed", "error"];

/// What the embedding page asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// Another scenario, as a link's query or a whole link.
    SetScenario(String),
    /// The operator's feed, as JSON.
    SetFeed(String),
    /// Theme and accent colour; what is `None` stays.
    SetTheme {
        /// `system`, `light` or `dark`.
        theme: Option<&'static str>,
        /// Six hexadecimal digits.
        accent: Option<String>,
    },
    /// Another language.
    SetLanguage(Lang),
}

/// Why a message is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// Of another name space: somebody else's.
    #[error("not of this name space")]
    Foreign,
    /// Larger than [`MESSAGE_BYTES`].
    #[error("too large")]
    TooLarge,
    /// Of a version, an id or a type that is not known.
    #[error("of another version, id or type")]
    Unknown,
    /// Of a known type without what it needs.
    #[error("without what its type needs")]
    Malformed,
}

/// Reads a message, given as JSON, for the widget of that id.
///
/// # Errors
/// See [`NotTaken`].
pub fn read(json: &str, id: &str) -> Result<Incoming, NotTaken> {
    if json.len() > MESSAGE_BYTES {
        return Err(NotTaken::TooLarge);
    }
    let mut message: Value = serde_json::from_str(json).map_err(|_| NotTaken::Foreign)?;
    if message.get("ns").and_then(Value::as_str) != Some(NAMESPACE) {
        return Err(NotTaken::Foreign);
    }
    let version = message.get("v").and_then(Value::as_u64);
    let addressed = message.get("id").and_then(Value::as_str) == Some(id);
    if version != Some(u64::from(CONTRACT_VERSION)) || !addressed {
        return Err(NotTaken::Unknown);
    }
    let kind = message
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let payload = message.get_mut("payload").map_or(Value::Null, Value::take);
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    match kind.as_str() {
        "set-scenario" => {
            let query = text("query").filter(|q| q.len() <= LINK_BYTES);
            Ok(Incoming::SetScenario(
                query.ok_or(NotTaken::Malformed)?.to_owned(),
            ))
        }
        "set-feed" => match payload.get("feed") {
            Some(Value::String(json)) => Ok(Incoming::SetFeed(json.clone())),
            Some(feed @ Value::Object(_)) => Ok(Incoming::SetFeed(feed.to_string())),
            _ => Err(NotTaken::Malformed),
        },
        "set-theme" => {
            let theme = match text("theme") {
                None => None,
                Some("auto" | "system") => Some("system"),
                Some("light") => Some("light"),
                Some("dark") => Some("dark"),
                Some(_) => return Err(NotTaken::Malformed),
            };
            let accent = match text("accent") {
                None => None,
                Some(word) => Some(colour(word).ok_or(NotTaken::Malformed)?),
            };
            match (theme, &accent) {
                (None, None) => Err(NotTaken::Malformed),
                _ => Ok(Incoming::SetTheme { theme, accent }),
            }
        }
        "set-language" => text("lang")
            .and_then(Lang::from_tag)
            .map(Incoming::SetLanguage)
            .ok_or(NotTaken::Malformed),
        _ => Err(NotTaken::Unknown),
    }
}

/// A message of the widget as JSON.
pub fn write(id: &str, kind: &str, payload: &impl Serialize) -> String {
    json!({
        "ns": NAMESPACE,
        "v": CONTRACT_VERSION,
        "id": id,
        "type": kind,
        "payload": payload,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &str, payload: Value) -> String {
        write("x1", kind, &payload)
    }

    #[test]
    fn known_messages_are_taken() {
        let taken = |kind, payload| read(&message(kind, payload), "x1");
        assert_eq!(
            taken("set-scenario", json!({"query": "m=qwen3-32b"})),
            Ok(Incoming::SetScenario("m=qwen3-32b".to_owned()))
        );
        assert_eq!(
            taken("set-feed", json!({"feed": {"schema": "x"}})),
            Ok(Incoming::SetFeed("{\"schema\":\"x\"}".to_owned()))
        );
        assert_eq!(
            taken("set-theme", json!({"theme": "auto", "accent": "#F00"})),
            Ok(Incoming::SetTheme {
                theme: Some("system"),
                accent: Some("ff0000".to_owned())
            })
        );
        assert_eq!(
            taken("set-language", json!({"lang": "zh-TW"})),
            Ok(Incoming::SetLanguage(Lang::ZhCn))
        );
    }

    #[test]
    fn what_is_not_ours_is_foreign_and_what_is_broken_is_not_taken() {
        for other in [
            "7",
            "null",
            "\"[iFrameSizer]x\"",
            "{\"ns\":\"other\"}",
            "{",
            "{\"type\":\"ready\"}",
        ] {
            assert_eq!(read(other, "x1"), Err(NotTaken::Foreign), "{other}");
        }
        let mut newer: Value =
            serde_json::from_str(&message("set-theme", json!({"theme": "dark"}))).unwrap();
        assert_eq!(read(&newer.to_string(), "x2"), Err(NotTaken::Unknown));
        newer["v"] = json!(2);
        assert_eq!(read(&newer.to_string(), "x1"), Err(NotTaken::Unknown));
        for (kind, payload) in [
            ("set-scenario", json!({})),
            ("set-scenario", json!({"query": 7})),
            ("set-scenario", json!({"query": "x".repeat(9000)})),
            ("set-feed", json!({"feed": null})),
            ("set-feed", json!([])),
            ("set-theme", json!({})),
            ("set-theme", json!({"theme": "url(x)"})),
            ("set-theme", json!({"accent": "red;background:url(x)"})),
            ("set-language", json!({"lang": "tlh"})),
            ("set-language", Value::Null),
        ] {
            let text = message(kind, payload);
            assert_eq!(read(&text, "x1"), Err(NotTaken::Malformed), "{text}");
        }
        assert_eq!(
            read(&message("eval", json!({})), "x1"),
            Err(NotTaken::Unknown)
        );
        let huge = message("set-feed", json!({"feed": "x".repeat(10_000_000)}));
        assert_eq!(read(&huge, "x1"), Err(NotTaken::TooLarge));
    }
}
