//! From given values to a complete scenario.

use super::choice::{Choice, JobKind};
use super::limits;
use super::number;
use super::own_card;
use super::params::Param;
use super::problem::{Outcome, Problem, ProblemKind};
use super::reader::{Reader, within};
use super::{
    Extras, Habits, Job, Load, ModelChoice, Money, Purchase, Scenario, Serving, Shelf, SpotTerms,
    SubjectKind, Training, TrainingAmount, TrainingMethod, defaults, nearest, shape, subject,
};
use crate::catalog::Billing;
use crate::dtype::WeightFormat;

/// Reads every field; what is not given, or cannot be used, gets its default.
pub(super) fn scenario(reader: &mut Reader<'_>) -> Scenario {
    version(reader);
    let named = reader.has("m");
    let mut model = model(reader);
    let kind = kind(reader, &mut model, named);
    let job = match kind {
        JobKind::Train(method) => Job::Train(training(reader, method)),
        JobKind::Serve => Job::Serve(serving(reader, &model)),
        other => subject::read(reader, other, &model)
            .unwrap_or_else(|| Job::Serve(defaults::serving(&model))),
    };
    let shelf = shelf(reader);
    let money = money(reader);
    let rank = reader.choice_or("sort", Default::default());
    Scenario {
        model,
        job,
        shelf,
        money,
        rank,
    }
}

fn version(reader: &mut Reader<'_>) {
    let Some(given) = reader.take("v") else {
        return;
    };
    if given.trim() != "1" {
        reader.problem(Problem::new(
            "v",
            ProblemKind::NewerVersion,
            &given,
            Outcome::Used("1".to_owned()),
        ));
    }
}

/// The kind of job, and a model that it can be about: the one word that people use of several
/// kinds of models is taken as meant for the model named; where there is no such job for it, the
/// job's usual model takes its place.
fn kind(reader: &mut Reader<'_>, model: &mut ModelChoice, named: bool) -> JobKind {
    let about = subject::kind_of(model, reader.catalog);
    let usual = match named {
        true => about.usual_job(),
        false => SubjectKind::Language.usual_job(),
    };
    let asked = reader.choice_or("do", usual);
    let kind = match named {
        true => asked.meant_for(about),
        false => asked,
    };
    if kind.is_about(about) {
        return kind;
    }
    let taken = subject::usual_model(kind);
    if named {
        let given = match model {
            ModelChoice::Catalog(id) => id.clone(),
            ModelChoice::Custom(_) => "custom".to_owned(),
        };
        reader.problem(
            Problem::new(
                "m",
                ProblemKind::NotForThisJob,
                &given,
                Outcome::Used(taken.to_owned()),
            )
            .bound(taken),
        );
    }
    *model = ModelChoice::Catalog(taken.to_owned());
    kind
}

fn model(reader: &mut Reader<'_>) -> ModelChoice {
    let given = reader.take("m");
    match given.as_deref().map(str::trim) {
        None => ModelChoice::Catalog(defaults::MODEL.to_owned()),
        Some(word) if word.eq_ignore_ascii_case("custom") => {
            ModelChoice::Custom(Box::new(shape::read(reader)))
        }
        Some(name) => match reader.catalog.subject(name) {
            Some(found) => ModelChoice::Catalog(found.id().to_owned()),
            None => {
                let near = nearest::model(reader.catalog, name).unwrap_or_default();
                reader.problem(
                    Problem::new(
                        "m",
                        ProblemKind::UnknownModel,
                        name,
                        Outcome::Used(defaults::MODEL.to_owned()),
                    )
                    .bound(near),
                );
                ModelChoice::Catalog(defaults::MODEL.to_owned())
            }
        },
    }
}

fn training(reader: &mut Reader<'_>, method: TrainingMethod) -> Training {
    let plain = defaults::training(method);
    Training {
        method,
        amount: amount(reader, method),
        seq_len: reader.whole_or(&limits::SEQ_LEN, plain.seq_len),
        global_batch: reader.whole_or_open(&limits::GLOBAL_BATCH),
        precision: reader.choice_or("prec", plain.precision),
        optimizer: reader.choice_or("opt", plain.optimizer),
        lora_rank: reader.whole_or(&limits::LORA_RANK, plain.lora_rank),
        base_weights: base_weights(reader, method, plain.base_weights),
        flash_attention: reader.flag_or("flash", plain.flash_attention),
        micro_batch: reader.whole_or_open(&limits::MICRO_BATCH),
        recompute: reader.choice_or_open("recompute"),
        sharding: reader.choice_or_open("shard"),
        tensor_parallel: reader.whole_or_open(&limits::TENSOR_PARALLEL),
        pipeline_parallel: reader.whole_or_open(&limits::PIPELINE_PARALLEL),
        expert_parallel: reader.whole_or_open(&limits::EXPERT_PARALLEL),
        offload: reader.choice_or_open("offload"),
    }
}

