//! What moves an offer's memory: sliders over the inputs that count, the bar following the finger. Only the one offer is
//! estimated while a slider moves; the scenario changes when it is asked to.

mod sliders;

use std::collections::BTreeMap;
use std::sync::Arc;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::{self, Offer};
use cardfit::scenario::{Scenario, parse, to_query};
use leptos::prelude::*;

use sliders::{Slider, sliders};

use crate::glyphs::FitGlyph;
use crate::memory_bar::MemoryBar;
use crate::state::{App, Pace};
use crate::words::{self, t};

/// Changes tried out, by link parameter.
type Changes = BTreeMap<&'static str, String>;

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
    use cardfit::text::{Lang, text};

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
