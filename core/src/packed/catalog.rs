//! The catalog's types, field by field.

use super::packed;
use crate::catalog::{
    AttentionGroup, AttentionKind, Autoencoder, Backbone, Billing, BlockKind, Card, CardLink,
    Confidence, Currency, Denoiser, DenoiserBlocks, DiffusionModel, ExpertLayers, FloatPrecision,
    LayerStyle, Market, MeasuredMatmul, Medium, Model, Network, NetworkCost, NetworkTask,
    PeakTflops, PriceOffer, Sparse, Tenancy, TextEncoder, TextHalf, Transformer, UsualData,
    UsualRun, Vendor, Workload,
};
use crate::dtype::{ComputeDtype, WeightFormat};

packed!(struct Card {
    id, name, name_zh, aliases, vendor, market, architecture, release_year, form, memory_gib, driver_memory_mib,
    runtime_memory_mib, memory_source, memory_type, bandwidth_gb_s, power_w, peak_tflops, compute_capability, link,
    measured_matmul, confidence, sources, notes,
});
packed!(
    enum Vendor {
        Nvidia,
        Amd,
        Intel,
        Google,
        Aws,
        Huawei,
        Biren,
        Cambricon,
        MooreThreads,
        Hygon,
        Metax,
        Kunlunxin,
        Iluvatar,
        Enflame,
        Thead,
    }
);
packed!(
    enum Market {
        Consumer,
        Workstation,
        Datacenter,
    }
);
packed!(
    enum Confidence {
        Verified,
        OneSource,
    }
);
packed!(struct PeakTflops {
    fp64, fp64_tensor, fp32, fp16_vector, tf32, fp16, fp16_acc16, bf16, fp8, int8, fp4,
});
packed!(struct CardLink {
    kind, bidirectional_gb_s, host_bidirectional_gb_s, cards_per_node, pair_bridge_gb_s,
});
packed!(struct MeasuredMatmul { dtype, tflops, source });
packed!(
    enum ComputeDtype {
        Fp64,
        Fp32,
        Tf32,
        Fp16,
        Bf16,
        Fp8,
        Int8,
        Fp4,
    }
);

packed!(struct Model {
    id, name, family, aliases, params_total, params_active, transformer, max_context, native_format, licence, source, notes,
});
packed!(struct Transformer {
    layers, hidden, ffn, ffn_gated, vocab, tie_embeddings, attention, experts, extra_params, aside_params,
});
packed!(struct AttentionGroup { layers, kind, sparse });
packed!(struct Sparse { top, index_heads, index_dim });
packed!(enum AttentionKind {
    0 = Heads { heads, kv_heads, head_dim, window },
    1 = Latent { heads, q_rank, kv_rank, qk_nope_dim, qk_rope_dim, v_dim },
    2 = Compressed { heads, entry_dim, ratio, window, params },
    3 = Linear { heads, state_elements, params },
});
packed!(struct ExpertLayers { experts, per_token, ffn, shared_ffn, layers, latent });
packed!(
    enum WeightFormat {
        Fp32,
        Bf16,
        Fp16,
        Fp8,
        Int8,
        Gptq8,
        Gptq4,
        Awq4,
        Nf4,
        Mxfp4,
        Nvfp4,
        Iq1S,
        Iq1M,
        Q2K,
        Q3KS,
        Q3KM,
        Q3KL,
        Q4_0,
        Q4_1,
        Q4KS,
        Q4KM,
        Q5_0,
        Q5_1,
        Q5KS,
        Q5KM,
        Q6K,
        Q8_0,
        Iq2Xxs,
        Iq2Xs,
        Iq2S,
        Iq2M,
        Iq3Xxs,
        Iq3Xs,
        Iq3S,
        Iq3M,
        Iq4Xs,
        Iq4Nl,
    }
);

packed!(struct DiffusionModel {
    id, name, aliases, medium, denoiser, text_encoders, autoencoder, usual, licence, source, notes,
});
packed!(
    enum Medium {
        Image,
        Video,
    }
);
packed!(struct Denoiser { params, experts, text_tokens, layers });
packed!(enum Backbone {
    0 = Unet { channels, blocks, transformers, middle_transformers, context },
    1 = Transformer { patch, patch_frames, groups },
});
packed!(struct DenoiserBlocks { blocks, width, ffn, head, kind });
packed!(
    enum BlockKind {
        Joint,
        Shared,
        Parallel,
        Cross,
        JointDual,
    }
);
packed!(struct TextEncoder { name, params, tokens });
packed!(struct Autoencoder {
    params, spatial, temporal, latent_channels, widths, blocks, three_frames, frames_together, unfold, tiled, in_fp32,
});
packed!(struct UsualRun { width, height, frames, steps, guidance, guidance_in_turn, frames_per_s });

packed!(struct Network { id, name, aliases, task, params, cost, usual, source, notes });
packed!(
    enum NetworkTask {
        Classify,
        Detect,
        Segment,
        ImageText,
        Text,
        Speech,
    }
);
packed!(enum NetworkCost {
    0 = Published { side, macs, activations, layers, style },
    1 = Patches { side, patch, layers, width, ffn, heads, text },
    2 = Tokens { tokens, longest, layers, width, ffn, heads, gated, heads_width, embedding },
    3 = Speech { window_s, positions, encoder_layers, decoder_layers, width, heads, vocab },
});
packed!(
    enum LayerStyle {
        Convolution,
        Depthwise,
        Windows,
        Boxes,
    }
);
packed!(struct TextHalf { tokens, layers, width, heads });
packed!(struct UsualData { samples, epochs, batch, bytes });

packed!(struct Workload {
    id, name, name_zh, aliases, flops_per_byte, operations, working_set_bytes, precision, matrix_products, of_peak,
    of_bandwidth, halo, source,
});
packed!(
    enum FloatPrecision {
        Fp64,
        Fp32,
    }
);

packed!(struct PriceOffer {
    card, provider, region, billing, currency, price_per_card, cards_together, as_of, source, variant_stated, low_confidence,
    notes, tenancy, share,
});
packed!(
    enum Tenancy {
        Exclusive,
        Slice,
        Shared,
    }
);
packed!(
    enum Billing {
        OnDemand,
        Spot,
        Daily,
        Weekly,
        Monthly,
        Yearly,
        Reserved1y,
        Reserved3y,
    }
);
packed!(
    enum Currency {
        Cny,
        Usd,
        Eur,
    }
);
