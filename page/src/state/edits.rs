//! Edits of the scenario: each writes it as a link, changes parameters in it and reads the link back.

use cardfit::catalog::{Catalog, Currency};
use cardfit::scenario::{
    Choice, JobKind, ModelChoice, Param, Scope, SubjectKind, TrainingMethod, parse, to_query,
};
use leptos::prelude::*;

use super::{App, LinkNotice, Pace, Pairs, job_kind};
use crate::address;
use crate::own_price::price_key;

/// Jobs whose inputs are kept apart, so that looking at another job loses nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobGroup {
    Pretrain,
    Tune,
    Serve,
    Image,
    Video,
    TuneDiffusion,
    TrainNetwork,
    RunNetwork,
    Transcribe,
    Compute,
}

impl JobGroup {
    fn of(kind: JobKind) -> Self {
        match kind {
            JobKind::Serve => Self::Serve,
            JobKind::Train(TrainingMethod::Pretrain) => Self::Pretrain,
            JobKind::Train(_) => Self::Tune,
            JobKind::Image => Self::Image,
            JobKind::Video => Self::Video,
            JobKind::TuneDiffusion(_) => Self::TuneDiffusion,
            JobKind::TrainNetwork => Self::TrainNetwork,
            JobKind::RunNetwork => Self::RunNetwork,
            JobKind::Transcribe => Self::Transcribe,
            JobKind::Compute => Self::Compute,
        }
    }
}

impl App {
    /// Chooses from a list. A change of currency takes budget and own prices along.
    pub fn choose(self, param: &'static str, value: &str) {
        match Currency::from_name(value) {
            Some(currency) if param == "cur" => {
                let mut scenario = self.scenario.get_untracked();
                scenario.money = scenario.money.in_currency(currency);
                self.load(scenario);
            }
            _ => self.set(&[(param, value)], Pace::Choice),
        }
    }

