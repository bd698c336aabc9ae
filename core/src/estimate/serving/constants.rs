//! Fitted constants of the serving estimator, read from `core/data/calibration/serving.json`,
//! which `cargo xtask calibrate` writes.
//!
//! The defaults below are where a fit starts and what it is pulled towards: a constant that no
//! measurement speaks of keeps its default.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::catalog::Card;
use crate::estimate::spread::Spread;
use crate::packed::{PackedFile, packed_file};
use crate::scenario::Engine;

pub(crate) static FILE: PackedFile = packed_file!(
    "serving",
    crate::packed::json::<ServingConstants>,
    include_str!("../../../data/calibration/serving.json")
);

/// Constants of the serving estimator.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServingConstants {
    /// How the constants were found.
    pub provenance: String,
    /// Memory that is not arithmetic.
    pub memory: MemoryConstants,
    /// By architecture.
    pub architectures: Architectures,
    /// By engine.
    pub engines: Engines,
    /// Of formats and kernels, whatever the card.
    pub kernels: KernelConstants,
    /// Of links between cards.
    pub links: LinkConstants,
    /// Residuals, measured over estimated.
    pub spread: Spread,
}

/// Memory that is not arithmetic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryConstants {
    /// CUDA (or other driver) context with the libraries' code, bytes a card.
    pub context_bytes: f64,
    /// Workspaces that counters of the framework see, bytes a card.
    pub workspace_bytes: f64,
    /// Working set of a pass over activations that each token writes in one block (16 bit).
    pub activation_factor: f64,
    /// What an engine that grows its cache by copying holds beyond it, over the cache.
    pub cache_growth: f64,
    /// Graphs of decoding steps, bytes a card.
    pub graph_bytes: f64,
    /// Buffers of collectives, bytes a card of several.
    pub collective_bytes: f64,
}

impl Default for MemoryConstants {
    fn default() -> Self {
        Self {
            context_bytes: 0.45e9,
            workspace_bytes: 0.1e9,
            activation_factor: 1.0,
            cache_growth: 0.1,
            graph_bytes: 0.6e9,
            collective_bytes: 0.4e9,
        }
    }
}

/// What a card's units reach of their peaks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ArchitectureConstants {
    /// Share of memory bandwidth that reading weights reaches.
    pub bandwidth: f64,
    /// Share of the dense peak that large matrix products reach.
    pub compute: f64,
    /// The same over the peak of FP8 or narrower, relative to `compute`.
    pub narrow: f64,
    /// Cost of a cached key for each further query head that shares it, over its first reading;
    /// 0: read once for all.
    pub unshared_cache: f64,
    /// Time between kernels, over the engine's own.
    pub launch: f64,
    /// Cost of an expert's product over that of a dense one.
    pub experts: f64,
}

/// [`ArchitectureConstants`] by the catalog's architectures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "each field is an architecture's own name")]
pub struct Architectures {
    pub pascal: ArchitectureConstants,
    pub volta: ArchitectureConstants,
    pub turing: ArchitectureConstants,
    pub ampere: ArchitectureConstants,
    pub ampere_graphics: ArchitectureConstants,
    pub ada: ArchitectureConstants,
    pub hopper: ArchitectureConstants,
    pub blackwell: ArchitectureConstants,
    pub blackwell_graphics: ArchitectureConstants,
    pub cdna2: ArchitectureConstants,
    pub cdna3: ArchitectureConstants,
    pub da_vinci: ArchitectureConstants,
    /// Every other.
    pub other: ArchitectureConstants,
}

const fn architecture(bandwidth: f64, compute: f64, launch: f64) -> ArchitectureConstants {
    ArchitectureConstants {
        bandwidth,
        compute,
        narrow: 0.68,
        unshared_cache: 0.06,
        launch,
        experts: 1.9,
    }
}

impl Default for Architectures {
    /// Ampere to Blackwell: what kernels of vLLM, SGLang and TensorRT-LLM were measured to reach on A100,
    /// H100, H200, L40S, RTX PRO 6000 and B200 (ai-dynamo/aiconfigurator, systems/data), large matrices,
    /// one row for bandwidth and 2048 and more for products. Earlier and other makers' cards: their
    /// nearest relatives, lower where software is younger.
    fn default() -> Self {
        Self {
            pascal: architecture(0.75, 0.9, 1.2),
            volta: architecture(0.8, 0.7, 1.1),
            turing: architecture(0.83, 0.65, 1.1),
            ampere: architecture(0.77, 0.8, 1.05),
            ampere_graphics: architecture(0.86, 0.75, 1.05),
            ada: architecture(0.88, 0.65, 0.95),
            hopper: architecture(0.86, 0.76, 0.95),
            blackwell: architecture(0.81, 0.65, 0.95),
            blackwell_graphics: architecture(0.92, 0.76, 0.95),
            cdna2: architecture(0.65, 0.5, 1.5),
            cdna3: architecture(0.68, 0.45, 1.5),
            da_vinci: architecture(0.6, 0.5, 2.0),
            other: architecture(0.6, 0.4, 1.6),
        }
    }
}

