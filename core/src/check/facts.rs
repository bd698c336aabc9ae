//! Facts of cards that only listings quote: cores, process, transistors, launch price.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// One line of `core/data/check/facts.csv`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Card id.
    pub card: String,
    /// CUDA cores or stream processors.
    pub cores: Option<f64>,
    /// Manufacturing process, nm.
    pub process_nm: Option<f64>,
    /// Transistors, thousand millions.
    pub transistors_billion: Option<f64>,
    /// Launch price in China, yuan.
    pub launch_cny: Option<f64>,
    /// Where they were read; `techpowerup:` stands for `https://www.techpowerup.com/gpu-specs/`.
    pub source: String,
}

/// The facts of a card.
pub fn facts(card: &str) -> Option<&'static Facts> {
    static FACTS: OnceLock<HashMap<String, Facts>> = OnceLock::new();
    FACTS
        .get_or_init(|| {
            let text = include_str!("../../data/check/facts.csv");
            csv::Reader::from_reader(text.as_bytes())
                .deserialize::<Facts>()
                .filter_map(Result::ok)
                .map(|f| (f.card.clone(), f))
                .collect()
        })
        .get(card)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn every_line_is_of_a_card_and_has_a_source() {
        let text = include_str!("../../data/check/facts.csv");
        let lines: Vec<Facts> = csv::Reader::from_reader(text.as_bytes())
            .deserialize()
            .collect::<Result<_, _>>()
            .unwrap();
        assert!(lines.len() > 100);
        for line in lines {
            assert!(Catalog::embedded().cards.iter().any(|c| c.id == line.card));
            assert!(!line.source.is_empty(), "{}", line.card);
        }
        let cores = |id: &str| facts(id).and_then(|f| f.cores);
        assert_eq!(cores("rtx-4090"), Some(16384.0));
        assert_eq!(cores("mi250"), Some(13312.0));
    }
}
