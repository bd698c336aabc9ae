//! Changes of binary headers, and headers to change.

#[path = "../../core/tests/gguf/mod.rs"]
mod gguf;

use crate::Dice;
use gguf::Gguf;

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
            let kv_heads: Vec<u32> = (0..*blocks).map(|at| at % 3 * 4).collect();
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
                file.numbers(&key("attention.head_count_kv"), &kv_heads)
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
