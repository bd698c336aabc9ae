//! Is it really that card: a listing before paying, a machine after renting.
//!
//! What is pasted stays in this view's own signals: it enters no link and no storage.

mod bench;
mod by_hand;
mod field;
mod results;

use std::sync::Arc;

use cardfit::catalog::Catalog;
use cardfit::check::{Checked, Machine, check, hold_against_sold, report};
use cardfit::text::text;
use leptos::prelude::*;

use crate::lazy::{Lazy, lazy_view};
use crate::state::App;
use crate::words::t;

use bench::{CardSelect, QuickBenchmarks};
use by_hand::ByHand;
use field::PasteField;
use results::Results;

/// A listing that shows what is told.
const EXAMPLE_LISTING: &str = "A100 80G PCIe 独享, 312T FP16, 2039GB/s, 月租 1.8 万";
/// A printout that shows what is told.
const EXAMPLE_PRINTOUT: &str = include_str!("example.txt");

/// What is looked at: a paste, or figures entered by hand.
#[derive(Clone, Copy)]
pub struct Desk {
    /// Figures entered by hand; `None`: the paste counts.
    by_hand: RwSignal<Option<Machine>>,
    /// What was found.
    checked: Memo<Arc<Checked>>,
}

lazy_view! {
    part = tools;
    /// [`Check`], loaded when it is first wanted.
    pub fn check_view() {
        view! { <Check /> }.into_any()
    }
}

/// The view, loaded when it is first wanted.
#[component]
pub fn CheckView() -> impl IntoView {
    view! {
        <main class="check-page" id="answer" data-testid="check">
            <Lazy part=check_view />
        </main>
    }
}

#[component]
fn Check() -> impl IntoView {
    let app = App::get();
    let pasted = RwSignal::new(String::new());
    let by_hand = RwSignal::new(None::<Machine>);
    let sold = RwSignal::new(String::new());
    let checked = Memo::new(move |_| {
        let catalog = Catalog::embedded();
        let mut checked = match by_hand.get() {
            Some(machine) => Checked::Machine(report(machine, catalog)),
            None => pasted.with(|text| {
                if text.trim().is_empty() {
                    Checked::Nothing
                } else {
                    check(text, catalog, &app.book.get())
                }
            }),
        };
        if let Checked::Machine(found) = &mut checked
            && let Some(card) = sold.with(|id| catalog.cards.iter().find(|c| c.id == *id))
        {
            hold_against_sold(found, card, catalog);
        }
        Arc::new(checked)
    });
    let is_machine = move || matches!(*checked.get(), Checked::Machine(_));
    let desk = Desk { by_hand, checked };
    let paste = move |text: String| {
        by_hand.set(None);
        pasted.set(text);
    };
    let read_as = move || {
        let lang = app.lang.get();
        let empty = pasted.with(|p| p.trim().is_empty()) && by_hand.with(Option::is_none);
        match &*checked.get() {
            Checked::Nothing if empty => String::new(),
            Checked::Nothing => text(lang, "check.nothing", &[]),
            Checked::Listing(_) => text(lang, "check.page.read_listing", &[]),
            Checked::Machine(found) => {
                let tools: Vec<&str> = found.machine.tools.iter().map(|t| t.name()).collect();
                if tools.is_empty() {
                    text(lang, "check.page.read_by_hand", &[])
                } else {
                    text(
                        lang,
                        "check.page.read_machine",
                        &[("tools", &tools.join(", "))],
                    )
                }
            }
        }
    };
    let nothing =
        move || matches!(*checked.get(), Checked::Nothing) && !pasted.with(|p| p.trim().is_empty());
    view! {
        <header class="check-head">
            <h2>{t("check.page.title")}</h2>
            <p>{t("check.page.lead")}</p>
        </header>
        <div class="check-paste">
            <label for="check-paste">{t("check.page.paste")}</label>
            <PasteField pasted on_text=Callback::new(paste) />
            <div class="check-tools">
                <button type="button" data-testid="check-example-listing" on:click=move |_| paste(EXAMPLE_LISTING.to_owned())>
                    {t("check.page.example_listing")}
                </button>
                <button type="button" data-testid="check-example-printout" on:click=move |_| paste(EXAMPLE_PRINTOUT.to_owned())>
                    {t("check.page.example_printout")}
                </button>
                <Show when=move || !pasted.with(String::is_empty) || by_hand.with(Option::is_some)>
                    <button type="button" data-testid="check-clear" on:click=move |_| paste(String::new())>
                        {t("check.page.clear")}
                    </button>
                </Show>
            </div>
            <p class="note" id="check-private">{t("check.page.private")}</p>
            <p
                id="check-read-as"
                class="check-read-as"
                class:bad=nothing
                role="status"
                data-testid="check-read-as"
            >
                {read_as}
            </p>
        </div>
        <Show when=is_machine>
            <div class="field check-card">
                <label for="check-sold">{t("check.page.sold")}</label>
                <CardSelect
                    id="check-sold"
                    value=Signal::derive(move || sold.get())
                    on_choice=move |id| sold.set(id)
                />
            </div>
        </Show>
        <Results desk />
        <ByHand desk open=Signal::derive(nothing) />
        <QuickBenchmarks desk />
        <HowToPrint />
    }
}

/// Which command prints what.
#[component]
fn HowToPrint() -> impl IntoView {
    const COMMANDS: [(&str, &str); 6] = [
        (
            "nvidia-smi; nvidia-smi -q; nvidia-smi topo -m",
            "check.page.how.nvidia",
        ),
        (
            "rocm-smi --showproductname --showmeminfo vram; rocm-smi",
            "check.page.how.amd_old",
        ),
        ("amd-smi static; amd-smi metric", "check.page.how.amd"),
        ("npu-smi info", "check.page.how.npu"),
        ("mx-smi", "check.page.how.mx"),
        ("sudo lspci -vv", "check.page.how.lspci"),
    ];
    view! {
        <section class="check-how">
            <h3>{t("check.page.how")}</h3>
            <dl>
                {COMMANDS
                    .into_iter()
                    .map(|(command, key)| {
                        view! {
                            <div>
                                <dt>
                                    <code>{command}</code>
                                </dt>
                                <dd>{t(key)}</dd>
                            </div>
                        }
                    })
                    .collect_view()}
            </dl>
        </section>
    }
}
