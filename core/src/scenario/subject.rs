//! Reads and writes the jobs of [`super::work`], and what holds where a link is silent about
//! them. Defaults that are the model's own habits come from the catalog.

use super::choice::{Choice, JobKind, SubjectKind};
use super::limits;
use super::problem::{Outcome, Problem, ProblemKind};
use super::reader::Reader;
use super::write::{Pairs, choice, open, open_choice, real, whole};
use super::{
    Computation, DiffusionMethod, DiffusionTraining, Generation, Job, ModelChoice,
    NetworkInference, NetworkTraining, Optimizer, Runtime, SpeechEngine, TrainingPrecision,
    Transcription,
};
use crate::catalog::{
    Catalog, DiffusionModel, FloatPrecision, Medium, Network, NetworkTask, Subject, UsualData,
    UsualRun, Workload,
};
use crate::dtype::WeightFormat;
use crate::plan::Recompute;

/// Images wanted where a link does not say.
const IMAGES: f64 = 1000.0;
/// Clips wanted where a link does not say.
const CLIPS: f64 = 40.0;
/// Images or sequences that a network is run over.
const SAMPLES: f64 = 1_000_000.0;
/// Hours of audio.
const AUDIO_HOURS: f64 = 1000.0;
/// Steps of LoRA or DreamBooth.
const TUNING_STEPS: u32 = 1000;
/// Processor cores for each card.
const CORES: u32 = 8;
/// Hypotheses that are followed, as faster-whisper does unasked.
const BEAM: u32 = 5;

/// The thing that a job is about where a link names none.
pub(super) fn usual_model(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Train(_) | JobKind::Serve => super::defaults::MODEL,
        JobKind::Image | JobKind::TuneDiffusion(_) => "sdxl",
        JobKind::Video => "wan-2.1-1.3b",
        JobKind::TrainNetwork | JobKind::RunNetwork => "resnet-50",
        JobKind::Transcribe => "whisper-large-v3",
        JobKind::Compute => "dense-linear-algebra",
    }
}

/// Kind of what a scenario is about; a language model where it is described by hand.
pub(super) fn kind_of(model: &ModelChoice, catalog: &Catalog) -> SubjectKind {
    match model {
        ModelChoice::Catalog(id) => catalog
            .subject(id)
            .map_or(SubjectKind::Language, SubjectKind::of),
        ModelChoice::Custom(_) => SubjectKind::Language,
    }
}

fn subject(model: &ModelChoice) -> Option<Subject<'static>> {
    match model {
        ModelChoice::Catalog(id) => Catalog::embedded().subject(id),
        ModelChoice::Custom(_) => None,
    }
}

/// A job other than a language model's; `None` for those.
pub(super) fn read(reader: &mut Reader<'_>, kind: JobKind, model: &ModelChoice) -> Option<Job> {
    let model = model.clone();
    Some(match kind {
        JobKind::Train(_) | JobKind::Serve => return None,
        JobKind::Image | JobKind::Video => Job::Generate(read_generation(reader, &model)),
        JobKind::TuneDiffusion(method) => Job::TuneDiffusion(read_tuning(reader, method, &model)),
        JobKind::TrainNetwork => Job::TrainNetwork(read_training(reader, &model)),
        JobKind::RunNetwork => Job::RunNetwork(read_inference(reader)),
        JobKind::Transcribe => Job::Transcribe(read_transcription(reader)),
        JobKind::Compute => Job::Compute(read_computation(reader, &model)),
    })
}

/// Says a job other than a language model's.
pub(super) fn write(job: &Job, model: &ModelChoice, pairs: &mut Pairs) {
    match job {
        Job::Train(_) | Job::Serve(_) => return,
        Job::Generate(job) => write_generation(job, model, pairs),
        Job::TuneDiffusion(job) => write_tuning(job, model, pairs),
        Job::TrainNetwork(job) => write_training(job, model, pairs),
        Job::RunNetwork(job) => write_inference(job, pairs),
        Job::Transcribe(job) => write_transcription(job, pairs),
        Job::Compute(job) => write_computation(job, model, pairs),
    }
    pairs.push(("do", job.kind().name().to_owned()));
}

