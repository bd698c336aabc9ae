//! Makes the built page one that works without a network: a service worker that holds exactly the files of this build.

use crate::run::{Failure, Result, root};
use crate::sizes;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

/// Writes the service worker and the script that registers it. Comes after everything else that changes `dist`, but for
/// the compressed copies.
pub fn write(dist: &Path) -> Result<()> {
    let script = read(&root().join("page/offline.js"))?;
    let name = format!("offline-{:016x}.js", hash([script.as_bytes()]));
    save(&dist.join(&name), &script)?;
    let index = dist.join("index.html");
    let html = read(&index)?.replacen(
        "</head>",
        &format!("<script type=\"module\" src=\"./{name}\"></script></head>"),
        1,
    );
    save(&index, &html)?;

    let files: Vec<_> = sizes::files(dist)?
        .into_iter()
        .filter(|file| file.parent() == Some(dist))
        .collect();
    let mut contents = Vec::new();
    let mut names = Vec::new();
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        names.push(match name.as_ref() {
            "index.html" => "./".to_owned(),
            "sw.js" => continue,
            other => format!("./{other}"),
        });
        contents.push(
            std::fs::read(file)
                .map_err(|error| Failure(format!("{} cannot be read: {error}", file.display())))?,
        );
    }
    let version = hash(contents.iter().map(Vec::as_slice));
    let worker = worker(&read(&root().join("page/sw.js"))?, version, &names)?;
    save(&dist.join("sw.js"), &worker)
}

/// The worker with its two constants filled in.
fn worker(template: &str, version: u64, files: &[String]) -> Result<String> {
    const VERSION: &str = "VERSION_OF_BUILD";
    const FILES: &str = "[\"FILES_OF_BUILD\"]";
    if !template.contains(VERSION) || !template.contains(FILES) {
        return Err(Failure(
            "page/sw.js has no place for its version and files".to_owned(),
        ));
    }
    let quoted: Vec<String> = files.iter().map(|file| format!("\"{file}\"")).collect();
    Ok(template
        .replace(VERSION, &format!("{version:016x}"))
        .replace(FILES, &format!("[{}]", quoted.join(", "))))
}

fn hash<'a>(contents: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for content in contents {
        hasher.write(content);
    }
    hasher.finish()
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure(format!("{} cannot be read: {error}", file.display())))
}

fn save(file: &Path, content: &str) -> Result<()> {
    std::fs::write(file, content)
        .map_err(|error| Failure(format!("{} cannot be written: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_holds_the_files_of_its_build_and_no_other_build_has_its_version() {
        let template = read(&root().join("page/sw.js")).unwrap();
        let files = ["./".to_owned(), "./main-1.css".to_owned()];
        let one = worker(&template, hash([&b"a"[..]]), &files).unwrap();
        let two = worker(&template, hash([&b"b"[..]]), &files).unwrap();
        assert!(one.contains("const FILES = [\"./\", \"./main-1.css\"];"));
        assert_ne!(one, two);
        assert!(worker("nothing to fill in", 1, &files).is_err());
    }
}
