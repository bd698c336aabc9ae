//! The page's state: one scenario, and what follows from it.
//!
//! Every input is a link parameter. An edit writes the scenario as a link, changes the parameter in it and reads the
//! link back, so an input obeys exactly the rules that a link does, and the address bar is always the scenario.

mod edits;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cardfit::catalog::{Catalog, Currency, PriceBook};
use cardfit::offers::Ranking;
use cardfit::rental::BookEdits;
use cardfit::scenario::{JobKind, Money, Problem, Scenario, encode_pairs, parse, to_query};
use cardfit::share::Stamp;
use cardfit::text::Lang;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::address;
use crate::answer::Answer;
use crate::begin::Opened;
use crate::embed::stock::Stock;
use crate::texts;
use crate::views::View;
use edits::JobGroup;

/// How an edit was made: a figure being typed replaces the history's entry, a choice adds one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A step of a drag: the address follows when it is let go.
    Dragging,
    /// One keystroke of many.
    Typing,
    /// A choice that "back" should undo.
    Choice,
}

/// What a link, or a scenario after a choice, said that could not be used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinkNotice {
    /// Values that were replaced or left out.
    pub problems: Vec<Problem>,
    /// Parameters that nobody knows.
    pub unknown: Vec<(String, String)>,
}

/// How many times as fast as estimated a card was.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredSpeed {
    /// Card id.
    pub card: String,
    /// Measured over estimated speed.
    pub factor: f64,
}

type Pairs = Vec<(String, String)>;

/// Parameters of a view, by name.
pub type ViewParams = BTreeMap<&'static str, String>;

/// Handles to the state; copied freely.
#[derive(Clone, Copy)]
pub struct App {
    /// The scenario: always valid.
    pub scenario: RwSignal<Scenario>,
    /// What was changed of the price book.
    pub edits: RwSignal<BookEdits>,
    /// The price book with these changes.
    pub book: Memo<Arc<PriceBook>>,
    /// What it is answered from.
    pub stock: RwSignal<Stock>,
    /// What is looked at.
    pub view: RwSignal<View>,
    /// What the view shows of it: the view's own parameters.
    pub at: RwSignal<ViewParams>,
    /// The answer to it.
    pub answer: Memo<Arc<Answer>>,
    /// The currency of the scenario.
    pub currency: Memo<Currency>,
    /// What the links to other views begin with; it follows a drag when that is let go.
    link: Memo<String>,
    /// The answer by estimates alone, whatever was measured.
    pub unscaled: Memo<Arc<Answer>>,
    /// A speed that was measured and that answers of this session count with.
    pub measured_speed: RwSignal<Option<MeasuredSpeed>>,
    /// Language of the page.
    pub lang: RwSignal<Lang>,
    /// A language was asked for whose texts could not be loaded.
    pub lang_missing: RwSignal<bool>,
    lang_wanted: StoredValue<Lang>,
    /// Whether the language was asked for, by the link or the switch, so that the link keeps it.
    lang_asked: RwSignal<bool>,
    /// Inputs that hold something that cannot be used, by parameter.
    pub bad_inputs: RwSignal<BTreeMap<String, Problem>>,
    /// Remarks on inputs that are used all the same, by parameter.
    pub remarks: Memo<BTreeMap<String, Problem>>,
    /// What the opened link said that could not be used.
    pub notice: RwSignal<LinkNotice>,
    /// What the opened link answered when it was shared; forgotten at the first change.
    pub shared: RwSignal<Option<Stamp>>,
    /// The opened link brought its sender's price book, and nobody has put the notice away.
    pub brings_book: RwSignal<bool>,
    /// Grows when the whole scenario is replaced: inputs drop what was half typed.
    pub replaced: RwSignal<u32>,
    /// Cards whose rows are open.
    pub opened: RwSignal<BTreeSet<String>>,
    /// The count looked at in a card's detail, by card, where it is not the best.
    pub looked_at: RwSignal<BTreeMap<String, u32>>,
    /// Whether every row is shown, or the first few.
    pub all_rows: RwSignal<bool>,
    /// The card whose row is pointed at.
    pub pointed: RwSignal<Option<String>>,
    /// The card whose dot is pointed at.
    pub pointed_in_chart: RwSignal<Option<String>>,
    /// The card that was opened last, in the table or by its dot.
    pub selected: RwSignal<Option<String>>,
    /// Whether a small screen shows the form as two lines.
    pub form_folded: RwSignal<bool>,
    /// Cards chosen to be compared, in the order in which they were.
    pub compared: RwSignal<Vec<String>>,
    /// A limit is being dragged: until it is let go, the offers that there are stand by the new limits.
    pub dragging: RwSignal<bool>,
    parked: StoredValue<BTreeMap<JobGroup, Pairs>>,
    /// Parameters of the opened link that nobody knows: they stay in the link for whoever does.
    unknown: RwSignal<Pairs>,
}

