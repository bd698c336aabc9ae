//! A row made into a run that the estimator can be asked about.

use super::layout::layout;
use super::model::model_of;
use super::words;
use crate::catalog::{Card, Catalog, Model, Node, Vendor};
use crate::dtype::{KvFormat, WeightFormat};
use crate::estimate::serving::{
    EngineFacts, Probe, Quantity, RunDetails, ServingConstants, ServingJob, early_kind_name,
    early_ollama_kind_name, kind_name, memory_with, weight_bytes,
};
use crate::measured::InferenceRow;
use crate::plan::ServingPlan;
use crate::range::Range;
use crate::scenario::{Choice, Engine, Habits};

/// What a row asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ask {
    /// Bytes of all weights over the row's unit.
    Weights { unit_bytes: f64 },
    /// Bytes that a framework's counters see, summed over `cards`.
    Peak { unit_bytes: f64, cards: f64 },
    /// The same with the driver's context: what the driver's tool shows.
    PeakByDriver { unit_bytes: f64, cards: f64 },
    /// What the engine reserved.
    Reserved { unit_bytes: f64, cards: f64 },
    /// Output tokens a second, prefill left out.
    DecodeAlone,
    /// Output tokens over the whole request's time.
    DecodeWhole,
    /// Prompt and output tokens over the whole request's time.
    TotalWhole,
    /// Prompt tokens a second.
    Prefill,
    /// Milliseconds to the first token under a steady load.
    Ttft,
    /// Milliseconds to the first token of a whole batch sent at once.
    BatchTtft,
    /// Milliseconds a token, under a steady load.
    Tpot,
    /// Milliseconds a token of requests sent at once.
    TpotAtOnce,
    /// Milliseconds of a batch from first to last.
    BatchLatency,
    /// Requests (or, times `tokens`, tokens) a second of a batch sent at once.
    Batch { tokens: f64 },
    /// The same where as many requests wait as there is room for.
    Saturated { tokens: f64 },
}

/// A row as a run.
#[derive(Debug, Clone)]
pub struct ServingRun {
    model: Model,
    card: Card,
    has_card: bool,
    weights: WeightFormat,
    kv: KvFormat,
    engine: Engine,
    prompt_tokens: u32,
    output_tokens: u32,
    plan: ServingPlan,
    /// Requests of the whole run, over all copies.
    in_all: u32,
    details: RunDetails,
    ask: Ask,
    quantity: Quantity,
}

/// Share of a card that an engine can be told to take.
const MOST_RESERVED: f64 = 0.97;
/// Share of what an engine takes by default beyond which weights leave too little for a cache.
const CROWDED: f64 = 0.9;
/// Words for attention that is not split over cards. NVIDIA's guide sets it for the full load of models of
/// experts in TensorRT-LLM, whatever a row says.
const ATTENTION_DP: [&str; 3] = ["attention data parallel", "dp-attention", "attention_dp"];
/// Words for requests that enter as others leave.
const FLOWING: [&str; 3] = ["max concurrency", "concurrency at most", "in flight"];
/// Tokens where a row does not say: a short question and answer.
const DEFAULT_PROMPT: u32 = 256;
/// The same of an answer.
const DEFAULT_OUTPUT: u32 = 256;
/// Tokens where a memory row says neither: a common sequence.
const DEFAULT_FILLED: u32 = 2048;

