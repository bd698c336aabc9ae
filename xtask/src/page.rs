//! Building the page into dist/.

use crate::run::{Result, root, run};
use crate::tools::PageTools;
use crate::{embed, machine, npm, offline, packed, sizes, split, strict, tools, waiting};
use std::path::PathBuf;

/// Where the built page is.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// Flags of the compiler for WebAssembly, as a variable of cargo. Views of erased types: a fifth smaller, and what is lost is
/// some speed in building them.
pub const RUSTFLAGS: (&str, &str) = (
    "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
    "--cfg erase_components",
);

/// Builds the release page into [`dist`], installing the tools for it first.
pub fn build() -> Result<()> {
    let tools = tools::prepare()?;
    packed::write_all()?;
    let mut trunk = tools.trunk()?;
    // Not --release: Trunk.toml names the cargo profile, and shrinking comes after splitting.
    trunk.args(["build", "--features", "split"]);
    trunk.env(RUSTFLAGS.0, RUSTFLAGS.1);
    trunk.env(packed::VARIABLE, packed::folder());
    run(&mut trunk)?;
    split::split(&tools, &dist())?;
    strict::page(&dist())?;
    machine::write_all(&dist())?;
    // Before the page is made to work offline: a widget keeps nothing in the visitor's browser.
    embed::write_all(&dist())?;
    waiting::write_all(&dist())?;
    offline::write(&dist())?;
    npm::build(&tools, &dist())?;
    sizes::pack(&dist())?;
    sizes::report(&dist())
}

/// Builds the same page in one part, without optimising or packing it: in a fraction of the time, to look at a change.
pub fn build_draft() -> Result<()> {
    draft()?;
    embed::write_all(&dist())?;
    offline::write(&dist())
}

/// As [`build_draft`], with what stands beside the page, for the browser tests; only what is shown while the program loads is
/// left out, for which the page is compiled once more.
pub fn build_whole_draft() -> Result<()> {
    let tools = draft()?;
    machine::write_all(&dist())?;
    embed::write_all(&dist())?;
    offline::write(&dist())?;
    npm::build_draft(&tools, &dist())
}

fn draft() -> Result<PageTools> {
    let tools = tools::prepare()?;
    packed::write_all()?;
    let mut trunk = tools.trunk()?;
    trunk.args(["build", "--cargo-profile", "wasm-draft"]);
    trunk.env(RUSTFLAGS.0, RUSTFLAGS.1);
    trunk.env(packed::VARIABLE, packed::folder());
    run(&mut trunk)?;
    strict::page(&dist())?;
    Ok(tools)
}
