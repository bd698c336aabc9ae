use browser_tests::embedding::{Embedding, element_script, feed, module_files, shared};
use browser_tests::{Host, HostFile, Outcome, in_browser};
use serde_json::json;

const LORA: &str = "scenario=\"m=llama-3.1-8b&amp;do=lora\"";

#[test]
fn the_element_shows_what_the_shop_sells_fits_its_height_and_tells_of_orders() -> Outcome {
    in_browser(async |page| {
        let attributes =
            format!("feed=\"/feed.json\" lang=\"zh-CN\" accent=\"#1677ff\" {LORA} ref=\"p 1\"");
        let host = Embedding::element(page, &attributes).open(page).await?;
        assert_eq!(host.event("ready").await?["version"], 1);
        let change = host.event("change").await?;
        let offers = change["offers"].as_array().cloned().unwrap_or_default();
        assert!(!offers.is_empty(), "{change}");
        for offer in &offers {
            assert!(["rtx-4090", "a100-sxm4-80gb"].contains(&offer["card"].as_str().unwrap_or("")));
            assert_eq!(offer["price"]["provider"], "示例算力");
        }
        host.fits_its_height("#w iframe").await?;
        let title = "return document.querySelector('#w iframe').title";
        assert_eq!(page.script(title).await?, "显卡选型计算器");

        let href = host
            .inside("#w iframe", async || {
                page.element("rental").await?;
                assert_eq!(page.elements("rental").await?.len(), 2);
                let rent = page.element("rent").await?;
                let href = rent.attr("href").await?.unwrap_or_default();
                assert_eq!(rent.attr("rel").await?.as_deref(), Some("noopener"));
                // What the link opens is the operator's; here only that it is told.
                page.script("const rent = document.querySelector('[data-testid=rent]'); rent.addEventListener('click', (e) => e.preventDefault()); rent.click()")
                    .await?;
                Ok(href)
            })
            .await?;
        assert!(
            href.starts_with("https://shop.example/order?o=") && href.ends_with("&r=p%201"),
            "{href}"
        );
        let order = host.event("order").await?;
        assert_eq!(
            (&order["url"], &order["ref"]),
            (&json!(href), &json!("p 1"))
        );

        // Another scenario, theme and language without loading anew.
        page.script("w.setScenario('m=qwen3-32b&do=serve&users=4'); w.setAttribute('lang', 'en'); w.setTheme({ theme: 'dark', accent: 'ffcc00' })").await?;
        page.wait_until(
            "the new scenario is told",
            "return w.answer?.scenario.startsWith('m=qwen3-32b&do=serve&users=4')",
        )
        .await?;
        host.inside("#w iframe", async || {
            let root = "const r = document.documentElement; return [r.lang, r.dataset.theme, r.style.getPropertyValue('--accent-given')]";
            assert_eq!(page.script(root).await?, json!(["en", "dark", "#ffcc00"]));
            // It keeps nothing in the visitor's browser.
            let kept = "return [document.cookie, localStorage.length, sessionStorage.length]";
            assert_eq!(page.script(kept).await?, json!(["", 0, 0]));
            Ok(())
        })
        .await?;
        host.fits_its_height("#w iframe").await
    })
}

#[test]
fn a_feed_of_the_hosts_own_needs_no_permission_for_other_origins() -> Outcome {
    in_browser(async |page| {
        let own = HostFile::new("/own.json", "application/json", feed().to_string());
        let host = Embedding::element(page, "feed=\"/own.json\"")
            .files([own])
            .open(page)
            .await?;
        assert_eq!(host.event("feed").await?["outcome"], "used");
        // Where the host's policy lets its page connect nowhere, the frame fetches it, which the feed's server allows.
        let policy = format!(
            "default-src 'none'; script-src 'self' {0}embed/; frame-src {0}embed/",
            page.base()
        );
        let host = Embedding::element(page, "feed=\"/feed.json\"")
            .policy(&policy)
            .open(page)
            .await?;
        assert_eq!(host.event("feed").await?["outcome"], "used");
        let errors = page.console_errors().await?;
        assert!(
            errors
                .iter()
                .all(|e| e.contains("Content Security Policy") || e.contains("feed.json")),
            "{errors:?}"
        );
        Ok(())
    })
}

