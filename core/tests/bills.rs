//! Bills: worked by hand from published price lists, and what holds for every bill.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "bills/laws.rs"]
mod laws;

use cardfit::catalog::{Billing, Currency, PriceBook, PriceOffer};
use cardfit::range::Range;
use cardfit::rental::{Amount, Bill, CardPrices, JobTerms, LineKind, Quote, Use};
use cardfit::scenario::{Extras, Money, PriceMarket};

/// A published price list: whose, of which day, where it can be read.
struct PriceList {
    provider: &'static str,
    date: &'static str,
    address: &'static str,
    currency: Currency,
    /// Mode, price of a card for one unit, cards that are let together.
    prices: &'static [(Billing, f64, u32)],
}

impl PriceList {
    fn book(&self) -> PriceBook {
        let offers = self
            .prices
            .iter()
            .map(|(billing, price, together)| PriceOffer {
                card: "rtx-4090".to_owned(),
                provider: self.provider.to_owned(),
                region: None,
                billing: *billing,
                currency: self.currency,
                price_per_card: *price,
                cards_together: *together,
                as_of: self.date.to_owned(),
                source: self.address.into(),
                variant_stated: true,
                low_confidence: false,
                notes: None,
                tenancy: None,
                share: None,
            });
        PriceBook {
            offers: offers.collect(),
        }
    }

    fn money(&self) -> Money {
        Money {
            currency: self.currency,
            market: PriceMarket::Anywhere,
            billing: self.prices.iter().map(|(billing, ..)| *billing).collect(),
            ..Money::default()
        }
    }

    /// The bill of a job of so many hours on so many cards.
    fn job(&self, money: &Money, cards: u32, hours: f64) -> Bill {
        let book = self.book();
        let prices = CardPrices::new("rtx-4090", money, &book);
        let quote = prices.cheapest(cards, Use::Job { hours }).unwrap();
        quote.bill_of_job(Range::exact(hours)).bill()
    }

    /// The bill of a month of a service on one card.
    fn month(&self, hours_per_day: f64) -> Bill {
        let book = self.book();
        let prices = CardPrices::new("rtx-4090", &self.money(), &book);
        let quote = prices.cheapest(1, Use::Month { hours_per_day }).unwrap();
        quote.bill_of_month(hours_per_day).bill()
    }
}

fn lines(bill: &Bill) -> Vec<(LineKind, String)> {
    bill.lines
        .iter()
        .map(|line| (line.kind, line.amount[1].decimal()))
        .collect()
}

fn total(bill: &Bill) -> String {
    bill.total[1].decimal()
}

#[test]
fn compshare_5090_by_the_hour_the_day_and_the_month() {
    let list = PriceList {
        provider: "优云智算 Compshare",
        date: "2026-09-10",
        address: "https://www.compshare.cn/ (as a public comparison read it that day)",
        currency: Currency::Cny,
        prices: &[
            (Billing::OnDemand, 3.20, 1),
            (Billing::Daily, 70.53, 1),
            (Billing::Monthly, 1923.60, 1),
        ],
    };
    // 100 h: 320.00 by the hour; 5 days 352.65; 4 days and 4 hours 282.12 + 12.80.
    let bill = list.job(&list.money(), 1, 100.0);
    assert_eq!(
        lines(&bill),
        [
            (LineKind::Package, "282.12".to_owned()),
            (LineKind::BeyondPackages, "12.80".to_owned())
        ]
    );
    assert_eq!(total(&bill), "294.92");
    // Two cards for 22 h: 140.80 by the hour, a day 141.06.
    assert_eq!(total(&list.job(&list.money(), 2, 22.0)), "140.80");
    assert_eq!(total(&list.month(24.0)), "1923.60");
}

