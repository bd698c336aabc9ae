//! Costs of an offer, in the scenario's currency.

use super::{Assumption, Offer, PriceUsed};
use crate::catalog::Currency;
use crate::range::Range;
use crate::rental::{Exchange, Quote, Use, billed_hours};
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

/// The quote as an offer shows it.
pub(super) fn price_used(quote: &Quote<'_>, need: Use) -> PriceUsed {
    PriceUsed {
        provider: quote.offer.map(|o| o.provider.clone()),
        billing: quote.billing,
        price_per_card_hour: quote.price_per_card_hour,
        currency: quote.currency,
        as_of: quote.offer.map(|o| o.as_of.clone()),
        source: quote.offer.map(|o| o.source.clone()),
        converted_per_card_hour: quote.converted_per_card_hour,
        charged_cards: quote.charged_cards,
        billed_hours: billed_hours(quote.billing, need),
        seen: Some(quote.seen),
        providers: quote.providers,
    }
}

/// Cost of a job of `hours` in the quote's billing at each end of the time.
pub(super) fn cost_of_job(quote: &Quote<'_>, hours: Range) -> Option<Range> {
    let cost = |hours| quote.cost(Use::Job { hours });
    finite(Range {
        low: cost(hours.low),
        mid: cost(hours.mid),
        high: cost(hours.high),
    })
}

/// The rates that any offer's price went through.
pub(super) fn conversions(scenario: &Scenario, offers: &[Offer]) -> Vec<Assumption> {
    let exchange = Exchange::with_cny_per_usd(scenario.money.cny_per_usd);
    let answer = scenario.money.currency;
    let met = |currency: Currency| {
        let prices = || offers.iter().filter_map(|o| o.price.as_ref());
        let foreign = || prices().filter(|p| p.currency != answer);
        if answer == currency {
            foreign().next().is_some()
        } else {
            foreign().any(|p| p.currency == currency)
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
