//! Metadata of a GGUF header by their keys, and what the tensors say of each block.

use std::collections::BTreeMap;

use super::error::{BringError, BringErrorKind as Kind};
use super::gguf::{Header, Value};
use super::source::within;
use super::{Field, Origin};
use crate::scenario::limits::{self, Limit};

/// A count that may be none.
pub(super) const fn from_none(limit: Limit) -> Limit {
    Limit { min: 0.0, ..limit }
}

/// Ranks of latent attention.
pub(super) const RANK: Limit = Limit {
    min: 1.0,
    ..limits::HIDDEN
};

/// Metadata of one architecture, and the record of what was read.
pub(super) struct Meta<'a> {
    pub header: &'a Header,
    pub arch: String,
    pub fields: Vec<Field>,
}

impl Meta<'_> {
    pub fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.arch)
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.header.pairs.get(&self.key(name))
    }

    /// A number; the largest of a list.
    pub fn number(&self, name: &str, limit: &Limit) -> Result<Option<u32>, BringError> {
        let number = match self.value(name) {
            None => return Ok(None),
            Some(Value::Number(n)) => *n,
            Some(Value::Numbers(list)) => list.iter().copied().fold(0.0, f64::max),
            Some(_) => {
                return Err(BringError::of(Kind::WrongType, &self.key(name), "").expected("number"));
            }
        };
        within(&self.key(name), number, limit).map(Some)
    }

    /// A number for each of `layers`.
    pub fn each(
        &self,
        name: &str,
        layers: u32,
        limit: &Limit,
    ) -> Result<Option<Vec<u32>>, BringError> {
        let key = self.key(name);
        match self.value(name) {
            None => Ok(None),
            Some(Value::Numbers(list)) if list.len() >= layers as usize => list
                .iter()
                .take(layers as usize)
                .map(|n| within(&key, *n, limit))
                .collect::<Result<_, _>>()
                .map(Some),
            Some(Value::Numbers(list)) => {
                Err(
                    BringError::of(Kind::ListLength, &key, &list.len().to_string())
                        .expected(layers.to_string()),
                )
            }
            Some(_) => Ok(self.number(name, limit)?.map(|n| vec![n; layers as usize])),
        }
    }

    pub fn required(&self, name: &str, limit: &Limit) -> Result<u32, BringError> {
        self.number(name, limit)?
            .ok_or_else(|| BringError::of(Kind::Missing, &self.key(name), ""))
    }

    pub fn note(&mut self, param: &'static str, value: impl ToString, origin: Origin, key: &str) {
        self.fields.push(Field {
            param,
            value: value.to_string(),
            origin,
            key: key.to_owned(),
        });
    }
}

/// What the tensors of one block are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    pub has_keys: bool,
    pub is_latent: bool,
    pub has_state: bool,
    pub has_experts: bool,
    /// Elements of tensors that mix tokens.
    pub mixer: u64,
}

/// What the tensors say of each block.
pub(super) fn blocks(header: &Header, layers: u32) -> BTreeMap<u32, Block> {
    let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
    for tensor in &header.tensors {
        let Some((number, part)) = tensor
            .name
            .strip_prefix("blk.")
            .and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        let Ok(number) = number.parse::<u32>() else {
            continue;
        };
        if number >= layers {
            continue;
        }
        let block = blocks.entry(number).or_default();
        let state = ["ssm_", "shortconv", "time_mix_", "channel_mix_receptance"]
            .iter()
            .any(|start| part.starts_with(start));
        block.has_state |= state;
        block.has_keys |= part.starts_with("attn_k.") || part.starts_with("attn_qkv.");
        block.is_latent |= part.starts_with("attn_kv_a");
        block.has_experts |= part.contains("_exps.");
        if state || part.starts_with("attn_") && !part.contains("norm") {
            block.mixer = block.mixer.saturating_add(tensor.elements());
        }
    }
    blocks
}
