//! Typed fields of a JSON object by any of their names, and the record of what was read.

use serde_json::{Map, Value};

use super::error::{BringError, BringErrorKind as Kind};
use super::{Field, LONGEST_TEXT, Origin};
use crate::scenario::limits::{Limit, OutOfLimit};

/// Reads JSON as Python writes it: `NaN` and `Infinity` stand for numbers there.
pub(super) fn parse(given: &str) -> Result<Map<String, Value>, BringError> {
    if given.len() > LONGEST_TEXT {
        let mib = format!("{} MiB", given.len() >> 20);
        let most = format!("{} MiB", LONGEST_TEXT >> 20);
        return Err(BringError::of(Kind::TooLong, "", &mib).expected(most));
    }
    let given = given.trim_start_matches('\u{feff}').trim();
    let value: Value = match serde_json::from_str(given) {
        Ok(value) => value,
        Err(first) => {
            let finite = without_infinities(given);
            serde_json::from_str(&finite).map_err(|_| {
                let place = format!("{}:{}", first.line(), first.column());
                let kind = if first.is_eof() && !given.trim().is_empty() {
                    Kind::Unfinished
                } else {
                    Kind::NotJson
                };
                BringError::of(kind, "", &place)
            })?
        }
    };
    match value {
        Value::Object(map) => Ok(map),
        other => Err(BringError::of(Kind::NotAnObject, "", kind_of(&other))),
    }
}

/// The text with `NaN` and `Infinity` outside strings as `null`.
fn without_infinities(given: &str) -> String {
    let mut out = String::with_capacity(given.len());
    let mut rest = given;
    let mut quoted = false;
    while let Some(c) = rest.chars().next() {
        if !quoted
            && let Some(after) = ["-Infinity", "Infinity", "NaN"]
                .iter()
                .find_map(|word| rest.strip_prefix(word))
        {
            out.push_str("null");
            rest = after;
            continue;
        }
        let mut length = c.len_utf8();
        match c {
            '"' => quoted = !quoted,
            // What is escaped ends no string.
            '\\' if quoted => length += rest.chars().nth(1).map_or(0, char::len_utf8),
            _ => {}
        }
        let (now, after) = rest.split_at(length.min(rest.len()));
        out.push_str(now);
        rest = after;
    }
    out
}

/// A value's type in a word.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true/false",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// What an error shows of a value.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Array(list) => format!("[{}]", list.len()),
        Value::Object(_) => kind_of(value).to_owned(),
        other => other.to_string(),
    }
}

/// A value with the path of the field that it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Read<T> {
    pub path: String,
    pub value: T,
}

impl<T> Read<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Read<U> {
        Read {
            path: self.path,
            value: change(self.value),
        }
    }
}

/// Objects in which a field is looked for, the first first, each with its path.
#[derive(Debug, Clone)]
pub(super) struct Source<'a> {
    objects: Vec<(String, &'a Map<String, Value>)>,
    /// What was read so far.
    pub fields: Vec<Field>,
}

impl<'a> Source<'a> {
    pub fn new(root: &'a Map<String, Value>) -> Self {
        Self {
            objects: vec![(String::new(), root)],
            fields: Vec::new(),
        }
    }

    /// Looks into the object of that name first.
    pub fn prefer(&mut self, name: &str) -> bool {
        let Some((_, root)) = self.objects.last() else {
            return false;
        };
        match Self::at(root, name) {
            Some(Value::Object(inner)) => {
                self.objects.insert(0, (format!("{name}."), inner));
                true
            }
            _ => false,
        }
    }

    /// The value of a path such as `attn_config.kv_n_heads`; `null` is as good as none.
    fn at(map: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
        let mut parts = path.split('.');
        let mut value = map.get(parts.next()?)?;
        for part in parts {
            value = value.as_object()?.get(part)?;
        }
        (!value.is_null()).then_some(value)
    }

