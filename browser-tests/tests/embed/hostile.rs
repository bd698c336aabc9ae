use browser_tests::embedding::{Embedding, feed, shared};
use browser_tests::{Host, HostFile, Outcome, Page, in_browser};
use serde_json::{Value, json};

/// What a page of the test can say to the frame, with the frame's own id.
const SPEAK: &str = r##"
    const frame = document.querySelector("#w iframe").contentWindow;
    const id = new URLSearchParams(new URL(document.querySelector("#w iframe").src).hash.slice(1)).get("eid");
    const say = (message) => frame.postMessage(message, "*");
    const ours = { ns: "cardfit", v: 1, id };
"##;

/// Waits until the frame has counted so many messages that it did not take.
async fn counted(page: &Page, number: usize) -> Outcome {
    page.wait_until(
        &format!("{number} messages are counted"),
        &format!("return document.documentElement.dataset.ignored === '{number}'"),
    )
    .await
}

#[test]
fn a_hostile_parent_is_ignored_and_counted_and_breaks_nothing() -> Outcome {
    in_browser(async |page| {
        let forger = Host::serve(vec![HostFile::html(
            "/",
            "<!doctype html><script>addEventListener('message', ({ data }) => { for (let n = 0; n < 5; n++) parent.frames[data.frame].postMessage(data.message, '*'); parent.postMessage(data.message, '*') })</script>",
        )])?;
        let host = Embedding::element(
            page,
            "feed=\"/feed.json\" scenario=\"m=llama-3.1-8b&amp;do=lora\"",
        )
        .and(&format!(
            "<iframe id=\"forger\" src=\"{}/\"></iframe>",
            forger.origin
        ))
        .open(page)
        .await?;
        let before = host.event("change").await?;
        // The host itself speaks out of turn: other name spaces, versions, ids, types, shapes and sizes.
        page.script(&format!("{SPEAK}{}", r#"
            for (const junk of [null, 7, "[iFrameSizer]message", [], {}, { ns: "other" }, new Map(), { type: "set-feed" }]) say(junk);
            say({ ...ours, v: 2, type: "set-scenario", payload: { query: "m=qwen3-32b" } });
            say({ ...ours, id: "guess", type: "set-scenario", payload: { query: "m=qwen3-32b" } });
            say({ ...ours, type: "eval", payload: "alert(1)" });
            say({ ...ours, type: "set-scenario", payload: { query: { toString: 1 } } });
            say({ ...ours, type: "set-feed", payload: { feed: "x".repeat(10_000_000) } });
            say({ ...ours, type: "set-theme", payload: { accent: "red;}body{display:none" } });
            say({ ...ours, type: "set-language", payload: null });
        "#)).await?;
        host.inside("#w iframe", async || counted(page, 7).await)
            .await?;
        // A frame of another origin forges both ways, with the right id.
        page.script(&format!("{SPEAK}{}", r##"
            const at = [...Array(frames.length).keys()].find((n) => frames[n] === frame);
            const forge = (message) => document.querySelector("#forger").contentWindow.postMessage({ frame: at, message: { ...ours, ...message } }, "*");
            forge({ type: "set-scenario", payload: { query: "m=qwen3-32b" } });
            forge({ type: "resize", payload: { height: 9999 } });
        "##)).await?;
        page.wait_until(
            "the element counts what claims to be its frame",
            "return w.ignored === 2",
        )
        .await?;
        host.inside("#w iframe", async || counted(page, 17).await)
            .await?;
        let low = "return document.querySelector('#w iframe').offsetHeight < 9000";
        assert_eq!(page.script(low).await?, true);
        assert_eq!(
            page.script("return w.answer.scenario").await?,
            before["scenario"]
        );
        // Odd but well-formed: a scenario of nonsense is answered with the defaults and says so.
        page.script("w.setScenario('m=<script>alert(1)</script>&n=-1e999&do=%F0%9F')")
            .await?;
        page.wait_until(
            "it still answers",
            "return w.answer.scenario.startsWith('m=')",
        )
        .await
    })
}

#[test]
fn messages_that_javascript_can_make_and_json_cannot_are_survived() -> Outcome {
    in_browser(async |page| {
        let host = Embedding::element(
            page,
            "feed=\"/feed.json\" scenario=\"m=llama-3.1-8b&amp;do=lora\"",
        )
        .open(page)
        .await?;
        host.event("change").await?;
        page.script(&format!(
            "{SPEAK}{}",
            r#"
            const ring = {}; ring.ring = ring;
            let deep = []; for (let n = 0; n < 500; n++) deep = [deep];
            say({ ...ours, type: "set-feed", payload: ring });
            say({ ...ours, type: "set-feed", payload: { feed: deep } });
            say({ ...ours, type: "set-scenario", payload: { query: 1n } });
            say({ ...ours, type: "set-scenario", payload: { query: new Uint8Array(9) } });
        "#
        ))
        .await?;
        host.inside("#w iframe", async || {
            page.wait_until(
                "none of them was taken, and each is counted or said to be no feed",
                "return Number(document.documentElement.dataset.ignored) >= 3",
            )
            .await
        })
        .await?;
        page.script("w.setScenario('m=llama-3.1-8b&do=lora&samples=777')")
            .await?;
        page.wait_until(
            "it goes on",
            "return w.answer.scenario.includes('samples=777')",
        )
        .await
    })
}

/// A feed with something wrong in most places.
fn hostile_feed() -> Outcome<Value> {
    let mut hostile = feed();
    hostile["provider"]["name"] = json!("<img src=x onerror=\"document.title='owned'\">");
    let offers = hostile["offers"].as_array_mut().ok_or("no offers")?;
    offers[0]["name"] = json!("<script>document.title='owned'</script>");
    offers[0]["region"] = json!("\"><svg onload=alert(1)>");
    offers[1]["order_url"] = json!("javascript:document.title='owned'");
    offers[1]["provider"] = json!("<iframe src=javascript:alert(1)>");
    offers.extend([
        json!({"id": "a", "gpu": "L40S", "prices": [{"mode": "hourly", "price": 1}]}),
        json!({"id": "c", "gpu": "Unobtainium 9000", "prices": [{"mode": "hourly", "price": 1}]}),
        json!({"id": "d", "gpu": "L40S", "prices": [{"mode": "hourly", "price": -3}]}),
        json!({"id": "e", "gpu": "L40S", "prices": [{"mode": "hourly", "price": 1e308}]}),
        json!({"id": {"$ne": 1}, "gpu": [], "prices": "free"}),
        json!(null),
    ]);
    Ok(hostile)
}

#[test]
fn a_hostile_feed_is_shown_as_far_as_it_can_be_and_never_as_markup() -> Outcome {
    in_browser(async |page| {
        let host = Embedding::element(
            page,
            "feed=\"/hostile.json\" scenario=\"m=llama-3.1-8b&amp;do=lora\"",
        )
        .files([shared(
            "/hostile.json",
            "application/json",
            hostile_feed()?.to_string(),
        )])
        .open(page)
        .await?;
        let told = host.event("feed").await?;
        let issues = told["issues"].as_array().cloned().unwrap_or_default();
        let kinds: Vec<&str> = issues.iter().filter_map(|i| i["kind"].as_str()).collect();
        for kind in [
            "bad_link",
            "duplicate_id",
            "unknown_card",
            "not_positive",
            "too_high",
            "wrong_type",
        ] {
            assert!(kinds.contains(&kind), "{kind} is missing in {kinds:?}");
        }
        host.inside("#w iframe", async || {
            page.element("rental").await?;
            assert_eq!(page.elements("rental").await?.len(), 2);
            let shown = page.script("return document.body.innerText").await?;
            let shown = shown.as_str().unwrap_or_default();
            for text in ["<script>document.title='owned'</script>", "<img src=x onerror=", "<iframe src=javascript:"] {
                assert!(shown.contains(text), "{text} is not in {shown}");
            }
            let bad = "return [document.title === 'owned', document.querySelectorAll('.widget img, .widget script, .widget iframe, .widget [onerror], .widget [onload], a[href^=\"javascript\"]').length]";
            assert_eq!(page.script(bad).await?, json!([false, 0]));
            Ok(())
        })
        .await
    })
}

#[test]
fn a_feed_that_cannot_be_used_leaves_reference_prices_and_says_so() -> Outcome {
    in_browser(async |page| {
        let files = [
            shared("/huge.json", "application/json", vec![b' '; 10_000_000]),
            shared(
                "/page.json",
                "text/html",
                "<!doctype html><title>404</title>",
            ),
            shared("/bytes.json", "application/json", vec![0xff; 100]),
        ];
        for (feed, code) in [
            ("/huge.json", "feed_too_large"),
            ("/page.json", "feed_invalid"),
            ("/bytes.json", "feed_invalid"),
        ] {
            let attributes =
                format!("feed=\"{feed}\" lang=\"en\" scenario=\"m=llama-3.1-8b&amp;do=lora\"");
            let host = Embedding::element(page, &attributes)
                .files(files.clone())
                .open(page)
                .await?;
            assert_eq!(host.event("error").await?["code"], code);
            host.inside("#w iframe", async || {
                page.element("rental").await?;
                let note = page.text("feed-note").await?;
                assert!(note.contains("reference prices"), "{note}");
                assert_eq!(page.elements("rent").await?.len(), 0);
                Ok(())
            })
            .await?;
        }
        // A feed that is not there, or not allowed, is the network's error on the console and a note in the widget.
        let elsewhere = Host::serve(vec![HostFile::new(
            "/secret.json",
            "application/json",
            feed().to_string(),
        )])?;
        let secret = format!("{}/secret.json", elsewhere.origin);
        for address in ["/gone.json", secret.as_str()] {
            let name = address.rsplit('/').next().unwrap_or_default();
            let host = Embedding::element(page, &format!("feed=\"{address}\""))
                .open(page)
                .await?;
            assert_eq!(host.event("error").await?["code"], "feed_unreachable");
            let errors = page.console_errors().await?;
            assert!(errors.iter().all(|e| e.contains(name)), "{errors:?}");
        }
        Ok(())
    })
}

#[test]
fn two_thousand_offers_are_answered_and_ten_thousand_are_cut_with_a_reason() -> Outcome {
    in_browser(async |page| {
        let offer = |n: usize| json!({"id": format!("o{n}"), "gpu": "4090", "prices": [{"mode": "hourly", "price": 2.0 + n as f64 / 1000.0}]});
        let mut many = feed();
        many["offers"] = (0..10_000).map(offer).collect();
        let host = Embedding::element(
            page,
            "feed=\"/many.json\" scenario=\"m=llama-3.1-8b&amp;do=lora\"",
        )
        .files([shared("/many.json", "application/json", many.to_string())])
        .open(page)
        .await?;
        let told = host.event("feed").await?;
        assert_eq!(
            (&told["outcome"], &told["offers"]),
            (&json!("used"), &json!(2000))
        );
        assert_eq!(told["issues"][0]["kind"], "too_many_offers");
        assert_eq!(
            host.event("change").await?["offers"][0]["shop"]["offer_id"],
            "o0"
        );
        Ok(())
    })
}
