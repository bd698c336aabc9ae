//! The ranking as the page shows it: one row a card at its best count, and the three picks.

use std::collections::HashMap;
use std::sync::Arc;

use cardfit::offers::{Assumption, Fit, Offer, Ranking, best, bolder, compare};
use cardfit::order;
use cardfit::range::Range;
use cardfit::scenario::{Job, RankBy, Scenario, TrainingAmount};

use crate::live;

/// What is asked for decides which figures answer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// A job with an end: hours, and the cost of all of it.
    Once,
    /// A service that runs on: its speed, and the cost of a month.
    Monthly,
}

impl AnswerKind {
    /// The kind of answer to a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        match &scenario.job {
            Job::Serve(serving) if serving.requests_total.is_none() => Self::Monthly,
            _ => Self::Once,
        }
    }
}

/// One card, at the count that ranks best and at the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The best offer of this card.
    pub best: Arc<Offer>,
    /// Every count of it, fewest cards first.
    pub counts: Vec<Arc<Offer>>,
}

impl Row {
    /// The same offers under other limits; the very same row where they change nothing.
    fn under_limits(row: &Arc<Self>, scenario: &Scenario) -> Arc<Self> {
        let counts: Vec<Arc<Offer>> = row
            .counts
            .iter()
            .map(|offer| live::marked(offer, scenario))
            .collect();
        let mut pairs = counts.iter().zip(&row.counts);
        if pairs.all(|(now, before)| Arc::ptr_eq(now, before)) {
            return Arc::clone(row);
        }
        let first = counts
            .iter()
            .min_by(|a, b| compare(a, b, scenario.rank))
            .unwrap_or(&row.best);
        Arc::new(Self {
            best: Arc::clone(first),
            counts,
        })
    }
}

/// The best by each order, where something fits and keeps every limit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Picks {
    /// Lowest cost.
    pub cheapest: Option<Arc<Offer>>,
    /// Shortest time, or most tokens a second.
    pub fastest: Option<Arc<Offer>>,
    /// Lowest product of cost and time; of a service, lowest cost of a token.
    pub best_value: Option<Arc<Offer>>,
}

/// How many cards fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Fit.
    pub fits: usize,
    /// Fit only if the estimate is on the high side.
    pub tight: usize,
    /// Do not fit in any count looked at.
    pub too_small: usize,
}

/// A ranking made ready for the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Which figures answer.
    pub kind: AnswerKind,
    /// Cards, best first.
    pub rows: Vec<Arc<Row>>,
    /// Place of a card in `rows`.
    places: HashMap<String, usize>,
    /// The three picks.
    pub picks: Picks,
    /// How many cards fit.
    pub tally: Tally,
    /// What was assumed.
    pub assumptions: Vec<Assumption>,
}

impl Answer {
    /// Groups a ranking by card.
    pub fn new(ranking: &Ranking, scenario: &Scenario) -> Self {
        let offers = ranking.offers.iter().cloned().map(Arc::new).collect();
        Self::of(offers, ranking.assumptions.clone(), scenario)
    }

    /// Groups offers that are in order by card.
    fn of(offers: Vec<Arc<Offer>>, assumptions: Vec<Assumption>, scenario: &Scenario) -> Self {
        let kind = AnswerKind::of(scenario);
        let picks = picks(offers.iter());
        let mut places = HashMap::new();
        let mut rows: Vec<Row> = Vec::new();
        for offer in offers {
            match places
                .get(&offer.card)
                .and_then(|i: &usize| rows.get_mut(*i))
            {
                Some(row) => row.counts.push(offer),
                None => {
                    places.insert(offer.card.clone(), rows.len());
                    rows.push(Row {
                        best: Arc::clone(&offer),
                        counts: vec![offer],
                    });
                }
            }
        }
        for row in &mut rows {
            order::sort_by_key(&mut row.counts, |offer| offer.count);
        }
        let mut tally = Tally::default();
        for row in &rows {
            match row.best.fit {
                Fit::Fits => tally.fits += 1,
                Fit::Tight { .. } => tally.tight += 1,
                Fit::TooSmall { .. } => tally.too_small += 1,
            }
        }
        Self {
            kind,
            picks,
            tally,
            assumptions,
            rows: rows.into_iter().map(Arc::new).collect(),
            places,
        }
    }

