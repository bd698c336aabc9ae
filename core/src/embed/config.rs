//! What the embedding page asked for: the parameters of the frame's address that are the widget's own.

use crate::feed::is_web_link;
use crate::scenario::{decode, encode_pairs};

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Widget {
    /// Scenario and offers.
    #[default]
    Calculator,
    /// "What can this card do?", for a card's own page.
    Card,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Every input, every offer.
    #[default]
    Full,
    /// Model, task, the inputs that matter most and the first offers.
    Compact,
}

/// What a click on "rent" does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OrderTarget {
    /// Opens the order link in a new tab, and tells the embedding page.
    #[default]
    Link,
    /// Only tells the embedding page.
    Event,
}

/// A part that can be hidden. The day and origin of prices cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The heading.
    Header,
    /// All inputs: the scenario is the embedding page's.
    Form,
    /// What all figures take for granted.
    Assumptions,
    /// Cards that do not fit.
    Others,
    /// The link to the whole page.
    Share,
}

impl Part {
    /// Every part, with its name in `hide`.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Header, "header"),
        (Self::Form, "form"),
        (Self::Assumptions, "assumptions"),
        (Self::Others, "others"),
        (Self::Share, "share"),
    ];
}

/// What the embedding page asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// Which widget.
    pub widget: Widget,
    /// Address of the operator's feed.
    pub feed: Option<String>,
    /// The feed comes by message: reference prices are not shown while it is awaited.
    pub awaits_feed: bool,
    /// How much is shown.
    pub layout: Layout,
    /// Parts that are not shown.
    pub hidden: Vec<Part>,
    /// Accent colour as six hexadecimal digits, lower case.
    pub accent: Option<String>,
    /// Providers of the reference prices that may be shown; empty: all.
    pub providers: Vec<String>,
    /// Origins that may embed and speak to the widget; empty: whichever does embed it.
    pub allowed_origins: Vec<String>,
    /// What a click on "rent" does.
    pub order: OrderTarget,
    /// What comes back in order links and events.
    pub reference: String,
    /// The rest of the query: the scenario, language and theme.
    pub scenario: String,
    /// Parameters of the widget whose value could not be used.
    pub ignored: Vec<(String, String)>,
}

/// Longest `ref`, characters.
const REFERENCE_CHARS: usize = 200;
/// Most entries of a list.
const LIST_ENTRIES: usize = 100;
impl Config {
    /// Reads the query of a frame's address. Nothing in it can fail: what cannot be used is named.
    pub fn parse(query: &str) -> Self {
        let mut config = Self::default();
        let mut rest = Vec::new();
        for (name, value) in decode(query).0 {
            if !config.take(&name.to_ascii_lowercase(), value.trim()) {
                rest.push((name, value));
            }
        }
        config.scenario = encode_pairs(rest.iter().map(|(n, v)| (n.as_str(), v.as_str())));
        config
    }

    /// Takes one parameter; `false` where it is none of the widget's.
    fn take(&mut self, name: &str, value: &str) -> bool {
        let used = match name {
            "widget" => set(
                &mut self.widget,
                value,
                &[("calculator", Widget::Calculator), ("card", Widget::Card)],
            ),
            "layout" => set(
                &mut self.layout,
                value,
                &[("full", Layout::Full), ("compact", Layout::Compact)],
            ),
            "order" => set(
                &mut self.order,
                value,
                &[("link", OrderTarget::Link), ("event", OrderTarget::Event)],
            ),
            "feed" if value == "message" => {
                self.awaits_feed = true;
                true
            }
            "feed" => {
                let good = is_feed_address(value);
                self.feed = good.then(|| value.to_owned());
                good
            }
            "hide" => {
                let mut all_known = true;
                for word in list(value) {
                    match Part::ALL.iter().find(|(_, name)| *name == word) {
                        Some((part, _)) => self.hidden.push(*part),
                        None => all_known = false,
                    }
                }
                all_known
            }
            "accent" => {
                self.accent = colour(value);
                self.accent.is_some()
            }
            "providers" => {
                self.providers = list(value).map(str::to_owned).collect();
                true
            }
            "allow" => {
                let given: Vec<&str> = list(value).collect();
                let origins: Vec<String> = given.iter().filter_map(|text| origin(text)).collect();
                let all_good = origins.len() == given.len();
                // A list that was meant and came to nothing must not allow everyone.
                self.allowed_origins = if origins.is_empty() && !given.is_empty() {
                    vec![String::new()]
                } else {
                    origins
                };
                all_good
            }
            "ref" => {
                self.reference = value.chars().take(REFERENCE_CHARS).collect();
                true
            }
            _ => return false,
        };
        if !used {
            self.ignored.push((name.to_owned(), value.to_owned()));
        }
        true
    }

