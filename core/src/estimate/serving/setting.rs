//! Everything about one layout that its memory and its speed are counted from, worked out once.

use super::ServingJob;
use super::constants::{ArchitectureConstants, EngineConstants, ServingConstants};
use super::engine::{EngineFacts, RunDetails};
use super::kv;
use super::weights::{self, WeightBytes};
use crate::catalog::{AttentionKind, Node, Transformer};
use crate::dtype::{ComputeDtype, KvFormat, WeightFormat};
use crate::plan::ServingPlan;
use crate::scenario::Engine;

/// One layout of one job on one kind of card.
pub(super) struct Setting<'a> {
    pub job: &'a ServingJob<'a>,
    pub shape: &'a Transformer,
    pub node: &'a Node<'a>,
    pub constants: &'a ServingConstants,
    pub architecture: &'a ArchitectureConstants,
    pub engine: &'a EngineConstants,
    pub facts: EngineFacts,
    pub details: RunDetails,
    pub tensor: u32,
    pub stages: u32,
    pub weights: WeightBytes,
    /// Bytes of one cached element.
    pub element_bytes: f64,
    /// Bytes a second at which weights are read.
    pub bandwidth: f64,
    /// Bytes a second at which the KV cache is read.
    pub cache_bandwidth: f64,
    /// FLOP/s of large products with weights.
    pub products: f64,
    /// FLOP/s of attention over a prompt.
    pub attention: f64,
    /// FLOPs of one token's products with weights outside experts and head.
    pub dense_flops: f64,
    /// FLOPs of one token through one expert, all expert blocks.
    pub expert_flops: f64,
    /// FLOPs of the head for one token.
    pub head_flops: f64,
    /// Routed experts of a block, and how many a token uses; 0 for dense models.
    pub experts: f64,
    pub experts_used: f64,
    /// Share of the shorter of host and card time that is hidden.
    pub hidden: f64,
}

/// No kernel reads faster than this share of the datasheet's bandwidth.
const BEST_BANDWIDTH: f64 = 0.96;
/// No product runs faster than this share of the datasheet's peak.
const BEST_PRODUCTS: f64 = 0.97;
/// Peak where the catalog has none for any format (FLOP/s): slow enough to be seen.
const UNKNOWN_PEAK: f64 = 1e12;

/// `share` where it is well below `best`, never above it, without a corner between.
fn below(share: f64, best: f64) -> f64 {
    let ratio = (share / best).powi(8);
    share / (1.0 + ratio).sqrt().sqrt().sqrt()
}

/// `share` of a peak on a card whose units are slow for its memory (FLOP/s `half` over GB/s), such as H20: what
/// is lost between products (feeding the units, softmax) does not grow with the peak, so that slower
/// units lose less of theirs.
fn fed(share: f64, half: f64, bandwidth_gb_s: f64) -> f64 {
    /// FLOPs for a byte of the cards that shares are known of.
    const USUAL: f64 = 150.0;
    let part = (half / (bandwidth_gb_s.max(1.0) * 1e9) / USUAL).min(1.0);
    1.0 / (1.0 + (1.0 / share.max(0.01) - 1.0) * part)
}

/// Engines for one user on their own card.
fn is_local(engine: Engine) -> bool {
    matches!(
        engine,
        Engine::LlamaCpp | Engine::Exllama | Engine::Exllamav2 | Engine::MlcLlm
    )
}

