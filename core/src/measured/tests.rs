#![allow(clippy::unwrap_used, clippy::panic)]

use super::report::{Report, quantile};
use super::*;

fn verdict(metric: &str, measured: Option<f64>, judged: Judged) -> Verdict {
    Verdict {
        id: "x-1".to_owned(),
        metric: metric.to_owned(),
        kind: "llm".to_owned(),
        family: "Ada".to_owned(),
        engine: "vllm".to_owned(),
        measured,
        ran_out_of_memory: measured.is_none(),
        judged,
    }
}

fn used(mid: f64, fits: Option<bool>) -> Judged {
    Judged::Used {
        estimate: Range::spread(mid, 0.9, 1.1),
        fits,
    }
}

#[test]
fn the_shipped_files_are_read_whole() {
    let Ok(MeasuredFile::Training(training)) = MeasuredFile::parse(TRAINING_CSV) else {
        panic!("training")
    };
    let Ok(MeasuredFile::Inference(inference)) = MeasuredFile::parse(INFERENCE_CSV) else {
        panic!("inference")
    };
    assert_eq!((training.len(), inference.len()), (2119, 5475));
    for row in &training {
        assert!(row.problems.is_empty(), "{} {:?}", row.id, row.problems);
        assert!(
            !row.source.is_empty() && !row.metric.is_empty(),
            "{}",
            row.id
        );
        assert!(row.value.is_some() || row.ran_out_of_memory(), "{}", row.id);
    }
    for row in &inference {
        assert!(row.problems.is_empty(), "{} {:?}", row.id, row.problems);
        assert!(
            !row.source.is_empty() && !row.metric.is_empty(),
            "{}",
            row.id
        );
        assert!(row.value.is_some() || row.ran_out_of_memory(), "{}", row.id);
    }
    assert_eq!(
        training.iter().filter(|r| r.ran_out_of_memory()).count(),
        29
    );
    let first = &training[0];
    assert_eq!(first.id, "mosaic-001");
    assert_eq!(first.params_b, Some(64.8624));
    assert_eq!(
        (first.micro_batch_per_gpu, first.n_gpus),
        (Some(8), Some(512))
    );
    assert_eq!(first.value, Some(1007.0));
    assert_eq!(first.source_name(), "mosaic");
}

