//! The readers that are run, what their inputs are made of, and what must hold of what they read.

use cardfit::bring::{BringError, Brought, read_bytes, read_text};
use cardfit::catalog::{Catalog, Currency, PriceBook};
use cardfit::check::{Finding, check_listing, effect, read_machine, report, tell};
use cardfit::offers::{Ranking, rank};
use cardfit::rental::{BookEdits, ListFacts, import, write_rows};
use cardfit::scenario::{
    ModelChoice, PARAMS, Parsed, Scenario, from_json, parse, to_query, with_fragment,
};
use cardfit::share::{BOOK_PARAM, Stamp, pack, unpack};
use cardfit::text::Lang;
use cardfit::{embed, feed};
use serde_json::{Value, json};

use crate::{Dice, bytes, json as json_changes, mutated, mutated_whole};

const LISTINGS: &str = include_str!("../../core/tests/check/listings.txt");
const PRINTOUTS: &str = include_str!("../../core/tests/check/printouts.txt");
const CHECK_WORDS: &str = include_str!("../../core/data/check/words.json");
const LINKS: &str = include_str!("../../core/tests/links/v1.tsv");
const CONFIGS: &str = include_str!("../../core/tests/bring/configs.json");
const FEEDS: [&str; 2] = [
    include_str!("../../core/tests/feeds/minimal.json"),
    include_str!("../../page/public/demo/feed.json"),
];
const LISTS: [&str; 3] = [
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n\
     a_8gpu,H100,8,128,1600,23.60,eu-north1,\"{'Gpus': [{'Name': 'H100', 'Count': 8, 'MemoryInfo': {'SizeInMiB': 81920}}]}\",10.00\n\
     b_1gpu,L40S,1,8,32,1.5484,us-central1,,\n\
     cpu,,0,4,16,0.0992,eu-north1,,\n\
     c_1gpu,RTX4090,1,16,64,nan,cn-east,,0.31\n",
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,provider\n\
     gpu_1x_a100,us-east-1,1.29,30,200,1,A100,40,False,512,lambdalabs\n\
     8xh100,eu,12.8,208,1800,8,H100,80,True,,vastai\n\
     pod,eu,0.99,8,32,1,RTX4090,48,False,,runpod\n",
    "card,provider,region,billing,currency,price_per_card,cards_together,as_of,source,variant_stated,low_confidence,notes\n\
     RTX 4090,me,,on_demand,CNY,1.9,1,2026-11-02,my contract,true,false,\n\
     h100-sxm-80gb,\"a, b\",上海,monthly,USD,1500,8,2026-11,\"x\"\"y\",true,false,\"多行\n备注\"\n",
];

/// A reader that is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Text of a listing.
    Listing,
    /// Printouts of a machine.
    Printout,
    /// The query of a link.
    Url,
    /// A shared link's `#`: what was brought, a price book, the stamp.
    Fragment,
    /// A scenario as JSON.
    Scenario,
    /// An operator's feed.
    Feed,
    /// A price list of SkyPilot, gpuhunt or our own form.
    Prices,
    /// A model's `config.json`.
    Config,
    /// A header or an index of safetensors.
    Safetensors,
    /// A header of GGUF.
    Gguf,
    /// Parameters of the widget and messages to it.
    Embed,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 11] = [
        Self::Listing,
        Self::Printout,
        Self::Url,
        Self::Fragment,
        Self::Scenario,
        Self::Feed,
        Self::Prices,
        Self::Config,
        Self::Safetensors,
        Self::Gguf,
        Self::Embed,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Listing => "listing",
            Self::Printout => "printout",
            Self::Url => "url",
            Self::Fragment => "fragment",
            Self::Scenario => "scenario",
            Self::Feed => "feed",
            Self::Prices => "prices",
            Self::Config => "config",
            Self::Safetensors => "safetensors",
            Self::Gguf => "gguf",
            Self::Embed => "embed",
        }
    }

    /// The target of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }
}

/// What a run came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ran {
    /// Bytes of the input.
    pub bytes: u64,
    /// Findings of a check; for other readers 1 where the input was taken and 0 where it was refused.
    pub taken: u64,
}

/// A target with what its inputs are made of.
pub struct Runner {
    target: Target,
    texts: Vec<String>,
    values: Vec<Value>,
    headers: Vec<Vec<u8>>,
    words: Vec<&'static str>,
}

