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
    let region = RwSignal::new(String::new());
    let day = RwSignal::new(book::today());
    let tenancy = RwSignal::new(EXCLUSIVE.to_owned());
    let billing = RwSignal::new(Billing::OnDemand.name().to_owned());
    let currency = RwSignal::new(Currency::Cny.name().to_owned());
    let said = RwSignal::new(None::<&'static str>);
    let add = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let typed = Typed {
            card: card.get_untracked(),
            provider: provider.get_untracked(),
            region: region.get_untracked(),
            price: price.get_untracked(),
            together: together.get_untracked(),
            share: share.get_untracked(),
            day: day.get_untracked(),
            billing: billing.get_untracked(),
            currency: currency.get_untracked(),
            tenancy: tenancy.get_untracked(),
        };
        match typed.offer() {
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
                {input("add-day", "prices.add.day", day)}
                {input("add-region", "prices.add.region", region)}
                {input("add-together", "prices.add.together", together)}
                {names(tenancy, "add-tenancy", "prices.add.tenancy", TENANCIES.to_vec())}
                <Show when=move || tenancy.with(|t| t != EXCLUSIVE)>
                    {input("add-share", "prices.add.share", share)}
                </Show>
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

/// Name of a card of one's own.
const EXCLUSIVE: &str = "exclusive";

/// Whether the card is one's own, with the texts of each.
const TENANCIES: [(&str, &str); 3] = [
    (EXCLUSIVE, "prices.tenancy.exclusive"),
    ("slice", "prices.tenancy.slice"),
    ("shared", "prices.tenancy.shared"),
];

/// A row as it was typed.
#[derive(Debug, Clone)]
struct Typed {
    card: String,
    provider: String,
    region: String,
    price: String,
    together: String,
    share: String,
    day: String,
    billing: String,
    currency: String,
    tenancy: String,
}

/// Whether `day` is written as `2026-11-30`.
fn is_day(day: &str) -> bool {
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let within = |part: &str, digits: usize, most: u32| {
        part.len() == digits && part.parse::<u32>().is_ok_and(|n| (1..=most).contains(&n))
    };
    within(year, 4, 9999) && within(month, 2, 12) && within(day, 2, 31)
}

impl Typed {
    /// The row, or the key of what is wrong with it.
    fn offer(&self) -> Result<PriceOffer, &'static str> {
        let price = number::read(&self.price, Unit::Money)
            .filter(|price| *price > 0.0)
            .ok_or("import.bad_price")?;
        let together = number::read(&self.together, Unit::One)
            .filter(|n| n.fract() == 0.0 && (1.0..=1024.0).contains(n))
            .ok_or("import.bad_count")?;
        let tenancy = match self.tenancy.as_str() {
            "slice" => Tenancy::Slice,
            "shared" => Tenancy::Shared,
            _ => Tenancy::Exclusive,
        };
        let share = if tenancy == Tenancy::Exclusive {
            1.0
        } else {
            number::read(&self.share, Unit::One)
                .filter(|share| *share > 0.0 && *share <= 1.0)
                .ok_or("prices.add.bad_share")?
        };
        let provider = self.provider.trim().to_owned();
        if provider.is_empty() {
            return Err("prices.add.no_provider");
        }
        let day = self.day.trim();
        if !is_day(day) {
            return Err("prices.add.bad_day");
        }
        let region = self.region.trim();
        Ok(PriceOffer {
            card: self.card.clone(),
            provider,
            region: (!region.is_empty()).then(|| region.to_owned()),
            billing: Billing::from_name(&self.billing).unwrap_or(Billing::OnDemand),
            currency: Currency::from_name(&self.currency).unwrap_or(Currency::Cny),
            price_per_card: price,
            cards_together: together as u32,
            as_of: day.to_owned(),
            source: OWN_ENTRY.into(),
            variant_stated: true,
            low_confidence: false,
            notes: None,
            tenancy: (tenancy != Tenancy::Exclusive).then_some(tenancy),
            share: (share < 1.0).then_some(share),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed() -> Typed {
        Typed {
            card: "rtx-4090".to_owned(),
            provider: " A shop ".to_owned(),
            region: String::new(),
            price: "1.88".to_owned(),
            together: "1".to_owned(),
            share: "0.5".to_owned(),
            day: "2026-11-30".to_owned(),
            billing: "on-demand".to_owned(),
            currency: "cny".to_owned(),
            tenancy: "exclusive".to_owned(),
        }
    }

    #[test]
    fn a_share_counts_only_where_the_card_is_shared() {
        let whole = typed().offer().unwrap();
        assert_eq!((whole.tenancy, whole.share), (None, None));
        assert_eq!(whole.provider, "A shop");
        let shared = Typed {
            tenancy: "shared".to_owned(),
            ..typed()
        };
        let offer = shared.offer().unwrap();
        assert_eq!(
            (offer.tenancy, offer.share),
            (Some(Tenancy::Shared), Some(0.5))
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let with = |change: fn(&mut Typed)| {
            let mut row = typed();
            change(&mut row);
            row.offer().err()
        };
        assert_eq!(
            with(|r| r.price = "free".to_owned()),
            Some("import.bad_price")
        );
        assert_eq!(
            with(|r| r.together = "0.5".to_owned()),
            Some("import.bad_count")
        );
        assert_eq!(with(|r| r.provider.clear()), Some("prices.add.no_provider"));
        assert_eq!(
            with(|r| r.day = "30.11.".to_owned()),
            Some("prices.add.bad_day")
        );
    }
}
