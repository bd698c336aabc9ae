//! Over which inputs of a job there is a slider, and over which values.

use cardfit::catalog::{Catalog, NetworkTask};
use cardfit::offers::{Offer, Run};
use cardfit::scenario::limits::{Limit, Unit};
use cardfit::scenario::{
    Choice, DiffusionMethod, Job, Load, ModelChoice, Scenario, Training, number,
};
use cardfit::text::{Lang, text};

use crate::format;

/// A slider over the values of one link parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Slider {
    pub param: &'static str,
    /// Values in the order of the slider, as they stand in a link.
    pub values: Vec<String>,
    /// Place of the value that holds now.
    pub now: usize,
    /// The scenario leaves it open and the plan chose it: it is held while others move, so that the bar shows what they
    /// do and not what another plan would.
    pub held: bool,
    /// Key of its label.
    pub label: &'static str,
    /// A parameter that goes along in proportion, with its value now, as the height of a picture with its width.
    pub along: Option<(&'static str, f64)>,
    /// Prefix of the texts of its values; `None`: they are numbers.
    pub names: Option<&'static str>,
}

impl Slider {
    fn numbers(param: &'static str, label: &'static str, values: &[f64], now: f64) -> Self {
        let (least, most) =
            Limit::of(param).map_or((f64::MIN, f64::MAX), |limit| (limit.min, limit.max));
        let mut all: Vec<f64> = values
            .iter()
            .copied()
            .filter(|value| (least..=most).contains(value))
            .collect();
        if !all.iter().any(|v| (v - now).abs() < 1e-9) {
            all.push(now);
            all.sort_by(f64::total_cmp);
        }
        Self {
            param,
            label,
            now: all.iter().position(|v| (v - now).abs() < 1e-9).unwrap_or(0),
            values: all.into_iter().map(number::write).collect(),
            held: false,
            along: None,
            names: None,
        }
    }

    /// Over names of a list, whose texts stand under `names`.
    fn names(
        param: &'static str,
        label: &'static str,
        values: &[&str],
        now: Option<&str>,
        names: &'static str,
    ) -> Self {
        let mut all: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
        if let Some(now) = now.filter(|now| !values.contains(now)) {
            all.push(now.to_owned());
        }
        Self {
            param,
            label,
            now: all
                .iter()
                .position(|v| Some(v.as_str()) == now)
                .unwrap_or(0),
            values: all,
            held: false,
            along: None,
            names: Some(names),
        }
    }

    fn held(mut self, held: bool) -> Self {
        self.held = held;
        self
    }

    fn along(mut self, param: &'static str, now: f64) -> Self {
        self.along = Some((param, now));
        self
    }

    pub fn say(&self, lang: Lang, value: &str) -> String {
        match self.names {
            Some(names) => text(lang, &format!("{names}.{}", value.replace('-', "_")), &[]),
            None => value
                .parse::<f64>()
                .map_or_else(|_| value.to_owned(), |v| self.with_unit(lang, v)),
        }
    }

    fn with_unit(&self, lang: Lang, value: f64) -> String {
        let figure = format::given(lang, value);
        match Limit::of(self.param).map(|limit| limit.unit) {
            Some(Unit::Gigabytes) => format!("{figure} GB"),
            _ => figure,
        }
    }

    /// What a place of the slider changes in the scenario's link.
    pub fn changes(&self, place: usize) -> Vec<(&'static str, String)> {
        let Some(value) = self.values.get(place) else {
            return Vec::new();
        };
        let along = self.along.and_then(|(param, now)| {
            let before: f64 = self.values.get(self.now)?.parse().ok()?;
            let after: f64 = value.parse().ok()?;
            // Denoisers take pictures whose sides are multiples of 16.
            let side = ((now * after / before) / 16.0).round().max(1.0) * 16.0;
            Some((param, number::write(side)))
        });
        std::iter::once((self.param, value.clone()))
            .chain(along)
            .collect()
    }
}

