//! Scenarios at random, every field within its own limit.

use cardfit::catalog::{
    AttentionGroup, AttentionKind, Billing, Catalog, Currency, ExpertLayers, Sparse, Transformer,
};
use cardfit::dtype::WeightFormat;
use cardfit::scenario::limits::{self, Limit};
use cardfit::scenario::{
    Choice, Extras, Grain, Habits, Job, Load, ModelChoice, Money, OwnCard, PriceMarket, Purchase,
    RankBy, Scenario, Serving, Shelf, SpotTerms, Training, TrainingAmount, TrainingMethod, parse,
    to_query,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

/// Whole numbers within a limit: its ends, small ones, and ones of every size.
fn whole(limit: Limit) -> impl Strategy<Value = u32> {
    let (min, max) = (limit.min as u32, limit.max as u32);
    prop_oneof![
        1 => Just(min),
        1 => Just(max),
        4 => min..=max.min(64).max(min),
        4 => (0.0..=1.0f64).prop_map(move |t| {
            let (low, high) = (f64::from(min.max(1)).ln(), f64::from(max).ln());
            ((low + t * (high - low)).exp() as u32).clamp(min, max)
        }),
    ]
}

/// Real numbers within a limit, of every size.
fn real(limit: Limit) -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(limit.min),
        1 => Just(limit.max),
        4 => (1..=1000u32).prop_map(move |n| f64::from(n).clamp(limit.min, limit.max)),
        4 => (0.0..=1.0f64).prop_map(move |t| {
            let (low, high) = (limit.min.ln(), limit.max.ln());
            (low + t * (high - low)).exp().clamp(limit.min, limit.max)
        }),
    ]
}

fn one_of<T: Choice + std::fmt::Debug>() -> impl Strategy<Value = T> {
    select(T::ALL.to_vec())
}

fn maybe<S: Strategy>(inner: S) -> impl Strategy<Value = Option<S::Value>>
where
    S::Value: Clone,
{
    proptest::option::of(inner)
}

fn heads() -> impl Strategy<Value = AttentionKind> {
    (
        1..=64u32,
        1..=16u32,
        whole(limits::HEAD_DIM),
        maybe(whole(limits::WINDOW)),
    )
        .prop_map(
            |(kv_heads, groups, head_dim, window)| AttentionKind::Heads {
                heads: kv_heads * groups,
                kv_heads,
                head_dim,
                window,
            },
        )
}

fn attention() -> BoxedStrategy<AttentionKind> {
    // Boxed: the strategies of all scenarios together are too large for a test's stack.
    prop_oneof![
        heads(),
        (
            whole(limits::HEADS),
            maybe(1..=4096u32),
            1..=4096u32,
            whole(limits::HEAD_DIM),
            whole(limits::HEAD_DIM),
            whole(limits::HEAD_DIM)
        )
            .prop_map(
                |(heads, q_rank, kv_rank, qk_nope_dim, qk_rope_dim, v_dim)| {
                    AttentionKind::Latent {
                        heads,
                        q_rank,
                        kv_rank,
                        qk_nope_dim,
                        qk_rope_dim,
                        v_dim,
                    }
                }
            ),
        (
            whole(limits::HEADS),
            0..=1_000_000_000_000u64,
            0..=1_000_000_000u64
        )
            .prop_map(|(heads, state_elements, params)| AttentionKind::Linear {
                heads,
                state_elements,
                params
            }),
        (
            whole(limits::HEADS),
            whole(limits::HEAD_DIM),
            0..=128u32,
            0..=4096u32,
            0..=1_000_000_000u64
        )
            .prop_map(|(heads, entry_dim, ratio, window, params)| {
                AttentionKind::Compressed {
                    heads,
                    entry_dim,
                    ratio,
                    window,
                    params,
                }
            }),
        (whole(limits::HEADS), whole(limits::HEAD_DIM)).prop_map(|(heads, head_dim)| {
            AttentionKind::Heads {
                heads,
                kv_heads: 0,
                head_dim,
                window: None,
            }
        }),
    ]
    .boxed()
}

fn sparse() -> impl Strategy<Value = Option<Sparse>> {
    maybe(
        (
            whole(limits::WINDOW),
            whole(limits::HEADS),
            whole(limits::HEAD_DIM),
        )
            .prop_map(|(top, index_heads, index_dim)| Sparse {
                top,
                index_heads,
                index_dim,
            }),
    )
}

