//! The data files in the form that the page carries (core/src/packed/): read, checked and packed before the page is compiled.

use crate::run::{Result, cargo, run, target_dir};
use std::path::PathBuf;

/// Tells the compiler of the page in which folder the packed files are.
pub const VARIABLE: &str = "CARDFIT_PACKED";

/// Where they are.
pub fn folder() -> PathBuf {
    target_dir().join("packed")
}

/// Packs them.
pub fn write_all() -> Result<()> {
    run(cargo()
        .args(["run", "--quiet", "--locked"])
        .args(["--package", "cardfit", "--example", "pack", "--"])
        .arg(folder()))
}
