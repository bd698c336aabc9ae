//! Links that are handed on: what they keep, what they carry behind the `#`, what they say on another day.

use browser_tests::{Outcome, Page, in_browser};
use cardfit::scenario::limits::FRAGMENT_BYTES;
use cardfit::share::pack;
use serde_json::json;

/// The link that the open sheet offers.
async fn link_in_sheet(page: &Page) -> Outcome<String> {
    let input = page.element("share-link").await?;
    Ok(input.prop("value").await?.unwrap_or_default())
}

#[test]
fn what_nobody_knows_stays_in_the_link_through_edits() -> Outcome {
    in_browser(async |page| {
        page.open("?m=llama-3.1-8b&do=lora&utm_source=forum&lang=en")
            .await?;
        let notice = page.text("notice").await?;
        assert!(notice.contains("utm_source"), "{notice}");
        page.type_into("field-samples", "5000").await?;
        page.wait_until(
            "the edit is in the address with what was there",
            "const q = new URLSearchParams(location.search); return q.get('samples') === '5000' && q.get('utm_source') === 'forum'",
        )
        .await
    })
}

#[test]
fn a_brought_model_travels_behind_the_hash() -> Outcome {
    in_browser(async |page| {
        // An old link, with the shape in the query, still opens.
        page.open("?m=custom&layers=24&hidden=2048&heads=16&do=serve&lang=en")
            .await?;
        page.type_into("field-users", "7").await?;
        page.wait_until(
            "the shape has gone behind the hash",
            "return !location.search.includes('layers') && location.hash.includes('layers=24') && location.search.includes('users=7')",
        )
        .await?;
        let verdict = page.text("verdict").await?;
        let sent = page
            .script("return performance.getEntriesByType('navigation')[0].name")
            .await?;
        assert!(sent.is_string());
        // The skip link goes to a place in the page and must not cost the model.
        page.script("document.querySelector('a.skip').click()")
            .await?;
        page.wait_until(
            "the hash is back",
            "return location.hash.includes('layers=24')",
        )
        .await?;
        let address = page.address().await?;
        page.client().goto("about:blank").await?;
        page.client().goto(&address).await?;
        page.wait_for_text("verdict", |text| text == verdict)
            .await?;
        Ok(())
    })
}

#[test]
fn the_sheet_has_link_and_code_and_the_link_remembers_its_answer() -> Outcome {
    in_browser(async |page| {
        page.open("?m=llama-3.1-8b&do=lora&lang=en").await?;
        page.element("verdict").await?;
        page.click("share").await?;
        page.element("share-qr").await?;
        let link = link_in_sheet(page).await?;
        let (_, query) = link.split_once('?').ok_or("no query")?;
        assert!(
            query.contains("m=llama-3.1-8b") && query.contains("&was="),
            "{link}"
        );
        page.click("share-close").await?;
        // On the day that it was made there is nothing to say.
        page.open(&format!("?{query}")).await?;
        page.element("verdict").await?;
        assert_eq!(page.elements("since-shared").await?.len(), 0);
        // Another edition answered otherwise.
        page.open("?m=llama-3.1-8b&do=lora&lang=en&was=0ldone~rtx-3090~9~1~7")
            .await?;
        let said = page.text("since-shared").await?;
        assert!(
            said.contains("9 × RTX 3090") && said.contains("it is"),
            "{said}"
        );
        page.open("?m=llama-3.1-8b&do=lora&lang=zh-CN&was=0ldone~rtx-3090~9~1~7")
            .await?;
        let said = page.text("since-shared").await?;
        assert!(said.contains("分享此链接时"), "{said}");
        // The first change makes it another question, without that memory.
        page.type_into("field-samples", "5000").await?;
        page.wait_until(
            "the memory is gone",
            "return !location.search.includes('was=') && !document.querySelector('[data-testid=since-shared]')",
        )
        .await
    })
}

#[test]
fn cards_and_prices_of_ones_own_travel_behind_the_hash() -> Outcome {
    in_browser(async |page| {
        page.open("?m=llama-3.1-8b&do=lora&lang=en#own=MyCard:48:1000:200&price=mycard:0.5")
            .await?;
        page.wait_until(
            "the brought card is on the shelf with its price",
            "return document.querySelector('[data-testid=offer][data-card=\"MyCard\"]') !== null",
        )
        .await?;
        page.type_into("field-samples", "5000").await?;
        page.wait_until(
            "an edit keeps both behind the hash",
            "return location.search.includes('samples=5000') && !location.search.includes('own=') && location.hash.includes('own=MyCard') && location.hash.includes('price=')",
        )
        .await?;
        page.click("share").await?;
        let link = link_in_sheet(page).await?;
        let (sent, kept) = link.split_once('#').ok_or("nothing behind the hash")?;
        // What it answered names the card too.
        assert!(
            kept.contains("own=MyCard") && kept.contains("&was=") && !sent.contains("MyCard"),
            "{link}"
        );
        // Made on another day, it says what changed, and the card is still there.
        let older = kept.split_once("&was=").ok_or("no stamp")?.0;
        page.client().goto("about:blank").await?;
        page.open(&format!(
            "?m=llama-3.1-8b&do=lora&samples=5000&lang=en#{older}&was=0ldone~MyCard~1~99~50"
        ))
        .await?;
        let said = page.text("since-shared").await?;
        assert!(said.contains("MyCard") && said.contains("Now:"), "{said}");
        Ok(())
    })
}

