//! A bill as a table: what is paid, line by line, with its ends.

use cardfit::catalog::Currency;
use cardfit::rental::{Amount, Bill, Line, LineKind, LineUnit, ModeCost, name_in};
use cardfit::scenario::Choice;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::state::App;
use crate::{format, words};

/// What a line is for.
pub fn line_name(lang: Lang, kind: LineKind) -> String {
    let key = match kind {
        LineKind::Work => "bill.line.work",
        LineKind::Evaluation => "bill.line.evaluation",
        LineKind::FailedRuns => "bill.line.failed_runs",
        LineKind::Interruptions => "bill.line.interruptions",
        LineKind::SetUp => "bill.line.set_up",
        LineKind::Fetch => "bill.line.fetch",
        LineKind::Upload => "bill.line.upload",
        LineKind::Idle => "bill.line.idle",
        LineKind::RoundingUp => "bill.line.rounding_up",
        LineKind::Package => "bill.line.package",
        LineKind::BeyondPackages => "bill.line.beyond_packages",
        LineKind::WholeNodes => "bill.line.whole_nodes",
        LineKind::Spares => "bill.line.spares",
        LineKind::Disk => "bill.line.disk",
        LineKind::DiskStopped => "bill.line.disk_stopped",
        LineKind::Egress => "bill.line.egress",
        LineKind::Tax => "bill.line.tax",
    };
    text(lang, key, &[])
}

/// Quantity and price of one, in words.
fn quantity(lang: Lang, currency: Currency, line: &Line) -> String {
    let key = match line.unit {
        LineUnit::CardHour => "bill.unit.card_hour",
        LineUnit::CardDay => "bill.unit.card_day",
        LineUnit::CardWeek => "bill.unit.card_week",
        LineUnit::CardMonth => "bill.unit.card_month",
        LineUnit::CardYear => "bill.unit.card_year",
        LineUnit::GbMonth => "bill.unit.gb_month",
        LineUnit::Gb => "bill.unit.gb",
        LineUnit::Share => "bill.unit.share",
    };
    let [_, quantity, _] = line.quantity;
    let n = match line.unit {
        LineUnit::Share => format::percent(quantity),
        // Whole cards and days are known as they are, worked hours are an estimate.
        _ if quantity.fract() == 0.0 => format::number(lang, quantity, 5),
        _ => format::number(lang, quantity, 3),
    };
    let price = format::money(lang, currency, line.unit_price);
    text(lang, key, &[("n", &n), ("price", &price)])
}

/// An amount to the cent, with its currency.
pub fn amount(currency: Currency, amount: Amount) -> String {
    let decimal = amount.decimal();
    let (whole, cents) = decimal.split_once('.').unwrap_or((&decimal, "00"));
    format!(
        "{}{}.{cents}",
        format::symbol(currency),
        format::grouped(whole)
    )
}

