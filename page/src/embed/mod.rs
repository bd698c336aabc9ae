//! The page as a widget in somebody else's: `embed/index.html` is this page with another head, and lands here.
//!
//! ```text
//! frame's address -> Config -> App (the scenario)            answer -> messages to the embedding page
//! feed by address or message -> Shop -> what is answered from   ^
//! messages of the embedding page -------------------------------+
//! ```
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`bridge`] | messages to and from the embedding page |
//! | [`card`] | the widget of one card |
//! | [`feed`] | fetching an operator's feed |
//! | [`height`] | telling the embedding page how high the widget is |
//! | [`offers`] | the offers, with the way to rent them |
//! | [`stock`] | what is answered from: reference prices, some providers', or an operator's shelf |
//! | [`widget`] | the calculator widget |

mod bridge;
mod card;
mod feed;
mod height;
mod offers;
pub mod stock;
mod widget;

use cardfit::embed::config::Config;
use leptos::prelude::*;

use crate::begin::Opened;
use crate::lazy::{Lazy, lazy_view};
use crate::state::App;
use widget::Widget;

lazy_view! {
    part = widget;
    /// [`Widget`]: the page itself needs nothing of it.
    pub fn widget_view() {
        view! { <Widget /> }.into_any()
    }
}

/// The page as a widget. Provides [`App`] to all its parts.
#[component]
pub fn Framed() -> impl IntoView {
    provide_context(App::open(Opened::read()));
    view! { <Lazy part=widget_view /> }
}

/// Whether this is the widget rather than the page.
pub fn is_framed() -> bool {
    document()
        .document_element()
        .is_some_and(|root| root.has_attribute("data-embed"))
}

/// What the embedding page asked for in the frame's address.
pub fn config() -> Config {
    let search = window().location().search().unwrap_or_default();
    Config::parse(search.trim_start_matches('?'))
}