impl<'a> Setting<'a> {
    pub fn new(
        job: &'a ServingJob<'a>,
        plan: &ServingPlan,
        node: &'a Node<'a>,
        constants: &'a ServingConstants,
        details: RunDetails,
    ) -> Self {
        crate::estimate::tally::one();
        let shape = &job.model.transformer;
        let card = node.card;
        let architecture = constants.architectures.of(card);
        let engine = constants.engines.of(job.engine);
        let kernels = &constants.kernels;
        let mut weights = weights::weight_bytes(job.model, job.weights, details.bits_per_weight);
        let gguf = job.engine == Engine::LlamaCpp;
        if gguf && job.weights == WeightFormat::Mxfp4 {
            weights.rest_in_eight_bits();
        }

        let bits = details
            .bits_per_weight
            .unwrap_or_else(|| job.weights.bits_per_weight());
        let format_bandwidth = if bits > 12.0 {
            1.0
        } else if job.engine == Engine::Transformers && job.weights == WeightFormat::Fp8 {
            kernels.eager_fp8_bandwidth
        } else if bits > 6.0 {
            kernels.eight_bit
        } else {
            kernels.four_bit
        };
        let bandwidth = card.bandwidth_gb_s
            * 1e9
            * below(architecture.bandwidth * engine.bandwidth, BEST_BANDWIDTH)
            * format_bandwidth
            * if details.early_ollama {
                kernels.early_ollama_bandwidth
            } else {
                1.0
            };
        let cache_bandwidth =
            card.bandwidth_gb_s * 1e9 * below(architecture.bandwidth, BEST_BANDWIDTH);

        let peaks = &card.peak_tflops;
        let dtype = job.weights.compute_dtype(card);
        let half = peaks
            .bf16
            .or(peaks.fp16)
            .map(|t| t * 1e12)
            .or_else(|| peaks.flops_per_s(ComputeDtype::Fp16))
            .unwrap_or(UNKNOWN_PEAK);
        // Engines for one user let products accumulate in 16 bit where that is faster, and
        // llama.cpp multiplies 8-bit integers on cards without 16-bit matrix units.
        let full = peaks.fp16_acc16.unwrap_or(0.0) * 1e12;
        let local = is_local(job.engine);
        let half_rate = !local && full > 1.5 * half;
        let half = if local { half.max(full) } else { half };
        let half = if gguf && job.weights.is_gguf() {
            half.max(peaks.int8.unwrap_or(0.0) * 0.5e12)
        } else {
            half
        };
        let (peak, narrow) = match dtype {
            ComputeDtype::Fp8 | ComputeDtype::Int8 | ComputeDtype::Fp4 => (
                peaks.flops_per_s(dtype).unwrap_or(half),
                fed(architecture.narrow, half, card.bandwidth_gb_s),
            ),
            ComputeDtype::Fp32 => (peaks.flops_per_s(ComputeDtype::Fp32).unwrap_or(half), 1.0),
            _ => (half, 1.0),
        };
        let expand = if bits < 12.0 && narrow >= 1.0 {
            kernels.expand
        } else {
            1.0
        };
        let gain = if half_rate {
            kernels.half_rate_gain
        } else {
            1.0
        };
        let share = below(architecture.compute * engine.compute * gain, BEST_PRODUCTS);

        let old = matches!(card.architecture.as_str(), "Pascal" | "Volta" | "Turing");
        let before_ampere = if old && !local {
            kernels.attention_before_ampere
        } else {
            1.0
        };

        let experts = shape.experts.as_ref();
        let dense_params = shape.attention_params() + shape.shared_ffn_params();
        Self {
            job,
            shape,
            node,
            constants,
            architecture,
            engine,
            facts: EngineFacts::of(job.engine, card),
            details,
            tensor: plan.tensor_parallel.max(1),
            stages: plan.pipeline_parallel.max(1),
            weights,
            element_bytes: kv::element_bytes(job.kv, gguf),
            bandwidth: bandwidth.max(1.0),
            cache_bandwidth: cache_bandwidth.max(1.0),
            products: (peak * share * narrow * expand).max(1.0),
            attention: (half
                * share
                * before_ampere
                * fed(kernels.attention, half, card.bandwidth_gb_s))
            .max(1.0),
            dense_flops: 2.0 * dense_params as f64,
            expert_flops: experts.map_or(0.0, |e| {
                2.0 * f64::from(e.layers) * shape.one_expert_params() as f64
            }),
            head_flops: 2.0 * shape.embedding_params() as f64,
            experts: experts.map_or(0.0, |e| f64::from(e.experts)),
            experts_used: experts.map_or(0.0, |e| f64::from(e.per_token)),
            hidden: engine.hidden / (1.0 + engine.hidden),
        }
    }

    /// Tensor-parallel ways.
    pub fn ways(&self) -> f64 {
        f64::from(self.tensor)
    }

    /// Ways that attention is split: all, or none where each card has its own requests.
    pub fn attention_tensor(&self) -> u32 {
        if self.details.attention_dp {
            1
        } else {
            self.tensor
        }
    }

    /// Share of the requests whose attention one card computes.
    pub fn own_share(&self) -> f64 {
        if self.details.attention_dp {
            1.0 / self.ways()
        } else {
            1.0
        }
    }

    /// What llama.cpp's products of experts cost over those of servers in a pass of `tokens` with `rows` for each
    /// expert that is used: its kernels for one token are as good, those for prompts work in wide
    /// tiles, of which few rows leave most empty.
    fn llama_cpp_experts(&self, tokens: f64, rows: f64) -> f64 {
        const SINGLE_ROWS: f64 = 8.0;
        if self.job.engine == Engine::LlamaCpp && tokens > SINGLE_ROWS {
            let kernels = &self.constants.kernels;
            let early = if self.details.early_ollama {
                kernels.early_ollama_experts
            } else {
                1.0
            };
            early * rows.hypot(kernels.llama_cpp_expert_rows) / rows
        } else {
            1.0
        }
    }

