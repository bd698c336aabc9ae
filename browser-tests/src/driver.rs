//! The WebDriver server and the browser that it starts.

use crate::Outcome;
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use xtask::browser;

/// What Chromium is started with: no window, no scrollbar that takes width from the page, no sandbox (it refuses to run
/// as root with one), and none of the connections that it makes on its own account.
const BROWSER_FLAGS: [&str; 10] = [
    "--headless",
    "--hide-scrollbars",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// What Firefox is started with.
const FIREFOX_FLAGS: [&str; 1] = ["-headless"];

/// How often the driver is started before it is given up.
const STARTS: u32 = 5;

/// A driver process on a port of its own. It ends, and its browser's files go, when this is dropped.
pub struct Driver {
    process: Child,
    port: u16,
    browser: PathBuf,
    profile: PathBuf,
    firefox: bool,
}

impl Driver {
    /// Starts the driver of the browser that `cargo xtask test` chose, or of one that is found here.
    pub fn start() -> Outcome<Driver> {
        let Some(pair) = browser::find() else {
            return Err("no browser with a fitting driver was found: run `cargo xtask test browser`, which installs one or says what to install".into());
        };
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let profile =
            std::env::temp_dir().join(format!("cardfit-browser-{}-{number}", std::process::id()));
        let (process, port) = listening(&pair.driver, &["--port=0"])?;
        Ok(Driver {
            process,
            port,
            browser: pair.browser,
            profile,
            firefox: false,
        })
    }

    /// Starts geckodriver for Firefox; nothing where either is not on this machine.
    pub fn firefox() -> Outcome<Option<Driver>> {
        let Some(pair) = browser::find_firefox() else {
            return Ok(None);
        };
        let profile = std::env::temp_dir().join(format!("cardfit-firefox-{}", std::process::id()));
        std::fs::create_dir_all(&profile)?;
        let place = profile.display().to_string();
        let arguments = ["--port=0", "--websocket-port=0", "--profile-root", &place];
        let (process, port) = listening(&pair.driver, &arguments)?;
        Ok(Some(Driver {
            process,
            port,
            browser: pair.browser,
            profile,
            firefox: true,
        }))
    }

    /// The driver's address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What a new session asks for.
    pub fn capabilities(&self) -> Map<String, Value> {
        if self.firefox {
            let options = json!({ "binary": self.browser, "args": FIREFOX_FLAGS });
            return Map::from_iter([("moz:firefoxOptions".to_owned(), options)]);
        }
        let profile = format!("--user-data-dir={}", self.profile.display());
        let arguments: Vec<&str> = BROWSER_FLAGS
            .into_iter()
            .chain([profile.as_str()])
            .collect();
        let options = json!({ "binary": self.browser, "args": arguments });
        let edge = self
            .browser
            .file_stem()
            .is_some_and(|name| name.to_string_lossy().to_lowercase().contains("edge"));
        Map::from_iter([
            (
                if edge {
                    "ms:edgeOptions"
                } else {
                    "goog:chromeOptions"
                }
                .to_owned(),
                options,
            ),
            ("goog:loggingPrefs".to_owned(), json!({ "browser": "ALL" })),
        ])
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// Starts the driver on a free port. It takes one for IPv4 and then wants the same for IPv6, where another driver may
/// just have got it: it then ends, and is started again.
fn listening(driver: &Path, arguments: &[&str]) -> Outcome<(Child, u16)> {
    let mut said = String::new();
    for _ in 0..STARTS {
        let mut process = Command::new(driver)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{} could not be started: {error}", driver.display()))?;
        said.clear();
        if let Some(output) = process.stdout.take() {
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            for line in lines.by_ref() {
                if let Some(port) = port_in(&line) {
                    // The driver goes on printing; someone has to read it.
                    std::thread::spawn(move || lines.for_each(drop));
                    return Ok((process, port));
                }
                said.push_str(&line);
                said.push('\n');
            }
        }
        let _ = process.kill();
        let _ = process.wait();
    }
    Err(format!(
        "{} opened no port in {STARTS} starts: {said}",
        driver.display()
    )
    .into())
}

/// The port in the line `ChromeDriver was started successfully on port 40123.`, or in geckodriver's
/// `geckodriver INFO Listening on 127.0.0.1:40123`.
fn port_in(line: &str) -> Option<u16> {
    let port = match line.split_once("started successfully on port ") {
        Some((_, port)) => port,
        None => line.split_once("Listening on 127.0.0.1:")?.1,
    };
    port.trim_end_matches('.').parse().ok()
}
