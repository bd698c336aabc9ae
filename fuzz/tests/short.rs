//! A few thousand runs of every target with every change; long runs are `cardfit-fuzz`'s.

#![allow(clippy::panic, reason = "tests may end")]

use cardfit_fuzz::targets::{Runner, Target};

/// Runs a target, and wants enough inputs to be taken that more than refusals was tried.
fn runs(target: Target, runs: u64, least_taken: u64) {
    let runner = Runner::new(target);
    let mut taken = 0;
    // Every eighth run is checked most closely, so those are taken.
    for run in (1..=runs).map(|run| run * 8) {
        match runner.run(20_261_130, run) {
            Ok(ran) => taken += u64::from(ran.taken > 0),
            Err(broken) => panic!("{} run {run}: {broken}", target.name()),
        }
    }
    assert!(
        taken >= least_taken,
        "{}: {taken} of {runs} taken",
        target.name()
    );
}

macro_rules! targets {
    ($($name:ident: $target:ident, $runs:expr, $least:expr;)*) => {
        $(#[test]
        fn $name() {
            runs(Target::$target, $runs, $least);
        })*

        #[test]
        fn no_target_is_left_out() {
            let tried = [$(Target::$target),*];
            assert_eq!(tried.len(), Target::ALL.len());
            assert!(Target::ALL.iter().all(|target| tried.contains(target)));
        }
    };
}

targets! {
    listings: Listing, 500, 200;
    printouts: Printout, 1000, 200;
    links: Url, 1000, 100;
    fragments: Fragment, 1000, 100;
    scenarios: Scenario, 1000, 400;
    feeds: Feed, 3000, 150;
    price_lists: Prices, 2000, 200;
    configurations: Config, 1000, 100;
    safetensors: Safetensors, 1000, 100;
    gguf: Gguf, 3000, 80;
    widgets: Embed, 1000, 15;
}
