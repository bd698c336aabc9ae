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