    /// The same offers by the scenario's budget, deadline and slowest tokens alone: what a limit that is being dragged
    /// shows until it is let go. What does not change is shared, for this is done once a frame.
    #[must_use]
    pub fn under_limits(before: &Arc<Self>, scenario: &Scenario) -> Arc<Self> {
        let mut rows: Vec<Arc<Row>> = before
            .rows
            .iter()
            .map(|row| Row::under_limits(row, scenario))
            .collect();
        let same = |rows: &[Arc<Row>]| {
            let pairs = rows.iter().zip(&before.rows);
            pairs
                .into_iter()
                .all(|(now, before)| Arc::ptr_eq(now, before))
        };
        order::sort_by(&mut rows, |a, b| compare(&a.best, &b.best, scenario.rank));
        if same(&rows) {
            return Arc::clone(before);
        }
        let places = rows.iter().enumerate();
        Arc::new(Self {
            kind: before.kind,
            picks: picks(rows.iter().flat_map(|row| &row.counts)),
            tally: before.tally,
            assumptions: before.assumptions.clone(),
            places: places
                .map(|(place, row)| (row.best.card.clone(), place))
                .collect(),
            rows,
        })
    }

    /// The row of a card.
    pub fn row(&self, card: &str) -> Option<&Arc<Row>> {
        self.rows.get(*self.places.get(card)?)
    }

    /// Smallest low and largest high of the first rows' costs, for drawing them on one scale.
    pub fn cost_span(&self, rows: usize) -> Option<(f64, f64)> {
        self.rows
            .iter()
            .take(rows)
            .filter_map(|row| cost(&row.best, self.kind))
            .map(|c| (c.low, c.high))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The offer that answers: the first of the ranking.
    pub fn first(&self) -> Option<&Arc<Offer>> {
        self.rows.first().map(|row| &row.best)
    }

    /// What comes before the first by `rank` alone, but may miss a limit at worst.
    pub fn bolder(&self, rank: RankBy) -> Option<&Arc<Offer>> {
        let mut offers = self.rows.iter().flat_map(|row| &row.counts);
        let found = bolder(offers.clone().map(Arc::as_ref), self.first()?, rank)?;
        offers.find(|offer| std::ptr::eq(offer.as_ref(), found))
    }
}

/// What an offer costs: the job, or a month of a service.
pub fn cost(offer: &Offer, kind: AnswerKind) -> Option<Range> {
    match kind {
        AnswerKind::Once => offer.cost_of_job,
        AnswerKind::Monthly => offer.cost_per_month,
    }
}

fn picks<'a>(offers: impl Iterator<Item = &'a Arc<Offer>> + Clone) -> Picks {
    let pick = |rank| {
        let found = best(offers.clone().map(Arc::as_ref), rank)?;
        offers
            .clone()
            .find(|offer| std::ptr::eq(offer.as_ref(), found))
            .map(Arc::clone)
    };
    Picks {
        cheapest: pick(RankBy::Cheapest),
        fastest: pick(RankBy::Fastest),
        best_value: pick(RankBy::BestValue),
    }
}

impl Picks {
    /// The picks with their order, in the order in which they are shown.
    pub fn all(&self) -> [(RankBy, Option<&Arc<Offer>>); 3] {
        [
            (RankBy::Cheapest, self.cheapest.as_ref()),
            (RankBy::Fastest, self.fastest.as_ref()),
            (RankBy::BestValue, self.best_value.as_ref()),
        ]
    }
}

/// Passes over the data of a training job that counts them.
pub fn epochs(scenario: &Scenario) -> Option<f64> {
    match &scenario.job {
        Job::Train(training) => match training.amount {
            TrainingAmount::Samples { epochs, .. } => Some(epochs),
            TrainingAmount::Tokens(_) => None,
        },
        _ => None,
    }
}
