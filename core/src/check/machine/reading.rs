//! What printouts tell of a machine: figures and known names only.

use serde::Serialize;

use super::line::{Line, Mark, mark};
use crate::check::names::Identity;

/// A tool whose printout was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each variant is the tool's own name")]
pub enum Tool {
    NvidiaSmi,
    NvidiaSmiQuery,
    NvidiaSmiCsv,
    NvidiaSmiTopo,
    RocmSmi,
    AmdSmi,
    NpuSmi,
    MxSmi,
    Cnmon,
    MthreadsGmi,
    Lspci,
    KernelLog,
    Gpustat,
    Torch,
    Benchmark,
}

impl Tool {
    /// Name as one types it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NvidiaSmi => "nvidia-smi",
            Self::NvidiaSmiQuery => "nvidia-smi -q",
            Self::NvidiaSmiCsv => "nvidia-smi --query-gpu",
            Self::NvidiaSmiTopo => "topo -m",
            Self::RocmSmi => "rocm-smi",
            Self::AmdSmi => "amd-smi",
            Self::NpuSmi => "npu-smi",
            Self::MxSmi => "mx-smi",
            Self::Cnmon => "cnmon",
            Self::MthreadsGmi => "mthreads-gmi",
            Self::KernelLog => "dmesg",
            Self::Lspci => "lspci",
            Self::Gpustat => "gpustat",
            Self::Torch => "torch.cuda",
            Self::Benchmark => "cardfit",
        }
    }
}

/// A version's first three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The version that `text` begins with after anything that is no digit.
    pub fn read(text: &str) -> Option<Self> {
        let at = text.find(|c: char| c.is_ascii_digit())?;
        let mut parts = text
            .get(at..)?
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .next()?
            .split('.')
            .map(|part| part.get(..part.len().min(6)).unwrap_or_default());
        let major = parts.next()?.parse().ok()?;
        let mut rest = || parts.next().and_then(|p| p.parse().ok()).unwrap_or(0);
        Some(Self(major, rest(), rest()))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// Why clocks are held down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Throttle {
    /// The power limit is reached: usual under load.
    PowerCap,
    /// The board asks for it.
    Hardware,
    /// Too hot, by the board.
    HardwareThermal,
    /// The machine's power supply asks for it.
    PowerBrake,
    /// Too hot, by the driver.
    SoftwareThermal,
    /// Clocks are set lower by hand.
    ApplicationClocks,
    /// Held to the slowest card of a group.
    SyncBoost,
}

impl Throttle {
    /// The reason of a `nvidia-smi -q` line or a CSV column.
    pub fn of(name: &str) -> Option<Self> {
        let name = name.replace('_', " ");
        Some(match name.trim() {
            n if n.starts_with("sw power cap") => Self::PowerCap,
            n if n.starts_with("hw thermal") => Self::HardwareThermal,
            n if n.starts_with("hw power brake") => Self::PowerBrake,
            n if n.starts_with("hw slowdown") => Self::Hardware,
            n if n.starts_with("sw thermal") => Self::SoftwareThermal,
            n if n.starts_with("applications clocks") => Self::ApplicationClocks,
            n if n.starts_with("sync boost") => Self::SyncBoost,
            _ => return None,
        })
    }

    /// The reasons of NVML's bit mask.
    pub fn of_mask(mask: u64) -> Vec<Self> {
        [
            (0x2, Self::ApplicationClocks),
            (0x4, Self::PowerCap),
            (0x8, Self::Hardware),
            (0x10, Self::SyncBoost),
            (0x20, Self::SoftwareThermal),
            (0x40, Self::HardwareThermal),
            (0x80, Self::PowerBrake),
        ]
        .into_iter()
        .filter(|(bit, _)| mask & bit != 0)
        .map(|(_, reason)| reason)
        .collect()
    }
}

/// A slice of a card, as MIG makes them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Slice {
    /// Its memory, MiB.
    pub memory_mib: Option<f64>,
    /// Sevenths of the card's compute units (quarters of an A30's), 3 of `3g.40gb`.
    pub compute: Option<u32>,
    /// Multiprocessors.
    pub multiprocessors: Option<u32>,
}

/// How an AMD accelerator is partitioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "each variant is AMD's own name")]
pub enum Partition {
    Spx,
    Dpx,
    Tpx,
    Qpx,
    Cpx,
}

impl Partition {
    /// AMD's name.
    pub fn read(text: &str) -> Option<Self> {
        [
            ("spx", Self::Spx),
            ("dpx", Self::Dpx),
            ("tpx", Self::Tpx),
            ("qpx", Self::Qpx),
            ("cpx", Self::Cpx),
        ]
        .into_iter()
        .find(|(name, _)| {
            text.split(|c: char| !c.is_ascii_alphanumeric())
                .any(|word| word == *name)
        })
        .map(|(_, partition)| partition)
    }

