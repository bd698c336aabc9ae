//! The component that shows a drawing.

use leptos::html::Div;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;

use super::{Drawing, Mark, nearest, save};
use crate::words::t;

/// Width before the page has been laid out.
const FIRST_WIDTH: f64 = 640.0;
/// How near a pointer must come to a mark; a finger needs more.
const REACH: f64 = 28.0;

/// Width of an element as it is now and as it changes, in pixels.
pub fn width_of(node: NodeRef<Div>) -> Signal<f64> {
    let width = RwSignal::new(FIRST_WIDTH);
    Effect::new(move |_| {
        let Some(element) = node.get() else { return };
        let measured = element.clone();
        let measure = move || {
            let now = f64::from(measured.client_width());
            if now > 0.0 && (now - width.get_untracked()).abs() >= 1.0 {
                width.set(now);
            }
        };
        measure();
        let closure = Closure::<dyn Fn()>::new(measure);
        let Ok(observer) = web_sys::ResizeObserver::new(closure.as_ref().unchecked_ref()) else {
            return;
        };
        observer.observe(&element);
        // The browser keeps the closure for as long as it observes.
        let kept = StoredValue::new_local((observer, closure));
        on_cleanup(move || {
            kept.with_value(|(observer, _)| observer.disconnect());
        });
    });
    width.into()
}

/// Name of a mark and what there is to say about it, a line each.
pub type About = Option<(String, Vec<String>)>;

