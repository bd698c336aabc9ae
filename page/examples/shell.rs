//! Prints what the page shows until its program has loaded, and to readers without scripts: the answer to the scenario
//! that a bare address opens, in every language, as HTML. The build puts it into index.html.

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::{Fit, Offer, rank};
use cardfit::scenario::{Preset, parse};
use cardfit::text::{Lang, text};
use cardfit_page::answer::{Answer, cost};
use cardfit_page::verdict_text::verdict;
use cardfit_page::{format, words};

/// Cards shown: enough to see what an answer looks like.
const ROWS: usize = 6;

fn main() {
    let catalog = Catalog::embedded();
    let scenario = parse("", catalog).scenario;
    let answer = Answer::new(&rank(&scenario, catalog, PriceBook::embedded()), &scenario);
    let preset = Preset::all().first();
    let title = |lang| preset.map(|preset| preset.title(lang)).unwrap_or_default();
    for lang in Lang::ALL {
        let head = ["cards", "fit", "time", "cost"]
            .map(|column| {
                cell(
                    "th scope=\"col\"",
                    "th",
                    &text(lang, &format!("page.table.{column}"), &[]),
                )
            })
            .concat();
        let rows: String = answer
            .rows
            .iter()
            .filter(|row| row.best.fit == Fit::Fits)
            .take(ROWS)
            .map(|row| line(lang, &row.best, &answer, &scenario))
            .collect();
        println!(
            "<section class=\"example\" lang=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</section>",
            lang.tag(),
            escaped(&text(lang, "page.example", &[("scenario", &title(lang))])),
            escaped(&verdict(lang, &answer, &scenario).sentence(lang)),
        );
    }
}

fn line(
    lang: Lang,
    offer: &Offer,
    answer: &Answer,
    scenario: &cardfit::scenario::Scenario,
) -> String {
    let span = |mid: String, ends: String| format!("{mid} <small>{}</small>", escaped(&ends));
    let time = offer.hours.map(|hours| hours.scale(3600.0));
    let time = time.map_or_else(String::new, |t| {
        span(format::seconds(lang, t.mid), format::seconds_ends(lang, t))
    });
    let paid = cost(offer, answer.kind).map_or_else(String::new, |c| {
        let mid = format::money(lang, scenario.money.currency, c.mid);
        span(mid, format::money_ends(lang, c))
    });
    let memory = format::gib(offer.memory.needed_bytes.mid);
    format!(
        "<tr>{}{}<td>{time}</td><td>{paid}</td></tr>\n",
        cell("th scope=\"row\"", "th", &words::cards(lang, offer)),
        cell("td", "td", &memory),
    )
}

fn cell(open: &str, close: &str, content: &str) -> String {
    format!("<{open}>{}</{close}>", escaped(content))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
