//! The chooser: form left, answer right.

mod growth;
mod time_cost;

use leptos::prelude::*;

use crate::begin::Step;
use crate::form::ScenarioForm;
use crate::lazy::{Lazy, Near, lazy_view};
use crate::notice::LinkNoticePanel;
use crate::offers_table::OffersTable;
use crate::panic::Part;
use crate::presets::Presets;
use crate::rescaled::Rescaled;
use crate::saved::SavedScenarios;
use crate::share::SinceShared;
use crate::state::App;
use crate::verdict::{PicksPanel, StickyVerdict, VerdictPanel};
use crate::views::costs::limits::LimitsPanel;
use crate::words::{self, t};

lazy_view! {
    part = answer;
    /// Time against cost, which the first answer can do without.
    fn time_cost_chart() {
        view! { <time_cost::TimeCost /> }.into_any()
    }
}

lazy_view! {
    part = answer;
    /// How cost and time grow over one input.
    fn growth_chart() {
        view! { <growth::Growth /> }.into_any()
    }
}

/// The chooser.
#[component]
pub fn Choose() -> impl IntoView {
    view! {
        <Part name="presets">
            <Presets />
        </Part>
        <Part name="saved">
            <SavedScenarios />
        </Part>
        <LinkNoticePanel />
        <SinceShared />
        <main class="page">
            <Part name="form">
                <ScenarioForm />
            </Part>
            <div class="answer" data-testid="answer">
                <Rescaled />
                <Part name="verdict">
                    <VerdictPanel />
                    <Step>
                        <LimitsPanel />
                    </Step>
                    <Step>
                        <PicksPanel />
                    </Step>
                </Part>
                <div class="chart-place">
                    <Part name="time-cost">
                        <Near>
                            <Lazy part=time_cost_chart />
                        </Near>
                    </Part>
                </div>
                <Part name="offers">
                    <OffersTable />
                </Part>
                <Part name="growth">
                    <Near>
                        <Lazy part=growth_chart />
                    </Near>
                </Part>
                <Step>
                    <Assumptions />
                </Step>
            </div>
            <Step>
                <StickyVerdict />
            </Step>
        </main>
    }
}

/// What all figures take for granted.
#[component]
fn Assumptions() -> impl IntoView {
    let app = App::get();
    let assumptions = Memo::new(move |_| app.answer.with(|a| a.assumptions.clone()));
    view! {
        <section class="assumptions" data-testid="assumptions">
            <h2>{t("page.assumptions")}</h2>
            <ul>
                {move || {
                    let lang = app.lang.get();
                    assumptions
                        .get()
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
