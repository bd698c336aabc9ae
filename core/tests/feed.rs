//! An operator's feed: what is taken, what is left out and why, and what it answers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::float_cmp,
    reason = "figures that are read as they were written"
)]

use cardfit::catalog::{Billing, Catalog, Currency};
use cardfit::embed::said_by;
use cardfit::feed::{Effect, FEED_BYTES, Feed, FeedIssue, IssueKind, Shop, Supply, read};
use cardfit::offers::Fit;
use cardfit::scenario::{Extras, parse};
use cardfit::text::Lang;
use serde_json::{Value, json};

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

fn feed_of(offers: Value) -> Value {
    json!({
        "schema": "cardfit-feed/1",
        "provider": {"name": "示例算力", "url": "https://shop.example/"},
        "currency": "CNY",
        "generated_at": "2026-11-30T08:00:00+08:00",
        "offers": offers,
    })
}

fn offer(id: &str, gpu: &str, price: f64) -> Value {
    json!({"id": id, "gpu": gpu, "prices": [{"mode": "hourly", "price": price}],
        "order_url": "https://shop.example/o?id={offer}&n={count}&h={hours}&r={ref}"})
}

fn taken(feed: &Value) -> (Feed, Vec<FeedIssue>) {
    read(&feed.to_string(), catalog(), Some("2026-12-01")).unwrap()
}

fn refused(feed: &Value) -> FeedIssue {
    let issues = read(&feed.to_string(), catalog(), None).unwrap_err();
    let last = issues.last().cloned().unwrap();
    assert_eq!(last.effect, Effect::FeedRefused);
    last
}

fn kinds(issues: &[FeedIssue]) -> Vec<(&str, IssueKind)> {
    issues.iter().map(|i| (i.path.as_str(), i.kind)).collect()
}

#[test]
fn six_keys_make_a_feed() {
    let text = include_str!("feeds/minimal.json");
    let (feed, issues) = read(text, catalog(), Some("2026-12-01")).unwrap();
    assert_eq!(issues, []);
    assert_eq!(feed.provider, "小站");
    assert_eq!(feed.offers.len(), 1);
    assert_eq!(feed.offers[0].card, "rtx-4090");
    assert_eq!(feed.offers[0].prices[0].billing, Billing::OnDemand);
}

#[test]
fn prices_of_a_machine_and_of_a_term_become_prices_of_a_card() {
    let (feed, issues) = taken(&feed_of(json!([{
        "id": "node", "gpu": "h100-sxm-80gb", "gpu_counts": [8], "per_node": true, "max_nodes": 4,
        "prices": [
            {"mode": "hourly", "price": 80},
            {"mode": "monthly", "price": 40_000},
            {"mode": "reserved", "term_months": 12, "price_per_month": 28_800},
        ],
    }])));
    assert_eq!(issues, []);
    let offer = &feed.offers[0];
    let price = |billing| {
        let price = offer.prices.iter().find(|p| p.billing == billing);
        price.map(|p| p.price_per_card)
    };
    assert_eq!(price(Billing::OnDemand), Some(10.0));
    assert_eq!(price(Billing::Monthly), Some(5000.0));
    // 28 800 over 8 cards and 720 hours.
    assert_eq!(price(Billing::Reserved1y), Some(5.0));
    assert!(offer.node_only);
    for (count, sold) in [
        (1, false),
        (4, false),
        (8, true),
        (12, false),
        (16, true),
        (32, true),
        (40, false),
    ] {
        assert_eq!(offer.sells(count), sold, "{count}");
    }
}

