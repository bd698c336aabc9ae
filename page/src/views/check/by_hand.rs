//! The same fields entered by hand, for printouts that nobody recognises.

use cardfit::check::{Device, Identity, Link, Machine, Pcie};
use cardfit::text::text;
use leptos::prelude::*;

use super::Desk;
use super::bench::CardSelect;
use crate::state::App;
use crate::words::t;

/// Fields that are entered: name, label, upper bound.
const FIELDS: [(&str, &str, f64); 6] = [
    ("count", "check.page.hand.count", 64.0),
    ("memory", "check.page.hand.memory", 1024.0),
    ("used", "check.page.hand.used", 1024.0),
    ("power", "check.page.hand.power", 3000.0),
    ("generation", "check.page.hand.generation", 6.0),
    ("lanes", "check.page.hand.lanes", 16.0),
];

/// The fields.
#[component]
pub fn ByHand(
    /// What is looked at.
    desk: Desk,
    /// Shown open: what was pasted is not recognised.
    open: Signal<bool>,
) -> impl IntoView {
    let app = App::get();
    let card = RwSignal::new(String::new());
    let values: [RwSignal<String>; 6] = std::array::from_fn(|_| RwSignal::new(String::new()));
    let direct = RwSignal::new(String::new());
    let number = move |index: usize| {
        let (_, _, most) = FIELDS.get(index)?;
        let text = values.get(index)?.get_untracked();
        let value: f64 = text.trim().replace(',', "").parse().ok()?;
        (value.is_finite() && value >= 0.0 && value <= *most).then_some(value)
    };
    let check = move || {
        let id = card.get_untracked();
        let device = Device {
            identity: (!id.is_empty()).then(|| Identity::of_card(&id)),
            memory_mib: number(1).map(|gib| gib * 1024.0),
            used_mib: number(2).map(|gib| gib * 1024.0),
            power_limit_w: number(3),
            pcie: Pcie {
                generation_max: number(4).map(|n| n as u32),
                width: number(5).map(|n| n as u32),
                ..Pcie::default()
            },
            ..Device::default()
        };
        let count = number(0).map_or(1, |n| n as usize).clamp(1, 64);
        let links = match direct.get_untracked().as_str() {
            "direct" => vec![Link::Direct(0)],
            "pcie" => vec![Link::Host],
            _ => Vec::new(),
        };
        desk.by_hand.set(Some(Machine {
            devices: vec![device; count],
            links,
            ..Machine::default()
        }));
    };
    view! {
        <details class="check-hand" prop:open=open data-testid="check-hand">
            <summary>{t("check.page.hand")}</summary>
            <p class="note">{t("check.page.hand_lead")}</p>
            <form
                class="check-fields"
                on:submit=move |event| {
                    event.prevent_default();
                    check();
                }
            >
                <div class="field">
                    <label for="check-hand-card">{t("check.page.card")}</label>
                    <CardSelect
                        id="check-hand-card"
                        value=Signal::derive(move || card.get())
                        on_choice=move |id| card.set(id)
                    />
                </div>
                {FIELDS
                    .into_iter()
                    .zip(values)
                    .map(|((name, label, _), value)| {
                        let id = format!("check-hand-{name}");
                        view! {
                            <div class="field">
                                <label for=id.clone()>{t(label)}</label>
                                <div class="input">
                                    <input
                                        id=id.clone()
                                        data-testid=id
                                        type="text"
                                        inputmode="decimal"
                                        autocomplete="off"
                                        prop:value=value
                                        on:input=move |event| value.set(event_target_value(&event))
                                    />
                                </div>
                            </div>
                        }
                    })
                    .collect_view()}
                <div class="field">
                    <label for="check-hand-links">{t("check.page.hand.links")}</label>
                    <div class="input">
                        <select
                            id="check-hand-links"
                            on:change=move |event| direct.set(event_target_value(&event))
                        >
                            <option value="">{t("check.page.hand.links.unknown")}</option>
                            <option value="direct">{t("check.page.hand.links.direct")}</option>
                            <option value="pcie">{t("check.page.hand.links.pcie")}</option>
                        </select>
                    </div>
                </div>
                <button type="submit" data-testid="check-hand-go" aria-label=move || text(app.lang.get(), "check.page.hand.go", &[])>
                    {t("check.page.hand.go")}
                </button>
            </form>
        </details>
    }
}
