//! Currency, exchange rate and ways of billing.

use cardfit::catalog::{Billing, Currency};
use cardfit::rental::{Rates, USUAL_MODES, said_in};
use cardfit::scenario::{Choice, Grain, PriceMarket};
use cardfit::text::text;
use leptos::prelude::*;

use super::field::{ChoiceField, FieldNote, NumberField, entries};
use crate::format;
use crate::state::{App, Pace};
use crate::words::t;

/// Money in detail.
#[component]
pub fn MoneyDetails() -> impl IntoView {
    let app = App::get();
    // A rate is never shown without its day.
    let rates_note = move || {
        let lang = app.lang.get();
        let rates = Rates::embedded();
        text(
            lang,
            "page.form.rates",
            &[
                ("date", &format::date(lang, &rates.as_of)),
                ("cny", &format::plain(rates.cny_per_usd)),
                ("eur", &format::plain(rates.usd_per_eur)),
                ("source", &said_in(lang, &rates.source)),
            ],
        )
    };
    view! {
        <section class="group">
            <h2 class="group-title">{t("page.form.money")}</h2>
            <div class="pairs">
                <ChoiceField
                    param="cur"
                    value={|s| Some(s.money.currency.name())}
                    entries={entries::<Currency>()}
                />
                <ChoiceField
                    param="market"
                    value={|s| Some(s.money.market.name())}
                    entries={entries::<PriceMarket>()}
                />
                <NumberField param="fx" value={|s| Some(s.money.cny_per_usd)} />
                <NumberField param="fxeur" value={|s| Some(s.money.usd_per_eur)} />
            </div>
            <p class="note" data-testid="rates-date">{rates_note}</p>
            <BillingChoice />
            <div class="pairs">
                <ChoiceField
                    param="grain"
                    value={|s| s.money.grain.map(Choice::name)}
                    entries={entries::<Grain>()}
                    open="page.form.by_provider"
                />
                <NumberField
                    param="minimum"
                    value={|s| s.money.minimum_hours}
                    empty="page.form.by_provider"
                />
                <NumberField param="slice" value={|s| Some(s.money.slice)} />
            </div>
        </section>
    }
}

/// Which ways of billing may be used.
#[component]
fn BillingChoice() -> impl IntoView {
    let app = App::get();
    // An empty list stands for the usual ways.
    let allowed = move |billing: Billing| {
        app.scenario.with(|s| {
            if s.money.billing.is_empty() {
                USUAL_MODES.contains(&billing)
            } else {
                s.money.billing.contains(&billing)
            }
        })
    };
    let toggle = move |billing: Billing| {
        let kept: Vec<&str> = Billing::ALL
            .iter()
            .filter(|b| untrack(|| allowed(**b)) != (**b == billing))
            .map(|b| b.name())
            .collect();
        let usual = Billing::ALL
            .iter()
            .all(|b| kept.contains(&b.name()) == USUAL_MODES.contains(b));
        let value = if usual { String::new() } else { kept.join(",") };
        app.set(&[("bill", &value)], Pace::Choice);
    };
    view! {
        <fieldset class="checks">
            <legend>{t("field.bill")}</legend>
            {Billing::ALL
                .iter()
                .map(|billing| {
                    let id = format!("bill-{}", billing.name());
                    view! {
                        <div class="check">
                            <input
                                type="checkbox"
                                id=id.clone()
                                data-testid=id.clone()
                                prop:checked=move || allowed(*billing)
                                on:change=move |_| toggle(*billing)
                            />
                            <label for=id>
                                {move || text(app.lang.get(), billing.label_key(), &[])}
                            </label>
                        </div>
                    }
                })
                .collect_view()}
            <FieldNote param="bill" />
        </fieldset>
    }
}
