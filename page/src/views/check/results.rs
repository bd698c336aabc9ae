//! Findings, what they mean for the scenario, and what to ask.

use std::sync::Arc;

use cardfit::catalog::Catalog;
use cardfit::check::{
    Change, Checked, Effect, Finding, Subject, Verdict, change_key, effect, tell, tell_effect,
    tell_outcome,
};
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use super::Desk;
use crate::state::App;
use crate::views::View;
use crate::words::{card_name, t};

/// Findings that are shown before more are asked for: a page of price lists has thousands.
const FIRST_FINDINGS: usize = 40;

/// Everything that was found.
#[component]
pub fn Results(
    /// What is looked at.
    desk: Desk,
) -> impl IntoView {
    let app = App::get();
    let meaning: Memo<Option<Arc<Effect>>> = Memo::new(move |_| match &*desk.checked.get() {
        Checked::Machine(found) => app.scenario.with(|scenario| {
            effect(
                scenario,
                &found.machine,
                Catalog::embedded(),
                &app.book.get(),
            )
            .map(Arc::new)
        }),
        _ => None,
    });
    let most = RwSignal::new(FIRST_FINDINGS);
    let all = Memo::new(move |_| {
        most.set(FIRST_FINDINGS);
        match &*desk.checked.get() {
            Checked::Nothing => 0,
            Checked::Machine(found) => found.findings.len(),
            Checked::Listing(listing) => listing.findings().count(),
        }
    });
    let left = move || all.get().saturating_sub(most.get());
    let groups = move || {
        let lang = app.lang.get();
        let mut room = most.get();
        // As many of the next findings as there is room for.
        let mut next = |count: usize| {
            let taken = count.min(room);
            room -= taken;
            taken
        };
        match &*desk.checked.get() {
            Checked::Nothing => Vec::new(),
            Checked::Machine(found) => {
                let several = found.machine.devices.len() > 1;
                let shown = next(found.findings.len());
                vec![group(
                    lang,
                    None,
                    &found.findings,
                    shown,
                    meaning.get(),
                    several,
                )]
            }
            Checked::Listing(listing) => {
                let mut groups: Vec<AnyView> = listing
                    .items
                    .iter()
                    .map_while(|item| {
                        let shown = next(item.findings.len());
                        if shown == 0 && !item.findings.is_empty() {
                            return None;
                        }
                        let names: Vec<String> =
                            item.cards.iter().map(|id| card_name(lang, id)).collect();
                        let name = item
                            .name
                            .clone()
                            .unwrap_or_else(|| names.join(&text(lang, "check.page.or", &[])));
                        let confused: Vec<String> = item
                            .confused_with
                            .iter()
                            .take(6)
                            .map(|id| card_name(lang, id))
                            .collect();
                        let head = Head {
                            name,
                            confused: confused.join(&text(lang, "check.and", &[])),
                        };
                        Some(group(lang, Some(head), &item.findings, shown, None, false))
                    })
                    .collect();
                let shown = next(listing.others.len());
                if shown > 0 {
                    groups.push(group(lang, None, &listing.others, shown, None, false));
                }
                groups
            }
        }
    };
    view! {
        <section class="check-results" aria-label=t("check.page.results") data-testid="check-results">
            {groups}
            <Show when=move || { left() > 0 }>
                <button
                    type="button"
                    data-testid="check-more"
                    on:click=move |_| most.update(|n| *n += 4 * FIRST_FINDINGS)
                >
                    {move || {
                        let lang = app.lang.get();
                        let n = crate::format::count(lang, left() as u64);
                        text(lang, "check.page.more", &[("n", &n)])
                    }}
                </button>
            </Show>
            <Show when=move || matches!(&*desk.checked.get(), Checked::Listing(listing) if listing.cut_off)>
                <p class="note" data-testid="check-cut-off">{t("check.page.cut_off")}</p>
            </Show>
            <Meaning meaning />
            <Questions desk />
        </section>
    }
}

struct Head {
    name: String,
    confused: String,
}

/// What needs attention first.
fn weight(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Wrong => 0,
        Verdict::OnlyOtherVariant => 1,
        Verdict::OnlyWithSparsity | Verdict::OnlyOtherRate => 2,
        Verdict::PriceOutside => 3,
        Verdict::Notice => 4,
        Verdict::CannotTell => 5,
        Verdict::PriceSeen => 6,
        Verdict::Right => 7,
    }
}

/// Class of a verdict's mark.
fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Wrong => "mark wrong",
        Verdict::OnlyOtherVariant
        | Verdict::OnlyWithSparsity
        | Verdict::OnlyOtherRate
        | Verdict::PriceOutside => "mark doubt",
        Verdict::Right | Verdict::PriceSeen => "mark right",
        Verdict::CannotTell | Verdict::Notice => "mark open",
    }
}

fn group(
    lang: Lang,
    head: Option<Head>,
    findings: &[Finding],
    shown: usize,
    meaning: Option<Arc<Effect>>,
    several: bool,
) -> AnyView {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|f| (f.subject != Subject::Card, weight(f.verdict)));
    let rows: Vec<AnyView> = sorted
        .into_iter()
        .take(shown)
        .map(|finding| row(lang, finding, meaning.as_deref(), several))
        .collect();
    view! {
        <div class="check-group">
            {head
                .map(|head| {
                    view! {
                        <h3>{head.name}</h3>
                        {(!head.confused.is_empty())
                            .then(|| {
                                view! {
                                    <p class="note">
                                        {text(lang, "check.page.confused", &[("cards", &head.confused)])}
                                    </p>
                                }
                            })}
                    }
                })}
            <ul class="check-findings">{rows}</ul>
        </div>
    }
    .into_any()
}

