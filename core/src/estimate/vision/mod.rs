//! Vision networks, encoders and speech: training and running them.
//!
//! ```text
//! operations and written elements of a sample -> roofline -> time of a batch -> samples a second
//! ```
//!
//! What the machine must do to feed the cards is worked out beside it, for it is often the limit.

pub mod constants;
pub mod cost;
mod network;
mod speech;

pub use constants::{VisionCoefficients, VisionConstants};
pub use network::{
    NetworkRun, feed, inference_memory, inference_speed, network_time, training_memory,
    training_speed,
};
pub use speech::{SpeechRun, speech_memory, speech_speed, speech_time};

/// Names under which residuals are kept.
pub const TRAINING: &str = "training";
/// The same of running networks.
pub const INFERENCE: &str = "inference";
/// The same of memory.
pub const MEMORY: &str = "memory";
/// The same of speech.
pub const SPEECH: &str = "speech";
