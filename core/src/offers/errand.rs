//! What one card does of a job, and of well-known jobs that are no language model's: images, clips, networks, speech,
//! science.
//!
//! Each is the card's own offer for that scenario; nothing is estimated here.

use super::{Fit, Offer, rank};
use crate::catalog::{Catalog, PriceBook};
use crate::scenario::{Scenario, Shelf, parse};

/// Jobs that people know a card by, as links. What they leave open is the model's own habit.
const WELL_KNOWN: [&str; 8] = [
    "m=sdxl&do=image",
    "m=flux.1-dev&do=image",
    "m=wan-2.1-14b&do=video",
    "m=sdxl&do=diffusion-lora",
    "m=resnet-50&do=vision-train",
    "m=yolov8m&do=vision-train",
    "m=whisper-large-v3&do=transcribe",
    "m=dense-linear-algebra&do=science",
];

/// One job on one card.
#[derive(Debug, Clone, PartialEq)]
pub struct Errand {
    /// The job.
    pub scenario: Scenario,
    /// The card's offer for it; `None` where the job cannot run on it.
    pub offer: Option<Offer>,
}

impl Errand {
    /// Whether the job fits.
    pub fn fits(&self) -> bool {
        self.offer.as_ref().is_some_and(|o| o.fit == Fit::Fits)
    }
}

/// The job of `scenario` on `count` of one card, whatever else its shelf says.
pub fn errand(scenario: &Scenario, catalog: &Catalog, card: &str, count: u32) -> Errand {
    let scenario = Scenario {
        shelf: Shelf {
            cards: vec![card.to_owned()],
            count: Some(count),
            unpriced: true,
            ..scenario.shelf.clone()
        },
        ..scenario.clone()
    };
    let ranking = rank(&scenario, catalog, &PriceBook::default());
    let offer = ranking
        .offers
        .into_iter()
        .find(|offer| offer.card == card && offer.count == count);
    Errand { scenario, offer }
}

/// The well-known jobs on `count` of one card of `scenario`'s shelf or the catalog.
pub fn well_known(scenario: &Scenario, catalog: &Catalog, card: &str, count: u32) -> Vec<Errand> {
    WELL_KNOWN
        .iter()
        .map(|link| {
            let job = parse(link, catalog).scenario;
            let shelf = scenario.shelf.clone();
            errand(&Scenario { shelf, ..job }, catalog, card, count)
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::offers::Run;
    use crate::scenario::to_query;

    #[test]
    fn every_well_known_job_is_read_as_it_is_written_and_runs_on_a_large_card() {
        let catalog = Catalog::embedded();
        for link in WELL_KNOWN {
            let parsed = parse(link, catalog);
            assert_eq!(parsed.problems, [], "{link}");
            assert_eq!(to_query(&parsed.scenario), link);
        }
        let nothing = parse("", catalog).scenario;
        let done = well_known(&nothing, catalog, "h100-sxm-80gb", 1);
        assert_eq!(done.len(), WELL_KNOWN.len());
        for errand in &done {
            assert!(errand.fits(), "{}", to_query(&errand.scenario));
        }
    }

    #[test]
    fn the_figures_are_those_of_the_offers_of_the_same_link() {
        let catalog = Catalog::embedded();
        let scenario = parse("m=sdxl&do=image", catalog).scenario;
        let done = errand(&scenario, catalog, "rtx-4090", 2).offer.unwrap();
        let linked = parse("m=sdxl&do=image&cards=rtx-4090&n=2&unpriced=yes", catalog).scenario;
        let ranking = rank(&linked, catalog, &PriceBook::embedded().clone());
        let offer = ranking.offers.first().unwrap();
        assert_eq!((done.count, &done.fit), (2, &offer.fit));
        assert_eq!(done.hours, offer.hours);
        assert!(matches!(done.run, Some(Run::Work { .. })));
    }

    #[test]
    fn a_card_that_cannot_hold_the_model_says_so() {
        let catalog = Catalog::embedded();
        let scenario = parse("m=step-video-t2v&do=video", catalog).scenario;
        let done = errand(&scenario, catalog, "rtx-3060-12gb", 1);
        assert!(!done.fits());
    }
}
