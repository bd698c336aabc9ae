//! What is believed of the constants before any row: what the software's own code keeps, published
//! measurements of kernels, and usual shares of peaks.

use super::constants::{
    ArchitectureEfficiency, MemoryConstants, SpeedConstants, StackMemories, StackMemory,
    StackSpeed, StackSpeeds,
};

impl Default for MemoryConstants {
    /// Before any fit: what the software's own code keeps.
    fn default() -> Self {
        let stack = |activations, working_blocks, logit_bytes, update_bytes| StackMemory {
            activations,
            adapter_activations: activations * 1.1,
            quantised_activations: 1.15,
            working_blocks,
            logit_bytes,
            update_bytes,
            fragmentation: 0.05,
        };
        // Kernels one by one leave blocks of many sizes behind: runs that print both hold a fifth more than they use.
        let eager = |of: StackMemory| StackMemory {
            fragmentation: 0.15,
            ..of
        };
        Self {
            context_bytes: 0.8e9,
            collective_bytes: 0.6e9,
            stacks: StackMemories {
                megatron: stack(1.1, 1.5, 6.0, 0.2),
                deepspeed: stack(1.1, 1.5, 6.0, 0.5),
                fsdp: stack(1.2, 1.5, 16.0, 2.0),
                transformers: eager(stack(1.4, 3.0, 16.0, 8.0)),
                litgpt: eager(stack(1.3, 2.0, 7.0, 4.0)),
            },
        }
    }
}

impl Default for SpeedConstants {
    /// Before any fit.
    fn default() -> Self {
        let arch = |name: &str, achievable, tflops_per_watt, attention| ArchitectureEfficiency {
            name: name.to_owned(),
            achievable,
            tflops_per_watt,
            half: 0.9,
            attention,
            rows: 0,
        };
        let stack = |elementwise_passes, launch_s, step_s, adapters, attention| StackSpeed {
            elementwise_passes,
            launch_s,
            adapter_launch_s: launch_s * 1.7,
            adapter_traffic_bytes: adapters,
            products: 1.0,
            attention,
            step_s,
        };
        Self {
            architectures: vec![
                arch("Volta", 0.8, 0.42, 0.5),
                arch("Turing", 0.7, 0.5, 0.5),
                arch("Ampere", 0.87, 0.78, 0.75),
                arch("Ada Lovelace", 0.7, 1.2, 0.7),
                arch("Hopper", 0.8, 1.41, 0.45),
                arch("Blackwell", 0.775, 2.25, 0.65),
                arch("CDNA2", 0.7, 0.65, 0.5),
                arch("CDNA3", 0.55, 1.5, 0.5),
                arch("Da Vinci 2", 0.7, 0.9, 0.6),
                arch("Gaudi 2", 0.95, 0.72, 0.6),
                // Twice the exponentials of Blackwell, which bound its attention.
                arch("Blackwell Ultra", 0.786, 2.05, 0.75),
            ],
            other_efficiency: 0.55,
            fp8_over_half: 0.95,
            fp8_cast_bytes: 4.0,
            lost_wave: 0.4,
            expert_padding: 1.0,
            tf32_over_half: 1.0,
            vector_efficiency: 0.88,
            first_flash_attention: 0.5,
            triton_attention: 0.7,
            // FlashAttention-2 on A100, forward and backward, causal, 4 K to 16 K (Dao 2023).
            narrow_heads: 0.88,
            padded_attention: 0.35,
            misaligned_products: 0.8,
            experts_over_products: 0.65,
            experts_elsewhere: 0.4,
            expert_launch_s: 3e-3,
            // Counted over the kernels of a dispatch and its way back: 26 bytes forward and as many
            // backward, over three passes; 8 of them where one kernel does it.
            routed_bytes: 18.0,
            fused_dispatch: 0.3,
            // Counted in Megatron's grouped experts: 28 bytes forward, 36 backward for the outputs, and as many
            // again for the gated activation that biases keep from being fused, over three passes.
            biased_expert_bytes: 45.0,
            scan_bytes: 30.0,
            engine_attention: 1.4,
            product_traffic: 0.4,
            bandwidth_efficiency: 0.8,
            large_cache: 1.3,
            logit_traffic_bytes: 24.0,
            // Counted over AutoGPTQ's operations: shift, cast, mask, two gathers by group, difference, product.
            expand_bytes: 25.0,
            nf4_expand_bytes: 4.0,
            link_efficiency: 0.7,
            network_efficiency: 0.75,
            tensor_hidden: 0.5,
            exchange_hidden: 0.3,
            pipeline_hidden: 0.5,
            data_hidden: 0.85,
            fsdp_hidden: 0.85,
            collective_latency_s: 5e-5,
            hooked_launches: 2.0,
            // Two units, each gathered and let go by hooks of Python, some 0.5 ms a pass.
            wrapped_adapter_s: 1.0e-3,
            host_updates_per_s: 5e8,
            // A norm, a rotation or a gated activation is three to five operators alone, one when fused.
            compiled_passes: 0.7,
            eager_passes: 1.5,
            stacks: StackSpeeds {
                megatron: stack(1.0, 0.4e-3, 0.02, 6.0, 1.0),
                deepspeed: stack(1.2, 0.4e-3, 0.02, 6.0, 1.0),
                fsdp: stack(1.2, 0.5e-3, 0.02, 8.0, 1.0),
                transformers: stack(2.0, 0.9e-3, 0.05, 10.0, 1.0),
                litgpt: stack(1.8, 0.6e-3, 0.02, 10.0, 1.0),
            },
            end_to_end: 1.15,
        }
    }
}
