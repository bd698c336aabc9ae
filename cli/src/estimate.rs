//! `cardfit estimate`: scenarios in, ranked offers out.

use std::io::Write;

use crate::Failure;

/// What `cardfit estimate --help` says.
pub const HELP: &str = "\
cardfit estimate: answer scenarios with ranked offers
";

/// Runs the command, writing one line of JSON a scenario to `out`.
///
/// # Errors
/// When it was called wrongly, or a scenario could not be answered.
pub fn run(_args: &[String], _out: &mut dyn Write) -> Result<(), Failure> {
    Err(Failure::Run("not yet".to_owned()))
}
