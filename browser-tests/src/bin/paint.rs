//! How long an input takes in a real browser, until everything is computed and until it is painted:
//! `cargo run -p browser-tests --bin paint` with `CARDFIT_BROWSER` and `CARDFIT_DRIVER`, on the page in `dist/`. Prints a
//! table for docs/benchmarks.md; each row is a ratio to the first.

use browser_tests::{Outcome, Page, in_browser};
use std::process::ExitCode;

/// Scenarios with the field that is typed into and what it is given.
const CASES: [(&str, &str, u32); 6] = [
    ("m=qwen2.5-7b&do=lora", "field-samples", 10_000),
    ("m=qwen3-32b&do=serve&users=100&ttft=1", "field-users", 100),
    (
        "m=llama-2-7b&do=pretrain&tokens=1T",
        "field-tokens",
        1_000_000,
    ),
    (
        "m=llama-3.1-405b&do=pretrain&tokens=15T&seq=8192&deadline=2160",
        "field-deadline",
        2000,
    ),
    ("m=sdxl&do=image&amount=5000", "field-amount", 5000),
    ("m=resnet-50&do=vision-train", "field-samples", 100_000),
];

/// Types other figures one after another. `computed` is from the keystroke until a task posted right after it runs, when
/// every effect has run; `painted` until the frame after it has been drawn.
const TYPE: &str = r"
window.taken = [];
const field = document.querySelector(`[data-testid='${arguments[0]}']`);
const first = arguments[1];
const after = (then) => { const channel = new MessageChannel(); channel.port1.onmessage = then; channel.port2.postMessage(0); };
const one = (n) => {
  if (n === 40) { window.done = true; return; }
  requestAnimationFrame(() => after(() => {
    const begun = performance.now();
    let computed = 0;
    field.value = String(first + n);
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    after(() => { computed = performance.now() - begun; });
    requestAnimationFrame(() => after(() => {
      window.taken.push([computed, performance.now() - begun]);
      one(n + 1);
    }));
  }));
};
window.done = false;
one(0);
";

async fn measure(page: &Page, link: &str, field: &str, first: u32) -> Outcome<(f64, f64, f64)> {
    page.open(&format!("?{link}&lang=en")).await?;
    page.element(field).await?;
    page.element("verdict").await?;
    let script = TYPE
        .replace("arguments[0]", &format!("'{field}'"))
        .replace("arguments[1]", &first.to_string());
    page.script(&script).await?;
    page.wait_until("all was typed", "return window.done")
        .await?;
    let taken = page.script("return window.taken").await?;
    let part = |at: usize| -> Vec<f64> {
        let rows = taken.as_array().into_iter().flatten();
        let mut all: Vec<f64> = rows
            .filter_map(|row| row.get(at)?.as_f64())
            .filter(|ms| *ms > 0.0)
            .collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let share = |all: &[f64], of: usize| all.get(all.len() * of / 100).copied().unwrap_or(0.0);
    let (computed, painted) = (part(0), part(1));
    Ok((
        share(&computed, 50),
        share(&computed, 95),
        share(&painted, 50),
    ))
}

fn main() -> ExitCode {
    let rows = in_browser(async |page| {
        let mut rows = Vec::new();
        for (link, field, first) in CASES {
            rows.push((link, measure(page, link, field, first).await?));
        }
        Ok(rows)
    });
    match rows {
        Ok(rows) => {
            let base = rows.first().map_or(1.0, |(_, (computed, ..))| *computed);
            println!("| scenario | ratio | computed, ms | 95 of 100 within | painted, ms |");
            println!("| --- | ---: | ---: | ---: | ---: |");
            for (link, (computed, most, painted)) in rows {
                let ratio = computed / base;
                println!("| `{link}` | {ratio:.2} | {computed:.1} | {most:.1} | {painted:.1} |");
            }
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
