//! How a mode of billing turns hours of use into what is paid, line by line.

use serde::{Serialize, Serializer};

use super::amount::Amount;
use super::line::{Bill, Line, LineKind, LineUnit};
use super::rules::HourlyRule;
use super::spot::{Interruptions, machines_with_spares};
use crate::catalog::Billing;
use crate::order;
use crate::range::Range;
use crate::scenario::{Extras, SpotTerms};

/// Hours of a month as it is billed: 30 days, as most Chinese platforms count.
pub const HOURS_PER_MONTH: f64 = 720.0;

/// Days of a billed month.
const DAYS_PER_MONTH: f64 = 30.0;
/// Days of a year that is paid for at once.
const DAYS_PER_YEAR: f64 = 365.0;
const SECONDS_PER_HOUR: f64 = 3600.0;

/// What cards are rented for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Use {
    /// One job of this many hours of work, once.
    Job {
        /// Hours of the job.
        hours: f64,
    },
    /// A month of a service.
    Month {
        /// Hours a day that it is up, 0 to 24.
        hours_per_day: f64,
    },
}

/// Hours of one billing unit, the unit in which a mode's price is quoted.
pub fn unit_hours(billing: Billing) -> f64 {
    match billing {
        Billing::OnDemand | Billing::Spot | Billing::Reserved1y | Billing::Reserved3y => 1.0,
        Billing::Daily => 24.0,
        Billing::Weekly => 7.0 * 24.0,
        Billing::Monthly => HOURS_PER_MONTH,
        Billing::Yearly => DAYS_PER_YEAR * 24.0,
    }
}

/// Shortest time that a mode is sold for, hours; 0: to the hour or finer.
fn term_hours(billing: Billing) -> f64 {
    match billing {
        Billing::OnDemand | Billing::Spot => 0.0,
        Billing::Reserved1y => 12.0 * HOURS_PER_MONTH,
        Billing::Reserved3y => 36.0 * HOURS_PER_MONTH,
        package => unit_hours(package),
    }
}

/// Hours that are paid for: a package counts whole, used or not. A service is billed for one
/// month of its term.
pub fn billed_hours(billing: Billing, need: Use) -> f64 {
    let term = term_hours(billing);
    match need {
        Use::Job { hours } if term > 0.0 => (hours / term).ceil() * term,
        Use::Job { hours } => hours,
        Use::Month { hours_per_day } if term <= 24.0 => {
            let hours_per_day = hours_per_day.clamp(0.0, 24.0);
            let day = if term > 0.0 {
                (hours_per_day / term).ceil() * term
            } else {
                hours_per_day
            };
            day * DAYS_PER_MONTH
        }
        Use::Month { .. } => HOURS_PER_MONTH,
    }
}

/// One end of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Low,
    Mid,
    High,
}

/// A line at one end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    kind: LineKind,
    unit: LineUnit,
    quantity: f64,
    price: f64,
}

/// Lines of cards by the hour.
const HOURLY_LINES: usize = 11;
/// Lines beside them.
const OTHER_LINES: usize = 4;

/// All lines at one end. Cards by the hour are one sum of time at one price, whatever the time passes with: the lines
/// share it out, and their cents add up to those of the sum.
#[derive(Debug, Clone)]
struct Items {
    by_the_hour: [Item; HOURLY_LINES],
    /// Card-hours of them all.
    card_hours: f64,
    /// Price of a card-hour.
    hour_price: f64,
    others: [Item; OTHER_LINES],
}

impl Items {
    fn cost(&self) -> f64 {
        let others: f64 = self.others.iter().map(|i| i.quantity * i.price).sum();
        self.card_hours * self.hour_price + others
    }

    /// Every line with its amount.
    fn amounts(&self) -> impl Iterator<Item = (Item, Amount)> {
        let whole = Amount::of_product(self.card_hours, self.hour_price);
        let (mut hours, mut so_far) = (0.0, Amount::ZERO);
        let last = self.by_the_hour.iter().rposition(|i| i.quantity > 0.0);
        let shared = self.by_the_hour.iter().enumerate().map(move |(at, item)| {
            hours += item.quantity;
            let up_to_here = if last.is_none_or(|last| at >= last) {
                whole
            } else {
                Amount::of_product(hours, item.price).min(whole)
            };
            let amount = up_to_here - so_far;
            so_far = up_to_here;
            (*item, amount)
        });
        let others = self.others.iter();
        shared.chain(others.map(|i| (*i, Amount::of_product(i.quantity, i.price))))
    }
}

