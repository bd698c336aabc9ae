//! Handing a file to the visitor: a chart, a table, a configuration.

use js_sys::Array;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::JsValue;
use leptos::wasm_bindgen::closure::Closure;

/// The chart's own look, for a drawing that leaves the page: the light palette, whatever the page shows.
const LOOK: &str = include_str!("../../style/saved-chart.css");

/// A drawing as a document of its own.
pub fn document(markup: &str, (width, height): (f64, f64)) -> String {
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}"><style>{LOOK}</style><rect width="100%" height="100%" fill="#fffefb"/>{markup}</svg>"##
    )
}

/// Offers a text as a file.
pub fn text(file: &str, kind: &str, text: &str) {
    let parts = Array::of1(&JsValue::from_str(text));
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(kind);
    let Ok(blob) = web_sys::Blob::new_with_str_sequence_and_options(&parts, &options) else {
        return;
    };
    if let Ok(url) = web_sys::Url::create_object_url_with_blob(&blob) {
        offer(file, &url);
        // The browser has taken the file by the time that the next task runs.
        set_timeout(
            move || {
                let _refused = web_sys::Url::revoke_object_url(&url);
            },
            std::time::Duration::from_secs(10),
        );
    }
}

/// Offers a drawing as an SVG file.
pub fn svg(name: &str, document: &str) {
    text(&format!("cardfit-{name}.svg"), "image/svg+xml", document);
}

/// Offers a drawing as a PNG file at twice its size.
pub fn png(name: &str, document: &str, (width, height): (f64, f64)) {
    const DENSITY: f64 = 2.0;
    let encoded: String = js_sys::encode_uri_component(document).into();
    let source = format!("data:image/svg+xml;charset=utf-8,{encoded}");
    let Ok(image) = web_sys::HtmlImageElement::new() else {
        return;
    };
    let file = format!("cardfit-{name}.png");
    let drawn = image.clone();
    let draw = move || {
        let canvas = leptos::prelude::document()
            .create_element("canvas")
            .ok()?
            .dyn_into::<web_sys::HtmlCanvasElement>()
            .ok()?;
        canvas.set_width((width * DENSITY) as u32);
        canvas.set_height((height * DENSITY) as u32);
        let context = canvas
            .get_context("2d")
            .ok()??
            .dyn_into::<web_sys::CanvasRenderingContext2d>()
            .ok()?;
        context
            .draw_image_with_html_image_element_and_dw_and_dh(
                &drawn,
                0.0,
                0.0,
                width * DENSITY,
                height * DENSITY,
            )
            .ok()?;
        canvas.to_data_url().ok()
    };
    let closure = Closure::once_into_js(move || {
        if let Some(url) = draw() {
            offer(&file, &url);
        }
    });
    image.set_onload(Some(closure.unchecked_ref()));
    image.set_src(&source);
}

/// Follows a link that downloads.
fn offer(file: &str, url: &str) {
    let Ok(link) = leptos::prelude::document().create_element("a") else {
        return;
    };
    let Ok(link) = link.dyn_into::<web_sys::HtmlAnchorElement>() else {
        return;
    };
    link.set_href(url);
    link.set_download(file);
    link.click();
}
