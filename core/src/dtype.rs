//! Number formats: what tensors are stored in and what the matrix units compute in.

use serde::{Deserialize, Serialize};

use crate::catalog::Card;

/// The number format in which a card's units multiply, the key of a card's peak rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComputeDtype {
    /// Double precision.
    Fp64,
    /// Single precision on vector units.
    Fp32,
    /// TensorFloat-32 on matrix units.
    Tf32,
    /// 16-bit float, accumulated in FP32.
    Fp16,
    /// bfloat16, accumulated in FP32.
    Bf16,
    /// 8-bit float, accumulated in FP32.
    Fp8,
    /// 8-bit integer, accumulated in INT32.
    Int8,
    /// 4-bit float with block scales (NVFP4, MXFP4).
    Fp4,
}

/// How model weights are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each variant is the format's own name")]
pub enum WeightFormat {
    Fp32,
    Bf16,
    Fp16,
    /// FP8 with one FP32 scale for every block of 128 by 128 weights.
    Fp8,
    /// 8-bit integers with one FP32 scale an output row (W8A8, LLM.int8).
    Int8,
    /// GPTQ 8 bit, group size 128.
    Gptq8,
    /// GPTQ 4 bit, group size 128.
    Gptq4,
    /// AWQ 4 bit, group size 128.
    Awq4,
    /// bitsandbytes NF4, block size 64, double quantisation.
    Nf4,
    Mxfp4,
    Nvfp4,
    // GGUF types, by llama.cpp's names.
    Iq1S,
    Iq1M,
    Q2K,
    Q3KS,
    Q3KM,
    Q3KL,
    Q4_0,
    Q4_1,
    Q4KS,
    Q4KM,
    Q5_0,
    Q5_1,
    Q5KS,
    Q5KM,
    Q6K,
    Q8_0,
    Iq2Xxs,
    Iq2Xs,
    Iq2S,
    Iq2M,
    Iq3Xxs,
    Iq3Xs,
    Iq3S,
    Iq3M,
    Iq4Xs,
    Iq4Nl,
}

impl WeightFormat {
    /// Whether this is a file type of llama.cpp.
    pub const fn is_gguf(self) -> bool {
        !matches!(
            self,
            Self::Fp32
                | Self::Bf16
                | Self::Fp16
                | Self::Fp8
                | Self::Int8
                | Self::Gptq8
                | Self::Gptq4
                | Self::Awq4
                | Self::Nf4
                | Self::Mxfp4
                | Self::Nvfp4
        )
    }

    /// A block of a quantised matrix: its weights, and its bytes with scales and zero points. For
    /// GGUF mixtures this is the type that most matrices have; `estimate::serving` knows the
    /// others.
    pub const fn block(self) -> (u64, u64) {
        match self {
            Self::Fp32 => (1, 4),
            Self::Bf16 | Self::Fp16 => (1, 2),
            // One FP32 scale a block of 128 by 128.
            Self::Fp8 => (16_384, 16_388),
            // One FP32 scale a row; rows are 4096 long in a common model.
            Self::Int8 => (4096, 4100),
            // A group of 128 has one FP16 scale and one zero point of the weights' own width.
            Self::Gptq8 => (128, 131),
            Self::Gptq4 | Self::Awq4 => (256, 133),
            // Dettmers et al. 2023: 8-bit scale a block of 64, FP32 scale for 256 of those.
            Self::Nf4 => (16_384, 8192 + 256 + 4),
            // OCP microscaling: 8-bit exponent a block of 32.
            Self::Mxfp4 => (32, 17),
            // 8-bit scale a block of 16.
            Self::Nvfp4 => (16, 9),
            // llama.cpp's blocks.
            Self::Iq1S => (256, 50),
            Self::Iq1M => (256, 56),
            Self::Q2K => (256, 84),
            Self::Q3KS | Self::Q3KM | Self::Q3KL => (256, 110),
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q4KS | Self::Q4KM => (256, 144),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q5KS | Self::Q5KM => (256, 176),
            Self::Q6K => (256, 210),
            Self::Q8_0 => (32, 34),
            Self::Iq2Xxs => (256, 66),
            Self::Iq2Xs | Self::Iq2S => (256, 74),
            Self::Iq2M => (256, 82),
            Self::Iq3Xxs => (256, 98),
            Self::Iq3Xs | Self::Iq3S | Self::Iq3M => (256, 110),
            Self::Iq4Xs => (256, 136),
            Self::Iq4Nl => (32, 18),
        }
    }

