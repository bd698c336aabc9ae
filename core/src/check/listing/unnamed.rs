//! A card that is not named, by its figures.

use super::claims::Claim;
use super::judge::{agrees, is_memory};
use super::rates::rate_of;
use super::worded::memory_type;
use crate::catalog::{Card, Catalog};
use crate::check::facts::facts;
use crate::check::finding::{Finding, Remark, Subject, Verdict};

/// A card that is not named, by all of its figures together; `None` for fewer than two.
pub(super) fn by_figures(claims: &[Claim], catalog: &Catalog) -> Option<Finding> {
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
