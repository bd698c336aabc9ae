//! How an estimate comes about: the formulas with the scenario's own numbers, and the constants that they rest on.

use cardfit::catalog::{Catalog, Currency};
use cardfit::explain::{
    Constant, Explanation, Formula, REFERENCES, Reference, Term, Unit, explain,
};
use cardfit::range::Range;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::format;
use crate::state::App;
use crate::views::{View, ViewLink};
use crate::words::{self, t};

/// The view.
#[component]
pub fn Method() -> impl IntoView {
    let app = App::get();
    let offer = Memo::new(move |_| {
        let answer = app.answer.get();
        let named = app.at("show").and_then(|named| {
            let (card, count) = named.rsplit_once(':')?;
            let count: u32 = count.parse().ok()?;
            let row = answer.row(card)?;
            row.counts
                .iter()
                .find(|offer| offer.count == count)
                .cloned()
        });
        named.or_else(|| answer.first().cloned())
    });
    view! {
        <main class="wide-page method" id="answer">
            <h2 class="view-title">{t("method.title")}</h2>
            <p class="lead">{t("method.lead")}</p>
            <p class="lead">
                <ViewLink view=View::Accuracy>{t("method.to_accuracy")}</ViewLink>
            </p>
            {move || {
                let Some(offer) = offer.get() else {
                    return t("page.verdict.no_cards").into_any();
                };
                let said = app.scenario.with(|s| explain(s, &offer, Catalog::embedded()));
                let lang = app.lang.get();
                let cards = words::cards(lang, &offer);
                if said == Explanation::default() {
                    return text(lang, "method.none", &[("cards", &cards)]).into_any();
                }
                let currency = app.scenario.with(|s| s.money.currency);
                explanation(lang, currency, &cards, said).into_any()
            }}
        </main>
    }
}