impl Architectures {
    /// Those of `card`.
    pub fn of(&self, card: &Card) -> &ArchitectureConstants {
        // Graphics dies keep GDDR memory; data-centre dies of the same name have HBM.
        let graphics = card.memory_type.starts_with('G');
        match card.architecture.as_str() {
            "Ampere" if graphics => &self.ampere_graphics,
            "Ampere" => &self.ampere,
            "Ada Lovelace" => &self.ada,
            "Hopper" => &self.hopper,
            "Blackwell" if graphics => &self.blackwell_graphics,
            "Blackwell" | "Blackwell Ultra" => &self.blackwell,
            "Volta" => &self.volta,
            "Turing" => &self.turing,
            "Pascal" => &self.pascal,
            "CDNA2" | "CDNA" => &self.cdna2,
            "CDNA3" | "CDNA4" => &self.cdna3,
            "Da Vinci" | "Da Vinci 2" | "Da Vinci 2 (dual die)" => &self.da_vinci,
            _ => &self.other,
        }
    }
}

/// What an engine adds to the card's own time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EngineConstants {
    /// Host time of a step whatever the model, seconds: scheduling, sampling.
    pub step_s: f64,
    /// Time of a block in a step beside its memory and products, seconds: kernel launches and
    /// the tails of small kernels.
    pub layer_s: f64,
    /// Host time of a step for each sequence, seconds.
    pub sequence_s: f64,
    /// Share of the card's reachable bandwidth that its kernels reach.
    pub bandwidth: f64,
    /// Bytes moved for a cached byte in a step.
    pub cache_traffic: f64,
    /// Share of the card's reachable products that its kernels reach.
    pub compute: f64,
    /// Time to take in a request and to give its first token beside the prefill, seconds.
    pub request_s: f64,
    /// Odds that the shorter of host and card time is hidden behind the longer: 0 adds them,
    /// 1 hides half, large ones all.
    pub hidden: f64,
    /// Host time of a block in a pass over prompts, which is launched kernel by kernel, seconds.
    #[serde(default)]
    pub prompt_layer_s: f64,
}

/// [`EngineConstants`] of every engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "each field is an engine's own name")]
pub struct Engines {
    pub vllm: EngineConstants,
    pub sglang: EngineConstants,
    pub tensorrt_llm: EngineConstants,
    pub llama_cpp: EngineConstants,
    pub transformers: EngineConstants,
    pub exllama: EngineConstants,
    pub exllamav2: EngineConstants,
    pub mlc_llm: EngineConstants,
    pub deepspeed_mii: EngineConstants,
    pub fastertransformer: EngineConstants,
    pub mindie: EngineConstants,
    pub vllm_ascend: EngineConstants,
}

