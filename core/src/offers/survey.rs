//! A ranking made card by card: what `rank` does at one go, for a caller that has other things to do in between.

use std::borrow::Cow;

use super::work;
use super::{Assumption, Offer, Ranking, job, ranking, serving, shelf, training};
use crate::catalog::{Card, Catalog, Model, PriceBook};
use crate::plan::search::WorkTask;
use crate::rental::{CardPrices, JobTerms};
use crate::scenario::{Job, Scenario};

/// A ranking in the making.
#[derive(Debug)]
pub struct Survey<'a> {
    scenario: &'a Scenario,
    /// `None`: nothing is known that could be run, so there is no offer.
    task: Option<Task<'a>>,
    terms: JobTerms,
    left: std::vec::IntoIter<(Cow<'a, Card>, CardPrices<'a>)>,
    offers: Vec<Offer>,
}

/// What is run.
#[derive(Debug)]
enum Task<'a> {
    Language(Box<Cow<'a, Model>>),
    Work(WorkTask<'a>),
}

impl<'a> Task<'a> {
    fn of(scenario: &Scenario, catalog: &'a Catalog) -> Option<Self> {
        match scenario.job {
            Job::Train(_) | Job::Serve(_) => {
                job::model(&scenario.model, catalog).map(|model| Self::Language(Box::new(model)))
            }
            _ => work::task(scenario, catalog).map(Self::Work),
        }
    }

    fn terms(&self, scenario: &Scenario) -> JobTerms {
        let (model_bytes, stops_together) = match self {
            Self::Language(model) => (
                job::model_bytes(scenario, model),
                matches!(scenario.job, Job::Train(_)),
            ),
            Self::Work(task) => (task.model_bytes(), task.trains()),
        };
        JobTerms {
            model_bytes,
            stops_together,
            ..JobTerms::default()
        }
    }

    fn assumptions(&self, scenario: &Scenario) -> Vec<Assumption> {
        match (self, &scenario.job) {
            (Self::Work(_), _) => work::assumptions(scenario),
            (Self::Language(model), Job::Train(job)) => training::assumptions(scenario, job, model),
            (Self::Language(_), Job::Serve(job)) => serving::assumptions(job),
            (Self::Language(_), _) => Vec::new(),
        }
    }
}

impl<'a> Survey<'a> {
    /// A ranking of which no card has been looked at.
    pub fn new(scenario: &'a Scenario, catalog: &'a Catalog, prices: &'a PriceBook) -> Self {
        let task = Task::of(scenario, catalog);
        let (terms, cards) = match &task {
            Some(task) => (task.terms(scenario), shelf(scenario, catalog, prices)),
            None => (JobTerms::default(), Vec::new()),
        };
        Self {
            scenario,
            task,
            terms,
            left: cards.into_iter(),
            offers: Vec::new(),
        }
    }

    /// Looks at the next card; `false`: there is none.
    pub fn next_card(&mut self) -> bool {
        let (Some((card, prices)), Some(task)) = (self.left.next(), &self.task) else {
            return false;
        };
        let (scenario, card) = (self.scenario, card.as_ref());
        let prices = prices.for_job(JobTerms {
            cards_per_machine: card.link.cards_per_node,
            ..self.terms
        });
        let offers = &mut self.offers;
        match (task, &scenario.job) {
            (Task::Work(task), _) => work::offers(scenario, task, card, &prices, offers),
            (Task::Language(model), Job::Train(job)) => {
                training::offers(scenario, job, model, card, &prices, offers);
            }
            (Task::Language(model), Job::Serve(job)) => {
                serving::offers(scenario, job, model, card, &prices, offers);
            }
            (Task::Language(_), _) => {}
        }
        true
    }

    /// The ranking of the cards that have been looked at.
    pub fn ranking(self) -> Ranking {
        let Some(task) = &self.task else {
            return Ranking {
                offers: Vec::new(),
                assumptions: Vec::new(),
            };
        };
        let assumptions = task.assumptions(self.scenario);
        ranking(self.scenario, self.offers, assumptions)
    }
}