impl Runner {
    /// Prepares a target.
    pub fn new(target: Target) -> Self {
        let mut runner = Self {
            target,
            texts: Vec::new(),
            values: Vec::new(),
            headers: Vec::new(),
            words: words(target),
        };
        let json = |texts: &[&str]| -> Vec<Value> {
            texts
                .iter()
                .filter_map(|text| serde_json::from_str(text).ok())
                .collect()
        };
        match target {
            // Mostly its own kind; now and then the other's.
            Target::Listing => runner.texts = either(LISTINGS, PRINTOUTS),
            Target::Printout => runner.texts = either(PRINTOUTS, LISTINGS),
            Target::Url => runner.texts = links(),
            Target::Fragment => runner.texts = shared_links(),
            Target::Scenario => runner.values = scenarios(),
            Target::Feed => runner.values = json(&FEEDS),
            Target::Prices => runner.texts = LISTS.map(str::to_owned).to_vec(),
            Target::Config => runner.values = configs(),
            Target::Safetensors => runner.values = tensors(),
            Target::Gguf => runner.headers = bytes::gguf_headers(),
            Target::Embed => {
                runner.values = messages();
                runner.texts = vec![
                    "widget=card&layout=compact&hide=header,form&accent=0a7&providers=a,b&ref=x&feed=https://a.example/f.json&order=event&m=qwen3-32b&do=serve".to_owned(),
                    "feed=message&allow=https://a.example,https://b.example&theme=dark&lang=zh-CN&cur=cny".to_owned(),
                ];
            }
        }
        runner
    }

    /// Reads the input of that run of that seed.
    ///
    /// # Errors
    /// What does not hold, in words. A panic passes through.
    pub fn run(&self, seed: u64, run: u64) -> Result<Ran, String> {
        let mut dice = Dice::new(seed, run);
        let text = |dice: &mut Dice| match self.target {
            Target::Listing | Target::Printout => mutated(dice, &self.texts, &self.words),
            _ => mutated_whole(dice, &self.texts, &self.words),
        };
        let value = |dice: &mut Dice| json_changes::mutated(dice, &self.values, &self.words);
        // JSON is mostly kept JSON; some of it is damaged as text.
        let json = |dice: &mut Dice| {
            let whole = value(dice).to_string();
            match dice.below(16) {
                0 => mutated_whole(dice, &[whole], &self.words),
                _ => whole,
            }
        };
        let read = match self.target {
            Target::Listing | Target::Printout => {
                let input = text(&mut dice);
                pasted(self.target, &input, run).map(|taken| (input.len(), taken))
            }
            Target::Url => {
                let input = text(&mut dice);
                link(&input, run).map(|taken| (input.len(), taken))
            }
            Target::Fragment => {
                let input = text(&mut dice);
                fragment(&input, run).map(|taken| (input.len(), taken))
            }
            Target::Scenario => {
                let input = json(&mut dice);
                scenario(&input, run).map(|taken| (input.len(), taken))
            }
            Target::Feed => {
                let input = json(&mut dice);
                shelf(&input, run).map(|taken| (input.len(), taken))
            }
            Target::Prices => {
                let input = text(&mut dice);
                prices(&input).map(|taken| (input.len(), taken))
            }
            Target::Config => {
                let input = json(&mut dice);
                brought(read_text(&input), run).map(|taken| (input.len(), taken))
            }
            Target::Safetensors => {
                let input = json(&mut dice);
                let mut length = input.len() as u64;
                if dice.below(16) == 0 {
                    length = length.wrapping_add(dice.bits() >> dice.below(64));
                }
                let mut file = length.to_le_bytes().to_vec();
                file.extend_from_slice(input.as_bytes());
                brought(read_text(&input), run)?;
                brought(read_bytes(&file), run).map(|taken| (file.len(), taken))
            }
            Target::Gguf => {
                let input = bytes::mutated(&mut dice, &self.headers);
                brought(read_bytes(&input), run).map(|taken| (input.len(), taken))
            }
            Target::Embed => {
                let (query, message) = (text(&mut dice), json(&mut dice));
                embedded(&query, &message, run).map(|taken| (query.len() + message.len(), taken))
            }
        };
        read.map(|(bytes, taken)| Ran {
            bytes: bytes as u64,
            taken,
        })
    }
}

