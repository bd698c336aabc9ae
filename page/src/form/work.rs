//! Inputs of jobs other than those of language models, a panel a kind.

use cardfit::catalog::{Catalog, FloatPrecision, NetworkCost, NetworkTask};
use cardfit::dtype::WeightFormat;
use cardfit::plan::Recompute;
use cardfit::scenario::{
    Choice, Computation, DiffusionMethod, DiffusionTraining, Generation, Job, ModelChoice,
    NetworkInference, NetworkTraining, Optimizer, PipelineOffload, Runtime, Scenario, SpeechEngine,
    TrainingPrecision, Transcription,
};
use leptos::prelude::*;

use super::CardCounts;
use super::field::{CheckField, ChoiceField, Entry, NumberField, entries};
use crate::state::App;
use crate::words::t;

const OPEN: &str = "page.form.chosen_for_you";

fn generation(s: &Scenario) -> Option<&Generation> {
    match &s.job {
        Job::Generate(job) => Some(job),
        _ => None,
    }
}

fn tuning(s: &Scenario) -> Option<&DiffusionTraining> {
    match &s.job {
        Job::TuneDiffusion(job) => Some(job),
        _ => None,
    }
}

fn network_training(s: &Scenario) -> Option<&NetworkTraining> {
    match &s.job {
        Job::TrainNetwork(job) => Some(job),
        _ => None,
    }
}

fn inference(s: &Scenario) -> Option<&NetworkInference> {
    match &s.job {
        Job::RunNetwork(job) => Some(job),
        _ => None,
    }
}

fn transcription(s: &Scenario) -> Option<&Transcription> {
    match &s.job {
        Job::Transcribe(job) => Some(job),
        _ => None,
    }
}

fn computation(s: &Scenario) -> Option<&Computation> {
    match &s.job {
        Job::Compute(job) => Some(job),
        _ => None,
    }
}

/// Whether the scenario's model makes clips.
fn makes_clips(s: &Scenario) -> bool {
    match &s.model {
        ModelChoice::Catalog(id) => Catalog::embedded()
            .diffusion_model(id)
            .is_some_and(|m| m.medium == cardfit::catalog::Medium::Video),
        ModelChoice::Custom(_) => false,
    }
}

/// Whether the scenario's network reads text.
fn reads_text(s: &Scenario) -> bool {
    match &s.model {
        ModelChoice::Catalog(id) => Catalog::embedded()
            .network(id)
            .is_some_and(|n| n.task == NetworkTask::Text),
        ModelChoice::Custom(_) => false,
    }
}

/// Whether the scenario's network has attention over all of a sample, whose scores a kernel may write.
fn attends(s: &Scenario) -> bool {
    match &s.model {
        ModelChoice::Catalog(id) => Catalog::embedded()
            .network(id)
            .is_some_and(|n| !matches!(n.cost, NetworkCost::Published { .. })),
        ModelChoice::Custom(_) => false,
    }
}

/// Formats that image models, networks and recognisers come in.
fn formats(of: &[WeightFormat]) -> Vec<Entry> {
    of.iter().map(|f| (f.name(), f.label_key())).collect()
}

/// Which panel stands in the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panel {
    /// Images and clips.
    Generate,
    /// Training image and video models.
    Tune,
    /// Training networks.
    TrainNetwork,
    /// Running networks.
    RunNetwork,
    /// Speech.
    Transcribe,
    /// Scientific computing.
    Compute,
}

impl Panel {
    /// The panel of a scenario; `None` for language models.
    pub fn of(scenario: &Scenario) -> Option<Self> {
        Some(match scenario.job {
            Job::Train(_) | Job::Serve(_) => return None,
            Job::Generate(_) => Self::Generate,
            Job::TuneDiffusion(_) => Self::Tune,
            Job::TrainNetwork(_) => Self::TrainNetwork,
            Job::RunNetwork(_) => Self::RunNetwork,
            Job::Transcribe(_) => Self::Transcribe,
            Job::Compute(_) => Self::Compute,
        })
    }
}

