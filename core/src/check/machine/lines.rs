//! Printouts that are lists of lines: `rocm-smi`, `amd-smi monitor`, `nvidia-smi -L`, `topo -m`, `lspci`.

use super::line::{Line, Mark, mark};
use super::parts::{is_bus_address, name_device, pci_device, value};
use super::query::generation_of;
use super::reading::{Device, Link, Machine, Measured, Partition, Slice, Tool};
use crate::catalog::Catalog;
use crate::check::number::first_number;

/// Reads lists line by line.
#[derive(Debug, Default)]
pub struct Lines {
    rocm_table: Option<RocmTable>,
    rocm_rows: usize,
    monitor: Option<Vec<String>>,
    topology: usize,
    listed: Option<usize>,
    listed_count: usize,
    pci: Option<usize>,
    pci_count: usize,
    npu_map: bool,
}

/// Columns of `rocm-smi` without arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RocmTable {
    has_ids: bool,
}

impl Lines {
    /// Reads a line; whether it was of a list.
    pub fn line(&mut self, line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
        let first = line.text.trim_ascii_start().as_bytes().first();
        measured(line, machine)
            || self.rocm_pair(line, machine, catalog)
            || self.rocm_row(line, machine)
            || self.monitor_row(line, machine)
            || matches!(first, Some(b'g' | b'n' | b'p')) && self.topology(line.text, machine)
            || matches!(first, Some(b'g' | b'm' | b'l')) && self.list(line.text, machine, catalog)
            || self.lspci(line, machine, catalog)
            || self.npu_map(line, machine, catalog)
    }

    /// `GPU[0]          : Card series:           Instinct MI210`, and `HCU[0]` of Hygon's relative.
    fn rocm_pair(&mut self, line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
        const HEAD: Mark = mark("rocm system management interface");
        if line.has(&HEAD) {
            self.rocm_rows = 0;
            self.rocm_table = None;
            machine.tool(Tool::RocmSmi);
            return true;
        }
        if !line.may_have(b"[]u") {
            return false;
        }
        let text = line.text.trim_ascii_start();
        let Some(rest) = ["gpu[", "hcu[", "dcu["]
            .iter()
            .find_map(|p| text.strip_prefix(p))
        else {
            return false;
        };
        let Some((index, rest)) = rest.split_once(']') else {
            return false;
        };
        let Ok(index) = index.parse::<usize>() else {
            return false;
        };
        let rest = rest.trim_start_matches([' ', '\t', ':']);
        let Some((key, text)) = rest.split_once(':') else {
            return true;
        };
        machine.tool(Tool::RocmSmi);
        if let Some(device) = machine.device(index) {
            rocm_value(key.trim_ascii(), text.trim_ascii(), device, catalog);
        }
        true
    }

    fn rocm_row(&mut self, line: Line<'_>, machine: &mut Machine) -> bool {
        const HEAD: [Mark; 2] = [mark("vram%"), mark("pwrcap")];
        const NODE: Mark = mark("node");
        if HEAD.iter().all(|mark| line.has(mark)) {
            self.rocm_table = Some(RocmTable {
                has_ids: line.has(&NODE),
            });
            self.rocm_rows = 0;
            machine.tool(Tool::RocmSmi);
            return true;
        }
        let Some(table) = self.rocm_table else {
            return false;
        };
        let line = line.text;
        let words: Vec<&str> = line.split([' ', ',']).filter(|w| !w.is_empty()).collect();
        let Some(index) = words.first().and_then(|w| w.parse::<usize>().ok()) else {
            return false;
        };
        let watts: Vec<f64> = words
            .iter()
            .filter_map(|w| w.strip_suffix('w')?.parse().ok())
            .collect();
        if watts.is_empty() {
            return false;
        }
        let index = if index > self.rocm_rows + 64 {
            self.rocm_rows
        } else {
            index
        };
        self.rocm_rows += 1;
        let Some(device) = machine.device(index) else {
            return true;
        };
        if let [drawn, cap] = watts.as_slice() {
            device.power_draw_w = Some(*drawn);
            device.power_limit_w = Some(*cap);
        } else {
            device.power_limit_w = watts.last().copied();
        }
        if table.has_ids
            && let Some(id) = words.iter().find_map(|w| w.strip_prefix("0x"))
            && device.identity.is_none()
        {
            device.identity = pci_device("1002", id);
        }
        device.partition = Partition::read(line).or(device.partition);
        device.temperature_c = words.iter().find_map(|w| {
            w.strip_suffix("°c")
                .or_else(|| w.strip_suffix('c'))?
                .parse()
                .ok()
        });
        let mut percent = words
            .iter()
            .rev()
            .filter_map(|w| w.strip_suffix('%')?.parse::<f64>().ok());
        device.utilization = percent.next();
        device.used_percent = percent.next();
        true
    }

