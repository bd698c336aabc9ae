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
        files.push(llama_cpp(serving, plan, offer));
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

/// Name of a format that weights are held in as they are.
fn dtype_of(format: WeightFormat) -> Option<&'static str> {
    match format {
        WeightFormat::Fp32 => Some("float32"),
        WeightFormat::Fp16 => Some("float16"),
        WeightFormat::Bf16 => Some("bfloat16"),
        _ => None,
    }
}

/// Where the copies of a model run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Placing {
    /// Copies that one command starts.
    copies: u32,
    /// Nodes that one command runs on, each with its own rank.
    nodes: u32,
    /// How many times the command is started, each time on nodes of its own.
    starts: u32,
}

impl Placing {
    /// Copies that share a node are started together. One that is larger than a node runs over several, alone.
    fn of(plan: &ServingPlan, offer: &Offer) -> Self {
        let in_node = plan.cards.div_ceil(offer.nodes.max(1)).max(1);
        let one = (plan.tensor_parallel * plan.pipeline_parallel).max(1);
        if one > in_node {
            return Self {
                copies: 1,
                nodes: one.div_ceil(in_node),
                starts: plan.replicas.max(1),
            };
        }
        let copies = (in_node / one).clamp(1, plan.replicas.max(1));
        Self {
            copies,
            nodes: 1,
            starts: plan.replicas.max(1).div_ceil(copies),
        }
    }

    /// What the one who starts it has to know.
    fn notes(self, on_other_nodes: &str) -> String {
        let mut text = String::new();
        if self.nodes > 1 {
            text += &format!(
                "# On each of {} nodes, NODE_RANK counting from 0 at MASTER_ADDRESS{on_other_nodes}.\n",
                self.nodes
            );
        }
        if self.starts > 1 {
            text += &format!(
                "# {} times, each on nodes of its own behind one load balancer.\n",
                self.starts
            );
        }
        text
    }
}

fn vllm(serving: &Serving, plan: &ServingPlan, offer: &Offer, model: &str) -> LaunchFile {
    let dtype = dtype_of(serving.weights);
    let quantised = quantised_on_load(serving.weights);
    let placing = Placing::of(plan, offer);
    let cache = match serving.kv {
        KvFormat::Bits8 => Some("fp8"),
        KvFormat::Bits4 => Some("int4_per_token_head"),
        _ => None,
    };
    let command = Command::new(&format!("vllm serve {model}"))
        .flag("--tensor-parallel-size", plan.tensor_parallel)
        .flag_if(
            plan.pipeline_parallel > 1,
            "--pipeline-parallel-size",
            plan.pipeline_parallel,
        )
        .flag_if(placing.copies > 1, "--data-parallel-size", placing.copies)
        .flag_if(placing.nodes > 1, "--nnodes", placing.nodes)
        .flag_if(placing.nodes > 1, "--node-rank", "NODE_RANK")
        .flag_if(placing.nodes > 1, "--master-addr", "MASTER_ADDRESS")
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
        .flag_if(
            cache.is_some(),
            "--kv-cache-dtype",
            cache.unwrap_or_default(),
        )
        .flag_if(
            serving.habits.guesses > 0,
            "--speculative-config",
            guesser_of_vllm(serving),
        );
    LaunchFile {
        tool: "vLLM",
        name: "serve-vllm.sh",
        text: placing.notes(", with --headless on the others") + &with_notes(&command, serving),
    }
}

/// What guesses tokens: a smaller model, which the user has to name, or the model's own head.
fn guesser_of_vllm(serving: &Serving) -> String {
    let guesses = serving.habits.guesses;
    let guesser = match serving.habits.draft_params {
        Some(_) => "\"method\": \"draft_model\", \"model\": \"DRAFT_MODEL\"",
        None => "\"method\": \"mtp\"",
    };
    format!("'{{{guesser}, \"num_speculative_tokens\": {guesses}}}'")
}

fn sglang(serving: &Serving, plan: &ServingPlan, offer: &Offer, model: &str) -> LaunchFile {
    let quantised = quantised_on_load(serving.weights);
    let habits = &serving.habits;
    let placing = Placing::of(plan, offer);
    let cache = match serving.kv {
        KvFormat::Bits8 => Some("fp8_e4m3"),
        KvFormat::Bits4 => Some("fp4_e2m1"),
        _ => None,
    };
    let dtype = dtype_of(serving.weights);
    let command = Command::new("python -m sglang.launch_server")
        .flag("--model-path", model)
        .flag("--tp-size", plan.tensor_parallel)
        .flag_if(
            plan.pipeline_parallel > 1,
            "--pp-size",
            plan.pipeline_parallel,
        )
        .flag_if(placing.copies > 1, "--dp-size", placing.copies)
        .flag_if(placing.nodes > 1, "--nnodes", placing.nodes)
        .flag_if(placing.nodes > 1, "--node-rank", "NODE_RANK")
        .flag_if(
            placing.nodes > 1,
            "--dist-init-addr",
            "MASTER_ADDRESS:50000",
        )
        .flag("--context-length", context(serving))
        .flag("--max-running-requests", plan.batch.max(1))
        .flag(
            "--mem-fraction-static",
            format!("{:.2}", share_of_memory(offer) - 0.05),
        )
        .flag_if(dtype.is_some(), "--dtype", dtype.unwrap_or_default())
        .flag_if(
            quantised.is_some(),
            "--quantization",
            quantised.unwrap_or_default(),
        )
        .flag_if(
            cache.is_some(),
            "--kv-cache-dtype",
            cache.unwrap_or_default(),
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
        text: placing.notes("") + &with_notes(&command, serving),
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

fn llama_cpp(serving: &Serving, plan: &ServingPlan, offer: &Offer) -> LaunchFile {
    let kind = gguf_of(serving.weights).unwrap_or_default();
    let cache = match serving.kv {
        KvFormat::Bits8 => Some("q8_0"),
        KvFormat::Bits4 => Some("q4_0"),
        _ => None,
    };
    let slots = plan.batch.max(1);
    // One cache is shared by all slots.
    let context = u64::from(context(serving)) * u64::from(slots);
    let guesses = serving.habits.guesses > 0;
    let drafts = serving.habits.draft_params.is_some();
    let command = Command::new("llama-server")
        .flag("--model", format!("MODEL-{kind}.gguf"))
        .flag("--n-gpu-layers", "all")
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
        .flag_if(
            guesses,
            "--spec-type",
            if drafts { "draft-simple" } else { "draft-mtp" },
        )
        .flag_if(guesses && drafts, "--spec-draft-model", "DRAFT_MODEL.gguf")
        .flag_if(guesses, "--spec-draft-n-max", serving.habits.guesses);
    let mut notes = String::new();
    if plan.replicas > 1 {
        notes += &format!(
            "# {} copies of this, each on its own cards (CUDA_VISIBLE_DEVICES) and port.\n",
            plan.replicas
        );
    }
    let nodes = Placing::of(plan, offer).nodes;
    if nodes > 1 {
        notes += &format!(
            "# One copy spans {nodes} nodes: run rpc-server on the others and name them with --rpc HOST:PORT.\n"
        );
    }
    LaunchFile {
        tool: "llama.cpp",
        name: "serve-llama-cpp.sh",
        text: notes + &command.text() + "\n",
    }
}
