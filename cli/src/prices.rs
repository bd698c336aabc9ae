//! `cardfit prices`: other people's price lists in our own form.

use std::cmp::Ordering;
use std::io::Write;

use cardfit::catalog::{Catalog, Currency, PriceOffer};
use cardfit::rental::{Imported, ListFacts, import, write_rows};
use cardfit::scenario::Choice;
use cardfit::text::{Lang, text};

use crate::{Arg, Args, Failure, complain};

pub const HELP: &str = "\
cardfit prices: read a price list in the form of the SkyPilot catalog, of gpuhunt, or of our own

USAGE
  cardfit prices [OPTIONS] FILE.csv

  --provider NAME   whose list it is; needed where its rows do not say so
  --as-of DATE      day of the list, YYYY-MM-DD; needed where its rows do not say so
  --currency CODE   cny, usd or eur (usd)
  --source TEXT     where it was read (the file's name)
  --into BOOK.csv   put the rows into a price book: newer ones take the place of the same provider's rows for the same
                    card, billing and count; without it they are printed

A row that cannot be used is left out and named with its reason on standard error. Exit status 1 where no row could be used.
";

#[derive(Default)]
struct Options<'a> {
    file: Option<&'a str>,
    provider: &'a str,
    as_of: &'a str,
    currency: Option<Currency>,
    source: Option<&'a str>,
    into: Option<&'a str>,
}

pub fn run(args: &[String], out: &mut impl Write) -> Result<(), Failure> {
    let options = options(args)?;
    let file = options
        .file
        .ok_or_else(|| Failure::Usage("a price list is missing".to_owned()))?;
    let facts = ListFacts {
        provider: options.provider,
        currency: options.currency.unwrap_or(Currency::Usd),
        as_of: options.as_of,
        source: options.source.unwrap_or(file),
    };
    let imported = import(&read(file)?, facts, Catalog::embedded());
    report(&imported, file);
    if imported
        .offers
        .iter()
        .any(|offer| offer.provider.is_empty())
    {
        return Err(Failure::Usage(
            "the list does not say whose it is: give --provider NAME".to_owned(),
        ));
    }
    if imported.offers.is_empty() {
        return Err(Failure::Said);
    }
    match options.into {
        None => write!(out, "{}", write_rows(&imported.offers))?,
        Some(book) => {
            let merged = merged(own_rows(&read(book)?, book)?, imported.offers);
            std::fs::write(book, write_rows(&merged))
                .map_err(|error| Failure::Run(format!("cannot write {book}: {error}")))?;
        }
    }
    Ok(())
}

fn options<'a>(args: &'a [String]) -> Result<Options<'a>, Failure> {
    let mut options = Options::default();
    let mut args = Args::new(args, "prices");
    while let Some(arg) = args.take() {
        match arg {
            Arg::Option(name @ "--provider", given) => {
                options.provider = args.value(name, given)?
            }
            Arg::Option(name @ "--as-of", given) => options.as_of = args.value(name, given)?,
            Arg::Option(name @ "--source", given) => {
                options.source = Some(args.value(name, given)?);
            }
            Arg::Option(name @ "--into", given) => options.into = Some(args.value(name, given)?),
            Arg::Option(name @ "--currency", given) => {
                let code = args.value(name, given)?;
                let currency = Currency::from_name(code).ok_or_else(|| {
                    Failure::Usage(format!("--currency is cny, usd or eur, not '{code}'"))
                })?;
                options.currency = Some(currency);
            }
            Arg::Option(name, _) => return Err(args.unknown(name)),
            Arg::Value(file) if options.file.is_none() => options.file = Some(file),
            Arg::Value(other) => {
                return Err(Failure::Usage(format!(
                    "one list at a time: '{other}' is a second"
                )));
            }
        }
    }
    Ok(options)
}

fn read(file: &str) -> Result<String, Failure> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure::Usage(format!("cannot read {file}: {error}")))
}

/// The rows of a book in our own form, all of which must be good: a book is never written back with rows missing.
fn own_rows(text: &str, book: &str) -> Result<Vec<PriceOffer>, Failure> {
    let nobody = ListFacts {
        provider: "",
        currency: Currency::Usd,
        as_of: "",
        source: "",
    };
    let read = import(text, nobody, Catalog::embedded());
    match read.refused.first() {
        None => Ok(read.offers),
        Some(row) => Err(Failure::Usage(format!(
            "{book}, line {}: {}",
            row.line,
            text_of(row.reason.key())
        ))),
    }
}

fn text_of(key: &str) -> String {
    text(Lang::En, key, &[])
}

fn report(imported: &Imported, file: &str) {
    for row in &imported.refused {
        let why = text_of(row.reason.key());
        complain(&format!("{file}, line {}: {why}: {}", row.line, row.given));
    }
    complain(&format!(
        "{} rows taken, {} refused, {} without a card, {} the same in another region",
        imported.offers.len(),
        imported.refused.len(),
        imported.without_card,
        imported.repeated
    ));
}

/// The book with newer rows in the place of older ones, in the order of the file: card, billing, provider, date.
fn merged(book: Vec<PriceOffer>, new: Vec<PriceOffer>) -> Vec<PriceOffer> {
    let same = |a: &PriceOffer, b: &PriceOffer| {
        let key = |o: &PriceOffer| {
            (
                o.card.clone(),
                o.billing,
                o.cards_together,
                o.region.clone(),
            )
        };
        a.provider == b.provider && key(a) == key(b)
    };
    let mut rows: Vec<PriceOffer> = book
        .into_iter()
        .filter(|old| !new.iter().any(|n| same(old, n) && n.as_of >= old.as_of))
        .collect();
    rows.extend(new);
    rows.sort_by(|a, b| {
        a.card
            .cmp(&b.card)
            .then(a.provider.cmp(&b.provider))
            .then(a.billing.cmp(&b.billing))
            .then(a.as_of.cmp(&b.as_of))
            .then(
                a.price_per_card
                    .partial_cmp(&b.price_per_card)
                    .unwrap_or(Ordering::Equal),
            )
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardfit::catalog::PriceBook;

    #[test]
    fn a_newer_row_takes_the_place_of_an_older_one_and_nothing_else_changes() {
        let book = PriceBook::embedded().offers.clone();
        let mut newer = book[0].clone();
        newer.price_per_card *= 1.1;
        newer.as_of = "2026-12-24".to_owned();
        let rows = merged(book.clone(), vec![newer.clone()]);
        assert!(rows.contains(&newer) && !rows.contains(&book[0]));
        assert!(rows.len() <= book.len());
        // The same list again changes nothing.
        assert_eq!(merged(rows.clone(), vec![newer]), rows);
    }
}
