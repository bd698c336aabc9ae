//! After renting: what the machine's own tools print, and what that means.

mod csv;
mod json;
mod judge;
mod line;
mod lines;
mod others;
mod parts;
mod query;
mod reading;
mod requirement;
mod slot;
mod tables;
mod whole;

pub use judge::{card_of, findings, speed_under_limit};
pub use reading::{
    Device, Failure, Link, MOST_DEVICES, Machine, Measured, Partition, Pcie, Slice, Throttle, Tool,
    Version,
};
pub use slot::own_pcie;

use crate::catalog::Catalog;

use super::clean::clean;
use line::Line;

/// Reads whatever of `nvidia-smi` (also `-q`, `-L`, `topo -m`, `--query-gpu`), `rocm-smi`, `amd-smi`, `npu-smi`,
/// `mx-smi`, `lspci` and the quick benchmarks stands in `text`, in any order, between any other lines.
pub fn read_machine(text: &str, catalog: &Catalog) -> Machine {
    read_cleaned(&clean(text), catalog)
}

/// [`read_machine`] of text that is cleaned already.
pub(crate) fn read_cleaned(text: &str, catalog: &Catalog) -> Machine {
    let mut readers = Readers::default();
    let mut machine = Machine::default();
    json::read(text, &mut machine, catalog);
    line::unfolded(text, |line| readers.line(line, &mut machine, catalog));
    machine.cut_off = readers.log.is_cut_off() || readers.tables.open;
    settle(&mut machine, catalog);
    machine
}

/// The reader of every kind of printout.
#[derive(Debug, Default)]
struct Readers {
    tables: tables::Tables,
    lines: lines::Lines,
    rows: csv::Rows,
    log: query::Log,
    /// Lines that no reader knew.
    unknown: usize,
}

impl Readers {
    fn line(&mut self, line: Line<'_>, machine: &mut Machine, catalog: &Catalog) {
        /// Lines that no reader knows and that are still looked at for a failure.
        const MOST_UNKNOWN: usize = 2000;
        // Numbered or quoted pastes.
        let text = line
            .text
            .trim_ascii_end()
            .trim_start_matches(['>', '#', '$']);
        let plain = text.trim_ascii_start();
        if plain.is_empty() {
            return;
        }
        let line = line.part(if plain.starts_with(['|', '+']) {
            plain
        } else {
            text
        });
        let read = self.tables.line(line, machine, catalog)
            || self.lines.line(line, machine, catalog)
            || self.rows.line(line, machine, catalog)
            || self.log.line(line, machine, catalog)
            || others::line(line, machine, catalog);
        self.unknown += usize::from(!read);
        if read || self.unknown > MOST_UNKNOWN {
            return;
        }
        let of_kernel = Failure::of_xid(line);
        if of_kernel.is_some() {
            machine.tool(Tool::KernelLog);
        }
        if let Some(failure) = of_kernel.or_else(|| Failure::read(line))
            && !machine.failures.contains(&failure)
        {
            machine.failures.push(failure);
        }
    }
}

/// Narrows every device's name by what was read of it.
fn settle(machine: &mut Machine, catalog: &Catalog) {
    for device in &mut machine.devices {
        if device.identity.is_none() && device.cut_geforce {
            device.identity = judge::geforce_by_figures(device, catalog);
        }
        let (memory, limit) = (
            device.memory_mib,
            device.power_default_w.or(device.power_limit_w),
        );
        if let Some(identity) = &mut device.identity {
            if let Some(mib) = memory.filter(|_| !device.is_virtual) {
                identity.narrow(catalog, |card| {
                    judge::is_whole(card, mib) || judge::is_die(card, mib)
                });
            }
            if let Some(watts) = limit {
                identity.narrow(catalog, |card| {
                    card.power_w.is_some_and(|w| (w - watts).abs() < 0.02 * w)
                });
            }
        }
    }
    // A topology alone tells how many there are.
    if machine.devices.is_empty()
        && let Some(count) = machine.attached.filter(|_| !machine.links.is_empty())
    {
        machine.device(count.saturating_sub(1) as usize);
    }
}
