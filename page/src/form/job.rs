//! What is done with the model.

use cardfit::scenario::TrainingMethod;
use cardfit::scenario::{Choice, JobKind};
use leptos::prelude::*;

use super::field::{Entry, Segments};
use crate::state::{App, job_kind};

/// Jobs, the most asked for first.
const JOBS: [JobKind; 5] = [
    JobKind::Serve,
    JobKind::Train(TrainingMethod::Lora),
    JobKind::Train(TrainingMethod::Qlora),
    JobKind::Train(TrainingMethod::FullFinetune),
    JobKind::Train(TrainingMethod::Pretrain),
];

/// Key of a job's short name.
fn short_name(job: JobKind) -> &'static str {
    match job {
        JobKind::Serve => "page.job.serve",
        JobKind::Train(TrainingMethod::Lora) => "page.job.lora",
        JobKind::Train(TrainingMethod::Qlora) => "page.job.qlora",
        JobKind::Train(TrainingMethod::FullFinetune) => "page.job.full",
        JobKind::Train(TrainingMethod::Pretrain) => "page.job.pretrain",
    }
}

/// The choice of a job.
#[component]
pub fn JobChoice() -> impl IntoView {
    let app = App::get();
    let now = Memo::new(move |_| app.scenario.with(|s| job_kind(s).name()));
    let entries: Vec<Entry> = JOBS.iter().map(|j| (j.name(), short_name(*j))).collect();
    let choose = move |name: &'static str| {
        if let Some(kind) = JobKind::from_name(name) {
            app.set_job(kind);
        }
    };
    view! { <Segments name="job" legend="field.do" value=now entries choose /> }
}
