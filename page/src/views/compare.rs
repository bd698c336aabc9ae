//! Offers side by side, what differs set apart.

use std::sync::Arc;

use cardfit::catalog::{Card, Catalog};
use cardfit::offers::{Offer, Run};
use cardfit::range::Range;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::answer::{Answer, AnswerKind, cost};
use crate::format;
use crate::state::App;
use crate::verdict_text;
use crate::views::{View, ViewLink};
use crate::words::{self, t};

/// Most offers that stand side by side.
const MOST: usize = 4;

/// One row of the comparison.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    name: String,
    cells: Vec<String>,
    /// Figures behind the cells, for which is better and by how much.
    values: Vec<Option<f64>>,
    /// Whether more is better, less is better, or neither.
    better: Better,
}

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    More,
    Less,
    Neither,
}

impl Line {
    /// Whether all offers have the same.
    fn is_same(&self) -> bool {
        self.cells
            .windows(2)
            .all(|pair| pair.first() == pair.last())
    }

    /// Whether the offer at this place has the best figure, alone or with others, where they differ.
    fn is_best(&self, place: usize) -> bool {
        let known = || self.values.iter().flatten().copied();
        let best = match self.better {
            Better::More => known().fold(f64::NEG_INFINITY, f64::max),
            Better::Less => known().fold(f64::INFINITY, f64::min),
            Better::Neither => return false,
        };
        let own = self.values.get(place).copied().flatten();
        !self.is_same() && own.is_some_and(|own| (own / best - 1.0).abs() < 0.005)
    }

    /// How an offer's figure stands to the first one's, `1.8×`, where that says something.
    fn against_first(&self, place: usize) -> Option<String> {
        let first = self.values.first().copied().flatten()?;
        let own = self.values.get(place).copied().flatten()?;
        let ratio = own / first;
        let tells = place > 0
            && self.better != Better::Neither
            && ratio.is_finite()
            && !(0.95..1.05).contains(&ratio);
        let digits = match ratio {
            r if r >= 10.0 => 0,
            r if r >= 1.0 => 1,
            _ => 2,
        };
        tells.then(|| format!("{ratio:.digits$}×"))
    }
}

/// The offers that a link names: `rtx-4090:1,a100-sxm4-80gb:2`; without any, the picks.
fn chosen(answer: &Answer, named: Option<&str>) -> Vec<Arc<Offer>> {
    let mut offers: Vec<Arc<Offer>> = Vec::new();
    let mut add = |offer: &Arc<Offer>| {
        let same = |o: &Arc<Offer>| o.card == offer.card && o.count == offer.count;
        if offers.len() < MOST && !offers.iter().any(same) {
            offers.push(Arc::clone(offer));
        }
    };
    match named {
        Some(named) => {
            for one in named.split(',') {
                let (card, count) = one.split_once(':').unwrap_or((one, ""));
                let Some(row) = answer.row(card) else {
                    continue;
                };
                let count = count.parse().unwrap_or(row.best.count);
                let offer = row.counts.iter().find(|offer| offer.count == count);
                add(offer.unwrap_or(&row.best));
            }
        }
        None => {
            for (_, offer) in answer.picks.all() {
                if let Some(offer) = offer {
                    add(offer);
                }
            }
            for row in answer.rows.iter().take(2) {
                add(&row.best);
            }
        }
    }
    offers
}

/// The name of offers in a link.
pub fn link_of<'a>(offers: impl IntoIterator<Item = &'a Offer>) -> String {
    offers
        .into_iter()
        .map(|offer| format!("{}:{}", offer.card, offer.count))
        .collect::<Vec<_>>()
        .join(",")
}

