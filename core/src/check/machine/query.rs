//! Indented logs of keys and values: `nvidia-smi -q`, `amd-smi static`, `amd-smi metric`, `mx-smi`.

use super::line::{Line, Mark, mark};
use super::parts::{name_device, value};
use super::reading::{Device, Machine, Partition, Slice, Throttle, Tool, Version};
use crate::catalog::Catalog;

/// A heading of a log, as far as something depends on it.
type Heading = &'static str;

/// Headings that what stands below them depends on.
const HEADINGS: [Heading; 23] = [
    "aggregate",
    "clock policy",
    "clocks",
    "ecc",
    "ecc errors",
    "ecc mode",
    "fb memory usage",
    "gpu memory power readings",
    "gpu virtualization mode",
    "limit",
    "link width",
    "max clocks",
    "mig device",
    "mig mode",
    "module power readings",
    "pcie",
    "pcie generation",
    "processes",
    "ras",
    "remapped rows",
    "temperature",
    "utilization",
    "vram",
];
/// Any other heading that begins so.
const PROCESS: Heading = "process";
/// Any heading with these words.
const COUNTERS: Heading = "counters";
const LICENCE: Heading = "vgpu software";
/// Any heading that nothing depends on.
const ANOTHER: Heading = "another";

fn heading_of(name: &str) -> Heading {
    if let Some(known) = HEADINGS.iter().find(|known| **known == name) {
        return known;
    }
    [COUNTERS, LICENCE, PROCESS]
        .into_iter()
        .find(|words| name.contains(words))
        .unwrap_or(ANOTHER)
}

/// Reads a log line by line.
#[derive(Debug, Default)]
pub struct Log {
    /// `nvidia-smi -q` or `amd-smi`; `None`: no log has begun.
    tool: Option<Tool>,
    /// Headings above this line: indentation and name.
    path: Vec<(usize, Heading)>,
    current: Option<usize>,
    count: usize,
    ended: bool,
}

impl Log {
    /// Whether the log breaks off before a device's last part.
    pub fn is_cut_off(&self) -> bool {
        self.tool == Some(Tool::NvidiaSmiQuery) && self.count > 0 && !self.ended
    }

    /// Reads a line; whether it was of a log.
    pub fn line(&mut self, line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
        const HEAD: Mark = mark("nvsmi log");
        if line.has(&HEAD) {
            *self = Self {
                tool: Some(Tool::NvidiaSmiQuery),
                ..Self::default()
            };
            machine.tool(Tool::NvidiaSmiQuery);
            return true;
        }
        let trimmed = line.text.trim_ascii();
        if trimmed.is_empty() {
            return false;
        }
        if trimmed.starts_with("gpu") && self.begins_device(trimmed, machine) {
            return true;
        }
        if self.tool.is_none() && !trimmed.starts_with(['p', 'f']) {
            return false;
        }
        let indent = line.text.len() - line.text.trim_ascii_start().len();
        let (key, text) = match trimmed.bytes().position(|byte| byte == b':') {
            Some(at) => (
                trimmed.get(..at).unwrap_or_default().trim_ascii_end(),
                trimmed.get(at + 1..).unwrap_or_default().trim_ascii_start(),
            ),
            None => (trimmed, ""),
        };
        if self.tool.is_none() {
            // A part of `nvidia-smi -q` without its head: `grep -A`, a screen's second half.
            let known = matches!(key, "product name" | "fb memory usage" | "pcie generation");
            if !known || (text.is_empty() && trimmed.contains(':')) {
                return false;
            }
            self.tool = Some(Tool::NvidiaSmiQuery);
            machine.tool(Tool::NvidiaSmiQuery);
        }
        // Before the first card stands what is said of the machine, in any language.
        let of_card = matches!(key, "product name" | "fb memory usage" | "pcie generation");
        let of_machine = self.current.is_none() && self.path.is_empty() && indent == 0 && !of_card;
        while self.path.last().is_some_and(|(above, _)| *above >= indent) {
            self.path.pop();
        }
        if text.is_empty() {
            machine.lists_processes |= key == "processes";
            if self.path.len() < 16 {
                self.path.push((indent, heading_of(key)));
            }
            return true;
        }
        match self.tool {
            Some(Tool::AmdSmi) => self.amd(key, text, machine, catalog),
            _ => self.nvidia(key, text, of_machine, machine, catalog),
        }
        true
    }

