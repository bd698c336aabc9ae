//! Says that answers count with a speed that was measured.

use cardfit::text::text;
use leptos::prelude::*;

use crate::format;
use crate::state::App;
use crate::words::{self, t};

/// Says that answers are rescaled, and takes it back.
#[component]
pub fn Rescaled() -> impl IntoView {
    let app = App::get();
    move || {
        let measured = app.measured_speed.get()?;
        let lang = app.lang.get();
        let said = text(
            lang,
            "own.rescaled",
            &[
                ("card", &words::card_name(lang, &measured.card)),
                ("factor", &format::number(lang, measured.factor, 3)),
            ],
        );
        Some(view! {
            <p class="notice" data-testid="own-rescaled">
                <span>{said}</span>
                <button
                    type="button"
                    class="quiet"
                    data-testid="own-undo"
                    on:click=move |_| app.measured_speed.set(None)
                >
                    {t("own.undo")}
                </button>
            </p>
        })
    }
}
