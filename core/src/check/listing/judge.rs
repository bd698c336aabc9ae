//! Claims about a card beside its datasheet.

use super::ListedCard;
use super::claims::{Claim, Item};
use super::price::{self, Market};
use super::tokens::Figure;
use super::unnamed;
use super::vocabulary::Word;
use crate::catalog::{Card, Catalog, Currency, Market as Segment, Vendor};
use crate::check::facts::facts;
use crate::check::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};
use crate::check::names::{Form, Identity, families, has_label};

/// Most that a rounded figure may be off.
const ROUNDING: f64 = 0.04;
/// Most that a figure of another edition of the datasheet may be off.
const EDITION: f64 = 0.02;

/// Whether a claimed figure is `truth` within rounding: two in a hundred, or a step of its last digit where that is no
/// more than four in a hundred.
pub(super) fn agrees(claimed: Figure, truth: f64) -> bool {
    let slack = (EDITION * truth).max(claimed.place.min(ROUNDING * truth)) * (1.0 + 1e-9);
    claimed.low - slack <= truth && truth <= claimed.high + slack
}

/// Judges every claim of one item.
pub(super) fn judge(
    item: &Item,
    mut identity: Identity,
    currency: Option<Currency>,
    catalog: &Catalog,
    market: &Market<'_>,
) -> ListedCard {
    let forms: Vec<Form> = item.claims.iter().filter_map(form_of).collect();
    for form in &forms {
        let loose = match form {
            Form::Sxm(_) => Form::Sxm(None),
            other => *other,
        };
        identity.narrow(catalog, |card| loose.fits(card));
    }
    if forms.first() == Some(&Form::Pcie) {
        identity.narrow(catalog, |card| !Form::Nvl.fits(card));
    }
    let labels: Vec<Figure> = item
        .claims
        .iter()
        .filter_map(|claim| match claim {
            Claim::Figure {
                subject: Subject::Memory,
                figure,
                ..
            } => Some(*figure),
            _ => None,
        })
        .collect();
    if let Some(pinned) = item.pinned {
        identity.narrow(catalog, |card| is_memory(card, pinned));
    }
    // "80/94 GB" leaves both open.
    identity.narrow(catalog, |card| labels.iter().any(|l| is_memory(card, *l)));
    let known = cards(&identity.cards, catalog);
    let kin = cards(&identity.kin, catalog);
    let judge = Judge {
        catalog,
        market,
        identity: &identity,
        known,
        kin,
        count: item.count,
        named: item
            .families
            .iter()
            .filter_map(|f| families().get(*f))
            .map(|f| f.cards.as_slice())
            .collect(),
    };
    let mut findings = Vec::new();
    findings.extend(judge.card());
    if item.families.is_empty() {
        findings.extend(unnamed::by_figures(&item.claims, catalog));
    }
    for claim in &item.claims {
        let finding = match *claim {
            Claim::Figure {
                subject,
                figure,
                sparse,
                other_rate,
            } => judge.figure(subject, figure, sparse, other_rate),
            Claim::Price(figure, terms) => Some(price::judge(&judge, figure, terms, currency)),
            Claim::Word(subject, word) => judge.word(subject, word),
            Claim::Link {
                missing,
                generation,
            } => judge.link(missing, generation),
            Claim::NoEcc => judge.no_ecc(),
            Claim::Host => Some(
                Finding::new(Subject::Host, Verdict::CannotTell).because(Remark::plain("host")),
            ),
        };
        if let Some(finding) = finding
            && !findings.contains(&finding)
        {
            findings.push(finding);
        }
    }
    price::contradictions(&mut findings);
    ListedCard {
        confused_with: identity
            .kin
            .iter()
            .filter(|id| !identity.cards.contains(id))
            .cloned()
            .collect(),
        cards: identity.cards,
        name: identity.name,
        count: item
            .count
            .filter(|c| (1.0..=65_536.0).contains(c))
            .map(|c| c as u32),
        findings,
    }
}

fn cards<'a>(ids: &[String], catalog: &'a Catalog) -> Vec<&'a Card> {
    ids.iter().filter_map(|id| catalog.card(id)).collect()
}