/// Every so many runs the input is estimated as well: an answer costs a thousand times what reading costs.
const ESTIMATED: u64 = 65_536;

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn pasted(target: Target, input: &str, run: u64) -> Result<u64, String> {
    let prices = PriceBook::embedded();
    // Words and estimates cost more than reading: a share of the runs goes on to them.
    let tells = run.is_multiple_of(16);
    let said = |findings: &[Finding]| {
        if tells {
            for finding in findings {
                let _told = tell(Lang::ZhCn, finding, catalog());
            }
        }
        findings.len() as u64
    };
    Ok(if target == Target::Listing {
        let report = check_listing(input, catalog(), prices);
        let all: Vec<_> = report.findings().cloned().collect();
        said(&all)
    } else {
        let machine = read_machine(input, catalog());
        if run.is_multiple_of(4096) {
            let scenario = parse("m=llama-3.1-8b&do=qlora", catalog()).scenario;
            let _effect = effect(&scenario, &machine, catalog(), prices);
        }
        said(&report(machine, catalog()).findings)
    })
}

/// What was read says itself in a canonical link, which is read as the same without a correction.
fn settled(parsed: &Parsed, run: u64) -> Result<(), String> {
    // Two more readings cost three times the first: long runs do them for every eighth input.
    if !run.is_multiple_of(8) {
        return Ok(());
    }
    let canonical = to_query(&parsed.scenario);
    let again = parse(&canonical, catalog());
    ensure(again.scenario == parsed.scenario, || {
        format!("another scenario by its own link: {canonical}")
    })?;
    ensure(again.problems.iter().all(|p| p.is_warning()), || {
        format!(
            "its own link is corrected: {canonical}: {:?}",
            again.problems
        )
    })?;
    ensure(to_query(&again.scenario) == canonical, || {
        format!("the canonical link changes: {canonical}")
    })?;
    if run.is_multiple_of(32) {
        for problem in &parsed.problems {
            let message = problem.message(Lang::ZhCn);
            ensure(!message.is_empty() && !message.contains("problem."), || {
                format!("a problem without words: {problem:?}")
            })?;
        }
    }
    if run.is_multiple_of(ESTIMATED) {
        answered(
            &rank(&parsed.scenario, catalog(), PriceBook::embedded()),
            &canonical,
        )?;
    }
    Ok(())
}

fn answered(ranking: &Ranking, about: &str) -> Result<(), String> {
    for offer in &ranking.offers {
        let ranges = [
            offer.hours,
            offer.cost_per_hour,
            offer.cost_of_job,
            offer.cost_per_month,
        ];
        for range in ranges.into_iter().flatten() {
            let ends = [range.low, range.mid, range.high];
            let good = ends.iter().all(|end| end.is_finite() && *end >= 0.0)
                && range.low <= range.mid
                && range.mid <= range.high;
            ensure(good, || {
                format!("{about}: {} x {}: {range:?}", offer.count, offer.card)
            })?;
        }
    }
    Ok(())
}

fn link(input: &str, run: u64) -> Result<u64, String> {
    let parsed = parse(input, catalog());
    settled(&parsed, run)?;
    Ok(u64::from(parsed.problems.is_empty()))
}

fn fragment(input: &str, run: u64) -> Result<u64, String> {
    let parsed = parse(input, catalog());
    settled(&parsed, run)?;
    let query = to_query(&parsed.scenario);
    if let (true, Ok(link)) = (run.is_multiple_of(8), with_fragment(&query)) {
        let back = parse(&link, catalog());
        ensure(back.scenario == parsed.scenario, || {
            format!("another scenario behind its hash: {link}")
        })?;
    }
    let mut taken = 0;
    for pair in input.split(['?', '#', '&']) {
        let value = pair.split_once('=').map_or(pair, |(_, value)| value);
        if let Some(stamp) = Stamp::read(value) {
            taken = 1;
            let written = stamp.write();
            let again = Stamp::read(&written);
            ensure(again.is_some_and(|again| again.write() == written), || {
                format!("a stamp does not survive: {value} -> {written}")
            })?;
        }
        if let Some(text) = unpack(value) {
            let edits = BookEdits::from_json(&text);
            let again = BookEdits::from_json(&edits.to_json());
            ensure(again == edits, || {
                format!("a price book does not survive: {text}")
            })?;
            ensure(unpack(&pack(&text)).as_ref() == Some(&text), || {
                format!("a text does not survive packing: {text}")
            })?;
            if !edits.is_empty() && run.is_multiple_of(64) {
                taken = 1;
                let book = edits.apply(PriceBook::embedded());
                if run.is_multiple_of(ESTIMATED) {
                    answered(&rank(&parsed.scenario, catalog(), &book), value)?;
                }
            }
        }
    }
    Ok(taken)
}

