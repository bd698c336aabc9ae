//! The package for npm in dist/npm: the estimator as an ES module, the element, their types.

use crate::run::{Failure, Result, cargo, command, on_path, root, run, say, target_dir};
use crate::strict::{read, write};
use crate::tools::PageTools;
use crate::{packed, page};
use std::path::Path;

const PACKAGE: &str = "cardfit-headless";
/// The profile of the page, so that the estimator is compiled once for both.
const PROFILE: &str = "wasm-release";
/// The features that page/index.html switches on.
const WASM_OPT: [&str; 9] = [
    "-O2",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-reference-types",
    "--enable-sign-ext",
    "--enable-multivalue",
    "--enable-nontrapping-float-to-int",
    "--enable-mutable-globals",
    "--strip-producers",
];

/// Builds the package.
pub fn build(tools: &PageTools, dist: &Path) -> Result<()> {
    build_with(tools, dist, PROFILE, tools.wasm_opt.as_deref())
}

/// Builds the package with the profile of drafts, large and slow.
pub fn build_draft(tools: &PageTools, dist: &Path) -> Result<()> {
    build_with(tools, dist, "wasm-draft", None)
}

fn build_with(
    tools: &PageTools,
    dist: &Path,
    profile: &str,
    wasm_opt: Option<&Path>,
) -> Result<()> {
    let folder = dist.join("npm");
    run(cargo()
        .args(["build", "--locked", "--package", PACKAGE, "--lib"])
        .args(["--target", "wasm32-unknown-unknown", "--profile", profile])
        .env(page::RUSTFLAGS.0, page::RUSTFLAGS.1)
        .env(packed::VARIABLE, packed::folder()))?;
    let compiled = target_dir()
        .join("wasm32-unknown-unknown")
        .join(profile)
        .join("cardfit_headless.wasm");
    run(command(&tools.wasm_bindgen)
        .args(["--target", "web", "--no-typescript", "--out-dir"])
        .arg(&folder)
        .arg(&compiled))?;
    if let Some(wasm_opt) = wasm_opt {
        let file = folder.join("cardfit_headless_bg.wasm");
        run(command(wasm_opt)
            .args(WASM_OPT)
            .arg(&file)
            .arg("-o")
            .arg(&file))?;
    }
    for (from, to) in [
        ("headless/js/index.js", "index.js"),
        ("headless/js/index.d.ts", "index.d.ts"),
        ("headless/js/package.json", "package.json"),
        ("headless/js/README.md", "README.md"),
        ("embed/element.js", "element.js"),
        ("embed/element.d.ts", "element.d.ts"),
        ("core/data/feed.schema.json", "feed.schema.json"),
        ("LICENSE-MIT", "LICENSE-MIT"),
        ("LICENSE-APACHE", "LICENSE-APACHE"),
    ] {
        write(&folder.join(to), read(&root().join(from))?.as_bytes())?;
    }
    Ok(())
}

/// Runs the package in Node, where there is one.
pub fn smoke(dist: &Path) -> Result<()> {
    match on_path("node") {
        Some(node) => run(command(node)
            .arg("headless/js/smoke.mjs")
            .arg(dist.join("npm"))),
        None if std::env::var_os("CI").is_some() => Err(Failure(
            "node is not on the PATH: the package was not tried".to_owned(),
        )),
        None => {
            say("node is not on the PATH: the package was not tried");
            Ok(())
        }
    }
}
