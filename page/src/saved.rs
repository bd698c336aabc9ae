//! Scenarios that a person saved, and the way back through changes. Both live in the browser's storage; where that is
//! refused or full they last as long as the page, and the page says so.

use cardfit::catalog::Catalog;
use cardfit::scenario::{Choice, ModelChoice, Scenario, parse, to_query};
use cardfit::text::{Lang, text};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::address;
use crate::lazy::{Lazy, lazy_view};
use crate::model_picker;
use crate::state::App;
use crate::words::t;

const SAVED_KEY: &str = "cardfit.saved";
const PAST_KEY: &str = "cardfit.past";
/// Saved scenarios that are kept.
const MOST_SAVED: usize = 24;
/// Steps that can be taken back.
const MOST_PAST: usize = 50;
/// Changes that follow each other sooner than this are one step, milliseconds: a figure being typed.
const ONE_STEP_MS: f64 = 1200.0;

/// One saved scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Saved {
    name: String,
    link: String,
}

/// What storage holds under a key, or nothing where it holds something else.
fn read<T: for<'de> Deserialize<'de> + Default>(key: &str) -> T {
    address::kept(key)
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// Whether storage took it.
fn write<T: Serialize>(key: &str, value: &T) -> bool {
    serde_json::to_string(value).is_ok_and(|text| address::keep(key, &text))
}

/// Links that came before, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Past {
    links: Vec<String>,
    #[serde(skip)]
    now: String,
    #[serde(skip)]
    changed_at_ms: f64,
}

impl Past {
    /// Takes note of a change at a time.
    fn change(&mut self, link: String, at_ms: f64) {
        if link == self.now {
            return;
        }
        let typing = at_ms - self.changed_at_ms < ONE_STEP_MS;
        let before = std::mem::replace(&mut self.now, link);
        self.changed_at_ms = at_ms;
        if !typing {
            self.links.push(before);
            let extra = self.links.len().saturating_sub(MOST_PAST);
            self.links.drain(..extra);
        }
    }

    /// The step before this one.
    fn back(&mut self) -> Option<String> {
        while let Some(link) = self.links.pop() {
            if link != self.now {
                self.now.clone_from(&link);
                // The change that this makes is no step of its own, and the next one is.
                self.changed_at_ms = f64::NEG_INFINITY;
                return Some(link);
            }
        }
        None
    }
}

/// What a scenario is called when it is saved.
fn name_of(lang: Lang, scenario: &Scenario) -> String {
    let job = text(lang, scenario.job.kind().label_key(), &[]);
    let model = match &scenario.model {
        ModelChoice::Catalog(id) => Catalog::embedded().subject(id).map_or_else(
            || id.clone(),
            |subject| model_picker::name_of(lang, subject),
        ),
        ModelChoice::Custom(_) => text(lang, "saved.custom", &[]),
    };
    format!("{model} · {job}")
}

/// Back, save, and what was saved, loaded after the first answer.
#[component]
pub fn SavedScenarios() -> impl IntoView {
    view! {
        <div class="saved-place">
            <Lazy part=saved_scenarios />
        </div>
    }
}

lazy_view! {
    part = answer;
    /// [`SavedList`].
    fn saved_scenarios() {
        view! { <SavedList /> }.into_any()
    }
}

