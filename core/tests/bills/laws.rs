//! What holds for every bill, whatever is typed.

use proptest::prelude::*;

use super::*;

fn extras() -> impl Strategy<Value = Extras> {
    (
        (1..5u32, 0.0..3.0_f64, 0.0..1000.0_f64, 0.0..100.0_f64),
        (0.0..50.0_f64, 0.0..50.0_f64, 0.0..50.0_f64),
        (0.0..1000.0_f64, 0.0..100.0_f64, 0.0..1.0_f64, 0.0..40.0_f64),
        (0.0..100.0_f64, 0.0..1.0_f64, 0.0..20.0_f64),
    )
        .prop_map(|(time, shares, disk, rest)| Extras {
            starts: f64::from(time.0),
            setup_hours: time.1,
            fetch_mbit_s: time.2,
            upload_gb: time.3,
            evaluation_percent: shares.0,
            failed_percent: shares.1,
            idle_percent: shares.2,
            disk_gb: disk.0,
            disk_free_gb: disk.1,
            disk_price: disk.2,
            stopped_days: disk.3,
            egress_gb: rest.0,
            egress_price: rest.1,
            tax_percent: rest.2,
            ..Extras::default()
        })
}

fn billing() -> impl Strategy<Value = Billing> {
    use Billing as B;
    prop::sample::select(vec![
        B::OnDemand,
        B::Spot,
        B::Daily,
        B::Weekly,
        B::Monthly,
        B::Yearly,
        B::Reserved1y,
        B::Reserved3y,
    ])
}

fn provider() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "nobody",
        "AutoDL",
        "Scaleway",
        "恒源云 gpushare",
        "Dataoorts",
    ])
}

fn offer(provider: &str, billing: Billing, price: f64, together: u32) -> PriceOffer {
    PriceOffer {
        card: "rtx-4090".to_owned(),
        provider: provider.to_owned(),
        region: None,
        billing,
        currency: Currency::Cny,
        price_per_card: price,
        cards_together: together,
        as_of: "2026-11-01".to_owned(),
        source: "test".into(),
        variant_stated: true,
        low_confidence: false,
        notes: None,
        tenancy: None,
        share: None,
    }
}

fn bill_of(quote: &Quote<'_>, hours: f64) -> Bill {
    quote
        .bill_of_job(Range {
            low: hours * 0.8,
            mid: hours,
            high: hours * 1.3,
        })
        .bill()
}

proptest! {
    #[test]
    fn a_bill_never_falls_and_adds_up(
        extras in extras(), billing in billing(), provider in provider(), together in 1..9_u32,
        price in 0.01..100.0_f64, hours in 0.0..3e4_f64, count in 1..200_u32, grow in 0..9_usize, factor in 1.0..3.0_f64,
    ) {
        let bill = |extras: Extras, price: f64, hours: f64, count: u32| {
            let hourly = offer(provider, Billing::OnDemand, price / 3.0, together);
            let book = PriceBook { offers: vec![hourly, offer(provider, billing, price, together)] };
            let money = Money { billing: vec![billing], extras, ..Money::default() };
            let prices = CardPrices::new("rtx-4090", &money, &book).for_job(JobTerms {
                model_bytes: 15e9,
                ..JobTerms::default()
            });
            bill_of(&prices.cheapest(count, Use::Job { hours }).unwrap(), hours)
        };
        let base = bill(extras, price, hours, count);
        for end in 0..3 {
            let sum: Amount = base.lines.iter().map(|l| l.amount[end]).sum();
            prop_assert_eq!(sum, base.total[end]);
            prop_assert!(base.lines.iter().all(|l| l.amount[end] >= Amount::ZERO));
            prop_assert_eq!(sum, sum.to_cent());
        }
        prop_assert!(base.total[0] <= base.total[1] && base.total[1] <= base.total[2]);
        let (mut more, mut dearer, mut longer, mut larger) = (extras, price, hours, count);
        match grow {
            0 => dearer *= factor,
            1 => longer *= factor,
            2 => larger += factor as u32,
            3 => more.disk_gb *= factor,
            4 => more.egress_price *= factor,
            5 => more.tax_percent *= factor,
            6 => more.setup_hours *= factor,
            7 => more.failed_percent *= factor,
            _ => more.idle_percent *= factor,
        }
        let grown = bill(more, dearer, longer, larger);
        for end in 0..3 {
            prop_assert!(grown.total[end] >= base.total[end], "{:?} {:?}", grown, base);
        }
    }

    #[test]
    fn the_chosen_mode_is_never_dearer_than_another(
        extras in extras(), hours in 0.1..2e4_f64, count in 1..20_u32,
        prices in (0.1..5.0_f64, 1.0..100.0_f64, 5.0..600.0_f64, 10.0..3000.0_f64, 100.0..30_000.0_f64),
    ) {
        let (hour, day, week, month, year) = prices;
        let modes = [
            (Billing::OnDemand, hour), (Billing::Daily, day), (Billing::Weekly, week),
            (Billing::Monthly, month), (Billing::Yearly, year),
        ];
        let rows = modes.map(|(billing, price)| offer("A", billing, price, 1));
        let book = PriceBook { offers: rows.to_vec() };
        let money = Money { extras, ..Money::default() };
        let need = Use::Job { hours };
        let of = |billing: Vec<Billing>| {
            let money = Money { billing, ..money.clone() };
            CardPrices::new("rtx-4090", &money, &book).cheapest(count, need).unwrap().cost(need)
        };
        let chosen = of(Vec::new());
        for (billing, _) in modes {
            prop_assert!(chosen <= of(vec![billing]) * (1.0 + 1e-12));
        }
        for mode in CardPrices::new("rtx-4090", &money, &book).modes(count, need) {
            prop_assert!(chosen <= mode.cost * (1.0 + 1e-12));
        }
    }

    #[test]
    fn spot_without_interruptions_and_overhead_is_price_times_time(
        price in 0.01..100.0_f64, hours in 0.0..1e5_f64, count in 1..100_u32,
    ) {
        let book = PriceBook { offers: vec![offer("nobody", Billing::Spot, price, 1)] };
        let mut money = Money { billing: vec![Billing::Spot], ..Money::default() };
        money.spot.interruptions_per_hour = Some(0.0);
        money.spot.restart_hours = 0.0;
        money.spot.checkpoint_s = 0.0;
        let need = Use::Job { hours };
        let quote = CardPrices::new("rtx-4090", &money, &book).cheapest(count, need).unwrap();
        let exact = price * hours * f64::from(count);
        prop_assert!((quote.cost(need) - exact).abs() <= 1e-9 * exact);
        prop_assert_eq!(quote.elapsed(Range::exact(hours)), Range::exact(hours));
    }

    /// What a ranking goes by and what the bill says differ by roundings to the cent only.
    #[test]
    fn the_bill_is_the_cost(
        extras in extras(), provider in provider(), price in 0.01..50.0_f64, hours in 0.0..2e3_f64, count in 1..50_u32,
    ) {
        let book = PriceBook { offers: vec![offer(provider, Billing::OnDemand, price, 1)] };
        let money = Money { extras, ..Money::default() };
        let quote = CardPrices::new("rtx-4090", &money, &book).cheapest(count, Use::Job { hours }).unwrap();
        let bill = quote.bill_of_job(Range::exact(hours)).bill();
        let cost = quote.cost(Use::Job { hours });
        let cents = 0.01 * bill.lines.len() as f64;
        prop_assert!((bill.total[1].value() - cost).abs() <= cents, "{} {}", bill.total[1].decimal(), cost);
    }
}
