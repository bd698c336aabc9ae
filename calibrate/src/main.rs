//! `cardfit-calibrate [training] [serving] [jobs] [report]`: fits the constants on `core/data/measured/` and
//! writes them to `core/data/calibration/`, and how far off the estimates then are to
//! `docs/accuracy.md` and between the `accuracy` markers of the READMEs. Without a name it fits
//! both; with `report` alone it fits nothing and writes the pages for the constants as they are.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use cardfit::catalog::Catalog;
use cardfit::measured::{
    Folds, INFERENCE_CSV, MeasuredFile, TRAINING_CSV, accuracy, judge, points,
};
use cardfit::text::Lang;
use cardfit_calibrate::{Fitted, serving, training, work, write};
use serde::Serialize;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let known = ["training", "serving", "jobs", "report"];
    if let Some(unknown) = wanted.iter().find(|w| !known.contains(&w.as_str())) {
        eprintln!("unknown part '{unknown}'; write training, serving, jobs, report or nothing");
        return ExitCode::from(2);
    }
    let wants = |part: &str| wanted.is_empty() || wanted.iter().any(|w| w == part);
    match run(wants("training"), wants("serving"), wants("jobs")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(
    with_training: bool,
    with_serving: bool,
    with_jobs: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::embedded();
    let training_file = MeasuredFile::parse(TRAINING_CSV)?;
    let inference_file = MeasuredFile::parse(INFERENCE_CSV)?;
    // What is not fitted now stays as it was when this program was built.
    let mut folds = Folds::embedded().clone();
    if with_training && let MeasuredFile::Training(rows) = &training_file {
        let start = Instant::now();
        let fitted = training::fit(rows, catalog);
        save("training", &fitted, start)?;
        folds.training = fitted.without;
        folds.training_all = fitted.all;
    }
    if with_serving && let MeasuredFile::Inference(rows) = &inference_file {
        let start = Instant::now();
        let fitted = serving::fit(rows, catalog);
        save("serving", &fitted, start)?;
        folds.serving = fitted.without;
        // The folds share the ranges, which their file does not repeat.
        for constants in folds.serving.values_mut() {
            constants.spread.clone_from(&fitted.all.spread);
        }
        folds.serving_all = fitted.all;
    }
    if with_jobs
        && let (MeasuredFile::Training(trained), MeasuredFile::Inference(ran)) =
            (&training_file, &inference_file)
    {
        let cases = work::cases(trained, ran, catalog);
        let start = Instant::now();
        let fitted = work::fit_diffusion(&cases);
        save("diffusion", &fitted, start)?;
        folds.diffusion = fitted.without;
        for constants in folds.diffusion.values_mut() {
            constants.spread.clone_from(&fitted.all.spread);
        }
        let start = Instant::now();
        let fitted = work::fit_vision(&cases);
        save("vision", &fitted, start)?;
        folds.vision = fitted.without;
        for constants in folds.vision.values_mut() {
            constants.spread.clone_from(&fitted.all.spread);
        }
    }
    let training = judge(&training_file, catalog, &folds);
    let inference = judge(&inference_file, catalog, &folds);
    write::text(
        &root().join("docs/accuracy.md"),
        &accuracy::markdown(&training, &inference),
    )?;
    write::text(
        &root().join("page/public/accuracy.json"),
        &points::json(&[
            (&training_file, training.as_slice()),
            (&inference_file, inference.as_slice()),
        ]),
    )?;
    for (page, lang) in [("README.md", Lang::En), ("README.zh-CN.md", Lang::ZhCn)] {
        write::between_markers(
            &root().join(page),
            "accuracy",
            &accuracy::summary(&training, &inference, lang),
        )?;
    }
    println!("{}", accuracy::summary(&training, &inference, Lang::En));
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn save<C: Serialize>(
    part: &str,
    fitted: &Fitted<C>,
    start: Instant,
) -> Result<(), Box<dyn std::error::Error>> {
    let folder = root().join("core/data/calibration");
    let changed = [
        write::json(&folder.join(format!("{part}.json")), &fitted.all)?,
        write::json(&folder.join(format!("{part}_folds.json")), &fitted.without)?,
    ];
    println!(
        "{part}: fitted with {} sources in {:.1} s, {}",
        fitted.without.len(),
        start.elapsed().as_secs_f64(),
        if changed.contains(&true) {
            "constants changed"
        } else {
            "constants as before"
        }
    );
    Ok(())
}
