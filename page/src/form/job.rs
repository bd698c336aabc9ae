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

/// The choice of a job.
#[component]
pub fn JobChoice() -> impl IntoView {
    let app = App::get();
    let now = Memo::new(move |_| app.scenario.with(|s| job_kind(s).name()));
    let entries: Vec<Entry> = JOBS.iter().map(|j| (j.name(), j.label_key())).collect();
    let choose = move |name: &'static str| {
        if let Some(kind) = JobKind::from_name(name) {
            app.set_job(kind);
        }
    };
    view! { <Segments name="job" legend="field.do" value=now entries choose /> }
}
