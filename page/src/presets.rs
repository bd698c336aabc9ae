//! Scenarios to start from.

use cardfit::scenario::Preset;
use leptos::prelude::*;

use crate::state::App;
use crate::words::t;

/// Presets as a row of buttons.
#[component]
pub fn Presets() -> impl IntoView {
    let app = App::get();
    view! {
        <nav class="presets" aria-label=t("page.presets")>
            <span class="presets-title" aria-hidden="true">
                {t("page.presets")}
            </span>
            <ul>
                {Preset::all()
                    .iter()
                    .map(|preset| {
                        view! {
                            <li>
                                <button
                                    type="button"
                                    class="preset"
                                    title=move || preset.note(app.lang.get())
                                    data-testid=format!("preset-{}", preset.id)
                                    on:click=move |_| app.load_link(&preset.query)
                                >
                                    {move || preset.title(app.lang.get())}
                                </button>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </nav>
    }
}
