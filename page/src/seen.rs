//! What of the page is in the window.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit};

/// Calls `told` at first, and whenever it changes, with whether any of `place` is in the window, which `margin` widens or
/// narrows as a CSS margin would. Ends with the present reactive owner.
pub fn watch(place: &Element, margin: &str, told: impl Fn(bool) + 'static) {
    let told = Closure::<dyn FnMut(js_sys::Array)>::new(move |entries: js_sys::Array| {
        let entry = entries.pop().dyn_into::<IntersectionObserverEntry>();
        told(entry.is_ok_and(|entry| entry.is_intersecting()));
    });
    let options = IntersectionObserverInit::new();
    options.set_root_margin(margin);
    let callback = told.as_ref().unchecked_ref();
    if let Ok(observer) = IntersectionObserver::new_with_options(callback, &options) {
        observer.observe(place);
        let kept = StoredValue::new_local((observer, told));
        on_cleanup(move || kept.with_value(|(observer, _)| observer.disconnect()));
    }
}
