//! What values may be: every range is stated here, once, and read by the link parser, the
//! page's inputs, the link documentation and the random tests.

/// What a number counts, and so which suffixes it may carry in a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A plain number or a count of things.
    One,
    /// Tokens.
    Tokens,
    /// Seconds; `ms`, `s`.
    Seconds,
    /// Hours; `h`, `d`, `w`.
    Hours,
    /// Hours of one day.
    HoursPerDay,
    /// Pixels.
    Pixels,
    /// Hours of audio.
    AudioHours,
    /// Floating-point operations.
    Operations,
    /// Operations for a byte.
    OperationsPerByte,
    /// The scenario's currency.
    Money,
    /// Yuan for one dollar.
    YuanPerDollar,
    /// Requests a second.
    PerSecond,
    /// Dollars for one euro.
    DollarsPerEuro,
    /// GB (1e9 bytes).
    Gigabytes,
    /// GiB (2^30 bytes), as drivers print a card's memory.
    Gibibytes,
    /// Mbit/s.
    MegabitPerSecond,
    /// Per cent.
    Percent,
    /// Days.
    Days,
    /// Months.
    Months,
    /// Hours of one month.
    HoursPerMonth,
    /// Events in an hour.
    PerHour,
    /// W.
    Watts,
    /// The scenario's currency for a GB a month.
    MoneyPerGbMonth,
    /// The scenario's currency for a GB.
    MoneyPerGb,
    /// The scenario's currency for a kWh.
    MoneyPerKwh,
    /// The scenario's currency a month.
    MoneyPerMonth,
}

impl Unit {
    /// Key of the unit's text.
    pub fn label_key(self) -> &'static str {
        match self {
            Self::One => "unit.one",
            Self::Tokens => "unit.tokens",
            Self::Seconds => "unit.seconds",
            Self::Hours => "unit.hours",
            Self::HoursPerDay => "unit.hours_per_day",
            Self::Pixels => "unit.pixels",
            Self::Gigabytes => "unit.gigabytes",
            Self::Gibibytes => "unit.gibibytes",
            Self::AudioHours => "unit.audio_hours",
            Self::Operations => "unit.operations",
            Self::OperationsPerByte => "unit.operations_per_byte",
            Self::Money => "unit.money",
            Self::YuanPerDollar => "unit.yuan_per_dollar",
            Self::PerSecond => "unit.per_second",
            Self::DollarsPerEuro => "unit.dollars_per_euro",
            Self::MegabitPerSecond => "unit.megabit_per_second",
            Self::Percent => "unit.percent",
            Self::Days => "unit.days",
            Self::Months => "unit.months",
            Self::HoursPerMonth => "unit.hours_per_month",
            Self::PerHour => "unit.per_hour",
            Self::Watts => "unit.watts",
            Self::MoneyPerGbMonth => "unit.money_per_gb_month",
            Self::MoneyPerGb => "unit.money_per_gb",
            Self::MoneyPerKwh => "unit.money_per_kwh",
            Self::MoneyPerMonth => "unit.money_per_month",
        }
    }

    /// Whether it is an amount of the scenario's currency, for whatever.
    pub fn is_money(self) -> bool {
        matches!(
            self,
            Self::Money
                | Self::MoneyPerGbMonth
                | Self::MoneyPerGb
                | Self::MoneyPerKwh
                | Self::MoneyPerMonth
        )
    }
}

/// The range of one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Name of the parameter in a link.
    pub name: &'static str,
    /// Least value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// What holds when the link is silent; `None`: it depends on the job or the model, or the
    /// value is chosen by search.
    pub default: Option<f64>,
    /// Only whole numbers.
    pub whole: bool,
    /// What is counted.
    pub unit: Unit,
}

/// Why a number is not within its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutOfLimit {
    /// NaN.
    NotANumber,
    /// Below the least value.
    TooSmall,
    /// Above the largest value.
    TooLarge,
    /// Has a fraction where only whole numbers make sense.
    NotWhole,
}

impl Limit {
    /// Whether `value` may be used, and else why not.
    ///
    /// # Errors
    /// The first of the limit's conditions that does not hold.
    pub fn check(&self, value: f64) -> Result<f64, OutOfLimit> {
        if value.is_nan() {
            Err(OutOfLimit::NotANumber)
        } else if value < self.min {
            Err(OutOfLimit::TooSmall)
        } else if value > self.max {
            Err(OutOfLimit::TooLarge)
        } else if self.whole && value.fract() != 0.0 {
            Err(OutOfLimit::NotWhole)
        } else {
            Ok(value)
        }
    }