/// The run of `row`, or why it cannot be estimated.
///
/// # Errors
/// When the row's job, metric, card, engine, format or model is not one that is estimated, or its
/// own words contradict it.
pub fn serving_run(row: &InferenceRow, catalog: &Catalog) -> Result<ServingRun, String> {
    if row.task != "llm" {
        return Err("kind of job not estimated yet".into());
    }
    let notes = row.notes.to_ascii_lowercase();
    contradiction(row, &notes)?;
    let metric = row.metric.as_str();
    let is_weights = metric == "weights_mem_gb";
    let is_memory = is_weights || metric == "peak_mem_gb";

    let engine = if row.engine.trim().is_empty() {
        default_engine(&row.weight_precision)
    } else {
        words::engine(&row.engine).ok_or("engine not estimated")?
    };
    let weights = words::weights(&row.weight_precision, engine, &row.notes)
        .ok_or("format of the weights not estimated")?;
    let model = model_of(row, catalog)?;
    let card = match catalog.card(&row.card).filter(|_| !row.card.is_empty()) {
        Some(card) => Some(card),
        // Memory of one card is the same on all of them but for what an engine reserves.
        None if is_memory => None,
        None if row.card.is_empty() => return Err("no card of the catalog named".into()),
        None => return Err("card not in the catalog".into()),
    };
    let any_card = catalog.card("a100-sxm4-80gb").or(catalog.cards.first());
    let has_card = card.is_some();
    let card = card.or(any_card).ok_or("the catalog has no cards")?.clone();
    let reserves = EngineFacts::of(engine, &card).reserved_share.is_some();
    if metric == "peak_mem_gb" && !has_card && reserves {
        return Err("what the engine reserves depends on the card, and none is named".into());
    }

    let local = matches!(
        engine,
        Engine::LlamaCpp | Engine::Exllama | Engine::Exllamav2 | Engine::MlcLlm
    );
    let (prompt_tokens, output_tokens) = lengths(row, metric, local, &notes);
    if metric == "peak_mem_gb"
        && row.prompt_len.is_none()
        && row.output_len.is_none()
        && row.batch_or_concurrency.is_some_and(|b| b > 1)
    {
        return Err("memory of a batch whose length is not stated".into());
    }
    let stated = row
        .batch_or_concurrency
        .or_else(|| words::sent_at_once(&notes));
    let saturated = stated.is_none();
    let requests = stated.unwrap_or(1).max(1);
    let (ask, quantity) = ask(
        row,
        &notes,
        engine,
        local,
        saturated,
        requests,
        output_tokens,
    )?;

    let total_bytes = weight_bytes(&model, weights.format, weights.bits).total() as f64;
    let plan = layout(row, engine, &card, total_bytes, requests);
    let usable = card.usable_memory_bytes() as f64;
    let per_card = total_bytes / f64::from(plan.tensor_parallel * plan.pipeline_parallel);
    if !is_memory && per_card > usable * MOST_RESERVED {
        return Err("the weights do not fit on the cards that it names".into());
    }
    // Whoever runs weights that leave little of the default share tells the engine to take more.
    let share = EngineFacts::of(engine, &card).reserved_share.unwrap_or(1.0);
    let crowded = per_card > usable * share * CROWDED;
    let details = RunDetails {
        bits_per_weight: weights.bits,
        full_prompt_logits: engine == Engine::Transformers
            && (notes.contains("full-prompt") || notes.contains("logits of the whole prompt")),
        offline: ![
            "serve",
            "requests in",
            "concurrency",
            "requests at once",
            "users",
        ]
        .iter()
        .any(|word| notes.contains(word)),
        reserved_share: words::static_share(&notes)
            .or_else(|| Some(MOST_RESERVED).filter(|_| crowded)),
        no_graphs: engine == Engine::LlamaCpp && words::is_before(&notes, 2024, 6),
        expands: engine == Engine::LlamaCpp && words::is_before(&notes, 2024, 6),
        writes_scores: engine == Engine::LlamaCpp
            && words::is_before(&notes, 2025, 9)
            && !["fa 1", "flash"].iter().any(|word| notes.contains(word)),
        early_rocm: engine == Engine::Vllm
            && card.vendor == Vendor::Amd
            && words::version(&row.engine).is_some_and(|version| version < (0, 7)),
        attention_dp: plan.tensor_parallel > 1
            && model.transformer.experts.is_some()
            && (ATTENTION_DP.iter().any(|word| notes.contains(word))
                || (engine == Engine::TensorrtLlm && saturated)),
        early_ollama: row.engine.to_ascii_lowercase().contains("ollama")
            && words::is_before(&notes, 2025, 10),
        at_once: !saturated && !FLOWING.iter().any(|word| notes.contains(word)),
        answers: words::answer_lengths(&notes, output_tokens),
    };
    let ask = whose_memory(
        ask,
        row,
        total_bytes,
        f64::from(plan.cards),
        &notes,
        reserves,
    );
    Ok(ServingRun {
        model,
        card,
        has_card,
        weights: weights.format,
        kv: words::cache(&row.kv_precision),
        engine,
        prompt_tokens,
        output_tokens,
        plan,
        in_all: words::requests_in_all(&notes)
            .unwrap_or(requests)
            .max(requests),
        details,
        ask,
        quantity,
    })
}

/// Faults that a row shows by itself.
fn contradiction(row: &InferenceRow, notes: &str) -> Result<(), String> {
    // A heading `block '7B (vLLM)'` over a row of another size belongs to another table.
    if let Some(rest) = notes.split("block '").nth(1)
        && let Some(heading) = rest.split('\'').next()
        && let Some(size) = heading.split_whitespace().next()
        && size.ends_with('b')
        && size
            .trim_end_matches('b')
            .parse::<f64>()
            .is_ok_and(|b| row.params_b.is_some_and(|p| (p / b).ln().abs() > 0.5))
    {
        return Err("engine taken from the heading of another model's table".into());
    }
    if notes.contains("beam") {
        return Err("beam search not estimated".into());
    }
    // The command names a model of another size than the row.
    if let Some(rest) = notes.split("cmd '").nth(1)
        && let Some(command) = rest.split('\'').next()
        && let Some(params) = row.params_b
        && let Some(size) = command
            .split(|c: char| c.is_whitespace() || c == '/' || c == '-')
            .filter_map(|word| word.strip_suffix('b'))
            .filter_map(|digits| digits.parse::<f64>().ok())
            .find(|size| *size > 0.1)
        && (size / params).ln().abs() > 0.5
    {
        return Err("the command that was run names a model of another size".into());
    }
    Ok(())
}

