//! Models that people bring: published configurations give their cards' counts, damaged ones a
//! message that names the field.

#![allow(clippy::expect_used, clippy::panic, reason = "tests may end")]

use std::sync::OnceLock;

use cardfit::bring::{BringErrorKind as Kind, Brought, Note, Origin, read_bytes, read_text};
use cardfit::catalog::Catalog;
use cardfit::dtype::WeightFormat;
use cardfit::scenario::{ModelChoice, Scenario, parse, to_query};
use cardfit::text::Lang;
use proptest::prelude::*;
use serde_json::Value;

/// A published configuration: the fields that matter, and what the model's card says.
struct Published {
    name: String,
    total: f64,
    /// What the card counts: `all`, the `text` model without towers, or `effective`, without
    /// anything that a token of text does not pass.
    part: String,
    active: Option<(f64, String)>,
    config: String,
}

fn published() -> &'static [Published] {
    static ALL: OnceLock<Vec<Published>> = OnceLock::new();
    ALL.get_or_init(read_published)
}

fn read_published() -> Vec<Published> {
    let all: Vec<Value> = serde_json::from_str(include_str!("bring/configs.json")).expect("a list");
    all.iter()
        .map(|one| Published {
            name: one["name"].as_str().expect("a name").to_owned(),
            total: one["total"].as_f64().expect("a count"),
            part: one["part"].as_str().expect("a word").to_owned(),
            active: one["active"].as_f64().map(|active| {
                (
                    active,
                    one["active_counts"].as_str().expect("a word").to_owned(),
                )
            }),
            config: one["config"].to_string(),
        })
        .collect()
}

/// Configurations whose count is more than 1 % off their card's figure, and why.
const EXCEPTIONS: [(&str, &str); 3] = [
    (
        "DeepSeek-V4-Pro",
        "the card says 1.6T, a figure of two digits; 1.57T is counted",
    ),
    (
        "Laguna-XS.2-FP8",
        "the card says 33B, a figure of two digits; 33.4B is counted",
    ),
    (
        "gemma-4-E4B",
        "the card's 4.5 B effective leave the blocks' own inputs out",
    ),
];

/// Mixtures whose active count is more than 2 % and half of a digit off their card's figure, and why.
const ACTIVE_EXCEPTIONS: [(&str, &str); 3] = [
    (
        "LFM2-8B-A1B",
        "1.5 B on the card; 1.56 B with the output head, 1.42 B without",
    ),
    (
        "MiniMax-M3",
        "23 B on the card; 23.50 B with the indexers of sparse attention",
    ),
    (
        "DeepSeek-V2-Lite",
        "2.4 B on the card; 2.45 B with the output head, 2.24 B without",
    ),
];

/// Half of the last digit of a figure as a card writes it: 0.5 for 23 B, 0.05 for 3.3 B.
fn half_a_digit(active: f64) -> f64 {
    let billions = active / 1e9;
    if (billions - billions.round()).abs() < 1e-9 {
        0.5e9
    } else {
        0.05e9
    }
}

fn tower(model: &Brought) -> u64 {
    let towers = model.notes.iter().filter_map(|note| match note {
        Note::Tower(params) => Some(*params),
        _ => None,
    });
    towers.sum()
}

