//! Is it really that card? A listing checked before paying, a machine after renting.
//!
//! ```text
//! pasted text -> clean -> claims (listing) | readings (machine) -> findings beside the catalog's datasheet
//! ```
//!
//! Everything is computed where the text is pasted. Findings carry figures and words of our own data files, never a
//! pasted one, so serial numbers, UUIDs, bus addresses and process names cannot come back out.

mod bench;
mod clean;
mod effect;
mod facts;
mod finding;
mod listing;
mod machine;
mod names;
mod number;
mod paste;
mod words;

pub use bench::{Benchmark, QuickBenchmark, judge_measured};
pub use clean::LARGEST_PASTE_BYTES;
pub use effect::{Change, Effect, Outcome, effect};
pub use facts::{Facts, facts};
pub use finding::{Finding, Reading, Remark, Subject, Unit, Verdict};
pub use listing::{ListedCard, ListingReport, check_listing};
pub use machine::{
    Device, Link, MOST_DEVICES, Machine, Measured, Partition, Pcie, Slice, Throttle, Tool, Version,
    card_of, findings, read_machine,
};
pub use names::{Family, Form, Identity, families};
pub use paste::{Checked, MachineReport, check, hold_against_sold, report};
pub use words::{Told, change_key, reading, tell, tell_effect, tell_outcome};
