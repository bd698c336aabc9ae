//! CardFit: which rentable cards fit a model and a scenario, how long it takes, what it costs.
//!
//! Data flows one way:
//!
//! ```text
//! catalog + scenario -> plan -> memory -> speed -> time -> rental cost -> ranked offers
//! ```
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`bring`] | models that a user brings: configurations, indexes, GGUF headers |
//! | [`catalog`] | cards, models, prices: types and the data files they are read from |
//! | [`scenario`] | what a user asks for, its URL form and its limits |
//! | [`plan`] | layouts of a job over cards, and the search for the fastest that fits |
//! | [`estimate`] | memory and speed of a planned job |
//! | [`rental`] | what renting costs |
//! | [`offers`] | ranked offers: the answer to a scenario |
//! | [`check`] | a listing and a machine beside the datasheet |
//! | [`embed`] | the widget's contract: parameters, messages, the answer as it is handed out |
//! | [`fault`] | the report of a stopped part, without anything of one's own |
//! | [`feed`] | an operator's own shelf: cards, prices and order links of a feed |
//! | [`share`] | what a shared link answered, and what changed since |
//! | [`published`] | the data as files for machines |
//! | [`measured`] | measured results and how far the estimator is off |
//! | [`order`] | one sort for lists of every kind |
//! | [`packed`] | the data files as the page carries them |
//! | [`text`] | texts in every language |
//! | [`dtype`], [`range`] | number formats; a value with its ends |
//!
//! Nothing here knows of a browser: the page and the command line are readers of the same
//! offers.

pub mod bring;
pub mod catalog;
pub mod check;
pub mod dtype;
pub mod embed;
pub mod estimate;
pub mod explain;
pub mod fault;
pub mod feed;
pub mod launch;
pub mod measured;
pub mod notes;
pub mod offers;
pub mod order;
pub mod packed;
pub mod plan;
pub mod published;
pub mod range;
pub mod rental;
pub mod scenario;
pub mod share;
pub mod text;
