//! Launch lines of servers.

use super::{Command, LaunchFile};
use crate::dtype::{KvFormat, WeightFormat};
use crate::offers::Offer;
use crate::plan::ServingPlan;
use crate::scenario::{Engine, Serving};

/// The servers that hold the weights' format, the estimate's own first.
pub(super) fn files(
    serving: &Serving,
    plan: &ServingPlan,
    offer: &Offer,
    model: &str,
) -> Vec<LaunchFile> {
    let mut files = Vec::new();
    if !serving.weights.is_gguf() {
        files.push(vllm(serving, plan, offer, model));
        files.push(sglang(serving, plan, offer, model));
    }
    if gguf_of(serving.weights).is_some() {
        files.push(llama_cpp(serving, plan));
    }
    let own = match serving.engine {
        Some(Engine::Sglang) => "SGLang",
        Some(Engine::LlamaCpp) => "llama.cpp",
        _ => "vLLM",
    };
    files.sort_by_key(|file| file.tool != own);
    files
}

/// Tokens of a request at its full length.
fn context(serving: &Serving) -> u32 {
    serving
        .prompt_tokens
        .saturating_add(serving.written_tokens())
}

/// Share of a card that the engine is told to take: what the plan needs at the upper end of its range, the engine's
/// own habit at least, and never so much that the driver has no room.
fn share_of_memory(offer: &Offer) -> f64 {
    let needed = offer.memory.needed_bytes.high / (offer.usable_memory_bytes as f64).max(1.0);
    ((needed * 100.0).ceil() / 100.0).clamp(0.9, 0.97)
}

/// Name of a quantisation that an engine has to be told of; checkpoints say the others themselves.
fn quantised_on_load(format: WeightFormat) -> Option<&'static str> {
    match format {
        WeightFormat::Fp8 => Some("fp8"),
        WeightFormat::Nf4 => Some("bitsandbytes"),
        _ => None,
    }
}

fn vllm(serving: &Serving, plan: &ServingPlan, offer: &Offer, model: &str) -> LaunchFile {
    let dtype = match serving.weights {
        WeightFormat::Fp32 => Some("float32"),
        WeightFormat::Fp16 => Some("float16"),
        WeightFormat::Bf16 => Some("bfloat16"),
        _ => None,
    };
    let quantised = quantised_on_load(serving.weights);
    let command = Command::new(&format!("vllm serve {model}"))
        .flag("--tensor-parallel-size", plan.tensor_parallel)
        .flag_if(
            plan.pipeline_parallel > 1,
            "--pipeline-parallel-size",
            plan.pipeline_parallel,
        )
        .flag_if(plan.replicas > 1, "--data-parallel-size", plan.replicas)
        .flag("--max-model-len", context(serving))
        .flag("--max-num-seqs", plan.batch.max(1))
        .flag(
            "--gpu-memory-utilization",
            format!("{:.2}", share_of_memory(offer)),
        )
        .flag_if(dtype.is_some(), "--dtype", dtype.unwrap_or_default())
        .flag_if(
            quantised.is_some(),
            "--quantization",
            quantised.unwrap_or_default(),
        )
        .flag_if(serving.kv == KvFormat::Bits8, "--kv-cache-dtype", "fp8")
        .flag_if(
            serving.habits.guesses > 0,
            "--speculative-config",
            guesser_of_vllm(serving),
        );
    LaunchFile {
        tool: "vLLM",
        name: "serve-vllm.sh",
        text: with_notes(&command, serving),
    }
}

/// What guesses tokens: a smaller model, which the user has to name, or the model's own head.
fn guesser_of_vllm(serving: &Serving) -> String {
    let guesses = serving.habits.guesses;
    let guesser = match serving.habits.draft_params {
        Some(_) => "\"model\": \"DRAFT_MODEL\"",
        None => "\"method\": \"mtp\"",
    };
    format!("'{{{guesser}, \"num_speculative_tokens\": {guesses}}}'")
}

