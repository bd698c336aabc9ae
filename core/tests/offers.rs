//! Rankings as a person would check them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use cardfit::catalog::{Billing, Catalog, Currency, PriceBook, PriceOffer};
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::offers::{Fit, Keeping, Miss, Offer, Ranking, Remedy, Run, bolder, rank};
use cardfit::range::Range;
use cardfit::scenario::{
    Job, Load, ModelChoice, Money, Optimizer, PriceMarket, RankBy, Scenario, Serving, Shelf,
    Training, TrainingAmount, TrainingMethod, TrainingPrecision,
};
use proptest::prelude::*;

fn money() -> Money {
    Money {
        currency: Currency::Usd,
        cny_per_usd: 7.0,
        market: PriceMarket::Abroad,
        ..Money::default()
    }
}

fn shelf(cards: &[&str], count: Option<u32>) -> Shelf {
    Shelf {
        cards: cards.iter().map(|c| (*c).to_owned()).collect(),
        count,
        ..Shelf::default()
    }
}

fn training(model: &str, method: TrainingMethod, shelf: Shelf) -> Scenario {
    Scenario {
        model: ModelChoice::Catalog(model.to_owned()),
        job: Job::Train(Training {
            method,
            amount: TrainingAmount::Tokens(30e6),
            seq_len: 1024,
            global_batch: Some(64),
            precision: TrainingPrecision::Bf16,
            optimizer: Optimizer::Adamw,
            lora_rank: 16,
            base_weights: cardfit::dtype::WeightFormat::Nf4,
            flash_attention: true,
            micro_batch: None,
            recompute: None,
            sharding: None,
            tensor_parallel: None,
            pipeline_parallel: None,
            expert_parallel: None,
            offload: None,
        }),
        shelf,
        money: money(),
        rank: RankBy::Cheapest,
    }
}

fn serving(model: &str, weights: WeightFormat, load: Load, shelf: Shelf) -> Scenario {
    Scenario {
        model: ModelChoice::Catalog(model.to_owned()),
        job: Job::Serve(Serving {
            weights,
            kv: KvFormat::Bits16,
            prompt_tokens: 1000,
            output_tokens: 500,
            load,
            ttft_target_s: None,
            tpot_target_s: None,
            engine: None,
            tensor_parallel: None,
            hours_per_day: 24.0,
            requests_total: None,
            habits: cardfit::scenario::Habits::default(),
        }),
        shelf,
        money: money(),
        rank: RankBy::Cheapest,
    }
}

fn ranked(scenario: &Scenario) -> Ranking {
    rank(scenario, Catalog::embedded(), PriceBook::embedded())
}

fn only(scenario: &Scenario) -> Offer {
    let offers = ranked(scenario).offers;
    assert_eq!(offers.len(), 1);
    offers.into_iter().next().unwrap()
}

/// One price of one card, taken singly by the hour.
fn book(card: &str, price: f64) -> PriceBook {
    PriceBook {
        offers: vec![PriceOffer {
            card: card.to_owned(),
            provider: "Example".to_owned(),
            region: None,
            billing: Billing::OnDemand,
            currency: Currency::Usd,
            price_per_card: price,
            cards_together: 1,
            as_of: "2026-11-01".to_owned(),
            source: "test".into(),
            variant_stated: true,
            low_confidence: false,
            notes: None,
            tenancy: None,
            share: None,
        }],
    }
}

#[test]
fn lora_of_a_7b_model_fits_one_48_gb_card_and_qlora_one_of_24() {
    let lora = training(
        "llama-2-7b",
        TrainingMethod::Lora,
        shelf(&["rtx-6000-ada"], Some(1)),
    );
    assert_eq!(only(&lora).fit, Fit::Fits);
    let qlora = training(
        "llama-2-7b",
        TrainingMethod::Qlora,
        shelf(&["rtx-4090"], Some(1)),
    );
    assert_eq!(only(&qlora).fit, Fit::Fits);
}

#[test]
fn a_70b_model_in_16_bit_misses_one_80_gb_card_by_its_weights() {
    let scenario = serving(
        "llama-3.1-70b",
        WeightFormat::Bf16,
        Load::Concurrency(1),
        shelf(&["h100-sxm-80gb"], None),
    );
    let offers = ranked(&scenario).offers;
    let one = offers.iter().find(|o| o.count == 1).unwrap();
    let Fit::TooSmall { missing_bytes, .. } = one.fit else {
        panic!("{:?}", one.fit);
    };
    // 70.6 B parameters x 2 bytes = 141.1 GB, of which at most 85.9 GB have room; the engine and
    // the upper end of the range add some.
    let missing_gb = missing_bytes as f64 / 1e9;
    assert!((141.1 - 85.9..85.9).contains(&missing_gb), "{missing_gb}");
    let cards = one.remedies.iter().find_map(|r| match r {
        Remedy::Cards(n) => Some(*n),
        _ => None,
    });
    assert!(cards.is_some_and(|n| (2..=4).contains(&n)), "{cards:?}");
    let quantised = Remedy::Weights(WeightFormat::Awq4);
    assert!(one.remedies.contains(&quantised), "{:?}", one.remedies);
}