/// A drawing at the width that there is. Pointer and arrow keys go over its marks; a click, a tap or Enter chooses one.
#[component]
pub fn Plot(
    /// Name of the file that it is saved as, and the tests' handle.
    name: &'static str,
    /// What it shows, in a sentence.
    #[prop(into)]
    label: Signal<String>,
    /// Height by width, pixels.
    height: fn(f64) -> f64,
    /// Draws it at a size.
    draw: impl Fn(f64, f64) -> Drawing + Send + Sync + 'static,
    /// What there is to say about the mark of a key, where its drawing does not say it: name and lines.
    #[prop(optional, into)]
    about: Option<Callback<String, About>>,
    /// Key of the mark that is chosen.
    #[prop(optional, into)]
    chosen: Option<Signal<Option<String>>>,
    /// Key of the mark that stays ringed, without words beside it.
    #[prop(optional, into)]
    marked: Option<Signal<Option<String>>>,
    /// What choosing a mark does.
    #[prop(optional, into)]
    choose: Option<Callback<String>>,
    /// Told of the key of the mark that is pointed at, and when none is any more.
    #[prop(optional, into)]
    point: Option<Callback<Option<String>>>,
    /// What lies over the drawing: lines that can be dragged.
    #[prop(optional)]
    over: Option<fn(Memo<Drawing>) -> AnyView>,
) -> impl IntoView {
    let stage = NodeRef::<Div>::new();
    let width = width_of(stage);
    let drawing = Memo::new(move |_| {
        let width = width.get();
        draw(width, height(width))
    });
    let size = move || {
        let width = width.get();
        (width, height(width))
    };
    let view_box = move || {
        let (width, height) = size();
        format!("0 0 {width:.0} {height:.0}")
    };
    // Where the pointer or the arrow keys are.
    let at = RwSignal::new(None::<usize>);
    let mark = move |index: usize| drawing.with(|d| d.marks.get(index).cloned());
    let shown = Memo::new(move |_| {
        let chosen_mark = || {
            let key = chosen?.get()?;
            drawing.with(|d| d.marks.iter().find(|mark| mark.key == key).cloned())
        };
        let mut shown = at.get().and_then(mark).or_else(chosen_mark)?;
        if let Some((title, lines)) = about.and_then(|about| about.run(shown.key.clone())) {
            shown.title = title;
            shown.lines = lines;
        }
        Some(shown)
    });
    let ringed = move || {
        let key = marked?.get()?;
        drawing.with(|d| {
            d.marks
                .iter()
                .find(|mark| mark.key == key)
                .map(|mark| mark.at)
        })
    };
    if let Some(point) = point {
        Effect::new(move |_| point.run(at.get().and_then(|i| untrack(|| mark(i))).map(|m| m.key)));
    }
    let under = move |x: i32, y: i32| {
        let rect = stage.get_untracked()?.get_bounding_client_rect();
        let point = (f64::from(x) - rect.left(), f64::from(y) - rect.top());
        drawing.with_untracked(|d| nearest(&d.marks, point, REACH))
    };
    let pick = move |index: usize| {
        if let (Some(choose), Some(mark)) = (choose, untrack(|| mark(index))) {
            choose.run(mark.key);
        }
    };
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let last = drawing.with_untracked(|d| d.marks.len()).saturating_sub(1);
        let now = at.get_untracked();
        let to = match event.key().as_str() {
            "ArrowRight" | "ArrowUp" => now.map_or(0, |n| (n + 1).min(last)),
            "ArrowLeft" | "ArrowDown" => now.map_or(0, |n| n.saturating_sub(1)),
            "PageUp" => now.map_or(0, |n| (n + 10).min(last)),
            "PageDown" => now.map_or(0, |n| n.saturating_sub(10)),
            "Home" => 0,
            "End" => last,
            "Escape" => {
                at.set(None);
                return;
            }
            "Enter" | " " => {
                event.prevent_default();
                if let Some(now) = now {
                    pick(now);
                }
                return;
            }
            _ => return,
        };
        event.prevent_default();
        at.set(Some(to));
    };
    let count = move || drawing.with(|d| d.marks.len());
    let spoken = move || shown.get().map_or_else(String::new, |mark| said(&mark));
    view! {
        <div class="chart" data-testid=name>
            <div
                class="chart-stage"
                class:can-choose=choose.is_some()
                node_ref=stage
                on:pointermove=move |event| {
                    let next = under(event.client_x(), event.client_y());
                    if next != at.get_untracked() {
                        at.set(next);
                    }
                }
                on:pointerleave=move |_| at.set(None)
                on:click=move |event| {
                    if let Some(index) = under(event.client_x(), event.client_y()) {
                        at.set(Some(index));
                        pick(index);
                    }
                }
            >
                <svg
                    role="img"
                    aria-label=label
                    viewBox=view_box
                    height=move || format!("{:.0}", size().1)
                    inner_html=move || drawing.with(|d| d.markup.clone())
                ></svg>
                <div
                    class="chart-keys"
                    class:hidden=move || count() == 0
                    role="slider"
                    tabindex="0"
                    data-testid=format!("{name}-keys")
                    aria-label=t("chart.marks")
                    aria-valuemin="0"
                    aria-valuemax=move || count().saturating_sub(1).to_string()
                    aria-valuenow=move || at.get().unwrap_or(0).to_string()
                    aria-valuetext=spoken
                    on:keydown=on_key
                    on:blur=move |_| at.set(None)
                ></div>
                <svg class="chart-over" viewBox=view_box height=move || format!("{:.0}", size().1)>
                    {move || {
                        ringed()
                            .map(|(x, y)| {
                                view! {
                                    <circle class="ring kept" cx=format!("{x:.1}") cy=format!("{y:.1}") r="7" />
                                }
                            })
                    }}
                    {move || {
                        shown
                            .get()
                            .map(|mark| {
                                view! {
                                    <circle
                                        class="ring"
                                        cx=format!("{:.1}", mark.at.0)
                                        cy=format!("{:.1}", mark.at.1)
                                        r="7"
                                    />
                                }
                            })
                    }}
                    {over.map(|over| over(drawing))}
                </svg>
                {move || shown.get().map(|mark| view! { <Tip mark width=width.get() /> })}
            </div>
            <p class="chart-save">
                <button
                    type="button"
                    class="link"
                    data-testid=format!("{name}-svg")
                    on:click=move |_| {
                        let markup = drawing.with_untracked(|d| d.markup.clone());
                        save::svg(name, &save::document(&markup, untrack(size)));
                    }
                >
                    {t("chart.save_svg")}
                </button>
                <button
                    type="button"
                    class="link"
                    data-testid=format!("{name}-png")
                    on:click=move |_| {
                        let markup = drawing.with_untracked(|d| d.markup.clone());
                        save::png(name, &save::document(&markup, untrack(size)), untrack(size));
                    }
                >
                    {t("chart.save_png")}
                </button>
            </p>
        </div>
    }
}

fn said(mark: &Mark) -> String {
    std::iter::once(mark.title.as_str())
        .chain(mark.lines.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(", ")
}

/// What there is to say about a mark, beside it.
#[component]
fn Tip(mark: Mark, width: f64) -> impl IntoView {
    let (x, y) = mark.at;
    // Kept on the side where there is room.
    let (left, right) = if x < width / 2.0 {
        (format!("{x:.0}px"), "auto".to_owned())
    } else {
        ("auto".to_owned(), format!("{:.0}px", width - x))
    };
    view! {
        <div
            class="chart-tip"
            aria-hidden="true"
            style:left=left
            style:right=right
            style:top=format!("{y:.0}px")
        >
            <b>{mark.title}</b>
            {mark.lines.into_iter().map(|line| view! { <span>{line}</span> }).collect_view()}
        </div>
    }
}