impl Default for Engines {
    fn default() -> Self {
        let vllm = EngineConstants {
            step_s: 1.0e-3,
            layer_s: 35e-6,
            sequence_s: 15e-6,
            bandwidth: 1.0,
            cache_traffic: 1.15,
            compute: 0.95,
            request_s: 6e-3,
            hidden: 0.1,
            // Qwen3 0.6B's first token on A100 in vLLM of June 2025, beside a request's own time.
            prompt_layer_s: 0.2e-3,
        };
        let sglang = EngineConstants {
            step_s: 0.6e-3,
            layer_s: 28e-6,
            sequence_s: 10e-6,
            // First tokens of short prompts in 0.5.6 to 0.5.10: 0.8 to 1 ms a block of experts.
            prompt_layer_s: 0.45e-3,
            ..vllm
        };
        let tensorrt_llm = EngineConstants {
            step_s: 0.4e-3,
            layer_s: 25e-6,
            sequence_s: 5e-6,
            compute: 1.0,
            request_s: 4e-3,
            prompt_layer_s: 0.1e-3,
            ..vllm
        };
        let llama_cpp = EngineConstants {
            step_s: 0.3e-3,
            layer_s: 35e-6,
            sequence_s: 100e-6,
            cache_traffic: 1.5,
            compute: 0.7,
            request_s: 2e-3,
            prompt_layer_s: 40e-6,
            ..vllm
        };
        let transformers = EngineConstants {
            step_s: 2e-3,
            layer_s: 550e-6,
            sequence_s: 30e-6,
            bandwidth: 0.95,
            cache_traffic: 5.0,
            compute: 0.85,
            request_s: 10e-3,
            hidden: 3.0,
            // Its steps are launched one by one too: `layer_s`.
            prompt_layer_s: 0.3e-3,
        };
        Self {
            vllm,
            sglang,
            tensorrt_llm,
            llama_cpp,
            transformers,
            exllama: EngineConstants {
                bandwidth: 0.9,
                ..llama_cpp
            },
            exllamav2: llama_cpp,
            mlc_llm: llama_cpp,
            deepspeed_mii: EngineConstants {
                compute: 0.65,
                ..vllm
            },
            fastertransformer: tensorrt_llm,
            mindie: EngineConstants {
                step_s: 2e-3,
                ..vllm
            },
            vllm_ascend: EngineConstants {
                step_s: 4e-3,
                layer_s: 150e-6,
                ..vllm
            },
        }
    }
}

impl Engines {
    /// Those of `engine`.
    pub const fn of(&self, engine: Engine) -> &EngineConstants {
        match engine {
            Engine::Vllm => &self.vllm,
            Engine::Sglang => &self.sglang,
            Engine::TensorrtLlm => &self.tensorrt_llm,
            Engine::LlamaCpp => &self.llama_cpp,
            Engine::Transformers => &self.transformers,
            Engine::Exllama => &self.exllama,
            Engine::Exllamav2 => &self.exllamav2,
            Engine::MlcLlm => &self.mlc_llm,
            Engine::DeepspeedMii => &self.deepspeed_mii,
            Engine::Fastertransformer => &self.fastertransformer,
            Engine::Mindie => &self.mindie,
            Engine::VllmAscend => &self.vllm_ascend,
        }
    }
}

/// Constants of kernels, whatever the card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelConstants {
    /// Share of the shorter of memory and product time that is not hidden behind the longer.
    pub roofline_overlap: f64,
    /// Tokens at which products reach half of their largest share of the peak.
    pub half_tokens: f64,
    /// Attention's share of the peak over products' share.
    pub attention: f64,
    /// Attention's share of the peak on cards before Ampere, which FlashAttention-2 does not run
    /// on, over the share elsewhere.
    pub attention_before_ampere: f64,
    /// Products' share of the peak where FP32 accumulation runs at half the units' rate (game
    /// cards), over the share elsewhere.
    pub half_rate_gain: f64,
    /// Bandwidth reached with 4-bit weights over that with 16-bit ones.
    pub four_bit: f64,
    /// The same with 8-bit weights.
    pub eight_bit: f64,
    /// Products' share of the peak with weights that are expanded first, over the share with
    /// weights that are not.
    pub expand: f64,
    /// FP32 operations of llama.cpp for one 16-bit weight of one token.
    pub llama_cpp_half_ops: f64,
    /// The same for one quantised weight.
    pub llama_cpp_quant_ops: f64,
    /// Host time of a block in Transformers with FP8 weights, over that with 16-bit ones.
    pub eager_fp8: f64,
    /// The same with 8-bit integer weights.
    pub eager_int8: f64,
    /// Bandwidth reached by Transformers with FP8 weights over that with 16-bit ones.
    pub eager_fp8_bandwidth: f64,
    /// Host time of Transformers for every expert of a block, used or not, seconds.
    pub eager_expert_s: f64,
    /// Further time of a block of experts, seconds.
    pub expert_layer_s: f64,
    /// The same with 4-bit integer experts.
    pub int4_expert_layer_s: f64,
    /// The same in SGLang, whose kernel for them is a general one.
    pub sglang_int4_expert_layer_s: f64,
    /// Bytes moved for a byte of an 8-bit KV cache on a card without such units.
    pub emulated_cache: f64,
    /// Time between kernels in llama.cpp before it launched them as a graph, over that of later ones.
    pub no_graphs_launch: f64,
    /// Cost of a cached key for each further query head in early ROCm builds of vLLM (see
    /// `unshared_cache`).
    pub early_rocm_sharing: f64,
    /// Time between kernels in early ROCm builds of vLLM, over that of later ones.
    pub early_rocm_launch: f64,
    /// Latency of an all-reduce in early ROCm builds of vLLM, seconds.
    pub early_rocm_reduce_s: f64,
    /// Bandwidth reached by Ollama before October 2025 over llama.cpp's.
    pub early_ollama_bandwidth: f64,
    /// Bytes moved for a cached byte in Ollama before October 2025, over those in llama.cpp.
    pub early_ollama_cache: f64,
    /// Time between kernels in Ollama before October 2025, over that in llama.cpp.
    pub early_ollama_launch: f64,
    /// Cost of an expert's product for prompts in Ollama before October 2025, over that in llama.cpp.
    pub early_ollama_experts: f64,
    /// Rows of an expert for which llama.cpp's products of prompts cost as much as for none to spare: its tiles are
    /// this wide, and few rows leave most of one empty.
    pub llama_cpp_expert_rows: f64,
    /// Power of a pass's tokens that choose experts as if each chose evenly: tokens of one batch
    /// resemble one another, so that they share experts.
    pub expert_spread: f64,
    /// Bytes moved for each weight that is expanded to 16 bit before a product (written, read).
    pub expanded_bytes: f64,
    /// Bytes moved for each attention score where they are written out (FP32 written and read
    /// twice).
    pub score_bytes: f64,
    /// Host time of a block of experts in a pass over prompts beside a plain block's, over it.
    pub prompt_experts: f64,
    /// The same of a block of linear attention.
    pub prompt_linear: f64,
}

