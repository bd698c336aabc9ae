//! Taking an answer away: the plan as files to run, the offers as CSV or JSON, the page on paper.

use std::sync::Arc;

use cardfit::launch::{LaunchFile, files};
use cardfit::offers::Offer;
use cardfit::range::Range;
use cardfit::scenario::to_query;
use cardfit::text::text;
use leptos::prelude::*;

use crate::answer::{Answer, cost};
use crate::chart::save;
use crate::lazy::lazy_view;
use crate::state::App;
use crate::words::{self, t};

/// The files of an offer's plan, one shown at a time.
pub fn launch_files(offer: &Arc<Offer>) -> impl IntoView + use<> {
    let app = App::get();
    let files = app.scenario.with(|scenario| files(scenario, offer));
    (!files.is_empty()).then(|| view! { <LaunchFiles files /> })
}

#[component]
fn LaunchFiles(files: Vec<LaunchFile>) -> impl IntoView {
    let app = App::get();
    let tools: Vec<&'static str> = files.iter().map(|file| file.tool).collect();
    let files = StoredValue::new(files);
    let shown = RwSignal::new(0_usize);
    let copied = RwSignal::new(false);
    let file = move || files.with_value(|files| files.get(shown.get()).cloned());
    let now = move || untrack(file);
    view! {
        <section class="wide launch" data-testid="launch">
            <h3>{t("take.launch")}</h3>
            <div class="counts" role="group" aria-label=t("take.launch")>
                {tools
                    .into_iter()
                    .enumerate()
                    .map(|(place, tool)| {
                        view! {
                            <button
                                type="button"
                                class="count"
                                data-testid="launch-tool"
                                aria-pressed=move || (shown.get() == place).to_string()
                                on:click=move |_| {
                                    shown.set(place);
                                    copied.set(false);
                                }
                            >
                                {tool}
                            </button>
                        }
                    })
                    .collect_view()}
            </div>
            <pre class="file" role="region" tabindex="0" aria-label=move || file().map(|f| f.name)>
                <code data-testid="launch-text">{move || file().map(|f| f.text)}</code>
            </pre>
            <p class="ways">
                <button
                    type="button"
                    class="link"
                    data-testid="launch-copy"
                    on:click=move |_| {
                        if let Some(file) = now() {
                            // Refused outside secure pages: the text can still be selected.
                            let _promise = window().navigator().clipboard().write_text(&file.text);
                            copied.set(true);
                        }
                    }
                >
                    {move || {
                        let key = if copied.get() { "take.copied" } else { "take.copy" };
                        text(app.lang.get(), key, &[])
                    }}
                </button>
                <button
                    type="button"
                    class="link"
                    data-testid="launch-save"
                    on:click=move |_| {
                        if let Some(file) = now() {
                            save::text(file.name, "text/plain", &file.text);
                        }
                    }
                >
                    {move || {
                        let name = file().map(|f| f.name).unwrap_or_default();
                        text(app.lang.get(), "take.save", &[("name", name)])
                    }}
                </button>
            </p>
            <p class="note">{t("take.launch.say")}</p>
        </section>
    }
}

lazy_view! {
    part = answer;
    /// [`TakeAway`], loaded after the first answer.
    pub fn take_away() {
        view! { <TakeAway /> }.into_any()
    }
}

/// Ways to take all offers along.
#[component]
fn TakeAway() -> impl IntoView {
    let app = App::get();
    view! {
        <p class="ways take" role="group" aria-label=t("take.title")>
            <button
                type="button"
                class="link"
                data-testid="save-csv"
                on:click=move |_| {
                    let csv = app.answer.with_untracked(|answer| csv(answer));
                    save::text("cardfit-offers.csv", "text/csv", &csv);
                }
            >
                {t("take.csv")}
            </button>
            <button
                type="button"
                class="link"
                data-testid="save-json"
                on:click=move |_| {
                    let link = app.scenario.with_untracked(to_query);
                    let json = app.answer.with_untracked(|answer| json(answer, &link));
                    save::text("cardfit-offers.json", "application/json", &json);
                }
            >
                {t("take.json")}
            </button>
            <button
                type="button"
                class="link"
                data-testid="print"
                on:click=move |_| {
                    let _refused = window().print();
                }
            >
                {t("take.print")}
            </button>
        </p>
    }
}

