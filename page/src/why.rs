//! Why an offer is as it is, in a sentence: what its time waits for, and what sets it apart from the first.

use cardfit::estimate::TimeParts;
use cardfit::offers::{Offer, Run};
use cardfit::text::{Lang, text};

use crate::answer::{AnswerKind, cost};
use crate::format;

/// Where an offer's time goes.
fn parts(offer: &Offer) -> Option<TimeParts> {
    match offer.run.as_ref()? {
        Run::Train { speed, .. } => Some(speed.parts),
        Run::Serve { speed, .. } => Some(speed.decode_parts),
        Run::Work { speed, .. } => Some(speed.parts),
    }
}

/// What an offer's speed hangs on: the largest part of its time.
pub fn decides(lang: Lang, offer: &Offer) -> Option<String> {
    let p = parts(offer)?;
    let all = [
        ("why.compute", p.compute_s),
        ("why.memory", p.memory_s),
        ("why.communication", p.communication_s),
        ("why.bubble", p.bubble_s),
        ("why.overhead", p.overhead_s),
    ];
    let whole: f64 = all.iter().map(|(_, seconds)| seconds).sum();
    let (key, largest) = all
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, seconds)| *seconds > 0.0)?;
    let share = format::percent(largest / whole);
    Some(text(lang, key, &[("share", &share)]))
}

/// What sets an offer apart from the first of the ranking: how much dearer or slower, and by what.
pub fn against(lang: Lang, offer: &Offer, first: &Offer, kind: AnswerKind) -> Option<String> {
    let times = |ratio: f64| format!("{ratio:.1}");
    let by_cost = cost(offer, kind)?.mid / cost(first, kind)?.mid;
    let hourly = offer.cost_per_hour?.mid / first.cost_per_hour?.mid;
    if !(by_cost.is_finite() && hourly.is_finite()) {
        return None;
    }
    let Some((own, best)) = offer.hours.zip(first.hours) else {
        return (by_cost > 1.05).then(|| text(lang, "why.dearer", &[("cost", &times(by_cost))]));
    };
    let slower = own.mid / best.mid;
    let key = match (by_cost > 1.05, slower > 1.05, hourly > 1.05) {
        (true, true, true) => "why.dearer_slower_and_price",
        (true, true, false) => "why.dearer_slower",
        (true, false, true) => "why.dearer_price",
        (false, true, _) => "why.slower",
        _ => return None,
    };
    Some(text(
        lang,
        key,
        &[
            ("cost", &times(by_cost)),
            ("slower", &times(slower)),
            ("hourly", &times(hourly)),
        ],
    ))
}
