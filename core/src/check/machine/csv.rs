//! `nvidia-smi --query-gpu=... --format=csv`, with or without its header and its units.

use super::judge::is_whole;
use super::line::{Line, Mark, mark};
use super::parts::{name_device, value};
use super::reading::{Device, Machine, Throttle, Tool, Version};
use crate::catalog::Catalog;
use crate::check::names::first_mention;

/// Reads comma-separated rows.
#[derive(Debug, Default)]
pub struct Rows {
    header: Vec<String>,
    count: usize,
}

/// Query fields that a header is known by.
const FIELDS: [&str; 12] = [
    "name",
    "gpu_name",
    "memory.total",
    "memory.used",
    "power.limit",
    "driver_version",
    "index",
    "utilization.gpu",
    "pcie.link.gen.current",
    "pcie.link.width.current",
    "temperature.gpu",
    "clocks.sm",
];

/// What names of NVIDIA's cards begin with.
const MAKERS: [Mark; 5] = [
    mark("nvidia "),
    mark("tesla "),
    mark("geforce "),
    mark("quadro "),
    mark("grid "),
];

/// The field of a header's cell; none is as long as a sentence.
fn field(cell: &str) -> &str {
    const LONGEST: usize = 80;
    if cell.len() > LONGEST {
        return "";
    }
    let name = cell.find('[').and_then(|end| cell.get(..end));
    name.unwrap_or(cell).trim_ascii()
}

impl Rows {
    /// Reads a line; whether it was a header or a row.
    pub fn line(&mut self, line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
        const MEMORY: Mark = mark(" mib");
        const LONGEST: usize = 4096;
        let text = line.text;
        if !line.may_have(b",") || text.starts_with('|') || text.len() > LONGEST {
            return false;
        }
        let (mut count, mut known) = (0, 0);
        for cell in text.split(',') {
            count += 1;
            known += usize::from(FIELDS.contains(&field(cell)));
        }
        if known >= 2 {
            self.header = text.split(',').map(|cell| field(cell).to_owned()).collect();
            self.count = 0;
            machine.tool(Tool::NvidiaSmiCsv);
            return true;
        }
        let is_row = count == self.header.len();
        let has_memory = line.has(&MEMORY);
        if !is_row && !has_memory && !MAKERS.iter().any(|maker| line.has(maker)) {
            return false;
        }
        let cells: Vec<&str> = text.split(',').map(str::trim_ascii).collect();
        if is_row {
            self.row(&cells, machine, catalog);
            true
        } else if has_memory && cells.iter().any(|cell| cell.ends_with(" mib")) {
            self.headless(&cells, machine, catalog)
        } else {
            self.unitless(&cells, machine, catalog)
        }
    }

    fn row(&mut self, cells: &[&str], machine: &mut Machine, catalog: &Catalog) {
        let at = |name: &str| {
            let index = self.header.iter().position(|h| h == name)?;
            cells.get(index).copied()
        };
        let index = at("index")
            .and_then(|c| c.parse().ok())
            .unwrap_or(self.count);
        self.count += 1;
        if let Some(driver) = at("driver_version").and_then(Version::read) {
            machine.driver = Some(driver);
        }
        let Some(device) = machine.device(index) else {
            return;
        };
        device.nvidia = true;
        if cells
            .iter()
            .any(|c| matches!(*c, "[gpu is lost]" | "[unknown error]" | "err!"))
        {
            device.healthy = Some(false);
        }
        for (name, cell) in self.header.iter().zip(cells) {
            cell_of(name, cell, device, catalog);
        }
    }

    /// Rows without a header: a name, and figures whose units tell what they are.
    fn headless(&mut self, cells: &[&str], machine: &mut Machine, catalog: &Catalog) -> bool {
        let Some(name) = cells.iter().find(|c| first_mention(c).is_some()) else {
            return false;
        };
        let mib: Vec<f64> = cells
            .iter()
            .filter(|c| c.ends_with(" mib"))
            .filter_map(|c| value(c))
            .collect();
        let Some(total) = mib.iter().copied().reduce(f64::max) else {
            return false;
        };
        machine.tool(Tool::NvidiaSmiCsv);
        let index = cells
            .first()
            .and_then(|c| c.parse().ok())
            .unwrap_or(self.count);
        self.count += 1;
        let Some(device) = machine.device(index) else {
            return true;
        };
        device.nvidia = true;
        name_device(device, name, catalog);
        device.memory_mib = Some(total);
        if let [_, _, ..] = mib.as_slice() {
            // Used, free and total in any order: used is not told from free, so it is left open.
            device.used_mib = None;
        }
        true
    }
}

