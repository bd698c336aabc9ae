//! The embed builder: pick options, see the widget live, copy the code; and a check of a price feed.

use cardfit::catalog::Catalog;
use cardfit::embed::config::{Part, colour};
use cardfit::embed::snippet::{Choice, Way, code};
use cardfit::feed::read;
use cardfit::scenario::to_query;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::address;
use crate::form::field::Segments;
use crate::lazy::lazy_view;
use crate::state::App;
use crate::words::t;

/// A feed that is served beside the page, to try with.
const SAMPLE_FEED: &str = "demo/feed.json";
/// The card that the widget of one card starts with.
const SAMPLE_CARD: &str = "rtx-4090";

/// What was picked.
#[derive(Clone, Copy)]
struct Picked {
    widget: RwSignal<&'static str>,
    layout: RwSignal<&'static str>,
    theme: RwSignal<&'static str>,
    order: RwSignal<&'static str>,
    feed: RwSignal<String>,
    accent: RwSignal<String>,
    reference: RwSignal<String>,
    cards: RwSignal<String>,
    providers: RwSignal<String>,
    allow: RwSignal<String>,
    hidden: RwSignal<Vec<&'static str>>,
    way: RwSignal<Way>,
}

impl Picked {
    fn new() -> Self {
        Self {
            widget: RwSignal::new("calculator"),
            layout: RwSignal::new("full"),
            theme: RwSignal::new("auto"),
            order: RwSignal::new("link"),
            feed: RwSignal::default(),
            accent: RwSignal::default(),
            reference: RwSignal::default(),
            cards: RwSignal::default(),
            providers: RwSignal::default(),
            allow: RwSignal::default(),
            hidden: RwSignal::default(),
            way: RwSignal::new(Way::Element),
        }
    }

    /// As the widget takes it; what it would take for granted is left out.
    fn choice(self, app: App) -> Choice {
        let lang = app.lang.get();
        let unless = |value: &'static str, usual: &str| {
            if value == usual {
                String::new()
            } else {
                value.to_owned()
            }
        };
        Choice {
            options: vec![
                ("widget", unless(self.widget.get(), "calculator")),
                ("feed", self.feed.get().trim().to_owned()),
                ("lang", lang.tag().to_owned()),
                ("theme", unless(self.theme.get(), "auto")),
                (
                    "accent",
                    colour(self.accent.get().trim()).unwrap_or_default(),
                ),
                ("layout", unless(self.layout.get(), "full")),
                ("hide", self.hidden.get().join(",")),
                ("cards", self.cards.get().trim().to_owned()),
                ("providers", self.providers.get().trim().to_owned()),
                ("allow", self.allow.get().trim().to_owned()),
                ("order", unless(self.order.get(), "link")),
                ("ref", self.reference.get().trim().to_owned()),
            ],
            scenario: app.scenario.with(to_query),
            title: text(lang, "embed.title", &[]),
        }
    }
}

lazy_view! {
    part = tools;
    /// The builder, loaded when it is first looked at.
    pub fn builder() {
        view! { <EmbedBuilder /> }.into_any()
    }
}

/// The builder.
#[component]
fn EmbedBuilder() -> impl IntoView {
    let app = App::get();
    let picked = Picked::new();
    let choice = Memo::new(move |_| picked.choice(app));
    load_element();
    view! {
        <main class="builder">
            <section class="builder-options" aria-labelledby="builder-title">
                <h2 id="builder-title">{t("builder.title")}</h2>
                <p class="note">{t("builder.note")}</p>
                <Elsewhere />
                <Options picked />
            </section>
            <section class="builder-result" aria-labelledby="builder-code">
                <h2 id="builder-code">{t("builder.code")}</h2>
                <CodeBox picked choice />
                <h2>{t("builder.live")}</h2>
                <Live choice />
            </section>
            <FeedCheck />
        </main>
    }
}

/// The guide and the demo shop, in the page's language.
#[component]
fn Elsewhere() -> impl IntoView {
    let app = App::get();
    let beside = move |english: &'static str, chinese: &'static str| match app.lang.get() {
        Lang::En => english,
        Lang::ZhCn => chinese,
    };
    view! {
        <p class="builder-elsewhere">
            <a href=move || beside("embed/guide.txt", "embed/guide.zh-CN.txt") target="_blank">
                {t("builder.guide")}
            </a>
            <a href=move || beside("demo/en.html", "demo/index.html") target="_blank">
                {t("builder.demo")}
            </a>
        </p>
    }
}

