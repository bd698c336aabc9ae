//! Commands that Chromium's driver has beyond the WebDriver standard.

use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// One of the driver's own commands, posted to a path under the session.
#[derive(Debug)]
pub struct Vendor {
    path: &'static str,
    body: Value,
}

impl Vendor {
    /// A command of the Chrome DevTools Protocol, such as `Page.captureScreenshot`.
    pub fn devtools(command: &str, parameters: Value) -> Vendor {
        Vendor {
            path: "goog/cdp/execute",
            body: json!({ "cmd": command, "params": parameters }),
        }
    }

    /// The console's lines since this was last asked.
    pub fn console_log() -> Vendor {
        Vendor {
            path: "se/log",
            body: json!({ "type": "browser" }),
        }
    }
}

impl WebDriverCompatibleCommand for Vendor {
    fn endpoint(&self, base_url: &Url, session_id: Option<&str>) -> Result<Url, ParseError> {
        let session = session_id.unwrap_or_default();
        base_url.join(&format!("session/{session}/{}", self.path))
    }

    fn method_and_body(&self, _request_url: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}
