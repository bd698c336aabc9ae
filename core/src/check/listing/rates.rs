//! Rates beside the datasheet: dense, sparse, of other units, of a format that is not named.

use super::claims::dtype_of;
use super::judge::{Judge, Value, agrees};
use super::tokens::Figure;
use super::vocabulary::Word;
use crate::catalog::{Card, Market as Segment, Vendor};
use crate::check::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};
use crate::dtype::ComputeDtype;

impl Judge<'_> {
    pub(super) fn rate(
        &self,
        dtype: ComputeDtype,
        figure: Figure,
        sparse: bool,
        other_rate: bool,
    ) -> Finding {
        let unit = if dtype == ComputeDtype::Int8 {
            Unit::Tops
        } else {
            Unit::Tflops
        };
        let dense = |c: &Card| rate_of(c, dtype);
        let doubled = |c: &Card| {
            rate_of(c, dtype)
                .filter(|_| has_sparsity(c, dtype))
                .map(|t| 2.0 * t)
        };
        let subject = Subject::Rate(dtype);
        if sparse {
            let finding = self.judged(subject, figure, unit, &doubled);
            return if finding.verdict == Verdict::Right {
                finding.because(Remark::plain("with_sparsity"))
            } else {
                self.judged(subject, figure, unit, &dense)
                    .because(Remark::plain("said_sparse"))
            };
        }
        let mut finding = self.judged(subject, figure, unit, &dense);
        if finding.datasheet.is_empty() && !self.known.is_empty() {
            // The card has no units for the format.
            finding.verdict = Verdict::Wrong;
            finding.remarks = vec![Remark::plain("format_missing")];
            if self.known.iter().all(|c| c.peak_tflops.fp32.is_none()) {
                finding.verdict = Verdict::CannotTell;
                finding.remarks = vec![Remark::plain("no_datasheet_value")];
            }
            return finding;
        }
        if finding.verdict == Verdict::Right || finding.verdict == Verdict::CannotTell {
            return finding;
        }
        let found = |value: Value<'_>| -> Vec<String> {
            self.known
                .iter()
                .filter(|c| value(c).is_some_and(|truth| agrees(figure, truth)))
                .map(|c| c.id.clone())
                .collect()
        };
        let with_sparsity = found(&doubled);
        if !with_sparsity.is_empty() && !other_rate {
            finding.verdict = Verdict::OnlyWithSparsity;
            finding.holds_for = with_sparsity;
            finding.ask = None;
            return finding.because(Remark::plain("sparsity"));
        }
        if let Some((key, cards)) = other_rates(dtype)
            .iter()
            .map(|(key, value)| (*key, found(value)))
            .find(|(_, cards)| !cards.is_empty())
        {
            finding.verdict = if other_rate {
                Verdict::Right
            } else {
                Verdict::OnlyOtherRate
            };
            finding.holds_for = cards;
            finding.ask = None;
            return finding.because(Remark::plain(key));
        }
        finding
    }

    /// A rate whose format is not written.
    pub(super) fn unnamed_rate(&self, figure: Figure) -> Finding {
        const FORMATS: [ComputeDtype; 7] = [
            ComputeDtype::Fp16,
            ComputeDtype::Fp32,
            ComputeDtype::Int8,
            ComputeDtype::Fp8,
            ComputeDtype::Tf32,
            ComputeDtype::Fp64,
            ComputeDtype::Fp4,
        ];
        let read = Finding::new(Subject::RateOfUnnamedFormat, Verdict::CannotTell)
            .about(&self.identity.cards)
            .reads(Reading::Figure {
                low: figure.low,
                high: figure.high,
                unit: Unit::Tflops,
            })
            .ask("which_format");
        if self.known.is_empty() {
            return read.because(Remark::plain("no_card"));
        }
        // A dense rate explains the figure better than a sparse one.
        let passes = [
            (Verdict::Right, Verdict::CannotTell, "format_could_be"),
            (
                Verdict::OnlyWithSparsity,
                Verdict::OnlyWithSparsity,
                "format_could_be_sparse",
            ),
        ];
        for (sought, verdict, key) in passes {
            for dtype in FORMATS {
                let tried = self.rate(dtype, figure, false, false);
                if tried.verdict != sought {
                    continue;
                }
                return Finding {
                    datasheet: tried.datasheet,
                    holds_for: tried.holds_for,
                    verdict,
                    ..read
                }
                .because(Remark::plain(key).with("format", Reading::word(dtype_name(dtype))));
            }
        }
        Finding {
            verdict: Verdict::Wrong,
            ..read.because(Remark::plain("no_format_has_it"))
        }
    }
}

