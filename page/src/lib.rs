//! The page: a thin reader of `cardfit`'s offers. It holds one scenario, shows the answer to it, and turns what a
//! person does into another scenario; nothing is computed here.
//!
//! ```text
//! address bar <-> scenario -> ranking -> answer -> panels
//!                    ^                               |
//!                    +--- one link parameter edited -+
//! ```
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`begin`] | starting, in steps |
//! | [`state`] | the scenario and what follows from it, and the only ways to change it |
//! | [`answer`] | the ranking, grouped as it is shown |
//! | [`format`], [`words`], [`verdict_text`] | figures, values and the verdict in words |
//! | [`form`], [`model_picker`], [`presets`] | inputs |
//! | [`verdict`], [`offers_table`], [`offer_detail`], [`memory_bar`] | the answer |
//! | [`chart`] | charts, their scales and their tables |
//! | [`bill`], [`book`] | bills and modes as tables; the person's changes of the price book |
//! | [`views`] | the views of the page, and the way between them |
//! | [`share`] | links to hand on, and what changed since |
//! | [`embed`] | the page as a widget in somebody else's |
//! | [`address`] | the browser's address bar, language and storage |

pub mod address;
pub mod answer;
pub mod app;
pub mod begin;
pub mod bill;
pub mod book;
pub mod chart;
pub mod embed;
pub mod form;
pub mod format;
pub mod glyphs;
pub mod header;
mod lazy;
mod live;
pub mod memory_bar;
pub mod model_picker;
pub mod notice;
pub mod offer_detail;
pub mod offers_table;
pub mod own_price;
pub mod panic;
pub mod presets;
pub mod remedies;
pub mod rescaled;
pub mod saved;
pub mod search;
mod seen;
pub mod share;
pub mod state;
pub mod take;
mod texts;
pub mod verdict;
pub mod verdict_text;
pub mod views;
pub mod what_if;
pub mod why;
pub mod words;
mod work_words;

/// Puts the page in the place of the shell that `index.html` shows until then.
pub fn start() {
    panic::explain();
    if embed::is_framed() {
        wasm_bindgen_futures::spawn_local(begin::widget());
    } else {
        wasm_bindgen_futures::spawn_local(begin::page());
    }
}