    /// The limit of a parameter.
    pub fn of(name: &str) -> Option<&'static Self> {
        ALL.iter().copied().find(|limit| limit.name == name)
    }
}

/// States limits: `NAME: "parameter", unit, min, max, default;`, whole or real numbers.
macro_rules! limits {
    ($($(#[$doc:meta])* $const:ident: $name:literal $kind:ident $unit:ident $min:literal ..= $max:literal, $default:expr;)+) => {
        $(
            $(#[$doc])*
            pub const $const: Limit = Limit {
                name: $name,
                min: $min,
                max: $max,
                default: $default,
                whole: limits!(@whole $kind),
                unit: Unit::$unit,
            };
        )+

        /// Every limit.
        pub const ALL: &[&Limit] = &[$(&$const),+];
    };
    (@whole whole) => { true };
    (@whole real) => { false };
}

limits! {
    /// Blocks of a brought model.
    LAYERS: "layers" whole One 1.0..=1000.0, Some(32.0);
    /// Width of the residual stream.
    HIDDEN: "hidden" whole One 16.0..=131_072.0, Some(4096.0);
    /// Query heads.
    HEADS: "heads" whole One 1.0..=4096.0, Some(32.0);
    /// Key and value heads; silent: as many as query heads.
    KV_HEADS: "kvheads" whole One 1.0..=4096.0, None;
    /// Width of a head; silent: `hidden / heads`.
    HEAD_DIM: "hd" whole One 1.0..=8192.0, None;
    /// Sliding window; silent: the whole context.
    WINDOW: "window" whole Tokens 1.0..=16_777_216.0, None;
    /// Width of dense feed-forward networks; silent: 8/3 of `hidden` up to a multiple of 256
    /// where gated, else four times `hidden`; 0 where every block holds experts.
    FFN: "ffn" whole One 0.0..=1_048_576.0, None;
    /// Rows of the embedding.
    VOCAB: "vocab" whole One 1.0..=16_777_216.0, Some(32_000.0);
    /// Routed experts of a block; silent: a dense model.
    EXPERTS: "experts" whole One 1.0..=4096.0, None;
    /// Routed experts used for one token.
    EXPERTS_PER_TOKEN: "top" whole One 1.0..=4096.0, Some(2.0);
    /// Width of one routed expert; silent: as a dense feed-forward network.
    EXPERT_FFN: "eff" whole One 1.0..=1_048_576.0, None;
    /// Width of a block's shared experts together.
    SHARED_FFN: "sff" whole One 0.0..=1_048_576.0, Some(0.0);
    /// Blocks that hold experts; silent: all.
    EXPERT_LAYERS: "elayers" whole One 1.0..=1000.0, None;
    /// Width of the stream that routed experts work on; 0: the residual stream's.
    EXPERT_LATENT: "elat" whole One 0.0..=131_072.0, Some(0.0);
    /// Parameters in blocks that no other field counts and every token passes.
    EXTRA_PARAMS: "extra" whole One 0.0..=100_000_000_000_000.0, Some(0.0);
    /// Parameters that no token of text passes: vision towers, learned positions.
    ASIDE_PARAMS: "aside" whole One 0.0..=100_000_000_000_000.0, Some(0.0);

    /// Tokens to train on.
    TOKENS: "tokens" real Tokens 1.0..=1e16, None;
    /// Samples of the data set.
    SAMPLES: "samples" real One 1.0..=1e13, None;
    /// Passes over the samples.
    EPOCHS: "epochs" real One 0.001..=10_000.0, None;
    /// Tokens of one training sequence.
    SEQ_LEN: "seq" whole Tokens 1.0..=16_777_216.0, None;
    /// Sequences of one optimizer step.
    GLOBAL_BATCH: "batch" whole One 1.0..=16_777_216.0, None;
    /// Sequences of one micro-batch.
    MICRO_BATCH: "micro" whole One 1.0..=65_536.0, None;
    /// Rank of LoRA adapters.
    LORA_RANK: "rank" whole One 1.0..=8192.0, Some(16.0);
    /// Tensor-parallel ways.
    TENSOR_PARALLEL: "tp" whole One 1.0..=1024.0, None;
    /// Pipeline stages.
    PIPELINE_PARALLEL: "pp" whole One 1.0..=1000.0, None;
    /// Expert-parallel ways.
    EXPERT_PARALLEL: "ep" whole One 1.0..=4096.0, None;

    /// Tokens of a prompt.
    PROMPT_TOKENS: "in" whole Tokens 1.0..=16_777_216.0, Some(1024.0);
    /// Tokens of an answer.
    OUTPUT_TOKENS: "out" whole Tokens 1.0..=16_777_216.0, Some(256.0);
    /// Requests in flight.
    CONCURRENCY: "users" whole One 1.0..=1_000_000.0, Some(10.0);
    /// Requests that arrive in a second.
    REQUEST_RATE: "rps" real PerSecond 0.000_001..=1_000_000.0, None;
    /// Time to first token.
    TTFT: "ttft" real Seconds 0.001..=86_400.0, None;
    /// Time per output token.
    TPOT: "tpot" real Seconds 0.000_1..=3_600.0, None;
    /// Hours a day that a service is up.
    HOURS_PER_DAY: "hours" real HoursPerDay 0.01..=24.0, Some(24.0);
    /// Answers wanted in all.
    REQUESTS: "requests" real One 1.0..=1e15, None;
    /// Tokens of reasoning before an answer.
    THINKING_TOKENS: "think" whole Tokens 0.0..=16_777_216.0, Some(0.0);
    /// Share of a prompt that the prefix cache has.
    PREFIX_HIT: "hit" real Percent 0.0..=99.9, Some(0.0);
    /// Tokens guessed ahead of a step.
    GUESSES: "guess" whole One 0.0..=16.0, Some(0.0);
    /// Odds that a guess is taken.
    ACCEPTANCE: "accept" real Percent 0.0..=100.0, Some(70.0);
    /// Parameters of the model that guesses; silent: a head of the model itself.
    DRAFT_PARAMS: "draft" real One 1_000_000.0..=1_000_000_000_000.0, None;

    /// Images, clips or sequences in all; hours of audio.
    AMOUNT: "amount" real One 0.001..=1e13, None;
    /// Pixels of an image from left to right.
    WIDTH: "width" whole Pixels 64.0..=8192.0, None;
    /// Pixels of an image from top to bottom.
    HEIGHT: "height" whole Pixels 64.0..=8192.0, None;
    /// Frames of a clip.
    FRAMES: "frames" whole One 1.0..=2000.0, None;
    /// Denoising steps, or steps of training.
    STEPS: "steps" whole One 1.0..=10_000_000.0, None;
    /// Side of an image, or tokens of a sequence.
    SIZE: "size" whole One 8.0..=16_384.0, None;
    /// Processor cores for each card.
    CORES: "cores" whole One 1.0..=512.0, Some(8.0);
    /// Hypotheses that are followed.
    BEAM: "beam" whole One 1.0..=20.0, Some(5.0);
    /// Floating-point operations in all.
    OPERATIONS: "ops" real Operations 1.0..=1e30, None;
    /// Operations for a byte.
    INTENSITY: "intensity" real OperationsPerByte 0.001..=100_000.0, None;
    /// What must be held in memory.
    WORKING_SET: "ws" real Gigabytes 0.001..=1_000_000.0, None;

    /// Exactly this many cards.
    COUNT: "n" whole One 1.0..=100_000.0, None;
    /// Largest count looked at.
    MAX_COUNT: "max" whole One 1.0..=100_000.0, None;
    /// Memory of each card that other programs hold, GiB.
    BUSY: "busy" real Gibibytes 0.0..=1024.0, Some(0.0);
    /// Yuan for one dollar.
    EXCHANGE_RATE: "fx" real YuanPerDollar 0.1..=100.0, Some(6.7);
    /// Price of a card-hour.
    OWN_PRICE: "price" real Money 0.000_1..=1_000_000.0, None;
    /// Most that the job or the month may cost.
    BUDGET: "budget" real Money 0.01..=1e12, None;
    /// Hours within which the job must be done.
    DEADLINE: "deadline" real Hours 0.01..=1_000_000.0, None;
    /// Dollars for one euro.
    EURO_RATE: "fxeur" real DollarsPerEuro 0.1..=10.0, Some(1.125);
    /// Share of a card that is rented.
    SLICE: "slice" real One 0.05..=1.0, Some(1.0);
    /// Least time that is charged for a start; silent: by the provider's rule.
    MINIMUM: "minimum" real Hours 0.0..=8_760.0, None;

    /// Starts of the machines in a job, or a day for a service.
    STARTS: "starts" whole One 1.0..=10_000.0, Some(1.0);
    /// Setting up after a start.
    SETUP: "setup" real Hours 0.0..=10_000.0, Some(0.0);
    /// Line over which the model is fetched.
    FETCH: "fetch" real MegabitPerSecond 0.0..=1_000_000.0, Some(0.0);
    /// Data to upload.
    UPLOAD: "upload" real Gigabytes 0.0..=1e9, Some(0.0);
    /// Line of the upload.
    LINE: "line" real MegabitPerSecond 0.1..=1_000_000.0, Some(100.0);
    /// Evaluation, of the work's time.
    EVALUATION: "eval" real Percent 0.0..=1000.0, Some(0.0);
    /// Failed runs, of the work's time.
    FAILED: "failed" real Percent 0.0..=1000.0, Some(0.0);
    /// Idle time, of the rest.
    IDLE: "idle" real Percent 0.0..=1000.0, Some(0.0);
    /// Storage.
    DISK: "disk" real Gigabytes 0.0..=1e9, Some(0.0);
    /// Storage that is free.
    DISK_FREE: "diskfree" real Gigabytes 0.0..=1e9, Some(0.0);
    /// Storage while the machine runs.
    DISK_PRICE: "diskprice" real MoneyPerGbMonth 0.0..=10_000.0, Some(0.0);
    /// Storage while it is stopped; silent: as `diskprice`.
    STOPPED_PRICE: "stoppedprice" real MoneyPerGbMonth 0.0..=10_000.0, None;
    /// Days that storage is kept, the machine stopped.
    STOPPED: "stopped" real Days 0.0..=10_000.0, Some(0.0);
    /// Data taken out.
    EGRESS: "egress" real Gigabytes 0.0..=1e9, Some(0.0);
    /// Its price.
    EGRESS_PRICE: "egressprice" real MoneyPerGb 0.0..=10_000.0, Some(0.0);
    /// Tax or surcharge.
    TAX: "tax" real Percent 0.0..=100.0, Some(0.0);

    /// Interruptions of one machine; silent: by provider and card, else one in 20 hours.
    INTERRUPTIONS: "interrupt" real PerHour 0.0..=100.0, None;
    /// Writing a checkpoint.
    CHECKPOINT: "ckpt" real Seconds 0.0..=86_400.0, Some(60.0);
    /// Between checkpoints; silent: the best.
    INTERVAL: "every" real Hours 0.01..=10_000.0, None;
    /// From an interruption until work goes on.
    RESTART: "restart" real Hours 0.0..=1000.0, Some(0.25);

    /// Price of a card that is bought; silent: buying is not looked at.
    BUY: "buy" real Money 0.01..=1e9, None;
    /// Its share of a server.
    BUY_SERVER: "buyserver" real Money 0.0..=1e9, Some(0.0);
    /// Power of the rest of the machine for a card.
    HOST_WATTS: "hostw" real Watts 0.0..=100_000.0, Some(0.0);
    /// Electricity.
    KWH: "kwh" real MoneyPerKwh 0.0..=10_000.0, Some(0.0);
    /// Power in all over the machine's.
    PUE: "pue" real One 1.0..=10.0, Some(1.0);
    /// Room, rack and line for a card.
    HOSTING: "hosting" real MoneyPerMonth 0.0..=1e9, Some(0.0);
    /// People.
    STAFF: "staff" real MoneyPerMonth 0.0..=1e9, Some(0.0);
    /// Resale, of the price.
    RESALE: "resale" real Percent 0.0..=100.0, Some(0.0);
    /// Until it is sold.
    BUY_MONTHS: "months" real Months 1.0..=240.0, Some(36.0);
    /// Use of what is bought; silent: as the scenario asks.
    BUY_HOURS: "buyhours" real HoursPerMonth 0.0..=744.0, None;
}

/// Largest part of a link behind its `#`, bytes: what a person brought. Addresses this long are kept by every current
/// browser and by most messengers.
pub const FRAGMENT_BYTES: usize = 16_384;
/// Longest link that is read, bytes, without what stands behind its `#`.
pub const LINK_BYTES: usize = 8192;
/// Tokens trained on in all, epochs counted.
pub const TOTAL_TOKENS: f64 = 1e16;
/// Parameters of a brought model.
pub const TOTAL_PARAMS: f64 = 1e14;
/// Groups of attention of a brought model.
pub const ATTENTION_GROUPS: usize = 64;
/// Elements of a linear attention's state, and parameters of its mixer, in one block.
pub const LINEAR_ELEMENTS: f64 = 1e12;
/// Width of the part of latent attention's keys that knows positions: as of heads, and 0 where nothing is rotated.
pub const ROPE_DIM: Limit = Limit {
    min: 0.0,
    ..HEAD_DIM
};
