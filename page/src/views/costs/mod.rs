//! What one offer costs: its bill, the ways of billing, the limits, renting against buying, what to ask the platform.

mod buy;
mod chart;
mod checks;
pub mod limits;

use std::sync::Arc;

use cardfit::offers::{Fit, Offer, Run};
use cardfit::rental::Billed;
use cardfit::text::text;
use leptos::prelude::*;

use crate::answer::AnswerKind;
use crate::bill::{BillTable, ModesTable};
use crate::form::costs::CostForm;
use crate::lazy::lazy_view;
use crate::notice::LinkNoticePanel;
use crate::state::App;
use crate::words::t;
use crate::{format, words};

/// Offers that can be picked here.
const MOST_OFFERS: usize = 40;

lazy_view! {
    part = views;
    /// [`Costs`], loaded when it is first looked at.
    pub fn costs() {
        view! { <Costs /> }.into_any()
    }
}

/// The view.
#[component]
pub fn Costs() -> impl IntoView {
    let app = App::get();
    let picked = RwSignal::new(None::<(String, u32)>);
    let offer: Memo<Option<Arc<Offer>>> = Memo::new(move |_| {
        app.answer.with(|answer| {
            let wanted = picked.get();
            let found = wanted.and_then(|(card, count)| {
                let row = answer.row(&card)?;
                row.counts.iter().find(|o| o.count == count).cloned()
            });
            found.or_else(|| {
                let priced = answer.rows.iter().map(|row| &row.best);
                let mut priced = priced.filter(|o| o.bill.is_some());
                priced.next().cloned()
            })
        })
    });
    view! {
        <LinkNoticePanel />
        <main class="costs" id="answer" data-testid="costs">
            <h2>{t("costs.title")}</h2>
            <p class="note">{t("costs.note")}</p>
            <Show
                when=move || offer.with(Option::is_some)
                fallback=move || view! { <p>{t("costs.none")}</p> }
            >
                <OfferChoice offer picked />
                <div class="costs-grid">
                    {move || offer.get().map(|offer| view! { <TheBill offer /> })}
                    <div class="side">
                        <limits::LimitsPanel />
                        <CostForm />
                        {move || offer.get().map(|offer| view! { <checks::Checks offer /> })}
                    </div>
                </div>
                {move || offer.get().map(|offer| view! { <buy::RentOrBuyPanel offer /> })}
            </Show>
        </main>
    }
}

/// Which offer is looked at.
#[component]
fn OfferChoice(
    offer: Memo<Option<Arc<Offer>>>,
    picked: RwSignal<Option<(String, u32)>>,
) -> impl IntoView {
    let app = App::get();
    let key = |offer: &Offer| format!("{}|{}", offer.card, offer.count);
    let entries = move || {
        let lang = app.lang.get();
        app.answer.with(|answer| {
            answer
                .rows
                .iter()
                .flat_map(|row| &row.counts)
                .filter(|o| o.bill.is_some() && o.fit == Fit::Fits)
                .take(MOST_OFFERS)
                .map(|o| (key(o), words::cards(lang, o)))
                .collect::<Vec<_>>()
        })
    };
    let current = Memo::new(move |_| offer.get().map(|o| key(&o)).unwrap_or_default());
    view! {
        <div class="field offer-choice">
            <label for="costs-offer">{t("costs.offer")}</label>
            <div class="input select">
                <select
                    id="costs-offer"
                    data-testid="costs-offer"
                    on:change=move |event| {
                        let value = event_target_value(&event);
                        let parts = value.split_once('|');
                        let wanted = parts
                            .and_then(|(card, count)| Some((card.to_owned(), count.parse().ok()?)));
                        picked.set(wanted);
                    }
                >
                    {move || {
                        entries()
                            .into_iter()
                            .map(|(key, name)| {
                                let own = key.clone();
                                view! {
                                    <option value=key prop:selected=move || current.get() == own>
                                        {name}
                                    </option>
                                }
                            })
                            .collect_view()
                    }}
                </select>
            </div>
        </div>
    }
}

/// The bill, what one unit of work costs, and the ways of billing.
#[component]
fn TheBill(offer: Arc<Offer>) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get();
    let kind = app.answer.with(|a| a.kind);
    let caption = match kind {
        AnswerKind::Once => "bill.of_job",
        AnswerKind::Monthly => "bill.of_month",
    };
    let assumptions = offer
        .assumptions
        .iter()
        .map(|a| view! { <li>{words::assumption(lang, *a)}</li> })
        .collect_view();
    let price = offer.price.clone();
    view! {
        <section class="panel" data-testid="bill-panel">
            <h3>{words::cards(lang, &offer)}</h3>
            {offer.bill.as_ref().map(Billed::bill).map(|bill| view! { <BillTable bill caption /> })}
            {unit_costs(&offer)}
            {price
                .clone()
                .map(crate::offer_detail::price_origin)}
            <ul class="plain note">{assumptions}</ul>
            {price
                .filter(|price| price.modes.len() > 1)
                .map(|price| {
                    let cards = price.charged_cards;
                    view! { <ModesTable modes=price.modes cards /> }
                })}
        </section>
    }
}

/// What a month, a million tokens or an epoch comes to.
pub fn unit_costs(offer: &Offer) -> impl IntoView + use<> {
    let app = App::get();
    let lang = app.lang.get();
    let currency = app.scenario.with(|s| s.money.currency);
    let epochs = app.scenario.with(crate::answer::epochs);
    let per_epoch = offer
        .cost_of_job
        .zip(epochs.filter(|n| *n > 0.0))
        .map(|(cost, epochs)| cost.scale(1.0 / epochs));
    let facts = [
        ("offer.cost.hour", offer.cost_per_hour),
        ("offer.cost.job", offer.cost_of_job),
        ("offer.cost.epoch", per_epoch),
        ("offer.cost.month", offer.cost_per_month),
        ("offer.cost.million", offer.cost_per_million_tokens),
        (
            "offer.cost.million_output",
            offer.cost_per_million_output_tokens,
        ),
    ];
    let mut facts: Vec<_> = facts
        .into_iter()
        .map(|(key, cost)| (text(lang, key, &[]), cost))
        .collect();
    if let Some(Run::Work { speed, .. }) = &offer.run {
        let name = crate::work_words::thousand(lang, speed.unit);
        facts.push((name, offer.cost_per_thousand));
    }
    view! {
        <dl class="figures" data-testid="unit-costs">
            {facts
                .into_iter()
                .filter_map(|(name, cost)| {
                    let cost = cost?;
                    Some(
                        view! {
                            <div>
                                <dt>{name}</dt>
                                <dd>{format::money_range(lang, currency, cost)}</dd>
                            </div>
                        },
                    )
                })
                .collect_view()}
        </dl>
    }
}
