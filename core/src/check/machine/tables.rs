//! Tables with bars: `nvidia-smi`, `mx-smi`, `npu-smi info` and `amd-smi`.

use super::line::{Line, Mark, mark};
use super::parts::{cells, is_bus_address, name_device, number_before, used_and_total, value};
use super::reading::{Machine, Partition, Slice, Tool, Version};
use crate::catalog::Catalog;
use crate::check::number::numbers;

/// Where in a table the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    /// Devices.
    #[default]
    Devices,
    /// MIG slices.
    Slices,
    /// Processes.
    Processes,
}

/// Reads tables line by line.
#[derive(Debug, Default)]
pub struct Tables {
    tool: Option<Tool>,
    part: Part,
    /// Device whose rows are being read.
    current: Option<usize>,
    /// Devices of this table so far.
    count: usize,
    /// `npu-smi`: number of the NPU and of its chip, for every device of this table.
    chips: Vec<(usize, usize)>,
    /// A table has begun and not ended.
    pub open: bool,
}

impl Tables {
    /// Reads a line; whether it was of a table.
    pub fn line(&mut self, line: Line<'_>, machine: &mut Machine, catalog: &Catalog) -> bool {
        if line.text.starts_with("+-") || line.text.starts_with("+=") {
            self.open &= self.part == Part::Devices && self.current.is_none() && self.count == 0;
            return true;
        }
        // The lines of mthreads-gmi begin without a bar, and its narrowest one looks like a table's.
        if self.tool.is_none() && machine.tools.contains(&Tool::MthreadsGmi) {
            return false;
        }
        let Some(cells) = cells(line.text) else {
            return false;
        };
        self.open = true;
        if self.header(line, machine) {
            return true;
        }
        match self.part {
            Part::Slices => self.slice(&cells, machine),
            Part::Processes => self.process(&cells, machine),
            Part::Devices => {
                self.device(line, &cells, machine, catalog);
            }
        }
        true
    }

    fn begin(&mut self, tool: Tool, machine: &mut Machine) {
        machine.tool(tool);
        *self = Self {
            tool: Some(tool),
            open: true,
            ..Self::default()
        };
    }

    fn header(&mut self, line: Line<'_>, machine: &mut Machine) -> bool {
        const NVIDIA: Mark = mark("nvidia-smi");
        const NPU: Mark = mark("npu-smi ");
        const METAX: Mark = mark("mx-smi ");
        const AMD: Mark = mark("amd-smi ");
        const VERSION: Mark = mark("version");
        const DRIVER: Mark = mark("driver version");
        // Since driver 610 the two versions go by the names of what they are of.
        const KMD: Mark = mark("kmd version");
        const CUDA: Mark = mark("cuda version");
        const CUDA_UMD: Mark = mark("cuda umd version");
        const CNMON: Mark = mark("cnmon v");
        const CNMON_DRIVER: Mark = mark("driver v");
        const ROCM: Mark = mark("rocm version");
        const SLICES: Mark = mark("mig devices:");
        const PROCESSES: [Mark; 3] = [mark("processes:"), mark("process id"), mark("process:")];
        const RULES: [Mark; 2] = [mark("==="), mark("---")];
        if line.has(&NVIDIA) && (line.has(&DRIVER) || line.has(&KMD)) {
            self.begin(Tool::NvidiaSmi, machine);
            machine.driver = line
                .after(&DRIVER)
                .or_else(|| line.after(&KMD))
                .and_then(Version::read);
            machine.cuda = line
                .after(&CUDA)
                .or_else(|| line.after(&CUDA_UMD))
                .and_then(Version::read);
        } else if line.has(&NPU) && line.has(&VERSION) {
            self.begin(Tool::NpuSmi, machine);
            machine.driver = line.after(&VERSION).and_then(Version::read);
        } else if line.has(&METAX) && line.has(&VERSION) {
            self.begin(Tool::MxSmi, machine);
            machine.driver = line.after(&DRIVER).and_then(Version::read);
        } else if line.has(&AMD) && line.has(&VERSION) {
            self.begin(Tool::AmdSmi, machine);
            machine.driver = line.after(&ROCM).and_then(Version::read);
        } else if line.has(&CNMON) {
            self.begin(Tool::Cnmon, machine);
            machine.driver = line.after(&CNMON_DRIVER).and_then(Version::read);
        } else if line.has(&SLICES) {
            self.part = Part::Slices;
        } else if PROCESSES.iter().any(|mark| line.has(mark)) {
            self.part = Part::Processes;
            machine.lists_processes = true;
        } else {
            // A rule inside a table.
            return RULES.iter().any(|mark| line.has(mark));
        }
        true
    }

