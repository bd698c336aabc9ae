//! How a mode of billing turns hours of use into hours that are paid for.

use crate::catalog::Billing;

/// Hours of a month as it is billed: 30 days, as most Chinese platforms count.
pub const HOURS_PER_MONTH: f64 = 720.0;

/// Days of a billed month.
const DAYS_PER_MONTH: f64 = 30.0;

/// What cards are rented for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Use {
    /// One job of this many hours, once.
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
        Billing::Monthly => HOURS_PER_MONTH,
    }
}

/// Shortest time that a mode is sold for, hours; 0: to the hour or finer.
fn term_hours(billing: Billing) -> f64 {
    match billing {
        Billing::OnDemand | Billing::Spot => 0.0,
        Billing::Daily => 24.0,
        Billing::Monthly => HOURS_PER_MONTH,
        Billing::Reserved1y => 12.0 * HOURS_PER_MONTH,
        Billing::Reserved3y => 36.0 * HOURS_PER_MONTH,
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
        near(job(Billing::Monthly, 25.5), 720.0);
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
