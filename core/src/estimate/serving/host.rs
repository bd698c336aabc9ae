//! What the host adds to a pass: launches, scheduling, and where it alone sets the pace.

use super::setting::Setting;
use crate::catalog::AttentionKind;
use crate::dtype::WeightFormat;
use crate::scenario::Engine;

impl Setting<'_> {
    /// Host and launch seconds of one pass over all blocks.
    pub fn launches_s(&self) -> f64 {
        let kernels = &self.constants.kernels;
        let eager = self.job.engine == Engine::Transformers;
        let bits = self.job.weights.bits_per_weight();
        let format = match self.job.weights {
            WeightFormat::Fp8 if eager => kernels.eager_fp8,
            WeightFormat::Int8 | WeightFormat::Gptq8 if eager => kernels.eager_int8,
            _ => 1.0,
        };
        let expert_layers = self
            .shape
            .experts
            .as_ref()
            .map_or(0.0, |e| f64::from(e.layers));
        let mut expert = 0.0;
        if expert_layers > 0.0 {
            expert = if eager {
                kernels.eager_expert_s * self.experts * format
            } else if matches!(self.job.weights, WeightFormat::Gptq4 | WeightFormat::Awq4)
                && bits < 6.0
            {
                if self.job.engine == Engine::Sglang {
                    kernels.sglang_int4_expert_layer_s
                } else {
                    kernels.int4_expert_layer_s
                }
            } else {
                kernels.expert_layer_s
            };
        }
        let early = if self.details.early_rocm {
            kernels.early_rocm_launch
        } else if self.details.no_graphs {
            kernels.no_graphs_launch
        } else if self.details.early_ollama {
            kernels.early_ollama_launch
        } else {
            1.0
        };
        let launch = if eager {
            1.0
        } else {
            self.architecture.launch * early
        };
        launch * (self.layers() * self.engine.layer_s * format + expert_layers * expert)
    }

    /// Host seconds of one step whatever the model.
    pub fn step_host_s(&self) -> f64 {
        let several = if self.tensor > 1 {
            self.constants.links.several_hosts
        } else {
            0.0
        };
        self.engine.step_s * (1.0 + several)
    }

    /// Host and card time put together: the longer and the share of the shorter that shows.
    pub fn with_host_s(&self, card_s: f64, host_s: f64) -> f64 {
        card_s + host_s - self.hidden * card_s.min(host_s)
    }

    /// Seconds that the host needs to launch a pass over prompts, all blocks: decoding steps are replayed as
    /// graphs, prompts of any length are launched kernel by kernel. Blocks of experts and of linear
    /// attention have more kernels than plain ones.
    pub fn prompt_launches_s(&self) -> f64 {
        let kernels = &self.constants.kernels;
        let expert_layers = self
            .shape
            .experts
            .as_ref()
            .map_or(0.0, |e| f64::from(e.layers));
        let linear_layers: f64 = self
            .shape
            .attention
            .iter()
            .filter(|group| matches!(group.kind, AttentionKind::Linear { .. }))
            .map(|group| f64::from(group.layers))
            .sum();
        let blocks = self.layers()
            + expert_layers * kernels.prompt_experts
            + linear_layers * kernels.prompt_linear;
        self.engine.prompt_layer_s * blocks
    }

    /// Seconds of a pass over prompts that keeps the card busy for `busy_s`: the host runs ahead of the
    /// card, so that the slower of the two sets the pace.
    pub fn launched_s(&self, busy_s: f64) -> f64 {
        // Without a corner between, for the fit.
        let (card, host) = (busy_s.powi(4), self.prompt_launches_s().powi(4));
        (card + host).sqrt().sqrt()
    }
}