/// Dense peak of the catalog in TFLOPS; vector units only for the formats that matrix units lack.
pub(super) fn rate_of(card: &Card, dtype: ComputeDtype) -> Option<f64> {
    let peak = &card.peak_tflops;
    match dtype {
        ComputeDtype::Fp64 => peak.fp64,
        ComputeDtype::Fp32 => peak.fp32,
        ComputeDtype::Tf32 => peak.tf32,
        ComputeDtype::Fp16 => peak.fp16.or(peak.fp16_vector),
        ComputeDtype::Bf16 => peak.bf16,
        ComputeDtype::Fp8 => peak.fp8,
        ComputeDtype::Int8 => peak.int8,
        ComputeDtype::Fp4 => peak.fp4,
    }
}

/// 2:4 sparsity came with Ampere and CDNA 3.
pub(super) fn has_sparsity(card: &Card, dtype: ComputeDtype) -> bool {
    let format = !matches!(dtype, ComputeDtype::Fp64 | ComputeDtype::Fp32);
    let architecture = matches!(
        card.architecture.as_str(),
        "Ampere" | "Ada Lovelace" | "Hopper" | "Blackwell" | "Blackwell Ultra" | "CDNA3" | "CDNA4"
    );
    format && architecture
}

type OtherRate = (&'static str, fn(&Card) -> Option<f64>);

/// What else a card computes in the same width, and the remark about it.
pub(super) fn other_rates(dtype: ComputeDtype) -> Vec<OtherRate> {
    match dtype {
        ComputeDtype::Fp16 | ComputeDtype::Bf16 => vec![
            ("acc16", |c| c.peak_tflops.fp16_acc16),
            ("vector_units", |c| c.peak_tflops.fp16_vector),
        ],
        ComputeDtype::Fp32 => vec![
            ("is_tf32", |c| c.peak_tflops.tf32),
            ("is_tf32_sparse", |c| c.peak_tflops.tf32.map(|t| 2.0 * t)),
            ("is_fp32_matrix", |c| {
                (c.vendor == Vendor::Amd)
                    .then_some(c.peak_tflops.fp32)
                    .flatten()
                    .map(|t| 2.0 * t)
            }),
        ],
        ComputeDtype::Fp64 => vec![("is_fp64_matrix", |c| c.peak_tflops.fp64_tensor)],
        ComputeDtype::Fp8 => vec![("acc16", |c| {
            (c.market == Segment::Consumer)
                .then_some(c.peak_tflops.fp8)
                .flatten()
                .map(|t| 2.0 * t)
        })],
        _ => Vec::new(),
    }
}

/// A format's name as datasheets write it.
pub fn dtype_name(dtype: ComputeDtype) -> &'static str {
    match dtype {
        ComputeDtype::Fp64 => "FP64",
        ComputeDtype::Fp32 => "FP32",
        ComputeDtype::Tf32 => "TF32",
        ComputeDtype::Fp16 => "FP16",
        ComputeDtype::Bf16 => "BF16",
        ComputeDtype::Fp8 => "FP8",
        ComputeDtype::Int8 => "INT8",
        ComputeDtype::Fp4 => "FP4",
    }
}

/// Whether a word names a format; for sayings.
pub(super) fn names_format(word: Word) -> bool {
    dtype_of(word).is_some()
}
