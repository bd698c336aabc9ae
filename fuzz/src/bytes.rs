//! Changes of binary headers, and headers to change.

use crate::Dice;

/// Longest header that a run makes.
const LONGEST: usize = 8192;

/// One of `corpus` with some bytes changed, cut, repeated, or taken from another.
pub fn mutated(dice: &mut Dice, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = dice.one_of(corpus).cloned().unwrap_or_default();
    let most = 1 + dice.below(6);
    for _ in 0..=dice.below(most) {
        // What the lengths say stands at the front, so changes there reach furthest.
        let reach = if dice.below(2) == 0 {
            bytes.len()
        } else {
            bytes.len().min(256)
        };
        let at = dice.below(reach);
        match dice.below(8) {
            0 => bytes.truncate(at),
            1 => {
                let end = (at + dice.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            2 => {
                let end = (at + dice.below(64)).min(bytes.len());
                let copy = bytes.get(at..end).unwrap_or_default().to_vec();
                bytes.splice(at..at, copy);
            }
            3 => {
                let other = dice.one_of(corpus).cloned().unwrap_or_default();
                let from = dice.below(other.len());
                bytes.truncate(at);
                bytes.extend(other.get(from..).unwrap_or_default());
            }
            4 | 5 => {
                const LENGTHS: [u64; 10] = [
                    0,
                    1,
                    2,
                    13,
                    4096,
                    65_536,
                    u32::MAX as u64,
                    1 << 32,
                    1 << 63,
                    u64::MAX,
                ];
                let length = dice.one_of(&LENGTHS).copied().unwrap_or_default();
                let width = if dice.below(2) == 0 { 4 } else { 8 };
                for (place, byte) in bytes
                    .iter_mut()
                    .skip(at)
                    .zip(length.to_le_bytes())
                    .take(width)
                {
                    *place = byte;
                }
            }
            _ => {
                let byte = dice.bits() as u8;
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            }
        }
        bytes.truncate(LONGEST);
    }
    bytes
}

/// A GGUF header as it is written down here, piece by piece.
#[derive(Debug, Clone, Default)]
struct Gguf {
    pairs: Vec<u8>,
    pair_count: u64,
    tensors: Vec<u8>,
    tensor_count: u64,
}

impl Gguf {
    fn text(out: &mut Vec<u8>, text: &str) {
        out.extend((text.len() as u64).to_le_bytes());
        out.extend(text.as_bytes());
    }

    fn pair(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        Self::text(&mut self.pairs, key);
        self.pairs.extend(kind.to_le_bytes());
        self.pairs.extend(value);
        self.pair_count += 1;
        self
    }

    fn number(self, key: &str, value: u32) -> Self {
        self.pair(key, 4, &value.to_le_bytes())
    }

    fn word(self, key: &str, value: &str) -> Self {
        let mut text = Vec::new();
        Self::text(&mut text, value);
        self.pair(key, 8, &text)
    }

    fn list(self, key: &str, kind: u32, count: u64, items: &[u8]) -> Self {
        let mut list = kind.to_le_bytes().to_vec();
        list.extend(count.to_le_bytes());
        list.extend(items);
        self.pair(key, 9, &list)
    }

    fn tensor(mut self, name: &str, dims: &[u64], kind: u32) -> Self {
        Self::text(&mut self.tensors, name);
        self.tensors.extend((dims.len() as u32).to_le_bytes());
        for dim in dims {
            self.tensors.extend(dim.to_le_bytes());
        }
        self.tensors.extend(kind.to_le_bytes());
        self.tensors.extend(0_u64.to_le_bytes());
        self.tensor_count += 1;
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3_u32.to_le_bytes());
        out.extend(self.tensor_count.to_le_bytes());
        out.extend(self.pair_count.to_le_bytes());
        out.extend(&self.pairs);
        out.extend(&self.tensors);
        out
    }
}

/// Headers of several kinds of model, small.
pub fn gguf_headers() -> Vec<Vec<u8>> {
    let kinds = [
        ("llama", 32, 4096),
        ("qwen3moe", 48, 2048),
        ("deepseek2", 27, 2048),
        ("gemma3", 34, 2560),
        ("lfm2", 6, 2048),
        ("mamba", 24, 1024),
        ("bert", 12, 768),
    ];
    kinds
        .iter()
        .map(|(kind, blocks, width)| {
            let key = |name: &str| format!("{kind}.{name}");
            let lists: Vec<u8> = (0..*blocks)
                .flat_map(|at: u32| (at % 3 * 4).to_le_bytes())
                .collect();
            let mut file = Gguf::default()
                .word("general.architecture", kind)
                .word("general.name", "A model")
                .number("general.file_type", 15)
                .number(&key("block_count"), *blocks)
                .number(&key("context_length"), 131_072)
                .number(&key("embedding_length"), *width)
                .number(&key("feed_forward_length"), width * 3)
                .number(&key("attention.head_count"), 32)
                .number(&key("attention.key_length"), 128)
                .number(&key("attention.sliding_window"), 1024)
                .number(&key("attention.kv_lora_rank"), 512)
                .number(&key("attention.q_lora_rank"), 1536)
                .number(&key("rope.dimension_count"), 64)
                .number(&key("expert_count"), 64)
                .number(&key("expert_used_count"), 8)
                .number(&key("expert_feed_forward_length"), 768)
                .number(&key("expert_shared_count"), 1)
                .number(&key("leading_dense_block_count"), 1)
                .number(&key("ssm.state_size"), 16)
                .number(&key("ssm.inner_size"), width * 2)
                .number(&key("ssm.conv_kernel"), 4)
                .number(&key("vocab_size"), 32_000)
                .pair("tokenizer.ggml.add_bos_token", 7, &[1]);
            file = if *kind == "lfm2" {
                file.list(
                    &key("attention.head_count_kv"),
                    4,
                    u64::from(*blocks),
                    &lists,
                )
            } else {
                file.number(&key("attention.head_count_kv"), 8)
            };
            let wide = u64::from(*width);
            file.tensor("token_embd.weight", &[wide, 32_000], 14)
                .tensor("output.weight", &[wide, 32_000], 14)
                .tensor("blk.0.attn_q.weight", &[wide, 4096], 12)
                .tensor("blk.0.attn_k.weight", &[wide, 1024], 12)
                .tensor("blk.0.ffn_down_exps.weight", &[768, wide, 64], 8)
                .tensor("blk.0.ssm_conv1d.weight", &[4, wide], 0)
                .bytes()
        })
        .collect()
}
