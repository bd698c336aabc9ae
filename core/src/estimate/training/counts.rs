//! Sums over a model's blocks that memory and speed share. All are per whole model.

use crate::catalog::{AttentionKind, Transformer};

/// Counted once for a job.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    /// Blocks.
    pub layers: u64,
    /// Width of the residual stream.
    pub hidden: u64,
    /// Rows of the embedding.
    pub vocab: u64,
    /// Query heads of all blocks together.
    pub head_layers: u64,
    /// Parameters of matrices that every token passes: attention, dense and shared
    /// feed-forward, routers.
    pub shared_params: u64,
    /// Parameters of routed experts.
    pub expert_params: u64,
    /// Parameters of the routed experts that one token passes.
    pub used_expert_params: u64,
    /// Norms, biases and whatever else the published count holds beyond the matrices.
    pub vector_params: u64,
    /// Parameters of one embedding table.
    pub table_params: u64,
    /// Embedding tables with weights of their own: 1 where the head shares the embedding's.
    pub tables: u64,
    /// Elements that one token leaves for the backward pass in all blocks, in the residual
    /// stream's copies: two norms' inputs and the inputs of both halves of a block.
    pub stream_elements: u64,
    /// The same in attention: queries, keys, values, and what enters the output projection.
    pub attention_elements: u64,
    /// Keys and values of them.
    pub key_value_elements: u64,
    /// Inner widths of linear attention and state-space mixers, whose chunked scans pass over them
    /// many times.
    pub scanned_elements: u64,
    /// The same in feed-forward networks.
    pub ffn_elements: u64,
    /// Those of `ffn_elements` that routed experts leave.
    pub routed_elements: u64,
    /// Those of `ffn_elements` that are a gate after its activation.
    pub ffn_gate_elements: u64,
    /// Those of `ffn_elements` that only the last matrix's own gradient needs.
    pub ffn_output_elements: u64,
    /// Widths read and written by one token's matrix products in all blocks, elements.
    pub product_elements: u64,
    /// Inner lengths of a block's products that tensor parallelism leaves whole, forward and by
    /// inputs, summed over blocks: the stream on the way into a half and out of it.
    pub whole_lengths: u64,
    /// The same for lengths that it splits: heads' and inner widths.
    pub split_lengths: u64,
    /// Parameters of `shared_params` in each block's last product, whose output no kernel of the
    /// backward pass needs.
    pub shared_last_params: u64,
    /// The same of `used_expert_params`.
    pub expert_last_params: u64,
    /// Rows plus columns of all matrices of blocks: a factored second moment's size.
    pub factored_elements: u64,
    /// Routed experts have biases: what the published count holds beyond matrices and norms is as many.
    pub biased_experts: bool,
    /// Inputs plus outputs of all linear layers of all blocks: an adapter's size by rank.
    pub adapter_elements: u64,
    /// The same for queries and values alone.
    pub adapter_query_value_elements: u64,
    /// The same for attention's four projections.
    pub adapter_attention_elements: u64,
}

impl Counts {
    /// Sums over `shape`; `params_total` is the published count.
    pub fn of(shape: &Transformer, params_total: u64) -> Self {
        let h = u64::from(shape.hidden);
        let layers = u64::from(shape.layers);
        let mut c = Self {
            layers,
            hidden: h,
            vocab: u64::from(shape.vocab),
            head_layers: 0,
            shared_params: shape.attention_params() + shape.shared_ffn_params(),
            expert_params: shape.routed_expert_params(),
            used_expert_params: 0,
            vector_params: 0,
            table_params: shape.embedding_params(),
            tables: if shape.tie_embeddings { 1 } else { 2 },
            stream_elements: 4 * h * layers,
            attention_elements: 0,
            key_value_elements: 0,
            scanned_elements: 0,
            ffn_elements: 0,
            routed_elements: 0,
            ffn_gate_elements: 0,
            ffn_output_elements: 0,
            product_elements: 0,
            whole_lengths: 4 * h * layers,
            split_lengths: 0,
            shared_last_params: 0,
            expert_last_params: 0,
            factored_elements: 0,
            biased_experts: has_biased_experts(shape, params_total),
            adapter_elements: 0,
            adapter_query_value_elements: 0,
            adapter_attention_elements: 0,
        };
        for group in &shape.attention {
            c.add_attention(u64::from(group.layers), &group.kind);
        }
        c.add_feed_forward(shape);
        let matrices = c.shared_params + c.expert_params + c.tables * c.table_params;
        c.vector_params = params_total
            .saturating_sub(matrices)
            .max((2 * layers + 1) * h);
        c
    }

    fn add_attention(&mut self, layers: u64, kind: &AttentionKind) {
        let h = self.hidden;
        let heads = u64::from(kind.heads());
        self.head_layers += layers * heads;
        let (query, key, value, out, latent) = match *kind {
            AttentionKind::Heads {
                heads,
                kv_heads,
                head_dim,
                ..
            } => {
                let (q, kv) = (
                    u64::from(heads) * u64::from(head_dim),
                    u64::from(kv_heads) * u64::from(head_dim),
                );
                (q, kv, kv, q, 0)
            }
            AttentionKind::Latent {
                heads,
                q_rank,
                kv_rank,
                qk_nope_dim,
                qk_rope_dim,
                v_dim,
            } => {
                let heads = u64::from(heads);
                let qk = heads * u64::from(qk_nope_dim + qk_rope_dim);
                let v = heads * u64::from(v_dim);
                (qk, qk, v, v, u64::from(q_rank.unwrap_or(0) + kv_rank))
            }
            // The mixer's inner width is not in the shape; its projections say how wide it is.
            AttentionKind::Compressed { params, .. } | AttentionKind::Linear { params, .. } => {
                let width = params / (4 * h).max(1);
                (width, width, width, width, 0)
            }
        };
        if matches!(kind, AttentionKind::Linear { .. }) {
            self.scanned_elements += layers * (query + key + value + out);
        }
        self.attention_elements += layers * (query + key + value + out + latent);
        self.key_value_elements += layers * (key + value);
        self.split_lengths += layers * (query + key + value + out);
        let projections = 4 * h + query + key + value + out;
        self.product_elements += layers * projections;
        self.factored_elements += layers * projections;
        self.adapter_elements += layers * projections;
        self.adapter_query_value_elements += layers * (2 * h + query + value);
        self.adapter_attention_elements += layers * projections;
    }

