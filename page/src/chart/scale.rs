//! Scales and ticks: where a value lies on a chart, and which values are named on its axis.

/// How values are laid out along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Equal differences are equally long.
    Linear,
    /// Equal factors are equally long.
    Log,
}

/// A value's place along one axis, and back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    kind: Kind,
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// A linear scale from `domain` to the pixels `start..end`; a domain without width is given some.
    pub fn linear(domain: (f64, f64), start: f64, end: f64) -> Self {
        let (from, to) = ordered(domain).unwrap_or((0.0, 1.0));
        let to = if to > from { to } else { from + 1.0 };
        Self {
            kind: Kind::Linear,
            from,
            to,
            start,
            end,
        }
    }

    /// A logarithmic scale; what is not above zero is not on it.
    pub fn log(domain: (f64, f64), start: f64, end: f64) -> Self {
        let (from, to) = ordered(domain)
            .filter(|(from, _)| *from > 0.0)
            .unwrap_or((1.0, 10.0));
        // Less than a third of an octave is widened, so that one point stands in the middle.
        let (from, to) = if to / from < 1.25 {
            (from / 1.5, to * 1.5)
        } else {
            (from, to)
        };
        Self {
            kind: Kind::Log,
            from,
            to,
            start,
            end,
        }
    }

    /// Pixel of a value; a value beyond an end is placed at that end.
    pub fn place(&self, value: f64) -> f64 {
        let share = match self.kind {
            Kind::Linear => (value - self.from) / (self.to - self.from),
            Kind::Log if value > 0.0 => (value / self.from).ln() / (self.to / self.from).ln(),
            Kind::Log => 0.0,
        };
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.5
        };
        self.start + share * (self.end - self.start)
    }

    /// Value at a pixel.
    pub fn value(&self, pixel: f64) -> f64 {
        let share = ((pixel - self.start) / (self.end - self.start)).clamp(0.0, 1.0);
        match self.kind {
            Kind::Linear => self.from + share * (self.to - self.from),
            Kind::Log => self.from * (self.to / self.from).powf(share),
        }
    }

    /// Smallest and largest value.
    pub fn domain(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// First and last pixel.
    pub fn pixels(&self) -> (f64, f64) {
        (self.start, self.end)
    }

    /// Round values to name on the axis, about `most` of them and never more than twice that.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        match self.kind {
            Kind::Linear => linear_ticks(self.from, self.to, most),
            Kind::Log => log_ticks(self.from, self.to, most),
        }
    }

    /// Ticks of a scale of seconds: minutes, hours, days, weeks and years rather than powers of ten.
    pub fn time_ticks(&self, most: usize) -> Vec<f64> {
        const STEPS: [f64; 15] = [
            60.0,
            600.0,
            1800.0,
            3600.0,
            3.0 * 3600.0,
            10.0 * 3600.0,
            86_400.0,
            3.0 * 86_400.0,
            10.0 * 86_400.0,
            30.0 * 86_400.0,
            100.0 * 86_400.0,
            365.0 * 86_400.0,
            3.0 * 365.0 * 86_400.0,
            10.0 * 365.0 * 86_400.0,
            100.0 * 365.0 * 86_400.0,
        ];
        // Of a short span, what a clock shows.
        const FINE: [f64; 14] = [
            60.0,
            120.0,
            180.0,
            300.0,
            600.0,
            900.0,
            1200.0,
            1800.0,
            2700.0,
            3600.0,
            2.0 * 3600.0,
            3.0 * 3600.0,
            5.0 * 3600.0,
            10.0 * 3600.0,
        ];
        let within = |steps: &[f64]| -> Vec<f64> {
            let inside = steps.iter().copied();
            inside
                .filter(|step| (self.from..=self.to).contains(step))
                .collect()
        };
        let mut inside = within(&STEPS);
        if inside.len() < 3 && self.from >= 60.0 / 2.0 && self.to <= 20.0 * 3600.0 {
            inside = within(&FINE);
        }
        if inside.len() < 2 {
            return self.ticks(most);
        }
        let every = inside.len().div_ceil(most.max(2));
        inside.into_iter().step_by(every).collect()
    }
}

fn ordered((a, b): (f64, f64)) -> Option<(f64, f64)> {
    (a.is_finite() && b.is_finite()).then(|| (a.min(b), a.max(b)))
}

