//! How a job is laid out over cards, and the search for the fastest layout that fits.

pub(crate) mod node;
pub mod search;

pub use node::{RentedNode, rented_node};

use serde::{Deserialize, Serialize};

/// What is kept and what is computed again in the backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recompute {
    /// Every activation is kept.
    None,
    /// Attention scores are computed again (Korthikanti et al. 2022).
    Selective,
    /// Only each block's input is kept.
    Full,
}

/// How states are split over data-parallel ranks (Rajbhandari et al. 2020).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharding {
    /// Every rank holds all (plain data parallel).
    None,
    /// Optimizer states are split.
    Zero1,
    /// Gradients too.
    Zero2,
    /// Weights too (FSDP full shard).
    Zero3,
    /// Full shard within a node, copies between nodes (FSDP hybrid shard).
    Hybrid,
}

/// What is kept in host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offload {
    /// Nothing.
    None,
    /// Optimizer states and master weights, with the update on the host.
    Optimizer,
    /// Weights too.
    All,
}

/// Layout of a training job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainingPlan {
    /// Cards in all: `data_parallel * context_parallel * tensor_parallel * pipeline_parallel`.
    pub cards: u32,
    /// Data-parallel ranks.
    pub data_parallel: u32,
    /// Tensor-parallel ways; must divide the heads.
    pub tensor_parallel: u32,
    /// Pipeline stages.
    pub pipeline_parallel: u32,
    /// Expert-parallel ways, within the data-parallel ranks.
    pub expert_parallel: u32,
    /// Ways that a sequence is split.
    pub context_parallel: u32,
    /// Sharding over data-parallel ranks.
    pub sharding: Sharding,
    /// Sequences of one micro-batch per data-parallel rank.
    pub micro_batch: u32,
    /// Micro-batches of one optimizer step per data-parallel rank.
    pub grad_accum: u32,
    /// Recomputation.
    pub recompute: Recompute,
    /// Host offload.
    pub offload: Offload,
}

/// Layout of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServingPlan {
    /// Cards in all: `replicas * tensor_parallel * pipeline_parallel`.
    pub cards: u32,
    /// Independent copies of the model.
    pub replicas: u32,
    /// Tensor-parallel ways of one copy.
    pub tensor_parallel: u32,
    /// Stages that layers are split over in one copy.
    pub pipeline_parallel: u32,
    /// Requests in flight on one copy.
    pub batch: u32,
}
