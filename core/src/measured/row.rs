//! One measured result as a file holds it, read so that a bad cell costs its row and no more.

use std::collections::HashMap;

use serde::Serialize;

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

/// A measured training result. `None` and the empty text mean that the source does not say.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TrainingRow {
    /// Source's short name, a dash, a number.
    pub id: String,
    /// Where the value was read.
    pub source: String,
    /// Model as the source names it.
    pub model: String,
    /// `pretrain`, `full_ft`, `lora`, `qlora`, `vision` or `diffusion`.
    pub task: String,
    /// All parameters, billions.
    pub params_b: Option<f64>,
    /// Blocks.
    pub layers: Option<u32>,
    /// Width of the residual stream.
    pub hidden: Option<u32>,
    /// Query heads.
    pub heads: Option<u32>,
    /// Key and value heads.
    pub kv_heads: Option<u32>,
    /// Width of the feed-forward network.
    pub ffn: Option<u32>,
    /// Rows of the embedding.
    pub vocab: Option<u32>,
    /// Experts, as text (`128 top8`).
    pub moe_experts: String,
    /// Parameters used for a token, billions.
    pub moe_active_params_b: Option<f64>,
    /// Tokens of a sequence.
    pub seq_len: Option<u32>,
    /// Card as gathered.
    pub gpu: String,
    /// Card id of the catalog, or empty.
    pub card: String,
    /// Cards in all.
    pub n_gpus: Option<u32>,
    /// Cards of a node.
    pub gpus_per_node: Option<u32>,
    /// Compute format, with the base weights' for QLoRA.
    pub precision: String,
    /// Optimizer.
    pub optimizer: String,
    /// Recomputation: `none`, `selective`, `full`, `unknown`.
    pub act_ckpt: String,
    /// Sharding in the source's words.
    pub zero_stage_or_fsdp: String,
    /// Sharding: `none`, `ddp`, `zero1`, `zero2`, `zero3`, `hsdp`.
    pub sharding: String,
    /// Ways that a sequence is split.
    pub context_parallel: Option<u32>,
    /// What is kept in host memory: `optimizer`, `all`.
    pub cpu_offload: String,
    /// Tensor-parallel ways.
    pub tp: Option<u32>,
    /// Pipeline stages.
    pub pp: Option<u32>,
    /// Sequences (or images) of a micro-batch.
    pub micro_batch_per_gpu: Option<u32>,
    /// Micro-batches of a step.
    pub grad_accum: Option<u32>,
    /// Sequences of a step over all cards.
    pub global_batch_seqs: Option<u32>,
    /// What was measured.
    pub metric: String,
    /// Measured value in `unit`; `None`: not stated, or the run had no memory left.
    pub value: Option<f64>,
    /// Unit of the value.
    pub unit: String,
    /// Amount of data, as text.
    pub total_tokens_b_or_samples: String,
    /// `yes`: implausible, or an outlier by the source's own words.
    pub suspect: String,
    /// What the source says, and cautions.
    pub notes: String,
    /// Cells that could not be read, each with its reason.
    #[serde(skip)]
    pub problems: Vec<String>,
}