fn explanation(
    lang: Lang,
    currency: Currency,
    cards: &str,
    said: Explanation,
) -> impl IntoView + use<> {
    let section = |key: &str, terms: Vec<Term>| {
        (!terms.is_empty()).then(|| {
            view! {
                <section class="panel">
                    <h3 class="part-title">{text(lang, key, &[])}</h3>
                    <ol class="terms">
                        {terms
                            .into_iter()
                            .map(|term| view! { <li>{term_view(lang, currency, &term)}</li> })
                            .collect_view()}
                    </ol>
                </section>
            }
        })
    };
    let used: Vec<&'static Reference> = REFERENCES
        .iter()
        .filter(|reference| {
            let names = |terms: &[Term]| terms.iter().any(|t| t.reference == Some(reference.key));
            names(&said.memory) || names(&said.speed) || names(&said.money)
        })
        .collect();
    let no_constants = said.constants.is_empty();
    let constants = said
        .constants
        .into_iter()
        .map(|constant| constant_row(lang, currency, &constant))
        .collect_view();
    view! {
        <p class="subject-line" data-testid="method-offer">
            {text(lang, "method.of", &[("cards", cards)])}
        </p>
        {section("method.memory", said.memory)}
        {section("method.speed", said.speed)}
        {section("method.money", said.money)}
        <section class="panel">
            <h3 class="part-title">{text(lang, "method.constants", &[])}</h3>
            <p class="lead">{provenance(lang, &said.provenance)}</p>
            <table class="plain-table" class:hidden=no_constants data-testid="method-constants">
                <thead>
                    <tr>
                        <th scope="col">{text(lang, "method.constant", &[])}</th>
                        <th scope="col">{text(lang, "method.constant_of", &[])}</th>
                        <th scope="col" class="figure">{text(lang, "method.value", &[])}</th>
                        <th scope="col" class="figure">{text(lang, "method.rows", &[])}</th>
                    </tr>
                </thead>
                <tbody>{constants}</tbody>
            </table>
        </section>
        <section class="panel">
            <h3 class="part-title">{text(lang, "method.references", &[])}</h3>
            <ul class="sources">
                {used
                    .into_iter()
                    .map(|reference| {
                        view! {
                            <li lang="en">
                                {reference.key} ". "
                                <a href=reference.url rel="noopener noreferrer" target="_blank">
                                    {reference.title}
                                </a>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </section>
    }
}

/// How constants were found: how many measured results of how many sources, as the fit wrote it down.
fn provenance(lang: Lang, written: &str) -> String {
    let counts = written.split_once(" sources").and_then(|(before, _)| {
        let (before, sources) = before.rsplit_once(" of ")?;
        let is_count = |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        let rows = before.split([' ', ',']).rfind(is_count)?;
        Some((rows.parse::<u64>().ok()?, sources.parse::<u64>().ok()?))
    });
    match counts {
        Some((rows, sources)) => text(
            lang,
            "method.provenance",
            &[
                ("rows", &format::count(lang, rows)),
                ("sources", &format::count(lang, sources)),
            ],
        ),
        None if written.is_empty() => text(lang, "method.provenance.assumed", &[]),
        None => written.to_owned(),
    }
}

fn constant_row(lang: Lang, currency: Currency, constant: &Constant) -> impl IntoView + use<> {
    let rows = match constant.rows {
        Some(0) => text(lang, "method.rows.relative", &[]),
        Some(n) => format::count(lang, u64::from(n)),
        None => String::new(),
    };
    view! {
        <tr>
            <th scope="row">{text(lang, &format!("explain.constant.{}", constant.key), &[])}</th>
            <td>{constant.of.clone()}</td>
            <td class="figure">{said(lang, currency, constant.value, constant.unit)}</td>
            <td class="figure">{rows}</td>
        </tr>
    }
}

/// A term: its name, the formula with its numbers, what it comes to, where it comes from.
fn term_view(lang: Lang, currency: Currency, term: &Term) -> impl IntoView + use<> {
    let value = said(lang, currency, term.value(), term.unit);
    let range = term.range.filter(|r| r.high > r.low).map(|range| {
        let Range { low, high, .. } = range;
        let ends = format!(
            "{} – {}",
            said(lang, currency, low, term.unit),
            said(lang, currency, high, term.unit)
        );
        view! { <small>{ends}</small> }
    });
    view! {
        <div class="term">
            <h4>{text(lang, &format!("explain.{}", term.key), &[])}</h4>
            <p class="formula">
                {formula_view(lang, currency, &term.formula, false)} <span class="sign">"="</span>
                <span class="result">{value} {range}</span>
            </p>
            {term.reference.map(|key| view! { <p class="note" lang="en">{key}</p> })}
        </div>
    }
}

fn formula_view(lang: Lang, currency: Currency, formula: &Formula, inside: bool) -> AnyView {
    match formula {
        Formula::Figure { name, value, unit } => {
            let key = if name.contains('.') {
                (*name).to_owned()
            } else {
                format!("explain.{name}")
            };
            view! {
                <span class="figure-named">
                    <b>{said(lang, currency, *value, *unit)}</b>
                    <small>{text(lang, &key, &[])}</small>
                </span>
            }
            .into_any()
        }
        Formula::Product(all) => joined(lang, currency, all, "×", false),
        Formula::Sum(all) => joined(lang, currency, all, "+", inside),
        Formula::Quotient(top, bottom) => {
            let several = matches!(**bottom, Formula::Product(_) | Formula::Sum(_));
            view! {
                {formula_view(lang, currency, top, true)}
                <span class="sign">"÷"</span>
                {several.then(|| view! { <span class="sign">"("</span> })}
                {formula_view(lang, currency, bottom, false)}
                {several.then(|| view! { <span class="sign">")"</span> })}
            }
            .into_any()
        }
    }
}

fn joined(
    lang: Lang,
    currency: Currency,
    all: &[Formula],
    sign: &'static str,
    brackets: bool,
) -> AnyView {
    let parts = all
        .iter()
        .enumerate()
        .map(|(place, part)| {
            view! {
                {(place > 0).then(|| view! { <span class="sign">{sign}</span> })}
                {formula_view(lang, currency, part, true)}
            }
        })
        .collect_view();
    view! {
        {brackets.then(|| view! { <span class="sign">"("</span> })}
        {parts}
        {brackets.then(|| view! { <span class="sign">")"</span> })}
    }
    .into_any()
}

/// A value with its unit.
fn said(lang: Lang, currency: Currency, value: f64, unit: Unit) -> String {
    let scaled = |unit: &str| {
        const PREFIXES: [(f64, &str); 6] = [
            (1e18, "E"),
            (1e15, "P"),
            (1e12, "T"),
            (1e9, "G"),
            (1e6, "M"),
            (1e3, "k"),
        ];
        let prefix = PREFIXES
            .into_iter()
            .find(|(factor, _)| value.abs() >= *factor);
        match prefix {
            Some((factor, prefix)) => {
                format!(
                    "{} {prefix}{unit}",
                    format::number(Lang::En, value / factor, 4)
                )
            }
            None => format!("{} {unit}", format::number(Lang::En, value, 4)),
        }
    };
    match unit {
        Unit::One => format::given(lang, value),
        Unit::Bytes if value >= 0.05 * format::GIB => format::gib(value),
        // Beside parameters, which English counts in B too, bytes are said in full.
        Unit::Bytes if value < 1e3 => {
            let n = format::number(lang, value, 4);
            text(lang, "method.bytes", &[("n", &n)])
        }
        Unit::Bytes => scaled("B"),
        Unit::Parameters => format::parameters(lang, value),
        Unit::Seconds if value < 1e-3 => scaled_small(value),
        Unit::Seconds => format::seconds(lang, value),
        Unit::Hours => format::seconds(lang, value * 3600.0),
        Unit::Tokens => format::given(lang, value),
        Unit::TokensPerSecond => text(
            lang,
            "offer.rate.tokens",
            &[("rate", &format::rate(lang, value))],
        ),
        Unit::Flops => scaled("FLOP"),
        Unit::FlopsPerSecond => scaled("FLOP/s"),
        Unit::BytesPerSecond => scaled("B/s"),
        Unit::Share => format::percent(value),
        Unit::Money => format::money(lang, currency, value),
    }
}

fn scaled_small(seconds: f64) -> String {
    format!("{} µs", format::number(Lang::En, seconds * 1e6, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_fits_wrote_down_is_read() {
        use cardfit::estimate::diffusion::DiffusionConstants;
        use cardfit::estimate::serving::ServingConstants;
        use cardfit::estimate::training::TrainingConstants;
        use cardfit::estimate::vision::VisionConstants;
        for written in [
            &TrainingConstants::embedded().provenance,
            &ServingConstants::embedded().provenance,
            &DiffusionConstants::embedded().provenance,
            &VisionConstants::embedded().provenance,
        ] {
            let said = provenance(Lang::ZhCn, written);
            assert!(said.contains("个来源"), "{written}: {said}");
        }
    }
}
