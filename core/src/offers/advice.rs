//! What follows from an offer beside its cost: whether to buy instead, and what to ask the platform.

use super::{Offer, Run, job};
use crate::catalog::{Billing, Catalog};
use crate::rental::{Check, HOURS_PER_MONTH, Need, Ownership, RentOrBuy, checklist};
use crate::scenario::{Job, Scenario, TrainingMethod};

/// Days of a billed month.
const DAYS_PER_MONTH: f64 = 30.0;
/// Bytes of one token on disk: data sets keep them as 32-bit numbers.
const BYTES_PER_TOKEN: f64 = 4.0;
/// Bytes of a parameter in a checkpoint that training can go on from: 16-bit weights, 32-bit master weights and two
/// moments.
const CHECKPOINT_BYTES_PER_PARAMETER: f64 = 14.0;

/// Hours a month that the scenario uses its cards: of a service those it is up, of a job its own, a month at most.
fn hours_per_month(offer: &Offer, scenario: &Scenario) -> f64 {
    let up = match &scenario.job {
        Job::Serve(serving) if serving.requests_total.is_none() => {
            Some(serving.hours_per_day.clamp(0.0, 24.0) * DAYS_PER_MONTH)
        }
        _ => None,
    };
    up.or_else(|| offer.hours.map(|hours| hours.mid))
        .unwrap_or(HOURS_PER_MONTH)
        .min(HOURS_PER_MONTH)
}

/// Buying the cards of an offer against renting them; `None` where the scenario gives no purchase price or the offer
/// has none to compare with. A card whose power no source gives is taken to draw none.
pub fn rent_or_buy(offer: &Offer, scenario: &Scenario, catalog: &Catalog) -> Option<RentOrBuy> {
    let price = offer.price.as_ref()?;
    let purchase = &scenario.money.purchase;
    let watts = catalog.card(&offer.card)?.power_w.unwrap_or(0.0);
    let own = Ownership::of(purchase, offer.count, watts)?;
    let charged = f64::from(price.charged_cards);
    let in_mode = |billing: Billing| {
        let mode = price.modes.iter().find(|mode| mode.billing == billing);
        mode.map(|mode| mode.price_per_unit * charged)
    };
    Some(RentOrBuy {
        own,
        rent_per_hour: in_mode(Billing::OnDemand)
            .unwrap_or(price.converted_per_card_hour * charged),
        rent_per_month: in_mode(Billing::Monthly),
        hours_per_month: purchase
            .hours_per_month
            .unwrap_or_else(|| hours_per_month(offer, scenario)),
    })
}

/// What to ask a platform before renting an offer, with the offer's own numbers.
pub fn checks(offer: &Offer, scenario: &Scenario, catalog: &Catalog) -> Vec<Check> {
    let model = job::model(&scenario.model, catalog);
    let model_bytes = model
        .as_ref()
        .map_or(0.0, |model| job::model_bytes(scenario, model));
    let params = model
        .as_ref()
        .map_or(0.0, |model| model.params_total as f64);
    let (mut tensor_ways, mut share, mut data_bytes_per_s) = (1, 0.0, 0.0);
    if let Some(Run::Train { plan, speed }) = &offer.run {
        tensor_ways = plan.tensor_parallel;
        share = share_of_communication(&speed.parts);
        data_bytes_per_s = speed.tokens_per_s.high * BYTES_PER_TOKEN;
    }
    if let Some(Run::Serve { plan, speed, .. }) = &offer.run {
        tensor_ways = plan.tensor_parallel;
        share = share_of_communication(&speed.decode_parts);
    }
    let checkpoint_bytes = match &scenario.job {
        Job::Train(training)
            if matches!(
                training.method,
                TrainingMethod::Pretrain | TrainingMethod::FullFinetune
            ) =>
        {
            params * CHECKPOINT_BYTES_PER_PARAMETER
        }
        _ => 0.0,
    };
    let cost = offer.cost_of_job.or(offer.cost_per_month);
    checklist(&Need {
        needed_bytes: offer.memory.needed_bytes.high,
        usable_bytes: offer.usable_memory_bytes as f64,
        cards: offer.count,
        machines: offer.nodes,
        linked: catalog
            .card(&offer.card)
            .is_some_and(|card| !card.link.is_bus() || card.link.pair_bridge_gb_s.is_some()),
        tensor_ways,
        communication_share: share,
        model_bytes,
        data_bytes_per_s,
        checkpoint_bytes,
        hours: offer
            .hours
            .map_or_else(|| hours_per_month(offer, scenario), |hours| hours.mid),
        cost_per_hour: offer.cost_per_hour.map_or(0.0, |cost| cost.mid),
        cost: cost.map_or(0.0, |cost| cost.mid),
        upload_gb: scenario.money.extras.upload_gb,
    })
}

fn share_of_communication(parts: &crate::estimate::TimeParts) -> f64 {
    let whole = parts.compute_s
        + parts.memory_s
        + parts.communication_s
        + parts.bubble_s
        + parts.overhead_s;
    if whole > 0.0 {
        parts.communication_s / whole
    } else {
        0.0
    }
}
