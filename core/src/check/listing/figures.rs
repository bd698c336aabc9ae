//! Figures of a sentence as claims.

use super::claims::is_form;
use super::claims::{Claim, currency_of, dtype_of, period_of};
use super::clause::{ClauseReader, Context};
use super::tokens::{Break, Figure, Token};
use super::units::Unit;
use super::vocabulary::Word;
use crate::check::finding::Subject;

/// No PCIe link of today is faster, both directions together.
const FASTEST_BUS_GB_S: f64 = 256.0;

impl ClauseReader<'_> {
    pub(super) fn claim(&mut self, figure: Figure, context: &mut Context) -> Option<Claim> {
        let of = |subject: Subject| Claim::Figure {
            subject,
            figure,
            sparse: false,
            other_rate: false,
        };
        if figure.unit.is_none() && self.is_count(figure) {
            self.item.count = self.item.count.or(Some(figure.high));
            return None;
        }
        if let Some(claim) = self.price(figure, context) {
            return Some(claim);
        }
        let host = !self.belongs_to_name()
            && !self.follows(&[Word::Memory])
            && (context.of_host
                || matches!(
                    context.label,
                    Some(Word::HostMemory | Word::Disk | Word::Host)
                )
                || self.follows(&[Word::HostMemory, Word::Disk, Word::Host]));
        let scaled = |unit: f64| Figure {
            low: figure.low * unit,
            high: figure.high * unit,
            place: figure.place * unit,
            ..figure
        };
        match figure.unit {
            Some(Unit::Gb) if host => Some(Claim::Host),
            Some(Unit::Gb) => {
                if self.belongs_to_name() {
                    self.item.pinned = self.item.pinned.or(Some(figure));
                }
                Some(of(Subject::Memory))
            }
            // Less than 1 GB is a cache, not a card's memory.
            Some(Unit::Mib) if figure.high < 1024.0 => None,
            Some(Unit::Mib) => Some(Claim::Figure {
                subject: Subject::Memory,
                figure: scaled(1.0 / 1024.0),
                sparse: false,
                other_rate: false,
            }),
            Some(Unit::Tb) => Some(Claim::Host),
            Some(Unit::GbPerS | Unit::TbPerS) => {
                let link = context.linked || self.follows(&[Word::Link, Word::OtherLink]);
                let figure = match figure.unit {
                    Some(Unit::TbPerS) => scaled(1000.0),
                    _ => figure,
                };
                if host || context.label == Some(Word::Pcie) && figure.high <= FASTEST_BUS_GB_S {
                    return Some(Claim::Host);
                }
                Some(Claim::Figure {
                    subject: if link {
                        Subject::LinkRate
                    } else {
                        Subject::Bandwidth
                    },
                    figure,
                    sparse: false,
                    other_rate: false,
                })
            }
            // "2T内存", "4 × 7.68T NVMe": terabytes.
            Some(Unit::Tflops)
                if context.dtype.is_none()
                    && (self.follows_at_once(Word::HostMemory)
                        || self.follows_at_once(Word::Disk)) =>
            {
                Some(Claim::Host)
            }
            Some(Unit::Tflops | Unit::Tops | Unit::Pflops) => {
                let unit = if figure.unit == Some(Unit::Pflops) {
                    1000.0
                } else {
                    1.0
                };
                Some(self.rate(scaled(unit), context))
            }
            Some(Unit::Watt | Unit::W) => Some(of(Subject::Power)),
            Some(Unit::Kilowatt) => Some(Claim::Figure {
                subject: Subject::Power,
                figure: scaled(1000.0),
                sparse: false,
                other_rate: false,
            }),
            Some(Unit::Nm) => Some(of(Subject::Process)),
            Some(Unit::Generation) => Some(of(Subject::TensorCores)),
            Some(Unit::Billion) if self.near(context, Word::Transistors) => {
                Some(of(Subject::Transistors))
            }
            Some(Unit::HundredMillion) if self.near(context, Word::Transistors) => {
                Some(Claim::Figure {
                    subject: Subject::Transistors,
                    figure: scaled(0.1),
                    sparse: false,
                    other_rate: false,
                })
            }
            Some(Unit::Cards) => {
                self.item.count = self.item.count.or(Some(figure.high));
                None
            }
            None => self.unitless(figure, context),
            _ => None,
        }
    }

    pub(super) fn unitless(&mut self, figure: Figure, context: &mut Context) -> Option<Claim> {
        if self.follows_at_once(Word::Percard) {
            self.item.count = self.item.count.or(Some(figure.high));
            return None;
        }
        let of = |subject: Subject| {
            Some(Claim::Figure {
                subject,
                figure,
                sparse: false,
                other_rate: false,
            })
        };
        // "5120 CUDA cores, 640 tensor cores": the second figure is not the first word's.
        if self.follows_at_once(Word::Tensor) && figure.high > 6.0 {
            return None;
        }
        if self.follows_at_once(Word::Cores) || context.label == Some(Word::Cores) {
            return (figure.high >= 64.0).then(|| of(Subject::Cores)).flatten();
        }
        if self.follows_at_once(Word::Transistors) {
            return None;
        }
        let bracketed = self.next() == Some(Token::Break(Break::Bracket))
            && matches!(self.tokens.get(self.at + 2), Some(Token::Word(w)) if dtype_of(*w).is_some());
        if (context.dtype.is_some() || bracketed) && figure.high >= 1.0 {
            return Some(self.rate(figure, context));
        }
        if self.follows(&[Word::Host, Word::HostMemory, Word::Disk]) {
            return Some(Claim::Host);
        }
        match context.label? {
            Word::Memory if figure.high >= 4.0 => of(Subject::Memory),
            Word::Bandwidth if figure.high >= 50.0 => of(Subject::Bandwidth),
            Word::Bandwidth => Some(Claim::Figure {
                subject: Subject::Bandwidth,
                figure: Figure {
                    low: figure.low * 1000.0,
                    high: figure.high * 1000.0,
                    place: figure.place * 1000.0,
                    ..figure
                },
                sparse: false,
                other_rate: false,
            }),
            Word::Power if figure.high >= 30.0 => of(Subject::Power),
            Word::Tensor if figure.high <= 6.0 => of(Subject::TensorCores),
            Word::Mixed if figure.high >= 10.0 => of(Subject::RateOfUnnamedFormat),
            Word::HostMemory | Word::Disk | Word::Host => Some(Claim::Host),
            _ => None,
        }
    }

    pub(super) fn rate(&mut self, figure: Figure, context: &Context) -> Claim {
        let mut dtype = context.dtype;
        let mut sparse = context.label == Some(Word::Sparse);
        let mut other_rate = context.vector;
        // Behind the figure, up to the next claim.
        let mut passed = 0;
        let mut own = dtype.is_some();
        // "210 (BF16)" names its own format, whatever stood before.
        if self.next() == Some(Token::Break(Break::Bracket))
            && let Some(Token::Word(word)) = self.tokens.get(self.at + 2)
            && let Some(bracketed) = dtype_of(*word)
            && !matches!(self.tokens.get(self.at + 3), Some(Token::Figure(_)))
        {
            self.at += 2;
            dtype = Some(bracketed);
            own = true;
        }
        for (offset, token) in self.tokens.iter().skip(self.at + 1).enumerate().take(8) {
            match token {
                Token::Word(word) => {
                    if let Some(following) = dtype_of(*word) {
                        if own {
                            break;
                        }
                        dtype = Some(following);
                        own = true;
                        passed = offset + 1;
                    } else if *word == Word::Sparse {
                        sparse = true;
                        passed = offset + 1;
                    } else if matches!(word, Word::Vector | Word::Acc16) {
                        other_rate = true;
                    } else if matches!(word, Word::Tensor | Word::Rate) {
                        passed = offset + 1;
                    } else {
                        break;
                    }
                }
                Token::Break(Break::Bracket) => {}
                Token::Figure(_) | Token::Card(_) | Token::Break(_) | Token::Model(_) => break,
            }
        }
        self.at += passed;
        let subject = match dtype {
            Some(dtype) => Subject::Rate(dtype),
            None => Subject::RateOfUnnamedFormat,
        };
        Claim::Figure {
            subject,
            figure,
            sparse,
            other_rate,
        }
    }

    /// Whether a size follows a card's name at once, or its form, and is not one of a list.
    pub(super) fn belongs_to_name(&self) -> bool {
        let before = |n: usize| self.at.checked_sub(n).and_then(|i| self.tokens.get(i));
        let named = match before(1) {
            Some(Token::Card(_)) => true,
            Some(Token::Word(word)) if is_form(*word) => {
                matches!(before(2), Some(Token::Card(_)))
            }
            _ => false,
        };
        named && self.next() != Some(Token::Break(Break::Slash))
    }

    /// Whether `word` stands before or behind, within this part of the sentence.
    pub(super) fn near(&self, context: &Context, word: Word) -> bool {
        context.label == Some(word) || self.follows(&[word])
    }

    /// Whether one of `words` follows before the next figure, card or break.
    pub(super) fn follows(&self, words: &[Word]) -> bool {
        self.tokens
            .iter()
            .skip(self.at + 1)
            .take(4)
            .filter(|t| **t != Token::Break(Break::Bracket))
            .take_while(|t| !matches!(t, Token::Figure(_) | Token::Card(_) | Token::Break(_)))
            .any(|t| matches!(t, Token::Word(w) if words.contains(w)))
    }

    pub(super) fn follows_at_once(&self, word: Word) -> bool {
        self.next() == Some(Token::Word(word))
    }

    pub(super) fn price(&mut self, figure: Figure, context: &mut Context) -> Option<Claim> {
        let scale = match figure.unit {
            None => 1.0,
            Some(Unit::TenThousand) => 1e4,
            Some(Unit::W)
                if context.priced
                    || context.terms.period.is_some()
                    || matches!(self.next(), Some(Token::Word(w)) if period_of(w).is_some()) =>
            {
                if figure.high >= 100.0 {
                    return None;
                }
                1e4
            }
            Some(Unit::Thousand) => 1e3,
            _ => return None,
        };
        let mut terms = context.terms;
        terms.currency = context.currency;
        let mut passed = 0;
        let mut slash = false;
        for (offset, token) in self.tokens.iter().skip(self.at + 1).enumerate().take(6) {
            match token {
                Token::Word(word) => {
                    if let Some(currency) = currency_of(*word) {
                        terms.currency = terms.currency.or(Some(currency));
                    } else if let Some(period) = period_of(*word) {
                        // "时租 1.3 元 日租 28 元": the second is the next price's.
                        if terms.period.is_some_and(|own| own != period) {
                            break;
                        }
                        terms.period = Some(period);
                    } else if *word == Word::Whole {
                        terms.whole = true;
                    } else if *word == Word::Purchase {
                        terms.purchase = true;
                    } else if !matches!(word, Word::Percard | Word::Price) {
                        break;
                    }
                    passed = offset + 1;
                }
                Token::Break(Break::Bracket) => {}
                Token::Break(Break::Slash) if !slash => slash = true,
                _ => break,
            }
        }
        let priced = terms.currency.is_some()
            || (context.priced && (figure.unit.is_some() || terms.period.is_some()))
            || (context.label == Some(Word::Price))
            || (terms.purchase && figure.unit.is_some())
            || (terms.period.is_some() && figure.unit.is_some());
        if !priced || context.dtype.is_some() {
            return None;
        }
        self.at += passed;
        Some(Claim::Price(
            Figure {
                low: figure.low * scale,
                high: figure.high * scale,
                place: figure.place * scale,
                unit: None,
            },
            terms,
        ))
    }
}
