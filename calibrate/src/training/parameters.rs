//! The parameters that are fitted: bounds, what is believed of each before any row and how
//! firmly, and their places among the constants.

use cardfit::estimate::training::TrainingConstants;
use cardfit::measured::TrainingCase;

/// One fitted parameter.
pub struct Slot {
    /// Name, for messages and families.
    pub name: &'static str,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Deviation of the prior (the value before any fit), in the logarithm.
    pub width: f64,
    /// Its value.
    pub get: fn(&TrainingConstants) -> f64,
    /// Sets its value.
    pub set: fn(&mut TrainingConstants, f64),
}

macro_rules! slots {
    ($($name:literal => $($path:ident).+ : $low:literal .. $high:literal, $width:literal;)*) => {
        vec![$(Slot {
            name: $name,
            low: $low,
            high: $high,
            width: $width,
            get: |c| c.$($path).+,
            set: |c, value| c.$($path).+ = value,
        }),*]
    };
}

/// The parameters of every software, under the same name after the software's.
macro_rules! of_stacks {
    ($slots:ident, $part:ident, $field:ident, $low:literal .. $high:literal, $width:literal, [$($stack:ident),*]) => {
        $($slots.push(Slot {
            name: concat!(stringify!($stack), ".", stringify!($field)),
            low: $low,
            high: $high,
            width: $width,
            get: |c| c.$part.stacks.$stack.$field,
            set: |c, value| c.$part.stacks.$stack.$field = value,
        });)*
    };
}

/// An architecture's efficiency, by its place in the default list.
macro_rules! architectures {
    ($slots:ident, $field:ident, $high:literal, $width:literal, [$($name:literal => $at:literal),*]) => {
        $($slots.push(Slot {
            name: concat!($name, " ", stringify!($field)),
            low: 0.2,
            high: $high,
            width: $width,
            get: |c| c.speed.architectures.get($at).map_or(0.5, |a| a.$field),
            set: |c, value| {
                if let Some(a) = c.speed.architectures.get_mut($at) {
                    a.$field = value;
                }
            },
        });)*
    };
}

