//! One card: its datasheet with sources, what it costs, what it runs.

mod datasheet;

use cardfit::catalog::{Card, Catalog, Confidence, PriceBook};
use cardfit::notes::{note_in, phrase_in};
use cardfit::offers::{self, Fit, Run};
use cardfit::rental::{Exchange, name_in, said_in};
use cardfit::scenario::parse;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use datasheet::{OftenClaimed, sheet};

use crate::format;
use crate::glyphs::FitGlyph;
use crate::state::{App, Pace};
use crate::verdict_text;
use crate::views::{View, ViewLink};
use crate::words::{self, t};

/// The card that the link names.
#[component]
pub fn CardPage() -> impl IntoView {
    let app = App::get();
    let card = Memo::new(move |_| {
        let id = app.at("show")?;
        Catalog::embedded().card(&id).map(|card| card.id.clone())
    });
    view! {
        <main class="wide-page" id="answer">
            {move || {
                match card.get().and_then(|id| Catalog::embedded().card(&id)) {
                    Some(card) => view! { <CardFacts card /> }.into_any(),
                    None => view! {
                        <h2 class="view-title">{t("card.unknown")}</h2>
                        <p>
                            <ViewLink view=View::Ladder>{t("card.all")}</ViewLink>
                        </p>
                    }
                        .into_any(),
                }
            }}
        </main>
    }
}

#[component]
fn CardFacts(card: &'static Card) -> impl IntoView {
    let app = App::get();
    let name = move || words::card_name(app.lang.get(), &card.id);
    view! {
        <p class="crumb">
            <ViewLink view=View::Ladder>{t("view.ladder")}</ViewLink>
        </p>
        <h2 class="view-title" data-testid="card-name">{name}</h2>
        <p class="lead">
            {move || {
                let lang = app.lang.get();
                [
                    words::vendor(lang, card.vendor),
                    card.architecture.clone(),
                    card.release_year.to_string(),
                    card.form.clone(),
                ]
                    .join(" · ")
            }}
        </p>
        <InScenario card />
        <div class="columns">
            <section class="panel">
                <h3 class="part-title">{t("card.sheet")}</h3>
                <table class="plain-table" data-testid="datasheet">
                    <tbody>
                        {move || {
                            sheet(app.lang.get(), card)
                                .into_iter()
                                .map(|(name, value)| {
                                    view! {
                                        <tr>
                                            <th scope="row">{name}</th>
                                            <td>{value}</td>
                                        </tr>
                                    }
                                })
                                .collect_view()
                        }}
                    </tbody>
                </table>
                <p class="note">{t("card.dense")}</p>
                <OftenClaimed card />
                <Sources card />
            </section>
            <section class="panel">
                <h3 class="part-title">{t("card.runs")}</h3>
                <Runs card />
            </section>
        </div>
        <section class="panel">
            <h3 class="part-title">{t("card.prices")}</h3>
            <Prices card />
        </section>
    }
}

/// What the card's best offer in the present scenario is.
#[component]
fn InScenario(card: &'static Card) -> impl IntoView {
    let app = App::get();
    view! {
        <p class="in-scenario" data-testid="card-in-scenario">
            {move || {
                let lang = app.lang.get();
                let answer = app.answer.get();
                match answer.row(&card.id) {
                    Some(row) => {
                        let offer = &row.best;
                        let figures = app
                            .scenario
                            .with(|s| verdict_text::figures(lang, &answer, offer, s));
                        let fit = words::fit(lang, &offer.fit);
                        let comma = text(lang, "page.comma", &[]);
                        let said = std::iter::once(fit)
                            .chain(
                                figures.into_iter().filter(|_| offer.run.is_some()),
                            )
                            .collect::<Vec<_>>()
                            .join(&comma);
                        let cards = words::cards(lang, offer);
                        view! {
                            <FitGlyph fit=words::fit_name(&offer.fit) />
                            {text(lang, "card.now", &[("cards", &cards), ("said", &said)])}
                        }
                            .into_any()
                    }
                    None => text(lang, "card.not_looked_at", &[]).into_any(),
                }
            }}
            " "
            <button
                type="button"
                class="link"
                data-testid="card-only"
                on:click=move |_| {
                    app.set(&[("cards", &card.id)], Pace::Choice);
                    app.look_at(View::Choose);
                }
            >
                {t("card.only")}
            </button>
        </p>
    }
}