fn sglang(serving: &Serving, plan: &ServingPlan, offer: &Offer, model: &str) -> LaunchFile {
    let quantised = quantised_on_load(serving.weights);
    let habits = &serving.habits;
    let command = Command::new("python -m sglang.launch_server")
        .flag("--model-path", model)
        .flag("--tp-size", plan.tensor_parallel)
        .flag_if(
            plan.pipeline_parallel > 1,
            "--pp-size",
            plan.pipeline_parallel,
        )
        .flag_if(plan.replicas > 1, "--dp-size", plan.replicas)
        .flag("--context-length", context(serving))
        .flag("--max-running-requests", plan.batch.max(1))
        .flag(
            "--mem-fraction-static",
            format!("{:.2}", share_of_memory(offer) - 0.05),
        )
        .flag_if(
            quantised.is_some(),
            "--quantization",
            quantised.unwrap_or_default(),
        )
        .flag_if(
            serving.kv == KvFormat::Bits8,
            "--kv-cache-dtype",
            "fp8_e5m2",
        )
        .flag_if(
            habits.guesses > 0,
            "--speculative-algorithm",
            if habits.draft_params.is_some() {
                "STANDALONE"
            } else {
                "NEXTN"
            },
        )
        .flag_if(
            habits.guesses > 0 && habits.draft_params.is_some(),
            "--speculative-draft-model-path",
            "DRAFT_MODEL",
        )
        .flag_if(
            habits.guesses > 0,
            "--speculative-num-steps",
            habits.guesses,
        )
        .flag_if(habits.guesses > 0, "--speculative-eagle-topk", 1)
        .flag_if(
            habits.guesses > 0,
            "--speculative-num-draft-tokens",
            habits.guesses + 1,
        );
    LaunchFile {
        tool: "SGLang",
        name: "serve-sglang.sh",
        text: with_notes(&command, serving),
    }
}

/// What the estimate counts with and these flags cannot say.
fn with_notes(command: &Command, serving: &Serving) -> String {
    let mut text = String::new();
    match serving.weights {
        WeightFormat::Awq4 => text.push_str("# The checkpoint must be quantised with AWQ.\n"),
        WeightFormat::Gptq4 | WeightFormat::Gptq8 => {
            text.push_str("# The checkpoint must be quantised with GPTQ.\n");
        }
        WeightFormat::Int8 => text.push_str("# The checkpoint must hold INT8 weights.\n"),
        _ => {}
    }
    if serving.kv == KvFormat::Bits4 {
        text.push_str("# The estimate counts a 4-bit cache, which this server does not offer.\n");
    }
    text + &command.text() + "\n"
}

/// File type of a GGUF that holds these weights.
fn gguf_of(format: WeightFormat) -> Option<String> {
    use crate::scenario::Choice;
    match format {
        WeightFormat::Bf16 => Some("BF16".to_owned()),
        WeightFormat::Fp16 => Some("F16".to_owned()),
        WeightFormat::Fp32 => Some("F32".to_owned()),
        format if format.is_gguf() => Some(format.name().to_uppercase().replace('-', "_")),
        _ => None,
    }
}

fn llama_cpp(serving: &Serving, plan: &ServingPlan) -> LaunchFile {
    let kind = gguf_of(serving.weights).unwrap_or_default();
    let cache = match serving.kv {
        KvFormat::Bits8 => Some("q8_0"),
        KvFormat::Bits4 => Some("q4_0"),
        _ => None,
    };
    let slots = plan.batch.max(1);
    // One cache is shared by all slots.
    let context = u64::from(context(serving)) * u64::from(slots);
    let drafts = serving.habits.guesses > 0 && serving.habits.draft_params.is_some();
    let command = Command::new("llama-server")
        .flag("--model", format!("MODEL-{kind}.gguf"))
        .flag("--n-gpu-layers", 999)
        .flag("--ctx-size", context)
        .flag("--parallel", slots)
        .flag("--flash-attn", "on")
        .flag_if(
            plan.pipeline_parallel > 1 || plan.tensor_parallel > 1,
            "--split-mode",
            if plan.tensor_parallel > 1 {
                "row"
            } else {
                "layer"
            },
        )
        .flag_if(cache.is_some(), "--cache-type-k", cache.unwrap_or_default())
        .flag_if(cache.is_some(), "--cache-type-v", cache.unwrap_or_default())
        .flag_if(drafts, "--model-draft", "DRAFT_MODEL.gguf")
        .flag_if(drafts, "--draft-max", serving.habits.guesses);
    let copies = if plan.replicas > 1 {
        format!(
            "# {} copies of this, each on its own cards (CUDA_VISIBLE_DEVICES) and port.\n",
            plan.replicas
        )
    } else {
        String::new()
    };
    LaunchFile {
        tool: "llama.cpp",
        name: "serve-llama-cpp.sh",
        text: copies + &command.text() + "\n",
    }
}
