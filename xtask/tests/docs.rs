//! What the documents name exists, and what exists beside them is named: paths, links, commands of tests, dependencies.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use xtask::run::root;

/// The documents, by path from the repository's root.
fn documents() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ["README.md", "README.zh-CN.md", "CONTRIBUTING.md"]
        .map(PathBuf::from)
        .to_vec();
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let pages = docs.map(|entry| entry.unwrap().path());
    all.extend(
        pages
            .filter(|path| path.extension().is_some_and(|e| e == "md"))
            .map(|path| path.strip_prefix(root()).unwrap().to_owned()),
    );
    all
}

fn text_of(document: &Path) -> String {
    fs::read_to_string(root().join(document)).unwrap()
}

/// What stands between backticks outside blocks of code.
fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// The folders whose names begin paths of the repository.
const FOLDERS: [&str; 10] = [
    "core/",
    "cli/",
    "headless/",
    "embed/",
    "page/",
    "calibrate/",
    "browser-tests/",
    "fuzz/",
    "xtask/",
    "docs/",
];

#[test]
fn paths_that_documents_name_exist() {
    let mut missing = Vec::new();
    for document in documents() {
        let text = text_of(&document);
        for path in quoted(&text) {
            let is_path =
                FOLDERS.iter().any(|folder| path.starts_with(folder)) && !path.contains(' ');
            // Served names, and patterns that stand for many files.
            let made = [
                "embed/index.html",
                "embed/v1.js",
                "embed/feed.schema.json",
                "embed/guide.txt",
            ]
            .contains(&path);
            let upper = path
                .split('/')
                .any(|part| part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase()));
            if !is_path || made || upper || path.contains(['{', '<', '…']) {
                continue;
            }
            let there = match path.split_once('*') {
                Some((before, _)) => before
                    .rsplit_once('/')
                    .is_some_and(|(dir, _)| root().join(dir).is_dir()),
                None => root().join(path).exists(),
            };
            if !there {
                missing.push(format!("{}: `{path}`", document.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut missing = Vec::new();
    for document in documents() {
        let text = text_of(&document);
        for rest in text.split("](").skip(1) {
            let link = rest.split(')').next().unwrap_or_default();
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let target = if file.is_empty() {
                root().join(&document)
            } else {
                root().join(document.parent().unwrap()).join(file)
            };
            let has_heading = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                text.lines()
                    .any(|line| line.starts_with('#') && anchor_of(line) == anchor)
            };
            if !target.exists() || !(anchor.is_empty() || has_heading()) {
                missing.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The anchor that a heading gets where documents are shown.
fn anchor_of(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    words
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn tests_that_documents_name_exist() {
    let mut missing = Vec::new();
    for document in documents() {
        for command in quoted(&text_of(&document)) {
            let mut words = command
                .split_whitespace()
                .skip_while(|word| *word != "test");
            if !command.contains("cargo test") || words.next().is_none() {
                continue;
            }
            let words: Vec<&str> = words.collect();
            let after = |flag: &str| {
                let at = words.iter().position(|word| *word == flag)?;
                words.get(at + 1).copied()
            };
            let package = match after("-p") {
                Some("cardfit") => "core",
                Some("cardfit-fuzz") => "fuzz",
                Some("cardfit-cli") => "cli",
                Some(other) => other,
                None => continue,
            };
            if let Some(test) = after("--test") {
                let tests = root().join(package).join("tests");
                if !tests.join(format!("{test}.rs")).exists()
                    && !tests.join(test).join("main.rs").exists()
                {
                    missing.push(format!("{}: {command}", document.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// What the crates of the workspace depend on directly, without each other.
fn dependencies() -> BTreeSet<String> {
    let workspace = text_of(Path::new("Cargo.toml"));
    let (_, members) = workspace.split_once("members = [").unwrap();
    let (members, _) = members.split_once(']').unwrap();
    let mut all = BTreeSet::new();
    for member in members.split(',') {
        let member = member.trim().trim_matches('"');
        let manifest = text_of(&Path::new(member).join("Cargo.toml"));
        let mut within = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                within = line.trim_matches(['[', ']']).ends_with("dependencies");
            } else if let (true, Some((name, _))) = (within, line.split_once('=')) {
                let name = name.trim().split('.').next().unwrap_or_default();
                if !name.starts_with(['#', '"', ' ']) && !line.starts_with(' ') {
                    all.insert(name.to_owned());
                }
            }
        }
    }
    let own = [
        "cardfit",
        "cardfit-cli",
        "cardfit-page",
        "xtask",
        "browser-tests",
    ];
    all.retain(|name| !own.contains(&name.as_str()) && !name.starts_with("cardfit-"));
    all
}

/// Crates in the first column of the table of docs/dependencies.md, with what each is for.
fn justified() -> Vec<(String, String)> {
    let text = text_of(Path::new("docs/dependencies.md"));
    let rows = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| crate"));
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let reason = cells.get(3).copied().unwrap_or_default().to_owned();
        let names = cells.get(1).copied().unwrap_or_default().split(", ");
        names
            .map(|name| (name.trim_matches('`').to_owned(), reason.clone()))
            .collect::<Vec<_>>()
    })
    .filter(|(name, _)| !name.starts_with('-'))
    .collect()
}

#[test]
fn every_dependency_is_justified_and_nothing_else() {
    let justified = justified();
    let named: BTreeSet<String> = justified.iter().map(|(name, _)| name.clone()).collect();
    let used = dependencies();
    assert!(used.len() > 10, "{used:?}");
    let unexplained: Vec<_> = used.difference(&named).collect();
    assert!(
        unexplained.is_empty(),
        "docs/dependencies.md lacks {unexplained:?}"
    );
    let gone: Vec<_> = named.difference(&used).collect();
    assert!(
        gone.is_empty(),
        "docs/dependencies.md names {gone:?}, which nothing uses"
    );
    for (name, reason) in justified {
        assert!(reason.len() > 10, "{name}: no reason");
    }
}

#[test]
fn headings_become_anchors_as_documents_are_shown() {
    assert_eq!(anchor_of("### To add a card"), "to-add-a-card");
    assert_eq!(anchor_of("## What \"fits\" promises"), "what-fits-promises");
}
