//! Limits that are being dragged: which of them an offer misses, told anew once a frame. The whole answer, in which a
//! deadline may ask for more cards, follows when the limit is let go.

use std::sync::Arc;

use cardfit::offers::{Fit, Miss, Offer, Run};
use cardfit::range::Range;
use cardfit::scenario::{Job, Scenario};
use leptos::prelude::*;

/// The offer by the scenario's budget, deadline and slowest tokens; the very same one where they change nothing.
pub fn marked(offer: &Arc<Offer>, scenario: &Scenario) -> Arc<Offer> {
    if offer.fit != Fit::Fits {
        return Arc::clone(offer);
    }
    let mut misses = offer.misses.clone();
    let mut may_miss = offer.may_miss.clone();
    let mut limit = |value: Option<Range>, most: Option<f64>, miss: Miss| {
        misses.retain(|m| *m != miss);
        may_miss.retain(|m| *m != miss);
        if let (Some(value), Some(most)) = (value, most) {
            if value.mid > most {
                misses.push(miss);
            } else if value.high > most {
                may_miss.push(miss);
            }
        }
    };
    let money = &scenario.money;
    let spent = offer.cost_of_job.or(offer.cost_per_month);
    limit(spent, money.budget, Miss::Budget);
    limit(offer.hours, money.deadline_hours, Miss::Deadline);
    if money.deadline_hours.is_some() {
        limit(None, None, Miss::TooLong);
    }
    if let (Job::Serve(job), Some(Run::Serve { speed, .. })) = (&scenario.job, &offer.run)
        && let Some(slowest) = job.tpot_target_s
    {
        limit(Some(speed.tpot_s), Some(slowest), Miss::Tpot);
    }
    if same(&misses, &offer.misses) && same(&may_miss, &offer.may_miss) {
        return Arc::clone(offer);
    }
    let mut offer = offer.as_ref().clone();
    offer.misses = misses;
    offer.may_miss = may_miss;
    Arc::new(offer)
}

/// An offer, told anew when a figure of it changes: not for a limit that moves over it, which changes what it misses and
/// nothing else.
pub fn figures(
    offer: impl Fn() -> Option<Arc<Offer>> + Send + Sync + 'static,
) -> Memo<Option<Arc<Offer>>> {
    Memo::new_with_compare(
        move |_| offer(),
        |before: Option<&Option<Arc<Offer>>>, now: Option<&Option<Arc<Offer>>>| match (
            before.and_then(Option::as_ref),
            now.and_then(Option::as_ref),
        ) {
            (Some(before), Some(now)) => !differ_in_limits_alone(before, now),
            (before, now) => before.is_some() != now.is_some(),
        },
    )
}

/// Whether two offers are the same but for the limits that they miss.
fn differ_in_limits_alone(before: &Arc<Offer>, now: &Arc<Offer>) -> bool {
    if Arc::ptr_eq(before, now) {
        return true;
    }
    if (&before.card, before.count) != (&now.card, now.count) {
        return false;
    }
    let mut before = before.as_ref().clone();
    before.misses.clone_from(&now.misses);
    before.may_miss.clone_from(&now.may_miss);
    before == **now
}

/// Whether two lists hold the same limits, in whatever order.
fn same(a: &[Miss], b: &[Miss]) -> bool {
    a.len() == b.len() && a.iter().all(|miss| b.contains(miss))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;
    use cardfit::catalog::{Catalog, PriceBook};
    use cardfit::offers::rank;
    use cardfit::scenario::parse;

    fn answered(link: &str) -> (Scenario, Answer) {
        let catalog = Catalog::embedded();
        let scenario = parse(link, catalog).scenario;
        let ranking = rank(&scenario, catalog, PriceBook::embedded());
        let answer = Answer::new(&ranking, &scenario);
        (scenario, answer)
    }

    /// A budget changes no plan, so what is shown while it is dragged is what is shown afterwards.
    #[test]
    fn a_budget_is_shown_as_it_will_be() {
        for job in ["m=qwen2.5-7b&do=qlora", "m=sdxl&do=image"] {
            let (_, before) = answered(job);
            let (scenario, after) = answered(&format!("{job}&budget=9"));
            let shown = Answer::under_limits(&Arc::new(before), &scenario);
            let names = |answer: &Answer| -> Vec<(String, usize)> {
                let rows = answer.rows.iter();
                rows.map(|row| (row.best.card.clone(), row.best.misses.len()))
                    .collect()
            };
            assert_eq!(names(&shown).len(), names(&after).len(), "{job}");
            assert_eq!(names(&shown).first(), names(&after).first(), "{job}");
        }
    }

    #[test]
    fn a_deadline_that_is_kept_is_none_that_is_missed() {
        let (_, before) = answered("m=qwen2.5-7b&do=lora");
        let (scenario, _) = answered("m=qwen2.5-7b&do=lora&deadline=4");
        let shown = Answer::under_limits(&Arc::new(before), &scenario);
        for row in &shown.rows {
            for offer in row.counts.iter().filter(|o| o.fit == Fit::Fits) {
                let late = offer.hours.is_some_and(|h| h.mid > 4.0);
                assert_eq!(offer.misses.contains(&Miss::Deadline), late);
            }
        }
    }

    #[test]
    fn a_limit_that_is_missed_leaves_the_other_figures() {
        let (_, before) = answered("m=qwen2.5-7b&do=lora");
        let (scenario, _) = answered("m=qwen2.5-7b&do=lora&budget=1");
        let first = before.first().unwrap();
        let over = marked(first, &scenario);
        assert_eq!(over.misses, [Miss::Budget]);
        assert!(differ_in_limits_alone(first, &over));
        let another = &before.rows[1].best;
        assert!(!differ_in_limits_alone(first, another));
        let mut dearer = first.as_ref().clone();
        dearer.cost_of_job = dearer.cost_of_job.map(|cost| cost.scale(2.0));
        assert!(!differ_in_limits_alone(first, &Arc::new(dearer)));
    }

    #[test]
    fn what_a_limit_does_not_touch_is_shared() {
        let (_, before) = answered("m=qwen2.5-7b&do=lora");
        let (scenario, _) = answered("m=qwen2.5-7b&do=lora&budget=20");
        let before = Arc::new(before);
        let shown = Answer::under_limits(&before, &scenario);
        assert!(!Arc::ptr_eq(&shown, &before));
        let kept = shown.rows.iter().filter(|row| {
            before
                .row(&row.best.card)
                .is_some_and(|other| Arc::ptr_eq(row, other))
        });
        let kept = kept.count();
        assert!(kept > 0 && kept < before.rows.len(), "{kept}");
        // Nothing costs so much, so nothing is looked at again.
        let (scenario, _) = answered("m=qwen2.5-7b&do=lora&budget=100000000");
        let shown = Answer::under_limits(&before, &scenario);
        assert!(Arc::ptr_eq(&shown, &before));
    }
}