/// Format of frozen weights, which only QLoRA leaves to choose.
fn base_weights(
    reader: &mut Reader<'_>,
    method: TrainingMethod,
    plain: WeightFormat,
) -> WeightFormat {
    match method {
        TrainingMethod::Qlora => reader.choice_or("w", plain),
        _ => plain,
    }
}

/// Tokens, or samples and epochs; where both are given, samples count less.
fn amount(reader: &mut Reader<'_>, method: TrainingMethod) -> TrainingAmount {
    let plain = defaults::amount(method);
    let by_tokens = matches!(plain, TrainingAmount::Tokens(_));
    if reader.has("tokens") {
        reader.refuse("samples", ProblemKind::Conflict, "tokens");
        reader.refuse("epochs", ProblemKind::Conflict, "tokens");
        let otherwise = match plain {
            TrainingAmount::Tokens(tokens) => tokens,
            TrainingAmount::Samples { count, epochs } => {
                count * epochs * f64::from(defaults::TUNING_SEQ)
            }
        };
        return TrainingAmount::Tokens(reader.number_or(&limits::TOKENS, otherwise));
    }
    if by_tokens && !reader.has("samples") {
        return plain;
    }
    TrainingAmount::Samples {
        count: reader.number_or(&limits::SAMPLES, defaults::TUNING_SAMPLES),
        epochs: reader.number_or(&limits::EPOCHS, defaults::epochs(method)),
    }
}

fn serving(reader: &mut Reader<'_>, model: &ModelChoice) -> Serving {
    let plain = defaults::serving(model);
    let load = if reader.has("rps") && !reader.has("users") {
        // A rate that cannot be used leaves the default load, in users.
        match reader.number_or_open(&limits::REQUEST_RATE) {
            Some(rate) => Load::RequestsPerSecond(rate),
            None => plain.load,
        }
    } else {
        reader.refuse("rps", ProblemKind::Conflict, "users");
        Load::Concurrency(reader.whole_or(&limits::CONCURRENCY, defaults::USERS))
    };
    Serving {
        weights: reader.choice_or("w", plain.weights),
        kv: reader.choice_or("kv", plain.kv),
        prompt_tokens: reader.whole_or(&limits::PROMPT_TOKENS, plain.prompt_tokens),
        output_tokens: reader.whole_or(&limits::OUTPUT_TOKENS, plain.output_tokens),
        load,
        ttft_target_s: reader.number_or_open(&limits::TTFT),
        tpot_target_s: reader.number_or_open(&limits::TPOT),
        engine: reader.choice_or_open("engine"),
        tensor_parallel: reader.whole_or_open(&limits::TENSOR_PARALLEL),
        hours_per_day: reader.number_or(&limits::HOURS_PER_DAY, plain.hours_per_day),
        requests_total: reader.number_or_open(&limits::REQUESTS),
        habits: Habits::read(reader),
    }
}

fn shelf(reader: &mut Reader<'_>) -> Shelf {
    let own = own_card::read(reader);
    reader.own_cards = own.iter().map(|card| card.name.clone()).collect();
    let mut cards: Vec<String> = Vec::new();
    for name in list(reader.take("cards")) {
        match card(reader, "cards", &name) {
            Some(id) if !cards.contains(&id) => cards.push(id),
            _ => {}
        }
    }
    Shelf {
        cards,
        unpriced: reader.flag_or("unpriced", false),
        count: reader.whole_or_open(&limits::COUNT),
        max_count: reader.whole_or_open(&limits::MAX_COUNT),
        busy_gib: reader.number_or(&limits::BUSY, 0.0),
        own,
    }
}