fn scenario(input: &str, run: u64) -> Result<u64, String> {
    match from_json(input, catalog()) {
        Ok(parsed) => {
            settled(&parsed, run)?;
            if run.is_multiple_of(16) {
                let json = serde_json::to_string(&parsed.scenario).map_err(|e| e.to_string())?;
                let again = from_json(&json, catalog()).map_err(|p| format!("{p:?}: {json}"))?;
                ensure(again.scenario == parsed.scenario, || {
                    format!("another scenario by its own JSON: {json}")
                })?;
            }
            Ok(1)
        }
        Err(problem) => {
            ensure(!problem.message(Lang::En).is_empty(), || {
                format!("a problem without words: {problem:?}")
            })?;
            Ok(0)
        }
    }
}

fn shelf(input: &str, run: u64) -> Result<u64, String> {
    let (feed, issues) = match feed::read(input, catalog(), Some("2026-11-30")) {
        Ok((feed, issues)) => (Some(feed), issues),
        Err(issues) => (None, issues),
    };
    ensure(feed.is_some() || !issues.is_empty(), || {
        "refused without a reason".to_owned()
    })?;
    if run.is_multiple_of(16) {
        for issue in &issues {
            ensure(!issue.message(Lang::ZhCn).is_empty(), || {
                format!("no words for {issue:?}")
            })?;
        }
    }
    let Some(feed) = feed else {
        return Ok(0);
    };
    for offer in &feed.offers {
        for price in &offer.prices {
            ensure(
                price.price_per_card.is_finite() && price.price_per_card > 0.0,
                || format!("a price of {}", price.price_per_card),
            )?;
        }
    }
    if run.is_multiple_of(256) {
        let shop = feed::Shop::new(feed, catalog());
        let _cards = shop.cards();
        if run.is_multiple_of(ESTIMATED) {
            let wanted = parse("m=llama-3.1-8b&do=serve&users=20", catalog()).scenario;
            answered(&shop.rank(&wanted), "a feed")?;
        }
    }
    Ok(1)
}

fn prices(input: &str) -> Result<u64, String> {
    let facts = ListFacts {
        provider: "A",
        currency: Currency::Cny,
        as_of: "2026-11-30",
        source: "a list",
    };
    let read = import(input, facts, catalog());
    for offer in &read.offers {
        ensure(
            offer.price_per_card.is_finite() && offer.price_per_card > 0.0,
            || format!("a price of {}", offer.price_per_card),
        )?;
        ensure(
            offer.cards_together > 0 && catalog().card(&offer.card).is_some(),
            || format!("an unusable row: {offer:?}"),
        )?;
    }
    if !read.offers.is_empty() {
        let written = write_rows(&read.offers);
        let again = import(&written, facts, catalog());
        ensure(again.offers == read.offers, || {
            format!(
                "rows do not survive: {written}\n{:?}\n{:?}",
                again.refused, again.offers
            )
        })?;
    }
    Ok(u64::from(!read.offers.is_empty()))
}

/// What was read of a model is a shape that a link carries whole.
fn brought(read: Result<Brought, BringError>, run: u64) -> Result<u64, String> {
    let model = match read {
        Ok(model) => model,
        Err(error) => {
            ensure(
                !run.is_multiple_of(16) || !error.message(Lang::ZhCn).is_empty(),
                || format!("no words for {error:?}"),
            )?;
            return Ok(0);
        }
    };
    let params = model.shape.params();
    let _cache = model.shape.kv_elements(1_000_000);
    ensure(params > 0, || "a model without parameters".to_owned())?;
    let wanted = Scenario {
        model: ModelChoice::Custom(Box::new(model.shape)),
        ..parse("do=serve", catalog()).scenario
    };
    if !run.is_multiple_of(4) {
        return Ok(1);
    }
    let query = to_query(&wanted);
    let parsed = parse(&query, catalog());
    ensure(parsed.scenario == wanted, || {
        format!(
            "the link does not carry what was read: {query}: {:?}",
            parsed.problems
        )
    })?;
    settled(&parsed, run)?;
    Ok(1)
}