    /// Changes parameters of the scenario; an empty value takes the parameter out, so that its default holds or the
    /// value is chosen by search. On a value that cannot be used the scenario stays and the problem is kept beside
    /// the first parameter.
    pub fn set(self, changes: &[(&'static str, &str)], pace: Pace) {
        let Some((first, _)) = changes.first() else {
            return;
        };
        let mut pairs = self.pairs();
        for (param, value) in changes {
            pairs.retain(|(name, _)| name != param);
            if !value.trim().is_empty() {
                pairs.push(((*param).to_owned(), address::encode(value.trim())));
            }
        }
        self.accept(first, &pairs, pace);
    }

    /// Takes a model of the catalog; a shape that was typed by hand says nothing about it.
    pub fn set_model(self, id: &str) {
        let mut pairs = self.pairs();
        pairs.retain(|(name, _)| name != "m" && !is_of_a_shape(name));
        // Another kind of thing has jobs of its own, and another one of a kind its usual size.
        let before = self.scenario.with_untracked(job_kind);
        let kind = kind_of(id);
        let meant = before.meant_for(kind);
        let wanted = match meant.is_about(kind) {
            true => meant,
            false => kind.usual_job(),
        };
        if JobGroup::of(before) != JobGroup::of(wanted) {
            pairs.retain(|(name, _)| name != "do" && !is_of_a_job(name));
            pairs.push(("do".to_owned(), wanted.name().to_owned()));
        } else if kind != SubjectKind::Language {
            pairs.retain(|(name, _)| !IS_THE_MODELS.contains(&name.as_str()));
        }
        pairs.push(("m".to_owned(), address::encode(id)));
        self.accept("m", &pairs, Pace::Choice);
    }

    /// Turns the chosen model into one described by hand, starting from its shape.
    pub fn describe_model(self) {
        let mut scenario = self.scenario.get_untracked();
        if let ModelChoice::Catalog(id) = &scenario.model
            && let Some(model) = Catalog::embedded().model(id)
        {
            scenario.model = ModelChoice::Custom(Box::new(model.transformer.clone()));
            self.load(scenario);
        }
    }

    /// Turns to another kind of job; the inputs of the one left are kept for when it is wanted again.
    pub fn set_job(self, kind: JobKind) {
        let left = JobGroup::of(self.scenario.with_untracked(job_kind));
        let wanted = JobGroup::of(kind);
        let mut pairs = self.pairs();
        pairs.retain(|(name, _)| name != "do");
        if left != wanted {
            let (own, common): (Pairs, Pairs) =
                pairs.into_iter().partition(|(name, _)| is_of_a_job(name));
            pairs = common;
            self.parked.update_value(|parked| {
                pairs.extend(parked.remove(&wanted).unwrap_or_default());
                parked.insert(left, own);
            });
            self.bad_inputs
                .update(|bad| bad.retain(|name, _| !is_of_a_job(name)));
        }
        // A job about another kind of thing starts from its usual one.
        let about = self.scenario.with_untracked(|s| match &s.model {
            ModelChoice::Catalog(id) => kind_of(id),
            ModelChoice::Custom(_) => SubjectKind::Language,
        });
        if !kind.is_about(about) {
            pairs.retain(|(name, _)| name != "m" && !is_of_a_shape(name));
        }
        pairs.push(("do".to_owned(), kind.name().to_owned()));
        self.accept("do", &pairs, Pace::Choice);
    }

    /// The scenario's link in parts, values encoded.
    fn pairs(self) -> Pairs {
        self.scenario
            .with_untracked(to_query)
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// Sets the user's own price of a card-hour; empty takes it back.
    pub fn set_own_price(self, card: &str, price: &str) {
        let others = self.scenario.with_untracked(|s| s.money.own_prices.clone());
        // A comma parts cards in a link, so it cannot part thousands there.
        let price: String = price.chars().filter(|c| !matches!(c, ',' | ' ')).collect();
        let mut prices: Vec<String> = others
            .iter()
            .filter(|(id, _)| id != card)
            .map(|(id, price)| format!("{id}:{price}"))
            .collect();
        if !price.is_empty() {
            prices.push(format!("{card}:{price}"));
        }
        let mut pairs = self.pairs();
        pairs.retain(|(name, _)| name != "price");
        if !prices.is_empty() {
            pairs.push(("price".to_owned(), address::encode(&prices.join(","))));
        }
        self.accept(&price_key(card), &pairs, Pace::Typing);
    }

    /// Takes over the scenario of a changed link. What is wrong with the parameter itself is said beside it and
    /// changes nothing. Where a choice makes another parameter unusable, that one is put right and the notice says so;
    /// a figure being typed must not do that with every keystroke.
    fn accept(self, param: &str, pairs: &Pairs, pace: Pace) {
        let link = pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join("&");
        let mut parsed = parse(&link, Catalog::embedded());
        parsed.problems.retain(|problem| !problem.is_warning());
        let own = parsed.problems.iter().find(|p| p.param == param);
        let any = parsed.problems.first().filter(|_| pace != Pace::Choice);
        if let Some(problem) = own.or(any) {
            let problem = problem.clone();
            self.bad_inputs.update(|bad| {
                bad.insert(param.to_owned(), problem);
            });
            return;
        }
        self.forgive(param);
        if self.scenario.with_untracked(|s| *s != parsed.scenario) {
            self.scenario.set(parsed.scenario);
        }
        if pace == Pace::Choice {
            self.notice.set(LinkNotice {
                problems: parsed.problems,
                unknown: Vec::new(),
            });
        }
        self.write_address(pace);
    }

    /// Forgets a bad input, because it was put right or taken back.
    pub fn forgive(self, param: &str) {
        if self
            .bad_inputs
            .with_untracked(|bad| bad.contains_key(param))
        {
            self.bad_inputs.update(|bad| {
                bad.remove(param);
            });
        }
    }
}

/// Parameters whose usual values are a model's own: another model starts from its own.
const IS_THE_MODELS: [&str; 12] = [
    "width",
    "height",
    "frames",
    "steps",
    "cfg",
    "size",
    "samples",
    "epochs",
    "batch",
    "ops",
    "intensity",
    "ws",
];

/// Kind of a thing of the catalog.
fn kind_of(id: &str) -> SubjectKind {
    let subject = Catalog::embedded().subject(id);
    subject.map_or(SubjectKind::Language, SubjectKind::of)
}

/// Whether a parameter means nothing once the kind of job is another.
fn is_of_a_job(name: &str) -> bool {
    Param::of(name).is_some_and(|p| {
        matches!(p.scope, Scope::Train | Scope::Serve | Scope::Work) || p.name == "tp"
    })
}

/// Whether a parameter describes a model by hand.
fn is_of_a_shape(name: &str) -> bool {
    Param::of(name).is_some_and(|p| p.scope == Scope::Custom)
}
