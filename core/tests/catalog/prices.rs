//! Prices: every row is dated, sourced, of a known card, and converted rightly.

use std::collections::BTreeSet;

use cardfit::catalog::{Billing, Catalog, Currency, PriceBook, PriceOffer};

fn offers() -> &'static [PriceOffer] {
    &PriceBook::embedded().offers
}

fn find(card: &str, provider: &str, billing: Billing, as_of: &str) -> Vec<&'static PriceOffer> {
    offers()
        .iter()
        .filter(|o| {
            o.card == card
                && o.provider == provider
                && o.billing == billing
                && o.as_of.starts_with(as_of)
        })
        .collect()
}

#[test]
fn every_price_is_of_a_card_of_the_catalog() {
    let ids: BTreeSet<_> = Catalog::embedded().cards.iter().map(|c| &c.id).collect();
    for o in offers() {
        assert!(ids.contains(&o.card), "{}", o.card);
    }
    let priced: BTreeSet<_> = offers().iter().map(|o| &o.card).collect();
    assert!(priced.len() >= 65, "{} cards have a price", priced.len());
}

/// `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, a day that exists.
fn is_date(text: &str) -> bool {
    let parts: Vec<Option<u32>> = text.split('-').map(|p| p.parse().ok()).collect();
    let widths: Vec<usize> = text.split('-').map(str::len).collect();
    let days = |year: u32, month: u32| match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) => 29,
        2 => 28,
        _ => 31,
    };
    match (parts.as_slice(), widths.as_slice()) {
        ([Some(y)], [4]) => (2024..=2030).contains(y),
        ([Some(y), Some(m)], [4, 2]) => (2024..=2030).contains(y) && (1..=12).contains(m),
        ([Some(y), Some(m), Some(d)], [4, 2, 2]) => {
            (2024..=2030).contains(y) && (1..=12).contains(m) && (1..=days(*y, *m)).contains(d)
        }
        _ => false,
    }
}

#[test]
fn every_price_has_a_date_and_a_source() {
    for o in offers() {
        assert!(is_date(&o.as_of), "{} {}: {}", o.card, o.provider, o.as_of);
        assert!(o.source.len() > 8, "{} {}", o.card, o.provider);
        assert!(!o.provider.is_empty());
    }
    for wrong in [
        "2026-13",
        "2026-02-30",
        "26-01-01",
        "undated",
        "2026-Q3",
        "",
    ] {
        assert!(!is_date(wrong), "{wrong}");
    }
}

#[test]
fn prices_are_of_one_card_for_one_unit() {
    for o in offers() {
        assert!(o.price_per_card > 0.0 && o.price_per_card.is_finite());
        assert!([1, 2, 4, 8].contains(&o.cards_together), "{}", o.card);
        let hours = match o.billing {
            Billing::Monthly => 720.0,
            Billing::Daily => 24.0,
            _ => 1.0,
        };
        let usd_per_hour = o.price_per_card / hours
            * match o.currency {
                Currency::Usd => 1.0,
                Currency::Eur => 1.1,
                Currency::Cny => 0.14,
            };
        assert!(
            (0.02..=20.0).contains(&usd_per_hour),
            "{} at {}: {usd_per_hour} USD an hour",
            o.card,
            o.provider
        );
    }
}

/// A cheap row that nobody should count on says why.
#[test]
fn doubtful_rows_say_why_and_are_few() {
    let doubtful: Vec<_> = offers().iter().filter(|o| o.low_confidence).collect();
    assert!(doubtful.len() < offers().len() / 8, "{}", doubtful.len());
    for o in doubtful {
        assert!(o.notes.is_some(), "{} {}", o.card, o.provider);
    }
    for o in offers().iter().filter(|o| !o.low_confidence) {
        let notes = o.notes.as_deref().unwrap_or("");
        for word in ["second-hand", "hard-coded", "stale", "students"] {
            assert!(!notes.contains(word), "{} {}: {notes}", o.card, o.provider);
        }
    }
}

#[test]
fn a_form_that_is_not_stated_is_taken_as_the_slower_one() {
    for o in offers().iter().filter(|o| !o.variant_stated) {
        assert!(
            !["h100-sxm-80gb", "a100-sxm4-40gb", "v100-sxm2-16gb"].contains(&o.card.as_str()),
            "{} {}",
            o.card,
            o.provider
        );
    }
}

#[test]
fn licensed_collections_are_credited() {
    for credit in PriceBook::credits() {
        let rows: Vec<_> = offers()
            .iter()
            .filter(|o| o.source.starts_with(credit.name))
            .collect();
        assert!(rows.len() > 200, "{}: {}", credit.name, rows.len());
        for o in rows {
            assert!(o.source.contains(credit.licence), "{}", o.source);
        }
    }
}

#[test]
fn the_articles_monthly_prices_are_there_and_not_trusted() {
    let articles: Vec<_> = offers()
        .iter()
        .filter(|o| o.provider == "article")
        .collect();
    for (card, yuan) in [
        ("rtx-4090", 2500.0),
        ("rtx-6000-ada", 4500.0),
        ("a100-sxm4-80gb", 24_000.0),
        ("l40", 12_500.0),
        ("h100-sxm-80gb", 40_000.0),
        ("mi300x", 32_500.0),
    ] {
        let row = articles
            .iter()
            .find(|o| o.card == card && o.variant_stated)
            .unwrap_or_else(|| panic!("{card}"));
        assert!((row.price_per_card - yuan).abs() < 0.5, "{card}");
    }
    for row in articles {
        assert!(row.low_confidence && row.billing == Billing::Monthly);
        assert_eq!(row.currency, Currency::Cny);
    }
}

#[test]
fn quoted_units_are_converted_rightly() {
    let near = |a: f64, b: f64| (a - b).abs() < 5e-4 * b;
    // 9.554 dollars an hour for two cards.
    let azure = find("a100-pcie-80gb", "Azure", Billing::OnDemand, "2026-11-09");
    let pair = azure.iter().find(|o| o.cards_together == 2).expect("pair");
    assert!(near(pair.price_per_card, 9.554 / 2.0));
    // 75,000 to 80,000 yuan a month for a node of eight, a year long: the middle, by the hour.
    let smm = offers()
        .iter()
        .find(|o| o.card == "h100-sxm-80gb" && o.provider.starts_with("SMM"))
        .expect("SMM");
    assert_eq!((smm.billing, smm.cards_together), (Billing::Reserved1y, 8));
    assert!(near(smm.price_per_card, 77_500.0 / 8.0 / 720.0));
    // 2,500 yuan buy 270 units; an 80 GB card burns 2.56 of them an hour.
    let aladdin: Vec<_> = offers()
        .iter()
        .filter(|o| o.provider.contains("AladdinEdu") && !o.low_confidence)
        .collect();
    assert!(
        aladdin
            .iter()
            .any(|o| near(o.price_per_card, 2500.0 / 270.0 * 2.56))
    );
    // A day, a month and an hour of one card at one provider.
    for (billing, price) in [
        (Billing::Daily, 72.6),
        (Billing::Monthly, 1980.0),
        (Billing::OnDemand, 3.3),
    ] {
        let rows = find("rtx-4090-48gb", "优云智算 Compshare", billing, "2026-09-10");
        assert!(
            rows.iter().any(|o| near(o.price_per_card, price)),
            "{price}"
        );
    }
}
