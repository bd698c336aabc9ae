//! Quick benchmarks: commands that need only PyTorch, what a card should show, and from what value on to complain.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::finding::{Finding, Reading, Remark, Subject, Unit, Verdict};
use super::machine::Measured;
use crate::catalog::{Card, Vendor};
use crate::estimate::training::TrainingConstants;

/// From what value on one may complain of a benchmark, and why: an entry of `core/data/check/benchmarks.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    kind: Benchmark,
    /// Share of the expected value below which one may complain.
    complain_below: f64,
    /// What any machine shows, GB/s, where that does not depend on the card.
    expected_gb_s: Option<f64>,
    /// Least share of the datasheet's rate that is expected.
    least_share: Option<f64>,
    /// Why.
    #[cfg_attr(not(test), expect(dead_code, reason = "for people, and for a test"))]
    reason: String,
    /// What that rests on.
    #[cfg_attr(not(test), expect(dead_code, reason = "for people, and for a test"))]
    source: String,
}

fn limits() -> &'static [Limit] {
    static LIMITS: OnceLock<Vec<Limit>> = OnceLock::new();
    LIMITS.get_or_init(|| {
        // A test reads the file; were it ever unreadable, nothing is expected.
        serde_json::from_str(include_str!("../../data/check/benchmarks.json")).unwrap_or_default()
    })
}

/// Kinds of quick benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Benchmark {
    /// A product of two square matrices in a 16-bit format.
    MatrixProduct,
    /// A copy within the card's memory.
    DeviceCopy,
    /// A file read back from disk.
    DiskRead,
    /// An all-reduce over two cards.
    AllReduce,
}

/// A quick benchmark for one card.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuickBenchmark {
    /// Kind.
    pub kind: Benchmark,
    /// The command, one line.
    pub command: String,
    /// What the card should show; `None`: no source tells.
    pub expected: Option<f64>,
    /// Below this value one may complain.
    pub complain_below: Option<f64>,
    /// Unit of both.
    pub unit: Unit,
}

impl Benchmark {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [Self; 4] = [
        Self::MatrixProduct,
        Self::DeviceCopy,
        Self::DiskRead,
        Self::AllReduce,
    ];

    /// What a result is about.
    pub fn subject(self) -> Subject {
        match self {
            Self::MatrixProduct => Subject::MatrixProduct,
            Self::DeviceCopy => Subject::DeviceCopy,
            Self::DiskRead => Subject::DiskRead,
            Self::AllReduce => Subject::AllReduce,
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::MatrixProduct => Unit::Tflops,
            _ => Unit::GbPerS,
        }
    }

    fn expected(self, card: Option<&Card>) -> Option<f64> {
        let speed = &TrainingConstants::embedded().speed;
        match self {
            Self::DiskRead => self.limit()?.expected_gb_s,
            Self::MatrixProduct => {
                let card = card?;
                Some(half_peak(card)? * speed.product_share(card))
            }
            // The fitted share is that of training's kernels; a plain copy reaches more.
            Self::DeviceCopy => {
                let least = self.limit()?.least_share.unwrap_or_default();
                Some(card?.bandwidth_gb_s * speed.bandwidth_efficiency.max(least))
            }
            // With two cards the bus rate is the bytes over the time.
            Self::AllReduce => Some(card?.link.bidirectional_gb_s? / 2.0 * speed.link_efficiency),
        }
    }

    fn limit(self) -> Option<&'static Limit> {
        limits().iter().find(|limit| limit.kind == self)
    }

    /// The benchmark for `card`, or for one that is not known.
    pub fn on(self, card: Option<&Card>) -> QuickBenchmark {
        let expected = self.expected(card);
        QuickBenchmark {
            kind: self,
            command: self.command(card),
            expected,
            complain_below: expected
                .zip(self.limit())
                .map(|(e, limit)| e * limit.complain_below),
            unit: self.unit(),
        }
    }

    fn command(self, card: Option<&Card>) -> String {
        let ascend = card.is_some_and(|c| c.vendor == Vendor::Huawei);
        let musa = card.is_some_and(|c| c.vendor == Vendor::MooreThreads);
        let (import, device) = if ascend {
            ("torch,torch_npu,time", "npu")
        } else if musa {
            ("torch,torch_musa,time", "musa")
        } else {
            ("torch,time", "cuda")
        };
        let format = match card {
            Some(card) if card.peak_tflops.bf16.is_none() => "float16",
            _ => "bfloat16",
        };
        let short = if format == "float16" { "fp16" } else { "bf16" };
        match self {
            Self::MatrixProduct => format!(
                "python3 -c \"import {import};n=8192;a=torch.randn(n,n,device='{device}',dtype=torch.{format});\
                 s=torch.{device}.synchronize;[a@a for _ in range(10)];s();t=time.time();[a@a for _ in range(50)];s();\
                 print('cardfit matmul {short} %.1f TFLOPS'%(100*n**3/(time.time()-t)/1e12))\""
            ),
            Self::DeviceCopy => format!(
                "python3 -c \"import {import};x=torch.zeros(1<<28,device='{device}');y=torch.empty_like(x);\
                 s=torch.{device}.synchronize;y.copy_(x);s();t=time.time();[y.copy_(x) for _ in range(50)];s();\
                 print('cardfit copy %.0f GB/s'%(100*x.numel()*4/(time.time()-t)/1e9))\""
            ),
            Self::DiskRead => "python3 -c \"import os,time;p='cardfit.tmp';c=os.urandom(1<<26);f=open(p,'wb');\
                 [f.write(c) for _ in range(32)];f.flush();os.fsync(f.fileno());os.posix_fadvise(f.fileno(),0,0,4);\
                 f.close();f=open(p,'rb',0);t=time.time();n=sum(iter(lambda:len(f.read(1<<24)),0));\
                 print('cardfit disk %.2f GB/s'%(n/(time.time()-t)/1e9));os.remove(p)\""
                .to_owned(),
            Self::AllReduce => "python3 -c \"import torch,time;x=[torch.ones(1<<28,device=i) for i in range(2)];\
                 r=torch.cuda.nccl.all_reduce;s=lambda:[torch.cuda.synchronize(i) for i in range(2)];\
                 [r(x) for _ in range(3)];s();t=time.time();[r(x) for _ in range(20)];s();\
                 print('cardfit allreduce %.1f GB/s'%(20*x[0].numel()*4/(time.time()-t)/1e9))\""
                .to_owned(),
        }
    }
}

