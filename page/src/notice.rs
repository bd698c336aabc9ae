//! What a link said that could not be used.

use cardfit::text::text;
use leptos::prelude::*;

use crate::state::{App, LinkNotice};
use crate::words::t;

/// Says what of the opened link was ignored or replaced, until it is put away or another choice is made.
#[component]
pub fn LinkNoticePanel() -> impl IntoView {
    let app = App::get();
    let lines = Memo::new(move |_| {
        let lang = app.lang.get();
        app.notice.with(|notice| {
            let mut lines: Vec<String> = notice.problems.iter().map(|p| p.message(lang)).collect();
            if !notice.unknown.is_empty() {
                let names: Vec<String> = notice
                    .unknown
                    .iter()
                    .map(|(name, _)| name.clone())
                    .collect();
                lines.push(text(
                    lang,
                    "page.notice.unknown",
                    &[("names", &names.join(", "))],
                ));
            }
            lines
        })
    });
    view! {
        <Show when=move || lines.with(|lines| !lines.is_empty())>
            <section class="notice" role="status" data-testid="notice" aria-label=t("page.notice.title")>
                <div>
                    <h2>{t("page.notice.title")}</h2>
                    <ul class="plain">
                        {move || {
                            lines
                                .get()
                                .into_iter()
                                .map(|line| view! { <li>{line}</li> })
                                .collect_view()
                        }}
                    </ul>
                </div>
                <button
                    type="button"
                    class="quiet"
                    data-testid="notice-close"
                    on:click=move |_| app.notice.set(LinkNotice::default())
                >
                    {t("page.notice.close")}
                </button>
            </section>
        </Show>
    }
}
