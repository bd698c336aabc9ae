//! What machines read of the page: data at stable addresses, llms.txt, entry pages with a preview in each language.

use crate::run::{Failure, Result, cargo, root, run};
use crate::strict::{read, write};
use std::path::Path;

/// The environment variable with the public address of the page, ending in `/`: link previews want whole addresses.
pub const PUBLIC_URL: &str = "CARDFIT_PUBLIC_URL";

/// Writes everything beside the built page.
pub fn write_all(dist: &Path) -> Result<()> {
    run(cargo()
        .args([
            "run",
            "--quiet",
            "--locked",
            "--package",
            "cardfit-cli",
            "--",
            "data",
        ])
        .arg(dist.join("data/v1")))?;
    let grammar = read(&root().join("docs/links.md"))?;
    let head = read(&root().join("page/llms.txt"))?;
    write(
        &dist.join("llms.txt"),
        format!("{head}\n{grammar}").as_bytes(),
    )?;
    let address = std::env::var(PUBLIC_URL).unwrap_or_default();
    for lang in ["en", "zh-CN"] {
        let page = read(&root().join(format!("page/entry/{lang}.html")))?;
        write(
            &dist.join(lang).join("index.html"),
            with_address(&page, "../", &address)?.as_bytes(),
        )?;
    }
    let script = read(&root().join("page/entry/entry.js"))?;
    write(&dist.join("entry/entry.js"), script.as_bytes())?;
    // In a folder of their own: the page itself, which works without a network, needs neither.
    for name in ["preview-en.png", "preview-zh-CN.png"] {
        let from = root().join("page/entry").join(name);
        std::fs::copy(&from, dist.join("entry").join(name))
            .map_err(|error| Failure(format!("{} cannot be copied: {error}", from.display())))?;
    }
    let index = dist.join("index.html");
    let page = with_address(&read(&index)?, "./", &address)?;
    write(&index, page.as_bytes())
}

/// Makes the addresses of previews whole, where the public address is known; readers of previews follow no others.
fn with_address(html: &str, here: &str, address: &str) -> Result<String> {
    if address.is_empty() {
        return Ok(html.to_owned());
    }
    if !(address.starts_with("https://") && address.ends_with('/')) {
        return Err(Failure(format!(
            "{PUBLIC_URL} is {address}: it must begin with https:// and end with /"
        )));
    }
    let mark = format!("content=\"{here}entry/");
    Ok(html.replace(&mark, &format!("content=\"{address}entry/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_get_a_whole_address_where_one_is_known() {
        let html = "<meta content=\"../entry/preview-en.png\"><a href=\"../\">";
        assert_eq!(with_address(html, "../", "").unwrap(), html);
        assert_eq!(
            with_address(html, "../", "https://a.example/x/").unwrap(),
            "<meta content=\"https://a.example/x/entry/preview-en.png\"><a href=\"../\">"
        );
        assert!(with_address(html, "../", "a.example").is_err());
    }
}
