//! How providers bill: the unit that time is rounded up to, the least time that is charged, storage,
//! interruptions. Read from `core/data/providers.json` and `core/data/interruptions.json`.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::catalog::Currency;
use crate::packed::{Aside, PackedFile, packed, packed_file};
use crate::scenario::{Grain, Money};

/// What is known of how one provider bills.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderRule {
    /// Its names in the price book.
    pub names: Vec<String>,
    /// Unit that time is rounded up to, seconds.
    pub grain_s: f64,
    /// Least time charged for a start, seconds.
    #[serde(default)]
    pub minimum_s: f64,
    /// Whether money has to be paid in before.
    #[serde(default)]
    pub prepaid: bool,
    /// Day of the rule.
    pub as_of: String,
    /// Where it was read.
    pub source: Aside,
    /// Storage.
    #[serde(default)]
    pub disk: Option<DiskRule>,
    /// Traffic.
    #[serde(default)]
    pub egress: Option<EgressRule>,
}

/// Prices of a provider's storage.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskRule {
    /// Currency of both prices.
    pub currency: Currency,
    /// For a GB a month while the machine runs.
    pub running: f64,
    /// For a GB a month while it is stopped.
    pub stopped: f64,
    /// GB free of charge.
    pub free_gb: f64,
    /// Day of the prices.
    pub as_of: String,
    /// Where they were read.
    pub source: Aside,
}

/// Price of traffic out of a provider.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressRule {
    /// Currency of the price.
    pub currency: Currency,
    /// For a GB.
    pub per_gb: f64,
    /// Where it was read.
    pub source: Aside,
}

pub(crate) static PROVIDERS: PackedFile = packed_file!(
    "providers",
    crate::packed::json::<Vec<ProviderRule>>,
    include_str!("../../data/providers.json")
);
pub(crate) static INTERRUPTIONS: PackedFile = packed_file!(
    "interruptions",
    crate::packed::json::<InterruptionRates>,
    include_str!("../../data/interruptions.json")
);

packed!(struct ProviderRule { names, grain_s, minimum_s, prepaid, as_of, source, disk, egress });
packed!(struct DiskRule { currency, running, stopped, free_gb, as_of, source });
packed!(struct EgressRule { currency, per_gb, source });
packed!(struct InterruptionRates { presets, known });
packed!(struct InterruptionPreset { id, per_hour, source });
packed!(struct KnownRate { providers, cards, per_hour, source });

impl ProviderRule {
    /// Every rule known.
    pub fn all() -> &'static [Self] {
        static RULES: OnceLock<Vec<ProviderRule>> = OnceLock::new();
        RULES.get_or_init(|| PROVIDERS.read())
    }

    /// The rule of a provider, where one is known.
    pub fn of(provider: &str) -> Option<&'static Self> {
        Self::all()
            .iter()
            .find(|rule| rule.names.iter().any(|name| name == provider))
    }
}

/// How time by the hour is charged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HourlyRule {
    /// Unit that each stretch of time is rounded up to, hours; 0: charged as it is.
    pub grain_hours: f64,
    /// Least time charged for a start, hours.
    pub minimum_hours: f64,
}

impl HourlyRule {
    /// The rule of a provider, as far as the scenario does not say another. Of an unknown
    /// provider time is charged as it is.
    pub fn of(provider: Option<&str>, money: &Money) -> Self {
        const SECONDS_PER_HOUR: f64 = 3600.0;
        let known = provider.and_then(ProviderRule::of);
        let grain_s = match money.grain {
            Some(Grain::Second) => 1.0,
            Some(Grain::Minute) => 60.0,
            Some(Grain::Hour) => SECONDS_PER_HOUR,
            None => known.map_or(0.0, |rule| rule.grain_s),
        };
        let minimum_hours = money
            .minimum_hours
            .unwrap_or_else(|| known.map_or(0.0, |rule| rule.minimum_s / SECONDS_PER_HOUR));
        Self {
            grain_hours: grain_s / SECONDS_PER_HOUR,
            minimum_hours,
        }
    }