#[component]
fn Options(picked: Picked) -> impl IntoView {
    let one = |name: &'static str,
               legend: &'static str,
               signal: RwSignal<&'static str>,
               entries: Vec<(&'static str, &'static str)>| {
        view! {
            <Segments
                name=name
                legend=legend
                value=Memo::new(move |_| signal.get())
                entries=entries
                choose=move |value| signal.set(value)
            />
        }
    };
    view! {
        <div class="builder-fields">
            <Segments
                name="embed-widget"
                legend="builder.widget"
                value=Memo::new(move |_| picked.widget.get())
                entries=vec![("calculator", "builder.widget.calculator"), ("card", "builder.widget.card")]
                choose=move |value| {
                    picked.widget.set(value);
                    // The widget of one card is about some card.
                    if value == "card" && picked.cards.with_untracked(|cards| cards.trim().is_empty()) {
                        picked.cards.set(SAMPLE_CARD.to_owned());
                    }
                }
            />
            <TextField
                id="embed-feed"
                label="builder.feed"
                note="builder.feed.note"
                value=picked.feed
            />
            <button
                type="button"
                class="quiet"
                data-testid="embed-sample"
                on:click=move |_| picked.feed.set(address::beside(SAMPLE_FEED))
            >
                {t("builder.feed.sample")}
            </button>
            {one(
                "embed-layout",
                "builder.layout",
                picked.layout,
                vec![("full", "builder.layout.full"), ("compact", "builder.layout.compact")],
            )}
            {one(
                "embed-theme",
                "page.theme",
                picked.theme,
                vec![
                    ("auto", "page.theme.system"),
                    ("light", "page.theme.light"),
                    ("dark", "page.theme.dark"),
                ],
            )}
            <TextField
                id="embed-accent"
                label="builder.accent"
                note="builder.accent.note"
                value=picked.accent
            />
            {one(
                "embed-order",
                "builder.order",
                picked.order,
                vec![("link", "builder.order.link"), ("event", "builder.order.event")],
            )}
            <TextField id="embed-ref" label="builder.ref" note="builder.ref.note" value=picked.reference />
            <TextField id="embed-cards" label="builder.cards" note="builder.cards.note" value=picked.cards />
            <details class="more">
                <summary>{t("builder.more")}</summary>
                <TextField
                    id="embed-providers"
                    label="builder.providers"
                    note="builder.providers.note"
                    value=picked.providers
                />
                <TextField id="embed-allow" label="builder.allow" note="builder.allow.note" value=picked.allow />
            </details>
            <Hidden picked />
        </div>
    }
}

#[component]
fn TextField(
    id: &'static str,
    label: &'static str,
    note: &'static str,
    value: RwSignal<String>,
) -> impl IntoView {
    let note_id = format!("{id}-note");
    view! {
        <div class="field">
            <label for=id>{t(label)}</label>
            <div class="input">
                <input
                    id=id
                    data-testid=id
                    type="text"
                    autocomplete="off"
                    spellcheck="false"
                    aria-describedby=note_id.clone()
                    prop:value=value
                    on:change=move |event| value.set(event_target_value(&event))
                />
            </div>
            <p class="note" id=note_id>
                {t(note)}
            </p>
        </div>
    }
}

/// Parts that can be left out.
#[component]
fn Hidden(picked: Picked) -> impl IntoView {
    let key = |part: Part| match part {
        Part::Header => "builder.part.header",
        Part::Form => "builder.part.form",
        Part::Assumptions => "builder.part.assumptions",
        Part::Others => "builder.part.others",
        Part::Share => "builder.part.share",
    };
    view! {
        <fieldset class="builder-parts">
            <legend>{t("builder.parts")}</legend>
            {Part::ALL
                .into_iter()
                .map(|(part, name)| {
                    view! {
                        <label class="check">
                            <input
                                type="checkbox"
                                data-testid=format!("embed-part-{name}")
                                prop:checked=move || picked.hidden.with(|hidden| !hidden.contains(&name))
                                on:change=move |event| {
                                    let shown = event_target_checked(&event);
                                    picked
                                        .hidden
                                        .update(|hidden| {
                                            hidden.retain(|known| *known != name);
                                            if !shown {
                                                hidden.push(name);
                                            }
                                        });
                                }
                            />
                            {t(key(part))}
                        </label>
                    }
                })
                .collect_view()}
        </fieldset>
    }
}

