//! The field that is pasted into. Of a long paste it shows the beginning: a browser needs longer to lay a megabyte out
//! than the check needs to read it.

use cardfit::check::LARGEST_PASTE_BYTES;
use cardfit::text::text;
use leptos::html;
use leptos::prelude::*;

use crate::format;
use crate::state::App;

/// Bytes that the field shows; a screenful of printouts is a quarter of it.
const SHOWN_BYTES: usize = 20_000;

/// What of `text` the field shows.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(SHOWN_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The field, for text that is set from elsewhere too.
#[component]
pub fn PasteField(
    /// All that was pasted.
    pasted: RwSignal<String>,
    /// Takes what was typed or pasted.
    on_text: Callback<String>,
) -> impl IntoView {
    let app = App::get();
    let field = NodeRef::<html::Textarea>::new();
    let is_long = Memo::new(move |_| pasted.with(|text| text.len() > SHOWN_BYTES));
    Effect::new(move |_| {
        let Some(field) = field.get() else {
            return;
        };
        pasted.with(|text| {
            let shown = beginning(text);
            // What is being typed is there already, and its cursor stays.
            if text.len() > SHOWN_BYTES || field.value() != shown {
                field.set_value(shown);
            }
        });
    });
    let take_long = move |event: web_sys::ClipboardEvent| {
        let long = event
            .clipboard_data()
            .and_then(|data| data.get_data("text/plain").ok())
            .filter(|text| text.len() > SHOWN_BYTES);
        if let Some(text) = long {
            event.prevent_default();
            on_text.run(text);
        }
    };
    let of_long = move || {
        let megabytes = pasted.with(|text| text.len().min(LARGEST_PASTE_BYTES) as f64 / 1e6);
        let lang = app.lang.get();
        let size = format::number(lang, megabytes, 2);
        text(lang, "check.page.long", &[("size", &size)])
    };
    view! {
        <textarea
            id="check-paste"
            data-testid="check-paste"
            rows="9"
            spellcheck="false"
            autocomplete="off"
            aria-describedby="check-private check-read-as"
            placeholder=move || text(app.lang.get(), "check.page.placeholder", &[])
            prop:readOnly=move || is_long.get()
            node_ref=field
            on:paste=take_long
            on:input=move |event| on_text.run(event_target_value(&event))
        ></textarea>
        <Show when=move || is_long.get()>
            <p class="note" data-testid="check-long">{of_long}</p>
        </Show>
    }
}