pub(super) fn form_of(claim: &Claim) -> Option<Form> {
    let Claim::Word(Subject::Form, word) = claim else {
        return None;
    };
    Some(match word {
        Word::Pcie => Form::Pcie,
        Word::Nvl => Form::Nvl,
        Word::Oam => Form::Oam,
        Word::Sxm | Word::Hgx => Form::Sxm(None),
        Word::Sxm2 => Form::Sxm(Some(2)),
        Word::Sxm3 => Form::Sxm(Some(3)),
        Word::Sxm4 => Form::Sxm(Some(4)),
        Word::Sxm5 => Form::Sxm(Some(5)),
        Word::Sxm6 => Form::Sxm(Some(6)),
        _ => return None,
    })
}

/// Whether a claimed size is the card's, by its label or as its driver reports it.
pub(super) fn is_memory(card: &Card, claimed: Figure) -> bool {
    has_label(card, claimed.low)
        || card
            .driver_memory_mib
            .is_some_and(|mib| (f64::from(mib) / 1024.0 - claimed.low).abs() < 0.02 * claimed.low)
}

pub(super) struct Judge<'a> {
    pub catalog: &'a Catalog,
    pub market: &'a Market<'a>,
    pub identity: &'a Identity,
    /// Cards that the listing leaves open.
    pub known: Vec<&'a Card>,
    /// Cards that they are easily taken for.
    pub kin: Vec<&'a Card>,
    pub count: Option<f64>,
    /// Cards of every name that was named in one breath.
    named: Vec<&'a [String]>,
}

pub(super) type Value<'a> = &'a dyn Fn(&Card) -> Option<f64>;

