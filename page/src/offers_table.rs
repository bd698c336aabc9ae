//! Every card at its best count: a row each, that opens to the detail.

mod cells;

use std::sync::Arc;

use cardfit::offers::{Fit, Keeping, Offer};
use cardfit::range::Range;
use cardfit::text::text;
use leptos::prelude::*;

use cells::{CostCell, FitCell, SpeedCell};

use crate::answer::{AnswerKind, Row, cost};
use crate::begin::Step;
use crate::lazy::Lazy;
use crate::live;
use crate::offer_detail::offer_detail;
use crate::own_price::OwnPrice;
use crate::state::App;
use crate::take::take_away;
use crate::views::{View, ViewLink};
use crate::words::{self, t};

/// Rows shown before "all" is asked for.
const FIRST_ROWS: usize = 12;

/// Opens a card's row at a count and brings it into sight.
pub fn reveal(app: App, card: &str, count: u32) {
    app.looked_at.update(|looked_at| {
        looked_at.insert(card.to_owned(), count);
    });
    app.opened.update(|opened| {
        opened.insert(card.to_owned());
    });
    app.selected.set(Some(card.to_owned()));
    let place = app
        .answer
        .with_untracked(|answer| answer.rows.iter().position(|row| row.best.card == card));
    if place.is_some_and(|place| place >= FIRST_ROWS) {
        app.all_rows.set(true);
    }
    let id = row_id(card);
    request_animation_frame(move || {
        if let Some(row) = document().get_element_by_id(&id) {
            row.scroll_into_view();
        }
    });
}

/// How many rows are shown.
fn shown_rows(app: App) -> usize {
    if app.all_rows.get() {
        usize::MAX
    } else {
        FIRST_ROWS
    }
}

fn row_id(card: &str) -> String {
    format!("offer-{card}")
}

/// The table of offers. Its roles are said, for on a small screen its rows are laid out as a grid, which would take
/// them away.
#[component]
pub fn OffersTable() -> impl IntoView {
    let app = App::get();
    let kind = Memo::new(move |_| app.answer.with(|a| a.kind));
    let count = Memo::new(move |_| app.answer.with(|a| a.rows.len()));
    // While a limit is dragged each row keeps its place, and says what it misses there: rows that ran past one another
    // once a frame could not be read. They are sorted anew when the limit is let go.
    let scale = Memo::new(move |before: Option<&(AnswerKind, Option<(f64, f64)>)>| {
        if let (true, Some(before)) = (app.dragging.get(), before) {
            return *before;
        }
        let shown = shown_rows(app);
        app.answer.with(|a| (a.kind, a.cost_span(shown)))
    });
    let cards = Memo::new(move |before: Option<&Vec<String>>| {
        if let (true, Some(before)) = (app.dragging.get(), before) {
            return before.clone();
        }
        let shown = shown_rows(app);
        // A row that somebody has opened stays, wherever another order puts it.
        let opened = app.opened.get();
        app.answer.with(|answer| {
            answer
                .rows
                .iter()
                .enumerate()
                .filter(|(place, row)| *place < shown || opened.contains(&row.best.card))
                .map(|(_, row)| row.best.card.clone())
                .collect::<Vec<_>>()
        })
    });
    // The order is not that of the wish alone where a limit may be missed at worst; then it says so.
    let some_at_risk = Memo::new(move |_| {
        app.answer.with(|answer| {
            let mut rows = answer.rows.iter();
            rows.any(|row| row.best.fit == Fit::Fits && row.best.keeping() == Keeping::Likely)
        })
    });
    let speed_heading = move || {
        let key = match kind.get() {
            AnswerKind::Once => "page.table.time",
            AnswerKind::Monthly => "page.table.speed",
        };
        text(app.lang.get(), key, &[])
    };
    let cost_heading = move || {
        let key = match kind.get() {
            AnswerKind::Once => "page.table.cost",
            AnswerKind::Monthly => "page.table.cost_month",
        };
        text(app.lang.get(), key, &[])
    };
    view! {
        <section class="offers" aria-labelledby="offers-title">
            <table data-testid="offers" role="table">
                <caption id="offers-title">{t("page.table.caption")}</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        <th scope="col" role="columnheader">{t("page.table.cards")}</th>
                        <th scope="col" role="columnheader">{t("page.table.fit")}</th>
                        <th scope="col" role="columnheader" class="figure">{speed_heading}</th>
                        <th scope="col" role="columnheader" class="figure">{cost_heading}</th>
                        <th scope="col" role="columnheader" class="figure">{t("page.table.price")}</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">
                    <For each=move || cards.get() key=|card| card.clone() let:card>
                        <Step>
                            <OfferRow card scale />
                        </Step>
                    </For>
                </tbody>
            </table>
            <Show when=move || some_at_risk.get()>
                <p class="table-note" data-testid="at-worst-rule">
                    {t("page.table.at_worst")}
                </p>
            </Show>
            <Show when=move || { count.get() > FIRST_ROWS && !app.all_rows.get() }>
                <button
                    type="button"
                    class="quiet all-rows"
                    data-testid="all-rows"
                    on:click=move |_| app.all_rows.set(true)
                >
                    {move || {
                        text(app.lang.get(), "page.table.all", &[("n", &count.get().to_string())])
                    }}
                </button>
            </Show>
            <Step>
                <CompareBar />
            </Step>
            <Lazy part=take_away />
        </section>
    }
}

