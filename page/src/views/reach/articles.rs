//! What the articles recommend for their three tiers, beside what the numbers say.

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::tiers::{Recommendation, Said, Tier, compare};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::format;
use crate::state::App;
use crate::views::View;
use crate::words::{self, t};

/// The tiers, each a table of tasks; worked out when asked for.
#[component]
pub fn Articles() -> impl IntoView {
    let worked = RwSignal::new(None::<Vec<(Recommendation, Said)>>);
    let work_out = move |_| {
        let all = Recommendation::all().iter().cloned();
        worked.set(Some(
            all.map(|one| {
                let said = compare(&one, Catalog::embedded(), PriceBook::embedded());
                (one, said)
            })
            .collect(),
        ));
    };
    view! {
        <section aria-labelledby="reach-articles">
            <h3 class="part-title" id="reach-articles">{t("tiers.title")}</h3>
            <p class="note">{t("tiers.say")}</p>
            <button type="button" data-testid="tiers-compare" on:click=work_out>
                {t("tiers.compare")}
            </button>
            {Tier::ALL
                .into_iter()
                .map(|tier| {
                    view! {
                        <h4>{t(tier.key())}</h4>
                        <div class="scroll">
                            <table class="reach-table" data-testid=format!("tier-{}", tier.name())>
                                <thead>
                                    <tr>
                                        <th scope="col">{t("tiers.task")}</th>
                                        <th scope="col">{t("tiers.article")}</th>
                                        <th scope="col">{t("tiers.numbers")}</th>
                                    </tr>
                                </thead>
                                <tbody>
                                    {Recommendation::all()
                                        .iter()
                                        .filter(|one| one.tier == tier)
                                        .map(|one| view! { <Line one worked /> })
                                        .collect_view()}
                                </tbody>
                            </table>
                        </div>
                    }
                })
                .collect_view()}
        </section>
    }
}

#[component]
fn Line(
    one: &'static Recommendation,
    worked: RwSignal<Option<Vec<(Recommendation, Said)>>>,
) -> impl IntoView {
    let app = App::get();
    let said = Memo::new(move |_| {
        worked.with(|all| {
            let all = all.as_ref()?;
            all.iter()
                .find(|(other, _)| other.id == one.id)
                .map(|(_, said)| said.clone())
        })
    });
    view! {
        <tr>
            <th scope="row">
                <button
                    type="button"
                    class="quiet"
                    data-testid=format!("tier-task-{}", one.id)
                    on:click=move |_| {
                        app.load_link(&one.query);
                        app.look_at(View::Choose);
                    }
                >
                    {move || text(app.lang.get(), &format!("tiers.{}", one.id), &[])}
                </button>
            </th>
            <td>
                {move || {
                    let lang = app.lang.get();
                    let names: Vec<_> = one
                        .cards
                        .iter()
                        .map(|card| {
                            let found = said
                                .get()
                                .and_then(|said| said.recommended.into_iter().find(|(id, _)| id == card));
                            let name = words::card_name(lang, card);
                            match found {
                                Some((_, Some(offer))) => format!("{name}: {}", in_words(lang, &offer)),
                                Some((_, None)) => format!("{name}: {}", text(lang, "tiers.no_offer", &[])),
                                None => name,
                            }
                        })
                        .collect();
                    names.join(if lang == Lang::ZhCn { "；" } else { "; " })
                }}
            </td>
            <td>
                {move || {
                    let lang = app.lang.get();
                    said.get()
                        .map(|said| match said.best {
                            Some(offer) => {
                                format!("{}: {}", words::cards(lang, &offer), in_words(lang, &offer))
                            }
                            None => text(lang, "tiers.no_offer", &[]),
                        })
                }}
            </td>
        </tr>
    }
}

/// Cost and time of an offer in few words.
fn in_words(lang: Lang, offer: &cardfit::offers::Offer) -> String {
    let currency = cardfit::catalog::Currency::Cny;
    let cost = offer
        .cost_of_job
        .map(|cost| format::money(lang, currency, cost.mid));
    let month = offer.cost_per_month.map(|cost| {
        let cost = format::money(lang, currency, cost.mid);
        text(lang, "tiers.a_month", &[("cost", &cost)])
    });
    let hours = offer
        .hours
        .map(|hours| format::seconds(lang, hours.mid * 3600.0));
    let parts: Vec<String> = [
        Some(format!("× {}", format::count(lang, u64::from(offer.count)))),
        hours,
        cost.or(month),
    ]
    .into_iter()
    .flatten()
    .collect();
    parts.join(", ")
}