/// Frames of a clip; an image has one.
fn read_frames(reader: &mut Reader<'_>, medium: Medium, usual: u32) -> u32 {
    let given = reader.whole_or(&limits::FRAMES, usual);
    if medium == Medium::Video || given == usual {
        return given;
    }
    reader.problem(Problem::new(
        "frames",
        ProblemKind::DoesNotApply,
        &given.to_string(),
        Outcome::Used(usual.to_string()),
    ));
    usual
}

/// How a model is usually run; Stable Diffusion XL's way for one that is not known.
fn usual_run(model: &ModelChoice) -> (UsualRun, Medium) {
    match subject(model) {
        Some(Subject::Diffusion(DiffusionModel { usual, medium, .. })) => (usual.clone(), *medium),
        _ => (
            UsualRun {
                width: 1024,
                height: 1024,
                frames: 1,
                steps: 30,
                guidance: true,
                guidance_in_turn: false,
                frames_per_s: None,
            },
            Medium::Image,
        ),
    }
}

/// Making images or clips of which only the model is known.
pub(crate) fn generation(model: &ModelChoice) -> Generation {
    let (usual, medium) = usual_run(model);
    Generation {
        amount: match medium {
            Medium::Image => IMAGES,
            Medium::Video => CLIPS,
        },
        width: usual.width,
        height: usual.height,
        frames: usual.frames,
        steps: usual.steps,
        guidance: usual.guidance,
        batch: None,
        weights: WeightFormat::Bf16,
        offload: None,
        tiling: None,
        runtime: Runtime::Eager,
    }
}

fn read_generation(reader: &mut Reader<'_>, model: &ModelChoice) -> Generation {
    let plain = generation(model);
    let (_, medium) = usual_run(model);
    let frames = read_frames(reader, medium, plain.frames);
    Generation {
        amount: reader.number_or(&limits::AMOUNT, plain.amount),
        width: reader.whole_or(&limits::WIDTH, plain.width),
        height: reader.whole_or(&limits::HEIGHT, plain.height),
        frames,
        steps: reader.whole_or(&limits::STEPS, plain.steps).min(1000),
        guidance: reader.flag_or("cfg", plain.guidance),
        batch: reader
            .whole_or_open(&limits::GLOBAL_BATCH)
            .map(|n| n.min(1024)),
        weights: reader.choice_or("w", plain.weights),
        offload: reader.choice_or_open("offload"),
        tiling: reader.flag_or_open("tiling"),
        runtime: reader.choice_or("runtime", plain.runtime),
    }
}

fn write_generation(job: &Generation, model: &ModelChoice, pairs: &mut Pairs) {
    let plain = generation(model);
    real(pairs, "amount", job.amount, plain.amount);
    whole(pairs, "width", job.width, plain.width);
    whole(pairs, "height", job.height, plain.height);
    whole(pairs, "frames", job.frames, plain.frames);
    whole(pairs, "steps", job.steps, plain.steps);
    flag(pairs, "cfg", job.guidance, plain.guidance);
    open(pairs, "batch", job.batch);
    choice(pairs, "w", job.weights, plain.weights);
    open_choice(pairs, "offload", job.offload);
    if let Some(tiling) = job.tiling {
        flag(pairs, "tiling", tiling, !tiling);
    }
    choice(pairs, "runtime", job.runtime, plain.runtime);
}

/// Training an image or video model of which only that is known.
pub(crate) fn tuning(method: DiffusionMethod, model: &ModelChoice) -> DiffusionTraining {
    let (usual, medium) = usual_run(model);
    // Clips are cut to what a card holds: the first quarter of the usual frames.
    let frames = match medium {
        Medium::Image => 1,
        Medium::Video => usual.frames.saturating_sub(1) / 4 / 4 * 4 + 1,
    };
    DiffusionTraining {
        method,
        steps: TUNING_STEPS,
        batch: 1,
        width: usual.width,
        height: usual.height,
        frames,
        weights: WeightFormat::Bf16,
        precision: TrainingPrecision::Bf16,
        optimizer: Optimizer::Adamw8bit,
        lora_rank: 16,
        recompute: None,
        cached: true,
    }
}

