//! One rentable accelerator as software sees it.

use serde::{Deserialize, Serialize};

use crate::dtype::ComputeDtype;
use crate::packed::Aside;

/// One accelerator, as one device that software sees (one die of an MI250 is its own entry).
///
/// `null` in the data file means that no source gives the figure; nothing is guessed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Stable id used in links and data files, e.g. `a100-sxm4-80gb`.
    pub id: String,
    /// Full name in English.
    pub name: String,
    /// Name in Chinese where one is in use.
    #[serde(default)]
    pub name_zh: Option<String>,
    /// Other names people type.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Maker.
    pub vendor: Vendor,
    /// Who it is sold to.
    pub market: Market,
    /// Architecture as the maker names it (`Ampere`, `CDNA3`), the key of inherited efficiencies.
    pub architecture: String,
    /// Year of release.
    pub release_year: u16,
    /// Board form: `PCIe`, `SXM`, `OAM`.
    pub form: String,
    /// Memory as the label says it, in GiB ("80 GB" on the label is 80 GiB of chips unless
    /// `memory_label_is_decimal`).
    pub memory_gib: f64,
    /// What the driver's own tool (`nvidia-smi`) reports as total, in MiB, where a printout was
    /// found; the larger one where drivers differ. This is what a renter compares.
    #[serde(default)]
    pub driver_memory_mib: Option<u32>,
    /// What CUDA, HIP or CANN report to programs as the device's total, in MiB (`total_memory`
    /// in PyTorch), where a printout was found; the smallest where drivers differ. It is less
    /// than the driver's figure: the driver keeps a part.
    #[serde(default)]
    pub runtime_memory_mib: Option<u32>,
    /// Where the two were read.
    #[serde(default)]
    pub memory_source: Option<Aside>,
    /// Memory type: `GDDR6X`, `HBM3`.
    pub memory_type: String,
    /// Memory bandwidth in GB/s (decimal).
    pub bandwidth_gb_s: f64,
    /// Board power in W.
    #[serde(default)]
    pub power_w: Option<f64>,
    /// Dense peak rates.
    pub peak_tflops: PeakTflops,
    /// CUDA compute capability, e.g. `8.0`; NVIDIA only.
    #[serde(default)]
    pub compute_capability: Option<String>,
    /// Link between cards of one node.
    pub link: CardLink,
    /// Measured matrix products, where a source gives them.
    #[serde(default)]
    pub measured_matmul: Vec<MeasuredMatmul>,
    /// How far the entry was checked.
    pub confidence: Confidence,
    /// Addresses or documents of the figures.
    pub sources: Vec<Aside>,
    /// What a reader must know, in English.
    #[serde(default)]
    pub notes: Option<Aside>,
}

/// Maker of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each variant is the maker's own name")]
pub enum Vendor {
    Nvidia,
    Amd,
    Intel,
    Google,
    Aws,
    Huawei,
    Biren,
    Cambricon,
    MooreThreads,
    Hygon,
    Metax,
    Kunlunxin,
    Iluvatar,
    Enflame,
    Thead,
}

/// Who a card is sold to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Market {
    /// Game cards.
    Consumer,
    /// Professional desktop cards.
    Workstation,
    /// Server cards.
    Datacenter,
}

/// How far an entry was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Two independent sources agree, or the maker's own document was read.
    Verified,
    /// One source.
    OneSource,
}

