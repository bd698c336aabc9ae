//! The widget itself.

mod notes;

use std::sync::Arc;
use std::time::Duration;

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::embed::answer::{Answer, Form};
use cardfit::embed::config::{Config, Layout, Part, Widget as Kind, button, readable_on};
use cardfit::embed::message::{INCOMING, Incoming, OUTGOING};
use cardfit::embed::{CONTRACT_VERSION, said_by};
use cardfit::feed::{FEED_SCHEMA, FeedIssue, IssueKind, Shop, Supply, read};
use cardfit::offers::Offer;
use cardfit::scenario::parse;
use cardfit::text::{Lang, text};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::json;

use notes::{Assumptions, FeedNotice, Foot};

use super::bridge::Bridge;
use super::card::CardWidget;
use super::offers::Offers;
use super::stock::Stock;
use super::{feed, height};
use crate::form::{ScenarioForm, ShortForm};
use crate::notice::LinkNoticePanel;
use crate::state::App;
use crate::verdict::VerdictPanel;
use crate::words::t;

/// Offers in a `change` message.
const OFFERS_TOLD: usize = 5;
/// Rest after which a change is told, so that not every keystroke is.
const PAUSE: Duration = Duration::from_millis(300);

/// How the operator's feed fares.
#[derive(Debug, Clone, PartialEq)]
pub enum FeedState {
    /// None was asked for.
    None,
    /// On its way.
    Awaited,
    /// In use; whether its prices are old.
    Used {
        /// The prices may no longer hold; the day that says so.
        stale: Option<String>,
    },
    /// Could not be used, and reference prices stand in.
    Failed,
}

/// Handles to what the widget adds to the page's state.
#[derive(Clone, Copy)]
pub struct Embed {
    /// What the embedding page asked for.
    pub config: StoredValue<Config>,
    /// How much is shown.
    pub layout: Layout,
    /// The way to the embedding page.
    pub bridge: Bridge,
    stock: RwSignal<Stock>,
    feed: RwSignal<FeedState>,
    /// The scenario as it was asked for: what it says itself, no feed changes.
    asked: StoredValue<String>,
}

impl Embed {
    /// The state that [`Widget`] provides.
    pub fn get() -> Self {
        expect_context()
    }

    /// Follows what is sold, for a view of rows: the rows read it without following it.
    pub fn track_stock(self) {
        self.stock.track();
    }

    /// The operator's offer behind one of the ranking, and whether it is there.
    pub fn find(self, offer: &Offer) -> Option<(String, Supply)> {
        self.stock.with_untracked(|stock| {
            let found = stock.shop()?.find(offer)?;
            Some((found.offer.id.clone(), found.supply))
        })
    }

    /// The card that the widget of one card is about: the first of the scenario's, else the first that is sold.
    pub fn card(self, app: App) -> Option<String> {
        let named = app.scenario.with(|s| s.shelf.cards.first().cloned());
        named.or_else(|| {
            self.stock.with(|stock| {
                let shop = stock.shop()?;
                shop.cards().first().map(|card| (*card).to_owned())
            })
        })
    }

    /// Region and stock of an offer, in words.
    pub fn place(self, lang: Lang, offer: &Offer) -> Option<String> {
        self.stock.with_untracked(|stock| {
            let found = stock.shop()?.find(offer)?;
            let region = found
                .offer
                .region
                .as_ref()
                .map(|r| r.in_lang(lang).to_owned());
            // The foot names the shop; a row names who rents it out where that is somebody else.
            let provider = found.offer.provider.clone();
            let supply = match found.supply {
                Supply::InStock => text(lang, "embed.stock.in", &[]),
                Supply::Low => text(lang, "embed.stock.low", &[]),
                Supply::Short { free_cards } => {
                    text(lang, "embed.stock.short", &[("n", &free_cards.to_string())])
                }
                Supply::Out => text(lang, "embed.stock.out", &[]),
            };
            let name = found
                .offer
                .name
                .as_ref()
                .map(|n| n.in_lang(lang).to_owned());
            let parts: Vec<String> = [name, provider, region, Some(supply)]
                .into_iter()
                .flatten()
                .collect();
            Some(parts.join(" · "))
        })
    }

    /// The address where an offer is ordered.
    pub fn order_url(self, app: App, offer: &Offer, lang: Lang) -> Option<String> {
        self.stock.with_untracked(|stock| {
            let shop = stock.shop()?;
            app.scenario.with_untracked(|scenario| {
                self.config
                    .with_value(|c| shop.order_url(offer, scenario, lang, &c.reference))
            })
        })
    }

