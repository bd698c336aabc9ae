//! `cardfit-calibrate [training] [serving]`: fits the constants on `core/data/measured/` and
//! writes them to `core/data/calibration/`. Without a name it fits both.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use cardfit::catalog::Catalog;
use cardfit::measured::{INFERENCE_CSV, MeasuredFile, TRAINING_CSV};
use cardfit_calibrate::{Fitted, serving, training, write};
use serde::Serialize;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|w| *w != "training" && *w != "serving") {
        eprintln!("unknown part '{unknown}'; write training, serving or nothing");
        return ExitCode::from(2);
    }
    let wants = |part: &str| wanted.is_empty() || wanted.iter().any(|w| w == part);
    match run(wants("training"), wants("serving")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(with_training: bool, with_serving: bool) -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::embedded();
    if with_training && let MeasuredFile::Training(rows) = MeasuredFile::parse(TRAINING_CSV)? {
        let start = Instant::now();
        let fitted = training::fit(&rows, catalog);
        save("training", &fitted, start)?;
    }
    if with_serving && let MeasuredFile::Inference(rows) = MeasuredFile::parse(INFERENCE_CSV)? {
        let start = Instant::now();
        let fitted = serving::fit(&rows, catalog);
        save("serving", &fitted, start)?;
    }
    Ok(())
}

fn save<C: Serialize>(
    part: &str,
    fitted: &Fitted<C>,
    start: Instant,
) -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/data/calibration");
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
