//! Fitted constants of images and clips, read from `core/data/calibration/diffusion.json`, which
//! `cargo xtask calibrate` writes.

use std::sync::OnceLock;

use crate::estimate::work::{Constants, coefficients};
use crate::packed::{PackedFile, packed_file};

pub(crate) static FILE: PackedFile = packed_file!(
    "diffusion",
    crate::packed::json::<DiffusionConstants>,
    include_str!("../../../data/calibration/diffusion.json")
);

coefficients! {
    /// Constants beside each architecture's share of its peak.
    DiffusionCoefficients {
        /// Share that convolutions reach, over that of products.
        convolution: 0.8, 0.2 ..= 1.6;
        /// Share of the peak that fused attention reaches; of products' rate, where scores are written.
        attention: 0.6, 0.2 ..= 1.6;
        /// Share that attention of a transformer reaches with heads of 64, over that with heads of 128.
        narrow_heads: 0.85, 0.5 ..= 1.2;
        /// The same on Hopper, over that of other cards: FlashAttention-2 reaches 35 of 100 of an
        /// H100's peak where it reaches 70 of an A100's (Shah et al. 2024).
        hopper_attention: 0.6, 0.3 ..= 1.2;
        /// Share that FP8 and INT8 products reach of their own peak, over that of 16 bit.
        narrow: 0.6, 0.1 ..= 1.2;
        /// Share of FP32 and TF32 peaks, over that of 16 bit.
        single: 1.0, 0.3 ..= 2.0;
        /// Share of FP32's peak on plain units that products reach.
        plain_single: 0.8, 0.3 ..= 1.0;
        /// Times that what a U-Net's layer writes crosses the memory bus, layer by layer.
        traffic: 4.0, 0.5 ..= 14.0;
        /// The same of a transformer's.
        token_traffic: 4.0, 0.5 ..= 14.0;
        /// The same where kernels are fused by a compiler, over the above.
        fused: 0.5, 0.1 ..= 1.0;
        /// Time to start a kernel from Python, seconds.
        launch_s: 3e-5, 5e-6 ..= 2e-4;
        /// The same of compiled code, over the above.
        compiled_launch: 0.3, 0.05 ..= 1.0;
        /// Products with weights that are expanded first, over plain ones.
        expanded: 1.15, 1.0 ..= 3.0;
        /// Gain of products in compiled code on cards with HBM, which finish small kernels sooner
        /// than they are started one by one.
        compiled_products: 1.25, 1.0 ..= 2.0;
        /// Share that a built engine reaches, over compiled code.
        engine: 1.2, 0.8 ..= 2.5;
        /// Time beside denoising and decoding, for a batch, seconds.
        around_s: 0.1, 0.01 ..= 1.0;
        /// Times that scores cross the memory bus where no fused kernel keeps them: written, scaled, normalised and
        /// read again.
        score_traffic: 6.0, 2.0 ..= 16.0;
        /// Share of their own speed that cards reach which share a sample.
        shared: 0.96, 0.85 ..= 1.0;
        /// Time of exchanges over PCIe, over what its bandwidth says.
        pcie_exchange: 2.0, 0.5 ..= 8.0;
        /// Bytes that cards which share a sample hold for each other.
        shared_bytes: 3e9, 0.5e9 ..= 12e9;
        /// The largest moment of a pass on cards that share it, over their part of it.
        shared_peak: 1.3, 1.0 ..= 3.0;
        /// Bytes of the largest moment of a transformer's pass, over tokens times width.
        transformer_peak: 60.0, 4.0 ..= 160.0;
        /// The same of a U-Net, over positions times finest channels.
        unet_peak: 60.0, 10.0 ..= 200.0;
        /// Bytes of the largest moment of decoding an image, over pixels times finest channels.
        image_decode_peak: 20.0, 4.0 ..= 60.0;
        /// The same of a clip, over pixels of the frames that are decoded together.
        clip_decode_peak: 24.0, 4.0 ..= 80.0;
        /// What PyTorch's allocator keeps of decoding, over what is in use at its largest moment.
        cached: 1.6, 1.0 ..= 3.0;
        /// What the allocator holds over what is in use.
        reserved: 1.08, 1.0 ..= 1.5;
        /// Share of kept activations that training holds, over what layers write.
        kept: 0.8, 0.2 ..= 2.0;
        /// The same of the one block that is computed again, over a mean block.
        fullest: 1.5, 0.5 ..= 8.0;
        /// Time to start a kernel in training, over inference: autograd's record and casts of mixed
        /// precision.
        training_launch: 1.3, 0.5 ..= 5.0;
        /// The same where adapters are trained, over that: several small kernels beside each
        /// product, and an optimizer that walks over many small matrices.
        adapter_launch: 3.0, 1.0 ..= 10.0;
        /// Times that what a layer writes crosses the memory bus in a pass of training, over
        /// inference: norms, gates and casts have gradients of their own.
        training_traffic: 1.3, 0.5 ..= 4.0;
        /// The same of a transformer's layer.
        training_token_traffic: 2.0, 0.5 ..= 12.0;
        /// Share of the peak that training reaches, over inference.
        training: 0.9, 0.4 ..= 1.6;
    }
}

/// The constants.
pub type DiffusionConstants = Constants<DiffusionCoefficients>;

impl DiffusionConstants {
    /// Those that ship with the product, read once.
    pub fn embedded() -> &'static Self {
        static CONSTANTS: OnceLock<DiffusionConstants> = OnceLock::new();
        CONSTANTS.get_or_init(|| FILE.read())
    }
}
