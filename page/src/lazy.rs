//! Parts of the page that are loaded when they are first wanted.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use leptos::html;
use leptos::prelude::*;
use leptos::reactive::computed::ScopedFuture;

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

/// A `lazy_part!` that builds a view; its texts, and where figures were read, come with it. Show it with [`Lazy`].
macro_rules! lazy_view {
    (part = $part:ident; $(#[$about:meta])* $vis:vis fn $name:ident($($argument:ident: $kind:ty),*) $body:block) => {
        $crate::lazy::lazy_part! {
            part = $part;
            $(#[$about])*
            $vis fn $name($($argument: $kind),*) -> leptos::prelude::AnyView {
                cardfit::text::load_more();
                cardfit::packed::load_asides();
                $body
            }
        }
    };
}

pub(crate) use lazy_part;
pub(crate) use lazy_view;

/// A part on its way.
type Asked = Pin<Box<dyn Future<Output = Result<AnyView, PartMissing>> + Send>>;
/// Asks for a part: of one type for all parts, since what waits for it is a tenth of the program when it is made for each.
type Ask = Arc<dyn Fn() -> Asked + Send + Sync>;
/// Where a part is put when it is there.
type Arrival = Arc<Mutex<Option<Result<AnyView, PartMissing>>>>;

fn asking<P, F>(part: P) -> Ask
where
    P: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = Result<AnyView, PartMissing>> + Send + 'static,
{
    Arc::new(move || Box::pin(part()))
}

/// A part made by `lazy_view!`. One that cannot be loaded says so and can be asked for again; the rest goes on.
#[component]
pub fn Lazy<P, F>(
    /// Asks for the part.
    part: P,
) -> impl IntoView
where
    P: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = Result<AnyView, PartMissing>> + Send + 'static,
{
    shown(asking(part))
}

fn shown(ask: Ask) -> AnyView {
    let arrival = Arrival::default();
    let arrived = RwSignal::new(0u32);
    let owner = Owner::current().unwrap_or_default();
    let start = {
        let arrival = Arc::clone(&arrival);
        move || {
            let mut wait = Wait {
                part: owner.with(|| Box::pin(ScopedFuture::new_untracked(ask()))),
                arrival: Arc::clone(&arrival),
                arrived,
            };
            // What has been loaded before is there at once.
            let mut now = Context::from_waker(Waker::noop());
            if Pin::new(&mut wait).poll(&mut now).is_pending() {
                leptos::task::spawn_local(wait);
            }
        }
    };
    start();
    let again = Arc::new(start);
    (move || {
        arrived.track();
        let part = arrival.lock().ok().and_then(|mut part| part.take());
        match part {
            None => view! { <p class="note loading">{t("page.part.loading")}</p> }.into_any(),
            Some(Ok(view)) => view,
            Some(Err(PartMissing)) => {
                let again = Arc::clone(&again);
                view! {
                    <p class="notice" role="alert">
                        {t("page.part.missing")}
                        <button type="button" on:click=move |_| {
                            arrived.update(|arrived| *arrived += 1);
                            again();
                        }>
                            {t("page.part.again")}
                        </button>
                    </p>
                }
                .into_any()
            }
        }
    })
    .into_any()
}

/// Waits for a part as long as its place is on the page.
struct Wait {
    part: Pin<Box<ScopedFuture<Asked>>>,
    arrival: Arrival,
    arrived: RwSignal<u32>,
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.arrived.is_disposed() {
            return Poll::Ready(());
        }
        self.part.as_mut().poll(context).map(|part| {
            if let Ok(mut arrival) = self.arrival.lock() {
                *arrival = Some(part);
            }
            let _gone = self.arrived.try_update(|arrived| *arrived += 1);
        })
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
    P: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = Result<AnyView, PartMissing>> + Send + 'static,
{
    fold(class, testid, summary.run(), asking(part))
}

fn fold(class: &'static str, testid: &'static str, summary: AnyView, ask: Ask) -> AnyView {
    let opened = RwSignal::new(false);
    view! {
        <details class=format!("more {class}") data-testid=testid on:toggle=move |_| {
            if !opened.get_untracked() {
                opened.set(true);
            }
        }>
            <summary>{summary}</summary>
            {move || opened.get().then(|| shown(Arc::clone(&ask)))}
        </details>
    }
    .into_any()
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