/// Dense peak rates in TFLOPS (TOPS for INT8), never with sparsity; matrix units where the card
/// has them. `None`: the format is not supported or no source gives it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeakTflops {
    /// FP64 on vector units.
    #[serde(default)]
    pub fp64: Option<f64>,
    /// FP64 on matrix units.
    #[serde(default)]
    pub fp64_tensor: Option<f64>,
    /// FP32 on vector units.
    pub fp32: Option<f64>,
    /// FP16 on vector units.
    #[serde(default)]
    pub fp16_vector: Option<f64>,
    /// TF32 on matrix units.
    #[serde(default)]
    pub tf32: Option<f64>,
    /// FP16 on matrix units, FP32 accumulation (what PyTorch uses).
    #[serde(default)]
    pub fp16: Option<f64>,
    /// FP16 on matrix units, FP16 accumulation (what llama.cpp and some kernels use).
    #[serde(default)]
    pub fp16_acc16: Option<f64>,
    /// BF16 on matrix units.
    #[serde(default)]
    pub bf16: Option<f64>,
    /// FP8 on matrix units, FP32 accumulation.
    #[serde(default)]
    pub fp8: Option<f64>,
    /// INT8 on matrix units.
    #[serde(default)]
    pub int8: Option<f64>,
    /// FP4 on matrix units.
    #[serde(default)]
    pub fp4: Option<f64>,
}

impl PeakTflops {
    /// Dense peak in FLOP/s for a format, matrix units first, or `None` where the card lacks it.
    pub fn flops_per_s(&self, dtype: ComputeDtype) -> Option<f64> {
        let tflops = match dtype {
            ComputeDtype::Fp64 => self.fp64_tensor.or(self.fp64),
            ComputeDtype::Fp32 => self.fp32,
            ComputeDtype::Tf32 => self.tf32.or(self.fp32),
            // Without matrix units software computes in whichever vector format is faster: Pascal
            // game cards run FP16 at 1/64 of FP32.
            ComputeDtype::Fp16 => self.fp16.or(match (self.fp16_vector, self.fp32) {
                (Some(half), Some(single)) => Some(half.max(single)),
                (half, single) => half.or(single),
            }),
            ComputeDtype::Bf16 => self.bf16,
            ComputeDtype::Fp8 => self.fp8,
            ComputeDtype::Int8 => self.int8,
            ComputeDtype::Fp4 => self.fp4,
        };
        tflops.map(|t| t * 1e12)
    }
}

/// Link between the cards of one node, and the way to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardLink {
    /// `NVLink 3`, `PCIe 4.0 x16`, `HCCS`, `Infinity Fabric`.
    pub kind: String,
    /// Sum of both directions over all links of one card, GB/s; `None`: no data.
    pub bidirectional_gb_s: Option<f64>,
    /// Host bus, sum of both directions, GB/s (PCIe 4.0 x16 is 64); `None`: no data.
    #[serde(default)]
    pub host_bidirectional_gb_s: Option<f64>,
    /// Cards in one node as commonly rented.
    pub cards_per_node: u32,
    /// Bridge that can join two PCIe cards, sum of both directions, GB/s. Optional equipment that
    /// rented machines seldom have, so plans use `bidirectional_gb_s`.
    #[serde(default)]
    pub pair_bridge_gb_s: Option<f64>,
}

impl CardLink {
    /// Whether cards reach each other over the host's bus alone, but for a bridge where there is one.
    pub fn is_bus(&self) -> bool {
        self.kind.starts_with("PCIe")
    }
}

/// A measured matrix product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredMatmul {
    /// Format multiplied.
    pub dtype: ComputeDtype,
    /// Measured rate in TFLOPS.
    pub tflops: f64,
    /// Where it was read.
    pub source: Aside,
}

/// Cards of one kind joined into nodes: what a plan is laid over.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// The card.
    pub card: &'a Card,
    /// Cards in one node.
    pub cards_per_node: u32,
    /// Network of one node, one direction, GB/s (8 x 400 Gb/s is 400).
    pub network_gb_s: f64,
}

