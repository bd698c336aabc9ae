//! Messages to and from the page that embeds the widget.
//!
//! The widget speaks to one origin only: the one that the element wrote into the frame's fragment (`po`), else the one
//! that the browser names as the parent's. A message is delivered only to a page that really is of that origin, so a
//! wrong `po` costs the page that wrote it. Messages from anyone else are ignored and counted.

use cardfit::embed::config::Config;
use cardfit::embed::message::{self, Incoming, NotTaken};
use leptos::prelude::*;
use serde::Serialize;
use wasm_bindgen::JsCast;
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use web_sys::{MessageEvent, UrlSearchParams, Window};

/// The way to the embedding page.
#[derive(Debug, Clone, Copy)]
pub struct Bridge {
    /// Id of the widget on the embedding page, from the frame's fragment.
    id: StoredValue<String>,
    /// Origin that is spoken to; `None` where it is not known or not allowed.
    parent_origin: StoredValue<Option<String>>,
    /// Messages that were not taken.
    ignored: RwSignal<u32>,
    /// The embedding page is not on the widget's list.
    pub refused: bool,
}

impl Bridge {
    /// Reads from the frame's address whom to speak to.
    pub fn open(config: &Config) -> Self {
        let hash = window().location().hash().unwrap_or_default();
        let asked = UrlSearchParams::new_with_str(hash.trim_start_matches('#')).ok();
        let asked = |name: &str| asked.as_ref().and_then(|params| params.get(name));
        // What the browser itself names cannot be wrong; not every browser names it.
        let named = ancestor_origin();
        let origin = named
            .clone()
            .or_else(|| asked("po"))
            .or_else(referrer_origin);
        let allowed = origin
            .as_deref()
            .is_some_and(|origin| config.allows(origin));
        Self {
            id: StoredValue::new(asked("eid").unwrap_or_default()),
            parent_origin: StoredValue::new(origin.filter(|o| allowed && is_target(o))),
            ignored: RwSignal::new(0),
            refused: !config.allowed_origins.is_empty() && !allowed,
        }
    }

    /// Sends a message to the embedding page, where its origin is known.
    pub fn send(self, kind: &str, payload: &impl Serialize) {
        let Some(origin) = self.parent_origin.get_value() else {
            return;
        };
        let text = self.id.with_value(|id| message::write(id, kind, payload));
        post(&text, &origin);
    }

    /// Sends the height, which is no secret and which a page without our element may want as well.
    pub fn send_height(self, height: u32) {
        let payload = serde_json::json!({ "height": height });
        match self.parent_origin.get_value() {
            Some(_) => self.send("resize", &payload),
            None if self.refused => {}
            None => {
                let text = self
                    .id
                    .with_value(|id| message::write(id, "resize", &payload));
                post(&text, "*");
            }
        }
    }

    /// Calls `take` with every message of the embedding page; counts what is not taken.
    pub fn listen(self, take: impl Fn(Incoming) + 'static) {
        let heard = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let data = event.data();
            if !is_ours(&data) {
                return;
            }
            let from_parent = parent().is_some_and(|parent| {
                event
                    .source()
                    .is_some_and(|source| JsValue::from(source) == JsValue::from(parent))
            });
            let origin = self.parent_origin.get_value();
            if !from_parent || origin.as_deref() != Some(event.origin().as_str()) {
                self.count_ignored(&format!("from {}", event.origin()));
                return;
            }
            let json = js_sys::JSON::stringify(&data)
                .ok()
                .and_then(|text| text.as_string());
            let read = json.map_or(Err(NotTaken::Malformed), |json| {
                self.id.with_value(|id| message::read(&json, id))
            });
            match read {
                Ok(asked) => take(asked),
                Err(NotTaken::Foreign) => {}
                Err(why) => {
                    self.count_ignored(&why.to_string());
                    self.send(
                        "error",
                        &serde_json::json!({ "code": "message_not_taken", "message": why.to_string() }),
                    );
                }
            }
        });
        let _refused =
            window().add_event_listener_with_callback("message", heard.as_ref().unchecked_ref());
        // It listens for as long as the widget lives, which is as long as its document.
        heard.forget();
    }

    fn count_ignored(self, why: &str) {
        self.ignored.update(|n| *n = n.saturating_add(1));
        let count = self.ignored.get_untracked();
        if let Some(root) = document().document_element() {
            let _refused = root.set_attribute("data-ignored", &count.to_string());
        }
        leptos::logging::warn!("CardFit: a message was ignored ({why}); {count} so far");
    }
}

/// The embedding page's window; `None` where the widget stands alone.
fn parent() -> Option<Window> {
    let own = window();
    let parent = own.parent().ok().flatten()?;
    (JsValue::from(&parent) != JsValue::from(&own)).then_some(parent)
}

fn post(json: &str, origin: &str) {
    let Some(parent) = parent() else { return };
    if let Ok(value) = js_sys::JSON::parse(json) {
        let _refused = parent.post_message(&value, origin);
    }
}

/// Whether a message says that it is one of ours, looked up without copying it.
fn is_ours(data: &JsValue) -> bool {
    data.is_object()
        && js_sys::Reflect::get(data, &JsValue::from_str("ns"))
            .is_ok_and(|ns| ns.as_string().as_deref() == Some(message::NAMESPACE))
}

/// The parent's origin as the browser names it (not in every browser).
fn ancestor_origin() -> Option<String> {
    let location = JsValue::from(window().location());
    let list = js_sys::Reflect::get(&location, &JsValue::from_str("ancestorOrigins")).ok()?;
    js_sys::Reflect::get_u32(&list, 0).ok()?.as_string()
}

fn referrer_origin() -> Option<String> {
    web_sys::Url::new(&document().referrer())
        .ok()
        .map(|url| url.origin())
}

/// Whether an origin can be spoken to: a page without one (opened from disk, sandboxed) cannot.
fn is_target(origin: &str) -> bool {
    origin.starts_with("https://") || origin.starts_with("http://")
}
