//! Parameters, formats of the cache, and what is read from a configuration.

use super::answers::{kv, model, near, shape};
use cardfit::bring::{Note, read_text};
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::estimate::serving::{element_bytes, weight_bytes};

fn params(config: &str) -> u64 {
    read_text(config).expect("a configuration").shape.params()
}

#[test]
fn configurations_are_counted_exactly() {
    // https://github.com/Abdullah-Taha9/ui-training/issues/29, norms of queries and keys and all.
    assert_eq!(
        params(
            "{\"model_type\":\"qwen3\",\"num_hidden_layers\":36,\"hidden_size\":2560,\
              \"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128,\
              \"intermediate_size\":9728,\"vocab_size\":151936,\"tie_word_embeddings\":true}"
        ),
        4_022_468_096
    );
    assert_eq!(
        params(
            "{\"model_type\":\"qwen2\",\"num_hidden_layers\":80,\"hidden_size\":8192,\
              \"num_attention_heads\":64,\"num_key_value_heads\":8,\"intermediate_size\":29568,\
              \"vocab_size\":152064,\"tie_word_embeddings\":false}"
        ),
        72_706_203_648
    );
    // https://github.com/alvarobartt/hf-mem/pull/26: what is left out of a nested text model has its
    // class's value.
    let llava = params(
        "{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"llama\",\"hidden_size\":5120,\
         \"intermediate_size\":13824,\"num_attention_heads\":40,\"num_hidden_layers\":40,\
         \"num_key_value_heads\":40,\"vocab_size\":32064},\"vision_config\":{\"model_type\":\
         \"clip_vision_model\",\"hidden_size\":1024,\"intermediate_size\":4096,\
         \"num_attention_heads\":16,\"num_hidden_layers\":24,\"patch_size\":14,\"image_size\":336}}",
    );
    near("llava-1.5-13b", llava as f64, 13.35e9, 0.01);
    // bert-base-cased in FP32:
    // https://huggingface.co/spaces/hf-accelerate/model-memory-usage/commit/a6ae7ff44670f18ae684765d61d8e25128934cee
    let bert = params(
        "{\"model_type\":\"bert\",\"num_hidden_layers\":12,\"hidden_size\":768,\
         \"num_attention_heads\":12,\"intermediate_size\":3072,\"vocab_size\":28996,\
         \"max_position_embeddings\":512,\"type_vocab_size\":2}",
    );
    near(
        "bert-base-cased",
        bert as f64 * 4.0 / 1_048_576.0,
        413.18,
        0.01,
    );
    // https://github.com/deepspeedai/DeepSpeed/issues/2797: FLAN-T5-XL, 2849M without its tables.
    let flan = read_text(
        "{\"model_type\":\"t5\",\"d_model\":2048,\"d_kv\":64,\"d_ff\":5120,\"num_heads\":32,\
         \"num_layers\":24,\"num_decoder_layers\":24,\"vocab_size\":32128,\
         \"feed_forward_proj\":\"gated-gelu\",\"tie_word_embeddings\":false}",
    )
    .expect("an encoder and a decoder");
    near("FLAN-T5-XL", flan.shape.params() as f64, 2.8498e9, 0.001);
    assert!(
        flan.notes
            .iter()
            .any(|note| matches!(note, Note::EncoderDecoder(_)))
    );
}

#[test]
fn gates_and_look_ups_are_counted_for_what_they_are() {
    // https://github.com/EleutherAI/cookbook/pull/35: three matrices of 8/3 are two of 4.
    let ffn = |link: &str| shape(link).shared_ffn_params();
    assert_eq!(
        ffn("m=custom&hidden=3072&ffn=8192&gated=yes"),
        ffn("m=custom&hidden=3072&ffn=12288&gated=no")
    );
    // https://github.com/huggingface/trl/pull/6709: a look-up is no product.
    assert_eq!(
        shape("m=custom&tie=yes").active_params(),
        shape("m=custom&tie=no").active_params()
    );
}

#[test]
fn lists_of_key_heads_and_blocks_of_eight_bits_are_read() {
    // https://github.com/tobocop2/lilbee/pull/721: a hybrid's list of key heads, zero where a block
    // convolves.
    let lfm2 = "m=custom&hidden=2048&attn=10:linear:32:6144:16783360,6:heads:32:8:64&ffn=8192&vocab=65536&tie=yes";
    assert!(kv(lfm2, 4096) > 0.0);
    // https://github.com/withcatai/node-llama-cpp/pull/608: 34 bytes for 32 elements.
    near("q8_0", element_bytes(KvFormat::Bits8, true), 1.0625, 0.0);
}

#[test]
fn files_hold_what_their_engine_keeps() {
    // https://github.com/UbiquitousLearning/mllm/issues/271: the head stands in the file a second time.
    let mut twice = model("qwen1.5-0.5b").clone();
    twice.transformer.tie_embeddings = false;
    twice.params_total = twice.transformer.params();
    let untied = weight_bytes(&twice, WeightFormat::Q4KM, None).total() as f64;
    near("Qwen1.5 0.5B", untied, 407e6, 0.06);
    // https://github.com/thomas9120/LLama-GUI/issues/374: a projector is counted.
    let with = weight_bytes(model("qwen3.8-27b"), WeightFormat::Q4KM, None);
    assert!(with.other as f64 > 0.85e9, "{}", with.other);
    // https://github.com/unslothai/unsloth/pull/9931: the input table, which stays on the host, is told
    // apart from the head; where the two are one, it is counted once.
    let untied = weight_bytes(model("llama-3.1-8b"), WeightFormat::Q4KM, None);
    assert!(untied.embedding > 0 && untied.head > 0);
    let tied = weight_bytes(model("llama-3.2-1b"), WeightFormat::Q4KM, None);
    assert!(tied.embedding > 0 && tied.head == 0);
}
