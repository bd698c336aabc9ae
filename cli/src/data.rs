//! `cardfit data`: the product's data as files for machines.

use std::io::Write;
use std::path::Path;

use crate::{Arg, Args, Failure};

/// Help of the command.
pub const HELP: &str = "\
cardfit data DIRECTORY

Writes cards, models, prices and measured results into DIRECTORY, each as JSON and as CSV with a JSON Schema, a list of them
(index.json) and a licence note. Files of the same names are replaced. The built page carries them under data/v1/.
";

/// Runs the command.
pub fn run(args: &[String], out: &mut impl Write) -> Result<(), Failure> {
    let mut args = Args::new(args, "data");
    let mut directory = None;
    while let Some(arg) = args.take() {
        match arg {
            Arg::Option(name, _) => return Err(args.unknown(name)),
            Arg::Value(_) if directory.is_some() => {
                return Err(Failure::Usage("one directory is enough".to_owned()));
            }
            Arg::Value(path) => directory = Some(Path::new(path)),
        }
    }
    let Some(directory) = directory else {
        return Err(Failure::Usage(format!("a directory is missing\n\n{HELP}")));
    };
    let written = |error: std::io::Error| Failure::Run(format!("{}: {error}", directory.display()));
    std::fs::create_dir_all(directory).map_err(written)?;
    let files = cardfit::published::files().map_err(Failure::Run)?;
    for (name, content) in &files {
        std::fs::write(directory.join(name), content).map_err(written)?;
    }
    writeln!(out, "{}: {} files", directory.display(), files.len())?;
    Ok(())
}