fn embedded(query: &str, message: &str, run: u64) -> Result<u64, String> {
    let config = embed::config::Config::parse(query);
    settled(&parse(&config.scenario, catalog()), run)?;
    let taken = embed::message::read(message, "w1").is_ok();
    Ok(u64::from(taken))
}

fn either(own: &str, other: &str) -> Vec<String> {
    let parts = |text: &str| -> Vec<String> {
        text.split("##### ")
            .skip(1)
            .filter_map(|part| part.split_once('\n'))
            .map(|(_, text)| text.to_owned())
            .collect()
    };
    let mut all = parts(own);
    let some: Vec<String> = parts(other).into_iter().step_by(8).collect();
    all.extend(some);
    all
}

fn links() -> Vec<String> {
    let lines = LINKS.lines().filter(|line| !line.starts_with("# "));
    let links = lines.filter_map(|line| line.split('\t').next());
    links
        .filter(|link| !link.is_empty())
        .map(str::to_owned)
        .collect()
}

fn shared_links() -> Vec<String> {
    let mut edits = BookEdits::default();
    let shipped = PriceBook::embedded();
    edits.add(shipped.offers.iter().take(2).cloned());
    let book = pack(&edits.to_json());
    let stamps = [
        "2026-11-30~rtx-4090~2~5.26~12300",
        "2026-11-30",
        "2026-11~h100~8~~1.2万",
    ];
    links()
        .iter()
        .zip(stamps.iter().cycle())
        .map(|(link, stamp)| {
            let query = format!(
                "{}&was={stamp}&{BOOK_PARAM}={book}",
                link.trim_start_matches('?')
            );
            with_fragment(&query).unwrap_or_else(|refused| refused.without)
        })
        .collect()
}

fn scenarios() -> Vec<Value> {
    links()
        .iter()
        .filter_map(|link| serde_json::to_value(parse(link, catalog()).scenario).ok())
        .collect()
}

fn configs() -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(CONFIGS).unwrap_or_default();
    all.iter()
        .filter_map(|one| one.get("config").cloned())
        .collect()
}

fn tensors() -> Vec<Value> {
    let shape =
        |dims: &[u64], dtype: &str| json!({"dtype": dtype, "shape": dims, "data_offsets": [0, 64]});
    let mut dense = json!({"__metadata__": {"format": "pt"}});
    let mut experts = json!({});
    let mut files = json!({});
    for block in 0..3 {
        for (part, dims) in [
            ("self_attn.q_proj.weight", &[2048, 1024][..]),
            ("self_attn.k_proj.weight", &[1024, 1024]),
            ("self_attn.v_proj.weight", &[1024, 1024]),
            ("self_attn.o_proj.weight", &[1024, 2048]),
            ("self_attn.q_norm.weight", &[128]),
            ("mlp.gate_proj.weight", &[3072, 1024]),
            ("mlp.up_proj.weight", &[3072, 1024]),
            ("mlp.down_proj.weight", &[1024, 3072]),
            ("input_layernorm.weight", &[1024]),
        ] {
            let name = format!("model.layers.{block}.{part}");
            dense[&name] = shape(dims, "BF16");
            files[&name] = json!("model-00001-of-00002.safetensors");
        }
        for expert in 0..4 {
            let name = format!("model.layers.{block}.mlp.experts.{expert}.w1.weight");
            experts[&name] = shape(&[768, 1024], "F8_E4M3");
        }
        experts[&format!("model.layers.{block}.self_attn.qkv_proj.weight")] =
            shape(&[3072, 1024], "BF16");
        experts[&format!("model.layers.{block}.mlp.gate.weight")] = shape(&[4, 1024], "F32");
    }
    for values in [&mut dense, &mut experts] {
        values["model.embed_tokens.weight"] = shape(&[151_936, 1024], "BF16");
        values["lm_head.weight"] = shape(&[151_936, 1024], "BF16");
    }
    let index = json!({"metadata": {"total_size": 1_192_099_840_u64}, "weight_map": files});
    vec![dense, experts, index]
}

fn messages() -> Vec<Value> {
    let message = |kind: &str, payload: Value| json!({"ns": "cardfit", "v": 1, "id": "w1", "type": kind, "payload": payload});
    let feed: Value = FEEDS
        .first()
        .and_then(|f| serde_json::from_str(f).ok())
        .unwrap_or_default();
    vec![
        message("set-scenario", json!({"query": "?m=qwen3-32b&do=serve"})),
        message("set-feed", json!({"feed": feed})),
        message("set-feed", json!({"feed": FEEDS[0]})),
        message("set-theme", json!({"theme": "dark", "accent": "#0a7d55"})),
        message("set-language", json!({"lang": "zh-CN"})),
    ]
}