    fn add_feed_forward(&mut self, shape: &Transformer) {
        let h = self.hidden;
        // Gated: gate, up, activation and product are kept; else input and output of the
        // activation.
        let (kept, matrices) = if shape.ffn_gated { (4, 3) } else { (2, 2) };
        let expert_layers = shape.experts.as_ref().map_or(0, |e| u64::from(e.layers));
        let dense_layers = self.layers.saturating_sub(expert_layers);
        let ffn = u64::from(shape.ffn);
        self.shared_last_params += dense_layers * h * ffn;
        self.split_lengths += dense_layers * matrices * ffn;
        self.ffn_elements += dense_layers * kept * ffn;
        self.ffn_output_elements += dense_layers * ffn;
        let gates = u64::from(shape.ffn_gated);
        self.ffn_gate_elements += gates * dense_layers * ffn;
        self.product_elements += dense_layers * matrices * (h + ffn);
        self.factored_elements += dense_layers * matrices * (h + ffn);
        self.adapter_elements += dense_layers * matrices * (h + ffn);
        if let Some(e) = &shape.experts {
            let used = u64::from(e.per_token);
            let (ffn, shared) = (u64::from(e.ffn), u64::from(e.shared_ffn));
            // A routed token is copied to each of its experts and back.
            self.ffn_elements += expert_layers * (kept * (used * ffn + shared) + 2 * used * h);
            self.routed_elements += expert_layers * (kept * used * ffn + 2 * used * h);
            self.ffn_output_elements += expert_layers * (used * ffn + shared);
            self.ffn_gate_elements += gates * expert_layers * (used * ffn + shared);
            self.product_elements += expert_layers * matrices * (used * (h + ffn) + h + shared);
            self.factored_elements +=
                expert_layers * matrices * (u64::from(e.experts) * (h + ffn) + h + shared);
            self.adapter_elements +=
                expert_layers * matrices * (u64::from(e.experts) * (h + ffn) + h + shared);
            self.shared_last_params += expert_layers * h * shared;
            self.split_lengths += expert_layers * matrices * (ffn + shared);
            self.expert_last_params = expert_layers * used * h * ffn;
            self.used_expert_params = expert_layers * used * shape.one_expert_params();
        }
    }

    /// Elements that one token leaves behind in all blocks.
    pub fn saved_elements(&self) -> u64 {
        self.stream_elements + self.attention_elements + self.ffn_elements
    }

    /// The same where only attention has adapters: frozen layers keep no input, so the
    /// feed-forward network's input and its last product go.
    pub fn saved_elements_frozen(&self) -> u64 {
        self.saved_elements() - self.ffn_output_elements - self.hidden * self.layers
    }

    /// Parameters of adapters of one rank.
    pub fn adapter_params_per_rank(&self, targets: super::AdapterTargets) -> u64 {
        match targets {
            super::AdapterTargets::AllLinear => self.adapter_elements,
            super::AdapterTargets::QueryValue => self.adapter_query_value_elements,
            super::AdapterTargets::Attention => self.adapter_attention_elements,
        }
    }

    /// Inputs and outputs that one token passes through adapters: of the experts, only those that it is sent to.
    pub fn adapter_stream_elements(&self, targets: super::AdapterTargets) -> u64 {
        match targets {
            super::AdapterTargets::AllLinear => self.product_elements,
            super::AdapterTargets::QueryValue | super::AdapterTargets::Attention => {
                self.adapter_params_per_rank(targets)
            }
        }
    }
}

/// Whether routed experts have a bias for each of their outputs, as gpt-oss's do: norms are counted by
/// `Transformer::params`, so that what is left of the published count is biases, where it is about as many.
fn has_biased_experts(shape: &Transformer, params_total: u64) -> bool {
    let Some(e) = &shape.experts else {
        return false;
    };
    let inner = if shape.ffn_gated { 2 } else { 1 } * u64::from(e.ffn);
    let biases = u64::from(e.layers) * u64::from(e.experts) * (inner + shape.expert_width());
    let left = params_total.saturating_sub(shape.params());
    left >= biases && left < 2 * biases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn published_counts_tell_experts_with_biases() {
        let of = |id: &str| {
            let model = Catalog::embedded().model(id).unwrap();
            Counts::of(&model.transformer, model.params_total).biased_experts
        };
        // 36 blocks x 128 experts x (2 x 2880 + 2880) biases = 39.8 M of the 40.1 M that matrices leave.
        assert!(of("gpt-oss-120b") && of("gpt-oss-20b"));
        // A vision tower leaves far more, norms far less.
        assert!(!of("llama-4-scout") && !of("qwen3-30b-a3b") && !of("llama-3.1-8b"));
    }
}
