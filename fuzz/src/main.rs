//! `cardfit-fuzz TARGET RUNS [SEED [FIRST_RUN]]`: runs a reader of what people bring on that many mutated inputs.
//!
//! A panic, an overflow or a broken promise ends the program; the message names the run, and the same seed and run make
//! the same input again. Build it with `--profile fuzz`, which keeps the checks of overflow.

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cardfit_fuzz::targets::{Runner, Target};

static RUN: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout();
    let number = |at: usize, or: u64| match args.get(at) {
        Some(text) => text.parse().ok(),
        None => Some(or),
    };
    let target = args.first().and_then(|name| Target::named(name));
    let (Some(target), Some(runs), Some(seed), Some(first)) =
        (target, number(1, 10_000), number(2, 1), number(3, 0))
    else {
        let names = Target::ALL.map(Target::name).join("|");
        let _ = writeln!(out, "cardfit-fuzz {names} RUNS [SEED [FIRST_RUN]]");
        return ExitCode::from(2);
    };
    std::panic::set_hook(Box::new(|info| {
        let _ = writeln!(
            std::io::stderr(),
            "run {}: {info}",
            RUN.load(Ordering::Relaxed)
        );
    }));
    let runner = Runner::new(target);
    let begun = Instant::now();
    let (mut taken, mut bytes) = (0_u64, 0_u64);
    let mut slowest = (Duration::ZERO, 0);
    for run in first..first.saturating_add(runs) {
        RUN.store(run, Ordering::Relaxed);
        let started = Instant::now();
        match runner.run(seed, run) {
            Ok(ran) => {
                taken += ran.taken;
                bytes += ran.bytes;
            }
            Err(broken) => {
                let _ = writeln!(out, "run {run}: {broken}");
                return ExitCode::FAILURE;
            }
        }
        slowest = slowest.max((started.elapsed(), run));
        if run % 1_000_000 == 999_999 {
            let _ = writeln!(out, "{} runs, {} s", run + 1, begun.elapsed().as_secs());
        }
    }
    let _ = writeln!(
        out,
        "{}: {runs} runs of seed {seed} without a fault: {bytes} bytes, {taken} taken or found, {} s; the slowest took {} ms (run {})",
        target.name(),
        begun.elapsed().as_secs(),
        slowest.0.as_millis(),
        slowest.1,
    );
    ExitCode::SUCCESS
}
