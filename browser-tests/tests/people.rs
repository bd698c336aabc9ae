//! The page for everyone: no barrier that axe-core can find, charts and limits by keyboard alone, storage refused.

use browser_tests::{Outcome, Page, Scheme, in_browser};
use fantoccini::key::Key;
use serde_json::Value;

/// Every view, with something in it.
const VIEWS: [(&str, &str); 7] = [
    ("", "verdict"),
    ("view=compare&", "compare"),
    ("view=ladder&", "ladder"),
    ("view=card&show=rtx-4090&", "card-name"),
    ("view=model&show=llama-3.1-8b&", "model-name"),
    ("view=method&", "method-offer"),
    ("view=accuracy&", "accuracy-stats"),
];

fn axe() -> Outcome<String> {
    let script = xtask::tools::axe_script();
    std::fs::read_to_string(&script)
        .map_err(|e| format!("{}: {e}: run `cargo xtask test browser`", script.display()).into())
}

/// What axe-core finds on the page as it is now.
async fn barriers(page: &Page, axe: &str) -> Outcome<Vec<String>> {
    page.script(axe).await?;
    let found = page
        .client()
        .execute_async(
            "const done = arguments[arguments.length - 1];
             axe.run(document, { resultTypes: ['violations'] }).then(
               (found) => done(found.violations.map((v) => v.id + ': '
                 + v.nodes.slice(0, 4).map((n) => n.target.join(' ')).join(', '))),
               (error) => done(['axe did not run: ' + error]))",
            Vec::new(),
        )
        .await?;
    let list = found.as_array().ok_or("axe answered nothing")?;
    Ok(list
        .iter()
        .map(|one| one.as_str().unwrap_or_default().to_owned())
        .collect())
}

fn no_barrier_in(lang: &str, scheme: Scheme) -> Outcome {
    let axe = axe()?;
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.prefer(scheme).await?;
        for (query, testid) in VIEWS {
            page.open(&format!("?{query}lang={lang}")).await?;
            page.element(testid).await?;
            if query.is_empty() {
                page.element("time-cost").await?;
                page.click("offer-toggle").await?;
                page.element("offer-detail").await?;
                page.script(
                    "document.querySelectorAll('details').forEach((d) => { d.open = true })",
                )
                .await?;
                page.element("growth-cost").await?;
            }
            let found = barriers(page, &axe).await?;
            assert!(
                found.is_empty(),
                "{query} in {lang}, {scheme:?}:\n{}",
                found.join("\n")
            );
        }
        Ok(())
    })
}

#[test]
fn no_view_has_a_barrier_in_english_and_light() -> Outcome {
    no_barrier_in("en", Scheme::Light)
}

#[test]
fn no_view_has_a_barrier_in_english_and_dark() -> Outcome {
    no_barrier_in("en", Scheme::Dark)
}

#[test]
fn no_view_has_a_barrier_in_chinese_and_light() -> Outcome {
    no_barrier_in("zh-CN", Scheme::Light)
}

#[test]
fn no_view_has_a_barrier_in_chinese_and_dark() -> Outcome {
    no_barrier_in("zh-CN", Scheme::Dark)
}

#[test]
fn no_view_is_wider_than_its_screen() -> Outcome {
    in_browser(async |page| {
        for width in [320, 360, 768, 1440, 2560] {
            page.resize(width, 900).await?;
            for (query, testid) in VIEWS {
                page.open(&format!("?{query}lang=en")).await?;
                page.element(testid).await?;
                let scrolls = page
                    .script("return document.documentElement.scrollWidth > window.innerWidth")
                    .await?;
                assert_eq!(scrolls, Value::Bool(false), "{query} at {width}");
            }
        }
        Ok(())
    })
}

async fn focus(page: &Page, testid: &str) -> Outcome {
    page.element(testid).await?;
    page.script(&format!(
        "document.querySelector('[data-testid=\"{testid}\"]').focus()"
    ))
    .await?;
    Ok(())
}

async fn query_has(page: &Page, part: &str) -> Outcome {
    page.wait_for(part, async || {
        Ok(page.query().await?.contains(part).then_some(()))
    })
    .await
}

