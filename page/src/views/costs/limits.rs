//! Budget and deadline: the best within them, and where there is none, what would have to give.

use cardfit::offers::{Offer, within_limits};
use cardfit::text::text;
use leptos::prelude::*;

use crate::answer::cost;
use crate::state::App;
use crate::{format, words};

/// Nothing where the scenario sets no limit.
#[component]
pub fn LimitsPanel() -> impl IntoView {
    let app = App::get();
    // It would push the chart away from under the hand that drags a limit in it.
    let lines = Memo::new(
        move |before: Option<&Vec<String>>| match (app.dragging.get(), before) {
            (true, Some(before)) => before.clone(),
            _ => app.answer.with(|_| lines(app)),
        },
    );
    view! {
        <Show when=move || lines.with(|lines| !lines.is_empty())>
            <section class="panel limits" data-testid="limits">
                <h3>{move || text(app.lang.get(), "limits.title", &[])}</h3>
                <ul class="plain">
                    {move || {
                        lines
                            .get()
                            .into_iter()
                            .map(|line| view! { <li>{line}</li> })
                            .collect_view()
                    }}
                </ul>
            </section>
        </Show>
    }
}

fn lines(app: App) -> Vec<String> {
    let lang = app.lang.get();
    let (currency, kind) = (
        app.scenario.with(|s| s.money.currency),
        app.answer.with(|a| a.kind),
    );
    let said = |key: &str, offer: &Offer| {
        let money = cost(offer, kind).map(|c| format::money(lang, currency, c.mid));
        let time = offer
            .hours
            .map(|h| format::seconds(lang, h.mid * 3600.0))
            .or_else(|| words::total_speed(lang, offer));
        text(
            lang,
            key,
            &[
                ("cards", &words::cards(lang, offer)),
                ("cost", &money.unwrap_or_default()),
                ("time", &time.unwrap_or_default()),
            ],
        )
    };
    app.answer.with(|answer| {
        let offers = answer.rows.iter().flat_map(|row| &row.counts);
        app.scenario.with(|scenario| {
            let offers = offers.map(std::sync::Arc::as_ref);
            let Some(limited) = within_limits(offers, scenario) else {
                return Vec::new();
            };
            let money = &scenario.money;
            let mut lines = Vec::new();
            match (limited.both_kept, money.deadline_hours, money.budget) {
                (true, ..) => {}
                (false, Some(_), Some(_)) => lines.push(text(lang, "limits.not_both", &[])),
                (false, ..) => lines.push(text(lang, "limits.not_kept", &[])),
            }
            let in_time = limited.cheapest_in_time;
            let in_budget = limited.fastest_in_budget;
            if money.deadline_hours.is_some() {
                lines.push(match in_time {
                    Some(offer) => said("limits.cheapest_in_time", offer),
                    None => text(lang, "limits.none_in_time", &[]),
                });
            }
            if money.budget.is_some() {
                lines.push(match in_budget {
                    Some(offer) => said("limits.fastest_in_budget", offer),
                    None => text(lang, "limits.none_in_budget", &[]),
                });
            }
            if let Some(nearest) = &limited.nearest {
                lines.push(said("limits.nearest", nearest.offer));
                let mut give = Vec::new();
                if nearest.over_budget > 0.0 {
                    let more = format::money(lang, currency, nearest.over_budget);
                    give.push(text(lang, "limits.give_money", &[("more", &more)]));
                }
                if nearest.late_hours > 0.0 {
                    let more = format::seconds(lang, nearest.late_hours * 3600.0);
                    give.push(text(lang, "limits.give_time", &[("more", &more)]));
                }
                let comma = text(lang, "page.comma", &[]);
                lines.push(text(lang, "limits.give", &[("what", &give.join(&comma))]));
            }
            lines
        })
    })
}