    /// Bits of one weight of a quantised matrix, block scales and zero points counted.
    pub const fn bits_per_weight(self) -> f64 {
        let (weights, bytes) = self.block();
        bytes as f64 * 8.0 / weights as f64
    }

    /// Bytes of `weights` weights of a quantised matrix, a block begun counted as its share.
    pub const fn bytes_of(self, weights: u64) -> u64 {
        let (block, bytes) = self.block();
        ((weights as u128 * bytes as u128).div_ceil(block as u128)) as u64
    }

    /// Bits of one weight of embedding, output head and norms: full precision stays, quantised
    /// formats keep 16 bit there. GGUF files quantise them too, see `estimate::serving::weights`.
    pub const fn table_bits(self) -> f64 {
        match self {
            Self::Fp32 => 32.0,
            _ => 16.0,
        }
    }

    /// Whether weights are expanded to 16 bit before they are multiplied, whatever the card.
    pub const fn is_weight_only(self) -> bool {
        self.is_gguf()
            || matches!(
                self,
                Self::Gptq8 | Self::Gptq4 | Self::Awq4 | Self::Nf4 | Self::Mxfp4
            )
    }

    /// The format in which `card` multiplies weights stored so: the format's own where the card
    /// has units for it, else 16 bit.
    pub fn compute_dtype(self, card: &Card) -> ComputeDtype {
        let peak = &card.peak_tflops;
        let half = match self {
            Self::Fp16 => ComputeDtype::Fp16,
            _ if peak.bf16.is_some() => ComputeDtype::Bf16,
            _ => ComputeDtype::Fp16,
        };
        match self {
            Self::Fp32 => ComputeDtype::Fp32,
            Self::Fp8 if peak.fp8.is_some() => ComputeDtype::Fp8,
            Self::Int8 if peak.int8.is_some() => ComputeDtype::Int8,
            Self::Nvfp4 if peak.fp4.is_some() => ComputeDtype::Fp4,
            _ => half,
        }
    }
}

/// How the KV cache is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each variant is the format's own name")]
pub enum KvFormat {
    Fp32,
    /// FP16 or BF16.
    Bits16,
    /// FP8 or INT8 (GGUF q8_0).
    Bits8,
    /// 4 bit (GGUF q4_0).
    Bits4,
}

impl KvFormat {
    /// Bits of one cached element, scales left out (engines keep one scale a tensor).
    pub const fn bits(self) -> f64 {
        match self {
            Self::Fp32 => 32.0,
            Self::Bits16 => 16.0,
            Self::Bits8 => 8.0,
            Self::Bits4 => 4.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn bits_count_scales_and_zero_points() {
        // 128 weights of 4 bit, one FP16 scale, one 4-bit zero point: 532 bits.
        assert!((WeightFormat::Gptq4.bits_per_weight() - 532.0 / 128.0).abs() < 1e-12);
        // 64 weights, one 8-bit scale, 1/256 of an FP32: 4.127 bits (Dettmers et al. 2023: 4.127).
        assert!((WeightFormat::Nf4.bits_per_weight() - 4.127).abs() < 1e-3);
        assert!((WeightFormat::Q4KM.bits_per_weight() - 4.5).abs() < 1e-12);
        assert!((WeightFormat::Q6K.bits_per_weight() - 6.5625).abs() < 1e-12);
    }

    #[test]
    fn eight_bit_formats_multiply_in_eight_bit_only_where_the_card_can() {
        let catalog = Catalog::embedded();
        let on = |card: &str, format: WeightFormat| {
            catalog.card(card).map(|card| format.compute_dtype(card))
        };
        assert_eq!(
            on("h100-sxm-80gb", WeightFormat::Fp8),
            Some(ComputeDtype::Fp8)
        );
        assert_eq!(
            on("a100-sxm4-80gb", WeightFormat::Fp8),
            Some(ComputeDtype::Bf16)
        );
        assert_eq!(
            on("a100-sxm4-80gb", WeightFormat::Int8),
            Some(ComputeDtype::Int8)
        );
        assert_eq!(
            on("v100-sxm2-16gb", WeightFormat::Gptq4),
            Some(ComputeDtype::Fp16)
        );
    }
}
