//! What was wrong with an input, and what was done about it.

use serde::Serialize;

use super::choice::Choice;
use super::number;
use crate::text::{Lang, text};

/// One thing that is said about an input. Nothing here stops an answer: a value that cannot be
/// used is replaced, and this says by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Link parameter that is meant, so that a form can show this beside the right input; for
    /// an unknown JSON field its path.
    pub param: String,
    /// Path of the JSON field, where the input was JSON.
    pub path: Option<String>,
    /// Line of the JSON text, where it is known, from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub kind: ProblemKind,
    /// What was given, control characters removed, at most 40 characters.
    pub given: String,
    /// The bound or the neighbour that decides: a number, a name, a list of names.
    pub bound: String,
    /// What was done about it.
    pub outcome: Outcome,
}

/// What is wrong with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// Not a number.
    NotANumber,
    /// Has a fraction where only whole numbers make sense.
    NotWhole,
    /// Below the least value, `bound`.
    TooSmall,
    /// Above the largest value, `bound`.
    TooLarge,
    /// None of the names, `bound`.
    NotAChoice,
    /// No such model; `bound`: the nearest name, or empty.
    UnknownModel,
    /// No such card; `bound`: the nearest name, or empty.
    UnknownCard,
    /// Not of the form `card:price`.
    NotAPrice,
    /// Not of the form of a card described by its figures.
    NotACard,
    /// Not of the form of attention groups.
    NotAttention,
    /// Given more than once.
    Repeated,
    /// Not valid percent-encoded UTF-8.
    BadEncoding,
    /// Made by a newer version of the product.
    NewerVersion,
    /// Longer than `bound` bytes.
    LinkTooLong,
    /// What was brought behind the `#` is larger than `bound` bytes.
    BroughtTooLarge,
    /// Says nothing about this kind of job or model.
    DoesNotApply,
    /// Cannot be used together with the parameter `bound`.
    Conflict,
    /// Key and value heads do not divide the query heads, `bound`.
    KvHeadsDoNotDivide,
    /// More experts for a token than there are, `bound`.
    TopAboveExperts,
    /// More expert blocks than blocks, `bound`.
    ExpertLayersAboveLayers,
    /// The groups' layers add up to `bound`.
    LayersDiffer,
    /// Dense blocks without a feed-forward network.
    NoFeedForward,
    /// More parameters than `bound`.
    ModelTooLarge,
    /// Does not divide the heads, `bound`.
    DoesNotDivideHeads,
    /// Does not divide the cards, `bound`.
    DoesNotDivideCards,
    /// Does not divide the experts, `bound`.
    DoesNotDivideExperts,
    /// A dense model has no experts to split.
    NoExperts,
    /// More stages than blocks, `bound`.
    MoreStagesThanLayers,
    /// Larger than the model's width, `bound`.
    RankAboveHidden,
    /// Larger than the batch, `bound`.
    MicroAboveBatch,
    /// More cards than the largest count, `bound`.
    CountAboveMax,
    /// More tokens in all than `bound`.
    TooManyTokens,
    /// Longer than the context that the model was made for, `bound`.
    LongerThanContext,
    /// This job is not about such a thing; `bound`: what is taken.
    NotForThisJob,
    /// The text is not JSON; `bound`: where and why.
    NotJson,
    /// A JSON value of the wrong type; `bound`: what is expected.
    WrongType,
}

impl ProblemKind {
    /// Key of the text.
    pub fn key(self) -> &'static str {
        match self {
            Self::NotANumber => "problem.not_a_number",
            Self::NotWhole => "problem.not_whole",
            Self::TooSmall => "problem.too_small",
            Self::TooLarge => "problem.too_large",
            Self::NotAChoice => "problem.not_a_choice",
            Self::UnknownModel => "problem.unknown_model",
            Self::UnknownCard => "problem.unknown_card",
            Self::NotAPrice => "problem.not_a_price",
            Self::NotACard => "problem.not_a_card",
            Self::NotAttention => "problem.not_attention",
            Self::Repeated => "problem.repeated",
            Self::BadEncoding => "problem.bad_encoding",
            Self::NewerVersion => "problem.newer_version",
            Self::LinkTooLong => "problem.link_too_long",
            Self::BroughtTooLarge => "problem.brought_too_large",
            Self::DoesNotApply => "problem.does_not_apply",
            Self::Conflict => "problem.conflict",
            Self::KvHeadsDoNotDivide => "problem.kv_heads_do_not_divide",
            Self::TopAboveExperts => "problem.top_above_experts",
            Self::ExpertLayersAboveLayers => "problem.expert_layers_above_layers",
            Self::LayersDiffer => "problem.layers_differ",
            Self::NoFeedForward => "problem.no_feed_forward",
            Self::ModelTooLarge => "problem.model_too_large",
            Self::DoesNotDivideHeads => "problem.does_not_divide_heads",
            Self::DoesNotDivideCards => "problem.does_not_divide_cards",
            Self::DoesNotDivideExperts => "problem.does_not_divide_experts",
            Self::NoExperts => "problem.no_experts",
            Self::MoreStagesThanLayers => "problem.more_stages_than_layers",
            Self::RankAboveHidden => "problem.rank_above_hidden",
            Self::MicroAboveBatch => "problem.micro_above_batch",
            Self::CountAboveMax => "problem.count_above_max",
            Self::TooManyTokens => "problem.too_many_tokens",
            Self::LongerThanContext => "problem.longer_than_context",
            Self::NotForThisJob => "problem.not_for_this_job",
            Self::NotJson => "problem.not_json",
            Self::WrongType => "problem.wrong_type",
        }
    }
}