    /// Parts that an MI300X falls into.
    pub fn parts(self) -> u32 {
        match self {
            Self::Spx => 1,
            Self::Dpx => 2,
            Self::Tpx => 3,
            Self::Qpx => 4,
            Self::Cpx => 8,
        }
    }
}

/// PCIe link of a device.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Pcie {
    /// Generation now; it falls when the card rests.
    pub generation: Option<u32>,
    /// The most that card and slot agree on.
    pub generation_max: Option<u32>,
    /// The most that the card can.
    pub generation_device_max: Option<u32>,
    /// The most that the slot can.
    pub generation_host_max: Option<u32>,
    /// Lanes now.
    pub width: Option<u32>,
    /// The most lanes.
    pub width_max: Option<u32>,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Device {
    /// What its name says.
    #[serde(skip)]
    pub identity: Option<Identity>,
    /// A fingerprint of that name, so that a printout of the same machine is not looked up again.
    #[serde(skip)]
    pub named: Option<u64>,
    /// Total memory, MiB.
    pub memory_mib: Option<f64>,
    /// Memory in use, MiB.
    pub used_mib: Option<f64>,
    /// Memory in use, percent, where only that is printed.
    pub used_percent: Option<f64>,
    /// Power limit that is set, W.
    pub power_limit_w: Option<f64>,
    /// Power limit that the board has by default, W.
    pub power_default_w: Option<f64>,
    /// Power drawn, W.
    pub power_draw_w: Option<f64>,
    /// PCIe link.
    pub pcie: Pcie,
    /// Error correction.
    pub ecc: Option<bool>,
    /// Errors that could not be corrected, pages or rows that wait for replacement.
    pub ecc_errors: Option<f64>,
    /// Whether it is cut into slices.
    pub mig: Option<bool>,
    /// Slices that can be seen.
    pub slices: Vec<Slice>,
    /// A virtual card.
    pub is_virtual: bool,
    /// Why clocks are held down.
    pub throttles: Vec<Throttle>,
    /// Clock of the multiprocessors, MHz.
    pub clock_mhz: Option<f64>,
    /// The highest that it goes, MHz.
    pub clock_max_mhz: Option<f64>,
    /// Temperature, degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Share of the time that it computed, percent.
    pub utilization: Option<f64>,
    /// Performance state, 0 the fastest.
    pub performance_state: Option<u32>,
    /// Processes that hold memory.
    pub processes: u32,
    /// What they hold, MiB.
    pub process_mib: f64,
    /// How it is partitioned.
    pub partition: Option<Partition>,
    /// NVLinks that work, and those that are off.
    pub direct_links: Option<(u32, u32)>,
    /// Whether its tool calls it well.
    pub healthy: Option<bool>,
    /// Market name was cut or missing, maker is NVIDIA's GeForce line.
    #[serde(skip)]
    pub cut_geforce: bool,
    /// An NVIDIA card, by the tool that printed it.
    #[serde(skip)]
    pub nvidia: bool,
}

/// What joins two devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// NVLink, XGMI, HCCS, MetaXLink: so many links where it is said.
    Direct(u32),
    /// One PCIe switch.
    Switch,
    /// Several PCIe switches.
    Switches,
    /// Over a processor's host bridge.
    Host,
    /// Over one processor's interconnect between host bridges.
    Node,
    /// Between processors.
    System,
}

impl Link {
    /// The link that a topology's cell means.
    pub fn read(cell: &str) -> Option<Self> {
        Some(match cell {
            "pix" => Self::Switch,
            "pxb" => Self::Switches,
            "phb" => Self::Host,
            "node" => Self::Node,
            "sys" | "soc" | "qpi" | "upi" => Self::System,
            "hccs" | "xgmi" | "mx" | "hccs_sw" | "metaxlink" => Self::Direct(0),
            "pcie" => Self::Host,
            "sio" => Self::Direct(0),
            _ => {
                let links = cell
                    .strip_prefix("nv")
                    .or_else(|| cell.strip_prefix("mx"))?;
                Self::Direct(links.parse().ok().filter(|n| *n <= 36)?)
            }
        })
    }
}

/// Figures of a quick benchmark, read back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "benchmark", content = "value")]
pub enum Measured {
    /// A matrix product in a 16-bit format, TFLOPS.
    MatrixProduct(f64),
    /// A copy within a card's memory, read and written, GB/s.
    DeviceCopy(f64),
    /// A read from disk, GB/s.
    DiskRead(f64),
    /// An all-reduce's bus rate, GB/s.
    AllReduce(f64),
}

