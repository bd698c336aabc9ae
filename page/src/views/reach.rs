//! The other way round: what a card can do, the largest job in a budget, and what the articles recommend beside what
//! the numbers say.

mod articles;
mod media;

use cardfit::catalog::{Catalog, PriceBook, Vendor};
use cardfit::offers::capability::{
    self, Capability, JobReach, Method, ServingReach, TOKENS_PER_PARAM, TrainingReach,
    USUAL_DEADLINE_HOURS,
};
use cardfit::scenario::{JobKind, Scenario, to_query};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::form::field::NumberField;
use crate::format;
use crate::model_picker::ModelPicker;
use crate::state::App;
use crate::views::View;
use crate::words::{self, t};

/// The card that is looked at where the link names none.
const USUAL_CARD: &str = "rtx-4090";

/// What can it do?
#[component]
pub fn Reach() -> impl IntoView {
    let app = App::get();
    let card = Memo::new(move |_| {
        let asked = app.at("show").unwrap_or_else(|| USUAL_CARD.to_owned());
        app.scenario.with(|scenario| {
            let found = capability::card_of(scenario, Catalog::embedded(), &asked);
            found.map_or_else(|| USUAL_CARD.to_owned(), |card| card.id)
        })
    });
    let count = Memo::new(move |_| app.scenario.with(|s| s.shelf.count.unwrap_or(1)));
    let found = Memo::new(move |_| {
        app.scenario.with(|scenario| {
            let card = capability::card_of(scenario, Catalog::embedded(), &card.get())?;
            Some(capability::capability(
                scenario,
                Catalog::embedded(),
                &card,
                count.get(),
            ))
        })
    });
    view! {
        <main class="wide-page reach" id="answer">
            <h2 class="view-title">{t("reach.title")}</h2>
            <p class="lead">{t("reach.lead")}</p>
            <section class="reach-ask" aria-label=t("reach.ask")>
                <CardChoice card />
                <NumberField
                    param="n"
                    label="reach.count"
                    empty="reach.one"
                    value={|s| s.shelf.count.map(f64::from)}
                />
                <ModelPicker />
            </section>
            {move || {
                found
                    .get()
                    .map(|found| {
                        view! {
                            <LargestModels found=found.clone() />
                            <Furthest found />
                        }
                    })
            }}
            <media::Media card count />
            <Budget />
            <articles::Articles />
        </main>
    }
}

/// The card, chosen from a list by maker.
#[component]
fn CardChoice(card: Memo<String>) -> impl IntoView {
    let app = App::get();
    let groups = move || {
        let lang = app.lang.get();
        let mut groups: Vec<(String, Vec<(String, String)>)> = Vec::new();
        let own: Vec<_> = app.scenario.with(|s| {
            let own = s.shelf.own.iter();
            own.map(|own| (own.name.clone(), own.name.clone()))
                .collect()
        });
        if !own.is_empty() {
            groups.push((text(lang, "field.own", &[]), own));
        }
        let mut makers: Vec<Vendor> = Catalog::embedded().cards.iter().map(|c| c.vendor).collect();
        makers.sort();
        makers.dedup();
        for maker in makers {
            let mut cards: Vec<_> = Catalog::embedded()
                .cards
                .iter()
                .filter(|card| card.vendor == maker)
                .collect();
            cards.sort_by_key(|card| std::cmp::Reverse(card.release_year));
            let named = cards
                .into_iter()
                .map(|card| (card.id.clone(), words::card_name(lang, &card.id)));
            groups.push((words::vendor(lang, maker), named.collect()));
        }
        groups
    };
    view! {
        <div class="field">
            <label for="reach-card">{t("reach.card")}</label>
            <select
                id="reach-card"
                data-testid="reach-card"
                on:change=move |event| app.set_at("show", &event_target_value(&event))
            >
                {move || {
                    groups()
                        .into_iter()
                        .map(|(label, cards)| {
                            view! {
                                <optgroup label=label>
                                    {cards
                                        .into_iter()
                                        .map(|(id, name)| {
                                            let value = id.clone();
                                            view! {
                                                <option value=value selected=move || card.get() == id>
                                                    {name}
                                                </option>
                                            }
                                        })
                                        .collect_view()}
                                </optgroup>
                            }
                        })
                        .collect_view()
                }}
            </select>
        </div>
    }
}

/// A method in words.
fn method_name(lang: Lang, method: Method) -> String {
    match method {
        Method::Train(method) => words::choice(lang, JobKind::Train(method)),
        Method::Serve(format) => {
            let format = words::choice(lang, format);
            text(lang, "reach.serve_in", &[("format", &format)])
        }
    }
}

