//! A sentence, or a table's row, as claims about the cards that it names.

use super::claims::{
    Claim, Item, PriceTerms, currency_of, dtype_of, is_architecture, is_form, is_memory_type,
    period_of,
};
use super::tokens::{Break, Figure, Token};
use super::units::Unit;
use super::vocabulary::Word;
use crate::catalog::Currency;
use crate::check::finding::Subject;
use crate::dtype::ComputeDtype;

pub(super) struct ClauseReader<'a> {
    pub tokens: &'a [Token],
    pub item: Item,
    /// Names may still join the group: nothing was claimed since the last one.
    pub group_open: bool,
    /// No card has been named in this clause yet.
    pub ahead: bool,
    pub at: usize,
}

/// What stands between the last claim and here.
#[derive(Default, Clone)]
pub(super) struct Context {
    pub label: Option<Word>,
    pub dtype: Option<ComputeDtype>,
    pub currency: Option<Currency>,
    pub terms: PriceTerms,
    pub priced: bool,
    pub missing: bool,
    pub vector: bool,
    pub linked: bool,
    /// The figure before this one was of the machine around the card, and nothing came between.
    pub of_host: bool,
}

impl ClauseReader<'_> {
    pub(super) fn claims_without_card(&mut self) -> Item {
        self.next_item().unwrap_or_default()
    }

    /// The next card's claims; the whole clause's where it names none.
    pub(super) fn next_item(&mut self) -> Option<Item> {
        if self.at >= self.tokens.len() {
            return None;
        }
        let mut context = Context::default();
        while let Some(token) = self.tokens.get(self.at).copied() {
            match token {
                Token::Card(family) => {
                    let known = self.item.families.contains(&family);
                    // "8 H20 96G ..., also H20 141G ..." are two offers.
                    let sized = matches!(
                        self.tokens.get(self.at + 1),
                        Some(Token::Figure(f)) if f.unit == Some(Unit::Gb)
                    );
                    let joins = self.ahead
                        || self.group_open
                        || (known && !(sized && self.item.pinned.is_some()));
                    if !joins && !self.item.families.is_empty() {
                        // The next call goes on from here.
                        let done = std::mem::take(&mut self.item);
                        return Some(done);
                    }
                    if !known {
                        self.item.families.push(family);
                    }
                    self.ahead = false;
                    self.group_open = true;
                    context.of_host = false;
                    self.at += 1;
                    continue;
                }
                Token::Word(word) => self.word(word, &mut context),
                Token::Figure(figure) => {
                    self.group_open &= self.is_count(figure);
                    self.figure(figure, &mut context);
                }
                Token::Break(Break::Comma | Break::Cell) => {
                    context.missing = false;
                    context.of_host = false;
                    context.dtype = context.dtype.filter(|_| self.label_reaches_over());
                }
                Token::Break(_) | Token::Model(_) => {}
            }
            self.at += 1;
        }
        Some(std::mem::take(&mut self.item))
    }

    /// After a comma a format still labels the figure that follows it at once: `FP16, 312`.
    pub(super) fn label_reaches_over(&self) -> bool {
        matches!(self.tokens.get(self.at + 1), Some(Token::Figure(_)))
            && !matches!(
                self.at.checked_sub(1).and_then(|i| self.tokens.get(i)),
                Some(Token::Figure(_))
            )
    }

    pub(super) fn is_count(&self, figure: Figure) -> bool {
        figure.unit.is_none() && matches!(self.tokens.get(self.at + 1), Some(Token::Card(_)))
    }

    pub(super) fn word(&mut self, word: Word, context: &mut Context) {
        self.group_open &= word == Word::Or;
        context.of_host = false;
        let claims = &mut self.item.claims;
        if let Some(dtype) = dtype_of(word) {
            context.dtype = Some(dtype);
            context.label = Some(word);
            context.currency = None;
        } else if let Some(currency) = currency_of(word) {
            context.currency = Some(currency);
            context.priced = true;
        } else if let Some(period) = period_of(word) {
            context.terms.period = Some(period);
        } else if is_memory_type(word) {
            claims.push(Claim::Word(Subject::MemoryType, word));
        } else if is_form(word) {
            let lanes = matches!(
                self.tokens.get(self.at + 1),
                Some(Token::Figure(f)) if f.unit.is_none() && f.high <= 6.0
            );
            // "PCIe 4.0 x16" is the bus, not the board.
            if !(word == Word::Pcie && lanes) {
                claims.push(Claim::Word(Subject::Form, word));
            } else {
                context.label = Some(Word::Pcie);
            }
        } else if is_architecture(word) {
            claims.push(Claim::Word(Subject::Architecture, word));
        } else {
            match word {
                Word::Exclusive | Word::Shared => {
                    claims.push(Claim::Word(Subject::Sharing, word));
                }
                Word::No => context.missing = true,
                Word::Link => {
                    context.label = Some(word);
                    context.linked = true;
                    self.link(context.missing);
                }
                Word::Ecc if context.missing => claims.push(Claim::NoEcc),
                Word::Spot => context.terms.spot = true,
                Word::Whole => context.terms.whole = true,
                Word::Percard => context.terms.whole = false,
                Word::Purchase => context.terms.purchase = true,
                Word::Price => {
                    context.label = Some(word);
                    context.priced = true;
                }
                Word::Vector | Word::Acc16 => context.vector = true,
                Word::OtherLink => {
                    context.label = Some(word);
                    context.linked = true;
                }
                Word::Or => {}
                _ => {
                    // A new label ends a price's words: `"currency": "USD", "vcpu": 208`.
                    context.label = Some(word);
                    context.currency = None;
                }
            }
        }
    }

    /// A link is claimed once; a rate behind its name is that rate's own claim.
    pub(super) fn link(&mut self, missing: bool) {
        let generation = match self.tokens.get(self.at + 1) {
            Some(Token::Figure(f)) if f.unit.is_none() && f.high <= 6.0 => Some(f.high),
            _ => None,
        };
        self.item.claims.push(Claim::Link {
            missing,
            generation,
        });
    }

    pub(super) fn figure(&mut self, figure: Figure, context: &mut Context) {
        let claim = self.claim(figure, context);
        let of_host = matches!(claim, Some(Claim::Host))
            || context.of_host && figure.unit == Some(Unit::MbPerS);
        if let Some(claim) = claim {
            self.item.claims.push(claim);
        }
        let terms = context.terms;
        // "PCIe 4.0, 16x 24.6 GB/s", "NVLink 4.0 415 GB/s": a generation and lanes are said of the same link.
        let of_link = figure.high <= 32.0
            && matches!(figure.unit, None | Some(Unit::Cards))
            && matches!(
                context.label,
                Some(Word::Pcie | Word::Link | Word::OtherLink)
            );
        *context = Context {
            label: context.label.filter(|_| of_link),
            linked: of_link && context.linked,
            of_host,
            // "80/94 GB", "FP32 44.9 / FP16 89.8": a label is for one figure, a period for one price.
            terms: PriceTerms {
                spot: terms.spot,
                whole: terms.whole,
                ..PriceTerms::default()
            },
            ..Context::default()
        };
    }

    pub(super) fn next(&self) -> Option<Token> {
        self.tokens.get(self.at + 1).copied()
    }
}