#[test]
fn compshare_4090_48g_month_is_600_hours() {
    let list = PriceList {
        provider: "优云智算 Compshare",
        date: "2026-09-10",
        address: "https://www.compshare.cn/ (as a public comparison read it that day)",
        currency: Currency::Cny,
        prices: &[(Billing::OnDemand, 3.30, 1), (Billing::Monthly, 1980.00, 1)],
    };
    let book = list.book();
    let prices = CardPrices::new("rtx-4090", &list.money(), &book);
    let modes = prices.modes(
        1,
        Use::Month {
            hours_per_day: 24.0,
        },
    );
    let month = modes
        .iter()
        .find(|m| m.billing == Billing::Monthly)
        .unwrap();
    assert!((month.beats_hourly_above.unwrap() - 600.0).abs() < 1e-9);
    // 19 h a day: 570 h x 3.30; 21 h a day: 630 h would be 2079.00.
    assert_eq!(total(&list.month(19.0)), "1881.00");
    assert_eq!(total(&list.month(21.0)), "1980.00");
}

#[test]
fn alibaba_a10_month_is_480_hours() {
    let list = PriceList {
        provider: "阿里云",
        date: "2026-09-24",
        address: "https://ecs.aliyuncs.com/?Action=DescribePrice (gn7i, Shanghai and Shenzhen)",
        currency: Currency::Cny,
        prices: &[(Billing::OnDemand, 9.74, 1), (Billing::Monthly, 4675.66, 1)],
    };
    // 15 h a day: 450 h x 9.74 = 4383.00; 17 h a day: 510 h x 9.74 = 4967.40.
    assert_eq!(total(&list.month(15.0)), "4383.00");
    assert_eq!(total(&list.month(17.0)), "4675.66");
    // A job of 800 h: a month and 80 h, 4675.66 + 779.20.
    assert_eq!(total(&list.job(&list.money(), 1, 800.0)), "5454.86");
}

#[test]
fn alibaba_t4_month_on_promotion_is_150_hours() {
    let list = PriceList {
        provider: "阿里云",
        date: "2026-09-24",
        address: "https://ecs.aliyuncs.com/?Action=DescribePrice (gn6i, promotion)",
        currency: Currency::Cny,
        prices: &[
            (Billing::OnDemand, 11.84, 1),
            (Billing::Monthly, 1774.00, 1),
        ],
    };
    // 149 h: 1764.16 by the hour; 150 h: 1776.00.
    assert_eq!(total(&list.job(&list.money(), 1, 149.0)), "1764.16");
    assert_eq!(total(&list.job(&list.money(), 1, 150.0)), "1774.00");
}

#[test]
fn autodl_4090_by_the_second_with_a_data_disk() {
    let list = PriceList {
        provider: "AutoDL",
        date: "2026-09-10",
        address: "https://www.autodl.com/docs/price/",
        currency: Currency::Cny,
        prices: &[(Billing::OnDemand, 1.88, 1)],
    };
    // 8 min 47 s: 527 x 1.88 / 3600 = 0.2752.
    assert_eq!(total(&list.job(&list.money(), 1, 527.0 / 3600.0)), "0.28");
    // A data disk of 100 GB of which 50 are free, 0.0066 a GB and day = 0.198 a month, kept for ten days
    // after a run of 20 h: 37.60 + 50 x 20/720 x 0.198 + 50 x 10/30 x 0.198.
    let mut money = list.money();
    money.extras = Extras {
        disk_gb: 100.0,
        disk_free_gb: 50.0,
        disk_price: 0.198,
        stopped_days: 10.0,
        ..Extras::default()
    };
    let bill = list.job(&money, 1, 20.0);
    assert_eq!(
        lines(&bill),
        [
            (LineKind::Work, "37.60".to_owned()),
            (LineKind::Disk, "0.28".to_owned()),
            (LineKind::DiskStopped, "3.30".to_owned())
        ]
    );
    assert_eq!(total(&bill), "41.18");
}

