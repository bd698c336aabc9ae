//! What is done with the model: first the kind of thing, then the job.

use cardfit::scenario::{Choice, DiffusionMethod, JobKind, TrainingMethod};
use leptos::prelude::*;

use super::field::{Entry, Segments};
use crate::state::{App, job_kind};

/// Kinds of things, with their jobs, the most asked for first.
const AREAS: [(&str, &str, &[JobKind]); 4] = [
    (
        "language",
        "page.area.language",
        &[
            JobKind::Serve,
            JobKind::Train(TrainingMethod::Lora),
            JobKind::Train(TrainingMethod::Qlora),
            JobKind::Train(TrainingMethod::FullFinetune),
            JobKind::Train(TrainingMethod::Pretrain),
        ],
    ),
    (
        "images",
        "page.area.images",
        &[
            JobKind::Image,
            JobKind::Video,
            JobKind::TuneDiffusion(DiffusionMethod::Lora),
            JobKind::TuneDiffusion(DiffusionMethod::Dreambooth),
        ],
    ),
    (
        "vision",
        "page.area.vision",
        &[
            JobKind::RunNetwork,
            JobKind::TrainNetwork,
            JobKind::Transcribe,
        ],
    ),
    ("science", "page.area.science", &[JobKind::Compute]),
];

/// Key of a job's short name.
pub fn short_name(job: JobKind) -> &'static str {
    match job {
        JobKind::Serve => "page.job.serve",
        JobKind::Train(TrainingMethod::Lora) => "page.job.lora",
        JobKind::Train(TrainingMethod::Qlora) => "page.job.qlora",
        JobKind::Train(TrainingMethod::FullFinetune) => "page.job.full",
        JobKind::Train(TrainingMethod::Pretrain) => "page.job.pretrain",
        JobKind::Image => "page.job.image",
        JobKind::Video => "page.job.video",
        JobKind::TuneDiffusion(DiffusionMethod::Lora) => "page.job.diffusion_lora",
        JobKind::TuneDiffusion(DiffusionMethod::Dreambooth) => "page.job.dreambooth",
        JobKind::TrainNetwork => "page.job.vision_train",
        JobKind::RunNetwork => "page.job.vision_infer",
        JobKind::Transcribe => "page.job.transcribe",
        JobKind::Compute => "page.job.science",
    }
}

/// The area of a job.
fn area_of(kind: JobKind) -> &'static str {
    AREAS
        .iter()
        .find(|(_, _, jobs)| jobs.contains(&kind))
        .map_or("language", |(name, _, _)| name)
}

/// The choice of a kind of thing.
#[component]
pub fn AreaChoice() -> impl IntoView {
    let app = App::get();
    let now = Memo::new(move |_| app.scenario.with(|s| area_of(job_kind(s))));
    let entries: Vec<Entry> = AREAS.iter().map(|(name, key, _)| (*name, *key)).collect();
    let choose = move |name: &'static str| {
        let mut areas = AREAS.iter();
        let jobs = areas.find(|(area, _, _)| *area == name);
        if let Some(first) = jobs.and_then(|(_, _, jobs)| jobs.first()) {
            app.set_job(*first);
        }
    };
    view! { <Segments name="area" legend="page.area" value=now entries choose /> }
}

/// The choice of a job.
#[component]
pub fn JobChoice() -> impl IntoView {
    let app = App::get();
    let area = Memo::new(move |_| app.scenario.with(|s| area_of(job_kind(s))));
    let now = Memo::new(move |_| app.scenario.with(|s| job_kind(s).name()));
    let choose = move |name: &'static str| {
        if let Some(kind) = JobKind::from_name(name) {
            app.set_job(kind);
        }
    };
    move || {
        let area = area.get();
        let mut areas = AREAS.iter();
        let jobs = areas.find(|(name, _, _)| *name == area);
        let entries: Vec<Entry> = jobs
            .map(|(_, _, jobs)| jobs.iter().map(|j| (j.name(), short_name(*j))).collect())
            .unwrap_or_default();
        // One job is no choice.
        (entries.len() > 1)
            .then(|| view! { <Segments name="job" legend="field.do" value=now entries choose /> })
    }
}
