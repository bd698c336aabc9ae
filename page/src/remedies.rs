//! Applies the change that would make an offer fit.

use cardfit::offers::Remedy;
use cardfit::scenario::Job;
use cardfit::scenario::{Choice, JobKind};

use leptos::prelude::WithUntracked;

use crate::state::{App, Pace};

/// Changes the scenario as the remedy says.
pub fn apply(app: App, remedy: Remedy) {
    let set = |param, value: &str| app.set(&[(param, value)], Pace::Choice);
    let number = |param, value: u32| set(param, &value.to_string());
    match remedy {
        Remedy::Cards(n) => number("n", n),
        Remedy::Weights(format) => set("w", format.name()),
        Remedy::Kv(format) => set("kv", format.name()),
        Remedy::Recompute(policy) => set("recompute", policy.name()),
        Remedy::Sharding(stage) => set("shard", stage.name()),
        Remedy::Offload(what) => set("offload", what.name()),
        Remedy::Method(method) => app.set_job(JobKind::Train(method)),
        Remedy::Tokens(n) => match app.scenario.with_untracked(|s| s.job.clone()) {
            Job::Train(_) => number("seq", n),
            _ => number("in", n),
        },
        Remedy::Optimizer(optimizer) => set("opt", optimizer.name()),
        Remedy::MicroBatch(n) => number("micro", n),
        Remedy::Tiling => set("tiling", "yes"),
        Remedy::Batch(n) => number("batch", n),
        Remedy::PipelineOffload(what) => set("offload", what.name()),
        Remedy::Cached => set("cached", "yes"),
        Remedy::Diffusion(method) => app.set_job(JobKind::TuneDiffusion(method)),
        Remedy::FlashAttention => set("flash", "1"),
        Remedy::Concurrency(n) => app.set(&[("users", &n.to_string()), ("rps", "")], Pace::Choice),
    }
}
