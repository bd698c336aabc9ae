//! Bytes of a model's weights in a format: which matrices are quantised, which are not, and what
//! one card of a layout holds.

use crate::catalog::{AttentionKind, Model, Transformer};
use crate::dtype::WeightFormat;

/// Bytes of a model's weights by what they are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WeightBytes {
    /// Key and value projections (or the shared latent projections of MLA) of all blocks: what
    /// tensor parallelism copies where there are fewer key and value heads than ways.
    pub kv_projections: u64,
    /// The other attention projections of all blocks.
    pub attention: u64,
    /// Feed-forward networks that are the same for every token, shared experts and routers.
    pub shared_ffn: u64,
    /// All routed experts.
    pub routed: u64,
    /// Norms.
    pub norms: u64,
    /// Input embedding.
    pub embedding: u64,
    /// Output head; 0 where it is the embedding's own memory.
    pub head: u64,
    /// Bytes read for the output head, also where it shares the embedding's memory.
    pub head_read: u64,
    /// Parameters that the shape does not explain (biases, position embeddings, vision towers).
    pub other: u64,
}

impl WeightBytes {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.blocks() + self.embedding + self.head + self.other
    }

    /// GGUF files of models with MXFP4 experts keep the rest in Q8_0 (17 bytes for 16 weights of 16
    /// bit).
    pub fn rest_in_eight_bits(&mut self) {
        for bytes in [
            &mut self.kv_projections,
            &mut self.attention,
            &mut self.shared_ffn,
            &mut self.embedding,
            &mut self.head,
            &mut self.head_read,
        ] {
            *bytes = *bytes * 17 / 32;
        }
    }

    /// Those of the blocks.
    pub const fn blocks(&self) -> u64 {
        self.kv_projections + self.attention + self.shared_ffn + self.routed + self.norms
    }
}

/// Parameters of the attention of all blocks: what every card of a tensor-parallel group holds at
/// least a head of, and the rest.
fn attention_params(shape: &Transformer) -> (u64, u64) {
    let hidden = u64::from(shape.hidden);
    let (mut kv, mut rest) = (0, 0);
    for group in &shape.attention {
        let layers = u64::from(group.layers);
        let all = group.kind.params(hidden);
        let copied = match group.kind {
            AttentionKind::Heads {
                kv_heads, head_dim, ..
            } => 2 * hidden * u64::from(kv_heads) * u64::from(head_dim),
            AttentionKind::Latent {
                q_rank,
                kv_rank,
                qk_rope_dim,
                ..
            } => hidden * (u64::from(q_rank.unwrap_or(0)) + u64::from(kv_rank + qk_rope_dim)),
            AttentionKind::Compressed { entry_dim, .. } => hidden * u64::from(entry_dim),
            AttentionKind::Linear { .. } => 0,
        };
        kv += layers * copied.min(all);
        rest += layers * (all - copied.min(all));
    }
    (kv, rest + shape.extra_params)
}

/// Parameters of the shared feed-forward networks without routers, and of the routers.
fn shared_ffn_params(shape: &Transformer) -> (u64, u64) {
    let routers = shape.experts.as_ref().map_or(0, |e| {
        u64::from(e.layers) * u64::from(shape.hidden) * u64::from(e.experts)
    });
    (shape.shared_ffn_params().saturating_sub(routers), routers)
}

/// Bytes of `model`'s weights in `format`. `bits` replaces the format's bits of one quantised
/// weight (EXL2's free choice, other group sizes); `None`: the format's own.
pub fn weight_bytes(model: &Model, format: WeightFormat, bits: Option<f64>) -> WeightBytes {
    let shape = &model.transformer;
    if format.is_gguf() {
        return gguf::weight_bytes(model, format);
    }
    let table = |params: u64| params * (format.table_bits() as u64 / 8);
    let matrix = |params: u64| match bits {
        Some(bits) => (params as f64 * bits / 8.0).ceil() as u64,
        None => format.bytes_of(params),
    };
    // gpt-oss's own format quantises the experts alone.
    let experts_only = format == WeightFormat::Mxfp4 && shape.experts.is_some();
    let dense = |params: u64| {
        if experts_only {
            table(params)
        } else {
            matrix(params)
        }
    };
    let (kv, attention) = attention_params(shape);
    let (ffn, routers) = shared_ffn_params(shape);
    let tables = table(shape.embedding_params());
    WeightBytes {
        kv_projections: dense(kv),
        attention: dense(attention),
        shared_ffn: dense(ffn) + table(routers),
        routed: matrix(shape.routed_expert_params()),
        norms: table((2 * u64::from(shape.layers) + 1) * u64::from(shape.hidden)),
        embedding: tables,
        head: if shape.tie_embeddings { 0 } else { tables },
        head_read: tables,
        other: table(model.other_params()),
    }
}

