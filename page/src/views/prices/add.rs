//! A row of one's own.

use cardfit::catalog::{Billing, Catalog, Currency, PriceOffer, Tenancy};
use cardfit::rental::OWN_ENTRY;
use cardfit::scenario::limits::Unit;
use cardfit::scenario::{Choice, number};
use cardfit::text::text;
use leptos::prelude::*;

use crate::state::App;
use crate::words::t;
use crate::{book, words};

/// Inputs of a row, and the button that adds it.
#[component]
pub fn AddRow(stored: RwSignal<bool>) -> impl IntoView {
    let app = App::get();
    let card = RwSignal::new("rtx-4090".to_owned());
    let provider = RwSignal::new(String::new());
    let price = RwSignal::new(String::new());
    let together = RwSignal::new("1".to_owned());
    let share = RwSignal::new("1".to_owned());
    let billing = RwSignal::new(Billing::OnDemand.name().to_owned());
    let currency = RwSignal::new(Currency::Cny.name().to_owned());
    let said = RwSignal::new(None::<&'static str>);
    let add = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        match row(card, provider, price, together, share, billing, currency) {
            Ok(offer) => {
                stored.set(book::change(app, |e| {
                    e.add([offer]);
                }));
                price.set(String::new());
                said.set(Some("prices.add.done"));
            }
            Err(key) => said.set(Some(key)),
        }
    };
    let input = move |id: &'static str, label: &'static str, value: RwSignal<String>| {
        view! {
            <div class="field">
                <label for=id>{t(label)}</label>
                <div class="input">
                    <input
                        id=id
                        data-testid=id
                        type="text"
                        autocomplete="off"
                        prop:value=value
                        on:input=move |event| value.set(event_target_value(&event))
                    />
                </div>
            </div>
        }
    };
    let names = |value: RwSignal<String>,
                 id: &'static str,
                 label: &'static str,
                 names: Vec<(&'static str, &'static str)>| {
        view! {
            <div class="field">
                <label for=id>{t(label)}</label>
                <div class="input select">
                    <select id=id on:change=move |event| value.set(event_target_value(&event))>
                        {names
                            .into_iter()
                            .map(|(name, key)| {
                                view! {
                                    <option value=name prop:selected=move || value.get() == name>
                                        {t(key)}
                                    </option>
                                }
                            })
                            .collect_view()}
                    </select>
                </div>
            </div>
        }
    };
    view! {
        <details class="more" data-testid="add-row">
            <summary>{t("prices.add")}</summary>
            <form class="filters" on:submit=add>
                <div class="field">
                    <label for="add-card">{t("prices.card")}</label>
                    <div class="input select">
                        <select
                            id="add-card"
                            data-testid="add-card"
                            on:change=move |event| card.set(event_target_value(&event))
                        >
                            {Catalog::embedded()
                                .cards
                                .iter()
                                .map(|c| {
                                    let id = c.id.as_str();
                                    view! {
                                        <option value=id prop:selected=move || card.get() == id>
                                            {move || words::card_name(app.lang.get(), id)}
                                        </option>
                                    }
                                })
                                .collect_view()}
                        </select>
                    </div>
                </div>
                {input("add-provider", "prices.provider", provider)}
                {names(billing, "add-billing", "field.bill", crate::form::field::entries::<Billing>())}
                {names(currency, "add-currency", "field.cur", crate::form::field::entries::<Currency>())}
                {input("add-price", "prices.price", price)}
                {input("add-together", "prices.add.together", together)}
                {input("add-share", "prices.add.share", share)}
                <button type="submit" class="quiet" data-testid="add-submit">
                    {t("prices.add.button")}
                </button>
            </form>
            <p class="note" role="status" data-testid="add-said">
                {move || said.get().map(|key| text(app.lang.get(), key, &[]))}
            </p>
        </details>
    }
}

fn row(
    card: RwSignal<String>,
    provider: RwSignal<String>,
    price: RwSignal<String>,
    together: RwSignal<String>,
    share: RwSignal<String>,
    billing: RwSignal<String>,
    currency: RwSignal<String>,
) -> Result<PriceOffer, &'static str> {
    let figure =
        |value: RwSignal<String>, unit| value.with_untracked(|text| number::read(text, unit));
    let price = figure(price, Unit::Money)
        .filter(|price| *price > 0.0)
        .ok_or("import.bad_price")?;
    let together = figure(together, Unit::One)
        .filter(|n| n.fract() == 0.0 && (1.0..=1024.0).contains(n))
        .ok_or("import.bad_count")?;
    let share = figure(share, Unit::One)
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or("prices.add.bad_share")?;
    let named = provider.with_untracked(|name| name.trim().to_owned());
    if named.is_empty() {
        return Err("prices.add.no_provider");
    }
    Ok(PriceOffer {
        card: card.get_untracked(),
        provider: named,
        region: None,
        billing: Billing::from_name(&billing.get_untracked()).unwrap_or(Billing::OnDemand),
        currency: Currency::from_name(&currency.get_untracked()).unwrap_or(Currency::Cny),
        price_per_card: price,
        cards_together: together as u32,
        as_of: book::today(),
        source: OWN_ENTRY.to_owned(),
        variant_stated: true,
        low_confidence: false,
        notes: None,
        tenancy: (share < 1.0).then_some(Tenancy::Slice),
        share: (share < 1.0).then_some(share),
    })
}
