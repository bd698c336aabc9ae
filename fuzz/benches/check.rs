//! How long a paste takes: `cargo bench -p cardfit-fuzz --bench check`. A megabyte is to be answered within 50 ms in the
//! page, whose WebAssembly takes two to three times as long as this.
//!
//! `CARDFIT_WRITE_PASTES=FOLDER` writes the pastes, to be pasted into the page.

#![allow(missing_docs, reason = "the macro writes a function")]

use std::hint::black_box;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::check::{check, check_listing, read_machine};
use cardfit_fuzz::pastes::megabytes;
use criterion::{Criterion, criterion_group, criterion_main};

fn pastes(criterion: &mut Criterion) {
    let catalog = Catalog::embedded();
    let prices = PriceBook::embedded();
    let pastes = megabytes();
    if let Some(folder) = std::env::var_os("CARDFIT_WRITE_PASTES") {
        for (name, text) in &pastes {
            let path = std::path::Path::new(&folder).join(format!("{name}.txt"));
            std::fs::write(&path, text).unwrap_or_else(|e| eprintln!("{}: {e}", path.display()));
        }
    }
    for (name, text) in &pastes {
        criterion.bench_function(&format!("paste of {name}"), |b| {
            b.iter(|| check(black_box(text), catalog, prices));
        });
        criterion.bench_function(&format!("{name} as a printout"), |b| {
            b.iter(|| read_machine(black_box(text), catalog));
        });
        criterion.bench_function(&format!("{name} as a listing"), |b| {
            b.iter(|| check_listing(black_box(text), catalog, prices));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = pastes
}
criterion_main!(benches);