impl App {
    /// State of the page at its present address.
    pub fn open(opened: Opened) -> Self {
        let asked = address::lang();
        let Opened {
            parsed,
            edits,
            brings_book,
            ranking: made,
        } = opened;
        let scenario = RwSignal::new(parsed.scenario);
        let edits = RwSignal::new(edits);
        let book: Memo<Arc<PriceBook>> =
            Memo::new(move |_| Arc::new(edits.with(|e| e.apply(PriceBook::embedded()))));
        let stock = RwSignal::new(Stock::default());
        let dragging = RwSignal::new(false);
        let made = StoredValue::new(made);
        let ranking: Memo<Arc<Ranking>> = Memo::new(move |before: Option<&Arc<Ranking>>| {
            // Nothing is followed then: the ranking waits until the limit is let go.
            if let (true, Some(before)) = (dragging.get(), before) {
                return Arc::clone(before);
            }
            let book = book.get();
            let rank = |s: &Scenario| {
                let made = made.try_update_value(Option::take).flatten();
                stock.with(|stock| made.unwrap_or_else(|| stock.rank(s, &book)))
            };
            Arc::new(scenario.with(rank))
        });
        let measured_speed = RwSignal::new(None::<MeasuredSpeed>);
        let rescaled =
            move || match measured_speed.get() {
                Some(MeasuredSpeed { card, factor }) => Arc::new(scenario.with(|s| {
                    cardfit::offers::with_measured_speed(&ranking.get(), s, &card, factor)
                })),
                None => ranking.get(),
            };
        let unknown = RwSignal::new(parsed.unknown.clone());
        let app = Self {
            scenario,
            currency: Memo::new(move |_| scenario.with(|s| s.money.currency)),
            link: Memo::new(
                move |before: Option<&String>| match (dragging.get(), before) {
                    (true, Some(before)) => before.clone(),
                    _ => scenario_link(scenario, unknown),
                },
            ),
            edits,
            book,
            stock,
            measured_speed,
            unscaled: Memo::new(move |_| {
                Arc::new(scenario.with(|s| Answer::new(&ranking.get(), s)))
            }),
            view: RwSignal::new(address::view()),
            at: RwSignal::new(address::view_params()),
            answer: Memo::new_owning(move |before: Option<Arc<Answer>>| {
                let drags = dragging.get();
                let now = match (&before, drags) {
                    (Some(before), true) => scenario.with(|s| Answer::under_limits(before, s)),
                    _ => Arc::new(scenario.with(|s| Answer::new(&rescaled(), s))),
                };
                // Once a frame, comparing every figure of every offer takes longer than looking again at what is shown.
                let changed = before
                    .is_none_or(|before| !Arc::ptr_eq(&before, &now) && (drags || *before != *now));
                (now, changed)
            }),
            lang: RwSignal::new(address::lang_to_speak()),
            lang_missing: RwSignal::new(false),
            lang_wanted: StoredValue::new(address::lang_to_speak()),
            lang_asked: RwSignal::new(asked.is_some()),
            bad_inputs: RwSignal::default(),
            remarks: Memo::new(move |before: Option<&BTreeMap<String, Problem>>| {
                if let (true, Some(before)) = (dragging.get(), before) {
                    return before.clone();
                }
                let link = scenario.with(to_query);
                let mut remarks = BTreeMap::new();
                for problem in parse(&link, Catalog::embedded()).problems {
                    remarks.insert(problem.param.clone(), problem);
                }
                remarks
            }),
            unknown,
            shared: RwSignal::new(address::stamp()),
            brings_book: RwSignal::new(brings_book),
            notice: RwSignal::new(LinkNotice {
                problems: parsed.problems,
                unknown: parsed.unknown,
            }),
            replaced: RwSignal::new(0),
            opened: RwSignal::default(),
            looked_at: RwSignal::default(),
            all_rows: RwSignal::new(false),
            pointed: RwSignal::default(),
            pointed_in_chart: RwSignal::default(),
            selected: RwSignal::default(),
            form_folded: RwSignal::new(true),
            compared: RwSignal::default(),
            dragging,
            parked: StoredValue::default(),
        };
        let back = window_event_listener(leptos::ev::popstate, move |_| app.follow_address());
        on_cleanup(move || back.remove());
        app
    }

