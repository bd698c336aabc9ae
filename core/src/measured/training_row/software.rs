//! Which software ran a row's job, and what it does by habit.

use super::words::Words;
use crate::catalog::Model;
use crate::estimate::training::{
    AdapterTargets, AttentionKernel, Dispatch, Habits, Kernels, LossCopies, Selective, Stack,
};
use crate::measured::TrainingRow;
use crate::scenario::TrainingMethod;

/// The software, by name where the row has one, else the method's usual one.
pub fn stack(row: &TrainingRow, words: &Words, method: TrainingMethod) -> Stack {
    let split = row.tp.unwrap_or(1) > 1 || row.pp.unwrap_or(1) > 1;
    let fsdp = words.any(&[
        "fsdp",
        "llm-foundry",
        "mosaic",
        "torchtitan",
        "automodel",
        "mpt-",
    ]);
    let deepspeed = row.zero_stage_or_fsdp.to_lowercase().contains("deepspeed");
    if words.any(&["litgpt", "lit-gpt"]) {
        Stack::Litgpt
    } else if deepspeed && method != TrainingMethod::Pretrain && !split {
        Stack::Transformers
    } else if words.any(&["automodel", "pytorch/torchtune", "torchtune;"]) {
        Stack::Fsdp
    } else if words.any(&[
        "bigscience",
        "internevo",
        "megatron-turing",
        "megatron-deepspeed",
    ]) {
        Stack::Deepspeed
    } else if words.any(&[
        "megatron",
        "nemo",
        "modellink",
        "mindspeed",
        "narayanan",
        "korthikanti",
        "2205.05198",
        "2104.04473",
    ]) {
        Stack::Megatron
    } else if fsdp && method == TrainingMethod::Pretrain {
        Stack::Fsdp
    } else if method == TrainingMethod::Pretrain {
        let whole_run = matches!(row.metric.as_str(), "gpu_hours_total" | "wall_days");
        let plain_data_parallel = matches!(row.sharding.as_str(), "none" | "ddp");
        if split || whole_run {
            Stack::Megatron
        } else if plain_data_parallel || row.sharding.is_empty() && row.n_gpus.unwrap_or(1) <= 8 {
            Stack::Transformers
        } else if row.sharding.is_empty() {
            Stack::Megatron
        } else {
            Stack::Fsdp
        }
    } else if split {
        Stack::Megatron
    } else {
        Stack::Transformers
    }
}

/// What `stack` does by habit, as the row words it.
pub fn habits(row: &TrainingRow, words: &Words, stack: Stack, model: &Model) -> Habits {
    let without_liger = words.noted(&["no liger", "not using use_liger", "without liger"]);
    Habits {
        stack: Some(stack),
        // torchtune takes the loss of its logits chunk by chunk, compiled.
        fused_loss: words.noted(&["liger", "fused cross-entropy", "fused loss", "torchtune;"])
            && !without_liger,
        trained_embeddings: words.noted(&[
            "embedding and lm_head trained",
            "embeddings trained",
            "modules_to_save",
        ]),
        // LitGPT's and PEFT's own default; scripts that name all linear layers say so.
        adapter_targets: if !words.noted(&["adapter_v2"])
            && words.noted(&["q_proj,k_proj,v_proj,o_proj"])
        {
            AdapterTargets::Attention
        } else if !words.noted(&["adapter_v2"])
            && words.noted(&[
                "peft kind",
                "q_proj,v_proj",
                "q_proj,k_proj,v_proj",
                "query and value",
                "attention_qkv",
            ])
        {
            AdapterTargets::QueryValue
        } else {
            AdapterTargets::AllLinear
        },
        tf32: !row.precision.eq_ignore_ascii_case("fp32")
            && !row.precision.to_lowercase().contains("int4"),
        attention_kernel: attention_kernel(row, words, stack),
        // BLOOM's topology trials ran with CUDA_LAUNCH_BLOCKING=1, as their log says.
        synchronous_launches: words.any(&["chronicles-prequel", "launch_blocking"]),
        fp32_stream: words.noted(&["attention and head compute in fp32"]),
        pipeline_chunks: words
            .number_after("vp")
            .unwrap_or_else(|| usual_chunks(row, words))
            .max(1),
        // NeMo's recipes turn it on; Megatron before it, DeepSpeed and Ascend's port did not have it.
        tensor_overlap: words.any(&["nemo", "megatron-bridge"]),
        causal: !model.name.to_lowercase().contains("bert"),
        // Megatron-DeepSpeed as BLOOM used it forked from Megatron before Korthikanti et al.
        sequence_parallel: !words.any(&[
            "bigscience",
            "megatron-deepspeed",
            "no sequence parallel",
            "without sequence parallel",
        ]),
        eager_update: words.any(&["internevo"]),
        dispatch: dispatch(row, words),
        loss: if words.noted(&["no autocast", "compiled loss"]) {
            LossCopies::Half
        } else if words.any(&["qwenlm/qwen:"]) {
            // Its own modelling code leaves the logits in 16 bit.
            LossCopies::Autocast
        } else {
            LossCopies::Upcast
        },
        update_in_backward: words.noted(&["update inside the backward pass"]),
        selective: selective(words),
        // torchtitan gathers once a step under pipelines.
        keeps_gathered: words.any(&["torchtitan"]) && row.pp.unwrap_or(1) > 1,
        fp32_adapters: words.noted(&["adapters in fp32 without autocast"]),
        keeps_half: words.noted(&["without the casts of prepare_model_for_kbit_training"])
            || matches!(row.sharding.as_str(), "zero3" | "hsdp"),
        // Transformers' trainer leaves its checkpoints reentrant; training loops of one's own do not.
        keeps_stream_gradients: row.zero_stage_or_fsdp.starts_with("FSDP ")
            && matches!(row.task.as_str(), "lora" | "qlora")
            && words.noted(&["transformers, peft, trl"]),
        kernels: kernels(words, stack),
        recorded_launches: nemo_release(words).is_some_and(|release| release >= (26, 2, 1)),
        sample_len: words.number_after("packed samples of"),
        wraps_adapters: stack == Stack::Transformers
            && matches!(row.task.as_str(), "lora" | "qlora")
            && row.zero_stage_or_fsdp.starts_with("FSDP"),
        expands_at_once: words.noted(&["triton kernels"]),
    }
}

