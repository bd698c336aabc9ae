//! The views of the page. Each is a module here with one entry component; all read the same [`App`].
//!
//! A view is: a variant of [`View`], its name in links (`view=`), the parameters that it has there beside the scenario's,
//! the text `view.NAME`, and an arm in [`Stage`].

mod accuracy;
mod card;
mod check;
mod choose;
mod compare;
pub mod costs;
mod embed;
mod ladder;
mod method;
mod model;
mod prices;
mod reach;

pub use compare::link_of;

use std::time::Duration;

use leptos::prelude::*;

use crate::lazy::{Lazy, lazy_view};
use crate::panic::Part;
use crate::state::App;
use crate::words::t;

/// What the page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// Scenario, verdict and ranked offers.
    #[default]
    Choose,
    /// Offers side by side.
    Compare,
    /// Every card ranked by one figure.
    Ladder,
    /// One card.
    Card,
    /// One model.
    Model,
    /// How an estimate comes about.
    Method,
    /// What one offer costs.
    Costs,
    /// The price book.
    Prices,
    /// A listing or a machine beside the datasheet.
    Check,
    /// What a card can do.
    Reach,
    /// Code to embed the calculator elsewhere.
    Embed,
    /// Estimates against measurements.
    Accuracy,
}

impl View {
    /// Every view.
    pub const ALL: [Self; 12] = [
        Self::Choose,
        Self::Compare,
        Self::Ladder,
        Self::Card,
        Self::Model,
        Self::Method,
        Self::Accuracy,
        Self::Costs,
        Self::Prices,
        Self::Check,
        Self::Reach,
        Self::Embed,
    ];

    /// Those that the head lists, in its order; the others are reached from them. On a narrow screen the first few stand
    /// there, the rest behind a button.
    pub const LISTED: [Self; 9] = [
        Self::Choose,
        Self::Compare,
        Self::Ladder,
        Self::Costs,
        Self::Prices,
        Self::Check,
        Self::Reach,
        Self::Method,
        Self::Accuracy,
    ];

    /// Name in links.
    pub fn name(self) -> &'static str {
        match self {
            Self::Choose => "choose",
            Self::Check => "check",
            Self::Compare => "compare",
            Self::Ladder => "ladder",
            Self::Card => "card",
            Self::Model => "model",
            Self::Method => "method",
            Self::Costs => "costs",
            Self::Prices => "prices",
            Self::Reach => "can",
            Self::Embed => "embed",
            Self::Accuracy => "accuracy",
        }
    }

    /// Its own parameters in links.
    pub fn params(self) -> &'static [&'static str] {
        match self {
            Self::Choose | Self::Embed | Self::Check | Self::Costs | Self::Prices => &[],
            Self::Compare => &["vs"],
            Self::Ladder => &["by", "tier", "vendor"],
            Self::Card | Self::Model | Self::Method | Self::Reach => &["show"],
            Self::Accuracy => &["by", "show"],
        }
    }

    /// The view of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name() == name)
    }

    fn title_key(self) -> &'static str {
        match self {
            Self::Choose => "view.choose",
            Self::Check => "view.check",
            Self::Compare => "view.compare",
            Self::Ladder => "view.ladder",
            Self::Card => "view.card",
            Self::Model => "view.model",
            Self::Method => "view.method",
            Self::Costs => "view.costs",
            Self::Prices => "view.prices",
            Self::Reach => "view.can",
            Self::Embed => "view.embed",
            Self::Accuracy => "view.accuracy",
        }
    }
}

lazy_view! {
    part = views;
    /// [`View::Compare`].
    fn compare_view() {
        view! { <compare::Compare /> }.into_any()
    }
}

lazy_view! {
    part = views;
    /// [`View::Ladder`].
    fn ladder_view() {
        view! { <ladder::Ladder /> }.into_any()
    }
}

lazy_view! {
    part = views;
    /// [`View::Card`].
    fn card_view() {
        view! { <card::CardPage /> }.into_any()
    }
}

lazy_view! {
    part = views;
    /// [`View::Model`].
    fn model_view() {
        view! { <model::ModelPage /> }.into_any()
    }
}

lazy_view! {
    part = views;
    /// [`View::Method`].
    fn method_view() {
        view! { <method::Method /> }.into_any()
    }
}

lazy_view! {
    part = tools;
    /// [`View::Reach`].
    fn reach_view() {
        view! { <reach::Reach /> }.into_any()
    }
}

lazy_view! {
    part = views;
    /// [`View::Accuracy`].
    fn accuracy_view() {
        view! { <accuracy::Accuracy /> }.into_any()
    }
}

