//! What a visitor's browser has to load: every file compressed beside itself, and a report with a budget.

use crate::run::{Failure, Result, fail, say};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The most that the first answer may weigh in brotli, in bytes: what index.html names, and the scripts that those name.
pub const FIRST_ANSWER_BUDGET_BYTES: u64 = 460_000;
/// How the parts with the texts of a language are named, before the language. A visitor loads one of them at first.
pub const TEXTS_PART: &str = "part-texts_";
/// Smaller files gain less than the header of an encoding costs.
const WORTH_PACKING_BYTES: usize = 512;
/// Types that are not compressed already.
const PACKED: [&str; 9] = [
    "js",
    "wasm",
    "css",
    "html",
    "svg",
    "json",
    "csv",
    "txt",
    "webmanifest",
];

/// One file of the built page.
#[derive(Debug)]
struct Part {
    name: String,
    bytes: u64,
    packed_bytes: u64,
    /// Whether the first answer needs it.
    first: bool,
}

/// Writes `FILE.br` and `FILE.gz` beside every file of `dist` that gains by it.
pub fn pack(dist: &Path) -> Result<()> {
    for file in files(dist)? {
        let kind = file.extension().and_then(|kind| kind.to_str());
        let content = read(&file)?;
        if content.len() < WORTH_PACKING_BYTES || !kind.is_some_and(|kind| PACKED.contains(&kind)) {
            continue;
        }
        write(&with_suffix(&file, ".br"), &brotli(&content)?)?;
        write(&with_suffix(&file, ".gz"), &gzip(&content)?)?;
    }
    Ok(())
}

/// Says what the first answer weighs and what is loaded later.
///
/// # Errors
///
/// A first answer above [`FIRST_ANSWER_BUDGET_BYTES`].
pub fn report(dist: &Path) -> Result<()> {
    let parts = parts(dist)?;
    let total = |first: bool| -> u64 {
        let parts = parts.iter().filter(|part| part.first == first);
        parts.map(|part| part.packed_bytes).sum()
    };
    for (first, title) in [(true, "first answer"), (false, "later, when wanted")] {
        say(format_args!(
            "{title}: {:.1} kB in brotli",
            kilobytes(total(first))
        ));
        for part in parts.iter().filter(|part| part.first == first) {
            say(format_args!(
                "  {:>8.1} kB {:>8.1} kB  {}",
                kilobytes(part.packed_bytes),
                kilobytes(part.bytes),
                part.name
            ));
        }
    }
    if !parts
        .iter()
        .any(|part| part.first && part.name.ends_with(".wasm"))
    {
        return fail("the built page starts no WebAssembly program");
    }
    if total(true) > FIRST_ANSWER_BUDGET_BYTES {
        return fail(format!(
            "the first answer weighs {:.1} kB, more than its budget of {:.1} kB (xtask/src/sizes.rs)",
            kilobytes(total(true)),
            kilobytes(FIRST_ANSWER_BUDGET_BYTES)
        ));
    }
    Ok(())
}

fn kilobytes(bytes: u64) -> f64 {
    bytes as f64 / 1000.0
}

/// The files at the top of `dist`, heaviest first. A file is of the first answer when index.html names it, or a script
/// of the first answer imports it at once; the start script loads all that it names.
fn parts(dist: &Path) -> Result<Vec<Part>> {
    let mut named = text(&dist.join("index.html"))?;
    let files: Vec<PathBuf> = files(dist)?
        .into_iter()
        .filter(|file| file.parent() == Some(dist))
        .collect();
    // Two rounds: index.html starts a script, and that one imports another.
    for _ in 0..2 {
        for file in files
            .iter()
            .filter(|file| file.extension().is_some_and(|kind| kind == "js"))
        {
            if named.contains(&name_of(file)) {
                let script = text(file)?;
                let starts = name_of(file).starts_with("start-");
                let imports = script
                    .lines()
                    .filter(|line| starts || line.starts_with("import "));
                named.extend(imports.flat_map(|line| [line, "\n"]));
            }
        }
    }
    let mut scripts = String::new();
    let mut parts = Vec::new();
    for file in &files {
        let name = name_of(file);
        if name.ends_with(".js") && named.contains(&name) {
            scripts.push_str(&text(file)?);
        }
        let bytes = read(file)?.len() as u64;
        let packed_bytes =
            std::fs::metadata(with_suffix(file, ".br")).map_or(bytes, |packed| packed.len());
        parts.push(Part {
            first: name == "index.html" || named.contains(&name),
            name,
            bytes,
            packed_bytes,
        });
    }
    parts.sort_by(|a, b| {
        b.packed_bytes
            .cmp(&a.packed_bytes)
            .then_with(|| a.name.cmp(&b.name))
    });
    // Of the languages, the heaviest counts, with what it shares with other parts.
    let texts = parts
        .iter_mut()
        .filter(|part| part.name.starts_with(TEXTS_PART));
    let mut shared = Vec::new();
    for (place, part) in texts.enumerate() {
        part.first = place == 0;
        if part.first {
            shared = shared_with(&scripts, &part.name);
        }
    }
    for part in &mut parts {
        part.first |= shared.contains(&part.name);
    }
    Ok(parts)
}

