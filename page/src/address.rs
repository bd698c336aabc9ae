//! The browser's address bar, language and storage. A browser that refuses one of them only loses that comfort.

use cardfit::rental::BookEdits;
use cardfit::scenario::limits::FRAGMENT_BYTES;
use cardfit::scenario::{TooLarge, with_fragment};
use cardfit::share::{self, Stamp};
use cardfit::text::Lang;
use leptos::prelude::window;
use wasm_bindgen::JsValue;

use crate::embed;
use crate::state::{Pace, ViewParams};
use crate::views::View;

/// The query of the page's address, without `?`; of a widget's address, what is not the widget's own.
pub fn query() -> String {
    if embed::is_framed() {
        return embed::config().scenario;
    }
    let search = window().location().search().unwrap_or_default();
    search.trim_start_matches('?').to_owned()
}

/// The query with what stands behind the `#`: all that a scenario is read from.
pub fn link() -> String {
    let hash = window().location().hash().unwrap_or_default();
    let query = query();
    if embed::is_framed() {
        // There the fragment is for the bridge.
        return query;
    }
    format!("?{query}{hash}")
}

/// Whether the `#` is a place in the page, as a link to the answer leaves it.
pub fn is_at_anchor() -> bool {
    let hash = window().location().hash().unwrap_or_default();
    hash.len() > 1 && !hash.contains('=')
}

/// A query as it stands in links of the page: what was brought behind the `#`, or left out where it is too large.
pub fn guarded(query: &str) -> String {
    with_fragment(query).unwrap_or_else(|refused| refused.without)
}

/// What the opened link answered when it was shared.
pub fn stamp() -> Option<Stamp> {
    Stamp::read(&parameter(share::PARAM).or_else(|| in_fragment(share::PARAM))?)
}

/// A parameter behind the `#`.
fn in_fragment(name: &str) -> Option<String> {
    let hash = window().location().hash().unwrap_or_default();
    let fragment = web_sys::UrlSearchParams::new_with_str(hash.trim_start_matches('#')).ok()?;
    fragment.get(name)
}

/// The price book that the link brings behind its `#`, as text.
pub fn brought_book() -> Option<String> {
    let packed = in_fragment(share::BOOK_PARAM).filter(|packed| packed.len() <= FRAGMENT_BYTES)?;
    share::unpack(&packed)
}

/// The whole address of a link that is handed on, with what it answers today, and whether what was brought was too large
/// for it.
pub fn whole(query: &str, stamp: &str, book: &BookEdits) -> (String, Option<TooLarge>) {
    let location = window().location();
    let base = location.origin().unwrap_or_default() + &location.pathname().unwrap_or_default();
    let mut query = query.to_owned();
    if !book.is_empty() {
        query.push_str(&format!(
            "&{}={}",
            share::BOOK_PARAM,
            share::pack(&book.to_json())
        ));
    }
    match with_fragment(query.trim_start_matches('&')) {
        // At the end: behind the `#` where something was brought, for the answer tells of it.
        Ok(link) => {
            let stamped = format!("{link}&{}={}", share::PARAM, encode(stamp));
            let behind = stamped.split_once('#').map_or(0, |(_, own)| own.len());
            let link = if behind > FRAGMENT_BYTES {
                link
            } else {
                stamped
            };
            (format!("{base}?{}", link.trim_start_matches('&')), None)
        }
        Err(refused) => (format!("{base}?{}", refused.without), Some(refused)),
    }
}

/// The address of the page's folder, ending in `/`.
pub fn folder() -> String {
    beside("./")
}

/// The whole address of something in the page's folder.
pub fn beside(name: &str) -> String {
    let location = window().location();
    let base = location.origin().unwrap_or_default() + &location.pathname().unwrap_or_default();
    web_sys::Url::new_with_base(name, &base).map_or_else(|_| name.to_owned(), |url| url.href())
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
    let mut at = ViewParams::new();
    for name in view().params() {
        if let Some(value) = parameter(name).filter(|value| !value.is_empty()) {
            at.insert(name, value);
        }
    }
    at
}

/// The language that the address asks for, else the browser's.
pub fn lang_to_speak() -> Lang {
    lang().unwrap_or_else(browser_lang)
}

/// The first of the browser's languages that the page speaks.
fn browser_lang() -> Lang {
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

/// Makes `query` the address: a typed figure replaces the history's entry, a choice adds one. A widget leaves the
/// history of the page around it alone.
pub fn write(query: &str, pace: Pace) {
    let link = guarded(query);
    if embed::is_framed() || format!("?{link}") == self::link() {
        return;
    }
    let location = window().location();
    let path = location.pathname().unwrap_or_default();
    let url = if link.is_empty() {
        path
    } else {
        format!("{path}?{link}")
    };
    let Ok(history) = window().history() else {
        return;
    };
    // Refused for a file opened from disk, and by Safari after 100 changes in half a minute.
    let _refused = match pace {
        Pace::Typing | Pace::Dragging => {
            history.replace_state_with_url(&JsValue::NULL, "", Some(&url))
        }
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
        match name {
            "auto" => Some(Self::System),
            name => Self::ALL.into_iter().find(|theme| theme.name() == name),
        }
    }

    /// The theme of the link, else the one kept, else the system's.
    pub fn asked() -> Self {
        // A widget touches no storage: nobody can choose a theme there.
        let kept = || {
            let storage = storage().filter(|_| !embed::is_framed())?;
            storage.get_item(THEME_KEY).ok().flatten()
        };
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

/// What the browser keeps under a key.
pub fn kept(key: &str) -> Option<String> {
    storage()?.get_item(key).ok().flatten()
}

/// Keeps a text under a key; `false` where storage is refused or full.
pub fn keep(key: &str, value: &str) -> bool {
    storage().is_some_and(|storage| storage.set_item(key, value).is_ok())
}

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}
