//! A model described by hand.

use cardfit::catalog::{AttentionGroup, AttentionKind, Transformer};
use cardfit::scenario::{ModelChoice, Scenario};
use leptos::prelude::*;

use super::field::{CheckField, FieldNote, NumberField};
use crate::lazy::{Lazy, lazy_view};
use crate::state::{App, Pace};
use crate::words::t;

fn shape(scenario: &Scenario) -> Option<&Transformer> {
    match &scenario.model {
        ModelChoice::Custom(shape) => Some(shape),
        ModelChoice::Catalog(_) => None,
    }
}

/// Query heads, key and value heads, width of a head, window of a model whose blocks are all alike.
fn heads(scenario: &Scenario) -> Option<(u32, u32, u32, Option<u32>)> {
    match shape(scenario)?.attention.as_slice() {
        [
            AttentionGroup {
                kind:
                    AttentionKind::Heads {
                        heads,
                        kv_heads,
                        head_dim,
                        window,
                    },
                ..
            },
        ] => Some((*heads, *kv_heads, *head_dim, *window)),
        _ => None,
    }
}

/// The groups of attention as a link has them.
fn groups(scenario: &Scenario) -> String {
    let link = cardfit::scenario::to_query(scenario);
    let (pairs, _) = cardfit::scenario::decode(&link);
    let given = pairs.into_iter().find(|(param, _)| param == "attn");
    given.map(|(_, value)| value).unwrap_or_default()
}

/// Groups of blocks that differ, in the writing of links: it can be corrected like any other input.
#[component]
fn AttentionGroups() -> impl IntoView {
    let app = App::get();
    let typed = RwSignal::new(app.scenario.with_untracked(groups));
    let now = Memo::new(move |_| app.scenario.with(groups));
    Effect::new(move |_| typed.set(now.get()));
    view! {
        <div class="field wide">
            <label for="field-attn">{t("field.attn")}</label>
            <textarea
                id="field-attn"
                data-testid="field-attn"
                rows="3"
                spellcheck="false"
                aria-describedby="note-attn attn-help"
                prop:value=typed
                on:input=move |event| typed.set(event_target_value(&event))
                on:change=move |event| {
                    app.set(&[("attn", &event_target_value(&event))], Pace::Choice);
                }
            ></textarea>
            <p class="note" id="attn-help">{t("page.model.attn_help")}</p>
            <FieldNote param="attn" />
        </div>
    }
}

lazy_view! {
    part = form;
    fn own_shape() {
        view! { <OwnShape /> }.into_any()
    }
}

/// The shape of a model that is not in the catalog, shown when the model is one.
#[component]
pub fn CustomModel() -> impl IntoView {
    let app = App::get();
    let shown = Memo::new(move |_| app.scenario.with(|s| shape(s).is_some()));
    view! {
        <Show when=move || shown.get()>
            <Lazy part=own_shape />
        </Show>
    }
}

#[component]
fn OwnShape() -> impl IntoView {
    let app = App::get();
    // Blocks of several kinds, or with latent attention, have no single number of heads to show.
    let plain = Memo::new(move |_| app.scenario.with(|s| heads(s).is_some()));
    let experts = Memo::new(move |_| {
        app.scenario
            .with(|s| shape(s).is_some_and(|t| t.experts.is_some()))
    });
    view! {
            <fieldset class="custom" data-testid="custom-model">
                <legend>{t("page.model.custom")}</legend>
                <div class="pairs">
                    <NumberField param="layers" value={|s| Some(f64::from(shape(s)?.layers))} />
                    <NumberField param="hidden" value={|s| Some(f64::from(shape(s)?.hidden))} />
                    <Show
                        when=move || plain.get()
                        fallback=move || view! { <AttentionGroups /> }
                    >
                        <NumberField param="heads" value={|s| Some(f64::from(heads(s)?.0))} />
                        <NumberField param="kvheads" value={|s| Some(f64::from(heads(s)?.1))} />
                        <NumberField param="hd" value={|s| Some(f64::from(heads(s)?.2))} />
                        <NumberField
                            param="window"
                            empty="page.model.whole_context"
                            value={|s| heads(s)?.3.map(f64::from)}
                        />
                    </Show>
                    <NumberField param="ffn" value={|s| Some(f64::from(shape(s)?.ffn))} />
                    <NumberField param="vocab" value={|s| Some(f64::from(shape(s)?.vocab))} />
                    <NumberField
                        param="experts"
                        empty="page.model.dense"
                        value={|s| Some(f64::from(shape(s)?.experts.as_ref()?.experts))}
                    />
                    <Show when=move || experts.get()>
                        <NumberField
                            param="top"
                            value={|s| Some(f64::from(shape(s)?.experts.as_ref()?.per_token))}
                        />
                        <NumberField
                            param="eff"
                            value={|s| Some(f64::from(shape(s)?.experts.as_ref()?.ffn))}
                        />
                        <NumberField
                            param="sff"
                            value={|s| Some(f64::from(shape(s)?.experts.as_ref()?.shared_ffn))}
                        />
                        <NumberField
                            param="elayers"
                            value={|s| Some(f64::from(shape(s)?.experts.as_ref()?.layers))}
                        />
                        <NumberField
                            param="elat"
                            empty="page.model.elat_none"
                            value={|s| {
                                let latent = shape(s)?.experts.as_ref()?.latent;
                                (latent > 0).then(|| f64::from(latent))
                            }}
                        />
                    </Show>
                    <NumberField
                        param="extra"
                        empty="page.model.none"
                        value={|s| Some(shape(s)?.extra_params as f64).filter(|n| *n > 0.0)}
                    />
                    <NumberField
                        param="aside"
                        empty="page.model.none"
                        value={|s| Some(shape(s)?.aside_params as f64).filter(|n| *n > 0.0)}
                    />
                </div>
                <CheckField param="gated" value={|s| shape(s).is_some_and(|t| t.ffn_gated)} />
                <CheckField param="tie" value={|s| shape(s).is_some_and(|t| t.tie_embeddings)} />
            </fieldset>
    }
}
