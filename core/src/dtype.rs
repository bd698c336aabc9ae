//! Number formats: what tensors are stored in and what the matrix units compute in.

use serde::{Deserialize, Serialize};

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

/// How model weights are stored. `bits_per_weight` includes block scales and zero points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each variant is the format's own name")]
pub enum WeightFormat {
    Fp32,
    Bf16,
    Fp16,
    Fp8,
    Int8,
    /// GPTQ 4 bit, group size 128.
    Gptq4,
    /// AWQ 4 bit, group size 128.
    Awq4,
    /// bitsandbytes NF4, block size 64, double quantisation.
    Nf4,
    Mxfp4,
    Nvfp4,
    // GGUF types, by llama.cpp's names.
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
    Iq3Xxs,
    Iq3M,
    Iq4Xs,
    Iq4Nl,
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
