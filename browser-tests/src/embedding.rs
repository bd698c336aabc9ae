//! A page on another origin that embeds the widget, as a test sees it: what its elements and frames told it, and what
//! stands inside of them.

use crate::{Host, HostFile, MOUNT, Outcome, Page};
use fantoccini::Locator;
use serde_json::{Value, json};

/// What every embedding page does: remembers events of elements and messages of frames.
const RECORDER: &str = r#"
window.heard = [];
window.raw = [];
for (const type of ["ready", "resize", "change", "order", "feed", "error"]) {
  document.addEventListener(`cardfit:${type}`, (event) => heard.push({ type, from: event.target.id, detail: event.detail }));
}
addEventListener("message", (event) => raw.push({ origin: event.origin, data: event.data }));
"#;

/// A shop's feed: two cards, with order links.
pub fn feed() -> Value {
    let order_url = "https://shop.example/order?o={offer}&n={count}&r={ref}";
    json!({
        "schema": "cardfit-feed/1",
        "provider": {"name": "示例算力", "url": "https://shop.example/"},
        "currency": "CNY",
        "generated_at": "2026-11-30",
        "valid_until": "2099-01-01",
        "offers": [
            {"id": "a", "gpu": "RTX 4090", "gpu_counts": [1, 2, 4], "region": "CN-HI",
             "prices": [{"mode": "hourly", "price": 1.98}], "order_url": order_url},
            {"id": "b", "gpu": "A100 SXM4 80GB", "gpu_counts": [1, 2, 4, 8],
             "prices": [{"mode": "hourly", "price": 5.98}], "order_url": order_url},
        ],
    })
}

/// A file that other origins may read.
pub fn shared(path: &str, kind: &'static str, body: impl Into<Vec<u8>>) -> HostFile {
    HostFile::new(path, kind, body).header("Access-Control-Allow-Origin: *")
}

/// The files of the ES module under `/npm/`, readable for other origins or not.
pub fn module_files(is_shared: bool) -> Outcome<Vec<HostFile>> {
    let folder = xtask::page::dist().join("npm");
    let files = [
        ("index.js", "text/javascript"),
        ("cardfit_headless.js", "text/javascript"),
        ("cardfit_headless_bg.wasm", "application/wasm"),
    ];
    files
        .into_iter()
        .map(|(name, kind)| {
            let path = format!("/npm/{name}");
            let bytes = std::fs::read(folder.join(name))?;
            Ok(match is_shared {
                true => shared(&path, kind, bytes),
                false => HostFile::new(&path, kind, bytes),
            })
        })
        .collect()
}

/// The tag of the element's script.
pub fn element_script(page: &Page) -> String {
    format!("<script async src=\"{}embed/v1.js\"></script>", page.base())
}

/// A page that embeds the widget.
#[derive(Debug, Default)]
pub struct Embedding {
    body: String,
    policy: String,
    files: Vec<HostFile>,
}

impl Embedding {
    /// A page with that body, the recorder, and [`feed`] at `/feed.json`.
    pub fn new(body: impl Into<String>) -> Embedding {
        Embedding {
            body: body.into(),
            ..Embedding::default()
        }
    }

    /// A page with the element's script and one element `w` with those attributes.
    pub fn element(page: &Page, attributes: &str) -> Embedding {
        Embedding::new(format!(
            "{}<card-fit id=\"w\" {attributes}></card-fit>",
            element_script(page)
        ))
    }

    /// A page with one frame `w` of the widget, its query and sandbox; an empty sandbox is none.
    pub fn frame(page: &Page, query: &str, sandbox: &str) -> Embedding {
        let sandbox = match sandbox {
            "" => String::new(),
            some => format!("sandbox=\"{some}\""),
        };
        Embedding::new(format!(
            "<iframe id=\"w\" title=\"calculator\" width=\"600\" height=\"700\" {sandbox} src=\"{}embed/index.html?{query}\"></iframe>",
            page.base()
        ))
    }

    /// Served with a content security policy.
    #[must_use]
    pub fn policy(mut self, policy: &str) -> Embedding {
        policy.clone_into(&mut self.policy);
        self
    }

    /// With more files.
    #[must_use]
    pub fn files(mut self, files: impl IntoIterator<Item = HostFile>) -> Embedding {
        self.files.extend(files);
        self
    }

    /// With more in its body.
    #[must_use]
    pub fn and(mut self, html: &str) -> Embedding {
        self.body.push_str(html);
        self
    }

