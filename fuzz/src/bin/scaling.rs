//! `scaling`: how cost grows with what is given. Prints tables for docs/benchmarks.md; each row is a ratio to the first of
//! its table, measured in the same run, so that the machine does not matter.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use cardfit::catalog::{Catalog, Currency, PriceBook, PriceOffer};
use cardfit::feed;
use cardfit::offers::rank;
use cardfit::rental::{ListFacts, import};
use cardfit::scenario::{Preset, parse, to_query};

/// Seconds that this thread has computed: what else the machine does then does not count. Elsewhere than on Linux, time.
fn computed_s() -> f64 {
    thread_local! {
        static BEGUN: Instant = Instant::now();
    }
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match told.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()) {
        Some(ns) => ns / 1e9,
        None => BEGUN.with(|begun| begun.elapsed().as_secs_f64()),
    }
}

/// Mean over enough tries that the clock's steps do not matter.
fn mean_s<T>(mut work: impl FnMut() -> T) -> f64 {
    const LONG_ENOUGH_S: f64 = 0.25;
    black_box(work());
    let begun = computed_s();
    let mut tries = 0_u32;
    loop {
        black_box(work());
        tries += 1;
        // Looked at seldom: reading the clock costs as much as reading a link.
        if tries.is_power_of_two() || tries.is_multiple_of(4096) {
            let taken = computed_s() - begun;
            if taken > LONG_ENOUGH_S {
                return taken / f64::from(tries);
            }
        }
    }
}

/// A table whose figures are ratios to its first row's.
fn table(out: &mut String, title: &str, of: &str, rows: &[(String, f64)]) {
    let first = rows.first().map_or(1.0, |(_, seconds)| *seconds);
    let _ = writeln!(
        out,
        "### {title}\n\n| {of} | ratio | here, ms |\n| --- | ---: | ---: |"
    );
    for (name, seconds) in rows {
        let _ = writeln!(
            out,
            "| {name} | {:.2} | {:.3} |",
            seconds / first,
            seconds * 1e3
        );
    }
    let _ = writeln!(out);
}

fn main() {
    let catalog = Catalog::embedded();
    let prices = PriceBook::embedded();
    let mut out = String::new();
    let ranked = |link: &str| {
        let scenario = parse(link, catalog).scenario;
        mean_s(|| rank(&scenario, catalog, prices))
    };

    let base = "m=qwen2.5-7b&do=lora";
    let mut steps = vec![(format!("ranking of `{base}`"), ranked(base))];
    let scenario = parse(base, catalog).scenario;
    steps.push((
        "reading its link".to_owned(),
        mean_s(|| parse(base, catalog)),
    ));
    steps.push((
        "writing its link".to_owned(),
        mean_s(|| to_query(&scenario)),
    ));
    let csv = include_str!("../../../core/data/prices.csv");
    steps.push((
        "reading all prices".to_owned(),
        mean_s(|| PriceBook::parse(csv)),
    ));
    let models = include_str!("../../../core/data/models.json");
    let read = || serde_json::from_str::<Vec<cardfit::catalog::Model>>(models);
    steps.push(("reading all models".to_owned(), mean_s(read)));
    table(&mut out, "Steps", "step", &steps);

    let presets: Vec<_> = Preset::all()
        .iter()
        .map(|preset| (format!("`{}`", preset.id), ranked(&preset.query)))
        .collect();
    table(
        &mut out,
        "Rankings of the presets, every card and count",
        "preset",
        &presets,
    );

    let counts: Vec<_> = [1_u32, 8, 64, 512, 4096, 16_384]
        .iter()
        .map(|most| {
            let link =
                format!("m=llama-3.1-70b&do=pretrain&tokens=2T&seq=8192&deadline=24&max={most}");
            (format!("up to {most}"), ranked(&link))
        })
        .collect();
    table(&mut out, "Cards of one job", "cards", &counts);

    let feeds: Vec<_> = [10_usize, 100, 1000, 10_000].map(feed_of).to_vec();
    let read: Vec<_> = feeds
        .iter()
        .map(|(cards, json)| {
            (
                cards.to_string(),
                mean_s(|| feed::read(json, catalog, None)),
            )
        })
        .collect();
    table(&mut out, "Reading a feed", "entries", &read);
    let wanted = parse("m=qwen3-32b&do=serve&users=100&ttft=1", catalog).scenario;
    let shops: Vec<_> = feeds
        .iter()
        .filter_map(|(cards, json)| {
            let (feed, _) = feed::read(json, catalog, None).ok()?;
            let shop = feed::Shop::new(feed, catalog);
            Some((cards.to_string(), mean_s(|| shop.rank(&wanted))))
        })
        .collect();
    table(&mut out, "Ranking an operator's shelf", "entries", &shops);

    let lists: Vec<_> = [100_usize, 1000, 10_000, 100_000]
        .iter()
        .map(|rows| {
            let list = list_of(*rows);
            let facts = ListFacts {
                provider: "A",
                currency: Currency::Usd,
                as_of: "2026-11-30",
                source: "a list",
            };
            (rows.to_string(), mean_s(|| import(&list, facts, catalog)))
        })
        .collect();
    table(&mut out, "Importing a price list", "rows", &lists);
    let scenario = parse(base, catalog).scenario;
    let books: Vec<_> = [1000_usize, 10_000, 100_000]
        .iter()
        .map(|rows| {
            let offers: Vec<PriceOffer> =
                prices.offers.iter().cycle().take(*rows).cloned().collect();
            let book = PriceBook { offers };
            (rows.to_string(), mean_s(|| rank(&scenario, catalog, &book)))
        })
        .collect();
    table(&mut out, "Ranking with a price book", "rows", &books);
    let _ = std::io::stdout().write_all(out.as_bytes());
}

/// A feed of so many entries, as long as feeds may be.
fn feed_of(entries: usize) -> (usize, String) {
    let cards = &Catalog::embedded().cards;
    let offers: Vec<String> = cards
        .iter()
        .cycle()
        .take(entries)
        .enumerate()
        .map(|(n, card)| {
            format!(
                r#"{{"id":"{n}","gpu":"{}","prices":[{{"mode":"hourly","price":{}}}]}}"#,
                card.id,
                1 + n % 7
            )
        })
        .collect();
    let json = format!(
        r#"{{"schema":"cardfit-feed/1","provider":"A","currency":"CNY","generated_at":"2026-11-30","offers":[{}]}}"#,
        offers.join(",")
    );
    (entries, json)
}

/// A list of SkyPilot's form.
fn list_of(rows: usize) -> String {
    let mut list =
        "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n".to_owned();
    for n in 0..rows {
        let name = ["H100", "L40S", "A100-80GB", "RTX4090", "X900"][n % 5];
        let _ = writeln!(
            list,
            "a{n},{name},{},8,32,{}.{n},r{},,",
            1 << (n % 4),
            1 + n % 9,
            n % 40
        );
    }
    list
}