/// Most cards that stand side by side.
const MOST_COMPARED: usize = 4;

/// Takes a card into the comparison.
#[component]
fn CompareBox(card: String) -> impl IntoView {
    let app = App::get();
    let name = {
        let card = card.clone();
        move || {
            let lang = app.lang.get();
            let name = words::card_name(lang, &card);
            text(lang, "compare.pick", &[("card", &name)])
        }
    };
    let card = StoredValue::new(card);
    let is_in = Memo::new(move |_| {
        app.compared
            .with(|cards| card.with_value(|card| cards.contains(card)))
    });
    let full = move || !is_in.get() && app.compared.with(|cards| cards.len() >= MOST_COMPARED);
    view! {
        <label class="compare-box">
            <input
                type="checkbox"
                data-testid="compare-box"
                aria-label=name
                prop:checked=is_in
                prop:disabled=full
                on:change=move |event| {
                    let chosen = event_target_checked(&event);
                    app.compared
                        .update(|cards| {
                            card.with_value(|card| {
                                cards.retain(|other| other != card);
                                if chosen {
                                    cards.push(card.clone());
                                }
                            });
                        });
                }
            />
        </label>
    }
}

/// The way to the comparison of the cards that were taken into it, each at the count that is looked at.
#[component]
fn CompareBar() -> impl IntoView {
    let app = App::get();
    let chosen = move || app.compared.with(Vec::len);
    let link = move || {
        app.compared.with(|cards| {
            app.answer.with(|answer| {
                cards
                    .iter()
                    .filter_map(|card| {
                        let best = &answer.row(card)?.best;
                        let count = app.looked_at.with(|counts| counts.get(card).copied());
                        Some(format!("{card}:{}", count.unwrap_or(best.count)))
                    })
                    .collect::<Vec<_>>()
                    .join(",")
            })
        })
    };
    view! {
        <div class="compare-bar" class:hidden=move || chosen() == 0 data-testid="compare-bar">
            <p role="status">
                {move || {
                    let lang = app.lang.get();
                    let key = if chosen() < 2 { "compare.picked_one" } else { "compare.picked" };
                    text(lang, key, &[("n", &chosen().to_string())])
                }}
            </p>
            {move || {
                (chosen() > 1)
                    .then(|| {
                        view! {
                            <ViewLink view=View::Compare params=vec![("vs", link())] testid="compare-go">
                                {t("compare.go")}
                            </ViewLink>
                        }
                    })
            }}
            <button
                type="button"
                class="link"
                data-testid="compare-clear"
                on:click=move |_| app.compared.update(Vec::clear)
            >
                {t("compare.clear")}
            </button>
        </div>
    }
}

/// What the costs of a table are, and their span, on which each is drawn.
type CostScale = Memo<(AnswerKind, Option<(f64, f64)>)>;