    /// Tokens of a prompt of `prompt` that the prefix cache does not have.
    pub fn fresh_tokens(&self, prompt: f64) -> f64 {
        (prompt * (1.0 - self.job.habits.cached_share())).max(1.0)
    }

    /// Blocks.
    pub fn layers(&self) -> f64 {
        f64::from(self.shape.layers)
    }

    /// Experts of a block that a pass of `tokens` touches, on average. Tokens of one batch resemble
    /// one another, so that fewer of them than there are choose as if evenly.
    pub fn experts_touched(&self, tokens: f64) -> f64 {
        if self.experts <= 0.0 {
            return 0.0;
        }
        let missed = 1.0 - (self.experts_used / self.experts).min(1.0);
        let different = tokens.max(1.0).powf(self.constants.kernels.expert_spread);
        self.experts * (1.0 - missed.powf(different))
    }

    /// Bytes of weights that one card of a tensor-parallel group reads in a pass of `tokens`,
    /// all stages' blocks together.
    pub fn weights_read(&self, tokens: f64) -> f64 {
        let w = &self.weights;
        let touched = if self.experts > 0.0 {
            self.experts_touched(tokens) / self.experts
        } else {
            0.0
        };
        let rest = w.attention as f64 + w.shared_ffn as f64;
        w.kv_projections as f64 * weights::kv_share(self.shape, self.attention_tensor())
            + w.norms as f64
            + rest / f64::from(self.attention_tensor())
            + (w.routed as f64 * touched + w.head_read as f64) / self.ways()
    }

    /// Seconds that the products of a pass of `tokens` take, the head run on `headed` of them.
    pub fn products_s(&self, tokens: f64, headed: f64) -> f64 {
        let tiles = |n: f64| self.tiled(n);
        let touched = self.experts_touched(tokens);
        let routed = if touched > 0.0 {
            let each = tokens * self.experts_used / touched;
            let cost = self.architecture.experts * self.llama_cpp_experts(tokens, each.max(1.0));
            touched * tiles(each) * self.expert_flops * cost
        } else {
            0.0
        };
        // A card's own part of the requests goes through the whole of what is not split.
        let own = tokens * self.own_share();
        let dense = self.dense_flops * tiles(own) / f64::from(self.attention_tensor());
        (dense + (self.head_flops * tiles(headed) + routed) / self.ways()) / self.products
    }

    /// Rows that a product of `rows` rows costs as much as: kernels work in tiles, so that few
    /// rows cost nearly a tile. Engines for one user have kernels for single rows.
    fn tiled(&self, rows: f64) -> f64 {
        const SINGLE_ROWS: f64 = 8.0;
        if is_local(self.job.engine) && rows <= SINGLE_ROWS {
            return rows;
        }
        // Kernels that expand 4-bit weights work in tiles of few rows.
        let half = self.constants.kernels.half_tokens
            * if self.job.weights.is_weight_only() {
                0.25
            } else {
                1.0
            };
        rows + half * half / (rows + half)
    }

    /// Seconds that llama.cpp's kernels need to expand the weights of one pass, on vector units.
    pub fn expanding_s(&self, tokens: f64) -> f64 {
        if self.job.engine != Engine::LlamaCpp || tokens > 8.0 {
            return 0.0;
        }
        let ops = if self.job.weights.is_gguf() {
            self.constants.kernels.llama_cpp_quant_ops
        } else {
            self.constants.kernels.llama_cpp_half_ops
        };
        let vector = self.node.card.peak_tflops.fp32.unwrap_or(10.0) * 1e12;
        let weights =
            (self.dense_flops + self.head_flops + self.expert_flops * self.experts_touched(tokens))
                / 2.0;
        weights * ops / (vector * self.ways())
    }

    /// Seconds that kernels which are not fused spend on memory in a pass of `tokens` whose prompts
    /// have `context` tokens on average behind them: weights expanded to 16 bit, attention scores
    /// written out and read back.
    pub fn unfused_s(&self, tokens: f64, context: f64) -> f64 {
        /// Up to so many rows, kernels take quantised weights as they are.
        const FEW: f64 = 8.0;
        let kernels = &self.constants.kernels;
        let mut bytes = 0.0;
        if self.details.expands && tokens > FEW && self.job.weights.bits_per_weight() < 12.0 {
            let flops = self.dense_flops + self.expert_flops * self.experts_touched(tokens);
            bytes += flops / 2.0 * kernels.expanded_bytes;
        }
        if self.details.writes_scores {
            let heads = f64::from(self.shape.heads());
            bytes += self.layers() * heads * tokens * context * kernels.score_bytes;
        }
        bytes / (self.bandwidth * self.ways())
    }