#[test]
fn a_bare_frame_works_without_any_script_of_the_host() -> Outcome {
    in_browser(async |page| {
        // The feed stands on a third origin, which allows it.
        let feeds = Host::serve(vec![shared(
            "/f.json",
            "application/json",
            feed().to_string(),
        )])?;
        let query = format!(
            "feed={}/f.json&lang=en&m=llama-3.1-8b&do=lora",
            feeds.origin
        );
        let policy = format!(
            "default-src 'none'; script-src 'self'; frame-src {}",
            page.base()
        );
        let host = Embedding::frame(page, &query, "")
            .policy(&policy)
            .open(page)
            .await?;
        let resize = host.message("resize").await?;
        assert!(resize["height"].as_u64() > Some(100), "{resize}");
        host.inside("#w", async || {
            page.element("rent").await?;
            assert_eq!(page.elements("rental").await?.len(), 2);
            Ok(())
        })
        .await
    })
}

#[test]
fn a_bare_frame_takes_a_feed_by_message_as_the_guide_says() -> Outcome {
    in_browser(async |page| {
        let widgets = page.base().split("/a/").next().unwrap_or_default();
        let script = format!(
            "const feed = {};
            addEventListener('message', ({{ data, source, origin }}) => {{
              if (origin !== '{widgets}' || data?.ns !== 'cardfit' || data.type !== 'ready') return;
              source.postMessage({{ ns: 'cardfit', v: 1, id: data.id, type: 'set-feed', payload: {{ feed }} }}, origin);
            }});",
            feed()
        );
        let host = Embedding::new("<script src=\"/give.js\"></script>")
            .and(&format!(
                "<iframe id=\"w\" title=\"calculator\" width=\"600\" height=\"700\" src=\"{}embed/index.html?feed=message&lang=en\"></iframe>",
                page.base()
            ))
            .files([HostFile::new("/give.js", "text/javascript", script)])
            .open(page)
            .await?;
        let told = host.message("feed").await?;
        assert_eq!(
            (&told["outcome"], &told["offers"]),
            (&json!("used"), &json!(2))
        );
        Ok(())
    })
}

#[test]
fn the_module_answers_in_the_hosts_own_page_and_in_a_worker() -> Outcome {
    in_browser(async |page| {
        let draw = r#"
            import { estimate } from "/npm/index.js";
            const feed = await (await fetch("/feed.json")).json();
            const answer = await estimate({ m: "llama-3.1-8b", do: "lora" }, { feed, ref: "x" });
            window.drawn = answer.offers.map((o) => [o.card, o.shop.order_url]);
            const worker = new Worker("/worker.js", { type: "module" });
            worker.onmessage = ({ data }) => (window.worked = data);
        "#;
        let worker = r#"
            import { estimate } from "/npm/index.js";
            postMessage((await estimate("m=llama-3.1-8b&do=lora", { limit: 3 })).offers.length);
        "#;
        let policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";
        Embedding::new("<script type=\"module\" src=\"/draw.js\"></script>")
            .policy(policy)
            .files(module_files(false)?)
            .files([
                HostFile::new("/draw.js", "text/javascript", draw),
                HostFile::new("/worker.js", "text/javascript", worker),
            ])
            .open(page)
            .await?;
        page.wait_until("the page has drawn", "return window.drawn?.length === 2")
            .await?;
        let link = page.script("return drawn[0][1]").await?;
        let link = link.as_str().unwrap_or_default();
        assert!(link.starts_with("https://shop.example/order?o="), "{link}");
        page.wait_until("the worker has answered", "return window.worked === 3")
            .await
    })
}

