//! What texts about cards say beside the datasheet: models that fit, savings, durations, availability.
//!
//! Sizes are counted from parameters and the cards' memory; what no source can settle is called so.

use super::claims::Reading as Text;
use super::rates;
use super::tokens::{Break, Figure, Token};
use super::units::Unit as Written;
use super::vocabulary::Word;
use crate::catalog::{Card, Catalog};
use crate::check::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};

const GB: f64 = 1e9;
const GIB: f64 = 1_073_741_824.0;
/// Weights, gradients and two moments in mixed precision with FP32 master weights (Rajbhandari et al. 2020).
const ADAM_BYTES: f64 = 16.0;
/// Share of the peak that a training job sustains at most, and what it usually does.
const SUSTAINED: (f64, f64) = (0.5, 0.3);

/// Judges every sentence.
pub(super) fn judge(text: &Text, cards: &[Vec<&Card>], most: usize) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (place, item) in &text.clauses {
        if findings.len() >= most {
            break;
        }
        let clause = text.tokens.get(place.clone()).unwrap_or_default();
        if !may_say(clause) {
            continue;
        }
        let cards = item
            .and_then(|index| cards.get(index))
            .map_or(&[][..], Vec::as_slice);
        let sentence = Sentence::of(clause, cards);
        // Shares are each about their own part of a sentence.
        let shares = clause
            .split(|t| *t == Token::Break(Break::Comma))
            .filter(|part| {
                let share =
                    |t: &Token| matches!(t, Token::Figure(f) if f.unit == Some(Written::Percent));
                part.iter().any(share)
            })
            .filter_map(|part| Sentence::of(part, cards).percent());
        for finding in shares.chain(sentence.findings()) {
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    findings
}

/// Whether a sentence has anything that one of the sayings begins with: each needs a word of its own, or a share, a
/// duration or an amount of work.
fn may_say(clause: &[Token]) -> bool {
    clause.iter().any(|token| match token {
        Token::Word(word) => matches!(
            word,
            Word::Availability
                | Word::Needs
                | Word::Trillion
                | Word::HundredBillion
                | Word::TenBillion
                | Word::Enough
                | Word::Int8
                | Word::StorageClass
                | Word::StorageClassNone
                | Word::First
                | Word::Consumer
                | Word::Near
                | Word::Purchase
                | Word::Parallel
                | Word::Concurrency
        ),
        Token::Figure(figure) => matches!(
            figure.unit,
            Some(Written::Percent | Written::Days | Written::FlopsEach)
        ),
        _ => false,
    })
}

struct Sentence<'a> {
    words: Vec<Word>,
    /// Figures with the word before each.
    figures: Vec<Figure>,
    models: Vec<f64>,
    cards: &'a [&'a Card],
    named_cards: bool,
}

