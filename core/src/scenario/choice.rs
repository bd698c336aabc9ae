//! Names of enum values in links, JSON and texts.
//!
//! A name once given stays: links in the world use it. New spellings are added as aliases.

use super::{
    DiffusionMethod, Engine, Grain, Optimizer, PipelineOffload, PriceMarket, RankBy, Runtime,
    SpeechEngine, TrainingMethod, TrainingPrecision,
};
use crate::catalog::{Billing, Currency, FloatPrecision, Medium, NetworkTask, Subject};
use crate::dtype::{KvFormat, WeightFormat};
use crate::plan::{Offload, Recompute, Sharding};

/// A value picked from a short list.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value, in the order in which it is offered.
    const ALL: &'static [Self];

    /// The name in links, lower case.
    fn name(self) -> &'static str;

    /// Other spellings that are understood.
    fn aliases(self) -> &'static [&'static str];

    /// Key of the text that is shown.
    fn label_key(self) -> &'static str;

    /// The value of a name or alias; case, spaces, dots, dashes and underscores do not matter.
    fn from_name(name: &str) -> Option<Self> {
        let wanted = bare(name);
        Self::ALL.iter().copied().find(|value| {
            bare(value.name()) == wanted || value.aliases().iter().any(|a| bare(a) == wanted)
        })
    }
}

/// A name as it is compared.
fn bare(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, ' ' | '.' | '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Implements [`Choice`] with one line a value: `Variant "name" "label suffix" [aliases]`.
/// The match has no other arm, so a variant that is left out does not compile.
macro_rules! choices {
    ($type:ty, $group:literal, $($variant:ident $name:literal $key:literal [$($alias:literal),*])+) => {
        impl Choice for $type {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            fn aliases(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($alias),*]),+ }
            }

            fn label_key(self) -> &'static str {
                match self { $(Self::$variant => concat!("enum.", $group, ".", $key)),+ }
            }
        }
    };
}

/// What is done with the model, as one word in a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// One of the ways to train.
    Train(TrainingMethod),
    /// Answering requests.
    Serve,
    /// Making images.
    Image,
    /// Making clips.
    Video,
    /// One of the ways to train an image or video model.
    TuneDiffusion(DiffusionMethod),
    /// Training a vision network or an encoder.
    TrainNetwork,
    /// Running a vision network or an encoder over data.
    RunNetwork,
    /// Turning speech into text.
    Transcribe,
    /// Scientific computing.
    Compute,
}

/// Kinds of things that can be run: each job is about one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubjectKind {
    /// Language models.
    Language,
    /// Image models.
    Image,
    /// Video models.
    Video,
    /// Vision networks and encoders.
    Network,
    /// Speech recognisers.
    Speech,
    /// Kinds of scientific computing.
    Workload,
}

impl SubjectKind {
    /// The kind of a thing of the catalog.
    pub fn of(subject: Subject<'_>) -> Self {
        match subject {
            Subject::Language(_) => Self::Language,
            Subject::Diffusion(m) if m.medium == Medium::Video => Self::Video,
            Subject::Diffusion(_) => Self::Image,
            Subject::Network(n) if n.task == NetworkTask::Speech => Self::Speech,
            Subject::Network(_) => Self::Network,
            Subject::Workload(_) => Self::Workload,
        }
    }

    /// What is usually done with one.
    pub fn usual_job(self) -> JobKind {
        match self {
            Self::Language => JobKind::Train(TrainingMethod::Lora),
            Self::Image => JobKind::Image,
            Self::Video => JobKind::Video,
            Self::Network => JobKind::RunNetwork,
            Self::Speech => JobKind::Transcribe,
            Self::Workload => JobKind::Compute,
        }
    }
}

impl JobKind {
    /// Whether it is about such a thing.
    pub fn is_about(self, kind: SubjectKind) -> bool {
        match self {
            Self::Train(_) | Self::Serve => kind == SubjectKind::Language,
            Self::Image => kind == SubjectKind::Image,
            Self::Video => kind == SubjectKind::Video,
            Self::TuneDiffusion(_) => matches!(kind, SubjectKind::Image | SubjectKind::Video),
            Self::TrainNetwork => matches!(kind, SubjectKind::Network | SubjectKind::Speech),
            Self::RunNetwork => kind == SubjectKind::Network,
            Self::Transcribe => kind == SubjectKind::Speech,
            Self::Compute => kind == SubjectKind::Workload,
        }
    }

    /// The same wish said of another kind of thing, where people use one word for both: LoRA of
    /// an image model, inference of a vision network.
    #[must_use]
    pub fn meant_for(self, kind: SubjectKind) -> Self {
        use DiffusionMethod as D;
        use SubjectKind as K;
        use TrainingMethod as T;
        match (self, kind) {
            (Self::Train(T::Lora | T::Qlora), K::Image | K::Video) => Self::TuneDiffusion(D::Lora),
            (Self::Train(_), K::Image | K::Video) => Self::TuneDiffusion(D::Dreambooth),
            (Self::Serve | Self::Video, K::Image) => Self::Image,
            (Self::Serve | Self::Image, K::Video) => Self::Video,
            (Self::Train(_), K::Network | K::Speech) => Self::TrainNetwork,
            (Self::Serve | Self::Transcribe, K::Network) => Self::RunNetwork,
            (Self::Serve | Self::RunNetwork, K::Speech) => Self::Transcribe,
            _ => self,
        }
    }
}

