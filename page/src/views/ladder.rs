//! Every card ranked by one figure.

mod rungs;

use cardfit::catalog::{Card, Catalog, Vendor};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::form::field::{Entry, Segments};
use crate::glyphs::FitGlyph;
use crate::state::App;
use crate::views::{View, ViewLink};
use crate::words::{self, t};
use rungs::{Makers, Metric, Rung, Tier, rungs};

/// The ladder.
#[component]
pub fn Ladder() -> impl IntoView {
    let app = App::get();
    let metric = Memo::new(move |_| {
        app.at("by")
            .and_then(|name| Metric::of(&name))
            .unwrap_or_else(|| app.scenario.with(Metric::usual))
    });
    let tier = Memo::new(move |_| app.at("tier").and_then(|name| Tier::of(&name)));
    let makers = Memo::new(move |_| {
        app.at("vendor")
            .and_then(|name| Makers::of(&name))
            .unwrap_or_default()
    });
    let list = Memo::new(move |_| {
        app.answer.with(|answer| {
            rungs(
                Catalog::embedded(),
                answer,
                metric.get(),
                tier.get(),
                makers.get(),
            )
        })
    });
    let missing = Memo::new(move |_| {
        let shown = list.with(Vec::len);
        let all = Catalog::embedded()
            .cards
            .iter()
            .filter(|card| tier.get().is_none_or(|tier| tier == Tier::of_card(card)))
            .filter(|card| makers.get().has(card.vendor))
            .count();
        all - shown
    });
    let most = Memo::new(move |_| {
        list.with(|list| list.iter().map(|rung| rung.value).fold(0.0, f64::max))
    });
    let tiers: Vec<Entry> = std::iter::once(("all", "ladder.all"))
        .chain(Tier::ALL.map(|tier| (tier.name(), tier.label_key())))
        .collect();
    let groups: Vec<Entry> = Makers::ALL
        .map(|makers| (makers.name(), makers.label_key()))
        .to_vec();
    view! {
        <main class="wide-page" id="answer">
            <h2 class="view-title">{t("ladder.title")}</h2>
            <div class="filters loose">
                <MetricChoice metric />
                <Segments
                    name="ladder-tier"
                    legend="ladder.tier"
                    value=Signal::derive(move || tier.get().map_or("all", Tier::name))
                    entries=tiers
                    choose=move |name| app.set_at("tier", if name == "all" { "" } else { name })
                />
                <Segments
                    name="ladder-vendor"
                    legend="ladder.vendor"
                    value=Signal::derive(move || makers.get().name())
                    entries=groups
                    choose=move |name| app.set_at("vendor", if name == "all" { "" } else { name })
                />
            </div>
            <p class="lead" data-testid="ladder-lead">
                {move || text(app.lang.get(), metric.get().lead_key(), &[])}
                {t("page.space")}
                {t("ladder.tiers_say")}
            </p>
            <ol class="ladder" data-testid="ladder">
                {move || {
                    let (most, metric) = (most.get(), metric.get());
                    list.get()
                        .into_iter()
                        .enumerate()
                        .map(|(place, rung)| view! { <Bar rung place most metric /> })
                        .collect_view()
                }}
            </ol>
            <p class="note" class:hidden=move || missing.get() == 0>
                {move || {
                    text(app.lang.get(), "ladder.missing", &[("n", &missing.get().to_string())])
                }}
            </p>
        </main>
    }
}

#[component]
fn MetricChoice(metric: Memo<Metric>) -> impl IntoView {
    let app = App::get();
    view! {
        <div class="field">
            <label for="ladder-by">{t("ladder.by")}</label>
            <div class="input select">
                <select
                    id="ladder-by"
                    data-testid="ladder-by"
                    on:change=move |event| app.set_at("by", &event_target_value(&event))
                >
                    {Metric::ALL
                        .into_iter()
                        .map(|choice| {
                            view! {
                                <option value=choice.name() prop:selected=move || metric.get() == choice>
                                    {t(choice.label_key())}
                                </option>
                            }
                        })
                        .collect_view()}
                </select>
            </div>
        </div>
    }
}

/// One card as a bar that leads to it.
#[component]
fn Bar(rung: Rung, place: usize, most: f64, metric: Metric) -> impl IntoView {
    let app = App::get();
    let card = rung.card;
    let width = if most > 0.0 {
        rung.value / most * 100.0
    } else {
        0.0
    };
    let fit = rung.fit;
    view! {
        <li>
            <ViewLink
                view=View::Card
                params=vec![("show", card.id.clone())]
                testid="ladder-card"
            >
                <span class="place" aria-hidden="true">{place + 1}</span>
                <span class="ladder-name">
                    {move || words::card_name(app.lang.get(), &card.id)}
                    <small>{move || about(app.lang.get(), card)}</small>
                </span>
                <svg class="ladder-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                    <rect
                        class=if is_domestic(card.vendor) { "bar domestic" } else { "bar" }
                        width=format!("{width:.2}")
                        height="10"
                    />
                </svg>
                <span class="ladder-value">
                    {move || {
                        let currency = app.scenario.with(|s| s.money.currency);
                        metric.say(app.lang.get(), currency, rung.value)
                    }}
                </span>
                <span class="ladder-fit">
                    {fit
                        .map(|fit| {
                            view! {
                                <FitGlyph fit=words::fit_name(&fit) />
                                <span class="unseen">{move || words::fit(app.lang.get(), &fit)}</span>
                            }
                        })}
                </span>
            </ViewLink>
        </li>
    }
}

fn is_domestic(vendor: Vendor) -> bool {
    Makers::Chinese.has(vendor)
}

/// Maker, memory and tier, small.
fn about(lang: Lang, card: &Card) -> String {
    let tier = text(lang, Tier::of_card(card).label_key(), &[]);
    let vendor = words::vendor(lang, card.vendor);
    format!("{vendor} · {} GB · {tier}", card.memory_gib)
}