/// Shapes that keep to the limits; the widths are bounded so that most are below the largest
/// model that is computed, and the rest are dropped.
fn shape() -> BoxedStrategy<Transformer> {
    let groups = prop_oneof![
        (heads(), sparse()).prop_map(|group| vec![group]),
        proptest::collection::vec((attention(), sparse()), 1..5),
    ];
    let experts = maybe((
        whole(limits::EXPERTS),
        any::<u32>(),
        1..=8192u32,
        0..=8192u32,
        any::<u32>(),
        0..=8192u32,
    ));
    (
        groups,
        1..=100u32,
        16..=16_384u32,
        1..=65_536u32,
        any::<bool>(),
        whole(limits::VOCAB),
        any::<bool>(),
        (experts, 0..=10_000_000_000u64, 0..=10_000_000_000u64),
    )
        .prop_map(
            |(groups, layers, hidden, ffn, ffn_gated, vocab, tie_embeddings, beyond)| {
                let (experts, extra_params, aside_params) = beyond;
                let attention: Vec<_> = groups
                    .into_iter()
                    .map(|(kind, sparse)| AttentionGroup {
                        layers,
                        kind,
                        sparse,
                    })
                    .collect();
                let layers = layers * attention.len() as u32;
                let experts =
                    experts.map(
                        |(experts, top, ffn, shared_ffn, held, latent)| ExpertLayers {
                            experts,
                            per_token: 1 + top % experts,
                            ffn,
                            shared_ffn,
                            layers: 1 + held % layers,
                            latent,
                        },
                    );
                Transformer {
                    layers,
                    hidden,
                    ffn,
                    ffn_gated,
                    vocab,
                    tie_embeddings,
                    attention,
                    experts,
                    extra_params,
                    aside_params,
                }
            },
        )
        .prop_filter("below the largest model", |shape| {
            // Widths that no model has; the estimate of parameters is the reader's own bound.
            let scenario = Scenario {
                model: ModelChoice::Custom(Box::new(shape.clone())),
                ..Scenario::default()
            };
            parse(&to_query(&scenario), catalog()).problems.is_empty()
        })
        .boxed()
}

fn model() -> impl Strategy<Value = ModelChoice> {
    let ids: Vec<_> = catalog().models.iter().map(|m| m.id.clone()).collect();
    prop_oneof![
        3 => select(ids).prop_map(ModelChoice::Catalog),
        2 => shape().prop_map(|shape| ModelChoice::Custom(Box::new(shape))),
    ]
}

fn amount() -> impl Strategy<Value = TrainingAmount> {
    prop_oneof![
        real(limits::TOKENS).prop_map(TrainingAmount::Tokens),
        (real(limits::SAMPLES), real(limits::EPOCHS))
            .prop_map(|(count, epochs)| TrainingAmount::Samples { count, epochs }),
    ]
}

fn training() -> impl Strategy<Value = Training> {
    (
        (
            one_of(),
            amount(),
            whole(limits::SEQ_LEN),
            maybe(whole(limits::GLOBAL_BATCH)),
        ),
        (
            one_of(),
            one_of(),
            whole(limits::LORA_RANK),
            any::<bool>(),
            one_of(),
        ),
        (
            maybe(whole(limits::MICRO_BATCH)),
            maybe(one_of()),
            maybe(one_of()),
            maybe(one_of()),
        ),
        (
            maybe(whole(limits::TENSOR_PARALLEL)),
            maybe(whole(limits::PIPELINE_PARALLEL)),
            maybe(whole(limits::EXPERT_PARALLEL)),
        ),
    )
        .prop_map(|(what, how, layout, ways)| Training {
            method: what.0,
            amount: what.1,
            seq_len: what.2,
            global_batch: what.3,
            precision: how.0,
            optimizer: how.1,
            lora_rank: how.2,
            base_weights: match what.0 {
                TrainingMethod::Qlora => how.4,
                _ => WeightFormat::Nf4,
            },
            flash_attention: how.3,
            micro_batch: layout.0,
            recompute: layout.1,
            sharding: layout.2,
            offload: layout.3,
            tensor_parallel: ways.0,
            pipeline_parallel: ways.1,
            expert_parallel: ways.2,
        })
}

