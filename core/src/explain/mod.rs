//! How an estimate comes about: the formulas with the scenario's own numbers put in, what each rests on, and the
//! constants with where they come from.
//!
//! An explanation is made from the estimator's own functions and from the offer that they gave. A formula is a small
//! expression that is worked out here; the tests hold its value to the offer's, so that the page cannot tell another
//! story than the estimator.

mod references;
mod serving;
mod training;
mod work;

pub use references::{REFERENCES, Reference};

use serde::Serialize;

use crate::catalog::Catalog;
use crate::estimate::work::{WorkPlan, WorkSpeed};
use crate::offers::{Offer, Run};
use crate::range::Range;
use crate::scenario::{Job, ModelChoice, Scenario};

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A plain number or factor.
    One,
    /// Bytes.
    Bytes,
    /// Parameters of a model.
    Parameters,
    /// Seconds.
    Seconds,
    /// Hours.
    Hours,
    /// Tokens.
    Tokens,
    /// Tokens a second.
    TokensPerSecond,
    /// Floating-point operations.
    Flops,
    /// Floating-point operations a second.
    FlopsPerSecond,
    /// Bytes a second.
    BytesPerSecond,
    /// A share, 0 to 1.
    Share,
    /// Money in the scenario's currency.
    Money,
}

/// A formula with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    /// A number; `name` is the key of what it is.
    Figure {
        /// Key of its name.
        name: &'static str,
        /// Value.
        value: f64,
        /// Unit.
        unit: Unit,
    },
    /// Factors.
    Product(Vec<Formula>),
    /// One over the other.
    Quotient(Box<Formula>, Box<Formula>),
    /// Summands.
    Sum(Vec<Formula>),
}

impl Formula {
    /// What it comes to.
    pub fn value(&self) -> f64 {
        match self {
            Self::Figure { value, .. } => *value,
            Self::Product(factors) => factors.iter().map(Self::value).product(),
            Self::Quotient(top, bottom) => top.value() / bottom.value(),
            Self::Sum(parts) => parts.iter().map(Self::value).sum(),
        }
    }
}

fn figure(name: &'static str, value: f64, unit: Unit) -> Formula {
    Formula::Figure { name, value, unit }
}

fn product(factors: impl Into<Vec<Formula>>) -> Formula {
    Formula::Product(factors.into())
}

fn quotient(top: Formula, bottom: Formula) -> Formula {
    Formula::Quotient(Box::new(top), Box::new(bottom))
}

/// One step of the way from the scenario to the answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Term {
    /// Key of its name, `explain.term.NAME` among the texts.
    pub key: &'static str,
    /// How it comes about.
    pub formula: Formula,
    /// Its unit.
    pub unit: Unit,
    /// Where the formula comes from, by [`Reference::key`].
    pub reference: Option<&'static str>,
    /// Low and high end, where it has some.
    pub range: Option<Range>,
}

impl Term {
    /// What it comes to.
    pub fn value(&self) -> f64 {
        self.formula.value()
    }
}

fn term(key: &'static str, formula: Formula, unit: Unit, reference: Option<&'static str>) -> Term {
    Term {
        key,
        formula,
        unit,
        reference,
        range: None,
    }
}

/// A number that was fitted or read, and is not counted from the scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Constant {
    /// Key of its name.
    pub key: &'static str,
    /// What it belongs to: an architecture, a software.
    pub of: String,
    /// Value.
    pub value: f64,
    /// Unit.
    pub unit: Unit,
    /// Measured rows that it rests on, where the fit counts them; 0: taken from a relative.
    pub rows: Option<u32>,
}

/// The whole explanation of one offer.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Explanation {
    /// From model and plan to bytes of the fullest card.
    pub memory: Vec<Term>,
    /// From FLOPs and bytes to tokens a second.
    pub speed: Vec<Term>,
    /// From speed to hours and money.
    pub money: Vec<Term>,
    /// Constants that were used.
    pub constants: Vec<Constant>,
    /// How they were found.
    pub provenance: String,
}

/// Explains an offer of `scenario`; empty for a kind of job that has no formulas here, or where the model is unknown.
pub fn explain(scenario: &Scenario, offer: &Offer, catalog: &Catalog) -> Explanation {
    if let Some(Run::Work { plan, speed }) = &offer.run {
        let mut explanation = of_work(scenario, catalog, plan, speed, offer);
        explanation.money = money(offer);
        return explanation;
    }
    let model = crate::offers::job::model(&scenario.model, catalog);
    let card = catalog.card(&offer.card);
    let (Some(model), Some(card)) = (model, card) else {
        return Explanation::default();
    };
    let mut explanation = match (&scenario.job, &offer.run) {
        (Job::Train(training), Some(Run::Train { plan, speed })) => {
            training::explain(training, &model, card, plan, speed, offer)
        }
        (Job::Serve(serving), Some(Run::Serve { plan, speed, .. })) => {
            serving::explain(serving, &model, card, plan, speed, offer)
        }
        _ => return Explanation::default(),
    };
    explanation.money = money(offer);
    explanation
}

fn of_work(
    scenario: &Scenario,
    catalog: &Catalog,
    plan: &WorkPlan,
    speed: &WorkSpeed,
    offer: &Offer,
) -> Explanation {
    let ModelChoice::Catalog(id) = &scenario.model else {
        return Explanation::default();
    };
    let task = crate::offers::work::task(scenario, catalog);
    match (task, catalog.subject(id)) {
        (Some(task), Some(subject)) => work::explain(&task, subject, plan, speed, offer),
        _ => Explanation::default(),
    }
}

/// Parameters of a scenario's model.
pub fn params_of(scenario: &Scenario) -> Option<f64> {
    crate::offers::job::model(&scenario.model, Catalog::embedded())
        .map(|model| model.params_total as f64)
}

/// Needed memory as the sum of its parts.
fn memory_sum(offer: &Offer) -> Term {
    let parts = offer
        .memory
        .parts
        .iter()
        .map(|(part, bytes)| figure(part.label_key(), *bytes as f64, Unit::Bytes))
        .collect::<Vec<_>>();
    Term {
        range: Some(offer.memory.needed_bytes),
        ..term("needed", Formula::Sum(parts), Unit::Bytes, None)
    }
}

/// From hours to what is paid.
fn money(offer: &Offer) -> Vec<Term> {
    let Some(price) = &offer.price else {
        return Vec::new();
    };
    let hour = term(
        "cost_per_hour",
        product([
            figure("price", price.converted_per_card_hour, Unit::Money),
            figure("charged_cards", f64::from(price.charged_cards), Unit::One),
        ]),
        Unit::Money,
        None,
    );
    let (key, whole) = match (offer.cost_of_job, offer.cost_per_month) {
        (Some(cost), _) => ("cost", cost),
        (None, Some(cost)) => ("cost_per_month", cost),
        (None, None) => return vec![hour],
    };
    let rented = product([
        figure("cost_per_hour", hour.value(), Unit::Money),
        figure("billed_hours", price.billed_hours, Unit::Hours),
    ]);
    // Storage, transfer, fees and taxes.
    let other = whole.mid - rented.value();
    let formula = if other.abs() > 1e-6 * whole.mid {
        Formula::Sum(vec![rented, figure("other_costs", other, Unit::Money)])
    } else {
        rented
    };
    let whole = Term {
        range: Some(whole),
        ..term(key, formula, Unit::Money, None)
    };
    vec![hour, whole]
}
