//! The widget in somebody else's page, on another origin: as an element, as a bare frame, as a module; under a strict
//! policy, in a sandbox, ten at once; and with a hostile page and a hostile feed.

use browser_tests::{Host, HostFile, Outcome, Page, in_browser};
use fantoccini::Locator;
use serde_json::{Value, json};

/// What every host page does: remembers events of elements and messages of frames.
const RECORDER: &str = r#"
window.heard = [];
window.raw = [];
for (const type of ["ready", "resize", "change", "order", "feed", "error"]) {
  document.addEventListener(`cardfit:${type}`, (event) => heard.push({ type, from: event.target.id, detail: event.detail }));
}
addEventListener("message", (event) => raw.push({ origin: event.origin, data: event.data }));
"#;

fn feed() -> Value {
    json!({
        "schema": "cardfit-feed/1",
        "provider": {"name": "示例算力", "url": "https://shop.example/"},
        "currency": "CNY",
        "generated_at": "2026-11-30",
        "valid_until": "2099-01-01",
        "offers": [
            {"id": "a", "gpu": "RTX 4090", "gpu_counts": [1, 2, 4], "region": "CN-HI",
             "prices": [{"mode": "hourly", "price": 1.98}],
             "order_url": "https://shop.example/order?o={offer}&n={count}&r={ref}"},
            {"id": "b", "gpu": "A100 SXM4 80GB", "gpu_counts": [1, 2, 4, 8],
             "prices": [{"mode": "hourly", "price": 5.98}],
             "order_url": "https://shop.example/order?o={offer}&n={count}&r={ref}"},
        ],
    })
}

/// A host whose page at `/` has `body`, with the recorder, a feed, and whatever else.
fn host(body: &str, more: Vec<HostFile>) -> Outcome<Host> {
    host_under(body, "", more)
}

fn host_under(body: &str, policy: &str, more: Vec<HostFile>) -> Outcome<Host> {
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>host</title><script src=\"/recorder.js\"></script><body>{body}</body></html>"
    );
    let mut page = HostFile::html("/", &html);
    if !policy.is_empty() {
        page = page.header(&format!("Content-Security-Policy: {policy}"));
    }
    let mut files = vec![
        page,
        HostFile::new("/recorder.js", "text/javascript", RECORDER),
        HostFile::new("/feed.json", "application/json", feed().to_string())
            .header("Access-Control-Allow-Origin: *"),
    ];
    files.extend(more);
    Host::serve(files)
}

fn element_script(page: &Page) -> String {
    format!("<script async src=\"{}embed/v1.js\"></script>", page.base())
}

async fn open(page: &Page, host: &Host) -> Outcome {
    Ok(page.client().goto(&format!("{}/", host.origin)).await?)
}

/// Waits for an event of the element, or a message of the frame, of that type.
async fn wait_for_type(page: &Page, list: &str, kind: &str) -> Outcome<Value> {
    let found = match list {
        "heard" => format!("return heard.findLast((e) => e.type === '{kind}') ?? null"),
        _ => format!(
            "return raw.findLast((e) => e.data?.ns === 'cardfit' && e.data.type === '{kind}') ?? null"
        ),
    };
    let got = page
        .wait_for(kind, async || {
            let value = page.script(&found).await?;
            Ok((!value.is_null()).then_some(value))
        })
        .await;
    match got {
        Ok(value) => Ok(value),
        Err(problem) => {
            let seen = page
                .script("return JSON.stringify([heard, raw]).slice(0, 3000)")
                .await?;
            Err(format!("{problem}; the host heard {seen}").into())
        }
    }
}

async fn enter(page: &Page, css: &str) -> Outcome {
    Ok(page
        .client()
        .find(Locator::Css(css))
        .await?
        .enter_frame()
        .await?)
}

async fn leave(page: &Page) -> Outcome {
    Ok(page.client().clone().enter_parent_frame().await?)
}

/// The frame is as high as what is in it, and does not scroll.
async fn fits_its_height(page: &Page, css: &str) -> Outcome {
    let height = format!("return document.querySelector('{css}').offsetHeight");
    page.wait_for("the frame's height", async || {
        let outer = page.script(&height).await?.as_f64().unwrap_or_default();
        enter(page, css).await?;
        let inner = page
            .script("return document.querySelector('.widget').getBoundingClientRect().height")
            .await?
            .as_f64()
            .unwrap_or_default();
        leave(page).await?;
        Ok((outer > 200.0 && (outer - inner).abs() < 3.0).then_some(()))
    })
    .await
}

