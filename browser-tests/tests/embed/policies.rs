use browser_tests::embedding::{Embedding, feed};
use browser_tests::{HostFile, Outcome, in_browser};
use fantoccini::Locator;
use serde_json::{Value, json};

const PERMISSIONS: &str =
    "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox";

#[test]
fn a_host_under_a_strict_policy_needs_nothing_but_frame_src_and_the_script() -> Outcome {
    in_browser(async |page| {
        let base = page.base();
        let policy = format!(
            "default-src 'none'; script-src 'self' {base}embed/; frame-src {base}embed/; style-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
        );
        let inline = format!(
            "<script type=\"application/json\" id=\"prices\">{}</script>",
            feed()
        );
        let host = Embedding::element(
            page,
            "feed-inline=\"prices\" theme=\"light\" layout=\"compact\"",
        )
        .and(&inline)
        .policy(&policy)
        .open(page)
        .await?;
        let feed = host.event("feed").await?;
        assert_eq!(
            (&feed["outcome"], &feed["offers"]),
            (&json!("used"), &json!(2))
        );
        host.event("change").await?;
        host.fits_its_height("#w iframe").await
    })
}

#[test]
fn a_frame_needs_no_more_than_frame_src() -> Outcome {
    in_browser(async |page| {
        // The recorder is the test's own; nothing else of the host may run, load or connect.
        let policy = format!(
            "default-src 'none'; script-src 'self'; frame-src {}embed/",
            page.base()
        );
        let host = Embedding::frame(
            page,
            "lang=en&cards=rtx-4090&m=qwen3-8b&do=serve",
            PERMISSIONS,
        )
        .policy(&policy)
        .open(page)
        .await?;
        host.inside("#w", async || {
            page.element("rental").await?;
            Ok(())
        })
        .await
    })
}

#[test]
fn the_pages_have_no_inline_script_or_style_and_a_policy_against_them() -> Outcome {
    in_browser(async |page| {
        for path in [
            "",
            "embed/index.html",
            "demo/index.html",
            "demo/en.html",
            "en/index.html",
        ] {
            page.client()
                .goto(&format!("{}{path}", page.base()))
                .await?;
            page.wait_until(
                "the page has loaded",
                "return document.readyState === 'complete'",
            )
            .await?;
            let inline = page
                .script("return [...document.querySelectorAll('script:not([src]):not([type=\"application/ld+json\"]), style, [style]:not(html):not(card-fit):not(card-fit iframe)')].map((e) => e.outerHTML.slice(0, 90))")
                .await?;
            assert_eq!(inline, json!([]), "{path}");
            let policy = page
                .script("return document.querySelector('meta[http-equiv=\"Content-Security-Policy\"]')?.content ?? ''")
                .await?;
            let policy = policy.as_str().unwrap_or_default();
            assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
            assert!(
                !policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"),
                "{path}: {policy}"
            );
        }
        // The policy is in force: a script put into the page does not run, and the console says so.
        page.open("").await?;
        page.script("const s = document.createElement('script'); s.textContent = 'window.broken = 1'; document.body.append(s)").await?;
        assert_eq!(
            page.script("return window.broken ?? null").await?,
            Value::Null
        );
        let errors = page.console_errors().await?;
        assert!(
            errors.iter().all(|e| e.contains("Content Security Policy")),
            "{errors:?}"
        );
        assert_eq!(errors.len(), 1);
        Ok(())
    })
}

#[test]
fn a_sandboxed_frame_works_with_the_documented_permissions() -> Outcome {
    in_browser(async |page| {
        let host = Embedding::frame(page, "lang=en&cards=rtx-4090", PERMISSIONS)
            .open(page)
            .await?;
        host.message("change").await?;
        host.inside("#w", async || {
            page.element("rental").await?;
            Ok(())
        })
        .await
    })
}

#[test]
fn a_frame_without_scripts_says_what_it_needs() -> Outcome {
    in_browser(async |page| {
        let host = Embedding::frame(page, "lang=en", "allow-same-origin")
            .open(page)
            .await?;
        host.inside("#w", async || {
            let shown = page
                .client()
                .find(Locator::Css("#shell noscript"))
                .await?
                .text()
                .await?;
            assert!(shown.contains("needs JavaScript"), "{shown}");
            Ok(())
        })
        .await?;
        // A browser says on the console that it runs no script there.
        let errors = page.console_errors().await?;
        assert!(
            errors
                .iter()
                .all(|e| e.contains("sandbox") || e.contains("Blocked")),
            "{errors:?}"
        );
        Ok(())
    })
}

#[test]
fn the_widget_speaks_only_to_origins_of_its_list() -> Outcome {
    in_browser(async |page| {
        // The host learns its own origin only when it is served, so the page writes it into the list itself.
        let fill = "new MutationObserver(() => { const w = document.getElementById('w'); if (w?.getAttribute('allow')?.startsWith('HOST')) w.setAttribute('allow', location.origin + ',https://other.example'); }).observe(document, { childList: true, subtree: true })";
        let stranger = format!(
            "<iframe id=\"no\" title=\"no\" width=\"600\" height=\"700\" src=\"{}embed/index.html?allow=https://other.example&lang=en\"></iframe>",
            page.base()
        );
        let host = Embedding::new("<script src=\"/fill.js\"></script>")
            .and(&browser_tests::embedding::element_script(page))
            .and("<card-fit id=\"w\" allow=\"HOST,https://other.example\"></card-fit>")
            .and(&stranger)
            .files([HostFile::new("/fill.js", "text/javascript", fill)])
            .open(page)
            .await?;
        host.event("change").await?;
        host.inside("#no", async || {
            page.element("rental").await?;
            let note = page
                .client()
                .find(Locator::Css(".widget-note"))
                .await?
                .text()
                .await?;
            assert!(note.contains("not on its list"), "{note}");
            Ok(())
        })
        .await?;
        let from_no =
            "return raw.filter((m) => m.data?.ns === 'cardfit' && m.data.id === '').length";
        assert_eq!(page.script(from_no).await?, 0);
        Ok(())
    })
}