fn serving() -> impl Strategy<Value = Serving> {
    let load = prop_oneof![
        whole(limits::CONCURRENCY).prop_map(Load::Concurrency),
        real(limits::REQUEST_RATE).prop_map(Load::RequestsPerSecond),
    ];
    (
        (
            one_of(),
            one_of(),
            whole(limits::PROMPT_TOKENS),
            whole(limits::OUTPUT_TOKENS),
        ),
        (
            load,
            maybe(real(limits::TTFT)),
            maybe(real(limits::TPOT)),
            maybe(one_of()),
        ),
        (
            maybe(whole(limits::TENSOR_PARALLEL)),
            real(limits::HOURS_PER_DAY),
            maybe(real(limits::REQUESTS)),
            habits(),
        ),
    )
        .prop_map(|(what, load, rest)| Serving {
            weights: what.0,
            kv: what.1,
            prompt_tokens: what.2,
            output_tokens: what.3,
            load: load.0,
            ttft_target_s: load.1,
            tpot_target_s: load.2,
            engine: load.3,
            tensor_parallel: rest.0,
            hours_per_day: rest.1,
            requests_total: rest.2,
            habits: rest.3,
        })
}

fn habits() -> impl Strategy<Value = Habits> {
    (
        whole(limits::THINKING_TOKENS),
        real(limits::PREFIX_HIT),
        whole(limits::GUESSES),
        real(limits::ACCEPTANCE),
        maybe(real(limits::DRAFT_PARAMS)),
        any::<bool>(),
    )
        .prop_map(
            |(
                thinking_tokens,
                prefix_hit_percent,
                guesses,
                accept_percent,
                draft_params,
                offline,
            )| Habits {
                thinking_tokens,
                prefix_hit_percent,
                guesses,
                accept_percent,
                draft_params,
                offline,
            },
        )
}

fn shelf() -> impl Strategy<Value = Shelf> {
    let ids: Vec<_> = catalog().cards.iter().map(|c| c.id.clone()).collect();
    (
        subsequence(ids, 0..5),
        any::<bool>(),
        maybe(whole(limits::COUNT)),
        maybe(whole(limits::MAX_COUNT)),
        prop_oneof![Just(0.0), real(limits::BUSY)],
        proptest::collection::vec(own_card(), 0..2),
    )
        .prop_map(|(cards, unpriced, count, max_count, busy_gib, own)| Shelf {
            cards,
            unpriced,
            count,
            max_count,
            busy_gib,
            own,
        })
}

fn own_card() -> BoxedStrategy<OwnCard> {
    let like: Vec<_> = catalog().cards.iter().map(|c| c.id.clone()).collect();
    (
        1_u32..4096,
        1_u32..100_000,
        1_u32..10_000,
        maybe(1_u32..10_000),
        maybe(1_u32..10_000),
        maybe(1..=64_u32),
        maybe(select(like)),
    )
        .prop_map(
            |(memory, bandwidth, half, eighth, link, node, like)| OwnCard {
                name: format!("own {memory} {bandwidth}"),
                memory_gib: f64::from(memory),
                bandwidth_gb_s: f64::from(bandwidth),
                tflops_16_bit: f64::from(half),
                tflops_8_bit: eighth.map(f64::from),
                link_gb_s: link.map(f64::from),
                cards_per_node: node,
                like,
            },
        )
        .boxed()
}

/// Real numbers within a limit that may hold zero.
fn from_zero(limit: Limit) -> impl Strategy<Value = f64> {
    let least = limit.min.max(0.001);
    prop_oneof![
        1 => Just(limit.min),
        3 => real(Limit { min: least, ..limit }),
    ]
}

