//! The page without a network, and the way from one build to the next.

use browser_tests::{Outcome, Page, in_browser_on};
use std::path::{Path, PathBuf};

const HEADING: &str = "heading";
const QUERY: &str = "?m=llama-3.1-8b&do=lora&samples=20000&lang=en";

/// A copy of the built page that a test may change, removed at the end.
struct Copy(PathBuf);

impl Copy {
    fn of_the_page(name: &str) -> Outcome<Copy> {
        let folder =
            std::env::temp_dir().join(format!("cardfit-offline-{name}-{}", std::process::id()));
        copy(&xtask::page::dist(), &folder)?;
        Ok(Copy(folder))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Takes all files away, as a host that cannot be reached does.
    fn empty(&self) -> Outcome {
        std::fs::remove_dir_all(&self.0)?;
        Ok(std::fs::create_dir_all(&self.0)?)
    }

    /// Another build: the heading of the page without scripts, and so the worker's version, are not the same.
    fn build_again(&self) -> Outcome {
        let index = std::fs::read_to_string(self.file("index.html"))?;
        std::fs::write(
            self.file("index.html"),
            index.replacen("<html ", "<html data-build=\"second\" ", 1),
        )?;
        let worker = std::fs::read_to_string(self.file("sw.js"))?;
        let second = worker.replacen("const VERSION = \"", "const VERSION = \"second-", 1);
        assert_ne!(second, worker, "the worker has a version");
        for stale in ["index.html.br", "sw.js.br", "index.html.gz", "sw.js.gz"] {
            let _ = std::fs::remove_file(self.file(stale));
        }
        Ok(std::fs::write(self.file("sw.js"), second)?)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path) -> Outcome {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

async fn kept(page: &Page) -> Outcome {
    page.wait_until(
        "the worker has kept the page",
        "return navigator.serviceWorker.controller !== null",
    )
    .await
}

#[test]
fn the_whole_page_works_without_its_host_after_the_first_visit() -> Outcome {
    let site = Copy::of_the_page("alone")?;
    in_browser_on(&site.0, async |page| {
        page.resize(1280, 900).await?;
        page.open(QUERY).await?;
        let before = page.text("verdict").await?;
        kept(page).await?;
        site.empty()?;
        page.open(QUERY).await?;
        assert_eq!(page.text("verdict").await?, before);
        // A part that was never looked at before is there too.
        page.click("offer-toggle").await?;
        page.element("offer-detail").await?;
        Ok(())
    })
}

#[test]
fn a_newer_build_waits_until_it_is_taken_and_the_scenario_stays() -> Outcome {
    let site = Copy::of_the_page("newer")?;
    in_browser_on(&site.0, async |page| {
        page.resize(1280, 900).await?;
        page.open(QUERY).await?;
        page.text(HEADING).await?;
        kept(page).await?;
        site.build_again()?;
        page.open(QUERY).await?;
        page.wait_until(
            "the page says that a newer one waits",
            "return !document.getElementById('renewed').hidden",
        )
        .await?;
        let build = "return document.documentElement.dataset.build ?? 'first'";
        assert_eq!(page.script(build).await?, "first");
        let query = page.query().await?;
        page.script("document.querySelector('#renewed [lang=en] button').click()")
            .await?;
        page.wait_until(
            "the newer page is shown",
            "return document.documentElement.dataset.build === 'second'",
        )
        .await?;
        page.text(HEADING).await?;
        assert_eq!(page.query().await?, query);
        assert_eq!(
            page.script("return document.getElementById('renewed').hidden")
                .await?,
            true
        );
        Ok(())
    })
}
