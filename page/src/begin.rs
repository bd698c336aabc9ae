//! Starting the page without holding the browser up: in steps, between which it may paint and answer. What `index.html`
//! shows meanwhile stays until the page is whole.
//!
//! ```text
//! data files, some entries at a time -> the link -> its ranking, card by card -> the page, part by part
//!     -> in the place of the shell: the first screen, then the rest
//! ```

use std::collections::VecDeque;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::{Ranking, Survey};
use cardfit::rental::BookEdits;
use cardfit::scenario::{Parsed, parse};
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::MessageChannel;

use crate::app::Page;
use crate::lazy::PartMissing;
use crate::views::View;
use crate::{address, book, embed, texts};

/// Cards that are looked at in one step.
const CARDS: usize = 3;

/// What the page was opened with.
pub struct Opened {
    /// The scenario of the link.
    pub parsed: Parsed,
    /// Changes of the price book: the link's, or those that this browser keeps.
    pub edits: BookEdits,
    /// The link brings its sender's price book.
    pub brings_book: bool,
    /// The answer, where it was made in advance.
    pub ranking: Option<Ranking>,
}

impl Opened {
    /// Reads the present address, with the prices that ship: a widget touches no storage, its prices are the operator's.
    pub fn read() -> Self {
        Self {
            parsed: parse(&address::link(), Catalog::embedded()),
            brings_book: false,
            edits: BookEdits::default(),
            ranking: None,
        }
    }

    /// The same with the price book that the link brings, else the one that this browser keeps.
    async fn with_book(mut self) -> Result<Self, PartMissing> {
        if let Some(json) = address::brought_book() {
            self.edits = book::read(json).await?;
            self.brings_book = !self.edits.is_empty();
        }
        if !self.brings_book
            && let Some(json) = book::stored()
        {
            self.edits = book::read(json).await?;
        }
        Ok(self)
    }

    async fn ranked(mut self) -> Self {
        let book = self.edits.apply(PriceBook::embedded());
        let mut survey = Survey::new(&self.parsed.scenario, Catalog::embedded(), &book);
        pause().await;
        while (0..CARDS).all(|_| survey.next_card()) {
            pause().await;
        }
        self.ranking = Some(survey.ranking());
        self
    }
}

/// Puts the widget into the document.
pub async fn widget() {
    if texts::load(address::lang_to_speak()).await.is_err() {
        return cannot_start();
    }
    remove_shell();
    leptos::mount::mount_to_body(embed::Framed);
}

/// Puts the page into the document.
pub async fn page() {
    if texts::load(address::lang_to_speak()).await.is_err() {
        return cannot_start();
    }
    while Catalog::read_some() {
        pause().await;
    }
    let Ok(mut opened) = Opened::read().with_book().await else {
        return cannot_start();
    };
    if address::view() == View::Choose {
        opened = opened.ranked().await;
        pause().await;
    }
    let turns = Turns::default();
    leptos::mount::mount_to_body(move || {
        provide_context(turns);
        view! { <Page opened /> }
    });
    pause().await;
    while turns.next() {
        pause().await;
    }
    // What is below the first screen is laid out after it.
    let body = document().body().map(|body| body.class_list());
    if let Some(class) = &body {
        let _refused = class.add_1("begins");
    }
    remove_shell();
    pause().await;
    if let Some(class) = &body {
        let _refused = class.remove_1("begins");
    }
}

/// Without texts there is nothing to say, and without the prices that a person changed it would be another answer. The page says
/// what it says where its program did not arrive.
fn cannot_start() {
    if let Some(notice) = document().get_element_by_id("lost") {
        let _refused = notice.remove_attribute("hidden");
    }
}

/// Takes away what `index.html` shows until the page is there.
fn remove_shell() {
    if let Some(shell) = document().get_element_by_id("shell") {
        shell.remove();
    }
}

/// Lets the browser do what waits. A message and no timer: pages in the background have theirs a second apart.
async fn pause() {
    let Ok(channel) = MessageChannel::new() else {
        return;
    };
    let told = js_sys::Promise::new(&mut |told, _| {
        channel.port1().set_onmessage(Some(&told));
        let _refused = channel.port2().post_message(&JsValue::NULL);
    });
    let _message = JsFuture::from(told).await;
    channel.port1().close();
}

/// Parts of the page that wait for a step of their own while it starts, first come first served.
#[derive(Clone, Copy, Default)]
struct Turns {
    waiting: StoredValue<VecDeque<RwSignal<bool>>>,
    over: StoredValue<bool>,
}

impl Turns {
    fn wait(self) -> Option<RwSignal<bool>> {
        if self.over.get_value() {
            return None;
        }
        let turn = RwSignal::new(false);
        self.waiting.update_value(|turns| turns.push_back(turn));
        Some(turn)
    }

    /// Makes the next part. `false`: none waits, and none will.
    fn next(self) -> bool {
        let next = self.waiting.try_update_value(VecDeque::pop_front).flatten();
        match next {
            Some(turn) => {
                // A part that is gone needs none.
                let _gone = turn.try_set(true);
                true
            }
            None => {
                self.over.set_value(true);
                false
            }
        }
    }
}

/// A part of the page that is made in a step of its own while the page starts, and at once afterwards.
#[component]
pub fn Step(
    /// What it shows.
    children: Children,
) -> impl IntoView {
    let Some(turn) = use_context::<Turns>().and_then(Turns::wait) else {
        return children();
    };
    let mut children = Some(children);
    (move || {
        let now = turn.get();
        now.then(|| children.take().map(|children| children()))
    })
    .into_any()
}