/// The code of one way, to copy.
#[component]
fn CodeBox(picked: Picked, choice: Memo<Choice>) -> impl IntoView {
    let app = App::get();
    let copied = RwSignal::new(false);
    let shown = Memo::new(move |_| code(picked.way.get(), &address::folder(), &choice.get()));
    Effect::new(move |_| {
        shown.track();
        copied.set(false);
    });
    let name = Memo::new(move |_| picked.way.get().name());
    view! {
        <Segments
            name="embed-way"
            legend="builder.way"
            value=name
            entries=vec![
                ("frame", "builder.way.frame"),
                ("element", "builder.way.element"),
                ("module", "builder.way.module"),
            ]
            choose=move |name| {
                if let Some(way) = Way::ALL.into_iter().find(|way| way.name() == name) {
                    picked.way.set(way);
                }
            }
        />
        <pre class="code" tabindex="0" data-testid="embed-code">
            <code>{shown}</code>
        </pre>
        <button
            type="button"
            class="quiet"
            data-testid="embed-copy"
            on:click=move |_| crate::share::copy(&shown.get_untracked(), copied)
        >
            {move || {
                let key = if copied.get() { "share.copied" } else { "builder.copy" };
                text(app.lang.get(), key, &[])
            }}
        </button>
    }
}

/// The widget as it will be, made anew when an option changes, as the browser makes it from the code.
#[component]
fn Live(choice: Memo<Choice>) -> impl IntoView {
    let place = NodeRef::<leptos::html::Div>::new();
    Effect::new(move |_| {
        let choice = choice.get();
        let (Some(place), Ok(element)) = (place.get(), document().create_element("card-fit"))
        else {
            return;
        };
        let scenario = [("scenario", choice.scenario)];
        for (name, value) in choice.options.iter().chain(&scenario) {
            if !value.is_empty() {
                let _refused = element.set_attribute(name, value);
            }
        }
        place.replace_children_with_node_1(&element);
    });
    view! { <div node_ref=place data-testid="embed-live"></div> }
}

/// Says of a feed what the widget will make of it.
#[component]
fn FeedCheck() -> impl IntoView {
    let app = App::get();
    let json = RwSignal::new(String::new());
    let report = move || {
        let lang = app.lang.get();
        json.with(|json| (!json.trim().is_empty()).then(|| checked(lang, json)))
    };
    view! {
        <section class="builder-check" aria-labelledby="feed-check-title">
            <h2 id="feed-check-title">{t("builder.check")}</h2>
            <p class="note">
                {t("builder.check.note")} " " <a href="embed/feed.schema.json">{t("builder.check.schema")}</a>
            </p>
            <textarea
                rows="8"
                spellcheck="false"
                aria-labelledby="feed-check-title"
                data-testid="feed-check"
                prop:value=json
                on:input=move |event| json.set(event_target_value(&event))
            ></textarea>
            <div role="status" data-testid="feed-report">
                {move || {
                    report()
                        .map(|(line, issues)| {
                            view! {
                                <p>{line}</p>
                                <ul class="plain">
                                    {issues.into_iter().map(|issue| view! { <li>{issue}</li> }).collect_view()}
                                </ul>
                            }
                        })
                }}
            </div>
        </section>
    }
}

fn checked(lang: Lang, json: &str) -> (String, Vec<String>) {
    let today: String = js_sys::Date::new_0().to_iso_string().into();
    match read(json, Catalog::embedded(), today.get(..10)) {
        Ok((feed, issues)) => (
            text(
                lang,
                "builder.check.used",
                &[
                    ("n", &feed.offers.len().to_string()),
                    ("name", &feed.provider),
                ],
            ),
            issues.iter().map(|issue| issue.message(lang)).collect(),
        ),
        Err(issues) => (
            text(lang, "builder.check.refused", &[]),
            issues.iter().map(|issue| issue.message(lang)).collect(),
        ),
    }
}

/// Loads the element's script once, as a page that embeds it does.
fn load_element() {
    const ID: &str = "card-fit-script";
    if document().get_element_by_id(ID).is_some() {
        return;
    }
    let made = document().create_element("script");
    if let (Ok(script), Some(head)) = (made, document().head()) {
        let _refused = script.set_attribute("id", ID);
        let _refused = script.set_attribute("src", "embed/v1.js");
        let _refused = head.append_child(&script);
    }
}
