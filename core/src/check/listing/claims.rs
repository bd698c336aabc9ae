//! Tokens as claims about cards.

use std::ops::Range;

use super::table;
use super::tokens::{Break, Figure, Token, Unit, Word, tokens};
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

/// No PCIe link of today is faster, both directions together.
const FASTEST_BUS_GB_S: f64 = 256.0;

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

fn currency_of(word: Word) -> Option<Currency> {
    match word {
        Word::Cny => Some(Currency::Cny),
        Word::Usd => Some(Currency::Usd),
        Word::Eur => Some(Currency::Eur),
        _ => None,
    }
}

fn period_of(word: Word) -> Option<Period> {
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

fn is_memory_type(word: Word) -> bool {
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

fn is_form(word: Word) -> bool {
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

fn is_architecture(word: Word) -> bool {
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

struct ClauseReader<'a> {
    tokens: &'a [Token],
    item: Item,
    /// Names may still join the group: nothing was claimed since the last one.
    group_open: bool,
    /// No card has been named in this clause yet.
    ahead: bool,
    at: usize,
}

/// What stands between the last claim and here.
#[derive(Default, Clone)]
struct Context {
    label: Option<Word>,
    dtype: Option<ComputeDtype>,
    currency: Option<Currency>,
    terms: PriceTerms,
    priced: bool,
    missing: bool,
    vector: bool,
    linked: bool,
    /// The figure before this one was of the machine around the card, and nothing came between.
    of_host: bool,
}

impl ClauseReader<'_> {
    fn claims_without_card(&mut self) -> Item {
        self.next_item().unwrap_or_default()
    }

    /// The next card's claims; the whole clause's where it names none.
    fn next_item(&mut self) -> Option<Item> {
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
    fn label_reaches_over(&self) -> bool {
        matches!(self.tokens.get(self.at + 1), Some(Token::Figure(_)))
            && !matches!(
                self.at.checked_sub(1).and_then(|i| self.tokens.get(i)),
                Some(Token::Figure(_))
            )
    }

    fn is_count(&self, figure: Figure) -> bool {
        figure.unit.is_none() && matches!(self.tokens.get(self.at + 1), Some(Token::Card(_)))
    }

    fn word(&mut self, word: Word, context: &mut Context) {
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
    fn link(&mut self, missing: bool) {
        let generation = match self.tokens.get(self.at + 1) {
            Some(Token::Figure(f)) if f.unit.is_none() && f.high <= 6.0 => Some(f.high),
            _ => None,
        };
        self.item.claims.push(Claim::Link {
            missing,
            generation,
        });
    }

    fn figure(&mut self, figure: Figure, context: &mut Context) {
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

    fn next(&self) -> Option<Token> {
        self.tokens.get(self.at + 1).copied()
    }

    fn claim(&mut self, figure: Figure, context: &mut Context) -> Option<Claim> {
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

    fn unitless(&mut self, figure: Figure, context: &mut Context) -> Option<Claim> {
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

    fn rate(&mut self, figure: Figure, context: &Context) -> Claim {
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
    fn belongs_to_name(&self) -> bool {
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
    fn near(&self, context: &Context, word: Word) -> bool {
        context.label == Some(word) || self.follows(&[word])
    }

    /// Whether one of `words` follows before the next figure, card or break.
    fn follows(&self, words: &[Word]) -> bool {
        self.tokens
            .iter()
            .skip(self.at + 1)
            .take(4)
            .filter(|t| **t != Token::Break(Break::Bracket))
            .take_while(|t| !matches!(t, Token::Figure(_) | Token::Card(_) | Token::Break(_)))
            .any(|t| matches!(t, Token::Word(w) if words.contains(w)))
    }

    fn follows_at_once(&self, word: Word) -> bool {
        self.next() == Some(Token::Word(word))
    }

    fn price(&mut self, figure: Figure, context: &mut Context) -> Option<Claim> {
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
