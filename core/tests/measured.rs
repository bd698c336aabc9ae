//! Whatever a file of measured results holds, it is read and judged without a panic, and an
//! estimate is a number with its ends around it.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops where its own set-up fails"
)]

use cardfit::catalog::Catalog;
use cardfit::measured::report::Report;
use cardfit::measured::{
    INFERENCE_CSV, Judged, MeasuredFile, Shipped, TRAINING_CSV, Verdict, judge,
};
use proptest::prelude::*;

fn table(csv: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let cells = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
    let header = cells(reader.headers().unwrap());
    let rows = reader.records().map(|r| cells(&r.unwrap())).collect();
    (header, rows)
}

fn judged(header: &[String], rows: &[Vec<String>]) -> Vec<Verdict> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).unwrap();
    for row in rows {
        writer.write_record(row).unwrap();
    }
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let file = MeasuredFile::parse(&text).unwrap();
    judge(&file, Catalog::embedded(), &Shipped)
}

fn check(verdicts: &[Verdict]) {
    for verdict in verdicts {
        match &verdict.judged {
            Judged::Used { estimate, .. } => assert!(
                estimate.high.is_finite()
                    && 0.0 < estimate.low
                    && estimate.low <= estimate.mid
                    && estimate.mid <= estimate.high,
                "{verdict:?}"
            ),
            Judged::Unused { reason } => assert!(!reason.is_empty()),
        }
    }
    let report = Report::of(verdicts);
    assert_eq!(report.rows, verdicts.len());
}

/// What a cell may turn into: nothing, an absurd count, a word, another size of the same thing.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("0".to_owned()),
        Just("1".to_owned()),
        Just("3".to_owned()),
        Just("4294967295".to_owned()),
        Just("1e18".to_owned()),
        Just("0.001".to_owned()),
        Just("-1".to_owned()),
        Just("NaN".to_owned()),
        Just("full".to_owned()),
        Just("zero3".to_owned()),
        Just("int4".to_owned()),
        (1_u32..100_000).prop_map(|n| n.to_string()),
        "[a-zA-Z0-9_ .,+()\"]{0,12}",
    ]
}

fn changed(csv: &'static str) -> impl Strategy<Value = (Vec<String>, Vec<Vec<String>>)> {
    let (header, rows) = table(csv);
    let width = header.len();
    let row = (
        proptest::sample::select(rows),
        proptest::collection::vec((0..width, cell()), 1..6),
    )
        .prop_map(|(mut row, changes)| {
            for (at, text) in changes {
                row[at] = text;
            }
            row
        });
    (Just(header), proptest::collection::vec(row, 1..20))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn changed_training_rows_are_judged((header, rows) in changed(TRAINING_CSV)) {
        check(&judged(&header, &rows));
    }

    #[test]
    fn changed_inference_rows_are_judged((header, rows) in changed(INFERENCE_CSV)) {
        check(&judged(&header, &rows));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(id,model,metric,value,(engine|seq_len)\n)?\\PC{0,200}") {
        if let Ok(file) = MeasuredFile::parse(&text) {
            check(&judge(&file, Catalog::embedded(), &Shipped));
        }
    }

    #[test]
    fn columns_may_stand_in_any_order(seed in any::<u64>()) {
        let (header, rows) = table(TRAINING_CSV);
        let rows: Vec<Vec<String>> = rows.into_iter().skip(seed as usize % 900).take(20).collect();
        let straight = judged(&header, &rows);
        let turn = |cells: &[String]| -> Vec<String> {
            let by = seed as usize % cells.len();
            cells[by..].iter().chain(&cells[..by]).cloned().collect()
        };
        let turned: Vec<Vec<String>> = rows.iter().map(|row| turn(row)).collect();
        prop_assert_eq!(straight, judged(&turn(&header), &turned));
    }
}

#[test]
fn the_shipped_rows_are_judged() {
    for csv in [TRAINING_CSV, INFERENCE_CSV] {
        let (header, rows) = table(csv);
        check(&judged(&header, &rows));
    }
}
