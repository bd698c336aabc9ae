//! Scenarios to start from.

use cardfit::scenario::{Preset, to_query};
use leptos::prelude::*;

use crate::state::App;
use crate::words::t;

/// Presets as a row of buttons.
#[component]
pub fn Presets() -> impl IntoView {
    /// Shown before the rest is asked for.
    const FIRST: usize = 6;
    let app = App::get();
    let all = RwSignal::new(false);
    let link = Memo::new(
        move |before: Option<&String>| match (app.dragging.get(), before) {
            (true, Some(before)) => before.clone(),
            _ => app.scenario.with(to_query),
        },
    );
    view! {
        <nav class="presets" aria-label=t("page.presets")>
            <span class="presets-title" aria-hidden="true">
                {t("page.presets")}
            </span>
            <ul>
                {Preset::all()
                    .iter()
                    .enumerate()
                    .map(|(place, preset)| {
                        let now = move || link
                            .with(|link| *link == preset.query || (place == 0 && link.is_empty()));
                        view! {
                            <li class:hidden=move || { place >= FIRST && !all.get() }>
                                <button
                                    type="button"
                                    class="preset"
                                    aria-current=move || now().then_some("true")
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
                <li class:hidden=move || all.get()>
                    <button
                        type="button"
                        class="preset more-presets"
                        data-testid="presets-all"
                        on:click=move |_| all.set(true)
                    >
                        {t("page.presets.all")}
                    </button>
                </li>
            </ul>
        </nav>
    }
}