/// What the fullest card holds when every block is split over `tensor` ways and the blocks over
/// `stages`, bytes. Key and value heads are copied where there are fewer than ways, a latent's
/// shared projections always.
pub fn card_weight_bytes(model: &Model, bytes: &WeightBytes, tensor: u32, stages: u32) -> u64 {
    let shape = &model.transformer;
    let ways = u64::from(tensor.max(1));
    let stages = u64::from(stages.max(1));
    let layers = u64::from(shape.layers.max(1));
    let fullest = layers.div_ceil(stages);
    let kv = (bytes.kv_projections as f64 * kv_share(shape, tensor)).ceil() as u64;
    let split = (bytes.attention + bytes.shared_ffn + bytes.routed).div_ceil(ways);
    let blocks = ((kv + split + bytes.norms) * fullest).div_ceil(layers);
    let tables = if stages == 1 {
        bytes.embedding + bytes.head
    } else {
        bytes.embedding.max(bytes.head_read)
    };
    blocks + (tables + bytes.other).div_ceil(ways)
}

/// What a card holds where experts alone are split over `tensor` ways.
pub fn unsplit_card_weight_bytes(bytes: &WeightBytes, tensor: u32) -> u64 {
    bytes.total() - bytes.routed + bytes.routed.div_ceil(u64::from(tensor.max(1)))
}

/// Share of the key and value heads that one of `tensor` ways holds, the largest of any block:
/// 1/ways where they divide, one head where there are fewer heads than ways, all of a latent.
pub fn kv_share(shape: &Transformer, tensor: u32) -> f64 {
    let ways = tensor.max(1);
    shape
        .attention
        .iter()
        .map(|group| match group.kind {
            AttentionKind::Heads { kv_heads, .. } => {
                let heads = kv_heads.max(1);
                f64::from(heads.div_ceil(ways)) / f64::from(heads)
            }
            AttentionKind::Latent { .. } | AttentionKind::Compressed { .. } => 1.0,
            AttentionKind::Linear { .. } => 1.0 / f64::from(ways),
        })
        .fold(0.0, f64::max)
}

/// llama.cpp's mixtures: which type each tensor of a file gets (its quantisation without an
/// importance matrix, `llama_model_quantize`).
mod gguf {
    use super::{WeightBytes, attention_params, shared_ffn_params};
    use crate::catalog::{AttentionKind, Model};
    use crate::dtype::WeightFormat;

    /// A tensor type: weights of a block and its bytes.
    type Block = (u64, u64);
    const Q3_K: Block = (256, 110);
    const Q4_K: Block = (256, 144);
    const Q5_K: Block = (256, 176);
    const Q6_K: Block = (256, 210);
    const Q8_0: Block = (32, 34);
    const Q2_K: Block = (256, 84);
    const IQ3_S: Block = (256, 110);
    const IQ2_S: Block = (256, 82);
    const IQ2_XXS: Block = (256, 66);
    const IQ3_XXS: Block = (256, 98);
    const F32: Block = (1, 4);

    fn bytes(params: u64, block: Block) -> u64 {
        (params * block.1).div_ceil(block.0)
    }

    /// `params` in `layers` equal parts of which `raised` have the type `high`, the others `low`.
    fn mixed(params: u64, layers: u64, raised: u64, high: Block, low: Block) -> u64 {
        let one = params / layers.max(1);
        bytes(one * raised, high) + bytes(params - one * raised, low)
    }

    /// Blocks whose important tensors get more bits: the first and last eighth and every third
    /// between them.
    fn important_layers(layers: u64) -> u64 {
        let eighth = layers / 8;
        (0..layers)
            .filter(|i| *i < eighth || *i >= 7 * layers / 8 || (i - eighth) % 3 == 2)
            .count() as u64
    }

