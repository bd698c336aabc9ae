use browser_tests::embedding::demo;
use browser_tests::{Host, Outcome, in_browser};

#[test]
fn the_demo_shop_embeds_all_three_ways_from_its_own_origin() -> Outcome {
    in_browser(async |page| {
        for (name, lang, own) in [("index.html", "zh-CN", "卡"), ("en.html", "en", "card")] {
            let host = Host::serve(demo(page, name)?)?;
            page.resize(1280, 900).await?;
            page.client().goto(&format!("{}/", host.origin)).await?;
            // Drawn by the shop's own script from the module's answers.
            page.wait_until(
                "the market has its estimates",
                "return document.getElementById('skus').dataset.drawn === 'lora'",
            )
            .await?;
            let market = page
                .script("return [[...document.querySelectorAll('#skus a')].map((a) => a.href), document.querySelector('[data-offer=\"4090-hn\"] .estimate').textContent]")
                .await?;
            let links = market[0].as_array().cloned().unwrap_or_default();
            assert!(links.len() >= 5, "{market}");
            assert!(
                links.iter().all(|a| a
                    .as_str()
                    .unwrap_or("")
                    .starts_with("https://yunzhan.example/order?offer=")),
                "{market}"
            );
            assert!(market[1].as_str().unwrap_or("").contains(own), "{market}");
            page.script("document.querySelector('input[value=image]').click()")
                .await?;
            page.wait_until(
                "another job is estimated",
                "return document.getElementById('skus').dataset.drawn === 'image'",
            )
            .await?;

            page.script("document.getElementById('calculator').scrollIntoView()")
                .await?;
            page.wait_until(
                "the element has answered",
                "return document.getElementById('calculator').answer?.offers.length > 2",
            )
            .await?;
            page.script("document.getElementById('bare').scrollIntoView()")
                .await?;
            let frame = page
                .client()
                .find(fantoccini::Locator::Css("#bare"))
                .await?;
            frame.enter_frame().await?;
            page.element("rent").await?;
            assert_eq!(
                page.script("return document.documentElement.lang").await?,
                lang
            );
            page.client().clone().enter_parent_frame().await?;
            for width in [1280, 360] {
                page.resize(width, 900).await?;
                let wide = "return document.documentElement.scrollWidth <= innerWidth";
                assert_eq!(page.script(wide).await?, true, "{name} at {width}");
            }
        }
        Ok(())
    })
}

#[test]
fn the_builder_shows_the_widget_and_its_code_and_checks_a_feed() -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        page.open("?view=embed&m=qwen3-32b&do=serve&lang=en")
            .await?;
        page.click("embed-sample").await?;
        let code = page
            .wait_for_text("embed-code", |code| code.contains("demo/feed.json"))
            .await?;
        assert!(
            code.contains("<card-fit") && code.contains("scenario=\"m=qwen3-32b&amp;do=serve\""),
            "{code}"
        );
        assert!(
            code.contains(&format!("{}embed/v1.js", page.base())),
            "{code}"
        );
        page.wait_until(
            "the live widget answers from the demo shop",
            "return document.querySelector('card-fit')?.answer?.offers.some((o) => o.price?.provider.includes('云栈算力')) ?? false",
        )
        .await?;
        for (way, says) in [("frame", "<iframe"), ("module", "estimate(")] {
            page.script(&format!(
                "document.querySelector('[data-testid=embed-way-{way}]').click()"
            ))
            .await?;
            page.wait_for_text("embed-code", |code| code.contains(says))
                .await?;
        }
        page.script("document.querySelector('[data-testid=embed-way-element]').click()")
            .await?;
        // Picking the widget of one card names a card, and the live widget is about it.
        page.script("document.querySelector('[data-testid=embed-widget-card]').click()")
            .await?;
        page.wait_for_text("embed-code", |code| code.contains("rtx-4090"))
            .await?;
        page.wait_until(
            "the live widget is the card's",
            "return document.querySelector('card-fit')?.getAttribute('widget') === 'card' && document.querySelector('card-fit').getAttribute('cards') === 'rtx-4090'",
        )
        .await?;
        for guide in ["embed/guide.txt", "embed/guide.zh-CN.txt"] {
            let found = page
                .script(&format!("return (await fetch('{guide}')).ok"))
                .await?;
            assert_eq!(found, true, "{guide}");
        }
        page.type_into("feed-check", "{\"schema\": 1}").await?;
        page.wait_for_text("feed-report", |text| text.contains("schema"))
            .await?;
        Ok(())
    })
}
