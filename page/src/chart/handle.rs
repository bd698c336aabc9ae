//! A limit as a line across a chart, to be dragged by mouse, finger or arrow keys.

use leptos::ev::PointerEvent;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;

use super::Drawing;
use super::scale::Scale;

/// Along which axis a line moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// Sideways: it limits what the bottom axis shows.
    X,
    /// Up and down: it limits what the left axis shows.
    Y,
}

/// At which end of its axis a limit binds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loose {
    /// At the smallest value: the limit is a minimum.
    Low,
    /// At the largest value: the limit is a maximum.
    High,
}

/// How near to the loose end a line lets go of its limit, pixels.
const LET_GO: f64 = 6.0;
/// Share of an axis that one press of an arrow key moves.
const KEY_STEP: f64 = 0.02;

/// How a limit is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// By a drag that has just left its start.
    Begun,
    /// By a drag that goes on.
    Going,
    /// By letting go.
    Done,
    /// At once, by a key.
    Step,
}

/// A line that stands for a limit. The limit follows while it is dragged, once a frame.
#[component]
pub fn Handle(
    /// The drawing that it lies over.
    drawing: Memo<Drawing>,
    /// Test handle.
    name: &'static str,
    /// Which way it moves.
    along: Along,
    /// Where it limits nothing.
    loose: Loose,
    /// The limit, in the axis' unit.
    #[prop(into)]
    value: Signal<Option<f64>>,
    /// Sets the limit.
    #[prop(into)]
    set: Callback<(Option<f64>, Move)>,
    /// What the limit is called.
    #[prop(into)]
    label: Signal<String>,
    /// The limit in words.
    #[prop(into)]
    say: Callback<Option<f64>, String>,
) -> impl IntoView {
    let dragged = RwSignal::new(None::<Option<f64>>);
    let shown = move || dragged.get().unwrap_or_else(|| value.get());
    let scale = move || {
        drawing.with(|d| match along {
            Along::X => d.x,
            Along::Y => d.y,
        })
    };
    let end = move |scale: &Scale| match loose {
        Loose::Low => scale.domain().0,
        Loose::High => scale.domain().1,
    };
    let place = move || {
        let scale = scale();
        scale.place(shown().unwrap_or_else(|| end(&scale)))
    };
    let value_at = move |event: &PointerEvent| {
        let svg = event
            .current_target()?
            .dyn_into::<web_sys::SvgElement>()
            .ok()?
            .owner_svg_element()?;
        let rect = svg.get_bounding_client_rect();
        let scale = untrack(scale);
        let pixel = match along {
            Along::X => f64::from(event.client_x()) - rect.left(),
            Along::Y => f64::from(event.client_y()) - rect.top(),
        };
        let free = (pixel - scale.place(end(&scale))).abs() < LET_GO;
        Some((!free).then(|| two_digits(scale.value(pixel))))
    };
    let take = move |event: PointerEvent| {
        event.stop_propagation();
        event.prevent_default();
        if let Some(element) = event
            .current_target()
            .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
        {
            let _refused = element.set_pointer_capture(event.pointer_id());
        }
        dragged.set(Some(value.get_untracked()));
    };
    // Whether the limit has moved since it was taken, and whether a frame is asked for already.
    let moved = StoredValue::new(false);
    let waiting = StoredValue::new(false);
    let follow = move || {
        if waiting.get_value() {
            return;
        }
        waiting.set_value(true);
        request_animation_frame(move || {
            // The chart may be gone by then, or the line let go.
            if waiting.try_get_value().is_none() {
                return;
            }
            waiting.set_value(false);
            let Some(to) = dragged.get_untracked() else {
                return;
            };
            if to != value.get_untracked() {
                let how = if moved.get_value() {
                    Move::Going
                } else {
                    Move::Begun
                };
                moved.set_value(true);
                set.run((to, how));
            }
        });
    };
    let drag = move |event: PointerEvent| {
        if dragged.with_untracked(Option::is_some)
            && let Some(to) = value_at(&event)
        {
            event.stop_propagation();
            dragged.set(Some(to));
            follow();
        }
    };
    let let_go = move |_| {
        if let Some(to) = dragged.get_untracked() {
            dragged.set(None);
            if moved.get_value() || to != value.get_untracked() {
                moved.set_value(false);
                set.run((to, Move::Done));
            }
        }
    };
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let scale = untrack(scale);
        let (from, to) = scale.pixels();
        let step = (to - from) * KEY_STEP;
        let now = untrack(place);
        let pixel = match event.key().as_str() {
            "ArrowRight" | "ArrowUp" => now + step,
            "ArrowLeft" | "ArrowDown" => now - step,
            "PageUp" => now + 5.0 * step,
            "PageDown" => now - 5.0 * step,
            "Delete" | "Backspace" => scale.place(end(&scale)),
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        let free = (pixel - scale.place(end(&scale))).abs() < LET_GO;
        let to = (!free).then(|| two_digits(scale.value(pixel)));
        set.run((to, Move::Step));
    };
    let line = move || {
        let at = place();
        drawing.with(|d| match along {
            Along::X => format!("M{at:.1} {:.1}V{:.1}", d.area.top, d.area.bottom),
            Along::Y => format!("M{:.1} {at:.1}H{:.1}", d.area.left, d.area.right),
        })
    };
    // What the limit shuts out.
    let shade = move || {
        let at = place();
        drawing.with(|d| {
            let (x0, x1, y0, y1) = (d.area.left, d.area.right, d.area.top, d.area.bottom);
            match along {
                Along::X => format!("M{at:.1} {y0:.1}H{x1:.1}V{y1:.1}H{at:.1}Z"),
                Along::Y => {
                    let edge = scale().place(end(&scale()));
                    format!("M{x0:.1} {at:.1}H{x1:.1}V{edge:.1}H{x0:.1}Z")
                }
            }
        })
    };
    let grip = move || {
        let at = place();
        drawing.with(|d| match along {
            Along::X => (at, d.area.bottom),
            Along::Y => (d.area.right, at),
        })
    };
    let orientation = match along {
        Along::X => "horizontal",
        Along::Y => "vertical",
    };
    // Told as the place on the scale, for values span many powers of ten; the words say the value.
    let now = move || {
        let (from, to) = scale().pixels();
        ((place() - from) / (to - from) * 100.0).round().to_string()
    };
    view! {
        <g
            class="handle"
            class:free=move || shown().is_none()
            role="slider"
            tabindex="0"
            data-testid=name
            aria-label=label
            aria-orientation=orientation
            aria-valuemin="0"
            aria-valuemax="100"
            aria-valuenow=now
            aria-valuetext=move || say.run(shown())
            on:pointerdown=take
            on:pointermove=drag
            on:pointerup=let_go
            on:pointercancel=let_go
            on:click=|event| event.stop_propagation()
            on:keydown=on_key
        >
            <path class="handle-shade" d=shade />
            <path class="handle-line" d=line />
            <path class="handle-reach" d=line />
            <circle
                class="handle-grip"
                cx=move || format!("{:.1}", grip().0)
                cy=move || format!("{:.1}", grip().1)
                r="7"
            />
            <circle
                class="handle-finger"
                cx=move || format!("{:.1}", grip().0)
                cy=move || format!("{:.1}", grip().1)
                r="22"
            />
            <text
                class="handle-text"
                x=move || {
                    let (x, _) = grip();
                    format!("{:.1}", if along == Along::X { x - 10.0 } else { x - 12.0 })
                }
                y=move || {
                    let (_, y) = grip();
                    format!("{:.1}", y - if along == Along::X { 10.0 } else { 8.0 })
                }
                text-anchor="end"
            >
                {move || say.run(shown())}
            </text>
        </g>
    }
}

/// A limit that a hand sets is no finer than this.
fn two_digits(value: f64) -> f64 {
    if !(value > 0.0 && value.is_finite()) {
        return value;
    }
    let step = 10f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / step).round() * step;
    // A power of ten below one is not exact; the shortest digits are.
    format!("{rounded:.6}").parse().unwrap_or(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_sets_two_digits() {
        for (value, rounded) in [(1234.0, 1200.0), (0.0349, 0.035), (99.6, 100.0), (7.0, 7.0)] {
            assert!((two_digits(value) - rounded).abs() < 1e-9, "{value}");
        }
    }
}
