//! After renting: what the machine's own tools print, and what that means.

mod csv;
mod json;
mod judge;
mod lines;
mod others;
mod parts;
mod query;
mod reading;
mod requirement;
mod tables;

pub use judge::{card_of, findings, own_pcie, speed_under_limit};
pub use reading::{
    Device, Failure, Link, MOST_DEVICES, Machine, Measured, Partition, Pcie, Slice, Throttle, Tool,
    Version,
};

use std::borrow::Cow;

use crate::catalog::Catalog;

use super::clean::clean;

/// Reads whatever of `nvidia-smi` (also `-q`, `-L`, `topo -m`, `--query-gpu`), `rocm-smi`, `amd-smi`, `npu-smi`,
/// `mx-smi`, `lspci` and the quick benchmarks stands in `text`, in any order, between any other lines.
pub fn read_machine(text: &str, catalog: &Catalog) -> Machine {
    read_cleaned(&clean(text), catalog)
}

/// [`read_machine`] of text that is cleaned already.
pub(crate) fn read_cleaned(text: &str, catalog: &Catalog) -> Machine {
    /// Lines that no reader knows and that are still looked at for a failure.
    const MOST_UNKNOWN: usize = 2000;
    let text = unfold(text);
    let mut unknown = 0;
    let mut machine = Machine::default();
    json::read(&text, &mut machine, catalog);
    let mut tables = tables::Tables::default();
    let mut log = query::Log::default();
    let mut rows = csv::Rows::default();
    let mut lines = lines::Lines::default();
    for line in text.lines() {
        if line.trim().is_empty() {
            continue;
        }
        // Numbered or quoted pastes.
        let line = line.trim_start_matches(['>', '#', '$']).trim_end();
        let line = if line.trim_start().starts_with(['|', '+']) {
            line.trim_start()
        } else {
            line
        };
        let read = tables.line(line, &mut machine, catalog)
            || lines.line(line, &mut machine, catalog)
            || rows.line(line, &mut machine, catalog)
            || log.line(line, &mut machine, catalog)
            || others::line(line, &mut machine, catalog);
        unknown += usize::from(!read);
        if !read
            && unknown <= MOST_UNKNOWN
            && let Some(failure) = Failure::read(line)
            && !machine.failures.contains(&failure)
        {
            machine.failures.push(failure);
        }
    }
    machine.cut_off = log.is_cut_off() || tables.open;
    settle(&mut machine, catalog);
    machine
}

/// Tables as they were printed: a narrow terminal breaks their lines, and some ways of copying join them all.
fn unfold(text: &str) -> Cow<'_, str> {
    /// No line of a table is this long.
    const WIDEST: usize = 160;
    if !text.contains('|') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    // Bytes of a table's line whose end has not been seen.
    let mut open = 0;
    for line in text.lines() {
        if line.len() > WIDEST && line.contains('|') && line.contains("+--") {
            out.push('\n');
            out.push_str(
                &line
                    .replace("| |", "|\n|")
                    .replace("+ |", "+\n|")
                    .replace("| +", "|\n+"),
            );
            open = 0;
            continue;
        }
        let plain = line.trim();
        let begins = plain.starts_with(['|', '+']);
        if open > 0 && !begins && plain.ends_with('|') && open + line.len() <= WIDEST {
            out.push_str(line);
            open = 0;
            continue;
        }
        out.push('\n');
        out.push_str(line);
        open = if plain.starts_with('|') && !plain.ends_with('|') {
            line.len()
        } else {
            0
        };
    }
    Cow::Owned(out)
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