#[test]
fn runpod_h100_with_a_volume_that_costs_double_while_stopped() {
    let list = PriceList {
        provider: "RunPod Secure",
        date: "2026-11-09",
        address: "https://www.runpod.io/pricing, https://docs.runpod.io/pods/pricing",
        currency: Currency::Usd,
        prices: &[(Billing::OnDemand, 3.99, 1)],
    };
    let mut money = list.money();
    money.extras = Extras {
        disk_gb: 500.0,
        disk_price: 0.10,
        stopped_price: Some(0.20),
        stopped_days: 10.0,
        ..Extras::default()
    };
    // 36 x 3.99; 500 x 36/720 x 0.10; 500 x 10/30 x 0.20.
    let bill = list.job(&money, 1, 36.0);
    assert_eq!(
        lines(&bill),
        [
            (LineKind::Work, "143.64".to_owned()),
            (LineKind::Disk, "2.50".to_owned()),
            (LineKind::DiskStopped, "33.33".to_owned())
        ]
    );
    assert_eq!(total(&bill), "179.47");
}

#[test]
fn azure_lets_two_a100_together() {
    let list = PriceList {
        provider: "Azure",
        date: "2026-11-09",
        address: "https://prices.azure.com/api/retail/prices (Standard_NC48ads_A100_v4, eastus)",
        currency: Currency::Usd,
        prices: &[(Billing::OnDemand, 9.554 / 2.0, 2)],
    };
    // Ten hours on one card are ten hours of the pair.
    let bill = list.job(&list.money(), 1, 10.0);
    assert_eq!(
        lines(&bill),
        [
            (LineKind::Work, "47.77".to_owned()),
            (LineKind::WholeNodes, "47.77".to_owned())
        ]
    );
    assert_eq!(total(&bill), "95.54");
}

#[test]
fn coreweave_lets_h100_in_nodes_of_eight() {
    let list = PriceList {
        provider: "CoreWeave",
        date: "2026-08-22",
        address: "https://www.coreweave.com/pricing",
        currency: Currency::Usd,
        prices: &[(Billing::OnDemand, 6.155, 8)],
    };
    // Five cards for a day: 5 x 24 x 6.155 = 738.60 and three more that stand beside them.
    let bill = list.job(&list.money(), 5, 24.0);
    assert_eq!(
        lines(&bill),
        [
            (LineKind::Work, "738.60".to_owned()),
            (LineKind::WholeNodes, "443.16".to_owned())
        ]
    );
    // Nine cards are two nodes.
    assert_eq!(total(&list.job(&list.money(), 9, 24.0)), "2363.52");
}

#[test]
fn a_year_of_a_whole_h100_node_in_china() {
    let list = PriceList {
        provider: "SMM 国内8卡整机长租",
        date: "2026-07",
        address: "https://news.smm.cn/live/metal/143 (75,000 to 80,000 yuan a month, the middle)",
        currency: Currency::Cny,
        prices: &[(Billing::Reserved1y, 77_500.0 / 8.0 / 720.0, 8)],
    };
    // Twelve months are paid, for one card and a week too.
    assert_eq!(total(&list.job(&list.money(), 1, 168.0)), "930000.00");
    assert_eq!(total(&list.month(24.0)), "77500.00");
}

#[test]
fn aladdin_edu_sells_units_of_compute() {
    let list = PriceList {
        provider: "九章云极 AladdinEdu",
        date: "2025-06-27",
        address: "https://github.com/JesperGGSD/AladdinEdu_UserManual (2500 yuan for 270 units)",
        currency: Currency::Cny,
        // An 80 GB H100 burns 2.56 units an hour.
        prices: &[(Billing::OnDemand, 2500.0 / 270.0 * 2.56, 1)],
    };
    // 20 h are 51.2 units: 51.2 / 270 x 2500 = 474.07; with 6 % for an invoice 28.44 more.
    assert_eq!(total(&list.job(&list.money(), 1, 20.0)), "474.07");
    let mut money = list.money();
    money.extras.tax_percent = 6.0;
    let bill = list.job(&money, 1, 20.0);
    assert_eq!(
        lines(&bill),
        [
            (LineKind::Work, "474.07".to_owned()),
            (LineKind::Tax, "28.44".to_owned())
        ]
    );
    assert_eq!(total(&bill), "502.51");
}

