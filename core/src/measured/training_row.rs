//! What the estimator says of a measured training row.
//!
//! A row says how its job was run: what it states is taken, what it leaves open gets the default
//! of its software, and nothing is searched. The rules read the row's own words (software,
//! options, conventions), never its id.

mod convention;
mod layout;
mod settings;
mod shape;
mod software;
mod words;

use convention::{Instrument, convention, instrument};
pub use layout::Setup;

use std::borrow::Cow;

use super::{Judged, TrainingRow};
use crate::catalog::{Card, Catalog, Model, Node, Vendor};
use crate::dtype::ComputeDtype;
use crate::estimate::MemoryPart;
use crate::estimate::training::{
    Convention, TrainingConstants, TrainingJob, card_bytes, counted_flops, kind_name, memory_with,
    speed_with,
};
use crate::range::Range;
use crate::scenario::Optimizer;
use words::Words;

/// What a row says, put in the estimator's terms once, to be estimated under any constants.
#[derive(Debug, Clone)]
pub struct TrainingCase<'a> {
    row: &'a TrainingRow,
    model: Cow<'a, Model>,
    card: Cow<'a, Card>,
    card_known: bool,
    setup: Setup,
    convention: Convention,
    instrument: Instrument,
}

/// `rate` with the doubt of how a source counts FLOPs beside it: attention's half, the head and
/// embeddings come to this much between conventions.
fn counted(rate: Range) -> Range {
    const BETWEEN_CONVENTIONS: f64 = 0.05;
    let farther = |end: f64| (end / rate.mid).ln().hypot(BETWEEN_CONVENTIONS).exp();
    if !rate.mid.is_normal() {
        return rate;
    }
    Range {
        low: rate.mid / farther(rate.low),
        mid: rate.mid,
        high: rate.mid * farther(rate.high),
    }
}

/// `card` with what the row says of its own: a power limit, another maker's memory.
fn as_run<'a>(card: &'a Card, words: &Words) -> Cow<'a, Card> {
    let watts = words.number_before("w limit");
    let bandwidth = words
        .number_before("tb/s")
        .filter(|_| words.noted(&["hbm"]));
    if watts.is_none() && bandwidth.is_none() {
        return Cow::Borrowed(card);
    }
    let mut card = card.clone();
    card.power_w = watts.or(card.power_w);
    card.bandwidth_gb_s = bandwidth.map_or(card.bandwidth_gb_s, |tb_s| tb_s * 1000.0);
    Cow::Owned(card)
}

/// Estimates what `row` measured, in its own metric and unit.
pub fn judge_training(
    row: &TrainingRow,
    catalog: &Catalog,
    constants: &TrainingConstants,
) -> Judged {
    match TrainingCase::read(row, catalog) {
        Ok(case) => case.judge(constants),
        Err(reason) => Judged::unused(reason),
    }
}

