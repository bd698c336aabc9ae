//! Mounts the page.

use leptos::prelude::*;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(Page);
}

/// The page: so far a heading in the language that the address asks for.
#[component]
fn Page() -> impl IntoView {
    let chinese = window()
        .location()
        .search()
        .is_ok_and(|query| query.contains("lang=zh"));
    let heading = if chinese {
        "CardFit 选卡：哪张卡跑得动、多久、多少钱"
    } else {
        "CardFit: which card fits, how long, how much"
    };
    view! { <h1 data-testid="heading">{heading}</h1> }
}
