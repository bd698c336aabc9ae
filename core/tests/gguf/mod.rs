//! A GGUF header as it is written down here, piece by piece: for tests of what reads one, and for runs over damaged ones.

/// Kinds of values, by the format's numbers.
const U32: u32 = 4;
pub const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// A header in the making.
#[derive(Debug, Clone, Default)]
pub struct Gguf {
    pairs: Vec<u8>,
    pair_count: u64,
    tensors: Vec<u8>,
    tensor_count: u64,
}

/// A string as the format has it: its length in bytes, then its bytes.
pub fn string(text: &str) -> Vec<u8> {
    let mut out = (text.len() as u64).to_le_bytes().to_vec();
    out.extend(text.as_bytes());
    out
}

impl Gguf {
    /// A key and its value, of a kind.
    pub fn pair(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.pairs.extend(string(key));
        self.pairs.extend(kind.to_le_bytes());
        self.pairs.extend(value);
        self.pair_count += 1;
        self
    }

    /// A key and a number.
    pub fn number(self, key: &str, value: u32) -> Self {
        self.pair(key, U32, &value.to_le_bytes())
    }

    /// A key and a word.
    pub fn word(self, key: &str, value: &str) -> Self {
        self.pair(key, STRING, &string(value))
    }

    /// A key and `count` values of a kind.
    pub fn list(self, key: &str, kind: u32, count: u64, items: &[u8]) -> Self {
        let mut list = kind.to_le_bytes().to_vec();
        list.extend(count.to_le_bytes());
        list.extend(items);
        self.pair(key, ARRAY, &list)
    }

    /// A key and a number for each block.
    pub fn numbers(self, key: &str, values: &[u32]) -> Self {
        let items: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.list(key, U32, values.len() as u64, &items)
    }

    /// A tensor, of one of the format's types.
    pub fn tensor(mut self, name: &str, dims: &[u64], kind: u32) -> Self {
        self.tensors.extend(string(name));
        self.tensors.extend((dims.len() as u32).to_le_bytes());
        for dim in dims {
            self.tensors.extend(dim.to_le_bytes());
        }
        self.tensors.extend(kind.to_le_bytes());
        self.tensors.extend(0_u64.to_le_bytes());
        self.tensor_count += 1;
        self
    }

    /// The whole header, version 3.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3_u32.to_le_bytes());
        out.extend(self.tensor_count.to_le_bytes());
        out.extend(self.pair_count.to_le_bytes());
        out.extend(&self.pairs);
        out.extend(&self.tensors);
        out
    }
}