    /// The first of `names` that is there, in the first object that has one.
    pub fn find(&self, names: &[&str]) -> Option<Read<&'a Value>> {
        self.objects.iter().find_map(|(prefix, map)| {
            names.iter().find_map(|name| {
                Self::at(map, name).map(|value| Read {
                    path: format!("{prefix}{name}"),
                    value,
                })
            })
        })
    }

    pub fn has(&self, names: &[&str]) -> bool {
        self.find(names).is_some()
    }

    /// A whole number within `limit`.
    pub fn whole(&self, names: &[&str], limit: &Limit) -> Result<Option<Read<u32>>, BringError> {
        self.find(names)
            .map(|found| {
                let value = whole(&found.path, found.value, limit)?;
                Ok(Read {
                    path: found.path,
                    value,
                })
            })
            .transpose()
    }

    /// A whole number within `limit`, or the largest of a list of them, one for each block.
    pub fn whole_or_each(
        &self,
        names: &[&str],
        limit: &Limit,
    ) -> Result<Option<Read<u32>>, BringError> {
        let Some(found) = self.find(names) else {
            return Ok(None);
        };
        let Value::Array(list) = found.value else {
            return self.whole(names, limit);
        };
        let each: Vec<u32> = list
            .iter()
            .enumerate()
            .map(|(at, value)| whole(&format!("{}[{at}]", found.path), value, limit))
            .collect::<Result<_, _>>()?;
        let largest = each.into_iter().max();
        let empty = || BringError::of(Kind::ListLength, &found.path, "0").expected("1");
        let value = largest.ok_or_else(empty)?;
        Ok(Some(found.map(|_| value)))
    }

    /// A whole number within `limit`, `default` where it is missing.
    pub fn whole_or(&self, names: &[&str], limit: &Limit, default: u32) -> Result<u32, BringError> {
        Ok(self.whole(names, limit)?.map_or(default, |read| read.value))
    }

    /// A number of any kind from 0 to a million.
    pub fn number(&self, names: &[&str]) -> Result<Option<Read<f64>>, BringError> {
        const MOST: f64 = 1e6;
        self.find(names)
            .map(|found| {
                let number = found.value.as_f64().ok_or_else(|| {
                    BringError::of(Kind::WrongType, &found.path, &shown(found.value))
                        .expected("number")
                })?;
                if number < 0.0 {
                    Err(
                        BringError::of(Kind::TooSmall, &found.path, &shown(found.value))
                            .expected("0"),
                    )
                } else if number > MOST {
                    Err(
                        BringError::of(Kind::TooLarge, &found.path, &shown(found.value))
                            .expected("1000000"),
                    )
                } else {
                    Ok(found.map(|_| number))
                }
            })
            .transpose()
    }

    /// Yes or no.
    pub fn flag(&self, names: &[&str]) -> Result<Option<Read<bool>>, BringError> {
        self.find(names)
            .map(|found| match found.value {
                Value::Bool(yes) => Ok(found.map(|_| *yes)),
                other => Err(BringError::of(Kind::WrongType, &found.path, &shown(other))
                    .expected("true/false")),
            })
            .transpose()
    }

    pub fn flag_or(&self, names: &[&str], default: bool) -> Result<bool, BringError> {
        Ok(self.flag(names)?.map_or(default, |read| read.value))
    }

    /// A word; another type counts as none.
    pub fn word(&self, names: &[&str]) -> Option<&'a str> {
        self.find(names).and_then(|found| found.value.as_str())
    }

    /// A list; another type counts as none.
    pub fn list(&self, names: &[&str]) -> Option<Read<&'a [Value]>> {
        let found = self.find(names)?;
        let list = found.value.as_array()?;
        Some(found.map(|_| list.as_slice()))
    }

    /// A list with an entry for each of `layers`.
    pub fn layer_list(
        &self,
        names: &[&str],
        layers: u32,
    ) -> Result<Option<Read<&'a [Value]>>, BringError> {
        let Some(list) = self.list(names) else {
            return Ok(None);
        };
        if list.value.len() == layers as usize {
            return Ok(Some(list));
        }
        Err(
            BringError::of(Kind::ListLength, &list.path, &list.value.len().to_string())
                .expected(layers.to_string()),
        )
    }

    /// A number that all layers share, or one for each of them.
    pub fn each_layer(
        &self,
        names: &[&str],
        layers: u32,
        limit: &Limit,
    ) -> Result<Option<Read<Vec<u32>>>, BringError> {
        let Some(found) = self.find(names) else {
            return Ok(None);
        };
        if !found.value.is_array() {
            let one = whole(&found.path, found.value, limit)?;
            return Ok(Some(found.map(|_| vec![one; layers as usize])));
        }
        let Some(list) = self.layer_list(names, layers)? else {
            return Ok(None);
        };
        let each: Result<Vec<u32>, _> = list
            .value
            .iter()
            .enumerate()
            .map(|(at, value)| whole(&format!("{}[{at}]", list.path), value, limit))
            .collect();
        Ok(Some(Read {
            path: list.path,
            value: each?,
        }))
    }

    /// Notes a value and where it comes from.
    pub fn note(&mut self, param: &'static str, value: impl ToString, origin: Origin, key: &str) {
        self.fields.push(Field {
            param,
            value: value.to_string(),
            origin,
            key: key.to_owned(),
        });
    }

    /// Takes what was read, or `default`, and notes which.
    pub fn take<T: ToString + Copy>(
        &mut self,
        param: &'static str,
        read: Option<Read<T>>,
        default: (T, Origin, &str),
    ) -> T {
        match read {
            Some(read) => {
                self.note(param, read.value, Origin::Read, &read.path);
                read.value
            }
            None => {
                let (value, origin, key) = default;
                self.note(param, value, origin, key);
                value
            }
        }
    }
}

/// A whole number within `limit`.
pub(super) fn whole(path: &str, value: &Value, limit: &Limit) -> Result<u32, BringError> {
    let Some(number) = value.as_f64() else {
        return Err(BringError::of(Kind::WrongType, path, &shown(value)).expected("number"));
    };
    within(path, number, limit)
}

/// A whole number within `limit`.
pub(super) fn within(path: &str, number: f64, limit: &Limit) -> Result<u32, BringError> {
    let wrong = |kind| BringError::of(kind, path, &number.to_string());
    match limit.check(number) {
        Ok(number) => Ok(number as u32),
        Err(OutOfLimit::TooSmall) => Err(wrong(Kind::TooSmall).expected(limit.min.to_string())),
        Err(OutOfLimit::TooLarge) => Err(wrong(Kind::TooLarge).expected(limit.max.to_string())),
        Err(OutOfLimit::NotWhole) => Err(wrong(Kind::NotWhole)),
        Err(OutOfLimit::NotANumber) => Err(wrong(Kind::WrongType).expected("number")),
    }
}
