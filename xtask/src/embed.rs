//! What is served beside the page for those who embed it: the widget's page, the element, the feed's schema.

use crate::run::{Failure, Result, root};
use crate::strict::{self, read, write};
use std::path::Path;

/// Writes `embed/` into the built page. Addresses under it stay: other people's pages name them.
pub fn write_all(dist: &Path) -> Result<()> {
    let embed = dist.join("embed");
    let page = widget_page(&read(&dist.join("index.html"))?)?;
    write(&embed.join("index.html"), page.as_bytes())?;
    let element = read(&root().join("embed/element.js"))?;
    write(&embed.join("v1.js"), classic(&element)?.as_bytes())?;
    let schema = read(&root().join("core/data/feed.schema.json"))?;
    write(&embed.join("feed.schema.json"), schema.as_bytes())
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
}
