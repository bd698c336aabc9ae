//! Writes pictures of the whole page, view by view, to target/shots, for people to look at: `cargo xtask shots`. In
//! `CARDFIT_SHOTS` names of views, separated by commas, where only some are wanted.

use browser_tests::views::{EDGES, JOBS, VIEWS};
use browser_tests::{Outcome, Scheme, in_browser};

/// Widths and heights of the screens, in CSS pixels.
const SCREENS: [(u32, u32); 3] = [(360, 740), (768, 1024), (1440, 900)];
const LANGUAGES: [&str; 2] = ["en", "zh-CN"];
const SCHEMES: [(Scheme, &str); 2] = [(Scheme::Light, "light"), (Scheme::Dark, "dark")];

fn main() -> Outcome {
    let folder = xtask::run::target_dir().join("shots");
    let wanted = std::env::var("CARDFIT_SHOTS").unwrap_or_default();
    let wanted: Vec<&str> = wanted.split(',').filter(|name| !name.is_empty()).collect();
    in_browser(async |page| {
        for (scheme, scheme_name) in SCHEMES {
            page.prefer(scheme).await?;
            for (width, height) in SCREENS {
                page.resize(width, height).await?;
                for language in LANGUAGES {
                    for sight in VIEWS.into_iter().chain(JOBS).chain(EDGES) {
                        if !wanted.is_empty() && !wanted.contains(&sight.name) {
                            continue;
                        }
                        page.open(&format!("?{}lang={language}", sight.query))
                            .await?;
                        page.element(sight.testid).await?;
                        let name = sight.name;
                        let file =
                            folder.join(format!("{name}-{width}-{scheme_name}-{language}.png"));
                        page.screenshot(&file).await?;
                        println!("{}", file.display());
                    }
                }
            }
        }
        Ok(())
    })
}
