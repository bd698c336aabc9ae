//! What moves an offer's memory: sliders over the inputs that count, the bar following the finger. Only the one offer is
//! estimated while a slider moves; the scenario changes when it is asked to.

use std::collections::BTreeMap;
use std::sync::Arc;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::{self, Offer};
use cardfit::scenario::{Job, Scenario, number, parse, to_query};
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
    /// Place of the scenario's value.
    now: usize,
    /// Prefix of the texts of its values; `None`: they are numbers.
    names: Option<&'static str>,
}

impl Slider {
    fn numbers(param: &'static str, values: &[f64], now: f64) -> Self {
        let mut all: Vec<f64> = values.to_vec();
        if !all.iter().any(|v| (v - now).abs() < 1e-9) {
            all.push(now);
            all.sort_by(f64::total_cmp);
        }
        Self {
            param,
            now: all.iter().position(|v| (v - now).abs() < 1e-9).unwrap_or(0),
            values: all.into_iter().map(number::write).collect(),
            names: None,
        }
    }

    fn names(param: &'static str, values: &[&str], now: Option<&str>, names: &'static str) -> Self {
        let mut all: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
        if let Some(now) = now.filter(|now| !values.contains(now)) {
            all.push(now.to_owned());
        }
        Self {
            param,
            now: all
                .iter()
                .position(|v| Some(v.as_str()) == now)
                .unwrap_or(0),
            values: all,
            names: Some(names),
        }
    }

    fn say(&self, lang: Lang, value: &str) -> String {
        match self.names {
            Some(names) => text(lang, &format!("{names}.{}", value.replace('-', "_")), &[]),
            None => value
                .parse::<f64>()
                .map_or_else(|_| value.to_owned(), |v| format::number(lang, v, 4)),
        }
    }
}

/// The sliders of a scenario's offer.
fn sliders(scenario: &Scenario, offer: &Offer) -> Vec<Slider> {
    const LENGTHS: [f64; 9] = [
        512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0,
    ];
    const COUNTS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
    match &scenario.job {
        Job::Train(job) => {
            let plan = match &offer.run {
                Some(offers::Run::Train { plan, .. }) => Some(*plan),
                _ => None,
            };
            let micro = job.micro_batch.or(plan.map(|p| p.micro_batch)).unwrap_or(1);
            let recompute = job.recompute.or(plan.map(|p| p.recompute));
            let sharding = job.sharding.or(plan.map(|p| p.sharding));
            let name = |value: Option<&'static str>| value;
            let mut all = vec![
                Slider::numbers("seq", &LENGTHS, f64::from(job.seq_len)),
                Slider::numbers(
                    "micro",
                    COUNTS.get(..7).unwrap_or(&COUNTS),
                    f64::from(micro),
                ),
                Slider::names(
                    "recompute",
                    &["none", "selective", "full"],
                    name(recompute.map(cardfit::scenario::Choice::name)),
                    "enum.recompute",
                ),
            ];
            if offer.count > 1 {
                all.push(Slider::names(
                    "shard",
                    &["none", "zero1", "zero2", "zero3"],
                    name(sharding.map(cardfit::scenario::Choice::name)),
                    "enum.sharding",
                ));
            }
            all
        }
        Job::Serve(job) => {
            use cardfit::scenario::{Choice, Load};
            let users = match job.load {
                Load::Concurrency(n) => f64::from(n),
                _ => 1.0,
            };
            vec![
                Slider::numbers("in", &LENGTHS, f64::from(job.prompt_tokens)),
                Slider::numbers("users", &COUNTS, users),
                Slider::names(
                    "w",
                    &["bf16", "fp8", "int8", "awq4"],
                    Some(job.weights.name()),
                    "enum.weights",
                ),
                Slider::names(
                    "kv",
                    &["16bit", "8bit", "4bit"],
                    Some(job.kv.name()),
                    "enum.kv",
                ),
            ]
        }
        _ => Vec::new(),
    }
}

/// The offer under changes of the scenario.
fn tried(scenario: &Scenario, changes: &Changes, card: &str, count: u32) -> Option<Offer> {
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
    offers::rank(&scenario, catalog, PriceBook::embedded())
        .offers
        .into_iter()
        .next()
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
    let shown = Memo::new(move |_| {
        changes.with(|changes| {
            app.scenario
                .with_untracked(|s| tried(s, changes, &card, count))
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
                {move || text(app.lang.get(), &format!("field.{param}"), &[])} <b>{said}</b>
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
                                    if to == slider.now {
                                        changes.remove(param);
                                    } else if let Some(value) = slider.values.get(to) {
                                        changes.insert(param, value.clone());
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
        ] {
            let (scenario, offer) = first(link);
            for slider in sliders(&scenario, &offer) {
                let mut changes = Changes::new();
                changes.insert(slider.param, slider.values[slider.now].clone());
                let same = tried(&scenario, &changes, &offer.card, offer.count).unwrap();
                assert_eq!(
                    same.memory.parts, offer.memory.parts,
                    "{link} {}",
                    slider.param
                );
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
            let more = tried(&scenario, &changes, &offer.card, offer.count).unwrap();
            assert!(
                more.memory.needed_bytes.mid > offer.memory.needed_bytes.mid,
                "{link}"
            );
        }
    }
}
