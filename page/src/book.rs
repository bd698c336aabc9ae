//! The person's changes of the price book, kept in this browser only.

use cardfit::packed::load_asides;
use cardfit::rental::BookEdits;
use leptos::prelude::*;

use crate::lazy::lazy_part;
use crate::state::App;

/// Under which the changes are kept.
const KEY: &str = "cardfit.prices";

lazy_part! {
    part = book;
    /// Reads changes: code, and the sources that tell the rows that are left out, which only those need who changed something.
    pub fn read(json: String) -> BookEdits {
        load_asides();
        BookEdits::from_json(&json)
    }
}

/// What was kept, as text; a browser that keeps nothing only loses that comfort.
pub fn stored() -> Option<String> {
    store()?.get_item(KEY).ok().flatten()
}

fn store() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

/// Makes a change and keeps it. `false`: it holds until the page is left, for the browser keeps no more.
pub fn change(app: App, change: impl FnOnce(&mut BookEdits)) -> bool {
    app.edits.update(change);
    app.edits.with_untracked(|edits| {
        let Some(store) = store() else {
            return false;
        };
        if edits.is_empty() {
            store.remove_item(KEY).is_ok()
        } else {
            store.set_item(KEY, &edits.to_json()).is_ok()
        }
    })
}

/// Today, `YYYY-MM-DD`.
pub fn today() -> String {
    let now: String = js_sys::Date::new_0().to_iso_string().into();
    now.chars().take("2026-11-30".len()).collect()
}

/// Days since a quote's day; `None` where it is no date. A day or month that is not stated is the middle of its month
/// or year.
pub fn age_days(as_of: &str) -> Option<f64> {
    let mut parts = as_of.split('-').map(|part| part.parse::<u32>().ok());
    let year = parts.next()??;
    let month = parts.next().map_or(Some(None), |m| m.map(Some))?;
    let day = parts.next().map_or(Some(None), |d| d.map(Some))?;
    let (month, day) = (
        month.unwrap_or(7),
        day.unwrap_or(if month.is_some() { 15 } else { 1 }),
    );
    let then = js_sys::Date::parse(&format!("{year:04}-{month:02}-{day:02}"));
    const MS_PER_DAY: f64 = 86_400_000.0;
    let days = (js_sys::Date::now() - then) / MS_PER_DAY;
    days.is_finite().then_some(days)
}

/// Class of a date by its age: fresh, older than a month, older than three.
pub fn age_class(as_of: &str) -> &'static str {
    const MONTH: f64 = 30.0;
    const OLD: f64 = 90.0;
    match age_days(as_of) {
        Some(days) if days <= MONTH => "age-fresh",
        Some(days) if days <= OLD => "age-month",
        _ => "age-old",
    }
}
