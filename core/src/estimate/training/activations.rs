//! Activations kept for the backward pass, the working set of one block, and logits.
//!
//! Korthikanti et al. 2022, table 2, generalised to gated networks, grouped key and value heads,
//! experts and adapters: a block of theirs keeps `34 s b h` bytes and `5 a s^2 b` for scores.

use super::constants::MemoryConstants;
use super::counts::Counts;
use super::job::{AdapterTargets, Selective, Stack, TrainingJob};
use super::optimizer::{Stage, raises_to_fp32};
use crate::plan::{Recompute, TrainingPlan};
use crate::scenario::{TrainingMethod, TrainingPrecision};

/// Bytes of one card's activations at the peak.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Activations {
    /// Kept from the forward pass, with the block being worked on.
    pub blocks: f64,
    /// Logits and what the loss keeps of them.
    pub logits: f64,
}

/// Tokens of one micro-batch on one card.
pub fn tokens(job: &TrainingJob<'_>, plan: &TrainingPlan) -> f64 {
    f64::from(plan.micro_batch.max(1)) * f64::from(job.seq_len)
        / f64::from(plan.context_parallel.max(1))
}

/// Bytes of one saved number.
fn element_bytes(job: &TrainingJob<'_>, stack: Stack) -> f64 {
    if job.precision == TrainingPrecision::Fp32 || raises_to_fp32(job, stack) {
        4.0
    } else {
        2.0
    }
}

/// Bytes that all blocks keep of one micro-batch, by Korthikanti et al.'s table without dropout
/// masks.
#[derive(Debug, Clone, Copy)]
pub struct Saved {
    /// Tensors of the stream's and the inner widths, before the software's own surplus.
    pub tensors: f64,
    /// Those of routed experts that run one after another, so that the surplus is that of one of them alone.
    pub in_turn: f64,
    /// Score matrices, or each query row's log-sum-exp: no software keeps more of them.
    pub scores: f64,
}

impl Saved {
    /// Both, with `surplus` copies of the tensors.
    pub fn with_surplus(self, surplus: f64) -> f64 {
        self.tensors * surplus + self.in_turn + self.scores
    }
}

/// What all blocks keep; `scores` says whether score matrices are kept.
pub fn saved(job: &TrainingJob<'_>, counts: &Counts, plan: &TrainingPlan, scores: bool) -> Saved {
    let stack = job.stack(plan);
    let split = f64::from(plan.tensor_parallel.max(1));
    // A quantised layer keeps its input even where it is frozen.
    let narrow = job.method == TrainingMethod::Lora
        && job.habits.adapter_targets != AdapterTargets::AllLinear;
    let elements = if narrow {
        counts.saved_elements_frozen()
    } else {
        counts.saved_elements()
    };
    let element = element_bytes(job, stack);
    // The inputs of both norms, of attention and of the feed-forward network.
    let whole = if job.habits.sequence_parallel {
        0.0
    } else {
        4.0 * counts.hidden as f64 * counts.layers as f64 * element
    };
    // Megatron's gated activation is one kernel that keeps gate and up alone.
    let fused_gate = if matches!(stack, Stack::Megatron) {
        counts.ffn_gate_elements as f64 * element
    } else {
        0.0
    };
    let per_token = (elements as f64 * element - whole - fused_gate).max(0.0);
    let score_bytes = if scores && !job.flash_attention {
        // Softmax output, dropout mask, dropped-out softmax: 2 + 1 + 2 bytes a score.
        5.0 * f64::from(job.seq_len) * counts.head_layers as f64
    } else {
        // Log-sum-exp of each query row.
        4.0 * counts.head_layers as f64
    };
    let in_turn = if stack == Stack::Transformers {
        (counts.routed_elements as f64 * element / split).min(per_token / split)
    } else {
        0.0
    };
    let tokens = tokens(job, plan);
    Saved {
        tensors: tokens * (per_token / split + whole - in_turn),
        in_turn: tokens * in_turn,
        scores: tokens * score_bytes / split,
    }
}

