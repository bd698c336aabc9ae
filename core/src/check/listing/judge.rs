//! Claims about a card beside its datasheet.

use super::ListedCard;
use super::claims::{Claim, Item, dtype_of};
use super::price::{self, Market};
use super::tokens::{Figure, Word};
use crate::catalog::{Card, Catalog, Currency, Market as Segment, Vendor};
use crate::check::facts::facts;
use crate::check::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};
use crate::check::names::{Form, Identity, families, has_label};
use crate::dtype::ComputeDtype;

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
        findings.extend(by_figures(&item.claims, catalog));
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

fn form_of(claim: &Claim) -> Option<Form> {
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
fn is_memory(card: &Card, claimed: Figure) -> bool {
    has_label(card, claimed.low)
        || card
            .driver_memory_mib
            .is_some_and(|mib| (f64::from(mib) / 1024.0 - claimed.low).abs() < 0.02 * claimed.low)
}

/// A card that is not named, by all of its figures together; `None` for fewer than two.
fn by_figures(claims: &[Claim], catalog: &Catalog) -> Option<Finding> {
    let told: Vec<&Claim> = claims
        .iter()
        .filter(|claim| {
            matches!(
                claim,
                Claim::Figure {
                    subject: Subject::Memory
                        | Subject::Bandwidth
                        | Subject::Power
                        | Subject::Cores
                        | Subject::Rate(_),
                    ..
                } | Claim::Word(Subject::MemoryType, _)
            )
        })
        .collect();
    let figures = told
        .iter()
        .filter(|c| matches!(c, Claim::Figure { .. }))
        .count();
    if told.len() < 2 || figures == 0 {
        return None;
    }
    let has = |card: &Card, claim: &Claim| match *claim {
        Claim::Figure {
            subject, figure, ..
        } => {
            let value = match subject {
                Subject::Memory => return is_memory(card, figure),
                Subject::Bandwidth => Some(card.bandwidth_gb_s),
                Subject::Power => card.power_w,
                Subject::Cores => facts(&card.id).and_then(|f| f.cores),
                Subject::Rate(dtype) => rate_of(card, dtype),
                _ => None,
            };
            value.is_some_and(|truth| agrees(figure, truth))
        }
        Claim::Word(_, word) => {
            memory_type(word).is_some_and(|t| card.memory_type.eq_ignore_ascii_case(t))
        }
        _ => false,
    };
    let fitting: Vec<String> = catalog
        .cards
        .iter()
        .filter(|card| told.iter().all(|claim| has(card, claim)))
        .map(|card| card.id.clone())
        .take(8)
        .collect();
    Some(if fitting.is_empty() {
        Finding::new(Subject::Card, Verdict::Wrong)
            .because(Remark::plain("no_card_has_all"))
            .ask("which_card")
    } else {
        Finding {
            holds_for: fitting,
            ..Finding::new(Subject::Card, Verdict::CannotTell)
                .because(Remark::plain("cards_have_all"))
                .ask("which_card")
        }
    })
}

pub(super) struct Judge<'a> {
    pub catalog: &'a Catalog,
    pub market: &'a Market<'a>,
    pub identity: &'a Identity,
    /// Cards that the listing leaves open.
    pub known: Vec<&'a Card>,
    /// Cards that they are easily taken for.
    kin: Vec<&'a Card>,
    pub count: Option<f64>,
    /// Cards of every name that was named in one breath.
    named: Vec<&'a [String]>,
}

