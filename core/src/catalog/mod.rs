//! The catalog: cards, models and prices, read from the data files under `core/data/`.
//!
//! Types only describe; every figure and its source lives in a data file.

mod card;
mod count;
mod data_file;
mod diffusion;
mod model;
mod network;
pub(crate) mod price;
mod workload;

use std::borrow::Cow;
use std::sync::OnceLock;

use data_file::DataFile;

use crate::packed::{PackedFile, packed_file};

pub use card::{Card, CardLink, Confidence, Market, MeasuredMatmul, Node, PeakTflops, Vendor};
pub use count::mean_causal_context;
pub use diffusion::{
    Autoencoder, Backbone, BlockKind, Denoiser, DenoiserBlocks, DiffusionModel, Medium,
    TextEncoder, UsualRun,
};
pub use model::{AttentionGroup, AttentionKind, ExpertLayers, Model, Sparse, Transformer};
pub use network::{LayerStyle, Network, NetworkCost, NetworkTask, TextHalf, UsualData};
pub use price::{Billing, Credit, Currency, PriceBook, PriceOffer, Tenancy};
pub use workload::{FloatPrecision, Workload};

/// Why a data file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The cards' file.
    #[error("cards: {0}")]
    Cards(String),
    /// The models' file.
    #[error("models: {0}")]
    Models(String),
    /// The prices' file.
    #[error("prices: {0}")]
    Prices(String),
}

/// All that ships with the product.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Cards, in the data file's order.
    pub cards: Cow<'static, [Card]>,
    /// Language models, in the data file's order.
    pub models: Cow<'static, [Model]>,
    /// Image and video models.
    pub diffusion: Cow<'static, [DiffusionModel]>,
    /// Vision networks, encoders and speech recognisers.
    pub networks: Cow<'static, [Network]>,
    /// Kinds of scientific computing.
    pub workloads: Cow<'static, [Workload]>,
}

pub(crate) static CARDS_FILE: PackedFile = packed_file!(
    "cards",
    crate::packed::json::<Vec<Card>>,
    include_str!("../../data/cards.json")
);
pub(crate) static MODELS_FILE: PackedFile = packed_file!(
    "models",
    crate::packed::json::<Vec<Model>>,
    include_str!("../../data/models.json")
);
pub(crate) static DIFFUSION_FILE: PackedFile = packed_file!(
    "diffusion_models",
    crate::packed::json::<Vec<DiffusionModel>>,
    include_str!("../../data/diffusion.json")
);
pub(crate) static NETWORKS_FILE: PackedFile = packed_file!(
    "networks",
    crate::packed::json::<Vec<Network>>,
    include_str!("../../data/networks.json")
);
pub(crate) static WORKLOADS_FILE: PackedFile = packed_file!(
    "science",
    crate::packed::json::<Vec<Workload>>,
    include_str!("../../data/science.json")
);

static CARDS: DataFile<Card> = DataFile::new(&CARDS_FILE);
static MODELS: DataFile<Model> = DataFile::new(&MODELS_FILE);
static DIFFUSION: DataFile<DiffusionModel> = DataFile::new(&DIFFUSION_FILE);
static NETWORKS: DataFile<Network> = DataFile::new(&NETWORKS_FILE);
static WORKLOADS: DataFile<Workload> = DataFile::new(&WORKLOADS_FILE);

