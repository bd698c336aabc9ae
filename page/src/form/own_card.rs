//! A card that is not in the catalog, by its figures.

use cardfit::catalog::Catalog;
use cardfit::scenario::{MOST_OWN_CARDS, own_card_name};
use leptos::prelude::*;

use super::field::FieldNote;
use crate::state::{App, Pace};
use crate::words::{self, t};

/// Key of a figure's label and what stands in its empty input.
const FIGURES: [(&str, &str); 6] = [
    ("own.memory", "48"),
    ("own.bandwidth", "864"),
    ("own.half", "362"),
    ("own.eighth", ""),
    ("own.link", "64"),
    ("own.node", "1"),
];

/// The form, and the cards that were added.
#[component]
pub fn OwnCards() -> impl IntoView {
    let app = App::get();
    let cards = Memo::new(move |_| app.scenario.with(|s| s.shelf.own.clone()));
    let name = RwSignal::new(String::new());
    let figures: [RwSignal<String>; 6] = std::array::from_fn(|_| RwSignal::new(String::new()));
    let like = RwSignal::new(String::new());
    let entries = move || {
        cards.with(|cards| {
            let link = app.scenario.with_untracked(cardfit::scenario::to_query);
            let (pairs, _) = cardfit::scenario::decode(&link);
            let own = pairs.into_iter().find(|(param, _)| param == "own");
            let own = own.map(|(_, value)| value).unwrap_or_default();
            let parts = own.split(',').map(str::to_owned).collect::<Vec<_>>();
            parts.into_iter().take(cards.len()).collect::<Vec<_>>()
        })
    };
    let add = move |_| {
        let Some(name_given) = own_card_name(&name.get_untracked()) else {
            return;
        };
        let figures: Vec<String> = figures
            .iter()
            .map(|figure| figure.get_untracked().trim().replace([',', ':'], ""))
            .collect();
        let one = format!(
            "{name_given}:{}:{}",
            figures.join(":"),
            like.get_untracked()
        );
        let mut all = entries();
        all.push(one.trim_end_matches(':').to_owned());
        app.set(&[("own", &all.join(","))], Pace::Choice);
        if app
            .bad_inputs
            .with_untracked(|bad| !bad.contains_key("own"))
        {
            name.set(String::new());
        }
    };
    let remove = move |place: usize| {
        let mut all = entries();
        if place < all.len() {
            all.remove(place);
        }
        app.set(&[("own", &all.join(","))], Pace::Choice);
    };
    view! {
        <details class="more own-cards" data-testid="own-cards">
            <summary>{t("own.title")}</summary>
            <p class="note">{t("own.say")}</p>
            <ul class="own-list">
                {move || {
                    cards
                        .get()
                        .into_iter()
                        .enumerate()
                        .map(|(place, card)| {
                            view! {
                                <li>
                                    <span>{card.name.clone()}</span>
                                    <button
                                        type="button"
                                        class="quiet"
                                        data-testid=format!("own-remove-{place}")
                                        on:click=move |_| remove(place)
                                    >
                                        {t("own.remove")}
                                    </button>
                                </li>
                            }
                        })
                        .collect_view()
                }}
            </ul>
            <div class="pairs">
                <div class="field">
                    <label for="own-name">{t("own.name")}</label>
                    <div class="input">
                        <input
                            id="own-name"
                            data-testid="own-name"
                            type="text"
                            autocomplete="off"
                            maxlength="40"
                            prop:value=name
                            on:input=move |event| name.set(event_target_value(&event))
                        />
                    </div>
                </div>
                {FIGURES
                    .iter()
                    .zip(figures)
                    .map(|((key, hint), figure)| {
                        let id = key.replace('.', "-");
                        view! {
                            <div class="field">
                                <label for=id.clone()>{t(key)}</label>
                                <div class="input">
                                    <input
                                        id=id.clone()
                                        data-testid=id
                                        type="text"
                                        inputmode="decimal"
                                        autocomplete="off"
                                        placeholder=*hint
                                        prop:value=figure
                                        on:input=move |event| figure.set(event_target_value(&event))
                                    />
                                </div>
                            </div>
                        }
                    })
                    .collect_view()}
                <div class="field">
                    <label for="own-like">{t("own.like")}</label>
                    <select
                        id="own-like"
                        data-testid="own-like"
                        prop:value=like
                        on:change=move |event| like.set(event_target_value(&event))
                    >
                        <option value="">{t("own.like.none")}</option>
                        {Catalog::embedded()
                            .cards
                            .iter()
                            .map(|card| {
                                view! {
                                    <option value=card.id.clone()>
                                        {words::card_name(app.lang.get_untracked(), &card.id)}
                                    </option>
                                }
                            })
                            .collect_view()}
                    </select>
                </div>
            </div>
            <FieldNote param="own" />
            <button
                type="button"
                data-testid="own-add"
                disabled=move || {
                    cards.with(Vec::len) >= MOST_OWN_CARDS
                        || name.with(|name| name.trim().is_empty())
                }
                on:click=add
            >
                {t("own.add")}
            </button>
        </details>
    }
}