/// The few inputs that matter.
#[component]
pub fn WorkInputs(
    /// Whose.
    panel: Panel,
) -> impl IntoView {
    match panel {
        Panel::Generate => view! { <GenerationInputs /> }.into_any(),
        Panel::Tune => view! { <TuningInputs /> }.into_any(),
        Panel::TrainNetwork => view! { <NetworkTrainingInputs /> }.into_any(),
        Panel::RunNetwork => view! { <InferenceInputs /> }.into_any(),
        Panel::Transcribe => view! { <TranscriptionInputs /> }.into_any(),
        Panel::Compute => view! { <ComputationInputs /> }.into_any(),
    }
}

/// Everything else.
#[component]
pub fn WorkDetails(
    /// Whose.
    panel: Panel,
) -> impl IntoView {
    let own = match panel {
        Panel::Generate => view! { <GenerationDetails /> }.into_any(),
        Panel::Tune => view! { <TuningDetails /> }.into_any(),
        Panel::TrainNetwork => view! { <NetworkTrainingDetails /> }.into_any(),
        Panel::RunNetwork => view! { <InferenceDetails /> }.into_any(),
        Panel::Transcribe => view! { <TranscriptionDetails /> }.into_any(),
        Panel::Compute => ().into_any(),
    };
    view! {
        {own}
        <section class="group">
            <h2 class="group-title">{t("page.form.layout")}</h2>
            <div class="pairs">
                <CardCounts />
            </div>
        </section>
    }
}

#[component]
fn GenerationInputs() -> impl IntoView {
    let app = App::get();
    let clips = Memo::new(move |_| app.scenario.with(makes_clips));
    view! {
        {move || {
            let label = if clips.get() { "field.amount.clips" } else { "field.amount.images" };
            view! { <NumberField param="amount" label value={|s| Some(generation(s)?.amount)} /> }
        }}
        <NumberField param="steps" value={|s| Some(f64::from(generation(s)?.steps))} />
        <NumberField param="width" value={|s| Some(f64::from(generation(s)?.width))} />
        <NumberField param="height" value={|s| Some(f64::from(generation(s)?.height))} />
        <Show when=move || clips.get()>
            <NumberField param="frames" value={|s| Some(f64::from(generation(s)?.frames))} />
        </Show>
        <ChoiceField
            param="w"
            value={|s| Some(generation(s)?.weights.name())}
            entries={formats(&[
                WeightFormat::Bf16,
                WeightFormat::Fp16,
                WeightFormat::Fp32,
                WeightFormat::Fp8,
                WeightFormat::Int8,
                WeightFormat::Q8_0,
                WeightFormat::Q5KM,
                WeightFormat::Q4KM,
                WeightFormat::Nf4,
                WeightFormat::Nvfp4,
            ])}
        />
    }
}

#[component]
fn GenerationDetails() -> impl IntoView {
    view! {
        <section class="group">
            <h2 class="group-title">{t("page.form.running")}</h2>
            <div class="pairs">
                <ChoiceField
                    param="offload"
                    open=OPEN
                    value={|s| Some(generation(s)?.offload?.name())}
                    entries={entries::<PipelineOffload>()}
                />
                <ChoiceField
                    param="tiling"
                    open=OPEN
                    value={|s| Some(if generation(s)?.tiling? { "yes" } else { "no" })}
                    entries=vec![("yes", "page.yes"), ("no", "page.no")]
                />
                <ChoiceField
                    param="runtime"
                    value={|s| Some(generation(s)?.runtime.name())}
                    entries={entries::<Runtime>()}
                />
                <NumberField
                    param="batch"
                    label="field.batch.at_once"
                    empty=OPEN
                    value={|s| generation(s)?.batch.map(f64::from)}
                />
                <CheckField param="cfg" value={|s| generation(s).is_some_and(|g| g.guidance)} />
            </div>
        </section>
    }
}

