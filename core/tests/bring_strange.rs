//! Strange configurations, as strangers would try them: each is read with a shape that can be, or refused with the name of
//! the field; no number makes the reader slow or the program stop.

use std::time::{Duration, Instant};

use cardfit::bring::{read_bytes, read_text};
use cardfit::text::Lang;

/// A small model with one piece behind: of a key given twice the last counts, as in Python.
fn with(piece: &str) -> String {
    let piece = piece.trim_end_matches(',');
    format!(
        "{{\"model_type\":\"llama\",\"num_hidden_layers\":4,\"hidden_size\":256,\"num_attention_heads\":8,\
         \"num_key_value_heads\":2,\"intermediate_size\":512,\"vocab_size\":1000,{piece}}}"
    )
}

/// Text, and the field that its error must name; none: it must be read.
type Strange = (String, Option<&'static str>);

fn strange() -> Vec<Strange> {
    let no = |piece: &str, field: &'static str| (with(piece), Some(field));
    let yes = |piece: &str| (with(piece), None);
    let deep = format!("{}{}", "{\"a\":".repeat(5000), "}".repeat(5000));
    let own = |text: &str, field: &'static str| (text.to_owned(), Some(field));
    vec![
        no("\"num_hidden_layers\":\"thirty-two\",", "num_hidden_layers"),
        no("\"num_hidden_layers\":-4,", "num_hidden_layers"),
        no("\"num_hidden_layers\":0,", "num_hidden_layers"),
        no("\"num_hidden_layers\":4.5,", "num_hidden_layers"),
        no("\"num_hidden_layers\":1e30,", "num_hidden_layers"),
        no("\"num_hidden_layers\":true,", "num_hidden_layers"),
        no("\"num_hidden_layers\":[4,4],", "num_hidden_layers"),
        no("\"num_hidden_layers\":{\"n\":4},", "num_hidden_layers"),
        no("\"hidden_size\":\"\",", "hidden_size"),
        no("\"hidden_size\":99999999999,", "hidden_size"),
        no("\"hidden_size\":-1,", "hidden_size"),
        no("\"num_attention_heads\":0,", "num_attention_heads"),
        no("\"num_attention_heads\":\"eight\",", "num_attention_heads"),
        no("\"num_key_value_heads\":3,", "num_key_value_heads"),
        no("\"num_key_value_heads\":16,", "num_key_value_heads"),
        no("\"head_dim\":-64,", "head_dim"),
        no("\"intermediate_size\":\"big\",", "intermediate_size"),
        no("\"vocab_size\":-1,", "vocab_size"),
        no("\"vocab_size\":1e12,", "vocab_size"),
        no("\"tie_word_embeddings\":\"maybe\",", "tie_word_embeddings"),
        no("\"num_local_experts\":\"many\",", "num_local_experts"),
        no(
            "\"num_local_experts\":8,\"num_experts_per_tok\":16,",
            "num_experts_per_tok",
        ),
        no(
            "\"sliding_window\":-5,\"layer_types\":[\"sliding_attention\",\"full_attention\",\"sliding_attention\",\"full_attention\"],",
            "sliding_window",
        ),
        no("\"layer_types\":[\"full_attention\"],", "layer_types"),
        no(
            "\"layer_types\":[\"full_attention\",\"telepathy\",\"full_attention\",\"full_attention\"],",
            "layer_types",
        ),
        // What does not change the shape does not stop it.
        yes("\"torch_dtype\":\"bfloat17\","),
        yes("\"max_position_embeddings\":\"long\","),
        yes("\"rope_scaling\":{\"type\":[1,2,3]},"),
        yes("\"architectures\":7,"),
        yes("\"_name_or_path\":\"<script>alert(1)</script>\","),
        own("{\"num_hidden_layers\":4}", "hidden_size"),
        own("{\"hidden_size\":256}", "num_hidden_layers"),
        own("[]", ""),
        own("null", ""),
        own("{\"num_hidden_layers\":4,", ""),
        own("not json at all", ""),
        own("{}", "num_hidden_layers"),
        own(
            "{\"text_config\":{\"num_hidden_layers\":\"x\",\"hidden_size\":64}}",
            "num_hidden_layers",
        ),
        (deep, Some("")),
    ]
}

#[test]
fn strange_configurations_are_read_or_name_their_field() {
    let mut wrong = Vec::new();
    for (text, field) in strange() {
        let shown: String = text.chars().take(90).collect();
        match (read_text(&text), field) {
            (Ok(model), None) => {
                if model.shape.params() < 100_000 {
                    wrong.push(format!("{shown}: {} parameters", model.shape.params()));
                }
            }
            (Err(error), Some(field)) => {
                for lang in [Lang::En, Lang::ZhCn] {
                    let message = error.message(lang);
                    if !error.field.contains(field) || !message.contains(field) {
                        wrong.push(format!("{shown}: {message} ({})", error.field));
                    }
                }
            }
            (Ok(_), Some(field)) => wrong.push(format!("{shown}: read, {field} should not be")),
            (Err(error), None) => wrong.push(format!("{shown}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_key_that_is_given_twice_or_a_list_of_a_million_costs_no_time() {
    let started = Instant::now();
    let long = format!(
        "\"layer_types\":[{}\"full_attention\"],",
        "\"full_attention\",".repeat(1_000_000)
    );
    let error = read_text(&with(&long)).expect_err("a million kinds for four layers");
    assert!(error.message(Lang::En).contains("layer_types"), "{error}");
    let twice = read_text(&with("\"num_hidden_layers\":400,")).expect("read");
    assert_eq!(twice.shape.layers, 400);
    for bytes in [
        &b"GGUF"[..],
        b"GGUF\x03\0\0\0",
        b"GGUF\xff\xff\xff\xff",
        b"\xff\xff\xff\xff\xff\xff\xff\xff{",
        b"\x10\0\0\0\0\0\0\0{\"a\":{\"dtype\"",
        b"PK\x03\x04",
        b"",
        b"\0",
    ] {
        let error = read_bytes(bytes).expect_err("no model");
        assert!(!error.message(Lang::En).is_empty());
    }
    assert!(started.elapsed() < Duration::from_secs(20));
}