fn money(reader: &mut Reader<'_>) -> Money {
    let plain = defaults::money();
    let currency = reader.choice_or("cur", plain.currency);
    let mut billing: Vec<Billing> = Vec::new();
    for name in list(reader.take("bill")) {
        match Billing::from_name(&name) {
            Some(one) if !billing.contains(&one) => billing.push(one),
            Some(_) => {}
            None => reader.problem(
                Problem::new("bill", ProblemKind::NotAChoice, &name, Outcome::Ignored)
                    .bound(super::problem::names::<Billing>()),
            ),
        }
    }
    Money {
        currency,
        cny_per_usd: reader.number_or(&limits::EXCHANGE_RATE, plain.cny_per_usd),
        billing,
        own_prices: own_prices(reader),
        budget: reader.number_or_open(&limits::BUDGET),
        deadline_hours: reader.number_or_open(&limits::DEADLINE),
        usd_per_eur: reader.number_or(&limits::EURO_RATE, plain.usd_per_eur),
        market: reader.choice_or("market", plain.market),
        slice: reader.number_or(&limits::SLICE, plain.slice),
        grain: reader.choice_or_open("grain"),
        minimum_hours: reader.number_or_open(&limits::MINIMUM),
        extras: Extras::read(reader),
        spot: SpotTerms::read(reader),
        purchase: Purchase::read(reader),
    }
}

fn own_prices(reader: &mut Reader<'_>) -> Vec<(String, f64)> {
    let mut prices: Vec<(String, f64)> = Vec::new();
    for entry in list(reader.take("price")) {
        let Some((name, price)) = entry.rsplit_once(':') else {
            reader.problem(Problem::new(
                "price",
                ProblemKind::NotAPrice,
                &entry,
                Outcome::Ignored,
            ));
            continue;
        };
        let Some(id) = card(reader, "price", name) else {
            continue;
        };
        match within(price, &limits::OWN_PRICE) {
            Ok(_) if prices.iter().any(|(known, _)| *known == id) => {
                reader.problem(Problem::new(
                    "price",
                    ProblemKind::Repeated,
                    &entry,
                    Outcome::Ignored,
                ));
            }
            Ok(price) => prices.push((id, price)),
            Err((kind, bound)) => {
                reader.problem(Problem::new("price", kind, &entry, Outcome::Ignored).bound(bound))
            }
        }
    }
    prices
}

/// The id of a card's name; an unknown one is noted and left out.
fn card(reader: &mut Reader<'_>, param: &'static str, name: &str) -> Option<String> {
    let wanted = name.trim();
    let same = |own: &&String| own.to_lowercase() == wanted.to_lowercase();
    let own = reader.own_cards.iter();
    let own = own
        .clone()
        .find(|own| *own == wanted)
        .or_else(|| own.clone().find(same));
    let known = || reader.catalog.card(name).map(|card| card.id.clone());
    let found = own.cloned().or_else(known);
    if found.is_none() {
        let near = nearest::card(reader.catalog, name).unwrap_or_default();
        reader.problem(
            Problem::new(param, ProblemKind::UnknownCard, name, Outcome::Ignored).bound(near),
        );
    }
    found
}

/// The entries of a comma-separated list.
fn list(value: Option<String>) -> Vec<String> {
    value
        .unwrap_or_default()
        .split([',', '，'])
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(str::to_owned)
        .collect()
}

