//! What people do on the page: pick, type, press keys, go back, open links, and read the answer.

use browser_tests::{Outcome, Page, Scheme, in_browser};
use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::{Fit, Offer, rank};
use cardfit::scenario::parse;
use fantoccini::elements::Element;
use fantoccini::key::Key;
use serde_json::Value;

/// What the page says of one card.
#[derive(Debug, PartialEq)]
struct Shown {
    card: String,
    count: u32,
    fit: String,
    hours: Option<f64>,
    cost: Option<f64>,
}

/// Runs `test` on a screen where form and answer stand side by side.
fn at_a_desk(test: impl AsyncFnOnce(&Page) -> Outcome) -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        test(page).await
    })
}

async fn shown(row: &Element) -> Outcome<Shown> {
    let attribute = async |name: &str| -> Outcome<Option<String>> { Ok(row.attr(name).await?) };
    let figure = async |name: &str| -> Outcome<Option<f64>> {
        Ok(match row.attr(name).await? {
            Some(text) => Some(text.parse()?),
            None => None,
        })
    };
    Ok(Shown {
        card: attribute("data-card").await?.unwrap_or_default(),
        count: attribute("data-count").await?.unwrap_or_default().parse()?,
        fit: attribute("data-fit").await?.unwrap_or_default(),
        hours: figure("data-hours-mid").await?,
        cost: figure("data-cost-mid").await?,
    })
}

async fn first_row(page: &Page) -> Outcome<Shown> {
    shown(&page.element("offer").await?).await
}

/// The first offer that the library ranks for the query of the page's address.
fn ranked_first(query: &str) -> Outcome<Shown> {
    let catalog = Catalog::embedded();
    let parsed = parse(query, catalog);
    let ranking = rank(&parsed.scenario, catalog, PriceBook::embedded());
    let offer: &Offer = ranking.offers.first().ok_or("nothing is ranked")?;
    let fit = match offer.fit {
        Fit::Fits => "fits",
        Fit::Tight { .. } => "tight",
        Fit::TooSmall { .. } => "too_small",
    };
    Ok(Shown {
        card: offer.card.clone(),
        count: offer.count,
        fit: fit.to_owned(),
        hours: offer.hours.map(|hours| hours.mid),
        cost: offer.cost_of_job.or(offer.cost_per_month).map(|c| c.mid),
    })
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a / b - 1.0).abs() < 1e-9,
        (None, None) => true,
        _ => false,
    }
}

async fn assert_first_row_is_the_librarys(page: &Page) -> Outcome<Shown> {
    let row = first_row(page).await?;
    let query = page.query().await?;
    let expected = ranked_first(&query)?;
    assert_eq!(
        (&row.card, row.count, &row.fit),
        (&expected.card, expected.count, &expected.fit),
        "{query}"
    );
    assert!(near(row.hours, expected.hours), "{row:?} {expected:?}");
    assert!(near(row.cost, expected.cost), "{row:?} {expected:?}");
    Ok(row)
}

async fn wait_for_query(page: &Page, part: &str) -> Outcome {
    page.wait_for(part, async || {
        Ok(page.query().await?.contains(part).then_some(()))
    })
    .await
}

#[test]
fn a_model_and_a_scenario_are_picked_by_hand_and_answered() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en").await?;
        replace(page, "field-m", "llama 3.1 8b").await?;
        page.click("model-option-llama-3.1-8b").await?;
        page.click("job-qlora").await?;
        replace(page, "field-samples", "2,000").await?;
        wait_for_query(page, "m=llama-3.1-8b").await?;
        wait_for_query(page, "do=qlora").await?;
        wait_for_query(page, "samples=2000").await?;

        let row = assert_first_row_is_the_librarys(page).await?;
        assert_eq!(row.fit, "fits");
        assert!(row.hours.is_some_and(|hours| hours > 0.0), "{row:?}");
        assert!(row.cost.is_some_and(|cost| cost > 0.0), "{row:?}");
        let verdict = page.text("verdict").await?;
        assert!(
            verdict.starts_with(&format!("{} ×", row.count)),
            "{verdict}"
        );
        assert!(
            verdict.contains("about") && verdict.contains('¥'),
            "{verdict}"
        );
        Ok(())
    })
}

#[test]
fn the_main_job_is_done_with_the_keyboard_alone() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en").await?;
        page.element("verdict").await?;
        tab_to(page, "field-m").await?;
        page.press("qwen3 32b").await?;
        page.press(&char::from(Key::Enter).to_string()).await?;
        wait_for_query(page, "m=qwen3-32b").await?;
        tab_to(page, "job-lora").await?;
        page.press(&char::from(Key::Left).to_string()).await?;
        wait_for_query(page, "do=serve").await?;
        tab_to(page, "field-users").await?;
        page.press(&format!("{}30", select_all())).await?;
        wait_for_query(page, "users=30").await?;
        tab_to(page, "offer-toggle").await?;
        page.press(&char::from(Key::Enter).to_string()).await?;
        let detail = page
            .wait_for_text("offer-detail", |t| t.contains("GiB"))
            .await?;
        assert!(detail.contains("Weights"), "{detail}");
        assert_first_row_is_the_librarys(page).await?;
        Ok(())
    })
}

