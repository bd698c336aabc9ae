//! Which cards are looked at.

use std::collections::BTreeMap;

use cardfit::catalog::{Card, Catalog, Vendor};
use cardfit::text::text;
use leptos::prelude::*;

use super::field::{CheckField, FieldNote};
use crate::lazy::{LazyDetails, lazy_view};
use crate::search;
use crate::state::{App, Pace};
use crate::words::{self, t};

lazy_view! {
    part = form;
    fn card_choice() {
        view! { <CardChoice /> }.into_any()
    }
}

fn chosen_cards(app: App) -> Memo<Vec<String>> {
    Memo::new(move |_| app.scenario.with(|s| s.shelf.cards.clone()))
}

/// Which cards are looked at, and the choice on demand.
#[component]
pub fn CardFilter() -> impl IntoView {
    let app = App::get();
    let chosen = chosen_cards(app);
    let names = move || {
        let lang = app.lang.get();
        chosen.with(|ids| match ids.as_slice() {
            [] => text(lang, "page.cards.all", &[]),
            [one] => words::card_name(lang, one),
            many => text(lang, "page.cards.chosen", &[("n", &many.len().to_string())]),
        })
    };
    let summary = move || {
        view! { {t("field.cards")} " " <span class="summary-value">{names}</span> }
    };
    view! { <LazyDetails testid="card-filter" summary part=card_choice /> }
}

/// A searchable choice of many cards, by maker.
#[component]
fn CardChoice() -> impl IntoView {
    let app = App::get();
    let wanted = RwSignal::new(String::new());
    let chosen = chosen_cards(app);
    view! {
        <div>
                <div class="field">
                    <label for="card-search">{t("page.cards.search")}</label>
                    <div class="input">
                        <input
                            id="card-search"
                            data-testid="card-search"
                            type="search"
                            autocomplete="off"
                            spellcheck="false"
                            prop:value=wanted
                            on:input=move |event| wanted.set(event_target_value(&event))
                        />
                    </div>
                    <FieldNote param="cards" />
                </div>
                <Show when=move || chosen.with(|ids| !ids.is_empty())>
                    <button
                        type="button"
                        class="quiet"
                        data-testid="cards-clear"
                        on:click=move |_| app.set(&[("cards", "")], Pace::Choice)
                    >
                        {t("page.cards.clear")}
                    </button>
                </Show>
                <div class="card-list">
                    {by_vendor()
                        .into_iter()
                        .map(|(vendor, cards)| view! { <VendorCards vendor cards wanted chosen /> })
                        .collect_view()}
                </div>
                <CheckField param="unpriced" value={|s| s.shelf.unpriced} />
                <super::own_card::OwnCards />
        </div>
    }
}

fn by_vendor() -> BTreeMap<Vendor, Vec<&'static Card>> {
    let mut makers: BTreeMap<Vendor, Vec<&Card>> = BTreeMap::new();
    for card in Catalog::embedded().cards.iter() {
        makers.entry(card.vendor).or_default().push(card);
    }
    // What people rent today stands before what they rented once.
    for cards in makers.values_mut() {
        cards.sort_by_key(|card| std::cmp::Reverse(card.release_year));
    }
    makers
}

#[component]
fn VendorCards(
    vendor: Vendor,
    cards: Vec<&'static Card>,
    wanted: RwSignal<String>,
    chosen: Memo<Vec<String>>,
) -> impl IntoView {
    let app = App::get();
    let toggle = move |id: &'static str| {
        let mut ids = chosen.get_untracked();
        match ids.iter().position(|chosen| chosen == id) {
            Some(place) => {
                ids.remove(place);
            }
            None => ids.push(id.to_owned()),
        }
        app.set(&[("cards", &ids.join(","))], Pace::Choice);
    };
    let matches = move |card: &'static Card| {
        wanted.with(|wanted| {
            let names = [card.id.as_str(), &card.name]
                .into_iter()
                .chain(card.name_zh.as_deref())
                .chain(card.aliases.iter().map(String::as_str));
            search::score(wanted, names).is_some()
        })
    };
    let all = cards.clone();
    let none = Memo::new(move |_| !all.iter().any(|card| matches(card)));
    view! {
        <fieldset class="checks" class:hidden=none>
            <legend>{move || words::vendor(app.lang.get(), vendor)}</legend>
            {cards
                .into_iter()
                .map(|card| {
                    let id = format!("card-{}", card.id);
                    view! {
                        <div class="check" class:hidden=move || !matches(card)>
                            <input
                                type="checkbox"
                                id=id.clone()
                                data-testid=id.clone()
                                prop:checked=move || {
                                    chosen.with(|ids| ids.contains(&card.id))
                                }
                                on:change=move |_| toggle(&card.id)
                            />
                            <label for=id>{move || words::card_name(app.lang.get(), &card.id)}</label>
                        </div>
                    }
                })
                .collect_view()}
        </fieldset>
    }
}
