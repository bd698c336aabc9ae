//! No style or script uses what engines of 2022 lack, but for comforts that have a fallback: docs/robustness.md names them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use xtask::run::root;

/// What came after Chrome 97, Firefox 102 or Safari 16, with the files in which it has a fallback.
const NEWER: [(&str, &[&str]); 23] = [
    ("content-visibility", &["page/style/main.css"]),
    ("@container", &["page/style/embed.css"]),
    ("color-mix(", &["page/style/embed.css"]),
    (":has(", &["page/style/models.css"]),
    ("@layer", &[]),
    ("@scope", &[]),
    ("@starting-style", &[]),
    ("@property", &[]),
    ("light-dark(", &[]),
    ("oklch(", &[]),
    ("text-wrap", &[]),
    ("field-sizing", &[]),
    ("subgrid", &[]),
    ("anchor-name", &[]),
    ("dvh", &[]),
    ("svh", &[]),
    ("[popover", &[]),
    ("showPopover", &[]),
    ("startViewTransition", &[]),
    ("Promise.withResolvers", &[]),
    ("Object.groupBy", &[]),
    (".toSorted(", &[]),
    ("Set.prototype.union", &[]),
];

fn files(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|e| endings.iter().any(|end| e == *end))
        })
        .collect()
}

fn name(file: &Path) -> String {
    file.strip_prefix(root()).unwrap().display().to_string()
}

#[test]
fn styles_and_scripts_run_in_engines_of_2022() {
    let mut all = files("page/style", &["css"]);
    all.extend(files("page", &["js", "html"]));
    all.extend(files("embed", &["js"]));
    assert!(all.len() > 12);
    for file in all {
        let text = fs::read_to_string(&file).unwrap();
        let name = name(&file);
        for (feature, allowed) in NEWER {
            let used = text.contains(feature);
            assert!(
                !used || allowed.contains(&name.as_str()),
                "{name} uses {feature}"
            );
        }
        if name.ends_with(".css") {
            let nested = text.lines().find(|line| line.trim_start().starts_with('&'));
            assert_eq!(nested, None, "{name}: rules inside rules came in 2023");
        }
    }
}

#[test]
fn what_tells_of_old_engines_is_written_in_old_words() {
    let text = fs::read_to_string(root().join("page/start-check.js")).unwrap();
    for word in ["=>", "const ", "let ", "`", "?.", "??", "import ", "await "] {
        let used = text
            .lines()
            .find(|line| !line.starts_with("//") && line.contains(word));
        assert_eq!(used, None, "{word}");
    }
}
