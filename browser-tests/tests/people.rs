//! The page for everyone: no barrier that axe-core can find, charts and limits by keyboard alone, storage refused.

use browser_tests::views::{EDGES, JOBS, Sight, VIEWS};
use browser_tests::{Outcome, Page, Scheme, in_browser};
use fantoccini::key::Key;
use fantoccini::wd::TimeoutConfiguration;
use serde_json::Value;
use std::time::Duration;

fn axe() -> Outcome<String> {
    let script = xtask::tools::axe_script();
    std::fs::read_to_string(&script)
        .map_err(|e| format!("{}: {e}: run `cargo xtask test browser`", script.display()).into())
}

/// What axe-core finds on the page as it is now, by the rules that `only` names; by all where it is empty.
async fn barriers(page: &Page, axe: &str, only: &str) -> Outcome<Vec<String>> {
    // A page with everything unfolded has thousands of elements.
    let patience = Some(Duration::from_secs(180));
    page.client()
        .update_timeouts(TimeoutConfiguration::new(patience, None, None))
        .await?;
    page.script(axe).await?;
    let found = page
        .client()
        .execute_async(
            &format!(
                "const done = arguments[arguments.length - 1];
                 const only = '{only}';
                 const options = {{ resultTypes: ['violations'] }};
                 if (only) options.runOnly = {{ type: 'rule', values: only.split(' ') }};
                 axe.run(document, options).then(
                   (found) => done(found.violations.map((v) => v.id + ': '
                     + v.nodes.slice(0, 4).map((n) => n.target.join(' ')).join(', '))),
                   (error) => done(['axe did not run: ' + error]))"
            ),
            Vec::new(),
        )
        .await?;
    let list = found.as_array().ok_or("axe answered nothing")?;
    Ok(list
        .iter()
        .map(|one| one.as_str().unwrap_or_default().to_owned())
        .collect())
}

/// Opens a view and everything that is folded away in it.
async fn unfold(page: &Page, query: &str, testid: &str, lang: &str) -> Outcome {
    page.open(&format!("?{query}lang={lang}")).await?;
    page.element(testid).await?;
    if query.is_empty() {
        page.element("time-cost").await?;
        page.click("offer-toggle").await?;
        page.element("offer-detail").await?;
        page.element_below("growth").await?;
    }
    page.script("document.querySelectorAll('details').forEach((d) => { d.open = true })")
        .await?;
    if query.is_empty() {
        page.element("growth-cost").await?;
    }
    Ok(())
}

/// Everything is looked at in light colours; in dark ones, what depends on colours.
fn no_barrier_in(lang: &str) -> Outcome {
    let axe = axe()?;
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        for Sight { query, testid, .. } in VIEWS.into_iter().chain(JOBS).chain(EDGES) {
            page.prefer(Scheme::Light).await?;
            unfold(page, query, testid, lang).await?;
            let mut found = barriers(page, &axe, "").await?;
            page.prefer(Scheme::Dark).await?;
            found.extend(barriers(page, &axe, "color-contrast").await?);
            assert!(found.is_empty(), "{query} in {lang}:\n{}", found.join("\n"));
        }
        Ok(())
    })
}

#[test]
fn no_view_has_a_barrier_in_english() -> Outcome {
    no_barrier_in("en")
}

#[test]
fn no_view_has_a_barrier_in_chinese() -> Outcome {
    no_barrier_in("zh-CN")
}

/// Names, units and code are the same in every language; four words of English in a row are a text that was forgotten.
const ENGLISH: &str = r"
    const names = /^(GeForce|RTX|NVIDIA|AMD|Instinct|Quadro|Tesla|Radeon|Ada|Pro|PRO|Blackwell|Workstation|Edition|Server|Max-Q|Apache|Llama|Stability|AI|Open|RAIL|Google|Cloud|Lambda|Labs)$/;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const at = node.parentElement;
      if (!at || at.closest('pre, code, script, style, textarea, noscript, a[href^=http], [lang=en], [hidden], #stopped, #unstarted, #lost, #renewed')) continue;
      const text = node.textContent.replace(/\s+/g, ' ');
      for (const run of text.match(/[A-Za-z][A-Za-z'’-]*(?:,? [A-Za-z][A-Za-z'’-]*){3,}/g) ?? []) {
        const words = run.split(/,? /);
        if (words.filter((word) => /^[a-z'’-]+$/.test(word)).length >= 3 && !words.every((word) => names.test(word)))
          found.push(run);
      }
    }
    return [...new Set(found)];";

#[test]
fn no_view_is_left_in_english_where_chinese_is_wanted() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        let more = [
            ("view=card&show=rtx-4090-48gb&", "card-name"),
            ("view=card&show=h20-96gb&", "card-name"),
            ("view=model&show=deepseek-v3.2-671b&", "model-name"),
        ];
        let seen = VIEWS.into_iter().chain(JOBS).chain(EDGES);
        let seen = seen.map(|sight| (sight.query, sight.testid));
        for (query, testid) in seen.chain(more) {
            unfold(page, query, testid, "zh-CN").await?;
            let found = page.script(ENGLISH).await?;
            assert_eq!(found, Value::Array(Vec::new()), "{query}");
        }
        Ok(())
    })
}

