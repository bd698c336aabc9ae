//! Machines that may be taken away: how long a job takes on them, how often it should save, and how
//! many machines a service keeps in reserve.
//!
//! Interruptions come at random with a constant rate, also while the job starts again. After one,
//! the job goes back to its last checkpoint. J. W. Young, "A first order approximation to the optimum
//! checkpoint interval", CACM 17(9), 1974; J. T. Daly, "A higher order estimate of the optimum
//! checkpoint interval for restart dumps", FGCS 22(3), 2006.

/// How often a job is interrupted and what each interruption costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interruptions {
    /// Interruptions of the job in an hour: those of all machines that it needs at once.
    pub per_hour: f64,
    /// Hours to write a checkpoint.
    pub checkpoint_hours: f64,
    /// Hours from an interruption until the work goes on from the last checkpoint.
    pub restart_hours: f64,
    /// Hours of work between checkpoints; `None`: the best.
    pub interval_hours: Option<f64>,
}

/// Longest time that is told, hours: a job that is interrupted faster than it works never ends.
const NEVER_HOURS: f64 = 1e9;
/// Between a low and a high that hold 80 of 100 normal values, standard deviations from the middle.
const EIGHTY_PERCENT: f64 = 1.2816;

impl Interruptions {
    /// Mean time between interruptions, hours; infinite where there are none.
    fn mean_hours(&self) -> f64 {
        1.0 / self.per_hour
    }

    /// Young's interval: `sqrt(2 delta M)`.
    pub fn young_interval(&self) -> f64 {
        (2.0 * self.checkpoint_hours * self.mean_hours()).sqrt()
    }

    /// Daly's interval, equation 37: Young's with its higher orders, and the mean time between
    /// interruptions where writing takes more than twice that.
    pub fn daly_interval(&self) -> f64 {
        let (delta, mean) = (self.checkpoint_hours, self.mean_hours());
        if delta >= 2.0 * mean {
            return mean;
        }
        let ratio = delta / (2.0 * mean);
        (2.0 * delta * mean).sqrt() * (1.0 + ratio.sqrt() / 3.0 + ratio / 9.0) - delta
    }

    /// Hours of work between checkpoints: what was asked for, else Daly's.
    pub fn interval(&self) -> f64 {
        self.interval_hours.unwrap_or_else(|| self.daly_interval())
    }

    /// Expected hours of a job of `work` hours: one stretch after another, each with its
    /// checkpoint, the last without. A stretch of `w` hours takes
    /// `M e^(R/M) (e^(w/M) - 1)` (Daly's equation 20 for one stretch).
    pub fn expected_hours(&self, work: f64) -> f64 {
        self.stretches(work).0
    }

    /// Hours that about 80 of 100 such jobs end between: the variance of each stretch is exact, and
    /// the sum over stretches is taken as normal.
    pub fn likely_hours(&self, work: f64) -> (f64, f64) {
        let (expected, variance) = self.stretches(work);
        let spread = EIGHTY_PERCENT * variance.sqrt();
        let least = work.min(expected);
        (
            (expected - spread).max(least),
            (expected + spread).min(NEVER_HOURS),
        )
    }

    /// Mean and variance of the hours.
    fn stretches(&self, work: f64) -> (f64, f64) {
        if work <= 0.0 {
            return (0.0, 0.0);
        }
        let saving = self.checkpoint_hours;
        let interval = self.interval().max(1e-6);
        let whole = if interval.is_finite() {
            ((work / interval).ceil() - 1.0).max(0.0)
        } else {
            0.0
        };
        let last = work - whole * interval;
        if self.per_hour <= 0.0 {
            return (work + whole * saving, 0.0);
        }
        // Saving costs nothing: it is done all the time, and only starting again is lost.
        let (expected, variance) = if saving <= 0.0 && self.interval_hours.is_none() {
            let (again, square) = self.undisturbed(self.restart_hours);
            let times = self.per_hour * work;
            (work + times * again, times * square)
        } else {
            let (mean, variance) = self.one_stretch(interval + saving);
            let (last_mean, last_variance) = self.one_stretch(last);
            (whole * mean + last_mean, whole * variance + last_variance)
        };
        if expected.is_nan() || expected > NEVER_HOURS {
            return (NEVER_HOURS, 0.0);
        }
        (expected, if variance.is_finite() { variance } else { 0.0 })
    }

    /// Mean and mean square of the hours until `hours` pass without an interruption, each try
    /// beginning anew: the gap that a pedestrian waits for in traffic.
    fn undisturbed(&self, hours: f64) -> (f64, f64) {
        let mean = self.mean_hours();
        let growth = (hours / mean).exp();
        let expected = mean * (growth - 1.0);
        let variance = mean * mean * (growth * growth - 2.0 * hours / mean * growth - 1.0);
        (expected, variance + expected * expected)
    }