#[test]
fn a_dot_is_found_and_opened_by_keyboard() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en").await?;
        focus(page, "time-cost-keys").await?;
        page.press(&char::from(Key::Right).to_string()).await?;
        let spoken = page
            .element("time-cost-keys")
            .await?
            .attr("aria-valuetext")
            .await?
            .unwrap_or_default();
        assert!(spoken.contains('×') && spoken.contains('¥'), "{spoken}");
        page.press(&char::from(Key::Enter).to_string()).await?;
        page.element("offer-detail").await?;
        Ok(())
    })
}

#[test]
fn a_budget_is_set_and_let_go_by_keyboard() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en").await?;
        focus(page, "drag-budget").await?;
        for _ in 0..10 {
            page.press(&char::from(Key::Left).to_string()).await?;
        }
        query_has(page, "budget=").await?;
        let said = page
            .element("drag-budget")
            .await?
            .attr("aria-valuetext")
            .await?
            .unwrap_or_default();
        assert!(said.contains('¥'), "{said}");
        page.press(&char::from(Key::Delete).to_string()).await?;
        page.wait_for("no budget", async || {
            Ok((!page.query().await?.contains("budget=")).then_some(()))
        })
        .await
    })
}

#[test]
fn a_budget_is_dragged_by_pointer() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en").await?;
        page.element("drag-budget").await?;
        page.script(
            "const g = document.querySelector('[data-testid=drag-budget]');
             g.scrollIntoView({ block: 'center' });
             const r = g.querySelector('.handle-grip').getBoundingClientRect();
             const at = (type, x) => g.dispatchEvent(new PointerEvent(type, { bubbles: true,
               pointerId: 1, clientX: x, clientY: r.top + 6 }));
             at('pointerdown', r.left + 6);
             at('pointermove', r.left - 150);
             at('pointerup', r.left - 150);",
        )
        .await?;
        query_has(page, "budget=").await
    })
}

#[test]
fn a_change_is_taken_back_and_a_scenario_is_kept() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en").await?;
        page.click("job-qlora").await?;
        query_has(page, "do=qlora").await?;
        page.click("save-scenario").await?;
        page.element("saved-scenario").await?;
        page.click("undo").await?;
        page.wait_for("the first scenario", async || {
            Ok((!page.query().await?.contains("do=qlora")).then_some(()))
        })
        .await?;
        page.open("?lang=en&users=2").await?;
        page.click("saved-scenario").await?;
        query_has(page, "do=qlora").await
    })
}

#[test]
fn a_storage_that_refuses_is_said_and_nothing_is_lost() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en").await?;
        page.element("verdict").await?;
        page.script(
            "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }",
        )
        .await?;
        page.click("save-scenario").await?;
        page.wait_for_text("saved-refused", |text| text.contains("refused or full"))
            .await?;
        page.element("saved-scenario").await?;
        Ok(())
    })
}

#[test]
fn a_comparison_is_shared_by_its_link() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en&view=compare&vs=rtx-4090:1,a100-sxm4-80gb:2")
            .await?;
        let table = page.text("compare").await?;
        assert!(
            table.contains("1 × RTX 4090") && table.contains("2 × A100"),
            "{table}"
        );
        page.click("compare-remove").await?;
        query_has(page, "vs=a100-sxm4-80gb").await
    })
}

#[test]
fn a_slider_moves_the_bar_and_changes_the_scenario_when_told() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en").await?;
        page.click("offer-toggle").await?;
        let before = page.text("memory").await?;
        focus(page, "what-if-seq").await?;
        page.press(&char::from(Key::Right).to_string()).await?;
        page.wait_for_text("memory", |text| text != before).await?;
        assert!(!page.query().await?.contains("seq="));
        page.click("what-if-apply").await?;
        query_has(page, "seq=").await
    })
}

#[test]
fn a_measurement_of_ones_own_rescales_the_session() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en&view=accuracy").await?;
        page.type_into("own-value", "1").await?;
        let row = page.text("own-row").await?;
        assert!(row.contains("tokens_per_s_per_gpu"), "{row}");
        page.click("own-rescale").await?;
        page.element("own-rescaled").await?;
        page.click("view-choose").await?;
        page.element("own-rescaled").await?;
        Ok(())
    })
}

#[test]
fn the_plan_is_handed_out_as_files() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en&m=qwen3-8b&do=serve&users=4").await?;
        page.click("offer-toggle").await?;
        let line = page.text("launch-text").await?;
        assert!(
            line.contains("vllm serve") && line.contains("--max-num-seqs"),
            "{line}"
        );
        Ok(())
    })
}
