//! Operations of image and video models, counted from their configurations.

use crate::catalog::{Autoencoder, Backbone, BlockKind, DiffusionModel};
use crate::estimate::work::Work;

/// Kernels of a residual block, a transformer block of a U-Net, a block of a transformer.
const KERNELS: (f64, f64, f64) = (8.0, 30.0, 30.0);

/// Size of what is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Canvas {
    /// Pixels.
    pub width: f64,
    /// Pixels.
    pub height: f64,
    /// Frames.
    pub frames: u32,
}

/// Positions of the latent: width, height, frames, in fractions where sides do not divide.
fn latent(model: &DiffusionModel, canvas: &Canvas) -> (f64, f64, f64) {
    let spatial = f64::from(model.autoencoder.spatial.max(1));
    let frames = f64::from(model.latent_frames(canvas.frames));
    (canvas.width / spatial, canvas.height / spatial, frames)
}

/// Tokens of the picture that a transformer denoiser works on; a U-Net's latent positions.
pub fn picture_tokens(model: &DiffusionModel, canvas: &Canvas) -> f64 {
    let (width, height, frames) = latent(model, canvas);
    match &model.denoiser.layers {
        Backbone::Unet { .. } => width * height * frames,
        Backbone::Transformer {
            patch,
            patch_frames,
            ..
        } => {
            let patch = f64::from((*patch).max(1));
            let frames = (frames / f64::from((*patch_frames).max(1))).ceil();
            (width / patch).ceil() * (height / patch).ceil() * frames
        }
    }
}

/// One pass of the denoiser over one sample.
pub fn denoise(model: &DiffusionModel, canvas: &Canvas) -> Work {
    let text = f64::from(model.denoiser.text_tokens);
    match &model.denoiser.layers {
        Backbone::Transformer { groups, .. } => {
            let picture = picture_tokens(model, canvas);
            let mut work = Work::default();
            for group in groups {
                let (width, ffn) = (f64::from(group.width), f64::from(group.ffn));
                let blocks = f64::from(group.blocks);
                let both = picture + text;
                let own = 4.0 * width * width + 2.0 * width * ffn;
                // Multiply-adds a block, then positions written a block in units of the width.
                let (products, attention, written) = match group.kind {
                    BlockKind::Joint | BlockKind::Shared => {
                        (both * own, both * both, both * (9.0 + 2.0 * ffn / width))
                    }
                    BlockKind::JointDual => (
                        both * own + picture * 4.0 * width * width,
                        both * both + picture * picture,
                        both * (9.0 + 2.0 * ffn / width) + picture * 5.0,
                    ),
                    BlockKind::Parallel => {
                        (both * own, both * both, both * (7.0 + 2.0 * ffn / width))
                    }
                    BlockKind::Cross => (
                        picture * (own + 2.0 * width * width) + text * 2.0 * width * width,
                        picture * picture + picture * text,
                        picture * (13.0 + 2.0 * ffn / width),
                    ),
                };
                work = work.and(Work {
                    products: 2.0 * products * blocks,
                    attention: 4.0 * attention * width * blocks,
                    written: written * width * blocks,
                    kernels: KERNELS.2 * blocks,
                    convolutions: 0.0,
                });
            }
            work
        }
        Backbone::Unet {
            channels,
            blocks,
            transformers,
            middle_transformers,
            context,
        } => {
            let (width, height, frames) = latent(model, canvas);
            let mut unet = UnetCount {
                text,
                context: f64::from(*context),
                work: Work::default(),
            };
            unet.count(
                channels,
                *blocks,
                transformers,
                *middle_transformers,
                width * height * frames,
            );
            unet.work
        }
    }
}

/// Walks through a U-Net of `UNet2DConditionModel`'s layout.
struct UnetCount {
    text: f64,
    context: f64,
    work: Work,
}

impl UnetCount {
    fn count(
        &mut self,
        channels: &[u32],
        blocks: u32,
        transformers: &[u32],
        middle: u32,
        positions: f64,
    ) {
        let first = channels.first().copied().map_or(0.0, f64::from);
        let time = 4.0 * first;
        let mut at = positions;
        let mut width = first;
        let mut skips = vec![first];
        self.convolution(4.0, first, 9.0, at);
        for (level, channel) in channels.iter().enumerate() {
            let channel = f64::from(*channel);
            let depth = transformers.get(level).copied().unwrap_or(0);
            for _ in 0..blocks {
                self.residual(width, channel, time, at);
                width = channel;
                self.transformer(width, depth, at);
                skips.push(width);
            }
            if level + 1 < channels.len() {
                at /= 4.0;
                self.convolution(width, width, 9.0, at);
                skips.push(width);
            }
        }
        self.residual(width, width, time, at);
        self.transformer(width, middle, at);
        self.residual(width, width, time, at);
        for (level, channel) in channels.iter().enumerate().rev() {
            let channel = f64::from(*channel);
            let depth = transformers.get(level).copied().unwrap_or(0);
            for _ in 0..=blocks {
                let skip = skips.pop().unwrap_or(channel);
                self.residual(width + skip, channel, time, at);
                width = channel;
                self.transformer(width, depth, at);
            }
            if level > 0 {
                at *= 4.0;
                self.convolution(width, width, 9.0, at);
            }
        }
        self.convolution(width, 4.0, 9.0, at);
    }

    fn convolution(&mut self, from: f64, to: f64, kernel: f64, at: f64) {
        self.work.convolutions += 2.0 * from * to * kernel * at;
        self.work.written += to * at;
        self.work.kernels += 1.0;
    }

