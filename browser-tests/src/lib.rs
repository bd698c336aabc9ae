//! What the browser tests share: each test gets the built page on a server of its own, under a sub-path as a static
//! host might have it, and a fresh browser session. Run them with `cargo xtask test browser`.
//!
//! ```text
//! use browser_tests::{Outcome, in_browser};
//!
//! #[test]
//! fn the_page_has_a_heading() -> Outcome {
//!     in_browser(async |page| {
//!         page.open("?lang=en").await?;
//!         assert!(page.text("heading").await?.contains("CardFit"));
//!         Ok(())
//!     })
//! }
//! ```
//!
//! An error on the browser's console, a panic of the page included, fails the test that it happened in.

mod cdp;
mod driver;
pub mod embedding;
mod host;
mod page;
pub mod views;

pub use host::{Host, HostFile};
pub use page::{Page, Scheme};

use driver::Driver;
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use xtask::serve::Site;

/// Why a test or a helper failed.
pub type Problem = Box<dyn Error + Send + Sync>;
/// What a test returns.
pub type Outcome<T = ()> = Result<T, Problem>;

/// The sub-path that the page is served under: it must not depend on being at a host's root.
pub const MOUNT: &str = "/a/b/";

/// Runs `test` on the built page in a browser session of its own, then checks that the console saw no error.
pub fn in_browser<T>(test: impl AsyncFnOnce(&Page) -> Outcome<T>) -> Outcome<T> {
    in_browser_on(&xtask::page::dist(), test)
}

/// As [`in_browser`], on a copy of the built page that the test may change.
pub fn in_browser_on<T>(folder: &Path, test: impl AsyncFnOnce(&Page) -> Outcome<T>) -> Outcome<T> {
    let site = Site::open(folder, MOUNT)?;
    let url = site.url()?;
    std::thread::spawn(move || site.run());

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let driver = Driver::start()?;
    let page = runtime.block_on(Page::new(&driver, &url))?;
    // A test that panics must still end its browser, and leave a picture of what it saw.
    let tested = std::panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(test(&page))));
    let errors = runtime.block_on(page.console_errors());
    if !matches!((&tested, &errors), (Ok(Ok(_)), Ok(errors)) if errors.is_empty()) {
        let told = runtime.block_on(leave_picture(&page));
        eprintln!(
            "{}",
            told.unwrap_or_else(|problem| format!("no picture could be taken: {problem}"))
        );
        if let Ok(errors) = &errors {
            errors
                .iter()
                .for_each(|error| eprintln!("console: {error}"));
        }
    }
    let closed = runtime.block_on(page.close());
    let value = match tested {
        Ok(outcome) => outcome?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    closed?;
    match errors? {
        errors if errors.is_empty() => Ok(value),
        errors => Err(format!("the browser's console has errors:\n{}", errors.join("\n")).into()),
    }
}

/// Runs `test` on the built page in Firefox; `false` where there is no Firefox with its driver. What it says on its console
/// cannot be asked of it.
pub fn in_firefox(test: impl AsyncFnOnce(&Page) -> Outcome) -> Outcome<bool> {
    let Some(driver) = Driver::firefox()? else {
        return Ok(false);
    };
    let site = Site::open(&xtask::page::dist(), MOUNT)?;
    let url = site.url()?;
    std::thread::spawn(move || site.run());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let page = runtime.block_on(Page::new(&driver, &url))?;
    let tested = std::panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(test(&page))));
    runtime.block_on(page.close())?;
    match tested {
        Ok(outcome) => outcome.map(|()| true),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

async fn leave_picture(page: &Page) -> Outcome<String> {
    let name = std::thread::current()
        .name()
        .unwrap_or("page")
        .replace("::", "-");
    let file = failures_dir().join(format!("{name}.png"));
    page.screenshot(&file).await?;
    Ok(format!(
        "the page was at {}\npicture: {}",
        page.address().await?,
        file.display()
    ))
}

/// Where pictures of failed tests go.
fn failures_dir() -> PathBuf {
    xtask::run::target_dir().join("browser-failures")
}
