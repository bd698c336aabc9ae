//! What a kind of model (`model_type`) is known for where its configuration says nothing: whether
//! its network is gated, its tables tied, which biases it has, and what its class in Transformers
//! takes for a field that is left out.

/// A kind of model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kind {
    /// The kind is known.
    pub known: bool,
    /// Three matrices in a feed-forward network; `None`: by the activation's name.
    pub gated: Option<bool>,
    /// The output head shares the embedding's weights where nothing is said.
    pub tied: bool,
    /// Biases of queries, keys and values where nothing is said.
    pub qkv_bias: bool,
    /// Biases of every matrix of a block, and of norms.
    pub all_biases: bool,
    /// Learned positions.
    pub positions: Positions,
    /// Norms of a block beyond two.
    pub more_norms: u32,
    /// Norms of queries and keys.
    pub qk_norm: bool,
    /// What the class takes for fields that are left out.
    pub class: Option<Class>,
}

/// Learned positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Positions {
    /// None.
    None,
    /// A row a position, and so many more.
    Learned(u32),
}

/// Defaults of a class in Transformers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class {
    pub layers: u32,
    pub hidden: u32,
    pub ffn: u32,
    pub heads: u32,
    pub kv_heads: u32,
    /// 0: `hidden / heads`.
    pub head_dim: u32,
    pub vocab: u32,
}

const fn class(dims: [u32; 7]) -> Option<Class> {
    let [layers, hidden, ffn, heads, kv_heads, head_dim, vocab] = dims;
    Some(Class {
        layers,
        hidden,
        ffn,
        heads,
        kv_heads,
        head_dim,
        vocab,
    })
}

const GATED: Kind = Kind {
    known: true,
    gated: Some(true),
    tied: false,
    qkv_bias: false,
    all_biases: false,
    positions: Positions::None,
    more_norms: 0,
    qk_norm: false,
    class: None,
};

const PLAIN: Kind = Kind {
    gated: Some(false),
    tied: true,
    ..GATED
};