    /// Whether a part is shown.
    pub fn shows(&self, part: Part) -> bool {
        !self.hidden.contains(&part)
    }

    /// Whether a page of that origin may embed the widget.
    pub fn allows(&self, parent: &str) -> bool {
        self.allowed_origins.is_empty() || self.allowed_origins.iter().any(|o| o == parent)
    }
}

fn set<T: Copy>(field: &mut T, value: &str, names: &[(&str, T)]) -> bool {
    match names.iter().find(|(name, _)| *name == value) {
        Some((_, known)) => {
            *field = *known;
            true
        }
        None => value.is_empty(),
    }
}

fn list(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .take(LIST_ENTRIES)
}

/// An http(s) address, or a path on the widget's own host.
fn is_feed_address(value: &str) -> bool {
    let own_path = !value.contains(':')
        && !value.starts_with("//")
        && !value.contains('\\')
        && !value.chars().any(|c| c.is_control() || c.is_whitespace())
        && !value.is_empty();
    is_web_link(value) || own_path
}

/// Three or six hexadecimal digits, with or without `#`, as six.
pub fn colour(value: &str) -> Option<String> {
    let digits = value
        .strip_prefix('#')
        .unwrap_or(value)
        .to_ascii_lowercase();
    if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    match digits.len() {
        6 => Some(digits),
        3 => Some(digits.chars().flat_map(|c| [c, c]).collect()),
        _ => None,
    }
}

/// `scheme://host[:port]` of an address, as browsers write an origin.
fn origin(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://").filter(|_| is_web_link(text))?;
    let host = rest.split(['/', '?', '#']).next()?.to_lowercase();
    let scheme = scheme.to_lowercase();
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(usual).unwrap_or(&host);
    Some(format!("{scheme}://{host}"))
}

/// Ground and ink of a button in that colour: white on all but bright colours, which is what people expect of a brand's,
/// the ground darkened as far as white needs it (4.5 to 1, WCAG 2.2).
pub fn button(colour: &str) -> (String, &'static str) {
    const BRIGHT: f64 = 0.3;
    if luminance(colour) > BRIGHT {
        (colour.to_owned(), "000000")
    } else {
        (readable_on(colour, "ffffff"), "ffffff")
    }
}

/// The colour, moved towards black or white until text in it can be read on `sheet` (4.5 to 1, WCAG 2.2).
pub fn readable_on(colour: &str, sheet: &str) -> String {
    const READABLE: f64 = 4.5;
    const STEPS: u8 = 20;
    let ground = luminance(sheet);
    let goal = if ground > 0.179 { 0.0 } else { 255.0 };
    let mixed = |step: u8| {
        let share = f64::from(step) / f64::from(STEPS);
        (0..3)
            .map(|channel| {
                let byte = f64::from(byte_at(colour, channel * 2));
                format!("{:02x}", (byte + (goal - byte) * share).round() as u8)
            })
            .collect::<String>()
    };
    let readable = |colour: &String| {
        let (a, b) = (luminance(colour) + 0.05, ground + 0.05);
        a.max(b) / a.min(b) >= READABLE
    };
    (0..=STEPS)
        .map(mixed)
        .find(readable)
        .unwrap_or_else(|| mixed(STEPS))
}

