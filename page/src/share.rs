//! Sharing a scenario: its link to copy, as a QR code, or by the system's own sheet; and what changed since it was shared.

use cardfit::scenario::TooLarge;
use cardfit::scenario::limits::FRAGMENT_BYTES;
use cardfit::share::{Best, Change, Stamp};
use cardfit::text::{Lang, text};
use leptos::prelude::*;
use qrcodegen::{QrCode, QrCodeEcc};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::HtmlInputElement;

use crate::answer::AnswerKind;
use crate::lazy::{Lazy, lazy_view};
use crate::state::App;
use crate::words::t;
use crate::{address, format, words};

/// The link to what is on the page, with what it answers today, and whether what was brought was too large for it.
fn shared_link(app: App) -> (String, Option<TooLarge>) {
    let best = app
        .answer
        .with_untracked(|answer| answer.first().and_then(|offer| Best::of_offer(offer)));
    app.edits
        .with_untracked(|edits| address::whole(&app.link(), &Stamp::now(best).write(), edits))
}

/// Opens the sheet with the link.
#[component]
pub fn ShareButton() -> impl IntoView {
    let dialog = NodeRef::<leptos::html::Dialog>::new();
    let times = RwSignal::new(0u32);
    let asked = Memo::new(move |_| times.get() > 0);
    let open = move |_| {
        times.update(|times| *times += 1);
        if let Some(dialog) = dialog.get() {
            let _refused = dialog.show_modal();
        }
    };
    let close = move |_| {
        if let Some(dialog) = dialog.get() {
            dialog.close();
        }
    };
    view! {
        <button type="button" class="quiet share-open" data-testid="share" on:click=open>
            {t("share.open")}
        </button>
        <dialog node_ref=dialog class="share" aria-labelledby="share-title" data-testid="share-sheet">
            <h2 id="share-title">{t("share.title")}</h2>
            <p>{t("share.note")}</p>
            {move || asked.get().then(|| view! { <Lazy part=move || sheet(times) /> })}
            <button type="button" class="quiet" data-testid="share-close" on:click=close>
                {t("share.close")}
            </button>
        </dialog>
    }
}

lazy_view! {
    part = answer;
    /// [`Sheet`], loaded when it is first opened.
    fn sheet(times: RwSignal<u32>) {
        view! { <Sheet times /> }.into_any()
    }
}

/// The link and what can be done with it. It is made anew whenever the sheet is opened.
#[component]
fn Sheet(
    /// How many times it was opened.
    times: RwSignal<u32>,
) -> impl IntoView {
    let app = App::get();
    let copied = RwSignal::new(false);
    let made = Memo::new(move |_| {
        times.track();
        copied.set(false);
        untrack(|| shared_link(app))
    });
    let link = Memo::new(move |_| made.with(|(link, _)| link.clone()));
    view! {
        {move || {
            made.with(|(_, refused)| refused.as_ref().map(|refused| refused.bytes))
                .map(|bytes| {
                    let said = text(
                        app.lang.get(),
                        "share.too_large",
                        &[("bytes", &bytes.to_string()), ("bound", &FRAGMENT_BYTES.to_string())],
                    );
                    view! { <p class="share-refused" role="alert" data-testid="share-refused">{said}</p> }
                })
        }}
        <div class="share-link">
            <input
                type="text"
                readonly
                aria-label=t("share.link")
                data-testid="share-link"
                prop:value=move || link.get()
                on:focus=move |event| select_all(&event)
            />
            <button
                type="button"
                class="quiet"
                data-testid="share-copy"
                on:click=move |_| copy(&link.get_untracked(), copied)
            >
                {move || {
                    let key = if copied.get() { "share.copied" } else { "share.copy" };
                    text(app.lang.get(), key, &[])
                }}
            </button>
            {can_share()
                .then(|| {
                    view! {
                        <button
                            type="button"
                            class="quiet"
                            data-testid="share-system"
                            on:click=move |_| share(app.lang.get_untracked(), &link.get_untracked())
                        >
                            {t("share.system")}
                        </button>
                    }
                })}
        </div>
        <p class="unseen" role="status">
            {move || copied.get().then(|| text(app.lang.get(), "share.copied", &[]))}
        </p>
        {move || {
            let link = link.get();
            let part = move || code(link.clone());
            view! { <Lazy part /> }
        }}
    }
}

lazy_view! {
    part = tools;
    /// [`Qr`], loaded when the sheet is first opened.
    pub fn code(link: String) {
        view! { <Qr link /> }.into_any()
    }
}

