//! The catalog: cards, models and prices, read from the data files under `core/data/`.
//!
//! Types only describe; every figure and its source lives in a data file.

mod card;
mod count;
mod diffusion;
mod model;
mod network;
mod price;
mod workload;

use std::sync::OnceLock;

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
    /// A file of other things to run.
    #[error("{0}")]
    Others(String),
    /// The prices' file.
    #[error("prices: {0}")]
    Prices(String),
}

/// All that ships with the product.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Cards, in the data file's order.
    pub cards: Vec<Card>,
    /// Language models, in the data file's order.
    pub models: Vec<Model>,
    /// Image and video models.
    pub diffusion: Vec<DiffusionModel>,
    /// Vision networks, encoders and speech recognisers.
    pub networks: Vec<Network>,
    /// Kinds of scientific computing.
    pub workloads: Vec<Workload>,
}

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
    ///
    /// The files are parsed by the tests; were one ever unreadable, the catalog is empty.
    pub fn embedded() -> &'static Self {
        static CATALOG: OnceLock<Catalog> = OnceLock::new();
        CATALOG.get_or_init(|| {
            Self::parse(
                include_str!("../../data/cards.json"),
                include_str!("../../data/models.json"),
            )
            .and_then(|catalog| {
                catalog.with_others(
                    include_str!("../../data/diffusion.json"),
                    include_str!("../../data/networks.json"),
                    include_str!("../../data/science.json"),
                )
            })
            .unwrap_or_default()
        })
    }

    /// Reads cards and models in the form of `core/data/cards.json` and `core/data/models.json`.
    ///
    /// # Errors
    /// When a file is not JSON or an entry is not of its type; the message names the line.
    pub fn parse(cards_json: &str, models_json: &str) -> Result<Self, CatalogError> {
        Ok(Self {
            cards: serde_json::from_str(cards_json)
                .map_err(|e| CatalogError::Cards(e.to_string()))?,
            models: serde_json::from_str(models_json)
                .map_err(|e| CatalogError::Models(e.to_string()))?,
            ..Self::default()
        })
    }

    /// The same with the files of other things to run, in the form of those under `core/data/`.
    ///
    /// # Errors
    /// When a file is not JSON or an entry is not of its type; the message names the line.
    pub fn with_others(
        self,
        diffusion_json: &str,
        networks_json: &str,
        workloads_json: &str,
    ) -> Result<Self, CatalogError> {
        fn read<T: serde::de::DeserializeOwned>(
            name: &str,
            json: &str,
        ) -> Result<Vec<T>, CatalogError> {
            serde_json::from_str(json).map_err(|e| CatalogError::Others(format!("{name}: {e}")))
        }
        Ok(Self {
            diffusion: read("diffusion", diffusion_json)?,
            networks: read("networks", networks_json)?,
            workloads: read("science", workloads_json)?,
            ..self
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
