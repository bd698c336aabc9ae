//! Whatever is asked, the answer is made of numbers: no panic, no NaN, no infinity, and ranges
//! in order.

#![allow(clippy::expect_used, reason = "a helper of tests may end them")]

mod random;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::rank;
use cardfit::scenario::{Scenario, parse, to_query};
use proptest::prelude::*;
use serde_json::Value;

/// Every number of an answer is finite: JSON has no other, and writes `null` where one was to
/// be, so `null` may stand only where a field may be absent.
fn check(scenario: &Scenario) -> Result<(), TestCaseError> {
    let link = to_query(scenario);
    let ranking = rank(scenario, Catalog::embedded(), PriceBook::embedded());
    for offer in &ranking.offers {
        let said = serde_json::to_value(offer).expect("JSON");
        ranges(
            &said,
            "",
            &format!("{link}: {} x {}", offer.count, offer.card),
        )?;
        prop_assert!(offer.count > 0 && offer.nodes > 0, "{link}");
    }
    Ok(())
}

/// Where a number must stand, it does; `low <= mid <= high`.
fn ranges(value: &Value, path: &str, about: &str) -> Result<(), TestCaseError> {
    match value {
        Value::Object(fields) => {
            if let (Some(low), Some(mid), Some(high)) =
                (fields.get("low"), fields.get("mid"), fields.get("high"))
            {
                let ends = [low, mid, high].map(|n| n.as_f64().unwrap_or(f64::NAN));
                prop_assert!(
                    0.0 <= ends[0] && ends[0] <= ends[1] && ends[1] <= ends[2],
                    "{about}: {path} {value}"
                );
            }
            for (name, inner) in fields {
                let must_be_a_number =
                    name.ends_with("_s") || name == "mfu" || name == "typical_error";
                prop_assert!(
                    !(must_be_a_number && inner.is_null()),
                    "{about}: {path}.{name} is no number"
                );
                ranges(inner, &format!("{path}.{name}"), about)?;
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| ranges(item, path, about)),
        _ => Ok(()),
    }
}

proptest! {
    // An answer looks at some hundred offers, so a few dozen of them are many.
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn an_answer_is_made_of_numbers(wanted in random::scenario()) {
        check(&parse(&to_query(&wanted), Catalog::embedded()).scenario)?;
    }
}

#[test]
fn absurd_scenarios_are_answered() {
    for link in [
        "m=custom&layers=1&hidden=16&heads=1&hd=1&ffn=1&vocab=1&do=pretrain&tokens=1&seq=1",
        "m=custom&layers=900&hidden=131072&heads=1024&ffn=80000&do=pretrain&tokens=1e16",
        "m=custom&layers=900&hidden=131072&heads=1024&ffn=80000&do=serve&users=1M&in=16777216&out=16777216",
        "m=custom&layers=1000&hidden=1024&experts=4096&eff=1024&do=serve&rps=1M",
        "m=custom&attn=1:linear:1:0:0&ffn=1&hidden=16&do=serve&users=1&in=1&out=1",
        "m=custom&attn=1000:linear:4096:1e12:1e10&hidden=16&do=serve",
        "m=llama-3.1-405b&do=pretrain&tokens=1e16&seq=16777216&batch=16777216&n=100000",
        "m=llama-3.1-405b&do=serve&users=1000000&n=1",
        "m=llama-3.1-8b&do=serve&rps=0.000001&ttft=0.001&tpot=0.0001&hours=0.01",
        "m=gpt2&do=lora&samples=1&epochs=0.001&seq=1&rank=1&batch=1&micro=1&n=1",
        "m=deepseek-r1-671b&do=pretrain&tokens=1&n=7&tp=7&pp=1",
        "m=qwen2.5-7b&do=lora&budget=0.01&deadline=0.01&price=rtx-4090:1M&fx=0.1&max=1",
        "m=qwen2.5-7b&do=full&micro=65536&batch=16777216&recompute=none&shard=none",
        "m=qwen2.5-7b&do=lora&cards=rtx-4090&n=20000",
        "m=custom&do=serve&layers=1&hidden=64&heads=1&vocab=1000&experts=4096&top=4096&eff=1048576&cards=h100-sxm-80gb&n=8",
    ] {
        let parsed = parse(link, Catalog::embedded());
        assert!(
            parsed.problems.iter().all(|p| p.param != "m"),
            "{link}: {:?}",
            parsed.problems
        );
        if let Err(wrong) = check(&parsed.scenario) {
            panic!("{wrong}");
        }
    }
}