/// Where the figures were read, and what a reader must know.
#[component]
fn Sources(card: &'static Card) -> impl IntoView {
    let checked = match card.confidence {
        Confidence::Verified => "card.verified",
        Confidence::OneSource => "card.one_source",
    };
    let notes = card.notes.clone();
    view! {
        <p class="note">{t(checked)}</p>
        <ul class="sources" data-testid="card-sources">
            {card
                .sources
                .iter()
                .chain(&card.memory_source)
                .map(|source| {
                    let lang = App::get().lang;
                    view! { <li>{move || source_link(lang.get(), source)}</li> }
                })
                .collect_view()}
        </ul>
        {notes
            .map(|notes| {
                view! {
                    <p class="note">
                        {t("card.note")} {t("page.space")} {move || note_in(App::get().lang.get(), &notes)}
                    </p>
                }
            })}
    }
}

/// A source: a link where it is an address.
pub fn source_link(lang: Lang, source: &str) -> AnyView {
    let source = source.to_owned();
    let address = if source.starts_with("https://") || source.starts_with("http://") {
        Some(source.clone())
    } else {
        source
            .strip_prefix("hf.co/")
            .and_then(|rest| rest.split([' ', ',']).next())
            .map(|path| format!("https://huggingface.co/{path}"))
    };
    match address {
        Some(href) => view! {
            <a href=href rel="noopener noreferrer" target="_blank">
                {short(phrase_in(lang, &source))}
            </a>
        }
        .into_any(),
        None => phrase_in(lang, &source).to_owned().into_any(),
    }
}

/// The address in a price's source, else its words.
fn price_source(lang: Lang, source: &str) -> AnyView {
    let address = source
        .split([' ', ',', ';'])
        .find(|word| word.starts_with("https://") || word.starts_with("http://"));
    match address {
        Some(address) => source_link(lang, address),
        None => said_in(lang, source).into_any(),
    }
}

fn short(address: &str) -> String {
    address
        .trim_start_matches("https://")
        .trim_start_matches("http://")
        .trim_start_matches("www.")
        .trim_end_matches('/')
        .to_owned()
}

/// Models that say how much a card can hold, by size.
const EXAMPLES: [(&str, &str); 12] = [
    ("qwen3-4b", "bf16"),
    ("llama-3.1-8b", "bf16"),
    ("qwen3-14b", "bf16"),
    ("qwen3-14b", "awq4"),
    ("gpt-oss-20b", "mxfp4"),
    ("qwen3-30b-a3b", "awq4"),
    ("qwen3-32b", "bf16"),
    ("qwen3-32b", "awq4"),
    ("llama-3.3-70b", "awq4"),
    ("llama-3.3-70b", "fp8"),
    ("gpt-oss-120b", "mxfp4"),
    ("deepseek-v3-671b", "fp8"),
];

/// What one user gets of well-known models on one card, each a link to its scenario.
#[component]
fn Runs(card: &'static Card) -> impl IntoView {
    let app = App::get();
    let rows = move || {
        let lang = app.lang.get();
        EXAMPLES
            .into_iter()
            .filter_map(|(model, weights)| {
                let catalog = Catalog::embedded();
                let link = format!("m={model}&do=serve&w={weights}&users=1&cards={}&unpriced=yes", card.id);
                let scenario = parse(&format!("{link}&n=1"), catalog).scenario;
                let ranking = offers::rank(&scenario, catalog, PriceBook::embedded());
                let offer = ranking.offers.into_iter().next()?;
                let name = catalog.model(model)?.name.clone();
                let format_name = text(lang, &format!("enum.weights.{weights}"), &[]);
                let speed = match &offer.run {
                    Some(Run::Serve { speed, .. }) if offer.fit == Fit::Fits => text(
                        lang,
                        "offer.rate.tokens",
                        &[("rate", &format::rate(lang, speed.tokens_per_s_user.mid))],
                    ),
                    _ => words::fit(lang, &offer.fit),
                };
                Some((name, format_name, offer.fit, speed, link))
            })
            .map(|(name, format_name, fit, speed, link)| {
                view! {
                    <tr>
                        <th scope="row">
                            <a
                                href=format!("?{link}")
                                on:click=move |event| {
                                    if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                                        event.prevent_default();
                                        app.load_link(&link);
                                        app.look_at(View::Choose);
                                    }
                                }
                            >
                                {name}
                            </a>
                        </th>
                        <td>{format_name}</td>
                        <td>
                            <FitGlyph fit=words::fit_name(&fit) />
                            {speed}
                        </td>
                    </tr>
                }
            })
            .collect_view()
    };
    view! {
        <p class="note">{t("card.runs.say")}</p>
        <table class="plain-table" data-testid="card-runs">
            <thead>
                <tr>
                    <th scope="col">{t("field.m")}</th>
                    <th scope="col">{t("field.w")}</th>
                    <th scope="col">{t("card.runs.one_user")}</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
}