    /// Seconds to read the caches of `sequences` of `context` tokens once, all stages' blocks.
    pub fn cache_read_s(&self, sequences: f64, context: f64) -> f64 {
        let elements = kv::card_elements(self.shape, context, self.attention_tensor(), true);
        let sequences = sequences * self.own_share();
        let sharing = self
            .shape
            .attention
            .iter()
            .map(|group| match group.kind {
                AttentionKind::Heads {
                    heads, kv_heads, ..
                } => f64::from(heads) / f64::from(kv_heads.max(1)),
                // One latent serves all heads in one product.
                _ => 1.0,
            })
            .fold(1.0, f64::max);
        // Transformers copies keys and values out to all query heads.
        let cost = if self.job.engine == Engine::Transformers {
            1.0
        } else if self.details.early_rocm {
            self.constants.kernels.early_rocm_sharing
        } else {
            self.architecture.unshared_cache
        };
        let mut unshared = 1.0 + cost * (sharing - 1.0);
        if self.details.early_ollama {
            unshared *= self.constants.kernels.early_ollama_cache;
        }
        let emulated = match self.job.kv {
            KvFormat::Bits8 | KvFormat::Bits4 if self.node.card.peak_tflops.fp8.is_none() => {
                self.constants.kernels.emulated_cache
            }
            _ => 1.0,
        };
        sequences * elements * self.element_bytes * self.engine.cache_traffic * unshared * emulated
            / self.cache_bandwidth
    }

    /// Seconds of the longer of memory and product time, with the share of the shorter that is
    /// not hidden behind it.
    pub fn roofline_s(&self, memory_s: f64, products_s: f64) -> f64 {
        memory_s.max(products_s)
            + self.constants.kernels.roofline_overlap * memory_s.min(products_s)
    }

    /// Seconds of collectives and hand-overs for a pass of `tokens`.
    pub fn communication_s(&self, tokens: f64) -> f64 {
        let links = &self.constants.links;
        let hops = f64::from(self.stages - 1) * links.hop_s;
        if self.tensor < 2 {
            return hops;
        }
        let link = &self.node.card.link;
        let ways = self.ways();
        let within = self.tensor <= self.node.cards_per_node.max(1);
        // Both directions of a PCIe 3.0 slot where the catalog has no figure.
        let card_link = link.bidirectional_gb_s.unwrap_or(32.0) / 2.0;
        let (one_way, latency) = if !within {
            (
                self.node.network_gb_s.min(card_link).max(1.0),
                links.network_s,
            )
        } else if link.is_bus() {
            (card_link, links.bus_s)
        } else if self.details.early_rocm {
            (card_link, self.constants.kernels.early_rocm_reduce_s)
        } else {
            let before = matches!(self.node.card.architecture.as_str(), "Ampere" | "Volta");
            let slower = if before { links.before_hopper } else { 1.0 };
            (card_link, links.direct_s * slower)
        };
        let efficiency = if within && link.is_bus() {
            links.bus_efficiency
        } else {
            links.efficiency
        }
        .max(0.01);
        let latency = latency * (1.0 + 0.1 * (ways - 2.0));
        if self.details.attention_dp {
            return hops + self.dispatch_s(tokens, latency, one_way * 1e9 * efficiency);
        }
        let bytes = 2.0 * (ways - 1.0) / ways * tokens * f64::from(self.shape.hidden) * 2.0;
        let one = latency + bytes / (one_way * 1e9 * efficiency);
        // One all-reduce after attention and one after the feed-forward network.
        2.0 * self.layers() * one + hops
    }

    /// Seconds to send tokens to their experts' cards and the results back, all blocks with experts: a card
    /// sends each of its tokens once to each card that has any of the token's experts, in 8 bit there and in 16
    /// bit back.
    fn dispatch_s(&self, tokens: f64, latency: f64, bytes_s: f64) -> f64 {
        let Some(experts) = self.shape.experts.as_ref() else {
            return 0.0;
        };
        let ways = self.ways();
        let reached = ways * (1.0 - (1.0 - 1.0 / ways).powf(self.experts_used));
        let sent = tokens / ways * reached * (ways - 1.0) / ways;
        let bytes = sent * f64::from(self.shape.hidden) * 3.0;
        f64::from(experts.layers) * (2.0 * latency + bytes / bytes_s)
    }
}
