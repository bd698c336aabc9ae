//! What a visitor sees when a part of the page stops, and when the page is opened from disk.

use browser_tests::{Host, HostFile, Outcome, Page, in_browser};
use serde_json::json;

/// Stops a part as a fault of ours would, and waits until the page has started again without it.
async fn stop(page: &Page, part: &str) -> Outcome {
    page.script(&format!(
        "window.before = true; dispatchEvent(new CustomEvent('cardfit-drill', {{ detail: '{part}' }}))"
    ))
    .await?;
    page.wait_until(
        "the page has started again",
        "return window.before === undefined && document.querySelector('[data-testid=part-stopped]') !== null",
    )
    .await?;
    // The fault itself is on the console, as it must be.
    let errors = page.console_errors().await?;
    assert!(errors.iter().any(|e| e.contains("drill")), "{errors:?}");
    Ok(())
}

async fn report(page: &Page) -> Outcome<String> {
    let read = "return document.querySelector('[data-testid=part-report]').value";
    Ok(page
        .script(read)
        .await?
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

#[test]
fn a_part_that_stops_leaves_the_others_and_offers_a_report() -> Outcome {
    in_browser(async |page| {
        // Wide enough that no verdict at the foot covers what is clicked.
        page.resize(1280, 900).await?;
        page.open("?m=qwen2.5-7b&do=lora&budget=4321&lang=en#price=rtx-4090:1.23")
            .await?;
        page.element_below("growth").await?;
        stop(page, "growth").await?;

        assert!(
            page.text("part-stopped")
                .await?
                .contains("Everything else works")
        );
        let told = report(page).await?;
        assert!(
            told.contains("part: growth") && told.contains("m=qwen2.5-7b"),
            "{told}"
        );
        assert!(!told.contains("4321") && !told.contains("1.23"), "{told}");

        // The scenario is still the same one, and the rest answers to changes of it.
        assert!(page.query().await?.contains("budget=4321"));
        let before = page.text("verdict").await?;
        page.type_into("field-samples", "500000").await?;
        page.wait_for_text("verdict", |text| !text.is_empty() && text != before)
            .await?;
        page.element("part-stopped").await?;

        // Tried again, it works: there was no fault.
        page.click("part-again").await?;
        page.element_below("growth").await?;
        assert!(page.elements("part-stopped").await?.is_empty());
        Ok(())
    })
}

#[test]
fn a_view_that_stops_leaves_the_way_to_the_others() -> Outcome {
    in_browser(async |page| {
        page.open("?view=ladder&lang=zh-CN").await?;
        page.element("ladder").await?;
        stop(page, "ladder").await?;
        assert!(
            page.text("part-stopped")
                .await?
                .contains("其他部分不受影响")
        );
        page.click("view-choose").await?;
        page.element("verdict").await?;
        assert!(page.elements("part-stopped").await?.is_empty());
        Ok(())
    })
}

#[test]
fn a_page_opened_from_disk_says_what_to_do_in_both_languages() -> Outcome {
    in_browser(async |page| {
        let file = xtask::page::dist().join("index.html");
        page.client()
            .goto(&format!("file://{}", file.display()))
            .await?;
        page.wait_until(
            "the notice shows",
            "return document.getElementById('disk')?.hidden === false",
        )
        .await?;
        let told = page
            .script("return document.getElementById('disk').innerText")
            .await?;
        let told = told.as_str().unwrap_or_default();
        assert!(
            told.contains("http.server") && told.contains("直接从磁盘打开"),
            "{told}"
        );
        // What could not be loaded from there is on the console.
        page.console_errors().await?;
        Ok(())
    })
}

/// Waits until the page says that its program did not arrive, and that alone; gives what it says.
async fn told_as_lost(page: &Page) -> Outcome<String> {
    let lost = "return document.getElementById('lost')?.hidden === false && document.getElementById('unstarted').hidden";
    page.wait_until("the page says what was lost", lost).await?;
    let told = page
        .script("return document.getElementById('lost').innerText")
        .await?;
    // The browser says on the console what did not arrive.
    page.console_errors().await?;
    Ok(told.as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_program_that_does_not_arrive_can_be_asked_for_again() -> Outcome {
    in_browser(async |page| {
        let block = async |urls: &[&str]| {
            page.devtools("Network.enable", json!({})).await?;
            page.devtools("Network.setBlockedURLs", json!({ "urls": urls }))
                .await
        };
        block(&["*_bg.wasm"]).await?;
        let start = format!("{}?lang=zh-CN&m=sdxl&do=image", page.base());
        page.client().goto(&start).await?;
        let told = told_as_lost(page).await?;
        assert!(told.contains("没有下载完"), "{told}");
        block(&[]).await?;
        page.script("document.querySelector('#lost [lang=zh-CN] button').click()")
            .await?;
        page.element("verdict").await?;
        assert!(page.query().await?.contains("m=sdxl"));
        Ok(())
    })
}

#[test]
fn a_program_that_breaks_off_is_not_told_as_an_old_browser() -> Outcome {
    in_browser(async |page| {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(xtask::page::dist())? {
            let path = entry?.path();
            let name = path
                .file_name()
                .and_then(|n| n.to_str())
                .unwrap_or_default();
            let kind = match path.extension().and_then(|e| e.to_str()) {
                Some("html") => "text/html; charset=utf-8",
                Some("js") => "text/javascript",
                Some("css") => "text/css",
                Some("wasm") => "application/wasm",
                _ => continue,
            };
            let file = HostFile::new(&format!("/{name}"), kind, std::fs::read(&path)?);
            files.push(if name.ends_with("_bg.wasm") {
                file.broken_off()
            } else {
                file
            });
        }
        let host = Host::serve(files)?;
        let start = format!("{}/index.html?lang=en", host.origin);
        page.client().goto(&start).await?;
        let told = told_as_lost(page).await?;
        assert!(
            told.contains("broke off") && told.contains("Try again"),
            "{told}"
        );
        Ok(())
    })
}