fn half_peak(card: &Card) -> Option<f64> {
    let peak = &card.peak_tflops;
    peak.bf16.or(peak.fp16).or(peak.fp16_vector)
}

/// Results that were pasted back, judged.
pub fn judge_measured(measured: &[Measured], card: Option<&Card>) -> Vec<Finding> {
    measured
        .iter()
        .map(|result| {
            let (kind, value) = match *result {
                Measured::MatrixProduct(v) => (Benchmark::MatrixProduct, v),
                Measured::DeviceCopy(v) => (Benchmark::DeviceCopy, v),
                Measured::DiskRead(v) => (Benchmark::DiskRead, v),
                Measured::AllReduce(v) => (Benchmark::AllReduce, v),
            };
            let quick = kind.on(card);
            let finding = Finding::new(kind.subject(), Verdict::CannotTell)
                .reads(Reading::figure(value, quick.unit));
            let (Some(expected), Some(least)) = (quick.expected, quick.complain_below) else {
                return finding.because(Remark::plain("no_expectation"));
            };
            let finding = match card {
                Some(card) => Finding {
                    cards: vec![card.id.clone()],
                    ..finding
                },
                None => finding,
            }
            .because(
                Remark::plain("expected")
                    .with("expected", Reading::figure(expected, quick.unit))
                    .with("least", Reading::figure(least, quick.unit)),
            );
            if value < least {
                Finding {
                    verdict: Verdict::Wrong,
                    ..finding.ask("slow_benchmark")
                }
            } else {
                Finding {
                    verdict: Verdict::Right,
                    ..finding
                }
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn an_a100_is_expected_where_it_was_measured() {
        let card = Catalog::embedded().card("a100-sxm4-80gb");
        let quick = Benchmark::MatrixProduct.on(card);
        // 271.2 TFLOPS measured of 312.
        assert!((quick.expected.unwrap() - 271.2).abs() < 0.1);
        assert!((quick.complain_below.unwrap() - 0.8 * 271.2).abs() < 0.1);
        let copy = Benchmark::DeviceCopy.on(card).expected.unwrap();
        // Copies reach most of the bandwidth, never all of it.
        assert!((0.6 * 2039.0..2039.0).contains(&copy), "{copy}");
    }

    #[test]
    fn every_limit_has_its_reason_and_source() {
        for kind in Benchmark::ALL {
            let limit = kind.limit().unwrap();
            assert!((0.5..=1.0).contains(&limit.complain_below));
            assert!(limit.reason.len() > 40 && limit.source.starts_with("https://"));
        }
    }

    #[test]
    fn results_are_held_against_the_card() {
        let card = Catalog::embedded().card("rtx-4090");
        let slow = judge_measured(&[Measured::MatrixProduct(80.0)], card);
        assert_eq!(slow[0].verdict, Verdict::Wrong);
        let fast = judge_measured(&[Measured::MatrixProduct(160.0)], card);
        assert_eq!(fast[0].verdict, Verdict::Right);
        let unknown = judge_measured(&[Measured::MatrixProduct(80.0)], None);
        assert_eq!(unknown[0].verdict, Verdict::CannotTell);
    }

    #[test]
    fn commands_fit_the_card() {
        let on = |id: &str| {
            Benchmark::MatrixProduct
                .on(Catalog::embedded().card(id))
                .command
        };
        assert!(on("ascend-910b3").contains("torch_npu"));
        assert!(on("v100-sxm2-16gb").contains("float16"));
        assert!(on("a100-sxm4-80gb").contains("bfloat16"));
        for kind in Benchmark::ALL {
            assert!(!kind.on(None).command.contains('\n'));
        }
    }
}