    fn begins_device(&mut self, line: &str, machine: &mut Machine) -> bool {
        if let Some(rest) = line.strip_prefix("gpu ")
            && super::parts::is_bus_address(rest)
        {
            self.tool = Some(Tool::NvidiaSmiQuery);
            machine.tool(Tool::NvidiaSmiQuery);
        } else if let Some(rest) = line.strip_prefix("gpu: ")
            && rest.parse::<u32>().is_ok()
        {
            if self.tool != Some(Tool::AmdSmi) || rest == "0" {
                self.count = 0;
            }
            self.tool = Some(Tool::AmdSmi);
            machine.tool(Tool::AmdSmi);
        } else {
            return false;
        }
        self.current = Some(self.count);
        self.count += 1;
        self.path.clear();
        self.ended = false;
        if let Some(index) = self.current
            && let Some(device) = machine.device(index)
            && self.tool == Some(Tool::NvidiaSmiQuery)
        {
            device.nvidia = true;
        }
        true
    }

    fn within(&self, heading: &str) -> bool {
        self.path.iter().any(|(_, name)| *name == heading)
    }

    fn heading(&self) -> Heading {
        self.path.last().map_or("", |(_, name)| name)
    }

    fn device<'m>(&mut self, machine: &'m mut Machine) -> Option<&'m mut Device> {
        if self.current.is_none() {
            self.current = Some(0);
            self.count = 1;
        }
        machine.device(self.current?)
    }

    fn nvidia(
        &mut self,
        key: &str,
        text: &str,
        of_machine: bool,
        machine: &mut Machine,
        catalog: &Catalog,
    ) {
        match key {
            // "Deprecated; ..." of later drivers is no version.
            "driver version" | "kmd version" if text.starts_with(|c: char| c.is_ascii_digit()) => {
                machine.driver = Version::read(text);
            }
            "cuda version" | "cuda umd version"
                if text.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                machine.cuda = Version::read(text);
            }
            "processes" => machine.lists_processes = true,
            "attached gpus" => machine.attached = value(text).map(|n| n as u32),
            _ => {}
        }
        if matches!(
            key,
            "driver version"
                | "cuda version"
                | "kmd version"
                | "cuda umd version"
                | "attached gpus"
                | "timestamp"
        ) {
            return;
        }
        let heading = self.heading();
        let in_slice = self.within("mig device");
        let in_module =
            self.within("module power readings") || self.within("gpu memory power readings");
        let in_processes = matches!(heading, "processes" | PROCESS);
        self.ended |= matches!(heading, "max clocks" | "processes" | "clock policy")
            || matches!(key, "processes" | "process id");
        let errors = heading == "aggregate" && self.within("ecc errors");
        if of_machine {
            return;
        }
        let Some(device) = self.device(machine) else {
            return;
        };
        match (heading, key) {
            (_, "product name") if heading != LICENCE => name_device(device, text, catalog),
            ("mig mode", "current") => device.mig = Some(text == "enabled"),
            ("gpu virtualization mode", "virtualization mode") => {
                device.is_virtual |= text == "vgpu";
            }
            ("pcie generation", "max") => device.pcie.generation_max = small(text),
            ("pcie generation", "current") => device.pcie.generation = small(text),
            ("pcie generation", "device max") => device.pcie.generation_device_max = small(text),
            ("pcie generation", "host max") => device.pcie.generation_host_max = small(text),
            ("link width", "max") => device.pcie.width_max = small(text),
            ("link width", "current") => device.pcie.width = small(text),
            ("fb memory usage", "total") if in_slice => {
                if let Some(slice) = device.slices.last_mut() {
                    slice.memory_mib = value(text);
                }
            }
            ("fb memory usage", "total") => device.memory_mib = value(text),
            ("fb memory usage", "used") if !in_slice => device.used_mib = value(text),
            ("mig device", "index") if device.slices.len() < 16 => {
                device.slices.push(Slice::default());
            }
            (_, "multiprocessor count") if in_slice => {
                if let Some(slice) = device.slices.last_mut() {
                    slice.multiprocessors = small(text).or(slice.multiprocessors);
                }
            }
            ("ecc mode", "current") => match text {
                "enabled" => device.ecc = Some(true),
                "disabled" => device.ecc = Some(false),
                _ => {}
            },
            _ if errors && key.contains("uncorrectable") => {
                let count = value(text).unwrap_or(0.0);
                device.ecc_errors = Some(device.ecc_errors.unwrap_or(0.0) + count);
            }
            _ if heading == "remapped rows"
                && text == "yes"
                && (key == "pending" || key.starts_with("remapping failure")) =>
            {
                device.ecc_errors = Some(device.ecc_errors.unwrap_or(0.0) + 1.0);
            }
            (_, "power limit" | "current power limit" | "requested power limit") if !in_module => {
                device.power_limit_w = value(text).or(device.power_limit_w);
            }
            (_, "default power limit") if !in_module => {
                device.power_default_w = value(text).or(device.power_default_w);
            }
            (_, "power draw" | "average power draw" | "instantaneous power draw") if !in_module => {
                device.power_draw_w = value(text).or(device.power_draw_w);
            }
            ("clocks", "sm") => device.clock_mhz = value(text),
            ("max clocks", "sm") => device.clock_max_mhz = value(text),
            ("temperature", "gpu current temp") => device.temperature_c = value(text),
            ("utilization", "gpu") => device.utilization = value(text),
            (_, "performance state") => {
                device.performance_state = text.strip_prefix('p').and_then(|n| n.parse().ok());
            }
            (_, "used gpu memory") if in_processes || heading.is_empty() => {
                device.processes = device.processes.saturating_add(1);
                device.process_mib += value(text).unwrap_or(0.0);
            }
            _ if text == "active" && heading != COUNTERS => {
                if let Some(reason) = Throttle::of(key)
                    && !device.throttles.contains(&reason)
                {
                    device.throttles.push(reason);
                }
            }
            _ => {}
        }
    }

    fn amd(&mut self, key: &str, text: &str, machine: &mut Machine, catalog: &Catalog) {
        let heading = self.heading();
        let Some(device) = self.device(machine) else {
            return;
        };
        amd_value(heading, key, text, device, catalog);
    }
}

