//! Building the page into dist/.

use crate::run::{Result, root, run};
use crate::{offline, sizes, split, tools};
use std::path::PathBuf;

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
    offline::write(&dist())?;
    sizes::pack(&dist())?;
    sizes::report(&dist())
}