/// Offers side by side.
#[component]
pub fn Compare() -> impl IntoView {
    let app = App::get();
    let offers = Memo::new(move |_| {
        let named = app.at("vs");
        app.answer.with(|answer| chosen(answer, named.as_deref()))
    });
    let lines = Memo::new(move |_| {
        let lang = app.lang.get();
        let currency = app.scenario.with(|s| s.money.currency);
        let kind = app.answer.with(|a| a.kind);
        offers.with(|offers| lines(lang, currency, kind, offers))
    });
    let without = move |place: usize| {
        let kept = offers.get();
        let kept = kept
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != place)
            .map(|(_, offer)| offer.as_ref());
        app.set_at("vs", &link_of(kept));
    };
    view! {
        <main class="wide-page" id="answer">
            <h2 class="view-title">{t("compare.title")}</h2>
            <p class="lead">{t("compare.lead")}</p>
            <Add offers />
            <div class="scroll-x" role="region" tabindex="0" aria-label=t("compare.title")>
                <table class="compare" data-testid="compare">
                    <thead>
                        <tr>
                            <th scope="col">
                                <span class="unseen">{t("compare.what")}</span>
                            </th>
                            {move || {
                                let lang = app.lang.get();
                                let several = offers.with(Vec::len) > 1;
                                offers
                                    .get()
                                    .into_iter()
                                    .enumerate()
                                    .map(|(place, offer)| {
                                        let name = words::cards(lang, &offer);
                                        let label = text(lang, "compare.remove", &[("cards", &name)]);
                                        view! {
                                            <th scope="col" data-card=offer.card.clone()>
                                                <ViewLink
                                                    view=View::Card
                                                    params=vec![("show", offer.card.clone())]
                                                >
                                                    {name}
                                                </ViewLink>
                                                {several
                                                    .then(|| {
                                                        view! {
                                                            <button
                                                                type="button"
                                                                class="remove"
                                                                data-testid="compare-remove"
                                                                aria-label=label.clone()
                                                                title=label
                                                                on:click=move |_| without(place)
                                                            >
                                                                "×"
                                                            </button>
                                                        }
                                                    })}
                                            </th>
                                        }
                                    })
                                    .collect_view()
                            }}
                        </tr>
                    </thead>
                    <tbody>
                        {move || {
                            let best_word = text(app.lang.get(), "compare.best", &[]);
                            lines
                                .get()
                                .into_iter()
                                .map(|line| view! { <LineRow line best_word=best_word.clone() /> })
                                .collect_view()
                        }}
                    </tbody>
                </table>
            </div>
        </main>
    }
}

#[component]
fn LineRow(line: Line, best_word: String) -> impl IntoView {
    let same = line.is_same();
    let cells = line
        .cells
        .iter()
        .enumerate()
        .map(|(place, cell)| {
            let best = line.is_best(place);
            view! {
                <td class:best=best>
                    <span>{cell.clone()}</span>
                    {best.then(|| view! { <span class="unseen">{format!(" ({best_word})")}</span> })}
                    {line.against_first(place).map(|ratio| view! { <small>{ratio}</small> })}
                </td>
            }
        })
        .collect_view();
    view! {
        <tr class:same=same>
            <th scope="row">{line.name.clone()}</th>
            {cells}
        </tr>
    }
}

/// Adds an offer of the answer.
#[component]
fn Add(offers: Memo<Vec<Arc<Offer>>>) -> impl IntoView {
    let app = App::get();
    let full = move || offers.with(|offers| offers.len() >= MOST);
    view! {
        <div class="field compare-add" class:hidden=full>
            <label for="compare-add">{t("compare.add")}</label>
            <div class="input select">
                <select
                    id="compare-add"
                    data-testid="compare-add"
                    prop:value=""
                    on:change=move |event| {
                        let wanted = event_target_value(&event);
                        let now = offers.get_untracked();
                        let link = link_of(now.iter().map(Arc::as_ref));
                        app.set_at("vs", &format!("{link},{wanted}"));
                    }
                >
                    <option value="">{t("compare.add_which")}</option>
                    {move || {
                        let lang = app.lang.get();
                        app.answer
                            .get()
                            .rows
                            .iter()
                            .map(|row| {
                                view! {
                                    <option value=link_of([row.best.as_ref()])>
                                        {words::cards(lang, &row.best)}
                                    </option>
                                }
                            })
                            .collect_view()
                    }}
                </select>
            </div>
        </div>
    }
}