    /// The state that [`crate::app::Page`] provides.
    pub fn get() -> Self {
        expect_context()
    }

    /// Back or forward was pressed, or a link to a place in the page, which must not cost what stands behind the `#`.
    fn follow_address(self) {
        if address::is_at_anchor() {
            self.write_address(Pace::Typing);
            return;
        }
        self.shared.set(address::stamp());
        let parsed = parse(&address::link(), Catalog::embedded());
        let asked = address::lang();
        self.lang_asked.set(asked.is_some());
        if let Some(lang) = asked {
            spawn_local(async move {
                self.turn_to(lang).await;
            });
        }
        self.unknown.set(parsed.unknown.clone());
        self.notice.set(LinkNotice {
            problems: parsed.problems,
            unknown: parsed.unknown,
        });
        self.replace(parsed.scenario);
        self.at.set(address::view_params());
        // Last: effects run in the order in which they are told, and those of a view that has been left have lost what
        // they would read.
        self.view.set(address::view());
    }

    fn replace(self, scenario: Scenario) {
        self.bad_inputs.update(BTreeMap::clear);
        self.scenario.set(scenario);
        self.replaced.update(|n| *n = n.wrapping_add(1));
    }

    /// Puts another scenario in the place of this one, as a preset does.
    pub fn load(self, scenario: Scenario) {
        self.notice.set(LinkNotice::default());
        self.replace(scenario);
        self.write_address(Pace::Choice);
    }

    /// Puts the scenario of a link in the place of this one. Of the money only its limits and ways of
    /// billing are taken: currency, rates, own prices and what surrounds them stay as they are.
    pub fn load_link(self, link: &str) {
        let mut scenario = parse(link, Catalog::embedded()).scenario;
        let own = self.scenario.with_untracked(|s| s.money.clone());
        scenario.money.cny_per_usd = own.cny_per_usd;
        scenario.money.usd_per_eur = own.usd_per_eur;
        let asked = scenario.money.in_currency(own.currency);
        scenario.money = Money {
            billing: asked.billing,
            budget: asked.budget,
            deadline_hours: asked.deadline_hours,
            ..own
        };
        self.load(scenario);
    }

    /// Speaks another language from now on.
    pub fn speak(self, lang: Lang) {
        spawn_local(async move {
            if self.turn_to(lang).await {
                self.lang_asked.set(true);
                self.write_address(Pace::Typing);
            }
        });
    }

