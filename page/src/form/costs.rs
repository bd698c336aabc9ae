//! The inputs that a bill rests on, beside the bill.

use cardfit::scenario::Job;
use leptos::prelude::*;

use super::extras::ExtrasDetails;
use super::field::NumberField;
use super::money::MoneyDetails;
use crate::state::App;
use crate::words::t;

/// Limits, ways of billing, and what is paid beside the cards: the same inputs as in the chooser's form.
#[component]
pub fn CostForm() -> impl IntoView {
    let app = App::get();
    // A service without an end has no deadline.
    let ends = Memo::new(move |_| {
        app.scenario.with(|s| match &s.job {
            Job::Serve(serving) => serving.requests_total.is_some(),
            _ => true,
        })
    });
    view! {
        <form
            class="scenario costs-inputs"
            aria-labelledby="costs-inputs-title"
            on:submit=move |event| event.prevent_default()
            data-testid="cost-form"
        >
            <h3 id="costs-inputs-title">{t("costs.inputs")}</h3>
            <p class="note">{t("costs.inputs.note")}</p>
            <div class="pairs">
                <NumberField
                    param="budget"
                    value={|s| s.money.budget}
                    empty="page.form.no_limit"
                />
                <Show when=move || ends.get()>
                    <NumberField
                        param="deadline"
                        value={|s| s.money.deadline_hours}
                        empty="page.form.no_limit"
                    />
                </Show>
            </div>
            <details class="more" data-testid="cost-money">
                <summary>{t("page.form.money")}</summary>
                <MoneyDetails />
            </details>
            <ExtrasDetails />
        </form>
    }
}