/// Everything that is compared.
fn lines(
    lang: Lang,
    currency: cardfit::catalog::Currency,
    kind: AnswerKind,
    offers: &[Arc<Offer>],
) -> Vec<Line> {
    let name = |key: &str| text(lang, key, &[]);
    let mut lines = Vec::new();
    let words_line = |key: &str, cell: &dyn Fn(&Offer) -> String| {
        let cells: Vec<String> = offers.iter().map(|offer| cell(offer)).collect();
        Line {
            name: name(key),
            values: vec![None; cells.len()],
            cells,
            better: Better::Neither,
        }
    };
    lines.push(words_line("page.table.fit", &|offer| {
        words::fit(lang, &offer.fit)
    }));
    let ranged = |name: String,
                  better: Better,
                  figure: &dyn Fn(&Offer) -> Option<Range>,
                  say: &dyn Fn(Range) -> String| {
        let ranges: Vec<Option<Range>> = offers.iter().map(|offer| figure(offer)).collect();
        Line {
            name,
            cells: ranges
                .iter()
                .map(|range| range.map_or_else(|| format::NO_FIGURE.to_owned(), say))
                .collect(),
            values: ranges.iter().map(|range| range.map(|r| r.mid)).collect(),
            better,
        }
    };
    let money = |range| format::money_range(lang, currency, range);
    let rate = |range| {
        text(
            lang,
            "offer.rate.tokens",
            &[("rate", &format::number_range(lang, range))],
        )
    };
    let all = vec![
        ranged(
            name("page.table.time"),
            Better::Less,
            &|offer| offer.hours.map(|hours| hours.scale(3600.0)),
            &|range| format::seconds_range(lang, range),
        ),
        ranged(
            name(match kind {
                AnswerKind::Once => "page.table.cost",
                AnswerKind::Monthly => "page.table.cost_month",
            }),
            Better::Less,
            &|offer| cost(offer, kind),
            &money,
        ),
        ranged(
            name("offer.speed.user"),
            Better::More,
            &|offer| serving(offer).map(|speed| speed.tokens_per_s_user),
            &rate,
        ),
        ranged(
            name("offer.speed.total"),
            Better::More,
            &|offer| serving(offer).map(|speed| speed.tokens_per_s_total),
            &rate,
        ),
        ranged(
            name("offer.speed.ttft"),
            Better::Less,
            &|offer| serving(offer).map(|speed| speed.ttft_s),
            &|range| format::seconds_range(lang, range),
        ),
        ranged(
            name("offer.speed.training"),
            Better::More,
            &|offer| match &offer.run {
                Some(Run::Train { speed, .. }) => Some(speed.tokens_per_s),
                _ => None,
            },
            &rate,
        ),
        ranged(
            name("offer.cost.hour"),
            Better::Less,
            &|o| o.cost_per_hour,
            &money,
        ),
        ranged(
            name("offer.cost.million"),
            Better::Less,
            &|o| o.cost_per_million_tokens,
            &money,
        ),
        ranged(
            name("compare.needed"),
            Better::Less,
            &|offer| Some(offer.memory.needed_bytes),
            &|range| {
                format!(
                    "{} ({}–{})",
                    format::gib(range.mid),
                    format::gib_bare(range.low),
                    format::gib_bare(range.high)
                )
            },
        ),
        ranged(
            name("card.usable"),
            Better::More,
            &|offer| Some(Range::exact(offer.usable_memory_bytes as f64)),
            &|range| format::gib(range.mid),
        ),
    ];
    // A figure that no offer has says nothing.
    lines.extend(
        all.into_iter()
            .filter(|line| line.values.iter().any(Option::is_some)),
    );
    lines.push(words_line("offer.plan", &|offer| {
        words::plan(lang, offer).join(&name("page.comma"))
    }));
    lines.push(words_line("compare.decides", &|offer| {
        crate::why::decides(lang, offer).unwrap_or_default()
    }));
    lines.push(words_line("compare.rests", &|offer| {
        verdict_text::rests_on(lang, offer).unwrap_or_default()
    }));
    let of_card = |name: String, figure: &dyn Fn(&Card) -> Option<f64>, unit: &str| {
        ranged(
            name,
            Better::More,
            &|offer| {
                let card = Catalog::embedded().card(&offer.card)?;
                figure(card).map(Range::exact)
            },
            &|range| format!("{} {unit}", format::number(lang, range.mid, 4)),
        )
    };
    lines.push(of_card(
        name("card.bandwidth"),
        &|card| Some(card.bandwidth_gb_s),
        "GB/s",
    ));
    lines.push(of_card(
        "BF16".to_owned(),
        &|card| card.peak_tflops.bf16,
        "TFLOPS",
    ));
    lines.push(of_card(
        "FP8".to_owned(),
        &|card| card.peak_tflops.fp8,
        "TFLOPS",
    ));
    lines.push(words_line("card.link", &|offer| {
        Catalog::embedded()
            .card(&offer.card)
            .map(|card| card.link.kind.clone())
            .unwrap_or_default()
    }));
    lines.retain(|line| {
        line.cells
            .iter()
            .any(|cell| !cell.is_empty() && cell != format::NO_FIGURE)
    });
    lines
}

fn serving(offer: &Offer) -> Option<&cardfit::estimate::ServingSpeed> {
    match &offer.run {
        Some(Run::Serve { speed, .. }) => Some(speed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[f64], better: Better) -> Line {
        Line {
            name: String::new(),
            cells: values.iter().map(f64::to_string).collect(),
            values: values.iter().copied().map(Some).collect(),
            better,
        }
    }

    #[test]
    fn the_better_figure_is_marked_and_the_others_are_told_against_the_first() {
        let time = line(&[2.0, 3.0, 1.0], Better::Less);
        assert!(!time.is_best(0) && time.is_best(2));
        assert_eq!(time.against_first(0), None);
        assert_eq!(time.against_first(1).as_deref(), Some("1.5×"));
        assert_eq!(time.against_first(2).as_deref(), Some("0.50×"));
    }

    #[test]
    fn what_is_the_same_has_no_best() {
        let same = line(&[2.0, 2.0], Better::More);
        assert!(same.is_same() && !same.is_best(0));
        assert_eq!(same.against_first(1), None);
    }
}