/// Parameters of memory.
pub fn memory_slots() -> Vec<Slot> {
    let mut slots = slots! {
        "context_bytes" => memory.context_bytes: 2e8 .. 3e9, 0.3;
        "collective_bytes" => memory.collective_bytes: 1e8 .. 4e9, 0.4;
    };
    of_stacks!(
        slots,
        memory,
        activations,
        0.6..4.0,
        0.25,
        [megatron, deepspeed, fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        memory,
        adapter_activations,
        0.4..5.0,
        0.25,
        [fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        memory,
        quantised_activations,
        0.5..2.0,
        0.15,
        [transformers, litgpt]
    );
    of_stacks!(
        slots,
        memory,
        working_blocks,
        0.3..12.0,
        0.4,
        [megatron, deepspeed, fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        memory,
        logit_bytes,
        1.0..32.0,
        0.3,
        [megatron, deepspeed, fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        memory,
        update_bytes,
        0.05..16.0,
        0.4,
        [megatron, deepspeed, fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        memory,
        fragmentation,
        0.002..0.6,
        0.6,
        [megatron, deepspeed, fsdp, transformers, litgpt]
    );
    slots
}

/// Parameters of speed.
pub fn speed_slots() -> Vec<Slot> {
    let mut slots = slots! {
        "fp8_over_half" => speed.fp8_over_half: 0.4 .. 1.3, 0.1;
        "fp8_cast_bytes" => speed.fp8_cast_bytes: 1.0 .. 24.0, 0.5;
        "lost_wave" => speed.lost_wave: 0.02 .. 2.0, 0.4;
        "tf32_over_half" => speed.tf32_over_half: 0.5 .. 1.4, 0.1;
        "vector_efficiency" => speed.vector_efficiency: 0.6 .. 0.97, 0.07;
        "collective_latency_s" => speed.collective_latency_s: 2e-6 .. 1e-3, 0.5;
        "exchange_hidden" => speed.exchange_hidden: 0.05 .. 0.97, 0.3;
        "wrapped_adapter_s" => speed.wrapped_adapter_s: 5e-5 .. 1e-2, 0.5;
        "hooked_launches" => speed.hooked_launches: 1.0 .. 5.0, 0.3;
        "first_flash_attention" => speed.first_flash_attention: 0.2 .. 1.0, 0.2;
        "triton_attention" => speed.triton_attention: 0.3 .. 1.0, 0.1;
        "narrow_heads" => speed.narrow_heads: 0.5 .. 1.1, 0.1;
        "misaligned_products" => speed.misaligned_products: 0.4 .. 1.0, 0.2;
        "padded_attention" => speed.padded_attention: 0.1 .. 1.0, 0.4;
        "experts_over_products" => speed.experts_over_products: 0.2 .. 1.1, 0.15;
        "experts_elsewhere" => speed.experts_elsewhere: 0.1 .. 1.1, 0.4;
        "expert_launch_s" => speed.expert_launch_s: 1e-4 .. 8e-3, 0.3;
        "scan_bytes" => speed.scan_bytes: 2.0 .. 200.0, 0.4;
        "routed_bytes" => speed.routed_bytes: 2.0 .. 120.0, 0.25;
        "biased_expert_bytes" => speed.biased_expert_bytes: 5.0 .. 200.0, 0.5;
        "fused_dispatch" => speed.fused_dispatch: 0.02 .. 1.0, 0.3;
        "engine_attention" => speed.engine_attention: 0.8 .. 2.5, 0.1;
        "product_traffic" => speed.product_traffic: 0.02 .. 2.0, 0.4;
        "bandwidth_efficiency" => speed.bandwidth_efficiency: 0.6 .. 0.95, 0.07;
        "large_cache" => speed.large_cache: 1.0 .. 3.0, 0.25;
        "logit_traffic_bytes" => speed.logit_traffic_bytes: 4.0 .. 80.0, 0.3;
        "nf4_expand_bytes" => speed.nf4_expand_bytes: 1.0 .. 60.0, 0.4;
        "expand_bytes" => speed.expand_bytes: 1.0 .. 100.0, 0.25;
        "link_efficiency" => speed.link_efficiency: 0.3 .. 0.95, 0.15;
        "network_efficiency" => speed.network_efficiency: 0.3 .. 0.98, 0.15;
        "pipeline_hidden" => speed.pipeline_hidden: 0.05 .. 0.97, 0.4;
        "tensor_hidden" => speed.tensor_hidden: 0.01 .. 0.97, 0.5;
        "data_hidden" => speed.data_hidden: 0.2 .. 0.98, 0.2;
        "fsdp_hidden" => speed.fsdp_hidden: 0.2 .. 0.98, 0.2;
        "end_to_end" => speed.end_to_end: 1.0 .. 2.0, 0.15;
        "compiled_passes" => speed.compiled_passes: 0.2 .. 1.2, 0.25;
        "eager_passes" => speed.eager_passes: 1.0 .. 4.0, 0.25;
        "host_updates_per_s" => speed.host_updates_per_s: 5e7 .. 5e9, 0.5;
    };
    of_stacks!(
        slots,
        speed,
        products,
        0.6..1.4,
        0.06,
        [megatron, deepspeed, fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        speed,
        elementwise_passes,
        0.2..12.0,
        0.3,
        [megatron, deepspeed, fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        speed,
        launch_s,
        2e-5..4e-3,
        0.4,
        [megatron, deepspeed, fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        speed,
        step_s,
        1e-3..2.0,
        0.5,
        [megatron, deepspeed, fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        speed,
        adapter_launch_s,
        5e-5..8e-3,
        0.4,
        [fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        speed,
        adapter_traffic_bytes,
        1.0..150.0,
        0.5,
        [megatron, fsdp, transformers, litgpt]
    );
    of_stacks!(
        slots,
        speed,
        attention,
        0.4..2.5,
        0.2,
        [megatron, deepspeed, fsdp, transformers]
    );
    architectures!(slots, half, 1.15, 0.12, [
        "Volta" => 0, "Turing" => 1, "Ampere" => 2, "Ada Lovelace" => 3, "Hopper" => 4,
        "Blackwell" => 5, "CDNA2" => 6, "CDNA3" => 7, "Da Vinci 2" => 8, "Gaudi 2" => 9,
        "Blackwell Ultra" => 10
    ]);
    architectures!(slots, attention, 1.5, 0.2, [
        "Ampere" => 2, "Hopper" => 4, "Blackwell" => 5, "CDNA3" => 7, "Da Vinci 2" => 8,
        "Blackwell Ultra" => 10
    ]);
    slots
}

/// Places of parameters that say the same of different software or architectures.
pub fn families(slots: &[Slot]) -> Vec<Vec<usize>> {
    const FUSED: [&str; 3] = ["megatron.", "deepspeed.", "fsdp."];
    const EAGER: [&str; 2] = ["transformers.", "litgpt."];
    let mut families: std::collections::BTreeMap<(u8, &str), Vec<usize>> =
        std::collections::BTreeMap::new();
    for (at, slot) in slots.iter().enumerate() {
        let of = |stacks: &[&str]| {
            stacks
                .iter()
                .find_map(|stack| slot.name.strip_prefix(stack))
        };
        // How an update is done is no trait of fused software as such, nor LitGPT's loss in
        // chunks one of eager software; FSDP's is PyTorch's own.
        let key = if slot.name.ends_with(".update_bytes")
            || matches!(slot.name, "litgpt.logit_bytes" | "fsdp.logit_bytes")
        {
            continue;
        } else if let Some(field) = of(&FUSED) {
            (0, field)
        } else if let Some(field) = of(&EAGER) {
            (1, field)
        } else if slot.name.ends_with(" half") {
            (2, "half")
        } else {
            continue;
        };
        families.entry(key).or_default().push(at);
    }
    families.into_values().filter(|f| f.len() > 1).collect()
}

/// Notes how many rows each architecture's efficiency rests on.
pub fn count_rows(constants: &mut TrainingConstants, cases: &[&TrainingCase<'_>]) {
    for entry in &mut constants.speed.architectures {
        let rows = cases
            .iter()
            .filter(|case| case.card().architecture == entry.name)
            .count();
        entry.rows = u32::try_from(rows).unwrap_or(u32::MAX);
    }
}