#[component]
fn TuningInputs() -> impl IntoView {
    let app = App::get();
    let clips = Memo::new(move |_| app.scenario.with(makes_clips));
    let adapters = Memo::new(move |_| {
        app.scenario
            .with(|s| tuning(s).is_some_and(|j| j.method == DiffusionMethod::Lora))
    });
    view! {
        <NumberField
            param="steps"
            label="field.steps.training"
            value={|s| Some(f64::from(tuning(s)?.steps))}
        />
        <NumberField param="batch" value={|s| Some(f64::from(tuning(s)?.batch))} />
        <NumberField param="width" value={|s| Some(f64::from(tuning(s)?.width))} />
        <NumberField param="height" value={|s| Some(f64::from(tuning(s)?.height))} />
        <Show when=move || clips.get()>
            <NumberField param="frames" value={|s| Some(f64::from(tuning(s)?.frames))} />
        </Show>
        <Show when=move || adapters.get()>
            <NumberField param="rank" value={|s| Some(f64::from(tuning(s)?.lora_rank))} />
            <ChoiceField
                param="w"
                value={|s| Some(tuning(s)?.weights.name())}
                entries={formats(&[
                    WeightFormat::Bf16,
                    WeightFormat::Fp16,
                    WeightFormat::Fp8,
                    WeightFormat::Int8,
                    WeightFormat::Nf4,
                ])}
            />
        </Show>
    }
}

#[component]
fn TuningDetails() -> impl IntoView {
    view! {
        <section class="group">
            <h2 class="group-title">{t("page.form.training")}</h2>
            <div class="pairs">
                <ChoiceField
                    param="prec"
                    value={|s| Some(tuning(s)?.precision.name())}
                    entries={entries::<TrainingPrecision>()}
                />
                <ChoiceField
                    param="opt"
                    value={|s| Some(tuning(s)?.optimizer.name())}
                    entries={entries::<Optimizer>()}
                />
                <ChoiceField
                    param="recompute"
                    open=OPEN
                    value={|s| Some(match tuning(s)?.recompute? {
                        true => Recompute::Full.name(),
                        false => Recompute::None.name(),
                    })}
                    entries=vec![
                        (Recompute::None.name(), Recompute::None.label_key()),
                        (Recompute::Full.name(), Recompute::Full.label_key()),
                    ]
                />
                <CheckField param="cached" value={|s| tuning(s).is_some_and(|j| j.cached)} />
            </div>
        </section>
    }
}

/// The size of an image or the length of a sequence.
#[component]
fn SizeField(
    /// Reads it.
    value: super::field::Figure,
) -> impl IntoView {
    let app = App::get();
    let text = Memo::new(move |_| app.scenario.with(reads_text));
    move || {
        let label = if text.get() {
            "field.size.sequence"
        } else {
            "field.size.image"
        };
        view! { <NumberField param="size" label empty=OPEN value /> }
    }
}

#[component]
fn NetworkTrainingInputs() -> impl IntoView {
    view! {
        <NumberField param="samples" value={|s| Some(network_training(s)?.samples)} />
        <NumberField param="epochs" value={|s| Some(network_training(s)?.epochs)} />
        <SizeField value={|s| network_training(s)?.size.map(f64::from)} />
        <NumberField
            param="batch"
            label="field.batch.card"
            empty=OPEN
            value={|s| network_training(s)?.batch.map(f64::from)}
        />
        <ChoiceField
            param="prec"
            value={|s| Some(network_training(s)?.precision.name())}
            entries={entries::<TrainingPrecision>()}
        />
        <NumberField param="cores" value={|s| Some(f64::from(network_training(s)?.cores))} />
    }
}

