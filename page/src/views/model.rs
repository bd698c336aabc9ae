//! One model: its shape, what its weights and its cache weigh, and which cards serve it.

use std::sync::Arc;

use cardfit::catalog::{AttentionKind, Catalog, Model};
use cardfit::dtype::{KvFormat, WeightFormat};
use cardfit::estimate::serving::{kv_card_bytes, weight_bytes};
use cardfit::notes::{note_in, phrase_in};
use cardfit::offers::{self, Fit, Offer, Run};
use cardfit::scenario::{Choice, parse};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::format;
use crate::state::App;
use crate::views::card::source_link;
use crate::views::{View, ViewLink};
use crate::words::{self, t};

/// The model that the link names, else the scenario's.
#[component]
pub fn ModelPage() -> impl IntoView {
    let app = App::get();
    let model = Memo::new(move |_| {
        let catalog = Catalog::embedded();
        let named = app.at("show").and_then(|id| catalog.model(&id));
        named
            .or_else(|| {
                app.scenario.with(|s| match &s.model {
                    cardfit::scenario::ModelChoice::Catalog(id) => catalog.model(id),
                    _ => None,
                })
            })
            .map(|model| model.id.clone())
    });
    view! {
        <main class="wide-page" id="answer">
            {move || {
                match model.get().and_then(|id| Catalog::embedded().model(&id)) {
                    Some(model) => view! { <ModelFacts model /> }.into_any(),
                    None => view! {
                        <h2 class="view-title">{t("model.unknown")}</h2>
                        <p>
                            <ViewLink view=View::Choose>{t("view.choose")}</ViewLink>
                        </p>
                    }
                        .into_any(),
                }
            }}
        </main>
    }
}

#[component]
fn ModelFacts(model: &'static Model) -> impl IntoView {
    let app = App::get();
    let table = move |rows: fn(Lang, &'static Model) -> Vec<(String, String)>| {
        move || {
            rows(app.lang.get(), model)
                .into_iter()
                .map(|(name, value)| {
                    view! {
                        <tr>
                            <th scope="row">{name}</th>
                            <td>{value}</td>
                        </tr>
                    }
                })
                .collect_view()
        }
    };
    let notes = model.notes.clone();
    view! {
        <h2 class="view-title" data-testid="model-name">{model.name.clone()}</h2>
        <p class="lead">
            {move || {
                let lang = app.lang.get();
                let all = format::parameters(lang, model.params_total as f64);
                if model.params_active == model.params_total {
                    text(lang, "model.params", &[("n", &all)])
                } else {
                    let active = format::parameters(lang, model.params_active as f64);
                    text(lang, "model.params_active", &[("n", &all), ("active", &active)])
                }
            }}
        </p>
        <p>
            <button
                type="button"
                class="link"
                data-testid="model-use"
                on:click=move |_| {
                    app.set_model(&model.id);
                    app.look_at(View::Choose);
                }
            >
                {t("model.use")}
            </button>
        </p>
        <div class="columns">
            <section class="panel">
                <h3 class="part-title">{t("model.shape")}</h3>
                <table class="plain-table" data-testid="model-shape">
                    <tbody>{table(shape)}</tbody>
                </table>
                <p class="note">
                    {t("offer.price.source")} {t("page.colon")}
                    {move || source_link(app.lang.get(), &model.source)}
                </p>
                {notes
                    .map(|notes| {
                        view! {
                            <p class="note">
                                {t("card.note")} " " {move || note_in(app.lang.get(), &notes)}
                            </p>
                        }
                    })}
            </section>
            <section class="panel">
                <h3 class="part-title">{t("model.weights")}</h3>
                <table class="plain-table sizes" data-testid="model-weights">
                    <tbody>{table(weights)}</tbody>
                </table>
                <h3 class="part-title">{t("model.cache")}</h3>
                <table class="plain-table sizes" data-testid="model-cache">
                    <tbody>{table(cache)}</tbody>
                </table>
            </section>
        </div>
        <section class="panel">
            <h3 class="part-title">{t("model.cards")}</h3>
            <p class="note">{t("model.cards.say")}</p>
            <Cards model />
        </section>
    }
}

fn shape(lang: Lang, model: &'static Model) -> Vec<(String, String)> {
    let shape = &model.transformer;
    let count = |n: u32| format::count(lang, u64::from(n));
    let name = |key: &str| text(lang, key, &[]);
    let mut lines = vec![
        (name("field.layers"), count(shape.layers)),
        (name("field.hidden"), count(shape.hidden)),
    ];
    for group in &shape.attention {
        let kind = match &group.kind {
            AttentionKind::Heads {
                heads,
                kv_heads,
                head_dim,
                window,
                ..
            } => {
                let window = window
                    .map(|w| text(lang, "model.window", &[("n", &count(w))]))
                    .unwrap_or_default();
                let said = text(
                    lang,
                    "model.heads",
                    &[
                        ("heads", &count(*heads)),
                        ("kv", &count(*kv_heads)),
                        ("dim", &count(*head_dim)),
                    ],
                );
                format!("{said}{window}")
            }
            AttentionKind::Latent { heads, kv_rank, .. } => text(
                lang,
                "model.latent",
                &[("heads", &count(*heads)), ("rank", &count(*kv_rank))],
            ),
            AttentionKind::Linear { heads, .. } => {
                text(lang, "model.linear", &[("heads", &count(*heads))])
            }
            AttentionKind::Compressed { heads, ratio, .. } => text(
                lang,
                "model.compressed",
                &[("heads", &count(*heads)), ("ratio", &count(*ratio))],
            ),
        };
        let blocks = text(lang, "model.blocks", &[("n", &count(group.layers))]);
        lines.push((blocks, kind));
    }
    if shape.ffn > 0 {
        lines.push((name("field.ffn"), count(shape.ffn)));
    }
    if let Some(experts) = &shape.experts {
        lines.push((
            name("model.experts"),
            text(
                lang,
                "model.experts_of",
                &[
                    ("used", &count(experts.per_token)),
                    ("all", &count(experts.experts)),
                    ("size", &count(experts.ffn)),
                ],
            ),
        ));
    }
    lines.push((name("field.vocab"), count(shape.vocab)));
    lines.push((name("model.context"), count(model.max_context)));
    lines.push((
        name("model.native"),
        words::choice(lang, model.native_format),
    ));
    if let Some(licence) = &model.licence {
        lines.push((name("model.licence"), phrase_in(lang, licence).to_owned()));
    }
    lines
}

