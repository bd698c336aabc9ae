//! Reads files of measured results, so that a bad cell costs its row and no more.

use std::collections::HashMap;

use super::row::{InferenceRow, TrainingRow};

/// What a measured file holds, told by its header.
#[derive(Debug, Clone, PartialEq)]
pub enum MeasuredFile {
    /// Rows about training.
    Training(Vec<TrainingRow>),
    /// Rows about inference.
    Inference(Vec<InferenceRow>),
}

/// Why a file is not read as measured results at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// No header line.
    #[error("the file is empty: a header line with the columns id, metric and value is needed")]
    Empty,
    /// The header lacks columns without which no row means anything.
    #[error(
        "this is not a file of measured results: its header lacks {}",
        .0.join(", ")
    )]
    MissingColumns(Vec<String>),
    /// The header names neither training's nor inference's own columns.
    #[error(
        "cannot tell training from inference: the header has none of the columns {} (training) \
         or {} (inference)",
        TRAINING_ONLY.join(", "),
        INFERENCE_ONLY.join(", ")
    )]
    UnknownKind,
    /// A column stands twice in the header.
    #[error("column {0} stands twice in the header")]
    RepeatedColumn(String),
    /// The text cannot be split into cells, or is not UTF-8.
    #[error("not a CSV file: {0}")]
    NotCsv(String),
}

const REQUIRED: [&str; 4] = ["id", "model", "metric", "value"];
const TRAINING_ONLY: [&str; 6] = [
    "seq_len",
    "optimizer",
    "act_ckpt",
    "sharding",
    "micro_batch_per_gpu",
    "global_batch_seqs",
];
const INFERENCE_ONLY: [&str; 6] = [
    "engine",
    "weight_precision",
    "kv_precision",
    "prompt_len",
    "output_len",
    "batch_or_concurrency",
];

/// What a 0 in a column means.
#[derive(Debug, Clone, Copy)]
enum Zero {
    /// Nothing of it: no prompt tokens.
    Counts,
    /// The same as an empty cell: no tensor parallelism.
    SaysNothing,
    /// There has to be one.
    IsWrong,
}

/// Largest value of some columns: far above what anybody runs, and low enough that counts of
/// bytes and FLOPs stay whole.
struct ColumnLimit {
    columns: &'static [&'static str],
    most: u32,
    zero: Zero,
}

const LIMITS: [ColumnLimit; 9] = [
    ColumnLimit {
        columns: &["layers"],
        most: 1000,
        zero: Zero::IsWrong,
    },
    ColumnLimit {
        columns: &["heads", "kv_heads", "head_dim"],
        most: 8192,
        zero: Zero::IsWrong,
    },
    ColumnLimit {
        columns: &["hidden"],
        most: 131_072,
        zero: Zero::IsWrong,
    },
    ColumnLimit {
        columns: &["ffn"],
        most: 1_000_000,
        zero: Zero::SaysNothing,
    },
    ColumnLimit {
        columns: &["vocab"],
        most: 10_000_000,
        zero: Zero::SaysNothing,
    },
    ColumnLimit {
        columns: &[
            "context_parallel",
            "tp",
            "pp",
            "gpus_per_node",
            "grad_accum",
            "steps",
        ],
        most: 100_000,
        zero: Zero::SaysNothing,
    },
    ColumnLimit {
        columns: &["n_gpus", "micro_batch_per_gpu", "batch_or_concurrency"],
        most: 1_000_000,
        zero: Zero::IsWrong,
    },
    ColumnLimit {
        columns: &["prompt_len", "output_len"],
        most: 16_777_216,
        zero: Zero::Counts,
    },
    ColumnLimit {
        columns: &["seq_len", "global_batch_seqs"],
        most: 16_777_216,
        zero: Zero::IsWrong,
    },
];