impl Rows {
    /// `--format=csv,noheader,nounits`: a driver's name, and among the figures the memory that such a card has.
    fn unitless(&mut self, cells: &[&str], machine: &mut Machine, catalog: &Catalog) -> bool {
        let Some(name) = cells
            .iter()
            .find(|c| MAKERS.iter().any(|maker| maker.begins(c)))
        else {
            return false;
        };
        let mut read = Device::default();
        name_device(&mut read, name, catalog);
        let ids = read.identity.as_ref().map(|i| i.cards.clone());
        let total = cells
            .iter()
            .filter_map(|c| c.parse::<f64>().ok())
            .find(|mib| {
                ids.iter()
                    .flatten()
                    .filter_map(|id| catalog.card(id))
                    .any(|card| is_whole(card, *mib))
            });
        let Some(total) = total else {
            return false;
        };
        machine.tool(Tool::NvidiaSmiCsv);
        let index = cells
            .first()
            .and_then(|c| c.parse().ok())
            .unwrap_or(self.count);
        self.count += 1;
        if let Some(device) = machine.device(index) {
            device.nvidia = true;
            name_device(device, name, catalog);
            device.memory_mib = Some(total);
        }
        true
    }
}

fn cell_of(name: &str, cell: &str, device: &mut Device, catalog: &Catalog) {
    let number = value(cell);
    let count = number.map(|n| n as u32).filter(|n| *n <= 64);
    match name {
        "name" | "gpu_name" => name_device(device, cell, catalog),
        "memory.total" => device.memory_mib = number,
        "memory.used" => device.used_mib = number,
        "power.limit" | "enforced.power.limit" => device.power_limit_w = number,
        "power.default_limit" => device.power_default_w = number,
        "power.draw" => device.power_draw_w = number,
        "pcie.link.gen.current" | "pcie.link.gen.gpucurrent" => device.pcie.generation = count,
        "pcie.link.gen.max" => device.pcie.generation_max = count,
        "pcie.link.gen.gpumax" => device.pcie.generation_device_max = count,
        "pcie.link.gen.hostmax" => device.pcie.generation_host_max = count,
        "pcie.link.width.current" => device.pcie.width = count,
        "pcie.link.width.max" => device.pcie.width_max = count,
        "ecc.mode.current" => {
            device.ecc = match cell {
                "enabled" => Some(true),
                "disabled" => Some(false),
                _ => None,
            };
        }
        "ecc.errors.uncorrected.aggregate.total" | "ecc.errors.uncorrected.volatile.total" => {
            device.ecc_errors = number;
        }
        "mig.mode.current" => device.mig = Some(cell == "enabled"),
        "clocks.sm" | "clocks.current.sm" | "clocks.gr" | "clocks.current.graphics" => {
            device.clock_mhz = number;
        }
        "clocks.max.sm" | "clocks.max.graphics" => device.clock_max_mhz = number,
        "temperature.gpu" => device.temperature_c = number,
        "utilization.gpu" => device.utilization = number,
        "pstate" => {
            device.performance_state = cell.strip_prefix('p').and_then(|n| n.parse().ok());
        }
        _ => reason(name, cell, device),
    }
}

fn reason(name: &str, cell: &str, device: &mut Device) {
    let Some((_, reason)) = name
        .strip_prefix("clocks_throttle_reasons")
        .or_else(|| name.strip_prefix("clocks_event_reasons"))
        .and_then(|rest| rest.split_once('.'))
    else {
        return;
    };
    let reasons = if reason == "active" {
        let mask = cell.strip_prefix("0x").unwrap_or(cell);
        u64::from_str_radix(mask, 16)
            .map(Throttle::of_mask)
            .unwrap_or_default()
    } else if cell == "active" {
        Throttle::of(reason).into_iter().collect()
    } else {
        Vec::new()
    };
    for found in reasons {
        if !device.throttles.contains(&found) {
            device.throttles.push(found);
        }
    }
}
