//! Name, language and theme.

use cardfit::scenario::Choice;
use cardfit::text::{Lang, text};
use leptos::prelude::*;

use crate::address::Theme;
use crate::share::ShareButton;
use crate::state::App;
use crate::words::t;

/// The head of the page.
#[component]
pub fn Header() -> impl IntoView {
    let open = RwSignal::new(false);
    view! {
        <header class="top">
            <a class="skip" href="#answer">
                {t("page.skip")}
            </a>
            <div class="brand">
                <h1 data-testid="heading">{t("page.title")}</h1>
                <p>{t("page.subtitle")}</p>
            </div>
            <div class="switches" class:open=open>
                // Narrow screens keep currency and theme behind it.
                <button
                    type="button"
                    class="quiet settings"
                    data-testid="settings"
                    aria-label=t("page.settings")
                    aria-expanded=move || open.get().to_string()
                    aria-controls="settings-switches"
                    on:click=move |_| open.update(|open| *open = !*open)
                >
                    <svg viewBox="0 0 16 16" aria-hidden="true" class="theme-glyph">
                        <path d="M1.5 4.5h6M11.5 4.5h3M1.5 11.5h3M8.5 11.5h6M9.5 2.5a2 2 0 1 1 0 4a2 2 0 1 1 0-4zM6.5 9.5a2 2 0 1 1 0 4a2 2 0 1 1 0-4z" />
                    </svg>
                </button>
                <div class="switches-more" id="settings-switches">
                    <CurrencySwitch />
                    <ThemeSwitch />
                </div>
                <LangSwitch />
                <ShareButton />
            </div>
        </header>
    }
}

/// Name of a language in itself.
fn own_name(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "English",
        Lang::ZhCn => "中文",
    }
}

#[component]
fn LangSwitch() -> impl IntoView {
    let app = App::get();
    view! {
        <div class="switch languages" role="group" aria-label=t("page.lang")>
            {Lang::ALL
                .into_iter()
                .map(|lang| {
                    view! {
                        <button
                            type="button"
                            lang=lang.tag()
                            data-testid=format!("lang-{}", lang.tag())
                            aria-pressed=move || (app.lang.get() == lang).to_string()
                            on:click=move |_| app.speak(lang)
                        >
                            {own_name(lang)}
                        </button>
                    }
                })
                .collect_view()}
        </div>
    }
}

/// Says that the language which was asked for could not be loaded.
#[component]
pub fn LangMissing() -> impl IntoView {
    let app = App::get();
    view! {
        <p class="notice" role="alert" class:hidden=move || !app.lang_missing.get()>
            {t("page.lang.missing")}
        </p>
    }
}

#[component]
fn CurrencySwitch() -> impl IntoView {
    use cardfit::catalog::Currency;
    let app = App::get();
    let now = Memo::new(move |_| app.scenario.with(|s| s.money.currency));
    view! {
        <div class="switch" role="group" aria-label=t("field.cur")>
            {[Currency::Cny, Currency::Usd, Currency::Eur]
                .into_iter()
                .map(|currency| {
                    view! {
                        <button
                            type="button"
                            data-testid=format!("currency-{}", currency.name())
                            aria-pressed=move || (now.get() == currency).to_string()
                            aria-label=move || text(app.lang.get(), currency.label_key(), &[])
                            on:click=move |_| app.choose("cur", currency.name())
                        >
                            {crate::format::symbol(currency)}
                        </button>
                    }
                })
                .collect_view()}
        </div>
    }
}

#[component]
fn ThemeSwitch() -> impl IntoView {
    let app = App::get();
    let theme = RwSignal::new(Theme::asked());
    Effect::new(move |_| theme.get().show());
    let key = |theme: Theme| match theme {
        Theme::System => "page.theme.system",
        Theme::Light => "page.theme.light",
        Theme::Dark => "page.theme.dark",
    };
    view! {
        <div class="switch" role="group" aria-label=t("page.theme")>
            {Theme::ALL
                .into_iter()
                .map(|choice| {
                    view! {
                        <button
                            type="button"
                            class="glyph"
                            data-testid=format!("theme-{}", choice.name())
                            aria-pressed=move || (theme.get() == choice).to_string()
                            aria-label=move || text(app.lang.get(), key(choice), &[])
                            title=move || text(app.lang.get(), key(choice), &[])
                            on:click=move |_| {
                                theme.set(choice);
                                choice.keep();
                            }
                        >
                            <ThemeGlyph theme=choice />
                        </button>
                    }
                })
                .collect_view()}
        </div>
    }
}

#[component]
fn ThemeGlyph(theme: Theme) -> impl IntoView {
    let shape = match theme {
        // Half and half, sun, moon.
        Theme::System => "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
        Theme::Light => {
            "M8 5a3 3 0 1 1 0 6a3 3 0 1 1 0-6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.5 1.5M11.5 11.5L13 13M3 13l1.5-1.5M11.5 4.5L13 3"
        }
        Theme::Dark => "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
    };
    view! {
        <svg viewBox="0 0 16 16" aria-hidden="true" class=format!("theme-glyph {}", theme.name())>
            <path d=shape />
        </svg>
    }
}
