//! A bill and its lines.

use serde::Serialize;

use super::amount::Amount;
use crate::catalog::Billing;

/// What a line of a bill is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// Cards while the job runs, or the service is up.
    Work,
    /// Cards while the job is evaluated.
    Evaluation,
    /// Cards during runs that fail and are repeated.
    FailedRuns,
    /// Cards while lost work is done again, checkpoints are written and the job restarts.
    Interruptions,
    /// Cards while the machines are set up.
    SetUp,
    /// Cards while the model is fetched.
    Fetch,
    /// Cards while data is uploaded.
    Upload,
    /// Cards while nothing runs.
    Idle,
    /// Up to whole units of time and to the least that is charged for a start.
    RoundingUp,
    /// Cards of a package or a term, paid whole.
    Package,
    /// Cards by the hour beyond whole packages.
    BeyondPackages,
    /// Cards that are only let together with those that are needed.
    WholeNodes,
    /// Machines in reserve for those that are taken away.
    Spares,
    /// Storage while the machines run.
    Disk,
    /// Storage while they are stopped.
    DiskStopped,
    /// Data taken out.
    Egress,
    /// Tax or surcharge.
    Tax,
}

/// What a line counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineUnit {
    /// A card for an hour.
    CardHour,
    /// A card for a day.
    CardDay,
    /// A card for a week.
    CardWeek,
    /// A card for a month.
    CardMonth,
    /// A card for a year.
    CardYear,
    /// A GB for a month.
    GbMonth,
    /// A GB.
    Gb,
    /// Share of the lines above.
    Share,
}

impl LineUnit {
    /// The unit in which a mode is quoted.
    pub(super) fn of(billing: Billing) -> Self {
        match billing {
            Billing::Daily => Self::CardDay,
            Billing::Weekly => Self::CardWeek,
            Billing::Monthly => Self::CardMonth,
            Billing::Yearly => Self::CardYear,
            Billing::OnDemand | Billing::Spot | Billing::Reserved1y | Billing::Reserved3y => {
                Self::CardHour
            }
        }
    }
}

/// One line: a quantity at a price.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// What for.
    pub kind: LineKind,
    /// Unit of the quantity.
    pub unit: LineUnit,
    /// Quantity at the low, the middle and the high end of the time.
    pub quantity: [f64; 3],
    /// Price of one, in the bill's currency, at the middle (a tax's is the sum that it is of).
    pub unit_price: f64,
    /// What it comes to at each end, to the cent.
    pub amount: [Amount; 3],
}

/// What is paid, line by line, in the scenario's currency.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bill {
    /// Lines that come to something at any end.
    pub lines: Vec<Line>,
    /// Their sums at the low, the middle and the high end.
    pub total: [Amount; 3],
}