#[test]
fn the_element_shows_what_the_shop_sells_fits_its_height_and_tells_of_orders() -> Outcome {
    in_browser(async |page| {
        let body = format!(
            "{}<card-fit id=\"w\" feed=\"/feed.json\" lang=\"zh-CN\" accent=\"#1677ff\" scenario=\"m=llama-3.1-8b&amp;do=lora\" ref=\"p 1\"></card-fit>",
            element_script(page)
        );
        let host = host(&body, vec![])?;
        open(page, &host).await?;
        let ready = wait_for_type(page, "heard", "ready").await?;
        assert_eq!(ready["detail"]["version"], 1);
        let change = wait_for_type(page, "heard", "change").await?;
        let offers = change["detail"]["offers"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        assert!(!offers.is_empty(), "{change}");
        for offer in &offers {
            assert!(["rtx-4090", "a100-sxm4-80gb"].contains(&offer["card"].as_str().unwrap_or("")));
            assert_eq!(offer["price"]["provider"], "示例算力");
        }
        fits_its_height(page, "#w iframe").await?;
        let title = page
            .script("return document.querySelector('#w iframe').title")
            .await?;
        assert_eq!(title, "显卡选型计算器");

        enter(page, "#w iframe").await?;
        let count = page.elements("rental").await?.len();
        assert_eq!(count, 2);
        let rent = page.element("rent").await?;
        let href = rent.attr("href").await?.unwrap_or_default();
        assert!(
            href.starts_with("https://shop.example/order?o=") && href.ends_with("&r=p%201"),
            "{href}"
        );
        assert_eq!(rent.attr("rel").await?.as_deref(), Some("noopener"));
        // What the link opens is the operator's; here only that it is told.
        page.script("document.querySelector('[data-testid=rent]').addEventListener('click', (e) => e.preventDefault())").await?;
        page.script("document.querySelector('[data-testid=rent]').click()")
            .await?;
        leave(page).await?;
        let order = wait_for_type(page, "heard", "order").await?;
        assert_eq!(order["detail"]["url"], href);
        assert_eq!(order["detail"]["ref"], "p 1");

        // Another scenario, theme and language without loading anew.
        page.script("w.setScenario('m=qwen3-32b&do=serve&users=4'); w.setAttribute('lang', 'en'); w.setTheme({ theme: 'dark', accent: 'ffcc00' })").await?;
        page.wait_until(
            "the new scenario is told",
            "return w.answer?.scenario.startsWith('m=qwen3-32b&do=serve&users=4')",
        )
        .await?;
        enter(page, "#w iframe").await?;
        let root = page
            .script("const r = document.documentElement; return [r.lang, r.dataset.theme, r.style.getPropertyValue('--accent-given')]")
            .await?;
        assert_eq!(root, json!(["en", "dark", "#ffcc00"]));
        // It keeps nothing in the visitor's browser.
        let kept = page
            .script("return [document.cookie, localStorage.length, sessionStorage.length]")
            .await?;
        assert_eq!(kept, json!(["", 0, 0]));
        leave(page).await?;
        fits_its_height(page, "#w iframe").await
    })
}

#[test]
fn a_bare_frame_works_without_any_script_of_the_host() -> Outcome {
    in_browser(async |page| {
        let body = format!(
            "<iframe id=\"w\" title=\"calculator\" width=\"600\" height=\"700\" src=\"{}embed/index.html?feed=FEED&lang=en&m=llama-3.1-8b&do=lora\"></iframe>",
            page.base()
        );
        // The feed stands on a third origin, which allows it.
        let feeds = Host::serve(vec![
            HostFile::new("/f.json", "application/json", feed().to_string())
                .header("Access-Control-Allow-Origin: *"),
        ])?;
        let body = body.replace("FEED", &format!("{}/f.json", feeds.origin));
        let host = host_under(
            &body,
            &format!(
                "default-src 'none'; script-src 'self'; frame-src {}",
                page.base()
            ),
            vec![],
        )?;
        open(page, &host).await?;
        let resize = wait_for_type(page, "raw", "resize").await?;
        assert!(
            resize["data"]["payload"]["height"].as_u64() > Some(100),
            "{resize}"
        );
        enter(page, "#w").await?;
        page.element("rent").await?;
        assert_eq!(page.elements("rental").await?.len(), 2);
        leave(page).await
    })
}

#[test]
fn the_module_answers_in_the_hosts_own_page_and_in_a_worker() -> Outcome {
    in_browser(async |page| {
        let npm = xtask::page::dist().join("npm");
        let mut files = vec![
            HostFile::new(
                "/draw.js",
                "text/javascript",
                r#"
                import { estimate } from "/npm/index.js";
                const feed = await (await fetch("/feed.json")).json();
                const answer = await estimate({ m: "llama-3.1-8b", do: "lora" }, { feed, ref: "x" });
                window.drawn = answer.offers.map((o) => [o.card, o.shop.order_url]);
                const worker = new Worker("/worker.js", { type: "module" });
                worker.onmessage = ({ data }) => (window.worked = data);
            "#,
            ),
            HostFile::new(
                "/worker.js",
                "text/javascript",
                r#"
                import { estimate } from "/npm/index.js";
                postMessage((await estimate("m=llama-3.1-8b&do=lora", { limit: 3 })).offers.length);
            "#,
            ),
        ];
        for (name, kind) in [
            ("index.js", "text/javascript"),
            ("cardfit_headless.js", "text/javascript"),
            ("cardfit_headless_bg.wasm", "application/wasm"),
        ] {
            files.push(HostFile::new(
                &format!("/npm/{name}"),
                kind,
                std::fs::read(npm.join(name))?,
            ));
        }
        let policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";
        let host = host_under(
            "<script type=\"module\" src=\"/draw.js\"></script>",
            policy,
            files,
        )?;
        open(page, &host).await?;
        page.wait_until("the page has drawn", "return window.drawn?.length === 2")
            .await?;
        let link = page.script("return drawn[0][1]").await?;
        assert!(
            link.as_str()
                .unwrap_or("")
                .starts_with("https://shop.example/order?o="),
            "{link}"
        );
        page.wait_until("the worker has answered", "return window.worked === 3")
            .await
    })
}

#[test]
fn a_host_under_a_strict_policy_needs_nothing_but_frame_src_and_the_script() -> Outcome {
    in_browser(async |page| {
        let body = format!(
            "{}<card-fit id=\"w\" feed-inline=\"prices\" theme=\"light\" layout=\"compact\"></card-fit><script type=\"application/json\" id=\"prices\">{}</script>",
            element_script(page),
            feed()
        );
        let base = page.base();
        let policy = format!(
            "default-src 'none'; script-src 'self' {base}embed/; frame-src {base}embed/; style-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
        );
        let host = host_under(&body, &policy, vec![])?;
        open(page, &host).await?;
        let feed = wait_for_type(page, "heard", "feed").await?;
        assert_eq!(feed["detail"]["outcome"], "used");
        assert_eq!(feed["detail"]["offers"], 2);
        wait_for_type(page, "heard", "change").await?;
        fits_its_height(page, "#w iframe").await
    })
}

#[test]
fn the_widgets_own_page_has_no_inline_script_or_style_and_a_policy_against_them() -> Outcome {
    in_browser(async |page| {
        for path in ["", "embed/index.html", "demo/index.html", "en/index.html"] {
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
fn ten_widgets_on_a_page_do_not_hear_each_other() -> Outcome {
    in_browser(async |page| {
        let widgets: String = (0..10)
            .map(|n| format!("<card-fit id=\"w{n}\" layout=\"compact\" hide=\"form\" scenario=\"m=llama-3.1-8b&amp;do=serve&amp;users={}&amp;cards=rtx-4090,l40s\"></card-fit>", n + 1))
            .collect();
        let host = host(&format!("{}{widgets}", element_script(page)), vec![])?;
        open(page, &host).await?;
        for n in 0..10 {
            // Those below the screen are loaded as they come near.
            page.script(&format!("w{n}.scrollIntoView()")).await?;
            page.wait_until(
                "a widget has answered",
                &format!(
                    "return w{n}.answer?.scenario.includes('users={}&') ?? false",
                    n + 1
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
        let others = page
            .script("return [0,1,2,4,5,6,7,8,9].every((n) => window[`w${n}`].answer.scenario.includes(`users=${n + 1}&`) && window[`w${n}`].ignored === 0)")
            .await?;
        assert_eq!(others, true);
        Ok(())
    })
}

#[test]
fn before_it_is_near_the_screen_the_element_loads_nothing_but_itself() -> Outcome {
    in_browser(async |page| {
        let body = format!(
            "{}<div id=\"far\"></div><card-fit id=\"w\"></card-fit>",
            element_script(page)
        );
        let host = host(&body, vec![])?;
        open(page, &host).await?;
        page.script("far.style.height = '6000px'").await?;
        // Opened anew with the distance in place from the start.
        let styled = body.replace(
            "<div id=\"far\">",
            "<div id=\"far\" style=\"height: 6000px\">",
        );
        let host = self::host(&styled, vec![])?;
        open(page, &host).await?;
        page.wait_until(
            "the element is defined",
            "return !!customElements.get('card-fit')",
        )
        .await?;
        page.script(
            "return new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300)))",
        )
        .await?;
        let loaded = page
            .script("return performance.getEntriesByType('resource').filter((e) => !e.name.startsWith(location.origin)).map((e) => e.name)")
            .await?;
        assert_eq!(loaded, json!([format!("{}embed/v1.js", page.base())]));
        assert_eq!(
            page.script("return document.querySelector('iframe')")
                .await?,
            Value::Null
        );
        // Room is kept for it, so that its coming moves nothing above it.
        assert_eq!(page.script("return w.offsetHeight").await?, 720);
        page.script("w.scrollIntoView()").await?;
        wait_for_type(page, "heard", "ready").await?;
        let script = std::fs::read(xtask::page::dist().join("embed/v1.js"))?;
        // Before compression already less than what brotli may leave of it times three; Node measures brotli itself.
        assert!(script.len() < 12_000, "{}", script.len());
        Ok(())
    })
}

#[test]
fn a_sandboxed_frame_works_with_the_documented_permissions_and_says_why_without_them() -> Outcome {
    in_browser(async |page| {
        let frame = |id: &str, sandbox: &str| {
            format!(
                "<iframe id=\"{id}\" title=\"w\" width=\"600\" height=\"700\" sandbox=\"{sandbox}\" src=\"{}embed/index.html?lang=en&cards=rtx-4090\"></iframe>",
                page.base()
            )
        };
        let body = frame(
            "good",
            "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox",
        );
        let host = host(&body, vec![])?;
        open(page, &host).await?;
        wait_for_type(page, "raw", "change").await?;
        enter(page, "#good").await?;
        page.element("rental").await?;
        leave(page).await?;

        // Without scripts the page says what it is and what it needs.
        let host = self::host(&frame("bad", "allow-same-origin"), vec![])?;
        open(page, &host).await?;
        enter(page, "#bad").await?;
        let shown = page
            .client()
            .find(Locator::Css("#shell noscript"))
            .await?
            .text()
            .await?;
        assert!(shown.contains("needs JavaScript"), "{shown}");
        leave(page).await?;
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
fn a_hostile_parent_is_ignored_and_counted_and_breaks_nothing() -> Outcome {
    in_browser(async |page| {
        let forger = Host::serve(vec![HostFile::html(
            "/",
            "<!doctype html><script>addEventListener('message', ({ data }) => { for (let n = 0; n < 5; n++) parent.frames[data.frame].postMessage(data.message, '*'); parent.postMessage(data.message, '*') })</script>",
        )])?;
        let body = format!(
            "{}<card-fit id=\"w\" feed=\"/feed.json\" scenario=\"m=llama-3.1-8b&amp;do=lora\"></card-fit><iframe id=\"forger\" src=\"{}/\"></iframe>",
            element_script(page),
            forger.origin
        );
        let host = host(&body, vec![])?;
        open(page, &host).await?;
        let before = wait_for_type(page, "heard", "change").await?;
        // The host itself speaks out of turn: other name spaces, versions, ids, types, shapes and sizes.
        page.script(r##"
            const frame = document.querySelector("#w iframe").contentWindow;
            const id = new URLSearchParams(new URL(document.querySelector("#w iframe").src).hash.slice(1)).get("eid");
            const say = (message) => frame.postMessage(message, "*");
            for (const junk of [null, 7, "[iFrameSizer]message", [], {}, { ns: "other" }, new Map(), { type: "set-feed" }]) say(junk);
            const ours = { ns: "cardfit", v: 1, id };
            say({ ...ours, v: 2, type: "set-scenario", payload: { query: "m=qwen3-32b" } });
            say({ ...ours, id: "guess", type: "set-scenario", payload: { query: "m=qwen3-32b" } });
            say({ ...ours, type: "eval", payload: "alert(1)" });
            say({ ...ours, type: "set-scenario", payload: { query: { toString: 1 } } });
            say({ ...ours, type: "set-feed", payload: { feed: "x".repeat(10_000_000) } });
            say({ ...ours, type: "set-theme", payload: { accent: "red;}body{display:none" } });
            say({ ...ours, type: "set-language", payload: null });
        "##).await?;
        enter(page, "#w iframe").await?;
        page.wait_until(
            "the seven are counted",
            "return document.documentElement.dataset.ignored === '7'",
        )
        .await?;
        leave(page).await?;
        // A frame of another origin forges both ways, with the right id.
        page.script(r##"
            const id = new URLSearchParams(new URL(document.querySelector("#w iframe").src).hash.slice(1)).get("eid");
            const at = [...Array(frames.length).keys()].find((n) => frames[n] === document.querySelector("#w iframe").contentWindow);
            document.querySelector("#forger").contentWindow.postMessage({ frame: at, message: { ns: "cardfit", v: 1, id, type: "set-scenario", payload: { query: "m=qwen3-32b" } } }, "*");
            document.querySelector("#forger").contentWindow.postMessage({ frame: at, message: { ns: "cardfit", v: 1, id, type: "resize", payload: { height: 9999 } } }, "*");
        "##).await?;
        page.wait_until(
            "the element counts what claims to be its frame",
            "return w.ignored === 2",
        )
        .await?;
        enter(page, "#w iframe").await?;
        page.wait_until(
            "the frame counts what is not its parent",
            "return document.documentElement.dataset.ignored === '17'",
        )
        .await?;
        leave(page).await?;
        assert_eq!(
            page.script("return document.querySelector('#w iframe').offsetHeight < 9000")
                .await?,
            true
        );
        assert_eq!(
            page.script("return w.answer.scenario").await?,
            before["detail"]["scenario"]
        );
        // Odd but well-formed: a scenario of nonsense is answered with the defaults and says so.
        page.script("w.setScenario('m=<script>alert(1)</script>&n=-1e999&do=%F0%9F')")
            .await?;
        page.wait_until(
            "it still answers",
            "return w.answer.scenario.startsWith('m=')",
        )
        .await?;
        Ok(())
    })
}

#[test]
fn the_widget_speaks_only_to_origins_of_its_list() -> Outcome {
    in_browser(async |page| {
        let body = format!(
            "{}<card-fit id=\"yes\" allow=\"HOST,https://other.example\"></card-fit><iframe id=\"no\" title=\"no\" width=\"600\" height=\"700\" src=\"{}embed/index.html?allow=https://other.example&lang=en\"></iframe>",
            element_script(page),
            page.base()
        );
        // The host learns its own origin only when it is served, so the page puts it in itself.
        let host = Host::serve(vec![
            HostFile::html(
                "/",
                &format!(
                    "<!doctype html><meta charset=utf-8><script src=\"/recorder.js\"></script><body><script src=\"/fill.js\"></script>{body}"
                ),
            ),
            HostFile::new("/recorder.js", "text/javascript", RECORDER),
            HostFile::new(
                "/fill.js",
                "text/javascript",
                "new MutationObserver(() => { const w = document.getElementById('yes'); if (w?.getAttribute('allow')?.startsWith('HOST')) w.setAttribute('allow', location.origin + ',https://other.example'); }).observe(document, { childList: true, subtree: true })",
            ),
        ])?;
        open(page, &host).await?;
        wait_for_type(page, "heard", "change").await?;
        enter(page, "#no").await?;
        page.element("rental").await?;
        let note = page
            .client()
            .find(Locator::Css(".widget-note"))
            .await?
            .text()
            .await?;
        assert!(note.contains("not on its list"), "{note}");
        leave(page).await?;
        let from_no = page
            .script("return raw.filter((m) => m.data?.ns === 'cardfit' && m.data.id === '').length")
            .await?;
        assert_eq!(from_no, 0);
        Ok(())
    })
}

#[test]
fn a_hostile_feed_is_shown_as_far_as_it_can_be_and_never_as_markup() -> Outcome {
    in_browser(async |page| {
        let mut hostile = feed();
        hostile["provider"]["name"] = json!("<img src=x onerror=\"document.title='owned'\">");
        let offers = hostile["offers"].as_array_mut().ok_or("no offers")?;
        offers[0]["name"] = json!("<script>document.title='owned'</script>");
        offers[0]["region"] = json!("\"><svg onload=alert(1)>");
        offers[1]["order_url"] = json!("javascript:document.title='owned'");
        offers.extend([
            json!({"id": "a", "gpu": "L40S", "prices": [{"mode": "hourly", "price": 1}]}),
            json!({"id": "c", "gpu": "Unobtainium 9000", "prices": [{"mode": "hourly", "price": 1}]}),
            json!({"id": "d", "gpu": "L40S", "prices": [{"mode": "hourly", "price": -3}]}),
            json!({"id": "e", "gpu": "L40S", "prices": [{"mode": "hourly", "price": 1e308}]}),
            json!({"id": {"$ne": 1}, "gpu": [], "prices": "free"}),
            json!(null),
        ]);
        let files = vec![
            HostFile::new("/hostile.json", "application/json", hostile.to_string())
                .header("Access-Control-Allow-Origin: *"),
            HostFile::new("/huge.json", "application/json", vec![b' '; 10_000_000])
                .header("Access-Control-Allow-Origin: *"),
            HostFile::new(
                "/page.json",
                "text/html",
                "<!doctype html><title>404</title>",
            )
            .header("Access-Control-Allow-Origin: *"),
        ];
        let widget = |id: &str, feed: &str| {
            format!(
                "<card-fit id=\"{id}\" feed=\"{feed}\" scenario=\"m=llama-3.1-8b&amp;do=lora\"></card-fit>"
            )
        };
        let body = format!("{}{}", element_script(page), widget("w", "/hostile.json"));
        let host = host(&body, files.clone())?;
        open(page, &host).await?;
        let told = wait_for_type(page, "heard", "feed").await?;
        let issues = told["detail"]["issues"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let kinds: Vec<&str> = issues.iter().filter_map(|i| i["kind"].as_str()).collect();
        for kind in [
            "bad_link",
            "duplicate_id",
            "unknown_card",
            "not_positive",
            "too_high",
            "wrong_type",
        ] {
            assert!(kinds.contains(&kind), "{kind} is missing in {kinds:?}");
        }
        enter(page, "#w iframe").await?;
        page.element("rental").await?;
        assert_eq!(page.elements("rental").await?.len(), 2);
        let shown = page.script("return document.body.innerText").await?;
        let shown = shown.as_str().unwrap_or_default();
        assert!(
            shown.contains("<script>document.title='owned'</script>"),
            "{shown}"
        );
        assert!(shown.contains("<img src=x onerror="), "{shown}");
        let bad = page
            .script("return [document.title === 'owned', document.querySelectorAll('.widget img, .widget script, .widget [onerror], .widget [onload], a[href^=\"javascript\"]').length]")
            .await?;
        assert_eq!(bad, json!([false, 0]));
        leave(page).await?;

        for (feed, code) in [
            ("/huge.json", "feed_too_large"),
            ("/page.json", "feed_invalid"),
        ] {
            let host = self::host(
                &format!("{}{}", element_script(page), widget("w", feed)),
                files.clone(),
            )?;
            open(page, &host).await?;
            let error = wait_for_type(page, "heard", "error").await?;
            assert_eq!(error["detail"]["code"], code, "{error}");
            enter(page, "#w iframe").await?;
            // Never blank: reference prices, marked as such.
            page.element("rental").await?;
            let note = page.text("feed-note").await?;
            assert!(note.contains("reference prices"), "{note}");
            assert_eq!(page.elements("rent").await?.len(), 0);
            leave(page).await?;
        }
        // A feed that is not there, or not allowed, is the network's error on the console and a note in the widget.
        let host = self::host(
            &format!("{}{}", element_script(page), widget("w", "/gone.json")),
            vec![],
        )?;
        open(page, &host).await?;
        let error = wait_for_type(page, "heard", "error").await?;
        assert_eq!(error["detail"]["code"], "feed_unreachable", "{error}");
        let errors = page.console_errors().await?;
        assert!(
            !errors.is_empty() && errors.iter().all(|e| e.contains("gone.json")),
            "{errors:?}"
        );
        Ok(())
    })
}

#[test]
fn the_demo_shop_embeds_all_three_ways_from_its_own_origin() -> Outcome {
    in_browser(async |page| {
        let dist = xtask::page::dist();
        let base = page.base().to_owned();
        let read = |name: &str| std::fs::read_to_string(dist.join(name));
        // The shop stands elsewhere: what it loads from the calculator's host gets that host's address, and its policy.
        let html = read("demo/index.html")?
            .replace("../embed/", &format!("{base}embed/"))
            .replace("feed=demo/feed.json", "feed=SHOP/feed.json")
            .replace("script-src 'self'", &format!("script-src 'self' {base}"))
            .replace("frame-src 'self'", &format!("frame-src {base}"));
        let feeds = Host::serve(vec![
            HostFile::new("/feed.json", "application/json", read("demo/feed.json")?)
                .header("Access-Control-Allow-Origin: *"),
        ])?;
        let html = html.replace("SHOP", &feeds.origin);
        let mut files = vec![
            HostFile::html("/", &html),
            HostFile::new("/demo.css", "text/css", read("demo/demo.css")?),
            HostFile::new(
                "/demo.js",
                "text/javascript",
                read("demo/demo.js")?.replace("../npm/", "./npm/"),
            ),
            HostFile::new("/feed.json", "application/json", read("demo/feed.json")?)
                .header("Access-Control-Allow-Origin: *"),
        ];
        for (name, kind) in [
            ("index.js", "text/javascript"),
            ("cardfit_headless.js", "text/javascript"),
            ("cardfit_headless_bg.wasm", "application/wasm"),
        ] {
            files.push(HostFile::new(
                &format!("/npm/{name}"),
                kind,
                std::fs::read(dist.join("npm").join(name))?,
            ));
        }
        let host = Host::serve(files)?;
        page.resize(1280, 900).await?;
        open(page, &host).await?;
        page.wait_until(
            "the shop has drawn its own list",
            "return document.querySelectorAll('#rows tr').length >= 3",
        )
        .await?;
        let links = page.script("return [...document.querySelectorAll('#rows a')].every((a) => a.href.startsWith('https://yunzhan.example/order?'))").await?;
        assert_eq!(links, true);
        page.script("document.getElementById('calculator').scrollIntoView()")
            .await?;
        page.wait_until(
            "the element has answered",
            "return document.getElementById('calculator').answer?.offers.length > 2",
        )
        .await?;
        fits_its_height(page, "#calculator iframe").await?;
        page.script("document.getElementById('bare').scrollIntoView()")
            .await?;
        enter(page, "#bare").await?;
        page.element("rent").await?;
        leave(page).await?;
        let wide = page
            .script("return document.documentElement.scrollWidth <= innerWidth")
            .await?;
        assert_eq!(wide, true);
        Ok(())
    })
}

#[test]
fn the_card_widget_says_what_one_card_can_do_and_leads_to_its_order_page() -> Outcome {
    in_browser(async |page| {
        let body = format!(
            "{}<card-fit id=\"w\" widget=\"card\" feed=\"/feed.json\" cards=\"rtx-4090\" lang=\"zh-CN\" scenario=\"m=qwen2.5-7b&amp;do=serve\"></card-fit>",
            element_script(page)
        );
        let host = host(&body, vec![])?;
        open(page, &host).await?;
        wait_for_type(page, "heard", "change").await?;
        enter(page, "#w iframe").await?;
        assert_eq!(page.text("card-title").await?, "RTX 4090 能做什么？");
        let rows = page
            .script("return document.querySelectorAll('[data-testid=card-reach] tbody tr').length")
            .await?;
        assert_eq!(rows, 7);
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
        leave(page).await?;
        fits_its_height(page, "#w iframe").await
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
        page.script("document.querySelector('[data-testid=embed-way-frame]').click()")
            .await?;
        page.wait_for_text("embed-code", |code| code.starts_with("<iframe"))
            .await?;
        page.script("document.querySelector('[data-testid=embed-way-module]').click()")
            .await?;
        page.wait_for_text("embed-code", |code| code.contains("estimate("))
            .await?;
        page.type_into("feed-check", "{\"schema\": 1}").await?;
        page.wait_for_text("feed-report", |text| text.contains("schema"))
            .await?;
        Ok(())
    })
}