type Value<'a> = &'a dyn Fn(&Card) -> Option<f64>;

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
    fn judged(&self, subject: Subject, figure: Figure, unit: Unit, value: Value<'_>) -> Finding {
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
    fn right_for(&self, mut finding: Finding, held: Vec<String>) -> Finding {
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

    fn rate(&self, dtype: ComputeDtype, figure: Figure, sparse: bool, other_rate: bool) -> Finding {
        let unit = if dtype == ComputeDtype::Int8 {
            Unit::Tops
        } else {
            Unit::Tflops
        };
        let dense = |c: &Card| rate_of(c, dtype);
        let doubled = |c: &Card| {
            rate_of(c, dtype)
                .filter(|_| has_sparsity(c, dtype))
                .map(|t| 2.0 * t)
        };
        let subject = Subject::Rate(dtype);
        if sparse {
            let finding = self.judged(subject, figure, unit, &doubled);
            return if finding.verdict == Verdict::Right {
                finding.because(Remark::plain("with_sparsity"))
            } else {
                self.judged(subject, figure, unit, &dense)
                    .because(Remark::plain("said_sparse"))
            };
        }
        let mut finding = self.judged(subject, figure, unit, &dense);
        if finding.datasheet.is_empty() && !self.known.is_empty() {
            // The card has no units for the format.
            finding.verdict = Verdict::Wrong;
            finding.remarks = vec![Remark::plain("format_missing")];
            if self.known.iter().all(|c| c.peak_tflops.fp32.is_none()) {
                finding.verdict = Verdict::CannotTell;
                finding.remarks = vec![Remark::plain("no_datasheet_value")];
            }
            return finding;
        }
        if finding.verdict == Verdict::Right || finding.verdict == Verdict::CannotTell {
            return finding;
        }
        let found = |value: Value<'_>| -> Vec<String> {
            self.known
                .iter()
                .filter(|c| value(c).is_some_and(|truth| agrees(figure, truth)))
                .map(|c| c.id.clone())
                .collect()
        };
        let with_sparsity = found(&doubled);
        if !with_sparsity.is_empty() && !other_rate {
            finding.verdict = Verdict::OnlyWithSparsity;
            finding.holds_for = with_sparsity;
            finding.ask = None;
            return finding.because(Remark::plain("sparsity"));
        }
        if let Some((key, cards)) = other_rates(dtype)
            .iter()
            .map(|(key, value)| (*key, found(value)))
            .find(|(_, cards)| !cards.is_empty())
        {
            finding.verdict = if other_rate {
                Verdict::Right
            } else {
                Verdict::OnlyOtherRate
            };
            finding.holds_for = cards;
            finding.ask = None;
            return finding.because(Remark::plain(key));
        }
        finding
    }

    /// A rate whose format is not written.
    fn unnamed_rate(&self, figure: Figure) -> Finding {
        const FORMATS: [ComputeDtype; 7] = [
            ComputeDtype::Fp16,
            ComputeDtype::Fp32,
            ComputeDtype::Int8,
            ComputeDtype::Fp8,
            ComputeDtype::Tf32,
            ComputeDtype::Fp64,
            ComputeDtype::Fp4,
        ];
        let read = Finding::new(Subject::RateOfUnnamedFormat, Verdict::CannotTell)
            .about(&self.identity.cards)
            .reads(Reading::Figure {
                low: figure.low,
                high: figure.high,
                unit: Unit::Tflops,
            })
            .ask("which_format");
        if self.known.is_empty() {
            return read.because(Remark::plain("no_card"));
        }
        // A dense rate explains the figure better than a sparse one.
        let passes = [
            (Verdict::Right, Verdict::CannotTell, "format_could_be"),
            (
                Verdict::OnlyWithSparsity,
                Verdict::OnlyWithSparsity,
                "format_could_be_sparse",
            ),
        ];
        for (sought, verdict, key) in passes {
            for dtype in FORMATS {
                let tried = self.rate(dtype, figure, false, false);
                if tried.verdict != sought {
                    continue;
                }
                return Finding {
                    datasheet: tried.datasheet,
                    holds_for: tried.holds_for,
                    verdict,
                    ..read
                }
                .because(Remark::plain(key).with("format", Reading::word(dtype_name(dtype))));
            }
        }
        Finding {
            verdict: Verdict::Wrong,
            ..read.because(Remark::plain("no_format_has_it"))
        }
    }

    fn word(&self, subject: Subject, word: Word) -> Option<Finding> {
        match subject {
            Subject::Form => Some(self.form(form_of(&Claim::Word(subject, word))?)),
            Subject::MemoryType => {
                let claimed = memory_type(word)?;
                Some(self.worded(subject, claimed, &|c| Some(c.memory_type.clone())))
            }
            Subject::Architecture => {
                let claimed = architecture(word)?;
                Some(self.worded(subject, claimed, &|c| Some(c.architecture.clone())))
            }
            Subject::Sharing => {
                let key = if word == Word::Exclusive {
                    "exclusive"
                } else {
                    "shared"
                };
                let finding = Finding::new(
                    subject,
                    if word == Word::Exclusive {
                        Verdict::CannotTell
                    } else {
                        Verdict::Notice
                    },
                );
                Some(
                    finding
                        .about(&self.identity.cards)
                        .reads(Reading::Text(if word == Word::Exclusive {
                            "check.word.exclusive"
                        } else {
                            "check.word.shared"
                        }))
                        .because(Remark::plain(key))
                        .ask("whole_card"),
                )
            }
            _ => None,
        }
    }

    fn worded(
        &self,
        subject: Subject,
        claimed: &str,
        value: &dyn Fn(&Card) -> Option<String>,
    ) -> Finding {
        let same = |card: &&&Card| value(card).is_some_and(|v| v.eq_ignore_ascii_case(claimed));
        let mut finding = Finding::new(subject, Verdict::CannotTell)
            .about(&self.identity.cards)
            .reads(Reading::word(claimed));
        if self.known.is_empty() {
            return finding.because(Remark::plain("no_card"));
        }
        for card in &self.known {
            if let Some(word) = value(card) {
                finding = finding.against(&card.id, Reading::word(word));
            }
        }
        let held: Vec<String> = self
            .known
            .iter()
            .filter(same)
            .map(|c| c.id.clone())
            .collect();
        if !held.is_empty() {
            finding.verdict = Verdict::Right;
            return self.right_for(finding, held);
        }
        let others: Vec<String> = self.kin.iter().filter(same).map(|c| c.id.clone()).collect();
        finding.verdict = if others.is_empty() {
            Verdict::Wrong
        } else {
            Verdict::OnlyOtherVariant
        };
        finding.holds_for = others;
        finding
    }

    fn form(&self, form: Form) -> Finding {
        let claimed = match form {
            Form::Pcie => "PCIe".to_owned(),
            Form::Sxm(None) => "SXM".to_owned(),
            Form::Sxm(Some(n)) => format!("SXM{n}"),
            Form::Nvl => "NVL".to_owned(),
            Form::Oam => "OAM".to_owned(),
        };
        let mut finding = Finding::new(Subject::Form, Verdict::CannotTell)
            .about(&self.identity.cards)
            .reads(Reading::word(claimed));
        if self.known.is_empty() {
            return finding.because(Remark::plain("no_card"));
        }
        for card in &self.known {
            finding = finding.against(&card.id, Reading::word(&card.form));
        }
        let fits = |cards: &[&Card]| -> Vec<String> {
            cards
                .iter()
                .filter(|c| form.fits(c))
                .map(|c| c.id.clone())
                .collect()
        };
        let held = fits(&self.known);
        if !held.is_empty() {
            finding.verdict = Verdict::Right;
            return self.right_for(finding, held);
        }
        let others = fits(&self.kin);
        finding.verdict = match form {
            // A generation of the module that this card never had.
            Form::Sxm(Some(_)) => Verdict::Wrong,
            _ if others.is_empty() => Verdict::Wrong,
            _ => Verdict::OnlyOtherVariant,
        };
        finding.holds_for = others;
        finding.ask("which_variant")
    }

    fn link(&self, missing: bool, generation: Option<f64>) -> Option<Finding> {
        if self.known.is_empty() {
            return None;
        }
        let has = |c: &Card| c.link.kind.starts_with("NVLink") || c.link.pair_bridge_gb_s.is_some();
        let nvlink_of = |c: &Card| {
            c.link
                .kind
                .strip_prefix("NVLink ")
                .and_then(|n| n.parse().ok())
        };
        let holds = |c: &&&Card| match (missing, generation) {
            (true, _) => !has(c),
            (false, None) => has(c),
            (false, Some(n)) => nvlink_of(c).is_some_and(|own: f64| (own - n).abs() < 0.5),
        };
        let held: Vec<String> = self
            .known
            .iter()
            .filter(holds)
            .map(|c| c.id.clone())
            .collect();
        let mut finding = Finding::new(Subject::Link, Verdict::Wrong)
            .about(&self.identity.cards)
            .reads(Reading::Text(if missing {
                "check.word.no_nvlink"
            } else {
                "check.word.nvlink"
            }));
        for card in &self.known {
            finding = finding.against(&card.id, Reading::word(link_words(card)));
        }
        if held.is_empty() {
            return Some(finding.ask("links"));
        }
        finding.verdict = Verdict::Right;
        if !missing && self.known.iter().any(|c| c.link.pair_bridge_gb_s.is_some()) {
            finding = finding.because(Remark::plain("bridge_is_extra"));
        }
        Some(self.right_for(finding, held))
    }

    fn link_rate(&self, figure: Figure) -> Finding {
        let both = |c: &Card| c.link.pair_bridge_gb_s.or(c.link.bidirectional_gb_s);
        let finding = self.judged(Subject::LinkRate, figure, Unit::GbPerS, &both);
        if finding.verdict != Verdict::Wrong {
            return finding;
        }
        let one_way = |c: &Card| both(c).map(|rate| rate / 2.0);
        // "NVLink 3.0 1555GB/s": the memory's rate behind the link's name.
        let memory = self.judged(Subject::Bandwidth, figure, Unit::GbPerS, &|c| {
            Some(c.bandwidth_gb_s)
        });
        if memory.verdict == Verdict::Right {
            return memory;
        }
        let half = self.judged(Subject::LinkRate, figure, Unit::GbPerS, &one_way);
        if half.verdict == Verdict::Right {
            return Finding {
                datasheet: finding.datasheet,
                ..half
            }
            .because(Remark::plain("one_direction"));
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

/// How a card is joined to others, in words.
pub fn link_words(card: &Card) -> String {
    match card.link.pair_bridge_gb_s {
        Some(_) if !card.link.kind.starts_with("NVLink") => {
            format!("{} (+ NVLink × 2)", card.link.kind)
        }
        _ => card.link.kind.clone(),
    }
}

/// Dense peak of the catalog in TFLOPS; vector units only for the formats that matrix units lack.
fn rate_of(card: &Card, dtype: ComputeDtype) -> Option<f64> {
    let peak = &card.peak_tflops;
    match dtype {
        ComputeDtype::Fp64 => peak.fp64,
        ComputeDtype::Fp32 => peak.fp32,
        ComputeDtype::Tf32 => peak.tf32,
        ComputeDtype::Fp16 => peak.fp16.or(peak.fp16_vector),
        ComputeDtype::Bf16 => peak.bf16,
        ComputeDtype::Fp8 => peak.fp8,
        ComputeDtype::Int8 => peak.int8,
        ComputeDtype::Fp4 => peak.fp4,
    }
}

/// 2:4 sparsity came with Ampere and CDNA 3.
fn has_sparsity(card: &Card, dtype: ComputeDtype) -> bool {
    let format = !matches!(dtype, ComputeDtype::Fp64 | ComputeDtype::Fp32);
    let architecture = matches!(
        card.architecture.as_str(),
        "Ampere" | "Ada Lovelace" | "Hopper" | "Blackwell" | "Blackwell Ultra" | "CDNA3" | "CDNA4"
    );
    format && architecture
}

type OtherRate = (&'static str, fn(&Card) -> Option<f64>);

/// What else a card computes in the same width, and the remark about it.
fn other_rates(dtype: ComputeDtype) -> Vec<OtherRate> {
    match dtype {
        ComputeDtype::Fp16 | ComputeDtype::Bf16 => vec![
            ("acc16", |c| c.peak_tflops.fp16_acc16),
            ("vector_units", |c| c.peak_tflops.fp16_vector),
        ],
        ComputeDtype::Fp32 => vec![
            ("is_tf32", |c| c.peak_tflops.tf32),
            ("is_tf32_sparse", |c| c.peak_tflops.tf32.map(|t| 2.0 * t)),
            ("is_fp32_matrix", |c| {
                (c.vendor == Vendor::Amd)
                    .then_some(c.peak_tflops.fp32)
                    .flatten()
                    .map(|t| 2.0 * t)
            }),
        ],
        ComputeDtype::Fp64 => vec![("is_fp64_matrix", |c| c.peak_tflops.fp64_tensor)],
        ComputeDtype::Fp8 => vec![("acc16", |c| {
            (c.market == Segment::Consumer)
                .then_some(c.peak_tflops.fp8)
                .flatten()
                .map(|t| 2.0 * t)
        })],
        _ => Vec::new(),
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

fn memory_type(word: Word) -> Option<&'static str> {
    Some(match word {
        Word::Hbm2 => "HBM2",
        Word::Hbm2e => "HBM2e",
        Word::Hbm3 => "HBM3",
        Word::Hbm3e => "HBM3e",
        Word::Gddr5 => "GDDR5",
        Word::Gddr5x => "GDDR5X",
        Word::Gddr6 => "GDDR6",
        Word::Gddr6x => "GDDR6X",
        Word::Gddr7 => "GDDR7",
        _ => return None,
    })
}

fn architecture(word: Word) -> Option<&'static str> {
    Some(match word {
        Word::Pascal => "Pascal",
        Word::Volta => "Volta",
        Word::Turing => "Turing",
        Word::Ampere => "Ampere",
        Word::Ada => "Ada Lovelace",
        Word::Hopper => "Hopper",
        Word::Blackwell => "Blackwell",
        Word::Cdna2 => "CDNA2",
        Word::Cdna3 => "CDNA3",
        _ => return None,
    })
}

/// A format's name as datasheets write it.
pub fn dtype_name(dtype: ComputeDtype) -> &'static str {
    match dtype {
        ComputeDtype::Fp64 => "FP64",
        ComputeDtype::Fp32 => "FP32",
        ComputeDtype::Tf32 => "TF32",
        ComputeDtype::Fp16 => "FP16",
        ComputeDtype::Bf16 => "BF16",
        ComputeDtype::Fp8 => "FP8",
        ComputeDtype::Int8 => "INT8",
        ComputeDtype::Fp4 => "FP4",
    }
}

/// Whether a word names a format; for sayings.
pub(super) fn names_format(word: Word) -> bool {
    dtype_of(word).is_some()
}
