//! Price lists of others, pasted, dropped or chosen: what was taken, and each row that was not, with its reason.

use cardfit::catalog::{Catalog, Currency};
use cardfit::rental::{Imported, ListFacts, PriceForm, import, write_rows};
use cardfit::scenario::Choice;
use cardfit::text::text;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;

use crate::state::App;
use crate::words::t;
use crate::{book, format};

/// Longest list that is read, bytes.
const MOST_BYTES: f64 = 32e6;

/// Paste, drop, choose.
#[component]
pub fn ImportList(stored: RwSignal<bool>) -> impl IntoView {
    let app = App::get();
    let pasted = RwSignal::new(String::new());
    let provider = RwSignal::new(String::new());
    let currency = RwSignal::new(Currency::Usd.name().to_owned());
    let result = RwSignal::new(None::<Imported>);
    let over = RwSignal::new(false);
    let take = move |list: String| {
        let provider = provider.get_untracked();
        let named = if provider.trim().is_empty() {
            text(app.lang.get_untracked(), "prices.import.unnamed", &[])
        } else {
            provider.trim().to_owned()
        };
        let today = book::today();
        let facts = ListFacts {
            provider: &named,
            currency: Currency::from_name(&currency.get_untracked()).unwrap_or(Currency::Usd),
            as_of: &today,
            source: "imported list",
        };
        let read = import(&list, facts, Catalog::embedded());
        let offers = read.offers.clone();
        if !offers.is_empty() {
            stored.set(book::change(app, |e| {
                e.add(offers);
            }));
        }
        result.set(Some(read));
    };
    let take_files = move |files: Option<web_sys::FileList>| {
        let Some(file) = files.and_then(|files| files.get(0)) else {
            return;
        };
        if file.size() > MOST_BYTES {
            let mut refused = Imported::default();
            refused.refused.push(cardfit::rental::RefusedRow {
                line: 0,
                reason: cardfit::rental::RefusedReason::TooMany,
                given: file.name(),
            });
            result.set(Some(refused));
            return;
        }
        leptos::task::spawn_local(async move {
            let read = JsFuture::from(file.text()).await;
            if let Some(list) = read.ok().and_then(|text| text.as_string()) {
                take(list);
            }
        });
    };
    view! {
        <details class="more" data-testid="import">
            <summary>{t("prices.import")}</summary>
            <div
                class="drop"
                class:over=move || over.get()
                on:dragover=move |event| {
                    event.prevent_default();
                    over.set(true);
                }
                on:dragleave=move |_| over.set(false)
                on:drop=move |event| {
                    event.prevent_default();
                    over.set(false);
                    take_files(event.data_transfer().and_then(|data| data.files()));
                }
            >
                <p class="note">{t("prices.import.note")}</p>
                <div class="filters">
                    <div class="field">
                        <label for="import-provider">{t("prices.import.provider")}</label>
                        <div class="input">
                            <input
                                id="import-provider"
                                data-testid="import-provider"
                                type="text"
                                autocomplete="off"
                                on:input=move |event| provider.set(event_target_value(&event))
                            />
                        </div>
                    </div>
                    <div class="field">
                        <label for="import-currency">{t("field.cur")}</label>
                        <div class="input select">
                            <select
                                id="import-currency"
                                on:change=move |event| currency.set(event_target_value(&event))
                            >
                                {Currency::ALL
                                    .iter()
                                    .map(|c| {
                                        let name = c.name();
                                        view! {
                                            <option
                                                value=name
                                                prop:selected=move || currency.get() == name
                                            >
                                                {format::currency_code(*c)}
                                            </option>
                                        }
                                    })
                                    .collect_view()}
                            </select>
                        </div>
                    </div>
                    <div class="field">
                        <label for="import-file">{t("prices.import.file")}</label>
                        <input
                            id="import-file"
                            data-testid="import-file"
                            type="file"
                            accept=".csv,text/csv,text/plain"
                            on:change=move |event| {
                                let input = event
                                    .target()
                                    .and_then(|t| t.dyn_into::<web_sys::HtmlInputElement>().ok());
                                take_files(input.and_then(|input| input.files()));
                            }
                        />
                    </div>
                </div>
                <label for="import-text">{t("prices.import.paste")}</label>
                <textarea
                    id="import-text"
                    data-testid="import-text"
                    rows="6"
                    spellcheck="false"
                    prop:value=pasted
                    on:input=move |event| pasted.set(event_target_value(&event))
                ></textarea>
                <button
                    type="button"
                    class="quiet"
                    data-testid="import-button"
                    on:click=move |_| take(pasted.get_untracked())
                >
                    {t("prices.import.button")}
                </button>
            </div>
            {move || result.get().map(|read| view! { <Outcome read /> })}
            <OwnRows />
        </details>
    }
}

/// What was taken, and what was not.
#[component]
fn Outcome(read: Imported) -> impl IntoView {
    let lang = App::get().lang.get();
    let count = |n: usize| format::count(lang, n as u64);
    let form = match read.form {
        Some(PriceForm::SkyPilot) => text(lang, "prices.import.sky_pilot", &[]),
        Some(PriceForm::Gpuhunt) => text(lang, "prices.import.gpuhunt", &[]),
        Some(PriceForm::Own) => text(lang, "prices.import.own", &[]),
        None => text(lang, "prices.import.no_form", &[]),
    };
    let said = text(
        lang,
        "prices.import.done",
        &[
            ("form", &form),
            ("taken", &count(read.offers.len())),
            ("refused", &count(read.refused.len())),
            ("without", &count(read.without_card)),
            ("repeated", &count(read.repeated)),
        ],
    );
    view! {
        <div role="status" data-testid="import-outcome">
            <p>{said}</p>
            <ul class="plain refused">
                {read
                    .refused
                    .into_iter()
                    .map(|row| {
                        let line = text(
                            lang,
                            "prices.import.line",
                            &[
                                ("line", &row.line.to_string()),
                                ("why", &text(lang, row.reason.key(), &[])),
                            ],
                        );
                        view! {
                            <li data-testid="import-refused">
                                {line} <code>{row.given}</code>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </div>
    }
}

/// One's own rows in our own form, to be kept or handed on.
#[component]
fn OwnRows() -> impl IntoView {
    let app = App::get();
    let rows = Memo::new(move |_| app.edits.with(|e| write_rows(e.own())));
    view! {
        <Show when=move || app.edits.with(|e| !e.own().is_empty())>
            <label for="own-rows">{t("prices.export")}</label>
            <textarea
                id="own-rows"
                data-testid="own-rows"
                rows="4"
                readonly
                prop:value=move || rows.get()
            ></textarea>
        </Show>
    }
}
