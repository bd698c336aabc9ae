//! The page loads, from a sub-path, in both languages, and asks nothing of any other host.

use browser_tests::{Outcome, Page, in_browser};

#[test]
fn the_page_shows_its_heading_in_the_language_of_the_address() -> Outcome {
    in_browser(async |page| {
        page.open("?lang=en").await?;
        let english = page.text("heading").await?;
        assert!(english.contains("CardFit"), "{english}");
        assert!(!has_chinese(&english), "{english}");

        page.open("?lang=zh-CN").await?;
        let chinese = page.text("heading").await?;
        assert!(has_chinese(&chinese), "{chinese}");
        Ok(())
    })
}

#[test]
fn everything_comes_from_the_folder_that_the_page_is_in() -> Outcome {
    in_browser(async |page| {
        page.open("").await?;
        let script = "return performance.getEntriesByType('resource').map(entry => entry.name)";
        let requests = page.script(script).await?;
        let requests: Vec<&str> = requests
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str())
            .collect();
        assert!(
            requests.iter().any(|name| name.ends_with(".wasm")),
            "{requests:?}"
        );
        let folder = page
            .script("return new URL('.', location.href).href")
            .await?;
        let folder = folder.as_str().unwrap_or_default();
        assert!(folder.ends_with(browser_tests::MOUNT), "{folder}");
        for request in requests {
            assert!(
                request.starts_with(folder),
                "{request} is outside of {folder}"
            );
        }
        Ok(())
    })
}

/// Files of the texts that the page has asked for.
async fn texts(page: &Page) -> Outcome<Vec<String>> {
    let script = "return performance.getEntriesByType('resource').map(entry => entry.name)
        .filter(name => name.includes('part-texts_'))";
    let names = page.script(script).await?;
    let names = names.as_array().into_iter().flatten();
    Ok(names
        .filter_map(|name| name.as_str()?.split_once("part-texts_"))
        .map(|(_, name)| name.to_owned())
        .collect())
}

#[test]
fn a_language_is_loaded_when_it_is_first_spoken() -> Outcome {
    in_browser(async |page| {
        page.open("?lang=zh-CN").await?;
        page.element("verdict").await?;
        let first = texts(page).await?;
        assert!(
            first.iter().all(|name| name.starts_with("zh_cn-")) && !first.is_empty(),
            "{first:?}"
        );
        page.click("lang-en").await?;
        page.wait_for_text("verdict", |text| !has_chinese(text))
            .await?;
        let then = texts(page).await?;
        assert!(then.iter().any(|name| name.starts_with("en-")), "{then:?}");
        Ok(())
    })
}

#[test]
fn what_is_below_the_screen_is_drawn_when_somebody_comes_near() -> Outcome {
    in_browser(async |page| {
        page.resize(400, 700).await?;
        page.open("?lang=en").await?;
        page.element("assumptions").await?;
        for chart in ["time-cost", "growth"] {
            assert!(page.elements(chart).await?.is_empty(), "{chart}");
        }
        page.element_below("growth").await?;
        page.script("scrollTo({ top: 0, behavior: 'instant' })")
            .await?;
        page.element("time-cost").await?;
        Ok(())
    })
}

#[test]
fn an_error_on_the_console_fails_a_test() {
    let outcome = in_browser(async |page| {
        page.open("").await?;
        page.script("console.error('on purpose')").await?;
        Ok(())
    });
    let problem = outcome.map_err(|problem| problem.to_string());
    assert!(
        matches!(&problem, Err(text) if text.contains("on purpose")),
        "{problem:?}"
    );
}

#[test]
fn a_screenshot_shows_what_is_below_the_screen_too() -> Outcome {
    in_browser(async |page| {
        page.resize(360, 200).await?;
        page.open("").await?;
        page.script("document.body.style.minHeight = '1500px'")
            .await?;
        let file = xtask::run::target_dir().join("shots/test-of-the-whole-page.png");
        page.screenshot(&file).await?;
        // A PNG starts with its 8 bytes of signature and the head of the header chunk, then width and height.
        let png = std::fs::read(&file)?;
        std::fs::remove_file(&file)?;
        let number = |at: usize| {
            png.get(at..at + 4).map(|bytes| {
                bytes
                    .iter()
                    .fold(0, |sum, byte| sum * 256 + u32::from(*byte))
            })
        };
        assert_eq!(number(16), Some(360));
        assert!(number(20) >= Some(1500), "{:?}", number(20));
        Ok(())
    })
}

fn has_chinese(text: &str) -> bool {
    text.chars()
        .any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter))
}
