//! The constants by name, as a fit moves them.

use super::constants::ServingConstants;

impl ServingConstants {
    /// Calls `visit` with the name and value of every constant that a fit may move.
    pub fn visit(&mut self, visit: &mut dyn FnMut(&str, &mut f64)) {
        let m = &mut self.memory;
        for (name, value) in [
            ("memory.context_bytes", &mut m.context_bytes),
            ("memory.workspace_bytes", &mut m.workspace_bytes),
            ("memory.activation_factor", &mut m.activation_factor),
            ("memory.cache_growth", &mut m.cache_growth),
            ("memory.graph_bytes", &mut m.graph_bytes),
            ("memory.collective_bytes", &mut m.collective_bytes),
        ] {
            visit(name, value);
        }
        let a = &mut self.architectures;
        for (name, of) in [
            ("pascal", &mut a.pascal),
            ("volta", &mut a.volta),
            ("turing", &mut a.turing),
            ("ampere", &mut a.ampere),
            ("ampere_graphics", &mut a.ampere_graphics),
            ("ada", &mut a.ada),
            ("hopper", &mut a.hopper),
            ("blackwell", &mut a.blackwell),
            ("blackwell_graphics", &mut a.blackwell_graphics),
            ("cdna2", &mut a.cdna2),
            ("cdna3", &mut a.cdna3),
            ("da_vinci", &mut a.da_vinci),
            ("other", &mut a.other),
        ] {
            for (part, value) in [
                ("bandwidth", &mut of.bandwidth),
                ("compute", &mut of.compute),
                ("narrow", &mut of.narrow),
                ("unshared_cache", &mut of.unshared_cache),
                ("launch", &mut of.launch),
                ("experts", &mut of.experts),
            ] {
                visit(&format!("architectures.{name}.{part}"), value);
            }
        }
        let e = &mut self.engines;
        for (name, of) in [
            ("vllm", &mut e.vllm),
            ("sglang", &mut e.sglang),
            ("tensorrt_llm", &mut e.tensorrt_llm),
            ("llama_cpp", &mut e.llama_cpp),
            ("transformers", &mut e.transformers),
            ("exllama", &mut e.exllama),
            ("exllamav2", &mut e.exllamav2),
            ("mlc_llm", &mut e.mlc_llm),
            ("deepspeed_mii", &mut e.deepspeed_mii),
            ("fastertransformer", &mut e.fastertransformer),
            ("mindie", &mut e.mindie),
            ("vllm_ascend", &mut e.vllm_ascend),
        ] {
            for (part, value) in [
                ("step_s", &mut of.step_s),
                ("layer_s", &mut of.layer_s),
                ("sequence_s", &mut of.sequence_s),
                ("bandwidth", &mut of.bandwidth),
                ("cache_traffic", &mut of.cache_traffic),
                ("compute", &mut of.compute),
                ("request_s", &mut of.request_s),
                ("hidden", &mut of.hidden),
                ("prompt_layer_s", &mut of.prompt_layer_s),
            ] {
                visit(&format!("engines.{name}.{part}"), value);
            }
        }
        let k = &mut self.kernels;
        let l = &mut self.links;
        for (name, value) in [
            ("kernels.roofline_overlap", &mut k.roofline_overlap),
            ("kernels.half_tokens", &mut k.half_tokens),
            ("kernels.attention", &mut k.attention),
            (
                "kernels.attention_before_ampere",
                &mut k.attention_before_ampere,
            ),
            ("kernels.half_rate_gain", &mut k.half_rate_gain),
            ("kernels.four_bit", &mut k.four_bit),
            ("kernels.eight_bit", &mut k.eight_bit),
            ("kernels.expand", &mut k.expand),
            ("kernels.llama_cpp_half_ops", &mut k.llama_cpp_half_ops),
            ("kernels.llama_cpp_quant_ops", &mut k.llama_cpp_quant_ops),
            ("kernels.eager_fp8", &mut k.eager_fp8),
            ("kernels.eager_int8", &mut k.eager_int8),
            ("kernels.eager_fp8_bandwidth", &mut k.eager_fp8_bandwidth),
            ("kernels.eager_expert_s", &mut k.eager_expert_s),
            ("kernels.expert_layer_s", &mut k.expert_layer_s),
            ("kernels.int4_expert_layer_s", &mut k.int4_expert_layer_s),
            (
                "kernels.sglang_int4_expert_layer_s",
                &mut k.sglang_int4_expert_layer_s,
            ),
            ("kernels.emulated_cache", &mut k.emulated_cache),
            ("kernels.no_graphs_launch", &mut k.no_graphs_launch),
            ("kernels.early_rocm_sharing", &mut k.early_rocm_sharing),
            ("kernels.early_rocm_launch", &mut k.early_rocm_launch),
            ("kernels.early_rocm_reduce_s", &mut k.early_rocm_reduce_s),
            (
                "kernels.early_ollama_bandwidth",
                &mut k.early_ollama_bandwidth,
            ),
            ("kernels.early_ollama_cache", &mut k.early_ollama_cache),
            ("kernels.early_ollama_launch", &mut k.early_ollama_launch),
            ("kernels.early_ollama_experts", &mut k.early_ollama_experts),
            (
                "kernels.llama_cpp_expert_rows",
                &mut k.llama_cpp_expert_rows,
            ),
            ("kernels.expert_spread", &mut k.expert_spread),
            ("kernels.expanded_bytes", &mut k.expanded_bytes),
            ("kernels.score_bytes", &mut k.score_bytes),
            ("kernels.prompt_experts", &mut k.prompt_experts),
            ("kernels.prompt_linear", &mut k.prompt_linear),
            ("links.direct_s", &mut l.direct_s),
            ("links.before_hopper", &mut l.before_hopper),
            ("links.bus_s", &mut l.bus_s),
            ("links.network_s", &mut l.network_s),
            ("links.efficiency", &mut l.efficiency),
            ("links.bus_efficiency", &mut l.bus_efficiency),
            ("links.several_hosts", &mut l.several_hosts),
            ("links.hop_s", &mut l.hop_s),
        ] {
            visit(name, value);
        }
    }
}