#[test]
fn a_bad_entry_costs_itself_and_nothing_else() {
    let (feed, issues) = taken(&feed_of(json!([
        offer("good", "RTX 4090", 1.98),
        offer("unknown", "RTX 4O90", 2.0),
        offer("good", "RTX 3090", 1.2),
        offer("negative", "RTX 3090", -1.2),
        offer("huge", "RTX 3090", 1e300),
        {"gpu": "RTX 3090", "prices": []},
        {"id": "text-price", "gpu": "RTX 3090", "prices": [{"mode": "hourly", "price": "1.20"}]},
        {"id": "no-mode", "gpu": "RTX 3090", "prices": [{"mode": "per blink", "price": 1.2}]},
        {"id": "memory", "gpu": "RTX 3090", "vram_gb": 48, "prices": [{"mode": "hourly", "price": 1.2}]},
        17,
        null,
        ["x"],
        {"id": "partly", "gpu": "RTX 3090", "stock": 7, "region": {"fr": "x"}, "gpu_counts": [1, 0, "2", 4],
         "order_url": "javascript:alert(1)",
         "prices": [{"mode": "hourly", "price": 1.2}, {"mode": "hourly", "price": 9}, {"mode": "spot", "price": -1}]},
    ])));
    let ids: Vec<_> = feed.offers.iter().map(|o| o.id.as_str()).collect();
    assert_eq!(ids, ["good", "partly"]);
    assert_eq!(feed.offers[1].counts, [1, 4]);
    assert_eq!(feed.offers[1].order, None);
    let expected = [
        ("offers[1].gpu", IssueKind::UnknownCard),
        ("offers[2].id", IssueKind::DuplicateId),
        ("offers[3].prices[0].price", IssueKind::NotPositive),
        ("offers[3].prices", IssueKind::Empty),
        ("offers[4].prices[0].price", IssueKind::TooHigh),
        ("offers[4].prices", IssueKind::Empty),
        ("offers[5].id", IssueKind::Missing),
        ("offers[6].prices[0].price", IssueKind::WrongType),
        ("offers[6].prices", IssueKind::Empty),
        ("offers[7].prices[0].mode", IssueKind::UnknownMode),
        ("offers[7].prices", IssueKind::Empty),
        ("offers[8].vram_gb", IssueKind::MemoryDiffers),
        ("offers[9]", IssueKind::WrongType),
        ("offers[10]", IssueKind::WrongType),
        ("offers[11]", IssueKind::WrongType),
        ("offers[12].gpu_counts[1]", IssueKind::WrongType),
        ("offers[12].gpu_counts[2]", IssueKind::WrongType),
        ("offers[12].prices[1]", IssueKind::RepeatedMode),
        ("offers[12].prices[2].price", IssueKind::NotPositive),
        ("offers[12].region", IssueKind::WrongType),
        ("offers[12].stock", IssueKind::WrongType),
        ("offers[12].order_url", IssueKind::BadLink),
    ];
    assert_eq!(kinds(&issues), expected);
    let near = &issues[0];
    assert!(
        near.message(Lang::En).contains("did you mean rtx-"),
        "{}",
        near.message(Lang::En)
    );
    for issue in &issues {
        for lang in Lang::ALL {
            let said = issue.message(lang);
            assert!(
                said.contains(&issue.path) && !said.contains("feed."),
                "{said}"
            );
        }
    }
}

#[test]
fn the_memory_tells_which_card_of_a_name_it_is() {
    let sold = |gpu: &str, gib: f64| {
        json!({"id": gib.to_string(), "gpu": gpu, "vram_gb": gib,
        "prices": [{"mode": "hourly", "price": 2}]})
    };
    let (feed, issues) = taken(&feed_of(json!([
        sold("RTX 4090", 24.0),
        sold("4090", 48.0)
    ])));
    assert_eq!(issues, []);
    let cards: Vec<_> = feed.offers.iter().map(|o| o.card.as_str()).collect();
    assert_eq!(cards, ["rtx-4090", "rtx-4090-48gb"]);
}