fn select_all() -> String {
    format!("{}a{}", char::from(Key::Control), char::from(Key::Null))
}

/// Clicks into a field, selects what is there and types over it, without ever leaving the field.
async fn replace(page: &Page, testid: &str, text: &str) -> Outcome {
    page.click(testid).await?;
    page.press(&format!("{}{text}", select_all())).await
}

/// Presses Tab until the element called `testid` has the focus.
async fn tab_to(page: &Page, testid: &str) -> Outcome {
    for _ in 0..60 {
        page.press(&char::from(Key::Tab).to_string()).await?;
        let focused = page
            .script("return document.activeElement.dataset.testid || ''")
            .await?;
        if focused == *testid {
            return Ok(());
        }
    }
    Err(format!("Tab never reached {testid}").into())
}

#[test]
fn the_list_of_models_follows_arrows_and_closes_on_escape() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en").await?;
        replace(page, "field-m", "llama-3.1").await?;
        let active = "const i = document.querySelector('[data-testid=field-m]');
            const o = document.getElementById(i.getAttribute('aria-activedescendant'));
            return o && o.dataset.testid";
        let first = page.script(active).await?;
        page.press(&char::from(Key::Down).to_string()).await?;
        let second = page.script(active).await?;
        assert_ne!(first, second);
        page.press(&char::from(Key::Up).to_string()).await?;
        assert_eq!(page.script(active).await?, first);
        page.press(&char::from(Key::Escape).to_string()).await?;
        let expanded = page.element("field-m").await?.attr("aria-expanded").await?;
        assert_eq!(expanded.as_deref(), Some("false"));
        assert_eq!(page.query().await?, "lang=en", "nothing was chosen");
        Ok(())
    })
}

#[test]
fn a_bad_figure_is_named_beside_its_field_and_loses_nothing() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en&seq=2048").await?;
        let good = first_row(page).await?;
        for bad in ["-3", "0", "abc", "1e30", "NaN", "2.5"] {
            replace(page, "field-seq", bad).await?;
            let message = page.wait_for_text("problem-seq", |t| !t.is_empty()).await?;
            assert!(message.contains("equence"), "{message}");
            let field = page.element("field-seq").await?;
            assert_eq!(field.attr("aria-invalid").await?.as_deref(), Some("true"));
            assert_eq!(field.prop("value").await?.as_deref(), Some(bad));
            assert!(page.element("stale").await?.is_displayed().await?, "{bad}");
            // The answer to the last figure that could be used, which the address holds, stays.
            assert_first_row_is_the_librarys(page).await?;
        }
        replace(page, "field-seq", "2048").await?;
        page.wait_for_text("problem-seq", str::is_empty).await?;
        assert!(!page.element("stale").await?.is_displayed().await?);
        assert_eq!(first_row(page).await?, good);
        Ok(())
    })
}

#[test]
fn a_link_says_what_of_it_was_ignored_and_still_answers() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en&m=no-such-model&seq=-1&wheels=4&do=lora")
            .await?;
        let notice = page.text("notice").await?;
        for part in ["no-such-model", "-1", "wheels"] {
            assert!(notice.contains(part), "{part} in {notice}");
        }
        assert!(first_row(page).await?.cost.is_some());
        page.click("notice-close").await?;
        page.wait_until(
            "the notice is gone",
            "return !document.querySelector('[data-testid=notice]')",
        )
        .await?;

        let long = format!("?lang=en&cards={}", "x".repeat(20_000));
        page.open(&long).await?;
        assert!(page.text("notice").await?.contains("8192"));
        assert!(first_row(page).await?.cost.is_some());
        Ok(())
    })
}

#[test]
fn back_and_forward_go_through_the_choices() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en").await?;
        let start = page.text("verdict").await?;
        page.click("job-full").await?;
        wait_for_query(page, "do=full").await?;
        let full = page.wait_for_text("verdict", |t| t != start).await?;
        page.click("sort-fastest").await?;
        wait_for_query(page, "sort=fastest").await?;
        let fastest = page.wait_for_text("verdict", |t| t != full).await?;

        page.back().await?;
        page.wait_for_text("verdict", |t| t == full).await?;
        page.back().await?;
        page.wait_for_text("verdict", |t| t == start).await?;
        page.forward().await?;
        page.forward().await?;
        page.wait_for_text("verdict", |t| t == fastest).await?;

        // A link opened anew says the same.
        let query = page.query().await?;
        page.open(&format!("?{query}")).await?;
        page.wait_for_text("verdict", |t| t == fastest).await?;
        Ok(())
    })
}