#[test]
fn the_module_of_another_host_works_only_where_that_host_allows_it() -> Outcome {
    in_browser(async |page| {
        for (is_shared, outcome) in [(true, "\"answered\""), (false, "\"refused\"")] {
            let module = Host::serve(module_files(is_shared)?)?;
            let script = format!(
                "import('{}/npm/index.js').then(({{ estimate }}) => estimate('m=llama-3.1-8b&do=lora', {{ limit: 1 }})).then((a) => (window.outcome = a.offers.length === 1 ? 'answered' : 'empty'), () => (window.outcome = 'refused'))",
                module.origin
            );
            Embedding::new("<script src=\"/draw.js\"></script>")
                .files([HostFile::new("/draw.js", "text/javascript", script)])
                .open(page)
                .await?;
            page.wait_until(
                "an outcome",
                &format!("return window.outcome === {outcome}"),
            )
            .await?;
        }
        // The browser says on the console whom it refused.
        let errors = page.console_errors().await?;
        assert!(
            !errors.is_empty() && errors.iter().all(|e| e.contains("/npm/index.js")),
            "{errors:?}"
        );
        Ok(())
    })
}

#[test]
fn ten_widgets_on_a_page_do_not_hear_each_other() -> Outcome {
    in_browser(async |page| {
        let widgets: String = (0..10)
            .map(|n| format!("<card-fit id=\"w{n}\" layout=\"compact\" hide=\"form\" scenario=\"m=llama-3.1-8b&amp;do=serve&amp;users={}&amp;cards=rtx-4090,l40s\"></card-fit>", n + 11))
            .collect();
        Embedding::new(format!("{}{widgets}", element_script(page)))
            .open(page)
            .await?;
        for n in 0..10 {
            // Those below the screen are loaded as they come near.
            page.script(&format!("w{n}.scrollIntoView()")).await?;
            page.wait_until(
                "a widget has answered",
                &format!(
                    "return w{n}.answer?.scenario.includes('users={}&') ?? false",
                    n + 11
                ),
            )
            .await?;
        }
        page.script("w3.setScenario('m=llama-3.1-8b&do=serve&users=77&cards=l40s')")
            .await?;
        page.wait_until(
            "the one spoken to has changed",
            "return w3.answer.scenario.includes('users=77&')",
        )
        .await?;
        let others = "return [0,1,2,4,5,6,7,8,9].every((n) => window[`w${n}`].answer.scenario.includes(`users=${n + 11}&`) && window[`w${n}`].ignored === 0)";
        assert_eq!(page.script(others).await?, true);
        Ok(())
    })
}

#[test]
fn before_it_is_near_the_screen_the_element_loads_nothing_but_itself() -> Outcome {
    in_browser(async |page| {
        let body = format!(
            "{}<div style=\"height: 6000px\"></div><card-fit id=\"w\"></card-fit>",
            element_script(page)
        );
        let host = Embedding::new(body).open(page).await?;
        page.wait_until(
            "the element is defined",
            "return !!customElements.get('card-fit')",
        )
        .await?;
        page.script(
            "return new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300)))",
        )
        .await?;
        let script = format!("{}embed/v1.js", page.base());
        assert_eq!(host.loaded_from_elsewhere().await?, json!([script]));
        // Room is kept for it, so that its coming moves nothing around it.
        let at_rest = "return [document.querySelector('iframe'), w.offsetHeight]";
        assert_eq!(page.script(at_rest).await?, json!([null, 720]));
        page.script("w.scrollIntoView()").await?;
        host.event("ready").await?;
        Ok(())
    })
}

