//! Running other programs: where the repository is, how a command's failure is told, and how a step is timed.

use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Why a command stopped, in one line that says what to do about it.
#[derive(Debug)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// The result of anything here that can fail.
pub type Result<T> = std::result::Result<T, Failure>;

/// Shorthand for an error with a message.
pub fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(Failure(message.into()))
}

/// Says what is being done.
pub fn say(message: impl fmt::Display) {
    println!("[xtask] {message}");
}

/// The repository's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Cargo's build folder, where everything that is installed or built goes.
pub fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// A command that runs in the repository's root and prints on this terminal.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    // What `cargo run` sets for this program means nothing to the cargo that it starts.
    for (name, _) in std::env::vars_os() {
        let own = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if own {
            command.env_remove(name);
        }
    }
    command
}

/// The cargo that started this program.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_stem()
        .unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command to its end, its output on this terminal. A command that ends badly is a [`Failure`] naming it.
pub fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    say(format_args!("$ {line}"));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => fail(format!("`{line}` failed ({status})")),
        Err(error) => fail(format!("`{line}` could not be started: {error}")),
    }
}

/// Runs a command and hands each line of its standard output to `each` as well as to this terminal.
pub fn run_reading(command: &mut Command, mut each: impl FnMut(&str)) -> Result<()> {
    let line = shown(command);
    say(format_args!("$ {line}"));
    let not_started = |error| Failure(format!("`{line}` could not be started: {error}"));
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(not_started)?;
    if let Some(output) = child.stdout.take() {
        for text in BufReader::new(output)
            .split(b'\n')
            .map_while(|read| read.ok())
        {
            let text = String::from_utf8_lossy(&text);
            println!("{text}");
            each(&text);
        }
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => fail(format!("`{line}` failed ({status})")),
        Err(error) => Err(not_started(error)),
    }
}

/// What a command prints, or nothing when it is missing or fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The first file called `name` in the folders of the PATH.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let suffixes: &[&str] = if cfg!(windows) {
        &[".exe", ".cmd"]
    } else {
        &[""]
    };
    std::env::split_paths(&path)
        .flat_map(|dir| {
            suffixes
                .iter()
                .map(move |suffix| dir.join(format!("{name}{suffix}")))
        })
        .find(|file| file.is_file())
}

/// Runs one named step and prints how long it took, or what went wrong.
pub fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    say(format_args!("── {name}"));
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f64();
    match &result {
        Ok(_) => say(format_args!("── {name}: done in {seconds:.1} s")),
        Err(_) => say(format_args!("── {name}: failed after {seconds:.1} s")),
    }
    result.map_err(|failure| Failure(format!("{name}: {failure}")))
}