/// Every offer a line; figures are plain numbers, empty where there is none.
fn csv(answer: &Answer) -> String {
    const HEAD: [&str; 18] = [
        "card",
        "count",
        "nodes",
        "fit",
        "memory_needed_bytes",
        "memory_needed_low_bytes",
        "memory_needed_high_bytes",
        "memory_usable_bytes",
        "hours",
        "hours_low",
        "hours_high",
        "cost",
        "cost_low",
        "cost_high",
        "cost_per_hour",
        "provider",
        "billing",
        "price_as_of",
    ];
    let mut out = HEAD.join(",") + "\n";
    let three = |range: Option<Range>| match range {
        Some(r) => [r.mid, r.low, r.high].map(|value| value.to_string()),
        None => [const { String::new() }; 3],
    };
    for offer in answer.rows.iter().flat_map(|row| &row.counts) {
        let price = offer.price.as_ref();
        let mut cells = vec![
            offer.card.clone(),
            offer.count.to_string(),
            offer.nodes.to_string(),
            words::fit_name(&offer.fit).to_owned(),
        ];
        cells.extend(three(Some(offer.memory.needed_bytes)));
        cells.push(offer.usable_memory_bytes.to_string());
        cells.extend(three(offer.hours));
        cells.extend(three(cost(offer, answer.kind)));
        cells.push(
            offer
                .cost_per_hour
                .map(|c| c.mid.to_string())
                .unwrap_or_default(),
        );
        cells.push(price.and_then(|p| p.provider.clone()).unwrap_or_default());
        cells.push(
            price
                .map(|p| format!("{:?}", p.billing))
                .unwrap_or_default(),
        );
        cells.push(price.and_then(|p| p.as_of.clone()).unwrap_or_default());
        out += &cells
            .iter()
            .map(|cell| quoted(cell))
            .collect::<Vec<_>>()
            .join(",");
        out.push('\n');
    }
    out
}

fn quoted(cell: &str) -> String {
    // A spreadsheet takes a cell that begins like this for a formula.
    let cell = if cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err() {
        format!("'{cell}")
    } else {
        cell.to_owned()
    };
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

/// Scenario and offers, in the form that the command line prints offers in.
fn json(answer: &Answer, link: &str) -> String {
    let offers: Vec<&Offer> = answer
        .rows
        .iter()
        .flat_map(|row| row.counts.iter().map(Arc::as_ref))
        .collect();
    serde_json::json!({
        "scenario": link,
        "offers": offers,
        "assumptions": answer.assumptions,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardfit::catalog::{Catalog, PriceBook};
    use cardfit::offers::rank;
    use cardfit::scenario::parse;

    fn answer() -> Answer {
        let catalog = Catalog::embedded();
        let scenario = parse("m=qwen2.5-7b&do=lora&cards=rtx-4090,t4", catalog).scenario;
        Answer::new(&rank(&scenario, catalog, PriceBook::embedded()), &scenario)
    }

    #[test]
    fn every_offer_is_a_line_of_as_many_cells_as_the_head_names() {
        let answer = answer();
        let csv = csv(&answer);
        let mut reader = csv.lines();
        let head = reader.next().unwrap().split(',').count();
        let offers: usize = answer.rows.iter().map(|row| row.counts.len()).sum();
        assert_eq!(csv.lines().count(), offers + 1);
        // Names of providers may hold commas; those lines are quoted.
        for line in reader.filter(|line| !line.contains('"')) {
            assert_eq!(line.split(',').count(), head, "{line}");
        }
    }

    #[test]
    fn cells_are_quoted_and_no_formula() {
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
        assert_eq!(quoted("-1.5"), "-1.5");
    }

    #[test]
    fn json_holds_the_scenario_and_every_offer() {
        let answer = answer();
        let value: serde_json::Value =
            serde_json::from_str(&json(&answer, "m=qwen2.5-7b")).unwrap();
        assert_eq!(value["scenario"], "m=qwen2.5-7b");
        let offers: usize = answer.rows.iter().map(|row| row.counts.len()).sum();
        assert_eq!(value["offers"].as_array().unwrap().len(), offers);
    }
}
