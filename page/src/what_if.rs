//! What moves an offer's memory: sliders over the inputs that count, the bar following the finger. Only the one offer is
//! estimated while a slider moves; the scenario changes when it is asked to.

use std::collections::BTreeMap;
use std::sync::Arc;

use cardfit::catalog::{Catalog, NetworkTask, PriceBook};
use cardfit::offers::{self, Offer, Run};
use cardfit::scenario::limits::{Limit, Unit};
use cardfit::scenario::{
    Choice, DiffusionMethod, Job, Load, ModelChoice, Scenario, Training, number, parse, to_query,
};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::format;
use crate::glyphs::FitGlyph;
use crate::memory_bar::MemoryBar;
use crate::state::{App, Pace};
use crate::words::{self, t};

/// Changes tried out, by link parameter.
type Changes = BTreeMap<&'static str, String>;

/// A slider over the values of one link parameter.
#[derive(Debug, Clone, PartialEq)]
struct Slider {
    param: &'static str,
    /// Values in the order of the slider, as they stand in a link.
    values: Vec<String>,
    /// Place of the value that holds now.
    now: usize,
    /// The scenario leaves it open and the plan chose it: it is held while others move, so that the bar shows what they
    /// do and not what another plan would.
    held: bool,
    /// Key of its label.
    label: &'static str,
    /// A parameter that goes along in proportion, with its value now, as the height of a picture with its width.
    along: Option<(&'static str, f64)>,
    /// Prefix of the texts of its values; `None`: they are numbers.
    names: Option<&'static str>,
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

    fn say(&self, lang: Lang, value: &str) -> String {
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
    fn changes(&self, place: usize) -> Vec<(&'static str, String)> {
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
fn sliders(scenario: &Scenario, offer: &Offer) -> Vec<Slider> {
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

/// The offer under changes of the scenario.
fn tried(
    scenario: &Scenario,
    prices: &PriceBook,
    changes: &Changes,
    card: &str,
    count: u32,
) -> Option<Offer> {
    let link = to_query(scenario);
    let kept = link.split('&').filter(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        !changes.contains_key(name) && !matches!(name, "cards" | "n" | "max" | "unpriced")
    });
    let own = changes
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let query = kept
        .map(str::to_owned)
        .chain(own)
        .chain([format!("cards={card}&n={count}&unpriced=yes")])
        .filter(|pair| !pair.is_empty())
        .collect::<Vec<_>>()
        .join("&");
    let catalog = Catalog::embedded();
    let scenario = parse(&query, catalog).scenario;
    offers::rank(&scenario, catalog, prices)
        .offers
        .into_iter()
        .next()
}

/// What the plan chose and is held while another slider moves.
fn held(sliders: &[Slider]) -> Changes {
    sliders
        .iter()
        .filter(|slider| slider.held)
        .filter_map(|slider| Some((slider.param, slider.values.get(slider.now)?.clone())))
        .collect()
}

/// Sliders under an offer's memory.
#[component]
pub fn WhatIf(
    /// The offer.
    offer: Arc<Offer>,
) -> impl IntoView {
    let app = App::get();
    let sliders = app.scenario.with_untracked(|s| sliders(s, &offer));
    if sliders.is_empty() {
        return view! { <MemoryBar offer /> }.into_any();
    }
    let changes = RwSignal::new(Changes::new());
    let (card, count) = (offer.card.clone(), offer.count);
    let held = held(&sliders);
    let shown = Memo::new(move |_| {
        let prices = app.book.get_untracked();
        changes.with(|changes| {
            let mut all = held.clone();
            all.extend(changes.clone());
            app.scenario
                .with_untracked(|s| tried(s, &prices, &all, &card, count))
        })
    });
    let original = StoredValue::new(offer);
    let changed = move || changes.with(|changes| !changes.is_empty());
    view! {
        <div class="what-if" data-testid="what-if">
            {move || {
                let offer = if changed() {
                    Arc::new(shown.get()?)
                } else {
                    original.get_value()
                };
                let lang = app.lang.get();
                Some(
                    view! {
                        <p class="what-if-fit" role="status">
                            <FitGlyph fit=words::fit_name(&offer.fit) />
                            {words::fit(lang, &offer.fit)}
                        </p>
                        <MemoryBar offer />
                    },
                )
            }}
            <h4>{t("what_if.title")}</h4>
            <div class="sliders">
                {sliders
                    .into_iter()
                    .map(|slider| view! { <SliderField slider changes /> })
                    .collect_view()}
            </div>
            <p class="ways" class:hidden=move || !changed()>
                <button
                    type="button"
                    class="quiet"
                    data-testid="what-if-apply"
                    on:click=move |_| {
                        let all = changes.get_untracked();
                        let pairs: Vec<(&'static str, &str)> = all
                            .iter()
                            .map(|(name, value)| (*name, value.as_str()))
                            .collect();
                        app.set(&pairs, Pace::Choice);
                    }
                >
                    {t("what_if.apply")}
                </button>
                <button
                    type="button"
                    class="link"
                    data-testid="what-if-reset"
                    on:click=move |_| changes.update(Changes::clear)
                >
                    {t("what_if.reset")}
                </button>
            </p>
        </div>
    }
    .into_any()
}

#[component]
fn SliderField(slider: Slider, changes: RwSignal<Changes>) -> impl IntoView {
    let app = App::get();
    let param = slider.param;
    let id = format!("what-if-{param}");
    let label = slider.label;
    let last = slider.values.len().saturating_sub(1);
    let slider = StoredValue::new(slider);
    let place = move || {
        slider.with_value(|slider| {
            changes.with(|changes| match changes.get(param) {
                Some(value) => slider.values.iter().position(|v| v == value).unwrap_or(0),
                None => slider.now,
            })
        })
    };
    let said = move || {
        slider.with_value(|slider| {
            let value = slider.values.get(place()).cloned().unwrap_or_default();
            slider.say(app.lang.get(), &value)
        })
    };
    view! {
        <div class="slider">
            <label for=id.clone()>
                {t(label)} <b>{said}</b>
            </label>
            <input
                id=id.clone()
                data-testid=id
                type="range"
                min="0"
                max=last.to_string()
                step="1"
                prop:value=move || place().to_string()
                aria-valuetext=said
                on:input=move |event| {
                    let to: usize = event_target_value(&event).parse().unwrap_or(0);
                    slider
                        .with_value(|slider| {
                            changes
                                .update(|changes| {
                                    for (param, value) in slider.changes(to) {
                                        if to == slider.now {
                                            changes.remove(param);
                                        } else {
                                            changes.insert(param, value);
                                        }
                                    }
                                });
                        });
                }
            />
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(link: &str) -> (Scenario, Offer) {
        let catalog = Catalog::embedded();
        let scenario = parse(link, catalog).scenario;
        let ranking = offers::rank(&scenario, catalog, PriceBook::embedded());
        (scenario, ranking.offers.into_iter().next().unwrap())
    }

    #[test]
    fn a_slider_starts_where_the_scenario_is() {
        for link in [
            "m=qwen2.5-7b&do=lora&seq=3000",
            "m=qwen3-32b&do=serve&users=20&w=q4_k_m",
            "m=sdxl&do=image",
            "m=wan-2.1-14b&do=video",
            "m=flux.1-dev&do=diffusion-lora",
            "m=resnet-50&do=vision-train",
            "m=bge-m3&do=vision-infer",
            "m=whisper-large-v3&do=transcribe",
            "m=dense-linear-algebra&do=science",
        ] {
            let (scenario, offer) = first(link);
            let sliders = sliders(&scenario, &offer);
            assert!(!sliders.is_empty(), "{link}");
            for slider in &sliders {
                let mut changes = held(&sliders);
                changes.extend(slider.changes(slider.now));
                let same = tried(
                    &scenario,
                    PriceBook::embedded(),
                    &changes,
                    &offer.card,
                    offer.count,
                )
                .unwrap();
                assert_eq!(
                    same.memory.parts, offer.memory.parts,
                    "{link} {}",
                    slider.param
                );
            }
        }
    }

    #[test]
    fn every_value_of_a_slider_has_a_name_and_an_answer() {
        for link in [
            "m=qwen2.5-7b&do=full&n=4",
            "m=qwen3-32b&do=serve&users=20",
            "m=sdxl&do=image",
            "m=wan-2.1-14b&do=video",
            "m=sdxl&do=dreambooth",
            "m=yolov8m&do=vision-train",
            "m=whisper-large-v3&do=transcribe",
            "m=dense-linear-algebra&do=science",
        ] {
            let (scenario, offer) = first(link);
            for slider in sliders(&scenario, &offer) {
                assert!(slider.values.len() > 1, "{link} {}", slider.param);
                for (place, value) in slider.values.iter().enumerate() {
                    for lang in Lang::ALL {
                        let said = slider.say(lang, value);
                        assert!(!said.contains("enum.") && !said.contains("page."), "{said}");
                        assert_ne!(text(lang, slider.label, &[]), slider.label);
                    }
                    let changes: Changes = slider.changes(place).into_iter().collect();
                    let prices = PriceBook::embedded();
                    let tried = tried(&scenario, prices, &changes, &offer.card, offer.count);
                    assert!(tried.is_some(), "{link} {} {value}", slider.param);
                }
            }
        }
    }

    #[test]
    fn longer_sequences_and_more_users_need_more() {
        for (link, param, value) in [
            ("m=qwen2.5-7b&do=lora&seq=1024", "seq", "8192"),
            ("m=qwen3-32b&do=serve&users=2", "users", "64"),
        ] {
            let (scenario, offer) = first(link);
            let changes = Changes::from([(param, value.to_owned())]);
            let more = tried(
                &scenario,
                PriceBook::embedded(),
                &changes,
                &offer.card,
                offer.count,
            )
            .unwrap();
            assert!(
                more.memory.needed_bytes.mid > offer.memory.needed_bytes.mid,
                "{link}"
            );
        }
    }
}
