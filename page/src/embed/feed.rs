//! Fetching an operator's feed: bounded in size and time, without cookies.

use cardfit::feed::FEED_BYTES;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, ReadableStreamDefaultReader, RequestCredentials, RequestInit, Response,
};

/// How long a feed may take, milliseconds.
const PATIENCE_MS: i32 = 15_000;

/// Why a feed could not be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchError {
    /// The server cannot be reached, does not allow it (CORS), or answers with an error.
    Unreachable,
    /// More than [`FEED_BYTES`].
    TooLarge,
    /// Not UTF-8.
    NotText,
}

impl FetchError {
    /// Its code in `error` messages.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unreachable => "feed_unreachable",
            Self::TooLarge => "feed_too_large",
            Self::NotText => "feed_invalid",
        }
    }
}

/// The text at `address`.
///
/// # Errors
/// See [`FetchError`].
pub async fn fetch(address: &str) -> Result<String, FetchError> {
    let unreachable = |_| FetchError::Unreachable;
    let abort = AbortController::new().map_err(unreachable)?;
    let init = RequestInit::new();
    init.set_credentials(RequestCredentials::Omit);
    init.set_signal(Some(&abort.signal()));
    let timer = {
        let abort = abort.clone();
        leptos::prelude::set_timeout_with_handle(
            move || abort.abort(),
            std::time::Duration::from_millis(PATIENCE_MS.unsigned_abs().into()),
        )
    };
    let text = read(address, &init, &abort).await;
    if let Ok(timer) = timer {
        timer.clear();
    }
    text
}

async fn read(
    address: &str,
    init: &RequestInit,
    abort: &AbortController,
) -> Result<String, FetchError> {
    let unreachable = |_| FetchError::Unreachable;
    let request = leptos::prelude::window().fetch_with_str_and_init(address, init);
    let response: Response = JsFuture::from(request)
        .await
        .map_err(unreachable)?
        .dyn_into()
        .map_err(unreachable)?;
    if !response.ok() {
        return Err(FetchError::Unreachable);
    }
    let body = response.body().ok_or(FetchError::Unreachable)?;
    let reader: ReadableStreamDefaultReader = body
        .get_reader()
        .dyn_into()
        .map_err(|_| FetchError::Unreachable)?;
    let mut bytes = Vec::new();
    loop {
        let step = JsFuture::from(reader.read()).await.map_err(unreachable)?;
        let field = |name: &str| js_sys::Reflect::get(&step, &JsValue::from_str(name));
        if field("done").is_ok_and(|done| done.is_truthy()) {
            break;
        }
        let chunk = field("value").map_err(unreachable)?;
        bytes.extend(js_sys::Uint8Array::new(&chunk).to_vec());
        if bytes.len() > FEED_BYTES {
            abort.abort();
            return Err(FetchError::TooLarge);
        }
    }
    String::from_utf8(bytes).map_err(|_| FetchError::NotText)
}