impl Kind {
    /// The kind of that `model_type`, without `_text` and the like.
    pub fn of(model_type: &str) -> Self {
        let base = model_type
            .trim_end_matches("_text")
            .trim_end_matches("_language");
        match base {
            "llama" | "llava" | "yi" | "smollm3" | "seed_oss" | "xverse" | "aquila" | "solar"
            | "skywork" | "deepseek" | "dbrx" | "internlm3" | "minicpm" | "minicpm3"
            | "ernie4_5" | "ernie4_5_moe" | "hunyuan" | "hunyuan_v1_dense" | "hunyuan_v1_moe"
            | "hy_v3" | "olmo" | "olmoe" | "grok" | "arctic" | "dots1" | "longcat_flash"
            | "bailing_moe" | "bailing_moe_v2" | "granite" | "granitemoe" | "granitemoehybrid"
            | "jamba" | "bamba" | "falcon_h1" | "exaone" | "exaone4" | "mimo" | "mimo_v2_flash"
            | "step3_text" | "step3" | "step3p5" | "step3p7" | "stablelm" | "nemotron-nas"
            | "deci" | "minimax_text_01" | "minimax" | "minimax_m1" | "minimax_m2"
            | "minimax_m3" | "minimax_m3_vl" | "apertus_gated" | "kimi_linear" | "openelm" => {
                Self {
                    tied: matches!(
                        base,
                        "jamba" | "granite" | "granitemoe" | "openelm" | "smollm3"
                    ),
                    qk_norm: matches!(base, "olmoe" | "hunyuan_v1_dense" | "hunyuan_v1_moe"),
                    qkv_bias: base == "seed_oss",
                    class: match base {
                        "llama" | "llava" => class([32, 4096, 11_008, 32, 32, 0, 32_000]),
                        _ => None,
                    },
                    ..GATED
                }
            }
            "mistral" | "mixtral" | "mistral3" | "ministral3" | "ministral" | "pixtral" => Self {
                class: class([32, 4096, 14_336, 32, 8, 0, 32_000]),
                ..GATED
            },
            "qwen2" | "qwen2_moe" | "qwen2_vl" | "qwen2_5_vl" | "qwen2_audio" | "internvl_chat"
            | "qwen2_5_omni" => Self {
                qkv_bias: true,
                class: class([32, 4096, 22_016, 32, 32, 0, 151_936]),
                ..GATED
            },
            "qwen" => Self {
                qkv_bias: true,
                ..GATED
            },
            "qwen3" | "qwen3_moe" | "qwen3_vl" | "qwen3_vl_moe" | "qwen3_next" | "qwen3_5"
            | "qwen3_5_moe" | "qwen3_omni_moe" | "lfm2" | "lfm2_moe" | "lfm3" | "glm4_moe" => {
                Self {
                    qk_norm: base != "glm4_moe",
                    tied: matches!(base, "lfm2" | "lfm2_moe" | "lfm3"),
                    ..GATED
                }
            }
            "deepseek_v2" | "deepseek_v3" | "deepseek_v32" | "deepseek_v4" | "deepseek_ref"
            | "kimi_k2" | "kimi_k25" | "kimi_vl" | "glm_moe_dsa" | "glm4_moe_lite"
            | "deepseek_vl_v2" | "pangu_ultra_moe" | "mistral_large4" | "hy_v4" | "hy_v4_vl"
            | "glm5_next" | "inkling" | "muse_spark" | "solar_open" | "cwm" => GATED,
            "gpt_oss" => Self {
                qkv_bias: true,
                ..GATED
            },
            "llama4" => Self {
                class: class([48, 5120, 8192, 40, 8, 128, 202_048]),
                ..GATED
            },
            "gemma" => Self {
                tied: true,
                class: class([28, 3072, 24_576, 16, 16, 256, 256_000]),
                ..GATED
            },
            "gemma2" => Self {
                tied: true,
                more_norms: 2,
                class: class([26, 2304, 9216, 8, 4, 256, 256_000]),
                ..GATED
            },
            "gemma3" => Self {
                tied: true,
                more_norms: 2,
                qk_norm: true,
                class: class([26, 2304, 9216, 8, 4, 256, 262_208]),
                ..GATED
            },
            "gemma3n" => Self {
                tied: true,
                more_norms: 2,
                qk_norm: true,
                class: class([35, 2048, 16_384, 8, 2, 256, 262_400]),
                ..GATED
            },
            "gemma4" => Self {
                tied: true,
                more_norms: 2,
                qk_norm: true,
                class: class([30, 2304, 9216, 8, 4, 256, 262_144]),
                ..GATED
            },
            "phi3" | "phi3small" | "phi4mm" | "phi4flash" => GATED,
            "phimoe" => Self {
                qkv_bias: true,
                ..GATED
            },
            "baichuan" | "internlm2" => GATED,
            "internlm" => Self {
                qkv_bias: true,
                ..GATED
            },
            "chatglm" => Self {
                qkv_bias: true,
                ..GATED
            },
            "glm" | "glm4" => Self {
                more_norms: if base == "glm4" { 2 } else { 0 },
                ..GATED
            },
            "cohere" | "cohere2" => Self {
                tied: true,
                ..GATED
            },
            "olmo2" | "olmo3" => Self {
                qk_norm: true,
                ..GATED
            },
            "gpt2" | "gpt_bigcode" | "openai-gpt" => Self {
                all_biases: true,
                positions: Positions::Learned(0),
                ..PLAIN
            },
            "gpt_neo" => Self {
                positions: Positions::Learned(0),
                ..PLAIN
            },
            "gpt_neox" => Self {
                tied: false,
                all_biases: true,
                ..PLAIN
            },
            "gptj" | "codegen" => Self {
                tied: false,
                ..PLAIN
            },
            "opt" => Self {
                all_biases: true,
                positions: Positions::Learned(2),
                ..PLAIN
            },
            "bloom" => Self {
                all_biases: true,
                ..PLAIN
            },
            "falcon" | "RefinedWeb" | "RefinedWebModel" | "mpt" => PLAIN,
            "phi" | "persimmon" => Self {
                tied: false,
                all_biases: true,
                ..PLAIN
            },
            "starcoder2" => Self {
                all_biases: true,
                ..PLAIN
            },
            "nemotron" | "arcee" | "apertus" | "nemotron_h" | "nemotron_h_puzzle" => Self {
                tied: false,
                ..PLAIN
            },
            "mamba" | "mamba2" | "falcon_mamba" => Self {
                tied: base != "falcon_mamba",
                ..PLAIN
            },
            "rwkv" | "rwkv5" | "rwkv6" | "rwkv7" => Self {
                tied: false,
                ..PLAIN
            },
            "bert" | "roberta" | "xlm-roberta" | "camembert" | "electra" | "deberta-v2"
            | "distilbert" => Self {
                all_biases: true,
                positions: Positions::Learned(0),
                ..PLAIN
            },
            "modernbert" | "nomic_bert" => Self {
                tied: true,
                ..GATED
            },
            "t5"
            | "mt5"
            | "umt5"
            | "longt5"
            | "switch_transformers"
            | "pop2piano"
            | "bart"
            | "mbart"
            | "plbart"
            | "m2m_100"
            | "nllb-moe"
            | "whisper"
            | "marian"
            | "pegasus"
            | "blenderbot"
            | "blenderbot-small"
            | "speech_to_text"
            | "encoder-decoder"
            | "vision-encoder-decoder"
            | "t5gemma" => PLAIN,
            _ => Self {
                known: false,
                gated: None,
                ..GATED
            },
        }
    }

    /// Whether it sees or hears and knows no tokens.
    pub fn is_other(model_type: &str) -> bool {
        matches!(
            model_type,
            "vit"
                | "deit"
                | "beit"
                | "swin"
                | "swinv2"
                | "resnet"
                | "regnet"
                | "convnext"
                | "convnextv2"
                | "efficientnet"
                | "mobilenet_v1"
                | "mobilenet_v2"
                | "mobilevit"
                | "dinov2"
                | "dinov3_vit"
                | "segformer"
                | "detr"
                | "rt_detr"
                | "rt_detr_v2"
                | "d_fine"
                | "yolos"
                | "maskformer"
                | "mask2former"
                | "sam"
                | "sam2"
                | "clip_vision_model"
                | "siglip_vision_model"
                | "wav2vec2"
                | "wav2vec2-bert"
                | "hubert"
                | "wavlm"
                | "encodec"
                | "dac"
                | "vits"
                | "timm_wrapper"
        )
    }

    /// Whether it reads a text at once and generates none.
    pub fn is_encoder(model_type: &str) -> bool {
        matches!(
            model_type,
            "bert"
                | "distilbert"
                | "roberta"
                | "xlm-roberta"
                | "camembert"
                | "electra"
                | "deberta-v2"
                | "modernbert"
                | "nomic_bert"
        )
    }
}

/// Whether a feed-forward network with that activation usually has a gate.
pub(super) fn is_gated_activation(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["silu", "swish", "swiglu", "glu", "gated"]
        .iter()
        .any(|word| name.contains(word))
}
