//! Budget and deadline, clusters, shares of cards, machines that are taken away: what the ranking says about money.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use cardfit::catalog::{Billing, Catalog, Currency, PriceBook};
use cardfit::offers::{Assumption, Fit, Offer, Ranking, checks, rank, rent_or_buy, within_limits};
use cardfit::rental::Check;
use cardfit::scenario::{Scenario, parse};

fn scenario(link: &str) -> Scenario {
    let parsed = parse(link, Catalog::embedded());
    assert!(parsed.problems.is_empty(), "{link}: {:?}", parsed.problems);
    parsed.scenario
}

fn answer(scenario: &Scenario) -> Ranking {
    rank(scenario, Catalog::embedded(), PriceBook::embedded())
}

fn cost(offer: &Offer) -> f64 {
    offer.cost_of_job.or(offer.cost_per_month).unwrap().mid
}

const LORA: &str = "m=qwen2.5-7b&do=lora&cards=rtx-4090,l40s,a100-sxm4-80gb,h800-sxm-80gb";

#[test]
fn without_limits_there_is_nothing_to_say() {
    let scenario = scenario(LORA);
    assert_eq!(within_limits(&answer(&scenario).offers, &scenario), None);
}

#[test]
fn the_cheapest_in_time_and_the_fastest_in_the_budget() {
    let free = scenario(LORA);
    let offers = answer(&free).offers;
    let fits = || offers.iter().filter(|o| o.fit == Fit::Fits);
    let hours = |o: &Offer| o.hours.unwrap().mid;
    // A deadline between the fastest and the cheapest, a budget between the cheapest and the dearest.
    let cheapest = fits().min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap();
    let deadline = hours(cheapest) / 2.0;
    let budget = cost(cheapest) * 2.0;
    let limited = Scenario {
        money: cardfit::scenario::Money {
            budget: Some(budget),
            deadline_hours: Some(deadline),
            ..free.money.clone()
        },
        ..free.clone()
    };
    let answer = answer(&limited);
    let limits = within_limits(&answer.offers, &limited).unwrap();
    let in_time = limits.cheapest_in_time.unwrap();
    let in_budget = limits.fastest_in_budget.unwrap();
    assert!(hours(in_time) <= deadline && cost(in_budget) <= budget);
    for offer in answer.offers.iter().filter(|o| o.fit == Fit::Fits) {
        if hours(offer) <= deadline {
            assert!(
                cost(offer) >= cost(in_time),
                "{} {}",
                offer.card,
                offer.count
            );
        }
        if cost(offer) <= budget {
            assert!(
                hours(offer) >= hours(in_budget),
                "{} {}",
                offer.card,
                offer.count
            );
        }
    }
    assert_eq!(limits.both_kept, limits.nearest.is_none());
}

#[test]
fn where_nothing_keeps_the_limits_the_nearest_is_named_with_what_it_takes() {
    let scenario = scenario(&format!("{LORA}&budget=0.5&deadline=0.05"));
    let answer = answer(&scenario);
    let limits = within_limits(&answer.offers, &scenario).unwrap();
    assert!(!limits.both_kept);
    let nearest = limits.nearest.unwrap();
    let (cost, hours) = (cost(nearest.offer), nearest.offer.hours.unwrap().mid);
    assert!((nearest.over_budget - (cost - 0.5).max(0.0)).abs() < 1e-9);
    assert!((nearest.late_hours - (hours - 0.05).max(0.0)).abs() < 1e-9);
    // Nothing is nearer.
    let excess = |o: &Offer| {
        let cost = o.cost_of_job.unwrap().mid;
        (cost / 0.5 - 1.0).max(0.0) + (o.hours.unwrap().mid / 0.05 - 1.0).max(0.0)
    };
    for offer in answer.offers.iter().filter(|o| o.fit == Fit::Fits) {
        assert!(excess(offer) >= excess(nearest.offer) * (1.0 - 1e-9));
    }
}

#[test]
fn a_service_has_a_budget_a_month_and_no_deadline() {
    let scenario = scenario("m=qwen2.5-7b&do=serve&cards=rtx-4090,l40s&budget=100000&deadline=1");
    let answer = answer(&scenario);
    let limits = within_limits(&answer.offers, &scenario).unwrap();
    assert!(limits.both_kept && limits.fastest_in_budget.is_some());
}