/// Release of NeMo's container: graphs of experts' blocks came with 26.02.01, sending in one kernel
/// with 26.06 on racks.
fn nemo_release(words: &Words) -> Option<(u32, u32, u32)> {
    words
        .release_of("nemo ")
        .or_else(|| words.release_of("megatron-bridge "))
}

/// How tokens are sent to experts: kernel after kernel unless said otherwise. NeMo's one kernel is
/// for racks that are one domain of NVLink: elsewhere its releases before and after run alike.
fn dispatch(row: &TrainingRow, words: &Words) -> Dispatch {
    let rack = row.card.starts_with("gb");
    let direct = rack && nemo_release(words).is_some_and(|release| release >= (26, 6, 0));
    if direct || words.any(&["deepep", "hybridep"]) {
        Dispatch::Direct
    } else {
        Dispatch::Sorted
    }
}

/// Whether blocks are compiled, or run operator by operator where that is not the software's habit.
fn kernels(words: &Words, stack: Stack) -> Kernels {
    if words.noted(&["torch.compile", "model compiled"]) {
        Kernels::Compiled
    } else if stack == Stack::Fsdp && words.noted(&["eager"]) {
        Kernels::Eager
    } else {
        Kernels::Usual
    }
}

/// torchtitan's selective recomputation is by operator unless it is said to be by block.
fn selective(words: &Words) -> Selective {
    if words.noted(&["every other layer"]) {
        Selective::EveryOtherBlock
    } else if words.any(&["torchtitan"]) {
        Selective::EveryOtherProduct
    } else {
        Selective::Scores
    }
}

/// Chunks of a pipeline stage where unsaid: NeMo's performance recipes interleave.
fn usual_chunks(row: &TrainingRow, words: &Words) -> u32 {
    const USUAL: u32 = 5;
    let recipe = words.any(&["nemo perf table"]);
    if recipe && row.pp.unwrap_or(1) > 1 {
        USUAL
    } else {
        1
    }
}

fn attention_kernel(row: &TrainingRow, words: &Words, stack: Stack) -> AttentionKernel {
    // Transformers leaves attention to PyTorch unless FlashAttention is asked for.
    let padded = stack == Stack::Transformers
        && row.task != "pretrain"
        && !words.any(&["flash", "fa2", "fa3", "pack"])
        && row.micro_batch_per_gpu.unwrap_or(1) > 1;
    let first = words.any(&["flash-attention 1", "flash attention 1"]);
    if padded {
        AttentionKernel::Padded
    } else if nemo_release(words).is_some_and(|release| release < (24, 5, 0)) {
        AttentionKernel::EarlyEngine
    } else if words.any(&["transformer engine"]) {
        AttentionKernel::Engine
    } else if words.any(&["llm-foundry"]) {
        // Its benchmarks run `attn_impl` triton unless told otherwise (submit_benchmarks.py).
        AttentionKernel::Triton
    } else if first {
        AttentionKernel::FirstFlash
    } else {
        AttentionKernel::Flash
    }
}

/// Fused attention is usual since 2023; Megatron before it, and BERT's reference code, are not.
pub fn flash_attention(row: &TrainingRow, words: &Words) -> bool {
    if words.any(&["flash", "fa2", "fa3"]) {
        return true;
    }
    // Its pretraining uses fused, unpadded attention; its fine-tuning does not.
    if words.any(&["deeplearningexamples"]) && row.task == "pretrain" {
        return true;
    }
    let before = words.any(&[
        "bigscience",
        "narayanan",
        "korthikanti",
        "2205.05198",
        "2104.04473",
        "megatron-turing",
        "deeplearningexamples",
        "deeplearning-benchmark",
    ]);
    !before && !row.model.to_lowercase().contains("bert")
}
