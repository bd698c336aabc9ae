//! How far off the estimates are: errors and ranges by group of rows.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Judged, Verdict};

/// What rows of one group share; an empty field means that it was not told apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct GroupKey {
    /// Metric.
    pub metric: String,
    /// Kind of job.
    pub kind: String,
    /// Architecture of the card.
    pub family: String,
    /// Engine.
    pub engine: String,
}

/// Errors of one group of rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// What its rows share.
    #[serde(flatten)]
    pub key: GroupKey,
    /// Rows with an estimate.
    pub used: usize,
    /// Rows without one.
    pub unused: usize,
    /// Rows without an estimate by reason, most rows first.
    pub reasons: Vec<(String, usize)>,
    /// Errors of the rows with an estimate and a measured value; `None` where there is none.
    pub errors: Option<Errors>,
    /// For memory; `None` for other metrics.
    pub memory: Option<MemoryFaults>,
}

/// Quantiles of |estimate / measured - 1|, and how often the range holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Errors {
    /// Rows compared.
    pub rows: usize,
    /// Half of the rows are off by less.
    pub median: f64,
    /// 80 of 100 rows are off by less.
    pub p80: f64,
    /// 95 of 100 rows are off by less.
    pub p95: f64,
    /// Median of estimate / measured: above 1, estimates lean high.
    pub bias: f64,
    /// Share of rows whose measured value lies between low and high.
    pub inside: f64,
}

/// Where an estimate of memory would mislead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct MemoryFaults {
    /// Rows whose source says that memory ran out.
    pub ran_out: usize,
    /// Those of them that are shown as fitting: false "fits".
    pub false_fits: usize,
    /// Rows that ran and whose measured peak is above the high end of the estimate.
    pub above_high: usize,
    /// Rows that ran although they are not shown as fitting.
    pub refused: usize,
}

/// A file's errors, by fine groups and in sum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Rows of the file.
    pub rows: usize,
    /// Rows with an estimate.
    pub used: usize,
    /// By metric, kind of job, card family and engine.
    pub groups: Vec<Group>,
    /// By metric and kind of job.
    pub totals: Vec<Group>,
    /// Rows without an estimate by reason, most rows first.
    pub reasons: Vec<(String, usize)>,
}

impl Report {
    /// Counts `verdicts`.
    pub fn of(verdicts: &[Verdict]) -> Self {
        let key = |v: &Verdict| GroupKey {
            metric: v.metric.clone(),
            kind: v.kind.clone(),
            family: v.family.clone(),
            engine: v.engine.clone(),
        };
        Self {
            rows: verdicts.len(),
            used: verdicts.iter().filter(|v| v.is_used()).count(),
            groups: grouped(verdicts, key),
            totals: grouped(verdicts, |v| GroupKey {
                metric: v.metric.clone(),
                kind: v.kind.clone(),
                ..GroupKey::default()
            }),
            reasons: reasons(&verdicts.iter().collect::<Vec<_>>()),
        }
    }

    /// False "fits" over all rows.
    pub fn false_fits(&self) -> usize {
        self.totals
            .iter()
            .filter_map(|g| g.memory)
            .map(|m| m.false_fits)
            .sum()
    }
}

impl Verdict {
    /// Whether the row has an estimate.
    pub fn is_used(&self) -> bool {
        matches!(self.judged, Judged::Used { .. })
    }

    /// `estimate / measured` of a row that has both.
    pub fn ratio(&self) -> Option<f64> {
        match (&self.judged, self.measured) {
            (Judged::Used { estimate, .. }, Some(measured)) => Some(estimate.mid / measured),
            _ => None,
        }
    }
}

/// Groups `verdicts` by `key`, in the order of the keys.
pub fn grouped(verdicts: &[Verdict], key: impl Fn(&Verdict) -> GroupKey) -> Vec<Group> {
    let mut by_key: BTreeMap<GroupKey, Vec<&Verdict>> = BTreeMap::new();
    for verdict in verdicts {
        by_key.entry(key(verdict)).or_default().push(verdict);
    }
    by_key
        .into_iter()
        .map(|(key, rows)| group(key, &rows))
        .collect()
}

fn group(key: GroupKey, rows: &[&Verdict]) -> Group {
    let used = rows.iter().filter(|v| v.is_used()).count();
    Group {
        key,
        used,
        unused: rows.len() - used,
        reasons: reasons(rows),
        errors: errors(rows),
        memory: memory_faults(rows),
    }
}

/// Reasons of the rows without an estimate, most rows first, then by name.
fn reasons(rows: &[&Verdict]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for verdict in rows {
        if let Judged::Unused { reason } = &verdict.judged {
            *counts.entry(reason).or_default() += 1;
        }
    }
    let mut counts: Vec<(String, usize)> = counts
        .into_iter()
        .map(|(reason, count)| (reason.to_owned(), count))
        .collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

fn errors(rows: &[&Verdict]) -> Option<Errors> {
    let mut ratios: Vec<f64> = rows.iter().filter_map(|v| v.ratio()).collect();
    if ratios.is_empty() {
        return None;
    }
    let inside = rows
        .iter()
        .filter(|v| match (&v.judged, v.measured) {
            (Judged::Used { estimate, .. }, Some(measured)) => estimate.holds(measured),
            _ => false,
        })
        .count();
    let mut off: Vec<f64> = ratios.iter().map(|r| (r - 1.0).abs()).collect();
    ratios.sort_by(f64::total_cmp);
    off.sort_by(f64::total_cmp);
    Some(Errors {
        rows: off.len(),
        median: quantile(&off, 0.5),
        p80: quantile(&off, 0.8),
        p95: quantile(&off, 0.95),
        bias: quantile(&ratios, 0.5),
        inside: inside as f64 / off.len() as f64,
    })
}

fn memory_faults(rows: &[&Verdict]) -> Option<MemoryFaults> {
    let mut faults = MemoryFaults::default();
    let mut any = false;
    for verdict in rows {
        if verdict.metric != "peak_mem_gb" {
            continue;
        }
        any = true;
        let Judged::Used { estimate, fits } = &verdict.judged else {
            continue;
        };
        if verdict.ran_out_of_memory {
            faults.ran_out += 1;
            faults.false_fits += usize::from(*fits == Some(true));
        } else if let Some(measured) = verdict.measured {
            faults.above_high += usize::from(measured > estimate.high);
            faults.refused += usize::from(*fits == Some(false));
        }
    }
    any.then_some(faults)
}

/// The `q` quantile of values in rising order, between neighbours in proportion; 0 of nothing.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let at = q.clamp(0.0, 1.0) * last as f64;
    let below = at.floor() as usize;
    let low = sorted.get(below).copied().unwrap_or_default();
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    low + (high - low) * at.fract()
}