#[test]
fn a_feed_that_is_none_is_refused_with_the_reason() {
    let good = feed_of(json!([offer("a", "RTX 4090", 2.0)]));
    let without = |name: &str| {
        let mut feed = good.clone();
        feed.as_object_mut().unwrap().remove(name);
        refused(&feed)
    };
    for name in ["schema", "provider", "currency", "generated_at", "offers"] {
        let issue = without(name);
        assert_eq!(
            (issue.path.as_str(), issue.kind),
            (name, IssueKind::Missing)
        );
    }
    let with = |name: &str, value: Value| {
        let mut feed = good.clone();
        feed[name] = value;
        refused(&feed).kind
    };
    assert_eq!(
        with("schema", json!("gpu-feed/9")),
        IssueKind::UnknownSchema
    );
    assert_eq!(with("currency", json!("doge")), IssueKind::UnknownCurrency);
    assert_eq!(with("offers", json!({})), IssueKind::WrongType);
    assert_eq!(with("offers", json!([])), IssueKind::NothingLeft);
    assert_eq!(with("provider", json!("\u{202e} ")), IssueKind::Empty);
    assert_eq!(refused(&json!([1])).kind, IssueKind::WrongType);
    let kind = |text: &str| read(text, catalog(), None).unwrap_err().pop().unwrap().kind;
    assert_eq!(kind("<!doctype html>"), IssueKind::NotJson);
    assert_eq!(kind(&"[".repeat(100_000)), IssueKind::NotJson);
    assert_eq!(kind(&" ".repeat(FEED_BYTES + 1)), IssueKind::TooLarge);
}

#[test]
fn script_in_names_stays_text_and_is_cut() {
    let mut entry = offer("<img src=x onerror=alert(1)>", "RTX 4090", 2.0);
    entry["name"] = json!(format!(
        "<script>alert(1)</script>\u{0}\u{202e}{}",
        "x".repeat(500)
    ));
    let (feed, _) = taken(&feed_of(json!([entry])));
    let name = &feed.offers[0].name.as_ref().unwrap().en;
    assert!(name.starts_with("<script>alert(1)</script>xxx"), "{name}");
    assert_eq!(name.chars().count(), 80);
}

#[test]
fn an_old_feed_says_so_and_is_used() {
    let mut feed = feed_of(json!([offer("a", "RTX 4090", 2.0)]));
    let issues = |feed: &Value, today: &str| {
        let (_, issues) = read(&feed.to_string(), catalog(), Some(today)).unwrap();
        issues
            .iter()
            .map(|i| (i.path.clone(), i.kind))
            .collect::<Vec<_>>()
    };
    assert_eq!(issues(&feed, "2026-12-07"), []);
    let stale = |path: &str| vec![(path.to_owned(), IssueKind::Stale)];
    assert_eq!(issues(&feed, "2026-12-08"), stale("generated_at"));
    feed["valid_until"] = json!("2026-12-31");
    assert_eq!(issues(&feed, "2026-12-31"), []);
    assert_eq!(issues(&feed, "2027-01-01"), stale("valid_until"));
}

#[test]
fn only_what_is_sold_is_offered_at_its_price_and_leads_to_the_order_page() {
    let mut four = offer("4090-hn", "RTX 4090", 1.98);
    four["gpu_counts"] = json!([1, 2, 4]);
    let (feed, _) = taken(&feed_of(json!([four, offer("3090", "RTX 3090", 1.2)])));
    let shop = Shop::new(feed, catalog());
    let scenario = parse("m=llama-3.1-8b&do=lora", catalog()).scenario;
    let ranking = shop.rank(&scenario);
    assert!(!ranking.offers.is_empty());
    for offer in &ranking.offers {
        assert!(
            ["rtx-4090", "rtx-3090"].contains(&offer.card.as_str()),
            "{}",
            offer.card
        );
        if offer.card == "rtx-4090" {
            assert!([1, 2, 4].contains(&offer.count), "{}", offer.count);
        }
        let price = offer.price.as_ref().unwrap();
        assert_eq!(price.provider.as_deref(), Some("示例算力"));
    }
    let best = ranking
        .offers
        .iter()
        .find(|o| o.card == "rtx-4090" && o.fit == Fit::Fits)
        .unwrap();
    assert!((best.price.as_ref().unwrap().price_per_card_hour - 1.98).abs() < 1e-9);
    let url = shop
        .order_url(best, &scenario, Lang::ZhCn, "page 7")
        .unwrap();
    let hours = best.hours.unwrap().mid.ceil();
    assert_eq!(
        url,
        format!(
            "https://shop.example/o?id=4090-hn&n={}&h={hours:.0}&r=page%207",
            best.count
        )
    );
}