#[test]
fn three_cards_never_split_32_heads() {
    for count in [3, 6] {
        let scenario = training(
            "llama-2-7b",
            TrainingMethod::FullFinetune,
            shelf(&["a100-sxm4-80gb"], Some(count)),
        );
        let Some(Run::Train { plan, .. }) = only(&scenario).run else {
            panic!("does not fit {count} cards");
        };
        assert!(32 % plan.tensor_parallel == 0, "{plan:?}");
    }
}

#[test]
fn what_the_user_fixes_is_kept() {
    let mut scenario = training(
        "llama-2-7b",
        TrainingMethod::Pretrain,
        shelf(&["h100-sxm-80gb"], Some(8)),
    );
    if let Job::Train(job) = &mut scenario.job {
        job.tensor_parallel = Some(2);
        job.pipeline_parallel = Some(2);
        job.micro_batch = Some(1);
    }
    let Some(Run::Train { plan, .. }) = only(&scenario).run else {
        panic!("does not fit");
    };
    let layout = (
        plan.tensor_parallel,
        plan.pipeline_parallel,
        plan.data_parallel,
    );
    assert_eq!((layout, plan.micro_batch), ((2, 2, 2), 1));
}

#[test]
fn on_demand_costs_price_times_hours_times_cards() {
    let scenario = training(
        "llama-3.1-8b",
        TrainingMethod::Qlora,
        shelf(&["a100-sxm4-80gb"], Some(4)),
    );
    let offer = rank(&scenario, Catalog::embedded(), &book("a100-sxm4-80gb", 1.5))
        .offers
        .remove(0);
    let (hours, cost) = (offer.hours.unwrap(), offer.cost_of_job.unwrap());
    for (hours, cost) in [
        (hours.low, cost.low),
        (hours.mid, cost.mid),
        (hours.high, cost.high),
    ] {
        assert!((cost - 1.5 * 4.0 * hours).abs() < 1e-9 * cost);
    }
}

#[test]
fn the_users_own_price_overrides_all_others() {
    let mut scenario = training(
        "llama-3.1-8b",
        TrainingMethod::Qlora,
        shelf(&["a100-sxm4-80gb"], Some(1)),
    );
    scenario.money.own_prices = vec![("a100-sxm4-80gb".to_owned(), 0.25)];
    let offer = only(&scenario);
    let price = offer.price.unwrap();
    assert_eq!(price.provider, None);
    assert!((offer.cost_per_hour.unwrap().mid - 0.25).abs() < 1e-12);
}

#[test]
fn deadline_and_budget_are_marked_and_put_last() {
    let mut scenario = training(
        "llama-3.1-8b",
        TrainingMethod::Lora,
        shelf(&["a100-sxm4-80gb", "l4"], None),
    );
    let free = ranked(&scenario);
    let mut hours = free
        .offers
        .iter()
        .filter_map(|o| o.hours)
        .collect::<Vec<_>>();
    hours.sort_by(|a, b| a.mid.total_cmp(&b.mid));
    let deadline = hours[hours.len() / 2].mid;
    scenario.money.deadline_hours = Some(deadline);
    let offers = ranked(&scenario).offers;
    for offer in &offers {
        let late = offer.hours.is_some_and(|h| h.mid > deadline);
        assert_eq!(offer.misses.contains(&Miss::Deadline), late);
    }
    let fitting = offers.iter().filter(|o| o.fit == Fit::Fits);
    let misses = fitting.map(|o| !o.misses.is_empty()).collect::<Vec<_>>();
    assert!(misses.is_sorted(), "those that miss come after: {misses:?}");
    assert!(misses.contains(&true) && misses.contains(&false));
}

/// The order that every ranking keeps: what holds its limits at worst, what holds them by its middle values, what does not.
fn stands_by_limits(offers: &[Offer]) {
    let fitting = offers.iter().filter(|o| o.fit == Fit::Fits);
    assert!(fitting.map(Offer::keeping).is_sorted());
}

