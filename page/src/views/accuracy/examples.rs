//! Published training runs as worked examples: what was published, what is estimated, and the link that opens each.

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::measured::{PublishedRun, RunMetric, runs};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::format;
use crate::state::App;
use crate::views::View;
use crate::views::card::source_link;
use crate::words::{self, t};

/// The table of runs. Each is estimated when it is shown, which takes a moment for the largest: so one a turn.
#[component]
pub fn Examples() -> impl IntoView {
    let app = App::get();
    view! {
        <p class="lead">{t("runs.lead")}</p>
        <div class="scroll-x" role="region" tabindex="0" aria-label=t("runs.title")>
            <table class="plain-table runs" data-testid="runs">
                <thead>
                    <tr>
                        <th scope="col">{t("runs.run")}</th>
                        <th scope="col">{t("accuracy.card")}</th>
                        <th scope="col" class="figure">{t("field.tokens")}</th>
                        <th scope="col" class="figure">{t("runs.published")}</th>
                        <th scope="col" class="figure">{t("accuracy.estimate")}</th>
                        <th scope="col">{t("accuracy.source")}</th>
                    </tr>
                </thead>
                <tbody>
                    {runs().iter().map(|run| view! { <Run run app /> }).collect_view()}
                </tbody>
            </table>
        </div>
    }
}

#[component]
fn Run(run: &'static PublishedRun, app: App) -> impl IntoView {
    let estimate = RwSignal::new(None::<Option<cardfit::range::Range>>);
    set_timeout(
        move || {
            let found = run.estimate(Catalog::embedded(), PriceBook::embedded());
            let _gone = estimate.try_set(Some(found));
        },
        std::time::Duration::from_millis(1),
    );
    let cards = move || match (&run.card, run.cards) {
        (Some(card), Some(n)) => {
            let lang = app.lang.get();
            let n = format::count(lang, u64::from(n));
            format!("{n} × {}", words::card_name(lang, card))
        }
        _ => String::new(),
    };
    view! {
        <tr>
            <th scope="row">
                <a
                    href=format!("?{}", run.query)
                    data-testid="run"
                    on:click=move |event| {
                        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                            event.prevent_default();
                            app.load_link(&run.query);
                            app.look_at(View::Choose);
                        }
                    }
                >
                    {run.name.clone()}
                </a>
            </th>
            <td>{cards}</td>
            <td class="figure">{move || format::number(app.lang.get(), run.tokens, 3)}</td>
            <td class="figure">{move || said(app.lang.get(), run.metric, run.value)}</td>
            <td class="figure">
                {move || {
                    let lang = app.lang.get();
                    match estimate.get() {
                        None => "…".to_owned(),
                        Some(None) => format::NO_FIGURE.to_owned(),
                        Some(Some(range)) => {
                            let ratio = format!("{:.2}×", range.mid / run.value);
                            format!("{} ({ratio})", said(lang, run.metric, range.mid))
                        }
                    }
                }}
            </td>
            <td>{move || source_link(app.lang.get(), address(&run.source))}</td>
        </tr>
    }
}

/// The address in a source, where it has one.
fn address(source: &str) -> &str {
    source
        .split([' ', ','])
        .find(|word| word.starts_with("https://"))
        .unwrap_or(source)
}

fn said(lang: Lang, metric: RunMetric, value: f64) -> String {
    let n = format::number(lang, value, 3);
    match metric {
        RunMetric::CardHours => text(lang, "runs.card_hours", &[("n", &n)]),
        RunMetric::Days => text(lang, "page.time.d", &[("n", &n)]),
        RunMetric::Flops => {
            let power = value.log10().floor();
            format!("{:.2}e{power:.0} FLOP", value / 10f64.powf(power))
        }
    }
}
