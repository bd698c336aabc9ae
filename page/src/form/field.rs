//! Inputs of the form. Each stands for one link parameter and takes its label, unit and limits from there.

use cardfit::scenario::Choice;
use cardfit::scenario::Scenario;
use cardfit::scenario::limits::{Limit, Unit};
use cardfit::scenario::number;
use cardfit::text::text;
use leptos::prelude::*;

use crate::format;
use crate::state::{App, Pace};

/// Reads an input's value from the scenario; `None`: left open.
pub type Figure = fn(&Scenario) -> Option<f64>;

/// Key of a parameter's label.
fn label_of(param: &str) -> String {
    format!("field.{param}")
}

/// What is wrong with an input, or what is to be minded, below it.
#[component]
pub fn FieldNote(
    /// Link parameter.
    param: &'static str,
) -> impl IntoView {
    let app = App::get();
    let note = Memo::new(move |_| {
        let lang = app.lang.get();
        let bad = app
            .bad_inputs
            .with(|bad| bad.get(param).map(|problem| (true, problem.reason(lang))));
        bad.or_else(|| {
            app.remarks
                .with(|remarks| remarks.get(param).map(|p| (false, p.reason(lang))))
        })
    });
    view! {
        <p
            class="note"
            class:bad=move || note.with(|n| matches!(n, Some((true, _))))
            id=format!("note-{param}")
            aria-live="polite"
            data-testid=format!("problem-{param}")
        >
            {move || note.get().map(|(_, message)| message)}
        </p>
    }
}

/// A figure. What is typed is read as people write numbers; empty means the default, or "choose for me".
#[component]
pub fn NumberField(
    /// Link parameter.
    param: &'static str,
    /// Value in the scenario.
    value: Figure,
    /// Key of what an empty input means.
    #[prop(optional)]
    empty: Option<&'static str>,
    /// Parameters that cannot stand beside this one.
    #[prop(optional)]
    instead_of: &'static [&'static str],
    /// Key of the label, where it is not the parameter's own.
    #[prop(optional)]
    label: Option<&'static str>,
) -> impl IntoView {
    let app = App::get();
    let unit = Limit::of(param).map_or(Unit::One, |limit| limit.unit);
    let current = Memo::new(move |_| app.scenario.with(value));
    let shown = move || {
        current
            .get_untracked()
            .map(number::write)
            .unwrap_or_default()
    };
    let typed = RwSignal::new(shown());
    let typing = StoredValue::new(false);
    // A value set from elsewhere takes the place of what was typed. What is being typed stays: an input that was
    // just emptied must not fill itself again.
    Effect::new(move |before: Option<u32>| {
        let replaced = app.replaced.get();
        let now = current.get();
        let own = typed.with_untracked(|t| number::read(t, unit));
        let elsewhere = own != now && !typing.get_value();
        if elsewhere || before.is_some_and(|b| b != replaced) {
            typed.set(shown());
            app.forgive(param);
        }
        replaced
    });
    let on_input = move |event| {
        typing.set_value(true);
        let text = event_target_value(&event);
        let mut changes = vec![(param, text.as_str())];
        changes.extend(instead_of.iter().map(|other| (*other, "")));
        app.set(&changes, Pace::Typing);
        typed.set(text);
    };
    let on_blur = move |_| {
        // An input that is taken away while it has the focus, as by "back", is left once nothing of it is there.
        if typed.is_disposed() {
            return;
        }
        typing.set_value(false);
        if app
            .bad_inputs
            .with_untracked(|bad| !bad.contains_key(param))
        {
            typed.set(shown());
        }
    };
    let is_bad = Memo::new(move |_| app.bad_inputs.with(|bad| bad.contains_key(param)));
    let id = format!("field-{param}");
    view! {
        <div class="field">
            <label for=id.clone()>
                {move || {
                    let key = label.map_or_else(|| label_of(param), str::to_owned);
                    text(app.lang.get(), &key, &[])
                }}
            </label>
            <div class="input" class:bad=is_bad>
                <input
                    id=id.clone()
                    data-testid=id
                    type="text"
                    inputmode="decimal"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=typed
                    placeholder=move || match empty {
                        Some(key) => text(app.lang.get(), key, &[]),
                        None => current.get().map(number::write).unwrap_or_default(),
                    }
                    aria-invalid=move || is_bad.get().to_string()
                    aria-describedby=format!("note-{param} unit-{param}")
                    on:input=on_input
                    on:blur=on_blur
                />
                <span class="unit" id=format!("unit-{param}")>
                    {move || unit_word(app, unit)}
                </span>
            </div>
            <FieldNote param />
        </div>
    }
}

