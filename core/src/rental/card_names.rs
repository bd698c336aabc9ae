//! Which card of the catalog a name in somebody's price list means.

use std::collections::HashSet;

use super::import::RefusedReason;
use crate::catalog::{Card, Catalog, PriceBook};

/// The catalog's cards by the parts of their names, taken apart once for a whole list.
pub(super) struct CardNames<'a> {
    catalog: &'a Catalog,
    cards: Vec<Known<'a>>,
}

struct Known<'a> {
    card: &'a Card,
    name: Name,
    /// Somebody lets it: a bare name does not mean a card that a single machine in the world has.
    is_let: bool,
}

impl<'a> CardNames<'a> {
    pub fn new(catalog: &'a Catalog) -> Self {
        let offers = &PriceBook::embedded().offers;
        let let_cards: HashSet<&str> = offers.iter().map(|offer| offer.card.as_str()).collect();
        let cards = catalog.cards.iter().map(|card| Known {
            card,
            name: Name::of(&card.id),
            is_let: let_cards.contains(card.id.as_str()),
        });
        Self {
            catalog,
            cards: cards.collect(),
        }
    }

    /// The card of a name in somebody's list, and whether it is certain which form (SXM, PCIe) is meant; where it is not,
    /// the one with the least bandwidth, so that what is promised holds.
    pub fn resolve(
        &self,
        name: &str,
        memory_gib: Option<f64>,
        instance: &str,
    ) -> Result<(&'a Card, bool), RefusedReason> {
        /// Labels and what software counts differ by this much at most.
        const SAME_MEMORY: f64 = 0.12;
        let said = Name::of(name);
        if said.base.is_empty() {
            return Err(RefusedReason::UnknownCard);
        }
        let memory_gib = said.memory_gib.or(memory_gib);
        let is_said = |known: &&Known<'a>| {
            let base = known.name.base.as_str();
            base == said.base || base.strip_prefix("rtx") == Some(said.base.as_str())
        };
        let mut family: Vec<&Known<'a>> = self.cards.iter().filter(is_said).collect();
        if family.is_empty() {
            let named = self.catalog.card(name);
            let is_named = |known: &&Known<'a>| named.is_some_and(|card| card.id == known.card.id);
            family.extend(self.cards.iter().find(is_named));
        }
        if family.is_empty() {
            return Err(RefusedReason::UnknownCard);
        }
        if let Some(memory_gib) = memory_gib {
            family.retain(|known| (memory_gib / known.card.memory_gib - 1.0).abs() < SAME_MEMORY);
            if family.is_empty() {
                return Err(RefusedReason::MemoryDiffers);
            }
        }
        if memory_gib.is_none() && family.iter().any(|known| known.is_let) {
            family.retain(|known| known.is_let);
        }
        let form = said.form.or_else(|| Name::of(instance).form);
        if form.is_some() && family.iter().any(|known| known.name.form == form) {
            family.retain(|known| known.name.form == form);
        }
        let certain = family.len() == 1;
        family
            .into_iter()
            .map(|known| known.card)
            .min_by(|a, b| a.bandwidth_gb_s.total_cmp(&b.bandwidth_gb_s))
            .map(|card| (card, certain))
            .ok_or(RefusedReason::UnknownCard)
    }
}

/// A card's name taken apart.
struct Name {
    /// Letters and digits without form and memory.
    base: String,
    form: Option<&'static str>,
    memory_gib: Option<f64>,
}

impl Name {
    fn of(name: &str) -> Self {
        const MAKERS_WORDS: [&str; 6] = ["nvidia", "geforce", "tesla", "amd", "instinct", "gpu"];
        const FORMS: [&str; 4] = ["sxm", "pcie", "nvl", "oam"];
        let lower = name.to_lowercase();
        let mut parts = Self {
            base: String::new(),
            form: None,
            memory_gib: None,
        };
        for word in lower.split(|c: char| !c.is_alphanumeric()) {
            let memory = word.strip_suffix("gb").and_then(|n| n.parse::<f64>().ok());
            let form = FORMS.into_iter().find(|form| {
                word.strip_prefix(form)
                    .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
            });
            match (memory, form) {
                (Some(memory), _) => parts.memory_gib = Some(memory),
                (None, Some(form)) => parts.form = Some(form),
                (None, None) if MAKERS_WORDS.contains(&word) => {}
                (None, None) => match FORMS
                    .into_iter()
                    .find(|f| word.len() > f.len() && word.ends_with(f))
                {
                    // `H100NVL`
                    Some(form) => {
                        parts.form = Some(form);
                        parts.base.push_str(word.trim_end_matches(form));
                    }
                    None => parts.base.push_str(word),
                },
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lists_are_found() {
        let names = CardNames::new(Catalog::embedded());
        for (name, memory, instance, card) in [
            ("H100", None, "gpu_1x_h100_sxm5", "h100-sxm-80gb"),
            ("H100", Some(80.0), "gpu_1x_h100_pcie", "h100-pcie-80gb"),
            ("H100", None, "", "h100-pcie-80gb"),
            ("H100NVL", Some(94.0), "", "h100-nvl-94gb"),
            ("H100-SXM", Some(80.0), "", "h100-sxm-80gb"),
            ("A100-80GB", None, "gpu_8x_a100_80gb_sxm4", "a100-sxm4-80gb"),
            ("A100-80GB-SXM", None, "", "a100-sxm4-80gb"),
            ("A100", Some(40.0), "gpu_1x_a100_sxm4", "a100-sxm4-40gb"),
            ("H200", Some(141.0), "gpu-h200-sxm_1gpu", "h200-sxm-141gb"),
            ("RTX4090", Some(24.0), "", "rtx-4090"),
            ("RTXA6000", Some(48.0), "", "rtx-a6000"),
            ("A6000", Some(48.0), "", "rtx-a6000"),
            ("L4", Some(24.0), "", "l4"),
            ("L40", Some(48.0), "", "l40"),
            ("L40S", Some(48.0), "", "l40s"),
            ("T4", Some(16.0), "", "t4"),
            ("MI300X", Some(192.0), "", "mi300x"),
        ] {
            let found = names
                .resolve(name, memory, instance)
                .map(|(card, _)| card.id.as_str());
            assert_eq!(found, Ok(card), "{name} {memory:?} {instance}");
        }
    }
}
