//! Prices beside what has been seen.

use std::collections::HashMap;

use super::claims::{Period, PriceTerms};
use super::judge::{Judge, agrees};
use super::tokens::Figure;
use crate::catalog::{Billing, Currency, PriceBook, PriceOffer};
use crate::check::facts::facts;
use crate::check::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};
use crate::rental::{Exchange, HOURS_PER_MONTH, Rates, unit_hours};

/// Beyond this factor a price is not dear or cheap but another thing.
pub const FAR_OUTSIDE: f64 = 2.0;

/// With fewer prices than this a market's ends are not known,
const ENOUGH_OFFERS: f64 = 3.0;
/// and a price counts as seen within this factor of them.
const FEW_OFFERS_SLACK: f64 = 1.5;

/// Judges one price.
pub(super) fn judge(
    judge: &Judge<'_>,
    figure: Figure,
    terms: PriceTerms,
    currency_of_text: Option<Currency>,
) -> Finding {
    let exchange = Exchange::with_cny_per_usd(Rates::embedded().cny_per_usd);
    let currency = terms.currency.or(currency_of_text).unwrap_or(Currency::Cny);
    let cny = |amount: f64| exchange.convert(amount, currency, Currency::Cny);
    let cards = &judge.identity.cards;
    let Some(period) = terms.period.filter(|_| !terms.purchase) else {
        return purchase(judge, figure, cny(1.0));
    };
    let hours = match period {
        Period::Hour => 1.0,
        Period::Day => 24.0,
        Period::Week => 7.0 * 24.0,
        Period::Month => HOURS_PER_MONTH,
        Period::Year => 12.0 * HOURS_PER_MONTH,
    };
    let together = if terms.whole {
        judge.count.filter(|c| *c >= 1.0).unwrap_or(1.0)
    } else {
        1.0
    };
    let per_hour = |amount: f64| cny(amount) / hours / together;
    // "8 × 910B3, 32,000 a month" gives the price of all eight without saying so.
    if !terms.whole
        && let Some(count) = judge.count.filter(|c| *c > 1.0)
        && let Some(seen) = judge.market.seen(cards, terms.spot, &exchange)
        && per_hour(figure.low) > FAR_OUTSIDE * seen.high
        && per_hour(figure.low) / count <= FAR_OUTSIDE * seen.high
        && per_hour(figure.high) / count >= seen.low / FAR_OUTSIDE
    {
        let all = PriceTerms {
            whole: true,
            ..terms
        };
        return self::judge(judge, figure, all, currency_of_text)
            .because(Remark::plain("price_of_all").with("count", Reading::figure(count, Unit::One)))
            .ask("price_terms");
    }
    let (low, high) = (per_hour(figure.low), per_hour(figure.high));
    let mut finding = Finding::new(Subject::RentalPrice, Verdict::CannotTell)
        .about(cards)
        .reads(Reading::Figure {
            low,
            high,
            unit: Unit::CnyPerHour,
        });
    if terms.currency.is_none() && currency_of_text.is_none() {
        finding = finding.because(Remark::plain("currency_assumed"));
    }
    if terms.whole && together <= 1.0 {
        return finding
            .because(Remark::plain("whole_machine_count"))
            .ask("price_terms");
    }
    let Some(seen) = judge.market.seen(cards, terms.spot, &exchange) else {
        return finding.because(Remark::plain("no_price_seen"));
    };
    let range = Reading::Figure {
        low: seen.low,
        high: seen.high,
        unit: Unit::CnyPerHour,
    };
    finding = finding.because(
        Remark::plain("prices_seen")
            .with("range", range)
            .with("offers", Reading::figure(seen.offers, Unit::One))
            .with("until", Reading::word(seen.until)),
    );
    // Few prices do not show where a market ends.
    let slack = if seen.offers < ENOUGH_OFFERS {
        FEW_OFFERS_SLACK
    } else {
        1.0
    };
    let (key, times) = if low > seen.high * slack {
        ("price_above", low / seen.high)
    } else if high < seen.low / slack {
        ("price_below", seen.low / high.max(1e-9))
    } else {
        finding.verdict = Verdict::PriceSeen;
        return finding;
    };
    finding.verdict = Verdict::PriceOutside;
    finding
        .because(Remark::plain(key).with("times", Reading::figure(times, Unit::One)))
        .ask("price_terms")
}

