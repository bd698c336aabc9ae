//! JSON of `rocm-smi --json` and `amd-smi --json`.

use serde_json::Value;

use super::lines::rocm_value;
use super::query::amd_value;
use super::reading::{Machine, Tool};
use crate::catalog::Catalog;

/// Longest JSON that is read.
const LONGEST: usize = 512 << 10;

/// Reads the JSON in `text`; whether there was any of these tools.
pub fn read(text: &str, machine: &mut Machine, catalog: &Catalog) -> bool {
    let begins = text.find(['{', '[']);
    let ends = text.rfind(['}', ']']);
    let (Some(begin), Some(end)) = (begins, ends) else {
        return false;
    };
    let Some(json) = text.get(begin..=end).filter(|json| json.len() <= LONGEST) else {
        return false;
    };
    if ![
        "\"card0\"",
        "\"asic\"",
        "\"vram\"",
        "\"market_name\"",
        "\"mem_usage\"",
    ]
    .iter()
    .any(|mark| json.contains(mark))
    {
        return false;
    }
    let Some(value) = serde_json::Deserializer::from_str(json)
        .into_iter::<Value>()
        .next()
        .and_then(Result::ok)
    else {
        return false;
    };
    match value {
        Value::Object(map) if map.keys().any(|key| key.starts_with("card")) => {
            machine.tool(Tool::RocmSmi);
            for (key, card) in &map {
                let index = key.strip_prefix("card").and_then(|n| n.parse().ok());
                if let (Some(index), Some(values)) = (index, card.as_object())
                    && let Some(device) = machine.device(index)
                {
                    for (key, value) in values {
                        rocm_value(key.trim_end_matches(':'), &plain(value), device, catalog);
                    }
                }
            }
            true
        }
        Value::Object(map) => match map.get("gpu_data") {
            Some(Value::Array(list)) => amd(list, machine, catalog),
            _ => amd(&[Value::Object(map)], machine, catalog),
        },
        Value::Array(list) => amd(&list, machine, catalog),
        _ => false,
    }
}

fn amd(list: &[Value], machine: &mut Machine, catalog: &Catalog) -> bool {
    let mut read = false;
    for (place, entry) in list.iter().enumerate() {
        let Some(map) = entry.as_object() else {
            continue;
        };
        let index = map
            .get("gpu")
            .and_then(Value::as_u64)
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(place);
        let Some(device) = machine.device(index) else {
            continue;
        };
        read = true;
        for (heading, part) in map {
            match part.as_object() {
                Some(values) => {
                    for (key, value) in values {
                        amd_value(heading, key, &plain(value), device, catalog);
                    }
                }
                None => amd_value("", heading, &plain(part), device, catalog),
            }
        }
    }
    if read {
        machine.tool(Tool::AmdSmi);
    }
    read
}

/// A value as text: `{"value": 196288, "unit": "mb"}` is `196288 mb`.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Object(map) => {
            let part = |key: &str| map.get(key).map(plain).unwrap_or_default();
            format!("{} {}", part("value"), part("unit"))
        }
        _ => String::new(),
    }
}
