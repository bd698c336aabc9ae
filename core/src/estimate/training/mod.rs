//! Training: memory and speed of one layout.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `job` | what is trained and with which software |
//! | `counts` | sums over a model's blocks |
//! | `optimizer` | weights, gradients, states, adapters under sharding |
//! | `activations` | activations and logits |
//! | `memory` | memory of the fullest card |
//! | `flops` | FLOPs by the conventions in use |
//! | `communication` | time of collectives |
//! | `rates` | rates that a card reaches |
//! | `micro_batch` | time of a micro-batch |
//! | `speed` | time of a step |
//! | `constants` | what is fitted to measurements |

mod activations;
mod communication;
pub(crate) mod constants;
mod counts;
mod flops;
mod job;
mod memory;
mod micro_batch;
mod optimizer;
mod priors;
mod rates;
mod speed;

pub use constants::{
    ArchitectureEfficiency, MemoryConstants, SpeedConstants, StackMemories, StackMemory,
    StackSpeed, StackSpeeds, TrainingConstants, kind_and_stack_name, kind_name,
};
pub use flops::{Convention, CountedAttention, counted_flops};
pub use job::{
    AdapterTargets, AttentionKernel, Dispatch, Habits, Kernels, LossCopies, Selective, Stack,
    TrainingJob,
};
pub use memory::{CardBytes, card_bytes, memory_with};
pub use optimizer::{Lasting, frozen_bytes};
pub use speed::speed_with;

use super::{MemoryEstimate, TrainingSpeed};
use crate::catalog::Node;
use crate::plan::TrainingPlan;

/// Memory of the fullest card of `plan`, bytes.
pub fn memory(job: &TrainingJob<'_>, plan: &TrainingPlan, node: &Node<'_>) -> MemoryEstimate {
    memory_with(job, plan, node, TrainingConstants::embedded())
}

/// Speed of `plan`.
pub fn speed(job: &TrainingJob<'_>, plan: &TrainingPlan, node: &Node<'_>) -> TrainingSpeed {
    speed_with(job, plan, node, TrainingConstants::embedded())
}
