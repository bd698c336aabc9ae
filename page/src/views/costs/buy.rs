//! Renting against buying: inputs, the break-even, a chart and the same as a table.

use std::sync::Arc;

use cardfit::catalog::Catalog;
use cardfit::offers::{Offer, rent_or_buy};
use cardfit::rental::RentOrBuy;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use super::chart::{self, Line, Words};
use crate::chart::table::Cells;
use crate::chart::{DataTable, Plot};
use crate::form::field::NumberField;
use crate::state::App;
use crate::words::t;
use crate::{format, words};

/// Hours of the longest month.
const HOURS_OF_MONTH: f64 = 744.0;

/// Inputs, and the answer once a price is given.
#[component]
pub fn RentOrBuyPanel(
    /// The offer that is rented.
    offer: Arc<Offer>,
) -> impl IntoView {
    let app = App::get();
    let case = Memo::new({
        let offer = Arc::clone(&offer);
        move |_| {
            app.scenario
                .with(|s| rent_or_buy(&offer, s, Catalog::embedded()))
        }
    });
    let watts = Catalog::embedded()
        .card(&offer.card)
        .and_then(|card| card.power_w);
    view! {
        <section class="panel" data-testid="buy-panel">
            <h3>{t("buy.title")}</h3>
            <p class="note">
                {move || {
                    let lang = app.lang.get();
                    let cards = words::cards(lang, &offer);
                    match watts {
                        Some(watts) => {
                            text(
                                lang,
                                "buy.note",
                                &[("cards", &cards), ("watts", &format::number(lang, watts, 4))],
                            )
                        }
                        None => text(lang, "buy.note_no_power", &[("cards", &cards)]),
                    }
                }}
            </p>
            <form class="buy-form" on:submit=move |event| event.prevent_default()>
                <NumberField param="buy" value={|s| s.money.purchase.card_price} empty="buy.not_set" />
                <NumberField param="buyserver" value={|s| Some(s.money.purchase.server_price)} />
                <NumberField param="hostw" value={|s| Some(s.money.purchase.host_watts)} />
                <NumberField param="kwh" value={|s| Some(s.money.purchase.kwh_price)} />
                <NumberField param="pue" value={|s| Some(s.money.purchase.cooling_factor)} />
                <NumberField param="hosting" value={|s| Some(s.money.purchase.hosting_price)} />
                <NumberField param="staff" value={|s| Some(s.money.purchase.staff_price)} />
                <NumberField param="resale" value={|s| Some(s.money.purchase.resale_percent)} />
                <NumberField param="months" value={|s| Some(s.money.purchase.months)} />
                <NumberField
                    param="buyhours"
                    value={|s| s.money.purchase.hours_per_month}
                    empty="buy.as_asked"
                />
            </form>
            {move || case.get().map(|case| view! { <Comparison case /> })}
        </section>
    }
}

fn verdict(lang: Lang, app: App, case: &RentOrBuy) -> Vec<String> {
    let currency = app.scenario.with(|s| s.money.currency);
    let money = |amount: f64| format::money(lang, currency, amount);
    let hours = format::number(lang, case.hours_per_month, 3);
    let at_these_hours = text(
        lang,
        if case.owning_is_cheaper() {
            "buy.owning_wins"
        } else {
            "buy.renting_wins"
        },
        &[
            ("hours", &hours),
            ("own", &money(case.own.per_month(case.hours_per_month))),
            ("rent", &money(case.rent(case.hours_per_month))),
        ],
    );
    let break_even = match case.break_even_hours() {
        Some(hours) => text(
            lang,
            "buy.break_even",
            &[("hours", &format::number(lang, hours, 3))],
        ),
        None => text(lang, "buy.never", &[]),
    };
    let pays_back = case.pays_back_after_months().map(|months| {
        let key = if months <= case.own.months {
            "buy.pays_back"
        } else {
            "buy.pays_back_late"
        };
        text(lang, key, &[("months", &format::number(lang, months, 3))])
    });
    [Some(at_these_hours), Some(break_even), pays_back]
        .into_iter()
        .flatten()
        .collect()
}

