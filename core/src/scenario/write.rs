//! From a scenario to the parameters that say it, defaults left out.

use super::choice::{Choice, JobKind};
use super::number;
use super::own_card;
use super::params::PARAMS;
use super::{
    Job, Load, ModelChoice, Scenario, Serving, Training, TrainingAmount, defaults, shape, subject,
};
use crate::order;

/// Name and value, not yet encoded.
pub(super) type Pairs = Vec<(&'static str, String)>;

/// The parameters of a scenario in the order of [`PARAMS`]. Model and job are always said.
pub(super) fn pairs(scenario: &Scenario) -> Pairs {
    let mut pairs = Pairs::new();
    match &scenario.model {
        ModelChoice::Catalog(id) => pairs.push(("m", id.clone())),
        ModelChoice::Custom(custom) => {
            pairs.push(("m", "custom".to_owned()));
            shape::write(custom, &mut pairs);
        }
    }
    match &scenario.job {
        Job::Train(job) => training(job, &mut pairs),
        Job::Serve(job) => serving(job, &scenario.model, &mut pairs),
        other => subject::write(other, &scenario.model, &mut pairs),
    }
    let shelf = &scenario.shelf;
    text(&mut pairs, "own", own_card::write(&shelf.own));
    text(&mut pairs, "cards", shelf.cards.join(","));
    if shelf.unpriced {
        pairs.push(("unpriced", "yes".to_owned()));
    }
    open(&mut pairs, "n", shelf.count);
    open(&mut pairs, "max", shelf.max_count);
    real(&mut pairs, "busy", shelf.busy_gib, 0.0);
    let (money, plain) = (&scenario.money, defaults::money());
    choice(&mut pairs, "cur", money.currency, plain.currency);
    real(&mut pairs, "fx", money.cny_per_usd, plain.cny_per_usd);
    let billing: Vec<_> = money.billing.iter().map(|b| b.name()).collect();
    text(&mut pairs, "bill", billing.join(","));
    let prices: Vec<_> = money
        .own_prices
        .iter()
        .map(|(card, price)| format!("{card}:{}", number::write(*price)))
        .collect();
    text(&mut pairs, "price", prices.join(","));
    open_real(&mut pairs, "budget", money.budget);
    open_real(&mut pairs, "deadline", money.deadline_hours);
    real(&mut pairs, "fxeur", money.usd_per_eur, plain.usd_per_eur);
    choice(&mut pairs, "market", money.market, plain.market);
    real(&mut pairs, "slice", money.slice, plain.slice);
    open_choice(&mut pairs, "grain", money.grain);
    open_real(&mut pairs, "minimum", money.minimum_hours);
    money.extras.write(&mut pairs);
    money.spot.write(&mut pairs);
    money.purchase.write(&mut pairs);
    choice(&mut pairs, "sort", scenario.rank, Default::default());

    let place = |name: &str| PARAMS.iter().position(|p| p.name == name);
    order::sort_by_key(&mut pairs, |(name, _)| place(name));
    pairs
}

fn training(job: &Training, pairs: &mut Pairs) {
    let plain = defaults::training(job.method);
    pairs.push(("do", JobKind::Train(job.method).name().to_owned()));
    match (job.amount, plain.amount) {
        (TrainingAmount::Tokens(tokens), TrainingAmount::Tokens(usual)) => {
            real(pairs, "tokens", tokens, usual);
        }
        (TrainingAmount::Tokens(tokens), _) => open_real(pairs, "tokens", Some(tokens)),
        (TrainingAmount::Samples { count, epochs }, usual) => {
            // Where tokens are usual, samples are said even at their default, or nothing would
            // tell that they are meant.
            if matches!(usual, TrainingAmount::Tokens(_)) {
                open_real(pairs, "samples", Some(count));
            } else {
                real(pairs, "samples", count, defaults::TUNING_SAMPLES);
            }
            real(pairs, "epochs", epochs, defaults::epochs(job.method));
        }
    }
    whole(pairs, "seq", job.seq_len, plain.seq_len);
    open(pairs, "batch", job.global_batch);
    open(pairs, "micro", job.micro_batch);
    choice(pairs, "prec", job.precision, plain.precision);
    choice(pairs, "opt", job.optimizer, plain.optimizer);
    whole(pairs, "rank", job.lora_rank, plain.lora_rank);
    choice(pairs, "w", job.base_weights, plain.base_weights);
    if !job.flash_attention {
        pairs.push(("flash", "no".to_owned()));
    }
    open_choice(pairs, "recompute", job.recompute);
    open_choice(pairs, "shard", job.sharding);
    open(pairs, "tp", job.tensor_parallel);
    open(pairs, "pp", job.pipeline_parallel);
    open(pairs, "ep", job.expert_parallel);
    open_choice(pairs, "offload", job.offload);
}

fn serving(job: &Serving, model: &ModelChoice, pairs: &mut Pairs) {
    let plain = defaults::serving(model);
    pairs.push(("do", JobKind::Serve.name().to_owned()));
    choice(pairs, "w", job.weights, plain.weights);
    choice(pairs, "kv", job.kv, plain.kv);
    whole(pairs, "in", job.prompt_tokens, plain.prompt_tokens);
    whole(pairs, "out", job.output_tokens, plain.output_tokens);
    match job.load {
        Load::Concurrency(users) => whole(pairs, "users", users, defaults::USERS),
        Load::RequestsPerSecond(rate) => open_real(pairs, "rps", Some(rate)),
    }
    open_real(pairs, "ttft", job.ttft_target_s);
    open_real(pairs, "tpot", job.tpot_target_s);
    open_choice(pairs, "engine", job.engine);
    open(pairs, "tp", job.tensor_parallel);
    real(pairs, "hours", job.hours_per_day, plain.hours_per_day);
    open_real(pairs, "requests", job.requests_total);
    job.habits.write(pairs);
}

fn text(pairs: &mut Pairs, name: &'static str, value: String) {
    if !value.is_empty() {
        pairs.push((name, value));
    }
}

pub(super) fn whole(pairs: &mut Pairs, name: &'static str, value: u32, default: u32) {
    open(pairs, name, (value != default).then_some(value));
}

pub(super) fn open(pairs: &mut Pairs, name: &'static str, value: Option<u32>) {
    open_real(pairs, name, value.map(f64::from));
}

pub(super) fn real(pairs: &mut Pairs, name: &'static str, value: f64, default: f64) {
    let differs = value.to_bits() != default.to_bits();
    open_real(pairs, name, differs.then_some(value));
}

pub(super) fn open_real(pairs: &mut Pairs, name: &'static str, value: Option<f64>) {
    if let Some(value) = value {
        pairs.push((name, number::write(value)));
    }
}

pub(super) fn choice<T: Choice>(pairs: &mut Pairs, name: &'static str, value: T, default: T) {
    open_choice(pairs, name, (value != default).then_some(value));
}

pub(super) fn open_choice<T: Choice>(pairs: &mut Pairs, name: &'static str, value: Option<T>) {
    if let Some(value) = value {
        pairs.push((name, value.name().to_owned()));
    }
}
