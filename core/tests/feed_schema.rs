//! The JSON Schema of feeds says what the reader does: what it accepts is read without a remark, and what it rejects
//! is remarked on. The validator below knows the keywords that the schema uses and fails on any other.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use cardfit::catalog::Catalog;
use cardfit::feed::{FEED_BYTES, FEED_JSON_SCHEMA, FEED_OFFERS, FEED_SCHEMA, PRICE_MOST, read};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Whether `value` is as `schema` wants it (JSON Schema 2020-12, the part in use).
fn valid(schema: &Value, value: &Value, root: &Value) -> bool {
    let Some(rules) = schema.as_object() else {
        return schema.as_bool().unwrap_or(false);
    };
    let sub = |schema: &Value| valid(schema, value, root);
    rules.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "$id" | "$defs" | "title" | "description" | "then" | "else" => true,
        "$ref" => {
            let name = rule.as_str().unwrap().trim_start_matches("#/$defs/");
            sub(&root["$defs"][name])
        }
        "type" => match rule.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
            other => panic!("type {other}"),
        },
        "const" => value == rule,
        "enum" => rule.as_array().unwrap().contains(value),
        "anyOf" => rule.as_array().unwrap().iter().any(sub),
        "if" => {
            let branch = if sub(rule) { "then" } else { "else" };
            rules.get(branch).is_none_or(sub)
        }
        "required" => value.as_object().is_none_or(|fields| {
            let names = rule.as_array().unwrap();
            names
                .iter()
                .all(|name| fields.contains_key(name.as_str().unwrap()))
        }),
        "properties" => value.as_object().is_none_or(|fields| {
            let known = rule.as_object().unwrap();
            known
                .iter()
                .all(|(name, schema)| fields.get(name).is_none_or(|v| valid(schema, v, root)))
        }),
        "minProperties" => value
            .as_object()
            .is_none_or(|f| f.len() as u64 >= rule.as_u64().unwrap()),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| valid(rule, item, root))),
        "minItems" => value
            .as_array()
            .is_none_or(|a| a.len() as u64 >= rule.as_u64().unwrap()),
        "maxItems" => value
            .as_array()
            .is_none_or(|a| a.len() as u64 <= rule.as_u64().unwrap()),
        "minLength" => value
            .as_str()
            .is_none_or(|s| s.chars().count() as u64 >= rule.as_u64().unwrap()),
        "maxLength" => value
            .as_str()
            .is_none_or(|s| s.chars().count() as u64 <= rule.as_u64().unwrap()),
        "minimum" => value.as_f64().is_none_or(|n| n >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|n| n <= rule.as_f64().unwrap()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|n| n > rule.as_f64().unwrap()),
        "pattern" => value
            .as_str()
            .is_none_or(|s| matches_pattern(rule.as_str().unwrap(), s)),
        other => panic!("the validator does not know {other}"),
    })
}

/// The three patterns of the schema, by hand.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    match pattern {
        r"\S" => text.chars().any(|c| !c.is_whitespace()),
        r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])" => {
            let number = |range| {
                text.get(range)
                    .and_then(|part: &str| part.parse::<u32>().ok())
            };
            number(0..4).is_some()
                && text.get(4..5) == Some("-")
                && number(5..7).is_some_and(|m| (1..=12).contains(&m))
                && text.get(7..8) == Some("-")
                && number(8..10).is_some_and(|d| (1..=31).contains(&d))
        }
        r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s@{}/?#:]+(:\d+)?([/?#][^\s]*)?$" => {
            let Some((scheme, rest)) = text.split_once("://") else {
                return false;
            };
            let host: String = rest.chars().take_while(|c| !"/?#".contains(*c)).collect();
            let (name, port) = host.split_once(':').unwrap_or((&host, "1"));
            ["http", "https"].contains(&scheme.to_lowercase().as_str())
                && !text.contains(char::is_whitespace)
                && !name.is_empty()
                && !name.contains(['@', '{', '}'])
                && !port.is_empty()
                && port.chars().all(|c| c.is_ascii_digit())
        }
        other => panic!("the validator does not know the pattern {other}"),
    }
}

fn schema() -> Value {
    serde_json::from_str(FEED_JSON_SCHEMA).unwrap()
}

fn accepts(feed: &Value) -> bool {
    let schema = schema();
    valid(&schema, feed, &schema)
}

/// Whether the reader takes the feed without a remark.
fn taken_whole(feed: &Value) -> bool {
    read(&feed.to_string(), Catalog::embedded(), None).is_ok_and(|(_, issues)| issues.is_empty())
}

#[test]
fn the_schema_states_the_readers_limits() {
    let schema = schema();
    assert_eq!(schema["properties"]["schema"]["const"], FEED_SCHEMA);
    assert_eq!(schema["properties"]["offers"]["maxItems"], FEED_OFFERS);
    assert_eq!(
        schema["$defs"]["amount"]["maximum"].as_f64(),
        Some(PRICE_MOST)
    );
    assert!(FEED_JSON_SCHEMA.len() < FEED_BYTES);
}

#[test]
fn the_examples_are_valid_and_read_whole() {
    for text in [
        include_str!("feeds/minimal.json"),
        include_str!("../../page/public/demo/feed.json"),
    ] {
        let feed: Value = serde_json::from_str(text).unwrap();
        assert!(accepts(&feed), "{text}");
        assert!(
            taken_whole(&feed),
            "{:?}",
            read(text, Catalog::embedded(), None)
        );
    }
}

fn amount() -> impl Strategy<Value = f64> {
    (1_u32..1_000_000).prop_map(|n| f64::from(n) / 100.0)
}