    /// `amd-smi monitor`: columns under names.
    fn monitor_row(&mut self, line: Line<'_>, machine: &mut Machine) -> bool {
        const HEAD: [Mark; 2] = [mark("vram_total"), mark("vram_usage")];
        const GPU: Mark = mark("gpu");
        if HEAD.iter().any(|mark| line.has(mark)) && line.has(&GPU) {
            machine.tool(Tool::AmdSmi);
            self.monitor = Some(line.text.split_whitespace().map(str::to_owned).collect());
            return true;
        }
        let Some(columns) = &self.monitor else {
            return false;
        };
        let line = line.text;
        let mut words = line.split_whitespace();
        let Some(index) = words.next().and_then(|w| w.parse::<usize>().ok()) else {
            return false;
        };
        // Values carry their units as words: "142 w", "283 mb".
        let sizes: Vec<f64> = line
            .split_whitespace()
            .zip(line.split_whitespace().skip(1))
            .filter_map(|(number, unit)| {
                let factor = match unit {
                    "mb" | "mib" => 1.0,
                    "gb" | "gib" => 1024.0,
                    _ => return None,
                };
                number.parse::<f64>().ok().map(|n| n * factor)
            })
            .collect();
        // "0.3/192.0 gb" since ROCm 6.4.
        let usage = line.rsplit_once('/').and_then(|(before, after)| {
            let used: f64 = before.rsplit(' ').next()?.parse().ok()?;
            let total = first_number(after)?;
            let factor = if after.contains("gb") { 1024.0 } else { 1.0 };
            Some((used * factor, total * factor))
        });
        let Some(device) = machine.device(index) else {
            return true;
        };
        if let Some((used, total)) = usage {
            // The parts of a split card have a row each.
            if device.memory_mib.is_none() {
                device.used_mib = Some(used);
                device.memory_mib = Some(total);
            }
        } else if let [.., used, total] = sizes.as_slice() {
            let used_first = columns.iter().position(|c| c == "vram_used")
                < columns.iter().position(|c| c == "vram_total");
            let (used, total) = if used_first {
                (used, total)
            } else {
                (total, used)
            };
            device.used_mib = Some(*used);
            device.memory_mib = Some(*total);
        }
        true
    }