/// Everything that a paste tells.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Machine {
    /// Tools whose printouts were recognised.
    pub tools: Vec<Tool>,
    /// Driver.
    pub driver: Option<Version>,
    /// CUDA version that the driver supports.
    pub cuda: Option<Version>,
    /// Devices in their order.
    pub devices: Vec<Device>,
    /// Links of every pair that was printed.
    pub links: Vec<Link>,
    /// Devices that the tool counted.
    pub attached: Option<u32>,
    /// A table or log that breaks off.
    pub cut_off: bool,
    /// Benchmarks read back.
    pub measured: Vec<Measured>,
    /// What the tools say went wrong.
    pub failures: Vec<Failure>,
    /// A list of processes was printed, if only an empty one.
    #[serde(skip)]
    pub lists_processes: bool,
}

/// Why a tool printed no card, or one card less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The tool is not there.
    NoTool,
    /// The driver does not answer.
    NoDriver,
    /// Driver and library are of different versions.
    VersionMismatch,
    /// No device was found.
    NoDevices,
    /// A card does not answer any more.
    LostCard,
    /// The driver reports memory errors that could not be corrected.
    MemoryErrors,
    /// The driver reports errors of NVLink.
    LinkErrors,
    /// The card's own processor stopped answering the driver.
    Firmware,
    /// A program's own fault, most of the time.
    ProgramFault,
}

impl Failure {
    /// The failure that a line of a terminal tells of.
    pub(super) fn read(line: Line<'_>) -> Option<Self> {
        const TOOLS: [Mark; 7] = [
            mark("nvidia-smi"),
            mark("rocm-smi"),
            mark("amd-smi"),
            mark("npu-smi"),
            mark("mx-smi"),
            mark("nvml"),
            mark("dcmi"),
        ];
        const MARKS: [(Mark, Failure); 12] = [
            (
                mark("driver/library version mismatch"),
                Failure::VersionMismatch,
            ),
            (
                mark("couldn't communicate with the nvidia driver"),
                Failure::NoDriver,
            ),
            (mark("failed to initialize nvml"), Failure::NoDriver),
            (mark("dcmi module initialize failed"), Failure::NoDriver),
            (
                mark("driver not initialized (amdgpu not found"),
                Failure::NoDriver,
            ),
            (mark("no devices were found"), Failure::NoDevices),
            (mark("no amd gpus"), Failure::NoDevices),
            (mark("gpu is lost"), Failure::LostCard),
            (mark("has fallen off the bus"), Failure::LostCard),
            (
                mark("unable to determine the device handle"),
                Failure::LostCard,
            ),
            (mark("command not found"), Failure::NoTool),
            (mark("未找到命令"), Failure::NoTool),
        ];
        const LONGEST: usize = 400;
        if line.text.len() > LONGEST {
            return None;
        }
        let (_, failure) = MARKS.iter().find(|(mark, _)| line.has(mark))?;
        (*failure != Self::NoTool || TOOLS.iter().any(|tool| line.has(tool))).then_some(*failure)
    }
}

impl Failure {
    /// `NVRM: Xid (PCI:0000:65:00): 48, ...` of the kernel's log, by NVIDIA's table of Xid errors
    /// (docs.nvidia.com/deploy/xid-errors).
    pub(super) fn of_xid(line: Line<'_>) -> Option<Self> {
        const XID: Mark = mark("xid (");
        let (_, rest) = line.after(&XID)?.split_once("): ")?;
        let digits = rest.find(|sign: char| !sign.is_ascii_digit())?;
        match rest.get(..digits)?.parse::<u32>().ok()? {
            48 | 63 | 64 | 94 | 95 => Some(Self::MemoryErrors),
            74 => Some(Self::LinkErrors),
            79 => Some(Self::LostCard),
            119 | 120 => Some(Self::Firmware),
            13 | 31 | 43 | 45 => Some(Self::ProgramFault),
            _ => None,
        }
    }
}

/// Most devices of one paste.
pub const MOST_DEVICES: usize = 256;

impl Machine {
    /// Notes a tool.
    pub fn tool(&mut self, tool: Tool) {
        if !self.tools.contains(&tool) {
            self.tools.push(tool);
        }
    }

    /// The device of that number, made where it is new. `None` beyond [`MOST_DEVICES`].
    pub fn device(&mut self, index: usize) -> Option<&mut Device> {
        if index >= MOST_DEVICES {
            return None;
        }
        while self.devices.len() <= index {
            self.devices.push(Device::default());
        }
        self.devices.get_mut(index)
    }
}