impl<'a> TrainingCase<'a> {
    /// Reads a row, or says why it cannot be estimated.
    ///
    /// # Errors
    /// The reason, the same words for every row with this fault.
    pub fn read(row: &'a TrainingRow, catalog: &'a Catalog) -> Result<Self, &'static str> {
        let given = row;
        let filled = settings::filled(given);
        let row = filled.as_ref();
        let words = Words::of(row);
        if matches!(row.task.as_str(), "vision" | "diffusion") {
            return Err("kind of job not estimated yet");
        }
        if !matches!(row.task.as_str(), "pretrain" | "full_ft" | "lora" | "qlora") {
            return Err("kind of job is not known");
        }
        let is_memory = row.metric == "peak_mem_gb";
        let card = if row.card.is_empty() {
            None
        } else {
            Some(
                catalog
                    .card(&row.card)
                    .ok_or("the catalog does not have the card")?,
            )
        };
        let card_known = card.is_some();
        let card = match card {
            Some(card) => card,
            // Bytes needed hardly depend on the card; the commonest training card stands in.
            None if is_memory => catalog
                .card("a100-sxm4-80gb")
                .ok_or("the source names no card")?,
            None => return Err("the source names no card"),
        };
        if row.precision.to_lowercase().contains("fp4") && row.task == "pretrain" {
            return Err("compute format not estimated for training");
        }
        if is_memory && words.noted(&["short samples, not packed"]) {
            return Err("samples shorter than the limit, not packed, of unstated length");
        }
        // Blocks cached for shorter samples are too small for longer ones and stay until memory runs out: such a peak may
        // fall as samples grow.
        if is_memory && words.noted(&["reserved over samples of many lengths"]) {
            return Err("the allocator's cache over samples of many lengths, not what they need");
        }
        if is_memory && words.noted(&["one card in its configuration"]) {
            return Err("its configuration uses one card, which another row states");
        }
        let card = as_run(card, &words);
        if !is_memory && words.noted(&["power-limited", "power limited"]) && card.power_w.is_some()
        {
            return Err("the card's power is limited, to what is not stated");
        }
        let model = shape::model(row, catalog)?;
        let setup = layout::setup(row, &words, &model, &card)?;
        if words.noted(&["rows may be mixed up"]) {
            return Err("the source's table contradicts itself");
        }
        if words.noted(&["printed peak contradicts the configuration"]) {
            return Err(
                "the printed peak is below the weights and states of the source's own configuration",
            );
        }
        // Per token these run faster than the same network on a quarter of the length: positions
        // of padding are left out.
        if words.any(&["deeplearningexamples"])
            && row.task == "pretrain"
            && row.model.to_lowercase().contains("bert")
            && row.seq_len.is_some_and(|s| s >= 512)
        {
            return Err("padding is left out, and its share is not stated");
        }
        let case = Self {
            row: given,
            model,
            card,
            card_known,
            convention: convention(row, &words, &setup),
            instrument: instrument(&words),
            setup,
        };
        if !case.is_estimated() {
            return Err("metric is not estimated for training");
        }
        if matches!(row.metric.as_str(), "gpu_hours_total" | "wall_days")
            && case.total_tokens().is_none()
        {
            return Err("a whole run without its tokens");
        }
        Ok(case)
    }

    fn is_estimated(&self) -> bool {
        matches!(
            self.row.metric.as_str(),
            "tokens_per_s_per_gpu"
                | "tflops_per_gpu"
                | "mfu_pct"
                | "hfu_pct"
                | "samples_per_s"
                | "peak_mem_gb"
                | "gpu_hours_total"
                | "wall_days"
        )
    }

    /// Whether the row measures memory (else speed).
    pub fn is_memory(&self) -> bool {
        self.row.metric == "peak_mem_gb"
    }

    /// Whether the row measures the time of a whole run.
    pub fn is_whole_run(&self) -> bool {
        matches!(self.row.metric.as_str(), "gpu_hours_total" | "wall_days")
    }

    /// The row.
    pub fn row(&self) -> &'a TrainingRow {
        self.row
    }

    /// The card, or the one that stands in where the source names none.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// How the job was run.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The job in the estimator's terms.
    pub fn job(&self) -> TrainingJob<'_> {
        let s = &self.setup;
        TrainingJob {
            model: &self.model,
            method: s.method,
            base_weights: s.base_weights,
            seq_len: s.seq_len,
            precision: s.precision,
            optimizer: s.optimizer,
            lora_rank: s.lora_rank,
            flash_attention: s.flash_attention,
            habits: s.habits,
        }
    }

    fn node(&self) -> Node<'_> {
        Node {
            card: &self.card,
            cards_per_node: self.setup.cards_per_node,
            network_gb_s: self.setup.network_gb_s,
        }
    }

    /// Tokens of the whole run, where the row states them.
    fn total_tokens(&self) -> Option<f64> {
        let text = self.row.total_tokens_b_or_samples.trim();
        let billions: f64 = text.parse().ok()?;
        (billions.is_finite() && billions > 0.0).then_some(billions * 1e9)
    }

    /// Estimates what the row measured.
    pub fn judge(&self, constants: &TrainingConstants) -> Judged {
        if self.is_memory() {
            self.judge_memory(constants)
        } else {
            self.judge_speed(constants)
        }
    }

    /// What a memory row measured over what is estimated, on the part that its range is put
    /// around; 1 where they agree, `None` for other rows.
    pub fn memory_ratio(&self, constants: &TrainingConstants) -> Option<f64> {
        let measured = self.row.value.filter(|_| self.is_memory())?;
        let Judged::Used { estimate, .. } = self.judge_memory(constants) else {
            return None;
        };
        let card = card_bytes(&self.job(), &self.setup.plan, &self.node(), constants);
        let uncertain = card.uncertain() / (card.total() as f64).max(1.0) * estimate.mid;
        Some(1.0 + (measured - estimate.mid) / uncertain.max(1e-9))
    }

    fn judge_memory(&self, constants: &TrainingConstants) -> Judged {
        let estimate = memory_with(&self.job(), &self.setup.plan, &self.node(), constants);
        let needed = estimate.needed_bytes;
        let outside: u64 = match self.instrument {
            Instrument::Driver => 0,
            Instrument::Reserved => estimate
                .parts
                .iter()
                .filter(|(part, _)| *part == MemoryPart::Framework)
                .map(|(_, bytes)| *bytes)
                .sum(),
            // The allocator's counter sees no context, and nothing that is held but free.
            Instrument::Allocated => estimate
                .parts
                .iter()
                .filter(|(part, _)| match part {
                    MemoryPart::Framework | MemoryPart::Fragmentation => true,
                    // Paged states are in memory of the driver's own.
                    MemoryPart::OptimizerStates => {
                        self.setup.optimizer == Optimizer::PagedAdamw8bit
                    }
                    _ => false,
                })
                .map(|(_, bytes)| *bytes)
                .sum(),
        };
        // `npu-smi` counts what an Ascend card holds at rest, which is outside its usable memory.
        let at_rest = if self.card.vendor == Vendor::Huawei {
            self.card.memory_gib * 1_073_741_824.0 - self.card.usable_memory_bytes() as f64
        } else {
            0.0
        };
        let seen = (needed.mid - outside as f64 + at_rest).max(1.0);
        let unit = if self.row.unit.eq_ignore_ascii_case("gib") {
            1_073_741_824.0
        } else {
            1e9
        };
        let usable = self.card.usable_memory_bytes() as f64;
        Judged::Used {
            estimate: needed.scale(seen / needed.mid.max(1.0) / unit),
            fits: self.card_known.then_some(needed.high <= usable),
        }
    }

    fn judge_speed(&self, constants: &TrainingConstants) -> Judged {
        let job = self.job();
        let plan = &self.setup.plan;
        let speed = speed_with(&job, plan, &self.node(), constants);
        let cards = f64::from(plan.cards.max(1));
        let per_card = speed.tokens_per_s.scale(1.0 / cards);
        let estimate = match self.row.metric.as_str() {
            "tokens_per_s_per_gpu" => per_card,
            "samples_per_s" => {
                let rate = speed
                    .tokens_per_s
                    .scale(1.0 / f64::from(job.seq_len.max(1)));
                if self.row.unit.to_ascii_lowercase().contains("per card")
                    || self.row.unit.to_ascii_lowercase().contains("/gpu")
                {
                    rate.scale(1.0 / cards)
                } else {
                    rate
                }
            }
            "tflops_per_gpu" | "mfu_pct" | "hfu_pct" => {
                let flops = counted_flops(&job, self.convention);
                let unit = if self.row.metric == "tflops_per_gpu" {
                    1e12
                } else {
                    self.dense_peak() / 100.0
                };
                // Megatron's own formula is published; what others count is read from their words.
                let rate = if self.convention.recompute {
                    per_card
                } else {
                    counted(per_card)
                };
                rate.scale(flops / unit)
            }
            _ => return self.judge_run(per_card, cards, constants),
        };
        Judged::Used {
            estimate,
            fits: None,
        }
    }

    /// A whole run, restarts and evaluation counted in.
    fn judge_run(&self, per_card: Range, cards: f64, constants: &TrainingConstants) -> Judged {
        let Some(tokens) = self.total_tokens() else {
            return Judged::unused("a whole run without its tokens");
        };
        let hours = tokens * constants.speed.end_to_end / 3600.0 / per_card.mid;
        let kind = kind_name(self.setup.method);
        let (card_hours, _) = constants.run_spread.range(hours, &self.card, kind);
        let estimate = if self.row.metric == "wall_days" {
            card_hours.scale(1.0 / (24.0 * cards))
        } else {
            card_hours
        };
        Judged::Used {
            estimate,
            fits: None,
        }
    }

    /// The peak that utilisation is told against: the compute format's.
    fn dense_peak(&self) -> f64 {
        let peaks = &self.card.peak_tflops;
        let dtype = if self.setup.precision == crate::scenario::TrainingPrecision::Fp8 {
            ComputeDtype::Fp8
        } else {
            ComputeDtype::Bf16
        };
        peaks
            .flops_per_s(dtype)
            .or_else(|| peaks.flops_per_s(ComputeDtype::Fp16))
            .unwrap_or(1e12)
    }
}