fn default_engine(precision: &str) -> Engine {
    match WeightFormat::from_name(precision) {
        Some(format) if format.is_gguf() => Engine::LlamaCpp,
        _ => Engine::Vllm,
    }
}

fn lengths(row: &InferenceRow, metric: &str, local: bool, notes: &str) -> (u32, u32) {
    match (row.prompt_len, words::mean_output(notes).or(row.output_len)) {
        (Some(prompt), Some(output)) => (prompt, output),
        (Some(prompt), None) if metric == "peak_mem_gb" => (prompt, 1),
        (None, Some(output)) if metric == "peak_mem_gb" => (1, output),
        (None, None) if metric == "peak_mem_gb" => (DEFAULT_FILLED / 2, DEFAULT_FILLED / 2),
        // Benchmarks of local engines write 128 tokens from an empty context, read 512.
        (None, output) if local && metric != "prefill_tokens_per_s" => (0, output.unwrap_or(128)),
        (None, output) if metric == "prefill_tokens_per_s" => (512, output.unwrap_or(1)),
        (prompt, output) => (
            prompt.unwrap_or(DEFAULT_PROMPT),
            output.unwrap_or(DEFAULT_OUTPUT),
        ),
    }
}

#[allow(clippy::too_many_arguments)]
fn ask(
    row: &InferenceRow,
    notes: &str,
    engine: Engine,
    local: bool,
    saturated: bool,
    requests: u32,
    output_tokens: u32,
) -> Result<(Ask, Quantity), String> {
    let (many, pace) = if requests > 1 {
        (Quantity::Batch, Quantity::Pace)
    } else {
        (Quantity::Decode, Quantity::Decode)
    };
    let served = !local && engine != Engine::Transformers;
    let batch = |tokens: f64| {
        if saturated && served {
            Ask::Saturated { tokens }
        } else {
            Ask::Batch { tokens }
        }
    };
    Ok(match row.metric.as_str() {
        // Files are counted in decimal bytes, counters of frameworks in powers of two.
        "weights_mem_gb" => (
            Ask::Weights {
                unit_bytes: if row.unit == "GiB" || notes.contains("gib") {
                    1_073_741_824.0
                } else {
                    1e9
                },
            },
            Quantity::Weights,
        ),
        "peak_mem_gb" => (
            Ask::Peak {
                unit_bytes: 1_073_741_824.0,
                cards: 1.0,
            },
            Quantity::Memory,
        ),
        "decode_tokens_per_s_single" if local => (Ask::DecodeAlone, Quantity::Decode),
        "decode_tokens_per_s_single" => (Ask::DecodeWhole, Quantity::Decode),
        "total_tokens_per_s_single" => (Ask::TotalWhole, Quantity::Whole),
        "prefill_tokens_per_s" => (Ask::Prefill, Quantity::Prefill),
        "ttft_ms" if output_tokens <= 1 || notes.contains("whole batch") => {
            (Ask::BatchTtft, Quantity::Prefill)
        }
        "ttft_ms" => (Ask::Ttft, Quantity::Prefill),
        "tpot_ms" if notes.contains("at once") => (Ask::TpotAtOnce, pace),
        "tpot_ms" => (Ask::Tpot, pace),
        "request_latency_ms" => (Ask::BatchLatency, many),
        "throughput_output_tokens_per_s_total" => {
            (batch(f64::from(output_tokens)), Quantity::Batch)
        }
        "requests_per_s" | "samples_per_s" => (batch(1.0), Quantity::Batch),
        _ => return Err("metric not estimated".into()),
    })
}

/// Whether a peak is one card's, the sum of all, or what an engine reserved.
fn whose_memory(
    ask: Ask,
    row: &InferenceRow,
    weights_bytes: f64,
    cards: f64,
    notes: &str,
    reserves: bool,
) -> Ask {
    let Ask::Peak { unit_bytes, .. } = ask else {
        return ask;
    };
    // No card of several holds all weights, so such a figure is the sum of all cards.
    let summed = cards > 1.0
        && (notes.contains("total")
            || row
                .value
                .is_some_and(|v| v * unit_bytes > 0.9 * weights_bytes));
    let cards = if summed { cards } else { 1.0 };
    if reserves {
        Ask::Reserved { unit_bytes, cards }
    } else if notes.contains("nvidia-smi") || notes.contains("driver") {
        Ask::PeakByDriver { unit_bytes, cards }
    } else {
        Ask::Peak { unit_bytes, cards }
    }
}