#[test]
fn the_language_is_switched_and_kept_in_the_link() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en").await?;
        let english = page.text("answer").await?;
        let row = first_row(page).await?;
        page.click("lang-zh-CN").await?;
        let chinese = page.wait_for_text("answer", |t| t.contains("显卡")).await?;
        assert_ne!(english, chinese);
        wait_for_query(page, "lang=zh-CN").await?;
        let lang = page.script("return document.documentElement.lang").await?;
        assert_eq!(lang, Value::from("zh-CN"));
        assert_eq!(first_row(page).await?, row, "figures do not depend on it");

        // No text is missing: a missing one shows its key.
        for text in [english, chinese] {
            for prefix in ["page.", "offer.", "part.", "field.", "enum."] {
                assert!(!text.contains(prefix), "{prefix} in {text}");
            }
        }
        Ok(())
    })
}

#[test]
fn ones_own_price_changes_the_cost() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en&cards=rtx-4090&n=1").await?;
        replace(page, "price-rtx-4090", "2").await?;
        wait_for_query(page, "price=").await?;
        let cheap = assert_first_row_is_the_librarys(page).await?;
        replace(page, "price-rtx-4090", "6").await?;
        let dear = page
            .wait_for("the cost", async || {
                let row = first_row(page).await?;
                Ok((row.cost != cheap.cost).then_some(row))
            })
            .await?;
        let ratio = dear.cost.unwrap_or_default() / cheap.cost.unwrap_or_default();
        assert!((ratio - 3.0).abs() < 1e-6, "{ratio}");
        assert_eq!(dear.hours, cheap.hours);
        Ok(())
    })
}

#[test]
fn a_remedy_is_applied_by_its_button() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en&m=qwen2.5-14b&do=serve&cards=rtx-4090&n=1")
            .await?;
        assert_eq!(first_row(page).await?.fit, "too_small");
        let before = page.query().await?;
        page.click("remedy").await?;
        page.wait_for("another scenario", async || {
            Ok((page.query().await? != before).then_some(()))
        })
        .await?;
        let row = assert_first_row_is_the_librarys(page).await?;
        assert_eq!(row.fit, "fits", "{row:?} at {}", page.query().await?);
        Ok(())
    })
}

#[test]
fn a_model_of_ones_own_is_described_by_its_shape() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en&m=llama-3.1-8b&do=lora").await?;
        replace(page, "field-m", "no such name").await?;
        page.click("model-option-custom").await?;
        page.element("custom-model").await?;
        wait_for_query(page, "m=custom").await?;
        let facts = page.text("model-facts").await?;
        replace(page, "field-layers", "16").await?;
        page.wait_for_text("model-facts", |t| t != facts).await?;
        assert_first_row_is_the_librarys(page).await?;

        replace(page, "field-m", "qwen2.5 7b").await?;
        page.press(&char::from(Key::Enter).to_string()).await?;
        page.wait_until(
            "the shape is put away",
            "return !document.querySelector('[data-testid=custom-model]')",
        )
        .await
    })
}

#[test]
fn a_small_screen_does_not_scroll_sideways() -> Outcome {
    in_browser(async |page| {
        page.resize(360, 740).await?;
        for query in [
            "?lang=zh-CN",
            "?lang=en&m=llama-3.1-70b&do=pretrain",
            "?lang=en&m=qwen3-32b&do=serve&users=100&ttft=1",
        ] {
            page.open(query).await?;
            page.element("offer-toggle").await?;
            let open_all = "document.querySelectorAll('details').forEach(d => d.open = true);
                document.querySelector('[data-testid=offer-toggle]').click()";
            page.script(open_all).await?;
            page.element("offer-detail").await?;
            let width = page
                .script("return document.documentElement.scrollWidth")
                .await?;
            assert_eq!(width, Value::from(360), "{query}");
            // The verdict's short form stands in for it once it is out of sight.
            page.script("window.scrollTo(0, document.body.scrollHeight)")
                .await?;
            let sticky = page.element("sticky-verdict").await?;
            page.wait_for("the short verdict", async || {
                Ok(sticky.is_displayed().await?.then_some(()))
            })
            .await?;
        }
        Ok(())
    })
}

#[test]
fn light_and_dark_follow_the_system_and_the_switch() -> Outcome {
    at_a_desk(async |page| {
        let paper = "return getComputedStyle(document.body).backgroundColor";
        page.prefer(Scheme::Light).await?;
        page.open("?lang=en").await?;
        let light = page.script(paper).await?;
        page.prefer(Scheme::Dark).await?;
        let dark = page.script(paper).await?;
        assert_ne!(light, dark);
        page.click("theme-light").await?;
        assert_eq!(page.script(paper).await?, light);
        page.open("?lang=en").await?;
        page.element("verdict").await?;
        assert_eq!(page.script(paper).await?, light, "kept for the next visit");
        page.click("theme-system").await?;
        assert_eq!(page.script(paper).await?, dark);
        Ok(())
    })
}