    /// Serves the page from an origin of its own and opens it.
    pub async fn open(self, page: &Page) -> Outcome<Embedded<'_>> {
        let html = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>host</title><script src=\"/recorder.js\"></script><body>{}</body></html>",
            self.body
        );
        let mut whole = HostFile::html("/", &html);
        if !self.policy.is_empty() {
            whole = whole.header(&format!("Content-Security-Policy: {}", self.policy));
        }
        let mut files = vec![
            whole,
            HostFile::new("/recorder.js", "text/javascript", RECORDER),
            shared("/feed.json", "application/json", feed().to_string()),
        ];
        files.extend(self.files);
        let host = Host::serve(files)?;
        page.client().goto(&format!("{}/", host.origin)).await?;
        Ok(Embedded { page, host })
    }
}

/// An embedding page that is open in the browser.
pub struct Embedded<'a> {
    page: &'a Page,
    host: Host,
}

impl Embedded<'_> {
    /// Its origin.
    pub fn origin(&self) -> &str {
        &self.host.origin
    }

    /// The detail of the latest event of that type that an element fired, as soon as there is one.
    pub async fn event(&self, kind: &str) -> Outcome<Value> {
        let latest = format!("return heard.findLast((e) => e.type === '{kind}')?.detail ?? null");
        self.first_of(kind, &latest).await
    }

    /// The payload of the latest message of that type that a frame posted, as soon as there is one.
    pub async fn message(&self, kind: &str) -> Outcome<Value> {
        let latest = format!(
            "return raw.findLast((e) => e.data?.ns === 'cardfit' && e.data.type === '{kind}')?.data.payload ?? null"
        );
        self.first_of(kind, &latest).await
    }

    async fn first_of(&self, kind: &str, latest: &str) -> Outcome<Value> {
        let found = self
            .page
            .wait_for(kind, async || {
                let value = self.page.script(latest).await?;
                Ok((!value.is_null()).then_some(value))
            })
            .await;
        match found {
            Ok(value) => Ok(value),
            Err(problem) => {
                let seen = "return JSON.stringify([heard, raw]).slice(0, 3000)";
                let seen = self.page.script(seen).await?;
                Err(format!("{problem}; the host heard {seen}").into())
            }
        }
    }

    /// Does something inside the frame that `css` finds, and comes back.
    pub async fn inside<T>(&self, css: &str, act: impl AsyncFnOnce() -> Outcome<T>) -> Outcome<T> {
        let frame = self.page.client().find(Locator::Css(css)).await?;
        frame.enter_frame().await?;
        let done = act().await?;
        self.page.client().clone().enter_parent_frame().await?;
        Ok(done)
    }

    /// Waits until the frame is as high as what is in it.
    pub async fn fits_its_height(&self, css: &str) -> Outcome {
        let outer = format!("return document.querySelector('{css}').offsetHeight");
        let inner = "return document.querySelector('.widget').getBoundingClientRect().height";
        let number = async |script: &str| -> Outcome<f64> {
            Ok(self.page.script(script).await?.as_f64().unwrap_or_default())
        };
        self.page
            .wait_for("the frame's height", async || {
                let outer = number(&outer).await?;
                let inner = self.inside(css, async || number(inner).await).await?;
                Ok((outer > 200.0 && (outer - inner).abs() < 3.0).then_some(()))
            })
            .await
    }

    /// The resources that were loaded from elsewhere.
    pub async fn loaded_from_elsewhere(&self) -> Outcome<Value> {
        self.page
            .script("return performance.getEntriesByType('resource').filter((e) => !e.name.startsWith(location.origin)).map((e) => e.name)")
            .await
    }
}

/// The built demo shop as it stands on an origin of its own, in one of its languages.
pub fn demo(page: &Page, name: &str) -> Outcome<Vec<HostFile>> {
    let dist = xtask::page::dist();
    let base = page.base();
    debug_assert!(base.ends_with(MOUNT));
    let read = |name: &str| std::fs::read_to_string(dist.join("demo").join(name));
    let feed = read("feed.json")?;
    // The bare frame fetches the feed itself, from an origin that lets it.
    let feeds = Host::serve(vec![shared("/feed.json", "application/json", feed.clone())])?;
    let html = read(name)?
        .replace("../embed/", &format!("{base}embed/"))
        .replace(
            "feed=demo/feed.json",
            &format!("feed={}/feed.json", feeds.origin),
        )
        .replace("script-src 'self'", &format!("script-src 'self' {base}"))
        .replace("frame-src 'self'", &format!("frame-src {base}"));
    let mut files = vec![
        HostFile::html("/", &html),
        HostFile::new("/demo.css", "text/css", read("demo.css")?),
        HostFile::new(
            "/demo.js",
            "text/javascript",
            read("demo.js")?.replace("../npm/", "./npm/"),
        ),
        shared("/feed.json", "application/json", feed),
    ];
    files.extend(module_files(false)?);
    Ok(files)
}
