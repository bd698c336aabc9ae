//! A person's own measurement of an offer, as a row in the form of `core/data/measured/*.csv`.

use serde::Serialize;

use crate::catalog::Catalog;
use crate::explain::params_of;
use crate::offers::{Offer, Run};
use crate::plan::{Offload, Recompute, Sharding};
use crate::range::Range;
use crate::scenario::{Choice, Job, ModelChoice, Scenario, TrainingMethod};

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum OwnMetric {
    /// Training: tokens a second over all cards.
    TrainingSpeed,
    /// Serving: output tokens a second of one request.
    UserSpeed,
    /// Serving: output tokens a second over all requests.
    TotalSpeed,
    /// Serving: time to the first token, seconds.
    FirstToken,
    /// Peak memory of the fullest card, GiB.
    Memory,
}

const GIB: f64 = 1_073_741_824.0;

impl OwnMetric {
    /// What can be measured of an offer.
    pub fn of(offer: &Offer) -> Vec<Self> {
        match &offer.run {
            Some(Run::Train { .. }) => vec![Self::TrainingSpeed, Self::Memory],
            Some(Run::Serve { plan, .. }) => {
                let speed = if plan.batch > 1 || plan.replicas > 1 {
                    Self::TotalSpeed
                } else {
                    Self::UserSpeed
                };
                vec![speed, Self::FirstToken, Self::Memory]
            }
            _ => vec![Self::Memory],
        }
    }

    /// The estimate of it, in its unit.
    pub fn estimate(self, offer: &Offer) -> Option<Range> {
        match (self, &offer.run) {
            (Self::Memory, _) => Some(offer.memory.needed_bytes.scale(1.0 / GIB)),
            (Self::TrainingSpeed, Some(Run::Train { speed, .. })) => Some(speed.tokens_per_s),
            (Self::UserSpeed, Some(Run::Serve { speed, .. })) => Some(speed.tokens_per_s_user),
            (Self::TotalSpeed, Some(Run::Serve { speed, .. })) => Some(speed.tokens_per_s_total),
            (Self::FirstToken, Some(Run::Serve { speed, .. })) => Some(speed.ttft_s),
            _ => None,
        }
    }

    /// How many times as fast as estimated the card was, where this says so.
    pub fn speed_factor(self, offer: &Offer, measured: f64) -> Option<f64> {
        let estimate = self.estimate(offer)?.mid;
        let factor = match self {
            Self::Memory | Self::FirstToken => return None,
            _ => measured / estimate,
        };
        (factor.is_finite() && factor > 0.0).then_some(factor)
    }

    /// Metric, value and unit of a row.
    fn row(self, offer: &Offer, value: f64) -> (&'static str, f64, &'static str) {
        match self {
            Self::TrainingSpeed => (
                "tokens_per_s_per_gpu",
                value / f64::from(offer.count.max(1)),
                "tok/s/gpu",
            ),
            Self::UserSpeed => ("decode_tokens_per_s_single", value, "tok/s"),
            Self::TotalSpeed => ("throughput_output_tokens_per_s_total", value, "tok/s"),
            Self::FirstToken => ("ttft_ms", value * 1000.0, "ms"),
            Self::Memory => ("peak_mem_gb", value, "GiB"),
        }
    }
}

