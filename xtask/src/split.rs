//! Splits the page that Trunk built: what the first answer does not need becomes files of its own, fetched when first
//! wanted. Between the compiler and wasm-bindgen, wasm-split moves the functions that only a lazy view reaches
//! (page/src/lazy.rs) out of the program; wasm-opt then shrinks every part.

use crate::run::{Failure, Result, command, fail, run, target_dir};
use crate::tools::PageTools;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// The page's program, as cargo, Trunk and the browser name it.
const NAME: &str = "cardfit-page";
/// The module through which the program fetches its parts; wasm-split writes it.
const LOADER: &str = "__wasm_split.js";
/// What the compiler and wasm-bindgen may use; wasm-opt has to be told.
const FEATURES: [&str; 7] = [
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-reference-types",
    "--enable-sign-ext",
    "--enable-multivalue",
    "--enable-nontrapping-float-to-int",
    "--enable-mutable-globals",
];

/// Replaces the unsplit program in `dist`.
pub fn split(tools: &PageTools, dist: &Path) -> Result<()> {
    let stage = target_dir().join("split");
    let _ = std::fs::remove_dir_all(&stage);
    let program = target_dir().join(format!("wasm32-unknown-unknown/wasm-release/{NAME}.wasm"));
    run(command(&tools.wasm_split).arg(&program).arg(&stage).args([
        "--target",
        "web",
        "--out-name",
        NAME,
    ]))?;
    let bound = stage.join("bound");
    run(command(&tools.wasm_bindgen)
        .arg(stage.join(format!("{NAME}.wasm")))
        .args(["--target", "web", "--no-typescript", "--keep-lld-exports"])
        .args(["--remove-name-section", "--out-name", NAME, "--out-dir"])
        .arg(&bound))?;
    let main = bound.join(format!("{NAME}_bg.wasm"));
    let parts = parts(&stage)?;
    if let Some(wasm_opt) = &tools.wasm_opt {
        for file in parts.iter().chain([&main]) {
            run(command(wasm_opt)
                .args(["-Oz", "--strip-debug", "--strip-producers"])
                .args(FEATURES)
                .arg(file)
                .arg("-o")
                .arg(file))?;
        }
    }

    let mut loader = text(&stage.join(LOADER))?;
    for part in &parts {
        let bytes = bytes(part)?;
        let name = file_name(part)?;
        // The macro names a part after its function and a long hash of where that stands.
        let short = name
            .trim_start_matches("split_")
            .trim_end_matches(".wasm")
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .trim_end_matches('_');
        let hashed = format!("part-{short}-{}.wasm", hash(&[&bytes]));
        loader = loader.replace(&format!("./{name}"), &format!("./{hashed}"));
        write(&dist.join(hashed), &bytes)?;
    }
    let glue = text(&bound.join(format!("{NAME}.js")))?;
    let program = bytes(&main)?;
    // Glue and loader import each other, so they share a hash.
    let stamp = hash(&[&program, glue.as_bytes(), loader.as_bytes()]);
    let (js, wasm, parts) = (
        format!("{NAME}-{stamp}.js"),
        format!("{NAME}-{stamp}_bg.wasm"),
        format!("{NAME}-{stamp}-parts.js"),
    );
    write(&dist.join(&wasm), &program)?;
    write(
        &dist.join(&js),
        // Only where it is imported: the program asks for its imports under the loader's first name.
        glue.replace(
            &format!("from \"./{LOADER}\""),
            &format!("from \"./{parts}\""),
        )
        .as_bytes(),
    )?;
    write(
        &dist.join(&parts),
        loader
            .replace(&format!("./{NAME}.js"), &format!("./{js}"))
            .as_bytes(),
    )?;
    rename_in_index(dist, &js, &wasm)
}

/// The files that wasm-split took out of the program.
fn parts(stage: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| Failure(format!("{} cannot be read: {error}", stage.display()));
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(stage).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = file_name(&path)?;
        if name.ends_with(".wasm") && name != format!("{NAME}.wasm") {
            parts.push(path);
        }
    }
    parts.sort();
    Ok(parts)
}

/// Puts the split program's names into index.html and removes the files that they replace.
fn rename_in_index(dist: &Path, js: &str, wasm: &str) -> Result<()> {
    let index = dist.join("index.html");
    let mut html = text(&index)?;
    let old_js = name_in(&html, &format!("./{NAME}-"), ".js")?;
    let old_wasm = old_js.replace(".js", "_bg.wasm");
    for (old, new) in [(old_wasm, wasm), (old_js, js)] {
        html = html.replace(&old, new);
        let _ = std::fs::remove_file(dist.join(&old));
    }
    write(&index, html.as_bytes())
}

/// The first name in `html` that stands after `./`, starts with the rest of `start` and ends with `end`.
fn name_in(html: &str, start: &str, end: &str) -> Result<String> {
    let found = html.split(start).skip(1).find_map(|rest| {
        let name = rest.split(['"', '\'']).next()?;
        name.ends_with(end)
            .then(|| format!("{}{name}", start.trim_start_matches("./")))
    });
    found.map_or_else(|| fail(format!("index.html names no {start}…{end}")), Ok)
}

fn hash(contents: &[&[u8]]) -> String {
    let mut hasher = DefaultHasher::new();
    for content in contents {
        hasher.write(content);
    }
    format!("{:016x}", hasher.finish())
}

fn file_name(path: &Path) -> Result<String> {
    match path.file_name() {
        Some(name) => Ok(name.to_string_lossy().into_owned()),
        None => fail(format!("{} has no name", path.display())),
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path)
        .map_err(|error| Failure(format!("{} cannot be read: {error}", path.display())))
}

fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure(format!("{} cannot be read: {error}", path.display())))
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    std::fs::write(path, content)
        .map_err(|error| Failure(format!("{} cannot be written: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_in_the_page() {
        let html = "import init from './cardfit-page-ab12.js'; init('./cardfit-page-ab12_bg.wasm')";
        let name = name_in(html, "./cardfit-page-", ".js").unwrap();
        assert_eq!(name, "cardfit-page-ab12.js");
        assert!(name_in("<p>", "./cardfit-page-", ".js").is_err());
    }
}