fn unit_word(app: App, unit: Unit) -> String {
    match unit {
        Unit::One => String::new(),
        Unit::Money => format::currency_code(app.currency.get()).to_owned(),
        unit if unit.is_money() => {
            let code = format::currency_code(app.currency.get());
            let of = text(app.lang.get(), unit.label_key(), &[]);
            format!("{code} {of}")
        }
        unit => text(app.lang.get(), unit.label_key(), &[]),
    }
}

/// A value of a short list and the key of its name.
pub type Entry = (&'static str, &'static str);

/// Every value of a list.
pub fn entries<T: Choice>() -> Vec<Entry> {
    T::ALL
        .iter()
        .map(|value| (value.name(), value.label_key()))
        .collect()
}

/// Reads a choice from the scenario by its link name; `None`: chosen by search.
pub type Chosen = fn(&Scenario) -> Option<&'static str>;

/// A drop-down list.
#[component]
pub fn ChoiceField(
    /// Link parameter.
    param: &'static str,
    /// Value in the scenario.
    value: Chosen,
    /// What can be chosen.
    entries: Vec<Entry>,
    /// Key of what leaving it open means, where that can be chosen.
    #[prop(optional)]
    open: Option<&'static str>,
) -> impl IntoView {
    let app = App::get();
    let current = Memo::new(move |_| app.scenario.with(value).unwrap_or_default());
    let entries: Vec<Entry> = open
        .map(|key| ("", key))
        .into_iter()
        .chain(entries)
        .collect();
    let id = format!("field-{param}");
    view! {
        <div class="field">
            <label for=id.clone()>{move || text(app.lang.get(), &label_of(param), &[])}</label>
            <div class="input select">
                <select
                    id=id.clone()
                    data-testid=id
                    aria-describedby=format!("note-{param}")
                    on:change=move |event| {
                        app.choose(param, &event_target_value(&event));
                    }
                >
                    {entries
                        .into_iter()
                        .map(|(name, key)| {
                            view! {
                                <option value=name prop:selected=move || current.get() == name>
                                    {move || text(app.lang.get(), key, &[])}
                                </option>
                            }
                        })
                        .collect_view()}
                </select>
            </div>
            <FieldNote param />
        </div>
    }
}

/// A row of buttons of which one is pressed: radio buttons that look like one control.
#[component]
pub fn Segments(
    /// Group name, also the test's handle.
    name: &'static str,
    /// Key of the legend.
    legend: &'static str,
    /// The legend is for listeners only.
    #[prop(optional)]
    quiet: bool,
    /// Value now.
    #[prop(into)]
    value: Signal<&'static str>,
    /// What can be chosen.
    entries: Vec<Entry>,
    /// What a choice does.
    choose: impl Fn(&'static str) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let app = App::get();
    view! {
        <fieldset class="segments" data-testid=name>
            <legend class:unseen=quiet>{move || text(app.lang.get(), legend, &[])}</legend>
            <div class="segments-row">
                {entries
                    .into_iter()
                    .map(|(entry, key)| {
                        view! {
                            <label class="segment">
                                <input
                                    type="radio"
                                    name=name
                                    value=entry
                                    data-testid=format!("{name}-{entry}")
                                    prop:checked=move || value.get() == entry
                                    on:change=move |_| choose(entry)
                                />
                                <span>{move || text(app.lang.get(), key, &[])}</span>
                            </label>
                        }
                    })
                    .collect_view()}
            </div>
        </fieldset>
    }
}

/// A check box for a parameter that is 1 or 0.
#[component]
pub fn CheckField(
    /// Link parameter.
    param: &'static str,
    /// Value in the scenario.
    value: fn(&Scenario) -> bool,
) -> impl IntoView {
    let app = App::get();
    let id = format!("field-{param}");
    view! {
        <div class="check">
            <input
                id=id.clone()
                data-testid=id.clone()
                type="checkbox"
                prop:checked=move || app.scenario.with(value)
                on:change=move |event| {
                    let set = if event_target_checked(&event) { "1" } else { "0" };
                    app.set(&[(param, set)], Pace::Choice);
                }
            />
            <label for=id>{move || text(app.lang.get(), &label_of(param), &[])}</label>
        </div>
    }
}
