//! Writes pictures of the built page to target/shots, for people to look at: `cargo xtask shots`.

use browser_tests::{Outcome, Scheme, in_browser};

/// Widths and heights of the screens, in CSS pixels.
const SCREENS: [(u32, u32); 3] = [(360, 740), (768, 1024), (1440, 900)];
const LANGUAGES: [&str; 2] = ["en", "zh-CN"];
const SCHEMES: [(Scheme, &str); 2] = [(Scheme::Light, "light"), (Scheme::Dark, "dark")];

fn main() -> Outcome {
    let folder = xtask::run::target_dir().join("shots");
    in_browser(async |page| {
        for (scheme, scheme_name) in SCHEMES {
            page.prefer(scheme).await?;
            for (width, height) in SCREENS {
                page.resize(width, height).await?;
                for language in LANGUAGES {
                    page.open(&format!("?lang={language}")).await?;
                    let file = folder.join(format!("{width}-{scheme_name}-{language}.png"));
                    page.screenshot(&file).await?;
                    println!("{}", file.display());
                }
            }
        }
        Ok(())
    })
}
