//! What a source says elsewhere of how its rows were run: the layout of a published recipe, the
//! configuration beside a table. `core/data/measured/training_settings.csv` holds it, with where
//! each was read. A row's own cells always say more.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::measured::TrainingRow;

/// One line of the file. Empty cells match any row, or leave the row's cell as it is.
#[derive(Debug, Clone, Default, Deserialize)]
struct Setting {
    source_has: String,
    model: String,
    task: String,
    seq_len: Option<u32>,
    n_gpus: Option<u32>,
    layers: Option<u32>,
    hidden: Option<u32>,
    heads: Option<u32>,
    kv_heads: Option<u32>,
    ffn: Option<u32>,
    vocab: Option<u32>,
    moe_experts: String,
    act_ckpt: String,
    sharding: String,
    tp: Option<u32>,
    pp: Option<u32>,
    context_parallel: Option<u32>,
    micro_batch_per_gpu: Option<u32>,
    global_batch_seqs: Option<u32>,
    notes: String,
}

fn settings() -> &'static [Setting] {
    static SETTINGS: OnceLock<Vec<Setting>> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let text = include_str!("../../../data/measured/training_settings.csv");
        csv::Reader::from_reader(text.as_bytes())
            .deserialize()
            .filter_map(Result::ok)
            .collect()
    })
}

impl Setting {
    fn is_of(&self, row: &TrainingRow) -> bool {
        let same = |wanted: &str, has: &str| wanted.is_empty() || wanted.eq_ignore_ascii_case(has);
        let equal = |wanted: Option<u32>, has: Option<u32>| wanted.is_none() || wanted == has;
        row.source
            .to_lowercase()
            .contains(&self.source_has.to_lowercase())
            && same(&self.model, &row.model)
            && same(&self.task, &row.task)
            && equal(self.seq_len, row.seq_len)
            && equal(self.n_gpus, row.n_gpus)
    }

    fn fill(&self, row: &mut TrainingRow) {
        // A shape is taken whole or not at all.
        if row.layers.is_none() && self.layers.is_some() {
            row.layers = self.layers;
            row.hidden = self.hidden;
            row.heads = self.heads;
            row.kv_heads = self.kv_heads;
            row.ffn = self.ffn;
            row.vocab = self.vocab;
            row.moe_experts.clone_from(&self.moe_experts);
        }
        // So is a layout.
        if row.tp.is_none() && row.pp.is_none() && row.micro_batch_per_gpu.is_none() {
            row.tp = self.tp;
            row.pp = self.pp;
            row.context_parallel = row.context_parallel.or(self.context_parallel);
            row.micro_batch_per_gpu = self.micro_batch_per_gpu;
            row.global_batch_seqs = row.global_batch_seqs.or(self.global_batch_seqs);
            if row.sharding.is_empty() {
                row.sharding.clone_from(&self.sharding);
            }
        }
        if matches!(row.act_ckpt.as_str(), "" | "unknown") && !self.act_ckpt.is_empty() {
            row.act_ckpt.clone_from(&self.act_ckpt);
        }
        if !self.notes.is_empty() {
            row.notes = format!("{}; {}", row.notes, self.notes);
        }
    }
}

/// `row` with what its source says elsewhere.
pub fn filled(row: &TrainingRow) -> Cow<'_, TrainingRow> {
    match settings().iter().find(|setting| setting.is_of(row)) {
        Some(setting) => {
            let mut row = row.clone();
            setting.fill(&mut row);
            Cow::Owned(row)
        }
        None => Cow::Borrowed(row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_read_and_says_where_it_stands() {
        let text = include_str!("../../../data/measured/training_settings.csv");
        assert_eq!(settings().len(), text.lines().count() - 1);
        assert!(settings().iter().all(|s| !s.source_has.is_empty()));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let at = reader
            .headers()
            .unwrap()
            .iter()
            .position(|h| h == "read_in")
            .unwrap();
        assert!(reader.records().all(|r| !r.unwrap()[at].is_empty()));
    }

    #[test]
    fn a_recipe_fills_what_a_row_leaves_open_and_nothing_else() {
        let open = TrainingRow {
            source: "Ascend/ModelLink:README.md".to_owned(),
            model: "Llama 2 70B".to_owned(),
            task: "pretrain".to_owned(),
            seq_len: Some(4096),
            n_gpus: Some(32),
            ..TrainingRow::default()
        };
        let row = filled(&open);
        assert_eq!(
            (row.tp, row.pp, row.micro_batch_per_gpu),
            (Some(8), Some(4), Some(1))
        );
        assert!(row.notes.contains("vp 4"));
        let stated = TrainingRow {
            tp: Some(4),
            ..open
        };
        let row = filled(&stated);
        assert_eq!((row.tp, row.pp), (Some(4), None));
    }

    #[test]
    fn other_sources_stay_as_they_are() {
        let row = TrainingRow {
            source: "somebody".to_owned(),
            model: "Llama 2 70B".to_owned(),
            ..TrainingRow::default()
        };
        assert!(matches!(filled(&row), Cow::Borrowed(_)));
    }
}