impl ServingRun {
    /// Name of the kind of job in the residuals.
    pub fn kind(&self) -> &'static str {
        if self.details.early_rocm {
            early_kind_name(self.quantity)
        } else if self.details.early_ollama {
            early_ollama_kind_name(self.quantity)
        } else {
            kind_name(self.quantity, self.engine)
        }
    }

    /// The card, where the row names one of the catalog.
    pub fn card(&self) -> Option<&Card> {
        self.has_card.then_some(&self.card)
    }

    /// What was measured.
    pub fn quantity(&self) -> Quantity {
        self.quantity
    }

    /// Whether the measured value falls as speed rises.
    fn is_time(&self) -> bool {
        matches!(
            self.ask,
            Ask::Ttft | Ask::BatchTtft | Ask::Tpot | Ask::TpotAtOnce | Ask::BatchLatency
        )
    }

    /// Residual of a measured value over its estimate, as that of a speed or of memory.
    pub fn residual(&self, measured: f64, estimate: f64) -> f64 {
        if self.is_time() {
            estimate / measured
        } else {
            measured / estimate
        }
    }

    fn node(&self) -> Node<'_> {
        Node {
            card: &self.card,
            cards_per_node: self.card.link.cards_per_node.max(1),
            // 200 Gb/s a card.
            network_gb_s: 25.0 * f64::from(self.card.link.cards_per_node.max(1)),
        }
    }

    fn job(&self) -> ServingJob<'_> {
        ServingJob {
            model: &self.model,
            weights: self.weights,
            kv: self.kv,
            engine: self.engine,
            prompt_tokens: self.prompt_tokens,
            output_tokens: self.output_tokens,
            habits: Habits::default(),
        }
    }

    /// The middle of the estimate, in the row's own metric and unit.
    pub fn mid(&self, constants: &ServingConstants) -> f64 {
        let (job, node) = (self.job(), self.node());
        let probe = Probe::new(&job, &self.plan, &node, constants, self.details);
        let copies = f64::from(self.plan.replicas);
        let output = f64::from(self.output_tokens.max(1));
        let whole_s =
            || probe.batch_ttft_s() + (output - 1.0).max(0.0) * probe.decode_s_per_token();
        match self.ask {
            Ask::Weights { unit_bytes } => probe.weights_bytes() / unit_bytes,
            Ask::Peak { unit_bytes, cards } => {
                probe.card_bytes().seen_by_framework() * cards / unit_bytes
            }
            Ask::PeakByDriver { unit_bytes, cards } => {
                probe.card_bytes().total() * cards / unit_bytes
            }
            Ask::Reserved { unit_bytes, cards } => {
                let share = EngineFacts::of(self.engine, &self.card)
                    .reserved_share
                    .unwrap_or(1.0);
                self.card.usable_memory_bytes() as f64 * share * cards / unit_bytes
            }
            Ask::DecodeAlone => 1.0 / probe.decode_s_per_token(),
            Ask::DecodeWhole => output / whole_s(),
            Ask::TotalWhole => (output + f64::from(self.prompt_tokens)) / whole_s(),
            Ask::Prefill => probe.prefill_tokens_per_s(),
            Ask::Ttft => probe.ttft_s() * 1e3,
            Ask::BatchTtft => probe.batch_ttft_s() * 1e3,
            Ask::Tpot => probe.tpot_s() * 1e3,
            Ask::TpotAtOnce => probe.tpot_at_once_s(f64::from(self.plan.batch)) * 1e3,
            Ask::BatchLatency => probe.batch_s() * 1e3,
            Ask::Batch { tokens } => {
                let all = f64::from(self.in_all);
                all * tokens / probe.run_s(all / copies)
            }
            Ask::Saturated { tokens } => probe.most_requests_per_s() * copies * tokens,
        }
    }

    /// The estimate with its range, in the row's own metric and unit.
    pub fn estimate(&self, constants: &ServingConstants) -> Range {
        let mid = self.mid(constants);
        let (unit, _) = match self.quantity {
            Quantity::Memory => constants.spread.memory_range(1.0, &self.card, self.kind()),
            _ => constants.spread.range(1.0, &self.card, self.kind()),
        };
        if self.is_time() {
            unit.divide_into(mid)
        } else {
            unit.scale(mid)
        }
    }

    /// For memory on a known card: whether it would be shown as fitting.
    pub fn fits(&self, constants: &ServingConstants) -> Option<bool> {
        if !matches!(self.ask, Ask::Peak { .. } | Ask::PeakByDriver { .. }) || !self.has_card {
            return None;
        }
        let needed = memory_with(&self.job(), &self.plan, &self.node(), constants).needed_bytes;
        Some(needed.high <= self.card.usable_memory_bytes() as f64)
    }
}
