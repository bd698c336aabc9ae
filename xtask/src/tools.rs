//! The tools that build the page, each in a pinned version under `target/tools/NAME-VERSION`, or from the PATH when
//! the version there fits.

use crate::run::{
    Failure, Result, cargo, command, fail, on_path, output, root, run, say, target_dir,
};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds with rustc 1.95; 0.22 asks for a newer compiler.
const TRUNK: Version = Version(0, 21, 14);
/// The npm package that carries wasm-opt. Its major version is wasm-opt's own.
const BINARYEN: Version = Version(132, 0, 0);
/// What the browser tests look for barriers with. It runs in the tests and is no part of the page (MPL-2.0).
const AXE: Version = Version(4, 10, 3);
/// The oldest wasm-opt that knows every feature that page/index.html switches on.
const OLDEST_WASM_OPT: u32 = 123;
/// Takes what the first answer does not need out of the program.
const WASM_SPLIT: Version = Version(0, 2, 4);
const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// A version of three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Reads `1.2.3`, or `1.2.3-suffix` without the suffix.
    pub fn parse(text: &str) -> Option<Version> {
        let mut numbers = text.split(['.', '-', '+']).map(|part| part.parse().ok());
        Some(Version(
            numbers.next()??,
            numbers.next()??,
            numbers.next()??,
        ))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The tools that a build of the page uses.
#[derive(Debug)]
pub struct PageTools {
    /// Trunk's program file.
    pub trunk: PathBuf,
    /// wasm-bindgen's program file.
    pub wasm_bindgen: PathBuf,
    /// wasm-split's program file.
    pub wasm_split: PathBuf,
    /// wasm-opt's program file, where it is to be had.
    pub wasm_opt: Option<PathBuf>,
    /// The folders of what was installed here; they go before the PATH.
    folders: Vec<PathBuf>,
}

impl PageTools {
    /// A command that runs Trunk, which finds the other tools on its PATH.
    pub fn trunk(&self) -> Result<Command> {
        let mut folders = self.folders.clone();
        if let Some(path) = std::env::var_os("PATH") {
            folders.extend(std::env::split_paths(&path));
        }
        let path = std::env::join_paths(folders)
            .map_err(|error| Failure(format!("the PATH cannot be extended: {error}")))?;
        let mut trunk = command(&self.trunk);
        // Trunk 0.21 takes no value but true or false for NO_COLOR, where any other program takes all.
        trunk.env("PATH", path).env_remove("NO_COLOR");
        Ok(trunk)
    }
}

/// Makes sure that everything a build of the page needs is there, installing what is missing.
pub fn prepare() -> Result<PageTools> {
    wasm_target()?;
    let mut folders = Vec::new();
    let trunk = trunk(&mut folders)?;
    let wasm_bindgen = wasm_bindgen(&mut folders)?;
    let wasm_split = wasm_split()?;
    let wasm_opt = wasm_opt()?;
    // The tools are built in one folder, so that what they share is compiled once; after that it is only in the way.
    let _ = std::fs::remove_dir_all(build_dir());
    Ok(PageTools {
        trunk,
        wasm_bindgen,
        wasm_split,
        wasm_opt,
        folders,
    })
}

/// Makes sure that rustc can compile for WebAssembly.
pub fn wasm_target() -> Result<()> {
    let folder =
        output(command("rustc").args(["--print", "target-libdir", "--target", WASM_TARGET]));
    if folder.is_some_and(|folder| Path::new(folder.trim()).is_dir()) {
        say(format_args!("{WASM_TARGET}: already there"));
        return Ok(());
    }
    if on_path("rustup").is_none() {
        return fail(format!(
            "rustc has no standard library for {WASM_TARGET}, and without rustup it cannot be added here: install that target with the package manager that rustc came from"
        ));
    }
    run(command("rustup").args(["target", "add", WASM_TARGET]))
}

/// Where `name` of `version` is installed when it does not come from the PATH.
fn folder_of(name: &str, version: Version) -> PathBuf {
    target_dir().join("tools").join(format!("{name}-{version}"))
}

fn build_dir() -> PathBuf {
    target_dir().join("tools").join("build")
}

fn program(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// The version that `program --version` prints as its `word`-th word.
fn version_of(program: &Path, word: usize) -> Option<String> {
    let text = output(command(program).arg("--version"))?;
    text.split_whitespace().nth(word).map(str::to_owned)
}

fn trunk(folders: &mut Vec<PathBuf>) -> Result<PathBuf> {
    let fits = |file: &Path| {
        let version = version_of(file, 1).and_then(|text| Version::parse(&text));
        version.is_some_and(|found| (found.0, found.1) == (TRUNK.0, TRUNK.1) && found >= TRUNK)
    };
    if let Some(file) = on_path("trunk").filter(|file| fits(file)) {
        say(format_args!("trunk: using {}", file.display()));
        return Ok(file);
    }
    let folder = folder_of("trunk", TRUNK).join("bin");
    let file = program(&folder, "trunk");
    if fits(&file) {
        say(format_args!("trunk {TRUNK}: already under target/tools"));
    } else {
        // Without its default features Trunk has no TLS to compile: it then cannot download tools, and need not.
        // Its own lock file is what it was tested with; where a mirror lacks one of those versions, cargo chooses.
        let install = |locked: bool| {
            cargo_install("trunk", TRUNK, |cargo| {
                cargo.arg("--no-default-features");
                if locked {
                    cargo.arg("--locked");
                }
            })
        };
        install(true).or_else(|failure| {
            say(format_args!(
                "{failure}; trying again without Trunk's lock file"
            ));
            install(false)
        })?;
    }
    folders.push(folder);
    Ok(file)
}

fn wasm_bindgen(folders: &mut Vec<PathBuf>) -> Result<PathBuf> {
    let lock = std::fs::read_to_string(root().join("Cargo.lock"))
        .map_err(|error| Failure(format!("Cargo.lock cannot be read: {error}")))?;
    let Some(wanted) = locked_version(&lock, "wasm-bindgen") else {
        return fail("Cargo.lock names no version of wasm-bindgen");
    };
    let fits =
        |file: &Path| version_of(file, 1).and_then(|text| Version::parse(&text)) == Some(wanted);
    if let Some(file) = on_path("wasm-bindgen").filter(|file| fits(file)) {
        say(format_args!("wasm-bindgen: using {}", file.display()));
        return Ok(file);
    }
    let folder = folder_of("wasm-bindgen", wanted).join("bin");
    let file = program(&folder, "wasm-bindgen");
    if fits(&file) {
        say(format_args!(
            "wasm-bindgen {wanted}: already under target/tools"
        ));
    } else {
        // Not --locked: its lock file names versions that a mirror may not have yet.
        cargo_install("wasm-bindgen-cli", wanted, |cargo| {
            cargo.args(["--no-default-features", "--bin", "wasm-bindgen"]);
        })?;
    }
    folders.push(folder);
    Ok(file)
}

fn wasm_split() -> Result<PathBuf> {
    // It tells no version, so only the one that is installed here is known to fit.
    let file = program(
        &folder_of("wasm-split", WASM_SPLIT).join("bin"),
        "wasm-split-cli",
    );
    if file.is_file() {
        say(format_args!(
            "wasm-split {WASM_SPLIT}: already under target/tools"
        ));
    } else {
        cargo_install("wasm_split_cli_support", WASM_SPLIT, |cargo| {
            cargo.args(["--features", "build-binary"]);
        })?;
    }
    Ok(file)
}

/// Finds or installs wasm-opt; nothing when it is not to be had here, and the page is built without it.
fn wasm_opt() -> Result<Option<PathBuf>> {
    let fits = |file: &Path| {
        let version = version_of(file, 2).and_then(|text| text.parse::<u32>().ok());
        version.is_some_and(|found| found >= OLDEST_WASM_OPT)
    };
    if let Some(file) = on_path("wasm-opt").filter(|file| fits(file)) {
        say(format_args!("wasm-opt: using {}", file.display()));
        return Ok(Some(file));
    }
    let folder = folder_of("binaryen", BINARYEN);
    let file = folder.join("node_modules/.bin").join(if cfg!(windows) {
        "wasm-opt.cmd"
    } else {
        "wasm-opt"
    });
    if fits(&file) {
        say(format_args!(
            "wasm-opt {}: already under target/tools",
            BINARYEN.0
        ));
        return Ok(Some(file));
    }
    let installed = match on_path("npm") {
        Some(npm) => run(command(npm)
            .args(["install", "--no-save", "--no-package-lock", "--no-audit"])
            .args(["--no-fund", "--prefix"])
            .arg(&folder)
            .arg(format!("binaryen@{BINARYEN}"))),
        None => fail("npm, which would bring it, is not on the PATH"),
    };
    match installed {
        Ok(()) if fits(&file) => {
            return Ok(Some(file));
        }
        Ok(()) => say(format_args!("wasm-opt: {} does not run", file.display())),
        Err(failure) => say(format_args!("wasm-opt: {failure}")),
    }
    // The page works without it, so a machine without npm can still build one.
    say("wasm-opt: going on without it; the page will be larger than it has to be");
    Ok(None)
}

/// The script of axe-core, where it is already there.
pub fn axe_script() -> PathBuf {
    folder_of("axe-core", AXE)
        .join("node_modules")
        .join("axe-core")
        .join("axe.min.js")
}

/// Finds or installs axe-core.
pub fn axe() -> Result<PathBuf> {
    let script = axe_script();
    if script.is_file() {
        say(format_args!("axe-core {AXE}: already under target/tools"));
        return Ok(script);
    }
    let Some(npm) = on_path("npm") else {
        return fail("npm, which would bring axe-core, is not on the PATH");
    };
    run(command(npm)
        .args(["install", "--no-save", "--no-package-lock", "--no-audit"])
        .args(["--no-fund", "--prefix"])
        .arg(folder_of("axe-core", AXE))
        .arg(format!("axe-core@{AXE}")))?;
    Ok(script)
}

/// Installs a package's programs under `target/tools/NAME-VERSION`.
fn cargo_install(
    package: &str,
    version: Version,
    options: impl FnOnce(&mut Command),
) -> Result<()> {
    let name = package
        .trim_end_matches("-cli")
        .trim_end_matches("_cli_support")
        .replace('_', "-");
    say(format_args!(
        "{package} {version}: installing under target/tools (once; takes a few minutes)"
    ));
    let mut install = cargo();
    install
        .args([
            "install",
            package,
            "--version",
            &format!("={version}"),
            "--force",
            "--root",
        ])
        .arg(folder_of(&name, version))
        .arg("--target-dir")
        .arg(build_dir());
    options(&mut install);
    fast_build(&mut install);
    // A crate that needs a newer compiler than this one is passed over for an older release of it.
    install.env("CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS", "fallback");
    run(&mut install)
}

/// A build that is quick to make: these tools run for seconds, so an optimised build costs more than it saves.
fn fast_build(install: &mut Command) {
    install
        .arg("--debug")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_INCREMENTAL", "false");
}

/// The version of `package` in the text of a Cargo.lock.
fn locked_version(lock: &str, package: &str) -> Option<Version> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    let version = lines.next()?.strip_prefix("version = \"")?;
    Version::parse(version.strip_suffix('"')?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_tells_the_version_of_exactly_the_package_asked_for() {
        let lock = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.99\"\n";
        assert_eq!(
            locked_version(lock, "wasm-bindgen"),
            Some(Version(0, 2, 99))
        );
        assert_eq!(locked_version(lock, "wasm"), None);
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(Version::parse("0.21.9") < Version::parse("0.21.14"));
        assert_eq!(Version::parse("0.22.0-beta.1"), Some(Version(0, 22, 0)));
        assert_eq!(Version::parse("132"), None);
    }
}
