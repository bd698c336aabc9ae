//! The page as a test sees it: elements are named by their `data-testid`, and nothing waits for a fixed time.

use crate::cdp::Vendor;
use crate::driver::Driver;
use crate::{Outcome, Problem};
use base64::Engine;
use fantoccini::elements::Element;
use fantoccini::key::Key;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a condition may take to come true. The page answers in well under a second; a loaded machine may not.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a condition is looked at.
const PERIOD: Duration = Duration::from_millis(25);

/// Which colours the visitor's system prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// A browser session with the page's address.
pub struct Page {
    client: Client,
    base: String,
}

impl Page {
    pub(crate) async fn new(driver: &Driver, base: &str) -> Outcome<Page> {
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(driver.capabilities())
            .connect(&driver.url())
            .await?;
        Ok(Page {
            client,
            base: base.to_owned(),
        })
    }

    pub(crate) async fn close(&self) -> Outcome {
        Ok(self.client.clone().close().await?)
    }

    /// The address of the page's folder, ending in `/`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The session itself, for what is not covered here.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Opens the page with `query` (empty, or from the `?` on) and waits until it is whole.
    pub async fn open(&self, query: &str) -> Outcome {
        self.client.goto(&format!("{}{query}", self.base)).await?;
        self.wait_until(
            "the page is whole",
            "return document.querySelector('[data-testid]') !== null && document.getElementById('shell') === null",
        )
        .await
    }

    /// The whole address that the browser is at.
    pub async fn address(&self) -> Outcome<String> {
        Ok(self.client.current_url().await?.into())
    }

    /// What a scenario is read from in the address that the browser is at: the query without the `?`, and behind it what
    /// stands behind the `#`; empty when there is neither.
    pub async fn query(&self) -> Outcome<String> {
        let address = self.client.current_url().await?;
        let parts = [address.query(), address.fragment()];
        let parts: Vec<&str> = parts
            .into_iter()
            .flatten()
            .filter(|p| !p.is_empty())
            .collect();
        Ok(parts.join("&"))
    }

    /// The element called `testid`, as soon as it is there.
    pub async fn element(&self, testid: &str) -> Outcome<Element> {
        let css = by_testid(testid);
        let found = self
            .client
            .wait()
            .at_most(PATIENCE)
            .every(PERIOD)
            .for_element(Locator::Css(&css))
            .await;
        found.map_err(|error| format!("no element {css} appeared: {error}").into())
    }

    /// All elements called `testid` that are there now, in the page's order.
    pub async fn elements(&self, testid: &str) -> Outcome<Vec<Element>> {
        Ok(self
            .client
            .find_all(Locator::Css(&by_testid(testid)))
            .await?)
    }

    /// As [`Self::element`], of what is not there before somebody has scrolled to its place.
    pub async fn element_below(&self, testid: &str) -> Outcome<Element> {
        let css = by_testid(testid);
        self.wait_until(
            &css,
            &format!(
                "scrollTo({{ top: document.documentElement.scrollHeight, behavior: 'instant' }});
                 return document.querySelector('{css}') !== null"
            ),
        )
        .await?;
        self.element(testid).await
    }

    /// The text that a visitor reads in the element called `testid`.
    pub async fn text(&self, testid: &str) -> Outcome<String> {
        Ok(self.element(testid).await?.text().await?)
    }

    /// Clicks the element called `testid`.
    pub async fn click(&self, testid: &str) -> Outcome {
        Ok(self.element(testid).await?.click().await?)
    }

    /// Replaces what is in the field called `testid`, key by key as a visitor would.
    pub async fn type_into(&self, testid: &str, text: &str) -> Outcome {
        let field = self.element(testid).await?;
        // WebDriver's own clearing also leaves the field, and a field that is left empty shows what holds then.
        // Two commands: not every driver lets a key go in the middle of one.
        field
            .send_keys(&format!("{}a", char::from(Key::Control)))
            .await?;
        let typed = match text {
            "" => char::from(Key::Backspace).to_string(),
            _ => text.to_owned(),
        };
        Ok(field.send_keys(&typed).await?)
    }

    /// Sends keys to the element that has the focus. [`fantoccini::key::Key`] has the special ones.
    pub async fn press(&self, keys: &str) -> Outcome {
        Ok(self.client.active_element().await?.send_keys(keys).await?)
    }