#[component]
fn SavedList() -> impl IntoView {
    let app = App::get();
    let saved = RwSignal::new(read::<Vec<Saved>>(SAVED_KEY));
    let refused = RwSignal::new(false);
    let past = RwSignal::new(Past {
        now: app.scenario.with_untracked(to_query),
        changed_at_ms: f64::NEG_INFINITY,
        ..read::<Past>(PAST_KEY)
    });
    Effect::new(move |_| {
        // A drag is one step, told when it is let go.
        if app.dragging.get() {
            return;
        }
        let link = app.scenario.with(to_query);
        let changed = past.with_untracked(|past| past.now != link);
        if changed {
            past.update(|past| past.change(link, js_sys::Date::now()));
            past.with_untracked(|past| write(PAST_KEY, past));
        }
    });
    let keep = move |list: Vec<Saved>| {
        refused.set(!write(SAVED_KEY, &list));
        saved.set(list);
    };
    let open = move |link: &str| app.load(parse(link, Catalog::embedded()).scenario);
    let undo = move |_| {
        let link = past.try_update(Past::back).flatten();
        past.with_untracked(|past| write(PAST_KEY, past));
        if let Some(link) = link {
            open(&link);
        }
    };
    let save = move |_| {
        let (link, name) = app
            .scenario
            .with_untracked(|s| (to_query(s), name_of(app.lang.get_untracked(), s)));
        let mut list = saved.get_untracked();
        list.retain(|one| one.link != link);
        list.insert(0, Saved { name, link });
        list.truncate(MOST_SAVED);
        keep(list);
    };
    let is_saved = Memo::new(move |before: Option<&bool>| {
        if let (true, Some(before)) = (app.dragging.get(), before) {
            return *before;
        }
        let link = app.scenario.with(to_query);
        saved.with(|saved| saved.iter().any(|one| one.link == link))
    });
    view! {
        <section class="saved" aria-label=t("saved.title")>
            <button
                type="button"
                class="link"
                data-testid="undo"
                disabled=move || past.with(|past| past.links.is_empty())
                on:click=undo
            >
                {t("saved.undo")}
            </button>
            <button type="button" class="link" data-testid="save-scenario" disabled=is_saved on:click=save>
                {move || {
                    let key = if is_saved.get() { "saved.is_saved" } else { "saved.save" };
                    text(app.lang.get(), key, &[])
                }}
            </button>
            <ul class="saved-list">
                {move || {
                    saved
                        .get()
                        .into_iter()
                        .map(|one| {
                            let Saved { name, link } = one;
                            let (to_open, to_forget) = (link.clone(), link);
                            let label = text(app.lang.get(), "saved.forget", &[("name", &name)]);
                            view! {
                                <li>
                                    <button
                                        type="button"
                                        class="preset"
                                        data-testid="saved-scenario"
                                        on:click=move |_| open(&to_open)
                                    >
                                        {name}
                                    </button>
                                    <button
                                        type="button"
                                        class="remove"
                                        data-testid="saved-forget"
                                        aria-label=label.clone()
                                        title=label
                                        on:click=move |_| {
                                            let mut list = saved.get_untracked();
                                            list.retain(|one| one.link != to_forget);
                                            keep(list);
                                        }
                                    >
                                        "×"
                                    </button>
                                </li>
                            }
                        })
                        .collect_view()
                }}
            </ul>
            <p class="note" role="status" data-testid="saved-refused">
                {move || refused.get().then(|| text(app.lang.get(), "saved.refused", &[]))}
            </p>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(now: &str) -> Past {
        Past {
            now: now.to_owned(),
            changed_at_ms: f64::NEG_INFINITY,
            ..Past::default()
        }
    }

    #[test]
    fn typing_is_one_step_and_choices_are_each_one() {
        let mut past = past("a");
        past.change("b".to_owned(), 0.0);
        past.change("bc".to_owned(), 300.0);
        past.change("bcd".to_owned(), 600.0);
        past.change("e".to_owned(), 5000.0);
        assert_eq!(past.back().as_deref(), Some("bcd"));
        assert_eq!(past.back().as_deref(), Some("a"));
        assert_eq!(past.back(), None);
    }

    #[test]
    fn a_change_after_going_back_can_be_taken_back_too() {
        let mut past = past("a");
        past.change("b".to_owned(), 0.0);
        assert_eq!(past.back().as_deref(), Some("a"));
        past.change("c".to_owned(), 10.0);
        assert_eq!(past.back().as_deref(), Some("a"));
    }

    #[test]
    fn only_the_latest_steps_are_kept() {
        let mut past = past("start");
        for n in 0..200 {
            past.change(n.to_string(), f64::from(n) * 1e6);
        }
        assert_eq!(past.links.len(), MOST_PAST);
    }
}
