//! Images and clips: making them, and training the models that do.
//!
//! ```text
//! operations of a pass (from the configuration) -> roofline -> time of a step -> of an image
//! ```
//!
//! Memory is the weights of text encoders, denoiser and autoencoder, and the larger of the two
//! moments when the denoiser and the decoder are at work.

pub mod constants;
pub mod flops;
mod generate;
mod train;

use crate::catalog::{DiffusionModel, Medium};

pub use constants::{DiffusionCoefficients, DiffusionConstants};
pub use flops::Canvas;
pub use generate::{GenerationRun, generation_memory, generation_speed, generation_time};
pub use train::{TuningRun, tuning_memory, tuning_speed};
pub(crate) use train::{reduce_s, state_bytes};

/// Name under which residuals of speed are kept.
pub const SPEED: &str = "speed";
/// Name under which residuals of memory are kept.
pub const MEMORY: &str = "memory";
/// The same of clips, whose decoders and long attention are matters of their own.
pub const CLIP_SPEED: &str = "clip_speed";
/// Peak memory of clips.
pub const CLIP_MEMORY: &str = "clip_memory";
/// The same of training.
pub const TRAINING_SPEED: &str = "training_speed";
/// The same of training.
pub const TRAINING_MEMORY: &str = "training_memory";

/// Name under which residuals of the speed of making what `model` makes are kept.
pub fn speed_kind(model: &DiffusionModel) -> &'static str {
    match model.medium {
        Medium::Image => SPEED,
        Medium::Video => CLIP_SPEED,
    }
}

/// The same of memory.
pub fn memory_kind(model: &DiffusionModel) -> &'static str {
    match model.medium {
        Medium::Image => MEMORY,
        Medium::Video => CLIP_MEMORY,
    }
}

/// Bytes of driver context and libraries that counters inside a framework do not see.
pub const CONTEXT_BYTES: f64 = 0.5e9;
