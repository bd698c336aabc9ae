//! Takes typed fields out of a JSON object and notes what is wrong with them.

use serde_json::{Map, Value};

use super::issue::{Effect, FeedIssue, IssueKind};
use super::{LocalText, NAME_CHARS};

/// An object of the feed, with its path and what losing one of its needed fields does.
pub(super) struct Fields<'a> {
    pub map: &'a Map<String, Value>,
    pub path: String,
    pub needed: Effect,
}

impl<'a> Fields<'a> {
    pub fn at(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }

    /// The value of a field; JSON's null is none.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// The value of a field that has to be there.
    pub fn need(&self, name: &str) -> Result<&'a Value, FeedIssue> {
        self.get(name)
            .ok_or_else(|| FeedIssue::new(&self.at(name), IssueKind::Missing, "", self.needed))
    }

    pub fn wrong(&self, name: &str, value: &Value, expected: &str, effect: Effect) -> FeedIssue {
        FeedIssue::new(&self.at(name), IssueKind::WrongType, &brief(value), effect).bound(expected)
    }

    /// A name that has to be there.
    pub fn need_name(&self, name: &str) -> Result<String, FeedIssue> {
        let value = self.need(name)?;
        let text = value
            .as_str()
            .ok_or_else(|| self.wrong(name, value, "text", self.needed))?;
        let kept = kept(text);
        if kept.is_empty() {
            return Err(FeedIssue::new(
                &self.at(name),
                IssueKind::Empty,
                text,
                self.needed,
            ));
        }
        Ok(kept)
    }

    /// A text that may be missing; one of another type is noted and left out.
    pub fn text(&self, name: &str, issues: &mut Vec<FeedIssue>) -> Option<&'a str> {
        let value = self.get(name)?;
        let text = value.as_str();
        if text.is_none() {
            issues.push(self.wrong(name, value, "text", Effect::PartDropped));
        }
        text
    }

    /// A text, or an object of texts by language.
    pub fn local_text(&self, name: &str, issues: &mut Vec<FeedIssue>) -> Option<LocalText> {
        let value = self.get(name)?;
        let by_lang = |tag: &str| value.get(tag).and_then(Value::as_str).map(kept);
        let (en, zh) = match value {
            Value::String(text) => (Some(kept(text)), None),
            Value::Object(_) => (by_lang("en"), by_lang("zh-CN").or_else(|| by_lang("zh"))),
            _ => (None, None),
        };
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        match (given(&en), given(&zh)) {
            (Some(en), Some(zh_cn)) => Some(LocalText { en, zh_cn }),
            (Some(one), None) | (None, Some(one)) => Some(LocalText {
                en: one.clone(),
                zh_cn: one,
            }),
            (None, None) => {
                issues.push(self.wrong(
                    name,
                    value,
                    "text | {\"en\": …, \"zh-CN\": …}",
                    Effect::PartDropped,
                ));
                None
            }
        }
    }

    /// A whole number from 1 up to `most` that may be missing.
    pub fn whole(
        &self,
        name: &str,
        least: u32,
        most: u32,
        issues: &mut Vec<FeedIssue>,
    ) -> Option<u32> {
        let value = self.get(name)?;
        let number = whole_number(value).filter(|n| (least..=most).contains(n));
        if number.is_none() {
            let expected = format!("{least} … {most}");
            issues.push(self.wrong(name, value, &expected, Effect::PartDropped));
        }
        number
    }

    /// A yes or no that may be missing.
    pub fn flag(&self, name: &str, issues: &mut Vec<FeedIssue>) -> bool {
        match self.get(name) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                issues.push(self.wrong(name, other, "true | false", Effect::PartDropped));
                false
            }
        }
    }
}

/// A whole number that fits.
pub(super) fn whole_number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}

/// A value as a remark shows it.
pub(super) fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) => "[…]".to_owned(),
        Value::Object(_) => "{…}".to_owned(),
        other => other.to_string(),
    }
}

/// A name as it is kept: one line, no control or direction characters, not too long.
pub(super) fn kept(text: &str) -> String {
    let visible = text.chars().filter(|c| {
        !c.is_control()
            && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    });
    visible
        .take(NAME_CHARS)
        .collect::<String>()
        .trim()
        .to_owned()
}