fn row(lang: Lang, finding: &Finding, meaning: Option<&Effect>, several: bool) -> AnyView {
    let told = tell(lang, finding, Catalog::embedded());
    let outcome = change_of(finding)
        .and_then(|change| meaning?.changes.iter().find(|(c, _)| *c == change))
        .map(|(change, outcome)| {
            let outcome = tell_outcome(lang, outcome);
            text(lang, change_key(*change), &[("outcome", &outcome)])
        });
    let devices = (several && !finding.devices.is_empty()).then(|| devices(lang, &finding.devices));
    view! {
        <li class="check-finding" data-verdict=verdict_name(finding.verdict)>
            <span class=mark(finding.verdict)>{told.verdict}</span>
            <div>
                <p class="check-line">
                    <strong>{told.subject}</strong>
                    {(!told.read.is_empty()).then(|| view! { " " <span>{told.read}</span> })}
                    {(!told.datasheet.is_empty())
                        .then(|| view! { " " <span class="soft">{told.datasheet}</span> })}
                    {devices.map(|d| view! { " " <span class="soft">{d}</span> })}
                </p>
                {told.why.into_iter().map(|why| view! { <p class="why">{why}</p> }).collect_view()}
                {outcome.map(|o| view! { <p class="why meaning">{o}</p> })}
            </div>
        </li>
    }
    .into_any()
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Right => "right",
        Verdict::Wrong => "wrong",
        Verdict::OnlyWithSparsity => "only-with-sparsity",
        Verdict::OnlyOtherRate => "only-other-rate",
        Verdict::OnlyOtherVariant => "only-other-variant",
        Verdict::PriceSeen => "price-seen",
        Verdict::PriceOutside => "price-outside",
        Verdict::CannotTell => "cannot-tell",
        Verdict::Notice => "notice",
    }
}

/// `cards 0–7`, `cards 0, 3`.
fn devices(lang: Lang, devices: &[u32]) -> String {
    let (first, last) = (devices.first(), devices.last());
    let whole = match (first, last) {
        (Some(first), Some(last)) => {
            devices.len() > 2 && (last - first) as usize + 1 == devices.len()
        }
        _ => false,
    };
    let list = match (first, last) {
        (Some(first), Some(last)) if whole => format!("{first}–{last}"),
        _ => devices
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    };
    text(lang, "check.page.devices", &[("list", &list)])
}

/// Which difference a finding is about.
fn change_of(finding: &Finding) -> Option<Change> {
    if finding.verdict == Verdict::Right {
        return None;
    }
    match finding.subject {
        Subject::Memory | Subject::OtherProcesses => Some(Change::Memory),
        Subject::Slice => Some(Change::Slice),
        Subject::PowerLimit => Some(Change::PowerLimit),
        Subject::Throttle | Subject::Clock => Some(Change::Throttle),
        Subject::PcieWidth | Subject::PcieGeneration => Some(Change::Pcie),
        Subject::Link => Some(Change::Links),
        _ => None,
    }
}

/// The scenario on the card as sold and as found.
#[component]
fn Meaning(
    /// The estimate made again.
    meaning: Memo<Option<Arc<Effect>>>,
) -> impl IntoView {
    let app = App::get();
    move || {
        meaning.get().map(|effect| {
            let lang = app.lang.get();
            let card = format!("{} × {}", effect.count, card_name(lang, &effect.card));
            let lines = tell_effect(lang, &effect);
            view! {
                <section class="check-meaning" data-testid="check-meaning">
                    <h3>{t("check.page.meaning")}</h3>
                    <p class="note">
                        {text(lang, "check.page.meaning_of", &[("cards", &card)])} " "
                        <a
                            href=move || app.link_to(View::Choose)
                            on:click=move |event| {
                                event.prevent_default();
                                app.look_at(View::Choose);
                            }
                        >
                            {t("check.page.change_scenario")}
                        </a>
                    </p>
                    <ul class="plain">
                        {lines.into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}
                    </ul>
                    <p class="note">{t("check.page.meaning_note")}</p>
                </section>
            }
        })
    }
}

/// What to ask the provider, all questions together.
#[component]
fn Questions(
    /// What is looked at.
    desk: Desk,
) -> impl IntoView {
    let app = App::get();
    let questions = Memo::new(move |_| {
        let lang = app.lang.get();
        let mut keys: Vec<&'static str> = Vec::new();
        let mut add = |finding: &Finding| {
            if let Some(key) = finding.ask
                && !keys.contains(&key)
            {
                keys.push(key);
            }
        };
        match &*desk.checked.get() {
            Checked::Nothing => {}
            Checked::Machine(found) => found.findings.iter().for_each(&mut add),
            Checked::Listing(listing) => listing.findings().for_each(&mut add),
        }
        keys.iter()
            .map(|key| text(lang, &format!("check.ask.{key}"), &[]))
            .collect::<Vec<String>>()
    });
    view! {
        <Show when=move || questions.with(|q| !q.is_empty())>
            <section class="check-questions" data-testid="check-questions">
                <h3>{t("check.page.ask")}</h3>
                <ul>
                    {move || questions.get().into_iter().map(|q| view! { <li>{q}</li> }).collect_view()}
                </ul>
                <button
                    type="button"
                    on:click=move |_| super::bench::copy(&questions.get_untracked().join("\n"))
                >
                    {t("check.page.copy_questions")}
                </button>
            </section>
        </Show>
    }
}