/// What follows from fields together: each is put right, in the scenario, and noted.
pub(super) fn settle(scenario: &mut Scenario, reader: &mut Reader<'_>) {
    let known = match &scenario.model {
        ModelChoice::Catalog(id) => reader.catalog.model(id),
        ModelChoice::Custom(_) => None,
    };
    let max_context = known.map(|model| model.max_context);
    let shape = match &scenario.model {
        ModelChoice::Custom(shape) => Some(shape.as_ref()),
        ModelChoice::Catalog(_) => known.map(|model| &model.transformer),
    };
    let shelf = &mut scenario.shelf;
    if let (Some(count), Some(max)) = (shelf.count, shelf.max_count)
        && count > max
    {
        reader.problem(wrong(
            "max",
            ProblemKind::CountAboveMax,
            max,
            count,
            Outcome::Ignored,
        ));
        shelf.max_count = None;
    }
    let count = shelf.count;
    match &mut scenario.job {
        Job::Train(job) => {
            let seq = job.seq_len;
            if let Some(context) = max_context
                && seq > context
            {
                reader.problem(wrong(
                    "seq",
                    ProblemKind::LongerThanContext,
                    seq,
                    context,
                    Outcome::Kept,
                ));
            }
            if let TrainingAmount::Samples { count, epochs } = job.amount
                && count * epochs * f64::from(seq) > limits::TOTAL_TOKENS
            {
                let plain = defaults::TUNING_SAMPLES;
                reader.problem(
                    Problem::new(
                        "samples",
                        ProblemKind::TooManyTokens,
                        &number::write(count),
                        Outcome::Used(number::write(plain)),
                    )
                    .bound_number(limits::TOTAL_TOKENS),
                );
                job.amount = TrainingAmount::Samples {
                    count: plain,
                    epochs: defaults::epochs(job.method),
                };
            }
            if let Some(shape) = shape {
                let plain = defaults::training(job.method).lora_rank.min(shape.hidden);
                if job.lora_rank > shape.hidden {
                    reader.problem(wrong(
                        "rank",
                        ProblemKind::RankAboveHidden,
                        job.lora_rank,
                        shape.hidden,
                        Outcome::Used(plain.to_string()),
                    ));
                    job.lora_rank = plain;
                }
                drop_if(
                    &mut job.pipeline_parallel,
                    "pp",
                    ProblemKind::MoreStagesThanLayers,
                    shape.layers,
                    |stages| stages > shape.layers,
                    reader,
                );
                let experts = shape.experts.as_ref().map_or(0, |e| e.experts);
                drop_if(
                    &mut job.expert_parallel,
                    "ep",
                    if experts == 0 {
                        ProblemKind::NoExperts
                    } else {
                        ProblemKind::DoesNotDivideExperts
                    },
                    experts,
                    |ways| ways > 1 && (experts == 0 || !experts.is_multiple_of(ways)),
                    reader,
                );
                split_heads(&mut job.tensor_parallel, shape, reader);
            }
            if let Some(batch) = job.global_batch {
                drop_if(
                    &mut job.micro_batch,
                    "micro",
                    ProblemKind::MicroAboveBatch,
                    batch,
                    |micro| micro > batch,
                    reader,
                );
            }
            if let Some(count) = count {
                divide_cards(&mut job.tensor_parallel, "tp", 1, count, reader);
                let ways = job.tensor_parallel.unwrap_or(1);
                divide_cards(&mut job.pipeline_parallel, "pp", ways, count, reader);
            }
        }
        Job::Generate(_)
        | Job::TuneDiffusion(_)
        | Job::TrainNetwork(_)
        | Job::RunNetwork(_)
        | Job::Transcribe(_)
        | Job::Compute(_) => {}
        Job::Serve(job) => {
            let tokens = job.prompt_tokens.saturating_add(job.output_tokens);
            if let Some(context) = max_context
                && tokens > context
            {
                reader.problem(wrong(
                    "in",
                    ProblemKind::LongerThanContext,
                    tokens,
                    context,
                    Outcome::Kept,
                ));
            }
            if let Some(shape) = shape {
                split_heads(&mut job.tensor_parallel, shape, reader);
            }
            if let Some(count) = count {
                divide_cards(&mut job.tensor_parallel, "tp", 1, count, reader);
            }
        }
    }
}

fn wrong(param: &str, kind: ProblemKind, given: u32, bound: u32, outcome: Outcome) -> Problem {
    debug_assert!(Param::of(param).is_some());
    Problem::new(param, kind, &given.to_string(), outcome).bound(bound.to_string())
}

/// Leaves a value open where it cannot be.
fn drop_if(
    value: &mut Option<u32>,
    param: &str,
    kind: ProblemKind,
    bound: u32,
    bad: impl Fn(u32) -> bool,
    reader: &mut Reader<'_>,
) {
    if let Some(given) = *value
        && bad(given)
    {
        reader.problem(wrong(param, kind, given, bound, Outcome::LeftOpen));
        *value = None;
    }
}

/// Tensor parallelism splits heads evenly or is left open.
fn split_heads(
    ways: &mut Option<u32>,
    shape: &crate::catalog::Transformer,
    reader: &mut Reader<'_>,
) {
    drop_if(
        ways,
        "tp",
        ProblemKind::DoesNotDivideHeads,
        shape.heads(),
        |ways| !shape.splits_into(ways),
        reader,
    );
}

/// Ways, times those already taken, divide the cards or are left open.
fn divide_cards(
    ways: &mut Option<u32>,
    param: &str,
    taken: u32,
    count: u32,
    reader: &mut Reader<'_>,
) {
    drop_if(
        ways,
        param,
        ProblemKind::DoesNotDivideCards,
        count,
        |ways| !count.is_multiple_of(ways.saturating_mul(taken)),
        reader,
    );
}
