//! Operations of one sample.

use crate::catalog::{LayerStyle, Network, NetworkCost};
use crate::estimate::work::Work;

/// Kernels of a convolution with what follows it, and of a transformer block.
const KERNELS: (f64, f64) = (3.0, 14.0);
/// Tokens of a transcript of one window, in training.
const TRANSCRIPT: f64 = 100.0;

/// What most of a network's time goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// One of the published kinds.
    Published(LayerStyle),
    /// Transformer blocks.
    Tokens,
}

/// Style of a network.
pub fn style(network: &Network) -> Style {
    match &network.cost {
        NetworkCost::Published { style, .. } => Style::Published(*style),
        _ => Style::Tokens,
    }
}

/// Layers, for parts of memory.
pub fn layers(network: &Network) -> f64 {
    f64::from(match &network.cost {
        NetworkCost::Published { layers, .. }
        | NetworkCost::Patches { layers, .. }
        | NetworkCost::Tokens { layers, .. } => *layers,
        NetworkCost::Speech {
            encoder_layers,
            decoder_layers,
            ..
        } => encoder_layers + decoder_layers,
    })
}

/// Scores of one block's attention over one sample, which a kernel that is not fused writes;
/// none where a network has no attention over all of its sample.
pub fn scores(network: &Network, size: u32) -> f64 {
    let (tokens, heads) = match &network.cost {
        NetworkCost::Published { .. } => return 0.0,
        NetworkCost::Patches { patch, heads, .. } => {
            let side = f64::from(size) / f64::from((*patch).max(1));
            (side.floor().max(1.0).powi(2) + 1.0, *heads)
        }
        NetworkCost::Tokens { heads, .. } => (f64::from(size.max(1)), *heads),
        NetworkCost::Speech {
            positions, heads, ..
        } => (f64::from(*positions), *heads),
    };
    f64::from(heads) * tokens * tokens
}

/// Parameters of adapters of `rank` on every layer: as many rows and columns as a square matrix
/// of the layer's size has.
pub fn adapter_params(network: &Network, rank: u32) -> f64 {
    let layers = layers(network).max(1.0);
    let side = (network.params as f64 / layers).sqrt();
    f64::from(rank) * layers * 2.0 * side
}

/// Blocks of a transformer over `tokens` tokens, whose queries and keys are `heads_width` wide.
fn blocks(
    layers: u32,
    tokens: f64,
    width: u32,
    ffn: u32,
    gated: bool,
    heads_width: Option<(u32, u32)>,
) -> Work {
    let (queries, keys) = heads_width.unwrap_or((width, width));
    let (queries, keys) = (f64::from(queries), f64::from(keys));
    let (layers, width, ffn) = (f64::from(layers), f64::from(width), f64::from(ffn));
    let matrices = if gated { 3.0 } else { 2.0 };
    let projections = 2.0 * width * (queries + keys);
    Work {
        products: 2.0 * layers * tokens * (projections + matrices * width * ffn),
        attention: 4.0 * layers * tokens * tokens * queries,
        written: layers * tokens * (5.0 * width + 2.0 * (queries + keys) + matrices * ffn),
        kernels: KERNELS.1 * layers,
        convolutions: 0.0,
    }
}

/// One sample of `size`: the side of an image, tokens of a sequence, positions of a window.
pub fn forward(network: &Network, size: u32) -> Work {
    match &network.cost {
        NetworkCost::Published {
            side,
            macs,
            activations,
            layers,
            style,
        } => {
            let scale = (f64::from(size) / f64::from((*side).max(1))).powi(2);
            let flops = 2.0 * macs * scale;
            let windows = *style == LayerStyle::Windows;
            Work {
                products: if windows { flops } else { 0.0 },
                convolutions: if windows { 0.0 } else { flops },
                attention: 0.0,
                written: activations * scale,
                kernels: KERNELS.0 * f64::from(*layers),
            }
        }
        NetworkCost::Patches {
            patch,
            layers,
            width,
            ffn,
            text,
            ..
        } => {
            let side = f64::from(size) / f64::from((*patch).max(1));
            let picture = side.floor().max(1.0).powi(2);
            let embed = 2.0 * picture * f64::from(*width) * 3.0 * f64::from(*patch).powi(2);
            let mut work = blocks(*layers, picture + 1.0, *width, *ffn, false, None);
            work.products += embed;
            if let Some(text) = text {
                work = work.and(blocks(
                    text.layers,
                    f64::from(text.tokens),
                    text.width,
                    4 * text.width,
                    false,
                    None,
                ));
            }
            work
        }
        NetworkCost::Tokens {
            layers,
            width,
            ffn,
            gated,
            heads_width,
            ..
        } => blocks(
            *layers,
            f64::from(size.max(1)),
            *width,
            *ffn,
            *gated,
            *heads_width,
        ),
        NetworkCost::Speech {
            positions,
            encoder_layers,
            decoder_layers,
            width,
            vocab,
            ..
        } => {
            let heard = f64::from(*positions);
            let mut work = blocks(*encoder_layers, heard, *width, 4 * width, false, None);
            let said = blocks(*decoder_layers, TRANSCRIPT, *width, 4 * width, false, None);
            let (width, layers) = (f64::from(*width), f64::from(*decoder_layers));
            work = work.and(said);
            // Keys and values of what was heard, in every layer of the decoder, and the output.
            work.products += 2.0 * layers * 2.0 * heard * width * width
                + 2.0 * TRANSCRIPT * width * f64::from(*vocab);
            work.attention += 4.0 * layers * TRANSCRIPT * heard * width;
            work
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn macs(id: &str, size: u32) -> f64 {
        let network = Catalog::embedded().network(id).unwrap();
        forward(network, size).flops() / 2.0
    }

    #[test]
    fn transformers_cost_what_timm_counts() {
        // Multiply-adds of timm's table, attention counted there too for some only.
        for (id, size, published) in [
            ("vit-s-16", 224, 4.61e9),
            ("vit-b-16", 224, 17.58e9),
            ("vit-l-16", 224, 61.6e9),
            ("vit-h-14", 224, 167.4e9),
        ] {
            let ratio = macs(id, size) / published;
            assert!((0.97..1.03).contains(&ratio), "{id}: {ratio}");
        }
    }

    #[test]
    fn convolutions_grow_with_the_pixels() {
        assert!((macs("resnet-50", 448) / macs("resnet-50", 224) - 4.0).abs() < 1e-9);
        // 288 pixels: 6.8 billion by timm.
        assert!((macs("resnet-50", 288) / 6.8e9 - 1.0).abs() < 0.01);
    }

    #[test]
    fn bert_costs_twice_its_blocks_parameters_a_token_and_attention() {
        // 12 blocks of 7.08 M weights, 128 tokens; 12 x 128^2 x 768 x 2 for the scores.
        let products = 12.0 * 128.0 * (4.0 * 768.0 * 768.0 + 2.0 * 768.0 * 3072.0);
        let scores = 2.0 * 12.0 * 128.0 * 128.0 * 768.0;
        assert!((macs("bert-base", 128) - products - scores).abs() < 1.0);
    }
}