/// What is known of the job beside its hours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobTerms {
    /// Bytes of the model that each start fetches.
    pub model_bytes: f64,
    /// Cards of one machine.
    pub cards_per_machine: u32,
    /// One machine that is taken away stops all (training), or only its share (answers in bulk).
    pub stops_together: bool,
}

impl Default for JobTerms {
    fn default() -> Self {
        Self {
            model_bytes: 0.0,
            cards_per_machine: 8,
            stops_together: true,
        }
    }
}

/// Everything that a bill is made of, but the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tariff {
    pub billing: Billing,
    /// Price of a card for one billing unit, in the scenario's currency.
    pub unit_price: f64,
    /// Price of a card by the hour at the same provider, beyond whole packages.
    pub hour_price: Option<f64>,
    pub rule: HourlyRule,
    /// Cards that are wanted.
    pub count: u32,
    /// Cards that are paid for, whole nodes.
    pub charged: u32,
    pub extras: Extras,
    pub spot: SpotTerms,
    /// Interruptions of one machine in an hour.
    pub interruptions_per_hour: f64,
    pub job: JobTerms,
}

/// Hours by what they pass with.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Hours {
    work: f64,
    evaluation: f64,
    failed: f64,
    interruptions: f64,
    set_up: f64,
    fetch: f64,
    upload: f64,
    idle: f64,
}

impl Hours {
    pub fn total(&self) -> f64 {
        self.work
            + self.evaluation
            + self.failed
            + self.interruptions
            + self.set_up
            + self.fetch
            + self.upload
            + self.idle
    }
}

/// Hours of `gb` over a line of `mbit_s`; none over no line.
fn transfer_hours(gb: f64, mbit_s: f64) -> f64 {
    if mbit_s > 0.0 {
        gb * 8000.0 / mbit_s / SECONDS_PER_HOUR
    } else {
        0.0
    }
}

impl Tariff {
    fn machines(&self) -> u32 {
        self.charged
            .div_ceil(self.job.cards_per_machine.max(1))
            .max(1)
    }

    /// How the job is interrupted, where it can be.
    pub fn interruptions(&self) -> Option<Interruptions> {
        if self.billing != Billing::Spot {
            return None;
        }
        let machines = if self.job.stops_together {
            f64::from(self.machines())
        } else {
            1.0
        };
        Some(Interruptions {
            per_hour: self.interruptions_per_hour * machines,
            checkpoint_hours: self.spot.checkpoint_s / SECONDS_PER_HOUR,
            restart_hours: self.spot.restart_hours,
            interval_hours: self.spot.interval_hours,
        })
    }

    /// Cards in reserve for a service on machines that may be taken away.
    pub fn spare_cards(&self, need: Use) -> u32 {
        match need {
            Use::Month { .. } if self.billing == Billing::Spot => {
                let machines = self.machines();
                let rented = machines_with_spares(
                    machines,
                    self.interruptions_per_hour,
                    self.spot.restart_hours,
                );
                (rented - machines).saturating_mul(self.charged.div_ceil(machines))
            }
            _ => 0,
        }
    }

    pub fn hours(&self, need: Use, end: End) -> Hours {
        let extras = &self.extras;
        let share = |percent: f64| percent / 100.0;
        let fetch_once = transfer_hours(self.job.model_bytes / 1e9, extras.fetch_mbit_s);
        match need {
            Use::Job { hours: work } => {
                let evaluation = work * share(extras.evaluation_percent);
                let failed = (work + evaluation) * share(extras.failed_percent);
                let running = work + evaluation + failed;
                let elapsed = match (self.interruptions(), end) {
                    (None, _) => running,
                    (Some(how), End::Mid) => how.expected_hours(running),
                    (Some(how), End::Low) => how.likely_hours(running).0,
                    (Some(how), End::High) => how.likely_hours(running).1,
                };
                let mut hours = Hours {
                    work,
                    evaluation,
                    failed,
                    interruptions: (elapsed - running).max(0.0),
                    set_up: extras.setup_hours * extras.starts,
                    fetch: fetch_once * extras.starts,
                    upload: transfer_hours(extras.upload_gb, extras.line_mbit_s),
                    idle: 0.0,
                };
                hours.idle = hours.total() * share(extras.idle_percent);
                hours
            }
            Use::Month { hours_per_day } => {
                let work = hours_per_day.clamp(0.0, 24.0) * DAYS_PER_MONTH;
                let free = HOURS_PER_MONTH - work;
                let starts = extras.starts * DAYS_PER_MONTH;
                let set_up = (extras.setup_hours * starts).min(free);
                Hours {
                    work,
                    set_up,
                    fetch: (fetch_once * starts).min(free - set_up),
                    ..Hours::default()
                }
            }
        }
    }

