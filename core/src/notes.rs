//! Notes of the data files, in the reader's language. The files hold them in English; `core/data/notes.zh-CN.json` holds
//! each sentence once more in Chinese, by its English wording, and a test holds the two together.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::text::Lang;

fn chinese() -> &'static HashMap<String, String> {
    static WORDS: OnceLock<HashMap<String, String>> = OnceLock::new();
    // A test reads the file; were it ever broken, notes would stay in English.
    WORDS.get_or_init(|| {
        serde_json::from_str(include_str!("../data/notes.zh-CN.json")).unwrap_or_default()
    })
}

/// Sentences of a note, without their full stops.
fn sentences(note: &str) -> impl Iterator<Item = &str> {
    note.split(". ")
        .map(|sentence| sentence.trim().trim_end_matches('.'))
        .filter(|sentence| !sentence.is_empty())
}

/// A note of whole sentences.
pub fn note_in(lang: Lang, note: &str) -> String {
    match lang {
        Lang::En => note.to_owned(),
        Lang::ZhCn => sentences(note)
            .map(|sentence| format!("{}。", phrase_in(lang, sentence)))
            .collect(),
    }
}

/// A name or a phrase of a data file: a source, a licence. What is a name everywhere stays.
pub fn phrase_in(lang: Lang, phrase: &str) -> &str {
    match lang {
        Lang::En => phrase,
        Lang::ZhCn => chinese().get(phrase).map_or(phrase, String::as_str),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::measured::{INFERENCE_CSV, MeasuredFile, TRAINING_CSV};

    /// Notes of the data files that are shown.
    fn notes() -> Vec<&'static str> {
        let catalog = Catalog::embedded();
        let cards = catalog.cards.iter().filter_map(|c| c.notes.as_deref());
        let models = catalog.models.iter().filter_map(|m| m.notes.as_deref());
        let diffusion = catalog.diffusion.iter().filter_map(|m| m.notes.as_deref());
        let networks = catalog.networks.iter().filter_map(|m| m.notes.as_deref());
        cards
            .chain(models)
            .chain(diffusion)
            .chain(networks)
            .collect()
    }

    #[test]
    fn every_note_is_said_in_chinese() {
        let missing: Vec<&str> = notes()
            .into_iter()
            .flat_map(sentences)
            .filter(|sentence| !chinese().contains_key(*sentence))
            .collect();
        assert!(
            missing.is_empty(),
            "core/data/notes.zh-CN.json lacks {missing:#?}"
        );
        assert!(notes().len() > 100);
    }

    /// Four words in a row: a title, where fewer are names.
    fn is_prose(source: &str) -> bool {
        let mut run = 0;
        source.split(' ').any(|word| {
            let bare = word.trim_start_matches('(').trim_end_matches([',', ')']);
            let is_word = bare.chars().all(|c| c.is_alphabetic() || c == '-') && bare.len() > 1;
            run = if is_word { run + 1 } else { 0 };
            run > 3
        })
    }

    #[test]
    fn every_title_of_a_source_is_said_in_chinese() {
        let sources = [TRAINING_CSV, INFERENCE_CSV].map(MeasuredFile::parse);
        let sources: std::collections::BTreeSet<String> = sources
            .into_iter()
            .flat_map(|file| match file.expect("a shipped file") {
                MeasuredFile::Training(rows) => rows.into_iter().map(|r| r.source).collect(),
                MeasuredFile::Inference(rows) => {
                    rows.into_iter().map(|r| r.source).collect::<Vec<_>>()
                }
            })
            .collect();
        let (titles, names): (Vec<&String>, Vec<&String>) =
            sources.iter().partition(|s| is_prose(s));
        let missing: Vec<_> = titles
            .iter()
            .filter(|title| !chinese().contains_key(**title))
            .collect();
        assert!(
            missing.is_empty(),
            "core/data/notes.zh-CN.json lacks {missing:#?}"
        );
        assert!(titles.len() > 5 && names.len() > 20);
    }

    #[test]
    fn a_note_of_several_sentences_is_said_as_such() {
        assert_eq!(
            note_in(Lang::ZhCn, "No BF16. FP32 accumulation at half rate."),
            "不支持 BF16。用 FP32 累加时速度减半。"
        );
        assert_eq!(note_in(Lang::En, "No BF16."), "No BF16.");
        assert_eq!(
            phrase_in(Lang::ZhCn, "hf.co/01-ai/Yi-6B"),
            "hf.co/01-ai/Yi-6B"
        );
    }
}
