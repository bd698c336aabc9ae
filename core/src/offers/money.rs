//! Costs of an offer, in the scenario's currency.

use super::{Assumption, Offer, PriceUsed};
use crate::catalog::{Billing, Currency};
use crate::range::Range;
use crate::rental::{Billed, CardPrices, Exchange, ModeCost, Quote, Quotes, Use};
use crate::scenario::Scenario;

/// `amount / range`, or `None` where that is no number.
pub(super) fn over(amount: f64, range: Range) -> Option<Range> {
    finite(range.divide_into(amount))
}

/// The range itself, or `None` where an end is no number.
pub(super) fn finite(range: Range) -> Option<Range> {
    let ends = [range.low, range.mid, range.high];
    ends.iter().all(|end| end.is_finite()).then_some(range)
}

/// What an offer costs, and the time that goes with it.
#[derive(Debug, Clone, Default)]
pub(super) struct Paid {
    /// Hours of the job from start to end.
    pub hours: Option<Range>,
    pub price: Option<PriceUsed>,
    pub per_hour: Option<Range>,
    pub of_job: Option<Range>,
    pub per_month: Option<Range>,
    pub bill: Option<Billed>,
    pub assumptions: Vec<Assumption>,
}

/// A job of `work` hours on `count` cards; `None`: it does not fit. Its month is one of
/// `hours_per_day` with the same cards.
pub(super) fn for_job(
    prices: &CardPrices<'_>,
    count: u32,
    work: Option<Range>,
    hours_per_day: f64,
) -> Paid {
    let need = Use::Job {
        hours: work.map_or(1.0, |h| h.mid),
    };
    let quotes = prices.quotes(count, need);
    let Some(quote) = quotes.cheapest() else {
        return Paid {
            hours: work,
            ..Paid::default()
        };
    };
    Paid {
        hours: work.and_then(|work| finite(quote.elapsed(work))),
        of_job: work.and_then(|work| finite(quote.cost_of_job(work))),
        bill: work.and_then(finite).map(|work| quote.bill_of_job(work)),
        ..paid(prices, &quotes, &quote, need, hours_per_day)
    }
}

/// A month of a service on `count` cards.
pub(super) fn for_month(prices: &CardPrices<'_>, count: u32, hours_per_day: f64) -> Paid {
    let need = Use::Month { hours_per_day };
    let quotes = prices.quotes(count, need);
    let Some(quote) = quotes.cheapest() else {
        return Paid::default();
    };
    Paid {
        bill: Some(quote.bill_of_month(hours_per_day)),
        ..paid(prices, &quotes, &quote, need, hours_per_day)
    }
}

fn paid(
    prices: &CardPrices<'_>,
    quotes: &Quotes<'_>,
    quote: &Quote<'_>,
    need: Use,
    hours_per_day: f64,
) -> Paid {
    let modes = quotes.modes();
    let assumptions = assumptions(prices, quote, need, &modes);
    Paid {
        hours: None,
        per_hour: Some(Range::exact(quote.cost_per_hour())),
        of_job: None,
        per_month: Some(Range::exact(quote.cost(Use::Month { hours_per_day }))),
        bill: None,
        assumptions,
        price: Some(price_used(quote, need, modes)),
    }
}

fn assumptions(
    prices: &CardPrices<'_>,
    quote: &Quote<'_>,
    need: Use,
    modes: &[ModeCost],
) -> Vec<Assumption> {
    let mut assumptions = Vec::new();
    let machine = prices.job().cards_per_machine;
    if let Some(offer) = quote.offer
        && quote.charged_cards > machine
        && offer.cards_together < machine
    {
        assumptions.push(Assumption::ClusterOfSingles(offer.cards_together));
    }
    if let Some(how) = quote.interruptions() {
        let rate = quote.interruptions_per_machine_hour();
        assumptions.push(Assumption::InterruptionsPerHour(rate));
        let interval = how.interval();
        // A service has nothing to save.
        let saves = !matches!(need, Use::Month { .. });
        if saves && interval.is_finite() && interval > 0.0 && rate > 0.0 {
            assumptions.push(Assumption::CheckpointEvery(interval));
        }
    }
    let cost = |wanted| modes.iter().find(|m| m.billing == wanted).map(|m| m.cost);
    if let (Some(spot), Some(stays)) = (cost(Billing::Spot), cost(Billing::OnDemand))
        && stays > 0.0
        && spot >= stays
    {
        assumptions.push(Assumption::SpotNotWorthIt(spot / stays));
    }
    assumptions
}

/// The quote as an offer shows it.
fn price_used(quote: &Quote<'_>, need: Use, modes: Vec<ModeCost>) -> PriceUsed {
    let offer = quote.offer;
    PriceUsed {
        provider: offer.map(|o| o.provider.clone()),
        billing: quote.billing,
        price_per_card_hour: quote.price_per_card_hour,
        currency: quote.currency,
        as_of: offer.map(|o| o.as_of.clone()),
        source: offer.map(|o| o.source.clone()),
        converted_per_card_hour: quote.converted_per_card_hour,
        charged_cards: quote.charged_cards,
        billed_hours: quote.billed_hours(need),
        seen: Some(quote.seen),
        providers: quote.providers,
        region: offer.and_then(|o| o.region.clone()),
        notes: offer.and_then(|o| o.notes.clone()),
        variant_stated: offer.is_none_or(|o| o.variant_stated),
        spare_cards: quote.spare_cards(need),
        modes,
    }
}

/// The rates that any offer's price went through.
pub(super) fn conversions(scenario: &Scenario, offers: &[Offer]) -> Vec<Assumption> {
    let exchange = Exchange::of(&scenario.money);
    let answer = scenario.money.currency;
    let met = |currency: Currency| {
        let prices = || offers.iter().filter_map(|o| o.price.as_ref());
        let mut foreign = prices().filter(|p| p.currency != answer);
        if answer == currency {
            foreign.next().is_some()
        } else {
            foreign.any(|p| p.currency == currency)
        }
    };
    let mut rates = Vec::new();
    if met(Currency::Cny) {
        rates.push(Assumption::CnyPerUsd(exchange.cny_per_usd()));
    }
    if met(Currency::Eur) {
        rates.push(Assumption::UsdPerEur(exchange.usd_per_eur()));
    }
    rates
}