impl Choice for JobKind {
    const ALL: &'static [Self] = &[
        Self::Train(TrainingMethod::Pretrain),
        Self::Train(TrainingMethod::FullFinetune),
        Self::Train(TrainingMethod::Lora),
        Self::Train(TrainingMethod::Qlora),
        Self::Serve,
        Self::Image,
        Self::Video,
        Self::TuneDiffusion(DiffusionMethod::Lora),
        Self::TuneDiffusion(DiffusionMethod::Dreambooth),
        Self::TrainNetwork,
        Self::RunNetwork,
        Self::Transcribe,
        Self::Compute,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Train(method) => method.name(),
            Self::Serve => "serve",
            Self::Image => "image",
            Self::Video => "video",
            Self::TuneDiffusion(method) => method.name(),
            Self::TrainNetwork => "vision-train",
            Self::RunNetwork => "vision-infer",
            Self::Transcribe => "transcribe",
            Self::Compute => "science",
        }
    }

    fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Train(method) => method.aliases(),
            Self::Serve => &["serving", "inference", "infer", "推理"],
            Self::Image => &["images", "text-to-image", "txt2img", "文生图"],
            Self::Video => &["videos", "text-to-video", "txt2video", "文生视频"],
            Self::TuneDiffusion(method) => method.aliases(),
            Self::TrainNetwork => &["train", "encoder-train", "训练"],
            Self::RunNetwork => &["encode", "embed", "detect", "segment", "classify"],
            Self::Transcribe => &["asr", "speech", "转写"],
            Self::Compute => &["hpc", "compute", "科学计算"],
        }
    }

    fn label_key(self) -> &'static str {
        match self {
            Self::Train(method) => method.label_key(),
            Self::Serve => "enum.method.serve",
            Self::Image => "enum.method.image",
            Self::Video => "enum.method.video",
            Self::TuneDiffusion(method) => method.label_key(),
            Self::TrainNetwork => "enum.method.vision_train",
            Self::RunNetwork => "enum.method.vision_infer",
            Self::Transcribe => "enum.method.transcribe",
            Self::Compute => "enum.method.science",
        }
    }
}

choices! { TrainingMethod, "method",
    Pretrain "pretrain" "pretrain" ["pretraining", "预训练"]
    FullFinetune "full" "full" ["full_finetune", "fullft", "sft", "全参微调"]
    Lora "lora" "lora" []
    Qlora "qlora" "qlora" []
}

choices! { DiffusionMethod, "method",
    Lora "diffusion-lora" "diffusion_lora" ["image-lora", "video-lora"]
    Dreambooth "dreambooth" "dreambooth" ["diffusion-full"]
}

choices! { PipelineOffload, "pipeline_offload",
    None "none" "none" ["no", "off"]
    Model "model" "model" ["model_cpu_offload"]
    Sequential "sequential" "sequential" ["sequential_cpu_offload"]
}

choices! { Runtime, "runtime",
    Eager "eager" "eager" ["pytorch"]
    Compiled "compiled" "compiled" ["compile", "torch.compile"]
    Tensorrt "tensorrt" "tensorrt" ["trt"]
}

choices! { SpeechEngine, "speech_engine",
    FasterWhisper "faster-whisper" "faster_whisper" ["ctranslate2"]
    OpenaiWhisper "openai-whisper" "openai_whisper" ["openai"]
}

choices! { FloatPrecision, "float_precision",
    Fp64 "fp64" "fp64" ["double"]
    Fp32 "fp32" "fp32" ["single", "float"]
}

choices! { TrainingPrecision, "precision",
    Bf16 "bf16" "bf16" ["mixed"]
    Fp16 "fp16" "fp16" []
    PureBf16 "pure-bf16" "pure_bf16" ["bf16-pure"]
    Fp8 "fp8" "fp8" []
    Fp32 "fp32" "fp32" ["tf32"]
}

choices! { Optimizer, "optimizer",
    Adamw "adamw" "adamw" ["adam"]
    Adamw8bit "adamw-8bit" "adamw_8bit" ["adam8bit"]
    PagedAdamw8bit "paged-adamw-8bit" "paged_adamw_8bit" []
    Adafactor "adafactor" "adafactor" []
    Sgd "sgd" "sgd" []
    SgdMomentum "sgd-momentum" "sgd_momentum" []
    Muon "muon" "muon" []
    Lion "lion" "lion" []
}

choices! { Recompute, "recompute",
    None "none" "none" ["no", "off"]
    Selective "selective" "selective" []
    Full "full" "full" ["yes", "on"]
}

choices! { Sharding, "sharding",
    None "none" "none" ["ddp", "no"]
    Zero1 "zero1" "zero1" []
    Zero2 "zero2" "zero2" []
    Zero3 "zero3" "zero3" ["fsdp"]
    Hybrid "hybrid" "hybrid" ["hsdp"]
}