    /// Whole packages that are paid for, and hours by the hour beyond them, whichever is less.
    fn packages(&self, need: Use, hours: f64) -> (f64, f64) {
        let unit = unit_hours(self.billing);
        match need {
            Use::Month { .. } => (billed_hours(self.billing, need) / unit, 0.0),
            Use::Job { .. } => {
                let all = billed_hours(self.billing, Use::Job { hours }) / unit;
                let term = term_hours(self.billing);
                let whole = (hours / term).floor();
                let beyond = self.rule.charged(hours - whole * term, 1.0);
                let mixed = self.hour_price.filter(|price| {
                    let whole_cost = whole * term / unit * self.unit_price;
                    whole >= 1.0 && whole_cost + beyond * price < all * self.unit_price
                });
                match mixed {
                    Some(_) => (whole * term / unit, beyond),
                    None => (all, 0.0),
                }
            }
        }
    }

    /// Hours that are paid for.
    pub fn billed_hours(&self, need: Use) -> f64 {
        let hours = self.hours(need, End::Mid).total();
        if term_hours(self.billing) > 0.0 {
            let (packages, beyond) = self.packages(need, hours);
            packages * unit_hours(self.billing) + beyond
        } else {
            self.charged_hours(need, hours)
        }
    }

    fn charged_hours(&self, need: Use, hours: f64) -> f64 {
        let starts = match need {
            Use::Job { .. } => self.extras.starts,
            // Up all day is one start for the month.
            Use::Month { hours_per_day } if hours_per_day >= 24.0 => 1.0,
            Use::Month { .. } => self.extras.starts * DAYS_PER_MONTH,
        };
        self.rule.charged(hours, starts)
    }

    /// The lines at one end: always the same kinds in the same order.
    fn items(&self, need: Use, end: End) -> Items {
        let hours = self.hours(need, end);
        let elapsed = hours.total();
        let cards = f64::from(self.count);
        let charged = f64::from(self.charged);
        let item = |kind, unit, quantity: f64, price: f64| Item {
            kind,
            unit,
            quantity: if quantity.is_finite() { quantity } else { 0.0 },
            price,
        };
        let nothing = item(LineKind::Work, LineUnit::CardHour, 0.0, 0.0);
        let (by_the_hour, card_hours, hour_price, package) = if term_hours(self.billing) > 0.0 {
            let (packages, beyond) = self.packages(need, elapsed);
            let price = self.hour_price.unwrap_or(0.0);
            let beyond = beyond * charged;
            let by_the_hour = item(LineKind::BeyondPackages, LineUnit::CardHour, beyond, price);
            let unit = LineUnit::of(self.billing);
            let package = item(LineKind::Package, unit, packages * charged, self.unit_price);
            let mut lines = [nothing; HOURLY_LINES];
            lines[0] = by_the_hour;
            (lines, beyond, price, package)
        } else {
            let price = self.unit_price;
            let spares = f64::from(self.spare_cards(need));
            let paid = self.charged_hours(need, elapsed).max(elapsed);
            let lines = [
                (LineKind::Work, hours.work * cards),
                (LineKind::Evaluation, hours.evaluation * cards),
                (LineKind::FailedRuns, hours.failed * cards),
                (LineKind::Interruptions, hours.interruptions * cards),
                (LineKind::SetUp, hours.set_up * cards),
                (LineKind::Fetch, hours.fetch * cards),
                (LineKind::Upload, hours.upload * cards),
                (LineKind::Idle, hours.idle * cards),
                (LineKind::RoundingUp, (paid - elapsed) * cards),
                (LineKind::WholeNodes, paid * (charged - cards)),
                (LineKind::Spares, paid * spares),
            ];
            let lines = lines.map(|(kind, hours)| item(kind, LineUnit::CardHour, hours, price));
            (lines, paid * (charged + spares), price, nothing)
        };
        let extras = &self.extras;
        let gb = (extras.disk_gb - extras.disk_free_gb).max(0.0);
        let (running_months, stopped_months) = match need {
            Use::Job { .. } => (
                elapsed / HOURS_PER_MONTH,
                extras.stopped_days / DAYS_PER_MONTH,
            ),
            Use::Month { .. } => {
                let running = (elapsed / HOURS_PER_MONTH).min(1.0);
                (running, 1.0 - running)
            }
        };
        let others = [
            (
                LineKind::Disk,
                LineUnit::GbMonth,
                gb * running_months,
                extras.disk_price,
            ),
            (
                LineKind::DiskStopped,
                LineUnit::GbMonth,
                gb * stopped_months,
                extras.stopped_price.unwrap_or(extras.disk_price),
            ),
            (
                LineKind::Egress,
                LineUnit::Gb,
                extras.egress_gb,
                extras.egress_price,
            ),
        ];
        let [disk, stopped, egress] =
            others.map(|(kind, unit, quantity, price)| item(kind, unit, quantity, price));
        Items {
            by_the_hour,
            card_hours: if card_hours.is_finite() {
                card_hours
            } else {
                0.0
            },
            hour_price,
            others: [package, disk, stopped, egress],
        }
    }

