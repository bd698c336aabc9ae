//! What an offer costs, whose price that is, and its bill.

use cardfit::offers::{Offer, PriceUsed};
use cardfit::rental::{Billed, name_in, said_in};
use cardfit::text::text;
use leptos::prelude::*;

use crate::answer::AnswerKind;
use crate::bill::BillTable;
use crate::state::App;
use crate::views::costs::unit_costs;
use crate::views::{View, ViewLink};
use crate::{book, format, words};

pub fn price_facts(offer: &Offer) -> impl IntoView + use<> {
    let app = App::get();
    let lang = app.lang.get();
    let kind = Memo::new(move |_| app.answer.with(|a| a.kind));
    let caption = match kind.get() {
        AnswerKind::Once => "bill.of_job",
        AnswerKind::Monthly => "bill.of_month",
    };
    let note = |key: &str, n: u32| {
        let n = format::count(lang, u64::from(n));
        view! { <p class="note">{text(lang, key, &[("n", &n)])}</p> }
    };
    let price = offer.price.clone();
    let charged = price
        .as_ref()
        .filter(|price| price.charged_cards > offer.count)
        .map(|price| note("offer.price.whole_nodes", price.charged_cards));
    let spares = price
        .as_ref()
        .filter(|price| price.spare_cards > 0)
        .map(|price| note("offer.price.spares", price.spare_cards));
    view! {
        <section>
            <h3>{text(lang, "offer.price", &[])}</h3>
            {match price {
                Some(price) => price_origin(price).into_any(),
                None => view! { <p>{text(lang, "offer.price.none", &[])}</p> }.into_any(),
            }}
            {charged}
            {spares}
            {unit_costs(offer)}
            {offer.bill.as_ref().map(Billed::bill).map(|bill| view! { <BillTable bill caption /> })}
            <p>
                <ViewLink view=View::Costs testid="to-costs">
                    {text(lang, "bill.show", &[])}
                </ViewLink>
            </p>
        </section>
    }
}

/// Whose price it is, of which day, and where it was read.
pub fn price_origin(price: PriceUsed) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get();
    let Some(provider) = price.provider else {
        return view! { <p>{text(lang, "offer.price.own", &[])}</p> }.into_any();
    };
    let quoted = format::money(lang, price.currency, price.price_per_card_hour);
    let age = price.as_of.as_deref().map(book::age_class);
    let day = price
        .as_of
        .map(|day| format::date(lang, &day))
        .unwrap_or_default();
    let said = text(
        lang,
        "offer.price.said",
        &[
            ("provider", name_in(lang, &provider)),
            ("billing", &words::billing(lang, price.billing)),
            ("price", &quoted),
            ("date", &day),
        ],
    );
    let currency = app.scenario.with(|s| s.money.currency);
    let seen = price
        .seen
        .filter(|(low, high)| low < high)
        .map(|(low, high)| {
            text(
                lang,
                "offer.price.seen",
                &[
                    ("low", &format::money(lang, currency, low)),
                    ("high", &format::money(lang, currency, high)),
                ],
            )
        });
    let source = price.source.map(|source| {
        let label = text(lang, "offer.price.source", &[]);
        if source.starts_with("https://") || source.starts_with("http://") {
            view! {
                <a href=source.to_string() rel="noopener noreferrer" target="_blank">
                    {label}
                </a>
            }
            .into_any()
        } else {
            let source = said_in(lang, &source);
            let colon = text(lang, "page.colon", &[]);
            view! { <span class="note">{format!("{label}{colon}{source}")}</span> }.into_any()
        }
    });
    let age = age.and_then(|class| match class {
        "age-month" => Some("offer.price.age.month"),
        "age-old" => Some("offer.price.age.old"),
        _ => None,
    });
    let details = [
        price.region.map(|region| {
            text(
                lang,
                "offer.price.region",
                &[("region", name_in(lang, &region))],
            )
        }),
        (!price.variant_stated).then(|| text(lang, "offer.price.variant_open", &[])),
        price.notes.map(|notes| {
            text(
                lang,
                "offer.price.notes",
                &[("notes", &said_in(lang, &notes))],
            )
        }),
        seen,
    ];
    view! {
        <p data-testid="price-origin">{said} " " {source}</p>
        {age
            .map(|key| {
                view! {
                    <p class="note caution" data-testid="price-age">
                        {text(lang, key, &[])}
                    </p>
                }
            })}
        {details.into_iter().flatten().map(|line| view! { <p class="note">{line}</p> }).collect_view()}
    }
    .into_any()
}