#[test]
fn a_price_book_travels_in_the_link_and_one_that_is_too_large_is_refused() -> Outcome {
    in_browser(async |page| {
        let row = |price: f64| {
            json!({"card": "rtx-4090", "provider": "Friend", "billing": "on_demand", "currency": "CNY",
                "price_per_card": price, "cards_together": 1, "as_of": "2026-11-30", "source": "your own entry",
                "region": null, "variant_stated": true, "low_confidence": false, "notes": null, "tenancy": null})
        };
        let book = pack(&json!({"only_own": true, "own": [row(0.77)]}).to_string());
        page.open(&format!("?m=llama-3.1-8b&do=lora&lang=en#book={book}"))
            .await?;
        let said = page.text("since-shared").await?;
        assert!(said.contains("price book"), "{said}");
        page.wait_until(
            "only the book's card is offered",
            "const rows = [...document.querySelectorAll('[data-testid=offer]')]; return rows.length > 0 && rows.every((r) => r.dataset.card === 'rtx-4090') && document.body.textContent.includes('Friend')",
        )
        .await?;
        // Handed on, the link still carries it.
        page.click("share").await?;
        let link = link_in_sheet(page).await?;
        let (sent, kept) = link.split_once('#').ok_or("nothing behind the hash")?;
        assert!(kept.contains("book=") && !sent.contains("book="), "{link}");
        // The page's own store is left alone.
        assert_eq!(page.script("return localStorage.length").await?, 0);

        let many: Vec<_> = (1..200).map(|n| row(f64::from(n))).collect();
        let large = pack(&json!({"only_own": true, "own": many}).to_string());
        assert!(large.len() > FRAGMENT_BYTES);
        page.client().goto("about:blank").await?;
        page.open(&format!("?m=llama-3.1-8b&do=lora&lang=en#book={large}"))
            .await?;
        let notice = page.text("notice").await?;
        assert!(notice.contains(&FRAGMENT_BYTES.to_string()), "{notice}");
        Ok(())
    })
}

#[test]
fn the_systems_sheet_gets_the_link_where_there_is_one() -> Outcome {
    in_browser(async |page| {
        let sheet =
            "navigator.share = (data) => { window.handed = data; return Promise.resolve(); }";
        page.devtools(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": sheet }),
        )
        .await?;
        page.open("?m=llama-3.1-8b&do=lora&lang=en").await?;
        page.click("share").await?;
        page.click("share-system").await?;
        page.wait_until(
            "the sheet was asked",
            "return window.handed?.url === document.querySelector('[data-testid=share-link]').value && handed.title.length > 5",
        )
        .await
    })
}

#[test]
fn entries_lead_to_the_page_in_their_language_with_the_scenario() -> Outcome {
    in_browser(async |page| {
        for (entry, lang) in [("en", "en"), ("zh-CN", "zh-CN")] {
            page.client()
                .goto(&format!("{}{entry}/?m=qwen3-32b&do=serve", page.base()))
                .await?;
            page.element("verdict").await?;
            let at = page
                .script(
                    "return [document.documentElement.lang, location.search, location.pathname]",
                )
                .await?;
            assert_eq!(at[0], lang);
            assert_eq!(at[1], format!("?m=qwen3-32b&do=serve&lang={lang}"));
            assert_eq!(at[2], browser_tests::MOUNT);
        }
        Ok(())
    })
}

#[test]
fn machines_find_the_data_and_the_grammar_beside_the_page() -> Outcome {
    in_browser(async |page| {
        page.open("").await?;
        let script = "
            const get = async (name) => (await fetch(name)).text();
            const index = JSON.parse(await get('data/v1/index.json'));
            const rows = {};
            for (const table of index.tables) {
              const json = JSON.parse(await get(`data/v1/${table.json}`));
              const csv = await get(`data/v1/${table.csv}`);
              JSON.parse(await get(`data/v1/${table.schema}`));
              rows[table.name] = json.rows.length === table.rows && csv.length > 1000;
            }
            const ld = JSON.parse(document.querySelector('script[type=\"application/ld+json\"]').textContent);
            return [rows, (await get('llms.txt')).includes('| `m` |'), (await get('data/v1/LICENCE.md')).length > 100, ld['@graph'].map((e) => e['@type']), JSON.parse(await get('embed/feed.schema.json')).title];
        ";
        let found = page.script(script).await?;
        for name in [
            "cards",
            "models",
            "image-models",
            "networks",
            "workloads",
            "prices",
            "measured-training",
            "measured-inference",
        ] {
            assert_eq!(found[0][name], true, "{found}");
        }
        assert_eq!((&found[1], &found[2]), (&true.into(), &true.into()));
        assert_eq!(found[3][0], "WebApplication");
        assert!(found[4].as_str().unwrap_or_default().contains("price feed"));
        Ok(())
    })
}
