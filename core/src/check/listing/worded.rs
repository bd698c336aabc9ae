//! Claims in words beside the datasheet: memory type, architecture, form, links, sharing.

use super::claims::Claim;
use super::judge::{Judge, form_of};
use super::tokens::Figure;
use super::vocabulary::Word;
use crate::catalog::Card;
use crate::check::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};
use crate::check::names::Form;

impl Judge<'_> {
    pub(super) fn word(&self, subject: Subject, word: Word) -> Option<Finding> {
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

    pub(super) fn worded(
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

    pub(super) fn form(&self, form: Form) -> Finding {
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

    pub(super) fn link(&self, missing: bool, generation: Option<f64>) -> Option<Finding> {
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

    pub(super) fn link_rate(&self, figure: Figure) -> Finding {
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

pub(super) fn memory_type(word: Word) -> Option<&'static str> {
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

pub(super) fn architecture(word: Word) -> Option<&'static str> {
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