fn extras() -> BoxedStrategy<Extras> {
    (
        (
            whole(limits::STARTS).prop_map(f64::from),
            from_zero(limits::SETUP),
            from_zero(limits::FETCH),
            from_zero(limits::UPLOAD),
            from_zero(limits::LINE),
            from_zero(limits::EVALUATION),
            from_zero(limits::FAILED),
            from_zero(limits::IDLE),
        ),
        (
            from_zero(limits::DISK),
            from_zero(limits::DISK_FREE),
            from_zero(limits::DISK_PRICE),
            maybe(from_zero(limits::STOPPED_PRICE)),
            from_zero(limits::STOPPED),
            from_zero(limits::EGRESS),
            from_zero(limits::EGRESS_PRICE),
            from_zero(limits::TAX),
        ),
    )
        .prop_map(|(time, rest)| Extras {
            starts: time.0,
            setup_hours: time.1,
            fetch_mbit_s: time.2,
            upload_gb: time.3,
            line_mbit_s: time.4,
            evaluation_percent: time.5,
            failed_percent: time.6,
            idle_percent: time.7,
            disk_gb: rest.0,
            disk_free_gb: rest.1,
            disk_price: rest.2,
            stopped_price: rest.3,
            stopped_days: rest.4,
            egress_gb: rest.5,
            egress_price: rest.6,
            tax_percent: rest.7,
        })
        .boxed()
}

fn spot() -> BoxedStrategy<SpotTerms> {
    (
        maybe(from_zero(limits::INTERRUPTIONS)),
        from_zero(limits::CHECKPOINT),
        maybe(from_zero(limits::INTERVAL)),
        from_zero(limits::RESTART),
    )
        .prop_map(
            |(interruptions_per_hour, checkpoint_s, interval_hours, restart_hours)| SpotTerms {
                interruptions_per_hour,
                checkpoint_s,
                interval_hours,
                restart_hours,
            },
        )
        .boxed()
}

fn purchase() -> BoxedStrategy<Purchase> {
    (
        maybe(from_zero(limits::BUY)),
        from_zero(limits::BUY_SERVER),
        from_zero(limits::HOST_WATTS),
        from_zero(limits::KWH),
        from_zero(limits::PUE),
        from_zero(limits::HOSTING),
        from_zero(limits::STAFF),
        from_zero(limits::RESALE),
        from_zero(limits::BUY_MONTHS),
        maybe(from_zero(limits::BUY_HOURS)),
    )
        .prop_map(|given| Purchase {
            card_price: given.0,
            server_price: given.1,
            host_watts: given.2,
            kwh_price: given.3,
            cooling_factor: given.4,
            hosting_price: given.5,
            staff_price: given.6,
            resale_percent: given.7,
            months: given.8,
            hours_per_month: given.9,
        })
        .boxed()
}

/// Rates and rules of prices.
fn pricing() -> BoxedStrategy<Money> {
    (
        real(limits::EURO_RATE),
        one_of::<PriceMarket>(),
        real(limits::SLICE),
        maybe(one_of::<Grain>()),
        maybe(from_zero(limits::MINIMUM)),
        extras(),
        spot(),
        purchase(),
    )
        .prop_map(|given| Money {
            usd_per_eur: given.0,
            market: given.1,
            slice: given.2,
            grain: given.3,
            minimum_hours: given.4,
            extras: given.5,
            spot: given.6,
            purchase: given.7,
            ..Money::default()
        })
        .boxed()
}

fn money() -> BoxedStrategy<Money> {
    let ids: Vec<_> = catalog().cards.iter().map(|c| c.id.clone()).collect();
    let prices = subsequence(ids, 0..4).prop_flat_map(|cards| {
        let prices = proptest::collection::vec(real(limits::OWN_PRICE), cards.len());
        prices.prop_map(move |prices| cards.iter().cloned().zip(prices).collect::<Vec<_>>())
    });
    (
        one_of::<Currency>(),
        real(limits::EXCHANGE_RATE),
        subsequence(Billing::ALL.to_vec(), 0..=Billing::ALL.len()),
        prices,
        maybe(real(limits::BUDGET)),
        maybe(real(limits::DEADLINE)),
        prop_oneof![Just(Money::default()), pricing()],
    )
        .prop_map(
            |(currency, cny_per_usd, billing, own_prices, budget, deadline_hours, rest)| Money {
                currency,
                cny_per_usd,
                billing,
                own_prices,
                budget,
                deadline_hours,
                ..rest
            },
        )
        .boxed()
}

/// Every field within its own limit; what the fields say together may still be put right.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    let job = prop_oneof![
        training().prop_map(Job::Train),
        serving().prop_map(Job::Serve)
    ];
    (model(), job, shelf(), money(), one_of::<RankBy>()).prop_map(
        |(model, job, shelf, money, rank)| Scenario {
            model,
            job,
            shelf,
            money,
            rank,
        },
    )
}
