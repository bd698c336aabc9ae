//! Building the page into dist/.

use crate::run::{Failure, Result, fail, root, run, say};
use crate::{split, tools};
use std::path::{Path, PathBuf};

/// Where the built page is.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// Builds the release page into [`dist`], installing the tools for it first.
pub fn build() -> Result<()> {
    let tools = tools::prepare()?;
    let mut trunk = tools.trunk()?;
    // Not --release: the cargo profile is the same either way (page/index.html), and shrinking comes after splitting.
    trunk.args(["build", "--features", "split"]);
    // Views of erased types: a fifth smaller, and what is lost is some speed in building them.
    trunk.env(
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
        "--cfg erase_components",
    );
    run(&mut trunk)?;
    split::split(&tools, &dist())?;
    report_sizes(&dist())
}

fn report_sizes(dist: &Path) -> Result<()> {
    let unreadable = |error| Failure(format!("{} cannot be read: {error}", dist.display()));
    let mut wasm = 0;
    for entry in std::fs::read_dir(dist).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let bytes = entry.metadata().map_err(unreadable)?.len();
        let name = entry.file_name().to_string_lossy().into_owned();
        say(format_args!("dist/{name}: {:.1} kB", bytes as f64 / 1000.0));
        wasm += usize::from(name.ends_with(".wasm"));
    }
    if wasm == 0 {
        return fail("the build left no WebAssembly file in dist/");
    }
    Ok(())
}