#[component]
fn NetworkTrainingDetails() -> impl IntoView {
    view! {
        <section class="group">
            <h2 class="group-title">{t("page.form.training")}</h2>
            <div class="pairs">
                <ChoiceField
                    param="opt"
                    value={|s| Some(network_training(s)?.optimizer.name())}
                    entries={entries::<Optimizer>()}
                />
                <ChoiceField
                    param="runtime"
                    value={|s| Some(network_training(s)?.runtime.name())}
                    entries={vec![
                        (Runtime::Eager.name(), Runtime::Eager.label_key()),
                        (Runtime::Compiled.name(), Runtime::Compiled.label_key()),
                    ]}
                />
                <NumberField
                    param="rank"
                    empty="page.form.all_weights"
                    value={|s| network_training(s)?.lora_rank.map(f64::from)}
                />
            </div>
        </section>
    }
}

#[component]
fn InferenceInputs() -> impl IntoView {
    view! {
        <NumberField
            param="amount"
            label="field.amount.samples"
            value={|s| Some(inference(s)?.amount)}
        />
        <SizeField value={|s| inference(s)?.size.map(f64::from)} />
        <ChoiceField
            param="w"
            value={|s| Some(inference(s)?.weights.name())}
            entries={formats(&[
                WeightFormat::Fp16,
                WeightFormat::Bf16,
                WeightFormat::Fp32,
                WeightFormat::Int8,
                WeightFormat::Fp8,
            ])}
        />
        <ChoiceField
            param="runtime"
            value={|s| Some(inference(s)?.runtime.name())}
            entries={entries::<Runtime>()}
        />
    }
}

#[component]
fn InferenceDetails() -> impl IntoView {
    let app = App::get();
    let attends = Memo::new(move |_| app.scenario.with(attends));
    view! {
        <section class="group">
            <h2 class="group-title">{t("page.form.data")}</h2>
            <div class="pairs">
                <NumberField
                    param="batch"
                    label="field.batch.card"
                    empty=OPEN
                    value={|s| inference(s)?.batch.map(f64::from)}
                />
                <NumberField param="cores" value={|s| Some(f64::from(inference(s)?.cores))} />
            </div>
            <Show when=move || attends.get()>
                <CheckField
                    param="flash"
                    value={|s| inference(s).is_some_and(|job| job.fused_attention)}
                />
            </Show>
        </section>
    }
}

#[component]
fn TranscriptionInputs() -> impl IntoView {
    view! {
        <NumberField
            param="amount"
            label="field.amount.audio"
            value={|s| Some(transcription(s)?.amount)}
        />
        <ChoiceField
            param="engine"
            value={|s| Some(transcription(s)?.engine.name())}
            entries={entries::<SpeechEngine>()}
        />
        <ChoiceField
            param="w"
            value={|s| Some(transcription(s)?.weights.name())}
            entries={formats(&[WeightFormat::Fp16, WeightFormat::Fp32, WeightFormat::Int8])}
        />
        <NumberField param="beam" value={|s| Some(f64::from(transcription(s)?.beam))} />
    }
}

#[component]
fn TranscriptionDetails() -> impl IntoView {
    view! {
        <section class="group">
            <h2 class="group-title">{t("page.form.running")}</h2>
            <div class="pairs">
                <NumberField
                    param="batch"
                    label="field.batch.card"
                    empty=OPEN
                    value={|s| transcription(s)?.batch.map(f64::from)}
                />
            </div>
        </section>
    }
}

#[component]
fn ComputationInputs() -> impl IntoView {
    view! {
        <ChoiceField
            param="prec"
            value={|s| Some(computation(s)?.precision.name())}
            entries={entries::<FloatPrecision>()}
        />
        <NumberField param="ops" value={|s| Some(computation(s)?.operations)} />
        <NumberField param="intensity" value={|s| Some(computation(s)?.flops_per_byte)} />
        <NumberField param="ws" value={|s| Some(computation(s)?.working_set_gb)} />
    }
}
