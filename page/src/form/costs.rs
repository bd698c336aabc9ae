//! The inputs that a bill rests on, beside the bill.

use leptos::prelude::*;

use super::LimitInputs;
use super::extras::ExtrasDetails;
use super::money::MoneyDetails;
use crate::words::t;

/// Limits, ways of billing, and what is paid beside the cards: the same inputs as in the chooser's form.
#[component]
pub fn CostForm() -> impl IntoView {
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
                <LimitInputs />
            </div>
            <details class="more" data-testid="cost-money">
                <summary>{t("page.form.money")}</summary>
                <MoneyDetails />
            </details>
            <ExtrasDetails />
        </form>
    }
}
