//! Writes what was fitted, touching a file only when it changes.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Serialize;

/// A file that could not be written.
#[derive(Debug)]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for WriteError {}

/// Writes `value` as indented JSON with a line end at the end of the file. Whether the file
/// changed.
///
/// # Errors
/// When the file cannot be written, or the value holds what JSON cannot (a map with keys that
/// are not text).
pub fn json<T: Serialize>(path: &Path, value: &T) -> Result<bool, WriteError> {
    let text = serde_json::to_string_pretty(value).map_err(|e| WriteError {
        path: path.to_owned(),
        error: e.into(),
    })?;
    self::text(path, &(text + "\n"))
}

/// Writes `text` where it differs from what the file holds. Whether it did.
///
/// # Errors
/// When the file cannot be written.
pub fn text(path: &Path, text: &str) -> Result<bool, WriteError> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    let wrap = |error| WriteError {
        path: path.to_owned(),
        error,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(wrap)?;
    }
    fs::write(path, text).map_err(wrap)?;
    Ok(true)
}

/// Puts `text` between the lines `<!-- NAME: begin -->` and `<!-- NAME: end -->` of a file that
/// has them; another stays as it is.
///
/// # Errors
/// When the file cannot be written.
pub fn between_markers(path: &Path, name: &str, text: &str) -> Result<(), WriteError> {
    if let Ok(old) = fs::read_to_string(path)
        && let Some(new) = replaced(&old, name, text)
    {
        self::text(path, &new)?;
    }
    Ok(())
}

/// `page` with `text` between its markers of that name, or `None` where it has none.
pub fn replaced(page: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (
        format!("<!-- {name}: begin -->"),
        format!("<!-- {name}: end -->"),
    );
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!(
        "{before}{begin}\n\n{}\n\n{end}{after}",
        text.trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_markers_is_replaced_and_the_rest_kept() {
        let page = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n";
        let new = replaced(page, "x", "new\n").unwrap_or_default();
        assert_eq!(new, "a\n<!-- x: begin -->\n\nnew\n\n<!-- x: end -->\nb\n");
        // Once more changes nothing.
        assert_eq!(replaced(&new, "x", "new\n"), Some(new));
        assert_eq!(replaced(page, "y", "new"), None);
        assert_eq!(
            replaced("<!-- x: end --><!-- x: begin -->", "x", "new"),
            None
        );
    }
}