impl Default for KernelConstants {
    fn default() -> Self {
        Self {
            roofline_overlap: 0.2,
            half_tokens: 64.0,
            attention: 0.6,
            attention_before_ampere: 0.6,
            half_rate_gain: 1.2,
            four_bit: 0.85,
            eight_bit: 0.9,
            expand: 0.8,
            llama_cpp_half_ops: 40.0,
            llama_cpp_quant_ops: 10.0,
            eager_fp8: 2.5,
            eager_int8: 1.4,
            eager_fp8_bandwidth: 0.25,
            eager_expert_s: 90e-6,
            expert_layer_s: 25e-6,
            int4_expert_layer_s: 60e-6,
            sglang_int4_expert_layer_s: 300e-6,
            emulated_cache: 2.0,
            no_graphs_launch: 1.8,
            early_rocm_sharing: 1.0,
            early_rocm_launch: 1.8,
            early_rocm_reduce_s: 45e-6,
            early_ollama_bandwidth: 0.9,
            early_ollama_cache: 3.0,
            early_ollama_launch: 1.5,
            early_ollama_experts: 2.5,
            llama_cpp_expert_rows: 100.0,
            expert_spread: 0.87,
            expanded_bytes: 4.0,
            score_bytes: 16.0,
            prompt_experts: 1.0,
            prompt_linear: 4.0,
        }
    }
}

/// Constants of links between cards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkConstants {
    /// Latency of one all-reduce over direct links, seconds.
    pub direct_s: f64,
    /// The same over direct links of Ampere and earlier, over that of later ones: slower links, and switches that
    /// do not add.
    pub before_hopper: f64,
    /// The same over the host bus, seconds.
    pub bus_s: f64,
    /// The same over a network, seconds.
    pub network_s: f64,
    /// Share of a direct link's one-way bandwidth that an all-reduce reaches.
    pub efficiency: f64,
    /// The same of the host bus, where data passes through the host's memory.
    pub bus_efficiency: f64,
    /// Host time of a step on several cards beside that on one, over it: inputs are sent to each
    /// card's process.
    pub several_hosts: f64,
    /// Time to hand a step's activations to the next stage, seconds.
    pub hop_s: f64,
}

impl Default for LinkConstants {
    fn default() -> Self {
        Self {
            direct_s: 9e-6,
            before_hopper: 1.5,
            bus_s: 25e-6,
            network_s: 60e-6,
            efficiency: 0.45,
            bus_efficiency: 0.3,
            several_hosts: 0.7,
            hop_s: 60e-6,
        }
    }
}

impl ServingConstants {
    /// The constants that ship with the product, read once.
    ///
    /// The file is parsed by the tests; were it ever unreadable, the defaults are used.
    pub fn embedded() -> &'static Self {
        static CONSTANTS: OnceLock<ServingConstants> = OnceLock::new();
        CONSTANTS.get_or_init(|| FILE.read())
    }
}
