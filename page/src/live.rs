//! What a limit that is being dragged shows: the offers that are there, by the new limits. The whole answer, in which a
//! deadline may ask for more cards, follows when it is let go.

use cardfit::offers::{Fit, Miss, Offer, Ranking, Run, sort};
use cardfit::range::Range;
use cardfit::scenario::{Job, Scenario};

/// A ranking with the scenario's budget, deadline and slowest tokens marked anew, and in the order that follows.
pub fn under_limits(ranking: &Ranking, scenario: &Scenario) -> Ranking {
    let mut ranking = ranking.clone();
    for offer in ranking.offers.iter_mut().filter(|o| o.fit == Fit::Fits) {
        mark(offer, scenario);
    }
    sort(&mut ranking.offers, scenario);
    ranking
}

fn mark(offer: &mut Offer, scenario: &Scenario) {
    let money = &scenario.money;
    let bounded = offer.cost_of_job.or(offer.cost_per_month);
    limit(offer, bounded, money.budget, Miss::Budget);
    limit(offer, offer.hours, money.deadline_hours, Miss::Deadline);
    if money.deadline_hours.is_some() {
        forget(offer, Miss::TooLong);
    }
    if let (Job::Serve(job), Some(Run::Serve { speed, .. })) = (&scenario.job, &offer.run)
        && let Some(slowest) = job.tpot_target_s
    {
        let pace = speed.tpot_s;
        limit(offer, Some(pace), Some(slowest), Miss::Tpot);
    }
}

fn forget(offer: &mut Offer, miss: Miss) {
    offer.misses.retain(|m| *m != miss);
    offer.may_miss.retain(|m| *m != miss);
}

fn limit(offer: &mut Offer, value: Option<Range>, most: Option<f64>, miss: Miss) {
    forget(offer, miss);
    if let (Some(value), Some(most)) = (value, most) {
        if value.mid > most {
            offer.misses.push(miss);
        } else if value.high > most {
            offer.may_miss.push(miss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardfit::catalog::{Catalog, PriceBook};
    use cardfit::offers::rank;
    use cardfit::scenario::parse;

    fn ranked(link: &str) -> (Scenario, Ranking) {
        let catalog = Catalog::embedded();
        let scenario = parse(link, catalog).scenario;
        let ranking = rank(&scenario, catalog, PriceBook::embedded());
        (scenario, ranking)
    }

    /// A budget changes no plan, so what is shown while it is dragged is what is shown afterwards.
    #[test]
    fn a_budget_is_shown_as_it_will_be() {
        for job in [
            "m=qwen2.5-7b&do=lora",
            "m=qwen3-32b&do=serve&users=20",
            "m=sdxl&do=image",
        ] {
            let (_, before) = ranked(job);
            let (scenario, after) = ranked(&format!("{job}&budget=9"));
            let shown = under_limits(&before, &scenario);
            let names = |ranking: &Ranking| -> Vec<(String, u32, usize)> {
                ranking
                    .offers
                    .iter()
                    .map(|o| (o.card.clone(), o.count, o.misses.len()))
                    .collect()
            };
            assert_eq!(names(&shown), names(&after), "{job}");
        }
    }

    #[test]
    fn a_deadline_that_is_kept_is_none_that_is_missed() {
        let (scenario, before) = ranked("m=qwen2.5-7b&do=lora&deadline=4");
        let shown = under_limits(&before, &scenario);
        for offer in shown.offers.iter().filter(|o| o.fit == Fit::Fits) {
            let late = offer.hours.is_some_and(|h| h.mid > 4.0);
            assert_eq!(offer.misses.contains(&Miss::Deadline), late);
        }
    }
}