/// Every price that is known for the card, the newest first.
#[component]
fn Prices(card: &'static Card) -> impl IntoView {
    let app = App::get();
    let mut offers: Vec<_> = PriceBook::embedded()
        .offers
        .iter()
        .filter(|offer| offer.card == card.id)
        .collect();
    offers.sort_by(|a, b| b.as_of.cmp(&a.as_of));
    if offers.is_empty() {
        return view! { <p>{t("offer.price.none")}</p> }.into_any();
    }
    /// Shown before the rest is asked for.
    const FIRST: usize = 12;
    let count = offers.len();
    let all = RwSignal::new(count <= FIRST + 3);
    let offers = StoredValue::new(offers);
    let rows = move || {
        let shown = if all.get() { usize::MAX } else { FIRST };
        let lang = app.lang.get();
        let (currency, exchange) = app.scenario.with(|s| {
            (
                s.money.currency,
                Exchange::with_cny_per_usd(s.money.cny_per_usd),
            )
        });
        offers.with_value(|offers| {
            offers
                .iter()
                .take(shown)
                .map(|offer| {
                    let hours = cardfit::rental::unit_hours(offer.billing);
                    let hour = offer.price_per_card / hours;
                    let converted = exchange.convert(hour, offer.currency, currency);
                    let caution = match (offer.low_confidence, offer.variant_stated) {
                        (true, _) => text(lang, "card.price.doubtful", &[]),
                        (_, false) => text(lang, "card.price.variant", &[]),
                        _ => String::new(),
                    };
                    let together = if offer.cards_together > 1 {
                        format!(" × {}", offer.cards_together)
                    } else {
                        String::new()
                    };
                    view! {
                        <tr>
                            <th scope="row">{name_in(lang, &offer.provider).to_owned()}</th>
                            <td>{format!("{}{together}", words::billing(lang, offer.billing))}</td>
                            <td class="figure">{format::money(lang, offer.currency, hour)}</td>
                            <td class="figure">{format::money(lang, currency, converted)}</td>
                            <td class="day">{format::date(lang, &offer.as_of)}</td>
                            <td>
                                {price_source(lang, &offer.source)}
                                {(!caution.is_empty())
                                    .then(|| view! { <small class="caution-small">{caution}</small> })}
                            </td>
                        </tr>
                    }
                })
                .collect_view()
        })
    };
    view! {
        <div class="scroll-x" role="region" tabindex="0" aria-label=t("card.prices")>
            <table class="plain-table prices" data-testid="card-prices">
                <thead>
                    <tr>
                        <th scope="col">{t("card.price.provider")}</th>
                        <th scope="col">{t("field.bill")}</th>
                        <th scope="col" class="figure">{t("card.price.quoted")}</th>
                        <th scope="col" class="figure">{t("card.price.converted")}</th>
                        <th scope="col">{t("card.price.day")}</th>
                        <th scope="col">{t("offer.price.source")}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        <p class:hidden=all>
            <button
                type="button"
                class="quiet"
                data-testid="card-prices-all"
                on:click=move |_| all.set(true)
            >
                {move || {
                    let lang = app.lang.get();
                    text(lang, "card.prices.all", &[("n", &format::count(lang, count as u64))])
                }}
            </button>
        </p>
    }
    .into_any()
}
