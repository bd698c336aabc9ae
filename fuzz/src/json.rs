//! Changes of JSON that keep it JSON, so that more than the parser is reached.

use serde_json::{Map, Value, json};

use crate::Dice;

/// One of `corpus`, changed in a few places: values, names, lists and objects.
pub fn mutated(dice: &mut Dice, corpus: &[Value], words: &[&str]) -> Value {
    let mut root = dice.one_of(corpus).cloned().unwrap_or_default();
    let most = 1 + dice.below(6);
    for _ in 0..=dice.below(most) {
        somewhere(dice, &mut root, corpus, words);
    }
    root
}

fn somewhere(dice: &mut Dice, value: &mut Value, corpus: &[Value], words: &[&str]) {
    let inside = match value {
        Value::Array(list) => list.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    if inside == 0 || dice.below(8) == 0 {
        return here(dice, value, corpus, words);
    }
    let at = dice.below(inside);
    let inner = match value {
        Value::Array(list) => list.get_mut(at),
        Value::Object(map) => map.values_mut().nth(at),
        _ => None,
    };
    if let Some(inner) = inner {
        somewhere(dice, inner, corpus, words);
    }
}

fn here(dice: &mut Dice, value: &mut Value, corpus: &[Value], words: &[&str]) {
    match (dice.below(8), &mut *value) {
        (0..=2, Value::Object(map)) => in_object(dice, map, corpus, words),
        (0..=2, Value::Array(list)) if !list.is_empty() => {
            let (a, b) = (dice.below(list.len()), dice.below(list.len()));
            match dice.below(3) {
                0 => {
                    list.remove(a);
                }
                1 => {
                    let copy = list.get(a).cloned().unwrap_or_default();
                    list.insert(b, copy);
                }
                _ => list.swap(a, b),
            }
        }
        _ => *value = other(dice, corpus, words),
    }
}

fn in_object(dice: &mut Dice, map: &mut Map<String, Value>, corpus: &[Value], words: &[&str]) {
    let name = map.keys().nth(dice.below(map.len())).cloned();
    match (dice.below(3), name) {
        (0, Some(name)) => {
            map.remove(&name);
        }
        (1, Some(name)) => {
            let inner = map.remove(&name).unwrap_or_default();
            map.insert(word(dice, words), inner);
        }
        _ => {
            let inner = other(dice, corpus, words);
            map.insert(word(dice, words), inner);
        }
    }
}

fn word(dice: &mut Dice, words: &[&str]) -> String {
    dice.one_of(words).copied().unwrap_or_default().to_owned()
}

/// Any other value: a number at an end of what numbers can be, a word, a part of the corpus, something deep.
fn other(dice: &mut Dice, corpus: &[Value], words: &[&str]) -> Value {
    match dice.below(12) {
        0 => Value::Null,
        1 => Value::Bool(dice.below(2) == 0),
        2 => Value::String(word(dice, words)),
        3 => json!([]),
        4 => json!({}),
        5 => {
            let mut part = dice.one_of(corpus).unwrap_or(&Value::Null);
            for _ in 0..dice.below(4) {
                let at = dice.below(16);
                part = match part {
                    Value::Array(list) => list.get(at).unwrap_or(part),
                    Value::Object(map) => map.values().nth(at).unwrap_or(part),
                    _ => part,
                };
            }
            part.clone()
        }
        6 => (0..dice.below(160)).fold(json!(1), |inner, _| json!([inner])),
        7 => json!(dice.bits() as f64 / 1e6),
        8 => json!(dice.below(300)),
        _ => {
            const NUMBERS: [f64; 16] = [
                0.0,
                -0.0,
                -1.0,
                0.5,
                1.0,
                1e-320,
                1e-9,
                255.0,
                65_536.0,
                4_294_967_295.0,
                4_294_967_296.0,
                9_007_199_254_740_993.0,
                1e18,
                1.9e19,
                f64::MAX,
                f64::MIN,
            ];
            match dice.below(20) {
                0 => json!(u64::MAX),
                1 => json!(i64::MIN),
                at => json!(NUMBERS.get(at - 2).copied().unwrap_or(1024.0)),
            }
        }
    }
}