/// Activations of one card of `stage` at the peak of a step.
pub fn activations(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    stage: Stage,
    constants: &MemoryConstants,
) -> Activations {
    let stack = job.stack(plan);
    let stacked = constants.stack(stack);
    let tensor = f64::from(plan.tensor_parallel.max(1));
    let pipeline = f64::from(plan.pipeline_parallel.max(1));
    let layers = counts.layers.max(1) as f64;
    let stage_layers = (layers / pipeline).ceil();
    let tokens = tokens(job, plan);
    let surplus = match job.method {
        TrainingMethod::Qlora => stacked.adapter_activations * stacked.quantised_activations,
        TrainingMethod::Lora => stacked.adapter_activations,
        TrainingMethod::Pretrain | TrainingMethod::FullFinetune => stacked.activations,
    };
    let in_flight = in_flight(job, plan, stage);
    let of_stage = stage_layers / layers;
    let one_block = saved(job, counts, plan, true).with_surplus(surplus) / layers;
    let shared = if job.habits.sequence_parallel {
        tensor
    } else {
        1.0
    };
    let input = tokens * counts.hidden as f64 * element_bytes(job, stack) / shared;
    let (kept, working) = match plan.recompute {
        Recompute::None => (
            saved(job, counts, plan, true).with_surplus(surplus) * of_stage,
            one_block,
        ),
        Recompute::Selective => {
            let all = saved(job, counts, plan, false).with_surplus(surplus) * of_stage;
            let kept = match job.habits.selective {
                Selective::Scores => all,
                Selective::EveryOtherProduct => {
                    half_products_bytes(job, counts, stack) * tokens / tensor * of_stage
                }
                Selective::EveryOtherBlock => (all + input * stage_layers) / 2.0,
            };
            (kept, one_block)
        }
        Recompute::Full => (input * stage_layers, one_block * stacked.working_blocks),
    };
    let has_head = plan.pipeline_parallel <= 1 || stage == Stage::Last;
    let logits = if has_head {
        logits_bytes(job, counts, plan, constants)
    } else {
        0.0
    };
    // Checkpoints hand a block's input over as a leaf, whose gradient stays as long as the leaf does.
    let stream_gradients = if job.habits.keeps_stream_gradients && plan.recompute == Recompute::Full
    {
        input * stage_layers
    } else {
        0.0
    };
    // The loss, and the blocks' backward pass with all the gradients that it leaves, do not overlap.
    Activations {
        blocks: kept * in_flight + (working + stream_gradients - logits).max(0.0),
        logits,
    }
}

/// Bytes that one token leaves in all blocks where attention and every other product keep their
/// output: a block's input, queries, values, attention's output with its log-sum-exp, one inner
/// width, and what leaves the block.
fn half_products_bytes(job: &TrainingJob<'_>, counts: &Counts, stack: Stack) -> f64 {
    let keys = counts.key_value_elements / 2;
    let attention = counts.attention_elements.saturating_sub(keys);
    let elements = 2 * counts.hidden * counts.layers + attention + counts.ffn_output_elements;
    elements as f64 * element_bytes(job, stack) + 4.0 * counts.head_layers as f64
}

/// Micro-batches whose activations the stage holds at once: as many as stages follow (1F1B,
/// Narayanan et al. 2021), a little more when interleaved.
fn in_flight(job: &TrainingJob<'_>, plan: &TrainingPlan, stage: Stage) -> f64 {
    let stages = f64::from(plan.pipeline_parallel.max(1));
    if stages <= 1.0 || stage == Stage::Last {
        return 1.0;
    }
    let chunks = f64::from(job.habits.pipeline_chunks.max(1));
    let interleaved = if chunks > 1.0 {
        1.0 + (stages - 1.0) / (stages * chunks)
    } else {
        1.0
    };
    (stages * interleaved).min(f64::from(plan.grad_accum.max(1)).max(1.0))
}