fn linear_ticks(from: f64, to: f64, most: usize) -> Vec<f64> {
    let rough = (to - from) / most.max(1) as f64;
    let magnitude = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * magnitude)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * magnitude);
    let first = (from / step).ceil() as i64;
    let last = (to / step * (1.0 + 1e-9)).floor() as i64;
    (first..=last.min(first + 2 * most as i64))
        .map(|n| n as f64 * step)
        .collect()
}

fn log_ticks(from: f64, to: f64, most: usize) -> Vec<f64> {
    const FAMILIES: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let (first, last) = (from.log10().floor() as i32, to.log10().ceil() as i32);
    let family = |steps: &[f64], every: i32| -> Vec<f64> {
        (first..=last)
            .filter(|power| power.rem_euclid(every) == 0)
            .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
            .filter(|tick| *tick >= from * (1.0 - 1e-9) && *tick <= to * (1.0 + 1e-9))
            .collect()
    };
    for steps in FAMILIES {
        let ticks = family(steps, 1);
        if ticks.len() <= most.max(2) {
            // Within less than a decade, round differences name more.
            if ticks.len() < 3 {
                return linear_ticks(from, to, most.min(4));
            }
            return ticks;
        }
    }
    (2..40)
        .map(|every| family(&[1.0], every))
        .find(|ticks| ticks.len() <= most.max(2))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decade_is_as_long_anywhere() {
        let scale = Scale::log((1.0, 1000.0), 0.0, 300.0);
        assert!((scale.place(10.0) - 100.0).abs() < 1e-9);
        assert!((scale.place(100.0) - 200.0).abs() < 1e-9);
        assert!((scale.value(200.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn what_lies_beyond_is_placed_at_the_end() {
        let scale = Scale::linear((0.0, 10.0), 100.0, 0.0);
        assert!((scale.place(-5.0) - 100.0).abs() < 1e-9);
        assert!(scale.place(50.0).abs() < 1e-9);
        assert!((Scale::log((1.0, 10.0), 0.0, 10.0).place(0.0)).abs() < 1e-9);
    }

    #[test]
    fn a_domain_of_one_value_or_none_is_still_a_scale() {
        for (from, to) in [(5.0, 5.0), (0.0, 0.0), (f64::NAN, 1.0), (-1.0, 3.0)] {
            for scale in [
                Scale::log((from, to), 0.0, 100.0),
                Scale::linear((from, to), 0.0, 100.0),
            ] {
                let placed = scale.place(5.0);
                assert!((0.0..=100.0).contains(&placed), "{from} {to} {placed}");
                assert!(scale.ticks(5).iter().all(|t| t.is_finite()));
            }
        }
        let one = Scale::log((5.0, 5.0), 0.0, 100.0);
        assert!((one.place(5.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_round_inside_the_domain_and_few() {
        let near = |ticks: Vec<f64>, wanted: &[f64]| {
            assert_eq!(ticks.len(), wanted.len(), "{ticks:?}");
            for (a, b) in ticks.iter().zip(wanted) {
                assert!((a / b - 1.0).abs() < 1e-9, "{ticks:?}");
            }
        };
        near(
            Scale::log((1.0, 100.0), 0.0, 1.0).ticks(8),
            &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0],
        );
        near(
            Scale::log((1.0, 1e4), 0.0, 1.0).ticks(6),
            &[1.0, 10.0, 100.0, 1000.0, 1e4],
        );
        near(
            Scale::linear((3.0, 24.0), 0.0, 1.0).ticks(5),
            &[5.0, 10.0, 15.0, 20.0],
        );
        for (from, to) in [(1e-9, 1e12), (0.3, 7.0), (4.0, 4.5)] {
            for most in [3, 5, 8] {
                let ticks = Scale::log((from, to), 0.0, 1.0).ticks(most);
                assert!(ticks.len() <= 2 * most, "{from} {to} {most}: {ticks:?}");
                assert!(ticks.windows(2).all(|w| w[0] < w[1]));
            }
        }
    }

    #[test]
    fn time_is_named_in_units_of_time() {
        let scale = Scale::log((1800.0, 20.0 * 86_400.0), 0.0, 1.0);
        let ticks = scale.time_ticks(8);
        assert!(
            ticks.contains(&3600.0) && ticks.contains(&86_400.0),
            "{ticks:?}"
        );
    }
}