fn byte_at(colour: &str, at: usize) -> u8 {
    colour
        .get(at..at + 2)
        .and_then(|two| u8::from_str_radix(two, 16).ok())
        .unwrap_or(0)
}

fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let share = f64::from(byte_at(colour, at)) / 255.0;
        if share <= 0.04045 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_the_widget_are_taken_and_the_rest_is_the_scenario() {
        let config = Config::parse(
            "?widget=card&feed=https%3A%2F%2Fshop.example%2Ffeed.json&layout=compact&hide=header,share&accent=%231677FF&providers=AutoDL,%E9%98%BF%E9%87%8C%E4%BA%91&allow=https://Shop.example:443/x,http://localhost:81&order=event&ref=a%20b&m=qwen3-32b&do=serve&lang=zh-CN&utm=1",
        );
        assert_eq!(config.widget, Widget::Card);
        assert_eq!(
            config.feed.as_deref(),
            Some("https://shop.example/feed.json")
        );
        assert_eq!(config.layout, Layout::Compact);
        assert_eq!(config.hidden, [Part::Header, Part::Share]);
        assert_eq!(config.accent.as_deref(), Some("1677ff"));
        assert_eq!(config.providers, ["AutoDL", "阿里云"]);
        assert_eq!(
            config.allowed_origins,
            ["https://shop.example", "http://localhost:81"]
        );
        assert_eq!(config.order, OrderTarget::Event);
        assert_eq!(config.reference, "a b");
        assert_eq!(config.scenario, "m=qwen3-32b&do=serve&lang=zh-CN&utm=1");
        assert_eq!(config.ignored, []);
        assert!(config.allows("https://shop.example") && !config.allows("https://evil.example"));
        assert!(!config.shows(Part::Header) && config.shows(Part::Form));
    }

    #[test]
    fn silence_means_the_calculator_for_anyone() {
        let config = Config::parse("");
        assert_eq!(config, Config::default());
        assert!(config.allows("https://anyone.example"));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (query, name) in [
            ("widget=toaster", "widget"),
            ("feed=javascript:alert(1)", "feed"),
            ("feed=data:application/json,%7B%7D", "feed"),
            ("feed=//evil.example/x", "feed"),
            ("accent=red", "accent"),
            ("accent=%23ff", "accent"),
            ("hide=prices", "hide"),
            ("allow=shop.example", "allow"),
            ("order=now", "order"),
            ("layout=tiny", "layout"),
        ] {
            let config = Config::parse(query);
            let names: Vec<_> = config.ignored.iter().map(|(n, _)| n.as_str()).collect();
            assert_eq!(names, [name], "{query}");
        }
        assert!(!Config::parse("allow=shop.example").allows("https://shop.example"));
        assert!(Config::parse("feed=message").awaits_feed);
        assert_eq!(
            Config::parse("feed=../demo/feed.json").feed.as_deref(),
            Some("../demo/feed.json")
        );
    }

    #[test]
    fn text_is_readable_in_and_on_every_accent() {
        let contrast = |a: &str, b: &str| {
            let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
            a.max(b) / a.min(b)
        };
        for step in 0_u32..4096 {
            let colour = format!(
                "{:02x}{:02x}{:02x}",
                (step >> 8) * 17,
                (step >> 4 & 15) * 17,
                (step & 15) * 17
            );
            let (ground, ink) = button(&colour);
            assert!(
                contrast(&ground, ink) >= 4.5,
                "{colour} became {ink} on {ground}"
            );
            for sheet in ["fffefb", "1b201f"] {
                let text = readable_on(&colour, sheet);
                assert!(
                    contrast(&text, sheet) >= 4.5,
                    "{colour} became {text} on {sheet}"
                );
            }
        }
        assert_eq!(button("1677ff").1, "ffffff");
        assert_eq!(readable_on("0f5c5c", "fffefb"), "0f5c5c");
        assert_eq!(colour("#0Fa").as_deref(), Some("00ffaa"));
    }
}