#[test]
fn every_named_card_is_in_the_catalog() {
    let catalog = Catalog::embedded();
    let mut missing = std::collections::BTreeSet::new();
    for csv in [TRAINING_CSV, INFERENCE_CSV] {
        match MeasuredFile::parse(csv) {
            Ok(MeasuredFile::Training(rows)) => missing.extend(
                rows.into_iter()
                    .map(|r| r.card)
                    .filter(|c| !c.is_empty() && catalog.card(c).is_none()),
            ),
            Ok(MeasuredFile::Inference(rows)) => missing.extend(
                rows.into_iter()
                    .map(|r| r.card)
                    .filter(|c| !c.is_empty() && catalog.card(c).is_none()),
            ),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_bad_cell_costs_its_row_alone() {
    let text = "\u{feff}id,Model,metric,value,engine,prompt_len,batch_or_concurrency,colour\r\n\
        a-1,M,decode_tokens_per_s_single,twelve,vllm,1e3,1,red\r\n\
        a-2,M,decode_tokens_per_s_single,12,vllm,-5,2.5,red\r\n\
        a-3,M,decode_tokens_per_s_single,NaN,vllm,8.0,1\r\n\
        \r\n\
        a-4,M,decode_tokens_per_s_single,12.5,vllm,99999999999,1,red\r\n\
        a-5,M,decode_tokens_per_s_single,12.5,\"vllm, \"\"nightly\"\"\",7,1,red\r\n";
    let Ok(MeasuredFile::Inference(rows)) = MeasuredFile::parse(text) else {
        panic!("inference")
    };
    let problems: Vec<_> = rows.iter().map(|r| r.problems.join("; ")).collect();
    assert_eq!(
        problems,
        [
            "value 'twelve' is not a number",
            "prompt_len '-5' is not a number of 0 or more; \
             batch_or_concurrency '2.5' is not a whole number",
            "the row has 7 cells where the header has 8; value 'NaN' is not a number of 0 or more",
            "prompt_len '99999999999' is above 16777216",
            "",
        ]
    );
    assert_eq!(rows[0].prompt_len, Some(1000));
    assert_eq!(rows[2].prompt_len, Some(8));
    assert_eq!(rows[4].engine, "vllm, \"nightly\"");
    let catalog = Catalog::embedded();
    let file = MeasuredFile::Inference(rows);
    let verdicts = judge(&file, catalog, &Shipped);
    assert_eq!(
        verdicts[0].judged,
        Judged::unused("value 'twelve' is not a number")
    );
}

#[test]
fn what_is_no_file_of_measured_results_says_why() {
    assert_eq!(MeasuredFile::parse(""), Err(FileError::Empty));
    assert_eq!(
        MeasuredFile::parse("id,metric\na-1,x\n"),
        Err(FileError::MissingColumns(vec![
            "model".into(),
            "value".into()
        ]))
    );
    assert_eq!(
        MeasuredFile::parse("id,model,metric,value\n"),
        Err(FileError::UnknownKind)
    );
    assert_eq!(
        MeasuredFile::parse("id,model,metric,value,engine,value\n"),
        Err(FileError::RepeatedColumn("value".into()))
    );
    assert!(matches!(
        MeasuredFile::parse("<html><body>not found</body></html>"),
        Err(FileError::MissingColumns(_))
    ));
    let Ok(file) = MeasuredFile::parse("id,model,metric,value,seq_len\n") else {
        panic!("a header alone is a file of no rows")
    };
    assert!(file.is_empty());
}

#[test]
fn only_a_row_without_a_value_ran_out_of_memory() {
    let row = |value, notes: &str| TrainingRow {
        value,
        notes: notes.to_owned(),
        ..TrainingRow::default()
    };
    assert!(row(None, "OOM on 40 GB").ran_out_of_memory());
    assert!(row(None, "CUDA out of memory").ran_out_of_memory());
    assert!(!row(Some(38.0), "OOM at batch 64").ran_out_of_memory());
    assert!(!row(None, "the classroom machine").ran_out_of_memory());
    assert!(!row(None, "").ran_out_of_memory());
}

#[test]
fn the_id_names_the_source_up_to_its_last_dash() {
    assert_eq!(source_of("mosaic-001"), "mosaic");
    assert_eq!(source_of("my-own-run-7"), "my-own-run");
    assert_eq!(source_of("nodash"), "nodash");
    assert_eq!(source_of(""), "");
}

#[test]
fn key_and_value_heads_are_read_from_text() {
    let heads = |text: &str| {
        InferenceRow {
            kv_heads: text.to_owned(),
            ..InferenceRow::default()
        }
        .kv_head_count()
    };
    assert_eq!(heads("8"), Some(8));
    assert_eq!(heads("1 (MLA latent 512+64)"), Some(1));
    assert_eq!(heads(""), None);
    assert_eq!(heads("many"), None);
}

#[test]
fn quantiles_lie_between_neighbours() {
    let values = [0.0, 1.0, 2.0, 3.0, 4.0];
    assert!((quantile(&values, 0.5) - 2.0).abs() < 1e-12);
    assert!((quantile(&values, 0.8) - 3.2).abs() < 1e-12);
    assert!((quantile(&values, 1.0) - 4.0).abs() < 1e-12);
    assert!((quantile(&[7.0], 0.95) - 7.0).abs() < 1e-12);
    assert!(quantile(&[], 0.5).abs() < 1e-12);
}

#[test]
fn errors_and_ranges_are_counted_by_hand() {
    // Off by 0, 10, 20, 50 %; the range of a tenth either way holds the first two.
    let verdicts = [
        verdict("decode", Some(100.0), used(100.0, None)),
        verdict("decode", Some(100.0), used(110.0, None)),
        verdict("decode", Some(100.0), used(80.0, None)),
        verdict("decode", Some(100.0), used(150.0, None)),
        verdict("decode", Some(100.0), Judged::unused("no card")),
        verdict("decode", Some(100.0), Judged::unused("no card")),
        verdict("decode", Some(100.0), Judged::unused("no model")),
    ];
    let report = Report::of(&verdicts);
    assert_eq!((report.rows, report.used), (7, 4));
    assert_eq!(report.totals.len(), 1);
    let total = &report.totals[0];
    assert_eq!((total.used, total.unused), (4, 3));
    assert_eq!(
        total.reasons,
        [("no card".to_owned(), 2), ("no model".to_owned(), 1)]
    );
    let errors = total.errors.unwrap();
    assert!((errors.median - 0.15).abs() < 1e-9);
    assert!((errors.p80 - 0.32).abs() < 1e-9);
    assert!((errors.p95 - 0.455).abs() < 1e-9);
    assert!((errors.bias - 1.05).abs() < 1e-9);
    assert!((errors.inside - 0.5).abs() < 1e-9);
    assert_eq!(total.memory, None);
}

#[test]
fn a_card_shown_as_fitting_where_memory_ran_out_is_a_false_fit() {
    let verdicts = [
        verdict("peak_mem_gb", None, used(30.0, Some(true))),
        verdict("peak_mem_gb", None, used(50.0, Some(false))),
        verdict("peak_mem_gb", Some(34.0), used(30.0, Some(true))),
        verdict("peak_mem_gb", Some(39.0), used(40.0, Some(false))),
    ];
    let report = Report::of(&verdicts);
    let memory = report.totals[0].memory.unwrap();
    assert_eq!((memory.ran_out, memory.false_fits), (2, 1));
    assert_eq!((memory.above_high, memory.refused), (1, 1));
    assert_eq!(report.totals[0].errors.unwrap().rows, 2);
    assert_eq!(report.false_fits(), 1);
}

#[test]
fn rows_that_cannot_be_compared_say_why() {
    let head = "id,model,metric,value,seq_len,suspect,notes\n";
    let rows = "a-1,M,tokens_per_s_per_gpu,,512,,\na-2,M,tokens_per_s_per_gpu,0,512,,\n\
        a-3,M,tokens_per_s_per_gpu,5,512,yes,\na-4,M,,5,512,,\n\
        a-5,M,tokens_per_s_per_gpu,,512,,OOM\n";
    let file = MeasuredFile::parse(&format!("{head}{rows}")).unwrap();
    let reasons: Vec<_> = judge(&file, Catalog::embedded(), &Shipped)
        .into_iter()
        .map(|v| v.judged)
        .collect();
    assert_eq!(
        reasons,
        [
            Judged::unused("no value"),
            Judged::unused("value is not above 0"),
            Judged::unused("marked as suspect"),
            Judged::unused("no metric"),
            Judged::unused("no value: the run had no memory left"),
        ]
    );
}
