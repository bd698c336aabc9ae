//! What renting costs: which quote a cost rests on, how a mode of billing turns hours into billed
//! hours, and currencies.

mod bill;
mod exchange;
mod quote;

pub use bill::{HOURS_PER_MONTH, Use, billed_hours, unit_hours};
pub use exchange::{Exchange, Rates};
pub use quote::{CardPrices, Quote, USUAL_MODES};