    /// Speaks `lang` as soon as its texts are there, and still the present language where they cannot be had or another was
    /// asked for meanwhile. Whether it does.
    pub async fn turn_to(self, lang: Lang) -> bool {
        self.lang_wanted.set_value(lang);
        let loaded = texts::load(lang).await.is_ok();
        if self.lang_wanted.get_value() != lang {
            return false;
        }
        self.lang_missing.set(!loaded);
        if loaded {
            self.lang.set(lang);
        }
        loaded
    }

    /// Turns to another view of the same scenario.
    pub fn look_at(self, view: View) {
        self.go(view, &[]);
    }

    /// Turns to another view, with these parameters of it.
    pub fn go(self, view: View, params: &[(&'static str, &str)]) {
        self.at.set(view_params(params));
        self.view.set(view);
        self.write_address(Pace::Choice);
        window().scroll_to_with_x_and_y(0.0, 0.0);
    }

    /// Changes a parameter of the present view; an empty value takes it out.
    pub fn set_at(self, param: &'static str, value: &str) {
        self.at.update(|at| {
            if value.is_empty() {
                at.remove(param);
            } else {
                at.insert(param, value.to_owned());
            }
        });
        self.write_address(Pace::Choice);
    }

    /// A parameter of the present view; followed.
    pub fn at(self, param: &'static str) -> Option<String> {
        self.at.with(|at| at.get(param).cloned())
    }

    /// The query of what is on the page.
    pub fn link(self) -> String {
        let scenario = untrack(|| scenario_link(self.scenario, self.unknown));
        Self::query(
            &scenario,
            self.view.get_untracked(),
            &self.at.get_untracked(),
            self.lang_asked
                .get_untracked()
                .then(|| self.lang.get_untracked()),
        )
    }

    /// The address of another view of the same scenario; follows both.
    pub fn link_to(self, view: View) -> String {
        self.link_with(view, &[])
    }

    /// The same with parameters of that view.
    pub fn link_with(self, view: View, params: &[(&'static str, &str)]) -> String {
        let scenario = self.link.get();
        let lang = self.lang_asked.get().then(|| self.lang.get());
        let query = Self::query(&scenario, view, &view_params(params), lang);
        format!("?{}", address::guarded(&query))
    }

    fn query(scenario: &str, view: View, at: &ViewParams, lang: Option<Lang>) -> String {
        let lang = lang.map(|lang| format!("lang={}", lang.tag()));
        let named = (view != View::default()).then(|| format!("view={}", view.name()));
        let at = view
            .params()
            .iter()
            .filter_map(|name| Some(format!("{name}={}", address::encode(at.get(name)?))));
        std::iter::once(scenario.to_owned())
            .filter(|scenario| !scenario.is_empty())
            .chain(named)
            .chain(at)
            .chain(lang)
            .collect::<Vec<_>>()
            .join("&")
    }

    fn write_address(self, pace: Pace) {
        if self.shared.with_untracked(Option::is_some) {
            self.shared.set(None);
        }
        if pace != Pace::Dragging {
            address::write(&self.link(), pace);
        }
    }
}

/// The scenario's query, and behind it what nobody here knows.
fn scenario_link(scenario: RwSignal<Scenario>, unknown: RwSignal<Pairs>) -> String {
    let known = scenario.with(to_query);
    let unknown =
        unknown.with(|pairs| encode_pairs(pairs.iter().map(|(n, v)| (n.as_str(), v.as_str()))));
    if unknown.is_empty() {
        known
    } else {
        format!("{known}&{unknown}")
    }
}

fn view_params(params: &[(&'static str, &str)]) -> ViewParams {
    let mut at = ViewParams::new();
    for (name, value) in params {
        at.insert(name, (*value).to_owned());
    }
    at
}

/// The kind of job of a scenario.
pub fn job_kind(scenario: &Scenario) -> JobKind {
    scenario.job.kind()
}