fn weights(lang: Lang, model: &'static Model) -> Vec<(String, String)> {
    [
        WeightFormat::Bf16,
        WeightFormat::Fp8,
        WeightFormat::Int8,
        WeightFormat::Awq4,
        WeightFormat::Q8_0,
        WeightFormat::Q4KM,
        WeightFormat::Nf4,
    ]
    .into_iter()
    .map(|format_of| {
        let bytes = weight_bytes(model, format_of, None).total();
        (words::choice(lang, format_of), format::gib(bytes as f64))
    })
    .collect()
}

fn cache(lang: Lang, model: &'static Model) -> Vec<(String, String)> {
    const LENGTHS: [u64; 4] = [4096, 16_384, 32_768, 131_072];
    LENGTHS
        .into_iter()
        .filter(|tokens| *tokens <= u64::from(model.max_context))
        .flat_map(|tokens| {
            [KvFormat::Bits16, KvFormat::Bits8]
                .into_iter()
                .map(move |kv| {
                    let each = kv.bits() / 8.0;
                    let bytes = kv_card_bytes(&model.transformer, tokens, each, 1, 1, 1);
                    let name = text(
                        lang,
                        "model.cache_of",
                        &[
                            ("n", &format::count(lang, tokens)),
                            ("format", &words::choice(lang, kv)),
                        ],
                    );
                    (name, format::gib(bytes))
                })
        })
        .collect()
}

/// The cheapest cards that serve one user, in the model's own format and in four bits.
#[component]
fn Cards(model: &'static Model) -> impl IntoView {
    let app = App::get();
    const FIRST: usize = 8;
    let ranked = move |weights: &str| {
        let catalog = Catalog::embedded();
        let money = app.scenario.with(|s| s.money.clone());
        let link = format!("m={}&do=serve&w={weights}&users=1", model.id);
        let mut scenario = parse(&link, catalog).scenario;
        scenario.money.currency = money.currency;
        scenario.money.cny_per_usd = money.cny_per_usd;
        scenario.money.own_prices = money.own_prices;
        let ranking = offers::rank(&scenario, catalog, &app.book.get());
        let offers: Vec<Arc<Offer>> = ranking
            .offers
            .into_iter()
            .filter(|offer| offer.best_of_card && offer.fit == Fit::Fits)
            .take(FIRST)
            .map(Arc::new)
            .collect();
        (link, offers)
    };
    let native = model.native_format.name();
    let formats: Vec<&'static str> = if native == "awq4" {
        vec![native]
    } else {
        vec![native, "awq4"]
    };
    formats
        .into_iter()
        .map(|weights| {
            let rows = move || {
                let lang = app.lang.get();
                let currency = app.scenario.with(|s| s.money.currency);
                let (link, offers) = ranked(weights);
                let rows = offers
                    .into_iter()
                    .map(|offer| {
                        let speed = match &offer.run {
                            Some(Run::Serve { speed, .. }) => {
                                let rate = format::rate(lang, speed.tokens_per_s_user.mid);
                                text(lang, "offer.rate.tokens", &[("rate", &rate)])
                            }
                            _ => String::new(),
                        };
                        let cost = offer
                            .cost_per_hour
                            .map(|cost| format::money(lang, currency, cost.mid));
                        view! {
                            <tr>
                                <th scope="row">
                                    <ViewLink view=View::Card params=vec![("show", offer.card.clone())]>
                                        {words::cards(lang, &offer)}
                                    </ViewLink>
                                </th>
                                <td class="figure">{speed}</td>
                                <td class="figure">{cost}</td>
                            </tr>
                        }
                    })
                    .collect_view();
                view! {
                    <table class="plain-table">
                        <caption>{text(lang, &format!("enum.weights.{weights}"), &[])}</caption>
                        <thead>
                            <tr>
                                <th scope="col">{text(lang, "page.table.cards", &[])}</th>
                                <th scope="col" class="figure">
                                    {text(lang, "card.runs.one_user", &[])}
                                </th>
                                <th scope="col" class="figure">
                                    {text(lang, "offer.cost.hour", &[])}
                                </th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                    <p>
                        <button
                            type="button"
                            class="link"
                            on:click=move |_| {
                                app.load_link(&link);
                                app.look_at(View::Choose);
                            }
                        >
                            {text(lang, "model.all_cards", &[])}
                        </button>
                    </p>
                }
            };
            view! { <div class="columns-part">{rows}</div> }
        })
        .collect_view()
}
