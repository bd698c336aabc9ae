//! The browser for the page's tests, with the driver that fits it: found on this machine, or installed from the
//! distribution where that can be done without asking.

use crate::run::{Result, cargo, command, fail, on_path, output, run, say};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable with the browser's program file: read by the browser tests, and by [`find`] as a choice.
pub const BROWSER: &str = "CARDFIT_BROWSER";
/// The environment variable with the driver's program file.
pub const DRIVER: &str = "CARDFIT_DRIVER";

/// A browser and its WebDriver server, of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browser {
    /// The browser's program file.
    pub browser: PathBuf,
    /// The driver's program file.
    pub driver: PathBuf,
}

/// Finds a browser with its driver, installing both on Debian and Ubuntu as root when there is none.
pub fn prepare() -> Result<Browser> {
    let apt = debian_family().filter(|_| is_root() && on_path("apt-get").is_some());
    let mut missing = Vec::new();
    let found = find();
    if found.is_none() {
        missing.extend(apt.map_or([].as_slice(), |family| family.packages()));
    }
    if !has_chinese_font() {
        match apt {
            Some(_) => missing.push("fonts-noto-cjk"),
            None => say("no font with Chinese characters was found: screenshots will show boxes"),
        }
    }
    if !missing.is_empty() {
        run(apt_get().arg("update"))?;
        run(apt_get()
            .args(["install", "--yes", "--no-install-recommends"])
            .args(&missing))?;
    }
    match found.or_else(find) {
        Some(pair) => {
            say(format_args!("browser: {}", pair.browser.display()));
            say(format_args!("driver: {}", pair.driver.display()));
            Ok(pair)
        }
        None => fail(format!(
            "no browser with a driver of the same version was found: install Chromium, Chrome or Edge and its chromedriver or msedgedriver, on the PATH or named by {BROWSER} and {DRIVER}"
        )),
    }
}

/// The first browser on this machine for which a driver of the same major version is there as well.
pub fn find() -> Option<Browser> {
    if let (Some(browser), Some(driver)) = (std::env::var_os(BROWSER), std::env::var_os(DRIVER)) {
        return Some(Browser {
            browser: browser.into(),
            driver: driver.into(),
        });
    }
    let chrome_drivers = drivers("chromedriver", "CHROMEWEBDRIVER");
    let edge_drivers = drivers("msedgedriver", "EDGEWEBDRIVER");
    let chrome = browsers(CHROME_NAMES, CHROME_FILES);
    let edge = browsers(EDGE_NAMES, EDGE_FILES);
    let pairs = chrome
        .iter()
        .flat_map(|browser| chrome_drivers.iter().map(move |driver| (browser, driver)));
    let edge_pairs = edge
        .iter()
        .flat_map(|browser| edge_drivers.iter().map(move |driver| (browser, driver)));
    pairs
        .chain(edge_pairs)
        .find(|(browser, driver)| same_major(browser, driver))
        .map(|(browser, driver)| Browser {
            browser: browser.clone(),
            driver: driver.clone(),
        })
}

/// The environment variable with Firefox's program file.
pub const FIREFOX: &str = "CARDFIT_FIREFOX";
/// The environment variable with geckodriver's program file.
pub const GECKODRIVER: &str = "CARDFIT_GECKODRIVER";

/// Firefox and geckodriver, where both are on this machine. Their versions need not be the same.
pub fn find_firefox() -> Option<Browser> {
    let named = |variable, names: &[&str]| {
        std::env::var_os(variable)
            .map(PathBuf::from)
            .or_else(|| names.iter().find_map(|name| on_path(name)))
    };
    Some(Browser {
        browser: named(FIREFOX, &["firefox", "firefox-esr"])?,
        driver: named(GECKODRIVER, &["geckodriver"])?,
    })
}

/// Finds Firefox with geckodriver, installing what is missing where that can be done without asking: Firefox from the
/// distribution, geckodriver with cargo. `None`, with a message, where it cannot.
pub fn prepare_firefox(tools: &Path) -> Result<Option<Browser>> {
    if let Some(pair) = find_firefox() {
        return Ok(Some(pair));
    }
    let firefox = || on_path("firefox").or_else(|| on_path("firefox-esr"));
    let installable =
        debian_family() == Some(Family::Debian) && is_root() && on_path("apt-get").is_some();
    if firefox().is_none() && installable {
        let _unreachable = run(apt_get().arg("update"));
        let _missing =
            run(apt_get().args(["install", "--yes", "--no-install-recommends", "firefox-esr"]));
    }
    let driver = tools.join("bin").join("geckodriver");
    if firefox().is_some() && on_path("geckodriver").is_none() && !driver.exists() {
        let _unreachable = run(cargo()
            .args(["install", "geckodriver", "--locked", "--root"])
            .arg(tools));
    }
    let pair = find_firefox().or_else(|| {
        Some(Browser {
            browser: firefox()?,
            driver: Some(driver).filter(|driver| driver.exists())?,
        })
    });
    if pair.is_none() {
        say(format_args!(
            "skipped: Firefox and geckodriver are not here and could not be installed; install both, or name them in {FIREFOX} and {GECKODRIVER}"
        ));
    }
    Ok(pair)
}