#[test]
fn what_is_out_of_stock_comes_last_and_is_said() {
    let mut out = offer("cheap", "RTX 3090", 0.01);
    out["stock"] = json!({"state": "out"});
    let mut few = offer("few", "RTX 4090", 2.0);
    few["stock"] = json!({"state": "in_stock", "free_gpus": 1});
    let (feed, _) = taken(&feed_of(json!([
        out,
        few,
        offer("a", "A100 80GB PCIe", 9.0)
    ])));
    let shop = Shop::new(feed, catalog());
    let scenario = parse("m=llama-3.1-8b&do=lora", catalog()).scenario;
    let ranking = shop.rank(&scenario);
    let supplies: Vec<_> = ranking
        .offers
        .iter()
        .map(|o| (o.card.as_str(), o.count, shop.find(o).unwrap().supply))
        .collect();
    let first_gone = supplies
        .iter()
        .position(|(.., s)| !matches!(s, Supply::InStock | Supply::Low))
        .unwrap();
    assert!(first_gone > 0);
    assert!(
        supplies[first_gone..]
            .iter()
            .all(|(.., s)| !matches!(s, Supply::InStock)),
        "{supplies:?}"
    );
    for (card, count, supply) in supplies {
        match (card, count) {
            ("rtx-3090", _) => assert_eq!(supply, Supply::Out),
            ("rtx-4090", 1) => assert_eq!(supply, Supply::InStock),
            ("rtx-4090", _) => assert_eq!(supply, Supply::Short { free_cards: 1 }),
            _ => assert_eq!(supply, Supply::InStock),
        }
    }
}

#[test]
fn one_card_sold_in_two_ways_takes_the_cheaper_that_sells_the_number() {
    let mut single = offer("single", "RTX 4090", 2.0);
    single["gpu_counts"] = json!([1]);
    let mut eight = offer("eight", "RTX 4090", 1.5);
    eight["gpu_counts"] = json!([8]);
    let (feed, _) = taken(&feed_of(json!([single, eight])));
    let shop = Shop::new(feed, catalog());
    let scenario = parse("m=llama-3.1-8b&do=lora", catalog()).scenario;
    let ranking = shop.rank(&scenario);
    let price = |count| {
        let offer = ranking.offers.iter().find(|o| o.count == count)?;
        Some(offer.price.as_ref()?.price_per_card_hour)
    };
    assert_eq!(price(1), Some(2.0));
    assert_eq!(price(8), Some(1.5));
    assert_eq!(ranking.offers.len(), 2);
    assert_eq!(ranking.offers.iter().filter(|o| o.best_of_card).count(), 1);
}

