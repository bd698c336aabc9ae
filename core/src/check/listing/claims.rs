//! Tokens as claims about cards.

use std::ops::Range;

use super::clause::ClauseReader;
use super::table;
use super::tokens::{Break, Figure, Token, tokens};
use super::vocabulary::Word;
use crate::catalog::Currency;
use crate::check::finding::Subject;
use crate::dtype::ComputeDtype;

/// What a price is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A week.
    Week,
    /// A month.
    Month,
    /// A year.
    Year,
}

/// What was claimed of a price beside its figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PriceTerms {
    /// Currency, where written.
    pub currency: Option<Currency>,
    /// What the price is for.
    pub period: Option<Period>,
    /// For a whole machine.
    pub whole: bool,
    /// May be taken away.
    pub spot: bool,
    /// Of buying.
    pub purchase: bool,
}

/// One claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// A figure of the datasheet.
    Figure {
        /// What it is.
        subject: Subject,
        /// The figure, in the unit of its subject.
        figure: Figure,
        /// Said to be with sparsity.
        sparse: bool,
        /// Said to be with FP16 accumulation or on vector units.
        other_rate: bool,
    },
    /// A price.
    Price(Figure, PriceTerms),
    /// A word of the datasheet: memory type, form, architecture.
    Word(Subject, Word),
    /// A link that is said to be there, or not to be.
    Link {
        /// It is said to be missing.
        missing: bool,
        /// Generation, 4 of "NVLink 4.0".
        generation: Option<f64>,
    },
    /// Error correction that is said to be missing.
    NoEcc,
    /// Something of the machine around the card.
    Host,
}

/// Claims about one card, or about several that are named in one breath.
#[derive(Debug, Clone, Default)]
pub struct Item {
    /// Indices into [`crate::check::names::families`].
    pub families: Vec<usize>,
    /// Claims in their order.
    pub claims: Vec<Claim>,
    /// How many cards are offered together.
    pub count: Option<f64>,
    /// Memory that belongs to the name: 80 of "A100 80GB".
    pub pinned: Option<Figure>,
}

/// What cleaned text claims.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// By card.
    pub items: Vec<Item>,
    /// The text's tokens,
    pub tokens: Vec<Token>,
    /// sentence by sentence, each with the item that it ends in.
    pub clauses: Vec<(Range<usize>, Option<usize>)>,
    /// The one currency that the text writes, if it is one.
    pub currency: Option<Currency>,
    /// The text is of a market that shows rates which it measured.
    pub measured: bool,
    /// There is more text than was read.
    pub cut_off: bool,
}

/// Most cards of one paste that are read; a longer one is a price list, not a listing.
pub const MOST_ITEMS: usize = 200;

/// Reads cleaned text.
pub fn read(text: &str) -> Reading {
    let (tokens, cut_off) = tokens(text);
    let tokens = table::spread(tokens);
    let currency = only_currency(&tokens);
    let mut reading = Reading {
        currency,
        measured: tokens.contains(&Token::Word(Word::Measured)),
        cut_off,
        ..Reading::default()
    };
    let mut before_any_card = Item::default();
    let mut begin = 0;
    for clause in tokens.split(|t| *t == Token::Break(Break::Clause)) {
        let place = begin..begin + clause.len();
        begin = place.end + 1;
        if clause.is_empty() {
            continue;
        }
        if reading.items.len() > MOST_ITEMS {
            break;
        }
        let mut reader = ClauseReader {
            tokens: clause,
            item: Item::default(),
            group_open: false,
            ahead: true,
            at: 0,
        };
        let names_card = clause.iter().any(|t| matches!(t, Token::Card(_)));
        if names_card {
            // What stands before the sentence's first card is about that card.
            while let Some(item) = reader.next_item() {
                reading.items.push(item);
            }
        } else {
            let claims = reader.claims_without_card();
            let target = reading.items.last_mut().unwrap_or(&mut before_any_card);
            target.claims.extend(claims.claims);
            target.count = target.count.or(claims.count);
            target.pinned = target.pinned.or(claims.pinned);
        }
        let item = reading.items.len().checked_sub(1);
        reading.clauses.push((place, item));
    }
    match reading.items.first_mut() {
        Some(first) => {
            first.claims.splice(0..0, before_any_card.claims);
            first.count = first.count.or(before_any_card.count);
        }
        None if !before_any_card.claims.is_empty() => reading.items.push(before_any_card),
        None => {}
    }
    reading.cut_off |= reading.items.len() > MOST_ITEMS;
    reading.tokens = tokens;
    reading
}

fn only_currency(tokens: &[Token]) -> Option<Currency> {
    let mut found = None;
    for token in tokens {
        let Token::Word(word) = token else { continue };
        if let Some(currency) = currency_of(*word) {
            if found.is_some_and(|f| f != currency) {
                return None;
            }
            found = Some(currency);
        }
    }
    found
}

pub(super) fn currency_of(word: Word) -> Option<Currency> {
    match word {
        Word::Cny => Some(Currency::Cny),
        Word::Usd => Some(Currency::Usd),
        Word::Eur => Some(Currency::Eur),
        _ => None,
    }
}

pub(super) fn period_of(word: Word) -> Option<Period> {
    match word {
        Word::Hour => Some(Period::Hour),
        Word::Day => Some(Period::Day),
        Word::Week => Some(Period::Week),
        Word::Month => Some(Period::Month),
        Word::Year => Some(Period::Year),
        _ => None,
    }
}

/// The format that a word names.
pub fn dtype_of(word: Word) -> Option<ComputeDtype> {
    Some(match word {
        Word::Fp64 => ComputeDtype::Fp64,
        Word::Fp32 => ComputeDtype::Fp32,
        Word::Tf32 => ComputeDtype::Tf32,
        Word::Fp16 => ComputeDtype::Fp16,
        Word::Bf16 => ComputeDtype::Bf16,
        Word::Fp8 => ComputeDtype::Fp8,
        Word::Int8 => ComputeDtype::Int8,
        Word::Fp4 => ComputeDtype::Fp4,
        _ => return None,
    })
}

pub(super) fn is_memory_type(word: Word) -> bool {
    matches!(
        word,
        Word::Hbm2
            | Word::Hbm2e
            | Word::Hbm3
            | Word::Hbm3e
            | Word::Gddr5
            | Word::Gddr5x
            | Word::Gddr6
            | Word::Gddr6x
            | Word::Gddr7
    )
}

pub(super) fn is_form(word: Word) -> bool {
    matches!(
        word,
        Word::Pcie
            | Word::Sxm
            | Word::Sxm2
            | Word::Sxm3
            | Word::Sxm4
            | Word::Sxm5
            | Word::Sxm6
            | Word::Oam
            | Word::Nvl
            | Word::Hgx
    )
}

pub(super) fn is_architecture(word: Word) -> bool {
    matches!(
        word,
        Word::Ampere
            | Word::Hopper
            | Word::Ada
            | Word::Blackwell
            | Word::Volta
            | Word::Turing
            | Word::Cdna2
            | Word::Cdna3
            | Word::Pascal
    )
}