    /// Mean and variance of one stretch of `hours` without a checkpoint inside. The first try
    /// begins at once, those after an interruption with a restart.
    fn one_stretch(&self, hours: f64) -> (f64, f64) {
        let mean = self.mean_hours();
        let holds = (-hours / mean).exp();
        let fails = 1.0 - holds;
        if fails <= 0.0 {
            return (hours, 0.0);
        }
        let lost = mean - hours * holds / fails;
        let lost_square = 2.0 * mean * mean - (hours * hours + 2.0 * mean * hours) * holds / fails;
        let (again, again_square) = self.undisturbed(hours + self.restart_hours);
        let expected = mean * (self.restart_hours / mean).exp() * ((hours / mean).exp() - 1.0);
        let square =
            holds * hours * hours + fails * (lost_square + 2.0 * lost * again + again_square);
        (expected, (square - expected * expected).max(0.0))
    }
}

/// Machines to rent so that `needed` are up with a probability of 99 %, each being away for
/// `away_hours` after every interruption.
pub fn machines_with_spares(needed: u32, interruptions_per_hour: f64, away_hours: f64) -> u32 {
    const SURE: f64 = 0.99;
    const MOST_SPARES: u32 = 4096;
    let away = interruptions_per_hour * away_hours;
    if needed == 0 || away.is_nan() || away <= 0.0 {
        return needed;
    }
    let up = 1.0 / (1.0 + away);
    // Binomial: at least `needed` of `rented` are up. Spares are added one at a time, and with each the
    // chance that exactly as many trials are needed for `needed` successes is added.
    let mut exactly = f64::from(needed) * up.ln();
    let mut at_least = exactly.exp();
    let mut spares = 0;
    while at_least < SURE && spares < MOST_SPARES {
        spares += 1;
        let trials = f64::from(needed + spares);
        exactly += ((trials - 1.0) / f64::from(spares) * (1.0 - up)).ln();
        at_least += exactly.exp();
    }
    needed + spares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interruptions(per_hour: f64, checkpoint_hours: f64, restart_hours: f64) -> Interruptions {
        Interruptions {
            per_hour,
            checkpoint_hours,
            restart_hours,
            interval_hours: None,
        }
    }

    /// Random numbers of a fixed start (xorshift64*), so that a test's result is always the same.
    struct Dice(u64);

    impl Dice {
        fn uniform(&mut self) -> f64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
            (bits as f64 + 0.5) / (1u64 << 53) as f64
        }

        fn until_interrupted(&mut self, per_hour: f64) -> f64 {
            -self.uniform().ln() / per_hour
        }
    }

    /// Plays one job, event by event, and tells its hours.
    fn play(dice: &mut Dice, how: &Interruptions, interval: f64, work: f64) -> f64 {
        let (mut now, mut saved) = (0.0, 0.0);
        let mut restarting = false;
        while saved < work {
            let left: f64 = work - saved;
            let stretch = left.min(interval);
            let saving = if left > interval {
                how.checkpoint_hours
            } else {
                0.0
            };
            let start = if restarting { how.restart_hours } else { 0.0 };
            let needed = start + stretch + saving;
            let interrupted = dice.until_interrupted(how.per_hour);
            if interrupted < needed {
                now += interrupted;
                restarting = true;
            } else {
                now += needed;
                saved += stretch;
                restarting = false;
            }
        }
        now
    }

    fn mean_of(seed: u64, how: &Interruptions, interval: f64, work: f64) -> (f64, Vec<f64>) {
        const JOBS: usize = 10_000;
        let mut dice = Dice(seed);
        let hours: Vec<f64> = (0..JOBS)
            .map(|_| play(&mut dice, how, interval, work))
            .collect();
        (hours.iter().sum::<f64>() / JOBS as f64, hours)
    }

    #[test]
    fn ten_thousand_interrupted_jobs_take_as_long_as_expected() {
        for (per_hour, checkpoint, restart, work) in [
            (0.01, 1.0 / 60.0, 0.25, 100.0),
            (0.05, 1.0 / 60.0, 0.25, 40.0),
            (0.05, 0.1, 0.5, 40.0),
            (0.2, 0.05, 0.25, 20.0),
            (0.2, 0.5, 1.0, 10.0),
            (0.05, 0.1, 0.5, 0.5),
        ] {
            let how = interruptions(per_hour, checkpoint, restart);
            let (mean, hours) = mean_of(7, &how, how.interval(), work);
            let expected = how.expected_hours(work);
            assert!(
                (mean / expected - 1.0).abs() < 0.03,
                "{how:?}: {mean} of {expected}"
            );
            // The ends hold about 80 of 100 (a job with hardly any interruptions is mostly at its shortest).
            let (low, high) = how.likely_hours(work);
            let inside = hours.iter().filter(|h| (low..=high).contains(*h)).count();
            let share = inside as f64 / hours.len() as f64;
            assert!((0.7..=0.99).contains(&share), "{how:?}: {share} inside");
        }
    }

    #[test]
    fn dalys_interval_is_the_best_of_the_simulated_ones_within_3_percent() {
        for (per_hour, checkpoint, restart, work) in [
            (0.05, 1.0 / 60.0, 0.25, 40.0),
            (0.05, 0.1, 0.5, 40.0),
            (0.2, 0.1, 0.25, 20.0),
        ] {
            let how = interruptions(per_hour, checkpoint, restart);
            let daly = how.daly_interval();
            let (at_daly, _) = mean_of(11, &how, daly, work);
            let best = [0.25, 0.4, 0.6, 0.8, 1.0, 1.25, 1.7, 2.5, 4.0]
                .map(|factor| mean_of(11, &how, daly * factor, work).0)
                .into_iter()
                .fold(f64::INFINITY, f64::min);
            assert!(at_daly <= best * 1.03, "{how:?}: {at_daly} of {best}");
        }
    }

    /// The interval itself against the exact optimum of many stretches, found by trying.
    #[test]
    fn dalys_interval_is_within_3_percent_of_the_exact_optimum() {
        for (per_hour, checkpoint) in [(0.01, 1.0 / 60.0), (0.05, 0.1), (0.2, 0.1), (0.2, 0.5)] {
            let how = interruptions(per_hour, checkpoint, 0.25);
            let waste = |tau: f64| (((tau + checkpoint) * per_hour).exp() - 1.0) / tau;
            let daly = how.daly_interval();
            let exact = (1..20_000)
                .map(|n| daly * f64::from(n) / 10_000.0)
                .min_by(|a, b| waste(*a).total_cmp(&waste(*b)))
                .unwrap_or(0.0);
            assert!((daly / exact - 1.0).abs() < 0.03, "{daly} of {exact}");
        }
    }

    #[test]
    fn by_hand() {
        // A minute to save, one interruption in 20 hours: Young's interval is sqrt(2 x 1/60 x 20) = 0.8165 h.
        let how = interruptions(0.05, 1.0 / 60.0, 0.25);
        assert!((how.young_interval() - 0.816_497).abs() < 1e-6);
        // 0.8165 x (1 + sqrt(1/2400)/3 + 1/21600) - 1/60 = 0.80543.
        assert!((how.daly_interval() - 0.805_424).abs() < 1e-5);
        // Writing takes more than twice the time between interruptions: save once in that time.
        assert!((interruptions(2.0, 1.5, 0.0).daly_interval() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn without_interruptions_the_work_is_all_there_is() {
        for work in [0.0, 0.3, 40.0, 5000.0] {
            let none = interruptions(0.0, 0.1, 1.0);
            assert!((none.expected_hours(work) - work).abs() < 1e-12);
            assert_eq!(none.likely_hours(work), (work, work));
        }
        // Saving every two hours takes its time all the same: four times for ten hours of work.
        let saving = Interruptions {
            interval_hours: Some(2.0),
            ..interruptions(0.0, 0.1, 1.0)
        };
        assert!((saving.expected_hours(10.0) - 10.4).abs() < 1e-9);
        // Nothing is lost where saving and starting again take no time.
        let free = interruptions(0.5, 0.0, 0.0);
        assert!((free.expected_hours(10.0) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn it_takes_longer_with_more_of_anything() {
        let base = interruptions(0.05, 0.1, 0.5);
        let hours = base.expected_hours(40.0);
        for worse in [
            interruptions(0.06, 0.1, 0.5),
            interruptions(0.05, 0.12, 0.5),
            interruptions(0.05, 0.1, 0.6),
        ] {
            assert!(worse.expected_hours(40.0) > hours, "{worse:?}");
        }
        assert!(base.expected_hours(41.0) > hours);
        assert!(
            interruptions(100.0, 1.0, 10.0)
                .expected_hours(1e4)
                .is_finite()
        );
    }

    #[test]
    fn spares_by_hand() {
        // Never away, or away at once: no spare.
        assert_eq!(machines_with_spares(5, 0.0, 1.0), 5);
        // Up 0.9877 of the time: one is not 99 %, two are 0.99985.
        assert_eq!(machines_with_spares(1, 0.05, 0.25), 2);
        // Up half of the time: 1 - 0.5^7 = 0.992, 1 - 0.5^6 = 0.984.
        assert_eq!(machines_with_spares(1, 1.0, 1.0), 7);
        // Ten at 0.9877: 11 hold 1 - P(two or more of 11 away) = 0.9918.
        assert_eq!(machines_with_spares(10, 0.05, 0.25), 11);
        assert_eq!(machines_with_spares(0, 1.0, 1.0), 0);
    }
}