    fn topology(&mut self, line: &str, machine: &mut Machine) -> bool {
        let begun = line.trim_ascii_start();
        if !["gpu", "npu", "phy-id"]
            .iter()
            .any(|p| begun.starts_with(p))
        {
            return false;
        }
        let words: Vec<&str> = line
            .split([' ', '\t'])
            .filter(|w| !w.is_empty())
            .take(80)
            .collect();
        let is_device = |w: &str| {
            ["gpu", "npu", "phy-id"]
                .iter()
                .find_map(|p| w.strip_prefix(p))
                .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        let Some(first) = words.first() else {
            return false;
        };
        if !is_device(first) || words.len() < 2 {
            return false;
        }
        let columns = words.iter().filter(|w| is_device(w)).count();
        if columns >= 2 || words.get(1).is_some_and(|w| w.starts_with("cpu")) {
            // The head names its columns.
            self.topology = columns;
            machine.tool(Tool::NvidiaSmiTopo);
            return true;
        }
        if self.topology == 0 {
            return false;
        }
        let own = words.iter().position(|w| *w == "x");
        let row: usize = first
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .unwrap_or(usize::MAX);
        if own.is_some_and(|at| at == row + 1) || own.is_none() {
            for cell in words.iter().skip(1).take(self.topology.min(row)) {
                if let Some(link) = Link::read(cell)
                    && machine.links.len() < 4096
                {
                    machine.links.push(link);
                }
            }
        }
        if row < super::reading::MOST_DEVICES
            && machine.attached.is_none_or(|n| (n as usize) <= row)
        {
            machine.attached = u32::try_from(row + 1).ok();
        }
        true
    }

    /// `GPU 0: NVIDIA A100-SXM4-80GB (UUID: ...)` and `  MIG 3g.40gb     Device  0: ...`.
    fn list(&mut self, line: &str, machine: &mut Machine, catalog: &Catalog) -> bool {
        let trimmed = line.trim_start();
        let listed = trimmed
            .strip_prefix("gpu ")
            .and_then(|rest| rest.split_once(':'))
            .or_else(|| {
                let rest = trimmed.strip_prefix("gpu#")?;
                rest.split_once([' ', '\t'])
            });
        // "GPU 00000000:07:00.0" begins a part of a log.
        if let Some((index, rest)) = listed.filter(|(index, _)| index.trim().len() <= 3)
            && let Ok(index) = index.trim().parse::<usize>()
        {
            let name = rest.split("(uuid").next().unwrap_or_default();
            if index == 0 {
                self.listed_count = 0;
            }
            self.listed_count += 1;
            self.listed = Some(index);
            machine.tool(if trimmed.starts_with("gpu#") {
                Tool::MxSmi
            } else {
                Tool::NvidiaSmi
            });
            if let Some(device) = machine.device(index) {
                device.nvidia = !trimmed.starts_with("gpu#");
                name_device(device, name, catalog);
            }
            return true;
        }
        if let Some(rest) = trimmed.strip_prefix("mig ")
            && let Some(slice) = profile(rest)
            && let Some(device) = self.listed.and_then(|i| machine.device(i))
        {
            device.mig = Some(true);
            if device.slices.len() < 16 {
                device.slices.push(slice);
            }
            return true;
        }
        // `nvidia-smi nvlink --status`: `Link 0: 26.562 GB/s`, `Link 1: <inactive>`.
        if let Some((number, rest)) = trimmed
            .strip_prefix("link ")
            .and_then(|rest| rest.split_once(':'))
            && number.parse::<u32>().is_ok_and(|n| n < 36)
            && let Some(device) = self.listed.and_then(|i| machine.device(i))
        {
            let (up, down) = device.direct_links.unwrap_or_default();
            device.direct_links = if rest.contains("inactive") {
                Some((up, down + 1))
            } else {
                Some((up + 1, down))
            };
            return true;
        }
        false
    }

    fn lspci(&mut self, line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
        const CLASSES: [Mark; 4] = [
            mark("3d controller"),
            mark("vga compatible"),
            mark("processing accelerator"),
            mark("display controller"),
        ];
        const VENDORS: [(Mark, &str); 7] = [
            (mark("nvidia"), "10de"),
            (mark("[amd/ati]"), "1002"),
            (mark("advanced micro"), "1002"),
            (mark("huawei"), "19e5"),
            (mark("10de:"), "10de"),
            (mark("1002:"), "1002"),
            (mark("19e5:"), "19e5"),
        ];
        let text = line.text;
        let addressed = line.may_have(b":.");
        let first = addressed.then(|| text.split(' ').next()).flatten();
        if first.is_some_and(is_bus_address) {
            self.pci = None;
            let vendor = VENDORS.iter().find(|(name, _)| line.has(name));
            let Some((_, vendor)) = vendor.filter(|_| CLASSES.iter().any(|c| line.has(c))) else {
                return false;
            };
            let vendor = *vendor;
            let line = text;
            let index = self.pci_count;
            self.pci = Some(index);
            self.pci_count += 1;
            machine.tool(Tool::Lspci);
            if let Some(device) = machine.device(index)
                && device.identity.is_none()
            {
                // "[10de:20b2]" of -nn, "Device 20b2" of an old list, else the name in brackets.
                let id = line
                    .split(&format!("{vendor}:"))
                    .nth(1)
                    .or_else(|| line.split(" device ").nth(1))
                    .and_then(|rest| rest.get(..4));
                device.nvidia = vendor == "10de";
                let name = line.rsplit_once('[').map_or(line, |_| line);
                device.identity = id.and_then(|id| pci_device(vendor, id));
                if device.identity.is_none() {
                    name_device(device, name, catalog);
                }
            }
            return true;
        }
        let Some(device) = self.pci.and_then(|i| machine.device(i)) else {
            return false;
        };
        let trimmed = text.trim_ascii_start();
        for (key, capable) in [("lnkcap:", true), ("lnksta:", false)] {
            let Some(rest) = trimmed.strip_prefix(key) else {
                continue;
            };
            let after = |word: &str| rest.split_once(word).and_then(|(_, r)| first_number(r));
            let generation = after("speed ").and_then(generation_of);
            let width = after("width x")
                .map(|n| n as u32)
                .filter(|n| *n <= 32 && *n > 0);
            if capable {
                device.pcie.generation_device_max = generation;
                device.pcie.width_max = width;
            } else {
                device.pcie.generation = generation;
                device.pcie.width = width;
            }
            return true;
        }
        // Whatever else lspci says of the device.
        text.starts_with(['\t', ' '])
    }

    /// `npu-smi info -m`: numbers, then the chip's name.
    fn npu_map(&mut self, line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
        const HEAD: [Mark; 2] = [mark("npu id"), mark("chip name")];
        if HEAD.iter().all(|mark| line.has(mark)) {
            machine.tool(Tool::NpuSmi);
            self.npu_map = true;
            return true;
        }
        if !self.npu_map {
            return false;
        }
        let words: Vec<&str> = line.text.split_whitespace().take(8).collect();
        let ids = words
            .iter()
            .take_while(|w| w.parse::<u32>().is_ok())
            .count();
        if ids < 2 || words.len() <= ids {
            self.npu_map = false;
            return false;
        }
        let name = words.get(ids..).unwrap_or_default().join(" ");
        let logic = words.get(2).and_then(|w| w.parse::<usize>().ok());
        if let (Some(index), true) = (logic, name.contains("ascend"))
            && let Some(device) = machine.device(index)
        {
            name_device(device, &name, catalog);
        }
        true
    }
}

/// A slice's profile: `3g.40gb`, `1g.10gb+me`, `1c.3g.40gb`.
fn profile(text: &str) -> Option<Slice> {
    let word = text.split([' ', '\t']).next()?;
    let (compute, memory) = word.rsplit_once("g.")?;
    let compute = compute
        .rsplit('.')
        .next()?
        .parse()
        .ok()
        .filter(|n| *n <= 8)?;
    let gb = first_number(memory)?;
    Some(Slice {
        memory_mib: Some(gb * 1024.0),
        compute: Some(compute),
        multiprocessors: None,
    })
}

/// A key and value of `rocm-smi`, from its lines or its JSON.
pub fn rocm_value(key: &str, text: &str, device: &mut Device, catalog: &Catalog) {
    const MIB: f64 = 1_048_576.0;
    let unnamed = device.identity.is_none();
    match key {
        "card series" | "card model" | "device name" | "market name" if unnamed => {
            if let Some(id) = text.strip_prefix("0x") {
                device.identity = pci_device("1002", id);
            } else {
                name_device(device, text, catalog);
            }
        }
        "gpu id" | "device id" if unnamed => {
            device.identity = text
                .strip_prefix("0x")
                .and_then(|id| pci_device("1002", id));
        }
        "vram total memory (b)" => device.memory_mib = value(text).map(|b| b / MIB),
        "vram total used memory (b)" => device.used_mib = value(text).map(|b| b / MIB),
        "available memory size (mib)" => device.memory_mib = value(text),
        "max graphics package power (w)" => {
            device.power_limit_w = device.power_limit_w.or(value(text));
        }
        "current power cap (w)" => device.power_limit_w = value(text),
        "average graphics package power (w)" | "current socket graphics package power (w)" => {
            device.power_draw_w = value(text);
        }
        "compute partition" => device.partition = Partition::read(text),
        "gpu use (%)" | "hcu use (%)" => device.utilization = value(text),
        "gpu memory allocated (vram%)" | "gpu memory use (%)" => device.used_percent = value(text),
        "temperature (sensor junction) (c)" => device.temperature_c = value(text),
        _ => {}
    }
}

/// A quick benchmark's line: `cardfit matmul bf16 245.3 TFLOPS`.
fn measured(line: Line<'_>, machine: &mut Machine) -> bool {
    const NAME: Mark = mark("cardfit ");
    let Some(rest) = line.after(&NAME) else {
        return false;
    };
    let figure = rest.split(' ').find_map(|word| word.parse::<f64>().ok());
    let (Some(word), Some(figure)) = (rest.split(' ').next(), figure) else {
        return false;
    };
    let found = match word {
        "matmul" => Measured::MatrixProduct(figure),
        "copy" => Measured::DeviceCopy(figure),
        "disk" => Measured::DiskRead(figure),
        "allreduce" => Measured::AllReduce(figure),
        _ => return false,
    };
    machine.tool(Tool::Benchmark);
    if machine.measured.len() < 64 {
        machine.measured.push(found);
    }
    true
}
