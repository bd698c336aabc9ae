//! Parts of the page that are loaded when they are first wanted.

use leptos::html;
use leptos::prelude::*;

use crate::seen;
use crate::words::t;

/// Why a part is not there: the network, or a server that has replaced its files since the page was opened.
#[derive(Debug, Clone, Copy)]
pub struct PartMissing;

#[cfg(feature = "split")]
impl From<leptos::wasm_split::SplitLoaderError> for PartMissing {
    fn from(_: leptos::wasm_split::SplitLoaderError) -> Self {
        Self
    }
}

/// An async function whose code, and the data that only it reads, is loaded when it is first called. All functions of one
/// `part` are loaded together: what several parts share becomes a file for each set that shares it, so many parts would be
/// a multitude of files.
macro_rules! lazy_part {
    (part = $part:ident; $(#[$about:meta])* $vis:vis fn $name:ident($($argument:ident: $kind:ty),*) -> $made:ty $body:block) => {
        $(#[$about])*
        #[cfg(feature = "split")]
        #[allow(unsafe_code, improper_ctypes_definitions, improper_ctypes)]
        #[leptos::wasm_split::wasm_split($part, wasm_split_path = ::leptos::wasm_split, fallible)]
        $vis fn $name($($argument: $kind),*) -> Result<$made, $crate::lazy::PartMissing> {
            Ok($body)
        }

        $(#[$about])*
        #[cfg(not(feature = "split"))]
        $vis async fn $name($($argument: $kind),*) -> Result<$made, $crate::lazy::PartMissing> {
            Ok($body)
        }
    };
}

/// A `lazy_part!` that builds a view, and whose texts come with it. Show it with [`Lazy`].
macro_rules! lazy_view {
    (part = $part:ident; $(#[$about:meta])* $vis:vis fn $name:ident($($argument:ident: $kind:ty),*) $body:block) => {
        $crate::lazy::lazy_part! {
            part = $part;
            $(#[$about])*
            $vis fn $name($($argument: $kind),*) -> leptos::prelude::AnyView {
                cardfit::text::load_more();
                $body
            }
        }
    };
}

pub(crate) use lazy_part;
pub(crate) use lazy_view;

/// A part made by `lazy_view!`. One that cannot be loaded says so and can be asked for again; the rest goes on.
#[component]
pub fn Lazy<P, F>(
    /// Asks for the part.
    part: P,
) -> impl IntoView
where
    P: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = Result<AnyView, PartMissing>> + Send + 'static,
{
    let attempt = RwSignal::new(0u32);
    view! {
        <Suspense fallback=|| {
            view! { <p class="note loading">{t("page.part.loading")}</p> }
        }>
            {move || {
                attempt.track();
                let part = part.clone();
                Suspend::new(async move {
                    match part().await {
                        Ok(view) => view,
                        Err(PartMissing) => {
                            view! {
                                <p class="notice" role="alert">
                                    {t("page.part.missing")}
                                    <button type="button" on:click=move |_| attempt.update(|n| *n += 1)>
                                        {t("page.part.again")}
                                    </button>
                                </p>
                            }
                                .into_any()
                        }
                    }
                })
            }}
        </Suspense>
    }
}

/// A fold whose inside is a part made by `lazy_view!`, asked for when it is first opened.
#[component]
pub fn LazyDetails<P, F>(
    /// Class besides `more`.
    #[prop(optional)]
    class: &'static str,
    /// Name for tests.
    testid: &'static str,
    /// What is always seen.
    #[prop(into)]
    summary: ViewFnOnce,
    /// Asks for the part.
    part: P,
) -> impl IntoView
where
    P: Fn() -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<AnyView, PartMissing>> + Send + 'static,
{
    let opened = RwSignal::new(false);
    view! {
        <details class=format!("more {class}") data-testid=testid on:toggle=move |_| opened.set(true)>
            <summary>{summary.run()}</summary>
            <Show when=move || opened.get()>
                <Lazy part=part.clone() />
            </Show>
        </details>
    }
}

/// A part that waits until more than an edge of its place is seen or, once the visitor has begun to scroll, until it is
/// within a window's height of being seen: what nobody has come near takes neither the network nor the processor.
#[component]
pub fn Near(
    /// What stands there.
    children: ChildrenFn,
) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let near = RwSignal::new(false);
    let scrolled = RwSignal::new(false);
    let scroll = window_event_listener(leptos::ev::scroll, move |_| {
        if !scrolled.get_untracked() {
            scrolled.set(true);
        }
    });
    on_cleanup(move || scroll.remove());
    Effect::new(move |_| {
        if near.get() {
            return;
        }
        if let Some(place) = place.get() {
            let margin = if scrolled.get() {
                "100% 0px"
            } else {
                "0px 0px -15%"
            };
            seen::watch(&place, margin, move |is_seen| {
                if is_seen {
                    near.set(true);
                }
            });
        }
    });
    view! {
        <div class="near" node_ref=place>
            {move || near.get().then(|| children())}
        </div>
    }
}
