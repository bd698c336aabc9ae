//! A model that a user brings: a pasted `config.json`, or a file whose first bytes are read here, in the page.

use cardfit::bring::{
    BringError, BringErrorKind, Brought, GGUF_FIRST_BYTES, read_bytes, read_text,
};
use cardfit::scenario::{Job, ModelChoice};
use cardfit::text::{Lang, text};
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DragEvent, File, HtmlInputElement};

use crate::format;
use crate::lazy::{LazyDetails, lazy_view};
use crate::state::App;
use crate::words::{self, t};

/// Bytes of a file that are read where its first ones were too few.
const MOST_BYTES: f64 = 192.0 * 1_048_576.0;

/// What was read last.
type Outcome = Option<Result<Brought, BringError>>;

/// Reads the start of a file, and more of it where its header goes on.
async fn read_file(file: File) -> Result<Brought, BringError> {
    let mut wanted = GGUF_FIRST_BYTES as f64;
    loop {
        let bytes = first_bytes(&file, wanted).await.unwrap_or_default();
        match read_bytes(&bytes) {
            Err(error)
                if error.kind == BringErrorKind::Truncated
                    && (bytes.len() as f64) < file.size()
                    && wanted < MOST_BYTES =>
            {
                wanted *= 4.0;
            }
            outcome => return outcome,
        }
    }
}

async fn first_bytes(file: &File, count: f64) -> Option<Vec<u8>> {
    let part = file
        .slice_with_f64_and_f64(0.0, count.min(file.size()))
        .ok()?;
    let buffer = JsFuture::from(part.array_buffer()).await.ok()?;
    Some(js_sys::Uint8Array::new(&buffer).to_vec())
}

lazy_view! {
    part = bring;
    /// [`Bring`]: the readers of other people's files are a tenth of the program, and few visitors bring one.
    fn bring_panel() {
        view! { <Bring /> }.into_any()
    }
}

/// The panel, loaded when it is first opened.
#[component]
pub fn BringModel() -> impl IntoView {
    view! { <LazyDetails class="bring" testid="bring" summary=|| t("bring.title") part=bring_panel /> }
}

/// Paste, choose or drop; then field by field what was read.
#[component]
fn Bring() -> impl IntoView {
    let app = App::get();
    let outcome = RwSignal::new(Outcome::None);
    let pasted = RwSignal::new(String::new());
    let over = RwSignal::new(false);
    let take = move |read: Result<Brought, BringError>| {
        if let Ok(model) = &read {
            let mut scenario = app.scenario.get_untracked();
            scenario.model = ModelChoice::Custom(Box::new(model.shape.clone()));
            if let (Job::Serve(serving), Some(weights)) = (&mut scenario.job, model.weights) {
                serving.weights = weights;
            }
            app.load(scenario);
        }
        outcome.set(Some(read));
    };
    let take_file = move |file: File| {
        spawn_local(async move {
            let read = read_file(file).await;
            take(read);
        });
    };
    let on_file = move |event: web_sys::Event| {
        let input = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        let file = input
            .as_ref()
            .and_then(HtmlInputElement::files)
            .and_then(|files| files.get(0));
        if let Some(file) = file {
            take_file(file);
        }
        // The same file can be chosen again after it was changed.
        if let Some(input) = input {
            input.set_value("");
        }
    };
    let on_drop = move |event: DragEvent| {
        event.prevent_default();
        over.set(false);
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(file) = files.and_then(|files| files.get(0)) {
            take_file(file);
        }
    };
    view! {
        <div>
            <div
                class="drop"
                class:over=over
                on:dragover=move |event: DragEvent| {
                    event.prevent_default();
                    over.set(true);
                }
                on:dragleave=move |_| over.set(false)
                on:drop=on_drop
            >
                <p class="note">{t("bring.say")}</p>
                <label class="field-label" for="bring-text">{t("bring.paste")}</label>
                <textarea
                    id="bring-text"
                    data-testid="bring-text"
                    rows="6"
                    spellcheck="false"
                    autocomplete="off"
                    placeholder="{\"num_hidden_layers\": 32, …}"
                    prop:value=pasted
                    on:input=move |event| pasted.set(event_target_value(&event))
                ></textarea>
                <div class="bring-ways">
                    <button
                        type="button"
                        data-testid="bring-read"
                        on:click=move |_| take(pasted.with_untracked(|given| read_text(given)))
                    >
                        {t("bring.read_pasted")}
                    </button>
                    <label class="file-choice" for="bring-file">{t("bring.file")}</label>
                    <input
                        id="bring-file"
                        data-testid="bring-file"
                        class="visually-hidden"
                        type="file"
                        accept=".json,.gguf,.safetensors"
                        on:change=on_file
                    />
                </div>
            </div>
            <div aria-live="polite">
                {move || {
                    let lang = app.lang.get();
                    match outcome.get() {
                        None => ().into_any(),
                        Some(Err(error)) => {
                            view! {
                                <p class="note bad" role="alert" data-testid="bring-error">
                                    {error.message(lang)}
                                </p>
                            }
                                .into_any()
                        }
                        Some(Ok(model)) => view! { <WhatWasRead model /> }.into_any(),
                    }
                }}
            </div>
        </div>
    }
}