/// The view that is looked at.
#[component]
pub fn Stage() -> impl IntoView {
    let app = App::get();
    // Going back to another scenario of the same view changes what it shows; it is not built again. Another view is turned
    // to in a turn of its own: what the old one was told just before, as a scenario that a button of it loads, is done by
    // then, and nothing of it is left to read what goes with it.
    let view = RwSignal::new(app.view.get_untracked());
    let turn = move || {
        let next = app.view.get_untracked();
        if view.try_get_untracked().is_some_and(|now| now != next) {
            view.set(next);
        }
    };
    Effect::new(move |_| {
        if app.view.get() != view.get_untracked() {
            set_timeout(turn, Duration::ZERO);
        }
    });
    move || {
        match view.get() {
            // Made of parts itself.
            View::Choose => view! { <choose::Choose /> }.into_any(),
            other => view! { <Part name=other.name()>{shown(other)}</Part> }.into_any(),
        }
    }
}

fn shown(view: View) -> AnyView {
    match view {
        View::Choose => view! { <choose::Choose /> }.into_any(),
        View::Check => view! { <check::CheckView /> }.into_any(),
        View::Compare => view! { <Lazy part=compare_view /> }.into_any(),
        View::Ladder => view! { <Lazy part=ladder_view /> }.into_any(),
        View::Card => view! { <Lazy part=card_view /> }.into_any(),
        View::Model => view! { <Lazy part=model_view /> }.into_any(),
        View::Method => view! { <Lazy part=method_view /> }.into_any(),
        View::Costs => view! { <Lazy part=costs::costs /> }.into_any(),
        View::Prices => view! { <Lazy part=prices::prices /> }.into_any(),
        View::Reach => view! { <Lazy part=reach_view /> }.into_any(),
        View::Embed => view! { <Lazy part=embed::builder /> }.into_any(),
        View::Accuracy => view! { <Lazy part=accuracy_view /> }.into_any(),
    }
}

/// A link to a view: it can be opened in a tab of its own, and otherwise turns the page without loading it again.
#[component]
pub fn ViewLink(
    /// The view.
    view: View,
    /// Its parameters.
    #[prop(optional)]
    params: Vec<(&'static str, String)>,
    /// The tests' handle.
    #[prop(optional, into)]
    testid: Option<String>,
    /// What the link reads.
    children: Children,
) -> impl IntoView {
    let app = App::get();
    let params = StoredValue::new(params);
    let pairs = move || {
        params.with_value(|params| {
            params
                .iter()
                .map(|(name, value)| (*name, value.clone()))
                .collect::<Vec<(&'static str, String)>>()
        })
    };
    fn borrowed<'a>(pairs: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
        pairs
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect()
    }
    view! {
        <a
            href=move || app.link_with(view, &borrowed(&pairs()))
            aria-current=move || {
                (view == app.view.get() && View::LISTED.contains(&view)).then_some("page")
            }
            data-testid=testid
            on:click=move |event| {
                if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                    event.prevent_default();
                    app.go(view, &borrowed(&pairs()));
                }
            }
        >
            {children()}
        </a>
    }
}

/// Views that stand in the head of a narrow screen.
const FIRST: usize = 4;

/// The way from one view to another.
#[component]
pub fn ViewNav() -> impl IntoView {
    let app = App::get();
    let open = RwSignal::new(false);
    // Whoever has chosen wants to see the view, not the list.
    Effect::new(move |_| {
        app.view.track();
        open.set(false);
    });
    let listed = |views: &'static [View], behind: bool| {
        views
            .iter()
            .map(|view| {
                let view = *view;
                let testid = format!("view-{}", view.name());
                view! {
                    <li class:behind=behind>
                        <ViewLink view testid>
                            {t(view.title_key())}
                        </ViewLink>
                    </li>
                }
            })
            .collect_view()
    };
    let (first, rest) = View::LISTED.split_at(FIRST);
    let here = move || rest.contains(&app.view.get());
    view! {
        <nav class="views" class:open=open aria-label=t("page.views")>
            <ul id="views-list">
                {listed(first, false)} <li class="views-more">
                    <button
                        type="button"
                        class:here=here
                        data-testid="views-more"
                        aria-expanded=move || open.get().to_string()
                        aria-controls="views-list"
                        on:click=move |_| open.update(|open| *open = !*open)
                    >
                        {t("page.views.more")}
                        <span class="turn" aria-hidden="true"></span>
                    </button>
                </li> {listed(rest, true)}
            </ul>
        </nav>
    }
}