#[test]
fn verda_a100_spot_against_on_demand() {
    let list = PriceList {
        provider: "Verda (ex-DataCrunch)",
        date: "2026-05-24",
        address: "https://verda.com/products",
        currency: Currency::Usd,
        prices: &[(Billing::OnDemand, 1.29, 1), (Billing::Spot, 0.45, 1)],
    };
    let mut money = list.money();
    money.spot.interruptions_per_hour = Some(0.0);
    assert_eq!(total(&list.job(&money, 1, 100.0)), "45.00");
    // One interruption an hour, five minutes to save, an hour and a half to come back: with M = 1 h Daly's interval is
    // sqrt(2 x 1/12) x (1 + sqrt(1/24)/3 + 1/216) - 1/12 = 0.3547 h, and each stretch takes
    // e^1.5 (e^0.4381 - 1) = 2.464 h. Spot takes 695 h, 313 dollars; on demand costs 129.
    money.spot.interruptions_per_hour = Some(1.0);
    money.spot.checkpoint_s = 300.0;
    money.spot.restart_hours = 1.5;
    assert_eq!(total(&list.job(&money, 1, 100.0)), "129.00");
    money.billing = vec![Billing::Spot];
    let spot = list.job(&money, 1, 100.0).total[1].value();
    assert!((spot - 313.0).abs() < 4.0, "{spot}");
}

#[test]
fn thunder_compute_a100_by_the_minute() {
    let list = PriceList {
        provider: "Thunder Compute production",
        date: "2026-06-21",
        address: "https://www.thundercompute.com/pricing",
        currency: Currency::Usd,
        prices: &[(Billing::OnDemand, 1.79, 1)],
    };
    // 2 h 10 min 20 s are 131 minutes: 131 / 60 x 1.79 = 3.9082.
    let hours = 2.0 + 10.0 / 60.0 + 20.0 / 3600.0;
    assert_eq!(total(&list.job(&list.money(), 1, hours)), "3.91");
}

#[test]
fn scaleway_h100_charges_an_hour_at_least() {
    let list = PriceList {
        provider: "Scaleway",
        date: "2026-08-22",
        address: "https://www.scaleway.com/en/pricing/gpu/",
        currency: Currency::Usd,
        prices: &[(Billing::OnDemand, 3.3535, 1)],
    };
    // Twelve minutes are charged as sixty, in each of three starts.
    let mut money = list.money();
    let bill = list.job(&money, 1, 0.2);
    assert_eq!(
        lines(&bill),
        [
            (LineKind::Work, "0.67".to_owned()),
            (LineKind::RoundingUp, "2.68".to_owned())
        ]
    );
    assert_eq!(total(&bill), "3.35");
    money.extras.starts = 3.0;
    assert_eq!(total(&list.job(&money, 1, 0.6)), "10.06");
}

#[test]
fn lambda_a10_and_aws_p4d() {
    let lambda = PriceList {
        provider: "Lambda",
        date: "2026-08-22",
        address: "https://lambda.ai/service/gpu-cloud",
        currency: Currency::Usd,
        prices: &[(Billing::OnDemand, 1.29, 1)],
    };
    // 7.5 x 1.29 = 9.675, halves up.
    assert_eq!(total(&lambda.job(&lambda.money(), 1, 7.5)), "9.68");
    let aws = PriceList {
        provider: "AWS",
        date: "2026-11-09",
        address: "https://ec2.shop (p4d.24xlarge, us-east-1)",
        currency: Currency::Usd,
        prices: &[(Billing::OnDemand, 21.957642 / 8.0, 8)],
    };
    // Thirty seconds are charged as a minute of all eight: 21.957642 / 60.
    assert_eq!(total(&aws.job(&aws.money(), 8, 30.0 / 3600.0)), "0.37");
    assert_eq!(total(&aws.job(&aws.money(), 8, 3.0)), "65.87");
}