/// A measured inference result. `None` and the empty text mean that the source does not say.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct InferenceRow {
    /// Source's short name, a dash, a number.
    pub id: String,
    /// Where the value was read.
    pub source: String,
    /// Model as the source names it.
    pub model: String,
    /// `llm`, `diffusion_image`, `diffusion_video`, `vision` or `embedding`.
    pub task: String,
    /// All parameters, billions.
    pub params_b: Option<f64>,
    /// Blocks.
    pub layers: Option<u32>,
    /// Width of the residual stream.
    pub hidden: Option<u32>,
    /// Query heads.
    pub heads: Option<u32>,
    /// Key and value heads, as text where it says more (`1 (MLA latent 512+64)`).
    pub kv_heads: String,
    /// Width of one head.
    pub head_dim: Option<u32>,
    /// Width of the feed-forward network.
    pub ffn: Option<u32>,
    /// Rows of the embedding.
    pub vocab: Option<u32>,
    /// Experts, as text (`128 top8`).
    pub moe_experts: String,
    /// Parameters used for a token, billions.
    pub moe_active_params_b: Option<f64>,
    /// Card as gathered.
    pub gpu: String,
    /// Card id of the catalog, or empty.
    pub card: String,
    /// Cards in all.
    pub n_gpus: Option<u32>,
    /// Tensor-parallel ways.
    pub tp: Option<u32>,
    /// Engine.
    pub engine: String,
    /// Format of the weights, in the engine's words.
    pub weight_precision: String,
    /// Format of the KV cache.
    pub kv_precision: String,
    /// Tokens of a prompt.
    pub prompt_len: Option<u32>,
    /// Tokens of an answer.
    pub output_len: Option<u32>,
    /// Requests at once.
    pub batch_or_concurrency: Option<u32>,
    /// Image size, and frames for video.
    pub resolution: String,
    /// Denoising steps.
    pub steps: Option<u32>,
    /// What was measured.
    pub metric: String,
    /// Measured value in `unit`; `None`: not stated, or the run had no memory left.
    pub value: Option<f64>,
    /// Unit of the value.
    pub unit: String,
    /// `yes`: implausible, or an outlier by the source's own words.
    pub suspect: String,
    /// What the source says, and cautions.
    pub notes: String,
    /// Cells that could not be read, each with its reason.
    #[serde(skip)]
    pub problems: Vec<String>,
}

/// The short name of a row's source: its id up to the last dash.
pub fn source_of(id: &str) -> &str {
    id.rsplit_once('-').map_or(id, |(source, _)| source)
}

/// The notes of a row without a value say that the run had no memory left.
fn says_out_of_memory(value: Option<f64>, notes: &str) -> bool {
    let notes = notes.to_ascii_lowercase();
    value.is_none()
        && (notes
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| word == "oom")
            || notes.contains("out of memory"))
}

impl TrainingRow {
    /// Short name of the source.
    pub fn source_name(&self) -> &str {
        source_of(&self.id)
    }

    /// The run had no memory left: there is no value, and the notes say so.
    pub fn ran_out_of_memory(&self) -> bool {
        says_out_of_memory(self.value, &self.notes)
    }
}

impl InferenceRow {
    /// Short name of the source.
    pub fn source_name(&self) -> &str {
        source_of(&self.id)
    }

    /// The run had no memory left: there is no value, and the notes say so.
    pub fn ran_out_of_memory(&self) -> bool {
        says_out_of_memory(self.value, &self.notes)
    }

    /// The number that `kv_heads` starts with.
    pub fn kv_head_count(&self) -> Option<u32> {
        let digits = self.kv_heads.trim();
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        digits.get(..end)?.parse().ok().filter(|n| *n > 0)
    }
}

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

    /// A whole number; `1e3` and `8.0` are taken too, as spreadsheets write them.
    fn count(&mut self, column: &str) -> Option<u32> {
        let number = self.number(column)?;
        if number.fract() == 0.0 && number <= f64::from(u32::MAX) {
            Some(number as u32)
        } else {
            let text = self.text(column);
            self.problem(column, &text, "is not a whole number below 4294967296");
            None
        }
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
        params_b: c.number("params_b"),
        layers: c.count("layers"),
        hidden: c.count("hidden"),
        heads: c.count("heads"),
        kv_heads: c.count("kv_heads"),
        ffn: c.count("ffn"),
        vocab: c.count("vocab"),
        moe_experts: c.text("moe_experts"),
        moe_active_params_b: c.number("moe_active_params_b"),
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
        params_b: c.number("params_b"),
        layers: c.count("layers"),
        hidden: c.count("hidden"),
        heads: c.count("heads"),
        kv_heads: c.text("kv_heads"),
        head_dim: c.count("head_dim"),
        ffn: c.count("ffn"),
        vocab: c.count("vocab"),
        moe_experts: c.text("moe_experts"),
        moe_active_params_b: c.number("moe_active_params_b"),
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