    /// Takes a feed in the place of what is answered from. One that cannot be used changes nothing but is told.
    fn take_feed(self, app: App, json: &str) {
        let today: String = js_sys::Date::new_0().to_iso_string().into();
        match read(json, Catalog::embedded(), today.get(..10)) {
            Ok((taken, issues)) => {
                let stale = issues.iter().find(|i| i.kind == IssueKind::Stale);
                let stale = stale.map(|issue| issue.bound.clone());
                let offers = taken.offers.len();
                let shop = Shop::new(taken, Catalog::embedded());
                self.tell_feed(app, "used", offers, &issues);
                self.stock.set(Stock::Shop(Arc::new(shop)));
                self.feed.set(FeedState::Used { stale });
                self.enter_terms(app);
            }
            Err(issues) => {
                self.tell_feed(app, "refused", 0, &issues);
                let too_large = issues.iter().any(|i| i.kind == IssueKind::TooLarge);
                self.fail(
                    app,
                    if too_large {
                        "feed_too_large"
                    } else {
                        "feed_invalid"
                    },
                );
            }
        }
    }

    /// Puts the operator's currency, storage and traffic into the scenario, where it does not say its own.
    fn enter_terms(self, app: App) {
        let mut scenario = app.scenario.get_untracked();
        self.stock.with_untracked(|stock| {
            if let Some(shop) = stock.shop() {
                let said = self.asked.with_value(|asked| said_by(asked));
                shop.feed().enter(&mut scenario, said);
            }
        });
        if app.scenario.with_untracked(|now| *now != scenario) {
            // What the link's remarks say holds as before.
            let notice = app.notice.get_untracked();
            app.load(scenario);
            app.notice.set(notice);
        }
    }

    fn tell_feed(self, app: App, outcome: &str, offers: usize, issues: &[FeedIssue]) {
        /// Lines on the console; the message has them all.
        const LINES: usize = 50;
        let lang = app.lang.get_untracked();
        for issue in issues.iter().take(LINES) {
            leptos::logging::warn!("CardFit feed: {}", issue.message(lang));
        }
        let issues: Vec<_> = issues
            .iter()
            .map(|issue| json!({"path": issue.path, "kind": issue.kind, "effect": issue.effect, "message": issue.message(lang)}))
            .collect();
        self.bridge.send(
            "feed",
            &json!({ "outcome": outcome, "offers": offers, "issues": issues }),
        );
    }

    /// The feed cannot be used: an earlier one stays, else reference prices stand in, marked as such.
    fn fail(self, app: App, code: &str) {
        let lang = app.lang.get_untracked();
        let said = text(lang, &format!("embed.error.{code}"), &[]);
        leptos::logging::warn!("CardFit: {said}");
        self.bridge
            .send("error", &json!({ "code": code, "message": said }));
        if self.stock.with_untracked(|stock| stock.shop().is_none()) {
            self.feed.set(FeedState::Failed);
        }
    }

    fn obey(self, app: App, asked: Incoming) {
        match asked {
            Incoming::SetScenario(query) => {
                app.open_link(&query);
                self.asked.set_value(query);
                self.enter_terms(app);
            }
            Incoming::SetFeed(json) => self.take_feed(app, &json),
            Incoming::SetTheme { theme, accent } => {
                if let Some(theme) = theme {
                    set_root("data-theme", theme);
                }
                if let Some(accent) = accent {
                    show_accent(&accent);
                }
            }
            Incoming::SetLanguage(lang) => spawn_local(async move {
                app.turn_to(lang).await;
            }),
        }
    }
}

fn set_root(attribute: &str, value: &str) {
    if let Some(root) = document().document_element() {
        let _refused = root.set_attribute(attribute, value);
    }
}

/// Shows the accent colour, on buttons and in text as near to it as can be read.
fn show_accent(colour: &str) {
    use wasm_bindgen::JsCast;
    /// The widget's sheets, light and dark (`page/style/main.css`).
    const SHEETS: [(&str, &str); 2] = [("--accent-light", "fffefb"), ("--accent-dark", "1b201f")];
    let Some(root) = document().document_element() else {
        return;
    };
    let Ok(root) = root.dyn_into::<web_sys::HtmlElement>() else {
        return;
    };
    let style = root.style();
    let set = |name: &str, value: &str| {
        let _refused = style.set_property(name, value);
    };
    let (ground, ink) = button(colour);
    set("--accent-given", &format!("#{ground}"));
    set("--on-accent-given", &format!("#{ink}"));
    for (name, sheet) in SHEETS {
        set(name, &format!("#{}", readable_on(colour, sheet)));
    }
    let _refused = root.set_attribute("data-accent", "");
}

