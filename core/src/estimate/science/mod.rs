//! Scientific computing by the roofline (Williams et al. 2009): a job that does so many
//! operations, moves so many bytes and holds so many.

use super::work::{WorkPlan, WorkSpeed, WorkUnit};
use super::{Basis, BasisScope, MemoryEstimate, MemoryPart, TimeParts};
use crate::catalog::{Card, FloatPrecision, Node, Workload};
use crate::range::Range;

/// One computation, on any card.
#[derive(Debug, Clone, Copy)]
pub struct ComputationRun<'a> {
    /// Its kind.
    pub workload: &'a Workload,
    /// Floating-point operations in all.
    pub operations: f64,
    /// Operations for a byte that is read or written.
    pub flops_per_byte: f64,
    /// Bytes that must be held.
    pub working_set_bytes: f64,
    /// Number format.
    pub precision: FloatPrecision,
}

/// Dense peak of a card in a precision, operations a second: matrix units where the loops are
/// matrix products and the card has them for it. `None`: no source says that it can.
pub fn peak(card: &Card, precision: FloatPrecision, matrix_products: bool) -> Option<f64> {
    let peaks = &card.peak_tflops;
    let tflops = match precision {
        FloatPrecision::Fp64 if matrix_products => peaks.fp64_tensor.or(peaks.fp64),
        FloatPrecision::Fp64 => peaks.fp64,
        FloatPrecision::Fp32 => peaks.fp32,
    };
    tflops.map(|t| t * 1e12).filter(|p| *p > 0.0)
}

/// How many times slower a card is in FP64 than in FP32, on its plain units.
pub fn fp64_slowdown(card: &Card) -> Option<f64> {
    let peaks = &card.peak_tflops;
    Some(peaks.fp32? / peaks.fp64?)
}

/// Time of all of it on every card, by parts; `None` where a card cannot compute in the format.
pub fn computation_time(
    run: &ComputationRun<'_>,
    plan: &WorkPlan,
    node: &Node<'_>,
) -> Option<TimeParts> {
    const LINK_REACHED: f64 = 0.6;
    const WHERE_UNKNOWN: f64 = 32.0;
    let workload = run.workload;
    let card = node.card;
    let cards = f64::from(plan.cards.max(1));
    let peak = peak(card, run.precision, workload.matrix_products)?;
    let compute_s = run.operations / (peak * workload.of_peak) / cards;
    let moved = run.operations / run.flops_per_byte.max(1e-6);
    let memory_s = moved / (card.bandwidth_gb_s * 1e9 * workload.of_bandwidth) / cards;
    // Each pass over the working set changes its edges with the neighbours.
    let passes = moved / run.working_set_bytes.max(1.0);
    let communication_s = if plan.cards > 1 {
        let edges = workload.halo * (run.working_set_bytes / cards).powf(2.0 / 3.0) * 1e3;
        let inside = card.link.bidirectional_gb_s.unwrap_or(WHERE_UNKNOWN) / 2.0;
        let link = if plan.cards > node.cards_per_node {
            inside.min(node.network_gb_s / f64::from(node.cards_per_node.max(1)))
        } else {
            inside
        };
        passes * edges.min(run.working_set_bytes / cards) / (link * 1e9 * LINK_REACHED)
    } else {
        0.0
    };
    // The longer of both is exposed; the shorter hides behind it.
    let (compute_s, memory_s) = if compute_s >= memory_s {
        (compute_s, 0.0)
    } else {
        (0.0, memory_s)
    };
    Some(TimeParts {
        compute_s,
        memory_s,
        communication_s,
        bubble_s: 0.0,
        overhead_s: 0.0,
    })
}

/// 10^15 operations a second over all cards. No measured result stands behind it: the range is
/// that between codes.
pub fn computation_speed(
    run: &ComputationRun<'_>,
    plan: &WorkPlan,
    node: &Node<'_>,
) -> Option<WorkSpeed> {
    /// Codes of one kind reach from a half to one and a half times the usual share.
    const CODES: (f64, f64) = (0.55, 1.4);
    let parts = computation_time(run, plan, node)?;
    let all_s = parts.total();
    let peak = peak(node.card, run.precision, run.workload.matrix_products)?;
    let range = Range::spread(run.operations / all_s, CODES.0, CODES.1);
    Some(WorkSpeed {
        unit: WorkUnit::PetaOperations,
        units_per_s: range.scale(1e-15),
        batch_s: range.divide_into(run.operations),
        parts,
        of_peak: run.operations / (peak * all_s * f64::from(plan.cards.max(1))),
        input: None,
        basis: assumed(),
    })
}

fn assumed() -> Basis {
    Basis {
        measurements: 0,
        scope: BasisScope::JobKind,
        typical_error: 0.25,
    }
}

/// Memory of one card: its share of the working set, and buffers for its edges.
pub fn computation_memory(run: &ComputationRun<'_>, plan: &WorkPlan) -> MemoryEstimate {
    const CONTEXT_BYTES: f64 = 0.5e9;
    let share = run.working_set_bytes / f64::from(plan.cards.max(1));
    let edges = if plan.cards > 1 { share * 0.05 } else { 0.0 };
    let parts = [
        (MemoryPart::WorkingSet, share),
        (MemoryPart::Communication, edges),
        (MemoryPart::Framework, CONTEXT_BYTES),
    ];
    let needed: f64 = parts.iter().map(|(_, bytes)| bytes).sum();
    MemoryEstimate {
        parts: parts
            .into_iter()
            .map(|(part, bytes)| (part, bytes as u64))
            .filter(|(_, bytes)| *bytes > 0)
            .collect(),
        // The user says what is held; what libraries add differs.
        needed_bytes: Range::spread(needed, 0.97, 1.1),
        reserved_bytes: None,
        basis: assumed(),
    }
}