/// Something that can be run, whatever its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Subject<'a> {
    /// A language model.
    Language(&'a Model),
    /// An image or video model.
    Diffusion(&'a DiffusionModel),
    /// A vision network, an encoder or a speech recogniser.
    Network(&'a Network),
    /// A kind of scientific computing.
    Workload(&'a Workload),
}

impl Catalog {
    /// The catalog that ships with the product, read once.
    pub fn embedded() -> &'static Self {
        static CATALOG: OnceLock<Catalog> = OnceLock::new();
        CATALOG.get_or_init(|| Self {
            cards: Cow::Borrowed(CARDS.read()),
            models: Cow::Borrowed(MODELS.read()),
            diffusion: Cow::Borrowed(DIFFUSION.read()),
            networks: Cow::Borrowed(NETWORKS.read()),
            workloads: Cow::Borrowed(WORKLOADS.read()),
        })
    }

    /// Reads the next few entries of the files that ship with the product, prices too. `false`: all have been read.
    pub fn read_some() -> bool {
        CARDS.read_some()
            || MODELS.read_some()
            || DIFFUSION.read_some()
            || NETWORKS.read_some()
            || WORKLOADS.read_some()
            || price::read_some()
    }

    /// Reads cards and models in the form of `core/data/cards.json` and `core/data/models.json`.
    ///
    /// # Errors
    /// When a file is not JSON or an entry is not of its type; the message names the line.
    pub fn parse(cards_json: &str, models_json: &str) -> Result<Self, CatalogError> {
        Ok(Self {
            cards: serde_json::from_str::<Vec<_>>(cards_json)
                .map_err(|e| CatalogError::Cards(e.to_string()))?
                .into(),
            models: serde_json::from_str::<Vec<_>>(models_json)
                .map_err(|e| CatalogError::Models(e.to_string()))?
                .into(),
            ..Self::default()
        })
    }

    /// The card of that id, name or alias; case, spaces and dashes do not matter.
    pub fn card(&self, id: &str) -> Option<&Card> {
        let wanted = comparable(id);
        self.cards.iter().find(|c| c.id == id).or_else(|| {
            self.cards.iter().find(|c| {
                [&c.id, &c.name]
                    .into_iter()
                    .chain(&c.name_zh)
                    .chain(&c.aliases)
                    .any(|n| comparable(n) == wanted)
            })
        })
    }

    /// Whatever has that id, name or alias; language models before all others.
    pub fn subject(&self, id: &str) -> Option<Subject<'_>> {
        let wanted = comparable(id);
        let is = |known: &str, name: &str, aliases: &[String]| {
            known == id
                || [known, name]
                    .into_iter()
                    .chain(aliases.iter().map(String::as_str))
                    .any(|n| comparable(n) == wanted)
        };
        let diffusion = || {
            let mut all = self.diffusion.iter();
            all.find(|m| is(&m.id, &m.name, &m.aliases))
                .map(Subject::Diffusion)
        };
        let network = || {
            let mut all = self.networks.iter();
            all.find(|m| is(&m.id, &m.name, &m.aliases))
                .map(Subject::Network)
        };
        let workload = || {
            let mut all = self.workloads.iter();
            all.find(|m| is(&m.id, &m.name, &m.aliases) || m.name_zh == id)
                .map(Subject::Workload)
        };
        let language = self.model(id).map(Subject::Language);
        language
            .or_else(diffusion)
            .or_else(network)
            .or_else(workload)
    }

    /// The image or video model of that id.
    pub fn diffusion_model(&self, id: &str) -> Option<&DiffusionModel> {
        self.diffusion.iter().find(|m| m.id == id)
    }

    /// The network of that id.
    pub fn network(&self, id: &str) -> Option<&Network> {
        self.networks.iter().find(|m| m.id == id)
    }

    /// The kind of scientific computing of that id.
    pub fn workload(&self, id: &str) -> Option<&Workload> {
        self.workloads.iter().find(|m| m.id == id)
    }

    /// The model of that id, name or alias; case, spaces and dashes do not matter.
    pub fn model(&self, id: &str) -> Option<&Model> {
        let wanted = comparable(id);
        self.models.iter().find(|m| m.id == id).or_else(|| {
            self.models.iter().find(|m| {
                [&m.id, &m.name]
                    .into_iter()
                    .chain(&m.aliases)
                    .any(|n| comparable(n) == wanted)
            })
        })
    }
}

impl<'a> Subject<'a> {
    /// Id used in links.
    pub fn id(self) -> &'a str {
        match self {
            Self::Language(m) => &m.id,
            Self::Diffusion(m) => &m.id,
            Self::Network(m) => &m.id,
            Self::Workload(m) => &m.id,
        }
    }

    /// Name in English.
    pub fn name(self) -> &'a str {
        match self {
            Self::Language(m) => &m.name,
            Self::Diffusion(m) => &m.name,
            Self::Network(m) => &m.name,
            Self::Workload(m) => &m.name,
        }
    }
}

/// A name as it is compared: lower case, letters, digits and dots only, makers' words left out
/// (`NVIDIA GeForce RTX 4090` is `rtx4090`).
fn comparable(name: &str) -> String {
    const MAKERS_WORDS: [&str; 6] = ["nvidia", "geforce", "tesla", "amd", "instinct", "radeon"];
    name.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '.')
        .filter(|word| !MAKERS_WORDS.contains(word))
        .collect()
}
