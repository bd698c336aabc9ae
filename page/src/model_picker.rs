//! The model picker: a text input with a list below it, after the combobox pattern of WAI-ARIA 1.2.

use cardfit::catalog::{Catalog, Medium, Model, NetworkTask, Subject};
use cardfit::order;
use cardfit::scenario::{JobKind, ModelChoice, Param, Scope, SubjectKind};
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
    /// Something of the catalog.
    Known(Subject<'static>),
    /// Describe a language model by hand.
    Custom,
}

/// Everything that can be run, in the catalog's order, with the names that people type.
fn subjects() -> impl Iterator<Item = (Subject<'static>, Vec<&'static str>)> {
    let catalog = Catalog::embedded();
    fn with(
        subject: Subject<'static>,
        more: &'static str,
        aliases: &'static [String],
    ) -> (Subject<'static>, Vec<&'static str>) {
        let mut names = vec![subject.id(), subject.name(), more];
        names.extend(what_it_is(subject));
        names.extend(aliases.iter().map(String::as_str));
        (subject, names)
    }
    let models = catalog.models.iter();
    let models = models.map(|m| with(Subject::Language(m), &m.family, &m.aliases));
    let images = catalog.diffusion.iter();
    let images = images.map(|m| with(Subject::Diffusion(m), "", &m.aliases));
    let networks = catalog.networks.iter();
    let networks = networks.map(|n| with(Subject::Network(n), "", &n.aliases));
    let workloads = catalog.workloads.iter();
    let workloads = workloads.map(|w| with(Subject::Workload(w), &w.name_zh, &w.aliases));
    models.chain(images).chain(networks).chain(workloads)
}

