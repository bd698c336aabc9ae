//! What renting costs: which quote a cost rests on, how a mode of billing turns hours into a bill,
//! interruptions, currencies, buying instead.

mod amount;
mod bill;
mod book;
mod card_names;
mod checklist;
pub(crate) mod exchange;
mod import;
mod line;
pub(crate) mod provenance;
mod purchase;
mod quote;
pub(crate) mod rules;
mod spot;

pub use amount::Amount;
pub use bill::{Billed, HOURS_PER_MONTH, JobTerms, Use, billed_hours, unit_hours};
pub use book::{BookEdits, OWN_ENTRY, row_key};
pub use checklist::{Check, Need, checklist};
pub use exchange::{Exchange, Rates};
pub use import::{Imported, ListFacts, PriceForm, RefusedReason, RefusedRow, import, write_rows};
pub use line::{Bill, Line, LineKind, LineUnit};
pub use provenance::{name_in, said_in};
pub use purchase::{Ownership, RentOrBuy};
pub use quote::{CardPrices, ModeCost, Quote, Quotes, USUAL_MODES};
pub use rules::{
    DiskRule, EgressRule, HourlyRule, InterruptionRates, ProviderRule, USUAL_INTERRUPTIONS_PER_HOUR,
};
pub use spot::{Interruptions, machines_with_spares};