fn read_tuning(
    reader: &mut Reader<'_>,
    method: DiffusionMethod,
    model: &ModelChoice,
) -> DiffusionTraining {
    let plain = tuning(method, model);
    let (_, medium) = usual_run(model);
    let frames = read_frames(reader, medium, plain.frames);
    DiffusionTraining {
        method,
        steps: reader.whole_or(&limits::STEPS, plain.steps),
        batch: reader
            .whole_or(&limits::GLOBAL_BATCH, plain.batch)
            .min(65_536),
        width: reader.whole_or(&limits::WIDTH, plain.width),
        height: reader.whole_or(&limits::HEIGHT, plain.height),
        frames,
        weights: reader.choice_or("w", plain.weights),
        precision: reader.choice_or("prec", plain.precision),
        optimizer: reader.choice_or("opt", plain.optimizer),
        lora_rank: reader
            .whole_or(&limits::LORA_RANK, plain.lora_rank)
            .min(1024),
        recompute: reader
            .choice_or_open::<Recompute>("recompute")
            .map(|policy| policy != Recompute::None),
        cached: reader.flag_or("cached", plain.cached),
    }
}

fn write_tuning(job: &DiffusionTraining, model: &ModelChoice, pairs: &mut Pairs) {
    let plain = tuning(job.method, model);
    whole(pairs, "steps", job.steps, plain.steps);
    whole(pairs, "batch", job.batch, plain.batch);
    whole(pairs, "width", job.width, plain.width);
    whole(pairs, "height", job.height, plain.height);
    whole(pairs, "frames", job.frames, plain.frames);
    choice(pairs, "w", job.weights, plain.weights);
    choice(pairs, "prec", job.precision, plain.precision);
    choice(pairs, "opt", job.optimizer, plain.optimizer);
    whole(pairs, "rank", job.lora_rank, plain.lora_rank);
    let policy = job.recompute.map(|again| match again {
        true => Recompute::Full,
        false => Recompute::None,
    });
    open_choice(pairs, "recompute", policy);
    flag(pairs, "cached", job.cached, plain.cached);
}

fn usual_data(model: &ModelChoice) -> (UsualData, Option<NetworkTask>) {
    match subject(model) {
        Some(Subject::Network(Network { usual, task, .. })) => (*usual, Some(*task)),
        _ => (
            UsualData {
                samples: 1e6,
                epochs: 10.0,
                batch: 64,
                bytes: 1e5,
            },
            None,
        ),
    }
}

/// Training a network of which only that is known: its usual data set.
pub(crate) fn network_training(model: &ModelChoice) -> NetworkTraining {
    let (usual, task) = usual_data(model);
    NetworkTraining {
        samples: usual.samples,
        epochs: usual.epochs,
        size: None,
        batch: None,
        precision: TrainingPrecision::Bf16,
        optimizer: match task {
            Some(NetworkTask::Classify | NetworkTask::Detect | NetworkTask::Segment) => {
                Optimizer::SgdMomentum
            }
            _ => Optimizer::Adamw,
        },
        lora_rank: None,
        runtime: Runtime::Eager,
        cores: CORES,
    }
}

fn read_training(reader: &mut Reader<'_>, model: &ModelChoice) -> NetworkTraining {
    let plain = network_training(model);
    NetworkTraining {
        samples: reader.number_or(&limits::SAMPLES, plain.samples),
        epochs: reader.number_or(&limits::EPOCHS, plain.epochs),
        size: reader.whole_or_open(&limits::SIZE),
        batch: reader
            .whole_or_open(&limits::GLOBAL_BATCH)
            .map(|n| n.min(65_536)),
        precision: reader.choice_or("prec", plain.precision),
        optimizer: reader.choice_or("opt", plain.optimizer),
        lora_rank: reader
            .whole_or_open(&limits::LORA_RANK)
            .map(|rank| rank.min(1024)),
        runtime: reader.choice_or("runtime", plain.runtime),
        cores: reader.whole_or(&limits::CORES, plain.cores),
    }
}

fn write_training(job: &NetworkTraining, model: &ModelChoice, pairs: &mut Pairs) {
    let plain = network_training(model);
    real(pairs, "samples", job.samples, plain.samples);
    real(pairs, "epochs", job.epochs, plain.epochs);
    open(pairs, "size", job.size);
    open(pairs, "batch", job.batch);
    choice(pairs, "prec", job.precision, plain.precision);
    choice(pairs, "opt", job.optimizer, plain.optimizer);
    open(pairs, "rank", job.lora_rank);
    choice(pairs, "runtime", job.runtime, plain.runtime);
    whole(pairs, "cores", job.cores, plain.cores);
}