    /// Chooses the option with that value in the `select` called `testid`.
    pub async fn select(&self, testid: &str, value: &str) -> Outcome {
        Ok(self.element(testid).await?.select_by_value(value).await?)
    }

    /// Goes back in the browser's history.
    pub async fn back(&self) -> Outcome {
        Ok(self.client.back().await?)
    }

    /// Goes forward in the browser's history.
    pub async fn forward(&self) -> Outcome {
        Ok(self.client.forward().await?)
    }

    /// Runs JavaScript, with `return` for its value.
    pub async fn script(&self, script: &str) -> Outcome<Value> {
        Ok(self.client.execute(script, Vec::new()).await?)
    }

    /// Waits until `script` returns true; `what` says in words what was waited for.
    pub async fn wait_until(&self, what: &str, script: &str) -> Outcome {
        self.wait_for(what, async || {
            Ok((self.script(script).await? == Value::Bool(true)).then_some(()))
        })
        .await
    }

    /// Waits until the text of the element called `testid` is as `fits` wants it, and returns that text.
    pub async fn wait_for_text(
        &self,
        testid: &str,
        fits: impl Fn(&str) -> bool,
    ) -> Outcome<String> {
        let last = std::cell::RefCell::new(String::new());
        let found = self
            .wait_for("the text", async || {
                // The element may be replaced between finding and reading it: then it is looked for again.
                let text = match self.elements(testid).await?.first() {
                    Some(element) => element.text().await.unwrap_or_default(),
                    None => String::new(),
                };
                let fit = fits(&text);
                last.replace(text.clone());
                Ok(fit.then_some(text))
            })
            .await;
        found.map_err(|_| {
            format!(
                "{} never had the text waited for; it last read: {}",
                by_testid(testid),
                last.borrow()
            )
            .into()
        })
    }

    /// Waits until `look` finds something.
    pub async fn wait_for<T>(
        &self,
        what: &str,
        look: impl AsyncFn() -> Outcome<Option<T>>,
    ) -> Outcome<T> {
        let start = Instant::now();
        loop {
            if let Some(found) = look().await? {
                return Ok(found);
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("waited {} s in vain: {what}", PATIENCE.as_secs()).into());
            }
            tokio::time::sleep(PERIOD).await;
        }
    }

    /// Gives the page a screen of `width` by `height` CSS pixels.
    pub async fn resize(&self, width: u32, height: u32) -> Outcome {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size)
            .await?;
        Ok(())
    }

    /// Makes the visitor's system prefer light or dark colours.
    pub async fn prefer(&self, scheme: Scheme) -> Outcome {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.devtools("Emulation.setEmulatedMedia", features)
            .await?;
        Ok(())
    }

    /// Writes a PNG of the whole page, also of what is below the screen, to `file`.
    pub async fn screenshot(&self, file: &Path) -> Outcome {
        let metrics = self.devtools("Page.getLayoutMetrics", json!({})).await?;
        let mut clip = metrics["cssContentSize"].clone();
        clip["scale"] = json!(1);
        let how = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let answer = self.devtools("Page.captureScreenshot", how).await?;
        let data = answer["data"]
            .as_str()
            .ok_or("the browser sent no picture")?;
        let png = base64::engine::general_purpose::STANDARD.decode(data)?;
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(std::fs::write(file, png)?)
    }

    /// Runs a command of the Chrome DevTools Protocol.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Outcome<Value> {
        Ok(self
            .client
            .issue_cmd(Vendor::devtools(command, parameters))
            .await?)
    }

    /// The errors on the browser's console since this was last asked: the page's own, panics, and files not found.
    pub async fn console_errors(&self) -> Outcome<Vec<String>> {
        let log = self.client.issue_cmd(Vendor::console_log()).await?;
        let entries = log
            .as_array()
            .ok_or_else(|| Problem::from("the browser sent no log"))?;
        Ok(entries
            .iter()
            .filter(|entry| entry["level"] == "SEVERE")
            .map(|entry| entry["message"].as_str().unwrap_or_default().to_owned())
            .collect())
    }
}

/// Nothing of a page that is still being made behind its shell, where nobody can see it.
fn by_testid(testid: &str) -> String {
    format!(":root:not(:has(#shell)) [data-testid=\"{testid}\"]")
}
