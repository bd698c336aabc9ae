//! The project's developer commands, `cargo xtask serve|build|test|shots|calibrate`.
//!
//! A fresh machine needs only cargo and rustup: every other tool is installed under `target/tools` in a pinned version,
//! unless one on the PATH already fits. The library half is shared with the browser tests, which serve the built page
//! with the same static server and start the same browser.

pub mod browser;
pub mod embed;
pub mod machine;
pub mod npm;
pub mod offline;
pub mod packed;
pub mod page;
pub mod run;
pub mod serve;
pub mod sizes;
pub mod split;
pub mod strict;
pub mod test;
pub mod tools;
pub mod waiting;
