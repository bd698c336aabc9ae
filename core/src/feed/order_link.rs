//! Links to an operator's order page, with places for what was chosen.

use std::fmt::Write as _;

/// Longest link that is kept, bytes.
const LINK_BYTES: usize = 2000;
/// The places that a template may have, in `{braces}`.
pub(super) const PLACEHOLDERS: [&str; 10] = [
    "offer", "gpu", "count", "mode", "hours", "model", "job", "scenario", "lang", "ref",
];

/// A template of order links that was found safe: http(s), a host without places, no credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderLink(String);

/// What fills the places of a template.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OrderChoice {
    /// `{offer}`: the operator's id of the offer.
    pub offer: String,
    /// `{gpu}`: card id of the catalog.
    pub gpu: String,
    /// `{count}`: number of cards.
    pub count: u32,
    /// `{mode}`: name of the billing as the feed's `mode` writes it.
    pub mode: String,
    /// `{hours}`: hours that the job takes, rounded up to a whole hour; empty for a service.
    pub hours: Option<f64>,
    /// `{model}`: model id of the catalog, or `custom`.
    pub model: String,
    /// `{job}`: the task's name in a link.
    pub job: String,
    /// `{scenario}`: the scenario's query.
    pub scenario: String,
    /// `{lang}`: language tag.
    pub lang: String,
    /// `{ref}`: what the embedding page gave as `ref`.
    pub reference: String,
}

impl OrderLink {
    /// Takes a template; `None` where it is no safe http(s) address.
    pub fn new(template: &str) -> Option<Self> {
        is_web_link(template).then(|| Self(template.to_owned()))
    }

    /// The template itself.
    pub fn template(&self) -> &str {
        &self.0
    }

    /// Places of the template that nothing is known for; they are filled with nothing.
    pub fn unknown_places(&self) -> Vec<&str> {
        places(&self.0)
            .filter(|name| !PLACEHOLDERS.contains(name))
            .collect()
    }

    /// The address for a choice, every value percent-encoded.
    pub fn fill(&self, choice: &OrderChoice) -> String {
        let mut link = String::with_capacity(self.0.len() + 64);
        let mut rest = self.0.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            link.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                rest = after;
                break;
            };
            link.push_str(&encoded(&choice.value(name)));
            rest = after;
        }
        link.push_str(rest);
        link
    }
}

impl OrderChoice {
    fn value(&self, place: &str) -> String {
        match place {
            "offer" => self.offer.clone(),
            "gpu" => self.gpu.clone(),
            "count" => self.count.to_string(),
            "mode" => self.mode.clone(),
            "hours" => self
                .hours
                .filter(|h| h.is_finite())
                .map_or_else(String::new, |h| format!("{:.0}", h.ceil().max(1.0))),
            "model" => self.model.clone(),
            "job" => self.job.clone(),
            "scenario" => self.scenario.clone(),
            "lang" => self.lang.clone(),
            "ref" => self.reference.clone(),
            _ => String::new(),
        }
    }
}

fn places(template: &str) -> impl Iterator<Item = &str> {
    template
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}

/// Whether a text is an http(s) address that may be offered as a link: a host, no name or password
/// before it, no space or control character, and nothing to fill in up to the end of the host.
pub fn is_web_link(text: &str) -> bool {
    let clean = text.len() <= LINK_BYTES
        && text.chars().all(|c| {
            !c.is_control() && !c.is_whitespace() && !matches!(c, '"' | '<' | '>' | '\\' | '`')
        });
    let Some((scheme, rest)) = text.split_once("://").filter(|_| clean) else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.split(':').next().unwrap_or_default();
    matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https")
        && !host.contains(['@', '{', '}', '%'])
        && name.chars().any(char::is_alphanumeric)
}

/// What may stand in any part of an address as it is; the rest byte by byte.
fn encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _infallible = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_links() {
        for good in [
            "https://shop.example/order?gpu=4090&n={count}&h={hours}",
            "http://localhost:8080/",
            "HTTPS://租卡.example/下单",
            "https://shop.example",
        ] {
            assert!(OrderLink::new(good).is_some(), "{good}");
        }
        for bad in [
            "javascript:alert(1)",
            "JavaScript://shop.example/%0aalert(1)",
            "data:text/html,<script>1</script>",
            "//shop.example/",
            "/order",
            "https://",
            "https://:443/",
            "https://{ref}.example/",
            "https://shop.example:{count}/",
            "https://user:secret@shop.example/",
            "https://shop.example\\@evil.example/",
            "https://shop.example/ x",
            "https://shop.example/\u{0}",
            "java\nscript:alert(1)",
            "vbscript:x",
            "ftp://shop.example/",
            "",
        ] {
            assert!(OrderLink::new(bad).is_none(), "{bad}");
        }
        assert!(OrderLink::new(&format!("https://a.b/{}", "x".repeat(3000))).is_none());
    }

    #[test]
    fn places_are_filled_and_encoded() {
        let link = OrderLink::new(
            "https://a.example/{gpu}?n={count}&m={mode}&h={hours}&r={ref}&x={nothing}&s={scenario}",
        )
        .unwrap();
        let choice = OrderChoice {
            gpu: "rtx-4090".to_owned(),
            count: 2,
            mode: "hourly".to_owned(),
            hours: Some(3.2),
            reference: "a b&c=\"{count}\"".to_owned(),
            scenario: "m=x&do=lora".to_owned(),
            ..OrderChoice::default()
        };
        assert_eq!(
            link.fill(&choice),
            "https://a.example/rtx-4090?n=2&m=hourly&h=4&r=a%20b%26c%3D%22%7Bcount%7D%22&x=&s=m%3Dx%26do%3Dlora"
        );
        assert_eq!(link.unknown_places(), ["nothing"]);
    }

    #[test]
    fn a_service_has_no_hours_and_an_open_brace_ends_nothing() {
        let link = OrderLink::new("https://a.example/?h={hours}&odd={count").unwrap();
        assert_eq!(
            link.fill(&OrderChoice::default()),
            "https://a.example/?h=&odd=count"
        );
    }
}
