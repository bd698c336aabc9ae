//! The model picker: a text input with a list below it, after the combobox pattern of WAI-ARIA 1.2.

use cardfit::catalog::{Catalog, Model};
use cardfit::scenario::ModelChoice;
use cardfit::text::{Lang, text};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::form::field::FieldNote;
use crate::state::App;
use crate::words::t;
use crate::{format, search};

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Line {
    /// A model of the catalog.
    Model(&'static Model),
    /// Describe one by hand.
    Custom,
}

/// Lines for what is typed, best first; the way to a model of one's own is always there.
fn lines(wanted: &str) -> Vec<Line> {
    let mut found: Vec<(u32, &'static Model)> = Catalog::embedded()
        .models
        .iter()
        .filter_map(|model| {
            let names = [model.id.as_str(), &model.name, &model.family]
                .into_iter()
                .chain(model.aliases.iter().map(String::as_str));
            Some((search::score(wanted, names)?, model))
        })
        .collect();
    // Stable: models of equal score stay in the catalog's order, families together.
    found.sort_by_key(|(score, _)| *score);
    found
        .into_iter()
        .map(|(_, model)| Line::Model(model))
        .chain([Line::Custom])
        .collect()
}

/// The name of the chosen model.
fn chosen_name(lang: Lang, model: &ModelChoice) -> String {
    match model {
        ModelChoice::Catalog(id) => Catalog::embedded()
            .model(id)
            .map_or_else(|| id.clone(), |model| model.name.clone()),
        ModelChoice::Custom(_) => text(lang, "page.model.custom", &[]),
    }
}

/// Size and context of a model, in few words.
fn facts(lang: Lang, model: &Model) -> String {
    let total = format::parameters(model.params_total as f64);
    let context = format::context(model.max_context);
    if model.transformer.experts.is_some() {
        let active = format::parameters(model.params_active as f64);
        text(
            lang,
            "page.model.facts_moe",
            &[
                ("total", &total),
                ("active", &active),
                ("context", &context),
            ],
        )
    } else {
        text(
            lang,
            "page.model.facts",
            &[("total", &total), ("context", &context)],
        )
    }
}

/// The picker.
#[component]
pub fn ModelPicker() -> impl IntoView {
    let app = App::get();
    let open = RwSignal::new(false);
    // What is typed; `None`: nothing yet, so the chosen model's name stands there.
    let typed = RwSignal::new(None::<String>);
    let active = RwSignal::new(0_usize);
    let input: NodeRef<leptos::html::Input> = NodeRef::new();
    let found = Memo::new(move |_| {
        if open.get() {
            typed.with(|typed| lines(typed.as_deref().unwrap_or_default()))
        } else {
            Vec::new()
        }
    });
    let name = Memo::new(move |_| {
        let lang = app.lang.get();
        app.scenario.with(|s| chosen_name(lang, &s.model))
    });
    let close = move || {
        open.set(false);
        typed.set(None);
    };
    let choose = move |line: Line| {
        match line {
            Line::Model(model) => {
                // The shape typed by hand says nothing about a model of the catalog.
                app.set_model(&model.id);
            }
            Line::Custom => app.describe_model(),
        }
        close();
    };
    let start = move || {
        if !open.get_untracked() {
            open.set(true);
            let now = app.scenario.with_untracked(|s| match &s.model {
                ModelChoice::Catalog(id) => Some(id.clone()),
                ModelChoice::Custom(_) => None,
            });
            let place = found.with_untracked(|lines| {
                lines.iter().position(|line| match (line, &now) {
                    (Line::Model(model), Some(id)) => model.id == *id,
                    (Line::Custom, None) => true,
                    _ => false,
                })
            });
            active.set(place.unwrap_or_default());
        }
    };
    let step = move |by: isize| {
        let count = found.with_untracked(Vec::len);
        if count > 0 {
            let next = (active.get_untracked() as isize + by).rem_euclid(count as isize);
            active.set(next as usize);
        }
    };
    let on_key = move |event: KeyboardEvent| {
        let was_open = open.get_untracked();
        match event.key().as_str() {
            "ArrowDown" | "ArrowUp" => {
                event.prevent_default();
                let down = event.key() == "ArrowDown";
                if was_open {
                    step(if down { 1 } else { -1 });
                } else {
                    start();
                }
            }
            "Enter" => {
                event.prevent_default();
                if was_open {
                    let line =
                        found.with_untracked(|lines| lines.get(active.get_untracked()).copied());
                    if let Some(line) = line {
                        choose(line);
                    }
                } else {
                    start();
                }
            }
            "Escape" if was_open => {
                event.prevent_default();
                close();
            }
            "Tab" => close(),
            _ => {}
        }
    };
    // The line that the arrows are on stays in sight.
    Effect::new(move |_| {
        let place = active.get();
        if open.get() {
            let line = document().get_element_by_id(&format!("model-{place}"));
            if let Some(line) = line {
                let how = web_sys::ScrollIntoViewOptions::new();
                how.set_block(web_sys::ScrollLogicalPosition::Nearest);
                line.scroll_into_view_with_scroll_into_view_options(&how);
            }
        }
    });
    view! {
        <div class="field picker">
            <label for="field-m">{t("field.m")}</label>
            <div class="input">
                <input
                    node_ref=input
                    id="field-m"
                    data-testid="field-m"
                    type="text"
                    role="combobox"
                    autocomplete="off"
                    spellcheck="false"
                    aria-autocomplete="list"
                    aria-haspopup="listbox"
                    aria-controls="model-list"
                    aria-describedby="note-m model-facts"
                    aria-expanded=move || open.get().to_string()
                    aria-activedescendant=move || {
                        open.get().then(|| format!("model-{}", active.get()))
                    }
                    prop:value=move || typed.get().unwrap_or_else(|| name.get())
                    on:input=move |event| {
                        typed.set(Some(event_target_value(&event)));
                        open.set(true);
                        active.set(0);
                    }
                    on:focus=move |_| {
                        if let Some(input) = input.get_untracked() {
                            input.select();
                        }
                    }
                    on:click=move |_| start()
                    on:blur=move |_| close()
                    on:keydown=on_key
                />
                <span class="chevron" aria-hidden="true"></span>
            </div>
            <ul
                id="model-list"
                class="listbox"
                class:hidden=move || !open.get()
                role="listbox"
                aria-label=t("page.model.list")
                data-testid="model-list"
                // Pressing a line must not take the focus from the input, which would close the list.
                on:mousedown=move |event| event.prevent_default()
            >
                {move || {
                    found
                        .get()
                        .into_iter()
                        .enumerate()
                        .map(|(place, line)| {
                            view! { <PickerLine place line active choose /> }
                        })
                        .collect_view()
                }}
            </ul>
            <p class="note" id="model-facts" data-testid="model-facts">
                {move || {
                    let lang = app.lang.get();
                    app.scenario
                        .with(|s| match &s.model {
                            ModelChoice::Catalog(id) => {
                                Catalog::embedded().model(id).map(|model| facts(lang, model))
                            }
                            ModelChoice::Custom(shape) => {
                                let size = format::parameters(shape.params() as f64);
                                Some(text(lang, "page.model.facts_custom", &[("total", &size)]))
                            }
                        })
                }}
            </p>
            <FieldNote param="m" />
        </div>
    }
}

#[component]
fn PickerLine(
    place: usize,
    line: Line,
    active: RwSignal<usize>,
    choose: impl Fn(Line) + Copy + 'static,
) -> impl IntoView {
    let app = App::get();
    let (name, detail, testid) = match line {
        Line::Model(model) => (
            model.name.clone(),
            facts(app.lang.get_untracked(), model),
            format!("model-option-{}", model.id),
        ),
        Line::Custom => (
            text(app.lang.get_untracked(), "page.model.describe", &[]),
            String::new(),
            "model-option-custom".to_owned(),
        ),
    };
    view! {
        <li
            id=format!("model-{place}")
            role="option"
            data-testid=testid
            aria-selected=move || (active.get() == place).to_string()
            on:click=move |_| choose(line)
            on:mousemove=move |_| active.set(place)
        >
            <span>{name}</span>
            <small>{detail}</small>
        </li>
    }
}
