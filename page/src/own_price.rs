//! The price of a card-hour, which is always the user's to change.

use std::sync::Arc;

use cardfit::catalog::Billing;
use cardfit::offers::Offer;
use cardfit::rental::name_in;
use cardfit::scenario::limits::Unit;
use cardfit::scenario::number;
use cardfit::text::text;
use leptos::prelude::*;

use crate::state::App;
use crate::{format, words};

/// The price of one card for one hour: the one used stands there until another is typed.
#[component]
pub fn OwnPrice(
    /// Card id.
    card: String,
    /// The card's best offer.
    offer: Memo<Option<Arc<Offer>>>,
) -> impl IntoView {
    let app = App::get();
    let key = price_key(&card);
    let card = StoredValue::new(card);
    let own = Memo::new(move |_| {
        app.scenario.with(|s| {
            card.with_value(|card| {
                let mut prices = s.money.own_prices.iter();
                prices.find(|(id, _)| id == card).map(|(_, price)| *price)
            })
        })
    });
    let shown = move || own.get_untracked().map(number::write).unwrap_or_default();
    let typed = RwSignal::new(shown());
    let bad_key = key.clone();
    let problem = Memo::new(move |_| {
        app.bad_inputs
            .with(|bad| bad.get(&bad_key).map(|p| p.reason(app.lang.get())))
    });
    Effect::new(move |before: Option<u32>| {
        let replaced = app.replaced.get();
        let now = own.get();
        let elsewhere = typed.with_untracked(|t| number::read(t, Unit::Money)) != now;
        if elsewhere || before.is_some_and(|b| b != replaced) {
            typed.set(shown());
            app.forgive(&key);
        }
        replaced
    });
    let quoted = move || {
        let per_hour = offer.get()?.price.as_ref()?.converted_per_card_hour;
        Some(format::money_bare(app.lang.get(), per_hour))
    };
    let origin = move || {
        let lang = app.lang.get();
        let price = offer.get()?.price.clone()?;
        match &price.provider {
            None => Some(text(lang, "offer.price.own", &[])),
            Some(provider) => {
                let billing = (price.billing != Billing::OnDemand)
                    .then(|| words::billing(lang, price.billing));
                let day = price
                    .as_of
                    .as_deref()
                    .map(|day| format::date(lang, day).replace(' ', "\u{a0}"));
                Some(
                    [Some(name_in(lang, provider).to_owned()), billing, day]
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                        .join(" · "),
                )
            }
        }
    };
    let name = move || card.with_value(|card| words::card_name(app.lang.get(), card));
    let id = card.with_value(|card| format!("price-{card}"));
    let note = format!("note-{id}");
    view! {
        <div class="input small" class:bad=move || problem.with(Option::is_some)>
            <span class="unit before" aria-hidden="true">
                {move || format::symbol(app.currency.get())}
            </span>
            <input
                id=id.clone()
                data-testid=id
                type="text"
                inputmode="decimal"
                autocomplete="off"
                spellcheck="false"
                prop:value=typed
                placeholder=move || quoted().unwrap_or_else(|| "?".to_owned())
                aria-label=move || {
                    let code = format::currency_code(app.currency.get());
                    text(
                        app.lang.get(),
                        "offer.price.label",
                        &[("card", &name()), ("currency", code)],
                    )
                }
                aria-invalid=move || problem.with(Option::is_some).to_string()
                aria-describedby=note.clone()
                on:input=move |event| {
                    let text = event_target_value(&event);
                    card.with_value(|card| app.set_own_price(card, &text));
                    typed.set(text);
                }
            />
        </div>
        <small id=note class:bad=move || problem.with(Option::is_some)>
            {move || problem.get().or_else(origin)}
        </small>
    }
}

/// Under which a bad price of a card is kept among the bad inputs.
pub fn price_key(card: &str) -> String {
    format!("price:{card}")
}