/// The largest models by method.
#[component]
fn LargestModels(found: Capability) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get();
    let name = words::card_name(lang, &found.card);
    let cards = format!("{} × {name}", format::count(lang, u64::from(found.count)));
    view! {
        <section aria-labelledby="reach-models">
            <h3 class="part-title" id="reach-models">{text(lang, "reach.models", &[("cards", &cards)])}</h3>
            <p class="note">{t("reach.models.say")}</p>
            <div class="scroll">
                <table class="reach-table stacks" role="table" data-testid="reach-models-table">
                    <thead>
                        <tr>
                            <th scope="col">{t("reach.column.method")}</th>
                            <th scope="col" class="number">{t("reach.column.dense")}</th>
                            <th scope="col">{t("reach.column.model")}</th>
                            <th scope="col" class="number">{t("reach.column.speed")}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {found
                            .methods
                            .iter()
                            .map(|reach| {
                                let size = reach
                                    .largest_params
                                    .map_or_else(|| text(lang, "reach.none", &[]), |p| format::parameters(lang, p as f64));
                                let model = reach.largest_model.as_deref();
                                let model = model.and_then(|id| Catalog::embedded().model(id));
                                let model = model.map(|m| m.name.clone()).unwrap_or_default();
                                let speed = reach.tokens_per_s.map(|r| format::number_range(lang, r)).unwrap_or_default();
                                view! {
                                    <tr role="row">
                                        <th scope="row" role="rowheader">{method_name(lang, reach.method)}</th>
                                        <td role="cell" class="number" data-label=t("reach.column.dense")>{size}</td>
                                        <td role="cell" data-label=t("reach.column.model")>{model}</td>
                                        <td role="cell" class="number" data-label=t("reach.column.speed")>{speed}</td>
                                    </tr>
                                }
                            })
                            .collect_view()}
                    </tbody>
                </table>
            </div>
        </section>
    }
}

/// How far the scenario's model can be taken.
#[component]
fn Furthest(found: Capability) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get();
    let tokens = |n: u32, ends: bool| {
        let n = format::count(lang, u64::from(n));
        let key = if ends {
            "reach.tokens_end"
        } else {
            "reach.tokens"
        };
        text(lang, key, &[("n", &n)])
    };
    let serving = |reach: ServingReach| {
        vec![
            (
                "reach.context",
                tokens(reach.largest_context, reach.ends_with_model),
            ),
            (
                "reach.concurrency",
                format::count(lang, u64::from(reach.concurrency)),
            ),
            (
                "reach.alone",
                reach
                    .tokens_per_s_alone
                    .map(|r| format::number_range(lang, r))
                    .unwrap_or_default(),
            ),
            (
                "reach.full",
                reach
                    .tokens_per_s_full
                    .map(|r| format::number_range(lang, r))
                    .unwrap_or_default(),
            ),
        ]
    };
    let training = |reach: TrainingReach| {
        vec![
            (
                "reach.sequence",
                tokens(reach.largest_sequence, reach.ends_with_model),
            ),
            (
                "reach.micro",
                format::count(lang, u64::from(reach.micro_batch)),
            ),
            (
                "reach.trained",
                reach
                    .tokens_per_s
                    .map(|r| format::number_range(lang, r))
                    .unwrap_or_default(),
            ),
        ]
    };
    let parts = [
        ("reach.in_serving", found.serving.map(serving)),
        ("reach.in_training", found.training.map(training)),
    ];
    view! {
        <section aria-labelledby="reach-further">
            <h3 class="part-title" id="reach-further">{t("reach.further")}</h3>
            <div class="reach-pair">
                {parts
                    .into_iter()
                    .map(|(title, rows)| {
                        view! {
                            <div class="reach-part" data-testid=title.replace('.', "-")>
                                <h4>{t(title)}</h4>
                                {match rows {
                                    None => view! { <p class="note">{t("reach.does_not_fit")}</p> }.into_any(),
                                    Some(rows) => {
                                        view! {
                                            <dl>
                                                {rows
                                                    .into_iter()
                                                    .map(|(key, value)| {
                                                        view! {
                                                            <dt>{t(key)}</dt>
                                                            <dd>{value}</dd>
                                                        }
                                                    })
                                                    .collect_view()}
                                            </dl>
                                        }
                                            .into_any()
                                    }
                                }}
                            </div>
                        }
                    })
                    .collect_view()}
            </div>
        </section>
    }
}

/// What a budget and a deadline buy.
#[derive(Debug, Clone, PartialEq)]
struct Bought {
    asked: Scenario,
    jobs: Vec<JobReach>,
    pretraining: Option<(u64, JobReach)>,
}

