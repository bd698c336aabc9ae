//! GGUF headers that people bring: shape, format and bytes, and what a damaged one says.

#![allow(clippy::expect_used, clippy::panic, reason = "tests may end")]

mod gguf;

use cardfit::bring::{BringErrorKind as Kind, read_bytes};
use cardfit::catalog::AttentionKind;
use cardfit::dtype::WeightFormat;
use cardfit::text::Lang;
use gguf::{Gguf, STRING, string};
use proptest::prelude::*;

/// Tokens of a vocabulary, all alike.
fn tokens(count: u64) -> Vec<u8> {
    (0..count).flat_map(|_| string("token")).collect()
}

/// LFM2 1.2B: ten short convolutions and six blocks of attention, told by a list of KV heads.
fn lfm2() -> Gguf {
    let kv = [0, 0, 8, 0, 0, 8, 0, 0, 8, 0, 8, 0, 8, 0, 8, 0];
    let mut file = Gguf::default()
        .word("general.architecture", "lfm2")
        .word("general.name", "LFM2 1.2B")
        .number("general.file_type", 15)
        .number("lfm2.block_count", 16)
        .number("lfm2.context_length", 128_000)
        .number("lfm2.embedding_length", 2048)
        .number("lfm2.feed_forward_length", 8192)
        .number("lfm2.attention.head_count", 32)
        .numbers("lfm2.attention.head_count_kv", &kv)
        .number("lfm2.shortconv.l_cache", 3)
        .list("tokenizer.ggml.tokens", STRING, 3000, &tokens(3000))
        .tensor("token_embd.weight", &[2048, 65_536], 14);
    for (layer, kv) in kv.iter().enumerate() {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        file = if *kv > 0 {
            file.tensor(&name("attn_q"), &[2048, 2048], 12)
                .tensor(&name("attn_k"), &[2048, 512], 12)
                .tensor(&name("attn_v"), &[2048, 512], 14)
                .tensor(&name("attn_output"), &[2048, 2048], 12)
        } else {
            file.tensor(&name("shortconv.in_proj"), &[2048, 6144], 12)
                .tensor(&name("shortconv.conv"), &[3, 2048], 0)
                .tensor(&name("shortconv.out_proj"), &[2048, 2048], 12)
        };
        file = file
            .tensor(&name("ffn_gate"), &[2048, 8192], 12)
            .tensor(&name("ffn_up"), &[2048, 8192], 12)
            .tensor(&name("ffn_down"), &[8192, 2048], 14);
    }
    file
}

/// https://github.com/tobocop2/lilbee/pull/721: an array of KV heads read as one number gave no cache.
#[test]
fn a_gguf_header_gives_shape_format_and_bytes() {
    let model = read_bytes(&lfm2().bytes()).expect("a header");
    assert_eq!(model.name, "LFM2 1.2B");
    assert_eq!(model.weights, Some(WeightFormat::Q4KM));
    assert_eq!(model.max_context, Some(128_000));
    // Six blocks of 2 x 8 x 64 elements a token, ten states of 3 x 2048.
    let growing = model.shape.kv_elements(2000) - model.shape.kv_elements(1000);
    assert_eq!(growing, 1000 * 6 * 2 * 8 * 64);
    assert_eq!(model.shape.kv_elements(0), 10 * 3 * 2048);
    // 1.17 B parameters by the card.
    let off = model.shape.params() as f64 / 1.17e9 - 1.0;
    assert!(off.abs() < 0.01, "{} ({off})", model.shape.params());
    let elements = model.shape.params() as f64;
    let bits = 8.0 * model.weight_bytes.expect("bytes") as f64 / elements;
    assert!((4.5..6.6).contains(&bits), "{bits}");
}

