//! What a check finds. Findings carry figures and words of our own files only, never a pasted one: serial numbers,
//! UUIDs, bus addresses and process names cannot get into them.

use serde::Serialize;

use crate::dtype::ComputeDtype;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Which card it is.
    Card,
    /// How many cards.
    Count,
    /// Memory of a card.
    Memory,
    /// Type of that memory.
    MemoryType,
    /// Memory bandwidth.
    Bandwidth,
    /// Peak rate in a format.
    Rate(ComputeDtype),
    /// Peak rate in a format that is not named.
    RateOfUnnamedFormat,
    /// Unit of a rate.
    RateUnit,
    /// CUDA cores or stream processors.
    Cores,
    /// Generation of the matrix units.
    TensorCores,
    /// Board form.
    Form,
    /// Board power.
    Power,
    /// Links between cards.
    Link,
    /// Rate of those links.
    LinkRate,
    /// Architecture.
    Architecture,
    /// Manufacturing process.
    Process,
    /// Transistors.
    Transistors,
    /// Error correction.
    Ecc,
    /// Price of renting.
    RentalPrice,
    /// Price of buying.
    PurchasePrice,
    /// Whether one has the card to oneself.
    Sharing,
    /// Processor, host memory, disk, network of the machine.
    Host,
    /// Memory that a model needs.
    ModelMemory,
    /// Size of a model.
    ModelSize,
    /// A share that is gained or saved.
    Gain,
    /// A duration.
    Duration,
    /// Availability of a service.
    Availability,
    /// A storage class.
    StorageClass,
    /// Requests at once.
    Concurrency,
    /// A rate that a job is said to need.
    NeededRate,
    /// One card against another.
    Comparison,
    /// First of its kind.
    FirstOfItsKind,
    /// Power limit set on the machine.
    PowerLimit,
    /// Lanes of the PCIe link.
    PcieWidth,
    /// Generation of the PCIe link.
    PcieGeneration,
    /// A slice of a card (MIG), or a partition of an accelerator.
    Slice,
    /// A virtual card (vGPU).
    VirtualCard,
    /// What other processes hold.
    OtherProcesses,
    /// Why clocks are held down.
    Throttle,
    /// Clock of the compute units.
    Clock,
    /// Driver version.
    Driver,
    /// CUDA version of the driver.
    Cuda,
    /// State of the card as its tool sees it.
    Health,
    /// A measured matrix product.
    MatrixProduct,
    /// A measured copy within a card's memory.
    DeviceCopy,
    /// A measured read from disk.
    DiskRead,
    /// A measured all-reduce over cards.
    AllReduce,
}

/// How a claim or a reading stands to the datasheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is the datasheet's value, or as it should be.
    Right,
    /// It is not.
    Wrong,
    /// It is the figure with 2:4 sparsity, given without saying so.
    OnlyWithSparsity,
    /// It is this card's figure in another way of computing: vector units, FP16 accumulation, another format.
    OnlyOtherRate,
    /// It is the figure of another variant.
    OnlyOtherVariant,
    /// A price within what has been seen.
    PriceSeen,
    /// A price outside what has been seen.
    PriceOutside,
    /// Nothing here can tell.
    CannotTell,
    /// Neither right nor wrong, but worth knowing.
    Notice,
}

/// Unit of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each variant is the unit's own name")]
pub enum Unit {
    /// GB as on labels.
    Gb,
    Gib,
    Mib,
    GbPerS,
    Tflops,
    Tops,
    Watt,
    /// Cores, lanes, cards, requests: a bare number.
    One,
    Generation,
    Nm,
    /// Thousand millions.
    Billion,
    CnyPerHour,
    Cny,
    Percent,
    Hour,
    Mhz,
    Celsius,
    /// A version's first two numbers.
    Version,
}

/// A figure or a word as it was read, or as the datasheet has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// One figure, or a range.
    Figure {
        /// The figure, or the lower end.
        low: f64,
        /// The upper end; as `low` for one figure.
        high: f64,
        /// Unit.
        unit: Unit,
    },
    /// A word of our own: a card's name, `HBM3`, `SXM4`, `NVLink 3`.
    Word(String),
    /// A text's key, for words that have a language.
    Text(&'static str),
}

impl Reading {
    /// One figure.
    pub fn figure(value: f64, unit: Unit) -> Self {
        Self::Figure {
            low: value,
            high: value,
            unit,
        }
    }

    /// A word.
    pub fn word(word: impl Into<String>) -> Self {
        Self::Word(word.into())
    }
}

/// Why a verdict was given: a text's key with what is filled in.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Remark {
    /// Key after `check.remark.`.
    pub key: &'static str,
    /// What is filled in.
    pub values: Vec<(&'static str, Reading)>,
}

impl Remark {
    /// A remark without values.
    pub fn plain(key: &'static str) -> Self {
        Self {
            key,
            values: Vec::new(),
        }
    }

    /// With one value more.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Reading) -> Self {
        self.values.push((name, value));
        self
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub subject: Subject,
    /// Cards that it is about, ids of the catalog.
    pub cards: Vec<String>,
    /// Devices of the printout that it is about, numbered from 0; empty: the machine, or a listing.
    pub devices: Vec<u32>,
    /// What was read.
    pub read: Vec<Reading>,
    /// The datasheet's value, by card id.
    pub datasheet: Vec<(String, Reading)>,
    /// How the two stand to each other.
    pub verdict: Verdict,
    /// For which cards the claim holds, where not for all of `cards`.
    pub holds_for: Vec<String>,
    /// Why.
    pub remarks: Vec<Remark>,
    /// What to ask the provider: key after `check.ask.`.
    pub ask: Option<&'static str>,
}

impl Finding {
    /// A finding without a datasheet value, remark or question.
    pub fn new(subject: Subject, verdict: Verdict) -> Self {
        Self {
            subject,
            cards: Vec::new(),
            devices: Vec::new(),
            read: Vec::new(),
            datasheet: Vec::new(),
            verdict,
            holds_for: Vec::new(),
            remarks: Vec::new(),
            ask: None,
        }
    }

    /// Whether both say the same, of whichever devices.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let Self {
            subject,
            cards,
            devices: _,
            read,
            datasheet,
            verdict,
            holds_for,
            remarks,
            ask,
        } = self;
        *subject == other.subject
            && *verdict == other.verdict
            && *read == other.read
            && *remarks == other.remarks
            && *cards == other.cards
            && *datasheet == other.datasheet
            && *holds_for == other.holds_for
            && *ask == other.ask
    }

    /// With the cards that it is about.
    #[must_use]
    pub fn about(mut self, cards: &[String]) -> Self {
        self.cards = cards.to_vec();
        self
    }

    /// With devices of a printout.
    #[must_use]
    pub fn on(mut self, devices: &[u32]) -> Self {
        self.devices = devices.to_vec();
        self
    }

    /// With what was read.
    #[must_use]
    pub fn reads(mut self, reading: Reading) -> Self {
        self.read.push(reading);
        self
    }

    /// With a card's datasheet value.
    #[must_use]
    pub fn against(mut self, card: &str, reading: Reading) -> Self {
        self.datasheet.push((card.to_owned(), reading));
        self
    }

    /// With a remark.
    #[must_use]
    pub fn because(mut self, remark: Remark) -> Self {
        self.remarks.push(remark);
        self
    }

    /// With a question to the provider.
    #[must_use]
    pub fn ask(mut self, key: &'static str) -> Self {
        self.ask = Some(key);
        self
    }
}
