//! A limit that is dragged in the chart: what the table shows until it is let go, and how little of it changes in a move.

use browser_tests::{Outcome, Page, in_browser};
use serde_json::Value;

/// Opens the page and takes the deadline's line by its grip. `window.move(x, y)` then goes on by so many pixels from there and waits until the page has
/// followed, and `window.let_go()` ends it.
async fn take_deadline(page: &Page) -> Outcome {
    page.resize(1280, 900).await?;
    page.open("?lang=en").await?;
    page.click("all-rows").await?;
    page.element("drag-deadline").await?;
    page.script(
        "const line = document.querySelector('[data-testid=drag-deadline]');
         line.scrollIntoView({ block: 'center' });
         const grip = line.querySelector('.handle-grip').getBoundingClientRect();
         const [x0, y0] = [grip.left + grip.width / 2, grip.top + grip.height / 2];
         let [x, y] = [x0, y0];
         const tell = (type) => line.dispatchEvent(new PointerEvent(type,
           { bubbles: true, pointerId: 1, isPrimary: true, clientX: x, clientY: y }));
         const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
         window.move = async (dx, dy) => {
           [x, y] = [x0 + dx, y0 + dy]; tell('pointermove'); await frame(); await frame();
         };
         window.let_go = () => tell('pointerup');
         window.rows = () => [...document.querySelectorAll('[data-testid=offer]')].map((row) => row.dataset.card);
         window.missing = () => [...document.querySelectorAll('[data-testid=offer]')]
           .map((row) => row.querySelector('.miss:not(.may)') !== null);
         tell('pointerdown');",
    )
    .await?;
    Ok(())
}

async fn answer(page: &Page, script: &str) -> Outcome<Value> {
    let told = page
        .client()
        .execute_async(
            &format!(
                "const done = arguments[arguments.length - 1];
                 (async () => {{ {script} }})().then(done, (e) => done('failed: ' + e))"
            ),
            Vec::new(),
        )
        .await?;
    match told.as_str() {
        Some(failed) if failed.starts_with("failed: ") => Err(failed.to_owned().into()),
        _ => Ok(told),
    }
}

#[test]
fn rows_keep_their_places_until_a_deadline_is_let_go() -> Outcome {
    in_browser(async |page| {
        take_deadline(page).await?;
        let told = answer(
            page,
            "const before = rows();
             await move(0, 60); await move(0, 150);
             return { before, while_dragged: rows(), missing: missing().filter(Boolean).length };",
        )
        .await?;
        assert_eq!(told["before"], told["while_dragged"]);
        let (missing, all) = (
            told["missing"].as_u64().unwrap_or_default(),
            told["before"].as_array().map_or(0, Vec::len) as u64,
        );
        assert!(missing > 0 && missing < all, "{missing} of {all} miss it");
        page.script("let_go()").await?;
        // Then those that keep it come first.
        page.wait_until(
            "the rows in their new order",
            "const late = missing(); return late.includes(true) && !late.slice(0, late.indexOf(true)).includes(true)
               && late.indexOf(true) > 0 && !late.slice(late.indexOf(true)).includes(false)",
        )
        .await
    })
}

/// A move of the line touches the rows whose limit it passed, and in each of them its texts and no more: rows that were
/// made anew would cost a frame.
#[test]
fn a_move_changes_few_nodes() -> Outcome {
    /// Eight texts, three attributes that tests read, two strokes of the drawn range, and what is missed.
    const MOST_OF_A_ROW: f64 = 15.0;
    in_browser(async |page| {
        take_deadline(page).await?;
        let told = answer(
            page,
            "await move(0, 40);
             const counts = [];
             let changes = 0, rows = new Set();
             const count = (records) => {
               for (const { target } of records) {
                 changes += 1;
                 rows.add((target.closest ? target : target.parentElement).closest('tr'));
               }
             };
             const watch = new MutationObserver(count);
             watch.observe(document.querySelector('[data-testid=offers] tbody'),
               { subtree: true, childList: true, attributes: true, characterData: true });
             for (let dy = 44; dy <= 200; dy += 4) {
               changes = 0; rows = new Set();
               await move(0, dy); count(watch.takeRecords());
               if (rows.size > 0) counts.push(changes / rows.size);
             }
             watch.disconnect(); let_go();
             return counts;",
        )
        .await?;
        let counts: Vec<f64> = told
            .as_array()
            .map(|counts| counts.iter().filter_map(Value::as_f64).collect())
            .unwrap_or_default();
        assert!(counts.len() > 5, "the line passed something: {counts:?}");
        assert!(
            counts.iter().all(|changes| *changes <= MOST_OF_A_ROW),
            "{counts:?}"
        );
        Ok(())
    })
}
