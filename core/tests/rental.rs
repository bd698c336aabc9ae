//! Which price a cost rests on, and what it comes to, worked by hand.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cardfit::catalog::{Billing, Catalog, Currency, PriceBook, PriceOffer};
use cardfit::rental::{CardPrices, HOURS_PER_MONTH, Use, billed_hours};
use cardfit::scenario::{Money, PriceMarket};
use proptest::prelude::*;

fn money(currency: Currency) -> Money {
    Money {
        currency,
        cny_per_usd: 7.0,
        ..Money::default()
    }
}

fn offer(provider: &str, billing: Billing, currency: Currency, price: f64) -> PriceOffer {
    PriceOffer {
        card: "rtx-4090".to_owned(),
        provider: provider.to_owned(),
        region: None,
        billing,
        currency,
        price_per_card: price,
        cards_together: 1,
        as_of: "2026-10-01".to_owned(),
        source: "test".into(),
        variant_stated: true,
        low_confidence: false,
        notes: None,
        tenancy: None,
        share: None,
    }
}

fn hourly(provider: &str, usd: f64) -> PriceOffer {
    offer(provider, Billing::OnDemand, Currency::Usd, usd)
}

fn book(offers: Vec<PriceOffer>) -> PriceBook {
    PriceBook { offers }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

const TEN_HOURS: Use = Use::Job { hours: 10.0 };

#[test]
fn the_middle_provider_is_taken_and_the_ends_are_shown() {
    let book = book(vec![hourly("A", 0.3), hourly("B", 0.9), hourly("C", 0.4)]);
    let prices = CardPrices::new("rtx-4090", &money(Currency::Usd), &book);
    let quote = prices.cheapest(2, TEN_HOURS).unwrap();
    assert_eq!(quote.offer.unwrap().provider, "C");
    assert_eq!(quote.providers, 3);
    near(quote.seen.0, 0.3);
    near(quote.seen.1, 0.9);
    near(quote.cost(TEN_HOURS), 0.4 * 10.0 * 2.0);
}

#[test]
fn each_provider_counts_once_with_its_newest_price() {
    let mut old = hourly("A", 0.1);
    old.as_of = "2026-05-01".to_owned();
    let undated = PriceOffer {
        as_of: "2026".to_owned(),
        ..hourly("A", 0.2)
    };
    let book = book(vec![old, undated, hourly("A", 0.5)]);
    let prices = CardPrices::new("rtx-4090", &money(Currency::Usd), &book);
    let quote = prices.cheapest(1, TEN_HOURS).unwrap();
    near(quote.price_per_card_hour, 0.5);
    assert_eq!(quote.providers, 1);
    near(quote.seen.0, 0.5);
}

#[test]
fn stale_prices_give_way_to_three_fresh_ones_and_stay_without_them() {
    let stale = |provider: &str| PriceOffer {
        as_of: "2025-06-27".to_owned(),
        ..hourly(provider, 0.1)
    };
    let fresh = vec![hourly("A", 0.4), hourly("B", 0.5), hourly("C", 0.6)];
    let middle = |offers: Vec<PriceOffer>| {
        let book = book(offers);
        let prices = CardPrices::new("rtx-4090", &money(Currency::Usd), &book);
        prices.cheapest(1, TEN_HOURS).unwrap().price_per_card_hour
    };
    let mut many = fresh.clone();
    many.extend([stale("D"), stale("E"), stale("F")]);
    near(middle(many), 0.5);
    near(middle(vec![hourly("A", 0.4), stale("D"), stale("E")]), 0.1);
}

#[test]
fn doubtful_rows_are_left_out() {
    let doubtful = PriceOffer {
        low_confidence: true,
        ..hourly("A", 0.01)
    };
    let alone = book(vec![doubtful.clone()]);
    assert!(!CardPrices::new("rtx-4090", &money(Currency::Usd), &alone).any());
    let broken = [f64::NAN, f64::INFINITY, -1.0].map(|price| hourly("B", price));
    let broken = book(broken.to_vec());
    assert!(!CardPrices::new("rtx-4090", &money(Currency::Usd), &broken).any());
}

#[test]
fn who_sells_whole_nodes_is_paid_for_whole_nodes() {
    let node = PriceOffer {
        cards_together: 8,
        ..hourly("Node", 2.0)
    };
    let alone = book(vec![node.clone()]);
    let prices = CardPrices::new("rtx-4090", &money(Currency::Usd), &alone);
    for (wanted, charged) in [(1, 8), (8, 8), (9, 16), (16, 16)] {
        let quote = prices.cheapest(wanted, TEN_HOURS).unwrap();
        assert_eq!(quote.charged_cards, charged);
        near(quote.cost(TEN_HOURS), 2.0 * 10.0 * f64::from(charged));
    }
    // While another sells them singly, fewer than a node are taken there.
    let both = book(vec![node, hourly("Single", 3.0)]);
    let prices = CardPrices::new("rtx-4090", &money(Currency::Usd), &both);
    let quote = prices.cheapest(1, TEN_HOURS).unwrap();
    assert_eq!(
        (quote.offer.unwrap().provider.as_str(), quote.charged_cards),
        ("Single", 1)
    );
}

#[test]
fn another_currency_is_another_way_to_say_the_same_offer() {
    let yuan = offer("中", Billing::OnDemand, Currency::Cny, 2.1);
    let book = book(vec![yuan, hourly("A", 0.5), hourly("B", 0.6)]);
    for (market, provider, in_yuan) in [
        (PriceMarket::China, "中", 2.1),
        (PriceMarket::Abroad, "A", 3.5),
        (PriceMarket::Anywhere, "A", 3.5),
    ] {
        for (currency, rate) in [
            (Currency::Cny, 1.0),
            (Currency::Usd, 7.0),
            (Currency::Eur, 7.7),
        ] {
            let money = Money {
                market,
                usd_per_eur: 1.1,
                ..money(currency)
            };
            let prices = CardPrices::new("rtx-4090", &money, &book);
            let quote = prices.cheapest(1, TEN_HOURS).unwrap();
            assert_eq!(quote.offer.unwrap().provider, provider);
            near(quote.converted_per_card_hour, in_yuan / rate);
            near(quote.cost(TEN_HOURS), 10.0 * in_yuan / rate);
        }
    }
}

#[test]
fn a_foreign_price_is_converted_where_there_is_no_other() {
    let book = book(vec![hourly("A", 0.5)]);
    let prices = CardPrices::new("rtx-4090", &money(Currency::Cny), &book);
    let quote = prices.cheapest(1, TEN_HOURS).unwrap();
    near(quote.price_per_card_hour, 0.5);
    near(quote.converted_per_card_hour, 3.5);
}

/// Compshare's 5090 of 10 September 2026: 3.20 yuan an hour, 70.53 a day, 1923.60 a month.
fn compshare() -> PriceBook {
    let row = |billing, price| offer("优云智算", billing, Currency::Cny, price);
    book(vec![
        row(Billing::OnDemand, 3.2),
        row(Billing::Daily, 70.53),
        row(Billing::Monthly, 1923.6),
    ])
}

#[test]
fn the_cheapest_package_for_the_length_of_the_job_is_taken() {
    let book = compshare();
    let prices = CardPrices::new("rtx-4090", &money(Currency::Cny), &book);
    for (hours, billing, cost) in [
        // 22 h x 3.20 = 70.40 is less than a day's 70.53; 23 h x 3.20 = 73.60 is more.
        (22.0, Billing::OnDemand, 70.4),
        (23.0, Billing::Daily, 70.53),
        // 25 h: 80.00 by the hour, 141.06 for two days, 73.73 for a day and an hour.
        (25.0, Billing::Daily, 70.53 + 3.2),
        // 600 h: 1920.00 by the hour, 25 days 1763.25, a month 1923.60.
        (600.0, Billing::Daily, 25.0 * 70.53),
        // 700 h: 2240.00 by the hour, 30 days 2115.90, a month 1923.60.
        (700.0, Billing::Monthly, 1923.6),
        // 721 h: 2307.20 by the hour, 31 days 2186.43, two months 3847.20, a month and an hour 1926.80.
        (721.0, Billing::Monthly, 1923.6 + 3.2),
        // 730 h: a month and ten hours 1955.60; 30 days and ten hours 2147.90.
        (730.0, Billing::Monthly, 1923.6 + 32.0),
    ] {
        let need = Use::Job { hours };
        let quote = prices.cheapest(1, need).unwrap();
        assert_eq!(quote.billing, billing, "{hours} h");
        near(quote.cost(need), cost);
    }
}

#[test]
fn a_service_pays_by_the_hours_it_is_up_or_by_the_month() {
    let book = compshare();
    let prices = CardPrices::new("rtx-4090", &money(Currency::Cny), &book);
    let up = |hours_per_day| Use::Month { hours_per_day };
    let half = prices.cheapest(1, up(12.0)).unwrap();
    assert_eq!(half.billing, Billing::OnDemand);
    near(half.cost(up(12.0)), 360.0 * 3.2);
    let whole = prices.cheapest(1, up(24.0)).unwrap();
    assert_eq!(whole.billing, Billing::Monthly);
    near(whole.cost(up(24.0)), 1923.6);
}

#[test]
fn spot_and_reserved_terms_are_taken_only_when_asked_for() {
    let row = |billing, price| offer("A", billing, Currency::Usd, price);
    let book = book(vec![
        row(Billing::OnDemand, 1.0),
        row(Billing::Spot, 0.4),
        row(Billing::Reserved1y, 0.5),
    ]);
    let usual = CardPrices::new("rtx-4090", &money(Currency::Usd), &book);
    assert_eq!(
        usual.cheapest(1, TEN_HOURS).unwrap().billing,
        Billing::OnDemand
    );
    let asked = |billing| {
        let mut money = Money {
            billing: vec![billing],
            ..money(Currency::Usd)
        };
        money.spot.interruptions_per_hour = Some(0.0);
        CardPrices::new("rtx-4090", &money, &book)
            .cheapest(1, TEN_HOURS)
            .unwrap()
            .cost(TEN_HOURS)
    };
    near(asked(Billing::Spot), 4.0);
    // A year is paid whole: 12 months of 720 hours.
    near(asked(Billing::Reserved1y), 0.5 * 12.0 * 720.0);
}

#[test]
fn the_users_own_price_overrides_the_book() {
    let book = compshare();
    let mut money = money(Currency::Cny);
    money.own_prices = vec![("rtx-4090".to_owned(), 9.0)];
    let prices = CardPrices::new("rtx-4090", &money, &book);
    let quote = prices.cheapest(3, TEN_HOURS).unwrap();
    assert_eq!((quote.offer, quote.billing), (None, Billing::OnDemand));
    near(quote.cost(TEN_HOURS), 9.0 * 3.0 * 10.0);
    near(quote.seen.0, 3.2);
    money.own_prices = vec![("rtx-4090".to_owned(), f64::NAN)];
    let ignored = CardPrices::new("rtx-4090", &money, &book);
    assert!(ignored.cheapest(1, TEN_HOURS).unwrap().offer.is_some());
}

#[test]
fn every_shipped_price_gives_a_finite_cost() {
    let all = [
        Billing::OnDemand,
        Billing::Spot,
        Billing::Daily,
        Billing::Monthly,
        Billing::Reserved1y,
        Billing::Reserved3y,
    ];
    let mut priced = 0;
    for card in Catalog::embedded().cards.iter() {
        for billing in all {
            for currency in [Currency::Cny, Currency::Usd, Currency::Eur] {
                let money = Money {
                    billing: vec![billing],
                    ..money(currency)
                };
                let prices = CardPrices::new(&card.id, &money, PriceBook::embedded());
                let Some(quote) = prices.cheapest(8, TEN_HOURS) else {
                    continue;
                };
                priced += 1;
                let cost = quote.cost(TEN_HOURS);
                assert!(cost.is_finite() && cost >= 0.0, "{}", card.id);
                let (low, high) = quote.seen;
                let price = quote.converted_per_card_hour;
                assert!(low <= price && price <= high, "{}", card.id);
            }
        }
    }
    assert!(priced > 150, "{priced}");
}

fn billings() -> impl Strategy<Value = Billing> {
    prop::sample::select(vec![
        Billing::OnDemand,
        Billing::Spot,
        Billing::Daily,
        Billing::Monthly,
        Billing::Reserved1y,
        Billing::Reserved3y,
    ])
}

proptest! {
    #[test]
    fn a_bill_never_falls_when_price_hours_or_cards_rise(
        billing in billings(), together in 1..9_u32, price in 0.01..100.0_f64, hours in 0.0..5e4_f64,
        count in 1..200_u32, dearer in 1.0..3.0_f64, longer in 1.0..3.0_f64, more in 0..50_u32,
    ) {
        let cost = |price: f64, hours: f64, count: u32| {
            let mut row = offer("A", billing, Currency::Usd, price);
            row.cards_together = together;
            let book = book(vec![row]);
            let money = Money { billing: vec![billing], ..money(Currency::Usd) };
            let need = Use::Job { hours };
            CardPrices::new("rtx-4090", &money, &book).cheapest(count, need).unwrap().cost(need)
        };
        let base = cost(price, hours, count);
        prop_assert!(base.is_finite() && base >= 0.0);
        prop_assert!(cost(price * dearer, hours, count) >= base);
        prop_assert!(cost(price, hours * longer, count) >= base);
        prop_assert!(cost(price, hours, count + more) >= base);
    }

    #[test]
    fn the_chosen_mode_is_never_dearer_than_another(
        hour in 0.1..5.0_f64, day in 1.0..100.0_f64, month in 10.0..3000.0_f64,
        hours in 0.1..5000.0_f64, longer in 1.0..2.0_f64,
    ) {
        let row = |billing, price| offer("A", billing, Currency::Usd, price);
        let book = book(vec![
            row(Billing::OnDemand, hour), row(Billing::Daily, day), row(Billing::Monthly, month),
        ]);
        let need = Use::Job { hours };
        let prices = CardPrices::new("rtx-4090", &money(Currency::Usd), &book);
        let chosen = prices.cheapest(1, need).unwrap().cost(need);
        for (billing, price_per_hour) in [
            (Billing::OnDemand, hour), (Billing::Daily, day / 24.0),
            (Billing::Monthly, month / HOURS_PER_MONTH),
        ] {
            let other = price_per_hour * billed_hours(billing, need);
            prop_assert!(chosen <= other * (1.0 + 1e-12));
        }
        let need = Use::Job { hours: hours * longer };
        prop_assert!(prices.cheapest(1, need).unwrap().cost(need) >= chosen);
    }
}