#[test]
fn no_view_is_wider_than_its_screen() -> Outcome {
    in_browser(async |page| {
        for width in [320, 360, 768, 1440, 2560] {
            page.resize(width, 900).await?;
            for Sight { query, testid, .. } in VIEWS.into_iter().chain(EDGES) {
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

/// The first answer is in sight on a phone: the views are four and "more", the form is two lines until it is wanted.
#[test]
fn a_phone_shows_the_answer_first_and_the_form_when_wanted() -> Outcome {
    in_browser(async |page| {
        page.resize(360, 740).await?;
        page.open("?lang=en").await?;
        page.element("verdict").await?;
        let bottom = page
            .script(
                "return document.querySelector('[data-testid=verdict]').getBoundingClientRect().bottom",
            )
            .await?;
        assert!(bottom.as_f64().unwrap_or(f64::MAX) < 740.0, "{bottom}");
        assert!(!page.element("field-m").await?.is_displayed().await?);
        page.click("form-fold").await?;
        assert!(page.element("field-m").await?.is_displayed().await?);

        assert!(!page.element("view-accuracy").await?.is_displayed().await?);
        page.click("views-more").await?;
        page.click("view-accuracy").await?;
        page.element("accuracy-stats").await?;
        assert!(!page.element("view-accuracy").await?.is_displayed().await?);
        Ok(())
    })
}

#[test]
fn offers_are_taken_from_the_table_into_the_comparison() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en").await?;
        page.element("compare-box").await?;
        for place in [0, 2] {
            let boxes = page.elements("compare-box").await?;
            boxes.get(place).ok_or("no box")?.click().await?;
        }
        let bar = page.text("compare-bar").await?;
        assert!(bar.contains("2 cards"), "{bar}");
        page.click("compare-go").await?;
        page.element("compare").await?;
        query_has(page, "vs=").await?;
        page.back().await?;
        page.element("verdict").await?;
        Ok(())
    })
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
             at('pointermove', r.left - 150);",
        )
        .await?;
        // It counts while it is dragged, and the other end of the drag is one step back.
        query_has(page, "budget=").await?;
        page.script(
            "const g = document.querySelector('[data-testid=drag-budget]');
             const r = g.querySelector('.handle-grip').getBoundingClientRect();
             g.dispatchEvent(new PointerEvent('pointerup', { bubbles: true, pointerId: 1,
               clientX: r.left + 6, clientY: r.top + 6 }));",
        )
        .await?;
        query_has(page, "budget=").await?;
        page.back().await?;
        page.wait_for("no budget", async || {
            Ok((!page.query().await?.contains("budget=")).then_some(()))
        })
        .await
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

async fn nothing_stopped(page: &Page) -> Outcome {
    let hidden = page
        .script("return document.getElementById('stopped').hidden && !document.querySelector('[data-testid=part-stopped]')")
        .await?;
    assert_eq!(hidden, Value::Bool(true), "a part of the page stopped");
    Ok(())
}

/// What is under way when a view is left (a row that is open, a limit just moved, an input with the focus) is left with it.
#[test]
fn a_view_is_left_in_the_middle_of_things() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en").await?;
        page.element("time-cost").await?;
        page.click("offer-toggle").await?;
        page.element("offer-detail").await?;
        focus(page, "drag-budget").await?;
        page.press(&char::from(Key::Left).to_string()).await?;
        query_has(page, "budget=").await?;
        page.click("view-ladder").await?;
        page.element("ladder").await?;
        nothing_stopped(page).await?;
        page.back().await?;
        page.element("offer-detail").await?;
        focus(page, "field-samples").await?;
        // As by a key for "back": the input loses the focus because it goes.
        page.script("history.forward()").await?;
        page.element("ladder").await?;
        nothing_stopped(page).await?;
        page.back().await?;
        page.element("verdict").await?;
        nothing_stopped(page).await
    })
}

#[test]
fn where_nothing_fits_there_is_a_way_on() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?lang=en&m=llama-3.1-405b&do=full&cards=rtx-4090&n=1")
            .await?;
        page.click("widen-shelf").await?;
        page.wait_for("other cards", async || {
            Ok((page.elements("offer").await?.len() > 1).then_some(()))
        })
        .await
    })
}