    pub(super) fn weight_bytes(model: &Model, format: WeightFormat) -> WeightBytes {
        use WeightFormat as F;
        let shape = &model.transformer;
        let base = format.block();
        let layers = u64::from(shape.layers.max(1));
        let important = important_layers(layers);
        let (kv, attention) = attention_params(shape);
        let (ffn, routers) = shared_ffn_params(shape);
        let heads = shape.heads();
        let (kv_heads, output) = shape
            .attention
            .first()
            .map_or((heads, attention / 2), |group| match group.kind {
                AttentionKind::Heads { kv_heads, .. } => (kv_heads.max(1), attention / 2),
                _ => (heads.max(1), attention / 2),
            });
        let sharing = heads / kv_heads.max(1);
        let eight_experts = shape.experts.as_ref().is_some_and(|e| e.experts == 8);
        let very_deep = shape.layers == 80 && sharing == 8;

        let values = kv / 2;
        let keys = kv - values;
        let raise_small = |block: Block| {
            // A 70B's values are an eighth of its queries: more bits cost little there.
            if very_deep && (block == Q3_K || block == Q4_K) {
                Q5_K
            } else {
                block
            }
        };
        let (value_bytes, key_bytes) = if eight_experts {
            (bytes(values, Q8_0), bytes(keys, Q8_0))
        } else {
            let v = match format {
                F::Q2K if sharing >= 4 => bytes(values, raise_small(Q4_K)),
                F::Q2K => bytes(values, raise_small(Q3_K)),
                F::Iq1S | F::Iq1M | F::Iq2Xxs | F::Iq2Xs | F::Iq2S | F::Iq2M if sharing >= 4 => {
                    bytes(values, Q4_K)
                }
                F::Iq2S | F::Iq2M => bytes(values, IQ3_S),
                F::Iq1S | F::Iq1M | F::Iq2Xxs | F::Iq2Xs => bytes(values, Q2_K),
                F::Iq3Xxs if sharing >= 4 => bytes(values, Q4_K),
                F::Iq3Xxs => bytes(values, IQ3_S),
                F::Iq3Xs | F::Iq3S if sharing >= 4 => bytes(values, Q4_K),
                F::Iq3M => bytes(values, raise_small(Q4_K)),
                F::Q3KM => mixed(values, layers, 2.min(layers), Q5_K, raise_small(Q4_K)),
                F::Q3KL => bytes(values, Q5_K),
                F::Iq4Xs | F::Iq4Nl if sharing >= 4 => bytes(values, Q5_K),
                F::Q4KM | F::Q5KM => mixed(values, layers, important, Q6_K, raise_small(base)),
                F::Q4KS => mixed(values, layers, 4.min(layers), Q5_K, raise_small(base)),
                _ => bytes(values, raise_small(base)),
            };
            let k = match format {
                F::Iq3Xxs => bytes(keys, IQ2_S),
                F::Iq3Xs => bytes(keys, IQ3_XXS),
                _ => bytes(keys, base),
            };
            (v, k)
        };
        let output_block = if eight_experts {
            match format {
                F::Q2K
                | F::Iq3Xxs
                | F::Q3KS
                | F::Q3KM
                | F::Iq4Nl
                | F::Q4KS
                | F::Q4KM
                | F::Iq3M
                | F::Iq4Xs => Q5_K,
                _ => base,
            }
        } else {
            match format {
                F::Q2K => Q3_K,
                F::Iq3Xxs | F::Iq2S | F::Iq2M => IQ3_S,
                F::Iq1S | F::Iq1M => IQ2_XXS,
                F::Q3KM | F::Iq3M => Q4_K,
                F::Q3KL => Q5_K,
                _ => base,
            }
        };
        let attention_bytes = bytes(output, output_block) + bytes(attention - output, base);

        // The last matrix of a feed-forward network is a third of a gated one, else half.
        let down = |params: u64| {
            let parts = if shape.ffn_gated { 3 } else { 2 };
            let down = params / parts;
            let eighth = layers / 8;
            let raised = match format {
                F::Q2K => bytes(down, Q3_K),
                F::Iq1S | F::Iq1M | F::Iq2Xxs | F::Iq2Xs => mixed(down, layers, eighth, Q2_K, base),
                F::Iq2S | F::Iq2M => mixed(down, layers, eighth, IQ3_S, base),
                F::Iq3Xxs => mixed(down, layers, eighth, Q4_K, Q3_K),
                F::Q3KM => mixed(down, layers, layers / 16, Q5_K, Q4_K),
                F::Q3KL => bytes(down, Q5_K),
                F::Iq3M => mixed(down, layers, eighth, Q4_K, base),
                F::Q4KM | F::Q5KM => mixed(down, layers, important, Q6_K, base),
                F::Q4KS => mixed(down, layers, eighth, Q5_K, base),
                F::Iq4Xs | F::Iq4Nl => mixed(down, layers, eighth, Q5_K, base),
                F::Q5KS => bytes(down, base),
                _ => bytes(down, base),
            };
            raised + bytes(params - down, base)
        };

        let head_block = match format {
            F::Q8_0 => Q8_0,
            F::Iq1S | F::Iq1M | F::Iq2Xxs | F::Iq2Xs | F::Iq2S | F::Iq2M | F::Iq3Xxs => Q5_K,
            _ => Q6_K,
        };
        let embedding_block = match format {
            _ if shape.tie_embeddings => head_block,
            F::Iq1S | F::Iq1M | F::Iq2Xxs | F::Iq2Xs => Q2_K,
            F::Iq2S | F::Iq2M | F::Iq3Xxs | F::Iq3Xs | F::Iq3S | F::Iq3M => IQ3_S,
            _ => base,
        };
        let table = shape.embedding_params();
        WeightBytes {
            kv_projections: value_bytes + key_bytes,
            attention: attention_bytes,
            shared_ffn: down(ffn) + bytes(routers, F32),
            routed: down(shape.routed_expert_params()),
            norms: bytes(
                (2 * u64::from(shape.layers) + 1) * u64::from(shape.hidden),
                F32,
            ),
            embedding: bytes(table, embedding_block),
            head: if shape.tie_embeddings {
                0
            } else {
                bytes(table, head_block)
            },
            head_read: bytes(table, head_block),
            other: bytes(model.other_params(), (1, 2)),
        }
    }
}
