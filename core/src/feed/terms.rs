//! What an operator charges beside the cards, and how it enters a scenario.

use super::Feed;
use super::fields::Fields;
use super::issue::{Effect, FeedIssue};
use crate::rental::Exchange;
use crate::scenario::limits::{DISK_FREE, DISK_PRICE, EGRESS_PRICE, Limit, TAX};
use crate::scenario::{Extras, Scenario};

/// What is charged beside the cards, in the feed's currency; silent: nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Terms {
    /// GB of storage that are free of charge.
    pub disk_free_gb: Option<f64>,
    /// Storage while the machine runs, for a GB a month.
    pub disk_price: Option<f64>,
    /// Storage while it is stopped, for a GB a month.
    pub stopped_price: Option<f64>,
    /// Data taken out, for a GB.
    pub egress_price: Option<f64>,
    /// What an invoice adds to all, per cent.
    pub tax_percent: Option<f64>,
}

/// A term with the parameter that says the same in a link, and the place where JSON says it.
struct Place {
    param: &'static str,
    pointer: &'static str,
    limit: &'static Limit,
    value: fn(&Terms) -> Option<f64>,
    is_money: bool,
    set: fn(&mut Extras, f64),
}

const PLACES: [Place; 5] = [
    Place {
        param: "diskfree",
        pointer: "/money/extras/disk_free_gb",
        limit: &DISK_FREE,
        value: |terms| terms.disk_free_gb,
        is_money: false,
        set: |extras, value| extras.disk_free_gb = value,
    },
    Place {
        param: "diskprice",
        pointer: "/money/extras/disk_price",
        limit: &DISK_PRICE,
        value: |terms| terms.disk_price,
        is_money: true,
        set: |extras, value| extras.disk_price = value,
    },
    Place {
        param: "stoppedprice",
        pointer: "/money/extras/stopped_price",
        limit: &DISK_PRICE,
        value: |terms| terms.stopped_price,
        is_money: true,
        set: |extras, value| extras.stopped_price = Some(value),
    },
    Place {
        param: "egressprice",
        pointer: "/money/extras/egress_price",
        limit: &EGRESS_PRICE,
        value: |terms| terms.egress_price,
        is_money: true,
        set: |extras, value| extras.egress_price = value,
    },
    Place {
        param: "tax",
        pointer: "/money/extras/tax_percent",
        limit: &TAX,
        value: |terms| terms.tax_percent,
        is_money: false,
        set: |extras, value| extras.tax_percent = value,
    },
];

/// Reads the terms of a feed; what cannot be used is noted and left out.
pub(super) fn read(fields: &Fields<'_>, issues: &mut Vec<FeedIssue>) -> Terms {
    let storage = fields.part("storage", issues);
    let traffic = fields.part("traffic", issues);
    let mut number = |part: &Option<Fields<'_>>, name: &str, limit: &Limit| {
        part.as_ref()?.number(name, limit.min, limit.max, issues)
    };
    Terms {
        disk_free_gb: number(&storage, "free_gb", &DISK_FREE),
        disk_price: number(&storage, "price_per_gb_month", &DISK_PRICE),
        stopped_price: number(&storage, "stopped_price_per_gb_month", &DISK_PRICE),
        egress_price: number(&traffic, "out_price_per_gb", &EGRESS_PRICE),
        tax_percent: fields.number("tax_percent", TAX.min, TAX.max, issues),
    }
}

impl<'a> Fields<'a> {
    /// An object that may be missing; its fields are never needed.
    fn part(&self, name: &str, issues: &mut Vec<FeedIssue>) -> Option<Fields<'a>> {
        let value = self.get(name)?;
        let map = value.as_object();
        if map.is_none() {
            issues.push(self.wrong(name, value, "{…}", Effect::PartDropped));
        }
        Some(Fields {
            map: map?,
            path: self.at(name),
            needed: Effect::PartDropped,
        })
    }

    /// A number within a range that may be missing.
    fn number(
        &self,
        name: &str,
        least: f64,
        most: f64,
        issues: &mut Vec<FeedIssue>,
    ) -> Option<f64> {
        let value = self.get(name)?;
        let number = value.as_f64().filter(|n| (least..=most).contains(n));
        if number.is_none() {
            let expected = format!("{least} … {most}");
            issues.push(self.wrong(name, value, &expected, Effect::PartDropped));
        }
        number
    }
}

impl Feed {
    /// Puts the operator's currency and terms into a scenario, where nobody said others: `said` tells of a link's
    /// parameter, or of a place in a scenario's JSON, whether the scenario states it.
    pub fn enter(&self, scenario: &mut Scenario, said: impl Fn(&str, &str) -> bool) {
        if !said("cur", "/money/currency") {
            scenario.money = scenario.money.clone().in_currency(self.currency);
        }
        let money = &scenario.money;
        let factor = Exchange::of(money).convert(1.0, self.currency, money.currency);
        for place in &PLACES {
            let Some(value) = (place.value)(&self.terms) else {
                continue;
            };
            if said(place.param, place.pointer) {
                continue;
            }
            let value = if place.is_money {
                value * factor
            } else {
                value
            };
            let value = value.clamp(place.limit.min, place.limit.max);
            (place.set)(&mut scenario.money.extras, value);
        }
    }
}
