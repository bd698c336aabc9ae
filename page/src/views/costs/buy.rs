//! Renting against buying: inputs, the break-even, a chart and the same as a table.

use std::sync::Arc;

use cardfit::catalog::Catalog;
use cardfit::offers::{Offer, rent_or_buy};
use cardfit::rental::RentOrBuy;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use super::chart::{LineChart, Series};
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

#[component]
fn Comparison(case: RentOrBuy) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get();
    let currency = app.scenario.with(|s| s.money.currency);
    let by_hours = || (0..=31).map(|n| f64::from(n) * HOURS_OF_MONTH / 31.0);
    let series = vec![
        Series {
            class: "rent",
            name: text(lang, "buy.rent", &[]),
            points: by_hours().map(|h| (h, case.rent(h))).collect(),
        },
        Series {
            class: "own",
            name: text(lang, "buy.own", &[]),
            points: by_hours().map(|h| (h, case.own.per_month(h))).collect(),
        },
    ];
    let over_months = (0..=24_u32).map(|n| f64::from(n) * case.own.months / 24.0);
    let spent = over_months.collect::<Vec<_>>();
    let hours = case.hours_per_month;
    let cumulative = vec![
        Series {
            class: "rent",
            name: text(lang, "buy.rent", &[]),
            points: spent.iter().map(|m| (*m, case.rent(hours) * m)).collect(),
        },
        Series {
            class: "own",
            name: text(lang, "buy.own", &[]),
            points: spent
                .iter()
                .map(|m| (*m, case.own.spent_after(*m, hours)))
                .collect(),
        },
    ];
    let mark = case.break_even_hours().map(|h| (h, case.rent(h)));
    let paid = case
        .pays_back_after_months()
        .map(|m| (m, case.rent(hours) * m));
    let rows = [50.0, 100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 720.0].map(|h| {
        let (rent, own) = (case.rent(h), case.own.per_month(h));
        let money = |amount| format::money(lang, currency, amount);
        view! {
            <tr>
                <th scope="row" class="figure">{format::number(lang, h, 3)}</th>
                <td class="figure" class:chosen=rent <= own>{money(rent)}</td>
                <td class="figure" class:chosen=own < rent>{money(own)}</td>
            </tr>
        }
    });
    let name = |key: &str| text(lang, key, &[]);
    let number = move |value: f64| format::number(lang, value, 4);
    let money = move |value: f64| format::money(lang, currency, value);
    view! {
        <ul class="plain strong" data-testid="buy-verdict">
            {verdict(lang, app, &case)
                .into_iter()
                .map(|line| view! { <li>{line}</li> })
                .collect_view()}
        </ul>
        <p class="legend" aria-hidden="true">
            <span class="key rent">{name("buy.rent")}</span>
            <span class="key own">{name("buy.own")}</span>
        </p>
        <div class="charts">
            <figure>
                <LineChart
                    series
                    mark
                    x_label=Box::new(number)
                    y_label=Box::new(money)
                    x_name=name("buy.hours_axis")
                />
                <figcaption class="note">{name("buy.by_hours")}</figcaption>
            </figure>
            <figure>
                <LineChart
                    series=cumulative
                    mark=paid
                    x_label=Box::new(number)
                    y_label=Box::new(money)
                    x_name=name("buy.months_axis")
                />
                <figcaption class="note">{name("buy.by_months")}</figcaption>
            </figure>
        </div>
        <div class="scroll" tabindex="0" role="group" aria-label=name("buy.by_hours")>
            <table class="bill" data-testid="buy-table">
                <caption>{name("buy.by_hours")}</caption>
                <thead>
                    <tr>
                        <th scope="col" class="figure">{name("buy.hours_axis")}</th>
                        <th scope="col" class="figure">{name("buy.rent")}</th>
                        <th scope="col" class="figure">{name("buy.own")}</th>
                    </tr>
                </thead>
                <tbody>{rows.into_iter().collect_view()}</tbody>
            </table>
        </div>
    }
}