    /// A row of a device, and the line that its cells are of.
    fn device(&mut self, line: Line<'_>, cells: &[&str], machine: &mut Machine, catalog: &Catalog) {
        if let [board, gpu, bus, rest] = cells
            && self.tool.is_none_or(|tool| tool == Tool::MxSmi)
            && (board.contains("metax") || board.contains("mxc") || self.current.is_some())
        {
            // mx-smi since 2.2 has a cell of its own for the board, and power before the temperature.
            let second = format!("{gpu} {board}");
            let first = if bus.contains('/') {
                second.as_str()
            } else {
                *board
            };
            return self.device(line, &[first, *bus, *rest], machine, catalog);
        }
        const LOST: Mark = mark("err!");
        let addressed = line.may_have(b":.");
        let slashed = line.may_have(b"/");
        let has_address = |cell: &str| addressed && cell.split(' ').any(is_bus_address);
        let [first, second, third] = three(cells);
        let mut words = first.split(' ').filter(|w| !w.is_empty());
        let index: Option<usize> = words.next().and_then(|w| w.parse().ok());
        let named = words
            .next()
            .is_some_and(|w| w.bytes().any(|b| b.is_ascii_alphabetic()))
            || first
                .split(' ')
                .any(|w| w.len() >= 4 && w.starts_with("910"));
        // cnmon: a virtual function's number stands between the card's and its name.
        let named = named || self.tool == Some(Tool::Cnmon);
        // amd-smi: address and name in one cell.
        if has_address(first) && cells.len() == 2 {
            let name = first
                .split(' ')
                .filter(|w| !is_bus_address(w))
                .collect::<Vec<_>>()
                .join(" ");
            self.amd_first(&name, second, machine, catalog);
        } else if index.is_some() && named && (has_address(second) || is_health(second)) {
            self.first_row(index.unwrap_or_default(), cells, machine, catalog);
        } else if self.tool == Some(Tool::NpuSmi) && (has_address(second) || second == "na") {
            self.npu_second(first, third, machine);
        } else if slashed && cells.len() == 2 && second.contains('/') && first.contains('/') {
            self.amd_second(first, second, machine);
        } else if slashed && second.contains('/') && second.contains("mib") {
            self.second_row(cells, machine);
        } else if slashed && (first.contains("w /") || first.contains("n/a / n/a")) {
            // A slice's owner may not see the whole card's memory.
            self.power(first, machine);
        } else if matches!(third, "enabled" | "disabled" | "enabled*" | "disabled*")
            && let Some(device) = self.current.and_then(|i| machine.device(i))
        {
            device.mig = Some(third.starts_with("enabled"));
        }
        // A card that does not answer.
        if line.has(&LOST)
            && let Some(device) = self.current.and_then(|i| machine.device(i))
        {
            device.healthy = Some(false);
        }
    }

    fn first_row(
        &mut self,
        index: usize,
        cells: &[&str],
        machine: &mut Machine,
        catalog: &Catalog,
    ) {
        let [first, second, third] = three(cells);
        if self.tool == Some(Tool::NpuSmi) {
            self.chips.push((index, 0));
        }
        // npu-smi numbers slots, and lists both chips of a 910C under one; others number devices.
        let index = if self.tool == Some(Tool::NpuSmi) || index > self.count + 64 {
            self.count
        } else {
            index
        };
        self.count += 1;
        self.current = Some(index);
        let nvidia = self.tool == Some(Tool::NvidiaSmi)
            || (self.tool.is_none() && second.contains(' ') && !is_health(second));
        if self.tool.is_none() && nvidia {
            // The head was not pasted.
            machine.tool(Tool::NvidiaSmi);
        }
        let is_npu = is_health(second);
        let Some(device) = machine.device(index) else {
            return;
        };
        device.nvidia = nvidia;
        let name = first
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim();
        let name = ["on", "off", "wddm", "tcc", "mcdm"]
            .iter()
            .find_map(|mode| name.strip_suffix(mode).filter(|n| n.ends_with(' ')))
            .unwrap_or(name);
        name_device(device, name, catalog);
        if is_npu {
            device.healthy = Some(second == "ok");
            let mut figures = numbers(third);
            device.power_draw_w = figures.next().filter(|_| !third.starts_with('-'));
            machine.tool(Tool::NpuSmi);
        } else if nvidia {
            match third {
                "off" => device.ecc = Some(false),
                "n/a" => {}
                "err!" => device.healthy = Some(false),
                _ => {
                    if let Some(errors) = value(third) {
                        device.ecc = Some(true);
                        device.ecc_errors = Some(errors);
                    }
                }
            }
        } else {
            device.utilization = value(third);
        }
    }

    fn second_row(&mut self, cells: &[&str], machine: &mut Machine) {
        let [first, second, third] = three(cells);
        self.power(first, machine);
        let Some(device) = self.current.and_then(|i| machine.device(i)) else {
            return;
        };
        if let Some((used, total)) = used_and_total(second) {
            device.used_mib = Some(used);
            device.memory_mib = Some(total);
        }
        if third.contains('%') {
            device.utilization = value(third);
        } else if third == "available" || third.contains("unavailable") {
            device.healthy = Some(third == "available");
        }
    }