#[test]
fn two_thousand_offers_of_one_card_are_read_and_ranked_in_little_time() {
    let offers: Vec<Value> = (0..2500)
        .map(|n| {
            let mut entry = offer(&n.to_string(), "RTX 4090", 1.0 + f64::from(n) / 1000.0);
            entry["gpu_counts"] = json!([1 + n % 1024]);
            entry
        })
        .collect();
    let text = feed_of(json!(offers)).to_string();
    let start = std::time::Instant::now();
    let (feed, issues) = read(&text, catalog(), None).unwrap();
    assert_eq!(feed.offers.len(), 2000);
    assert_eq!(issues[0].kind, IssueKind::TooManyOffers);
    let shop = Shop::new(feed, catalog());
    let scenario = parse("m=llama-3.1-8b&do=lora", catalog()).scenario;
    assert!(shop.rank(&scenario).offers.len() <= 8 * 20);
    // Tests are built without optimisation; the page does this in a few milliseconds.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn what_is_charged_beside_the_cards_enters_where_the_scenario_is_silent() {
    let mut feed = feed_of(json!([offer("a", "RTX 4090", 2.0)]));
    feed["currency"] = json!("USD");
    feed["storage"] =
        json!({"free_gb": 50, "price_per_gb_month": 0.1, "stopped_price_per_gb_month": 0.04});
    feed["traffic"] = json!({"out_price_per_gb": 0.05});
    feed["tax_percent"] = json!(6);
    let (feed, issues) = taken(&feed);
    assert_eq!(issues, []);

    let entered = |link: &str| {
        let mut scenario = parse(link, catalog()).scenario;
        feed.enter(&mut scenario, said_by(link));
        scenario.money
    };
    let money = entered("m=llama-3.1-8b&do=lora&budget=670");
    assert_eq!(money.currency, Currency::Usd);
    // 6.7 yuan a dollar: the budget was said in yuan.
    assert_eq!(money.budget, Some(100.0));
    let expected = Extras {
        disk_free_gb: 50.0,
        disk_price: 0.1,
        stopped_price: Some(0.04),
        egress_price: 0.05,
        tax_percent: 6.0,
        ..Extras::default()
    };
    assert_eq!(money.extras, expected);

    // What a link says stays; prices follow its currency.
    let money = entered("cur=cny&diskfree=0&egressprice=1.5&tax=0");
    assert_eq!(money.currency, Currency::Cny);
    let said = Extras {
        disk_free_gb: 0.0,
        egress_price: 1.5,
        tax_percent: 0.0,
        disk_price: money.extras.disk_price,
        stopped_price: money.extras.stopped_price,
        ..Extras::default()
    };
    assert_eq!(money.extras, said);
    assert!((money.extras.disk_price - 0.67).abs() < 1e-9);

    // The same said in JSON.
    let json = r#"{"money": {"currency": "cny", "extras": {"egress_price": 1.5}}}"#;
    let mut scenario = cardfit::scenario::read_text(json, catalog())
        .unwrap()
        .scenario;
    feed.enter(&mut scenario, said_by(json));
    assert_eq!(scenario.money.currency, Currency::Cny);
    let expected = Extras {
        egress_price: 1.5,
        tax_percent: 6.0,
        ..scenario.money.extras
    };
    assert_eq!(scenario.money.extras, expected);
}

#[test]
fn storage_is_on_the_bill_of_a_shops_offer() {
    let link = "m=llama-3.1-8b&do=serve&users=4&disk=150&n=1";
    let month = |storage: Value| {
        let mut feed = feed_of(json!([offer("a", "RTX 4090", 2.0)]));
        feed["storage"] = storage;
        let (feed, _) = taken(&feed);
        let mut scenario = parse(link, catalog()).scenario;
        feed.enter(&mut scenario, said_by(link));
        let ranking = Shop::new(feed, catalog()).rank(&scenario);
        ranking.offers[0].cost_per_month.unwrap().mid
    };
    let without = month(json!(null));
    // 150 GB, 50 of them free, at 0.3 yuan for a GB and month.
    let with = month(json!({"free_gb": 50, "price_per_gb_month": 0.3}));
    assert!((with - without - 30.0).abs() < 1e-6, "{without} {with}");
}

#[test]
fn terms_that_cannot_be_used_are_named_and_left_out() {
    let mut feed = feed_of(json!([offer("a", "RTX 4090", 2.0)]));
    feed["storage"] = json!("free");
    feed["traffic"] = json!({"out_price_per_gb": -1});
    feed["tax_percent"] = json!(250);
    let (feed, issues) = taken(&feed);
    assert_eq!(feed.terms, cardfit::feed::Terms::default());
    assert_eq!(
        kinds(&issues),
        [
            ("storage", IssueKind::WrongType),
            ("traffic.out_price_per_gb", IssueKind::WrongType),
            ("tax_percent", IssueKind::WrongType),
        ]
    );
}

#[test]
fn an_entry_may_name_who_rents_it_out() {
    let mut partner = offer("b", "RTX 3090", 1.0);
    partner["provider"] = json!("合作机房");
    let (feed, issues) = taken(&feed_of(json!([offer("a", "RTX 4090", 2.0), partner])));
    assert_eq!(issues, []);
    let shop = Shop::new(feed, catalog());
    let ranking = shop.rank(&parse("m=llama-3.1-8b&do=lora", catalog()).scenario);
    for offer in &ranking.offers {
        let provider = offer.price.as_ref().unwrap().provider.as_deref();
        let expected = if offer.card == "rtx-3090" {
            "合作机房"
        } else {
            "示例算力"
        };
        assert_eq!(provider, Some(expected));
        assert!(shop.find(offer).is_some());
    }
}