/// The largest job that fits into a budget and a deadline.
#[component]
fn Budget() -> impl IntoView {
    let app = App::get();
    let bought = RwSignal::new(None::<Bought>);
    let work_out = move |_| {
        let asked = app.scenario.get_untracked();
        let (catalog, prices) = (Catalog::embedded(), PriceBook::embedded());
        bought.set(Some(Bought {
            jobs: capability::largest_jobs(&asked, catalog, prices),
            pretraining: capability::largest_pretraining(&asked, catalog, prices),
            asked,
        }));
    };
    let no_budget = Memo::new(move |_| app.scenario.with(|s| s.money.budget.is_none()));
    view! {
        <section aria-labelledby="reach-budget">
            <h3 class="part-title" id="reach-budget">{t("reach.budget")}</h3>
            <p class="note">{t("reach.budget.say")}</p>
            <div class="reach-ask">
                <NumberField param="budget" value={|s| s.money.budget} empty="page.form.no_limit" />
                <NumberField
                    param="deadline"
                    value={|s| s.money.deadline_hours}
                    empty="reach.a_month"
                />
                <button
                    type="button"
                    class="primary"
                    data-testid="reach-work-out"
                    disabled=no_budget
                    on:click=work_out
                >
                    {t("reach.work_out")}
                </button>
            </div>
            <div aria-live="polite">
                {move || bought.get().map(|bought| view! { <WhatItBuys bought /> })}
            </div>
        </section>
    }
}

#[component]
fn WhatItBuys(bought: Bought) -> impl IntoView {
    /// Lines of the table.
    const SHOWN: usize = 8;
    let app = App::get();
    let lang = app.lang.get();
    let serves = matches!(bought.asked.job, cardfit::scenario::Job::Serve(_));
    let currency = bought.asked.money.currency;
    let money = |amount: f64| format::money(lang, currency, amount);
    let hours = |hours: f64| format::seconds(lang, hours * 3600.0);
    let amount_key = if serves {
        "reach.column.answers"
    } else {
        "reach.column.tokens"
    };
    let largest = bought.pretraining.as_ref().map(|(params, reach)| {
        text(
            lang,
            "reach.pretraining",
            &[
                ("size", &format::parameters(lang, *params as f64)),
                ("each", &format!("{TOKENS_PER_PARAM:.0}")),
                ("cards", &words::cards(lang, &reach.offer)),
            ],
        )
    });
    let deadline = bought
        .asked
        .money
        .deadline_hours
        .unwrap_or(USUAL_DEADLINE_HOURS);
    let empty = bought.jobs.is_empty();
    view! {
        <p data-testid="reach-pretraining">{largest}</p>
        <Show when=move || empty>
            <p class="note">{t("reach.nothing")}</p>
        </Show>
        <p class="note">
            {text(lang, "reach.within", &[("hours", &hours(deadline))])}
        </p>
        <div class="scroll">
            <table class="reach-table" data-testid="reach-jobs">
                <thead>
                    <tr>
                        <th scope="col">{t("reach.column.cards")}</th>
                        <th scope="col" class="number">{t(amount_key)}</th>
                        <th scope="col" class="number">{t("reach.column.hours")}</th>
                        <th scope="col" class="number">{t("reach.column.cost")}</th>
                        <th scope="col"><span class="visually-hidden">{t("reach.open")}</span></th>
                    </tr>
                </thead>
                <tbody>
                    {bought
                        .jobs
                        .iter()
                        .take(SHOWN)
                        .map(|reach| {
                            let offer = &reach.offer;
                            let link = forward_link(&bought.asked, reach);
                            view! {
                                <tr>
                                    <th scope="row">{words::cards(lang, offer)}</th>
                                    <td class="number">{format::parameters(lang, reach.amount)}</td>
                                    <td class="number">{offer.hours.map(|r| hours(r.mid))}</td>
                                    <td class="number">{offer.cost_of_job.map(|r| money(r.mid))}</td>
                                    <td>
                                        <button
                                            type="button"
                                            class="quiet"
                                            on:click=move |_| {
                                                app.load_link(&link);
                                                app.look_at(View::Choose);
                                            }
                                        >
                                            {t("reach.open")}
                                        </button>
                                    </td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
    }
}

/// The scenario that asks for a found job.
fn forward_link(asked: &Scenario, reach: &JobReach) -> String {
    use cardfit::scenario::{Job, TrainingAmount};
    let mut forward = asked.clone();
    match &mut forward.job {
        Job::Train(training) => training.amount = TrainingAmount::Tokens(reach.amount.floor()),
        Job::Serve(serving) => serving.requests_total = Some(reach.amount.floor().max(1.0)),
        _ => {}
    }
    forward.shelf.cards = vec![reach.offer.card.clone()];
    forward.shelf.count = Some(reach.offer.count);
    to_query(&forward)
}
