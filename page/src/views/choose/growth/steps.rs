//! Along which inputs an answer is followed, at which values, and what is best there.

use cardfit::catalog::{Catalog, NetworkTask, PriceBook};
use cardfit::offers::{self, Fit, Offer};
use cardfit::scenario::limits::Limit;
use cardfit::scenario::{
    Job, Load, ModelChoice, Scenario, TrainingAmount, number, parse, to_query,
};

/// An input that the answer is followed along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// Link parameter.
    pub param: &'static str,
    /// Key of its label.
    pub label: &'static str,
    /// Value in the scenario, in the middle of what is shown.
    pub now: f64,
    /// Values are multiples of this; 0: any.
    pub grain: f64,
    /// A parameter that goes along in proportion, with its value now: the height of a picture with its width.
    pub along: Option<(&'static str, f64)>,
}

/// The inputs of a scenario that grow, the most telling first.
pub fn axes_of(scenario: &Scenario) -> Vec<Axis> {
    let axis = |param, label, now| Axis {
        param,
        label,
        now,
        grain: 1.0,
        along: None,
    };
    let whole = |param, label, now: u32| axis(param, label, f64::from(now));
    // Pictures have sides that denoisers can take.
    let picture = |width: u32, height: u32| Axis {
        grain: 16.0,
        along: Some(("height", f64::from(height))),
        ..whole("width", "what_if.picture", width)
    };
    let mut axes = match &scenario.job {
        Job::Train(job) => {
            let amount = match job.amount {
                TrainingAmount::Tokens(tokens) => axis("tokens", "field.tokens", tokens),
                TrainingAmount::Samples { count, .. } => axis("samples", "field.samples", count),
            };
            vec![whole("seq", "field.seq", job.seq_len), amount]
        }
        Job::Serve(job) => {
            let load = match job.load {
                Load::Concurrency(n) => whole("users", "field.users", n),
                Load::RequestsPerSecond(n) => Axis {
                    grain: 0.0,
                    ..axis("rps", "field.rps", n)
                },
            };
            vec![
                load,
                whole("in", "field.in", job.prompt_tokens),
                whole("out", "field.out", job.output_tokens),
            ]
        }
        Job::Generate(job) => {
            let clips = job.frames > 1;
            let amount = if clips {
                "field.amount.clips"
            } else {
                "field.amount.images"
            };
            let mut axes = vec![
                picture(job.width, job.height),
                whole("steps", "field.steps", job.steps),
                axis("amount", amount, job.amount),
            ];
            if clips {
                axes.insert(1, whole("frames", "field.frames", job.frames));
            }
            axes
        }
        Job::TuneDiffusion(job) => vec![
            picture(job.width, job.height),
            whole("steps", "field.steps.training", job.steps),
            whole("batch", "field.batch", job.batch),
        ],
        Job::TrainNetwork(job) => vec![
            axis("samples", "field.samples", job.samples),
            axis("epochs", "field.epochs", job.epochs),
            size_axis(scenario, job.size),
        ],
        Job::RunNetwork(job) => vec![
            axis("amount", "field.amount.samples", job.amount),
            size_axis(scenario, job.size),
        ],
        Job::Transcribe(job) => vec![
            axis("amount", "field.amount.audio", job.amount),
            whole("beam", "field.beam", job.beam),
        ],
        Job::Compute(job) => vec![
            axis("ops", "field.ops", job.operations),
            Axis {
                grain: 0.0,
                ..axis("ws", "field.ws", job.working_set_gb)
            },
        ],
    };
    axes.push(whole("n", "field.n", scenario.shelf.count.unwrap_or(4)));
    axes
}

/// The side of a picture or the length of a sequence that a network takes.
fn size_axis(scenario: &Scenario, own: Option<u32>) -> Axis {
    let network = match &scenario.model {
        ModelChoice::Catalog(id) => Catalog::embedded().network(id),
        ModelChoice::Custom(_) => None,
    };
    let is_text = network.is_some_and(|network| network.task == NetworkTask::Text);
    let usual = network.map_or(224, |network| network.usual_size());
    Axis {
        param: "size",
        label: if is_text {
            "field.size.sequence"
        } else {
            "field.size.image"
        },
        now: f64::from(own.unwrap_or(usual)),
        grain: if is_text { 1.0 } else { 32.0 },
        along: None,
    }
}

/// Factors of the scenario's value that are looked at.
const FACTORS: [f64; 9] = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// Values of an axis, each once, within what the input may be. The scenario's own is among them whatever its grain.
pub fn values(axis: &Axis) -> Vec<f64> {
    let (least, most) =
        Limit::of(axis.param).map_or((0.0, f64::MAX), |limit| (limit.min, limit.max));
    let mut values: Vec<f64> = FACTORS
        .into_iter()
        .map(|factor| (factor, axis.now * factor))
        .map(|(factor, value)| {
            let is_own = (factor - 1.0_f64).abs() < f64::EPSILON;
            if is_own || axis.grain <= 0.0 {
                value
            } else {
                (value / axis.grain).round().max(1.0) * axis.grain
            }
        })
        .filter(|value| (least..=most).contains(value))
        .collect();
    values.sort_by(f64::total_cmp);
    values.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    values
}

/// The best offer at one value.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Value of the input.
    pub at: f64,
    /// What fits best there, if anything does.
    pub best: Option<Offer>,
}

/// Ranks the scenario with the axis at a value.
pub fn step(scenario: &Scenario, book: &PriceBook, axis: &Axis, at: f64) -> Step {
    let link = to_query(scenario);
    let own = format!("{}={}", axis.param, number::write(at));
    let along = axis.along.map(|(param, now)| {
        let value = ((now * at / axis.now) / axis.grain.max(1.0))
            .round()
            .max(1.0);
        (param, value * axis.grain.max(1.0))
    });
    let is_set = |name: &str| name == axis.param || along.is_some_and(|(param, _)| param == name);
    let query = link
        .split('&')
        .filter(|pair| !pair.is_empty() && !is_set(pair.split('=').next().unwrap_or_default()))
        .map(str::to_owned)
        .chain([own])
        .chain(along.map(|(param, value)| format!("{param}={}", number::write(value))))
        .collect::<Vec<_>>()
        .join("&");
    let catalog = Catalog::embedded();
    let scenario = parse(&query, catalog).scenario;
    let best = offers::rank(&scenario, catalog, book)
        .offers
        .into_iter()
        .next()
        .filter(|offer| offer.fit == Fit::Fits);
    Step { at, best }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenarios_own_value_is_among_those_looked_at() {
        for link in [
            "m=qwen2.5-7b&do=lora",
            "m=qwen3-32b&do=serve&users=3",
            "do=pretrain&tokens=1T",
            "m=sdxl&do=image&width=1000",
            "m=wan-2.1-14b&do=video",
            "m=flux.1-dev&do=diffusion-lora",
            "m=resnet-50&do=vision-train",
            "m=bge-m3&do=vision-infer",
            "m=whisper-large-v3&do=transcribe",
            "m=dense-linear-algebra&do=science",
        ] {
            let scenario = parse(link, Catalog::embedded()).scenario;
            let axes = axes_of(&scenario);
            assert!(axes.len() > 1, "{link}");
            for axis in axes {
                let values = values(&axis);
                assert!(
                    values.iter().any(|v| (v - axis.now).abs() < 1e-9),
                    "{axis:?}"
                );
                assert!(values.windows(2).all(|w| w[0] < w[1]), "{values:?}");
            }
        }
    }
}
