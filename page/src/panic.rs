//! What happens when a part of the page stops through a fault of ours.
//!
//! A WebAssembly program cannot go on after a panic: what it was changing is half changed. So the page starts again by
//! itself, without the part that stopped: in its place stands what happened, a report to hand on, and a way to try it
//! again. All other parts work. Where the part is not known, or storage is refused, what is on the screen stays readable
//! and a notice offers to reload. The scenario is in the address either way.

use cardfit::fault;
use cardfit::text::text;
use leptos::context::Provider;
use leptos::ev::Custom;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{CustomEvent, HtmlTextAreaElement, Storage};

use crate::begin::Step;
use crate::embed;
use crate::state::App;
use crate::words::t;

/// Under this prefix and a part's name, the session's storage holds the report of a part that stopped.
const STOPPED: &str = "cardfit stopped ";

/// The part of the page that is being made or brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PartName(&'static str);

/// The part that a drill wants to stop: `dispatchEvent(new CustomEvent("cardfit-drill", { detail: "growth" }))`, for the
/// tests and for whoever wants to see what a visitor would see.
#[derive(Clone, Copy)]
struct Drill(RwSignal<String>);

/// Makes the page tell its visitor when it stops, besides the console's own report.
pub fn explain() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        let place = info
            .location()
            .map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
        let message = info.payload_as_str().unwrap_or_default();
        let link = window().location().search().unwrap_or_default();
        let report = |part| fault::report(env!("CARGO_PKG_VERSION"), part, &place, message, &link);
        show(&report(None));
        // Last, since it asks the very program that has stopped.
        let Some(PartName(part)) = use_context::<PartName>() else {
            return;
        };
        let text = report(Some(part));
        show(&text);
        let noted = storage().filter(|kept| !stopped(kept, part));
        if let Some(kept) = noted
            && kept.set_item(&format!("{STOPPED}{part}"), &text).is_ok()
        {
            let _refused = window().location().reload();
        }
    }));
}

/// The notice of `index.html`, with the report in it.
fn show(report: &str) {
    let document = document();
    if let Some(message) = document.get_element_by_id("stopped") {
        let _refused = message.remove_attribute("hidden");
    }
    let place = document.get_element_by_id("report");
    if let Some(place) = place.and_then(|e| e.dyn_into::<HtmlTextAreaElement>().ok()) {
        place.set_value(report);
    }
}

/// The session's storage; a widget touches none.
fn storage() -> Option<Storage> {
    (!embed::is_framed())
        .then(|| window().session_storage().ok().flatten())
        .flatten()
}

fn stopped(kept: &Storage, part: &str) -> bool {
    let report = kept.get_item(&format!("{STOPPED}{part}"));
    report.is_ok_and(|report| report.is_some())
}

/// Lets parts be stopped for a drill.
pub fn drills() {
    let drill = Drill(RwSignal::new(String::new()));
    provide_context(drill);
    let listener =
        window_event_listener(Custom::<CustomEvent>::new("cardfit-drill"), move |event| {
            drill.0.set(event.detail().as_string().unwrap_or_default());
        });
    on_cleanup(move || listener.remove());
}

/// A part of the page that the others can do without.
#[component]
pub fn Part(
    /// Its name in reports.
    name: &'static str,
    /// What it shows.
    children: Children,
) -> impl IntoView {
    let report =
        storage().and_then(|kept| kept.get_item(&format!("{STOPPED}{name}")).ok().flatten());
    match report {
        Some(report) => view! { <Stopped name report /> }.into_any(),
        None => view! {
            <Provider value=PartName(name)>
                <Step>{children()}</Step>
                {drill(name)}
            </Provider>
        }
        .into_any(),
    }
}

/// Stops the part when a drill names it.
#[allow(clippy::panic, reason = "that is what a drill is")]
fn drill(name: &'static str) -> impl IntoView {
    let drill = use_context::<Drill>();
    move || {
        if drill.is_some_and(|drill| drill.0.with(|wanted| wanted == name)) {
            panic!("drill");
        }
    }
}

/// What stands in the place of a part that stopped.
#[component]
fn Stopped(name: &'static str, report: String) -> impl IntoView {
    let app = App::get();
    let again = move |_| {
        if let Some(kept) = storage() {
            let _refused = kept.remove_item(&format!("{STOPPED}{name}"));
        }
        let _refused = window().location().reload();
    };
    view! {
        <section class="notice" role="alert" data-testid="part-stopped">
            <div>
                <p>{t("panel.stopped")}</p>
                <label>
                    {t("panel.report")}
                    <textarea readonly rows="4" data-testid="part-report" prop:value=report></textarea>
                </label>
                <button type="button" class="quiet" data-testid="part-again" on:click=again>
                    {move || text(app.lang.get(), "panel.again", &[])}
                </button>
            </div>
        </section>
    }
}
