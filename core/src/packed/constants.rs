//! The estimators' fitted constants, field by field.

use super::{Packed, Reader, packed};
use crate::estimate::spread::{GroupScope, SpreadGroup};
use crate::estimate::work::{Constants, Shares};
use crate::estimate::{serving, training};

packed!(struct training::TrainingConstants {
    provenance, memory, speed, memory_spread, speed_spread, run_spread,
});
packed!(struct training::MemoryConstants { context_bytes, collective_bytes, stacks });
packed!(struct training::StackMemories { megatron, deepspeed, fsdp, transformers, litgpt });
packed!(struct training::StackMemory {
    activations, adapter_activations, quantised_activations, working_blocks, logit_bytes, update_bytes, fragmentation,
});
packed!(struct training::SpeedConstants {
    architectures, other_efficiency, fp8_over_half, fp8_cast_bytes, lost_wave, expert_padding, tf32_over_half,
    vector_efficiency, first_flash_attention, triton_attention, narrow_heads, padded_attention, misaligned_products, experts_over_products,
    experts_elsewhere, expert_launch_s, routed_bytes, fused_dispatch, biased_expert_bytes, scan_bytes, engine_attention,
    product_traffic, bandwidth_efficiency, large_cache, logit_traffic_bytes, expand_bytes, nf4_expand_bytes, link_efficiency,
    network_efficiency, tensor_hidden, exchange_hidden, pipeline_hidden, data_hidden, fsdp_hidden, collective_latency_s,
    hooked_launches, wrapped_adapter_s, host_updates_per_s, compiled_passes, eager_passes, stacks, end_to_end,
});
packed!(struct training::ArchitectureEfficiency {
    name, achievable, tflops_per_watt, half, attention, rows,
});
packed!(struct training::StackSpeeds { megatron, deepspeed, fsdp, transformers, litgpt });
packed!(struct training::StackSpeed {
    elementwise_passes, launch_s, adapter_launch_s, adapter_traffic_bytes, products, attention, step_s,
});

packed!(struct serving::ServingConstants {
    provenance, memory, architectures, engines, kernels, links, spread,
});
packed!(struct serving::MemoryConstants {
    context_bytes, workspace_bytes, activation_factor, cache_growth, graph_bytes, collective_bytes,
});
packed!(struct serving::ArchitectureConstants {
    bandwidth, compute, narrow, unshared_cache, launch, experts,
});
packed!(struct serving::Architectures {
    pascal, volta, turing, ampere, ampere_graphics, ada, hopper, blackwell, blackwell_graphics, cdna2, cdna3, da_vinci, other,
});
packed!(struct serving::EngineConstants {
    step_s, layer_s, sequence_s, bandwidth, cache_traffic, compute, request_s, hidden, prompt_layer_s,
});
packed!(struct serving::Engines {
    vllm, sglang, tensorrt_llm, llama_cpp, transformers, exllama, exllamav2, mlc_llm, deepspeed_mii, fastertransformer, mindie,
    vllm_ascend,
});
packed!(struct serving::KernelConstants {
    roofline_overlap, half_tokens, attention, attention_before_ampere, half_rate_gain, four_bit, eight_bit, expand,
    llama_cpp_half_ops, llama_cpp_quant_ops, eager_fp8, eager_int8, eager_fp8_bandwidth, eager_expert_s, expert_layer_s,
    int4_expert_layer_s, sglang_int4_expert_layer_s, emulated_cache, no_graphs_launch, early_rocm_sharing, early_rocm_launch,
    early_rocm_reduce_s, early_ollama_bandwidth, early_ollama_cache, early_ollama_launch, early_ollama_experts,
    llama_cpp_expert_rows, expert_spread, expanded_bytes, score_bytes, prompt_experts, prompt_linear,
});
packed!(struct serving::LinkConstants {
    direct_s, before_hopper, bus_s, network_s, efficiency, bus_efficiency, several_hosts, hop_s,
});

packed!(
    enum GroupScope {
        Card,
        Architecture,
        JobKind,
    }
);
packed!(struct SpreadGroup {
    scope, name, kind, measurements, sources, low, high, typical_error,
});

impl Packed for Shares {
    fn pack(&self, to: &mut Vec<u8>) {
        self.0.pack(to);
    }

    fn unpack(from: &mut Reader) -> Self {
        Self(Packed::unpack(from))
    }
}

impl<C: Packed + Default> Packed for Constants<C> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.provenance.pack(to);
        self.compute.pack(to);
        self.coefficients.pack(to);
        self.spread.pack(to);
    }

    fn unpack(from: &mut Reader) -> Self {
        Self {
            provenance: Packed::unpack(from),
            compute: Packed::unpack(from),
            coefficients: Packed::unpack(from),
            spread: Packed::unpack(from),
        }
    }
}
