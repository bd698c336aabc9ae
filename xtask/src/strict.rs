//! The built page under a strict content security policy: no script or style stands in the page itself.

use crate::run::{Failure, Result, root};
use crate::sizes::{TEXTS_PART, files};
use std::path::Path;

/// What the page may do. `wasm-unsafe-eval` compiles WebAssembly and nothing else; `frame-ancestors` cannot stand in
/// a page and is for the host's headers (docs/hosting.md).
pub const PAGE_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

/// What the widget may do: as the page, but it frames nothing and fetches an operator's feed.
pub const WIDGET_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self' https: http://localhost:* http://127.0.0.1:*; worker-src 'self'; base-uri 'self'; form-action 'none'";

/// Moves the start script that Trunk writes into the page to a file of its own, and states the policy.
pub fn page(dist: &Path) -> Result<()> {
    let index = dist.join("index.html");
    let html = read(&index)?;
    let (before, rest) = html
        .split_once("<script type=\"module\">")
        .ok_or_else(|| Failure("dist/index.html has no start script to move".to_owned()))?;
    let (script, after) = rest
        .split_once("</script>")
        .ok_or_else(|| Failure("dist/index.html ends inside its start script".to_owned()))?;
    let module = quoted_after(script, "from ")?;
    let wasm = quoted_after(script, "module_or_path: ")?;
    let start = read(&root().join("page/start.js"))?
        .replace("\"MODULE\"", &format!("\"{module}\""))
        .replace("\"WASM\"", &format!("\"{wasm}\""))
        .replace("TEXTS", &texts(dist)?);
    let name = format!("start-{:016x}.js", hash(start.as_bytes()));
    write(&dist.join(&name), start.as_bytes())?;
    let check = read(&root().join("page/start-check.js"))?;
    let check_name = format!("check-{:016x}.js", hash(check.as_bytes()));
    write(&dist.join(&check_name), check.as_bytes())?;
    let after = without_preloads(after);
    let html = format!(
        "{before}<script src=\"./{check_name}\"></script><script type=\"module\" src=\"./{name}\"></script>{after}"
    );
    write(&index, with_policy(&html, PAGE_POLICY)?.as_bytes())
}

/// The parts with the texts of a language, as a JavaScript object from its tag to its file. A draft has none.
fn texts(dist: &Path) -> Result<String> {
    let mut named: Vec<String> = files(dist)?
        .iter()
        .filter_map(|file| {
            let name = file.file_name()?.to_str()?;
            let (lang, _) = name.strip_prefix(TEXTS_PART)?.split_once('-')?;
            let tag = match lang.split_once('_') {
                Some((lang, region)) => format!("{lang}-{}", region.to_uppercase()),
                None => lang.to_owned(),
            };
            Some(format!("\"{tag}\": \"./{name}\""))
        })
        .collect();
    named.sort();
    Ok(format!("{{ {} }}", named.join(", ")))
}

/// The page without Trunk's orders to fetch the program at once: the start script does so, after the first paint.
fn without_preloads(html: &str) -> String {
    let mut kept = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, from)) = ["<link rel=\"modulepreload\"", "<link rel=\"preload\""]
        .iter()
        .filter_map(|mark| rest.find(mark))
        .min()
        .map(|at| rest.split_at(at))
    {
        kept.push_str(before);
        rest = from.split_once('>').map_or("", |(_, after)| after);
    }
    kept + rest
}

/// The page with its policy as the first thing after the character set.
pub fn with_policy(html: &str, policy: &str) -> Result<String> {
    const CHARSET: &str = "<meta charset=\"utf-8\" />";
    let (before, after) = html
        .split_once(CHARSET)
        .ok_or_else(|| Failure("the page does not state its character set".to_owned()))?;
    Ok(format!(
        "{before}{CHARSET}\n    <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\" />{after}"
    ))
}

/// The text in quotes that follows `mark`.
fn quoted_after<'a>(script: &'a str, mark: &str) -> Result<&'a str> {
    let quoted = || {
        let (_, rest) = script.split_once(mark)?;
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        rest.split(quote).nth(1)
    };
    quoted().ok_or_else(|| {
        Failure(format!(
            "the start script that Trunk wrote names no file after `{mark}`: {script}"
        ))
    })
}

/// FNV-1a, to name a file after its content.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Reads a text file.
pub fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure(format!("{} cannot be read: {error}", file.display())))
}

/// Writes a file, making its folder.
pub fn write(file: &Path, content: &[u8]) -> Result<()> {
    let told = |error| Failure(format!("{} cannot be written: {error}", file.display()));
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(told)?;
    }
    std::fs::write(file, content).map_err(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_start_script_are_found() {
        let script = "import init, * as b from './a-1.js';\nawait init({ module_or_path: './a-1_bg.wasm' });";
        assert_eq!(quoted_after(script, "from ").unwrap(), "./a-1.js");
        assert_eq!(
            quoted_after(script, "module_or_path: ").unwrap(),
            "./a-1_bg.wasm"
        );
        assert!(quoted_after(script, "nowhere ").is_err());
    }

    #[test]
    fn the_program_is_not_fetched_before_the_page_is_painted() {
        let html = "a<link rel=\"modulepreload\" href=\"./p.js\">b<link rel=\"preload\" href=\"./p.wasm\" as=\"fetch\">c<link rel=\"icon\">";
        assert_eq!(without_preloads(html), "abc<link rel=\"icon\">");
    }

    #[test]
    fn no_policy_allows_inline_scripts_or_eval() {
        for policy in [PAGE_POLICY, WIDGET_POLICY] {
            assert!(policy.starts_with("default-src 'none'"));
            assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"));
            assert!(!policy.contains('*') || policy == WIDGET_POLICY);
        }
    }

    #[test]
    fn the_policy_stands_before_everything_that_it_is_for() {
        let html = "<head>\n    <meta charset=\"utf-8\" />\n    <link rel=\"stylesheet\" />";
        let strict = with_policy(html, PAGE_POLICY).unwrap();
        assert!(strict.find("Content-Security-Policy") < strict.find("stylesheet"));
        assert!(with_policy("<head>", PAGE_POLICY).is_err());
    }
}