/// A count of lanes, a generation, multiprocessors.
fn small(text: &str) -> Option<u32> {
    value(text).map(|n| n as u32).filter(|n| *n <= 256)
}

/// PCIe generation of a transfer rate: 32 GT/s is the fifth.
pub fn generation_of(gigatransfers: f64) -> Option<u32> {
    [
        (2.5, 1),
        (5.0, 2),
        (8.0, 3),
        (16.0, 4),
        (32.0, 5),
        (64.0, 6),
    ]
    .into_iter()
    .find(|(rate, _)| (gigatransfers - rate).abs() < 0.1)
    .map(|(_, generation)| generation)
}

/// A value of `amd-smi`, from its text or its JSON.
pub fn amd_value(heading: &str, key: &str, text: &str, device: &mut Device, catalog: &Catalog) {
    let mib = |text: &str| value(text).map(|n| if text.ends_with("gb") { n * 1024.0 } else { n });
    match (heading, key) {
        (_, "market_name" | "product_name") if text != "n/a" => name_device(device, text, catalog),
        ("vram", "size") => device.memory_mib = mib(text),
        (_, "total_vram") => device.memory_mib = mib(text),
        (_, "used_vram") => device.used_mib = mib(text),
        (_, "max_pcie_width") => device.pcie.width_max = small(text),
        (_, "max_pcie_speed" | "max_pcie_interface_speed") => {
            device.pcie.generation_device_max = value(text).and_then(generation_of);
        }
        ("pcie", "width" | "current_lanes" | "current_width") => device.pcie.width = small(text),
        ("pcie", "speed" | "current_speed") => {
            device.pcie.generation = value(text).and_then(generation_of);
        }
        (_, "max_power" | "max_power_limit") => device.power_default_w = value(text),
        (_, "power_cap" | "socket_power_limit" | "current_power_limit" | "power_limit") => {
            device.power_limit_w = value(text).filter(|w| *w > 0.0);
        }
        // `static` names the limit that is set as `metric` names the draw.
        ("limit", "socket_power") => {
            device.power_limit_w = value(text).filter(|w| *w > 0.0);
        }
        (_, "socket_power" | "current_socket_power" | "average_socket_power") => {
            device.power_draw_w = value(text).or(device.power_draw_w);
        }
        (_, "accelerator_partition" | "compute_partition" | "accelerator_type") => {
            device.partition = Partition::read(text).or(device.partition);
        }
        (_, "gfx_activity") => device.utilization = value(text),
        ("temperature", "hotspot") => device.temperature_c = value(text),
        ("ecc" | "ras", "total_uncorrectable_count" | "total_uncorrectable") => {
            device.ecc_errors = value(text);
        }
        (_, "memory_usage" | "mem_usage" | "vram_mem" | "mem") if heading.contains("process") => {
            device.processes = device.processes.saturating_add(1);
        }
        _ => {}
    }
}