impl Card {
    /// A share of the card, as MIG, vGPU or a shared machine gives it: memory and speed by the share, and no link to
    /// another card.
    #[must_use]
    pub fn slice(&self, share: f64) -> Self {
        let mib = |total: Option<u32>| total.map(|mib| (f64::from(mib) * share) as u32);
        let part = |rate: Option<f64>| rate.map(|r| r * share);
        let peak = &self.peak_tflops;
        Self {
            memory_gib: self.memory_gib * share,
            driver_memory_mib: mib(self.driver_memory_mib),
            runtime_memory_mib: mib(self.runtime_memory_mib),
            bandwidth_gb_s: self.bandwidth_gb_s * share,
            peak_tflops: PeakTflops {
                fp64: part(peak.fp64),
                fp64_tensor: part(peak.fp64_tensor),
                fp32: part(peak.fp32),
                fp16_vector: part(peak.fp16_vector),
                tf32: part(peak.tf32),
                fp16: part(peak.fp16),
                fp16_acc16: part(peak.fp16_acc16),
                bf16: part(peak.bf16),
                fp8: part(peak.fp8),
                int8: part(peak.int8),
                fp4: part(peak.fp4),
            },
            link: CardLink {
                cards_per_node: 1,
                ..self.link.clone()
            },
            ..self.clone()
        }
    }

    /// The card while other programs hold `gib` of its memory.
    #[must_use]
    pub fn busy(&self, gib: f64) -> Self {
        const GIB: f64 = 1_073_741_824.0;
        let free = self.usable_memory_bytes() as f64 - gib * GIB;
        Self {
            runtime_memory_mib: Some((free.max(0.0) / 1_048_576.0) as u32),
            ..self.clone()
        }
    }

    /// Memory that programs can allocate on an empty card, in bytes: the runtime's total where a
    /// printout was found, else the driver's total or the label less what drivers keep.
    pub fn usable_memory_bytes(&self) -> u64 {
        const MIB: f64 = 1_048_576.0;
        let total_mib = match (self.driver_memory_mib, self.has_inline_ecc()) {
            (Some(driver), _) => f64::from(driver),
            (None, true) => self.memory_gib * 1024.0 * 15.0 / 16.0,
            (None, false) => self.memory_gib * 1024.0,
        };
        let mib = self
            .runtime_memory_mib
            .map_or_else(|| total_mib - self.kept_by_driver_mib(total_mib), f64::from);
        (mib.max(0.0) * MIB) as u64
    }

    /// Upper end of what a driver keeps of `total_mib`, for cards without a printout of the
    /// runtime's total. Over the cards with both printouts drivers keep 90 MiB (GTX 1080 Ti)
    /// to 930 MiB (B300), 1103 MiB of a GH200 being the most for its size.
    fn kept_by_driver_mib(&self, total_mib: f64) -> f64 {
        match self.vendor {
            // 3113 MiB of the 64 GiB of Ascend 910B.
            Vendor::Huawei => 0.0476 * total_mib,
            _ => 455.0 + 0.007 * total_mib,
        }
    }

    /// Error correction kept in the memory itself, which takes a sixteenth of it: data-centre
    /// cards with GDDR6 (L4, L40S, A10, T4). HBM has room of its own for it, game cards have none.
    fn has_inline_ecc(&self) -> bool {
        self.market == Market::Datacenter && self.memory_type == "GDDR6"
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;

    #[test]
    fn usable_memory_is_the_runtimes_total_where_it_was_read() {
        let card = Catalog::embedded().card("rtx-4090").cloned();
        assert_eq!(card.map(|c| c.usable_memory_bytes()), Some(24_081 << 20));
    }

    #[test]
    fn without_a_printout_of_the_runtime_no_more_is_promised_than_cards_with_one_have() {
        let mut compared = 0;
        for card in Catalog::embedded().cards.iter() {
            let (Some(runtime), Some(_)) = (card.runtime_memory_mib, card.driver_memory_mib) else {
                continue;
            };
            let mut unread = card.clone();
            unread.runtime_memory_mib = None;
            let promised = unread.usable_memory_bytes();
            let real = u64::from(runtime) << 20;
            assert!(promised <= real, "{}: {promised} > {real}", card.id);
            assert!(
                promised as f64 > 0.96 * real as f64,
                "{}: {promised} of {real}",
                card.id
            );
            compared += 1;
        }
        assert!(compared >= 20, "only {compared} cards have both printouts");
    }
}