impl Judge<'_> {
    fn card(&self) -> Option<Finding> {
        let first = self.known.first()?;
        let base = Finding::new(Subject::Card, Verdict::Notice).about(&self.identity.cards);
        if let [only] = self.known.as_slice() {
            let mut finding = Finding {
                verdict: Verdict::Right,
                ..base.reads(Reading::word(&only.name))
            };
            if only.id == "rtx-4090-48gb" {
                finding.verdict = Verdict::Notice;
                finding = finding
                    .because(Remark::plain("rebuilt"))
                    .ask("rebuilt_support");
            }
            return Some(finding);
        }
        // MI250 as a board and as the die that software sees.
        if self.known.iter().all(|c| c.name.starts_with(&first.name)) && first.vendor == Vendor::Amd
        {
            return Some(
                base.reads(Reading::word(&first.name))
                    .because(Remark::plain("two_dies")),
            );
        }
        Some(
            self.known
                .iter()
                .fold(base, |f, card| f.reads(Reading::word(&card.name)))
                .because(Remark::plain("variant_open"))
                .ask("which_variant"),
        )
    }

    /// A finding about the figures of all cards that are open.
    pub(super) fn judged(
        &self,
        subject: Subject,
        figure: Figure,
        unit: Unit,
        value: Value<'_>,
    ) -> Finding {
        let mut finding = Finding::new(subject, Verdict::CannotTell)
            .about(&self.identity.cards)
            .reads(Reading::Figure {
                low: figure.low,
                high: figure.high,
                unit,
            });
        if self.known.is_empty() {
            let key = if self.identity.name.is_some() {
                "not_in_catalog"
            } else {
                "no_card"
            };
            return finding.because(Remark::plain(key));
        }
        for card in &self.known {
            if let Some(truth) = value(card) {
                finding = finding.against(&card.id, Reading::figure(truth, unit));
            }
        }
        if finding.datasheet.is_empty() {
            return finding.because(Remark::plain("no_datasheet_value"));
        }
        let holds = |cards: &[&Card]| -> Vec<String> {
            cards
                .iter()
                .filter(|card| value(card).is_some_and(|truth| agrees(figure, truth)))
                .map(|card| card.id.clone())
                .collect()
        };
        let held = holds(&self.known);
        if !held.is_empty() {
            finding.verdict = Verdict::Right;
            return self.right_for(finding, held);
        }
        let others = holds(&self.kin);
        if !others.is_empty() {
            finding.verdict = Verdict::OnlyOtherVariant;
            finding.holds_for = others;
            return finding.ask("which_variant");
        }
        finding.verdict = Verdict::Wrong;
        finding
    }

    /// `finding`, right for the cards `held` of those that are open. Different cards named in one breath share no
    /// claim that holds for some of them only.
    pub(super) fn right_for(&self, mut finding: Finding, held: Vec<String>) -> Finding {
        if held.len() == self.known.len() {
            return finding;
        }
        let all_hold = self
            .named
            .iter()
            .filter(|cards| cards.iter().any(|id| self.identity.cards.contains(id)))
            .all(|cards| cards.iter().any(|id| held.contains(id)));
        if !all_hold {
            finding.verdict = Verdict::OnlyOtherVariant;
        }
        finding.holds_for = held;
        finding
    }

    fn figure(
        &self,
        subject: Subject,
        figure: Figure,
        sparse: bool,
        other_rate: bool,
    ) -> Option<Finding> {
        Some(match subject {
            Subject::Memory => return Some(self.memory(figure)),
            Subject::Bandwidth => {
                self.judged(subject, figure, Unit::GbPerS, &|c| Some(c.bandwidth_gb_s))
            }
            Subject::Power => self.judged(subject, figure, Unit::Watt, &|c| c.power_w),
            Subject::Cores => self.judged(subject, figure, Unit::One, &|c| {
                facts(&c.id).and_then(|f| f.cores)
            }),
            Subject::Process => {
                // NVIDIA calls its variant of TSMC's 5 nm "4N": both figures are in use.
                let near = |c: &Card| {
                    let nm = facts(&c.id).and_then(|f| f.process_nm)?;
                    let same = (nm - figure.low).abs() < 1.5 && figure.low <= 5.0 && nm <= 5.0;
                    Some(if same { figure.low } else { nm })
                };
                self.judged(subject, figure, Unit::Nm, &near)
            }
            Subject::Transistors => self.judged(subject, figure, Unit::Billion, &|c| {
                facts(&c.id).and_then(|f| f.transistors_billion)
            }),
            Subject::TensorCores => {
                self.judged(subject, figure, Unit::Generation, &tensor_generation)
            }
            Subject::LinkRate => self.link_rate(figure),
            Subject::Rate(dtype) => self.rate(dtype, figure, sparse, other_rate),
            Subject::RateOfUnnamedFormat => self.unnamed_rate(figure),
            _ => return None,
        })
    }

    fn memory(&self, figure: Figure) -> Finding {
        let total = self.count.filter(|count| *count > 1.0);
        let together = total.map(|count| Figure {
            low: figure.low / count,
            high: figure.high / count,
            ..figure
        });
        let label = |card: &Card| {
            let whole = is_memory(card, figure);
            let shared = together.is_some_and(|f| has_label(card, f.low));
            Some(if whole || shared {
                figure.low
            } else {
                card.memory_gib
            })
        };
        let mut finding = self.judged(
            Subject::Memory,
            Figure {
                place: 0.0,
                ..figure
            },
            Unit::Gb,
            &label,
        );
        // The datasheet's own value is shown, not the claim's.
        for (id, reading) in &mut finding.datasheet {
            if let Some(card) = self.catalog.card(id) {
                *reading = Reading::figure(card.memory_gib, Unit::Gb);
            }
        }
        if finding.verdict == Verdict::Wrong
            && self.known.iter().any(|c| figure.high < 0.75 * c.memory_gib)
            && self.known.iter().all(|c| figure.high < c.memory_gib)
        {
            finding = finding
                .because(Remark::plain("less_memory"))
                .ask("whole_card");
        }
        finding
    }

    fn no_ecc(&self) -> Option<Finding> {
        if self.known.is_empty() {
            return None;
        }
        let consumer = self.known.iter().all(|c| c.market == Segment::Consumer);
        let verdict = if consumer {
            Verdict::Right
        } else {
            Verdict::Wrong
        };
        Some(
            Finding::new(Subject::Ecc, verdict)
                .about(&self.identity.cards)
                .reads(Reading::Text("check.word.no_ecc")),
        )
    }
}

/// Generation of NVIDIA's matrix units.
fn tensor_generation(card: &Card) -> Option<f64> {
    match card.architecture.as_str() {
        "Volta" => Some(1.0),
        "Turing" => Some(2.0),
        "Ampere" => Some(3.0),
        "Ada Lovelace" | "Hopper" => Some(4.0),
        "Blackwell" | "Blackwell Ultra" => Some(5.0),
        _ => None,
    }
}
