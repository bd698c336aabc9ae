//! What the page shows until its program has loaded, and to readers without scripts: the answer to the scenario that a
//! bare address opens, computed when the page is built.

use crate::run::{Failure, Result, cargo, output, root};
use crate::strict::{hash, read, write};
use std::path::Path;

/// Where the example goes, in page/index.html.
const MARK: &str = "<!-- example -->";
/// A script that stands here runs before anything is painted.
const BEFORE_STYLES: &str = "<title>";

/// Puts the example and the script that chooses its language into the built page. The widget has neither.
pub fn write_all(dist: &Path) -> Result<()> {
    let example = output(cargo().args([
        "run",
        "--quiet",
        "--locked",
        "--package",
        "cardfit-page",
        "--example",
        "shell",
    ]))
    .ok_or_else(|| Failure("the example of the waiting page cannot be computed".to_owned()))?;
    let script = read(&root().join("page/waiting.js"))?;
    let name = format!("waiting-{:016x}.js", hash(script.as_bytes()));
    write(&dist.join(&name), script.as_bytes())?;
    let index = dist.join("index.html");
    let html = filled(&read(&index)?, &example, &name)?;
    write(&index, html.as_bytes())
}

fn filled(html: &str, example: &str, script: &str) -> Result<String> {
    for mark in [MARK, BEFORE_STYLES] {
        if !html.contains(mark) {
            return Err(Failure(format!(
                "the page has no {mark} to put something at"
            )));
        }
    }
    let script = format!("<script src=\"./{script}\"></script>\n    {BEFORE_STYLES}");
    Ok(html
        .replacen(MARK, example.trim_end(), 1)
        .replacen(BEFORE_STYLES, &script, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_stands_where_the_page_wants_it_and_the_script_before_the_title() {
        let html = "<head><title>T</title></head><div><!-- example --></div>";
        assert_eq!(
            filled(html, "<p>A</p>\n", "w.js").unwrap(),
            "<head><script src=\"./w.js\"></script>\n    <title>T</title></head><div><p>A</p></div>"
        );
        assert!(filled("<head></head>", "", "w.js").is_err());
    }
}