impl MeasuredFile {
    /// Reads a file in the form of `core/data/measured/*.csv`. Columns may stand in any order,
    /// columns of no meaning here are passed over, and all but `id`, `model`, `metric` and
    /// `value` may be missing. A cell that cannot be read is told in its row's `problems`.
    ///
    /// # Errors
    /// When the text is no CSV of measured results: see [`FileError`].
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(true)
            .from_reader(text.as_bytes());
        let header = reader
            .headers()
            .map_err(|e| FileError::NotCsv(e.to_string()))?
            .clone();
        let columns = columns(&header)?;
        let mut records = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|e| FileError::NotCsv(e.to_string()))?;
            // A line of spaces is no row; a line of empty cells is one, with nothing in it.
            let blank = record.len() == 1 && record.iter().all(|cell| cell.trim().is_empty());
            if !blank {
                records.push(record);
            }
        }
        let has = |names: &[&str]| names.iter().filter(|n| columns.contains_key(**n)).count();
        let (training, inference) = (has(&TRAINING_ONLY), has(&INFERENCE_ONLY));
        let cells = records.iter().map(|record| Cells {
            record,
            columns: &columns,
            width: header.len(),
            problems: Vec::new(),
        });
        if training > inference {
            Ok(Self::Training(cells.map(training_row).collect()))
        } else if inference > training {
            Ok(Self::Inference(cells.map(inference_row).collect()))
        } else {
            Err(FileError::UnknownKind)
        }
    }

    /// Rows in the file.
    pub fn len(&self) -> usize {
        match self {
            Self::Training(rows) => rows.len(),
            Self::Inference(rows) => rows.len(),
        }
    }

    /// Whether the file has a header and no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

type Columns = HashMap<String, usize>;

fn columns(header: &csv::StringRecord) -> Result<Columns, FileError> {
    let mut columns = Columns::new();
    for (at, name) in header.iter().enumerate() {
        let name = name.trim().to_ascii_lowercase();
        if !name.is_empty() && columns.insert(name.clone(), at).is_some() {
            return Err(FileError::RepeatedColumn(name));
        }
    }
    if columns.is_empty() {
        return Err(FileError::Empty);
    }
    let missing: Vec<String> = REQUIRED
        .iter()
        .filter(|name| !columns.contains_key(**name))
        .map(|name| (*name).to_owned())
        .collect();
    if missing.is_empty() {
        Ok(columns)
    } else {
        Err(FileError::MissingColumns(missing))
    }
}

/// The cells of one row, by column name.
struct Cells<'a> {
    record: &'a csv::StringRecord,
    columns: &'a Columns,
    width: usize,
    problems: Vec<String>,
}

impl Cells<'_> {
    fn text(&self, column: &str) -> String {
        self.columns
            .get(column)
            .and_then(|at| self.record.get(*at))
            .map_or_else(String::new, |cell| cell.trim().to_owned())
    }

    /// A finite number that is not negative.
    fn number(&mut self, column: &str) -> Option<f64> {
        let text = self.text(column);
        if text.is_empty() {
            return None;
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Some(number),
            Ok(_) => {
                self.problem(column, &text, "is not a number of 0 or more");
                None
            }
            Err(_) => {
                self.problem(column, &text, "is not a number");
                None
            }
        }
    }

    /// Parameters in 10^9, up to the largest that is computed; 0 says nothing.
    fn billions(&mut self, column: &str) -> Option<f64> {
        const MOST: f64 = 1e6;
        let billions = self.number(column).filter(|b| *b > 0.0)?;
        if billions > MOST {
            let text = self.text(column);
            self.problem(column, &text, &format!("is above {MOST}"));
            return None;
        }
        Some(billions)
    }

    /// A whole number within the limits of its column; `1e3` and `8.0` are taken too, as
    /// spreadsheets write them.
    fn count(&mut self, column: &str) -> Option<u32> {
        let number = self.number(column)?;
        let limit = LIMITS.iter().find(|limit| limit.columns.contains(&column));
        let most = limit.map_or(u32::MAX, |limit| limit.most);
        let zero = limit.map_or(Zero::Counts, |limit| limit.zero);
        let what = if number.fract() != 0.0 {
            "is not a whole number".to_owned()
        } else if number > f64::from(most) {
            format!("is above {most}")
        } else if number > 0.0 {
            return Some(number as u32);
        } else {
            match zero {
                Zero::Counts => return Some(0),
                Zero::SaysNothing => return None,
                Zero::IsWrong => "is not above 0".to_owned(),
            }
        };
        let text = self.text(column);
        self.problem(column, &text, &what);
        None
    }

    /// Text about experts, whose numbers stay below what is computed.
    fn experts(&mut self, column: &str) -> String {
        const MOST: u32 = 8192;
        const MOST_SHARED_WIDTH: u32 = 1_000_000;
        let text = self.text(column);
        let lower = text.to_ascii_lowercase();
        // `60 routed top4 + shared 5632`: behind "shared" stands a width.
        let (counts, width) = lower.split_once("shared").unwrap_or((&lower, ""));
        let above = |text: &str, most: u32| {
            text.split(|c: char| !c.is_ascii_digit())
                .filter(|digits| !digits.is_empty())
                .any(|digits| digits.parse::<u32>().map_or(true, |n| n > most))
        };
        if above(counts, MOST) || above(width, MOST_SHARED_WIDTH) {
            self.problem(column, &text, "holds a number that is too large");
        }
        text
    }

    fn problem(&mut self, column: &str, text: &str, what: &str) {
        let shown: String = text.chars().take(40).collect();
        self.problems.push(format!("{column} '{shown}' {what}"));
    }

    /// What could not be read, with a wrong number of cells first.
    fn problems(self) -> Vec<String> {
        let mut problems = self.problems;
        if self.record.len() != self.width {
            problems.insert(
                0,
                format!(
                    "the row has {} cells where the header has {}",
                    self.record.len(),
                    self.width
                ),
            );
        }
        problems
    }
}

