//! The whole page.

use cardfit::catalog::PriceBook;
use cardfit::text::text;
use leptos::prelude::*;

use crate::begin::{Opened, Step};
use crate::header::{Header, LangMissing};
use crate::panic;
use crate::state::App;
use crate::views::{Stage, View, ViewLink, ViewNav};
use crate::words::t;

/// The page. Provides [`App`] to all its parts.
#[component]
pub fn Page(
    /// What it was opened with.
    opened: Opened,
) -> impl IntoView {
    let app = App::open(opened);
    provide_context(app);
    panic::drills();
    Effect::new(move |_| {
        let lang = app.lang.get();
        document().set_title(&text(lang, "page.document_title", &[]));
        if let Some(root) = document().document_element() {
            let _refused = root.set_attribute("lang", lang.tag());
        }
    });
    view! {
        <Step>
            <Header />
            <LangMissing />
        </Step>
        <Step>
            <ViewNav />
        </Step>
        <Stage />
        <Step>
            <Footer />
        </Step>
    }
}

/// Credits of the prices.
#[component]
fn Footer() -> impl IntoView {
    view! {
        <footer>
            <p>
                {t("page.credits")}
                {PriceBook::credits()
                    .iter()
                    .map(|credit| {
                        view! {
                            " "
                            <a href=credit.url rel="noopener noreferrer" target="_blank">
                                {credit.name}
                            </a>
                            {format!(" ({})", credit.licence)}
                        }
                    })
                    .collect_view()}
            </p>
            <p>{t("page.local")}</p>
            <p>
                <ViewLink view=View::Embed testid="view-embed">
                    {t("builder.link")}
                </ViewLink>
            </p>
        </footer>
    }
}
