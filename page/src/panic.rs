//! What a person is told should the program ever stop: the page's own fault, in words, with the way back.

use leptos::prelude::document;

/// Shows a message in the page when the program stops, besides the console's own report.
pub fn explain() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        if let Some(message) = document().get_element_by_id("stopped") {
            let _refused = message.remove_attribute("hidden");
        }
    }));
}