/// Hours of use that the first table lists, of a month of 720.
const HOURS_LISTED: [f64; 8] = [50.0, 100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 720.0];
/// Points of a line.
const STEPS: u32 = 24;

/// One of the two charts: the lines, where they cross, and what lies along the bottom.
#[derive(Debug, Clone, PartialEq)]
struct Drawn {
    lines: Vec<Line>,
    crossing: Option<(f64, f64)>,
    /// Key of the bottom's name.
    along: &'static str,
    /// Key of what the chart says.
    says: &'static str,
}

/// Renting and buying over an axis up to `most`.
fn two_lines(
    lang: Lang,
    most: f64,
    rent: impl Fn(f64) -> f64,
    own: impl Fn(f64) -> f64,
) -> Vec<Line> {
    let at = || (0..=STEPS).map(|n| f64::from(n) * most / f64::from(STEPS));
    vec![
        Line {
            class: "line-1",
            name: text(lang, "buy.rent", &[]),
            points: at().map(|x| (x, rent(x))).collect(),
        },
        Line {
            class: "line-2 dashed",
            name: text(lang, "buy.own", &[]),
            points: at().map(|x| (x, own(x))).collect(),
        },
    ]
}

#[component]
fn Comparison(case: RentOrBuy) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get();
    let currency = app.scenario.with(|s| s.money.currency);
    let money = move |value: f64| format::money(lang, currency, value);
    let number = move |value: f64| format::number(lang, value, 4);
    let hours = case.hours_per_month;
    let by_hours = Drawn {
        lines: two_lines(
            lang,
            HOURS_OF_MONTH,
            |h| case.rent(h),
            |h| case.own.per_month(h),
        ),
        crossing: case.break_even_hours().map(|h| (h, case.rent(h))),
        along: "buy.hours_axis",
        says: "buy.by_hours",
    };
    let by_months = Drawn {
        lines: two_lines(
            lang,
            case.own.months,
            |m| case.rent(hours) * m,
            |m| case.own.spent_after(m, hours),
        ),
        crossing: case
            .pays_back_after_months()
            .map(|m| (m, case.rent(hours) * m)),
        along: "buy.months_axis",
        says: "buy.by_months",
    };
    let listed = HOURS_LISTED
        .map(|h| vec![number(h), money(case.rent(h)), money(case.own.per_month(h))])
        .to_vec();
    let months = by_months.lines.first().map(|l| l.points.clone());
    let spent = months
        .unwrap_or_default()
        .into_iter()
        .map(|(m, rent)| {
            let own = money(case.own.spent_after(m, hours));
            vec![number(m), money(rent), own]
        })
        .collect();
    let figure = |name: &'static str, drawn: Drawn, rows: Vec<Vec<String>>| {
        let (along, says) = (drawn.along, drawn.says);
        let heads = [along, "buy.rent", "buy.own"]
            .map(|key| text(lang, key, &[]))
            .to_vec();
        let cells = StoredValue::new(Cells { heads, rows });
        view! {
            <figure>
                <figcaption class="note">{text(lang, says, &[])}</figcaption>
                <Plot
                    name
                    label=Signal::derive(move || text(lang, says, &[]))
                    height=|width| (width * 0.5).clamp(220.0, 320.0)
                    draw=move |width, height| {
                        let words = Words {
                            x: &number,
                            y: &money,
                            x_title: text(lang, along, &[]),
                            y_title: format::currency_code(currency).to_owned(),
                        };
                        chart::draw(&drawn.lines, drawn.crossing, &words, (width, height))
                    }
                />
                <DataTable
                    caption=Signal::derive(move || text(lang, says, &[]))
                    cells=move || cells.get_value()
                />
            </figure>
        }
    };
    view! {
        <ul class="plain strong" data-testid="buy-verdict">
            {verdict(lang, app, &case)
                .into_iter()
                .map(|line| view! { <li>{line}</li> })
                .collect_view()}
        </ul>
        <div class="buy-charts">
            {figure("buy-hours", by_hours, listed)} {figure("buy-months", by_months, spent)}
        </div>
    }
}
