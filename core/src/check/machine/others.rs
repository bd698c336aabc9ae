//! What people paste in place of a driver's own tool: `gpustat` and the properties that PyTorch prints; `mthreads-gmi`.

use super::line::{Line, Mark, mark};
use super::parts::{name_device, number_before, used_and_total, value};
use super::reading::{Machine, Tool, Version};
use crate::catalog::Catalog;

/// Reads a line; whether it was of one of these.
pub fn line(line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
    gpustat(line, machine, catalog)
        || torch(line, machine, catalog)
        || moore_threads(line, machine, catalog)
}

/// `[0] NVIDIA A100-SXM4-80GB | 35'C,   0 % | 4 / 81920 MB | user(4M)`.
fn gpustat(line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
    let Some((index, rest)) = line
        .text
        .trim_ascii_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    else {
        return false;
    };
    let cells: Vec<&str> = rest.split('|').map(str::trim).take(8).collect();
    let (Ok(index), [name, state, memory, holders @ ..]) =
        (index.parse::<usize>(), cells.as_slice())
    else {
        return false;
    };
    let Some((used, total)) = used_and_total(memory).filter(|_| memory.ends_with("mb")) else {
        return false;
    };
    machine.tool(Tool::Gpustat);
    let Some(device) = machine.device(index) else {
        return true;
    };
    device.nvidia = true;
    name_device(device, name, catalog);
    device.used_mib = Some(used);
    device.memory_mib = Some(total);
    for part in state.split(',').map(str::trim) {
        if part.ends_with('w') {
            device.power_limit_w = part.rsplit_once('/').and_then(|(_, limit)| value(limit));
            device.power_draw_w = value(part);
        } else if part.ends_with('%') {
            device.utilization = value(part);
        } else if part.ends_with('c') {
            device.temperature_c = value(part).or_else(|| number_before(part, 'c'));
        }
    }
    let holders: usize = holders
        .iter()
        .flat_map(|cell| cell.split(' '))
        .filter(|word| word.ends_with("m)"))
        .count();
    device.processes = u32::try_from(holders).unwrap_or(u32::MAX);
    true
}

/// `_CudaDeviceProperties(name='NVIDIA A100-SXM4-40GB', major=8, minor=0, total_memory=40326MB, ...)`.
fn torch(line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
    const LONGEST: usize = 600;
    const HEAD: Mark = mark("cudadeviceproperties(name='");
    let Some(rest) = line.after(&HEAD).filter(|_| line.text.len() <= LONGEST) else {
        return false;
    };
    let Some((name, rest)) = rest.split_once('\'') else {
        return false;
    };
    let known = machine.tools.contains(&Tool::Torch);
    let index = if known { machine.devices.len() } else { 0 };
    machine.tool(Tool::Torch);
    let Some(device) = machine.device(index) else {
        return true;
    };
    device.nvidia = true;
    name_device(device, name, catalog);
    let total = rest.split_once("total_memory=").map(|(_, rest)| rest);
    device.memory_mib = total.and_then(value).or(device.memory_mib);
    true
}

/// `0    MTT S5000    |00000000:18:00.0    |0%    0MiB(81920MiB)` of `mthreads-gmi`, and the line below it,
/// `     Physical      |16x(16x)            |48C   YES`.
fn moore_threads(line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
    const HEAD: Mark = mark("mthreads-gmi:");
    const NAME: Mark = mark("mtt ");
    const DRIVER: Mark = mark("driver version:");
    if line.has(&HEAD) {
        machine.tool(Tool::MthreadsGmi);
        machine.driver = line.after(&DRIVER).and_then(Version::read);
        return true;
    }
    if !line.may_have(b"|") || !machine.tools.contains(&Tool::MthreadsGmi) {
        return false;
    }
    let cells: Vec<&str> = line.text.split('|').map(str::trim_ascii).collect();
    let [first, second, third] = cells.as_slice() else {
        return false;
    };
    if line.has(&NAME) {
        let Some((index, name)) = first.split_once(' ') else {
            return false;
        };
        let Some(device) = index.parse().ok().and_then(|index| machine.device(index)) else {
            return false;
        };
        name_device(device, name, catalog);
        device.utilization = value(third);
        let memory = third.rsplit(' ').next().unwrap_or_default();
        if let Some((used, total)) = memory.split_once('(') {
            device.used_mib = value(used);
            device.memory_mib = value(total);
        }
        return true;
    }
    let lanes = second.split_once("x(").and_then(|(now, most)| {
        let most = most.strip_suffix("x)")?;
        Some((now.parse::<u32>().ok()?, most.parse::<u32>().ok()?))
    });
    // Devices come in their order, each with this line behind its first.
    if let Some((now, most)) = lanes.filter(|(now, most)| *now <= 32 && *most <= 32)
        && let Some(device) = machine.devices.last_mut()
    {
        device.pcie.width = Some(now);
        device.pcie.width_max = Some(most);
        device.temperature_c = number_before(third, 'c');
    }
    true
}