fn price() -> impl Strategy<Value = Value> {
    prop_oneof![
        (
            prop::sample::select(vec![
                "hourly", "daily", "weekly", "monthly", "yearly", "spot"
            ]),
            amount()
        )
            .prop_map(|(mode, price)| json!({"mode": mode, "price": price})),
        (prop::sample::select(vec![12, 36]), amount()).prop_map(|(term, price)| {
            json!({"mode": "reserved", "term_months": term, "price_per_month": price})
        }),
    ]
}

fn local_text() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-z海南<>&\"]{1,20}".prop_map(|text| json!(text)),
        ("[a-z]{1,20}", "[海南北京]{1,9}").prop_map(|(en, zh)| json!({"en": en, "zh-CN": zh})),
    ]
}

prop_compose! {
    fn good_offer()(
        id in "[a-z0-9]{12}",
        gpu in prop::sample::select(vec!["RTX 4090", "rtx-3090", "H100 SXM", "NVIDIA L40S"]),
        price in price(),
        name in prop::option::of(local_text()),
        region in prop::option::of(local_text()),
        counts in prop::option::of(prop::collection::vec(1_u32..=1024, 1..5)),
        nodes in prop::option::of(1_u32..=1024),
        state in prop::option::of(prop::sample::select(vec!["in_stock", "low", "out"])),
        free in prop::option::of(0_u32..100),
        order in prop::option::of(prop::sample::select(vec![
            "https://shop.example/o?n={count}&r={ref}",
            "http://127.0.0.1:8080/{gpu}",
        ])),
    ) -> Value {
        let mut entry = json!({"id": id, "gpu": gpu, "prices": [price]});
        let optional = [
            ("name", name), ("region", region), ("gpu_counts", counts.map(|c| json!(c))),
            ("max_nodes", nodes.map(|n| json!(n))), ("order_url", order.map(|o| json!(o))),
            ("stock", state.map(|s| json!({"state": s, "free_gpus": free}))),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                entry[key] = value;
            }
        }
        if let Some(stock) = entry.get_mut("stock").and_then(Value::as_object_mut) {
            stock.retain(|_, value| !value.is_null());
        }
        entry
    }
}

fn good_feed() -> impl Strategy<Value = Value> {
    (prop::collection::vec(good_offer(), 1..6), local_text()).prop_map(|(mut offers, provider)| {
        for (n, offer) in offers.iter_mut().enumerate() {
            offer["id"] = json!(format!("{n}{}", offer["id"].as_str().unwrap()));
        }
        let provider = match provider {
            Value::String(name) => json!(name),
            other => json!({"name": other["en"], "url": "https://shop.example/"}),
        };
        json!({"schema": FEED_SCHEMA, "provider": provider, "currency": "CNY",
            "storage": {"free_gb": 50, "price_per_gb_month": 0.3}, "traffic": {}, "tax_percent": 6,
            "generated_at": "2026-11-30T08:00:00+08:00", "offers": offers})
    })
}

/// Something wrong somewhere in a feed.
fn spoil(feed: &mut Value, how: usize) {
    let offer = &mut feed["offers"][0];
    match how {
        0 => feed["schema"] = json!("other/1"),
        1 => feed["currency"] = json!("bottle caps"),
        2 => feed["generated_at"] = json!("yesterday"),
        3 => feed["offers"] = json!([]),
        4 => feed["provider"] = json!({"url": "https://a.example/"}),
        5 => offer["id"] = json!(7),
        6 => offer["gpu"] = json!(["RTX 4090"]),
        7 => offer["prices"] = json!([]),
        8 => offer["prices"][0]["mode"] = json!("fortnightly"),
        9 => offer["prices"] = json!([{"mode": "hourly", "price": 0}]),
        10 => offer["prices"] = json!([{"mode": "hourly", "price": "1"}]),
        11 => offer["prices"] = json!([{"mode": "hourly", "price": 1e12}]),
        12 => {
            offer["prices"] = json!([{"mode": "reserved", "price_per_month": 5, "term_months": 7}])
        }
        13 => offer["order_url"] = json!("javascript:alert(1)"),
        14 => offer["order_url"] = json!("https://me:secret@shop.example/"),
        15 => offer["gpu_counts"] = json!([0]),
        16 => offer["gpu_counts"] = json!("1,2"),
        17 => offer["stock"] = json!({"state": "maybe"}),
        18 => offer["stock"] = json!([]),
        19 => offer["max_nodes"] = json!(1.5),
        20 => offer["node_only"] = json!("yes"),
        21 => offer["region"] = json!(7),
        22 => feed["offers"] = json!({"0": {}}),
        23 => offer["vram_gb"] = json!("24"),
        24 => feed["valid_until"] = json!(20261130),
        25 => feed["storage"] = json!({"price_per_gb_month": -1}),
        26 => feed["traffic"] = json!([0.8]),
        27 => feed["tax_percent"] = json!(101),
        28 => offer["provider"] = json!({"name": "partner"}),
        _ => feed["offers"][0] = json!("RTX 4090"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_the_schema_accepts_is_read_without_a_remark(feed in good_feed()) {
        prop_assert!(accepts(&feed), "{feed}");
        prop_assert!(taken_whole(&feed), "{feed} {:?}", read(&feed.to_string(), Catalog::embedded(), None));
    }

    #[test]
    fn what_the_schema_rejects_is_remarked_on(mut feed in good_feed(), how in 0_usize..30) {
        spoil(&mut feed, how);
        prop_assert!(!accepts(&feed), "{how} {feed}");
        prop_assert!(!taken_whole(&feed), "{how} {feed}");
    }

    #[test]
    fn nothing_that_is_json_breaks_the_reader(text in "[\\[\\]{}\":,a-z0-9 .\\-]{0,200}") {
        let _outcome = read(&text, Catalog::embedded(), None);
    }
}
