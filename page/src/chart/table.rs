//! A chart's data as a table, for those who rather read it and for screen readers.

use leptos::prelude::*;

use crate::words::t;

/// Heads and rows of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cells {
    /// Names of the columns.
    pub heads: Vec<String>,
    /// Rows; the first cell names the row.
    pub rows: Vec<Vec<String>>,
}

/// The table, folded away until it is asked for; it is made only then.
#[component]
pub fn DataTable(
    /// What the table says, for its caption.
    #[prop(into)]
    caption: Signal<String>,
    /// Its contents.
    cells: impl Fn() -> Cells + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let open = RwSignal::new(false);
    view! {
        <details class="data-table" on:toggle=move |_| open.update(|open| *open = !*open)>
            <summary>{t("chart.table")}</summary>
            <Show when=move || open.get()>
                <div class="data-table-scroll" role="region" tabindex="0" aria-label=caption>
                    {move || {
                        let cells = cells();
                        view! {
                            <table>
                                <caption class="unseen">{caption}</caption>
                                <thead>
                                    <tr>
                                        {cells
                                            .heads
                                            .into_iter()
                                            .map(|head| view! { <th scope="col">{head}</th> })
                                            .collect_view()}
                                    </tr>
                                </thead>
                                <tbody>
                                    {cells
                                        .rows
                                        .into_iter()
                                        .map(|row| view! { <Row row /> })
                                        .collect_view()}
                                </tbody>
                            </table>
                        }
                    }}
                </div>
            </Show>
        </details>
    }
}

#[component]
fn Row(row: Vec<String>) -> impl IntoView {
    let mut cells = row.into_iter();
    let name = cells.next();
    view! {
        <tr>
            <th scope="row">{name}</th>
            {cells.map(|cell| view! { <td>{cell}</td> }).collect_view()}
        </tr>
    }
}