    /// What `need` costs at one end, not rounded.
    pub fn cost(&self, need: Use, end: End) -> f64 {
        self.items(need, end).cost() * (1.0 + self.extras.tax_percent / 100.0)
    }

    /// The bill, for the need at each end.
    fn bill(&self, [low, mid, high]: [Use; 3]) -> Bill {
        let low = self.items(low, End::Low);
        let mid = self.items(mid, End::Mid);
        let high = self.items(high, End::High);
        let mut lines: Vec<Line> = low
            .amounts()
            .zip(mid.amounts())
            .zip(high.amounts())
            .map(|((low, mid), high)| Line {
                kind: mid.0.kind,
                unit: mid.0.unit,
                quantity: [low.0.quantity, mid.0.quantity, high.0.quantity],
                unit_price: mid.0.price,
                amount: [low.1, mid.1, high.1],
            })
            .filter(|line| line.amount.iter().any(|a| !a.is_zero()))
            .collect();
        order::sort_by_key(&mut lines, |line| line.kind != LineKind::Package);
        let sum = |lines: &[Line]| {
            lines
                .iter()
                .fold([Amount::ZERO; 3], |[low, mid, high], line| {
                    let [l, m, h] = line.amount;
                    [low + l, mid + m, high + h]
                })
        };
        let share = self.extras.tax_percent / 100.0;
        if share > 0.0 {
            let of = sum(&lines);
            lines.push(Line {
                kind: LineKind::Tax,
                unit: LineUnit::Share,
                quantity: [share; 3],
                unit_price: of[1].value(),
                amount: of.map(|sum| Amount::of_product(share, sum.value())),
            });
        }
        Bill {
            total: sum(&lines),
            lines,
        }
    }

    /// Hours from the start to the end of a job of `work` hours: set-up, interruptions and the
    /// rest counted.
    pub fn elapsed(&self, work: Range) -> Range {
        let total = |hours, end| self.hours(Use::Job { hours }, end).total();
        let mid = total(work.mid, End::Mid);
        Range {
            low: total(work.low, End::Low).min(mid),
            mid,
            high: total(work.high, End::High).max(mid),
        }
    }
}

/// What is rented, by whose terms, for how long: a bill that is drawn up when somebody reads it, since a ranking has
/// hundreds and shows one.
#[derive(Debug, Clone, PartialEq)]
pub struct Billed {
    tariff: Box<Tariff>,
    /// The need at the low, the middle and the high end.
    need: [Use; 3],
}

impl Billed {
    pub(super) fn new(tariff: Tariff, need: [Use; 3]) -> Self {
        Self {
            tariff: Box::new(tariff),
            need,
        }
    }

    /// The bill.
    pub fn bill(&self) -> Bill {
        self.tariff.bill(self.need)
    }
}

impl Serialize for Billed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bill().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(billing: Billing, hours: f64) -> f64 {
        billed_hours(billing, Use::Job { hours })
    }

    #[test]
    fn packages_round_up_and_hours_do_not() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(job(Billing::OnDemand, 25.5), 25.5);
        near(job(Billing::Daily, 25.5), 48.0);
        near(job(Billing::Daily, 24.0), 24.0);
        near(job(Billing::Weekly, 169.0), 336.0);
        near(job(Billing::Monthly, 25.5), 720.0);
        near(job(Billing::Yearly, 8761.0), 17_520.0);
        near(job(Billing::Reserved1y, 721.0), 8640.0);
    }

    #[test]
    fn a_month_of_a_service_is_paid_by_the_hours_it_is_up_or_whole() {
        let month = |billing, hours_per_day| billed_hours(billing, Use::Month { hours_per_day });
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(month(Billing::OnDemand, 8.0), 240.0);
        near(month(Billing::Daily, 8.0), 720.0);
        near(month(Billing::Monthly, 8.0), 720.0);
        near(month(Billing::Reserved3y, 24.0), 720.0);
        near(month(Billing::OnDemand, 30.0), 720.0);
    }
}