    fn power(&mut self, cell: &str, machine: &mut Machine) {
        let Some(device) = self.current.and_then(|i| machine.device(i)) else {
            return;
        };
        if let Some((drawn, limit)) = cell.rsplit_once('/') {
            device.power_limit_w = value(limit.trim());
            device.power_draw_w = number_before(drawn.trim(), 'w');
        } else {
            device.power_draw_w = number_before(cell, 'w');
        }
        device.temperature_c = number_before(cell, 'c');
        device.performance_state = cell
            .split(' ')
            .find_map(|word| word.strip_prefix('p')?.parse().ok().filter(|n| *n <= 15));
    }

    fn npu_second(&mut self, first: &str, third: &str, machine: &mut Machine) {
        if let (Some(chip), Some(last)) = (value(first), self.chips.last_mut()) {
            last.1 = chip as usize;
        }
        let Some(device) = self.current.and_then(|i| machine.device(i)) else {
            return;
        };
        device.utilization = value(third);
        if let Some((used, total)) = used_and_total(third).filter(|(_, total)| *total > 0.0) {
            device.used_mib = Some(used);
            device.memory_mib = Some(total);
        }
    }

    fn amd_first(&mut self, name: &str, second: &str, machine: &mut Machine, catalog: &Catalog) {
        let index = self.count;
        self.count += 1;
        self.current = Some(index);
        machine.tool(Tool::AmdSmi);
        let Some(device) = machine.device(index) else {
            return;
        };
        name_device(device, name, catalog);
        if let Some((drawn, limit)) = used_and_total(second) {
            device.power_draw_w = Some(drawn);
            device.power_limit_w = Some(limit).filter(|w| *w > 0.0);
        }
        // Memory use, temperature, uncorrectable errors, power.
        let errors = second.split_once("°c").and_then(|(_, rest)| {
            let first = rest.split_whitespace().next()?;
            first.parse::<f64>().ok()
        });
        device.ecc_errors = errors.or(device.ecc_errors);
        // "Linux Guest" and "VF": a virtual function of one whole card, as clouds hand them out.
    }

    fn amd_second(&mut self, first: &str, second: &str, machine: &mut Machine) {
        let Some(device) = self.current.and_then(|i| machine.device(i)) else {
            return;
        };
        device.partition = Partition::read(first);
        device.utilization = value(second);
        if let Some((used, total)) = used_and_total(second).filter(|(_, total)| *total > 1024.0) {
            device.used_mib = Some(used);
            device.memory_mib = Some(total);
        }
    }

    fn slice(&mut self, cells: &[&str], machine: &mut Machine) {
        let first = cells.first().copied().unwrap_or_default();
        let mut ids = first.split(' ').filter(|w| !w.is_empty());
        let Some(index) = ids.next().and_then(|w| w.parse::<usize>().ok()) else {
            return;
        };
        let Some((used, total)) = cells.get(1).and_then(|cell| used_and_total(cell)) else {
            return;
        };
        let multiprocessors = cells
            .get(2)
            .and_then(|cell| value(cell))
            .map(|n| n as u32)
            .filter(|n| *n > 0);
        if let Some(device) = machine.device(index)
            && device.slices.len() < 16
        {
            device.mig = Some(true);
            device.slices.push(Slice {
                memory_mib: Some(total),
                compute: None,
                multiprocessors,
            });
            device.used_mib = device.used_mib.or(Some(used));
        }
    }

    fn process(&mut self, cells: &[&str], machine: &mut Machine) {
        let first = cells.first().copied().unwrap_or_default();
        let mut ids = first
            .split(' ')
            .filter(|w| !w.is_empty())
            .map(|w| w.parse::<usize>().ok());
        let Some(mut index) = ids.next().flatten() else {
            return;
        };
        if self.tool == Some(Tool::NpuSmi) {
            let chip = ids.next().flatten().unwrap_or(0);
            let Some(at) = self.chips.iter().position(|c| *c == (index, chip)) else {
                return;
            };
            index = at;
        }
        // npu-smi and mx-smi have cells, nvidia-smi has one line: the last word is what is held.
        let last = cells.last().copied().unwrap_or_default();
        let word = last.split(' ').next_back().unwrap_or_default();
        let unit = last.contains("mib") || cells.len() >= 4;
        let held = if unit {
            value(word).or_else(|| value(last))
        } else {
            None
        };
        // Only devices that the table lists.
        if index < machine.devices.len()
            && let Some(device) = machine.device(index)
        {
            device.processes = device.processes.saturating_add(1);
            device.process_mib += held.unwrap_or(0.0);
        }
    }
}

/// The first three cells; missing ones are empty.
fn three<'a>(cells: &[&'a str]) -> [&'a str; 3] {
    std::array::from_fn(|i| cells.get(i).copied().unwrap_or_default())
}

fn is_health(cell: &str) -> bool {
    matches!(
        cell,
        "ok" | "warning" | "alarm" | "critical" | "unknown" | "offline"
    )
}