    /// Hours charged for `hours` in all, in `starts` equal stretches:
    /// `ceil(max(t, minimum) / unit) * unit` for each.
    pub fn charged(&self, hours: f64, starts: f64) -> f64 {
        if hours <= 0.0 {
            return 0.0;
        }
        let starts = starts.max(1.0);
        let stretch = (hours / starts).max(self.minimum_hours);
        if self.grain_hours <= 0.0 {
            return stretch * starts;
        }
        // A hair above a whole unit is the arithmetic's, not the clock's.
        let units = (stretch / self.grain_hours * (1.0 - 1e-12)).ceil();
        units * self.grain_hours * starts
    }
}

/// How often machines are taken away.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterruptionRates {
    /// Rates to choose from.
    pub presets: Vec<InterruptionPreset>,
    known: Vec<KnownRate>,
}

/// A rate to choose.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterruptionPreset {
    /// Name of its text.
    pub id: String,
    /// Interruptions in an hour.
    pub per_hour: f64,
    /// What it rests on.
    pub source: Aside,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownRate {
    providers: Vec<String>,
    cards: Vec<String>,
    per_hour: f64,
    #[allow(dead_code, reason = "for the reader of the file")]
    source: Aside,
}

/// Interruptions of a machine in an hour where nothing is known or said: one in 20 hours.
pub const USUAL_INTERRUPTIONS_PER_HOUR: f64 = 0.05;

impl InterruptionRates {
    /// The rates that ship with the product.
    pub fn embedded() -> &'static Self {
        static RATES: OnceLock<InterruptionRates> = OnceLock::new();
        RATES.get_or_init(|| INTERRUPTIONS.read())
    }

    /// Interruptions of one machine in an hour.
    pub fn per_hour(&self, provider: &str, card: &str) -> f64 {
        self.known
            .iter()
            .find(|k| {
                k.providers.iter().any(|p| p == provider) && k.cards.iter().any(|c| c == card)
            })
            .map_or(USUAL_INTERRUPTIONS_PER_HOUR, |k| k.per_hour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::PriceBook;

    #[test]
    fn rules_are_sourced_and_of_providers_of_the_book() {
        assert!(ProviderRule::all().len() >= 12);
        for rule in ProviderRule::all() {
            assert!(!rule.source.is_empty() && rule.as_of.starts_with("2026"));
            for name in &rule.names {
                let known = PriceBook::embedded()
                    .offers
                    .iter()
                    .any(|o| o.provider == *name);
                assert!(known, "{name}");
            }
        }
        assert_eq!(InterruptionRates::embedded().presets.len(), 4);
        let aws = InterruptionRates::embedded().per_hour("AWS", "v100-sxm2-16gb");
        assert!((aws - 0.16).abs() < 1e-12);
    }

    #[test]
    fn time_is_rounded_up_for_every_start() {
        let hour = HourlyRule {
            grain_hours: 1.0,
            minimum_hours: 0.0,
        };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(hour.charged(2.2, 1.0), 3.0);
        near(hour.charged(3.0, 1.0), 3.0);
        near(hour.charged(2.2, 4.0), 4.0);
        near(hour.charged(0.0, 4.0), 0.0);
        // Scaleway: by the minute, at least 60 minutes.
        let scaleway = HourlyRule {
            grain_hours: 1.0 / 60.0,
            minimum_hours: 1.0,
        };
        near(scaleway.charged(0.2, 1.0), 1.0);
        near(scaleway.charged(1.501, 1.0), 91.0 / 60.0);
        // AutoDL: 8 min 47 s is 527 seconds.
        let second = HourlyRule {
            grain_hours: 1.0 / 3600.0,
            minimum_hours: 0.0,
        };
        near(second.charged(527.0 / 3600.0, 1.0), 527.0 / 3600.0);
    }
}