/// The files that are loaded together with a part, as the loader's script says: the part's address, and behind it the list
/// of what it shares, each named by a constant with an address of its own.
fn shared_with(scripts: &str, part: &str) -> Vec<String> {
    let after = |start: &str| scripts.split_once(start).map(|(_, rest)| rest);
    let list = after(part)
        .and_then(|rest| rest.split_once("}\n, ["))
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or("", |(list, _)| list);
    let names = list.split(", ").filter(|name| !name.is_empty());
    names
        .filter_map(|name| {
            let (_, address) = after(&format!("const {name} = "))?.split_once("\"./")?;
            Some(address.split_once('"')?.0.to_owned())
        })
        .collect()
}

/// Every file under `folder` that is not a compressed copy, in order of its path.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| Failure(format!("{} cannot be read: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if !path
            .extension()
            .is_some_and(|kind| kind == "br" || kind == "gz")
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Packs as a host does beforehand: as small as it goes.
pub fn brotli(content: &[u8]) -> Result<Vec<u8>> {
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 24,
        ..Default::default()
    };
    let mut packed = Vec::new();
    let mut content = content;
    brotli::BrotliCompress(&mut content, &mut packed, &parameters)
        .map_err(|error| Failure(format!("brotli failed: {error}")))?;
    Ok(packed)
}

fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let packed = encoder.write_all(content).and_then(|()| encoder.finish());
    packed.map_err(|error| Failure(format!("gzip failed: {error}")))
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn name_of(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file)
        .map_err(|error| Failure(format!("{} cannot be read: {error}", file.display())))
}

fn text(file: &Path) -> Result<String> {
    String::from_utf8(read(file)?).map_err(|_| Failure(format!("{} is not UTF-8", file.display())))
}

fn write(file: &Path, content: &[u8]) -> Result<()> {
    std::fs::write(file, content)
        .map_err(|error| Failure(format!("{} cannot be written: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_part_shares_is_read_from_the_loader() {
        let loader = r#"
const __chunk_3 = makeLoad(() => {
    const src = fetch(new URL("./part-chunk-a1.wasm", import.meta.url));
    return async (imports) => (WebAssembly.instantiateStreaming(src, imports));
}
, []);
export const __wasm_split_load_texts_en = wrapAsyncCb(makeLoad(() => {
    const src = fetch(new URL("./part-texts_en-b2.wasm", import.meta.url));
    return async (imports) => (WebAssembly.instantiateStreaming(src, imports));
}
, [__chunk_3]));
"#;
        assert_eq!(
            shared_with(loader, "part-texts_en-b2.wasm"),
            ["part-chunk-a1.wasm"]
        );
        assert!(shared_with(loader, "part-chunk-a1.wasm").is_empty());
        assert!(shared_with(loader, "part-other.wasm").is_empty());
    }

    #[test]
    fn the_first_answer_is_what_the_page_names_and_what_that_imports() {
        let dist = std::env::temp_dir().join(format!("cardfit-sizes-{}", std::process::id()));
        std::fs::create_dir_all(dist.join("embed")).unwrap();
        let put = |name: &str, content: &str| std::fs::write(dist.join(name), content).unwrap();
        put(
            "index.html",
            &format!("<script src=\"./start-1.js\"></script>{}", " ".repeat(2000)),
        );
        put(
            "start-1.js",
            "await painted();\n  const init = await import(\"./page-2.js\");\ninit(\"./page-2.wasm\");",
        );
        put("page-2.js", "import * as parts from \"./parts-3.js\";");
        put("parts-3.js", "fetch(\"./part-4.wasm\")");
        put("part-4.wasm", "later");
        put("embed/index.html", "page-2.js");
        pack(&dist).unwrap();
        let parts = parts(&dist).unwrap();
        std::fs::remove_dir_all(&dist).unwrap();
        let first: Vec<_> = parts
            .iter()
            .filter(|p| p.first)
            .map(|p| p.name.as_str())
            .collect();
        assert_eq!(first.len(), 4, "{first:?}");
        assert!(!first.contains(&"part-4.wasm"));
        let index = parts.iter().find(|p| p.name == "index.html").unwrap();
        assert!(index.packed_bytes < 100 && index.bytes > 2000);
    }
}
