//! The main ways through the page in Firefox: `cargo xtask test firefox`. Without Firefox and geckodriver it says so and
//! tries nothing.

use browser_tests::{Outcome, in_firefox};

#[test]
fn the_page_answers_keeps_its_link_and_loads_its_views_in_firefox() -> Outcome {
    let tried = in_firefox(async |page| {
        page.open("?m=qwen2.5-7b&do=lora&lang=en").await?;
        let first = page
            .wait_for_text("verdict", |text| text.contains('×'))
            .await?;

        // An input changes the answer and the link.
        page.type_into("field-samples", "500000").await?;
        page.wait_for_text("verdict", |text| text.contains('×') && text != first)
            .await?;
        assert!(page.query().await?.contains("samples=500000"));

        // Another kind of job, by hand, and the way back.
        page.click("job-qlora").await?;
        page.wait_until(
            "the link says qlora",
            "return location.search.includes('do=qlora')",
        )
        .await?;
        page.back().await?;
        page.wait_until(
            "the link says lora",
            "return location.search.includes('do=lora')",
        )
        .await?;

        // Every view of the head, parts that are loaded later included.
        for view in [
            "compare", "costs", "prices", "ladder", "check", "can", "method", "accuracy", "choose",
        ] {
            page.click(&format!("view-{view}")).await?;
            page.wait_until(
                view,
                "return document.querySelector('.loading') === null && document.querySelector('main, section') !== null",
            )
            .await?;
        }
        page.element("verdict").await?;

        // What was brought stays behind the hash.
        page.open("?m=custom&do=serve&lang=zh-CN#layers=24&hidden=2048&price=rtx-4090:1.5")
            .await?;
        page.wait_for_text("verdict", |text| text.contains('×') || text.contains('张'))
            .await?;
        assert!(page.address().await?.contains("#layers=24"));

        // Nothing stopped and nothing was refused.
        let hidden = "return ['stopped', 'unstarted', 'disk'].every(id => document.getElementById(id).hidden)";
        page.wait_until("no notice shows", hidden).await
    })?;
    if !tried {
        eprintln!(
            "skipped: no Firefox with geckodriver was found; `cargo xtask test firefox` installs them"
        );
    }
    Ok(())
}