choices! { Offload, "offload",
    None "none" "none" ["no", "off"]
    Optimizer "optimizer" "optimizer" []
    All "all" "all" []
}

choices! { WeightFormat, "weights",
    Bf16 "bf16" "bf16" []
    Fp16 "fp16" "fp16" ["f16"]
    Fp32 "fp32" "fp32" ["f32"]
    Fp8 "fp8" "fp8" []
    Int8 "int8" "int8" ["w8a8"]
    Gptq8 "gptq8" "gptq8" ["gptqint8"]
    Gptq4 "gptq4" "gptq4" ["gptq", "int4", "gptqint4", "w4a16"]
    Awq4 "awq4" "awq4" ["awq"]
    Nf4 "nf4" "nf4" ["bnb4"]
    Mxfp4 "mxfp4" "mxfp4" []
    Nvfp4 "nvfp4" "nvfp4" ["fp4"]
    Q8_0 "q8_0" "q8_0" []
    Q6K "q6_k" "q6_k" []
    Q5KM "q5_k_m" "q5_k_m" []
    Q5KS "q5_k_s" "q5_k_s" []
    Q5_1 "q5_1" "q5_1" []
    Q5_0 "q5_0" "q5_0" []
    Q4KM "q4_k_m" "q4_k_m" ["gguf"]
    Q4KS "q4_k_s" "q4_k_s" []
    Q4_1 "q4_1" "q4_1" []
    Q4_0 "q4_0" "q4_0" []
    Iq4Nl "iq4_nl" "iq4_nl" []
    Iq4Xs "iq4_xs" "iq4_xs" []
    Q3KL "q3_k_l" "q3_k_l" []
    Q3KM "q3_k_m" "q3_k_m" []
    Q3KS "q3_k_s" "q3_k_s" []
    Iq3M "iq3_m" "iq3_m" []
    Iq3S "iq3_s" "iq3_s" []
    Iq3Xs "iq3_xs" "iq3_xs" []
    Iq3Xxs "iq3_xxs" "iq3_xxs" []
    Iq2M "iq2_m" "iq2_m" []
    Iq2S "iq2_s" "iq2_s" []
    Q2K "q2_k" "q2_k" []
    Iq2Xs "iq2_xs" "iq2_xs" []
    Iq2Xxs "iq2_xxs" "iq2_xxs" []
    Iq1M "iq1_m" "iq1_m" []
    Iq1S "iq1_s" "iq1_s" []
}

choices! { KvFormat, "kv",
    Bits16 "16bit" "16bit" ["bits16", "16", "fp16", "bf16", "f16"]
    Bits8 "8bit" "8bit" ["bits8", "8", "fp8", "int8", "q8_0"]
    Bits4 "4bit" "4bit" ["bits4", "4", "int4", "q4_0"]
    Fp32 "fp32" "fp32" ["32", "32bit", "f32"]
}

choices! { Engine, "engine",
    Vllm "vllm" "vllm" []
    Sglang "sglang" "sglang" []
    TensorrtLlm "tensorrt-llm" "tensorrt_llm" ["trtllm"]
    LlamaCpp "llama.cpp" "llama_cpp" ["ollama"]
    Transformers "transformers" "transformers" ["hf"]
    Exllama "exllama" "exllama" []
    Exllamav2 "exllamav2" "exllamav2" []
    MlcLlm "mlc-llm" "mlc_llm" ["mlc"]
    DeepspeedMii "deepspeed-mii" "deepspeed_mii" ["mii"]
    Fastertransformer "fastertransformer" "fastertransformer" []
    Mindie "mindie" "mindie" []
    VllmAscend "vllm-ascend" "vllm_ascend" []
}

choices! { Billing, "billing",
    OnDemand "on-demand" "on_demand" ["hourly", "按量"]
    Spot "spot" "spot" ["竞价"]
    Daily "daily" "daily" ["day", "包日"]
    Weekly "weekly" "weekly" ["week", "包周"]
    Monthly "monthly" "monthly" ["month", "包月"]
    Yearly "yearly" "yearly" ["year"]
    Reserved1y "reserved-1y" "reserved_1y" ["1y", "包年"]
    Reserved3y "reserved-3y" "reserved_3y" ["3y"]
}

choices! { Currency, "currency",
    Cny "cny" "cny" ["rmb", "yuan", "元", "人民币"]
    Usd "usd" "usd" ["dollar", "美元"]
    Eur "eur" "eur" ["euro", "欧元"]
}

choices! { PriceMarket, "market",
    China "cn" "china" ["china", "中国", "国内"]
    Abroad "intl" "abroad" ["abroad", "海外"]
    Anywhere "any" "anywhere" ["all", "anywhere", "全部"]
}

choices! { Grain, "grain",
    Second "second" "second" ["s", "秒"]
    Minute "minute" "minute" ["min", "分钟"]
    Hour "hour" "hour" ["h", "小时"]
}

choices! { RankBy, "rank",
    Cheapest "cheapest" "cheapest" ["cost", "price"]
    Fastest "fastest" "fastest" ["speed", "time"]
    BestValue "value" "value" ["best_value"]
}