#[test]
fn published_configurations_give_the_counts_of_their_cards() {
    let all = published();
    assert!(all.len() >= 60, "{}", all.len());
    let mut wrong = Vec::new();
    for one in all {
        let model = read_text(&one.config).unwrap_or_else(|e| panic!("{}: {e}", one.name));
        let mut counted = model.shape.params() as f64;
        match one.part.as_str() {
            "text" => counted -= tower(&model) as f64,
            "effective" => counted -= model.shape.aside_params as f64,
            _ => {}
        }
        let off = (counted / one.total - 1.0).abs();
        let listed = EXCEPTIONS.iter().any(|(name, _)| *name == one.name);
        if (off > 0.01) != listed {
            wrong.push(format!(
                "{}: counted {counted:.4e}, card {:.4e}, {:.2} % off",
                one.name,
                one.total,
                100.0 * off
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mixtures_give_the_active_counts_of_their_cards() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for one in published() {
        let Some((active, counts)) = &one.active else {
            continue;
        };
        let model = read_text(&one.config).unwrap_or_else(|e| panic!("{}: {e}", one.name));
        let table = model.shape.embedding_params() as f64;
        let with_head = model.shape.active_params() as f64;
        // Makers count no table, the output head, or both tables.
        let counted = match counts.as_str() {
            "no_tables" => with_head - table,
            "head" => with_head,
            "both_tables" => with_head + table,
            other => panic!("{other}"),
        };
        compared += 1;
        let off = (counted / active - 1.0).abs();
        // A card's figure is as exact as it is written.
        let wide = off > 0.02 && (counted - active).abs() > half_a_digit(*active);
        let listed = ACTIVE_EXCEPTIONS.iter().any(|(name, _)| *name == one.name);
        if wide != listed {
            wrong.push(format!(
                "{}: counted {:.3} (no tables {:.3}, head {:.3}, both {:.3}), card {:.3}, {:.2} % off",
                one.name,
                counted / 1e9,
                (with_head - table) / 1e9,
                with_head / 1e9,
                (with_head + table) / 1e9,
                active / 1e9,
                100.0 * off
            ));
        }
    }
    assert!(compared >= 20, "{compared}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A small complete configuration with one field replaced.
fn with(field: &str, value: &str) -> String {
    let mut fields = vec![
        ("model_type", "\"llama\"".to_owned()),
        ("num_hidden_layers", "32".to_owned()),
        ("hidden_size", "4096".to_owned()),
        ("num_attention_heads", "32".to_owned()),
        ("num_key_value_heads", "8".to_owned()),
        ("intermediate_size", "14336".to_owned()),
        ("vocab_size", "128256".to_owned()),
        ("tie_word_embeddings", "false".to_owned()),
        ("torch_dtype", "\"bfloat16\"".to_owned()),
        ("max_position_embeddings", "131072".to_owned()),
    ];
    fields.retain(|(name, _)| *name != field);
    if !value.is_empty() {
        fields.push((field, value.to_owned()));
    }
    let written: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    format!("{{{}}}", written.join(", "))
}

fn read(config: &str) -> Brought {
    read_text(config).unwrap_or_else(|e| panic!("{config}: {e}"))
}

#[test]
fn what_was_read_worked_out_and_assumed_is_said_field_by_field() {
    let whole = read(&with("", ""));
    assert_eq!(whole.shape.params(), 8_030_261_248);
    assert_eq!(whole.weights, Some(WeightFormat::Bf16));
    assert_eq!(whole.max_context, Some(131_072));
    let field = |model: &Brought, param: &str| {
        let field = model.fields.iter().find(|f| f.param == param);
        let field = field.unwrap_or_else(|| panic!("no {param}"));
        (field.value.clone(), field.origin, field.key.clone())
    };
    assert_eq!(
        field(&whole, "layers"),
        ("32".into(), Origin::Read, "num_hidden_layers".into())
    );
    assert_eq!(field(&whole, "hd").1, Origin::Worked);
    let without = read(&with("vocab_size", ""));
    assert_eq!(
        field(&without, "vocab"),
        ("32000".into(), Origin::Assumed, "vocab_size".into())
    );
    let unknown = read(&with("model_type", "\"never_seen\""));
    assert!(
        unknown
            .notes
            .contains(&Note::UnknownKind("never_seen".into()))
    );
    assert_eq!(unknown.shape, whole.shape);
}

#[test]
fn a_brought_model_goes_through_a_link() {
    for one in published() {
        let model = read(&one.config);
        let scenario = Scenario {
            model: ModelChoice::Custom(Box::new(model.shape.clone())),
            ..Scenario::default()
        };
        let link = to_query(&scenario);
        assert!(link.len() < 1000, "{}: {link}", one.name);
        let back = parse(&link, Catalog::embedded());
        assert!(
            back.problems.is_empty(),
            "{}: {:?}",
            one.name,
            back.problems
        );
        assert_eq!(back.scenario.model, scenario.model, "{}: {link}", one.name);
    }
}

#[test]
fn a_bad_field_is_named() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for (config, kind, field) in [
        (
            with("num_hidden_layers", ""),
            Kind::Missing,
            "num_hidden_layers",
        ),
        (with("hidden_size", ""), Kind::Missing, "hidden_size"),
        (
            with("hidden_size", "\"4096\""),
            Kind::WrongType,
            "hidden_size",
        ),
        (
            with("hidden_size", "[4096]"),
            Kind::WrongType,
            "hidden_size",
        ),
        (
            with("num_hidden_layers", "-3"),
            Kind::TooSmall,
            "num_hidden_layers",
        ),
        (
            with("num_hidden_layers", "1e300"),
            Kind::TooLarge,
            "num_hidden_layers",
        ),
        (with("vocab_size", "0"), Kind::TooSmall, "vocab_size"),
        (
            with("intermediate_size", "12.5"),
            Kind::NotWhole,
            "intermediate_size",
        ),
        (
            with("num_attention_heads", "{}"),
            Kind::WrongType,
            "num_attention_heads",
        ),
        (
            with("num_key_value_heads", "5"),
            Kind::Conflict,
            "num_key_value_heads",
        ),
        (
            with("tie_word_embeddings", "\"no\""),
            Kind::WrongType,
            "tie_word_embeddings",
        ),
        (
            with("layer_types", "[\"full_attention\"]"),
            Kind::ListLength,
            "layer_types",
        ),
        (
            with("layer_types", &format!("[{}]", ["\"magic\""; 32].join(","))),
            Kind::UnknownWord,
            "layer_types[0]",
        ),
        (
            with("sliding_window", "-4"),
            Kind::TooSmall,
            "sliding_window",
        ),
        (
            with("text_config", "{\"hidden_size\": \"x\"}"),
            Kind::WrongType,
            "text_config.hidden_size",
        ),
        (deep, Kind::NotJson, ""),
        ("{\"hidden_size\": 4096".to_owned(), Kind::Unfinished, ""),
        ("[1, 2]".to_owned(), Kind::NotAnObject, ""),
        ("<html>".to_owned(), Kind::NotJson, ""),
        (String::new(), Kind::NotJson, ""),
        (
            "{\"weight_map\": {}, \"metadata\": {}}".to_owned(),
            Kind::Missing,
            "metadata.total_size",
        ),
        (
            "{\"weight_map\": {\"a\": \"b\"}, \"metadata\": {\"total_size\": \"big\"}}".to_owned(),
            Kind::WrongType,
            "metadata.total_size",
        ),
    ] {
        let shown: String = config.chars().take(200).collect();
        let error = match read_text(&config) {
            // A window of a kind that has none is not looked at.
            Ok(_) if field == "sliding_window" => continue,
            Ok(model) => panic!("{shown}: {model:?}"),
            Err(error) => error,
        };
        assert_eq!((error.kind, error.field.as_str()), (kind, field), "{shown}");
        for lang in Lang::ALL {
            let message = error.message(lang);
            assert!(message.contains(field), "{message}");
            assert!(!message.contains('{') || field.is_empty(), "{message}");
        }
    }
}

#[test]
fn a_hundred_megabytes_are_refused_at_once() {
    let huge = format!("{{\"hidden_size\": \"{}\"}}", "x".repeat(100 << 20));
    let begun = std::time::Instant::now();
    let error = read_text(&huge).expect_err("too long");
    assert_eq!(error.kind, Kind::TooLong);
    assert!(begun.elapsed().as_millis() < 200, "{:?}", begun.elapsed());
}

#[test]
fn quantisation_is_read() {
    for (config, format) in [
        ("{\"quant_method\": \"fp8\"}", Some(WeightFormat::Fp8)),
        (
            "{\"quant_method\": \"awq\", \"bits\": 4}",
            Some(WeightFormat::Awq4),
        ),
        (
            "{\"quant_method\": \"gptq\", \"bits\": 8}",
            Some(WeightFormat::Gptq8),
        ),
        ("{\"quant_method\": \"mxfp4\"}", Some(WeightFormat::Mxfp4)),
        (
            "{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true}",
            Some(WeightFormat::Nf4),
        ),
        (
            "{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": \
             {\"weights\": {\"num_bits\": 4, \"type\": \"int\", \"group_size\": 128}}}}",
            Some(WeightFormat::Gptq4),
        ),
        (
            "{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": \
             {\"weights\": {\"num_bits\": 8, \"type\": \"float\"}}}}",
            Some(WeightFormat::Fp8),
        ),
        (
            "{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}",
            Some(WeightFormat::Nvfp4),
        ),
        // Not known: the stated dtype, and a note.
        ("{\"quant_method\": \"aqlm\"}", Some(WeightFormat::Bf16)),
    ] {
        let model = read(&with("quantization_config", config));
        assert_eq!(model.weights, format, "{config}");
        let noted = model
            .notes
            .iter()
            .any(|n| matches!(n, Note::UnknownFormat(_)));
        assert_eq!(noted, config.contains("aqlm"), "{config}");
    }
}

#[test]
fn an_index_gives_the_size_and_says_what_it_does_not_know() {
    let mut names = vec!["\"lm_head.weight\": \"a\"".to_owned()];
    for layer in 0..32 {
        names.push(format!(
            "\"model.layers.{layer}.mlp.up_proj.weight\": \"a\""
        ));
    }
    // Llama 3 8B in 16 bit.
    let index = format!(
        "{{\"metadata\": {{\"total_size\": 16060522496}}, \"weight_map\": {{{}}}}}",
        names.join(",")
    );
    let model = read(&index);
    assert_eq!(model.weight_bytes, Some(16_060_522_496));
    assert_eq!(model.shape.layers, 32);
    let off = model.shape.params() as f64 / 8.030e9 - 1.0;
    assert!(off.abs() < 0.01, "{off}");
    assert!(
        model
            .fields
            .iter()
            .any(|f| f.origin == Origin::Assumed && f.key == "hidden_size")
    );
}

#[test]
fn a_safetensors_header_gives_every_parameter() {
    let mut tensors = vec![
        tensor("model.embed_tokens.weight", &[151_936, 1024]),
        tensor("model.norm.weight", &[1024]),
    ];
    for layer in 0..28 {
        let name = |part: &str| format!("model.layers.{layer}.{part}.weight");
        for (part, dims) in [
            ("self_attn.q_proj", &[2048, 1024][..]),
            ("self_attn.k_proj", &[1024, 1024]),
            ("self_attn.v_proj", &[1024, 1024]),
            ("self_attn.o_proj", &[1024, 2048]),
            ("self_attn.q_norm", &[128]),
            ("self_attn.k_norm", &[128]),
            ("mlp.gate_proj", &[3072, 1024]),
            ("mlp.up_proj", &[3072, 1024]),
            ("mlp.down_proj", &[1024, 3072]),
            ("input_layernorm", &[1024]),
            ("post_attention_layernorm", &[1024]),
        ] {
            tensors.push(tensor(&name(part), dims));
        }
    }
    let header = format!("{{{}}}", tensors.join(","));
    let model = read(&header);
    // Qwen3 0.6B.
    assert_eq!(model.shape.params(), 596_049_920);
    assert_eq!(model.weights, Some(WeightFormat::Bf16));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    assert_eq!(
        read_bytes(&file).as_ref().map(|m| &m.shape),
        Ok(&model.shape)
    );
    let error = read_bytes(&file[..500]).expect_err("cut off");
    assert_eq!(error.kind, Kind::Truncated);
}

fn tensor(name: &str, dims: &[u64]) -> String {
    format!("\"{name}\": {{\"dtype\": \"BF16\", \"shape\": {dims:?}, \"data_offsets\": [0, 0]}}")
}

proptest! {
    #[test]
    fn no_number_in_a_configuration_ends_in_a_panic(
        which in 0_usize..108,
        field in any::<proptest::sample::Index>(),
        value in prop_oneof![
            Just("null".to_owned()),
            Just("[]".to_owned()),
            Just("\"\"".to_owned()),
            Just("{}".to_owned()),
            any::<i64>().prop_map(|n| n.to_string()),
            (0_u32..200_000).prop_map(|n| n.to_string()),
            any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(|n| format!("{n:e}")),
        ],
    ) {
        let all = published();
        let one = &all[which % all.len()];
        let mut config: Value = serde_json::from_str(&one.config).expect("JSON");
        let value: Value = serde_json::from_str(&value).expect("JSON");
        if let Some(inner) = config.as_object_mut() {
            let keys: Vec<String> = inner.keys().cloned().collect();
            let key = field.get(&keys);
            match inner.get_mut(key) {
                Some(Value::Object(nested)) if !nested.is_empty() => {
                    let keys: Vec<String> = nested.keys().cloned().collect();
                    nested.insert(field.get(&keys).clone(), value);
                }
                _ => {
                    inner.insert(key.clone(), value);
                }
            }
        }
        if let Ok(model) = read_text(&config.to_string()) {
            let _ = model.shape.params();
            let _ = model.shape.kv_elements(1_000_000);
        }
    }
}

#[test]
fn a_pair_is_a_decoder_with_its_encoder_aside() {
    let published = published();
    let config = |name: &str| {
        let one = published.iter().find(|one| one.name == name);
        &one.unwrap_or_else(|| panic!("no {name}")).config
    };
    let flan = read(config("flan-t5-xl"));
    // By hand: 24 blocks of 4 x 2048^2 and 3 x 2048 x 5120, two norms, 32 x 32 distances, a norm.
    let encoder = 24 * (4 * 2048 * 2048 + 3 * 2048 * 5120 + 2 * 2048) + 32 * 32 + 2048;
    assert!(flan.notes.contains(&Note::EncoderDecoder(encoder)));
    assert_eq!(flan.shape.aside_params, encoder);
    // A decoder's block has a second attention and a norm before it.
    assert_eq!(
        flan.shape.extra_params,
        24 * (4 * 2048 * 2048 + 2048) + 32 * 32
    );
    // Keys and values of the prompt (of the encoder's output) and of the answer, once each.
    assert_eq!(flan.shape.kv_elements(1), 24 * 2 * 2048);
    // One in the other: two halves, a second attention and two norms in each block.
    let half = "{\"model_type\":\"gemma2\",\"num_hidden_layers\":26,\"hidden_size\":2304,\
                 \"intermediate_size\":9216,\"num_attention_heads\":8,\"num_key_value_heads\":4,\
                 \"head_dim\":256,\"vocab_size\":256000}";
    let alone = read(half).shape.params();
    let both = read(&format!(
        "{{\"model_type\":\"t5gemma\",\"encoder\":{half},\"decoder\":{half}}}"
    ));
    let cross = 26 * (2304 * 256 * (2 * 8 + 2 * 4) + 2 * 2304);
    assert_eq!(both.shape.params(), 2 * alone + cross);
    // A field of one half is named with the half.
    let wrong = half.replace("26", "\"26\"");
    let error = read_text(&format!(
        "{{\"model_type\":\"t5gemma\",\"encoder\":{half},\"decoder\":{wrong}}}"
    ));
    assert_eq!(
        error.expect_err("a text").field,
        "decoder.num_hidden_layers"
    );
    let missing = read_text("{\"model_type\":\"bart\",\"d_model\":1024}");
    assert_eq!(missing.expect_err("no layers").field, "encoder_layers");
}

#[test]
fn what_writes_no_text_is_refused_by_name() {
    for (config, field) in [
        (
            "{\"model_type\":\"vit\",\"hidden_size\":768,\"num_hidden_layers\":12}",
            "model_type",
        ),
        (
            "{\"model_type\":\"wav2vec2\",\"hidden_size\":768,\"num_hidden_layers\":12}",
            "model_type",
        ),
        (
            "{\"_class_name\":\"UNet2DConditionModel\",\"sample_size\":64}",
            "_class_name",
        ),
    ] {
        let error = read_text(config).expect_err("no language model");
        assert_eq!(
            (error.kind, error.field.as_str()),
            (Kind::NotLanguage, field)
        );
        for lang in [Lang::En, Lang::ZhCn] {
            assert!(error.message(lang).contains(field));
        }
    }
}

/// Types and places are said in the reader's language, not in that of the parser.
#[test]
fn errors_are_whole_sentences_in_both_languages() {
    let word = read_text("{\"model_type\":\"llama\",\"num_hidden_layers\":\"thirty\"}");
    let word = word.expect_err("a word for a number");
    assert!(word.message(Lang::ZhCn).contains("应为数字"));
    assert!(word.message(Lang::En).contains("must be a number"));
    let list = read_text("[1, 2]").expect_err("a list");
    assert!(list.message(Lang::ZhCn).contains("列表"));
    let cut = read_text("{\"hidden_size\": 4096,").expect_err("half a file");
    for (lang, said) in [(Lang::ZhCn, "不完整"), (Lang::En, "breaks off")] {
        let message = cut.message(lang);
        assert!(
            message.contains(said) && !message.contains("EOF"),
            "{message}"
        );
    }
}