const CHROME_NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
const CHROME_FILES: &[&str] = &[
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
];
const EDGE_NAMES: &[&str] = &["microsoft-edge", "microsoft-edge-stable"];
const EDGE_FILES: &[&str] = &[
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
];

fn browsers(names: &[&str], files: &[&str]) -> Vec<PathBuf> {
    let named = names.iter().filter_map(|name| on_path(name));
    let usual = files
        .iter()
        .map(PathBuf::from)
        .filter(|file| file.is_file());
    named.chain(usual).collect()
}

/// The drivers called `name`: on the PATH, or in the folder that a hosted build machine names in `variable`.
fn drivers(name: &str, variable: &str) -> Vec<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let hosted = std::env::var_os(variable).map(|folder| Path::new(&folder).join(file));
    let hosted = hosted.filter(|file| file.is_file());
    on_path(name).into_iter().chain(hosted).collect()
}

fn same_major(browser: &Path, driver: &Path) -> bool {
    let Some(driver) = output(command(driver).arg("--version")).and_then(|text| major(&text))
    else {
        return false;
    };
    match output(command(browser).arg("--version")).and_then(|text| major(&text)) {
        Some(browser) => browser == driver,
        // On Windows the browser opens a window instead of printing; the driver then says itself if it does not fit.
        None => cfg!(windows),
    }
}

/// The major version in what a browser or driver prints, such as `Chromium 156.0.8078.73 built on Debian`.
fn major(text: &str) -> Option<u32> {
    text.split_whitespace()
        .filter_map(|word| word.split_once('.'))
        .find_map(|(number, _)| number.parse().ok())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Debian,
    Ubuntu,
}

impl Family {
    fn packages(self) -> &'static [&'static str] {
        match self {
            Family::Debian => &["chromium", "chromium-driver"],
            Family::Ubuntu => &["chromium-browser", "chromium-chromedriver"],
        }
    }
}

fn debian_family() -> Option<Family> {
    family(&std::fs::read_to_string("/etc/os-release").ok()?)
}

/// Which family of distributions the text of /etc/os-release names.
fn family(os_release: &str) -> Option<Family> {
    let names: Vec<&str> = os_release
        .lines()
        .filter_map(|line| line.split_once('='))
        .filter(|(key, _)| matches!(*key, "ID" | "ID_LIKE"))
        .flat_map(|(_, value)| value.trim_matches('"').split(' '))
        .collect();
    if names.contains(&"ubuntu") {
        Some(Family::Ubuntu)
    } else {
        names.contains(&"debian").then_some(Family::Debian)
    }
}

fn is_root() -> bool {
    output(command("id").arg("-u")).is_some_and(|text| text.trim() == "0")
}

/// Whether a font with Chinese characters is there; where nothing can tell, it is taken to be.
fn has_chinese_font() -> bool {
    match on_path("fc-list") {
        Some(_) => {
            output(command("fc-list").arg(":lang=zh-cn")).is_none_or(|text| !text.trim().is_empty())
        }
        None => !cfg!(target_os = "linux"),
    }
}

fn apt_get() -> Command {
    let mut command = command("apt-get");
    command
        .arg("--quiet")
        .env("DEBIAN_FRONTEND", "noninteractive");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_what_the_programs_print() {
        assert_eq!(
            major("Chromium 156.0.8078.73 built on Debian GNU/Linux 12"),
            Some(156)
        );
        assert_eq!(
            major("ChromeDriver 131.0.6778.85 (3d81e41b6f3a)"),
            Some(131)
        );
        assert_eq!(major("Microsoft Edge 130.0.2849.80 "), Some(130));
        assert_eq!(major("no version"), None);
    }

    #[test]
    fn derivatives_are_known_by_what_they_are_like() {
        assert_eq!(
            family("ID=debian\nVERSION_ID=\"12\"\n"),
            Some(Family::Debian)
        );
        assert_eq!(
            family("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"),
            Some(Family::Ubuntu)
        );
        assert_eq!(family("ID=fedora\n"), None);
    }
}
