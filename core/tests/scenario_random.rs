//! Links made at random: every scenario survives being written and read, and nothing that
//! anyone can type breaks the reader.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod random;

use cardfit::catalog::Catalog;
use cardfit::scenario::{PARAMS, from_json, parse, read_text, to_query};
use cardfit::text::Lang;
use proptest::prelude::*;
use proptest::sample::select;
use random::scenario;

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

/// Parameters and values that are nearly right, joined at random.
fn nearly_a_query() -> impl Strategy<Value = String> {
    let names: Vec<_> = PARAMS.iter().map(|p| p.name.to_owned()).collect();
    let name = prop_oneof![8 => select(names), 1 => "[a-z]{0,6}", 1 => ".{0,4}"];
    let words = [
        "custom",
        "serve",
        "pretrain",
        "lora",
        "llama-3.1-8b",
        "qwen3-30b-a3b",
        "rtx-4090",
        "yes",
        "no",
        "0",
        "-1",
        "1",
        "3",
        "8",
        "16",
        "1e18",
        "1e308",
        "NaN",
        "inf",
        "1.5",
        "9999999999999999999999",
        "10k",
        "5万",
        "%zz",
        "4:heads:8:2:64",
        "4:mla:8:0:4:4:4:4",
        "1:linear:1:1:1",
        "rtx-4090:1,h100:2",
        "bf16",
        "q4_k_m",
        "vllm",
        "",
        "0.0001",
        "1000",
        "131072",
        "1048576",
        "4096",
    ];
    let value = prop_oneof![
        8 => select(words.to_vec()).prop_map(str::to_owned),
        2 => any::<f64>().prop_map(|n| n.to_string()),
        1 => ".{0,20}",
    ];
    proptest::collection::vec((name, value), 0..24).prop_map(|pairs| {
        let parts: Vec<_> = pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        parts.join("&")
    })
}

/// What must hold whatever was typed: the scenario is one that a canonical link says without a
/// word of correction, and every problem can be said in every language.
fn holds(text: &str) -> Result<(), TestCaseError> {
    let parsed = parse(text, catalog());
    let canonical = to_query(&parsed.scenario);
    let again = parse(&canonical, catalog());
    prop_assert_eq!(
        &again.scenario,
        &parsed.scenario,
        "{} -> {}",
        text,
        &canonical
    );
    prop_assert!(
        again.problems.iter().all(|p| p.is_warning()),
        "{canonical}: {:?}",
        again.problems
    );
    prop_assert_eq!(to_query(&again.scenario), canonical);
    for problem in &parsed.problems {
        for lang in Lang::ALL {
            let message = problem.message(lang);
            prop_assert!(
                !message.is_empty() && !message.contains("problem."),
                "{message}"
            );
            prop_assert!(!message.contains(|c: char| c.is_control()), "{message}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_scenario_survives_its_link(wanted in scenario()) {
        let query = to_query(&wanted);
        let parsed = parse(&query, catalog());
        if parsed.problems.iter().all(|p| p.is_warning()) {
            prop_assert_eq!(&parsed.scenario, &wanted, "{}", query);
        } else {
            // Fields that contradict each other were put right: once, and for good.
            holds(&query)?;
        }
    }

    #[test]
    fn a_settled_scenario_survives_its_link_and_its_json(wanted in scenario()) {
        let settled = parse(&to_query(&wanted), catalog()).scenario;
        let query = to_query(&settled);
        prop_assert_eq!(&parse(&query, catalog()).scenario, &settled, "{}", query);
        let json = serde_json::to_string(&settled).expect("JSON");
        let read = from_json(&json, catalog()).expect("JSON");
        prop_assert_eq!(&read.scenario, &settled, "{}", json);
        prop_assert!(read.unknown.is_empty());
    }

    #[test]
    fn nearly_right_links_are_put_right(text in nearly_a_query()) {
        holds(&text)?;
    }

    #[test]
    fn any_text_is_read(text in ".*") {
        holds(&text)?;
        // As JSON it is read or refused with words.
        if let Err(problem) = read_text(&text, catalog()) {
            prop_assert!(!problem.message(Lang::ZhCn).is_empty());
        }
    }

    #[test]
    fn any_json_is_read_or_refused(text in r#"\{("(model|job|shelf|money|rank|custom|train|serve|load|amount|attention|cards)": ?(\{|\[|"x"|5|null|true|-1e9|\}|\]|,| ){1,4}){0,6}\}"#) {
        match from_json(&text, catalog()) {
            Ok(parsed) => holds(&to_query(&parsed.scenario))?,
            Err(problem) => prop_assert!(!problem.message(Lang::En).is_empty()),
        }
    }
}
