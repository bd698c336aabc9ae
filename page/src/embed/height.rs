//! Tells the embedding page how high the widget is, so that its frame fits.
//!
//! What makes such frames grow for ever or jump elsewhere is left out: nothing in the widget's styles depends on the
//! frame's height, a height of nothing (a hidden tab) is never sent, a change below two pixels is none, and a widget
//! that keeps growing is no longer followed.

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, IntersectionObserver, ResizeObserver};

use super::bridge::Bridge;

/// Changes below this are rounding, pixels.
const LEAST_CHANGE: i32 = 2;
/// Growths within [`WINDOW_MS`] after which the widget is not followed until it rests.
const MOST_GROWTHS: u32 = 12;
const WINDOW_MS: f64 = 1000.0;

/// Sends the height of `element` whenever it changes or comes into sight, from when there is an answer on: until then the
/// embedding page keeps the room that it has set aside, and nothing jumps.
pub fn follow(bridge: Bridge, element: &Element, has_answer: impl Fn() -> bool + 'static) {
    let sent = Rc::new(Cell::new(0_i32));
    let growths = Rc::new(Cell::new((0.0_f64, 0_u32)));
    let measured = element.clone();
    let tell = Rc::new(move |again: bool| {
        let height = measured.get_bounding_client_rect().height().ceil() as i32;
        let change = height - sent.get();
        if height <= 0 || !has_answer() || (change.abs() < LEAST_CHANGE && !again) {
            return;
        }
        let now = js_sys::Date::now();
        let (since, count) = growths.get();
        let (since, count) = if now - since > WINDOW_MS {
            (now, 0)
        } else {
            (since, count)
        };
        let count = count + u32::from(change > 0);
        growths.set((since, count));
        if count > MOST_GROWTHS {
            return;
        }
        sent.set(height);
        bridge.send_height(height.unsigned_abs());
    });
    observe(element, &tell);
}

fn observe(element: &Element, tell: &Rc<impl Fn(bool) + 'static>) {
    let resized = {
        let tell = Rc::clone(tell);
        Closure::<dyn Fn()>::new(move || tell(false))
    };
    if let Ok(observer) = ResizeObserver::new(resized.as_ref().unchecked_ref()) {
        observer.observe(element);
    }
    resized.forget();
    // A frame that was hidden when it was laid out tells its height when it is seen.
    let seen = {
        let tell = Rc::clone(tell);
        Closure::<dyn Fn(JsValue)>::new(move |_| tell(true))
    };
    if let Ok(observer) = IntersectionObserver::new(seen.as_ref().unchecked_ref()) {
        observer.observe(element);
    }
    seen.forget();
}