/// A link as a QR code, dark on light in every theme: readers of codes want it so.
#[component]
fn Qr(link: String) -> impl IntoView {
    /// Light modules around the code, as its standard asks.
    const QUIET: i32 = 4;
    let app = App::get();
    let Ok(code) = QrCode::encode_text(&link, QrCodeEcc::Low) else {
        return view! { <p class="note">{t("share.qr.too_long")}</p> }.into_any();
    };
    let size = code.size();
    let mut path = String::new();
    for y in 0..size {
        let mut x = 0;
        while x < size {
            let start = x;
            while x < size && code.get_module(x, y) {
                x += 1;
            }
            if x > start {
                let run = x - start;
                path.push_str(&format!("M{start} {y}h{run}v1h-{run}z"));
            }
            x += 1;
        }
    }
    let side = size + 2 * QUIET;
    view! {
        <svg
            class="qr"
            data-testid="share-qr"
            role="img"
            aria-label=move || text(app.lang.get(), "share.qr", &[])
            viewBox=format!("{} {} {side} {side}", -QUIET, -QUIET)
        >
            <rect x=-QUIET y=-QUIET width=side height=side class="qr-ground" />
            <path d=path class="qr-ink" />
        </svg>
    }
    .into_any()
}

fn select_all(event: &web_sys::FocusEvent) {
    let field = event
        .target()
        .and_then(|t| t.dyn_into::<HtmlInputElement>().ok());
    if let Some(field) = field {
        field.select();
    }
}

/// Copies a text; where the browser refuses, the field with the link can still be copied by hand.
pub fn copy(link: &str, copied: RwSignal<bool>) {
    let clipboard = window().navigator().clipboard();
    // Without a secure origin there is no clipboard, whatever the type says.
    if JsValue::from(&clipboard).is_undefined() {
        return;
    }
    let done = wasm_bindgen_futures::JsFuture::from(clipboard.write_text(link));
    leptos::task::spawn_local(async move {
        copied.set(done.await.is_ok());
    });
}

/// Whether the system has a sheet for sharing.
fn can_share() -> bool {
    let navigator = JsValue::from(window().navigator());
    js_sys::Reflect::has(&navigator, &JsValue::from_str("share")).unwrap_or(false)
}

fn share(lang: Lang, link: &str) {
    let data = web_sys::ShareData::new();
    data.set_title(&text(lang, "page.document_title", &[]));
    data.set_url(link);
    // That a person thinks better of it is no fault.
    let asked = window().navigator().share_with_data(&data);
    leptos::task::spawn_local(async move {
        let _refused = wasm_bindgen_futures::JsFuture::from(asked).await;
    });
}

/// What changed since the opened link was shared, until another choice is made.
#[component]
pub fn SinceShared() -> impl IntoView {
    let app = App::get();
    let told = Memo::new(move |_| app.brings_book.get() || app.shared.with(Option::is_some));
    move || told.get().then(|| view! { <Lazy part=since_shared /> })
}

lazy_view! {
    part = answer;
    /// [`Since`], loaded where the link tells what it answered.
    fn since_shared() {
        view! { <Since /> }.into_any()
    }
}

#[component]
fn Since() -> impl IntoView {
    let app = App::get();
    let line = move || {
        let lang = app.lang.get();
        if app.brings_book.get() {
            return Some(text(lang, "share.brought_book", &[]));
        }
        let stamp = app.shared.get()?;
        let now = app
            .answer
            .with(|answer| answer.first().and_then(|offer| Best::of_offer(offer)));
        let kind = app.answer.with(|answer| answer.kind);
        stamp
            .compare(now)
            .map(|change| said(app, lang, kind, &change))
    };
    view! {
        {move || {
            line()
                .map(|line| {
                    view! {
                        <section
                            class="notice since"
                            role="status"
                            data-testid="since-shared"
                            aria-label=t("share.since.title")
                        >
                            <p>{line}</p>
                            <button
                                type="button"
                                class="quiet"
                                data-testid="since-close"
                                on:click=move |_| {
                                    app.shared.set(None);
                                    app.brings_book.set(false);
                                }
                            >
                                {t("page.notice.close")}
                            </button>
                        </section>
                    }
                })
        }}
    }
}

fn said(app: App, lang: Lang, kind: AnswerKind, change: &Change) -> String {
    let currency = app.scenario.with(|s| s.money.currency);
    let shown = |best: &Best| {
        let cards = format!(
            "{} × {}",
            format::count(lang, u64::from(best.count)),
            words::card_name(lang, &best.card)
        );
        let time = best
            .hours
            .map(|hours| format::seconds(lang, hours * 3600.0));
        let cost = best.cost.map(|cost| {
            let money = format::money(lang, currency, cost);
            match kind {
                AnswerKind::Once => money,
                AnswerKind::Monthly => format!("{money}{}", text(lang, "embed.per_month", &[])),
            }
        });
        let comma = text(lang, "page.comma", &[]);
        [Some(cards), time, cost]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(&comma)
    };
    match change {
        Change::Nothing => text(lang, "share.since.nothing", &[]),
        Change::Figures { then, now } => text(
            lang,
            "share.since.figures",
            &[("then", &shown(then)), ("now", &shown(now))],
        ),
        Change::Cards { then, now } => text(
            lang,
            "share.since.cards",
            &[("then", &shown(then)), ("now", &shown(now))],
        ),
        Change::NowFits { now } => text(lang, "share.since.now_fits", &[("now", &shown(now))]),
        Change::NoLongerFits { then } => {
            text(lang, "share.since.no_longer", &[("then", &shown(then))])
        }
    }
}
