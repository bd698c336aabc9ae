//! The parameters that are fitted, each with its bounds and its place among the constants.

use cardfit::estimate::training::TrainingConstants;
use cardfit::measured::TrainingCase;

/// One fitted parameter.
pub struct Slot {
    /// Name, for messages.
    pub name: &'static str,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Its value.
    pub get: fn(&TrainingConstants) -> f64,
    /// Sets its value.
    pub set: fn(&mut TrainingConstants, f64),
}

macro_rules! slot {
    ($name:expr, c.$($path:ident).+, $low:expr, $high:expr) => {
        Slot {
            name: $name,
            low: $low,
            high: $high,
            get: |c| c.$($path).+,
            set: |c, value| c.$($path).+ = value,
        }
    };
}

/// An architecture's efficiency, by its place in the default list.
macro_rules! architecture {
    ($name:expr, $at:expr, $field:ident, $high:expr) => {
        Slot {
            name: $name,
            low: 0.2,
            high: $high,
            get: |c| c.speed.architectures.get($at).map_or(0.5, |a| a.$field),
            set: |c, value| {
                if let Some(a) = c.speed.architectures.get_mut($at) {
                    a.$field = value;
                }
            },
        }
    };
}

/// Parameters of memory.
pub fn memory_slots() -> Vec<Slot> {
    vec![
        slot!(
            "litgpt.quantised_activations",
            c.memory.stacks.litgpt.quantised_activations,
            7e-1,
            2e0
        ),
        slot!(
            "transformers.quantised_activations",
            c.memory.stacks.transformers.quantised_activations,
            5e-1,
            2e0
        ),
        slot!(
            "context_bytes",
            c.memory.context_bytes,
            1.000000e+08,
            4.000000e+09
        ),
        slot!(
            "collective_bytes",
            c.memory.collective_bytes,
            1.000000e+07,
            4.000000e+09
        ),
        slot!(
            "megatron.activations",
            c.memory.stacks.megatron.activations,
            6.000000e-01,
            4.000000e+00
        ),
        slot!(
            "megatron.adapter_activations",
            c.memory.stacks.megatron.adapter_activations,
            4.000000e-01,
            5.000000e+00
        ),
        slot!(
            "megatron.working_blocks",
            c.memory.stacks.megatron.working_blocks,
            3.000000e-01,
            1.200000e+01
        ),
        slot!(
            "megatron.logit_bytes",
            c.memory.stacks.megatron.logit_bytes,
            1.000000e+00,
            2.400000e+01
        ),
        slot!(
            "megatron.update_bytes",
            c.memory.stacks.megatron.update_bytes,
            5.000000e-02,
            1.600000e+01
        ),
        slot!(
            "megatron.fragmentation",
            c.memory.stacks.megatron.fragmentation,
            2.000000e-03,
            6.000000e-01
        ),
        slot!(
            "deepspeed.activations",
            c.memory.stacks.deepspeed.activations,
            6.000000e-01,
            4.000000e+00
        ),
        slot!(
            "deepspeed.adapter_activations",
            c.memory.stacks.deepspeed.adapter_activations,
            4.000000e-01,
            5.000000e+00
        ),
        slot!(
            "deepspeed.working_blocks",
            c.memory.stacks.deepspeed.working_blocks,
            3.000000e-01,
            1.200000e+01
        ),
        slot!(
            "deepspeed.logit_bytes",
            c.memory.stacks.deepspeed.logit_bytes,
            1.000000e+00,
            2.400000e+01
        ),
        slot!(
            "deepspeed.update_bytes",
            c.memory.stacks.deepspeed.update_bytes,
            5.000000e-02,
            1.600000e+01
        ),
        slot!(
            "deepspeed.fragmentation",
            c.memory.stacks.deepspeed.fragmentation,
            2.000000e-03,
            6.000000e-01
        ),
        slot!(
            "fsdp.activations",
            c.memory.stacks.fsdp.activations,
            6.000000e-01,
            4.000000e+00
        ),
        slot!(
            "fsdp.adapter_activations",
            c.memory.stacks.fsdp.adapter_activations,
            4.000000e-01,
            5.000000e+00
        ),
        slot!(
            "fsdp.working_blocks",
            c.memory.stacks.fsdp.working_blocks,
            3.000000e-01,
            1.200000e+01
        ),
        slot!(
            "fsdp.logit_bytes",
            c.memory.stacks.fsdp.logit_bytes,
            1.000000e+00,
            2.400000e+01
        ),
        slot!(
            "fsdp.update_bytes",
            c.memory.stacks.fsdp.update_bytes,
            5.000000e-02,
            1.600000e+01
        ),
        slot!(
            "fsdp.fragmentation",
            c.memory.stacks.fsdp.fragmentation,
            2.000000e-03,
            6.000000e-01
        ),
        slot!(
            "transformers.activations",
            c.memory.stacks.transformers.activations,
            6.000000e-01,
            4.000000e+00
        ),
        slot!(
            "transformers.adapter_activations",
            c.memory.stacks.transformers.adapter_activations,
            4.000000e-01,
            5.000000e+00
        ),
        slot!(
            "transformers.working_blocks",
            c.memory.stacks.transformers.working_blocks,
            3.000000e-01,
            1.200000e+01
        ),
        slot!(
            "transformers.logit_bytes",
            c.memory.stacks.transformers.logit_bytes,
            1.000000e+00,
            2.400000e+01
        ),
        slot!(
            "transformers.update_bytes",
            c.memory.stacks.transformers.update_bytes,
            5.000000e-02,
            1.600000e+01
        ),
        slot!(
            "transformers.fragmentation",
            c.memory.stacks.transformers.fragmentation,
            2.000000e-03,
            6.000000e-01
        ),
        slot!(
            "litgpt.activations",
            c.memory.stacks.litgpt.activations,
            6.000000e-01,
            4.000000e+00
        ),
        slot!(
            "litgpt.adapter_activations",
            c.memory.stacks.litgpt.adapter_activations,
            4.000000e-01,
            5.000000e+00
        ),
        slot!(
            "litgpt.working_blocks",
            c.memory.stacks.litgpt.working_blocks,
            3.000000e-01,
            1.200000e+01
        ),
        slot!(
            "litgpt.logit_bytes",
            c.memory.stacks.litgpt.logit_bytes,
            1.000000e+00,
            2.400000e+01
        ),
        slot!(
            "litgpt.update_bytes",
            c.memory.stacks.litgpt.update_bytes,
            5.000000e-02,
            1.600000e+01
        ),
        slot!(
            "litgpt.fragmentation",
            c.memory.stacks.litgpt.fragmentation,
            2.000000e-03,
            6.000000e-01
        ),
    ]
}

