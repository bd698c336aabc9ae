//! What could not be used of a feed, and why.

use serde::Serialize;

use crate::scenario::number;
use crate::text::{Lang, text};

/// One remark on a feed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedIssue {
    /// Where, as a JSON path: `offers[3].prices[0].price`; empty: the feed as a whole.
    pub path: String,
    /// What is wrong.
    pub kind: IssueKind,
    /// What was given, shortened, without control characters.
    pub given: String,
    /// What decides: a bound, the nearest name, the names that are known.
    pub bound: String,
    /// What was done about it.
    pub effect: Effect,
}

/// What is wrong with a part of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueKind {
    /// Larger than `bound` bytes.
    TooLarge,
    /// Not JSON; `bound`: where and why.
    NotJson,
    /// `schema` is none that is known, `bound`.
    UnknownSchema,
    /// A field that has to be there is not.
    Missing,
    /// Of another type than `bound`.
    WrongType,
    /// An empty text or list.
    Empty,
    /// More offers than `bound`.
    TooManyOffers,
    /// Not above zero.
    NotPositive,
    /// Above `bound`.
    TooHigh,
    /// No currency of `bound`.
    UnknownCurrency,
    /// No card of the catalog; `bound`: the nearest, or empty.
    UnknownCard,
    /// The card has another memory, `bound` GiB.
    MemoryDiffers,
    /// An id that an earlier offer has.
    DuplicateId,
    /// No way of billing of `bound`.
    UnknownMode,
    /// A term that is not counted; `bound`: those that are, months.
    UnknownTerm,
    /// The same way of billing twice in one offer.
    RepeatedMode,
    /// No stock state of `bound`.
    UnknownStock,
    /// Not an http(s) address.
    BadLink,
    /// No placeholder of `bound`.
    UnknownPlaceholder,
    /// Not a date.
    BadDate,
    /// The prices no longer hold, since `bound`.
    Stale,
    /// No offer could be used.
    NothingLeft,
}

/// What was done about an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The feed is not used.
    FeedRefused,
    /// The offer is left out.
    OfferDropped,
    /// The field or the price is left out, the offer stays.
    PartDropped,
    /// Nothing was left out.
    Kept,
}

impl FeedIssue {
    /// A remark on `path`.
    pub(super) fn new(path: &str, kind: IssueKind, given: &str, effect: Effect) -> Self {
        Self {
            path: path.to_owned(),
            kind,
            given: crate::scenario::shown(given),
            bound: String::new(),
            effect,
        }
    }

    /// With what decides.
    #[must_use]
    pub(super) fn bound(mut self, bound: impl Into<String>) -> Self {
        self.bound = bound.into();
        self
    }

    /// With a number that decides.
    #[must_use]
    pub(super) fn bound_number(self, bound: f64) -> Self {
        self.bound(number::write(bound))
    }

    /// What is wrong and what was done about it, for people.
    pub fn message(&self, lang: Lang) -> String {
        let near;
        let bound = match self.kind {
            IssueKind::UnknownCard if !self.bound.is_empty() => {
                near = text(lang, "feed.near", &[("name", &self.bound)]);
                &near
            }
            _ => &self.bound,
        };
        let what = text(
            lang,
            self.kind.key(),
            &[("bound", bound), ("given", &self.given)],
        );
        let path = if self.path.is_empty() {
            text(lang, "feed.whole", &[])
        } else {
            self.path.clone()
        };
        text(
            lang,
            "feed.said",
            &[
                ("path", &path),
                ("what", &what),
                ("then", &text(lang, self.effect.key(), &[])),
            ],
        )
    }
}

impl IssueKind {
    /// Key of the text.
    pub fn key(self) -> &'static str {
        match self {
            Self::TooLarge => "feed.too_large",
            Self::NotJson => "feed.not_json",
            Self::UnknownSchema => "feed.unknown_schema",
            Self::Missing => "feed.missing",
            Self::WrongType => "feed.wrong_type",
            Self::Empty => "feed.empty",
            Self::TooManyOffers => "feed.too_many_offers",
            Self::NotPositive => "feed.not_positive",
            Self::TooHigh => "feed.too_high",
            Self::UnknownCurrency => "feed.unknown_currency",
            Self::UnknownCard => "feed.unknown_card",
            Self::MemoryDiffers => "feed.memory_differs",
            Self::DuplicateId => "feed.duplicate_id",
            Self::UnknownMode => "feed.unknown_mode",
            Self::UnknownTerm => "feed.unknown_term",
            Self::RepeatedMode => "feed.repeated_mode",
            Self::UnknownStock => "feed.unknown_stock",
            Self::BadLink => "feed.bad_link",
            Self::UnknownPlaceholder => "feed.unknown_placeholder",
            Self::BadDate => "feed.bad_date",
            Self::Stale => "feed.stale",
            Self::NothingLeft => "feed.nothing_left",
        }
    }
}

impl Effect {
    fn key(self) -> &'static str {
        match self {
            Self::FeedRefused => "feed.then.refused",
            Self::OfferDropped => "feed.then.offer_dropped",
            Self::PartDropped => "feed.then.part_dropped",
            Self::Kept => "feed.then.kept",
        }
    }
}
