//! Fitted constants of networks and speech, read from `core/data/calibration/vision.json`, which
//! `cargo xtask calibrate` writes.

use std::sync::OnceLock;

use crate::estimate::work::{Constants, coefficients};
use crate::packed::{PackedFile, packed_file};

pub(crate) static FILE: PackedFile = packed_file!(
    "vision",
    crate::packed::json::<VisionConstants>,
    include_str!("../../../data/calibration/vision.json")
);

coefficients! {
    /// Constants beside each architecture's share of its peak.
    VisionCoefficients {
        /// Share that convolutions reach, over that of products.
        convolution: 0.7, 0.2 ..= 1.6;
        /// Share that depthwise networks reach, over that of products.
        depthwise: 0.4, 0.05 ..= 1.2;
        /// Share that attention in windows reaches, over that of products.
        windows: 0.6, 0.1 ..= 1.2;
        /// Share that detectors with many boxes reach, over that of products.
        boxes: 0.4, 0.05 ..= 1.2;
        /// Share that attention reaches, over that of products.
        attention: 0.6, 0.1 ..= 1.5;
        /// Share that INT8 and FP8 products reach of their own peak, over that of 16 bit.
        narrow: 0.6, 0.1 ..= 1.5;
        /// Share of FP32 and TF32 peaks, over that of 16 bit.
        single: 1.0, 0.3 ..= 2.0;
        /// Times that what a convolution writes crosses the memory bus.
        traffic: 5.0, 0.5 ..= 12.0;
        /// The same of depthwise networks.
        depthwise_traffic: 5.0, 0.5 ..= 16.0;
        /// The same of transformers.
        token_traffic: 2.0, 0.3 ..= 8.0;
        /// The same in windows.
        window_traffic: 4.0, 0.5 ..= 12.0;
        /// The same where kernels are fused, over the above.
        fused: 0.5, 0.05 ..= 1.0;
        /// Times that what a layer writes crosses the memory bus in a built engine, which folds what
        /// follows a convolution into it: written once, read once.
        engine_traffic: 2.0, 0.5 ..= 5.0;
        /// Channels last rather than first, or libraries that choose: gain of training's
        /// convolutions by NVIDIA's own recipes.
        recipe: 1.3, 0.8 ..= 2.5;
        /// Time to start a kernel from Python, seconds.
        launch_s: 1e-5, 2e-6 ..= 1e-4;
        /// The same of compiled code, over the above.
        compiled_launch: 0.3, 0.02 ..= 1.0;
        /// Time for a layer of a built engine to fill a card and run empty again, seconds: layers
        /// wait for each other, which a batch of one cannot hide.
        fill_s: 1e-5, 1e-6 ..= 5e-5;
        /// Share that a built engine reaches, over compiled code.
        engine: 1.5, 0.8 ..= 4.0;
        /// Passes that training makes over the activations, over one forward.
        training_traffic: 3.0, 1.5 ..= 6.0;
        /// Operations of training, over one forward: 3, and less or more by the kernels' worth.
        training_compute: 3.0, 2.0 ..= 5.0;
        /// Share of their own speed that cards reach which train together.
        together: 0.96, 0.7 ..= 1.0;
        /// Activations that training keeps, over what layers write: convolutions with norms and
        /// rectifiers that work in place.
        kept: 2.0, 0.3 ..= 6.0;
        /// The same of detectors in one pass, whose activations do not work in place, with what
        /// matching boxes to objects takes.
        kept_detector: 3.5, 1.0 ..= 8.0;
        /// The same of detectors in two steps, whose first stage is frozen.
        kept_boxes: 1.6, 0.3 ..= 6.0;
        /// The same of networks that label every pixel, whose finest layers come twice.
        kept_pixels: 3.0, 1.0 ..= 8.0;
        /// The same of transformers with fused attention.
        kept_tokens: 1.3, 0.5 ..= 4.0;
        /// The same of attention in windows, which copies what it shifts and keeps its scores.
        kept_windows: 1.8, 0.5 ..= 5.0;
        /// Words, as tokens, of a second of speech.
        words: 3.5, 2.0 ..= 6.0;
        /// Host time of one decoding step of faster-whisper for a layer, seconds.
        speech_layer_s: 5e-4, 1e-5 ..= 2e-3;
        /// The same of OpenAI's package, over it.
        openai_layer: 4.0, 1.0 ..= 20.0;
        /// Share of bandwidth that decoding reaches.
        speech_bandwidth: 0.5, 0.1 ..= 1.0;
        /// Bytes that a speech engine holds beside weights, context and windows: libraries' work
        /// spaces, hypotheses of the beam, what its allocator keeps.
        speech_workspace: 0.6e9, 0.1e9 ..= 2e9;
    }
}

/// The constants.
pub type VisionConstants = Constants<VisionCoefficients>;

impl VisionConstants {
    /// Those that ship with the product, read once.
    pub fn embedded() -> &'static Self {
        static CONSTANTS: OnceLock<VisionConstants> = OnceLock::new();
        CONSTANTS.get_or_init(|| FILE.read())
    }
}