/// Parameters of speed.
pub fn speed_slots() -> Vec<Slot> {
    let mut slots = vec![
        slot!(
            "other_efficiency",
            c.speed.other_efficiency,
            2.000000e-01,
            9.500000e-01
        ),
        slot!(
            "fp32_over_half",
            c.speed.fp32_over_half,
            5.000000e-01,
            1.400000e+00
        ),
        slot!(
            "collective_latency_s",
            c.speed.collective_latency_s,
            1e-6,
            3e-3
        ),
        slot!("exchange_hidden", c.speed.exchange_hidden, 5e-2, 9.7e-1),
        slot!("hooked_launches", c.speed.hooked_launches, 1e0, 6e0),
        slot!(
            "first_flash_attention",
            c.speed.first_flash_attention,
            2e-1,
            1e0
        ),
        slot!(
            "misaligned_products",
            c.speed.misaligned_products,
            4e-1,
            1e0
        ),
        slot!("padded_attention", c.speed.padded_attention, 1e-1, 1e0),
        slot!(
            "experts_over_products",
            c.speed.experts_over_products,
            2.000000e-01,
            1.100000e+00
        ),
        slot!(
            "product_traffic",
            c.speed.product_traffic,
            2.000000e-02,
            2.000000e+00
        ),
        slot!(
            "bandwidth_efficiency",
            c.speed.bandwidth_efficiency,
            5.000000e-01,
            9.500000e-01
        ),
        slot!(
            "logit_traffic_bytes",
            c.speed.logit_traffic_bytes,
            4.000000e+00,
            8.000000e+01
        ),
        slot!(
            "expand_bytes",
            c.speed.expand_bytes,
            1.000000e+00,
            1.000000e+02
        ),
        slot!(
            "link_efficiency",
            c.speed.link_efficiency,
            2.000000e-01,
            9.500000e-01
        ),
        slot!(
            "network_efficiency",
            c.speed.network_efficiency,
            2.000000e-01,
            9.800000e-01
        ),
        slot!(
            "tensor_hidden",
            c.speed.tensor_hidden,
            1.000000e-02,
            9.700000e-01
        ),
        slot!(
            "data_hidden",
            c.speed.data_hidden,
            2.000000e-01,
            9.800000e-01
        ),
        slot!("end_to_end", c.speed.end_to_end, 1.000000e+00, 1.600000e+00),
        slot!(
            "host_updates_per_s",
            c.speed.host_updates_per_s,
            5.000000e+07,
            5.000000e+09
        ),
        slot!(
            "megatron.elementwise_passes",
            c.speed.stacks.megatron.elementwise_passes,
            2.000000e-01,
            1.200000e+01
        ),
        slot!(
            "megatron.launch_s",
            c.speed.stacks.megatron.launch_s,
            2.000000e-05,
            4.000000e-03
        ),
        slot!(
            "megatron.step_s",
            c.speed.stacks.megatron.step_s,
            1.000000e-03,
            2.000000e+00
        ),
        slot!(
            "deepspeed.elementwise_passes",
            c.speed.stacks.deepspeed.elementwise_passes,
            2.000000e-01,
            1.200000e+01
        ),
        slot!(
            "deepspeed.launch_s",
            c.speed.stacks.deepspeed.launch_s,
            2.000000e-05,
            4.000000e-03
        ),
        slot!(
            "deepspeed.step_s",
            c.speed.stacks.deepspeed.step_s,
            1.000000e-03,
            2.000000e+00
        ),
        slot!(
            "fsdp.elementwise_passes",
            c.speed.stacks.fsdp.elementwise_passes,
            2.000000e-01,
            1.200000e+01
        ),
        slot!(
            "fsdp.launch_s",
            c.speed.stacks.fsdp.launch_s,
            2.000000e-05,
            4.000000e-03
        ),
        slot!(
            "fsdp.step_s",
            c.speed.stacks.fsdp.step_s,
            1.000000e-03,
            2.000000e+00
        ),
        slot!(
            "fsdp.adapter_launch_s",
            c.speed.stacks.fsdp.adapter_launch_s,
            5.000000e-05,
            8.000000e-03
        ),
        slot!(
            "transformers.elementwise_passes",
            c.speed.stacks.transformers.elementwise_passes,
            2.000000e-01,
            1.200000e+01
        ),
        slot!(
            "transformers.launch_s",
            c.speed.stacks.transformers.launch_s,
            2.000000e-05,
            4.000000e-03
        ),
        slot!(
            "transformers.step_s",
            c.speed.stacks.transformers.step_s,
            1.000000e-03,
            2.000000e+00
        ),
        slot!(
            "transformers.adapter_launch_s",
            c.speed.stacks.transformers.adapter_launch_s,
            5.000000e-05,
            8.000000e-03
        ),
        slot!(
            "megatron.fp8_over_half",
            c.speed.stacks.megatron.fp8_over_half,
            3.000000e-01,
            1.200000e+00
        ),
        slot!(
            "megatron.attention",
            c.speed.stacks.megatron.attention,
            4.000000e-01,
            2.500000e+00
        ),
        slot!(
            "megatron.adapter_traffic_bytes",
            c.speed.stacks.megatron.adapter_traffic_bytes,
            1.000000e+00,
            1.500000e+02
        ),
        slot!(
            "fsdp.fp8_over_half",
            c.speed.stacks.fsdp.fp8_over_half,
            3.000000e-01,
            1.200000e+00
        ),
        slot!(
            "fsdp.attention",
            c.speed.stacks.fsdp.attention,
            4.000000e-01,
            2.500000e+00
        ),
        slot!(
            "fsdp.adapter_traffic_bytes",
            c.speed.stacks.fsdp.adapter_traffic_bytes,
            1.000000e+00,
            1.500000e+02
        ),
        slot!(
            "deepspeed.attention",
            c.speed.stacks.deepspeed.attention,
            4.000000e-01,
            2.500000e+00
        ),
        slot!(
            "transformers.attention",
            c.speed.stacks.transformers.attention,
            4.000000e-01,
            2.500000e+00
        ),
        slot!(
            "transformers.adapter_traffic_bytes",
            c.speed.stacks.transformers.adapter_traffic_bytes,
            1.000000e+00,
            1.500000e+02
        ),
    ];
    slots.extend(architecture_slots());
    slots
}

fn architecture_slots() -> Vec<Slot> {
    vec![
        architecture!("Volta", 0, half, 1.1),
        architecture!("Turing", 1, half, 1.1),
        architecture!("Ampere", 2, half, 1.1),
        architecture!("Ada Lovelace", 3, half, 1.1),
        architecture!("Hopper", 4, half, 1.1),
        architecture!("Blackwell", 5, half, 1.1),
        architecture!("CDNA2", 6, half, 1.1),
        architecture!("CDNA3", 7, half, 1.1),
        architecture!("Da Vinci 2", 8, half, 1.1),
        architecture!("Gaudi 2", 9, half, 1.1),
        architecture!("Ampere attention", 2, attention, 1.5),
        architecture!("Hopper attention", 4, attention, 1.5),
        architecture!("Blackwell attention", 5, attention, 1.5),
        architecture!("CDNA3 attention", 7, attention, 1.5),
        architecture!("Da Vinci 2 attention", 8, attention, 1.5),
    ]
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
        let key = if let Some(field) = of(&FUSED) {
            (0, field)
        } else if let Some(field) = of(&EAGER) {
            (1, field)
        } else if slot.name.ends_with(" attention") {
            (2, "attention")
        } else if slot.name.starts_with(char::is_uppercase) {
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