/// Header and row; `None` where the measured files have no such kind of job.
pub fn csv(scenario: &Scenario, offer: &Offer, metric: OwnMetric, value: f64) -> Option<String> {
    let catalog = Catalog::embedded();
    let card = catalog.card(&offer.card)?;
    let (name, params) = match &scenario.model {
        ModelChoice::Catalog(id) => (catalog.model(id)?.name.clone(), params_of(scenario)?),
        ModelChoice::Custom(_) => ("custom".to_owned(), params_of(scenario)?),
    };
    let (metric, value, unit) = metric.row(offer, value);
    let mut cells: Vec<(&str, String)> = vec![
        ("id", "own-1".to_owned()),
        ("source", "own measurement".to_owned()),
        ("model", name),
        ("params_b", format!("{:.4}", params / 1e9)),
        ("gpu", card.name.clone()),
        ("card", card.id.clone()),
        ("n_gpus", offer.count.to_string()),
    ];
    match (&scenario.job, &offer.run) {
        (Job::Train(job), Some(Run::Train { plan, .. })) => {
            let task = match job.method {
                TrainingMethod::Pretrain => "pretrain",
                TrainingMethod::FullFinetune => "full_ft",
                TrainingMethod::Lora => "lora",
                TrainingMethod::Qlora => "qlora",
            };
            let recompute = match plan.recompute {
                Recompute::None => "none",
                Recompute::Selective => "selective",
                Recompute::Full => "full",
            };
            let sharding = match plan.sharding {
                Sharding::None if plan.data_parallel > 1 => "ddp",
                Sharding::None => "none",
                Sharding::Zero1 => "zero1",
                Sharding::Zero2 => "zero2",
                Sharding::Zero3 => "zero3",
                Sharding::Hybrid => "hsdp",
            };
            let offload = match plan.offload {
                Offload::None => "",
                Offload::Optimizer => "optimizer",
                Offload::All => "all",
            };
            let sequences = u64::from(plan.micro_batch)
                * u64::from(plan.grad_accum)
                * u64::from(plan.data_parallel);
            let per_node = offer.count.div_ceil(offer.nodes.max(1));
            cells.extend([
                ("task", task.to_owned()),
                ("seq_len", job.seq_len.to_string()),
                ("gpus_per_node", per_node.to_string()),
                ("precision", job.precision.name().to_owned()),
                ("optimizer", job.optimizer.name().to_owned()),
                ("act_ckpt", recompute.to_owned()),
                ("sharding", sharding.to_owned()),
                ("context_parallel", plan.context_parallel.to_string()),
                ("cpu_offload", offload.to_owned()),
                ("tp", plan.tensor_parallel.to_string()),
                ("pp", plan.pipeline_parallel.to_string()),
                ("micro_batch_per_gpu", plan.micro_batch.to_string()),
                ("grad_accum", plan.grad_accum.to_string()),
                ("global_batch_seqs", sequences.to_string()),
            ]);
        }
        (Job::Serve(job), Some(Run::Serve { plan, .. })) => {
            let engine = job
                .engine
                .unwrap_or_else(|| crate::offers::job::usual_engine(card, job.weights));
            cells.extend([
                ("task", "llm".to_owned()),
                ("tp", plan.tensor_parallel.to_string()),
                ("engine", engine.name().to_owned()),
                ("weight_precision", job.weights.name().to_owned()),
                ("kv_precision", job.kv.name().to_owned()),
                ("prompt_len", job.prompt_tokens.to_string()),
                ("output_len", job.output_tokens.to_string()),
                (
                    "batch_or_concurrency",
                    (plan.batch.max(1) * plan.replicas.max(1)).to_string(),
                ),
            ]);
        }
        _ => return None,
    }
    cells.extend([
        ("metric", metric.to_owned()),
        ("value", value.to_string()),
        ("unit", unit.to_owned()),
        ("suspect", String::new()),
        ("notes", String::new()),
    ]);
    let line =
        |pick: fn(&(&str, String)) -> String| cells.iter().map(pick).collect::<Vec<_>>().join(",");
    Some(format!(
        "{}\n{}\n",
        line(|(head, _)| (*head).to_owned()),
        line(|(_, cell)| quoted(cell))
    ))
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::PriceBook;
    use crate::measured::{Judged, MeasuredFile, Shipped, judge};
    use crate::offers::rank;
    use crate::scenario::parse;

    /// The row that a link's first offer gives, read back and judged: its estimate over the offer's own.
    fn read_back(link: &str, metric: OwnMetric) -> f64 {
        let catalog = Catalog::embedded();
        let scenario = parse(link, catalog).scenario;
        let offer = rank(&scenario, catalog, PriceBook::embedded())
            .offers
            .into_iter()
            .next()
            .unwrap();
        let estimate = metric.estimate(&offer).unwrap().mid;
        let csv = csv(&scenario, &offer, metric, estimate).unwrap();
        let file = MeasuredFile::parse(&csv).unwrap();
        let verdicts = judge(&file, catalog, &Shipped);
        let [verdict] = verdicts.as_slice() else {
            panic!("{csv}");
        };
        match &verdict.judged {
            Judged::Used { estimate, .. } => estimate.mid / verdict.measured.unwrap(),
            Judged::Unused { reason } => panic!("{reason}\n{csv}"),
        }
    }

    #[test]
    fn a_row_says_the_job_that_was_estimated() {
        for (link, metric) in [
            (
                "m=qwen2.5-7b&do=lora&cards=a100-sxm4-80gb&n=1",
                OwnMetric::TrainingSpeed,
            ),
            (
                "m=llama-3.1-8b&do=full&cards=h100-sxm-80gb&n=8",
                OwnMetric::TrainingSpeed,
            ),
            (
                "m=llama-3.1-8b&do=full&cards=h100-sxm-80gb&n=8",
                OwnMetric::Memory,
            ),
            (
                "m=llama-3.1-8b&do=serve&w=fp16&users=1&cards=rtx-4090&n=1",
                OwnMetric::UserSpeed,
            ),
            (
                "m=qwen3-32b&do=serve&w=bf16&users=32&cards=h100-sxm-80gb&n=2",
                OwnMetric::TotalSpeed,
            ),
        ] {
            let ratio = read_back(link, metric);
            assert!((0.8..1.25).contains(&ratio), "{link} {metric:?}: {ratio}");
        }
    }

    #[test]
    fn a_faster_card_has_a_factor_above_one_and_memory_has_none() {
        let catalog = Catalog::embedded();
        let scenario = parse("m=qwen2.5-7b&do=lora&cards=rtx-4090", catalog).scenario;
        let offers = rank(&scenario, catalog, PriceBook::embedded()).offers;
        let offer = offers.iter().find(|offer| offer.run.is_some()).unwrap();
        let estimate = OwnMetric::TrainingSpeed.estimate(offer).unwrap().mid;
        let factor = OwnMetric::TrainingSpeed.speed_factor(offer, estimate * 1.5);
        assert!((factor.unwrap() - 1.5).abs() < 1e-9);
        assert_eq!(OwnMetric::Memory.speed_factor(offer, 10.0), None);
    }
}