fn words(target: Target) -> Vec<&'static str> {
    match target {
        Target::Listing | Target::Printout => CHECK_WORDS
            .split(['|', '"', ':', ',', '{', '}', '\n'])
            .filter(|word| !word.is_empty())
            .chain([
                "A100", "RTX 4090", "H100", "910B3", "MiB", "GB/s", "TFLOPS", "元/时", "¥", "8x",
            ])
            .collect(),
        Target::Url | Target::Fragment | Target::Scenario | Target::Embed => {
            let names = PARAMS.iter().map(|param| param.name);
            let paths = PARAMS.iter().map(|param| param.path);
            let values = [
                "&",
                "=",
                "#",
                "custom",
                "serve",
                "pretrain",
                "lora",
                "image",
                "video",
                "rtx-4090",
                "yes",
                "none",
                "inf",
                "NaN",
                "1e18",
                "5万",
                "10k",
                "%zz",
                "%E5%8D",
                "4:heads:8:2:64",
                "4:mla:8:0:4:4:4:4",
                "1:linear:1:1:1",
                "bf16",
                "q4_k_m",
                "spot",
                "own",
                "was=",
                "~",
                "set-feed",
                "payload",
                "query",
                "feed",
                "heads",
                "latent",
                "catalog",
            ];
            names.chain(paths).chain(values).collect()
        }
        Target::Feed => vec![
            "schema",
            "provider",
            "currency",
            "generated_at",
            "valid_until",
            "offers",
            "id",
            "gpu",
            "vram_gb",
            "gpu_counts",
            "per_node",
            "max_nodes",
            "node_only",
            "stock",
            "state",
            "free_gpus",
            "max_per_order",
            "prices",
            "mode",
            "price",
            "price_per_month",
            "term_months",
            "hourly",
            "monthly",
            "reserved",
            "spot",
            "order_url",
            "region",
            "name",
            "CNY",
            "USD",
            "RTX 4090",
            "H100",
            "A100 80GB",
            "low",
            "out",
            "javascript:alert(1)",
            "https://a.example/?g={gpu}&n={count}",
            "{",
            "2026-02-30",
            "99999-01-01",
            "云",
            "en",
            "zh-CN",
        ],
        Target::Prices => vec![
            ",",
            "\"",
            "\"\"",
            "\n",
            "\r\n",
            "'SizeInMiB':",
            "nan",
            "inf",
            "1e400",
            "-0",
            "0.0000001",
            "RTX4090",
            "H100",
            "A100",
            "上海",
            "True",
            "price",
            "gpu_name",
            "AcceleratorName",
            "Price",
            "card",
            "price_per_card",
            "2026-13-01",
            "spot",
            "\u{feff}",
        ],
        Target::Config | Target::Safetensors | Target::Gguf => vec![
            "model_type",
            "num_hidden_layers",
            "hidden_size",
            "num_attention_heads",
            "num_key_value_heads",
            "head_dim",
            "intermediate_size",
            "vocab_size",
            "num_experts",
            "n_routed_experts",
            "num_experts_per_tok",
            "moe_intermediate_size",
            "kv_lora_rank",
            "q_lora_rank",
            "qk_rope_head_dim",
            "sliding_window",
            "layer_types",
            "text_config",
            "vision_config",
            "quantization_config",
            "torch_dtype",
            "tie_word_embeddings",
            "llama",
            "deepseek_v3",
            "qwen3_next",
            "gpt_oss",
            "mamba",
            "full_attention",
            "linear_attention",
            "fp8",
            "awq",
            "bits",
            "first_k_dense_replace",
            "decoder_sparse_step",
            "weight_map",
            "metadata",
            "total_size",
            "dtype",
            "shape",
            "BF16",
            "F8_E4M3",
            "I4",
            "U8",
            "model.layers.0.mlp.experts.1.w1.weight",
            "model.layers.4294967295.self_attn.q_proj.weight",
            "model.embed_tokens.weight",
            "__metadata__",
            "layers",
            "block_configs",
            "n_embd",
            "d_model",
        ],
    }
}