const LENGTHS: [f64; 9] = [
    512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0,
];
const COUNTS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
const SIDES: [f64; 8] = [512.0, 640.0, 768.0, 832.0, 1024.0, 1280.0, 1536.0, 2048.0];
const RECOMPUTE: [&str; 2] = ["none", "full"];

/// The sliders of a scenario's offer.
pub fn sliders(scenario: &Scenario, offer: &Offer) -> Vec<Slider> {
    let work = match &offer.run {
        Some(Run::Work { plan, .. }) => Some(*plan),
        _ => None,
    };
    let batch_of = |own: Option<u32>, label, most: usize| {
        let now = own.or(work.map(|plan| plan.batch)).unwrap_or(1);
        let counts = COUNTS.get(..most).unwrap_or(&COUNTS);
        Slider::numbers("batch", label, counts, f64::from(now)).held(own.is_none())
    };
    match &scenario.job {
        Job::Train(job) => training_sliders(job, offer),
        Job::Serve(job) => {
            let users = match job.load {
                Load::Concurrency(n) => f64::from(n),
                Load::RequestsPerSecond(_) => 1.0,
            };
            vec![
                Slider::numbers("in", "field.in", &LENGTHS, f64::from(job.prompt_tokens)),
                Slider::numbers("users", "field.users", &COUNTS, users),
                Slider::names(
                    "w",
                    "field.w",
                    &["bf16", "fp8", "int8", "awq4"],
                    Some(job.weights.name()),
                    "enum.weights",
                ),
                Slider::names(
                    "kv",
                    "field.kv",
                    &["16bit", "8bit", "4bit"],
                    Some(job.kv.name()),
                    "enum.kv",
                ),
            ]
        }
        Job::Generate(job) => {
            let side = f64::from(job.width);
            let mut all = vec![
                Slider::numbers("width", "what_if.picture", &SIDES, side)
                    .along("height", f64::from(job.height)),
            ];
            if job.frames > 1 {
                let frames = [17.0, 33.0, 49.0, 81.0, 121.0, 161.0, 241.0];
                let now = f64::from(job.frames);
                all.push(Slider::numbers("frames", "field.frames", &frames, now));
            }
            let offload = job.offload.or(work.map(|plan| plan.offload));
            let tiling = job.tiling.or(work.map(|plan| plan.tiling));
            all.extend([
                batch_of(job.batch, "field.batch.at_once", 7),
                Slider::names(
                    "w",
                    "field.w",
                    &["fp32", "bf16", "fp8", "nf4"],
                    Some(job.weights.name()),
                    "enum.weights",
                ),
                Slider::names(
                    "offload",
                    "field.offload",
                    &["none", "model", "sequential"],
                    offload.map(Choice::name),
                    "enum.pipeline_offload",
                )
                .held(job.offload.is_none()),
                Slider::names(
                    "tiling",
                    "field.tiling",
                    &["no", "yes"],
                    tiling.map(|on| if on { "yes" } else { "no" }),
                    "page",
                )
                .held(job.tiling.is_none()),
            ]);
            all
        }
        Job::TuneDiffusion(job) => {
            let recompute = job.recompute.or(work.map(|plan| plan.recompute));
            let ranks = [4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
            let adapters = job.method == DiffusionMethod::Lora;
            let rank = adapters
                .then(|| Slider::numbers("rank", "field.rank", &ranks, f64::from(job.lora_rank)));
            let optimizer = (!adapters).then(|| {
                let now = Some(job.optimizer.name());
                let all = ["adamw", "adamw-8bit", "adafactor", "sgd"];
                Slider::names("opt", "field.opt", &all, now, "enum.optimizer")
            });
            [
                Slider::numbers("width", "what_if.picture", &SIDES, f64::from(job.width))
                    .along("height", f64::from(job.height)),
                Slider::numbers(
                    "batch",
                    "field.batch",
                    COUNTS.get(..7).unwrap_or(&COUNTS),
                    f64::from(job.batch),
                ),
                Slider::names(
                    "recompute",
                    "field.recompute",
                    &RECOMPUTE,
                    recompute.map(|on| if on { "full" } else { "none" }),
                    "enum.recompute",
                )
                .held(job.recompute.is_none()),
            ]
            .into_iter()
            .chain(rank)
            .chain(optimizer)
            .collect()
        }
        Job::TrainNetwork(job) => vec![
            batch_of(job.batch, "field.batch.card", 10),
            size_of(scenario, job.size),
            Slider::names(
                "prec",
                "field.prec",
                &["fp32", "bf16", "fp16"],
                Some(job.precision.name()),
                "enum.precision",
            ),
            Slider::names(
                "opt",
                "field.opt",
                &["sgd", "sgd-momentum", "adamw", "adamw-8bit"],
                Some(job.optimizer.name()),
                "enum.optimizer",
            ),
        ],
        Job::RunNetwork(job) => vec![
            batch_of(job.batch, "field.batch.card", 10),
            size_of(scenario, job.size),
            Slider::names(
                "w",
                "field.w",
                &["fp32", "fp16", "int8"],
                Some(job.weights.name()),
                "enum.weights",
            ),
        ],
        Job::Transcribe(job) => vec![
            batch_of(job.batch, "field.batch.card", 7),
            Slider::numbers(
                "beam",
                "field.beam",
                &[1.0, 2.0, 3.0, 5.0, 8.0, 10.0],
                f64::from(job.beam),
            ),
            Slider::names(
                "w",
                "field.w",
                &["fp32", "fp16", "int8"],
                Some(job.weights.name()),
                "enum.weights",
            ),
        ],
        Job::Compute(job) => {
            let sizes: Vec<f64> = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
                .iter()
                .map(|factor| factor * job.working_set_gb)
                .collect();
            vec![Slider::numbers(
                "ws",
                "field.ws",
                &sizes,
                job.working_set_gb,
            )]
        }
    }
}

/// The side of a picture or the length of a sequence that a network takes.
fn size_of(scenario: &Scenario, own: Option<u32>) -> Slider {
    let network = match &scenario.model {
        ModelChoice::Catalog(id) => Catalog::embedded().network(id),
        ModelChoice::Custom(_) => None,
    };
    let usual = network.map_or(224, |network| network.usual_size());
    let now = f64::from(own.unwrap_or(usual));
    let is_text = network.is_some_and(|network| network.task == NetworkTask::Text);
    let (label, sizes): (_, &[f64]) = if is_text {
        let lengths = &[64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0];
        ("field.size.sequence", lengths)
    } else {
        let sides = &[160.0, 224.0, 320.0, 384.0, 512.0, 640.0, 1024.0, 1280.0];
        ("field.size.image", sides)
    };
    Slider::numbers("size", label, sizes, now)
}

fn training_sliders(job: &Training, offer: &Offer) -> Vec<Slider> {
    let plan = match &offer.run {
        Some(Run::Train { plan, .. }) => Some(*plan),
        _ => None,
    };
    let micro = job.micro_batch.or(plan.map(|p| p.micro_batch)).unwrap_or(1);
    let recompute = job.recompute.or(plan.map(|p| p.recompute));
    let sharding = job.sharding.or(plan.map(|p| p.sharding));
    let mut all = vec![
        Slider::numbers("seq", "field.seq", &LENGTHS, f64::from(job.seq_len)),
        Slider::numbers(
            "micro",
            "field.micro",
            COUNTS.get(..7).unwrap_or(&COUNTS),
            f64::from(micro),
        )
        .held(job.micro_batch.is_none()),
        Slider::names(
            "recompute",
            "field.recompute",
            &["none", "selective", "full"],
            recompute.map(Choice::name),
            "enum.recompute",
        )
        .held(job.recompute.is_none() && recompute.is_some()),
    ];
    if offer.count > 1 {
        all.push(
            Slider::names(
                "shard",
                "field.shard",
                &["none", "zero1", "zero2", "zero3"],
                sharding.map(Choice::name),
                "enum.sharding",
            )
            .held(job.sharding.is_none() && sharding.is_some()),
        );
    }
    all
}
