//! What the widget says below and beside its figures: whose prices they are, what is taken for granted, the way to the page.

use cardfit::embed::config::Part;
use cardfit::scenario::to_query;
use cardfit::text::text;
use leptos::prelude::*;

use super::{Embed, FeedState};
use crate::state::App;
use crate::words::{self, t};

/// Whose prices these are, where that needs saying.
#[component]
pub fn FeedNotice() -> impl IntoView {
    let app = App::get();
    let embed = Embed::get();
    let line = move || {
        let lang = app.lang.get();
        match embed.feed.get() {
            FeedState::Awaited => Some(text(lang, "embed.feed.awaited", &[])),
            FeedState::Failed => Some(text(lang, "embed.feed.failed", &[])),
            FeedState::Used { stale: Some(day) } => Some(text(
                lang,
                "embed.feed.stale",
                &[("date", &crate::format::date(lang, &day))],
            )),
            FeedState::Used { stale: None } | FeedState::None => None,
        }
    };
    let refused = embed.bridge.refused;
    view! {
        <div role="status">
            {move || line().map(|line| view! { <p class="widget-note" data-testid="feed-note">{line}</p> })}
            {move || {
                refused
                    .then(|| view! { <p class="widget-note">{text(app.lang.get(), "embed.not_allowed", &[])}</p> })
            }}
        </div>
    }
}

/// What all figures take for granted, closed until asked for.
#[component]
pub fn Assumptions() -> impl IntoView {
    let app = App::get();
    view! {
        <details class="more" data-testid="assumptions">
            <summary>{t("page.assumptions")}</summary>
            <ul class="plain">
                {move || {
                    let lang = app.lang.get();
                    app.answer
                        .with(|a| a.assumptions.clone())
                        .into_iter()
                        .map(|assumption| view! { <li>{words::assumption(lang, assumption)}</li> })
                        .collect_view()
                }}
                <li>{t("page.assumptions.range")}</li>
            </ul>
        </details>
    }
}

/// Whose figures these are, and the way to the whole page with the same scenario.
#[component]
pub fn Foot() -> impl IntoView {
    let app = App::get();
    let embed = Embed::get();
    let whose = move || {
        let lang = app.lang.get();
        embed.stock.with(|stock| match stock.shop() {
            Some(shop) => text(
                lang,
                "embed.prices.shop",
                &[
                    ("name", &shop.feed().provider),
                    (
                        "date",
                        &crate::format::date(
                            lang,
                            shop.feed().generated_at.get(..10).unwrap_or_default(),
                        ),
                    ),
                ],
            ),
            None => text(lang, "embed.prices.reference", &[]),
        })
    };
    let whole = move || format!("./?{}", app.scenario.with(to_query));
    let share = embed.config.with_value(|c| c.shows(Part::Share));
    view! {
        <p class="widget-foot">
            <span data-testid="whose-prices">{whose}</span>
            {share
                .then(|| {
                    view! {
                        " "
                        <a href=whole target="_blank" rel="noopener" data-testid="whole-page">
                            {t("embed.whole_page")}
                        </a>
                    }
                })}
        </p>
    }
}
