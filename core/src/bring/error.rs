//! Why a model could not be read.

use serde::Serialize;

use crate::text::{Lang, text};

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}", self.message(Lang::En))]
pub struct BringError {
    /// What is wrong.
    pub kind: BringErrorKind,
    /// Path of the field, as it stands in the file.
    pub field: String,
    /// What was given, at most 40 characters, or the place.
    pub given: String,
    /// What would do: a bound, a type.
    pub expected: String,
}

/// What is wrong with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BringErrorKind {
    /// Longer than what is read.
    TooLong,
    /// Neither text nor a known binary file.
    NotText,
    /// Not JSON.
    NotJson,
    /// JSON that ends before it is complete.
    Unfinished,
    /// JSON, but no object.
    NotAnObject,
    /// A field without which nothing can be said.
    Missing,
    /// A field of another type.
    WrongType,
    /// Below the least value.
    TooSmall,
    /// Above the largest value.
    TooLarge,
    /// Has a fraction.
    NotWhole,
    /// A list of another length than the layers.
    ListLength,
    /// A network that is no language model.
    NotLanguage,
    /// Does not go with another field.
    Conflict,
    /// A word that is not known.
    UnknownWord,
    /// The file goes on after what was read.
    Truncated,
    /// A version that is not known.
    UnknownVersion,
    /// More parameters than any model that is computed.
    ModelTooLarge,
}

impl BringErrorKind {
    const fn key(self) -> &'static str {
        match self {
            Self::TooLong => "bring.error.too_long",
            Self::NotText => "bring.error.not_text",
            Self::NotJson => "bring.error.not_json",
            Self::Unfinished => "bring.error.unfinished",
            Self::NotAnObject => "bring.error.not_an_object",
            Self::Missing => "bring.error.missing",
            Self::WrongType => "bring.error.wrong_type",
            Self::TooSmall => "bring.error.too_small",
            Self::TooLarge => "bring.error.too_large",
            Self::NotWhole => "bring.error.not_whole",
            Self::ListLength => "bring.error.list_length",
            Self::NotLanguage => "bring.error.not_language",
            Self::Conflict => "bring.error.conflict",
            Self::UnknownWord => "bring.error.unknown_word",
            Self::Truncated => "bring.error.truncated",
            Self::UnknownVersion => "bring.error.unknown_version",
            Self::ModelTooLarge => "bring.error.model_too_large",
        }
    }
}

impl BringError {
    /// An error of `field`, where `given` was given.
    pub(super) fn of(kind: BringErrorKind, field: &str, given: &str) -> Self {
        let shown: String = given.chars().filter(|c| !c.is_control()).take(40).collect();
        Self {
            kind,
            field: field.to_owned(),
            given: shown,
            expected: String::new(),
        }
    }

    /// The same, saying what would do.
    pub(super) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = expected.into();
        self
    }

    /// The same error of a configuration that stands in the field `inside` of another.
    pub(super) fn within(mut self, inside: &str) -> Self {
        self.field = format!("{inside}.{}", self.field);
        self
    }

    /// The error in words, with the field's name.
    pub fn message(&self, lang: Lang) -> String {
        // A type is a word of the reader's language; a value is as it was given.
        let of_type = |word: &str| match type_key(word) {
            Some(key) => text(lang, key, &[]),
            None => word.to_owned(),
        };
        let (given, expected) = match self.kind {
            BringErrorKind::WrongType => (self.given.clone(), of_type(&self.expected)),
            BringErrorKind::NotAnObject => (of_type(&self.given), String::new()),
            _ => (self.given.clone(), self.expected.clone()),
        };
        text(
            lang,
            self.kind.key(),
            &[
                ("field", &self.field),
                ("given", &given),
                ("expected", &expected),
            ],
        )
    }
}

/// Key of the text for a type that [`super::source::kind_of`] names.
fn type_key(word: &str) -> Option<&'static str> {
    Some(match word {
        "null" => "bring.type.null",
        "true/false" => "bring.type.flag",
        "number" => "bring.type.number",
        "text" => "bring.type.text",
        "list" => "bring.type.list",
        "object" => "bring.type.object",
        _ => return None,
    })
}
