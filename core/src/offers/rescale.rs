//! Offers of a card that was measured: its speed as it was, everything that follows from it anew.

use super::{Miss, Offer, Ranking, Run, order};
use crate::estimate::TimeParts;
use crate::range::Range;
use crate::scenario::Scenario;

/// Half the width that a range keeps, in log space, once the card itself was measured on the job.
const KEPT_WIDTH: f64 = 0.5;

/// `range` times `factor`, its ends drawn in: what differs from run to run is left, what was unknown of the card is not.
fn rescaled(range: Range, factor: f64) -> Range {
    let mid = range.mid * factor;
    let narrow = |end: f64| {
        let ratio = end / range.mid;
        if ratio.is_finite() && ratio > 0.0 {
            mid * ratio.powf(KEPT_WIDTH)
        } else {
            end * factor
        }
    };
    Range {
        low: narrow(range.low),
        mid,
        high: narrow(range.high),
    }
}

/// The ranking with every offer of `card` at `factor` times its estimated speed, ranked again. Hours, cost of a job and
/// cost of tokens follow; memory does not.
pub fn with_measured_speed(
    ranking: &Ranking,
    scenario: &Scenario,
    card: &str,
    factor: f64,
) -> Ranking {
    let mut ranking = ranking.clone();
    if !(factor.is_finite() && factor > 0.0) {
        return ranking;
    }
    for offer in ranking.offers.iter_mut().filter(|o| o.card == card) {
        speed_up(offer, factor);
        mark_limits(offer, scenario);
    }
    order::sort(&mut ranking.offers, scenario);
    ranking
}

fn speed_up(offer: &mut Offer, factor: f64) {
    let faster = |range: &mut Range| *range = rescaled(*range, factor);
    let shorter = |range: &mut Range| *range = rescaled(*range, 1.0 / factor);
    let parts = |parts: &mut TimeParts| {
        for part in [
            &mut parts.compute_s,
            &mut parts.memory_s,
            &mut parts.communication_s,
            &mut parts.bubble_s,
            &mut parts.overhead_s,
        ] {
            *part /= factor;
        }
    };
    match &mut offer.run {
        Some(Run::Train { speed, .. }) => {
            faster(&mut speed.tokens_per_s);
            shorter(&mut speed.step_s);
            speed.mfu *= factor;
            parts(&mut speed.parts);
        }
        Some(Run::Serve { speed, .. }) => {
            for range in [
                &mut speed.tokens_per_s_user,
                &mut speed.tokens_per_s_total,
                &mut speed.requests_per_s,
            ] {
                faster(range);
            }
            shorter(&mut speed.tpot_s);
            parts(&mut speed.decode_parts);
        }
        _ => return,
    }
    for range in [
        &mut offer.hours,
        &mut offer.cost_of_job,
        &mut offer.cost_per_million_tokens,
        &mut offer.cost_per_million_output_tokens,
    ]
    .into_iter()
    .flatten()
    {
        shorter(range);
    }
}

/// Budget and deadline anew; the other limits hang on what a measured speed does not say.
fn mark_limits(offer: &mut Offer, scenario: &Scenario) {
    for (value, most, miss) in [
        (offer.cost_of_job, scenario.money.budget, Miss::Budget),
        (offer.hours, scenario.money.deadline_hours, Miss::Deadline),
    ] {
        let (Some(value), Some(most)) = (value, most) else {
            continue;
        };
        offer.misses.retain(|m| *m != miss);
        offer.may_miss.retain(|m| *m != miss);
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
    use crate::catalog::{Catalog, PriceBook};
    use crate::offers::{Fit, rank};
    use crate::scenario::parse;

    #[test]
    fn a_card_measured_twice_as_fast_takes_half_the_time_and_may_lead() {
        let catalog = Catalog::embedded();
        let scenario = parse("m=qwen2.5-7b&do=lora&sort=fastest&max=1", catalog).scenario;
        let before = rank(&scenario, catalog, PriceBook::embedded());
        let sound = |o: &&Offer| o.fit == Fit::Fits && o.hours.is_some() && o.misses.is_empty();
        let slow = before.offers.iter().rfind(sound).unwrap();
        let after = with_measured_speed(&before, &scenario, &slow.card, 1e6);
        let first = after.offers.first().unwrap();
        assert_eq!(first.card, slow.card);
        let (own, was) = (first.hours.unwrap(), slow.hours.unwrap());
        assert!((own.mid / was.mid * 1e6 - 1.0).abs() < 1e-9);
        assert!(own.high / own.mid < was.high / was.mid);
        let others = |ranking: &Ranking| {
            let mut rest: Vec<Offer> = ranking.offers.clone();
            rest.retain(|o| o.card != slow.card);
            rest
        };
        // What follows the order (the best of a card) is the same; nothing else of other cards changes.
        assert_eq!(others(&after).len(), others(&before).len());
    }

    #[test]
    fn no_factor_changes_nothing() {
        let catalog = Catalog::embedded();
        let scenario = parse("m=qwen2.5-7b&do=lora&max=1", catalog).scenario;
        let before = rank(&scenario, catalog, PriceBook::embedded());
        for factor in [0.0, f64::NAN, -1.0] {
            assert_eq!(
                with_measured_speed(&before, &scenario, "rtx-4090", factor),
                before
            );
        }
    }
}
