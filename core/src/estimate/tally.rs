//! How many estimates were made, so that a test can hold a ranking to its cost without a clock.
//!
//! Counted where debug assertions are on, and nowhere else: what ships does not count.

use std::cell::Cell;

thread_local! {
    static ESTIMATES: Cell<u64> = const { Cell::new(0) };
}

/// One more estimate of a layout's memory or speed.
pub(crate) fn one() {
    if cfg!(debug_assertions) {
        ESTIMATES.with(|count| count.set(count.get() + 1));
    }
}

/// Estimates of memory or speed that `work` makes on this thread; 0 where they are not counted.
pub fn estimates_of<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = ESTIMATES.with(Cell::get);
    let made = work();
    (made, ESTIMATES.with(Cell::get) - before)
}
