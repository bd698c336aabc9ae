//! What to ask a platform, each item one line with the offer's own numbers and where to check it.

use std::sync::Arc;

use cardfit::catalog::Catalog;
use cardfit::offers::{Offer, checks};
use cardfit::rental::Check;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::format;
use crate::state::App;
use crate::words::t;

/// The checklist.
#[component]
pub fn Checks(
    /// The offer that it is for.
    offer: Arc<Offer>,
) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get();
    let list = app
        .scenario
        .with(|s| checks(&offer, s, Catalog::embedded()));
    let currency = app.scenario.with(|s| s.money.currency);
    let money = move |amount: f64| format::money(lang, currency, amount);
    view! {
        <section class="panel" data-testid="checklist">
            <h3>{t("check.title")}</h3>
            <ul class="checklist">
                {list
                    .into_iter()
                    .map(|check| {
                        let (what, place) = words_of(lang, check, &money);
                        view! {
                            <li data-testid="check">
                                <span>{what}</span>
                                <small>{place}</small>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </section>
    }
}

/// What to check, and where.
fn words_of(lang: Lang, check: Check, money: &impl Fn(f64) -> String) -> (String, String) {
    let number = |value: f64| format::number(lang, value, 3);
    let hours = |value: f64| format::seconds(lang, value * 3600.0);
    let (key, values): (&str, Vec<(&str, String)>) = match check {
        Check::ExclusiveMemory {
            needed_gib,
            usable_gib,
        } => (
            "check.memory",
            vec![
                ("needed", number(needed_gib)),
                ("usable", number(usable_gib)),
            ],
        ),
        Check::CardLink {
            tensor_ways,
            linked,
            share,
        } if tensor_ways > 1 => (
            if linked {
                "check.link_tensor"
            } else {
                "check.link_tensor_bus"
            },
            vec![
                ("ways", format::count(lang, u64::from(tensor_ways))),
                ("share", format::percent(share)),
            ],
        ),
        Check::CardLink { share, .. } => ("check.link", vec![("share", format::percent(share))]),
        Check::Network { machines } => (
            "check.network",
            vec![("machines", format::count(lang, u64::from(machines)))],
        ),
        Check::DiskSpeed {
            feed_mb_s,
            model_gb,
            load_mb_s,
        } => (
            if feed_mb_s > 0.0 {
                "check.disk_speed"
            } else {
                "check.disk_load"
            },
            vec![
                ("feed", format::data_rate(lang, feed_mb_s)),
                ("model", number(model_gb)),
                ("load", format::data_rate(lang, load_mb_s)),
            ],
        ),
        Check::DiskSpace { gb } => ("check.disk_space", vec![("gb", number(gb))]),
        Check::Region {
            gb,
            hours_at_100_mbit_s,
        } => (
            "check.region",
            vec![("gb", number(gb)), ("time", hours(hours_at_100_mbit_s))],
        ),
        Check::Sla {
            hours: whole,
            minutes_at_three_nines,
            hours_at_two_nines,
        } => (
            "check.sla",
            vec![
                ("whole", hours(whole)),
                ("three", hours(minutes_at_three_nines / 60.0)),
                ("two", hours(hours_at_two_nines)),
            ],
        ),
        Check::Trial {
            hours: trial,
            cost,
            share,
        } => (
            "check.trial",
            vec![
                ("time", hours(trial)),
                ("cost", money(cost)),
                ("share", format::percent(share)),
            ],
        ),
        Check::Forgotten { cost } => ("check.forgotten", vec![("cost", money(cost))]),
        Check::Prepay { hour, all } => (
            "check.prepay",
            vec![("hour", money(hour)), ("all", money(all))],
        ),
    };
    let values: Vec<(&str, &str)> = values
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let place = match key {
        "check.link_tensor" | "check.link_tensor_bus" => "check.link.where".to_owned(),
        "check.disk_load" => "check.disk_speed.where".to_owned(),
        key => format!("{key}.where"),
    };
    (text(lang, key, &values), text(lang, &place, &[]))
}