/// A bill. Where low and high are the same, one column says it.
#[component]
pub fn BillTable(
    /// The bill, in the scenario's currency.
    bill: Bill,
    /// Key of the caption.
    caption: &'static str,
) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get();
    let currency = app.scenario.with(|s| s.money.currency);
    let ranged = bill.total.iter().any(|total| *total != bill.total[1]);
    let head = if ranged {
        vec!["bill.low", "bill.mid", "bill.high"]
    } else {
        vec!["bill.amount"]
    };
    let cells = move |amounts: [Amount; 3]| {
        let shown = if ranged {
            amounts.to_vec()
        } else {
            vec![amounts[1]]
        };
        shown
            .into_iter()
            .map(|one| view! { <td class="figure">{amount(currency, one)}</td> })
            .collect_view()
    };
    view! {
        <div class="scroll" tabindex="0" role="group" aria-label=text(lang, caption, &[])>
            <table class="bill" data-testid="bill">
                <caption>{text(lang, caption, &[])}</caption>
                <thead>
                    <tr>
                        <th scope="col">{text(lang, "bill.item", &[])}</th>
                        {head
                            .into_iter()
                            .map(|key| {
                                view! {
                                    <th scope="col" class="figure">
                                        {text(lang, key, &[])}
                                    </th>
                                }
                            })
                            .collect_view()}
                    </tr>
                </thead>
                <tbody>
                    {bill
                        .lines
                        .into_iter()
                        .map(|line| {
                            view! {
                                <tr data-testid="bill-line">
                                    <th scope="row">
                                        {line_name(lang, line.kind)}
                                        <small>{quantity(lang, currency, &line)}</small>
                                    </th>
                                    {cells(line.amount)}
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
                <tfoot>
                    <tr data-testid="bill-total">
                        <th scope="row">{text(lang, "bill.total", &[])}</th>
                        {cells(bill.total)}
                    </tr>
                </tfoot>
            </table>
        </div>
    }
}

/// Every mode of billing with what it comes to, and from how many hours on it is worth it.
#[component]
pub fn ModesTable(
    /// The modes.
    modes: Vec<ModeCost>,
    /// Cards that are paid for.
    cards: u32,
) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get();
    let currency = app.scenario.with(|s| s.money.currency);
    let name = |key: &str| text(lang, key, &[]);
    let cheapest = modes
        .iter()
        .filter(|mode| mode.allowed)
        .map(|mode| mode.cost)
        .fold(f64::INFINITY, f64::min);
    let rows = modes
        .into_iter()
        .map(|mode| {
            let whose = mode
                .provider
                .as_deref()
                .map_or_else(|| name("offer.price.own"), |p| name_in(lang, p).to_owned());
            let day = mode.as_of.as_deref().map(|day| format::date(lang, day));
            let origin = [Some(whose), day].into_iter().flatten().collect::<Vec<_>>();
            let per_unit = format::money(lang, currency, mode.price_per_unit);
            let unit = format!("prices.unit.{}", mode.billing.name().replace('-', "_"));
            let unit = text(lang, &unit, &[]);
            let price = text(
                lang,
                "bill.mode.price",
                &[("price", &per_unit), ("unit", &unit)],
            );
            let above = mode.beats_hourly_above.map(|hours| {
                let n = format::number(lang, hours, 3);
                let unit = format::number(lang, mode.unit_hours, 4);
                let of = if mode.unit_hours > 1.0 {
                    unit
                } else {
                    "720".to_owned()
                };
                text(lang, "bill.mode.above", &[("n", &n), ("of", &of)])
            });
            let chosen = mode.allowed && mode.cost <= cheapest;
            view! {
                <tr class:chosen=chosen data-testid="mode" data-mode=format!("{:?}", mode.billing)>
                    <th scope="row">
                        {words::billing(lang, mode.billing)} " "
                        {chosen
                            .then(|| {
                                view! { <b class="tag">{text(lang, "bill.mode.chosen", &[])}</b> }
                            })}
                        {(!mode.allowed)
                            .then(|| {
                                view! {
                                    <b class="tag quiet-tag">
                                        {text(lang, "bill.mode.not_allowed", &[])}
                                    </b>
                                }
                            })} <small>{origin.join(" · ")}</small>
                    </th>
                    <td>{price} <small>{above}</small></td>
                    <td class="figure">{format::money(lang, currency, mode.cost)}</td>
                </tr>
            }
        })
        .collect_view();
    let charged = format::count(lang, u64::from(cards));
    view! {
        <div class="scroll" tabindex="0" role="group" aria-label=name("bill.modes")>
            <table class="bill modes" data-testid="modes">
                <caption>{text(lang, "bill.modes.of", &[("n", &charged)])}</caption>
                <thead>
                    <tr>
                        <th scope="col">{name("bill.mode")}</th>
                        <th scope="col">{name("bill.mode.of_one")}</th>
                        <th scope="col" class="figure">
                            {name("bill.mode.cost")}
                        </th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}