#[test]
fn an_element_that_is_moved_or_changed_goes_on_with_what_it_was_given() -> Outcome {
    in_browser(async |page| {
        let host = Embedding::element(page, LORA)
            .and("<div id=\"other\"></div>")
            .open(page)
            .await?;
        host.event("change").await?;
        // A feed and a scenario given by script survive the frame that they were given to.
        page.script("fetch('/feed.json').then((r) => r.json()).then((feed) => w.setFeed(feed))")
            .await?;
        let from_shop =
            "return w.answer?.offers.length > 0 && w.answer.offers.every((o) => o.shop)";
        page.wait_until("the feed is used", from_shop).await?;
        page.script("heard.length = 0; other.append(w)").await?;
        host.event("feed").await?;
        page.wait_until("the moved element has the feed", from_shop)
            .await?;
        // An option that a running frame does not take by message loads it anew.
        page.script("heard.length = 0; w.setAttribute('hide', 'form')")
            .await?;
        host.event("change").await?;
        host.inside("#w iframe", async || {
            page.element("rental").await?;
            assert_eq!(
                page.script("return document.querySelector('form')").await?,
                json!(null)
            );
            Ok(())
        })
        .await?;
        host.fits_its_height("#w iframe").await
    })
}

#[test]
fn what_a_shop_charges_beside_the_cards_enters_the_scenario() -> Outcome {
    in_browser(async |page| {
        let mut terms = feed();
        terms["currency"] = json!("USD");
        terms["storage"] = json!({"free_gb": 50, "price_per_gb_month": 0.1});
        terms["traffic"] = json!({"out_price_per_gb": 0.05});
        terms["offers"][1]["provider"] = json!("Partner <b>Ltd</b>");
        let element = "feed=\"/terms.json\" lang=\"en\" scenario=\"m=llama-3.1-8b&amp;do=lora&amp;disk=1050&amp;diskfree=10\"";
        let host = Embedding::element(page, element)
            .files([shared("/terms.json", "application/json", terms.to_string())])
            .open(page)
            .await?;
        page.wait_until(
            "the terms are in the scenario, but for the one that it says itself",
            "const q = new URLSearchParams(w.answer?.scenario); return q.get('cur') === 'usd' && q.get('diskprice') === '0.1' && q.get('diskfree') === '10' && q.get('egressprice') === '0.05'",
        )
        .await?;
        host.inside("#w iframe", async || {
            page.element("rental").await?;
            let rows = page.script("return [...document.querySelectorAll('[data-testid=rental-stock]')].map((e) => e.textContent)").await?;
            assert!(rows.to_string().contains("Partner <b>Ltd</b>"), "{rows}");
            Ok(())
        })
        .await
    })
}

#[test]
fn the_card_widget_says_what_one_card_can_do_and_leads_to_its_order_page() -> Outcome {
    in_browser(async |page| {
        let card = |scenario: &str| {
            format!(
                "widget=\"card\" feed=\"/feed.json\" cards=\"rtx-4090\" lang=\"zh-CN\" scenario=\"{scenario}\""
            )
        };
        let rows = "return ['card-reach', 'card-errands'].map((id) => document.querySelectorAll(`[data-testid=${id}] tbody tr`).length)";
        let host = Embedding::element(page, &card("m=qwen2.5-7b&amp;do=serve"))
            .open(page)
            .await?;
        host.event("change").await?;
        host.inside("#w iframe", async || {
            assert_eq!(page.text("card-title").await?, "RTX 4090 能做什么？");
            assert_eq!(page.script(rows).await?, json!([7, 8]));
            let href = page
                .element("rent")
                .await?
                .attr("href")
                .await?
                .unwrap_or_default();
            assert!(
                href.starts_with("https://shop.example/order?o=a&n="),
                "{href}"
            );
            Ok(())
        })
        .await?;
        host.fits_its_height("#w iframe").await?;
        // Image models, networks and science are answered in their own units.
        for (scenario, name, unit) in [
            ("m=sdxl&amp;do=image", "Stable Diffusion XL", "张"),
            ("m=resnet-50&amp;do=vision-train", "ResNet-50", "张"),
            ("m=stencil&amp;do=science", "模板计算", "TFLOP"),
        ] {
            let host = Embedding::element(page, &card(scenario)).open(page).await?;
            host.event("change").await?;
            let told = host
                .inside("#w iframe", async || page.text("card-model").await)
                .await?;
            assert!(
                told.contains(name) && told.contains(unit),
                "{scenario}: {told}"
            );
        }
        Ok(())
    })
}
