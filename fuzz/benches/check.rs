//! How long a paste takes: `cargo bench -p cardfit-fuzz --bench check`. A megabyte is to be answered within 50 ms.

#![allow(missing_docs, reason = "the macro writes a function")]

use std::hint::black_box;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::check::{check, check_listing, read_machine};
use criterion::{Criterion, criterion_group, criterion_main};

fn megabyte(corpus: &str) -> String {
    let mut text = String::with_capacity(1 << 20);
    while text.len() < 1 << 20 {
        text.push_str(corpus);
    }
    text
}

fn pastes(criterion: &mut Criterion) {
    let catalog = Catalog::embedded();
    let prices = PriceBook::embedded();
    let printouts = megabyte(include_str!("../../core/tests/check/printouts.txt"));
    let listings = megabyte(include_str!("../../core/tests/check/listings.txt"));
    let nothing = "lorem ipsum dolor 12345 sit amet, 算力 ".repeat(1 << 15);
    criterion.bench_function("printout 1 MB", |b| {
        b.iter(|| read_machine(black_box(&printouts), catalog));
    });
    criterion.bench_function("listing 1 MB", |b| {
        b.iter(|| check_listing(black_box(&listings), catalog, prices));
    });
    criterion.bench_function("paste of printouts 1 MB", |b| {
        b.iter(|| check(black_box(&printouts), catalog, prices));
    });
    criterion.bench_function("paste of listings 1 MB", |b| {
        b.iter(|| check(black_box(&listings), catalog, prices));
    });
    criterion.bench_function("paste of nothing 1 MB", |b| {
        b.iter(|| check(black_box(&nothing), catalog, prices));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = pastes
}
criterion_main!(benches);