    fn residual(&mut self, from: f64, to: f64, time: f64, at: f64) {
        self.convolution(from, to, 9.0, at);
        self.convolution(to, to, 9.0, at);
        if (from - to).abs() > 0.5 {
            self.convolution(from, to, 1.0, at);
        }
        self.work.products += 2.0 * time * to;
        // Two normalisations with their activation, and the sum.
        self.work.written += (2.0 * from + 3.0 * to) * at;
        self.work.kernels += KERNELS.0;
    }

    fn transformer(&mut self, width: f64, depth: u32, at: f64) {
        if depth == 0 {
            return;
        }
        let depth = f64::from(depth);
        let square = width * width;
        // Projections in and out; each block: attention over the picture, to the prompt, and a
        // gated feed-forward network of four times the width.
        let block = at * (4.0 + 2.0 + 12.0) * square + self.text * 2.0 * width * self.context;
        self.work.products += 2.0 * (at * 2.0 * square + depth * block);
        self.work.attention += 4.0 * width * depth * (at * at + at * self.text);
        self.work.written += at * width * (2.0 + depth * 26.0);
        self.work.kernels += 4.0 + depth * KERNELS.1;
    }
}

/// Decoding one image or clip.
pub fn decode(vae: &Autoencoder, canvas: &Canvas, latent_frames: u32) -> Work {
    let spatial = f64::from(vae.spatial.max(1));
    let (width, height) = (canvas.width / spatial, canvas.height / spatial);
    let kernel = if vae.three_frames { 27.0 } else { 9.0 };
    let mut work = Work::default();
    let mut convolution = |from: f64, to: f64, positions: f64| {
        work.convolutions += 2.0 * from * to * kernel * positions;
        work.written += 4.0 * to * positions;
        work.kernels += 4.0;
    };
    let side = f64::from(vae.unfold.max(1));
    let finest = canvas.width * canvas.height / (side * side) * f64::from(canvas.frames);
    let coarsest = width * height * f64::from(latent_frames);
    let steps = vae.widths.len().saturating_sub(1).max(1) as f64;
    let growth = (finest / coarsest.max(1.0)).powf(1.0 / steps);
    let mut at = coarsest;
    let mut from = vae.widths.first().copied().map_or(0.0, f64::from);
    convolution(f64::from(vae.latent_channels), from, at);
    // Two residual blocks in the middle.
    for _ in 0..4 {
        convolution(from, from, at);
    }
    for (level, to) in vae.widths.iter().enumerate() {
        let to = f64::from(*to);
        if level > 0 {
            at *= growth;
            // The convolution behind the upsampling keeps the channels of the coarser level.
            convolution(from, from, at);
        }
        for block in 0..vae.blocks {
            convolution(if block == 0 { from } else { to }, to, at);
            convolution(to, to, at);
        }
        from = to;
    }
    convolution(from, 3.0 * side * side, at);
    // Attention of the middle, over the latent positions of one frame.
    let middle = vae.widths.first().copied().map_or(0.0, f64::from);
    let positions = width * height;
    if !vae.three_frames {
        work.attention += 4.0 * positions * positions * middle;
    }
    work
}

/// Reading the prompt once.
pub fn read_prompt(model: &DiffusionModel) -> Work {
    let encoders = model.text_encoders.iter();
    let products = encoders.map(|e| 2.0 * e.params as f64 * f64::from(e.tokens));
    Work {
        products: products.sum(),
        kernels: 400.0 * model.text_encoders.len() as f64,
        ..Work::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn square(side: f64) -> Canvas {
        Canvas {
            width: side,
            height: side,
            frames: 1,
        }
    }

    /// Multiply-adds of a whole image of 25 steps under guidance, over 50 passes, as the T-GATE
    /// table of the Diffusers documentation gives them. Its counter sees no attention scores.
    #[test]
    fn unets_cost_what_is_published() {
        for (id, side, published) in [
            ("sd-1.5", 512.0, 16.938e12),
            ("sd-2.1", 768.0, 38.041e12),
            ("sdxl", 1024.0, 149.438e12),
        ] {
            let model = Catalog::embedded().diffusion_model(id).unwrap();
            let work = denoise(model, &square(side));
            let macs = (work.products + work.convolutions) / 2.0;
            let ratio = macs / (published / 50.0);
            assert!((0.93..1.08).contains(&ratio), "{id}: {ratio}");
        }
    }

    #[test]
    fn transformers_cost_twice_their_parameters_a_token_and_attention() {
        // Wan 2.1 14B at 832 x 480, 81 frames: 21 x 30 x 52 tokens.
        let model = Catalog::embedded().diffusion_model("wan-2.1-14b").unwrap();
        let canvas = Canvas {
            width: 832.0,
            height: 480.0,
            frames: 81,
        };
        assert!((picture_tokens(model, &canvas) - 32_760.0).abs() < 0.5);
        let work = denoise(model, &canvas);
        let by_parameters = 2.0 * model.denoiser.params as f64 * 32_760.0;
        // Keys and values of the prompt, an eighth of the parameters, see the prompt alone.
        let share = work.products / by_parameters;
        assert!((0.8..0.9).contains(&share), "{share}");
        let scores = 4.0 * 40.0 * 5120.0 * (32_760.0_f64.powi(2) + 32_760.0 * 512.0);
        assert!((work.attention / scores - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_autoencoder_of_stable_diffusion_costs_two_and_a_half_teraflops_at_512() {
        let model = Catalog::embedded().diffusion_model("sd-1.5").unwrap();
        let flops = decode(&model.autoencoder, &square(512.0), 1).flops();
        assert!((2.2e12..2.8e12).contains(&flops), "{flops:e}");
    }
}