/// The widget. Provides [`Embed`] to all its parts.
#[component]
pub fn Widget() -> impl IntoView {
    let config = super::config();
    let app = App::get();
    let embed = start(app, config);
    provide_context(embed);
    let root = NodeRef::<leptos::html::Div>::new();
    Effect::new(move |_| {
        if let Some(root) = root.get() {
            let has_answer = move || embed.feed.with_untracked(|f| *f != FeedState::Awaited);
            height::follow(embed.bridge, &root, has_answer);
        }
    });
    let kind = embed.config.with_value(|c| c.widget);
    let shows = move |part| embed.config.with_value(|c| c.shows(part));
    view! {
        <div
            node_ref=root
            class="widget"
            class:compact=embed.layout == Layout::Compact
            data-testid="widget"
        >
            {(shows(Part::Header) && kind == Kind::Calculator)
                .then(|| view! { <h1 class="widget-title">{t("embed.title")}</h1> })}
            <FeedNotice />
            <LinkNoticePanel />
            <Show when=move || kind == Kind::Card && embed.feed.with(|f| *f != FeedState::Awaited)>
                <CardWidget />
            </Show>
            <Show when=move || kind == Kind::Calculator && embed.feed.with(|f| *f != FeedState::Awaited)>
                <div class="widget-body" class:alone=!shows(Part::Form)>
                    {shows(Part::Form)
                        .then(|| match embed.layout {
                            Layout::Full => view! { <ScenarioForm /> }.into_any(),
                            Layout::Compact => view! { <ShortForm /> }.into_any(),
                        })}
                    <div class="widget-answer">
                        <VerdictPanel />
                        <Offers />
                        {shows(Part::Assumptions).then(|| view! { <Assumptions /> })}
                    </div>
                </div>
            </Show>
            <Foot />
        </div>
    }
}

/// Opens the bridge, shows what was asked for, and starts to tell of changes.
fn start(app: App, config: Config) -> Embed {
    let bridge = Bridge::open(&config);
    if let Some(accent) = &config.accent {
        show_accent(accent);
    }
    set_root("data-theme", crate::address::Theme::asked().name());
    if !config.providers.is_empty() {
        app.stock.set(Stock::of_providers(&config.providers));
    }
    let awaited = config.awaits_feed || config.feed.is_some();
    let embed = Embed {
        layout: config.layout,
        bridge,
        stock: app.stock,
        feed: RwSignal::new(if awaited {
            FeedState::Awaited
        } else {
            FeedState::None
        }),
        asked: StoredValue::new(config.scenario.clone()),
        config: StoredValue::new(config),
    };
    Effect::new(move |_| {
        let lang = app.lang.get();
        document().set_title(&text(lang, "embed.title", &[]));
        set_root("lang", lang.tag());
    });
    bridge.listen(move |asked| embed.obey(app, asked));
    let kind = embed.config.with_value(|c| c.widget);
    bridge.send(
        "ready",
        &json!({
            "version": CONTRACT_VERSION,
            "feed_schema": FEED_SCHEMA,
            "widget": match kind { Kind::Calculator => "calculator", Kind::Card => "card" },
            "takes": INCOMING,
            "sends": OUTGOING,
            "lang": app.lang.get_untracked().tag(),
        }),
    );
    if let Some(address) = embed.config.with_value(|c| c.feed.clone()) {
        spawn_local(async move {
            match feed::fetch(&address).await {
                Ok(json) => embed.take_feed(app, &json),
                Err(error) => embed.fail(app, error.code()),
            }
        });
    } else if awaited {
        // A feed that never comes must not leave the widget waiting for ever.
        set_timeout(
            move || {
                if embed.feed.get_untracked() == FeedState::Awaited {
                    embed.fail(app, "feed_missing");
                }
            },
            Duration::from_secs(10),
        );
    }
    tell_changes(app, embed);
    embed
}

/// Tells the embedding page of every change of scenario or answer, once it has rested.
fn tell_changes(app: App, embed: Embed) {
    Effect::new(move |earlier: Option<Option<TimeoutHandle>>| {
        if let Some(Some(timer)) = earlier {
            timer.clear();
        }
        app.answer.track();
        let lang = app.lang.get();
        if embed.feed.with(|f| *f == FeedState::Awaited) {
            return None;
        }
        let tell = move || {
            let answer = app.scenario.with_untracked(|scenario| {
                app.stock.with_untracked(|stock| {
                    let ranking = stock.rank(scenario, PriceBook::embedded());
                    embed.config.with_value(|config| {
                        let form = Form {
                            lang,
                            limit: OFFERS_TOLD,
                            all_counts: false,
                            reference: &config.reference,
                        };
                        Answer::new(&ranking, scenario, stock.source(), form)
                    })
                })
            });
            embed.bridge.send("change", &answer);
        };
        set_timeout_with_handle(tell, PAUSE).ok()
    });
}

/// Replaces the scenario by that of a link, as the embedding page asked.
impl App {
    fn open_link(self, query: &str) {
        self.load(parse(query, Catalog::embedded()).scenario);
    }
}
