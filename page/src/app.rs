//! The whole page.

use cardfit::catalog::PriceBook;
use cardfit::text::text;
use leptos::prelude::*;

use crate::form::ScenarioForm;
use crate::header::Header;
use crate::notice::LinkNoticePanel;
use crate::offers_table::OffersTable;
use crate::presets::Presets;
use crate::state::App;
use crate::verdict::{PicksPanel, StickyVerdict, VerdictPanel};
use crate::words::{self, t};

/// The page. Provides [`App`] to all its parts.
#[component]
pub fn Page() -> impl IntoView {
    let app = App::open();
    provide_context(app);
    Effect::new(move |_| {
        let lang = app.lang.get();
        document().set_title(&text(lang, "page.document_title", &[]));
        if let Some(root) = document().document_element() {
            let _refused = root.set_attribute("lang", lang.tag());
        }
    });
    view! {
        <Header />
        <Presets />
        <LinkNoticePanel />
        <main class="page">
            <ScenarioForm />
            <div class="answer" data-testid="answer">
                <VerdictPanel />
                <PicksPanel />
                <OffersTable />
                <Assumptions />
            </div>
            <StickyVerdict />
        </main>
        <Footer />
    }
}

/// What all figures take for granted.
#[component]
fn Assumptions() -> impl IntoView {
    let app = App::get();
    view! {
        <section class="assumptions" data-testid="assumptions">
            <h2>{t("page.assumptions")}</h2>
            <ul>
                {move || {
                    let lang = app.lang.get();
                    app.answer
                        .with(|a| a.assumptions.clone())
                        .into_iter()
                        .map(|assumption| view! { <li>{words::assumption(lang, assumption)}</li> })
                        .collect_view()
                }}
                <li>{t("page.assumptions.range")}</li>
                <li>{t("page.assumptions.gib")}</li>
            </ul>
        </section>
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
        </footer>
    }
}
