//! Code to copy for the page that embeds the widget.

use crate::scenario::{decode, encode_pairs};

/// One of the three ways to embed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A frame, without any script.
    Frame,
    /// The element.
    Element,
    /// The ES module.
    Module,
}

impl Way {
    /// Every way, the simplest first.
    pub const ALL: [Self; 3] = [Self::Frame, Self::Element, Self::Module];

    /// Name in texts and ids.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Element => "element",
            Self::Module => "module",
        }
    }
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choice {
    /// Options of the widget by name (see [`super::config`]), in the order in which they are written; empty values are left out.
    pub options: Vec<(&'static str, String)>,
    /// The scenario's query.
    pub scenario: String,
    /// Title of the frame.
    pub title: String,
}

/// The code for one way. `host` is the address of the page's folder, ending in `/`.
pub fn code(way: Way, host: &str, choice: &Choice) -> String {
    let given = choice.options.iter().filter(|(_, value)| !value.is_empty());
    match way {
        Way::Frame => {
            let options = given.map(|(name, value)| (*name, value.as_str()));
            let scenario = decode(&choice.scenario).0;
            let scenario = scenario.iter().map(|(n, v)| (n.as_str(), v.as_str()));
            let query = encode_pairs(options.chain(scenario));
            let src = attribute(&format!("{host}embed/index.html?{query}"));
            format!(
                "<iframe src=\"{src}\"\n        title=\"{}\" width=\"100%\" height=\"760\" loading=\"lazy\" style=\"border:0\"\n        sandbox=\"allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox\"\n        referrerpolicy=\"strict-origin-when-cross-origin\"></iframe>",
                attribute(&choice.title)
            )
        }
        Way::Element => {
            let scenario = [("scenario", choice.scenario.clone())];
            let attributes: String = choice
                .options
                .iter()
                .chain(&scenario)
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| format!("\n  {name}=\"{}\"", attribute(value)))
                .collect();
            format!(
                "<script async src=\"{}embed/v1.js\"></script>\n<card-fit{attributes}></card-fit>",
                attribute(host)
            )
        }
        Way::Module => {
            let lang = given
                .clone()
                .find(|(name, _)| *name == "lang")
                .map_or("en", |(_, value)| value.as_str());
            let feed = given.clone().find(|(name, _)| *name == "feed");
            let (fetched, used) = match feed {
                Some((_, address)) => (
                    format!(
                        "const feed = await (await fetch({})).json();\n",
                        script(address)
                    ),
                    "feed, ",
                ),
                None => (String::new(), ""),
            };
            format!(
                "import {{ estimate }} from \"./npm/index.js\";\n\n{fetched}const answer = await estimate({}, {{ {used}lang: {} }});\nfor (const offer of answer.offers) {{\n  console.log(offer.count, offer.card_name, offer.fit, offer.hours, offer.cost_of_job ?? offer.cost_per_month);\n}}",
                script(&choice.scenario),
                script(lang)
            )
        }
    }
}

/// A text inside an attribute in double quotes.
fn attribute(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A text as a string of a script; the only sequence that could end the script around it is broken up.
fn script(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace("</", "<\\/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::config::Config;

    fn choice() -> Choice {
        Choice {
            options: vec![
                ("feed", "https://shop.example/f.json?a=1&b=2".to_owned()),
                ("lang", "zh-CN".to_owned()),
                ("accent", String::new()),
                ("ref", "\"><script>alert(1)</script>".to_owned()),
            ],
            scenario: "m=qwen3-32b&do=serve".to_owned(),
            title: "a \"title\"".to_owned(),
        }
    }

    #[test]
    fn the_frame_says_what_was_chosen() {
        let code = code(Way::Frame, "https://host.example/x/", &choice());
        let src = code.split('"').nth(1).unwrap().replace("&amp;", "&");
        let config = Config::parse(&src);
        assert_eq!(
            config.feed.as_deref(),
            Some("https://shop.example/f.json?a=1&b=2")
        );
        assert_eq!(config.reference, "\"><script>alert(1)</script>");
        assert_eq!(config.scenario, "lang=zh-CN&m=qwen3-32b&do=serve");
        assert!(
            src.starts_with("https://host.example/x/embed/index.html?") && !code.contains("accent")
        );
        assert!(code.contains("title=\"a &quot;title&quot;\""));
    }

    #[test]
    fn nothing_that_was_typed_becomes_markup_or_script() {
        for way in Way::ALL {
            let code = code(way, "https://host.example/", &choice());
            assert!(!code.contains("<script>alert"), "{code}");
        }
        assert_eq!(script("</script>"), "\"<\\/script>\"");
    }

    #[test]
    fn the_element_and_the_module_have_the_scenario() {
        let element = code(Way::Element, "https://host.example/", &choice());
        assert!(element.contains("scenario=\"m=qwen3-32b&amp;do=serve\""));
        let module = code(Way::Module, "https://host.example/", &choice());
        assert!(
            module.contains("estimate(\"m=qwen3-32b&do=serve\", { feed, lang: \"zh-CN\" })"),
            "{module}"
        );
    }
}
