//! Rows by source, and fits that leave one source out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::thread;

use crate::Fitted;

/// The sources of `rows`, by name.
pub fn sources<R>(rows: &[R], source_of: impl Fn(&R) -> &str) -> BTreeSet<String> {
    rows.iter().map(|row| source_of(row).to_owned()).collect()
}

/// Fits on all rows, then once for every source on all rows but that source's.
///
/// `fit` gets the rows to fit on and, for the fits without a source, the constants fitted on all
/// rows, from where it may start. The order in which fits run does not show in the result.
pub fn leave_one_source_out<R: Sync, C: Clone + Send + Sync>(
    rows: &[R],
    source_of: impl Fn(&R) -> &str + Sync,
    fit: impl Fn(&[&R], Option<&C>) -> C + Sync,
) -> Fitted<C> {
    let everything: Vec<&R> = rows.iter().collect();
    let all = fit(&everything, None);
    let waiting: Mutex<Vec<String>> = Mutex::new(sources(rows, &source_of).into_iter().collect());
    let done: Mutex<BTreeMap<String, C>> = Mutex::new(BTreeMap::new());
    // A poisoned lock still holds whole data: each worker only pops or inserts under it.
    let work = || {
        loop {
            let next = waiting.lock().unwrap_or_else(|e| e.into_inner()).pop();
            let Some(left_out) = next else { return };
            let kept: Vec<&R> = rows.iter().filter(|r| source_of(r) != left_out).collect();
            let constants = fit(&kept, Some(&all));
            done.lock()
                .unwrap_or_else(|e| e.into_inner())
                .insert(left_out, constants);
        }
    };
    let workers = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    Fitted {
        all,
        without: done.into_inner().unwrap_or_else(|e| e.into_inner()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fold_sees_every_row_but_its_own_source() {
        let rows = [("a", 1.0), ("b", 10.0), ("a", 2.0), ("c", 100.0)];
        let fitted = leave_one_source_out(
            &rows,
            |row| row.0,
            |rows, _: Option<&f64>| rows.iter().map(|row| row.1).sum::<f64>(),
        );
        assert!((fitted.all - 113.0).abs() < 1e-12);
        let without: Vec<(&str, f64)> = fitted
            .without
            .iter()
            .map(|(source, sum)| (source.as_str(), *sum))
            .collect();
        assert_eq!(without, [("a", 110.0), ("b", 103.0), ("c", 13.0)]);
    }

    #[test]
    fn folds_may_start_from_the_fit_on_everything() {
        let rows = [("a", 1), ("b", 2)];
        let fitted = leave_one_source_out(
            &rows,
            |row| row.0,
            |rows, start: Option<&i32>| start.copied().unwrap_or(1000) + rows[0].1,
        );
        assert_eq!(fitted.all, 1001);
        assert_eq!(fitted.without["a"], 1003);
        assert_eq!(fitted.without["b"], 1002);
    }
}