impl<'a> Sentence<'a> {
    fn of(clause: &[Token], cards: &'a [&'a Card]) -> Self {
        let mut sentence = Self {
            words: Vec::new(),
            figures: Vec::new(),
            models: Vec::new(),
            cards,
            named_cards: false,
        };
        for token in clause {
            match token {
                Token::Word(word) => sentence.words.push(*word),
                Token::Figure(figure) => sentence.figures.push(*figure),
                Token::Model(parameters) => sentence.models.push(*parameters),
                Token::Card(_) => sentence.named_cards = true,
                Token::Break(_) => {}
            }
        }
        sentence
    }

    fn has(&self, words: &[Word]) -> bool {
        words.iter().any(|w| self.words.contains(w))
    }

    fn of_unit(&self, unit: Written) -> impl Iterator<Item = &Figure> {
        self.figures.iter().filter(move |f| f.unit == Some(unit))
    }

    fn ids(&self) -> Vec<String> {
        self.cards.iter().map(|c| c.id.clone()).collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let mut out = Vec::new();
        out.extend(self.needed_rate());
        out.extend(self.model_class());
        out.extend(self.model_memory());
        out.extend(self.model_on_card());
        out.extend(self.peak_for_need());
        out.extend(self.rate_unit());
        out.extend(self.storage());
        out.extend(self.first());
        out.extend(self.consumer());
        out.extend(self.comparison());
        out.extend(self.duration());
        out.extend(self.concurrency());
        out.extend(self.price_in_words());
        out.extend(self.many_cards());
        out
    }

    fn percent(&self) -> Option<Finding> {
        let figure = self.of_unit(Written::Percent).next()?;
        let read = Reading::Figure {
            low: figure.low,
            high: figure.high,
            unit: Unit::Percent,
        };
        if self.has(&[Word::Availability]) && figure.low > 50.0 && figure.high <= 100.0 {
            let hours = (100.0 - figure.low) / 100.0 * 365.0 * 24.0;
            return Some(
                Finding::new(Subject::Availability, Verdict::Right)
                    .reads(read)
                    .because(
                        Remark::plain("downtime").with("hours", Reading::figure(hours, Unit::Hour)),
                    )
                    .ask("sla"),
            );
        }
        let gain = Finding::new(Subject::Gain, Verdict::CannotTell)
            .about(&self.ids())
            .reads(read);
        Some(if self.has(&[Word::Sparse]) {
            Finding {
                verdict: Verdict::Wrong,
                ..gain.because(Remark::plain("sparse_gain"))
            }
        } else if self.has(&[Word::Spot]) {
            gain.because(Remark::plain("spot_gain"))
        } else if self.has(&[Word::Month]) && self.has(&[Word::Hour]) {
            gain.because(Remark::plain("month_to_hour"))
        } else {
            gain.because(Remark::plain("no_baseline"))
        })
    }

    /// A model is said to need so many TFLOPS: a rate where an amount of work is meant.
    fn needed_rate(&self) -> Option<Finding> {
        let rate = self.of_unit(Written::Tflops).next();
        let each = self.of_unit(Written::FlopsEach).next();
        let parameters = self.has(&[Word::Parameters]);
        let claimed = match (rate, each) {
            (Some(rate), Some(_)) => rate,
            (Some(rate), None) if parameters && self.has(&[Word::Needs]) && !self.named_cards => {
                rate
            }
            _ => return None,
        };
        Some(
            Finding::new(Subject::NeededRate, Verdict::Wrong)
                .reads(Reading::Figure {
                    low: claimed.low,
                    high: claimed.high,
                    unit: Unit::Tflops,
                })
                .because(Remark::plain("rate_is_no_amount")),
        )
    }

    /// "Models of a hundred billion parameters (GPT-3, BERT-Large)".
    fn model_class(&self) -> Option<Finding> {
        let class = if self.has(&[Word::Trillion]) {
            1e12
        } else if self.has(&[Word::HundredBillion]) {
            1e11
        } else if self.has(&[Word::TenBillion]) {
            1e10
        } else {
            return None;
        };
        let smallest = self.models.iter().copied().fold(f64::INFINITY, f64::min);
        if !smallest.is_finite() {
            return None;
        }
        let verdict = if smallest < 0.8 * class {
            Verdict::Wrong
        } else {
            Verdict::Right
        };
        Some(
            Finding::new(Subject::ModelSize, verdict)
                .reads(Reading::figure(class / 1e9, Unit::Billion))
                .because(
                    Remark::plain("model_size")
                        .with("smallest", Reading::figure(smallest / 1e9, Unit::Billion)),
                ),
        )
    }

    /// "LLaMA-7B needs 40 GB".
    fn model_memory(&self) -> Option<Finding> {
        let parameters = *self.models.first().filter(|p| **p > 0.0)?;
        if !self.has(&[Word::Needs]) {
            return None;
        }
        let claimed = self.of_unit(Written::Gb).next()?;
        let weights = 2.0 * parameters / GB;
        let four_bit = 0.6 * parameters / GB;
        let full = ADAM_BYTES * parameters / GB;
        let near = |truth: f64| claimed.low <= 1.25 * truth && claimed.high >= 0.85 * truth;
        let verdict = if near(weights) || near(1.1 * weights) || near(four_bit) || near(full) {
            Verdict::Right
        } else {
            Verdict::Wrong
        };
        Some(
            Finding::new(Subject::ModelMemory, verdict)
                .reads(Reading::Figure {
                    low: claimed.low,
                    high: claimed.high,
                    unit: Unit::Gb,
                })
                .because(
                    Remark::plain("model_memory")
                        .with("weights", Reading::figure(weights, Unit::Gb))
                        .with("four_bit", Reading::figure(four_bit, Unit::Gb))
                        .with("full", Reading::figure(full, Unit::Gb)),
                ),
        )
    }

    /// "24 GB is enough for 7B to 13B", "the 94 GB card fine-tunes trillion-parameter models".
    fn model_on_card(&self) -> Option<Finding> {
        if !self.has(&[Word::Enough]) || self.has(&[Word::Needs]) {
            return None;
        }
        let class = if self.has(&[Word::Trillion]) {
            Some((1e12, 1e12))
        } else if self.has(&[Word::TenBillion]) {
            Some((1e10, 1e10))
        } else {
            None
        };
        let written = self
            .of_unit(Written::B)
            .find(|f| f.low >= 0.1 && f.high <= 5000.0)
            .map(|f| (f.low * 1e9, f.high * 1e9));
        let named = self
            .models
            .iter()
            .copied()
            .fold(None, |range: Option<(f64, f64)>, p| {
                Some(range.map_or((p, p), |(low, high)| (low.min(p), high.max(p))))
            });
        let (low, high) = class.or(written).or(named)?;
        let memories: Vec<f64> = self.cards.iter().map(|c| c.memory_gib * GIB).collect();
        let said = self.of_unit(Written::Gb).next().map(|f| f.low * GIB);
        let unknown = (0.0, f64::INFINITY);
        let (largest, smallest) = said.map_or_else(
            || {
                let largest = memories.iter().copied().reduce(f64::max);
                let smallest = memories.iter().copied().reduce(f64::min);
                largest.zip(smallest).unwrap_or(unknown)
            },
            |bytes| (bytes, bytes),
        );
        let closed = self.models.contains(&0.0);
        let verdict = if closed || 2.0 * high > smallest && 2.0 * low > smallest {
            Verdict::Wrong
        } else if ADAM_BYTES * high <= largest {
            Verdict::Right
        } else {
            Verdict::CannotTell
        };
        let key = if closed {
            "closed_weights"
        } else {
            "model_on_card"
        };
        Some(
            Finding::new(Subject::ModelMemory, verdict)
                .about(&self.ids())
                .reads(Reading::Figure {
                    low: low / 1e9,
                    high: high / 1e9,
                    unit: Unit::Billion,
                })
                .because(
                    Remark::plain(key)
                        .with("weights", Reading::figure(2.0 * high / GB, Unit::Gb))
                        .with("full", Reading::figure(ADAM_BYTES * high / GB, Unit::Gb)),
                ),
        )
    }

    /// "The 312 TFLOPS card satisfies the 160 TFLOPS need": a peak is not sustained.
    fn peak_for_need(&self) -> Option<Finding> {
        if !self.has(&[Word::Enough]) {
            return None;
        }
        let mut rates = self.of_unit(Written::Tflops);
        let (first, second) = (rates.next()?, rates.next()?);
        let (need, peak) = (first.low.min(second.low), first.high.max(second.high));
        if peak <= 0.0 {
            return None;
        }
        let share = need / peak;
        let verdict = if share > SUSTAINED.0 {
            Verdict::Wrong
        } else if share <= SUSTAINED.1 {
            Verdict::Right
        } else {
            Verdict::CannotTell
        };
        Some(
            Finding::new(Subject::NeededRate, verdict)
                .about(&self.ids())
                .reads(Reading::figure(peak, Unit::Tflops))
                .because(
                    Remark::plain("peak_is_not_sustained")
                        .with("low", Reading::figure(SUSTAINED.1 * peak, Unit::Tflops))
                        .with("high", Reading::figure(SUSTAINED.0 * peak, Unit::Tflops)),
                ),
        )
    }

    /// INT8 is counted in operations, not in floating-point operations.
    fn rate_unit(&self) -> Option<Finding> {
        let formats: Vec<Word> = self
            .words
            .iter()
            .copied()
            .filter(|w| rates::names_format(*w))
            .collect();
        let only_int8 = !formats.is_empty() && formats.iter().all(|w| *w == Word::Int8);
        let flops = self.of_unit(Written::Tflops).next().is_some() || self.has(&[Word::Rate]);
        (only_int8 && flops && self.of_unit(Written::Tops).next().is_none()).then(|| {
            Finding::new(Subject::RateUnit, Verdict::Wrong)
                .reads(Reading::word("TFLOPS"))
                .because(Remark::plain("int8_unit"))
        })
    }

    fn storage(&self) -> Option<Finding> {
        let (verdict, key) = if self.has(&[Word::StorageClassNone]) {
            (Verdict::Wrong, "no_such_class")
        } else if self.has(&[Word::StorageClass]) {
            (Verdict::Right, "storage_class")
        } else {
            return None;
        };
        Some(Finding::new(Subject::StorageClass, verdict).because(Remark::plain(key)))
    }

    fn first(&self) -> Option<Finding> {
        if !self.has(&[Word::First]) {
            return None;
        }
        let card = self.cards.first()?;
        let older = Catalog::embedded()
            .cards
            .iter()
            .filter(|c| c.vendor == card.vendor && c.release_year < card.release_year)
            .min_by_key(|c| c.release_year)?;
        Some(
            Finding::new(Subject::FirstOfItsKind, Verdict::Wrong)
                .about(&self.ids())
                .because(
                    Remark::plain("came_before")
                        .with("card", Reading::word(&older.name))
                        .with(
                            "year",
                            Reading::figure(f64::from(older.release_year), Unit::Version),
                        ),
                ),
        )
    }

    /// "Consumer cards lack NVLink and ECC".
    fn consumer(&self) -> Option<Finding> {
        let spoken = self.has(&[Word::Consumer]) && self.has(&[Word::No]);
        if !spoken || !self.has(&[Word::Link]) || self.named_cards {
            return None;
        }
        Some(
            Finding::new(Subject::Link, Verdict::Wrong)
                .reads(Reading::Text("check.word.no_nvlink"))
                .because(Remark::plain("consumer_bridge")),
        )
    }

    /// "FP16 near A100's".
    fn comparison(&self) -> Option<Finding> {
        let spoken = self.has(&[Word::Near]) && self.words.iter().any(|w| rates::names_format(*w));
        (spoken && self.named_cards).then(|| {
            Finding::new(Subject::Comparison, Verdict::CannotTell)
                .about(&self.ids())
                .because(Remark::plain("compare_figures"))
        })
    }

    fn duration(&self) -> Option<Finding> {
        let days = self.of_unit(Written::Days).next()?;
        if days.low > 1900.0 && days.low < 2100.0 {
            return None;
        }
        Some(
            Finding::new(Subject::Duration, Verdict::CannotTell).because(Remark::plain("duration")),
        )
    }

    /// "Sells for several hundred thousand yuan".
    fn price_in_words(&self) -> Option<Finding> {
        let spoken = self.has(&[Word::Purchase]) && self.has(&[Word::Cny, Word::Usd]);
        (spoken && self.figures.is_empty()).then(|| {
            Finding::new(Subject::PurchasePrice, Verdict::CannotTell)
                .about(&self.ids())
                .because(Remark::plain("purchase_price"))
        })
    }

    /// "4-8 cards in parallel across nodes".
    fn many_cards(&self) -> Option<Finding> {
        let cards = self.of_unit(Written::Cards).next()?;
        self.has(&[Word::Parallel]).then(|| {
            Finding::new(Subject::Count, Verdict::CannotTell)
                .reads(Reading::Figure {
                    low: cards.low,
                    high: cards.high,
                    unit: Unit::One,
                })
                .because(Remark::plain("node_size"))
        })
    }

    fn concurrency(&self) -> Option<Finding> {
        self.has(&[Word::Concurrency]).then(|| {
            Finding::new(Subject::Concurrency, Verdict::CannotTell)
                .about(&self.ids())
                .because(Remark::plain("concurrency"))
        })
    }
}
