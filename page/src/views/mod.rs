//! The views of the page. Each is a module here with one entry component; all read the same [`App`].
//!
//! A view is: a variant of [`View`], its name in links (`view=`), the text `view.NAME`, and an arm in [`Stage`].

mod choose;

use leptos::prelude::*;

use crate::state::App;
use crate::words::t;

/// What the page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// Scenario, verdict and ranked offers.
    #[default]
    Choose,
}

impl View {
    /// Every view, in the order in which the head lists them.
    pub const ALL: [Self; 1] = [Self::Choose];

    /// Name in links.
    pub fn name(self) -> &'static str {
        match self {
            Self::Choose => "choose",
        }
    }

    /// The view of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name() == name)
    }

    fn title_key(self) -> &'static str {
        match self {
            Self::Choose => "view.choose",
        }
    }
}

/// The view that is looked at.
#[component]
pub fn Stage() -> impl IntoView {
    let app = App::get();
    move || match app.view.get() {
        View::Choose => view! { <choose::Choose /> }.into_any(),
    }
}

/// The way from one view to another: links, so that one can open a view in a tab of its own.
#[component]
pub fn ViewNav() -> impl IntoView {
    let app = App::get();
    view! {
        <nav class="views" aria-label=t("page.views")>
            <ul>
                {View::ALL
                    .into_iter()
                    .map(|view| {
                        view! {
                            <li>
                                <a
                                    href=move || app.link_to(view)
                                    aria-current=move || (app.view.get() == view).then_some("page")
                                    data-testid=format!("view-{}", view.name())
                                    on:click=move |event| {
                                        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                                            event.prevent_default();
                                            app.look_at(view);
                                        }
                                    }
                                >
                                    {t(view.title_key())}
                                </a>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </nav>
    }
}