#[component]
fn OfferRow(card: String, scale: CostScale) -> impl IntoView {
    let app = App::get();
    let row: Memo<Option<Arc<Row>>> = {
        let card = card.clone();
        // A row that is the very same needs no look at its figures.
        Memo::new_with_compare(
            move |_| app.answer.with(|answer| answer.row(&card).cloned()),
            |before: Option<&Option<Arc<Row>>>, now: Option<&Option<Arc<Row>>>| match (
                before.and_then(Option::as_ref),
                now.and_then(Option::as_ref),
            ) {
                (Some(before), Some(now)) => !Arc::ptr_eq(before, now) && before != now,
                (before, now) => before.is_some() != now.is_some(),
            },
        )
    };
    // A limit that moves over a row changes what it misses or may miss, and none of its other figures.
    let best = live::figures(move || row.get().map(|row| Arc::clone(&row.best)));
    let limits = Memo::new(move |_| {
        row.get()
            .map(|row| (row.best.misses.clone(), row.best.may_miss.clone()))
            .unwrap_or_default()
    });
    let is_open = {
        let card = card.clone();
        Memo::new(move |_| app.opened.with(|opened| opened.contains(&card)))
    };
    let toggle = {
        let card = card.clone();
        move |_| {
            let open = app.opened.try_update(|opened| {
                let open = !opened.remove(&card);
                if open {
                    opened.insert(card.clone());
                }
                open
            });
            app.selected
                .set(open.unwrap_or(false).then(|| card.clone()));
        }
    };
    let pointed = {
        let card = card.clone();
        Memo::new(move |_| app.pointed_in_chart.with(|at| at.as_ref() == Some(&card)))
    };
    let selected = {
        let card = card.clone();
        Memo::new(move |_| app.selected.with(|at| at.as_ref() == Some(&card)))
    };
    let kept = StoredValue::new(card.clone());
    let point = move |_| app.pointed.set(Some(kept.get_value()));
    let point_by_focus = move |_| app.pointed.set(Some(kept.get_value()));
    let figure = move |figure: fn(&Offer, AnswerKind) -> Option<Range>| {
        let kind = scale.with(|(kind, _)| *kind);
        best.get()
            .and_then(|offer| figure(&offer, kind))
            .map(|range| range.mid.to_string())
    };
    let detail_id = format!("detail-{card}");
    view! {
        <tr
            id=row_id(&card)
            role="row"
            class="offer"
            class:open=is_open
            class:pointed=pointed
            class:selected=selected
            data-testid="offer"
            on:pointerenter=point
            on:pointerleave=move |_| app.pointed.set(None)
            on:focusin=point_by_focus
            on:focusout=move |_| app.pointed.set(None)
            data-card=card.clone()
            data-count=move || best.get().map(|offer| offer.count.to_string())
            data-fit=move || best.get().map(|offer| words::fit_name(&offer.fit))
            data-hours-mid=move || figure(|offer, _| offer.hours)
            data-cost-mid=move || figure(cost)
        >
            <th scope="row" role="rowheader" class="cards">
                <CompareBox card=card.clone() />
                <button
                    type="button"
                    class="row-toggle"
                    data-testid="offer-toggle"
                    aria-expanded=move || is_open.get().to_string()
                    aria-controls=detail_id.clone()
                    on:click=toggle
                >
                    <span class="turn" aria-hidden="true"></span>
                    {move || best.get().map(|offer| words::cards(app.lang.get(), &offer))}
                </button>
            </th>
            <td role="cell" class="fit">
                <FitCell best />
            </td>
            <td role="cell" class="figure time">
                <SpeedCell best />
            </td>
            <td role="cell" class="figure cost">
                <CostCell best scale limits />
            </td>
            <td role="cell" class="figure price">
                <OwnPrice card=card.clone() offer=best />
            </td>
        </tr>
        <Show when=move || is_open.get()>
            <tr role="row" class="detail-row" id=detail_id.clone()>
                <td role="cell" colspan="5">
                    <Lazy part=move || offer_detail(row) />
                </td>
            </tr>
        </Show>
    }
}