/// Field by field: value, where it comes from, what must be known.
#[component]
fn WhatWasRead(model: Brought) -> impl IntoView {
    let app = App::get();
    let lang = app.lang.get_untracked();
    let params = model.shape.params() as f64;
    let size = format::parameters(lang, params);
    let mut said = vec![text(lang, "bring.sum.params", &[("total", &size)])];
    if model.shape.experts.is_some() {
        let active = model.shape.active_params() as f64;
        let with = active + model.shape.embedding_params() as f64;
        said.push(text(
            lang,
            "bring.sum.active",
            &[
                ("active", &format::parameters(lang, active)),
                ("with", &format::parameters(lang, with)),
            ],
        ));
    }
    if let Some(weights) = model.weights {
        let format = words::choice(lang, weights);
        said.push(text(lang, "bring.sum.format", &[("format", &format)]));
    }
    if let Some(bytes) = model.weight_bytes {
        let size = format!("{:.2}", bytes as f64 / 1_073_741_824.0);
        said.push(text(lang, "bring.sum.bytes", &[("gib", &size)]));
    }
    if let Some(context) = model.max_context {
        let context = format::context(context);
        said.push(text(lang, "bring.sum.context", &[("context", &context)]));
    }
    let notes = model.notes.clone();
    view! {
        <div class="brought" data-testid="brought">
            <p>
                <strong>{model.name.clone()}</strong>
                " "
                {said.join(" · ")}
            </p>
            <ul class="notes">
                {notes
                    .into_iter()
                    .map(|note| view! { <li>{note.message(lang)}</li> })
                    .collect_view()}
            </ul>
            <div class="scroll">
                <table class="fields">
                    <thead>
                        <tr>
                            <th scope="col">{t("bring.column.field")}</th>
                            <th scope="col">{t("bring.column.value")}</th>
                            <th scope="col">{t("bring.column.from")}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {model
                            .fields
                            .iter()
                            .map(|field| {
                                let label = text(lang, &format!("field.{}", field.param), &[]);
                                let origin = text(lang, field.origin.key(), &[]);
                                let assumed = field.origin == cardfit::bring::Origin::Assumed;
                                view! {
                                    <tr class:assumed=assumed>
                                        <th scope="row">{label}</th>
                                        <td>{shown(lang, &field.value)}</td>
                                        <td>{origin} " " <code>{field.key.clone()}</code></td>
                                    </tr>
                                }
                            })
                            .collect_view()}
                    </tbody>
                </table>
            </div>
            <p class="note">{t("bring.correct")}</p>
        </div>
    }
}

/// A value as a person reads it: large counts in thousands, yes and no in the reader's language.
fn shown(lang: Lang, value: &str) -> String {
    if let "yes" | "no" = value {
        return text(lang, &format!("page.{value}"), &[]);
    }
    match value.parse::<u64>() {
        Ok(number) if number >= 1_000_000 => format::parameters(lang, number as f64),
        _ => value.replace(',', ", "),
    }
}