#[test]
fn a_job_with_everything_around_it() {
    let list = PriceList {
        provider: "nobody",
        date: "2026-11-01",
        address: "made up",
        currency: Currency::Usd,
        prices: &[(Billing::OnDemand, 2.0, 1)],
    };
    let mut money = list.money();
    money.extras = Extras {
        starts: 2.0,
        setup_hours: 0.5,
        fetch_mbit_s: 1000.0,
        upload_gb: 90.0,
        line_mbit_s: 200.0,
        evaluation_percent: 10.0,
        failed_percent: 20.0,
        idle_percent: 50.0,
        egress_gb: 30.0,
        egress_price: 0.09,
        tax_percent: 10.0,
        ..Extras::default()
    };
    let book = list.book();
    let prices = CardPrices::new("rtx-4090", &money, &book).for_job(JobTerms {
        model_bytes: 45e9,
        ..JobTerms::default()
    });
    let quote = prices.cheapest(1, Use::Job { hours: 10.0 }).unwrap();
    let bill = quote.bill_of_job(Range::exact(10.0)).bill();
    // 10 h of work, 1 h of evaluation, 2.2 h of failed runs, twice half an hour of set-up, twice 360 s for 45 GB over
    // 1 Gbit/s, 3600 s for 90 GB over 200 Mbit/s: 15.4 h, and half as much idle.
    let wanted = [
        (LineKind::Work, "20.00"),
        (LineKind::Evaluation, "2.00"),
        (LineKind::FailedRuns, "4.40"),
        (LineKind::SetUp, "2.00"),
        (LineKind::Fetch, "0.40"),
        (LineKind::Upload, "2.00"),
        (LineKind::Idle, "15.40"),
        (LineKind::Egress, "2.70"),
        (LineKind::Tax, "4.89"),
    ];
    assert_eq!(
        lines(&bill),
        wanted.map(|(kind, amount)| (kind, amount.to_owned()))
    );
    assert_eq!(total(&bill), "53.79");
    let elapsed = quote.elapsed(Range::exact(10.0)).mid;
    assert!((elapsed - 23.1).abs() < 1e-9, "{elapsed}");
}

#[test]
fn a_service_that_sleeps_pays_for_its_disk_all_month() {
    let list = PriceList {
        provider: "nobody",
        date: "2026-11-01",
        address: "made up",
        currency: Currency::Usd,
        prices: &[(Billing::OnDemand, 1.0, 1)],
    };
    let mut money = list.money();
    money.extras = Extras {
        setup_hours: 0.1,
        starts: 4.0,
        disk_gb: 100.0,
        disk_price: 0.2,
        ..Extras::default()
    };
    let book = list.book();
    let prices = CardPrices::new("rtx-4090", &money, &book);
    let need = Use::Month { hours_per_day: 6.0 };
    let bill = prices.cheapest(1, need).unwrap().bill_of_month(6.0).bill();
    // 180 h up, four cold starts a day of 0.1 h, the disk for the whole month.
    assert_eq!(
        lines(&bill),
        [
            (LineKind::Work, "180.00".to_owned()),
            (LineKind::SetUp, "12.00".to_owned()),
            (LineKind::Disk, "5.33".to_owned()),
            (LineKind::DiskStopped, "14.67".to_owned())
        ]
    );
    assert_eq!(total(&bill), "212.00");
}

#[test]
fn a_service_on_spot_pays_for_its_spares() {
    let list = PriceList {
        provider: "nobody",
        date: "2026-11-01",
        address: "made up",
        currency: Currency::Usd,
        prices: &[(Billing::Spot, 0.5, 1)],
    };
    let book = list.book();
    let prices = CardPrices::new("rtx-4090", &list.money(), &book);
    let need = Use::Month {
        hours_per_day: 24.0,
    };
    // Twenty cards are three machines of eight, taken away once in 20 h each and back after a quarter of an hour: up
    // 0.9877 of the time. Three of three are up 96.4 %, of four 99.9 %: one machine in reserve, 20 / 3 rounded up.
    let quote = prices.cheapest(20, need).unwrap();
    assert_eq!(quote.spare_cards(need), 7);
    assert_eq!(total(&quote.bill_of_month(24.0).bill()), "9720.00");
}