#[test]
fn what_keeps_its_limits_at_worst_comes_before_what_is_cheaper_and_may_not() {
    let link = |limits: &str| {
        let query = format!("m=gpt-oss-120b&do=serve&users=50{limits}");
        cardfit::scenario::parse(&query, Catalog::embedded()).scenario
    };
    let offers = ranked(&link("")).offers;
    stands_by_limits(&offers);
    let first = offers.first().unwrap();
    assert_eq!(first.keeping(), Keeping::AtWorst);
    // There is a cheaper one in the middle, whose tokens may come too slowly.
    let cost = |offer: &Offer| offer.cost_per_month.map_or(f64::INFINITY, |c| c.mid);
    let cheaper = |o: &&Offer| o.fit == Fit::Fits && cost(o) < cost(first);
    let cheaper: Vec<&Offer> = offers.iter().filter(cheaper).collect();
    assert!(cheaper.iter().any(|o| o.may_miss == [Miss::Tpot]));
    assert!(cheaper.iter().all(|o| o.keeping() != Keeping::AtWorst));
    // The cheapest of those is told beside it; where the first is the cheapest of all, nothing is.
    let told = bolder(&offers, first, RankBy::Cheapest).unwrap();
    let likely = |o: &&&Offer| o.keeping() == Keeping::Likely;
    let least = cheaper
        .iter()
        .filter(likely)
        .map(|o| cost(o))
        .fold(f64::INFINITY, f64::min);
    assert!((cost(told) - least).abs() < 1e-9);
    assert_eq!(bolder(&offers[..1], first, RankBy::Cheapest), None);
    // Where nothing holds at worst, what holds by its middle values still answers.
    let one = "&cards=h100-sxm-80gb,a100-sxm4-80gb&n=1";
    let alone = ranked(&link(one)).offers;
    let h100 = alone.iter().find(|o| o.card == "h100-sxm-80gb").unwrap();
    let Some(Run::Serve { speed, .. }) = &h100.run else {
        panic!("a service");
    };
    let between = f64::midpoint(speed.tpot_s.mid, speed.tpot_s.high);
    let strict = ranked(&link(&format!("{one}&tpot={between}"))).offers;
    let first = strict.first().unwrap();
    assert_eq!(
        (first.card.as_str(), first.keeping()),
        ("h100-sxm-80gb", Keeping::Likely)
    );
}

#[test]
fn machines_are_added_until_a_deadline_is_kept_at_worst() {
    let mut scenario = training(
        "llama-3.1-8b",
        TrainingMethod::FullFinetune,
        shelf(&["a100-sxm4-80gb"], None),
    );
    let job = |scenario: &mut Scenario, tokens: f64| match &mut scenario.job {
        Job::Train(training) => training.amount = TrainingAmount::Tokens(tokens),
        _ => panic!("a training job"),
    };
    job(&mut scenario, 30e9);
    let free = ranked(&scenario).offers;
    let node = free.iter().find(|o| o.count == 8).unwrap().hours.unwrap();
    // In time by the middle of one machine's range and not by its end: two machines are looked at too.
    scenario.money.deadline_hours = Some(f64::midpoint(node.mid, node.high));
    let offers = ranked(&scenario).offers;
    stands_by_limits(&offers);
    let first = offers.first().unwrap();
    assert_eq!((first.keeping(), first.count), (Keeping::AtWorst, 16));
}

#[test]
fn an_unknown_model_has_no_offers() {
    let scenario = training("no such model", TrainingMethod::Lora, Shelf::default());
    assert!(ranked(&scenario).offers.is_empty());
}

#[test]
fn a_shape_without_weights_has_no_offers() {
    let mut scenario = training("llama-2-7b", TrainingMethod::Lora, Shelf::default());
    let mut shape = Catalog::embedded()
        .model("llama-2-7b")
        .unwrap()
        .transformer
        .clone();
    shape.layers = 0;
    scenario.model = ModelChoice::Custom(Box::new(shape));
    assert!(ranked(&scenario).offers.is_empty());
}

fn ranges(offer: &Offer) -> Vec<Range> {
    let mut ranges = vec![offer.memory.needed_bytes];
    let costs = [
        offer.hours,
        offer.cost_per_hour,
        offer.cost_of_job,
        offer.cost_per_month,
        offer.cost_per_million_output_tokens,
        offer.cost_per_million_tokens,
    ];
    ranges.extend(costs.into_iter().flatten());
    match &offer.run {
        Some(Run::Train { speed, .. }) => ranges.extend([speed.step_s, speed.tokens_per_s]),
        Some(Run::Work { speed, .. }) => ranges.extend([speed.batch_s, speed.units_per_s]),
        Some(Run::Serve { speed, .. }) => {
            ranges.extend([speed.ttft_s, speed.tpot_s, speed.tokens_per_s_total]);
        }
        None => {}
    }
    ranges
}

