//! Quick benchmarks: what to run, what to expect, from what value on to complain.

use cardfit::catalog::Catalog;
use cardfit::check::{Benchmark, Checked, QuickBenchmark, Reading, card_of, reading};
use cardfit::text::text;
use leptos::prelude::*;

use super::Desk;
use crate::state::App;
use crate::words::{card_name, t};

/// Puts `text` on the clipboard where the browser lets it.
pub fn copy(text: &str) {
    // Whoever has no clipboard can select the text.
    let _promise = window().navigator().clipboard().write_text(text);
}

/// The benchmarks, for the card that was found or another.
#[component]
pub fn QuickBenchmarks(
    /// What is looked at.
    desk: Desk,
) -> impl IntoView {
    let app = App::get();
    let chosen = RwSignal::new(None::<String>);
    let found = Memo::new(move |_| match &*desk.checked.get() {
        Checked::Machine(report) => report
            .machine
            .devices
            .iter()
            .find_map(|d| card_of(d, Catalog::embedded()))
            .map(|card| card.id.clone()),
        Checked::Listing(listing) => listing
            .items
            .iter()
            .find_map(|item| item.cards.first().cloned()),
        Checked::Nothing => None,
    });
    let card = Memo::new(move |_| found.get().or_else(|| chosen.get()));
    let kinds = move || {
        let lang = app.lang.get();
        let id = card.get();
        let card = id.as_deref().and_then(|id| Catalog::embedded().card(id));
        Benchmark::ALL
            .into_iter()
            .map(|kind| {
                let QuickBenchmark {
                    command,
                    expected,
                    complain_below,
                    unit,
                    ..
                } = kind.on(card);
                let figure = |value: f64| reading(lang, &Reading::figure(rounded(value), unit));
                let hoped = expected.zip(complain_below).map_or_else(
                    || text(lang, "check.page.bench_unknown", &[]),
                    |(expected, least)| {
                        let values = [("expected", figure(expected)), ("least", figure(least))];
                        let values = values
                            .each_ref()
                            .map(|(name, value)| (*name, value.as_str()));
                        // Of some nothing better is known than what is too little.
                        let key = if expected > least {
                            "check.page.bench_expect"
                        } else {
                            "check.page.bench_least"
                        };
                        text(lang, key, &values)
                    },
                );
                let (title, about) = keys(kind);
                let copied = command.clone();
                view! {
                    <li class="check-bench">
                        <h4>{text(lang, title, &[])}</h4>
                        <p class="note">{text(lang, about, &[])}</p>
                        <pre tabindex="0"><code>{command}</code></pre>
                        <p>{hoped}</p>
                        <button type="button" on:click=move |_| copy(&copied)>
                            {text(lang, "check.page.copy", &[])}
                        </button>
                    </li>
                }
            })
            .collect_view()
    };
    view! {
        <section class="check-benches" data-testid="check-benches">
            <h3>{t("check.page.bench")}</h3>
            <p>{t("check.page.bench_lead")}</p>
            <div class="field check-card">
                <label for="check-bench-card">{t("check.page.card")}</label>
                <CardSelect
                    id="check-bench-card"
                    value=Signal::derive(move || card.get().unwrap_or_default())
                    on_choice=move |id: String| chosen.set((!id.is_empty()).then_some(id))
                />
            </div>
            <ul>{kinds}</ul>
            <p class="note">{t("check.page.bench_note")}</p>
        </section>
    }
}

fn keys(kind: Benchmark) -> (&'static str, &'static str) {
    match kind {
        Benchmark::MatrixProduct => (
            "check.subject.matrix_product",
            "check.page.bench.matrix_product",
        ),
        Benchmark::DeviceCopy => ("check.subject.device_copy", "check.page.bench.device_copy"),
        Benchmark::DiskRead => ("check.subject.disk_read", "check.page.bench.disk_read"),
        Benchmark::AllReduce => ("check.subject.all_reduce", "check.page.bench.all_reduce"),
    }
}

/// Two significant digits: an expectation is no datasheet's value.
fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let step = 10f64.powf(value.log10().floor() - 1.0);
    (value / step).round() * step
}

/// A list of all cards.
#[component]
pub fn CardSelect(
    /// Id of the element.
    id: &'static str,
    /// Card that is chosen; empty: none.
    value: Signal<String>,
    /// What to do with a choice.
    on_choice: impl Fn(String) + 'static,
) -> impl IntoView {
    let app = App::get();
    view! {
        <div class="input">
            <select
                id=id
                data-testid=id
                prop:value=value
                on:change=move |event| on_choice(event_target_value(&event))
            >
                <option value="" selected=move || value.with(String::is_empty)>
                    {t("check.page.no_card")}
                </option>
                {Catalog::embedded()
                    .cards
                    .iter()
                    .map(|card| {
                        let own = card.id.clone();
                        view! {
                            <option
                                value=card.id.clone()
                                selected=move || value.with(|v| *v == own)
                            >
                                {move || card_name(app.lang.get(), &card.id)}
                            </option>
                        }
                    })
                    .collect_view()}
            </select>
        </div>
    }
}