#[test]
fn the_same_offers_in_every_currency() {
    for market in ["cn", "intl", "any"] {
        let link =
            |currency: &str| format!("m=llama-3.1-8b&do=lora&market={market}&cur={currency}");
        let yuan = scenario(&link("cny"));
        let base = answer(&yuan);
        for (code, currency) in [("usd", Currency::Usd), ("eur", Currency::Eur)] {
            let other = answer(&scenario(&link(code)));
            assert_eq!(base.offers.len(), other.offers.len());
            let exchange = cardfit::rental::Exchange::of(&yuan.money);
            // Bills are in whole cents of their currency, so offers within a cent may change places.
            let sorted = |offers: &[Offer]| {
                let mut sorted = offers.to_vec();
                sorted.sort_by(|a, b| (&a.card, a.count).cmp(&(&b.card, b.count)));
                sorted
            };
            for (a, b) in sorted(&base.offers).iter().zip(&sorted(&other.offers)) {
                assert_eq!((&a.card, a.count), (&b.card, b.count), "{market} {code}");
                let (Some(pa), Some(pb)) = (&a.price, &b.price) else {
                    continue;
                };
                assert_eq!(
                    (&pa.provider, pa.billing, &pa.as_of),
                    (&pb.provider, pb.billing, &pb.as_of)
                );
                let converted =
                    exchange.convert(pa.converted_per_card_hour, Currency::Cny, currency);
                assert!((converted / pb.converted_per_card_hour - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn a_cluster_that_nobody_lets_is_said_to_be_priced_from_single_cards() {
    let scenario = scenario("m=llama-2-7b&do=pretrain&tokens=100B&cards=a100-sxm4-80gb&n=64");
    let answer = answer(&scenario);
    let offer = answer.offers.first().unwrap();
    let said = |wanted: fn(&Assumption) -> bool| offer.assumptions.iter().any(wanted);
    assert!(
        said(|a| matches!(a, Assumption::ClusterOfSingles(_))),
        "{:?}",
        offer.assumptions
    );
    // Its network was read in no document either, and the offer says that too.
    assert!(said(|a| matches!(a, Assumption::MachineAssumed)));
}

#[test]
fn a_share_of_a_card_has_that_share_of_memory_speed_and_price() {
    let whole = scenario("m=qwen2.5-0.5b&do=serve&users=1&cards=a100-sxm4-80gb&n=1");
    let half = scenario("m=qwen2.5-0.5b&do=serve&users=1&cards=a100-sxm4-80gb&n=1&slice=0.5");
    let (whole, half) = (answer(&whole), answer(&half));
    let (a, b) = (&whole.offers[0], &half.offers[0]);
    let ratio = b.usable_memory_bytes as f64 / a.usable_memory_bytes as f64;
    assert!((0.48..=0.5).contains(&ratio), "{ratio}");
    assert!((cost(b) / cost(a) - 0.5).abs() < 1e-9);
    assert!(half.assumptions.contains(&Assumption::SliceOfCard(0.5)));
    let speed = |o: &Offer| match &o.run {
        Some(cardfit::offers::Run::Serve { speed, .. }) => speed.tokens_per_s_user.mid,
        _ => 0.0,
    };
    assert!(speed(b) < speed(a) && speed(b) > 0.3 * speed(a));
}

#[test]
fn spot_takes_longer_than_its_work_and_its_range_is_wider() {
    let link = "m=qwen2.5-7b&do=full&samples=50000&cards=h100-sxm-80gb&n=8&market=intl&bill=spot";
    let calm = scenario(&format!("{link}&interrupt=0&ckpt=0&restart=0"));
    let busy = scenario(&format!("{link}&interrupt=0.2"));
    let (calm, busy) = (answer(&calm), answer(&busy));
    let (calm, busy) = (&calm.offers[0], &busy.offers[0]);
    let (a, b) = (calm.hours.unwrap(), busy.hours.unwrap());
    assert!(b.mid > a.mid);
    assert!(b.high / b.low > a.high / a.low);
    assert!(cost(busy) > cost(calm));
    let line = |o: &Offer| {
        let bill = o.bill.as_ref().unwrap().bill();
        bill.lines
            .iter()
            .any(|l| l.kind == cardfit::rental::LineKind::Interruptions)
    };
    assert!(line(busy) && !line(calm));
    assert_eq!(busy.price.as_ref().unwrap().billing, Billing::Spot);
}

#[test]
fn spot_that_costs_more_than_what_stays_is_said_to_be_not_worth_it() {
    let link = "m=qwen2.5-7b&do=full&samples=50000&cards=h100-sxm-80gb&n=8&market=intl";
    let often = scenario(&format!("{link}&bill=spot,on-demand&interrupt=5&restart=2"));
    let offer = answer(&often).offers[0].clone();
    assert_eq!(offer.price.as_ref().unwrap().billing, Billing::OnDemand);
    let worth = |a: &Assumption| matches!(a, Assumption::SpotNotWorthIt(n) if *n >= 1.0);
    assert!(
        offer.assumptions.iter().any(worth),
        "{:?}",
        offer.assumptions
    );
}

#[test]
fn nobody_stops_in_the_middle_of_an_optimizer_step() {
    // Two steps and a little are three steps.
    let hours = |samples: u32| {
        let link =
            format!("m=qwen2.5-7b&do=lora&samples={samples}&epochs=1&batch=64&cards=l40s&n=1");
        answer(&scenario(&link)).offers[0].hours.unwrap().mid
    };
    let step = hours(64);
    assert!((hours(128) / step - 2.0).abs() < 1e-9);
    assert!((hours(130) / step - 3.0).abs() < 1e-9);
    assert!((hours(192) / step - 3.0).abs() < 1e-9);
}

#[test]
fn the_bill_of_an_offer_is_its_cost() {
    for link in [
        LORA,
        "m=qwen3-32b&do=serve&users=100&cards=l40s,a100-sxm4-80gb",
        "m=qwen2.5-14b&do=serve&w=fp8&requests=1M&users=128&cards=l40s&setup=0.5&fetch=200&disk=200&diskprice=0.3&tax=6",
    ] {
        let scenario = scenario(link);
        for offer in answer(&scenario)
            .offers
            .iter()
            .filter(|o| o.fit == Fit::Fits)
        {
            let bill = offer.bill.as_ref().unwrap().bill();
            let cents = 0.01 * bill.lines.len() as f64;
            let paid = offer.cost_of_job.or(offer.cost_per_month).unwrap();
            for (end, value) in [paid.low, paid.mid, paid.high].into_iter().enumerate() {
                let total = bill.total[end].value();
                assert!(
                    (total - value).abs() <= cents,
                    "{link} {} {total} {value}",
                    offer.card
                );
            }
        }
    }
}

#[test]
fn renting_against_buying_with_the_cards_own_power() {
    let scenario = scenario(
        "m=qwen2.5-7b&do=serve&cards=rtx-4090&n=2&hours=12&price=rtx-4090:2&buy=16000&kwh=0.8&pue=1.5&months=40&resale=25",
    );
    let answer = answer(&scenario);
    let case = rent_or_buy(&answer.offers[0], &scenario, Catalog::embedded()).unwrap();
    // Two cards of 450 W, 12 hours on 30 days, 2 yuan an hour each.
    assert!((case.own.per_hour - 0.9 * 1.5 * 0.8).abs() < 1e-9);
    assert!((case.hours_per_month - 360.0).abs() < 1e-9);
    assert!((case.rent_per_hour - 4.0).abs() < 1e-9);
    assert!((case.own.per_month(0.0) - 24_000.0 / 40.0).abs() < 1e-9);
    let none = self::scenario("m=qwen2.5-7b&do=serve&cards=rtx-4090&n=2");
    assert_eq!(
        rent_or_buy(&answer.offers[0], &none, Catalog::embedded()),
        None
    );
}

#[test]
fn a_link_is_asked_for_only_where_cards_can_have_one() {
    for (card, can) in [
        ("rtx-4090", false),
        ("rtx-3090", true),
        ("a100-sxm4-80gb", true),
        ("l40s", false),
        ("ascend-910b3-64gb", true),
    ] {
        let scenario = scenario(&format!("m=qwen2.5-7b&do=serve&cards={card}&n=2"));
        let offer = &answer(&scenario).offers[0];
        let asked = checks(offer, &scenario, Catalog::embedded())
            .into_iter()
            .find_map(|check| match check {
                Check::CardLink { linked, .. } => Some(linked),
                _ => None,
            });
        assert_eq!(asked, Some(can), "{card}");
    }
}

#[test]
fn the_checklist_holds_the_offers_own_numbers() {
    let scenario = scenario("m=llama-3.1-70b&do=serve&users=10&cards=a100-sxm4-80gb&n=4");
    let answer = answer(&scenario);
    let offer = &answer.offers[0];
    let list = checks(offer, &scenario, Catalog::embedded());
    let memory = list.iter().find_map(|check| match check {
        Check::ExclusiveMemory {
            needed_gib,
            usable_gib,
        } => Some((*needed_gib, *usable_gib)),
        _ => None,
    });
    let (needed, usable) = memory.unwrap();
    assert!((usable - offer.usable_memory_bytes as f64 / 1_073_741_824.0).abs() < 1e-9);
    assert!(needed > 30.0 && needed < usable + 20.0);
    // 70.6 billion weights of two bytes are 141 GB.
    let load = list.iter().find_map(|check| match check {
        Check::DiskSpeed { model_gb, .. } => Some(*model_gb),
        _ => None,
    });
    assert!((load.unwrap() - 141.1).abs() < 0.5);
    assert!(
        list.iter()
            .any(|c| matches!(c, Check::CardLink { tensor_ways, .. } if *tensor_ways >= 2))
    );
    let sla = list.iter().find_map(|check| match check {
        Check::Sla {
            minutes_at_three_nines,
            ..
        } => Some(*minutes_at_three_nines),
        _ => None,
    });
    assert!((sla.unwrap() - 43.2).abs() < 1e-9);
}