/// What people type who look for a thing of some kind and know no name yet, in both languages.
fn what_it_is(subject: Subject<'_>) -> &'static [&'static str] {
    match subject {
        Subject::Language(_) | Subject::Workload(_) => &[],
        Subject::Diffusion(model) => match model.medium {
            Medium::Image => &["image", "text to image", "图片", "图像", "文生图", "绘画"],
            Medium::Video => &["video", "text to video", "视频", "文生视频"],
        },
        Subject::Network(network) => match network.task {
            NetworkTask::Classify => &["classification", "分类"],
            NetworkTask::Detect => &["detection", "检测"],
            NetworkTask::Segment => &["segmentation", "分割"],
            NetworkTask::ImageText => &["image and text", "图文"],
            NetworkTask::Text => &["embedding", "reranker", "嵌入", "向量", "检索"],
            NetworkTask::Speech => &["speech", "ASR", "语音", "转写", "听写"],
        },
    }
}

/// Lines for what is typed, best first. Nothing typed: what the job is about. Something typed:
/// everything that goes by such a name, what the job is about before the rest.
fn lines(wanted: &str, job: JobKind) -> Vec<Line> {
    let any = wanted.trim().is_empty();
    let mut found: Vec<(bool, u32, Subject<'static>)> = subjects()
        .filter_map(|(subject, names)| {
            let other = !job.is_about(SubjectKind::of(subject));
            if any && other {
                return None;
            }
            let names = names.into_iter().filter(|name| !name.is_empty());
            Some((other, search::score(wanted, names)?, subject))
        })
        .collect();
    // Stable: things of equal score stay in the catalog's order, families together.
    order::sort_by_key(&mut found, |(other, score, _)| (*other, *score));
    let custom = job.is_about(SubjectKind::Language).then_some(Line::Custom);
    found
        .into_iter()
        .map(|(_, _, subject)| Line::Known(subject))
        .chain(custom)
        .collect()
}

/// The family that a line stands under; empty: none.
fn family_of(line: Line) -> &'static str {
    match line {
        Line::Known(Subject::Language(model)) => &model.family,
        _ => "",
    }
}

/// A thing's name in the page's language.
pub fn name_of(lang: Lang, subject: Subject<'_>) -> String {
    match (lang, subject) {
        (Lang::ZhCn, Subject::Workload(w)) => w.name_zh.clone(),
        _ => subject.name().to_owned(),
    }
}

/// What there is to say about a thing, in few words.
fn facts_of(lang: Lang, subject: Subject<'_>) -> String {
    match subject {
        Subject::Language(model) => facts(lang, model),
        Subject::Diffusion(model) => text(
            lang,
            "page.model.facts_diffusion",
            &[
                (
                    "total",
                    &format::parameters(lang, model.params_total() as f64),
                ),
                (
                    "denoiser",
                    &format::parameters(lang, model.denoiser.params as f64),
                ),
                (
                    "text",
                    &format::parameters(lang, model.text_params() as f64),
                ),
            ],
        ),
        Subject::Network(network) => text(
            lang,
            "page.model.facts_network",
            &[("total", &format::parameters(lang, network.params as f64))],
        ),
        Subject::Workload(workload) => text(
            lang,
            "page.model.facts_workload",
            &[(
                "intensity",
                &format::number(lang, workload.flops_per_byte, 3),
            )],
        ),
    }
}

/// The name of the chosen model.
pub fn chosen_name(lang: Lang, model: &ModelChoice) -> String {
    match model {
        ModelChoice::Catalog(id) => Catalog::embedded()
            .subject(id)
            .map_or_else(|| id.clone(), |subject| name_of(lang, subject)),
        ModelChoice::Custom(_) => text(lang, "page.model.custom", &[]),
    }
}

/// Size and context of a model, in few words.
fn facts(lang: Lang, model: &Model) -> String {
    let total = format::parameters(lang, model.params_total as f64);
    let context = format::context(model.max_context);
    if model.transformer.experts.is_some() {
        let active = format::parameters(lang, model.params_active as f64);
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
    let bad_shape = Memo::new(move |_| {
        app.bad_inputs.with(|bad| {
            bad.keys()
                .filter_map(|name| Param::of(name))
                .any(|param| param.scope == Scope::Custom)
        })
    });
    let found = Memo::new(move |_| {
        if open.get() {
            let job = app.scenario.with(|s| s.job.kind());
            typed.with(|typed| lines(typed.as_deref().unwrap_or_default(), job))
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
            // The shape typed by hand says nothing about a model of the catalog.
            Line::Known(subject) => app.set_model(subject.id()),
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
                    (Line::Known(subject), Some(id)) => subject.id() == id,
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
            <label for="field-m">
                {move || {
                    let science = app
                        .scenario
                        .with(|s| s.job.kind().is_about(SubjectKind::Workload));
                    if science { t("field.m.science")() } else { t("field.m")() }
                }}
            </label>
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
                    // Families are headed where nothing is typed; what is typed is ordered by fit.
                    let headed = typed.with(|typed| typed.as_deref().unwrap_or_default().trim().is_empty());
                    let mut before = "";
                    found
                        .get()
                        .into_iter()
                        .enumerate()
                        .map(|(place, line)| {
                            let family = family_of(line);
                            let head = (headed && !family.is_empty() && family != before)
                                .then(|| view! { <li role="presentation" class="family">{family}</li> });
                            before = family;
                            view! {
                                {head}
                                <PickerLine place line active choose />
                            }
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
                                Catalog::embedded()
                                    .subject(id)
                                    .map(|subject| facts_of(lang, subject))
                            }
                            ModelChoice::Custom(shape) => {
                                let size = format::parameters(lang, shape.params() as f64);
                                // What cannot be used stays in its input; the count is of what is.
                                let key = if bad_shape.get() {
                                    "page.model.facts_last"
                                } else {
                                    "page.model.facts_custom"
                                };
                                Some(text(lang, key, &[("total", &size)]))
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
        Line::Known(subject) => (
            name_of(app.lang.get_untracked(), subject),
            facts_of(app.lang.get_untracked(), subject),
            format!("model-option-{}", subject.id()),
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