fn check(ranking: &Ranking) {
    let group = |o: &Offer| match o.fit {
        Fit::Fits => 0,
        Fit::Tight { .. } => 1,
        Fit::TooSmall { .. } => 2,
    };
    assert!(ranking.offers.is_sorted_by_key(group));
    for offer in &ranking.offers {
        for range in ranges(offer) {
            let Range { low, mid, high } = range;
            let ordered = 0.0 <= low && low <= mid && mid <= high && high.is_finite();
            assert!(ordered, "{range:?} in {offer:?}");
        }
        assert_eq!(offer.run.is_none(), group(offer) == 2);
        if offer.fit == Fit::Fits {
            assert!(offer.memory.needed_bytes.high <= offer.usable_memory_bytes as f64);
        }
        if let Some(Run::Train { plan, .. }) = &offer.run {
            let ranks = plan.data_parallel * plan.context_parallel;
            assert_eq!(
                offer.count,
                ranks * plan.tensor_parallel * plan.pipeline_parallel
            );
        }
        if let Some(Run::Serve { plan, .. }) = &offer.run {
            assert_eq!(
                offer.count,
                plan.replicas * plan.tensor_parallel * plan.pipeline_parallel
            );
        }
    }
    let mut cards = ranking.offers.iter().map(|o| &o.card).collect::<Vec<_>>();
    cards.sort();
    cards.dedup();
    let best = ranking.offers.iter().filter(|o| o.best_of_card).count();
    assert_eq!(best, cards.len(), "one best count a card");
}

fn model_ids() -> Vec<String> {
    Catalog::embedded()
        .models
        .iter()
        .map(|m| m.id.clone())
        .collect()
}

fn some_cards() -> Shelf {
    shelf(
        &[
            "rtx-4090",
            "h100-sxm-80gb",
            "mi300x",
            "v100-sxm2-16gb",
            "gh200-96gb",
            "t4",
        ],
        None,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_training_offer_is_sound(
        model in prop::sample::select(model_ids()),
        method in prop::sample::select(vec![
            TrainingMethod::Pretrain, TrainingMethod::FullFinetune,
            TrainingMethod::Lora, TrainingMethod::Qlora,
        ]),
        tokens in 1.0..1e15_f64,
        seq_len in 1..200_000_u32,
        global_batch in prop::option::of(1..10_000_u32),
        rank_by in prop::sample::select(vec![RankBy::Cheapest, RankBy::Fastest, RankBy::BestValue]),
    ) {
        let mut scenario = training(&model, method, some_cards());
        scenario.rank = rank_by;
        if let Job::Train(job) = &mut scenario.job {
            job.amount = TrainingAmount::Tokens(tokens);
            job.seq_len = seq_len;
            job.global_batch = global_batch;
        }
        check(&ranked(&scenario));
    }

    #[test]
    fn every_serving_offer_is_sound(
        model in prop::sample::select(model_ids()),
        weights in prop::sample::select(vec![
            WeightFormat::Bf16, WeightFormat::Fp8, WeightFormat::Awq4, WeightFormat::Q4KM,
        ]),
        rate in prop::option::of(1e-3..1e4_f64),
        concurrency in 1..5_000_u32,
        requests in prop::option::of(1.0..1e9_f64),
        prompt in 1..100_000_u32,
        output in 1..10_000_u32,
        target in prop::option::of(1e-4..10.0_f64),
    ) {
        let load = rate.map_or(Load::Concurrency(concurrency), Load::RequestsPerSecond);
        let mut scenario = serving(&model, weights, load, some_cards());
        if let Job::Serve(job) = &mut scenario.job {
            job.prompt_tokens = prompt;
            job.output_tokens = output;
            job.requests_total = requests;
            job.ttft_target_s = target;
            job.tpot_target_s = target.map(|t| t / 10.0);
        }
        check(&ranked(&scenario));
    }

    #[test]
    fn a_job_costs_more_where_the_hour_or_the_work_does(
        price in 0.01..10.0_f64, dearer in 1.0..3.0_f64, work in 1e6..1e9_f64, more in 1.0..3.0_f64,
    ) {
        let cost = |price: f64, tokens: f64| {
            let mut scenario = training(
                "llama-3.1-8b", TrainingMethod::Lora, shelf(&["a100-sxm4-80gb"], Some(2)),
            );
            if let Job::Train(job) = &mut scenario.job {
                job.amount = TrainingAmount::Tokens(tokens);
            }
            let book = book("a100-sxm4-80gb", price);
            rank(&scenario, Catalog::embedded(), &book).offers[0].cost_of_job.unwrap()
        };
        let base = cost(price, work);
        for dear in [cost(price * dearer, work), cost(price, work * more)] {
            prop_assert!(dear.low >= base.low && dear.mid >= base.mid && dear.high >= base.high);
        }
    }
}