fn purchase(judge: &Judge<'_>, figure: Figure, cny: f64) -> Finding {
    let amount = Figure {
        low: figure.low * cny,
        high: figure.high * cny,
        place: figure.place * cny,
        ..figure
    };
    let mut finding = Finding::new(Subject::PurchasePrice, Verdict::CannotTell)
        .about(&judge.identity.cards)
        .reads(Reading::Figure {
            low: amount.low,
            high: amount.high,
            unit: Unit::Cny,
        });
    for card in &judge.known {
        if let Some(launch) = facts(&card.id).and_then(|f| f.launch_cny) {
            finding = finding.against(&card.id, Reading::figure(launch, Unit::Cny));
            if agrees(amount, launch) {
                finding.verdict = Verdict::Right;
                return finding.because(Remark::plain("launch_price"));
            }
        }
    }
    finding.because(Remark::plain("purchase_price"))
}

struct Seen<'a> {
    low: f64,
    high: f64,
    offers: f64,
    until: &'a str,
}

/// Prices by card.
pub struct Market<'a>(HashMap<&'a str, Vec<&'a PriceOffer>>);

impl<'a> Market<'a> {
    /// The market of a price book.
    pub fn of(prices: &'a PriceBook) -> Self {
        let mut by_card: HashMap<&str, Vec<&PriceOffer>> = HashMap::new();
        for offer in prices.offers.iter().filter(|o| !o.low_confidence) {
            by_card.entry(&offer.card).or_default().push(offer);
        }
        Self(by_card)
    }

    fn offers(&self, card: &str) -> &[&'a PriceOffer] {
        self.0.get(card).map_or(&[], Vec::as_slice)
    }

    /// What a card-hour of any of `cards` has been let for, in yuan, over every billing of the same kind.
    fn seen(&self, cards: &[String], spot: bool, exchange: &Exchange) -> Option<Seen<'a>> {
        let mut seen: Option<Seen<'a>> = None;
        for offer in cards.iter().flat_map(|card| self.offers(card)) {
            if (offer.billing == Billing::Spot) != spot {
                continue;
            }
            let price = exchange.convert(offer.price_per_card, offer.currency, Currency::Cny)
                / unit_hours(offer.billing);
            let entry = seen.get_or_insert(Seen {
                low: price,
                high: price,
                offers: 0.0,
                until: "",
            });
            entry.low = entry.low.min(price);
            entry.high = entry.high.max(price);
            entry.offers += 1.0;
            entry.until = entry.until.max(&offer.as_of);
        }
        seen
    }
}

/// Marks prices of one card that cannot both hold: a text that asks twice as much in one place as in another.
pub(super) fn contradictions(findings: &mut [Finding]) {
    let prices: Vec<(usize, f64, f64)> = findings
        .iter()
        .enumerate()
        .filter(|(_, f)| f.subject == Subject::RentalPrice)
        .filter_map(|(index, f)| match f.read.first() {
            Some(Reading::Figure { low, high, .. }) => Some((index, *low, *high)),
            _ => None,
        })
        .take(32)
        .collect();
    for (index, low, high) in &prices {
        let far = prices
            .iter()
            .any(|(_, l, h)| *l > FAR_OUTSIDE * high || *low > FAR_OUTSIDE * h);
        if far && let Some(finding) = findings.get_mut(*index) {
            finding.remarks.push(Remark::plain("prices_contradict"));
        }
    }
}
