//! The price book: every quote with its day and source, each to be changed in place; rows of one's own; lists of others.

mod add;
mod import;
mod table;

use cardfit::catalog::PriceBook;
use cardfit::rental::Rates;
use cardfit::text::text;
use leptos::prelude::*;

use crate::lazy::lazy_view;
use crate::state::App;
use crate::words::t;
use crate::{book, format};

lazy_view! {
    part = views;
    /// [`Prices`], loaded when it is first looked at.
    pub fn prices() {
        view! { <Prices /> }.into_any()
    }
}

/// The view.
#[component]
pub fn Prices() -> impl IntoView {
    let app = App::get();
    let stored = RwSignal::new(true);
    view! {
        <main class="prices" id="answer" data-testid="prices">
            <h2>{t("prices.title")}</h2>
            <p class="note">{t("prices.note")}</p>
            <p class="note">
                {move || {
                    let lang = app.lang.get();
                    let rates = Rates::embedded();
                    text(
                        lang,
                        "prices.snapshot",
                        &[
                            ("n", &format::count(lang, PriceBook::embedded().offers.len() as u64)),
                            ("from", &format::date(lang, &span().0)),
                            ("to", &format::date(lang, &span().1)),
                            ("rates", &format::date(lang, &rates.as_of)),
                        ],
                    )
                }}
            </p>
            <Changes stored />
            <table::Rows stored />
            <add::AddRow stored />
            <import::ImportList stored />
        </main>
    }
}

/// First and last day of the shipped rows that are dated to the day.
fn span() -> (String, String) {
    let days = || {
        let offers = PriceBook::embedded().offers.iter();
        offers
            .map(|o| o.as_of.as_str())
            .filter(|day| day.len() == "2026-11-30".len())
    };
    (
        days().min().unwrap_or_default().to_owned(),
        days().max().unwrap_or_default().to_owned(),
    )
}

/// What was changed, and taking it back.
#[component]
fn Changes(stored: RwSignal<bool>) -> impl IntoView {
    let app = App::get();
    let changed = Memo::new(move |_| app.edits.with(|e| !e.is_empty()));
    view! {
        <Show when=move || changed.get()>
            <section class="notice" role="status" data-testid="prices-changed">
                <div>
                    <p>
                        {move || {
                            let lang = app.lang.get();
                            let (own, hidden) = app.edits.with(|e| (e.own().len(), e.hidden()));
                            text(
                                lang,
                                "prices.changed",
                                &[
                                    ("own", &format::count(lang, own as u64)),
                                    ("hidden", &format::count(lang, hidden as u64)),
                                ],
                            )
                        }}
                    </p>
                    <p class="note">
                        {move || {
                            let key = if stored.get() { "prices.kept" } else { "prices.not_kept" };
                            text(app.lang.get(), key, &[])
                        }}
                    </p>
                    <div class="check">
                        <input
                            type="checkbox"
                            id="only-own"
                            data-testid="only-own"
                            prop:checked=move || app.edits.with(|e| e.only_own())
                            on:change=move |event| {
                                let only = event_target_checked(&event);
                                stored.set(book::change(app, |e| e.use_only_own(only)));
                            }
                        />
                        <label for="only-own">{t("prices.only_own")}</label>
                    </div>
                </div>
                <button
                    type="button"
                    class="quiet"
                    data-testid="prices-clear"
                    on:click=move |_| {
                        stored.set(book::change(app, |e| *e = Default::default()));
                    }
                >
                    {t("prices.clear")}
                </button>
            </section>
        </Show>
    }
}
