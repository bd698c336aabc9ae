//! The browser's address bar, language and storage. A browser that refuses one of them only loses that comfort.

use cardfit::text::Lang;
use leptos::prelude::window;
use wasm_bindgen::JsValue;

use crate::state::{Pace, ViewParams};
use crate::views::View;

/// The query of the page's address, without `?`.
pub fn query() -> String {
    let search = window().location().search().unwrap_or_default();
    search.trim_start_matches('?').to_owned()
}

fn parameter(name: &str) -> Option<String> {
    web_sys::UrlSearchParams::new_with_str(&query())
        .ok()?
        .get(name)
}

/// The language that the address asks for.
pub fn lang() -> Option<Lang> {
    Lang::from_tag(&parameter("lang")?)
}

/// The view that the address asks for; the chooser where it names none that there is.
pub fn view() -> View {
    parameter("view")
        .and_then(|name| View::of(&name))
        .unwrap_or_default()
}

/// The parameters of that view which the address has.
pub fn view_params() -> ViewParams {
    view()
        .params()
        .iter()
        .filter_map(|name| Some((*name, parameter(name)?)))
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// The first of the browser's languages that the page speaks.
pub fn browser_lang() -> Lang {
    window()
        .navigator()
        .languages()
        .iter()
        .filter_map(|tag| Lang::from_tag(&tag.as_string()?))
        .next()
        .unwrap_or_default()
}

/// Percent-encodes one value of a query.
pub fn encode(value: &str) -> String {
    js_sys::encode_uri_component(value).into()
}

/// Makes `query` the address: a typed figure replaces the history's entry, a choice adds one.
pub fn write(query: &str, pace: Pace) {
    if query == self::query() {
        return;
    }
    let location = window().location();
    let path = location.pathname().unwrap_or_default();
    let url = if query.is_empty() {
        path
    } else {
        format!("{path}?{query}")
    };
    let Ok(history) = window().history() else {
        return;
    };
    // Refused for a file opened from disk, and by Safari after 100 changes in half a minute.
    let _refused = match pace {
        Pace::Typing => history.replace_state_with_url(&JsValue::NULL, "", Some(&url)),
        Pace::Choice => history.push_state_with_url(&JsValue::NULL, "", Some(&url)),
    };
}

/// Light or dark, where the user chose one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// As the system says.
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

const THEME_KEY: &str = "cardfit.theme";

impl Theme {
    /// Every theme, in the order in which the switch goes through them.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Name in links, in storage and in `data-theme`.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.name() == name)
    }

    /// The theme of the link, else the one kept, else the system's.
    pub fn asked() -> Self {
        let kept = || storage()?.get_item(THEME_KEY).ok().flatten();
        parameter("theme")
            .and_then(|name| Self::of(&name))
            .or_else(|| Self::of(&kept()?))
            .unwrap_or(Self::System)
    }

    /// Shows the page in this theme.
    pub fn show(self) {
        let root = window().document().and_then(|d| d.document_element());
        if let Some(root) = root {
            let _refused = root.set_attribute("data-theme", self.name());
        }
    }

    /// Keeps the choice for the next visit, where the browser lets us.
    pub fn keep(self) {
        if let Some(storage) = storage() {
            let _refused = storage.set_item(THEME_KEY, self.name());
        }
    }
}

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}