/// Running a network of which nothing more is known.
pub(crate) fn network_inference() -> NetworkInference {
    NetworkInference {
        amount: SAMPLES,
        size: None,
        batch: None,
        weights: WeightFormat::Fp16,
        fused_attention: true,
        runtime: Runtime::Eager,
        cores: CORES,
    }
}

fn read_inference(reader: &mut Reader<'_>) -> NetworkInference {
    let plain = network_inference();
    NetworkInference {
        amount: reader.number_or(&limits::AMOUNT, plain.amount),
        size: reader.whole_or_open(&limits::SIZE),
        batch: reader
            .whole_or_open(&limits::GLOBAL_BATCH)
            .map(|n| n.min(65_536)),
        weights: reader.choice_or("w", plain.weights),
        fused_attention: reader.flag_or("flash", plain.fused_attention),
        runtime: reader.choice_or("runtime", plain.runtime),
        cores: reader.whole_or(&limits::CORES, plain.cores),
    }
}

fn write_inference(job: &NetworkInference, pairs: &mut Pairs) {
    let plain = network_inference();
    real(pairs, "amount", job.amount, plain.amount);
    open(pairs, "size", job.size);
    open(pairs, "batch", job.batch);
    choice(pairs, "w", job.weights, plain.weights);
    flag(pairs, "flash", job.fused_attention, plain.fused_attention);
    choice(pairs, "runtime", job.runtime, plain.runtime);
    whole(pairs, "cores", job.cores, plain.cores);
}

/// Transcription of which nothing more is known.
pub(crate) fn transcription() -> Transcription {
    Transcription {
        amount: AUDIO_HOURS,
        batch: None,
        beam: BEAM,
        weights: WeightFormat::Fp16,
        engine: SpeechEngine::FasterWhisper,
    }
}

fn read_transcription(reader: &mut Reader<'_>) -> Transcription {
    let plain = transcription();
    Transcription {
        amount: reader.number_or(&limits::AMOUNT, plain.amount),
        batch: reader
            .whole_or_open(&limits::GLOBAL_BATCH)
            .map(|n| n.min(1024)),
        beam: reader.whole_or(&limits::BEAM, plain.beam),
        weights: reader.choice_or("w", plain.weights),
        engine: reader.choice_or("engine", plain.engine),
    }
}

fn write_transcription(job: &Transcription, pairs: &mut Pairs) {
    let plain = transcription();
    real(pairs, "amount", job.amount, plain.amount);
    open(pairs, "batch", job.batch);
    whole(pairs, "beam", job.beam, plain.beam);
    choice(pairs, "w", job.weights, plain.weights);
    choice(pairs, "engine", job.engine, plain.engine);
}

/// Scientific computing of which only its kind is known.
pub(crate) fn computation(model: &ModelChoice) -> Computation {
    const BYTES_PER_GB: f64 = 1e9;
    match subject(model) {
        Some(Subject::Workload(Workload {
            operations,
            flops_per_byte,
            working_set_bytes,
            precision,
            ..
        })) => Computation {
            operations: *operations,
            flops_per_byte: *flops_per_byte,
            working_set_gb: working_set_bytes / BYTES_PER_GB,
            precision: *precision,
        },
        _ => Computation {
            operations: 1e18,
            flops_per_byte: 10.0,
            working_set_gb: 10.0,
            precision: FloatPrecision::Fp64,
        },
    }
}

fn read_computation(reader: &mut Reader<'_>, model: &ModelChoice) -> Computation {
    let plain = computation(model);
    Computation {
        operations: reader.number_or(&limits::OPERATIONS, plain.operations),
        flops_per_byte: reader.number_or(&limits::INTENSITY, plain.flops_per_byte),
        working_set_gb: reader.number_or(&limits::WORKING_SET, plain.working_set_gb),
        precision: reader.choice_or("prec", plain.precision),
    }
}

fn write_computation(job: &Computation, model: &ModelChoice, pairs: &mut Pairs) {
    let plain = computation(model);
    real(pairs, "ops", job.operations, plain.operations);
    real(pairs, "intensity", job.flops_per_byte, plain.flops_per_byte);
    real(pairs, "ws", job.working_set_gb, plain.working_set_gb);
    choice(pairs, "prec", job.precision, plain.precision);
}

fn flag(pairs: &mut Pairs, name: &'static str, value: bool, default: bool) {
    if value != default {
        pairs.push((name, if value { "yes" } else { "no" }.to_owned()));
    }
}
