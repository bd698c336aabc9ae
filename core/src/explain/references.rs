//! Primary references of the formulas.

use serde::Serialize;

/// A paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// Short name: authors and year.
    pub key: &'static str,
    /// Title.
    pub title: &'static str,
    /// Where it can be read.
    pub url: &'static str,
}

/// Every reference that a term names.
pub const REFERENCES: &[Reference] = &[
    Reference {
        key: "Korthikanti et al. 2022",
        title: "Reducing Activation Recomputation in Large Transformer Models",
        url: "https://arxiv.org/abs/2205.05198",
    },
    Reference {
        key: "Rajbhandari et al. 2020",
        title: "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models",
        url: "https://arxiv.org/abs/1910.02054",
    },
    Reference {
        key: "Dettmers et al. 2023",
        title: "QLoRA: Efficient Finetuning of Quantized LLMs",
        url: "https://arxiv.org/abs/2305.14314",
    },
    Reference {
        key: "Kwon et al. 2023",
        title: "Efficient Memory Management for Large Language Model Serving with PagedAttention",
        url: "https://arxiv.org/abs/2309.06180",
    },
    Reference {
        key: "Williams et al. 2009",
        title: "Roofline: An Insightful Visual Performance Model for Multicore Architectures",
        url: "https://doi.org/10.1145/1498765.1498785",
    },
    Reference {
        key: "Pope et al. 2022",
        title: "Efficiently Scaling Transformer Inference",
        url: "https://arxiv.org/abs/2211.05102",
    },
    Reference {
        key: "Narayanan et al. 2021",
        title: "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM",
        url: "https://arxiv.org/abs/2104.04473",
    },
    Reference {
        key: "Chowdhery et al. 2022",
        title: "PaLM: Scaling Language Modeling with Pathways",
        url: "https://arxiv.org/abs/2204.02311",
    },
];

impl Reference {
    /// The reference of that name.
    pub fn of(key: &str) -> Option<&'static Self> {
        REFERENCES.iter().find(|reference| reference.key == key)
    }
}