#[test]
fn a_damaged_gguf_header_is_an_error_that_names_the_place() {
    let whole = lfm2().bytes();
    for cut in [0, 3, 4, 7, 12, 20, 30, 100, 5000, 500_000, whole.len() - 1] {
        let cut = cut.min(whole.len() - 1);
        match read_bytes(&whole[..cut]) {
            Ok(_) => panic!("{cut}"),
            Err(error) => {
                assert!(!error.message(Lang::En).is_empty());
                if cut >= 4 {
                    assert_eq!(error.kind, Kind::Truncated, "{cut}");
                    assert!(!error.field.is_empty(), "{cut}");
                }
            }
        }
    }
    // A count of pairs or bytes that cannot be.
    let mut wild = whole.clone();
    wild[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    let error = read_bytes(&wild).expect_err("too many");
    assert_eq!(
        (error.kind, error.field.as_str()),
        (Kind::TooLarge, "metadata_kv_count")
    );
    let mut old = whole;
    old[4..8].copy_from_slice(&1_u32.to_le_bytes());
    assert_eq!(
        read_bytes(&old).expect_err("old").kind,
        Kind::UnknownVersion
    );
    let none = Gguf::default().word("general.name", "x").bytes();
    let error = read_bytes(&none).expect_err("nothing");
    assert_eq!(
        (error.kind, error.field.as_str()),
        (Kind::Missing, "general.architecture")
    );
    let bare = Gguf::default()
        .word("general.architecture", "llama")
        .bytes();
    let error = read_bytes(&bare).expect_err("no blocks");
    assert_eq!(
        (error.kind, error.field.as_str()),
        (Kind::Missing, "llama.block_count")
    );
}

/// RWKV-7 World 1.5B as llama.cpp writes it: no heads and no keys, a square of 64 x 64 a head.
fn rwkv7() -> Gguf {
    let (wide, layers) = (2048_u64, 24);
    let mut file = Gguf::default()
        .word("general.architecture", "rwkv7")
        .word("general.name", "RWKV7 World 1.5B")
        .number("general.file_type", 1)
        .number("rwkv7.block_count", layers)
        .number("rwkv7.context_length", 1_048_576)
        .number("rwkv7.embedding_length", 2048)
        .number("rwkv7.feed_forward_length", 8192)
        .number("rwkv7.attention.head_count", 0)
        .number("rwkv7.wkv.head_size", 64)
        .number("rwkv7.token_shift_count", 2)
        .number("rwkv7.attention.decay_lora_rank", 96)
        .number("rwkv7.attention.iclr_lora_rank", 96)
        .number("rwkv7.attention.value_residual_mix_lora_rank", 64)
        .number("rwkv7.attention.gate_lora_rank", 256)
        .tensor("token_embd.weight", &[wide, 65_536], 1)
        .tensor("token_embd_norm.weight", &[wide], 0)
        .tensor("token_embd_norm.bias", &[wide], 0)
        .tensor("output_norm.weight", &[wide], 0)
        .tensor("output_norm.bias", &[wide], 0)
        .tensor("output.weight", &[wide, 65_536], 1);
    for layer in 0..layers {
        let name = |part: &str| format!("blk.{layer}.{part}");
        for part in ["receptance", "key", "value", "output"] {
            let part = format!("time_mix_{part}.weight");
            file = file.tensor(&name(&part), &[wide, wide], 1);
        }
        for (pair, rank) in [("w", 96), ("a", 96), ("g", 256), ("v", 64)] {
            if pair == "v" && layer == 0 {
                continue;
            }
            let (down, up) = (
                format!("time_mix_{pair}1.weight"),
                format!("time_mix_{pair}2.weight"),
            );
            file = file
                .tensor(&name(&down), &[wide, rank], 1)
                .tensor(&name(&up), &[rank, wide], 1);
        }
        // Nineteen numbers a channel: four of two norms, the rest of both mixings.
        for part in [
            "attn_norm.weight",
            "attn_norm.bias",
            "attn_norm_2.weight",
            "attn_norm_2.bias",
        ] {
            file = file.tensor(&name(part), &[wide], 0);
        }
        let single = if layer == 0 { 13 } else { 14 };
        file = file
            .tensor(&name("time_mix_lerp_fused.weight"), &[wide, single], 0)
            .tensor(&name("channel_mix_lerp_k.weight"), &[wide], 0)
            .tensor(&name("channel_mix_key.weight"), &[wide, 8192], 1)
            .tensor(&name("channel_mix_value.weight"), &[8192, wide], 1);
    }
    file
}

/// The authors publish 1 527 404 544 parameters (Peng et al. 2025, table of sizes).
#[test]
fn a_header_of_rwkv_7_has_a_state_and_no_cache() {
    let model = read_bytes(&rwkv7().bytes()).expect("a header");
    let shape = &model.shape;
    assert_eq!(shape.params(), 1_527_404_544);
    assert_eq!(shape.kv_elements(0), shape.kv_elements(1_000_000));
    assert_eq!(shape.kv_elements(0), 24 * (32 * 64 * 64 + 2 * 2048));
    assert!(!shape.ffn_gated && !shape.tie_embeddings);
    assert!(matches!(
        shape.attention[0].kind,
        AttentionKind::Linear { heads: 32, .. }
    ));
    assert_eq!(model.weights, Some(WeightFormat::Fp16));
}

proptest! {
    /// Nothing that is thrown at the reader ends the program.
    #[test]
    fn no_bytes_end_in_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_bytes(&bytes);
        let mut file = b"GGUF\x03\0\0\0".to_vec();
        file.extend(&bytes);
        let _ = read_bytes(&file);
    }

    #[test]
    fn no_damage_of_a_header_ends_in_a_panic(at in 0_usize..400, byte in any::<u8>()) {
        let mut file = lfm2().bytes();
        file[at] = byte;
        let _ = read_bytes(&file);
    }
}
