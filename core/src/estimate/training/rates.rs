//! Rates that one card reaches on one job.

use super::constants::SpeedConstants;
use super::job::{AttentionKernel, Stack, TrainingJob};
use crate::catalog::{AttentionKind, Card, Vendor};
use crate::dtype::ComputeDtype;
use crate::scenario::TrainingPrecision;

/// A peak that keeps times finite where the catalog gives none for any format, FLOP/s.
const UNKNOWN_PEAK: f64 = 1e12;

/// Architectures for which Transformer Engine has attention kernels of their own.
const ENGINE: [&str; 3] = ["Hopper", "Blackwell", "Blackwell Ultra"];

/// The architecture whose second cache is large beside its bandwidth (72 MB on AD102, 6 on GA102).
const LARGE_CACHE: &str = "Ada Lovelace";

/// Rates of one card for one job, FLOP/s and bytes/s.
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    /// Products of blocks with their weights.
    pub products: f64,
    /// Products with experts' weights.
    pub experts: f64,
    /// Products with the output head.
    pub head: f64,
    /// Fused attention.
    pub attention: f64,
    /// Element-wise kernels.
    pub memory: f64,
    /// Dense peak that utilisation is told against.
    pub peak: f64,
}

/// Dense 16-bit peak, the vector units' FP32 where there is no other.
fn half_peak(card: &Card, dtype: ComputeDtype) -> f64 {
    let p = &card.peak_tflops;
    p.flops_per_s(dtype)
        .or_else(|| p.flops_per_s(ComputeDtype::Fp16))
        .or_else(|| p.flops_per_s(ComputeDtype::Bf16))
        .or_else(|| p.flops_per_s(ComputeDtype::Fp32))
        .unwrap_or(UNKNOWN_PEAK)
}

/// Whether heads are 64 wide at most: kernels of fused attention then keep less of the units busy (Dao 2023).
fn has_narrow_heads(job: &TrainingJob<'_>) -> bool {
    job.flash_attention
        && job.model.transformer.attention.iter().any(
            |group| matches!(group.kind, AttentionKind::Heads { head_dim, .. } if head_dim <= 64),
        )
}

impl Rates {
    /// Of `card` with `stack`.
    pub fn of(
        job: &TrainingJob<'_>,
        stack: Stack,
        card: &Card,
        constants: &SpeedConstants,
    ) -> Self {
        let grouped = match card.vendor {
            // One expert after another: plain products, not grouped ones.
            Vendor::Nvidia | Vendor::Amd if stack == Stack::Transformers => 1.0,
            Vendor::Nvidia | Vendor::Amd => constants.experts_over_products,
            _ => constants.experts_elsewhere,
        };
        let dense = Self::dense(job, stack, card, constants);
        Self {
            experts: dense.products * grouped,
            ..dense
        }
    }

    /// The same, experts at the rate of all products.
    fn dense(job: &TrainingJob<'_>, stack: Stack, card: &Card, constants: &SpeedConstants) -> Self {
        let stacked = constants.stack(stack);
        let share = constants.half_efficiency(card) * stacked.products;
        let kernel = match job.habits.attention_kernel {
            AttentionKernel::Flash | AttentionKernel::Engine | AttentionKernel::EarlyEngine => 1.0,
            AttentionKernel::FirstFlash => constants.first_flash_attention,
            AttentionKernel::Triton => constants.triton_attention,
            AttentionKernel::Padded => constants.padded_attention,
        };
        let has_engine = match job.habits.attention_kernel {
            AttentionKernel::Engine => true,
            AttentionKernel::Flash => stack == Stack::Megatron,
            AttentionKernel::FirstFlash
            | AttentionKernel::Triton
            | AttentionKernel::Padded
            | AttentionKernel::EarlyEngine => false,
        };
        let engine = if has_engine && ENGINE.contains(&card.architecture.as_str()) {
            constants.engine_attention
        } else {
            1.0
        };
        let narrow = if has_narrow_heads(job) {
            constants.narrow_heads
        } else {
            1.0
        };
        let fused_share = constants.attention_share(card) * stacked.attention * engine * narrow;
        let attention_share = fused_share * kernel;
        let cached = if card.architecture == LARGE_CACHE {
            constants.large_cache
        } else {
            1.0
        };
        let memory = card.bandwidth_gb_s.max(1.0) * 1e9 * constants.bandwidth_efficiency * cached;
        let half_dtype = match job.precision {
            TrainingPrecision::Fp16 => ComputeDtype::Fp16,
            _ => ComputeDtype::Bf16,
        };
        let half = half_peak(card, half_dtype);
        let attention = half * share * attention_share;
        match job.precision {
            TrainingPrecision::Fp32 => {
                let tf32 = card.peak_tflops.tf32.filter(|_| job.habits.tf32);
                let rate = match tf32 {
                    Some(tflops) => tflops * 1e12 * (share * constants.tf32_over_half).min(1.0),
                    None => {
                        let peak = card.peak_tflops.flops_per_s(ComputeDtype::Fp32);
                        peak.unwrap_or(half) * constants.vector_efficiency * stacked.products
                    }
                };
                let peak = tf32.map_or(rate / constants.vector_efficiency, |t| t * 1e12);
                Self {
                    products: rate,
                    experts: rate,
                    head: rate,
                    // Vector units do not care for the kernel.
                    attention: rate * fused_share.min(1.0),
                    memory,
                    peak,
                }
            }
            TrainingPrecision::Fp8 => {
                let fp8 = card.peak_tflops.flops_per_s(ComputeDtype::Fp8);
                let products = fp8.map_or(half * share, |peak| {
                    let share = constants.fp8_efficiency(card) * stacked.products;
                    (peak * share).max(half * constants.half_efficiency(card))
                });
                Self {
                    products,
                    experts: products,
                    head: half * share,
                    attention,
                    memory,
                    peak: fp8.unwrap_or(half),
                }
            }
            _ if job.habits.fp32_stream => {
                let single = card.peak_tflops.flops_per_s(ComputeDtype::Fp32);
                let single = single.unwrap_or(half).min(half) * constants.vector_efficiency;
                Self {
                    products: half * share,
                    experts: half * share,
                    head: single,
                    attention: single * fused_share.min(1.0),
                    memory,
                    peak: half,
                }
            }
            TrainingPrecision::Fp16 | TrainingPrecision::Bf16 | TrainingPrecision::PureBf16 => {
                Self {
                    products: half * share,
                    experts: half * share,
                    head: half * share,
                    attention,
                    memory,
                    peak: half,
                }
            }
        }
    }
}