fn training_row(mut cells: Cells<'_>) -> TrainingRow {
    let c = &mut cells;
    let row = TrainingRow {
        id: c.text("id"),
        source: c.text("source"),
        model: c.text("model"),
        task: c.text("task"),
        params_b: c.billions("params_b"),
        layers: c.count("layers"),
        hidden: c.count("hidden"),
        heads: c.count("heads"),
        kv_heads: c.count("kv_heads"),
        ffn: c.count("ffn"),
        vocab: c.count("vocab"),
        moe_experts: c.experts("moe_experts"),
        moe_active_params_b: c.billions("moe_active_params_b"),
        seq_len: c.count("seq_len"),
        gpu: c.text("gpu"),
        card: c.text("card"),
        n_gpus: c.count("n_gpus"),
        gpus_per_node: c.count("gpus_per_node"),
        precision: c.text("precision"),
        optimizer: c.text("optimizer"),
        act_ckpt: c.text("act_ckpt"),
        zero_stage_or_fsdp: c.text("zero_stage_or_fsdp"),
        sharding: c.text("sharding"),
        context_parallel: c.count("context_parallel"),
        cpu_offload: c.text("cpu_offload"),
        tp: c.count("tp"),
        pp: c.count("pp"),
        micro_batch_per_gpu: c.count("micro_batch_per_gpu"),
        grad_accum: c.count("grad_accum"),
        global_batch_seqs: c.count("global_batch_seqs"),
        metric: c.text("metric"),
        value: c.number("value"),
        unit: c.text("unit"),
        total_tokens_b_or_samples: c.text("total_tokens_b_or_samples"),
        suspect: c.text("suspect"),
        notes: c.text("notes"),
        problems: Vec::new(),
    };
    TrainingRow {
        problems: cells.problems(),
        ..row
    }
}

fn inference_row(mut cells: Cells<'_>) -> InferenceRow {
    let c = &mut cells;
    let row = InferenceRow {
        id: c.text("id"),
        source: c.text("source"),
        model: c.text("model"),
        task: c.text("task"),
        params_b: c.billions("params_b"),
        layers: c.count("layers"),
        hidden: c.count("hidden"),
        heads: c.count("heads"),
        kv_heads: c.text("kv_heads"),
        head_dim: c.count("head_dim"),
        ffn: c.count("ffn"),
        vocab: c.count("vocab"),
        moe_experts: c.experts("moe_experts"),
        moe_active_params_b: c.billions("moe_active_params_b"),
        gpu: c.text("gpu"),
        card: c.text("card"),
        n_gpus: c.count("n_gpus"),
        tp: c.count("tp"),
        engine: c.text("engine"),
        weight_precision: c.text("weight_precision"),
        kv_precision: c.text("kv_precision"),
        prompt_len: c.count("prompt_len"),
        output_len: c.count("output_len"),
        batch_or_concurrency: c.count("batch_or_concurrency"),
        resolution: c.text("resolution"),
        steps: c.count("steps"),
        metric: c.text("metric"),
        value: c.number("value"),
        unit: c.text("unit"),
        suspect: c.text("suspect"),
        notes: c.text("notes"),
        problems: Vec::new(),
    };
    InferenceRow {
        problems: cells.problems(),
        ..row
    }
}