/// Logits of one micro-batch with their gradient and what the loss keeps.
fn logits_bytes(
    job: &TrainingJob<'_>,
    counts: &Counts,
    plan: &TrainingPlan,
    constants: &MemoryConstants,
) -> f64 {
    let stack = job.stack(plan);
    let tokens = tokens(job, plan);
    let split = f64::from(plan.tensor_parallel.max(1));
    if job.habits.fused_loss {
        // Chunks of logits; what remains is the gradient of the last hidden state.
        return 4.0 * tokens * counts.hidden as f64 / split;
    }
    // Logits that come in FP32 need no FP32 copy, but all else of them is twice as wide; under
    // autocast the head computes in 16 bit whatever its weights are.
    let widened = if job.habits.fp32_stream { 1.75 } else { 1.0 };
    constants.stack(stack).logit_bytes
        * widened
        * job.habits.loss.share()
        * tokens
        * counts.vocab as f64
        / split
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AttentionGroup, Model, Transformer};
    use crate::dtype::WeightFormat;
    use crate::estimate::training::{Habits, LossCopies, TrainingConstants};
    use crate::plan::{Offload, Sharding};
    use crate::scenario::Optimizer;

    /// Korthikanti et al.'s 22B model: 48 blocks of width 6144 with 64 heads.
    fn gpt_22b() -> Model {
        let layers = 48;
        let transformer = Transformer {
            layers,
            hidden: 6144,
            ffn: 24576,
            ffn_gated: false,
            vocab: 51_200,
            tie_embeddings: true,
            attention: vec![AttentionGroup::full(layers, 64, 64, 96)],
            experts: None,
            extra_params: 0,
            aside_params: 0,
        };
        Model {
            id: "gpt-22b".to_owned(),
            name: String::new(),
            family: String::new(),
            aliases: Vec::new(),
            params_total: transformer.params(),
            params_active: transformer.params(),
            transformer,
            max_context: 2048,
            native_format: WeightFormat::Fp16,
            licence: None,
            source: Default::default(),
            notes: None,
        }
    }

    fn job(model: &Model, flash_attention: bool) -> TrainingJob<'_> {
        TrainingJob {
            model,
            method: TrainingMethod::Pretrain,
            base_weights: WeightFormat::Bf16,
            seq_len: 2048,
            precision: TrainingPrecision::Fp16,
            optimizer: Optimizer::Adamw,
            lora_rank: 1,
            flash_attention,
            habits: Habits {
                stack: Some(Stack::Megatron),
                ..Habits::default()
            },
        }
    }

    fn plan(tensor: u32, recompute: Recompute) -> TrainingPlan {
        TrainingPlan {
            cards: tensor,
            data_parallel: 1,
            tensor_parallel: tensor,
            pipeline_parallel: 1,
            expert_parallel: 1,
            context_parallel: 1,
            sharding: Sharding::None,
            micro_batch: 4,
            grad_accum: 1,
            recompute,
            offload: Offload::None,
        }
    }

    /// Blocks x sequence x batch x width.
    const SBH: f64 = 48.0 * 2048.0 * 4.0 * 6144.0;
    /// Blocks x heads x sequence x sequence x batch.
    const SCORES: f64 = 48.0 * 64.0 * 2048.0 * 2048.0 * 4.0;

    #[test]
    fn blocks_keep_what_the_table_says_but_dropout_masks() {
        let model = gpt_22b();
        let counts = Counts::of(&model.transformer, model.params_total);
        // 34 s b h less the masks of two dropouts, a byte an element each; 5 a s^2 b for scores.
        let kept = saved(
            &job(&model, false),
            &counts,
            &plan(1, Recompute::None),
            true,
        )
        .with_surplus(1.0);
        assert!((kept - (32.0 * SBH + 5.0 * SCORES)).abs() < 1.0);
        // With tensor and sequence parallelism all of it is split.
        let kept = saved(
            &job(&model, false),
            &counts,
            &plan(8, Recompute::None),
            true,
        )
        .with_surplus(1.0);
        assert!((kept - (32.0 * SBH + 5.0 * SCORES) / 8.0).abs() < 1.0);
    }

    #[test]
    fn without_sequence_parallelism_ten_parts_of_the_table_stay_whole() {
        let model = gpt_22b();
        let counts = Counts::of(&model.transformer, model.params_total);
        let mut job = job(&model, false);
        job.habits.sequence_parallel = false;
        // s b h (10 + 24 / t + 5 a s / h t), less the masks of two dropouts.
        let kept = saved(&job, &counts, &plan(8, Recompute::None), true).with_surplus(1.0);
        let split = (24.0 * SBH + 5.0 * SCORES) / 8.0;
        assert!((kept - (8.0 * SBH + split)).abs() < 1.0);
    }

    #[test]
    fn selective_recomputation_drops_scores_and_full_keeps_inputs() {
        let model = gpt_22b();
        let counts = Counts::of(&model.transformer, model.params_total);
        let mut memory = TrainingConstants::unfitted().memory.clone();
        memory.stacks.megatron.activations = 1.0;
        memory.stacks.megatron.working_blocks = 0.0;
        memory.stacks.megatron.logit_bytes = 0.0;
        let of = |recompute| {
            activations(
                &job(&model, false),
                &counts,
                &plan(1, recompute),
                Stage::First,
                &memory,
            )
            .blocks
        };
        let one_block = (32.0 * SBH + 5.0 * SCORES) / 48.0;
        // Log-sum-exp rows, 4 bytes a head and query, stay; one block's scores are at work.
        let rows = 4.0 * 48.0 * 64.0 * 2048.0 * 4.0;
        assert!((of(Recompute::Selective) - (32.0 * SBH + rows + one_block)).abs() < 1.0);
        assert!((of(Recompute::Full) - 2.0 * SBH).abs() < 1.0);
    }

    #[test]
    fn experts_that_run_in_turn_have_the_temporaries_of_one() {
        let model = crate::catalog::Catalog::embedded()
            .model("mixtral-8x7b")
            .unwrap();
        let counts = Counts::of(&model.transformer, model.params_total);
        let kept = |stack| {
            let mut job = job(model, true);
            job.habits.stack = Some(stack);
            saved(&job, &counts, &plan(1, Recompute::Full), true)
        };
        // 32 blocks x 4 x 2048 tokens x (two experts of 4 x 14336 and a copy of 4096 there and back), 2 bytes each.
        let routed = 32.0 * 8192.0 * 2.0 * (4.0 * 14_336.0 + 2.0 * 4096.0) * 2.0;
        let in_turn = kept(Stack::Transformers);
        assert!((in_turn.in_turn - routed).abs() < 1.0);
        assert!(kept(Stack::Fsdp).in_turn.abs() < 1.0);
        // Without a surplus it makes no difference; with one, it is not theirs.
        let together = kept(Stack::Fsdp);
        assert!((in_turn.with_surplus(1.0) - together.with_surplus(1.0)).abs() < 1.0);
        let saving = together.with_surplus(1.3) - in_turn.with_surplus(1.3);
        assert!((saving - 0.3 * routed).abs() < 1.0);
    }

    #[test]
    fn gradients_of_the_stream_weigh_as_much_as_checkpoints_once_the_loss_is_done() {
        let model = gpt_22b();
        let counts = Counts::of(&model.transformer, model.params_total);
        let memory = &TrainingConstants::unfitted().memory;
        let of = |keeps_stream_gradients, recompute| {
            let mut job = job(&model, true);
            job.method = TrainingMethod::Lora;
            job.habits.stack = Some(Stack::Transformers);
            job.habits.keeps_stream_gradients = keeps_stream_gradients;
            let plan = plan(1, recompute);
            let peak = activations(&job, &counts, &plan, Stage::First, memory);
            (peak.blocks + peak.logits, peak.logits)
        };
        // Inputs of 48 blocks weigh 2 SBH; with the logits, or with as many gradients and one block at work.
        let (usual, logits) = of(false, Recompute::Full);
        let (kept, _) = of(true, Recompute::Full);
        let working = (usual - 2.0 * SBH).max(logits);
        assert!(kept > usual);
        assert!(kept <= 2.0 * SBH + 2.0 * SBH + working + 1.0);
        assert!(kept >= 2.0 * SBH + 2.0 * SBH);
        // Without checkpoints there is no leaf at a block's entrance.
        assert_eq!(of(false, Recompute::None), of(true, Recompute::None));
    }

    #[test]
    fn fused_attention_keeps_no_scores() {
        let model = gpt_22b();
        let counts = Counts::of(&model.transformer, model.params_total);
        let kept =
            saved(&job(&model, true), &counts, &plan(1, Recompute::None), true).with_surplus(1.0);
        assert!(kept < 33.0 * SBH);
    }

    #[test]
    fn a_loss_keeps_what_it_raises() {
        let model = gpt_22b();
        let counts = Counts::of(&model.transformer, model.params_total);
        let memory = &TrainingConstants::unfitted().memory;
        let of = |loss| {
            let mut job = job(&model, true);
            job.habits.stack = Some(Stack::Transformers);
            job.habits.loss = loss;
            activations(
                &job,
                &counts,
                &plan(1, Recompute::Full),
                Stage::First,
                memory,
            )
            .logits
        };
        // 4 x 2048 tokens of 51200 logits: 16, 12 and 8 bytes each.
        let logits = 4.0 * 2048.0 * 51_200.0;
        assert!((of(LossCopies::Upcast) - 16.0 * logits).abs() < 1.0);
        assert!((of(LossCopies::Autocast) - 12.0 * logits).abs() < 1.0);
        assert!((of(LossCopies::Half) - 8.0 * logits).abs() < 1.0);
    }
}