/// What was done about a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "value")]
pub enum Outcome {
    /// This value was used instead.
    Used(String),
    /// The value is left open: chosen by search, or no limit.
    LeftOpen,
    /// It was left out.
    Ignored,
    /// It was used all the same.
    Kept,
    /// Nothing could be read.
    Refused,
}

impl Problem {
    /// A problem with `param`, whose given text is shortened for showing.
    pub fn new(param: &str, kind: ProblemKind, given: &str, outcome: Outcome) -> Self {
        Self {
            param: shown(param),
            path: None,
            line: None,
            kind,
            given: shown(given),
            bound: String::new(),
            outcome,
        }
    }

    /// With the bound that decides.
    #[must_use]
    pub fn bound(mut self, bound: impl Into<String>) -> Self {
        self.bound = bound.into();
        self
    }

    /// With a number as the bound.
    #[must_use]
    pub fn bound_number(self, bound: f64) -> Self {
        self.bound(number::write(bound))
    }

    /// Whether the input was used as it is; otherwise something was replaced or left out.
    pub fn is_warning(&self) -> bool {
        self.outcome == Outcome::Kept
    }

    /// What is wrong, for people, without what was done about it: a form keeps the last good value.
    pub fn reason(&self, lang: Lang) -> String {
        let label_key = format!("field.{}", self.param);
        let label = text(lang, &label_key, &[]);
        let place = self.path.as_deref().unwrap_or(&self.param);
        let name = if label == label_key {
            place.to_owned()
        } else {
            text(lang, "problem.name", &[("label", &label), ("param", place)])
        };
        let near;
        let bound = match self.kind {
            ProblemKind::UnknownModel | ProblemKind::UnknownCard if !self.bound.is_empty() => {
                near = text(lang, "problem.did_you_mean", &[("name", &self.bound)]);
                &near
            }
            _ => &self.bound,
        };
        text(
            lang,
            self.kind.key(),
            &[("bound", bound), ("name", &name), ("given", &self.given)],
        )
    }

    /// What is wrong and what was done about it, for people.
    pub fn message(&self, lang: Lang) -> String {
        let what = self.reason(lang);
        let then = match &self.outcome {
            Outcome::Used(value) => text(lang, "problem.then.used", &[("value", value)]),
            Outcome::LeftOpen => text(lang, "problem.then.left_open", &[]),
            Outcome::Ignored => text(lang, "problem.then.ignored", &[]),
            Outcome::Kept => text(lang, "problem.then.kept", &[]),
            Outcome::Refused => text(lang, "problem.then.refused", &[]),
        };
        let said = text(lang, "problem.said", &[("what", &what), ("then", &then)]);
        match self.line {
            Some(line) => text(
                lang,
                "problem.on_line",
                &[("line", &line.to_string()), ("said", &said)],
            ),
            None => said,
        }
    }
}

/// Text that is safe and short enough to show: no control or direction characters, 40 at most.
pub fn shown(given: &str) -> String {
    const LONGEST: usize = 40;
    let mut kept = given
        .chars()
        .filter(|c| !c.is_control() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'));
    let mut short: String = kept.by_ref().take(LONGEST).collect();
    if kept.next().is_some() {
        short.pop();
        short.push('…');
    }
    short
}

/// Names of a choice, for a message.
pub fn names<T: Choice>() -> String {
    T::ALL
        .iter()
        .map(|value| value.name())
        .collect::<Vec<_>>()
        .join(", ")
}
