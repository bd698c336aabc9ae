//! What is served beside the page for those who embed it: the widget's page, the element, the feed's schema.

use crate::run::{Failure, Result, root};
use crate::sizes::brotli;
use crate::strict::{self, read, write};
use std::path::Path;

/// The most that the element may add to a page that carries it before it comes near the screen, bytes of brotli.
pub const ELEMENT_BUDGET_BYTES: usize = 4000;

/// Writes `embed/` into the built page. Addresses under it stay: other people's pages name them.
pub fn write_all(dist: &Path) -> Result<()> {
    let embed = dist.join("embed");
    let page = widget_page(&read(&dist.join("index.html"))?)?;
    write(&embed.join("index.html"), page.as_bytes())?;
    let element = classic(&read(&root().join("embed/element.js"))?)?;
    within_budget(&element)?;
    write(&embed.join("v1.js"), element.as_bytes())?;
    for (from, to) in [
        ("docs/embed.md", "guide.txt"),
        ("docs/embed.zh-CN.md", "guide.zh-CN.txt"),
    ] {
        // Hosts do not say of plain text how it is written; the mark does.
        let guide = format!("\u{feff}{}", read(&root().join(from))?);
        write(&embed.join(to), guide.as_bytes())?;
    }
    let schema = read(&root().join("core/data/feed.schema.json"))?;
    write(&embed.join("feed.schema.json"), schema.as_bytes())
}

/// Every page that carries the widget loads the element's script, whether its visitor comes to see it or not.
fn within_budget(script: &str) -> Result<()> {
    let bytes = brotli(script.as_bytes())?.len();
    if bytes > ELEMENT_BUDGET_BYTES {
        return Err(Failure(format!(
            "embed/v1.js weighs {bytes} bytes in brotli, more than its budget of {ELEMENT_BUDGET_BYTES} (xtask/src/embed.rs)"
        )));
    }
    Ok(())
}

/// The widget's page: the same files as the page, found one folder up, under the widget's own policy. It is no
/// application of its own and keeps nothing for use without a network.
fn widget_page(index: &str) -> Result<String> {
    if !index.contains(strict::PAGE_POLICY) {
        return Err(Failure("the page states no policy to replace".to_owned()));
    }
    let html: String = index
        .lines()
        .filter(|line| !line.contains("rel=\"manifest\""))
        .flat_map(|line| [line, "\n"])
        .collect();
    let html = html
        .replace(strict::PAGE_POLICY, strict::WIDGET_POLICY)
        .replacen("<html", "<html data-embed data-theme=\"system\"", 1)
        .replacen("<head>", "<head>\n    <base href=\"../\" />", 1);
    Ok(without_previews(&html))
}

/// What search engines and link previews read says nothing about a widget.
fn without_previews(html: &str) -> String {
    const MARKS: (&str, &str) = ("<!-- preview -->", "<!-- /preview -->");
    match html
        .split_once(MARKS.0)
        .and_then(|(before, rest)| Some((before, rest.split_once(MARKS.1)?.1)))
    {
        Some((before, after)) => {
            format!("{before}<meta name=\"robots\" content=\"noindex\" />{after}")
        }
        None => html.to_owned(),
    }
}

/// The element as a classic script: other origins may load one without CORS, which a static host need not send.
fn classic(module: &str) -> Result<String> {
    const EXPORT: &str = "export function define(";
    if module.matches("export ").count() != 1 || !module.contains(EXPORT) {
        return Err(Failure(
            "embed/element.js must export the function define and nothing else".to_owned(),
        ));
    }
    let body = module.replace(EXPORT, "function define(");
    Ok(format!(
        "(() => {{\nconst base = document.currentScript.src;\n{body}\ndefine(new URL(\".\", base).href);\n}})();\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widget_finds_its_files_one_folder_up_and_keeps_out_of_search() {
        let index = format!(
            "<html lang=\"en\"><head>\n<meta content=\"{}\">\n<link rel=\"manifest\">\n<!-- preview --><meta property=\"og:title\"><!-- /preview --><script src=\"./start.js\"></script>",
            strict::PAGE_POLICY
        );
        let page = widget_page(&index).unwrap();
        assert!(page.contains("<base href=\"../\" />") && page.contains("src=\"./start.js\""));
        assert!(page.contains("data-embed") && page.contains(strict::WIDGET_POLICY));
        assert!(
            page.contains("noindex") && !page.contains("og:title") && !page.contains("manifest\"")
        );
        assert!(widget_page("<html>").is_err());
    }

    #[test]
    fn the_element_becomes_a_script_of_its_own() {
        let script = classic("const A = 1;\nexport function define(base) {}").unwrap();
        assert!(script.contains("\nfunction define(base) {}") && !script.contains("export"));
        assert!(classic("export const x = 1;").is_err());
    }

    #[test]
    fn the_element_is_small_and_a_large_one_would_be_refused() {
        let element = classic(&read(&root().join("embed/element.js")).unwrap()).unwrap();
        assert!(within_budget(&element).is_ok());
        // Random-looking text that does not shrink below half.
        let noise: String = (0..2000_u64)
            .map(|n| format!("{:x}", strict::hash(&n.to_le_bytes())))
            .collect();
        assert!(within_budget(&format!("{element}{noise}")).is_err());
    }
}
